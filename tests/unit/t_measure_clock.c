#include "config.h"

#include "tests/unit/seen_results.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

#include "runner/measure/measure.h"

/* An invented device whose clock falls, and whose samples have fixed costs. */

#define STEADY_MHZ 1900
#define SHARE 0.75

struct invented {
	const char *name;
	double ns;         /* an execution at the steady clock */
	double fixed_ns;   /* of an amortized sample, besides its executions */
	double low_mhz;    /* the clock until the device was settled low_settles times for it */
	int low_settles;
	double boost;      /* every boost_each-th run has a clock that is higher by this share */
	int boost_each;
	double swing;      /* the clock alternates by this share */
	int runs, settles;
	double mhz;
};

static struct {
	struct invented algorithm[4];
	struct algorithm list[4];
	int count;
	double now;
	int64_t low;       /* runs below SHARE of the steady clock */
	bool settle_fails, approximates;
	double worst;      /* what the check finds */
	const char *text;  /* the problem; NULL: a relu */
	const char *remark;
	double rest;
} fake;

static struct seen seen;

static double fake_now(void)
{
	return fake.now;
}

static int64_t fake_low(void)
{
	return fake.low;
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	(void)p;
	(void)err;
	for (int i = 0; i < fake.count; i++)
		fake.list[i] = (struct algorithm){ .api = "fake", .name = fake.algorithm[i].name,
			.layouts = "", .math = "strict", .rank = i, .notes = "" };
	list->count = fake.count;
	list->algorithm = fake.list;
	return 0;
}

static void forget(struct backend_list *list)
{
	list->count = 0;
}

static void *prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	(void)list;
	(void)limits;
	(void)status;
	(void)err;
	return &fake.algorithm[index];
}

static int run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	struct invented *v = work;
	(void)cache;
	(void)err;
	bool low = v->settles < v->low_settles;
	v->mhz = (low ? v->low_mhz : STEADY_MHZ) * (v->runs++ % 4 < 2 ? 1 - v->swing : 1 + v->swing);
	if (v->boost_each && v->runs % v->boost_each == 0)
		v->mhz *= 1 + v->boost;
	*elapsed_ns = v->ns * (double)times * STEADY_MHZ / v->mhz;
	fake.low += v->mhz < SHARE * STEADY_MHZ;
	fake.now += *elapsed_ns;
	return 0;
}

static int amortized(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	const struct invented *v = work;
	run(work, cache, times, elapsed_ns, err);
	*elapsed_ns += v->fixed_ns;
	return 0;
}

static int settle(void *work, struct error *err)
{
	struct invented *v = work;
	v->settles++;
	fake.now += 1e6; /* must not count as time for samples */
	return fake.settle_fails ? error_set(err, "the heater is broken") : 0;
}

static double clock_mhz(const void *work)
{
	return ((const struct invented *)work)->mhz;
}

static double enqueue_ns(const void *work)
{
	(void)work;
	return 1000;
}

static const char *remark(void *work)
{
	(void)work;
	return fake.remark ? fake.remark : "";
}

static int check(void *work, double *worst, struct error *err)
{
	(void)work;
	(void)err;
	*worst = fake.worst;
	return 0;
}

static void release(void *work)
{
	(void)work;
}

static const struct backend backend = { .api = "fake", .algorithms = algorithms, .forget = forget,
	.prepare = prepare, .run = run, .amortized = amortized, .settle = settle, .clock_mhz = clock_mhz,
	.enqueue_ns = enqueue_ns, .remark = remark, .check = check, .release = release };
static const struct backend *const backends[] = { &backend, NULL };

static enum status measure(struct error *err)
{
	struct problem p;
	struct offers offers;
	enum status status = STATUS_FAILED;
	struct measure_options o = { .rest = &fake.rest, .budget_ns = 20e6, .caches = { true },
		.launches = { true, true }, .memory_bytes = 1e9, .rotation_bytes = 1e6, .llc_bytes = 100e3,
		.machine = { .tolerance = 0.01, .long_ns = INFINITY, .disturbances = fake_low,
			.glance_ns = 1e6, .alone_ns = 2e6, .shares_operands = true,
			.approximates = fake.approximates },
		.now_ns = fake_now, .cancelled = seen_cancelled, .trying = seen_trying, .emit = seen_emit,
		.user = &seen };
	const char *text = fake.text ? fake.text : "eltwise:f32,f32:relu:100";
	seen.count = 0;
	*err = (struct error)ERROR_NONE;
	if (problem_parse(text_of(text), &p, err) || offers_open(&offers, backends, &p, false, err))
		return STATUS_FAILED;
	measure_problem(&offers, &p, text, &o, &status, err);
	offers_close(&offers);
	return status;
}

