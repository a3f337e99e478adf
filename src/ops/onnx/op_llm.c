/* Operators of language models in ai.onnx: RotaryEmbedding, SwiGLU, TensorScatter, FlexAttention. The rules
 * of RotaryEmbedding serve com.microsoft's, too. */
#include "config.h"

#include "ops/onnx/op_attention.h"
#include "ops/rules/op_rules.h"

#include <math.h>

/* ---- RotaryEmbedding: rotates pairs of elements of every head by angles that depend on the position */

static RULE_SHAPE(rotary)
{
	int rank = c->inputs[0].shape.rank;
	if (rank >= 0 && rank != 3 && rank != 4)
		return op_fail(c, err, "input of rank %d, not 3 or 4", rank);
	return op_shape_as_input(c, err);
}

/* The input with the cosines; sines are in the next. com.microsoft has the positions before them. */
static int rotary_tables(const struct op_call *c)
{
	return c->op->domain[0] ? 2 : 1;
}

/* The rotated part of every head, 0 to 1: twice the row length of the tables. */
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

/* Two multiplications and an addition per rotated element. Reads one row of each table per token. */
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

/* ---- SwiGLU: swish(a) b. In com.microsoft one input has both halves if b is omitted, and limits may
 * apply. */

static int swiglu_halves(struct op_call *c, struct error *err)
{
	struct shape y = op_shape_copy(c->arena, c->inputs[0].shape);
	struct dim *last = y.rank > 0 ? &y.dims[y.rank - 1] : NULL;
	if (y.rank == 0 || (last && last->kind == DIM_KNOWN && last->value % 2))
		return op_fail(c, err, "shape %s does not split into two halves", shape_text(c->arena, y));
	if (last)
		*last = dim_floor_div(c->arena, *last, dim_known(2));
	c->outputs[0].shape = y;
	return 0;
}

static int swiglu_shape(struct op_call *c, struct error *err)
{
	if (!op_in(c, 1))
		return swiglu_halves(c, err);
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

/* The swish and the multiplication; a limit clamps both halves. */
static void swiglu_cost(const struct op_call *c, struct op_cost *cost)
{
	bool clamps = node_float(c->node, "limit", 0) > 0,
		adds = node_float(c->node, "activation_beta", 0) != 0;
	cost->flops = (2 + (clamps ? 2 : 0) + (adds ? 1 : 0)) * op_count(op_out(c, 0));
	cost->bytes = op_bytes_all(c);
}

/* A multiplication of the same bytes as a proxy; with one input, a copy. */
static void swiglu_problem(const struct op_call *c, struct op_problem *out)
{
	if (!op_problem_ready(c, out))
		return;
	if (op_in(c, 1))
		op_problem_binary(MODE_MUL, &c->inputs[0], &c->inputs[1], &c->outputs[0], out);
	else
		op_problem_mover(c, out);
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

/* The cache is one buffer before and after: only the new rows are read and written. */
static void tensor_scatter_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	cost->bytes = 2 * op_bytes(op_in(c, 1)) + op_bytes(op_in(c, 2));
}

static const struct op rows[] = {
	{ "RotaryEmbedding", "", 23, 0, 3, 4, CLASS_MEMORY, rotary_shape, rotary_cost, rotary_problem, NULL,
		OP_COPY },
	{ "SwiGLU", "", 28, 0, 2, 2, CLASS_MEMORY, swiglu_shape, swiglu_cost, swiglu_problem, NULL,
		"measured as Mul (proxy)" },
	{ "SwiGLU", "com.microsoft", 1, 0, 1, 2, CLASS_MEMORY, swiglu_shape, swiglu_cost, swiglu_problem,
		NULL, "measured as Mul, or of one input as a plain copy of equal bytes (proxy)" },
	{ "TensorScatter", "", 24, 0, 2, 3, CLASS_MOVE, tensor_scatter_shape, tensor_scatter_cost,
		op_problem_mover, NULL, "only the new rows, measured as a plain copy of equal bytes" },
	{ "FlexAttention", "ai.onnx.preview", 1, 0, 3, 3, CLASS_COMPUTE, op_attention_shape,
		op_attention_cost, op_attention_problem, NULL, "its subgraphs are not measured (proxy)" },
	{ "RotaryEmbedding", "com.microsoft", 1, 0, 4, 4, CLASS_MEMORY, rotary_shape, rotary_cost,
		rotary_problem, NULL, OP_COPY },
	{ "MRotaryEmbedding", "com.microsoft", 1, 0, 4, 4, CLASS_MEMORY, rotary_shape, rotary_cost,
		rotary_problem, NULL, OP_COPY },
};
const struct op_rows op_llm_rows = OP_ROWS(rows);
