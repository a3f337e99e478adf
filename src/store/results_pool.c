/* What the results of one key prove, and how several are grouped. */
#include "config.h"

#include "store/results_private.h"

#include "problem/stats.h"

#include <limits.h>
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

/* Each measurement of a agrees with each of b: a chain of small steps does not. */
static bool results_agree(const struct result *a, const struct result *b)
{
	return a->highest_lo_ns <= RESULTS_APART * b->lowest_hi_ns &&
		b->highest_lo_ns <= RESULTS_APART * a->lowest_hi_ns;
}

bool results_differ(const struct result *a, const struct result *b)
{
	return results_are_full(a, b) && !results_agree(a, b);
}

static int results_cost_compare(const void *x, const void *y)
{
	const struct result *a = *(const struct result *const *)x, *b = *(const struct result *const *)y;
	double ns = stats_cost(&a->stats) - stats_cost(&b->stats);
	int64_t later = a->measured_at - b->measured_at;
	return ns < 0 ? -1 : ns > 0 ? 1 : (later > 0) - (later < 0);
}

/* The number of results from `first` on that all agree with each other; *times: of their measurements. */
static int results_run(const struct result *const *list, int count, int first, int *times)
{
	int end = first;
	*times = 0;
	for (bool agree = true; agree && end < count; end += agree) {
		for (int i = first; i < end; i++)
			agree = agree && results_agree(list[i], list[end]);
		*times += agree ? results_times(list[end]) : 0;
	}
	return end - first;
}

/* Moves the largest run of those from `done` on to the front; of several the fastest. Returns its end. */
static int results_group_next(const struct result **list, int count, int done, int *times)
{
	const struct result *run[RESULTS_SEVERAL + 1];
	int at = done, n = 0;
	*times = 0;
	for (int i = done; i < count; i++) {
		int own, size = results_run(list, count, i, &own);
		if (own > *times) {
			at = i;
			n = size;
			*times = own;
		}
	}
	memcpy(run, list + at, (size_t)n * sizeof(*run));
	memmove(list + done + n, list + done, (size_t)(at - done) * sizeof(*list));
	memcpy(list + done, run, (size_t)n * sizeof(*run));
	return done + n;
}

/* The date of a group's newest result. */
static int64_t results_group_date(const struct results_groups *g, int group)
{
	int64_t newest = INT64_MIN;
	for (int i = group ? g->end[group - 1] : 0; i < g->end[group]; i++)
		newest = g->list[i]->measured_at > newest ? g->list[i]->measured_at : newest;
	return newest;
}

/* The place of the oldest result of the smallest group that does not stand. */
static int results_group_least(const struct results_groups *g)
{
	int at = 0, least = INT_MAX;
	for (int k = 0, i = 0; k < g->groups; k++)
		for (int size = g->end[k] - i; i < g->end[k]; i++) {
			bool older = g->list[i]->measured_at < g->list[at]->measured_at;
			bool stands = k == g->stands && g->groups > 1;
			if (!stands && (size < least || (size == least && older))) {
				at = i;
				least = size;
			}
		}
	return at;
}

const struct result *results_group(struct results_groups *g)
{
	int most = 0, times;
	qsort(g->list, (size_t)g->count, sizeof(*g->list), results_cost_compare);
	for (int done = 0; done < g->count; done = g->end[g->groups++]) {
		g->end[g->groups] = results_group_next(g->list, g->count, done, &times);
		most = times > most ? times : most;
		bool as_large = g->groups && times == most;
		g->disputed |= as_large;
		if (as_large && results_group_date(g, g->groups) < results_group_date(g, g->stands))
			g->stands = g->groups;
	}
	if (g->count <= RESULTS_SEVERAL)
		return NULL;
	int at = results_group_least(g);
	const struct result *least = g->list[at];
	struct results_groups rest = { .count = g->count - 1 };
	g->list[at] = g->list[rest.count];
	memcpy(rest.list, g->list, (size_t)rest.count * sizeof(*rest.list));
	results_group(&rest);
	*g = rest;
	return least;
}

struct result results_pooled(const struct results_groups *g, int group, struct str *sketch)
{
	int first = group ? g->end[group - 1] : 0;
	struct result all = *g->list[first];
	int64_t checked_at = all.measured_at;
	for (int i = first + 1; i < g->end[group]; i++) {
		const struct result *one = g->list[i];
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
	all.disputed = g->disputed && group == g->stands;
	return all;
}

double results_way(double from, double to, double step)
{
	return from + step * (to - from);
}

struct sample_stats results_stats_between(
	const struct sample_stats *near, const struct sample_stats *far, double step)
{
	struct sample_stats s = *far;
	s.n = near->n < far->n ? near->n : far->n;
	s.discarded += near->discarded;
	s.min = fmin(near->min, far->min);
	s.q1 = results_way(near->q1, far->q1, step);
	s.median = results_way(near->median, far->median, step);
	s.q3 = results_way(near->q3, far->q3, step);
	s.mean = results_way(near->mean, far->mean, step);
	s.stdev = fmax(near->stdev, far->stdev);
	s.lo = fmin(near->lo, far->lo);
	s.hi = fmax(near->hi, far->hi);
	s.p10 = results_way(near->p10, far->p10, step);
	s.p10_lo = fmin(near->p10_lo, far->p10_lo);
	s.p10_hi = fmax(near->p10_hi, far->p10_hi);
	s.spent += near->spent;
	s.stop = near->stop == STOP_DISTURBED ? near->stop : far->stop;
	return s;
}
