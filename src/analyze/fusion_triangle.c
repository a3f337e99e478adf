#include "config.h"

#include "analyze/analyze_private.h"

/* Recognizes constant masks of causal attention: those whose contents are known, and those that exporters
 * compute with Trilu. Rows are queries, columns are keys; query i sees the keys up to i + keys - queries. */

/* The number in a constant of one element; `otherwise` if it is omitted or unknown. */
static int64_t number_of(const struct plan *p, const struct plan_layer *l, int input, int64_t otherwise)
{
	int value = l->input_count > input ? l->inputs[input] : -1;
	const struct elements *e = value >= 0 ? p->values[value].elements : NULL;
	return e && e->count == 1 && e->i && e->i[0].kind == DIM_KNOWN ? e->i[0].value : otherwise;
}

static bool is_one(const struct elements *e, int i)
{
	return e->i ? e->i[i].value != 0 : e->f[i] < 0 || e->f[i] > 0;
}

/* From known elements: which are not zero. */
static enum triangle of_elements(const struct elements *e, int64_t rows, int64_t columns)
{
	bool seen = true, hidden = true;
	for (int i = 0; i < e->count; i++) {
		bool below = i % columns <= i / columns % rows + columns - rows;
		if (e->i && e->i[i].kind != DIM_KNOWN)
			return TRIANGLE_NONE;
		seen &= is_one(e, i) == below;
		hidden &= is_one(e, i) != below;
	}
	return seen ? TRIANGLE_SEEN : hidden ? TRIANGLE_HIDDEN : TRIANGLE_NONE;
}

/* From a Trilu of ones: the lower triangle with the diagonal, or the upper one without it. */
static enum triangle of_trilu(const struct plan *p, const struct plan_layer *l, int64_t rows, int64_t columns)
{
	bool upper = node_int(l->node, "upper", 1) != 0;
	int64_t k = l->input_count > 1 && l->inputs[1] >= 0 ? number_of(p, l, 1, INT64_MIN) : 0;
	if (!upper)
		return k == columns - rows ? TRIANGLE_SEEN : TRIANGLE_NONE;
	return k == columns - rows + 1 ? TRIANGLE_HIDDEN : TRIANGLE_NONE;
}

enum triangle triangle_of(const struct plan *p, int value)
{
	const struct shape *s = &p->values[value].shape;
	if (s->rank < 2 || !shape_is_known(*s) || !p->values[value].constant)
		return TRIANGLE_NONE;
	int64_t rows = s->dims[s->rank - 2].value, columns = s->dims[s->rank - 1].value;
	if (rows > columns)
		return TRIANGLE_NONE;
	for (int step = 0; step < 8; step++) {
		const struct plan_value *v = &p->values[value];
		if (v->elements && v->elements->count && (v->elements->i || v->elements->f))
			return of_elements(v->elements, rows, columns);
		if (v->producer < 0)
			break;
		const struct plan_layer *l = &p->layers[v->producer];
		if (plan_layer_is(l, "Trilu"))
			return of_trilu(p, l, rows, columns);
		if (!plan_layer_is(l, "Cast") && !plan_layer_is(l, "Unsqueeze") &&
			!plan_layer_is(l, "Reshape"))
			break;
		value = l->inputs[0];
	}
	return TRIANGLE_NONE;
}
