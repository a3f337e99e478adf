#include "config.h"

#include "tests/unit/tap.h"

#include <stdlib.h>

#include "base/arena.h"
#include "runner/measure.h"

/* --- statistics against known answers --- */

static struct samples samples_of(const double *v, int64_t n)
{
	struct samples s = { 0 };
	for (int64_t i = 0; i < n; i++)
		samples_add(&s, v[i]);
	return s;
}

static void test_stats(void)
{
	const double v[] = { 9, 1, 8, 2, 7, 3, 6, 4, 5, 10 };
	struct samples s = samples_of(v, 10);
	struct sample_stats t;
	stats_compute(&s, &t);
	near(t.median, 5.5, 1e-12, "median of an even number");
	near(t.min, 1, 1e-12, "min");
	near(t.q1, 3.25, 1e-12, "first quartile");
	near(t.q3, 7.75, 1e-12, "third quartile");
	near(t.mean, 5.5, 1e-12, "mean");
	near(t.stdev, 3.0276503540974917, 1e-12, "standard deviation");
	near(t.lo, 2, 1e-12, "interval of ten begins at the second");
	near(t.hi, 9, 1e-12, "and ends at the ninth");
	ok(s.taken[0] == 9 && s.taken[9] == 10 && s.sorted[0] == 1 && s.sorted[9] == 10, "both orders are kept");
	samples_free(&s);
	s = samples_of(v, 1);
	stats_compute(&s, &t);
	ok(t.median == 9 && t.n == 1 && isnan(t.stdev) && isnan(t.lo) && isnan(t.hi), "one sample has no spread and no interval");
	samples_free(&s);
	s = samples_of(v, 3);
	stats_compute(&s, &t);
	ok(t.lo == 1 && t.hi == 9, "three have their range");
	samples_clear(&s);
	stats_compute(&s, &t);
	ok(isnan(t.median) && isnan(t.min) && t.n == 0, "no sample, nothing known");
	samples_free(&s);
}

/* Exact binomial intervals, from tables of the sign test. */
static void test_intervals(void)
{
	static const struct {
		int64_t n, lo, hi;
	} known[] = { { 6, 0, 5 }, { 8, 0, 7 }, { 9, 1, 7 }, { 10, 1, 8 }, { 12, 2, 9 }, { 15, 3, 11 }, { 20, 5, 14 },
		{ 25, 7, 17 }, { 30, 9, 20 }, { 50, 17, 32 }, { 100, 39, 60 } };
	int64_t lo, hi;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ok(stats_interval_ranks(known[i].n, &lo, &hi) && lo == known[i].lo && hi == known[i].hi,
			"%lld samples: from rank %lld to %lld", (long long)known[i].n, (long long)known[i].lo, (long long)known[i].hi);
	for (int64_t n = 0; n < 6; n++)
		ok(!stats_interval_ranks(n, &lo, &hi), "%lld samples have none", (long long)n);
	stats_interval_ranks(400, &lo, &hi);
	int64_t lo2, hi2;
	stats_interval_ranks(401, &lo2, &hi2);
	ok(lo2 - lo <= 1 && lo2 >= lo, "exact and approximate ones meet");
	ok(stats_interval_ranks(20000, &lo, &hi) && lo == 9860, "many samples");
}

static void test_converged(void)
{
	struct samples s = { 0 };
	for (int i = 0; i < 9; i++)
		samples_add(&s, 100);
	ok(!stats_converged(&s, 0.02, 10), "nine equal samples are too few");
	samples_add(&s, 100);
	ok(stats_converged(&s, 0.02, 10), "ten are enough");
	samples_clear(&s);
	for (int i = 0; i < 20; i++)
		samples_add(&s, i < 10 ? 97 : 103);
	ok(!stats_converged(&s, 0.02, 10), "3 percent to each side is not within 2");
	ok(stats_converged(&s, 0.04, 10), "but within 4");
	samples_free(&s);
}

#define LONG_NS 5e6

/* --- measuring, with an invented backend and clock --- */

struct invented {
	const char *name;
	double ns;          /* an execution */
	double noise;       /* relative, alternating */
	int prepared, executions, runs;
	int64_t sets;       /* that it was told to rotate through */
	bool fails_prepare;
	int fails_run_at;   /* run number, 0 never */
	int disturbed_from; /* runs from this number on are slow and counted as preempted, 0 never */
	int disturbed_each; /* of those runs: every so many-th */
	enum matrix matrix;
};

static struct {
	struct invented algorithm[8];
	struct algorithm list[8];
	int count, alive, most_alive;
	double now;
	int64_t preemptions;
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

static int fake_algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	(void)p;
	(void)err;
	for (int i = 0; i < fake.count; i++)
		fake.list[i] = (struct algorithm){ .api = "fake", .name = fake.algorithm[i].name, .layouts = "",
			.math = "strict", .rank = i, .matrix = fake.algorithm[i].matrix };
	list->count = fake.count;
	list->algorithm = fake.list;
	return 0;
}

