/* Problems of integers: the values that their scales and zero points hold, which scale belongs to which element, and
 * how far off a rounded result is.
 *
 * Every factor is a power of two and every value small, so that sums and products are exact in f32 and an honest result is
 * exact but for its last rounding: s8 weights are even and within +-6, because libraries without 8-bit dot products halve
 * them or add up pairs in 16 bits. */
#ifndef RUNNER_INTEGERS_H
#define RUNNER_INTEGERS_H

#include "problem/problem.h"

/* For FILL_FACTOR: the exponent from which on factors keep most results within the destination's range. `scale` epilogues:
 * with the operands' small numbers; quantize: with values in [-1, 1). */
int64_t integer_factor_limit(const struct problem *p);
/* For FILL_SMALL: what a recurrent layer's weights are divided by, so that its states neither grow nor jump. */
int64_t integer_small_limit(const struct problem *p);
/* For FILL_POSITIVE. True if the mode needs positive inputs (a division: a positive divisor): of negative ones a root or
 * logarithm is NaN, which nothing can be compared with. And true if any epilogue of the problem needs them: all its
 * operands should then be positive. */
bool fill_mode_positive(enum mode m);
bool fill_chain_positive(const struct problem *p);
/* The zero point of what is quantized to a type: the middle of an unsigned one, else 0. */
double integer_zero_point(enum dtype t);
/* Which scale belongs to element `index` (row-major) of a quantize or dequantize: an index into problem_scale_shape. */
int64_t integer_scale_index(const struct problem *p, int64_t index);
/* How far `got`, of an integer type, is from what `value` rounds to. Halfway between two numbers either will do, and anything
 * beyond the range is the range's end. 0: right. Any other type: the difference, 0 where both are infinite in that type. */
double integer_error(enum dtype t, double got, double value);

#endif
