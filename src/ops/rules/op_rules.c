/* Helpers of the rules: attributes that became inputs, broadcasting, known elements, common costs and
 * problems. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "model/tensor.h"
#include "ops/op_own.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- inputs, outputs, errors */

const struct op_value *op_in(const struct op_call *c, int i)
{
	return i >= 0 && i < c->input_count && c->inputs[i].present ? &c->inputs[i] : NULL;
}

struct op_value *op_out(const struct op_call *c, int i)
{
	return i >= 0 && i < c->output_count && c->outputs[i].present ? &c->outputs[i] : NULL;
}

int op_fail(const struct op_call *c, struct error *err, const char *fmt, ...)
{
	char line[ERROR_TEXT_SIZE];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	error_set(err, "%s: %s", c->op ? c->op->name : "?", line);
	return op_own_place(c->op) ? error_context(err, "%s", op_own_place(c->op)) : -1;
}

/* ---- attributes and inputs that became one or the other */

static struct op_list list_of_attribute(struct arena *a, const struct attribute *attribute)
{
	struct op_list list = { OP_LIST_KNOWN, 0, NULL };
	if (attribute->kind == ATTRIBUTE_INT) {
		list.count = 1;
		list.at = ARENA_ARRAY(a, struct dim, 1);
		list.at[0] = dim_known(attribute->i);
		return list;
	}
	if (attribute->kind != ATTRIBUTE_INTS || attribute->count > OP_ELEMENTS_MAX)
		return (struct op_list){ OP_LIST_UNKNOWN, -1, NULL };
	list.count = (int)attribute->count;
	list.at = ARENA_ARRAY(a, struct dim, attribute->count);
	for (int i = 0; i < list.count; i++)
		list.at[i] = dim_known(attribute->ints[i]);
	return list;
}

static struct op_list list_of_input(const struct op_value *v)
{
	struct op_list list = { OP_LIST_UNKNOWN, -1, NULL };
	if (v->elements && v->elements->i) {
		list.state = OP_LIST_KNOWN;
		list.count = v->elements->count;
		list.at = v->elements->i;
	} else if (shape_is_known(v->shape) && v->shape.rank <= 1) {
		int64_t n = v->shape.rank == 1 ? v->shape.dims[0].value : 1;
		list.count = n <= OP_ELEMENTS_MAX ? (int)n : -1;
	}
	return list;
}

struct op_list op_list_get(const struct op_call *c, const char *attribute, int input)
{
	const struct op_value *v = op_in(c, input);
	if (v)
		return list_of_input(v);
	const struct attribute *found = attribute ? node_attribute(c->node, attribute) : NULL;
	if (found)
		return list_of_attribute(c->arena, found);
	return (struct op_list){ OP_LIST_ABSENT, 0, NULL };
}

bool op_list_all_known(const struct op_list *l)
{
	if (l->state != OP_LIST_KNOWN)
		return false;
	for (int i = 0; i < l->count; i++) {
		if (l->at[i].kind != DIM_KNOWN)
			return false;
	}
	return true;
}

int op_list_sizes(const struct op_call *c, const struct op_list *l, struct error *err)
{
	for (int i = 0; l->state == OP_LIST_KNOWN && i < l->count; i++) {
		if (l->at[i].kind == DIM_KNOWN && l->at[i].value < 0)
			return op_fail(c, err, "a size of %lld", (long long)l->at[i].value);
	}
	return 0;
}

double op_float_get(const struct op_call *c, const char *attribute, int input, double otherwise)
{
	const struct op_value *v = op_in(c, input);
	double value = NAN;
	if (v)
		return op_scalar(v, &value) ? value : NAN;
	return attribute ? (double)node_float(c->node, attribute, (float)otherwise) : otherwise;
}

struct dim op_dim_get(const struct op_call *c, int input)
{
	struct op_list list = op_list_get(c, NULL, input);
	return list.state == OP_LIST_KNOWN && list.count == 1 ? list.at[0] : dim_unknown();
}

enum dtype op_dtype_get(const struct op_call *c, const char *attribute, enum dtype otherwise)
{
	const struct attribute *a = node_attribute(c->node, attribute);
	if (!a)
		return otherwise;
	return a->kind == ATTRIBUTE_INT ? tensor_dtype(a->i) : DTYPE_UNKNOWN;
}

