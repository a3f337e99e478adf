/* The interval of a total: linear over the uses of a problem, in quadrature over different ones, one-sided
 * where other work may have added time. */
#include "config.h"

#include "analyze/bound/bound_private.h"
#include "world.h"

#include <math.h>

#define SIZE "1x64x56x56"
#define MATMUL "matmul:f32,f32.c,f32/f32:ba1bb1m1024n1024k1024:ta0tb0"
#define RELU "eltwise:f32,f32:relu:" SIZE
#define TANH "eltwise:f32,f32:tanh:" SIZE
#define RUN 0.01 /* the share of a run */

static int product(struct maker *m, int x)
{
	return make_layer(m, "MatMul", MATMUL, SIZE, x, make_constant(m, "1024x1024"));
}

static struct result sampled(const char *problem, int n, double lo, double ns, double hi)
{
	struct result one = make_result(problem, ns);
	one.stats.n = n;
	one.stats.min = lo;
	one.stats.lo = lo;
	one.stats.hi = hi;
	return one;
}

static void put(struct world *w, const char *problem, int n, double lo, double ns, double hi, enum stop stop)
{
	static char version[16]; /* a newer one replaces all results */
	static int count;
	struct result one = sampled(problem, n, lo, ns, hi);
	snprintf(version, sizeof(version), "%d", ++count);
	one.runner_version = version;
	one.stats.stop = stop;
	results_put(w->results, &one);
}

/* f32 at 1 TFLOP/s: the product takes at least 2.147 ms. */
static struct peaks peaks(void)
{
	struct peaks k = peaks_unknown();
	k.bandwidth_bytes_s = 1e12;
	k.flops[DTYPE_F32] = 1e12;
	return k;
}
#define LEAST (2.0 * 1024 * 1024 * 1024 / 1e12 * 1e9)

static struct analysis *look_at(struct world *w, const struct peaks *k, const char *list)
{
	struct scenario s = scenario(list);
	struct ground g = { .plan = w->plan, .fusion = w->fusion, .results = w->results, .device = &w->device,
		.peaks = k };
	return analyze(&w->arena, &g, &s);
}

/* `count` products in a row, then Relu and Tanh. */
static void open_row(struct world *w, int count)
{
	struct maker *m = make_begin();
	int x = make_input(m, SIZE);
	for (int i = 0; i < count; i++)
		x = product(m, x);
	x = make_layer(m, "Relu", RELU, SIZE, x, -1);
	x = make_layer(m, "Tanh", TANH, SIZE, x, -1);
	m->plan.values[x].is_output = true;
	world_open(w, m);
}

/* 24 products of one converged result (5 ms; `one`'s other fields) and two other layers of 4 ms. */
static struct analysis *look_at_row(struct world *w, struct result one)
{
	open_row(w, 24);
	put(w, RELU, 50, 4e6, 4e6, 4e6, STOP_CONVERGED);
	put(w, TANH, 50, 4e6, 4e6, 4e6, STOP_CONVERGED);
	one.stats.stop = STOP_CONVERGED;
	results_put(w->results, &one);
	return look(w, "");
}

/* Measurements at several times differ by the machine: half their range is common to the whole sum. */
static void times(void)
{
	struct world w;
	struct result one = sampled(MATMUL, 50, 5e6, 5e6, 5e6);
	one.times = 3;
	one.least_ns = 5e6;
	one.most_ns = 6e6;
	struct analysis *a = look_at_row(&w, one);
	near(a->total_ns, 128e6, 1e-12, "its cost is not changed");
	double once = 8e6 * (0.1 * 120e6 + 0.01 * 8e6) / 128e6; /* of it the mean share of all */
	near(a->hi_ns, 128e6 + 12e6 + once, 1e-12, "apart by a fifth: a tenth");
	near(a->lo_ns, 128e6 - 12e6 - once, 1e-12, "... and downward");
	near(a->layers[0].hi, 5e6, 1e-12, "a layer has the interval of its samples");
	struct interval v = interval_at_times(a->layers[0].lo, a->layers[0].hi, a->layers[0].result);
	near(v.hi, 6e6, 1e-12, "with the whole range beside a real run");
	near(v.lo, 5e6, 1e-12, "which does not narrow it");
	world_close(&w);
}

/* Samples between interruptions are longer too: the low end says so, unless few were interrupted. */
static void busy(void)
{
	for (int64_t discarded = 1; discarded <= 5; discarded += 4) {
		struct world w;
		struct result one = sampled(MATMUL, 50, 5e6, 5e6, 5e6);
		one.stats.p10 = one.stats.p10_lo = one.stats.p10_hi = 5e6;
		one.stats.discarded = discarded;
		struct analysis *a = look_at_row(&w, one);
		double added = discarded > 1 ? 0.08 * 128e6 : 0;
		near(a->load_ns, added, 1e-12, "%d samples of %d interrupted", (int)discarded,
			50 + (int)discarded);
		near(a->lo_ns, 0.99 * 128e6 - added, 1e-12, "... lower the low end");
		near(a->hi_ns, 1.01 * 128e6, 1e-12, "... alone");
		world_close(&w);
	}
}

