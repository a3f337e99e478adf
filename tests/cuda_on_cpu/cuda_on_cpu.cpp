#include "cuda_on_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define FIBER_START(save, bottom, size) __sanitizer_start_switch_fiber(save, bottom, size)
#define FIBER_FINISH(save, bottom, size) __sanitizer_finish_switch_fiber(save, bottom, size)
#else
#define FIBER_START(save, bottom, size) ((void)(save), (void)(bottom), (void)(size))
#define FIBER_FINISH(save, bottom, size) ((void)(save), (void)(bottom), (void)(size))
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
int64_t on_cpu_fast_max = 2147483647;

#define FIBERS 1024
#define STACK_BYTES ((size_t)128 * 1024)

struct fiber {
	ucontext_t context;
	char *stack;
	bool done, waits;
	void *fake_stack;
};

static struct fiber fibers[FIBERS];
static ucontext_t scheduler;
static void *scheduler_fake_stack;
static const void *scheduler_bottom;
static size_t scheduler_size;
static struct fiber *running;
static const std::function<void()> *running_thread;
static uint64_t ticks;

uint64_t on_cpu_tick(void)
{
	return ++ticks;
}

static void fiber_leave(struct fiber *f, bool ends)
{
	FIBER_START(ends ? NULL : &f->fake_stack, scheduler_bottom, scheduler_size);
	swapcontext(&f->context, &scheduler);
	FIBER_FINISH(f->fake_stack, &scheduler_bottom, &scheduler_size);
}

static void fiber_main(void)
{
	struct fiber *f = running;
	FIBER_FINISH(NULL, &scheduler_bottom, &scheduler_size);
	(*running_thread)();
	f->done = true;
	fiber_leave(f, true);
}

static void fiber_enter(struct fiber *f)
{
	running = f;
	FIBER_START(&scheduler_fake_stack, f->stack, STACK_BYTES);
	swapcontext(&scheduler, &f->context);
	FIBER_FINISH(scheduler_fake_stack, NULL, NULL);
	running = NULL;
}

void on_cpu_barrier(void)
{
	if (!running) {
		fprintf(stderr, "barrier in a kernel started without barriers\n");
		abort();
	}
	running->waits = true;
	fiber_leave(running, false);
}

/* Runs all threads to the next barrier or the end; all or none must reach it. Every second block runs its
 * threads in reverse order, which exposes missing barriers. */
static void run_fibers(int64_t block, bool backwards)
{
	for (int64_t i = 0; i < block; i++) {
		struct fiber *f = &fibers[i];
		if (!f->stack)
			f->stack = (char *)malloc(STACK_BYTES);
		f->done = f->waits = false;
		getcontext(&f->context);
		f->context.uc_stack.ss_sp = f->stack;
		f->context.uc_stack.ss_size = STACK_BYTES;
		f->context.uc_link = NULL;
		makecontext(&f->context, fiber_main, 0);
	}
	for (int64_t done = 0; done < block;) {
		int64_t waiting = 0;
		for (int64_t n = 0; n < block; n++) {
			int64_t i = backwards ? block - 1 - n : n;
			threadIdx.x = (unsigned)i;
			fibers[i].waits = false;
			fiber_enter(&fibers[i]);
			done += fibers[i].done;
			waiting += fibers[i].waits;
		}
		if (waiting && waiting != block) {
			fprintf(stderr, "only %lld of %lld threads reach a barrier\n", (long long)waiting,
				(long long)block);
			abort();
		}
	}
}

cudaError_t on_cpu_launch(int64_t grid, int64_t block, bool barriers, const std::function<void()> &thread)
{
	if (grid < 1 || grid > 2147483647 || block < 1 || block > FIBERS)
		return cudaErrorInvalidConfiguration;
	gridDim = dim3((unsigned)grid);
	blockDim = dim3((unsigned)block);
	running_thread = &thread;
	for (int64_t b = 0; b < grid; b++) {
		blockIdx.x = (unsigned)b;
		if (barriers)
			run_fibers(block, b & 1);
		for (int64_t i = 0; !barriers && i < block; i++) {
			threadIdx.x = (unsigned)i;
			thread();
		}
	}
	return cudaSuccess;
}

extern "C" cudaError_t cudaMemcpyAsync(
	void *to, const void *from, size_t bytes, enum cudaMemcpyKind, cudaStream_t)
{
	memcpy(to, from, bytes);
	return cudaSuccess;
}

extern "C" cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
	size_t width, size_t height, enum cudaMemcpyKind, cudaStream_t)
{
	for (size_t i = 0; i < height; i++)
		memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
	return cudaSuccess;
}

extern "C" cudaError_t cudaGetLastError(void)
{
	return cudaSuccess;
}
