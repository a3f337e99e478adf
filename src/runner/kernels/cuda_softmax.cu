#include "runner/kernels/cuda_rows.cuh"

#include <float.h>

/* Softmax and its logarithm along an axis, in f32 (cuda_rows.cuh). The maximum and the sum of exponentials
 * are found in one pass: a sum is scaled when the maximum grows (Milakov and Gimelshein, arXiv:1805.02867).
 */

struct exponentials {
	float most, sum; /* sum of exp(x - most) */
};

template <int TYPE, bool LOG> struct softmax_of {
	typedef typename number<TYPE>::word word;
	typedef word result;
	typedef exponentials part;
	struct total {
		float most, by; /* by: factor, or the logarithm of the sum */
	};
	static const bool has_columns = true;
	__device__ inline float origin(const word *) const
	{
		return 0;
	}
	__device__ inline part none() const
	{
		part p = { -FLT_MAX, 0 };
		return p;
	}
	__device__ inline part join(const part &a, const part &b) const
	{
		float most = fmaxf(a.most, b.most);
		part p = { most, a.sum * expf(a.most - most) + b.sum * expf(b.most - most) };
		return p;
	}
	template <int N> __device__ inline void add(part &p, float, const word (&x)[N], int64_t) const
	{
		float v[N], most = p.most;
#pragma unroll
		for (int k = 0; k < N; k++) {
			v[k] = (float)number<TYPE>::read(x[k]);
			most = fmaxf(most, v[k]);
		}
		if (most > p.most) {
			p.sum *= expf(p.most - most);
			p.most = most;
		}
#pragma unroll
		for (int k = 0; k < N; k++)
			p.sum += expf(v[k] - most);
	}
	__device__ inline total of(const part &p, float) const
	{
		total t = { p.most, LOG ? logf(p.sum) : 1 / p.sum };
		return t;
	}
	template <int N>
	__device__ inline void map(const total &t, const word (&x)[N], result (&y)[N], int64_t, int64_t) const
	{
#pragma unroll
		for (int k = 0; k < N; k++) {
			float v = (float)number<TYPE>::read(x[k]) - t.most;
			y[k] = number<TYPE>::write(LOG ? v - t.by : expf(v) * t.by);
		}
	}
};

template <int TYPE>
static cudaError_t softmax(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to,
	void *workspace, cudaStream_t s)
{
	return l->mode == MODE_LOGSOFTMAX
		? rows_map(softmax_of<TYPE, true>(), l, kind, from, to, workspace, s)
		: rows_map(softmax_of<TYPE, false>(), l, kind, from, to, workspace, s);
}

cudaError_t cuda_softmax(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to,
	void *workspace, cudaStream_t s)
{
	if (!cuda_line_can(l, CUDA_LINE_MAP, kind))
		return cudaErrorInvalidValue;
	switch (l->dtype) {
	case DTYPE_F32:
		return softmax<DTYPE_F32>(l, kind, from, to, workspace, s);
	case DTYPE_F16:
		return softmax<DTYPE_F16>(l, kind, from, to, workspace, s);
	case DTYPE_BF16:
		return softmax<DTYPE_BF16>(l, kind, from, to, workspace, s);
	default:
		return cudaErrorInvalidValue;
	}
}
