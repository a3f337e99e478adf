/* QLinearConv, ConvInteger, QLinearAdd ...: each row names the core operator and the indexes of its inputs;
 * the core's rules do the rest. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include <math.h>
#include <string.h>

#define WEIGHTS_SCALE 4 /* index, in operators with all scales as inputs */
/* Opsets at which the core is looked up: the oldest that has it (later, axes of reductions became inputs). */
static const int64_t core_opsets[] = { 17, 20 };

/* The core's call: only the quantized tensors, without scales and zero points; its outputs are copies. */
struct op_core {
	struct op_call call;
	struct node node;
	bool product, recurrent; /* sums that are scaled afterwards */
	bool channels_last; /* its tensors were transposed to ONNX order */
	enum dtype type;    /* of the outputs */
	int bias;           /* input added to each column, other than the core's own bias; -1: none */
	bool run_time;      /* scales or zero points that are constants in the problem are computed at run
			       time */
};

/* ---- the core's call */

static struct shape shape_of_weights(struct arena *a, struct shape s)
{
	if (s.rank != 3)
		return s;
	struct shape t = op_shape_copy(a, s);
	t.dims[1] = s.dims[2];
	t.dims[2] = s.dims[1];
	return t;
}

/* Input i of the core, without contents, which are quantized. */
static struct op_value core_input(const struct op_call *c, const struct op_core_row *row,
	const struct op_core *k, int i, int at)
{
	const struct op_value *v = op_in(c, at);
	struct op_value in = v ? *v : (struct op_value){ .shape = SHAPE_UNKNOWN };
	in.elements = NULL;
	if (row->kind == CORE_RECURRENT && (i == 1 || i == 2))
		in.shape = shape_of_weights(c->arena, in.shape);
	if (k->channels_last && i == 0)
		in.shape = op_shape_turned(c->arena, in.shape, true);
	return in;
}

static int core_count(const struct op_call *c, const struct op_core_row *row)
{
	int count = 0;
	if (row->kind == CORE_VARIADIC)
		return c->input_count > row->at[0] ? (c->input_count - row->at[0] - 1) / 3 + 1 : 0;
	if (row->kind == CORE_RECURRENT) /* lengths and states have LSTM's indexes */
		return c->input_count < 8 ? c->input_count : 8;
	while (count < CORE_INPUTS && row->at[count] >= 0)
		count++;
	/* trailing optional inputs */
	while (count > row->needed && !op_in(c, row->at[count - 1]))
		count--;
	return count;
}

static int core_at(const struct op_core_row *row, int i)
{
	return row->kind == CORE_VARIADIC ? row->at[0] + 3 * i : row->kind == CORE_RECURRENT ? i : row->at[i];
}

static enum dtype core_type(const struct op_call *c, const struct op_core_row *row)
{
	const struct op_value *typed = op_in(c, row->typed);
	return typed ? typed->dtype : row->type;
}

/* True if one of the inputs from `first` on, other than tensors and bias, is computed at run time. */
static bool scales_vary(const struct op_call *c, const struct op_core_row *row, int first)
{
	for (int i = first; i < c->input_count; i++) {
		bool tensor = i == row->bias;
		for (int j = 0; j < CORE_INPUTS && row->at[j] >= 0; j++)
			tensor |= row->at[j] == i;
		if (!tensor && op_in(c, i) && !c->inputs[i].constant)
			return true;
	}
	return false;
}

/* The opset of a core: a softmax has it as an attribute. */
static int64_t core_opset(const struct op_call *c, struct text core)
{
	if (!c->node->domain.n)
		return c->opset;
	bool first = op_find(TEXT(""), core, core_opsets[0]) != NULL;
	return node_int(c->node, "opset", core_opsets[first ? 0 : 1]);
}

