/* Matmuls of com.microsoft: transposed, scaled, with an activation; with weights of few bits in blocks that
 * share a scale; of mixtures of experts. */
#include "config.h"

#include "ops/microsoft/op_microsoft.h"

#include "model/tensor.h"

#include <math.h>

/* ---- activations */

struct activation {
	const char *name;
	enum mode mode;
	bool proxy;
	float alpha, beta; /* defaults */
};

/* Sorted by name (ASCII), as in node attributes. */
static const struct activation activations[] = {
	{ "Affine", MODE_LINEAR_MAP, false, 1, 0 },
	{ "Clip", MODE_CLIP, false, -3.4028235e38f, 3.4028235e38f },
	{ "Elu", MODE_ELU, false, 1, 0 },
	{ "FastGelu", MODE_GELU_TANH, false, 0, 0 },
	{ "GELU", MODE_GELU_ERF, false, 0, 0 },
	{ "Gelu", MODE_GELU_ERF, false, 0, 0 },
	{ "HardSigmoid", MODE_HARD_SIGMOID, false, 0.2f, 0.5f },
	{ "HardSwish", MODE_HARD_SWISH, false, 0, 0 },
	{ "LeakyRelu", MODE_LEAKY_RELU, false, 0.01f, 0 },
	{ "Mish", MODE_MISH, false, 0, 0 },
	{ "QuickGelu", MODE_SWISH, false, 1.702f, 0 },
	{ "RELU", MODE_RELU, false, 0, 0 },
	{ "Relu", MODE_RELU, false, 0, 0 },
	{ "ScaledTanh", MODE_TANH, true, 0, 0 },
	{ "Selu", MODE_ELU, true, 1.6732632f, 0 },
	{ "Sigmoid", MODE_SIGMOID, false, 0, 0 },
	{ "Silu", MODE_SWISH, false, 1, 0 },
	{ "Softplus", MODE_SOFTPLUS, false, 0, 0 },
	{ "Softsign", MODE_SIGMOID, true, 0, 0 },
	{ "Swish", MODE_SWISH, false, 1, 0 },
	{ "Tanh", MODE_TANH, false, 0, 0 },
	{ "ThresholdedRelu", MODE_RELU, true, 0, 0 },
};

bool microsoft_activates(const struct op_call *c)
{
	struct text name = node_string(c->node, "activation", "");
	return name.n && !text_is(name, "NONE");
}

double microsoft_activation_flops(const struct op_call *c)
{
	return microsoft_activates(c) ? op_count(op_out(c, 0)) : 0;
}

/* Parameter i: from the list, from its own attribute, or the default. */
static float activation_parameter(const struct op_call *c, size_t i, float otherwise)
{
	const struct attribute *list = node_attribute(c->node, "activation_params");
	if (list && list->kind == ATTRIBUTE_FLOATS)
		return i < list->count ? list->floats[i] : otherwise;
	return node_float(c->node, i ? "activation_beta" : "activation_alpha", otherwise);
}

void microsoft_activate(const struct op_call *c, struct op_problem *out)
{
	if (!out->known || !microsoft_activates(c))
		return;
	char *name = text_clean(c->arena, node_string(c->node, "activation", ""));
	const struct activation *row = NULL;
	for (size_t i = 0; i < sizeof(activations) / sizeof(activations[0]) && !row; i++)
		row = strcmp(activations[i].name, name) == 0 ? &activations[i] : NULL;
	struct problem *p = &out->problem;
	struct epilogue e = { .kind = EPILOGUE_ELTWISE };
	if (row) {
		int parameters = mode_parameters(row->mode);
		e.mode = row->mode;
		e.alpha = parameters > 0 ? activation_parameter(c, 0, row->alpha) : 0;
		e.beta = parameters > 1 ? activation_parameter(c, 1, row->beta) : 0;
	}
	bool fits = row && isfinite(e.alpha) && isfinite(e.beta) && p->epilogue_count < PROBLEM_EPILOGUES;
	if (fits)
		p->epilogue[p->epilogue_count++] = e;
	out->proxy |= !fits || row->proxy;
}

/* ---- FusedMatMulActivation, FusedGemm, GemmFastGelu */

