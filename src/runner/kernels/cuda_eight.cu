#include "runner/kernels/cuda_number.cuh"

/* Products of 8-bit integers by dot products of four bytes (dp4a), which take any pair of signs. A tile of
 * 64 x 64 results per block goes through shared memory; with few columns in a group, as in depthwise
 * convolutions, a thread computes its results directly. */

#define EIGHT_TILE 64
#define EIGHT_WORDS 8            /* of four terms, in shared memory at a time */
#define EIGHT_WIDE 4             /* channels of a thread in a depthwise convolution */

struct eight_job {
	struct cuda_eight c;
	struct device_divisor out[3], kernel[2], depth; /* a row: z, y, x; a term: r, s, channel */
	int64_t row_tiles, column_tiles;
	bool a_words, b_words;   /* four terms are one aligned word */
	bool a_across, b_across; /* neighbouring threads load neighbouring rows or columns, not terms */
};

struct eight_out {
	void *to;
	const void *operand[PROBLEM_EPILOGUES];
};

/* --- four products --- */

template <bool A_SIGNED, bool B_SIGNED>
static __device__ inline int eight_dot(uint32_t a, uint32_t b, int sum)
{
#ifdef CUDA_ON_CPU
	for (int i = 0; i < 4; i++) {
		uint8_t x = (uint8_t)(a >> 8 * i), y = (uint8_t)(b >> 8 * i);
		sum += (A_SIGNED ? (int8_t)x : (int)x) * (B_SIGNED ? (int8_t)y : (int)y);
	}
	return sum;
#else
	int d;
	if (A_SIGNED && B_SIGNED)
		asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(sum));
	else if (A_SIGNED)
		asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(sum));
	else if (B_SIGNED)
		asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(sum));
	else
		asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(sum));
	return d;
#endif
}

template <bool SIGNED> static __device__ inline int eight_value(uint8_t v)
{
	return SIGNED ? (int)(int8_t)v : (int)v;
}

/* --- results --- */

static __device__ inline float eight_read(const void *from, int type, int64_t at)
{
	switch (type) {
	case DTYPE_S8: return (float)((const int8_t *)from)[at];
	case DTYPE_U8: return (float)((const uint8_t *)from)[at];
	case DTYPE_F16: return number<DTYPE_F16>::read(((const uint16_t *)from)[at]);
	case DTYPE_BF16: return number<DTYPE_BF16>::read(((const uint16_t *)from)[at]);
	case DTYPE_S32: return (float)((const int32_t *)from)[at];
	default: return ((const float *)from)[at];
	}
}

static __device__ inline void eight_write(void *to, int type, int64_t at, float v)
{
	switch (type) {
	case DTYPE_S8: ((int8_t *)to)[at] = number_round<DTYPE_S8>(v); break;
	case DTYPE_U8: ((uint8_t *)to)[at] = number_round<DTYPE_U8>(v); break;
	case DTYPE_F16: ((uint16_t *)to)[at] = number<DTYPE_F16>::write(v); break;
	case DTYPE_BF16: ((uint16_t *)to)[at] = number<DTYPE_BF16>::write(v); break;
	default: ((float *)to)[at] = v;
	}
}

static __device__ inline void eight_store(
	const struct cuda_eight &c, const struct eight_out &o, int64_t at, int64_t channel, int sum)
{
	float v = (float)sum;
	if (c.to_type == DTYPE_S32) {
		((int32_t *)o.to)[at] = sum;
		return;
	}
#pragma unroll
	for (int i = 0; i < PROBLEM_EPILOGUES; i++) { /* fixed: else the operands' addresses go to a stack */
		if (i >= c.step_count)
			break;
		const struct cuda_eight_step &step = c.step[i];
		int64_t from = step.kind == CUDA_EIGHT_ADD ? at : channel;
		if (step.kind == CUDA_EIGHT_CLIP)
			v = fminf(fmaxf(v, step.low), step.high);
		else if (step.kind == CUDA_EIGHT_SCALE)
			v *= eight_read(o.operand[i], step.dtype, from);
		else
			v += eight_read(o.operand[i], step.dtype, from);
	}
	eight_write(o.to, c.to_type, at, v);
}

