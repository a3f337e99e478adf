/* Operators of com.microsoft whose work is mostly a matrix product: distances between points, inverses, word
 * embeddings from characters, an LSTM with attention over a memory. */
#include "config.h"

#include "ops/onnx/op_attention.h"
#include "ops/microsoft/op_microsoft.h"

#include <math.h>

/* ---- CDist */

static int distances_shape(struct op_call *c, struct error *err)
{
	if (op_rank_is(c, 0, 2, err) || op_rank_is(c, 1, 2, err))
		return -1;
	if (dim_differs(op_dim_at(op_in(c, 0), 2, 1), op_dim_at(op_in(c, 1), 2, 1)))
		return op_fail(c, err, "points of %s and %s", shape_text(c->arena, c->inputs[0].shape),
			shape_text(c->arena, c->inputs[1].shape));
	c->outputs[0].shape =
		op_shape_of(c->arena, 2,
			(struct dim[]){ op_dim_at(op_in(c, 0), 2, 0), op_dim_at(op_in(c, 1), 2, 0) });
	return 0;
}

/* A subtraction, a square and an addition per coordinate. */
static void distances_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 3 * op_count(op_out(c, 0)) * op_dim_number(op_dim_at(op_in(c, 0), 2, 1));
	cost->bytes = op_bytes_all(c);
}

/* Proxy: |a - b|^2 = |a|^2 + |b|^2 - 2 a b, so the matmul of the points is nearly all of the work. */
static void distances_problem(const struct op_call *c, struct op_problem *out)
{
	const struct op_value *a = &c->inputs[0], *b = &c->inputs[1];
	if (!op_problem_ready(c, out) || !op_problem_matmul(a, b, &c->outputs[0], a->shape.dims[0],
						 b->shape.dims[0], a->shape.dims[1], out))
		return;
	out->problem.transpose_b = true;
	out->proxy = true;
}

/* ---- SparseToDenseMatMul: a sparse matrix times a dense one; the number of nonzero elements depends on the
 * data */

static int sparse_matmul_shape(struct op_call *c, struct error *err)
{
	c->outputs[0].dtype = c->inputs[1].dtype;
	return op_rank_is(c, 0, 2, err) || op_matmul_shape(c, err) ? -1 : 0;
}

/* Upper bound: every element is nonzero. The bytes of the sparse matrix are unknown. */
static void sparse_matmul_cost(const struct op_call *c, struct op_cost *cost)
{
	op_matmul_cost(c, cost);
	cost->bytes = NAN;
	cost->upto = !isnan(cost->flops);
}

static void sparse_matmul_problem(const struct op_call *c, struct op_problem *out)
{
	op_matmul_problem(c, out);
	out->proxy = out->upto = out->known;
}

/* ---- Inverse */

/* Gaussian elimination: about n^3 steps of two operations per matrix. */
static int inverse_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank >= 0 && (x.rank < 2 || dim_differs(x.dims[x.rank - 1], x.dims[x.rank - 2])))
		return op_fail(c, err, "%s are not square matrices", shape_text(c->arena, x));
	return op_shape_as_input(c, err);
}

static void inverse_cost(const struct op_call *c, struct op_cost *cost)
{
	struct shape x = c->inputs[0].shape;
	cost->flops = x.rank < 2 ? NAN : 2 * op_count(op_in(c, 0)) * op_dim_number(x.dims[x.rank - 1]);
	cost->bytes = op_bytes_all(c);
}

/* Proxy: the matmul of two n x n matrices, which has the same number of operations. */
static void inverse_problem(const struct op_call *c, struct op_problem *out)
{
	const struct op_value *x = &c->inputs[0];
	if (!op_problem_ready(c, out))
		return;
	struct dim n = x->shape.dims[x->shape.rank - 1];
	if (dim_differs(n, x->shape.dims[x->shape.rank - 2])) { /* upper bounds may differ */
		op_problem_why(out, "the matrices are not square");
		return;
	}
	if (!op_problem_matmul(x, x, &c->outputs[0], n, n, n, out))
		return;
	struct problem *p = &out->problem;
	p->batch_a.dim[0] = p->batch_b.dim[0] = (int64_t)op_count(x) / (n.value * n.value);
	out->proxy = true;
}

