#include "config.h"

#include "runner/measure.h"

#include <math.h>
#include <stdlib.h>

/* One algorithm on its way: prepared, shortlisted, and either dropped or measured in full. */
struct contender {
	const struct offer *offer;
	void *work;            /* NULL: not prepared, or released */
	double one_ns;         /* what an execution takes, from the warm-up */
	double shortlist_ns;   /* the fastest it has been on the shortlist, NaN before */
	bool sent;             /* its shortlist result went out */
	struct samples samples;/* all of the present state */
	struct samples calm;   /* those of them that nothing disturbed */
	double spent_ns;       /* on the present state */
	double rotated_bytes;  /* in state net; outlives the work */
	bool finished;         /* with the present state */
};

struct state {
	enum cache cache;
	enum launch launch;
};

struct run {
	const struct offers *offers;
	const struct problem *problem;
	const char *text;
	const struct measure_options *options;
	struct state states[CACHE_COUNT * LAUNCH_COUNT];
	int state_count;
	struct backend_limits limits;
	struct contender contenders[MEASURE_CONTENDERS];
	int count;
	bool any_ok;
	enum status status;
	struct error *err;
};

int64_t measure_executions(double one_ns)
{
	double n = ceil(MEASURE_AMORTIZED_NS / fmax(one_ns, 1));
	return n < 1 ? 1 : (int64_t)n;
}

double measure_enough_bytes(double llc_bytes)
{
	return MEASURE_LLC_FACTOR * (isnan(llc_bytes) ? MEASURE_LLC_GUESS : llc_bytes);
}

int64_t measure_sets(double constant_bytes, double llc_bytes, double rotation_bytes, int contenders)
{
	if (!(constant_bytes > 0))
		return 1;
	double bytes = fmax(constant_bytes, 64); /* each begins on a cache line */
	double wanted = ceil(measure_enough_bytes(llc_bytes) / bytes) + 1;
	double most = floor(fmin(MEASURE_SETS_BYTES, rotation_bytes / contenders) / bytes) + 1;
	return (int64_t)fmin(fmin(wanted, most), MEASURE_SETS);
}

/* Net and warm are the same thing without constant operands: then net alone is measured. Amortized comes first, because
 * the shortlist is made in the first state. Nothing here makes caches cold. */
static void states_plan(struct run *r)
{
	const struct measure_options *o = r->options;
	bool constant = problem_has_constant(r->problem);
	for (int c = CACHE_NET; c <= CACHE_WARM; c++) {
		if (!o->caches[c] || (c == CACHE_WARM && !constant && o->caches[CACHE_NET]))
			continue;
		for (int l = 0; l < LAUNCH_COUNT; l++)
			if (o->launches[l])
				r->states[r->state_count++] = (struct state){ (enum cache)c, (enum launch)l };
	}
}

static const struct algorithm *algorithm_of(const struct contender *c)
{
	return &c->offer->algorithm;
}

static const struct backend *backend_of(const struct contender *c)
{
	return c->offer->list->backend;
}

/* What counts: the undisturbed samples, where they are enough to stand for all of them. Where the system interrupts most
 * samples that is how the machine is, and the few others are no fair choice. */
static const struct samples *samples_kept(const struct contender *c)
{
	bool enough = c->calm.n >= MEASURE_LEAST_SAMPLES ||
		(c->calm.n >= MEASURE_LEAST_CALM && 2 * c->calm.n >= c->samples.n);
	return enough ? &c->calm : &c->samples;
}

static void emit(struct run *r, struct contender *c, struct state s, enum stop stop, int64_t executions)
{
	const struct samples *kept = samples_kept(c);
	struct result result = { .problem = r->text, .algorithm = *algorithm_of(c), .status = STATUS_OK,
		.cache = s.cache, .launch = s.launch, .why = "",
		.rotated_bytes = s.cache == CACHE_NET ? c->rotated_bytes : 0 };
	stats_compute(kept, &result.stats);
	result.stats.stop = stop;
	result.stats.executions = executions;
	result.stats.discarded = c->samples.n - kept->n;
	r->any_ok = true;
	r->options->emit(r->options->user, &result, kept);
}

static void emit_failure(struct run *r, struct contender *c, enum status status, const char *why)
{
	const struct samples none = { 0 };
	struct result result = { .problem = r->text, .algorithm = *algorithm_of(c), .status = status,
		.cache = r->states[0].cache, .launch = r->states[0].launch, .why = why };
	stats_compute(&none, &result.stats);
	r->status = status;
	r->options->emit(r->options->user, &result, &none);
}

static void release(struct contender *c)
{
	if (c->work)
		backend_of(c)->release(c->work);
	c->work = NULL;
}

static int64_t executions_for(const struct contender *c, enum launch launch)
{
	return launch == LAUNCH_AMORTIZED ? measure_executions(c->one_ns) : 1;
}

