/* Operators that select the tokens of a sparse attention: SparseAttentionIndexer, and
 * PackedSparseAttentionIndexer for packed sequences. With policy `qsa` whole blocks of tokens are scored by
 * their mean key, and the result is tokens; with `csa` each key stands for compress_ratio tokens, and the
 * result is such entries. Sources: the schemas and the runtime's shape inference. */
#include "config.h"

#include "ops/onnx/op_attention.h"

#include <math.h>

/* Input indexes: of both; of the first; of the packed one. */
enum { INDEXER_GATES = 8, INDEXER_BUFFER = 13 };
enum { ONE_KEYS = 7, ONE_FILLED = 12 };
enum { PACKED_BOUNDS = 6, PACKED_KEYS = 12, PACKED_GATES = 14, PACKED_LENGTHS = 15 };

struct indexer {
	bool packed, blocks; /* blocks: policy qsa */
	int64_t ratio, chosen;
	struct dim n, length;              /* sequences; tokens of each (packed: all tokens) */
	struct dim heads, size, waiting;   /* query heads; head size; tokens not yet compressed */
	struct dim past, present, entries; /* rows of the state before and after; candidates to select from */
};

static int indexer_attribute(const struct op_call *c, const char *name, int64_t *value, struct error *err)
{
	*value = node_int(c->node, name, 0);
	return *value < 1 || *value > INT32_MAX / 4 ?
		op_fail(c, err, "%s is %lld", name, (long long)*value) : 0;
}

static int indexer_policy(const struct op_call *c, struct indexer *x, struct error *err)
{
	struct text policy = node_string(c->node, "policy_mode", "");
	x->blocks = text_is(policy, "qsa");
	if (!x->blocks && !text_is(policy, "csa"))
		return op_fail(c, err, "policy_mode is neither qsa nor csa");
	if (indexer_attribute(c, "compress_ratio", &x->ratio, err) ||
		indexer_attribute(c, x->blocks ? "token_budget" : "index_topk", &x->chosen, err))
		return -1;
	if (!x->blocks)
		return 0;
	if (x->chosen % x->ratio)
		return op_fail(c, err, "token_budget %lld in blocks of %lld", (long long)x->chosen,
			(long long)x->ratio);
	x->chosen += x->ratio - 1; /* and tokens that are not a whole block yet */
	return 0;
}

/* The head size, from both norms and the past keys. */
static int indexer_size(const struct op_call *c, struct indexer *x, struct error *err)
{
	int keys = x->packed ? PACKED_KEYS : ONE_KEYS;
	x->size = op_dim_at(op_in(c, 2), 1, 0);
	if (op_rank_is(c, 2, 1, err) || op_rank_is(c, 3, 1, err) || op_rank_is(c, keys, 3, err))
		return -1;
	if (!op_dim_merge(x->size, op_dim_at(op_in(c, 3), 1, 0), &x->size) ||
		!op_dim_merge(x->size, op_dim_at(op_in(c, keys), 3, 2), &x->size))
		return op_fail(c, err, "norms and past keys have heads of another size");
	return x->size.kind == DIM_KNOWN && x->size.value < 1 ? op_fail(c, err, "the head size is 0") : 0;
}

/* Without keys the last head of the queries is the key (qsa). */
static int indexer_queries(const struct op_call *c, struct indexer *x, struct error *err)
{
	int rank = x->packed ? 2 : 3;
	const struct op_value *q = &c->inputs[0], *k = op_in(c, 1);
	struct dim heads, wide = dim_mul(c->arena, x->size, dim_known(x->blocks ? 1 : 2)), ignored;
	if (op_rank_is(c, 0, rank, err) || op_rank_is(c, 1, rank, err) ||
		attention_part(c, op_dim_at(q, rank, rank - 1), x->size, "numbers a head", &heads, err))
		return -1;
	if (!k && !x->blocks)
		return op_fail(c, err, "keys are missing");
	x->heads = k ? heads : dim_sub(c->arena, heads, dim_known(1));
	if (!op_dim_merge(wide, op_dim_at(k, rank, rank - 1), &ignored))
		return op_fail(c, err, "keys of shape %s for heads of %lld", shape_text(c->arena, k->shape),
			(long long)x->size.value);
	for (int i = 0; i < rank - 1; i++) {
		struct dim *d = i == rank - 2 ? &x->length : &x->n;
		if (!op_dim_merge(op_dim_at(q, rank, i), op_dim_at(k, rank, i), d))
			return op_fail(c, err, "queries %s and keys %s do not fit",
				shape_text(c->arena, q->shape), shape_text(c->arena, k->shape));
	}
	return 0;
}

