/* Convolutions: Conv, ConvTranspose, DeformConv; and Col2Im, which adds up blocks. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "ops/onnx/op_window.h"

#include <math.h>

/* Shape of the weights; SHAPE_UNKNOWN if the input is missing. */
static struct shape conv_weights(const struct op_call *c)
{
	const struct op_value *w = op_in(c, 1);
	return w ? w->shape : SHAPE_UNKNOWN;
}

/* Rank of the input, or of the weights if it is unknown; -1 unknown. An error if there is no spatial
 * dimension. */
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

/* 2 * output elements * channels of a group * kernel (without the gaps of a dilated kernel), 1 more per
 * element for a bias. */
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

/* Starts the problem of a convolution or transposed convolution; NULL: `why` is set. */
static struct problem *conv_start(const struct op_call *c, enum kernel kernel, struct window *w,
	struct op_problem *out)
{
	struct error err;
	int64_t group;
	if (conv_group(c, &group, &err) || window_get(c, c->inputs[0].shape.rank - 2,
		conv_weights(c), w, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return NULL;
	}
	struct problem *p = window_pictures(c, kernel, MODE_NONE, out);
	if (!p || !window_problem(c, w, out))
		return NULL;
	p->operand[1] = op_operand(&c->inputs[1]);
	p->operand[2] = op_operand(&c->outputs[0]);
	p->accumulator = op_accumulator(c->outputs[0].dtype);
	p->g = group;
	if (op_in(c, 2)) {
		p->epilogue_count = 1;
		p->epilogue[0] =
			(struct epilogue){ .kind = EPILOGUE_BIAS, .operand = op_operand(op_in(c, 2)) };
	}
	return p;
}

RULE_PROBLEM(op_conv)
{
	struct window window;
	struct problem *p = op_problem_ready(c, out) ? conv_start(c, KERNEL_CONV, &window, out) : NULL;
	if (p)
		p->k = conv_weights(c).dims[0].value;
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

/* output_shape (spatial dimensions; all of them from some exporters) and output_padding, or NULL if
 * absent. */
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

/* Each input element is multiplied with the kernel of every output channel of its group. */
RULE_COST(op_deconv)
{
	conv_cost(c, op_in(c, 0), 1, cost);
}

/* Pads along axis i (`at` in the problem): as given, or those that give the required output size, with the
 * odd one at the end for SAME_UPPER, else at the beginning. Output pads add what the input does not reach. */
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
		op_problem_why(problem, "the output is larger than the transposed convolution's");
		return false;
	}
	return true;
}

