#include "config.h"

#include "drive/queue_private.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "queue_help.h"

#define OK "eltwise:f32,f32:relu:1x64"
#define OK2 "eltwise:f32,f32:relu:2x64"
#define OK3 "eltwise:f32,f32:relu:3x64"
#define OK4 "eltwise:f32,f32:relu:4x64"
#define CRASH "eltwise:f32,f32:tanh:1x64"
#define HANG "eltwise:f32,f32:sigmoid:1x64"
#define STOPPED "eltwise:f32,f32:exp:1x64"
#define GARBAGE "eltwise:f32,f32:logarithm:1x64"
#define HALF "eltwise:f32,f32:sqrt:1x64"
#define STRANGER "eltwise:f32,f32:abs:1x64"
#define LONG "eltwise:f32,f32:square:1x64"
#define STUBBORN "eltwise:f32,f32:hard_swish:1x64"
#define UNSUPPORTED "eltwise:f32,f32:round:1x64"
#define UNSOUND(way) "eltwise:f32,f32:hard_sigmoid,0.2,0.5:" way "x64"
#define REPEAT "softmax:f32,f32:log:1x64:ax1"
#define NOTHING "eltwise:f32,f32:softplus:1x64"
#define ZERO "eltwise:f32,f32:gelu_erf:1x64"
#define FLOOD "eltwise:f32,f32:mish:1x64"
#define ENDLESS "eltwise:f32,f32:gelu_tanh:1x64"
#define NAN_TIME "eltwise:f32,f32:leaky_relu,0.1:1x64"
#define HUGE_TIME "eltwise:f32,f32:elu,1:1x64"
#define NEGATIVE_TIME "eltwise:f32,f32:clip,0,6:1x64"
#define AFTER "eltwise:f32,f32:affine,1,0:1x64"
#define NOISE "pool:f32,f32:max:n1c64h112w112r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1"
#define WRONG_WAY "softmax:f32,f32:soft:1x64:ax1"

static void bench_open_as(struct bench *b, const char *db, const char *hello, const char *asked)
{
	*b = (struct bench){ .config = { .budget_ms = 10, .problem_limit_ms = 60000, .device = asked },
		.argv = { fake, NULL } };
	b->runners[0] = (struct config_runner){ .name = "fake", .argc = 1, .argv = b->argv };
	b->config.runners = b->runners;
	b->config.runner_count = 1;
	setenv("FAKE_HELLO", hello, 1);
	bench_begin(b, db);
}

static void bench_open(struct bench *b, const char *db, const char *hello)
{
	bench_open_as(b, db, hello, NULL);
}

static int bench_results(struct bench *b, const char *problem)
{
	int count;
	results_of(b->results, problem, &count);
	return count;
}

static void test_order(void)
{
	struct job_list l;
	job_list_init(&l);
	int a = job_make(&l, JOB_PROBLEM, "a"), b = job_make(&l, JOB_PROBLEM, "b"),
	    c = job_make(&l, JOB_PROBLEM, "c");
	int d = job_make(&l, JOB_PROBLEM, "d");
	is_int(job_make(&l, JOB_PROBLEM, "b"), b, "a problem has one job");
	ok(job_find(&l, "model", "b") < 0, "a payload of another kind is another job");
	job_enqueue(&l, a, false);
	job_enqueue(&l, b, false);
	job_enqueue(&l, c, true);
	job_enqueue(&l, d, false);
	ok(job_position(&l, c) == 1 && job_position(&l, a) == 2 && job_position(&l, b) == 3 &&
			job_position(&l, d) == 4,
		"head and tail");
	job_set(&l, b, JOB_NONE, NULL);
	job_enqueue(&l, b, true);
	ok(job_position(&l, b) == 1 && job_position(&l, c) == 2 && job_position(&l, a) == 3 &&
			job_position(&l, d) == 4,
		"from the middle to the head");
	job_set(&l, b, JOB_RUNNING, NULL);
	ok(job_position(&l, b) == 0 && job_position(&l, c) == 1 && job_position(&l, d) == 3,
		"the head has left");
	is_int(l.by_state[JOB_PENDING], 3, "pending jobs are counted");
	is_int(l.by_state[JOB_RUNNING], 1, "running jobs are counted");
	is_int(l.by_state[JOB_NONE], 0, "every job was added");
	job_make(&l, JOB_PROBLEM, "e");
	is_int(l.by_state[JOB_NONE], 1, "but this one");
	job_list_free(&l);
}

