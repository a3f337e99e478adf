/* Depth-first topological sort, for files whose nodes are in another order than that of execution. O(nodes
 * + edges). */
#include "config.h"

#include "model/load.h"

#include <string.h>

/* For every node, the nodes that must run before it; the lists follow each other in one array. */
struct needs {
	int *nodes;
	size_t *first; /* node_count + 1 start indexes */
};

static void needs_add(const struct graph *g, int value, struct needs *n, size_t *used)
{
	if (value < 0 || g->values[value].producer < 0)
		return;
	if (n->nodes)
		n->nodes[*used] = g->values[value].producer;
	++*used;
}

/* Adds what a node depends on: the producers of its inputs and of values that its bodies capture. */
static void needs_of_node(const struct graph *g, const struct node *node, struct needs *n, size_t *used)
{
	for (int i = 0; i < node->input_count; i++)
		needs_add(g, node->inputs[i], n, used);
	for (int i = 0; i < node->attribute_count; i++) {
		const struct graph *body = node->attributes[i].graph;
		for (int v = 0; body && v < body->value_count; v++)
			needs_add(g, body->values[v].outer, n, used);
	}
}

static struct needs needs_make(struct loader *l, const struct graph *g)
{
	struct needs n = { NULL, ARENA_ARRAY(&l->scratch, size_t, g->node_count + 1) };
	size_t used = 0;
	for (int i = 0; i < g->node_count; i++)
		needs_of_node(g, &g->nodes[i], &n, &used);
	n.nodes = ARENA_ARRAY(&l->scratch, int, used);
	used = 0;
	for (int i = 0; i < g->node_count; i++) {
		n.first[i] = used;
		needs_of_node(g, &g->nodes[i], &n, &used);
	}
	n.first[g->node_count] = used;
	return n;
}

/* The first node that depends on itself or a later one, or -1. */
static int first_unsorted(const struct graph *g, const struct needs *n)
{
	for (int i = 0; i < g->node_count; i++)
		for (size_t k = n->first[i]; k < n->first[i + 1]; k++)
			if (n->nodes[k] >= i)
				return i;
	return -1;
}

enum { SORT_NEW, SORT_OPEN, SORT_DONE };

/* Depth-first topological sort: appends `root` to the order after all nodes that it depends on. The stack is
 * explicit, because a chain may be as long as the file. Returns -1, or a node on a cycle. */
static int sort_from(int root, const struct needs *n, unsigned char *state, size_t *next, int *stack,
	int *order, int *ordered)
{
	int depth = 0;
	if (state[root] == SORT_DONE)
		return -1;
	stack[depth++] = root;
	state[root] = SORT_OPEN;
	while (depth > 0) {
		int node = stack[depth - 1];
		if (next[node] == n->first[node + 1]) {
			state[node] = SORT_DONE;
			order[(*ordered)++] = node;
			depth--;
			continue;
		}
		int needed = n->nodes[next[node]++];
		if (state[needed] == SORT_OPEN)
			return needed;
		if (state[needed] == SORT_NEW) {
			state[needed] = SORT_OPEN;
			stack[depth++] = needed;
		}
	}
	return -1;
}

static void apply_order(struct loader *l, struct graph *g, const int *order)
{
	struct node *nodes = ARENA_ARRAY(l->arena, struct node, g->node_count);
	int *place = ARENA_ARRAY(&l->scratch, int, g->node_count);
	for (int i = 0; i < g->node_count; i++) {
		nodes[i] = g->nodes[order[i]];
		place[order[i]] = i;
	}
	g->nodes = nodes;
	for (int v = 0; v < g->value_count; v++)
		if (g->values[v].producer >= 0)
			g->values[v].producer = place[g->values[v].producer];
}

int load_sort(struct loader *l, struct graph *g)
{
	struct needs n = needs_make(l, g);
	int early = first_unsorted(g, &n);
	if (early < 0)
		return 0;
	unsigned char *state = ARENA_ARRAY(&l->scratch, unsigned char, g->node_count);
	size_t *next = ARENA_ARRAY(&l->scratch, size_t, g->node_count);
	int *stack = ARENA_ARRAY(&l->scratch, int, g->node_count);
	int *order = ARENA_ARRAY(&l->scratch, int, g->node_count);
	int ordered = 0;
	memcpy(next, n.first, (size_t)g->node_count * sizeof(*next));
	for (int i = 0; i < g->node_count; i++) {
		int looped = sort_from(i, &n, state, next, stack, order, &ordered);
		if (looped >= 0)
			return error_set(l->err,
				"node \"%s\" depends on its own output: the graph has a cycle",
				load_shown(l, node_label(&l->scratch, &g->nodes[looped], looped)));
	}
	load_warn(l,
		"the nodes are not in execution order (\"%s\" precedes a node on which it depends); benanza "
		"sorted them",
		load_shown(l, node_label(&l->scratch, &g->nodes[early], early)));
	apply_order(l, g, order);
	return 0;
}