/* ---- WordConvEmbedding: character embeddings of a word, a convolution over them, the maximum over
 * positions */

enum { WORD_LETTERS, WORD_WEIGHTS, WORD_BIAS, WORD_TABLE };

static int word_conv_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	int64_t size = node_int(c->node, "embedding_size", -1);
	if (op_rank_is(c, 1, 4, err))
		return -1;
	c->outputs[0].dtype = c->inputs[1].dtype;
	if (x.rank < 1)
		return 0;
	struct shape y = op_shape_copy(c->arena, x);
	y.dims[x.rank - 1] = size > 0 ? dim_known(size) : op_dim_at(op_in(c, 1), 4, 0);
	c->outputs[0].shape = y;
	return 0;
}

/* Number of convolution outputs (window positions) per word. */
static double word_places(const struct op_call *c)
{
	struct shape x = c->inputs[WORD_LETTERS].shape;
	double letters = x.rank < 1 ? NAN : op_dim_number(x.dims[x.rank - 1]);
	double places = letters - microsoft_size_at(c, WORD_WEIGHTS, 4, 2) + 1;
	return places >= 1 ? places : NAN;
}

/* A multiply-add per element under the window, a bias, tanh and a comparison. */
static void word_conv_cost(const struct op_call *c, struct op_cost *cost)
{
	double under = microsoft_size_at(c, WORD_WEIGHTS, 4, 2) * microsoft_size_at(c, WORD_WEIGHTS, 4, 3);
	cost->flops = op_count(op_out(c, 0)) * word_places(c) * (2 * under + 3);
	cost->bytes = op_bytes_all(c);
}

/* Proxy: the convolution alone. */
static void word_conv_problem(const struct op_call *c, struct op_problem *out)
{
	if (!op_problem_ready(c, out))
		return;
	if (isnan(word_places(c))) {
		op_problem_why(out, "the window is wider than the words");
		return;
	}
	struct shape x = c->inputs[WORD_LETTERS].shape, w = c->inputs[WORD_WEIGHTS].shape;
	struct problem *p = op_problem_start(out, KERNEL_CONV, MODE_NONE);
	p->spatial = 1;
	for (int i = 0; i < 3; i++)
		p->in[i] = p->kernel_size[i] = p->stride[i] = p->dilation[i] = i == 2;
	p->operand[0] = p->operand[2] = op_operand(&c->outputs[0]);
	p->operand[1] = op_operand(&c->inputs[WORD_WEIGHTS]);
	p->accumulator = op_accumulator(c->outputs[0].dtype);
	p->in[2] = x.dims[x.rank - 1].value;
	p->n = (int64_t)op_count(&c->inputs[WORD_LETTERS]) / p->in[2];
	p->c = w.dims[3].value;
	p->k = w.dims[0].value;
	p->g = 1;
	p->kernel_size[2] = w.dims[2].value;
	op_problem_bias(op_in(c, WORD_BIAS), out);
	p->epilogue[p->epilogue_count++] = (struct epilogue){ .kind = EPILOGUE_ELTWISE, .mode = MODE_TANH };
	out->proxy = true;
}

/* ---- AttnLSTM */

enum { ATTN_BIAS = 3, ATTN_QUERY_WEIGHTS = 8, ATTN_MEMORY = 11, ATTN_WEIGHTS = 13 };

static int attn_lstm_shape(struct op_call *c, struct error *err)
{
	if (op_rank_is(c, 0, 3, err) || op_rank_is(c, 1, 3, err) || op_rank_is(c, 2, 3, err))
		return -1;
	struct dim steps = op_dim_at(op_in(c, 0), 3, 0), n = op_dim_at(op_in(c, 0), 3, 1),
		   hidden = op_dim_at(op_in(c, 2), 3, 2);
	struct dim directions =
		dim_known(text_is(node_string(c->node, "direction", "forward"), "bidirectional") ? 2 : 1);
	c->outputs[0].shape = attention_shape(c, steps, directions, n, hidden);
	for (int i = 1; i < 3 && i < c->output_count; i++)
		c->outputs[i].shape = op_shape_of(c->arena, 3, (struct dim[]){ directions, n, hidden });
	return 0;
}

