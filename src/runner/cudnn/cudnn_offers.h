/* Lists the algorithms of cuDNN's graph API for a problem: the engine configurations returned by its
 * heuristics, best first. */
#ifndef RUNNER_CUDNN_OFFERS_H
#define RUNNER_CUDNN_OFFERS_H

#include "base/arena.h"
#include "runner/measure/backend.h"
#include "runner/cudnn/cudnn_form.h"
#include "runner/cudnn/cudnn_graph.h"

#define CUDNN_ALGORITHMS 96 /* maximum per problem */
/* Maximum number of engines compiled at run time (half a second or more each) that are measured per problem;
 * $BENANZA_CUDNN_COMPILED overrides it. */
#define CUDNN_COMPILED 8
#define CUDNN_VARIANTS 2    /* maximum graphs per form of a problem */

struct cudnn_candidate {
	struct cudnn_graph *graph;
	cudnnBackendDescriptor_t config; /* in the graph's bag */
	uint32_t notes;                  /* bits of cudnnBackendNumericalNote_t */
	bool compiled;                   /* compiled at run time: finalizing its plan is slow */
};

struct cudnn_offers {
	int users;                 /* the list and each plan; freed with the last one */
	struct arena arena;
	struct problem problem;
	struct cudnn_form form[CUDNN_FORMS];
	int chosen;                /* the form that has engines; all candidates are of it */
	struct cudnn_graph *graph[CUDNN_FORMS][CUDNN_VARIANTS]; /* NULL: not built */
	int count;
	struct cudnn_candidate candidate[CUDNN_ALGORITHMS];
	struct algorithm algorithm[CUDNN_ALGORITHMS];
};

/* algorithms and forget of struct backend. */
int cudnn_algorithms(const struct problem *p, struct backend_list *list, struct error *err);
void cudnn_forget(struct backend_list *list);
/* Removes a user. */
void cudnn_offers_release(struct cudnn_offers *o);

/* Makes a finalized plan in `bag` for the context's GPU, real or described, and sets its workspace; NaN if
 * unknown. Returns NULL on failure; the bag has the reason. */
cudnnBackendDescriptor_t cudnn_plan_make(struct cudnn_bag *bag, cudnnBackendDescriptor_t config,
	double *workspace_bytes);
/* Makes a descriptor of the described GPU in `bag`. Returns NULL when measuring. */
cudnnBackendDescriptor_t cudnn_deviceprop_make(struct cudnn_bag *bag);

/* --- pure; public for tests --- */

/* Returns the names of numerical and behaviour notes, like "tensor_core winograd", in the arena. */
const char *cudnn_notes_text(struct arena *a, uint32_t numerical, uint32_t behaviour);
/* Returns the math mode (of struct algorithm) of an engine with these notes and this operand type. */
const char *cudnn_math_name(enum dtype source, uint32_t numerical);

#endif
