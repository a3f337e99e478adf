/* A sample is as many executions as the resolution of the clock demands. Samples during which threads lost
 * their cores are discarded; slopes between two lengths show fixed costs that a sample should not have. */
#include "config.h"

#include "runner/measure/measure_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Longer executions need no untimed one before a sample: they warm caches and threads in their first
 * percent. */
#define LONG_EXECUTION_NS 50e6
#define WARM_UP_TRIES 5        /* minimum executions of a warm-up if one was disturbed */
#define REFINING_ROUNDS 3
#define REFINING_FACTOR 2      /* refine only if the number of executions grows by this */
#define WAITED "its threads had to wait for their cores"
#define CORRECTED "less the time that its threads waited for their cores: an upper value"
#define INTERRUPTED "it was interrupted, or its clock fell"
#define REFINED_FACTOR 1.25    /* within it the last number is kept, as it is prepared */

/* --- disturbed samples --- */

struct mark {
	double waited_ns;
	int64_t disturbances;
};

static struct mark mark_now(const struct run *r)
{
	const struct machine *m = &r->options->machine;
	return (struct mark){ m->waited_ns ? m->waited_ns() : NAN, m->disturbances ? m->disturbances() : 0 };
}

/* True if the measuring threads waited for cores for more than MEASURE_WAITED_SHARE of the sample. If the
 * system does not report waiting time, a preemption counts, but only in short samples: one of many
 * scheduler ticks is almost always interrupted and hardly slower for it. */
static bool is_disturbed(const struct run *r, struct mark before, double took_ns, double expected_ns)
{
	struct mark now = mark_now(r);
	double waited = now.waited_ns - before.waited_ns;
	if (!isnan(waited))
		return waited > MEASURE_WAITED_SHARE * took_ns;
	return now.disturbances > before.disturbances && expected_ns < r->options->machine.long_ns;
}

/* Rests before a sample that is expected to take `ns`, on a machine with other work: after a disturbed one,
 * and when the time since the last rest is that of a time slice. A scheduler that shares the cores fairly
 * gives a thread that has slept its core soon, for a whole slice, in which several short samples fit. Returns
 * true if it rested. */
static bool rest_before(struct run *r, double ns)
{
	const struct measure_options *o = r->options;
	double used = o->now_ns() - r->rested_at;
	bool fresh = r->last_quiet && used + ns <= MEASURE_SLICE_NS;
	if (!o->machine.rest || !(*o->rest > 0) || fresh)
		return false;
	*o->rest = !r->last_quiet ? *o->rest : *o->rest < 0.1 ? 0 : MEASURE_REST_DECAY * *o->rest;
	o->machine.rest(fmin(*o->rest * fmax(ns, MEASURE_SLICE_NS), MEASURE_REST_MOST_NS));
	r->rested_at = o->now_ns();
	return true;
}

/* After a disturbed sample the threads rest, twice as long if they had just rested. The rest gets shorter
 * slowly while samples are undisturbed (rest_before). */
static void rest_learn(struct run *r, bool disturbed, bool rested)
{
	double *rest = r->options->rest;
	if (disturbed)
		*rest = fmin(fmax(rested ? 2 * *rest : *rest, 1), MEASURE_REST_MOST);
	r->last_quiet = !disturbed;
}

/* --- executions --- */

int64_t measure_executions_wanted(const struct run *r, double one_ns)
{
	int64_t n = measure_executions(one_ns);
	return n < 2 && one_ns < r->options->machine.alone_ns ? 2 : n;
}

int64_t measure_executions_for(const struct contender *c, enum launch launch)
{
	return launch == LAUNCH_AMORTIZED ? c->executions : 1;
}

/* Executes `times` times as a sample of this launch mode does. Returns as backend.run. */
static int measure_run(struct run *r, struct contender *c, struct state s, int64_t times, double *ns)
{
	const struct backend *b = backend_of(c);
	return s.launch == LAUNCH_AMORTIZED && b->amortized ?
		b->amortized(c->work, s.cache, times, ns, r->err) :
		b->run(c->work, s.cache, times, ns, r->err);
}