static void test_ok(void)
{
	struct bench b;
	bench_open(&b, "ok.db", "banner");
	b.config.threads = 3;
	ok(queue_status(b.q).idle && queue_fd(b.q) == -1 && !queue_device(b.q), "no runner is started yet");
	is_int(queue_state(b.q, OK), JOB_NONE, "a problem that was never added");
	is_int(queue_connect(b.q, 20000, &err), 0, "queue_connect skips a banner");
	is_str(queue_device(b.q)->model, "Fake CPU", "the device");
	is_int(queue_device(b.q)->threads, 3, "the configured threads are passed on");
	ok(queue_fd(b.q) >= 0, "there is something to poll");
	is_int(store_device_find(b.store, queue_device(b.q), &err), 0,
		"a device without results is not stored");
	ok(queue_add(b.q, OK, false, false) && queue_add(b.q, OK2, false, false) &&
			queue_add(b.q, OK3, true, false),
		"three added");
	ok(!queue_add(b.q, OK, false, true), "no problem is added twice");
	ok(queue_position(b.q, OK3) == 1 && queue_position(b.q, OK) == 2 && queue_position(b.q, OK2) == 3,
		"in order");
	queue_add(b.q, OK2, true, false);
	ok(queue_position(b.q, OK2) == 1 && queue_position(b.q, OK) == 3, "moved to the head");
	ok(isnan(queue_status(b.q).eta_s), "no estimate yet");
	is_int(queue_status(b.q).pending, 3, "pending");
	is_int(bench_run(&b), 6, "two results each");
	ok(store_device_find(b.store, queue_device(b.q), &err) > 0,
		"the device is stored with its first results");
	struct queue_status s = queue_status(b.q);
	ok(s.done == 3 && s.pending == 0 && s.running == 0 && s.failed == 0 && s.idle && !s.current,
		"all done");
	ok(s.eta_s == 0 && s.elapsed_s >= 0, "times");
	is_str(s.trouble, "", "no trouble");
	is_int(queue_state(b.q, OK), JOB_DONE, "state");
	is_int(bench_results(&b, OK), 2, "results in memory");
	int count;
	const struct result *one = results_of(b.results, OK, &count)[0];
	ok(llabs((long long)one->measured_at - (long long)time(NULL)) < 1000,
		"the date is ours, not the runner's");
	is_str(one->runner_version, "9.9", "a missing runner version is filled in");
	ok(!queue_add(b.q, OK, false, false), "a finished problem is not added again");
	ok(queue_add(b.q, OK, false, true), "it is added with `again`");
	is_int(queue_status(b.q).batch_done, 0, "a new batch counts from its start");
	is_int(bench_run(&b), 2, "measured again");
	s = queue_status(b.q);
	ok(s.batch_done == 1 && s.done == 3 && s.silence_s == 0, "one in this batch, three in all");
	bench_close(&b);

	bench_open(&b, "ok.db", "");
	is_int(queue_connect(b.q, 20000, &err), 0, "another time");
	is_int(bench_results(&b, OK), 2, "stored results are loaded");
	ok(!queue_add(b.q, OK, false, false), "a stored problem is not measured again");
	bench_close(&b);

	bench_open(&b, "ok.db", "");
	bool met = queue_connect(b.q, 0, &err) == 0; /* a quick one may have answered */
	ok(met == (queue_device(b.q) != NULL), "without time it is met or not, and says which");
	ok(queue_status(b.q).starting || queue_device(b.q), "a runner is started");
	for (int i = 0; i < 1000 && !queue_device(b.q); i++)
		queue_step(b.q, 100, &err);
	ok(queue_device(b.q) != NULL, "queue_step handles its hello");
	bench_close(&b);

	bench_open(&b, "ok.db", "");
	ok(queue_add(b.q, OK, false, false), "a problem is added before the device is known");
	is_int(bench_run(&b), 0, "it is removed when the stored results are loaded");
	is_int(queue_state(b.q, OK), JOB_NONE, "its state is JOB_NONE");
	bench_close(&b);
}

/* Each model asks for its own reuse distance; what an earlier one left is not measured again. */
static void test_distances(void)
{
	static const char problem[] = "binary:f32,f32.c,f32:add:1x64:64";
	struct bench b;
	setenv("FAKE_DISTANCES", "1", 1);
	setenv("FAKE_ALL", "0", 1);
	bench_open(&b, NULL, "");
	queue_set_distance(b.q, 12 << 20, false);
	queue_add(b.q, problem, false, false);
	queue_add(b.q, OK, false, false);
	bench_run(&b);
	ok(results_have_cache(b.results, CACHE_NEAREST + 4) &&
			results_have_cache(b.results, CACHE_NEAREST + 3) &&
			results_have_cache(b.results, CACHE_WARM) &&
			!results_have_cache(b.results, CACHE_NET),
		"the distances around the model's, and warm");
	is_int(bench_results(&b, problem), 6, "of two algorithms");
	ok(!queue_add(b.q, problem, false, false), "then it has all");
	queue_set_distance(b.q, 9 << 20, false);
	ok(!queue_takes(b.q, problem), "so it has for another model between the same distances");
	queue_set_distance(b.q, 20 << 20, false);
	ok(queue_takes(b.q, problem) && queue_add(b.q, problem, false, false),
		"but not for one farther away");
	bench_run(&b);
	is_int(bench_results(&b, problem), 8, "which adds the one that is missing");
	queue_set_distance(b.q, 1 << 30, false);
	ok(queue_add(b.q, problem, false, false), "nor for one beyond all caches");
	ok(!queue_takes(b.q, OK), "without constants all of them are the same");
	bench_run(&b);
	ok(results_have_cache(b.results, CACHE_NET), "which reads them from memory");
	queue_set_distance(b.q, 20 << 20, true);
	ok(queue_takes(b.q, problem) && queue_takes(b.q, OK), "pages of 2 MiB are states of their own");
	bench_close(&b);
	bench_open(&b, NULL, "");
	queue_set_distance(b.q, 20 << 20, false);
	ok(queue_add_brief(b.q, problem, false), "a peak is added");
	bench_run(&b);
	ok(!queue_takes_brief(b.q, problem) && !queue_add_brief(b.q, problem, false),
		"one state finishes it");
	ok(queue_takes(b.q, problem), "but not a problem of the model");
	bench_close(&b);
	unsetenv("FAKE_DISTANCES");
	bench_open(&b, NULL, "");
	queue_set_distance(b.q, 12 << 20, true);
	queue_add(b.q, problem, false, false);
	bench_run(&b);
	ok(results_have_cache(b.results, CACHE_NET) && !results_have_distances(b.results),
		"a runner that does not tell is asked for net and warm");
	ok(!queue_takes(b.q, problem), "and that is all");
	unsetenv("FAKE_ALL");
	bench_close(&b);
}

/* A runner that lost its device fails one problem; the next one is another process's. */
static void test_lost_device(void)
{
	struct bench b;
	const char *lost = "eltwise:f32,f32:swish,1:1x64";
	bench_open(&b, NULL, "");
	queue_add(b.q, lost, false, false);
	queue_add(b.q, OK, false, false);
	ok(bench_run(&b) >= 0, "the queue continues");
	is_int(queue_state(b.q, lost), JOB_FAILED, "the problem failed");
	is_int(queue_state(b.q, OK), JOB_DONE, "the next problem is measured");
	bench_close(&b);
}

/* Lost for another reason, its problem goes to a runner again, but not for ever. */
static void test_retried(void)
{
	struct bench b;
	const char *lost = "eltwise:f32,f32:swish,2:1x64";
	bench_open(&b, NULL, "");
	queue_add(b.q, lost, false, false);
	queue_add(b.q, OK, false, false);
	while (queue_state(b.q, lost) != JOB_FAILED && queue_step(b.q, 1000, &err) >= 0)
		;
	is_int(queue_state(b.q, lost), JOB_FAILED, "three lost devices are the problem's fault");
	ok(strstr(queue_why(b.q, lost), "fell off the bus") != NULL, "with the reason: %s",
		queue_why(b.q, lost));
	ok(bench_run(&b) >= 0, "the queue continues");
	is_int(queue_state(b.q, OK), JOB_DONE, "the next problem is measured");
	is_int(b.q->list.jobs[0].lost, 2, "it was tried three times");
	bench_close(&b);
}

