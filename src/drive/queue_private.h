/* What the files of the queue share: jobs and their order (queue_jobs.c), their results
 * (queue_results.c), the runner and time (queue.c). */
#ifndef DRIVE_QUEUE_PRIVATE_H
#define DRIVE_QUEUE_PRIVATE_H

#include "base/hash.h"
#include "drive/queue.h"

struct job {
	const char *problem;
	enum job_state state;
	bool again;        /* asked for though it was finished before */
	bool stepped_back; /* let others go first, once: another process seems to be at it */
	int64_t batch;     /* in which it was last measured */
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

struct queue {
	const struct config *config;
	const struct config_runner *runner;
	struct store *store;
	struct results *results;
	struct queue_limits limits;
	struct job_list list;

	struct runner_process *process;
	struct arena device_arena;
	struct device device;
	bool known;              /* a hello has come, device is set */
	bool leaves;             /* the present process has said that it ends with its job */
	bool greeted;            /* the present process has said hello, and was accepted */
	int64_t device_id;       /* in the store; -1: it has nothing of this device yet */
	bool identified;         /* the store knows this handle's device row: results may be added */
	int64_t cursor;          /* of store_load_since */
	const volatile sig_atomic_t *stop;
	int64_t started_ms, restart_at_ms;
	int starts_failed;       /* starts in a row without a hello */
	int deaths;              /* deaths in a row on a problem */
	bool broken;             /* not to be started again until asked */
	bool more;               /* messages may be waiting that no descriptor tells of */

	int running;             /* job, or -1 */
	int64_t running_id, next_id;
	int64_t running_since_ms;
	int64_t cancelled_ms;    /* when it was told to stop; 0: it was not */
	bool cancel_is_limit;    /* by the time limit, not by a person */
	int stored, stored_ok, stored_mistrusted; /* results of the running job so far */
	int unkept;              /* of these, what the store did not take */
	int lost;                /* results that the store did not take, in all */
	char what[160];

	int64_t batch;           /* its number */
	int64_t batch_since_ms, batch_until_ms;
	int batch_done;
	int batch_by_state[JOB_UNSUPPORTED + 1]; /* how the jobs of this batch ended */
	double batch_ms;         /* sum over the finished jobs of this batch */
	char trouble[ERROR_TEXT_SIZE];
	int64_t trouble_id;      /* next_id when it came */
	bool trouble_past;
	char lost_why[ERROR_TEXT_SIZE];
};

/* Nothing pending, nothing running. */
bool queue_is_idle(const struct queue *q);

/* queue_results.c */
void queue_trouble(struct queue *q, const char *text);
/* Reads what the store has of the device and was not read yet. */
int queue_load(struct queue *q, struct error *err);
/* Takes a result from the runner; 1 when it counts. */
int queue_result(struct queue *q, const struct wire_message *m);
/* The running job ends. Returns the results that this added. */
int queue_end_job(struct queue *q, enum status status, const char *why);

#endif
