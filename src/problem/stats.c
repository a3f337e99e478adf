/* Quantiles with intervals that hold for any distribution, by ranks (no normal distribution is assumed),
 * and sketches of samples, from which pooled statistics are computed. */
#include "config.h"

#include "problem/stats.h"

#include <math.h>
#include <stdio.h>
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

#define SHARE_OUTSIDE 0.05
#define EXACT_MOST 300 /* beyond it the normal approximation is as good, and powers underflow */
#define NORMAL_975 1.959964

/* With X of n samples below the quantile, X ~ Binomial(n, q): returns the largest k with P(X < k) <= share.
 * O(n). */
static int64_t rank_up_to(int64_t n, double q, double share)
{
	double probability = pow(1 - q, (double)n), sum = 0;
	int64_t k = 0;
	for (; k < n && sum + probability <= share; k++) {
		sum += probability;
		probability *= (double)(n - k) / (double)(k + 1) * q / (1 - q);
	}
	return k;
}

/* The k-th and m-th smallest enclose quantile q of every distribution with probability P(k <= X < m) (David
 * and Nagaraja, Order Statistics, 7.1). By symmetry m is n + 1 - rank_up_to for the quantile 1 - q. */
bool stats_interval_ranks(int64_t n, double q, int64_t *lo, int64_t *hi)
{
	double spread = NORMAL_975 * sqrt((double)n * q * (1 - q));
	if (n > EXACT_MOST) {
		*lo = (int64_t)floor((double)n * q - spread) - 1;
		*hi = n - (int64_t)floor((double)n * (1 - q) - spread);
		return true;
	}
	int64_t k = rank_up_to(n, q, SHARE_OUTSIDE / 2);
	double rest = SHARE_OUTSIDE / 2;
	if (k == 0) { /* the minimum has more than half of what may lie outside, or all of it */
		k = rank_up_to(n, q, SHARE_OUTSIDE) > 0;
		rest = SHARE_OUTSIDE - (k ? pow(1 - q, (double)n) : 0);
	}
	*lo = k - 1;
	*hi = n - rank_up_to(n, 1 - q, rest);
	return *lo >= 0 && *hi < n;
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

/* The ends of the interval of quantile q; samples at the end of the range where n is too small. */
static void interval_of(const struct samples *s, double q, double *lo, double *hi)
{
	int64_t low, high;
	stats_interval_ranks(s->n, q, &low, &high);
	*lo = s->sorted[low < 0 ? 0 : low];
	*hi = s->sorted[high < s->n ? high : s->n - 1];
}

/* Mean, and standard deviation by the two-pass formula, which does not cancel (Chan, Golub, LeVeque, The
 * American Statistician 37, 1983); quantiles and intervals from the sorted samples. Linear in n. Unknown
 * values are NaN: all of them without samples, the spread for one sample. */
void stats_compute(const struct samples *s, struct sample_stats *out)
{
	*out = (struct sample_stats){ .n = s->n };
	out->min = out->q1 = out->median = out->q3 = out->mean = out->stdev = out->lo = out->hi = NAN;
	out->p10 = out->p10_lo = out->p10_hi = out->spent = NAN;
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
	out->p10 = samples_quantile(s, STATS_COST_QUANTILE);
	out->q1 = samples_quantile(s, 0.25);
	out->median = samples_quantile(s, 0.5);
	out->q3 = samples_quantile(s, 0.75);
	if (s->n < 2)
		return; /* one sample has no spread */
	interval_of(s, 0.5, &out->lo, &out->hi);
	interval_of(s, STATS_COST_QUANTILE, &out->p10_lo, &out->p10_hi);
}

/* The test is distribution-free: outliers do not delay it as they delay a test of the mean. Constant time,
 * except the ranks. */
bool stats_converged(const struct samples *s, double q, double tolerance, int64_t least)
{
	int64_t lo, hi;
	if (s->n < least || !stats_interval_ranks(s->n, q, &lo, &hi))
		return false;
	double value = samples_quantile(s, q), most = tolerance * value;
	return s->sorted[hi] - value <= most && value - s->sorted[lo] <= most;
}

/* --- sketches --- */

#define SKETCH_GROWTH 1.01
#define SKETCH_BUCKETS 4096 /* from 0.01 ns to 11 days are fewer */

struct sketch {
	int count;
	int64_t n; /* samples */
	struct {
		int bucket;
		int64_t n;
	} at[SKETCH_BUCKETS];
};

static void sketch_write(const struct sketch *k, struct str *out)
{
	for (int i = 0, last = 0; i < k->count; last = k->at[i++].bucket)
		str_addf(out, "%s%d %lld", i ? " " : "", k->at[i].bucket - last, (long long)k->at[i].n);
}

void stats_sketch(const struct samples *s, struct str *out)
{
	struct sketch *k = base_malloc(sizeof(*k));
	int64_t at = s->n > 0 && s->sorted[0] > 0 ? 0 : s->n;
	for (k->count = 0; at < s->n && k->count < SKETCH_BUCKETS; k->count++) {
		int bucket = (int)ceil(log(s->sorted[at]) / log(SKETCH_GROWTH));
		double end = pow(SKETCH_GROWTH, bucket);
		int64_t first = at++;
		while (at < s->n && s->sorted[at] <= end)
			at++;
		k->at[k->count].bucket = bucket;
		k->at[k->count].n = at - first;
	}
	sketch_write(k, out);
	free(k);
}

/* Returns false if the text is no sketch. */
static bool sketch_read(const char *text, struct sketch *k)
{
	long long gap, n, bucket = 0;
	int used;
	k->count = 0;
	k->n = 0;
	while (k->count < SKETCH_BUCKETS && sscanf(text, "%lld %lld%n", &gap, &n, &used) == 2) {
		bucket += gap;
		if ((k->count && gap < 1) || n < 1 || n > INT32_MAX || llabs(gap) > INT16_MAX)
			return false;
		k->at[k->count].bucket = (int)bucket;
		k->at[k->count++].n = n;
		k->n += n;
		text += used;
	}
	return k->count > 0 && *text == '\0';
}

/* Merges sorted lists of buckets. O(buckets). */
static void sketch_merge(const struct sketch *a, const struct sketch *b, struct sketch *out)
{
	out->count = 0;
	out->n = a->n + b->n;
	for (int i = 0, j = 0; (i < a->count || j < b->count) && out->count < SKETCH_BUCKETS; out->count++) {
		bool has_a = i < a->count && (j == b->count || a->at[i].bucket <= b->at[j].bucket);
		bool has_b = j < b->count && (i == a->count || b->at[j].bucket <= a->at[i].bucket);
		out->at[out->count].bucket = has_a ? a->at[i].bucket : b->at[j].bucket;
		out->at[out->count].n = (has_a ? a->at[i++].n : 0) + (has_b ? b->at[j++].n : 0);
	}
}

/* The value in the middle of the bucket that has the sample of this rank: at most 0.5% from it. */
static double sketch_value(const struct sketch *k, int64_t rank)
{
	int i = 0;
	for (; i < k->count - 1 && rank >= k->at[i].n; i++)
		rank -= k->at[i].n;
	return 2 * pow(SKETCH_GROWTH, k->at[i].bucket) / (SKETCH_GROWTH + 1);
}

static double sketch_quantile(const struct sketch *k, double q)
{
	return sketch_value(k, (int64_t)llround(q * (double)(k->n - 1)));
}

/* A value from a sketch is not below the least sample. */
static void pool_compute(const struct sketch *k, struct sample_stats *out)
{
	const struct {
		double q, *value, *lo, *hi;
	} all[] = { { 0.1, &out->p10, &out->p10_lo, &out->p10_hi }, { 0.25, &out->q1, NULL, NULL },
		{ 0.5, &out->median, &out->lo, &out->hi }, { 0.75, &out->q3, NULL, NULL } };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int64_t lo, hi;
		*all[i].value = fmax(out->min, sketch_quantile(k, all[i].q));
		if (!all[i].lo)
			continue;
		stats_interval_ranks(k->n, all[i].q, &lo, &hi);
		*all[i].lo = fmin(*all[i].value, lo < 0 ? out->min : fmax(out->min, sketch_value(k, lo)));
		*all[i].hi = fmax(*all[i].value, sketch_value(k, hi < k->n ? hi : k->n - 1));
	}
}