/* --- operands --- */

/* Where the batch of a block begins in a, b, the destination and the channels. */
static __device__ inline void eight_batch(const struct cuda_eight &c, int64_t batch, int64_t *begin)
{
	begin[0] = begin[1] = begin[2] = begin[3] = 0;
	for (int i = c.rank - 1; i >= 0; i--) {
		int64_t at = batch % c.dim[i];
		batch /= c.dim[i];
		for (int k = 0; k < 4; k++)
			begin[k] += at * c.stride[i][k];
	}
}

/* Offset of a source's element of a convolution: row is a position of the output, term one of the window; -1
 * in the padding. */
static __device__ inline int64_t eight_pixel(const struct eight_job &j, uint32_t row, uint32_t term)
{
	const struct cuda_eight &c = j.c;
	uint32_t line = device_divide(row, j.out[2]), plane = device_divide(line, j.out[1]);
	uint32_t n = device_divide(plane, j.out[0]), tap = device_divide(term, j.depth);
	uint32_t taps = device_divide(tap, j.kernel[1]), d = device_divide(taps, j.kernel[0]);
	int64_t to[3] = { plane - n * j.out[0].divisor, line - plane * j.out[1].divisor,
		row - line * j.out[2].divisor };
	int64_t window[3] = { d, taps - d * j.kernel[0].divisor, tap - taps * j.kernel[1].divisor };
	int64_t at = n;
	bool inside = true;
	for (int i = 0; i < 3; i++) {
		int64_t from = to[i] * c.step_by[i] - c.before[i] + window[i] * c.dilation[i];
		inside = inside && from >= 0 && from < c.in[i];
		at = at * c.in[i] + from;
	}
	return inside ? at * c.channels + (term - tap * j.depth.divisor) : -1;
}

template <bool PICTURE>
static __device__ inline int64_t eight_source(const struct eight_job &j, int64_t row, int64_t term)
{
	if (PICTURE)
		return eight_pixel(j, (uint32_t)row, (uint32_t)term);
	return row * j.c.a_row + term * j.c.a_term;
}

/* Four terms from `term` on of a row; 0 outside of the matrix. */
template <bool PICTURE>
static __device__ inline uint32_t eight_load_a(
	const struct eight_job &j, const uint8_t *a, int64_t row, int64_t term)
{
	uint32_t word = 0;
	if (row >= j.c.rows || term >= j.c.terms)
		return 0;
	if (j.a_words) {
		int64_t at = eight_source<PICTURE>(j, row, term);
		return at < 0 ? 0 : *(const uint32_t *)(a + at);
	}
	for (int i = 0; i < 4 && term + i < j.c.terms; i++) {
		int64_t at = eight_source<PICTURE>(j, row, term + i);
		word |= at < 0 ? 0 : (uint32_t)a[at] << 8 * i;
	}
	return word;
}

static __device__ inline uint32_t eight_load_b(
	const struct eight_job &j, const uint8_t *b, int64_t column, int64_t term)
{
	uint32_t word = 0;
	int64_t at = column * j.c.b_column + term * j.c.b_term;
	if (column >= j.c.columns || term >= j.c.terms)
		return 0;
	if (j.b_words)
		return *(const uint32_t *)(b + at);
	for (int i = 0; i < 4 && term + i < j.c.terms; i++)
		word |= (uint32_t)b[at + i * j.c.b_term] << 8 * i;
	return word;
}

/* --- kernels --- */

