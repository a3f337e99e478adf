/* Operators that carry a state from token to token. LinearAttention and GatedDeltaNet keep one matrix per
 * head; CausalConvWithState and VarlenCausalConvWithState keep the last inputs of a convolution.
 * GatedDeltaNet and VarlenCausalConvWithState take packed sequences. The com.microsoft versions have inputs
 * and attributes that those of ai.onnx lack. */
#include "config.h"

#include "ops/onnx/op_attention.h"

#include <math.h>

/* ---- linear attention: a key size x value size state per head, updated by every token */

/* Dimensions of linear attention. Packed sequences count as one sequence of all tokens (n = 1): same work. */
struct linear {
	struct dim n, steps;
	struct dim heads, key_heads; /* query heads; key heads: one per state, or shared by several states */
	struct dim states, results;  /* value heads, one state each; heads of the output */
	struct dim key_size, value_size;
	bool gated, delta;
};

static struct linear linear_none(void)
{
	struct dim no = dim_unknown();
	return (struct linear){ no, no, no, no, no, no, no, no, false, false };
}

/* True if `whole` is a multiple of `parts`, or if either is unknown. */
static bool linear_shares(struct dim whole, struct dim parts)
{
	return whole.kind != DIM_KNOWN || parts.kind != DIM_KNOWN ||
	       (parts.value > 0 && whole.value % parts.value == 0);
}

/* Reads update_rule and sets the output heads: the larger of query heads and value heads. Returns -1 if the
 * numbers of heads are not multiples of each other. */
static int linear_finish(const struct op_call *c, struct linear *l, struct error *err)
{
	struct text rule = node_string(c->node, "update_rule", "gated_delta");
	l->gated = text_is(rule, "gated") || text_is(rule, "gated_delta");
	l->delta = text_is(rule, "delta") || text_is(rule, "gated_delta");
	if (!l->gated && !l->delta && !text_is(rule, "linear"))
		return op_fail(c, err, "an update_rule that is not known");
	bool inverse = c->op->domain[0] && l->states.value > l->heads.value;
	bool known = l->states.kind == DIM_KNOWN && l->heads.kind == DIM_KNOWN;
	l->results = !known ? dim_unknown() : inverse ? l->states : l->heads;
	if (known && !(inverse ? linear_shares(l->states, l->heads) : linear_shares(l->heads, l->states)))
		return op_fail(c, err, "%lld heads of queries for %lld of values", (long long)l->heads.value,
			(long long)l->states.value);
	return linear_shares(l->states, l->key_heads)
		? 0
		: op_fail(c, err, "%lld heads of keys for %lld of values", (long long)l->key_heads.value,
			  (long long)l->states.value);
}

/* Merges the last four dimensions of a state (n x states x a x b) into *n, states, *a and *b. A state of rank
 * 5 has a window dimension in front. Returns -1 if a dimension differs. */
static int linear_state(const struct op_call *c, const struct op_value *state, struct linear *l,
	struct dim *n, struct dim *a, struct dim *b, struct error *err)
{
	struct shape s = state ? state->shape : SHAPE_UNKNOWN;
	struct dim *const known[] = { n, &l->states, a, b };
	if (s.rank >= 0 && s.rank != 4 && s.rank != 5)
		return op_fail(c, err, "a state of rank %d", s.rank);
	for (int i = 0; i < 4 && s.rank >= 4; i++) {
		if (!op_dim_merge(*known[i], s.dims[s.rank - 4 + i], known[i]))
			return op_fail(c, err, "a state of shape %s does not fit", shape_text(c->arena, s));
	}
	return 0;
}

/* ---- LinearAttention */

/* Sets the number of key heads. With com.microsoft there may be fewer key heads than value heads: width / key
 * size. */
static int linear_keys(const struct op_call *c, struct dim width, struct linear *l, struct error *err)
{
	struct dim size;
	l->key_heads = l->states;
	if (c->op->domain[0])
		return l->key_size.kind == DIM_KNOWN && l->key_size.value < 1
			       ? op_fail(c, err, "the head size of queries is 0")
			       : attention_part(c, width, l->key_size, "numbers a head", &l->key_heads, err);
	if (attention_part(c, width, l->states, "heads", &size, err))
		return -1;
	return op_dim_merge(l->key_size, size, &l->key_size)
		       ? 0
		       : op_fail(c, err, "queries and keys have heads of another size");
}

