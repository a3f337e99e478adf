/* How long problems will take to measure, learned from those that were. What is known beforehand of each is a weight: about
 * the seconds on a small CPU, from the kernel, since libraries have more implementations of some, from how long a handful of
 * executions takes, as far as the budget goes, and from the constants that are to be made. What is learned is a rate for each
 * kernel, of problems with constants and without, that leans on the rate of all as long as there are few. */
#ifndef DRIVE_ETA_H
#define DRIVE_ETA_H

#include "problem/problem.h"

#define ETA_KINDS (2 * KERNEL_COUNT + 1) /* kernels without and with constants; what is no problem */

struct eta_weight {
	int kind;
	double weight;
};

/* Zeroed at the beginning. */
struct eta {
	double took_s[ETA_KINDS], weight[ETA_KINDS];
	double all_took_s, all_weight;
};

struct eta_weight eta_weigh(const char *problem);
void eta_learn(struct eta *e, struct eta_weight w, double took_s);
/* Seconds; NaN as long as nothing was learned. */
double eta_expect(const struct eta *e, struct eta_weight w);

#endif
