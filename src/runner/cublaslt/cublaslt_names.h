/* Names and numerical properties of cuBLASLt's algorithms. */
#ifndef RUNNER_CUBLASLT_NAMES_H
#define RUNNER_CUBLASLT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/cublaslt/cublaslt_library.h"

#define CUBLASLT_NAME_SIZE 160

/* Writes a name like "algo66 tile128x128 stages64x3 cluster2x1x1 splitk4 reduce2"; default settings are left
 * out. */
void cublaslt_name(const struct cublaslt_api *api, const cublasLtMatmulAlgo_t *algo, char *name, size_t size);
/* Returns the bits CUBLASLT_NUMERICAL_IMPL_FLAGS_...; 0 if unknown. */
uint64_t cublaslt_flags(const struct cublaslt_api *api, const cublasLtMatmulAlgo_t *algo);
/* Writes the flags as words like "hmma in_tf32 acc_f32". */
void cublaslt_notes(uint64_t flags, char *notes, size_t size);

#endif
