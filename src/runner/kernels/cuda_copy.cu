#include "runner/kernels/cuda_strided.cuh"

/* Moves without a cast: dense and strided; dispatches tiled ones and casts. */

/* Each thread issues DEVICE_UNROLL loads before it stores. The first threads copy the `rest` bytes after the
 * last full vector. */
static __global__ void copy_kernel(
	const uint4 *__restrict__ from, uint4 *__restrict__ to, int64_t vectors, int rest)
{
	int64_t each = (int64_t)DEVICE_THREADS * DEVICE_UNROLL, step = (int64_t)gridDim.x * each;
	for (int64_t base = (int64_t)blockIdx.x * each + threadIdx.x; base < vectors; base += step) {
		uint4 v[DEVICE_UNROLL];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++)
			if (base + u * DEVICE_THREADS < vectors)
				v[u] = from[base + u * DEVICE_THREADS];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++)
			if (base + u * DEVICE_THREADS < vectors)
				to[base + u * DEVICE_THREADS] = v[u];
	}
	if (blockIdx.x == 0 && (int)threadIdx.x < rest)
		((uint8_t *)(to + vectors))[threadIdx.x] = ((const uint8_t *)(from + vectors))[threadIdx.x];
}

template <typename WORD, int RANK, bool WIDE>
static __global__ void strided_kernel(const WORD *__restrict__ from, WORD *__restrict__ to, int64_t count,
	const struct strided_map<2, RANK> p)
{
	int64_t each = (int64_t)DEVICE_THREADS * DEVICE_UNROLL, step = (int64_t)gridDim.x * each;
	for (int64_t base = (int64_t)blockIdx.x * each + threadIdx.x; base < count; base += step) {
		WORD v[DEVICE_UNROLL];
		int64_t at[DEVICE_UNROLL][2];
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++)
			if (base + u * DEVICE_THREADS < count) {
				strided_offsets<2, RANK, WIDE>(p, base + u * DEVICE_THREADS, at[u]);
				v[u] = from[at[u][0]];
			}
#pragma unroll
		for (int u = 0; u < DEVICE_UNROLL; u++)
			if (base + u * DEVICE_THREADS < count)
				to[at[u][1]] = v[u];
	}
}

template <typename WORD, int RANK, bool WIDE>
static cudaError_t strided_launch(const struct cuda_move_form *f, const void *from, void *to, cudaStream_t s)
{
	const int64_t *stride[2] = { f->from, f->to };
	struct strided_map<2, RANK> p = strided_map_of<2, RANK>(f->rank, f->dim, stride);
	int64_t count = strided_count(f->rank, f->dim);
	return LAUNCH((strided_kernel<WORD, RANK, WIDE>),
		device_blocks(count, DEVICE_THREADS * DEVICE_UNROLL), DEVICE_THREADS, s, (const WORD *)from,
		(WORD *)to, count, p);
}

template <typename WORD>
static cudaError_t strided_move(const struct cuda_move_form *f, const void *from, void *to, cudaStream_t s)
{
	if (strided_count(f->rank, f->dim) > DEVICE_FAST_MAX)
		return strided_launch<WORD, PROBLEM_RANK, true>(f, from, to, s);
	if (f->rank <= 2)
		return strided_launch<WORD, 2, false>(f, from, to, s);
	if (f->rank == 3)
		return strided_launch<WORD, 3, false>(f, from, to, s);
	if (f->rank == 4)
		return strided_launch<WORD, 4, false>(f, from, to, s);
	return strided_launch<WORD, PROBLEM_RANK, false>(f, from, to, s);
}

static cudaError_t strided(const struct cuda_move_form *f, const void *from, void *to, cudaStream_t s)
{
	switch (f->bytes) {
	case 1: return strided_move<uint8_t>(f, from, to, s);
	case 2: return strided_move<uint16_t>(f, from, to, s);
	case 4: return strided_move<uint32_t>(f, from, to, s);
	case 8: return strided_move<uint64_t>(f, from, to, s);
	case 16: return strided_move<uint4>(f, from, to, s);
	default: return cudaErrorInvalidValue;
	}
}

static cudaError_t dense(const struct cuda_move *m, const void *from, void *to, cudaStream_t s)
{
	int64_t bytes = m->plain.dim[0] * m->plain.bytes;
	return LAUNCH(copy_kernel, device_blocks(bytes / 16, DEVICE_THREADS * DEVICE_UNROLL), DEVICE_THREADS,
		s, (const uint4 *)from, (uint4 *)to, bytes / 16, (int)(bytes % 16));
}

cudaError_t cuda_move_cast(const struct cuda_move *m, const void *from, void *to, cudaStream_t s);
cudaError_t cuda_move_tiled(const struct cuda_move *m, bool tall, const void *from, void *to, cudaStream_t s);

cudaError_t cuda_move(
	const struct cuda_move *m, enum cuda_move_kind kind, const void *from, void *to, cudaStream_t s)
{
	if (!cuda_move_can(m, kind))
		return cudaErrorInvalidValue;
	switch (kind) {
	case CUDA_MOVE_MEMCPY:
		return cudaMemcpyAsync(
			to, from, (size_t)(m->plain.dim[0] * m->plain.bytes), cudaMemcpyDeviceToDevice, s);
	case CUDA_MOVE_COPY: return dense(m, from, to, s);
	case CUDA_MOVE_TILED:
	case CUDA_MOVE_TALL: return cuda_move_tiled(m, kind == CUDA_MOVE_TALL, from, to, s);
	case CUDA_MOVE_VECTOR: return strided(&m->wide, from, to, s);
	default:
		return m->from_type != m->to_type ? cuda_move_cast(m, from, to, s)
						  : strided(&m->plain, from, to, s);
	}
}