static const struct result *find(const char *name, enum launch l)
{
	for (int i = 0; i < seen.count; i++)
		if (strcmp(seen.results[i].algorithm.name, name) == 0 && seen.results[i].launch == l)
			return &seen.results[i];
	return NULL;
}

static void begin(int count)
{
	memset(&fake, 0, sizeof(fake));
	fake.count = count;
}

static bool is_full(const char *name, double ns)
{
	const struct result *r = find(name, LAUNCH_AMORTIZED);
	return r && r->status == STATUS_OK && r->stats.stop == STOP_CONVERGED &&
		fabs(r->stats.median - ns) < 0.01 * ns;
}

/* The fastest algorithm is judged while the clock is down. */
static void low_at_first(int settles)
{
	struct error err;
	begin(2);
	fake.algorithm[0] = (struct invented){ .name = "first", .ns = 10e3 };
	fake.algorithm[1] =
		(struct invented){ .name = "low", .ns = 8e3, .low_mhz = 345, .low_settles = settles };
	is_int(measure(&err), STATUS_OK, "the clock is down until the %dth sample: %s", settles, err.text);
	ok(is_full("low", 8e3), "it is not dropped, and measured in full at its own time");
	const struct result *r = find("low", LAUNCH_AMORTIZED);
	near(r ? r->clock_mhz : NAN, STEADY_MHZ, 1e-6, "at the steady clock");
	ok(is_full("first", 10e3), "so is the other");
}

/* A clock that is lower, but not so low that samples are discarded. */
static void test_lower(void)
{
	struct error err;
	begin(3);
	fake.algorithm[0] = (struct invented){ .name = "first", .ns = 10e3 };
	fake.algorithm[1] =
		(struct invented){ .name = "lower", .ns = 10.5e3, .low_mhz = 1500, .low_settles = 6 };
	fake.algorithm[2] = (struct invented){ .name = "slower", .ns = 14e3 };
	is_int(measure(&err), STATUS_OK, "measured: %s", err.text);
	ok(is_full("lower", 10.5e3), "judged at a lower clock, it runs again");
	const struct result *r = find("slower", LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST && r->stats.n == 3, "slower at the same clock: dropped");
}

/* A clock that is lower whenever this algorithm runs gives it no advantage. */
static void test_always(void)
{
	struct error err;
	begin(2);
	fake.algorithm[0] = (struct invented){ .name = "first", .ns = 10e3 };
	fake.algorithm[1] =
		(struct invented){ .name = "hot", .ns = 20e3, .low_mhz = 1600, .low_settles = INT32_MAX };
	is_int(measure(&err), STATUS_OK, "measured: %s", err.text);
	const struct result *r = find("hot", LAUNCH_AMORTIZED);
	ok(r && r->stats.stop == STOP_SHORTLIST, "too slow at any clock: dropped");
	near(r ? r->clock_mhz : NAN, 1600, 1e-6, "its clock is told");
}

static void test_mean(void)
{
	struct error err;
	begin(1);
	fake.algorithm[0] = (struct invented){ .name = "swings", .ns = 10e3, .swing = 0.01 };
	is_int(measure(&err), STATUS_OK, "measured: %s", err.text);
	const struct result *r = find("swings", LAUNCH_AMORTIZED);
	near(r ? r->clock_mhz : NAN, STEADY_MHZ, 0.002, "the mean of all samples, not the last one's");
	ok(r && r->clock_mhz != STEADY_MHZ * 0.99 && r->clock_mhz != STEADY_MHZ * 1.01, "%g",
		r ? r->clock_mhz : NAN);
}

/* A short boost of the clock is no cost: the low quantile is of samples at the steady clock. */
static void test_boost(void)
{
	struct error err;
	begin(1);
	fake.algorithm[0] = (struct invented){ .name = "boosts", .ns = 10e3, .boost = 0.2, .boost_each = 5 };
	is_int(measure(&err), STATUS_OK, "measured: %s", err.text);
	const struct result *r = find("boosts", LAUNCH_AMORTIZED);
	near(r ? stats_cost(&r->stats) : NAN, 10e3, 1e-3, "the cost is not that of the boosted fifth");
	ok(r && r->stats.discarded > 0 && r->stats.n >= 20, "they are discarded");
}

