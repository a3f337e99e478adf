/* The parts of CUB (CUDA toolkit) that our kernels use. Tests on a CPU replace them by plain C++
 * (tests/cuda_on_cpu/cub_on_cpu.h). */
#ifndef RUNNER_CUDA_CUB_CUH
#define RUNNER_CUDA_CUB_CUH

#include "runner/kernels/cuda_device.cuh"

#ifdef CUDA_ON_CPU
#include "cub_on_cpu.h"
#else
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

namespace library {

/* Sorts keys ascending and stably; thread t holds items t * ITEMS to (t + 1) * ITEMS - 1. */
template <typename KEY, int THREADS, int ITEMS> struct block_sort {
	typedef cub::BlockRadixSort<KEY, THREADS, ITEMS, int> sort_type;
	typedef typename sort_type::TempStorage storage;
	static __device__ inline void run(storage &s, KEY (&key)[ITEMS], int (&index)[ITEMS], int bits)
	{
		sort_type(s).Sort(key, index, 0, bits);
	}
};

/* Returns the inclusive prefix sum of the threads' values; total: the sum of all. */
template <typename T, int THREADS> struct block_scan {
	typedef cub::BlockScan<T, THREADS> scan_type;
	typedef typename scan_type::TempStorage storage;
	static __device__ inline T run(storage &s, T value, T &total)
	{
		T sum;
		scan_type(s).InclusiveSum(value, sum, total);
		return sum;
	}
};

/* Reduces the threads' values with `join`; only thread 0 gets the result. */
template <typename T, int THREADS> struct block_reduce {
	typedef cub::BlockReduce<T, THREADS> reduce_type;
	typedef typename reduce_type::TempStorage storage;
	template <typename JOIN> static __device__ inline T run(storage &s, T value, JOIN join)
	{
		return reduce_type(s).Reduce(value, join);
	}
};

/* If temp is NULL, only sets `bytes` to the size that temp must have. */
template <typename KEY>
static inline cudaError_t sort_pairs(void *temp, size_t &bytes, const KEY *in, KEY *out,
	const int *indices_in, int *indices_out, int count, int bits, cudaStream_t s)
{
	return cub::DeviceRadixSort::SortPairs(temp, bytes, in, out, indices_in, indices_out, count, 0,
		bits, s);
}

template <typename KEY, typename OFFSETS>
static inline cudaError_t sort_segments(void *temp, size_t &bytes, const KEY *in, KEY *out,
	const int *indices_in, int *indices_out, int count, int segments, OFFSETS offsets, int bits,
	cudaStream_t s)
{
	return cub::DeviceSegmentedRadixSort::SortPairs(temp, bytes, in, out, indices_in, indices_out,
		count, segments, offsets, offsets + 1, 0, bits, s);
}

}
#endif
#endif
