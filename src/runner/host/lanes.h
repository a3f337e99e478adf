/* Lanes: parts of the threads that work at the same time, each with its share of the cores. */
#ifndef RUNNER_LANES_H
#define RUNNER_LANES_H

#include <stdint.h>

#define LANES_MOST 8

struct lanes;
/* Lane i gets threads[i] of the threads, ascending; at most as many as there are (team_size). Lanes of one
 * thread each run on the threads of the team, whose library then runs one thread; else the caller is lane 0,
 * and the others get threads of their own, on the same cores. Returns NULL if they cannot be started. */
struct lanes *lanes_open(const int *threads, int count);
void lanes_close(struct lanes *l);
/* Calls work(argument, i) for each lane at the same time, `times` times; each time begins when all lanes
 * have ended the one before. In it team_size is the lane's share. Returns the time from the first begin to
 * the last end in ns. */
double lanes_run(struct lanes *l, void (*work)(void *argument, int lane), void *argument, int64_t times);

#endif
