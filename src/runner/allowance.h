/* How far from plain C an algorithm's outputs may be before nobody should trust its time. */
#ifndef RUNNER_ALLOWANCE_H
#define RUNNER_ALLOWANCE_H

#include "problem/result.h"

/* The largest error, relative to the sum of the absolute terms, that an algorithm of this problem in this math mode
 * ("strict", "tf32" ...) may make: that of the coarsest type that takes part or of the math mode, and the rounding of the
 * destination's type. 0: exact. */
double allowance_of(const struct problem *p, const char *math);

#endif
