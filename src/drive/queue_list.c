/* The jobs of a queue one by one, for screens. */
#include "config.h"

#include "drive/queue_private.h"

#include "base/clock.h"

#include <math.h>

int queue_job_count(const struct queue *q)
{
	return q->list.count;
}

uint64_t queue_version(const struct queue *q)
{
	return q->list.version;
}

static struct worker *worker_of(const struct queue *q, int job)
{
	for (int i = 0; i < q->worker_count; i++)
		if (q->workers[i].job == job)
			return &q->workers[i];
	return NULL;
}

struct queue_job queue_job(const struct queue *q, int number)
{
	const struct job *j = &q->list.jobs[number];
	const struct worker *w = j->state == JOB_RUNNING ? worker_of(q, number) : NULL;
	/* renumbering slots does not change the visible state */
	struct job_list *l = (struct job_list *)(uintptr_t)&q->list;
	return (struct queue_job){
		.kind = j->kind,
		.payload = j->payload,
		.state = j->state,
		.position = job_position(l, number),
		.ended = j->ended,
		.seconds = w ? (double)(clock_ms() - w->since_ms) / 1000 : j->took_s,
		.what = w ? w->what : j->why,
	};
}

bool queue_drop(struct queue *q, int number)
{
	struct worker *w = worker_of(q, number);
	if (q->list.jobs[number].state == JOB_PENDING)
		job_set(&q->list, number, JOB_NONE, NULL);
	else if (!w || w->cancelled_ms)
		return false;
	else
		worker_cancel(w, false);
	return true;
}

bool queue_put_first(struct queue *q, int number)
{
	if (q->list.jobs[number].state != JOB_PENDING || q->list.head == number)
		return false;
	job_set(&q->list, number, JOB_NONE, NULL);
	job_enqueue(&q->list, number, true);
	return true;
}

int queue_clear(struct queue *q)
{
	int count = 0;
	for (; q->list.head >= 0; count++)
		job_set(&q->list, q->list.head, JOB_NONE, NULL);
	return count;
}
