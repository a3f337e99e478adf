#include "runner/kernels/cuda_device.cuh"

/* Transposes through shared memory. A tile has TILE words along the source's innermost dimension (columns)
 * and TILE * TALL words along the destination's (rows). If sizes allow it, a word packs PACK small elements,
 * so that a warp accesses at least 128 contiguous bytes: blocks of PACK x PACK elements are transposed in
 * registers, words in shared memory. The word of row r and column c is stored in line c of shared memory at
 * index (r + c / PACK) mod TILE (swizzled): neither writing nor reading has bank conflicts. */

#define TILE 32
#define TILE_ROWS (DEVICE_THREADS / TILE) /* rows of threads in a block */
#define TILE_BATCH (PROBLEM_RANK - 2)

struct tiled_job {
	int64_t columns, rows;            /* in words: elements / PACK */
	int64_t from_row, to_column;      /* strides in elements: source rows, destination columns */
	struct device_divisor row_tiles, column_tiles;
	struct device_divisor divisor[TILE_BATCH];
	int64_t from[TILE_BATCH], to[TILE_BATCH]; /* strides of the other dimensions, innermost first */
};

/* Transposes PACK x PACK small elements in registers: from one row per word to one column per word. */
template <int PACK> static __device__ inline void transpose_words(uint32_t *w);
template <> __device__ inline void transpose_words<2>(uint32_t *w)
{
	uint32_t a = w[0], b = w[1];
	w[0] = __byte_perm(a, b, 0x5410);
	w[1] = __byte_perm(a, b, 0x7632);
}
template <> __device__ inline void transpose_words<4>(uint32_t *w)
{
	uint32_t low01 = __byte_perm(w[0], w[1], 0x5140), low23 = __byte_perm(w[2], w[3], 0x5140);
	uint32_t high01 = __byte_perm(w[0], w[1], 0x7362), high23 = __byte_perm(w[2], w[3], 0x7362);
	w[0] = __byte_perm(low01, low23, 0x5410);
	w[1] = __byte_perm(low01, low23, 0x7632);
	w[2] = __byte_perm(high01, high23, 0x5410);
	w[3] = __byte_perm(high01, high23, 0x7632);
}
/* Nothing to transpose if a word is one element (of any size). */
template <int PACK, typename WORD> struct register_transpose {
	static __device__ inline void apply(WORD *w) { transpose_words<PACK>(w); }
};
template <typename WORD> struct register_transpose<1, WORD> {
	static __device__ inline void apply(WORD *) {}
};

/* Computes from the block number its tile and the offsets of its batch entry in source and destination.
 * Consecutive blocks are neighbors along the destination's rows, so that a cache line shared by two tiles is
 * completed while still cached. */
static __device__ inline void tile_locate(const struct tiled_job &j, int64_t *from, int64_t *to,
	int64_t *row, int64_t *column)
{
	uint32_t rest = blockIdx.x, next = device_divide(rest, j.row_tiles);
	*row = rest - next * j.row_tiles.divisor;
	rest = next;
	next = device_divide(rest, j.column_tiles);
	*column = rest - next * j.column_tiles.divisor;
	rest = next;
	*from = *to = 0;
#pragma unroll
	for (int d = 0; d < TILE_BATCH; d++) {
		next = device_divide(rest, j.divisor[d]);
		uint32_t index = rest - next * j.divisor[d].divisor;
		*from += index * j.from[d];
		*to += index * j.to[d];
		rest = next;
	}
}

