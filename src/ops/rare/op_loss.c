/* Training: losses, and the optimizers of ai.onnx.preview.training. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include <math.h>

/* ---- losses */

/* Scores are N, C, space; labels N, space. Without a reduction there is one loss per label. */
static int loss_labels(const struct op_call *c, struct shape *labels, struct error *err)
{
	struct shape x = c->inputs[0].shape, given = c->inputs[1].shape;
	int rank = x.rank >= 0 ? x.rank - 1 : given.rank;
	*labels = SHAPE_UNKNOWN;
	if (rank < 0)
		return x.rank < 0 ? 0 : op_fail(c, err, "a scalar has no classes");
	bool agree = rank >= 1 && (given.rank < 0 || given.rank == rank);
	struct shape s = shape_make(c->arena, rank);
	for (int i = 0; agree && i < rank; i++) {
		struct dim d = x.rank >= 0 ? x.dims[i == 0 ? 0 : i + 1] : dim_unknown();
		agree = op_dim_merge(d, given.rank >= 0 ? given.dims[i] : dim_unknown(), &s.dims[i]);
	}
	if (!agree)
		return op_fail(c, err, "labels of shape %s for scores of shape %s",
			shape_text(c->arena, given), shape_text(c->arena, x));
	*labels = s;
	return 0;
}

static bool loss_is_reduced(const struct op_call *c)
{
	return !text_is(node_string(c->node, "reduction", "mean"), "none");
}

static RULE_SHAPE(loss)
{
	struct shape labels;
	if (loss_labels(c, &labels, err))
		return -1;
	c->outputs[0].shape = loss_is_reduced(c) ? shape_make(c->arena, 0) : labels;
	if (c->output_count > 1)
		c->outputs[1].shape = op_shape_copy(c->arena, c->inputs[0].shape); /* log_prob */
	return 0;
}

/* After the logarithms: one per label is selected and negated, weighted if there are weights, and summed if
 * reduced. */
static double loss_flops(const struct op_call *c)
{
	return op_count(&c->inputs[1]) * (1 + (op_in(c, 2) != NULL) + loss_is_reduced(c));
}

/* The softmax and the loss. */
static RULE_COST(softmax_loss)
{
	cost->flops = op_count(&c->inputs[0]) * 5 + loss_flops(c);
	cost->bytes = op_bytes_all(c);
}

/* A softmax over the classes if the logarithms are an output; else a reduction over the classes. */
static RULE_PROBLEM(softmax_loss)
{
	if (!op_problem_ready(c, out))
		return;
	if (c->inputs[0].shape.rank < 2 || !dtype_is_float(c->inputs[0].dtype)) {
		op_problem_mover(c, out);
		return;
	}
	bool log = op_out(c, 1) != NULL;
	struct problem *p = op_problem_start(
		out, log ? KERNEL_SOFTMAX : KERNEL_REDUCE, log ? MODE_LOGSOFTMAX : MODE_REDUCE_SUM);
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = (struct operand){ .dtype = c->outputs[0].dtype };
	p->shape_count = log ? 1 : 2;
	p->shape[0] = op_problem_shape(c->inputs[0].shape);
	if (log) {
		p->axis = 1;
	} else {
		p->shape[1] = p->shape[0];
		p->shape[1].dim[1] = 1;
	}
	out->proxy = true;
}

/* Reads only the log-probabilities of the labels. */
static RULE_COST(likelihood_loss)
{
	const struct op_value *x = &c->inputs[0], *labels = &c->inputs[1];
	cost->flops = loss_flops(c);
	cost->bytes = dtype_bytes(x->dtype, op_count(labels)) + op_bytes(labels) + op_bytes(op_in(c, 2)) +
		      op_bytes(&c->outputs[0]);
}

/* ---- optimizers */

/* The inputs of an optimizer after rate and step count are groups with one member per tensor: the tensors,
 * their gradients, then one or two groups of state; outputs are tensors and states. flops: per element, from
 * the formulas in the operators' descriptions, with regularization. */
