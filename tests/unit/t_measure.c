#include "config.h"

#include "tests/unit/seen_results.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

#include "base/arena.h"
#include "runner/verify/tolerance.h"
#include "runner/measure/measure.h"

#define LONG_NS 5e6

/* --- measuring, with an invented backend and clock --- */

struct invented {
	const char *name;
	double ns;          /* an execution */
	double noise;       /* relative, alternating */
	double spread;      /* relative, added: uniform from 0 to this, in an order without a pattern */
	int prepared, executions, runs;
	int64_t sets;       /* that it was told to rotate through */
	bool fails_prepare;
	int fails_run_at;   /* run number, 0 never */
	int disturbed_from; /* runs from this number on are slow and counted as preempted, 0 never */
	int disturbed_each; /* every n-th of those runs */
	double launch_ns;   /* a run takes this besides its executions */
	double worst;       /* what the check finds, NaN: it cannot compare */
	const char *check_says;
	int checked;
	int dies_at;        /* run number at which the device is lost, 0 never */
	const char *math;   /* NULL: strict */
	const char *notes;
	int64_t cold_sets;
	enum cache last_cache;
	enum matrix matrix;
};

static struct {
	struct invented algorithm[8];
	struct algorithm list[8];
	int count, alive, most_alive;
	int other;       /* number of the other backend's algorithms */
	const char *refuses, *other_refuses;
	int other_prefers;
	bool dead, has_check;
	bool shares;
	int most;
	double glance_ns, alone_ns;
	bool cold;       /* cold is asked for too */
	bool near, huge; /* two reuse distances instead of net; in huge pages */
	bool only_far;   /* only the farther one of these */
	double room;     /* for copies; 0: 1 MB */
	bool quick, repeats;
	double now;
	int64_t preemptions;
	bool tells_waiting;
	double waited;   /* of the measured threads, so far */
	double waits_until, waits_ns; /* each run before that time waits so long for a core */
	double drift;    /* everything gets slower by this share a second */
	double rest;     /* from one problem to the next */
	double rested;   /* in all */
	bool may_rest;
	double share;    /* of their cores, for the measured threads; 0: all */
	double credit;   /* time that they may run before they have to wait */
	bool tells_running;
	double ran, ran_mark; /* by the measured threads, so far; when marked */
	double slow_each;             /* 0: once */
	double slow_from, slow_until; /* between these times everything takes twice as long */
	char order[4096]; /* indices of timed runs, one digit each */
} fake;

static double fake_now(void)
{
	return fake.now;
}

static int64_t fake_preemptions(void)
{
	return fake.preemptions;
}

static double fake_waited(void)
{
	return fake.waited;
}

static bool is_slow_now(void)
{
	double now = fake.slow_each > 0 ? fmod(fake.now, fake.slow_each) : fake.now;
	return now >= fake.slow_from && now < fake.slow_until;
}

static void fake_mark(void)
{
	fake.ran_mark = fake.ran;
}

static double fake_ran(void)
{
	return fake.ran - fake.ran_mark;
}

static void fake_rest(double ns)
{
	fake.credit = fmin(fake.credit + fake.share * ns, 3e6);
	fake.now += ns;
	fake.rested += ns;
}

static int list_fill(struct backend_list *list, int first, int count, const char *api)
{
	for (int i = 0; i < count; i++) {
		const struct invented *v = &fake.algorithm[first + i];
		fake.list[first + i] = (struct algorithm){ .api = api,
			.name = v->name,
			.layouts = "",
			.math = v->math ? v->math : "strict",
			.rank = i,
			.matrix = v->matrix,
			.notes = v->notes ? v->notes : "a note" };
	}
	list->count = count;
	list->algorithm = fake.list + first;
	return 0;
}

static int fake_algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	(void)p;
	return fake.refuses ? error_set(err, "%s", fake.refuses) : list_fill(list, 0, fake.count, "fake");
}

static int other_algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	(void)p;
	return fake.other_refuses ? error_set(err, "%s", fake.other_refuses) :
		list_fill(list, fake.count, fake.other, "other");
}

static int other_preference(const struct problem *p)
{
	(void)p;
	return fake.other_prefers;
}

static void fake_forget(struct backend_list *list)
{
	list->count = 0;
}

static void *fake_prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	struct invented *v = &fake.algorithm[list->algorithm - fake.list + index];
	v->prepared++;
	v->sets = limits->sets;
	v->cold_sets = limits->cold_sets;
	if (v->fails_prepare) {
		*status = STATUS_NO_MEMORY;
		error_set(err, "none left");
		return NULL;
	}
	fake.alive++;
	if (fake.alive > fake.most_alive)
		fake.most_alive = fake.alive;
	return v;
}

static int fake_run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	struct invented *v = work;
	v->last_cache = cache;
	v->runs++;
	if (v->dies_at && v->runs >= v->dies_at) {
		fake.dead = true;
		return error_set(err, "illegal address");
	}
	v->executions += (int)times;
	if (v->fails_run_at && v->runs >= v->fails_run_at)
		return error_set(err, "broke");
	*elapsed_ns = v->launch_ns + v->ns * (double)times * (1 + (v->runs % 4 < 2 ? v->noise : -v->noise));
	if (v->disturbed_from && v->runs >= v->disturbed_from && v->runs % v->disturbed_each == 0) {
		*elapsed_ns *= v->ns < LONG_NS ? 10 : 1;
		fake.preemptions++;
	}
	*elapsed_ns *= (is_slow_now() ? 2 : 1) * (1 + fake.drift * fake.now / 1e9);
	*elapsed_ns *= 1 + v->spread * (double)(v->runs * 7919L % 1009) / 1009;
	fake.ran += *elapsed_ns;
	fake.credit -= *elapsed_ns;
	if (fake.share > 0 && fake.credit < 0) {
		*elapsed_ns += 6e6;
		fake.waited += 6e6;
		fake.credit = 1e6;
	}
	if (fake.now < fake.waits_until) {
		*elapsed_ns += fake.waits_ns;
		fake.waited += fake.waits_ns;
	}
	fake.now += *elapsed_ns;
	size_t n = strlen(fake.order);
	if (n + 1 < sizeof(fake.order))
		fake.order[n] = (char)('0' + (v - fake.algorithm));
	return 0;
}

static int fake_check(void *work, double *worst, struct error *err)
{
	struct invented *v = work;
	v->checked++;
	*worst = v->worst;
	if (v->check_says)
		error_set(err, "%s", v->check_says);
	return isnan(v->worst) ? -1 : 0;
}

static bool fake_is_alive(void)
{
	return !fake.dead;
}

static const char *fake_kernels(void *work)
{
	return ((struct invented *)work)->name;
}

static double fake_enqueue(const void *work)
{
	return ((const struct invented *)work)->launch_ns;
}