RULE_PROBLEM(op_deconv)
{
	struct window window;
	struct error err;
	const int64_t *sizes, *extra;
	if (!op_problem_ready(c, out))
		return;
	struct shape y = c->outputs[0].shape;
	if (deconv_list(c, "output_shape", y.rank - 2, &sizes, &err) ||
		deconv_list(c, "output_padding", y.rank - 2, &extra, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	struct problem *p = conv_start(c, KERNEL_DECONV, &window, out);
	if (!p)
		return;
	p->k = y.dims[1].value;
	for (int i = 0; i < window.spatial; i++) {
		if (!deconv_pads(&window, i, y.dims[2 + i].value, extra ? extra[i] : 0, sizes != NULL, out))
			return;
	}
}

/* ---- DeformConv */

/* The plain convolution: the same attributes, inputs X, W and B without offsets and mask. `inputs` has room
 * for three. */
static struct op_call plain_conv(const struct op_call *c, struct op_value *inputs)
{
	struct op_call plain = *c;
	inputs[0] = c->inputs[0];
	inputs[1] = c->inputs[1];
	inputs[2] = op_in(c, 3) ? *op_in(c, 3) : (struct op_value){ .present = false };
	plain.inputs = inputs;
	plain.input_count = 3;
	return plain;
}

/* Offsets are N, 2 * groups * kernel, output space; they may tell the output size if the input does not. */
static RULE_SHAPE(deform_conv)
{
	struct op_value inputs[3];
	struct op_call plain = plain_conv(c, inputs);
	struct shape offset = c->inputs[2].shape;
	if (op_conv_shape(&plain, err))
		return -1;
	struct shape y = c->outputs[0].shape;
	if (y.rank < 0 || offset.rank < 0)
		return 0;
	bool agree = offset.rank == y.rank && op_dim_merge(y.dims[0], offset.dims[0], &y.dims[0]);
	for (int i = 2; agree && i < y.rank; i++)
		agree = op_dim_merge(y.dims[i], offset.dims[i], &y.dims[i]);
	if (!agree)
		return op_fail(c, err, "offsets of shape %s for an output of shape %s",
			shape_text(c->arena, offset), shape_text(c->arena, y));
	return 0;
}

/* The convolution, plus interpolation of each value it reads: per spatial axis 2 multiply-adds, and 1
 * operation for the mask. Values read: input channels times kernel for each output position. */
static RULE_COST(deform_conv)
{
	struct op_value inputs[3];
	struct op_call plain = plain_conv(c, inputs);
	struct shape x = c->inputs[0].shape, w = c->inputs[1].shape, y = c->outputs[0].shape;
	op_conv_cost(&plain, cost);
	double taken = 1, each = op_in(c, 4) ? 1 : 0, neighbours = 2;
	for (int i = 0; i < y.rank; i++) {
		taken *= i == 1 || y.dims[i].kind != DIM_KNOWN ? 1 : (double)y.dims[i].value;
		taken *= i < 2 || w.rank <= i || w.dims[i].kind != DIM_KNOWN ? 1 : (double)w.dims[i].value;
		neighbours *= i < 2 ? 1 : 2;
	}
	taken *= x.rank > 1 && x.dims[1].kind == DIM_KNOWN ? (double)x.dims[1].value : NAN;
	cost->flops += taken * (each + neighbours);
	cost->bytes = op_bytes_all(c);
}

static RULE_PROBLEM(deform_conv)
{
	struct op_value inputs[3];
	struct op_call plain = plain_conv(c, inputs);
	op_conv_problem(&plain, out);
	out->proxy = out->known;
}

/* ---- Col2Im */

/* Product of a list; unknown if an element is. */
static struct dim list_product(struct arena *a, const struct op_list *l)
{
	struct dim product = l->state == OP_LIST_KNOWN ? dim_known(1) : dim_unknown();
	for (int i = 0; l->state == OP_LIST_KNOWN && i < l->count; i++)
		product = dim_mul(a, product, l->at[i]);
	return product;
}

/* Number of blocks that fit the image: unknown, or -1 with an error. */
static int block_count(const struct op_call *c, const struct op_list *image, const struct op_list *block,
	struct dim *count, struct error *err)
{
	struct window window;
	*count = dim_known(1);
	if (window_get(c, image->count, SHAPE_UNKNOWN, &window, err))
		return -1;
	for (int i = 0; i < image->count; i++) {
		struct dim out;
		window.kernel[i] = block->at[i];
		if (block->at[i].kind == DIM_KNOWN &&
			(block->at[i].value < 1 || block->at[i].value > INT32_MAX))
			return op_fail(c, err, "a block of %lld", (long long)block->at[i].value);
		if (window_out(c, &window, i, image->at[i], &out, err))
			return -1;
		*count = dim_mul(c->arena, *count, out);
	}
	return 0;
}

/* Channels of the image: input channels divided by the elements of a block. */
static int col2im_channels(
	const struct op_call *c, const struct op_list *block, struct dim *channels, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	struct dim size = list_product(c->arena, block);
	*channels = dim_unknown();
	if (x.rank < 0 || size.kind != DIM_KNOWN)
		return 0;
	bool wrong = size.value < 1 || (x.dims[1].kind == DIM_KNOWN && x.dims[1].value % size.value);
	if (wrong)
		return op_fail(c, err, "%s channels are not a multiple of a block's elements",
			shape_text(c->arena, (struct shape){ 1, &x.dims[1] }));
	*channels = dim_div(c->arena, x.dims[1], size);
	return 0;
}

static RULE_SHAPE(col2im)
{
	struct shape x = c->inputs[0].shape;
	struct op_list image = op_list_get(c, NULL, 1), block = op_list_get(c, NULL, 2);
	int space = image.count >= 0 ? image.count : block.count;
	if (x.rank >= 0 && x.rank != 3)
		return op_fail(c, err, "an input of shape %s, not batch x channels x blocks",
			shape_text(c->arena, x));
	if (space < 0 || space > OP_RANK_MAX - 2)
		return 0;
	if (block.count >= 0 && block.count != space)
		return op_fail(c, err, "a block of %d dimensions in a picture of %d", block.count, space);
	struct shape y = shape_make(c->arena, space + 2);
	struct dim blocks = dim_unknown();
	if (x.rank >= 0)
		y.dims[0] = x.dims[0];
	if (col2im_channels(c, &block, &y.dims[1], err) || op_list_sizes(c, &image, err))
		return -1;
	for (int i = 0; i < space && image.state == OP_LIST_KNOWN; i++)
		y.dims[2 + i] = image.at[i];
	if (image.state == OP_LIST_KNOWN && block.state == OP_LIST_KNOWN &&
		block_count(c, &image, &block, &blocks, err))
		return -1;
	if (x.rank >= 0 && dim_differs(x.dims[2], blocks))
		return op_fail(c, err, "%lld blocks where %lld fit", (long long)x.dims[2].value,
			(long long)blocks.value);
	c->outputs[0].shape = y;
	return 0;
}

/* One addition per block element. */
static RULE_COST(col2im)
{
	cost->flops = op_count(&c->inputs[0]);
	cost->bytes = op_bytes(&c->inputs[0]) + op_bytes(&c->outputs[0]);
}

static const struct op rows[] = {
	{ "Conv", "", 1, 0, 2, 3, CLASS_COMPUTE, op_conv_shape, op_conv_cost, op_conv_problem,
		.quant = QUANT_PRODUCT },
	{ "ConvTranspose", "", 1, 0, 2, 3, CLASS_COMPUTE, op_deconv_shape, op_deconv_cost, op_deconv_problem,
		.quant = QUANT_PRODUCT },
	{ "DeformConv", "", 19, 0, 3, 5, CLASS_COMPUTE, deform_conv_shape, deform_conv_cost,
		deform_conv_problem, NULL, "measured as the convolution alone (proxy)" },
	{ "Col2Im", "", 18, 0, 3, 3, CLASS_MEMORY, col2im_shape, col2im_cost, op_problem_mover, NULL,
		OP_COPY },
};
const struct op_rows op_conv_rows = OP_ROWS(rows);