/* Past this an execution warms what it needs in its first percent. */
#define LONG_EXECUTION_NS 50e6

/* A short sample during which the system took a core away says little about the algorithm. One of many scheduler ticks is
 * interrupted nearly always, and hardly slower for it. */
static bool is_disturbed(const struct run *r, double expected_ns, int64_t disturbances)
{
	return disturbances > 0 && expected_ns < r->options->long_ns;
}

static int64_t disturbances(const struct run *r)
{
	return r->options->disturbances ? r->options->disturbances() : 0;
}

/* One sample. An untimed execution goes before it: another algorithm, or nothing at all, ran since the last one, and
 * activations and threads are to be warm. */
static int sample(struct run *r, struct contender *c, struct state s)
{
	double ns, begin = r->options->now_ns();
	int64_t times = executions_for(c, s.launch), before = 0;
	int bad = c->one_ns < LONG_EXECUTION_NS ? backend_of(c)->run(c->work, s.cache, 1, &ns, r->err) : 0;
	if (!bad) {
		before = disturbances(r);
		bad = backend_of(c)->run(c->work, s.cache, times, &ns, r->err);
	}
	if (bad) {
		release(c);
		emit_failure(r, c, STATUS_FAILED, r->err->text);
		return -1;
	}
	ns /= (double)times;
	samples_add(&c->samples, ns);
	if (!is_disturbed(r, c->one_ns * (double)times, disturbances(r) - before))
		samples_add(&c->calm, ns);
	c->spent_ns += r->options->now_ns() - begin;
	return 0;
}

/* At least one execution and 5 ms; learns what one execution takes from the fastest. */
static int warm_up(struct run *r, struct contender *c, enum cache cache)
{
	double begin = r->options->now_ns(), ns;
	c->one_ns = INFINITY;
	do {
		if (backend_of(c)->run(c->work, cache, 1, &ns, r->err)) {
			release(c);
			emit_failure(r, c, STATUS_FAILED, r->err->text);
			return -1;
		}
		c->one_ns = fmin(c->one_ns, ns);
	} while (r->options->now_ns() - begin < MEASURE_WARMUP_NS);
	return 0;
}

/* --- the shortlist --- */

static double best_shortlisted(const struct run *r, bool only_without_matrix)
{
	double best = INFINITY;
	for (int i = 0; i < r->count; i++) {
		const struct contender *c = &r->contenders[i];
		if (c->shortlist_ns < best && (!only_without_matrix || algorithm_of(c)->matrix == MATRIX_NO))
			best = c->shortlist_ns;
	}
	return best;
}

/* Is it worth measuring in full: the library's own first choice, close to the fastest, or (where there are matrix units)
 * the fastest without them? */
static bool is_finalist(const struct run *r, const struct contender *c)
{
	if (!c->work || isnan(c->shortlist_ns))
		return false;
	return algorithm_of(c)->rank == 0 || c->shortlist_ns <= MEASURE_CLOSE_FACTOR * best_shortlisted(r, false) ||
		(r->options->has_matrix && c->shortlist_ns <= best_shortlisted(r, true));
}

/* Gives back the memory of those that have fallen behind, and says what they took. */
static void prune(struct run *r)
{
	for (int i = 0; i < r->count; i++) {
		struct contender *c = &r->contenders[i];
		if (!c->work || is_finalist(r, c))
			continue;
		release(c);
		if (!c->sent && c->samples.n)
			emit(r, c, r->states[0], STOP_SHORTLIST, executions_for(c, r->states[0].launch));
		c->sent = true;
	}
}

/* 0: has samples; -1: failed, and that has been sent. Few samples are compared by their least: what disturbs a
 * measurement only ever makes it slower. */
static int shortlist_one(struct run *r, struct contender *c)
{
	struct state s = r->states[0];
	enum status status = STATUS_FAILED;
	r->options->trying(r->options->user, algorithm_of(c), s.cache, s.launch);
	c->work = backend_of(c)->prepare(c->offer->list, c->offer->index, &r->limits, &status, r->err);
	if (!c->work) {
		emit_failure(r, c, status, r->err->text);
		return -1;
	}
	c->rotated_bytes = backend_of(c)->rotated_bytes(c->work);
	if (warm_up(r, c, s.cache))
		return -1;
	if (r->offers->count == 1) {
		c->shortlist_ns = c->one_ns;
		return 0;
	}
	double best = best_shortlisted(r, false);
	double fastest = c->one_ns;
	for (int i = 0; i < MEASURE_SHORTLIST_SAMPLES; i++) {
		if (sample(r, c, s))
			return -1;
		fastest = fmin(fastest, c->samples.sorted[0]);
		if (fastest > MEASURE_DROP_FACTOR * best)
			break;
	}
	c->shortlist_ns = fastest;
	return 0;
}

