/* The clock: monotonic, in nanoseconds, with the price of reading it known. */
#ifndef RUNNER_CLOCK_H
#define RUNNER_CLOCK_H

double clock_ns(void);
/* Since `begin`, less what two readings in a row take (least of many); never below 0. */
double clock_elapsed(double begin);

#endif
