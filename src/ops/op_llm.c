/* Operators that language models brought to ai.onnx: RotaryEmbedding, LinearAttention, CausalConvWithState,
 * SwiGLU, TensorScatter; and FlexAttention. The rules of the first three serve com.microsoft, too, where they
 * came from. */
#include "config.h"

#include "ops/op_attention.h"
#include "ops/op_rules.h"

#include <math.h>

/* ---- RotaryEmbedding: pairs of numbers of every head are turned by angles of their position */

static RULE_SHAPE(rotary)
{
	int rank = c->inputs[0].shape.rank;
	if (rank >= 0 && rank != 3 && rank != 4)
		return op_fail(c, err, "input of rank %d, not 3 or 4", rank);
	return op_shape_as_input(c, err);
}

/* Input that holds the cosines; sines are in the next. com.microsoft has the positions in front of them. */
static int rotary_tables(const struct op_call *c)
{
	return c->op->domain[0] ? 2 : 1;
}

/* The part of every head that is turned, from 0 to 1: twice what a row of the tables has. */
static double rotary_part(const struct op_call *c)
{
	const struct op_value *x = &c->inputs[0], *cosines = op_in(c, rotary_tables(c));
	int64_t heads = node_int(c->node, "num_heads", 0);
	if (x->shape.rank < 3 || !cosines || cosines->shape.rank < 1)
		return NAN;
	double size = op_dim_number(x->shape.dims[x->shape.rank - 1]);
	if (x->shape.rank == 3 && heads < 1)
		return 1;
	if (x->shape.rank == 3)
		size /= (double)heads;
	return fmin(1, 2 * op_dim_number(cosines->shape.dims[cosines->shape.rank - 1]) / size);
}

/* Two products and a sum for every element that is turned. Of the tables a row for each token is read. */
static RULE_COST(rotary)
{
	const struct op_value *x = &c->inputs[0];
	int tables = rotary_tables(c);
	cost->flops = 3 * op_count(x) * rotary_part(c);
	cost->bytes = op_bytes_but(c, 3u << tables, 0);
	if (x->shape.rank < 3)
		return;
	double tokens = op_dim_number(x->shape.dims[0]) * op_dim_number(x->shape.dims[x->shape.rank - 2]);
	if (x->shape.rank == 3)
		tokens = op_dim_number(x->shape.dims[0]) * op_dim_number(x->shape.dims[1]);
	for (int i = tables; i < tables + 2; i++) {
		const struct op_value *table = op_in(c, i);
		if (!table || table->shape.rank < 1)
			continue;
		double row = op_dim_number(table->shape.dims[table->shape.rank - 1]);
		cost->bytes += fmin(op_bytes(table), dtype_bytes(table->dtype, tokens * row));
	}
}

static RULE_PROBLEM(rotary)
{
	if (op_problem_ready(c, out))
		op_problem_mover(c, out);
}

/* ---- LinearAttention: a state of head size x value size for every head of keys, changed by every token */

struct linear_attention {
	struct dim n, steps, heads, kv_heads, out_heads, key_size, value_size;
	bool gated, delta;
};

static int linear_rule(const struct op_call *c, struct linear_attention *l, struct error *err)
{
	struct text rule = node_string(c->node, "update_rule", "gated_delta");
	l->gated = text_is(rule, "gated") || text_is(rule, "gated_delta");
	l->delta = text_is(rule, "delta") || text_is(rule, "gated_delta");
	return l->gated || l->delta || text_is(rule, "linear")
		       ? 0
		       : op_fail(c, err, "an update_rule that is not known");
}

static int linear_get(const struct op_call *c, struct linear_attention *l, struct error *err)
{
	struct dim width[3];
	for (int i = 0; i < 3; i++) {
		struct shape s = c->inputs[i].shape;
		if (s.rank >= 0 && s.rank != 3)
			return op_fail(c, err, "input %d has rank %d, not 3", i, s.rank);
		width[i] = s.rank == 3 ? s.dims[2] : dim_unknown();
	}
	*l = (struct linear_attention){ .n = dim_unknown(), .steps = dim_unknown() };
	if (attention_heads(c, "q_num_heads", &l->heads, err) ||
		attention_heads(c, "kv_num_heads", &l->kv_heads, err) || linear_rule(c, l, err))
		return -1;
	struct dim of_keys;
	if (attention_part(c, width[0], l->heads, "heads", &l->key_size, err) ||
		attention_part(c, width[1], l->kv_heads, "heads", &of_keys, err) ||
		attention_part(c, width[2], l->kv_heads, "heads", &l->value_size, err))
		return -1;
	if (!op_dim_merge(l->key_size, of_keys, &l->key_size))
		return op_fail(c, err, "queries and keys have heads of another size");
	/* com.microsoft also has more heads of keys than of queries: then one result for each of those. */
	bool inverse = c->op->domain[0] && l->kv_heads.value > l->heads.value;
	l->out_heads = inverse ? l->kv_heads : l->heads;
	for (int i = 0; i < 3; i++) {
		struct shape s = c->inputs[i].shape;
		if (s.rank == 3 && (!op_dim_merge(l->n, s.dims[0], &l->n) ||
					   !op_dim_merge(l->steps, s.dims[1], &l->steps)))
			return op_fail(c, err, "queries, keys and values do not fit");
	}
	return 0;
}