/* Entries that a call completes (csa), and pending tokens after it: the last whole window and an incomplete
 * one. */
static void indexer_windows(const struct indexer *x, struct dim *made, struct dim *waits)
{
	*made = dim_unknown();
	*waits = dim_unknown_upto(2 * x->ratio - 1);
	if (x->waiting.kind != DIM_KNOWN || x->length.kind != DIM_KNOWN || x->length.value > INT64_MAX / 4 ||
		x->waiting.value > INT64_MAX / 4)
		return;
	bool whole = x->waiting.value >= x->ratio;
	int64_t open = x->waiting.value - (whole ? x->ratio : 0) + x->length.value;
	*made = dim_known(open / x->ratio);
	*waits = dim_known(open % x->ratio + (whole || open >= x->ratio ? x->ratio : 0));
}

/* The state grows by what a call adds, unless it is one buffer that is partly filled. */
static int indexer_state(const struct op_call *c, struct indexer *x, struct error *err)
{
	const struct op_value *keys = op_in(c, ONE_KEYS), *buffer = op_in(c, INDEXER_BUFFER);
	if (!keys)
		return op_fail(c, err, "past keys are missing");
	if (!x->blocks && !buffer)
		return op_fail(c, err, "the input of tokens not yet compressed is missing");
	if (op_rank_is(c, INDEXER_BUFFER, 4, err))
		return -1;
	x->waiting = op_dim_at(buffer, 4, 2);
	if (!x->blocks && x->waiting.kind == DIM_KNOWN && x->waiting.value >= 2 * x->ratio)
		return op_fail(c, err, "%lld tokens wait, of less than %lld", (long long)x->waiting.value,
			(long long)(2 * x->ratio));
	struct dim made, waits;
	indexer_windows(x, &made, &waits);
	x->past = op_dim_at(keys, 3, 1);
	x->present = op_in(c, ONE_FILLED) ? x->past
					      : dim_add(c->arena, x->past, x->blocks ? x->length : made);
	x->entries = x->blocks ? dim_floor_div(c->arena, x->present, dim_known(x->ratio)) : x->present;
	return 0;
}

static int packed_state(const struct op_call *c, struct indexer *x, struct error *err)
{
	int64_t capacity;
	const struct op_value *keys = op_in(c, PACKED_KEYS), *buffer = op_in(c, INDEXER_BUFFER);
	if (indexer_attribute(c, "state_capacity", &capacity, err) || op_rank_is(c, INDEXER_BUFFER, 3, err))
		return -1;
	if (!keys || !buffer || !op_in(c, PACKED_LENGTHS))
		return op_fail(c, err, "the state is missing");
	struct dim waits = dim_known(2 * x->ratio - 1);
	struct dim wide = dim_mul(c->arena, x->size, dim_known(x->blocks ? 1 : 2));
	if (!op_dim_merge(dim_known(capacity), op_dim_at(keys, 3, 1), &x->present) ||
		!op_dim_merge(waits, op_dim_at(buffer, 3, 1), &waits) ||
		!op_dim_merge(wide, op_dim_at(buffer, 3, 2), &wide))
		return op_fail(c, err, "keys %s and pending tokens %s do not fit the attributes",
			shape_text(c->arena, keys->shape), shape_text(c->arena, buffer->shape));
	x->past = x->entries = x->present;
	if (attention_sequences(c, PACKED_BOUNDS, &x->n, err))
		return -1;
	if (!op_dim_merge(x->n, op_dim_at(keys, 3, 0), &x->n))
		return op_fail(c, err, "bounds of %lld sequences, and a state %s", (long long)x->n.value,
			shape_text(c->arena, keys->shape));
	return 0;
}

static int indexer_get(const struct op_call *c, struct indexer *x, struct error *err)
{
	*x = (struct indexer){ .packed = text_is(text_of(c->op->name), "PackedSparseAttentionIndexer") };
	if (indexer_policy(c, x, err) || indexer_size(c, x, err) || indexer_queries(c, x, err))
		return -1;
	if (x->blocks && op_in(c, INDEXER_GATES))
		return op_fail(c, err, "gates are not allowed with policy_mode qsa");
	return x->packed ? packed_state(c, x, err) : indexer_state(c, x, err);
}

