#include "runner/kernels/cuda_cub.cuh"
#include "runner/kernels/cuda_line.cuh"
#include "runner/kernels/cuda_number.cuh"

/* Argmax, argmin and cumulative sums along an axis: one line per block, or per thread. Argmax compares
 * unsigned sort keys (cuda_line.cuh), with all bits flipped for argmin; of equal keys the smallest index
 * wins. A block scans a line in chunks of LINE_THREADS * LINE_ITEMS elements: each thread sums its items, a
 * block scan adds the sums of the threads before it, and the chunk's total carries over to the next chunk. */

#define LINE_THREADS 256
#define LINE_ITEMS 4       /* elements per thread and chunk of a cumulative sum */
#define LINE_SHORT 256     /* maximum length of lines with stride 1 for CUDA_LINE_THREAD */

bool cuda_line_can(const struct cuda_line *l, enum cuda_line_kind kind)
{
	return kind == CUDA_LINE_BLOCK ? l->inner == 1 || l->size >= LINE_SHORT :
		kind == CUDA_LINE_THREAD && (l->inner > 1 || l->size <= LINE_SHORT);
}

struct line_job {
	struct cuda_line l;
	int64_t lines;
	uint64_t flip;
};

template <typename KEY> struct extreme {
	KEY key;
	int64_t index;
};

/* Returns the one with the larger key, or of equal keys the smaller index. */
template <typename KEY> struct extreme_join {
	__device__ inline extreme<KEY> operator()(const extreme<KEY> &a, const extreme<KEY> &b) const
	{
		bool first = a.key != b.key ? a.key > b.key : a.index < b.index;
		return first ? a : b;
	}
};

/* Returns the extreme of every `step`-th element, starting with `first`. */
template <typename KEY>
static __device__ inline extreme<KEY> extreme_of(
	const struct line_job &j, const void *from, int64_t line, int64_t first, int64_t step)
{
	int64_t begin = line_begin(line, j.l.inner, j.l.size);
	extreme<KEY> best = { 0, INT64_MAX };
	extreme_join<KEY> join;
	for (int64_t i = first; i < j.l.size; i += step) {
		extreme<KEY> x = { (KEY)(key_at(from, begin + i * j.l.inner, j.l.dtype) ^ j.flip), i };
		best = join(best, x);
	}
	return best;
}

static __device__ inline void index_write(const struct line_job &j, void *indices, int64_t line,
	int64_t index)
{
	if (j.l.index_type == DTYPE_S64)
		((int64_t *)indices)[line] = index;
	else
		((int32_t *)indices)[line] = (int32_t)index;
}

template <typename KEY>
static __global__ void argreduce_block_kernel(const void *from, void *indices, const struct line_job j)
{
	typedef library::block_reduce<extreme<KEY>, LINE_THREADS> reduce;
	__shared__ typename reduce::storage storage;
	for (int64_t line = blockIdx.x; line < j.lines; line += gridDim.x) {
		extreme<KEY> mine = extreme_of<KEY>(j, from, line, threadIdx.x, LINE_THREADS);
		extreme<KEY> best = reduce::run(storage, mine, extreme_join<KEY>());
		if (threadIdx.x == 0)
			index_write(j, indices, line, best.index);
		__syncthreads();
	}
}

template <typename KEY>
static __global__ void argreduce_thread_kernel(const void *from, void *indices, const struct line_job j)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t line = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; line < j.lines; line += step)
		index_write(j, indices, line, extreme_of<KEY>(j, from, line, 0, 1).index);
}

template <typename KEY>
static cudaError_t argreduce(const struct line_job &j, enum cuda_line_kind kind, const void *from,
	void *indices, cudaStream_t s)
{
	if (kind == CUDA_LINE_BLOCK)
		return LAUNCH_BLOCK((argreduce_block_kernel<KEY>), device_blocks(j.lines, 1), LINE_THREADS,
			s, from, indices, j);
	return LAUNCH((argreduce_thread_kernel<KEY>), device_blocks(j.lines, LINE_THREADS), LINE_THREADS, s,
		from, indices, j);
}

cudaError_t cuda_argreduce(const struct cuda_line *l, enum cuda_line_kind kind, const void *from,
	void *indices, cudaStream_t s)
{
	struct line_job j;
	int bytes = fill_bytes(l->dtype);
	if (!key_exists(l->dtype) || (l->index_type != DTYPE_S64 && l->index_type != DTYPE_S32))
		return cudaErrorInvalidValue;
	j.l = *l;
	j.lines = line_count(l);
	j.flip = l->mode == MODE_ARGMIN ? UINT64_MAX >> (64 - 8 * bytes) : 0;
	return bytes == 8 ? argreduce<uint64_t>(j, kind, from, indices, s) :
		argreduce<uint32_t>(j, kind, from, indices, s);
}

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
	j.flip = 0;
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
