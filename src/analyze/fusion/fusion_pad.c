/* Matches a Pad with zeros and the convolution that reads it, as exporters write "same" paddings: the fused
 * problem has the padding of both, as graph optimizers make it (ONNX Runtime's PadFusion). Pads of other
 * modes or numbers, of batch or channels, negative ones, and those that something else reads stay layers. A
 * Pad before a pooling stays one too: zeros change a maximum, and the number of elements of an average. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

/* The integer at index i of an attribute or a constant input; false: unknown. */
static bool integer_at(const struct attribute *a, const struct elements *e, int i, int64_t *value)
{
	if (a && a->kind == ATTRIBUTE_INTS && (size_t)i < a->count) {
		*value = a->ints[i];
		return true;
	}
	bool known = !a && e && e->i && i < e->count && e->i[i].kind == DIM_KNOWN;
	*value = known ? e->i[i].value : 0;
	return known;
}

static const struct elements *input_elements(const struct plan *p, const struct plan_layer *l, int input)
{
	int value = input < l->input_count ? l->inputs[input] : -1;
	return value >= 0 && p->values[value].constant ? p->values[value].elements : NULL;
}

static bool is_absent(const struct plan_layer *l, int input)
{
	return input >= l->input_count || l->inputs[input] < 0;
}

/* True for the mode "constant" with the number 0. */
static bool pads_zeros(const struct plan *p, const struct plan_layer *l)
{
	const struct elements *number = input_elements(p, l, 2);
	bool constant = text_is(node_string(l->node, "mode", "constant"), "constant");
	bool zero = is_absent(l, 2) || (number && number->f && number->count == 1 && number->f[0] == 0);
	return constant && zero && node_float(l->node, "value", 0) == 0;
}

/* Fills the pads of each dimension; false: they are unknown, or of an axis that there is not. */
static bool pads_of(const struct plan *p, const struct plan_layer *l, int rank, int64_t *begin, int64_t *end)
{
	const struct attribute *given = node_attribute(l->node, "pads"),
			       *old = node_attribute(l->node, "paddings");
	const struct attribute *a = !is_absent(l, 1) ? NULL : given ? given : old;
	const struct elements *pads = input_elements(p, l, 1), *axes = input_elements(p, l, 3);
	int count = is_absent(l, 3) ? rank : axes ? axes->count : 0;
	for (int i = 0; i < rank; i++)
		begin[i] = end[i] = 0;
	if ((a ? (int)a->count : pads ? pads->count : 0) != 2 * count || !count || count > rank)
		return false;
	for (int i = 0; i < count; i++) {
		int64_t axis = i;
		if (axes && !integer_at(NULL, axes, i, &axis))
			return false;
		axis += axis < 0 ? rank : 0;
		if (axis < 0 || axis >= rank || !integer_at(a, pads, i, &begin[axis]) ||
			!integer_at(a, pads, count + i, &end[axis]))
			return false;
	}
	return true;
}

/* Moves the pads of the dimensions into the convolution; false: it cannot have them. */
static bool take_pads(struct problem *q, int rank, const int64_t *begin, const int64_t *end)
{
	if (rank != q->spatial + 2)
		return false;
	for (int i = 0; i < rank; i++) {
		int at = 3 - rank + i; /* spatial dimensions are the last ones */
		if (begin[i] < 0 || end[i] < 0 || (i < 2 && (begin[i] || end[i])) ||
			(i >= 2 && begin[i] + end[i] >= q->in[at]))
			return false;
	}
	for (int i = 2; i < rank; i++) {
		int at = 3 - rank + i;
		q->in[at] -= begin[i] + end[i];
		q->pad_begin[at] += begin[i];
		q->pad_end[at] += end[i];
	}
	return true;
}

bool chain_padded(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	enum { RANK = 5 };
	int64_t begin[RANK], end[RANK];
	bool is_pad = plan_layer_is(l, "Pad") && l->input_count > 0 && l->inputs[0] >= 0;
	int reader, rank = is_pad ? p->values[l->inputs[0]].shape.rank : 0;
	c->pattern = (struct str){ 0 };
	if (rank < 3 || rank > RANK || !plan_layer_is_onnx(l) || l->class == CLASS_FREE ||
		!chain_one_output(p, l) || chain_readers(p, l->outputs[0], &reader, 1) != 1 ||
		!pads_zeros(p, l) || !pads_of(p, l, rank, begin, end))
		return false;
	const struct plan_layer *conv = &p->layers[reader];
	if (!plan_layer_is(conv, "Conv") || conv->absorbed_by >= 0 || conv->inputs[0] != l->outputs[0] ||
		conv->inputs[1] == l->outputs[0] || !chain_start(c, p, conv) ||
		c->problem.kernel != KERNEL_CONV ||
		!(dtype_is_float(c->problem.operand[0].dtype) || plan_is_few(p)) ||
		!take_pads(&c->problem, rank, begin, end))
		return false;
	c->level = FUSION_FOLD;
	c->layer_count = 0;
	str_free(&c->pattern);
	chain_take(c, l->index, l->outputs[0]);
	chain_take(c, conv->index, conv->outputs[0]);
	str_puts(&c->pattern, "Pad+Conv");
	return true;
}
