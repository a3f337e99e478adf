/* Quantized models. Exporters write an integer layer as a float layer between DequantizeLinear and
 * QuantizeLinear (QDQ); dynamic quantization writes raw sums, a Cast and a multiplication. Libraries run
 * either as one kernel. This file finds such groups: the layer in the middle, the core, is priced and
 * measured with the integer types of its data, and the layers around it become free. Shapes and edges stay as
 * in the file. */
#include "config.h"

#include "plan/quant/quant_search.h"

#include <stdlib.h>

/* ---- readers */

static struct readers readers_find(const struct plan *p)
{
	struct readers r = { .first = base_calloc((size_t)p->value_count + 2, sizeof(int)) };
	int *last = base_malloc(((size_t)p->value_count + 1) * sizeof(int));
	for (int fill = 0; fill < 2; fill++) {
		for (int v = 0; v < p->value_count; v++)
			last[v] = -1;
		for (int i = 0; i < p->layer_count; i++)
			for (int j = 0; j < p->layers[i].input_count; j++) {
				int v = p->layers[i].inputs[j];
				if (v < 0 || last[v] == i || plan_layer_has(&p->layers[i], OP_READS_SHAPE))
					continue;
				last[v] = i;
				if (fill)
					r.layers[r.first[v + 1]++] = i;
				else
					r.first[v + 2]++;
			}
		/* turns counts into start indexes, one entry too far; filling moves each to the start of the
		 * next */
		for (int v = 0; !fill && v < p->value_count; v++)
			r.first[v + 2] += r.first[v + 1];
		if (!fill)
			r.layers = base_malloc(((size_t)r.first[p->value_count + 1] + 1) * sizeof(int));
	}
	free(last);
	return r;
}

/* ---- inputs of a core */

/* The value that an input of a matmul or convolution is dequantized from, or -1. */
static int product_source(const struct quant_search *s, const struct plan_layer *core, int input)
{
	int source = input == 1 ? quant_weights_source(s, core) : quant_byte_source(s, core->inputs[input]);
	const struct plan_layer *l = source < 0 ? quant_moved_dequantizer(s, core->inputs[input]) : NULL;
	return l ? l->inputs[0] : source;
}

/* Fills q->source. False: not an integer layer. */
static bool sources_find(
	const struct quant_search *s, const struct plan_layer *core, enum op_quant kind, struct quant *q)
{
	const struct plan_value *v = s->p->values;
	int first = kind == QUANT_CHOICE,
		last = first + (kind == QUANT_PRODUCT || kind == QUANT_PAIR || kind == QUANT_CHOICE);
	if (kind == QUANT_LIST)
		last = core->input_count - 1;
	if (core->input_count <= last || last < 0)
		return false;
	for (int i = first; i <= last; i++) {
		q->source[i] = kind == QUANT_PRODUCT
			? product_source(s, core, i)
			: quant_whole_source(s, core->inputs[i], kind == QUANT_MOVER);
		if (q->source[i] < 0 ||
			dtype_is_float(v[q->source[i]].dtype) != dtype_is_float(v[q->source[first]].dtype))
			return false;
	}
	return kind != QUANT_PRODUCT || quant_bias_find(s, core, q);
}

/* ---- layers behind a core */

/* The quantized source of the other operand if the layer adds a tensor of the same shape (a residual); else
 * -1. */
static int residual_source(const struct quant_search *s, const struct plan_layer *add, int value)
{
	if (!quant_op_is(add->node, "Add") || add->input_count != 2 || add->inputs[0] == add->inputs[1])
		return -1;
	int other = add->inputs[add->inputs[0] == value];
	int source = quant_byte_source(s, other);
	if (source < 0)
		return -1;
	bool same = quant_same_shape(s->p, other, value) && quant_same_shape(s->p, add->outputs[0], value);
	return same ? source : -1;
}

/* Takes a bias from a separate addition, such as after a MatMul. */
static bool takes_bias(const struct quant_search *s, const struct plan_layer *core, int value,
	struct quant *q)
{
	bool has = q->bias >= 0 || (core->input_count > 2 && core->inputs[2] >= 0);
	int bias = has ? -1 : quant_bias_behind(s, core, value);
	if (bias < 0 || !s->p->values[bias].constant)
		return false;
	q->bias = bias;
	return true;
}

/* Follows the core's output through a bias, a residual and an activation to its QuantizeLinear. `taken` gets
 * the layers in between. NULL: nothing quantizes the output. */
