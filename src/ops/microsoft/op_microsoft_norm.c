/* Normalizations and elementwise functions of com.microsoft, fused with additions: a residual, a bias,
 * embeddings. No kernel measures the additions: their bytes and operations are in the cost, and the problem
 * is marked as a proxy. */
#include "config.h"

#include "ops/microsoft/op_microsoft.h"

#include <math.h>

/* ---- shared helpers */

void microsoft_output_like(struct op_call *c, int output, int input)
{
	const struct op_value *from = op_in(c, input);
	if (output >= c->output_count || !from)
		return;
	c->outputs[output].dtype = from->dtype;
	c->outputs[output].shape = op_shape_copy(c->arena, from->shape);
}

/* Returns -1 if the vector at input i does not have the length of the last dimension of input 0. */
static int vector_fits(const struct op_call *c, int i, struct error *err)
{
	const struct op_value *v = op_in(c, i);
	struct shape x = c->inputs[0].shape;
	if (!v || v->shape.rank != 1 || x.rank < 1 || !dim_differs(v->shape.dims[0], x.dims[x.rank - 1]))
		return 0;
	return op_fail(c, err, "input %d has %lld values for rows of %lld", i,
		(long long)v->shape.dims[0].value, (long long)x.dims[x.rank - 1].value);
}

/* `each` operations per element of the first output; all inputs and outputs move once. */
static void each_cost(const struct op_call *c, double each, struct op_cost *cost)
{
	cost->flops = each * op_count(op_out(c, 0));
	cost->bytes = op_bytes_all(c);
}

static int inputs_present(const struct op_call *c, int from, int to)
{
	int count = 0;
	for (int i = from; i < to; i++)
		count += op_in(c, i) != NULL;
	return count;
}

/* ---- SkipLayerNormalization, SkipSimplifiedLayerNormalization */

static bool skip_is_simple(const struct op_call *c)
{
	return text_is(text_of(c->op->name), "SkipSimplifiedLayerNormalization");
}

/* Outputs: the result; mean and inverse deviation per row (f32); the sum before normalization. */
static int skip_norm_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape, sum;
	if (vector_fits(c, 2, err) || op_broadcast(c, x, c->inputs[1].shape, &sum, err))
		return -1;
	microsoft_output_like(c, 0, 0);
	microsoft_output_like(c, 3, 0);
	for (int i = 1; i < 3 && i < c->output_count; i++) {
		c->outputs[i].dtype = DTYPE_F32;
		c->outputs[i].shape = op_shape_copy(c->arena, x);
		if (x.rank > 0)
			c->outputs[i].shape.dims[x.rank - 1] = dim_known(1);
	}
	return 0;
}

/* The normalization, one addition for the skip input and one for a bias. */
static void skip_norm_cost(const struct op_call *c, struct op_cost *cost)
{
	bool simple = skip_is_simple(c);
	each_cost(c, (simple ? 4 : 7) + 1 + (op_in(c, simple ? 3 : 4) ? 1 : 0), cost);
}

static void skip_norm_problem(const struct op_call *c, struct op_problem *out)
{
	if (!op_problem_ready(c, out))
		return;
	enum kernel kernel = skip_is_simple(c) ? KERNEL_RMSNORM : KERNEL_LAYERNORM;
	int rank = c->inputs[0].shape.rank;
	op_problem_norm(&c->inputs[0], &c->outputs[0], kernel, rank > 0 ? rank - 1 : 0, out);
	out->proxy = true;
}

/* ---- EmbedLayerNormalization: word, position and segment embeddings are gathered, added and normalized */

enum {
	EMBED_IDS,
	EMBED_SEGMENTS,
	EMBED_WORD,
	EMBED_POSITION,
	EMBED_SEGMENT,
	EMBED_MASK = 7,
	EMBED_POSITION_IDS
};

