/* Sends jobs to workers and handles their messages. */
#include "config.h"

#include "drive/queue_private.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"

/* True if another process with the same database seems to measure the problem: it has results no older
 * than a problem's time limit, but is not finished. Without locks or registration: a wrong guess only
 * delays the problem or measures it twice. A failure row means that it has ended. */
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

static bool worker_answers(const struct worker *w, const char *kind)
{
	return !w->jobs || jobs_contain(w->jobs, kind);
}

bool worker_suits(const struct queue *q, const struct worker *w)
{
	for (int job = q->list.head; job >= 0; job = q->list.jobs[job].after)
		if (worker_answers(w, q->list.jobs[job].kind))
			return true;
	return q->list.head < 0;
}

bool queue_nobody_answers(const struct queue *q, const char *kind)
{
	for (int i = 0; i < q->worker_count; i++)
		if (!q->workers[i].broken && worker_answers(&q->workers[i], kind))
			return false;
	return true;
}

/* True if the job still needs to be done now. A problem that another process with the same database has
 * finished is removed; one that another process seems to measure goes to the tail, once. */
static bool queue_needs(struct queue *q, int job)
{
	struct job *j = &q->list.jobs[job];
	if (j->again || (!job_is_problem(j) && !job_is_quick(j)))
		return true;
	bool lacks[CACHE_COUNT];
	bool finished = !queue_lacks(q, j->payload, j->distance, j->huge, lacks);
	bool now = job_is_quick(j) || j->stepped_back || j->lost || !queue_is_elsewhere(q, j->payload);
	if (!finished && now)
		return true;
	job_set(&q->list, job, JOB_NONE, NULL);
	if (finished)
		return false;
	j->stepped_back = true;
	job_enqueue(&q->list, job, false);
	return false;
}

void queue_refuse_unanswered(struct queue *q)
{
	while (q->list.head >= 0 && queue_nobody_answers(q, q->list.jobs[q->list.head].kind))
		queue_refuse(q, q->list.head);
}

/* Returns the next job for the worker, or -1: the first in order that its runner answers and that still
 * needs to be done. Jobs of other kinds stay for others. `next` is saved because queue_needs may remove
 * the job or move it to the tail, where it is looked at again once. */
static int queue_choose(struct queue *q, const struct worker *w)
{
	int next;
	for (int job = q->list.head; job >= 0; job = next) {
		struct job *j = &q->list.jobs[job];
		next = j->after;
		if (!worker_answers(w, j->kind))
			continue;
		if (queue_needs(q, job))
			return job;
		if (next < 0 && j->state == JOB_PENDING)
			next = job; /* it went to the tail and was the last one */
	}
	return -1;
}

/* Lists the problems that the worker will probably do after `job`: of the pending ones, as many are left out
 * between two as other workers are up, which take those. A job whose runner was lost names none, since one of
 * them may have been the cause. Returns their number. */
static int worker_next(const struct queue *q, const struct worker *w, int job, const char **next)
{
	int up = 0, seen = 0, count = 0;
	for (int i = 0; i < q->worker_count; i++)
		up += q->workers[i].greeted && !q->workers[i].dismissed;
	for (int i = q->list.head; i >= 0 && count < WIRE_NEXT_MAX; i = q->list.jobs[i].after) {
		const struct job *j = &q->list.jobs[i];
		if (i != job && !q->list.jobs[job].lost && job_is_problem(j) && worker_answers(w, j->kind) &&
			++seen % (up > 0 ? up : 1) == 0)
			next[count++] = j->payload;
	}
	return count;
}

/* The state in which all operands are as the last execution left them: without constants that is net. */
static enum cache warm_state(const char *problem)
{
	struct problem p;
	bool good = problem_parse(text_of(problem), &p, NULL) == 0;
	return good && problem_has_constant(&p) ? CACHE_WARM : CACHE_NET;
}

/* What a repeated measurement asks for: of the states of the model, those of the result's kind. */
static void repeat_states(const struct job *j, struct wire_message *run)
{
	int states = 0;
	for (enum cache c = 0; c < CACHE_COUNT; c++) {
		bool like = cache_is_distance(c) && cache_is_distance(j->cache) &&
			cache_is_huge(c) == cache_is_huge(j->cache);
		run->caches[c] = c == j->cache || (like && run->caches[c]);
		states += run->caches[c];
	}
	for (enum launch l = 0; l < LAUNCH_COUNT; l++)
		run->launches[l] = j->alone || l == j->launch;
	run->budget_ms = QUEUE_REPEAT_MS * states * (j->alone ? LAUNCH_COUNT : 1);
	run->algorithm = j->algorithm;
}

