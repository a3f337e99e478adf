/* Statistics of samples. The functions have no state. */
#ifndef PROBLEM_STATS_H
#define PROBLEM_STATS_H

#include "base/str.h"
#include "problem/result.h"

/* Samples in the order taken, and sorted. All zero: empty; samples_free releases the memory. */
struct samples {
	double *taken, *sorted;
	int64_t n, capacity;
};

/* Adds one, at its place in the sorted ones: O(n). */
void samples_add(struct samples *s, double value);
/* Replaces the samples by n values, in O(n log n). */
void samples_set(struct samples *s, const double *values, int64_t n);
void samples_clear(struct samples *s);
void samples_free(struct samples *s);

/* The quantile that costs are: other work only adds time, so a low one of short samples needs no quiet
 * machine, and unlike the minimum it repeats. */
#define STATS_COST_QUANTILE 0.1
/* Fewer samples have no two-sided 95% interval of that quantile: 0.9^28 > 0.05. */
#define STATS_COST_SAMPLES 29

/* Ranks (from 0) of the order statistics that enclose quantile q with at least 95% confidence, with half of
 * the rest on each side where n allows it. If n is too small for a lower end, *lo is -1 and *hi a one-sided
 * 95% end; if n is too small for that too, *hi is n. Returns true if both exist. */
bool stats_interval_ranks(int64_t n, double q, int64_t *lo, int64_t *hi);

/* Returns quantile q, 0 to 1, with linear interpolation between neighbours (type 7 of Hyndman and Fan, 1996);
 * NaN without samples. */
double samples_quantile(const struct samples *s, double q);

/* Fills all fields but discarded, executions, spent and stop. A field is NaN if n is too small for it; n = 0:
 * all are NaN. */
void stats_compute(const struct samples *s, struct sample_stats *out);

/* Returns true if the 95% interval of quantile q lies within `tolerance` (relative, e.g. 0.02) of it on both
 * sides and there are at least `least` samples. */
bool stats_converged(const struct samples *s, double q, double tolerance, int64_t least);

/* Appends the sketch of the samples: a histogram with buckets of 1%, "FIRST COUNT GAP COUNT ...", whose
 * bucket i counts values in (1.01^(i-1), 1.01^i], so that quantiles are within 0.5% (Masson, Rim and Lee,
 * DDSketch, VLDB 2019). Nothing without samples. */
void stats_sketch(const struct samples *s, struct str *out);
/* Pools two sets of samples of the same quantity: statistics from both sketches, appended to `sketch` as one.
 * Returns false if a sketch is missing, damaged, or not of as many samples as its statistics say. */
bool stats_pool(const struct sample_stats *a, const char *sketch_a, const struct sample_stats *b,
	const char *sketch_b, struct sample_stats *out, struct str *sketch);

#endif
