#include "runner/kernels/cuda_cub.cuh"
#include "runner/kernels/cuda_rows.cuh"

/* How lines are divided among threads, and cumulative sums along an axis: one line per block, or per thread.
 * A block scans a line in chunks of LINE_THREADS * LINE_ITEMS elements: each thread sums its items, a block
 * scan adds the sums of the threads before it, and the chunk's total carries over to the next chunk. */

#define LINE_THREADS 256
#define LINE_ITEMS 4	    /* elements per thread and chunk of a cumulative sum */
#define LINE_SHORT 256	    /* maximum length of lines with stride 1 for CUDA_LINE_THREAD */
#define LINE_WARP_HELD 1024 /* maximum length of lines that a warp keeps in registers */
#define LINE_WARP_READ 4096 /* ... that a warp reads */
#define LINE_PRODUCT_LEAST 16 /* length of lines that are summed by matrix units */
#define LINE_PRODUCT_MOST 4096
#define LINE_BLOCKS 1024    /* blocks to fill any GPU several times: lines are split into that many parts */
#define LINE_PART 4096	    /* minimum elements of a part with stride 1 */
#define COLUMN_PART 64	    /* minimum elements of a column's part */
#define COLUMN_BYTES 512    /* of adjacent columns that a block takes */

int64_t cuda_line_parts(const struct cuda_line *l, enum cuda_line_kind kind)
{
	int64_t bytes = fill_bytes(l->dtype), rows = l->outer,
		columns = (l->inner * bytes + COLUMN_BYTES - 1) / COLUMN_BYTES;
	bool column = kind == CUDA_LINE_COLUMN_SPLIT;
	int64_t most = l->size / (column ? COLUMN_PART : LINE_PART),
		parts = LINE_BLOCKS / (column ? rows * columns : rows * l->inner);
	if (kind != CUDA_LINE_SPLIT && !column)
		return 1;
	parts = parts < most ? parts : most;
	return parts < 1 ? 1 : parts;
}

double cuda_line_workspace(const struct cuda_line *l, enum cuda_line_kind kind)
{
	int64_t parts = cuda_line_parts(l, kind);
	return parts > 1 ? CUDA_LINE_PART_BYTES * (double)parts * (double)line_count(l) : 0;
}

/* Softmax is no sum of elements; maxima and products are no sums either. */
static bool product_can(const struct cuda_line *l, enum cuda_line_task task)
{
	bool sums = task == CUDA_LINE_REDUCE ? l->mode == MODE_REDUCE_SUM || l->mode == MODE_REDUCE_MEAN :
		task == CUDA_LINE_MAP        ? l->mode == MODE_NONE :
					       true;
	return sums && (l->dtype == DTYPE_F16 || l->dtype == DTYPE_BF16) && l->inner == 1 &&
		l->size >= LINE_PRODUCT_LEAST && l->size <= LINE_PRODUCT_MOST &&
		(task == CUDA_LINE_REDUCE || l->size % 8 == 0);
}

static bool scan_can(const struct cuda_line *l, enum cuda_line_kind kind)
{
	switch (kind) {
	case CUDA_LINE_BLOCK:
		return l->inner == 1 || l->size >= LINE_SHORT;
	case CUDA_LINE_SPLIT:
		return l->inner == 1 && cuda_line_parts(l, kind) > 1;
	case CUDA_LINE_THREAD:
		return l->inner > 1 || l->size <= LINE_SHORT;
	default:
		return false;
	}
}

bool cuda_line_can(const struct cuda_line *l, enum cuda_line_task task, enum cuda_line_kind kind)
{
	bool reduces = task == CUDA_LINE_REDUCE;
	if (kind == CUDA_LINE_PRODUCT)
		return product_can(l, task);
	if (task == CUDA_LINE_SCAN)
		return scan_can(l, kind);
	switch (kind) {
	case CUDA_LINE_WARP:
		return l->inner == 1 && l->size <= (reduces ? LINE_WARP_READ : LINE_WARP_HELD);
	case CUDA_LINE_BLOCK:
		return l->inner == 1 && l->size > LINE_SHORT;
	case CUDA_LINE_SPLIT:
		return l->inner == 1 && cuda_line_parts(l, kind) > 1;
	case CUDA_LINE_COLUMN:
		return l->inner > 1;
	case CUDA_LINE_COLUMN_SPLIT:
		return reduces && l->inner > 1 && cuda_line_parts(l, kind) > 1;
	default:
		return false;
	}
}

struct line_job {
	struct cuda_line l;
	int64_t lines;
};

/* Sums are accumulated in f32, for f64 in f64, for integers in 64 bits. */
template <int TYPE, typename SUM> struct scan_sum {
	typedef typename number<TYPE>::word word;
	typedef SUM part;
	__device__ inline float origin(const word *) const
	{
		return 0;
	}
	__device__ inline part none() const
	{
		return 0;
	}
	__device__ inline part join(part a, part b) const
	{
		return a + b;
	}
	template <int N> __device__ inline void add(part &p, float, const word (&x)[N], int64_t) const
	{
#pragma unroll
		for (int k = 0; k < N; k++)
			p += (SUM)number<TYPE>::read(x[k]);
	}
};

/* Scans elements `first` to `last` - 1, `step` apart, with all threads of the block. before: the sum of those
 * before them. */
