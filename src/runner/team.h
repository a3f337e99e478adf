/* The library's threads, for work that is not the library's: what is measured in plain C, and the canary, run where its
 * primitives run, so that no second set of threads spins on the same cores. */
#ifndef RUNNER_TEAM_H
#define RUNNER_TEAM_H

#include "runner/threads.h"

#define TEAM_MOST THREADS_MOST

/* Called once the OpenMP runtime has its threads (threads.h says how many); 1 where there is none. */
void team_set(int count);
int team_size(void);
/* Calls work(argument, i, count) for i = 0 .. count - 1, one a thread, the caller among them; returns when all are done. */
void team_run(void (*work)(void *argument, int i, int count), void *argument);

#endif
