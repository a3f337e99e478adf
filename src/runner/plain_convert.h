/* Runs of elements of any type that plain C computes with, to f32 and back: loops that compilers vectorize. */
#ifndef RUNNER_PLAIN_CONVERT_H
#define RUNNER_PLAIN_CONVERT_H

#include <stdint.h>

#include "problem/dtype.h"

/* f32 f16 bf16, 8- and 16-bit whole numbers, s32, the 8-bit floats; s4 and u4, two a byte, the first in the low half. */
bool plain_converts(enum dtype t);
/* n elements from element `at` on. */
void plain_load(float *to, const void *from, enum dtype t, int64_t at, int64_t n);
/* Whole numbers are rounded, halves to even, and saturate, floats of 8 bits too. Of packed types `at` is even, and n is
 * unless the tensor ends there. s32 holds what f32 does. */
void plain_store(void *to, enum dtype t, int64_t at, const float *from, int64_t n);

#endif
