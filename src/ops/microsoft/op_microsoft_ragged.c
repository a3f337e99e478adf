/* Attention whose work depends on the data: packed sequences, paged caches, sparse patterns. Shapes are
 * exact; the work is unknown or an upper bound. */
#include "config.h"

#include "ops/onnx/op_attention.h"

#include <math.h>

/* ---- PackedAttention (shape rule in op_microsoft_attention.c), PackedMultiHeadAttention */

/* Reads the sizes; a query of rank 4 packs queries, keys and values: tokens x heads x 3 x size. Writes tokens
 * and width of the output. */
static int packed_heads_get(const struct op_call *c, struct attention *t, struct dim *tokens,
	struct dim *width, struct error *err)
{
	const struct op_value *q = &c->inputs[0], *v = op_in(c, 2);
	*t = attention_none();
	if (attention_heads(c, "num_heads", &t->heads, err))
		return -1;
	if (op_rank(q) >= 0 && op_rank(q) != 2 && op_rank(q) != 4)
		return op_fail(c, err, "queries of rank %d, not 2 or 4", q->shape.rank);
	bool all = q->shape.rank == 4;
	*width = all ? dim_mul(c->arena, op_dim_at(q, 4, 1), op_dim_at(q, 4, 3)) : op_dim_at(v, 2, 1);
	*tokens = all ? q->shape.dims[0] : op_dim_at(q, 2, 0);
	t->kv_heads = t->heads;
	if (attention_part(c, *width, t->heads, "heads", &t->value_size, err) ||
		attention_part(c, op_dim_at(q, 2, 1), t->heads, "heads", &t->head_size, err))
		return -1;
	if (all)
		t->head_size = t->value_size;
	return 0;
}

static int packed_heads_shape(struct op_call *c, struct error *err)
{
	struct attention t;
	struct dim tokens, width;
	if (packed_heads_get(c, &t, &tokens, &width, err))
		return -1;
	c->outputs[0].shape = op_shape_of(c->arena, 2, (struct dim[]){ tokens, width });
	return 0;
}

