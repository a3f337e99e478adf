#include "config.h"

#include "store/results.h"

#include <math.h>
#include <string.h>

#include "problem/stats.h"
#include "tap.h"

static struct result make(const char *problem, const char *name, int rank, double median, int64_t at)
{
	return (struct result){
		.problem = problem,
		.algorithm = { .api = "oneDNN", .name = name, .layouts = "", .math = "strict", .rank = rank },
		.status = STATUS_OK,
		.cache = CACHE_NET,
		.launch = LAUNCH_AMORTIZED,
		.stats = { .median = median },
		.why = "",
		.measured_at = at,
		.runner_version = "1",
	};
}

static void test_order(void)
{
	struct results *r = results_new();
	int count = -1;
	ok(!results_of(r, "p", &count) && count == 0, "an unknown problem has no results");
	is_int(results_problem_count(r), 0, "empty");
	struct result one = make("p", "b", 2, 20, 100);
	results_add(r, &one);
	one = make("p", "a", 2, 30, 100);
	results_add(r, &one);
	one = make("p", "z", 0, 10, 100);
	results_add(r, &one);
	one = make("q", "z", 0, 11, 100);
	results_add(r, &one);
	const struct result *const *all = results_of(r, "p", &count);
	is_int(count, 3, "three of p");
	is_str(all[0]->algorithm.name, "z", "the lowest rank first");
	is_str(all[1]->algorithm.name, "a", "then by name");
	is_str(all[2]->algorithm.name, "b", "then by name, 2");
	is_int(results_problem_count(r), 2, "two problems");
	ok(all[0]->algorithm.api == all[1]->algorithm.api, "equal texts are kept once");
	results_free(r);
}

static void test_newest(void)
{
	struct results *r = results_new();
	int count;
	struct result one = make("p", "a", 0, 20, 100);
	results_add(r, &one);
	const struct result *held = results_of(r, "p", &count)[0];
	uint64_t version = results_version(r);
	one = make("p", "a", 3, 25, 200);
	results_add(r, &one);
	ok(results_version(r) != version, "the version changes");
	is_int((results_of(r, "p", &count), count), 1,
		"a newer result replaces the older one, also with another rank");
	near(results_of(r, "p", &count)[0]->stats.median, 25, 0, "the newer result is current");
	near(held->stats.median, 20, 0, "a pointer to a replaced result stays valid");
	one = make("p", "a", 0, 99, 50);
	results_add(r, &one);
	near(results_of(r, "p", &count)[0]->stats.median, 25, 0,
		"an older result that is added later does not replace a newer one");
	one = make("p", "a", 0, 26, 200);
	results_add(r, &one);
	near(results_of(r, "p", &count)[0]->stats.median, 26, 0,
		"with equal dates the one added later is current");
	const struct result *const *old = results_replaced(r, "p", &count);
	ok(count == 1 && old[0]->stats.median == 20, "of the replaced results the fastest is kept");
	one = make("p", "a", 0, 26, 300);
	one.launch = LAUNCH_ISOLATED;
	results_add(r, &one);
	one.cache = CACHE_WARM;
	results_add(r, &one);
	one.algorithm.layouts = "src=nChw16c";
	results_add(r, &one);
	is_int((results_of(r, "p", &count), count), 4, "launch, cache and layouts are part of the key");
	one.algorithm.math = "tf32";
	results_add(r, &one);
	one.algorithm.api = "cuDNN";
	one.algorithm.notes = "tensor_core";
	one.kernels = "k";
	results_add(r, &one);
	is_int((results_of(r, "p", &count), count), 6, "math and API are part of the key");
	is_str(results_of(r, "p", &count)[count - 1]->algorithm.notes, "", "missing notes are empty");
	results_free(r);
}

