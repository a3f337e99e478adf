/* Elementwise functions of one tensor. Each row has the function that oneDNN-like libraries offer; without
 * one, a comparable function, and the problem is a proxy. */
#include "config.h"

#include "ops/op_rules.h"

#include <float.h>
#include <math.h>

/* Source of a mode's parameters. */
enum eltwise_parameters {
	PARAMETERS_FIXED, /* alpha, beta of the row */
	PARAMETERS_ALPHA, /* attribute alpha, row's alpha when absent */
	PARAMETERS_BOTH,  /* attributes alpha and beta */
	PARAMETERS_CLIP,  /* attributes or inputs min and max */
	PARAMETERS_GELU	  /* attribute approximate decides the mode */
};

struct eltwise {
	const char *name;
	enum mode mode;
	enum eltwise_parameters parameters;
	bool proxy;
	float alpha, beta;
	double (*value)(double x); /* for data propagation, or NULL */
};

static double value_relu(double x)
{
	return x > 0 ? x : 0;
}
static double value_sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}
static double value_neg(double x)
{
	return -x;
}
static double value_reciprocal(double x)
{
	return 1 / x;
}
static double value_sign(double x)
{
	return (x > 0) - (x < 0);
}

/* Sorted by name (ASCII) for binary search. */
static const struct eltwise functions[] = {
	{ "Abs", MODE_ABS, PARAMETERS_FIXED, false, 0, 0, fabs },
	{ "Acos", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, acos },
	{ "Acosh", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, acosh },
	{ "Asin", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, asin },
	{ "Asinh", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, asinh },
	{ "Atan", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, atan },
	{ "Atanh", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, atanh },
	{ "Ceil", MODE_ROUND, PARAMETERS_FIXED, true, 0, 0, ceil },
	{ "Celu", MODE_ELU, PARAMETERS_ALPHA, true, 1, 0, NULL },
	{ "Clip", MODE_CLIP, PARAMETERS_CLIP, false, 0, 0, NULL },
	{ "Cos", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, cos },
	{ "Cosh", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, cosh },
	{ "Elu", MODE_ELU, PARAMETERS_ALPHA, false, 1, 0, NULL },
	{ "Erf", MODE_GELU_ERF, PARAMETERS_FIXED, true, 0, 0, erf },
	{ "Exp", MODE_EXP, PARAMETERS_FIXED, false, 0, 0, exp },
	{ "Floor", MODE_ROUND, PARAMETERS_FIXED, true, 0, 0, floor },
	{ "Gelu", MODE_GELU_ERF, PARAMETERS_GELU, false, 0, 0, NULL },
	{ "HardSigmoid", MODE_HARD_SIGMOID, PARAMETERS_BOTH, false, 0.2f, 0.5f, NULL },
	{ "HardSwish", MODE_HARD_SWISH, PARAMETERS_FIXED, false, 0, 0, NULL },
	{ "LeakyRelu", MODE_LEAKY_RELU, PARAMETERS_ALPHA, false, 0.01f, 0, NULL },
	{ "Log", MODE_LOG, PARAMETERS_FIXED, false, 0, 0, log },
	{ "Mish", MODE_MISH, PARAMETERS_FIXED, false, 0, 0, NULL },
	{ "Neg", MODE_LINEAR_MAP, PARAMETERS_FIXED, false, -1, 0, value_neg },
	{ "QuickGelu", MODE_SWISH, PARAMETERS_ALPHA, false, 1.702f, 0, NULL },
	{ "Reciprocal", MODE_POW, PARAMETERS_FIXED, false, 1, -1, value_reciprocal },
	{ "Relu", MODE_RELU, PARAMETERS_FIXED, false, 0, 0, value_relu },
	{ "Round", MODE_ROUND, PARAMETERS_FIXED, false, 0, 0, rint },
	{ "Selu", MODE_ELU, PARAMETERS_ALPHA, true, 1.6732632f, 0, NULL },
	{ "Shrink", MODE_CLIP, PARAMETERS_FIXED, true, -1, 1, NULL },
	{ "Sigmoid", MODE_SIGMOID, PARAMETERS_FIXED, false, 0, 0, value_sigmoid },
	{ "Sign", MODE_ABS, PARAMETERS_FIXED, true, 0, 0, value_sign },
	{ "Sin", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, sin },
	{ "Sinh", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, sinh },
	{ "Softplus", MODE_SOFTPLUS, PARAMETERS_FIXED, false, 0, 0, NULL },
	{ "Softsign", MODE_SIGMOID, PARAMETERS_FIXED, true, 0, 0, NULL },
	{ "Sqrt", MODE_SQRT, PARAMETERS_FIXED, false, 0, 0, sqrt },
	{ "Swish", MODE_SWISH, PARAMETERS_ALPHA, false, 1, 0, NULL },
	{ "Tan", MODE_TANH, PARAMETERS_FIXED, true, 0, 0, tan },
	{ "Tanh", MODE_TANH, PARAMETERS_FIXED, false, 0, 0, tanh },
	{ "ThresholdedRelu", MODE_RELU, PARAMETERS_FIXED, true, 0, 0, NULL },
};

