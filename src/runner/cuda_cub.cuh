/* What we take from CUB (part of the CUDA toolkit), and no more, so that tests on a CPU put plain C++ in its place. */
#ifndef RUNNER_CUDA_CUB_CUH
#define RUNNER_CUDA_CUB_CUH

#include "runner/cuda_device.cuh"

#ifdef CUDA_ON_CPU
#include "cub_on_cpu.h"
#else
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

namespace library {

/* Sorts keys rising, thread t holding items t * ITEMS and on; equal keys keep their order. */
template <typename KEY, int THREADS, int ITEMS> struct block_sort {
	typedef cub::BlockRadixSort<KEY, THREADS, ITEMS, int> sort_type;
	typedef typename sort_type::TempStorage storage;
	static __device__ inline void run(storage &s, KEY (&key)[ITEMS], int (&place)[ITEMS], int bits)
	{
		sort_type(s).Sort(key, place, 0, bits);
	}
};

/* The sum of the values of the threads up to this one, and of all. */
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

/* Thread 0 gets all values joined by `join`. */
template <typename T, int THREADS> struct block_reduce {
	typedef cub::BlockReduce<T, THREADS> reduce_type;
	typedef typename reduce_type::TempStorage storage;
	template <typename JOIN> static __device__ inline T run(storage &s, T value, JOIN join)
	{
		return reduce_type(s).Reduce(value, join);
	}
};

/* temp NULL: only says how many bytes it takes. */
template <typename KEY>
static inline cudaError_t sort_pairs(void *temp, size_t &bytes, const KEY *in, KEY *out, const int *places_in,
	int *places_out, int count, int bits, cudaStream_t s)
{
	return cub::DeviceRadixSort::SortPairs(temp, bytes, in, out, places_in, places_out, count, 0, bits, s);
}

template <typename KEY, typename OFFSETS>
static inline cudaError_t sort_segments(void *temp, size_t &bytes, const KEY *in, KEY *out, const int *places_in,
	int *places_out, int count, int segments, OFFSETS offsets, int bits, cudaStream_t s)
{
	return cub::DeviceSegmentedRadixSort::SortPairs(temp, bytes, in, out, places_in, places_out, count, segments,
		offsets, offsets + 1, 0, bits, s);
}

}
#endif
#endif
