/* Attention: heads are a dimension (rank 4) or part of the last one (rank 3), with an optional cache of
 * earlier keys and values. FlexAttention: the same with subgraphs that change scores and weights. */
#include "config.h"

#include "ops/onnx/op_attention.h"

#include <math.h>

/* ---- shared by all attention operators */

struct attention attention_none(void)
{
	struct dim no = dim_unknown();
	return (struct attention){ no, no, no, no, no, no, no, no, no, no, .left = -1, .right = -1 };
}

int attention_heads(const struct op_call *c, const char *name, struct dim *heads, struct error *err)
{
	int64_t count = node_int(c->node, name, 0);
	if (count < 1 || count > INT32_MAX)
		return op_fail(c, err, "%s is %lld", name, (long long)count);
	*heads = dim_known(count);
	return 0;
}

int attention_part(const struct op_call *c, struct dim whole, struct dim parts, const char *what,
	struct dim *part, struct error *err)
{
	if (whole.kind == DIM_KNOWN && parts.kind == DIM_KNOWN && parts.value > 0 &&
		whole.value % parts.value)
		return op_fail(c, err, "%lld numbers for %lld %s", (long long)whole.value,
			(long long)parts.value, what);
	*part = dim_floor_div(c->arena, whole, parts);
	return 0;
}

/* Sum of min(max(i + x, 0), limit) for i from 0 to count - 1. */
static double clamped_sum(double count, double x, double limit)
{
	double first = fmin(count, fmax(0, -x)), last = fmin(count, fmax(first, limit - x));
	double rising = (last - first) * (first + last - 1 + 2 * x) / 2;
	return rising + (count - last) * limit;
}

/* Number of visible pairs of query and key, for one head of one sample. */
static double attention_pairs(const struct attention *t)
{
	double q = op_dim_number(t->query_length), k = op_dim_number(t->total);
	if (!t->causal && t->left < 0 && t->right < 0)
		return q * k;
	double at = op_dim_number(t->offset), right = t->causal ? 0 : (double)t->right;
	if (isnan(q) || isnan(k) || isnan(at))
		return NAN;
	double upto = t->causal || t->right >= 0 ? clamped_sum(q, at + right + 1, k) : q * k;
	return upto - (t->left < 0 ? 0 : clamped_sum(q, at - (double)t->left, k));
}

double attention_flops(const struct attention *t)
{
	double each = 2 * op_dim_number(t->head_size) + 2 * op_dim_number(t->value_size) + 5 + t->extra;
	return op_dim_number(t->n) * op_dim_number(t->heads) * attention_pairs(t) * each;
}

double attention_cache_bytes(const struct attention *t, enum dtype type, bool written)
{
	double rows = op_dim_number(t->past);
	if (written)
		rows += op_dim_number(t->shared ? t->key_length : t->total);
	double width = op_dim_number(t->head_size) + op_dim_number(t->value_size);
	return dtype_bytes(type, op_dim_number(t->n) * op_dim_number(t->kv_heads) * rows * width);
}

struct shape attention_shape(const struct op_call *c, struct dim a, struct dim b, struct dim d, struct dim e)
{
	return op_shape_of(c->arena, 4, (struct dim[]){ a, b, d, e });
}

static bool all_known(const struct attention *t)
{
	const struct dim dims[] = { t->n, t->heads, t->kv_heads, t->query_length, t->total, t->head_size,
		t->value_size };
	for (size_t i = 0; i < sizeof(dims) / sizeof(dims[0]); i++) {
		if (dims[i].kind != DIM_KNOWN || dims[i].value < 1)
			return false;
	}
	return true;
}

