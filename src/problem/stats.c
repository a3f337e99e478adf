#include "config.h"

#include "problem/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Keeps samples in the order taken and sorted: binary search for the position after equal values, then a
 * shift (insertion sort, Knuth, volume 3, 5.2.1). O(log n) comparisons and one memmove of at most n
 * values; quantiles are then read directly after every sample. */
void samples_add(struct samples *s, double value)
{
	if (s->n == s->capacity) {
		s->capacity = s->capacity ? s->capacity * 2 : 64;
		s->taken = base_realloc(s->taken, (size_t)s->capacity * sizeof(double));
		s->sorted = base_realloc(s->sorted, (size_t)s->capacity * sizeof(double));
	}
	int64_t lo = 0, hi = s->n;
	while (lo < hi) {
		int64_t mid = (lo + hi) / 2;
		if (s->sorted[mid] <= value)
			lo = mid + 1;
		else
			hi = mid;
	}
	memmove(s->sorted + lo + 1, s->sorted + lo, (size_t)(s->n - lo) * sizeof(double));
	s->sorted[lo] = value;
	s->taken[s->n++] = value;
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void samples_set(struct samples *s, const double *values, int64_t n)
{
	if (n > s->capacity) {
		s->capacity = n;
		s->taken = base_realloc(s->taken, (size_t)n * sizeof(double));
		s->sorted = base_realloc(s->sorted, (size_t)n * sizeof(double));
	}
	s->n = n;
	if (n == 0)
		return;
	memcpy(s->taken, values, (size_t)n * sizeof(double));
	memcpy(s->sorted, values, (size_t)n * sizeof(double));
	qsort(s->sorted, (size_t)n, sizeof(double), compare_values);
}

void samples_clear(struct samples *s)
{
	s->n = 0;
}

void samples_free(struct samples *s)
{
	free(s->taken);
	free(s->sorted);
	*s = (struct samples){ 0 };
}

/* Largest k such that the k-th smallest and k-th largest of n samples enclose the median with 95%
 * confidence: 2 P(Binomial(n, 1/2) < k) <= 0.05. It holds for every distribution (David and Nagaraja,
 * Order Statistics, 7.1). Beyond 400 samples the normal approximation is as good. */
static int64_t interval_rank(int64_t n)
{
	if (n > 400)
		return (int64_t)floor(((double)n - 1.959964 * sqrt((double)n)) / 2);
	double probability = exp2(-(double)n), sum = 0;
	int64_t k = 0;
	for (; k <= n / 2; k++) {
		sum += probability;
		if (2 * sum > 0.05)
			break;
		probability *= (double)(n - k) / (double)(k + 1);
	}
	return k;
}

bool stats_interval_ranks(int64_t n, int64_t *lo, int64_t *hi)
{
	int64_t k = n > 0 ? interval_rank(n) : 0;
	if (k < 1)
		return false;
	*lo = k - 1;
	*hi = n - k;
	return true;
}

double samples_quantile(const struct samples *s, double q)
{
	if (s->n < 1)
		return NAN;
	double at = q * (double)(s->n - 1);
	int64_t i = (int64_t)floor(at);
	double rest = at - (double)i;
	return rest > 0 ? s->sorted[i] + rest * (s->sorted[i + 1] - s->sorted[i]) : s->sorted[i];
}

/* Mean, and standard deviation by the two-pass formula, which does not cancel (Chan, Golub, LeVeque, The
 * American Statistician 37, 1983); quartiles and the 95% interval of the median from the sorted samples.
 * Linear in n. Unknown values are NaN: all of them without samples, the spread for one sample. */
void stats_compute(const struct samples *s, struct sample_stats *out)
{
	*out = (struct sample_stats){ .n = s->n };
	out->min = out->q1 = out->median = out->q3 = out->mean = out->stdev = out->lo = out->hi = NAN;
	if (s->n < 1)
		return;
	double sum = 0, squares = 0;
	for (int64_t i = 0; i < s->n; i++)
		sum += s->sorted[i];
	out->mean = sum / (double)s->n;
	for (int64_t i = 0; i < s->n; i++)
		squares += (s->sorted[i] - out->mean) * (s->sorted[i] - out->mean);
	if (s->n > 1)
		out->stdev = sqrt(squares / (double)(s->n - 1));
	out->min = s->sorted[0];
	out->q1 = samples_quantile(s, 0.25);
	out->median = samples_quantile(s, 0.5);
	out->q3 = samples_quantile(s, 0.75);
	if (s->n < 2)
		return; /* one sample has no spread */
	int64_t lo = 0, hi = s->n - 1; /* under 6 samples no 95% interval exists: use the range */
	stats_interval_ranks(s->n, &lo, &hi);
	out->lo = s->sorted[lo];
	out->hi = s->sorted[hi];
}

/* Returns true if the 95% interval of the median lies within `tolerance` of it on both sides and there are at
 * least `least` samples. The test is distribution-free: outliers do not delay it as they delay a test of the
 * mean. Constant time, except the ranks (interval_rank). */
bool stats_converged(const struct samples *s, double tolerance, int64_t least)
{
	int64_t lo, hi;
	if (s->n < least || !stats_interval_ranks(s->n, &lo, &hi))
		return false;
	double median = samples_quantile(s, 0.5);
	return s->sorted[hi] - median <= tolerance * median && median - s->sorted[lo] <= tolerance * median;
}
