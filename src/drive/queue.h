/* The queue: jobs for one device, their states, and one or several runners that do them. A job is a kind and
 * a payload; the kind JOB_PROBLEM, a problem to measure, has functions of its own, which keep its results.
 * Single-threaded: the command's or the explorer's loop calls queue_step, which blocks for at most its
 * timeout. Each problem is measured by one runner. If a runner dies or hangs, only its problem fails, and it
 * is restarted; if the connection to it was lost, the problem is queued again, at most twice. A runner
 * without jobs for a minute is sent a quit, and started again when there are jobs. */
#ifndef DRIVE_QUEUE_H
#define DRIVE_QUEUE_H

#include <signal.h>

#include "config/config.h"
#include "drive/runner_process.h"
#include "store/store.h"

enum job_state { JOB_NONE, JOB_PENDING, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_UNSUPPORTED };

struct queue_status {
	int pending, running, done, failed, unsupported; /* jobs since the queue was made or forgotten */
	int quick, quick_ended; /* quick measurements, not among the above: pending or running; ended */
	int repeats;              /* of pending and running: repeated measurements */
	int batch_done, batch_failed, batch_unsupported; /* jobs since the queue was idle before;
				repeats do not end this */
	int batch_repeats;        /* repeated measurements since then, not among these */
	const char *current;	  /* problem (or payload) being measured, the first of several; or NULL */
	const char *current_what; /* its current algorithm, from the heartbeat, or "" */
	double elapsed_s;         /* since the first job of the present batch started */
	double eta_s;             /* estimated time for the pending and running jobs; NaN: unknown */
	const char *trouble;      /* last error of a runner or the store, one line, or "" */
	bool trouble_past;        /* a job was measured, or a new batch started, since that error */
	double silence_s;         /* longest time since the last message of a runner with a job; 0: no job */
	bool starting;            /* runners were started, none has sent its hello */
	int workers, workers_up;  /* configured runners, and those with a hello */
	const char *waiting;      /* line of a runner that waits in a cluster's queue, cleaned, or "" */
	double waiting_s;         /* how long it has waited */
	bool idle;                /* no job is pending or running */
};

/* State of one runner. */
struct queue_worker {
	const char *label;   /* "gpu7", "gpu7 #2" */
	bool up;             /* has sent its hello and was not sent a quit */
	const char *kind;    /* of its job, or NULL */
	const char *problem; /* its job's payload, of kind JOB_PROBLEM the problem being measured; or NULL */
	const char *what;    /* current algorithm, or "" */
	int ended;           /* number of jobs that it ended */
	double silence_s;    /* as in queue_status */
	const char *waiting;
	double waiting_s;
	const char *out;     /* why it is not restarted, or "" */
	const char *note;    /* what distorts its numbers, by its hello, or "": the device is shared with
				another runner, or the number of threads is not the configured one */
};

struct queue;

#define QUEUE_WORKERS_MAX 256

/* True if config->device names only configured runners: "gpu7", "gpu7:1" (one device of a runner), or several
 * runners of the same device model, "node1,node2". NULL means the first configured runner. Other names are
 * recorded or described devices, whose names may contain commas. */
bool queue_has_runner(const struct config *c);
/* First name in config->device that is not a configured runner, in the arena; NULL if none or all of the
 * names are runners. */
const char *queue_unknown_runner(const struct config *c, struct arena *a);
/* True if config->device names this runner; false if it is NULL. */
bool queue_uses_runner(const struct config *c, const struct config_runner *r);

/* The command line of the first runner of config->device (queue_has_runner must be true), NULL-terminated,
 * with the device's number ("cuda:1"). In the arena or the configuration. */
const char *const *queue_runner_argv(const struct config *c, struct arena *a);

/* Makes a queue for the runners of config->device (queue_has_runner must be true), each with its configured
 * count. Starts no runner. Results are added to `results` and, unless it is NULL, to the store. config, store
 * and results must outlive the queue. */
