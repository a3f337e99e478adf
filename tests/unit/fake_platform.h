/* The CUDA runner's platform on the fake runtime (fake_cudart.h), and its device, on which tests measure. */
#ifndef FAKE_PLATFORM_H
#define FAKE_PLATFORM_H

#include "fake_backend.h"
#include "fake_cudart.h"
#include "runner/gpu/cuda_context.h"
#include "runner/measure/platform.h"
#include "runner/protocol/job.h"
#include "seen_results.h"
#include "tap.h"

/* list: its backends. */
#define FAKE_PLATFORM(list)                                                                             \
	{                                                                                               \
		.program = "benanza-runner-cuda",                                                       \
		.machine = { .shares_operands = true, .tolerance = 0.01, .long_ns = INFINITY,           \
			.disturbances = cuda_context_disturbances, .is_alive = cuda_context_is_alive }, \
		.backends = (list), .occupy = cuda_context_lock, .vacate = cuda_context_vacate,         \
		.memory_bytes = cuda_context_memory_bytes, .doubt = cuda_context_doubt,                 \
		.loss = cuda_context_loss                                                               \
	}

static struct seen seen; /* what the last job emitted */
static struct arena arena;
static struct device device;
static struct error err;

/* Opens the context on the fake GPU as it is; the texts of `device` are in the arena. */
static void platform_open(void)
{
	struct platform_options options = { 0 };
	seen.count = 0;
	err = (struct error)ERROR_NONE;
	if (cuda_context_open(&options, &arena, &device, &err))
		printf("# %s\n", err.text);
}

/* A job on the device, whose results `seen` keeps; *left_out counts the algorithms left out. Cache and launch
 * states are the caller's. */
static struct job platform_job(const char *problem, int *left_out)
{
	*left_out = 0;
	return (struct job){ .problem = problem, .left_out = left_out, .budget_ns = 50e6, .device = &device,
		.user = &seen, .cancelled = seen_cancelled, .trying = seen_trying, .emit = seen_emit };
}

#endif
