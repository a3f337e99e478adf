/* What a backend of a GPU library stands on, in host memory: a device context, a loader that finds a vendor's functions in
 * the test program itself, operands that lie as their problem says. The test program holds stand-ins of the vendor's
 * functions that compute from the descriptors they were given; standin_worst then compares what came out with plain C. */
#ifndef CUDA_STANDIN_H
#define CUDA_STANDIN_H

#include "runner/cuda_work.h"

/* Of the context: may be changed by a test. */
extern struct cuda_context standin_context;
/* The stream that enqueue gets. */
#define STANDIN_STREAM ((cudaStream_t)0x5eed)

/* Parses a problem and asks the backend. The count; -1: refused, err says why. Forget the list with backend->forget. */
int standin_ask(const struct backend *b, const char *text, struct backend_list *list, struct error *err);

/* Plans algorithm `index`, executes it on host memory and compares every output. Returns the largest error relative to the
 * sum of absolute terms, rounding of the output type included; infinite for what was not written; NaN: not run, err says why. */
double standin_worst(const struct backend_list *list, int index, struct error *err);

/* Bytes of workspace of the last plan, and where it was. */
extern double standin_workspace_bytes;

#endif