static const struct plan_layer *follow(const struct quant_search *s, const struct plan_layer *core,
	bool product, struct quant *q, int *taken, int *count)
{
	const struct plan_layer *quantizer;
	struct quant met = *q;
	int value = core->outputs[0];
	*count = 0;
	while (!(quantizer = quant_quantizer_behind(s, value))) {
		int reader = quant_only_reader(s, value);
		const struct plan_layer *l = reader >= 0 ? &s->p->layers[reader] : NULL;
		if (!l || !l->op || met.activation >= 0 || l->output_count != 1 || l->outputs[0] < 0)
			return NULL;
		if (product && met.residual < 0 && takes_bias(s, core, value, &met))
			;
		else if (product && met.residual < 0 && (met.residual = residual_source(s, l, value)) >= 0)
			met.residual_layer = reader;
		else if (plan_layer_has(l, OP_ACTIVATION) && l->inputs[0] == value)
			met.activation = reader;
		else
			return NULL;
		taken[(*count)++] = reader;
		value = l->outputs[0];
	}
	if (!quant_is_byte(s->p->values[quantizer->outputs[0]].dtype))
		return NULL;
	*q = met;
	return quantizer;
}

/* ---- absorbing layers */

static bool input_is_again(struct quant_search *s, const struct plan_layer *core, int input)
{
	int *last = &s->last_core[core->inputs[input]];
	bool again = *last == core->index;
	*last = core->index;
	return again;
}

/* Absorbs the layers that dequantize the inputs of the core. The scale of a bias is that of the sums and is
 * not read. */
static void take_sources(struct quant_search *s, const struct plan_layer *core, struct quant *q)
{
	int axis;
	for (int i = 0; i < core->input_count; i++) {
		if (q->source[i] < 0 || input_is_again(s, core, i))
			continue;
		const struct plan_layer *l = quant_weights_dequantizer(s, core->inputs[i], &axis);
		if (l) {
			quant_take_shared(s, &s->p->layers[s->p->values[core->inputs[i]].producer],
				core->index);
			q->by_channel |= q->product && i == 1 && !quant_is_one_scale(s->p, l);
		} else if ((l = quant_moved_dequantizer(s, core->inputs[i])))
			quant_take_movers(s, core->inputs[i], q->source[i]);
		if (!(q->product && i == 2))
			quant_scaled_by(s, q, l);
	}
	for (int i = 0; i < core->output_count; i++)
		if (q->result[i] >= 0)
			quant_scaled_by(s, q, &s->p->layers[s->p->values[q->result[i]].producer]);
	if (q->residual < 0)
		return;
	const struct plan_layer *add = &s->p->layers[q->residual_layer];
	for (int i = 0; i < 2; i++) {
		const struct plan_layer *l = quant_dequantizer(s, add->inputs[i]);
		quant_take_shared(s, l, core->index);
		if (l)
			quant_scaled_by(s, q, l);
	}
}

/* Sets the epilogue for the activation, which is not an input of the core's own rules. */
static void activation_mode(struct quant_search *s, struct quant *q)
{
	struct op_call c;
	struct op_problem out;
	if (q->activation < 0)
		return;
	infer_call(s->b, q->activation, &c);
	op_call_problem(&c, &out);
	q->stands_in |= out.proxy || (!out.known && op_call_class(&c) != CLASS_FREE);
	if (out.known && out.problem.kernel == KERNEL_ELTWISE)
		q->function = (struct epilogue){ .kind = EPILOGUE_ELTWISE, .mode = out.problem.mode,
			.alpha = out.problem.alpha, .beta = out.problem.beta };
}

/* ---- groups between DequantizeLinear and QuantizeLinear */

static bool one_behind(struct quant_search *s, const struct plan_layer *core, enum op_quant kind,
	struct quant *q)
{
	int taken[3], count;
	const struct plan_layer *out = follow(s, core, kind == QUANT_PRODUCT, q, taken, &count);
	if (!out)
		return kind == QUANT_PRODUCT; /* the output stays float */
	q->result[0] = out->outputs[0];
	for (int i = 0; i < count; i++)
		quant_take(s, taken[i], core->index);
	quant_take(s, out->index, core->index);
	q->rescaled = kind != QUANT_PRODUCT;
	bool averages = quant_op_is(core->node, "AveragePool") ||
		quant_op_is(core->node, "GlobalAveragePool");
	if (kind == QUANT_LIST || averages) {
		q->rescaled = q->activation >= 0;
		for (int i = 0; i < core->input_count; i++)
			q->rescaled |= !quant_same_scale(s->p, quant_dequantizer(s, core->inputs[i]), out);
	}
	return true;
}

