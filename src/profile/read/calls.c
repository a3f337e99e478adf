/* Finds the sequence of calls that repeats at the end of a log, by the Z algorithm on the reversed
 * sequence (Gusfield, 1997). Exact, linear time. */
#include "config.h"

#include "profile/read/calls.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct execution_row *calls_add(struct calls *c, struct text key, double ns, double at_ns)
{
	if (c->count >= CALLS_MOST) {
		c->dropped++;
		return NULL;
	}
	int64_t kind = hash_find(&c->kinds, key);
	struct execution_row *made = NULL;
	if (kind < 0) {
		struct text kept = { arena_strndup(&c->arena, key.p, key.n), key.n };
		kind = *hash_at(&c->kinds, kept) = c->kind_count;
		VEC_GROW(c->rows, c->kind_count, c->kind_capacity);
		made = &c->rows[c->kind_count++];
		*made = execution_row_new();
	}
	VEC_GROW(c->list, c->count, c->capacity);
	c->list[c->count++] = (struct call){ (int)kind, ns, at_ns };
	return made;
}

void calls_drop_last(struct calls *c)
{
	if (c->count)
		c->count--;
}

/* Computes z[i]: the number of keys from i on that equal those from 0 on, in the reversed sequence. */
static int *z_values(const uint64_t *keys, int n)
{
	int *z = base_calloc((size_t)n + 1, sizeof(int));
	for (int i = 1, left = 0, right = 0; i < n; i++) {
		if (i < right)
			z[i] = z[i - left] < right - i ? z[i - left] : right - i;
		while (i + z[i] < n && keys[n - 1 - z[i]] == keys[n - 1 - i - z[i]])
			z[i]++;
		if (i + z[i] > right) {
			left = i;
			right = i + z[i];
		}
	}
	return z;
}

static struct runs find_at_end(const uint64_t *keys, int n, int least)
{
	struct runs best = { 0, n, 1 };
	int *z = z_values(keys, n), most = 0;
	for (int period = least; period <= n / 2; period++) {
		int count = 1 + z[period] / period;
		if (count > 1 && count * period > most) {
			most = count * period;
			best = (struct runs){ n - most, period, count };
		}
	}
	free(z);
	return best;
}

