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
#define INTERRUPTED "it was interrupted, or its clock fell"
#define REFINED_FACTOR 1.25    /* within it the last number is kept, as it is prepared */

/* --- quiet and noisy samples --- */

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

/* Ends the pending samples of a contender: quiet ones are kept. Of noisy ones only the minimum is used,
 * divided by the canary's slowdown: a lower bound of the time on a quiet machine (c->least_ns). O(pending
 * samples), each inserted into the sorted ones. */
static void settle(struct contender *c, bool quiet, double slower)
{
	struct pending *p = &c->pending;
	for (int64_t i = 0; quiet && i < p->samples.n; i++)
		samples_add(&c->quiet, p->samples.taken[i]);
	if (!quiet && p->samples.n)
		c->least_ns = fmin(c->least_ns, p->samples.sorted[0] / slower);
	c->quiet_ns += quiet ? p->ns : 0;
	samples_clear(&p->samples);
	p->ns = 0;
}

/* Adds to the outlook: sums of quiet and of all time that decay by exp(-ns / MEASURE_OUTLOOK_NS),
 * exponential moving averages in continuous time. Their ratio is the share of quiet time in the last
 * seconds, whatever the spacing of the calls. */
static void outlook_learn(struct measure_outlook *o, double quiet_ns, double ns)
{
	double kept = exp(-ns / MEASURE_OUTLOOK_NS);
	o->quiet_ns = o->quiet_ns * kept + quiet_ns;
	o->ns = o->ns * kept + ns;
}

/* Runs the canary and classifies the pending samples: they are quiet if it was as usual both before and
 * after them, so that only a disturbance shorter than this interval can be missed. Without a canary all
 * samples are quiet. */
static void canary_ask(struct run *r)
{
	const struct measure_options *o = r->options;
	const char *before = r->canary_says;
	double slower_before = r->canary_slower, quiet_ns = 0;
	if (o->machine.canary) {
		double begin = o->now_ns();
		r->canary_says = o->machine.canary(&r->canary_slower);
		r->canary_asked = o->now_ns();
		r->canary_cost_ns = r->canary_asked - begin;
	}
	bool quiet = !before && !r->canary_says;
	r->disturbed_by = r->canary_says ? r->canary_says : r->disturbed_by;
	for (int i = 0; i < r->count; i++) {
		quiet_ns += quiet ? r->contenders[i].pending.ns : 0;
		settle(&r->contenders[i], quiet, fmax(slower_before, r->canary_slower));
	}
	outlook_learn(o->outlook, quiet_ns, r->unsettled_ns);
	r->unsettled_ns = 0;
}

/* True if the canary should run: rarely enough that it costs at most MEASURE_CANARY_SHARE of the time. */
static bool canary_is_due(const struct run *r)
{
	double pause = fmax(MEASURE_CANARY_NS, r->canary_cost_ns / MEASURE_CANARY_SHARE);
	return !r->options->machine.canary || !(r->options->now_ns() - r->canary_asked < pause);
}

static double budget_for_quiet(const struct contender *c)
{
	return MEASURE_QUIET_SHARE * c->budget_ns;
}

/* True if the remaining budget cannot give enough quiet samples, assuming the share of quiet time of the
 * last seconds. MEASURE_HOPE_NS of quiet time is added to both sums (additive smoothing), so that the
 * share is never 0. An amortized sample costs one untimed execution more. */
static bool is_hopeless(const struct run *r, const struct contender *c)
{
	const struct measure_outlook *o = r->options->outlook;
	double share = (o->quiet_ns + MEASURE_HOPE_NS) / (o->ns + MEASURE_HOPE_NS),
	       left = c->budget_ns - c->spent_ns;
	double enough =
		fmin(MEASURE_LEAST_SAMPLES * c->one_ns * (double)(c->executions + 1), budget_for_quiet(c));
	return left <= 0 || left * share <= enough - c->quiet_ns;
}

/* Repeats the canary until it is as usual, since samples of a noisy machine are of little use. The time
 * counts for all contenders, because all wait. */
