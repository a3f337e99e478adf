/* Serves the protocol of docs/wire.md on two file descriptors. */
#ifndef RUNNER_SERVE_H
#define RUNNER_SERVE_H

#include "runner/measure/ahead.h"
#include "runner/protocol/batch.h"

/* Settings from the command line, for what jobs do not specify. */
struct serving {
	const struct device *device;
	struct batch *batch;          /* results that the output has already; never NULL */
	bool planning;                /* no device: only list */
	bool check;                   /* check outputs instead of measuring */
	struct ahead *ahead;          /* prepares the next jobs; NULL: each is prepared in its turn */
	int64_t idle_ms;              /* time without a job after which serve returns; 0: never */
	/* Time for one step of a job (a plan, an execution, a check), after which serve ends the job with
	 * `timeout` and the program with status 3: a kernel that does not end. 0: unlimited. */
	int64_t step_limit_ms;
	/* The same for a problem that was only named as one of the next: its compilation holds up the job,
	 * which is to be sent again. 0: 20000. */
	int64_t next_limit_ms;
	bool all;                     /* default of jobs: all algorithms (docs/wire.md) */
	int most;                     /* maximum algorithms, an equal share per library; 0: all */
	int64_t budget_ms;            /* default of jobs; 0: WIRE_BUDGET_MS */
	const bool *caches, *launches;/* default of jobs; NULL: the usual states */
	bool wrong;                   /* out: a check failed */
};

/* Sends the hello, then runs jobs until quit, the end of input, or how->idle_ms without a job (so that an
 * idle device is released). Returns -1 with err if it cannot start, the device is lost, or the output
 * cannot be written. If the reader of the output is gone, SIGPIPE ends the program, at the latest with the
 * next heartbeat. */
int serve(struct serving *how, int in, int out, struct error *err);

#endif