/* A failure is tried again, but not in the batch that it happened in. */
static void test_again(void)
{
	struct bench b;
	bench_open(&b, "again.db", "");
	queue_add(b.q, CRASH, false, false);
	queue_add(b.q, UNSUPPORTED, false, false);
	queue_add(b.q, OK, false, false);
	while (queue_state(b.q, CRASH) != JOB_FAILED && queue_step(b.q, 1000, &err) >= 0)
		;
	ok(!queue_status(b.q).idle, "the batch continues");
	ok(!queue_add(b.q, CRASH, false, false), "a failed problem is not added again in the same batch");
	bench_run(&b);
	ok(!results_is_finished(b.results, CRASH), "a crashed problem is not finished");
	ok(results_is_finished(b.results, UNSUPPORTED), "an unsupported problem is finished");
	ok(!queue_add(b.q, UNSUPPORTED, false, false), "a finished problem is not added again");
	ok(queue_add(b.q, CRASH, false, false), "a crashed problem is added again in the next batch");
	bench_close(&b);
}

/* One that another process left in the middle a moment ago waits for the others. */
static void test_elsewhere(void)
{
	struct bench a, b;
	bench_open(&a, "elsewhere.db", "");
	queue_add(a.q, LONG, false, false);
	while (!bench_results(&a, LONG) && queue_step(a.q, 1000, &err) >= 0)
		;
	bench_open(&b, "elsewhere.db", "");
	queue_add(b.q, LONG, false, false);
	queue_add(b.q, OK, false, false);
	while (!queue_status(b.q).current && queue_step(b.q, 1000, &err) >= 0)
		;
	ok(queue_state(b.q, OK) == JOB_RUNNING || queue_state(b.q, OK) == JOB_DONE,
		"other problems go first");
	while (queue_state(b.q, LONG) == JOB_PENDING && queue_step(b.q, 1000, &err) >= 0)
		;
	is_int(queue_state(b.q, LONG), JOB_RUNNING, "then it is measured");
	bench_close(&a);
	bench_close(&b);
}

/* Every way to fail costs its own problem only. */
static void test_failures(void)
{
	static const struct {
		const char *problem, *why;
		enum job_state state;
		enum status status;
	} cases[] = {
		{ CRASH,
			"killed by signal 11 (Segmentation fault); last output: first word | second word | "
			"terrible "
			"thing in the?[31m library",
			JOB_FAILED, STATUS_CRASHED },
		{ GARBAGE, "sent an invalid message", JOB_FAILED, STATUS_CRASHED },
		{ HALF, "ended with status 3 in the middle of a line", JOB_FAILED, STATUS_CRASHED },
		{ UNSUPPORTED, "no implementation", JOB_UNSUPPORTED, STATUS_UNSUPPORTED },
		{ NOTHING, "sent no result for it", JOB_FAILED, STATUS_FAILED },
		{ ZERO, "all its results are suspect", JOB_FAILED, STATUS_MISTRUSTED },
		{ UNSOUND("1"), "all its results are suspect", JOB_FAILED, STATUS_MISTRUSTED },
		{ UNSOUND("2"), "all its results are suspect", JOB_FAILED, STATUS_MISTRUSTED },
		{ UNSOUND("3"), "all its results are suspect", JOB_FAILED, STATUS_MISTRUSTED },
		{ UNSOUND("4"), "all its results are suspect", JOB_FAILED, STATUS_MISTRUSTED },
		{ UNSOUND("5"), "all its results are suspect", JOB_FAILED, STATUS_MISTRUSTED },
		{ UNSOUND("6"), "all its results are suspect", JOB_FAILED, STATUS_MISTRUSTED },
		{ UNSOUND("7"), "all its results are suspect", JOB_FAILED, STATUS_MISTRUSTED },
		{ NAN_TIME, "sent an invalid message", JOB_FAILED, STATUS_CRASHED },
		{ HUGE_TIME, "sent an invalid message", JOB_FAILED, STATUS_CRASHED },
		{ NEGATIVE_TIME, "sent an invalid message", JOB_FAILED, STATUS_CRASHED },
		{ ENDLESS, "a line that is too long", JOB_FAILED, STATUS_CRASHED },
		{ WRONG_WAY, "echoed a message", JOB_FAILED, STATUS_CRASHED },
		{ HANG, "did not respond for 1 s", JOB_FAILED, STATUS_TIMEOUT },
		{ STOPPED, "did not respond for 1 s", JOB_FAILED, STATUS_TIMEOUT },
	};
	int n = (int)(sizeof(cases) / sizeof(cases[0]));
	for (int i = 0; i < n; i++) {
		struct bench b;
		bench_open(&b, "failures.db", "");
		if (cases[i].status == STATUS_TIMEOUT)
			queue_limits(b.q)->silence = 1000;
		queue_add(b.q, cases[i].problem, false, false);
		queue_add(b.q, OK, false, true);
		ok(bench_run(&b) > 0, "%s is passed", cases[i].problem);
		is_int(queue_state(b.q, cases[i].problem), cases[i].state, "its state");
		has(queue_why(b.q, cases[i].problem), cases[i].why, "its reason");
		is_int(queue_state(b.q, OK), JOB_DONE, "the next problem is measured");
		struct queue_status now = queue_status(b.q);
		ok(now.batch_done == 1 && now.batch_done + now.batch_failed + now.batch_unsupported == 2,
			"both are counted");
		ok(!now.trouble[0] || now.trouble_past, "trouble_past is set");
		bench_close(&b);
		bench_open(&b, "failures.db", "");
		queue_connect(b.q, 20000, &err);
		int count, found = 0;
		const struct result *const *all = results_of(b.results, cases[i].problem, &count);
		for (int r = 0; r < count; r++)
			found += all[r]->status == cases[i].status && all[r]->algorithm.name[0] == '\0';
		is_int(found, 1, "the failure is stored");
		bool answer = cases[i].status == STATUS_UNSUPPORTED || cases[i].status == STATUS_MISTRUSTED;
		is_int(queue_add(b.q, cases[i].problem, false, false), !answer,
			answer ? "an answer is not asked for again" : "tried again by the next run");
		is_int(queue_add(b.q, cases[i].problem, false, true), answer, "it is added with `again`");
		bench_close(&b);
	}
	struct store *s = store_open(scratch_path("failures.db"), true, &err);
	struct str out = { 0 };
	is_int(store_check(s, &out, &err), 0, "the database is intact");
	printf("# %s\n", out.n ? out.p : "-");
	str_free(&out);
	store_close(s);
}

