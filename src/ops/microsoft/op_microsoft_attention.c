/* Attention operators of ONNX Runtime: with the projection of the input (Attention), with heads in the last
 * dimension or packed (MultiHeadAttention), with keys shared by groups of heads and a cache that may be one
 * buffer before and after (GroupQueryAttention), over packed or paged sequences. Sources: the schemas of
 * com.microsoft and the runtime's CPU kernels. */
#include "config.h"

#include "ops/onnx/op_attention.h"

#include <math.h>
#include <string.h>

/* Indexes of an operator's inputs; 0: it has no such input (input 0 is always the queries). */
struct places {
	int bias, mask, attention_bias, past_key, past_value, past_length;
};

/* Of the row's rules; NULL: none. */
static const struct places *places_of(const struct op_call *c)
{
	return c->op->own;
}

/* Input i; NULL for 0. */
static const struct op_value *input_at(const struct op_call *c, int i)
{
	return i ? op_in(c, i) : NULL;
}

/* An intermediate result or input as a kernel operand, with the type of the first input. */
static struct op_value as_operand(const struct op_call *c, const struct op_value *v)
{
	struct op_value operand = {
		.present = true, .dtype = c->inputs[0].dtype, .shape = c->inputs[0].shape
	};
	if (v && v->dtype == operand.dtype)
		operand = *v;
	return operand;
}

/* A cache: past keys before the new ones; with past_length it is one buffer, filled up to there. */
static void cache_get(const struct op_call *c, const struct places *at, struct dim past, struct attention *t)
{
	t->shared = node_int(c->node, "past_present_share_buffer", 0) != 0 || input_at(c, at->past_length);
	t->past = !input_at(c, at->past_key)	 ? dim_known(0)
		  : t->shared && at->past_length ? op_dim_get(c, at->past_length)
		  : t->shared			 ? dim_unknown()
						 : past;
	t->total = dim_add(c->arena, t->past, t->key_length);
	t->offset = t->past;
	t->extra = (input_at(c, at->mask) ? 1 : 0) + (input_at(c, at->attention_bias) ? 1 : 0);
}

/* ---- Attention, DecoderMaskedSelfAttention, PackedAttention, QAttention: input times weights gives queries,
 * keys and values */

struct projected {
	struct attention t;
	struct dim in, width[3], all; /* sizes: of the input; of queries, keys and values; of the three
				         together */
};

/* Widths from qkv_hidden_sizes, else thirds of the weights or bias. */
static int projected_widths(const struct op_call *c, struct projected *p, struct error *err)
{
	const struct op_value *w = op_in(c, 1), *bias = op_in(c, 2);
	const struct attribute *sizes = node_attribute(c->node, "qkv_hidden_sizes");
	if (op_rank(w) >= 0 && w->shape.rank != 2)
		return op_fail(c, err, "weights of rank %d, not 2", w->shape.rank);
	if (!op_dim_merge(op_dim_at(w, 2, 1), op_dim_at(bias, 1, 0), &p->all))
		return op_fail(c, err, "a bias of %s for weights %s", shape_text(c->arena, bias->shape),
			shape_text(c->arena, w->shape));
	if (!op_dim_merge(p->in, op_dim_at(w, 2, 0), &p->in))
		return op_fail(c, err, "shapes %s and %s do not multiply",
			shape_text(c->arena, c->inputs[0].shape), shape_text(c->arena, w->shape));
	if (!sizes || sizes->kind != ATTRIBUTE_INTS || sizes->count == 0) {
		for (int i = 0; i < 3; i++)
			if (attention_part(c, p->all, dim_known(3), "of queries, keys and values",
				    &p->width[i], err))
				return -1;
		return 0;
	}
	int64_t sum = 0;
	for (size_t i = 0; i < sizes->count && i < 3; i++) {
		if (sizes->ints[i] < 1 || sizes->ints[i] > INT32_MAX)
			return op_fail(c, err, "qkv_hidden_sizes is out of range");
		p->width[i] = dim_known(sizes->ints[i]);
		sum += sizes->ints[i];
	}
	if (sizes->count != 3 || dim_differs(p->all, dim_known(sum)) || dim_differs(p->width[0], p->width[1]))
		return op_fail(c, err, "qkv_hidden_sizes does not fit the weights %s",
			shape_text(c->arena, w->shape));
	p->all = dim_known(sum);
	return 0;
}

