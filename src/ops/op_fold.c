/* Relatives of convolution and pooling: DeformConv, Col2Im, MaxUnpool. */
#include "config.h"

#include "ops/op_rules.h"

#include "ops/op_window.h"

#include <math.h>

/* ---- DeformConv */

/* The convolution without what moves its places: the same attributes, inputs X, W and B. `inputs` has room
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

/* Offsets are N, 2 * groups * kernel, output space: what one says of the output the other need not. */
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

/* The convolution, and each value that it takes made of neighbours first: 2 along an axis of space, a
 * multiply-add each, and one operation for the mask. Values taken: input channels times kernel for each place
 * of the output. */
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

/* Product of a list's numbers: unknown where one is. */
static struct dim list_product(struct arena *a, const struct op_list *l)
{
	struct dim product = l->state == OP_LIST_KNOWN ? dim_known(1) : dim_unknown();
	for (int i = 0; l->state == OP_LIST_KNOWN && i < l->count; i++)
		product = dim_mul(a, product, l->at[i]);
	return product;
}

/* How many blocks of the window fit the picture: unknown, or -1 with an error. */
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

/* The picture has the channels that are left when the block's elements are taken out of them. */
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
		return op_fail(c, err, "%s channels are no multiple of a block's elements",
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

/* Every element of the blocks is added. */
static RULE_COST(col2im)
{
	cost->flops = op_count(&c->inputs[0]);
	cost->bytes = op_bytes(&c->inputs[0]) + op_bytes(&c->outputs[0]);
}

/* ---- MaxUnpool */

/* The pooling's formula backwards, without the rest that its division dropped. */
static int unpool_space(struct op_call *c, struct shape x, struct shape y, struct error *err)
{
	struct window window;
	if (window_get(c, x.rank - 2, SHAPE_UNKNOWN, &window, err))
		return -1;
	for (int i = 0; i < window.spatial; i++) {
		struct dim steps = dim_mul(c->arena, dim_sub(c->arena, x.dims[2 + i], dim_known(1)),
			dim_known(window.stride[i]));
		struct dim rest = dim_known(-window.pad_begin[i] - window.pad_end[i]);
		if (window.kernel[i].kind != DIM_KNOWN)
			return op_fail(c, err, "kernel_shape is missing");
		y.dims[2 + i] = dim_add(c->arena, dim_add(c->arena, steps, rest), window.kernel[i]);
		if (y.dims[2 + i].kind == DIM_KNOWN && y.dims[2 + i].value < 1)
			return op_fail(c, err, "the pads leave no output");
	}
	return 0;
}

/* Values and their indices have one shape: what is known of it. */
static int unpool_input(const struct op_call *c, struct shape *x, struct error *err)
{
	struct shape values = c->inputs[0].shape, indices = c->inputs[1].shape;
	*x = op_shape_copy(c->arena, values.rank >= 0 ? values : indices);
	bool agree = values.rank < 0 || indices.rank < 0 || values.rank == indices.rank;
	for (int i = 0; agree && i < indices.rank; i++)
		agree = op_dim_merge(x->dims[i], indices.dims[i], &x->dims[i]);
	return agree ? 0
		     : op_fail(c, err, "indices of shape %s for values of shape %s",
			       shape_text(c->arena, indices), shape_text(c->arena, values));
}

static RULE_SHAPE(max_unpool)
{
	struct shape x;
	struct op_list size = op_list_get(c, NULL, 2);
	if (unpool_input(c, &x, err))
		return -1;
	bool asked = size.state != OP_LIST_ABSENT;
	int rank = x.rank >= 0 || !asked ? x.rank : size.count;
	if (rank < 0 || rank > OP_RANK_MAX)
		return 0;
	if (rank < 3)
		return op_fail(c, err, "an input of %d dimensions has no space", rank);
	if (asked && size.count >= 0 && size.count != rank)
		return op_fail(c, err, "output_shape has %d numbers for %d dimensions", size.count, rank);
	struct shape y = shape_make(c->arena, rank);
	for (int i = 0; i < 2 && x.rank >= 0; i++)
		y.dims[i] = x.dims[i];
	if (op_list_sizes(c, &size, err) || (!asked && unpool_space(c, x, y, err)))
		return -1;
	for (int i = 0; i < rank && size.state == OP_LIST_KNOWN; i++) {
		if (!op_dim_merge(y.dims[i], size.at[i], &y.dims[i]))
			return op_fail(c, err, "output_shape changes dimension %d", i);
	}
	c->outputs[0].shape = y;
	return 0;
}

/* Values and where they go are read, everything is written. */
static RULE_COST(max_unpool)
{
	cost->flops = 0;
	cost->bytes = op_bytes(&c->inputs[0]) + op_bytes(&c->inputs[1]) + op_bytes(&c->outputs[0]);
}

/* ---- rows */

#define COPY "measured as a plain copy of equal bytes"

static const struct op rows[] = {
	{ "DeformConv", "", 19, 0, 3, 5, CLASS_COMPUTE, deform_conv_shape, deform_conv_cost,
		deform_conv_problem, NULL, "measured as the convolution alone (proxy)" },
	{ "Col2Im", "", 18, 0, 3, 3, CLASS_MEMORY, col2im_shape, col2im_cost, op_problem_mover, NULL, COPY },
	{ "MaxUnpool", "", 9, 0, 2, 3, CLASS_MOVE, max_unpool_shape, max_unpool_cost, op_problem_mover, NULL,
		COPY },
};
const struct op_rows op_fold_rows = OP_ROWS(rows);
