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

/* The reference of one element, in double; a and b: the parameters of the mode. */
double check_eltwise(enum mode m, double a, double b, double x);
double check_binary(enum mode m, double x, double y);

/* Factor on the tolerance of a sum of n positive values, which a library may add sequentially in f32:
 * their rounding errors do not cancel. Sums of up to `from` values need none. */
static inline double check_positive_slack(int64_t n, double from)
{
	return fmax(1, (double)n / from);
}

/* How outputs of a kernel are verified. */
struct check_row {
	enum kernel kernel;
	/* The value of output `index`; NULL: none, `accepts` judges. */
	struct check_sum (*reference)(const struct problem *p, struct check_inputs *in, int64_t index);
	/* As check_accepts; NULL: one right answer. */
	bool (*accepts)(const struct problem *p, struct check_inputs *in, int64_t index, double got,
		double slack, bool *known);
	/* Terms of the reference of one of `outputs` outputs; NULL: its multiply-adds. */
	double (*terms)(const struct problem *p, double outputs);
	/* As check_sample; NULL: anywhere. */
	int64_t (*sample)(const struct problem *p, int64_t total, int64_t count, int64_t i);
};

struct check_rows {
	int count;
	const struct check_row *rows;
};
#define CHECK_ROWS(rows) { sizeof(rows) / sizeof((rows)[0]), rows }
extern const struct check_rows check_integers_rows, check_move_rows, check_norm_rows, check_plain_rows,
	check_sequence_rows, check_space_rows;

/* One index from each of `count` equal parts of `total`. */
int64_t check_spread(int64_t total, int64_t count, int64_t i);
/* Twice the elements of shape 0 from dimension `from` on. */
double check_row_terms(const struct problem *p, int from);

#endif
