/* Shapes of element-wise kernels and reductions for cuDNN. Their dimensions have no meaning, so those that
 * are contiguous in every operand are merged. cuDNN's engines for such graphs take batches of row-major
 * matrices or channels-last tensors; for the latter the innermost dimension in memory gets index 1. */
#ifndef RUNNER_CUDNN_MERGE_H
#define RUNNER_CUDNN_MERGE_H

#include "runner/cudnn/cudnn_graph.h"

#define CUDNN_MERGED (4 + PROBLEM_EPILOGUES) /* maximum number of operands */

/* Sets a shape per layout, all of the same rank. The layouts broadcast against each other, aligned at the
 * last dimension. Up to three merged dimensions become matrices unless `images` is set; others become
 * channels-last tensors. Pure. */
void cudnn_merge(const struct cuda_layout *l, int count, bool images, struct cudnn_tensor *shape);

#endif