void attention_problem(const struct op_call *c, const struct attention *t,
	const struct op_value *const qkv[3], bool proxy, struct op_problem *out)
{
	for (int i = 0; i < 3; i++) {
		if (!op_problem_value(c, qkv[i], out))
			return;
	}
	if (!op_problem_value(c, &c->outputs[0], out))
		return;
	if (!all_known(t)) {
		op_problem_why(out, "how many keys there are is not known");
		return;
	}
	bool window = t->left >= 0 || (t->right >= 0 && !t->causal),
	     fits = t->query_length.value <= t->total.value && t->offset.kind == DIM_KNOWN &&
		    t->offset.value == t->total.value - t->query_length.value;
	/* a single query sees all keys: no triangle */
	bool triangle = t->causal && fits && t->query_length.value > 1;
	struct problem *p = op_problem_start(out, KERNEL_ATTENTION, triangle ? MODE_CAUSAL : MODE_FULL);
	for (int i = 0; i < 3; i++)
		p->operand[i] = op_operand(qkv[i]);
	p->operand[3] = op_operand(&c->outputs[0]);
	p->accumulator = op_accumulator(c->outputs[0].dtype);
	p->n = t->n.value;
	p->heads = t->heads.value;
	p->kv_heads = t->kv_heads.value;
	p->query_length = t->query_length.value;
	p->key_length = t->total.value;
	p->head_size = t->head_size.value;
	p->value_size = t->value_size.value;
	out->proxy = proxy || window || (t->causal && !fits);
}

bool attention_projection(const struct op_call *c, int weights, int bias, struct dim columns,
	struct op_problem *out)
{
	const struct op_value *x = &c->inputs[0], *w = op_in(c, weights), *y = &c->outputs[0];
	if (!w || !op_problem_value(c, x, out) || !op_problem_value(c, w, out) ||
		!op_problem_value(c, y, out)) {
		if (!w)
			op_problem_why(out, "its weights are omitted");
		return false;
	}
	struct shape lead = { .rank = x->shape.rank - 1, .dims = x->shape.dims };
	if (!op_problem_matmul(x, w, y, shape_elements(c->arena, lead), columns,
		x->shape.dims[lead.rank], out))
		return false;
	op_problem_bias(bias ? op_in(c, bias) : NULL, out);
	if (op_is_byte(x->dtype))
		op_problem_requantize(&out->problem, y->dtype, false);
	out->proxy = true;
	return true;
}

void attention_even(const struct op_call *c, struct dim tokens, int bounds, struct attention *t)
{
	struct dim ends = op_dim_at(op_in(c, bounds), 1, 0);
	if (ends.kind != DIM_KNOWN || tokens.kind != DIM_KNOWN || ends.value < 2 ||
		tokens.value < ends.value - 1)
		return;
	t->n = dim_known(ends.value - 1);
	t->query_length = t->key_length = t->total = dim_known(tokens.value / t->n.value);
	t->offset = dim_known(0);
}

int attention_caches(const struct op_call *c, int from, int axis, struct dim heads, struct error *err)
{
	for (int i = from; i < from + 2; i++) {
		const struct op_value *cache = op_in(c, i);
		if (dim_differs(op_dim_at(cache, 4, axis), heads))
			return op_fail(c, err, "a cache of shape %s for %lld heads of keys",
				shape_text(c->arena, cache->shape), (long long)heads.value);
	}
	return 0;
}

int attention_sequences(const struct op_call *c, int bounds, struct dim *n, struct error *err)
{
	struct dim ends = op_dim_at(op_in(c, bounds), 1, 0);
	if (op_rank_is(c, bounds, 1, err))
		return -1;
	if (ends.kind == DIM_KNOWN && ends.value < 1)
		return op_fail(c, err, "the bounds of sequences are missing");
	*n = dim_sub(c->arena, ends, dim_known(1));
	return 0;
}

int attention_captures(const struct op_call *c, struct dim *captures, struct error *err)
{
	int64_t count = node_int(c->node, "state_update_capacity", 0);
	if (count < 0 || count > 8)
		return op_fail(c, err, "state_update_capacity is %lld, not from 0 to 8", (long long)count);
	*captures = dim_known(count);
	return 0;
}

struct shape attention_window(const struct op_call *c, struct shape s)
{
	int64_t window = c->op->domain[0] ? node_int(c->node, "state_window", 0) : 0;
	if (window <= 0)
		return s;
	struct shape behind = shape_make(c->arena, s.rank + 1);
	behind.dims[0] = dim_known(window);
	for (int i = 0; i < s.rank; i++)
		behind.dims[1 + i] = s.dims[i];
	return behind;
}

