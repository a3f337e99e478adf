/* What --value says that an input holds: which branch runs, how long a sound is, and the shapes that follow. */
#include "config.h"

#include "plan/plan_private.h"

#include <math.h>

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

static int given_check(struct builder *b, const struct plan_input_value *given, struct error *err)
{
	const struct value *v = given_input(b->g, given->name);
	const char *name = text_clean(&b->p->arena, given->name);
	if (!v)
		return input_unknown(b, given->name, err);
	if (v->kind != VALUE_TENSOR || v->dtype == DTYPE_UNKNOWN || dtype_bits(v->dtype) == 0)
		return error_set(err, "input %s holds no numbers", name);
	struct dim count = shape_elements(&b->p->arena, bind_input(b, v));
	if (count.kind != DIM_KNOWN || (given->count != 1 && count.value != given->count) ||
		count.value > OP_ELEMENTS_MAX || count.value < 1)
		return error_set(err, "input %s is %s: give one value, or one for each of its at most %d elements", name,
			shape_text(&b->p->arena, bind_input(b, v)), OP_ELEMENTS_MAX);
	for (int i = 0; i < given->count; i++) {
		if (!number_fits(v->dtype, given->numbers[i]))
			return error_set(err, "input %s is %s: %g is none", name, dtype_name(v->dtype), given->numbers[i]);
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
	if (!given)
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