static bool covers_half(const struct runs *r, int n)
{
	return r->count > 1 && r->count * r->period >= n - n / 2;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Returns true if the keys before the first run may be a warm-up or its end: all keys of a run are among
 * them, or they are the end of one. */
static bool is_warm_up(const uint64_t *keys, const struct runs *r)
{
	int first = r->first, found = 0, end = 0;
	uint64_t *sorted = base_calloc((size_t)first + 1, sizeof(*sorted));
	memcpy(sorted, keys, (size_t)first * sizeof(*keys));
	qsort(sorted, (size_t)first, sizeof(*sorted), compare_keys);
	for (; found < r->period; found++)
		if (!bsearch(&keys[first + found], sorted, (size_t)first, sizeof(*sorted), compare_keys))
			break;
	free(sorted);
	while (end < first && keys[first - 1 - end] == keys[first - 1 - end + r->period])
		end++;
	return found == r->period || end == first;
}

/* Returns true if the keys after the last run are the begin of another one. */
static bool is_begin(const uint64_t *keys, int n, const struct runs *r)
{
	for (int i = r->first + r->count * r->period; i < n; i++)
		if (keys[i] != keys[i - r->period])
			return false;
	return true;
}

/* A pause is decisive if it is this much longer than the shortest one before any other key of a run. */
#define PAUSE_LEAST 2

/* Finds the begin of a run in n keys that repeat with the period. Each place in a run has a pause before it
 * in every run; the shortest of these counts. Returns the place with the longest one; -1 if it is not
 * decisive. */
static int begin_by_pauses(const double *idle, int period, int n)
{
	double best = 0, next = 0;
	int first = -1;
	for (int at = 0; at < period; at++) {
		double least = INFINITY;
		for (int i = at ? at : period; i < n; i += period)
			least = fmin(least, idle[i]);
		if (least > best) {
			next = best;
			best = least;
			first = at;
		} else
			next = fmax(next, least);
	}
	return best >= PAUSE_LEAST * next ? first : -1;
}

struct runs calls_runs_within(const uint64_t *keys, const double *idle, int n)
{
	struct runs best = { 0, n, 1 };
	int most = 0;
	for (int tail = 0; tail <= RUN_TAIL_MOST && tail < n; tail++) {
		struct runs r = find_at_end(keys, n - tail, RUN_LEAST);
		if (r.count < 2 || r.count * r.period <= most)
			continue;
		bool warm = is_warm_up(keys, &r);
		if (!(warm || (covers_half(&r, n) && is_begin(keys, n, &r))))
			continue;
		most = r.count * r.period;
		best = r;
	}
	int first = best.first;
	while (best.count > 1 && first > 0 && keys[first - 1] == keys[first - 1 + best.period])
		first--;
	if (best.count < 2 || first > 0)
		return best;
	/* the sequence begins with a run, or within one; it may end within one */
	int all = best.first + best.count * best.period;
	int begin = best.first ? begin_by_pauses(idle, best.period, all) : 0;
	best.first = begin > 0 && (all - begin) / best.period > 1 ? begin : 0;
	best.count = (all - best.first) / best.period;
	return best;
}

struct runs calls_runs(const uint64_t *keys, int n, bool cut)
{
	struct runs r = find_at_end(keys, n, 1);
	if (!covers_half(&r, n))
		r = (struct runs){ 0, n, 1 };
	while (cut && r.count > 1 && r.first > 0 && keys[r.first - 1] == keys[r.first - 1 + r.period])
		r.first--;
	if (r.count > 1)
		r.count = (n - r.first) / r.period;
	return r;
}

static struct runs find(const struct calls *c, bool cut)
{
	uint64_t *keys = base_calloc((size_t)c->count + 1, sizeof(*keys));
	for (int i = 0; i < c->count; i++)
		keys[i] = (uint64_t)c->list[i].kind;
	struct runs r = calls_runs(keys, c->count, cut);
	free(keys);
	return r;
}

/* Returns the median over the runs of the time from the begin of the first call to the end of the last. */
static double run_ns(const struct calls *c, const struct runs *r, int from, double *ns)
{
	int n = r->count - from;
	for (int k = 0; k < n; k++) {
		const struct call *first = &c->list[r->first + (from + k) * r->period];
		const struct call *last = first + r->period - 1;
		ns[k] = last->at_ns + last->ns - first->at_ns;
		if (isnan(ns[k]))
			return NAN;
	}
	struct execution_row whole = execution_row_new();
	profile_row_times(&whole, ns, n, n);
	return whole.ns;
}

static void add_row(struct arena *a, struct calls *c, const struct runs *r, int from, int i,
	struct execution *e, int *room, double *ns)
{
	struct execution_row *row = execution_add(a, e, room);
	const struct call *first = &c->list[r->first + from * r->period];
	*row = c->rows[first[i].kind];
	row->calls = 1;
	row->start_ns = first[i].at_ns - first->at_ns;
	int n = 0;
	for (int k = from; k < r->count; k++)
		if (!isnan(first[i + (k - from) * r->period].ns))
			ns[n++] = first[i + (k - from) * r->period].ns;
	if (n)
		profile_row_times(row, ns, n, n);
}

void calls_finish(struct calls *c, struct arena *a, struct execution *e, const char *unit, bool cut)
{
	struct runs r = find(c, cut);
	int from = r.count > 1, room = e->row_count;
	double *ns = base_calloc((size_t)r.count + 1, sizeof(*ns));
	for (int i = 0; c->count && i < r.period; i++)
		add_row(a, c, &r, from, i, e, &room, ns);
	if (c->count)
		e->profiled_ns = run_ns(c, &r, from, ns);
	free(ns);
	e->settings = arena_printf(a, "{\"runs\":%d,\"runs_left_out\":%d%s}", r.count - from, from,
		r.count > 1 ? "" : ",\"runs_unknown\":true");
	if (cut)
		profile_add_gap(a, e, arena_printf(a, "truncated after %d %ss", c->count, unit));
	if (r.first)
		profile_add_gap(a, e,
			arena_printf(a, "%d %s%s before the first complete run left out", r.first, unit,
				r.first == 1 ? "" : "s"));
	if (c->dropped)
		profile_add_gap(a, e, arena_printf(a, "%" PRId64 " further %ss not read", c->dropped, unit));
}

void calls_free(struct calls *c)
{
	hash_free(&c->kinds);
	arena_free(&c->arena);
	free(c->rows);
	free(c->list);
}