static double fake_clock(const void *work)
{
	return ((const struct invented *)work)->ns;
}

static double fake_rotated(const void *work, enum cache cache)
{
	const struct invented *v = work;
	return cache == CACHE_NET ? (double)v->sets * 400 : 200;
}

static void fake_release(void *work)
{
	(void)work;
	fake.alive--;
}

static const struct backend fake_backend = { .api = "fake",
	.algorithms = fake_algorithms,
	.forget = fake_forget,
	.prepare = fake_prepare,
	.run = fake_run,
	.rotated_bytes = fake_rotated,
	.release = fake_release };
static const struct backend full_backend = { .api = "fake",
	.algorithms = fake_algorithms,
	.forget = fake_forget,
	.prepare = fake_prepare,
	.run = fake_run,
	.rotated_bytes = fake_rotated,
	.release = fake_release,
	.check = fake_check,
	.kernels = fake_kernels,
	.enqueue_ns = fake_enqueue,
	.clock_mhz = fake_clock };
static const struct backend other_backend = { .api = "other",
	.algorithms = other_algorithms,
	.forget = fake_forget,
	.prepare = fake_prepare,
	.run = fake_run,
	.rotated_bytes = fake_rotated,
	.release = fake_release,
	.preference = other_preference };
static const struct backend *const fake_backends[] = { &fake_backend, NULL };
static const struct backend *const full_backends[] = { &full_backend, NULL };
static const struct backend *const both_backends[] = { &fake_backend, &other_backend, NULL };

static const struct result *find(const struct seen *s, const char *name, enum cache c, enum launch l)
{
	for (int i = 0; i < s->count; i++)
		if (strcmp(s->results[i].algorithm.name, name) == 0 && s->results[i].cache == c &&
			s->results[i].launch == l)
			return &s->results[i];
	return NULL;
}

struct outcome {
	struct seen seen;
	enum status status;
	int stopped;
	struct error err;
};

/* Measures the invented algorithms; both launches and cache states are wanted. */
static void measure(struct outcome *o, const char *text, double budget_ns, int cancel_after, bool has_matrix)
{
	struct problem p;
	struct offers offers;
	*o = (struct outcome){ .seen = { .cancel_after = cancel_after } };
	fake.now = 0;
	fake.alive = fake.most_alive = 0;
	memset(fake.order, 0, sizeof(fake.order));
	struct measure_options options = { .rest = &fake.rest,
		.budget_ns = budget_ns,
		.caches = { !fake.near, true, fake.cold, [CACHE_NEAREST] = fake.near && !fake.only_far,
			[CACHE_NEAREST + 1] = fake.near },
		.huge = fake.huge,
		.launches = { true, true },
		.machine.tolerance = 0.02,
		.machine.long_ns = LONG_NS,
		.memory_bytes = 1e9,
		.rotation_bytes = fake.room > 0 ? fake.room : 1e6,
		.llc_bytes = 100e3,
		.now_ns = fake_now,
		.machine.disturbances = fake_preemptions,
		.machine.waited_ns = fake.tells_waiting ? fake_waited : NULL,
		.machine.ran_mark = fake.tells_running ? fake_mark : NULL,
		.machine.ran_ns = fake.tells_running ? fake_ran : NULL,
		.machine.rest = fake.may_rest ? fake_rest : NULL,
		.user = &o->seen,
		.has_matrix = has_matrix,
		.cancelled = seen_cancelled,
		.most = fake.most,
		.quick = fake.quick,
		.repeats = fake.repeats,
		.machine.glance_ns = fake.glance_ns,
		.machine.alone_ns = fake.alone_ns,
		.machine.shares_operands = fake.shares,
		.machine.is_alive = fake_is_alive,
		.trying = seen_trying,
		.emit = seen_emit };
	if (problem_parse(text_of(text), &p, &o->err) ||
		offers_open(&offers,
			fake.other		 ? both_backends
				: fake.has_check ? full_backends
						 : fake_backends,
			&p, false, &o->err))
		return;
	o->stopped = measure_problem(&offers, &p, text, &options, &o->status, &o->err);
	offers_close(&offers);
}

#define PLAIN "eltwise:f32,f32:relu:100"
#define WITH_CONSTANT "binary:f32,f32.c,f32:add:100:100"

static void test_one(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.algorithm[0] = (struct invented){ .name = "only", .ns = 1000, .noise = 0.001 };
	measure(&o, PLAIN, 200e6, 0, false);
	is_int(o.status, STATUS_OK, "measured");
	is_int(o.seen.count, 2, "no constant operand: net alone, in both launches");
	const struct result *r = find(&o.seen, "only", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_CONVERGED && r->stats.n == STATS_COST_SAMPLES,
		"converged at the least number of samples");
	ok(r && r->stats.executions >= 200 && r->stats.executions < 203, "an amortized sample takes 200 us");
	near(r ? r->stats.median : NAN, 1000, 0.01, "and is divided by its executions");
	r = find(&o.seen, "only", CACHE_NET, LAUNCH_ISOLATED);
	ok(r && r->stats.executions == 1, "an isolated one is a single execution");
	ok(fake.algorithm[0].executions >= 5000, "warmed up for 5 ms");
	is_int(fake.alive, 0, "released");
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	is_int(o.seen.count, 4, "with a constant operand: net and warm");
}

/* The first choice that runs, in the first state, with few samples: no check, no other algorithm. */
static void test_quick(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.quick = fake.has_check = true;
	fake.count = 3;
	fake.algorithm[0] = (struct invented){ .name = "absent", .ns = 1000, .fails_prepare = true };
	fake.algorithm[1] = (struct invented){ .name = "first", .ns = 3000, .worst = 1 };
	fake.algorithm[2] = (struct invented){ .name = "best", .ns = 1000 };
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	is_int(o.status, STATUS_OK, "quick: measured");
	is_int(o.seen.count, 2, "the one that fails and the first that runs, in one state");
	const struct result *r = find(&o.seen, "first", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST && r->stats.n == MEASURE_QUICK_SAMPLES, "with few samples");
	near(r ? r->stats.median : NAN, 3000, 0.01, "its time");
	ok(strstr(o.seen.notes[1], "unchecked") && fake.algorithm[1].checked == 0,
		"its outputs are not checked, which is noted: %s", o.seen.notes[1]);
	ok(fake.algorithm[2].prepared == 0 && fake.alive == 0, "no other one is prepared, all are released");
	ok(fake.now < 4e6, "in a few milliseconds, without the warm-up: %g ms", fake.now / 1e6);
	fake.algorithm[1].fails_run_at = 3;
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.status == STATUS_OK && find(&o.seen, "best", CACHE_NET, LAUNCH_AMORTIZED),
		"one that fails as it runs is followed by the next");
	measure(&o, PLAIN, 200e6, 2, false);
	ok(o.stopped != 0 && fake.alive == 0, "it can be cancelled");
}

