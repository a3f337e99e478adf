/* Contents of inputs given by --value. They decide shapes and branches. */
#include "config.h"

#include "plan/plan_private.h"

#include <math.h>
#include <stdlib.h>

static const struct plan_input_value *given_find(const struct builder *b, struct text name)
{
	const struct plan_input_value *found = NULL;
	for (int i = 0; i < b->o->value_count; i++) {
		if (text_equal(b->o->values[i].name, name))
			found = &b->o->values[i];
	}
	return found;
}

static const struct value *given_input(const struct graph *g, struct text name)
{
	for (int i = 0; i < g->input_count; i++) {
		const struct value *v = &g->values[g->inputs[i]];
		if (text_equal(v->name, name))
			return v;
	}
	return NULL;
}

static bool number_fits(enum dtype t, double number)
{
	if (dtype_is_float(t))
		return !isnan(number);
	if (t == DTYPE_BOOL)
		return number == 0 || number == 1;
	return number == floor(number) && fabs(number) <= 0x1p53;
}

/* Checks the count: one number for all elements, or one for each. The contents are unknown until the shape is
 * known. */
static int given_check_count(
	struct builder *b, const struct plan_input_value *given, struct shape shape, struct error *err)
{
	struct arena *a = &b->p->arena;
	const char *name = text_clean(a, given->name), *text = shape_text(a, shape);
	struct dim count = shape_elements(a, shape);
	if (count.kind == DIM_SYMBOLIC)
		return error_set(err, "input %s is %s: its values need its shape; give --dim %s=VALUE too",
			name, text, text_clean(a, dim_first_symbol(count)));
	if (count.kind != DIM_KNOWN)
		return error_set(err, "input %s is %s: its values need its shape; give --input %s=SHAPE too",
			name, text, name);
	if (count.value < 1)
		return error_set(err, "input %s is %s: it has no elements", name, text);
	if (given->count != 1 && count.value != given->count)
		return error_set(err, "input %s is %s: give 1 value or %lld, not %d", name, text,
			(long long)count.value, given->count);
	if (count.value > OP_ELEMENTS_MAX && !b->o->trial)
		plan_warn(b, "input %s is %s: benanza uses the contents of at most %d elements", name, text,
			OP_ELEMENTS_MAX);
	return 0;
}

static int given_check(struct builder *b, const struct plan_input_value *given, struct error *err)
{
	const struct value *v = given_input(b->g, given->name);
	const char *name = text_clean(&b->p->arena, given->name);
	if (!v)
		return input_unknown(b, given->name, err);
	if (v->kind != VALUE_TENSOR || v->dtype == DTYPE_UNKNOWN || dtype_bits(v->dtype) == 0)
		return error_set(err, "input %s holds no numbers", name);
	if (given_check_count(b, given, bind_input(b, v), err))
		return -1;
	for (int i = 0; i < given->count; i++) {
		if (!number_fits(v->dtype, given->numbers[i]))
			return error_set(err, "input %s: %g is not a value of type %s", name,
				given->numbers[i], dtype_name(v->dtype));
	}
	return 0;
}

int given_check_all(struct builder *b, struct error *err)
{
	for (int i = 0; i < b->o->value_count; i++) {
		if (given_check(b, &b->o->values[i], err))
			return -1;
	}
	return 0;
}

const struct elements *given_elements(struct builder *b, const struct value *v, struct shape shape)
{
	const struct plan_input_value *given = given_find(b, v->name);
	if (!given || shape_count(shape) > OP_ELEMENTS_MAX)
		return NULL;
	struct elements *e = ARENA_NEW(&b->p->arena, struct elements);
	e->count = (int)shape_count(shape);
	if (dtype_is_float(v->dtype))
		e->f = ARENA_ARRAY(&b->p->arena, double, e->count);
	else
		e->i = ARENA_ARRAY(&b->p->arena, struct dim, e->count);
	for (int i = 0; i < e->count; i++) {
		double number = given->numbers[given->count == 1 ? 0 : i];
		if (e->f)
			e->f[i] = number;
		else
			e->i[i] = dim_known((int64_t)number);
	}
	return e;
}
