/* The queue's decisions, one at a time: deadlines, restarts, the end of a job, the status. Its state is set
 * by hand, with times so far from now that the load does not matter. */
#include "config.h"

#include "drive/queue_private.h"

#include <math.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "queue_help.h"

#define A "eltwise:f32,f32:relu:1x64"
#define B "eltwise:f32,f32:relu:2x64"
#define C "eltwise:f32,f32:relu:3x64"
#define FAR 100000000 /* ms: more than a day */

static char greeting[512]; /* a script: a hello, then silence until the end of its input */

/* A queue of `count` runners "a" that say hello and then nothing; none is started. */
static void quiet_begin(struct bench *b, int count)
{
	static const char *argv[] = { "sh", "-c", greeting, NULL };
	*b = (struct bench){ .config = { .budget_ms = 10, .problem_limit_ms = 60000 } };
	b->runners[0] = (struct config_runner){ .name = "a", .argc = 3, .argv = argv, .count = count };
	b->config.runners = b->runners;
	b->config.runner_count = 1;
	bench_begin(b, NULL);
}

/* The worker is up and has the job, as if it had been sent just now. */
static void give(struct bench *b, int i, const char *problem)
{
	struct worker *w = &b->q->workers[i];
	if (!w->process)
		worker_start(b->q, w, &err);
	w->greeted = w->met = true;
	queue_add(b->q, problem, false, true);
	w->job = job_find(&b->q->list, JOB_PROBLEM, problem);
	job_set(&b->q->list, w->job, JOB_RUNNING, NULL);
	w->id = b->q->next_id++;
	w->since_ms = clock_ms();
	w->cancelled_ms = 0;
	w->cancel_is_limit = false;
	w->stored = w->stored_ok = w->stored_mistrusted = 0;
}

/* Each state of a worker has one deadline. */
static void test_deadlines(void)
{
	struct bench b;
	quiet_begin(&b, 2);
	struct queue *q = b.q;
	struct worker *w = &q->workers[0];
	struct queue_limits *l = queue_limits(q);
	int64_t now = clock_ms();
	*l = (struct queue_limits){ .hello = 1000, .silence = 2000, .problem = 3000, .grace = 4000,
		.restart = 1, .deaths = 8, .idle = 5000 };
	ok(queue_deadline_ms(q) == INT64_MAX, "no runner and no job: none");
	queue_add(q, A, false, false);
	w->restart_at_ms = now + FAR;
	q->workers[1].restart_at_ms = now + 2 * (int64_t)FAR;
	is_int(queue_deadline_ms(q), now + FAR, "a job and no runner: the first restart");
	w->broken = true;
	is_int(queue_deadline_ms(q), now + 2 * (int64_t)FAR, "of those that may be started");
	w->broken = false;
	queue_cancel(q);
	ok(queue_deadline_ms(q) == INT64_MAX, "no job: none");
	worker_start(q, w, &err);
	is_int(queue_deadline_ms(q), runner_process_ready_ms(w->process) + 1000, "starting: the hello");
	w->greeted = true;
	w->free_since_ms = now + FAR;
	is_int(queue_deadline_ms(q), now + FAR + 5000, "free: idle");
	l->idle = 0;
	ok(queue_deadline_ms(q) == INT64_MAX, "or never");
	l->idle = 5000;
	queue_add(q, A, false, false);
	q->workers[1].broken = true;
	ok(queue_deadline_ms(q) == INT64_MAX, "not while there are jobs");
	q->workers[1].broken = false;
	queue_cancel(q);
	w->dismissed = true;
	is_int(queue_deadline_ms(q), now + FAR + 4000, "dismissed: its end");
	w->dismissed = false;
	give(&b, 0, A);
	w->since_ms = now + FAR;
	is_int(queue_deadline_ms(q), now + FAR + 2000, "busy: silence, from the job's start");
	l->silence = 9000;
	is_int(queue_deadline_ms(q), now + FAR + 3000, "or the time of the problem");
	worker_cancel(w, false);
	ok(w->cancelled_ms >= now && w->cancelled_ms < now + FAR && !w->cancel_is_limit, "cancelled");
	w->cancelled_ms = now + FAR + 1;
	worker_cancel(w, true);
	ok(w->cancelled_ms == now + FAR + 1 && !w->cancel_is_limit, "once");
	is_int(queue_deadline_ms(q), now + FAR + 4001, "cancelled: the grace");
	w->since_ms = now - FAR;
	l->silence = FAR / 2;
	ok(queue_deadline_ms(q) > now + FAR / 4, "silence counts from the last output");
	worker_lose(q, w, STATUS_FAILED, &err);
	worker_cancel(w, true);
	ok(w->job < 0, "without a job there is nothing to cancel");
	bench_close(&b);
}

