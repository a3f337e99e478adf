/* Writes problems as command lines of benchdnn, oneDNN's benchmark. */
#ifndef COMMANDS_BENCHDNN_H
#define COMMANDS_BENCHDNN_H

#include "base/str.h"
#include "problem/problem.h"

/* Appends "--conv --mode=P --dir=FWD_I --dt=f32:f32:f32 ..." as benchdnn of oneDNN 3 reads it
 * (tests/benchdnn/doc of oneDNN). Returns NULL; or, with out unchanged, why benchdnn cannot run the problem
 * (static storage). */
const char *benchdnn_write(const struct problem *p, struct str *out);

#endif
