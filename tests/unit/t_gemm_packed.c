/* The packed matrix multiplication against sums in double, for each instruction set of this processor. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/gemm/gemm_packed.h"
#include "runner/verify/check_private.h"
#include "runner/verify/fill.h"
#include "tap.h"

static float value(int64_t seed, int64_t at)
{
	uint32_t x = (uint32_t)(at * 2654435761u + seed * 40503u);
	x ^= x >> 15;
	return (float)(int)(x % 2001) / 1000 + (seed > 2 ? 0.5f : -1); /* 1, 2: A, B; divisors are positive */
}

/* One of the operands, rounded to the type of the product. */
static float rounded(int64_t seed, int64_t at, bool narrow)
{
	char bytes[8];
	if (!narrow)
		return value(seed, at);
	fill_encode((double)value(seed, at), DTYPE_BF16, bytes);
	return (float)fill_decode(bytes, DTYPE_BF16);
}

/* Integers of B, from 0 on, with scales and zero points by block of a column. */
static double integer(int64_t seed, int64_t at, int bits)
{
	return (double)((uint32_t)(at * 2654435761u + seed * 40503u) >> (32 - bits));
}

static double weight(const struct gemm_packed *g, int64_t k, int64_t column)
{
	int64_t at = k * g->n + column;
	if (!g->bits)
		return (double)rounded(2, at, g->narrow);
	int64_t block = k / g->block * g->n + column;
	double zero = g->zero_points ? integer(8, block, g->bits) : (double)g->zero;
	return (integer(7, at, g->bits) - zero) * (double)rounded(9, block, g->narrow);
}

static void pack(const struct gemm_packed *g, char *b)
{
	int64_t blocks = g->bits ? (g->k + g->block - 1) / g->block : 0;
	for (int64_t i = 0; i < g->n * g->k; i++)
		gemm_packed_put(g, b, i, g->bits ? integer(7, i, g->bits) : (double)value(2, i));
	for (int64_t i = 0; i < g->n * blocks; i++) {
		gemm_packed_put_scale(g, b, i, (double)rounded(9, i, g->narrow));
		if (g->zero_points)
			gemm_packed_put_zero(g, b, i, integer(8, i, g->bits));
	}
}

/* One output, and in *scale the sum of its terms' absolute values. */
static double output(const struct gemm_packed *g, int64_t row, int64_t column, double *scale)
{
	double x = *scale = 0;
	for (int64_t k = 0; k < g->k; k++) {
		double term = (double)rounded(1, row * g->k + k, g->narrow) *
			weight(g, k, column);
		x += term;
		*scale += fabs(term);
	}
	for (int i = 0; i < g->epilogue_count; i++) {
		const struct epilogue *e = &g->epilogue[i];
		int64_t at = e->kind == EPILOGUE_BIAS ? column : row * g->n + column;
		double y = (double)rounded(3 + i, at, g->narrow);
		x = e->kind == EPILOGUE_BIAS	     ? x + y
			: e->kind == EPILOGUE_BINARY ? check_binary(e->mode, x, y) :
			check_eltwise(e->mode, (double)e->alpha, (double)e->beta, x);
		*scale += e->kind == EPILOGUE_ELTWISE ? fabs(x) : fabs(y);
	}
	return x;
}

static void fill(void *to, int64_t seed, int64_t n, bool narrow)
{
	for (int64_t i = 0; i < n; i++)
		fill_encode((double)value(seed, i), narrow ? DTYPE_BF16 : DTYPE_F32,
			(char *)to + i * (narrow ? 2 : 4));
}

/* Computes g, whose sizes are set, in `shares` shares. Returns the largest relative error of its outputs;
 * INFINITY if a value beyond them was written. */