static void fused_matmul_cost(const struct op_call *c, struct op_cost *cost)
{
	op_matmul_cost(c, cost);
	cost->flops += microsoft_activation_flops(c);
}

static void fused_matmul_problem(const struct op_call *c, struct op_problem *out)
{
	op_matmul_problem(c, out);
	microsoft_activate(c, out);
}

static void fused_gemm_cost(const struct op_call *c, struct op_cost *cost)
{
	op_gemm_cost(c, cost);
	cost->flops += microsoft_activation_flops(c);
}

static void fused_gemm_problem(const struct op_call *c, struct op_problem *out)
{
	op_gemm_problem(c, out);
	microsoft_activate(c, out);
}

/* A bias and the activation. */
static void gemm_fast_gelu_cost(const struct op_call *c, struct op_cost *cost)
{
	op_matmul_cost(c, cost);
	cost->flops += op_count(op_out(c, 0)) * (op_in(c, 2) ? 2 : 1);
}

static void gemm_fast_gelu_problem(const struct op_call *c, struct op_problem *out)
{
	op_matmul_problem(c, out);
	if (!out->known)
		return;
	struct problem *p = &out->problem;
	op_problem_bias(op_in(c, 2), out);
	p->epilogue[p->epilogue_count++] =
		(struct epilogue){ .kind = EPILOGUE_ELTWISE, .mode = MODE_GELU_TANH };
}

/* The type is that of attribute `dtype`; scales follow the bias. */
static int gemm_float8_shape(struct op_call *c, struct error *err)
{
	int64_t type = node_int(c->node, "dtype", 1);
	if (op_gemm_shape(c, err))
		return -1;
	c->outputs[0].dtype = tensor_dtype(type);
	return 0;
}

/* ---- matmuls with weights of few bits */

/* Inputs and attributes of an operator. n, k: attributes, or NULL if the weights are n x k. */
struct weighted {
	const char *n, *k;
	int bias;	 /* 0: none */
	bool exact;	 /* the weights have exactly the problem's type */
	enum dtype type; /* DTYPE_UNKNOWN: unsigned integers of `bits` */
};

#define ZERO_POINTS 3 /* input of MatMulNBits */
#define FPQ4_BLOCK 32

struct dim microsoft_last_of(struct shape s)
{
	return s.rank > 0 ? s.dims[s.rank - 1] : dim_unknown();
}

static int dim_of_attribute(const struct op_call *c, const char *name, struct dim *dim, struct error *err)
{
	int64_t value = node_int(c->node, name, 0);
	if (value < 1 || value > (int64_t)1 << 40)
		return op_fail(c, err, "%s is %lld", name, (long long)value);
	*dim = dim_known(value);
	return 0;
}

/* Blocks are powers of two from 16 on; weights have 2 to 8 bits. Missing attributes have the runtime's
 * defaults. */
static int blocks_check(const struct op_call *c, struct error *err)
{
	int64_t block = node_int(c->node, "block_size", 16), bits = node_int(c->node, "bits", 4);
	if (block < 16 || (block & (block - 1)))
		return op_fail(c, err, "block_size is %lld, not a power of two from 16 on", (long long)block);
	return bits < 2 || bits > 8 ? op_fail(c, err, "bits is %lld, not from 2 to 8", (long long)bits) : 0;
}

/* True for n x k: only MatMulBnb4 may have k x n. */
static bool weights_lie_by_column(const struct op_call *c)
{
	return !text_is(text_of(c->op->name), "MatMulBnb4") || node_int(c->node, "transB", 1) != 0;
}

/* Checks MatMulNBits: columns x blocks x bytes of a block, unless the layout is specific to a device. */
static int blocks_fit(const struct op_call *c, struct dim n, struct dim k, struct error *err)
{
	int64_t block = node_int(c->node, "block_size", 0), bits = node_int(c->node, "bits", 4);
	const struct op_value *b = op_in(c, 1);
	if (block < 16 || block > INT32_MAX || node_int(c->node, "weight_prepacked", 0) != 0)
		return 0;
	const struct dim want[] = { n, dim_ceil_div(c->arena, k, block), dim_known(block * bits / 8) };
	for (int i = 0; i < 3; i++) {
		if (dim_differs(op_dim_at(b, 3, i), want[i]))
			return op_fail(c, err, "weights of shape %s, not %lldx%lldx%lld",
				shape_text(c->arena, b->shape), (long long)want[0].value,
				(long long)want[1].value, (long long)want[2].value);
	}
	return 0;
}

