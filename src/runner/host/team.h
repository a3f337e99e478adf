/* Runs work on the library's OpenMP threads. The plain C kernels use them, so that no second set of threads
 * spins on the same cores. */
#ifndef RUNNER_TEAM_H
#define RUNNER_TEAM_H

#include "problem/problem.h"
#include "runner/host/threads.h"

#define TEAM_MOST THREADS_MOST

/* Sets the number of threads, after the OpenMP runtime has started them (threads.h counts them); 1 if
 * there is no such runtime. */
void team_set(int count);
int team_size(void);
/* Gives the calling thread a share of the threads: until it is 0 again, team_size, team_run and the library's
 * regions that it starts have `count` threads. team_member_share: the same inside a region. */
void team_share(int count);
void team_member_share(int count);
/* The CPU of each thread, which the runtime bound it to; NULL: they are not bound. For lanes.c. */
void team_set_cpus(const int *cpus);
const int *team_cpus(void);
/* True if a problem is so small that one thread may be faster than all: starting and ending a region of
 * several threads takes microseconds. */
bool team_is_too_large(const struct problem *p);
/* Calls work(argument, i, count) for i = 0 .. count - 1, one call per thread, the caller included; returns
 * when all have ended. */
void team_run(void (*work)(void *argument, int i, int count), void *argument);

/* All threads sleep for this time. */
void team_rest(double ns);

#endif