static int linear_attention_get(const struct op_call *c, struct linear *l, struct error *err)
{
	*l = linear_none();
	for (int i = 0; i < 3; i++) {
		const struct op_value *v = &c->inputs[i];
		if (op_rank_is(c, i, 3, err))
			return -1;
		if (!op_dim_merge(l->n, op_dim_at(v, 3, 0), &l->n) ||
			!op_dim_merge(l->steps, op_dim_at(v, 3, 1), &l->steps))
			return op_fail(c, err, "queries, keys and values do not fit");
	}
	if (attention_heads(c, "q_num_heads", &l->heads, err) ||
		attention_heads(c, "kv_num_heads", &l->states, err) ||
		attention_part(c, op_dim_at(&c->inputs[0], 3, 2), l->heads, "heads", &l->key_size, err) ||
		attention_part(c, op_dim_at(&c->inputs[2], 3, 2), l->states, "heads", &l->value_size, err) ||
		linear_state(c, op_in(c, 3), l, &l->n, &l->key_size, &l->value_size, err))
		return -1;
	return linear_keys(c, op_dim_at(&c->inputs[1], 3, 2), l, err);
}

/* ---- GatedDeltaNet */

enum { DELTA_BOUNDS = 3, DELTA_DECAY, DELTA_BETA, DELTA_STATE };

/* leads: number of token dimensions, 1 (packed) or 2 (sequence, token); -1 if it is unknown */
struct delta_net {
	struct linear l;
	int leads;
	struct dim lead[2], n, captured; /* token dimensions; sequences; captured tokens of each */
};

/* Reads shapes of separate queries, keys and values: token dimensions x heads x head size. */
static int delta_net_parts(const struct op_call *c, struct delta_net *d, struct error *err)
{
	struct linear *l = &d->l;
	struct dim *const heads[3] = { &l->heads, &l->key_heads, &l->states };
	struct dim *const sizes[3] = { &l->key_size, &l->key_size, &l->value_size };
	for (int i = 0; i < 3; i++) {
		struct shape s = c->inputs[i].shape;
		if (s.rank < 0)
			continue;
		bool fits = (s.rank == 3 || s.rank == 4) && (d->leads < 0 || s.rank - 2 == d->leads);
		d->leads = s.rank - 2;
		for (int j = 0; fits && j < d->leads; j++)
			fits = op_dim_merge(d->lead[j], s.dims[j], &d->lead[j]);
		if (!fits || !op_dim_merge(*heads[i], s.dims[s.rank - 2], heads[i]) ||
			!op_dim_merge(*sizes[i], s.dims[s.rank - 1], sizes[i]))
			return op_fail(c, err, "queries, keys and values do not fit: input %d is %s", i,
				shape_text(c->arena, s));
	}
	if (!op_dim_merge(l->heads, l->key_heads, &l->heads))
		return op_fail(c, err, "%lld heads of queries for %lld of keys", (long long)l->heads.value,
			(long long)l->key_heads.value);
	return 0;
}

/* Queries, keys and values packed in one input: the width less that of the values is shared equally by
 * queries and keys. */
static int delta_net_packed(const struct op_call *c, struct delta_net *d, struct error *err)
{
	struct linear *l = &d->l;
	struct shape q = c->inputs[0].shape;
	if (q.rank >= 0 && q.rank != 2 && q.rank != 3)
		return op_fail(c, err, "queries, keys and values in one of rank %d", q.rank);
	d->leads = q.rank < 0 ? -1 : q.rank - 1;
	for (int i = 0; i < d->leads; i++)
		d->lead[i] = q.dims[i];
	if (q.rank < 0)
		return 0;
	struct dim keys, values = dim_mul(c->arena, l->states, l->value_size), width = q.dims[q.rank - 1];
	if (width.kind == DIM_KNOWN && values.kind == DIM_KNOWN && width.value <= values.value)
		return op_fail(c, err, "%lld numbers for queries, keys and %lld of values",
			(long long)width.value, (long long)values.value);
	return attention_part(c, dim_sub(c->arena, width, values), dim_known(2), "of queries and keys", &keys,
		       err) ||
			attention_part(c, keys, l->key_size, "numbers a head", &l->heads, err)
		? -1
		: 0;
}

