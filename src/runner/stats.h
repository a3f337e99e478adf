/* Statistics of samples: pure functions. */
#ifndef RUNNER_STATS_H
#define RUNNER_STATS_H

#include "problem/result.h"

/* Samples in the order taken and sorted. Zeroed = empty; stats_free gives the memory back. */
struct samples {
	double *taken, *sorted;
	int64_t n, capacity;
};

void samples_add(struct samples *s, double value);
void samples_clear(struct samples *s);
void samples_free(struct samples *s);

/* Ranks (from 0) of the order statistics that enclose the median with at least 95% confidence: the narrowest symmetric
 * pair. false: n is too small (under 6) for any. */
bool stats_interval_ranks(int64_t n, int64_t *lo, int64_t *hi);

/* Fills everything but discarded, executions and stop; NaN where n is too small to tell. n = 0: all NaN. */
void stats_compute(const struct samples *s, struct sample_stats *out);

/* Is every end of the 95% interval of the median within `tolerance` (0.02) of it, by at least `least` samples? */
bool stats_converged(const struct samples *s, double tolerance, int64_t least);

#endif
