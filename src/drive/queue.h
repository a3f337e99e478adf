/* The queue: problems to measure on one device, what became of each, and the runners that do it, one or several at once.
 * Single-threaded, driven by queue_step from the command's or the explorer's loop; never blocks longer than asked. A
 * problem is measured by one runner. A runner that dies or hangs fails that problem only and is started again; where the
 * way to it was lost, the problem goes back, twice at most. One that has nothing to do for a minute is told to leave, and
 * started again when there is something. */
#ifndef DRIVE_QUEUE_H
#define DRIVE_QUEUE_H

#include <signal.h>

#include "config/config.h"
#include "drive/runner_process.h"
#include "store/store.h"

enum job_state { JOB_NONE, JOB_PENDING, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_UNSUPPORTED };

struct queue_status {
	int pending, running, done, failed, unsupported; /* of the jobs ever added to this queue */
	int batch_done, batch_failed, batch_unsupported; /* since the queue was idle last */
	const char *current;      /* problem text being measured (the first, of several), or NULL */
	const char *current_what; /* algorithm being tried for it, from the heartbeat, or "" */
	double elapsed_s;         /* since the first job of the present batch began */
	double eta_s;             /* estimate for what is pending + running; NaN when there is no ground for one */
	const char *trouble;      /* last runner trouble or store error, one line, or "" */
	bool trouble_past;        /* since then a job was measured well, or a new batch was asked for */
	double silence_s;         /* how long a runner has said nothing about its running job; 0 when none runs */
	bool starting;            /* runners have been started, no hello yet */
	int workers, workers_up;  /* runners that there may be, and that are ready or measuring */
	const char *waiting;      /* what a runner says that waits in a cluster's queue, one line, cleaned; or "" */
	double waiting_s;         /* for how long */
	bool idle;                /* nothing pending or running */
};

/* One of the runners. */
struct queue_worker {
	const char *label;   /* "gpu7", "gpu7 #2" */
	bool up;             /* has said hello, and was not told to leave */
	const char *problem; /* that it measures, or NULL */
	const char *what;    /* the algorithm it tries, or "" */
	int ended;           /* problems that it brought to an end, in all */
	double silence_s;
	const char *waiting; /* as in the status */
	double waiting_s;
	const char *out;     /* why it is not started any more, or "" */
	const char *note;    /* what bends its numbers, as far as its hello tells: the device shared with another, other threads
				than asked for; or "" */
};

struct queue;

#define QUEUE_WORKERS_MAX 256

/* Does config->device name runners, and nothing else? NULL: the first of the configuration, where there is one. "gpu7", "gpu7:1"
 * (one of its devices), or several that are the same device: "node1,node2". A name that has a comma in it may be a
 * recorded device's. */
bool queue_has_runner(const struct config *c);
/* Of several names that config->device has, some of them runners', the first that is none's, in the arena; else NULL. */
const char *queue_unknown(const struct config *c, struct arena *a);
/* Is this one of the runners that config->device names? false where it names none. */
bool queue_asks_for(const struct config *c, const struct config_runner *r);

/* A queue of the runners that config->device names (queue_has_runner), each as often as the configuration allows. store may be
 * NULL (results are then only kept in memory). results grows as measurements arrive. Starts no runner yet. config, store
 * and results must outlive the queue. */
struct queue *queue_new(const struct config *config, struct store *store, struct results *results);
void queue_free(struct queue *q); /* stops the runners */

/* Starts a runner and waits for its hello, up to timeout_ms, QUEUE_HELLO_LIMIT: the queue's own limit, which does not count
 * while it waits in a cluster's queue; for commands that need the device first. With 0 it is only started (-1 then, and queue_step goes on with it). The stored results of the
 * device are loaded into `results`; that they cannot be is an error too (queue_device is then set). The device itself is
 * put into the store with its first result. The first hello says which device the queue is of; a runner that turns
 * out to be another one, or not what config->device says ("cpu:7"), is refused. */
#define QUEUE_HELLO_LIMIT (-1)
int queue_connect(struct queue *q, int timeout_ms, struct error *err);
const struct device *queue_device(const struct queue *q); /* NULL before the hello */

/* queue_connect ends with an error soon after *stop became other than 0 (a signal handler's flag). */
void queue_set_stop(struct queue *q, const volatile sig_atomic_t *stop);

/* queue_connect tells of what the person may have to wait for: a line each time that it changes. NULL: nobody listens. */
void queue_set_say(struct queue *q, void (*say)(const char *line));

/* Adds a problem unless it is pending, running, or it has an answer (results_is_finished: it was measured, is unsupported, or
 * gives no time that can be trusted) and `again` is false. One that failed otherwise (crashed, timeout, no memory ...) may
 * do better another time: it is added again, but not to the batch that it failed in. So is one that an interrupted run
 * left. Returns whether it was added. first = put it at the head, also when it is pending already. */
bool queue_add(struct queue *q, const char *problem, bool first, bool again);
enum job_state queue_state(const struct queue *q, const char *problem); /* JOB_NONE: never added */
int queue_position(const struct queue *q, const char *problem); /* 1 = next; 0 = running or not pending */
const char *queue_why(const struct queue *q, const char *problem); /* failure text or "" */
double queue_took_s(const struct queue *q, const char *problem); /* to measure it, the last time; NaN: it was not */
/* Drops what is pending (JOB_NONE again); the running one is cancelled: what it gave is kept, and it is not finished. */
void queue_cancel(struct queue *q);

/* The cache states that jobs ask for from now on; net and warm at first. */
void queue_set_caches(struct queue *q, const bool caches[CACHE_COUNT]);

/* Forgets what became of problems, and counts from 0 again; runners stay, and what was learned of how long things take.
 * Nothing may be pending or running. */
void queue_forget(struct queue *q);

/* Time limits, in ms; queue_new sets the defaults. */
struct queue_limits {
	int hello;    /* a runner that says no hello for so long is no runner: 30000 */
	int silence;  /* a measuring runner sends a heartbeat twice a second; one silent for so long hangs: 10000 */
	int problem;  /* a problem is asked to stop after so long: the configuration's problem_limit_ms */
	int grace;    /* and when it has not after so long again, the runner is killed: 5000 */
	int restart;  /* delay before the second start in a row; doubles each time, up to 32 of it: 100 */
	int deaths;   /* a runner that dies on so many problems in a row is not started again: 8 */
	int idle;     /* one without a job for so long is told to leave, 0 never: 60000 */
};
struct queue_limits *queue_limits(struct queue *q);

/* Does what can be done now: waits up to timeout_ms for runners, handles everything that came. Returns the number of
 * results that arrived, -1 when none can be started at all (err): it is not there, says no hello three times in a
 * row (eight, where it has said one before), or is another device or version. What is pending stays so; queue_add and queue_connect make it try again. */
int queue_step(struct queue *q, int timeout_ms, struct error *err);
/* To poll beside the keyboard; -1 when no runner is up. */
int queue_fd(const struct queue *q);
struct queue_status queue_status(const struct queue *q);
struct queue_worker queue_worker(const struct queue *q, int i); /* 0 <= i < status.workers */

/* Does one device's name ask for this runner? NULL: no. "": for the runner; "1", "GPU-5f...": for one of its devices, as in
 * "gpu7:1"; a GPU's UUID alone ("GPU-5f...") is one of the runner "cuda". */
const char *queue_device_part(const struct config_runner *r, const char *device);

#endif
