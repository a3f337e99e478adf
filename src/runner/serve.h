/* The protocol (docs/wire.md) on two file descriptors. */
#ifndef RUNNER_SERVE_H
#define RUNNER_SERVE_H

#include "base/error.h"
#include "problem/result.h"

/* Says hello, then answers jobs until told to quit or the input has ended and its jobs are done. -1: could not begin. A
 * reader of the output that is gone ends the program by SIGPIPE, at the latest with the next heartbeat. */
int serve(int in, int out, const struct device *d, struct error *err);

#endif
