/* Products with packed weights: packing, and the choice of tiles and threads (gemm_packed.h). */
#include "config.h"

#include "runner/gemm/gemm_packed.h"

#include <math.h>
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
#define FEW_PANELS_MOST 4
#define ODD_MOST 4      /* registers of sums that a second set doubles */
#define AHEAD_LINES 16 /* of integers that are fetched before they are needed: measured */

static int64_t panels_of(int64_t n)
{
	return (n + GEMM_LANES - 1) / GEMM_LANES;
}

/* Lines of a panel. */
struct lines {
	int64_t rows;          /* of B in a line */
	/* of integers: */
	int64_t block, blocks; /* lines of a block; blocks of a column */
	int scales, zeros;     /* 2^scales blocks' scales are a line, 2^zeros blocks' zero points */
	bool zero_points;
	int64_t weights;       /* without scales and zero points */
};

static int64_t parts_of(int64_t n, int64_t size)
{
	return (n + size - 1) / size;
}

static struct lines lines_of(const struct gemm_packed *g)
{
	struct lines l = { .rows = g->bits ? 32 / g->bits : g->narrow ? 2 : 1 };
	if (!g->bits) {
		l.weights = parts_of(g->k, l.rows);
		return l;
	}
	l.blocks = parts_of(g->k, g->block);
	l.block = parts_of(g->block, l.rows);
	l.weights = (l.blocks - 1) * l.block + parts_of(g->k - (l.blocks - 1) * g->block, l.rows);
	l.scales = g->narrow;
	l.zeros = g->bits == 2 ? 4 : g->bits == 4 ? 3 : 2;
	l.zero_points = g->zero_points;
	return l;
}

/* The first line of a block, and those of its scales and zero points: in front of the first block that these
 * are of, zero points first. */
static inline int64_t weight_line(const struct lines *l, int64_t block)
{
	return block * l->block + (block >> l->scales) + 1 + (l->zero_points ? (block >> l->zeros) + 1 : 0);
}

static inline int64_t scale_line(const struct lines *l, int64_t block)
{
	return weight_line(l, block >> l->scales << l->scales) - 1;
}

static inline int64_t zero_line(const struct lines *l, int64_t block)
{
	return l->zero_points ? weight_line(l, block >> l->zeros << l->zeros) - 2 : 0;
}

static int64_t panel_bytes(const struct lines *l)
{
	int64_t last = l->blocks - 1, before = last < 0 ? 0 : weight_line(l, last) - last * l->block;
	return (before + l->weights) * LINE_BYTES;
}

size_t gemm_packed_bytes(const struct gemm_packed *g)
{
	struct lines l = lines_of(g);
	return (size_t)(panels_of(g->n) * panel_bytes(&l));
}

/* Floats of a row of A in the scratch: its values in the order of a panel's rows and a line more, then the
 * sums of its blocks. */
static int64_t few_values(const struct lines *l)
{
	return (parts_of(l->weights * l->rows, GEMM_LANES) + 1) * GEMM_LANES;
}

static int64_t few_floats(const struct lines *l)
{
	return few_values(l) + parts_of(l->blocks, GEMM_LANES) * GEMM_LANES;
}

size_t gemm_packed_scratch(const struct gemm_packed *g)
{
	struct lines l = lines_of(g);
	int64_t rows = g->m < GEMM_PACKED_ROWS ? g->m : GEMM_PACKED_ROWS;
	return g->bits ? (size_t)(rows * few_floats(&l)) * sizeof(float) : 0;
}

/* Line `line` of the panel of a column, and in it the column's 32 bits. */
static char *word_at(void *packed, const struct lines *l, int64_t column, int64_t line)
{
	return (char *)packed + column / GEMM_LANES * panel_bytes(l) + line * LINE_BYTES +
		column % GEMM_LANES * 4;
}

/* Integer number i of a word. */
static void bits_put(const struct gemm_packed *g, char *word, int64_t i, double value)
{
	uint32_t all;
	memcpy(&all, word, sizeof(all));
	all |= (uint32_t)value << i * g->bits;
	memcpy(word, &all, sizeof(all));
}

/* f32, or the half of a word. */
static void float_put(const struct gemm_packed *g, char *word, int64_t half, double value)
{
	fill_encode(value, g->narrow ? DTYPE_BF16 : DTYPE_F32, word + half * 2);
}

void gemm_packed_put(const struct gemm_packed *g, void *packed, int64_t at, double value)
{
	struct lines l = lines_of(g);
	int64_t row = at / g->n, in = g->bits ? row % g->block : row;
	int64_t line = (g->bits ? weight_line(&l, row / g->block) : 0) + in / l.rows;
	char *word = word_at(packed, &l, at % g->n, line);
	if (g->bits)
		bits_put(g, word, in % l.rows, value);
	else
		float_put(g, word, in % l.rows, value);
}

void gemm_packed_put_scale(const struct gemm_packed *g, void *packed, int64_t at, double value)
{
	struct lines l = lines_of(g);
	int64_t block = at / g->n;
	float_put(g, word_at(packed, &l, at % g->n, scale_line(&l, block)), block % (1 << l.scales), value);
}

