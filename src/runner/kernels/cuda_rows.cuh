/* Lines along one axis of a dense tensor outer x size x inner: each is reduced to one value, or mapped to a
 * line of the same size by means of one value (softmax, normalization). Lines with stride 1 belong to a warp,
 * to a block, or to several blocks whose parts meet in a workspace; other lines are adjacent in memory, and a
 * block takes some columns.
 *
 * An operation OP is a struct of plain numbers that kernels get by value:
 *   word, result            types of the elements of the source, and of the destination
 *   part                    what is accumulated: whole 32-bit words without padding
 *   origin(line)            a value that all parts of a line may subtract from the elements
 *   none(), join(a, b)      the part of no elements; the part of both, in either order
 *   add(p, origin, x, i)    adds elements i to i + N - 1 of the line
 *   reductions: put(p)      the result
 *   maps: total, of(p, origin), map(total, x, y, line, i)   y = the results of elements i to i + N - 1;
 *     has_columns: also of lines that are adjacent in memory */
#ifndef RUNNER_CUDA_ROWS_CUH
#define RUNNER_CUDA_ROWS_CUH

#include "runner/kernels/cuda_line.cuh"
#include "runner/kernels/cuda_number.cuh"

#define ROWS_THREADS 256
#define COLUMN_LANES 32 /* threads on neighboring columns ... */
#define COLUMN_ROWS 8	/* ... times threads that share a column */
#define COLUMN_THREADS (COLUMN_LANES * COLUMN_ROWS)

/* Words that one thread loads at once: 16 bytes, at most 8 words. */
template <typename WORD, int N> struct alignas(sizeof(WORD) * N) pack {
	WORD at[N];
};
template <typename WORD> struct widest {
	static const int words = sizeof(WORD) == 1 ? 8 : 16 / sizeof(WORD);
};

template <typename WORD, int N> static __device__ inline pack<WORD, N> pack_at(const WORD *x)
{
	return *(const pack<WORD, N> *)x;
}

/* Stores a pack as one word: as an array of small words the compiler may store it piece by piece. */
template <typename WORD, int N> static __device__ inline void pack_put(WORD *to, const pack<WORD, N> &from)
{
	typedef typename device_word<sizeof(from)>::type whole;
	union {
		pack<WORD, N> parts;
		whole all;
	} both = { from };
	*(whole *)to = both.all;
}

/* Returns the part of the THREADS threads of a line, to all of them. THREADS: 32 or all of the block. */
template <typename OP, int THREADS>
static __device__ inline typename OP::part part_of_all(const OP &op, typename OP::part p)
{
	for (int mask = 16; mask; mask /= 2)
		p = op.join(p, device_shuffle_xor(p, mask));
	if (THREADS == 32)
		return p;
	__shared__ typename OP::part of_warp[THREADS / 32];
	__syncthreads(); /* the parts of the line before have been read */
	if (threadIdx.x % 32 == 0)
		of_warp[threadIdx.x / 32] = p;
	__syncthreads();
	p = of_warp[0];
#pragma unroll
	for (int i = 1; i < THREADS / 32; i++)
		p = op.join(p, of_warp[i]);
	return p;
}

/* Returns the part of elements `first` to `last` - 1, both multiples of N, to all threads. */
template <typename OP, int N, int THREADS>
static __device__ inline typename OP::part part_of_range(
	const OP &op, const typename OP::word *x, float origin, int64_t first, int64_t last)
{
	typedef pack<typename OP::word, N> words;
	const int64_t step = THREADS * N;
	typename OP::part p = op.none();
	int64_t i = first + (int64_t)(threadIdx.x % THREADS) * N;
	for (; i + (DEVICE_UNROLL - 1) * step < last; i += DEVICE_UNROLL * step) {
		words w[DEVICE_UNROLL];
#pragma unroll
		for (int k = 0; k < DEVICE_UNROLL; k++)
			w[k] = pack_at<typename OP::word, N>(x + i + k * step);
#pragma unroll
		for (int k = 0; k < DEVICE_UNROLL; k++)
			op.add(p, origin, w[k].at, i + k * step);
	}
	for (; i < last; i += step) {
		words w = pack_at<typename OP::word, N>(x + i);
		op.add(p, origin, w.at, i);
	}
	return part_of_all<OP, THREADS>(op, p);
}

/* A range of each line for every block: a multiple of 8 elements. */
struct row_parts {
	int64_t count, size; /* parts of a line, elements of a part */
};

