/* Monotonic clock in ns, and the cost of reading it. */
#ifndef RUNNER_CLOCK_H
#define RUNNER_CLOCK_H

double clock_ns(void); /* CLOCK_MONOTONIC; the epoch is arbitrary */
/* ns since `begin`, minus the minimum time between two readings; never below 0. */
double clock_elapsed(double begin);

#endif
