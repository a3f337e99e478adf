/* Time limits. Each worker has at most one deadline: the earliest limit of its present state
 * (queue_limits). */
#include "config.h"

#include "drive/queue_private.h"

#include "base/clock.h"

struct deadline {
	int64_t at; /* clock_ms; INT64_MAX: never */
	enum {
		DEADLINE_NONE,
		DEADLINE_HELLO,
		DEADLINE_SILENCE,
		DEADLINE_PROBLEM,
		DEADLINE_GRACE,
		DEADLINE_IDLE,
		DEADLINE_GONE
	} kind;
};

int queue_up(const struct queue *q)
{
	int up = 0;
	for (int i = 0; i < q->worker_count; i++) {
		const struct worker *w = &q->workers[i];
		up += w->process && !w->dismissed && (w->job >= 0 || worker_suits(q, w));
	}
	return up;
}

int queue_wanted(const struct queue *q)
{
	int jobs = q->list.by_state[JOB_PENDING] + q->list.by_state[JOB_RUNNING];
	return jobs - queue_up(q);
}

static void deadline_min(struct deadline *d, int64_t at, int kind)
{
	if (at < d->at) {
		d->at = at;
		d->kind = kind;
	}
}

/* The next deadline of a worker with a process, by its state: dismissed (until it is gone), starting
 * (hello), free (idle), busy (silence, and either the problem's limit or, once cancelled, the grace
 * period). The earliest is returned. Constant time. */
static struct deadline worker_deadline(const struct queue *q, const struct worker *w)
{
	struct deadline d = { INT64_MAX, DEADLINE_NONE };
	if (w->dismissed) {
		deadline_min(&d, w->free_since_ms + q->limits.grace, DEADLINE_GONE);
		return d;
	}
	if (!w->greeted) { /* waiting in a cluster's queue has no limit */
		if (!runner_process_waits(w->process))
			deadline_min(&d, runner_process_ready_ms(w->process) + q->limits.hello,
				DEADLINE_HELLO);
		return d;
	}
	if (w->job < 0) {
		if (q->limits.idle > 0 && q->list.head < 0)
			deadline_min(&d, w->free_since_ms + q->limits.idle, DEADLINE_IDLE);
		return d;
	}
	/* silence counts from the job's start: an idle runner need not send anything */
	int64_t heard = clock_ms() - runner_process_silence_ms(w->process);
	if (heard < w->since_ms)
		heard = w->since_ms;
	deadline_min(&d, heard + q->limits.silence, DEADLINE_SILENCE);
	if (w->cancelled_ms)
		deadline_min(&d, w->cancelled_ms + q->limits.grace, DEADLINE_GRACE);
	else
		deadline_min(&d, w->since_ms + q->limits.problem, DEADLINE_PROBLEM);
	return d;
}

/* The earliest deadline of all workers, for the wait of the event loop; of a worker without a process its
 * restart, if jobs wait for one. A linear minimum: there are at most QUEUE_WORKERS_MAX, so a timer heap
 * would not pay. */
int64_t queue_deadline_ms(const struct queue *q)
{
	int64_t at = INT64_MAX;
	bool wanted = queue_wanted(q) > 0;
	for (int i = 0; i < q->worker_count; i++) {
		const struct worker *w = &q->workers[i];
		bool suits = wanted && !w->broken && worker_suits(q, w);
		int64_t its = w->process ? worker_deadline(q, w).at : suits ? w->restart_at_ms : INT64_MAX;
		at = its < at ? its : at;
	}
	return at;
}

/* Acts on the worker's deadline if it has passed. */
int worker_check_time(struct queue *q, struct worker *w, struct error *err)
{
	struct deadline d = w->process ? worker_deadline(q, w) :
		(struct deadline){ INT64_MAX, DEADLINE_NONE };
	if (d.at > clock_ms())
		return 0;
	switch (d.kind) {
	case DEADLINE_PROBLEM:
		worker_cancel(w, true);
		return 0;
	case DEADLINE_IDLE:
		worker_dismiss(w);
		return 0;
	case DEADLINE_GONE:
		return worker_lose(q, w, STATUS_FAILED, err);
	case DEADLINE_HELLO:
		runner_process_no_hello(w->process, q->limits.hello / 1000.0, err);
		return worker_lose(q, w, STATUS_FAILED, err);
	case DEADLINE_SILENCE:
		error_set(err, "the runner did not respond for %.3g s; it was killed",
			q->limits.silence / 1000.0);
		return worker_lose(q, w, STATUS_TIMEOUT, err);
	case DEADLINE_GRACE:
		if (w->cancel_is_limit)
			error_set(err,
				"timed out after %.3g s: the runner did not stop and was killed",
				(q->limits.problem + q->limits.grace) / 1000.0);
		else
			error_set(err, "the runner did not stop when asked, and was killed");
		return worker_lose(q, w, STATUS_TIMEOUT, err);
	case DEADLINE_NONE:
		break;
	}
	return 0;
}
