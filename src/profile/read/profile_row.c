/* Rows, gaps and times of a profile, and the look at a file's beginning, for all readers. */
#include "config.h"

#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/sniff.h"
#include "profile/read/reader.h"
#include "profile/read/stream.h"

/* Skips a JSON string at p[0] == '"'; at most to end. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\' && p + 1 < end;
	return p < end ? p + 1 : end;
}

bool head_has_key(const struct profile_head *h, char root, const char *key)
{
	const char *p = h->bytes, *end = p + h->n;
	int depth = 0, level = root == '[' ? 2 : 1;
	size_t n = strlen(key);
	while (p < end && strchr(" \t\r\n", *p) && *p)
		p++;
	if (p == end || *p != root)
		return false;
	while (p < end) {
		depth += *p == '{' || *p == '[';
		depth -= *p == '}' || *p == ']';
		if (*p != '"') {
			p++;
			continue;
		}
		const char *from = p + 1;
		p = skip_string(p, end);
		if (depth != level || (size_t)(p - from) != n + 1 || memcmp(from, key, n))
			continue;
		while (p < end && strchr(" \t\r\n", *p) && *p)
			p++;
		if (p < end && *p == ':')
			return true;
	}
	return false;
}

bool head_contains(const struct profile_head *h, const char *words)
{
	return memmem(h->bytes, h->n, words, strlen(words)) != NULL;
}

bool profile_is_time(double ns)
{
	return ns >= 0 && ns < 366 * 86400e9;
}

void profile_row_times(struct execution_row *r, const double *times, int64_t ran, int64_t runs)
{
	struct samples samples = { 0 };
	struct sample_stats stats;
	bool seldom = ran * 2 <= runs;
	double *all = base_calloc((size_t)(seldom ? ran : runs) + 1, sizeof(double));
	memcpy(all, times, (size_t)ran * sizeof(double));
	samples_set(&samples, all, seldom ? ran : runs);
	stats_compute(&samples, &stats);
	r->ns = seldom ? stats.mean * (double)ran / (double)runs : stats.median;
	r->lo_ns = seldom ? 0 : stats.lo;
	r->hi_ns = seldom ? samples.sorted[samples.n - 1] : stats.hi;
	samples_free(&samples);
	free(all);
}

void profile_latency(struct execution *e, const double *ns, int64_t n)
{
	struct samples samples = { 0 };
	samples_set(&samples, ns, n);
	stats_compute(&samples, &e->stats);
	e->stats.executions = 1;
	e->p90_ns = samples_quantile(&samples, 0.9);
	e->p99_ns = samples_quantile(&samples, 0.99);
	samples_free(&samples);
}

const char *profile_dtype(const struct execution *e, enum execution_level level)
{
	double known = 0, most = 0;
	const char *type = "";
	double ns[DTYPE_COUNT + 1] = { 0 };
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		enum dtype t = dtype_parse(text_of(r->dtype));
		if (r->level != level || t == DTYPE_UNKNOWN || isnan(r->ns))
			continue;
		known += r->ns;
		ns[t] += r->ns;
		if (ns[t] > most)
			most = ns[t], type = r->dtype;
	}
	return known > 0 && most < 0.9 * known ? "mixed" : type;
}

void profile_add_gap(struct arena *a, struct execution *e, const char *gap)
{
	if (*gap)
		e->gaps = *e->gaps ? arena_printf(a, "%s; %s", e->gaps, gap) : gap;
}