static void test_strange(void)
{
	struct bench b;
	bench_open(&b, "strange.db", "");
	queue_add(b.q, AFTER, false, false);
	queue_add(b.q, OK2, false, false);
	is_int(bench_run(&b), 2 + 2, "messages after the end of a job are ignored");
	is_int(bench_results(&b, AFTER), 2, "they are not counted");
	queue_add(b.q, STRANGER, false, false);
	queue_add(b.q, NOISE, false, false);
	queue_add(b.q, FLOOD, false, false);
	is_int(bench_run(&b), 1 + 2 + 1, "only results of the job are added");
	int count;
	const struct result *const *all = results_of(b.results, STRANGER, &count);
	ok(count == 1 && all[0]->stats.median == 3000, "they are correct");
	is_int(queue_state(b.q, STRANGER), JOB_DONE, "a second end is ignored");
	is_int(bench_results(&b, "eltwise:f32,f32:relu:7"), 0, "a result of another problem is ignored");
	is_int(queue_state(b.q, NOISE), JOB_DONE, "much output on standard error");
	is_int(queue_state(b.q, FLOOD), JOB_DONE, "a million lines on standard error");
	bench_close(&b);
}

/* A job has one result of a key and status, and no more keys than there may be algorithms. */
static void test_repeated(void)
{
	struct bench b;
	bench_open(&b, "repeat.db", "");
	queue_add(b.q, REPEAT, false, false);
	is_int(bench_run(&b), 4096, "of 5300 results, the maximum of one job is added");
	struct str out = { 0 };
	is_int(store_check(b.store, &out, &err), 0, "the database is intact");
	str_free(&out);
	int count;
	const struct result *const *all = results_replaced(b.results, REPEAT, &count);
	ok(count == 1 && all[0]->stats.median == 1000, "of 300 results with one key the first is added");
	all = results_of(b.results, REPEAT, &count);
	is_str(count ? all[0]->why : NULL, "none left", "a later failure of the algorithm is added");
	is_int(count, 4095, "results with other keys are added");
	queue_add(b.q, REPEAT, false, true);
	is_int(bench_run(&b), 4096, "measured again, all are added again");
	bench_close(&b);
}

static void test_flood_is_bounded(void)
{
	struct bench b;
	bench_open(&b, NULL, "");
	queue_connect(b.q, 20000, &err);
	queue_add(b.q, FLOOD, false, false);
	int steps = 0;
	while (!queue_status(b.q).idle && queue_step(b.q, 1000, &err) >= 0)
		steps++;
	ok(steps >= 1000, "a step takes a thousand messages at most (%d steps)", steps);
	bench_close(&b);
}

/* What takes longer than expected is not about to end. */
static void test_overdue(void)
{
	struct bench b;
	bench_open(&b, NULL, "");
	queue_add(b.q, OK, false, false);
	is_int(bench_run(&b), 2, "a quick one teaches what alike ones take");
	double quick_s = queue_took_s(b.q, OK);
	queue_add(b.q, HANG, false, false);
	while (queue_status(b.q).elapsed_s < 20 * quick_s + 0.1 && queue_step(b.q, 20, &err) >= 0)
		;
	struct queue_status s = queue_status(b.q);
	ok(s.eta_s >= 0.2 * (s.elapsed_s - quick_s), "%.3f s after %.3f: some of what it took so far is left",
		s.eta_s, s.elapsed_s);
	bench_close(&b);
}

static void test_limits(void)
{
	struct bench b;
	bench_open(&b, "limits.db", "");
	queue_limits(b.q)->problem = 150;
	queue_add(b.q, LONG, false, false);
	is_int(bench_run(&b), 1, "cancelled at the time limit");
	is_int(queue_state(b.q, LONG), JOB_DONE, "its results so far are kept");
	ok(results_is_finished(b.results, LONG), "the problem is finished");
	queue_limits(b.q)->grace = 500;
	queue_add(b.q, STUBBORN, false, false);
	queue_add(b.q, OK, false, false);
	ok(bench_run(&b) > 0, "a runner that ignores the cancel is killed");
	is_int(queue_state(b.q, STUBBORN), JOB_DONE, "its results so far are kept");
	is_int(queue_state(b.q, OK), JOB_DONE, "the next problem is measured");
	bench_close(&b);
}

static void test_cancel(void)
{
	struct bench b;
	bench_open(&b, "cancel.db", "");
	queue_add(b.q, LONG, false, false);
	queue_add(b.q, OK, false, false);
	while (!bench_results(&b, LONG) || !queue_status(b.q).current_what[0])
		if (queue_step(b.q, 1000, &err) < 0)
			break;
	is_str(queue_status(b.q).current, LONG, "the current problem");
	is_str(queue_status(b.q).current_what, "slowly", "the current algorithm");
	queue_cancel(b.q);
	is_int(queue_state(b.q, OK), JOB_NONE, "the pending job is removed");
	ok(bench_run(&b) >= 0, "the running job ends");
	is_int(bench_results(&b, LONG), 1, "its result is kept");
	is_int(queue_status(b.q).failed, 0, "it is not failed");
	ok(!results_is_finished(b.results, LONG), "it is not finished");
	bench_close(&b);
	bench_open(&b, "cancel.db", "");
	queue_connect(b.q, 20000, &err);
	is_int(bench_results(&b, LONG), 1, "its result is stored");
	ok(queue_add(b.q, LONG, false, false), "it can be added again");
	queue_limits(b.q)->grace = 100;
	queue_add(b.q, STUBBORN, true, false);
	while (queue_status(b.q).current == NULL || strcmp(queue_status(b.q).current, STUBBORN) != 0 ||
		!bench_results(&b, STUBBORN) || !queue_status(b.q).current_what[0])
		if (queue_step(b.q, 1000, &err) < 0)
			break;
	has(queue_status(b.q).current_what, "slowly", "a long algorithm name in the heartbeat");
	ok(text_is_clean(text_of(queue_status(b.q).current_what)), "is truncated at a character boundary");
	queue_cancel(b.q);
	ok(bench_run(&b) >= 0, "a runner that ignores the cancel is killed");
	is_int(queue_status(b.q).failed, 0, "the job does not fail");
	is_int(queue_state(b.q, STUBBORN), JOB_NONE, "its state is JOB_NONE");
	queue_add(b.q, OK, false, false);
	is_int(bench_run(&b), 2, "the queue continues");
	bench_close(&b);
}

