/* Statistics of samples against known answers. */
#include "config.h"

#include "problem/stats.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

static struct samples samples_of(const double *v, int64_t n)
{
	struct samples s = { 0 };
	for (int64_t i = 0; i < n; i++)
		samples_add(&s, v[i]);
	return s;
}

static void test_stats(void)
{
	const double v[] = { 9, 1, 8, 2, 7, 3, 6, 4, 5, 10 };
	struct samples s = samples_of(v, 10);
	struct sample_stats t;
	stats_compute(&s, &t);
	near(t.median, 5.5, 1e-12, "median of an even number");
	near(t.min, 1, 1e-12, "min");
	near(t.q1, 3.25, 1e-12, "first quartile");
	near(t.q3, 7.75, 1e-12, "third quartile");
	near(t.mean, 5.5, 1e-12, "mean");
	near(t.stdev, 3.0276503540974917, 1e-12, "standard deviation");
	near(t.lo, 2, 1e-12, "interval of ten begins at the second");
	near(t.hi, 9, 1e-12, "and ends at the ninth");
	ok(s.taken[0] == 9 && s.taken[9] == 10 && s.sorted[0] == 1 && s.sorted[9] == 10,
		"both orders are kept");
	samples_free(&s);
	s = samples_of(v, 1);
	stats_compute(&s, &t);
	ok(t.median == 9 && t.n == 1 && isnan(t.stdev) && isnan(t.lo) && isnan(t.hi),
		"one sample has no spread and no interval");
	samples_free(&s);
	s = samples_of(v, 3);
	stats_compute(&s, &t);
	ok(t.lo == 1 && t.hi == 9, "three have their range");
	samples_clear(&s);
	stats_compute(&s, &t);
	ok(isnan(t.median) && isnan(t.min) && t.n == 0, "no sample, nothing known");
	samples_free(&s);
}

/* Exact binomial intervals, from tables of the sign test. */
static void test_intervals(void)
{
	static const struct {
		int64_t n, lo, hi;
	} known[] = { { 6, 0, 5 }, { 8, 0, 7 }, { 9, 1, 7 }, { 10, 1, 8 }, { 12, 2, 9 }, { 15, 3, 11 },
		{ 20, 5, 14 }, { 25, 7, 17 }, { 30, 9, 20 }, { 50, 17, 32 }, { 100, 39, 60 } };
	int64_t lo, hi;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ok(stats_interval_ranks(known[i].n, 0.5, &lo, &hi) && lo == known[i].lo && hi == known[i].hi,
			"%lld samples: from rank %lld to %lld", (long long)known[i].n, (long long)known[i].lo,
			(long long)known[i].hi);
	for (int64_t n = 0; n < 6; n++)
		ok(!stats_interval_ranks(n, 0.5, &lo, &hi), "%lld samples have none", (long long)n);
	stats_interval_ranks(300, 0.5, &lo, &hi);
	int64_t lo2, hi2;
	stats_interval_ranks(301, 0.5, &lo2, &hi2);
	ok(lo2 - lo <= 1 && lo2 >= lo, "exact and approximate ones meet");
	ok(stats_interval_ranks(20000, 0.5, &lo, &hi) && lo == 9860, "many samples");
}

/* P(X < k) for X ~ Binomial(n, q), summed independently of the code: in logarithms. */
static double below(int64_t n, double q, int64_t k)
{
	double sum = 0;
	for (int64_t i = 0; i < k; i++)
		sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
			(double)i * log(q) + (double)(n - i) * log(1 - q));
	return sum;
}

/* Order statistics lo and hi, from 0, enclose the quantile with P(lo < X <= hi). */
static void test_cost_intervals(void)
{
	int64_t lo, hi;
	for (int64_t n = 29; n <= 300; n += n < 60 ? 1 : 37) {
		bool both = stats_interval_ranks(n, 0.1, &lo, &hi);
		double inside = below(n, 0.1, hi + 1) - below(n, 0.1, lo + 1);
		ok(both && inside >= 0.95, "%lld samples: %lld to %lld enclose it with %.4f", (long long)n,
			(long long)lo, (long long)hi, inside);
	}
	ok(!stats_interval_ranks(28, 0.1, &lo, &hi) && lo == -1 && below(28, 0.1, hi + 1) >= 0.95 &&
			below(28, 0.1, hi) < 0.95,
		"28 have no lower end, and the least upper one");
	ok(!stats_interval_ranks(2, 0.1, &lo, &hi) && lo == -1 && hi == 1, "2 have an upper end");
	ok(!stats_interval_ranks(1, 0.1, &lo, &hi) && lo == -1 && hi == 1, "1 has none");
	stats_interval_ranks(300, 0.1, &lo, &hi);
	int64_t lo2, hi2;
	ok(stats_interval_ranks(301, 0.1, &lo2, &hi2) && llabs(lo2 - lo) <= 1 && llabs(hi2 - hi) <= 1,
		"exact and approximate ones meet");
}

