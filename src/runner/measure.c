#include "config.h"

#include "runner/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "runner/allowance.h"

/* One algorithm on its way: prepared, shortlisted, and either dropped or measured in full. */
struct contender {
	const struct offer *offer;
	void *work;            /* NULL: not prepared, or released */
	double one_ns;         /* what an execution takes, from the warm-up */
	double first_ns;       /* the same, launched alone */
	double warmed_ns;      /* so long */
	int64_t executions;    /* of an amortized sample */
	double shortlist_ns;   /* the fastest it has been on the shortlist, NaN before */
	bool sent;             /* its shortlist result went out */
	struct samples samples;/* all of the present state */
	struct samples calm;   /* those of them that nothing disturbed */
	double spent_ns;       /* on the present state */
	double rotated_bytes;  /* in state net; outlives the work */
	const char *kernels;   /* the work's */
	char notes[256];       /* the library's, and ours; "" as the library's */
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
	bool any_ok, dead;
	enum status status;
	struct error *err;
};

int64_t measure_executions(double one_ns)
{
	double n = ceil(MEASURE_AMORTIZED_NS / fmax(one_ns, 1));
	return n < 1 ? 1 : n > MEASURE_EXECUTIONS ? MEASURE_EXECUTIONS : (int64_t)n;
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

static bool is_wanted(const struct run *r, enum cache c)
{
	const struct measure_options *o = r->options;
	if (!o->caches[c])
		return false;
	if (c == CACHE_WARM) /* net and warm are the same thing without constant operands: then net alone is measured */
		return problem_has_constant(r->problem) || !o->caches[CACHE_NET];
	if (c == CACHE_COLD) /* claimed only where enough passes */
		return o->has_cold && (double)r->limits.cold_sets * problem_bytes(r->problem) >= measure_enough_bytes(o->llc_bytes);
	return true;
}

/* Amortized comes first, because the shortlist is made in the first state. */
static void states_plan(struct run *r)
{
	for (int c = 0; c < CACHE_COUNT; c++)
		for (int l = 0; l < LAUNCH_COUNT && is_wanted(r, (enum cache)c); l++)
			if (r->options->launches[l])
				r->states[r->state_count++] = (struct state){ (enum cache)c, (enum launch)l };
}

static void limits_set(struct run *r, int contenders)
{
	const struct measure_options *o = r->options;
	bool cold = o->has_cold && o->caches[CACHE_COLD];
	r->limits = (struct backend_limits){ .memory_bytes = o->memory_bytes,
		.sets = measure_sets(problem_constant_bytes(r->problem), o->llc_bytes, o->rotation_bytes, contenders),
		.cold_sets = cold ? measure_sets(problem_bytes(r->problem), o->llc_bytes, o->rotation_bytes, contenders) :
			1 };
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

/* With the remark that nobody could tell whether it is right. */
static void note_unchecked(struct contender *c)
{
	const char *notes = algorithm_of(c)->notes;
	snprintf(c->notes, sizeof(c->notes), "%s%sunchecked", notes ? notes : "", notes && *notes ? " " : "");
}

static void emit(struct run *r, struct contender *c, struct state s, enum stop stop, int64_t executions)
{
	const struct samples *kept = samples_kept(c);
	const struct backend *b = backend_of(c);
	struct result result = { .problem = r->text, .algorithm = *algorithm_of(c), .status = STATUS_OK,
		.cache = s.cache, .launch = s.launch, .why = "", .kernels = c->kernels,
		.enqueue_ns = c->work && b->enqueue_ns ? b->enqueue_ns(c->work) : NAN,
		.clock_mhz = c->work && b->clock_mhz ? b->clock_mhz(c->work) : NAN,
		.rotated_bytes = s.cache == CACHE_NET ? c->rotated_bytes : 0 };
	if (*c->notes)
		result.algorithm.notes = c->notes;
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
		.cache = r->states[0].cache, .launch = r->states[0].launch, .why = why, .kernels = "", .enqueue_ns = NAN,
		.clock_mhz = NAN };
	stats_compute(&none, &result.stats);
	r->status = status;
	r->options->emit(r->options->user, &result, &none);
}

static void release(struct contender *c)
{
	if (c->work)
		backend_of(c)->release(c->work);
	c->work = NULL;
	c->kernels = "";
}

/* What went wrong with one: it is out, and perhaps all of them. */
static int give_up(struct run *r, struct contender *c, enum status status)
{
	r->dead = r->options->is_alive && !r->options->is_alive();
	emit_failure(r, c, status, r->err->text);
	release(c);
	return -1;
}

static int64_t executions_wanted(const struct run *r, double one_ns)
{
	int64_t n = measure_executions(one_ns);
	return n < 2 && one_ns < r->options->alone_ns ? 2 : n;
}

static int64_t executions_for(const struct contender *c, enum launch launch)
{
	return launch == LAUNCH_AMORTIZED ? c->executions : 1;
}

#define REFINING_ROUNDS 3
#define REFINING_FACTOR 2    /* numbers of executions closer than this are as good as each other, to learn from */
#define REFINED_FACTOR 1.25  /* and to measure with: what was prepared for one number is not prepared again */

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
	if (bad)
		return give_up(r, c, STATUS_FAILED);
	ns /= (double)times;
	samples_add(&c->samples, ns);
	if (!is_disturbed(r, c->one_ns * (double)times, disturbances(r) - before))
		samples_add(&c->calm, ns);
	c->spent_ns += r->options->now_ns() - begin;
	return 0;
}

