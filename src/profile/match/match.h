/* Finds the layers of the plan that a row of an execution runs. Frameworks rename, fuse, split and add nodes;
 * rows are matched, in this order: by the names of the model's nodes that the framework reports, by the
 * region of the graph between the row's input and output tensors (names without the suffixes that layouts
 * add), by the row's own name, by operator and shapes in order of execution. */
#ifndef PROFILE_MATCH_MATCH_H
#define PROFILE_MATCH_MATCH_H

#include "plan/plan.h"
#include "problem/execution.h"

/* MATCH_REST: a subgraph that a compiler took as a whole (TensorRT, OpenVINO, Core ML, Myelin). The row has
 * all layers that no other row runs; several such rows share them. */
enum match_how { MATCH_NONE, MATCH_NODES, MATCH_TENSORS, MATCH_NAME, MATCH_ORDER, MATCH_ADDED, MATCH_REST };

/* Kinds of nodes that a framework adds. Costs are summed by kind. */
#define ADDED_LIST(_)          \
	_(REORDER, "reorder")   \
	_(CAST, "cast")         \
	_(PAD, "pad")           \
	_(COPY, "copy")         \
	_(OTHER, "other")
enum added {
#define ADDED_ENUM(id, name) ADDED_##id,
	ADDED_LIST(ADDED_ENUM)
#undef ADDED_ENUM
	ADDED_COUNT
};
const char *added_name(enum added a);
const char *match_how_name(enum match_how how); /* "none" "nodes" "tensors" "name" "order" "added"
						       * "rest" */

struct match_row {
	enum match_how how;
	double confidence; /* 0 to 1: 1 for names that the framework reports, less for the others */
	enum added added;  /* MATCH_ADDED */
	int layer_count;   /* layers of the plan's main graph, ascending; several: fused */
	int *layers;
};

/* In the arena of match_execution. A kernel has the match of its layer. */
struct match {
	int row_count;
	struct match_row *rows;       /* of each row of the execution */
	int layer_count;
	int *row_of_layer;            /* first row of each layer of the plan, or -1 */
	bool *merged; /* of each layer: no row runs it, because equal ones run once (common subexpressions) */
	int merged_layers;
	int rest_rows, rest_layers;   /* of MATCH_REST */
	int runs;                     /* runs of the model among the rows; above 1 only if matched by order
					 and the source does not separate runs */
	/* sums of ns over the rows of the topmost level (layers, else kernels), per run of the model */
	double total_ns, matched_ns, added_ns, unmatched_ns;
	double added_by_ns[ADDED_COUNT];
};

/* Returns how to get the layers of rows with MATCH_REST; NULL without such rows. A constant. */
const char *match_rest_hint(const struct execution *e, const struct match *m);

/* Matches the rows of an execution with the layers of the plan. In arena a; it borrows from both. */
struct match *match_execution(struct arena *a, const struct execution *e, const struct plan *p);

#endif
