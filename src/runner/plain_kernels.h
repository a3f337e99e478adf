/* The loops of backend_plain.c. */
#ifndef RUNNER_PLAIN_KERNELS_H
#define RUNNER_PLAIN_KERNELS_H

#include "base/error.h"
#include "problem/problem.h"
#include "runner/plain_table.h"

/* One execution: operands dense in row-major order. */
struct plain {
	const struct problem *problem;
	const void *source[PROBLEM_OPERANDS];
	void *destination;
	const float *scale, *shift; /* normalizations: plain_scale_count of each; quantize, dequantize: scales only */
	int64_t *indices;           /* topk: shaped like the destination */
	float epsilon;
	int pass;                   /* of plain_passes */
	const struct plain_table *table; /* functions of bytes */
	float *partial;             /* what the shares of a first pass leave to the second, two numbers each */
};

/* -1: not a problem that plain_share computes, err says why. */
int plain_refuses(const struct problem *p, struct error *err);
int64_t plain_scale_count(const struct problem *p);
/* How often an execution goes through its shares, all of them each time. */
int plain_passes(const struct problem *p);
/* Share i of `count` of a pass; `plain` is a struct plain. */
void plain_share(void *plain, int i, int count);
/* That of quantize and dequantize. */
void plain_quantize_share(const struct plain *a, int i, int count);
/* That of functions of bytes. */
void plain_table_share(const struct plain *a, int i, int count);

#endif