/* Brings the device into its steady state; no part of a sample or of its budget. */
static int device_settle(struct run *r, struct contender *c)
{
	const struct backend *b = backend_of(c);
	int bad = b->settle ? b->settle(c->work, r->err) : 0;
	return bad ? measure_give_up(r, c, backend_status(bad)) : 0;
}

static double clock_now(const struct contender *c)
{
	const struct backend *b = backend_of(c);
	return c->work && b->clock_mhz ? b->clock_mhz(c->work) : NAN;
}

/* Repeats at least WARM_UP_TRIES times if a thread lost its core: the number of executions and the first
 * comparison depend on this estimate. */
int measure_warm_up(struct run *r, struct contender *c, enum cache cache, double until_ns, double *fastest)
{
	if (device_settle(r, c))
		return -1;
	rest_before(r, 0);
	r->before = c;
	struct mark before = mark_now(r);
	double begin = r->options->now_ns(), warmed = c->warmed_ns, ns;
	*fastest = INFINITY;
	for (int i = 1;; i++) {
		int bad = backend_of(c)->run(c->work, cache, 1, &ns, r->err);
		if (bad)
			return measure_give_up(r, c, backend_status(bad));
		*fastest = fmin(*fastest, ns);
		double took = r->options->now_ns() - begin;
		c->warmed_ns = warmed + took;
		if (c->warmed_ns < until_ns)
			continue;
		bool quiet = !is_disturbed(r, before, took, *fastest);
		c->warmed_quiet = quiet && i > 1;
		if (i >= WARM_UP_TRIES || quiet || measure_is_over(r))
			return 0;
	}
}

/* Increases the executions per sample until the estimate of one is stable: n executions give a better
 * estimate, which gives a new n; at most REFINING_ROUNDS times and only if n grows by REFINING_FACTOR. A
 * single launch takes longer than one of many, on a GPU much longer: there even one execution is repeated as
 * an amortized sample. */
int measure_refine(struct run *r, struct contender *c, enum cache cache)
{
	int64_t before = backend_of(c)->amortized ? 0 : 1;
	for (int round = 0; round < REFINING_ROUNDS; round++) {
		int64_t times = measure_executions_wanted(r, c->one_ns);
		double ns;
		if (times < REFINING_FACTOR * before)
			break;
		int bad = measure_run(r, c, (struct state){ cache, LAUNCH_AMORTIZED }, times, &ns);
		if (bad)
			return measure_give_up(r, c, backend_status(bad));
		c->one_ns = fmin(c->one_ns, ns / (double)times);
		before = times;
	}
	c->executions = measure_executions_wanted(r, c->one_ns);
	if (before > 1 && c->executions <= REFINED_FACTOR * (double)before &&
		before <= REFINED_FACTOR * (double)c->executions)
		c->executions = before;
	return 0;
}

/* Takes a sample of twice as many executions after one that took `ns`: the growth has no fixed costs, such as
 * the start of a graph. Returns as backend.run. */
static int slope_take(struct run *r, struct contender *c, struct state s, int64_t times, double ns)
{
	struct mark before = mark_now(r);
	double both;
	int bad = measure_run(r, c, s, 2 * times, &both);
	if (!bad && !is_disturbed(r, before, both, 2 * ns))
		c->slope[c->slopes++] = (both - ns) / (double)times;
	return bad;
}

static bool wants_slope(const struct contender *c, struct state s, double ns)
{
	return c->wants_slopes && s.launch == LAUNCH_AMORTIZED && c->slopes < MEASURE_SLOPES &&
		c->last.quiet && ns <= MEASURE_SLOPE_MOST_NS;
}