static const struct eltwise *eltwise_find(const char *name)
{
	return op_row_find(functions, sizeof(functions) / sizeof(functions[0]), sizeof(functions[0]), name);
}

/* ---- shapes and contents */

static struct dim eltwise_int(struct arena *a, const struct eltwise *row, struct dim x)
{
	struct dim zero = dim_known(0), negative = dim_sub(a, zero, x);
	if (row->value == value_neg)
		return negative;
	if (row->value == fabs)
		return dim_max(a, x, negative);
	if (row->value == value_relu)
		return dim_max(a, x, zero);
	if (row->value == value_sign && x.kind == DIM_KNOWN)
		return dim_known((x.value > 0) - (x.value < 0));
	return dim_unknown();
}

/* Clips to two limits; the upper one wins. If a limit is present but unknown, all elements are. */
static const struct elements *clip_elements(const struct op_call *c, const struct elements *from)
{
	const struct op_value *low = c->opset < 11 ? NULL : op_in(c, 1),
		*high = c->opset < 11 ? NULL : op_in(c, 2);
	double lo = op_float_get(c, c->opset < 11 ? "min" : NULL, low ? 1 : -1, (double)-INFINITY);
	double hi = op_float_get(c, c->opset < 11 ? "max" : NULL, high ? 2 : -1, (double)INFINITY);
	bool whole = from->i && (!low || (low->elements && low->elements->i && low->elements->count == 1)) &&
		     (!high || (high->elements && high->elements->i && high->elements->count == 1));
	struct elements *e = op_elements_new(c->arena, from->count, from->f != NULL);
	for (int i = 0; i < from->count; i++) {
		if (e->f) {
			double least = from->f[i] < lo ? lo : from->f[i];
			e->f[i] = isnan(lo) || isnan(hi) ? NAN : least > hi ? hi : least;
		} else if (whole) {
			struct dim d = from->i[i];
			d = low ? dim_max(c->arena, d, low->elements->i[0]) : d;
			e->i[i] = high ? dim_min(c->arena, d, high->elements->i[0]) : d;
		}
	}
	return e;
}

static int eltwise_shape(struct op_call *c, struct error *err)
{
	const struct eltwise *row = eltwise_find(c->op->name);
	const struct elements *from = c->inputs[0].elements;
	if (from && row->parameters == PARAMETERS_CLIP) {
		c->outputs[0].elements = clip_elements(c, from);
	} else if (from && row->value) {
		struct elements *e = op_elements_new(c->arena, from->count, from->f != NULL);
		for (int i = 0; i < from->count; i++) {
			if (e->f)
				e->f[i] = op_float_round(c->inputs[0].dtype, row->value(from->f[i]));
			else
				e->i[i] = eltwise_int(c->arena, row, from->i[i]);
		}
		c->outputs[0].elements = e;
	}
	return op_shape_as_input(c, err);
}

/* Not: bool in, bool out. */
static int not_shape(struct op_call *c, struct error *err)
{
	const struct elements *from = c->inputs[0].elements;
	c->outputs[0].dtype = DTYPE_BOOL;
	if (from && from->i) {
		struct elements *e = op_elements_new(c->arena, from->count, false);
		for (int i = 0; i < from->count; i++) {
			if (from->i[i].kind == DIM_KNOWN)
				e->i[i] = dim_known(from->i[i].value == 0);
		}
		c->outputs[0].elements = e;
	}
	return op_shape_as_input(c, err);
}