/* A repeated measurement ends with its budget, without a check; the first one waits for 29 samples. */
static void test_repeats(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.has_check = true;
	fake.count = 1;
	for (int repeats = 0; repeats < 2; repeats++) {
		fake.repeats = repeats;
		fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1e6, .spread = 0.5 };
		measure(&o, PLAIN, 40e6, 0, false);
		const struct result *r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
		int64_t n = r ? r->stats.n : 0;
		ok(repeats ? n >= 10 && n < 25 : n >= 29, "%lld samples", (long long)n);
		ok((fake.algorithm[0].checked == 0) == repeats, repeats ? "without a check" : "checked");
	}
}

static void test_budget(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.algorithm[0] = (struct invented){ .name = "noisy", .ns = 1e6, .spread = 0.5 };
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	const struct result *r = find(&o.seen, "noisy", CACHE_WARM, LAUNCH_ISOLATED);
	ok(r && r->stats.stop == STOP_BUDGET, "noise: the budget stops it");
	ok(r && r->stats.n >= 37 && r->stats.n <= 45,
		"after a quarter of the budget: of four states two are measured as one with their like");
	is_int(o.seen.count, 4, "long executions: isolated ones are what amortized ones are");
	ok(fake.algorithm[0].executions < 130, "and not taken twice");
	fake.algorithm[0] = (struct invented){ .name = "slow", .ns = 3e9 };
	measure(&o, PLAIN, 10e6, 0, false);
	r = find(&o.seen, "slow", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.n == MEASURE_FEWEST_SAMPLES && r->stats.stop == STOP_BUDGET,
		"slower than its budget: three samples");
	is_int(fake.algorithm[0].executions, 1 + MEASURE_FEWEST_SAMPLES, "and one warm-up");
}

static void test_shortlist(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 6;
	fake.algorithm[0] = (struct invented){ .name = "first", .ns = 2000e3 };
	fake.algorithm[1] = (struct invented){ .name = "best", .ns = 500e3 };
	fake.algorithm[2] = (struct invented){ .name = "hopeless", .ns = 2100e3 };
	fake.algorithm[3] = (struct invented){ .name = "close", .ns = 540e3 };
	fake.algorithm[5] = (struct invented){ .name = "beaten", .ns = 600e3 };
	fake.algorithm[4] = (struct invented){ .name = "behind", .ns = 700e3 };
	measure(&o, PLAIN, 200e6, 0, false);
	const struct result *r = find(&o.seen, "hopeless", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST && r->stats.n == 1,
		"4 times the best: dropped after one sample");
	r = find(&o.seen, "behind", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST && r->stats.n == 3, "further than 1.25 times: three samples");
	ok(!find(&o.seen, "behind", CACHE_NET, LAUNCH_ISOLATED), "and no more");
	r = find(&o.seen, "close", CACHE_NET, LAUNCH_ISOLATED);
	ok(r && r->stats.stop == STOP_CONVERGED, "within 1.1 times: in full");
	r = find(&o.seen, "beaten", CACHE_NET, LAUNCH_ISOLATED);
	ok(r && r->stats.stop == STOP_BUDGET && r->stats.n == MEASURE_LEAST_LONG,
		"within 1.25 times: ten samples, which show that it is slower by more than a tenth");
	r = find(&o.seen, "first", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_CONVERGED, "the library's first choice: in full, however slow");
	ok(strstr(fake.order, "00111133335555001111") != NULL, "what is compared is measured in turn");
	ok(fake.most_alive <= 4 && fake.alive == 0, "what fell behind is released at once");
	is_int(o.seen.count, 2 * 4 + 2, "every result once");
}

static void test_matrix(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 3;
	fake.algorithm[0] = (struct invented){ .name = "amx", .ns = 100e3, .matrix = MATRIX_YES };
	fake.algorithm[1] = (struct invented){ .name = "vector", .ns = 300e3, .matrix = MATRIX_NO };
	fake.algorithm[2] = (struct invented){ .name = "slower vector", .ns = 390e3, .matrix = MATRIX_NO };
	measure(&o, PLAIN, 200e6, 0, true);
	const struct result *r = find(&o.seen, "vector", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_CONVERGED, "the fastest without matrix units is measured in full");
	r = find(&o.seen, "slower vector", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST, "others without are not");
	measure(&o, PLAIN, 200e6, 0, false);
	r = find(&o.seen, "vector", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST, "nor any where there are no matrix units");
}

static void test_in_place(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 3;
	fake.algorithm[0] = (struct invented){ .name = "over", .ns = 100e3, .notes = "a note in_place" };
	fake.algorithm[1] = (struct invented){ .name = "apart", .ns = 300e3 };
	fake.algorithm[2] = (struct invented){ .name = "slower apart", .ns = 390e3 };
	measure(&o, PLAIN, 200e6, 0, false);
	const struct result *r = find(&o.seen, "apart", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_CONVERGED, "the fastest that is not in place is measured in full");
	r = find(&o.seen, "slower apart", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST, "others are not");
}

static void test_failures(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 3;
	fake.algorithm[0] = (struct invented){ .name = "big", .ns = 1e5, .fails_prepare = true };
	fake.algorithm[1] = (struct invented){ .name = "good", .ns = 1e6 };
	fake.algorithm[2] = (struct invented){ .name = "breaks", .ns = 1e6, .fails_run_at = 12 };
	measure(&o, PLAIN, 200e6, 0, false);
	is_int(o.status, STATUS_OK, "one good algorithm makes a measured problem");
	ok(o.seen.results[0].status == STATUS_NO_MEMORY, "the one that does not fit");
	is_str(o.seen.why[0], "none left", "says why");
	bool broke = false;
	for (int i = 0; i < o.seen.count; i++)
		broke = broke ||
			(o.seen.results[i].status == STATUS_FAILED && strcmp(o.seen.why[i], "broke") == 0);
	ok(broke, "the one that breaks on the way too");
	is_int(fake.alive, 0, "nothing leaks");
	fake.count = 1;
	measure(&o, PLAIN, 200e6, 0, false);
	is_int(o.status, STATUS_NO_MEMORY, "nothing measured: the problem's status is the reason");
}

