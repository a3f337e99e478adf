#include "runner/kernels/cuda_strided.cuh"

/* Gather and select. */

struct gather_job {
	struct device_divisor inner, count;
	struct cuda_gather g;
	int64_t total;
};

/* Returns the index of the source word for destination word `at`; -1 if the looked-up index is out of
 * range. */
template <typename WORD, typename INDEX, bool WIDE>
static __device__ inline int64_t gather_from(
	const struct gather_job &j, const INDEX *__restrict__ indices, int64_t at)
{
	int64_t row = WIDE ? at / j.g.inner : (int64_t)device_divide((uint32_t)at, j.inner);
	int64_t outer = WIDE ? row / j.g.count : (int64_t)device_divide((uint32_t)row, j.count);
	int64_t index = (int64_t)indices[row - outer * j.g.count];
	index += index < 0 ? j.g.size : 0;
	if (index < 0 || index >= j.g.size)
		return -1; /* does not occur in measured problems; reads nothing */
	return (outer * j.g.size + index) * j.g.inner + (at - row * j.g.inner);
}

template <typename WORD, typename INDEX, bool WIDE>
static __global__ void gather_kernel(const WORD *__restrict__ from, const INDEX *__restrict__ indices,
	WORD *__restrict__ to, const struct gather_job j)
{
	int64_t each = (int64_t)DEVICE_THREADS * DEVICE_UNROLL, step = (int64_t)gridDim.x * each;
	for (int64_t base = (int64_t)blockIdx.x * each + threadIdx.x; base < j.total; base += step) {
		WORD v[DEVICE_UNROLL];
		int64_t source_index[DEVICE_UNROLL];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++) {
			int64_t at = base + u * DEVICE_THREADS;
			source_index[u] = at < j.total ? gather_from<WORD, INDEX, WIDE>(j, indices, at) : -1;
		}
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++)
			if (source_index[u] >= 0)
				v[u] = from[source_index[u]];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++)
			if (source_index[u] >= 0)
				to[base + u * DEVICE_THREADS] = v[u];
	}
}

template <typename WORD, typename INDEX>
static cudaError_t gather_index(
	const struct gather_job &j, const void *from, const void *indices, void *to, cudaStream_t s)
{
	int64_t grid = device_blocks(j.total, DEVICE_THREADS * DEVICE_UNROLL);
	if (j.total > DEVICE_FAST_MAX)
		return LAUNCH((gather_kernel<WORD, INDEX, true>), grid, DEVICE_THREADS, s, (const WORD *)from,
			(const INDEX *)indices, (WORD *)to, j);
	return LAUNCH((gather_kernel<WORD, INDEX, false>), grid, DEVICE_THREADS, s, (const WORD *)from,
		(const INDEX *)indices, (WORD *)to, j);
}

template <typename WORD>
static cudaError_t gather(
	const struct gather_job &j, const void *from, const void *indices, void *to, cudaStream_t s)
{
	return j.g.index_type == DTYPE_S64 ? gather_index<WORD, int64_t>(j, from, indices, to, s) :
		gather_index<WORD, int32_t>(j, from, indices, to, s);
}

cudaError_t cuda_gather(
	const struct cuda_gather *g, const void *source, const void *indices, void *to, cudaStream_t s)
{
	struct gather_job j;
	j.g = *g;
	j.total = g->outer * g->count * g->inner;
	j.inner = device_divisor_of(g->inner <= DEVICE_FAST_MAX ? g->inner : 1);
	j.count = device_divisor_of(g->count <= DEVICE_FAST_MAX ? g->count : 1);
	switch (g->bytes) {
	case 1: return gather<uint8_t>(j, source, indices, to, s);
	case 2: return gather<uint16_t>(j, source, indices, to, s);
	case 4: return gather<uint32_t>(j, source, indices, to, s);
	case 8: return gather<uint64_t>(j, source, indices, to, s);
	case 16: return gather<uint4>(j, source, indices, to, s);
	default: return cudaErrorInvalidValue;
	}
}

template <typename WORD, int RANK, bool WIDE>
static __global__ void select_kernel(const uint8_t *__restrict__ condition, const WORD *__restrict__ a,
	const WORD *__restrict__ b, WORD *__restrict__ to, int64_t count, const struct strided_map<3, RANK> p)
{
	int64_t each = (int64_t)DEVICE_THREADS * DEVICE_UNROLL, step = (int64_t)gridDim.x * each;
	for (int64_t base = (int64_t)blockIdx.x * each + threadIdx.x; base < count; base += step) {
		WORD v[DEVICE_UNROLL];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++) {
			int64_t at[3];
			if (base + u * DEVICE_THREADS >= count)
				continue;
			strided_offsets<3, RANK, WIDE>(p, base + u * DEVICE_THREADS, at);
			WORD x = a[at[1]], y = b[at[2]]; /* load both without waiting for the condition */
			v[u] = condition[at[0]] ? x : y;
		}
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++)
			if (base + u * DEVICE_THREADS < count)
				to[base + u * DEVICE_THREADS] = v[u];
	}
}

template <typename WORD, int RANK, bool WIDE>
static cudaError_t select_launch(const struct cuda_select *c, const void *condition, const void *a,
	const void *b, void *to, cudaStream_t s)
{
	const int64_t *stride[3] = { c->condition, c->a, c->b };
	int64_t count = strided_count(c->rank, c->dim);
	return LAUNCH((select_kernel<WORD, RANK, WIDE>), device_blocks(count, DEVICE_THREADS * DEVICE_UNROLL),
		DEVICE_THREADS, s, (const uint8_t *)condition, (const WORD *)a, (const WORD *)b, (WORD *)to,
		count, (strided_map_of<3, RANK>(c->rank, c->dim, stride)));
}

template <typename WORD>
static cudaError_t select(const struct cuda_select *c, const void *condition, const void *a, const void *b,
	void *to, cudaStream_t s)
{
	if (strided_count(c->rank, c->dim) > DEVICE_FAST_MAX)
		return select_launch<WORD, PROBLEM_RANK, true>(c, condition, a, b, to, s);
	if (c->rank <= 2)
		return select_launch<WORD, 2, false>(c, condition, a, b, to, s);
	if (c->rank <= 4)
		return select_launch<WORD, 4, false>(c, condition, a, b, to, s);
	return select_launch<WORD, PROBLEM_RANK, false>(c, condition, a, b, to, s);
}

cudaError_t cuda_select(const struct cuda_select *c, const void *condition, const void *a, const void *b,
	void *to, cudaStream_t s)
{
	switch (c->bytes) {
	case 1: return select<uint8_t>(c, condition, a, b, to, s);
	case 2: return select<uint16_t>(c, condition, a, b, to, s);
	case 4: return select<uint32_t>(c, condition, a, b, to, s);
	case 8: return select<uint64_t>(c, condition, a, b, to, s);
	default: return cudaErrorInvalidValue;
	}
}
