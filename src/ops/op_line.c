/* Functions along axes that libraries have no kernel for, and the nearest that they have: LpNormalization,
 * MeanVarianceNormalization, Hardmax, GlobalLpPool, CumProd, Det. */
#include "config.h"

#include "ops/op_rules.h"

#include <math.h>

/* A function of each element and of its line along an axis: the axis must be there. */
static RULE_SHAPE(line)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank >= 0 && op_axis(c, node_int(c->node, "axis", -1), x.rank, err) < 0)
		return -1;
	return op_shape_as_input(c, err);
}

/* A kernel of one shape; the input as it is. */
static struct problem *line_problem(
	const struct op_call *c, enum kernel kernel, enum mode mode, struct op_problem *out)
{
	struct problem *p = op_problem_start(out, kernel, mode);
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->outputs[0]);
	p->shape_count = 1;
	p->shape[0] = op_problem_shape(c->inputs[0].shape);
	out->proxy = true;
	return p;
}

/* ---- LpNormalization, Hardmax */

/* As a sum of powers, one operation more a line for the root, one more an element to divide. */
static RULE_COST(lp_normalization)
{
	const struct op_value *x = &c->inputs[0];
	int axis = op_axis(c, node_int(c->node, "axis", -1), x->shape.rank, NULL);
	double length =
		axis >= 0 && x->shape.dims[axis].kind == DIM_KNOWN ? (double)x->shape.dims[axis].value : NAN;
	cost->flops = op_count(x) * 3 + op_count(x) / length;
	cost->bytes = op_bytes_all(c);
}

/* Along the last axis it is the normalization by the root mean square but for a factor; along others a
 * softmax reads and writes the same. */
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
	line_problem(c, last ? KERNEL_RMSNORM : KERNEL_SOFTMAX, last ? MODE_NONE : MODE_SOFTMAX, out)->axis =
		axis;
}

/* A comparison an element. */
static RULE_COST(hardmax)
{
	cost->flops = op_count(&c->inputs[0]);
	cost->bytes = op_bytes_all(c);
}

static RULE_PROBLEM(hardmax)
{
	op_softmax_problem(c, out);
	out->proxy = out->known;
}

/* ---- MeanVarianceNormalization */

/* The axes that mean and variance are taken over. Before opset 9 attributes say whether channels are among
 * them. */
static int variance_axes(const struct op_call *c, int rank, bool *mask, struct error *err)
{
	struct op_list axes = op_list_get(c, "axes", -1);
	if (c->opset >= 9 && axes.state != OP_LIST_ABSENT)
		return op_list_all_known(&axes) ? op_axes(c, &axes, rank, mask, err)
						: op_fail(c, err, "axes are no list of numbers");
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

/* As a layer normalization without scale and shift. */
static RULE_COST(mean_variance)
{
	cost->flops = op_count(&c->inputs[0]) * 5;
	cost->bytes = op_bytes_all(c);
}

/* Rows of all that shares a mean, in a layer normalization. */
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
	struct problem *p = line_problem(c, KERNEL_LAYERNORM, MODE_NONE, out);
	p->shape[0] = (struct problem_shape){ .rank = 2, .dim = { 1, 1 } };
	for (int i = 0; i < x.rank; i++)
		p->shape[0].dim[mask[i]] *= x.dims[i].value;
	p->axis = 1;
}

/* ---- GlobalLpPool */

/* A power and an addition for each element, a root for each output. */
static RULE_COST(global_lp_pool)
{
	cost->flops = 2 * op_count(&c->inputs[0]) + op_count(&c->outputs[0]);
	cost->bytes = op_bytes_all(c);
}

/* The length (p = 2) is a reduction that libraries have; others stand on it. */
static RULE_PROBLEM(global_lp_pool)
{
	const struct attribute *power = node_attribute(c->node, "p");
	if (!op_problem_ready(c, out))
		return;
	if (!dtype_is_float(c->inputs[0].dtype)) {
		op_problem_mover(c, out);
		return;
	}
	struct problem *p = line_problem(c, KERNEL_REDUCE, MODE_REDUCE_L2, out);
	p->shape_count = 2;
	p->shape[1] = op_problem_shape(c->outputs[0].shape);
	out->proxy = power && power->i != 2 && !(power->f >= 2 && power->f <= 2);
}

/* ---- CumProd */

struct line_product {
	bool floats;
	double f;
	struct dim i;
};

static void product_step(struct arena *a, struct line_product *p, const struct elements *e, int at)
{
	if (p->floats)
		p->f *= e->f[at];
	else
		p->i = dim_mul(a, p->i, e->i[at]);
}

