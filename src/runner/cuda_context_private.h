/* Shared by the files that make up the context. */
#ifndef RUNNER_CUDA_CONTEXT_PRIVATE_H
#define RUNNER_CUDA_CONTEXT_PRIVATE_H

#include "runner/cuda_context.h"

#define CUDA_LEAST_SM 75 /* the lowest that this toolkit's compiler makes code for */

/* The description of a device that is not here (data/devices): fills the context and the attributes. */
int cuda_context_plan(const char *path, struct arena *a, struct cuda_context *c, json_t *attributes, struct error *err);

/* Which of the GPUs here is meant; properties of the one found. NULL: the first. */
int cuda_context_choose(const char *wanted, int *ordinal, struct cudaDeviceProp *p, struct error *err);
/* "GPU-8f..." of the runtime's bytes. */
void cuda_context_uuid(const cudaUUID_t *u, char *text, int size);

/* What is recorded of an open GPU, with NVML's readings and warnings. */
void cuda_context_describe(const struct cuda_context *c, const struct cudaDeviceProp *p, json_t *attributes);
/* Variables that bend numbers. */
void cuda_context_environment(json_t *attributes);
/* Adds a line to the attribute "warnings", and to the log. */
void cuda_context_warn(json_t *attributes, const char *line);

#endif
