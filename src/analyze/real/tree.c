/* Builds the tree in one pass over the rows, in order of time; layers without a row follow at the end. */
#include "config.h"

#include "analyze/real/tree.h"

#include <math.h>
#include <string.h>

#include "analyze/real/reality_private.h"

const char *tree_kind_name(enum tree_kind k)
{
	static const char *const names[] = { "model", "layer", "added", "unmatched", "absent", "kernel" };
	return names[k];
}

struct planting {
	struct arena *arena;
	struct tree *tree;
	const struct reality *reality;
	const struct plan *plan;
	const int *kernels, *first; /* of top row i: kernels[first[i]] to kernels[first[i + 1] - 1] */
	const int *tops;            /* per row: a kernel's top row or -1; -2 for rows of other levels */
};

/* Upper limit of nodes: the model, one per row, one per layer, and one more per row for its kernels. */
static struct tree_node *add(struct planting *p, enum tree_kind kind, int parent, const char *name)
{
	struct tree_node *n = &p->tree->nodes[p->tree->count++];
	*n = (struct tree_node){ .kind = kind,
		.parent = parent,
		.name = name,
		.op = "",
		.group = -1,
		.row = -1,
		.layer = -1,
		.real_ns = NAN,
		.bound_ns = NAN,
		.end = p->tree->count,
		.depth = parent < 0 ? 0 : p->tree->nodes[parent].depth + 1 };
	return n;
}

static void compare(const struct planting *p, struct tree_node *n)
{
	n->gap_ns = n->real_ns - n->bound_ns;
	n->ratio = n->real_ns > 0 && !(p->reality->prevents & USE_RATIO) ? n->bound_ns / n->real_ns : NAN;
}

/* Lists the kernels of each top row, in order. A kernel that is a top row lists itself. */
static void sort_kernels(struct planting *p, const bool *traced)
{
	const struct execution *e = p->reality->execution;
	int *first = ARENA_ARRAY(p->arena, int, e->row_count + 2);
	int *tops = ARENA_ARRAY(p->arena, int, e->row_count + 1);
	int *kernels = ARENA_ARRAY(p->arena, int, e->row_count + 1);
	/* the row of the topmost level that contains a row, or the row itself; -1: none. Parents are first */
	int *around = ARENA_ARRAY(p->arena, int, e->row_count + 1);
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		around[i] = traced[i] ? i : r->parent >= 0 && r->parent < i ? around[r->parent] : -1;
		bool inner = r->parent >= 0 && r->parent < i && e->rows[r->parent].level == LEVEL_KERNEL;
		tops[i] = r->level == LEVEL_KERNEL && !inner ? around[i] : -2;
		if (tops[i] >= 0)
			first[tops[i] + 2]++;
	}
	for (int i = 0; i < e->row_count; i++)
		first[i + 2] += first[i + 1];
	for (int i = 0; i < e->row_count; i++)
		if (tops[i] >= 0)
			kernels[first[tops[i] + 1]++] = i;
	p->kernels = kernels;
	p->tops = tops;
	p->first = first;
}

static void add_kernels(struct planting *p, int parent, int row)
{
	const struct execution *e = p->reality->execution;
	for (int i = p->first[row]; i < p->first[row + 1]; i++) {
		const struct execution_row *r = &e->rows[p->kernels[i]];
		struct tree_node *n = add(p, TREE_KERNEL, parent, *r->kernel ? r->kernel : r->name);
		n->row = p->kernels[i];
		n->layer = p->tree->nodes[parent].layer;
		n->real_ns = r->ns / p->reality->match->runs;
	}
}

/* Gives the layer's bound to its only kernel, which does all of its work. */
static void close_layer(struct planting *p, int at)
{
	struct tree_node *n = &p->tree->nodes[at];
	n->end = p->tree->count;
	if (n->end - at == 2) {
		p->tree->nodes[at + 1].bound_ns = n->bound_ns;
		p->tree->nodes[at + 1].estimated = n->estimated;
	}
	for (int i = at; i < n->end; i++)
		compare(p, &p->tree->nodes[i]);
}

