/* Kernels of plain C that compute line by line. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/plain/plain_lines.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "runner/host/isa.h"
#include "runner/host/lines.h"

#define WIDE ((int64_t)PLAIN_COLUMNS)
#define RUN 2048 /* elements; the epilogues find them in the L1 cache */

/* clang-format off */
#define EXPONENTIALS \
	FUNCTION(MODE_SIGMOID) FUNCTION(MODE_TANH) FUNCTION(MODE_GELU_ERF) FUNCTION(MODE_GELU_TANH) \
	FUNCTION(MODE_SWISH) FUNCTION(MODE_ELU) FUNCTION(MODE_MISH)
#define FUNCTIONS \
	EXPONENTIALS \
	FUNCTION(MODE_RELU) FUNCTION(MODE_LEAKY_RELU) FUNCTION(MODE_CLIP) FUNCTION(MODE_HARD_SIGMOID) \
	FUNCTION(MODE_HARD_SWISH) FUNCTION(MODE_ABS) FUNCTION(MODE_SQUARE) FUNCTION(MODE_LINEAR_MAP)
#define BINARIES \
	FUNCTION(MODE_ADD) FUNCTION(MODE_SUB) FUNCTION(MODE_MUL) FUNCTION(MODE_DIV) FUNCTION(MODE_MAXIMUM) \
	FUNCTION(MODE_MINIMUM)
/* clang-format on */

#define NAME(x) x##_base
#define TARGET
#include "runner/plain/plain_lines_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#include "runner/plain/plain_lines_impl.h"

#define NAME(x) x##_avx512
#define TARGET __attribute__((target("avx512f")))
#include "runner/plain/plain_lines_impl.h"

static const struct plain_lines avx2 = { "avx2", compute_avx2, softmax_avx2, softmax_columns_avx2 };
static const struct plain_lines avx512 = { "avx512", compute_avx512, softmax_avx512,
	softmax_columns_avx512 };
#endif

static const struct plain_lines base = { "base", compute_base, softmax_base, softmax_columns_base };

const struct plain_lines *plain_lines(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
	enum isa isa = isa_present();
	if (isa >= ISA_AVX2)
		return isa >= ISA_AVX512 ? &avx512 : &avx2;
#endif
	return &base;
}

#define FUNCTION(mode) case mode:

static bool has_exponential(enum mode m)
{
	switch (m) {
		EXPONENTIALS
		return true;
	default:
		return false;
	}
}

static bool is_function(enum mode m)
{
	switch (m) {
		FUNCTIONS
		return true;
	default:
		return false;
	}
}

static bool is_binary(enum mode m)
{
	switch (m) {
		BINARIES
		return true;
	default:
		return false;
	}
}

#undef FUNCTION

static bool eltwise_fits(const struct problem *p)
{
	return has_exponential(p->mode);
}

static bool batchnorm_fits(const struct problem *p)
{
	return p->shape[0].rank > 1;
}

static bool binary_fits(const struct problem *p)
{
	struct problem_shape to = problem_operand_shape(p, 2);
	int64_t total = plain_volume(&to, 0, to.rank);
	bool broadcasts = plain_volume(&p->shape[0], 0, p->shape[0].rank) < total ||
		plain_volume(&p->shape[1], 0, p->shape[1].rank) < total;
	return broadcasts && is_binary(p->mode);
}

static bool softmax_fits(const struct problem *p)
{
	return p->mode == MODE_SOFTMAX && !p->epilogue_count;
}

static bool eltwise_runs(const struct problem *p)
{
	return is_function(p->mode);
}

static bool binary_runs(const struct problem *p)
{
	return is_binary(p->mode);
}

/* What the kernels can compute, and what of it is slow with oneDNN. */
static const struct {
	bool (*runs)(const struct problem *p), (*fits)(const struct problem *p);
} kernels[KERNEL_COUNT] = {
	[KERNEL_ELTWISE] = { eltwise_runs, eltwise_fits },
	[KERNEL_BATCHNORM] = { batchnorm_fits, batchnorm_fits },
	[KERNEL_BINARY] = { binary_runs, binary_fits },
	[KERNEL_SOFTMAX] = { softmax_fits, softmax_fits },
};

static bool is_computed(const struct problem *p)
{
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].dtype != DTYPE_F32)
			return false;
	for (int i = 0; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind != EPILOGUE_ELTWISE || !is_function(p->epilogue[i].mode))
			return false;
	return kernels[p->kernel].runs && kernels[p->kernel].runs(p);
}

bool plain_by_lines(const struct problem *p)
{
	return is_computed(p) && kernels[p->kernel].fits(p);
}

int plain_overwritten(const struct problem *p)
{
	struct problem_shape to = problem_operand_shape(p, problem_operand_count(p) - 1);
	int sources = p->kernel == KERNEL_BINARY ? 2 : 1;
	if (!is_computed(p))
		return -1;
	for (int i = 0; i < sources; i++)
		if (!p->operand[i].constant &&
			plain_volume(&p->shape[i], 0, p->shape[i].rank) == plain_volume(&to, 0, to.rank))
			return i;
	return -1;
}

/* The destination as rows of `width` elements, in each of which a source's elements are adjacent or one; and
 * the sources' steps along each dimension of the destination. */
