#include "runner/kernels/cuda_rows.cuh"

#include <math.h>

/* Reductions along an axis (cuda_rows.cuh): of numbers, and argmax and argmin. */

/* The modes of reduce; a mean is a sum times a factor. */
template <enum mode MODE> static __device__ inline float reduce_none(void)
{
	return MODE == MODE_REDUCE_MAX	  ? -INFINITY
		: MODE == MODE_REDUCE_MIN ? INFINITY
		: MODE == MODE_REDUCE_MUL ? 1.0f
					  : 0.0f;
}

template <enum mode MODE> static __device__ inline float reduce_join(float a, float b)
{
	return MODE == MODE_REDUCE_MAX	  ? fmaxf(a, b)
		: MODE == MODE_REDUCE_MIN ? fminf(a, b)
		: MODE == MODE_REDUCE_MUL ? a * b
					  : a + b;
}

template <int TYPE, enum mode MODE>
struct reduction {
	typedef typename number<TYPE>::word word; typedef word result; typedef float part;
	float factor; /* of the result */
	__device__ inline float origin(const word *) const { return 0; }
__device__ inline part none() const
{
	return reduce_none<MODE>();
}
__device__ inline part join(part a, part b) const
{
	return reduce_join<MODE>(a, b);
}
template <int N> __device__ inline void add(part &p, float, const word (&x)[N], int64_t) const
{
#pragma unroll
	for (int k = 0; k < N; k++) {
		float v = (float)number<TYPE>::read(x[k]);
		p = join(p, MODE == MODE_REDUCE_L2 ? v * v : v);
	}
}
__device__ inline result put(part p) const
{
	return number<TYPE>::write(MODE == MODE_REDUCE_L2 ? sqrtf(p) : p * factor);
}
}
;

template <int TYPE>
static cudaError_t reduce(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to,
	void *workspace, cudaStream_t s)
{
#define REDUCE(mode, factor)                                                                                 \
	{                                                                                                    \
		const reduction<TYPE, mode> op = { factor };                                                 \
		return rows_reduce(op, l, kind, from, to, workspace, s);                                     \
	}
	switch (l->mode) {
	case MODE_REDUCE_SUM:
		REDUCE(MODE_REDUCE_SUM, 1)
	case MODE_REDUCE_MEAN:
		REDUCE(MODE_REDUCE_SUM, 1 / (float)l->size)
	case MODE_REDUCE_MAX:
		REDUCE(MODE_REDUCE_MAX, 1)
	case MODE_REDUCE_MIN:
		REDUCE(MODE_REDUCE_MIN, 1)
	case MODE_REDUCE_MUL:
		REDUCE(MODE_REDUCE_MUL, 1)
	case MODE_REDUCE_L2:
		REDUCE(MODE_REDUCE_L2, 1)
	default:
		return cudaErrorInvalidValue;
	}
#undef REDUCE
}

bool cuda_reduce_can(const struct cuda_line *l)
{
	return l->dtype == DTYPE_F32 || l->dtype == DTYPE_F16 || l->dtype == DTYPE_BF16;
}

cudaError_t cuda_reduce(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to,
	void *workspace, cudaStream_t s)
{
	if (kind == CUDA_LINE_PRODUCT)
		return cuda_product_reduce(l, from, to, s);
	if (!cuda_line_can(l, CUDA_LINE_REDUCE, kind))
		return cudaErrorInvalidValue;
	switch (l->dtype) {
	case DTYPE_F32:
		return reduce<DTYPE_F32>(l, kind, from, to, workspace, s);
	case DTYPE_F16:
		return reduce<DTYPE_F16>(l, kind, from, to, workspace, s);
	case DTYPE_BF16:
		return reduce<DTYPE_BF16>(l, kind, from, to, workspace, s);
	default:
		return cudaErrorInvalidValue;
	}
}

/* --- argmax, argmin --- */

/* The largest sort key (cuda_line.cuh), with all bits flipped for argmin; of equal keys the smallest index.
 */
template <typename KEY> struct extreme {
	KEY key;
	KEY index;
};

template <typename WORD, typename KEY, typename INDEX> struct extreme_of {
	typedef WORD word;
	typedef INDEX result;
	typedef extreme<KEY> part;
	enum dtype type;
	uint64_t flip;
	__device__ inline float origin(const word *) const
	{
		return 0;
	}
	__device__ inline part none() const
	{
		part p = { 0, (KEY) ~(KEY)0 };
		return p;
	}
	__device__ inline part join(const part &a, const part &b) const
	{
		bool first = a.key != b.key ? a.key > b.key : a.index < b.index;
		return first ? a : b;
	}
	template <int N> __device__ inline void add(part &p, float, const word (&x)[N], int64_t i) const
	{
#pragma unroll
		for (int k = 0; k < N; k++) {
			part one = { (KEY)(key_of(x[k], type) ^ flip), (KEY)(i + k) };
			p = join(p, one);
		}
	}
	__device__ inline result put(const part &p) const
	{
		return (result)p.index;
	}
};

template <typename WORD, typename KEY>
static cudaError_t argreduce(const struct cuda_line *l, enum cuda_line_kind kind, const void *from,
	void *indices, void *workspace, cudaStream_t s)
{
	uint64_t flip = l->mode == MODE_ARGMIN ? UINT64_MAX >> (64 - 8 * sizeof(WORD)) : 0;
	extreme_of<WORD, KEY, int64_t> wide = { l->dtype, flip };
	extreme_of<WORD, KEY, int32_t> narrow = { l->dtype, flip };
	return l->index_type == DTYPE_S64 ? rows_reduce(wide, l, kind, from, indices, workspace, s)
					  : rows_reduce(narrow, l, kind, from, indices, workspace, s);
}

cudaError_t cuda_argreduce(const struct cuda_line *l, enum cuda_line_kind kind, const void *from,
	void *indices, void *workspace, cudaStream_t s)
{
	bool indexed = l->index_type == DTYPE_S64 || l->index_type == DTYPE_S32;
	if (!key_exists(l->dtype) || !indexed || l->size > INT32_MAX ||
		!cuda_line_can(l, CUDA_LINE_REDUCE, kind))
		return cudaErrorInvalidValue;
	switch (fill_bytes(l->dtype)) {
	case 1:
		return argreduce<uint8_t, uint32_t>(l, kind, from, indices, workspace, s);
	case 2:
		return argreduce<uint16_t, uint32_t>(l, kind, from, indices, workspace, s);
	case 4:
		return argreduce<uint32_t, uint32_t>(l, kind, from, indices, workspace, s);
	default:
		return argreduce<uint64_t, uint64_t>(l, kind, from, indices, workspace, s);
	}
}
