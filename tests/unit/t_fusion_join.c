/* When joined matmuls and attention are chosen (what may be one: tests/plan/fusion.case). */
#include "config.h"

#include "analyze/analyze.h"
#include "analyze/bound/memory.h"
#include "make_plan.h"
#include "net_text.h"
#include "tap.h"

#define ROWS "128x64"
#define ONE "matmul:f32,f32.c,f32/f32:ba1bb1m128n64k64:ta0tb0"
#define TWO "matmul:f32,f32.c,f32/f32:ba1bb1m128n128k64:ta0tb0"
#define THREE "matmul:f32,f32.c,f32/f32:ba1bb1m128n192k64:ta0tb0"

static int product(struct maker *m, int x, const char *text)
{
	return make_layer(m, "MatMul", text, ROWS, x, make_constant(m, "64x64"));
}

static int transpose(struct maker *m, int x)
{
	return make_layer(m, "Transpose", "transpose:f32,f32:128x64:perm1x0", "64x128", x, -1);
}

static int softmax(struct maker *m, int x)
{
	return make_layer(m, "Softmax", "softmax:f32,f32:soft:" ROWS ":ax1", ROWS, x, -1);
}

/* The bound of three matmuls of 100 ns each, with prices of the joins; NaN: not measured. */
static double bound_of(double two, double three, double copy, bool parallel)
{
	struct maker *m = make_begin();
	struct arena arena = { 0 };
	int x = make_input(m, ROWS);
	for (int i = 0; i < 3; i++)
		m->plan.values[product(m, x, ONE)].is_output = true;
	struct plan *p = make_finish(m);
	struct fusion *f = fusion_find(p);
	struct results *r = results_new();
	struct scenario s = scenario_default();
	s.fusion = FUSION_ALL;
	s.parallel = parallel ? PARALLEL_RESOURCES : PARALLEL_OFF;
	measure(r, ONE, 100);
	if (!isnan(two))
		measure(r, TWO, two);
	if (!isnan(three))
		measure(r, THREE, three);
	measure(r, "copy:u8,u8:b65536", copy);
	measure(r, "copy:u8,u8:b98304", copy);
	double bound = analyze(&arena, GROUND(p, f, r, NULL), &s)->total_ns;
	arena_free(&arena);
	results_free(r);
	fusion_free(f);
	make_end(m);
	return bound;
}

static void when_chosen(void)
{
	is_int(bound_of(180, 210, 20, false), 230, "three as one, with the copy");
	is_int(bound_of(140, 290, 20, false), 260, "a pair and one alone");
	is_int(bound_of(190, 290, 20, false), 300, "slower when joined: not chosen");
	is_int(bound_of(NAN, 250, 20, false), 270, "a pair was not measured");
	is_int(bound_of(NAN, NAN, 20, false), 300, "no join was measured");
	is_int(bound_of(180, 210, 20, true), 100, "side by side none waits for the others");
	is_int(bound_of(180, 60, 20, true), 80, "... unless all are faster together than one");
}

/* All parts exist from the first member on, which in execution order is before the others. */
static void memory(void)
{
	struct maker *m = make_begin();
	struct arena arena = { 0 };
	int x = make_input(m, ROWS);
	for (int i = 0; i < 3; i++)
		softmax(m, transpose(m, product(m, x, ONE)));
	struct plan *p = make_finish(m);
	struct fusion *f = fusion_find(p);
	struct results *r = results_new();
	struct scenario s = scenario_default();
	measure(r, ONE, 100);
	measure(r, THREE, 200);
	for (int i = 0; i < 2; i++) {
		s.fusion = i ? FUSION_ALL : FUSION_OFF;
		struct analysis *a = analyze(&arena, GROUND(p, f, r, NULL), &s);
		/* x, a part and what reads it; joined: also both other parts, but x no more */
		is_int(memory_of(p, a).activations, (i ? 4 : 3) * 32768, "%s", i ? "joined" : "one by one");
	}
	arena_free(&arena);
	results_free(r);
	fusion_free(f);
	make_end(m);
}

/* The second product's own groups compete with attention; the choice sees both. */
static void attention_is_chosen(void)
{
	const char *end, *expected;
	struct net *n = net_text(
		"agraph (float[2,12,128,64] q, float[2,12,64,128] k, float[2,12,128,64] v) => (y)"
		"<float eight = {8}> { p = MatMul (q, k)  s = Div (p, eight)  d = Softmax (s)"
		"  o = MatMul (d, v)  y = Relu (o) }", &end, &expected);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	struct fusion *f = fusion_find(p);
	struct results *r = results_new();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	const char *attention = "attention:f32,f32,f32,f32/f32:full:n2hq12hk12lq128lk128d64e64";
	s.fusion = true;
	for (int i = 0; i < p->problem_count; i++)
		measure(r, p->problems[i].text, 100);
	measure(r, attention, 150);
	near(analyze(&a, GROUND(p, f, r, NULL), &s)->total_ns, 250, 1e-12, "attention, and the Relu");
	measure(r, "matmul:f32,f32,f32/f32:ba24bb24m128n64k128:ta0tb0+relu", 30);
	near(analyze(&a, GROUND(p, f, r, NULL), &s)->total_ns, 250, 1e-12, "300 and 30 are more");
	measure(r, attention, 290);
	near(analyze(&a, GROUND(p, f, r, NULL), &s)->total_ns, 330, 1e-12, "now they are less");
	s.parallel = true;
	near(analyze(&a, GROUND(p, f, r, NULL), &s)->total_ns, 330, 1e-12, "... in parallel too");
	arena_free(&a);
	results_free(r);
	fusion_free(f);
	plan_free(p);
	net_free(n);
}

int main(void)
{
	attention_is_chosen();
	memory();
	when_chosen();
	return done_testing();
}
