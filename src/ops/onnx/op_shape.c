/* Operators that read a shape, change it without moving data, or create constants. */
#include "config.h"

#include "ops/rules/op_attribute.h"
#include "ops/rules/op_rules.h"

#include "model/tensor.h"

#include <math.h>

static struct shape vector_shape(struct arena *a, int64_t n)
{
	return shape_known(a, 1, &n);
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static int shape_shape(struct op_call *c, struct error *err)
{
	struct shape in = c->inputs[0].shape;
	struct op_value *out = &c->outputs[0];
	(void)err;
	out->dtype = DTYPE_S64;
	if (in.rank < 0) {
		out->shape = shape_make(c->arena, 1);
		return 0;
	}
	int64_t start = node_int(c->node, "start", 0), end = node_int(c->node, "end", in.rank);
	start = clamp(start < 0 ? start + in.rank : start, 0, in.rank);
	end = clamp(end < 0 ? end + in.rank : end, start, in.rank);
	out->shape = vector_shape(c->arena, end - start);
	struct elements *e = op_elements_new(c->arena, (int)(end - start), false);
	for (int i = 0; i < e->count; i++)
		e->i[i] = in.dims[start + i];
	out->elements = e;
	return 0;
}

static int size_shape(struct op_call *c, struct error *err)
{
	struct elements *e = op_elements_new(c->arena, 1, false);
	(void)err;
	e->i[0] = shape_elements(c->arena, c->inputs[0].shape);
	c->outputs[0].dtype = DTYPE_S64;
	c->outputs[0].shape = shape_make(c->arena, 0);
	c->outputs[0].elements = e;
	return 0;
}

/* ---- Reshape */

/* Size of the dimension given as -1: input elements divided by the product of the other output dimensions.
 * Copied dimensions (0) and equal dimensions on both sides are cancelled first, so they may be unknown.
 * Returns -1 as a known dimension if the division leaves a remainder. */
static struct dim reshape_rest(
	struct arena *a, struct shape in, const struct shape *out, const bool *copied, int rest)
{
	bool used[OP_RANK_MAX] = { false };
	struct dim have = dim_known(1), want = dim_known(1);
	for (int i = 0; i < out->rank; i++) {
		if (i == rest)
			continue;
		int same = copied[i] ? i : -1;
		for (int j = 0; same < 0 && j < in.rank; j++) {
			bool taken = used[j] || (j < out->rank && copied[j]);
			same = !taken && dim_same(in.dims[j], out->dims[i]) ? j : -1;
		}
		if (same >= 0)
			used[same] = true;
		else
			want = dim_mul(a, want, out->dims[i]);
	}
	for (int j = 0; j < in.rank; j++) {
		if (!used[j])
			have = dim_mul(a, have, in.dims[j]);
	}
	if (want.kind == DIM_KNOWN && want.value == 1)
		return have;
	if (want.kind == DIM_KNOWN && want.value > 0 && have.kind == DIM_KNOWN && have.value % want.value)
		return dim_known(-1);
	return dim_floor_div(a, have, want);
}

static int reshape_check(struct op_call *c, struct shape in, struct shape out, struct error *err)
{
	struct dim have = shape_elements(c->arena, in), want = shape_elements(c->arena, out);
	if (dim_differs(have, want))
		return op_fail(
			c, err, "%s does not become %s", shape_text(c->arena, in), shape_text(c->arena, out));
	return 0;
}

/* Writes one requested dimension to *out; sets *copied for a 0, *rest for the -1. Returns -1 if it is
 * invalid. */
static int reshape_dim(struct op_call *c, struct shape in, struct dim want, int i, struct dim *out,
	bool *copied, int *rest, struct error *err)
{
	bool allowzero = node_int(c->node, "allowzero", 0) != 0;
	if (want.kind != DIM_KNOWN || want.value > 0 || (want.value == 0 && allowzero)) {
		*out = want;
	} else if (want.value == 0) {
		if (in.rank >= 0 && i >= in.rank)
			return op_fail(
				c, err, "dimension %d is to be copied, the input has rank %d", i, in.rank);
		*out = in.rank >= 0 ? in.dims[i] : dim_unknown();
		*copied = true;
	} else if (want.value == -1 && *rest < 0) {
		*rest = i;
	} else {
		return op_fail(c, err, want.value == -1 ? "-1 is given twice" : "a size below -1 is given");
	}
	return 0;
}

static int reshape_shape(struct op_call *c, struct error *err)
{
	struct op_list want = op_list_get(c, "shape", 1);
	struct shape in = c->inputs[0].shape, out;
	struct op_value *v = &c->outputs[0];
	if (want.state != OP_LIST_KNOWN || want.count > OP_RANK_MAX) {
		if (want.count >= 0 && want.count <= OP_RANK_MAX)
			v->shape = shape_make(c->arena, want.count);
		if (want.count == 1 && in.rank >= 0)
			v->shape.dims[0] = shape_elements(c->arena, in);
		return 0;
	}
	bool copied[OP_RANK_MAX] = { false };
	int rest = -1, unknown_count = 0, unknown = -1;
	out = shape_make(c->arena, want.count);
	for (int i = 0; i < want.count; i++) {
		if (reshape_dim(c, in, want.at[i], i, &out.dims[i], &copied[i], &rest, err))
			return -1;
		if (want.at[i].kind == DIM_UNKNOWN) {
			unknown = i;
			unknown_count++;
		}
	}
	v->shape = out;
	/* A single unknown size is computed from the others, as for -1. */
	if (rest < 0 && unknown_count == 1) {
		rest = unknown;
		unknown_count = 0;
	}
	if (rest >= 0 && in.rank >= 0 && unknown_count == 0) {
		struct dim size = reshape_rest(c->arena, in, &out, copied, rest);
		if (size.kind == DIM_KNOWN && size.value < 0)
			return op_fail(c, err, "the elements of %s do not divide into %s",
				shape_text(c->arena, in), shape_text(c->arena, out));
		out.dims[rest] = size;
	}
	v->elements = c->inputs[0].elements;
	return in.rank >= 0 ? reshape_check(c, in, out, err) : 0;
}

static int flatten_shape(struct op_call *c, struct error *err)
{
	struct shape in = c->inputs[0].shape;
	struct shape out = shape_make(c->arena, 2);
	int64_t axis = node_int(c->node, "axis", 1);
	c->outputs[0].shape = out;
	c->outputs[0].elements = c->inputs[0].elements;
	if (in.rank < 0)
		return 0;
	if (axis < -in.rank || axis > in.rank)
		return op_fail(c, err, "axis %lld is out of range for rank %d", (long long)axis, in.rank);
	axis = axis < 0 ? axis + in.rank : axis;
	struct shape front = { (int)axis, in.dims }, back = { in.rank - (int)axis, in.dims + axis };
	out.dims[0] = shape_elements(c->arena, front);
	out.dims[1] = shape_elements(c->arena, back);
	return 0;
}

/* ---- Squeeze, Unsqueeze */

/* Without axes, Squeeze removes each dimension of size 1; *known is false if a dimension is unknown. */
static void squeeze_mask(struct shape in, bool *mask, bool *known)
{
	for (int i = 0; i < in.rank; i++) {
		mask[i] = in.dims[i].kind == DIM_KNOWN && in.dims[i].value == 1;
		*known = *known && in.dims[i].kind == DIM_KNOWN;
	}
}

static int squeeze_shape(struct op_call *c, struct error *err)
{
	struct op_list axes = op_list_get(c, "axes", 1);
	struct shape in = c->inputs[0].shape;
	struct op_value *v = &c->outputs[0];
	bool mask[OP_RANK_MAX], known = true;
	v->elements = c->inputs[0].elements;
	if (in.rank < 0)
		return 0;
	if (axes.state == OP_LIST_ABSENT) {
		squeeze_mask(in, mask, &known);
	} else if (op_list_all_known(&axes)) {
		if (op_axes(c, &axes, in.rank, mask, err))
			return -1;
	} else {
		known = false;
	}
	if (!known) {
		if (axes.state != OP_LIST_ABSENT && axes.count >= 0 && axes.count <= in.rank)
			v->shape = shape_make(c->arena, in.rank - axes.count);
		return 0;
	}
	struct shape out = shape_make(c->arena, in.rank);
	out.rank = 0;
	for (int i = 0; i < in.rank; i++) {
		if (!mask[i])
			out.dims[out.rank++] = in.dims[i];
		else if (dim_differs(in.dims[i], dim_known(1)))
			return op_fail(c, err, "dimension %d of %s is not 1", i, shape_text(c->arena, in));
	}
	v->shape = out;
	return 0;
}

static int unsqueeze_shape(struct op_call *c, struct error *err)
{
	struct op_list axes = op_list_get(c, "axes", 1);
	struct shape in = c->inputs[0].shape;
	struct op_value *v = &c->outputs[0];
	bool mask[OP_RANK_MAX];
	v->elements = c->inputs[0].elements;
	if (axes.state == OP_LIST_ABSENT)
		return op_fail(c, err, "axes are missing");
	if (in.rank < 0 || axes.count < 0 || in.rank + axes.count > OP_RANK_MAX)
		return 0;
	struct shape out = shape_make(c->arena, in.rank + axes.count);
	v->shape = out;
	if (!op_list_all_known(&axes))
		return 0;
	if (op_axes(c, &axes, out.rank, mask, err))
		return -1;
	for (int i = 0, from = 0; i < out.rank; i++)
		out.dims[i] = mask[i] ? dim_known(1) : in.dims[from++];
	return 0;
}

/* ---- constants */

static void constant_tensor(struct op_call *c, const struct tensor *t)
{
	struct op_value *v = &c->outputs[0];
	v->dtype = t->dtype;
	v->shape = tensor_shape(c->arena, t);
	v->elements = op_elements_of_tensor(c->arena, t);
}

/* Attributes of Constant that may replace the tensor `value` from opset 12 on. */
static const struct constant_row {
	const char *name;
	enum attribute_kind kind;
	enum dtype dtype;
	bool scalar;
} constant_rows[] = {
	{ "value", ATTRIBUTE_TENSOR, DTYPE_UNKNOWN, false },
	{ "sparse_value", ATTRIBUTE_TENSOR, DTYPE_UNKNOWN, false }, /* dense when used */
	{ "value_int", ATTRIBUTE_INT, DTYPE_S64, true },
	{ "value_ints", ATTRIBUTE_INTS, DTYPE_S64, false },
	{ "value_float", ATTRIBUTE_FLOAT, DTYPE_F32, true },
	{ "value_floats", ATTRIBUTE_FLOATS, DTYPE_F32, false },
	{ "value_string", ATTRIBUTE_STRING, DTYPE_STRING, true },
	{ "value_strings", ATTRIBUTE_STRINGS, DTYPE_STRING, false },
};

static const struct constant_row *constant_row(const struct attribute *a)
{
	for (size_t i = 0; i < sizeof(constant_rows) / sizeof(constant_rows[0]); i++)
		if (text_is(a->name, constant_rows[i].name))
			return &constant_rows[i];
	return NULL;
}

/* True if the attribute has the row's kind, or is a list too long to keep; a scalar is always kept. */
static bool constant_fits(const struct attribute *a, const struct constant_row *row)
{
	bool number = row->kind == ATTRIBUTE_INT || row->kind == ATTRIBUTE_FLOAT;
	return a->kind == row->kind || (a->kind == ATTRIBUTE_OTHER && !number);
}

/* First attribute that holds the value, or NULL. */
static const struct attribute *constant_attribute(const struct op_call *c)
{
	for (int i = 0; i < c->node->attribute_count; i++) {
		const struct attribute *a = &c->node->attributes[i];
		const struct constant_row *row = constant_row(a);
		if (row && constant_fits(a, row))
			return a;
	}
	return NULL;
}

const struct attribute *op_constant_unread(const struct op_call *c)
{
	bool read = constant_attribute(c);
	for (int i = 0; !read && i < c->node->attribute_count; i++)
		if (constant_row(&c->node->attributes[i]))
			return &c->node->attributes[i];
	return NULL;
}

static void constant_numbers(struct op_call *c, const struct attribute *a, const struct constant_row *row)
{
	size_t count = row->scalar ? 1 : a->count;
	bool floats = row->dtype == DTYPE_F32;
	if (count > OP_ELEMENTS_MAX)
		return;
	struct elements *e = op_elements_new(c->arena, (int)count, floats);
	for (size_t i = 0; i < count; i++) {
		if (floats)
			e->f[i] = (double)(row->scalar ? a->f : a->floats[i]);
		else
			e->i[i] = dim_known(row->scalar ? a->i : a->ints[i]);
	}
	c->outputs[0].elements = e;
}

/* Writes type, shape and contents of the constant; a list too long to keep has only type and rank. */
static void constant_value(struct op_call *c, const struct attribute *a, const struct constant_row *row)
{
	struct op_value *v = &c->outputs[0];
	bool kept = a->kind == row->kind;
	v->constant = true;
	v->dtype = row->dtype;
	if (row->kind == ATTRIBUTE_TENSOR) {
		if (kept && a->tensor)
			constant_tensor(c, a->tensor);
		return;
	}
	v->shape = row->scalar ? shape_make(c->arena, 0) : kept ? vector_shape(c->arena, (int64_t)a->count)
								: shape_make(c->arena, 1);
	if (kept && row->dtype != DTYPE_STRING)
		constant_numbers(c, a, row);
}

static int constant_shape(struct op_call *c, struct error *err)
{
	const struct attribute *a = constant_attribute(c);
	if (!a)
		return op_fail(c, err, "no value");
	constant_value(c, a, constant_row(a));
	return 0;
}

/* Fills the output with one value (zero if `one` is NULL). Returns false if the shape is unknown or has too
 * many elements. */
static bool fill_elements(struct op_call *c, const struct elements *one)
{
	struct op_value *v = &c->outputs[0];
	int count = op_elements_count(v->shape);
	if (count < 0 || (one && one->count < 1))
		return false;
	struct elements *e = op_elements_new(c->arena, count, dtype_is_float(v->dtype));
	for (int i = 0; i < count; i++) {
		if (e->f)
			e->f[i] = one ? one->f[0] : 0;
		else
			e->i[i] = one ? one->i[0] : dim_known(0);
	}
	v->elements = e;
	return true;
}

static int constant_of_shape_shape(struct op_call *c, struct error *err)
{
	struct op_list want = op_list_get(c, NULL, 0);
	struct op_value *v = &c->outputs[0];
	const struct attribute *value = node_attribute(c->node, "value");
	const struct tensor *t = value && value->kind == ATTRIBUTE_TENSOR ? value->tensor : NULL;
	v->dtype = t ? t->dtype : DTYPE_F32;
	if (t && t->elements != 1)
		return op_fail(c, err, "value has %lld elements, not 1", (long long)t->elements);
	if (want.count < 0 || want.count > OP_RANK_MAX)
		return 0;
	v->shape = shape_make(c->arena, want.count);
	if (want.state != OP_LIST_KNOWN)
		return 0;
	for (int i = 0; i < want.count; i++) {
		v->shape.dims[i] = want.at[i];
		if (want.at[i].kind == DIM_KNOWN && want.at[i].value < 0)
			return op_fail(c, err, "dimension %d is negative", i);
	}
	const struct elements *one = t ? op_elements_of_tensor(c->arena, t) : NULL;
	if (!t || one)
		fill_elements(c, one);
	return 0;
}

void op_constant_of_shape_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	cost->bytes = op_bytes(&c->outputs[0]);
}

