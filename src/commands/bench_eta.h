/* How good the estimates of a run's end were, known when it has ended. */
#ifndef COMMANDS_BENCH_ETA_H
#define COMMANDS_BENCH_ETA_H

struct bench_eta {
	double *at_s, *left_s;
	int count, capacity;
};

/* So long after the beginning so much was said to be left; NaN: nothing was. The last one is the end. */
void bench_eta_note(struct bench_eta *b, double at_s, double left_s);
/* By what factor what was said was off from what was left, at most, from a tenth of the way on until a twentieth of it is left,
 * where single problems decide; 1 is right. NaN: nothing was said. */
double bench_eta_off(const struct bench_eta *b);
void bench_eta_free(struct bench_eta *b);

#endif
