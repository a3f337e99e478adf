#include "config.h"

#include "ops/op_rules.h"

#include "ops/op_window.h"

#include <math.h>

/* Weights are optional only for the caller's convenience: SHAPE_UNKNOWN when nothing is known of them. */
static struct shape conv_weights(const struct op_call *c)
{
	const struct op_value *w = op_in(c, 1);
	return w ? w->shape : SHAPE_UNKNOWN;
}

/* Rank of the input, from the weights where the input does not say; -1 unknown. Error when it has no space.
 */
static int conv_rank(const struct op_call *c, int *rank, struct error *err)
{
	struct shape x = c->inputs[0].shape, w = conv_weights(c);
	*rank = x.rank >= 0 ? x.rank : w.rank;
	if (*rank >= 0 && *rank < 3)
		return op_fail(c, err, "an input of %d dimensions has no space", *rank);
	return 0;
}

static int conv_group(const struct op_call *c, int64_t *group, struct error *err)
{
	*group = node_int(c->node, "group", 1);
	if (*group < 1 || *group > INT32_MAX)
		return op_fail(c, err, "group is %lld", (long long)*group);
	return 0;
}

static struct dim conv_channels(struct shape x)
{
	return x.rank > 1 ? x.dims[1] : dim_unknown();
}

RULE_SHAPE(op_conv)
{
	struct shape x = c->inputs[0].shape, w = conv_weights(c);
	struct window window;
	int rank;
	int64_t group;
	if (conv_rank(c, &rank, err) || conv_group(c, &group, err))
		return -1;
	if (rank < 0)
		return 0;
	if (window_get(c, rank - 2, w, &window, err))
		return -1;
	struct shape y = shape_make(c->arena, rank);
	if (x.rank >= 0)
		y.dims[0] = x.dims[0];
	if (w.rank >= 0) {
		y.dims[1] = w.dims[0];
		if (dim_differs(conv_channels(x), dim_mul(c->arena, w.dims[1], dim_known(group))))
			return op_fail(c, err, "%lld input channels, but weights of shape %s in %lld groups",
				(long long)x.dims[1].value, shape_text(c->arena, w), (long long)group);
		if (w.dims[0].kind == DIM_KNOWN && w.dims[0].value % group)
			return op_fail(c, err, "%lld output channels in %lld groups",
				(long long)w.dims[0].value, (long long)group);
	}
	for (int i = 0; i < rank - 2; i++) {
		struct dim in = x.rank >= 0 ? x.dims[2 + i] : dim_unknown();
		if (window_out(c, &window, i, in, &y.dims[2 + i], err))
			return -1;
	}
	c->outputs[0].shape = y;
	return 0;
}

/* 2 * elements * channels of a group * kernel, holes of a dilated kernel not counted; the bias one more. */
static void conv_cost(
	const struct op_call *c, const struct op_value *driver, int channel_axis, struct op_cost *cost)
{
	struct shape w = conv_weights(c);
	double each = w.rank > channel_axis && w.dims[channel_axis].kind == DIM_KNOWN
			      ? (double)w.dims[channel_axis].value
			      : NAN;
	for (int i = 2; i < w.rank; i++)
		each *= w.dims[i].kind == DIM_KNOWN ? (double)w.dims[i].value : NAN;
	cost->flops = 2 * op_count(driver) * each;
	if (op_in(c, 2))
		cost->flops += op_count(op_out(c, 0));
	cost->bytes = op_bytes_all(c);
}

RULE_COST(op_conv)
{
	conv_cost(c, op_out(c, 0), 1, cost);
}

/* What convolutions and transposed ones share. */
static void conv_operands(const struct op_call *c, struct problem *p)
{
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->inputs[1]);
	p->operand[2] = op_operand(&c->outputs[0]);
	p->accumulator = op_accumulator(c->outputs[0].dtype);
	p->n = c->inputs[0].shape.dims[0].value;
	p->c = c->inputs[0].shape.dims[1].value;
	if (op_in(c, 2)) {
		p->epilogue_count = 1;
		p->epilogue[0] =
			(struct epilogue){ .kind = EPILOGUE_BIAS, .operand = op_operand(op_in(c, 2)) };
	}
}

