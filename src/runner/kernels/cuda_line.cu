#include "runner/kernels/cuda_cub.cuh"
#include "runner/kernels/cuda_line.cuh"
#include "runner/kernels/cuda_number.cuh"

/* How lines are divided among threads, and cumulative sums along an axis: one line per block, or per thread.
 * A block scans a line in chunks of LINE_THREADS * LINE_ITEMS elements: each thread sums its items, a block
 * scan adds the sums of the threads before it, and the chunk's total carries over to the next chunk. */

#define LINE_THREADS 256
#define LINE_ITEMS 4          /* elements per thread and chunk of a cumulative sum */
#define LINE_SHORT 256        /* maximum length of lines with stride 1 for CUDA_LINE_THREAD */
#define LINE_WARP_HELD 1024   /* maximum length of lines that a warp keeps in registers */
#define LINE_WARP_READ 4096   /* ... that a warp reads */
#define LINE_BLOCKS 1024      /* blocks to fill any GPU several times: lines are split into that many parts */
#define LINE_PART 4096        /* minimum elements of a part with stride 1 */
#define COLUMN_PART 64        /* minimum elements of a column's part */
#define COLUMN_BYTES 512      /* of adjacent columns that a block takes */

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

static bool scan_can(const struct cuda_line *l, enum cuda_line_kind kind)
{
	return kind == CUDA_LINE_BLOCK ? l->inner == 1 || l->size >= LINE_SHORT :
		kind == CUDA_LINE_THREAD && (l->inner > 1 || l->size <= LINE_SHORT);
}

bool cuda_line_can(const struct cuda_line *l, enum cuda_line_task task, enum cuda_line_kind kind)
{
	bool reduces = task == CUDA_LINE_REDUCE;
	if (task == CUDA_LINE_SCAN)
		return scan_can(l, kind);
	switch (kind) {
	case CUDA_LINE_WARP: return l->inner == 1 && l->size <= (reduces ? LINE_WARP_READ : LINE_WARP_HELD);
	case CUDA_LINE_BLOCK: return l->inner == 1 && l->size > LINE_SHORT;
	case CUDA_LINE_SPLIT: return l->inner == 1 && cuda_line_parts(l, kind) > 1;
	case CUDA_LINE_COLUMN: return l->inner > 1;
	case CUDA_LINE_COLUMN_SPLIT: return reduces && l->inner > 1 && cuda_line_parts(l, kind) > 1;
	default: return false;
	}
}

struct line_job {
	struct cuda_line l;
	int64_t lines;
};

/* Sums are accumulated in f32, for f64 in f64, for integers in 64 bits. */
template <int TYPE, typename SUM>
static __global__ void scan_block_kernel(const typename number<TYPE>::word *__restrict__ from,
	typename number<TYPE>::word *__restrict__ to, const struct line_job j)
{
	typedef library::block_scan<SUM, LINE_THREADS> scan;
	__shared__ typename scan::storage storage;
	for (int64_t line = blockIdx.x; line < j.lines; line += gridDim.x) {
		int64_t begin = line_begin(line, j.l.inner, j.l.size);
		SUM before = 0;
		for (int64_t base = 0; base < j.l.size; base += LINE_THREADS * LINE_ITEMS) {
			int64_t first = base + threadIdx.x * LINE_ITEMS;
			SUM v[LINE_ITEMS], total;
#pragma unroll
			for (int i = 0; i < LINE_ITEMS; i++) {
				v[i] = first + i < j.l.size
					? (SUM)number<TYPE>::read(from[begin + (first + i) * j.l.inner])
					: (SUM)0;
				v[i] += i ? v[i - 1] : (SUM)0;
			}
			SUM mine = v[LINE_ITEMS - 1], upto = before + scan::run(storage, mine, total) - mine;
#pragma unroll
			for (int i = 0; i < LINE_ITEMS; i++)
				if (first + i < j.l.size)
					to[begin + (first + i) * j.l.inner] = number<TYPE>::write(
						(typename number<TYPE>::value)(upto + v[i]));
			before += total;
			__syncthreads();
		}
	}
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
static cudaError_t scan(
	const struct line_job &j, enum cuda_line_kind kind, const void *from, void *to, cudaStream_t s)
{
	typedef typename number<TYPE>::word word;
	if (kind == CUDA_LINE_BLOCK)
		return LAUNCH_BLOCK((scan_block_kernel<TYPE, SUM>), device_blocks(j.lines, 1), LINE_THREADS,
			s, (const word *)from, (word *)to, j);
	return LAUNCH((scan_thread_kernel<TYPE, SUM>), device_blocks(j.lines, LINE_THREADS), LINE_THREADS, s,
		(const word *)from, (word *)to, j);
}

cudaError_t cuda_scan(
	const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to, cudaStream_t s)
{
	struct line_job j;
	j.l = *l;
	j.lines = line_count(l);
	switch (l->dtype) {
	case DTYPE_F32: return scan<DTYPE_F32, float>(j, kind, from, to, s);
	case DTYPE_F16: return scan<DTYPE_F16, float>(j, kind, from, to, s);
	case DTYPE_BF16: return scan<DTYPE_BF16, float>(j, kind, from, to, s);
	case DTYPE_F64: return scan<DTYPE_F64, double>(j, kind, from, to, s);
	case DTYPE_S32: return scan<DTYPE_S32, int64_t>(j, kind, from, to, s);
	case DTYPE_S64: return scan<DTYPE_S64, int64_t>(j, kind, from, to, s);
	default: return cudaErrorInvalidValue;
	}
}