static void find_between(struct quant_search *s, const struct plan_layer *core, enum op_quant kind)
{
	if (!core->op || core->body_count || core->absorbed_by >= 0 || core->output_count < 1 ||
		core->outputs[0] < 0)
		return;
	struct quant *q = quant_new(s, core);
	if (!sources_find(s, core, kind, q))
		return;
	if (!(kind == QUANT_INDEX || (kind == QUANT_MOVER ? quant_mover_behind(s, core, q) :
		one_behind(s, core, kind, q))))
		return;
	q->product = kind == QUANT_PRODUCT;
	take_sources(s, core, q);
	activation_mode(s, q);
	s->b->quants[core->index] = q;
}

/* ---- the whole model */

/* True for weights that are dequantized before run time, because the layer that reads them has no integer
 * kernel. */
static bool is_folded_weights(const struct quant_search *s, const struct plan_layer *l)
{
	return quant_is(l, "DequantizeLinear") && s->p->values[l->outputs[0]].constant;
}

/* Absorbs a shared layer if all its readers have absorbed it. It belongs to the group of the first; constants
 * that it moved follow. */
static void settle_shared(struct quant_search *s, struct plan_layer *l)
{
	int value = l->output_count > 0 ? l->outputs[0] : -1;
	if (!s->takers[l->index] || s->p->values[value].is_output || s->captured[value] ||
		s->takers[l->index] != quant_reader_count(s, value))
		return;
	l->absorbed_by = s->first_taker[l->index];
	if (quant_moves_constant(s->p, l))
		quant_take_shared(s, &s->p->layers[s->p->values[l->inputs[0]].producer], l->absorbed_by);
}

static void settle(struct quant_search *s)
{
	for (int i = s->p->layer_count - 1; i >= 0; i--)
		settle_shared(s, &s->p->layers[i]);
	for (int i = 0; i < s->p->layer_count; i++) {
		struct plan_layer *l = &s->p->layers[i];
		if (l->absorbed_by >= 0)
			l->why = arena_printf(&s->p->arena, "part of the quantized %s",
				text_clean(&s->p->arena, s->p->layers[l->absorbed_by].name));
		else if (is_folded_weights(s, l))
			l->why = arena_printf(&s->p->arena,
				"folded before run time: the layers that read these weights take %s",
				dtype_name(s->p->values[l->outputs[0]].dtype));
	}
}

static bool model_is_quantized(const struct plan *p)
{
	for (int i = 0; i < p->layer_count; i++)
		if (quant_is(&p->layers[i], "DequantizeLinear") ||
			quant_op_is(p->layers[i].node, "MatMulInteger") ||
			quant_op_is(p->layers[i].node, "ConvInteger"))
			return true;
	return false;
}

void quant_find(struct builder *b)
{
	struct plan *p = b->p;
	size_t layers = (size_t)p->layer_count + 1;
	if (!model_is_quantized(p))
		return;
	struct quant_search s = { .b = b, .p = p, .readers = readers_find(p) };
	s.captured = base_calloc((size_t)p->value_count + 1, sizeof(bool));
	s.takers = base_calloc(layers, sizeof(int));
	s.first_taker = base_malloc(layers * sizeof(int));
	s.last_core = base_malloc(((size_t)p->value_count + 1) * sizeof(int));
	s.moved = base_calloc((size_t)p->value_count + 1, sizeof(signed char));
	b->quants = ARENA_ARRAY(&p->arena, struct quant *, layers);
	for (int i = 0; i < p->layer_count; i++)
		for (int j = 0; j < p->layers[i].capture_count; j++)
			s.captured[p->layers[i].captures[j]] = true;
	for (int i = 0; i < p->layer_count; i++)
		s.first_taker[i] = -1;
	for (int v = 0; v < p->value_count; v++)
		s.last_core[v] = -1;
	for (int i = 0; i < p->layer_count; i++) {
		enum op_quant kind = quant_kind(&p->layers[i]);
		if (kind != QUANT_NONE)
			find_between(&s, &p->layers[i], kind);
		quant_find_packed(&s, &p->layers[i]);
		quant_find_raw(&s, &p->layers[i]);
	}
	settle(&s);
	free(s.readers.first);
	free(s.readers.layers);
	free(s.captured);
	free(s.takers);
	free(s.first_taker);
	free(s.last_core);
	free(s.moved);
}
