/* The parts of choose.c: options of units, and the choice of joins. */
#ifndef ANALYZE_CHOOSE_PRIVATE_H
#define ANALYZE_CHOOSE_PRIVATE_H

#include "analyze/choose/solution.h"

struct option {
	int group;      /* group that ends with the unit; -1: the unit alone */
	int missing;    /* layers without a cost */
	int estimated;  /* layers whose cost is a roofline */
	double finish;  /* path: when the value is ready, ns; sum: 0 */
	double cost;
};

struct chooser {
	const struct study *st;
	const struct solution *out;
	bool path;
	int *joined;    /* per layer: the join that it is in, or -1; NULL: no layer is in one */
	int *chosen;    /* per layer */
	double *cost;   /* per node, for the choice */
	double *finish; /* path: per node */
	/* scratch for one cluster, sized for the largest */
	struct option *best; /* per unit */
	int *stack;
	double *outer;  /* path, per unit of a chain: when what it reads from elsewhere is ready */
	bool *on_way;   /* per layer: in the group that is tried */
};

/* ---- choose.c */
void choice_add(struct option *o, const struct option *part);
/* Fewest gaps, then fewest estimates, then earliest finish, then lowest cost; false on a tie, so that the
 * shorter group, which is tried first, stays. */
bool choice_better(const struct option *a, const struct option *b);
/* Allocates the scratch of the largest cluster in arena a. */
void chooser_open(struct chooser *c, struct arena *a);
/* Fills c->best of all units of a cluster; returns that of its root. */
struct option chooser_cluster(const struct chooser *c, const struct fusion_cluster *cluster);
/* Layers of a group that are not free; free layers never count as estimated. */
int chooser_paying(const struct chooser *c, const struct fusion_group *g);
/* Sets when a layer's value is ready, and its conversions. */
void chooser_finish(const struct chooser *c, int node, double finish);

/* ---- choose_chain.c */
/* Solves a cluster that is a chain, without joins, and fills its part of the choice. */
void chooser_chain(const struct chooser *c, int cluster);

/* Layers that together cost a price: branches that run side by side (beside.c). Chosen as joins are. A number
 * from layer_count on is a node that is no layer. */
struct bundle {
	int layer_count;
	const int *layers;
	double ns;
};
struct bundles {
	int count;
	struct bundle *items;
	/* the joins and bundles (numbers from st->groups on) that compete */
	int contest_count;
	struct fusion_contest *contests;
};
static inline int chooser_node(const struct study *st, int layer)
{
	int count = st->plan->layer_count;
	return layer < count ? st->layer_node[layer] : layer - count;
}

/* ---- choose_besides.c */
/* Fills the contests, in arena a. */
void bundles_contest(const struct study *st, struct arena *a, struct bundles *b);

/* ---- choose_joins.c */
/* The cost of a joined layer's node: of the join at its last layer, of its copy at its first, else 0. */
double joined_cost(const struct solution *x, const struct study *st, int group, int layer);

#endif