static int delta_net_get(const struct op_call *c, struct delta_net *d, struct error *err)
{
	struct linear *l = &d->l;
	const struct op_value *state = op_in(c, DELTA_STATE);
	bool packed = !op_in(c, 1) && !op_in(c, 2);
	if (!packed && (!op_in(c, 1) || !op_in(c, 2)))
		return op_fail(c, err, "keys without values, or values without keys");
	if (packed && !state)
		return op_fail(c, err, "without a state the number of heads is unknown");
	*d = (struct delta_net){ linear_none(), -1, { dim_unknown(), dim_unknown() }, dim_unknown(),
		dim_unknown() };
	if (attention_sequences(c, DELTA_BOUNDS, &d->n, err) || attention_captures(c, &d->captured, err) ||
		linear_state(c, state, l, &d->n, &l->value_size, &l->key_size, err) ||
		(packed ? delta_net_packed(c, d, err) : delta_net_parts(c, d, err)))
		return -1;
	if (d->leads == 1 && !state && !op_in(c, DELTA_BOUNDS))
		return op_fail(c, err, "without a state the number of sequences is unknown");
	if (d->leads == 2 && !op_dim_merge(d->n, d->lead[0], &d->n))
		return op_fail(c, err, "%lld sequences, and a state of %lld", (long long)d->lead[0].value,
			(long long)d->n.value);
	l->key_heads = l->heads;
	l->n = d->leads == 2 ? d->n : dim_known(1);
	l->steps = d->leads < 0 ? dim_unknown() : d->lead[d->leads - 1];
	return 0;
}

/* ---- shared by both */

static int linear_get(const struct op_call *c, struct linear *l, struct error *err)
{
	struct delta_net d;
	bool net = text_is(text_of(c->op->name), "GatedDeltaNet");
	if (net ? delta_net_get(c, &d, err) : linear_attention_get(c, &d.l, err))
		return -1;
	*l = d.l;
	return linear_finish(c, l, err);
}

static RULE_SHAPE(linear_attention)
{
	struct linear l;
	if (linear_get(c, &l, err))
		return -1;
	struct dim width = dim_mul(c->arena, l.results, l.value_size);
	c->outputs[0].shape = op_shape_of(c->arena, 3, (struct dim[]){ l.n, l.steps, width });
	if (c->output_count < 2)
		return 0;
	if (op_in(c, 3))
		c->outputs[1].dtype = c->inputs[3].dtype;
	struct shape state = attention_shape(c, l.n, l.states, l.key_size, l.value_size);
	c->outputs[1].shape = attention_window(c, state);
	return 0;
}

static RULE_SHAPE(delta_net)
{
	struct delta_net d;
	struct linear *l = &d.l;
	if (delta_net_get(c, &d, err) || linear_finish(c, l, err))
		return -1;
	struct dim head[] = { d.lead[0], d.lead[1], l->results, l->value_size };
	if (d.leads == 1)
		c->outputs[0].shape = op_shape_of(c->arena, 3, (struct dim[]){ head[0], head[2], head[3] });
	else if (d.leads == 2)
		c->outputs[0].shape = op_shape_of(c->arena, 4, head);
	for (int i = 1; i < c->output_count; i++)
		c->outputs[i].dtype = DTYPE_F32;
	if (c->output_count > 1)
		c->outputs[1].shape = attention_shape(c, d.n, l->states, l->value_size, l->key_size);
	struct dim row = dim_add(c->arena, l->states,
		dim_add(c->arena, dim_mul(c->arena, l->key_heads, l->key_size),
			dim_mul(c->arena, l->states, l->value_size)));
	if (c->output_count > 2)
		c->outputs[2].shape =
			op_shape_of(c->arena, 2, (struct dim[]){ d.n, dim_mul(c->arena, d.captured, row) });
	return 0;
}

/* Operations of GatedDeltaNet before the recurrence: 3 per decay (softplus and two more), 1 per rate
 * (sigmoid), 3 per element of queries and keys for the L2 norm (square, sum, division). */
