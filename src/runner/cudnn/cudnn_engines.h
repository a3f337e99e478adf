/* All engines of an operation graph, with the choices that they leave: what cuDNN can run beyond what its
 * heuristics return ("algorithms: all"). */
#ifndef RUNNER_CUDNN_ENGINES_H
#define RUNNER_CUDNN_ENGINES_H

#include "runner/cudnn/cudnn_plan.h"

#define CUDNN_ENGINE_MOST 64     /* maximum algorithms of one engine */
#define CUDNN_ENGINE_TRIES 16384 /* maximum combinations of knobs of one engine that cuDNN is asked about */
#define CUDNN_KNOB_INDICES 512   /* maximum values of a knob that begins at 0, an index: of a tile ... */
#define CUDNN_KNOB_AMOUNTS 16    /* ... that begins later: an amount, as of parts of a sum */

/* Numerical and behaviour notes as bits 1 << NOTE, the same for all choices of an engine. */
struct cudnn_notes {
	uint32_t numerical, behaviour;
};
struct cudnn_notes cudnn_notes_read(struct cudnn_bag *bag, cudnnBackendDescriptor_t engine);

/* Returns the number of engines of the graph, of which some do not support it; 0 if cuDNN does not say. */
int64_t cudnn_engine_count(struct cudnn_graph *g);
/* True if the engine (index from 0) supports the graph. Leaves nothing in the graph's bag. */
bool cudnn_engine_supports(struct cudnn_graph *g, int64_t index);

/* Calls `visit` for each combination of knobs of an engine that cuDNN accepts for the graph, all of them, or
 * at most `most` of CUDNN_ENGINE_TRIES that are spread over the whole (sweep.h). The knobs are in ascending
 * order of type, as in the results of the heuristics. An engine of which cuDNN accepts none, but
 * which it can configure by itself, is visited once, without knobs. `config` lives only during the call.
 * Leaves nothing in the graph's bag. */
void cudnn_engine_sweep(struct cudnn_graph *g, int64_t index, int most,
	void (*visit)(void *user, const struct cudnn_choice *choice, struct cudnn_notes notes,
		cudnnBackendDescriptor_t config),
	void *user);

#endif