/* n and k of the matmul. */
static int weighted_sizes(const struct op_call *c, struct dim *n, struct dim *k, struct error *err)
{
	const struct weighted *row = c->op->own;
	struct shape b = c->inputs[1].shape, a = c->inputs[0].shape;
	*n = *k = dim_unknown();
	if (row->n && blocks_check(c, err))
		return -1;
	if (row->n && (dim_of_attribute(c, row->n, n, err) || dim_of_attribute(c, row->k, k, err)))
		return -1;
	if (!row->n && row->type == DTYPE_U4) { /* its shape is an input */
		struct op_list sizes = op_list_get(c, NULL, 2);
		if (sizes.state == OP_LIST_KNOWN && sizes.count == 2) {
			*k = sizes.at[0];
			*n = sizes.at[1];
		}
	} else if (!row->n) {
		*n = b.rank == 2 ? b.dims[0] : dim_unknown();
		if (row->type == DTYPE_F8E4M3)
			*k = microsoft_last_of(b);
	}
	if (row->n && row->type == DTYPE_UNKNOWN && blocks_fit(c, *n, *k, err))
		return -1;
	if (!weights_lie_by_column(c)) { /* then the sizes are swapped, too */
		struct dim held = *n;
		*n = *k;
		*k = held;
	}
	if (a.rank == 0 || !op_dim_merge(microsoft_last_of(a), *k, k))
		return op_fail(c, err, "shape %s does not multiply with weights of %lld x %lld",
			shape_text(c->arena, a), (long long)k->value, (long long)n->value);
	return 0;
}

/* The shape of a with another last dimension. */
static struct shape columns_shape(const struct op_call *c, struct shape a, struct dim n)
{
	struct shape y = op_shape_copy(c->arena, a);
	if (y.rank > 0)
		y.dims[y.rank - 1] = n;
	return y;
}

static int weighted_shape(struct op_call *c, struct error *err)
{
	struct dim n, k;
	if (weighted_sizes(c, &n, &k, err))
		return -1;
	c->outputs[0].shape = columns_shape(c, c->inputs[0].shape, n);
	return 0;
}

/* Dequantization is not counted; the bytes are those stored, with scales and zero points. */
static void weighted_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct weighted *row = c->op->own;
	struct error err;
	struct dim n, k;
	if (weighted_sizes(c, &n, &k, &err))
		return;
	double out = op_count(op_out(c, 0));
	cost->flops = 2 * out * op_dim_number(k) + (row->bias && op_in(c, row->bias) ? out : 0);
	cost->bytes = op_bytes_all(c);
}

struct dim microsoft_rows_of(const struct op_call *c, struct shape s)
{
	struct shape lead = { .rank = s.rank - 1, .dims = s.dims };
	return s.rank > 0 ? shape_elements(c->arena, lead) : dim_unknown();
}

#define NO_TYPE "there is no type with this number of bits"

/* A matmul of rows x k and n x k weights of this many bits. */
static bool few_bits_problem(
	const struct op_call *c, enum dtype type, struct dim n, struct dim k, struct op_problem *out)
{
	const struct op_value *a = &c->inputs[0], *y = &c->outputs[0];
	if (!op_problem_value(c, a, out) || !op_problem_value(c, y, out))
		return false;
	if (type == DTYPE_UNKNOWN) {
		op_problem_why(out, NO_TYPE);
		return false;
	}
	struct op_value b = { .present = true, .dtype = type, .constant = true };
	if (!op_problem_matmul(a, &b, y, microsoft_rows_of(c, a->shape), n, k, out))
		return false;
	out->problem.transpose_b = true;
	return true;
}

