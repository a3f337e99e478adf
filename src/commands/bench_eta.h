/* Accuracy of the estimated time left, computed at the end of a run. */
#ifndef COMMANDS_BENCH_ETA_H
#define COMMANDS_BENCH_ETA_H

struct bench_eta {
	double *at_s, *left_s; /* seconds; owned */
	int count, capacity;
};

/* Records an estimate: at_s seconds after the start, left_s seconds were left; NaN: no estimate. The last
 * call is the end of the run. */
void bench_eta_note(struct bench_eta *b, double at_s, double left_s);
/* The largest factor between estimated and actual time left, in either direction; 1: exact. Only estimates
 * between 10% and 95% of the run count: near the end, single problems decide. NaN: no estimates. */
double bench_eta_off(const struct bench_eta *b);
void bench_eta_free(struct bench_eta *b);

#endif
