#include "config.h"

#include "runner/gemm/gemm_packed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LANES GEMM_LANES

static int64_t panels(int64_t n)
{
	return (n + LANES - 1) / LANES;
}

size_t gemm_packed_bytes(int64_t n, int64_t k)
{
	return (size_t)panels(n) * (size_t)k * LANES * sizeof(float);
}

void gemm_packed_put(float *packed, int64_t n, int64_t k, int64_t at, float value)
{
	int64_t row = at / n, column = at % n;
	packed[(column / LANES * k + row) * LANES + column % LANES] = value;
}

#define MOST_SUMS 16 /* sums of a block at most, each of one panel's row */
#define AHEAD 16     /* rows of a panel that are prefetched; the hardware stops at the end of a page */

#define NAME(x) x##_base
#define TARGET
#define VECTOR 16
#define MOST 2
#define CASES CASE(1, 2) CASE(2, 1)
#include "runner/gemm/gemm_packed_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR 32
#define MOST 6
#define CASES CASE(1, 4) CASE(2, 3) CASE(3, 2) CASE(4, 1) CASE(5, 1) CASE(6, 1)
#include "runner/gemm/gemm_packed_impl.h"

#define NAME(x) x##_avx512
#define TARGET __attribute__((target("avx512f")))
#define VECTOR 64
#define MOST 8
#define CASES CASE(1, 8) CASE(2, 4) CASE(3, 4) CASE(4, 4) CASE(5, 2) CASE(6, 2) CASE(7, 2) CASE(8, 2)
#include "runner/gemm/gemm_packed_impl.h"
#endif

static const struct gemm_isa isa_base = { "base", share_base };

#if defined(__x86_64__) && defined(__GNUC__)
static const struct gemm_isa isa_avx2 = { "avx2", share_avx2 }, isa_avx512 = { "avx512", share_avx512 };

/* oneDNN's names of limits: the first letters decide, other names limit nothing. */
static const struct { const char *name; int level; } limits[] = { { "SSE41", 0 }, { "AVX512", 2 },
	{ "AVX10", 2 }, { "AVX2", 1 }, { "AVX", 0 } };

static int level_permitted(void)
{
	const char *cap = getenv("ONEDNN_MAX_CPU_ISA");
	cap = cap ? cap : getenv("DNNL_MAX_CPU_ISA");
	for (size_t i = 0; cap && i < sizeof(limits) / sizeof(limits[0]); i++)
		if (strncasecmp(cap, limits[i].name, strlen(limits[i].name)) == 0)
			return limits[i].level;
	return 2;
}

const struct gemm_isa *gemm_isa(void)
{
	int level = level_permitted();
	if (level > 1 && __builtin_cpu_supports("avx512f"))
		return &isa_avx512;
	return level > 0 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &isa_avx2
											    : &isa_base;
}
#else
const struct gemm_isa *gemm_isa(void)
{
	return &isa_base;
}
#endif

void gemm_packed_share(void *g, int i, int count)
{
	const struct gemm_packed *gemm = g;
	gemm->isa->share(gemm, i, count);
}
