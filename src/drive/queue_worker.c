/* A worker's process: start, hello, loss, quit. */
#include "config.h"

#include "drive/queue_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/log.h"

#define STARTS_MAX 3     /* failed starts in a row of a runner that never sent a hello */
#define STARTS_MET_MAX 8 /* of one that did: its connection may be down for some seconds */
#define LOST_MAX 2       /* a problem whose runner is lost more often than this is taken as the cause */

/* With several workers, prepends the worker's label. */
static void worker_name(const struct queue *q, const struct worker *w, struct error *err)
{
	if (q->worker_count > 1)
		error_context(err, "%s", w->label);
}

/* The worker is not started again. */
static int worker_break(struct queue *q, struct worker *w, struct error *err)
{
	w->broken = true;
	snprintf(w->why, sizeof(w->why), "%s", err->text);
	queue_trouble(q, err->text);
	return queue_is_stuck(q) ? -1 : 0;
}

void worker_reset(struct worker *w)
{
	w->broken = false;
	w->starts_failed = w->deaths = 0;
	if (!w->process || w->dismissed)
		w->jobs = NULL; /* it may have been updated */
	w->why[0] = '\0';
}

/* Additional environment variables; those of the runner's configuration come last and override. */
static const char *const *worker_env(const struct queue *q, const struct worker *w, struct arena *a)
{
	int count = 0;
	while (w->runner->env && w->runner->env[count])
		count++;
	const char **env = ARENA_ARRAY(a, const char *, count + 2);
	int n = 0;
	if (q->config->threads > 0)
		env[n++] = arena_printf(a, "OMP_NUM_THREADS=%d", q->config->threads);
	for (int i = 0; i < count; i++)
		env[n++] = w->runner->env[i];
	return env;
}

int worker_start(struct queue *q, struct worker *w, struct error *err)
{
	struct arena a = { 0 };
	w->process = runner_process_start(worker_argv(w, &a), worker_env(q, w, &a), err);
	arena_free(&a);
	w->started_ms = clock_ms();
	w->greeted = w->more = w->leaves = w->excused = w->dismissed = false;
	if (!w->process) {
		worker_name(q, w, err);
		return worker_break(q, w, err);
	}
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = w };
	epoll_ctl(q->epoll, EPOLL_CTL_ADD, runner_process_fd(w->process), &event);
	return 0;
}

static void worker_drop(struct queue *q, struct worker *w)
{
	epoll_ctl(q->epoll, EPOLL_CTL_DEL, runner_process_fd(w->process), NULL);
	runner_process_kill(w->process);
	w->process = NULL;
	w->greeted = w->more = w->leaves = w->excused = w->dismissed = false;
}

void worker_dismiss(struct worker *w)
{
	runner_process_quit(w->process);
	w->dismissed = true;
	w->free_since_ms = clock_ms();
}

/* Sends a quit to a runner that cannot be used; it is not started again. */
static int worker_refuse(struct queue *q, struct worker *w, struct error *err)
{
	worker_dismiss(w);
	worker_name(q, w, err);
	return worker_break(q, w, err);
}

/* Returns -1, with err, if the device is not that of the queue. */
static int worker_is_other(struct queue *q, const struct worker *w, const struct device *d, struct error *err)
{
	const struct device *first = &q->device;
	if (!q->known || (strcmp(d->model, first->model) == 0 && strcmp(d->stack, first->stack) == 0))
		return 0;
	if (q->worker_count == 1)
		return error_set(err,
			"the runner %s was %s (%s) and is now %s (%s): "
			"results of two devices are never mixed; restart benanza",
			w->runner->argv[0], first->model, first->stack, d->model, d->stack);
	bool alone = w->runner->count <= 1;
	return error_set(err,
		"is %s (%s), but the other runners are %s (%s): results of two devices are never mixed; "
		"measure it separately, with %s%s",
		d->model, d->stack, first->model, first->stack,
		alone ? "-d " : "a name of its own under runners:", alone ? w->asked : "");
}

/* The note stays visible after later errors. */
static void worker_note(struct queue *q, struct worker *w, const struct error *said)
{
	snprintf(w->note, sizeof(w->note), "%s", said->text);
	queue_trouble(q, said->text);
}

/* OMP_NUM_THREADS sets the threads of a local runner, but ssh does not pass it on. The results are valid
 * nevertheless, because the number of threads is part of the stack. */
static void worker_check_threads(struct queue *q, struct worker *w, const struct device *d)
{
	struct error said = ERROR_NONE;
	int asked = q->config->threads;
	if (asked <= 0 || d->threads <= 0 || d->threads == asked)
		return;
	error_set(&said,
		"%s measures with %d thread%s, not with the configured %d, "
		"because its command does not pass the variable on: add --threads %d after "
		"benanza-runner-cpu in the command",
		w->label, d->threads, d->threads == 1 ? "" : "s", asked, asked);
	worker_note(q, w, &said);
}

/* Two runners on the same device disturb each other. Only detected if their hellos identify the hardware. */
static void worker_check_shared(struct queue *q, struct worker *w)
{
	const struct device *mine = runner_process_device(w->process);
	for (int i = 0; i < q->worker_count; i++) {
		const struct worker *other = &q->workers[i];
		if (other == w || !other->greeted || other->dismissed)
			continue;
		struct error said = ERROR_NONE;
		if (!device_is_same_hardware(mine, runner_process_device(other->process)))
			continue;
		error_set(&said,
			"%s and %s measure on the same device of %s and disturb each other: "
			"select one device for each, or set count: 1",
			other->label, w->label, mine->host);
		worker_note(q, w, &said);
		return;
	}
}

