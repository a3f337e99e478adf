#include "runner/kernels/cuda_cub.cuh"
#include "runner/kernels/cuda_number.cuh"

/* Normalization of rows of adjacent elements. A block finds a row's moments from sums of the differences to
 * the row's first element and of their squares: sums of shifted data (Chan, Golub, LeVeque, The American
 * Statistician 37(3), 1983) need one pass and do not cancel where the mean is large. */

#define NORM_THREADS 512

struct sums {
	float sum, squares;
};

struct sums_join {
	__device__ inline sums operator()(const sums &a, const sums &b) const
	{
		sums both = { a.sum + b.sum, a.squares + b.squares };
		return both;
	}
};

/* Of a row: the mean, and 1 / sqrt(variance + epsilon). */
struct moments {
	float mean, by;
};

struct norm_job {
	int64_t rows, size, channels, groups; /* channels of a row */
	struct device_divisor inner, row;
};

typedef library::block_reduce<sums, NORM_THREADS> norm_reduce;

/* Only thread 0 gets the result. */
template <int TYPE>
static __device__ inline moments moments_of(
	norm_reduce::storage &storage, const typename number<TYPE>::word *x, int64_t size)
{
	float first = (float)number<TYPE>::read(x[0]);
	sums mine = { 0, 0 };
	for (int64_t i = threadIdx.x; i < size; i += NORM_THREADS) {
		float off = (float)number<TYPE>::read(x[i]) - first;
		mine.sum += off;
		mine.squares += off * off;
	}
	sums all = norm_reduce::run(storage, mine, sums_join());
	float mean = all.sum / (float)size, variance = all.squares / (float)size - mean * mean;
	moments m = { first + mean, 1 / sqrtf((variance > 0 ? variance : 0) + CUDA_NORM_EPSILON) };
	return m;
}

template <int TYPE>
static __device__ inline typename number<TYPE>::word normalized(
	typename number<TYPE>::word x, const moments &m, float scale, float shift)
{
	return number<TYPE>::write(((float)number<TYPE>::read(x) - m.mean) * m.by * scale + shift);
}

template <int TYPE>
static __global__ void norm_block_kernel(const typename number<TYPE>::word *__restrict__ from,
	const float *__restrict__ scale, const float *__restrict__ shift,
	typename number<TYPE>::word *__restrict__ to, const struct norm_job j)
{
	__shared__ norm_reduce::storage storage;
	__shared__ moments found;
	for (int64_t row = blockIdx.x; row < j.rows; row += gridDim.x) {
		const typename number<TYPE>::word *x = from + row * j.size;
		int64_t channel = row % j.groups * j.channels;
		moments m = moments_of<TYPE>(storage, x, j.size);
		if (threadIdx.x == 0)
			found = m;
		__syncthreads();
		m = found;
		for (int64_t i = threadIdx.x; i < j.size; i += NORM_THREADS) {
			int64_t c = channel + device_divide((uint32_t)i, j.inner);
			to[row * j.size + i] = normalized<TYPE>(x[i], m, scale[c], shift[c]);
		}
		__syncthreads();
	}
}

template <int TYPE>
static __global__ void moments_kernel(const typename number<TYPE>::word *__restrict__ from,
	moments *__restrict__ found, const struct norm_job j)
{
	__shared__ norm_reduce::storage storage;
	for (int64_t row = blockIdx.x; row < j.rows; row += gridDim.x) {
		moments m = moments_of<TYPE>(storage, from + row * j.size, j.size);
		if (threadIdx.x == 0)
			found[row] = m;
		__syncthreads();
	}
}

template <int TYPE>
static __global__ void normalize_kernel(const typename number<TYPE>::word *__restrict__ from,
	const moments *__restrict__ found, const float *__restrict__ scale, const float *__restrict__ shift,
	typename number<TYPE>::word *__restrict__ to, const struct norm_job j)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x, count = j.rows * j.size;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
		int64_t row = device_divide((uint32_t)i, j.row), plane = device_divide((uint32_t)i, j.inner);
		int64_t c = plane % (j.groups * j.channels);
		to[i] = normalized<TYPE>(from[i], found[row], scale[c], shift[c]);
	}
}

template <int TYPE>
static cudaError_t norm(const struct norm_job &j, enum cuda_norm_kind kind, const void *from,
	const float *scale, const float *shift, void *to, void *workspace, cudaStream_t s)
{
	typedef typename number<TYPE>::word word;
	const word *x = (const word *)from;
	moments *found = (moments *)workspace;
	if (kind == CUDA_NORM_BLOCK)
		return LAUNCH_BLOCK((norm_block_kernel<TYPE>), device_blocks(j.rows, 1), NORM_THREADS, s, x,
			scale, shift, (word *)to, j);
	cudaError_t bad =
		LAUNCH_BLOCK((moments_kernel<TYPE>), device_blocks(j.rows, 1), NORM_THREADS, s, x, found, j);
	if (bad != cudaSuccess)
		return bad;
	return LAUNCH((normalize_kernel<TYPE>),
		device_blocks(j.rows * j.size, DEVICE_THREADS * DEVICE_UNROLL), DEVICE_THREADS, s, x, found,
		scale, shift, (word *)to, j);
}

bool cuda_norm_can(const struct cuda_norm *n)
{
	bool number = n->dtype == DTYPE_F32 || n->dtype == DTYPE_F16 || n->dtype == DTYPE_BF16;
	return number && n->rows * n->size <= DEVICE_FAST_MAX;
}

cudaError_t cuda_norm(const struct cuda_norm *n, enum cuda_norm_kind kind, const void *from,
	const float *scale, const float *shift, void *to, void *workspace, cudaStream_t s)
{
	if (!cuda_norm_can(n))
		return cudaErrorInvalidValue;
	struct norm_job j = { n->rows, n->size, n->size / n->inner, n->groups, device_divisor_of(n->inner),
		device_divisor_of(n->size) };
	switch (n->dtype) {
	case DTYPE_F16: return norm<DTYPE_F16>(j, kind, from, scale, shift, to, workspace, s);
	case DTYPE_BF16: return norm<DTYPE_BF16>(j, kind, from, scale, shift, to, workspace, s);
	default: return norm<DTYPE_F32>(j, kind, from, scale, shift, to, workspace, s);
	}
}
