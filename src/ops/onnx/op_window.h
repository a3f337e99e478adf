/* Sliding windows, shared by convolutions and poolings. Private to the room. */
#ifndef OPS_ONNX_OP_WINDOW_H
#define OPS_ONNX_OP_WINDOW_H

#include "ops/rules/op_rules.h"

enum window_auto { WINDOW_EXPLICIT, WINDOW_SAME_UPPER, WINDOW_SAME_LOWER, WINDOW_VALID };

/* Parameters per spatial axis, in the order of the tensor. */
struct window {
	int spatial;
	enum window_auto auto_pad;
	struct dim kernel[OP_RANK_MAX]; /* unknown if neither kernel_shape nor the weights give it */
	int64_t stride[OP_RANK_MAX], dilation[OP_RANK_MAX], pad_begin[OP_RANK_MAX], pad_end[OP_RANK_MAX];
	bool ceil; /* ceil_mode of poolings */
	bool pool; /* set by poolings: a window may be wider than the padded input */
};

/* Reads kernel_shape, strides, dilations, pads, auto_pad, ceil_mode. weights: their dimensions from 2 on are
 * the kernel if kernel_shape is absent (and must agree with it otherwise); SHAPE_UNKNOWN: none. -1: a list
 * has the wrong length or values out of range. */
int window_get(
	const struct op_call *c, int spatial, struct shape weights, struct window *w, struct error *err);
/* Output size along axis i; unknown if it cannot be expressed. -1: the kernel is larger than the padded
 * input, of a pooling by so much that the formula gives less than 0. */
int window_out(const struct op_call *c, const struct window *w, int i, struct dim in, struct dim *out,
	struct error *err);
/* Elements of one kernel; NaN = unknown. */
double window_volume(const struct window *w);
/* Starts a problem from input 0 to output 0, both of known shapes with batch, channels and space. NULL, with
 * `why` set: there are not 1 to 3 spatial dimensions. */
struct problem *window_pictures(
	const struct op_call *c, enum kernel kernel, enum mode mode, struct op_problem *out);
/* Fills kernel_size, pads, stride and dilation of such a problem, pads resolved so that the floor formula
 * gives exactly output 0. False: `why` is set. */
bool window_problem(const struct op_call *c, const struct window *w, struct op_problem *out);
/* A resample problem for inputs with batch, channels and space. */
void window_resample(const struct op_call *c, enum mode mode, struct op_problem *out);

#endif
