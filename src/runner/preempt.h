/* How often the system took a core from the threads that measure. */
#ifndef RUNNER_PREEMPT_H
#define RUNNER_PREEMPT_H

#include <stdint.h>

/* The calling thread does not measure: what happens to it is not counted, as long as it lives. For a few threads. */
void preempt_leave_out(void);
/* Involuntary context switches of all other threads so far, the library's included. Called by one thread. */
int64_t preempt_count(void);

/* The calling thread measures (work for team_run); call it before others ask. */
void preempt_watch(void *unused, int i, int count);
/* How long threads that measure were ready to run and had no core, together, so far: a core taken away before a sample, and
 * not given back, is no switch during it, but time that it waits. NaN: the system does not say. */
double preempt_waited_ns(void);

#endif
