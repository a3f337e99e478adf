/* Shared by the files of src/problem. */
#ifndef PROBLEM_PROBLEM_PRIVATE_H
#define PROBLEM_PROBLEM_PRIVATE_H

#include "problem/problem.h"

#define PROBLEM_NUMBER_MAX ((int64_t)1 << 48)

/* Segments after the operands in a kernel's text. */
bool kernel_has_mode(enum kernel k);
bool kernel_has_accumulator(enum kernel k);
/* quantize and dequantize, whose fields depend on the mode: true if it has an axis; true if it has blocks
 * along the axis. */
bool kernel_is_quantizer(enum kernel k);
bool mode_is_by_axis(enum mode m);
bool mode_is_by_block(enum mode m);
/* Returns -1 with err unless every field is in range and the fields are consistent. */
int problem_check(const struct problem *p, struct error *err);

#endif
