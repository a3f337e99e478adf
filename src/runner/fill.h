/* The values that operands hold: a pure function of seed, place and type, so that a device fills gigabytes by itself and
 * the check computes any single value again. This header is C that nvcc compiles too. */
#ifndef RUNNER_FILL_H
#define RUNNER_FILL_H

#include <stdint.h>

#include "problem/dtype.h"

#ifdef __CUDACC__
#define FILL_HD __host__ __device__
#else
#define FILL_HD
#endif

enum fill_kind {
	FILL_SIGNED,    /* uniform in [-1, 1) */
	FILL_POSITIVE,  /* uniform in [0.5, 1.5): divisors, logarithms, roots, variances */
	FILL_INDEX,     /* whole, uniform in [0, limit) */
	FILL_ONE
};

/* The value at a logical (row-major) index, already rounded to what the type can hold. Whole types: small whole numbers
 * (-4..3, unsigned 0..7, bool 0 or 1) for FILL_SIGNED and FILL_POSITIVE. */
FILL_HD double fill_value(uint64_t seed, int64_t index, enum fill_kind kind, int64_t limit, enum dtype type);

/* A value in the bits of a type (f32 f16 bf16 f8e4m3 f8e5m2 s8 ... s64 bool), round to nearest even, saturating; and
 * back. `to` and `from` point at dtype_bits/8 bytes; types of less than 8 bits are not handled. */
FILL_HD void fill_encode(double value, enum dtype type, void *to);
FILL_HD double fill_decode(const void *from, enum dtype type);

#endif
