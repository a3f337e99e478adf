/* References of quantizing and dequantizing. */
#include "config.h"

#include "runner/verify/check_private.h"
#include "runner/verify/integers.h"

/* Range of the source, extended to include 0. */
static void range_find(const struct problem *p, struct check_inputs *in, double *low, double *high)
{
	struct check_memo *m = check_memo_of(in);
	int64_t n = check_volume(&p->shape[0], 0, p->shape[0].rank);
	for (int64_t i = 0; i < n && !m->has_range; i++) {
		double x = check_source(in, i);
		m->low = fmin(m->low, x);
		m->high = fmax(m->high, x);
	}
	m->has_range = true;
	*low = m->low;
	*high = m->high;
}

/* ONNX DynamicQuantizeLinear: scale = range / 255, the zero point is rounded. */
static struct check_sum quantize_dynamic(const struct problem *p, struct check_inputs *in, int64_t index)
{
	double low, high, least = p->operand[1].dtype == DTYPE_S8 ? -128 : 0;
	range_find(p, in, &low, &high);
	double scale = high > low ? (high - low) / 255 : 1, zero = nearbyint(least - low / scale);
	double x = check_source(in, index) / scale;
	return (struct check_sum){ x + zero, fabs(x) + fabs(zero) + 1 };
}

/* Absolute error of an 8-bit float near 0, where its relative precision is lower. */
static double small_float_scale(enum dtype t)
{
	return dtype_is_float(t) && dtype_bits(t) <= 8 ? 0x1p-5 : 0;
}

static struct check_sum check_quantize(const struct problem *p, struct check_inputs *in, int64_t index)
{
	if (p->mode == MODE_QUANTIZE_DYNAMIC)
		return quantize_dynamic(p, in, index);
	double scale = check_at(in, CHECK_SCALE, 0, integer_scale_index(p, index)),
	       zero = integer_zero_point(p->operand[1].dtype);
	double x = check_source(in, index) / scale;
	return (struct check_sum){ x + zero, fabs(x) + zero + small_float_scale(p->operand[1].dtype) };
}

static struct check_sum check_dequantize(const struct problem *p, struct check_inputs *in, int64_t index)
{
	double scale = check_at(in, CHECK_SCALE, 0, integer_scale_index(p, index));
	struct check_sum s =
		check_moved((check_source(in, index) - integer_zero_point(p->operand[0].dtype)) * scale);
	s.scale += small_float_scale(p->operand[1].dtype);
	return s;
}

static const struct check_row rows[] = {
	{ .kernel = KERNEL_QUANTIZE, .reference = check_quantize },
	{ .kernel = KERNEL_DEQUANTIZE, .reference = check_dequantize },
};
const struct check_rows check_integers_rows = CHECK_ROWS(rows);
