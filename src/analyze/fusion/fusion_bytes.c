/* Matches an integer convolution or matmul whose result is quantized to 8 bits only to be added to another
 * tensor, as quantizers write every residual: Conv, QuantizeLinear, DequantizeLinear, Add, QuantizeLinear.
 * The fused kernel adds before it rounds, so it rounds once instead of twice; results differ by that
 * rounding. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

#include <string.h>

static bool own_problem(const struct plan *p, const struct plan_layer *l, struct problem *q)
{
	bool own = l->quantized && l->problem >= 0;
	if (own)
		problem_restore(p->problems[l->problem].problem, q);
	return own;
}

static bool is_byte(enum dtype t)
{
	return t == DTYPE_U8 || t == DTYPE_S8;
}

/* True for an integer convolution or matmul with 8-bit output and at most a scale and a bias after it, q. */
static bool is_product(const struct plan *p, const struct plan_layer *l, struct problem *q)
{
	bool fits = own_problem(p, l, q) && kernel_row(q->kernel)->takes_epilogues && !l->proxy &&
		q->accumulator == DTYPE_S32 &&
		is_byte(q->operand[problem_operand_count(q) - 1].dtype) &&
		q->epilogue_count + 2 <= PROBLEM_EPILOGUES;
	for (int i = 0; fits && i < q->epilogue_count; i++)
		fits = q->epilogue[i].kind == EPILOGUE_SCALE || q->epilogue[i].kind == EPILOGUE_BIAS;
	return fits && chain_one_output(p, l);
}

/* The only reader of the chain's value if layer `core` absorbs it; else NULL. */
static const struct plan_layer *part_behind(const struct chain *c, int core)
{
	int reader;
	if (c->layer_count == FUSION_LAYERS_MAX || chain_readers(c->plan, c->value, &reader, 1) != 1)
		return NULL;
	const struct plan_layer *l = &c->plan->layers[reader];
	return l->absorbed_by == core && chain_one_output(c->plan, l) ? l : NULL;
}

/* Type of the other operand of the sum, which must have 8 bits and the destination's shape; else
 * DTYPE_UNKNOWN. */
static enum dtype residual_type(struct chain *c, const struct plan_layer *add, struct problem *q)
{
	const struct plan *p = c->plan;
	bool fits = own_problem(p, add, q) && q->kernel == KERNEL_BINARY && q->mode == MODE_ADD &&
		add->input_count == 2 &&
		(add->inputs[0] == c->value) != (add->inputs[1] == c->value) && chain_one_output(p, add) &&
		q->shape[0].rank == q->shape[1].rank &&
		memcmp(q->shape[0].dim, q->shape[1].dim,
			(size_t)q->shape[0].rank * sizeof(q->shape[0].dim[0])) == 0;
	if (!fits)
		return DTYPE_UNKNOWN;
	int other = add->inputs[0] == c->value;
	c->residual = p->values[add->inputs[other]].producer;
	return q->operand[other].constant || !is_byte(q->operand[other].dtype) ? DTYPE_UNKNOWN :
		q->operand[other].dtype;
}

/* Appends the layers after the sum up to its QuantizeLinear; false if one of them is not a Relu. */
static bool take_tail(struct chain *c, const struct plan_layer *add)
{
	const struct plan_layer *l;
	struct problem *q = &c->problem;
	while ((l = part_behind(c, add->index))) {
		if (plan_layer_is(l, "Relu")) {
			q->epilogue[q->epilogue_count++] =
				(struct epilogue){ .kind = EPILOGUE_ELTWISE, .mode = MODE_RELU };
			chain_name(c, l);
		} else if (!plan_layer_is(l, "QuantizeLinear")) {
			return false;
		}
		chain_take(c, l->index, l->outputs[0]);
		if (plan_layer_is(l, "QuantizeLinear"))
			return true;
	}
	return false;
}

bool chain_bytes(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	const struct plan_layer *part;
	int reader;
	c->pattern = (struct str){ 0 };
	struct problem sum;
	if (!is_product(p, l, &sum))
		return false;
	*c = (struct chain){ .plan = p, .level = FUSION_FOLD, .residual = -1, .channel_axis = -1 };
	problem_copy(&c->problem, &sum);
	str_puts(&c->pattern, l->op->name);
	chain_take(c, l->index, l->outputs[0]);
	while ((part = part_behind(c, l->index)))
		chain_take(c, part->index, part->outputs[0]);
	/* the DequantizeLinear belongs to the sum */
	if (chain_readers(p, c->value, &reader, 1) != 1 || p->layers[reader].absorbed_by < 0)
		return false;
	const struct plan_layer *add = &p->layers[p->layers[reader].absorbed_by];
	if (add->absorbed_by >= 0 || c->layer_count + 3 > FUSION_LAYERS_MAX ||
		!chain_one_output(p, &p->layers[reader]))
		return false;
	chain_take(c, reader, p->layers[reader].outputs[0]);
	enum dtype residual = residual_type(c, add, &sum);
	if (residual == DTYPE_UNKNOWN || chain_readers(p, c->value, &reader, 1) != 1 || reader != add->index)
		return false;
	c->problem.operand[problem_operand_count(&c->problem) - 1].dtype = sum.operand[2].dtype;
	c->problem.epilogue[c->problem.epilogue_count++] = (struct epilogue){
		.kind = EPILOGUE_BINARY, .mode = MODE_ADD, .operand = { .dtype = residual },
	};
	chain_name(c, add);
	chain_take(c, add->index, add->outputs[0]);
	return take_tail(c, add);
}
