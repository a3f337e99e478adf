/* Plain C++ versions of the parts of CUB in cuda_cub.cuh. */
#ifndef CUB_ON_CPU_H
#define CUB_ON_CPU_H

#include <algorithm>
#include <vector>

#include "cuda_on_cpu.h"

namespace library {

template <typename KEY> static void sort_plain(const KEY *in, KEY *out, const int *indices_in,
	int *indices_out, int count, int bits)
{
	std::vector<int> order(count);
	std::vector<KEY> key(in, in + count);
	std::vector<int> index(indices_in, indices_in + count);
	KEY mask = bits < (int)(8 * sizeof(KEY)) ? ((KEY)1 << bits) - 1 : (KEY)~(KEY)0;
	for (int i = 0; i < count; i++)
		order[i] = i;
	std::stable_sort(
		order.begin(), order.end(), [&](int a, int b) { return (key[a] & mask) < (key[b] & mask); });
	for (int i = 0; i < count; i++) {
		out[i] = key[order[i]];
		indices_out[i] = index[order[i]];
	}
}

template <typename KEY, int THREADS, int ITEMS> struct block_sort {
	struct storage {
		KEY key[THREADS * ITEMS];
		int index[THREADS * ITEMS];
	};
	static void run(storage &s, KEY (&key)[ITEMS], int (&index)[ITEMS], int bits)
	{
		for (int i = 0; i < ITEMS; i++) {
			s.key[threadIdx.x * ITEMS + i] = key[i];
			s.index[threadIdx.x * ITEMS + i] = index[i];
		}
		__syncthreads();
		if (threadIdx.x == 0)
			sort_plain<KEY>(s.key, s.key, s.index, s.index, THREADS * ITEMS, bits);
		__syncthreads();
		for (int i = 0; i < ITEMS; i++) {
			key[i] = s.key[threadIdx.x * ITEMS + i];
			index[i] = s.index[threadIdx.x * ITEMS + i];
		}
	}
};

template <typename T, int THREADS> struct block_scan {
	struct storage {
		T value[THREADS];
	};
	static T run(storage &s, T value, T &total)
	{
		T sum = 0;
		s.value[threadIdx.x] = value;
		__syncthreads();
		total = 0;
		for (int i = 0; i < THREADS; i++) {
			total += s.value[i];
			if (i == (int)threadIdx.x)
				sum = total;
		}
		return sum;
	}
};

template <typename T, int THREADS> struct block_reduce {
	struct storage {
		T value[THREADS];
	};
	template <typename JOIN> static T run(storage &s, T value, JOIN join)
	{
		s.value[threadIdx.x] = value;
		__syncthreads();
		if (threadIdx.x == 0)
			for (int i = 1; i < THREADS; i++)
				value = join(value, s.value[i]);
		return value;
	}
};

template <typename KEY>
static cudaError_t sort_pairs(void *temp, size_t &bytes, const KEY *in, KEY *out, const int *indices_in,
	int *indices_out, int count, int bits, cudaStream_t)
{
	if (temp)
		sort_plain<KEY>(in, out, indices_in, indices_out, count, bits);
	bytes = 1;
	return cudaSuccess;
}

template <typename KEY, typename OFFSETS>
static cudaError_t sort_segments(void *temp, size_t &bytes, const KEY *in, KEY *out, const int *indices_in,
	int *indices_out, int, int segments, OFFSETS offsets, int bits, cudaStream_t)
{
	for (int i = 0; temp && i < segments; i++) {
		int64_t begin = offsets[i], end = (offsets + 1)[i];
		sort_plain<KEY>(in + begin, out + begin, indices_in + begin, indices_out + begin,
			(int)(end - begin), bits);
	}
	bytes = 1;
	return cudaSuccess;
}

}
#endif
