/* State of the process's CUDA context, and the errors that end it. */
#include "config.h"

#include "runner/gpu/cuda_context.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "runner/gpu/cuda_context_private.h"

#define STATE_CLOSED                                                                                         \
	{                                                                                                    \
		.ordinal = -1, .caveat = "", .memory_bytes = NAN, .l2_bytes = NAN, .clock_khz = NAN          \
	}
static struct cuda_context context = STATE_CLOSED;
static struct platform_loss loss; /* valid if the context is poisoned */
static int64_t disturbances;

struct cuda_context *cuda_state(void)
{
	return &context;
}

struct cuda_context *cuda_state_open(void)
{
	context = (struct cuda_context)STATE_CLOSED;
	context.is_open = true;
	return &context;
}

void cuda_state_close(void)
{
	context = (struct cuda_context)STATE_CLOSED;
	disturbances = 0;
}

const struct cuda_context *cuda_context(void)
{
	assert(context.is_open);
	return &context;
}

/* Errors that end the process's CUDA context (runtime API, cudaError): every later call fails. Some are
 * raised by the kernel that ran, others by the hardware, the driver or another process. */
static const struct lasting {
	cudaError_t error;
	bool by_kernel;
} lasting[] = {
	{ cudaErrorIllegalAddress, true },
	{ cudaErrorLaunchTimeout, true },
	{ cudaErrorAssert, true },
	{ cudaErrorHardwareStackError, true },
	{ cudaErrorIllegalInstruction, true },
	{ cudaErrorMisalignedAddress, true },
	{ cudaErrorInvalidAddressSpace, true },
	{ cudaErrorInvalidPc, true },
	{ cudaErrorLaunchFailure, true },
	{ cudaErrorTensorMemoryLeak, true },
	{ cudaErrorECCUncorrectable, false },
	{ cudaErrorNvlinkUncorrectable, false },
	{ cudaErrorContained, false },
	{ cudaErrorContextIsDestroyed, false },
	{ cudaErrorMpsClientTerminated, false },
	{ cudaErrorMpsRpcFailure, false },
	{ cudaErrorExternalDevice, false },
	{ cudaErrorCudartUnloading, false },
	{ cudaErrorDeviceUninitialized, false },
};

static const struct lasting *lasting_find(cudaError_t c)
{
	for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++)
		if (lasting[i].error == c)
			return &lasting[i];
	return NULL;
}

/* Returns the error of a context that no longer answers, else cudaSuccess. The stream must be idle or busy,
 * and the driver must answer; neither call waits. A stream that captures is not asked, as that would
 * invalidate the capture: what the capture was for fails later. */
static cudaError_t context_ask(void)
{
	enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
	size_t unused, all;
	if (!context.stream)
		return cudaSuccess;
	cudaError_t c = cudaStreamIsCapturing(context.stream, &capture);
	if (c == cudaSuccess && capture != cudaStreamCaptureStatusNone)
		return cudaSuccess;
	if (c == cudaSuccess)
		c = cudaStreamQuery(context.stream);
	if (c == cudaSuccess || c == cudaErrorNotReady)
		c = cudaMemGetInfo(&unused, &all);
	cudaGetLastError();
	return c;
}

static void loss_note(cudaError_t c, const char *call)
{
	const struct lasting *l = lasting_find(c);
	if (context.poisoned)
		return;
	context.poisoned = true;
	loss.by_problem = l && l->by_kernel;
	snprintf(loss.why, sizeof(loss.why), "%s: %s (%s)", call, cudaGetErrorString(c), cudaGetErrorName(c));
}

const struct platform_loss *cuda_context_loss(void)
{
	return context.poisoned ? &loss : NULL;
}

void cuda_context_probe(const char *after)
{
	cudaError_t c = context.poisoned ? cudaSuccess : context_ask();
	if (c != cudaSuccess)
		loss_note(c, after);
}

int cuda_error(cudaError_t c, const char *call, struct error *err)
{
	if (c == cudaSuccess)
		return 0;
	cudaGetLastError(); /* so that the next check does not return this error again */
	if (lasting_find(c))
		loss_note(c, call);
	else
		cuda_context_probe(call);
	return error_set(err, "%s: %s%s", call, cudaGetErrorString(c),
		context.poisoned ? "; this process can no longer use the GPU" : "");
}

int cuda_refusal(cudaError_t c)
{
	return c == cudaErrorNotSupported || c == cudaErrorNoKernelImageForDevice ||
			c == cudaErrorUnsupportedPtxVersion
		? STATUS_UNSUPPORTED
		: cuda_error_is_memory(c) ? STATUS_NO_MEMORY : -1;
}

bool cuda_error_is_memory(cudaError_t c)
{
	return c == cudaErrorMemoryAllocation;
}

int64_t cuda_context_disturbances(void)
{
	return disturbances;
}

void cuda_context_disturb(void)
{
	disturbances++;
}

bool cuda_context_is_alive(void)
{
	return !context.poisoned;
}
