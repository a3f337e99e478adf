/* The values that operands hold: a pure function of seed, place and type, so that a device fills gigabytes by itself and
 * the check computes any single value again. The bodies are in fill_impl.h, which CUDA sources include: one text for both
 * machines, and the same bits on both. */
#ifndef RUNNER_FILL_H
#define RUNNER_FILL_H

#include <stdint.h>

#include "problem/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fill_kind {
	FILL_SIGNED,    /* uniform in [-1, 1) before rounding */
	FILL_POSITIVE,  /* uniform in [0.5, 1.5): divisors, logarithms, roots, variances */
	FILL_INDEX,     /* whole, uniform in [0, limit) */
	FILL_ONE,
	FILL_FACTOR,    /* a power of two: 2^-limit, half or a quarter of it */
	FILL_SMALL      /* uniform in [-1, 1) / limit */
};

/* The value at a logical (row-major) index, already rounded to what the type can hold. Whole types: small whole numbers,
 * FILL_SIGNED -4..3 (unsigned 0..7, bool 0 or 1), FILL_POSITIVE 1..8 (bool 1). `limit` counts for FILL_INDEX, FILL_FACTOR and FILL_SMALL
 * alone. */
double fill_value(uint64_t seed, int64_t index, enum fill_kind kind, int64_t limit, enum dtype type);

/* A value in the bits of a type (f32 tf32 f16 bf16 f8e4m3 f8e5m2 f64 s8 u8 ... u64 bool), and back. `to` and `from` point
 * at dtype_bits/8 bytes of any alignment; types of less than 8 bits are not handled: nothing is written, NaN is read.
 * Rounds to nearest, ties to even. Above the largest: the 8-bit floats and the whole types keep the largest, as the
 * hardware's saturating conversions do; the others become infinite. NaN stays NaN, and is 0 in whole types. A bool is 1
 * for whatever is not 0. */
void fill_encode(double value, enum dtype type, void *to);
double fill_decode(const void *from, enum dtype type);
/* Is it one of these types? Nothing can be measured on others: their inputs would hold nothing. */
bool fill_handles(enum dtype type);

#ifdef __cplusplus
}
#endif
#endif
