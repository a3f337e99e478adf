/* Elementwise functions of two or more tensors, with numpy's broadcasting or, before opset 7, the attributes
 * `broadcast` and `axis`. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include <float.h>
#include <math.h>

enum binary_kind {
	BINARY_ADD,
	BINARY_SUB,
	BINARY_MUL,
	BINARY_DIV,
	BINARY_POW,
	BINARY_MOD,
	BINARY_MAX,
	BINARY_MIN,
	BINARY_MEAN,
	BINARY_EQUAL,
	BINARY_LESS,
	BINARY_LESS_EQ,
	BINARY_GREATER,
	BINARY_GREATER_EQ,
	BINARY_AND,
	BINARY_OR,
	BINARY_XOR,
	BINARY_PRELU,
	BINARY_SHIFT,
	BINARY_BITS_AND,
	BINARY_BITS_OR,
	BINARY_BITS_XOR,
	BINARY_COUNT
};

struct binary {
	enum binary_kind kind;
	enum mode mode; /* MODE_NONE: a copy */
	bool proxy;	/* the mode is only similar */
	bool commutes;
	bool to_bool;
};

/* ---- shapes */

/* The second operand aligned as in opsets 1 to 6: its dimensions start at `axis` of the first. */
static struct shape aligned_shape(const struct op_call *c, struct shape a, struct shape b)
{
	const struct attribute *axis = node_attribute(c->node, "axis");
	if (c->opset >= 7 || !axis || a.rank < 0 || b.rank < 0 || !node_int(c->node, "broadcast", 0))
		return b;
	int64_t at = axis->i < 0 ? axis->i + a.rank : axis->i;
	if (at < 0 || at > a.rank - b.rank)
		return b;
	struct shape s = shape_make(c->arena, a.rank - (int)at);
	for (int i = 0; i < s.rank; i++)
		s.dims[i] = i < b.rank ? b.dims[i] : dim_known(1);
	return s;
}

/* A slope with one value per channel is along axis 1 (PRelu before opset 7, old Caffe models). */
static struct shape slope_shape(const struct op_call *c, struct shape x, struct shape slope)
{
	bool channels = c->opset < 7 && x.rank > 2 && slope.rank == 1 && dim_same(slope.dims[0], x.dims[1]);
	if (!channels)
		return slope;
	struct shape s = shape_make(c->arena, x.rank - 1);
	for (int i = 0; i < s.rank; i++)
		s.dims[i] = i == 0 ? slope.dims[0] : dim_known(1);
	return s;
}

static struct shape operand_shape(const struct op_call *c, const struct binary *row, int i)
{
	struct shape s = c->inputs[i].shape;
	if (i == 0)
		return s;
	return row->kind == BINARY_PRELU ? slope_shape(c, c->inputs[0].shape, s)
					 : aligned_shape(c, c->inputs[0].shape, s);
}

/* ---- contents */

/* Division toward zero as in C; symbolic if it is rounding down. */
static struct dim int_div(struct arena *a, struct dim x, struct dim y)
{
	if (y.kind == DIM_KNOWN && (y.value == 0 || (y.value == -1 && x.value == INT64_MIN)))
		return dim_unknown();
	if (x.kind == DIM_KNOWN && y.kind == DIM_KNOWN)
		return dim_known(x.value / y.value);
	return dim_nonnegative(x) && dim_nonnegative(y) ? dim_floor_div(a, x, y) : dim_div(a, x, y);
}

/* The sign is the divisor's (as in Python), or with fmod the dividend's (as in C). */
static struct dim int_mod(struct arena *a, struct dim x, struct dim y, bool fmod_way)
{
	if (x.kind != DIM_KNOWN || y.kind != DIM_KNOWN) {
		bool down = !fmod_way || (dim_nonnegative(x) && dim_nonnegative(y));
		struct dim quotient = down ? dim_floor_div(a, x, y) : dim_div(a, x, y);
		return dim_sub(a, x, dim_mul(a, quotient, y));
	}
	if (y.value == 0)
		return dim_unknown();
	if (y.value == -1)
		return dim_known(0);
	int64_t rest = x.value % y.value;
	if (!fmod_way && rest != 0 && (rest < 0) != (y.value < 0))
		rest += y.value;
	return dim_known(rest);
}