/* What one of several executions back to back takes: a launch of its own costs more, on a GPU much more. */
static int refine(struct run *r, struct contender *c, enum cache cache)
{
	int64_t before = 1;
	for (int round = 0; round < REFINING_ROUNDS; round++) {
		int64_t times = executions_wanted(r, c->one_ns);
		double ns;
		if (times < REFINING_FACTOR * before)
			break;
		if (backend_of(c)->run(c->work, cache, times, &ns, r->err))
			return give_up(r, c, STATUS_FAILED);
		c->one_ns = ns / (double)times;
		before = times;
	}
	c->executions = executions_wanted(r, c->one_ns);
	if (before > 1 && c->executions <= REFINED_FACTOR * (double)before && before <= REFINED_FACTOR * (double)c->executions)
		c->executions = before;
	return 0;
}

/* At least one execution, and until it has been warmed for so long; *fastest: what one took. */
static int warm_up(struct run *r, struct contender *c, enum cache cache, double until_ns, double *fastest)
{
	double begin = r->options->now_ns(), before = c->warmed_ns, ns;
	*fastest = INFINITY;
	do {
		if (backend_of(c)->run(c->work, cache, 1, &ns, r->err))
			return give_up(r, c, STATUS_FAILED);
		*fastest = fmin(*fastest, ns);
		c->warmed_ns = before + r->options->now_ns() - begin;
	} while (c->warmed_ns < until_ns);
	return 0;
}

/* Before the shortlist; learns what one execution takes. */
static int glance(struct run *r, struct contender *c, enum cache cache)
{
	double until = r->options->glance_ns > 0 ? r->options->glance_ns : MEASURE_WARMUP_NS;
	if (warm_up(r, c, cache, until, &c->first_ns))
		return -1;
	c->one_ns = c->first_ns;
	c->executions = executions_wanted(r, c->one_ns);
	return 0;
}

/* Is what it computes right? Where nobody can tell, it is believed. */
static int trust(struct run *r, struct contender *c)
{
	double worst = NAN, allowed = allowance_of(r->problem, algorithm_of(c)->math);
	struct error why = ERROR_NONE;
	if (!backend_of(c)->check)
		return 0;
	int unknown = backend_of(c)->check(c->work, &worst, &why);
	if (r->options->is_alive && !r->options->is_alive()) {
		error_set(r->err, "%s", why.text);
		return give_up(r, c, STATUS_FAILED);
	}
	if (unknown) {
		log_line("%s is not checked: %s", algorithm_of(c)->name, why.text);
		note_unchecked(c);
		return 0;
	}
	if (worst <= allowed)
		return 0;
	if (*why.text)
		error_set(r->err, "%s", why.text);
	else if (isfinite(worst))
		error_set(r->err, "its outputs are off by %.2g of the sum of their terms, %.2g is allowed", worst, allowed);
	else
		error_set(r->err, "its outputs are not what was to be computed, or none");
	return give_up(r, c, STATUS_MISTRUSTED);
}

/* --- the shortlist --- */

/* What-ifs ask for the best without matrix units and the best in strict math: bits of what an algorithm has to be. */
enum only { ONLY_WITHOUT_MATRIX = 1, ONLY_STRICT = 2, ONLY_COMBINATIONS = 4 };

static bool is_such(const struct contender *c, int only)
{
	const struct algorithm *a = algorithm_of(c);
	return (!(only & ONLY_WITHOUT_MATRIX) || a->matrix == MATRIX_NO) &&
		(!(only & ONLY_STRICT) || strcmp(a->math, "strict") == 0);
}

static double best_shortlisted(const struct run *r, int only)
{
	double best = INFINITY;
	for (int i = 0; i < r->count; i++) {
		const struct contender *c = &r->contenders[i];
		if (c->shortlist_ns < best && is_such(c, only))
			best = c->shortlist_ns;
	}
	return best;
}

/* The library's first choice of such: contenders stand in its order. */
static bool is_first(const struct run *r, const struct contender *c, int only)
{
	for (const struct contender *other = r->contenders; other < c; other++)
		if (!isnan(other->shortlist_ns) && is_such(other, only))
			return false;
	return true;
}

/* Is it worth measuring in full: close to the fastest, or of all, of those without matrix units (where there are any), in strict
 * math, or both, the fastest or the library's own first choice (what-if algorithm holds one against the other)? */
