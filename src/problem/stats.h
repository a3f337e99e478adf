/* Statistics of samples. The functions have no state. */
#ifndef PROBLEM_STATS_H
#define PROBLEM_STATS_H

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

/* Ranks (from 0) of the order statistics that enclose the median with at least 95% confidence: the
 * narrowest symmetric pair. Returns false if n is too small (under 6). */
bool stats_interval_ranks(int64_t n, int64_t *lo, int64_t *hi);

/* Returns quantile q, 0 to 1, with linear interpolation between neighbours (type 7 of Hyndman and Fan, 1996);
 * NaN without samples. */
double samples_quantile(const struct samples *s, double q);

/* Fills all fields but discarded, executions and stop. A field is NaN if n is too small for it; n = 0: all
 * are NaN. */
void stats_compute(const struct samples *s, struct sample_stats *out);

/* Returns true if both ends of the median's 95% interval are within `tolerance` (relative, e.g. 0.02) of the
 * median and there are at least `least` samples. */
bool stats_converged(const struct samples *s, double tolerance, int64_t least);

#endif
