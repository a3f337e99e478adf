/* What the files of the queue share: jobs and their order (queue_jobs.c), what becomes of them (queue_results.c); workers:
 * which there are (queue_device.c), their processes (queue_worker.c), what they are at (queue_work.c), their time
 * (queue_time.c). */
#ifndef DRIVE_QUEUE_PRIVATE_H
#define DRIVE_QUEUE_PRIVATE_H

#include "base/hash.h"
#include "drive/eta.h"
#include "drive/queue.h"

struct job {
	const char *problem;
	enum job_state state;
	bool again;        /* asked for though it was finished before */
	bool stepped_back; /* let others go first, once: another process seems to be at it */
	int64_t batch;     /* in which it was last measured */
	double took_s;     /* to measure it the last time; NaN: never was */
	struct eta_weight weight;
	int lost;          /* how often its runner was lost through no fault of the problem */
	int before, after; /* neighbours among the pending, -1 at the ends */
	int64_t slot;      /* pending: grows from head to tail, without gaps unless order_stale */
	const char *why;
};

struct job_list {
	struct arena arena;
	struct hash by_problem;
	struct job *jobs;
	int count, capacity;
	int head, tail;    /* of the pending; -1 */
	bool order_stale;  /* slots have a gap: counted anew when a position is asked for */
	int by_state[JOB_UNSUPPORTED + 1];
};

void job_list_init(struct job_list *l);
void job_list_free(struct job_list *l);
/* The job of a problem: an index, -1 when it was never added. */
int job_find(const struct job_list *l, const char *problem);
/* The same, made (JOB_NONE) where it is new. */
int job_make(struct job_list *l, const char *problem);
/* Puts a job that is not pending to the head or tail of the pending. */
void job_enqueue(struct job_list *l, int job, bool first);
/* Gives a job its state; a pending one leaves the order. JOB_PENDING is job_enqueue's. */
void job_set(struct job_list *l, int job, enum job_state state, const char *why);
/* 1 = next; 0 = not pending. */
int job_position(struct job_list *l, int job);

/* One runner process at a time, and the job it is at. Every worker has a place in the queue from the beginning; a process
 * is started for it when there is something to do. */
struct worker {
	const struct config_runner *runner;
	const char *asked;       /* what -d says of it, "gpu7:1"; the runner's name where it says nothing */
	const char *part;        /* which of the runner's devices, "1"; "" any */
	const char *label;       /* "gpu7", "gpu7 #2" where there are several of it */
	struct runner_process *process; /* NULL: not up */
	bool met;                /* one of its processes was accepted once */
	bool greeted;            /* the present process has said hello, and was accepted */
	bool leaves;             /* it has said that it ends with its job */
	bool dismissed;          /* it was told to leave */
	bool more;               /* messages may be waiting that no descriptor tells of */
	bool broken;             /* not to be started again until asked */
	int64_t started_ms, restart_at_ms;
	int64_t free_since_ms;   /* up and without a job since; or dismissed since */
	int starts_failed;       /* starts in a row without a hello */
	int deaths;              /* deaths in a row on a problem */
	char why[ERROR_TEXT_SIZE]; /* why it is broken */
	char note[ERROR_TEXT_SIZE]; /* queue_worker's */

	int job;                 /* or -1 */
	int64_t id;              /* of the job, as the runner knows it */
	int64_t since_ms;        /* when the job was sent */
	bool heard;              /* something about the job came back */
	int64_t cancelled_ms;    /* when it was told to stop; 0: it was not */
	bool cancel_is_limit;    /* by the time limit, not by a person */
	int stored, stored_ok, stored_mistrusted; /* results of the job so far */
	struct hash seen;        /* keys of these (queue_is_first) */
	struct arena seen_arena;
	int unkept;              /* of the results, what the store did not take */
	char what[160];
	int ended;               /* jobs that it brought to an end, in all */
};

struct queue {
	const struct config *config;
	struct store *store;
	struct results *results;
	struct queue_limits limits;
	bool caches[CACHE_COUNT];
	struct job_list list;
	struct arena arena;      /* what workers are called */
	struct worker *workers;
	int worker_count;
	int epoll;               /* of all processes */

	struct arena device_arena;
	struct device device;
	bool known;              /* a hello has come, device is set */
	int64_t device_id;       /* in the store; -1: it has nothing of this device yet */
	int64_t cursor;          /* of store_load_since */
	const volatile sig_atomic_t *stop;
	void (*say)(const char *line);

	int64_t next_id;
	int64_t batch;           /* its number */
	int64_t batch_since_ms, batch_until_ms;
	int batch_done;
	int batch_by_state[JOB_UNSUPPORTED + 1]; /* how the jobs of this batch ended */
	struct eta eta;          /* learned from all jobs that ended */
	char trouble[ERROR_TEXT_SIZE];
	int64_t trouble_id;      /* next_id when it came */
	bool trouble_past;
};

/* Nothing pending, nothing running. */
bool queue_is_idle(const struct queue *q);
/* No worker can be started any more. */
bool queue_is_stuck(const struct queue *q);
/* Workers that may be needed for what there is to do. */
int queue_wanted(const struct queue *q);

/* queue_device.c: the workers that the configuration asks for. */
void queue_make_workers(struct queue *q);
/* Is this device the one that -d asks the worker for? */
bool worker_is_asked(const struct worker *w, const struct device *d);
/* Are they one piece of hardware: a GPU by its UUID, a CPU by a core that both use? */
bool device_is_same_piece(const struct device *a, const struct device *b);
/* The command line of its runner, in the arena. */
const char *const *worker_argv(const struct worker *w, struct arena *a);

/* queue_worker.c: its process. These return the number of results added, or -1 (err): no worker is left. */
int worker_start(struct queue *q, struct worker *w, struct error *err);
int worker_greet(struct queue *q, struct worker *w, struct error *err);
/* It is gone, or must go: its job fails with `status`, or goes back, and a new start is planned. */
int worker_lose(struct queue *q, struct worker *w, enum status status, struct error *err);
/* Told to leave: it has nothing to do. */
void worker_dismiss(struct worker *w);
/* May be tried again from the beginning. */
void worker_forgive(struct worker *w);
void worker_cancel(struct worker *w, bool is_limit);

/* queue_work.c: jobs to workers, and what comes back. */
int worker_feed(struct queue *q, struct worker *w, struct error *err);
int worker_read(struct queue *q, struct worker *w, int most, struct error *err);

/* queue_time.c */
int64_t queue_deadline_ms(const struct queue *q); /* INT64_MAX: never */
int worker_check_time(struct queue *q, struct worker *w, struct error *err);

/* queue_results.c */
void queue_trouble(struct queue *q, const char *text);
/* Reads what the store has of the device and was not read yet. */
int queue_load(struct queue *q, struct error *err);
/* Takes a result from a runner; 1 when it counts. */
int queue_result(struct queue *q, struct worker *w, const struct wire_message *m);
/* The worker's job ends. Returns the results that this added. */
int queue_end_job(struct queue *q, struct worker *w, enum status status, const char *why);

#endif
