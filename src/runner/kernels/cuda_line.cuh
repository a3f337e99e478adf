/* Lines along an axis, and sort keys: unsigned integers in the same order as the values. */
#ifndef RUNNER_CUDA_LINE_CUH
#define RUNNER_CUDA_LINE_CUH

#include "runner/kernels/cuda_device.cuh"
#include "runner/verify/fill_impl.h"

/* Returns the index of the first element of line number `line` in a tensor outer x size x inner; the elements
 * of a line are `inner` apart. */
static __device__ inline int64_t line_begin(int64_t line, int64_t inner, int64_t size)
{
	int64_t outer = line / inner;
	return outer * size * inner + (line - outer * inner);
}

static __device__ inline uint64_t key_of_float(uint64_t bits, int width)
{
	uint64_t sign = UINT64_C(1) << (width - 1), all = UINT64_MAX >> (64 - width);
	if ((bits & ~sign) == 0) /* -0 equals 0 */
		bits = 0;
	return bits & sign ? ~bits & all : bits | sign;
}

/* Returns the sort key of an element; it has as many bits as the type. Floats: flip all bits of negative
 * values and the sign bit of the others; signed integers: flip the sign bit. */
template <typename WORD> static __device__ inline uint64_t key_of(WORD bits, enum dtype type)
{
	switch (type) {
	case DTYPE_F32:
	case DTYPE_F16:
	case DTYPE_BF16:
	case DTYPE_F64: return key_of_float(bits, 8 * sizeof(WORD));
	case DTYPE_S64:
	case DTYPE_S32:
	case DTYPE_S16:
	case DTYPE_S8: return bits ^ UINT64_C(1) << (8 * sizeof(WORD) - 1);
	default: return bits;
	}
}

/* bytes: of an element. */
static __device__ inline uint64_t key_at(const void *from, int64_t at, enum dtype type, int bytes)
{
	switch (bytes) {
	case 1: return key_of(((const uint8_t *)from)[at], type);
	case 2: return key_of(((const uint16_t *)from)[at], type);
	case 4: return key_of(((const uint32_t *)from)[at], type);
	default: return key_of(((const uint64_t *)from)[at], type);
	}
}

static inline bool key_exists(enum dtype type)
{
	return fill_bytes(type) && type != DTYPE_TF32 && type != DTYPE_F8E4M3 && type != DTYPE_F8E5M2;
}

static inline int64_t line_count(const struct cuda_line *l)
{
	return l->outer * l->inner;
}

#endif
