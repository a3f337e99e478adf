/* The loops of backend_plain.c. */
#ifndef RUNNER_PLAIN_KERNELS_H
#define RUNNER_PLAIN_KERNELS_H

#include "base/error.h"
#include "problem/problem.h"

/* One execution: operands dense in row-major order. */
struct plain {
	const struct problem *problem;
	const void *source[PROBLEM_OPERANDS];
	void *destination;
	const float *scale, *shift; /* normalizations: plain_scale_count of each */
	int64_t *indices;           /* topk: shaped like the destination */
	float epsilon;
};

/* -1: not a problem that plain_share computes, err says why. */
int plain_refuses(const struct problem *p, struct error *err);
int64_t plain_scale_count(const struct problem *p);
/* Share i of `count` of an execution; `plain` is a struct plain. */
void plain_share(void *plain, int i, int count);

#endif
