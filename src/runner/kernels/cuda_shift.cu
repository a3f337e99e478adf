#include "runner/kernels/cuda_device.cuh"

/* u8 values as s8: the highest bit is inverted, a whole word at a time. A border is written for convolutions,
 * whose padding is the u8 value 0 and therefore the s8 value -128. */

template <int BYTES> struct shift_word;
#define SHIFT_WORD(bytes, type_, flip_)                                       \
	template <> struct shift_word<bytes> {                                \
		typedef type_ type;                                           \
		static __device__ inline type border() { return (type)flip_; } \
		static __device__ inline type flip(type v) { return (type)(v ^ (type)flip_); } \
	};
SHIFT_WORD(1, uint8_t, 0x80)
SHIFT_WORD(4, uint32_t, 0x80808080u)
SHIFT_WORD(8, uint64_t, UINT64_C(0x8080808080808080))

struct shift_words {
	uint64_t low, high;
};
template <> struct shift_word<16> {
	typedef shift_words type;
	static __device__ inline type border()
	{
		type v = { shift_word<8>::border(), shift_word<8>::border() };
		return v;
	}
	static __device__ inline type flip(type v)
	{
		type to = { shift_word<8>::flip(v.low), shift_word<8>::flip(v.high) };
		return to;
	}
};

struct shift_job {
	int64_t count;                        /* words in the destination */
	struct device_divisor to[3];          /* its planes, rows and words of a row */
	int from[3], before[3];               /* the source's, and the border before them */
};

/* Returns the source's word for the destination's word `at`, or -1 in the border. */
static __device__ inline int64_t shift_source(const struct shift_job &j, int64_t at)
{
	uint32_t row = device_divide((uint32_t)at, j.to[2]), plane = device_divide(row, j.to[1]);
	uint32_t n = device_divide(plane, j.to[0]);
	int x = (int)((uint32_t)at - row * j.to[2].divisor) - j.before[2];
	int y = (int)(row - plane * j.to[1].divisor) - j.before[1];
	int z = (int)(plane - n * j.to[0].divisor) - j.before[0];
	bool inside = x >= 0 && x < j.from[2] && y >= 0 && y < j.from[1] && z >= 0 && z < j.from[0];
	return inside ? (((int64_t)n * j.from[0] + z) * j.from[1] + y) * j.from[2] + x : -1;
}

template <int BYTES, bool BORDER>
static __global__ void shift_kernel(const typename shift_word<BYTES>::type *__restrict__ from,
	typename shift_word<BYTES>::type *__restrict__ to, const struct shift_job j)
{
	typedef shift_word<BYTES> word;
	int64_t step = (int64_t)gridDim.x * DEVICE_THREADS * DEVICE_UNROLL;
	int64_t first = (int64_t)blockIdx.x * DEVICE_THREADS * DEVICE_UNROLL + threadIdx.x;
	for (int64_t base = first; base < j.count; base += step) {
		typename word::type v[DEVICE_UNROLL];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++) {
			int64_t at = base + u * DEVICE_THREADS;
			int64_t source = at >= j.count ? -1 : BORDER ? shift_source(j, at) : at;
			v[u] = word::border();
			if (source >= 0)
				v[u] = word::flip(from[source]);
		}
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++)
			if (base + u * DEVICE_THREADS < j.count)
				to[base + u * DEVICE_THREADS] = v[u];
	}
}

static int64_t row_bytes(const struct cuda_shift *c)
{
	return c->before[2] + c->size[2] + c->after[2];
}

static int64_t to_bytes(const struct cuda_shift *c)
{
	return c->n * (c->before[0] + c->size[0] + c->after[0]) * (c->before[1] + c->size[1] + c->after[1]) *
		row_bytes(c);
}

static bool has_border(const struct cuda_shift *c)
{
	int64_t sum = 0;
	for (int i = 0; i < 3; i++)
		sum += c->before[i] + c->after[i];
	return sum > 0;
}

/* Returns the largest word size that divides a row and its borders, or the whole tensor without borders. */
static int word_bytes(const struct cuda_shift *c)
{
	int64_t all = has_border(c) ? c->before[2] | c->size[2] | c->after[2] : to_bytes(c);
	return all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
}

template <int BYTES>
static cudaError_t launch(const struct cuda_shift *c, const void *from, void *to, cudaStream_t s)
{
	typedef typename shift_word<BYTES>::type type;
	struct shift_job j;
	j.count = to_bytes(c) / BYTES;
	for (int i = 0; i < 3; i++) {
		int64_t bytes = i == 2 ? BYTES : 1;
		j.to[i] = device_divisor_of((c->before[i] + c->size[i] + c->after[i]) / bytes);
		j.from[i] = (int)(c->size[i] / bytes);
		j.before[i] = (int)(c->before[i] / bytes);
	}
	unsigned blocks = (unsigned)device_blocks(j.count, DEVICE_THREADS * DEVICE_UNROLL);
	const type *a = (const type *)from;
	type *b = (type *)to;
	return has_border(c) ? LAUNCH((shift_kernel<BYTES, true>), blocks, DEVICE_THREADS, s, a, b, j) :
		LAUNCH((shift_kernel<BYTES, false>), blocks, DEVICE_THREADS, s, a, b, j);
}

extern "C" cudaError_t cuda_shift(const struct cuda_shift *c, const void *from, void *to, cudaStream_t s)
{
	switch (word_bytes(c)) {
	case 16: return launch<16>(c, from, to, s);
	case 8: return launch<8>(c, from, to, s);
	case 4: return launch<4>(c, from, to, s);
	default: return launch<1>(c, from, to, s);
	}
}

/* One thread per channel: this runs once per set of weights, untimed. */
static __global__ void shift_sum_kernel(const int8_t *weights, const float *scale, const float *bias,
	void *to, const struct cuda_shift_sum c)
{
	int64_t i = (int64_t)blockIdx.x * DEVICE_THREADS + threadIdx.x;
	int32_t sum = 0;
	if (i >= c.channels)
		return;
	for (int64_t j = 0; j < c.terms; j++)
		sum += weights[i * c.channel_stride + j * c.term_stride];
	if (c.whole)
		((int32_t *)to)[i] = 128 * sum;
	else
		((float *)to)[i] = (bias ? bias[i] : 0) + 128.0f * (float)sum * scale[i];
}

extern "C" cudaError_t cuda_shift_sum(const struct cuda_shift_sum *c, const void *weights, const float *scale,
	const float *bias, void *to, cudaStream_t s)
{
	unsigned blocks = (unsigned)device_blocks(c->channels, DEVICE_THREADS);
	struct cuda_shift_sum by_value = *c;
	const int8_t *w = (const int8_t *)weights;
	return LAUNCH(shift_sum_kernel, blocks, DEVICE_THREADS, s, w, scale, bias, to, by_value);
}
