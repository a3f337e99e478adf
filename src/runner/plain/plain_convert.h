/* Converts runs of elements between f32 and the other types. The loops are vectorized by the compiler. */
#ifndef RUNNER_PLAIN_CONVERT_H
#define RUNNER_PLAIN_CONVERT_H

#include <stdint.h>

#include "problem/dtype.h"

/* True for f32 f16 bf16, 8- and 16-bit integers, s32, 8-bit floats; s4 and u4, two per byte, the first in
 * the low half. */
bool plain_converts(enum dtype t);
/* Converts n elements from index `at` to f32. */
void plain_load(float *to, const void *from, enum dtype t, int64_t at, int64_t n);
/* The reverse. Integers are rounded, ties to even, and saturate, as do 8-bit floats. For packed types `at`
 * is even, and n is even except at the tensor's end. s32 has only f32's precision. */
void plain_store(void *to, enum dtype t, int64_t at, const float *from, int64_t n);

#endif