static void test_disturbed(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.algorithm[0] =
		(struct invented){ .name = "a", .ns = 1e6, .disturbed_from = 6, .disturbed_each = 3 };
	measure(&o, PLAIN, 1e9, 0, false);
	const struct result *r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.discarded > 0 && r->stats.stop == STOP_CONVERGED,
		"disturbed samples are thrown away and counted");
	near(r ? r->stats.stdev : NAN, 0, 1e-9, "none is left in the statistics");
	fake.preemptions = 0;
	fake.algorithm[0] =
		(struct invented){ .name = "a", .ns = 0.4e6, .disturbed_from = 1, .disturbed_each = 1 };
	measure(&o, PLAIN, 400e6, 0, false);
	r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.n >= 10 && r->stats.discarded == 0 && r->stats.stop == STOP_DISTURBED,
		"a machine that disturbs every sample: all of them count, and it says so");
	is_str(r ? o.seen.why[r - o.seen.results] : "", "it was interrupted, or its clock fell",
		"with the reason");
	fake.algorithm[0] = (struct invented){
		.name = "a", .ns = 1e6, .spread = 0.5, .disturbed_from = 6, .disturbed_each = 3
	};
	measure(&o, PLAIN, 150e6, 0, false);
	r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_BUDGET && r->stats.n >= 6 && r->stats.discarded > 0 &&
			r->stats.mean < 1.3e6,
		"where the budget ends before they converge, quiet ones stand for all");
	fake.algorithm[0] =
		(struct invented){ .name = "a", .ns = 1.25e6, .disturbed_from = 5, .disturbed_each = 1 };
	measure(&o, PLAIN, 20e6, 0, false);
	r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_DISTURBED && r->stats.discarded == 0 && r->stats.hi > 12e6,
		"without any, it ends all the same");
}

/* A core that was taken away before a sample and comes back in it: no switch is counted, but the threads
 * waited. */
static void test_waited(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.tells_waiting = true;
	fake.algorithm[0] = (struct invented){ .name = "tiny", .ns = 1000 };
	fake.waits_ns = 20e6;
	fake.waits_until = 50e6;
	measure(&o, PLAIN, 200e6, 0, false);
	const struct result *r = find(&o.seen, "tiny", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.executions == 200 && r->stats.median == 1000,
		"a first execution that had to wait is not what one takes");
	fake.waited = 0;
	fake.waits_until = 150e6;
	measure(&o, PLAIN, 400e6, 0, false);
	r = find(&o.seen, "tiny", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.median == 1000 && r->stats.discarded > 0 && r->stats.stop == STOP_CONVERGED,
		"nor are samples that had to: %.0f ns", r ? r->stats.median : NAN);
	fake.waits_ns = 9;
	fake.waits_until = INFINITY;
	measure(&o, PLAIN, 400e6, 0, false);
	r = find(&o.seen, "tiny", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.discarded == 0 && r->stats.stop == STOP_CONVERGED,
		"a share that is hardly seen costs nothing");
	fake.waits_ns = 20e6;
	measure(&o, PLAIN, 100e6, 0, false);
	r = find(&o.seen, "tiny", CACHE_NET, LAUNCH_ISOLATED);
	ok(r && r->stats.stop == STOP_DISTURBED, "where they always wait, the result says so");
	fake.algorithm[0].ns = 800e6;
	fake.waits_ns = 400e6;
	measure(&o, PLAIN, 200e6, 0, false);
	r = find(&o.seen, "tiny", CACHE_NET, LAUNCH_ISOLATED);
	ok(r && r->stats.stop == STOP_DISTURBED && r->stats.n == MEASURE_FEWEST_SAMPLES, "of long ones too");
}

/* Other work has most of the cores. Threads that rest have theirs at once when they need them. */
static void test_rest(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.tells_waiting = true;
	fake.share = 0.33;
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1.5e6 };
	measure(&o, PLAIN, 200e6, 0, false);
	const struct result *r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_DISTURBED && stats_cost(&r->stats) == 7.5e6,
		"without rests every sample waits for cores");
	fake.may_rest = true;
	fake.waited = 0;
	measure(&o, PLAIN, 200e6, 0, false);
	r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.p10_hi == 1.5e6 && r->stats.stop == STOP_CONVERGED && r->stats.discarded > 0,
		"with rests %d of %d do not", r ? (int)r->stats.n : 0,
		r ? (int)(r->stats.n + r->stats.discarded) : 0);
	ok(fake.rested > 0 && fake.rested < 8 * 1.5e6 * 60, "it rested %.0f ms", fake.rested / 1e6);
	fake.share = 0;
	measure(&o, PLAIN, 100e6, 0, false);
	fake.rested = 0;
	measure(&o, PLAIN, 100e6, 0, false);
	ok(fake.rested == 0 && fake.rest == 0, "when the other work ends, so do the rests");
}

/* Longer than a time slice: it always waits, and is corrected by what its threads ran. */
static void test_corrected(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.tells_waiting = fake.tells_running = true;
	fake.waits_ns = 40e6;
	fake.waits_until = INFINITY;
	fake.algorithm[0] = (struct invented){ .name = "long", .ns = 20e6 };
	measure(&o, PLAIN, 1200e6, 0, false);
	const struct result *r = find(&o.seen, "long", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.n >= MEASURE_LEAST_LONG && stats_cost(&r->stats) == 20e6 && r->stats.discarded == 0,
		"20 ms that wait 40 ms for cores are 20 ms: %g", r ? stats_cost(&r->stats) : NAN);
	ok(r && strstr(o.seen.why[r - o.seen.results], "an upper value"), "and marked: %s",
		r ? o.seen.why[r - o.seen.results] : "");
	fake.algorithm[0].ns = 500e6;
	measure(&o, PLAIN, 200e6, 0, false);
	r = find(&o.seen, "long", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.n == MEASURE_FEWEST_SAMPLES && stats_cost(&r->stats) == 500e6,
		"longer than the budget: three samples");
}

/* Hardly any sample is like another: the upper end is far above the cost, and that is said. */
static void test_wide(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1e6, .spread = 9 };
	measure(&o, PLAIN, 50e6, 0, false);
	const struct result *r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_DISTURBED && r->stats.p10 < r->stats.median &&
			r->stats.p10_hi > 1.25 * r->stats.p10,
		"noisy: %g, up to %g", r ? r->stats.p10 : NAN, r ? r->stats.p10_hi : NAN);
	is_str(r ? o.seen.why[r - o.seen.results] : "", "its samples vary too much", "and why");
}

/* The machine gets slower by half in the course of it: what is compared meets that alike. */
static void test_drift(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 3;
	fake.drift = 0.5;
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1e6, .noise = 0.15 };
	fake.algorithm[1] = (struct invented){ .name = "b", .ns = 1.02e6, .noise = 0.15 };
	fake.algorithm[2] = (struct invented){ .name = "c", .ns = 1.04e6, .noise = 0.15 };
	measure(&o, PLAIN, 800e6, 0, false);
	const struct result *a = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	const struct result *b = find(&o.seen, "b", CACHE_NET, LAUNCH_AMORTIZED);
	const struct result *c = find(&o.seen, "c", CACHE_NET, LAUNCH_AMORTIZED);
	ok(a && b && c && a->stats.n > 50, "sampled for a while");
	ok(fake.now > 0.8e9, "in which the machine became slower by more than a third");
	near(b && a ? b->stats.median / a->stats.median : NAN, 1.02, 0.01,
		"the second is 2 percent slower than the first");
	near(c && a ? c->stats.median / a->stats.median : NAN, 1.04, 0.01, "and the third 4 percent");
}