template <typename WORD, int PACK, int TALL>
static __global__ void tiled_kernel(
	const WORD *__restrict__ from, WORD *__restrict__ to, const struct tiled_job j)
{
	const int STEPS = TILE * TALL / TILE_ROWS;
	__shared__ WORD tile[TILE * PACK * TILE * TALL];
	int64_t from_base, to_base, row0, column0;
	tile_locate(j, &from_base, &to_base, &row0, &column0);
	int lane = threadIdx.x % TILE, line = threadIdx.x / TILE;
	row0 *= TILE * TALL;
	column0 *= TILE;
	WORD v[STEPS][PACK];
	bool column_in = column0 + lane < j.columns;
	/* strides are in elements and multiples of PACK, so that words are aligned on both sides */
	const WORD *source = from + (from_base + (row0 + line) * PACK * j.from_row) / PACK + column0 + lane;
#pragma unroll
	for (int i = 0; i < STEPS; i++)
#pragma unroll
		for (int k = 0; k < PACK; k++)
			if (column_in && row0 + line + i * TILE_ROWS < j.rows)
				v[i][k] = source[((int64_t)i * TILE_ROWS * PACK + k) * (j.from_row / PACK)];
#pragma unroll
	for (int i = 0; i < STEPS; i++) {
		int r = line + i * TILE_ROWS;
		register_transpose<PACK, WORD>::apply(v[i]);
#pragma unroll
		for (int k = 0; k < PACK; k++)
			tile[(lane * PACK + k) * TILE * TALL + r / TILE * TILE + (r + lane) % TILE] = v[i][k];
	}
	__syncthreads();
	WORD *target = to + (to_base + (column0 * PACK + line) * j.to_column) / PACK + row0 + lane;
#pragma unroll
	for (int i = 0; i < TILE * PACK / TILE_ROWS; i++) {
		int c = line + i * TILE_ROWS;
#pragma unroll
		for (int t = 0; t < TALL; t++)
			if (column0 * PACK + c < j.columns * PACK && row0 + t * TILE + lane < j.rows)
				target[(int64_t)i * TILE_ROWS * (j.to_column / PACK) + t * TILE] =
					tile[c * TILE * TALL + t * TILE + (lane + c / PACK) % TILE];
	}
}

/* Returns false if there are more tiles than blocks in a grid. */
static bool tiled_job_of(const struct cuda_move *m, int tall, struct tiled_job *j, int64_t *tiles)
{
	const struct cuda_move_form *f = &m->wide;
	int last = f->rank - 1, batch = 0;
	j->columns = f->dim[m->from_inner] / m->pack;
	j->rows = f->dim[last] / m->pack;
	j->from_row = f->from[last];
	j->to_column = f->to[m->from_inner];
	int64_t row_tiles = (j->rows + TILE * tall - 1) / (TILE * tall),
		column_tiles = (j->columns + TILE - 1) / TILE;
	if (row_tiles > DEVICE_FAST_MAX || column_tiles > DEVICE_FAST_MAX)
		return false;
	j->row_tiles = device_divisor_of(row_tiles);
	j->column_tiles = device_divisor_of(column_tiles);
	double all = (double)row_tiles * (double)column_tiles;
	*tiles = row_tiles * column_tiles;
	for (int i = last - 1; i >= 0; i--) {
		if (i == m->from_inner)
			continue;
		all *= (double)f->dim[i];
		if (all > DEVICE_FAST_MAX)
			return false;
		*tiles *= f->dim[i];
		j->divisor[batch] = device_divisor_of(f->dim[i]);
		j->from[batch] = f->from[i];
		j->to[batch++] = f->to[i];
	}
	for (; batch < TILE_BATCH; batch++) {
		j->divisor[batch] = device_divisor_of(1);
		j->from[batch] = j->to[batch] = 0;
	}
	return all <= DEVICE_FAST_MAX;
}

template <typename WORD, int PACK, int TALL>
static cudaError_t tiled(const struct cuda_move *m, const void *from, void *to, cudaStream_t s)
{
	struct tiled_job j;
	int64_t tiles;
	if (!tiled_job_of(m, TALL, &j, &tiles))
		return cudaErrorInvalidValue;
	return LAUNCH_BLOCK((tiled_kernel<WORD, PACK, TALL>), tiles, DEVICE_THREADS, s, (const WORD *)from,
		(WORD *)to, j);
}

template <typename WORD, int PACK>
static cudaError_t tiled_either(
	const struct cuda_move *m, bool tall, const void *from, void *to, cudaStream_t s)
{
	return tall ? tiled<WORD, PACK, 2>(m, from, to, s) : tiled<WORD, PACK, 1>(m, from, to, s);
}

cudaError_t cuda_move_tiled(const struct cuda_move *m, bool tall, const void *from, void *to, cudaStream_t s)
{
	switch (m->wide.bytes * m->pack) {
	case 1: return tiled_either<uint8_t, 1>(m, tall, from, to, s);
	case 2: return tiled_either<uint16_t, 1>(m, tall, from, to, s);
	case 4:
		return m->pack == 4 ? tiled_either<uint32_t, 4>(m, tall, from, to, s) :
			m->pack == 2 ? tiled_either<uint32_t, 2>(m, tall, from, to, s) :
				tiled_either<uint32_t, 1>(m, tall, from, to, s);
	case 8: return tiled_either<uint64_t, 1>(m, tall, from, to, s);
	case 16: return tiled_either<uint4, 1>(m, tall, from, to, s);
	default: return cudaErrorInvalidValue;
	}
}