static RULE_SHAPE(linear_attention)
{
	struct linear_attention l;
	if (linear_get(c, &l, err))
		return -1;
	struct shape y = c->outputs[0].shape = shape_make(c->arena, 3);
	y.dims[0] = l.n;
	y.dims[1] = l.steps;
	y.dims[2] = dim_mul(c->arena, l.out_heads, l.value_size);
	if (c->output_count < 2)
		return 0;
	if (op_in(c, 3))
		c->outputs[1].dtype = c->inputs[3].dtype;
	struct shape state = attention_shape(c, l.n, l.kv_heads, l.key_size, l.value_size);
	int64_t window = c->op->domain[0] ? node_int(c->node, "state_window", 0) : 0;
	c->outputs[1].shape = state;
	if (window > 0) {
		c->outputs[1].shape = shape_make(c->arena, 5);
		c->outputs[1].shape.dims[0] = dim_known(window);
		for (int i = 0; i < 4; i++)
			c->outputs[1].shape.dims[1 + i] = state.dims[i];
	}
	return 0;
}

/* Each token: the outer product of key and value into the state and the product of query and state, 2 an
 * element; decay 1 more and its exponential; delta rule: state times key, 2 an element, and a difference and
 * a product a value. */
static RULE_COST(linear_attention)
{
	struct linear_attention l;
	struct error err;
	if (linear_get(c, &l, &err))
		return;
	double kv = op_dim_number(l.kv_heads), key = op_dim_number(l.key_size),
	       value = op_dim_number(l.value_size);
	double update = kv * key * value * (2 + (l.gated ? 1 : 0) + (l.delta ? 2 : 0)) +
			(l.delta ? 2 * kv * value : 0);
	double read = op_dim_number(l.out_heads) * (2 * key * value + value);
	cost->flops = op_dim_number(l.n) * op_dim_number(l.steps) * (update + read) +
		      (l.gated ? op_count(op_in(c, 4)) : 0);
	cost->bytes = op_bytes_all(c);
}

/* Of every head the same multiplications as one matrix product, as if no token waited for the one before it: keys times
 * values into the state and queries times state, of the delta rule keys times state, too. */
