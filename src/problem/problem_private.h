/* Shared by the files of the problem room. */
#ifndef PROBLEM_PROBLEM_PRIVATE_H
#define PROBLEM_PROBLEM_PRIVATE_H

#include "problem/problem.h"

#define PROBLEM_NUMBER_MAX ((int64_t)1 << 48)

/* What follows the operands in a kernel's text. */
bool kernel_has_mode(enum kernel k);
bool kernel_has_accumulator(enum kernel k);
/* quantize and dequantize, whose further fields hang on the mode: has it an axis, has it blocks along the axis? */
bool kernel_is_quantizer(enum kernel k);
bool mode_is_by_axis(enum mode m);
bool mode_is_by_block(enum mode m);
/* Is every field in range, and do they fit together? */
int problem_check(const struct problem *p, struct error *err);

#endif
