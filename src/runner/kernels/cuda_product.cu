#include "runner/kernels/cuda_product.cuh"

#include <math.h>

/* Reductions (sum, mean) and cumulative sums of lines with stride 1 as products with ones. */

/* 16 lines for every WARPS warps: long lines are shared by all warps of the block. */
template <int TYPE, int N, int WARPS>
static __global__ void product_reduce_kernel(const uint16_t *__restrict__ from, uint16_t *__restrict__ to,
	int64_t lines, int64_t size, float factor)
{
	__shared__ float shared[PRODUCT_WARPS][PRODUCT_LINES];
	const int64_t each = PRODUCT_WARPS / WARPS * PRODUCT_LINES;
	int warp = (int)threadIdx.x / 32, g = (int)threadIdx.x % 32 / 4, t = (int)threadIdx.x % 4;
	int64_t first = blockIdx.x * each + warp / WARPS * PRODUCT_LINES;
	for (; first < lines; first += gridDim.x * each) {
		product_sums s = product_sum<TYPE, N, false>(from, lines, size, first + g,
			(int64_t)(warp % WARPS) * PRODUCT_COLUMNS, WARPS * PRODUCT_COLUMNS);
		if (WARPS == 1) {
			for (int i = 0; i < 2 && t == 0; i++)
				if (first + g + 8 * i < lines)
					to[first + g + 8 * i] = number<TYPE>::write(s.sum[i] * factor);
			continue;
		}
		if (t == 0) {
			shared[warp][g] = s.sum[0];
			shared[warp][g + 8] = s.sum[1];
		}
		__syncthreads();
		if (threadIdx.x < PRODUCT_LINES && first + threadIdx.x < lines) {
			float sum = 0;
			for (int i = 0; i < WARPS; i++)
				sum += shared[i][threadIdx.x];
			to[first + threadIdx.x] = number<TYPE>::write(sum * factor);
		}
		__syncthreads();
	}
}

#define PRODUCT_LONG 512 /* from this size on all warps of a block share a line */

template <int TYPE, int N>
static cudaError_t product_reduce(const struct cuda_line *l, const void *from, void *to, cudaStream_t s)
{
	const uint16_t *x = (const uint16_t *)from;
	float factor = l->mode == MODE_REDUCE_MEAN ? 1 / (float)l->size : 1;
	int64_t lines = line_count(l);
	if (l->size >= PRODUCT_LONG)
		return LAUNCH_BLOCK((product_reduce_kernel<TYPE, N, PRODUCT_WARPS>),
			device_blocks(lines, PRODUCT_LINES), ROWS_THREADS, s, x, (uint16_t *)to, lines,
			l->size, factor);
	return LAUNCH_BLOCK((product_reduce_kernel<TYPE, N, 1>),
		device_blocks(lines, PRODUCT_LINES * PRODUCT_WARPS), ROWS_THREADS, s, x, (uint16_t *)to,
		lines, l->size, factor);
}

cudaError_t cuda_product_reduce(const struct cuda_line *l, const void *from, void *to, cudaStream_t s)
{
	bool packed = l->size % 8 == 0;
	if (!cuda_line_can(l, CUDA_LINE_REDUCE, CUDA_LINE_PRODUCT))
		return cudaErrorInvalidValue;
	if (l->dtype == DTYPE_F16)
		return packed ? product_reduce<DTYPE_F16, 8>(l, from, to, s)
			      : product_reduce<DTYPE_F16, 1>(l, from, to, s);
	return packed ? product_reduce<DTYPE_BF16, 8>(l, from, to, s)
		      : product_reduce<DTYPE_BF16, 1>(l, from, to, s);
}

/* A triangle of ones: word `half` of row group h and tile q of the matrix b by which 32 columns are
 * multiplied. Its rows and columns are in the order in which threads hold a line: thread t has columns 8 t to
 * 8 t + 7, words 2 h and 2 h + 1 of them in product h, and gets columns 8 t + 2 q and 8 t + 2 q + 1 from tile
 * q. */