/* Fixed costs: T(N) / N is too long, and T(2N) - T(N) shows it. */
static void test_slope(void)
{
	struct error err;
	begin(1);
	fake.algorithm[0] = (struct invented){ .name = "fixed", .ns = 10e3, .fixed_ns = 20e3 };
	is_int(measure(&err), STATUS_OK, "measured: %s", err.text);
	const struct result *r = find("fixed", LAUNCH_AMORTIZED);
	ok(r && r->stats.median > 10.8e3, "20 us in each sample of 200: %g", r ? r->stats.median : NAN);
	ok(r && r->stats.p10_lo <= 10.01e3 && r->stats.p10_hi >= r->stats.p10,
		"the interval contains the slope");
	ok(r && strstr(r->why, "each execution more takes 10 to 10 us, not 11 us"), "and why: %s",
		r ? r->why : "");
	r = find("fixed", LAUNCH_ISOLATED);
	is_str(r ? r->why : "none", "", "isolated ones have no slope");
	begin(1);
	fake.algorithm[0] = (struct invented){ .name = "fixed", .ns = 10e3, .fixed_ns = 1e3 };
	fake.remark = "it is warm";
	is_int(measure(&err), STATUS_OK, "measured: %s", err.text);
	r = find("fixed", LAUNCH_AMORTIZED);
	is_str(r ? r->why : "none", "it is warm", "half a percent is within the tolerance; remarks are kept");
	fake.algorithm[0].fixed_ns = 20e3;
	measure(&err);
	r = find("fixed", LAUNCH_AMORTIZED);
	ok(r && strstr(r->why, "us; it is warm"), "both: %s", r ? r->why : "");
}

static void test_settling(void)
{
	struct error err;
	begin(1);
	fake.algorithm[0] = (struct invented){ .name = "only", .ns = 10e3 };
	is_int(measure(&err), STATUS_OK, "measured: %s", err.text);
	const struct result *r = find("only", LAUNCH_AMORTIZED);
	ok(r && r->stats.n >= STATS_COST_SAMPLES && r->stats.stop == STOP_CONVERGED,
		"settling takes nothing from its budget: %d samples", r ? (int)r->stats.n : 0);
	fake.settle_fails = true;
	is_int(measure(&err), STATUS_FAILED, "a device that cannot settle");
	is_str(err.text, "the heater is broken", "says why");
}

/* A GPU's instruction for tanh is off by up to 2^-11. */
static void tanh_of(const char *text, bool approximates, double worst, enum status status, const char *notes)
{
	struct error err;
	begin(1);
	fake.algorithm[0] = (struct invented){ .name = "only", .ns = 10e3 };
	fake.text = text;
	fake.approximates = approximates;
	fake.worst = worst;
	is_int(measure(&err), status, "%s, off by %g: %s", text, worst, err.text);
	is_str(seen.count ? seen.notes[0] : "none", notes, "its notes");
}

static void test_approximate(void)
{
	const char *tanh32 = "eltwise:f32,f32:tanh:8", *relu = "eltwise:f32,f32:relu:8";
	tanh_of(tanh32, true, 4e-4, STATUS_OK, "approximate_tanh");
	tanh_of(tanh32, true, 5e-6, STATUS_OK, "");
	tanh_of(tanh32, true, 1e-3, STATUS_MISTRUSTED, "");
	tanh_of(tanh32, false, 4e-4, STATUS_MISTRUSTED, "");
	tanh_of(relu, true, 4e-4, STATUS_MISTRUSTED, "");
	tanh_of("matmul:f32,f32.c,f32/f32:ba1bb1m8n8k8:ta0tb0+swish,1", true, 4e-4, STATUS_OK,
		"approximate_tanh");
	tanh_of("rnn:f32,f32.c,f32:lstm:t2n3i4h12d2", true, 4e-4, STATUS_OK, "approximate_tanh");
	tanh_of("rnn:f32,f32.c,f32:rnn_relu:t2n3i4h12d2", true, 4e-4, STATUS_MISTRUSTED, "");
}

int main(void)
{
	low_at_first(4);
	low_at_first(14);
	test_lower();
	test_always();
	test_mean();
	test_boost();
	test_slope();
	test_settling();
	test_approximate();
	return done_testing();
}
