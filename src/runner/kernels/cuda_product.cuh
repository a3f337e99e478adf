/* Sums as products with ones on matrix units (Dakkak et al., ICS 2019): f16 and bf16 with f32 sums, 16 lines
 * at once. A fragment of 16 x 16 elements times ones adds 16 columns; as the order of columns does not matter
 * to a sum, each thread loads adjacent elements. Needs compute capability 8.0 or later. */
#ifndef RUNNER_CUDA_PRODUCT_CUH
#define RUNNER_CUDA_PRODUCT_CUH

#include "runner/kernels/cuda_rows.cuh"

#define PRODUCT_LINES 16
#define PRODUCT_COLUMNS 32 /* of a line in one step of a warp: 8 in each of 4 threads */
#define PRODUCT_WARPS (ROWS_THREADS / 32)

/* d += a b for a 16 x 16, b 16 x 8. With g = lane / 4 and t = lane % 4 a thread has, in this order, two
 * elements a word, the lower index in the lower half: a  rows g, g + 8, g, g + 8; columns 2 t, 2 t, 2 t + 8,
 * 2 t + 8 b  rows 2 t, 2 t + 8; column g d  rows g, g, g + 8, g + 8; columns 2 t, 2 t + 1, 2 t, 2 t + 1 (PTX
 * ISA, mma.m16n8k16) */
template <int TYPE>
static __device__ inline void device_product(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
#ifdef CUDA_ON_CPU
	on_cpu_product(d, a, b, [](uint16_t w) { return (float)number<TYPE>::read(w); });
#elif __CUDA_ARCH__ >= 800
	if (TYPE == DTYPE_F16)
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
			     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
			     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	else
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
			     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
			     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
	d[0] = d[1] = d[2] = d[3] = NAN; /* never offered on such GPUs */
	(void)a;
	(void)b;
#endif
}

/* Two ones in a word. */
template <int TYPE> static __device__ inline uint32_t product_ones(void)
{
	return TYPE == DTYPE_F16 ? 0x3c003c00u : 0x3f803f80u;
}

/* Loads this thread's 8 of PRODUCT_COLUMNS elements; 0 outside. N == 8: adjacent ones, aligned. */
template <int N>
static __device__ inline void product_load(
	const uint16_t *line, int64_t column, int64_t size, bool inside, uint32_t (&x)[4])
{
	int t = (int)threadIdx.x % 4;
	x[0] = x[1] = x[2] = x[3] = 0;
	if (N == 8 && inside && column + 8 * t < size) {
		pack<uint32_t, 4> w = pack_at<uint32_t, 4>((const uint32_t *)(line + column + 8 * t));
#pragma unroll
		for (int i = 0; i < 4; i++)
			x[i] = w.at[i];
	}
#pragma unroll
	for (int i = 0; i < 8 && N == 1; i++)
		if (inside && column + t + 4 * i < size)
			x[i / 2] |= (uint32_t)line[column + t + 4 * i] << 16 * (i % 2);
}

/* Of 16 lines: sums of elements and of squares. A thread has the sums of lines g and g + 8, and their squares
 * if t == g / 2. */
struct product_sums {
	float sum[2], squares[2];
};

/* Adds every `step`-th group of PRODUCT_COLUMNS columns of lines g and g + 8. The squares of lines 0 to 7 are
 * the diagonal of the product of the fragment with its own upper half, transposed: b has the same words as
 * the rows g of a; those of the other lines that with its lower half. */
template <int TYPE, int N, bool SQUARES>
static __device__ inline product_sums product_sum(
	const uint16_t *from, int64_t lines, int64_t size, int64_t line, int64_t first, int64_t step)
{
	float sum[4] = { 0, 0, 0, 0 }, upper[4] = { 0, 0, 0, 0 }, lower[4] = { 0, 0, 0, 0 };
	const uint32_t ones[2] = { product_ones<TYPE>(), product_ones<TYPE>() };
	const uint16_t *x = from + line * size, *y = x + 8 * size;
	int g = (int)threadIdx.x % 32 / 4;
#pragma unroll 4
	for (int64_t column = first; column < size; column += step) {
		uint32_t p[4], q[4];
		product_load<N>(x, column, size, line < lines, p);
		product_load<N>(y, column, size, line + 8 < lines, q);
#pragma unroll
		for (int h = 0; h < 4; h += 2) {
			const uint32_t a[4] = { p[h], q[h], p[h + 1], q[h + 1] };
			device_product<TYPE>(sum, a, ones);
			if (SQUARES) {
				const uint32_t up[2] = { p[h], p[h + 1] }, low[2] = { q[h], q[h + 1] };
				device_product<TYPE>(upper, a, up);
				device_product<TYPE>(lower, a, low);
			}
		}
	}
	/* no index that is computed: the arrays would lie in memory */
	product_sums s = { { sum[0], sum[2] }, { g % 2 ? upper[1] : upper[0], g % 2 ? lower[3] : lower[2] } };
	return s;
}

#endif