/* Sum of the squared distances of n samples to their mean; 0 for one sample, which has no deviation. */
static double squares_of(const struct sample_stats *s)
{
	return s->n > 1 && !isnan(s->stdev) ? (double)(s->n - 1) * s->stdev * s->stdev : 0;
}

bool stats_pool(const struct sample_stats *a, const char *sketch_a, const struct sample_stats *b,
	const char *sketch_b, struct sample_stats *out, struct str *sketch)
{
	struct sketch *k = base_malloc(3 * sizeof(*k));
	bool good = sketch_read(sketch_a, &k[0]) && sketch_read(sketch_b, &k[1]) && k[0].n == a->n &&
		k[1].n == b->n;
	if (good) {
		sketch_merge(&k[0], &k[1], &k[2]);
		double na = (double)a->n, nb = (double)b->n, n = na + nb, apart = a->mean - b->mean;
		*out = *b;
		out->n = k[2].n;
		out->discarded = a->discarded + b->discarded;
		out->min = fmin(a->min, b->min);
		out->mean = (na * a->mean + nb * b->mean) / n;
		/* squares to the common mean (Chan, Golub, LeVeque, 1983) */
		out->stdev =
			sqrt((squares_of(a) + squares_of(b) + na * nb / n * apart * apart) / (n - 1));
		out->spent = a->spent + b->spent;
		out->stop = a->stop == STOP_CONVERGED ? a->stop : b->stop;
		pool_compute(&k[2], out);
		sketch_write(&k[2], sketch);
	}
	free(k);
	return good;
}