struct queue *queue_new(const struct config *config, struct store *store, struct results *results);
/* Stops the runners. */
void queue_free(struct queue *q);

/* Starts a runner, waits for its hello and loads the stored results of its device into `results`; for
 * commands that need the device first. timeout_ms: QUEUE_HELLO_LIMIT for the limit in queue_limits, not
 * counting a wait in a cluster's queue; 0 only starts the runner and returns -1, and queue_step continues.
 * Returns -1 also if the results cannot be loaded (queue_device is then set). The first hello determines the
 * device of the queue. A runner with another device, or not the one that config->device selects ("cpu:7"), is
 * refused. */
#define QUEUE_HELLO_LIMIT (-1)
int queue_connect(struct queue *q, int timeout_ms, struct error *err);
/* The device of the first hello; NULL before it. */
const struct device *queue_device(const struct queue *q);

/* Makes queue_connect fail soon after *stop is set (by a signal handler). */
void queue_set_stop(struct queue *q, const volatile sig_atomic_t *stop);

/* queue_connect calls `report` with each new line about a wait in a cluster's queue. May be NULL. */
void queue_set_report(struct queue *q, void (*report)(const char *line));

/* Adds a problem; returns whether it was added. It is not added if it is pending or running, or if it is
 * finished (results_lack: measured, unsupported or suspect) and `again` is false. A problem that
 * failed otherwise (crashed, timeout, no memory ...) or was interrupted is added again, but not within the
 * batch in which it failed. first: puts it at the head, also if it is pending already. */
bool queue_add(struct queue *q, const char *problem, bool first, bool again);
/* The same for a peak of the device: measures only the amortized cost with warm caches, for QUEUE_BRIEF_MS an
 * algorithm. */
#define QUEUE_BRIEF_MS 20
bool queue_add_brief(struct queue *q, const char *problem, bool again);
bool queue_takes(const struct queue *q, const char *problem); /* true if it would be, without `again` */
bool queue_takes_brief(struct queue *q, const char *problem);
/* Adds a quick measurement of a problem at the head: one algorithm in this state of caches and launch mode,
 * with a few samples. It is no part of the problem's state: the result is kept in memory only
 * (results_add_rough) and the problem can be added too. Returns false if it has such a result or is
 * finished, or if this was tried before. If no runner answers such jobs, it fails without an error. */
bool queue_add_quick(struct queue *q, const char *problem, enum cache cache, enum launch launch);
/* Adds one more, short measurement of a result's algorithm in its launch mode and state of the caches; of one
 * at a reuse distance, in all distances of the model (queue_set_distance); of one whose samples are single
 * executions, in both launch modes, which share them. Its results are added to those of
 * the problem, whose state stays. Returns false if it is queued or no runner answers such jobs. */
#define QUEUE_REPEAT_MS 20 /* a state */
bool queue_add_repeat(struct queue *q, const struct result *r);
enum job_state queue_state(const struct queue *q, const char *problem); /* JOB_NONE: never added */
int queue_position(const struct queue *q, const char *problem); /* 1: next; 0: not pending */
const char *queue_why(const struct queue *q, const char *problem); /* why it failed, or "" */
double queue_took_s(const struct queue *q, const char *problem); /* last time to measure it; NaN: none */

/* The same for a job of any kind, whose payload is a clean text (text_clean) of less than PROBLEM_TEXT_SIZE
 * bytes. Results of problems are stored; those of another kind are given to its taker, which must be set
 * first, with the payload in r->problem, and a status other than ok if the job failed without one. Such a job
 * is not added again while it is pending or running. A job of a kind that no runner's hello lists fails
 * (queue_job_why), without a result; the other jobs go on. */
typedef void queue_take_function(void *user, const struct result *r);
void queue_set_taker(struct queue *q, const char *kind, queue_take_function *take, void *user);
bool queue_add_job(struct queue *q, const char *kind, const char *payload, bool first, bool again);
enum job_state queue_job_state(const struct queue *q, const char *kind, const char *payload);
const char *queue_job_why(const struct queue *q, const char *kind, const char *payload);

