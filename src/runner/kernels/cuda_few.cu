#include "runner/kernels/cuda_number.cuh"

/* Products with weights of 4 bits: dequantized in registers, with f32 sums. For few rows the weights are read
 * once, FEW_COLUMNS columns per block; for many a tile of 64 x 64 results per block goes through shared
 * memory. */

#define FEW_UNIT 32                   /* weights that a thread reads at once: 16 bytes */
#define FEW_THREADS 64                /* share some columns */
#define FEW_WARPS (FEW_THREADS / 32)
#define FEW_COLUMNS 4                 /* for which a thread reads the source once */
#define FEW_ROWS 4                    /* for which it reads the weights once, if there is more than one */
#define FEW_TILE 64
#define FEW_DEPTH 32                  /* terms of a tile in shared memory at a time */

struct few_job {
	int64_t rows, columns, terms, units, blocks, zero_bytes;
	struct device_divisor block, column_groups; /* block: in units */
};

/* Four bits of v, those from 4i on, as a float without a conversion: in the mantissa of 2^(23 - 4i) they
 * count 1 to 8, which gives 2^(23 - 4i) + their value, exactly. A sign is inverted, which adds 8. */
template <bool SIGNED> static __device__ inline float few_biased(uint32_t v, int i)
{
	uint32_t power = (uint32_t)(127 + 23 - 4 * i) << 23;
	return device_float(device_mask_flip(v, 15u << 4 * i, power | (SIGNED ? 8u << 4 * i : 0)));
}

/* The block of terms of a unit; of one beyond the last: the first block. */
static __device__ inline uint32_t few_block(const struct few_job &j, uint32_t unit)
{
	return device_divide(unit < j.units ? unit : 0, j.block);
}

