/* The GPU as a device, and its backends. */
#include "config.h"

#include "runner/measure/platform.h"

#include <math.h>

#include "runner/gpu/cuda_context.h"
#include "runner/gpu/cuda_work.h"

#define TOLERANCE 0.01
#define GLANCE_NS 1e6
#define STEP_LIMIT_S 120 /* the slowest steps, engines compiled at run time, take a few seconds */
#define ALONE_NS 2e6 /* the start of a graph or of a kernel takes some microseconds */

/* In the order in which frameworks use them; a backend's preference() changes it for single problems. */
static const struct backend *const backends[] = {
	&backend_cudnn,
	&backend_cudnn_legacy,
	&backend_cublaslt,
	&backend_cuda,
	&backend_nvrtc,
	&backend_streams,
	NULL,
};

const struct platform platform = { .program = "benanza-runner-cuda",
	.has_device = true,
	.has_plan = true,
	.machine.shares_operands = true,
	.machine.approximates = true,
	.machine.glance_ns = GLANCE_NS,
	.machine.alone_ns = ALONE_NS,
	.step_limit_s = STEP_LIMIT_S,
	.machine.tolerance = TOLERANCE,
	.backends = backends,
	.prepare = cuda_context_prepare,
	.open = cuda_context_open,
	.enter = cuda_context_enter,
	.occupy = cuda_context_lock,
	.vacate = cuda_context_vacate,
	.memory_bytes = cuda_context_memory_bytes,
	.machine.long_ns = INFINITY,
	.machine.disturbances = cuda_context_disturbances,
	.doubt = cuda_context_doubt,
	.machine.is_alive = cuda_context_is_alive,
	.is_waiting = cuda_context_is_waiting,
	.loss = cuda_context_loss,
	.close = cuda_context_close };