template <int TYPE> static __device__ inline uint32_t triangle_word(int h, int q, int half)
{
	int g = (int)threadIdx.x % 32 / 4, t = (int)threadIdx.x % 4;
	int in = 8 * t + 4 * h + 2 * half, out = g / 2 * 8 + 2 * q + g % 2;
	uint32_t ones = product_ones<TYPE>();
	return (in <= out ? ones & 0xffffu : 0) | (in + 1 <= out ? ones & 0xffff0000u : 0);
}

template <int TYPE>
static __device__ inline void product_store(uint16_t *line, int64_t column, int64_t size, const float (&v)[8])
{
	pack<uint16_t, 8> w;
	if (column >= size)
		return;
#pragma unroll
	for (int i = 0; i < 8; i++)
		w.at[i] = number<TYPE>::write(v[i]);
	pack_put(line + column, w);
}

/* A warp per 16 lines, 32 columns after the other: the sums so far are where the products are added. */
template <int TYPE>
static __global__ void product_scan_kernel(
	const uint16_t *__restrict__ from, uint16_t *__restrict__ to, int64_t lines, int64_t size)
{
	int lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
	const int64_t each = PRODUCT_WARPS * PRODUCT_LINES;
	uint32_t triangle[2][4][2];
#pragma unroll
	for (int i = 0; i < 16; i++)
		triangle[i / 8][i / 2 % 4][i % 2] = triangle_word<TYPE>(i / 8, i / 2 % 4, i % 2);
	int64_t first = blockIdx.x * each + (int)threadIdx.x / 32 * PRODUCT_LINES;
	for (; first < lines; first += gridDim.x * each) {
		int64_t line = first + g;
		float before[2] = { 0, 0 };
		for (int64_t column = 0; column < size; column += PRODUCT_COLUMNS) {
			uint32_t p[4], q[4];
			float d[4][4], upper[8], lower[8];
			product_load<8>(from + line * size, column, size, line < lines, p);
			product_load<8>(from + (line + 8) * size, column, size, line + 8 < lines, q);
#pragma unroll
			for (int i = 0; i < 4; i++) {
				d[i][0] = d[i][1] = before[0];
				d[i][2] = d[i][3] = before[1];
#pragma unroll
				for (int h = 0; h < 2; h++) {
					const uint32_t a[4] = { p[2 * h], q[2 * h], p[2 * h + 1],
						q[2 * h + 1] };
					device_product<TYPE>(d[i], a, triangle[h][i]);
				}
				upper[2 * i] = d[i][0];
				upper[2 * i + 1] = d[i][1];
				lower[2 * i] = d[i][2];
				lower[2 * i + 1] = d[i][3];
			}
			before[0] = device_shuffle(d[3][1], lane | 3); /* column 31 */
			before[1] = device_shuffle(d[3][3], lane | 3);
			if (line < lines)
				product_store<TYPE>(to + line * size, column + 8 * t, size, upper);
			if (line + 8 < lines)
				product_store<TYPE>(to + (line + 8) * size, column + 8 * t, size, lower);
		}
	}
}

cudaError_t cuda_product_scan(const struct cuda_line *l, const void *from, void *to, cudaStream_t s)
{
	int64_t lines = line_count(l), blocks = device_blocks(lines, PRODUCT_LINES * PRODUCT_WARPS);
	const uint16_t *x = (const uint16_t *)from;
	if (!cuda_line_can(l, CUDA_LINE_SCAN, CUDA_LINE_PRODUCT))
		return cudaErrorInvalidValue;
	return l->dtype == DTYPE_F16 ? LAUNCH_BLOCK((product_scan_kernel<DTYPE_F16>), blocks, ROWS_THREADS, s,
					       x, (uint16_t *)to, lines, l->size)
				     : LAUNCH_BLOCK((product_scan_kernel<DTYPE_BF16>), blocks, ROWS_THREADS,
					       s, x, (uint16_t *)to, lines, l->size);
}
