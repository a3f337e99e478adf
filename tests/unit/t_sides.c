#include "config.h"

#include "world.h"

#include <math.h>

/* What-ifs that GPUs bring: relaxed math, channels last, and the host's part of isolated launches. */

#define IMAGE "1x64x56x56"
#define CONV "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define CONV_NXC "conv:f32@nxc,f32.c@nxc,f32@nxc/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define RELU "eltwise:f32,f32:relu:" IMAGE
#define SOFTMAX "softmax:f32,f32:soft:" IMAGE ":ax3"
#define TO_NXC "transpose:f32,f32:64x3136:perm1x0"
#define TO_NCX "transpose:f32,f32:3136x64:perm1x0"

static const struct device gpu = { .name = "cuda:0", .llc_bytes = 32e6, .has_matrix = true };

static int conv(struct maker *m, int x)
{
	return make_layer(m, "Conv", CONV, IMAGE, x, make_constant(m, "64x64x3x3"));
}

static void algorithm(
	struct world *w, const char *name, int rank, enum matrix matrix, const char *math, double ns)
{
	struct result one = make_result(CONV, ns);
	one.algorithm.name = name;
	one.algorithm.rank = rank;
	one.algorithm.matrix = matrix;
	one.algorithm.math = math;
	results_put(w->results, &one);
}

static void relaxed_math(void)
{
	struct maker *m = make_begin();
	conv(m, make_input(m, IMAGE));
	struct world w;
	world_open_on(&w, m, &gpu);
	ok(!effect(&w, "", "math").available, "nothing measured, nothing known of relaxed math");
	algorithm(&w, "tensor", 0, MATRIX_YES, "tf32", 30);
	struct analysis *a = look(&w, "");
	ok(a->layers[0].origin == ORIGIN_UNSUPPORTED && !a->complete, "only relaxed ones: barred");
	is_str(a->layers[0].why, "only measured with algorithms of relaxed math", "... and told why");
	struct result legacy = make_result(CONV, NAN);
	legacy.algorithm.name = "ALGO_GEMM";
	legacy.algorithm.rank = 9;
	legacy.status = STATUS_UNSUPPORTED;
	legacy.why = "not for these strides";
	results_put(w.results, &legacy);
	is_str(look(&w, "")->layers[0].why, "only measured with algorithms of relaxed math",
		"... whatever another algorithm cannot");
	algorithm(&w, "fma", 2, MATRIX_NO, "strict", 100);
	algorithm(&w, "fft", 1, MATRIX_NO, "fast_f16", 80);
	near(look(&w, "")->total_ns, 100, 0, "strict: plain multiply-adds");
	near(look(&w, "matrix")->total_ns, 100, 0, "matrix alone does not bring TF32 in");
	near(look(&w, "math=relaxed")->total_ns, 80, 0,
		"nor does relaxed math alone, but what rounds on plain units");
	near(look(&w, "math=relaxed,matrix")->total_ns, 30, 0, "both do");
	near(look(&w, "math=relaxed,algorithm=preferred")->total_ns, 80, 0,
		"the library's first of what is allowed");
	near(look(&w, "algorithm=preferred")->total_ns, 100, 0, "... strict");
	ok(effect(&w, "", "math").available && effect(&w, "", "math").saves_ns == 20, "math would save 20");
	near(effect(&w, "matrix", "math").saves_ns, 70, 0, "with matrix units 70");
	near(effect(&w, "math", "matrix").saves_ns, 50, 0, "and matrix saves 50 of relaxed math");
	near(effect(&w, "math", "math").total_ns, 100, 0, "switched off again");
	ok(effect(&w, "", "math").unmeasured_problems == 0, "nothing more to measure");
	is_str(analyze_pick(look(&w, "math,matrix"), w.results, CONV)->algorithm.name, "tensor",
		"the pick follows");
	results_free(w.results);
	w.results = results_new();
	algorithm(&w, "fma", 0, MATRIX_NO, "", 100);
	near(look(&w, "")->total_ns, 100, 0, "math that is not told is strict");
	ok(!effect(&w, "", "math").available, "none relaxed: not available");
	world_close(&w);
}

