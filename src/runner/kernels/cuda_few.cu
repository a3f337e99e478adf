#include "runner/kernels/cuda_number.cuh"

/* Products with weights of 4 bits: dequantized in registers, with f32 sums. For few rows the weights are read
 * once, a column per warp; for many a tile of 64 x 64 results per block goes through shared memory. */

#define FEW_LANE 32                   /* weights that a lane reads at once: 16 bytes */
#define FEW_STEP (32 * FEW_LANE)      /* and a warp */
#define FEW_WARPS (DEVICE_THREADS / 32)
#define FEW_TILE 64
#define FEW_DEPTH 32                  /* terms of a tile in shared memory at a time */

struct few_job {
	int64_t rows, columns, terms, block, blocks, zero_bytes, column_groups;
};

/* The value of four bits, the lowest ones of v. */
template <bool SIGNED> static __device__ inline float few_value(uint32_t v)
{
	return SIGNED ? (float)((int)((v & 15) ^ 8) - 8) : (float)(v & 15);
}

/* Scale and zero point of a column's block of terms. */
template <int TYPE, bool SIGNED> struct few_factor {
	float scale, zero;
	__device__ inline few_factor(const struct few_job &j, const typename number<TYPE>::word *scales,
		const uint8_t *zeros, int64_t column, int64_t term)
	{
		int64_t b = term / j.block;
		scale = (float)number<TYPE>::read(scales[column * j.blocks + b]);
		zero = few_value<SIGNED>((uint32_t)zeros[column * j.zero_bytes + b / 2] >> (b & 1 ? 4 : 0));
	}
};

template <int TYPE> struct alignas(16) few_words {
	static constexpr int count = 16 / (int)sizeof(typename number<TYPE>::word);
	typename number<TYPE>::word word[count];
};

template <int TYPE>
static __device__ inline typename number<TYPE>::word few_result(
	float sum, const typename number<TYPE>::word *bias, int64_t column)
{
	float add = bias ? (float)number<TYPE>::read(bias[column]) : 0;
	return number<TYPE>::write(sum + add);
}

template <int TYPE, bool SIGNED, int ROWS>
static __global__ void few_rows_kernel(const typename number<TYPE>::word *__restrict__ source,
	const uint4 *__restrict__ weights, const typename number<TYPE>::word *__restrict__ scales,
	const uint8_t *__restrict__ zeros, const typename number<TYPE>::word *__restrict__ bias,
	typename number<TYPE>::word *__restrict__ to, const struct few_job j)
{
	typedef few_words<TYPE> words;
	int64_t column = blockIdx.x % j.column_groups * FEW_WARPS + threadIdx.x / 32;
	int64_t row = blockIdx.x / j.column_groups * ROWS;
	float sum[ROWS] = { 0 };
	bool inside = column < j.columns;
	for (int64_t k = threadIdx.x % 32 * FEW_LANE; inside && k < j.terms; k += FEW_STEP) {
		uint4 v = weights[(column * j.terms + k) / FEW_LANE];
		uint32_t packed[4] = { v.x, v.y, v.z, v.w };
		few_factor<TYPE, SIGNED> f(j, scales, zeros, column, k);
		float w[FEW_LANE];
#pragma unroll
		for (int i = 0; i < FEW_LANE; i++)
			w[i] = few_value<SIGNED>(packed[i / 8] >> i % 8 * 4) - f.zero;
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const words *a = (const words *)(source + (row + r) * j.terms + k);
			float part = 0;
			if (row + r >= j.rows)
				continue;
#pragma unroll
			for (int i = 0; i < FEW_LANE / words::count; i++) {
				words x = a[i];
#pragma unroll
				for (int h = 0; h < words::count; h++) {
					float one = (float)number<TYPE>::read(x.word[h]);
					part += one * w[i * words::count + h];
				}
			}
			sum[r] += part * f.scale;
		}
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		for (int mask = 16; mask; mask /= 2)
			sum[r] += device_shuffle_xor(sum[r], mask);
		if (inside && threadIdx.x % 32 == 0 && row + r < j.rows)
			to[(row + r) * j.columns + column] = few_result<TYPE>(sum[r], bias, column);
	}
}

