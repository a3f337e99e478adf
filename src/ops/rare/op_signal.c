/* Signal operators: DFT, STFT, windows, MelWeightMatrix.
 *
 * A transform of n complex numbers counts as 5 n log2 n operations, one of n real numbers as half of that:
 * the convention with which the authors of FFTW compare FFT programs of any algorithm (Frigo and Johnson, The
 * Design and Implementation of FFTW3, 2005, section III). */
#include "config.h"

#include "ops/rules/op_rules.h"

#include <math.h>

/* Operations of one transform of length n. */
static double transform_flops(double n, bool real)
{
	return n > 1 ? (real ? 2.5 : 5) * n * log2(n) : n * 0;
}

/* Length of a one-sided spectrum: n / 2 + 1. */
static struct dim one_side(struct arena *a, struct dim n)
{
	return dim_add(a, dim_floor_div(a, n, dim_known(2)), dim_known(1));
}

static int size_check(const struct op_call *c, struct dim d, const char *what, struct error *err)
{
	if (d.kind == DIM_KNOWN && d.value < 0)
		return op_fail(c, err, "%s is %lld", what, (long long)d.value);
	return 0;
}

/* ---- DFT */

/* Axis of the transform (an attribute before opset 20); -1 if it is unknown, -2 after an error. The last
 * dimension holds real and imaginary parts and is not a valid axis. */
static int dft_axis(const struct op_call *c, int rank, struct error *err)
{
	struct dim given = op_in(c, 2) ? op_dim_get(c, 2) : dim_known(-2);
	if (c->opset < 20)
		given = dim_known(node_int(c->node, "axis", 1));
	if (given.kind != DIM_KNOWN)
		return -1;
	int axis = op_axis(c, given.value, rank, err);
	if (axis == rank - 1) {
		op_fail(c, err, "axis %lld is that of real and imaginary parts", (long long)given.value);
		return -2;
	}
	return axis < 0 ? -2 : axis;
}

struct dft {
	bool one_sided, inverse;
	struct dim length; /* of the full signal */
};

/* Signal length: the input dft_length, else the size of the axis; 2 (n - 1) for an inverse one-sided DFT. */
static struct dft dft_get(const struct op_call *c, struct dim in)
{
	struct dft dft = { node_int(c->node, "onesided", 0) != 0, node_int(c->node, "inverse", 0) != 0, in };
	if (op_in(c, 1))
		dft.length = op_dim_get(c, 1);
	else if (dft.one_sided && dft.inverse)
		dft.length = dim_mul(c->arena, dim_sub(c->arena, in, dim_known(1)), dim_known(2));
	return dft;
}

static RULE_SHAPE(dft)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank < 0)
		return 0;
	if (x.rank < 2)
		return op_fail(c, err, "a signal of rank %d", x.rank);
	struct dim parts = x.dims[x.rank - 1];
	int axis = dft_axis(c, x.rank, err);
	if (axis == -2)
		return -1;
	struct dft dft = dft_get(c, axis >= 0 ? x.dims[axis] : dim_unknown());
	if (parts.kind == DIM_KNOWN && parts.value != 1 && parts.value != 2)
		return op_fail(c, err, "numbers of %lld parts", (long long)parts.value);
	if (size_check(c, dft.length, "dft_length", err))
		return -1;
	struct shape y = op_shape_copy(c->arena, x);
	for (int i = 0; axis < 0 && i < y.rank; i++)
		y.dims[i] = dim_unknown();
	bool real = dft.one_sided && dft.inverse;
	if (axis >= 0)
		y.dims[axis] = dft.one_sided && !dft.inverse ? one_side(c->arena, dft.length) : dft.length;
	y.dims[y.rank - 1] = dim_known(real ? 1 : 2);
	c->outputs[0].shape = y;
	return 0;
}

static RULE_COST(dft)
{
	struct shape x = c->inputs[0].shape, y = c->outputs[0].shape;
	int axis = x.rank > 1 ? dft_axis(c, x.rank, NULL) : -1;
	double lines = axis >= 0 ? 1 : NAN;
	cost->bytes = op_bytes(&c->inputs[0]) + op_bytes(&c->outputs[0]);
	for (int i = 0; i < x.rank - 1; i++)
		lines *= i == axis ? 1 : op_dim_number(x.dims[i]);
	bool real = x.rank > 1 && (op_dim_number(x.dims[x.rank - 1]) == 1 ||
		op_dim_number(y.dims[x.rank - 1]) == 1);
	double length = axis >= 0 ? op_dim_number(dft_get(c, x.dims[axis]).length) : NAN;
	cost->flops = lines * transform_flops(length, real);
}

/* ---- STFT */

/* Frame length: the input frame_length, else the length of the window, else that of the signal. */
static int stft_length(const struct op_call *c, struct dim *length, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	const struct op_value *window = op_in(c, 2);
	*length = x.rank > 1 ? x.dims[1] : dim_unknown();
	if (window) {
		*length = window->shape.rank == 1 ? window->shape.dims[0] : dim_unknown();
		if (window->shape.rank >= 0 && window->shape.rank != 1)
			return op_fail(c, err, "a window of rank %d", window->shape.rank);
	}
	if (op_in(c, 3)) {
		struct dim given = op_dim_get(c, 3);
		if (window && !op_dim_merge(given, *length, &given))
			return op_fail(c, err, "a window of %lld in frames of %lld", (long long)length->value,
				(long long)given.value);
		*length = given;
	}
	if (length->kind == DIM_KNOWN && length->value < 1)
		return op_fail(c, err, "frames of %lld", (long long)length->value);
	return 0;
}

