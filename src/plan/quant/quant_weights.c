/* Weights that are transposed, reshaped or cast after their DequantizeLinear. That happens before run time,
 * so the kernel reads the integers of the file. */
#include "config.h"

#include "plan/quant/quant_search.h"

#define WEIGHTS_MOVERS 8 /* longest chain of such layers */

bool quant_moves_constant(const struct plan *p, const struct plan_layer *l)
{
	return plan_layer_has(l, OP_MOVES_WEIGHTS) && l->input_count > 0 && l->inputs[0] >= 0 &&
		l->output_count == 1 && l->outputs[0] >= 0 && p->values[l->outputs[0]].constant &&
		dtype_is_float(p->values[l->outputs[0]].dtype);
}

/* The axis of a Transpose's output that an axis of its input becomes; -1: perm is invalid. */
static int axis_turned(const struct plan_layer *l, int rank, int axis)
{
	const struct attribute *perm = node_attribute(l->node, "perm");
	if (!perm)
		return rank - 1 - axis;
	for (size_t i = 0; perm->kind == ATTRIBUTE_INTS && i < perm->count; i++)
		if (perm->ints[i] == axis || perm->ints[i] + rank == axis)
			return (int)i;
	return -1;
}

static double count_before(const struct shape *s, int axis)
{
	double count = 1;
	for (int i = 0; i < axis; i++)
		count *= (double)s->dims[i].value;
	return count;
}

/* The axis of the output of a constant's move that an axis of its input becomes; -1: it is merged with
 * others. */
static int axis_behind(const struct plan *p, const struct plan_layer *l, int axis)
{
	const struct shape *from = &p->values[l->inputs[0]].shape, *to = &p->values[l->outputs[0]].shape;
	if (axis < 0 || !shape_is_known(*from) || !shape_is_known(*to) || axis >= from->rank)
		return -1;
	if (quant_op_is(l->node, "Transpose"))
		return axis_turned(l, from->rank, axis);
	for (int i = 0; i < to->rank; i++)
		if (to->dims[i].value == from->dims[axis].value &&
			count_before(to, i) == count_before(from, axis))
			return i;
	return -1;
}

const struct plan_layer *quant_weights_dequantizer(const struct quant_search *s, int value, int *axis)
{
	const struct plan_layer *movers[WEIGHTS_MOVERS], *l;
	int count = 0;
	while (!(l = quant_dequantizer(s, value))) {
		int producer = value >= 0 ? s->p->values[value].producer : -1;
		if (producer < 0 || count == WEIGHTS_MOVERS ||
			!quant_moves_constant(s->p, &s->p->layers[producer]))
			return NULL;
		movers[count++] = &s->p->layers[producer];
		value = s->p->layers[producer].inputs[0];
	}
	int64_t along = node_int(l->node, "axis", 1);
	int rank = s->p->values[l->inputs[0]].shape.rank;
	along += along < 0 && rank > 0 ? rank : 0; /* an unknown rank is negative */
	*axis = along >= 0 && along < rank ? (int)along : -1;
	while (count > 0)
		*axis = axis_behind(s->p, movers[--count], *axis);
	return l;
}

/* The axis of the core's weights that its output channels are along; -1: none. */
static int channels_axis(const struct plan *p, const struct plan_layer *core)
{
	if (quant_op_is(core->node, "Conv"))
		return 0;
	if (quant_op_is(core->node, "ConvTranspose"))
		return node_int(core->node, "group", 1) == 1 ? 1 : -1;
	if (quant_op_is(core->node, "Gemm"))
		return node_int(core->node, "transB", 0) ? 0 : 1;
	return p->values[core->inputs[1]].shape.rank - 1;
}

/* True if there is one scale, or one per output channel. */
static bool is_by_channel(const struct plan *p, const struct plan_layer *core,
	const struct plan_layer *l, int axis)
{
	bool vector = p->values[l->inputs[1]].shape.rank == 1 &&
		!node_int(l->node, "block_size", 0) && axis >= 0;
	return quant_is_one_scale(p, l) || (vector && axis == channels_axis(p, core));
}

int quant_weights_source(const struct quant_search *s, const struct plan_layer *core)
{
	int axis;
	const struct plan_layer *l = quant_weights_dequantizer(s, core->inputs[1], &axis);
	bool fits = l && quant_is_byte(s->p->values[l->inputs[0]].dtype) &&
		is_by_channel(s->p, core, l, axis);
	return fits ? l->inputs[0] : -1;
}

/* The axis of a matmul's weights that it sums along (k). */
static int sums_axis(const struct plan *p, const struct plan_layer *core)
{
	int channels = channels_axis(p, core);
	return quant_op_is(core->node, "Gemm") ? 1 - channels : channels - 1;
}

/* Matmul of float values and packed weights that the kernel dequantizes. Such kernels take one scale per
 * channel, or one per block along k; other blocks are measured by a proxy. */
void quant_find_packed(struct quant_search *s, const struct plan_layer *core)
{
	int axis;
	bool fits = quant_op_is(core->node, "MatMul") || quant_op_is(core->node, "Gemm");
	if (!fits || s->b->quants[core->index] || !core->op || core->input_count < 2)
		return;
	const struct plan_layer *l = quant_weights_dequantizer(s, core->inputs[1], &axis);
	const struct plan_value *w = l ? &s->p->values[l->inputs[0]] : NULL;
	bool by_channel = w && is_by_channel(s->p, core, l, axis);
	if (!w || !w->constant || !s->p->values[core->inputs[1]].constant || dtype_bits(w->dtype) > 8 ||
		!(by_channel || node_int(l->node, "block_size", 0)))
		return;
	struct quant *q = quant_new(s, core);
	q->source[1] = l->inputs[0];
	q->stands_in = !by_channel && (axis < 0 || axis != sums_axis(s->p, core));
	if (!quant_is_one_scale(s->p, l)) {
		int64_t block = node_int(l->node, "block_size", 0);
		q->block = block ? block : INT64_MAX; /* all terms of a column */
		q->zero_points = l->input_count > 2 && l->inputs[2] >= 0;
	}
	quant_scaled_by(s, q, l);
	quant_take_shared(s, &s->p->layers[s->p->values[core->inputs[1]].producer], core->index);
	s->b->quants[core->index] = q;
}
