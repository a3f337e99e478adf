#include "runner/kernels/cuda_cub.cuh"
#include "runner/kernels/cuda_line.cuh"

#include <iterator>
#include <math.h>

/* The k largest or smallest elements of each line, in order: sorts keys together with their indices, then
 * fetches the values by index. Sorting is ascending, so keys are inverted for the largest; it is stable, so
 * equal values keep their order. */

struct topk_job {
	struct cuda_line l;
	int64_t lines, flip;
	int bytes;
};

/* Returns the sort key of an element: the smallest come first. */
template <typename KEY>
static __device__ inline KEY topk_key(const struct topk_job &j, const void *from, int64_t at)
{
	return (KEY)(key_at(from, at, j.l.dtype, j.bytes) ^ (uint64_t)j.flip);
}

static __device__ inline void topk_write(const struct topk_job &j, const void *from, void *to,
	int64_t *indices, int64_t line, int64_t rank, int index)
{
	int64_t at = line_begin(line, j.l.inner, j.l.size) + index * j.l.inner;
	int64_t put = line_begin(line, j.l.inner, j.l.k) + rank * j.l.inner;
	switch (j.bytes) {
	case 1: ((uint8_t *)to)[put] = ((const uint8_t *)from)[at]; break;
	case 2: ((uint16_t *)to)[put] = ((const uint16_t *)from)[at]; break;
	case 4: ((uint32_t *)to)[put] = ((const uint32_t *)from)[at]; break;
	default: ((uint64_t *)to)[put] = ((const uint64_t *)from)[at]; break;
	}
	indices[put] = index;
}

template <typename KEY, int THREADS, int ITEMS>
static __global__ void topk_block_kernel(const void *from, void *to, int64_t *indices,
	const struct topk_job j)
{
	typedef library::block_sort<KEY, THREADS, ITEMS> sort;
	__shared__ typename sort::storage storage;
	for (int64_t line = blockIdx.x; line < j.lines; line += gridDim.x) {
		KEY key[ITEMS];
		int index[ITEMS];
		int64_t begin = line_begin(line, j.l.inner, j.l.size);
#pragma unroll
		for (int i = 0; i < ITEMS; i++) {
			index[i] = (int)threadIdx.x * ITEMS + i;
			key[i] = (KEY)UINT64_MAX; /* padding, sorted after elements with this key */
			if (index[i] < j.l.size)
				key[i] = topk_key<KEY>(j, from, begin + index[i] * j.l.inner);
		}
		sort::run(storage, key, index, 8 * j.bytes);
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
			if ((int)threadIdx.x * ITEMS + i < j.l.k)
				topk_write(j, from, to, indices, line, threadIdx.x * ITEMS + i, index[i]);
		__syncthreads(); /* before the storage is reused */
	}
}

template <typename KEY>
static __global__ void topk_keys_kernel(const void *from, KEY *keys, int *order, const struct topk_job j)
{
	int64_t count = j.lines * j.l.size, step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
		int64_t line = i / j.l.size, index = i - line * j.l.size;
		int64_t at = line_begin(line, j.l.inner, j.l.size) + index * j.l.inner;
		keys[i] = topk_key<KEY>(j, from, at);
		order[i] = (int)index;
	}
}

static __global__ void topk_fetch_kernel(const void *from, void *to, int64_t *indices, const int *order,
	const struct topk_job j)
{
	int64_t count = j.lines * j.l.k, step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
		int64_t line = i / j.l.k, rank = i - line * j.l.k;
		topk_write(j, from, to, indices, line, rank, order[line * j.l.size + rank]);
	}
}

static struct topk_job topk_job_of(const struct cuda_line *l)
{
	struct topk_job j;
	j.l = *l;
	j.lines = line_count(l);
	j.bytes = fill_bytes(l->dtype);
	j.flip = l->mode == MODE_LARGEST ? (int64_t)(UINT64_MAX >> (64 - 8 * j.bytes)) : 0;
	return j;
}

bool cuda_topk_can(const struct cuda_line *l, enum cuda_topk_kind kind)
{
	double all = (double)line_count(l) * (double)l->size;
	if (!key_exists(l->dtype) || all > DEVICE_FAST_MAX)
		return false;
	switch (kind) {
	case CUDA_TOPK_BLOCK: return l->size <= CUDA_TOPK_BLOCK_SIZE;
	case CUDA_TOPK_SEGMENTED: return true;
	case CUDA_TOPK_SORT: return line_count(l) <= CUDA_TOPK_SORT_LINES;
	default: return false;
	}
}

template <typename KEY> static cudaError_t topk_block(const struct topk_job &j, const void *from, void *to,
	int64_t *indices, cudaStream_t s)
{
	int64_t grid = device_blocks(j.lines, 1);
	if (j.l.size <= 128)
		return LAUNCH_BLOCK((topk_block_kernel<KEY, 128, 1>), grid, 128, s, from, to, indices, j);
	if (j.l.size <= 1024)
		return LAUNCH_BLOCK((topk_block_kernel<KEY, 256, 4>), grid, 256, s, from, to, indices, j);
	return LAUNCH_BLOCK((topk_block_kernel<KEY, 256, 16>), grid, 256, s, from, to, indices, j);
}