static void test_states(void)
{
	struct device d = { .llc_bytes = 32 << 20, .distances = true };
	double mib = 1 << 20;
	is_str(cache_name(cache_in_pages(CACHE_FARTHEST, true)), "512m@2m", "the name of a state");
	is_int(cache_parse("64m"), CACHE_NEAREST + 6, "the state of a name");
	is_int(device_cache(&d, 22 * mib), CACHE_NEAREST + 5,
		"a model's own state: the next larger distance");
	is_int(device_cache(&d, 32 * mib), CACHE_NEAREST + 5, "also if it is that");
	is_int(device_cache(&d, mib), CACHE_WARM, "near: warm");
	is_int(device_cache(&d, 64 * mib), CACHE_NET, "beyond twice the last cache: net");
	is_int(device_cache(&d, NAN), CACHE_NET, "unknown: net");
	d.llc_bytes = NAN;
	is_int(device_cache(&d, 400 * mib), CACHE_FARTHEST, "a cache of unknown size may hold much");
	is_int(device_cache(&d, 600 * mib), CACHE_NET, "but not all");
	near(cache_step(CACHE_NEAREST + 5, 32 * mib), 1, 0, "at the distance itself");
	near(cache_step(CACHE_NEAREST + 5, sqrt(2) * 16 * mib), 0.5, 1e-9,
		"half way, on a logarithmic scale");
	near(cache_step(CACHE_NET, 1), 1, 0, "net has no step");
}

/* What is missing, state by state. */
static void test_lack(void)
{
	static const char with[] = "binary:f32,f32.c,f32:add:1x64:64", without[] = "eltwise:f32,f32:relu:4";
	struct results *r = results_new();
	struct device d = { .llc_bytes = 32 << 20, .distances = true, .huge_pages = true },
		      plain = { .llc_bytes = 32 << 20 };
	bool own[CACHE_COUNT], far[CACHE_COUNT], lacks[CACHE_COUNT];
	device_states(&d, 12 << 20, false, own);
	device_states(&d, 1e9, false, far);
	ok(own[CACHE_NEAREST + 4] && own[CACHE_NEAREST + 3] && own[CACHE_WARM] && !own[CACHE_NET],
		"a model needs the two distances around its own, and warm");
	ok(results_lack(r, with, own, lacks) && lacks[CACHE_WARM], "unknown: all is lacking");
	struct result one = make(with, "a", 0, 10, 100);
	results_add(r, &one);
	ok(results_lack(r, with, far, lacks), "not finished: all");
	results_finish(r, with);
	ok(!results_lack(r, with, far, lacks), "a result in net: nothing for a model that needs net");
	ok(results_lack(r, with, own, lacks) && lacks[CACHE_NEAREST + 4] && lacks[CACHE_NEAREST + 3] &&
			!lacks[CACHE_WARM],
		"but the distances for another; warm is no reason");
	one.cache = CACHE_NEAREST + 3;
	results_add(r, &one);
	ok(results_lack(r, with, own, lacks) && lacks[CACHE_NEAREST + 4] && !lacks[CACHE_NEAREST + 3],
		"one is left");
	one.cache = CACHE_NEAREST + 4;
	one.status = STATUS_NO_MEMORY;
	one.measured_at += 10;
	results_add(r, &one);
	ok(!results_lack(r, with, own, lacks), "that its copies have no room is an answer, asked once");
	one.status = STATUS_OK;
	one.measured_at -= 5;
	results_add(r, &one);
	int count, there = 0;
	const struct result *const *all = results_of(r, with, &count);
	for (int i = 0; i < count; i++)
		there += all[i]->status == STATUS_OK && all[i]->cache == CACHE_NEAREST + 4;
	is_int(there, 1, "an older measurement of a time when there was room stands");
	one.status = STATUS_NO_MEMORY;
	one.measured_at += 20;
	results_add(r, &one);
	all = results_of(r, with, &count);
	for (int i = 0; i < count; i++)
		there += all[i]->status == STATUS_NO_MEMORY;
	is_int(there, 1, "also beside a later lack of room");
	device_states(&plain, 12 << 20, true, own);
	ok(!results_lack(r, with, own, lacks), "a runner without distances has what it can measure");
	one = make(without, "a", 0, 10, 100);
	results_add(r, &one);
	results_finish(r, without);
	device_states(&d, 12 << 20, true, own);
	ok(results_lack(r, without, own, lacks) && lacks[cache_in_pages(CACHE_NEAREST + 4, true)] &&
			!lacks[CACHE_NEAREST + 4],
		"without constants one state for each size of pages");
	one = make("eltwise:f32,f32:tanh:4", "", 0, NAN, 100);
	one.status = STATUS_UNSUPPORTED;
	results_add(r, &one);
	results_finish(r, one.problem);
	ok(!results_lack(r, one.problem, own, lacks), "what cannot be measured lacks nothing");
	results_free(r);
}

