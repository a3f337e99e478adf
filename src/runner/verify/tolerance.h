/* Tolerances: the largest error of an algorithm's outputs at which its time is accepted. */
#ifndef RUNNER_TOLERANCE_H
#define RUNNER_TOLERANCE_H

#include "base/error.h"
#include "problem/result.h"

/* An algorithm that is inexact by design, whatever its data types. */
struct approximation {
	const char *api, *name; /* `name`: part of the implementation's name */
	const char *reason;
	double tolerance;       /* as tolerance_of; 0: only exact results are accepted */
};
/* Returns the row of an algorithm, or NULL: not approximate. */
const struct approximation *approximation_of(const char *api, const char *name);

/* Returns the largest error, relative to the sum of the absolute terms, that the algorithm may make: that
 * of the least precise type involved, of its math mode ("strict", "tf32" ...) or of its approximation,
 * plus rounding to the destination's type. 0: exact. */
double tolerance_of(const struct problem *p, const struct algorithm *a);

/* Returns the largest such error if the device's instruction for tanh is used, which is approximate (PTX ISA,
 * tanh.approx.f32: a relative error of 2^-11); sigmoids and the like are computed with it. 0: the problem has
 * no such function. */
double tolerance_hardware(const struct problem *p);

/* Returns the factor on the tolerance of an algorithm whose notes name "winograd" or "fft"; 1 for others. */
double tolerance_gain(const struct problem *p, const struct algorithm *a);

/* Called when the check rejected all `count` algorithms that ran, apart from approximate ones: rewrites *err,
 * the reason for the last one. In this case the reference, or how the problem is passed to the library, is
 * more likely wrong than the library. */
void tolerance_all_rejected(int count, struct error *err);

#endif