static RULE_PROBLEM(linear_attention)
{
	struct linear_attention l;
	struct error err;
	if (!op_problem_ready(c, out))
		return;
	if (linear_get(c, &l, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	struct dim columns = dim_mul(c->arena, l.value_size, dim_known(l.delta ? 3 : 2));
	struct dim batch = dim_mul(c->arena, l.n, l.out_heads);
	struct op_value state = c->inputs[0];
	state.constant = false;
	if (!op_problem_matmul(&c->inputs[0], &state, &c->outputs[0], l.steps, columns, l.key_size, out))
		return;
	out->problem.batch_a.dim[0] = out->problem.batch_b.dim[0] = batch.value;
	out->proxy = true;
}

/* ---- CausalConvWithState: a depthwise convolution over a carried state and the input */

/* State length: (kernel - 1) * dilation. Only the one spatial dimension of ai.onnx, channels second or last.
 */
struct causal_conv {
	bool plain, last; /* plain: one spatial dimension, a state without window */
	struct dim channels, kernel, state;
	int64_t dilation;
};

static int causal_get(const struct op_call *c, struct causal_conv *v, struct error *err)
{
	struct shape x = c->inputs[0].shape, w = c->inputs[1].shape;
	bool microsoft = c->op->domain[0];
	v->dilation = microsoft ? node_int(c->node, "dilation", 1) : 1;
	v->last = microsoft && node_int(c->node, "channels_last", 0) != 0;
	v->plain = !microsoft ||
		   (node_int(c->node, "ndim", 1) == 1 && node_int(c->node, "state_window", 0) <= 0);
	if (v->dilation < 1 || v->dilation > INT32_MAX)
		return op_fail(c, err, "dilation is %lld", (long long)v->dilation);
	if (!v->plain)
		return 0;
	if ((x.rank >= 0 && x.rank != 3) || (w.rank >= 0 && w.rank != 3))
		return op_fail(c, err, "input %s and weights %s: both must have 3 dimensions",
			shape_text(c->arena, x), shape_text(c->arena, w));
	v->kernel = w.rank == 3 ? w.dims[2] : dim_unknown();
	if (v->kernel.kind == DIM_KNOWN && v->kernel.value < 1)
		return op_fail(c, err, "weights of shape %s", shape_text(c->arena, w));
	struct dim here = x.rank == 3 ? x.dims[v->last ? 2 : 1] : dim_unknown();
	if (!op_dim_merge(here, w.rank == 3 ? w.dims[0] : dim_unknown(), &v->channels))
		return op_fail(c, err, "%lld channels, but weights of shape %s", (long long)here.value,
			shape_text(c->arena, w));
	v->state = dim_mul(c->arena, dim_sub(c->arena, v->kernel, dim_known(1)), dim_known(v->dilation));
	return 0;
}

static RULE_SHAPE(causal_conv)
{
	struct causal_conv v;
	struct shape x = c->inputs[0].shape;
	if (causal_get(c, &v, err))
		return -1;
	c->outputs[0].shape = op_shape_copy(c->arena, x);
	if (c->output_count < 2)
		return 0;
	const struct op_value *past = op_in(c, 3);
	if (!v.plain) {
		c->outputs[1].shape = past ? op_shape_copy(c->arena, past->shape) : SHAPE_UNKNOWN;
		return 0;
	}
	struct shape state = c->outputs[1].shape = shape_make(c->arena, 3);
	state.dims[0] = x.rank == 3 ? x.dims[0] : dim_unknown();
	state.dims[v.last ? 2 : 1] = v.channels;
	state.dims[v.last ? 1 : 2] = v.state;
	return 0;
}

static bool causal_activates(const struct op_call *c)
{
	struct text activation = node_string(c->node, "activation", "none");
	return text_is(activation, "silu") || text_is(activation, "swish");
}

/* A multiply-add for every place of the kernel; a bias and an activation 1 each. */
static RULE_COST(causal_conv)
{
	struct shape w = c->inputs[1].shape;
	double volume = w.rank < 3 ? NAN : 1;
	for (int i = 2; i < w.rank; i++)
		volume *= op_dim_number(w.dims[i]);
	cost->flops =
		op_count(op_out(c, 0)) * (2 * volume + (op_in(c, 2) ? 1 : 0) + (causal_activates(c) ? 1 : 0));
	cost->bytes = op_bytes_all(c);
}

/* The state in front of the input counts as padding: it is what stands in for reading and writing it. */
static RULE_PROBLEM(causal_conv)
{
	struct causal_conv v;
	struct error err;
	if (!op_problem_ready(c, out))
		return;
	if (causal_get(c, &v, &err) || !v.plain) {
		op_problem_why(out, "only one spatial dimension, with one state, is measured");
		return;
	}
	struct shape x = c->inputs[0].shape;
	struct problem *p = op_problem_start(out, KERNEL_CONV, MODE_NONE);
	p->spatial = 1;
	for (int i = 0; i < 3; i++)
		p->in[i] = p->kernel_size[i] = p->stride[i] = p->dilation[i] = i == 2;
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->inputs[1]);
	p->operand[2] = op_operand(&c->outputs[0]);
	p->accumulator = op_accumulator(c->outputs[0].dtype);
	p->n = x.dims[0].value;
	p->c = p->k = p->g = v.channels.value;
	p->in[2] = x.dims[v.last ? 1 : 2].value;
	p->kernel_size[2] = v.kernel.value;
	p->dilation[2] = v.dilation;
	p->pad_begin[2] = v.state.value;
	op_problem_bias(op_in(c, 2), out);
	if (causal_activates(c))
		p->epilogue[p->epilogue_count++] =
			(struct epilogue){ .kind = EPILOGUE_ELTWISE, .mode = MODE_SWISH, .alpha = 1 };
	out->proxy = true;
	if (v.last)
		problem_set_layout(p, LAYOUT_NXC);
}

/* ---- SwiGLU: swish(a) b */

static int swiglu_shape(struct op_call *c, struct error *err)
{
	struct shape a = c->inputs[0].shape, b = c->inputs[1].shape;
	if (a.rank >= 0 && b.rank >= 0 && a.rank != b.rank)
		return op_fail(
			c, err, "shapes %s and %s differ", shape_text(c->arena, a), shape_text(c->arena, b));
	struct shape y = op_shape_copy(c->arena, a.rank >= 0 ? a : b);
	for (int i = 0; i < y.rank && a.rank == b.rank; i++) {
		if (!op_dim_merge(a.dims[i], b.dims[i], &y.dims[i]))
			return op_fail(c, err, "shapes %s and %s differ", shape_text(c->arena, a),
				shape_text(c->arena, b));
	}
	c->outputs[0].shape = y;
	return 0;
}

/* The swish and the product. */
static void swiglu_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 2 * op_count(op_out(c, 0));
	cost->bytes = op_bytes_all(c);
}

