#include "config.h"

#include "analyze/analyze.h"
#include "make_plan.h"
#include "tap.h"

#include <math.h>

/* Rooflines: of a problem under a scenario, of what was measured, of described devices, and peaks from measurements. */

#define COPY "copy:u8,u8:b1000000"
#define MATMUL "matmul:f32,f32.c,f32/f32:ba1bb1m1000n1000k1000:ta0tb0"
#define MATMUL16 "matmul:f16,f16.c,f16/f32:ba1bb1m1000n1000k1000:ta0tb0"
#define RELU "eltwise:f32,f32:relu:1000x1000"
#define SQUARE "1000x1000"

/* 1 TB/s; f32 10 T, f16 20 T; with matrix units tf32 100 T, f16 200 T. */
static struct peaks known(void)
{
	struct peaks k = peaks_unknown();
	k.bandwidth_bytes_s = 1e12;
	k.flops[DTYPE_F32] = 10e12;
	k.flops[DTYPE_F16] = 20e12;
	k.matrix_flops[DTYPE_TF32] = 100e12;
	k.matrix_flops[DTYPE_F16] = 200e12;
	return k;
}

static double roof(const char *text, const struct peaks *k, const char *toggles)
{
	struct scenario s = scenario_default();
	struct problem p;
	struct error err = ERROR_NONE;
	scenario_parse(&s, toggles, NULL);
	if (problem_parse(text_of(text), &p, &err) < 0)
		ok(false, "%s", err.text);
	return roofline_ns(&p, k, &s);
}

static void scenarios(void)
{
	struct peaks k = known(), none = peaks_unknown();
	near(roof(COPY, &k, ""), 2000, 1e-9, "a copy: bytes read and written by the bandwidth");
	near(roof(RELU, &k, ""), 8000, 1e-9, "element by element: bytes");
	near(roof(MATMUL, &k, ""), 200e3, 1e-9, "a product in f32 on plain units");
	near(roof(MATMUL, &k, "matrix"), 200e3, 1e-9, "f32 does not run on matrix units");
	near(roof(MATMUL, &k, "math"), 200e3, 1e-9, "... nor do plain units round");
	near(roof(MATMUL, &k, "matrix,math"), 20e3, 1e-9, "but rounded to tf32 it does");
	near(roof(MATMUL16, &k, ""), 100e3, 1e-9, "f16 on plain units");
	near(roof(MATMUL16, &k, "matrix"), 10e3, 1e-9, "... on matrix units");
	ok(isnan(roof(MATMUL, &none, "")) && isnan(roof(COPY, &none, "")), "no peaks, no roofline");
	none.bandwidth_bytes_s = 1e12;
	ok(isnan(roof(MATMUL, &none, "")), "the peak that it takes is not known");
	near(roof(COPY, &none, ""), 2000, 1e-9, "a copy takes none");
	none.flops[DTYPE_F32] = 1e9;
	near(roof("eltwise:bf16,bf16:relu:1000x1000", &none, ""), 1e6, 1e-9, "without a peak of its own, in f32");
	k.matrix_flops[DTYPE_F16] = 1e12;
	near(roof(MATMUL16, &k, "matrix"), 100e3, 1e-9, "the better of the units that are allowed");
	k.cache_bytes = 40e6;
	k.cache_bandwidth_bytes_s = 4e12;
	near(roof(COPY, &k, ""), 500, 1e-9, "what fits in half of the cache, by the cache's bandwidth");
	near(roof("copy:u8,u8:b100000000", &k, ""), 200e3, 1e-9, "what does not, by the memory's");
	ok(!peaks_have_matrix(&none) && peaks_have_matrix(&k), "who has matrix units");
}

static double of_result(const char *text, const struct peaks *k, enum matrix matrix, const char *math, const char *notes)
{
	struct problem p;
	struct result r = make_result(text, 1);
	r.algorithm.matrix = matrix;
	r.algorithm.math = math;
	r.algorithm.notes = notes;
	problem_parse(text_of(text), &p, NULL);
	return roofline_of_result(&p, k, &r);
}

static void results(void)
{
	struct peaks k = known();
	near(of_result(MATMUL, &k, MATRIX_NO, "strict", ""), 200e3, 1e-9, "the algorithm's own units");
	near(of_result(MATMUL, &k, MATRIX_YES, "tf32", NULL), 20e3, 1e-9, "... and math");
	near(of_result(MATMUL, &k, MATRIX_YES, "fast_f16", ""), 10e3, 1e-9, "... inside f32");
	near(of_result(MATMUL, &k, MATRIX_UNKNOWN, "strict", ""), 4000, 1e-9, "units not known: the weights' bytes alone");
	near(of_result(MATMUL, &k, MATRIX_NO, "strict", "winograd"), 4000, 1e-9, "Winograd counts its own");
	near(of_result(MATMUL, &k, MATRIX_YES, "f16_accumulate", ""), 4000, 1e-9, "math without a figure");
	ok(isnan(of_result(MATMUL, &k, MATRIX_YES, "fast_bf16", "")), "a peak that is not known");
	near(of_result(COPY, &k, MATRIX_NO, "strict", ""), 0, 0, "what a cache of unknown size may hold is not claimed");
	k.cache_bytes = 1e6;
	near(of_result(COPY, &k, MATRIX_NO, "strict", ""), 2000, 1e-9, "what it cannot is");
}