/* ---- Attention, FlexAttention */

/* The dimensions n, heads, length, size of a tensor whose heads may be in the last dimension. */
static int attention_split(
	const struct op_call *c, int input, const char *attribute, struct dim at[4], struct error *err)
{
	struct shape s = c->inputs[input].shape;
	for (int i = 0; i < 4; i++)
		at[i] = s.rank == 4 ? s.dims[i] : dim_unknown();
	if (s.rank < 0 || s.rank == 4)
		return 0;
	if (s.rank != 3)
		return op_fail(c, err, "input %d has rank %d, not 3 or 4", input, s.rank);
	at[0] = s.dims[0];
	at[2] = s.dims[1];
	return attention_heads(c, attribute, &at[1], err) ||
			       attention_part(c, s.dims[2], at[1], "heads", &at[3], err)
		       ? -1
		       : 0;
}

/* Position of the first query: the length of the cache; with lengths per sample (input 6), their value if
 * they are known and equal. */
static struct dim attention_offset(const struct op_call *c, const struct attention *t)
{
	const struct op_value *lengths = op_in(c, 6);
	if (!lengths || op_in(c, 4))
		return t->past;
	const struct elements *e = lengths->elements;
	for (int i = 0; e && e->i && i < e->count; i++) {
		if (!dim_same(e->i[i], e->i[0]))
			return dim_unknown();
	}
	return e && e->i && e->count ? dim_sub(c->arena, e->i[0], t->query_length) : dim_unknown();
}

static int attention_get(const struct op_call *c, struct attention *t, struct error *err)
{
	struct dim q[4], k[4], v[4];
	if (attention_split(c, 0, "q_num_heads", q, err) || attention_split(c, 1, "kv_num_heads", k, err) ||
		attention_split(c, 2, "kv_num_heads", v, err))
		return -1;
	*t = attention_none();
	t->heads = q[1];
	t->query_length = q[2];
	t->value_size = v[3];
	if (!op_dim_merge(q[0], k[0], &t->n) || !op_dim_merge(t->n, v[0], &t->n) ||
		!op_dim_merge(k[1], v[1], &t->kv_heads) || !op_dim_merge(k[2], v[2], &t->key_length) ||
		!op_dim_merge(q[3], k[3], &t->head_size))
		return op_fail(c, err, "queries %s, keys %s and values %s do not fit",
			shape_text(c->arena, c->inputs[0].shape), shape_text(c->arena, c->inputs[1].shape),
			shape_text(c->arena, c->inputs[2].shape));
	if (t->heads.kind == DIM_KNOWN && t->kv_heads.kind == DIM_KNOWN &&
		(t->kv_heads.value < 1 || t->heads.value % t->kv_heads.value))
		return op_fail(c, err, "%lld heads of queries for %lld of keys", (long long)t->heads.value,
			(long long)t->kv_heads.value);
	const struct op_value *past = op_in(c, 4);
	if (past && past->shape.rank >= 0 && past->shape.rank != 4)
		return op_fail(c, err, "past keys of rank %d, not 4", past->shape.rank);
	t->past = !past ? dim_known(0) : past->shape.rank == 4 ? past->shape.dims[2] : dim_unknown();
	t->total = dim_add(c->arena, t->past, t->key_length);
	t->offset = attention_offset(c, t);
	t->causal = node_int(c->node, "is_causal", 0) != 0;
	t->left = node_int(c->node, "left_window_size", -1);
	t->right = node_int(c->node, "right_window_size", -1);
	t->extra = (op_in(c, 3) ? 1 : 0) + (node_float(c->node, "softcap", 0) > 0 ? 3 : 0);
	return 0;
}

