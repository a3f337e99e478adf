/* The list of jobs, their states, and the step that feeds the runners and takes what they send. */
#include "config.h"

#include "drive/queue_private.h"

#include <assert.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"

#define MESSAGES_A_STEP 1000 /* read per step, so that endless output of a runner does not block the caller */

static void queue_take_quick(void *user, const struct result *r)
{
	struct queue *q = user;
	if (r->status == STATUS_OK)
		results_add_rough(q->results, r);
}

static void queue_take_repeat(void *user, const struct result *r)
{
	struct queue *q = user;
	if (r->status == STATUS_OK)
		queue_store(q, r);
}

struct queue *queue_new(const struct config *config, struct store *store, struct results *results)
{
	struct queue *q = base_calloc(1, sizeof(*q));
	q->pending = base_calloc(1, sizeof(*q->pending));
	q->config = config;
	q->store = store;
	q->results = results;
	q->device_id = -1;
	q->next_id = 1;
	q->distance = NAN;
	q->limits = (struct queue_limits){ .hello = 30000,
		.silence = 10000,
		.problem = (int)config->problem_limit_ms * (config_lists_all(config) ? QUEUE_ALL_FACTOR : 1),
		.grace = 5000,
		.restart = 100,
		.deaths = 8,
		.idle = 60000 };
	q->epoll = epoll_create1(EPOLL_CLOEXEC);
	job_list_init(&q->list);
	queue_set_taker(q, JOB_QUICK, queue_take_quick, q);
	queue_set_taker(q, JOB_REPEAT, queue_take_repeat, q);
	queue_make_workers(q);
	return q;
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	for (int i = 0; i < q->worker_count; i++) /* send all the quit first: they then end in parallel */
		if (q->workers[i].process)
			runner_process_quit(q->workers[i].process);
	for (int i = 0; i < q->worker_count; i++) {
		struct worker *w = &q->workers[i];
		if (w->greeted)
			runner_process_stop(w->process);
		else /* possibly not a runner, so it may ignore the quit */
			runner_process_stop_within(w->process, 0, 200);
		hash_free(&w->seen);
		arena_free(&w->seen_arena);
	}
	close(q->epoll);
	arena_free(&q->arena);
	job_list_free(&q->list);
	arena_free(&q->device_arena);
	free(q->pending);
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

void queue_set_report(struct queue *q, void (*report)(const char *line))
{
	q->report = report;
}

/* --- jobs --- */

void queue_set_taker(struct queue *q, const char *kind, queue_take_function *take, void *user)
{
	assert(q->taker_count < TAKERS_MAX && job_kind_is_valid(kind) && !queue_taker(q, kind));
	q->takers[q->taker_count++] =
		(struct taker){ arena_strndup(&q->arena, kind, strlen(kind)), take, user };
}

/* True if the job is finished, or failed in the present batch: then it is not added again unless the
 * caller asks for a new measurement. A failed problem is tried again in the next batch. Only problems
 * stay finished. */
static bool queue_is_settled(const struct queue *q, const struct job *j)
{
	if (!job_is_problem(j))
		return false;
	bool tried = j->state == JOB_FAILED && j->batch == q->batch && !queue_is_idle(q);
	bool lacks[CACHE_COUNT], same = j->huge == q->huge &&
		(j->distance == q->distance || (isnan(j->distance) && isnan(q->distance)));
	return tried || j->state == JOB_UNSUPPORTED || (j->state == JOB_DONE && (same || q->caches_given)) ||
	       !queue_lacks(q, j->payload, q->distance, q->huge, lacks);
}

bool queue_takes(const struct queue *q, const char *problem)
{
	int job = job_find(&q->list, JOB_PROBLEM, problem);
	const struct job *j = job < 0 ? NULL : &q->list.jobs[job];
	bool lacks[CACHE_COUNT];
	if (!j)
		return queue_lacks(q, problem, q->distance, q->huge, lacks);
	return j->state != JOB_PENDING && j->state != JOB_RUNNING && !queue_is_settled(q, j);
}

bool queue_takes_brief(struct queue *q, const char *problem)
{
	double distance = q->distance;
	q->distance = NAN; /* it is finished in one state */
	bool takes = queue_takes(q, problem);
	q->distance = distance;
	return takes;
}

static void queue_reset_workers(struct queue *q)
{
	for (int i = 0; i < q->worker_count; i++)
		worker_reset(&q->workers[i]);
}

static bool queue_add_how(struct queue *q, const char *problem, bool first, bool again, bool brief)
{
	bool added = queue_add_job(q, JOB_PROBLEM, problem, first, again);
	if (added) {
		struct job *j = &q->list.jobs[job_find(&q->list, JOB_PROBLEM, problem)];
		j->brief = brief;
		j->weight = (brief ? eta_weigh_brief : eta_weigh)(problem);
	}
	return added;
}

bool queue_add(struct queue *q, const char *problem, bool first, bool again)
{
	return queue_add_how(q, problem, first, again, false);
}

bool queue_add_brief(struct queue *q, const char *problem, bool again)
{
	double distance = q->distance;
	q->distance = NAN; /* as queue_takes_brief */
	bool added = queue_add_how(q, problem, false, again, true);
	q->distance = distance;
	return added;
}

bool queue_add_quick(struct queue *q, const char *problem, enum cache cache, enum launch launch)
{
	if (queue_job_state(q, JOB_QUICK, problem) != JOB_NONE || results_is_finished(q->results, problem) ||
		results_rough(q->results, problem) || !queue_add_job(q, JOB_QUICK, problem, true, false))
		return false;
	struct job *j = &q->list.jobs[job_find(&q->list, JOB_QUICK, problem)];
	j->cache = cache;
	j->launch = launch;
	return true;
}

bool queue_add_repeat(struct queue *q, const struct result *r)
{
	if (queue_nobody_answers(q, JOB_REPEAT) || !queue_add_job(q, JOB_REPEAT, r->problem, false, true))
		return false;
	struct job *j = &q->list.jobs[job_find(&q->list, JOB_REPEAT, r->problem)];
	j->weight = eta_weigh_brief(r->problem);
	j->cache = r->cache;
	j->launch = r->launch;
	j->alone = r->launch == LAUNCH_AMORTIZED && r->stats.executions == 1;
	const struct algorithm *had = &j->algorithm;
	if (!had->name || algorithm_compare(had, &r->algorithm) || strcmp(had->notes, r->algorithm.notes))
		j->algorithm = algorithm_copy(&q->list.arena, &r->algorithm);
	return true;
}

/* Adds a job, or moves a pending one to the head. Constant expected time: one hash lookup and list
 * operations. The first job added to an idle queue begins a new batch, whose counts and times the screens
 * show; broken runners then get another chance. Repeated measurements keep those of the batch before. */
bool queue_add_job(struct queue *q, const char *kind, const char *payload, bool first, bool again)
{
	assert(payload[0] && strlen(payload) < PROBLEM_TEXT_SIZE && text_is_clean(text_of(payload)));
	int job = job_make(&q->list, kind, payload);
	assert(job_is_problem(&q->list.jobs[job]) || queue_taker(q, kind));
	enum job_state state = q->list.jobs[job].state;
	if (queue_is_idle(q) || queue_is_stuck(q))
		queue_reset_workers(q);
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
		q->batch_repeats = 0;
		q->trouble_past = true;
		if (!job_is_repeat(&q->list.jobs[job])) {
			q->batch_since_ms = q->batch_until_ms = 0; /* set when its first job is sent */
			memset(q->batch_by_state, 0, sizeof(q->batch_by_state));
		}
	}
	q->list.jobs[job].again = again;
	q->list.jobs[job].distance = q->distance;
	q->list.jobs[job].huge = q->huge;
	q->list.jobs[job].stepped_back = false;
	job_enqueue(&q->list, job, first);
	return true;
}