static int worker_send_next(struct queue *q, struct worker *w, struct error *err)
{
	struct error reading = ERROR_NONE;
	if (queue_load(q, &reading))
		queue_trouble(q, reading.text);
	int job = queue_choose(q, w);
	if (job < 0)
		return 0;
	job_set(&q->list, job, JOB_RUNNING, NULL);
	w->job = job;
	w->id = q->next_id++;
	w->since_ms = clock_ms();
	w->heard = false;
	w->cancelled_ms = 0;
	w->cancel_is_limit = false;
	w->stored = w->stored_ok = w->stored_mistrusted = w->unkept = 0;
	hash_free(&w->seen);
	arena_clear(&w->seen_arena);
	w->what[0] = '\0';
	if (!q->batch_since_ms)
		q->batch_since_ms = w->since_ms;
	const struct job *j = &q->list.jobs[job];
	const char *next[WIRE_NEXT_MAX];
	struct wire_message run = { .type = WIRE_RUN,
		.id = w->id,
		.kind = j->kind,
		.payload = j->payload,
		.problem = j->payload,
		.budget_ms = q->config->budget_ms,
		.all = config_lists_all(q->config),
		.next = next,
		.next_count = job_is_problem(j) ? worker_next(q, w, job, next) : 0,
		.what = "",
		.launches = { [LAUNCH_AMORTIZED] = true, [LAUNCH_ISOLATED] = true } };
	if (q->caches_given)
		memcpy(run.caches, q->caches, sizeof(run.caches));
	else if (j->again || !queue_lacks(q, j->payload, j->distance, j->huge, run.caches))
		device_states(&q->device, j->distance, j->huge, run.caches);
	if (job_is_quick(j)) {
		memset(run.caches, 0, sizeof(run.caches));
		memset(run.launches, 0, sizeof(run.launches));
		bool takes = q->device.distances || j->cache < CACHE_NEAREST;
		run.caches[takes ? j->cache : CACHE_NET] = true;
		run.launches[j->launch] = true;
	}
	if (job_is_repeat(j))
		repeat_states(j, &run);
	if (j->brief) {
		memset(run.caches, 0, sizeof(run.caches));
		run.caches[warm_state(j->payload)] = true;
		run.launches[LAUNCH_ISOLATED] = false;
		run.budget_ms = run.budget_ms > QUEUE_BRIEF_MS ? QUEUE_BRIEF_MS : run.budget_ms;
	}
	return runner_process_send(w->process, &run, err);
}

/* Sends the next job to the worker if it is free. A runner that does not read its input counts as lost. */
int worker_feed(struct queue *q, struct worker *w, struct error *err)
{
	if (!w->greeted || w->dismissed || w->job >= 0 || q->list.head < 0)
		return 0;
	return worker_send_next(q, w, err) ? worker_lose(q, w, STATUS_FAILED, err) : 0;
}

static int worker_done(struct queue *q, struct worker *w, const struct wire_message *m)
{
	if (w->job < 0 || m->id != w->id) {
		log_line("%s: the end of another job (id %lld) is ignored", w->label, (long long)m->id);
		return 0;
	}
	enum status status = m->status;
	const char *why = m->what;
	if (w->cancelled_ms && w->cancel_is_limit && w->stored_ok == 0) {
		status = STATUS_TIMEOUT;
		why = "not done within the time limit for a problem";
	}
	if (m->left_out > 0)
		log_line("%s: %lld algorithms of %s are left out: more than it lists", w->label,
			(long long)m->left_out, q->list.jobs[w->job].payload);
	w->leaves = m->leaves;
	w->excused = m->leaves && m->retry && !w->cancelled_ms && worker_may_retry(q, w);
	if (w->excused)
		return 0; /* worker_lose queues it again */
	w->deaths = m->leaves ? w->deaths + 1 : 0;
	return queue_end_job(q, w, status, why);
}

static int worker_message(struct queue *q, struct worker *w, const struct wire_message *m)
{
	w->heard |= w->job >= 0 && m->id == w->id;
	switch (m->type) {
	case WIRE_RESULT:
		return queue_result(q, w, m);
	case WIRE_DONE:
		return worker_done(q, w, m);
	case WIRE_HEARTBEAT:
		if (w->job >= 0 && m->id == w->id)
			text_fit(w->what, sizeof(w->what), m->what);
		return 0;
	case WIRE_LOG:
		log_line("%s: %s", w->label, m->what);
		return 0;
	default:
		return 0; /* for example replies to WIRE_ALGORITHMS, which the queue does not send */
	}
}

/* Handles a message of a worker, and sends the next job if it ended one. */
static int worker_take(struct queue *q, struct worker *w, const struct wire_message *m, struct error *err)
{
	int added = worker_message(q, w, m), more = 0;
	if (w->leaves) {
		error_set(err, "the runner lost its device: %s", m->what);
		more = worker_lose(q, w, STATUS_FAILED, err);
	} else {
		more = worker_feed(q, w, err);
	}
	return more < 0 ? -1 : added + more;
}

/* Reads the messages that have arrived, at most `most`; sets w->more if there may be further ones. The
 * hello comes first and may refuse the worker; a lost connection ends its job. Returns the number of
 * results added, or -1 if no runner is left. */
int worker_read(struct queue *q, struct worker *w, int most, struct error *err)
{
	int added = 0;
	w->more = false;
	for (int n = 0; n < most && w->process; n++) {
		struct wire_message m;
		int got = runner_process_read(w->process, &m, err), one = 0;
		if (got < 0) {
			one = worker_lose(q, w, STATUS_CRASHED, err);
			return one < 0 ? -1 : added + one;
		}
		if (!w->greeted && !w->dismissed && runner_process_device(w->process))
			one = worker_greet(q, w, err);
		if (one >= 0 && got && !w->dismissed)
			one = worker_take(q, w, &m, err);
		if (got)
			wire_free(&m);
		if (one < 0)
			return -1;
		added += one;
		if (!got)
			return added;
	}
	w->more = w->process != NULL;
	return added;
}
