/* The protocol (docs/wire.md) on two file descriptors. */
#ifndef RUNNER_SERVE_H
#define RUNNER_SERVE_H

#include "runner/batch.h"

/* How to answer, beyond what jobs say. */
struct serving {
	const struct device *device;
	struct batch *batch;          /* answers that are there already; never NULL */
	bool planning;                /* there is no device */
	bool check;                   /* compare outputs in place of measuring */
	int64_t idle_ms;              /* leave after so long without a job; 0: never */
	int most;                     /* algorithms of a problem that are run, of all libraries alike; 0 = all */
	int64_t budget_ms;            /* of jobs that do not say; 0: the usual */
	const bool *caches, *launches;/* likewise; NULL: the usual */
	bool wrong;                   /* out: a check found something wrong */
};

/* Says hello, then answers jobs until told to quit, the input has ended and its jobs are done, or there was nothing to do
 * for a while (a device is not held for nobody). -1: could not begin, or the
 * device was lost on the way (err). A reader of the output that is gone ends the program by SIGPIPE, at the latest with
 * the next heartbeat. */
int serve(struct serving *how, int in, int out, struct error *err);

#endif