static int embed_shape(struct op_call *c, struct error *err)
{
	const struct op_value *table = op_in(c, EMBED_WORD);
	if (!table)
		return op_fail(c, err, "input %d, the words, is missing", EMBED_WORD);
	struct shape ids = c->inputs[EMBED_IDS].shape, words = table->shape;
	if ((ids.rank >= 0 && ids.rank != 2) || (words.rank >= 0 && words.rank != 2))
		return op_fail(c, err, "ids of shape %s and words of shape %s: both must have 2 dimensions",
			shape_text(c->arena, ids), shape_text(c->arena, words));
	struct shape y = shape_make(c->arena, 3);
	for (int i = 0; i < 2 && ids.rank == 2; i++)
		y.dims[i] = ids.dims[i];
	y.dims[2] = words.rank == 2 ? words.dims[1] : dim_unknown();
	c->outputs[0].shape = y;
	c->outputs[0].dtype = table->dtype;
	if (c->output_count > 1) {
		c->outputs[1].shape = shape_make(c->arena, 1);
		c->outputs[1].shape.dims[0] = y.dims[0];
		c->outputs[1].dtype = DTYPE_S32;
	}
	if (c->output_count > 2) {
		c->outputs[2].shape = op_shape_copy(c->arena, y);
		c->outputs[2].dtype = c->outputs[0].dtype;
	}
	return 0;
}

/* Two additions (one without segments) and the normalization. Each table is read by gathered rows: one per id
 * for words and segments, one per position for positions; at most the whole table. */
static void embed_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct op_value *y = op_out(c, 0), *segments = op_in(c, EMBED_SEGMENT),
			      *ids = op_in(c, EMBED_IDS);
	double all = op_bytes(y), batch = ids->shape.rank == 2 ? op_dim_number(ids->shape.dims[0]) : NAN;
	double places = op_in(c, EMBED_POSITION_IDS) ? all : all / batch;
	cost->flops = op_count(y) * (7 + (segments ? 2 : 1));
	cost->bytes = op_bytes_but(c, 1u << EMBED_WORD | 1u << EMBED_POSITION | 1u << EMBED_SEGMENT, 0) +
		      fmin(all, op_bytes(op_in(c, EMBED_WORD))) +
		      fmin(places, op_bytes(op_in(c, EMBED_POSITION))) +
		      (segments ? fmin(all, op_bytes(segments)) : 0);
}

static void embed_problem(const struct op_call *c, struct op_problem *out)
{
	if (!op_problem_ready(c, out))
		return;
	op_problem_norm(&c->outputs[0], &c->outputs[0], KERNEL_LAYERNORM, 2, out);
	out->problem.operand[0].constant = false;
	out->proxy = true;
}

/* ---- GroupNorm, SkipGroupNorm */

static bool group_last(const struct op_call *c)
{
	return node_int(c->node, "channels_last", 1) != 0;
}

static struct dim group_channels(const struct op_call *c)
{
	struct shape x = c->inputs[0].shape;
	return x.rank < 2 ? dim_unknown() : x.dims[group_last(c) ? x.rank - 1 : 1];
}

static int group_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	struct dim channels = group_channels(c);
	int64_t groups = node_int(c->node, "groups", 0);
	if (x.rank >= 0 && x.rank < 2)
		return op_fail(c, err, "an input of %d dimensions has no channels", x.rank);
	if (channels.kind == DIM_KNOWN && (groups < 1 || channels.value % groups))
		return op_fail(
			c, err, "%lld channels in %lld groups", (long long)channels.value, (long long)groups);
	microsoft_output_like(c, 0, 0);
	microsoft_output_like(c, 1, 0);
	return 0;
}

/* The normalization; one operation each for skip, bias and activation (SiLU). */
static void group_cost(const struct op_call *c, struct op_cost *cost)
{
	each_cost(c, 7 + inputs_present(c, 3, 5) + (node_int(c->node, "activation", 0) ? 1 : 0), cost);
}

static void group_problem(const struct op_call *c, struct op_problem *out)
{
	if (!op_problem_ready(c, out))
		return;
	op_problem_groups(
		c, node_int(c->node, "groups", 0), group_last(c) ? c->inputs[0].shape.rank - 1 : 1, out);
	if (inputs_present(c, 3, 5) || node_int(c->node, "activation", 0))
		out->proxy = out->known;
}

