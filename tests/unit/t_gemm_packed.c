/* The packed matrix multiplication against sums in double, for each instruction set of this processor. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/gemm/gemm_packed.h"
#include "tap.h"

static float value(int64_t seed, int64_t at)
{
	uint32_t x = (uint32_t)(at * 2654435761u + seed * 40503u);
	x ^= x >> 15;
	return (float)(int)(x % 2001) / 1000 - 1;
}

/* The sum of one output, and in *scale that of its terms' absolute values. */
static double sum(const struct gemm_packed *g, int64_t row, int64_t column, double *scale)
{
	double total = g->bias ? (double)g->bias[column] : 0;
	*scale = fabs(total);
	for (int64_t k = 0; k < g->k; k++) {
		double term = (double)g->a[row * g->k + k] * (double)value(2, k * g->n + column);
		total += term;
		*scale += fabs(term);
	}
	return total;
}

/* Largest relative error of m x n outputs, computed in `shares` shares; INFINITY if a value beyond them was
 * written. */
static double worst(const struct gemm_isa *isa, int64_t m, int64_t n, int64_t k, bool bias, int shares)
{
	float *a = base_calloc((size_t)(m * k), sizeof(*a)),
	      *c = base_calloc((size_t)(m * n + 1), sizeof(*c));
	float *add = base_calloc((size_t)n, sizeof(*add)), *b = aligned_alloc(64, gemm_packed_bytes(n, k));
	struct gemm_packed g = {
		.isa = isa, .m = m, .n = n, .k = k, .a = a, .b = b, .bias = bias ? add : NULL, .c = c
	};
	double most = 0, scale;
	memset(b, 0, gemm_packed_bytes(n, k));
	for (int64_t i = 0; i < m * k; i++)
		a[i] = value(1, i);
	for (int64_t i = 0; i < n; i++)
		add[i] = value(3, i);
	for (int64_t i = 0; i < n * k; i++)
		gemm_packed_put(b, n, k, i, value(2, i));
	for (int64_t i = 0; i <= m * n; i++)
		c[i] = NAN;
	for (int i = 0; i < shares; i++)
		gemm_packed_share(&g, i, shares);
	for (int64_t i = 0; i < m * n; i++) {
		double off = fabs((double)c[i] - sum(&g, i / n, i % n, &scale)) / scale;
		most = off <= most ? most : isnan(off) ? INFINITY : off;
	}
	most = isnan(c[m * n]) ? most : INFINITY;
	free(a);
	free(b);
	free(c);
	free(add);
	return most;
}

static void test_isa(const char *cap)
{
	static const int64_t sizes[][2] = { { 16, 8 }, { 1, 1 }, { 33, 25 }, { 50, 7 }, { 64, 100 } };
	int wrong = 0;
	setenv("ONEDNN_MAX_CPU_ISA", cap, 1);
	const struct gemm_isa *isa = gemm_isa();
	for (int64_t m = 1; m <= GEMM_PACKED_ROWS; m += m < 20 ? 1 : 11)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (int shares = 1; shares < 8; shares += 3)
				wrong += !(worst(isa, m, sizes[i][0], sizes[i][1], m % 2, shares) < 1e-6);
	is_int(wrong, 0, "limited to %s: %s, all rows, sizes and shares", cap, isa->name);
}

int main(void)
{
	is_int(gemm_packed_bytes(17, 3), 2 * 3 * 64, "the last panel counts whole");
	test_isa("SSE41");
	is_str(gemm_isa()->name, "base", "the limit of oneDNN holds here too");
	test_isa("AVX");
	test_isa("AVX2_VNNI");
	test_isa("AVX512_CORE_AMX");
	return done_testing();
}
