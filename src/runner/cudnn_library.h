/* cuDNN, opened at run time: its functions, its errors and the one handle. The graph and the legacy backend share it. */
#ifndef RUNNER_CUDNN_LIBRARY_H
#define RUNNER_CUDNN_LIBRARY_H

#include <cudnn.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "runner/cuda_library.h"

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

/* libcudnn.so.9 exports these too and loads the library that holds them at the first call. */
#define CUDNN_LEGACY_FUNCTIONS(_)                    \
	_(cudnnCreateTensorDescriptor)               \
	_(cudnnSetTensorNdDescriptor)                \
	_(cudnnDestroyTensorDescriptor)              \
	_(cudnnCreateFilterDescriptor)               \
	_(cudnnSetFilterNdDescriptor)                \
	_(cudnnDestroyFilterDescriptor)              \
	_(cudnnCreateConvolutionDescriptor)          \
	_(cudnnSetConvolutionNdDescriptor)           \
	_(cudnnSetConvolutionMathType)               \
	_(cudnnSetConvolutionGroupCount)             \
	_(cudnnDestroyConvolutionDescriptor)         \
	_(cudnnGetConvolutionForwardAlgorithm_v7)    \
	_(cudnnGetConvolutionForwardWorkspaceSize)   \
	_(cudnnConvolutionForward)                   \
	_(cudnnConvolutionBiasActivationForward)     \
	_(cudnnGetConvolutionBackwardDataAlgorithm_v7)  \
	_(cudnnGetConvolutionBackwardDataWorkspaceSize) \
	_(cudnnConvolutionBackwardData)              \
	_(cudnnCreateActivationDescriptor)           \
	_(cudnnSetActivationDescriptor)              \
	_(cudnnSetActivationDescriptorSwishBeta)     \
	_(cudnnDestroyActivationDescriptor)          \
	_(cudnnActivationForward)                    \
	_(cudnnCreatePoolingDescriptor)              \
	_(cudnnSetPoolingNdDescriptor)               \
	_(cudnnDestroyPoolingDescriptor)             \
	_(cudnnPoolingForward)                       \
	_(cudnnSoftmaxForward)                       \
	_(cudnnBatchNormalizationForwardInference)   \
	_(cudnnCreateOpTensorDescriptor)             \
	_(cudnnSetOpTensorDescriptor)                \
	_(cudnnDestroyOpTensorDescriptor)            \
	_(cudnnOpTensor)                             \
	_(cudnnAddTensor)                            \
	_(cudnnScaleTensor)                          \
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

/* The functions; opens the library at the first call. NULL: cuDNN is missing, of another major version, or too old for
 * what is asked (planning without a device needs 9.8); err says which and the cure. A failure is remembered. */
const struct cudnn_api *cudnn_library(struct error *err);

/* 91900 = 9.19.0. 0 before cudnn_library has succeeded. */
int cudnn_version(void);

/* The one handle, made at the first call, on the stream of cuda_context(). NULL: err says why. Never while planning. */
cudnnHandle_t cudnn_handle(struct error *err);
/* The same, on this stream. */
cudnnHandle_t cudnn_handle_on(cudaStream_t stream, struct error *err);

/* -1 with "call: NAME_OF_STATUS: the library's own reason", one line; 0 for success. */
int cudnn_error(cudnnStatus_t status, const char *call, struct error *err);
/* -1 with "what: the library's own reason" for a call that succeeded and yet gave nothing, as heuristics do. */
int cudnn_error_reason(const char *what, struct error *err);
/* Forgets reasons that nobody asked for. */
void cudnn_error_forget(void);
/* Pure: may this version of the library be used? -1: err says which is needed. */
int cudnn_version_check(int version, bool planning, struct error *err);
/* Pure: the causes in what cudnnGetLastErrorString gives, on one line. That text has a block for each engine, the cause
 * first and then every place it passed through; engines that are for other GPUs are left out where others say more. */
void cudnn_reason(const char *raw, char *text, size_t size);
/* Would less memory have helped? */
bool cudnn_error_is_memory(cudnnStatus_t status);

#endif
