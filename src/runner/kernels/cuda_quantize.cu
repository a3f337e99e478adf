#include "runner/kernels/cuda_cub.cuh"
#include "runner/kernels/cuda_number.cuh"

/* Quantization and dequantization. Both sides are dense with the same layout, so elements are processed in
 * memory order; the scale's index is computed from the element's index. Dynamic quantization takes two
 * kernels: the first computes a range per block, and in the second every block reduces these ranges again,
 * which is cheaper than a third kernel. */

#define QUANTIZE_VECTOR 4       /* elements per load and store */
#define RANGE_THREADS 256

template <typename WORD> struct alignas(sizeof(WORD) * QUANTIZE_VECTOR) quantize_words {
	WORD word[QUANTIZE_VECTOR];
};

struct quantize_job {
	int64_t count;
	bool by_block;
	struct device_divisor inner, dim, size;
	int64_t blocks;
	float zero;
};

/* Returns the index of the scale of element `at` (struct cuda_quantize). */
static __device__ inline int64_t scale_index(const struct quantize_job &j, int64_t at)
{
	uint32_t row = device_divide((uint32_t)at, j.inner), column = (uint32_t)at - row * j.inner.divisor;
	uint32_t outer = device_divide(row, j.dim), d = row - outer * j.dim.divisor;
	return j.by_block ? ((int64_t)outer * j.blocks + device_divide(d, j.size)) * j.inner.divisor + column
			  : (int64_t)d;
}

template <int FROM, int TO, bool QUANTIZES>
static __device__ inline typename number<TO>::word quantize_one(
	typename number<FROM>::word w, float scale, float zero)
{
	float x = (float)number<FROM>::read(w);
	return number_round<TO>(QUANTIZES ? x / scale + zero : (x - zero) * scale);
}

template <int FROM, int TO, bool QUANTIZES, bool SINGLE>
static __global__ void quantize_kernel(const typename number<FROM>::word *__restrict__ from,
	typename number<TO>::word *__restrict__ to, const float *__restrict__ scales,
	const struct quantize_job j)
{
	typedef quantize_words<typename number<FROM>::word> from_words;
	typedef quantize_words<typename number<TO>::word> to_words;
	int64_t vectors = j.count / QUANTIZE_VECTOR,
		step = (int64_t)gridDim.x * DEVICE_THREADS * DEVICE_UNROLL;
	float one = SINGLE ? scales[0] : 1;
	for (int64_t base = (int64_t)blockIdx.x * DEVICE_THREADS * DEVICE_UNROLL + threadIdx.x;
		base < vectors; base += step) {
		from_words v[DEVICE_UNROLL];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++)
			if (base + u * DEVICE_THREADS < vectors)
				v[u] = ((const from_words *)from)[base + u * DEVICE_THREADS];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++) {
			int64_t at = base + u * DEVICE_THREADS;
			to_words out;
			if (at >= vectors)
				continue;
#pragma unroll
			for (int k = 0; k < QUANTIZE_VECTOR; k++)
				out.word[k] = quantize_one<FROM, TO, QUANTIZES>(v[u].word[k],
					SINGLE ? one : scales[scale_index(j, at * QUANTIZE_VECTOR + k)],
					j.zero);
			((to_words *)to)[at] = out;
		}
	}
	int64_t last = vectors * QUANTIZE_VECTOR + threadIdx.x;
	if (blockIdx.x == 0 && last < j.count)
		to[last] = quantize_one<FROM, TO, QUANTIZES>(from[last],
			SINGLE ? one : scales[scale_index(j, last)], j.zero);
}

struct range {
	float low, high;
};

struct range_join {
	__device__ inline range operator()(const range &a, const range &b) const
	{
		range r = { fminf(a.low, b.low), fmaxf(a.high, b.high) };
		return r;
	}
};

template <int FROM>
static __global__ void range_kernel(
	const typename number<FROM>::word *from, struct range *partial, int64_t count)
{
	typedef library::block_reduce<range, RANGE_THREADS> reduce;
	__shared__ typename reduce::storage storage;
	int64_t step = (int64_t)gridDim.x * RANGE_THREADS;
	range mine = { 0, 0 };
	range_join join;
	for (int64_t i = (int64_t)blockIdx.x * RANGE_THREADS + threadIdx.x; i < count; i += step) {
		float x = (float)number<FROM>::read(from[i]);
		range one = { x, x };
		mine = join(mine, one);
	}
	range all = reduce::run(storage, mine, join);
	if (threadIdx.x == 0)
		partial[blockIdx.x] = all;
}

template <int FROM, int TO>
static __global__ void dynamic_kernel(const typename number<FROM>::word *from, typename number<TO>::word *to,
	const struct range *partial, int partials, int64_t count)
{
	typedef library::block_reduce<range, RANGE_THREADS> reduce;
	__shared__ typename reduce::storage storage;
	__shared__ float found[2];
	range mine = { 0, 0 };
	range_join join;
	for (int i = (int)threadIdx.x; i < partials; i += RANGE_THREADS)
		mine = join(mine, partial[i]);
	range all = reduce::run(storage, mine, join);
	if (threadIdx.x == 0) {
		found[0] = all.high > all.low ? (all.high - all.low) / 255 : 1;
		found[1] = rintf((TO == DTYPE_S8 ? -128 : 0) - all.low / found[0]);
	}
	__syncthreads();
	float scale = found[0], zero = found[1];
	int64_t step = (int64_t)gridDim.x * RANGE_THREADS;
	for (int64_t i = (int64_t)blockIdx.x * RANGE_THREADS + threadIdx.x; i < count; i += step)
		to[i] = quantize_one<FROM, TO, true>(from[i], scale, zero);
}