/* Longer than scheduler ticks: the system always interrupts it, and that costs no further executions. */
static void test_long(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.algorithm[0] =
		(struct invented){ .name = "long", .ns = 800e6, .disturbed_from = 1, .disturbed_each = 1 };
	measure(&o, PLAIN, 200e6, 0, false);
	const struct result *r = find(&o.seen, "long", CACHE_NET, LAUNCH_ISOLATED);
	ok(r && r->stats.n == MEASURE_FEWEST_SAMPLES && r->stats.discarded == 0,
		"as few samples as can be");
	is_int(fake.algorithm[0].executions, 1 + MEASURE_FEWEST_SAMPLES, "after one warm-up");
	fake.algorithm[0] =
		(struct invented){ .name = "long", .ns = 20e6, .disturbed_from = 1, .disturbed_each = 2 };
	measure(&o, PLAIN, 2e9, 0, false);
	r = find(&o.seen, "long", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.n == 10 && r->stats.discarded == 0 && r->stats.stop == STOP_CONVERGED,
		"20 ms samples are kept, interrupted or not");
}

static void test_rotation(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 3;
	for (int i = 0; i < 3; i++)
		fake.algorithm[i] = (struct invented){ .name = i == 0 ? "a" : i == 1 ? "b" : "c", .ns = 1e6 };
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	is_int(fake.algorithm[0].sets, 501, "twice the last-level cache passes, and one more");
	ok(fake.algorithm[1].sets == 501 && fake.algorithm[2].sets == 501 && fake.most_alive == 3,
		"those compared rotate alike, however many are kept");
	const struct result *r = find(&o.seen, "c", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->rotated_bytes == 501 * 400, "what passed is recorded");
	r = find(&o.seen, "c", CACHE_WARM, LAUNCH_AMORTIZED);
	ok(r && r->rotated_bytes == 0, "where nothing rotates, nothing is");
	is_int(measure_sets(0, 32e6, 1e9, 1), 1, "no constants: one set");
	is_int(measure_sets(100e6, 64e6, 1e9, 1), 2, "constants larger than the cache: a second");
	is_int(measure_sets(1e6, 0, 1e9, 1), 1, "nothing has to pass: one set");
	is_int(measure_sets(1e6, 2e9, 40e6, 4), 11, "the memory is shared by all that may be kept");
	is_int(measure_sets(100e6, 20e9, 1e12, 1), 6, "half a gigabyte for one algorithm");
	is_int(measure_sets(4, 64e6, 1e9, 1), MEASURE_SETS, "not more copies than that");
	is_int(measure_sets(1e6, measure_enough_bytes(NAN), 1e9, 1), 69,
		"a cache of unknown size is taken for 32 MiB");
}

/* Reuse distances: the farthest first, copies for that; operands without constants have one state. */
static void test_distances(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.near = true;
	fake.room = 4e6;
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1e6 };
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	is_int(o.seen.count, 6, "two distances and warm, in both launches");
	is_int(o.seen.results[0].cache, CACHE_NEAREST + 1, "the farthest first");
	is_int(o.seen.results[5].cache, CACHE_WARM, "warm last");
	is_int(fake.algorithm[0].sets, 5244, "the copies for 2 MiB");
	ok(o.seen.results[0].rotated_bytes == 200 && o.seen.results[5].rotated_bytes == 0,
		"each tells what passed");
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.seen.count == 2 && o.seen.results[0].cache == CACHE_NET,
		"without constants there is one state: net");
	fake.huge = true;
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	ok(o.seen.count == 6 && o.seen.results[0].cache == cache_in_pages(CACHE_NEAREST + 1, true),
		"in pages of 2 MiB they are other states");
}

/* A distance whose copies have no room is not measured under its name. */
static void test_room(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 2;
	fake.near = true;
	fake.room = 3e6; /* for two algorithms */
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1e6 };
	fake.algorithm[1] = (struct invented){ .name = "slow", .ns = 1e8 };
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	const struct result *at = find(&o.seen, "a", CACHE_NEAREST + 1, LAUNCH_ISOLATED);
	ok(at && at->status == STATUS_NO_MEMORY && strstr(at->why, "2.00 MiB") && strstr(at->why, "1.43 MiB"),
		"2 MiB have no room: %s", at ? at->why : "no result");
	is_int(o.status, STATUS_OK, "the problem is measured");
	at = find(&o.seen, "a", CACHE_NEAREST, LAUNCH_ISOLATED);
	ok(at && at->status == STATUS_OK && find(&o.seen, "a", CACHE_WARM, LAUNCH_AMORTIZED),
		"at the other distance, and warm");
	ok(!find(&o.seen, "slow", CACHE_NEAREST + 1, LAUNCH_AMORTIZED), "nothing of one that was dropped");
	fake.only_far = true;
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	at = find(&o.seen, "a", CACHE_NEAREST, LAUNCH_AMORTIZED);
	ok(at && at->status == STATUS_OK && find(&o.seen, "a", CACHE_NEAREST + 1, LAUNCH_AMORTIZED),
		"the farthest distance that has room, although only the other was asked for");
	fake.quick = true;
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	ok(o.seen.count == 1 && o.seen.results[0].cache == CACHE_NEAREST, "a quick one is of that distance");
	fake.quick = false;
	measure(&o, PLAIN, 200e6, 0, false);
	ok(find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED) &&
			!find(&o.seen, "a", CACHE_NEAREST + 1, LAUNCH_AMORTIZED),
		"without constants there is nothing to have room for");
	is_int((int64_t)measure_room(150e6, 4e9, 4), 5, "that of one algorithm is rounded to a copy");
	is_int((int64_t)measure_room(150e6, 1e9, 4), 2, "that of the memory is not");
}

static void test_cancel(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 2;
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1e6, .noise = 0.2 };
	fake.algorithm[1] = (struct invented){ .name = "b", .ns = 1e6, .noise = 0.2 };
	measure(&o, PLAIN, 1e12, 8, false);
	is_int(o.stopped, -1, "cancelled between samples");
	ok(o.seen.count == 0 && fake.alive == 0, "half a measurement does not count, and nothing leaks");
	ok(fake.algorithm[0].runs < 30, "soon");
	/* Of large operands each step takes seconds. A question precedes the algorithm, its warm-up, each
	 * sample and its check. */
	fake.has_check = true;
	for (int question = 2; question <= 6; question++) {
		int before = fake.algorithm[0].runs, checked = fake.algorithm[0].checked;
		measure(&o, PLAIN, 200e6, question - 1, false);
		int runs = fake.algorithm[0].runs - before;
		ok(o.stopped == -1 && o.seen.count == 0 && fake.alive == 0 &&
				fake.algorithm[0].checked == checked,
			"cancelled at question %d: %d executions, not checked", question, runs);
	}
}