/* Bit operations on nonnegative integers, and shifts whose result is within the type. */
static struct dim int_bits(const struct op_call *c, enum binary_kind kind, struct dim x, struct dim y)
{
	bool left = text_is(node_string(c->node, "direction", ""), "LEFT");
	if (x.kind != DIM_KNOWN || y.kind != DIM_KNOWN)
		return dim_unknown();
	if (kind == BINARY_BITS_AND)
		return dim_known(x.value & y.value);
	if (kind == BINARY_BITS_OR)
		return dim_known(x.value | y.value);
	if (kind == BINARY_BITS_XOR)
		return dim_known(x.value ^ y.value);
	int bits = dtype_bits(c->inputs[0].dtype);
	if (x.value < 0 || y.value < 0 || y.value >= bits)
		return dim_unknown();
	if (!left)
		return dim_known(x.value >> y.value);
	if (bits > 32 && y.value >= 63)
		return x.value ? dim_unknown() : x;
	/* bits shifted out are lost */
	uint64_t shifted = (uint64_t)x.value << y.value;
	if (bits < 64)
		shifted &= ((uint64_t)1 << bits) - 1;
	else if (shifted >> y.value != (uint64_t)x.value)
		return dim_unknown();
	return shifted <= INT64_MAX ? dim_known((int64_t)shifted) : dim_unknown();
}

static struct dim int_pow(struct arena *a, struct dim x, struct dim y)
{
	struct dim power = dim_known(1);
	if (y.kind != DIM_KNOWN || y.value < 0 || y.value > 64)
		return dim_unknown();
	for (int64_t i = 0; i < y.value; i++)
		power = dim_mul(a, power, x);
	return power;
}

/* x < y (or <=) as 1, 0 or unknown: from numbers, or from a difference whose sign is certain. */
static struct dim int_less(struct arena *a, struct dim x, struct dim y, bool or_equal)
{
	struct dim one = dim_known(1);
	struct dim gap = dim_sub(a, y, x);  /* >= 0: x <= y */
	struct dim back = dim_sub(a, x, y); /* >= 0: y <= x */
	if (x.kind == DIM_KNOWN && y.kind == DIM_KNOWN)
		return dim_known(or_equal ? x.value <= y.value : x.value < y.value);
	if (dim_nonnegative(or_equal ? gap : dim_sub(a, gap, one)))
		return dim_known(1);
	if (dim_nonnegative(or_equal ? dim_sub(a, back, one) : back))
		return dim_known(0);
	return dim_unknown();
}

static struct dim int_equal(struct arena *a, struct dim x, struct dim y)
{
	if (dim_same(x, y))
		return dim_known(1);
	struct dim one = dim_known(1), above = dim_sub(a, dim_sub(a, x, y), one),
		   below = dim_sub(a, dim_sub(a, y, x), one);
	if (dim_differs(x, y) || dim_nonnegative(above) || dim_nonnegative(below))
		return dim_known(0);
	return dim_unknown();
}

static struct dim int_logic(enum binary_kind kind, struct dim x, struct dim y)
{
	bool x_true = x.kind == DIM_KNOWN && x.value, x_false = x.kind == DIM_KNOWN && !x.value;
	bool y_true = y.kind == DIM_KNOWN && y.value, y_false = y.kind == DIM_KNOWN && !y.value;
	if (kind == BINARY_AND && (x_false || y_false))
		return dim_known(0);
	if (kind == BINARY_OR && (x_true || y_true))
		return dim_known(1);
	if (x.kind != DIM_KNOWN || y.kind != DIM_KNOWN)
		return dim_unknown();
	return dim_known(kind == BINARY_XOR ? x_true != y_true : kind == BINARY_AND);
}

