#include "config.h"

#include "runner/gemm/gemm_packed.h"

#include <stdbool.h>
#include <string.h>

#include "runner/host/isa.h"
#include "runner/host/lines.h"
#include "runner/verify/fill.h"

#define LINE_BYTES 64
#define PART_LINES 64 /* lines of each panel that a pass multiplies: 4 panels are half of a first cache */
#define PANELS_MOST 6 /* panels of a group, */
#define PASS_PANELS_MOST 4 /* and if there are several passes; the passes' rows times these: the sums kept */
#define TILE_MOST 24  /* sums of a tile, of one line each */

static int64_t panels_of(int64_t n)
{
	return (n + GEMM_LANES - 1) / GEMM_LANES;
}

static int64_t panel_bytes(int64_t k, bool narrow)
{
	return (narrow ? (k + 1) / 2 : k) * LINE_BYTES;
}

size_t gemm_packed_bytes(int64_t n, int64_t k, bool narrow)
{
	return (size_t)(panels_of(n) * panel_bytes(k, narrow));
}

void gemm_packed_put(void *packed, int64_t n, int64_t k, bool narrow, int64_t at, double value)
{
	int64_t row = at / n, column = at % n, lane = column % GEMM_LANES;
	char *panel = (char *)packed + column / GEMM_LANES * panel_bytes(k, narrow);
	if (narrow)
		fill_encode(value, DTYPE_BF16, panel + row / 2 * LINE_BYTES + lane * 4 + row % 2 * 2);
	else
		fill_encode(value, DTYPE_F32, panel + row * LINE_BYTES + lane * 4);
}

bool gemm_packed_takes(const struct epilogue *e, enum dtype type)
{
	if (e->kind == EPILOGUE_ELTWISE)
		return line_computes(e->mode);
	bool dense = e->operand.layout == LAYOUT_ANY || e->operand.layout == LAYOUT_NCX;
	return dense && e->operand.dtype == type &&
		(e->kind == EPILOGUE_BIAS || (e->kind == EPILOGUE_BINARY && line_computes(e->mode)));
}

/* A block of rows of A and panels of B. A pass adds the products with lines t->from to t->to of B. */
struct tile {
	int64_t row;          /* the first one */
	const char *b;        /* the first panel */
	int64_t step;         /* bytes of a panel */
	int64_t from, to;
	const char *next;     /* + line * LINE_BYTES: what is fetched for later */
	float *kept;          /* the sums: rows x panels lines */
};

#define NAME(x) x##_base
#define TARGET
#define VECTOR 16
#define WIDTHS { 0, 2, 1, 1 }
#define PASS_ROWS 3
#define PASS_PANELS 1
#define CASES CASE(1, 2) CASE(1, 1) CASE(2, 1) CASE(3, 1)
#include "runner/gemm/gemm_packed_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR 32
#define WIDTHS { 0, 4, 3, 2 }
#define PASS_ROWS 3
#define PASS_PANELS 2
#define CASES CASE(1, 4) CASE(2, 3) CASE(2, 2) CASE(3, 2) CASE(1, 1) CASE(2, 1) CASE(3, 1)
#include "runner/gemm/gemm_packed_impl.h"

#define WIDE_TILES \
	CASE(1, 4) CASE(2, 4) CASE(3, 6) CASE(4, 6) CASE(5, 4) CASE(6, 4) CASE(7, 3) CASE(8, 3) CASE(3, 4) \
	CASE(4, 4) CASE(1, 1) CASE(2, 1) CASE(3, 1) CASE(4, 1) CASE(5, 1) CASE(6, 1) CASE(7, 1) CASE(8, 1)
#define NAME(x) x##_avx512
#define TARGET __attribute__((target("avx512f")))
#define VECTOR 64
#define WIDTHS { 0, 4, 4, 6, 6, 4, 4, 3, 3 }
#define PASS_ROWS 4
#define PASS_PANELS 4
#define CASES WIDE_TILES
#include "runner/gemm/gemm_packed_impl.h"
#endif

#if defined(__x86_64__) && (defined(__clang__) ? __clang_major__ >= 14 : __GNUC__ >= 11)
#define HAVE_BF16 1
#include <immintrin.h>
#define NAME(x) x##_avx512_bf16
#define TARGET __attribute__((target("avx512f,avx512bf16")))
#define VECTOR 64
#define WIDTHS { 0, 4, 4, 6, 6, 4, 4, 3, 3 }
#define PASS_ROWS 4
#define PASS_PANELS 4
#define CASES WIDE_TILES
#define DOT(sum, a, b) _mm512_dpbf16_ps((__m512)(sum), (__m512bh)(a), (__m512bh)(b))
#include "runner/gemm/gemm_packed_impl.h"
#endif

static const struct gemm_isa isa_base = { "base", share_base };

#if defined(__x86_64__) && defined(__GNUC__)
static const struct gemm_isa isa_avx2 = { "avx2", share_avx2 }, isa_avx512 = { "avx512", share_avx512 };
#ifdef HAVE_BF16
static const struct gemm_isa isa_bf16 = { "avx512_bf16", share_avx512_bf16 };
#endif

const struct gemm_isa *gemm_isa(bool narrow)
{
	enum isa isa = isa_present();
#ifdef HAVE_BF16
	if (narrow && isa >= ISA_AVX512_BF16)
		return &isa_bf16;
#else
	(void)narrow;
#endif
	return isa >= ISA_AVX512 ? &isa_avx512 : isa >= ISA_AVX2 ? &isa_avx2 : &isa_base;
}
#else
const struct gemm_isa *gemm_isa(bool narrow)
{
	(void)narrow;
	return &isa_base;
}
#endif

void gemm_packed_share(void *g, int i, int count)
{
	const struct gemm_packed *gemm = g;
	gemm->isa->share(gemm, i, count);
}
