/* One tree model > layer > kernel of an execution beside the bound: measured, bound, ratio and gap at each
 * node. Reports print it, a view can fold it. */
#ifndef ANALYZE_TREE_H
#define ANALYZE_TREE_H

#include "analyze/real/reality.h"

enum tree_kind {
	TREE_MODEL,
	TREE_LAYER,  /* rows and layers that belong together (struct reality_group) */
	TREE_ADDED,  /* a row that the framework added: a reorder, cast, pad or copy */
	TREE_FOREIGN,/* a row without layers */
	TREE_ABSENT, /* a layer of the bound without a row */
	TREE_KERNEL,
	TREE_KIND_COUNT
};
const char *tree_kind_name(enum tree_kind k); /* "model" "layer" "added" "unmatched" "absent" "kernel" */

struct tree_node {
	enum tree_kind kind;
	int depth, parent;      /* 0 and -1: the model */
	int end;                /* index behind its last descendant: children are from its own index + 1 to
				   here, and folding it skips there */
	const char *name;       /* clean; for several layers the first and the number of others: "conv1 +2" */
	const char *op;         /* the framework's operator, else its name for the row; "" for kernels */
	int group;              /* of the reality, or -1 */
	int row;                /* first row of the execution, or -1 */
	int layer;              /* first layer of the plan, or -1 */
	int layer_count;
	double real_ns;         /* of layers less the profiler's predicted cost */
	double bound_ns;        /* NaN for rows without layers, and for kernels of a layer that has several */
	double ratio, gap_ns;   /* bound / real, real - bound; NaN unless both are known; no ratio where both
				   are not comparable (USE_RATIO) */
	bool estimated;         /* bound_ns contains estimates or proxies: print `~` */
};

struct tree {
	int count;
	struct tree_node *nodes; /* depth first: node 0 is the model */
};
/* Children in order of execution, then kernels of unknown layers, then layers without rows. All in
 * the arena; the inputs must outlive it. The sum of the children's real_ns is that of the profile, which may
 * differ from the model's (the launch). */
struct tree *tree_of(
	struct arena *a, const struct reality *y, const struct plan *p, const struct analysis *bound);

#endif
