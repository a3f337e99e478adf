/* Experimental operators of the first opsets: removed from the standard, still found in old models. Their
 * domain is ai.onnx, and no later operator reuses their names. */
#include "config.h"

#include "ops/rules/op_rules.h"

/* ---- Crop */

/* border: columns and rows removed at the left, top, right and bottom. scale: height and width of the output,
 * after the border at the left and the top is removed. */
static RULE_SHAPE(crop)
{
	struct shape x = c->inputs[0].shape;
	struct op_list border = op_list_get(c, "border", -1), size = op_list_get(c, "scale", -1);
	if (x.rank < 0)
		return 0;
	if (x.rank != 4)
		return op_fail(c, err, "an input of rank %d, not 4", x.rank);
	if (!op_list_all_known(&border) || border.count != 4 || op_list_sizes(c, &border, err))
		return op_fail(c, err, "border is missing, or is not four sizes");
	if (size.state == OP_LIST_KNOWN && size.count != 2)
		return op_fail(c, err, "scale is not two numbers");
	struct shape y = op_shape_copy(c->arena, x);
	for (int i = 0; i < 2; i++) {
		struct dim cut = dim_add(c->arena, border.at[1 - i], border.at[3 - i]);
		struct dim left = dim_sub(c->arena, x.dims[2 + i], cut);
		y.dims[2 + i] = size.state == OP_LIST_KNOWN ? size.at[i] : left;
		if (y.dims[2 + i].kind == DIM_KNOWN && y.dims[2 + i].value < 0)
			return op_fail(c, err, "the crop leaves nothing of %s", shape_text(c->arena, x));
	}
	c->outputs[0].shape = y;
	return 0;
}

/* ---- ConstantFill, GivenTensorFill */

/* The shape comes from the input's shape, the input's contents or the attribute `shape`; extra_shape is
 * appended to it. */
static RULE_SHAPE(fill)
{
	struct op_list extra = op_list_get(c, "extra_shape", -1), given = op_list_get(c, "shape", -1);
	bool floats = text_is(c->node->op, "GivenTensorFill"),
	     inside = node_int(c->node, "input_as_shape", 0) != 0;
	c->outputs[0].dtype = floats ? DTYPE_F32 : op_dtype_get(c, "dtype", DTYPE_F32);
	if (op_in(c, 0) && inside)
		given = op_list_get(c, NULL, 0);
	struct shape front = { given.state == OP_LIST_KNOWN ? given.count : -1, given.at };
	if (op_in(c, 0) && !inside)
		front = c->inputs[0].shape;
	if (op_list_sizes(c, &given, err) || op_list_sizes(c, &extra, err))
		return -1;
	if (front.rank < 0 || extra.state == OP_LIST_UNKNOWN || front.rank + extra.count > OP_RANK_MAX)
		return 0;
	struct shape s = shape_make(c->arena, front.rank + extra.count);
	for (int i = 0; i < s.rank; i++)
		s.dims[i] = i < front.rank ? front.dims[i] : extra.at[i - front.rank];
	c->outputs[0].shape = s;
	return 0;
}

/* ---- elementwise: alpha x + beta and similar, two or three operations per element */

static RULE_COST(two)
{
	cost->flops = 2 * op_count(&c->outputs[0]);
	cost->bytes = op_bytes_all(c);
}

static RULE_COST(three)
{
	cost->flops = 3 * op_count(&c->outputs[0]);
	cost->bytes = op_bytes_all(c);
}

static RULE_PROBLEM(affine)
{
	op_problem_eltwise(c, &c->inputs[0], MODE_LINEAR_MAP, node_float(c->node, "alpha", 1),
		node_float(c->node, "beta", 0), out);
}

static RULE_PROBLEM(scale)
{
	op_problem_eltwise(c, &c->inputs[0], MODE_LINEAR_MAP, node_float(c->node, "scale", 1), 0, out);
}

/* One scale for all elements and one bias per channel. */
static RULE_PROBLEM(image_scaler)
{
	op_problem_eltwise(c, &c->inputs[0], MODE_LINEAR_MAP, node_float(c->node, "scale", 1), 0, out);
	out->proxy = out->known;
}

static RULE_PROBLEM(softplus)
{
	op_problem_eltwise(c, &c->inputs[0], MODE_SOFTPLUS, 0, 0, out);
	out->proxy = out->known;
}

static RULE_PROBLEM(scaled_tanh)
{
	op_problem_eltwise(c, &c->inputs[0], MODE_TANH, 0, 0, out);
	out->proxy = out->known;
}

/* ---- GRUUnit */

/* One GRU step after its matmuls: two sigmoids, a tanh and the interpolation of old and new state. */
static RULE_COST(gru_unit)
{
	cost->flops = 8 * op_count(&c->outputs[0]);
	cost->bytes = op_bytes_all(c);
}

/* ---- operator table */

#define OLD "experimental, dropped from the standard"
#define ELTWISE(name, cost, problem)                                                                         \
	{                                                                                                    \
		name, "", 1, 0, 1, 1, CLASS_MEMORY, op_shape_as_input, cost, problem, NULL, OLD              \
	}

static const struct op rows[] = {
	ELTWISE("Affine", two_cost, affine_problem),
	ELTWISE("ImageScaler", two_cost, image_scaler_problem),
	ELTWISE("ParametricSoftplus", three_cost, softplus_problem),
	ELTWISE("Scale", op_cost_eltwise, scale_problem),
	ELTWISE("ScaledTanh", three_cost, scaled_tanh_problem),
	{ "ConstantFill", "", 1, 0, 0, 1, CLASS_MOVE, fill_shape, op_constant_of_shape_cost,
		op_constant_of_shape_problem, NULL, OLD },
	{ "Crop", "", 1, 0, 1, 1, CLASS_MOVE, crop_shape, op_taken_cost, op_problem_mover, op_same_shape_free,
		OLD },
	{ "DynamicSlice", "", 1, 0, 3, 4, CLASS_MOVE, op_slice_shape, op_taken_cost, op_problem_mover,
		op_slice_free, OLD },
	{ "GRUUnit", "", 1, 0, 2, 4, CLASS_MEMORY, op_shape_as_input, gru_unit_cost, op_problem_mover, NULL,
		OLD },
	{ "GivenTensorFill", "", 1, 0, 0, 1, CLASS_MOVE, fill_shape, op_constant_of_shape_cost,
		op_constant_of_shape_problem, NULL, OLD },
};
const struct op_rows op_old_rows = OP_ROWS(rows);
