/* Groups of layers that can be fused. */
#ifndef ANALYZE_FUSION_FUSION_H
#define ANALYZE_FUSION_FUSION_H

#include "analyze/scenario/scenario.h"
#include "plan/plan.h"

#define FUSION_LAYERS_MAX 24 /* most layers of one group */

/* A fusion candidate: a chain of layers whose inner values have a single consumer. Its first layer is the
 * anchor: a convolution or matmul followed by layers fused into it, the first of several pointwise layers, or
 * the first matmul of attention (matmul, scale, softmax, matmul).
 * There may be a million groups, so what only few have is behind a pointer. */
struct fusion_group {
	int *layers;             /* ascending; layers[0] is the anchor */
	const char *text;
	const char *text_nxc;    /* the same with the what-if layout on; NULL: a conversion inside the group
				    prevents it */
	const char *pattern;     /* "Conv+BatchNorm+Relu" */
	enum fusion_level level : 8; /* the lowest choice of the what-if that allows it */
	bool proxy : 1;          /* the problem is a stand-in */
	int layer_count : 16;
	int residual;            /* layer whose output a fused binary operation reads; -1: none, or a model
				    input */
	int distinct;            /* index of text: a problem of the plan if below plan_problem_total, else
	                            texts[distinct - plan_problem_total] of struct fusion */
	int distinct_nxc;        /* index of text_nxc, or -1 */
	struct fusion_join *join; /* NULL: it is no join */
};

/* A join: matmuls of one value, which run as one with their weights side by side. Each member's result is a
 * part of the columns. Members read only that value and constants, so no path leads from one to another, and
 * running them together delays nothing that one of them needs. */
struct fusion_join {
	int member_count, *members; /* the matmul of each member, ascending; 2 or more */
	int copy;                /* the distinct problem that copies the parts whose readers need them dense;
				    -1: none */
	const char *copy_text;   /* NULL: none */
};

/* The copy of a group; -1 or NULL: it has none. */
static inline int fusion_copy(const struct fusion_group *g)
{
	return g->join ? g->join->copy : -1;
}

static inline const char *fusion_copy_text(const struct fusion_group *g)
{
	return g->join ? g->join->copy_text : NULL;
}

/* A pattern that is no group, at one of its layers. */
struct fusion_miss {
	int layer;
	const char *pattern, *why;
};

/* Layers that are fused together or not at all: one layer, or all layers of an activation written as several
 * operators. */
struct fusion_unit {
	int layer_count, child_count, ending_count;
	int *layers;                 /* ascending */
	int *children;               /* units of its cluster whose value only it reads */
	int *ending;                 /* groups whose last unit it is, shortest first */
};

/* Groups that compete for the same layers. Inner values of a group have one reader, so a cluster is a tree of
 * units; only the root's value is read outside. Clusters are therefore solved one by one. */
struct fusion_cluster {
	int anchor_count;
	int layer_count, *layers;    /* of all its groups, ascending */
	int unit_count;
	struct fusion_unit *units;   /* ascending by their last layers: children before parents */
};

/* Joins that compete: they share a layer, or a cluster of other groups has layers of both. */
struct fusion_contest {
	int join_count, *joins;      /* groups */
	int cluster_count, *clusters;
	int single_count, *singles;  /* layers of the joins that are in no cluster */
};

/* Fusion candidates of a plan, found once per plan: for every anchor all prefixes of the longest chain, so
 * that a group can end at any layer. Groups of one anchor are adjacent, shortest first. Pointwise layers are
 * anchors if they cannot be fused into a convolution or matmul. */
struct fusion {
	struct arena arena;
	int group_count;
	struct fusion_group *groups; /* malloc'd: there may be very many */
	int *first_group;        /* per layer: index of its first group if it is an anchor, else -1 */
	int miss_count;
	struct fusion_miss *misses; /* ascending by layer */
	int text_count;          /* distinct problem texts that are not in the plan, of both layouts */
	const char **texts;
	bool *text_is_nxc;       /* per text: used only with the what-if layout on */
	int cluster_count;       /* ascending by their last layer */
	struct fusion_cluster *clusters;
	int *cluster_of;         /* per layer: its cluster, or -1; joins are in none */
	int *endings;            /* the groups that end with each unit, unit after unit */
	int contest_count;
	struct fusion_contest *contests;
};

/* The caller frees the result with fusion_free; it borrows texts of the plan. */
struct fusion *fusion_find(const struct plan *p);
void fusion_free(struct fusion *f);

#endif