/* --- the union of several backends --- */

static void test_union(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 2;
	fake.other = 2;
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 500e3 };
	fake.algorithm[1] = (struct invented){ .name = "b", .ns = 510e3 };
	fake.algorithm[2] = (struct invented){ .name = "c", .ns = 520e3 };
	fake.algorithm[3] = (struct invented){ .name = "d", .ns = 9e6 };
	measure(&o, PLAIN, 200e6, 0, false);
	const struct result *r = find(&o.seen, "c", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->algorithm.rank == 2 && strcmp(r->algorithm.api, "other") == 0,
		"ranks go on over the backends");
	near(r ? r->stats.median : NAN, 520e3, 1, "each is prepared by its own");
	r = find(&o.seen, "d", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->algorithm.rank == 3 && r->stats.stop == STOP_SHORTLIST, "all are compared with all");
	is_int(fake.alive, 0, "released");
	fake.other_prefers = 1;
	measure(&o, PLAIN, 200e6, 0, false);
	r = find(&o.seen, "c", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->algorithm.rank == 0, "a preferred backend comes first");
	r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->algorithm.rank == 2, "and the others after it");
	fake.other_refuses = "no such type";
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.status == STATUS_OK && find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED) && o.seen.count == 4,
		"what one refuses another measures");
}

static void refused(const char *first, const char *second, const char *said, const char *name)
{
	struct problem p;
	struct offers offers;
	struct error err = ERROR_NONE;
	memset(&fake, 0, sizeof(fake));
	fake.count = fake.other = 1;
	fake.refuses = first;
	fake.other_refuses = second;
	problem_parse(text_of(PLAIN), &p, &err);
	ok(offers_open(&offers, both_backends, &p, false, &err) == -1 && strcmp(err.text, said) == 0, "%s",
		name);
	if (strcmp(err.text, said) != 0)
		printf("# %s\n", err.text);
}

static void test_reasons(void)
{
	refused("fake has no type s64", "only copies", "fake has no type s64", "one reason stands by itself");
	refused("only pools", "no pooling of this rank", "no pooling of this rank",
		"the library that has such problems gives the reason");
	refused("only pools", "only copies", "only pools", "if no library has them, the first does");
	refused("too large", "other has no type s64", "fake: too large; other has no type s64",
		"two reasons name their library");
}

static void test_pick(void)
{
	struct offers o = { .list = { { .count = 60 }, { .count = 3 }, { .count = 40 } }, .list_count = 3 };
	struct offer offer[103];
	int picked[48], of[3] = { 0 };
	o.offer = offer;
	for (int l = 0; l < 3; l++)
		for (int i = 0; i < o.list[l].count; i++)
			offer[o.count++] = (struct offer){ .list = &o.list[l], .index = i };
	int count = offers_pick(&o, picked, 48);
	bool sorted = true;
	for (int i = 0; i < count; i++) {
		of[offer[picked[i]].list - o.list]++;
		sorted = sorted && (i == 0 || picked[i] > picked[i - 1]);
	}
	ok(count == 48 && of[1] == 3 && of[0] >= 22 && of[2] >= 22, "a long list pushes no other out");
	ok(sorted && offer[picked[0]].index == 0, "the order is that of the ranks");
	is_int(offers_pick(&o, picked, 2), 2, "fewer places than lists");
}

/* --- what a GPU has --- */

static void test_refined(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.algorithm[0] = (struct invented){ .name = "short", .ns = 500, .launch_ns = 7500 };
	measure(&o, PLAIN, 200e6, 0, false);
	const struct result *r = find(&o.seen, "short", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.executions > 350 && r->stats.executions <= 400,
		"the number of executions is that of executions back to back: %lld",
		(long long)(r ? r->stats.executions : 0));
	near(r ? r->stats.median : NAN, 520, 5, "so that a launch hardly counts");
	r = find(&o.seen, "short", CACHE_NET, LAUNCH_ISOLATED);
	near(r ? r->stats.median : NAN, 8000, 1, "an isolated one has it");
	fake.algorithm[0] = (struct invented){ .name = "tiny", .ns = 10, .launch_ns = 5000 };
	measure(&o, PLAIN, 200e6, 0, false);
	r = find(&o.seen, "tiny", CACHE_NET, LAUNCH_AMORTIZED);
	is_int(r ? r->stats.executions : 0, MEASURE_EXECUTIONS, "no more than can be recorded");
	fake.algorithm[0] =
		(struct invented){ .name = "breaks", .ns = 500, .launch_ns = 4.9e6, .fails_run_at = 3 };
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.status == STATUS_FAILED && fake.alive == 0, "failing then is failing");
}

static int first_of(int algorithm)
{
	const char *at = strchr(fake.order, '0' + algorithm);
	return at ? (int)(at - fake.order) : -1;
}

/* A short warm-up for the comparison, the rest of it for those that are measured in full. */
static void test_glance(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 3;
	fake.shares = true;
	fake.glance_ns = 1e6;
	fake.algorithm[0] = (struct invented){ .name = "best", .ns = 10e3, .launch_ns = 10e3 };
	fake.algorithm[1] = (struct invented){ .name = "behind", .ns = 90e3, .launch_ns = 10e3 };
	fake.algorithm[2] = (struct invented){ .name = "close", .ns = 10.5e3, .launch_ns = 10e3 };
	measure(&o, PLAIN, 200e6, 0, false);
	/* 1 ms alone, numbers of executions refined, three samples */
	is_int(first_of(1), 50 + 4, "a millisecond of warm-up comes before the comparison");
	is_int(fake.algorithm[1].runs, 10 + 1, "what is far behind is not refined and sampled once");
	const struct result *r = find(&o.seen, "behind", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST && r->stats.n == 1, "and told");
	r = find(&o.seen, "close", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_CONVERGED && r->stats.executions == 18,
		"what is close is measured in full");
	/* the two have run for 5 ms, with 1 ms of the comparison, before the first of them is sampled in full
	 */
	is_int((int)(strstr(fake.order + first_of(2), "00000000000") - fake.order), 54 + 11 + 49 + 4,
		"after the comparison the first one's warm-up goes on");
	ok(strstr(fake.order + first_of(2) + 54 + 190, "22222222222") != NULL, "then the other's");
	fake.algorithm[1].ns = 900e3;
	fake.algorithm[1].runs = 0;
	measure(&o, PLAIN, 200e6, 0, false);
	is_int(fake.algorithm[1].runs, 2, "of what is far behind and long the warm-up is the sample");
	r = find(&o.seen, "behind", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST && r->stats.n == 1 && r->stats.executions == 1 &&
			r->stats.min == 910e3, "of one execution");
	fake.algorithm[1].ns = 90e3;
	fake.algorithm[2].fails_run_at = 60;
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.status == STATUS_OK &&
			find(&o.seen, "close", CACHE_NET, LAUNCH_AMORTIZED)->status == STATUS_FAILED &&
			fake.alive == 0,
		"one that fails then is out alone");
}