static void add_group(struct planting *p, int group)
{
	const struct reality_group *g = &p->reality->groups[group];
	const struct execution_row *r = &p->reality->execution->rows[g->rows[0]];
	const char *name = text_clean(p->arena, p->plan->layers[g->layers[0]].name);
	if (g->layer_count > 1)
		name = arena_printf(p->arena, "%s +%d", name, g->layer_count - 1);
	int at = p->tree->count;
	struct tree_node *n = add(p, TREE_LAYER, 0, name);
	n->op = *r->op ? r->op : r->name;
	n->group = group;
	n->row = g->rows[0];
	n->layer = g->layers[0];
	n->layer_count = g->layer_count;
	n->real_ns = g->real_ns;
	n->bound_ns = g->cost_ns;
	n->estimated = g->estimated;
	for (int i = 0; i < g->row_count; i++)
		add_kernels(p, at, g->rows[i]);
	close_layer(p, at);
}

static void add_row(struct planting *p, int row)
{
	const struct execution *e = p->reality->execution;
	bool added = p->reality->match->rows[row].how == MATCH_ADDED;
	int at = p->tree->count;
	struct tree_node *n = add(p, added ? TREE_ADDED : TREE_FOREIGN, 0, e->rows[row].name);
	n->op = e->rows[row].op;
	n->row = row;
	n->real_ns = row_corrected(p->reality, row, e->rows[row].ns);
	if (e->rows[row].level != LEVEL_KERNEL)
		add_kernels(p, at, row);
	close_layer(p, at);
}

/* Adds a kernel whose layer is unknown. */
static void add_stray(struct planting *p, int row)
{
	const struct execution_row *r = &p->reality->execution->rows[row];
	struct tree_node *n = add(p, TREE_KERNEL, 0, *r->kernel ? r->kernel : r->name);
	n->row = row;
	n->real_ns = r->ns / p->reality->match->runs;
	compare(p, n);
}

/* Adds the layers that have a cost and are in no row. */
static void add_absent(struct planting *p, const struct analysis *bound)
{
	bool *has = ARENA_ARRAY(p->arena, bool, p->plan->layer_count + 1);
	for (int i = 0; i < p->reality->group_count; i++)
		for (int k = 0; k < p->reality->groups[i].layer_count; k++)
			has[p->reality->groups[i].layers[k]] = true;
	for (int i = 0; bound && i < p->plan->layer_count; i++) {
		const struct layer_cost *c = &bound->layers[i];
		if (has[i] || !(c->ns > 0))
			continue;
		struct tree_node *n = add(p, TREE_ABSENT, 0, text_clean(p->arena, p->plan->layers[i].name));
		n->op = text_clean(p->arena, p->plan->layers[i].node->op);
		n->layer = i;
		n->layer_count = 1;
		n->bound_ns = c->ns;
		n->estimated = c->origin != ORIGIN_MEASURED;
		compare(p, n);
	}
}

struct tree *tree_of(
	struct arena *a, const struct reality *y, const struct plan *p, const struct analysis *bound)
{
	const struct execution *e = y->execution;
	struct tree *t = ARENA_NEW(a, struct tree);
	struct planting planting = { .arena = a, .tree = t, .reality = y, .plan = p };
	bool *traced = rows_traced(a, e), *done = ARENA_ARRAY(a, bool, y->group_count + 1);
	t->nodes = ARENA_ARRAY(a, struct tree_node, 2 * e->row_count + p->layer_count + 2);
	struct tree_node *root = add(&planting, TREE_MODEL, -1, *e->model ? e->model : "model");
	root->real_ns = y->measured_ns;
	root->bound_ns = y->bound_ns;
	root->estimated = y->bound_estimated;
	compare(&planting, root);
	sort_kernels(&planting, traced);
	for (int i = 0; i < e->row_count; i++) {
		int group = y->group_of_row[i];
		if (!traced[i] || (group >= 0 && done[group]))
			continue;
		if (group >= 0) {
			done[group] = true;
			add_group(&planting, group);
		} else
			add_row(&planting, i);
	}
	for (int i = 0; i < e->row_count; i++)
		if (planting.tops[i] == -1)
			add_stray(&planting, i);
	add_absent(&planting, bound);
	root->end = t->count;
	return t;
}
