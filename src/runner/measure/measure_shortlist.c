/* Times each algorithm briefly and keeps the fastest, and the fastest of each kind that a what-if needs. A
 * heuristic: an algorithm slower in the brief run by more than its noise is not measured again. */
#include "config.h"

#include "runner/measure/measure_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "runner/verify/tolerance.h"

/* Adds a note on its outputs. */
static void note_add(struct contender *c, const char *note)
{
	const char *notes = algorithm_of(c)->notes;
	snprintf(c->notes, sizeof(c->notes), "%s%s%s", notes ? notes : "", notes && *notes ? " " : "", note);
}

/* Short warm-up before the shortlist; estimates the duration of an execution. */
static int glance(struct run *r, struct contender *c, enum cache cache)
{
	double until = r->options->machine.glance_ns > 0 ? r->options->machine.glance_ns : MEASURE_WARMUP_NS;
	if (measure_warm_up(r, c, cache, until, &c->first_ns))
		return -1;
	c->one_ns = c->first_ns;
	c->executions = measure_executions_wanted(r, c->one_ns);
	return 0;
}

/* Checks the outputs. Returns -1 if they are wrong. An algorithm without a check, or with one that fails
 * to run, is accepted. */
static int trust(struct run *r, struct contender *c)
{
	double worst = NAN, allowed = tolerance_of(r->problem, algorithm_of(c));
	const struct approximation *x = approximation_of(algorithm_of(c)->api, algorithm_of(c)->name);
	struct error why = ERROR_NONE;
	if (!backend_of(c)->check || r->options->repeats)
		return 0;
	int unknown = backend_of(c)->check(c->work, &worst, &why);
	if (r->options->machine.is_alive && !r->options->machine.is_alive()) {
		error_set(r->err, "%s", why.text);
		return measure_give_up(r, c, STATUS_FAILED);
	}
	if (unknown) {
		log_line("%s is not checked: %s", algorithm_of(c)->name, why.text);
		note_add(c, "unchecked");
		return 0;
	}
	if (worst <= allowed)
		return 0;
	if (r->options->machine.approximates && worst <= tolerance_hardware(r->problem)) {
		note_add(c, "approximate_tanh");
		return 0;
	}
	if (*why.text)
		error_set(r->err, "%s", why.text);
	else if (isfinite(worst))
		error_set(r->err,
			"%s%sits outputs are off by %.2g of the sum of their terms, %.2g is allowed",
			x ? x->reason : "", x ? ": " : "", worst, allowed);
	else
		error_set(r->err, "its outputs are wrong or were not written");
	r->rejected += !x;
	return measure_give_up(r, c, STATUS_MISTRUSTED);
}

/* --- the shortlist --- */

/* Bits: what-ifs compare the best algorithm without matrix units and the best in strict math; a layer whose
 * input is read again needs the best that is not in place. */
enum only { ONLY_WITHOUT_MATRIX = 1, ONLY_STRICT = 2, ONLY_APART = 4, ONLY_COMBINATIONS = 8 };

