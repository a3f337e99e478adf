/* Reference values: a problem's outputs, computed one at a time in plain C and double precision. They
 * check the libraries' results and how problems are passed to them. Simple rather than fast. */
#ifndef RUNNER_CHECK_H
#define RUNNER_CHECK_H

#include "problem/problem.h"

/* Operand of a value. Normalizations have one scale, shift, mean and variance per channel; layernorm and
 * rmsnorm one scale and shift per normalized element; quantize and dequantize the scales of
 * problem_scale_shape and the zero points of integers.h; a matmul whose weights are in blocks scales and zero
 * points (CHECK_SHIFT), problem_weight_blocks rows of one per column. */
enum check_role {
	CHECK_SOURCE,
	CHECK_WEIGHTS,
	CHECK_EPILOGUE,
	CHECK_SCALE,
	CHECK_SHIFT,
	CHECK_MEAN,
	CHECK_VARIANCE
};

/* The inputs, read one value at a time, so that they need not be stored. */
struct check_inputs {
	/* Returns the value as it is in memory, rounded to the operand's type. `number`: which source
	 * (conv, deconv, rnn and all of one source: 0; matmul: a is source 0, b is the weights; binary: a,
	 * b; concat: all; attention: q, k, v, mask; select: condition, a, b; gather: source, indices) or
	 * which epilogue, else 0. `index` is logical: row-major in the operand's shape, however it lies in
	 * memory; conv and deconv have the shapes of ONNX. */
	double (*value)(void *state, enum check_role role, int number, int64_t index);
	void *state;
	double epsilon;           /* normalizations */
	struct check_memo *memo;  /* NULL at first; check_forget frees it */
};
void check_forget(struct check_inputs *in);

/* Computes the output at `index` (row-major in the destination's shape), and in *scale the sum of the
 * absolute values of its terms, to which errors are relative. Not rounded to the destination's type:
 * integer_error compares it with integers. False: this kernel or mode has no reference, or needs
 * check_accepts. The result of an argreduce is an index, the first of equal values.
 *
 * attention: softmax(q k' / sqrt(head_size)) v; if q has more heads than k and v, neighbouring heads of q
 * share one. causal: query i sees the keys up to i + key_length - query_length. masked: the mask is added to
 * the scores.
 *
 * rnn: initial states are zero. The block of weights holds, for each direction, w [gate][hidden][input] and
 * then r [gate][hidden][hidden]; after those of all directions, for each direction, bw [gate][hidden] and
 * then br [gate][hidden]. Gates have cuDNN's order and definitions:
 *   lstm  i f g o: c = f c + i g, h = o tanh(c); i, f, o sigmoid, g tanh of w x + bw + r h + br
 *   rnn_relu, rnn_tanh  one gate: h = relu or tanh of w x + bw + r h + br
 *   gru   r z n: h = (1 - z) n + z h; r, z sigmoid, n = tanh(w x + bw + r (r_n h + br_n)), ONNX's
 *         linear_before_reset 1
 * The second direction goes from the last step to the first.
 *
 * resample: half-pixel coordinates; nearest rounds halves down; cubic has a = -0.75; outside the input the
 * edge value is used.
 *
 * layernorm, instancenorm, groupnorm: the variance is the mean of the squared differences from the mean. */
bool check_output(
	const struct problem *p, struct check_inputs *in, int64_t index, double *value, double *scale);

/* True if `got` is right at output `index` of a kernel with several right answers: argreduce (index of any
 * value equal to the extreme), topk's second output (index of any value equal to the right one), dropout
 * (0 or the scaled value), a cast to an integer type (ONNX truncates, libraries round). `slack`: relative
 * tolerance of floating-point values. *known false: the kernel has one right answer, call check_output. */
bool check_accepts(const struct problem *p, struct check_inputs *in, int64_t index, double got, double slack,
	bool *known);

/* Nearest resample: true if `got` is one of the nearest elements, where distances that differ by f32
 * rounding are equal. `slack` is relative. */
bool check_is_nearest(
	const struct problem *p, struct check_inputs *in, int64_t index, double got, double slack);

/* Returns the output index of comparison i of `count`: one random index from each of `count` parts of the
 * destination's `total` elements, with the first and the last. For an rnn, which is computed per sequence,
 * from few sequences, to limit the cost. */
int64_t check_sample(const struct problem *p, int64_t total, int64_t count, int64_t i);

/* About how many terms the reference of one of `outputs` outputs has: what check_output costs. */
double check_terms(const struct problem *p, double outputs);

#endif
