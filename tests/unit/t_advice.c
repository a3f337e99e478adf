#include "config.h"

#include <math.h>

#include "analyze/advice/advice.h"
#include "make_plan.h"
#include "tap.h"

#define IMAGE "1x64x56x56"
#define CONV "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define RELU "eltwise:f32,f32:relu:" IMAGE
#define FUSED CONV "+relu"
#define CONV_F16 "conv:f16,f16.c,f16/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define RELU_F16 "eltwise:f16,f16:relu:" IMAGE

static const struct device gpu = { .name = "cuda:0", .llc_bytes = 32e6, .has_matrix = true };

/* A model of two convolutions, each with a Relu, in one type. */
struct world {
	struct maker *m;
	struct fusion *fusion;
	struct results *results;
	struct arena arena;
	struct advice_plan plans[2];
};

static struct fusion *model(struct maker *m, const char *conv, const char *relu)
{
	int x = make_input(m, IMAGE);
	for (int i = 0; i < 2; i++) {
		x = make_layer(m, "Conv", conv, IMAGE, x, make_constant(m, "64x64x3x3"));
		x = make_layer(m, "Relu", relu, IMAGE, x, -1);
	}
	m->plan.values[x].is_output = true;
	return fusion_find(make_finish(m));
}

static void world_open(struct world *w)
{
	*w = (struct world){ .m = make_begin(), .results = results_new() };
	w->fusion = model(w->m, CONV, RELU);
	w->plans[0] = (struct advice_plan){ .on = *GROUND(&w->m->plan, w->fusion, w->results, &gpu),
		.dtype = "f32" };
}

static void world_close(struct world *w)
{
	arena_free(&w->arena);
	fusion_free(w->fusion);
	results_free(w->results);
	make_end(w->m);
}

/* Advice for a program that nothing has optimized. */
static struct advice_list find(struct world *w, int plans, double target_ns)
{
	struct scenario start = { .amortized = true };
	return advice_find(&w->arena, w->plans, plans, &start, target_ns);
}

static void algorithm(struct world *w, const char *problem, int rank, enum matrix matrix, const char *math,
	double ns)
{
	struct result one = make_result(problem, ns);
	one.algorithm.name = rank ? "other" : "first";
	one.algorithm.rank = rank;
	one.algorithm.matrix = matrix;
	one.algorithm.math = math;
	results_put(w->results, &one);
}

static void ranked(void)
{
	struct world w;
	world_open(&w);
	struct advice_list l = find(&w, 1, NAN);
	ok(isnan(l.start_ns) && !l.count && !l.complete, "nothing is measured: no advice");
	algorithm(&w, CONV, 0, MATRIX_NO, "strict", 100);
	algorithm(&w, CONV, 1, MATRIX_NO, "strict", 60);
	algorithm(&w, RELU, 0, MATRIX_NO, "strict", 50);
	algorithm(&w, FUSED, 0, MATRIX_NO, "strict", 80);
	algorithm(&w, FUSED, 1, MATRIX_NO, "strict", 75);
	l = find(&w, 1, NAN);
	near(l.start_ns, 300, 1e-12, "the library's first choices, nothing fused");
	is_int(l.count, 2, "two moves");
	is_str(l.items[0].title, "fuse Conv+Relu in 2 places", "the one that saves most comes first");
	near(l.items[0].saves_ns, 140, 1e-12, "... alone");
	near(l.items[0].saves_after_ns, 140, 1e-12, "... which is the same for the first");
	is_int(l.items[0].layer_count, 4, "... of all its layers");
	is_str(l.items[0].what_ifs, "fusion,launch", "... under this scenario");
	ok(strstr(l.items[1].title, "other, 1.63x faster than the library's choice first") != NULL, "then %s",
		l.items[1].title);
	near(l.items[1].saves_ns, 80, 1e-12, "an algorithm alone saves what it saves without fusion");
	near(l.items[1].saves_after_ns, 10, 1e-12, "... after it, that of the fused problem");
	near(l.least_ns, 150, 1e-12, "the lowest bound");
	near(l.start_ns - l.items[0].saves_after_ns - l.items[1].saves_after_ns, l.least_ns, 1e-12,
		"gains after the others add up");
	ok(l.complete && !l.estimated && !l.items[0].noisy, "measured, quiet");
	struct scenario all = scenario_default();
	all.fusion = true;
	l = advice_find(&w.arena, w.plans, 1, &all, NAN);
	ok(!l.count && l.least_ns == 150 && l.start_ns == 150, "nothing is left of that scenario");
	world_close(&w);
}