static bool is_such(const struct contender *c, int only)
{
	const struct algorithm *a = algorithm_of(c);
	return (!(only & ONLY_WITHOUT_MATRIX) || a->matrix == MATRIX_NO) &&
		(!(only & ONLY_STRICT) || strcmp(a->math, "strict") == 0) &&
		(!(only & ONLY_APART) || !algorithm_is_in_place(a));
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

/* True if it is the library's first choice among these; contenders are in the library's order. */
static bool is_first(const struct run *r, const struct contender *c, int only)
{
	for (const struct contender *other = r->contenders; other < c; other++)
		if (!isnan(other->shortlist_ns) && is_such(other, only))
			return false;
	return true;
}

static double highest_mhz(const struct run *r)
{
	double most = 0;
	for (int i = 0; i < r->count; i++)
		most = fmax(most, r->contenders[i].shortlist_mhz); /* ignores NaN */
	return most;
}

/* True if it was judged at a lower clock than another one. */
static bool is_clocked_low(const struct run *r, const struct contender *c)
{
	return c->shortlist_low || c->shortlist_mhz < (1 - MEASURE_CLOCK_APART) * highest_mhz(r);
}

/* The least time that it might take at the highest clock that another one had: times fall no more than the
 * clock rises. 0: all that is known is from samples that do not count. */
static double least_ns(const struct run *r, const struct contender *c)
{
	double share = is_clocked_low(r, c) ? c->shortlist_mhz / highest_mhz(r) : 1;
	return c->shortlist_low ? 0 : share * c->shortlist_ns;
}

/* True if it is worth measuring in full: within MEASURE_CLOSE_FACTOR of the fastest; or the fastest, or
 * the library's first choice, of all, of those without matrix units (if the device has any), of those in
 * strict math, of those that are not in place, or of several of these: the analysis compares them. One that
 * was judged at a low clock is not dropped for that. O(contenders) for each of the eight sets. */
static bool is_finalist(const struct run *r, const struct contender *c)
{
	if (!c->work || isnan(c->shortlist_ns))
		return false;
	double least = least_ns(r, c);
	bool is = least <= MEASURE_CLOSE_FACTOR * best_shortlisted(r, 0);
	for (int only = 0; only < ONLY_COMBINATIONS && !is; only++) {
		if ((only & ONLY_WITHOUT_MATRIX) && !r->options->has_matrix)
			continue;
		is = is_such(c, only) &&
			(least <= best_shortlisted(r, only) || is_first(r, c, only));
	}
	return is;
}

/* The cost so far; NaN: too few samples. */
static double cost_so_far(const struct contender *c)
{
	return c->quiet.n < MEASURE_LEAST_LONG ? NAN : samples_quantile(&c->quiet, STATS_COST_QUANTILE);
}

/* The lowest cost so far of these. */
static double lowest_so_far(const struct run *r, int only)
{
	double lowest = INFINITY;
	for (int i = 0; i < r->count; i++)
		if (r->contenders[i].work && is_such(&r->contenders[i], only))
			lowest = fmin(lowest, cost_so_far(&r->contenders[i])); /* ignores NaN */
	return lowest;
}

bool measure_is_beaten(const struct run *r, const struct contender *c)
{
	double ns = cost_so_far(c);
	if (isnan(ns) || backend_of(c)->clock_mhz) /* a steady clock is known at the end only */
		return false;
	for (int only = 0; only < ONLY_COMBINATIONS; only++) {
		if (!is_such(c, only) || ((only & ONLY_WITHOUT_MATRIX) && !r->options->has_matrix))
			continue;
		if (!(ns > MEASURE_BEATEN * lowest_so_far(r, only)) || is_first(r, c, only))
			return false;
	}
	return true;
}

/* Releases the contenders that have fallen behind, with their memory, and sends their shortlist results.
 * Called after every new contender, so only finalists stay prepared at a time. A later contender can only
 * lower the bests, so a released one would not have become a finalist again. */
static void prune(struct run *r)
{
	for (int i = 0; i < r->count; i++) {
		struct contender *c = &r->contenders[i];
		if (!c->work || is_finalist(r, c))
			continue;
		if (!c->sent && c->samples.n)
			measure_emit(r, c, r->states[0], STOP_SHORTLIST,
				measure_executions_for(c, r->states[0].launch));
		c->sent = true;
		measure_release(c);
	}
}

/* True if a single launch is so much slower than another algorithm's that one sample is enough. */
static bool is_far_behind(const struct run *r, const struct contender *c)
{
	double best = INFINITY;
	for (int i = 0; i < r->count; i++)
		if (!isnan(r->contenders[i].shortlist_ns))
			best = fmin(best, r->contenders[i].first_ns);
	return c->first_ns > MEASURE_DROP_FACTOR * best;
}

/* Takes up to MEASURE_SHORTLIST_SAMPLES samples; stops early at MEASURE_DROP_FACTOR times the best so far
 * (racing, as in Maron and Moore, 1994, with a fixed bound). Few samples are compared by their minimum:
 * disturbances only make a measurement slower. Disturbed samples, or those at a low clock, do not count, so
 * that none alone drops an algorithm; at most MEASURE_SHORTLIST_TRIES are taken. Of an algorithm that is far
 * behind the warm-up is the sample, if one execution is. */
static int compare(struct run *r, struct contender *c, struct state s)
{
	if (r->offers->count == 1) {
		c->shortlist_ns = c->one_ns;
		return 0;
	}
	const struct backend *b = backend_of(c);
	double best = best_shortlisted(r, 0), mhz = b->clock_mhz ? b->clock_mhz(c->work) : NAN;
	double fastest = c->one_ns;
	int counted = 0;
	if (!b->settle && c->executions == 1 && c->warmed_quiet && is_far_behind(r, c)) {
		measure_keep_first(c);
		c->shortlist_ns = c->first_ns;
		return 0;
	}
	for (int i = 0; counted < MEASURE_SHORTLIST_SAMPLES && i < MEASURE_SHORTLIST_TRIES; i++) {
		if (measure_is_over(r) || measure_sample(r, c, s))
			return -1;
		bool counts = c->last.quiet || (!b->settle && c->one_ns >= r->options->machine.long_ns);
		counted += counts;
		if (c->last.ns <= fastest) {
			fastest = c->last.ns;
			mhz = c->last.mhz;
		}
		if (counts && fastest > MEASURE_DROP_FACTOR * best)
			break;
	}
	c->shortlist_low = counted == 0;
	c->shortlist_ns = fastest;
	c->shortlist_mhz = mhz;
	return 0;
}

/* Compares the finalists again that were judged at a lower clock than others: the device may have slowed down
 * just then. They run next to each other, after it is settled. */
static int judge_again(struct run *r)
{
	for (int i = 0; i < r->count; i++) {
		struct contender *c = &r->contenders[i];
		if (measure_is_over(r))
			return -1;
		if (c->work && !isnan(c->shortlist_ns) && is_clocked_low(r, c))
			compare(r, c, r->states[0]);
	}
	prune(r);
	return 0;
}

/* Returns -1 if it failed, which was sent. */
static int contender_prepare(struct run *r, struct contender *c, struct state s)
{
	enum status status = STATUS_FAILED;
	r->options->trying(r->options->user, algorithm_of(c), s.cache, s.launch);
	c->work = backend_of(c)->prepare(c->offer->list, c->offer->index, &r->limits, &status, r->err);
	return c->work ? 0 : measure_give_up(r, c, status);
}

/* Prepares, warms up, checks and compares one algorithm. Returns -1 if it failed, which was sent, or if the
 * measurement is over, which is asked after each step: of large operands each takes seconds. If every check
 * computes its own reference, only algorithms that may be measured in full are checked: a finalist at the
 * end was one in its turn. */
static int shortlist_one(struct run *r, struct contender *c)
{
	struct state s = r->states[0];
	if (contender_prepare(r, c, s))
		return -1;
	bool share = r->options->machine.shares_operands;
	if (measure_is_over(r) || glance(r, c, s.cache) || (share && trust(r, c)) ||
		(!is_far_behind(r, c) && measure_refine(r, c, s.cache)) || compare(r, c, s))
		return -1;
	if (share || !is_finalist(r, c))
		return 0;
	double shortlist_ns = c->shortlist_ns;
	c->shortlist_ns = NAN; /* not compared before its outputs are checked */
	if (measure_is_over(r) || trust(r, c))
		return -1;
	c->shortlist_ns = shortlist_ns;
	return 0;
}

static struct contender *contender_add(struct run *r, int picked)
{
	struct contender *c = &r->contenders[r->count++];
	*c = (struct contender){ .offer = &r->offers->offer[r->picked[picked]],
		.shortlist_ns = NAN,
		.shortlist_mhz = NAN,
		.kernels = "" };
	return c;
}

/* Tries the library's algorithms one after the other and keeps the finalists: each is prepared, warmed
 * up, checked and compared. Cost: a warm-up and a few samples per algorithm instead of the whole budget.
 * Failures are sent as results and do not end the list. */
int measure_shortlist(struct run *r)
{
	int count = offers_pick(r->offers, r->picked, measure_most(r->options));
	for (int i = 0; i < count; i++) {
		if (measure_is_over(r))
			return -1;
		if (shortlist_one(r, contender_add(r, i)) == 0)
			prune(r);
	}
	return judge_again(r);
}

/* --- quick measurements --- */

/* Prepares an algorithm and takes a few samples. Returns -1 if it failed, which was sent. */
static int quick_one(struct run *r, struct contender *c)
{
	struct state s = r->states[0];
	if (contender_prepare(r, c, s))
		return -1;
	if (measure_warm_up(r, c, s.cache, 0, &c->first_ns))
		return -1;
	c->one_ns = c->first_ns;
	c->executions = measure_executions_wanted(r, c->one_ns);
	if (measure_refine(r, c, s.cache))
		return -1;
	for (int i = 0; i < MEASURE_QUICK_SAMPLES; i++)
		if (measure_is_over(r) || measure_sample(r, c, s))
			return -1;
	return 0;
}

int measure_quick(struct run *r)
{
	struct state s = r->states[0];
	int count = offers_pick(r->offers, r->picked, measure_most(r->options));
	for (int i = 0; i < count && !r->any_ok; i++) {
		if (measure_is_over(r))
			return -1;
		struct contender *c = contender_add(r, i);
		if (quick_one(r, c) == 0) {
			c->kernels = backend_of(c)->kernels ? backend_of(c)->kernels(c->work) : "";
			note_add(c, "unchecked");
			measure_emit(r, c, s, STOP_SHORTLIST, measure_executions_for(c, s.launch));
		}
		measure_release(c);
	}
	return measure_is_over(r) ? -1 : 0;
}
