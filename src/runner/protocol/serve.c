/* Answers jobs in order while a second thread reads, so that a cancellation is noticed during a
 * measurement. */
#include "config.h"

#include "runner/protocol/serve_private.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runner/protocol/options.h"
#include "runner/measure/platform.h"
#include "runner/measure/preempt.h"

#define LOSSES_MOST 1 /* times that a file's job is tried again after the device was lost with it */
#define NEXT_LIMIT_MS 20000

/* --- writing --- */

/* Writes all bytes. Returns 0 or errno. Waits if the other end of a pipe has made it non-blocking. */
static int write_whole(int out, const char *text, size_t n)
{
	while (n) {
		ssize_t wrote = write(out, text, n);
		if (wrote < 0 && errno == EAGAIN)
			poll(&(struct pollfd){ .fd = out, .events = POLLOUT }, 1, -1);
		else if (wrote < 0 && errno != EINTR)
			return errno;
		text += wrote > 0 ? wrote : 0;
		n -= wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

/* Sends a message. After a failed write nothing more is written, as it would follow half a line. */
static void send_message(struct server *s, const struct wire_message *m)
{
	char *line = wire_format(m);
	pthread_mutex_lock(&s->writing);
	if (!s->unwritten)
		s->unwritten = write_whole(s->out, line, strlen(line));
	s->spoke = true;
	pthread_mutex_unlock(&s->writing);
	free(line);
}

static int unwritten(struct server *s)
{
	pthread_mutex_lock(&s->writing);
	int why = s->unwritten;
	pthread_mutex_unlock(&s->writing);
	return why;
}

void server_log(struct server *s, const char *text)
{
	send_message(s, &(struct wire_message){ .type = WIRE_LOG, .what = text });
}

void server_done(struct server *s, int64_t id, enum status status, const char *why)
{
	send_message(s, &(struct wire_message){ .type = WIRE_DONE, .id = id, .status = status, .what = why });
}

static bool is_measured(const struct server *s, const struct wire_message *m)
{
	return m->type == WIRE_RUN && !s->how->check && !s->how->planning;
}

/* True if jobs that measure a part of a problem can be answered: into a file only what a batch stores is
 * written. */
static bool does_parts(const struct server *s)
{
	return !s->how->check && !s->how->planning && !s->how->batch->is_file;
}

static bool is_quick(const struct wire_message *m)
{
	return m->type == WIRE_RUN && strcmp(m->kind, JOB_QUICK) == 0;
}

static void states_copy(const struct server *s, const struct wire_message *m, struct wire_message *done)
{
	if (!is_measured(s, m))
		return;
	memcpy(done->caches, m->caches, sizeof(done->caches));
	memcpy(done->launches, m->launches, sizeof(done->launches));
}

/* --- the heart --- */

/* True if a message was sent since the last call. Then no heartbeat is needed: fewer wake-ups of the
 * parent, which may run on a core that is measured. */
static bool has_spoken(struct server *s)
{
	pthread_mutex_lock(&s->writing);
	bool spoke = s->spoke;
	s->spoke = false;
	pthread_mutex_unlock(&s->writing);
	return spoke;
}

static void heartbeat(struct server *s)
{
	char what[512] = "";
	pthread_mutex_lock(&s->lock);
	struct wire_message m = { .type = WIRE_HEARTBEAT, .id = s->current, .what = what };
	bool is_file = s->how->batch->is_file; /* a file needs no heartbeats */
	if (s->preparing)
		snprintf(what, sizeof(what), "listing and compiling its algorithms");
	else if (s->trying)
		snprintf(what, sizeof(what), "%s%s%s %s %s", s->trying->name, *s->trying->layouts ? " " : "",
			s->trying->layouts, cache_name(s->cache), launch_name(s->launch));
	pthread_mutex_unlock(&s->lock);
	if (is_file)
		return;
	send_message(s, &m);
	has_spoken(s); /* a heartbeat does not replace the next one */
}

/* Called by the main thread: the current job proceeds. If the heart has given it up, waits for the end of the
 * program, so that nothing follows the end of the job and nothing that the heart reads is freed. */
static void step(struct server *s, const struct algorithm *a, enum cache c, enum launch l)
{
	pthread_mutex_lock(&s->lock);
	while (s->given_up)
		pthread_cond_wait(&s->changed, &s->lock);
	s->trying = a;
	s->cache = c;
	s->launch = l;
	s->step_ms = clock_ms();
	pthread_mutex_unlock(&s->lock);
}

/* Returns the job that does not proceed: while algorithms are compiled that may be a queued one. NULL: it is
 * not a job, but a problem that was only named as one of the next. text: PROBLEM_TEXT_SIZE. */
static const struct wire_message *job_stuck(const struct server *s, char *text)
{
	if (!s->preparing || !ahead_busy(s->how->ahead, text, PROBLEM_TEXT_SIZE) ||
		strcmp(s->job->problem, text) == 0)
		return s->job;
	for (const struct queued *q = s->first; q; q = q->next)
		if (q->message.problem && strcmp(q->message.problem, text) == 0)
			return &q->message;
	return NULL;
}

/* Ends the program because a problem that was named as one of the next holds up the current job, which is to
 * be sent again. */
static void give_up_next(struct server *s, const char *text)
{
	struct error why = ERROR_NONE;
	error_set(&why, "compiling for one of the next problems does not end: %s", text);
	struct wire_message done = { .type = WIRE_DONE, .id = s->job->id, .status = STATUS_FAILED,
		.what = why.text, .problem = s->job->problem, .leaves = true, .retry = true };
	states_copy(s, s->job, &done);
	send_message(s, &done);
	fprintf(stderr, "%s: %s; rerun to continue with this job\n", platform.program, why.text);
	_exit(EXIT_DEVICE);
}

/* Ends a job and the program: a kernel or a compilation does not end, and only the end of the process stops
 * that. The job counts as answered: the same command goes on with the others. */
static void give_up(struct server *s)
{
	char text[PROBLEM_TEXT_SIZE];
	const struct wire_message *m = job_stuck(s, text);
	const struct algorithm none = { .api = "", .name = "", .layouts = "", .math = "",
		.workspace_bytes = NAN, .notes = "" };
	struct error why = ERROR_NONE;
	if (!m)
		give_up_next(s, text);
	error_set(&why, "given up: %s took more than %lld s (--step-limit)",
		s->trying ? s->trying->name : "listing or compiling its algorithms",
		(long long)(s->how->step_limit_ms / 1000));
	if (is_measured(s, m))
		send_message(s, &(struct wire_message){ .type = WIRE_RESULT, .id = m->id, .kind = m->kind,
			.result = { .problem = m->problem, .algorithm = s->trying ? *s->trying : none,
				.status = STATUS_TIMEOUT, .cache = s->cache, .launch = s->launch,
				.why = why.text, .kernels = "", .enqueue_ns = NAN, .clock_mhz = NAN,
				.measured_at = (int64_t)time(NULL),
				.runner_version = s->how->device->version } });
	struct wire_message done = { .type = WIRE_DONE, .id = m->id, .status = STATUS_TIMEOUT,
		.kind = m->kind, .payload = m->payload, .what = why.text, .problem = m->problem,
		.leaves = true };
	states_copy(s, m, &done);
	send_message(s, &done);
	fprintf(stderr, "%s: %s: %s; rerun to continue with the next job\n", platform.program, m->problem,
		why.text);
	_exit(EXIT_DEVICE);
}

/* Gives the current job up if a step of it takes too long. */
static void watch(struct server *s)
{
	int64_t limit = s->how->step_limit_ms, next = s->how->next_limit_ms;
	char text[PROBLEM_TEXT_SIZE];
	pthread_mutex_lock(&s->lock);
	if (platform.is_waiting && platform.is_waiting())
		s->step_ms = clock_ms();
	int64_t passed = s->job ? clock_ms() - s->step_ms : 0;
	s->given_up = (limit > 0 && passed > limit) ||
		(passed > (next ? next : NEXT_LIMIT_MS) && !job_stuck(s, text));
	if (s->given_up)
		give_up(s);
	pthread_mutex_unlock(&s->lock);
}

static void *heart(void *argument)
{
	struct server *s = argument;
	struct timespec at;
	preempt_leave_out();
	clock_gettime(CLOCK_MONOTONIC, &at);
	for (bool finished = false; !finished;) {
		at.tv_nsec += WIRE_HEARTBEAT_MS * 1000000L;
		at.tv_sec += at.tv_nsec / 1000000000L;
		at.tv_nsec %= 1000000000L;
		int waited = 0;
		pthread_mutex_lock(&s->lock);
		while (!s->finished && waited != ETIMEDOUT)
			waited = pthread_cond_timedwait(&s->changed, &s->lock, &at);
		finished = s->finished;
		pthread_mutex_unlock(&s->lock);
		if (!finished && !has_spoken(s))
			heartbeat(s);
		if (!finished)
			watch(s);
	}
	return NULL;
}

/* --- jobs --- */

/* Argument of the callbacks of the current job. */
struct working {
	struct server *server;
	const struct wire_message *message;
	int64_t pieces;              /* of work that ahead has done, when last asked */
};

static bool is_cancelled(struct server *s)
{
	pthread_mutex_lock(&s->lock);
	bool cancel_now = s->cancel;
	pthread_mutex_unlock(&s->lock);
	return cancel_now || unwritten(s);
}

static bool working_cancelled(void *user)
{
	struct server *s = ((struct working *)user)->server;
	step(s, s->trying, s->cache, s->launch); /* only this thread writes them */
	return is_cancelled(s);
}

static void working_trying(void *user, const struct algorithm *a, enum cache c, enum launch l)
{
	step(((struct working *)user)->server, a, c, l);
}

static void working_emit(void *user, const struct result *r, const struct samples *samples)
{
	struct working *w = user;
	struct wire_message m = { .type = WIRE_RESULT, .id = w->message->id, .kind = w->message->kind,
		.result = *r };
	if (w->message->samples) {
		m.sample_ns = samples->taken;
		m.sample_count = samples->n;
	}
	send_message(w->server, &m);
}

static void working_list(void *user, const struct algorithm *a)
{
	struct working *w = user;
	send_message(w->server,
		&(struct wire_message){ .type = WIRE_ALGORITHM, .id = w->message->id, .algorithm = *a });
}

static void working_check(void *user, const struct algorithm *a, const struct check_finding *f)
{
	struct working *w = user;
	bool expected = f->approximate && f->status == STATUS_MISTRUSTED;
	w->server->how->wrong |= f->status != STATUS_OK && f->status != STATUS_UNSUPPORTED && !expected;
	send_message(w->server, &(struct wire_message){ .type = WIRE_CHECK, .id = w->message->id,
		.algorithm = *a, .problem = w->message->problem, .status = f->status, .worst = f->worst,
		.allowed = f->allowed, .what = f->why });
}

/* Fills in from the command line what the job does not specify. */
static void job_default(const struct server *s, struct wire_message *m)
{
	const struct serving *how = s->how;
	if (how->budget_ms && !json_object_get(m->json, "budget_ms"))
		m->budget_ms = how->budget_ms;
	if (how->caches && !json_object_get(m->json, "caches"))
		memcpy(m->caches, how->caches, sizeof(m->caches));
	if (how->launches && !json_object_get(m->json, "launches"))
		memcpy(m->launches, how->launches, sizeof(m->launches));
	if (!json_object_get(m->json, "algorithms"))
		m->all = how->all;
}

/* --- preparing --- */

/* True if the message is a job whose algorithms can be prepared: with a device only those to measure or to
 * check, as listing compiles nothing. */
static bool is_preparable(const struct server *s, const struct wire_message *m)
{
	return wire_is_problem(m) && (m->type == WIRE_RUN || s->how->planning) &&
		!batch_answers(s->how->batch, m, is_measured(s, m));
}

/* Asked while the threads work: only a piece of work that they have done is a step of the job. */
static bool preparing_cancelled(void *user)
{
	struct working *w = user;
	int64_t done = ahead_pieces(w->server->how->ahead);
	if (done != w->pieces)
		step(w->server, NULL, CACHE_NET, LAUNCH_AMORTIZED);
	w->pieces = done;
	return is_cancelled(w->server);
}

static void add_next(struct ahead_job *to, int *count, const char *problem, bool all)
{
	if (*count < AHEAD_PROBLEMS)
		to[(*count)++] = (struct ahead_job){ base_strdup(problem), all };
}

/* Prepares the job and, while that needs time, the queued ones and those that it names as the next. Their
 * texts are copied, since the reader may cancel jobs meanwhile. */
static void jobs_prepare(struct server *s, const struct wire_message *m, struct working *w)
{
	struct ahead_job job[AHEAD_PROBLEMS];
	int count = 0;
	if (!s->how->ahead || !is_preparable(s, m))
		return;
	pthread_mutex_lock(&s->lock);
	s->preparing = true;
	add_next(job, &count, m->problem, m->all);
	for (struct queued *q = s->first; q && count < AHEAD_PROBLEMS; q = q->next) {
		job_default(s, &q->message);
		if (is_preparable(s, &q->message))
			add_next(job, &count, q->message.problem, q->message.all);
	}
	for (int i = 0; i < m->next_count; i++)
		add_next(job, &count, m->next[i], m->all);
	pthread_mutex_unlock(&s->lock);
	ahead_prepare(s->how->ahead, job, count, preparing_cancelled, w);
	pthread_mutex_lock(&s->lock);
	s->preparing = false;
	pthread_mutex_unlock(&s->lock);
	while (count > 0)
		free((char *)(uintptr_t)job[--count].text);
}

/* Sends `done` with the problem and the states, and adds it to the output's index. If the device is lost and
 * the problem is not known to be the cause, it may be tried again: by a parent as often as that allows, in a
 * file LOSSES_MOST times, so that a problem that does cause it cannot stop all others for ever. */
static void send_outcome(struct server *s, const struct wire_message *m, enum status status, const char *why,
	int left_out)
{
	const struct platform_loss *loss = job_loss();
	struct wire_message done = { .type = WIRE_DONE,
		.id = m->id,
		.kind = m->kind,
		.payload = m->payload,
		.status = status,
		.what = why,
		.problem = m->problem,
		.all = m->all,
		.left_out = left_out,
		.leaves = loss != NULL,
		.retry = loss && !loss->by_problem && status != STATUS_OK &&
			batch_losses(s->how->batch, m->problem) < LOSSES_MOST };
	states_copy(s, m, &done);
	send_message(s, &done);
	batch_add(s->how->batch, &done);
}

/* Answers a job that is not a problem: `unsupported`. */
static void refuse_kind(struct server *s, const struct wire_message *m)
{
	struct error why = ERROR_NONE;
	const struct device *d = s->how->device;
	error_set(&why, "%s %s answers problems, but no jobs of the kind \"%s\"", d->runner, d->version,
		m->kind);
	const struct result r = { .problem = m->payload, .status = STATUS_UNSUPPORTED, .why = why.text,
		.kernels = "", .algorithm = { .api = "", .name = "", .layouts = "", .math = "",
			.workspace_bytes = NAN, .notes = "" },
		.enqueue_ns = NAN, .clock_mhz = NAN, .measured_at = (int64_t)time(NULL),
		.runner_version = d->version };
	send_message(s, &(struct wire_message){ .type = WIRE_RESULT, .id = m->id, .kind = m->kind,
		.result = r });
	send_message(s, &(struct wire_message){ .type = WIRE_DONE, .id = m->id, .status = STATUS_UNSUPPORTED,
		.what = why.text, .kind = m->kind, .payload = m->payload });
}

/* The job that is worked on from now; NULL: none. */
static void job_set(struct server *s, const struct wire_message *m)
{
	step(s, NULL, CACHE_NET, LAUNCH_AMORTIZED);
	pthread_mutex_lock(&s->lock);
	s->job = m;
	pthread_mutex_unlock(&s->lock);
}

static void work_on(struct server *s, struct wire_message *m)
{
	struct error err = ERROR_NONE;
	struct working w = { .server = s, .message = m };
	bool stopped = false;
	int left_out = 0;
	bool quick = is_quick(m), repeat = m->type == WIRE_RUN && wire_is_repeat(m);
	if (!wire_is_problem(m) && !((quick || repeat) && does_parts(s))) {
		refuse_kind(s, m);
		return;
	}
	if (quick || repeat)
		m->problem = m->payload;
	job_default(s, m);
	if (batch_skips(s->how->batch, m, is_measured(s, m)))
		return;
	job_set(s, m);
	jobs_prepare(s, m, &w);
	struct job j = { .problem = m->problem,
		.ahead = quick || repeat ? NULL : s->how->ahead,
		.budget_ns = (double)m->budget_ms * 1e6,
		.device = s->how->device,
		.planning = s->how->planning,
		.quick = quick,
		.only = repeat ? &m->algorithm : NULL,
		.all = m->all,
		.most = s->how->most,
		.left_out = &left_out,
		.user = &w,
		.cancelled = working_cancelled,
		.trying = working_trying,
		.emit = working_emit,
		.list = working_list,
		.check = working_check };
	memcpy(j.caches, m->caches, sizeof(j.caches));
	memcpy(j.launches, m->launches, sizeof(j.launches));
	step(s, NULL, CACHE_NET, LAUNCH_AMORTIZED);
	enum status status = s->how->check ? job_check(&j, &err) :
		m->type == WIRE_RUN ? job_run(&j, &stopped, &err) : job_list(&j, &err);
	job_set(s, NULL);
	if (stopped || (s->how->check && working_cancelled(&w)))
		server_done(s, m->id, STATUS_FAILED, "cancelled");
	else
		send_outcome(s, m, status, status == STATUS_OK && !s->how->check ? "" : err.text, left_out);
}

/* Waits for a job, the end of input, quit, or the idle limit. Without limit if the input is a file, as
 * that ends by itself. */
static void job_await(struct server *s)
{
	int64_t limit_ms = s->patient ? 0 : s->how->idle_ms;
	struct timespec until;
	int waited = 0;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(limit_ms / 1000);
	until.tv_nsec += limit_ms % 1000 * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	while (!s->first && !s->ended && !s->quit && waited != ETIMEDOUT)
		waited = limit_ms > 0 ? pthread_cond_timedwait(&s->changed, &s->lock, &until)
				      : pthread_cond_wait(&s->changed, &s->lock);
	s->quit |= waited == ETIMEDOUT && !s->first;
}

/* Takes the next job; false: leave. Clears the current one first: an algorithm's strings are freed with
 * its job. */
static bool next_job(struct server *s, struct wire_message *m)
{
	pthread_mutex_lock(&s->lock);
	s->current = 0;
	s->cancel = false;
	job_await(s);
	bool got = s->first && !s->quit;
	if (got) {
		struct queued *q = s->first;
		*m = q->message;
		s->first = q->next;
		s->last = s->first ? s->last : NULL;
		s->queued--;
		s->current = m->id;
		free(q);
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return got;
}

/* Stops the heart and drops the queued jobs without an answer: the parent sees that the program has ended. */
static void finish(struct server *s)
{
	pthread_mutex_lock(&s->lock);
	s->finished = true;
	while (s->first) {
		struct queued *q = s->first;
		s->first = q->next;
		wire_free(&q->message);
		free(q);
	}
	s->last = NULL;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void locks_make(struct server *s)
{
	pthread_condattr_t monotonic;
	pthread_mutex_init(&s->writing, NULL);
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static int hello_send(const struct server *s, struct error *err)
{
	if (s->how->batch->has_hello)
		return 0;
	struct device d = *s->how->device;
	d.jobs = does_parts(s) ? JOB_PROBLEM " " JOB_QUICK " " JOB_REPEAT : JOB_PROBLEM;
	char *hello = wire_hello(&d);
	int why = write_whole(s->out, hello, strlen(hello));
	free(hello);
	return why ? error_set(err, "cannot write to the output: %s", strerror(why)) : 0;
}

/* Logs how the device was lost, and sets err to that. Returns -1. */
static int loss_tell(struct server *s, const struct platform_loss *loss, struct error *err)
{
	error_set(err, "the device is lost%s%s; rerun to continue with %s", *loss->why ? ": " : "", loss->why,
		loss->by_problem ? "the next job" : "this job");
	struct error line = *err;
	error_context(&line, "error");
	server_log(s, line.text);
	return -1;
}

/* Runs jobs until the queue is empty, the device is lost, or the output cannot be written. */
static int work(struct server *s, struct error *err)
{
	struct wire_message m;
	while (!unwritten(s) && next_job(s, &m)) {
		work_on(s, &m);
		wire_free(&m);
		if (job_loss())
			return loss_tell(s, job_loss(), err);
	}
	int why = unwritten(s);
	return !why
		? 0
		: error_set(err, "cannot write results: %s; fix this and rerun (finished jobs are skipped)",
			  strerror(why));
}

int serve(struct serving *how, int in, int out, struct error *err)
{
	static struct server one; /* static: a reader that waits for input outlives this function */
	struct server *s = &one;
	struct stat input;
	pthread_t reading, beating;
	*s = (struct server){ .in = in, .out = out, .how = how };
	s->patient = fstat(in, &input) == 0 && S_ISREG(input.st_mode);
	locks_make(s);
	if (hello_send(s, err))
		return -1;
	if (pthread_create(&beating, NULL, heart, s) || pthread_create(&reading, NULL, server_reader, s))
		return error_set(err, "cannot start threads");
	int bad = work(s, err);
	finish(s);
	pthread_join(beating, NULL);
	if (s->patient) /* a file never makes its reader wait */
		pthread_join(reading, NULL);
	else
		pthread_detach(reading);
	return bad;
}