/* Writes the product as it stands to place `at`. */
static void product_keep(const struct line_product *p, enum dtype t, struct elements *e, int at)
{
	if (p->floats)
		e->f[at] = op_float_round(t, p->f);
	else if (p->i.kind != DIM_KNOWN || op_int_fits(t, p->i.value))
		e->i[at] = p->i;
}

/* Products along an axis of known contents. */
static void cum_prod_elements(struct op_call *c, int axis)
{
	const struct op_value *in = &c->inputs[0];
	bool exclusive = node_int(c->node, "exclusive", 0) != 0,
	     reverse = node_int(c->node, "reverse", 0) != 0;
	int count = in->elements->count, length = count ? (int)in->shape.dims[axis].value : 1, stride = 1;
	struct elements *e = op_elements_new(c->arena, count, in->elements->f != NULL);
	for (int i = axis + 1; i < in->shape.rank; i++)
		stride *= count ? (int)in->shape.dims[i].value : 1;
	for (int line = 0; line < count / length; line++) {
		struct line_product product = { e->f != NULL, 1, dim_known(1) };
		int first = line / stride * stride * length + line % stride;
		for (int i = 0; i < length; i++) {
			int at = first + (reverse ? length - 1 - i : i) * stride;
			if (exclusive)
				product_keep(&product, in->dtype, e, at);
			product_step(c->arena, &product, in->elements, at);
			if (!exclusive)
				product_keep(&product, in->dtype, e, at);
		}
	}
	c->outputs[0].elements = e;
}

static RULE_SHAPE(cum_prod)
{
	const struct op_value *in = &c->inputs[0];
	struct dim where = op_dim_get(c, 1);
	if (in->shape.rank >= 0 && where.kind == DIM_KNOWN) {
		int axis = op_axis(c, where.value, in->shape.rank, err);
		if (axis < 0)
			return -1;
		if (in->elements)
			cum_prod_elements(c, axis);
	}
	return op_shape_as_input(c, err);
}

static RULE_PROBLEM(cum_prod)
{
	op_cum_sum_problem(c, out);
	out->proxy = out->known;
}

/* ---- Det */

/* Square matrices behind the batch. */
static RULE_SHAPE(det)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank < 0)
		return 0;
	if (x.rank < 2 || dim_differs(x.dims[x.rank - 2], x.dims[x.rank - 1]))
		return op_fail(c, err, "%s holds no square matrices", shape_text(c->arena, x));
	c->outputs[0].shape = op_shape_copy(c->arena, (struct shape){ x.rank - 2, x.dims });
	return 0;
}

/* Elimination takes 2/3 n^3 operations (Golub and Van Loan, Matrix Computations, 3.2). */
static RULE_COST(det)
{
	struct shape x = c->inputs[0].shape;
	struct dim n = x.rank > 0 ? x.dims[x.rank - 1] : dim_unknown();
	cost->flops = op_count(&c->inputs[0]) * (n.kind == DIM_KNOWN ? (double)n.value * 2 / 3 : NAN);
	cost->bytes = op_bytes_all(c);
}

/* ---- rows */

#define COPY "measured as a plain copy of equal bytes"

static const struct op rows[] = {
	{ "LpNormalization", "", 1, 0, 1, 1, CLASS_MEMORY, line_shape, lp_normalization_cost,
		lp_normalization_problem, NULL, "measured as RMSNormalization or Softmax" },
	{ "Hardmax", "", 1, 0, 1, 1, CLASS_MEMORY, op_softmax_shape, hardmax_cost, hardmax_problem, NULL,
		"measured as Softmax" },
	{ "MeanVarianceNormalization", "", 1, 0, 1, 1, CLASS_MEMORY, mean_variance_shape, mean_variance_cost,
		mean_variance_problem, NULL, "measured as LayerNormalization" },
	{ "GlobalLpPool", "", 1, 0, 1, 1, CLASS_MEMORY, op_global_pool_shape, global_lp_pool_cost,
		global_lp_pool_problem, NULL, "other powers than 2 measured as it" },
	{ "CumProd", "", 26, 0, 2, 2, CLASS_MEMORY, cum_prod_shape, op_cum_sum_cost, cum_prod_problem, NULL,
		"measured as CumSum" },
	{ "Det", "", 11, 0, 1, 1, CLASS_MEMORY, det_shape, det_cost, op_problem_mover, NULL, COPY },
};
const struct op_rows op_line_rows = OP_ROWS(rows);