/* Attention operations of one direction and sample: the keys once, then the rest for every step. */
static double memory_flops(const struct op_call *c, double steps, double hidden)
{
	double places = microsoft_size_at(c, ATTN_MEMORY, 3, 1),
	       depth = microsoft_size_at(c, ATTN_MEMORY, 3, 2),
	       size = microsoft_size_at(c, ATTN_QUERY_WEIGHTS, 3, 2);
	double keys = 2 * places * depth * size, query = 2 * hidden * size;
	double scores = places * (4 * size + 5), context = 2 * places * depth;
	double made =
		op_in(c, ATTN_WEIGHTS) ? 2 * (depth + hidden) * microsoft_size_at(c, ATTN_WEIGHTS, 3, 2) : 0;
	return keys + steps * (query + scores + context + made);
}

/* The cell's input is the source concatenated with the attention output: the width of the weights. */
static void attn_lstm_cost(const struct op_call *c, struct op_cost *cost)
{
	double steps = microsoft_size_at(c, 0, 3, 0), n = microsoft_size_at(c, 0, 3, 1),
	       in = microsoft_size_at(c, 1, 3, 2), directions = microsoft_size_at(c, 1, 3, 0),
	       hidden = microsoft_size_at(c, 2, 3, 2);
	double each = 4 * (2 * (in + hidden) + (op_in(c, ATTN_BIAS) ? 2 : 0)) + 9;
	cost->flops = directions * n *
		      (steps * hidden * each + (op_in(c, ATTN_MEMORY) ? memory_flops(c, steps, hidden) : 0));
	cost->bytes = op_bytes_all(c);
}

/* Proxy: the LSTM alone. */
static void attn_lstm_problem(const struct op_call *c, struct op_problem *out)
{
	if (!op_problem_ready(c, out))
		return;
	struct shape x = c->inputs[0].shape, w = c->inputs[1].shape, r = c->inputs[2].shape;
	struct problem *p = op_problem_start(out, KERNEL_RNN, MODE_LSTM);
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->inputs[1]);
	p->operand[2] = op_operand(&c->outputs[0]);
	p->steps = x.dims[0].value;
	p->n = x.dims[1].value;
	p->input_size = w.dims[2].value;
	p->hidden_size = r.dims[2].value;
	p->directions = text_is(node_string(c->node, "direction", "forward"), "bidirectional") ? 2 : 1;
	out->proxy = true;
}

#define MS "com.microsoft", 1, 0

static const struct op rows[] = {
	{ "CDist", MS, 2, 2, CLASS_COMPUTE, distances_shape, distances_cost, distances_problem, NULL,
		"measured as the matmul of its points (proxy)" },
	{ "SparseToDenseMatMul", MS, 2, 2, CLASS_COMPUTE, sparse_matmul_shape, sparse_matmul_cost,
		sparse_matmul_problem, NULL, "measured as a dense matmul (proxy)" },
	{ "Inverse", MS, 1, 1, CLASS_COMPUTE, inverse_shape, inverse_cost, inverse_problem, NULL,
		"measured as a matmul of as many operations (proxy)" },
	{ "WordConvEmbedding", MS, 4, 4, CLASS_COMPUTE, word_conv_shape, word_conv_cost, word_conv_problem,
		NULL, "measured as the convolution alone (proxy)" },
	{ "AttnLSTM", MS, 3, 14, CLASS_COMPUTE, attn_lstm_shape, attn_lstm_cost, attn_lstm_problem, NULL,
		"measured as the LSTM alone (proxy)" },
};
const struct op_rows op_microsoft_product_rows = OP_ROWS(rows);
