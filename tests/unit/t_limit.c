#include "config.h"

#include "analyze/bound/limit.h"
#include "make_plan.h"
#include "tap.h"

#include <math.h>

/* What limits a layer: measured and described, with gaps in the peaks. */

#define COPY "copy:u8,u8:b1000000"
#define MATMUL "matmul:f32,f32.c,f32/f32:ba1bb1m1000n1000k1000:ta0tb0"
#define RELU "eltwise:f32,f32:relu:1000x1000"

/* 1 TB/s; f32 10 TFLOP/s, f16 with matrix units 200 TFLOP/s. */
static struct peaks known(void)
{
	struct peaks k = peaks_unknown();
	k.bandwidth_bytes_s = 1e12;
	k.flops[DTYPE_F32] = 10e12;
	k.matrix_flops[DTYPE_F16] = 200e12;
	return k;
}

static struct limit measured(
	const char *text, double ns, const struct peaks *k, enum matrix matrix, const char *notes)
{
	struct scenario s = scenario_default();
	struct result r = make_result(text, ns);
	r.algorithm.matrix = matrix;
	r.algorithm.notes = notes;
	r.algorithm.math = "strict";
	struct layer_cost c = { .ns = ns, .origin = ORIGIN_MEASURED, .result = &r };
	return limit_of(&c, text, k, &s, CACHE_NET);
}

static void says(const struct limit *l, const char *text, const char *what)
{
	struct str line = { 0 };
	limit_describe(l, &line);
	is_str(line.p, text, "%s", what);
	str_free(&line);
}

static void measurements(void)
{
	struct peaks k = known();
	struct limit l = measured(MATMUL, 400e3, &k, MATRIX_NO, "");
	ok(l.by == LIMIT_COMPUTE && !l.is_rate && fabs(l.peak_per_s - 10e12) < 1,
		"a large matmul is compute-bound");
	says(&l, "compute 50% (f32)", "by the f32 peak, half of it");
	near(l.intensity, 2e9 / 12e6, 1e-9, "FLOPs per byte");
	l = measured(RELU, 16e3, &k, MATRIX_NO, "");
	ok(l.by == LIMIT_MEMORY && l.is_rate && !l.why[0], "element by element: memory-bound");
	says(&l, "memory 50%", "half of the bandwidth");
	ok(!limit_is_over(&l), "below the peak");
	l = measured(MATMUL, 2000e3, &k, MATRIX_NO, "");
	says(&l, "compute 10% (f32)", "a tenth");
	l = measured(MATMUL, 2001e3 / 0.999, &k, MATRIX_NO, "");
	says(&l, "compute 10.0% (f32)", "shares below a tenth have a decimal");
	l = measured(MATMUL, 200e6, &k, MATRIX_NO, "");
	says(&l, "compute 0.1% (f32)", "the last share is a thousandth");
	l = measured(MATMUL, 200e3 / 1.004, &k, MATRIX_NO, "");
	says(&l, "compute 100% (f32)", "100.4% is not marked");
	l = measured(MATMUL, 200e3 / 1.04, &k, MATRIX_NO, "");
	ok(limit_is_over(&l), "above the peak");
	says(&l, "compute 104%? (f32)", "above the peak: marked");
	l = measured(COPY, 200e3, &k, MATRIX_NO, "");
	says(&l, "memory 1.0%", "a small share has a digit more");
	near(l.intensity, 0, 0, "a copy has no operations");
	l = measured(MATMUL, 400e3, &k, MATRIX_NO, "winograd");
	ok(l.by == LIMIT_UNKNOWN && strstr(l.why, "Winograd") && isnan(l.share),
		"Winograd: unknown, with the reason");
	says(&l, "-", "unknown is a dash");
	l = measured(MATMUL, 400e3, &k, MATRIX_UNKNOWN, "");
	ok(l.by == LIMIT_UNKNOWN && strstr(l.why, "does not report"), "units unknown: no peak applies");
}

#define CONV3 "conv:f32,f32.c,f32/f32:n1c64h%dw%dk64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"