void gemm_packed_put_zero(const struct gemm_packed *g, void *packed, int64_t at, double value)
{
	struct lines l = lines_of(g);
	int64_t block = at / g->n;
	bits_put(g, word_at(packed, &l, at % g->n, zero_line(&l, block)), block % l.rows, value);
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

/* The same for integers: a pass multiplies blocks t->from to t->to. */
struct few {
	struct lines lines;
	const float *a;       /* of the tile's first row; rows are `apart` floats apart */
	const float *sums;
	int64_t apart;
};

/* The lines of a block's scales and zero points, of the first panel. */
struct few_lines {
	const char *scales, *zeros;
};

/* Goes on to a block whose first line, or that of its scales, is *line, and fetches what is `ahead`. */
static inline void few_next(const struct lines *l, int64_t block, struct few_lines *at, const char **line,
	int panels, int64_t step, int64_t ahead)
{
	for (int zeros = 1; zeros >= 0; zeros--) {
		if (zeros && !l->zero_points)
			continue;
		if (block & ((1 << (zeros ? l->zeros : l->scales)) - 1))
			continue;
		*(zeros ? &at->zeros : &at->scales) = *line;
		for (int p = 0; p < panels; p++)
			__builtin_prefetch(*line + p * step + ahead);
		*line += LINE_BYTES;
	}
}

/* What A is divided by for row i of a line: its bits are not shifted down, but those of the last one, which
 * would make a number negative. */
static float few_factor(int bits, int64_t i)
{
	return i == 32 / bits - 1 ? 1 : ldexpf(1, (int)-i * bits);
}

#define NAME(x) x##_base
#define TARGET
#define VECTOR 16
#define WIDTHS { 0, 2, 1, 1 }
#define PASS_ROWS 3
#define PASS_PANELS 1
#define CASES CASE(1, 2) CASE(1, 1) CASE(2, 1) CASE(3, 1)
#define FEW_ROWS 2
#define FEW_WIDE 0
#define FEW_PANELS 1
#define FEW_CASES FEW(1, 1) FEW(2, 1)
#include "runner/gemm/gemm_packed_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR 32
#define WIDTHS { 0, 4, 3, 2 }
#define PASS_ROWS 3
#define PASS_PANELS 2
#define CASES CASE(1, 4) CASE(2, 3) CASE(2, 2) CASE(3, 2) CASE(1, 1) CASE(2, 1) CASE(3, 1)
#define FEW_ROWS 5
#define FEW_WIDE 2
#define FEW_PANELS 2
#define FEW_CASES FEW(1, 2) FEW(2, 2) FEW(1, 1) FEW(2, 1) FEW(3, 1) FEW(4, 1) FEW(5, 1)
#include "runner/gemm/gemm_packed_impl.h"

#define WIDE_TILES \
	CASE(1, 4) CASE(2, 4) CASE(3, 6) CASE(4, 6) CASE(5, 4) CASE(6, 4) CASE(7, 3) CASE(8, 3) CASE(3, 4) \
	CASE(4, 4) CASE(1, 1) CASE(2, 1) CASE(3, 1) CASE(4, 1) CASE(5, 1) CASE(6, 1) CASE(7, 1) CASE(8, 1)
#define WIDE_FEW \
	FEW(1, 4) FEW(2, 4) FEW(3, 4) FEW(4, 4) FEW(1, 1) FEW(2, 1) FEW(3, 1) FEW(4, 1) FEW(5, 1) FEW(6, 1) \
	FEW(7, 1) FEW(8, 1) FEW(9, 1) FEW(10, 1) FEW(11, 1) FEW(12, 1) FEW(13, 1) FEW(14, 1) FEW(15, 1) \
	FEW(16, 1)
#define NAME(x) x##_avx512
#define TARGET __attribute__((target("avx512f")))
#define VECTOR 64
#define WIDTHS { 0, 4, 4, 6, 6, 4, 4, 3, 3 }
#define PASS_ROWS 4
#define PASS_PANELS 4
#define CASES WIDE_TILES
#define FEW_ROWS 16
#define FEW_WIDE 4
#define FEW_PANELS 4
#define FEW_CASES WIDE_FEW
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
#define FEW_ROWS 16
#define FEW_WIDE 4
#define FEW_PANELS 4
#define FEW_CASES WIDE_FEW
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

/* Integers may have more rows than are multiplied at once: for each block of rows B is read again. */
void gemm_packed_share(void *g, int i, int count)
{
	const struct gemm_packed *gemm = g;
	struct gemm_packed part = *gemm;
	int64_t size = gemm->narrow ? 2 : 4;
	for (int64_t row = 0; row < gemm->m; row += GEMM_PACKED_ROWS) {
		part.m = gemm->m - row < GEMM_PACKED_ROWS ? gemm->m - row : GEMM_PACKED_ROWS;
		part.a = (const char *)gemm->a + row * gemm->k * size;
		part.scratch = (char *)gemm->scratch + (size_t)i * gemm_packed_scratch(gemm);
		part.c = (char *)gemm->c + row * gemm->n * size;
		for (int e = 0; e < gemm->epilogue_count; e++)
			if (gemm->epilogue[e].kind == EPILOGUE_BINARY)
				part.operand[e] = (const char *)gemm->operand[e] + row * gemm->n * size;
		gemm->isa->share(&part, i, count);
	}
}
