/* Names of the kernels of an execution, read from its captured graph. Unlike tracing with CUPTI
 * (cuda_cupti.h) this does not slow down later launches; CUPTI is only used if the execution cannot be
 * captured. */
#ifndef RUNNER_CUDA_NAMES_H
#define RUNNER_CUDA_NAMES_H

#include <cuda_runtime_api.h>

#include "base/error.h"
#include "base/str.h"

/* Adds the names to `names`, one per line in order of capture; copies and fills as "[memcpy]" and "[memset]".
 * Returns -1, sets err and adds nothing if the driver cannot name every node. */
int cuda_names_of(cudaGraph_t graph, struct str *names, struct error *err);

#endif
