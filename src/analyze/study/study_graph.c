/* The graph of a study: layers, casts at model inputs and outputs, and conversions between layouts, each
 * after the producer of its value. A reader of a converted value keeps its edge to the producer: the
 * path through the conversion is never shorter. */
#include "config.h"

#include "analyze/study/price.h"

#include <stdlib.h>
#include <string.h>

struct drawing {
	struct study *st;
	const struct plan *plan;
	int conversions;
	const struct plan_conversion *conversion;
	int *conversion_node;   /* per conversion */
	int *cast_node;         /* per model input or output with a cast */
	/* additional predecessors of layers, as linked lists */
	int *head, *next, *from, link_count;
	int edge_count;
	const bool *folds;      /* per layer: it folds; NULL: none */
};

static int node_add(struct drawing *g, int layer, int problem)
{
	struct study *st = g->st;
	st->node_layer[st->node_count] = layer;
	st->node_problem[st->node_count] = problem;
	return st->node_count++;
}

/* Adds the conversions of the layer's outputs (-1: of model inputs), from index `next`; returns the next
 * index. Conversions are sorted by producer, so over all layers this is a merge of two lists: linear
 * time, and the nodes are in topological order. */
static int add_conversions(struct drawing *g, int producer, int next)
{
	const struct plan *p = g->plan;
	for (; next < g->conversions && p->values[g->conversion[next].value].producer <= producer; next++)
		g->conversion_node[next] = node_add(g, -1, g->conversion[next].problem);
	return next;
}

static void add_nodes(struct drawing *g)
{
	struct study *st = g->st;
	const struct plan *p = g->plan;
	for (int i = 0; i < p->border_count; i++)
		if (p->borders[i].is_input)
			g->cast_node[i] = node_add(g, -1, p->borders[i].problem);
	int conversion = add_conversions(g, -1, 0);
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		int problem = plan_layer_problem_index(p, l, st->nxc);
		st->layer_node[i] = node_add(g, i, l->class == CLASS_FREE ? -1 : problem);
		conversion = add_conversions(g, i, conversion);
	}
	st->last_layer_node = st->node_count - 1;
	for (int i = 0; i < p->border_count; i++)
		if (!p->borders[i].is_input)
			g->cast_node[i] = node_add(g, -1, p->borders[i].problem);
}

static void link_add(struct drawing *g, int layer, int node)
{
	g->from[g->link_count] = node;
	g->next[g->link_count] = g->head[layer];
	g->head[layer] = g->link_count++;
}

static int link_capacity(const struct drawing *g)
{
	const struct plan *p = g->plan;
	int links = 0;
	for (int i = 0; i < p->border_count; i++)
		links += p->borders[i].is_input ? p->values[p->borders[i].value].consumer_count : 0;
	for (int i = 0; i < g->conversions; i++)
		links += g->conversion[i].consumer_count;
	return links;
}

/* Additional predecessors of layers (casts of inputs, conversions) as one linked list per layer in shared
 * arrays: one pass over the readers of each value, without knowing the counts in advance. */
static void add_links(struct drawing *g)
{
	const struct plan *p = g->plan;
	for (int i = 0; i < p->layer_count; i++)
		g->head[i] = -1;
	for (int i = 0; i < p->border_count; i++) {
		const struct plan_value *v = &p->values[p->borders[i].value];
		for (int k = 0; p->borders[i].is_input && k < v->consumer_count; k++)
			link_add(g, v->consumers[k], g->cast_node[i]);
	}
	for (int i = 0; i < g->conversions; i++)
		for (int k = 0; k < g->conversion[i].consumer_count; k++)
			link_add(g, g->conversion[i].consumers[k], g->conversion_node[i]);
}

static void edge_add(struct drawing *g, int from)
{
	g->st->edges[g->edge_count++] = from;
}