template <int TYPE, typename SUM>
static __device__ inline void scan_range(const typename number<TYPE>::word *from,
	typename number<TYPE>::word *to, int64_t step, int64_t first, int64_t last, SUM before)
{
	typedef library::block_scan<SUM, LINE_THREADS> scan;
	__shared__ typename scan::storage storage;
	for (int64_t base = first; base < last; base += LINE_THREADS * LINE_ITEMS) {
		int64_t mine = base + threadIdx.x * LINE_ITEMS;
		SUM v[LINE_ITEMS], total;
#pragma unroll
		for (int i = 0; i < LINE_ITEMS; i++) {
			v[i] = mine + i < last ? (SUM)number<TYPE>::read(from[(mine + i) * step]) : (SUM)0;
			v[i] += i ? v[i - 1] : (SUM)0;
		}
		SUM sum = v[LINE_ITEMS - 1], upto = before + scan::run(storage, sum, total) - sum;
#pragma unroll
		for (int i = 0; i < LINE_ITEMS; i++)
			if (mine + i < last)
				to[(mine + i) * step] =
					number<TYPE>::write((typename number<TYPE>::value)(upto + v[i]));
		before += total;
		__syncthreads();
	}
}

template <int TYPE, typename SUM>
static __global__ void scan_block_kernel(const typename number<TYPE>::word *__restrict__ from,
	typename number<TYPE>::word *__restrict__ to, const struct line_job j)
{
	for (int64_t line = blockIdx.x; line < j.lines; line += gridDim.x) {
		int64_t begin = line_begin(line, j.l.inner, j.l.size);
		scan_range<TYPE, SUM>(from + begin, to + begin, j.l.inner, 0, j.l.size, 0);
	}
}

/* A block per part of a line, after rows_parts_kernel. */
template <int TYPE, typename SUM>
static __global__ void scan_split_kernel(const typename number<TYPE>::word *__restrict__ from,
	typename number<TYPE>::word *__restrict__ to, const SUM *__restrict__ found, const struct line_job j,
	const struct row_parts parts)
{
	for (int64_t b = blockIdx.x; b < j.lines * parts.count; b += gridDim.x) {
		row_range r = row_range_of(parts, b, j.l.size);
		int64_t begin = r.line * j.l.size;
		SUM before = part_of_parts<scan_sum<TYPE, SUM>, LINE_THREADS>(
			scan_sum<TYPE, SUM>(), found + r.line * parts.count, r.part);
		scan_range<TYPE, SUM>(from + begin, to + begin, 1, r.first, r.last, before);
	}
}

/* Each part is read twice: for its sum, and to be scanned. */
template <int TYPE, typename SUM, int N>
static cudaError_t scan_split(
	const struct line_job &j, const void *from, void *to, void *workspace, cudaStream_t s)
{
	typedef typename number<TYPE>::word word;
	struct row_parts parts = row_parts_of(cuda_line_parts(&j.l, CUDA_LINE_SPLIT), j.l.size);
	int64_t grid = device_blocks(j.lines * parts.count, 1);
	scan_sum<TYPE, SUM> sum;
	cudaError_t bad = LAUNCH_BLOCK((rows_parts_kernel<scan_sum<TYPE, SUM>, N>), grid, ROWS_THREADS, s,
		sum, (const word *)from, (SUM *)workspace, j.lines, j.l.size, parts);
	return bad != cudaSuccess ? bad
				  : LAUNCH_BLOCK((scan_split_kernel<TYPE, SUM>), grid, LINE_THREADS, s,
					    (const word *)from, (word *)to, (const SUM *)workspace, j, parts);
}

template <int TYPE, typename SUM>
static __global__ void scan_thread_kernel(const typename number<TYPE>::word *__restrict__ from,
	typename number<TYPE>::word *__restrict__ to, const struct line_job j)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t line = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; line < j.lines; line += step) {
		int64_t at = line_begin(line, j.l.inner, j.l.size);
		SUM sum = 0;
		for (int64_t i = 0; i < j.l.size; i++, at += j.l.inner) {
			sum += (SUM)number<TYPE>::read(from[at]);
			to[at] = number<TYPE>::write((typename number<TYPE>::value)sum);
		}
	}
}

template <int TYPE, typename SUM>
static cudaError_t scan(const struct line_job &j, enum cuda_line_kind kind, const void *from, void *to,
	void *workspace, cudaStream_t s)
{
	typedef typename number<TYPE>::word word;
	if (kind == CUDA_LINE_SPLIT)
		return line_is_packed<word>(&j.l)
			? scan_split<TYPE, SUM, widest<word>::words>(j, from, to, workspace, s)
			: scan_split<TYPE, SUM, 1>(j, from, to, workspace, s);
	if (kind == CUDA_LINE_BLOCK)
		return LAUNCH_BLOCK((scan_block_kernel<TYPE, SUM>), device_blocks(j.lines, 1), LINE_THREADS,
			s, (const word *)from, (word *)to, j);
	return LAUNCH((scan_thread_kernel<TYPE, SUM>), device_blocks(j.lines, LINE_THREADS), LINE_THREADS, s,
		(const word *)from, (word *)to, j);
}

cudaError_t cuda_scan(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to,
	void *workspace, cudaStream_t s)
{
	struct line_job j;
	j.l = *l;
	j.lines = line_count(l);
	if (kind == CUDA_LINE_PRODUCT)
		return cuda_product_scan(l, from, to, s);
	switch (l->dtype) {
	case DTYPE_F32:
		return scan<DTYPE_F32, float>(j, kind, from, to, workspace, s);
	case DTYPE_F16:
		return scan<DTYPE_F16, float>(j, kind, from, to, workspace, s);
	case DTYPE_BF16:
		return scan<DTYPE_BF16, float>(j, kind, from, to, workspace, s);
	case DTYPE_F64:
		return scan<DTYPE_F64, double>(j, kind, from, to, workspace, s);
	case DTYPE_S32:
		return scan<DTYPE_S32, int64_t>(j, kind, from, to, workspace, s);
	case DTYPE_S64:
		return scan<DTYPE_S64, int64_t>(j, kind, from, to, workspace, s);
	default:
		return cudaErrorInvalidValue;
	}
}
