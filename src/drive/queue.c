#include "config.h"

#include "drive/queue_private.h"

#include <assert.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"

/* A runner that talks without end must not keep the caller from its keyboard. */
#define MESSAGES_A_STEP 1000
#define STARTS_MAX 3

struct queue *queue_new(const struct config *config, const struct config_runner *runner, struct store *store,
	struct results *results)
{
	struct queue *q = base_calloc(1, sizeof(*q));
	q->config = config;
	q->runner = runner;
	q->store = store;
	q->results = results;
	q->device_id = -1;
	q->running = -1;
	q->next_id = 1;
	q->limits = (struct queue_limits){ .hello = 30000,
		.silence = 10000,
		.problem = (int)config->problem_limit_ms,
		.grace = 5000,
		.restart = 100,
		.deaths = 8 };
	job_list_init(&q->list);
	return q;
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	if (q->greeted)
		runner_process_stop(q->process);
	else /* one that is no runner, perhaps, and does not know what quit means */
		runner_process_stop_within(q->process, 0, 200);
	job_list_free(&q->list);
	arena_free(&q->device_arena);
	free(q);
}

struct queue_limits *queue_limits(struct queue *q)
{
	return &q->limits;
}

void queue_set_stop(struct queue *q, const volatile sig_atomic_t *stop)
{
	q->stop = stop;
}

/* --- jobs --- */

/* Has it an answer, or was it tried in the batch that is running? */
static bool queue_is_settled(const struct queue *q, const struct job *j)
{
	bool tried = j->state == JOB_FAILED && j->batch == q->batch && !queue_is_idle(q);
	return tried || j->state == JOB_DONE || j->state == JOB_UNSUPPORTED ||
	       results_is_finished(q->results, j->problem);
}

bool queue_add(struct queue *q, const char *problem, bool first, bool again)
{
	assert(problem[0] && strlen(problem) < PROBLEM_TEXT_SIZE);
	int job = job_make(&q->list, problem);
	enum job_state state = q->list.jobs[job].state;
	q->broken = false;
	q->starts_failed = q->deaths = 0;
	if (state == JOB_PENDING && first) {
		job_set(&q->list, job, JOB_NONE, NULL);
		job_enqueue(&q->list, job, true);
	}
	if (state == JOB_PENDING || state == JOB_RUNNING)
		return false;
	if (!again && queue_is_settled(q, &q->list.jobs[job]))
		return false;
	if (queue_is_idle(q)) {
		q->batch++;
		q->batch_since_ms = q->batch_until_ms = 0; /* from when it is started on */
		q->batch_done = 0;
		q->batch_ms = 0;
		memset(q->batch_by_state, 0, sizeof(q->batch_by_state));
		q->trouble_past = true;
	}
	q->list.jobs[job].again = again;
	q->list.jobs[job].stepped_back = false;
	job_enqueue(&q->list, job, first);
	return true;
}

/* --- the runner --- */

static int queue_break(struct queue *q, struct error *err)
{
	q->broken = true;
	queue_trouble(q, err->text);
	return -1;
}

/* The runner is gone, or must go: its job fails, and a new start is planned. Returns results added, or -1. */
static int queue_lose_runner(struct queue *q, enum status status, struct error *err)
{
	int added = 0;
	bool greeted = q->greeted, busy = q->running >= 0;
	runner_process_kill(q->process);
	q->process = NULL;
	q->greeted = q->more = q->leaves = false;
	if (busy)
		added = queue_end_job(q, status, err->text);
	queue_trouble(q, err->text);
	if (greeted) {
		q->starts_failed = 0;
		q->deaths += busy && !q->cancelled_ms;
	} else {
		q->starts_failed++;
	}
	int failed = greeted ? q->deaths : q->starts_failed;
	int64_t delay = failed < 2 ? 0 : (int64_t)q->limits.restart << (failed - 2 < 5 ? failed - 2 : 5);
	q->restart_at_ms = clock_ms() + delay;
	if (!greeted && q->starts_failed >= STARTS_MAX)
		return queue_break(q, err);
	if (q->deaths >= q->limits.deaths) {
		error_context(err, "given up after the runner died on %d problems in a row", q->deaths);
		return queue_break(q, err);
	}
	return added;
}

