#include "runner/kernels/cuda_product.cuh"

/* Normalization of lines of adjacent elements (cuda_rows.cuh). A line's moments come from sums of the
 * differences to its first element and of their squares: sums of shifted data (Chan, Golub, LeVeque, The
 * American Statistician 37(3), 1983) need one pass and do not cancel where the mean is large. */

struct sums {
	float sum, squares;
};

/* RMS: root mean square, without mean and shift. */
template <int TYPE, bool RMS> struct norm_of {
	typedef typename number<TYPE>::word word;
	typedef word result;
	typedef sums part;
	struct total {
		float mean, by; /* by: 1 / sqrt(variance + epsilon) */
	};
	static const bool has_columns = false;
	const float *scale, *shift;
	float size;
	int64_t channels, groups; /* channels of a line */
	struct device_divisor inner;

	__device__ inline float origin(const word *line) const
	{
		return RMS ? 0 : (float)number<TYPE>::read(line[0]);
	}
	__device__ inline part none() const
	{
		part p = { 0, 0 };
		return p;
	}
	__device__ inline part join(const part &a, const part &b) const
	{
		part p = { a.sum + b.sum, a.squares + b.squares };
		return p;
	}
	template <int N> __device__ inline void add(part &p, float origin, const word (&x)[N], int64_t) const
	{
#pragma unroll
		for (int k = 0; k < N; k++) {
			float off = (float)number<TYPE>::read(x[k]) - origin;
			p.sum += off;
			p.squares += off * off;
		}
	}
	__device__ inline total of(const part &p, float origin) const
	{
		float mean = RMS ? 0 : p.sum / size, variance = p.squares / size - mean * mean;
		total t = { origin + mean, 1 / sqrtf((variance > 0 ? variance : 0) + CUDA_NORM_EPSILON) };
		return t;
	}
	__device__ inline float one(const total &t, word x, float by, float plus) const
	{
		return ((float)number<TYPE>::read(x) - t.mean) * t.by * by + plus;
	}
	/* One value each of scale and shift: N adjacent ones, aligned because i is a multiple of N. */
	template <int N>
	__device__ inline void map_each(const total &t, const word (&x)[N], result (&y)[N], int64_t i) const
	{
		const int FEW = N < 4 ? N : 4;
#pragma unroll
		for (int k = 0; k < N; k += FEW) {
			pack<float, FEW> by = pack_at<float, FEW>(scale + i + k), plus = {};
			if (!RMS)
				plus = pack_at<float, FEW>(shift + i + k);
#pragma unroll
			for (int m = 0; m < FEW; m++)
				y[k + m] = number<TYPE>::write(one(t, x[k + m], by.at[m], plus.at[m]));
		}
	}
	template <int N>
	__device__ inline void map(
		const total &t, const word (&x)[N], result (&y)[N], int64_t line, int64_t i) const
	{
		if (inner.divisor == 1 && groups == 1) {
			map_each<N>(t, x, y, i);
			return;
		}
		int64_t first = line % groups * channels;
#pragma unroll
		for (int k = 0; k < N; k++) {
			int64_t c = first + device_divide((uint32_t)(i + k), inner);
			y[k] = number<TYPE>::write(one(t, x[k], scale[c], RMS ? 0 : shift[c]));
		}
	}
};

/* A block per 16 lines: moments as products with ones and of the lines with themselves. They are not shifted,
 * so a mean that is large against the deviation costs digits. */
template <int TYPE, bool RMS>
static __global__ void norm_product_kernel(const norm_of<TYPE, RMS> op, const uint16_t *__restrict__ from,
	uint16_t *__restrict__ to, int64_t lines, int64_t size)
{
	__shared__ sums shared[PRODUCT_WARPS][PRODUCT_LINES];
	int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
	for (int64_t first = blockIdx.x * (int64_t)PRODUCT_LINES; first < lines;
		first += gridDim.x * (int64_t)PRODUCT_LINES) {
		product_sums s = product_sum<TYPE, 8, true>(from, lines, size, first + g,
			(int64_t)warp * PRODUCT_COLUMNS, PRODUCT_WARPS * PRODUCT_COLUMNS);
		for (int i = 0; i < 2; i++) {
			if (t == 0)
				shared[warp][g + 8 * i].sum = s.sum[i];
			if (t == g / 2)
				shared[warp][g + 8 * i].squares = s.squares[i];
		}
		__syncthreads();
		for (int i = warp; i < PRODUCT_LINES && first + i < lines; i += PRODUCT_WARPS) {
			sums p = op.none();
			for (int w = 0; w < PRODUCT_WARPS; w++)
				p = op.join(p, shared[w][i]);
			typename norm_of<TYPE, RMS>::total total = op.of(p, 0);
			for (int64_t c = lane * 8; c < size; c += 8 * 32) {
				pack<uint16_t, 8> x = pack_at<uint16_t, 8>(from + (first + i) * size + c), y;
				op.map(total, x.at, y.at, first + i, c);
				pack_put(to + (first + i) * size + c, y);
			}
		}
		__syncthreads();
	}
}

/* Lines of f32 are not summed by matrix units. */
template <bool RMS>
static cudaError_t norm_product(
	const norm_of<DTYPE_F32, RMS> &, const struct cuda_norm *, const void *, void *, cudaStream_t)
{
	return cudaErrorInvalidValue;
}

template <int TYPE, bool RMS>
static cudaError_t norm_product(const norm_of<TYPE, RMS> &op, const struct cuda_norm *n, const void *from,
	void *to, cudaStream_t s)
{
	return LAUNCH_BLOCK((norm_product_kernel<TYPE, RMS>), device_blocks(n->line.outer, PRODUCT_LINES),
		ROWS_THREADS, s, op, (const uint16_t *)from, (uint16_t *)to, n->line.outer, n->line.size);
}

template <int TYPE, bool RMS>
static cudaError_t norm(const struct cuda_norm *n, enum cuda_line_kind kind, const void *from,
	const float *scale, const float *shift, void *to, void *workspace, cudaStream_t s)
{
	const norm_of<TYPE, RMS> op = { scale, shift, (float)n->line.size, n->line.size / n->inner, n->groups,
		device_divisor_of(n->inner) };
	return kind == CUDA_LINE_PRODUCT ? norm_product(op, n, from, to, s) :
		rows_map(op, &n->line, kind, from, to, workspace, s);
}

bool cuda_norm_can(const struct cuda_norm *n)
{
	enum dtype t = n->line.dtype;
	bool number = t == DTYPE_F32 || t == DTYPE_F16 || t == DTYPE_BF16;
	return number && n->line.inner == 1 && n->line.size <= DEVICE_FAST_MAX;
}

cudaError_t cuda_norm(const struct cuda_norm *n, enum cuda_line_kind kind, const void *from,
	const float *scale, const float *shift, void *to, void *workspace, cudaStream_t s)
{
#define NORM(type)                                                                                           \
	(n->rms ? norm<type, true>(n, kind, from, scale, shift, to, workspace, s)                            \
		: norm<type, false>(n, kind, from, scale, shift, to, workspace, s))
	if (!cuda_norm_can(n) || !cuda_line_can(&n->line, CUDA_LINE_MAP, kind))
		return cudaErrorInvalidValue;
	switch (n->line.dtype) {
	case DTYPE_F16:
		return NORM(DTYPE_F16);
	case DTYPE_BF16:
		return NORM(DTYPE_BF16);
	default:
		return NORM(DTYPE_F32);
	}
#undef NORM
}
