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
	switch (fill_bytes(t->dtype)) {
	case 1: return LAUNCH(fill_kernel<1>, grid, DEVICE_THREADS, s, j);
	case 2: return LAUNCH(fill_kernel<2>, grid, DEVICE_THREADS, s, j);
	case 4: return LAUNCH(fill_kernel<4>, grid, DEVICE_THREADS, s, j);
	case 8: return LAUNCH(fill_kernel<8>, grid, DEVICE_THREADS, s, j);
	default: return cudaErrorInvalidValue;
	}
}