/* Predecessors of a conversion, or of a cast at an output. */
static void value_edges(struct drawing *g, int value, bool is_conversion)
{
	const struct plan *p = g->plan;
	int producer = p->values[value].producer;
	if (producer >= 0)
		edge_add(g, g->st->layer_node[producer]);
	for (int i = 0; is_conversion && i < p->border_count; i++)
		if (p->borders[i].is_input && p->borders[i].value == value)
			edge_add(g, g->cast_node[i]);
	for (int i = 0; !is_conversion && i < g->conversions; i++)
		if (g->conversion[i].value == value && !g->conversion[i].to_nxc)
			edge_add(g, g->conversion_node[i]);
}

static int add_conversion_edges(struct drawing *g, int producer, int next)
{
	const struct plan *p = g->plan;
	for (; next < g->conversions && p->values[g->conversion[next].value].producer <= producer; next++) {
		g->st->first[g->conversion_node[next]] = g->edge_count;
		value_edges(g, g->conversion[next].value, true);
	}
	return next;
}

/* Predecessors of a layer. One that folds has the layer whose result its readers read instead. */
static void add_layer_edges(struct drawing *g, const struct plan_layer *l)
{
	const struct plan *p = g->plan;
	bool folds = g->folds && g->folds[l->index];
	int value = folds ? l->fold_value : -1;
	if (folds && l->fold == FOLD_UNREAD)
		return;
	for (int k = g->head[l->index]; k >= 0; k = g->next[k])
		edge_add(g, g->from[k]);
	if (folds && l->fold == FOLD_SAME)
		edge_add(g, g->st->layer_node[l->fold_of]);
	else if (folds && !p->values[value].constant && p->values[value].producer >= 0)
		edge_add(g, g->st->layer_node[p->values[value].producer]);
	for (int k = 0; !folds && k < l->pred_count; k++)
		edge_add(g, g->st->layer_node[l->preds[k]]);
}

/* Writes predecessors as compressed sparse rows: node i has edges[first[i]] to edges[first[i + 1] - 1].
 * Nodes are visited in the order in which add_nodes numbered them, so the rows are contiguous. Linear in
 * nodes and edges, except that value_edges searches all casts or conversions, which are few. */
static void add_edges(struct drawing *g)
{
	struct study *st = g->st;
	const struct plan *p = g->plan;
	int conversion = add_conversion_edges(g, -1, 0);
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		st->first[st->layer_node[i]] = g->edge_count;
		add_layer_edges(g, l);
		conversion = add_conversion_edges(g, i, conversion);
	}
	for (int i = 0; i < p->border_count; i++) {
		if (p->borders[i].is_input)
			continue;
		st->first[g->cast_node[i]] = g->edge_count;
		value_edges(g, p->borders[i].value, false);
	}
	st->first[st->node_count] = g->edge_count;
}

/* ---- the what-if fold */

/* True if groups that have layer `target`, but not l, may leave its value inside a kernel. */
static bool is_inside(const struct study *st, const struct plan_layer *l, int target)
{
	const struct fusion *f = st->groups ? st->fusion : NULL;
	int cluster = f && target >= 0 ? f->cluster_of[target] : -1;
	if (cluster < 0)
		return false;
	const struct fusion_cluster *c = &f->clusters[cluster];
	bool direct = l->fold == FOLD_UNCHANGED && f->cluster_of[l->index] == cluster;
	return !direct && c->layers[c->layer_count - 1] != target;
}

static bool is_output_of(const struct plan *p, const struct plan_layer *l)
{
	for (int i = 0; i < l->output_count; i++)
		if (l->outputs[i] >= 0 && p->values[l->outputs[i]].is_output)
			return true;
	return false;
}

/* The layers that fold. alone: without regard to groups. From the last layer on, a layer whose result is read
 * folds only if what is read instead is there: no value inside a cluster. Where layers have their own
 * layouts, one that computes the same as another does not fold: its readers may want its result in another
 * layout. */