template <int FROM, int TO, bool QUANTIZES>
static cudaError_t quantize(
	const struct cuda_quantize *q, const void *from, void *to, const float *scales, cudaStream_t s)
{
	typedef const typename number<FROM>::word *from_word;
	typedef typename number<TO>::word *to_word;
	struct quantize_job j = { q->count, q->by_block, device_divisor_of(q->inner),
		device_divisor_of(q->dim), device_divisor_of(q->size), (q->dim - 1) / q->size + 1, q->zero };
	int64_t blocks = device_blocks(q->count / QUANTIZE_VECTOR, DEVICE_THREADS * DEVICE_UNROLL);
	if (q->single)
		return LAUNCH((quantize_kernel<FROM, TO, QUANTIZES, true>), blocks, DEVICE_THREADS, s,
			(from_word)from, (to_word)to, scales, j);
	return LAUNCH((quantize_kernel<FROM, TO, QUANTIZES, false>), blocks, DEVICE_THREADS, s,
		(from_word)from, (to_word)to, scales, j);
}

template <int FROM, int TO>
static cudaError_t dynamic(
	const struct cuda_quantize *q, const void *from, void *to, void *workspace, cudaStream_t s)
{
	typedef const typename number<FROM>::word *from_word;
	typedef typename number<TO>::word *to_word;
	int64_t blocks = device_blocks(q->count, RANGE_THREADS * DEVICE_UNROLL);
	int64_t partials = blocks < CUDA_QUANTIZE_PARTS ? blocks : CUDA_QUANTIZE_PARTS;
	cudaError_t bad = LAUNCH_BLOCK((range_kernel<FROM>), partials, RANGE_THREADS, s, (from_word)from,
		(struct range *)workspace, q->count);
	return bad != cudaSuccess
		? bad
		: LAUNCH_BLOCK((dynamic_kernel<FROM, TO>), blocks, RANGE_THREADS, s, (from_word)from,
			  (to_word)to, (const struct range *)workspace, (int)partials, q->count);
}

#define QUANTIZE_PAIRS(_)                                                                                   \
	_(F32, S8) _(F32, U8) _(F32, F8E4M3) _(F32, F8E5M2) _(F16, S8) _(F16, U8) _(F16, F8E4M3)           \
	_(BF16, S8) _(BF16, U8) _(BF16, F8E4M3) _(F32, S16) _(F32, U16)
#define DEQUANTIZE_PAIRS(_)                                                                                 \
	_(S8, F32) _(U8, F32) _(F8E4M3, F32) _(F8E5M2, F32) _(S32, F32) _(S8, F16) _(U8, F16) _(F8E4M3, F16) \
	_(S32, F16) _(S8, BF16) _(U8, BF16) _(F8E4M3, BF16) _(S32, BF16) _(S16, F32) _(U16, F32)
#define DYNAMIC_PAIRS(_) _(F32, U8) _(F32, S8) _(F16, U8) _(BF16, U8)

static const struct {
	enum kernel kernel;
	enum dtype from, to;
	cudaError_t (*call)(const struct cuda_quantize *q, const void *from, void *to, const float *scales,
		cudaStream_t s);
} rows[] = {
#define QUANTIZE_ROW(f, t) { KERNEL_QUANTIZE, DTYPE_##f, DTYPE_##t, quantize<DTYPE_##f, DTYPE_##t, true> },
	QUANTIZE_PAIRS(QUANTIZE_ROW)
#define DEQUANTIZE_ROW(f, t) \
	{ KERNEL_DEQUANTIZE, DTYPE_##f, DTYPE_##t, quantize<DTYPE_##f, DTYPE_##t, false> },
	DEQUANTIZE_PAIRS(DEQUANTIZE_ROW)
};

static const struct {
	enum dtype from, to;
	cudaError_t (*call)(
		const struct cuda_quantize *q, const void *from, void *to, void *workspace, cudaStream_t s);
} dynamic_rows[] = {
#define DYNAMIC_ROW(f, t) { DTYPE_##f, DTYPE_##t, dynamic<DTYPE_##f, DTYPE_##t> },
	DYNAMIC_PAIRS(DYNAMIC_ROW)
};

static int row_of(const struct cuda_quantize *q)
{
	if (q->dynamic) {
		for (size_t i = 0; i < sizeof(dynamic_rows) / sizeof(*dynamic_rows); i++)
			if (dynamic_rows[i].from == q->from_type && dynamic_rows[i].to == q->to_type)
				return (int)i;
		return -1;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].kernel == q->kernel && rows[i].from == q->from_type && rows[i].to == q->to_type)
			return (int)i;
	return -1;
}

bool cuda_quantize_can(const struct cuda_quantize *q)
{
	return row_of(q) >= 0 && (q->single || q->dynamic || q->count <= DEVICE_FAST_MAX);
}

cudaError_t cuda_quantize(const struct cuda_quantize *q, const void *from, const void *scales, void *to,
	void *workspace, cudaStream_t s)
{
	int row = row_of(q);
	if (row < 0)
		return cudaErrorInvalidValue;
	return q->dynamic ? dynamic_rows[row].call(q, from, to, workspace, s) :
		rows[row].call(q, from, to, (const float *)scales, s);
}