RULE_PROBLEM(op_conv)
{
	struct window window;
	struct error err;
	int64_t group;
	if (!op_problem_ready(c, out))
		return;
	struct shape x = c->inputs[0].shape, w = conv_weights(c), y = c->outputs[0].shape;
	if (conv_group(c, &group, &err) || window_get(c, x.rank - 2, w, &window, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	struct problem *p = op_problem_start(out, KERNEL_CONV, MODE_NONE);
	if (!window_problem(&window, x, y, out))
		return;
	conv_operands(c, p);
	p->k = w.dims[0].value;
	p->g = group;
}

/* Output size along one axis of a transposed convolution. */
static struct dim deconv_out(
	const struct op_call *c, const struct window *w, int i, struct dim in, int64_t extra)
{
	struct arena *a = c->arena;
	if (w->auto_pad == WINDOW_SAME_UPPER || w->auto_pad == WINDOW_SAME_LOWER)
		return dim_mul(a, in, dim_known(w->stride[i]));
	struct dim reach = dim_mul(a, dim_sub(a, w->kernel[i], dim_known(1)), dim_known(w->dilation[i]));
	struct dim steps = dim_mul(a, dim_sub(a, in, dim_known(1)), dim_known(w->stride[i]));
	return dim_add(a, dim_add(a, steps, reach), dim_known(1 + extra - w->pad_begin[i] - w->pad_end[i]));
}

/* output_shape (space only, or all dimensions in some exporters) and output_padding: what is there, else
 * NULL. */
static int deconv_list(
	const struct op_call *c, const char *name, int n, const int64_t **list, struct error *err)
{
	const struct attribute *a = node_attribute(c->node, name);
	*list = NULL;
	if (!a || a->kind != ATTRIBUTE_INTS || a->count == 0)
		return 0;
	if (a->count < (size_t)n)
		return op_fail(c, err, "%s must have %d numbers", name, n);
	*list = a->ints + (a->count - (size_t)n);
	for (int i = 0; i < n; i++) {
		if ((*list)[i] < 0 || (*list)[i] > INT32_MAX)
			return op_fail(c, err, "%s is out of range", name);
	}
	return 0;
}

RULE_SHAPE(op_deconv)
{
	struct shape x = c->inputs[0].shape, w = conv_weights(c);
	struct window window;
	const int64_t *sizes, *extra;
	int rank;
	int64_t group;
	if (conv_rank(c, &rank, err) || conv_group(c, &group, err))
		return -1;
	if (rank < 0)
		return 0;
	if (window_get(c, rank - 2, w, &window, err) ||
		deconv_list(c, "output_shape", rank - 2, &sizes, err) ||
		deconv_list(c, "output_padding", rank - 2, &extra, err))
		return -1;
	if (w.rank >= 0 && dim_differs(conv_channels(x), w.dims[0]))
		return op_fail(c, err, "%lld input channels, but weights of shape %s",
			(long long)x.dims[1].value, shape_text(c->arena, w));
	struct shape y = shape_make(c->arena, rank);
	if (x.rank >= 0)
		y.dims[0] = x.dims[0];
	if (w.rank >= 0)
		y.dims[1] = dim_mul(c->arena, w.dims[1], dim_known(group));
	for (int i = 0; i < rank - 2; i++) {
		struct dim in = x.rank >= 0 ? x.dims[2 + i] : dim_unknown();
		y.dims[2 + i] =
			sizes ? dim_known(sizes[i]) : deconv_out(c, &window, i, in, extra ? extra[i] : 0);
		if (y.dims[2 + i].kind == DIM_KNOWN && y.dims[2 + i].value < 1)
			return op_fail(c, err, "the pads leave no output");
	}
	c->outputs[0].shape = y;
	return 0;
}

/* Each input element meets the kernel of every output channel of its group. */
RULE_COST(op_deconv)
{
	conv_cost(c, op_in(c, 0), 1, cost);
}

/* Pads along axis i (`at` in the problem): as given, or what makes the output the wanted size, the odd one behind for
 * SAME_UPPER, else in front. A size that the input does not reach is made up by output pads. */
static bool deconv_pads(
	const struct window *w, int i, int64_t out, int64_t extra, bool sized, struct op_problem *problem)
{
	struct problem *p = &problem->problem;
	int at = 3 - w->spatial + i;
	int64_t reach = (w->kernel[i].value - 1) * w->dilation[i] + 1;
	int64_t total = (p->in[at] - 1) * w->stride[i] + reach + extra - out;
	bool same = w->auto_pad == WINDOW_SAME_UPPER || w->auto_pad == WINDOW_SAME_LOWER;
	p->out_pad[at] = extra;
	p->pad_begin[at] = w->pad_begin[i];
	p->pad_end[at] = w->pad_end[i];
	if (sized || same) {
		p->out_pad[at] += total < 0 ? -total : 0;
		total = total < 0 ? 0 : total;
		p->pad_begin[at] = w->auto_pad == WINDOW_SAME_UPPER ? total / 2 : total - total / 2;
		p->pad_end[at] = total - p->pad_begin[at];
	}
	if (p->out_pad[at] >= (p->stride[at] > p->dilation[at] ? p->stride[at] : p->dilation[at])) {
		op_problem_why(problem, "the output is larger than the transposed convolution reaches");
		return false;
	}
	return true;
}

RULE_PROBLEM(op_deconv)
{
	struct window window;
	struct error err;
	const int64_t *sizes, *extra;
	int64_t group;
	if (!op_problem_ready(c, out))
		return;
	struct shape x = c->inputs[0].shape, w = conv_weights(c), y = c->outputs[0].shape;
	if (conv_group(c, &group, &err) || window_get(c, x.rank - 2, w, &window, &err) ||
		deconv_list(c, "output_shape", x.rank - 2, &sizes, &err) ||
		deconv_list(c, "output_padding", x.rank - 2, &extra, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	struct problem *p = op_problem_start(out, KERNEL_DECONV, MODE_NONE);
	if (!window_problem(&window, x, y, out))
		return;
	conv_operands(c, p);
	p->k = y.dims[1].value;
	p->g = group;
	for (int i = 0; i < window.spatial; i++) {
		if (!deconv_pads(&window, i, y.dims[2 + i].value, extra ? extra[i] : 0, sizes != NULL, out))
			return;
	}
}
