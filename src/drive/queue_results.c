/* Results from runners, and the ends of jobs. */
#include "config.h"

#include "drive/queue_private.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"

#define RESULTS_MAX 4096 /* accepted for one job: libraries offer tens of algorithms, each in at most six
			    states */

void queue_trouble(struct queue *q, const char *text)
{
	snprintf(q->trouble, sizeof(q->trouble), "%s", text);
	q->trouble_id = q->next_id;
	q->trouble_past = false;
	log_line("%s", text);
}

/* Only reads: the device is added to the store with its first result. */
int queue_load(struct queue *q, struct error *err)
{
	if (!q->store)
		return 0;
	if (q->device_id < 0) {
		int64_t id = store_device_find(q->store, &q->device, err);
		if (id <= 0)
			return (int)id;
		q->device_id = id;
	}
	return store_load_since(q->store, q->device_id, &q->cursor, q->results, err);
}

bool queue_store(struct queue *q, const struct result *r)
{
	struct error err = ERROR_NONE;
	bool kept = !q->store || store_keep(q->store, &q->device, r, &err) >= 0;
	if (!kept)
		queue_trouble(q, err.text);
	results_add(q->results, r);
	return kept;
}

/* Gives a result of another kind to its taker, and counts those of problems that the store cannot take. */
static void queue_keep(struct queue *q, struct worker *w, const struct result *r)
{
	const struct job *j = &q->list.jobs[w->job];
	if (job_is_problem(j))
		w->unkept += !queue_store(q, r);
	else
		queue_taker(q, j->kind)->take(queue_taker(q, j->kind)->user, r);
	w->stored++;
	w->stored_ok += r->status == STATUS_OK;
	w->stored_mistrusted += r->status == STATUS_MISTRUSTED;
}

/* Marks a problem as finished; in the store only if it has all results of the job. */
static void queue_finish(struct queue *q, const struct worker *w, const char *problem)
{
	struct error err = ERROR_NONE;
	if (q->store && !w->unkept && store_keep_finish(q->store, &q->device, problem, &err) < 0)
		queue_trouble(q, err.text);
	results_finish(q->results, problem);
}

/* True if measuring again would end with the same status. */
static bool queue_is_answer(enum status s)
{
	return s == STATUS_OK || s == STATUS_UNSUPPORTED || s == STATUS_MISTRUSTED;
}

/* True for the first result of the job with this key and status, found in a hash of at most RESULTS_MAX
 * keys: expected constant time. The status is part of the key because an algorithm can fail after its
 * first state was measured. A newline separates the parts: texts from a runner contain none. */
static bool queue_is_first(struct worker *w, const struct result *r)
{
	const struct algorithm *g = &r->algorithm;
	struct str key = { 0 };
	str_addf(&key, "%s\n%s\n%s\n%s\n%d %d %d", g->api, g->name, g->layouts, g->math, (int)r->cache,
		(int)r->launch, (int)r->status);
	bool first = hash_find(&w->seen, (struct text){ key.p, key.n }) < 0 && w->seen.count < RESULTS_MAX;
	if (first)
		*hash_at(&w->seen, (struct text){ arena_strndup(&w->seen_arena, key.p, key.n), key.n }) = 1;
	str_free(&key);
	return first;
}

/* Accepts a result only for the job that its runner has, once per key, and with plausible values; an
 * implausible time is kept as suspect. The date is set here, because the newest result of a key counts
 * and clocks of other hosts may be wrong. Returns the number of results added. */
int queue_result(struct queue *q, struct worker *w, const struct wire_message *m)
{
	const struct job *j = w->job >= 0 ? &q->list.jobs[w->job] : NULL;
	if (!j || m->id != w->id || strcmp(m->kind, j->kind) || strcmp(m->result.problem, j->payload)) {
		log_line("%s: a result for another job (id %lld, %s) is ignored", w->label, (long long)m->id,
			m->result.problem);
		return 0;
	}
	struct result r = m->result;
	r.problem = j->payload;
	if (job_is_repeat(j)) /* the outputs are not checked again */
		r.algorithm.notes = j->algorithm.notes;
	r.measured_at = (int64_t)time(NULL);
	if (!r.runner_version || !r.runner_version[0])
		r.runner_version = q->device.version;
	if (!queue_is_first(w, &r)) {
		log_line("%s: a second result for %s of %s is ignored", w->label,
			r.algorithm.name, r.problem);
		return 0;
	}
	struct error why = ERROR_NONE;
	const char *fault = store_result_fault(&r); /* such a result is not stored as a measurement */
	if (fault)
		r.enqueue_ns = r.clock_mhz = r.algorithm.workspace_bytes = NAN;
	if (fault && r.status == STATUS_OK) {
		error_set(&why, "a result that %s", fault);
		r.status = STATUS_MISTRUSTED;
		r.why = r.stats.median > 0 ? why.text : "a time of zero";
	}
	queue_keep(q, w, &r);
	return 1;
}

