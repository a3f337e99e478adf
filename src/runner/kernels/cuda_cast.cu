#include "runner/kernels/cuda_number.cuh"
#include "runner/kernels/cuda_strided.cuh"

/* Casts. Pairs of types that occur in models have their own kernels; any other pair is converted through
 * double. */

#define CAST_VECTOR 4 /* elements per load and store if both sides are dense */

template <typename WORD> struct alignas(sizeof(WORD) * CAST_VECTOR) cast_words {
	WORD word[CAST_VECTOR];
};

template <int FROM, int TO>
static __device__ inline typename number<TO>::word cast_one(typename number<FROM>::word w)
{
	return number<TO>::write(number_convert<TO>(number<FROM>::read(w)));
}

/* Casts `vectors` full vectors and the `rest` elements after them. */
template <int FROM, int TO>
static __global__ void cast_kernel(const typename number<FROM>::word *__restrict__ from,
	typename number<TO>::word *__restrict__ to, int64_t vectors, int rest)
{
	typedef cast_words<typename number<FROM>::word> from_words;
	typedef cast_words<typename number<TO>::word> to_words;
	int64_t each = (int64_t)DEVICE_THREADS * DEVICE_UNROLL, step = (int64_t)gridDim.x * each;
	for (int64_t base = (int64_t)blockIdx.x * each + threadIdx.x; base < vectors; base += step) {
		from_words v[DEVICE_UNROLL];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++)
			if (base + u * DEVICE_THREADS < vectors)
				v[u] = ((const from_words *)from)[base + u * DEVICE_THREADS];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++) {
			to_words out;
#pragma unroll
			for (int k = 0; k < CAST_VECTOR; k++)
				out.word[k] = cast_one<FROM, TO>(v[u].word[k]);
			if (base + u * DEVICE_THREADS < vectors)
				((to_words *)to)[base + u * DEVICE_THREADS] = out;
		}
	}
	int64_t last = vectors * CAST_VECTOR + threadIdx.x;
	if (blockIdx.x == 0 && (int)threadIdx.x < rest)
		to[last] = cast_one<FROM, TO>(from[last]);
}

template <int FROM, int TO>
static __global__ void cast_strided_kernel(const typename number<FROM>::word *__restrict__ from,
	typename number<TO>::word *__restrict__ to, int64_t count,
	const struct strided_map<2, PROBLEM_RANK> p)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
		int64_t at[2];
		strided_offsets<2, PROBLEM_RANK, false>(p, i, at);
		to[at[1]] = cast_one<FROM, TO>(from[at[0]]);
	}
}

static __device__ inline uint64_t load_bits(const void *from, int64_t at, int bytes)
{
	return bytes == 1 ? ((const uint8_t *)from)[at] : bytes == 2 ? ((const uint16_t *)from)[at] :
		bytes == 4 ? ((const uint32_t *)from)[at] : ((const uint64_t *)from)[at];
}

static __device__ inline void store_bits(void *to, int64_t at, int bytes, uint64_t bits)
{
	if (bytes == 1)
		((uint8_t *)to)[at] = (uint8_t)bits;
	else if (bytes == 2)
		((uint16_t *)to)[at] = (uint16_t)bits;
	else if (bytes == 4)
		((uint32_t *)to)[at] = (uint32_t)bits;
	else
		((uint64_t *)to)[at] = bits;
}

struct cast_any_job {
	enum dtype from_type, to_type;
	int from_bytes, to_bytes;
	int64_t count;
	bool truncates; /* to an integer type: drops the fraction */
};

static __global__ void cast_any_kernel(const void *from, void *to, struct cast_any_job j,
	const struct strided_map<2, PROBLEM_RANK> p)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < j.count; i += step) {
		int64_t at[2];
		strided_offsets<2, PROBLEM_RANK, true>(p, i, at);
		double value = fill_unbits(load_bits(from, at[0], j.from_bytes), j.from_type);
		if (j.truncates)
			value = trunc(value);
		store_bits(to, at[1], j.to_bytes, fill_bits(value, j.to_type));
	}
}