template <int TYPE, bool SIGNED>
static __global__ void few_tile_kernel(const typename number<TYPE>::word *__restrict__ source,
	const uint4 *__restrict__ weights, const typename number<TYPE>::word *__restrict__ scales,
	const uint8_t *__restrict__ zeros, const typename number<TYPE>::word *__restrict__ bias,
	typename number<TYPE>::word *__restrict__ to, const struct few_job j)
{
	__shared__ float a[FEW_DEPTH][FEW_TILE + 1], b[FEW_DEPTH][FEW_TILE + 1];
	int64_t column = blockIdx.x % j.column_groups * FEW_TILE;
	int64_t row = blockIdx.x / j.column_groups * FEW_TILE;
	int own = threadIdx.x / 4, part = threadIdx.x % 4 * 8; /* the row and the column that it loads */
	int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
	float sum[4][4] = { { 0 } };
	for (int64_t k = 0; k < j.terms; k += FEW_DEPTH) {
		uint32_t packed = 0;
		float scale = 0, zero = 0;
		if (column + own < j.columns) {
			few_factor<TYPE, SIGNED> f(j, scales, zeros, column + own, k);
			scale = f.scale;
			zero = f.zero;
			packed = ((const uint32_t *)weights)[((column + own) * j.terms + k + part) / 8];
		}
		for (int i = 0; i < 8; i++) {
			bool inside = row + own < j.rows;
			a[part + i][own] = inside ?
				(float)number<TYPE>::read(source[(row + own) * j.terms + k + part + i]) : 0;
			b[part + i][own] = (few_value<SIGNED>(packed >> i * 4) - zero) * scale;
		}
		__syncthreads();
		for (int d = 0; d < FEW_DEPTH; d++)
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int h = 0; h < 4; h++)
					sum[i][h] += a[d][y + i] * b[d][x + h];
		__syncthreads();
	}
	for (int i = 0; i < 4; i++)
		for (int h = 0; h < 4; h++)
			if (row + y + i < j.rows && column + x + h < j.columns)
				to[(row + y + i) * j.columns + column + x + h] =
					few_result<TYPE>(sum[i][h], bias, column + x + h);
}

template <int TYPE, bool SIGNED>
static cudaError_t launch(const struct cuda_few *c, enum cuda_few_kind kind,
	const struct cuda_few_operands *o, cudaStream_t s)
{
	typedef typename number<TYPE>::word word;
	struct few_job j = { c->rows, c->columns, c->terms, c->block, 0, 0, 0 };
	int wide = kind == CUDA_FEW_TILE ? FEW_TILE : FEW_WARPS;
	int tall = kind == CUDA_FEW_TILE ? FEW_TILE : c->rows == 1 ? 1 : 4;
	j.blocks = (c->terms + c->block - 1) / c->block;
	j.zero_bytes = (j.blocks + 1) / 2;
	j.column_groups = (c->columns + wide - 1) / wide;
	int64_t blocks = j.column_groups * ((c->rows + tall - 1) / tall);
	if (blocks > DEVICE_GRID_MAX)
		return cudaErrorInvalidValue;
	unsigned grid = (unsigned)blocks;
	const word *source = (const word *)o->source, *scales = (const word *)o->scales,
		   *bias = (const word *)o->bias;
	const uint4 *weights = (const uint4 *)o->weights;
	const uint8_t *zeros = (const uint8_t *)o->zeros;
	word *to = (word *)o->to;
	if (kind == CUDA_FEW_TILE)
		return LAUNCH_BLOCK((few_tile_kernel<TYPE, SIGNED>), grid, DEVICE_THREADS, s, source, weights,
			scales, zeros, bias, to, j);
	return tall == 1 ? LAUNCH_BLOCK((few_rows_kernel<TYPE, SIGNED, 1>), grid, DEVICE_THREADS, s, source,
		weights, scales, zeros, bias, to, j) :
		LAUNCH_BLOCK((few_rows_kernel<TYPE, SIGNED, 4>), grid, DEVICE_THREADS, s, source, weights,
			scales, zeros, bias, to, j);
}

template <bool SIGNED>
static cudaError_t launch_of(const struct cuda_few *c, enum cuda_few_kind kind,
	const struct cuda_few_operands *o, cudaStream_t s)
{
	switch (c->dtype) {
	case DTYPE_F32: return launch<DTYPE_F32, SIGNED>(c, kind, o, s);
	case DTYPE_F16: return launch<DTYPE_F16, SIGNED>(c, kind, o, s);
	case DTYPE_BF16: return launch<DTYPE_BF16, SIGNED>(c, kind, o, s);
	default: return cudaErrorInvalidValue;
	}
}

extern "C" cudaError_t cuda_few(const struct cuda_few *c, enum cuda_few_kind kind,
	const struct cuda_few_operands *o, cudaStream_t s)
{
	return c->is_signed ? launch_of<true>(c, kind, o, s) : launch_of<false>(c, kind, o, s);
}
