/* Matches rotary position embeddings as exporters write them, from their last layer. Of x, whose halves are
 * x1 and x2 (the first and second half of each row, or its even and odd elements), one of
 *
 *   x * cos + turned * sin                        turned: -x2 and x1, put together as the halves were
 *   x1 * cos - x2 * sin, x2 * cos + x1 * sin      put together as the halves were
 *
 * All layers are one unit, because most of their values are read twice inside. The problem is that of the
 * operator RotaryEmbedding: one pass over x and the tables. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

#include <math.h>
#include <stdlib.h>

enum half { NO_HALF, FIRST, SECOND };

struct rotary {
	struct chain *c;
	const struct plan *p;
	int x, cosine, sine;    /* values, -1: not known yet */
	int interleaved;        /* -1: not known yet; 1: the halves are even and odd elements */
	const char *why;
};

static bool take(struct rotary *m, const struct plan_layer *l)
{
	for (int i = 0; i < m->c->layer_count; i++)
		if (m->c->layers[i] == l->index)
			return true;
	if (m->c->layer_count == FUSION_LAYERS_MAX || l->body_count || l->absorbed_by >= 0)
		return false;
	chain_take(m->c, l->index, m->c->value);
	return true;
}

/* True if the layer has at least `count` inputs, and none of the first `count` is omitted. */
static bool has_inputs(const struct plan_layer *l, int count)
{
	for (int i = 0; i < count; i++)
		if (i >= l->input_count || l->inputs[i] < 0)
			return false;
	return true;
}

/* The layer that makes a value, if it has this operator and at least `inputs` inputs; else NULL. */
static const struct plan_layer *maker_of(const struct rotary *m, int value, const char *op, int inputs)
{
	int producer = value >= 0 ? m->p->values[value].producer : -1;
	const struct plan_layer *l = producer >= 0 ? &m->p->layers[producer] : NULL;
	return l && plan_layer_is(l, op) && has_inputs(l, inputs) ? l : NULL;
}

/* The value before casts to its own type and other layers that only hand it on. */
static int source_of(const struct rotary *m, int value)
{
	for (;;) {
		int producer = value >= 0 ? m->p->values[value].producer : -1;
		const struct plan_layer *l = producer >= 0 ? &m->p->layers[producer] : NULL;
		if (!l || !(chain_hands_on(l) || (l->class == CLASS_FREE && plan_layer_is(l, "Cast"))))
			return value;
		value = l->inputs[0];
	}
}

/* Sets what is not known yet; false: it is known and differs. */
static bool agree(int *known, int value)
{
	if (*known < 0)
		*known = value;
	return *known == value;
}

/* ---- halves */

/* Length of the rows of a value, or 0. */
static int64_t row_of(const struct plan *p, int value)
{
	const struct shape *s = &p->values[value].shape;
	struct dim last = s->rank > 0 ? s->dims[s->rank - 1] : dim_unknown();
	return last.kind == DIM_KNOWN ? last.value : 0;
}

/* The number in input i, which has one element. */
static bool number_in(const struct plan *p, const struct plan_layer *l, int i, int64_t *number)
{
	const struct elements *e =
		i < l->input_count && l->inputs[i] >= 0 ? p->values[l->inputs[i]].elements : NULL;
	if (!e || e->count != 1 || !e->i || e->i[0].kind != DIM_KNOWN)
		return false;
	*number = e->i[0].value;
	return true;
}

/* The half that a Slice of the last dimension takes. */
static enum half half_of_slice(const struct plan *p, const struct plan_layer *l, int *interleaved)
{
	int64_t row = row_of(p, l->inputs[0]), first, end, axis, step = 1;
	int rank = p->values[l->inputs[0]].shape.rank;
	if (row < 2 || row % 2 || !number_in(p, l, 1, &first) || !number_in(p, l, 2, &end) ||
		!number_in(p, l, 3, &axis) || (axis != -1 && axis != rank - 1) ||
		(l->input_count > 4 && l->inputs[4] >= 0 && !number_in(p, l, 4, &step)))
		return NO_HALF;
	first += first < 0 ? row : 0;
	end += end < 0 ? row : 0;
	end = end > row ? row : end;
	*interleaved = step == 2;
	if (step == 2)
		return first == 0 && end >= row - 1 ? FIRST : first == 1 && end == row ? SECOND : NO_HALF;
	return step != 1 ? NO_HALF
		: first == 0 && end == row / 2 ? FIRST : first == row / 2 && end == row ? SECOND : NO_HALF;
}