/* Adds a row with the reason why a problem has no time. */
static void queue_keep_failure(struct queue *q, struct worker *w, const char *problem, enum status status,
	const char *why)
{
	struct result r = { .problem = problem,
		.status = status,
		.why = why,
		.algorithm = { .api = "", .name = "", .layouts = "", .math = "", .workspace_bytes = NAN },
		.cache = CACHE_NET,
		.launch = LAUNCH_AMORTIZED,
		.measured_at = (int64_t)time(NULL),
		.runner_version = q->known ? q->device.version : "" };
	struct sample_stats *s = &r.stats;
	s->min = s->q1 = s->median = s->q3 = s->mean = s->stdev = s->lo = s->hi = NAN;
	queue_keep(q, w, &r);
}

/* Counts a job whose state has just become final. */
static void queue_count_end(struct queue *q, int job)
{
	q->list.jobs[job].batch = q->batch;
	q->list.jobs[job].ended = ++q->ended;
	q->batch_until_ms = clock_ms();
	q->batch_repeats += job_is_repeat(&q->list.jobs[job]);
	if (!job_is_extra(&q->list.jobs[job]))
		q->batch_by_state[q->list.jobs[job].state]++;
}

void queue_refuse(struct queue *q, int job)
{
	struct error why = ERROR_NONE;
	const struct worker *w = &q->workers[0];
	const char *kind = q->list.jobs[job].kind;
	for (int i = 0; i < q->worker_count && !w->jobs; i++)
		w = &q->workers[i];
	const struct worker *broken = NULL; /* a worker that answers this kind of job, but is not restarted */
	for (int i = 0; i < q->worker_count && !broken; i++)
		if (q->workers[i].broken && jobs_contain(q->workers[i].jobs, kind))
			broken = &q->workers[i];
	if (broken)
		error_set(&why, "%s", broken->why);
	else
		error_set(&why,
			"no runner answers jobs of the kind \"%s\"; %s answers: %s. Install a newer runner",
			kind, w->label, w->jobs && *w->jobs ? w->jobs : JOB_PROBLEM);
	job_set(&q->list, job, JOB_FAILED, why.text);
	if (!job_is_extra(&q->list.jobs[job]))
		queue_trouble(q, why.text);
	queue_count_end(q, job);
}

/* Decides the job's final state: ok without any good result is a failure; stopped by the time limit but
 * with results is ok; cancelled by the user is as if never queued, unless it had ended before the cancel
 * reached the runner (a cancelled job is failed, docs/wire.md). Failures get a row with the reason, answers
 * mark the problem as finished, and the time improves the estimates. */
int queue_end_job(struct queue *q, struct worker *w, enum status status, const char *why)
{
	int job = w->job, added = 0;
	const char *payload = q->list.jobs[job].payload;
	bool by_person = w->cancelled_ms && !w->cancel_is_limit;
	if (status == STATUS_OK && w->stored_ok == 0 && !by_person) {
		status = w->stored_mistrusted ? STATUS_MISTRUSTED : STATUS_FAILED;
		why = w->stored_mistrusted ? "all its results are suspect" :
			"the runner sent no result for it";
	}
	if (w->cancelled_ms && w->cancel_is_limit && status != STATUS_OK && w->stored_ok > 0)
		status = STATUS_OK; /* stopped by the time limit, but with results */
	if (!why || !why[0])
		why = status_name(status);
	if (by_person && (status != STATUS_OK || w->stored_ok == 0)) {
		job_set(&q->list, job, JOB_NONE, NULL);
	} else {
		if (status != STATUS_OK) {
			queue_keep_failure(q, w, payload, status, why);
			log_line("%s: %s: %s: %s", w->label, payload, status_name(status), why);
			added = 1;
		}
		if (queue_is_answer(status) && job_is_problem(&q->list.jobs[job]))
			queue_finish(q, w, payload);
		job_set(&q->list, job,
			status == STATUS_OK	       ? JOB_DONE
			: status == STATUS_UNSUPPORTED ? JOB_UNSUPPORTED
						       : JOB_FAILED,
			status == STATUS_OK ? NULL : why);
	}
	queue_count_end(q, job);
	q->list.jobs[job].took_s = (double)(q->batch_until_ms - w->since_ms) / 1000;
	if (!by_person && job_is_problem(&q->list.jobs[job]))
		eta_learn(&q->eta, q->list.jobs[job].weight, q->list.jobs[job].took_s);
	q->pending->known = false;
	w->ended += !job_is_extra(&q->list.jobs[job]);
	q->trouble_past |=
		status == STATUS_OK && w->id >= q->trouble_id; /* a later job succeeded */
	w->job = -1;
	w->free_since_ms = clock_ms();
	w->what[0] = '\0';
	return added;
}
