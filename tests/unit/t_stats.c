/* Statistics of samples against known answers. */
#include "config.h"

#include "problem/stats.h"
#include "tap.h"

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
		ok(stats_interval_ranks(known[i].n, &lo, &hi) && lo == known[i].lo && hi == known[i].hi,
			"%lld samples: from rank %lld to %lld", (long long)known[i].n, (long long)known[i].lo,
			(long long)known[i].hi);
	for (int64_t n = 0; n < 6; n++)
		ok(!stats_interval_ranks(n, &lo, &hi), "%lld samples have none", (long long)n);
	stats_interval_ranks(400, &lo, &hi);
	int64_t lo2, hi2;
	stats_interval_ranks(401, &lo2, &hi2);
	ok(lo2 - lo <= 1 && lo2 >= lo, "exact and approximate ones meet");
	ok(stats_interval_ranks(20000, &lo, &hi) && lo == 9860, "many samples");
}

static void test_converged(void)
{
	struct samples s = { 0 };
	for (int i = 0; i < 9; i++)
		samples_add(&s, 100);
	ok(!stats_converged(&s, 0.02, 10), "nine equal samples are too few");
	samples_add(&s, 100);
	ok(stats_converged(&s, 0.02, 10), "ten are enough");
	samples_clear(&s);
	for (int i = 0; i < 20; i++)
		samples_add(&s, i < 10 ? 97 : 103);
	ok(!stats_converged(&s, 0.02, 10), "3 percent to each side is not within 2");
	ok(stats_converged(&s, 0.04, 10), "but within 4");
	samples_free(&s);
}

int main(void)
{
	test_stats();
	test_intervals();
	test_converged();
	return done_testing();
}