static void clocks_add(struct clocks *c, double mhz)
{
	c->sum += isnan(mhz) ? 0 : mhz;
	c->count += !isnan(mhz);
}

/* Keeps a sample that took `ns`, with its clock. A disturbed one longer than a time slice of the scheduler is
 * corrected to the CPU time of the thread that ran longest: an upper value, because a thread that spins at a
 * barrier runs too. */
static void sample_keep(struct run *r, struct contender *c, struct mark before, double ns, int64_t times,
	bool rested)
{
	const struct machine *m = &r->options->machine;
	double ran = m->ran_ns ? m->ran_ns() : NAN;
	bool disturbed = is_disturbed(r, before, ns, c->one_ns * (double)times);
	bool is_long = c->one_ns * (double)times >= m->long_ns;
	bool corrected = disturbed && is_long && ran >= m->long_ns && ran < ns;
	c->last.ns = (corrected ? ran : ns) / (double)times;
	c->last.mhz = clock_now(c);
	c->last.quiet = !disturbed || corrected;
	c->corrected += corrected;
	c->one_ns = fmin(c->one_ns, c->last.ns);
	samples_add(&c->samples, c->last.ns);
	clocks_add(&c->clocks, c->last.mhz);
	if (c->last.quiet) {
		samples_add(&c->quiet, c->last.ns);
		if (!isnan(c->last.mhz))
			samples_add(&c->quiet_mhz, c->last.mhz);
	}
	rest_learn(r, disturbed, rested);
	if (disturbed)
		r->disturbed_by = isnan(before.waited_ns) ? INTERRUPTED : WAITED;
}

/* The untimed execution warms threads and activations. After a rest only a short sample has one: else it
 * would use up the time slice. On a device that settles, every sample has one. */
int measure_sample(struct run *r, struct contender *c, struct state s)
{
	int64_t times = measure_executions_for(c, s.launch);
	const struct machine *m = &r->options->machine;
	double ns;
	if (device_settle(r, c))
		return -1;
	double begin = r->options->now_ns();
	bool rested = rest_before(r, c->one_ns * (double)times);
	bool is_short = c->one_ns * (double)times < MEASURE_SLICE_NS / 4;
	bool cold = (rested ? is_short : r->before != c) || backend_of(c)->settle;
	r->before = c;
	int bad = cold && c->one_ns < LONG_EXECUTION_NS ?
		backend_of(c)->run(c->work, s.cache, 1, &ns, r->err) : 0;
	if (!bad) {
		struct mark before = mark_now(r);
		if (m->ran_mark)
			m->ran_mark();
		bad = measure_run(r, c, s, times, &ns);
		if (!bad)
			sample_keep(r, c, before, ns, times, rested);
	}
	if (!bad && wants_slope(c, s, ns))
		bad = slope_take(r, c, s, times, ns);
	if (bad)
		return measure_give_up(r, c, backend_status(bad));
	c->spent_ns += r->options->now_ns() - begin;
	return 0;
}

void measure_keep_first(struct contender *c)
{
	samples_add(&c->samples, c->first_ns);
	samples_add(&c->quiet, c->first_ns);
	c->spent_ns += c->first_ns;
}

void measure_forget_samples(struct contender *c)
{
	samples_clear(&c->samples);
	samples_clear(&c->quiet);
	samples_clear(&c->quiet_mhz);
	c->clocks = (struct clocks){ 0 };
	c->slopes = 0;
	c->corrected = 0;
	c->spent_ns = 0;
}

/* --- when to stop --- */

/* The samples that count: the undisturbed ones if there are any, else all. */
static const struct samples *samples_kept(const struct contender *c)
{
	return c->quiet.n > 0 ? &c->quiet : &c->samples;
}

