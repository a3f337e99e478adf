/* Conversions between floats and integers or 8-bit floats; and the rows of all quantized operators. */
#include "config.h"

#include "ops/onnx/op_attention.h"

#include "model/tensor.h"

#include <math.h>

/* ---- QuantizeLinear, DequantizeLinear */

enum scale_kind { SCALE_UNKNOWN, SCALE_TENSOR, SCALE_AXIS, SCALE_BLOCK };

/* How many values share a scale. */
struct scale {
	enum scale_kind kind;
	int axis;
	int64_t block; /* of SCALE_BLOCK; 0: unknown */
};

/* ceil(d / b); d >= 0, b > 0. */
static int64_t blocks_of(int64_t d, int64_t b)
{
	return d / b + (d % b != 0);
}

static int scale_refuse(const struct op_call *c, struct shape s, struct error *err)
{
	return op_fail(c, err, "scales of shape %s for values of shape %s", shape_text(c->arena, s),
		shape_text(c->arena, c->inputs[0].shape));
}

/* Scales with as many dimensions as the values: blocks along one axis, or one scale per value for blocks of
 * 1. */
static int scale_block(const struct op_call *c, struct shape s, struct scale *out, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	int64_t block = node_int(c->node, "block_size", 0);
	out->kind = SCALE_BLOCK;
	if (block < 0)
		return op_fail(c, err, "block_size is %lld", (long long)block);
	out->axis = op_axis(c, node_int(c->node, "axis", 1), x.rank, err);
	if (out->axis < 0)
		return -1;
	for (int i = 0; i < x.rank; i++) {
		if (i != out->axis && dim_differs(x.dims[i], s.dims[i]))
			return scale_refuse(c, s, err);
	}
	struct dim d = x.dims[out->axis], blocks = s.dims[out->axis];
	bool known = d.kind == DIM_KNOWN && blocks.kind == DIM_KNOWN;
	if (block && known && blocks.value != blocks_of(d.value, block))
		return scale_refuse(c, s, err);
	if (!block && known && blocks.value > 0)
		block = blocks_of(d.value, blocks.value);
	out->block = block;
	return 0;
}

/* The kind of scale: a scalar or single number; a vector along an axis; a tensor with the values' rank. */
static int scale_get(const struct op_call *c, struct scale *out, struct error *err)
{
	struct shape x = c->inputs[0].shape, s = c->inputs[1].shape;
	*out = (struct scale){ .kind = SCALE_UNKNOWN };
	if (s.rank < 0)
		return 0;
	bool blocked = node_int(c->node, "block_size", 0) != 0;
	if (s.rank == 0 || (s.rank == 1 && s.dims[0].kind == DIM_KNOWN && s.dims[0].value == 1 && !blocked)) {
		out->kind = SCALE_TENSOR;
		return 0;
	}
	if (x.rank < 0)
		return 0;
	if (s.rank == x.rank && (s.rank > 1 || blocked))
		return scale_block(c, s, out, err);
	if (s.rank != 1)
		return scale_refuse(c, s, err);
	/* A vector has one axis, whatever the attribute is. */
	out->axis = x.rank == 1 ? 0 : op_axis(c, node_int(c->node, "axis", 1), x.rank, err);
	if (out->axis < 0)
		return -1;
	if (dim_differs(s.dims[0], x.dims[out->axis]))
		return scale_refuse(c, s, err);
	out->kind = s.dims[0].kind == DIM_KNOWN ? SCALE_AXIS : SCALE_UNKNOWN;
	return 0;
}

/* The zero point's type, else the attribute's, else `otherwise`. */
static int quantized_type(const struct op_call *c, enum dtype otherwise, enum dtype *out, struct error *err)
{
	const struct op_value *zero = op_in(c, 2);
	int64_t code = node_int(c->node, "output_dtype", 0);
	*out = zero ? zero->dtype : code ? tensor_dtype(code) : otherwise;
	if (zero && code && zero->dtype != DTYPE_UNKNOWN && tensor_dtype(code) != zero->dtype)
		return op_fail(c, err, "output_dtype is %s, the zero point %s",
			dtype_name(tensor_dtype(code)), dtype_name(zero->dtype));
	return 0;
}

