/* Fakes what a backend of a GPU library needs, in host memory: a device context, a loader that finds the
 * vendor's functions in the test program itself, and operands in the layouts of the problem. The test program
 * has fakes of the vendor's functions, which compute from the descriptors that they get; standin_worst
 * compares the result with plain C. */
#ifndef CUDA_STANDIN_H
#define CUDA_STANDIN_H

#include "runner/gpu/cuda_work.h"

/* The context; tests may change it. */
extern struct cuda_context standin_context;
/* The stream passed to enqueue. */
#define STANDIN_STREAM ((cudaStream_t)0x5eed)

/* Parses a problem and lists its algorithms. Returns their number; -1 and sets err if the problem is refused.
 * The caller frees the list with backend->forget. */
int standin_ask(const struct backend *b, const char *text, struct backend_list *list, struct error *err);
/* The same, with all algorithms (struct backend_list). */
int standin_ask_all(const struct backend *b, const char *text, struct backend_list *list, struct error *err);

/* Plans algorithm `index`, executes it on host memory and compares every output with its reference value,
 * exact or rounded to the output type. Returns the largest error relative to the sum of absolute terms;
 * INFINITY if an output is unwritten; NaN and sets err if it could not run. */
double standin_worst(const struct backend_list *list, int index, struct error *err);

/* Bytes of workspace of the last plan, and what its enqueue returned. */
extern double standin_workspace_bytes;
extern int standin_enqueued;

#endif