static void test_between(void)
{
	struct results *r = results_new();
	struct result one = make("p", "a", 0, 20, 100);
	int count;
	one.cache = CACHE_NEAREST + 4;
	one.stats = (struct sample_stats){ .n = 30, .min = 18, .q1 = 19, .median = 20, .q3 = 21,
		.mean = 20, .lo = 19, .hi = 21, .p10 = 19, .p10_lo = 18, .p10_hi = 20,
		.stop = STOP_CONVERGED };
	results_add(r, &one);
	one.cache = CACHE_NEAREST + 3;
	one.stats.min = one.stats.p10_lo = 8;
	one.stats.p10 = 9;
	one.stats.p10_hi = 10;
	one.stats.n = 40;
	one.times = 3;
	one.least_ns = 9;
	one.most_ns = 17;
	results_add(r, &one);
	const struct result *const *all = results_of(r, "p", &count);
	const struct result *near = all[0]->cache == CACHE_NEAREST + 3 ? all[0] : all[1],
		*far = near == all[0] ? all[1] : all[0], *mix = results_between(r, near, far, 0.25);
	near(stats_cost(&mix->stats), 11.5, 1e-9, "a quarter of the way between the costs");
	ok(stats_cost_lo(&mix->stats) <= 8 && stats_cost_hi(&mix->stats) >= 20,
		"its interval is that of both");
	near(mix->least_ns, 11.5, 1e-9, "so is the lowest of several times");
	near(mix->most_ns, 17.5, 1e-9, "and the highest, where one was measured once");
	ok(mix->cache == far->cache && mix->stats.n == 30, "it stands for the farther one");
	ok(results_between(r, near, far, 0.25) == mix, "the same again");
	ok(results_between(r, near, far, 0.5) != mix, "another step is another one");
	results_of(r, "p", &count);
	is_int(count, 2, "it is no result of the problem");
	results_free(r);
}

/* Those who keep pointers hold the results. */
static void test_hold(void)
{
	struct results *r = results_new();
	struct result one = make("p", "a", 0, 20, 100);
	int count, bad = 0;
	results_add(r, &one);
	const struct result *kept = results_of(r, "p", &count)[0];
	results_hold(r);
	results_hold(r);
	results_release(r);
	for (int i = 1; i <= 40000; i++) {
		one = make("p", "a", 0, 19 - i % 3, 100 + i); /* the first one is soon dropped for good */
		results_add(r, &one);
		bad += kept->stats.median != 20 || kept->measured_at != 100;
	}
	is_int(bad, 0, "a dropped result stays while it is held");
	size_t before = results_bytes(r);
	results_release(r);
	for (int i = 1; i <= 20000; i++) {
		one = make("p", "a", 0, 19 - i % 3, 50000 + i);
		results_add(r, &one);
	}
	is_int(results_bytes(r), before, "then its memory, and that of the others, is used again");
	is_int(results_of(r, "p", &count)[0]->measured_at, 70000, "the newest is the current one");
	results_free(r);
}

/* Measured again and again, with every state that is kept apart. */
static void test_memory(void)
{
	struct results *r = results_new();
	size_t before = 0;
	int count, bad = 0;
	char name[8];
	for (int i = 0; i < 200000; i++) {
		snprintf(name, sizeof(name), "%d", i % 7);
		struct result one = make("p", name, 0, 20 + i % 5, 100 + i);
		one.stats.stop = i % 3 ? STOP_CONVERGED : STOP_DISTURBED;
		one.status = i % 11 ? STATUS_OK : STATUS_FAILED;
		results_add(r, &one);
		results_add_rough(r, &one);
		before = i == 100000 ? results_bytes(r) : before;
		const struct result *const *all = results_of(r, "p", &count);
		for (int k = 0; k < count; k++)
			bad += strcmp(all[k]->problem, "p") != 0 || all[k]->measured_at < 100 + i - 14;
	}
	is_int(results_bytes(r), before, "100,000 more results of known keys take no memory");
	is_int(bad, 0, "and the current ones are the newest but noisy ones");
	is_int(count, 7, "of each key");
	const struct result *const *old = results_replaced(r, "p", &count);
	is_int(count, 14, "replaced: one of each key and stop");
	for (int k = bad = 0; k < count; k++)
		bad += old[k]->stats.median != 20;
	is_int(bad, 0, "the fastest");
	is_str(results_changed(r, results_version(r) - RESULTS_CHANGES), "p", "the last changes are known");
	results_free(r);
}