static int projected_get(const struct op_call *c, struct projected *p, struct error *err)
{
	const struct places *at = places_of(c);
	struct shape x = c->inputs[0].shape;
	int rank = at ? 3 : 2;
	struct attention *t = &p->t;
	struct dim no = dim_unknown();
	*p = (struct projected){ attention_none(), no, { no, no, no }, no };
	if (x.rank >= 0 && x.rank != rank)
		return op_fail(c, err, "input of rank %d, not %d", x.rank, rank);
	p->in = op_dim_at(&c->inputs[0], rank, rank - 1);
	if (projected_widths(c, p, err) || attention_heads(c, "num_heads", &t->heads, err) ||
		attention_part(c, p->width[0], t->heads, "heads", &t->head_size, err) ||
		attention_part(c, p->width[2], t->heads, "heads", &t->value_size, err))
		return -1;
	t->kv_heads = t->heads;
	if (!at) /* packed: the number of tokens per sequence is known only at run time */
		return 0;
	t->n = op_dim_at(&c->inputs[0], 3, 0);
	t->query_length = t->key_length = op_dim_at(&c->inputs[0], 3, 1);
	t->causal = node_int(c->node, "unidirectional", 0) != 0;
	const struct op_value *past = op_in(c, at->past_key);
	if (op_rank(past) >= 0 && past->shape.rank != 5)
		return op_fail(c, err, "a past of rank %d, not 5", past->shape.rank);
	cache_get(c, at, op_dim_at(past, 5, 3), t);
	return 0;
}

static int ms_attention_shape(struct op_call *c, struct error *err)
{
	struct projected p;
	if (projected_get(c, &p, err))
		return -1;
	const struct attention *t = &p.t;
	c->outputs[0].shape = op_shape_of(c->arena, 3, (struct dim[]){ t->n, t->query_length, p.width[2] });
	if (c->output_count > 1) {
		const struct op_value *past = op_in(c, places_of(c)->past_key);
		struct dim length = t->shared ? op_dim_at(past, 5, 3) : t->total;
		c->outputs[1].shape = op_shape_of(
			c->arena, 5, (struct dim[]){ dim_known(2), t->n, t->heads, length, t->head_size });
	}
	return 0;
}

static double projection_flops(const struct op_call *c, const struct projected *p, double tokens)
{
	double all = op_dim_number(p->all);
	double flops = 2 * tokens * op_dim_number(p->in) * all + (op_in(c, 2) ? tokens * all : 0);
	bool rotates = node_int(c->node, "do_rotary", 0) != 0;
	return flops + (rotates ? 3 * tokens * 2 * op_dim_number(p->width[0]) : 0);
}

static void ms_attention_cost(const struct op_call *c, struct op_cost *cost)
{
	struct projected p;
	struct error err;
	if (projected_get(c, &p, &err))
		return;
	double tokens = op_dim_number(p.t.n) * op_dim_number(p.t.query_length);
	cost->flops = projection_flops(c, &p, tokens) + attention_flops(&p.t);
	cost->bytes = op_bytes_but(c, 1u << 4 | 1u << 6, 1u << 1) +
		      attention_cache_bytes(&p.t, c->inputs[0].dtype, op_out(c, 1) != NULL);
}

/* The projection and the attention are two kernels; the problem is the one with more arithmetic, as a proxy.
 * Packed tokens (without a row in `places`) are treated as sequences of equal length. */
