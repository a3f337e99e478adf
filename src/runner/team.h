/* A few threads of our own, for what no library does: each is bound to one of the cores that the library's threads use,
 * spins a moment for the next work and then sleeps. */
#ifndef RUNNER_TEAM_H
#define RUNNER_TEAM_H

#define TEAM_MOST 256

/* Cores of the threads; the caller is thread 0 and stays where it is. Does nothing but remember. */
void team_set(const int *cores, int count);
int team_size(void);
/* Calls work(argument, i, count) for i = 0 .. count - 1, one a thread; returns when all are done. Starts what is missing
 * of the threads first: the first call takes longer. */
void team_run(void (*work)(void *argument, int i, int count), void *argument);

#endif