/* IsNaN, IsInf: a NaN among known contents stands for unknown. */
static int test_shape(struct op_call *c, struct error *err)
{
	const struct elements *from = c->inputs[0].elements;
	bool infinite = text_is(c->node->op, "IsInf"), above = node_int(c->node, "detect_positive", 1) != 0,
	     below = node_int(c->node, "detect_negative", 1) != 0;
	c->outputs[0].dtype = DTYPE_BOOL;
	if (from && from->f) {
		struct elements *e = op_elements_new(c->arena, from->count, false);
		for (int i = 0; i < from->count; i++) {
			double v = from->f[i];
			if (!isnan(v))
				e->i[i] = dim_known(infinite && isinf(v) && (v > 0 ? above : below));
		}
		c->outputs[0].elements = e;
	}
	return op_shape_as_input(c, err);
}

/* BitwiseNot: -1 - x; for unsigned types its lowest bits. */
static int bitwise_not_shape(struct op_call *c, struct error *err)
{
	const struct elements *from = c->inputs[0].elements;
	enum dtype t = c->inputs[0].dtype;
	int64_t ones = op_int_fits(t, -1) ? -1 : dtype_bits(t) < 63 ? ((int64_t)1 << dtype_bits(t)) - 1 : 0;
	if (from && from->i && ones) {
		struct elements *e = op_elements_new(c->arena, from->count, false);
		for (int i = 0; i < from->count; i++)
			e->i[i] = dim_sub(c->arena, dim_known(ones), from->i[i]);
		c->outputs[0].elements = e;
	}
	return op_shape_as_input(c, err);
}

/* ---- problems */

void op_problem_eltwise(const struct op_call *c, const struct op_value *in, enum mode mode, float alpha,
	float beta, struct op_problem *out)
{
	if (!op_problem_value(c, in, out) || !op_problem_value(c, &c->outputs[0], out))
		return;
	if (!dtype_is_float(in->dtype) && !(op_is_byte(in->dtype) && op_is_byte(c->outputs[0].dtype))) {
		op_problem_mover(c, out);
		return;
	}
	struct problem *p = op_problem_map(out, KERNEL_ELTWISE, mode, in, &c->outputs[0]);
	p->alpha = alpha;
	p->beta = beta;
}

/* Limits a parameter to float's range. */
static float float_in_range(double v)
{
	return v > FLT_MAX ? FLT_MAX : v < -FLT_MAX ? -FLT_MAX : (float)v;
}

static void clip_problem(const struct op_call *c, struct op_problem *out)
{
	bool inputs = c->opset >= 11;
	double lo = op_float_get(c, inputs ? NULL : "min", inputs ? 1 : -1, -FLT_MAX);
	double hi = op_float_get(c, inputs ? NULL : "max", inputs ? 2 : -1, FLT_MAX);
	bool guessed = isnan(lo) || isnan(hi); /* limits computed at run time cost the same */
	op_problem_eltwise(c, &c->inputs[0], MODE_CLIP, isnan(lo) ? -FLT_MAX : float_in_range(lo),
		isnan(hi) ? FLT_MAX : float_in_range(hi), out);
	out->proxy = out->proxy || (out->known && guessed);
}

static void eltwise_problem(const struct op_call *c, struct op_problem *out)
{
	const struct eltwise *row = eltwise_find(c->op->name);
	enum mode mode = row->mode;
	float alpha = row->alpha, beta = row->beta;
	if (row->parameters == PARAMETERS_CLIP) {
		clip_problem(c, out);
		return;
	}
	if (row->parameters == PARAMETERS_ALPHA || row->parameters == PARAMETERS_BOTH)
		alpha = node_float(c->node, "alpha", alpha);
	if (row->parameters == PARAMETERS_BOTH)
		beta = node_float(c->node, "beta", beta);
	if (row->parameters == PARAMETERS_GELU &&
		text_is(node_string(c->node, "approximate", "none"), "tanh"))
		mode = MODE_GELU_TANH;
	if (!isfinite(alpha) || !isfinite(beta)) {
		op_problem_why(out, "a parameter is not finite");
		return;
	}
	op_problem_eltwise(c, &c->inputs[0], mode, alpha, beta, out);
	out->proxy = out->proxy || (out->known && row->proxy);
}