/* input -> conv -> relu -> conv -> softmax (ONNX order) -> conv -> output */
static void open_layouts(struct world *w)
{
	struct maker *m = make_begin();
	int y = make_layer(m, "Relu", RELU, IMAGE, conv(m, make_input(m, IMAGE)), -1);
	y = make_layer(m, "Softmax", SOFTMAX, IMAGE, conv(m, y), -1);
	y = conv(m, y);
	m->plan.values[y].is_output = true;
	world_open_on(w, m, &gpu);
	measure(w->results, CONV, 100);
	measure(w->results, RELU, 10);
	measure(w->results, SOFTMAX, 20);
}

static void layouts(void)
{
	struct world w;
	open_layouts(&w);
	near(look(&w, "")->total_ns, 330, 1e-12, "as ONNX has it");
	is_int(look(&w, "")->conversions, 0, "... nothing is converted");
	struct what_if_effect e = effect(&w, "", "layout");
	ok(e.available && e.unmeasured_problems == 3 && !e.complete,
		"the twin and two transposes are wanted");
	is_int(look(&w, "layout=nhwc")->unmeasured_problems, 3, "... on that side too");
	is_int(look(&w, "")->unmeasured_problems, 0, "... and not on this");
	measure(w.results, CONV_NXC, 60);
	struct analysis *a = look(&w, "layout");
	ok(!a->complete && isnan(a->border_ns) && a->coverage.missing == 0,
		"conversions not measured are a gap, of no layer");
	measure(w.results, TO_NXC, 7);
	measure(w.results, TO_NCX, 5);
	a = look(&w, "layout");
	near(a->total_ns, 3 * 60 + 10 + 20 + 2 * 7 + 2 * 5, 1e-12, "layers and four conversions");
	ok(a->complete && a->conversions == 4, "... all known");
	near(a->border_ns, 24, 1e-12, "... and shown apart");
	is_str(a->layers[0].result->problem, CONV_NXC, "a layer names its twin's measurement");
	near(a->parallel_ns, a->total_ns, 1e-12, "the path goes through the conversions");
	near(a->layers[0].start_ns, 7, 1e-12, "the first layer waits for the model's input");
	near(a->layers[3].start_ns, 7 + 60 + 10 + 60 + 5, 1e-12, "the softmax for its own");
	near(effect(&w, "", "layout").saves_ns, 330 - 234, 1e-12, "what layout would save");
	near(effect(&w, "layout", "layout").saves_ns, 330 - 234, 1e-12, "... saves");
	near(effect(&w, "layout", "layout").total_ns, 330, 1e-12, "... and what it was");
	near(effect(&w, "layout", "parallel").saves_ns, 0, 1e-12, "other toggles stay on that side");
	near(a->lo_ns, 234 * 0.99 - sqrt(1.8 * 1.8 + 0.1 * 0.1 + 0.2 * 0.2 + 0.14 * 0.14 + 0.1 * 0.1), 1e-12,
		"intervals of the conversions count");
	int count;
	const char **texts = analyze_problems_in(&w.arena, w.plan, NULL, false, PROBLEMS_NXC, &count);
	is_int(count, 6, "six problems of both layouts");
	ok(strcmp(texts[0], TO_NXC) == 0 && strcmp(texts[1], CONV_NXC) == 0,
		"the other layout's first, in order");
	analyze_problems_in(&w.arena, w.plan, NULL, false, 0, &count);
	is_int(count, 3, "three of one");
	world_close(&w);
}