template <bool A_SIGNED, bool B_SIGNED, bool PICTURE>
static __global__ void eight_tile_kernel(const uint8_t *__restrict__ a, const uint8_t *__restrict__ b,
	const struct eight_out out, const struct eight_job j)
{
	__shared__ uint32_t x[EIGHT_WORDS][EIGHT_TILE + 1], y[EIGHT_WORDS][EIGHT_TILE + 1];
	int64_t tile = blockIdx.x, begin[4];
	int64_t column = tile % j.column_tiles * EIGHT_TILE;
	tile /= j.column_tiles;
	int64_t row = tile % j.row_tiles * EIGHT_TILE;
	int own_x = threadIdx.x % 16 * 4, own_y = threadIdx.x / 16 * 4;
	int sum[4][4] = { { 0 } };
	eight_batch(j.c, tile / j.row_tiles, begin);
	for (int64_t term = 0; term < j.c.terms; term += EIGHT_WORDS * 4) {
		for (int i = threadIdx.x; i < EIGHT_TILE * EIGHT_WORDS; i += DEVICE_THREADS) {
			int r = j.a_across ? i % EIGHT_TILE : i / EIGHT_WORDS;
			int w = j.a_across ? i / EIGHT_TILE : i % EIGHT_WORDS;
			x[w][r] = eight_load_a<PICTURE>(j, a + begin[0], row + r, term + w * 4);
			r = j.b_across ? i % EIGHT_TILE : i / EIGHT_WORDS;
			w = j.b_across ? i / EIGHT_TILE : i % EIGHT_WORDS;
			y[w][r] = eight_load_b(j, b + begin[1], column + r, term + w * 4);
		}
		__syncthreads();
		for (int w = 0; w < EIGHT_WORDS; w++)
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int h = 0; h < 4; h++)
					sum[i][h] = eight_dot<A_SIGNED, B_SIGNED>(
						x[w][own_y + i], y[w][own_x + h], sum[i][h]);
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int h = 0; h < 4; h++) {
			int64_t r = row + own_y + i, k = column + own_x + h;
			if (r < j.c.rows && k < j.c.columns)
				eight_store(j.c, out, begin[2] + r * j.c.to_row + k, begin[3] + k, sum[i][h]);
		}
}

/* WIDE neighbouring results of a thread: more than one only if each group has one channel and one column. */
template <bool A_SIGNED, bool B_SIGNED, int WIDE>
static __global__ void eight_direct_kernel(const uint8_t *__restrict__ a, const uint8_t *__restrict__ b,
	const struct eight_out out, const struct eight_job j)
{
	typedef typename device_word<WIDE>::type word;
	int64_t all = j.c.columns * j.c.dim[0], count = j.c.rows * all / WIDE;
	int64_t step = (int64_t)gridDim.x * DEVICE_THREADS;
	for (int64_t i = (int64_t)blockIdx.x * DEVICE_THREADS + threadIdx.x; i < count; i += step) {
		int64_t row = i * WIDE / all, channel = i * WIDE - row * all, group = channel / j.c.columns;
		int64_t column = channel - group * j.c.columns;
		const uint8_t *from = a + group * j.c.stride[0][0];
		const uint8_t *weights = b + group * j.c.stride[0][1] + column * j.c.b_column;
		int sum[WIDE] = { 0 };
		for (int64_t term = 0; term < j.c.terms; term++) {
			int64_t at = eight_pixel(j, (uint32_t)row, (uint32_t)term);
			if (at < 0)
				continue;
			word v = *(const word *)(from + at);
#pragma unroll
			for (int h = 0; h < WIDE; h++)
				sum[h] += eight_value<A_SIGNED>((uint8_t)(v >> 8 * h)) *
					eight_value<B_SIGNED>(weights[h * j.c.stride[0][1] + term]);
		}
#pragma unroll
		for (int h = 0; h < WIDE; h++)
			eight_store(j.c, out, row * j.c.to_row + channel + h, channel + h, sum[h]);
	}
}

/* --- launches --- */