/* ---- functions of one tensor, after an optional addition */

struct added {
	enum mode mode; /* of the function; MODE_ADD: additions only */
	double each;	/* operations per element of the output, without the additions */
};

/* A mask is a bool tensor of the input's shape, or a vector of bits in 32-bit words. */
static int added_shape(struct op_call *c, struct error *err)
{
	bool bits = text_is(text_of(c->op->name), "BitmaskBiasDropout");
	if (vector_fits(c, 1, err))
		return -1;
	microsoft_output_like(c, 0, 0);
	if (c->output_count < 2)
		return 0;
	microsoft_output_like(c, 1, 0);
	c->outputs[1].dtype = bits ? DTYPE_U32 : DTYPE_BOOL;
	if (bits) {
		c->outputs[1].shape = shape_make(c->arena, 1);
		c->outputs[1].shape.dims[0] =
			dim_ceil_div(c->arena, shape_elements(c->arena, c->inputs[0].shape), 32);
	}
	return 0;
}

static void added_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct added *row = c->op->own;
	each_cost(c, row->each + inputs_present(c, 1, 3), cost);
}

/* The function alone; for MODE_ADD the addition of the second tensor of the input's size. */
static void added_problem(const struct op_call *c, struct op_problem *out)
{
	const struct added *row = c->op->own;
	if (!op_problem_ready(c, out))
		return;
	const struct op_value *other = op_in(c, 2) ? op_in(c, 2) : op_in(c, 1);
	if (row->mode != MODE_ADD)
		op_problem_eltwise(c, &c->inputs[0], row->mode, 0, 0, out);
	else if (other)
		op_problem_binary(MODE_ADD, &c->inputs[0], other, &c->outputs[0], out);
	out->proxy = out->known && (out->proxy || row->mode == MODE_ADD || other);
}

/* BiasSplitGelu: the left half times the gelu of the right half. */
static int split_gelu_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	if (vector_fits(c, 1, err))
		return -1;
	if (x.rank < 1)
		return 0;
	struct dim half = x.dims[x.rank - 1];
	if (half.kind == DIM_KNOWN && half.value % 2)
		return op_fail(c, err, "%lld numbers do not make two halves", (long long)half.value);
	microsoft_output_like(c, 0, 0);
	c->outputs[0].shape.dims[x.rank - 1] = dim_floor_div(c->arena, half, dim_known(2));
	return 0;
}

/* Two additions, a gelu and a multiplication. */
static void split_gelu_cost(const struct op_call *c, struct op_cost *cost)
{
	each_cost(c, 4, cost);
}

/* ---- BiasSoftmax */

static void bias_softmax_cost(const struct op_call *c, struct op_cost *cost)
{
	each_cost(c, 6, cost);
}

/* Softmax over the dimensions from `axis` on, flattened to one. */
static void bias_softmax_problem(const struct op_call *c, struct op_problem *out)
{
	if (!op_problem_ready(c, out))
		return;
	int axis = op_axis(c, node_int(c->node, "axis", 1), c->inputs[0].shape.rank, NULL);
	if (axis < 0) {
		op_problem_why(out, "the axis is out of range");
		return;
	}
	op_problem_norm(&c->inputs[0], &c->outputs[0], KERNEL_SOFTMAX, axis, out);
	out->problem.mode = MODE_SOFTMAX;
	out->proxy = true;
}

/* ---- gates and hyper-connections of recent models */

static void gated_rms_cost(const struct op_call *c, struct op_cost *cost)
{
	each_cost(c, 4 + 2, cost);
}

static void branch_rms_cost(const struct op_call *c, struct op_cost *cost)
{
	each_cost(c, op_in(c, 1) ? 4 : 3, cost);
}

/* GatedAdd: a multiplication and an addition; a gate_weight (input 3) first makes the gate of each row: a
 * multiply-add per element, then a sigmoid. ScaledSiLU, below: a multiplication, a sigmoid, a
 * multiplication. */
