/* What the files of the queue share: jobs and their order (queue_jobs.c), the runner and time (queue.c). */
#ifndef DRIVE_QUEUE_PRIVATE_H
#define DRIVE_QUEUE_PRIVATE_H

#include "base/hash.h"
#include "drive/queue.h"

struct job {
	const char *problem;
	enum job_state state;
	bool again;        /* asked for though it was finished before */
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
	bool greeted;            /* the present process has said hello, and was accepted */
	int64_t device_id, cursor;
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
	int stored, stored_ok;   /* results of the running job so far */
	char what[160];

	int64_t batch_since_ms, batch_until_ms;
	int batch_done;
	int batch_by_state[JOB_UNSUPPORTED + 1]; /* how the jobs of this batch ended */
	double batch_ms;         /* sum over the finished jobs of this batch */
	char trouble[ERROR_TEXT_SIZE];
	int64_t trouble_id;      /* next_id when it came */
	bool trouble_past;
};

/* Monotonic. */
int64_t queue_clock_ms(void);
/* Nothing pending, nothing running. */
bool queue_is_idle(const struct queue *q);

#endif
