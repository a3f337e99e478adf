/* What an algorithm of cuBLASLt is called, and what it says of its numerics. */
#ifndef RUNNER_CUBLASLT_NAMES_H
#define RUNNER_CUBLASLT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/cublaslt_library.h"

#define CUBLASLT_NAME_SIZE 160

/* "algo66 tile128x128 stages64x3 cluster2x1x1 splitk4 reduce2": settings that are off or the default have no word. */
void cublaslt_name(const struct cublaslt_api *api, const cublasLtMatmulAlgo_t *algo, char *name, size_t size);
/* CUBLASLT_NUMERICAL_IMPL_FLAGS_...; 0: the library does not tell. */
uint64_t cublaslt_flags(const struct cublaslt_api *api, const cublasLtMatmulAlgo_t *algo);
/* "hmma in_tf32 acc_f32" */
void cublaslt_notes(uint64_t flags, char *notes, size_t size);

#endif
