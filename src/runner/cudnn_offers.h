/* What cuDNN's graph API offers for a problem: the engine configurations that its heuristics name, best first. */
#ifndef RUNNER_CUDNN_OFFERS_H
#define RUNNER_CUDNN_OFFERS_H

#include "base/arena.h"
#include "runner/backend.h"
#include "runner/cudnn_graph.h"

#define CUDNN_ALGORITHMS 96 /* most that one problem has */
#define CUDNN_COMPILED 8    /* most of those whose kernels are compiled at preparation (half a second or more each), when
				measuring; $BENANZA_CUDNN_COMPILED says another number */
#define CUDNN_VARIANTS 2

struct cudnn_candidate {
	struct cudnn_graph *graph;
	cudnnBackendDescriptor_t config; /* in the graph's bag */
	uint32_t notes;                  /* bits of cudnnBackendNumericalNote_t */
	bool compiled;                   /* at run time: its plan takes long */
};

struct cudnn_offers {
	int users;                 /* the list, and plans: freed with the last */
	struct arena arena;
	struct problem problem;
	struct cudnn_graph *graph[CUDNN_VARIANTS];
	int count;
	struct cudnn_candidate candidate[CUDNN_ALGORITHMS];
	struct algorithm algorithm[CUDNN_ALGORITHMS];
};

/* The backend's slots of these names. */
int cudnn_algorithms(const struct problem *p, struct backend_list *list, struct error *err);
void cudnn_forget(struct backend_list *list);
void cudnn_offers_release(struct cudnn_offers *o);

/* A finalized plan in `bag` (for the context's GPU, here or described), and what it needs; NULL: the bag says why. */
cudnnBackendDescriptor_t cudnn_plan_make(struct cudnn_bag *bag, cudnnBackendDescriptor_t config,
	double *workspace_bytes);
/* Describes the GPU that is planned for, in `bag`; NULL when measuring. */
cudnnBackendDescriptor_t cudnn_deviceprop_make(struct cudnn_bag *bag);

/* --- pure, for tests --- */

/* "tensor_core winograd ..." of numerical notes and behaviour notes, in the arena. */
const char *cudnn_notes_text(struct arena *a, uint32_t numerical, uint32_t behaviour);
/* The math mode of struct algorithm, of an engine with these notes on operands of this type. */
const char *cudnn_math_name(enum dtype source, uint32_t numerical);

#endif
