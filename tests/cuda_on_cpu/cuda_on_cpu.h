/* The part of CUDA needed to run our kernels on a CPU: the blocks of a grid run one after another; the
 * threads of a block run one after another, or as fibers if the kernel has barriers. Shared memory is static,
 * as only one block runs at a time. */
#ifndef CUDA_ON_CPU_H
#define CUDA_ON_CPU_H

#include <cuda_runtime_api.h>
#include <functional>
#include <math.h>
#include <stdint.h>

#undef __shared__
#undef __global__
#undef __device__
#undef __host__
#define __shared__ static
#define __global__
#define __device__
#define __host__

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

/* Maximum for fast division in the kernels. */
extern int64_t on_cpu_fast_max;
#define DEVICE_FAST_MAX on_cpu_fast_max

void on_cpu_barrier(void);
/* barriers: if false, runs each thread to its end. */
cudaError_t on_cpu_launch(int64_t grid, int64_t block, bool barriers, const std::function<void()> &thread);
uint64_t on_cpu_tick(void);

/* Returns the value that thread `lane` of the caller's warp passes; all threads of the warp call it. */
uint32_t on_cpu_shuffle(uint32_t value, int lane);

/* Returns the words that the 32 threads of the caller's warp pass; valid until the call after the next. */
#define ON_CPU_WORDS 6
const uint32_t (*on_cpu_exchange(const uint32_t *words))[ON_CPU_WORDS];

#define __syncthreads on_cpu_barrier
#define LAUNCH(kernel, grid, block, stream, ...) \
	((void)(stream), on_cpu_launch((grid), (block), false, [=]() { kernel(__VA_ARGS__); }))
#define LAUNCH_BLOCK(kernel, grid, block, stream, ...) \
	((void)(stream), on_cpu_launch((grid), (block), true, [=]() { kernel(__VA_ARGS__); }))

static inline uint32_t __shfl_xor_sync(uint32_t, uint32_t value, int mask)
{
	return on_cpu_shuffle(value, (int)(threadIdx.x % 32) ^ mask);
}

static inline uint32_t __shfl_sync(uint32_t, uint32_t value, int lane)
{
	return on_cpu_shuffle(value, lane);
}

/* d += a b of mma.m16n8k16, from the layouts in the PTX ISA; read: the value of half a word. */
template <typename READ>
static inline void on_cpu_product(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], READ read)
{
	const uint32_t mine[ON_CPU_WORDS] = { a[0], a[1], a[2], a[3], b[0], b[1] };
	const uint32_t(*all)[ON_CPU_WORDS] = on_cpu_exchange(mine);
	int lane = (int)(threadIdx.x % 32);
	for (int i = 0; i < 4; i++) {
		int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
		for (int k = 0; k < 16; k++) {
			int in_four = k % 8 / 2, shift = 16 * (k % 2);
			uint32_t x = all[row % 8 * 4 + in_four][row / 8 + k / 8 * 2] >> shift;
			uint32_t y = all[column * 4 + in_four][4 + k / 8] >> shift;
			d[i] += read((uint16_t)x) * read((uint16_t)y);
		}
	}
}

/* Threads only alternate at barriers. */
static inline int atomicAdd(int *at, int value)
{
	int before = *at;
	*at += value;
	return before;
}

static inline uint32_t __umulhi(uint32_t a, uint32_t b)
{
	return (uint32_t)((uint64_t)a * b >> 32);
}

/* Nibble i of the selector is the index of byte i of the result in the eight bytes of b and a. */
static inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t selector)
{
	uint64_t all = (uint64_t)b << 32 | a;
	uint32_t out = 0;
	for (int i = 0; i < 4; i++)
		out |= (uint32_t)(all >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
	return out;
}

static inline uint64_t device_clock(void)
{
	return 2 * on_cpu_tick();
}

static inline uint64_t device_timer_ns(void)
{
	return on_cpu_tick();
}

static inline void device_nap(void) {}

/* Blocks run on four SMs in turn, from the last one. */
static inline unsigned device_sm(void)
{
	return 3 - blockIdx.x % 4;
}

static inline uint32_t device_mask_flip(uint32_t v, uint32_t mask, uint32_t flip)
{
	return (v & mask) ^ flip;
}

static inline bool device_claim(unsigned *flag)
{
	bool first = *flag == 0;
	*flag = 1;
	return first;
}

#endif