/* ---- rules */

static RULE_SHAPE(indexer)
{
	struct indexer x;
	struct dim made, waits;
	if (indexer_get(c, &x, err))
		return -1;
	c->outputs[0].dtype = DTYPE_S32;
	c->outputs[0].shape =
		op_shape_of(c->arena, 3, (struct dim[]){ x.n, x.length, dim_known(x.chosen) });
	if (c->output_count > 1)
		c->outputs[1].shape = op_shape_of(c->arena, 3, (struct dim[]){ x.n, x.present, x.size });
	if (c->output_count < 3 || x.blocks)
		return 0;
	indexer_windows(&x, &made, &waits);
	c->outputs[2].shape =
		attention_shape(c, dim_known(2), x.n, waits, dim_mul(c->arena, dim_known(2), x.size));
	return 0;
}

/* Outputs 2 to 5 have the shapes of their state inputs. */
static RULE_SHAPE(packed_indexer)
{
	static const int from[] = { [2] = PACKED_KEYS, INDEXER_BUFFER, PACKED_GATES, PACKED_LENGTHS };
	struct indexer x;
	struct dim captured;
	if (indexer_get(c, &x, err) || attention_captures(c, &captured, err))
		return -1;
	c->outputs[0].shape = op_shape_of(c->arena, 2, (struct dim[]){ x.length, dim_known(x.chosen) });
	c->outputs[0].dtype = DTYPE_S32;
	for (int i = 1; i < c->output_count; i++) {
		const struct op_value *state = i > 1 && i < 6 ? op_in(c, from[i]) : NULL;
		if (i == 1)
			c->outputs[i].shape = op_shape_of(c->arena, 1, &x.length);
		else if (i == 6)
			c->outputs[i].shape = op_shape_of(c->arena, 3,
				(struct dim[]){ x.n, captured, x.size });
		else if (state)
			c->outputs[i].shape = op_shape_copy(c->arena, state->shape);
		if (i == 1 || i == 5)
			c->outputs[i].dtype = DTYPE_S32;
	}
	return 0;
}

/* Upper bound, as if every query saw all candidates: per entry and head a multiply-add per element, a relu
 * and an addition; a norm (4 per element) and a rotation (3) of the queries; each new key is added to a mean,
 * or with its gate to a softmax (5) and a sum. */
static RULE_COST(indexer)
{
	struct indexer x;
	struct error err;
	if (indexer_get(c, &x, &err))
		return;
	double tokens = op_dim_number(x.length) * (x.packed ? 1 : op_dim_number(x.n)),
		size = op_dim_number(x.size);
	double heads = op_dim_number(x.heads), pooled = tokens * size * (x.blocks ? 1 : 2 * (5 + 2));
	cost->flops = tokens * heads * op_dim_number(x.entries) * (2 * size + 2) + 7 * tokens * heads * size +
		pooled;
	cost->bytes = op_bytes_all(c);
	cost->upto = !isnan(cost->flops) || !isnan(cost->bytes);
}

/* The matmul of all heads' queries and all candidates; packed sequences have equal lengths. */
static RULE_PROBLEM(indexer)
{
	struct indexer x;
	struct error err;
	if (!op_problem_value(c, &c->inputs[0], out))
		return;
	if (indexer_get(c, &x, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	struct dim tokens = x.packed ? dim_floor_div(c->arena, x.length, x.n) : x.length;
	struct op_value y = c->inputs[0];
	y.constant = false;
	if (!op_problem_matmul(&c->inputs[0], &y, &y, dim_mul(c->arena, tokens, x.heads), x.entries,
		x.size, out))
		return;
	struct problem *p = &out->problem;
	p->batch_a.dim[0] = p->batch_b.dim[0] = x.n.value;
	p->transpose_b = true;
	out->proxy = out->upto = true;
}

#define SCORES "measured as the matmul of all queries and all scored keys (proxy)"
#define MS "com.microsoft", 1, 0

static const struct op rows[] = {
	{ "SparseAttentionIndexer", MS, 1, 14, CLASS_COMPUTE, indexer_shape, indexer_cost, indexer_problem,
		NULL, SCORES },
	{ "PackedSparseAttentionIndexer", MS, 1, 22, CLASS_COMPUTE, packed_indexer_shape, indexer_cost,
		indexer_problem, NULL, SCORES },
};
const struct op_rows op_microsoft_indexer_rows = OP_ROWS(rows);
