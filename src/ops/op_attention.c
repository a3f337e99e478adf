/* Attention: softmax(scale q k' + mask) v for every head, with the heads as a dimension of their own (rank 4) or
 * inside the last (rank 3), and a cache of earlier keys and values in front. */
#include "config.h"

#include "ops/op_rules.h"

#include <math.h>

/* What the shapes say; unknown where they do not. */
struct attention {
	struct dim n, heads, kv_heads, query_length, key_length, head_size, value_size;
	struct dim past, total; /* keys of the cache, and all */
};

/* Rank 4 of a tensor that may hold its heads in the last dimension: n, heads, length, size. */
static int attention_split(const struct op_call *c, int input, const char *attribute, struct dim at[4], struct error *err)
{
	struct shape s = c->inputs[input].shape;
	int64_t heads = node_int(c->node, attribute, 0);
	for (int i = 0; i < 4; i++)
		at[i] = s.rank == 4 ? s.dims[i] : dim_unknown();
	if (s.rank < 0 || s.rank == 4)
		return 0;
	if (s.rank != 3)
		return op_fail(c, err, "input %d has rank %d, not 3 or 4", input, s.rank);
	if (heads < 1 || heads > INT32_MAX)
		return op_fail(c, err, "%s is %lld", attribute, (long long)heads);
	if (s.dims[2].kind == DIM_KNOWN && s.dims[2].value % heads)
		return op_fail(c, err, "%lld numbers for %lld heads", (long long)s.dims[2].value, (long long)heads);
	at[0] = s.dims[0];
	at[1] = dim_known(heads);
	at[2] = s.dims[1];
	at[3] = dim_floor_div(c->arena, s.dims[2], dim_known(heads));
	return 0;
}

static int attention_get(const struct op_call *c, struct attention *t, struct error *err)
{
	struct dim q[4], k[4], v[4];
	if (attention_split(c, 0, "q_num_heads", q, err) || attention_split(c, 1, "kv_num_heads", k, err) ||
		attention_split(c, 2, "kv_num_heads", v, err))
		return -1;
	*t = (struct attention){ .heads = q[1], .query_length = q[2], .value_size = v[3] };
	if (!op_dim_merge(q[0], k[0], &t->n) || !op_dim_merge(t->n, v[0], &t->n) ||
		!op_dim_merge(k[1], v[1], &t->kv_heads) || !op_dim_merge(k[2], v[2], &t->key_length) ||
		!op_dim_merge(q[3], k[3], &t->head_size))
		return op_fail(c, err, "queries %s, keys %s and values %s do not fit", shape_text(c->arena, c->inputs[0].shape),
			shape_text(c->arena, c->inputs[1].shape), shape_text(c->arena, c->inputs[2].shape));
	if (t->heads.kind == DIM_KNOWN && t->kv_heads.kind == DIM_KNOWN &&
		(t->kv_heads.value < 1 || t->heads.value % t->kv_heads.value))
		return op_fail(c, err, "%lld heads of queries for %lld of keys", (long long)t->heads.value,
			(long long)t->kv_heads.value);
	const struct op_value *past = op_in(c, 4);
	if (past && past->shape.rank >= 0 && past->shape.rank != 4)
		return op_fail(c, err, "past keys of rank %d, not 4", past->shape.rank);
	t->past = !past ? dim_known(0) : past->shape.rank == 4 ? past->shape.dims[2] : dim_unknown();
	t->total = dim_add(c->arena, t->past, t->key_length);
	return 0;
}

static struct shape shape_of_four(const struct op_call *c, struct dim a, struct dim b, struct dim d, struct dim e)
{
	struct shape s = shape_make(c->arena, 4);
	s.dims[0] = a;
	s.dims[1] = b;
	s.dims[2] = d;
	s.dims[3] = e;
	return s;
}

RULE_SHAPE(op_attention)
{
	struct attention t;
	int rank = c->inputs[0].shape.rank;
	if (attention_get(c, &t, err))
		return -1;
	if (rank == 4) {
		c->outputs[0].shape = shape_of_four(c, t.n, t.heads, t.query_length, t.value_size);
	} else if (rank == 3) {
		c->outputs[0].shape = shape_make(c->arena, 3);
		c->outputs[0].shape.dims[0] = t.n;
		c->outputs[0].shape.dims[1] = t.query_length;
		c->outputs[0].shape.dims[2] = dim_mul(c->arena, t.heads, t.value_size);
	}
	for (int i = 1; i < 3 && i < c->output_count; i++) {
		c->outputs[i].dtype = c->inputs[i].dtype;
		c->outputs[i].shape = shape_of_four(c, t.n, t.kv_heads, t.total, i == 1 ? t.head_size : t.value_size);
	}
	if (c->output_count > 3)
		c->outputs[3].shape = shape_of_four(c, t.n, t.heads, t.query_length, t.total);
	return 0;
}

static double dim_number(struct dim d)
{
	return d.kind == DIM_KNOWN ? (double)d.value : NAN;
}

static bool attention_is_causal(const struct op_call *c)
{
	return node_int(c->node, "is_causal", 0) != 0;
}

/* Query i sees the cache and the keys up to i: what a triangle from the upper left leaves. */
static double attention_pairs(const struct op_call *c, const struct attention *t)
{
	double q = dim_number(t->query_length), k = dim_number(t->key_length), past = dim_number(t->past);
	if (!attention_is_causal(c))
		return q * (past + k);
	return q * past + (q <= k ? q * (q + 1) / 2 : k * (k + 1) / 2 + (q - k) * k);
}

/* Two products and a softmax of 5 for each pair that is seen, a mask's addition, a soft cap's division, tanh and
 * product. */
RULE_COST(op_attention)
{
	struct attention t;
	struct error err;
	if (attention_get(c, &t, &err))
		return;
	double each = 2 * dim_number(t.head_size) + 2 * dim_number(t.value_size) + 5;
	each += (op_in(c, 3) ? 1 : 0) + (node_float(c->node, "softcap", 0) > 0 ? 3 : 0);
	cost->flops = dim_number(t.n) * dim_number(t.heads) * attention_pairs(c, &t) * each;
	cost->bytes = op_bytes_all(c);
}

/* A triangle over as many new keys as queries is one from the lower right of all keys: the kernel's. Masks, caps, caches
 * and outputs beside the first are not in the kernel: it stands in. */
RULE_PROBLEM(op_attention)
{
	struct attention t;
	struct error err;
	if (!op_problem_ready(c, out))
		return;
	if (attention_get(c, &t, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	bool causal = attention_is_causal(c), square = dim_same(t.query_length, t.key_length);
	struct problem *p = op_problem_start(out, KERNEL_ATTENTION, causal && square ? MODE_CAUSAL : MODE_FULL);
	for (int i = 0; i < 3; i++)
		p->operand[i] = op_operand(&c->inputs[i]);
	p->operand[3] = op_operand(&c->outputs[0]);
	p->accumulator = op_accumulator(c->outputs[0].dtype);
	p->n = t.n.value;
	p->heads = t.heads.value;
	p->kv_heads = t.kv_heads.value;
	p->query_length = t.query_length.value;
	p->key_length = t.total.value;
	p->head_size = t.head_size.value;
	p->value_size = t.value_size.value;
	out->proxy = (causal && !square) || node_float(c->node, "softcap", 0) > 0;
	for (int i = 3; i < c->input_count; i++)
		out->proxy |= op_in(c, i) != NULL;
	for (int i = 1; i < c->output_count; i++)
		out->proxy |= op_out(c, i) != NULL;
}