template <bool A_SIGNED, bool B_SIGNED>
static cudaError_t launch(const struct eight_job &j, enum cuda_eight_kind kind, const uint8_t *a,
	const uint8_t *b, const struct eight_out &out, int64_t batches, cudaStream_t s)
{
	const struct cuda_eight &c = j.c;
	bool wide = c.columns == 1 && j.depth.divisor == 1 && c.dim[0] % EIGHT_WIDE == 0;
	int64_t blocks = kind == CUDA_EIGHT_TILE ? j.row_tiles * j.column_tiles * batches :
		device_blocks(c.rows * c.columns * c.dim[0] / (wide ? EIGHT_WIDE : 1), DEVICE_THREADS);
	if (blocks > DEVICE_GRID_MAX)
		return cudaErrorInvalidValue;
	unsigned grid = (unsigned)blocks;
	if (kind == CUDA_EIGHT_TILE && c.is_picture)
		return LAUNCH_BLOCK((eight_tile_kernel<A_SIGNED, B_SIGNED, true>), grid, DEVICE_THREADS, s,
			a, b, out, j);
	if (kind == CUDA_EIGHT_TILE)
		return LAUNCH_BLOCK((eight_tile_kernel<A_SIGNED, B_SIGNED, false>), grid, DEVICE_THREADS, s,
			a, b, out, j);
	return wide ? LAUNCH((eight_direct_kernel<A_SIGNED, B_SIGNED, EIGHT_WIDE>), grid, DEVICE_THREADS,
		s, a, b, out, j) :
		LAUNCH((eight_direct_kernel<A_SIGNED, B_SIGNED, 1>), grid, DEVICE_THREADS, s, a, b, out, j);
}

/* True if words of four terms are aligned in an operand, whose batches begin at multiples of its strides. */
static bool has_words(const struct cuda_eight *c, int operand, int64_t term, int64_t other)
{
	bool aligned = term == 1 && other % 4 == 0;
	for (int i = 0; i < c->rank; i++)
		aligned = aligned && c->stride[i][operand] % 4 == 0;
	return aligned && c->terms % 4 == 0;
}

extern "C" cudaError_t cuda_eight(const struct cuda_eight *c, enum cuda_eight_kind kind,
	const struct cuda_eight_operands *o, cudaStream_t s)
{
	struct eight_job j = { *c, {}, {}, {}, 0, 0, false, false, false, false };
	struct eight_out out = { o->to, {} };
	const uint8_t *a = (const uint8_t *)o->a, *b = (const uint8_t *)o->b;
	int64_t batches = 1;
	for (int i = 0; i < c->rank; i++)
		batches *= c->dim[i];
	for (int i = 0; i < c->step_count; i++)
		out.operand[i] = o->step[i];
	for (int i = 0; i < 3 && c->is_picture; i++)
		j.out[i] = device_divisor_of(c->out[i]);
	for (int i = 0; i < 2 && c->is_picture; i++)
		j.kernel[i] = device_divisor_of(c->window[i + 1]);
	j.depth = device_divisor_of(c->is_picture ? c->depth : 1);
	j.row_tiles = (c->rows + EIGHT_TILE - 1) / EIGHT_TILE;
	j.column_tiles = (c->columns + EIGHT_TILE - 1) / EIGHT_TILE;
	j.a_words = c->is_picture ? has_words(c, 0, 1, c->channels | c->depth) :
		has_words(c, 0, c->a_term, c->a_row);
	j.b_words = has_words(c, 1, c->b_term, c->b_column);
	j.a_across = !c->is_picture && c->a_term != 1;
	j.b_across = c->b_term != 1;
	if (c->a_signed)
		return c->b_signed ? launch<true, true>(j, kind, a, b, out, batches, s) :
			launch<true, false>(j, kind, a, b, out, batches, s);
	return c->b_signed ? launch<false, true>(j, kind, a, b, out, batches, s) :
		launch<false, false>(j, kind, a, b, out, batches, s);
}