/* ---- axes */

int op_axis(const struct op_call *c, int64_t axis, int rank, struct error *err)
{
	if (axis < -rank || axis >= rank)
		return op_fail(c, err, "axis %lld is out of range for rank %d", (long long)axis, rank);
	return (int)(axis < 0 ? axis + rank : axis);
}

int op_axes(const struct op_call *c, const struct op_list *l, int rank, bool *mask, struct error *err)
{
	for (int i = 0; i < rank; i++)
		mask[i] = false;
	for (int i = 0; i < l->count; i++) {
		int axis = op_axis(c, l->at[i].value, rank, err);
		if (axis < 0)
			return -1;
		if (mask[axis])
			return op_fail(c, err, "axis %d is given twice", axis);
		mask[axis] = true;
	}
	return 0;
}

/* ---- shapes */

struct shape op_shape_copy(struct arena *a, struct shape s)
{
	if (s.rank < 0)
		return SHAPE_UNKNOWN;
	struct shape copy = shape_make(a, s.rank);
	for (int i = 0; i < s.rank; i++)
		copy.dims[i] = s.dims[i];
	return copy;
}

struct shape op_shape_of(struct arena *a, int rank, const struct dim *dims)
{
	struct shape s = shape_make(a, rank);
	for (int i = 0; i < rank; i++)
		s.dims[i] = dims[i];
	return s;
}

struct shape op_shape_turned(struct arena *a, struct shape s, bool to_first)
{
	if (s.rank < 3)
		return s;
	struct shape t = shape_make(a, s.rank);
	for (int i = 0; i < s.rank; i++) {
		int from = to_first ? (i == 1 ? s.rank - 1 : i - 1) : (i == s.rank - 1 ? 1 : i + 1);
		t.dims[i] = s.dims[i == 0 ? 0 : from];
	}
	return t;
}

int op_rank(const struct op_value *v)
{
	return v ? v->shape.rank : -1;
}

int op_rank_is(const struct op_call *c, int i, int rank, struct error *err)
{
	const struct op_value *v = op_in(c, i);
	if (op_rank(v) < 0 || v->shape.rank == rank)
		return 0;
	return op_fail(c, err, "input %d has rank %d, not %d", i, v->shape.rank, rank);
}

struct dim op_dim_at(const struct op_value *v, int rank, int i)
{
	return v && v->shape.rank == rank ? v->shape.dims[i] : dim_unknown();
}

bool op_dim_merge(struct dim x, struct dim y, struct dim *out)
{
	if (dim_differs(x, y))
		return false;
	if (x.kind == y.kind && x.kind == DIM_UNKNOWN)
		*out = x.upper >= 0 && (y.upper < 0 || x.upper < y.upper) ? x : y;
	else
		*out = x.kind == DIM_KNOWN || (x.kind == DIM_SYMBOLIC && y.kind != DIM_KNOWN) ? x : y;
	return true;
}

/* One dimension of a broadcast; false = contradiction. */
static bool dim_broadcast(struct arena *a, struct dim x, struct dim y, struct dim *out)
{
	bool x_one = x.kind == DIM_KNOWN && x.value == 1, y_one = y.kind == DIM_KNOWN && y.value == 1;
	if (x_one || dim_same(x, y))
		*out = y;
	else if (y_one)
		*out = x;
	else if (x.kind == DIM_KNOWN && y.kind == DIM_KNOWN)
		return false;
	else if (x.kind == DIM_KNOWN || y.kind == DIM_KNOWN)
		*out = x.kind == DIM_KNOWN ? x : y; /* the other can only be 1 or equal to it */
	else if (x.kind == DIM_SYMBOLIC && y.kind == DIM_SYMBOLIC)
		*out = dim_max(a, x, y); /* both equal, or one of them 1; ignores that a size may be 0 */
	else if (x.upper >= 0 && y.upper >= 0)
		*out = dim_unknown_upto(x.upper > y.upper ? x.upper : y.upper);
	else
		*out = dim_unknown();
	return true;
}