/* The zero point of a column's block b, as few_biased gives it for each i. */
template <bool SIGNED> struct few_zero {
	float biased[4];
	__device__ inline void read(const uint8_t *zeros, uint32_t b)
	{
		biased[0] = few_biased<SIGNED>((uint32_t)zeros[b / 2] >> b % 2 * 4, 0);
#pragma unroll
		for (int i = 1; i < 4; i++)
			biased[i] = biased[0] - (float)((1 << 23) - (1 << (23 - 4 * i)));
	}

	/* Weight i of the eight in a word, less the zero point. */
	__device__ inline float weight(uint32_t packed, int i) const
	{
		return few_biased<SIGNED>(packed >> i / 4 * 16, i % 4) - biased[i % 4];
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

/* Adds eight products of a row's elements and the weights of each column. */
template <int TYPE>
static __device__ inline void few_add(const typename number<TYPE>::word *source,
	const float (&weight)[FEW_COLUMNS][8], float (&sum)[FEW_COLUMNS])
{
	typedef few_words<TYPE> words;
#pragma unroll
	for (int i = 0; i < 8; i += words::count) {
		words x = *(const words *)(source + i);
#pragma unroll
		for (int h = 0; h < words::count; h++) {
			float one = (float)number<TYPE>::read(x.word[h]);
#pragma unroll
			for (int c = 0; c < FEW_COLUMNS; c++)
				sum[c] += one * weight[c][i + h];
		}
	}
}

/* Returns the sum of all threads of the block to all of them. */
static __device__ inline float few_join(float sum, float (&of_warp)[FEW_WARPS])
{
	for (int mask = 16; mask; mask /= 2)
		sum += device_shuffle_xor(sum, mask);
	if (threadIdx.x % 32 == 0)
		of_warp[threadIdx.x / 32] = sum;
	__syncthreads();
	sum = 0;
#pragma unroll
	for (int w = 0; w < FEW_WARPS; w++)
		sum += of_warp[w];
	return sum;
}

/* Rows and columns beyond the last are computed as the last and not written. */
template <int TYPE, bool SIGNED, int ROWS>
static __global__ void few_rows_kernel(const typename number<TYPE>::word *__restrict__ source,
	const uint4 *__restrict__ weights, const typename number<TYPE>::word *__restrict__ scales,
	const uint8_t *__restrict__ zeros, const typename number<TYPE>::word *__restrict__ bias,
	typename number<TYPE>::word *__restrict__ to, const struct few_job j)
{
	__shared__ float shared[ROWS][FEW_COLUMNS][FEW_WARPS];
	uint32_t group = device_divide(blockIdx.x, j.column_groups), unit = threadIdx.x,
		block = few_block(j, unit);
	int64_t first_row = (int64_t)group * ROWS,
		first_column = (int64_t)(blockIdx.x - group * j.column_groups.divisor) * FEW_COLUMNS;
	int64_t row[ROWS], column[FEW_COLUMNS];
	typename number<TYPE>::word scale[FEW_COLUMNS]; /* needed last: read a step ahead */
	float sum[ROWS][FEW_COLUMNS] = { { 0 } };
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		row[r] = first_row + r < j.rows ? first_row + r : j.rows - 1;
#pragma unroll
	for (int c = 0; c < FEW_COLUMNS; c++) {
		column[c] = first_column + c < j.columns ? first_column + c : j.columns - 1;
		scale[c] = scales[column[c] * j.blocks + block];
	}
	while (unit < j.units) {
		uint32_t packed[FEW_COLUMNS][FEW_UNIT / 8];
		few_zero<SIGNED> zero[FEW_COLUMNS];
		float part[ROWS][FEW_COLUMNS] = { { 0 } };
#pragma unroll
		for (int c = 0; c < FEW_COLUMNS; c++) {
			uint4 v = weights[column[c] * j.units + unit];
			packed[c][0] = v.x;
			packed[c][1] = v.y;
			packed[c][2] = v.z;
			packed[c][3] = v.w;
			zero[c].read(zeros + column[c] * j.zero_bytes, block);
		}
#pragma unroll
		for (int i = 0; i < FEW_UNIT / 8; i++) {
			float weight[FEW_COLUMNS][8];
#pragma unroll
			for (int c = 0; c < FEW_COLUMNS; c++)
#pragma unroll
				for (int h = 0; h < 8; h++)
					weight[c][h] = zero[c].weight(packed[c][i], h);
#pragma unroll
			for (int r = 0; r < ROWS; r++)
				few_add<TYPE>(source + row[r] * j.terms + (int64_t)unit * FEW_UNIT + 8 * i,
					weight, part[r]);
		}
		unit += FEW_THREADS;
		block = few_block(j, unit);
#pragma unroll
		for (int c = 0; c < FEW_COLUMNS; c++) {
#pragma unroll
			for (int r = 0; r < ROWS; r++)
				sum[r][c] += part[r][c] * (float)number<TYPE>::read(scale[c]);
			scale[c] = scales[column[c] * j.blocks + block];
		}
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++)
#pragma unroll
		for (int c = 0; c < FEW_COLUMNS; c++) {
			float all = few_join(sum[r][c], shared[r][c]);
			if (threadIdx.x == 0 && first_row + r < j.rows && first_column + c < j.columns)
				to[row[r] * j.columns + column[c]] = few_result<TYPE>(all, bias, column[c]);
		}
}

template <int TYPE, bool SIGNED>
static __global__ void few_tile_kernel(const typename number<TYPE>::word *__restrict__ source,
	const uint4 *__restrict__ weights, const typename number<TYPE>::word *__restrict__ scales,
	const uint8_t *__restrict__ zeros, const typename number<TYPE>::word *__restrict__ bias,
	typename number<TYPE>::word *__restrict__ to, const struct few_job j)
{
	__shared__ float a[FEW_DEPTH][FEW_TILE + 1], b[FEW_DEPTH][FEW_TILE + 1];
	uint32_t group = device_divide(blockIdx.x, j.column_groups);
	int64_t row = (int64_t)group * FEW_TILE,
		column = (int64_t)(blockIdx.x - group * j.column_groups.divisor) * FEW_TILE;
	int own = threadIdx.x / 4, part = threadIdx.x % 4 * 8; /* the row and the column that it loads */
	int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
	float sum[4][4] = { { 0 } };
	for (int64_t k = 0; k < j.terms; k += FEW_DEPTH) {
		uint32_t packed = 0;
		float scale = 0;
		few_zero<SIGNED> zero = { { 0 } };
		if (column + own < j.columns) {
			uint32_t block = few_block(j, (uint32_t)(k / FEW_UNIT));
			scale = (float)number<TYPE>::read(scales[(column + own) * j.blocks + block]);
			zero.read(zeros + (column + own) * j.zero_bytes, block);
			packed = ((const uint32_t *)weights)[((column + own) * j.terms + k + part) / 8];
		}
#pragma unroll
		for (int i = 0; i < 8; i++) {
			bool inside = row + own < j.rows;
			a[part + i][own] = inside ?
				(float)number<TYPE>::read(source[(row + own) * j.terms + k + part + i]) : 0;
			b[part + i][own] = zero.weight(packed, i) * scale;
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
	bool tile = kind == CUDA_FEW_TILE;
	int wide = tile ? FEW_TILE : FEW_COLUMNS, tall = tile ? FEW_TILE : c->rows == 1 ? 1 : FEW_ROWS;
	int64_t units = c->terms / FEW_UNIT, block = c->block / FEW_UNIT,
		blocks = (units + block - 1) / block, groups = (c->columns + wide - 1) / wide,
		grid = groups * ((c->rows + tall - 1) / tall);
	if (grid > DEVICE_GRID_MAX || units > DEVICE_FAST_MAX || block > DEVICE_FAST_MAX)
		return cudaErrorInvalidValue;
	const struct few_job j = { c->rows, c->columns, c->terms, units, blocks, (blocks + 1) / 2,
		device_divisor_of(block), device_divisor_of(groups) };
	auto kernel = tile ? few_tile_kernel<TYPE, SIGNED>
		: tall == 1 ? few_rows_kernel<TYPE, SIGNED, 1> : few_rows_kernel<TYPE, SIGNED, FEW_ROWS>;
	return LAUNCH_BLOCK(kernel, (unsigned)grid, tile ? DEVICE_THREADS : FEW_THREADS, s,
		(const word *)o->source, (const uint4 *)o->weights, (const word *)o->scales,
		(const uint8_t *)o->zeros, (const word *)o->bias, (word *)o->to, j);
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
