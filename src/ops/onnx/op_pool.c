/* Poolings, and MaxUnpool, the inverse of one. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "ops/onnx/op_window.h"

#include <math.h>

static RULE_SHAPE(pool)
{
	struct shape x = c->inputs[0].shape;
	struct window window;
	if (op_out(c, 1))
		c->outputs[1].dtype = DTYPE_S64; /* Indices */
	const struct attribute *kernel = node_attribute(c->node, "kernel_shape");
	if (x.rank < 0 && kernel && kernel->kind == ATTRIBUTE_INTS && kernel->count > 0 && kernel->count <= 3)
		x = shape_make(c->arena, (int)kernel->count + 2);
	if (x.rank < 0)
		return 0;
	if (x.rank < 3)
		return op_fail(c, err, "an input of %d dimensions has no space", x.rank);
	if (window_get(c, x.rank - 2, SHAPE_UNKNOWN, &window, err))
		return -1;
	if (isnan(window_volume(&window)))
		return op_fail(c, err, "kernel_shape is missing");
	window.pool = true;
	struct shape y = shape_make(c->arena, x.rank);
	for (int i = 0; i < x.rank; i++) {
		y.dims[i] = x.dims[i];
		if (i >= 2 && window_out(c, &window, i - 2, x.dims[i], &y.dims[i], err))
			return -1;
	}
	for (int i = 0; i < c->output_count && i < 2; i++)
		c->outputs[i].shape = y;
	return 0;
}

static RULE_COST(pool)
{
	double volume = 1;
	const struct attribute *kernel = node_attribute(c->node, "kernel_shape");
	for (size_t i = 0; kernel && kernel->kind == ATTRIBUTE_INTS && i < kernel->count; i++)
		volume *= (double)kernel->ints[i];
	cost->flops = op_count(op_out(c, 0)) * volume;
	cost->bytes = op_bytes_all(c);
}

static enum mode pool_mode(const struct op_call *c, const struct problem *p)
{
	if (text_is(c->node->op, "MaxPool"))
		return MODE_MAX;
	int64_t pads = 0;
	for (int i = 0; i < 3; i++)
		pads += p->pad_begin[i] + p->pad_end[i];
	/* Without pads both averages are equal: one text. */
	return pads && node_int(c->node, "count_include_pad", 0) ? MODE_AVG_INCLUDE : MODE_AVG_EXCLUDE;
}

static RULE_PROBLEM(pool)
{
	struct window window;
	struct error err;
	if (!op_problem_ready(c, out))
		return;
	struct shape x = c->inputs[0].shape;
	if (window_get(c, x.rank - 2, SHAPE_UNKNOWN, &window, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	struct problem *p = window_pictures(c, KERNEL_POOL, MODE_NONE, out);
	if (!p || !window_problem(c, &window, out))
		return;
	p->mode = pool_mode(c, p);
	out->proxy = op_out(c, 1) != NULL;
}

/* LpPool counts a power and an addition per element of the window. */
static RULE_COST(lp_pool)
{
	pool_cost(c, cost);
	cost->flops *= 2;
}

/* An average pooling with the same windows. */
static RULE_PROBLEM(lp_pool)
{
	pool_problem(c, out);
	out->proxy = out->known;
}

static RULE_SHAPE(global_pool)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank < 0)
		return 0;
	if (x.rank < 2)
		return op_fail(c, err, "an input of %d dimensions has no channels", x.rank);
	struct shape y = shape_make(c->arena, x.rank);
	for (int i = 0; i < x.rank; i++)
		y.dims[i] = i < 2 ? x.dims[i] : dim_known(1);
	c->outputs[0].shape = y;
	return 0;
}

static RULE_COST(global_pool)
{
	cost->flops = op_count(op_in(c, 0));
	cost->bytes = op_bytes_all(c);
}

static RULE_PROBLEM(global_pool)
{
	if (!op_problem_ready(c, out))
		return;
	bool max = text_is(c->node->op, "GlobalMaxPool");
	struct problem *p = window_pictures(c, KERNEL_POOL, max ? MODE_MAX : MODE_AVG_EXCLUDE, out);
	for (int at = p ? 3 - p->spatial : 3; at < 3; at++) {
		p->kernel_size[at] = p->in[at];
		p->stride[at] = p->dilation[at] = 1;
	}
}

/* A window over one element is no work; ONNX exporters leave such global poolings in models. */
static RULE_FREE(global_pool)
{
	struct shape x = c->inputs[0].shape;
	for (int i = 2; i < x.rank; i++) {
		if (x.dims[i].kind != DIM_KNOWN || x.dims[i].value != 1)
			return false;
	}
	return x.rank > 2;
}

/* ---- GlobalLpPool */

/* A power and an addition per element, a root per output. */
static RULE_COST(global_lp_pool)
{
	cost->flops = 2 * op_count(&c->inputs[0]) + op_count(&c->outputs[0]);
	cost->bytes = op_bytes_all(c);
}

/* p = 2 is a reduction that libraries have; other powers use it as a proxy. */
static RULE_PROBLEM(global_lp_pool)
{
	const struct attribute *power = node_attribute(c->node, "p");
	if (!op_problem_ready(c, out))
		return;
	if (!dtype_is_float(c->inputs[0].dtype)) {
		op_problem_mover(c, out);
		return;
	}
	struct problem *p = op_problem_start(out, KERNEL_REDUCE, MODE_REDUCE_L2);
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->outputs[0]);
	p->shape_count = 2;
	p->shape[0] = op_problem_shape(c->inputs[0].shape);
	p->shape[1] = op_problem_shape(c->outputs[0].shape);
	out->proxy = power && power->i != 2 && !(power->f >= 2 && power->f <= 2);
}

/* ---- MaxUnpool */

/* The inverse of the pooling's formula, without the remainder of its division. */
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

/* The merged shape of values and indices. */
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

/* Reads values and indices, writes all outputs. */
static RULE_COST(max_unpool)
{
	cost->flops = 0;
	cost->bytes = op_bytes(&c->inputs[0]) + op_bytes(&c->inputs[1]) + op_bytes(&c->outputs[0]);
}

static const struct op rows[] = {
	{ "MaxPool", "", 1, 0, 1, 1, CLASS_MEMORY, pool_shape, pool_cost, pool_problem, NULL,
		"the indices output is not measured (proxy)", .quant = QUANT_MOVER },
	{ "AveragePool", "", 1, 0, 1, 1, CLASS_MEMORY, pool_shape, pool_cost, pool_problem,
		.quant = QUANT_SINGLE },
	{ "LpPool", "", 1, 0, 1, 1, CLASS_MEMORY, pool_shape, lp_pool_cost, lp_pool_problem, NULL,
		"measured as AveragePool (proxy)" },
	{ "GlobalAveragePool", "", 1, 0, 1, 1, CLASS_MEMORY, global_pool_shape, global_pool_cost,
		global_pool_problem, global_pool_free, .quant = QUANT_SINGLE },
	{ "GlobalMaxPool", "", 1, 0, 1, 1, CLASS_MEMORY, global_pool_shape, global_pool_cost,
		global_pool_problem, global_pool_free, NULL },
	{ "GlobalLpPool", "", 1, 0, 1, 1, CLASS_MEMORY, global_pool_shape, global_lp_pool_cost,
		global_lp_pool_problem, NULL, "powers other than 2 are measured as 2" },
	{ "MaxUnpool", "", 9, 0, 2, 3, CLASS_MOVE, max_unpool_shape, max_unpool_cost, op_problem_mover, NULL,
		OP_COPY },
};
const struct op_rows op_pool_rows = OP_ROWS(rows);
