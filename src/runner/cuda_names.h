/* Names of the kernels of an execution, out of its captured graph: nothing has to be traced, so that nothing is slower
 * afterwards. CUPTI (cuda_cupti.h) is for what cannot be captured. */
#ifndef RUNNER_CUDA_NAMES_H
#define RUNNER_CUDA_NAMES_H

#include <cuda_runtime_api.h>

#include "base/error.h"
#include "base/str.h"

/* Adds the names, one a line in the order of their capture; copies and fills as "[memcpy]", "[memset]". -1: the driver does
 * not name all of them; nothing is added. */
int cuda_names_of(cudaGraph_t graph, struct str *names, struct error *err);

#endif