void op_constant_of_shape_problem(const struct op_call *c, struct op_problem *out)
{
	if (op_problem_value(c, &c->outputs[0], out))
		op_problem_mover(c, out);
}

/* ---- Range */

static struct dim range_count_int(struct arena *a, struct dim start, struct dim limit, struct dim delta)
{
	struct dim up = dim_sub(a, limit, start), down = dim_sub(a, start, limit);
	if (delta.kind != DIM_KNOWN || delta.value == 0 || delta.value == INT64_MIN)
		return dim_unknown();
	if (delta.value == 1 && start.kind == DIM_KNOWN && start.value >= 0 && limit.kind == DIM_UNKNOWN)
		return dim_unknown_upto(limit.upper);
	struct dim span = dim_max(a, delta.value > 0 ? up : down, dim_known(0));
	return dim_ceil_div(a, span, delta.value > 0 ? delta.value : -delta.value);
}

static void range_ints(
	struct op_call *c, const struct dim *start, const struct dim *limit, const struct dim *delta)
{
	struct op_value *v = &c->outputs[0];
	v->shape.dims[0] = range_count_int(c->arena, *start, *limit, *delta);
	int count = op_elements_count(v->shape);
	if (count < 0)
		return;
	struct elements *e = op_elements_new(c->arena, count, false);
	struct dim at = *start;
	for (int i = 0; i < count; i++, at = dim_add(c->arena, at, *delta))
		e->i[i] = at;
	v->elements = e;
}

