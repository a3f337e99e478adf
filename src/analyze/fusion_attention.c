#include "config.h"

#include "analyze/analyze_private.h"

/* Matches attention as exporters write it: matmul of queries and transposed keys, scale, softmax over the
 * keys, matmul with the values. The fused kernel reads keys that are not transposed; the Transpose before
 * them stays a layer and moves the same number of bytes. The problem grammar has no mask, so a mask ends the
 * match. */

/* The four dimensions of a run-time tensor of heads; false if one is unknown. */
static bool heads_of(const struct plan *p, int value, int64_t *size)
{
	if (value < 0)
		return false;
	const struct plan_value *v = &p->values[value];
	if (v->constant || v->shape.rank != 4 || !shape_is_known(v->shape))
		return false;
	for (int i = 0; i < 4; i++)
		size[i] = v->shape.dims[i].value;
	return true;
}

static bool is_product(const struct plan *p, const struct plan_layer *l)
{
	const struct plan_problem *pp = layer_problem(p, l);
	return plan_layer_is(l, "MatMul") && pp && !l->proxy && pp->problem.kernel == KERNEL_MATMUL &&
		!pp->problem.epilogue_count && l->input_count == 2 && chain_one_output(p, l);
}

/* True for a multiplication by a constant. */
static bool is_scale(const struct plan *p, const struct plan_layer *l)
{
	const struct plan_problem *pp = layer_problem(p, l);
	return pp && !l->proxy && pp->problem.kernel == KERNEL_ELTWISE &&
		pp->problem.mode == MODE_LINEAR_MAP && pp->problem.beta >= 0 && pp->problem.beta <= 0;
}

/* Softmax over the last of four dimensions. Old opsets flatten the dimensions after the axis; then the
 * lengths differ. */
static bool is_softmax(const struct plan *p, const struct plan_layer *l, int64_t keys)
{
	const struct plan_problem *pp = layer_problem(p, l);
	return pp && !l->proxy && pp->problem.kernel == KERNEL_SOFTMAX && pp->problem.mode == MODE_SOFTMAX &&
		pp->problem.axis == pp->problem.shape[0].rank - 1 &&
		keys == pp->problem.shape[0].dim[pp->problem.axis];
}

/* The only reader of the chain's value, or NULL if it cannot be part of a group. */
static const struct plan_layer *next_layer(const struct chain *c)
{
	int reader;
	if (c->layer_count == FUSION_LAYERS_MAX || chain_readers(c->plan, c->value, &reader, 1) != 1)
		return NULL;
	const struct plan_layer *l = &c->plan->layers[reader];
	return l->body_count || !chain_one_output(c->plan, l) ? NULL : l;
}

/* Extends the chain from the first matmul to the second one, which it returns; NULL: no match. */
static const struct plan_layer *walk(struct chain *c, int64_t keys)
{
	const struct plan *p = c->plan;
	bool scaled = false, soft = false;
	for (const struct plan_layer *l = next_layer(c); l; l = next_layer(c)) {
		if (soft && is_product(p, l))
			return l->inputs[0] == c->value && l->inputs[1] != c->value ? l : NULL;
		if (!chain_hands_on(l)) {
			bool scale = !scaled && !soft && is_scale(p, l);
			if (!scale && (soft || !is_softmax(p, l, keys)))
				return NULL;
			scaled |= scale;
			soft |= !scale;
			chain_name(c, l);
		}
		chain_take(c, l->index, l->outputs[0]);
	}
	return NULL;
}

bool chain_attention(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	int64_t q[4], k[4], v[4];
	if (!chain_begin(c, p, l) || !is_product(p, l) || !heads_of(p, l->inputs[0], q) ||
		!heads_of(p, l->inputs[1], k))
		return false;
	const struct plan_layer *last = walk(c, k[3]);
	if (!last || !heads_of(p, last->inputs[1], v))
		return false;
	if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || (k[1] != q[1] && k[1] != 1) || k[2] != q[3] ||
		v[2] != k[3])
		return false;
	enum dtype type = p->values[l->inputs[0]].dtype;
	const int operands[4] = { l->inputs[0], l->inputs[1], last->inputs[1], last->outputs[0] };
	c->problem = (struct problem){ .kernel = KERNEL_ATTENTION,
		.mode = MODE_FULL,
		.accumulator = DTYPE_F32,
		.n = q[0],
		.heads = q[1],
		.kv_heads = k[1],
		.query_length = q[2],
		.key_length = k[3],
		.head_size = q[3],
		.value_size = v[3] };
	for (int i = 0; i < 4; i++) {
		c->problem.operand[i].dtype = type;
		if (p->values[operands[i]].dtype != type)
			return false;
	}
	chain_take(c, last->index, last->outputs[0]);
	str_puts(&c->pattern, "+MatMul");
	return true;
}