/* True if x broadcast to y is y. */
static bool fits_into(struct shape x, struct shape y)
{
	int lead = y.rank - x.rank;
	for (int i = 0; lead >= 0 && i < x.rank; i++) {
		struct dim from = x.dims[i];
		if (!(from.kind == DIM_KNOWN && from.value == 1) && !dim_same(from, y.dims[lead + i]))
			return false;
	}
	return lead >= 0;
}

int op_broadcast(
	const struct op_call *c, struct shape x, struct shape y, struct shape *out, struct error *err)
{
	if (x.rank < 0 || y.rank < 0) {
		*out = SHAPE_UNKNOWN;
		return 0;
	}
	if (fits_into(x, y) || fits_into(y, x)) {
		*out = fits_into(x, y) ? y : x;
		return 0;
	}
	int rank = x.rank > y.rank ? x.rank : y.rank;
	struct shape s = shape_make(c->arena, rank);
	for (int i = 0; i < rank; i++) {
		int ix = i - (rank - x.rank), iy = i - (rank - y.rank);
		if (ix < 0 || iy < 0)
			s.dims[i] = ix < 0 ? y.dims[iy] : x.dims[ix];
		else if (!dim_broadcast(c->arena, x.dims[ix], y.dims[iy], &s.dims[i]))
			return op_fail(c, err, "shapes %s and %s do not broadcast", shape_text(c->arena, x),
				shape_text(c->arena, y));
	}
	*out = s;
	return 0;
}

bool op_shape_same(struct shape x, struct shape y)
{
	return shape_is_known(x) && shape_same(x, y);
}

int op_shape_as_input(struct op_call *c, struct error *err)
{
	(void)err;
	for (int i = 0; i < c->output_count; i++)
		c->outputs[i].shape = c->inputs[0].shape;
	return 0;
}

/* ---- elements */

struct elements *op_elements_new(struct arena *a, int count, bool floats)
{
	struct elements *e = ARENA_NEW(a, struct elements);
	e->count = count;
	if (floats)
		e->f = ARENA_ARRAY(a, double, count);
	else
		e->i = ARENA_ARRAY(a, struct dim, count);
	for (int i = 0; i < count; i++) {
		if (floats)
			e->f[i] = NAN;
		else
			e->i[i] = dim_unknown();
	}
	return e;
}

bool op_elements_known(const struct elements *e)
{
	for (int i = 0; e && i < e->count; i++) {
		if (e->i ? e->i[i].kind == DIM_UNKNOWN : isnan(e->f[i]))
			return false;
	}
	return e != NULL;
}

bool op_elements_concrete(const struct elements *e)
{
	for (int i = 0; e && i < e->count; i++) {
		if (e->i ? e->i[i].kind != DIM_KNOWN : isnan(e->f[i]))
			return false;
	}
	return e != NULL;
}

int op_elements_count(struct shape s)
{
	double n = shape_count(s);
	return n <= OP_ELEMENTS_MAX ? (int)n : -1;
}

struct elements *op_elements_pick(struct arena *a, const struct elements *from, int count, const int *index)
{
	struct elements *e = op_elements_new(a, count, from->f != NULL);
	for (int i = 0; i < count; i++) {
		if (index[i] < 0 || index[i] >= from->count)
			continue;
		if (e->f)
			e->f[i] = from->f[index[i]];
		else
			e->i[i] = from->i[index[i]];
	}
	return e;
}

void op_coords(struct shape s, int index, int *at)
{
	for (int i = s.rank - 1; i >= 0; i--) {
		int size = (int)s.dims[i].value;
		at[i] = index % size;
		index /= size;
	}
}

int op_index(struct shape s, const int *at)
{
	int index = 0;
	for (int i = 0; i < s.rank; i++)
		index = index * (int)s.dims[i].value + at[i];
	return index;
}

int op_broadcast_index(struct shape to, int index, struct shape from)
{
	int at[OP_RANK_MAX], lead = to.rank - from.rank;
	op_coords(to, index, at);
	for (int i = 0; i < from.rank; i++) {
		if (from.dims[i].value == 1)
			at[lead + i] = 0;
	}
	return op_index(from, at + lead);
}