static void fake_forget(struct backend_list *list)
{
	list->count = 0;
}

static void *fake_prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	(void)list;
	struct invented *v = &fake.algorithm[index];
	v->prepared++;
	v->sets = limits->sets;
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
	(void)cache;
	struct invented *v = work;
	v->runs++;
	v->executions += (int)times;
	if (v->fails_run_at && v->runs >= v->fails_run_at)
		return error_set(err, "broke");
	*elapsed_ns = v->ns * (double)times * (1 + (v->runs % 4 < 2 ? v->noise : -v->noise));
	if (v->disturbed_from && v->runs >= v->disturbed_from && v->runs % v->disturbed_each == 0) {
		*elapsed_ns *= v->ns < LONG_NS ? 10 : 1;
		fake.preemptions++;
	}
	fake.now += *elapsed_ns;
	size_t n = strlen(fake.order);
	if (n + 1 < sizeof(fake.order))
		fake.order[n] = (char)('0' + (v - fake.algorithm));
	return 0;
}

static double fake_rotated(const void *work)
{
	const struct invented *v = work;
	return (double)v->sets * 400;
}

static void fake_release(void *work)
{
	(void)work;
	fake.alive--;
}

static const struct backend fake_backend = { .api = "fake", .algorithms = fake_algorithms, .forget = fake_forget,
	.prepare = fake_prepare, .run = fake_run,
	.rotated_bytes = fake_rotated, .release = fake_release };


static const struct backend *const fake_backends[] = { &fake_backend, NULL };

struct seen {
	struct result results[64];
	char why[64][64];
	int count;
	int cancel_after; /* questions, 0 never */
	int asked;
};

static bool seen_cancelled(void *user)
{
	struct seen *s = user;
	return s->cancel_after && ++s->asked > s->cancel_after;
}

static void seen_trying(void *user, const struct algorithm *a, enum cache c, enum launch l)
{
	(void)user;
	(void)a;
	(void)c;
	(void)l;
}

static void seen_emit(void *user, const struct result *r, const struct samples *samples)
{
	struct seen *s = user;
	(void)samples;
	if (s->count == 64)
		return;
	snprintf(s->why[s->count], sizeof(s->why[0]), "%s", r->why);
	s->results[s->count++] = *r;
}

static const struct result *find(const struct seen *s, const char *name, enum cache c, enum launch l)
{
	for (int i = 0; i < s->count; i++)
		if (strcmp(s->results[i].algorithm.name, name) == 0 && s->results[i].cache == c && s->results[i].launch == l)
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
	struct measure_options options = { .budget_ns = budget_ns, .caches = { true, true }, .launches = { true, true },
		.tolerance = 0.02, .long_ns = LONG_NS, .memory_bytes = 1e9, .rotation_bytes = 1e6, .llc_bytes = 100e3,
		.now_ns = fake_now, .disturbances = fake_preemptions, .user = &o->seen, .has_matrix = has_matrix, .cancelled = seen_cancelled,
		.trying = seen_trying, .emit = seen_emit };
	if (problem_parse(text_of(text), &p, &o->err) || offers_open(&offers, fake_backends, &p, &o->err))
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
	ok(r && r->stats.stop == STOP_CONVERGED && r->stats.n == 10, "converged at the least number of samples");
	ok(r && r->stats.executions >= 200 && r->stats.executions < 203, "an amortized sample takes 200 us");
	near(r ? r->stats.median : NAN, 1000, 0.01, "and is divided by its executions");
	r = find(&o.seen, "only", CACHE_NET, LAUNCH_ISOLATED);
	ok(r && r->stats.executions == 1, "an isolated one is a single execution");
	ok(fake.algorithm[0].executions >= 5000, "warmed up for 5 ms");
	is_int(fake.alive, 0, "released");
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	is_int(o.seen.count, 4, "with a constant operand: net and warm");
}

static void test_budget(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.algorithm[0] = (struct invented){ .name = "noisy", .ns = 1e6, .noise = 0.2 };
	measure(&o, WITH_CONSTANT, 200e6, 0, false);
	const struct result *r = find(&o.seen, "noisy", CACHE_WARM, LAUNCH_ISOLATED);
	ok(r && r->stats.stop == STOP_BUDGET, "noise: the budget stops it");
	ok(r && r->stats.n >= 45 && r->stats.n <= 55, "after half of the budget: two states, each measured as one with its like");
	is_int(o.seen.count, 4, "long executions: isolated ones are what amortized ones are");
	ok(fake.algorithm[0].executions < 230, "and not taken twice");
	fake.algorithm[0] = (struct invented){ .name = "slow", .ns = 3e9 };
	measure(&o, PLAIN, 10e6, 0, false);
	r = find(&o.seen, "slow", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.n == 1 && r->stats.stop == STOP_BUDGET && isnan(r->stats.lo), "slower than its budget: one sample");
	is_int(fake.algorithm[0].executions, 2, "and one warm-up");
}

