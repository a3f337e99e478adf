/* Shared by check*.c: sums with the scale of their terms, coordinates, references per kernel. */
#ifndef RUNNER_CHECK_PRIVATE_H
#define RUNNER_CHECK_PRIVATE_H

#include <math.h>

#include "runner/verify/check.h"

struct check_sum {
	double value, scale;
};

static inline void check_add(struct check_sum *s, double term)
{
	s->value += term;
	s->scale += fabs(term);
}

static inline struct check_sum check_moved(double value)
{
	return (struct check_sum){ value, fabs(value) };
}

static inline double check_at(const struct check_inputs *in, enum check_role role, int number, int64_t index)
{
	return in->value(in->state, role, number, index);
}

static inline double check_source(const struct check_inputs *in, int64_t index)
{
	return check_at(in, CHECK_SOURCE, 0, index);
}

/* Coordinates of a row-major index, and the reverse. */
void check_unravel(const struct problem_shape *s, int64_t index, int64_t *at);
int64_t check_ravel(const struct problem_shape *s, const int64_t *at);
/* Index in a shape of lower or equal rank that is broadcast to coordinates `at`. */
int64_t check_ravel_broadcast(const struct problem_shape *s, const int64_t *at, int rank);
/* Product of the dimensions from `from` to `until` - 1. */
int64_t check_volume(const struct problem_shape *s, int from, int until);
/* Channel (dimension 1) of an element; *inner: elements per channel. */
int64_t check_channel(const struct problem_shape *s, int64_t index, int64_t *inner);
/* A line of elements along an axis: index of its first element, step, number of elements. */
struct check_line {
	int64_t begin, step, size, place; /* place: position of the element in the line */
};
struct check_line check_line_of(const struct problem_shape *s, int axis, int64_t index);
/* Spatial tensors as n, c and d h w; missing dimensions are 0. */
void check_space_unravel(const struct problem_shape *s, int64_t index, int64_t *nc, int64_t *dhw);
int64_t check_extent(const struct problem *p, const int64_t *v, int i);
int64_t check_space_index(const struct problem *p, int64_t plane, const int64_t *dhw);

/* Values computed once for many outputs. */
struct check_memo {
	/* rnn: outputs of one sequence (batch index and direction), weights of one direction */
	int64_t n, direction;      /* of `output`; -1: none */
	int64_t weights_direction;
	double *w, *r, *bw, *br;
	double *output;            /* [step][hidden] */
	/* dynamic quantization */
	bool has_range;
	double low, high;
};
struct check_memo *check_memo_of(struct check_inputs *in);

double check_eltwise(enum mode m, double a, double b, double x);
double check_binary(enum mode m, double x, double y);

/* Factor on the tolerance of a sum of n positive values, which a library may add sequentially in f32:
 * their rounding errors do not cancel. Sums of up to `from` values need none. */
static inline double check_positive_slack(int64_t n, double from)
{
	return fmax(1, (double)n / from);
}

typedef struct check_sum check_reference(const struct problem *p, struct check_inputs *in, int64_t index);
check_reference check_conv, check_deconv, check_pool, check_matmul, check_resample;
check_reference check_softmax, check_layernorm, check_rmsnorm, check_instancenorm, check_batchnorm, check_lrn, check_reduce;
check_reference check_attention, check_rnn;
check_reference check_quantize, check_dequantize;
check_reference check_concat, check_transpose, check_gather, check_select, check_topk, check_argreduce, check_scan;

#endif