/* The half that an output of a Split in two is. */
static enum half half_of_split(const struct plan *p, const struct plan_layer *l, int value)
{
	int64_t row = row_of(p, l->inputs[0]), axis = node_int(l->node, "axis", 0);
	if (l->output_count != 2 || l->outputs[0] < 0 || l->outputs[1] < 0 ||
		(axis != -1 && axis != p->values[l->inputs[0]].shape.rank - 1) ||
		row < 2 || row_of(p, l->outputs[0]) * 2 != row || row_of(p, l->outputs[1]) * 2 != row)
		return NO_HALF;
	return value == l->outputs[0] ? FIRST : SECOND;
}

/* Which half of x a value is; takes the layer that makes it. */
static enum half half_of(struct rotary *m, int value)
{
	int interleaved = 0;
	enum half half = NO_HALF;
	const struct plan_layer *slice = maker_of(m, value, "Slice", 1);
	const struct plan_layer *split = maker_of(m, value, "Split", 1);
	const struct plan_layer *l = slice ? slice : split;
	if (slice)
		half = half_of_slice(m->p, slice, &interleaved);
	else if (split)
		half = half_of_split(m->p, split, value);
	return half && agree(&m->x, source_of(m, l->inputs[0])) && agree(&m->interleaved, interleaved) &&
		take(m, l) ? half : NO_HALF;
}

/* Takes what puts two halves together; false: `value` is something else. */
static bool take_together(struct rotary *m, int value, int parts[2])
{
	const struct plan_layer *reshape = maker_of(m, value, "Reshape", 1);
	const struct plan_layer *l = maker_of(m, reshape ? reshape->inputs[0] : value, "Concat", 2);
	if (!l || l->input_count != 2 || (reshape && !take(m, reshape)))
		return false;
	int64_t axis = node_int(l->node, "axis", 0);
	if ((axis != -1 && axis != m->p->values[l->outputs[0]].shape.rank - 1) || !take(m, l))
		return false;
	for (int i = 0; i < 2; i++) {
		const struct plan_layer *pair = maker_of(m, l->inputs[i], "Unsqueeze", 1);
		parts[i] = reshape && pair ? pair->inputs[0] : l->inputs[i];
		if (reshape && (!pair || row_of(m->p, l->inputs[i]) != 1 || !take(m, pair)))
			return false;
	}
	return agree(&m->interleaved, reshape != NULL);
}

/* ---- the two forms */

/* True for -x2 and x1 together; takes their layers. */
static bool is_turned(struct rotary *m, int value)
{
	int parts[2];
	if (!take_together(m, value, parts))
		return false;
	const struct plan_layer *negative = maker_of(m, parts[0], "Neg", 1);
	return negative && take(m, negative) && half_of(m, negative->inputs[0]) == SECOND &&
		half_of(m, parts[1]) == FIRST;
}

/* x * cos + turned * sin */
static bool match_turned(struct rotary *m, const struct plan_layer *sum)
{
	const struct rotary before = *m;
	int count = m->c->layer_count;
	for (int i = 0; i < 4; i++) {
		const struct plan_layer *turn = maker_of(m, sum->inputs[i / 2], "Mul", 2);
		const struct plan_layer *plain = maker_of(m, sum->inputs[!(i / 2)], "Mul", 2);
		*m = before;
		m->c->layer_count = count;
		if (!turn || !plain || turn == plain || !is_turned(m, turn->inputs[i % 2]))
			continue;
		m->sine = turn->inputs[!(i % 2)];
		m->why = "its halves belong to another value than the product with the cosines";
		int at = source_of(m, plain->inputs[0]) == m->x ? 0 :
			source_of(m, plain->inputs[1]) == m->x ? 1 : -1;
		if (at < 0)
			return false;
		m->cosine = plain->inputs[!at];
		m->why = NULL;
		return take(m, turn) && take(m, plain);
	}
	return false;
}

/* A product of a half with one of the tables. */
static enum half take_product(struct rotary *m, int value, int *table)
{
	const struct plan_layer *l = maker_of(m, value, "Mul", 2);
	for (int i = 0; l && i < 2; i++) {
		enum half half = half_of(m, l->inputs[i]);
		if (half)
			return take(m, l) && agree(table, l->inputs[!i]) ? half : NO_HALF;
	}
	return NO_HALF;
}