/* Iterator over the offsets of dense lines. */
struct line_offsets {
	int64_t size, first;
	typedef int64_t value_type;
	typedef int64_t difference_type;
	typedef const int64_t *pointer;
	typedef int64_t reference;
	typedef std::random_access_iterator_tag iterator_category;
	__host__ __device__ inline int64_t operator[](int64_t i) const { return (first + i) * size; }
	__host__ __device__ inline int64_t operator*() const { return first * size; }
	__host__ __device__ inline line_offsets operator+(int64_t n) const { return { size, first + n }; }
};

/* The parts of the workspace, each aligned to 256 bytes. */
template <typename KEY> struct topk_space {
	KEY *key, *sorted_key;
	int *order, *sorted_order;
	void *temp;
	size_t temp_bytes;
};

static size_t round_up(size_t n)
{
	return (n + 255) / 256 * 256;
}

/* Sets the addresses of the parts. Returns the bytes before CUB's own part, `temp`. */
template <typename KEY>
static size_t topk_lay(struct topk_space<KEY> *w, const struct topk_job &j, void *base)
{
	size_t n = (size_t)(j.lines * j.l.size), keys = round_up(n * sizeof(KEY)),
	       orders = round_up(n * sizeof(int));
	uintptr_t at = (uintptr_t)base;
	w->key = (KEY *)at;
	w->sorted_key = (KEY *)(at + keys);
	w->order = (int *)(at + 2 * keys);
	w->sorted_order = (int *)(at + 2 * keys + orders);
	w->temp = (void *)(at + 2 * keys + 2 * orders);
	return 2 * keys + 2 * orders;
}

template <typename KEY>
static cudaError_t topk_sort(
	const struct topk_job &j, enum cuda_topk_kind kind, struct topk_space<KEY> *w, cudaStream_t s)
{
	int bits = 8 * j.bytes, size = (int)j.l.size, lines = (int)j.lines;
	line_offsets offsets = { j.l.size, 0 };
	if (kind == CUDA_TOPK_SEGMENTED)
		return library::sort_segments<KEY>(w->temp, w->temp_bytes, w->key, w->sorted_key, w->order,
			w->sorted_order, lines * size, lines, offsets, bits, s);
	cudaError_t bad = cudaSuccess;
	for (int64_t i = 0; i < (w->temp ? j.lines : 1) && bad == cudaSuccess; i++)
		bad = library::sort_pairs<KEY>(w->temp, w->temp_bytes, w->key + i * size,
			w->sorted_key + i * size, w->order + i * size, w->sorted_order + i * size, size, bits,
			s);
	return bad;
}

/* Returns the bytes of the whole workspace; NaN if CUB reports no size. */
template <typename KEY> static double topk_bytes(const struct topk_job &j, enum cuda_topk_kind kind)
{
	struct topk_space<KEY> w;
	size_t own = topk_lay<KEY>(&w, j, NULL);
	w.temp = NULL;
	w.temp_bytes = 0;
	if (topk_sort<KEY>(j, kind, &w, NULL) == cudaSuccess)
		return (double)(own + round_up(w.temp_bytes ? w.temp_bytes : 1));
	(void)cudaGetLastError(); /* expected without a device */
	return NAN;
}

double cuda_topk_workspace(const struct cuda_line *l, enum cuda_topk_kind kind)
{
	struct topk_job j = topk_job_of(l);
	if (kind == CUDA_TOPK_BLOCK)
		return 0;
	return j.bytes == 8 ? topk_bytes<uint64_t>(j, kind) : topk_bytes<uint32_t>(j, kind);
}

template <typename KEY>
static cudaError_t topk(const struct topk_job &j, enum cuda_topk_kind kind, const void *from, void *to,
	int64_t *indices, void *workspace, cudaStream_t s)
{
	if (kind == CUDA_TOPK_BLOCK)
		return topk_block<KEY>(j, from, to, indices, s);
	struct topk_space<KEY> w;
	topk_lay<KEY>(&w, j, workspace);
	void *temp = w.temp;
	w.temp = NULL; /* first call: only sets temp_bytes */
	w.temp_bytes = 0;
	cudaError_t bad = topk_sort<KEY>(j, kind, &w, s);
	w.temp = temp;
	if (bad == cudaSuccess)
		bad = LAUNCH((topk_keys_kernel<KEY>), device_blocks(j.lines * j.l.size, DEVICE_THREADS),
			DEVICE_THREADS, s, from, w.key, w.order, j);
	if (bad == cudaSuccess)
		bad = topk_sort<KEY>(j, kind, &w, s);
	if (bad == cudaSuccess)
		bad = LAUNCH(topk_fetch_kernel, device_blocks(j.lines * j.l.k, DEVICE_THREADS),
			DEVICE_THREADS, s, from, to, indices, w.sorted_order, j);
	return bad;
}

cudaError_t cuda_topk(const struct cuda_line *l, enum cuda_topk_kind kind, const void *from, void *to,
	int64_t *indices, void *workspace, cudaStream_t s)
{
	struct topk_job j = topk_job_of(l);
	if (!cuda_topk_can(l, kind))
		return cudaErrorInvalidValue;
	return j.bytes == 8 ? topk<uint64_t>(j, kind, from, to, indices, workspace, s) :
		topk<uint32_t>(j, kind, from, to, indices, workspace, s);
}