static void expect_no_runner(const char *hello, const char *part, const char *name)
{
	struct bench b;
	bench_open(&b, NULL, hello);
	err.text[0] = '\0';
	is_int(queue_connect(b.q, 20000, &err), -1, "no runner: connect");
	has(err.text, part, name);
	queue_add(b.q, OK, false, false);
	err.text[0] = '\0';
	is_int(bench_run(&b), -1, "no runner: step");
	has(err.text, part, name);
	is_int(queue_state(b.q, OK), JOB_PENDING, "pending jobs stay pending");
	is_int(bench_results(&b, OK), 0, "they do not fail");
	has(queue_status(b.q).trouble, part, "the trouble is reported");
	bench_close(&b);
}

static void test_no_runner(void)
{
	expect_no_runner(
		"exit", "libdnnl.so.2: cannot open shared object file; the runner ", "a runner that exits");
	expect_no_runner("old", "protocol 0", "an older protocol");
	expect_no_runner("newer", "install the same version of both", "a newer protocol");
	expect_no_runner("flood", "printed 64 KiB and no hello", "not a runner");
	expect_no_runner("broken", "sent a damaged hello", "a damaged hello");
	expect_no_runner("nul", "sent a damaged hello", "a hello with a NUL, its members in another order");
	expect_no_runner("blank", "sent too many empty lines", "only empty lines");
	struct bench b;
	bench_open(&b, NULL, "");
	b.argv[0] = "/nonexistent/runner";
	is_int(queue_connect(b.q, 20000, &err), -1, "a missing command");
	has(err.text, "/nonexistent/runner: No such file or directory", "the error names it");
	bench_close(&b);
	bench_open(&b, NULL, "");
	b.argv[0] = scratch;
	is_int(queue_connect(b.q, 20000, &err), -1, "a directory");
	has(err.text, "Permission denied", "is not a command");
	bench_close(&b);
	bench_open(&b, NULL, "unended");
	is_int(queue_connect(b.q, 20000, &err), 0, "a hello after a banner without a newline");
	bench_close(&b);
	bench_open(&b, NULL, "password");
	while (queue_connect(b.q, 300, &err) &&
		!strstr(err.text, "Password")) /* it has not come so far yet */
		;
	has(err.text, "; instead of a hello it printed: Password: ", "the error has the prompt");
	bench_close(&b);
	bench_open(&b, NULL, "never");
	is_int(queue_connect(b.q, 100, &err), -1, "no hello in time");
	has(err.text, "did not start within 0.1 s", "the error has the limit");
	queue_limits(b.q)->hello = 20;
	queue_add(b.q, OK, false, false);
	is_int(bench_run(&b), -1, "no hello in three starts");
	has(err.text, "no hello", "the error has the reason");
	bench_close(&b);
}

static void test_part(void)
{
	static const struct {
		const char *runner, *device, *part;
	} cases[] = { { "cuda", "cuda", "" }, { "cuda", "cuda:", "" }, { "cuda", "cuda:1", "1" },
		{ "gpu7", "gpu7:GPU-5f", "GPU-5f" }, { "cuda", "GPU-5f00", "GPU-5f00" },
		{ "gpu7", "GPU-5f00", NULL }, { "cuda", "cuda2:1", NULL }, { "cuda2", "cuda:1", NULL },
		{ "cuda", NULL, NULL }, { "cuda", "h100", NULL } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct config_runner r = { .name = cases[i].runner };
		const char *part = queue_device_part(&r, cases[i].device), *wanted = cases[i].part;
		ok(part && wanted ? strcmp(part, wanted) == 0 : part == wanted, "%s of the runner %s",
			cases[i].device ? cases[i].device : "nothing", cases[i].runner);
	}
}

/* queue_connect with a timeout below the limit; a device that the runner does not have is refused. */
static void test_refused(void)
{
	volatile sig_atomic_t stop = 1;
	struct bench b;
	bench_open(&b, NULL, "never");
	queue_set_stop(b.q, &stop);
	time_t before = time(NULL);
	is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), -1, "interrupted while waiting for the hello");
	ok(time(NULL) - before < 25, "ends before the limit");
	has(err.text, "interrupted", "the error has the reason");
	bench_close(&b);
	bench_open(&b, NULL, "never");
	queue_limits(b.q)->hello = 50;
	is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), -1, "the queue's own limit");
	has(err.text, "did not start within 0.05 s", "the error has the limit");
	bench_close(&b);
	static const struct {
		const char *device;
		int connected;
	} cases[] = { { "fake", 0 }, { "fake:7", -1 }, { "fake:GPU-5F00", 0 }, { "fake:5f00aa11", 0 },
		{ "fake:GPU-5f01", -1 }, { "fake:GPU", -1 } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bench_open_as(&b, NULL, "", cases[i].device);
		is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), cases[i].connected, "device %s",
			cases[i].device);
		if (cases[i].connected)
			has(err.text, cases[i].device, "the error names it");
		bench_close(&b);
	}
}

