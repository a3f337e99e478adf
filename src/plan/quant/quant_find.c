/* Search of quantized patterns: readers and sources of values, quantizers, scales. */
#include "config.h"

#include "plan/quant/quant_search.h"

int quant_reader_count(const struct quant_search *s, int value)
{
	return s->readers.first[value + 1] - s->readers.first[value];
}

int quant_only_reader(const struct quant_search *s, int value)
{
	if (value < 0 || s->p->values[value].is_output || s->captured[value] ||
		quant_reader_count(s, value) != 1)
		return -1;
	return s->readers.layers[s->readers.first[value]];
}

bool quant_is(const struct plan_layer *l, const char *op)
{
	return text_is(l->node->op, op) &&
		(l->node->domain.n == 0 || text_is(l->node->domain, "com.microsoft")) && l->op &&
		l->input_count > 1 && l->inputs[0] >= 0 && l->inputs[1] >= 0 && l->output_count > 0 &&
		l->outputs[0] >= 0;
}

bool quant_is_byte(enum dtype t)
{
	return t == DTYPE_S8 || t == DTYPE_U8 || dtype_is_float8(t);
}

const struct plan_layer *quant_dequantizer(const struct quant_search *s, int value)
{
	int producer = value >= 0 ? s->p->values[value].producer : -1;
	const struct plan_layer *l = producer >= 0 ? &s->p->layers[producer] : NULL;
	return l && quant_is(l, "DequantizeLinear") ? l : NULL;
}

bool quant_is_one_scale(const struct plan *p, const struct plan_layer *quantizer)
{
	return shape_count(p->values[quantizer->inputs[1]].shape) == 1;
}

int quant_whole_source(const struct quant_search *s, int value, bool moved)
{
	const struct plan_layer *l = quant_dequantizer(s, value);
	enum dtype t = l ? s->p->values[l->inputs[0]].dtype : DTYPE_UNKNOWN;
	bool fits = quant_is_byte(t) || (moved && (t == DTYPE_U16 || t == DTYPE_S16));
	return l && fits && quant_is_one_scale(s->p, l) ? l->inputs[0] : -1;
}

int quant_byte_source(const struct quant_search *s, int value)
{
	return quant_whole_source(s, value, false);
}

/* The number of a scalar constant input; 0 for an omitted zero point. False if it is not constant. */
static bool constant_number(const struct plan *p, const struct plan_layer *l, int input, double *number)
{
	int value = input < l->input_count ? l->inputs[input] : -1;
	const struct elements *e = value >= 0 ? p->values[value].elements : NULL;
	*number = 0;
	if (value >= 0 && (!e || e->count != 1 || (e->i && e->i[0].kind != DIM_KNOWN)))
		return false;
	if (e)
		*number = e->i ? (double)e->i[0].value : e->f[0];
	return true;
}

static bool same_number(const struct plan *p, const struct plan_layer *x,
	const struct plan_layer *y, int input)
{
	double a, b;
	if (input < x->input_count && input < y->input_count && x->inputs[input] == y->inputs[input])
		return true;
	return constant_number(p, x, input, &a) && constant_number(p, y, input, &b) && a == b;
}

/* True if quantizing with `to` restores the integers that `from` dequantizes. Another type would saturate
 * some. */
bool quant_same_scale(const struct plan *p, const struct plan_layer *from, const struct plan_layer *to)
{
	return p->values[from->inputs[0]].dtype == p->values[to->outputs[0]].dtype &&
		same_number(p, from, to, 1) && same_number(p, from, to, 2);
}

/* True if the bias is an integer vector (s32), has constant values, or is absent. */
bool quant_bias_find(const struct quant_search *s, const struct plan_layer *core, struct quant *q)
{
	int bias = core->input_count > 2 ? core->inputs[2] : -1;
	const struct plan_layer *l = quant_dequantizer(s, bias);
	if (l && s->p->values[l->inputs[0]].dtype == DTYPE_S32)
		q->source[2] = l->inputs[0];
	return bias < 0 || (s->p->values[bias].shape.rank == 1 &&
		(q->source[2] >= 0 || s->p->values[bias].constant));
}

struct quant *quant_new(const struct quant_search *s, const struct plan_layer *core)
{
	struct quant *q = ARENA_NEW(&s->p->arena, struct quant);
	*q = (struct quant){ .residual = -1, .residual_layer = -1, .activation = -1, .bias = -1 };
	q->source = ARENA_ARRAY(&s->p->arena, int, core->input_count);
	q->result = ARENA_ARRAY(&s->p->arena, int, core->output_count);
	for (int i = 0; i < core->input_count; i++)
		q->source[i] = -1;
	for (int i = 0; i < core->output_count; i++)
		q->result[i] = -1;
	return q;
}

/* The QuantizeLinear with one scale that is the only reader of the value, or NULL. */
const struct plan_layer *quant_quantizer_behind(const struct quant_search *s, int value)
{
	int reader = quant_only_reader(s, value);
	const struct plan_layer *l = reader >= 0 ? &s->p->layers[reader] : NULL;
	bool fits = l && quant_is(l, "QuantizeLinear") && l->inputs[0] == value &&
		quant_is_one_scale(s->p, l);
	return fits ? l : NULL;
}

bool quant_same_shape(const struct plan *p, int a, int b)
{
	return shape_same(p->values[a].shape, p->values[b].shape);
}

void quant_take(struct quant_search *s, int layer, int core)
{
	s->p->layers[layer].absorbed_by = core;
}

void quant_take_shared(struct quant_search *s, const struct plan_layer *l, int core)
{
	if (!l)
		return;
	int *first = &s->first_taker[l->index];
	s->takers[l->index]++;
	*first = *first < 0 || core < *first ? core : *first;
}

/* Counts the scales and zero points of a quantizing or dequantizing layer of the group as read by its kernel.
 * If they are computed at run time, the problem, which has constants there, is a proxy. */
void quant_scaled_by(const struct quant_search *s, struct quant *q, const struct plan_layer *quantizer)
{
	for (int i = 1; i < quantizer->input_count && i < 3; i++) {
		int value = quantizer->inputs[i];
		q->scale_bytes += quant_value_bytes(s->p, value);
		q->stands_in |= value >= 0 && !s->p->values[value].constant;
	}
}
