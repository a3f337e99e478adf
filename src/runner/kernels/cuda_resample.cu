#include "runner/kernels/cuda_number.cuh"

/* Resampling at half-pixel coordinates. Coordinates are exact fractions with denominator 2 * out, in integer
 * arithmetic, so that a point exactly between two neighbors is recognized as such. */

struct resample_job {
	struct cuda_resample r;
	int64_t total;
	int64_t dim[5];                      /* of the destination in memory order, outermost first */
	struct device_divisor divide[5];     /* by dim */
	struct device_divisor divide_out[3]; /* by 2 * out */
	bool fast;                           /* all indices fit device_divide */
};

struct resample_point {
	int64_t low;   /* index of the lower neighbor */
	float rest;    /* distance from it, 0 to 1 */
};

static __device__ inline int64_t divide(const struct resample_job &j, int i, int64_t n)
{
	return j.fast ? (int64_t)device_divide((uint32_t)n, j.divide_out[i]) : n / (2 * j.r.out[i]);
}

template <int MODE>
static __device__ inline struct resample_point resample_at(const struct resample_job &j, int i, int64_t o)
{
	int64_t in = j.r.in[i], out = j.r.out[i];
	struct resample_point p = { 0, 0 };
	if (MODE == MODE_NEAREST) {
		p.low = divide(j, i, (2 * o + 1) * in - 1);
		return p;
	}
	/* n / (2 * out) is the coordinate plus 1, so that it is never negative */
	int64_t n = (2 * o + 1) * in + out, q = divide(j, i, n);
	p.low = q - 1;
	p.rest = (float)(n - q * 2 * out) / (float)(2 * out);
	return p;
}

static __device__ inline float cubic_weight(float d)
{
	const float a = -0.75f;
	d = fabsf(d);
	if (d <= 1)
		return ((a + 2) * d - (a + 3)) * d * d + 1;
	return d < 2 ? a * (d - 1) * (d - 2) * (d - 2) : 0; /* factored, to avoid cancellation */
}

template <int MODE> static __device__ inline float resample_weight(float rest, int tap)
{
	return MODE == MODE_NEAREST  ? 1
		: MODE == MODE_CUBIC ? cubic_weight(rest + 1 - tap)
		: tap		     ? rest
				     : 1 - rest;
}

static __device__ inline int64_t clamp(int64_t x, int64_t size)
{
	return x < 0 ? 0 : x >= size ? size - 1 : x;
}

template <int TYPE, int MODE>
static __device__ inline float resample_one(const typename number<TYPE>::word *__restrict__ from,
	const struct resample_job &j, const int64_t *x)
{
	const int TAPS = MODE == MODE_NEAREST ? 1
		: MODE == MODE_CUBIC	      ? 4
					      : 2,
		  FIRST = MODE == MODE_CUBIC ? -1 : 0;
	struct resample_point d = resample_at<MODE>(j, 0, x[2]), h = resample_at<MODE>(j, 1, x[3]),
		w = resample_at<MODE>(j, 2, x[4]);
	int64_t plane = x[0] * j.r.from[0] + x[1] * j.r.from[1];
	float sum = 0;
	for (int a = 0; a < TAPS; a++) {
		float wa = resample_weight<MODE>(d.rest, a);
		int64_t at_d = plane + clamp(d.low + FIRST + a, j.r.in[0]) * j.r.from[2];
		if (wa == 0)
			continue; /* as for the second tap of a dimension of size 1 */
		for (int b = 0; b < TAPS; b++) {
			float wb = wa * resample_weight<MODE>(h.rest, b);
			int64_t at_h = at_d + clamp(h.low + FIRST + b, j.r.in[1]) * j.r.from[3];
			if (wb == 0)
				continue;
#pragma unroll
			for (int c = 0; c < TAPS; c++)
				sum += wb * resample_weight<MODE>(w.rest, c) * (float)number<TYPE>::read(
					from[at_h + clamp(w.low + FIRST + c, j.r.in[2]) * j.r.from[4]]);
		}
	}
	return sum;
}

template <int TYPE, int MODE>
static __global__ void resample_kernel(const typename number<TYPE>::word *__restrict__ from,
	typename number<TYPE>::word *__restrict__ to, const struct resample_job j)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < j.total; i += step) {
		int64_t rest = i, lie[5];
#pragma unroll
		for (int d = 4; d > 0; d--) {
			int64_t outer = j.fast ? (int64_t)device_divide((uint32_t)rest, j.divide[d])
					       : rest / j.dim[d];
			lie[d] = rest - outer * j.dim[d];
			rest = outer;
		}
		int64_t x[5] = { rest, lie[1], lie[2], lie[3], lie[4] };
		if (j.r.channels_last) {
			x[1] = lie[4];
			x[2] = lie[1];
			x[3] = lie[2];
			x[4] = lie[3];
		}
		int64_t at = x[0] * j.r.to[0] + x[1] * j.r.to[1] + x[2] * j.r.to[2] + x[3] * j.r.to[3] +
			x[4] * j.r.to[4];
		to[at] = number<TYPE>::write(resample_one<TYPE, MODE>(from, j, x));
	}
}

template <int TYPE>
static cudaError_t resample(const struct resample_job &j, const void *from, void *to, cudaStream_t s)
{
	typedef typename number<TYPE>::word word;
	int64_t grid = device_blocks(j.total, DEVICE_THREADS);
	switch (j.r.mode) {
	case MODE_NEAREST:
		return LAUNCH((resample_kernel<TYPE, MODE_NEAREST>), grid, DEVICE_THREADS, s,
			(const word *)from, (word *)to, j);
	case MODE_LINEAR:
		return LAUNCH((resample_kernel<TYPE, MODE_LINEAR>), grid, DEVICE_THREADS, s,
			(const word *)from, (word *)to, j);
	case MODE_CUBIC:
		return LAUNCH((resample_kernel<TYPE, MODE_CUBIC>), grid, DEVICE_THREADS, s,
			(const word *)from, (word *)to, j);
	default: return cudaErrorInvalidValue;
	}
}

cudaError_t cuda_resample(const struct cuda_resample *r, const void *from, void *to, cudaStream_t s)
{
	struct resample_job j;
	j.r = *r;
	j.total = r->n * r->c * r->out[0] * r->out[1] * r->out[2];
	j.fast = j.total <= DEVICE_FAST_MAX;
	for (int i = 0; i < 3; i++)
		j.fast = j.fast &&
			(2.0 * (double)r->out[i] + 1) * (double)r->in[i] + (double)r->out[i] <
				DEVICE_FAST_MAX;
	j.dim[0] = r->n;
	j.dim[r->channels_last ? 4 : 1] = r->c;
	for (int i = 0; i < 3; i++) {
		j.dim[(r->channels_last ? 1 : 2) + i] = r->out[i];
		j.divide_out[i] = device_divisor_of(j.fast ? 2 * r->out[i] : 1);
	}
	for (int i = 0; i < 5; i++)
		j.divide[i] = device_divisor_of(j.fast ? j.dim[i] : 1);
	switch (r->dtype) {
	case DTYPE_F32: return resample<DTYPE_F32>(j, from, to, s);
	case DTYPE_F16: return resample<DTYPE_F16>(j, from, to, s);
	case DTYPE_BF16: return resample<DTYPE_BF16>(j, from, to, s);
	default: return cudaErrorInvalidValue;
	}
}
