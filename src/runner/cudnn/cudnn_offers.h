/* Lists the algorithms of cuDNN's graph API for a problem: the engine configurations returned by its
 * heuristics, best first; if all are asked for, then those that its engines have beyond them. */
#ifndef RUNNER_CUDNN_OFFERS_H
#define RUNNER_CUDNN_OFFERS_H

#include "base/arena.h"
#include "runner/measure/backend.h"
#include "runner/cudnn/cudnn_engines.h"
#include "runner/cudnn/cudnn_form.h"
#include "runner/cudnn/cudnn_plan.h"

#define CUDNN_ALGORITHMS 512 /* maximum per problem; the heuristics return up to 95 (docs/gpu.md) */
#define CUDNN_VARIANTS 2    /* maximum graphs per form of a problem */

#define CUDNN_SPACE_ALIGNMENT 256 /* of the converted source behind the engine's workspace */

struct cudnn_candidate {
	int form;                  /* index of its form */
	struct cudnn_choice choice;
	struct cudnn_plan *plan;   /* made ahead by cudnn_compile; NULL: not made, or taken */
};

struct cudnn_offers {
	struct arena arena;
	struct problem problem;
	struct cudnn_form form[CUDNN_FORMS];
	int chosen;                /* the form that is asked */
	struct cudnn_graph *graph[CUDNN_VARIANTS]; /* of that form, while listing; then NULL */
	bool all;                  /* of struct backend_list */
	int left_out;
	int count;
	struct cudnn_candidate candidate[CUDNN_ALGORITHMS];
	struct algorithm algorithm[CUDNN_ALGORITHMS];
};

/* algorithms, compile and forget of struct backend. */
int cudnn_algorithms(const struct problem *p, struct backend_list *list, struct error *err);
void cudnn_compile(const struct backend_list *list, int index);
void cudnn_forget(struct backend_list *list);
/* Returns the plan that was made ahead, once, else makes one. The caller owns it; it may have failed. */
struct cudnn_plan *cudnn_plan_take(const struct backend_list *list, int index);

/* --- pure; public for tests --- */

/* Returns the names of numerical and behaviour notes, like "tensor_core winograd", in the arena. */
const char *cudnn_notes_text(struct arena *a, uint32_t numerical, uint32_t behaviour);
/* Returns the math mode (of struct algorithm) of an engine with these notes and this operand type. */
const char *cudnn_math_name(enum dtype source, uint32_t numerical);

#endif