/* What each deadline does when it has passed. */
static void test_late(void)
{
	static const struct {
		const char *name, *error;
		bool greeted, busy, dismissed;
		int since, cancelled; /* ms before now; cancelled 0: not */
		bool is_limit;
		enum job_state state;
		bool cancels, dismisses, up;
	} cases[] = {
		{ "no hello", "a #1: the runner sh did not start within 0.001 s (no hello)",
			false, false, false, 0, 0,
			false, JOB_NONE, false, false, false },
		{ "idle", "", true, false, false, FAR, 0, false, JOB_NONE, false, true, true },
		{ "not idle for long", "", true, false, false, 0, 0, false, JOB_NONE, false, false, true },
		{ "not gone", "", true, false, true, FAR, 0, false, JOB_NONE, false, false, false },
		{ "not gone, but not for long", "", true, false, true, 0, 0, false, JOB_NONE, false, true,
			true },
		{ "too long", "", true, true, false, FAR / 2, 0, false, JOB_RUNNING, true, false, true },
		{ "not too long", "", true, true, false, 0, 0, false, JOB_RUNNING, false, false, true },
		{ "not stopped at its limit",
			"a #1: timed out after 900 s: the runner did not stop and was killed",
			true, true, false, FAR, FAR, true, JOB_FAILED, false, false, false },
		{ "not stopped by a person", "a #1: the runner did not stop when asked, and was killed", true,
			true, false, FAR, FAR, false, JOB_NONE, false, false, false },
		{ "cancelled just now", "", true, true, false, FAR, 1, true, JOB_RUNNING, true, false, true },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b;
		quiet_begin(&b, 2);
		struct worker *w = &b.q->workers[0];
		*queue_limits(b.q) = (struct queue_limits){ .hello = 1000, .silence = FAR, .problem = 300000,
			.grace = 600000, .restart = 1, .deaths = 8, .idle = 5000000 };
		worker_start(b.q, w, &err);
		if (!cases[i].greeted)
			queue_limits(b.q)->hello = 1;
		w->greeted = cases[i].greeted;
		int64_t now = clock_ms();
		if (cases[i].busy)
			give(&b, 0, A);
		w->free_since_ms = w->since_ms = now - cases[i].since;
		w->dismissed = cases[i].dismissed;
		w->cancelled_ms = cases[i].cancelled ? now - cases[i].cancelled : 0;
		w->cancel_is_limit = cases[i].is_limit;
		while (!cases[i].greeted && clock_ms() <= runner_process_ready_ms(w->process) + 1)
			nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		int added = worker_check_time(b.q, w, &err);
		ok(added == (cases[i].state == JOB_FAILED), "%s: a failure is a result", cases[i].name);
		is_str(b.q->trouble, cases[i].error, "the error");
		is_int(w->process != NULL, cases[i].up, "the process is %s", cases[i].up ? "up" : "killed");
		is_int(queue_state(b.q, A), cases[i].state, "the job");
		is_int(w->cancelled_ms && w->cancel_is_limit && w->process, cases[i].cancels,
			"a cancel is sent");
		is_int(w->dismissed, cases[i].dismisses, "a quit is sent");
		is_int(worker_check_time(b.q, w, &err), 0, "then it is not late");
		bench_close(&b);
	}
}

