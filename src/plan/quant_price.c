/* Cost and problem of an integer layer of a quantized model: the core's own rules with the types of its data.
 * */
#include "config.h"

#include "plan/plan_private.h"

#include <math.h>

#define RAW_SOURCE_ZERO 2 /* index of the zero point in MatMulInteger and ConvInteger */

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

void quant_problem(const struct builder *b, const struct quant *q, const struct op_call *c,
	struct op_problem *out)
{
	struct problem *p = &out->problem;
	if (!out->known)
		return;
	out->proxy |= (q->rescaled && !op_problem_is_table(p)) || q->stands_in;
	if (!q->product)
		return;
	op_problem_requantize(p, c->outputs[0].dtype);
	out->proxy |= p->accumulator != DTYPE_S32; /* 8-bit floats: the problem text has no factor */
	if (q->bias >= 0)
		epilogue_add(p, (struct epilogue){ .kind = EPILOGUE_BIAS,
					.operand = { .dtype = DTYPE_F32, .constant = true } });
	if (q->residual >= 0)
		epilogue_add(p, (struct epilogue){ .kind = EPILOGUE_BINARY, .mode = MODE_ADD,
					.operand = { .dtype = b->p->values[q->residual].dtype } });
	if (q->function.mode != MODE_NONE)
		epilogue_add(p, q->function);
}