static inline struct row_parts row_parts_of(int64_t count, int64_t size)
{
	struct row_parts p = { 1, ((size + count - 1) / count + 7) / 8 * 8 };
	p.count = (size + p.size - 1) / p.size;
	return p;
}

/* Elements `first` to `last` - 1 of a line. */
struct row_range {
	int64_t line, part, first, last;
};

/* Returns the range of block number b, if the parts of all lines follow one another. */
static __device__ inline row_range row_range_of(const struct row_parts &parts, int64_t b, int64_t size)
{
	row_range r;
	r.line = b / parts.count;
	r.part = b - r.line * parts.count;
	r.first = r.part * parts.size;
	r.last = r.first + parts.size < size ? r.first + parts.size : size;
	return r;
}

/* --- reductions --- */

/* THREADS threads per line. */
template <typename OP, int N, int THREADS>
static __global__ void rows_reduce_kernel(OP op, const typename OP::word *__restrict__ from,
	typename OP::result *__restrict__ to, int64_t lines, int64_t size)
{
	const int64_t each = ROWS_THREADS / THREADS;
	int64_t line = blockIdx.x * each + threadIdx.x / THREADS;
	for (; line < lines; line += gridDim.x * each) {
		const typename OP::word *x = from + line * size;
		typename OP::part p = part_of_range<OP, N, THREADS>(op, x, op.origin(x), 0, size);
		if (threadIdx.x % THREADS == 0)
			to[line] = op.put(p);
	}
}

/* A block per part of a line. */
template <typename OP, int N>
static __global__ void rows_parts_kernel(OP op, const typename OP::word *__restrict__ from,
	typename OP::part *__restrict__ found, int64_t lines, int64_t size, const struct row_parts parts)
{
	for (int64_t b = blockIdx.x; b < lines * parts.count; b += gridDim.x) {
		row_range r = row_range_of(parts, b, size);
		const typename OP::word *x = from + r.line * size;
		typename OP::part p =
			part_of_range<OP, N, ROWS_THREADS>(op, x, op.origin(x), r.first, r.last);
		if (threadIdx.x == 0)
			found[b] = p;
	}
}

/* Returns the part of the whole line to all threads. */
template <typename OP, int THREADS>
static __device__ inline typename OP::part part_of_parts(
	const OP &op, const typename OP::part *found, int64_t count)
{
	typename OP::part p = op.none();
	for (int64_t i = threadIdx.x % THREADS; i < count; i += THREADS)
		p = op.join(p, found[i]);
	return part_of_all<OP, THREADS>(op, p);
}

/* A warp per line. */
template <typename OP>
static __global__ void rows_join_kernel(OP op, const typename OP::part *__restrict__ found,
	typename OP::result *__restrict__ to, int64_t lines, int64_t count)
{
	const int64_t each = ROWS_THREADS / 32;
	int64_t line = blockIdx.x * each + threadIdx.x / 32;
	for (; line < lines; line += gridDim.x * each) {
		typename OP::part p = part_of_parts<OP, 32>(op, found + line * count, count);
		if (threadIdx.x % 32 == 0)
			to[line] = op.put(p);
	}
}

/* --- columns --- */

struct column_job {
	int64_t size, inner, tiles, blocks; /* tiles: of columns, per outer index */
	struct row_parts parts;
};

/* The place of a block and of a thread in it. */
struct column_place {
	int64_t outer, column, first, last, part; /* elements `first` to `last` - 1 of the columns */
	bool inside;
};

template <int N> static __device__ inline column_place column_place_of(const struct column_job &j, int64_t b)
{
	column_place at;
	row_range r = row_range_of(j.parts, b, j.size); /* of a tile of columns as of a line */
	at.part = r.part;
	at.outer = r.line / j.tiles;
	at.column = ((r.line - at.outer * j.tiles) * COLUMN_LANES + threadIdx.x % COLUMN_LANES) * N;
	at.inside = at.column < j.inner;
	at.first = r.first + threadIdx.x / COLUMN_LANES;
	at.last = r.last;
	return at;
}

