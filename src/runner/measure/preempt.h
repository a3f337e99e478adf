/* Detects that measuring threads lost their cores: involuntary context switches, and time spent waiting
 * for a core; and how long they ran. */
#ifndef RUNNER_PREEMPT_H
#define RUNNER_PREEMPT_H

#include <stdint.h>

/* Excludes the calling thread from preempt_count until it ends. At most 8 threads. */
void preempt_leave_out(void);
/* Involuntary context switches so far of all threads that are not excluded, the library's included. Call
 * it from one thread only. */
int64_t preempt_count(void);

/* Includes the calling thread in preempt_waited_ns. It has the signature that team_run needs; call it
 * before the first reading. */
void preempt_watch(void *unused, int i, int count);
/* Ends that for the calling thread, before it ends. */
void preempt_unwatch(void *unused, int i, int count);
/* Time in ns, summed over the included threads, in which they were ready to run and had no core. Unlike
 * preempt_count it includes a core that was taken before a sample and not returned during it. NaN: the
 * system does not report it. */
double preempt_waited_ns(void);

/* preempt_ran_ns: the longest time in ns that one of the included threads ran since preempt_mark, by its CPU
 * clock. Work that is shared between the threads takes at most that long with cores of its own, because a
 * thread that spins for others counts too. NaN: the system does not report it. */
void preempt_mark(void);
double preempt_ran_ns(void);

#endif
