/* Recognizes constant masks of causal attention: by their contents (op_triangle), and those that exporters
 * compute with Trilu or by comparing positions. Rows are queries, columns are keys; query i sees the keys
 * up to i + keys - queries. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

/* The number in a constant of one element; `otherwise` if it is omitted or unknown. */
static int64_t number_of(const struct plan *p, const struct plan_layer *l, int input, int64_t otherwise)
{
	int value = l->input_count > input ? l->inputs[input] : -1;
	const struct elements *e = value >= 0 ? p->values[value].elements : NULL;
	return e && e->count == 1 && e->i && e->i[0].kind == DIM_KNOWN ? e->i[0].value : otherwise;
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

/* Layers behind which the same elements follow in the same order, or are repeated in front. */
static bool passes(const struct plan_layer *l)
{
	static const char *const ops[] = { "Cast", "Unsqueeze", "Squeeze", "Reshape", "Expand", "Identity" };
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (plan_layer_is(l, ops[i]) && l->input_count > 0 && l->inputs[0] >= 0)
			return true;
	return false;
}

#define STEPS 8

/* The value before the layers that pass it on, as far as contents are not known. */
static int before(const struct plan *p, int value)
{
	for (int step = 0; step < STEPS && !p->values[value].elements; step++) {
		int producer = p->values[value].producer;
		if (producer < 0 || !passes(&p->layers[producer]))
			break;
		value = p->layers[producer].inputs[0];
	}
	return value;
}

static const struct plan_layer *maker_of(const struct plan *p, int value)
{
	return p->values[value].producer < 0 ? NULL : &p->layers[p->values[value].producer];
}

/* True for integers that rise by one along dimension `axis` from the end, all others being 1; their first. */
static bool rises(const struct plan *p, int value, int axis, int64_t size, int64_t *first)
{
	const struct shape *s = &p->values[value].shape;
	for (int i = 1; i <= s->rank; i++)
		if (s->dims[s->rank - i].kind != DIM_KNOWN ||
			s->dims[s->rank - i].value != (i == axis ? size : 1))
			return false;
	if (s->rank < axis)
		return false;
	value = before(p, value);
	const struct elements *e = p->values[value].elements;
	for (int i = 0; e && i < e->count; i++)
		if (!e->i || e->i[i].kind != DIM_KNOWN || e->i[i].value != e->i[0].value + i)
			return false;
	if (e && e->count) {
		*first = e->i[0].value;
		return true;
	}
	const struct plan_layer *range = maker_of(p, value);
	if (!range || !plan_layer_is(range, "Range") || number_of(p, range, 2, 0) != 1)
		return false;
	*first = number_of(p, range, 0, INT64_MIN);
	return *first != INT64_MIN;
}

/* From a comparison of positions: key <= query, or key > query. */
static enum triangle of_comparison(
	const struct plan *p, const struct plan_layer *l, int64_t rows, int64_t columns)
{
	static const struct {
		const char *op;
		int keys; /* the input with the positions of the keys */
		enum triangle triangle;
	} comparisons[] = { { "LessOrEqual", 0, TRIANGLE_SEEN }, { "GreaterOrEqual", 1, TRIANGLE_SEEN },
		{ "Greater", 0, TRIANGLE_HIDDEN }, { "Less", 1, TRIANGLE_HIDDEN } };
	int64_t query, key;
	for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		int keys = comparisons[i].keys;
		if (plan_layer_is(l, comparisons[i].op) && l->input_count == 2 && l->inputs[0] >= 0 &&
			l->inputs[1] >= 0 && rises(p, l->inputs[keys], 1, columns, &key) &&
			rises(p, l->inputs[!keys], 2, rows, &query) && query - key == columns - rows)
			return comparisons[i].triangle;
	}
	return TRIANGLE_NONE;
}

/* Returns the constant that layers without arithmetic (Cast, Expand ...) pass on as `value`, or -1. Its last
 * two dimensions must be those of `value`. */
static int mask_before(const struct plan *p, int value)
{
	const struct shape *s = &p->values[value].shape, *t;
	if (s->rank < 2 || !shape_is_known(*s) || !p->values[value].constant)
		return -1;
	int from = before(p, value);
	t = &p->values[from].shape;
	bool same = t->rank >= 2 && shape_is_known(*t);
	for (int i = 1; same && i <= 2; i++)
		same = s->dims[s->rank - i].value == t->dims[t->rank - i].value;
	return same ? from : -1; /* else a row was repeated */
}

enum triangle triangle_of(const struct plan *p, int value)
{
	int from = mask_before(p, value);
	if (from < 0)
		return TRIANGLE_NONE;
	struct op_value v = plan_op_value(p, from);
	if (v.elements || v.triangle)
		return op_triangle(&v);
	int64_t rows = v.shape.dims[v.shape.rank - 2].value, columns = v.shape.dims[v.shape.rank - 1].value;
	const struct plan_layer *l = rows <= columns ? maker_of(p, from) : NULL;
	return !l ? TRIANGLE_NONE : plan_layer_is(l, "Trilu") ? of_trilu(p, l, rows, columns) :
		of_comparison(p, l, rows, columns);
}

bool triangle_fills(const struct plan *p, int value)
{
	const struct elements *e = p->values[value].elements;
	return !e || e->count != 1 || !e->f || triangle_hides(e->f[0]);
}

static bool is_zero(const struct plan *p, int value)
{
	const struct elements *e = p->values[value].elements;
	return e && e->count == 1 && e->f && !(e->f[0] < 0 || e->f[0] > 0);
}

/* Where(triangle, 0, a large negative number), or with both exchanged. */
static bool selects_triangle(const struct plan *p, const struct plan_layer *l)
{
	if (!plan_layer_is(l, "Where") || l->input_count != 3 || l->inputs[0] < 0 || l->inputs[1] < 0 ||
		l->inputs[2] < 0)
		return false;
	enum triangle t = triangle_of(p, l->inputs[0]);
	int shown = t == TRIANGLE_SEEN ? 1 : 2;
	return t != TRIANGLE_NONE && is_zero(p, l->inputs[shown]) &&
		p->values[l->inputs[3 - shown]].elements && triangle_fills(p, l->inputs[3 - shown]);
}

bool triangle_added(const struct plan *p, int value)
{
	int from = mask_before(p, value);
	if (from < 0)
		return false;
	struct op_value v = plan_op_value(p, from);
	const struct plan_layer *l = maker_of(p, from);
	return op_triangle(&v) == TRIANGLE_ADDED || (l && selects_triangle(p, l));
}
