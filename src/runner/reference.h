/* Some outputs of a problem as they should be, computed once, to hold several executions against. */
#ifndef RUNNER_REFERENCE_H
#define RUNNER_REFERENCE_H

#include "base/error.h"
#include "runner/check.h"

#define REFERENCE_MOST 500

struct reference {
	const struct problem *problem;
	struct check_inputs *in;
	enum dtype type;      /* of the output */
	int64_t count;
	int64_t place[REFERENCE_MOST]; /* row-major */
	double value[REFERENCE_MOST], scale[REFERENCE_MOST];
};

/* At most so many of `total` outputs; p and in are borrowed. -1: there is no reference for the problem. */
int reference_make(struct reference *e, const struct problem *p, struct check_inputs *in, int64_t total, int64_t most,
	struct error *err);
/* The worst error of what was computed, relative to the sums of the terms; infinite where it is no number. */
double reference_off(const struct reference *e, double (*got)(void *state, int64_t place), void *state);

#endif