/* In steps, from the results of the first step on, whatever arrives meanwhile. */
static void in_steps(void)
{
	struct world w;
	world_open(&w);
	struct scenario start = { .amortized = true };
	algorithm(&w, CONV, 0, MATRIX_NO, "strict", 100);
	algorithm(&w, CONV, 1, MATRIX_NO, "strict", 60);
	algorithm(&w, RELU, 0, MATRIX_NO, "strict", 50);
	algorithm(&w, FUSED, 0, MATRIX_NO, "strict", 80);
	struct advice_list whole = find(&w, 1, NAN);
	struct adviser *d = advice_begin(w.plans, 1, &start, NAN);
	int steps = 1;
	for (; advice_step(d); steps++) {
		algorithm(&w, CONV, 1 + steps, MATRIX_NO, "strict", 10 + steps);
		algorithm(&w, FUSED, 1 + steps, MATRIX_NO, "strict", 10 + steps);
	}
	ok(steps > 5, "%d steps", steps);
	struct advice_list l = advice_end(d, &w.arena);
	ok(l.start_ns == whole.start_ns && l.least_ns == whole.least_ns, "the bounds of the beginning");
	is_int(l.count, whole.count, "as many moves as at once");
	for (int i = 0; i < l.count; i++)
		is_str(l.items[i].title, whole.items[i].title, "move %d", i);
	d = advice_begin(w.plans, 1, &start, NAN);
	advice_step(d);
	advice_step(d);
	advice_cancel(d);
	advice_cancel(advice_begin(w.plans, 1, &start, NAN));
	advice_cancel(NULL);
	world_close(&w);
}

static void noisy(void)
{
	struct world w;
	world_open(&w);
	measure(w.results, CONV, 100);
	measure(w.results, RELU, 50);
	struct result one = make_result(FUSED, 110);
	one.stats.stop = STOP_DISTURBED;
	results_put(w.results, &one);
	struct advice_list l = find(&w, 1, NAN);
	ok(l.count == 1 && l.items[0].noisy, "a gain from a noisy measurement is marked");
	world_close(&w);
}

/* Neither matrix units nor relaxed math save anything alone. */
static void together(void)
{
	struct world w;
	world_open(&w);
	algorithm(&w, CONV, 0, MATRIX_NO, "strict", 100);
	algorithm(&w, CONV, 1, MATRIX_YES, "tf32", 30);
	algorithm(&w, RELU, 0, MATRIX_NO, "strict", 10);
	struct scenario start = scenario_default();
	struct advice_list l = advice_find(&w.arena, w.plans, 1, &start, NAN);
	is_int(l.count, 1, "one move");
	is_str(l.items[0].title, "matrix units and relaxed math", "... that changes two things");
	near(l.items[0].saves_after_ns, 140, 1e-12, "... and saves what they save together");
	is_str(l.items[0].what_ifs, "matrix,algorithm,launch,math", "... under both");
	world_close(&w);
}

static void other_type(void)
{
	struct world w, half;
	world_open(&w);
	half = (struct world){ .m = make_begin() };
	half.m->dtype = half.m->plan.dtype = DTYPE_F16;
	half.fusion = model(half.m, CONV_F16, RELU_F16);
	w.plans[1] = (struct advice_plan){ .on = *GROUND(&half.m->plan, half.fusion, w.results, &gpu),
		.dtype = "f16" };
	measure(w.results, CONV, 100);
	measure(w.results, RELU, 20);
	algorithm(&w, CONV_F16, 0, MATRIX_YES, "strict", 20);
	struct advice_list l = find(&w, 2, NAN);
	is_int(l.count, 0, "a type whose Relu is not measured lacks layers: it is not compared");
	algorithm(&w, RELU_F16, 0, MATRIX_NO, "strict", 10);
	l = find(&w, 2, NAN);
	is_int(l.count, 1, "a type needs the units that run it");
	is_str(l.items[0].title, "f16 and matrix units", "... they are advised together");
	is_str(l.items[0].dtype, "f16", "... and the scenario has that type");
	near(l.least_ns, 60, 1e-12, "the bound is that of the type");
	algorithm(&w, CONV_F16, 0, MATRIX_NO, "strict", 30);
	l = find(&w, 2, NAN);
	is_str(l.items[0].title, "f16", "units that save too little beside the type are not advised");
	w.plans[1].matrix = true;
	l = find(&w, 2, NAN);
	is_str(l.items[0].title, "f16 and matrix units", "... unless a run in the type uses them anyway");
	fusion_free(half.fusion);
	make_end(half.m);
	world_close(&w);
}

