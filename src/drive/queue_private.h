/* Shared by the files of the queue. Jobs: their order (queue_jobs.c), results and ends (queue_results.c).
 * Workers: which ones (queue_device.c), processes (queue_worker.c), jobs and messages (queue_work.c), time
 * limits (queue_time.c). */
#ifndef DRIVE_QUEUE_PRIVATE_H
#define DRIVE_QUEUE_PRIVATE_H

#include "base/hash.h"
#include "drive/eta.h"
#include "drive/queue.h"

struct job {
	const char *kind;    /* JOB_PROBLEM or a taker's (queue_set_taker) */
	const char *payload; /* of a problem: its text */
	enum job_state state;
	bool brief;        /* queue_add_brief */
	bool again;        /* requested although it was finished */
	bool stepped_back; /* was moved to the tail once, because another process seems to measure it */
	int64_t batch;     /* number of the batch in which it was last measured */
	double took_s;     /* last time to measure it; NaN: none */
	struct eta_weight weight;
	double distance;   /* of the model that asked last (queue_set_distance) */
	bool huge;
	enum cache cache;  /* quick: what to measure; repeat: the state of the result */
	enum launch launch;
	struct algorithm algorithm; /* repeat: which one; */
	bool alone;        /* its samples are single executions */
	int lost;          /* how often its runner was lost, not caused by the problem */
	int before, after; /* neighbours in the list of pending jobs; -1 at the ends */
	int64_t ended;     /* number of its end among all; 0: it has not ended */
	int64_t slot;      /* pending: grows by 1 from head to tail, unless order_stale */
	const char *why;
};

struct job_list {
	struct arena arena;
	struct hash by_key; /* a problem's text; for another kind "kind\npayload" */
	struct job *jobs;
	int count, capacity;
	int head, tail;    /* of the list of pending jobs; -1: empty */
	bool order_stale;  /* slots have a gap */
	uint64_t version;  /* changes with any job's state or place */
	int by_state[JOB_UNSUPPORTED + 1];
	int quick[JOB_UNSUPPORTED + 1]; /* the quick ones among these */
	int repeats[JOB_UNSUPPORTED + 1]; /* and those of kind JOB_REPEAT */
};

void job_list_init(struct job_list *l); /* makes it empty */
void job_list_free(struct job_list *l); /* frees the jobs and their texts */
/* Index of a job; -1 if it was never added. */
int job_find(const struct job_list *l, const char *kind, const char *payload);
/* The same, adding the job (JOB_NONE) if it is new. */
int job_make(struct job_list *l, const char *kind, const char *payload);
bool job_is_problem(const struct job *j);
bool job_is_quick(const struct job *j);
bool job_is_repeat(const struct job *j);
bool job_is_extra(const struct job *j); /* one of both: it is left out where no runner answers it */
/* Makes a job pending, at the head or tail. It must not be pending. */
void job_enqueue(struct job_list *l, int job, bool first);
/* Sets a state other than JOB_PENDING; a pending job is removed from the list. why may be NULL. */
void job_set(struct job_list *l, int job, enum job_state state, const char *why);
/* 1: next; 0: not pending. */
int job_position(struct job_list *l, int job);

/* A configured runner: its process, if it is up, and its job. Workers exist as long as the queue; a process
 * is started when there are jobs. */
struct worker {
	const struct config_runner *runner;
	const char *asked;       /* its name in -d, "gpu7:1"; the runner's name without -d */
	const char *part;        /* the selected device of the runner, "1"; "": any */
	const char *label;       /* "gpu7"; "gpu7 #2" if the runner has a count */
	struct runner_process *process; /* NULL: not up */
	bool met;                /* one of its processes was accepted before */
	bool greeted;            /* the present process has sent a hello that was accepted */
	bool leaves;             /* the runner announced that it exits after its job, */
	bool excused;            /* which is not known to be the cause */
	bool dismissed;          /* it was sent a quit */
	bool more;               /* messages may be buffered that poll does not report */
	bool broken;             /* not restarted before worker_reset */
	const char *jobs;	 /* kinds that its last hello listed (jobs_contain); NULL: unknown */
	int64_t started_ms, restart_at_ms;
	int64_t free_since_ms;   /* up and without a job since; or dismissed since */
	int starts_failed;       /* starts in a row without a hello */
	int deaths;              /* deaths with a job, in a row */
	char why[ERROR_TEXT_SIZE]; /* why it is broken */
	char note[ERROR_TEXT_SIZE]; /* see struct queue_worker */

	int job;                 /* index; -1: none */
	int64_t id;              /* of the job in messages */
	int64_t since_ms;        /* when the job was sent */
	bool heard;              /* a message about the job has arrived */
	int64_t cancelled_ms;    /* when a cancel was sent; 0: none */
	bool cancel_is_limit;    /* the cancel is due to the time limit, not to the user */
	int stored, stored_ok, stored_mistrusted; /* results of the job so far */
	struct hash seen;        /* their keys (queue_is_first) */
	struct arena seen_arena;
	int unkept;              /* results that the store did not take */
	char what[160];          /* from the heartbeat */
	int ended;               /* number of jobs that it ended */
};

/* Takes the results of one kind of jobs (queue_set_taker). */
struct taker {
	const char *kind;
	queue_take_function *take;
	void *user;
};