static void quiet_await(struct run *r, const struct contender *waiting)
{
	while (r->canary_says && !is_hopeless(r, waiting) && !measure_is_over(r)) {
		double begin = r->options->now_ns();
		canary_ask(r);
		r->unsettled_ns = r->options->now_ns() - begin;
		for (int i = 0; i < r->count; i++)
			r->contenders[i].spent_ns += r->unsettled_ns;
	}
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
		if (c->warmed_ns >= until_ns &&
			(i >= WARM_UP_TRIES || !is_disturbed(r, before, took, *fastest) ||
				measure_is_over(r)))
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

/* Keeps clock and quality of the sample that was just taken. */
static void last_note(struct run *r, struct contender *c, struct mark before, double ns, int64_t times)
{
	c->last.ns = ns / (double)times;
	c->last.mhz = clock_now(c);
	c->one_ns = fmin(c->one_ns, c->last.ns);
	c->last.quiet = !is_disturbed(r, before, ns, c->one_ns * (double)times);
	samples_add(&c->samples, c->last.ns);
	clocks_add(&c->clocks, c->last.mhz);
	if (c->last.quiet)
		clocks_add(&c->quiet_clocks, c->last.mhz);
}

/* One sample: an untimed execution, which warms threads and activations after other algorithms or the
 * canary ran, then `times` timed ones. The samples stay pending until the canary ran again. */
int measure_sample(struct run *r, struct contender *c, struct state s)
{
	int64_t times = measure_executions_for(c, s.launch);
	struct mark before = { 0 };
	double ns;
	if (isnan(r->canary_asked))
		canary_ask(r);
	quiet_await(r, c);
	if (device_settle(r, c))
		return -1;
	double begin = r->options->now_ns();
	int bad = c->one_ns < LONG_EXECUTION_NS ? backend_of(c)->run(c->work, s.cache, 1, &ns, r->err) : 0;
	if (!bad) {
		before = mark_now(r);
		bad = measure_run(r, c, s, times, &ns);
	}
	if (!bad) {
		last_note(r, c, before, ns, times);
		bad = wants_slope(c, s, ns) ? slope_take(r, c, s, times, ns) : 0;
	}
	if (bad)
		return measure_give_up(r, c, backend_status(bad));
	double cost = r->options->now_ns() - begin;
	c->spent_ns += cost;
	r->unsettled_ns += cost;
	if (c->last.quiet) {
		samples_add(&c->pending.samples, c->last.ns);
		c->pending.ns += cost;
	} else {
		r->disturbed_by = isnan(before.waited_ns) ? INTERRUPTED : WAITED;
	}
	if (canary_is_due(r))
		canary_ask(r);
	return 0;
}

void measure_forget_samples(struct contender *c)
{
	samples_clear(&c->samples);
	samples_clear(&c->quiet);
	settle(c, false, NAN);
	c->clocks = c->quiet_clocks = (struct clocks){ 0 };
	c->slopes = 0;
	c->spent_ns = c->quiet_ns = 0;
	c->least_ns = INFINITY;
}

/* --- when to stop --- */

/* The samples that count: the quiet ones if there are enough of them, or if they took their share of the
 * budget (a slow problem has few), else all. No weighting: a noisy sample has no known error. */
static const struct samples *samples_kept(const struct contender *c)
{
	bool enough = c->quiet.n >= MEASURE_LEAST_QUIET ||
		(c->quiet.n > 0 && c->quiet_ns >= budget_for_quiet(c));
	return enough ? &c->quiet : &c->samples;
}

/* True if the median is far above the minimum: a disturbance was not detected. */
static bool is_scattered(const struct samples *s)
{
	return s->n >= MEASURE_LEAST_QUIET && s->sorted[s->n / 2] > MEASURE_SCATTER_FACTOR * s->sorted[0];
}

/* Stops when the quiet samples have converged or the budget is used. If no quiet samples are expected,
 * part of the budget is enough (STOP_DISTURBED). */
static enum stop stop_reason(const struct run *r, const struct contender *c)
{
	const struct samples *kept = samples_kept(c);
	bool quiet = (kept == &c->quiet || c->quiet.n + c->pending.samples.n == c->samples.n) &&
		!is_scattered(kept);
	if (quiet && stats_converged(kept, r->options->machine.tolerance, MEASURE_LEAST_SAMPLES))
		return STOP_CONVERGED;
	bool useless = !quiet && c->spent_ns >= MEASURE_DISTURBED_SHARE * c->budget_ns && is_hopeless(r, c) &&
		stats_converged(&c->samples, MEASURE_DISTURBED_TOLERANCE, MEASURE_LEAST_SAMPLES);
	if (c->samples.n == 0 ||
		(c->spent_ns < c->budget_ns && c->samples.n < MEASURE_MOST_SAMPLES && !useless))
		return STOP_NONE;
	return quiet ? STOP_BUDGET : STOP_DISTURBED;
}

/* The reason to stop, or STOP_NONE. Before stopping, the canary runs once more and decides on the samples
 * still pending, which may change the answer. */
enum stop measure_stop(struct run *r, struct contender *c)
{
	enum stop stop = stop_reason(r, c);
	if (stop == STOP_NONE || c->pending.samples.n == 0)
		return stop;
	canary_ask(r);
	return stop_reason(r, c);
}

/* Asked when the samples are complete: how they rotated depends on the graphs that they used. */
static double rotated_bytes(const struct contender *c)
{
	return c->work && backend_of(c)->rotated_bytes ? backend_of(c)->rotated_bytes(c->work) : 0;
}

static void why_add(struct contender *c, const char *text)
{
	size_t n = strlen(c->why);
	if (text && *text)
		snprintf(c->why + n, sizeof(c->why) - n, "%s%s", n ? "; " : "", text);
}

/* Compares the median, a sample's time / N, with the growth from N to 2N executions. If they differ, the
 * interval contains both. */
static void slopes_judge(struct contender *c, struct sample_stats *stats)
{
	double low = INFINITY, high = 0, tolerance = MEASURE_SLOPE_TOLERANCE * stats->median;
	char line[160];
	for (int i = 0; i < c->slopes; i++) {
		low = fmin(low, c->slope[i]);
		high = fmax(high, c->slope[i]);
	}
	bool differ = low > stats->median + tolerance || high < stats->median - tolerance;
	if (c->slopes < MEASURE_SLOPES || !differ)
		return;
	snprintf(line, sizeof(line), "each execution more takes %.4g to %.4g us, not the median's %.4g us",
		low / 1e3, high / 1e3, stats->median / 1e3);
	why_add(c, line);
	stats->lo = fmin(stats->lo, low); /* fmin and fmax ignore an unknown limit */
	stats->hi = fmax(stats->hi, high);
}

void measure_emit(struct run *r, struct contender *c, struct state s, enum stop stop, int64_t executions)
{
	const struct samples *kept = samples_kept(c);
	const struct backend *b = backend_of(c);
	const struct clocks *clocks = kept == &c->quiet ? &c->quiet_clocks : &c->clocks;
	*c->why = '\0';
	struct result result = { .problem = r->text, .algorithm = *algorithm_of(c), .status = STATUS_OK,
		.cache = s.cache, .launch = s.launch, .why = c->why, .kernels = c->kernels,
		.enqueue_ns = c->work && b->enqueue_ns ? b->enqueue_ns(c->work) : NAN,
		.clock_mhz = clocks->count ? clocks->sum / (double)clocks->count : NAN,
		.rotated_bytes = s.cache == CACHE_NET ? rotated_bytes(c) : 0 };
	if (*c->notes)
		result.algorithm.notes = c->notes;
	stats_compute(kept, &result.stats);
	result.stats.stop = stop;
	result.stats.executions = executions;
	result.stats.discarded = c->samples.n - kept->n;
	if (stop == STOP_DISTURBED)
		why_add(c, r->disturbed_by ? r->disturbed_by : "its samples vary too much");
	if (stop == STOP_DISTURBED && kept->n > 1) { /* no sample can be preferred: give the whole range */
		result.stats.lo = fmin(kept->sorted[0], c->least_ns);
		result.stats.hi = kept->sorted[kept->n - 1];
	}
	if (s.launch == LAUNCH_AMORTIZED)
		slopes_judge(c, &result.stats);
	if (c->work && b->remark)
		why_add(c, b->remark(c->work));
	r->any_ok = true;
	r->options->emit(r->options->user, &result, kept);
}

static void emit_failure(struct run *r, struct contender *c, enum status status, const char *why)
{
	const struct samples none = { 0 };
	struct result result = { .problem = r->text,
		.algorithm = *algorithm_of(c),
		.status = status,
		.cache = r->states[0].cache,
		.launch = r->states[0].launch,
		.why = why,
		.kernels = "",
		.enqueue_ns = NAN,
		.clock_mhz = NAN };
	stats_compute(&none, &result.stats);
	r->status = status;
	r->options->emit(r->options->user, &result, &none);
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
	emit_failure(r, c, r->dead ? STATUS_FAILED : status, r->err->text);
	return -1;
}
