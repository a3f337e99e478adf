/* Attention over sequences that lie one behind the other, in pages, or that look at what data says: shapes
 * are known, work is not. */
#include "config.h"

#include "ops/op_attention.h"

#include <math.h>

/* ---- PackedAttention (its shape stands with Attention), PackedMultiHeadAttention */

/* Queries alone hold all three: tokens x heads x 3 x size. */
static int packed_heads_shape(struct op_call *c, struct error *err)
{
	const struct op_value *q = &c->inputs[0], *v = op_in(c, 2);
	struct dim heads, ignored;
	if (attention_heads(c, "num_heads", &heads, err))
		return -1;
	if (op_rank(q) >= 0 && op_rank(q) != 2 && op_rank(q) != 4)
		return op_fail(c, err, "queries of rank %d, not 2 or 4", q->shape.rank);
	struct dim width = q->shape.rank == 4 ? dim_mul(c->arena, op_dim_at(q, 4, 1), op_dim_at(q, 4, 3))
					      : op_dim_at(v, 2, 1);
	if (attention_part(c, width, heads, "heads", &ignored, err))
		return -1;
	struct dim tokens = q->shape.rank == 4 ? q->shape.dims[0] : op_dim_at(q, 2, 0);
	c->outputs[0].shape = op_shape_of(c->arena, 2, (struct dim[]){ tokens, width });
	return 0;
}

/* How long each sequence is decides. */
static void ragged_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = NAN;
	cost->bytes = op_bytes_all(c);
}

static void ragged_problem(const struct op_call *c, struct op_problem *out)
{
	if (op_problem_ready(c, out))
		op_problem_why(
			out, "how long its sequences are, or what they look at, is known only at run time");
}

/* ---- SparseAttention, PagedAttention and their like: caches stay as they are, what is looked at is data */

/* Queries of 3 dimensions, or of 2 where tokens are packed; inputs 3 and 4 hold keys and values. */
static int caches_shape(struct op_call *c, struct error *err)
{
	struct attention t = attention_none();
	struct dim width;
	struct shape q = c->inputs[0].shape;
	struct op_value *out = &c->outputs[0];
	if (attention_heads(c, "num_heads", &t.heads, err) ||
		attention_heads(c, "kv_num_heads", &t.kv_heads, err))
		return -1;
	struct dim parts = op_in(c, 1) ? t.heads : dim_known(t.heads.value + 2 * t.kv_heads.value);
	int64_t value_size = node_int(c->node, "v_head_size", 0);
	if (q.rank > 1 && attention_part(c, q.dims[q.rank - 1], parts, "heads", &t.head_size, err))
		return -1;
	if (q.rank > 1) {
		width = value_size > 0 ? dim_known(value_size) : t.head_size;
		out->shape = op_shape_copy(c->arena, q);
		out->shape.dims[q.rank - 1] = dim_mul(c->arena, t.heads, width);
	}
	for (int i = 1; i < 3 && i < c->output_count; i++) {
		const struct op_value *from = op_in(c, i + 2);
		c->outputs[i].dtype = from ? from->dtype : DTYPE_UNKNOWN;
		c->outputs[i].shape = from ? op_shape_copy(c->arena, from->shape) : SHAPE_UNKNOWN;
	}
	return 0;
}

/* Only the pages of the sequences are read: how many is data. */
static void paged_cost(const struct op_call *c, struct op_cost *cost)
{
	(void)c;
	*cost = (struct op_cost){ NAN, NAN, false };
}

/* ---- LongformerAttention, DecoderAttention */

/* Queries are length x n x width; keys and values of the caches afterwards are as many as the flags say at
 * run time. */
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

#define DATA "what it looks at is known only at run time: not measured"
#define RAGGED(name, fewest, most, shape, cost)                                                              \
	{                                                                                                    \
		name, "com.microsoft", 1, 0, fewest, most, CLASS_COMPUTE, shape, cost, ragged_problem, NULL, \
			DATA                                                                                 \
	}

static const struct op rows[] = {
	RAGGED("PackedAttention", 5, 6, op_packed_attention_shape, ragged_cost),
	RAGGED("PackedMultiHeadAttention", 1, 7, packed_heads_shape, ragged_cost),
	RAGGED("LongformerAttention", 7, 7, op_shape_as_input, ragged_cost),
	RAGGED("DecoderAttention", 5, 12, decoder_attention_shape, ragged_cost),
	RAGGED("SparseAttention", 1, 11, caches_shape, paged_cost),
	RAGGED("DynamicSparseAttention", 1, 17, caches_shape, paged_cost),
	RAGGED("PagedAttention", 1, 17, caches_shape, paged_cost),
	RAGGED("SparsePagedAttention", 1, 22, caches_shape, paged_cost),
};
const struct op_rows op_microsoft_ragged_rows = OP_ROWS(rows);
