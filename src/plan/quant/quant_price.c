/* Cost and problem of an integer layer of a quantized model: the core's own rules with the types of its data.
 * */
#include "config.h"

#include "plan/plan_private.h"

#include <math.h>

#define RAW_SOURCE_ZERO 2 /* index of the zero point in MatMulInteger and ConvInteger */

/* Replaces the types of the call's inputs and outputs with those of the quantized tensors from which they
 * come (q->source, q->result). Class, cost and problem of the operator then follow from its own rules, as
 * if the model had an integer operator. */
void quant_call(const struct builder *b, const struct quant *q, struct op_call *c)
{
	const struct plan_value *values = b->p->values;
	for (int i = 0; i < c->input_count; i++) {
		/* a zero point that is computed at run time becomes part of the bias */
		b->inputs[i].constant |= q->bias >= 0 && i == RAW_SOURCE_ZERO;
		if (q->source[i] < 0)
			continue;
		b->inputs[i].dtype = values[q->source[i]].dtype;
		b->inputs[i].constant = values[q->source[i]].constant;
		b->inputs[i].elements = NULL; /* the contents are those of the float value */
	}
	for (int i = 0; i < c->output_count; i++)
		if (q->result[i] >= 0)
			b->outputs[i].dtype = values[q->result[i]].dtype;
}

/* Elements at the upper bounds of dimensions, as in the core's own cost. */
static double count_upto(struct shape s)
{
	double count = s.rank < 0 ? NAN : 1;
	for (int i = 0; i < s.rank; i++)
		count *= s.dims[i].upper >= 0 ? (double)s.dims[i].upper : NAN;
	return count;
}

double quant_value_bytes(const struct plan *p, int value)
{
	return value < 0 ? 0 : dtype_bytes(p->values[value].dtype, count_upto(p->values[value].shape));
}

/* Adds what the integer kernel does beside the core: for each output element one operation each for
 * scale, activation, residual and bias, and the bytes of residual, bias and scales. The operator itself
 * is in *cost already. */
void quant_cost(const struct builder *b, const struct quant *q, const struct op_call *c, struct op_cost *cost)
{
	int each = q->product + (q->activation >= 0) + (q->residual >= 0) + (q->bias >= 0);
	if (each)
		cost->flops += each * count_upto(c->outputs[0].shape);
	cost->bytes += quant_value_bytes(b->p, q->residual) + quant_value_bytes(b->p,
		q->bias) + q->scale_bytes;
}

static void epilogue_add(struct problem *p, struct epilogue e)
{
	if (p->epilogue_count < PROBLEM_EPILOGUES)
		p->epilogue[p->epilogue_count++] = e;
}

/* Makes the core's problem a requantized one: the scale of its sums, then the epilogues bias, residual
 * and activation, in the order in which integer kernels apply them (Jacob et al., CVPR 2018, section
 * 2.4). A factor that the problem text cannot express makes it a proxy. */
void quant_problem(const struct builder *b, const struct quant *q, const struct op_call *c,
	struct op_problem *out)
{
	struct problem *p = &out->problem;
	if (!out->known)
		return;
	if (q->block && p->kernel == KERNEL_MATMUL) {
		p->size = q->block < p->mk ? q->block : p->mk;
		p->zero_points = q->zero_points;
	}
	out->proxy |= (q->rescaled && !op_problem_is_table(p)) || q->stands_in;
	if (!q->product)
		return;
	op_problem_requantize(p, c->outputs[0].dtype, q->by_channel);
	if (q->bias >= 0)
		epilogue_add(p, (struct epilogue){ .kind = EPILOGUE_BIAS,
					.operand = { .dtype = DTYPE_F32, .constant = true } });
	if (q->residual >= 0)
		epilogue_add(p, (struct epilogue){ .kind = EPILOGUE_BINARY, .mode = MODE_ADD,
					.operand = { .dtype = b->p->values[q->residual].dtype } });
	if (q->function.mode != MODE_NONE)
		epilogue_add(p, q->function);
}
