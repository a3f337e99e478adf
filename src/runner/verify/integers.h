/* Problems of integers: the values of their scales and zero points, which scale belongs to which element, and
 * the error of a rounded result.
 *
 * Every factor is a power of two and every value is small. Sums and products are then exact in f32, and a
 * correct result is exact except for its last rounding. s8 weights are even and within +-6, because libraries
 * without 8-bit dot products halve them or add pairs in 16 bits. */
#ifndef RUNNER_INTEGERS_H
#define RUNNER_INTEGERS_H

#include "problem/problem.h"

/* For FILL_FACTOR: the smallest exponent whose factors keep most results within the destination's range:
 * for `scale` epilogues with the operands' small integers, for quantize with values in [-1, 1). */
int64_t integer_factor_limit(const struct problem *p);
/* For FILL_SMALL: divisor of a recurrent layer's weights that keeps its states bounded. */
int64_t integer_small_limit(const struct problem *p);
/* Zero point of a quantized type: the middle of an unsigned one, else 0. */
double integer_zero_point(enum dtype t);
/* Index into problem_scale_shape of the scale of element `index` (row-major) of a quantize or dequantize. */
int64_t integer_scale_index(const struct problem *p, int64_t index);
/* Integer types: distance of `got` from the rounded `value`, 0 if right. At a tie both integers are right;
 * a value out of range saturates; NaN becomes 0. Other types: the difference; 0 if `value` overflows the
 * type and `got` is the result (infinity; for 8-bit floats the largest number). */
double integer_error(enum dtype t, double got, double value);

#endif
