/* cuBLASLt, opened at run time: its functions, its errors and the one handle. */
#ifndef RUNNER_CUBLASLT_LIBRARY_H
#define RUNNER_CUBLASLT_LIBRARY_H

#include <cublasLt.h>
#include <stdbool.h>

#include "base/error.h"
#include "runner/cuda_library.h"

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
	_(cublasLtMatmul)

struct cublaslt_api {
	CUBLASLT_FUNCTIONS(CUDA_LIBRARY_MEMBER)
};

/* The functions; opens the library at the first call. NULL: it is missing or of another major version than this runner
 * was built with; err says which and the cure. A failure is remembered. */
const struct cublaslt_api *cublaslt_library(struct error *err);

/* The one handle, made at the first call on the context's device. NULL: err says why. Never while planning. */
cublasLtHandle_t cublaslt_handle(struct error *err);

/* -1 with "call: NAME_OF_STATUS"; 0 for success. */
int cublaslt_error(cublasStatus_t status, const char *call, struct error *err);

#endif
