/* Elementwise functions of one tensor. Each row has the function that oneDNN-like libraries offer; without
 * one, a comparable function, and the problem is a proxy. */
#include "config.h"

#include "ops/rules/op_rules.h"

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
	const struct eltwise *row = c->op->own;
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
	const struct eltwise *row = c->op->own;
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
#define OWN(...) &(const struct eltwise){ __VA_ARGS__ }
#define ELTWISE(name, since, note, flags, ...)                                                               \
	{ name, "", since, 0, 1, 1, CLASS_MEMORY, eltwise_shape, op_cost_eltwise, eltwise_problem, NULL, \
		note, OWN(__VA_ARGS__), flags, QUANT_NONE }
/* What libraries apply to the results of another kernel, also of an integer one. */
#define AS_ACTIVATION OP_ANY_LAYOUT | OP_ACTIVATION | OP_EPILOGUE, QUANT_SINGLE
#define ACTIVATION(name, since, mode, parameters, ...)                                                       \
	{ name, "", since, 0, 1, 1, CLASS_MEMORY, eltwise_shape, op_cost_eltwise, eltwise_problem, NULL, \
		NULL, OWN(mode, parameters, false, __VA_ARGS__), AS_ACTIVATION }
#define CLIP(since, until, most)                                                                             \
	{ "Clip", "", since, until, 1, most, CLASS_MEMORY, eltwise_shape, op_cost_eltwise, eltwise_problem, \
		clip_free, NULL, OWN(MODE_CLIP, PARAMETERS_CLIP, false, 0, 0, NULL), AS_ACTIVATION }

