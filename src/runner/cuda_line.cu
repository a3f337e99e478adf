#include "runner/cuda_cub.cuh"
#include "runner/cuda_line.cuh"
#include "runner/cuda_number.cuh"

/* Argmax, argmin and running sums along an axis. */

#define LINE_THREADS 256
#define LINE_ITEMS 4       /* elements of a thread in one step of a running sum */
#define LINE_SHORT 256     /* dense lines up to here may be a thread's each */

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
	int64_t place;
};

/* The larger key; of equal ones the first place. */
template <typename KEY> struct extreme_join {
	__device__ inline extreme<KEY> operator()(const extreme<KEY> &a, const extreme<KEY> &b) const
	{
		bool first = a.key != b.key ? a.key > b.key : a.place < b.place;
		return first ? a : b;
	}
};

/* The extreme of every `step`-th element from `first` on. */
template <typename KEY>
static __device__ inline extreme<KEY> extreme_of(const struct line_job &j, const void *from, int64_t line, int64_t first,
	int64_t step)
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

static __device__ inline void place_write(const struct line_job &j, void *places, int64_t line, int64_t place)
{
	if (j.l.place_type == DTYPE_S64)
		((int64_t *)places)[line] = place;
	else
		((int32_t *)places)[line] = (int32_t)place;
}

template <typename KEY>
static __global__ void argreduce_block_kernel(const void *from, void *places, const struct line_job j)
{
	typedef library::block_reduce<extreme<KEY>, LINE_THREADS> reduce;
	__shared__ typename reduce::storage storage;
	for (int64_t line = blockIdx.x; line < j.lines; line += gridDim.x) {
		extreme<KEY> mine = extreme_of<KEY>(j, from, line, threadIdx.x, LINE_THREADS);
		extreme<KEY> best = reduce::run(storage, mine, extreme_join<KEY>());
		if (threadIdx.x == 0)
			place_write(j, places, line, best.place);
		__syncthreads();
	}
}

template <typename KEY>
static __global__ void argreduce_thread_kernel(const void *from, void *places, const struct line_job j)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t line = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; line < j.lines; line += step)
		place_write(j, places, line, extreme_of<KEY>(j, from, line, 0, 1).place);
}

template <typename KEY>
static cudaError_t argreduce(const struct line_job &j, enum cuda_line_kind kind, const void *from, void *places,
	cudaStream_t s)
{
	if (kind == CUDA_LINE_BLOCK)
		return LAUNCH_BLOCK((argreduce_block_kernel<KEY>), device_blocks(j.lines, 1), LINE_THREADS, s, from, places, j);
	return LAUNCH((argreduce_thread_kernel<KEY>), device_blocks(j.lines, LINE_THREADS), LINE_THREADS, s, from, places, j);
}

cudaError_t cuda_argreduce(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *places,
	cudaStream_t s)
{
	struct line_job j;
	int bytes = fill_bytes(l->dtype);
	if (!key_exists(l->dtype) || (l->place_type != DTYPE_S64 && l->place_type != DTYPE_S32))
		return cudaErrorInvalidValue;
	j.l = *l;
	j.lines = line_count(l);
	j.flip = l->mode == MODE_ARGMIN ? UINT64_MAX >> (64 - 8 * bytes) : 0;
	return bytes == 8 ? argreduce<uint64_t>(j, kind, from, places, s) : argreduce<uint32_t>(j, kind, from, places, s);
}

/* Sums are kept in f32, in f64 for f64, in 64 bits for whole numbers. */
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
				v[i] = first + i < j.l.size ?
					(SUM)number<TYPE>::read(from[begin + (first + i) * j.l.inner]) : (SUM)0;
				v[i] += i ? v[i - 1] : (SUM)0;
			}
			SUM mine = v[LINE_ITEMS - 1], upto = before + scan::run(storage, mine, total) - mine;
#pragma unroll
			for (int i = 0; i < LINE_ITEMS; i++)
				if (first + i < j.l.size)
					to[begin + (first + i) * j.l.inner] =
						number<TYPE>::write((typename number<TYPE>::value)(upto + v[i]));
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
static cudaError_t scan(const struct line_job &j, enum cuda_line_kind kind, const void *from, void *to, cudaStream_t s)
{
	typedef typename number<TYPE>::word word;
	if (kind == CUDA_LINE_BLOCK)
		return LAUNCH_BLOCK((scan_block_kernel<TYPE, SUM>), device_blocks(j.lines, 1), LINE_THREADS, s,
			(const word *)from, (word *)to, j);
	return LAUNCH((scan_thread_kernel<TYPE, SUM>), device_blocks(j.lines, LINE_THREADS), LINE_THREADS, s,
		(const word *)from, (word *)to, j);
}

cudaError_t cuda_scan(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to, cudaStream_t s)
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
