/* cuDNN, opened at run time: its functions, its errors and the handle, shared by the graph and the legacy
 * backend. */
#ifndef RUNNER_CUDNN_LIBRARY_H
#define RUNNER_CUDNN_LIBRARY_H

#include <cudnn.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "runner/gpu/cuda_library.h"

#define CUDNN_GRAPH_FUNCTIONS(_)       \
	_(cudnnGetVersion)             \
	_(cudnnGetErrorString)         \
	_(cudnnGetLastErrorString)     \
	_(cudnnCreate)                 \
	_(cudnnDestroy)                \
	_(cudnnSetStream)              \
	_(cudnnGraphVersionCheck)      \
	_(cudnnOpsVersionCheck)        \
	_(cudnnCnnVersionCheck)        \
	_(cudnnAdvVersionCheck)        \
	_(cudnnBackendCreateDescriptor)  \
	_(cudnnBackendDestroyDescriptor) \
	_(cudnnBackendFinalize)        \
	_(cudnnBackendSetAttribute)    \
	_(cudnnBackendGetAttribute)    \
	_(cudnnBackendExecute)

/* libcudnn.so.9 exports these too and loads the sub-library that implements them at the first call. */
#define CUDNN_LEGACY_FUNCTIONS(_)                    \
	_(cudnnCreateTensorDescriptor)               \
	_(cudnnSetTensorNdDescriptor)                \
	_(cudnnDestroyTensorDescriptor)              \
	_(cudnnCreatePoolingDescriptor)              \
	_(cudnnSetPoolingNdDescriptor)               \
	_(cudnnDestroyPoolingDescriptor)             \
	_(cudnnPoolingForward)                       \
	_(cudnnSoftmaxForward)                       \
	_(cudnnBatchNormalizationForwardInference)   \
	_(cudnnTransformTensor)                      \
	_(cudnnCreateLRNDescriptor)                  \
	_(cudnnSetLRNDescriptor)                     \
	_(cudnnDestroyLRNDescriptor)                 \
	_(cudnnLRNCrossChannelForward)               \
	_(cudnnCreateReduceTensorDescriptor)         \
	_(cudnnSetReduceTensorDescriptor)            \
	_(cudnnDestroyReduceTensorDescriptor)        \
	_(cudnnGetReductionWorkspaceSize)            \
	_(cudnnReduceTensor)                         \
	_(cudnnCreateDropoutDescriptor)              \
	_(cudnnSetDropoutDescriptor)                 \
	_(cudnnDestroyDropoutDescriptor)             \
	_(cudnnDropoutGetStatesSize)                 \
	_(cudnnDropoutGetReserveSpaceSize)           \
	_(cudnnDropoutForward)                       \
	_(cudnnCreateRNNDescriptor)                  \
	_(cudnnSetRNNDescriptor_v8)                  \
	_(cudnnDestroyRNNDescriptor)                 \
	_(cudnnCreateRNNDataDescriptor)              \
	_(cudnnSetRNNDataDescriptor)                 \
	_(cudnnDestroyRNNDataDescriptor)             \
	_(cudnnGetRNNWeightSpaceSize)                \
	_(cudnnGetRNNWeightParams)                   \
	_(cudnnGetRNNTempSpaceSizes)                 \
	_(cudnnRNNForward)

struct cudnn_api {
	CUDNN_GRAPH_FUNCTIONS(CUDA_LIBRARY_MEMBER)
	CUDNN_LEGACY_FUNCTIONS(CUDA_LIBRARY_MEMBER)
};

/* Returns the functions; opens the library at the first call. Returns NULL and sets err (with the fix) if
 * cuDNN is missing, has another major version, or is older than 9.8 when planning without a device. A failure
 * is remembered. */
const struct cudnn_api *cudnn_library(struct error *err);

/* Returns 91900 for 9.19.0; 0 before cudnn_library has succeeded. */
int cudnn_version(void);

/* Returns the calling thread's handle, created at its first call, on the stream of cuda_context(). Returns
 * NULL and sets err on failure. Must not be called while planning. */
cudnnHandle_t cudnn_handle(struct error *err);
/* The same, on another stream. */
cudnnHandle_t cudnn_handle_on(cudaStream_t stream, struct error *err);

/* Returns 0 for success; else sets err to "CALL: NAME_OF_STATUS: cuDNN's reason", one line, and returns
 * STATUS_UNSUPPORTED if cuDNN refuses (its category NOT_SUPPORTED), STATUS_NO_MEMORY, or -1. */
int cudnn_error(cudnnStatus_t status, const char *call, struct error *err);
/* Returns -1 and sets err to "WHAT: cuDNN's reason", for calls that succeed but return nothing, as heuristics
 * do. */
int cudnn_error_reason(const char *what, struct error *err);
/* Discards the reasons that cuDNN has stored so far. */
void cudnn_error_forget(void);
/* Returns -1 and sets err if this version of cuDNN cannot be used. Pure. */
int cudnn_version_check(int version, bool planning, struct error *err);
/* Extracts the causes from the text of cudnnGetLastErrorString into one line. That text has a block per
 * engine: the cause first, then the call stack. Engines for other GPUs are left out if there are other
 * causes. Pure. */
void cudnn_reason(const char *raw, char *text, size_t size);
/* True if the call failed for lack of memory. */
bool cudnn_error_is_memory(cudnnStatus_t status);

#endif