const char *queue_device_part(const struct config_runner *r, const char *device)
{
	size_t n = strlen(r->name);
	if (!device)
		return NULL;
	if (strncmp(device, r->name, n) == 0 && (!device[n] || device[n] == ':'))
		return device + n + (device[n] == ':');
	return strcmp(r->name, "cuda") == 0 && strncasecmp(device, "GPU-", 4) == 0 ? device : NULL;
}

/* What comes behind the runner's name in the device that was asked for; "": any. */
static const char *queue_part(const struct queue *q)
{
	const char *part = queue_device_part(q->runner, q->config->device);
	return part ? part : "";
}

/* "cuda:1" is asked of the runner as --device 1; the runner "cpu" has but one. */
static const char *const *queue_argv(const struct queue *q, struct arena *a)
{
	const char *part = queue_part(q);
	if (!*part || strcmp(q->runner->name, "cpu") == 0)
		return q->runner->argv;
	const char **argv = ARENA_ARRAY(a, const char *, q->runner->argc + 3);
	for (int i = 0; i < q->runner->argc; i++)
		argv[i] = q->runner->argv[i];
	argv[q->runner->argc] = "--device";
	argv[q->runner->argc + 1] = part;
	return argv;
}

static int queue_start(struct queue *q, struct error *err)
{
	char threads[32];
	const char *env[2] = { NULL, NULL };
	if (q->config->threads > 0) {
		snprintf(threads, sizeof(threads), "OMP_NUM_THREADS=%d", q->config->threads);
		env[0] = threads;
	}
	struct arena a = { 0 };
	q->process = runner_process_start(queue_argv(q, &a), env, err);
	arena_free(&a);
	q->started_ms = clock_ms();
	q->greeted = false;
	return q->process ? 0 : queue_break(q, err);
}

/* Is it the beginning of the device's UUID, with or without "GPU-"? Shorter than a runner takes it is none. */
static bool is_uuid_of(const struct device *d, const char *part)
{
	json_t *o = d->attributes ? json_loads(d->attributes, 0, NULL) : NULL;
	const char *uuid = json_string_at(o, "uuid", "");
	size_t n = strlen(part);
	bool is = n >= 4 && (strncasecmp(uuid, part, n) == 0 ||
		(strncasecmp(uuid, "GPU-", 4) == 0 && strncasecmp(uuid + 4, part, n) == 0));
	json_decref(o);
	return is;
}

/* "cpu:7" asks for one device of the runner cpu: what its hello names must be that one. */
static bool queue_is_asked(const struct queue *q, const struct device *d)
{
	const char *part = queue_part(q), *number = strchr(d->name, ':');
	return !*part || strcmp(d->name, q->config->device) == 0 || (number && strcmp(number + 1, part) == 0) ||
		is_uuid_of(d, part);
}

/* A runner that cannot be worked with: it goes, and is not started again. */
static int queue_refuse(struct queue *q, struct error *err)
{
	runner_process_stop(q->process);
	q->process = NULL;
	return queue_break(q, err);
}

/* The hello has come: the device is taken over, or, after a restart, must be the one that it was. */
static int queue_greet(struct queue *q, struct error *err)
{
	const struct device *d = runner_process_device(q->process);
	if (q->known && (strcmp(d->model, q->device.model) || strcmp(d->stack, q->device.stack))) {
		error_set(err,
			"the runner %s was %s (%s) and is now %s (%s): results of two devices do not mix; "
			"start benanza again",
			q->runner->argv[0], q->device.model, q->device.stack, d->model, d->stack);
		return queue_refuse(q, err);
	}
	if (!queue_is_asked(q, d)) {
		error_set(err, "the runner %s has the device %s, and none that is called %s", q->runner->name, d->name,
			q->config->device);
		return queue_refuse(q, err);
	}
	q->greeted = true;
	q->starts_failed = 0;
	if (!q->known) {
		q->device = device_copy(&q->device_arena, d);
		q->known = true;
	}
	return queue_load(q, err) ? queue_refuse(q, err) : 0;
}