static double worst(struct gemm_packed *g, int shares)
{
	int64_t m = g->m, n = g->n, k = g->k;
	size_t size = g->narrow ? 2 : 4, bytes = gemm_packed_bytes(g);
	char *a = base_calloc((size_t)(m * k), size), *c = base_calloc((size_t)(m * n + 1), size);
	char *b = aligned_alloc(64, bytes), *operand[PROBLEM_EPILOGUES];
	double most = 0, scale;
	memset(b, 0, bytes);
	memset(c, 0xff, (size_t)(m * n + 1) * size);
	fill(a, 1, m * k, g->narrow);
	pack(g, b);
	g->scratch = base_calloc((size_t)shares, gemm_packed_scratch(g) + 1);
	for (int i = 0; i < g->epilogue_count; i++) {
		g->operand[i] = operand[i] = base_calloc((size_t)(m * n), size);
		fill(operand[i], 3 + i, m * n, g->narrow);
	}
	g->a = a, g->b = b, g->c = c;
	for (int i = 0; i < shares; i++)
		gemm_packed_share(g, i, shares);
	for (int64_t i = 0; i <= m * n; i++) {
		double got = fill_decode(c + i * (int64_t)size, g->narrow ? DTYPE_BF16 : DTYPE_F32);
		double off = i == m * n ? isnan(got) ? 0 : INFINITY :
			fabs(got - output(g, i / n, i % n, &scale)) / fmax(scale, 1e-6);
		most = off <= most ? most : isnan(off) ? INFINITY : off;
	}
	for (int i = 0; i < g->epilogue_count; i++)
		free(operand[i]);
	free(g->scratch);
	free(a);
	free(b);
	free(c);
	return most;
}

static const int64_t sizes[][2] = { { 16, 8 }, { 1, 1 }, { 33, 25 }, { 50, 7 }, { 64, 100 }, { 98, 131 } };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void test_rows(const char *cap, bool narrow)
{
	const struct epilogue bias = { .kind = EPILOGUE_BIAS };
	int wrong = 0;
	for (int64_t m = 1; m <= GEMM_PACKED_ROWS; m += m < 18 ? 1 : 23)
		for (size_t i = 0; i < SIZES; i++)
			for (int shares = 1; shares < 8; shares += 3) {
				struct gemm_packed g = { .isa = gemm_isa(narrow), .m = m, .n = sizes[i][0],
					.k = sizes[i][1], .narrow = narrow, .epilogue_count = m % 2,
					.epilogue = &bias };
				wrong += !(worst(&g, shares) < (narrow ? 5e-3 : 1e-6));
			}
	is_int(wrong, 0, "limited to %s: %s, all rows, sizes and shares in %s", cap, gemm_isa(narrow)->name,
		narrow ? "bf16" : "f32");
}

/* Integers: blocks that are lines, more and less, that end early, one of all rows; rows of one pass, of
 * several, and more than are kept. */
static void test_integers(const char *cap, bool narrow)
{
	static const int64_t few[][3] = { { 16, 32, 32 }, { 1, 1, 1 }, { 33, 70, 16 }, { 50, 45, 20 },
		{ 130, 37, 37 }, { 70, 64, 3 } };
	const struct epilogue chain[] = { { .kind = EPILOGUE_BINARY, .mode = MODE_ADD,
		.operand = { .dtype = narrow ? DTYPE_BF16 : DTYPE_F32 } } };
	int wrong = 0;
	for (int64_t m = 1; m < 80; m += m < 6 ? 1 : 11)
		for (int i = 0; i < 6 * 3; i++) {
			int bits = 2 << i % 3;
			struct gemm_packed g = { .isa = gemm_isa(narrow), .m = m, .n = few[i / 3][0],
				.k = few[i / 3][1], .block = few[i / 3][2], .narrow = narrow, .bits = bits,
				.zero_points = m % 2, .zero = (float)(1 << bits >> 1),
				.epilogue_count = m % 3 == 0, .epilogue = chain };
			wrong += !(worst(&g, 1 + (int)m % 3) < (narrow ? 5e-3 : 1e-6));
		}
	is_int(wrong, 0, "limited to %s: %s, integers of 2, 4 and 8 bits by %s", cap, gemm_isa(narrow)->name,
		narrow ? "bf16" : "f32");
}

