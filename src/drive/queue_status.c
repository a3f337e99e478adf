/* What can be asked of a queue. */
#include "config.h"

#include "drive/queue_private.h"

#include <math.h>

#include "base/clock.h"

const struct device *queue_device(const struct queue *q)
{
	return q->known ? &q->device : NULL;
}

bool queue_is_idle(const struct queue *q)
{
	return q->running < 0 && q->list.head < 0;
}

enum job_state queue_state(const struct queue *q, const char *problem)
{
	int job = job_find(&q->list, problem);
	return job < 0 ? JOB_NONE : q->list.jobs[job].state;
}

int queue_position(const struct queue *q, const char *problem)
{
	int job = job_find(&q->list, problem);
	/* counting slots anew changes nothing that can be seen */
	return job < 0 ? 0 : job_position((struct job_list *)(uintptr_t)&q->list, job);
}

const char *queue_why(const struct queue *q, const char *problem)
{
	int job = job_find(&q->list, problem);
	return job < 0 ? "" : q->list.jobs[job].why;
}

static double queue_eta_s(const struct queue *q)
{
	int left = q->list.by_state[JOB_PENDING] + q->list.by_state[JOB_RUNNING];
	if (q->batch_done == 0 && left > 0)
		return NAN;
	if (left == 0)
		return 0;
	double mean = q->batch_ms / q->batch_done;
	double spent = q->running >= 0 ? (double)(clock_ms() - q->running_since_ms) : 0;
	return (mean * left - (spent < mean ? spent : mean)) / 1000;
}

/* The question counts as a sign of life too: an idle runner may have been silent. */
static double queue_silence_s(const struct queue *q)
{
	if (q->running < 0 || !q->process)
		return 0;
	int64_t asked = clock_ms() - q->running_since_ms, silent = runner_process_silence_ms(q->process);
	return (double)(silent < asked ? silent : asked) / 1000;
}

struct queue_status queue_status(const struct queue *q)
{
	bool idle = queue_is_idle(q);
	int64_t until = idle ? q->batch_until_ms : clock_ms();
	return (struct queue_status){
		.pending = q->list.by_state[JOB_PENDING],
		.running = q->list.by_state[JOB_RUNNING],
		.done = q->list.by_state[JOB_DONE],
		.failed = q->list.by_state[JOB_FAILED],
		.unsupported = q->list.by_state[JOB_UNSUPPORTED],
		.batch_done = q->batch_by_state[JOB_DONE],
		.batch_failed = q->batch_by_state[JOB_FAILED],
		.batch_unsupported = q->batch_by_state[JOB_UNSUPPORTED],
		.current = q->running >= 0 ? q->list.jobs[q->running].problem : NULL,
		.current_what = q->what,
		.elapsed_s = q->batch_since_ms ? (double)(until - q->batch_since_ms) / 1000 : 0,
		.eta_s = queue_eta_s(q),
		.trouble = q->trouble,
		.trouble_past = q->trouble_past,
		.silence_s = queue_silence_s(q),
		.lost = q->lost,
		.lost_why = q->lost_why,
		.starting = q->process && !q->greeted,
		.idle = idle,
	};
}