#define TAKERS_MAX 5

/* The expected time of the pending jobs in that version of the list; it is asked for at every frame. */
struct pending_time {
	bool known;
	uint64_t version;
	double s;
};

struct queue {
	const struct config *config;
	struct store *store;
	struct results *results;
	struct queue_limits limits;
	double distance; /* queue_set_distance; NaN: unknown */
	bool huge;
	bool caches[CACHE_COUNT], caches_given; /* queue_set_caches */
	struct job_list list;
	struct arena arena;      /* workers and their names */
	struct worker *workers;
	int worker_count;
	int epoll;               /* set of all processes' descriptors */

	struct arena device_arena;
	struct device device;
	bool known;              /* a hello has arrived, device is set */
	int64_t device_id;       /* in the store; -1: not there yet */
	int64_t cursor;          /* of store_load_since */
	const volatile sig_atomic_t *stop;
	void (*report)(const char *line);
	struct taker takers[TAKERS_MAX];
	int taker_count;

	int64_t next_id;
	int64_t batch;           /* number of the present batch */
	int64_t ended;           /* jobs that have ended */
	int64_t batch_since_ms, batch_until_ms;
	int batch_by_state[JOB_UNSUPPORTED + 1]; /* how the jobs of this batch ended */
	int batch_repeats;
	struct eta eta;          /* learned from all ended jobs */
	struct pending_time *pending; /* see queue_eta_s */
	char trouble[ERROR_TEXT_SIZE];
	int64_t trouble_id;      /* next_id at the time of the error */
	bool trouble_past;
};

/* True if no job is pending or running. */
bool queue_is_idle(const struct queue *q);
/* True if no worker may be started any more. */
bool queue_is_stuck(const struct queue *q);
/* Number of jobs beyond the number of runners that are up. */
int queue_wanted(const struct queue *q);
int queue_up(const struct queue *q); /* number of runners that have a job or may get one */

/* Returns what takes the results of jobs of this kind, or NULL. */
const struct taker *queue_taker(const struct queue *q, const char *kind);

/* queue_device.c: makes the workers that the configuration selects. */
void queue_make_workers(struct queue *q);
/* True if this device is the one that -d selects for the worker. */
bool worker_is_asked(const struct worker *w, const struct device *d);
/* True if both are the same hardware: a GPU with the same UUID, or CPUs that share a core, on the same
 * host. */
bool device_is_same_hardware(const struct device *a, const struct device *b);
/* The command line of the worker's runner, in the arena. */
const char *const *worker_argv(const struct worker *w, struct arena *a);

/* queue_worker.c: the worker's process. Functions that return int return the number of results added, or -1
 * with err if no worker can be used any more. */
int worker_start(struct queue *q, struct worker *w, struct error *err);
/* Accepts or refuses the hello. */
int worker_greet(struct queue *q, struct worker *w, struct error *err);
/* True if the worker's job may be queued again after the process is lost. */
bool worker_may_retry(const struct queue *q, const struct worker *w);
/* The process ended, or must end (err has the reason): kills it, fails its job with `status` or queues it
 * again, and schedules a restart. */
int worker_lose(struct queue *q, struct worker *w, enum status status, struct error *err);
/* Sends a quit. */
void worker_dismiss(struct worker *w);
/* Forgets failed starts and deaths: the worker may be started again. */
void worker_reset(struct worker *w);
/* Cancels its job. is_limit: because of the time limit. */
void worker_cancel(struct worker *w, bool is_limit);

/* queue_work.c: jobs and messages. Return values as in queue_worker.c. */
/* False if the worker's runner is known to answer none of the pending jobs. */
bool worker_suits(const struct queue *q, const struct worker *w);
/* Fails the next jobs if no runner answers their kind. */
void queue_refuse_unanswered(struct queue *q);
/* True if the hellos of all runners that can be used are known and none lists this kind of jobs. */
bool queue_nobody_answers(const struct queue *q, const char *kind);
int worker_feed(struct queue *q, struct worker *w, struct error *err);
int worker_read(struct queue *q, struct worker *w, int most, struct error *err);

/* queue_time.c */
int64_t queue_deadline_ms(const struct queue *q); /* clock_ms of the next deadline; INT64_MAX: none */
int worker_check_time(struct queue *q, struct worker *w, struct error *err);

/* queue_results.c */
/* Sets and logs the queue's last error. */
void queue_trouble(struct queue *q, const char *text);
/* Loads the device's stored results that were added since the last call. */
int queue_load(struct queue *q, struct error *err);
/* Fails a pending job because no runner answers its kind. Nothing is stored: another runner may do it. */
void queue_refuse(struct queue *q, int job);
/* True if a problem of such a model has to be measured; lacks: in these states. */
bool queue_lacks(const struct queue *q, const char *problem, double distance, bool huge,
	bool lacks[CACHE_COUNT]);
/* Adds a result of a problem to the store (or its queue, store_keep) and to memory. False: the store cannot
 * take it. */
bool queue_store(struct queue *q, const struct result *r);
/* Handles a result from a runner; returns 1 if it was added, 0 if it is ignored. */
int queue_result(struct queue *q, struct worker *w, const struct wire_message *m);
/* Ends the worker's job. Returns the number of results added. */
int queue_end_job(struct queue *q, struct worker *w, enum status status, const char *why);

#endif