static bool is_finalist(const struct run *r, const struct contender *c)
{
	if (!c->work || isnan(c->shortlist_ns))
		return false;
	bool is = c->shortlist_ns <= MEASURE_CLOSE_FACTOR * best_shortlisted(r, 0);
	for (int only = 0; only < ONLY_COMBINATIONS && !is; only++) {
		if ((only & ONLY_WITHOUT_MATRIX) && !r->options->has_matrix)
			continue;
		is = is_such(c, only) && (c->shortlist_ns <= best_shortlisted(r, only) || is_first(r, c, only));
	}
	return is;
}

/* Gives back the memory of those that have fallen behind, and says what they took. */
static void prune(struct run *r)
{
	for (int i = 0; i < r->count; i++) {
		struct contender *c = &r->contenders[i];
		if (!c->work || is_finalist(r, c))
			continue;
		if (!c->sent && c->samples.n)
			emit(r, c, r->states[0], STOP_SHORTLIST, executions_for(c, r->states[0].launch));
		c->sent = true;
		release(c);
	}
}

/* Few samples are compared by their least: what disturbs a measurement only ever makes it slower. */
static int compare(struct run *r, struct contender *c, struct state s)
{
	if (r->offers->count == 1) {
		c->shortlist_ns = c->one_ns;
		return 0;
	}
	double best = best_shortlisted(r, 0);
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

/* Launched alone it takes so much longer than another one that its place is known: one sample is enough, of any length. */
static bool is_far_behind(const struct run *r, const struct contender *c)
{
	double best = INFINITY;
	for (int i = 0; i < r->count; i++)
		if (!isnan(r->contenders[i].shortlist_ns))
			best = fmin(best, r->contenders[i].first_ns);
	return c->first_ns > MEASURE_DROP_FACTOR * best;
}

/* 0: has samples; -1: failed, and that has been sent. Where every check computes the reference anew, only those are checked
 * that might be measured in full: who is one at the end was one when it was its turn. */
static int shortlist_one(struct run *r, struct contender *c)
{
	struct state s = r->states[0];
	enum status status = STATUS_FAILED;
	r->options->trying(r->options->user, algorithm_of(c), s.cache, s.launch);
	c->work = backend_of(c)->prepare(c->offer->list, c->offer->index, &r->limits, &status, r->err);
	if (!c->work)
		return give_up(r, c, status);
	c->rotated_bytes = backend_of(c)->rotated_bytes ? backend_of(c)->rotated_bytes(c->work) : 0;
	bool share = r->options->shares_operands;
	if (glance(r, c, s.cache) || (share && trust(r, c)) || (!is_far_behind(r, c) && refine(r, c, s.cache)) ||
		compare(r, c, s))
		return -1;
	if (share || !is_finalist(r, c))
		return 0;
	double shortlist_ns = c->shortlist_ns;
	c->shortlist_ns = NAN; /* competes only once it is trusted */
	if (trust(r, c))
		return -1;
	c->shortlist_ns = shortlist_ns;
	return 0;
}

static bool is_over(const struct run *r)
{
	return r->dead || r->options->cancelled(r->options->user);
}

static int shortlist(struct run *r)
{
	int most = r->options->most > 0 && r->options->most < MEASURE_CONTENDERS ? r->options->most : MEASURE_CONTENDERS;
	int picked[MEASURE_CONTENDERS], count = offers_pick(r->offers, picked, most);
	for (int i = 0; i < count; i++) {
		if (is_over(r))
			return -1;
		struct contender *c = &r->contenders[r->count++];
		*c = (struct contender){ .offer = &r->offers->offer[picked[i]], .shortlist_ns = NAN, .kernels = "" };
		if (shortlist_one(r, c) == 0)
			prune(r);
	}
	return 0;
}

/* --- in full --- */

/* What was compared after a glance is warmed as long as everything is that is measured in full. */
static int warm_rest(struct run *r)
{
	for (int i = 0; i < r->count; i++) {
		struct contender *c = &r->contenders[i];
		double fastest;
		if (is_over(r))
			return -1;
		if (c->work && c->warmed_ns < MEASURE_WARMUP_NS)
			warm_up(r, c, r->states[0].cache, MEASURE_WARMUP_NS, &fastest);
	}
	return 0;
}

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
		if (state == 0 && c->work && backend_of(c)->kernels)
			c->kernels = backend_of(c)->kernels(c->work);
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
			if (is_over(r))
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
	limits_set(r, o->shares_operands ? 1 : offers->count < MEASURE_CONTENDERS ? offers->count : MEASURE_CONTENDERS);
	states_plan(r);
	if (r->state_count == 0)
		error_set(err, "nothing to measure: %s", o->has_cold ? "not enough passes here to make caches cold" :
			"this runner knows the cache states net and warm");
	else
		stopped = shortlist(r) || warm_rest(r);
	for (int i = 0; i < r->state_count && !stopped && !r->dead; i++)
		stopped = measure_state(r, i);
	for (int i = 0; i < r->count; i++) {
		release(&r->contenders[i]);
		samples_free(&r->contenders[i].samples);
		samples_free(&r->contenders[i].calm);
	}
	*status = r->dead ? STATUS_FAILED : r->any_ok ? STATUS_OK : r->status;
	stopped = r->dead ? 0 : stopped;
	free(r);
	return stopped;
}