/* Fills k, which lives in the call's arena; -1: a tensor is missing. */
static int core_get(const struct op_call *c, struct op_core *k, struct error *err)
{
	const struct op_core_row *row = c->op->own;
	int count = core_count(c, row);
	memset(k, 0, sizeof(*k));
	k->product = row->kind == CORE_PRODUCT;
	k->recurrent = row->kind == CORE_RECURRENT;
	k->bias = op_in(c, row->bias) ? row->bias : -1;
	k->channels_last = node_int(c->node, "channels_last", 0) != 0 ||
			   text_is(text_of(c->op->domain), "com.ms.internal.nhwc");
	k->type = core_type(c, row);
	/* if all scales are computed at run time, a zero point is part of the bias, if there is one */
	k->run_time = k->product && !(row->zeros && k->bias >= 0) && scales_vary(c, row, row->zeros);
	struct op_value *inputs = ARENA_ARRAY(c->arena, struct op_value, count + 1);
	struct op_value *outputs = ARENA_ARRAY(c->arena, struct op_value, c->output_count);
	for (int i = 0; i < count; i++) {
		if ((i < row->needed || row->kind == CORE_VARIADIC) && !op_in(c, core_at(row, i)))
			return op_fail(c, err, "input %d is missing", core_at(row, i));
		inputs[i] = core_input(c, row, k, i, core_at(row, i));
	}
	if (count < row->needed)
		return op_fail(c, err, "input %d is missing", core_at(row, count));
	for (int i = 0; i < c->output_count; i++)
		outputs[i] = c->outputs[i];
	k->node = *c->node;
	k->node.op = text_of(row->core);
	k->node.domain = TEXT("");
	k->node.opset = core_opset(c, k->node.op);
	k->call = (struct op_call){ .node = &k->node, .opset = k->node.opset, .input_count = count,
		.output_count = c->output_count, .inputs = inputs, .outputs = outputs, .arena = c->arena };
	k->call.op = op_find(TEXT(""), k->node.op, k->node.opset);
	return k->call.op ? 0 : op_fail(c, err, "no %s in opset %lld", row->core, (long long)k->node.opset);
}

/* ---- rules */

RULE_SHAPE(op_core)
{
	struct op_core k;
	if (core_get(c, &k, err) || k.call.op->shape(&k.call, err))
		return -1;
	for (int i = 0; i < c->output_count; i++) {
		struct shape s = k.call.outputs[i].shape;
		c->outputs[i].shape = k.channels_last ? op_shape_turned(c->arena, s, false) : s;
		c->outputs[i].dtype = k.type;
	}
	return 0;
}

/* True for float types, which the operator itself quantizes. */
static bool is_values(enum dtype t)
{
	return dtype_is_float(t) && dtype_bits(t) > 8;
}

/* Cost per value of finding a range and quantizing, as in DynamicQuantizeLinear. */
#define DYNAMIC_FLOPS 4

/* Quantizes the source and the initial state of each step, and scales both matmuls of each gate. */
static double recurrent_flops(const struct op_call *c)
{
	const struct op_value *x = op_in(c, 0), *r = op_in(c, 2);
	double states = 1;
	for (int i = 0; i < 2; i++)
		states *= op_dim_number(op_dim_at(x, 3, i)) * op_dim_number(op_dim_at(r, 3, i));
	return DYNAMIC_FLOPS * (op_count(x) + states) + 2 * mode_gates(MODE_LSTM) * states;
}

/* The core's cost, 1 more per element that is scaled or gets a bias, and the quantization of a float
 * input. */
RULE_COST(op_core)
{
	struct op_core k;
	struct error err;
	struct op_cost inner = { .flops = NAN, .bytes = NAN };
	if (core_get(c, &k, &err))
		return;
	for (int i = 0; i < c->output_count; i++)
		k.call.outputs[i].shape = k.channels_last ?
			op_shape_turned(c->arena, c->outputs[i].shape, true)
							  : c->outputs[i].shape;
	k.call.op->cost(&k.call, &inner);
	cost->flops = inner.flops;
	if (k.product && k.type != DTYPE_S32)
		cost->flops += op_count(op_out(c, 0)) * (k.bias >= 0 ? 2 : 1);
	if (k.product && is_values(c->inputs[0].dtype))
		cost->flops += DYNAMIC_FLOPS * op_count(op_in(c, 0));
	if (k.recurrent)
		cost->flops += recurrent_flops(c);
	cost->bytes = op_bytes_all(c);
}

void op_problem_requantize(struct problem *p, enum dtype to, bool by_channel)
{
	p->accumulator = op_accumulator(p->operand[0].dtype);
	p->operand[problem_operand_count(p) - 1].dtype = to;
	/* gemm's alpha becomes part of the scale */
	if (p->epilogue_count && p->epilogue[0].kind == EPILOGUE_ELTWISE)
		memmove(p->epilogue, p->epilogue + 1, (size_t)--p->epilogue_count * sizeof(p->epilogue[0]));
	bool scaled = p->accumulator == DTYPE_S32 ? to != DTYPE_S32
						  : by_channel && dtype_is_float8(p->operand[0].dtype);
	if (!scaled || p->epilogue_count == PROBLEM_EPILOGUES)
		return;
	memmove(p->epilogue + 1, p->epilogue, (size_t)p->epilogue_count++ * sizeof(p->epilogue[0]));
	p->epilogue[0] = (struct epilogue){
		.kind = EPILOGUE_SCALE, .operand = { .dtype = DTYPE_F32, .constant = true }
	};
	for (int i = 1; i < p->epilogue_count; i++) {
		if (p->epilogue[i].kind == EPILOGUE_BIAS && p->accumulator == DTYPE_S32)
			p->epilogue[i].operand.dtype = DTYPE_F32;
	}
}