/* Winograd with its tile in the name counts its own multiplications. */
static struct limit winograd(const char *name, int side, double ns)
{
	static char text[200];
	struct peaks k = known();
	struct scenario s = scenario_default();
	snprintf(text, sizeof(text), CONV3, side, side);
	struct result r = make_result(text, ns);
	r.algorithm.name = name;
	r.algorithm.matrix = MATRIX_NO;
	r.algorithm.notes = "winograd";
	r.algorithm.math = "strict";
	struct layer_cost c = { .ns = ns, .origin = ORIGIN_MEASURED, .result = &r };
	return limit_of(&c, text, &k, &s, CACHE_NET);
}

static void tiles(void)
{
	double direct_ns = 2.0 * 64 * 64 * 9 * 56 * 56 / 10e12 * 1e9; /* at the peak of 10 TFLOP/s */
	struct limit l = winograd("jit_wino_4x3:avx512_core", 56, direct_ns / 2);
	says(&l, "compute ~50% (f32)", "4x4 outputs: 36 of 144 multiplications, in half the time of all");
	ok(l.is_own && l.is_estimate && !l.why[0], "marked as its own, and as estimated");
	l = winograd("jit_fp32_wino_2x3:avx512_core", 56, direct_ns / 2);
	says(&l, "compute ~89% (f32)", "2x2 outputs: 16 of 36");
	direct_ns *= 7.0 * 7 / 56 / 56;
	l = winograd("jit_wino_4x3", 7, direct_ns);
	near(l.by == LIMIT_COMPUTE ? l.share : 0.25 * 64 / 49, 0.25 * 64 / 49, 1e-9, "tiles beyond the edge");
	static const char *const others[] = { "winograd", "winograd_128x128", "wino_4x5", "wino_9x3",
		"wino_4", "jit_wino_", "wino_4x33", "fft" };
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		l = winograd(others[i], 56, 1e6);
		ok(l.by == LIMIT_UNKNOWN && strstr(l.why, "fewer multiplications") && !l.is_own,
			"%s has no tile", others[i]);
	}
}

static void gaps(void)
{
	struct peaks k = known();
	k.bandwidth_bytes_s = NAN;
	struct limit l = measured(RELU, 16e3, &k, MATRIX_NO, "");
	ok(l.by == LIMIT_UNKNOWN, "no memory peak, no limit");
	is_str(l.why, "memory peak unmeasured: run benanza bench --shaky MODEL on a quiet machine",
		"the reason and the fix");
	ok(!isnan(l.intensity), "the intensity needs no peak");
	l = measured(MATMUL, 400e3, &k, MATRIX_NO, "");
	ok(l.by == LIMIT_UNKNOWN && strstr(l.why, "memory peak"),
		"nor does a compute peak alone prove anything");
	k = peaks_unknown();
	l = measured(RELU, 16e3, &k, MATRIX_NO, "");
	is_str(l.why, "memory peak unmeasured: run benanza bench MODEL", "nothing is measured");
	k.noisy = true;
	l = measured(RELU, 16e3, &k, MATRIX_NO, "");
	is_str(l.why, "memory peak unmeasured: run benanza bench --shaky MODEL on a quiet machine",
		"all of it was noisy");
	k = known();
	k.flops[DTYPE_F32] = NAN;
	l = measured(MATMUL, 400e3, &k, MATRIX_NO, "");
	ok(strncmp(l.why, "f32 peak unmeasured", 19) == 0, "no f32 peak: %s", l.why);
	k = known();
	k.level_count = 1;
	k.level[0] = (struct peak_level){ 2, 100e6, 4e12, false };
	l = measured(RELU, 4e3, &k, MATRIX_NO, "");
	says(&l, "memory 50% (L2)", "what a cache holds is held against the cache's bandwidth");
	k.level[0].bandwidth_bytes_s = NAN;
	l = measured(RELU, 4e3, &k, MATRIX_NO, "");
	ok(l.by == LIMIT_UNKNOWN && strncmp(l.why, "L2 peak unmeasured", 18) == 0, "an unknown cache: %s",
		l.why);
	l = measured(MATMUL, 400e3, &k, MATRIX_NO, "");
	ok(l.by == LIMIT_COMPUTE, "operations that outlast the bytes from memory decide all the same");
}