/* That results cannot be read is no device without results. */
static void test_unreadable(void)
{
	struct bench b;
	bench_open(&b, "unreadable.db", "");
	queue_add(b.q, OK, false, false);
	bench_run(&b);
	bench_close(&b);
	bench_open(&b, "unreadable.db", "");
	FILE *f = fopen(scratch_path("unreadable.db"), "r+b");
	char junk[4096];
	memset(junk, 0x5a, sizeof(junk));
	fseek(f, 4096, SEEK_SET);
	for (int i = 0; i < 200; i++)
		fwrite(junk, 1, sizeof(junk), f);
	fclose(f);
	is_int(queue_connect(b.q, QUEUE_HELLO_LIMIT, &err), -1, "results that cannot be read");
	has(err.text, "unreadable.db", "the error has the reason");
	ok(queue_device(b.q) != NULL, "the device is known");
	bench_close(&b);
}

static void test_restarts(void)
{
	struct bench b;
	bench_open(&b, NULL, "changing");
	queue_add(b.q, CRASH, false, false);
	queue_add(b.q, OK, false, false);
	is_int(bench_run(&b), -1, "a runner that is another device after its restart");
	has(err.text, "results of two devices are never mixed", "another device is refused");
	bench_close(&b);
	bench_open(&b, NULL, "");
	queue_limits(b.q)->deaths = 3;
	char problem[6][64];
	for (int i = 0; i < 6; i++) {
		snprintf(problem[i], sizeof(problem[i]), "eltwise:f32,f32:tanh:%d", i + 1);
		queue_add(b.q, problem[i], false, false);
	}
	is_int(bench_run(&b), -1, "a runner that dies on everything");
	has(err.text, "died on 3 problems in a row", "is not restarted");
	is_int(queue_status(b.q).failed, 3, "before all jobs fail");
	is_int(queue_status(b.q).pending, 3, "the other jobs stay pending");
	bench_close(&b);
}

static void test_store_trouble(void)
{
	struct bench b;
	bench_open(&b, "lost.db", "");
	queue_connect(b.q, 20000, &err);
	unlink(scratch_path("lost.db"));
	queue_add(b.q, OK, false, false);
	is_int(bench_run(&b), 2, "measuring continues without a database");
	is_int(bench_results(&b, OK), 2, "results are kept in memory");
	has(queue_status(b.q).trouble, "removed or replaced", "the trouble is reported");
	is_int(store_waiting(b.store).lost, 2, "lost results are counted");
	has(store_waiting(b.store).why, "removed or replaced", "the reason is reported");
	bench_close(&b);
}

/* Two queues on one file share the work. */
static void test_two_queues(void)
{
	struct bench a, b;
	bench_open(&a, "shared.db", "");
	bench_open(&b, "shared.db", "");
	queue_connect(a.q, 20000, &err);
	queue_connect(b.q, 20000, &err);
	const char *all[] = { OK, OK2, OK3, OK4 };
	for (int i = 0; i < 4; i++) {
		queue_add(a.q, all[i], false, false);
		queue_add(b.q, all[i], false, false);
	}
	is_int(bench_run(&a), 8, "the first queue measures them");
	is_int(bench_run(&b), 0, "the second queue does not");
	is_int(bench_results(&b, OK4), 2, "it has the results");
	bench_close(&a);
	bench_close(&b);
}

static void test_process(void)
{
	const char *argv[] = { fake, NULL };
	struct wire_message m;
	setenv("FAKE_HELLO", "deaf", 1);
	struct runner_process *p = runner_process_start(argv, NULL, &err);
	ok(p != NULL, "started");
	for (int i = 0; i < 1000 && !runner_process_device(p); i++) {
		struct pollfd at = { .fd = runner_process_fd(p), .events = POLLIN };
		poll(&at, 1, 1000);
		runner_process_read(p, &m, &err);
	}
	ok(runner_process_device(p) != NULL, "has sent its hello");
	ok(runner_process_silence_ms(p) >= 0, "sends nothing since");
	struct wire_message big = { .type = WIRE_LOG, .problem = "", .what = OK };
	int sent = 0;
	while (runner_process_send(p, &big, &err) == 0 && sent < 1000000)
		sent++;
	ok(sent < 1000000, "one that does not read is noticed (%d messages)", sent);
	has(err.text, "does not read", "the error has the reason");
	runner_process_stop_within(p, 20, 20);
	is_int(waitpid(-1, NULL, WNOHANG), -1, "a runner that ignores quit and SIGTERM leaves no zombie");
	is_int(errno, ECHILD, "nor a child process");
}

/* A runner that reads late: what does not fit into its pipe is written later, in order and once. */
static void test_late_reader(void)
{
	char script[1200], id[16];
	struct str sent = { 0 };
	struct wire_message m;
	struct stat st = { 0 };
	char *hello = wire_hello(&help_device);
	file_text(scratch_path("hello"), hello);
	free(hello);
	snprintf(script, sizeof(script), "cat '%s'; sleep 0.2; cat > '%s'", scratch_path("hello"),
		scratch_path("copy"));
	const char *argv[] = { "sh", "-c", script, NULL };
	struct runner_process *p = runner_process_start(argv, NULL, &err);
	int queued = 0;
	for (int i = 0; p && i < 5000; i++) {
		snprintf(id, sizeof(id), "%d", i);
		m = (struct wire_message){ .type = WIRE_LOG, .problem = "", .what = id };
		char *line = wire_format(&m);
		str_puts(&sent, line);
		free(line);
		queued += runner_process_send(p, &m, &err) == 0;
	}
	ok(queued == 5000 && sent.n > 65536, "more than fits into a pipe is queued");
	for (time_t until = time(NULL) + 20; st.st_size < (off_t)sent.n && time(NULL) < until;) {
		struct pollfd at = { .fd = runner_process_fd(p), .events = POLLIN };
		poll(&at, 1, 10);
		if (runner_process_read(p, &m, &err) == 1)
			wire_free(&m);
		stat(scratch_path("copy"), &st);
	}
	size_t n;
	char *copy = file_read(scratch_path("copy"), &n);
	if (!ok(copy && n == sent.n && memcmp(copy, sent.p, n) == 0, "and arrives, in order and once"))
		printf("# %zu of %zu bytes; %s\n", n, sent.n, err.text);
	runner_process_stop_within(p, 500, 200);
	free(copy);
	str_free(&sent);
}

/* Results of jobs that are not problems. */
struct taken {
	int count;
	char last[64];
	enum status status;
	double median;
};