struct optimizer {
	int memories;
	int flops;
};

static RULE_SHAPE(optimizer)
{
	const struct optimizer *row = c->op->own;
	int groups = 2 + row->memories, count = (c->input_count - 2) / groups;
	if ((c->input_count - 2) % groups)
		return op_fail(c, err, "%d inputs in %d groups", c->input_count - 2, groups);
	if (c->output_count > count * (1 + row->memories))
		return op_fail(c, err, "%d outputs for %d tensors", c->output_count, count);
	for (int i = 0; i < c->output_count; i++) {
		const struct op_value *tensor = op_in(c, 2 + i % count);
		c->outputs[i].dtype = tensor ? tensor->dtype : DTYPE_UNKNOWN;
		c->outputs[i].shape = tensor ? op_shape_copy(c->arena, tensor->shape) : SHAPE_UNKNOWN;
	}
	return 0;
}

static RULE_COST(optimizer)
{
	const struct optimizer *row = c->op->own;
	bool ahead = text_is(node_string(c->node, "mode", "standard"), "nesterov"); /* x -= r (g + a v) */
	cost->flops = 0;
	for (int i = 0; i < (c->input_count - 2) / (2 + row->memories); i++)
		cost->flops += op_count(op_in(c, 2 + i)) * (row->flops + (ahead ? 2 : 0));
	cost->bytes = op_bytes_all(c);
}

/* ---- Gradient */

/* Gradients of y by the tensors in xs, which are the first inputs; they have the same shapes. */
static RULE_SHAPE(gradient)
{
	const struct attribute *xs = node_attribute(c->node, "xs");
	size_t count = xs && xs->kind == ATTRIBUTE_STRINGS ? xs->count : 0;
	(void)err;
	for (int i = 0; i < c->output_count; i++) {
		const struct op_value *x = (size_t)i < count ? op_in(c, i) : NULL;
		c->outputs[i].dtype = x ? x->dtype : DTYPE_UNKNOWN;
		c->outputs[i].shape = x ? op_shape_copy(c->arena, x->shape) : SHAPE_UNKNOWN;
	}
	return 0;
}

static RULE_COST(gradient)
{
	(void)c;
	*cost = (struct op_cost){ .flops = NAN, .bytes = NAN };
}

static RULE_PROBLEM(gradient)
{
	(void)c;
	op_problem_why(out, "the nodes that it differentiates are elsewhere in the graph");
}

/* ---- operator table */

#define TRAINING(name, memories, flops)                                                                      \
	{ name, "ai.onnx.preview.training", 1, 0, 3, -1, CLASS_MEMORY, optimizer_shape, \
		optimizer_cost, op_problem_mover, NULL, OP_COPY, \
		&(const struct optimizer){ memories, flops } }

static const struct op rows[] = {
	{ "SoftmaxCrossEntropyLoss", "", 12, 0, 2, 3, CLASS_MEMORY, loss_shape, softmax_loss_cost,
		softmax_loss_problem, NULL, "measured as LogSoftmax, or ReduceSum over the classes" },
	{ "NegativeLogLikelihoodLoss", "", 12, 0, 2, 3, CLASS_MEMORY, loss_shape, likelihood_loss_cost,
		op_problem_mover, NULL, OP_COPY },
	/* g += n x; h += g g; x -= r g / (sqrt h + e) */
	TRAINING("Adagrad", 1, 9),
	/* g += n x; v = a v + a' g; h = b h + b' g g; x = p (x - r v / (sqrt h + e)) */
	TRAINING("Adam", 2, 15),
	/* g += n x; v = a v + b g; x -= r v */
	TRAINING("Momentum", 1, 7),
	{ "Gradient", "ai.onnx.preview.training", 1, 0, 1, -1, CLASS_COMPUTE, gradient_shape, gradient_cost,
		gradient_problem, NULL,
		"its cost is that of the derivative's own nodes, if the graph has them" },
};
const struct op_rows op_loss_rows = OP_ROWS(rows);
