/* How often the system took a core from the threads that measure. */
#ifndef RUNNER_PREEMPT_H
#define RUNNER_PREEMPT_H

#include <stdint.h>

/* The calling thread does not measure: what happens to it is not counted, as long as it lives. For a few threads. */
void preempt_leave_out(void);
/* Involuntary context switches of all other threads so far, the library's included. Called by one thread. */
int64_t preempt_count(void);

#endif
