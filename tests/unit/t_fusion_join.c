#include "config.h"

#include "analyze/analyze.h"
#include "analyze/memory.h"
#include "fusion_help.h"
#include "make_plan.h"
#include "tap.h"

/* Matmuls of one value that run as one: which are joined, how their parts are read, when they are chosen. */

#define ROWS "128x64"
#define ONE "matmul:f32,f32.c,f32/f32:ba1bb1m128n64k64:ta0tb0"
#define TWO "matmul:f32,f32.c,f32/f32:ba1bb1m128n128k64:ta0tb0"
#define THREE "matmul:f32,f32.c,f32/f32:ba1bb1m128n192k64:ta0tb0"
#define PART "copy:u8,u8:b32768" /* 128 x 64 elements of 4 bytes */

static int product(struct maker *m, int x, const char *text)
{
	return make_layer(m, "MatMul", text, ROWS, x, make_constant(m, "64x64"));
}

static int bias(struct maker *m, int x)
{
	return make_layer(m, "Add", "binary:f32,f32.c,f32:add:" ROWS ":64", ROWS, x, make_constant(m, "64"));
}

static int transpose(struct maker *m, int x)
{
	return make_layer(m, "Transpose", "transpose:f32,f32:128x64:perm1x0", "64x128", x, -1);
}

static int softmax(struct maker *m, int x)
{
	return make_layer(m, "Softmax", "softmax:f32,f32:soft:" ROWS ":ax1", ROWS, x, -1);
}

/* The join of that many members, or NULL. */
static const struct fusion_group *join_of(const struct fusion *f, int members)
{
	for (int i = 0; i < f->group_count; i++)
		if (f->groups[i].join && f->groups[i].join->member_count == members)
			return &f->groups[i];
	return NULL;
}

static int joins_of(const struct fusion *f)
{
	int count = 0;
	for (int i = 0; i < f->group_count; i++)
		count += f->groups[i].join != NULL;
	return count;
}

static void queries_keys_values(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, ROWS);
	for (int i = 0; i < 3; i++)
		transpose(m, bias(m, product(m, x, ONE)));
	struct fusion *f = fusion_find(make_finish(m));
	const struct fusion_group *g = join_of(f, 3);
	is_int(joins_of(f), 4, "three matmuls: all together, and three pairs");
	is_str(g ? g->pattern : NULL, "MatMul+Bias x3", "... with their biases");
	is_str(g ? g->text : NULL, THREE "+bias:f32.c", "... as one matmul with all columns");
	is_int(g ? g->layer_count : 0, 6, "... of six layers");
	is_int(g ? g->level : 0, FUSION_PATTERN, "... at the level of patterns");
	ok(g && !fusion_copy_text(g), "... whose parts transpositions read where they are");
	is_int(f->contest_count, 1, "the joins are one contest");
	is_int(f->contests[0].cluster_count, 3, "... with the groups of matmul and bias");
	fusion_free(f);
	make_end(m);
}

/* What reads the parts: nothing but the named layer decides. */
static void how_parts_are_read(void)
{
	static const struct {
		const char *name;
		bool output, normal, viewed;
		const char *copy;
	} cases[] = { { "a transposition", false, false, false, NULL },
		{ "a softmax", false, true, false, PART },
		{ "a reshape, then a transposition", false, false, true, NULL },
		{ "a reshape, then a softmax", false, true, true, PART },
		{ "the model's output", true, false, false, PART } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct maker *m = make_begin();
		int x = make_input(m, ROWS);
		transpose(m, product(m, x, ONE));
		int part = product(m, x, ONE), y = part;
		if (cases[i].viewed)
			y = make_layer(m, "Reshape", NULL, "2x64x4x16", part, make_constant(m, "4"));
		if (cases[i].normal)
			softmax(m, y);
		else if (!cases[i].output)
			transpose(m, y);
		m->plan.values[part].is_output = cases[i].output;
		struct fusion *f = fusion_find(make_finish(m));
		const struct fusion_group *g = join_of(f, 2);
		is_str(g ? fusion_copy_text(g) : "no join", cases[i].copy, "a part is read by %s",
			cases[i].name);
		fusion_free(f);
		make_end(m);
	}
}

static void what_is_no_join(void)
{
	static const struct {
		const char *second, *why;
		int count;
	} cases[] = { { ONE, NULL, 1 },
		{ "matmul:f32,f32.c,f32/f32:ba1bb1m128n64k64:ta0tb1", "differ in types", 1 },
		{ "matmul:f32,f32,f32/f32:ba1bb1m128n64k64:ta0tb0", NULL, 1 }, { ONE, NULL, 11 } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct maker *m = make_begin();
		int x = make_input(m, ROWS);
		transpose(m, product(m, x, ONE));
		for (int k = 0; k < cases[i].count; k++)
			transpose(m, product(m, x, cases[i].second));
		struct fusion *f = fusion_find(make_finish(m));
		/* of twelve: eight and four, and pairs of both */
		is_int(joins_of(f), i == 0 ? 1 : i == 3 ? 1 + 4 + 1 + 2 : 0, "%s x%d beside " ONE,
			cases[i].second, cases[i].count);
		const char *why = f->miss_count ? f->misses[0].why : NULL;
		ok(cases[i].why ? why && strstr(why, cases[i].why) != NULL : !why, "... %s",
			why ? why : "needs no reason");
		fusion_free(f);
		make_end(m);
	}
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

int main(void)
{
	memory();
	queries_keys_values();
	how_parts_are_read();
	what_is_no_join();
	when_chosen();
	return done_testing();
}
