/* The GPU that this process measures on, or the described GPU that it plans for. One per process, opened by
 * the platform. */
#ifndef RUNNER_CUDA_CONTEXT_H
#define RUNNER_CUDA_CONTEXT_H

#include <cuda_runtime_api.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "problem/result.h"
#include "runner/measure/platform.h"

#if CUDART_VERSION < 12080
#error "the GPU runner needs CUDA 12.8 or newer"
#endif
/* The version in the names of the toolkit's libraries; CUPTI's newest record of a kernel, which gets a new
 * name whenever fields are added at its end. */
#if CUDART_VERSION >= 13000
#define CUDA_MAJOR "13"
#define CUDA_CUPTI_KERNEL CUpti_ActivityKernel10
#else
#define CUDA_MAJOR "12"
#define CUDA_CUPTI_KERNEL CUpti_ActivityKernel9
#endif
#define CUDA_LEAST_SM 75 /* lowest compute capability (7.5) that this toolkit's compiler supports */

struct cuda_context {
	bool is_open;             /* else only the members of a closed context are set */
	bool planning;            /* no device: of a backend, only algorithms() may be called */
	int ordinal;              /* device number of the CUDA runtime */
	int sm;                   /* 90 = compute capability 9.0 */
	char name[256], uuid[64];
	double memory_bytes, l2_bytes;
	int multiprocessors;
	double clock_khz;         /* default SM clock */
	cudaStream_t stream;      /* all work is enqueued here; NULL when planning */
	const char *software;     /* versions of all libraries and the driver; NULL while opening */
	const char *deviceprop;   /* planning: JSON text for CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR */
	const char *caveat;       /* planning: what limits the use of such plans, or "" */
	bool poisoned;            /* lost: nothing can run in this context any more */
};

/* platform.prepare: sends log lines (warnings, waiting for the lock) to standard error. */
void cuda_context_prepare(const struct platform_options *o, char **argv);
/* Opens the GPU chosen by the options (a number in PCI bus order, "cuda:1", a UUID or its beginning), or with
 * --plan reads the description of a GPU without calling the driver. Then probes platform.backends and
 * describes the device. Strings live in the arena. Returns -1 and sets err (with the fix) if nothing can be
 * measured or planned. Warnings (GPU in use, missing library) go to the log and into the attributes. */
int cuda_context_open(const struct platform_options *o, struct arena *a, struct device *d, struct error *err);
void cuda_context_close(void);
/* platform.enter: the CUDA runtime has a current device per thread. No effect when planning. */
int cuda_context_enter(struct error *err);
/* The other members of struct platform. */
double cuda_context_memory_bytes(void);
int64_t cuda_context_disturbances(void);
bool cuda_context_is_alive(void);
bool cuda_context_is_waiting(void);
const struct platform_loss *cuda_context_loss(void);
/* Returns why times measured on this GPU cannot be trusted (cuda_calibrate.h), or NULL. Calibrates the timer
 * if that is not done, and waits for the lock before. */
const char *cuda_context_doubt(void);
/* Counts one more sample taken at a reduced clock. */
void cuda_context_disturb(void);
/* Keeps other benanza processes from measuring on this GPU until the matching unlock; locks nest. Waits while
 * another process holds the lock. No effect when planning. Returns -1 and sets err if the lock file cannot be
 * locked. */
int cuda_context_lock(struct error *err);
void cuda_context_unlock(void);
/* Unlocks, and frees the memory that is kept for the next algorithm of a problem: other processes need it. */
void cuda_context_vacate(void);

/* Returns the context; the platform must be open. */
const struct cuda_context *cuda_context(void);

/* Returns 0 if c is cudaSuccess. Else clears the runtime's error, sets err ("cudaMalloc: out of memory") and
 * returns -1. Sets `poisoned` if the error is one that ends the CUDA context, or if the context does not
 * answer any more (cudaErrorUnknown, for example, may last or not). */
int cuda_error(cudaError_t c, const char *call, struct error *err);
/* After an error of a library: sets `poisoned` if the context does not answer any more. `after` names the
 * work. Does not wait. */
void cuda_context_probe(const char *after);
/* Returns what run() of struct backend returns for the error: STATUS_UNSUPPORTED if the GPU or the driver
 * lacks what the call needs, STATUS_NO_MEMORY, else -1. */
int cuda_refusal(cudaError_t c);
bool cuda_error_is_memory(cudaError_t c);

#endif