struct rows {
	struct problem_shape to;
	int sources, outer; /* number of dimensions that count rows */
	int64_t width, step[2][PROBLEM_RANK], within[2];
	bool by_channel; /* batchnorm without space: a row is the channels of one item */
};

/* Takes dimensions into the row, from the last one on, while all sources continue as they began. */
static struct rows rows_of(const struct problem *p)
{
	struct rows r = { .to = problem_operand_shape(p, problem_operand_count(p) - 1), .width = 1 };
	bool known = false;
	r.by_channel = p->kernel == KERNEL_BATCHNORM && plain_volume(&r.to, 2, r.to.rank) == 1;
	r.sources = p->kernel == KERNEL_BINARY ? 2 : 1;
	for (int j = 0; j < r.sources; j++)
		plain_broadcast_steps(&p->shape[j], &r.to, r.step[j]);
	for (r.outer = r.to.rank; r.outer > 0; r.outer--) {
		int d = r.outer - 1;
		if (p->kernel == KERNEL_BATCHNORM && d < (r.by_channel ? 1 : 2))
			break;
		if (r.to.dim[d] == 1)
			continue;
		for (int j = 0; j < r.sources && known; j++)
			if (r.step[j][d] != r.within[j] * r.width)
				return r;
		for (int j = 0; j < r.sources && !known; j++)
			r.within[j] = r.step[j][d] != 0;
		known = true;
		r.width *= r.to.dim[d];
	}
	return r;
}

/* Along the last axis row by row, else many neighbouring columns at once. */
void plain_softmax_share(const struct plain *a, int i, int count)
{
	const struct problem_shape *s = &a->problem->shape[0];
	int axis = a->problem->axis;
	int64_t n = s->dim[axis], inner = plain_volume(s, axis + 1, s->rank);
	int64_t blocks = (inner + WIDE - 1) / WIDE;
	int64_t total = plain_volume(s, 0, axis) * blocks, end = plain_begin(total, i + 1, count);
	for (int64_t at = plain_begin(total, i, count); at < end; at++) {
		int64_t column = at % blocks * WIDE, first = at / blocks * n * inner + column;
		int64_t columns = inner - column < WIDE ? inner - column : WIDE;
		const float *from = (const float *)a->source[0] + first;
		float *to = (float *)a->destination + first;
		if (inner == 1)
			a->lines->softmax(from, to, n);
		else
			a->lines->softmax_columns(from, to, n, inner, columns);
	}
}

/* Where a run begins: the index of its row along the outer dimensions, the sources' first elements of this
 * row, and the elements of the row before it. */
struct place {
	int64_t index[PROBLEM_RANK], from[2], past;
};

static struct place place_of(const struct rows *r, int64_t at)
{
	struct place where = { .past = at % r->width };
	int64_t row = at / r->width;
	for (int d = r->outer - 1; d >= 0; row /= r->to.dim[d--]) {
		where.index[d] = row % r->to.dim[d];
		for (int j = 0; j < r->sources; j++)
			where.from[j] += where.index[d] * r->step[j][d];
	}
	return where;
}

/* Without divisions, which would take longer than a short row. */
static void place_advance(const struct rows *r, struct place *where, int64_t count)
{
	where->past += count;
	if (where->past < r->width)
		return;
	where->past = 0;
	for (int d = r->outer - 1; d >= 0; d--) {
		bool wraps = ++where->index[d] == r->to.dim[d];
		for (int j = 0; j < r->sources; j++)
			where->from[j] += r->step[j][d] * (wraps ? 1 - r->to.dim[d] : 1);
		if (!wraps)
			break;
		where->index[d] = 0;
	}
}

void plain_lines_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	struct rows r = rows_of(p);
	int64_t total = plain_volume(&r.to, 0, r.to.rank), at = plain_begin(total, i, count);
	int64_t end = plain_begin(total, i + 1, count);
	struct place where = place_of(&r, at);
	struct plain_run run = { .x_step = r.within[0], .y_step = r.within[1], .scale_step = r.by_channel };
	for (; at < end; at += run.count) {
		int64_t left = r.width - where.past;
		run.count = left < end - at ? left : end - at;
		run.count = run.count < RUN ? run.count : RUN;
		if (p->kernel == KERNEL_BATCHNORM) {
			int64_t channel = r.by_channel ? where.past : where.index[1];
			run.scale = a->scale + channel;
			run.shift = a->shift + channel;
		}
		run.x = (const float *)a->source[0] + where.from[0] + where.past * run.x_step;
		if (r.sources > 1)
			run.y = (const float *)a->source[1] + where.from[1] + where.past * run.y_step;
		run.to = (float *)a->destination + at;
		a->lines->compute(p, &run);
		place_advance(&r, &where, run.count);
	}
}

void plain_in_place_share(void *plain, int i, int count)
{
	const struct plain *a = plain;
	void (*share)(const struct plain *, int, int) =
		a->problem->kernel == KERNEL_SOFTMAX ? plain_softmax_share : plain_lines_share;
#if defined(__SSE__)
	unsigned before = _mm_getcsr();
	_mm_setcsr(before | 0x8040); /* denormal results and operands are 0 */
	share(a, i, count);
	_mm_setcsr(before);
#else
	share(a, i, count);
#endif
}