static struct dim binary_int(const struct op_call *c, enum binary_kind kind, struct dim x, struct dim y)
{
	struct arena *a = c->arena;
	switch (kind) {
	case BINARY_ADD:
		return dim_add(a, x, y);
	case BINARY_SUB:
		return dim_sub(a, x, y);
	case BINARY_MUL:
		return dim_mul(a, x, y);
	case BINARY_DIV:
		return int_div(a, x, y);
	case BINARY_MOD:
		return int_mod(a, x, y, node_int(c->node, "fmod", 0) != 0);
	case BINARY_POW:
		return int_pow(a, x, y);
	case BINARY_MAX:
		return dim_max(a, x, y);
	case BINARY_MIN:
		return dim_min(a, x, y);
	case BINARY_EQUAL:
		return int_equal(a, x, y);
	case BINARY_LESS:
		return int_less(a, x, y, false);
	case BINARY_LESS_EQ:
		return int_less(a, x, y, true);
	case BINARY_GREATER:
		return int_less(a, y, x, false);
	case BINARY_GREATER_EQ:
		return int_less(a, y, x, true);
	case BINARY_AND:
	case BINARY_OR:
	case BINARY_XOR:
		return int_logic(kind, x, y);
	case BINARY_SHIFT:
	case BINARY_BITS_AND:
	case BINARY_BITS_OR:
	case BINARY_BITS_XOR:
		return int_bits(c, kind, x, y);
	default:
		return dim_unknown();
	}
}

/* x - floor(x / y) * y: has the sign of y. */
static double floored_rest(double x, double y)
{
	double rest = fmod(x, y);
	return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static double binary_float(const struct op_call *c, enum binary_kind kind, double x, double y)
{
	switch (kind) {
	case BINARY_ADD:
	case BINARY_MEAN:
		return x + y;
	case BINARY_SUB:
		return x - y;
	case BINARY_MUL:
		return x * y;
	case BINARY_DIV:
		return x / y;
	case BINARY_MOD:
		return node_int(c->node, "fmod", 0) ? fmod(x, y) : floored_rest(x, y);
	case BINARY_POW:
		return isnan(x) || isnan(y) ? NAN : pow(x, y);
	case BINARY_MAX:
		return isnan(x) || isnan(y) ? NAN : fmax(x, y);
	case BINARY_MIN:
		return isnan(x) || isnan(y) ? NAN : fmin(x, y);
	default:
		return NAN;
	}
}

static struct dim compare_float(enum binary_kind kind, double x, double y)
{
	if (isnan(x) || isnan(y))
		return dim_unknown();
	switch (kind) {
	case BINARY_EQUAL:
		return dim_known(x == y);
	case BINARY_LESS:
		return dim_known(x < y);
	case BINARY_LESS_EQ:
		return dim_known(x <= y);
	case BINARY_GREATER:
		return dim_known(x > y);
	case BINARY_GREATER_EQ:
		return dim_known(x >= y);
	default:
		return dim_unknown();
	}
}

/* The contents of x and y combined, broadcast to `to`; NULL if they are unknown. */
static const struct elements *binary_elements(const struct op_call *c, const struct binary *row,
	struct shape to, const struct op_value *x, const struct op_value *y, struct shape y_shape)
{
	int count = op_elements_count(to);
	const struct elements *ex = x->elements, *ey = y->elements;
	if (count < 0 || !ex || !ey || (row->kind != BINARY_POW && (ex->f != NULL) != (ey->f != NULL)))
		return NULL;
	struct elements *e = op_elements_new(c->arena, count, !row->to_bool && ex->f);
	for (int i = 0; i < count; i++) {
		int ix = op_broadcast_index(to, i, x->shape), iy = op_broadcast_index(to, i, y_shape);
		if (e->f)
			e->f[i] = op_float_round(
				x->dtype, binary_float(c, row->kind, ex->f[ix],
						  ey->f				? ey->f[iy]
						  : ey->i[iy].kind == DIM_KNOWN ? (double)ey->i[iy].value
										: NAN));
		else if (ex->f)
			e->i[i] = compare_float(row->kind, ex->f[ix], ey->f[iy]);
		else if (ey->i)
			e->i[i] = binary_int(c, row->kind, ex->i[ix], ey->i[iy]);
		else if (ey->f[iy] == trunc(ey->f[iy]) && fabs(ey->f[iy]) < 64)
			e->i[i] = int_pow(c->arena, ex->i[ix], dim_known((int64_t)ey->f[iy]));
	}
	return e;
}

static const struct elements *mean_elements(const struct op_call *c, const struct elements *sum)
{
	if (!sum || !sum->f)
		return NULL;
	struct elements *e = op_elements_new(c->arena, sum->count, true);
	for (int i = 0; i < e->count; i++)
		e->f[i] = op_float_round(c->inputs[0].dtype, sum->f[i] / c->input_count);
	return e;
}

/* The slope is broadcast to the input, never the input to the slope. */
static int prelu_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape, slope = c->inputs[1].shape, to;
	bool known = shape_is_known(x) && shape_is_known(slope);
	if (known && op_broadcast(c, x, slope_shape(c, x, slope), &to, err))
		return -1;
	if (known && !op_shape_same(x, to))
		return op_fail(c, err, "the slope is larger than the input");
	return op_shape_as_input(c, err);
}

