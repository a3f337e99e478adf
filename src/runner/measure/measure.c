/* The order of measuring: a shortlist in the first cache state, then each of its algorithms in all states
 * until the interval is narrow enough or the time is used up. */
#include "config.h"

#include "runner/measure/measure_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/verify/tolerance.h"

#define LAUNCHED_FAST 0.1    /* of the time of an execution: time to enqueue it */
#define EXECUTIONS_WRONG 4.0 /* executions per sample are corrected beyond this factor */

int64_t measure_executions(double one_ns)
{
	double n = ceil(MEASURE_AMORTIZED_NS / fmax(one_ns, 1));
	return n < 1 ? 1 : n > MEASURE_EXECUTIONS ? MEASURE_EXECUTIONS : (int64_t)n;
}

int measure_most(const struct measure_options *o)
{
	return o->most > 0 && o->most < MEASURE_CONTENDERS ? o->most : MEASURE_CONTENDERS;
}

double measure_enough_bytes(double llc_bytes)
{
	return MEASURE_LLC_FACTOR * (isnan(llc_bytes) ? MEASURE_LLC_GUESS : llc_bytes);
}

/* Bytes that a copy of the constants takes: each begins on a cache line. */
static double copy_bytes(double constant_bytes)
{
	return fmax(constant_bytes, 64);
}

double measure_room(double constant_bytes, double rotation_bytes, int contenders)
{
	double bytes = copy_bytes(constant_bytes);
	return fmin(round(MEASURE_SETS_BYTES / bytes), floor(rotation_bytes / contenders / bytes)) + 1;
}

int64_t measure_sets(double constant_bytes, double pass_bytes, double rotation_bytes, int contenders)
{
	if (!(constant_bytes > 0) || !(pass_bytes > 0))
		return 1;
	double wanted = ceil(pass_bytes / copy_bytes(constant_bytes)) + 1;
	double most = measure_room(constant_bytes, rotation_bytes, contenders);
	return (int64_t)fmin(fmin(wanted, most), MEASURE_SETS);
}

/* Farthest first, as the shortlist is made in the first state; cold, which is for what-ifs, last. */
enum cache measure_cache(int i)
{
	return cache_in_pages(i == 0 ? CACHE_NET : i == CACHE_STATES - 1 ? CACHE_COLD :
		i == CACHE_STATES - 2 ? CACHE_WARM : (enum cache)(CACHE_STATES - i), false);
}

static bool any_distance(const struct run *r)
{
	bool any = false;
	for (enum cache c = CACHE_NEAREST; c < CACHE_STATES; c++)
		any = any || r->caches[c];
	return any;
}

/* Decides in which of the requested states to measure. A reuse distance whose copies have no room is left
 * out: fewer copies would be another distance. Instead of those the farthest that has room is measured. */
static void caches_plan(struct run *r, int contenders)
{
	const struct measure_options *o = r->options;
	double constant = problem_constant_bytes(r->problem);
	double other = problem_bytes(r->problem) - constant;
	double room = measure_room(constant, o->rotation_bytes, contenders);
	enum cache farthest = CACHE_NEAREST;
	bool any = false;
	memcpy(r->caches, o->caches, sizeof(r->caches));
	for (enum cache c = CACHE_NEAREST + 1; c < CACHE_STATES; c++) {
		bool fits = cache_copies(c, copy_bytes(constant), other) <= room;
		r->beyond[c] = o->caches[c] && problem_has_constant(r->problem) && !fits;
		r->caches[c] = o->caches[c] && !r->beyond[c];
		farthest = fits ? c : farthest;
		any = any || r->beyond[c];
	}
	r->caches[farthest] = r->caches[farthest] || any;
}