static RULE_SHAPE(quantize)
{
	struct scale scale;
	if (scale_get(c, &scale, err) || quantized_type(c, DTYPE_U8, &c->outputs[0].dtype, err))
		return -1;
	return op_shape_as_input(c, err);
}

/* (x - zero point) * scale of few constants, which may be an exponent or a limit. */
static const struct elements *dequantized(const struct op_call *c, enum dtype to)
{
	const struct elements *from = c->inputs[0].elements;
	double scale, zero = 0;
	if (!from || !op_scalar(&c->inputs[1], &scale) || (op_in(c, 2) && !op_scalar(op_in(c, 2), &zero)))
		return NULL;
	struct elements *e = op_elements_new(c->arena, from->count, true);
	for (int i = 0; i < e->count; i++) {
		bool known = from->f || from->i[i].kind == DIM_KNOWN;
		double x = from->f ? from->f[i] : (double)from->i[i].value;
		e->f[i] = known ? op_float_round(to, (x - zero) * scale) : NAN;
	}
	return e;
}

static RULE_SHAPE(dequantize)
{
	struct scale scale;
	int64_t code = node_int(c->node, "output_dtype", 0);
	if (scale_get(c, &scale, err))
		return -1;
	c->outputs[0].dtype = code ? tensor_dtype(code) : c->inputs[1].dtype;
	if (scale.kind == SCALE_TENSOR && dtype_is_float(c->outputs[0].dtype))
		c->outputs[0].elements = dequantized(c, c->outputs[0].dtype);
	return op_shape_as_input(c, err);
}

/* A scale and a zero point. */
static RULE_COST(quantize)
{
	cost->flops = 2 * op_count(op_out(c, 0));
	cost->bytes = op_bytes_all(c);
}

static void quantizer_problem(const struct op_call *c, enum kernel kernel, struct op_problem *out)
{
	static const enum mode modes[2][4] = {
		{ MODE_NONE, MODE_QUANTIZE_TENSOR, MODE_QUANTIZE_AXIS, MODE_QUANTIZE_BLOCK },
		{ MODE_NONE, MODE_DEQUANTIZE_TENSOR, MODE_DEQUANTIZE_AXIS, MODE_DEQUANTIZE_BLOCK },
	};
	struct scale scale;
	struct error err = ERROR_NONE;
	if (!op_problem_ready(c, out))
		return;
	if (scale_get(c, &scale, &err) || scale.kind == SCALE_UNKNOWN ||
		(scale.kind == SCALE_BLOCK && scale.block < 1)) {
		op_problem_why(out, err.text[0] ? arena_printf(c->arena, "%s", err.text) :
			"the scales' shape is not known");
		return;
	}
	struct problem *p = op_problem_map(out, kernel, MODE_NONE, &c->inputs[0], &c->outputs[0]);
	p->mode = modes[kernel == KERNEL_DEQUANTIZE][scale.kind];
	p->axis = scale.axis;
	p->size = scale.block;
}

static RULE_PROBLEM(quantize)
{
	quantizer_problem(c, KERNEL_QUANTIZE, out);
}

static RULE_PROBLEM(dequantize)
{
	quantizer_problem(c, KERNEL_DEQUANTIZE, out);
}

/* ---- DynamicQuantizeLinear: the range is found first */

static RULE_SHAPE(dynamic_quantize)
{
	static const enum dtype types[3] = { DTYPE_U8, DTYPE_F32, DTYPE_U8 };
	(void)err;
	for (int i = 0; i < c->output_count && i < 3; i++) {
		c->outputs[i].dtype = types[i];
		c->outputs[i].shape = i == 0 ? op_shape_copy(c->arena, c->inputs[0].shape) :
			shape_make(c->arena, 0);
	}
	return 0;
}

/* Two comparisons, a scale and a zero point. */
static RULE_COST(dynamic_quantize)
{
	cost->flops = 4 * op_count(op_in(c, 0));
	cost->bytes = op_bytes_all(c);
}

static RULE_PROBLEM(dynamic_quantize)
{
	if (op_problem_ready(c, out))
		op_problem_map(out, KERNEL_QUANTIZE, MODE_QUANTIZE_DYNAMIC, &c->inputs[0], &c->outputs[0]);
}