static void gated_add_cost(const struct op_call *c, struct op_cost *cost)
{
	each_cost(c, 2, cost);
	double gates = op_count(op_in(c, 2));
	if (op_in(c, 3))
		cost->flops += 2 * gates + gates / op_count(op_in(c, 3));
}

static void scaled_silu_cost(const struct op_call *c, struct op_cost *cost)
{
	each_cost(c, 3, cost);
}

/* RMS normalization of rows: one branch, or for GatedRMSNorm the last dimension of `scale`. */
static void grouped_rms_problem(const struct op_call *c, struct op_problem *out)
{
	if (!op_problem_ready(c, out))
		return;
	int64_t branches = node_int(c->node, "num_branches", 0);
	struct shape x = c->inputs[0].shape, scale = op_in(c, 1) ? op_in(c, 1)->shape : SHAPE_UNKNOWN;
	int64_t width = x.rank > 0 ? x.dims[x.rank - 1].value : 1, row = width;
	if (branches > 0)
		row = width / branches;
	else if (scale.rank > 0 && text_is(text_of(c->op->name), "GatedRMSNorm"))
		row = scale.dims[scale.rank - 1].value;
	if (row < 1 || width % row) {
		op_problem_why(out, "the rows do not divide the last dimension");
		return;
	}
	op_problem_norm(&c->inputs[0], &c->outputs[0], KERNEL_RMSNORM, x.rank > 0 ? x.rank - 1 : 0, out);
	struct problem_shape *s = &out->problem.shape[0];
	double rows = shape_count(x) / (double)row;
	*s = (struct problem_shape){ .rank = 2, .dim = { (int64_t)rows, row } };
	out->problem.axis = 1;
	out->proxy = true;
}

/* LinearAttentionGate: decay = scale * softplus(a + bias), and a sigmoid. */
static int attention_gate_shape(struct op_call *c, struct error *err)
{
	if (vector_fits(c, 1, err) || vector_fits(c, 2, err))
		return -1;
	microsoft_output_like(c, 0, 0);
	microsoft_output_like(c, 1, 3);
	return 0;
}

static void attention_gate_cost(const struct op_call *c, struct op_cost *cost)
{
	each_cost(c, 3, cost);
	cost->flops += op_count(op_in(c, 3));
}

/* EngramGate: two normalizations, the dot product of their results, the gate and a multiplication by the
 * token's shared value. */
static int engram_gate_shape(struct op_call *c, struct error *err)
{
	(void)err;
	microsoft_output_like(c, 0, 0);
	microsoft_output_like(c, 1, 0);
	return 0;
}

static void engram_gate_cost(const struct op_call *c, struct op_cost *cost)
{
	each_cost(c, 2 * 4 + 2 + 1 + (op_out(c, 1) ? 4 : 0), cost);
}

/* HyperConnectionPreMix: mixes the streams into one. */
static int pre_mix_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	int64_t branches = node_int(c->node, "num_branches", 0);
	if (x.rank < 0)
		return 0;
	if (x.rank < (branches > 0 ? 1 : 2))
		return op_fail(c, err, "streams of shape %s", shape_text(c->arena, x));
	microsoft_output_like(c, 0, 0);
	struct shape *y = &c->outputs[0].shape;
	struct dim width = x.dims[x.rank - 1];
	if (branches > 0) {
		y->dims[x.rank - 1] = dim_floor_div(c->arena, width, dim_known(branches));
	} else {
		y->rank--;
		y->dims[y->rank - 1] = width;
	}
	return 0;
}

static void pre_mix_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 2 * op_count(op_in(c, 0));
	cost->bytes = op_bytes_all(c);
}

/* HyperConnectionPostMix: each stream is a weighted sum of all streams plus the weighted branch output. */
static void post_mix_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct op_value *mix = op_in(c, 3);
	double streams = mix && mix->shape.rank > 0 ? op_dim_number(mix->shape.dims[mix->shape.rank - 1]) : 0;
	each_cost(c, 2 * streams + 2, cost);
}

#define MS "com.microsoft", 1, 0
#define SKIP "the sum before it is not measured (proxy)"
#define BIAS "additions are not measured (proxy)"