static int binary_shape(struct op_call *c, struct error *err)
{
	const struct binary *row = c->op->own;
	if (row->kind == BINARY_PRELU)
		return prelu_shape(c, err);
	struct op_value sum = c->inputs[0], *v = &c->outputs[0];
	for (int i = 1; i < c->input_count; i++) {
		if (!op_in(c, i))
			return op_fail(c, err, "input %d is missing", i);
		struct shape to, next = operand_shape(c, row, i);
		if (op_broadcast(c, sum.shape, next, &to, err))
			return -1;
		sum.elements = binary_elements(c, row, to, &sum, &c->inputs[i], next);
		sum.shape = to;
	}
	if (row->to_bool)
		v->dtype = DTYPE_BOOL;
	v->shape = sum.shape;
	v->elements = row->kind == BINARY_MEAN ? mean_elements(c, sum.elements) : sum.elements;
	return 0;
}

/* n - 1 operations per output element, and 1 more for a mean. */
static void binary_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct binary *row = c->op->own;
	int per_element = c->input_count - 1 + (row->kind == BINARY_MEAN);
	cost->flops = op_count(&c->outputs[0]) * per_element;
	cost->bytes = op_bytes_all(c);
}

static bool binary_free(const struct op_call *c)
{
	return c->input_count == 1;
}

/* ---- problems */

/* True if input `which` is one constant number and the other input has the output's shape: a function of one
 * tensor. */
static bool scalar_operand(const struct op_call *c, int which, double *value)
{
	const struct op_value *s = &c->inputs[which];
	return s->constant && op_scalar(s, value) && isfinite(*value) && fabs(*value) <= FLT_MAX &&
	       op_shape_same(c->inputs[1 - which].shape, c->outputs[0].shape);
}

static void pow_scalar(const struct op_call *c, double exponent, struct op_problem *out)
{
	enum mode mode = exponent == 2 ? MODE_SQUARE : exponent == 0.5 ? MODE_SQRT : MODE_POW;
	op_problem_eltwise(
		c, &c->inputs[0], mode, mode == MODE_POW, mode == MODE_POW ? (float)exponent : 0, out);
}

/* For a number on either side. False: there is no such function. */
static bool scalar_either(const struct op_call *c, enum binary_kind kind, const struct op_value *x, double s,
	struct op_problem *out)
{
	float f = (float)s;
	switch (kind) {
	case BINARY_ADD:
		op_problem_eltwise(c, x, MODE_LINEAR_MAP, 1, f, out);
		return true;
	case BINARY_MUL:
		op_problem_eltwise(c, x, MODE_LINEAR_MAP, f, 0, out);
		return true;
	case BINARY_MAX:
		op_problem_eltwise(
			c, x, s == 0 ? MODE_RELU : MODE_CLIP, s == 0 ? 0 : f, s == 0 ? 0 : FLT_MAX, out);
		return true;
	case BINARY_MIN:
		op_problem_eltwise(c, x, MODE_CLIP, -FLT_MAX, f, out);
		return true;
	default:
		return false;
	}
}

