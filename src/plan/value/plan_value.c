/* Values, types and warnings of a plan, for all of its parts. */
#include "config.h"

#include "plan/plan.h"

#include "plan/plan_private.h"

#include <stdarg.h>
#include <stdio.h>

void plan_warn(struct builder *b, const char *fmt, ...)
{
	char line[ERROR_TEXT_SIZE];
	struct builder *top = b->top;
	if (top->quiet || top->warning_total++ >= PLAN_WARNINGS)
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	struct plan *p = top->p;
	VEC_GROW(top->warnings, p->warning_count, top->warning_capacity);
	/* cleaned again: the line may have been cut within a character */
	top->warnings[p->warning_count++] = text_clean(&p->arena, text_of(line));
}

const char *plan_type_name(const struct plan *p)
{
	return p->own_types && p->mixed ? "mixed" : dtype_name(p->dtype);
}

struct op_value plan_op_value(const struct plan *p, int index)
{
	if (index < 0)
		return (struct op_value){ .shape = SHAPE_UNKNOWN };
	const struct plan_value *v = &p->values[index];
	const struct tensor *t =
		v->constant && p->graph ? graph_tensor(p->graph, &p->graph->values[index]) : NULL;
	return (struct op_value){
		.present = true,
		.dtype = v->dtype,
		.shape = v->shape,
		.elements = v->elements,
		.triangle = t ? t->triangle : TRIANGLE_NONE,
		.constant = v->constant,
		.given = v->given,
		.kind = v->kind,
		.length = v->held->length,
		.items = v->held->items,
	};
}

const struct plan_held *plan_held(struct arena *a, struct dim length, const struct op_value *items)
{
	static const struct plan_held nothing = { .length = { .upper = -1 } };
	if (length.kind == DIM_UNKNOWN && length.upper < 0 && !items)
		return &nothing;
	struct plan_held *held = ARENA_NEW(a, struct plan_held);
	*held = (struct plan_held){ length, items };
	return held;
}