/* Does another process on the same file seem to be measuring it: has it results of the last moments, and no end? */
static bool queue_is_elsewhere(const struct queue *q, const char *problem)
{
	int count;
	const struct result *const *all = results_of(q->results, problem, &count);
	int64_t since = (int64_t)time(NULL) - q->limits.problem / 1000;
	bool recent = false;
	for (int i = 0; i < count; i++) {
		if (!all[i]->algorithm.name[0])
			return false;
		recent |= all[i]->measured_at >= since;
	}
	return recent;
}

/* The next problem that is still wanted, or -1. Another process on the same file may have measured it by now; one
 * that seems to be at it gets time for that, as long as there is something else to do. */
static int queue_choose(struct queue *q)
{
	int job;
	while ((job = q->list.head) >= 0) {
		struct job *j = &q->list.jobs[job];
		if (j->again)
			break;
		bool finished = results_is_finished(q->results, j->problem);
		if (!finished && (j->stepped_back || !queue_is_elsewhere(q, j->problem)))
			break;
		job_set(&q->list, job, JOB_NONE, NULL);
		if (finished)
			continue;
		j->stepped_back = true;
		job_enqueue(&q->list, job, false);
	}
	return job;
}

static int queue_send_next(struct queue *q, struct error *err)
{
	struct error reading = ERROR_NONE;
	if (q->running >= 0 || q->list.head < 0 || !q->greeted)
		return 0;
	if (queue_load(q, &reading))
		queue_trouble(q, reading.text);
	int job = queue_choose(q);
	if (job < 0)
		return 0;
	job_set(&q->list, job, JOB_RUNNING, NULL);
	q->running = job;
	q->running_id = q->next_id++;
	q->running_since_ms = clock_ms();
	q->cancelled_ms = 0;
	q->stored = q->stored_ok = q->stored_mistrusted = q->unkept = 0;
	q->what[0] = '\0';
	if (!q->batch_since_ms)
		q->batch_since_ms = q->running_since_ms;
	struct wire_message run = { .type = WIRE_RUN,
		.id = q->running_id,
		.problem = q->list.jobs[job].problem,
		.budget_ms = q->config->budget_ms,
		.what = "",
		.caches = { [CACHE_NET] = true, [CACHE_WARM] = true },
		.launches = { [LAUNCH_AMORTIZED] = true, [LAUNCH_ISOLATED] = true } };
	return runner_process_send(q->process, &run, err);
}

static void queue_cancel_running(struct queue *q, bool is_limit)
{
	struct wire_message cancel = { .type = WIRE_CANCEL, .id = q->running_id, .problem = "", .what = "" };
	if (q->running < 0 || q->cancelled_ms)
		return;
	q->cancelled_ms = clock_ms();
	q->cancel_is_limit = is_limit;
	if (q->process)
		runner_process_send(q->process, &cancel, NULL); /* unread, it comes to the grace's end */
}

void queue_cancel(struct queue *q)
{
	while (q->list.head >= 0)
		job_set(&q->list, q->list.head, JOB_NONE, NULL);
	queue_cancel_running(q, false);
	q->cancel_is_limit = false;
}

/* --- time --- */

struct deadline {
	int64_t at; /* ms; INT64_MAX: never */
	enum {
		DEADLINE_NONE,
		DEADLINE_HELLO,
		DEADLINE_SILENCE,
		DEADLINE_PROBLEM,
		DEADLINE_GRACE,
		DEADLINE_RESTART
	} kind;
};

