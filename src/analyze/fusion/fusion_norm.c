/* Matches layer normalization and RMS normalization as exporters write them, from the mean of the squares:
 * square, mean, + epsilon, square root, a division by it, and the factors and summands of the normalized
 * elements. Layer normalization squares the difference from a mean of the same dimensions. All layers are one
 * unit, because most of their values are read twice inside. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

#include <stdlib.h>

struct norm {
	struct chain *c;
	const struct plan *p;
	int axis; /* first normalized dimension */
};

static bool take(struct norm *m, const struct plan_layer *l)
{
	if (m->c->layer_count == FUSION_LAYERS_MAX || !plan_layer_is_onnx(l) || l->body_count ||
		!chain_one_output(m->p, l))
		return false;
	chain_take(m->c, l->index, l->outputs[0]);
	return true;
}

static const struct plan_layer *maker_of(const struct norm *m, int value)
{
	int producer = value >= 0 ? m->p->values[value].producer : -1;
	return producer >= 0 ? &m->p->layers[producer] : NULL;
}

/* The only layer that reads the value; NULL: there are several or none, or the model returns it. */
static const struct plan_layer *reader_of(const struct norm *m, int value)
{
	int reader;
	return chain_readers(m->p, value, &reader, 1) == 1 ? &m->p->layers[reader] : NULL;
}

/* True if the value has exactly these two readers. */
static bool read_by(const struct norm *m, int value, const struct plan_layer *a, const struct plan_layer *b)
{
	int readers[2];
	return chain_readers(m->p, value, readers, 2) == 2 &&
		((readers[0] == a->index && readers[1] == b->index) ||
			(readers[0] == b->index && readers[1] == a->index));
}

/* A mean over the last dimensions, which are kept with size 1. Returns the first of them, or -1. */
static int mean_axis(const struct plan *p, const struct plan_layer *l)
{
	if (!plan_layer_is(l, "ReduceMean") || l->input_count < 1 || l->inputs[0] < 0 || l->outputs[0] < 0)
		return -1;
	const struct shape *from = &p->values[l->inputs[0]].shape, *to = &p->values[l->outputs[0]].shape;
	if (from->rank != to->rank || from->rank < 1 || from->rank > PROBLEM_RANK || !shape_is_known(*from) ||
		!shape_is_known(*to))
		return -1;
	int axis = 0;
	while (axis < from->rank && from->dims[axis].value == to->dims[axis].value)
		axis++;
	for (int i = axis; i < to->rank; i++)
		if (to->dims[i].value != 1)
			return -1;
	return axis < from->rank ? axis : -1;
}

/* True if input i of the layer is a constant of one element that is `number` (0: any). */
static bool has_scalar(const struct plan *p, const struct plan_layer *l, int i, int number)
{
	if (l->input_count != 2 || l->inputs[i] < 0 || !p->values[l->inputs[i]].constant)
		return false;
	const struct elements *e = p->values[l->inputs[i]].elements;
	if (!e || e->count != 1 || (e->i && e->i[0].kind != DIM_KNOWN))
		return false;
	double value = e->i ? (double)e->i[0].value : e->f[0];
	return !number || !(value < number || value > number);
}

static bool is_square(const struct plan *p, const struct plan_layer *l)
{
	return (plan_layer_is(l, "Pow") && has_scalar(p, l, 1, 2)) ||
		(plan_layer_is(l, "Mul") && l->input_count == 2 && l->inputs[0] == l->inputs[1]);
}

/* The layers behind the mean of squares up to the division of `x`; returns that one, or NULL. */
static const struct plan_layer *take_division(struct norm *m, int mean, int x)
{
	const struct plan_layer *l = reader_of(m, mean);
	if (!l || !plan_layer_is(l, "Add") || !(has_scalar(m->p, l, 0, 0) || has_scalar(m->p, l, 1, 0)) ||
		!take(m, l))
		return NULL;
	l = reader_of(m, l->outputs[0]);
	if (!l || !plan_layer_is(l, "Sqrt") || !take(m, l))
		return NULL;
	int root = l->outputs[0];
	l = reader_of(m, root);
	if (!l)
		return NULL;
	if (plan_layer_is(l, "Div") && l->inputs[0] == x && l->inputs[1] == root)
		return take(m, l) ? l : NULL;
	bool inverts = plan_layer_is(l, "Reciprocal") ||
		(plan_layer_is(l, "Div") && l->inputs[1] == root && has_scalar(m->p, l, 0, 1));
	if (!inverts || !take(m, l))
		return NULL;
	int inverse = l->outputs[0];
	l = reader_of(m, inverse);
	bool good = l && plan_layer_is(l, "Mul") && l->input_count == 2 &&
		((l->inputs[0] == x && l->inputs[1] == inverse) ||
			(l->inputs[1] == x && l->inputs[0] == inverse));
	return good && take(m, l) ? l : NULL;
}