/* ---- com.microsoft's quantized attentions and embeddings */

/* QOrderedAttention: separate weights of queries, keys and values. */
enum { ORDERED_WEIGHTS = 5, ORDERED_LONGFORMER_WEIGHTS = 2 };

/* The width is that of the values' weights. */
static int ordered_attention_shape(struct op_call *c, struct error *err)
{
	struct shape y = shape_make(c->arena, 3);
	(void)err;
	for (int i = 0; i < 3; i++)
		y.dims[i] = op_dim_at(op_in(c, i < 2 ? 0 : ORDERED_WEIGHTS + 2), i < 2 ? 3 : 2,
			i < 2 ? i : 1);
	c->outputs[0].shape = y;
	return 0;
}

/* Columns of the three weights together. */
static struct dim ordered_columns(const struct op_call *c)
{
	struct dim all = dim_known(0);
	for (int i = 0; i < 3; i++)
		all = dim_add(c->arena, all, op_dim_at(op_in(c, ORDERED_WEIGHTS + i), 2, 1));
	return all;
}

/* The projections, and per pair of positions two matmuls and 5 for softmax. */
static void ordered_attention_cost(const struct op_call *c, struct op_cost *cost)
{
	double heads = (double)node_int(c->node, "num_heads", 0), columns = op_dim_number(ordered_columns(c));
	double pairs = op_count(op_in(c, 0)) * op_dim_number(op_dim_at(op_in(c, 0), 3, 1));
	double width = op_dim_number(op_dim_at(op_in(c, 0), 3, 2));
	double own = columns - op_dim_number(op_dim_at(op_in(c, ORDERED_WEIGHTS), 2, 1));
	cost->flops = heads < 1 ? NAN : 2 * op_count(op_in(c,
		0)) * columns + pairs / width * (2 * own + 5 * heads);
	cost->bytes = op_bytes_all(c);
}

static void ordered_attention_problem(const struct op_call *c, struct op_problem *out)
{
	attention_projection(c, ORDERED_WEIGHTS, 0, ordered_columns(c), out);
}

/* Operations of the projections; global attention depends on the data. */
static void ordered_longformer_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->bytes = op_bytes_all(c);
}

static void ordered_longformer_problem(const struct op_call *c, struct op_problem *out)
{
	const struct op_value *weights = op_in(c, ORDERED_LONGFORMER_WEIGHTS);
	attention_projection(c, ORDERED_LONGFORMER_WEIGHTS, 0, op_dim_at(weights, 2, 1), out);
}

enum { EMBED_WORDS = 2, EMBED_SEGMENTS = 4, EMBED_SCALE = 8 };

static RULE_SHAPE(q_embed)
{
	const struct op_value *ids = op_in(c, 0);
	if (ids->shape.rank >= 0 && ids->shape.rank != 2)
		return op_fail(c, err, "words of shape %s", shape_text(c->arena, ids->shape));
	c->outputs[0].dtype = op_in(c, EMBED_SCALE) ? op_in(c, EMBED_SCALE)->dtype : DTYPE_UNKNOWN;
	c->outputs[0].shape = shape_make(c->arena, 3);
	for (int i = 0; i < 3; i++)
		c->outputs[0].shape.dims[i] = i < 2 ? op_dim_at(ids, 2, i) :
			op_dim_at(op_in(c, EMBED_WORDS), 2, 1);
	if (c->output_count > 1) {
		c->outputs[1].dtype = DTYPE_S32;
		c->outputs[1].shape = shape_make(c->arena, 1);
		c->outputs[1].shape.dims[0] = op_dim_at(ids, 2, 0);
	}
	return 0;
}

/* Per word a row of two or three tables, dequantized (2) and added, then normalized (7). */
static RULE_COST(q_embed)
{
	int tables = op_in(c, EMBED_SEGMENTS) ? 3 : 2;
	double count = op_count(op_out(c, 0));
	if (!op_in(c, EMBED_WORDS))
		return;
	cost->flops = count * (2 * tables + tables - 1 + 7);
	cost->bytes = op_bytes(op_in(c, 0)) + op_bytes(op_in(c, 1)) + op_bytes(op_out(c, 0)) +
		op_bytes(op_out(c, 1)) + tables * dtype_bytes(c->inputs[EMBED_WORDS].dtype, count);
}