static void fused_layouts(void)
{
	struct world w;
	open_layouts(&w);
	measure(w.results, CONV_NXC, 60);
	measure(w.results, TO_NXC, 7);
	measure(w.results, TO_NCX, 5);
	measure(w.results, CONV "+relu", 101);
	near(look(&w, "fusion")->total_ns, 321, 1e-12, "fused as ONNX has it");
	near(look(&w, "fusion,layout")->total_ns, 234, 1e-12, "... says nothing of the other layout");
	is_int(look(&w, "fusion,layout")->unmeasured_problems, 1, "... whose group is wanted");
	is_int(effect(&w, "fusion", "layout").unmeasured_problems, 1, "... from this side too");
	measure(w.results, CONV_NXC "+relu", 61);
	struct analysis *a = look(&w, "fusion,layout");
	near(a->total_ns, 225, 1e-12, "fused channels last");
	is_str(a->layers[0].result->problem, CONV_NXC "+relu", "... by the twin of the group");
	near(effect(&w, "fusion", "layout").saves_ns, 321 - 225, 1e-12, "both sides with their groups");
	near(effect(&w, "layout", "fusion").saves_ns, 9, 1e-12, "fusion on the other side");
	world_close(&w);
}

static void no_layouts(void)
{
	struct maker *m = make_begin();
	make_layer(m, "Softmax", SOFTMAX, IMAGE, make_input(m, IMAGE), -1);
	struct world w;
	world_open_on(&w, m, &gpu);
	measure(w.results, SOFTMAX, 20);
	ok(!effect(&w, "", "layout").available, "a model without images: not available");
	near(look(&w, "layout")->total_ns, 20, 0, "... and switched on all the same, the same");
	world_close(&w);
}

/* Casts and conversions of one value: the cast comes first at inputs and last at outputs. */
static void casts_and_conversions(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE), y = conv(m, x);
	m->plan.values[y].is_output = true;
	make_border(m, x, true, "cast:f32,f16:" IMAGE);
	make_border(m, y, false, "cast:f16,f32:" IMAGE);
	struct world w;
	world_open_on(&w, m, &gpu);
	measure(w.results, CONV_NXC, 60);
	measure(w.results, TO_NXC, 7);
	measure(w.results, TO_NCX, 5);
	measure(w.results, "cast:f32,f16:" IMAGE, 2);
	measure(w.results, "cast:f16,f32:" IMAGE, 3);
	struct analysis *a = look(&w, "layout,parallel");
	ok(a->total_ns == 77 && a->complete && a->border_ns == 17, "one after the other");
	near(a->layers[0].start_ns, 9, 1e-12, "the layer waits for cast and conversion");
	world_close(&w);
}

static void isolated(struct world *w, const char *problem, double ns, double enqueue_ns)
{
	static int64_t later;
	struct result one = make_result(problem, ns);
	one.launch = LAUNCH_ISOLATED;
	one.enqueue_ns = enqueue_ns;
	one.measured_at = later++;
	results_put(w->results, &one);
}

static void host_bound(void)
{
	struct world w;
	open_layouts(&w);
	isolated(&w, CONV, 100, NAN);
	isolated(&w, RELU, 10, NAN);
	isolated(&w, SOFTMAX, 20, NAN);
	struct analysis *a = look(&w, "launch=isolated");
	ok(a->total_ns == 330 && isnan(a->enqueue_ns) && !a->host_bound, "no host time known: the device's");
	isolated(&w, RELU, 10, 200);
	a = look(&w, "launch=isolated");
	ok(a->total_ns == 330 && a->enqueue_ns == 200 && !a->host_bound, "the host is done before");
	isolated(&w, CONV, 100, 50);
	a = look(&w, "launch=isolated");
	ok(a->total_ns == 350 && a->enqueue_ns == 350 && a->host_bound,
		"the host takes longer: that is the bound");
	ok(a->lo_ns == 350 && a->hi_ns == 350, "... and its interval's ends");
	near(look(&w, "launch=isolated,parallel")->total_ns, 350, 1e-12,
		"one host enqueues all, in parallel too");
	near(look(&w, "")->total_ns, 330, 1e-12, "amortized has no host");
	ok(isnan(look(&w, "")->enqueue_ns), "... and no figure of it");
	near(effect(&w, "", "launch").total_ns, 350, 1e-12, "the toggle knows");
	isolated(&w, CONV, 100, -1);
	near(look(&w, "launch=isolated")->enqueue_ns, 200, 0, "a negative time is no time");
	world_close(&w);
}

int main(void)
{
	relaxed_math();
	layouts();
	fused_layouts();
	no_layouts();
	casts_and_conversions();
	host_bound();
	return done_testing();
}
