/* Compares outputs with references; the largest relative error decides. */
#include "config.h"

#include "runner/verify/reference.h"

#include <float.h>
#include <math.h>

#include "runner/verify/integers.h"

#define SCALE_LEAST 1e-6
#define MIXED_SLACK 0x1p-8 /* slack for rounding between types */

int reference_make(struct reference *e, const struct problem *p, struct check_inputs *in, int64_t total,
	int64_t most, struct error *err)
{
	most = most < REFERENCE_MOST ? most : REFERENCE_MOST;
	e->problem = p;
	e->in = in;
	e->type = p->operand[problem_operand_count(p) - 1].dtype;
	e->count = total < most ? total : most;
	for (int64_t i = 0; i < e->count; i++) {
		e->place[i] = check_sample(p, total, e->count, i);
		if (!check_output(p, in, e->place[i], &e->value[i], &e->scale[i]))
			return error_set(err, "no reference for %s", kernel_name(p->kernel));
	}
	return 0;
}

/* Relative error of one output. A value beyond a float's range may be its largest number, e.g. the maximum
 * of an empty window. */
static double off_of(const struct reference *e, int64_t i, double got)
{
	const struct problem *p = e->problem;
	double slack = p->operand[0].dtype == e->type ? 0 : MIXED_SLACK;
	if (p->kernel == KERNEL_RESAMPLE && p->mode == MODE_NEAREST &&
		check_is_nearest(p, e->in, e->place[i], got, slack))
		return 0;
	if (isinf(e->value[i]) && fabs(got) >= FLT_MAX && signbit(got) == signbit(e->value[i]))
		return 0;
	return integer_error(e->type, got, e->value[i]) / fmax(e->scale[i], SCALE_LEAST);
}

double reference_off(const struct reference *e, double (*got)(void *state, int64_t place), void *state)
{
	double worst = 0;
	for (int64_t i = 0; i < e->count; i++) {
		double off = off_of(e, i, got(state, e->place[i]));
		worst = off <= worst ? worst : isnan(off) ? INFINITY : off;
	}
	return worst;
}