/* For a number on the right. */
static bool scalar_right(const struct op_call *c, enum binary_kind kind, double s, struct op_problem *out)
{
	const struct op_value *x = &c->inputs[0];
	switch (kind) {
	case BINARY_SUB:
		op_problem_eltwise(c, x, MODE_LINEAR_MAP, 1, 0 - (float)s, out);
		return true;
	case BINARY_DIV:
		if (!isfinite((float)(1 / s)))
			return false;
		op_problem_eltwise(c, x, MODE_LINEAR_MAP, (float)(1 / s), 0, out);
		return true;
	case BINARY_PRELU:
		op_problem_eltwise(c, x, MODE_LEAKY_RELU, (float)s, 0, out);
		return true;
	default:
		return scalar_either(c, kind, x, s, out);
	}
}

/* For a number on the left. */
static bool scalar_left(const struct op_call *c, enum binary_kind kind, double s, struct op_problem *out)
{
	const struct op_value *x = &c->inputs[1];
	switch (kind) {
	case BINARY_SUB:
		op_problem_eltwise(c, x, MODE_LINEAR_MAP, -1, (float)s, out);
		return true;
	case BINARY_DIV:
		op_problem_eltwise(c, x, MODE_POW, (float)s, -1, out);
		return true;
	case BINARY_POW:
		op_problem_eltwise(c, x, MODE_EXP, 0, 0, out);
		out->proxy = out->known;
		return true;
	default:
		return scalar_either(c, kind, x, s, out);
	}
}

/* The operands in the order that libraries prefer: if the operator is commutative, the one that is not
 * broadcast comes first. */
static void binary_operands(const struct op_call *c, const struct binary *row, struct op_problem *out)
{
	const struct op_value *a = &c->inputs[0], *b = &c->inputs[1];
	struct shape b_shape = operand_shape(c, row, 1);
	int rank = c->outputs[0].shape.rank > 0 ? c->outputs[0].shape.rank : 1;
	struct problem *p = op_problem_start(out, KERNEL_BINARY, row->mode);
	bool smaller = op_count(a) < op_count(b),
	     constant = op_count(a) == op_count(b) && a->constant && !b->constant;
	int first = row->commutes && (smaller || constant) ? 1 : 0;
	p->operand[first] = op_operand(a);
	p->operand[1 - first] = op_operand(b);
	p->operand[2] = op_operand(&c->outputs[0]);
	p->shape_count = 2;
	p->shape[first] = op_problem_shape_of_rank(a->shape, rank);
	p->shape[1 - first] = op_problem_shape_of_rank(b_shape, rank);
	out->proxy = row->proxy;
}

/* Sums and products of 8-bit integers: libraries saturate, ONNX wraps. */
static bool binary_is_of_bytes(const struct op_call *c, const struct binary *row)
{
	bool has_kernel = row->kind == BINARY_ADD || row->kind == BINARY_SUB || row->kind == BINARY_MUL;
	for (int i = 0; i < c->input_count; i++)
		has_kernel = has_kernel && (c->inputs[i].dtype == DTYPE_U8 || c->inputs[i].dtype == DTYPE_S8);
	return has_kernel && c->input_count == 2 && dtype_bits(c->outputs[0].dtype) == 8;
}

static void binary_problem(const struct op_call *c, struct op_problem *out)
{
	const struct binary *row = c->op->own;
	double s;
	if (!op_problem_ready(c, out))
		return;
	bool floats = dtype_is_float(c->inputs[0].dtype);
	if (binary_is_of_bytes(c, row)) {
		binary_operands(c, row, out);
		out->proxy = true;
	} else if (c->input_count != 2 || row->mode == MODE_NONE || !floats) {
		op_problem_mover(c, out);
	} else if (row->kind == BINARY_POW && scalar_operand(c, 1, &s)) {
		pow_scalar(c, s, out); /* the exponent may be an integer */
	} else if (!dtype_is_float(c->inputs[1].dtype)) {
		op_problem_mover(c, out);
	} else if (!(scalar_operand(c, 1, &s) && scalar_right(c, row->kind, s, out)) &&
		   !(scalar_operand(c, 0, &s) && scalar_left(c, row->kind, s, out))) {
		binary_operands(c, row, out);
	}
}

