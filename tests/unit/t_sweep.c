/* The best batch of a sweep, and algorithms that change. */
#include "config.h"

#include <math.h>

#include "analyze/tables/sweep.h"
#include "tap.h"

/* Index of the best of points with these batches and throughputs, or -1. A negative throughput: incomplete.
 */
static int best_of(int count, const int64_t *batch, const double *items_per_s)
{
	struct sweep_point points[8] = { { 0 } };
	int best = -1, marked = 0;
	for (int i = 0; i < count; i++)
		points[i] = (struct sweep_point){ .batch = batch[i],
			.items_per_s = fabs(items_per_s[i]),
			.complete = items_per_s[i] > 0,
			.best = true };
	sweep_best(points, count);
	for (int i = 0; i < count; i++)
		if (points[i].best) {
			best = i;
			marked++;
		}
	ok(best < 0 || points[best].growing == (best == count - 1), "growing: the best one is the largest");
	return marked > 1 ? -2 : best;
}

#define BEST(...) best_of((int)(sizeof((double[])__VA_ARGS__) / sizeof(double)), batch, (double[])__VA_ARGS__)

static void test_best(void)
{
	static const int64_t batch[] = { 1, 2, 4, 8, 16 }, wide[] = { 1, 16, 64 };
	is_int(BEST({ 100, 180, 300, 400, 500 }), 4, "every doubling gains");
	is_int(BEST({ 100, 180, 188, 300, 500 }), 1, "a doubling of 4.4%% ends it, whatever comes later");
	is_int(BEST({ 100, 180, 190, 199, 210 }), 2, "5.6%%, then 4.7%%");
	is_int(BEST({ 100, 90, 80, 70, 60 }), 0, "nothing gains");
	is_int(BEST({ 100, 180, -300, 600, 900 }), 1, "points after an incomplete one are not compared");
	is_int(BEST({ 100, -180 }), -1, "one complete point");
	is_int(BEST({ -100, 180, 300 }), -1, "the first one is incomplete");
	is_int(BEST({ 100 }), -1, "one point");
	is_int(best_of(3, wide, (double[]){ 100, 122, 130 }), 1,
		"by a factor of 16: four doublings of 5.1%%; then two of 3.2%%");
	is_int(best_of(3, wide, (double[]){ 100, 121, 130 }), 0, "four doublings of 4.9%%");
}

static void test_crossovers(void)
{
	static const struct algorithm a = { .api = "oneDNN", .name = "jit:avx2" },
				      b = { .api = "oneDNN", .name = "jit:avx512_core:1_thread" },
				      c = { .api = "oneDNN", .name = "gemm" },
				      d = { .api = "plain C", .name = "jit" };
	const struct algorithm *x[] = { &a, &a, &a, NULL }, *y[] = { &b, &c, &d, &a }, *none[] = { NULL };
	const struct sweep_algorithms p = { 4, x }, q = { 4, y }, r = { 1, none };
	is_int(sweep_crossovers(&p, &p), 0, "the same");
	is_int(sweep_crossovers(&p, &q), 2, "another kernel, another library; not another instruction set");
	is_int(sweep_crossovers(&r, &r), -1, "no algorithm is known");
	is_int(sweep_crossovers(&p, &r), -1, "not the same model");
}

static void marks(void)
{
	struct sweep_point p = SWEEP_POINT_UNKNOWN;
	ok(!*sweep_mark(&p) && !*sweep_rate_mark(&p), "nothing is known, nothing is marked");
	p.total_ns = 5;
	is_str(sweep_mark(&p), ">=", "results are missing: at least so long");
	is_str(sweep_rate_mark(&p), "<=", "... and at most so many a second");
	p.estimated = p.complete = true;
	ok(!strcmp(sweep_mark(&p), "~") && !strcmp(sweep_rate_mark(&p), "~"), "an estimate");
	p.estimated = false;
	ok(!*sweep_mark(&p) && !*sweep_rate_mark(&p), "measured");
}

static void intervals(void)
{
	char text[STR_QUANTITY];
	struct sweep_point p = SWEEP_POINT_UNKNOWN;
	is_str(sweep_interval(text, &p), "", "no interval is known");
	p.total_ns = 850e3;
	p.lo_ns = 450e3;
	p.hi_ns = 1850e3;
	is_str(sweep_interval(text, &p), "-47% +118%", "two sides");
	p.lo_ns = 845e3;
	p.hi_ns = 865e3;
	is_str(sweep_interval(text, &p), "1.2%", "nearly one");
	struct span a = sweep_span(&p, 2);
	is_int((int)a.hi, 432500, "per item");
	is_int(diff_verdict_of(a, (struct span){ 420e3, 400e3, 430e3 }), DIFF_UNCLEAR, "they overlap");
	is_int(diff_verdict_of(a, (struct span){ 410e3, 400e3, 420e3 }), DIFF_FASTER, "they do not");
}

int main(void)
{
	intervals();
	test_best();
	test_crossovers();
	marks();
	return done_testing();
}
