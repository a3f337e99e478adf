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
#define WARP 32
#define STACK_BYTES ((size_t)128 * 1024)

enum fiber_state { FIBER_RUNS, FIBER_AT_BARRIER, FIBER_AT_SHUFFLE, FIBER_DONE };

struct fiber {
	ucontext_t context;
	char *stack;
	enum fiber_state state;
	unsigned shuffles;
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
/* two sets in turn: one thread may pass its next value while another has yet to read the last one */
static uint32_t shuffled[2][FIBERS][ON_CPU_WORDS];

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
	f->state = FIBER_DONE;
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

static struct fiber *fiber_wait(enum fiber_state state)
{
	struct fiber *f = running;
	if (!f) {
		fprintf(stderr, "barrier or shuffle in a kernel started without barriers\n");
		abort();
	}
	f->state = state;
	fiber_leave(f, false);
	return f;
}

void on_cpu_barrier(void)
{
	fiber_wait(FIBER_AT_BARRIER);
}

const uint32_t (*on_cpu_exchange(const uint32_t *words))[ON_CPU_WORDS]
{
	unsigned thread = threadIdx.x, set = running ? running->shuffles++ % 2 : 0;
	memcpy(shuffled[set][thread], words, sizeof(shuffled[set][thread]));
	fiber_wait(FIBER_AT_SHUFFLE);
	return &shuffled[set][thread / WARP * WARP];
}

uint32_t on_cpu_shuffle(uint32_t value, int lane)
{
	const uint32_t words[ON_CPU_WORDS] = { value };
	return on_cpu_exchange(words)[lane][0];
}

/* Lets the `count` fibers from `first` on run again if all of them are in `state`. */
static bool fibers_release(int64_t first, int64_t count, enum fiber_state state)
{
	for (int64_t i = first; i < first + count; i++)
		if (fibers[i].state != state)
			return false;
	for (int64_t i = first; i < first + count; i++)
		fibers[i].state = FIBER_RUNS;
	return true;
}

/* Runs all threads to the end. A barrier is passed when the whole block is there, a shuffle when its warp is.
 * Every second block runs its threads in reverse order, which exposes missing barriers. */
static void run_fibers(int64_t block, bool backwards)
{
	for (int64_t i = 0; i < block; i++) {
		struct fiber *f = &fibers[i];
		if (!f->stack)
			f->stack = (char *)malloc(STACK_BYTES);
		f->state = FIBER_RUNS;
		f->shuffles = 0;
		getcontext(&f->context);
		f->context.uc_stack.ss_sp = f->stack;
		f->context.uc_stack.ss_size = STACK_BYTES;
		f->context.uc_link = NULL;
		makecontext(&f->context, fiber_main, 0);
	}
	for (int64_t done = 0; done < block;) {
		bool moves = fibers_release(0, block, FIBER_AT_BARRIER);
		for (int64_t n = 0; n < block; n++) {
			int64_t i = backwards ? block - 1 - n : n;
			if (fibers[i].state != FIBER_RUNS)
				continue;
			moves = true;
			threadIdx.x = (unsigned)i;
			fiber_enter(&fibers[i]);
			done += fibers[i].state == FIBER_DONE;
		}
		for (int64_t i = 0; i < block; i += WARP)
			moves = fibers_release(i, block - i < WARP ? block - i : WARP, FIBER_AT_SHUFFLE) ||
				moves;
		if (!moves) {
			fprintf(stderr, "only some threads of a block or warp reach a barrier or shuffle\n");
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

extern "C" cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t)
{
	memset(to, value, bytes);
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