static bool cancelled(const struct run *r)
{
	return r->options->cancelled(r->options->user);
}

static int shortlist(struct run *r)
{
	int picked[MEASURE_CONTENDERS], count = offers_pick(r->offers, picked, MEASURE_CONTENDERS);
	for (int i = 0; i < count; i++) {
		if (cancelled(r))
			return -1;
		struct contender *c = &r->contenders[r->count++];
		*c = (struct contender){ .offer = &r->offers->offer[picked[i]], .shortlist_ns = NAN };
		if (shortlist_one(r, c) == 0)
			prune(r);
	}
	return 0;
}

/* --- in full --- */

/* Amortized samples of a single execution are what isolated ones would be: one measurement is then both. */
static bool is_same_as_before(const struct run *r, const struct contender *c, int state)
{
	if (state == 0 || state >= r->state_count || r->states[state].launch != LAUNCH_ISOLATED)
		return false;
	struct state before = r->states[state - 1];
	return before.cache == r->states[state].cache && before.launch == LAUNCH_AMORTIZED &&
		executions_for(c, LAUNCH_AMORTIZED) == 1;
}

/* A measurement that is two states' has the budget of both. */
static double budget_of(const struct run *r, const struct contender *c, int state)
{
	bool both = is_same_as_before(r, c, state) || is_same_as_before(r, c, state + 1);
	return (both ? 2 : 1) * r->options->budget_ns / r->state_count;
}

/* Has it been sampled enough? STOP_NONE: no. The budget pays for all samples, whether they are kept or not. */
static enum stop stop_reason(const struct run *r, const struct contender *c, int state)
{
	if (stats_converged(samples_kept(c), r->options->tolerance, MEASURE_LEAST_SAMPLES))
		return STOP_CONVERGED;
	if (c->samples.n > 0 && c->spent_ns >= budget_of(r, c, state))
		return STOP_BUDGET;
	return c->samples.n >= MEASURE_MOST_SAMPLES ? STOP_BUDGET : STOP_NONE;
}

/* What stopped an amortized state also stopped the isolated one that shares its samples. */
static void begin_state(struct run *r, int state)
{
	for (int i = 0; i < r->count; i++) {
		struct contender *c = &r->contenders[i];
		c->finished = !c->work;
		if (c->work && c->samples.n > 0 && is_same_as_before(r, c, state)) {
			enum stop stop = stop_reason(r, c, state);
			emit(r, c, r->states[state], stop == STOP_NONE ? STOP_BUDGET : stop, 1);
			c->finished = true;
		} else if (c->work) {
			samples_clear(&c->samples);
			samples_clear(&c->calm);
			c->spent_ns = 0;
		}
	}
}

/* All contenders in turn (A B A B), so that a drift of the machine meets them alike. */
static int measure_state(struct run *r, int state)
{
	begin_state(r, state);
	for (bool again = true; again;) {
		again = false;
		for (int i = 0; i < r->count; i++) {
			struct contender *c = &r->contenders[i];
			if (c->finished)
				continue;
			if (cancelled(r))
				return -1;
			r->options->trying(r->options->user, algorithm_of(c), r->states[state].cache,
				r->states[state].launch);
			if (sample(r, c, r->states[state])) {
				c->finished = true;
				continue;
			}
			enum stop stop = stop_reason(r, c, state);
			c->finished = stop != STOP_NONE;
			again = again || !c->finished;
			if (c->finished)
				emit(r, c, r->states[state], stop, executions_for(c, r->states[state].launch));
		}
	}
	return 0;
}

int measure_problem(const struct offers *offers, const struct problem *p, const char *text,
	const struct measure_options *o, enum status *status, struct error *err)
{
	struct run *r = base_calloc(1, sizeof(*r));
	*r = (struct run){ .offers = offers, .problem = p, .text = text, .options = o, .err = err,
		.status = STATUS_FAILED };
	int stopped = 0;
	int contenders = offers->count < MEASURE_CONTENDERS ? offers->count : MEASURE_CONTENDERS;
	r->limits = (struct backend_limits){ .memory_bytes = o->memory_bytes,
		.sets = measure_sets(problem_constant_bytes(p), o->llc_bytes, o->rotation_bytes, contenders) };
	states_plan(r);
	if (r->state_count == 0)
		error_set(err, "nothing to measure: this runner knows the cache states net and warm");
	else
		stopped = shortlist(r);
	for (int i = 0; i < r->state_count && !stopped; i++)
		stopped = measure_state(r, i);
	for (int i = 0; i < r->count; i++) {
		release(&r->contenders[i]);
		samples_free(&r->contenders[i].samples);
		samples_free(&r->contenders[i].calm);
	}
	*status = r->any_ok ? STATUS_OK : r->status;
	free(r);
	return stopped;
}