/* Noisy: too few undisturbed samples, or the upper end is far above the cost. */
static bool is_noisy(const struct contender *c)
{
	const struct samples *kept = samples_kept(c);
	struct sample_stats stats;
	stats_compute(kept, &stats);
	return (c->quiet.n < MEASURE_LEAST_QUIET && c->quiet.n < c->samples.n) ||
		stats.p10_hi > (1 + MEASURE_WIDE) * stats.p10;
}

/* A long execution has few samples: the lower end of its interval is not asked for. */
static bool is_converged(const struct run *r, const struct contender *c)
{
	const struct samples *s = &c->quiet;
	double tolerance = r->options->machine.tolerance;
	int64_t lo, hi;
	if (s->n < MEASURE_LEAST_LONG || c->one_ns < r->options->machine.long_ns)
		return stats_converged(s, STATS_COST_QUANTILE, tolerance, STATS_COST_SAMPLES);
	stats_interval_ranks(s->n, STATS_COST_QUANTILE, &lo, &hi);
	return s->sorted[hi] <= (1 + tolerance) * s->sorted[0];
}

/* True if the time is over: the budget, or MEASURE_PATIENCE times as much while a short execution has too few
 * undisturbed samples. */
static bool is_late(const struct run *r, const struct contender *c)
{
	bool wanting = !r->options->repeats && c->one_ns < r->options->machine.long_ns &&
		c->quiet.n < STATS_COST_SAMPLES;
	return c->spent_ns >= (wanting ? MEASURE_PATIENCE : 1) * c->budget_ns ||
		c->samples.n >= MEASURE_MOST_SAMPLES;
}

/* Stops when the cost of the undisturbed samples has converged or the time is over. */
enum stop measure_stop(const struct run *r, const struct contender *c)
{
	if (is_converged(r, c))
		return STOP_CONVERGED;
	if (c->samples.n < MEASURE_FEWEST_SAMPLES || !(is_late(r, c) || measure_is_beaten(r, c)))
		return STOP_NONE;
	return is_noisy(c) ? STOP_DISTURBED : STOP_BUDGET;
}

/* Asked when the samples are complete: how they rotated depends on the graphs that they used. */
static double rotated_bytes(const struct contender *c, enum cache cache)
{
	bool rotates = c->work && backend_of(c)->rotated_bytes && cache != CACHE_WARM && cache != CACHE_COLD;
	return rotates ? backend_of(c)->rotated_bytes(c->work, cache) : 0;
}

static void why_add(struct contender *c, const char *text)
{
	size_t n = strlen(c->why);
	if (text && *text)
		snprintf(c->why + n, sizeof(c->why) - n, "%s%s", n ? "; " : "", text);
}

/* Compares the cost, a sample's time / N, with the growth from N to 2N executions. If they differ, the
 * interval contains both. */
static void slopes_judge(struct contender *c, struct sample_stats *stats)
{
	double low = INFINITY, high = 0, cost = stats_cost(stats);
	char line[160];
	for (int i = 0; i < c->slopes; i++) {
		low = fmin(low, c->slope[i]);
		high = fmax(high, c->slope[i]);
	}
	double tolerance = MEASURE_SLOPE_TOLERANCE * cost;
	if (c->slopes < MEASURE_SLOPES || !(low > cost + tolerance || high < cost - tolerance))
		return;
	snprintf(line, sizeof(line), "each execution more takes %.4g to %.4g us, not %.4g us", low / 1e3,
		high / 1e3, cost / 1e3);
	why_add(c, line);
	stats->p10_lo = fmin(stats->p10_lo, low); /* fmin and fmax ignore an unknown limit */
	stats->p10_hi = fmax(stats->p10_hi, high);
}

/* Of the undisturbed samples of a device with a clock those within MEASURE_CLOCK_APART of their median clock,
 * and their mean clock: a low quantile of all would be of short boosts of the clock. */
