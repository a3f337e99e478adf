#include "runner/kernels/cuda_cub.cuh"
#include "runner/kernels/cuda_rows.cuh"

#include <iterator>
#include <math.h>

/* The k largest or smallest elements of each line, in order: sorts keys together with their indices, of all
 * elements or of the k that a selection finds, then fetches the values by index. Sorting is ascending, so
 * keys are inverted for the largest; it is stable, so equal values keep their order. */

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

/* --- sorting --- */

/* Sorts the block's elements, ITEMS of each thread, and writes the first k. */
template <typename KEY, int THREADS, int ITEMS>
static __device__ inline void topk_sort_write(const struct topk_job &j, const void *from, void *to,
	int64_t *indices, int64_t line, KEY (&key)[ITEMS], int (&index)[ITEMS])
{
	typedef library::block_sort<KEY, THREADS, ITEMS> sort;
	__shared__ typename sort::storage storage;
	sort::run(storage, key, index, 8 * j.bytes);
#pragma unroll
	for (int i = 0; i < ITEMS; i++)
		if ((int)threadIdx.x * ITEMS + i < j.l.k)
			topk_write(j, from, to, indices, line, threadIdx.x * ITEMS + i, index[i]);
	__syncthreads(); /* before the storage is reused */
}

template <typename KEY, int THREADS, int ITEMS>
static __global__ void topk_block_kernel(const void *from, void *to, int64_t *indices,
	const struct topk_job j)
{
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
		topk_sort_write<KEY, THREADS, ITEMS>(j, from, to, indices, line, key, index);
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

/* --- selection: radix select, then a sort of k elements ---  Digits of 8 bits, the highest first: a
 * histogram of the digit among the elements that agree with the digits found so far gives the digit of the
 * k-th element, and how many of those that agree are still to be taken. */

#define SELECT_THREADS 256
#define SELECT_BINS 256
#define SELECT_ITEMS (CUDA_TOPK_SELECT_MOST / SELECT_THREADS)
#define SELECT_DIGITS 8 /* of the longest keys */

typedef library::block_scan<int, SELECT_THREADS> select_scan;

/* Of a line in the workspace; zeroed first. */
struct select_counts {
	int bin[SELECT_DIGITS][SELECT_BINS];
	int smaller, equal; /* elements taken */
};

/* The digits found so far, and how many elements that agree with them are to be taken. */
template <typename KEY> struct select_state {
	KEY digits;
	int left;
};

/* Finds digit d from its histogram; all threads get the state. */
template <typename KEY>
static __device__ inline void select_digit(
	select_scan::storage &storage, const int *bins, int d, select_state<KEY> &state)
{
	__shared__ select_state<KEY> next;
	int mine = bins[threadIdx.x], total, upto = select_scan::run(storage, mine, total);
	if (upto >= state.left && upto - mine < state.left) {
		next.digits = state.digits | (KEY)((KEY)threadIdx.x << 8 * d);
		next.left = state.left - (upto - mine);
	}
	__syncthreads();
	state = next;
	__syncthreads();
}

/* Counts digit d of the elements that agree above it. */
template <typename KEY>
static __device__ inline void select_count(const struct topk_job &j, const void *from, const row_range &r,
	int d, KEY digits, int *bins)
{
	int64_t begin = line_begin(r.line, j.l.inner, j.l.size);
	for (int64_t i = r.first + threadIdx.x; i < r.last; i += SELECT_THREADS) {
		KEY other = topk_key<KEY>(j, from, begin + i * j.l.inner) ^ digits;
		if ((uint64_t)other >> 8 * d < SELECT_BINS)
			atomicAdd(&bins[(uint64_t)other >> 8 * d], 1);
	}
}

/* Takes the elements below the k-th, and as many equal ones as are left, in any order. */
template <typename KEY>
static __device__ inline void select_take(const struct topk_job &j, const void *from, const row_range &r,
	const select_state<KEY> &state, int *smaller, int *equal, KEY *key, int *index)
{
	int64_t begin = line_begin(r.line, j.l.inner, j.l.size);
	for (int64_t i = r.first + threadIdx.x; i < r.last; i += SELECT_THREADS) {
		KEY x = topk_key<KEY>(j, from, begin + i * j.l.inner);
		int place = j.l.k;
		if (x < state.digits)
			place = atomicAdd(smaller, 1);
		else if (x == state.digits)
			place = (int)j.l.k - 1 - atomicAdd(equal, 1);
		if (place < j.l.k && place >= (x < state.digits ? 0 : j.l.k - state.left)) {
			key[place] = x;
			index[place] = (int)i;
		}
	}
}

/* Sorts the k elements taken and writes them. */
template <typename KEY>
static __device__ inline void select_write(const struct topk_job &j, const void *from, void *to,
	int64_t *indices, int64_t line, const KEY *taken, const int *taken_index)
{
	KEY key[SELECT_ITEMS];
	int index[SELECT_ITEMS];
#pragma unroll
	for (int i = 0; i < SELECT_ITEMS; i++) {
		int at = (int)threadIdx.x * SELECT_ITEMS + i;
		key[i] = at < j.l.k ? taken[at] : (KEY)UINT64_MAX;
		index[i] = at < j.l.k ? taken_index[at] : 0;
	}
	topk_sort_write<KEY, SELECT_THREADS, SELECT_ITEMS>(j, from, to, indices, line, key, index);
}

/* One line per block. */
template <typename KEY>
static __global__ void topk_select_kernel(const void *from, void *to, int64_t *indices,
	const struct topk_job j)
{
	__shared__ int bins[SELECT_BINS], taken[2], index[CUDA_TOPK_SELECT_MOST];
	__shared__ KEY key[CUDA_TOPK_SELECT_MOST];
	__shared__ select_scan::storage storage;
	for (int64_t line = blockIdx.x; line < j.lines; line += gridDim.x) {
		select_state<KEY> state = { 0, (int)j.l.k };
		const row_range all = { line, 0, 0, j.l.size };
		for (int d = j.bytes - 1; d >= 0; d--) {
			bins[threadIdx.x] = 0;
			__syncthreads();
			select_count<KEY>(j, from, all, d, state.digits, bins);
			__syncthreads();
			select_digit<KEY>(storage, bins, d, state);
		}
		if (threadIdx.x < 2)
			taken[threadIdx.x] = 0;
		__syncthreads();
		select_take<KEY>(j, from, all, state, &taken[0], &taken[1], key, index);
		__syncthreads();
		select_write<KEY>(j, from, to, indices, line, key, index);
	}
}

/* Finds the digits above d again from the histograms in the workspace. */
template <typename KEY>
static __device__ inline select_state<KEY> select_state_of(const struct topk_job &j,
	select_scan::storage &storage, const struct select_counts *counts, int d)
{
	select_state<KEY> state = { 0, (int)j.l.k };
	for (int i = j.bytes - 1; i > d; i--)
		select_digit<KEY>(storage, counts->bin[i], i, state);
	return state;
}

/* A block per part of a line: counts digit d. */
template <typename KEY>
static __global__ void topk_count_kernel(const void *from, struct select_counts *counts,
	const struct topk_job j, const struct row_parts parts, int d)
{
	__shared__ int bins[SELECT_BINS];
	__shared__ select_scan::storage storage;
	for (int64_t b = blockIdx.x; b < j.lines * parts.count; b += gridDim.x) {
		row_range r = row_range_of(parts, b, j.l.size);
		select_state<KEY> state = select_state_of<KEY>(j, storage, counts + r.line, d);
		bins[threadIdx.x] = 0;
		__syncthreads();
		select_count<KEY>(j, from, r, d, state.digits, bins);
		__syncthreads();
		if (bins[threadIdx.x])
			atomicAdd(&counts[r.line].bin[d][threadIdx.x], bins[threadIdx.x]);
		__syncthreads();
	}
}

template <typename KEY>
static __global__ void topk_take_kernel(const void *from, struct select_counts *counts, KEY *key, int *index,
	const struct topk_job j, const struct row_parts parts)
{
	__shared__ select_scan::storage storage;
	for (int64_t b = blockIdx.x; b < j.lines * parts.count; b += gridDim.x) {
		row_range r = row_range_of(parts, b, j.l.size);
		select_state<KEY> state = select_state_of<KEY>(j, storage, counts + r.line, -1);
		select_take<KEY>(j, from, r, state, &counts[r.line].smaller, &counts[r.line].equal,
			key + r.line * j.l.k, index + r.line * j.l.k);
	}
}

template <typename KEY>
static __global__ void topk_order_kernel(const void *from, void *to, int64_t *indices, const KEY *key,
	const int *index, const struct topk_job j)
{
	for (int64_t line = blockIdx.x; line < j.lines; line += gridDim.x)
		select_write<KEY>(j, from, to, indices, line, key + line * j.l.k, index + line * j.l.k);
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
	case CUDA_TOPK_SELECT: return l->k <= CUDA_TOPK_SELECT_MOST && l->size > SELECT_THREADS;
	case CUDA_TOPK_SELECT_SPLIT:
		return l->k <= CUDA_TOPK_SELECT_MOST && cuda_line_parts(l, CUDA_LINE_SPLIT) > 1;
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
	return LAUNCH_BLOCK((topk_block_kernel<KEY, 512, 8>), grid, 512, s, from, to, indices, j);
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

/* The workspace of a selection by several blocks per line. */
template <typename KEY> struct select_space {
	struct select_counts *counts;
	KEY *key;
	int *index;
};

/* Sets the addresses; returns the bytes. */
template <typename KEY>
static size_t select_lay(struct select_space<KEY> *w, const struct topk_job &j, void *base)
{
	size_t counts = round_up((size_t)j.lines * sizeof(struct select_counts)),
	       keys = round_up((size_t)(j.lines * j.l.k) * sizeof(KEY));
	w->counts = (struct select_counts *)base;
	w->key = (KEY *)((uintptr_t)base + counts);
	w->index = (int *)((uintptr_t)base + counts + keys);
	return counts + keys + round_up((size_t)(j.lines * j.l.k) * sizeof(int));
}

template <typename KEY>
static cudaError_t topk_split(const struct topk_job &j, const void *from, void *to, int64_t *indices,
	void *workspace, cudaStream_t s)
{
	struct row_parts parts = row_parts_of(cuda_line_parts(&j.l, CUDA_LINE_SPLIT), j.l.size);
	int64_t grid = device_blocks(j.lines * parts.count, 1);
	struct select_space<KEY> w;
	select_lay<KEY>(&w, j, workspace);
	cudaError_t bad = cudaMemsetAsync(w.counts, 0, (size_t)j.lines * sizeof(struct select_counts), s);
	for (int d = j.bytes - 1; d >= 0 && bad == cudaSuccess; d--)
		bad = LAUNCH_BLOCK((topk_count_kernel<KEY>), grid, SELECT_THREADS, s, from, w.counts, j,
			parts, d);
	if (bad == cudaSuccess)
		bad = LAUNCH_BLOCK((topk_take_kernel<KEY>), grid, SELECT_THREADS, s, from, w.counts, w.key,
			w.index, j, parts);
	if (bad == cudaSuccess)
		bad = LAUNCH_BLOCK((topk_order_kernel<KEY>), device_blocks(j.lines, 1), SELECT_THREADS, s,
			from, to, indices, (const KEY *)w.key, (const int *)w.index, j);
	return bad;
}

/* Returns the bytes of the whole workspace; NaN if CUB reports no size. */
template <typename KEY> static double topk_bytes(const struct topk_job &j, enum cuda_topk_kind kind)
{
	struct topk_space<KEY> w;
	struct select_space<KEY> selected;
	if (kind == CUDA_TOPK_SELECT_SPLIT)
		return (double)select_lay<KEY>(&selected, j, NULL);
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
	if (kind == CUDA_TOPK_BLOCK || kind == CUDA_TOPK_SELECT)
		return 0;
	return j.bytes == 8 ? topk_bytes<uint64_t>(j, kind) : topk_bytes<uint32_t>(j, kind);
}

template <typename KEY>
static cudaError_t topk(const struct topk_job &j, enum cuda_topk_kind kind, const void *from, void *to,
	int64_t *indices, void *workspace, cudaStream_t s)
{
	if (kind == CUDA_TOPK_BLOCK)
		return topk_block<KEY>(j, from, to, indices, s);
	if (kind == CUDA_TOPK_SELECT)
		return LAUNCH_BLOCK((topk_select_kernel<KEY>), device_blocks(j.lines, 1), SELECT_THREADS, s,
			from, to, indices, j);
	if (kind == CUDA_TOPK_SELECT_SPLIT)
		return topk_split<KEY>(j, from, to, indices, workspace, s);
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