/* Sets the parts of N neighboring columns, in all threads that share them. x: element 0 of the first. */
template <typename OP, int N>
static __device__ inline void parts_of_columns(const OP &op, const struct column_job &j,
	const column_place &at, const typename OP::word *x, typename OP::part (&p)[N])
{
	__shared__ typename OP::part shared[COLUMN_ROWS][COLUMN_LANES][N];
	int lane = (int)threadIdx.x % COLUMN_LANES, row = (int)threadIdx.x / COLUMN_LANES;
#pragma unroll
	for (int k = 0; k < N; k++)
		p[k] = op.none();
#pragma unroll 4
	for (int64_t i = at.first; at.inside && i < at.last; i += COLUMN_ROWS) {
		pack<typename OP::word, N> w = pack_at<typename OP::word, N>(x + i * j.inner);
#pragma unroll
		for (int k = 0; k < N; k++) {
			typename OP::word one[1] = { w.at[k] };
			op.add(p[k], 0, one, i);
		}
	}
	__syncthreads(); /* the parts of the columns before have been read */
#pragma unroll
	for (int k = 0; k < N; k++)
		shared[row][lane][k] = p[k];
	__syncthreads();
#pragma unroll
	for (int k = 0; k < N; k++) {
		p[k] = shared[0][lane][k];
		for (int r = 1; r < COLUMN_ROWS; r++)
			p[k] = op.join(p[k], shared[r][lane][k]);
	}
}

/* Writes the results, or the parts if there are several per line. */
template <typename OP, int N>
static __global__ void columns_reduce_kernel(OP op, const typename OP::word *__restrict__ from,
	typename OP::result *__restrict__ to, typename OP::part *__restrict__ found,
	const struct column_job j)
{
	for (int64_t b = blockIdx.x; b < j.blocks; b += gridDim.x) {
		column_place at = column_place_of<N>(j, b);
		typename OP::part p[N];
		parts_of_columns<OP, N>(op, j, at, from + at.outer * j.size * j.inner + at.column, p);
		for (int k = 0; k < N && at.inside && threadIdx.x < COLUMN_LANES; k++) {
			int64_t line = at.outer * j.inner + at.column + k;
			if (j.parts.count > 1)
				found[line * j.parts.count + at.part] = p[k];
			else
				to[line] = op.put(p[k]);
		}
	}
}

template <typename OP, int N>
static __global__ void columns_map_kernel(OP op, const typename OP::word *__restrict__ from,
	typename OP::result *__restrict__ to, const struct column_job j)
{
	for (int64_t b = blockIdx.x; b < j.blocks; b += gridDim.x) {
		column_place at = column_place_of<N>(j, b);
		int64_t begin = at.outer * j.size * j.inner + at.column,
			line = at.outer * j.inner + at.column;
		typename OP::part p[N];
		typename OP::total total[N];
		parts_of_columns<OP, N>(op, j, at, from + begin, p);
#pragma unroll
		for (int k = 0; k < N; k++)
			total[k] = op.of(p[k], 0);
#pragma unroll 4
		for (int64_t i = at.first; at.inside && i < at.last; i += COLUMN_ROWS) {
			pack<typename OP::word, N> w =
				pack_at<typename OP::word, N>(from + begin + i * j.inner);
			pack<typename OP::result, N> y;
#pragma unroll
			for (int k = 0; k < N; k++) {
				typename OP::word x[1] = { w.at[k] };
				typename OP::result one[1];
				op.map(total[k], x, one, line + k, i);
				y.at[k] = one[0];
			}
			pack_put(to + begin + i * j.inner, y);
		}
	}
}

/* --- maps of rows --- */

/* THREADS threads hold a line of at most PACKS * THREADS * N elements in registers. */
template <typename OP, int N, int PACKS, int THREADS>
static __global__ void rows_held_kernel(OP op, const typename OP::word *__restrict__ from,
	typename OP::result *__restrict__ to, int64_t lines, int64_t size)
{
	const int64_t each = ROWS_THREADS / THREADS;
	int64_t line = blockIdx.x * each + threadIdx.x / THREADS,
		first = (int64_t)(threadIdx.x % THREADS) * N;
	for (; line < lines; line += gridDim.x * each) {
		const typename OP::word *x = from + line * size;
		pack<typename OP::word, N> held[PACKS];
		float origin = op.origin(x);
		typename OP::part p = op.none();
#pragma unroll
		for (int k = 0; k < PACKS; k++)
			if (first + k * THREADS * N < size)
				held[k] = pack_at<typename OP::word, N>(x + first + k * THREADS * N);
#pragma unroll
		for (int k = 0; k < PACKS; k++)
			if (first + k * THREADS * N < size)
				op.add(p, origin, held[k].at, first + k * THREADS * N);
		typename OP::total total = op.of(part_of_all<OP, THREADS>(op, p), origin);
#pragma unroll
		for (int k = 0; k < PACKS; k++)
			if (first + k * THREADS * N < size) {
				pack<typename OP::result, N> y;
				op.map(total, held[k].at, y.at, line, first + k * THREADS * N);
				pack_put(to + line * size + first + k * THREADS * N, y);
			}
	}
}