static void deadline_min(struct deadline *d, int64_t at, int kind)
{
	if (at < d->at) {
		d->at = at;
		d->kind = kind;
	}
}

static struct deadline queue_deadline(const struct queue *q)
{
	struct deadline d = { INT64_MAX, DEADLINE_NONE };
	int64_t now = clock_ms();
	if (!q->process) {
		if (q->list.head >= 0 && !q->broken)
			deadline_min(&d, q->restart_at_ms, DEADLINE_RESTART);
		return d;
	}
	if (!q->greeted)
		deadline_min(&d, q->started_ms + q->limits.hello, DEADLINE_HELLO);
	if (q->running < 0)
		return d;
	/* the silence counts from the question on: an idle runner may be silent */
	int64_t heard = now - runner_process_silence_ms(q->process);
	if (heard < q->running_since_ms)
		heard = q->running_since_ms;
	deadline_min(&d, heard + q->limits.silence, DEADLINE_SILENCE);
	if (q->cancelled_ms)
		deadline_min(&d, q->cancelled_ms + q->limits.grace, DEADLINE_GRACE);
	else
		deadline_min(&d, q->running_since_ms + q->limits.problem, DEADLINE_PROBLEM);
	return d;
}

/* What is due now is done. Returns results added, -1 as queue_step. */
static int queue_check_time(struct queue *q, struct error *err)
{
	struct deadline d = queue_deadline(q);
	if (d.at > clock_ms())
		return 0;
	switch (d.kind) {
	case DEADLINE_PROBLEM:
		queue_cancel_running(q, true);
		return 0;
	case DEADLINE_HELLO:
		error_set(err, "the runner %s said no hello in %d s", q->runner->argv[0],
			q->limits.hello / 1000);
		return queue_lose_runner(q, STATUS_FAILED, err);
	case DEADLINE_SILENCE:
		error_set(err, "the runner gave no sign of life for %.3g s; it was killed",
			q->limits.silence / 1000.0);
		return queue_lose_runner(q, STATUS_TIMEOUT, err);
	case DEADLINE_GRACE:
		if (q->cancel_is_limit)
			error_set(err, "not done within %.3g s, and did not stop when told; the runner was killed",
				(q->limits.problem + q->limits.grace) / 1000.0);
		else
			error_set(err, "did not stop when told; the runner was killed");
		return queue_lose_runner(q, STATUS_TIMEOUT, err);
	case DEADLINE_NONE:
	case DEADLINE_RESTART:
		break;
	}
	return 0;
}

/* --- steps --- */

static int queue_done(struct queue *q, const struct wire_message *m)
{
	if (q->running < 0 || m->id != q->running_id) {
		log_line("an end that was not asked for (id %lld) is left out", (long long)m->id);
		return 0;
	}
	enum status status = m->status;
	const char *why = m->what;
	if (q->cancelled_ms && q->cancel_is_limit && q->stored_ok == 0) {
		status = STATUS_TIMEOUT;
		why = "not done within the time limit for a problem";
	}
	q->leaves = m->leaves;
	q->deaths = m->leaves ? q->deaths + 1 : 0;
	return queue_end_job(q, status, why);
}

static int queue_message(struct queue *q, const struct wire_message *m)
{
	switch (m->type) {
	case WIRE_RESULT:
		return queue_result(q, m);
	case WIRE_DONE:
		return queue_done(q, m);
	case WIRE_HEARTBEAT:
		if (q->running >= 0 && m->id == q->running_id)
			snprintf(q->what, sizeof(q->what), "%s", m->what);
		return 0;
	case WIRE_LOG:
		log_line("runner: %s", m->what);
		return 0;
	default:
		return 0; /* ALGORITHM lines answer a question that the queue does not put */
	}
}