static const struct samples *samples_steady(struct contender *c, double *mhz)
{
	double steady = samples_quantile(&c->quiet_mhz, 0.5), sum = 0;
	samples_clear(&c->steady);
	for (int64_t i = 0; i < c->quiet.n; i++)
		if (fabs(c->quiet_mhz.taken[i] - steady) <= MEASURE_CLOCK_APART * steady) {
			samples_add(&c->steady, c->quiet.taken[i]);
			sum += c->quiet_mhz.taken[i];
		}
	*mhz = sum / (double)c->steady.n;
	return &c->steady;
}

void measure_emit(struct run *r, struct contender *c, struct state s, enum stop stop, int64_t executions)
{
	double mhz = c->clocks.count ? c->clocks.sum / (double)c->clocks.count : NAN;
	const struct samples *kept = samples_kept(c);
	if (kept == &c->quiet && c->quiet_mhz.n == c->quiet.n)
		kept = samples_steady(c, &mhz);
	const struct backend *b = backend_of(c);
	*c->why = '\0';
	struct result result = { .problem = r->text, .algorithm = *algorithm_of(c), .status = STATUS_OK,
		.cache = cache_in_pages(s.cache, r->options->huge), .launch = s.launch, .why = c->why,
		.kernels = c->kernels,
		.enqueue_ns = c->work && b->enqueue_ns ? b->enqueue_ns(c->work) : NAN,
		.clock_mhz = mhz,
		.rotated_bytes = rotated_bytes(c, s.cache) };
	if (*c->notes)
		result.algorithm.notes = c->notes;
	stats_compute(kept, &result.stats);
	result.stats.stop = stop;
	result.stats.executions = executions;
	result.stats.discarded = c->samples.n - kept->n;
	result.stats.spent = c->spent_ns;
	struct str sketch = { 0 };
	stats_sketch(kept, &sketch);
	result.sketch = sketch.p;
	if (stop == STOP_DISTURBED)
		why_add(c, r->disturbed_by ? r->disturbed_by : "its samples vary too much");
	if (c->corrected)
		why_add(c, CORRECTED);
	if (s.launch == LAUNCH_AMORTIZED)
		slopes_judge(c, &result.stats);
	if (c->work && b->remark)
		why_add(c, b->remark(c->work));
	r->any_ok = true;
	r->options->emit(r->options->user, &result, kept);
	str_free(&sketch);
}

static void emit_failure(struct run *r, const struct contender *c, struct state s, enum status status,
	const char *why)
{
	const struct samples none = { 0 };
	struct result result = { .problem = r->text,
		.algorithm = *algorithm_of(c),
		.status = status,
		.cache = cache_in_pages(s.cache, r->options->huge),
		.launch = s.launch,
		.why = why,
		.kernels = "",
		.enqueue_ns = NAN,
		.clock_mhz = NAN };
	stats_compute(&none, &result.stats);
	r->options->emit(r->options->user, &result, &none);
}

void measure_emit_beyond(struct run *r, const struct contender *c, struct state s)
{
	char why[160], needs[STR_QUANTITY], room[STR_QUANTITY];
	const struct measure_options *o = r->options;
	double share = o->rotation_bytes / (o->machine.shares_operands ? 1 : r->offers->count);
	snprintf(why, sizeof(why), "%s of copies of its constants are needed; there is room for %s",
		str_bytes(needs, cache_distance(s.cache)), str_bytes(room, fmin(share, MEASURE_SETS_BYTES)));
	emit_failure(r, c, s, STATUS_NO_MEMORY, why);
}

void measure_release(struct contender *c)
{
	if (c->work)
		backend_of(c)->release(c->work);
	c->work = NULL;
	c->kernels = "";
}

int measure_give_up(struct run *r, struct contender *c, enum status status)
{
	measure_release(c); /* first: the device may show only now that it is lost */
	r->dead = r->options->machine.is_alive && !r->options->machine.is_alive();
	r->status = r->dead ? STATUS_FAILED : status;
	emit_failure(r, c, r->states[0], r->status, r->err->text);
	return -1;
}
