/* Shared by the files of the problem room. */
#ifndef PROBLEM_PROBLEM_PRIVATE_H
#define PROBLEM_PROBLEM_PRIVATE_H

#include "problem/problem.h"

#define PROBLEM_NUMBER_MAX ((int64_t)1 << 48)

/* What follows the operands in a kernel's text. */
bool kernel_has_mode(enum kernel k);
bool kernel_has_accumulator(enum kernel k);
/* Gates of a recurrent mode: lstm 4, gru 3. */
int rnn_gates(enum mode m);
/* Is every field in range, and do they fit together? */
int problem_check(const struct problem *p, struct error *err);

#endif