static void packed_heads_problem(const struct op_call *c, struct op_problem *out)
{
	struct attention t;
	struct dim tokens, width;
	struct error err;
	const struct op_value *q = &c->inputs[0];
	if (packed_heads_get(c, &t, &tokens, &width, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	attention_even(c, tokens, 5, &t);
	attention_problem(c, &t, (const struct op_value *[]){ q, q, q }, true, out);
}

/* Operations depend on the length of each sequence: unknown. */
static void ragged_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = NAN;
	cost->bytes = op_bytes_all(c);
}

/* ---- SparseAttention, PagedAttention and similar: caches keep their shape, the keys in use depend on the
 * data */

enum { CACHE_KEYS = 3, PAGED_BOUNDS = 5, PAGED_TABLE = 7 };

/* Returns -1 if keys, values or caches do not have kv_num_heads heads. Caches are n x heads x length x size
 * for queries of rank 3. For rank 2 they are pages of length x heads x size, and the page table has a row per
 * sequence. */
static int caches_fit(const struct op_call *c, const struct attention *t, struct error *err)
{
	int rank = c->inputs[0].shape.rank;
	if (rank != 2 && rank != 3)
		return 0;
	for (int i = 1; i < CACHE_KEYS; i++) {
		struct dim want = dim_mul(c->arena, t->kv_heads, i == 1 ? t->head_size : t->value_size);
		if (dim_differs(op_dim_at(op_in(c, i), rank, rank - 1), want))
			return op_fail(c, err, "input %d is %s, for %lld heads of keys", i,
				shape_text(c->arena, op_in(c, i)->shape), (long long)t->kv_heads.value);
	}
	struct dim n;
	if (attention_caches(c, CACHE_KEYS, rank == 2 ? 2 : 1, t->kv_heads, err))
		return -1;
	if (rank == 3)
		return 0;
	if (attention_sequences(c, PAGED_BOUNDS, &n, err))
		return -1;
	return dim_differs(n, op_dim_at(op_in(c, PAGED_TABLE), 2, 0))
		       ? op_fail(c, err, "bounds of %lld sequences, and a table %s", (long long)n.value,
				 shape_text(c->arena, op_in(c, PAGED_TABLE)->shape))
		       : 0;
}

/* Queries of rank 3, or of rank 2 for packed tokens; inputs 3 and 4 are the key and value caches. */
static int caches_get(const struct op_call *c, struct attention *t, struct error *err)
{
	struct shape q = c->inputs[0].shape;
	*t = attention_none();
	if (attention_heads(c, "num_heads", &t->heads, err) ||
		attention_heads(c, "kv_num_heads", &t->kv_heads, err))
		return -1;
	if (t->heads.value % t->kv_heads.value)
		return op_fail(c, err, "%lld heads of queries for %lld of keys", (long long)t->heads.value,
			(long long)t->kv_heads.value);
	struct dim parts = op_in(c, 1) ? t->heads : dim_known(t->heads.value + 2 * t->kv_heads.value);
	int64_t value_size = node_int(c->node, "v_head_size", 0);
	if (q.rank > 1 && attention_part(c, q.dims[q.rank - 1], parts, "heads", &t->head_size, err))
		return -1;
	t->value_size = value_size > 0 ? dim_known(value_size) : t->head_size;
	return caches_fit(c, t, err);
}

static int caches_shape(struct op_call *c, struct error *err)
{
	struct attention t;
	struct shape q = c->inputs[0].shape;
	if (caches_get(c, &t, err))
		return -1;
	if (q.rank > 1) {
		struct shape y = c->outputs[0].shape = op_shape_copy(c->arena, q);
		y.dims[q.rank - 1] = dim_mul(c->arena, t.heads, t.value_size);
	}
	for (int i = 1; i < 3 && i < c->output_count; i++) {
		const struct op_value *from = op_in(c, i + 2);
		c->outputs[i].dtype = from ? from->dtype : DTYPE_UNKNOWN;
		c->outputs[i].shape = from ? op_shape_copy(c->arena, from->shape) : SHAPE_UNKNOWN;
	}
	return 0;
}

/* The longest sequence with its past, a number on the host that two operators have; unknown for others. */
static struct dim caches_used(const struct op_call *c, struct dim capacity)
{
	struct text name = text_of(c->op->name);
	int input = text_is(name, "SparseAttention") ? 7 : text_is(name, "DynamicSparseAttention") ? 10 : -1;
	struct dim used = op_dim_get(c, input);
	bool fits = used.kind == DIM_KNOWN && used.value > 0 &&
		!(capacity.kind == DIM_KNOWN && used.value > capacity.value);
	return fits ? used : dim_unknown();
}

/* Upper bound: every query attends to all keys that the longest sequence has, or if that is unknown, to the
 * full capacity of its cache. Rank 3: n x heads x length x size. Rank 2: pages of length x heads x size,
 * times the columns of the page table. */
static void caches_full(const struct op_call *c, struct attention *t)
{
	const struct op_value *q = &c->inputs[0], *keys = op_in(c, CACHE_KEYS);
	if (op_rank(q) == 2) {
		attention_even(c, q->shape.dims[0], PAGED_BOUNDS, t);
		t->total = dim_mul(c->arena, op_dim_at(op_in(c, PAGED_TABLE), 2, 1), op_dim_at(keys, 4, 1));
	} else if (op_rank(q) == 3) {
		t->n = q->shape.dims[0];
		t->query_length = q->shape.dims[1];
		t->total = op_dim_at(keys, 4, 2);
		if (caches_used(c, t->total).kind == DIM_KNOWN)
			t->total = caches_used(c, t->total);
	}
	t->key_length = t->query_length;
	t->past = dim_sub(c->arena, t->total, t->query_length);
}

/* Upper bound: how much of a cache is filled and attended to depends on the data. */
static void caches_cost(const struct op_call *c, struct op_cost *cost)
{
	struct attention t;
	struct error err;
	if (caches_get(c, &t, &err))
		return;
	caches_full(c, &t);
	double kept = op_dim_number(t.n) * op_dim_number(t.query_length), all = op_count(&c->inputs[0]);
	/* equal lengths round down: scale the operations to all tokens */
	double rest = op_rank(&c->inputs[0]) == 2 ? op_dim_number(c->inputs[0].shape.dims[0]) / kept : 1;
	enum dtype cache = op_in(c, CACHE_KEYS) ? c->inputs[CACHE_KEYS].dtype : DTYPE_UNKNOWN;
	t.shared = true;
	cost->flops = isnan(all) ? NAN : rest * attention_flops(&t);
	cost->bytes = op_bytes_but(c, 3u << CACHE_KEYS, 3u << 1) + attention_cache_bytes(&t, cache, true);
	cost->upto = !isnan(cost->flops) || !isnan(cost->bytes);
}

static void caches_problem(const struct op_call *c, struct op_problem *out)
{
	struct attention t;
	struct error err;
	const struct op_value *q = &c->inputs[0], *k = op_in(c, CACHE_KEYS), *v = op_in(c, CACHE_KEYS + 1);
	if (caches_get(c, &t, &err) || !k || !v) {
		op_problem_why(out, k && v ? arena_printf(c->arena, "%s", err.text) : "the cache is missing");
		return;
	}
	caches_full(c, &t);
	attention_problem(c, &t, (const struct op_value *[]){ q, k, v }, true, out);
	out->upto = out->known;
}

/* ---- LongformerAttention, DecoderAttention */

/* Queries are length x n x width; the length of the returned caches depends on flags that are inputs. */
static int decoder_attention_shape(struct op_call *c, struct error *err)
{
	struct dim heads, size;
	const struct op_value *q = &c->inputs[0];
	if (attention_heads(c, "num_heads", &heads, err) ||
		attention_part(c, op_dim_at(q, 3, 2), heads, "heads", &size, err))
		return -1;
	c->outputs[0].shape = op_shape_copy(c->arena, q->shape);
	for (int i = 1; i < 3 && i < c->output_count; i++)
		c->outputs[i].shape = attention_shape(c, op_dim_at(q, 3, 1), heads, dim_unknown(), size);
	return 0;
}

/* Proxy: the projection of the source, which every token needs whatever it attends to. */
static void longformer_problem(const struct op_call *c, struct op_problem *out)
{
	attention_projection(c, 1, 2, op_dim_at(op_in(c, 1), 2, 1), out);
}

static void decoder_attention_problem(const struct op_call *c, struct op_problem *out)
{
	attention_projection(c, 2, 0, op_dim_at(op_in(c, 2), 2, 1), out);
}

#define EVEN "measured with sequences of equal length (proxy)"
#define ROOM "measured as if the whole cache were used (proxy)"
#define PROJECTION "which tokens it uses depends on the data: measured as the projection alone (proxy)"
#define RAGGED(name, fewest, most, shape, cost, problem, note)                                               \
	{                                                                                                    \
		name, "com.microsoft", 1, 0, fewest, most, CLASS_COMPUTE, shape, cost, problem, NULL, note   \
	}
#define CACHES(name, fewest, most) RAGGED(name, fewest, most, caches_shape, caches_cost, caches_problem, ROOM)

static const struct op rows[] = {
	RAGGED("PackedAttention", 5, 6, op_packed_attention_shape, ragged_cost,
		op_projected_attention_problem,
		"measured as the projection or the attention of equal lengths, "
		"whichever has more arithmetic (proxy)"),
	RAGGED("PackedMultiHeadAttention", 1, 7, packed_heads_shape, ragged_cost, packed_heads_problem, EVEN),
	RAGGED("LongformerAttention", 7, 7, op_shape_as_input, ragged_cost, longformer_problem, PROJECTION),
	RAGGED("DecoderAttention", 5, 12, decoder_attention_shape, ragged_cost, decoder_attention_problem,
		PROJECTION),
	CACHES("SparseAttention", 1, 11),
	CACHES("DynamicSparseAttention", 1, 20),
	CACHES("PagedAttention", 1, 17),
	CACHES("SparsePagedAttention", 1, 22),
};
const struct op_rows op_microsoft_ragged_rows = OP_ROWS(rows);