static void range_floats(struct op_call *c, double start, double limit, double delta)
{
	struct op_value *v = &c->outputs[0];
	double n = ceil((limit - start) / delta);
	if (!(n < 0x1p53))
		return;
	v->shape.dims[0] = dim_known(n > 0 ? (int64_t)n : 0);
	int count = op_elements_count(v->shape);
	if (count < 0)
		return;
	struct elements *e = op_elements_new(c->arena, count, true);
	for (int i = 0; i < count; i++)
		e->f[i] = start + i * delta;
	v->elements = e;
}

int op_range_shape(struct op_call *c, struct error *err)
{
	const struct elements *e[3];
	c->outputs[0].shape = shape_make(c->arena, 1);
	for (int i = 0; i < 3; i++) {
		e[i] = c->inputs[i].elements;
		if (!e[i] || e[i]->count != 1)
			return 0;
	}
	double delta;
	if (op_scalar(&c->inputs[2], &delta) && delta == 0)
		return op_fail(c, err, "a step of 0");
	if (e[0]->i && e[1]->i && e[2]->i)
		range_ints(c, e[0]->i, e[1]->i, e[2]->i);
	else if (e[0]->f && e[1]->f && e[2]->f)
		range_floats(c, e[0]->f[0], e[1]->f[0], e[2]->f[0]);
	return 0;
}

