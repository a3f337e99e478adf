/* Values: what two have in common (of branches, of iterations of a loop, of the items of a sequence), and
 * the elements of constants. */
#include "config.h"

#include "ops/op.h"

#include "model/tensor.h"
#include "ops/rules/op_rules.h"

#include <math.h>

static struct dim dim_join(struct dim x, struct dim y, bool bounds)
{
	if (dim_same(x, y))
		return x;
	if (!bounds || x.upper < 0 || y.upper < 0)
		return dim_unknown();
	return dim_unknown_upto(x.upper > y.upper ? x.upper : y.upper);
}

static struct shape shape_join(struct arena *a, struct shape x, struct shape y, bool bounds)
{
	if (x.rank < 0 || x.rank != y.rank)
		return SHAPE_UNKNOWN;
	struct shape s = shape_make(a, x.rank);
	for (int i = 0; i < s.rank; i++)
		s.dims[i] = dim_join(x.dims[i], y.dims[i], bounds);
	return s;
}

/* The elements that are equal in both, the others unknown; NULL if none is equal. */
static const struct elements *elements_join(struct arena *a, const struct elements *x,
	const struct elements *y)
{
	if (!x || !y || x->count != y->count || !x->f != !y->f)
		return NULL;
	struct elements *e = op_elements_new(a, x->count, x->f != NULL);
	bool any = false;
	for (int i = 0; i < e->count; i++) {
		if (e->f && x->f[i] == y->f[i])
			e->f[i] = x->f[i];
		else if (e->i && dim_same(x->i[i], y->i[i]))
			e->i[i] = x->i[i];
		else
			continue;
		any = true;
	}
	return any || e->count == 0 ? e : NULL;
}

static bool value_is_empty(const struct op_value *v)
{
	return v->kind != VALUE_TENSOR && v->length.kind == DIM_KNOWN && v->length.value == 0;
}

/* The join of an optional and a value of the kind that it holds is an optional. */
static void kinds_join(struct arena *a, struct op_value *v, const struct op_value *x,
	const struct op_value *y)
{
	const struct op_value *optional =
		y->kind == VALUE_OPTIONAL || y->kind == VALUE_OPTIONAL_SEQUENCE ? y : x;
	const struct op_value *held = optional == y ? x : y;
	enum value_kind kind = held->kind == VALUE_TENSOR ? VALUE_OPTIONAL : VALUE_OPTIONAL_SEQUENCE;
	if (optional->kind != kind || (held->kind != VALUE_TENSOR && held->kind != VALUE_SEQUENCE))
		return;
	v->kind = kind;
	v->dtype = optional->dtype == DTYPE_UNKNOWN || optional->dtype == held->dtype ? held->dtype :
		DTYPE_UNKNOWN;
	v->shape = value_is_empty(optional) ? held->shape :
		shape_join(a, optional->shape, held->shape, false);
}

struct op_value op_value_join(struct arena *a, const struct op_value *x, const struct op_value *y,
	bool bounds)
{
	struct op_value v = { .present = true, .kind = VALUE_OPAQUE, .shape = SHAPE_UNKNOWN,
		.length = dim_unknown() };
	if (x->kind != y->kind) {
		kinds_join(a, &v, x, y);
		return v;
	}
	v.kind = x->kind;
	v.constant = x->constant && y->constant;
	v.given = x->given || y->given;
	v.dtype = x->dtype == y->dtype ? x->dtype : DTYPE_UNKNOWN;
	v.length = dim_join(x->length, y->length, bounds);
	if (value_is_empty(x) || value_is_empty(y)) {
		const struct op_value *full = value_is_empty(x) ? y : x;
		v.dtype = full->dtype != DTYPE_UNKNOWN ? full->dtype : x->dtype;
		v.shape = full->shape;
		return v;
	}
	v.shape = shape_join(a, x->shape, y->shape, bounds);
	v.elements = v.kind == VALUE_TENSOR && v.dtype != DTYPE_UNKNOWN
		? elements_join(a, x->elements, y->elements)
		: NULL;
	if (!x->items || !y->items || v.length.kind != DIM_KNOWN)
		return v;
	struct op_value *items = ARENA_ARRAY(a, struct op_value, v.length.value);
	for (int i = 0; i < (int)v.length.value; i++)
		items[i] = op_value_join(a, &x->items[i], &y->items[i], bounds);
	v.items = items;
	return v;
}

static bool dim_is(struct dim x, struct dim y)
{
	return dim_same(x, y) || (x.kind == DIM_UNKNOWN && y.kind == DIM_UNKNOWN && x.upper == y.upper);
}

static bool elements_are(const struct elements *x, const struct elements *y)
{
	if (!x || !y || x == y)
		return x == y;
	bool same = x->count == y->count && !x->f == !y->f;
	for (int i = 0; same && i < x->count; i++)
		same = x->f ? x->f[i] == y->f[i] || (x->f[i] != x->f[i] && y->f[i] != y->f[i]) :
			      dim_is(x->i[i], y->i[i]);
	return same;
}

bool op_value_same(const struct op_value *x, const struct op_value *y)
{
	bool same = x->kind == y->kind && x->dtype == y->dtype && x->shape.rank == y->shape.rank &&
		dim_is(x->length, y->length) && !x->items == !y->items &&
		elements_are(x->elements, y->elements);
	for (int i = 0; same && i < x->shape.rank; i++)
		same = dim_is(x->shape.dims[i], y->shape.dims[i]);
	for (int i = 0; same && x->items && i < (int)x->length.value; i++)
		same = op_value_same(&x->items[i], &y->items[i]);
	return same;
}

/* ---- elements of constants */

const struct elements *op_elements_of_tensor(struct arena *a, const struct tensor *t)
{
	bool floats = dtype_is_float(t->dtype);
	if (t->elements < 0 || t->elements > OP_ELEMENTS_MAX || (t->elements > 0 && !t->data) ||
		t->dtype == DTYPE_UNKNOWN || t->dtype == DTYPE_STRING || t->dtype == DTYPE_C64 ||
		t->dtype == DTYPE_C128)
		return NULL;
	struct elements *e = op_elements_new(a, (int)t->elements, floats);
	for (int i = 0; i < e->count; i++) {
		int64_t whole;
		if (floats)
			e->f[i] = tensor_double(t, i);
		else if (tensor_int(t, i, &whole))
			e->i[i] = dim_known(whole);
	}
	return e;
}

static double element(const void *from, int64_t i)
{
	const struct elements *e = from;
	return e->f ? e->f[i] : e->i[i].kind == DIM_KNOWN ? (double)e->i[i].value : (double)NAN;
}

enum triangle op_triangle(const struct op_value *v)
{
	const struct shape *s = &v->shape;
	const struct elements *e = v->elements;
	if (v->triangle || !v->constant || !e || !(e->i || e->f) || s->rank < 2 || !shape_is_known(*s))
		return v->triangle;
	return triangle_find(s->dims[s->rank - 2].value, s->dims[s->rank - 1].value, e->count, element, e);
}