/* Takes x - mean(x), which `square` and `division` read. Returns x, or -1. */
static int take_difference(
	struct norm *m, int x, const struct plan_layer *square, const struct plan_layer *division)
{
	const struct plan_layer *sub = maker_of(m, x);
	if (!sub || !plan_layer_is(sub, "Sub") || sub->input_count != 2 || !read_by(m, x, square, division))
		return -1;
	const struct plan_layer *mean = maker_of(m, sub->inputs[1]);
	if (!mean || mean_axis(m->p, mean) != m->axis || mean->inputs[0] != sub->inputs[0] ||
		reader_of(m, sub->inputs[1]) != sub || !take(m, mean) || !take(m, sub))
		return -1;
	return sub->inputs[0];
}

/* Takes a Cast to a wider type that only the normalization reads. Returns the value before it, or x. */
static int take_cast(
	struct norm *m, int x, const struct plan_layer *square, const struct plan_layer *division)
{
	const struct plan_layer *cast = maker_of(m, x);
	bool fits = cast && plan_layer_is(cast, "Cast") && read_by(m, x, square, division) &&
		dtype_is_float(m->p->values[cast->inputs[0]].dtype);
	return fits && take(m, cast) ? cast->inputs[0] : x;
}

/* True for a constant with the normalized dimensions, or fewer. */
static bool is_vector(const struct norm *m, int value, int like)
{
	const struct plan_value *v = &m->p->values[value];
	const struct shape *to = &m->p->values[like].shape;
	int front = to->rank - v->shape.rank;
	if (!v->constant || front < 0 || !shape_is_known(v->shape))
		return false;
	for (int i = 0; i < v->shape.rank; i++) {
		int64_t size = v->shape.dims[i].value;
		if (size != 1 && (front + i < m->axis || size != to->dims[front + i].value))
			return false;
	}
	return true;
}

/* Takes Cast, Mul and (shifts) Add of constants behind the division; each at most once. The Cast is before
 * them or behind them. */
static void take_factors(struct norm *m, bool shifts)
{
	static const char *const ops[] = { "Cast", "Mul", "Add", "Cast" };
	int value = m->c->value;
	bool cast = false;
	for (int i = 0; i < 4; i++) {
		const struct plan_layer *l = reader_of(m, value);
		bool casts = i == 0 || i == 3;
		if (!l || !plan_layer_is(l, ops[i]) || (i == 2 && !shifts) || (casts && cast))
			continue;
		bool fits = casts ? dtype_is_float(m->p->values[l->outputs[0]].dtype)
				  : l->input_count == 2 && l->inputs[0] != l->inputs[1] &&
				is_vector(m, l->inputs[l->inputs[0] == value], value);
		if (!fits || !take(m, l))
			break;
		value = m->c->value;
		cast |= casts;
	}
}

static int layer_compare(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	return (a > b) - (a < b);
}

static bool problem_fill(struct norm *m, enum kernel kernel, int x)
{
	struct problem *q = &m->c->problem;
	const struct plan_value *from = &m->p->values[x], *to = &m->p->values[m->c->value];
	enum dtype types[] = { plan_wide(m->p, from), plan_wide(m->p, to) };
	if (from->constant || !dtype_is_float(types[0]) || !dtype_is_float(types[1]) ||
		!shape_same(from->shape, to->shape))
		return false;
	*q = (struct problem){ .kernel = kernel, .axis = m->axis, .shape_count = 1 };
	q->operand[0].dtype = types[0];
	q->operand[1].dtype = types[1];
	q->shape[0].rank = from->shape.rank;
	for (int i = 0; i < from->shape.rank; i++)
		q->shape[0].dim[i] = from->shape.dims[i].value;
	return true;
}

bool chain_norm(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	*c = (struct chain){ .plan = p, .level = FUSION_PATTERN, .residual = -1, .channel_axis = -1 };
	struct norm m = { .c = c, .p = p, .axis = mean_axis(p, l) };
	if (m.axis < 0 || reader_of(&m, l->inputs[0]) != l)
		return false;
	const struct plan_layer *square = maker_of(&m, l->inputs[0]), *division;
	if (!square || !is_square(p, square) || !take(&m, square) || !take(&m, l))
		return false;
	int x = square->inputs[0];
	division = take_division(&m, l->outputs[0], x);
	if (!division)
		return false;
	int value = c->value, before = take_difference(&m, x, square, division);
	bool centred = before >= 0;
	before = centred ? before : take_cast(&m, x, square, division);
	c->value = value;
	take_factors(&m, centred);
	if (!problem_fill(&m, centred ? KERNEL_LAYERNORM : KERNEL_RMSNORM, before))
		return false;
	qsort(c->layers, (size_t)c->layer_count, sizeof(c->layers[0]), layer_compare);
	for (int i = 0; i < c->layer_count; i++)
		c->unit[i] = c->layers[0] | FUSION_REGION;
	str_puts(&c->pattern, centred ? "LayerNorm" : "RMSNorm");
	return true;
}