RULE_PROBLEM(op_projected_attention)
{
	struct projected p;
	struct error err;
	if (projected_get(c, &p, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	if (!op_problem_value(c, &c->inputs[0], out) || !op_problem_value(c, &c->inputs[1], out) ||
		!op_problem_value(c, &c->outputs[0], out))
		return;
	if (!places_of(c))
		attention_even(c, op_dim_at(&c->inputs[0], 2, 0), 4, &p.t);
	double tokens = op_count(&c->inputs[0]) / op_dim_number(p.in);
	struct op_value x = { .present = true, .dtype = c->outputs[0].dtype, .shape = c->inputs[0].shape };
	if (attention_flops(&p.t) > projection_flops(c, &p, tokens))
		attention_problem(c, &p.t, (const struct op_value *[]){ &x, &x, &x }, true, out);
	else
		attention_projection(c, 1, 2, p.all, out);
}

/* QAttention: the projection is an integer matmul with a scale. Its cache is copied, not shared. */
static int q_attention_shape(struct op_call *c, struct error *err)
{
	for (int i = 0; i < c->output_count; i++)
		c->outputs[i].dtype = c->inputs[3].dtype;
	return ms_attention_shape(c, err);
}

static void q_attention_cost(const struct op_call *c, struct op_cost *cost)
{
	struct projected p;
	struct error err;
	if (projected_get(c, &p, &err))
		return;
	double tokens = op_dim_number(p.t.n) * op_dim_number(p.t.query_length);
	cost->flops = projection_flops(c, &p, tokens) + tokens * op_dim_number(p.all) + attention_flops(&p.t);
	cost->bytes = op_bytes_all(c);
}

/* Packed sequences: tokens x width. */
RULE_SHAPE(op_packed_attention)
{
	struct projected p;
	if (projected_get(c, &p, err))
		return -1;
	c->outputs[0].shape =
		op_shape_of(c->arena, 2, (struct dim[]){ op_dim_at(&c->inputs[0], 2, 0), p.width[2] });
	return 0;
}

/* ---- MultiHeadAttention, DecoderMaskedMultiHeadAttention */

/* Dimensions n, heads, length, size of keys or values: n x length x all, or n x heads x length x size (the
 * cache of another layer). */
static int heads_split(const struct op_call *c, const struct op_value *v, struct dim heads, struct dim at[4],
	struct error *err)
{
	for (int i = 0; i < 4; i++)
		at[i] = op_dim_at(v, 4, i);
	if (op_rank(v) == 3) {
		at[0] = v->shape.dims[0];
		at[1] = heads;
		at[2] = v->shape.dims[1];
		return attention_part(c, v->shape.dims[2], heads, "heads", &at[3], err);
	}
	return op_rank(v) >= 0 && op_rank(v) != 4 ? op_fail(c, err, "keys or values of rank %d", op_rank(v))
						  : 0;
}

/* Queries of rank 5 hold queries, keys and values (n x length x heads x 3 x size), as do those of rank 3 of
 * the decoder's operator without keys; keys of rank 5 hold values, too. */
static int heads_sizes(const struct op_call *c, struct attention *t, struct error *err)
{
	const struct op_value *q = &c->inputs[0], *k = op_in(c, 1), *v = op_in(c, 2);
	struct dim keys[4], values[4], whole = op_dim_at(q, 3, 2);
	if (op_rank(q) >= 0 && op_rank(q) != 3 && op_rank(q) != 5)
		return op_fail(c, err, "queries of rank %d, not 3 or 5", op_rank(q));
	t->n = op_rank(q) == 5 ? q->shape.dims[0] : op_dim_at(q, 3, 0);
	t->query_length = t->key_length = op_rank(q) == 5 ? q->shape.dims[1] : op_dim_at(q, 3, 1);
	if (op_rank(q) == 5 && (k || v))
		return op_fail(c, err, "queries of rank 5 hold keys and values, which are given, too");
	if (op_rank(q) == 5) {
		t->head_size = t->value_size = q->shape.dims[4];
		return 0;
	}
	if (!k && attention_part(c, whole, dim_known(3), "of queries, keys and values", &whole, err))
		return -1;
	if (attention_part(c, whole, t->heads, "heads", &t->head_size, err))
		return -1;
	t->value_size = t->head_size;
	if (!k)
		return 0;
	if (op_rank(k) == 5) {
		t->key_length = k->shape.dims[1];
		if (v || !op_dim_merge(t->n, k->shape.dims[0], &t->n))
			return op_fail(c, err, "keys and values %s of another batch, or with values beside",
				shape_text(c->arena, k->shape));
		return 0;
	}
	if (heads_split(c, k, t->heads, keys, err) || heads_split(c, v, t->heads, values, err))
		return -1;
	t->value_size = values[3];
	if (!op_dim_merge(t->n, keys[0], &t->n) || !op_dim_merge(t->n, values[0], &t->n) ||
		!op_dim_merge(keys[2], values[2], &t->key_length) ||
		!op_dim_merge(t->head_size, keys[3], &t->head_size))
		return op_fail(c, err, "queries %s and keys %s do not fit", shape_text(c->arena, q->shape),
			shape_text(c->arena, k->shape));
	return 0;
}

static int heads_get(const struct op_call *c, struct attention *t, struct error *err)
{
	const struct places *at = places_of(c);
	*t = attention_none();
	if (attention_heads(c, "num_heads", &t->heads, err) || heads_sizes(c, t, err))
		return -1;
	t->kv_heads = t->heads;
	t->causal = node_int(c->node, "unidirectional", 0) != 0;
	cache_get(c, at, op_dim_at(op_in(c, at->past_key), 4, 2), t);
	return 0;
}

static int ms_heads_shape(struct op_call *c, struct error *err)
{
	struct attention t;
	if (heads_get(c, &t, err))
		return -1;
	const struct op_value *past = op_in(c, places_of(c)->past_key);
	c->outputs[0].shape = op_shape_of(
		c->arena, 3, (struct dim[]){ t.n, t.query_length, dim_mul(c->arena, t.heads, t.value_size) });
	for (int i = 1; i < 3 && i < c->output_count; i++)
		c->outputs[i].shape =
			attention_shape(c, t.n, t.heads, t.shared && past ? op_dim_at(past, 4, 2) : t.total,
				i == 1 ? t.head_size : t.value_size);
	if (c->output_count > 3) {
		c->outputs[3].dtype = DTYPE_UNKNOWN; /* any float type that the model declares */
		c->outputs[3].shape = attention_shape(c, t.n, t.heads, t.query_length, t.total);
	}
	return 0;
}

static double bias_flops(const struct op_call *c, const struct attention *t)
{
	double heads = op_dim_number(t->heads), d = op_dim_number(t->head_size);
	double q = op_dim_number(t->query_length) * d;
	double kv = op_dim_number(t->key_length) * (d + op_dim_number(t->value_size));
	return input_at(c, places_of(c)->bias) ? op_dim_number(t->n) * heads * (q + kv) : 0;
}

static void ms_heads_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct places *at = places_of(c);
	struct attention t;
	struct error err;
	if (heads_get(c, &t, &err))
		return;
	cost->flops = attention_flops(&t) + bias_flops(c, &t);
	cost->bytes = op_bytes_but(c, 1u << at->past_key | 1u << at->past_value | 1u << at->past_length,
			      1u << 1 | 1u << 2) +
		      attention_cache_bytes(&t, c->inputs[0].dtype, op_out(c, 1) != NULL);
}

static void ms_heads_problem(const struct op_call *c, struct op_problem *out)
{
	struct attention t;
	struct error err;
	if (heads_get(c, &t, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	struct op_value q = as_operand(c, &c->inputs[0]), k = as_operand(c, op_in(c, 1)),
			v = as_operand(c, op_in(c, 2));
	bool proxy = !op_in(c, 2);
	for (int i = 3; i < c->input_count; i++)
		proxy |= op_in(c, i) != NULL;
	for (int i = 1; i < c->output_count; i++)
		proxy |= op_out(c, i) != NULL;
	attention_problem(c, &t, (const struct op_value *[]){ &q, &k, &v }, proxy, out);
}

/* ---- GroupQueryAttention */

/* Widths of queries, keys and values, which without keys are all in input 0; size of a head. */
static int group_sizes(const struct op_call *c, struct attention *t, struct dim *queries, struct error *err)
{
	const struct op_value *q = &c->inputs[0], *k = op_in(c, 1);
	struct dim parts = t->heads;
	if (!k)
		parts = dim_add(c->arena, t->heads, dim_mul(c->arena, dim_known(2), t->kv_heads));
	if (op_rank(q) >= 0 && op_rank(q) != 3)
		return op_fail(c, err, "queries of rank %d, not 3", op_rank(q));
	if (attention_part(c, op_dim_at(q, 3, 2), parts, "heads", &t->head_size, err))
		return -1;
	t->n = op_dim_at(q, 3, 0);
	t->query_length = op_dim_at(q, 3, 1);
	t->key_length = k ? op_dim_at(k, 3, 1) : t->query_length;
	*queries = dim_mul(c->arena, t->heads, t->head_size);
	struct dim size;
	if (k && op_rank(k) == 3 &&
		(attention_part(c, op_dim_at(k, 3, 2), t->kv_heads, "heads", &size, err) ||
			(!op_dim_merge(t->head_size, size, &t->head_size) &&
				op_fail(c, err, "queries %s and keys %s do not fit",
					shape_text(c->arena, q->shape), shape_text(c->arena, k->shape)))))
		return -1;
	t->value_size = t->head_size;
	return 0;
}

/* The length of the cache afterwards: its buffer, or all keys if those are more. */
static struct dim group_present(
	const struct op_call *c, const struct attention *t, const struct op_value *past)
{
	struct dim before = op_dim_at(past, 4, 2);
	if (!past)
		return t->total;
	if (node_int(c->node, "sliding_window_cache", 0) != 0)
		return before;
	struct dim most = dim_add(c->arena, before, t->key_length);
	if (t->total.kind == DIM_UNKNOWN)
		return most.kind == DIM_KNOWN ? dim_unknown_upto(most.value) : dim_unknown();
	return dim_max(c->arena, before, t->total);
}

/* A present longer than the past holds exactly all keys. */
static struct dim group_longer(const struct op_call *c, const struct op_value *past)
{
	struct dim before = op_dim_at(past, 4, 2), after = op_dim_at(op_out(c, 1), 4, 2);
	bool longer = before.kind == DIM_KNOWN && after.kind == DIM_KNOWN && after.value > before.value;
	return longer ? after : dim_unknown();
}

/* Checks that the total equals past plus new keys for a growing cache, or fits a cache that does not grow. */
static int group_total_fits(
	const struct op_call *c, const struct attention *t, struct dim before, struct error *err)
{
	struct dim grown = dim_add(c->arena, before, t->key_length);
	bool known = t->total.kind == DIM_KNOWN && grown.kind == DIM_KNOWN && before.kind == DIM_KNOWN;
	bool fits = !known || t->total.value == grown.value ||
		    (t->total.value <= before.value && t->total.value >= t->key_length.value);
	if (fits || node_int(c->node, "sliding_window_cache", 0) != 0)
		return 0;
	return op_fail(c, err, "total_sequence_length is %lld with %lld past and %lld new keys",
		(long long)t->total.value, (long long)before.value, (long long)t->key_length.value);
}

/* total_sequence_length (input 6) is the number of keys; without a past they are the new ones. */
static int group_get(const struct op_call *c, struct attention *t, struct dim *width, struct error *err)
{
	const struct op_value *past = op_in(c, 3);
	*t = attention_none();
	if (attention_heads(c, "num_heads", &t->heads, err) ||
		attention_heads(c, "kv_num_heads", &t->kv_heads, err) || group_sizes(c, t, width, err))
		return -1;
	if (t->heads.value % t->kv_heads.value)
		return op_fail(c, err, "%lld heads of queries for %lld of keys", (long long)t->heads.value,
			(long long)t->kv_heads.value);
	if (op_rank(past) >= 0 && op_rank(past) != 4)
		return op_fail(c, err, "past keys of rank %d, not 4", op_rank(past));
	if (attention_caches(c, 3, 1, t->kv_heads, err))
		return -1;
	t->total = op_dim_get(c, 6);
	if (t->total.kind == DIM_UNKNOWN)
		t->total = past ? group_longer(c, past) : t->key_length;
	if (group_total_fits(c, t, past ? op_dim_at(past, 4, 2) : dim_known(0), err))
		return -1;
	t->past = dim_sub(c->arena, t->total, t->key_length);
	t->offset = dim_sub(c->arena, t->total, t->query_length);
	t->causal = node_int(c->node, "causal", 1) != 0;
	t->shared = past && dim_same(group_present(c, t, past), op_dim_at(past, 4, 2));
	int64_t window = node_int(c->node, "local_window_size", -1);
	t->left = window > 0 ? window - 1 : -1;
	t->extra = (op_in(c, 10) ? 1 : 0) + (node_float(c->node, "softcap", 0) > 0 ? 3 : 0);
	return 0;
}

static int ms_group_shape(struct op_call *c, struct error *err)
{
	const struct op_value *past = op_in(c, 3);
	struct attention t;
	struct dim width;
	if (group_get(c, &t, &width, err))
		return -1;
	c->outputs[0].shape = op_shape_of(c->arena, 3, (struct dim[]){ t.n, t.query_length, width });
	for (int i = 1; i < 3 && i < c->output_count; i++) {
		const struct op_value *cache = op_in(c, i + 2);
		if (cache)
			c->outputs[i].dtype = cache->dtype;
		c->outputs[i].shape = attention_shape(c, t.n, t.kv_heads, group_present(c, &t, past),
			cache ? op_dim_at(cache, 4, 3) : t.head_size);
	}
	if (c->output_count > 3)
		c->outputs[3].shape = attention_shape(c, t.n, t.heads, t.query_length, t.total);
	return 0;
}

/* A rotation is two multiplications and an addition per element, a norm of each head 4 operations. One row of
 * the tables of angles is read per token. */
static void ms_group_cost(const struct op_call *c, struct op_cost *cost)
{
	struct attention t;
	struct dim width;
	struct error err;
	if (group_get(c, &t, &width, &err))
		return;
	double tokens = op_dim_number(t.n) * op_dim_number(t.query_length), d = op_dim_number(t.head_size);
	double turned = tokens * d * (double)(t.heads.value + t.kv_heads.value);
	bool rotates = node_int(c->node, "do_rotary", 0) != 0;
	cost->flops = attention_flops(&t) + (rotates ? 3 * turned : 0) + (op_in(c, 14) ? 4 * turned : 0);
	enum dtype cache = op_in(c, 3) ? c->inputs[3].dtype : c->inputs[0].dtype;
	cost->bytes = op_bytes_but(c, 1u << 3 | 1u << 4 | 1u << 7 | 1u << 8, 1u << 1 | 1u << 2) +
		      attention_cache_bytes(&t, cache, op_out(c, 1) != NULL);
	for (int i = 7; rotates && i < 9; i++)
		cost->bytes += op_in(c, i) ? fmin(op_bytes(op_in(c, i)),
						     dtype_bytes(c->inputs[i].dtype, tokens * d / 2))
					   : 0;
}

/* Not part of the kernel: rotation, reading or writing a cache, biases, caps, sinks, norms. */
static void ms_group_problem(const struct op_call *c, struct op_problem *out)
{
	struct attention t;
	struct dim width;
	struct error err;
	if (group_get(c, &t, &width, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	bool proxy = node_int(c->node, "do_rotary", 0) != 0 || node_float(c->node, "softcap", 0) > 0 ||
		     !op_in(c, 1) || node_int(c->node, "smooth_softmax", 0) > 0;
	for (int i = 1; i < c->output_count; i++)
		proxy |= op_out(c, i) != NULL;
	for (int i = 3; i < c->input_count; i++)
		proxy |= i != 5 && i != 6 && op_in(c, i) != NULL;
	struct op_value q = as_operand(c, &c->inputs[0]), k = as_operand(c, op_in(c, 1)),
			v = as_operand(c, op_in(c, 2));
	attention_problem(c, &t, (const struct op_value *[]){ &q, &k, &v }, proxy, out);
}

#define LARGER "measured as the projection or the attention, whichever has more arithmetic (proxy)"
#define CACHES "caches, biases, rotation and soft caps are not measured (proxy)"

static const struct op rows[] = {
	{ "Attention", "com.microsoft", 1, 0, 2, 7, CLASS_COMPUTE, ms_attention_shape, ms_attention_cost,
		op_projected_attention_problem, NULL, LARGER,
		&(const struct places){ 2, 3, 5, 4, 0, 6 } },
	{ "DecoderMaskedSelfAttention", "com.microsoft", 1, 0, 3, 9, CLASS_COMPUTE, ms_attention_shape,
		ms_attention_cost, op_projected_attention_problem, NULL, LARGER,
		&(const struct places){ 2, 3, 5, 4, 0, 6 } },
	{ "QAttention", "com.microsoft", 1, 0, 5, 9, CLASS_COMPUTE, q_attention_shape, q_attention_cost,
		op_projected_attention_problem, NULL, LARGER,
		&(const struct places){ 2, 5, 0, 8, 0, 0 } },
	{ "MultiHeadAttention", "com.microsoft", 1, 0, 1, 10, CLASS_COMPUTE, ms_heads_shape, ms_heads_cost,
		ms_heads_problem, NULL, CACHES,
		&(const struct places){ 3, 4, 5, 6, 7, 8 } },
	{ "DecoderMaskedMultiHeadAttention", "com.microsoft", 1, 0, 1, 11, CLASS_COMPUTE, ms_heads_shape,
		ms_heads_cost, ms_heads_problem, NULL, CACHES,
		&(const struct places){ 10, 3, 4, 5, 6, 7 } },
	{ "GroupQueryAttention", "com.microsoft", 1, 0, 1, 17, CLASS_COMPUTE, ms_group_shape, ms_group_cost,
		ms_group_problem, NULL, CACHES },
};
const struct op_rows op_microsoft_attention_rows = OP_ROWS(rows);