/* ---- EyeLike */

static RULE_SHAPE(eye_like)
{
	struct op_value *v = &c->outputs[0];
	struct shape in = c->inputs[0].shape;
	int64_t diagonal = node_int(c->node, "k", 0);
	v->dtype = op_dtype_get(c, "dtype", c->inputs[0].dtype);
	if (in.rank >= 0 && in.rank != 2)
		return op_fail(c, err, "an input of rank %d, not 2", in.rank);
	v->shape = in.rank == 2 ? op_shape_copy(c->arena, in) : shape_make(c->arena, 2);
	int count = op_elements_count(v->shape);
	if (count < 0 || v->dtype == DTYPE_UNKNOWN)
		return 0;
	struct elements *e = op_elements_new(c->arena, count, dtype_is_float(v->dtype));
	for (int i = 0; i < count; i++) {
		int64_t width = in.dims[1].value;
		bool one = diagonal < count && diagonal > -count && i % width - i / width == diagonal;
		if (e->f)
			e->f[i] = one;
		else
			e->i[i] = dim_known(one);
	}
	v->elements = e;
	return 0;
}

#define RESHAPES OP_RESHAPES | OP_MOVES_WEIGHTS, QUANT_MOVER

static const struct op rows[] = {
	OP_SHAPE_ROW("Shape", 1, 0, 1, 1, shape_shape, OP_READS_SHAPE),
	OP_SHAPE_ROW("Size", 1, 0, 1, 1, size_shape, OP_READS_SHAPE),
	OP_SHAPE_ROW("Reshape", 1, 4, 1, 1, reshape_shape, RESHAPES),
	OP_SHAPE_ROW("Reshape", 5, 0, 2, 2, reshape_shape, RESHAPES),
	OP_SHAPE_ROW("Flatten", 1, 0, 1, 1, flatten_shape, RESHAPES),
	OP_SHAPE_ROW("Squeeze", 1, 12, 1, 1, squeeze_shape, RESHAPES),
	OP_SHAPE_ROW("Squeeze", 13, 0, 1, 2, squeeze_shape, RESHAPES),
	OP_SHAPE_ROW("Unsqueeze", 1, 12, 1, 1, unsqueeze_shape, RESHAPES),
	OP_SHAPE_ROW("Unsqueeze", 13, 0, 2, 2, unsqueeze_shape, RESHAPES),
	OP_SHAPE_ROW("Constant", 1, 0, 0, 0, constant_shape, 0),
	{ "ConstantOfShape", "", 9, 0, 1, 1, CLASS_MOVE, constant_of_shape_shape, op_constant_of_shape_cost,
		op_constant_of_shape_problem, NULL, OP_COPY },
	OP_MOVER_ROW("Range", 11, 0, 3, 3, op_range_shape, op_cost_move, NULL, 0),
	{ "EyeLike", "", 9, 0, 1, 1, CLASS_MOVE, eye_like_shape, op_constant_of_shape_cost,
		op_constant_of_shape_problem, NULL, OP_COPY },
};
const struct op_rows op_shape_rows = OP_ROWS(rows);