static void target(void)
{
	struct world w;
	world_open(&w);
	algorithm(&w, CONV, 0, MATRIX_NO, "strict", 100);
	algorithm(&w, CONV, 1, MATRIX_NO, "strict", 90);
	algorithm(&w, RELU, 0, MATRIX_NO, "strict", 50);
	algorithm(&w, FUSED, 0, MATRIX_NO, "strict", 100);
	algorithm(&w, FUSED, 1, MATRIX_NO, "strict", 90);
	struct advice_list l = find(&w, 1, 300);
	ok(l.reached && !l.count, "the start reaches it: no advice");
	l = find(&w, 1, 210);
	ok(l.reached && l.count == 1 && l.least_ns == 200, "only what it needs");
	l = find(&w, 1, 180);
	ok(l.reached && l.count == 2 && l.least_ns == 180, "both");
	l = find(&w, 1, 100);
	ok(!l.reached && l.count == 2 && l.least_ns == 180, "not reached: all advice, and how far it goes");
	world_close(&w);
}

/* Types that lack other layers than the start are not compared, whatever their number is; a target is not
 * reached by a bound that lacks layers. */
static void lacking(void)
{
	struct world w, half;
	for (int i = 0; i < 2; i++) {
		world_open(&w);
		half = (struct world){ .m = make_begin() };
		half.m->dtype = half.m->plan.dtype = DTYPE_F16;
		half.fusion = model(half.m, CONV_F16, RELU_F16);
		w.plans[1] = (struct advice_plan){ .on = *GROUND(&half.m->plan, half.fusion, w.results, &gpu),
			.dtype = "f16" };
		algorithm(&w, CONV, 0, MATRIX_NO, "strict", 100);
		if (i) {
			algorithm(&w, RELU, 0, MATRIX_NO, "strict", 50);
			algorithm(&w, FUSED, 0, MATRIX_NO, "strict", 100);
			algorithm(&w, CONV_F16, 0, MATRIX_NO, "strict", 40);
			algorithm(&w, CONV_F16 "+relu", 0, MATRIX_NO, "strict", 60);
			struct advice_list l = find(&w, 2, 150);
			ok(l.reached && l.count == 2 && l.least_ns == 120 && l.complete,
				"the fusion stays, without which the type lacks layers");
		} else {
			algorithm(&w, RELU_F16, 0, MATRIX_NO, "strict", 10);
			is_int(find(&w, 2, NAN).count, 0, "one lacks the convolutions, the other the rest");
		}
		fusion_free(half.fusion);
		make_end(half.m);
		world_close(&w);
	}
}

/* The layers bound by overhead are those of the beginning too. */
static void overhead_in_steps(void)
{
	struct world w;
	struct scenario start = { .amortized = true };
	struct peaks k = peaks_unknown();
	world_open(&w);
	k.bandwidth_bytes_s = 2e12;
	k.flops[DTYPE_F32] = 2e13;
	k.sm = 80;
	w.plans[0].on.peaks = &k;
	w.plans[0].on.estimate = true;
	struct advice_list whole = find(&w, 1, NAN);
	ok(whole.overhead_ns > 0 && whole.overhead_layers == 2, "%d layers are bound by overhead",
		whole.overhead_layers);
	struct adviser *d = advice_begin(w.plans, 1, &start, NAN);
	advice_step(d);
	algorithm(&w, CONV, 0, MATRIX_NO, "strict", 1e6);
	algorithm(&w, RELU, 0, MATRIX_NO, "strict", 1e6);
	while (advice_step(d))
		;
	struct advice_list l = advice_end(d, &w.arena);
	near(l.overhead_ns, whole.overhead_ns, 1e-12, "... and in steps, though results arrive");
	is_int(l.overhead_layers, whole.overhead_layers, "... as many");
	world_close(&w);
}

#define ROWS "128x64"
#define MATMUL(n) "matmul:f32,f32.c,f32/f32:ba1bb1m128n" n "k64:ta0tb0"
#define NARROW "conv:f32,f32.c,f32/f32:n1c63h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define SOFTMAX "softmax:f32,f32:soft:" IMAGE ":ax3"
#define COLUMNS "transpose:f32,f32:128x64:perm1x0"