/* Each epilogue after a scaling that gives it small and large values, then a bias. */
static void test_epilogues(const char *cap, bool narrow)
{
	enum dtype type = narrow ? DTYPE_BF16 : DTYPE_F32;
	int count = 0, wrong = 0;
	for (int mode = MODE_NONE + 1; mode < MODE_COUNT; mode++) {
		bool binary = mode >= MODE_ADD && mode <= MODE_EQUAL;
		struct epilogue chain[] = {
			{ .kind = EPILOGUE_ELTWISE, .mode = MODE_LINEAR_MAP, .alpha = 4 },
			{ .kind = binary ? EPILOGUE_BINARY : EPILOGUE_ELTWISE, .mode = (enum mode)mode,
				.alpha = mode == MODE_CLIP ? -0.5f : 0.7f, .beta = 0.6f,
				.operand = { .dtype = type } },
			{ .kind = EPILOGUE_BIAS, .operand = { .dtype = type } },
		};
		struct gemm_packed g = { .isa = gemm_isa(narrow), .m = 5, .n = 50, .k = 9, .narrow = narrow,
			.epilogue_count = 3, .epilogue = chain };
		if (!gemm_packed_takes(&chain[1], type))
			continue;
		double off = worst(&g, 1);
		bool good = off < (narrow ? 5e-3 : 2e-6);
		count++;
		wrong += !good;
		if (!good)
			printf("# %s: %g\n", mode_name((enum mode)mode), off);
	}
	is_int(count, 21, "limited to %s: epilogues that it takes", cap);
	is_int(wrong, 0, "limited to %s: all are right in %s", cap, narrow ? "bf16" : "f32");
}

static void test_isa(const char *cap)
{
	setenv("ONEDNN_MAX_CPU_ISA", cap, 1);
	for (int narrow = 0; narrow < 2; narrow++) {
		test_rows(cap, narrow);
		test_integers(cap, narrow);
		test_epilogues(cap, narrow);
	}
}

static void test_takes(void)
{
	struct epilogue e = { .kind = EPILOGUE_BIAS, .operand = { .dtype = DTYPE_F32 } };
	ok(gemm_packed_takes(&e, DTYPE_F32), "a bias of the same type");
	ok(!gemm_packed_takes(&e, DTYPE_BF16), "not of another");
	e.operand.layout = LAYOUT_STRIDES;
	ok(!gemm_packed_takes(&e, DTYPE_F32), "nor a strided one");
	e = (struct epilogue){ .kind = EPILOGUE_ELTWISE, .mode = MODE_SOFTPLUS };
	ok(!gemm_packed_takes(&e, DTYPE_F32), "no function that needs logarithms");
	e = (struct epilogue){ .kind = EPILOGUE_SCALE, .operand = { .dtype = DTYPE_F32 } };
	ok(!gemm_packed_takes(&e, DTYPE_F32), "no scale of integers");
}

int main(void)
{
	struct gemm_packed g = { .n = 17, .k = 3 };
	is_int(gemm_packed_bytes(&g), 2 * 3 * 64, "the last panel counts whole");
	g.narrow = true;
	is_int(gemm_packed_bytes(&g), 2 * 2 * 64, "in bf16 a line has two rows");
	g = (struct gemm_packed){ .n = 32, .k = 512, .bits = 4, .block = 32, .zero_points = true };
	is_int(gemm_packed_bytes(&g), 32 * (512 / 2 + 16 * 4 + 16 / 2), "4 bits, f32 scales, zero points");
	g.narrow = true;
	is_int(gemm_packed_bytes(&g), 32 * (512 / 2 + 16 * 2 + 16 / 2), "bf16 scales");
	g = (struct gemm_packed){ .n = 32, .k = 512, .bits = 8, .block = 512 };
	is_int(gemm_packed_bytes(&g), 32 * (512 + 4), "a scale a column");
	test_takes();
	test_isa("SSE41");
	is_str(gemm_isa(true)->name, "base", "the limit of oneDNN holds here too");
	test_isa("AVX");
	test_isa("AVX2_VNNI");
	test_isa("AVX512_CORE");
	test_isa("AVX512_CORE_AMX");
	return done_testing();
}