#define ANY OP_ANY_LAYOUT
#define FUSED OP_ANY_LAYOUT | OP_EPILOGUE
#define INTEGER FUSED, QUANT_PAIR
#define MANY "with more than two inputs measured as a plain copy of equal bytes"
#define BINARY(name, since, note, flags, ...)                                                                \
	{ name, "", since, 0, 2, 2, CLASS_MEMORY, binary_shape, binary_cost, binary_problem, NULL, note, \
		&(const struct binary){ __VA_ARGS__ }, flags }
#define VARIADIC(name, flags, ...)                                                                   \
	{ name, "", 1, 0, 1, -1, CLASS_MEMORY, binary_shape, binary_cost, binary_problem, \
		binary_free, MANY, &(const struct binary){ __VA_ARGS__ }, flags }

static const struct op rows[] = {
	BINARY("Add", 1, NULL, INTEGER, BINARY_ADD, MODE_ADD, false, true, false),
	BINARY("And", 1, OP_COPY, ANY, BINARY_AND, MODE_NONE, true, true, true),
	BINARY("BitShift", 11, OP_COPY, 0, BINARY_SHIFT, MODE_NONE, true, false, false),
	BINARY("BitwiseAnd", 18, OP_COPY, 0, BINARY_BITS_AND, MODE_NONE, true, false, false),
	BINARY("BitwiseOr", 18, OP_COPY, 0, BINARY_BITS_OR, MODE_NONE, true, false, false),
	BINARY("BitwiseXor", 18, OP_COPY, 0, BINARY_BITS_XOR, MODE_NONE, true, false, false),
	BINARY("Div", 1, NULL, FUSED, BINARY_DIV, MODE_DIV, false, false, false),
	BINARY("Equal", 1, NULL, ANY, BINARY_EQUAL, MODE_EQUAL, false, true, true),
	BINARY("Greater", 1, NULL, ANY, BINARY_GREATER, MODE_GREATER, false, false, true),
	BINARY("GreaterOrEqual", 12, NULL, 0, BINARY_GREATER_EQ, MODE_GREATER_EQ, false, false, true),
	BINARY("Less", 1, NULL, ANY, BINARY_LESS, MODE_LESS, false, false, true),
	BINARY("LessOrEqual", 12, NULL, 0, BINARY_LESS_EQ, MODE_LESS_EQ, false, false, true),
	BINARY("Mod", 10, "measured as Div", ANY, BINARY_MOD, MODE_DIV, true, false, false),
	BINARY("Mul", 1, NULL, INTEGER, BINARY_MUL, MODE_MUL, false, true, false),
	BINARY("Or", 1, OP_COPY, ANY, BINARY_OR, MODE_NONE, true, true, true),
	BINARY("PRelu", 1, "measured as Mul", FUSED, BINARY_PRELU, MODE_MUL, true, false, false),
	BINARY("Pow", 1, "by a tensor: measured as Mul", FUSED, BINARY_POW, MODE_MUL, true, false, false),
	BINARY("Sub", 1, NULL, INTEGER, BINARY_SUB, MODE_SUB, false, false, false),
	BINARY("Xor", 1, OP_COPY, 0, BINARY_XOR, MODE_NONE, true, true, true),
	VARIADIC("Max", ANY, BINARY_MAX, MODE_MAXIMUM, false, true, false),
	VARIADIC("Mean", ANY, BINARY_MEAN, MODE_ADD, true, true, false),
	VARIADIC("Min", ANY, BINARY_MIN, MODE_MINIMUM, false, true, false),
	VARIADIC("Sum", FUSED, BINARY_ADD, MODE_ADD, false, true, false),
};
const struct op_rows op_binary_rows = OP_ROWS(rows);