static void find_folds(const struct study *st, struct folded *f, bool alone)
{
	const struct plan *p = st->plan;
	bool *read = base_calloc((size_t)p->layer_count + 1, sizeof(bool));
	for (int i = p->layer_count - 1; i >= 0; i--) {
		const struct plan_layer *l = &p->layers[i];
		int target = plan_fold_target(p, l);
		bool wanted = read[i] || is_output_of(p, l);
		f->layer[i] = plan_layer_folds(l) && !(st->layouts && l->fold == FOLD_SAME) &&
			(alone || !wanted || !is_inside(st, l, target));
		f->layer_free[i] = f->layer[i] || l->class == CLASS_FREE;
		f->count += f->layer[i];
		if (f->layer[i])
			f->node_problem[st->layer_node[i]] = -1;
		if (f->layer[i] && wanted && target >= 0)
			read[target] = true;
		for (int k = 0; !f->layer[i] && k < l->pred_count; k++)
			read[l->preds[k]] = true;
	}
	free(read);
}

/* The graph with the fold: the same nodes, but layers that fold have no problem. */
static struct folded *fold_graph(struct drawing *g, int edges, bool alone)
{
	struct study *st = g->st;
	const struct plan *p = st->plan;
	struct arena *a = &st->arena;
	struct folded *f = ARENA_NEW(a, struct folded);
	*f = (struct folded){ .layer = ARENA_ARRAY(a, bool, p->layer_count),
		.layer_free = ARENA_ARRAY(a, bool, p->layer_count),
		.node_problem = ARENA_ARRAY(a, int, st->node_count),
		.first = ARENA_ARRAY(a, int, st->node_count + 1),
		.edges = ARENA_ARRAY(a, int, edges + p->fold_count),
		.no_chains = ARENA_ARRAY(a, int, st->groups ? st->fusion->cluster_count + 1 : 1) };
	memcpy(f->node_problem, st->node_problem, (size_t)st->node_count * sizeof(int));
	find_folds(st, f, alone);
	int *first = st->first, *list = st->edges;
	st->first = f->first;
	st->edges = f->edges;
	g->folds = f->layer;
	g->edge_count = 0;
	add_edges(g);
	st->first = first;
	st->edges = list;
	return f->count ? f : NULL;
}

static void study_fold(struct drawing *g, int edges)
{
	struct study *st = g->st;
	st->folded = fold_graph(g, edges, false);
	bool all = st->folded && st->folded->count == st->plan->fold_count;
	st->folded_alone = all || !st->groups ? st->folded : fold_graph(g, edges, true);
}

/* Builds the graph of one scenario in three passes: nodes in topological order, additional links, edges.
 * All arrays are allocated at their upper bounds first, so no pass reallocates. critical_path reads the
 * result. */
void study_graph(struct study *st)
{
	const struct plan *p = st->plan;
	struct arena *a = &st->arena, scratch = { 0 };
	struct drawing g = { .st = st, .plan = p, .conversions = st->conversion_count,
		.conversion = st->conversions };
	int nodes = p->layer_count + p->border_count + g.conversions, links = link_capacity(&g);
	st->layer_node = ARENA_ARRAY(a, int, p->layer_count);
	st->node_count = 0;
	st->node_layer = ARENA_ARRAY(a, int, nodes);
	st->node_problem = ARENA_ARRAY(a, int, nodes);
	st->first = ARENA_ARRAY(a, int, nodes + 1);
	g.conversion_node = st->conversion_node = ARENA_ARRAY(a, int, g.conversions);
	g.cast_node = ARENA_ARRAY(&scratch, int, p->border_count);
	g.head = ARENA_ARRAY(&scratch, int, p->layer_count);
	g.next = ARENA_ARRAY(&scratch, int, links);
	g.from = ARENA_ARRAY(&scratch, int, links);
	add_nodes(&g);
	add_links(&g);
	int edges = links + p->border_count + g.conversions;
	for (int i = 0; i < p->layer_count; i++)
		edges += p->layers[i].pred_count;
	/* a conversion can follow a cast, and a cast at an output a conversion */
	edges += p->border_count + g.conversions;
	st->edges = ARENA_ARRAY(a, int, edges);
	add_edges(&g);
	if (p->fold_count)
		study_fold(&g, edges);
	arena_free(&scratch);
}