static const struct op rows[] = {
	ELTWISE("Abs", 1, NULL, OP_ANY_LAYOUT, MODE_ABS, PARAMETERS_FIXED, false, 0, 0, fabs),
	ELTWISE("Acos", 7, AS_TANH, 0, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, acos),
	ELTWISE("Acosh", 9, AS_TANH, 0, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, acosh),
	ELTWISE("Asin", 7, AS_TANH, 0, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, asin),
	ELTWISE("Asinh", 9, AS_TANH, 0, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, asinh),
	ELTWISE("Atan", 7, AS_TANH, 0, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, atan),
	ELTWISE("Atanh", 9, AS_TANH, 0, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, atanh),
	ELTWISE("Ceil", 1, "measured as rounding", OP_ANY_LAYOUT,
		MODE_ROUND, PARAMETERS_FIXED, true, 0, 0, ceil),
	ELTWISE("Celu", 12, "measured as Elu", 0, MODE_ELU, PARAMETERS_ALPHA, true, 1, 0, NULL),
	CLIP(1, 10, 1),
	CLIP(11, 0, 3),
	ELTWISE("Cos", 7, AS_TANH, OP_ANY_LAYOUT, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, cos),
	ELTWISE("Cosh", 9, AS_TANH, 0, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, cosh),
	ELTWISE("Elu", 1, NULL, OP_ACTIVATION | OP_EPILOGUE, MODE_ELU, PARAMETERS_ALPHA, false, 1, 0, NULL),
	ELTWISE("Erf", 9, "measured as erf-Gelu", OP_ANY_LAYOUT | OP_EPILOGUE,
		MODE_GELU_ERF, PARAMETERS_FIXED, true, 0, 0, erf),
	ELTWISE("Exp", 1, NULL, OP_ANY_LAYOUT, MODE_EXP, PARAMETERS_FIXED, false, 0, 0, exp),
	ELTWISE("Floor", 1, "measured as rounding", OP_ANY_LAYOUT,
		MODE_ROUND, PARAMETERS_FIXED, true, 0, 0, floor),
	ACTIVATION("Gelu", 20, MODE_GELU_ERF, PARAMETERS_GELU, 0, 0, NULL),
	ACTIVATION("HardSigmoid", 1, MODE_HARD_SIGMOID, PARAMETERS_BOTH, 0.2f, 0.5f, NULL),
	ACTIVATION("HardSwish", 14, MODE_HARD_SWISH, PARAMETERS_FIXED, 0, 0, NULL),
	ACTIVATION("LeakyRelu", 1, MODE_LEAKY_RELU, PARAMETERS_ALPHA, 0.01f, 0, NULL),
	ELTWISE("Log", 1, NULL, OP_ANY_LAYOUT, MODE_LOG, PARAMETERS_FIXED, false, 0, 0, log),
	ELTWISE("Mish", 18, NULL, OP_ACTIVATION, MODE_MISH, PARAMETERS_FIXED, false, 0, 0, NULL),
	ELTWISE("Neg", 1, NULL, OP_ANY_LAYOUT, MODE_LINEAR_MAP, PARAMETERS_FIXED, false, -1, 0, value_neg),
	ELTWISE("Reciprocal", 1, NULL, OP_ANY_LAYOUT,
		MODE_POW, PARAMETERS_FIXED, false, 1, -1, value_reciprocal),
	ACTIVATION("Relu", 1, MODE_RELU, PARAMETERS_FIXED, 0, 0, value_relu),
	ELTWISE("Round", 11, NULL, OP_ANY_LAYOUT, MODE_ROUND, PARAMETERS_FIXED, false, 0, 0, rint),
	ELTWISE("Selu", 1, "measured as Elu", 0, MODE_ELU, PARAMETERS_ALPHA, true, 1.6732632f, 0, NULL),
	ELTWISE("Shrink", 9, "measured as Clip", 0, MODE_CLIP, PARAMETERS_FIXED, true, -1, 1, NULL),
	ACTIVATION("Sigmoid", 1, MODE_SIGMOID, PARAMETERS_FIXED, 0, 0, value_sigmoid),
	ELTWISE("Sign", 9, "measured as Abs", OP_ANY_LAYOUT,
		MODE_ABS, PARAMETERS_FIXED, true, 0, 0, value_sign),
	ELTWISE("Sin", 7, AS_TANH, OP_ANY_LAYOUT, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, sin),
	ELTWISE("Sinh", 9, AS_TANH, 0, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, sinh),
	ELTWISE("Softplus", 1, NULL, OP_ACTIVATION, MODE_SOFTPLUS, PARAMETERS_FIXED, false, 0, 0, NULL),
	ELTWISE("Softsign", 1, "measured as Sigmoid", 0, MODE_SIGMOID, PARAMETERS_FIXED, true, 0, 0, NULL),
	ELTWISE("Sqrt", 1, NULL, OP_ANY_LAYOUT | OP_EPILOGUE, MODE_SQRT, PARAMETERS_FIXED, false, 0, 0, sqrt),
	ELTWISE("Swish", 24, NULL, 0, MODE_SWISH, PARAMETERS_ALPHA, false, 1, 0, NULL),
	ELTWISE("Tan", 7, AS_TANH, 0, MODE_TANH, PARAMETERS_FIXED, true, 0, 0, tan),
	ACTIVATION("Tanh", 1, MODE_TANH, PARAMETERS_FIXED, 0, 0, tanh),
	ELTWISE("ThresholdedRelu", 1, "measured as Relu", 0, MODE_RELU, PARAMETERS_FIXED, true, 0, 0, NULL),
	{ "Gelu", "com.microsoft", 1, 0, 1, 1, CLASS_MEMORY, eltwise_shape, op_cost_eltwise,
		eltwise_problem, NULL, NULL,
		OWN(MODE_GELU_ERF, PARAMETERS_GELU, false, 0, 0, NULL), OP_EPILOGUE, QUANT_NONE },
	{ "QuickGelu", "com.microsoft", 1, 0, 1, 1, CLASS_MEMORY, eltwise_shape, op_cost_eltwise,
		eltwise_problem, NULL, NULL,
		OWN(MODE_SWISH, PARAMETERS_ALPHA, false, 1.702f, 0, NULL) },
	{ "Not", "", 1, 0, 1, 1, CLASS_MEMORY, not_shape, op_cost_eltwise, op_problem_mover, NULL, OP_COPY,
		.flags = OP_ANY_LAYOUT },
	{ "BitwiseNot", "", 18, 0, 1, 1, CLASS_MEMORY, bitwise_not_shape, op_cost_eltwise, op_problem_mover,
		NULL, OP_COPY },
	{ "IsNaN", "", 9, 0, 1, 1, CLASS_MEMORY, test_shape, op_cost_eltwise, op_problem_mover, NULL,
		OP_COPY },
	{ "IsInf", "", 10, 0, 1, 1, CLASS_MEMORY, test_shape, op_cost_eltwise, op_problem_mover, NULL,
		OP_COPY },
};
const struct op_rows op_eltwise_rows = OP_ROWS(rows);
