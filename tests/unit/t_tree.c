/* The tree of an execution beside the bound, its figures computed by hand. */
#include "config.h"

#include "analyze/real/tree.h"

#include "make_plan.h"
#include "tap.h"

#define CONV "conv:f32,f32.c,f32/f32:n1c2h4w4k2r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1"
#define RELU "eltwise:f32,f32:relu:1x2x4x4"
#define SOFTMAX "softmax:f32,f32:soft:1x2x4x4:ax1"

static struct arena arena;

static struct execution_row *row(struct execution *e, int *room, enum execution_level level, int parent,
	const char *name, const char *nodes, double ns)
{
	struct execution_row *r = execution_add(&arena, e, room);
	r->level = level;
	r->parent = parent;
	r->name = name;
	r->nodes = nodes;
	r->ns = ns;
	r->calls = 1;
	return r;
}

static const struct tree_node *node(
	const struct tree *t, int i, enum tree_kind kind, int depth, const char *name)
{
	static const struct tree_node none;
	if (!ok(i < t->count && t->nodes[i].kind == kind && t->nodes[i].depth == depth, "%s: %s at depth %d",
		    name, tree_kind_name(kind), depth))
		return &none;
	is_str(t->nodes[i].name, name, "its name");
	return &t->nodes[i];
}

int main(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, "1x2x4x4");
	int a = make_layer(m, "Conv", CONV, "1x2x4x4", x, -1);
	int b = make_layer(m, "Relu", RELU, "1x2x4x4", a, -1);
	make_layer(m, "Softmax", SOFTMAX, "1x2x4x4", b, -1);
	struct plan *p = make_finish(m);
	struct results *r = results_new();
	measure(r, CONV, 600);
	measure(r, RELU, 200);
	measure(r, SOFTMAX, 100);
	struct scenario s = scenario_default();
	const struct ground ground = { .plan = p, .results = r };
	struct analysis *bound = analyze(&arena, &ground, &s);

	/* Conv and Relu are one layer of 2 kernels; a reorder; a row that nobody knows; nothing runs
	 * Softmax; a kernel without a layer */
	struct execution e = execution_new();
	int room = 0;
	e.stats.median = 1500;
	row(&e, &room, LEVEL_LAYER, -1, "conv_relu", "Conv\nRelu", 1000);
	row(&e, &room, LEVEL_LAYER, -1, "to_nchw", "", 50)->op = "Reorder";
	row(&e, &room, LEVEL_KERNEL, 0, "k1", "", 700);
	row(&e, &room, LEVEL_KERNEL, 0, "k2", "", 100);
	row(&e, &room, LEVEL_KERNEL, 1, "k3", "", 40);
	row(&e, &room, LEVEL_KERNEL, -1, "stray", "", 30);
	row(&e, &room, LEVEL_LAYER, -1, "mystery", "", 20)->op = "Mystery";
	struct match *match = match_execution(&arena, &e, p);
	struct reality *y = reality_of(&arena, &ground, &s, bound, &e, match);
	struct tree *t = tree_of(&arena, y, p, bound);

	is_int(t->count, 9, "nodes");
	const struct tree_node *n = node(t, 0, TREE_MODEL, 0, "model");
	ok(n->real_ns == 1500 && n->bound_ns == 900 && n->ratio == 0.6 && n->gap_ns == 600 && n->end == 9,
		"the model");
	n = node(t, 1, TREE_LAYER, 1, "Conv +1");
	ok(n->real_ns == 1000 && n->bound_ns == 800 && n->ratio == 0.8 && n->gap_ns == 200,
		"a layer for two");
	ok(n->end == 4 && n->parent == 0 && n->layer == 0 && n->layer_count == 2, "its children and layers");
	n = node(t, 2, TREE_KERNEL, 2, "k1");
	ok(n->real_ns == 700 && isnan(n->bound_ns) && isnan(n->ratio) && isnan(n->gap_ns) && n->parent == 1,
		"one of two kernels has no bound of its own");
	n = node(t, 4, match->rows[1].how == MATCH_ADDED ? TREE_ADDED : TREE_FOREIGN, 1, "to_nchw");
	ok(n->real_ns == 50 && isnan(n->bound_ns) && n->end == 6, "an added row and its kernel");
	n = node(t, 6, TREE_FOREIGN, 1, "mystery");
	ok(n->real_ns == 20 && isnan(n->bound_ns) && n->layer == -1, "a row without layers");
	n = node(t, 7, TREE_KERNEL, 1, "stray");
	ok(n->real_ns == 30 && n->parent == 0, "a kernel without a layer is kept");
	n = node(t, 8, TREE_ABSENT, 1, "Softmax");
	ok(isnan(n->real_ns) && n->bound_ns == 100 && isnan(n->ratio), "a layer that no row runs");
	for (int i = 0; i < t->count; i++)
		ok(t->nodes[i].end > i && t->nodes[i].end <= t->count && t->nodes[i].parent < i,
			"node %d is nested", i);

	/* kernels alone: each is its layer's only one */
	struct execution k = execution_new();
	room = 0;
	row(&k, &room, LEVEL_KERNEL, -1, "conv_kernel", "Conv", 500);
	row(&k, &room, LEVEL_KERNEL, -1, "relu_kernel", "Relu", 400);
	match = match_execution(&arena, &k, p);
	t = tree_of(&arena, reality_of(&arena, &ground, &s, bound, &k, match), p, bound);
	n = node(t, 1, TREE_LAYER, 1, "Conv");
	ok(n->bound_ns == 600 && n->ratio == 1.2 && n->gap_ns == -100, "faster than the bound");
	n = node(t, 2, TREE_KERNEL, 2, "conv_kernel");
	ok(n->bound_ns == 600 && n->gap_ns == -100, "its only kernel has its bound");

	results_free(r);
	make_end(m);
	arena_free(&arena);
	return done_testing();
}