/* MatMul -> Relu -> Softmax of an unknown kind */
static struct plan *net(struct maker *m, bool odd)
{
	int y = make_layer(m, "MatMul", MATMUL, SQUARE, make_input(m, SQUARE), make_constant(m, SQUARE));
	y = make_layer(m, "Relu", RELU, SQUARE, y, -1);
	y = make_layer(m, "Identity", NULL, SQUARE, y, -1);
	if (odd)
		y = make_layer(m, "Odd", NULL, SQUARE, y, -1);
	m->plan.values[y].is_output = true;
	return make_finish(m);
}

static struct what_if_effect effect(struct arena *a, const struct ground *g, const struct scenario *s, const char *name)
{
	int count;
	struct what_if_effect *e = analyze_what_ifs_on(a, g, s, &count);
	for (int i = 0; i < count; i++)
		if (strcmp(e[i].row->name, name) == 0)
			return e[i];
	return (struct what_if_effect){ 0 };
}

static void estimates(void)
{
	struct maker *m = make_begin();
	struct peaks k = known();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	struct ground g = { .plan = net(m, false), .results = results_new(), .peaks = &k };
	struct fusion *f = fusion_find(g.plan);
	g.fusion = f;
	struct analysis *x = analyze_on(&a, &g, &s);
	ok(isnan(x->bound_ns) && x->coverage.missing == 2 && !x->estimated, "peaks alone estimate nothing");
	near(x->layers[0].roofline_ns, 200e3, 1e-9, "... but tell rooflines");
	near(x->roofline_ns, 208e3, 1e-9, "... of all that runs");
	g.estimate = true;
	x = analyze_on(&a, &g, &s);
	near(x->bound_ns, 208e3, 1e-9, "asked for, they stand for measurements");
	ok(x->estimated && x->complete && x->coverage.estimated == 2 && x->coverage.measured == 0, "... counted as such");
	ok(x->layers[0].origin == ORIGIN_ESTIMATED && isnan(x->layers[0].lo) && !x->layers[0].result, "... without a result");
	ok(isnan(x->lo_ns) && x->unmeasured_problems == 0, "... nor an interval, nor a wish");
	near(x->coverage.cost_estimated_share, 1, 0, "all of the cost");
	near(x->coverage.flops_measured_share, 0, 0, "none of the work is measured");
	near(effect(&a, &g, &s, "fusion").saves_ns, 8e3 - 100, 1e-9, "fused, the Relu has no bytes of its own, but its operations");
	ok(effect(&a, &g, &s, "fusion").estimated, "... marked");
	ok(fabs(effect(&a, &g, &s, "matrix").saves_ns) <= 0 && effect(&a, &g, &s, "matrix").available, "matrix units, of no use to f32");
	ok(!effect(&a, &g, &s, "algorithm").available && !effect(&a, &g, &s, "launch").available,
		"an estimate has neither algorithms nor launches");
	k.matrix_flops[DTYPE_TF32] = NAN;
	ok(!effect(&a, &g, &s, "matrix").available && !effect(&a, &g, &s, "math").available, "without tf32 nothing for f32");
	k = known();
	s.matrix = true;
	near(effect(&a, &g, &s, "math").saves_ns, 180e3, 1e-9, "but with relaxed math");
	s.matrix = false;
	s.fusion = true;
	x = analyze_on(&a, &g, &s);
	ok(x->layers[0].origin == ORIGIN_ESTIMATED && x->layers[1].origin == ORIGIN_FUSED, "an estimated group");
	measure((struct results *)g.results, MATMUL, 300e3);
	measure((struct results *)g.results, RELU, 20e3);
	x = analyze_on(&a, &g, &s);
	ok(x->bound_ns == 320e3 && !x->estimated, "estimates do not displace what was measured");
	near(x->layers[0].roofline_ns, 200e3, 1e-9, "what was measured beside its roofline");
	struct result no = make_result(RELU, NAN);
	no.status = STATUS_UNSUPPORTED;
	no.algorithm.name = "";
	results_free((struct results *)g.results);
	struct results *r = results_new();
	g.results = r;
	results_put(r, &no);
	s.fusion = false;
	x = analyze_on(&a, &g, &s);
	ok(x->layers[1].origin == ORIGIN_UNSUPPORTED && !x->complete && x->estimated, "what was refused is not estimated");
	arena_free(&a);
	results_free(r);
	fusion_free(f);
	make_end(m);
}

