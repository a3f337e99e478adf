/* Normalizations, softmax, Hardmax, LRN, dropout. FLOPs an element as problem.c counts them for the same
 * kernels. */
#include "config.h"

#include "model/tensor.h"
#include "ops/rules/op_rules.h"

#include <math.h>

static void cost_per_element(const struct op_call *c, double each, struct op_cost *cost)
{
	cost->flops = op_count(op_in(c, 0)) * each;
	cost->bytes = op_bytes_all(c);
}

/* A problem with source and destination of the input's shape. */
static struct problem *norm_problem(
	const struct op_call *c, struct op_problem *out, enum kernel kernel, enum mode mode)
{
	return op_problem_map(out, kernel, mode, &c->inputs[0], &c->outputs[0]);
}

/* Product of dimensions [from, to) of s. */
static int64_t merged(const struct problem_shape *s, int from, int to)
{
	int64_t product = 1;
	for (int i = from; i < to; i++)
		product = product > INT64_MAX / s->dim[i] ? INT64_MAX : product * s->dim[i];
	return product;
}

/* ---- BatchNormalization */

static RULE_SHAPE(batchnorm)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank >= 0 && x.rank < 2)
		return op_fail(c, err, "an input of %d dimensions has no channels", x.rank);
	for (int i = 1; i < 5 && x.rank > 1; i++) {
		const struct op_value *v = op_in(c, i);
		if (v && v->shape.rank == 1 && dim_differs(v->shape.dims[0], x.dims[1]))
			return op_fail(c, err, "input %d has %lld values for %lld channels", i,
				(long long)v->shape.dims[0].value, (long long)x.dims[1].value);
	}
	c->outputs[0].shape = op_shape_copy(c->arena, x);
	/* Statistics of training: one value per channel each. */
	for (int i = 1; i < c->output_count; i++) {
		c->outputs[i].shape = op_shape_copy(c->arena, c->inputs[i % 2 ? 3 : 4].shape);
		c->outputs[i].dtype = c->inputs[i % 2 ? 3 : 4].dtype;
	}
	return 0;
}

static RULE_COST(batchnorm)
{
	cost_per_element(c, 2, cost);
}

/* spatial=0, before opset 9: scale, shift and statistics have one value for each channel and position. */
static bool has_value_per_position(const struct op_call *c)
{
	struct shape x = c->inputs[0].shape;
	for (int i = 1; i < 5; i++) {
		struct shape s = c->inputs[i].shape;
		if (s.rank != x.rank - 1)
			return false;
		for (int k = 0; k < s.rank; k++)
			if (dim_differs(s.dims[k], x.dims[k + 1]))
				return false;
	}
	return true;
}

/* The same as a tensor in which each position is a channel of its own. */
static void per_position_problem(const struct op_call *c, struct op_problem *out)
{
	norm_problem(c, out, KERNEL_BATCHNORM, MODE_NONE);
	struct problem_shape *s = &out->problem.shape[0];
	s->dim[1] = merged(s, 1, s->rank);
	s->rank = 2;
}

static RULE_PROBLEM(batchnorm)
{
	if (!op_problem_ready(c, out))
		return;
	if (op_out(c, 1) || node_int(c->node, "training_mode", 0))
		op_problem_why(out, "training mode is not measured");
	else if (c->inputs[3].shape.rank == 1)
		norm_problem(c, out, KERNEL_BATCHNORM, MODE_NONE);
	else if (!has_value_per_position(c))
		op_problem_why(out, "scale, shift and statistics have a shape that is none of the input's");
	else
		per_position_problem(c, out);
}

/* ---- LayerNormalization, RMSNormalization */

/* True for ONNX Runtime's LayerNormalization before opset 17 and SimplifiedLayerNormalization: their output
 * has the scale's type. */
