/* The graph in which branches are found: a group of fused layers is one node. Members of a join make it
 * necessary to sort again, because a reader of one member can come before the last one. */
#include "config.h"

#include "analyze/branches/beside_private.h"

#include <stdlib.h>
#include <string.h>

struct maker {
	struct beside_graph *g;
	struct arena *a;
	const int *first, *edges, *node_of;
	int *seen;             /* per node: the last node that it was listed for */
};

/* Lists the predecessors of each node, each once. */
static void list_in(struct maker *m, const int *parts, const int *next)
{
	struct beside_graph *g = m->g;
	int count = 0;
	for (int i = 0; i < g->count; i++) {
		g->in_first[i] = count;
		for (int p = parts[i]; p >= 0; p = next[p])
			for (int e = m->first[p]; e < m->first[p + 1]; e++) {
				int from = m->node_of[m->edges[e]];
				if (from == i || m->seen[from] == i)
					continue;
				m->seen[from] = i;
				g->in[count++] = from;
			}
	}
	g->in_first[g->count] = count;
}

static void list_out(struct beside_graph *g, struct arena *a)
{
	int *at = ARENA_ARRAY(a, int, g->count + 1);
	for (int e = 0; e < g->in_first[g->count]; e++)
		g->out_first[g->in[e] + 1]++;
	for (int i = 0; i < g->count; i++)
		at[i] = g->out_first[i + 1] += g->out_first[i];
	for (int i = 0; i < g->count; i++)
		at[i] = g->out_first[i];
	for (int i = 0; i < g->count; i++)
		for (int e = g->in_first[i]; e < g->in_first[i + 1]; e++)
			g->out[at[g->in[e]]++] = i;
}

/* Kahn 1962. */
static void sort(struct beside_graph *g, struct arena *a)
{
	int *open = ARENA_ARRAY(a, int, g->count), put = 0;
	for (int i = 0; i < g->count; i++) {
		open[i] = g->in_first[i + 1] - g->in_first[i];
		if (!open[i])
			g->order[put++] = i;
	}
	for (int at = 0; at < put; at++) {
		int node = g->order[at];
		g->place[node] = at;
		for (int e = g->out_first[node]; e < g->out_first[node + 1]; e++)
			if (--open[g->out[e]] == 0)
				g->order[put++] = g->out[e];
	}
	g->sorted = put;
}

/* Removes edges from free nodes that depend on nothing, such as constants, which no node waits for. */
static void drop_constants(struct beside_graph *g, struct arena *a)
{
	bool *constant = ARENA_ARRAY(a, bool, g->count);
	int *left = ARENA_ARRAY(a, int, g->count), count = 0;
	for (int at = 0; at < g->count; at++) {
		int node = g->order[at], kept = 0;
		for (int e = g->in_first[node]; e < g->in_first[node + 1]; e++)
			if (!constant[g->in[e]])
				g->in[g->in_first[node] + kept++] = g->in[e];
		left[node] = kept;
		constant[node] = !kept && g->kind[node] == BESIDE_FREE;
	}
	for (int i = 0; i < g->count; i++) {
		int from = g->in_first[i];
		g->in_first[i] = count;
		for (int k = 0; k < left[i]; k++)
			g->in[count++] = g->in[from + k];
	}
	g->in_first[g->count] = count;
	memset(g->out_first, 0, ((size_t)g->count + 1) * sizeof(int));
}

void beside_graph(struct beside_graph *g, struct arena *a, int count, const int *first, const int *edges,
	const int *node_of, const enum beside_kind *kind, const double *weight)
{
	struct maker m = { .g = g, .a = a, .first = first, .edges = edges, .node_of = node_of };
	int *parts = ARENA_ARRAY(a, int, count), *next = ARENA_ARRAY(a, int, count);
	*g = (struct beside_graph){ .count = count, .kind = kind, .weight = weight,
		.in_first = ARENA_ARRAY(a, int, count + 1), .in = ARENA_ARRAY(a, int, first[count]),
		.out_first = ARENA_ARRAY(a, int, count + 1), .out = ARENA_ARRAY(a, int, first[count]),
		.order = ARENA_ARRAY(a, int, count), .place = ARENA_ARRAY(a, int, count) };
	m.seen = ARENA_ARRAY(a, int, count);
	for (int i = 0; i < count; i++)
		parts[i] = m.seen[i] = -1;
	for (int i = count - 1; i >= 0; i--) {
		next[i] = parts[node_of[i]];
		parts[node_of[i]] = i;
	}
	list_in(&m, parts, next);
	list_out(g, a);
	sort(g, a);
	drop_constants(g, a);
	list_out(g, a);
}