/* The median of the current result after these of one key were added, in this order and in the opposite one,
 * which must not matter. */
static double standing(const struct result *list, int n)
{
	double median[2];
	for (int way = 0; way < 2; way++) {
		struct results *r = results_new();
		int count;
		for (int i = 0; i < n; i++)
			results_add(r, &list[way ? n - 1 - i : i]);
		const struct result *const *all = results_of(r, "p", &count);
		is_int(count, 1, "one is current");
		median[way] = all[0]->stats.median;
		results_free(r);
	}
	near(median[1], median[0], 0, "in any order");
	return median[0];
}

static struct result sampled(double median, double min, int64_t n, enum stop stop, int64_t at)
{
	struct result one = make("p", "a", 0, median, at);
	one.stats.n = n;
	one.stats.min = min;
	one.stats.stop = stop;
	return one;
}

static void test_evidence(void)
{
	struct result list[] = { sampled(20, 19, 30, STOP_CONVERGED, 100),
		sampled(2000, 1900, 30, STOP_DISTURBED, 200) };
	near(standing(list, 2), 20, 0, "a noisy result does not replace a better one");
	list[1] = sampled(2000, 2000, 1, STOP_BUDGET, 200);
	near(standing(list, 2), 20, 0, "nor does one of a single sample");
	list[1] = sampled(60, 50, 3, STOP_SHORTLIST, 200);
	near(standing(list, 2), 20, 0, "nor one of the shortlist");
	list[1] = sampled(25, 24, 30, STOP_BUDGET, 200);
	near(standing(list, 2), 25, 0, "one as good does");
	list[0].stats.stop = STOP_DISTURBED;
	near(standing(list, 2), 25, 0, "and a better one a noisy one");
	list[1] = sampled(40, 30, 30, STOP_DISTURBED, 200);
	near(standing(list, 2), 20, 0, "of two noisy ones that with the lower minimum stands");
	list[1] = sampled(40, 10, 30, STOP_DISTURBED, 200);
	near(standing(list, 2), 40, 0, "... also if it is the later one");
	list[0] = sampled(20, 19, 30, STOP_CONVERGED, 100);
	list[1].runner_version = "2";
	near(standing(list, 2), 40, 0, "another version of the runner replaces all results");
	list[1].runner_version = "1";
	list[1].status = STATUS_FAILED;
	near(standing(list, 2), 40, 0, "and so does a failure");
	list[1].status = STATUS_OK;
	struct results *r = results_new();
	int count;
	results_add(r, &list[0]);
	results_add(r, &list[1]);
	ok(results_replaced(r, "p", &count)[0]->stats.median == 40 && count == 1,
		"the one that does not stand is among the replaced ones");
	results_free(r);
}

static void test_same_key(void)
{
	const struct result one = make("p", "a", 0, 20, 100);
	struct result others[6];
	for (int i = 0; i < 6; i++)
		others[i] = one;
	others[0].algorithm.name = "b";
	others[1].algorithm.layouts = "nhwc";
	others[2].algorithm.api = "cuDNN";
	others[3].algorithm.math = "tf32";
	others[4].cache = CACHE_WARM;
	others[5].launch = LAUNCH_ISOLATED;
	for (int i = 0; i < 6; i++)
		ok(!results_same_key(&one, &others[i]) && !results_same_key(&others[i], &one),
			"another key, part %d", i);
	struct result again = make("q", "a", 7, 30, 200);
	again.status = STATUS_FAILED;
	ok(results_same_key(&one, &again), "rank, time, date and status are not part of the key");
}

static void test_whole_failure(void)
{
	struct results *r = results_new();
	int count;
	struct result crash = make("p", "", 0, NAN, 100);
	crash.status = STATUS_CRASHED;
	crash.why = NULL;
	results_add(r, &crash);
	is_str(results_of(r, "p", &count)[0]->why, "", "a missing text is empty");
	struct result one = make("p", "a", 0, 20, 200);
	results_add(r, &one);
	ok(results_of(r, "p", &count)[0]->status == STATUS_OK && count == 1,
		"a later result replaces a failure of the whole problem");
	crash.measured_at = 150;
	results_add(r, &crash);
	is_int((results_of(r, "p", &count), count), 1, "an older failure that is added later is not current");
	crash.measured_at = 300;
	results_add(r, &crash);
	is_int((results_of(r, "p", &count), count), 2,
		"a later failure of the whole problem does not replace results");
	results_free(r);
}

