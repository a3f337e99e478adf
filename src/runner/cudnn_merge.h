/* Shapes of plain kernels for cuDNN. Their dimensions mean nothing, so those that lie together in every operand are told
 * as one. cuDNN's engines for such graphs take batches of row-major matrices, or tensors with channels last, which here
 * means: what is innermost in memory stands second. */
#ifndef RUNNER_CUDNN_MERGE_H
#define RUNNER_CUDNN_MERGE_H

#include "runner/cudnn_graph.h"

#define CUDNN_MERGED (4 + PROBLEM_EPILOGUES) /* most operands */

/* Shapes for layouts that broadcast against each other (aligned at the last dimension), all of the same rank: up to
 * three dimensions as matrices, unless `images`; else as tensors with channels last. Pure. */
void cudnn_merge(const struct cuda_layout *l, int count, bool images, struct cudnn_tensor *shape);

#endif
