/* The status of a queue, its jobs and its runners. */
#include "config.h"

#include "drive/queue_private.h"

#include <math.h>

#include "base/clock.h"

#define OVERDUE_SHARE 0.25 /* minimum of the remaining time of a running problem, as a share of the time
			      spent */

const struct device *queue_device(const struct queue *q)
{
	return q->known ? &q->device : NULL;
}

bool queue_is_idle(const struct queue *q)
{
	return q->list.by_state[JOB_RUNNING] == 0 && q->list.head < 0;
}

enum job_state queue_job_state(const struct queue *q, const char *kind, const char *payload)
{
	int job = job_find(&q->list, kind, payload);
	return job < 0 ? JOB_NONE : q->list.jobs[job].state;
}

enum job_state queue_state(const struct queue *q, const char *problem)
{
	return queue_job_state(q, JOB_PROBLEM, problem);
}

int queue_position(const struct queue *q, const char *problem)
{
	int job = job_find(&q->list, JOB_PROBLEM, problem);
	/* renumbering slots does not change the visible state */
	return job < 0 ? 0 : job_position((struct job_list *)(uintptr_t)&q->list, job);
}

const char *queue_job_why(const struct queue *q, const char *kind, const char *payload)
{
	int job = job_find(&q->list, kind, payload);
	return job < 0 ? "" : q->list.jobs[job].why;
}

const char *queue_why(const struct queue *q, const char *problem)
{
	return queue_job_why(q, JOB_PROBLEM, problem);
}

double queue_took_s(const struct queue *q, const char *problem)
{
	int job = job_find(&q->list, JOB_PROBLEM, problem);
	return job < 0 ? NAN : q->list.jobs[job].took_s;
}

/* The last time of a problem, or its estimate. */
static double job_expected_s(const struct queue *q, int job)
{
	const struct job *j = &q->list.jobs[job];
	return isnan(j->took_s) ? eta_expect(&q->eta, j->weight) : j->took_s;
}

/* Remaining time of a running job: expected minus spent time. A job that takes longer than expected keeps
 * OVERDUE_SHARE of the time spent, so the total neither reaches 0 nor becomes negative while it runs. NaN
 * (unknown) stays NaN. */
static double job_rest_s(const struct queue *q, const struct worker *w)
{
	double spent_s = (double)(clock_ms() - w->since_ms) / 1000,
		rest_s = job_expected_s(q, w->job) - spent_s;
	return rest_s < OVERDUE_SHARE * spent_s ? OVERDUE_SHARE * spent_s : rest_s; /* NaN stays */
}

/* Expected time of all pending and running jobs, divided by the number of runners that can share them:
 * the lower bound of list scheduling (Graham, Bell System Technical Journal 45, 1966), close for many
 * jobs of similar length. Linear in the jobs after a change of the list. NaN before the first job has
 * finished. */
static double queue_eta_s(const struct queue *q)
{
	int left = q->list.by_state[JOB_PENDING] + q->list.by_state[JOB_RUNNING];
	int hands = 0, first = q->list.head;
	struct pending_time *pending = q->pending;
	if (!pending->known || pending->version != q->list.version)
		*pending = (struct pending_time){ .known = true, .version = q->list.version };
	else
		first = -1;
	for (int job = first; job >= 0; job = q->list.jobs[job].after)
		pending->s += job_expected_s(q, job);
	double work_s = pending->s;
	for (int i = 0; i < q->worker_count; i++) {
		const struct worker *w = &q->workers[i];
		work_s += w->job >= 0 ? job_rest_s(q, w) : 0;
		hands += w->greeted && !w->dismissed;
	}
	hands = hands > left ? left : hands;
	return work_s / (hands > 1 ? hands : 1);
}

/* Counted from the job's start if that is later: an idle runner need not send anything. */
static double worker_silence_s(const struct worker *w)
{
	if (w->job < 0 || !w->process)
		return 0;
	int64_t asked = clock_ms() - w->since_ms, silent = runner_process_silence_ms(w->process);
	return (double)(silent < asked ? silent : asked) / 1000;
}

static bool worker_is_starting(const struct worker *w)
{
	return w->process && !w->greeted && !w->dismissed;
}

struct queue_worker queue_worker(const struct queue *q, int i)
{
	const struct worker *w = &q->workers[i];
	const char *waiting = worker_is_starting(w) ? runner_process_waits(w->process) : NULL;
	return (struct queue_worker){
		.label = w->label,
		.up = w->greeted && !w->dismissed,
		.kind = w->job >= 0 ? q->list.jobs[w->job].kind : NULL,
		.problem = w->job >= 0 ? q->list.jobs[w->job].payload : NULL,
		.what = w->what,
		.ended = w->ended,
		.silence_s = worker_silence_s(w),
		.waiting = waiting ? waiting : "",
		.waiting_s = waiting ? (double)(clock_ms() - w->started_ms) / 1000 : 0,
		.out = w->broken ? w->why : "",
		.note = w->note,
	};
}

/* Sums up the workers: the current problem, the first one that waits, errors of those that are out. */
static void status_of_workers(const struct queue *q, struct queue_status *s)
{
	bool starting = false;
	for (int i = 0; i < q->worker_count; i++) {
		struct queue_worker w = queue_worker(q, i);
		s->workers++;
		s->workers_up += w.up;
		starting |= worker_is_starting(&q->workers[i]);
		if (w.problem && !s->current) {
			s->current = w.problem;
			s->current_what = w.what;
		}
		s->silence_s = w.silence_s > s->silence_s ? w.silence_s : s->silence_s;
		if (*w.waiting && !*s->waiting) {
			s->waiting = w.waiting;
			s->waiting_s = w.waiting_s;
		}
		if (*w.out && s->trouble_past) { /* an old error still applies to this one */
			s->trouble = w.out;
			s->trouble_past = false;
		}
	}
	s->starting = starting && s->workers_up == 0;
}

struct queue_status queue_status(const struct queue *q)
{
	const struct job_list *l = &q->list;
	bool idle = queue_is_idle(q);
	int64_t until = idle ? q->batch_until_ms : clock_ms();
	struct queue_status s = {
		.pending = l->by_state[JOB_PENDING] - l->quick[JOB_PENDING],
		.running = l->by_state[JOB_RUNNING] - l->quick[JOB_RUNNING],
		.done = l->by_state[JOB_DONE] - l->quick[JOB_DONE],
		.failed = l->by_state[JOB_FAILED] - l->quick[JOB_FAILED],
		.unsupported = l->by_state[JOB_UNSUPPORTED] - l->quick[JOB_UNSUPPORTED],
		.quick = l->quick[JOB_PENDING] + l->quick[JOB_RUNNING],
		.quick_ended = l->quick[JOB_DONE] + l->quick[JOB_FAILED] + l->quick[JOB_UNSUPPORTED],
		.repeats = l->repeats[JOB_PENDING] + l->repeats[JOB_RUNNING],
		.batch_repeats = q->batch_repeats,
		.batch_done = q->batch_by_state[JOB_DONE],
		.batch_failed = q->batch_by_state[JOB_FAILED],
		.batch_unsupported = q->batch_by_state[JOB_UNSUPPORTED],
		.current_what = "",
		.waiting = "",
		.elapsed_s = q->batch_since_ms ? (double)(until - q->batch_since_ms) / 1000 : 0,
		.eta_s = queue_eta_s(q),
		.trouble = q->trouble,
		.trouble_past = q->trouble_past,
		.idle = idle,
	};
	status_of_workers(q, &s);
	return s;
}
