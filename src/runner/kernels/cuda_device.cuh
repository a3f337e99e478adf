/* Shared by all kernels: launches, machine words, fast division. Kernels are started only with LAUNCH and
 * access the device only through these functions, so that tests can compile the same sources for a CPU
 * (tests/cuda_on_cpu). */
#ifndef RUNNER_CUDA_DEVICE_CUH
#define RUNNER_CUDA_DEVICE_CUH

#include <stdint.h>

#ifdef CUDA_ON_CPU
#include "cuda_on_cpu.h"
#else
#include <cuda_runtime.h>
/* LAUNCH: a kernel without barriers; LAUNCH_BLOCK: a kernel with barriers. Both clear an earlier error (like
 * a failed allocation) first, so that it is not attributed to this launch; sticky errors are returned
 * again. */
#define LAUNCH(kernel, grid, block, stream, ...)                        \
	([&]() -> cudaError_t {                                         \
		(void)cudaGetLastError();                               \
		kernel<<<dim3(grid), dim3(block), 0, stream>>>(__VA_ARGS__); \
		return cudaGetLastError();                              \
	}())
#define LAUNCH_BLOCK LAUNCH

static __device__ inline uint64_t device_clock(void)
{
	return (uint64_t)clock64();
}

static __device__ inline uint64_t device_timer_ns(void)
{
	uint64_t t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

static __device__ inline void device_nap(void)
{
	__nanosleep(200);
}

/* Returns the number of the SM that runs this thread. */
static __device__ inline unsigned device_sm(void)
{
	unsigned sm;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	return sm;
}

/* Returns (v & mask) ^ flip in one instruction; from C the compiler makes two if both are constants. */
static __device__ inline uint32_t device_mask_flip(uint32_t v, uint32_t mask, uint32_t flip)
{
	uint32_t out;
	asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(out) : "r"(v), "r"(mask), "r"(flip));
	return out;
}

/* True for the first thread that calls it while *flag is 0; sets it. */
static __device__ inline bool device_claim(unsigned *flag)
{
	return atomicExch(flag, 1) == 0;
}
#endif

#include "runner/kernels/cuda_kernels.h"

/* Returns the value that the thread of the warp whose number differs by `mask` passes; all threads of the
 * warp call it. T: whole 32-bit words. */
template <typename T> static __device__ inline T device_shuffle_xor(T value, int mask)
{
	static_assert(sizeof(T) % 4 == 0, "whole words");
	union {
		T value;
		uint32_t word[sizeof(T) / 4];
	} mine, other;
	mine.value = value;
#pragma unroll
	for (int i = 0; i < (int)(sizeof(T) / 4); i++)
		other.word[i] = __shfl_xor_sync(0xffffffffu, mine.word[i], mask);
	return other.value;
}

/* Returns the value that thread `lane` of the warp passes; all threads of the warp call it. */
static __device__ inline float device_shuffle(float value, int lane)
{
	union {
		float value;
		uint32_t word;
	} mine, other;
	mine.value = value;
	other.word = __shfl_sync(0xffffffffu, mine.word, lane);
	return other.value;
}

/* Returns the float of these bits. */
static __device__ inline float device_float(uint32_t bits)
{
	union {
		uint32_t bits;
		float value;
	} both = { bits };
	return both.value;
}

/* Word types by size, for data that is only moved. */
template <int BYTES> struct device_word;
template <> struct device_word<1> { typedef uint8_t type; };
template <> struct device_word<2> { typedef uint16_t type; };
template <> struct device_word<4> { typedef uint32_t type; };
template <> struct device_word<8> { typedef uint64_t type; };
template <> struct device_word<16> { typedef uint4 type; };

/* Division of n < 2^31 by an invariant divisor with multiply, add and shift (Granlund and Montgomery, PLDI
 * 1994, figure 4.1; the bound on n keeps the sum from overflowing). */
struct device_divisor {
	uint32_t divisor, multiplier, shift;
};

static inline struct device_divisor device_divisor_of(int64_t d)
{
	struct device_divisor v = { (uint32_t)d, 0, 0 };
	while ((UINT64_C(1) << v.shift) < (uint64_t)d)
		v.shift++;
	v.multiplier = (uint32_t)((UINT64_C(1) << 32) * ((UINT64_C(1) << v.shift) - (uint64_t)d) / (uint64_t)d + 1);
	return v;
}

static __device__ inline uint32_t device_divide(uint32_t n, struct device_divisor v)
{
	return (__umulhi(n, v.multiplier) + n) >> v.shift;
}

#define DEVICE_THREADS 256
#define DEVICE_UNROLL 4              /* loads in flight per thread */
#define DEVICE_GRID_MAX 2147483647
#ifndef DEVICE_FAST_MAX
#define DEVICE_FAST_MAX 2147483647   /* maximum for device_divide; tests lower it to cover large tensors */
#endif

static inline int64_t device_blocks(int64_t items, int64_t each)
{
	int64_t blocks = (items + each - 1) / each;
	return blocks < 1 ? 1 : blocks > DEVICE_GRID_MAX ? DEVICE_GRID_MAX : blocks;
}

#endif
