#include "config.h"

#include "ops/op_rules.h"

#include "ops/op_window.h"

#include <math.h>

RULE_SHAPE(op_pool)
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

RULE_COST(op_pool)
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
	/* Without pads both averages are one: one spelling. */
	return pads && node_int(c->node, "count_include_pad", 0) ? MODE_AVG_INCLUDE : MODE_AVG_EXCLUDE;
}

RULE_PROBLEM(op_pool)
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
	struct problem *p = op_problem_start(out, KERNEL_POOL, MODE_NONE);
	if (!window_problem(&window, x, c->outputs[0].shape, out))
		return;
	p->mode = pool_mode(c, p);
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->outputs[0]);
	p->n = x.dims[0].value;
	p->c = x.dims[1].value;
	out->proxy = op_out(c, 1) != NULL;
}

/* LpPool counts a power and an addition for each element under the window. */
RULE_COST(op_lp_pool)
{
	op_pool_cost(c, cost);
	cost->flops *= 2;
}

RULE_PROBLEM(op_lp_pool)
{
	if (op_problem_ready(c, out))
		op_problem_why(out, "p-norm pooling has no kernel family in the problem grammar");
}

RULE_SHAPE(op_global_pool)
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

RULE_COST(op_global_pool)
{
	cost->flops = op_count(op_in(c, 0));
	cost->bytes = op_bytes_all(c);
}

RULE_PROBLEM(op_global_pool)
{
	if (!op_problem_ready(c, out))
		return;
	struct shape x = c->inputs[0].shape;
	if (x.rank < 3 || x.rank > 5) {
		op_problem_why(out, "not 1 to 3 spatial dimensions");
		return;
	}
	bool max = text_is(c->node->op, "GlobalMaxPool");
	struct problem *p = op_problem_start(out, KERNEL_POOL, max ? MODE_MAX : MODE_AVG_EXCLUDE);
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->outputs[0]);
	p->n = x.dims[0].value;
	p->c = x.dims[1].value;
	p->spatial = x.rank - 2;
	for (int i = 2; i < x.rank; i++) {
		int at = 3 - p->spatial + i - 2;
		p->in[at] = p->kernel_size[at] = x.dims[i].value;
		p->stride[at] = p->dilation[at] = 1;
	}
}

/* A window over one element is no work: ONNX exporters leave such global poolings behind. */
RULE_FREE(op_global_pool)
{
	struct shape x = c->inputs[0].shape;
	for (int i = 2; i < x.rank; i++) {
		if (x.dims[i].kind != DIM_KNOWN || x.dims[i].value != 1)
			return false;
	}
	return x.rank > 2;
}
