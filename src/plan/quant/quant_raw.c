/* Integer layers without QuantizeLinear and DequantizeLinear around them: the raw sums of dynamic
 * quantization (MatMulInteger, ConvInteger) followed by Cast and Mul. */
#include "config.h"

#include "plan/quant/quant_search.h"

/* The input of l other than `value` if l is ai.onnx `op` with two different inputs; else -1. */
static int other_input(const struct plan_layer *l, const char *op, int value)
{
	if (!quant_op_is(l->node, op) || l->input_count != 2 || l->inputs[0] == l->inputs[1] ||
		l->output_count != 1 || l->outputs[0] < 0)
		return -1;
	return l->inputs[l->inputs[0] == value];
}

/* True if the value is a scalar or has one element per output channel of the sums. */
static bool is_by_channel(const struct quant_search *s, const struct plan_layer *core, int value, int sums)
{
	const struct shape *v = &s->p->values[value].shape, *y = &s->p->values[sums].shape;
	bool picture = quant_op_is(core->node, "ConvInteger") || quant_op_is(core->node, "Conv") ||
		       quant_op_is(core->node, "ConvTranspose");
	int axis = picture ? 1 : y->rank - 1;
	if (v->rank < 0 || v->rank > y->rank || !shape_is_known(*v))
		return false;
	for (int i = 0; i < v->rank; i++) {
		int at = y->rank - v->rank + i;
		if (v->dims[i].value != 1 && (at != axis || !dim_same(v->dims[i], y->dims[at])))
			return false;
	}
	return true;
}

/* Absorbs the Mul that multiplies the two scales, if only such groups read its result. */
static void take_scales(struct quant_search *s, int value, int core)
{
	int producer = s->p->values[value].producer;
	const struct plan_layer *l = producer >= 0 ? &s->p->layers[producer] : NULL;
	if (l && quant_op_is(l->node, "Mul") && !s->p->values[value].constant)
		quant_take_shared(s, l, core);
}

int quant_bias_behind(const struct quant_search *s, const struct plan_layer *core, int value)
{
	int add = quant_only_reader(s, value);
	const struct plan_layer *l = add >= 0 ? &s->p->layers[add] : NULL;
	int bias = l ? other_input(l, "Add", value) : -1;
	bool fits = bias >= 0 && is_by_channel(s, core, bias, core->outputs[0]);
	return fits && quant_same_shape(s->p, l->outputs[0], core->outputs[0]) ? bias : -1;
}

/* Adds the value's only reader to `taken` and returns that layer's output. */
static int step(const struct quant_search *s, int *taken, int *count, int value)
{
	taken[(*count)++] = quant_only_reader(s, value);
	return s->p->layers[taken[*count - 1]].outputs[0];
}

void quant_find_raw(struct quant_search *s, const struct plan_layer *core)
{
	const struct plan_layer *layers = s->p->layers;
	struct plan_value *values = s->p->values;
	bool fits = quant_op_is(core->node, "MatMulInteger") || quant_op_is(core->node, "ConvInteger");
	if (!fits || !core->op || core->output_count < 1 || core->outputs[0] < 0)
		return;
	struct quant *q = quant_new(s, core);
	int taken[4], count = 0, value = core->outputs[0];
	/* an integer bias, quantized like the sums, is added before the Cast */
	q->bias = quant_bias_behind(s, core, value);
	if (q->bias >= 0)
		value = step(s, taken, &count, value);
	int cast = quant_only_reader(s, value);
	if (cast < 0 || !quant_op_is(layers[cast].node, "Cast") || layers[cast].output_count != 1 ||
		layers[cast].outputs[0] < 0 || !dtype_is_float(values[layers[cast].outputs[0]].dtype))
		return;
	value = step(s, taken, &count, value);
	int mul = quant_only_reader(s, value),
		scale = mul >= 0 ? other_input(&layers[mul], "Mul", value) : -1;
	if (scale < 0 || !is_by_channel(s, core, scale, core->outputs[0]) ||
		!quant_same_shape(s->p, layers[mul].outputs[0], core->outputs[0]))
		return;
	value = step(s, taken, &count, value);
	int bias = q->bias < 0 ? quant_bias_behind(s, core, value) : -1;
	if (bias >= 0 && values[bias].constant) {
		q->bias = bias;
		value = step(s, taken, &count, value);
	}
	q->product = true;
	q->result[0] = value;
	for (int i = 0; i < count; i++)
		quant_take(s, taken[i], core->index);
	q->scale_bytes = quant_value_bytes(s->p, scale);
	take_scales(s, scale, core->index);
	s->b->quants[core->index] = q;
}