/* Maps elements `first` to `last` - 1 of a line with all threads of the block. */
template <typename OP, int N>
static __device__ inline void map_range(const OP &op, const typename OP::total &total,
	const typename OP::word *x, typename OP::result *y, int64_t line, int64_t first, int64_t last)
{
#pragma unroll 4
	for (int64_t i = first + (int64_t)threadIdx.x * N; i < last; i += ROWS_THREADS * N) {
		pack<typename OP::word, N> w = pack_at<typename OP::word, N>(x + i);
		pack<typename OP::result, N> out;
		op.map(total, w.at, out.at, line, i);
		pack_put(y + i, out);
	}
}

/* A block per line, which it reads twice. */
template <typename OP, int N>
static __global__ void rows_twice_kernel(OP op, const typename OP::word *__restrict__ from,
	typename OP::result *__restrict__ to, int64_t lines, int64_t size)
{
	for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
		const typename OP::word *x = from + line * size;
		float origin = op.origin(x);
		typename OP::part p = part_of_range<OP, N, ROWS_THREADS>(op, x, origin, 0, size);
		map_range<OP, N>(op, op.of(p, origin), x, to + line * size, line, 0, size);
	}
}

/* A block per part of a line, after rows_parts_kernel. */
template <typename OP, int N>
static __global__ void rows_map_kernel(OP op, const typename OP::word *__restrict__ from,
	const typename OP::part *__restrict__ found, typename OP::result *__restrict__ to, int64_t lines,
	int64_t size, const struct row_parts parts)
{
	for (int64_t b = blockIdx.x; b < lines * parts.count; b += gridDim.x) {
		row_range r = row_range_of(parts, b, size);
		const typename OP::word *x = from + r.line * size;
		typename OP::part p =
			part_of_parts<OP, ROWS_THREADS>(op, found + r.line * parts.count, parts.count);
		map_range<OP, N>(
			op, op.of(p, op.origin(x)), x, to + r.line * size, r.line, r.first, r.last);
	}
}

/* --- launches --- */

static inline struct column_job column_job_of(const struct cuda_line *l, int words, int64_t parts)
{
	struct column_job j;
	j.size = l->size;
	j.inner = l->inner;
	j.tiles = (l->inner + COLUMN_LANES * words - 1) / (COLUMN_LANES * words);
	j.parts = row_parts_of(parts, l->size);
	j.blocks = l->outer * j.tiles * j.parts.count;
	return j;
}

static inline int64_t warps_blocks(int64_t lines)
{
	return device_blocks(lines, ROWS_THREADS / 32);
}

template <typename OP, int N>
static cudaError_t reduce_packed(const OP &op, const struct cuda_line *l, enum cuda_line_kind kind,
	const void *from, void *to, void *workspace, cudaStream_t s)
{
	const typename OP::word *x = (const typename OP::word *)from;
	typename OP::result *y = (typename OP::result *)to;
	typename OP::part *found = (typename OP::part *)workspace;
	int64_t lines = line_count(l), size = l->size, parts = cuda_line_parts(l, kind);
	struct column_job j = column_job_of(l, N, parts);
	struct row_parts ranges = row_parts_of(parts, size);
	cudaError_t bad;
	switch (kind) {
	case CUDA_LINE_WARP:
		return LAUNCH_BLOCK((rows_reduce_kernel<OP, N, 32>), warps_blocks(lines), ROWS_THREADS, s, op,
			x, y, lines, size);
	case CUDA_LINE_BLOCK:
		return LAUNCH_BLOCK((rows_reduce_kernel<OP, N, ROWS_THREADS>), device_blocks(lines, 1),
			ROWS_THREADS, s, op, x, y, lines, size);
	case CUDA_LINE_SPLIT:
		bad = LAUNCH_BLOCK((rows_parts_kernel<OP, N>), device_blocks(lines * ranges.count, 1),
			ROWS_THREADS, s, op, x, found, lines, size, ranges);
		break;
	default:
		bad = LAUNCH_BLOCK((columns_reduce_kernel<OP, N>), device_blocks(j.blocks, 1), COLUMN_THREADS,
			s, op, x, y, found, j);
		if (ranges.count == 1)
			return bad;
	}
	return bad != cudaSuccess ? bad
				  : LAUNCH_BLOCK((rows_join_kernel<OP>), warps_blocks(lines), ROWS_THREADS, s,
					    op, (const typename OP::part *)found, y, lines, ranges.count);
}