/* A padded convolution, a Softmax that nothing reads, matmuls of one value. */
static void rewrites(void)
{
	struct world w = { .m = make_begin(), .results = results_new() };
	int x = make_input(w.m, IMAGE), y = make_input(w.m, ROWS);
	x = make_layer(w.m, "Conv", NARROW, IMAGE, x, make_constant(w.m, "64x63x3x3"));
	w.m->plan.values[x].is_output = true;
	make_layer(w.m, "Softmax", SOFTMAX, IMAGE, x, -1);
	for (int i = 0; i < 2; i++) {
		int z = make_layer(w.m, "MatMul", MATMUL("64"), ROWS, y, make_constant(w.m, "64x64"));
		z = make_layer(w.m, "Transpose", COLUMNS, "64x128", z, -1);
		w.m->plan.values[z].is_output = true;
	}
	struct plan *p = make_finish(w.m);
	plan_pad(p);
	plan_find_folds(p);
	w.fusion = fusion_find(p);
	w.plans[0] = (struct advice_plan){ .on = *GROUND(p, w.fusion, w.results, &gpu),
		.dtype = "f32" };
	measure(w.results, NARROW, 100);
	measure(w.results, CONV, 70);
	measure(w.results, SOFTMAX, 40);
	measure(w.results, MATMUL("64"), 50);
	measure(w.results, MATMUL("128"), 80);
	measure(w.results, COLUMNS, 5);
	struct advice_list l = find(&w, 1, NAN);
	is_int(l.count, 3, "three moves");
	is_int(l.items[0].kind, ADVICE_FOLD, "first to remove what nothing reads");
	is_str(l.items[0].title, "remove 1 layer without effect on the result", "... as its title says");
	near(l.items[0].saves_ns, 40, 1e-12, "... and save its time");
	ok(l.items[0].layer_count == 1 && l.items[0].layers[0] == 1, "... of that layer");
	is_str(l.items[0].what_ifs, "launch,fold", "... with the what-if");
	is_int(l.items[1].kind, ADVICE_PAD, "then to pad");
	near(l.items[1].saves_after_ns, 30, 1e-12, "... a convolution");
	ok(strstr(l.items[1].title, "in 1 layer; the cost excludes copies") != NULL, "%s",
		l.items[1].title);
	is_int(l.items[2].kind, ADVICE_JOIN, "then to join");
	is_str(l.items[2].title, "run MatMul x2 of one input as one matmul in 1 place", "... the matmuls");
	near(l.items[2].saves_after_ns, 20, 1e-12, "... which are faster as one");
	near(l.least_ns, 70 + 80 + 10, 1e-12, "the bound with all three");
	struct scenario on = { .amortized = true, .pad = true, .fold = true, .fusion = FUSION_ALL };
	is_int(advice_find(&w.arena, w.plans, 1, &on, NAN).count, 0, "nothing is advised that is on");
	world_close(&w);
}

/* Two convolutions with their Relu, of which nothing reads one: removed first, it is no place to fuse. */
static void removed_place(void)
{
	struct world w = { .m = make_begin(), .results = results_new() };
	int x = make_input(w.m, IMAGE);
	for (int i = 0; i < 2; i++) {
		int y = make_layer(w.m, "Conv", CONV, IMAGE, x, make_constant(w.m, "64x64x3x3"));
		y = make_layer(w.m, "Relu", RELU, IMAGE, y, -1);
		w.m->plan.values[y].is_output = i == 0;
	}
	struct plan *p = make_finish(w.m);
	plan_find_folds(p);
	w.fusion = fusion_find(p);
	w.plans[0] = (struct advice_plan){ .on = *GROUND(p, w.fusion, w.results, &gpu),
		.dtype = "f32" };
	measure(w.results, CONV, 100);
	measure(w.results, RELU, 40);
	measure(w.results, FUSED, 110);
	struct advice_list l = find(&w, 1, NAN);
	is_int(l.count, 2, "two moves");
	is_int(l.items[0].kind, ADVICE_FOLD, "first to remove what nothing reads");
	near(l.items[0].saves_ns, 140, 1e-12, "... a convolution with its Relu");
	is_str(l.items[1].title, "fuse Conv+Relu in 1 place", "then to fuse the other one");
	ok(l.items[1].layer_count == 2 && l.items[1].layers[0] == 0 && l.items[1].layers[1] == 1,
		"... of these layers");
	near(l.items[1].saves_after_ns, 30, 1e-12, "... which saves this");
	near(l.items[1].saves_ns, 60, 1e-12, "... and alone twice as much");
	world_close(&w);
}

int main(void)
{
	removed_place();
	rewrites();
	lacking();
	ranked();
	in_steps();
	overhead_in_steps();
	noisy();
	together();
	other_type();
	target();
	return done_testing();
}