static double delta_net_before(const struct op_call *c, const struct linear *l)
{
	double turned = 2 * op_dim_number(l->n) * op_dim_number(l->steps) * op_dim_number(l->heads) *
			op_dim_number(l->key_size);
	double flops = node_int(c->node, "qk_l2_norm", 0) ? 3 * turned : 0;
	if (text_is(node_string(c->node, "gate_activation", "none"), "qwen"))
		flops += 3 * op_count(op_in(c, DELTA_DECAY));
	if (text_is(node_string(c->node, "beta_activation", "none"), "sigmoid"))
		flops += op_count(op_in(c, DELTA_BETA));
	return flops;
}

/* Per token: the outer product of key and value added to the state, and query times state, 2 operations per
 * element each. Decay adds 1 per element and its exponential. The delta rule adds key times state, 2 per
 * element, and a subtraction and a product per value. Decay is input 4 of both operators. */
static RULE_COST(linear)
{
	struct linear l;
	struct error err;
	if (linear_get(c, &l, &err))
		return;
	double states = op_dim_number(l.states), key = op_dim_number(l.key_size),
		value = op_dim_number(l.value_size);
	double update = states * key * value * (2 + (l.gated ? 1 : 0) + (l.delta ? 2 : 0)) +
			(l.delta ? 2 * states * value : 0);
	double read = op_dim_number(l.results) * (2 * key * value + value);
	cost->flops = op_dim_number(l.n) * op_dim_number(l.steps) * (update + read) +
		      (l.gated ? op_count(op_in(c, DELTA_DECAY)) : 0) + delta_net_before(c, &l);
	cost->bytes = op_bytes_all(c);
}

/* Proxy: per state, one matmul with the same number of multiplications, as if tokens were independent. It
 * includes the state update (keys times values), the delta rule (keys times state) and the output (queries of
 * all heads that share the state, times state). */
