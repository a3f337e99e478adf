/* cuBLASLt, opened at run time: its functions, its errors and the handle. */
#ifndef RUNNER_CUBLASLT_LIBRARY_H
#define RUNNER_CUBLASLT_LIBRARY_H

#include <cublasLt.h>
#include <stdbool.h>

#include "base/error.h"
#include "runner/gpu/cuda_library.h"

/* Products of 8-bit floats may have one scale per row of A and per column of B. */
#define CUBLASLT_HAS_OUTER (CUBLAS_VERSION >= 120900)

#define CUBLASLT_FUNCTIONS(_)                     \
	_(cublasLtGetVersion)                     \
	_(cublasLtGetStatusName)                  \
	_(cublasLtCreate)                         \
	_(cublasLtMatmulDescCreate)               \
	_(cublasLtMatmulDescDestroy)              \
	_(cublasLtMatmulDescSetAttribute)         \
	_(cublasLtMatrixLayoutCreate)             \
	_(cublasLtMatrixLayoutDestroy)            \
	_(cublasLtMatrixLayoutSetAttribute)       \
	_(cublasLtMatmulPreferenceCreate)         \
	_(cublasLtMatmulPreferenceDestroy)        \
	_(cublasLtMatmulPreferenceSetAttribute)   \
	_(cublasLtMatmulAlgoGetHeuristic)         \
	_(cublasLtMatmulAlgoCapGetAttribute)      \
	_(cublasLtMatmulAlgoConfigGetAttribute)   \
	_(cublasLtMatmulAlgoConfigSetAttribute)   \
	_(cublasLtMatmulAlgoGetIds)               \
	_(cublasLtMatmulAlgoInit)                 \
	_(cublasLtMatmulAlgoCheck)                \
	_(cublasLtMatmul)

struct cublaslt_api {
	CUBLASLT_FUNCTIONS(CUDA_LIBRARY_MEMBER)
};

/* Returns the functions; opens the library at the first call. Returns NULL and sets err (with the fix) if it
 * is missing or its major version is not the one this runner was built with. A failure is remembered. */
const struct cublaslt_api *cublaslt_library(struct error *err);

/* Returns the calling thread's handle, created at its first call on the context's device. Returns NULL and
 * sets err on failure. Must not be called while planning. */
cublasLtHandle_t cublaslt_handle(struct error *err);

/* Returns 0 for success; else sets err to "CALL: NAME_OF_STATUS" and returns STATUS_UNSUPPORTED if cuBLASLt
 * refuses (not supported, or not on this GPU), STATUS_NO_MEMORY, or -1. */
int cublaslt_error(cublasStatus_t status, const char *call, struct error *err);

#endif