static cudaError_t cast_any(const struct cuda_move *m, const void *from, void *to, cudaStream_t s)
{
	const int64_t *stride[2] = { m->plain.from, m->plain.to };
	bool is_signed;
	struct cast_any_job j = { m->from_type, m->to_type, fill_bytes(m->from_type), fill_bytes(m->to_type),
		strided_count(m->plain.rank, m->plain.dim), fill_whole_bits(m->to_type, &is_signed) > 0 };
	if (!j.from_bytes || !j.to_bytes)
		return cudaErrorInvalidValue;
	return LAUNCH(cast_any_kernel, device_blocks(j.count, DEVICE_THREADS), DEVICE_THREADS, s, from, to, j,
		(strided_map_of<2, PROBLEM_RANK>(m->plain.rank, m->plain.dim, stride)));
}

template <int FROM, int TO>
static cudaError_t cast(const struct cuda_move *m, const void *from, void *to, cudaStream_t s)
{
	typedef typename number<FROM>::word from_word;
	typedef typename number<TO>::word to_word;
	const int64_t *stride[2] = { m->plain.from, m->plain.to };
	int64_t count = strided_count(m->plain.rank, m->plain.dim);
	if (m->dense && m->aligned)
		return LAUNCH((cast_kernel<FROM, TO>),
			device_blocks(count / CAST_VECTOR, DEVICE_THREADS * DEVICE_UNROLL), DEVICE_THREADS, s,
			(const from_word *)from, (to_word *)to, count / CAST_VECTOR,
			(int)(count % CAST_VECTOR));
	if (count > DEVICE_FAST_MAX)
		return cast_any(m, from, to, s);
	return LAUNCH((cast_strided_kernel<FROM, TO>), device_blocks(count, DEVICE_THREADS), DEVICE_THREADS,
		s, (const from_word *)from, (to_word *)to, count,
		(strided_map_of<2, PROBLEM_RANK>(m->plain.rank, m->plain.dim, stride)));
}

#define CAST_PAIRS(_)                                                                                       \
	_(F32, F16) _(F16, F32) _(F32, BF16) _(BF16, F32) _(F16, BF16) _(BF16, F16) _(F32, F8E4M3)         \
	_(F8E4M3, F32) _(F32, F8E5M2) _(F8E5M2, F32) _(F16, F8E4M3) _(BF16, F8E4M3) _(F32, S8) _(S8, F32) \
	_(F32, U8) _(U8, F32) _(F32, S32) _(S32, F32) _(F32, S64) _(S64, F32) _(S32, S64) _(S64, S32)     \
	_(F32, BOOL) _(BOOL, F32) _(BOOL, S32) _(BOOL, S64) _(S32, BOOL) _(S64, BOOL) _(F32, F64)         \
	_(F64, F32) _(F16, S64) _(S64, F16) _(BOOL, F16) _(F16, BOOL) _(U8, F16) _(U8, S32) _(S32, U8)

static const struct {
	enum dtype from, to;
	cudaError_t (*cast)(const struct cuda_move *m, const void *from, void *to, cudaStream_t s);
} cast_pairs[] = {
#define CAST_PAIR(f, t) { DTYPE_##f, DTYPE_##t, cast<DTYPE_##f, DTYPE_##t> },
	CAST_PAIRS(CAST_PAIR)
#undef CAST_PAIR
};

cudaError_t cuda_move_cast(const struct cuda_move *m, const void *from, void *to, cudaStream_t s)
{
	for (size_t i = 0; i < sizeof(cast_pairs) / sizeof(*cast_pairs); i++)
		if (cast_pairs[i].from == m->from_type && cast_pairs[i].to == m->to_type)
			return cast_pairs[i].cast(m, from, to, s);
	return cast_any(m, from, to, s);
}