void queue_cancel(struct queue *q)
{
	while (q->list.head >= 0)
		job_set(&q->list, q->list.head, JOB_NONE, NULL);
	for (int i = 0; i < q->worker_count; i++) {
		struct worker *w = &q->workers[i];
		worker_cancel(w, false);
		w->cancel_is_limit = false;
	}
}

void queue_forget(struct queue *q)
{
	assert(queue_is_idle(q));
	uint64_t version = q->list.version + 1;
	job_list_free(&q->list);
	job_list_init(&q->list);
	q->list.version = version;
	for (int i = 0; i < q->worker_count; i++)
		q->workers[i].ended = 0;
	q->trouble[0] = '\0';
}

/* --- workers --- */

/* Starts as many runners as there are jobs, and at least at_least, of those that are not up, not broken,
 * past their restart delay and able to answer a pending job. A runner that cannot be started counts as
 * broken; -1 only if none is left. */
static int queue_start(struct queue *q, int at_least, struct error *err)
{
	int more = queue_wanted(q), least = at_least - queue_up(q);
	more = more > least ? more : least;
	for (int i = 0; i < q->worker_count && more > 0; i++) {
		struct worker *w = &q->workers[i];
		if (w->process || w->broken || clock_ms() < w->restart_at_ms || !worker_suits(q, w))
			continue;
		if (worker_start(q, w, err) < 0)
			return -1;
		more -= w->process != NULL;
	}
	return 0;
}

static int queue_feed(struct queue *q, struct error *err)
{
	int added = 0;
	queue_refuse_unanswered(q);
	for (int i = 0; i < q->worker_count; i++) {
		int one = worker_feed(q, &q->workers[i], err);
		if (one < 0)
			return -1;
		added += one;
	}
	return added;
}

/* Reads from all runners, up to MESSAGES_A_STEP messages in total, divided equally, so that one that
 * sends without end neither blocks the caller nor starves the others. */