static bool is_wanted(const struct run *r, enum cache c)
{
	const struct measure_options *o = r->options;
	bool rotates = problem_has_constant(r->problem);
	if (c == CACHE_COLD) /* only if enough bytes are read between uses */
		return o->caches[c] && (double)r->limits.cold_sets * problem_bytes(r->problem) >=
			measure_enough_bytes(o->llc_bytes);
	/* without constant operands the others are equal: only net is measured, or warm if asked alone */
	if (rotates || c == CACHE_WARM)
		return r->caches[c] && (rotates || (!r->caches[CACHE_NET] && !any_distance(r)));
	return c == CACHE_NET && (r->caches[c] || any_distance(r));
}

/* Lists the states to measure. Amortized comes first: the shortlist is made in the first state. */
static void states_plan(struct run *r)
{
	for (int i = 0; i < CACHE_STATES; i++)
		for (int l = 0; l < LAUNCH_COUNT && is_wanted(r, measure_cache(i)); l++)
			if (r->options->launches[l])
				r->states[r->state_count++] =
					(struct state){ measure_cache(i), (enum launch)l };
}

static void limits_set(struct run *r, int contenders)
{
	const struct measure_options *o = r->options;
	double enough = measure_enough_bytes(o->llc_bytes), pass = o->caches[CACHE_NET] ? enough : 0;
	caches_plan(r, contenders);
	for (enum cache c = CACHE_NEAREST; c < CACHE_STATES; c++)
		pass = r->caches[c] ? fmax(pass, cache_distance(c)) : pass;
	r->limits = (struct backend_limits){ .memory_bytes = o->memory_bytes,
		.sets = measure_sets(problem_constant_bytes(r->problem), pass, o->rotation_bytes, contenders),
		.cold_sets = o->caches[CACHE_COLD]
			? measure_sets(problem_bytes(r->problem), enough, o->rotation_bytes, contenders)
			: 1 };
	if (!is_wanted(r, CACHE_COLD))
		r->limits.cold_sets = 1;
}

/* --- full measurements --- */

/* Contenders compared after a short warm-up get the full one before they are measured. */
static int warm_rest(struct run *r)
{
	for (int i = 0; i < r->count; i++) {
		struct contender *c = &r->contenders[i];
		double fastest;
		if (measure_is_over(r))
			return -1;
		if (c->work && c->warmed_ns < MEASURE_WARMUP_NS)
			measure_warm_up(r, c, r->states[0].cache, MEASURE_WARMUP_NS, &fastest);
	}
	return 0;
}

/* True if an amortized sample of one execution takes as long as an isolated one: they are taken in the same
 * way, or the host enqueues it in a small share of its time. */
static bool is_launched_fast(const struct contender *c)
{
	const struct backend *b = backend_of(c);
	return !b->amortized || (b->enqueue_ns && b->enqueue_ns(c->work) < LAUNCHED_FAST * c->one_ns);
}

/* True if the isolated state can reuse the amortized samples before it: they have one execution each. */
static bool is_same_as_before(const struct run *r, const struct contender *c, int state)
{
	if (state == 0 || state >= r->state_count || r->states[state].launch != LAUNCH_ISOLATED)
		return false;
	struct state before = r->states[state - 1];
	return before.cache == r->states[state].cache && before.launch == LAUNCH_AMORTIZED &&
		measure_executions_for(c, LAUNCH_AMORTIZED) == 1 && is_launched_fast(c);
}

static void executions_correct(const struct run *r, struct contender *c)
{
	int64_t wanted = measure_executions_wanted(r, c->one_ns);
	if ((double)wanted > EXECUTIONS_WRONG * (double)c->executions)
		c->executions = wanted;
}

/* Starts a state for all contenders. An isolated state that reuses the amortized samples is complete at
 * once, with the same reason to stop. */