static void take(void *user, const struct result *r)
{
	struct taken *t = user;
	t->count++;
	snprintf(t->last, sizeof(t->last), "%s", r->problem);
	t->status = r->status;
	t->median = r->stats.median;
}

#define GOOD "a good model, batch 1"
#define BAD "a bad model"

static void test_kinds(void)
{
	struct bench b;
	struct taken taken = { 0 };
	setenv("FAKE_JOBS", "problem model", 1);
	bench_open(&b, "kinds.db", "");
	queue_set_taker(b.q, "model", take, &taken);
	ok(queue_add_job(b.q, "model", GOOD, false, false) && queue_add(b.q, OK, false, false),
		"a model and a problem");
	ok(!queue_add_job(b.q, "model", GOOD, false, false), "a pending job is not added again");
	ok(queue_state(b.q, GOOD) == JOB_NONE && queue_job_state(b.q, "model", GOOD) == JOB_PENDING,
		"a payload is no problem");
	is_int(bench_run(&b), 3, "a runner that lists both kinds does both");
	ok(taken.count == 1 && !strcmp(taken.last, GOOD) && taken.median == 7,
		"the taker gets the result of the model");
	is_int(queue_job_state(b.q, "model", GOOD), JOB_DONE, "the model is done");
	ok(bench_results(&b, OK) == 2 && bench_results(&b, GOOD) == 0,
		"only the results of the problem are kept");
	struct results *stored = results_new();
	store_load(b.store, store_device_find(b.store, queue_device(b.q), &err), stored, &err);
	int of_problem, of_model;
	results_of(stored, OK, &of_problem);
	results_of(stored, GOOD, &of_model);
	ok(of_problem == 2 && of_model == 0, "also in the store");
	results_free(stored);
	ok(queue_add_job(b.q, "model", GOOD, false, false),
		"it can be added again: only problems stay finished");
	queue_add_job(b.q, "model", BAD, false, false);
	bench_run(&b);
	ok(taken.count == 3 && !strcmp(taken.last, BAD) && taken.status == STATUS_UNSUPPORTED,
		"a failure is a result, too");
	is_int(queue_job_state(b.q, "model", BAD), JOB_UNSUPPORTED, "the model is unsupported");
	is_str(queue_job_why(b.q, "model", BAD), "no such model", "with the reason");
	bench_close(&b);
}

/* A runner from before the list of kinds, and one without problems. */
static void test_unanswered_kinds(void)
{
	struct bench b;
	struct taken taken = { 0 };
	setenv("FAKE_JOBS", "none", 1);
	bench_open(&b, "old.db", "");
	queue_set_taker(b.q, "model", take, &taken);
	queue_add(b.q, OK, false, false);
	queue_add_job(b.q, "model", GOOD, false, false);
	queue_add(b.q, OK2, false, false);
	is_int(bench_run(&b), 4, "an old runner measures the problems");
	ok(queue_state(b.q, OK) == JOB_DONE && queue_state(b.q, OK2) == JOB_DONE, "both");
	is_int(queue_job_state(b.q, "model", GOOD), JOB_FAILED, "but not the model");
	is_str(queue_job_why(b.q, "model", GOOD),
		"no runner answers jobs of the kind \"model\"; fake answers: problem. Install a newer runner",
		"with the reason");
	ok(taken.count == 0 && queue_status(b.q).batch_failed == 1, "it has no result");
	queue_add_job(b.q, "model", GOOD, false, false);
	is_int(bench_run(&b), 0, "alone");
	is_int(queue_job_state(b.q, "model", GOOD), JOB_FAILED, "the model fails again");
	bench_close(&b);
	setenv("FAKE_JOBS", "model", 1);
	bench_open(&b, "old.db", "");
	queue_set_taker(b.q, "model", take, &taken);
	queue_add(b.q, OK3, false, false);
	queue_add_job(b.q, "model", GOOD, false, false);
	is_int(bench_run(&b), 1, "a runner without problems does the model");
	ok(queue_state(b.q, OK3) == JOB_FAILED && taken.count == 1, "the problem fails");
	is_str(queue_why(b.q, OK3),
		"no runner answers jobs of the kind \"problem\"; fake answers: model. Install a newer runner",
		"with the reason");
	bench_close(&b);
	unsetenv("FAKE_JOBS");
	bench_open(&b, "old.db", "");
	ok(queue_connect(b.q, 20000, &err) == 0 && queue_add(b.q, OK3, false, false),
		"and nothing of it is stored");
	bench_close(&b);
}

