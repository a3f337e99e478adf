/* Elementwise functions with an exponential, f32. oneDNN 2.6 takes up to twice as long (swish: 521 us for 1.6
 * million elements on two cores with AVX-512, these kernels 267). */
#ifndef RUNNER_PLAIN_EXP_H
#define RUNNER_PLAIN_EXP_H

#include "problem/problem.h"

/* The kernel for the instruction set of isa_present. */
struct plain_exp {
	const char *name; /* of the instruction set */
	/* Elements `at` to `end` of p's function. */
	void (*eltwise)(const struct problem *p, const float *from, float *to, int64_t at, int64_t end);
};

const struct plain_exp *plain_exp(void);
/* True if the kernels compute the problem. */
bool plain_by_exp(const struct problem *p);

#endif