/* x1 * cos - x2 * sin and x2 * cos + x1 * sin */
static bool match_pairs(struct rotary *m, int value)
{
	int parts[2];
	if (!take_together(m, value, parts))
		return false;
	const struct plan_layer *less = maker_of(m, parts[0], "Sub", 2);
	const struct plan_layer *more = maker_of(m, parts[1], "Add", 2);
	if (!less || !more || !take(m, less) || !take(m, more) ||
		take_product(m, less->inputs[0], &m->cosine) != FIRST ||
		take_product(m, less->inputs[1], &m->sine) != SECOND)
		return false;
	const struct rotary before = *m;
	int count = m->c->layer_count;
	for (int i = 0; i < 2; i++) {
		*m = before;
		m->c->layer_count = count;
		if (take_product(m, more->inputs[i], &m->cosine) == SECOND &&
			take_product(m, more->inputs[!i], &m->sine) == FIRST)
			return true;
	}
	return false;
}

/* ---- the group */

/* True if nothing else reads a value inside. */
static bool is_closed(const struct rotary *m, const struct plan_layer *last)
{
	const struct chain *c = m->c;
	for (int i = 0; i < c->layer_count; i++) {
		const struct plan_layer *l = &m->p->layers[c->layers[i]];
		for (int k = 0; l != last && k < l->output_count; k++) {
			const struct plan_value *v = l->outputs[k] < 0 ? NULL : &m->p->values[l->outputs[k]];
			for (int n = 0; v && n < v->consumer_count; n++) {
				bool inside = !chain_reads(m->p, v->consumers[n], l->outputs[k]);
				for (int j = 0; j < c->layer_count; j++)
					inside |= c->layers[j] == v->consumers[n];
				if (!inside)
					return false;
			}
			if (v && v->is_output)
				return false;
		}
	}
	return true;
}

static double bytes_of(const struct plan *p, int value)
{
	const struct plan_value *v = &p->values[value];
	double count = 1;
	for (int i = 0; i < v->shape.rank; i++)
		count *= v->shape.dims[i].kind == DIM_KNOWN ? (double)v->shape.dims[i].value : NAN;
	return dtype_bytes(v->dtype, count);
}

static int layer_compare(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	return (a > b) - (a < b);
}

/* The problem of RotaryEmbedding (ops/onnx/op_llm.c): a copy of as many bytes. */
static bool problem_fill(struct rotary *m, int y)
{
	struct problem *q = &m->c->problem;
	double bytes = bytes_of(m->p, m->x) + bytes_of(m->p, y) + bytes_of(m->p, m->cosine) +
		bytes_of(m->p, m->sine);
	const struct plan_value *from = &m->p->values[m->x], *to = &m->p->values[y];
	if (!(bytes >= 2 && bytes < 1e15) || !dtype_is_float(from->dtype) || from->dtype != to->dtype ||
		!shape_same(from->shape, to->shape))
		return false;
	*q = (struct problem){ .kernel = KERNEL_COPY, .size = (int64_t)ceil(bytes / 2) };
	q->operand[0].dtype = q->operand[1].dtype = DTYPE_U8;
	return true;
}

bool chain_rotary(struct chain *c, const struct plan *p, const struct plan_layer *l, const char **why)
{
	bool sum = plan_layer_is(l, "Add"), pairs = plan_layer_is(l, "Concat") || plan_layer_is(l, "Reshape");
	*why = NULL;
	c->pattern = (struct str){ 0 };
	if (!(sum || pairs) || !has_inputs(l, 2) || l->output_count != 1 || l->outputs[0] < 0)
		return false;
	struct rotary m = { .c = c, .p = p, .x = -1, .cosine = -1, .sine = -1, .interleaved = -1 };
	*c = (struct chain){ .plan = p, .level = FUSION_PATTERN, .residual = -1, .channel_axis = -1,
		.proxy = true };
	bool match = sum ? take(&m, l) && match_turned(&m, l) : match_pairs(&m, l->outputs[0]);
	*why = m.why;
	if (!match)
		return false;
	if (!is_closed(&m, l))
		*why = "other layers read a value inside it, or it is a model output";
	else if (!problem_fill(&m, l->outputs[0]))
		*why = "its sizes are unknown, or its input and output differ in shape or type";
	if (*why)
		return false;
	c->value = l->outputs[0];
	qsort(c->layers, (size_t)c->layer_count, sizeof(c->layers[0]), layer_compare);
	for (int i = 0; i < c->layer_count; i++)
		c->unit[i] = c->layers[0] | FUSION_REGION;
	str_puts(&c->pattern, "Rotary");
	return true;
}