static const struct op rows[] = {
	{ "SkipLayerNormalization", MS, 3, 5, CLASS_MEMORY, skip_norm_shape, skip_norm_cost,
		skip_norm_problem, NULL, SKIP },
	{ "SkipSimplifiedLayerNormalization", MS, 3, 4, CLASS_MEMORY, skip_norm_shape, skip_norm_cost,
		skip_norm_problem, NULL, SKIP },
	{ "EmbedLayerNormalization", MS, 1, 9, CLASS_MEMORY, embed_shape, embed_cost, embed_problem, NULL,
		"measured as the normalization alone (proxy)" },
	{ "GroupNorm", MS, 3, 3, CLASS_MEMORY, group_shape, group_cost, group_problem, NULL,
		"channels last, an activation or an addition make it a proxy" },
	{ "SkipGroupNorm", MS, 4, 5, CLASS_MEMORY, group_shape, group_cost, group_problem, NULL,
		"channels last, an activation or an addition make it a proxy" },
	{ "BiasGelu", MS, 2, 2, CLASS_MEMORY, added_shape, added_cost, added_problem, NULL, BIAS,
		&(const struct added){ MODE_GELU_ERF, 1 } },
	{ "FastGelu", MS, 1, 2, CLASS_MEMORY, added_shape, added_cost, added_problem, NULL, BIAS,
		&(const struct added){ MODE_GELU_TANH, 1 } },
	{ "BiasAdd", MS, 3, 3, CLASS_MEMORY, added_shape, added_cost, added_problem, NULL, BIAS,
		&(const struct added){ MODE_ADD, 0 } },
	{ "BiasDropout", MS, 2, 5, CLASS_MEMORY, added_shape, added_cost, added_problem, NULL, BIAS,
		&(const struct added){ MODE_ADD, 0 } },
	{ "BitmaskBiasDropout", MS, 2, 5, CLASS_MEMORY, added_shape, added_cost, added_problem, NULL, BIAS,
		&(const struct added){ MODE_ADD, 0 } },
	{ "BiasSplitGelu", MS, 2, 2, CLASS_MEMORY, split_gelu_shape, split_gelu_cost, op_problem_mover, NULL,
		OP_COPY },
	{ "BiasSoftmax", MS, 2, 2, CLASS_MEMORY, op_shape_as_input, bias_softmax_cost, bias_softmax_problem,
		NULL, BIAS },
	{ "GatedRMSNorm", MS, 3, 3, CLASS_MEMORY, op_shape_as_input, gated_rms_cost, grouped_rms_problem,
		NULL, "the gate is not measured (proxy)" },
	{ "BranchwiseRMSNorm", MS, 1, 2, CLASS_MEMORY, op_shape_as_input, branch_rms_cost,
		grouped_rms_problem, NULL, NULL },
	{ "GatedAdd", MS, 3, 4, CLASS_MEMORY, op_shape_as_input, gated_add_cost, op_problem_mover, NULL,
		OP_COPY },
	{ "ScaledSiLU", MS, 1, 2, CLASS_MEMORY, op_shape_as_input, scaled_silu_cost, op_problem_mover, NULL,
		OP_COPY },
	{ "LinearAttentionGate", MS, 3, 4, CLASS_MEMORY, attention_gate_shape, attention_gate_cost,
		op_problem_mover, NULL, OP_COPY },
	{ "EngramGate", MS, 5, 6, CLASS_MEMORY, engram_gate_shape, engram_gate_cost, op_problem_mover, NULL,
		OP_COPY },
	{ "HyperConnectionPreMix", MS, 2, 2, CLASS_MEMORY, pre_mix_shape, pre_mix_cost, op_problem_mover,
		NULL, OP_COPY },
	{ "HyperConnectionPostMix", MS, 3, 4, CLASS_MEMORY, op_shape_as_input, post_mix_cost,
		op_problem_mover, NULL, OP_COPY },
};
const struct op_rows op_microsoft_norm_rows = OP_ROWS(rows);