/* A cost below the roofline is wrong, or a peak is: the interval has both, however quiet it was. */
static void suspect(void)
{
	struct world w;
	struct peaks k = peaks();
	open_row(&w, 1);
	put(&w, MATMUL, 50, 1e6, 1e6, 1e6, STOP_CONVERGED);
	struct analysis *a = look_at(&w, &k, "");
	ok(a->layers[0].mistrusted, "a product in half the time of its roofline");
	near(a->layers[0].hi, LEAST, 1e-9, "... may take that");
	near(a->layers[0].lo, 1e6, 1e-12, "... or what was measured");
	near(cost_weight(&a->layers[0]), LEAST, 1e-9, "and counts as that in shares");
	near(look(&w, "")->layers[0].hi, 1e6, 1e-12, "without peaks nothing is said");
	world_close(&w);
}

static void sums(void)
{
	struct world w;
	open_row(&w, 24);
	put(&w, MATMUL, 50, 4e6, 5e6, 7e6, STOP_CONVERGED);
	put(&w, RELU, 50, 1e6, 4e6, 5e6, STOP_CONVERGED);
	put(&w, TANH, 50, 3e6, 4e6, 6e6, STOP_CONVERGED);
	struct analysis *a = look(&w, "");
	near(a->total_ns, 128e6, 1e-12, "24 equal layers and two others");
	near(a->lo_ns, 128e6 * (1 - RUN) - sqrt(24e6 * 24e6 + 3e6 * 3e6 + 1e6 * 1e6), 1e-12,
		"equal ones linearly, others in quadrature");
	near(a->hi_ns, 128e6 * (1 + RUN) + sqrt(48e6 * 48e6 + 1e6 * 1e6 + 2e6 * 2e6), 1e-12,
		"... the high ends apart");
	near(a->load_ns, 0, 0, "none of it is other work");
	struct analysis *path = look(&w, "parallel=path");
	near(path->lo_ns, a->lo_ns, 1e-12, "the longest path of a chain: the same");
	near(path->hi_ns, a->hi_ns, 1e-12, "... at both ends");
	world_close(&w);
}

static void noisy(void)
{
	struct world w;
	struct peaks k = peaks();
	open_row(&w, 2);
	put(&w, MATMUL, 50, 4e6, 5e6, 900e6, STOP_DISTURBED);
	put(&w, RELU, 50, 4e6, 4e6, 4e6, STOP_CONVERGED);
	put(&w, TANH, 50, 4e6, 4e6, 4e6, STOP_CONVERGED);
	struct analysis *a = look(&w, "");
	near(a->hi_ns, 18e6 * (1 + RUN), 1e-12, "noise is not in the high end");
	near(a->lo_ns, 16e6 - 18e6 * RUN, 1e-12, "only in the low one");
	near(a->load_ns, 2e6, 1e-12, "and said");
	ok(a->layers[0].hi == 5e6 && a->layers[0].lo == 4e6, "nor is it in a layer's");

	near(look_at(&w, &k, "")->layers[0].lo, LEAST, 1e-9, "with peaks: the roofline, as all may be hit");

	put(&w, MATMUL, 1, NAN, 5e6, NAN, STOP_DISTURBED);
	put(&w, RELU, 50, 4e6, 4e6, 4e6, STOP_CONVERGED);
	a = look(&w, "");
	ok(a->without_interval == 2 && isnan(a->layers[0].lo), "one sample has no interval");
	a = look_at(&w, &k, "");
	ok(a->without_interval == 0 && a->layers[0].hi == 5e6, "with peaks it has: at most the sample");
	near(a->layers[0].lo, LEAST, 1e-9, "... at least the roofline");
	near(a->lo_ns, 18e6 * (1 - RUN) - 2 * (5e6 - LEAST), 1e-9, "in the total too");

	put(&w, MATMUL, 4, 4.9e6, 5e6, 400e6, STOP_BUDGET);
	a = look(&w, "");
	near(a->layers[0].hi, 5.1e6, 1e-12, "a few samples: the slow side is no wider than the fast one");
	is_int(a->range_intervals, 2, "and counted as a range");
	world_close(&w);

	open_row(&w, 1);
	struct result tenth = sampled(MATMUL, 20, 4.9e6, 5.2e6, 5.5e6);
	tenth.runner_version = "9999";
	tenth.stats.p10 = tenth.stats.p10_lo = 5e6;
	tenth.stats.p10_hi = 5.1e6;
	results_put(w.results, &tenth);
	a = look_at(&w, &k, "");
	near(a->layers[0].lo, LEAST, 1e-9, "a 10th percentile of 20 samples has no lower end: the roofline");
	near(a->layers[0].hi, 5.1e6, 1e-12, "... but an upper one");
	tenth.stats.n = 30;
	tenth.runner_version = "10000";
	results_put(w.results, &tenth);
	near(look_at(&w, &k, "")->layers[0].lo, 5e6, 1e-12, "of 30 samples it has one");
	world_close(&w);

	open_row(&w, 1);
	put(&w, MATMUL, 50, 4e6, 5e6, 900e6, STOP_DISTURBED);
	put(&w, RELU, 50, 3e6, 4e6, 90e6, STOP_DISTURBED);
	put(&w, TANH, 50, 4e6, 4e6, 4e6, STOP_CONVERGED);
	near(look(&w, "")->lo_ns, 11e6 - 13e6 * RUN, 1e-12, "of several it adds up: one load slows all");
	world_close(&w);
}