static RULE_PROBLEM(q_embed)
{
	if (!op_problem_ready(c, out))
		return;
	op_problem_map(out, KERNEL_LAYERNORM, MODE_NONE, &c->outputs[0], &c->outputs[0])->axis = 2;
	out->proxy = true;
}

/* QuantizeWithOrder, DequantizeWithOrder: between two memory orders; the type is one of two. */
static RULE_SHAPE(reorder)
{
	bool packs = text_is(c->node->op, "QuantizeWithOrder");
	c->outputs[0].dtype = packs ? DTYPE_S8 : tensor_dtype(node_int(c->node, "to", 1));
	return op_shape_as_input(c, err);
}

/* ---- QuantizeBFP, DequantizeBFP: block floating point, blocks of numbers along an axis that share an
 * exponent. The number of bytes depends on the bfp_type and is not documented. */

static int bfp_axis(const struct op_call *c, struct shape s, struct error *err)
{
	return s.rank > 0 && op_axis(c, node_int(c->node, "block_dim", -1), s.rank, err) < 0 ? -1 : 0;
}

/* Bytes, and the shape and strides of the input. */
static RULE_SHAPE(quantize_bfp)
{
	struct shape x = c->inputs[0].shape;
	if (bfp_axis(c, x, err))
		return -1;
	c->outputs[0].dtype = DTYPE_U8;
	c->outputs[0].shape = shape_make(c->arena, 1);
	struct dim stride = dim_known(1);
	for (int i = 1; i < c->output_count; i++) {
		c->outputs[i].dtype = DTYPE_S64;
		c->outputs[i].shape = op_shape_of(
			c->arena, 1, (struct dim[]){ x.rank < 0 ? dim_unknown() : dim_known(x.rank) });
		struct elements *e = x.rank < 0 || i > 2 ? NULL : op_elements_new(c->arena, x.rank, false);
		for (int d = x.rank - 1; e && d >= 0; d--) {
			e->i[d] = i == 1 ? x.dims[d] : stride;
			stride = i == 1 ? stride : dim_mul(c->arena, stride, x.dims[d]);
		}
		c->outputs[i].elements = e;
	}
	return 0;
}

static RULE_SHAPE(dequantize_bfp)
{
	struct op_list size = op_list_get(c, NULL, 1);
	c->outputs[0].dtype = op_dtype_get(c, "dtype", DTYPE_F32);
	if (op_rank_is(c, 0, 1, err) || op_rank_is(c, 1, 1, err) || op_list_sizes(c, &size, err))
		return -1;
	if (size.count < 0 || size.count > OP_RANK_MAX)
		return 0;
	c->outputs[0].shape = size.state == OP_LIST_KNOWN ? op_shape_of(c->arena, size.count, size.at)
							 : shape_make(c->arena, size.count);
	return bfp_axis(c, c->outputs[0].shape, err);
}

/* A comparison of exponents and a rounding per value; in reverse, a multiplication. */
static RULE_COST(bfp)
{
	bool packs = text_is(c->node->op, "QuantizeBFP");
	cost->flops = packs ? 2 * op_count(op_in(c, 0)) : op_count(op_out(c, 0));
	cost->bytes = op_bytes_all(c);
}

/* ---- operator table */

#define RESCALED "input and output scales are not measured (proxy)"

/* name, domain, fewest and most inputs */
#define CORE(...) &(const struct op_core_row){ __VA_ARGS__ }
#define PRODUCT(name, domain, since, fewest, most, note, ...)                                                \
	{ name, domain, since, 0, fewest, most, CLASS_COMPUTE, op_core_shape, op_core_cost, \
		op_core_problem, NULL, note, CORE(__VA_ARGS__) }
#define MS_CORE(name, fewest, most, note, ...)                                                               \
	{ name, "com.microsoft", 1, 0, fewest, most, CLASS_MEMORY, op_core_shape, op_core_cost, \
		op_core_problem, NULL, note, CORE(__VA_ARGS__) }