/* Where a launch is timed with what runs alone, amortized is not alone. */
static void test_alone(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.alone_ns = 2e6;
	fake.algorithm[0] = (struct invented){ .name = "short", .ns = 300e3, .launch_ns = 10e3 };
	measure(&o, PLAIN, 200e6, 0, false);
	const struct result *r = find(&o.seen, "short", CACHE_NET, LAUNCH_AMORTIZED);
	is_int(r ? r->stats.executions : 0, 2, "two executions at least");
	r = find(&o.seen, "short", CACHE_NET, LAUNCH_ISOLATED);
	ok(r && r->stats.executions == 1 && r->stats.median == 310e3,
		"and isolated ones are another measurement");
	fake.algorithm[0].ns = 2.1e6;
	measure(&o, PLAIN, 200e6, 0, false);
	r = find(&o.seen, "short", CACHE_NET, LAUNCH_AMORTIZED);
	is_int(r ? r->stats.executions : 0, 1, "one of a long one");
	fake.alone_ns = 0;
	fake.algorithm[0].ns = 300e3;
	measure(&o, PLAIN, 200e6, 0, false);
	r = find(&o.seen, "short", CACHE_NET, LAUNCH_AMORTIZED);
	is_int(r ? r->stats.executions : 0, 1, "or where launches cost nothing");
}

static void test_most(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 4;
	for (int i = 0; i < 4; i++)
		fake.algorithm[i] = (struct invented){ .name = "one of many", .ns = 10e3 };
	fake.most = 2;
	measure(&o, PLAIN, 50e6, 0, false);
	ok(fake.algorithm[1].prepared == 1 && fake.algorithm[2].prepared == 0,
		"only as many are tried as are wanted");
}

static void test_cold(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.cold = true;
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1e6 };
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	const struct result *r = find(&o.seen, "a", CACHE_COLD, LAUNCH_ISOLATED);
	ok(r && r->status == STATUS_OK && o.seen.count == 6, "net, warm and cold, each in both launches");
	is_int(fake.algorithm[0].cold_sets, 168,
		"all operands of the problem pass, twice the last-level cache of them");
	ok(fake.algorithm[0].last_cache == CACHE_COLD, "asked of the backend as cold");
	measure(&o, "eltwise:f32,f32:relu:1", 200e6, 0, false);
	ok(!find(&o.seen, "a", CACHE_COLD, LAUNCH_AMORTIZED) == (MEASURE_SETS * 8.0 < 200e3),
		"what cannot pass often enough is not claimed");
	is_int(fake.algorithm[0].cold_sets, 1, "nor copied");
	fake.cold = false;
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	is_int(fake.algorithm[0].cold_sets, 1, "not asked for: no copies");
}

static void test_trust(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 3;
	fake.has_check = fake.shares = true;
	fake.algorithm[0] = (struct invented){ .name = "wrong", .ns = 1e5, .worst = 0.25 };
	fake.algorithm[1] = (struct invented){ .name = "right", .ns = 1e6, .worst = 9e-7, .launch_ns = 3 };
	fake.algorithm[2] = (struct invented){
		.name = "unknown", .ns = 1.1e6, .worst = NAN, .check_says = "no reference"
	};
	measure(&o, PLAIN, 200e6, 0, false);
	is_int(o.status, STATUS_OK, "the others are measured");
	ok(o.seen.results[0].status == STATUS_MISTRUSTED &&
			strcmp(o.seen.results[0].algorithm.name, "wrong") == 0,
		"whose outputs are wrong is mistrusted");
	ok(strstr(o.seen.why[0], "0.25") && strstr(o.seen.why[0], "1.1e-06"), "with the figures: %s",
		o.seen.why[0]);
	int runs = fake.algorithm[0].runs;
	ok(runs <= 51 && !find(&o.seen, "wrong", CACHE_NET, LAUNCH_ISOLATED),
		"and never measured further: %d", runs);
	const struct result *r = find(&o.seen, "unknown", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->status == STATUS_OK, "what cannot be compared is believed");
	is_str(r ? o.seen.notes[r - o.seen.results] : "", "a note unchecked", "and that is noted");
	r = find(&o.seen, "right", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->enqueue_ns == 3 && r->clock_mhz == 1e6, "what enqueueing took and the clock come along");
	is_str(r ? o.seen.kernels[r - o.seen.results] : "", "right", "so do the kernels' names");
	is_str(r ? o.seen.notes[r - o.seen.results] : "", "a note", "and the library's notes");
	ok(fake.algorithm[1].checked == 1 && fake.alive == 0, "checked once, released");
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.has_check = true;
	fake.algorithm[0] = (struct invented){
		.name = "tail", .ns = 1e6, .worst = INFINITY, .check_says = "guard bytes are gone"
	};
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.status == STATUS_MISTRUSTED &&
			strstr(o.err.text, "only implementation that ran is suspect (guard bytes are gone)"),
		"nothing right: suspect as a whole: %s", o.err.text);
	is_str(o.seen.why[0], "guard bytes are gone", "the result keeps its own reason");
	fake.count = 2;
	fake.algorithm[1] = fake.algorithm[0];
	fake.algorithm[1].name = "another";
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.status == STATUS_MISTRUSTED &&
			strstr(o.err.text,
				"all 2 implementations that ran are suspect (guard bytes are gone): "
				"probably a bug of benanza"),
		"all of them: probably benanza's defect: %s", o.err.text);
	fake.algorithm[1].worst = 0;
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.status == STATUS_OK, "not if one is right");
	fake.count = 1;
	fake.algorithm[0] = (struct invented){ .name = "nan", .ns = 1e6, .worst = INFINITY };
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.status == STATUS_MISTRUSTED && o.err.text[0], "not a number: %s", o.err.text);
}

