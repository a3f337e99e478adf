/* How far an algorithm's outputs may be from the reference values before its time is rejected. */
#ifndef RUNNER_TOLERANCE_H
#define RUNNER_TOLERANCE_H

#include "base/error.h"
#include "problem/result.h"

/* An algorithm that is inexact by design, whatever the types of its operands. */
struct approximation {
	const char *api, *name; /* `name`: part of the implementation's name */
	const char *reason;
	double tolerance;       /* as of tolerance_of; 0: none can be justified, so it is accepted only if it is exact */
};
/* The row of an algorithm; NULL: not approximate. */
const struct approximation *approximation_of(const char *api, const char *name);

/* The largest error, relative to the sum of the absolute terms, that this algorithm of this problem may make: that of the
 * coarsest type that takes part, of its math mode ("strict", "tf32" ...) or of its approximation, and the rounding of the
 * destination's type. 0: exact. */
double tolerance_of(const struct problem *p, const struct algorithm *a);

/* Rewords *err (why the last of them was rejected) after all `count` algorithms of a problem that ran were rejected by the
 * check: then the reference, or how the problem is passed to the library, is more likely wrong than the library. */
void tolerance_all_rejected(int count, struct error *err);

#endif