static bool layernorm_has_scale_type(const struct op_call *c)
{
	struct text name = text_of(c->op->name);
	return text_is(name, "SimplifiedLayerNormalization") ||
		(text_is(name, "LayerNormalization") && c->opset < 17);
}

static RULE_SHAPE(layernorm)
{
	struct shape x = c->inputs[0].shape;
	if (layernorm_has_scale_type(c) && op_in(c, 1))
		c->outputs[0].dtype = c->inputs[1].dtype;
	for (int i = 1; i < c->output_count; i++)
		c->outputs[i].dtype = tensor_dtype(node_int(c->node, "stash_type", 1));
	if (x.rank < 0)
		return 0;
	int axis = op_axis(c, node_int(c->node, "axis", -1), x.rank, err);
	if (axis < 0)
		return -1;
	c->outputs[0].shape = op_shape_copy(c->arena, x);
	for (int i = 1; i < c->output_count; i++) {
		c->outputs[i].shape = op_shape_copy(c->arena, x);
		for (int j = axis; j < x.rank; j++)
			c->outputs[i].shape.dims[j] = dim_known(1);
	}
	return 0;
}

static RULE_COST(layernorm)
{
	cost_per_element(c, 7, cost);
}

void op_problem_norm(const struct op_value *x, const struct op_value *y, enum kernel kernel, int axis,
	struct op_problem *out)
{
	struct problem *p = op_problem_map(out, kernel, MODE_NONE, x, y);
	struct problem_shape *s = &p->shape[0];
	p->axis = axis;
	s->dim[axis] = merged(s, axis, s->rank);
	s->rank = axis + 1;
	if (s->rank == 1) { /* one row */
		s->dim[1] = s->dim[0];
		s->dim[0] = 1;
		s->rank = 2;
		p->axis = 1;
	}
}

static void normalized_problem(const struct op_call *c, enum kernel kernel, struct op_problem *out)
{
	if (!op_problem_ready(c, out))
		return;
	int64_t axis = node_int(c->node, "axis", -1), rank = op_problem_shape(c->inputs[0].shape).rank;
	axis = axis < 0 ? axis + rank : axis;
	if (axis < 0 || axis >= rank)
		op_problem_why(out, "the axis is out of range");
	else
		op_problem_norm(&c->inputs[0], &c->outputs[0], kernel, (int)axis, out);
}

static RULE_PROBLEM(layernorm)
{
	normalized_problem(c, KERNEL_LAYERNORM, out);
}

/* Square, sum, multiply by the inverse root, multiply by the weight. */
static RULE_COST(rms_norm)
{
	cost_per_element(c, 4, cost);
}

static RULE_PROBLEM(rms_norm)
{
	normalized_problem(c, KERNEL_RMSNORM, out);
}

/* ---- InstanceNormalization, GroupNormalization */

static RULE_SHAPE(instance_norm)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank >= 0 && x.rank < 2)
		return op_fail(c, err, "an input of %d dimensions has no channels", x.rank);
	c->outputs[0].shape = op_shape_copy(c->arena, x);
	return 0;
}

static RULE_COST(instance_norm)
{
	cost_per_element(c, 7, cost);
}

static RULE_PROBLEM(instance_norm)
{
	if (op_problem_ready(c, out))
		norm_problem(c, out, KERNEL_INSTANCENORM, MODE_NONE);
}

void op_problem_groups(const struct op_call *c, int64_t groups, int channel_axis, struct op_problem *out)
{
	int64_t channels = c->inputs[0].shape.dims[channel_axis].value;
	if (groups < 1 || channels % groups) {
		op_problem_why(out, "the groups do not divide the channels");
		return;
	}
	struct problem *p = norm_problem(c, out, KERNEL_GROUPNORM, MODE_NONE);
	struct problem_shape *s = &p->shape[0];
	if (channel_axis != 1) { /* stored channels last: the same rows of other elements */
		int64_t last = s->dim[channel_axis];
		for (int i = channel_axis; i > 1; i--)
			s->dim[i] = s->dim[i - 1];
		s->dim[1] = last;
		out->proxy = true;
	}
	p->g = groups;
}