RULE_SHAPE(op_attention)
{
	struct attention t;
	int rank = c->inputs[0].shape.rank;
	if (attention_get(c, &t, err))
		return -1;
	if (rank == 4) {
		c->outputs[0].shape = attention_shape(c, t.n, t.heads, t.query_length, t.value_size);
	} else if (rank == 3) {
		c->outputs[0].shape = shape_make(c->arena, 3);
		c->outputs[0].shape.dims[0] = t.n;
		c->outputs[0].shape.dims[1] = t.query_length;
		c->outputs[0].shape.dims[2] = dim_mul(c->arena, t.heads, t.value_size);
	}
	for (int i = 1; i < 3 && i < c->output_count; i++) {
		c->outputs[i].dtype = c->inputs[i].dtype;
		c->outputs[i].shape =
			attention_shape(c, t.n, t.kv_heads, t.total, i == 1 ? t.head_size : t.value_size);
	}
	if (c->output_count > 3)
		c->outputs[3].shape = attention_shape(c, t.n, t.heads, t.query_length, t.total);
	return 0;
}

/* Adds a mask; divides, tanh and multiplies for a soft cap. The operations of FlexAttention's subgraphs are
 * not counted. */
RULE_COST(op_attention)
{
	struct attention t;
	struct error err;
	if (attention_get(c, &t, &err))
		return;
	bool bodies = node_attribute(c->node, "score_mod") || node_attribute(c->node, "prob_mod");
	cost->flops = bodies ? NAN : attention_flops(&t);
	cost->bytes = op_bytes_all(c);
}

bool op_problem_mask(struct shape mask, struct problem *p)
{
	const int64_t scores[] = { p->n, p->heads, p->query_length, p->key_length };
	if (p->mode != MODE_FULL || mask.rank > 4 || !shape_is_known(mask))
		return false;
	struct problem_shape s = op_problem_shape_of_rank(mask, 4);
	for (int i = 0; i < 4; i++)
		if (s.dim[i] != 1 && s.dim[i] != scores[i])
			return false;
	p->shape[0] = s;
	p->shape_count = 1;
	p->mode = MODE_MASKED;
	return true;
}

/* Adds the operator's mask. A boolean one counts as one of the queries' type. */
static bool add_mask(const struct op_value *mask, struct problem *p)
{
	return (mask->dtype == DTYPE_BOOL || mask->dtype == p->operand[0].dtype) &&
		op_problem_mask(mask->shape, p);
}

/* True for a mask that hides from each query the keys behind it, and nothing else. */
static bool is_causal_mask(const struct op_value *mask, const struct attention *t)
{
	const struct shape *s = &mask->shape;
	if (s->rank < 2 || !dim_same(s->dims[s->rank - 2], t->query_length) ||
		!dim_same(s->dims[s->rank - 1], t->total))
		return false;
	return op_triangle(mask) == (mask->dtype == DTYPE_BOOL ? TRIANGLE_SEEN : TRIANGLE_ADDED);
}

/* Causal attention with a mask, caps, subgraphs, caches and further outputs are not part of the kernel, which
 * is then a proxy. */
RULE_PROBLEM(op_attention)
{
	struct attention t;
	struct error err;
	if (attention_get(c, &t, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	bool proxy = node_float(c->node, "softcap", 0) > 0 || node_attribute(c->node, "score_mod") ||
		     node_attribute(c->node, "prob_mod");
	for (int i = 4; i < c->input_count; i++)
		proxy |= op_in(c, i) != NULL;
	for (int i = 1; i < c->output_count; i++)
		proxy |= op_out(c, i) != NULL;
	const struct op_value *qkv[3] = { &c->inputs[0], &c->inputs[1], &c->inputs[2] }, *mask = op_in(c, 3);
	if (mask && is_causal_mask(mask, &t)) {
		t.causal = true;
		t.offset = dim_sub(c->arena, t.total, t.query_length);
		mask = NULL;
	}
	attention_problem(c, &t, qkv, proxy, out);
	if (mask && out->known)
		out->proxy |= !add_mask(mask, &out->problem);
}

#define MASKED "a past, a soft cap, or a mask of causal attention are not measured (proxy)"

static const struct op rows[] = {
	{ "Attention", "", 23, 23, 3, 6, CLASS_COMPUTE, op_attention_shape, op_attention_cost,
		op_attention_problem, NULL, MASKED },
	{ "Attention", "", 24, 0, 3, 7, CLASS_COMPUTE, op_attention_shape, op_attention_cost,
		op_attention_problem, NULL, MASKED },
};
const struct op_rows op_attention_rows = OP_ROWS(rows);