/* Other work hits most samples: the median is that of the hit ones, the 10th percentile is not. */
static void test_cost(void)
{
	struct samples s = { 0 };
	struct sample_stats t, old = { .median = 5, .lo = 4, .hi = 6 };
	for (int i = 0; i < 100; i++)
		samples_add(&s, i % 5 ? 900 + i : 100 + 0.01 * i);
	stats_compute(&s, &t);
	ok(t.median > 900 && t.p10 > 100 && t.p10 < 101, "the cost is near the samples that were not hit");
	ok(stats_cost(&t) == t.p10 && stats_cost_lo(&t) >= 100 && stats_cost_hi(&t) < 1000,
		"and so is its interval");
	ok(stats_cost(&old) == 5 && stats_cost_lo(&old) == 4 && stats_cost_hi(&old) == 6,
		"where only a median is known, it stands for the cost");
	samples_free(&s);
}

static double relative(double a, double b)
{
	return fabs(a - b) / b;
}

/* Two parts of the same samples, pooled, are as good as all of them. */
static void test_pool(void)
{
	struct samples part[2] = { 0 }, all = { 0 };
	struct sample_stats t[2], whole, pooled;
	struct str sketch[2] = { 0 }, both = { 0 }, again = { 0 };
	for (int i = 0; i < 500; i++) {
		double v = 1e5 * (1 + 0.3 * fabs(sin(i))) + (i % 7 ? 0 : 1e6);
		samples_add(&part[i % 3 == 0], v);
		samples_add(&all, v);
	}
	for (int i = 0; i < 2; i++) {
		stats_compute(&part[i], &t[i]);
		stats_sketch(&part[i], &sketch[i]);
	}
	stats_compute(&all, &whole);
	ok(stats_pool(&t[0], sketch[0].p, &t[1], sketch[1].p, &pooled, &both), "two results are pooled");
	ok(pooled.n == 500 && pooled.min == whole.min, "with all of their samples");
	near(pooled.mean, whole.mean, 1e-6, "their mean");
	near(pooled.stdev, whole.stdev, 1e-6, "their deviation");
	ok(relative(pooled.p10, whole.p10) < 0.006 && relative(pooled.p10_lo, whole.p10_lo) < 0.006 &&
			relative(pooled.p10_hi, whole.p10_hi) < 0.006,
		"the cost and its interval within half a percent: %g of %g", pooled.p10, whole.p10);
	ok(relative(pooled.median, whole.median) < 0.006 && relative(pooled.q3, whole.q3) < 0.006,
		"and the other quantiles");
	stats_sketch(&all, &again);
	is_str(both.p, again.p, "the sketch of all is the merged one");
	static const char *const bad[] = { "", "x", "5", "5 1 0 1", "5 -1", "5 1 1 99999999999", "5 1 x",
		"5 333" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!stats_pool(&t[0], sketch[0].p, &t[1], bad[i], &pooled, &again), "no sketch: \"%s\"",
			bad[i]);
	for (int i = 0; i < 2; i++) {
		samples_free(&part[i]);
		str_free(&sketch[i]);
	}
	samples_free(&all);
	str_free(&both);
	str_free(&again);
}

static void test_converged(void)
{
	struct samples s = { 0 };
	for (int i = 0; i < 9; i++)
		samples_add(&s, 100);
	ok(!stats_converged(&s, 0.5, 0.02, 10), "nine equal samples are too few");
	samples_add(&s, 100);
	ok(stats_converged(&s, 0.5, 0.02, 10), "ten are enough");
	samples_clear(&s);
	for (int i = 0; i < 20; i++)
		samples_add(&s, i < 10 ? 97 : 103);
	ok(!stats_converged(&s, 0.5, 0.02, 10), "3 percent to each side is not within 2");
	ok(stats_converged(&s, 0.5, 0.04, 10), "but within 4");
	samples_free(&s);
}

int main(void)
{
	test_stats();
	test_intervals();
	test_cost_intervals();
	test_cost();
	test_pool();
	test_converged();
	return done_testing();
}