/* Scales, and zero points if there are some, for every `block` terms of a column (0: one for all). */
static void blocks_set(int64_t block, bool zero_points, struct op_problem *out)
{
	struct problem *p = &out->problem;
	p->size = block < 1 || block > p->mk ? p->mk : block;
	p->zero_points = zero_points;
}

/* The unsigned integer type of this many bits. */
static enum dtype bits_type(int64_t bits)
{
	static const enum dtype types[] = { [2] = DTYPE_U2, [4] = DTYPE_U4, [8] = DTYPE_U8 };
	return bits >= 0 && bits <= 8 ? types[bits] : DTYPE_UNKNOWN;
}

static enum dtype type_of_bits(const struct op_call *c)
{
	return bits_type(node_int(c->node, "bits", 4));
}

static void weighted_problem(const struct op_call *c, struct op_problem *out)
{
	const struct weighted *row = c->op->own;
	struct error err;
	struct dim n, k;
	if (weighted_sizes(c, &n, &k, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	if (!few_bits_problem(c, row->type ? row->type : type_of_bits(c), n, k, out))
		return;
	out->problem.transpose_b = weights_lie_by_column(c);
	if (row->n)
		blocks_set(node_int(c->node, "block_size", 16), row->bias && op_in(c, ZERO_POINTS), out);
	else if (row->type == DTYPE_U4)
		blocks_set(FPQ4_BLOCK, node_int(c->node, "blk_quant_type", 1) == 0, out);
	if (row->bias)
		op_problem_bias(op_in(c, row->bias), out);
	out->proxy = !row->exact;
}

/* ---- MatMulNBitsMlp, MatMulNBitsQkv: a norm and several matmuls of one input */

/* Columns of output i, and of all matmuls together. */
static int several_columns(const struct op_call *c, int i, struct dim *n, struct dim *all, struct error *err)
{
	struct dim q, kv;
	if (text_is(text_of(c->op->name), "MatMulNBitsMlp")) {
		if (dim_of_attribute(c, "N", n, err))
			return -1;
		*all = dim_mul(c->arena, dim_known(2), *n);
		return 0;
	}
	if (dim_of_attribute(c, "Nq", &q, err) || dim_of_attribute(c, "Nkv", &kv, err))
		return -1;
	*n = i ? kv : q;
	*all = dim_add(c->arena, q, dim_mul(c->arena, dim_known(2), kv));
	return 0;
}

static int several_products(const struct op_call *c)
{
	return text_is(text_of(c->op->name), "MatMulNBitsMlp") ? 1 : 3;
}

static int several_shape(struct op_call *c, struct error *err)
{
	struct dim n, all, k;
	if (blocks_check(c, err) || dim_of_attribute(c, "K", &k, err))
		return -1;
	if (dim_differs(k, microsoft_last_of(c->inputs[0].shape)))
		return op_fail(c, err, "K is %lld, the source %s", (long long)k.value,
			shape_text(c->arena, c->inputs[0].shape));
	for (int i = 0; i < c->output_count; i++) {
		if (several_columns(c, i, &n, &all, err))
			return -1;
		bool product = i < several_products(c);
		c->outputs[i].shape = product ? columns_shape(c, c->inputs[0].shape, n)
					      : op_shape_copy(c->arena, c->inputs[0].shape);
	}
	return 0;
}

/* The matmuls; 4 per element for the norm and 1 for the sum, if any; the activation and the multiplication
 * after it. */
static void several_cost(const struct op_call *c, struct op_cost *cost)
{
	struct dim n, all;
	struct error err;
	if (several_columns(c, 0, &n, &all, &err))
		return;
	double source = op_count(op_in(c, 0));
	double rows = op_dim_number(microsoft_rows_of(c, c->inputs[0].shape));
	cost->flops =
		2 * source * op_dim_number(all) + (op_in(c, 2) ? 4 * source : 0) + (op_in(c, 1) ? source : 0);
	if (several_products(c) == 1)
		cost->flops += 2 * rows * op_dim_number(n);
	cost->bytes = op_bytes_all(c);
}

/* One matmul of all columns, as a proxy. */
static void several_problem(const struct op_call *c, struct op_problem *out)
{
	struct dim n, all;
	struct error err;
	if (several_columns(c, 0, &n, &all, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	if (few_bits_problem(c, type_of_bits(c), all, microsoft_last_of(c->inputs[0].shape), out))
		blocks_set(node_int(c->node, "block_size", 16), false, out);
	out->proxy = out->known;
}

/* ---- MoE, QMoE */

/* Input indexes of weights and biases of the first, second and third layer of an expert. */
struct experts {
	int weights[3], bias[3], last;
};
static const struct experts plain_experts = { { 2, 4, 6 }, { 3, 5, 7 }, 7 };
static const struct experts quantized_experts = { { 2, 5, 8 }, { 4, 7, 10 }, 14 };

static const struct experts *experts_of(const struct op_call *c)
{
	return text_is(text_of(c->op->name), "MoE") ? &plain_experts : &quantized_experts;
}

double microsoft_size_at(const struct op_call *c, int input, int rank, int i)
{
	return op_dim_number(op_dim_at(op_in(c, input), rank, i));
}

/* Checks that at most all experts are used per token. */
static int experts_shape(struct op_call *c, struct error *err)
{
	int64_t k = node_int(c->node, "k", 1);
	bool whole = text_is(node_string(c->node, "quant_type", "int"), "int");
	if (whole && node_int(c->node, "block_size", 0) > 0 && blocks_check(c, err))
		return -1;
	if (k < 1 || (double)k > microsoft_size_at(c, 2, 3, 0))
		return op_fail(c, err, "k is %lld", (long long)k);
	return op_shape_as_input(c, err);
}

/* Sizes of a call; NaN = unknown. */
struct experts_sizes {
	double tokens, chosen, width; /* rows; experts per row; row length */
	double count, wide, inner;    /* number of experts; rows of the first weights; width between the
				         layers */
};

static struct experts_sizes experts_sizes(const struct op_call *c, const struct experts *e)
{
	struct experts_sizes s = { .chosen = (double)node_int(c->node, "k", 1),
		.width = op_dim_number(microsoft_last_of(c->inputs[0].shape)),
		.count = microsoft_size_at(c, e->weights[0], 3, 0),
		.wide = microsoft_size_at(c, e->weights[0], 3, 1) };
	bool fused = text_is(node_string(c->node, "activation_type", "relu"), "swiglu") &&
		     node_int(c->node, "swiglu_fusion", 0) != 0;
	s.tokens = op_count(op_in(c, 0)) / s.width;
	s.inner = fused ? s.wide / 2 : s.wide;
	return s;
}

double microsoft_experts_read(double tokens, double chosen, double count, struct op_cost *cost)
{
	if (chosen >= count || tokens == 1)
		return fmin(1, chosen / count);
	cost->upto = !isnan(tokens) && !isnan(count);
	return 1 - pow(1 - chosen / count, tokens);
}

/* Each token passes k experts: matmuls, biases, the activation, and its share of the sum. */
static void experts_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct experts *e = experts_of(c);
	struct experts_sizes s = experts_sizes(c, e);
	double each = 2 * s.width * (s.wide + s.inner) + s.inner + 2 * s.width;
	each += (s.inner < s.wide ? s.inner : 0) +
		(op_in(c, e->weights[2]) ? 2 * s.width * s.inner + s.inner : 0);
	for (int i = 0; i < 3; i++)
		each += op_in(c, e->bias[i]) ? (i == 0 ? s.wide : i == 1 ? s.width : s.inner) : 0;
	cost->flops = s.tokens * s.chosen * each;
	double part = microsoft_experts_read(s.tokens, s.chosen, s.count, cost), of_experts = 0;
	for (int i = 2; i <= e->last; i++)
		of_experts += op_bytes(op_in(c, i));
	cost->bytes = op_bytes_all(c) - of_experts * (1 - part);
}

/* Bits of a weight of QMoE: those of all layers or, if they differ, their mean, rounded down. */
static int64_t experts_bits(const struct op_call *c, const struct experts *e, const struct experts_sizes *s)
{
	static const char *const names[] = { "fc1_expert_weight_bits", "fc2_expert_weight_bits",
		"fc3_expert_weight_bits" };
	const double rows[] = { s->wide, s->inner, op_in(c, e->weights[2]) ? s->inner : 0 };
	int64_t first = 0;
	double bits = 0, all = 0;
	bool differ = false;
	for (int i = 0; i < 3; i++) {
		int64_t each = node_int(c->node, names[i], node_int(c->node, "expert_weight_bits", 4));
		first = i ? first : each;
		differ |= rows[i] > 0 && each != first;
		bits += rows[i] * (double)each;
		all += rows[i];
	}
	bits /= all;
	return !differ ? first : bits >= 8 ? 8 : bits >= 4 ? 4 : bits >= 2 ? 2 : 0;
}

/* All layers of an expert as one matmul with the same multiplications and weights: tokens x columns of all
 * layers. Tokens are spread evenly over at most as many experts as they select. */
static void experts_problem(const struct op_call *c, struct op_problem *out)
{
	const struct experts *e = experts_of(c);
	struct experts_sizes s = experts_sizes(c, e);
	double columns = s.wide + s.inner + (op_in(c, e->weights[2]) ? s.inner : 0);
	double experts = fmin(s.count, s.tokens * s.chosen), rows = floor(s.tokens * s.chosen / experts);
	if (!op_problem_ready(c, out))
		return;
	struct op_value w = c->inputs[e->weights[0]];
	if (e == &quantized_experts)
		w.dtype = bits_type(experts_bits(c, e, &s));
	if (w.dtype == DTYPE_UNKNOWN || !(rows >= 1) || !(columns < 0x1p48)) {
		op_problem_why(
			out, w.dtype == DTYPE_UNKNOWN ? NO_TYPE : "the weights of the experts are not known");
		return;
	}
	if (!op_problem_matmul(&c->inputs[0], &w, &c->outputs[0], dim_known((int64_t)rows),
		    dim_known((int64_t)columns), microsoft_last_of(c->inputs[0].shape), out))
		return;
	struct problem *p = &out->problem;
	p->batch_a.dim[0] = p->batch_b.dim[0] = (int64_t)experts;
	p->transpose_b = true;
	out->proxy = true;
}

/* ---- GatherBlockQuantized */

/* Values per element of the table: several in a byte, along the last dimension. */
static int64_t packed_in(const struct op_call *c)
{
	int64_t bits = node_int(c->node, "bits", 4);
	return c->inputs[0].dtype == DTYPE_U8 && (bits == 1 || bits == 2 || bits == 4) ? 8 / bits : 1;
}

static int gather_blocks_shape(struct op_call *c, struct error *err)
{
	struct shape data = c->inputs[0].shape, indices = c->inputs[1].shape;
	/* 8-bit floats: one block, and no attribute bits */
	bool whole = dtype_is_float(c->inputs[0].dtype) || c->inputs[0].dtype == DTYPE_UNKNOWN;
	if (!whole && blocks_check(c, err))
		return -1;
	c->outputs[0].dtype = c->inputs[2].dtype;
	if (data.rank < 0 || indices.rank < 0 || data.rank + indices.rank > OP_RANK_MAX)
		return 0;
	int axis = op_axis(c, node_int(c->node, "gather_axis", 0), data.rank, err), at = 0;
	if (axis < 0)
		return -1;
	struct shape y = shape_make(c->arena, data.rank - 1 + indices.rank);
	for (int i = 0; i < data.rank; i++) {
		bool last = i == data.rank - 1;
		if (i != axis)
			y.dims[at++] = last ? dim_mul(c->arena, data.dims[i], dim_known(packed_in(c)))
					    : data.dims[i];
		for (int j = 0; i == axis && j < indices.rank; j++)
			y.dims[at++] = indices.dims[j];
	}
	c->outputs[0].shape = c->inputs[0].dtype == DTYPE_UNKNOWN ? SHAPE_UNKNOWN : y;
	return 0;
}

/* A subtraction and a multiplication per value. Reads the selected rows of the table, its scales and zero
 * points. */
static void gather_blocks_cost(const struct op_call *c, struct op_cost *cost)
{
	double out = op_count(op_out(c, 0));
	double part = fmin(1, out / (op_count(op_in(c, 0)) * (double)packed_in(c)));
	cost->flops = 2 * out;
	cost->bytes = op_bytes(op_out(c, 0)) + op_bytes(op_in(c, 1)) +
		      part * (op_bytes(op_in(c, 0)) + op_bytes(op_in(c, 2)) + op_bytes(op_in(c, 3)));
}

static void gather_blocks_problem(const struct op_call *c, struct op_problem *out)
{
	if (op_problem_ready(c, out))
		op_problem_mover(c, out);
}

#define FEW "weights as stored; dequantization is not counted"
#define EXPERTS "measured as one matmul per expert, tokens spread evenly (proxy)"
#define MS "com.microsoft", 1, 0

static const struct op rows[] = {
	{ "FusedMatMul", MS, 2, 2, CLASS_COMPUTE, op_matmul_shape, op_matmul_cost, op_matmul_problem, NULL,
		"measured with the batch in front of the rows (proxy)" },
	{ "TransposeMatMul", MS, 2, 2, CLASS_COMPUTE, op_matmul_shape, op_matmul_cost, op_matmul_problem,
		NULL, NULL },
	{ "FusedMatMulActivation", MS, 2, 2, CLASS_COMPUTE, op_matmul_shape, fused_matmul_cost,
		fused_matmul_problem, NULL, NULL },
	{ "FusedGemm", MS, 2, 3, CLASS_COMPUTE, op_gemm_shape, fused_gemm_cost, fused_gemm_problem, NULL,
		NULL },
	{ "GemmFastGelu", MS, 2, 3, CLASS_COMPUTE, op_matmul_shape, gemm_fast_gelu_cost,
		gemm_fast_gelu_problem, NULL, NULL },
	{ "GemmFloat8", MS, 2, 6, CLASS_COMPUTE, gemm_float8_shape, fused_gemm_cost, fused_gemm_problem, NULL,
		"scales are not measured" },
	{ "MatMulNBits", MS, 3, 6, CLASS_COMPUTE, weighted_shape, weighted_cost, weighted_problem, NULL,
		FEW,
		&(const struct weighted){ "N", "K", 5, true, DTYPE_UNKNOWN } },
	{ "MatMulBnb4", MS, 3, 3, CLASS_COMPUTE, weighted_shape, weighted_cost, weighted_problem, NULL,
		"its 4-bit floats are measured as integers (proxy)",
		&(const struct weighted){ "N", "K", 0, false, DTYPE_U4 } },
	{ "MatMulFpQ4", MS, 3, 3, CLASS_COMPUTE, weighted_shape, weighted_cost, weighted_problem, NULL, FEW,
		&(const struct weighted){ NULL, NULL, 0, true, DTYPE_U4 } },
	{ "MatMulBlockQuantizedFp4Weight", MS, 4, 6, CLASS_COMPUTE, weighted_shape, weighted_cost,
		weighted_problem, NULL, FEW,
		&(const struct weighted){ NULL, NULL, 5, true, DTYPE_F4E2M1 } },
	{ "MatMulBlockQuantizedFp8Weight", MS, 3, 5, CLASS_COMPUTE, weighted_shape, weighted_cost,
		weighted_problem, NULL, FEW,
		&(const struct weighted){ NULL, NULL, 4, true, DTYPE_F8E4M3 } },
	{ "MatMulNBitsMlp", MS, 1, 9, CLASS_COMPUTE, several_shape, several_cost, several_problem, NULL,
		"measured as one matmul of all columns (proxy)" },
	{ "MatMulNBitsQkv", MS, 1, 12, CLASS_COMPUTE, several_shape, several_cost, several_problem, NULL,
		"measured as one matmul of all columns (proxy)" },
	{ "MoE", MS, 3, 8, CLASS_COMPUTE, experts_shape, experts_cost, experts_problem, NULL, EXPERTS },
	{ "QMoE", MS, 3, 21, CLASS_COMPUTE, experts_shape, experts_cost, experts_problem, NULL, EXPERTS },
	{ "GatherBlockQuantized", MS, 3, 4, CLASS_MOVE, gather_blocks_shape, gather_blocks_cost,
		gather_blocks_problem, NULL, OP_COPY },
};
const struct op_rows op_microsoft_matmul_rows = OP_ROWS(rows);