static void test_shortlist(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 5;
	fake.algorithm[0] = (struct invented){ .name = "first", .ns = 2000e3 };
	fake.algorithm[1] = (struct invented){ .name = "best", .ns = 500e3 };
	fake.algorithm[2] = (struct invented){ .name = "hopeless", .ns = 2100e3 };
	fake.algorithm[3] = (struct invented){ .name = "close", .ns = 600e3 };
	fake.algorithm[4] = (struct invented){ .name = "behind", .ns = 700e3 };
	measure(&o, PLAIN, 200e6, 0, false);
	const struct result *r = find(&o.seen, "hopeless", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST && r->stats.n == 1, "4 times the best: dropped after one sample");
	r = find(&o.seen, "behind", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST && r->stats.n == 3, "further than 1.25 times: three samples");
	ok(!find(&o.seen, "behind", CACHE_NET, LAUNCH_ISOLATED), "and no more");
	r = find(&o.seen, "close", CACHE_NET, LAUNCH_ISOLATED);
	ok(r && r->stats.stop == STOP_CONVERGED, "within 1.25 times: in full");
	r = find(&o.seen, "first", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_CONVERGED, "the library's first choice: in full, however slow");
	ok(strstr(fake.order, "0011330011330011") != NULL, "what is compared is measured in turn");
	ok(fake.most_alive <= 4 && fake.alive == 0, "what fell behind is released at once");
	is_int(o.seen.count, 2 * 3 + 2, "every result once");
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
		broke = broke || (o.seen.results[i].status == STATUS_FAILED && strcmp(o.seen.why[i], "broke") == 0);
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
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1e6, .disturbed_from = 6, .disturbed_each = 3 };
	measure(&o, PLAIN, 1e9, 0, false);
	const struct result *r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.discarded > 0 && r->stats.stop == STOP_CONVERGED, "disturbed samples are thrown away and counted");
	near(r ? r->stats.stdev : NAN, 0, 1e-9, "none is left in the statistics");
	fake.preemptions = 0;
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1e6, .disturbed_from = 1, .disturbed_each = 1 };
	measure(&o, PLAIN, 400e6, 0, false);
	r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.n == 10 && r->stats.discarded == 0 && r->stats.stop == STOP_CONVERGED,
		"a machine that disturbs every sample: all of them count");
	fake.algorithm[0] = (struct invented){ .name = "a", .ns = 1e6, .disturbed_from = 6, .disturbed_each = 3 };
	measure(&o, PLAIN, 70e6, 0, false);
	r = find(&o.seen, "a", CACHE_NET, LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_BUDGET && r->stats.n < 9 && r->stats.discarded == 0 && r->stats.stdev > 0,
		"five undisturbed ones are too few to choose: all count, and the budget pays for all");
}

/* Longer than scheduler ticks: the system always interrupts it, and that costs no further executions. */
static void test_long(void)
{
	struct outcome o;
	memset(&fake, 0, sizeof(fake));
	fake.count = 1;
	fake.algorithm[0] = (struct invented){ .name = "long", .ns = 800e6, .disturbed_from = 1, .disturbed_each = 1 };
	measure(&o, PLAIN, 200e6, 0, false);
	const struct result *r = find(&o.seen, "long", CACHE_NET, LAUNCH_ISOLATED);
	ok(r && r->stats.n == 1 && r->stats.discarded == 0, "one long sample is one sample");
	is_int(fake.algorithm[0].executions, 2, "taken once, after one warm-up");
	fake.algorithm[0] = (struct invented){ .name = "long", .ns = 20e6, .disturbed_from = 1, .disturbed_each = 2 };
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
	is_int(measure_sets(100e6, 32e6, 1e9, 1), 2, "constants larger than the cache: a second");
	is_int(measure_sets(1e6, 1e9, 40e6, 4), 11, "the memory is shared by all that may be kept");
	is_int(measure_sets(100e6, 10e9, 1e12, 1), 6, "half a gigabyte for one algorithm");
	is_int(measure_sets(4, 32e6, 1e9, 1), MEASURE_SETS, "not more copies than that");
	is_int(measure_sets(1e6, NAN, 1e9, 1), 69, "a cache of unknown size is taken for 32 MiB");
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
	ok(o.seen.count == 0 && fake.alive == 0, "half a measurement is none, and nothing leaks");
	ok(fake.algorithm[0].runs < 30, "soon");
}

int main(void)
{
	test_stats();
	test_intervals();
	test_converged();
	is_int(measure_executions(1), 200000, "executions of 1 ns");
	is_int(measure_executions(150e3), 2, "executions of 150 us");
	is_int(measure_executions(1e9), 1, "executions of 1 s");
	test_one();
	test_budget();
	test_shortlist();
	test_matrix();
	test_failures();
	test_disturbed();
	test_long();
	test_rotation();
	test_cancel();
	return done_testing();
}
