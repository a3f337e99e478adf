/* Maps the linear index of an element, in order of the destination's dimensions, to its offset in each of
 * several strided tensors. Shared by the element-wise kernels. */
#ifndef RUNNER_CUDA_STRIDED_CUH
#define RUNNER_CUDA_STRIDED_CUH

#include "runner/kernels/cuda_device.cuh"

/* SIDES tensors of RANK dimensions; shapes of lower rank get leading dimensions of 1. */
template <int SIDES, int RANK> struct strided_map {
	struct device_divisor divisor[RANK];
	int64_t dim[RANK];
	int64_t stride[SIDES][RANK];
};

/* Sets at[s] to the offset in tensor s. WIDE: 64-bit division, for more than DEVICE_FAST_MAX elements. */
template <int SIDES, int RANK, bool WIDE>
static __device__ inline void strided_offsets(const struct strided_map<SIDES, RANK> &p, int64_t index,
	int64_t *at)
{
#pragma unroll
	for (int s = 0; s < SIDES; s++)
		at[s] = 0;
#pragma unroll
	for (int d = RANK - 1; d > 0; d--) {
		int64_t outer = WIDE ? index / p.dim[d] : (int64_t)device_divide((uint32_t)index, p.divisor[d]);
		int64_t coordinate = WIDE ? index - outer * p.dim[d] :
			(int64_t)((uint32_t)index - (uint32_t)outer * p.divisor[d].divisor);
#pragma unroll
		for (int s = 0; s < SIDES; s++)
			at[s] += coordinate * p.stride[s][d];
		index = outer;
	}
#pragma unroll
	for (int s = 0; s < SIDES; s++)
		at[s] += index * p.stride[s][0];
}

/* Builds the map from dimensions (outermost first) and the strides of each tensor. */
template <int SIDES, int RANK>
static inline struct strided_map<SIDES, RANK> strided_map_of(int rank, const int64_t *dim,
	const int64_t *const *stride)
{
	struct strided_map<SIDES, RANK> p;
	for (int d = 0; d < RANK; d++) {
		int from = d - (RANK - rank);
		p.dim[d] = from < 0 ? 1 : dim[from];
		p.divisor[d] = device_divisor_of(p.dim[d] <= DEVICE_FAST_MAX ? p.dim[d] : 1);
		for (int s = 0; s < SIDES; s++)
			p.stride[s][d] = from < 0 ? 0 : stride[s][from];
	}
	return p;
}

static inline int64_t strided_count(int rank, const int64_t *dim)
{
	int64_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= dim[i];
	return n;
}

#endif
