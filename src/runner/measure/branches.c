/* For each branch the fastest algorithm of each of its problems, each measured alone. */
#include "config.h"

#include "runner/measure/branches.h"

#include <math.h>
#include <string.h>

#include "runner/measure/platform.h"
#include "runner/verify/tolerance.h"

#define TRIED_MOST 8    /* algorithms of a problem of which the fastest is chosen */
#define TRIED_TIMES 3   /* executions of each, after a first one */

/* ---- which algorithms there are */

static bool is_strict(const struct algorithm *a)
{
	return !a->math || !*a->math || strcmp(a->math, "strict") == 0;
}

/* Returns 1 if an algorithm does not use matrix units, 0 if all may, -1 with err if the problem has no
 * algorithm. */
static int part_look(struct text text, bool *matrix, struct error *err)
{
	struct problem p;
	struct offers o;
	bool any = false;
	if (problem_parse(text, &p, err))
		return -1;
	if (offers_open(&o, platform.backends, &p, false, err))
		return error_context(err, "%s", kernel_name(p.kernel));
	for (int i = 0; i < o.count; i++) {
		bool plain = o.offer[i].algorithm.matrix == MATRIX_NO;
		*matrix |= !plain && is_strict(&o.offer[i].algorithm);
		any |= plain && is_strict(&o.offer[i].algorithm);
	}
	offers_close(&o);
	return any;
}

int branches_look(const struct problem *p, bool *matrix, bool *plain, struct error *err)
{
	struct beside b;
	*matrix = false;
	*plain = true;
	if (beside_split(text_of(p->branches), &b, err))
		return -1;
	for (int i = 0; i < b.part_count; i++) {
		int found = part_look(b.part[i], matrix, err);
		if (found < 0)
			return -1;
		*plain &= found > 0;
	}
	return *matrix || *plain ? 0 : error_set(err, "no problem has an algorithm of strict math");
}

int branches_open(struct branches *b, const struct problem *p, bool matrix, struct error *err)
{
	b->matrix = matrix;
	if (beside_split(text_of(p->branches), &b->beside, err))
		return -1;
	for (int i = 0; i < b->beside.part_count; i++)
		if (problem_parse(b->beside.part[i], &b->step[i].problem, err))
			return -1;
	return 0;
}

static void step_close(struct branch_step *s)
{
	if (s->work)
		s->backend->release(s->work);
	if (s->backend)
		offers_close(&s->offers);
	s->work = NULL;
	s->backend = NULL;
}

void branches_close(struct branches *b)
{
	for (int i = 0; i < b->beside.part_count; i++)
		step_close(&b->step[i]);
}

/* ---- the algorithm of each problem */

/* Time of one execution; NaN: it cannot run. */
static double try_one(const struct offer *f, const struct backend_limits *limits, struct error *err)
{
	const struct backend *b = f->list->backend;
	enum status status;
	double best = NAN, ns;
	void *work = b->prepare(f->list, f->index, limits, &status, err);
	for (int i = 0; work && i <= TRIED_TIMES; i++) {
		if (b->run(work, CACHE_WARM, 1, &ns, err))
			break;
		best = i && !(ns >= best) ? ns : best; /* the first one warms up */
	}
	if (work)
		b->release(work);
	return best;
}

int branch_choose(struct branch_step *s, int threads, bool matrix, double memory_bytes, struct error *err)
{
	struct backend_limits limits = { .memory_bytes = memory_bytes, .sets = 1, .cold_sets = 1 };
	int picked[TRIED_MOST], best = -1;
	if (s->backend && s->threads == threads)
		return 0;
	step_close(s);
	if (offers_open(&s->offers, platform.backends, &s->problem, false, err))
		return -1;
	int count = offers_pick(&s->offers, picked, TRIED_MOST);
	s->ns = NAN;
	for (int i = 0; i < count; i++) {
		const struct offer *f = &s->offers.offer[picked[i]];
		bool allowed = is_strict(&f->algorithm) && (matrix || f->algorithm.matrix == MATRIX_NO);
		double ns = allowed ? try_one(f, &limits, err) : NAN;
		if (!isnan(ns) && !(ns >= s->ns)) {
			s->ns = ns;
			best = picked[i];
		}
	}
	if (best < 0) {
		offers_close(&s->offers);
		return *err->text ? error_context(err, "%s", kernel_name(s->problem.kernel)) :
			error_set(err, "%s: none of the first algorithms is of strict math",
				kernel_name(s->problem.kernel));
	}
	*err = (struct error)ERROR_NONE; /* others may have failed */
	s->backend = s->offers.offer[best].list->backend;
	s->algorithm = s->offers.offer[best].algorithm;
	s->index = best;
	s->threads = threads;
	return 0;
}

int branch_prepare(
	struct branch_step *s, const struct backend_limits *limits, enum status *status, struct error *err)
{
	const struct offer *f = &s->offers.offer[s->index];
	struct backend_limits own = *limits;
	own.apart = true;
	s->work = s->backend->prepare(f->list, f->index, &own, status, err);
	return s->work ? 0 : error_context(err, "%s", kernel_name(s->problem.kernel));
}

double branch_cost(const struct branches *b, int branch)
{
	double sum = 0;
	for (int k = b->beside.first[branch]; k < b->beside.first[branch + 1]; k++)
		sum += b->step[k].ns;
	return sum;
}

/* ---- for struct backend */

int branches_check(struct branches *b, double *worst, struct error *err)
{
	bool any = false;
	*worst = 0;
	for (int i = 0; i < b->beside.part_count; i++) {
		struct branch_step *s = &b->step[i];
		double one;
		if (!s->backend->check || s->backend->check(s->work, &one, err))
			continue;
		double allowed = fmax(tolerance_of(&s->problem, &s->algorithm),
			platform.machine.approximates ? tolerance_hardware(&s->problem) : 0);
		any = true;
		one /= allowed;
		*worst = one <= *worst ? *worst : one; /* NaN counts as an error */
	}
	if (any && *worst <= 1)
		*err = (struct error)ERROR_NONE;
	return any ? 0 : -1;
}

double branches_rotated_bytes(const struct branches *b, enum cache cache)
{
	double sum = 0;
	for (int i = 0; i < b->beside.part_count; i++)
		if (b->step[i].backend->rotated_bytes)
			sum += b->step[i].backend->rotated_bytes(b->step[i].work, cache);
	return sum;
}
