/* Estimates how long problems take to measure, from those already measured. Each problem has a weight, known
 * in advance: about its seconds on a small CPU, from the kernel (libraries have more implementations of some
 * kernels), the time of the executions within the budget, and the creation of constants. The time per weight
 * is learned for each kernel, with and without constants; while there are few measurements it is pulled
 * towards the average of all kernels. */
#ifndef DRIVE_ETA_H
#define DRIVE_ETA_H

#include "problem/problem.h"

#define ETA_KINDS (2 * KERNEL_COUNT + 1) /* kernels without and with constants; texts that do not parse */

struct eta_weight {
	int kind;
	double weight;
};

/* Sums of the measured problems. A zeroed struct is empty. */
struct eta {
	double took_s[ETA_KINDS], weight[ETA_KINDS];
	double all_took_s, all_weight;
};

/* The weight of a problem text. */
struct eta_weight eta_weigh(const char *problem);
/* The same of a brief measurement (queue_add_brief). */
struct eta_weight eta_weigh_brief(const char *problem);
/* Adds the measured duration of a problem, in seconds. */
void eta_learn(struct eta *e, struct eta_weight w, double took_s);
/* Expected duration in seconds; NaN before the first eta_learn. */
double eta_expect(const struct eta *e, struct eta_weight w);

#endif