static void test_finished(void)
{
	struct results *r = results_new();
	struct result one = make("p", "a", 0, 20, 200);
	results_add(r, &one);
	ok(!results_is_finished(r, "p"), "a problem with a result is not finished");
	results_finish(r, "p");
	results_finish(r, "q");
	ok(results_is_finished(r, "p") && results_is_finished(r, "q"), "finished");
	is_int(results_problem_count(r), 1, "a finished problem without results is not counted");
	uint64_t version = results_version(r);
	one.stats.lo = NAN;
	results_add(r, &one);
	ok(results_version(r) == version, "adding an equal result changes nothing");
	one.problem = NULL;
	one.algorithm = (struct algorithm){ 0 };
	results_add(r, &one);
	is_int(results_problem_count(r), 2, "NULL texts are accepted");
	results_free(r);
}

static void test_many(void)
{
	struct results *r = results_new();
	char problem[32], name[32];
	for (int i = 0; i < 20000; i++) {
		snprintf(problem, sizeof(problem), "p%d", i % 5000);
		snprintf(name, sizeof(name), "a%d", i / 5000);
		struct result one = make(problem, name, 3 - i / 5000, i, 1);
		results_add(r, &one);
	}
	int count, good = 0;
	ok(results_have_cache(r, CACHE_NET) && !results_have_cache(r, CACHE_WARM), "in one cache state");
	for (int i = 0; i < 5000; i++) {
		snprintf(problem, sizeof(problem), "p%d", i);
		const struct result *const *all = results_of(r, problem, &count);
		good += count == 4 && all[0]->algorithm.rank == 0 && all[0]->stats.median == 15000 + i;
	}
	is_int(good, 5000, "5000 problems with four results each");
	is_int(results_problem_count(r), 5000, "counted");
	results_free(r);
}

/* A full result of `n` samples around `ns`, with its sketch. */
static void add_full(struct results *r, double ns, int n, int64_t at)
{
	struct samples s = { 0 };
	struct str sketch = { 0 };
	struct result one = make("p", "a", 0, ns, at);
	for (int i = 0; i < n; i++)
		samples_add(&s, ns * (1 + 0.001 * (i % 10)));
	stats_compute(&s, &one.stats);
	stats_sketch(&s, &sketch);
	one.stats.stop = STOP_CONVERGED;
	one.sketch = sketch.p;
	results_add(r, &one);
	results_add(r, &one); /* as it is read back from the file */
	str_free(&sketch);
	samples_free(&s);
}

static const struct result *current_of(const struct results *r)
{
	int count;
	const struct result *const *all = results_of(r, "p", &count);
	ok(count == 1, "one stands");
	return all[0];
}

/* What agrees is pooled; what differs is decided by repetition: neither the newest nor the lowest stands. */
static void test_pooled(void)
{
	struct results *r = results_new();
	add_full(r, 100, 30, 1);
	add_full(r, 101, 40, 2);
	const struct result *s = current_of(r);
	ok(s->stats.n == 70 && s->times == 2 && s->measured_at == 2, "two that agree are one of all samples");
	ok(stats_cost(&s->stats) > 99 && stats_cost(&s->stats) < 101.5 && !s->disputed, "with their cost");
	add_full(r, 1, 30, 3);
	s = current_of(r);
	ok(s->stats.n == 70 && !s->disputed, "one that is 100 times too fast does not stand");
	add_full(r, 300, 30, 4);
	ok(current_of(r)->stats.n == 70, "nor one that is 3 times too slow");
	add_full(r, 99, 30, 5);
	s = current_of(r);
	ok(s->stats.n == 100 && s->times == 3, "a third one that agrees is pooled too");
	results_free(r);
}

/* A machine that was slower for seconds: the cost is the low quantile of the samples of all times. */
static void test_slow_times(void)
{
	struct results *r = results_new();
	add_full(r, 145, 60, 1);
	add_full(r, 100, 20, 2);
	const struct result *s = current_of(r);
	ok(s->stats.n == 80 && s->times == 2 && !s->disputed, "a machine slower by 45%%: both count");
	ok(stats_cost(&s->stats) < 103, "the cost is that of the faster time: %g", stats_cost(&s->stats));
	ok(s->least_ns < 103 && s->most_ns > 140, "and both are known: %g to %g", s->least_ns, s->most_ns);
	add_full(r, 148, 60, 3);
	s = current_of(r);
	ok(s->times == 3 && stats_cost(&s->stats) < 103 && s->most_ns > 145,
		"a slow one more does not raise it");
	results_free(r);
}