/* Number of frames: floor((signal - frame) / step) + 1. */
static int stft_frames(
	const struct op_call *c, struct dim signal, struct dim frame, struct dim *frames, struct error *err)
{
	struct dim step = op_dim_get(c, 1), rest = dim_sub(c->arena, signal, frame);
	*frames = dim_unknown();
	if (step.kind == DIM_KNOWN && step.value < 1)
		return op_fail(c, err, "frame_step is %lld", (long long)step.value);
	if (rest.kind == DIM_KNOWN && rest.value < 0)
		return op_fail(c, err, "frames of %lld in a signal of %lld", (long long)frame.value,
			(long long)signal.value);
	if (step.kind == DIM_KNOWN)
		*frames =
			dim_add(c->arena, dim_floor_div(c->arena, rest, dim_known(step.value)), dim_known(1));
	return 0;
}

/* The signal is batch x length x (1 or 2); old exporters omit the last dimension for real signals. */
static RULE_SHAPE(stft)
{
	struct shape x = c->inputs[0].shape;
	struct dim length;
	if (x.rank >= 0 && x.rank != 3 && x.rank != 2)
		return op_fail(c, err, "a signal of rank %d", x.rank);
	struct shape y = shape_make(c->arena, 4);
	if (stft_length(c, &length, err) ||
		stft_frames(c, x.rank > 1 ? x.dims[1] : dim_unknown(), length, &y.dims[1], err))
		return -1;
	if (x.rank > 0)
		y.dims[0] = x.dims[0];
	y.dims[2] = node_int(c->node, "onesided", 1) ? one_side(c->arena, length) : length;
	y.dims[3] = dim_known(2);
	c->outputs[0].shape = y;
	return 0;
}

/* Each frame is multiplied by the window, if there is one, and transformed. */
static RULE_COST(stft)
{
	struct shape x = c->inputs[0].shape, y = c->outputs[0].shape;
	struct dim length;
	cost->flops = NAN;
	cost->bytes = op_bytes_all(c);
	if (y.rank != 4 || x.rank < 2 || stft_length(c, &length, NULL))
		return;
	double parts = x.rank == 3 ? op_dim_number(x.dims[2]) : 1, n = op_dim_number(length);
	double each = transform_flops(n, parts == 1) + (op_in(c, 2) ? n * parts : 0);
	cost->flops = op_dim_number(y.dims[0]) * op_dim_number(y.dims[1]) * each;
}

/* ---- windows, MelWeightMatrix */

static void type_set(struct op_call *c)
{
	c->outputs[0].dtype = op_dtype_get(c, "output_datatype", DTYPE_F32);
}

static RULE_SHAPE(window)
{
	struct dim size = op_dim_get(c, 0);
	type_set(c);
	if (size_check(c, size, "the size", err))
		return -1;
	c->outputs[0].shape = shape_make(c->arena, 1);
	c->outputs[0].shape.dims[0] = size;
	return 0;
}

/* One operation per element; only the output is written. */
static RULE_COST(window)
{
	cost->flops = op_count(&c->outputs[0]);
	cost->bytes = op_bytes(&c->outputs[0]);
}

static RULE_SHAPE(mel)
{
	struct dim bins = op_dim_get(c, 0), length = op_dim_get(c, 1);
	type_set(c);
	if (size_check(c, bins, "num_mel_bins", err) || size_check(c, length, "dft_length", err))
		return -1;
	c->outputs[0].shape = shape_make(c->arena, 2);
	c->outputs[0].shape.dims[0] = one_side(c->arena, length);
	c->outputs[0].shape.dims[1] = bins;
	return 0;
}

/* ---- operator table */

static const struct op rows[] = {
	{ "DFT", "", 17, 19, 1, 2, CLASS_MEMORY, dft_shape, dft_cost, op_problem_mover, NULL, OP_COPY },
	{ "DFT", "", 20, 0, 1, 3, CLASS_MEMORY, dft_shape, dft_cost, op_problem_mover, NULL, OP_COPY },
	{ "STFT", "", 17, 0, 2, 4, CLASS_MEMORY, stft_shape, stft_cost, op_problem_mover, NULL, OP_COPY },
	{ "HannWindow", "", 17, 0, 1, 1, CLASS_MEMORY, window_shape, window_cost, op_problem_mover, NULL,
		OP_COPY },
	{ "HammingWindow", "", 17, 0, 1, 1, CLASS_MEMORY, window_shape, window_cost, op_problem_mover, NULL,
		OP_COPY },
	{ "BlackmanWindow", "", 17, 0, 1, 1, CLASS_MEMORY, window_shape, window_cost, op_problem_mover, NULL,
		OP_COPY },
	{ "MelWeightMatrix", "", 17, 0, 5, 5, CLASS_MEMORY, mel_shape, window_cost, op_problem_mover, NULL,
		OP_COPY },
};
const struct op_rows op_signal_rows = OP_ROWS(rows);