static void begin_state(struct run *r, int state)
{
	for (int i = 0; i < r->count; i++) {
		struct contender *c = &r->contenders[i];
		c->finished = !c->work;
		if (state == 0 && c->work && backend_of(c)->kernels)
			c->kernels = backend_of(c)->kernels(c->work);
		if (c->work && c->samples.n > 0 && is_same_as_before(r, c, state)) {
			measure_emit(r, c, r->states[state], c->stop, 1);
			c->finished = true;
		} else if (c->work) {
			measure_forget_samples(c);
			c->wants_slopes = backend_of(c)->amortized != NULL;
			if (state == 0) /* its estimate may have been too long, from noise */
				executions_correct(r, c);
			c->budget_ns = r->options->budget_ns / r->state_count;
		}
	}
}

/* One contender's turn: samples for MEASURE_TURN_NS, at least one. Returns -1 if the measurement is over. */
static int measure_turn(struct run *r, struct contender *c, struct state s)
{
	double begin = r->options->now_ns();
	r->options->trying(r->options->user, algorithm_of(c), s.cache, s.launch);
	do {
		if (measure_is_over(r))
			return -1;
		if (measure_sample(r, c, s)) {
			c->finished = true;
			return 0;
		}
		c->stop = measure_stop(r, c);
		c->finished = c->stop != STOP_NONE;
	} while (!c->finished && r->options->now_ns() - begin < MEASURE_TURN_NS);
	if (c->finished)
		measure_emit(r, c, s, c->stop, measure_executions_for(c, s.launch));
	return 0;
}

/* The contenders take turns (A B A B), so that drift of the machine affects them equally. */
static int measure_state(struct run *r, int state)
{
	begin_state(r, state);
	for (bool again = true; again;) {
		again = false;
		for (int i = 0; i < r->count; i++) {
			struct contender *c = &r->contenders[i];
			if (!c->finished && measure_turn(r, c, r->states[state]))
				return -1;
			again = again || !c->finished;
		}
	}
	return 0;
}

/* Says of each algorithm that was measured in which of the requested states it was not. */
static void emit_beyond(struct run *r)
{
	for (int i = 0; i < r->count; i++)
		for (enum cache c = CACHE_NEAREST; c < CACHE_STATES && r->contenders[i].work; c++)
			for (enum launch l = 0; l < LAUNCH_COUNT && r->beyond[c]; l++)
				if (r->options->launches[l])
					measure_emit_beyond(r, &r->contenders[i], (struct state){ c, l });
}

int measure_problem(const struct offers *offers, const struct problem *p, const char *text,
	const struct measure_options *o, enum status *status, struct error *err)
{
	struct run *r = base_calloc(1, sizeof(*r));
	*r = (struct run){ .offers = offers, .problem = p, .text = text, .options = o, .err = err,
		.status = STATUS_FAILED };
	int stopped = 0;
	r->contenders = base_calloc((size_t)offers->count, sizeof(*r->contenders));
	r->picked = base_calloc((size_t)offers->count, sizeof(*r->picked));
	limits_set(r, o->machine.shares_operands ? 1 : offers->count);
	states_plan(r);
	if (r->state_count == 0)
		error_set(err,
			"nothing to measure: the copies of the operands are too small to make the caches "
			"cold");
	else
		stopped = o->quick ? measure_quick(r) : measure_shortlist(r) ? -1 : warm_rest(r);
	for (int i = 0; i < r->state_count && !o->quick && !stopped && !r->dead; i++)
		stopped = measure_state(r, i);
	if (!o->quick && !stopped && !r->dead)
		emit_beyond(r);
	for (int i = 0; i < r->count; i++) {
		measure_release(&r->contenders[i]);
		samples_free(&r->contenders[i].samples);
		samples_free(&r->contenders[i].quiet);
		samples_free(&r->contenders[i].quiet_mhz);
		samples_free(&r->contenders[i].steady);
	}
	*status = r->dead ? STATUS_FAILED : r->any_ok ? STATUS_OK : r->status;
	stopped = r->dead ? 0 : stopped;
	if (*status != STATUS_OK && !r->dead && !stopped && r->rejected > 0)
		tolerance_all_rejected(r->rejected, err);
	free(r->contenders);
	free(r->picked);
	free(r);
	return stopped;
}
