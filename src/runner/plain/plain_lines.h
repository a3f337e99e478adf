/* Elementwise problems in f32, where oneDNN 2.6 is slow: functions with an exponential (swish: 521 us for 1.6
 * million elements on two cores with AVX-512, these kernels 267); batch normalization, whose parameters are
 * one factor and one addend per channel here; binary functions with operands that broadcast. Where both
 * operands broadcast, and for batch normalizations of rank 2, oneDNN has only reference loops. Elementwise
 * epilogues are applied while the results are in the caches. Softmax, along any axis. */
#ifndef RUNNER_PLAIN_LINES_H
#define RUNNER_PLAIN_LINES_H

#include "problem/problem.h"
#include "runner/plain/plain_kernels.h"

#define PLAIN_COLUMNS 128

/* Adjacent elements of the destination and their operands. */
struct plain_run {
	const float *x, *y;	/* y: second operand of a binary */
	int64_t x_step, y_step; /* 1, or 0: one value for all elements */
	const float *scale, *shift; /* batchnorm: x * scale + shift */
	int64_t scale_step;	/* of both: 1, or 0 as above */
	float *to;
	int64_t count;
};

/* The kernel for the instruction set of isa_present. */
struct plain_lines {
	const char *name; /* of the instruction set */
	void (*compute)(const struct problem *p, const struct plain_run *run);
	void (*softmax)(const float *from, float *to, int64_t n); /* of n adjacent values */
	/* Of `count` (at most PLAIN_COLUMNS) adjacent columns of n values each, `step` apart. */
	void (*softmax_columns)(const float *from, float *to, int64_t n, int64_t step, int64_t count);
};

const struct plain_lines *plain_lines(void); /* static */
/* True if the kernels compute the problem, for what oneDNN is slow at. */
bool plain_by_lines(const struct problem *p);
/* The source that they can overwrite with the destination, element by element: a lower memory traffic than
 * any kernel that writes elsewhere has. -1: none. */
int plain_overwritten(const struct problem *p);
/* Compute share i of `count`. */
void plain_lines_share(const struct plain *a, int i, int count);
void plain_softmax_share(const struct plain *a, int i, int count);
/* Computes a share in place: the destination is the source plain_overwritten. Executed again and again, a
 * function takes its own results; on x86 denormal ones, which are slow and which a model's data does not
 * have, are 0. `plain` is a struct plain. */
void plain_in_place_share(void *plain, int i, int count);

#endif
