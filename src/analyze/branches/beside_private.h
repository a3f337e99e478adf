/* Branches that can run side by side: found in a graph, priced, and chosen. Private to analyze. */
#ifndef ANALYZE_BESIDE_PRIVATE_H
#define ANALYZE_BESIDE_PRIVATE_H

#include "analyze/branches/besides.h"
#include "problem/beside.h"

#define BESIDE_BRANCH_PARTS 10 /* most problems of a branch; of a longer one the end runs afterwards */

enum beside_kind {
	BESIDE_NONE,  /* no node: it is part of another */
	BESIDE_FREE,  /* takes no time */
	BESIDE_RUNS,  /* runs a problem */
	BESIDE_APART  /* in no branch: control flow, no problem ... */
};

/* A graph of nodes; predecessors and successors as compressed rows, each once. */
struct beside_graph {
	int count;
	const enum beside_kind *kind;
	const double *weight;       /* of nodes that run: which branches are kept of too many */
	int *in_first, *in, *out_first, *out;
	int *order, *place;         /* topological: order[place[node]] == node */
	int sorted;                 /* nodes in that order; fewer than count: the others are in a circle */
};
/* Makes the graph in arena a: preds of node i are edges[first[i]] ..., as in critical_path; node_of says
 * which node each belongs to (itself, or the one that it is part of). kind and weight are borrowed. Edges
 * from free nodes that depend on nothing are left out. */
void beside_graph(struct beside_graph *g, struct arena *a, int count, const int *first, const int *edges,
	const int *node_of, const enum beside_kind *kind, const double *weight);

/* Branches that are independent of each other: the predecessors of each node are in its branch, or are the
 * fork, so all of them can run at once right after it. */
struct beside_set {
	int fork;                   /* -1: they depend on nothing */
	int branch_count, first[BESIDE_BRANCHES + 1];
	int node[BESIDE_PARTS];     /* the nodes that run, branch by branch, in topological order */
};
struct beside_sets {
	int count, capacity;
	struct beside_set *items;   /* malloc'd */
};
/* Finds sets of two branches or more, at most two per fork:
 *   - all components between a fork and the node where all paths from it join, if they are few nodes:
 *     inception blocks, residual blocks, branches that fork again;
 *   - the chains that begin at a fork, up to the first node that something else reads or that reads something
 *     else: matmuls of one value, heads.
 * The caller frees items. Linear in nodes and edges. */
void beside_find(const struct beside_graph *g, struct beside_sets *sets);

/* ---- beside_match.c: where measured problems side by side can run */

/* A place of a measured problem: its parts are layers and groups that the scenario allows, whatever groups
 * the choice for the sum has. What a part reads is the fork, or in its own branch. */
struct beside_place {
	struct beside_set set;      /* fork: unused. A group by its last node */
	int group[BESIDE_PARTS];    /* per node of the set: its group, or -1: the node alone */
	double cost[BESIDE_PARTS];  /* ... and what it costs alone */
	const char *text;
	struct price price;
	double alone_ns;            /* more than its price */
	double border_ns;           /* ... of nodes that are no layers */
	int layer_count, *layers;   /* all of them, ascending; from the plan's layer_count on: nodes that are
				       no layers */
	int other;                  /* another place with the same first layer, or -1 */
};
struct beside_places {
	int count, capacity;
	struct beside_place *items; /* malloc'd; those that save most first. Their arrays are in the arena */
};
/* Finds the places at which a measured problem takes less than its parts alone. Linear in nodes and edges if
 * few problems fit at a fork; of many places at one fork, only some are found. x: priced, with the graph of
 * what runs. The caller frees items. */
void beside_match(const struct study *st, const struct scenario *s, struct arena *a,
	const struct solution *x, struct beside_places *places);

/* Chooses the sets that save most without sharing a node; saves: per set, not above 0 or NaN: never chosen.
 * Exact where few of them compete, else the best found. Returns what they save together. */
double beside_choose(const struct beside_sets *sets, const double *saves, int node_count, bool *chosen);

#endif