/* Quick measurements come before the problems, in memory only; the problems follow in full. */
static void test_quick(void)
{
	struct bench b;
	char log[2048] = "";
	const char *path = scratch_path("quick.log");
	setenv("FAKE_JOBS", "problem quick", 1);
	setenv("FAKE_LOG", path, 1);
	const char *held = scratch_path("quick.hold"); /* the problems wait, the quick ones do not */
	fclose(fopen(held, "w"));
	setenv("FAKE_HOLD", held, 1);
	setenv("FAKE_AT", "1", 1);
	bench_open(&b, "quick.db", "");
	ok(queue_add(b.q, OK, false, false) && queue_add(b.q, OK2, false, false) &&
			queue_add_quick(b.q, OK2, CACHE_NET, LAUNCH_AMORTIZED) &&
			queue_add_quick(b.q, OK, CACHE_WARM, LAUNCH_ISOLATED),
		"two problems, also quickly");
	ok(!queue_add_quick(b.q, OK, CACHE_NET, LAUNCH_AMORTIZED), "not twice");
	struct queue_status s = queue_status(b.q);
	ok(s.pending == 2 && s.quick == 2 && queue_state(b.q, OK) == JOB_PENDING, "they are counted apart");
	while (queue_status(b.q).quick > 0 && queue_step(b.q, 1000, &err) >= 0)
		;
	const struct result *r = results_rough(b.results, OK);
	ok(r && r->cache == CACHE_WARM && r->launch == LAUNCH_ISOLATED && r->stats.median == 7,
		"in the state that was asked for");
	ok(queue_state(b.q, OK) != JOB_DONE && bench_results(&b, OK) == 0 &&
			!results_is_finished(b.results, OK),
		"the problem is not done");
	is_int(queue_status(b.q).quick_ended, 2, "both have ended");
	ok(isnan(queue_status(b.q).eta_s), "they say nothing of the time of the others");
	unlink(held);
	unsetenv("FAKE_HOLD");
	unsetenv("FAKE_AT");
	bench_run(&b);
	s = queue_status(b.q);
	ok(s.done == 2 && s.batch_done == 2 && bench_results(&b, OK) == 2, "the problems follow, in full");
	ok(!results_rough(b.results, OK) && !results_rough(b.results, OK2), "which ends the rough results");
	ok(!queue_add_quick(b.q, OK, CACHE_NET, LAUNCH_AMORTIZED), "nor is anything quick left to do");
	is_int(queue_worker(b.q, 0).ended, 2, "the worker counts problems");
	int n = 0, fd = open(path, O_RDONLY);
	if (fd >= 0)
		n = (int)read(fd, log, sizeof(log) - 1);
	close(fd);
	ok(n > 0 && !strcmp(log, "- quick " OK "\n- quick " OK2 "\n- " OK "\n- " OK2 "\n"), "in this order");
	struct results *stored = results_new();
	int count;
	store_load(b.store, store_device_find(b.store, queue_device(b.q), &err), stored, &err);
	results_of(stored, OK, &count);
	is_int(count, 2, "only the full ones are stored");
	results_free(stored);
	ok(queue_add_quick(b.q, UNSUPPORTED, CACHE_NET, LAUNCH_AMORTIZED), "one that fails");
	bench_run(&b);
	ok(queue_state(b.q, UNSUPPORTED) == JOB_NONE && !results_rough(b.results, UNSUPPORTED) &&
			!queue_add_quick(b.q, UNSUPPORTED, CACHE_NET, LAUNCH_AMORTIZED) &&
			!queue_status(b.q).trouble[0] && queue_status(b.q).failed == 0,
		"leaves no trace and is not tried again");
	ok(queue_add(b.q, UNSUPPORTED, false, false), "in full it is");
	bench_close(&b);
	unsetenv("FAKE_LOG");
	setenv("FAKE_JOBS", "problem", 1);
	bench_open(&b, NULL, "");
	queue_add(b.q, OK3, false, false);
	queue_add_quick(b.q, OK3, CACHE_NET, LAUNCH_AMORTIZED);
	is_int(bench_run(&b), 2, "an older runner measures in full");
	ok(queue_state(b.q, OK3) == JOB_DONE && !queue_status(b.q).trouble[0] &&
			queue_status(b.q).batch_failed == 0,
		"and nothing is said of the rest");
	bench_close(&b);
	unsetenv("FAKE_JOBS");
}

/* A repeated measurement is of the algorithm and the state of a result; its result joins the others. */
static void test_repeat(void)
{
	struct bench b;
	char log[2048] = "";
	const char *path = scratch_path("repeat.log");
	int count;
	setenv("FAKE_JOBS", "problem repeat", 1);
	setenv("FAKE_LOG", path, 1);
	bench_open(&b, "repeat.db", "");
	queue_add(b.q, OK, false, false);
	bench_run(&b);
	struct result slow = *results_of(b.results, OK, &count)[1];
	slow.algorithm.notes = "winograd unchecked";
	ok(queue_add_repeat(b.q, &slow) && !queue_add_repeat(b.q, &slow), "one more, not twice");
	is_int(bench_run(&b), 1, "has one result");
	const struct result *now = results_of(b.results, OK, &count)[1];
	ok(count == 2 && strcmp(now->algorithm.name, "slow") == 0 && now->cache == slow.cache &&
			now->launch == slow.launch && now->stats.median == 7 &&
			now->stats.executions == QUEUE_REPEAT_MS * LAUNCH_COUNT,
		"of that algorithm in that state, within its time for both launch modes");
	is_str(now->algorithm.notes, "winograd unchecked", "which nobody has checked since");
	ok(queue_state(b.q, OK) == JOB_DONE && results_is_finished(b.results, OK), "the problem stays done");
	struct results *stored = results_new();
	store_load(b.store, store_device_find(b.store, queue_device(b.q), &err), stored, &err);
	ok(results_of(stored, OK, &count)[1]->stats.median == 7 && count == 2, "it is stored");
	results_free(stored);
	int n = 0, fd = open(path, O_RDONLY);
	if (fd >= 0)
		n = (int)read(fd, log, sizeof(log) - 1);
	close(fd);
	ok(n > 0 && !strcmp(log, "- " OK "\n- repeat " OK "\n"), "two jobs");
	struct result gone = slow;
	gone.problem = UNSUPPORTED;
	ok(queue_add_repeat(b.q, &gone), "one that its runner does not offer any more");
	bench_run(&b);
	results_of(b.results, UNSUPPORTED, &count);
	is_int(count, 0, "leaves no result");
	bench_close(&b);
	unsetenv("FAKE_LOG");
	setenv("FAKE_JOBS", "problem", 1);
	bench_open(&b, NULL, "");
	queue_add(b.q, OK, false, false);
	bench_run(&b);
	queue_add_repeat(b.q, results_of(b.results, OK, &count)[0]);
	is_int(bench_run(&b), 0, "an older runner measures nothing again");
	ok(!queue_status(b.q).trouble[0], "which is no trouble");
	bench_close(&b);
	unsetenv("FAKE_JOBS");
}

int main(void)
{
	const char *dir = getenv("builddir");
	snprintf(fake, sizeof(fake), "%s/tests/unit/fake_runner", dir ? dir : ".");
	scratch_make();
	test_order();
	test_kinds();
	test_unanswered_kinds();
	test_quick();
	test_repeat();
	test_ok();
	test_distances();
	test_lost_device();
	test_retried();
	test_again();
	test_elsewhere();
	test_failures();
	test_strange();
	test_repeated();
	test_flood_is_bounded();
	test_overdue();
	test_limits();
	test_cancel();
	test_no_runner();
	test_refused();
	test_part();
	test_unreadable();
	test_restarts();
	test_store_trouble();
	test_two_queues();
	test_process();
	test_late_reader();
	scratch_remove();
	return done_testing();
}