template <typename OP, int N>
static cudaError_t columns_map(const OP &op, const typename OP::word *x, typename OP::result *y,
	const struct column_job &j, cudaStream_t s)
{
	if constexpr (OP::has_columns)
		return LAUNCH_BLOCK((columns_map_kernel<OP, N>), device_blocks(j.blocks, 1), COLUMN_THREADS,
			s, op, x, y, j);
	return cudaErrorInvalidValue;
}

template <typename OP, int N>
static cudaError_t map_packed(const OP &op, const struct cuda_line *l, enum cuda_line_kind kind,
	const void *from, void *to, void *workspace, cudaStream_t s)
{
	const typename OP::word *x = (const typename OP::word *)from;
	typename OP::result *y = (typename OP::result *)to;
	typename OP::part *found = (typename OP::part *)workspace;
	int64_t lines = line_count(l), size = l->size;
	struct row_parts ranges = row_parts_of(cuda_line_parts(l, kind), size);
	cudaError_t bad;
	switch (kind) {
	case CUDA_LINE_WARP:
		if (size <= 8 * 32)
			return LAUNCH_BLOCK((rows_held_kernel<OP, N, 8 / N, 32>), warps_blocks(lines),
				ROWS_THREADS, s, op, x, y, lines, size);
		return LAUNCH_BLOCK((rows_held_kernel<OP, N, 32 / N, 32>), warps_blocks(lines), ROWS_THREADS,
			s, op, x, y, lines, size);
	case CUDA_LINE_BLOCK:
		if (size <= 8 * ROWS_THREADS)
			return LAUNCH_BLOCK((rows_held_kernel<OP, N, 8 / N, ROWS_THREADS>),
				device_blocks(lines, 1), ROWS_THREADS, s, op, x, y, lines, size);
		if (size <= 32 * ROWS_THREADS)
			return LAUNCH_BLOCK((rows_held_kernel<OP, N, 32 / N, ROWS_THREADS>),
				device_blocks(lines, 1), ROWS_THREADS, s, op, x, y, lines, size);
		return LAUNCH_BLOCK((rows_twice_kernel<OP, N>), device_blocks(lines, 1), ROWS_THREADS, s, op,
			x, y, lines, size);
	case CUDA_LINE_SPLIT:
		bad = LAUNCH_BLOCK((rows_parts_kernel<OP, N>), device_blocks(lines * ranges.count, 1),
			ROWS_THREADS, s, op, x, found, lines, size, ranges);
		return bad != cudaSuccess
			? bad
			: LAUNCH_BLOCK((rows_map_kernel<OP, N>), device_blocks(lines * ranges.count, 1),
				  ROWS_THREADS, s, op, x, (const typename OP::part *)found, y, lines, size,
				  ranges);
	default:
		return columns_map<OP, N>(op, x, y, column_job_of(l, N, 1), s);
	}
}

/* True if every load of the widest pack is aligned, given aligned tensors. */
template <typename WORD> static inline bool line_is_packed(const struct cuda_line *l)
{
	return (l->inner > 1 ? l->inner : l->size) % widest<WORD>::words == 0;
}

/* Reduces each line; `kind` must be possible (cuda_line_can). */
template <typename OP>
static cudaError_t rows_reduce(const OP &op, const struct cuda_line *l, enum cuda_line_kind kind,
	const void *from, void *to, void *workspace, cudaStream_t s)
{
	typedef typename OP::word word;
	static_assert(sizeof(typename OP::part) <= CUDA_LINE_PART_BYTES, "the workspace is too small");
	return line_is_packed<word>(l)
		? reduce_packed<OP, widest<word>::words>(op, l, kind, from, to, workspace, s)
		: reduce_packed<OP, 1>(op, l, kind, from, to, workspace, s);
}

template <typename OP>
static cudaError_t rows_map(const OP &op, const struct cuda_line *l, enum cuda_line_kind kind,
	const void *from, void *to, void *workspace, cudaStream_t s)
{
	typedef typename OP::word word;
	static_assert(sizeof(typename OP::part) <= CUDA_LINE_PART_BYTES, "the workspace is too small");
	return line_is_packed<word>(l)
		? map_packed<OP, widest<word>::words>(op, l, kind, from, to, workspace, s)
		: map_packed<OP, 1>(op, l, kind, from, to, workspace, s);
}

#endif
