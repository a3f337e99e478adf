/* Plans of cuDNN's graph API. A plan is made from a choice, an engine and its knobs, in an operation graph of
 * its own: no descriptor is shared, so several threads can make plans at once. Each uses its own handle, as
 * NVIDIA requires ("Thread Safety" in the documentation of cuDNN). A thread that makes a plan hands it
 * over: it is executed on another handle, as plans depend on the properties of the device alone ("Deviceless
 * Ahead-of-time Compilation"; CUDNN_ATTR_EXECUTION_PLAN_HANDLE is deprecated in cuDNN 9.19). */
#ifndef RUNNER_CUDNN_PLAN_H
#define RUNNER_CUDNN_PLAN_H

#include "problem/result.h"
#include "runner/cudnn/cudnn_graph.h"

#define CUDNN_KNOBS 64 /* maximum of an engine */

struct cudnn_knob {
	cudnnBackendKnobType_t type;
	int64_t value;
};

/* What identifies a plan of a problem. */
struct cudnn_choice {
	int variant;                /* of cudnn_graph_build */
	bool compiled;              /* compiled at run time: takes half a second or more */
	int64_t engine;             /* CUDNN_ATTR_ENGINE_GLOBAL_INDEX */
	int knob_count;
	struct cudnn_knob knob[CUDNN_KNOBS];
};

struct cudnn_plan {
	struct problem problem;
	struct cudnn_graph graph;   /* borrows the problem; its bag owns all descriptors */
	cudnnBackendDescriptor_t d; /* NULL: it failed, for the reason in `why` */
	double workspace_bytes;
	enum status status;         /* ok, no_memory, unsupported or failed */
	struct error why;
};

/* Makes a finalized plan for the context's GPU, real or described; compiles an engine that is compiled
 * at run time. Never returns NULL; the result needs cudnn_plan_free. Several threads may call it at
 * once. A compiled plan is kept on disk (plan_cache.h), and one that was kept is used if cuDNN accepts it. */
struct cudnn_plan *cudnn_plan_new(const struct problem *p, const struct cudnn_choice *choice);
void cudnn_plan_free(struct cudnn_plan *plan);

/* Makes a finalized plan of an engine configuration in `bag`, and sets its workspace; NaN if unknown. Returns
 * NULL on failure; the bag has the reason. */
cudnnBackendDescriptor_t cudnn_plan_make(struct cudnn_bag *bag, cudnnBackendDescriptor_t config,
	double *workspace_bytes);
/* Makes the engine of a graph with a global index, in the graph's bag. Returns NULL if cuDNN refuses it. */
cudnnBackendDescriptor_t cudnn_engine_make(struct cudnn_graph *g, int64_t index);
/* Makes the engine configuration of a choice for a graph, in the graph's bag. engine: that of the choice,
 * from cudnn_engine_make; NULL: makes it. Returns NULL on failure. */
cudnnBackendDescriptor_t cudnn_config_make(struct cudnn_graph *g, cudnnBackendDescriptor_t engine,
	const struct cudnn_choice *choice);
/* Makes a descriptor of the described GPU in `bag`. Returns NULL when measuring. */
cudnnBackendDescriptor_t cudnn_deviceprop_make(struct cudnn_bag *bag);

#endif
