/* The GPU that this process measures on, or the described one that it plans for. One a process, opened by the platform. */
#ifndef RUNNER_CUDA_CONTEXT_H
#define RUNNER_CUDA_CONTEXT_H

#include <cuda_runtime_api.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "problem/result.h"
#include "runner/platform.h"

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

/* First of all: what is logged (warnings, waiting for the lock) goes to standard error. */
void cuda_context_prepare(const struct platform_options *o, char **argv);
/* Opens the GPU that the options choose (a number in the order of the PCI bus, "cuda:1", a UUID or its start), or with
 * --plan reads the description of one and touches no driver; then probes platform.backends and describes the device.
 * Strings live in the arena. -1: nothing can be measured (or planned); err says why and what to do. Warnings (a GPU in
 * use, a library that is missing) go to the log and into the attributes. */
int cuda_context_open(const struct platform_options *o, struct arena *a, struct device *d, struct error *err);
void cuda_context_close(void);
/* The rest of struct platform. */
double cuda_context_memory_bytes(void);
int64_t cuda_context_disturbances(void);
bool cuda_context_is_alive(void);
/* One more sample of which the clock had fallen. */
void cuda_context_disturb(void);
/* No other process measures on this GPU from take to give; they count. Planning: nothing happens. */
int cuda_context_take(struct error *err);
void cuda_context_give(void);

/* Never NULL after the platform has opened. */
const struct cuda_context *cuda_context(void);

/* -1 with "cudaMalloc: out of memory" and the like; a sticky error poisons the context. 0 when c is cudaSuccess. */
int cuda_error(cudaError_t c, const char *call, struct error *err);
bool cuda_error_is_memory(cudaError_t c);

#endif