/* The product alone, of the same bytes, stands in. */
static void swiglu_problem(const struct op_call *c, struct op_problem *out)
{
	if (op_problem_ready(c, out))
		op_problem_binary(MODE_MUL, &c->inputs[0], &c->inputs[1], &c->outputs[0], out);
	out->proxy = out->known;
}

/* ---- TensorScatter: new rows into a cache */

static int tensor_scatter_shape(struct op_call *c, struct error *err)
{
	struct shape past = c->inputs[0].shape, update = c->inputs[1].shape;
	if (past.rank >= 0 && op_axis(c, node_int(c->node, "axis", -2), past.rank, err) < 0)
		return -1;
	if (past.rank >= 0 && update.rank >= 0 && past.rank != update.rank)
		return op_fail(c, err, "an update %s for a cache %s", shape_text(c->arena, update),
			shape_text(c->arena, past));
	return op_shape_as_input(c, err);
}

/* The cache is meant to be one buffer before and after: only the new rows are read and written. */
static void tensor_scatter_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	cost->bytes = 2 * op_bytes(op_in(c, 1)) + op_bytes(op_in(c, 2));
}

static const struct op rows[] = {
	{ "RotaryEmbedding", "", 23, 0, 3, 4, CLASS_MEMORY, rotary_shape, rotary_cost, rotary_problem, NULL,
		OP_COPY },
	{ "LinearAttention", "", 27, 0, 3, 6, CLASS_COMPUTE, linear_attention_shape, linear_attention_cost,
		linear_attention_problem, NULL, "as one matrix product, as if no token waited for another (proxy)" },
	{ "CausalConvWithState", "", 27, 0, 2, 4, CLASS_COMPUTE, causal_conv_shape, causal_conv_cost,
		causal_conv_problem, NULL, "the carried state as padding (proxy)" },
	{ "SwiGLU", "", 28, 0, 2, 2, CLASS_MEMORY, swiglu_shape, swiglu_cost, swiglu_problem, NULL,
		"measured as Mul (proxy)" },
	{ "TensorScatter", "", 24, 0, 2, 3, CLASS_MOVE, tensor_scatter_shape, tensor_scatter_cost,
		op_problem_mover, NULL, "only the new rows: as a plain copy of equal bytes" },
	{ "FlexAttention", "ai.onnx.preview", 1, 0, 3, 3, CLASS_COMPUTE, op_attention_shape,
		op_attention_cost, op_attention_problem, NULL, "with bodies as without them (proxy)" },
	{ "RotaryEmbedding", "com.microsoft", 1, 0, 4, 4, CLASS_MEMORY, rotary_shape, rotary_cost,
		rotary_problem, NULL, OP_COPY },
	{ "MRotaryEmbedding", "com.microsoft", 1, 0, 4, 4, CLASS_MEMORY, rotary_shape, rotary_cost,
		rotary_problem, NULL, OP_COPY },
	{ "LinearAttention", "com.microsoft", 1, 0, 3, 6, CLASS_COMPUTE, linear_attention_shape,
		linear_attention_cost, linear_attention_problem, NULL,
		"as one matrix product, as if no token waited for another (proxy)" },
	{ "CausalConvWithState", "com.microsoft", 1, 0, 2, 4, CLASS_COMPUTE, causal_conv_shape,
		causal_conv_cost, causal_conv_problem, NULL, "the carried state as padding (proxy)" },
};
const struct op_rows op_llm_rows = OP_ROWS(rows);
