/* Ranges of values through a chain of operations, by interval arithmetic and by sampling. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/verify/domain.h"

#include <math.h>

#include "runner/verify/check_private.h"
#include "runner/verify/integers.h"

#define SAMPLES 64 /* arguments at which a function's range is sampled */

bool fill_mode_positive(enum mode m)
{
	return m == MODE_LOG || m == MODE_SQRT || m == MODE_POW || m == MODE_DIV || m == MODE_REDUCE_MUL;
}

bool fill_chain_positive(const struct problem *p)
{
	for (int i = 0; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind == EPILOGUE_ELTWISE && fill_mode_positive(p->epilogue[i].mode))
			return true;
	return false;
}

/* Interval of values. NaN: some are not finite. */
struct span {
	double low, high;
};

static struct span span_with(struct span s, double value)
{
	if (!isfinite(value) || isnan(s.low))
		return (struct span){ NAN, NAN };
	return (struct span){ fmin(s.low, value), fmax(s.high, value) };
}

static const struct span nothing = { INFINITY, -INFINITY };

/* Range of a function over an interval, sampled at SAMPLES + 1 equidistant arguments: an estimate, not a
 * bound, because a pole or peak between two samples is missed. NaN if a result is not finite. */
static struct span span_eltwise(enum mode m, double alpha, double beta, struct span x)
{
	struct span s = nothing;
	for (int i = 0; i <= SAMPLES; i++)
		s = span_with(s, check_eltwise(m, alpha, beta, x.low + (x.high - x.low) * i / SAMPLES));
	return s;
}

/* Interval arithmetic (Moore, Interval Analysis, 1966): the modes are monotone in each argument, so the
 * extremes are at the four corners. A divisor interval that contains 0 gives NaN. */
static struct span span_binary(enum mode m, struct span x, struct span y)
{
	struct span s = nothing;
	s = span_with(span_with(s, check_binary(m, x.low, y.low)), check_binary(m, x.low, y.high));
	s = span_with(span_with(s, check_binary(m, x.high, y.low)), check_binary(m, x.high, y.high));
	return m == MODE_DIV && y.low <= 0 && y.high >= 0 ? (struct span){ NAN, NAN } : s;
}

/* A sum of 1 to n values. */
static struct span span_sum(struct span x, double n)
{
	return (struct span){ fmin(x.low, n * x.low), fmax(x.high, n * x.high) };
}

static struct span span_of(struct fill_range fill)
{
	switch (fill.kind) {
	case FILL_POSITIVE: return (struct span){ 0.5, 1.5 };
	case FILL_FACTOR: return (struct span){ ldexp(1, -(int)fill.limit - 2), ldexp(1, -(int)fill.limit) };
	default: return (struct span){ -1, 1 };
	}
}

/* Results before the epilogues. Other kernels return values of about their sources' size. */
static struct span span_base(const struct problem *p, struct span source, struct span second)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	if (p->kernel == KERNEL_ELTWISE)
		return span_eltwise(p->mode, (double)p->alpha, (double)p->beta, source);
	if (p->kernel == KERNEL_BINARY)
		return span_binary(p->mode, source, second);
	if (row->sum_terms)
		return span_sum(span_binary(MODE_MUL, source, source), row->sum_terms(p));
	if (row->mode && (p->mode == MODE_REDUCE_SUM || p->mode == MODE_REDUCE_L2))
		return span_sum(source, (double)check_volume(&p->shape[0], 0, p->shape[0].rank));
	return source;
}

/* True if every step of the problem has finite results: intervals go forward through the kernel and its
 * epilogues, as in abstract interpretation. Constant time per step; sums take the worst case of all
 * terms. */
static bool is_inside(const struct problem *p, const struct fill_range fill[2])
{
	struct span second = span_of(fill[1]), s = span_base(p, span_of(fill[0]), second);
	for (int i = 0; i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		switch (e->kind) {
		case EPILOGUE_ELTWISE: s = span_eltwise(e->mode, (double)e->alpha, (double)e->beta, s); break;
		case EPILOGUE_BINARY: s = span_binary(e->mode, s, second); break;
		case EPILOGUE_BIAS: s = span_binary(MODE_ADD, s, second); break;
		default: break; /* scales are positive and at most 1 */
		}
	}
	return !isnan(s.low);
}

/* Tries pairs of ranges, the usual ones first, and takes the first for which all steps stay finite: at
 * most 25 evaluations. Powers of two serve as the ranges beside FILL_SIGNED and FILL_POSITIVE: every type
 * holds them exactly. False if the usual ranges serve or no pair does. */
bool fill_domain(const struct problem *p, struct fill_range choice[2])
{
	static const struct fill_range ranges[] = { { FILL_POSITIVE, 0 }, { FILL_SIGNED, 0 },
		{ FILL_FACTOR, -2 } /* 1 to 4 */, { FILL_FACTOR, -4 } /* 4 to 16 */,
		{ FILL_FACTOR, 1 } /* 1/8 to 1/2 */ };
	int count = sizeof(ranges) / sizeof(ranges[0]);
	if (!fill_chain_positive(p) || !dtype_is_float(p->operand[0].dtype))
		return false;
	for (int i = 0; i < count * count; i++) {
		choice[0] = ranges[i / count];
		choice[1] = ranges[i % count];
		if (is_inside(p, choice))
			return i > 0;
	}
	return false;
}