static RULE_PROBLEM(group_norm)
{
	if (op_problem_ready(c, out))
		op_problem_groups(c, node_int(c->node, "num_groups", 0), 1, out);
}

/* ---- Softmax, LogSoftmax */

static RULE_SHAPE(softmax)
{
	struct shape x = c->inputs[0].shape;
	bool flat = c->opset < 13;
	int64_t axis = node_int(c->node, "axis", flat ? 1 : -1);
	/* When flattening, axis may equal the rank. */
	if (x.rank > 0 && !(flat && axis == x.rank) && op_axis(c, axis, x.rank, err) < 0)
		return -1;
	c->outputs[0].shape = op_shape_copy(c->arena, x);
	return 0;
}

static RULE_COST(softmax)
{
	cost_per_element(c, 5, cost);
}

/* Before opset 13 the dimensions from axis on are flattened to one. */
static RULE_PROBLEM(softmax)
{
	if (!op_problem_ready(c, out))
		return;
	bool flat = c->opset < 13, log = text_is(c->node->op, "LogSoftmax");
	struct problem *p = norm_problem(c, out, KERNEL_SOFTMAX, log ? MODE_LOGSOFTMAX : MODE_SOFTMAX);
	struct problem_shape s = p->shape[0];
	int64_t axis = node_int(c->node, "axis", flat ? 1 : -1);
	if (axis < 0)
		axis += s.rank;
	if (axis < 0 || axis >= s.rank + flat) {
		op_problem_why(out, "the axis is out of range");
		return;
	}
	p->axis = (int)axis;
	if (flat) {
		p->shape[0] = (struct problem_shape){ .rank = 2 };
		p->shape[0].dim[0] = merged(&s, 0, p->axis);
		p->shape[0].dim[1] = merged(&s, p->axis, s.rank);
		p->axis = 1;
	}
}

/* ---- LRN, Dropout */

static RULE_SHAPE(lrn)
{
	if (node_int(c->node, "size", 0) < 1)
		return op_fail(c, err, "size is missing or less than 1");
	return op_shape_as_input(c, err);
}

static RULE_COST(lrn)
{
	cost_per_element(c, 2 * (double)node_int(c->node, "size", 0) + 3, cost);
}

static RULE_PROBLEM(lrn)
{
	if (!op_problem_ready(c, out))
		return;
	struct problem *p = norm_problem(c, out, KERNEL_LRN, MODE_LRN_ACROSS);
	p->size = node_int(c->node, "size", 0);
	p->alpha = node_float(c->node, "alpha", 0.0001f);
	p->beta = node_float(c->node, "beta", 0.75f);
}

/* True if it drops. Opsets 1 and 6 have an attribute for it, 7 to 11 never drop, later ones have an input; if
 * that is unknown, *known is false. A ratio of 0 drops nothing. */
static bool dropout_drops(const struct op_call *c, bool *known)
{
	double training = 0, ratio = op_float_get(c, c->opset < 12 ? "ratio" : NULL,
		c->opset < 12 ? -1 : 1, 0.5);
	if (c->opset < 7)
		training = node_int(c->node, "is_test", 0) == 0;
	else if (c->opset >= 12 && op_in(c, 2) && !op_scalar(op_in(c, 2), &training))
		training = NAN;
	*known = !isnan(training) && (!isnan(ratio) || training == 0);
	return *known && training != 0 && ratio != 0;
}

/* At inference the input is passed on; the mask is all true. */
static RULE_SHAPE(dropout)
{
	(void)err;
	bool known, drops = dropout_drops(c, &known);
	struct shape x = c->inputs[0].shape;
	c->outputs[0].shape = op_shape_copy(c->arena, x);
	if (known && !drops)
		c->outputs[0].elements = c->inputs[0].elements;
	if (op_out(c, 1)) {
		c->outputs[1].shape = op_shape_copy(c->arena, x);
		if (c->opset >= 10)
			c->outputs[1].dtype = DTYPE_BOOL;
	}
	return 0;
}