static RULE_PROBLEM(linear)
{
	struct linear l;
	struct error err;
	if (!op_problem_ready(c, out))
		return;
	if (linear_get(c, &l, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	struct dim reads = dim_floor_div(c->arena, l.results, l.states);
	struct dim products = dim_add(c->arena, reads, dim_known(l.delta ? 2 : 1));
	struct dim batch = dim_mul(c->arena, l.n, l.states);
	struct op_value state = c->inputs[0];
	state.constant = false;
	if (!op_problem_matmul(&c->inputs[0], &state, &c->outputs[0], l.steps,
		    dim_mul(c->arena, l.value_size, products), l.key_size, out))
		return;
	out->problem.batch_a.dim[0] = out->problem.batch_b.dim[0] = batch.value;
	out->proxy = true;
}

/* ---- depthwise convolution over the carried state and the input */

/* Three layouts: n x channels x length; channels last, with any number of channel dimensions; packed tokens
 * of all sequences, as one sequence (n = 1). */
struct causal_conv {
	bool plain, last, packed; /* plain: one spatial dimension */
	bool state_last;          /* channels last in the state */
	struct dim n, length, channels, kernel;
	struct dim reach, state;  /* reach: (kernel - 1) * dilation, of the state, which may be longer */
	int64_t dilation;
	int64_t slice;            /* channels of the input that are read; 0: all */
};

/* Index of the bias input; the state is the next input. */
static int causal_bias(const struct causal_conv *v)
{
	return v->packed ? 3 : 2;
}

static int causal_sizes(const struct op_call *c, struct causal_conv *v, struct error *err)
{
	struct shape x = c->inputs[0].shape, w = c->inputs[1].shape;
	int lead = v->packed ? 1 : 2;
	bool fits = v->packed ? x.rank == 2 : v->last ? x.rank >= 3 : x.rank == 3;
	if ((x.rank >= 0 && !fits) || (w.rank >= 0 && w.rank != 3))
		return op_fail(c, err, "input %s and weights %s: both must have 3 dimensions",
			shape_text(c->arena, x), shape_text(c->arena, w));
	v->n = v->packed ? dim_known(1) : x.rank < 0 ? dim_unknown() : x.dims[0];
	v->length = x.rank < 0 ? dim_unknown() : v->packed ? x.dims[0] : x.dims[v->last ? 1 : 2];
	v->kernel = op_dim_at(&c->inputs[1], 3, 2);
	if (v->kernel.kind == DIM_KNOWN && v->kernel.value < 1)
		return op_fail(c, err, "weights of shape %s", shape_text(c->arena, w));
	struct dim here = x.rank < 0 ? dim_unknown() : x.dims[1];
	if (v->last && x.rank > lead)
		here = shape_elements(c->arena,
			(struct shape){ .rank = x.rank - lead, .dims = x.dims + lead });
	here = v->slice > 0 ? dim_known(v->slice) : here;
	if (!op_dim_merge(here, op_dim_at(&c->inputs[1], 3, 0), &v->channels))
		return op_fail(c, err, "%lld channels, but weights of shape %s", (long long)here.value,
			shape_text(c->arena, w));
	return 0;
}

static int causal_get(const struct op_call *c, struct causal_conv *v, struct error *err)
{
	bool microsoft = c->op->domain[0];
	v->packed = text_is(text_of(c->op->name), "VarlenCausalConvWithState");
	v->dilation = microsoft ? node_int(c->node, "dilation", 1) : 1;
	v->last = v->packed || (microsoft && node_int(c->node, "channels_last", 0) != 0);
	v->plain = v->packed || !microsoft || node_int(c->node, "ndim", 1) == 1;
	int64_t order = microsoft && !v->packed ? node_int(c->node, "state_channels_last", -1) : -1,
		length = microsoft && !v->packed ? node_int(c->node, "state_length", 0) : 0;
	v->state_last = order < 0 ? v->last : order != 0;
	v->slice = microsoft && v->last && !v->packed ? node_int(c->node, "input_channels", 0) : 0;
	if (v->dilation < 1 || v->dilation > INT32_MAX)
		return op_fail(c, err, "dilation is %lld", (long long)v->dilation);
	if (!v->plain)
		return 0;
	if (causal_sizes(c, v, err))
		return -1;
	v->reach = dim_mul(c->arena, dim_sub(c->arena, v->kernel, dim_known(1)), dim_known(v->dilation));
	v->state = length > 0 ? dim_known(length) : v->reach;
	return v->reach.kind == DIM_KNOWN && length > 0 && length < v->reach.value
		? op_fail(c, err, "state_length is %lld, but the kernel reads %lld", (long long)length,
			  (long long)v->reach.value)
		: 0;
}

static RULE_SHAPE(causal_conv)
{
	struct causal_conv v;
	struct shape x = c->inputs[0].shape;
	if (causal_get(c, &v, err))
		return -1;
	c->outputs[0].shape = op_shape_copy(c->arena, x);
	if (v.slice > 0 && x.rank == 3)
		c->outputs[0].shape.dims[2] = v.channels;
	struct dim captured;
	if (c->output_count > 2) {
		if (attention_captures(c, &captured, err))
			return -1;
		c->outputs[2].shape = op_shape_of(c->arena, 3, (struct dim[]){ v.n, captured, v.channels });
	}
	if (c->output_count < 2)
		return 0;
	const struct op_value *past = op_in(c, 3);
	if (!v.plain) {
		c->outputs[1].shape = past ? op_shape_copy(c->arena, past->shape) : SHAPE_UNKNOWN;
		return 0;
	}
	if (x.rank < 0 && v.last) /* there may be several channel dimensions */
		return 0;
	struct shape state = x.rank < 0 ? shape_make(c->arena, 3) : op_shape_copy(c->arena, x);
	if (!v.last || state.rank == 3)
		state.dims[v.state_last ? 2 : 1] = v.channels;
	state.dims[v.state_last ? 1 : 2] = v.state;
	c->outputs[1].shape = attention_window(c, state);
	return 0;
}

/* Packed sequences: returns states of n x channels x length, and the captured inputs of each sequence. */
static RULE_SHAPE(packed_conv)
{
	struct causal_conv v;
	struct dim n, captured;
	if (!op_in(c, 4))
		return op_fail(c, err, "the state is missing");
	if (causal_get(c, &v, err) || attention_sequences(c, 2, &n, err) ||
		attention_captures(c, &captured, err) || op_rank_is(c, 4, 3, err))
		return -1;
	const struct op_value *state = op_in(c, 4);
	if (!op_dim_merge(n, op_dim_at(state, 3, 0), &n) ||
		!op_dim_merge(v.channels, op_dim_at(state, 3, 1), &v.channels) ||
		!op_dim_merge(v.state, op_dim_at(state, 3, 2), &v.state))
		return op_fail(c, err, "a state of shape %s does not fit",
			shape_text(c->arena, state->shape));
	c->outputs[0].shape = op_shape_of(c->arena, 2, (struct dim[]){ v.length, v.channels });
	if (c->output_count > 1)
		c->outputs[1].shape = op_shape_of(c->arena, 3, (struct dim[]){ n, v.channels, v.state });
	if (c->output_count > 2)
		c->outputs[2].shape = op_shape_of(c->arena, 3, (struct dim[]){ n, captured, v.channels });
	return 0;
}

static bool causal_activates(const struct op_call *c)
{
	struct text activation = node_string(c->node, "activation", "none");
	return text_is(activation, "silu") || text_is(activation, "swish");
}

/* One multiply-add per kernel element; the bias and the activation add 1 each. */
static RULE_COST(causal_conv)
{
	struct causal_conv v;
	struct error err;
	struct shape w = c->inputs[1].shape;
	double volume = w.rank < 3 ? NAN : 1;
	if (causal_get(c, &v, &err))
		return;
	for (int i = 2; i < w.rank; i++)
		volume *= op_dim_number(w.dims[i]);
	cost->flops = op_count(op_out(c, 0)) *
		      (2 * volume + (op_in(c, causal_bias(&v)) ? 1 : 0) + (causal_activates(c) ? 1 : 0));
	cost->bytes = op_bytes_all(c);
	if (v.slice > 0)
		cost->bytes += op_bytes(op_out(c, 0)) - op_bytes(&c->inputs[0]);
}

/* The state is measured as padding in front of the input, which replaces reading and writing it. */
static RULE_PROBLEM(causal_conv)
{
	struct causal_conv v;
	struct error err;
	if (!op_problem_ready(c, out))
		return;
	if (causal_get(c, &v, &err) || !v.plain) {
		op_problem_why(out, "only one spatial dimension is measured");
		return;
	}
	struct problem *p = op_problem_start(out, KERNEL_CONV, MODE_NONE);
	p->spatial = 1;
	for (int i = 0; i < 3; i++)
		p->in[i] = p->kernel_size[i] = p->stride[i] = p->dilation[i] = i == 2;
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->inputs[1]);
	p->operand[2] = op_operand(&c->outputs[0]);
	p->accumulator = op_accumulator(c->outputs[0].dtype);
	p->n = v.n.value;
	p->c = p->k = p->g = v.channels.value;
	p->in[2] = v.length.value;
	p->kernel_size[2] = v.kernel.value;
	p->dilation[2] = v.dilation;
	p->pad_begin[2] = v.reach.value;
	op_problem_bias(op_in(c, causal_bias(&v)), out);
	if (causal_activates(c))
		p->epilogue[p->epilogue_count++] =
			(struct epilogue){ .kind = EPILOGUE_ELTWISE, .mode = MODE_SWISH, .alpha = 1 };
	out->proxy = true;
	if (v.last)
		problem_set_layout(p, LAYOUT_NXC);
}

/* ---- operator table */

#define WAITS "measured as one matmul, without the dependences between tokens (proxy)"
#define PADDED "the carried state is measured as padding (proxy)"
#define LINEAR linear_attention_shape, linear_cost, linear_problem, NULL, WAITS
#define CONV causal_conv_shape, causal_conv_cost, causal_conv_problem, NULL, PADDED
#define MS "com.microsoft", 1, 0

static const struct op rows[] = {
	{ "LinearAttention", "", 27, 0, 3, 6, CLASS_COMPUTE, LINEAR },
	{ "LinearAttention", MS, 3, 6, CLASS_COMPUTE, LINEAR },
	{ "GatedDeltaNet", MS, 1, 11, CLASS_COMPUTE, delta_net_shape, linear_cost, linear_problem, NULL,
		WAITS },
	{ "CausalConvWithState", "", 27, 0, 2, 4, CLASS_COMPUTE, CONV },
	{ "CausalConvWithState", MS, 2, 4, CLASS_COMPUTE, CONV },
	{ "VarlenCausalConvWithState", MS, 3, 8, CLASS_COMPUTE, packed_conv_shape, causal_conv_cost,
		causal_conv_problem, NULL, "measured as one sequence; " PADDED },
};
const struct op_rows op_state_rows = OP_ROWS(rows);
