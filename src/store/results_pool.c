/* What the results of one key prove, and how several are grouped. */
#include "config.h"

#include "store/results_private.h"

#include "problem/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int results_key_compare(const struct result *a, const struct result *b)
{
	int c = algorithm_compare(&a->algorithm, &b->algorithm);
	if (!c)
		c = (int)a->cache - (int)b->cache;
	return c ? c : (int)a->launch - (int)b->launch;
}

bool results_same_key(const struct result *a, const struct result *b)
{
	return results_key_compare(a, b) == 0;
}

double results_best_ns(const struct result *r)
{
	return r->stats.min > 0 ? r->stats.min : r->stats.median;
}

#define RESULTS_SAMPLES_LEAST 3 /* fewer say little */
#define RESULTS_APART 1.6 /* intervals further apart than this factor differ: a processor that another guest
			     of the machine shares its cores with is slower by up to that */
enum evidence { EVIDENCE_NOISY, EVIDENCE_FEW, EVIDENCE_SHORTLIST, EVIDENCE_MEDIAN, EVIDENCE_FULL };

/* What a result proves: noisy ones and those of few samples less than others, those of earlier versions and
 * of other programs, whose cost is a median, less than those with a quantile that noise does not raise. n is
 * 0 if other programs did not say how many there were. */
static enum evidence results_evidence(const struct result *r)
{
	bool few = r->stats.n > 0 && r->stats.n < RESULTS_SAMPLES_LEAST;
	return r->stats.stop == STOP_DISTURBED		     ? EVIDENCE_NOISY
		: few					     ? EVIDENCE_FEW
		: r->stats.stop == STOP_SHORTLIST	     ? EVIDENCE_SHORTLIST
		: !(r->stats.p10 > 0) || !*r->sketch ? EVIDENCE_MEDIAN
							     : EVIDENCE_FULL;
}

bool results_outweighs(const struct result *later, const struct result *earlier)
{
	int more = results_evidence(later) - results_evidence(earlier);
	if (later->status != STATUS_OK || earlier->status != STATUS_OK ||
		strcmp(later->runner_version, earlier->runner_version) != 0)
		return true;
	return more > 0 || (more == 0 && (results_evidence(later) > EVIDENCE_FEW ||
			!(results_best_ns(later) > results_best_ns(earlier))));
}

int results_times(const struct result *r)
{
	return r->times > 1 ? r->times : 1;
}

bool results_are_full(const struct result *a, const struct result *b)
{
	return a->status == STATUS_OK && b->status == STATUS_OK && results_key_compare(a, b) == 0 &&
		strcmp(a->runner_version, b->runner_version) == 0 && results_evidence(a) == EVIDENCE_FULL &&
		results_evidence(b) == EVIDENCE_FULL;
}

static int results_cost_compare(const void *x, const void *y)
{
	const struct result *a = *(const struct result *const *)x, *b = *(const struct result *const *)y;
	double ns = stats_cost(&a->stats) - stats_cost(&b->stats);
	int64_t later = a->measured_at - b->measured_at;
	return ns < 0 ? -1 : ns > 0 ? 1 : (later > 0) - (later < 0);
}

/* The number of results from `first` on that all agree: each measurement with each, as a chain of small steps
 * leads anywhere. */
static int results_run(const struct result *const *list, int count, int first)
{
	double lo = list[first]->highest_lo_ns, hi = list[first]->lowest_hi_ns;
	int end = first + 1;
	for (; end < count; end++) {
		lo = fmax(lo, list[end]->highest_lo_ns);
		hi = fmin(hi, list[end]->lowest_hi_ns);
		if (!(lo <= RESULTS_APART * hi))
			break;
	}
	return end - first;
}

bool results_differ(const struct result *a, const struct result *b)
{
	const struct result *const both[] = { a, b };
	return results_are_full(a, b) && results_run(both, 2, 0) < 2;
}

/* Moves the longest run of those from `done` on to the front; of several the fastest. Returns its end. */
static int results_group_next(const struct result **list, int count, int done)
{
	const struct result *run[RESULTS_SEVERAL + 1];
	int at = done, n = 0;
	for (int i = done; i < count; i++)
		if (results_run(list, count, i) > n)
			n = results_run(list, count, at = i);
	memcpy(run, list + at, (size_t)n * sizeof(*run));
	memmove(list + done + n, list + done, (size_t)(at - done) * sizeof(*list));
	memcpy(list + done, run, (size_t)n * sizeof(*run));
	return done + n;
}

static int64_t results_newest(const struct result *const *list, int count)
{
	int64_t newest = INT64_MIN;
	for (int i = 0; i < count; i++)
		newest = list[i]->measured_at > newest ? list[i]->measured_at : newest;
	return newest;
}

int results_group(const struct result **list, int count, bool *disputed)
{
	qsort(list, (size_t)count, sizeof(*list), results_cost_compare);
	int n = results_group_next(list, count, 0), end;
	*disputed = false;
	for (int at = n; at < count && (end = results_group_next(list, count, at)) - at == n; at = end) {
		*disputed = true;
		bool sooner = results_newest(list + at, n) < results_newest(list, n);
		for (int i = 0; i < n && sooner; i++) {
			const struct result *one = list[i];
			list[i] = list[at + i];
			list[at + i] = one;
		}
	}
	return n;
}

struct result results_pooled(const struct result *const *list, int count, struct str *sketch)
{
	struct result all = *list[0];
	int64_t checked_at = all.measured_at;
	for (int i = 1; i < count; i++) {
		const struct result *one = list[i];
		struct result both = one->measured_at > all.measured_at ? *one : all;
		struct str merged = { 0 };
		if (!stats_pool(&all.stats, all.sketch, &one->stats, one->sketch, &both.stats, &merged))
			continue; /* a sketch is damaged */
		/* the notes of the first measurement say whether its outputs were checked */
		both.algorithm = one->measured_at < checked_at ? one->algorithm : all.algorithm;
		checked_at = one->measured_at < checked_at ? one->measured_at : checked_at;
		str_free(sketch);
		*sketch = merged;
		both.sketch = sketch->p;
		both.times = results_times(&all) + results_times(one);
		both.least_ns = fmin(all.least_ns, one->least_ns);
		both.most_ns = fmax(all.most_ns, one->most_ns);
		both.lowest_hi_ns = fmin(all.lowest_hi_ns, one->lowest_hi_ns);
		both.highest_lo_ns = fmax(all.highest_lo_ns, one->highest_lo_ns);
		all = both;
	}
	return all;
}
