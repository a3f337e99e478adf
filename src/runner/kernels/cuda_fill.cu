#include "runner/kernels/cuda_device.cuh"
#include "runner/verify/fill_impl.h"

#include <math.h>

struct fill_job {
	struct cuda_strided t;
	uint64_t seed;
	enum fill_kind kind;
	int64_t limit, count;
};

template <int BYTES> static __global__ void fill_kernel(struct fill_job j)
{
	typedef typename device_word<BYTES>::type word;
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < j.count; i += step) {
		int64_t rest = i, at = 0;
		for (int d = j.t.rank - 1; d > 0; d--) {
			int64_t outer = rest / j.t.dim[d];
			at += (rest - outer * j.t.dim[d]) * j.t.stride[d];
			rest = outer;
		}
		if (j.t.rank)
			at += rest * j.t.stride[0];
		((word *)j.t.data)[at] =
			(word)fill_bits(fill_raw(j.seed, i, j.kind, j.limit, j.t.dtype), j.t.dtype);
	}
}

/* Two values of 4 bits per byte; the dimensions are in order of falling strides. */
struct fill_packed_job {
	uint8_t *data;
	uint64_t seed;
	enum fill_kind kind;
	enum dtype dtype;
	int rank;
	int64_t limit, count, stride[PROBLEM_RANK], logical[PROBLEM_RANK];
};

static __global__ void fill_packed_kernel(struct fill_packed_job j)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; 2 * b < j.count; b += step) {
		uint32_t both = 0;
		for (int half = 0; half < 2 && 2 * b + half < j.count; half++) {
			int64_t rest = 2 * b + half, index = 0;
			for (int d = 0; d < j.rank; d++) {
				index += rest / j.stride[d] * j.logical[d];
				rest %= j.stride[d];
			}
			double value = fill_raw(j.seed, index, j.kind, j.limit, j.dtype);
			both |= ((uint32_t)fill_bits(value, j.dtype) & 15) << 4 * half;
		}
		j.data[b] = (uint8_t)both;
	}
}

static cudaError_t fill_packed(const struct fill_job *f, cudaStream_t s)
{
	struct fill_packed_job j = { (uint8_t *)f->t.data, f->seed, f->kind, f->t.dtype, f->t.rank, f->limit,
		f->count, { 0 }, { 0 } };
	int64_t logical = 1, expected = 1;
	for (int d = f->t.rank - 1; d >= 0; d--) {
		int at = 0; /* the number of dimensions with a larger stride */
		for (int i = 0; i < f->t.rank; i++)
			at += f->t.stride[i] > f->t.stride[d];
		if (j.stride[at])
			return cudaErrorInvalidValue;
		j.stride[at] = f->t.stride[d];
		j.logical[at] = logical;
		logical *= f->t.dim[d];
	}
	for (int d = 0; d < f->t.rank; d++)
		expected += (f->t.dim[d] - 1) * f->t.stride[d];
	if (expected != f->count)
		return cudaErrorInvalidValue;
	return LAUNCH(fill_packed_kernel, device_blocks(f->count, DEVICE_THREADS * 8), DEVICE_THREADS, s, j);
}

/* Merges contiguous dimensions without changing the order of the elements. */
static void fill_merge(struct cuda_strided *t)
{
	int rank = 0;
	for (int i = 0; i < t->rank; i++) {
		if (t->dim[i] == 1)
			continue;
		if (rank && t->stride[rank - 1] == t->dim[i] * t->stride[i]) {
			t->dim[rank - 1] *= t->dim[i];
			t->stride[rank - 1] = t->stride[i];
			continue;
		}
		t->dim[rank] = t->dim[i];
		t->stride[rank++] = t->stride[i];
	}
	t->rank = rank;
}

cudaError_t cuda_fill(
	const struct cuda_strided *t, uint64_t seed, enum fill_kind kind, int64_t limit, cudaStream_t s)
{
	struct fill_job j = { *t, seed, kind, limit, 1 };
	for (int i = 0; i < t->rank; i++)
		j.count *= t->dim[i];
	fill_merge(&j.t);
	if (j.count < 1)
		return cudaSuccess;
	int64_t grid = device_blocks(j.count, DEVICE_THREADS * 8);
	if (t->dtype == DTYPE_S4 || t->dtype == DTYPE_U4)
		return fill_packed(&j, s);
	switch (fill_bytes(t->dtype)) {
	case 1: return LAUNCH(fill_kernel<1>, grid, DEVICE_THREADS, s, j);
	case 2: return LAUNCH(fill_kernel<2>, grid, DEVICE_THREADS, s, j);
	case 4: return LAUNCH(fill_kernel<4>, grid, DEVICE_THREADS, s, j);
	case 8: return LAUNCH(fill_kernel<8>, grid, DEVICE_THREADS, s, j);
	default: return cudaErrorInvalidValue;
	}
}