/* The delay before a restart doubles, up to 32 times; the count of failures decides when to give up. */
static void test_backoff(void)
{
	static const int delays[] = { 0, 0, 1, 2, 4, 8, 16, 32, 32, 32 }; /* by deaths */
	struct bench b;
	quiet_begin(&b, 2);
	struct worker *w = &b.q->workers[0];
	queue_limits(b.q)->restart = 1000000;
	queue_limits(b.q)->deaths = 9;
	for (int deaths = 1; deaths <= 9; deaths++) {
		give(&b, 0, A);
		w->deaths = deaths - 1;
		error_set(&err, "broken");
		is_int(worker_lose(b.q, w, STATUS_CRASHED, &err), 1, "death %d: a failed job", deaths);
		double delay = (double)(w->restart_at_ms - clock_ms()) / 1e6;
		ok(fabs(delay - delays[deaths]) < 0.5, "the delay is %d steps (%.3f)", delays[deaths], delay);
		is_int(w->deaths, deaths, "it is counted");
		is_int(w->broken, deaths == 9, "the ninth is the last one");
	}
	is_str(queue_worker(b.q, 0).out,
		"not restarted, because the runner died on 9 problems in a row: a #1: broken", "why");
	worker_reset(w);
	ok(!w->broken && !w->deaths && !w->why[0], "a reset allows it to be started");
	for (int met = 0; met < 2; met++)
		for (int starts = 1; starts <= (met ? 8 : 3); starts++) {
			worker_start(b.q, w, &err);
			w->met = met;
			w->starts_failed = starts - 1;
			error_set(&err, "no start");
			is_int(worker_lose(b.q, w, STATUS_FAILED, &err), 0, "failed start %d", starts);
			double delay = (double)(w->restart_at_ms - clock_ms()) / 1e6;
			ok(fabs(delay - delays[starts]) < 0.5, "the delay is %d steps", delays[starts]);
			is_int(w->broken, starts == (met ? 8 : 3), "%s", met ? "8 starts" : "3 starts");
			is_int(w->deaths, 0, "it is not a death");
			if (w->broken)
				worker_reset(w);
		}
	give(&b, 0, B);
	w->starts_failed = 2;
	w->deaths = 1;
	w->cancelled_ms = clock_ms();
	error_set(&err, "broken");
	is_int(worker_lose(b.q, w, STATUS_CRASHED, &err), 0, "killed after a cancel");
	ok(w->deaths == 1 && w->starts_failed == 0, "is no death");
	ok(w->restart_at_ms <= clock_ms(), "it is restarted at once");
	bench_close(&b);
	quiet_begin(&b, 1);
	worker_start(b.q, &b.q->workers[0], &err);
	b.q->workers[0].starts_failed = 2;
	error_set(&err, "no start");
	is_int(worker_lose(b.q, &b.q->workers[0], STATUS_FAILED, &err), -1, "the last runner is given up");
	is_str(err.text, "no start", "one runner needs no label");
	bench_close(&b);
}

