#include "config.h"

#include "analyze/analyze_private.h"

/* The graph of a study: layers, casts at model inputs and outputs, and conversions between layouts, each
 * after the producer of its value. A reader of a converted value keeps its edge to the producer: the
 * path through the conversion is never shorter. */

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
		for (int k = g->head[i]; k >= 0; k = g->next[k])
			edge_add(g, g->from[k]);
		for (int k = 0; k < l->pred_count; k++)
			edge_add(g, st->layer_node[l->preds[k]]);
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

/* Builds the graph of one scenario in three passes: nodes in topological order, additional links, edges.
 * All arrays are allocated at their upper bounds first, so no pass reallocates. critical_path reads the
 * result. */
void study_graph(struct study *st)
{
	const struct plan *p = st->plan;
	struct arena *a = &st->arena;
	struct drawing g = { .st = st, .plan = p, .conversions = st->conversion_count,
		.conversion = st->conversions };
	int nodes = p->layer_count + p->border_count + g.conversions, links = link_capacity(&g);
	st->layer_node = ARENA_ARRAY(a, int, p->layer_count);
	st->node_count = 0;
	st->node_layer = ARENA_ARRAY(a, int, nodes);
	st->node_problem = ARENA_ARRAY(a, int, nodes);
	st->first = ARENA_ARRAY(a, int, nodes + 1);
	g.conversion_node = st->conversion_node = ARENA_ARRAY(a, int, g.conversions);
	g.cast_node = ARENA_ARRAY(a, int, p->border_count);
	g.head = ARENA_ARRAY(a, int, p->layer_count);
	g.next = ARENA_ARRAY(a, int, links);
	g.from = ARENA_ARRAY(a, int, links);
	add_nodes(&g);
	add_links(&g);
	int edges = links + p->border_count + g.conversions;
	for (int i = 0; i < p->layer_count; i++)
		edges += p->layers[i].pred_count;
	/* a conversion can follow a cast, and a cast at an output a conversion */
	st->edges = ARENA_ARRAY(a, int, edges + p->border_count + g.conversions);
	add_edges(&g);
}