/* Small steps do not lead anywhere: a measurement must agree with each that is pooled. */
static void test_chain(void)
{
	struct results *r = results_new();
	double cost = 700;
	for (int i = 0; i < 5; i++, cost /= 1.45)
		add_full(r, cost, 30, 10 + i);
	const struct result *s = current_of(r);
	double ns = stats_cost(&s->stats);
	ok(s->times == 2 && ns > 300 && ns < 350, "steps of 1.45: two neighbours are pooled, %g", ns);
	ok(s->disputed, "and disputed by others that were pooled");
	results_free(r);
}

/* What stands of results a factor of 1.5 apart does not depend on the order in which they are added. */
static void test_any_order(void)
{
	static const double ns[] = { 100, 150, 225, 101, 300 };
	static const int orders[][5] = { { 0, 1, 2, 3, 4 }, { 4, 3, 2, 1, 0 }, { 2, 1, 0, 4, 3 },
		{ 1, 2, 4, 0, 3 } };
	for (int n = 3; n <= 5; n++) {
		struct sample_stats stats = { 0 };
		for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
			struct results *r = results_new();
			for (int k = 0; k < 5; k++)
				if (orders[i][k] < n)
					add_full(r, ns[orders[i][k]], 30, 10 + orders[i][k]);
			const struct result *s = current_of(r);
			ok(!s->disputed && s->times == (n == 3 ? 2 : 3), "%d results, order %d: %d", n,
				(int)i, s->times);
			ok(!i || memcmp(&s->stats, &stats, sizeof(stats)) == 0, "the same ones are pooled");
			stats = s->stats;
			results_free(r);
		}
	}
	struct results *r = results_new();
	size_t before = 0;
	for (int i = 0; i < RESULTS_CHANGES; i++) {
		add_full(r, 100 * pow(2, i % 16), 30, i);
		before = i == RESULTS_CHANGES * 3 / 4 - 1 ? results_bytes(r) : before;
	}
	is_int(results_bytes(r), before, "many results of a key take no more memory");
	results_free(r);
}

static void test_disputed(void)
{
	struct results *r = results_new();
	add_full(r, 300, 30, 1);
	add_full(r, 100, 30, 2);
	const struct result *s = current_of(r);
	ok(stats_cost(&s->stats) > 250 && s->disputed, "of two that differ the first one stands, disputed");
	add_full(r, 101, 30, 3);
	s = current_of(r);
	ok(stats_cost(&s->stats) < 110 && s->times == 2 && !s->disputed, "the one that repeats stands");
	add_full(r, 301, 30, 4);
	s = current_of(r);
	ok(stats_cost(&s->stats) < 110 && s->disputed, "two against two: disputed again");
	for (int i = 0; i < 20; i++)
		add_full(r, 1000 * pow(2, i), 30, 5 + i);
	ok(stats_cost(&current_of(r)->stats) < 110, "many that differ from all do not matter");
	struct result slow = make("p", "a", 0, 500, 100);
	slow.stats.stop = STOP_DISTURBED;
	results_add(r, &slow);
	ok(stats_cost(&current_of(r)->stats) < 110, "nor does a noisy one");
	slow = make("p", "a", 0, 500, 101);
	results_add(r, &slow);
	ok(stats_cost(&current_of(r)->stats) < 110, "nor one whose cost is a median");
	results_free(r);
	r = results_new();
	slow.measured_at = 1;
	results_add(r, &slow);
	add_full(r, 100, 30, 2);
	ok(stats_cost(&current_of(r)->stats) < 101, "which a full one replaces");
	results_free(r);
}

int main(void)
{
	test_order();
	test_newest();
	test_hold();
	test_memory();
	test_evidence();
	test_same_key();
	test_whole_failure();
	test_finished();
	test_pooled();
	test_slow_times();
	test_chain();
	test_any_order();
	test_disputed();
	test_states();
	test_lack();
	test_between();
	test_many();
	return done_testing();
}