static void without_result(void)
{
	struct peaks k = known();
	struct scenario s = scenario_default();
	struct layer_cost c = { .ns = 8000, .origin = ORIGIN_ESTIMATED };
	struct limit l = limit_of(&c, RELU, &k, &s, CACHE_NET);
	ok(l.by == LIMIT_MEMORY && isnan(l.share),
		"a described device: memory-bound, no share of an estimate");
	says(&l, "memory", "... the peak alone");
	c.origin = ORIGIN_MISSING;
	c.ns = NAN;
	l = limit_of(&c, MATMUL, &k, &s, CACHE_NET);
	ok(l.by == LIMIT_COMPUTE && isnan(l.share), "unmeasured: what would limit it");
	c.origin = ORIGIN_FREE;
	l = limit_of(&c, NULL, &k, &s, CACHE_NET);
	ok(l.by == LIMIT_UNKNOWN && l.why[0] && isnan(l.intensity), "free: %s", l.why);
	c.origin = ORIGIN_MISSING;
	l = limit_of(&c, NULL, &k, &s, CACHE_NET);
	ok(l.by == LIMIT_UNKNOWN && strstr(l.why, "no problem"), "no problem: %s", l.why);
}

static void overhead(void)
{
	struct peaks k = known();
	struct scenario s = scenario_default();
	struct result r = make_result(RELU, 9e3);
	struct layer_cost c = { .ns = 9e3, .origin = ORIGIN_MEASURED, .result = &r };
	r.enqueue_ns = 12e3;
	ok(limit_of(&c, RELU, &k, &s, CACHE_NET).by == LIMIT_MEMORY, "amortized: enqueueing does not count");
	s.amortized = false;
	ok(limit_of(&c, RELU, &k, &s, CACHE_NET).by == LIMIT_OVERHEAD,
		"isolated: the host takes longer than the device");
	r.enqueue_ns = 5e3;
	ok(limit_of(&c, RELU, &k, &s, CACHE_NET).by == LIMIT_MEMORY, "... here it does not");
	is_str(limit_name(LIMIT_OVERHEAD), "overhead", "its name");
	ok(!limit_name(LIMIT_UNKNOWN), "unknown has none");
}

/* An estimate is held against its own unit; what it takes without work limits it if that is most. */
static void estimates(void)
{
	int count;
	const struct calibration_row row = *calibration_rows(&count);
	struct peaks k = known();
	k.sm = 80;
	struct scenario s = scenario_default();
	struct layer_cost c = { .ns = 405e3, .origin = ORIGIN_ESTIMATED, .row = &row, .overhead_ns = 5e3,
		.computes = true };
	struct limit l = limit_of(&c, MATMUL, &k, &s, CACHE_NET);
	says(&l, "compute ~49% (f32)", "the share of an estimate is marked");
	c = (struct layer_cost){ .ns = 15e3, .origin = ORIGIN_ESTIMATED, .row = &row, .overhead_ns = 5e3 };
	l = limit_of(&c, RELU, &k, &s, CACHE_NET);
	says(&l, "memory ~53%", "bytes");
	c = (struct layer_cost){ .ns = 26e3, .origin = ORIGIN_ESTIMATED, .row = &row, .overhead_ns = 16e3 };
	l = limit_of(&c, RELU, &k, &s, CACHE_NET);
	says(&l, "overhead ~62% (fixed time)", "it takes longer without work than its bytes do");
	ok(isnan(l.peak_per_s) && !l.why[0], "... and no peak applies");
	c = (struct layer_cost){ .ns = NAN, .origin = ORIGIN_MISSING, .why = "add -w matrix" };
	k.sm = 90;
	k.flops[DTYPE_F32] = NAN;
	is_str(limit_of(&c, MATMUL, &k, &s, CACHE_NET).why, "add -w matrix",
		"a described GPU, no estimate: the reason is that of the cost");
	c.why = NULL;
	is_str(limit_of(&c, MATMUL, &k, &s, CACHE_NET).why, "f32 peak unknown",
		"... nothing can be measured there");
	k = known();
	k.sm = 80;
	k.matrix_flops[DTYPE_TF32] = 80e12;
	s.matrix = s.relaxed = true;
	c = (struct layer_cost){ .ns = 405e3, .origin = ORIGIN_ESTIMATED, .row = &row, .overhead_ns = 5e3,
		.computes = true };
	l = limit_of(&c, MATMUL, &k, &s, CACHE_NET);
	is_str(l.peak, "f32", "an estimate for plain units, though matrix units are allowed");
	c.matrix = c.relaxed = true;
	l = limit_of(&c, MATMUL, &k, &s, CACHE_NET);
	is_str(l.peak, "tf32 matrix", "... and for matrix units");
}