bool op_int_fits(enum dtype t, int64_t v)
{
	int bits = dtype_bits(t);
	bool is_unsigned = t == DTYPE_U2 || t == DTYPE_U4 || t == DTYPE_U8 || t == DTYPE_U16 ||
		t == DTYPE_U32 || t == DTYPE_U64;
	if (t == DTYPE_BOOL)
		return v == 0 || v == 1;
	if ((is_unsigned && v < 0) || bits < 1)
		return false;
	if (bits >= 64)
		return true;
	int64_t end = (int64_t)1 << (is_unsigned ? bits : bits - 1);
	return v < end && (is_unsigned || v >= -end);
}

/* Bits of the fraction, smallest exponent of a normal number, largest number. */
static const struct float_form {
	int bits, least;
	double most;
} float_forms[DTYPE_COUNT] = {
	[DTYPE_F16] = { 10, -14, 65504 },
	[DTYPE_BF16] = { 7, -126, FLT_MAX },
	[DTYPE_F8E4M3] = { 3, -6, 448 },
	[DTYPE_F8E5M2] = { 2, -14, 57344 },
	[DTYPE_F8E4M3FNUZ] = { 3, -7, 240 },
	[DTYPE_F8E5M2FNUZ] = { 2, -15, 57344 },
	[DTYPE_F6E2M3] = { 3, 0, 7.5 },
	[DTYPE_F6E3M2] = { 2, -2, 28 },
	[DTYPE_F4E2M1] = { 1, 0, 6 },
};

double op_float_most(enum dtype t)
{
	return float_forms[t].bits ? float_forms[t].most : t == DTYPE_F64 ? DBL_MAX : FLT_MAX;
}

double op_float_round(enum dtype t, double v)
{
	const struct float_form *form = &float_forms[t];
	if (t == DTYPE_F64 || isnan(v) || v == 0)
		return v;
	if (t == DTYPE_F8E8M0)
		return NAN; /* a scale type, for which several roundings are in use */
	if (!form->bits)
		return fabs(v) > FLT_MAX ? v : (double)(float)v;
	int exponent = isfinite(v) ? ilogb(v) : 0;
	exponent = (exponent > form->least ? exponent : form->least) - form->bits;
	double rounded = isfinite(v) ? ldexp(rint(ldexp(v, -exponent)), exponent) : v;
	/* Overflow is unknown: saturation, infinity or NaN, depending on type and attributes. */
	return fabs(rounded) <= form->most ? rounded : NAN;
}

bool op_scalar(const struct op_value *v, double *value)
{
	if (!v || !v->elements || v->elements->count != 1 || !op_elements_concrete(v->elements))
		return false;
	*value = v->elements->i ? (double)v->elements->i[0].value : v->elements->f[0];
	return true;
}

/* ---- costs */

double op_count(const struct op_value *v)
{
	return v ? shape_count(v->shape) : 0;
}

double op_dim_number(struct dim d)
{
	return d.kind == DIM_KNOWN ? (double)d.value : NAN;
}

double op_bytes(const struct op_value *v)
{
	return v ? dtype_bytes(v->dtype, shape_count(v->shape)) : 0;
}

double op_bytes_all(const struct op_call *c)
{
	return op_bytes_but(c, 0, 0);
}

double op_bytes_but(const struct op_call *c, unsigned inputs, unsigned outputs)
{
	double bytes = 0;
	for (int i = 0; i < c->input_count; i++)
		bytes += i < 32 && inputs >> i & 1 ? 0 : op_bytes(op_in(c, i));
	for (int i = 0; i < c->output_count; i++)
		bytes += i < 32 && outputs >> i & 1 ? 0 : op_bytes(op_out(c, i));
	return bytes;
}

void op_cost_move(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	cost->bytes = op_bytes_all(c);
}

void op_cost_eltwise(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = op_count(op_out(c, 0));
	cost->bytes = op_bytes_all(c);
}

/* ---- problems */

bool op_is_library_type(enum dtype t)
{
	return t == DTYPE_F32 || t == DTYPE_F16 || t == DTYPE_BF16 || t == DTYPE_S8 || t == DTYPE_U8 ||
	       t == DTYPE_S32 || t == DTYPE_BOOL;
}

void op_problem_why(struct op_problem *out, const char *why)
{
	out->known = false;
	out->why = why;
}

