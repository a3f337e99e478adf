/* Integers that are only moved between DequantizeLinear and QuantizeLinear of one scale, or from
 * DequantizeLinear to a matmul or convolution. The layers that move them then move integers instead of
 * floats. */
#include "config.h"

#include "plan/quant/quant_search.h"

#define MOVERS_MAX 16 /* longest chain of data movement layers */

static bool is_unused(const struct quant_search *s, int value)
{
	return value < 0 || (!quant_reader_count(s, value) && !s->p->values[value].is_output &&
		!s->captured[value]);
}

/* True if the layer only moves its first input, `value`, to its first output and no other output is used. */
static bool moves_one(const struct quant_search *s, const struct plan_layer *l, int value)
{
	if (quant_kind(l) != QUANT_MOVER || l->inputs[0] != value ||
		l->output_count < 1 || l->outputs[0] < 0)
		return false;
	for (int i = 1; i < l->output_count; i++)
		if (!is_unused(s, l->outputs[i]))
			return false;
	return true;
}

/* ---- between DequantizeLinear and QuantizeLinear */

/* Follows a value through further data movement layers, collected in `movers`, to its QuantizeLinear, or
 * NULL. */
static const struct plan_layer *movers_follow(const struct quant_search *s, int value,
	int *movers, int *count)
{
	const struct plan_layer *quantizer;
	while (!(quantizer = quant_quantizer_behind(s, value))) {
		int reader = quant_only_reader(s, value);
		const struct plan_layer *l = reader >= 0 ? &s->p->layers[reader] : NULL;
		if (!l || *count == MOVERS_MAX || !moves_one(s, l, value))
			return NULL;
		movers[(*count)++] = reader;
		value = l->outputs[0];
	}
	return quantizer;
}

bool quant_mover_behind(struct quant_search *s, const struct plan_layer *core, struct quant *q)
{
	const struct plan_layer *in = quant_dequantizer(s, core->inputs[0]), *out;
	int movers[MOVERS_MAX], moved_by[MOVERS_MAX], count = 0, wanted = 0;
	for (int i = 0; i < core->output_count; i++) {
		int first = count;
		if (is_unused(s, core->outputs[i]))
			continue;
		out = movers_follow(s, core->outputs[i], movers, &count);
		if (!out || !quant_same_scale(s->p, in, out))
			return false;
		q->result[i] = out->outputs[0];
		for (int k = first; k < count; k++)
			moved_by[k] = i;
		wanted++;
	}
	for (int i = 0; i < core->output_count; i++)
		if (q->result[i] >= 0)
			quant_take(s, s->p->values[q->result[i]].producer, core->index);
	for (int k = 0; k < count; k++) {
		struct quant *next = quant_new(s, &s->p->layers[movers[k]]);
		next->source[0] = q->source[0];
		next->result[0] = q->result[moved_by[k]];
		s->b->quants[movers[k]] = next;
	}
	return wanted > 0;
}

/* ---- between DequantizeLinear and a matmul or convolution */

/* True if the layer passes on elements of its first input unchanged. */
static bool hands_on(const struct quant_search *s, const struct plan_layer *l)
{
	return quant_kind(l) == QUANT_MOVER && !quant_op_is(l->node, "Resize") &&
		!quant_op_is(l->node, "Pad") && l->op && l->input_count > 0 && l->inputs[0] >= 0 &&
		moves_one(s, l, l->inputs[0]);
}

/* True if the value has one reader, or all readers are integer matmuls or convolutions; its float values are
 * then never used. */
static bool nobody_wants_values(const struct quant_search *s, int value)
{
	if (s->p->values[value].is_output || s->captured[value])
		return false;
	if (quant_reader_count(s, value) == 1)
		return true;
	for (int i = s->readers.first[value]; i < s->readers.first[value + 1]; i++) {
		const struct plan_layer *l = &s->p->layers[s->readers.layers[i]];
		struct quant q = { .source = (int[3]){ -1, -1, -1 } };
		bool product = quant_kind(l) == QUANT_PRODUCT && l->input_count > 1 &&
			l->input_count < 4 && l->inputs[0] == value && l->inputs[1] != value;
		int weights = product ? quant_weights_source(s, l) : -1;
		if (weights < 0 || dtype_is_float(s->p->values[weights].dtype) || !quant_bias_find(s, l, &q))
			return false;
	}
	return true;
}

/* True if the producer only moves the value and all readers are integer layers. The answer is cached, because
 * every reader asks for it. */
static bool is_moved(const struct quant_search *s, int value)
{
	int producer = value >= 0 ? s->p->values[value].producer : -1;
	if (producer < 0 || s->p->values[value].constant)
		return false;
	if (!s->moved[value])
		s->moved[value] =
			hands_on(s, &s->p->layers[producer]) && nobody_wants_values(s, value) ? 1 : -1;
	return s->moved[value] > 0;
}

const struct plan_layer *quant_moved_dequantizer(const struct quant_search *s, int value)
{
	int count = 0;
	do {
		if (count++ == MOVERS_MAX || !is_moved(s, value))
			return NULL;
		value = s->p->layers[s->p->values[value].producer].inputs[0];
	} while (quant_byte_source(s, value) < 0);
	const struct plan_layer *l = quant_dequantizer(s, value);
	return dtype_is_float(s->p->values[l->inputs[0]].dtype) ? NULL : l;
}

void quant_take_movers(struct quant_search *s, int value, int source)
{
	while (!quant_dequantizer(s, value)) {
		const struct plan_layer *l = &s->p->layers[s->p->values[value].producer];
		if (s->b->quants[l->index])
			return;
		struct quant *mover = quant_new(s, l);
		mover->source[0] = mover->result[0] = source;
		s->b->quants[l->index] = mover;
		value = l->inputs[0];
		quant_take_shared(s, quant_dequantizer(s, value), l->index);
	}
}