static bool dropout_free(const struct op_call *c)
{
	bool known, drops = dropout_drops(c, &known);
	return known && !drops;
}

/* A comparison and a scaling. */
static RULE_COST(dropout)
{
	cost_per_element(c, 2, cost);
}

static RULE_PROBLEM(dropout)
{
	bool known;
	dropout_drops(c, &known);
	if (!known) {
		op_problem_why(out, "whether it drops, and its ratio, depend on the data");
		return;
	}
	if (!op_problem_ready(c, out))
		return;
	struct problem *p = norm_problem(c, out, KERNEL_DROPOUT, MODE_DROP);
	p->alpha = (float)op_float_get(c, c->opset < 12 ? "ratio" : NULL, c->opset < 12 ? -1 : 1, 0.5);
}

/* ---- LpNormalization, Hardmax */

/* A function of each element and its line along an axis, which must exist. */
static RULE_SHAPE(lp_normalization)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank >= 0 && op_axis(c, node_int(c->node, "axis", -1), x.rank, err) < 0)
		return -1;
	return op_shape_as_input(c, err);
}

/* Like a sum of powers; 1 more per line for the root, and 1 more per element for the division. */
static RULE_COST(lp_normalization)
{
	const struct op_value *x = &c->inputs[0];
	int axis = op_axis(c, node_int(c->node, "axis", -1), x->shape.rank, NULL);
	double length =
		axis >= 0 && x->shape.dims[axis].kind == DIM_KNOWN ? (double)x->shape.dims[axis].value : NAN;
	cost->flops = op_count(x) * 3 + op_count(x) / length;
	cost->bytes = op_bytes_all(c);
}

/* Along the last axis it is RMS normalization up to a factor; along others a softmax has the same traffic. */
static RULE_PROBLEM(lp_normalization)
{
	if (!op_problem_ready(c, out))
		return;
	struct shape x = c->inputs[0].shape;
	int axis = op_axis(c, node_int(c->node, "axis", -1), x.rank, NULL);
	bool last = axis == x.rank - 1 && x.rank > 1;
	if (axis < 0) {
		op_problem_why(out, "the axis is out of range");
		return;
	}
	norm_problem(c, out, last ? KERNEL_RMSNORM : KERNEL_SOFTMAX, last ? MODE_NONE : MODE_SOFTMAX)->axis =
		axis;
	out->proxy = true;
}

/* One comparison per element. */
static RULE_COST(hardmax)
{
	cost_per_element(c, 1, cost);
}

static RULE_PROBLEM(hardmax)
{
	softmax_problem(c, out);
	out->proxy = out->known;
}

/* ---- MeanVarianceNormalization */

/* The axes of mean and variance. Before opset 9 attributes tell whether channels are among them. */
static int variance_axes(const struct op_call *c, int rank, bool *mask, struct error *err)
{
	struct op_list axes = op_list_get(c, "axes", -1);
	if (c->opset >= 9 && axes.state != OP_LIST_ABSENT)
		return op_list_all_known(&axes) ? op_axes(c, &axes, rank, mask, err)
						: op_fail(c, err, "axes is not a list of integers");
	bool channels = c->opset < 9 && node_int(c->node, "across_channels", 0);
	for (int i = 0; i < rank; i++)
		mask[i] = c->opset < 9 ? i > 1 || (i == 1 && channels) : i == 0 || i == 2 || i == 3;
	return c->opset >= 9 && rank < 4 ? op_fail(c, err, "an input of rank %d without axes", rank) : 0;
}

