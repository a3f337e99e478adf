/* Contents of operands: a pure function of seed, index and type, so that a GPU fills gigabytes itself and a
 * check recomputes any single value. The functions are in fill_impl.h, which CUDA sources include too: CPU
 * and GPU compute the same bits. */
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
	FILL_INDEX,     /* integers, uniform in [0, limit) */
	FILL_ONE,
	FILL_FACTOR,    /* 2^-limit, half of it or a quarter of it */
	FILL_SMALL      /* uniform in [-1, 1) / limit */
};

/* The value at a logical (row-major) index, rounded to the type. Integer types: small integers, FILL_SIGNED
 * -4..3 (unsigned 0..7, bool 0 or 1), FILL_POSITIVE 1..8 (bool 1). `limit` is used only by FILL_INDEX,
 * FILL_FACTOR and FILL_SMALL. */
double fill_value(uint64_t seed, int64_t index, enum fill_kind kind, int64_t limit, enum dtype type);

/* Converts a value to the bits of a type (f32 tf32 f16 bf16 f8e4m3 f8e5m2 f64 s8 u8 ... u64 bool), and back.
 * `to` and `from` point to dtype_bits/8 bytes of any alignment. Other types, such as those of less than 8
 * bits, are not handled: nothing is written, NaN is returned. Rounds to nearest, ties to even. On overflow,
 * 8-bit floats and integers saturate, as the hardware's conversions do; other types become infinite. NaN
 * stays NaN; in integers it is 0. A bool is 1 for every value other than 0. */
void fill_encode(double value, enum dtype type, void *to);
double fill_decode(const void *from, enum dtype type);
/* True if fill_encode handles the type. Problems with operands of other types cannot be measured. */
bool fill_handles(enum dtype type);

#ifdef __cplusplus
}
#endif
#endif