/* The end of a job, by its status, its results, and whether it was cancelled. */
static void test_ends(void)
{
	static const struct {
		const char *name;
		enum status status;
		const char *why;
		int ok, suspect; /* its results */
		int cancelled;   /* 1: by a person, 2: at its limit */
		enum job_state state;
		const char *said; /* why the job failed */
		int added;
		bool finished;
	} cases[] = {
		{ "ok", STATUS_OK, "", 2, 0, 0, JOB_DONE, "", 0, true },
		{ "ok and suspect", STATUS_OK, "", 1, 1, 0, JOB_DONE, "", 0, true },
		{ "suspect", STATUS_OK, "", 0, 2, 0, JOB_FAILED, "all its results are suspect", 1, true },
		{ "no result", STATUS_OK, "", 0, 0, 0, JOB_FAILED, "the runner sent no result for it", 1,
			false },
		{ "unsupported", STATUS_UNSUPPORTED, "no kernel", 0, 0, 0, JOB_UNSUPPORTED, "no kernel", 1,
			true },
		{ "crashed", STATUS_CRASHED, "signal", 1, 0, 0, JOB_FAILED, "signal", 1, false },
		{ "without a reason", STATUS_NO_MEMORY, "", 0, 0, 0, JOB_FAILED, NULL, 1, false },
		{ "cancelled by a person", STATUS_FAILED, "cancelled", 1, 0, 1, JOB_NONE, "", 0, false },
		{ "cancelled too late", STATUS_OK, "", 1, 0, 1, JOB_DONE, "", 0, true },
		{ "cancelled, ok, without a result", STATUS_OK, "", 0, 0, 1, JOB_NONE, "", 0, false },
		{ "at its limit with a result", STATUS_TIMEOUT, "late", 1, 0, 2, JOB_DONE, "", 0, true },
		{ "at its limit without one", STATUS_TIMEOUT, "late", 0, 0, 2, JOB_FAILED, "late", 1, false },
		{ "at its limit with a suspect one", STATUS_TIMEOUT, "late", 0, 1, 2, JOB_FAILED, "late", 1,
			false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b;
		quiet_begin(&b, 1);
		struct queue *q = b.q;
		struct worker *w = &q->workers[0];
		give(&b, 0, A);
		queue_trouble(q, "an old error");
		w->id = q->trouble_id + (i % 2 ? 0 : -1); /* sent after the error, or before it */
		w->since_ms = clock_ms() - 1000000;
		w->stored_ok = cases[i].ok;
		w->stored_mistrusted = cases[i].suspect;
		w->cancelled_ms = cases[i].cancelled ? clock_ms() : 0;
		w->cancel_is_limit = cases[i].cancelled == 2;
		snprintf(w->what, sizeof(w->what), "an algorithm");
		int added = queue_end_job(q, w, cases[i].status, cases[i].why);
		is_int(added, cases[i].added, "%s: failures that are added", cases[i].name);
		is_int(queue_state(q, A), cases[i].state, "the state");
		is_str(queue_why(q, A), cases[i].said ? cases[i].said : status_name(cases[i].status), "why");
		is_int(results_is_finished(b.results, A), cases[i].finished, "whether it is finished");
		int count;
		const struct result *const *all = results_of(b.results, A, &count);
		is_int(count, cases[i].added, "a row of the failure");
		if (count)
			ok(isnan(all[0]->stats.median) && isnan(all[0]->algorithm.workspace_bytes) &&
					!*all[0]->algorithm.name && !strcmp(all[0]->why, queue_why(q, A)) &&
					all[0]->status != STATUS_OK && all[0]->cache == CACHE_NET &&
					llabs((long long)all[0]->measured_at - (long long)time(NULL)) < 1000,
				"without times, with the reason and the date");
		struct queue_status s = queue_status(q);
		is_int(s.batch_done, cases[i].state == JOB_DONE, "done in this batch");
		is_int(s.batch_failed, cases[i].state == JOB_FAILED, "failed in this batch");
		is_int(s.batch_unsupported, cases[i].state == JOB_UNSUPPORTED, "unsupported in this batch");
		int ended = 0;
		for (enum job_state k = JOB_NONE; k <= JOB_UNSUPPORTED; k++)
			ended += q->batch_by_state[k];
		is_int(ended, 1, "ended in this batch");
		ok(fabs(queue_took_s(q, A) - 1000) < 500, "its time");
		ok(isnan(eta_expect(&q->eta, eta_weigh(A))) == (cases[i].cancelled == 1),
			"a cancelled one teaches nothing");
		bool good = cases[i].state == JOB_DONE && cases[i].status == STATUS_OK;
		if (cases[i].status == STATUS_OK && cases[i].ok == 0 && cases[i].cancelled == 1)
			good = true;
		is_int(s.trouble_past, (good || cases[i].state == JOB_DONE) && i % 2, "the error is past");
		ok(queue_worker(q, 0).ended == 1 && w->job < 0 && !*w->what && s.idle, "the runner is free");
		ok(llabs((long long)(w->free_since_ms - clock_ms())) < 500000, "since now");
		bench_close(&b);
	}
}

static void set_times(struct result *r, double ns)
{
	struct sample_stats *s = &r->stats;
	s->n = 10;
	s->executions = 1;
	s->min = s->q1 = s->median = s->q3 = s->mean = s->lo = s->hi = ns;
}

/* What a runner sends as a result: only that of its job, and a doubtful one is suspect. */
static void test_results(void)
{
	struct bench b;
	int count;
	quiet_begin(&b, 1);
	struct worker *w = &b.q->workers[0];
	give(&b, 0, A);
	b.q->device.version = "7.8";
	struct wire_message m = { .type = WIRE_RESULT, .id = w->id, .kind = JOB_PROBLEM,
		.result = help_result(A, "jit", 100) };
	m.result.runner_version = "";
	m.id++;
	is_int(queue_result(b.q, w, &m), 0, "another id");
	m.id--;
	m.kind = "model";
	is_int(queue_result(b.q, w, &m), 0, "another kind");
	m.kind = JOB_PROBLEM;
	m.result.problem = B;
	is_int(queue_result(b.q, w, &m), 0, "another problem");
	m.result.problem = A;
	is_int(w->stored, 0, "are ignored");
	is_int(queue_result(b.q, w, &m), 1, "a result of the job");
	is_int(queue_result(b.q, w, &m), 0, "once");
	m.result.cache = CACHE_WARM;
	is_int(queue_result(b.q, w, &m), 1, "another cache state");
	m.result.launch = LAUNCH_ISOLATED;
	is_int(queue_result(b.q, w, &m), 1, "another launch mode");
	m.result.algorithm.math = "tf32";
	is_int(queue_result(b.q, w, &m), 1, "another arithmetic");
	m.result.algorithm.layouts = "other";
	is_int(queue_result(b.q, w, &m), 1, "another layout");
	m.result.status = STATUS_CRASHED;
	is_int(queue_result(b.q, w, &m), 1, "another status");
	ok(w->stored == 6 && w->stored_ok == 5 && w->stored_mistrusted == 0, "are counted");
	is_str(results_of(b.results, A, &count)[0]->runner_version, "7.8", "the version of the hello");
	m.result = help_result(A, "odd", 100);
	m.result.stats.q1 = 1000;
	m.result.enqueue_ns = m.result.clock_mhz = 5;
	is_int(queue_result(b.q, w, &m), 1, "an impossible one");
	const struct result *const *all = results_of(b.results, A, &count), *odd = NULL;
	for (int i = 0; i < count; i++)
		if (!strcmp(all[i]->algorithm.name, "odd"))
			odd = all[i];
	ok(odd && odd->status == STATUS_MISTRUSTED && isnan(odd->enqueue_ns) && isnan(odd->clock_mhz) &&
			isnan(odd->algorithm.workspace_bytes),
		"is suspect, without its other numbers");
	is_str(odd ? odd->why : NULL, "a result that has quartiles out of order", "with the reason");
	m.result = help_result(A, "zero", 0);
	set_times(&m.result, 0);
	queue_result(b.q, w, &m);
	all = results_of(b.results, A, &count);
	for (int i = 0; i < count; i++)
		if (!strcmp(all[i]->algorithm.name, "zero"))
			is_str(all[i]->why, "a time of zero", "a time of zero");
	ok(w->stored == 8 && w->stored_ok == 5 && w->stored_mistrusted == 2, "are counted");
	w->job = -1;
	is_int(queue_result(b.q, w, &m), 0, "without a job");
	bench_close(&b);
}

/* What another process measures at the moment waits once; what it has finished is not measured. */
static void test_elsewhere(void)
{
	static const struct {
		const char *name, *algorithm;
		int age_s;
		bool again, lost, steps_back;
	} cases[] = { { "recent results", "jit", 10, false, false, true },
		{ "old results", "jit", 1000, false, false, false },
		{ "a recent failure", "", 10, false, false, false },
		{ "asked for again", "jit", 10, true, false, false },
		{ "of our own runner that was lost", "jit", 10, false, true, false } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b;
		quiet_begin(&b, 1);
		struct worker *w = &b.q->workers[0];
		struct result r = help_result(A, cases[i].algorithm, 5);
		r.measured_at = (int64_t)time(NULL) - cases[i].age_s;
		results_add(b.results, &r);
		queue_add(b.q, A, false, cases[i].again);
		b.q->list.jobs[0].lost = cases[i].lost;
		queue_add(b.q, B, false, false);
		queue_add(b.q, C, false, false);
		worker_start(b.q, w, &err);
		w->greeted = true;
		is_int(worker_feed(b.q, w, &err), 0, "%s", cases[i].name);
		is_str(queue_worker(b.q, 0).problem, cases[i].steps_back ? B : A, "the first job");
		is_int(queue_position(b.q, cases[i].steps_back ? A : B), cases[i].steps_back ? 2 : 1,
			"the others follow");
		is_int(queue_position(b.q, C), cases[i].steps_back ? 1 : 2, "in order");
		is_int(worker_feed(b.q, w, &err), 0, "a busy runner gets no other");
		is_int(queue_status(b.q).pending, 2, "two are left");
		ok(b.q->batch_since_ms == w->since_ms && w->id == 1 && b.q->next_id == 2, "the batch begins");
		bench_close(&b);
	}
	struct bench b;
	quiet_begin(&b, 1);
	struct worker *w = &b.q->workers[0];
	struct result r = help_result(A, "jit", 5);
	r.measured_at = (int64_t)time(NULL);
	results_add(b.results, &r);
	queue_add(b.q, A, false, false);
	worker_start(b.q, w, &err);
	w->greeted = true;
	worker_feed(b.q, w, &err);
	is_str(queue_worker(b.q, 0).problem, A, "alone it is measured");
	queue_add(b.q, B, false, false);
	queue_end_job(b.q, w, STATUS_FAILED, "why");
	results_finish(b.results, B);
	worker_feed(b.q, w, &err);
	ok(!queue_worker(b.q, 0).problem && queue_state(b.q, B) == JOB_NONE && queue_status(b.q).idle,
		"one that another process finished is removed");
	bench_close(&b);
}

/* What is shown of the workers. */
static void test_status(void)
{
	struct bench b;
	quiet_begin(&b, 3);
	struct queue *q = b.q;
	struct queue_status s = queue_status(q);
	ok(s.idle && s.elapsed_s == 0 && !s.starting && s.workers == 3 && s.workers_up == 0, "at first");
	ok(!queue_worker(q, 0).problem && !queue_worker(q, 0).kind && !*queue_worker(q, 0).what, "no job");
	worker_start(q, &q->workers[2], &err);
	ok(queue_status(q).starting && queue_status(q).workers_up == 0, "one is starting");
	q->workers[2].dismissed = true;
	ok(!queue_status(q).starting, "one that was sent a quit is not");
	q->workers[2].dismissed = false;
	give(&b, 1, A);
	snprintf(q->workers[1].what, sizeof(q->workers[1].what), "first");
	s = queue_status(q);
	ok(!s.starting && s.workers_up == 1 && s.running == 1 && !s.idle, "one is up");
	give(&b, 2, B);
	snprintf(q->workers[2].what, sizeof(q->workers[2].what), "second");
	s = queue_status(q);
	is_str(s.current, A, "the first job is shown");
	is_str(s.current_what, "first", "with its algorithm");
	is_str(queue_worker(q, 2).kind, JOB_PROBLEM, "the kind");
	ok(queue_worker(q, 1).up && !queue_worker(q, 0).up, "who is up");
	q->workers[2].dismissed = true;
	ok(!queue_worker(q, 2).up && queue_status(q).workers_up == 1, "not after a quit");
	q->workers[2].dismissed = false;
	q->batch_since_ms = clock_ms() - FAR;
	ok(fabs(queue_status(q).elapsed_s - FAR / 1000.0) < 5000, "the time of the batch");
	q->workers[1].since_ms = clock_ms() - FAR;
	ok(queue_status(q).silence_s < 5000, "the silence counts from the last output");
	/* time left: two runners, two running jobs and two that wait */
	q->workers[1].since_ms = q->workers[2].since_ms = clock_ms();
	for (int i = 0; i < q->list.count; i++)
		q->list.jobs[i].took_s = 10000;
	ok(fabs(queue_status(q).eta_s - 10000) < 500, "two at once");
	queue_add(q, C, false, false);
	queue_add(q, "eltwise:f32,f32:relu:4x64", false, false);
	for (int i = 0; i < q->list.count; i++)
		q->list.jobs[i].took_s = 10000;
	ok(fabs(queue_status(q).eta_s - 20000) < 500, "then two more");
	q->workers[1].since_ms = clock_ms() - 4000000;
	ok(fabs(queue_status(q).eta_s - 18000) < 500, "less what has passed");
	q->workers[1].since_ms = clock_ms() - 40000000;
	ok(fabs(queue_status(q).eta_s - 20000) < 500, "of an overdue one a quarter of its time is left");
	q->workers[2].dismissed = true;
	ok(fabs(queue_status(q).eta_s - 40000) < 500, "one that was sent a quit does not help");
	q->workers[2].dismissed = false;
	/* errors */
	queue_trouble(q, "an error");
	s = queue_status(q);
	ok(!strcmp(s.trouble, "an error") && !s.trouble_past, "an error");
	q->trouble_past = true;
	ok(queue_status(q).trouble_past, "a past one");
	q->workers[0].broken = true;
	snprintf(q->workers[0].why, sizeof(q->workers[0].why), "gone");
	s = queue_status(q);
	ok(!strcmp(s.trouble, "gone") && !s.trouble_past, "but that of a runner that is out applies");
	is_str(queue_worker(q, 0).out, "gone", "its reason");
	is_str(queue_worker(q, 1).out, "", "the others are not out");
	is_int(queue_took_s(q, A), 10000, "the time of a problem");
	ok(isnan(queue_took_s(q, "none")) && queue_position(q, "none") == 0 &&
			queue_state(q, "none") == JOB_NONE,
		"a problem that was never added");
	is_str(queue_why(q, "none"), "", "has no reason");
	bench_close(&b);
}

/* Adding, moving, cancelling and forgetting. */
static void test_adding(void)
{
	struct bench b;
	quiet_begin(&b, 1);
	struct queue *q = b.q;
	q->batch_by_state[JOB_DONE] = 3;
	q->batch_since_ms = q->batch_until_ms = 7;
	q->workers[0].deaths = 2;
	q->workers[0].broken = true;
	ok(queue_add(q, A, false, false), "a problem");
	ok(q->batch == 1 && q->batch_by_state[JOB_DONE] == 0 && q->batch_since_ms == 0 &&
			q->batch_until_ms == 0,
		"begins a batch");
	ok(!q->workers[0].broken && q->workers[0].deaths == 0, "a broken runner gets another chance");
	q->workers[0].deaths = 2;
	ok(queue_add(q, B, false, false) && q->batch == 1, "a second one is of the same batch");
	is_int(q->workers[0].deaths, 2, "and no other chance");
	ok(!queue_add(q, B, true, false) && queue_position(q, B) == 1 && queue_position(q, A) == 2,
		"one that waits is moved to the head");
	ok(!queue_add(q, A, false, true) && queue_position(q, A) == 2, "or stays");
	is_int(queue_status(q).pending, 2, "each once");
	give(&b, 0, C);
	ok(!queue_add(q, C, true, true) && queue_state(q, C) == JOB_RUNNING, "a running one is not added");
	queue_cancel(q);
	ok(queue_state(q, A) == JOB_NONE && queue_state(q, B) == JOB_NONE && !queue_status(q).idle,
		"cancelled: none waits");
	ok(q->workers[0].cancelled_ms && !q->workers[0].cancel_is_limit, "the running one is told");
	error_set(&err, "killed");
	worker_lose(q, &q->workers[0], STATUS_CRASHED, &err);
	ok(queue_status(q).idle && queue_state(q, C) == JOB_NONE, "its end is no failure");
	ok(queue_status(q).trouble[0] && queue_worker(q, 0).ended == 1, "it is counted, with its error");
	queue_forget(q);
	struct queue_status s = queue_status(q);
	ok(s.pending + s.running + s.done + s.failed + s.unsupported == 0 && q->list.count == 0 &&
			queue_worker(q, 0).ended == 0 && !*s.trouble,
		"all is forgotten");
	ok(queue_add(q, A, false, false) && q->batch == 2, "and can be added again, in the next batch");
	bench_close(&b);
	quiet_begin(&b, 1);
	q = b.q;
	ok(queue_limits(q)->hello == 30000 && queue_limits(q)->silence == 10000 &&
			queue_limits(q)->problem == 60000 && queue_limits(q)->grace == 5000 &&
			queue_limits(q)->deaths == 8 && queue_limits(q)->idle == 60000,
		"the limits");
	ok(!q->caches_given && isnan(q->distance), "the cache states: those of a model of unknown distance");
	q->workers[0].broken = true;
	is_int(queue_step(q, 0, &err), 0, "no runner and no job is no error");
	bench_close(&b);
}

/* A runner that is lost: whether its job is queued again. */
/* Jobs one by one: their numbers stay; the version tells of every change. */
static void test_list(void)
{
	struct bench b;
	quiet_begin(&b, 1);
	struct queue *q = b.q;
	queue_add(q, A, false, false);
	queue_add(q, B, false, false);
	queue_add(q, C, false, false);
	is_int(queue_job_count(q), 3, "three jobs");
	uint64_t version = queue_version(q);
	struct queue_job j = queue_job(q, 1);
	ok(j.state == JOB_PENDING && j.position == 2 && !strcmp(j.payload, B) && isnan(j.seconds),
		"the second waits");
	ok(queue_put_first(q, 1) && queue_job(q, 1).position == 1 && queue_job(q, 0).position == 2,
		"it goes to the head, and keeps its number");
	ok(queue_version(q) != version, "the version changed");
	ok(!queue_put_first(q, 1), "it is there already");
	ok(queue_drop(q, 2) && queue_job(q, 2).state == JOB_NONE && queue_status(q).pending == 2,
		"one is removed");
	ok(!queue_drop(q, 2), "once");
	queue_drop(q, 1);
	give(&b, 0, B);
	struct worker *w = &q->workers[0];
	snprintf(w->what, sizeof(w->what), "jit");
	j = queue_job(q, 1);
	ok(j.state == JOB_RUNNING && j.position == 0 && j.seconds >= 0 && !strcmp(j.what, "jit"),
		"a running one");
	is_int(queue_clear(q), 1, "those that wait are removed");
	is_int(queue_job(q, 1).state, JOB_RUNNING, "the running one continues");
	ok(queue_drop(q, 1) && w->cancelled_ms, "until it is cancelled");
	ok(!queue_drop(q, 1), "once");
	w->cancelled_ms = 0;
	queue_end_job(q, w, STATUS_FAILED, "no luck");
	j = queue_job(q, 1);
	ok(j.state == JOB_FAILED && !strcmp(j.what, "no luck") && j.ended == 1 && j.seconds >= 0,
		"one that failed says why");
	version = queue_version(q);
	queue_forget(q);
	ok(queue_job_count(q) == 0 && queue_version(q) != version, "forgotten");
	bench_close(&b);
}

static void test_lost(void)
{
	struct bench b;
	for (int lost = 0; lost <= 2; lost++) {
		quiet_begin(&b, 1);
		struct worker *w = &b.q->workers[0];
		give(&b, 0, A);
		queue_add(b.q, B, false, false);
		b.q->list.jobs[w->job].lost = lost;
		struct wire_message m;
		runner_process_kill(w->process);
		w->process = runner_process_start(
			(const char *const[]){ "sh", "-c", "kill -9 $$", NULL }, NULL, &err);
		while (runner_process_read(w->process, &m, &err) == 0)
			;
		is_int(worker_lose(b.q, w, STATUS_CRASHED, &err), lost == 2, "killed from outside, time %d",
			lost + 1);
		is_int(queue_state(b.q, A), lost == 2 ? JOB_FAILED : JOB_PENDING, "queued again twice");
		is_int(queue_position(b.q, A), lost == 2 ? 0 : 1, "at the head");
		is_int(b.q->list.jobs[0].lost, lost == 2 ? 2 : lost + 1, "it is counted");
		is_str(queue_status(b.q).trouble,
			lost == 2 ? "the runner sh was killed by signal 9 (Killed)" :
			"its problem is queued again: the runner sh was killed by signal 9 (Killed)",
			"the error");
		bench_close(&b);
	}
}

int main(void)
{
	scratch_make();
	char *line = wire_hello(&help_device);
	file_text(scratch_path("hello"), line);
	free(line);
	snprintf(greeting, sizeof(greeting), "cat '%s'; while read x; do :; done", scratch_path("hello"));
	test_deadlines();
	test_late();
	test_backoff();
	test_ends();
	test_results();
	test_elsewhere();
	test_status();
	test_adding();
	test_list();
	test_lost();
	scratch_remove();
	return done_testing();
}