static RULE_SHAPE(mean_variance)
{
	int rank = c->inputs[0].shape.rank;
	bool mask[OP_RANK_MAX];
	if (rank >= 0 && rank < 2)
		return op_fail(c, err, "an input of rank %d", rank);
	if (rank >= 0 && variance_axes(c, rank, mask, err))
		return -1;
	return op_shape_as_input(c, err);
}

/* Like a layer normalization without scale and shift. */
static RULE_COST(mean_variance)
{
	cost_per_element(c, 5, cost);
}

/* A layer normalization whose rows share a mean. */
static RULE_PROBLEM(mean_variance)
{
	bool mask[OP_RANK_MAX];
	if (!op_problem_ready(c, out))
		return;
	struct shape x = c->inputs[0].shape;
	if (variance_axes(c, x.rank, mask, NULL)) {
		op_problem_why(out, "the axes are out of range");
		return;
	}
	struct problem *p = norm_problem(c, out, KERNEL_LAYERNORM, MODE_NONE);
	out->proxy = true;
	p->shape[0] = (struct problem_shape){ .rank = 2, .dim = { 1, 1 } };
	for (int i = 0; i < x.rank; i++)
		p->shape[0].dim[mask[i]] *= x.dims[i].value;
	p->axis = 1;
}

static const struct op rows[] = {
	{ "BatchNormalization", "", 1, 0, 5, 5, CLASS_MEMORY, batchnorm_shape, batchnorm_cost,
		batchnorm_problem, NULL, "inference", .flags = OP_EPILOGUE },
	{ "LayerNormalization", "", 1, 0, 2, 3, CLASS_MEMORY, layernorm_shape, layernorm_cost,
		layernorm_problem, NULL, "before opset 17 an extension of ONNX Runtime" },
	{ "RMSNormalization", "", 23, 0, 2, 2, CLASS_MEMORY, layernorm_shape, rms_norm_cost, rms_norm_problem,
		NULL, NULL },
	{ "SimplifiedLayerNormalization", "", 1, 0, 2, 2, CLASS_MEMORY, layernorm_shape, rms_norm_cost,
		rms_norm_problem, NULL, "RMSNormalization in ONNX Runtime" },
	{ "InstanceNormalization", "", 1, 0, 3, 3, CLASS_MEMORY, instance_norm_shape, instance_norm_cost,
		instance_norm_problem, NULL, NULL },
	{ "GroupNormalization", "", 18, 0, 3, 3, CLASS_MEMORY, instance_norm_shape, instance_norm_cost,
		group_norm_problem, NULL, NULL },
	{ "Softmax", "", 1, 0, 1, 1, CLASS_MEMORY, softmax_shape, softmax_cost, softmax_problem,
		.quant = QUANT_SINGLE },
	{ "LogSoftmax", "", 1, 0, 1, 1, CLASS_MEMORY, softmax_shape, softmax_cost, softmax_problem, NULL,
		NULL },
	{ "Hardmax", "", 1, 0, 1, 1, CLASS_MEMORY, softmax_shape, hardmax_cost, hardmax_problem, NULL,
		"measured as Softmax" },
	{ "LpNormalization", "", 1, 0, 1, 1, CLASS_MEMORY, lp_normalization_shape, lp_normalization_cost,
		lp_normalization_problem, NULL, "measured as RMSNormalization or Softmax" },
	{ "MeanVarianceNormalization", "", 1, 0, 1, 1, CLASS_MEMORY, mean_variance_shape, mean_variance_cost,
		mean_variance_problem, NULL, "measured as LayerNormalization" },
	{ "LRN", "", 1, 0, 1, 1, CLASS_MEMORY, lrn_shape, lrn_cost, lrn_problem, NULL, NULL },
	{ "Dropout", "", 1, 0, 1, 3, CLASS_MEMORY, dropout_shape, dropout_cost, dropout_problem, dropout_free,
		"free at inference", .flags = OP_RANDOM, .quant = QUANT_MOVER },
};
const struct op_rows op_norm_rows = OP_ROWS(rows);
