/* Shared by the cuda_context*.c files. */
#ifndef RUNNER_CUDA_CONTEXT_PRIVATE_H
#define RUNNER_CUDA_CONTEXT_PRIVATE_H

#include "runner/gpu/cuda_context.h"

/* cuda_error.c: the one context of this process, open or not. */
struct cuda_context *cuda_state(void);
/* Empties and opens it; its owner fills it. */
struct cuda_context *cuda_state_open(void);
void cuda_state_close(void);

/* Reads the description of a device (data/devices) into the context and the attributes. */
int cuda_context_plan(
	const char *path, struct arena *a, struct cuda_context *c, json_t *attributes, struct error *err);

/* Finds the GPU named by `wanted` (NULL: the first) and reads its properties. Returns -1 and sets err, which
 * lists the available GPUs, if none or several match. */
int cuda_context_choose(const char *wanted, int *ordinal, struct cudaDeviceProp *p, struct error *err);
/* Formats a UUID as "GPU-8f...", or as "MIG-8f..." if CUDA_VISIBLE_DEVICES names a MIG instance. */
void cuda_context_uuid(const cudaUUID_t *u, char *text, int size);

/* Adds the properties of an open GPU and NVML's readings to the attributes. */
void cuda_context_describe(const struct cuda_context *c, const struct cudaDeviceProp *p, json_t *attributes);
/* Records the environment variables that can distort measurements as the attribute "environment". */
void cuda_context_environment(json_t *attributes);
/* Adds a line to the attribute "warnings", and to the log. */
void cuda_context_warn(json_t *attributes, const char *line);

#endif