/* What is free inside a group is no estimate more than outside of it. */
static void estimated_groups(void)
{
	for (int inner = 0; inner < 2; inner++) {
		struct maker *m = make_begin();
		struct peaks k = known();
		struct arena a = { 0 };
		struct scenario s = scenario_default();
		int y = make_layer(m, "MatMul", MATMUL, SQUARE, make_input(m, SQUARE), make_constant(m, SQUARE));
		for (int i = 0; i < inner; i++)
			y = make_layer(m, "Identity", NULL, SQUARE, y, -1);
		y = make_layer(m, "Relu", RELU, SQUARE, y, -1);
		m->plan.values[y].is_output = true;
		struct ground g = { .plan = make_finish(m), .results = results_new(), .peaks = &k, .estimate = true };
		struct fusion *f = fusion_find(g.plan);
		g.fusion = f;
		s.fusion = true;
		near(analyze_on(&a, &g, &s)->bound_ns, 200e3 + 100, 1e-9, "an estimated group %s", inner ? "across a free layer" : "");
		arena_free(&a);
		results_free((struct results *)g.results);
		fusion_free(f);
		make_end(m);
	}
}

static void gaps(void)
{
	struct maker *m = make_begin();
	struct peaks k = known();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	struct results *r = results_new();
	struct ground g = { .plan = net(m, true), .results = r, .peaks = &k, .estimate = true };
	struct analysis *x = analyze_on(&a, &g, &s);
	ok(x->coverage.missing == 1 && !x->complete && isnan(x->roofline_ns), "a layer without a problem leaves both open");
	k.flops[DTYPE_F32] = NAN;
	x = analyze_on(&a, &g, &s);
	ok(x->layers[0].origin == ORIGIN_MISSING && x->layers[1].origin == ORIGIN_ESTIMATED, "so does an unknown peak");
	arena_free(&a);
	results_free(r);
	make_end(m);
}

static void measured_peaks(void)
{
	struct results *r = results_new();
	int count;
	const char *const *texts = peaks_problems(true, &count);
	const char *f32 = NULL, *f16 = NULL;
	bool good = true;
	for (int i = 0; i < 2 * count; i++) {
		struct problem p;
		char again[PROBLEM_TEXT_SIZE];
		const char *text = peaks_problems(i < count, &count)[i % count];
		good &= problem_parse(text_of(text), &p, NULL) == 0 && problem_format(&p, again, NULL) == 0 &&
			strcmp(again, text) == 0;
		f32 = i < count && strncmp(text, "matmul:f32", 10) == 0 ? text : f32;
		f16 = i < count && strncmp(text, "matmul:f16", 10) == 0 ? text : f16;
	}
	ok(good, "%d texts of two sizes read back", count);
	struct peaks k = peaks_from_results(r, 40e6);
	ok(isnan(k.bandwidth_bytes_s) && isnan(k.flops[DTYPE_F32]), "nothing measured, nothing known");
	measure(r, texts[0], 1e6);
	measure(r, texts[1], 1e3);
	measure_algorithm(r, f32, "slow", 0, MATRIX_NO, 2e9);
	measure_algorithm(r, f32, "fma", 1, MATRIX_NO, 1e9);
	measure_algorithm(r, f32, "unknown", 2, MATRIX_UNKNOWN, 1e8);
	measure_algorithm(r, f16, "hmma", 0, MATRIX_YES, 1e7);
	struct result tf32 = make_result(f32, 1e8);
	tf32.algorithm.math = "tf32";
	tf32.algorithm.name = "tensor";
	tf32.algorithm.matrix = MATRIX_YES;
	results_put(r, &tf32);
	k = peaks_from_results(r, 40e6);
	double flops = 2.0 * 8192 * 8192 * 8192;
	near(k.bandwidth_bytes_s, 2.0 * 1073741824 * 1e3, 1e-9, "bandwidth: read and written");
	near(k.cache_bandwidth_bytes_s, 2.0 * 4194304 * 1e6, 1e-9, "... of the cache");
	near(k.flops[DTYPE_F32], flops, 1e-9, "the best of plain units");
	near(k.matrix_flops[DTYPE_TF32], flops * 10, 1e-9, "relaxed math has its own");
	near(k.matrix_flops[DTYPE_F16], flops * 100, 1e-9, "matrix units");
	ok(isnan(k.flops[DTYPE_F16]) && isnan(k.matrix_flops[DTYPE_F32]) && isnan(k.flops[DTYPE_S8]), "the rest is not known");
	ok(isnan(peaks_from_results(r, NAN).cache_bandwidth_bytes_s), "a cache of unknown size has no bandwidth");
	results_free(r);
}

int main(void)
{
	scenarios();
	results();
	estimates();
	estimated_groups();
	gaps();
	measured_peaks();
	return done_testing();
}
