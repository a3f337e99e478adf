/* Scales that are powers of two and values so small that sums are exact. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/verify/integers.h"

#include <math.h>

#include "runner/verify/fill.h"

static int64_t volume(const int64_t *v, int from, int to)
{
	int64_t n = 1;
	for (int i = from; i < to; i++)
		n *= v[i];
	return n;
}

static bool is_unsigned(enum dtype t)
{
	return t == DTYPE_U8 || t == DTYPE_U16 || t == DTYPE_U32 || t == DTYPE_U64 || t == DTYPE_U4 ||
		t == DTYPE_U2 || t == DTYPE_BOOL;
}

/* A sum of n products of small integers is about 8 sqrt(n); it is scaled to 32, a quarter of s8's range.
 * If none is negative it is about 12 n, scaled to 96. Quantized values use the range of an integer type,
 * or up to 8 of a small float. */
int64_t integer_factor_limit(const struct problem *p)
{
	enum dtype to = p->operand[1].dtype;
	const struct kernel_row *row = kernel_row(p->kernel);
	double exponent;
	if (row->quantizer) {
		exponent = p->kernel == KERNEL_DEQUANTIZE ? 4
			: dtype_is_float(to)		  ? 2
							  : fmin(dtype_bits(to), 16) - 2;
	} else {
		double n = row->sum_terms(p);
		bool positive = is_unsigned(p->operand[0].dtype) && is_unsigned(to);
		exponent = round(positive ? log2(12 * n / 96) : log2(8 * sqrt(n) / 32));
	}
	return exponent < 0 ? 0 : (int64_t)exponent;
}

int64_t integer_small_limit(const struct problem *p)
{
	int64_t most = p->input_size > p->hidden_size ? p->input_size : p->hidden_size;
	return (int64_t)ceil(sqrt((double)most));
}

double integer_zero_point(enum dtype t)
{
	return is_unsigned(t) && dtype_bits(t) <= 16 ? (double)(1 << (dtype_bits(t) - 1)) : 0;
}

int64_t integer_scale_index(const struct problem *p, int64_t index)
{
	struct problem_shape scales = problem_scale_shape(p);
	const struct problem_shape *s = &p->shape[0];
	if (scales.rank == 0)
		return 0;
	int64_t inner = volume(s->dim, p->axis + 1, s->rank), at = index / inner % s->dim[p->axis];
	bool by_block = p->mode == MODE_QUANTIZE_BLOCK || p->mode == MODE_DEQUANTIZE_BLOCK;
	if (!by_block)
		return at;
	int64_t outer = index / inner / s->dim[p->axis];
	return (outer * scales.dim[p->axis] + at / p->size) * inner + index % inner;
}

/* True if `value` overflows a floating-point type and `got` is the result of that: infinity, or the
 * largest number of an 8-bit type. */
static bool is_overflow(enum dtype t, double got, double value)
{
	double held = 0;
	if (!dtype_is_float(t) || isnan(got) || (!isinf(got) && dtype_bits(t) > 8))
		return false;
	fill_encode(value, t, &held);
	double rounded = fill_decode(&held, t);
	return rounded == got && fabs(rounded) != fabs(value) && (isinf(got) || fabs(rounded) < fabs(value));
}

double integer_error(enum dtype t, double got, double value)
{
	if (is_overflow(t, got, value))
		return 0;
	if (dtype_is_float(t) || t == DTYPE_BOOL || isnan(got))
		return fabs(got - value);
	if (isnan(value)) /* root or logarithm of a negative integer: 0, as fill_encode */
		return fabs(got);
	int bits = dtype_bits(t);
	double low = is_unsigned(t) ? 0 : -ldexp(1, bits - 1), high = ldexp(1, bits - !is_unsigned(t)) - 1;
	return fmax(fabs(got - fmin(fmax(value, low), high)) - 0.5, 0);
}