/* Without shared operands every check computes anew: those that fall behind at once are spared. */
static void test_trust_finalists(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 3;
	fake.has_check = true;
	fake.algorithm[0] = (struct invented){ .name = "right", .ns = 1e6 };
	fake.algorithm[1] = (struct invented){ .name = "nothing", .ns = 1e3, .worst = INFINITY };
	fake.algorithm[2] = (struct invented){ .name = "slow", .ns = 2e6, .worst = INFINITY };
	measure(&o, PLAIN, 200e6, 0, false);
	ok(fake.algorithm[0].checked == 1 && fake.algorithm[1].checked == 1 && fake.algorithm[2].checked == 0,
		"those are checked that might be measured in full");
	const struct result *r = find(&o.seen, "right", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_CONVERGED, "one that computes nothing drives nobody out");
	ok(o.seen.results[0].status == STATUS_MISTRUSTED && fake.alive == 0, "but goes itself");
	fake.count = 1;
	fake.algorithm[0].worst = 1;
	measure(&o, PLAIN, 200e6, 0, false);
	is_int(o.status, STATUS_MISTRUSTED, "an only one is checked too");
}

static void test_dead(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 3;
	fake.algorithm[0] = (struct invented){ .name = "good", .ns = 1e6 };
	fake.algorithm[1] = (struct invented){ .name = "faults", .ns = 1e6, .dies_at = 2 };
	fake.algorithm[2] = (struct invented){ .name = "after", .ns = 1e6 };
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.status == STATUS_FAILED && o.stopped == 0,
		"a lost device: the problem failed, nobody cancelled it");
	is_str(o.err.text, "illegal address", "with the reason");
	is_int(fake.algorithm[2].prepared, 0, "nothing more is tried");
	ok(o.seen.results[o.seen.count - 1].status == STATUS_FAILED && fake.alive == 0,
		"the one at fault says so");
	memset(&fake, 0, sizeof(fake));
	fake.count = 2;
	fake.algorithm[0] = (struct invented){ .name = "good", .ns = 1e6 };
	fake.algorithm[1] = (struct invented){ .name = "late", .ns = 1e6, .dies_at = 14 };
	measure(&o, PLAIN, 200e6, 0, false);
	ok(o.status == STATUS_FAILED && fake.algorithm[0].runs < 60, "in the middle of it too");
}

static void test_strict(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 4;
	fake.algorithm[0] =
		(struct invented){ .name = "tf32", .ns = 100e3, .matrix = MATRIX_YES, .math = "tf32" };
	fake.algorithm[1] = (struct invented){ .name = "strict", .ns = 300e3, .matrix = MATRIX_NO };
	fake.algorithm[2] = (struct invented){ .name = "slow", .ns = 390e3, .matrix = MATRIX_NO };
	fake.algorithm[3] = (struct invented){ .name = "cores", .ns = 250e3, .matrix = MATRIX_YES };
	measure(&o, PLAIN, 200e6, 0, true);
	const struct result *r = find(&o.seen, "cores", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_CONVERGED, "the fastest in strict math is measured in full");
	r = find(&o.seen, "strict", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_CONVERGED, "and the fastest in strict math without matrix units");
	r = find(&o.seen, "slow", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST, "not the next one");
	fake.algorithm[1] = (struct invented){ .name = "first", .ns = 350e3, .matrix = MATRIX_NO };
	fake.algorithm[2] = (struct invented){ .name = "fastest", .ns = 300e3, .matrix = MATRIX_NO };
	fake.algorithm[3] = (struct invented){ .name = "last", .ns = 390e3, .matrix = MATRIX_NO };
	measure(&o, PLAIN, 200e6, 0, true);
	r = find(&o.seen, "first", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_CONVERGED,
		"the library's first choice in strict math is measured in full too");
	r = find(&o.seen, "last", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST, "what is neither is not");
}

static double allowed(const char *text, const char *math)
{
	struct problem p;
	struct error err = ERROR_NONE;
	return problem_parse(text_of(text), &p, &err) ? NAN :
		tolerance_of(&p, &(struct algorithm){ .api = "oneDNN", .name = "", .math = math });
}

static void test_tolerance(void)
{
	const char *f16 = "matmul:f16,f16.c,f16/f32:ba1bb1m8n8k8:ta0tb0";
	near(allowed("matmul:f32,f32.c,f32/f32:ba1bb1m8n8k8:ta0tb0", "strict"), 1e-6, 0.07, "f32");
	near(allowed("matmul:f32,f32.c,f32/f32:ba1bb1m8n8k8:ta0tb0", "tf32"), 1e-3, 0.07, "f32 through TF32");
	near(allowed("matmul:f32,f32.c,f32/f32:ba1bb1m8n8k8:ta0tb0", "fast_bf16"), 1e-2, 0.07,
		"f32 through bf16");
	near(allowed(f16, "strict"), 1e-3 + 0x1p-11, 0.07, "f16 is rounded at the end");
	near(allowed(f16, "f16_accumulate"), 1e-2 + 0x1p-11, 0.07, "added up in f16");
	near(allowed("matmul:f16,f16.c,f32/f32:ba1bb1m8n8k8:ta0tb0", "strict"), 1e-3, 0.07, "f16 into f32");
	near(allowed("eltwise:bf16,bf16:relu:8", "strict"), 1e-2 + 0x1p-8, 0.07, "bf16");
	ok(allowed("copy:u8,u8:b100", "strict") == 0 &&
			allowed("transpose:s64,s64:2x3:perm1x0", "strict") == 0,
		"whole numbers are exact");
	ok(approximation_of("oneDNN", "jit_int8_wino:avx512_core_vnni") &&
			!approximation_of("oneDNN", "jit_wino_4x3:avx512_core") &&
			!approximation_of("cuDNN", "jit_int8_wino"),
		"approximate algorithms are those of the table");
	ok(allowed("eltwise:f32,f32:tanh:8", "strict") > 9e-6 &&
			allowed("eltwise:f32,f32:relu:8", "strict") < 2e-6,
		"exponentials are approximations");
}

int main(void)
{
	test_union();
	test_reasons();
	test_pick();
	test_refined();
	test_cold();
	test_trust();
	test_trust_finalists();
	test_dead();
	test_strict();
	test_tolerance();
	is_int(measure_executions(1), MEASURE_EXECUTIONS,
		"executions of 1 ns: as many as are recorded one by one");
	is_int(measure_executions(1e3), 200, "executions of 1 us");
	is_int(measure_executions(150e3), 2, "executions of 150 us");
	is_int(measure_executions(1e9), 1, "executions of 1 s");
	test_one();
	test_quick();
	test_repeats();
	test_budget();
	test_shortlist();
	test_glance();
	test_most();
	test_alone();
	test_matrix();
	test_in_place();
	test_failures();
	test_disturbed();
	test_waited();
	test_rest();
	test_corrected();
	test_wide();
	test_drift();
	test_long();
	test_rotation();
	test_distances();
	test_room();
	test_cancel();
	return done_testing();
}