/* Removes the pending jobs (JOB_NONE) and cancels the running ones: their results so far are kept, but they
 * are not finished. */
void queue_cancel(struct queue *q);

/* ---- jobs one by one, for screens (queue_list.c) ---- */

/* Jobs are numbered from 0 as they are first added; the numbers stay until queue_forget. */
int queue_job_count(const struct queue *q);
/* Changes with the state or place of any job. */
uint64_t queue_version(const struct queue *q);
struct queue_job {
	const char *kind, *payload;
	enum job_state state; /* JOB_NONE: it was removed, or did not have to be done any more */
	int position;         /* pending: 1 next; else 0 */
	int64_t ended;        /* the later it ended the higher; 0: it has not ended */
	double seconds;       /* running: since it was sent; else the last time that it took; NaN: none */
	const char *what;     /* running: its current algorithm; failed, unsupported: why; else "" */
};
struct queue_job queue_job(const struct queue *q, int number);
/* Removes a pending job, or cancels a running one as queue_cancel does. False: it is neither. */
bool queue_drop(struct queue *q, int number);
/* Puts a pending job at the head. False: it is not pending, or is there already. */
bool queue_put_first(struct queue *q, int number);
/* Removes the pending jobs; running ones go on. Returns their number. */
int queue_clear(struct queue *q);

/* Sets the reuse distance of the constants (plan.reuse_bytes) of the model whose problems are added next, and
 * whether they are also measured in pages of 2 MiB: their states are those of device_states. A finished
 * problem without a result in one of them is measured in it when it is added again. NaN, the default:
 * unknown. */
void queue_set_distance(struct queue *q, double bytes, bool huge);
/* Sets the cache states that later jobs measure instead. */
void queue_set_caches(struct queue *q, const bool caches[CACHE_COUNT]);

/* Forgets all jobs and resets the counts. Runners and the time estimates stay. The queue must be idle. */
void queue_forget(struct queue *q);

/* Limits, in ms unless noted; queue_new sets the defaults. */
#define QUEUE_ALL_FACTOR 10
struct queue_limits {
	int hello;    /* 30000: a runner without a hello is stopped */
	int silence;  /* 10000: a runner with a job that sends nothing, not even heartbeats, is killed */
	int problem;  /* problem_limit_ms of the configuration, QUEUE_ALL_FACTOR times that if all algorithms
			 are tried: a job is cancelled */
	int grace;    /* 5000: a runner that does not stop after a cancel or a quit is killed */
	int restart;  /* 100: delay before the second restart in a row; doubles up to 32 times this */
	int deaths;   /* 8 (a count): a runner that dies on this number of jobs in a row is not restarted */
	int idle;     /* 60000: a runner without a job is sent a quit; 0: never */
};
struct queue_limits *queue_limits(struct queue *q);

/* Waits up to timeout_ms for messages of the runners and handles them, starts runners and sends jobs. Returns
 * the number of results that were added. Returns -1 if no runner can be used: it is not installed, has sent
 * no hello three times in a row (eight times if it has sent one before), or has another device or protocol
 * version. Pending jobs stay pending; queue_add and queue_connect try again. */
int queue_step(struct queue *q, int timeout_ms, struct error *err);
/* File descriptor to poll; -1 if no runner is up. */
int queue_fd(const struct queue *q);
struct queue_status queue_status(const struct queue *q);
struct queue_worker queue_worker(const struct queue *q, int i); /* 0 <= i < status.workers */

/* The part of a device name after the runner's name: "1" for "gpu7:1", "" for "gpu7". NULL if it names
 * another runner. A GPU's UUID alone ("GPU-5f...") names a device of the runner "cuda". */
const char *queue_device_part(const struct config_runner *r, const char *device);

#endif