bool op_is_byte(enum dtype t)
{
	return t == DTYPE_U8 || t == DTYPE_S8;
}

bool op_problem_is_table(const struct problem *p)
{
	bool function = p->kernel == KERNEL_ELTWISE && p->mode != MODE_RELU && p->mode != MODE_CLIP;
	return (function || (p->kernel == KERNEL_SOFTMAX && p->mode == MODE_SOFTMAX)) &&
		op_is_byte(p->operand[0].dtype) && op_is_byte(p->operand[1].dtype);
}

/* One scale per row of the source is not a factor per channel. */
static bool scale_is_by_row(const struct op_call *c)
{
	const struct op_value *scale = op_in(c, 1);
	return text_is(c->node->op, "QLinearMatMul") && scale && scale->shape.rank >= 1 &&
		op_count(scale) != 1;
}

/* A bias that the core does not have: one value per column, or a proxy for it. */
static void product_bias(const struct op_call *c, const struct op_core *k, struct op_problem *out)
{
	struct problem *p = &out->problem;
	if (k->bias < 0 || p->epilogue_count == PROBLEM_EPILOGUES)
		return;
	p->epilogue[p->epilogue_count++] =
		(struct epilogue){ .kind = EPILOGUE_BIAS, .operand = op_operand(op_in(c, k->bias)) };
	p->epilogue[p->epilogue_count - 1].operand.dtype = DTYPE_F32;
	out->proxy |= op_count(op_in(c, k->bias)) != (double)p->mn;
}

/* Sums, then the scale. An input quantized in the operator is measured as quantized before, and scales
 * computed at run time as constants: both are proxies. */
static void product_problem(const struct op_call *c, const struct op_core *k, struct op_problem *out)
{
	struct problem *p = &out->problem;
	bool dynamic = is_values(p->operand[0].dtype);
	if (dynamic)
		p->operand[0].dtype = DTYPE_U8;
	op_problem_requantize(p, k->type, op_in(c, WEIGHTS_SCALE) && op_count(op_in(c, WEIGHTS_SCALE)) != 1);
	product_bias(c, k, out);
	/* an integer matrix would have to be scaled first */
	for (int i = 0; i < p->epilogue_count; i++)
		out->proxy |= p->epilogue[i].kind == EPILOGUE_BINARY;
	out->proxy |= dynamic || k->run_time || scale_is_by_row(c);
}

/* True if all inputs have the result's scale and zero point, so that bytes are only moved. */
static bool concat_keeps_scale(const struct op_call *c)
{
	if (!text_is(c->node->op, "QLinearConcat"))
		return false;
	for (int i = 3; i + 1 < c->input_count; i += 3) {
		for (int j = 0; j < 2; j++) {
			double to, from;
			if (!op_in(c, j) || !op_in(c, i + j) || !op_scalar(op_in(c, j), &to) ||
				!op_scalar(op_in(c, i + j), &from) || to != from)
				return false;
		}
	}
	return true;
}

static void problem_channels_last(struct problem *p)
{
	p->operand[0].layout = p->operand[problem_operand_count(p) - 1].layout = LAYOUT_NXC;
}

/* The scales of inputs and outputs are one more operation, which only problems of matmuls, convolutions and
 * tables contain; the others are proxies. */
RULE_PROBLEM(op_core)
{
	struct op_core k;
	struct error err = ERROR_NONE;
	if (!op_problem_ready(c, out))
		return;
	if (core_get(c, &k, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	for (int i = 0; i < c->output_count; i++) {
		struct shape s = c->outputs[i].shape;
		k.call.outputs[i].shape = k.channels_last ? op_shape_turned(c->arena, s, true) : s;
		if (k.product)
			k.call.outputs[i].dtype = DTYPE_S32;
	}
	k.call.op->problem(&k.call, out);
	if (!out->known)
		return;
	if (k.product)
		product_problem(c, &k, out);
	else
		out->proxy |= !op_problem_is_table(&out->problem) && !concat_keeps_scale(c);
	if (k.recurrent && is_values(c->inputs[0].dtype))
		out->problem.operand[0].dtype = DTYPE_U8;
	if (k.channels_last && out->problem.kernel != KERNEL_COPY)
		problem_channels_last(&out->problem);
}