static void quick(struct world *w, const char *problem, double lo, double ns, double hi)
{
	struct result one = sampled(problem, 3, lo, ns, hi);
	one.stats.stop = STOP_SHORTLIST;
	results_add_rough(w->results, &one);
}

static void rough(void)
{
	struct world w;
	struct peaks k = peaks();
	open_row(&w, 2);
	quick(&w, MATMUL, 7e6, 8e6, 396e6);
	quick(&w, RELU, 4e6, 4e6, 4e6);
	quick(&w, TANH, 4e6, 4e6, 4e6);
	struct analysis *a = look(&w, "");
	ok(a->rough && isnan(a->lo_ns), "a quick measurement alone has no low end");
	near(a->hi_ns, 24e6 * (1 + RUN) + 2e6, 1e-12, "one slow sample does not widen the high one");
	a = look_at(&w, &k, "");
	near(a->layers[0].lo, LEAST, 1e-9, "with peaks: that of the roofline");
	ok(a->lo_ns > 0 && a->lo_ns < 2 * 3e6, "contains a final value of another algorithm");
	near(a->hi_ns, 24e6 * (1 + RUN) + 2e6, 1e-12, "... and the high end as before");
	world_close(&w);
}

/* Two towers, whose last values are added. */
static void paths(void)
{
	struct world w;
	struct maker *m = make_begin();
	int left = product(m, make_input(m, SIZE)), right = product(m, make_input(m, SIZE));
	int tall = make_layer(m, "Tanh", TANH, SIZE, make_input(m, SIZE), -1);
	int y = make_layer(m, "Add", RELU, SIZE, left, right);
	m->plan.values[y].is_output = m->plan.values[tall].is_output = true;
	world_open(&w, m);
	put(&w, MATMUL, 50, 80, 100, 120, STOP_CONVERGED);
	put(&w, RELU, 50, 10, 10, 10, STOP_CONVERGED);
	put(&w, TANH, 50, 50, 50, 50, STOP_CONVERGED);
	struct analysis *a = look(&w, "parallel=path");
	near(a->lo_ns, 110 - 20 - 1.1, 1e-12, "of two equally long towers one counts");
	near(a->hi_ns, 110 + 20 + 1.1, 1e-12, "... also high");
	put(&w, TANH, 50, 50, 90, 500, STOP_CONVERGED);
	a = look(&w, "parallel=path");
	near(a->total_ns, 110, 1e-12, "a path that is shorter");
	near(a->hi_ns, 500 + 0.9, 1e-12, "... but may be the longest");
	world_close(&w);
}

/* Of a difference: what both totals have cancels. */
static void saved(void)
{
	static const char keys[3] = "";
	struct spent_part before[] = { { &keys[0], 100, 10, 20, 0 }, { &keys[1], 50, 3, 6, 0 } },
			  after[] = { { &keys[0], 100, 10, 20, 0 }, { &keys[2], 30, 2, 4, 0 } };
	struct spent x = { 2, before }, y = { 2, after };
	struct interval v = interval_saved(&x, &y, 20);
	near(v.lo, 20 - sqrt(3 * 3 + 4 * 4), 1e-12, "50 replaced by 30: at least");
	near(v.hi, 20 + sqrt(6 * 6 + 2 * 2), 1e-12, "... at most");
	before[0] = (struct spent_part){ &keys[0], 200, 20, 40, 0 };
	v = interval_saved(&x, &y, 120);
	near(v.lo, 120 - sqrt(10 * 10 + 3 * 3 + 4 * 4), 1e-12, "twice instead of once: once more");
	before[0] = (struct spent_part){ &keys[0], 100, 10, 20, 0 };
	before[1] = (struct spent_part){ &keys[1], 50, 0, 0, 45 };
	v = interval_saved(&x, &y, 20);
	near(v.lo, 20 - 45 - 4, 1e-12, "what noise may have added is not saved");
	near(v.hi, 20 + 2, 1e-12, "... and adds nothing");
	v = interval_saved(&y, &x, -20);
	near(v.hi, -20 + 45 + 4, 1e-12, "the other way round");
	v = interval_saved(&x, &x, 0);
	ok(v.lo == 0 && v.hi == 0, "nothing replaced, nothing open");
}

int main(void)
{
	saved();
	sums();
	times();
	busy();
	suspect();
	noisy();
	rough();
	paths();
	return done_testing();
}
