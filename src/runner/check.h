/* What a problem's outputs should be, computed one at a time in plain C and double: to check what libraries compute, and
 * that problems are put to them rightly. Slow, and meant to be. */
#ifndef RUNNER_CHECK_H
#define RUNNER_CHECK_H

#include "problem/problem.h"

/* The values that went in, dense and row-major in the order of the logical shapes; NULL where the kernel has none. */
struct check_inputs {
	const float *source[PROBLEM_SHAPES];        /* binary: a, b; concat: all */
	const float *weights;
	const float *epilogue[PROBLEM_EPILOGUES];
	const float *mean, *variance, *scale, *shift;
	double epsilon;
};

/* Output number `index` (row-major in the destination's shape) and the sum of the absolute values of its terms, to which
 * an error is compared. false: this kernel or mode has no reference. */
bool check_output(const struct problem *p, const struct check_inputs *in, int64_t index, double *value, double *scale);

#endif
