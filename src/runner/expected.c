#include "config.h"

#include "runner/expected.h"

#include <math.h>

#include "runner/whole.h"

#define SCALE_LEAST 1e-6

int expected_make(struct expected *e, const struct problem *p, struct check_inputs *in, int64_t total, int64_t most,
	struct error *err)
{
	most = most < EXPECTED_MOST ? most : EXPECTED_MOST;
	e->type = p->operand[problem_operand_count(p) - 1].dtype;
	e->count = total < most ? total : most;
	for (int64_t i = 0; i < e->count; i++) {
		e->place[i] = check_sample(p, total, e->count, i);
		if (!check_output(p, in, e->place[i], &e->value[i], &e->scale[i]))
			return error_set(err, "no reference for %s", kernel_name(p->kernel));
	}
	return 0;
}

double expected_off(const struct expected *e, double (*got)(void *state, int64_t place), void *state)
{
	double worst = 0;
	for (int64_t i = 0; i < e->count; i++) {
		double off = whole_off(e->type, got(state, e->place[i]), e->value[i]) / fmax(e->scale[i], SCALE_LEAST);
		worst = off <= worst ? worst : isnan(off) ? INFINITY : off;
	}
	return worst;
}