bool op_problem_value(const struct op_call *c, const struct op_value *v, struct op_problem *out)
{
	const char *why = NULL;
	if (v->kind != VALUE_TENSOR)
		why = "not a tensor";
	else if (v->dtype == DTYPE_UNKNOWN)
		why = "a type is not known";
	else if (dtype_bits(v->dtype) == 0)
		why = "a type has no size";
	else if (v->shape.rank < 0)
		why = "a rank is not known";
	else if (v->shape.rank > PROBLEM_RANK)
		why = arena_printf(c->arena, "more than %d dimensions", PROBLEM_RANK);
	for (int i = 0; !why && i < v->shape.rank; i++) {
		struct dim d = v->shape.dims[i];
		if (d.kind == DIM_SYMBOLIC)
			why = arena_printf(
				c->arena, "%s is not bound", text_clean(c->arena, dim_first_symbol(d)));
		else if (d.kind == DIM_UNKNOWN)
			why = "a dimension is not known";
		else if (d.value <= 0)
			why = "a tensor is empty";
	}
	if (!why && shape_count(v->shape) > 1e13)
		why = "too large to measure";
	if (why)
		op_problem_why(out, why);
	return !why;
}

bool op_problem_ready(const struct op_call *c, struct op_problem *out)
{
	for (int i = 0; i < c->input_count; i++) {
		if (op_in(c, i) && !op_problem_value(c, op_in(c, i), out))
			return false;
	}
	for (int i = 0; i < c->output_count; i++) {
		if (op_out(c, i) && !op_problem_value(c, op_out(c, i), out))
			return false;
	}
	return true;
}

struct problem *op_problem_start(struct op_problem *out, enum kernel kernel, enum mode mode)
{
	memset(out, 0, sizeof(*out));
	out->known = true;
	out->problem.kernel = kernel;
	out->problem.mode = mode;
	return &out->problem;
}

struct problem *op_problem_map(struct op_problem *out, enum kernel kernel, enum mode mode,
	const struct op_value *x, const struct op_value *y)
{
	struct problem *p = op_problem_start(out, kernel, mode);
	p->operand[0] = op_operand(x);
	p->operand[1] = op_operand(y);
	p->shape_count = 1;
	p->shape[0] = op_problem_shape(x->shape);
	return p;
}

struct operand op_operand(const struct op_value *v)
{
	struct operand operand = { .dtype = v->dtype == DTYPE_BOOL ? DTYPE_U8 : v->dtype,
		.constant = v->constant };
	return operand;
}

struct problem_shape op_problem_shape(struct shape s)
{
	return op_problem_shape_of_rank(s, s.rank > 0 ? s.rank : 1);
}

struct problem_shape op_problem_shape_of_rank(struct shape s, int rank)
{
	struct problem_shape out = { .rank = rank };
	for (int i = 0; i < rank; i++) {
		int at = i - (rank - s.rank);
		out.dim[i] = at < 0 ? 1 : s.dims[at].value;
	}
	return out;
}

void op_problem_copy(const struct op_call *c, double bytes, struct op_problem *out)
{
	if (isnan(bytes)) {
		if (op_problem_ready(c, out))
			op_problem_why(out, "a type has no size");
		return;
	}
	if (bytes < 1 || bytes >= 1e15) {
		op_problem_why(out, bytes < 1 ? "a tensor is empty" : "too large to measure");
		return;
	}
	struct problem *p = op_problem_start(out, KERNEL_COPY, MODE_NONE);
	p->operand[0].dtype = p->operand[1].dtype = DTYPE_U8;
	p->size = (int64_t)ceil(bytes / 2);
	out->proxy = true;
}

void op_problem_binary(enum mode mode, const struct op_value *a, const struct op_value *b,
	const struct op_value *y, struct op_problem *out)
{
	struct problem *p = op_problem_start(out, KERNEL_BINARY, mode);
	p->operand[0] = op_operand(a);
	p->operand[1] = op_operand(b);
	p->operand[2] = op_operand(y);
	p->shape_count = 2;
	p->shape[0] = op_problem_shape(a->shape);
	p->shape[1] = op_problem_shape(b->shape);
}

void op_problem_mover(const struct op_call *c, struct op_problem *out)
{
	struct op_cost cost = { .flops = NAN, .bytes = NAN };
	c->op->cost(c, &cost);
	op_problem_copy(c, cost.bytes, out);
}
