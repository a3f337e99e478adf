/* Reference values of some outputs of a problem, computed once and compared with several executions. */
#ifndef RUNNER_REFERENCE_H
#define RUNNER_REFERENCE_H

#include "base/error.h"
#include "runner/verify/check.h"

#define REFERENCE_MOST 500

struct reference {
	const struct problem *problem;
	struct check_inputs *in;
	enum dtype type;      /* of the output */
	int64_t count;
	int64_t place[REFERENCE_MOST]; /* row-major */
	double value[REFERENCE_MOST], scale[REFERENCE_MOST];
};

/* Computes at most `most` of `total` outputs; p and in are borrowed. -1: the problem has no reference. */
int reference_make(struct reference *e, const struct problem *p, struct check_inputs *in, int64_t total,
	int64_t most, struct error *err);
/* Returns the largest error of the outputs, relative to the sum of the absolute values of their terms;
 * infinite if one is NaN. */
double reference_off(const struct reference *e, double (*got)(void *state, int64_t place), void *state);

#endif