/* The next problem to the runner; one that does not read is lost. Returns results added, -1 as queue_step. */
static int queue_feed(struct queue *q, struct error *err)
{
	return q->process && queue_send_next(q, err) ? queue_lose_runner(q, STATUS_FAILED, err) : 0;
}

/* Reads all that has come. Returns results added, -1 as queue_step. */
static int queue_read(struct queue *q, struct error *err)
{
	int added = 0;
	q->more = false;
	for (int n = 0; n < MESSAGES_A_STEP && q->process; n++) {
		struct wire_message m;
		int got = runner_process_read(q->process, &m, err);
		if (got >= 0 && !q->greeted && runner_process_device(q->process) && queue_greet(q, err)) {
			if (got)
				wire_free(&m);
			return -1;
		}
		if (got < 0) {
			int lost = queue_lose_runner(q, STATUS_CRASHED, err);
			return lost < 0 ? -1 : added + lost;
		}
		if (got == 0)
			return added;
		added += queue_message(q, &m);
		if (q->leaves)
			error_set(err, "the runner lost its device: %s", m.what);
		wire_free(&m);
		if (q->leaves && queue_lose_runner(q, STATUS_FAILED, err) < 0)
			return -1;
		int fed = queue_feed(q, err);
		if (fed < 0)
			return -1;
		added += fed;
	}
	q->more = q->process != NULL;
	return added;
}

static void queue_wait(struct queue *q, int timeout_ms)
{
	int64_t left = queue_deadline(q).at - clock_ms();
	if (q->more || left <= 0)
		left = 0;
	if (left > timeout_ms)
		left = timeout_ms;
	struct pollfd at = { .fd = queue_fd(q), .events = POLLIN };
	poll(&at, 1, (int)left);
}

/* One round: starts what must be started, waits, reads, looks at the time. wanted: start a runner without
 * jobs too. */
static int queue_round(struct queue *q, int timeout_ms, bool wanted, struct error *err)
{
	if (q->broken)
		return error_set(err, "%s", q->trouble);
	if (!q->process && (wanted || q->list.head >= 0) && clock_ms() >= q->restart_at_ms &&
		queue_start(q, err))
		return -1;
	int before = queue_feed(q, err);
	if (before < 0)
		return -1;
	queue_wait(q, timeout_ms);
	int added = q->process ? queue_read(q, err) : 0;
	if (added < 0)
		return -1;
	int after = queue_feed(q, err);
	if (after < 0)
		return -1;
	int late = queue_check_time(q, err);
	return late < 0 ? -1 : before + added + after + late;
}

int queue_step(struct queue *q, int timeout_ms, struct error *err)
{
	struct error local = ERROR_NONE;
	if (!err)
		err = &local;
	if (q->broken && q->list.head < 0)
		return 0; /* nothing to do, nothing to complain of */
	return queue_round(q, timeout_ms, false, err);
}

int queue_connect(struct queue *q, int timeout_ms, struct error *err)
{
	int64_t until = clock_ms() + timeout_ms;
	struct error local = ERROR_NONE;
	if (!err)
		err = &local;
	q->broken = false;
	q->starts_failed = 0;
	if (timeout_ms < 0) {
		timeout_ms = q->limits.hello;
		until = clock_ms() + timeout_ms;
	}
	while (!q->greeted) {
		if (q->stop && *q->stop)
			return error_set(err, "interrupted before the runner %s said hello", q->runner->argv[0]);
		int64_t left = until - clock_ms();
		/* between two starts there is no descriptor to wait on, only the time */
		if (queue_round(q, left < 0 ? 0 : left < 50 ? (int)left : 50, true, err) < 0)
			return -1;
		if (!q->greeted && left <= 0)
			return error_set(err, "the runner %s said no hello in %.3g s%s%s", q->runner->argv[0],
				timeout_ms / 1000.0, q->trouble[0] ? "; before that, " : "", q->trouble);
	}
	return 0;
}

int queue_fd(const struct queue *q)
{
	return q->process ? runner_process_fd(q->process) : -1;
}
