/* The kernels of backend_plain.c. */
#ifndef RUNNER_PLAIN_KERNELS_H
#define RUNNER_PLAIN_KERNELS_H

#include "base/error.h"
#include "problem/problem.h"
#include "runner/plain/plain_table.h"

/* Arguments of one execution; operands are dense and row-major. All sources of a concat are source[0]. */
struct plain {
	const struct problem *problem;
	const struct plain_lines *lines; /* plain_lines(), if plain_by_lines */
	const void *source[PROBLEM_OPERANDS];
	void *destination;
	const float *scale, *shift; /* normalizations: problem_parameter_count of each, of a batchnorm those
				       with its mean and variance folded in; quantize, dequantize: scales
				       only */
	int64_t *indices;           /* topk: shaped like the destination */
	float epsilon;
	int pass;                   /* 0 .. plain_passes - 1 */
	const struct plain_table *table; /* for functions of bytes */
	float *partial;             /* results of the first pass for the second, two numbers per share */
};

/* Returns -1 if plain_share cannot compute the problem; err has the reason. */
int plain_refuses(const struct problem *p, struct error *err);
/* True if all operands are dense and in one order, so that elements at one index belong together. */
bool plain_takes_order(const struct problem *p);
/* Returns the first element of a concat's source `number`: its sources are one buffer, in order. */
int64_t plain_source_begin(const struct problem *p, int number);
/* Returns the product of dimensions `from` to `to` - 1. */
int64_t plain_volume(const struct problem_shape *s, int from, int to);
/* Returns the first of `total` elements that share i of `count` computes. */
int64_t plain_begin(int64_t total, int i, int count);
/* step: steps of a broadcast operand along each dimension of the destination, in elements. */
void plain_broadcast_steps(const struct problem_shape *from, const struct problem_shape *to, int64_t *step);
/* Number of passes of an execution; each pass runs all shares. */
int plain_passes(const struct problem *p);
/* Computes share i of `count` of a pass; `plain` is a struct plain. The next two are for quantize and
 * dequantize, and for functions of bytes. */
void plain_share(void *plain, int i, int count);
void plain_quantize_share(const struct plain *a, int i, int count);
void plain_cast_share(const struct plain *a, int i, int count);
void plain_table_share(const struct plain *a, int i, int count);

#endif