/* True if the limits change nothing. */
static bool clip_free(const struct op_call *c)
{
	bool inputs = c->opset >= 11;
	if (inputs)
		return !op_in(c, 1) && !op_in(c, 2);
	return !node_attribute(c->node, "min") && !node_attribute(c->node, "max");
}

#define AS_TANH "measured as Tanh"
#define ELTWISE(name, since, note)                                                                           \
	{ name, "", since, 0, 1, 1, CLASS_MEMORY, eltwise_shape, op_cost_eltwise, eltwise_problem, NULL, \
		note }

static const struct op rows[] = {
	ELTWISE("Abs", 1, NULL),
	ELTWISE("Acos", 7, AS_TANH),
	ELTWISE("Acosh", 9, AS_TANH),
	ELTWISE("Asin", 7, AS_TANH),
	ELTWISE("Asinh", 9, AS_TANH),
	ELTWISE("Atan", 7, AS_TANH),
	ELTWISE("Atanh", 9, AS_TANH),
	ELTWISE("Ceil", 1, "measured as rounding"),
	ELTWISE("Celu", 12, "measured as Elu"),
	{ "Clip", "", 1, 10, 1, 1, CLASS_MEMORY, eltwise_shape, op_cost_eltwise, eltwise_problem, clip_free,
		NULL },
	{ "Clip", "", 11, 0, 1, 3, CLASS_MEMORY, eltwise_shape, op_cost_eltwise, eltwise_problem, clip_free,
		NULL },
	ELTWISE("Cos", 7, AS_TANH),
	ELTWISE("Cosh", 9, AS_TANH),
	ELTWISE("Elu", 1, NULL),
	ELTWISE("Erf", 9, "measured as erf-Gelu"),
	ELTWISE("Exp", 1, NULL),
	ELTWISE("Floor", 1, "measured as rounding"),
	ELTWISE("Gelu", 20, NULL),
	ELTWISE("HardSigmoid", 1, NULL),
	ELTWISE("HardSwish", 14, NULL),
	ELTWISE("LeakyRelu", 1, NULL),
	ELTWISE("Log", 1, NULL),
	ELTWISE("Mish", 18, NULL),
	ELTWISE("Neg", 1, NULL),
	ELTWISE("Reciprocal", 1, NULL),
	ELTWISE("Relu", 1, NULL),
	ELTWISE("Round", 11, NULL),
	ELTWISE("Selu", 1, "measured as Elu"),
	ELTWISE("Shrink", 9, "measured as Clip"),
	ELTWISE("Sigmoid", 1, NULL),
	ELTWISE("Sign", 9, "measured as Abs"),
	ELTWISE("Sin", 7, AS_TANH),
	ELTWISE("Sinh", 9, AS_TANH),
	ELTWISE("Softplus", 1, NULL),
	ELTWISE("Softsign", 1, "measured as Sigmoid"),
	ELTWISE("Sqrt", 1, NULL),
	ELTWISE("Swish", 24, NULL),
	ELTWISE("Tan", 7, AS_TANH),
	ELTWISE("Tanh", 1, NULL),
	ELTWISE("ThresholdedRelu", 1, "measured as Relu"),
	{ "Gelu", "com.microsoft", 1, 0, 1, 1, CLASS_MEMORY, eltwise_shape, op_cost_eltwise, eltwise_problem,
		NULL, NULL },
	{ "QuickGelu", "com.microsoft", 1, 0, 1, 1, CLASS_MEMORY, eltwise_shape, op_cost_eltwise,
		eltwise_problem, NULL, NULL },
	{ "Not", "", 1, 0, 1, 1, CLASS_MEMORY, not_shape, op_cost_eltwise, op_problem_mover, NULL, OP_COPY },
	{ "BitwiseNot", "", 18, 0, 1, 1, CLASS_MEMORY, bitwise_not_shape, op_cost_eltwise, op_problem_mover,
		NULL, OP_COPY },
	{ "IsNaN", "", 9, 0, 1, 1, CLASS_MEMORY, test_shape, op_cost_eltwise, op_problem_mover, NULL,
		OP_COPY },
	{ "IsInf", "", 10, 0, 1, 1, CLASS_MEMORY, test_shape, op_cost_eltwise, op_problem_mover, NULL,
		OP_COPY },
};
const struct op_rows op_eltwise_rows = OP_ROWS(rows);
