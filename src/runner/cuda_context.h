/* The GPU that this process measures on, or the described one that it plans for. One a process, opened by the platform. */
#ifndef RUNNER_CUDA_CONTEXT_H
#define RUNNER_CUDA_CONTEXT_H

#include <cuda_runtime_api.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

struct cuda_context {
	bool planning;            /* no device: only algorithms() may be asked */
	int ordinal;              /* of the CUDA runtime */
	int sm;                   /* 90 = compute capability 9.0 */
	char name[256], uuid[64];
	double memory_bytes, l2_bytes;
	int multiprocessors;
	double clock_khz;         /* default SM clock */
	cudaStream_t stream;      /* everything is enqueued here; NULL when planning */
	const char *deviceprop;   /* planning: JSON text for CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR */
	const char *caveat;       /* planning: "planned by this cuDNN, not served by this build" or "" */
	bool poisoned;            /* a kernel faulted: nothing runs in this context any more */
};

/* Never NULL after the platform has opened. */
const struct cuda_context *cuda_context(void);

/* -1 with "cudaMalloc: out of memory" and the like; a sticky error poisons the context. 0 when c is cudaSuccess. */
int cuda_error(cudaError_t c, const char *call, struct error *err);
bool cuda_error_is_memory(cudaError_t c);

#endif