#define QUANTIZER(name, domain, since, most, rules)                                                          \
	{                                                                                                    \
		name, domain, since, 0, 2, most, CLASS_MEMORY, rules##_shape, quantize_cost,                 \
			rules##_problem, .flags = OP_EPILOGUE                                                \
	}

static const struct op rows[] = {
	PRODUCT("ConvInteger", "", 10, 2, 4, NULL,
		"Conv", CORE_PRODUCT, 2, { 0, 1, -1 }, -1, DTYPE_S32, -1, 2),
	PRODUCT("MatMulInteger", "", 10, 2, 4, NULL,
		"MatMul", CORE_PRODUCT, 2, { 0, 1, -1 }, -1, DTYPE_S32, -1, 2),
	PRODUCT("QLinearConv", "", 10, 8, 9, NULL,
		"Conv", CORE_PRODUCT, 2, { 0, 3, 8, -1 }, 7, DTYPE_UNKNOWN, -1, 0),
	PRODUCT("QLinearMatMul", "", 10, 8, 8, "a scale per row is measured as a single one (proxy)",
		"MatMul", CORE_PRODUCT, 2, { 0, 3, -1 }, 7, DTYPE_UNKNOWN, -1, 0),
	QUANTIZER("QuantizeLinear", "", 10, 3, quantize),
	QUANTIZER("DequantizeLinear", "", 10, 3, dequantize),
	{ "DynamicQuantizeLinear", "", 11, 0, 1, 1, CLASS_MEMORY, dynamic_quantize_shape,
		dynamic_quantize_cost, dynamic_quantize_problem, NULL, NULL },

	QUANTIZER("QuantizeLinear", "com.microsoft", 1, 3, quantize),
	QUANTIZER("DequantizeLinear", "com.microsoft", 1, 3, dequantize),
	PRODUCT("DynamicQuantizeMatMul", "com.microsoft", 1, 3, 5,
		"finding the input's range is not measured (proxy)",
		"MatMul", CORE_PRODUCT, 2, { 0, 1, -1 }, 0, DTYPE_F32, 4, 0),
	PRODUCT("MatMulInteger16", "com.microsoft", 1, 2, 2, NULL,
		"MatMul", CORE_PRODUCT, 2, { 0, 1, -1 }, -1, DTYPE_S32, -1, 0),
	PRODUCT("MatMulIntegerToFloat", "com.microsoft", 1, 4, 7, NULL,
		"MatMul", CORE_PRODUCT, 2, { 0, 1, -1 }, 2, DTYPE_F32, 6, 4),
	PRODUCT("QGemm", "com.microsoft", 1, 2, 9, NULL,
		"Gemm", CORE_PRODUCT, 2, { 0, 3, 6, -1 }, 8, DTYPE_F32, -1, 0),
	PRODUCT("QLinearConv", "com.microsoft", 1, 8, 9, NULL,
		"Conv", CORE_PRODUCT, 2, { 0, 3, 8, -1 }, 7, DTYPE_UNKNOWN, -1, 0),
	PRODUCT("QOrderedMatMul", "com.microsoft", 1, 5, 8, NULL,
		"MatMul", CORE_PRODUCT, 2, { 0, 2, -1 }, 0, DTYPE_UNKNOWN, 5, 0),
	PRODUCT("QLinearConv", "com.ms.internal.nhwc", 1, 8, 9, "channels last",
		"Conv", CORE_PRODUCT, 2, { 0, 3, 8, -1 }, 7, DTYPE_UNKNOWN, -1, 0),
	PRODUCT("QLinearConvTranspose", "com.ms.internal.nhwc", 1, 8, 9, "channels last",
		"ConvTranspose", CORE_PRODUCT, 2, { 0, 3, 8, -1 }, 7, DTYPE_UNKNOWN, -1, 0),
	{ "DynamicQuantizeLSTM", "com.microsoft", 1, 0, 3, 12, CLASS_COMPUTE, op_core_shape, op_core_cost,
		op_core_problem, NULL, "finding the input's range is not measured (proxy)",
		CORE("LSTM", CORE_RECURRENT, 3, { 0, 1, 2, 3 }, 0, DTYPE_F32, -1, 0) },
	MS_CORE("MulInteger", 1, 4, RESCALED, "Mul", CORE_PLAIN, 2, { 0, 2, -1 }, -1, DTYPE_S32, -1, 0),
	MS_CORE("QLinearAdd", 2, 8, RESCALED, "Add", CORE_PLAIN, 2, { 0, 3, -1 }, 0, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("QLinearAveragePool", 2, 5, RESCALED,
		"AveragePool", CORE_PLAIN, 1, { 0, -1 }, 0, DTYPE_UNKNOWN, -1, 0),
	{ "QLinearAveragePool", "com.ms.internal.nhwc", 1, 0, 2, 5, CLASS_MEMORY, op_core_shape,
		op_core_cost, op_core_problem, NULL, RESCALED,
		CORE("AveragePool", CORE_PLAIN, 1, { 0, -1 }, 0, DTYPE_UNKNOWN, -1, 0) },
	MS_CORE("QLinearConcat", 3, -1, RESCALED,
		"Concat", CORE_VARIADIC, 1, { 2, -1 }, 1, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("QLinearGlobalAveragePool", 2, 5, RESCALED,
		"GlobalAveragePool", CORE_PLAIN, 1, { 0, -1 }, 0, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("QLinearLeakyRelu", 2, 5, RESCALED,
		"LeakyRelu", CORE_PLAIN, 1, { 0, -1 }, 0, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("QLinearMul", 2, 8, RESCALED, "Mul", CORE_PLAIN, 2, { 0, 3, -1 }, 0, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("QLinearReduceMean", 2, 5, RESCALED,
		"ReduceMean", CORE_PLAIN, 1, { 0, -1 }, 0, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("QLinearSigmoid", 2, 5, RESCALED,
		"Sigmoid", CORE_PLAIN, 1, { 0, -1 }, 0, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("QLinearSoftmax", 2, 5, RESCALED,
		"Softmax", CORE_PLAIN, 1, { 0, -1 }, 0, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("QLinearWhere", 2, 9, RESCALED,
		"Where", CORE_PLAIN, 3, { 0, 1, 4, -1 }, 1, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("QOrderedGelu", 3, 3, RESCALED, "Gelu", CORE_PLAIN, 1, { 0, -1 }, 0, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("QOrderedLayerNormalization", 5, 5, RESCALED,
		"LayerNormalization", CORE_PLAIN, 2, { 0, 2, 3, -1 }, 0, DTYPE_UNKNOWN, -1, 0),
	MS_CORE("ReduceSumInteger", 1, 1, NULL,
		"ReduceSum", CORE_PLAIN, 1, { 0, -1 }, -1, DTYPE_S32, -1, 0),
	{ "QOrderedAttention", "com.microsoft", 1, 0, 8, 20, CLASS_COMPUTE, ordered_attention_shape,
		ordered_attention_cost, ordered_attention_problem, NULL,
		"measured as the projections alone (proxy)" },
	{ "QOrderedLongformerAttention", "com.microsoft", 1, 0, 14, 14, CLASS_COMPUTE, op_shape_as_input,
		ordered_longformer_cost, ordered_longformer_problem, NULL,
		"which tokens it uses depends on the data: measured as the projection alone (proxy)" },
	{ "QEmbedLayerNormalization", "com.microsoft", 1, 0, 1, 18, CLASS_MEMORY, q_embed_shape, q_embed_cost,
		q_embed_problem, NULL, "measured as its normalization (proxy)" },
	{ "QuantizeBFP", "com.microsoft", 1, 0, 1, 1, CLASS_MEMORY, quantize_bfp_shape, bfp_cost,
		op_problem_mover, NULL, "the size of its output is not published" },
	{ "DequantizeBFP", "com.microsoft", 1, 0, 3, 3, CLASS_MEMORY, dequantize_bfp_shape, bfp_cost,
		op_problem_mover, NULL, OP_COPY },
	{ "QuantizeWithOrder", "com.microsoft", 1, 0, 2, 2, CLASS_MOVE, reorder_shape, op_cost_move,
		op_problem_mover, NULL, OP_COPY },
	{ "DequantizeWithOrder", "com.microsoft", 1, 0, 2, 2, CLASS_MOVE, reorder_shape, op_cost_move,
		op_problem_mover, NULL, OP_COPY },
};

const struct op_rows op_quant_rows = OP_ROWS(rows);