static int queue_read(struct queue *q, struct error *err)
{
	int added = 0, up = queue_up(q), most = MESSAGES_A_STEP / (up > 1 ? up : 1) + 1;
	for (int i = 0; i < q->worker_count; i++) {
		int one = q->workers[i].process ? worker_read(q, &q->workers[i], most, err) : 0;
		if (one < 0)
			return -1;
		added += one;
	}
	return added;
}

static int queue_check_time(struct queue *q, struct error *err)
{
	int added = 0;
	for (int i = 0; i < q->worker_count; i++) {
		int one = worker_check_time(q, &q->workers[i], err);
		if (one < 0)
			return -1;
		added += one;
	}
	return added;
}

/* Waits for a message of any runner, until the next deadline or timeout_ms, whichever is first; not at
 * all if a runner's buffer may hold further messages, because those are no longer in the descriptor and
 * poll would not report them. */
static void queue_wait(struct queue *q, int timeout_ms)
{
	int64_t left = queue_deadline_ms(q) - clock_ms();
	for (int i = 0; i < q->worker_count; i++)
		if (q->workers[i].more)
			left = 0;
	left = left < 0 ? 0 : left > timeout_ms ? timeout_ms : left;
	struct pollfd at = { .fd = queue_fd(q), .events = POLLIN };
	poll(&at, 1, (int)left);
}

/* One round of the event loop: starts runners (at least at_least), sends jobs, waits, reads messages,
 * sends the next jobs, and checks the time limits. Jobs are sent twice so that a runner that finished one
 * is not idle until the next round. Returns the number of results added, or -1. */
static int queue_round(struct queue *q, int timeout_ms, int at_least, struct error *err)
{
	if (queue_is_stuck(q))
		return error_set(err, "%s", q->trouble);
	int before = queue_start(q, at_least, err) < 0 ? -1 : queue_feed(q, err);
	if (before < 0)
		return -1;
	queue_wait(q, timeout_ms);
	int added = queue_read(q, err);
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
	struct error said = ERROR_NONE; /* passed to the caller only with -1 */
	if (queue_is_stuck(q) && q->list.head < 0)
		return 0; /* no runner, but no job either */
	int added = queue_round(q, timeout_ms, 0, &said);
	return added < 0 ? error_set(err, "%s", said.text) : added;
}

static bool queue_is_greeted(const struct queue *q)
{
	for (int i = 0; i < q->worker_count; i++)
		if (q->workers[i].greeted)
			return true;
	return false;
}

/* Reports a wait in a cluster's queue if its line changed; returns whether a runner waits. */
static bool queue_report_wait(const struct queue *q, char *said, size_t size)
{
	struct queue_status s = queue_status(q);
	if (q->report && *s.waiting && strcmp(said, s.waiting) != 0)
		q->report(s.waiting);
	snprintf(said, size, "%s", s.waiting);
	return *s.waiting;
}

/* Runs rounds until the first hello. The limit is restarted while a cluster's queue delays the runner,
 * because that wait has no limit. Rounds are at most 50 ms: before a restart there is no descriptor to
 * wait for. */
int queue_connect(struct queue *q, int timeout_ms, struct error *err)
{
	char wait[ERROR_TEXT_SIZE] = "";
	bool patient = timeout_ms < 0;
	int64_t limit_ms = patient ? q->limits.hello : timeout_ms, until = clock_ms() + limit_ms;
	struct error said = ERROR_NONE;
	const struct worker *first = &q->workers[0];
	const char *name = first->runner->argv[0];
	queue_reset_workers(q);
	while (!queue_is_greeted(q)) {
		if (q->stop && *q->stop)
			return error_set(err, "interrupted before the hello of the runner %s", name);
		if (queue_report_wait(q, wait, sizeof(wait)) && patient) /* a cluster's queue has no time
									    limit */
			until = clock_ms() + limit_ms;
		int64_t left = until - clock_ms();
		/* at most 50 ms: before a restart there is no descriptor to wait for */
		if (queue_round(q, left < 0 ? 0 : left < 50 ? (int)left : 50, 1, &said) < 0)
			return error_set(err, "%s", said.text);
		if (!queue_is_greeted(q) && left <= 0 && first->process && !q->trouble[0])
			return runner_process_no_hello(first->process, (double)limit_ms / 1000.0, err);
		if (!queue_is_greeted(q) && left <= 0)
			return q->trouble[0] ? error_set(err, "%s", q->trouble) :
				error_set(err, "the runner %s did not start within %.3g s (no hello)", name,
					(double)limit_ms / 1000.0);
	}
	return 0;
}

void queue_set_distance(struct queue *q, double bytes, bool huge)
{
	q->distance = bytes;
	q->huge = huge;
}

void queue_set_caches(struct queue *q, const bool caches[CACHE_COUNT])
{
	memcpy(q->caches, caches, sizeof(q->caches));
	q->caches_given = true;
}

int queue_fd(const struct queue *q)
{
	for (int i = 0; i < q->worker_count; i++)
		if (q->workers[i].process)
			return q->epoll;
	return -1;
}