#define SMALL "eltwise:f32,f32:relu:1x100"
#define LITTLE "eltwise:f32,f32:relu:1x200"

/* A model of a large and two small layers: the shortest kernel limits the small ones. */
static void shortest(void)
{
	struct maker *m = make_begin();
	struct peaks k = known();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	int y = make_layer(m, "Relu", RELU, "1000x1000", make_input(m, "1000x1000"), -1);
	int z = make_layer(m, "Relu", SMALL, "1x100", make_input(m, "1x100"), -1);
	int w = make_layer(m, "Relu", LITTLE, "1x200", make_input(m, "1x200"), -1);
	m->plan.values[y].is_output = m->plan.values[z].is_output = m->plan.values[w].is_output = true;
	struct ground g = { .plan = make_finish(m), .results = results_new(), .peaks = &k };
	measure((struct results *)g.results, RELU, 16e3);
	struct analysis *x = analyze(&a, &g, &s);
	struct limit l = limit_of_layer(x, g.plan, &k, 1);
	ok(l.by == LIMIT_MEMORY, "nothing small is measured: no overhead is known");
	measure((struct results *)g.results, SMALL, 2e3);
	measure((struct results *)g.results, LITTLE, 4e3);
	x = analyze(&a, &g, &s);
	l = limit_of_layer(x, g.plan, &k, 0);
	says(&l, "memory 50%", "the large layer: its bytes");
	l = limit_of_layer(x, g.plan, &k, 1);
	says(&l, "overhead 100% (shortest kernel)", "the shortest kernel");
	l = limit_of_layer(x, g.plan, &k, 2);
	says(&l, "overhead 50% (shortest kernel)", "... would be half of a small layer");
	struct limit_totals t = limit_totals_of(x, g.plan, &k);
	ok(t.layers[LIMIT_OVERHEAD] == 2 && t.layers[LIMIT_MEMORY] == 1 && !t.layers[LIMIT_COMPUTE],
		"layers by their limits");
	near(t.ns[LIMIT_OVERHEAD], 6e3, 1e-9, "... and their costs");
	near(t.all_ns, 22e3, 1e-9, "... add up");
	results_free((struct results *)g.results);
	arena_free(&a);
	make_end(m);
}

/* A layer of a plan, fused: the group's problem counts. */
static void of_layers(void)
{
	struct maker *m = make_begin();
	struct peaks k = known();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	int y = make_layer(
		m, "MatMul", MATMUL, "1000x1000", make_input(m, "1000x1000"), make_constant(m, "1000x1000"));
	y = make_layer(m, "Relu", RELU, "1000x1000", y, -1);
	m->plan.values[y].is_output = true;
	struct ground g = { .plan = make_finish(m), .results = results_new(), .peaks = &k };
	struct fusion *f = fusion_find(g.plan);
	g.fusion = f;
	measure((struct results *)g.results, f->groups[0].text, 400e3);
	s.fusion = true;
	struct analysis *x = analyze(&a, &g, &s);
	struct limit first = limit_of_layer(x, g.plan, &k, 0), second = limit_of_layer(x, g.plan, &k, 1);
	ok(first.intensity > 0 && second.by == LIMIT_UNKNOWN && strstr(second.why, "fused"),
		"a group has its limit at its first layer");
	results_free((struct results *)g.results);
	arena_free(&a);
	fusion_free(f);
	make_end(m);
}

int main(void)
{
	measurements();
	tiles();
	gaps();
	without_result();
	overhead();
	estimates();
	shortest();
	of_layers();
	return done_testing();
}