/* The first hello determines the device of the queue; later ones must have the same. */
int worker_greet(struct queue *q, struct worker *w, struct error *err)
{
	const struct device *d = runner_process_device(w->process);
	if (worker_is_other(q, w, d, err))
		return worker_refuse(q, w, err);
	if (!worker_is_asked(w, d)) {
		error_set(err, "the runner %s has the device %s, but not %s", w->runner->name,
			d->name, w->asked);
		return worker_refuse(q, w, err);
	}
	bool again = w->met;
	w->greeted = w->met = true;
	w->starts_failed = 0;
	w->free_since_ms = clock_ms();
	if (!w->jobs || strcmp(w->jobs, d->jobs) != 0)
		w->jobs = arena_strndup(&q->arena, d->jobs, strlen(d->jobs));
	if (!q->known) {
		q->device = device_copy(&q->device_arena, d);
		q->known = true;
	}
	if (!again) {
		worker_check_threads(q, w, d);
		worker_check_shared(q, w);
	}
	return queue_load(q, err) ? worker_refuse(q, w, err) : 0;
}

bool worker_may_retry(const struct queue *q, const struct worker *w)
{
	return w->job >= 0 && q->list.jobs[w->job].lost < LOST_MAX;
}

/* True if its job did not cause the end of the process, so that it may be queued again (at most LOST_MAX
 * times): the runner said so, the process was ended from outside, could not be used, exited before it
 * started the job, or a remote one did not respond. */
static bool worker_is_blameless(const struct queue *q, const struct worker *w, enum runner_end end,
	enum status status)
{
	if (w->cancelled_ms || !worker_may_retry(q, w))
		return false;
	bool hung = status == STATUS_TIMEOUT && runner_process_is_remote(w->process);
	return hung || w->excused || end == RUNNER_END_KILLED || end == RUNNER_END_UNUSABLE ||
		(end == RUNNER_END_EXITED && !w->heard);
}

static void worker_put_back(struct queue *q, struct worker *w)
{
	job_set(&q->list, w->job, JOB_NONE, NULL);
	job_enqueue(&q->list, w->job, true);
	q->list.jobs[w->job].lost++;
	w->job = -1;
	w->what[0] = '\0';
}

/* Schedules a restart: at once, then with a delay that doubles, up to 32 times limits.restart (truncated
 * exponential backoff). After too many failures in a row the worker is not restarted; a runner that did
 * send a hello before gets more tries, because its connection may be down. */
static int worker_plan_start(struct queue *q, struct worker *w, bool greeted, struct error *err)
{
	int failed = greeted ? w->deaths : w->starts_failed;
	int64_t delay = failed < 2 ? 0 : (int64_t)q->limits.restart << (failed - 2 < 5 ? failed - 2 : 5);
	w->restart_at_ms = clock_ms() + delay;
	if (!greeted && w->starts_failed >= (w->met ? STARTS_MET_MAX : STARTS_MAX))
		return worker_break(q, w, err);
	if (w->deaths >= q->limits.deaths) {
		error_context(err, "not restarted, because the runner died on %d problems in a row",
			w->deaths);
		return worker_break(q, w, err);
	}
	return 0;
}

/* Ends a worker's process and decides on its job: queued again if the job is not the cause
 * (worker_is_blameless), else ended with the error. A free runner that exited is no error. Then plans the
 * restart. Returns the number of results added, or -1 if no runner is left. */
int worker_lose(struct queue *q, struct worker *w, enum status status, struct error *err)
{
	int added = 0;
	bool greeted = w->greeted, busy = w->job >= 0, dismissed = w->dismissed;
	enum runner_end end = runner_process_end(w->process);
	bool blameless = worker_is_blameless(q, w, end, status);
	worker_drop(q, w);
	if (dismissed || (greeted && !busy && end == RUNNER_END_EXITED))
		return 0; /* it had no job: it is started again when there is one */
	if (blameless)
		error_context(err, "its problem is queued again");
	worker_name(q, w, err);
	if (blameless)
		worker_put_back(q, w);
	else if (busy)
		added = queue_end_job(q, w, status, err->text);
	queue_trouble(q, err->text);
	if (greeted) {
		w->starts_failed = 0;
		w->deaths += busy && !w->cancelled_ms;
	} else {
		w->starts_failed++;
	}
	if (end == RUNNER_END_UNUSABLE)
		return worker_break(q, w, err);
	return worker_plan_start(q, w, greeted, err) < 0 ? -1 : added;
}

void worker_cancel(struct worker *w, bool is_limit)
{
	struct wire_message cancel = { .type = WIRE_CANCEL, .id = w->id, .problem = "", .what = "" };
	if (w->job < 0 || w->cancelled_ms)
		return;
	w->cancelled_ms = clock_ms();
	w->cancel_is_limit = is_limit;
	if (w->process)
		runner_process_send(w->process, &cancel, NULL); /* if it is not read, limits.grace applies */
}
