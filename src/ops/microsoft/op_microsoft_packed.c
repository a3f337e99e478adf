/* Operators of com.microsoft around packed weights and mixtures of experts, new in ONNX Runtime 1.32:
 * MatMulPacked, GatherPacked, MoEPacked, MatMulNBitsQLoRA, RouterGateUpProj, MoEGroupRouter. A packed row
 * holds `row_bytes` bytes; the format gives bits per weight, so a problem uses the integer type of as many
 * bits. Source: the operators' schemas. */
#include "config.h"

#include "ops/microsoft/op_microsoft.h"

#include "model/tensor.h"

#include <math.h>

/* ---- shared helpers */

/* The shape of input 0 with another last dimension. */
static struct shape with_columns(const struct op_call *c, struct dim columns)
{
	struct shape y = op_shape_copy(c->arena, c->inputs[0].shape);
	if (y.rank > 0)
		y.dims[y.rank - 1] = columns;
	return y;
}

/* Required attribute `name`, a size of at least 1. */
static int size_attribute(const struct op_call *c, const char *name, struct dim *size, struct error *err)
{
	int64_t value = node_int(c->node, name, 0);
	if (value < 1 || value > (int64_t)1 << 40)
		return op_fail(c, err, "%s is %lld, not at least 1", name, (long long)value);
	*size = dim_known(value);
	return 0;
}

/* Returns -1 if the last dimension of input 0 is known and differs from k. */
static int source_fits(const struct op_call *c, struct dim k, struct error *err)
{
	const struct op_value *x = &c->inputs[0];
	if (x->shape.rank != 0 && !dim_differs(microsoft_last_of(x->shape), k))
		return 0;
	return op_fail(c, err, "input of shape %s, weights of %lld values a row",
		shape_text(c->arena, x->shape), (long long)k.value);
}

/* Unsigned type for packed rows of k weights in row_bytes bytes, from the bits per weight, rounded down: 2.1
 * gives u2, 4.5 gives u4. DTYPE_UNKNOWN outside 1 to 16. */
static enum dtype packed_type(struct dim row_bytes, struct dim k)
{
	double bits = floor(8 * op_dim_number(row_bytes) / op_dim_number(k));
	return !(bits >= 1 && bits <= 16) ? DTYPE_UNKNOWN
	       : bits <= 2		  ? DTYPE_U2
	       : bits <= 4		  ? DTYPE_U4
					  : DTYPE_U8;
}

/* Proxy: matmul of rows x k by weights of this type, k x n. */
static void packed_problem(
	const struct op_call *c, enum dtype type, struct dim n, struct dim k, struct op_problem *out)
{
	const struct op_value *x = &c->inputs[0], *y = &c->outputs[0];
	struct op_value w = { .present = true, .dtype = type, .constant = true };
	if (!op_problem_value(c, x, out))
		return;
	if (type == DTYPE_UNKNOWN) {
		op_problem_why(out, "the bits of a packed weight are not known");
		return;
	}
	if (!op_problem_matmul(x, &w, y, microsoft_rows_of(c, x->shape), n, k, out))
		return;
	out->problem.transpose_b = true;
	out->proxy = true;
}

/* ---- MatMulPacked: y = activation(global_scale a b'), b packed as N x row_bytes */

static int matmul_packed_sizes(const struct op_call *c, struct dim *n, struct dim *k, struct error *err)
{
	if (size_attribute(c, "N", n, err) || size_attribute(c, "K", k, err) || source_fits(c, *k, err))
		return -1;
	if (dim_differs(op_dim_at(op_in(c, 1), 2, 0), *n))
		return op_fail(c, err, "N is %lld, packed weights %s", (long long)n->value,
			shape_text(c->arena, c->inputs[1].shape));
	return op_rank_is(c, 1, 2, err);
}

static RULE_SHAPE(matmul_packed)
{
	struct dim n, k;
	if (matmul_packed_sizes(c, &n, &k, err))
		return -1;
	c->outputs[0].shape = with_columns(c, n);
	return 0;
}

/* Unpacking the weights is part of the kernel and is not counted. */
static RULE_COST(matmul_packed)
{
	double y = op_count(op_out(c, 0)),
	       each = 2 * (double)node_int(c->node, "K", 0) + (op_in(c, 2) ? 1 : 0);
	bool activates = !text_is(node_string(c->node, "activation_type", "none"), "none");
	cost->flops = y * (each + (activates ? 1 : 0));
	cost->bytes = op_bytes_all(c);
}

static RULE_PROBLEM(matmul_packed)
{
	struct dim n = dim_known(node_int(c->node, "N", 0)), k = dim_known(node_int(c->node, "K", 0));
	packed_problem(c, packed_type(op_dim_at(op_in(c, 1), 2, 1), k), n, k, out);
}

/* ---- MatMulNBitsQLoRA: x w + (x a) b, all quantized in blocks */

enum { QLORA_DOWN = 3 };

/* Checks the blocks of one matrix: bits is 2, 4 or 8, the block a power of two of at least 16. */
static int qlora_blocks(const struct op_call *c, int input, struct dim rows, struct dim k,
	const char *const names[2], struct error *err)
{
	int64_t block = node_int(c->node, names[0], 32),
		bits = node_int(c->node, names[1], input == 1 ? 4 : 8);
	if (block < 16 || block > INT32_MAX || (block & (block - 1)))
		return op_fail(c, err, "%s is %lld, not a power of two from 16 on", names[0],
			(long long)block);
	if (bits != 2 && bits != 4 && bits != 8)
		return op_fail(c, err, "%s is %lld, not 2, 4 or 8", names[1], (long long)bits);
	const struct dim want[] = { rows, dim_ceil_div(c->arena, k, block), dim_known(block * bits / 8) };
	const struct op_value *w = op_in(c, input);
	for (int i = 0; i < 3; i++) {
		if (dim_differs(op_dim_at(w, 3, i), want[i]))
			return op_fail(c, err, "input %d has shape %s, not %lldx%lldx%lld", input,
				shape_text(c->arena, w->shape), (long long)want[0].value,
				(long long)want[1].value, (long long)want[2].value);
	}
	return 0;
}

static RULE_SHAPE(qlora)
{
	static const char *const base[] = { "block_size", "bits" }, *const down[] = { "lora_block_size",
		"lora_bits" };
	struct dim n, k, rank = op_dim_at(op_in(c, QLORA_DOWN), 3, 0);
	if (size_attribute(c, "N", &n, err) || size_attribute(c, "K", &k, err) || source_fits(c, k, err) ||
		qlora_blocks(c, 1, n, k, base, err) || qlora_blocks(c, QLORA_DOWN, rank, k, down, err))
		return -1;
	c->outputs[0].shape = with_columns(c, n);
	return 0;
}

static RULE_COST(qlora)
{
	double n = (double)node_int(c->node, "N", 0), k = (double)node_int(c->node, "K", 0);
	double rank = op_dim_number(op_dim_at(op_in(c, QLORA_DOWN), 3, 0)), y = op_count(op_out(c, 0));
	cost->flops = 2 * y * k + y / n * 2 * rank * (n + k) + y;
	cost->bytes = op_bytes_all(c);
}

/* Proxy: the base weights and the down projection share the input, so their columns form one matmul. */
static RULE_PROBLEM(qlora)
{
	static const enum dtype types[] = { [2] = DTYPE_U2, [4] = DTYPE_U4, [8] = DTYPE_U8 };
	int64_t bits = node_int(c->node, "bits", 4);
	struct dim n = dim_known(node_int(c->node, "N", 0)), k = dim_known(node_int(c->node, "K", 0));
	n = dim_add(c->arena, n, op_dim_at(op_in(c, QLORA_DOWN), 3, 0));
	packed_problem(c, bits == 2 || bits == 4 || bits == 8 ? types[bits] : DTYPE_UNKNOWN, n, k, out);
}

/* ---- GatherPacked: gathers rows of a packed embedding table and unpacks them */

static RULE_SHAPE(gather_packed)
{
	struct dim k;
	struct shape indices = c->inputs[1].shape;
	if (size_attribute(c, "K", &k, err) || op_rank_is(c, 0, 2, err))
		return -1;
	c->outputs[0].dtype = tensor_dtype(node_int(c->node, "output_dtype", 16));
	if (indices.rank < 0 || indices.rank >= OP_RANK_MAX)
		return 0;
	struct shape y = shape_make(c->arena, indices.rank + 1);
	for (int i = 0; i < indices.rank; i++)
		y.dims[i] = indices.dims[i];
	y.dims[indices.rank] = k;
	c->outputs[0].shape = y;
	return 0;
}

/* A subtraction and a multiplication per value; only the gathered rows of the table are read. */
static RULE_COST(gather_packed)
{
	double row = op_dim_number(op_dim_at(op_in(c, 0), 2, 1));
	cost->flops = 2 * op_count(op_out(c, 0));
	cost->bytes = op_bytes(op_out(c, 0)) + op_bytes(op_in(c, 1)) +
		      fmin(op_bytes(op_in(c, 0)), row * op_count(op_in(c, 1)));
}

/* ---- MoEPacked: experts with packed weights: gate and up [experts, inner, bytes], down [experts, width,
 * bytes] */

enum { MOE_GATE = 2, MOE_UP, MOE_DOWN, MOE_MIX };

static RULE_SHAPE(moe_packed)
{
	struct dim experts = dim_unknown();
	int64_t k = node_int(c->node, "k", 1);
	for (int i = MOE_GATE; i <= MOE_DOWN; i++) {
		if (op_rank_is(c, i, 3, err))
			return -1;
		if (!op_dim_merge(experts, op_dim_at(op_in(c, i), 3, 0), &experts))
			return op_fail(c, err,
				"packed weights of different numbers of experts: input %d is %s", i,
				shape_text(c->arena, op_in(c, i)->shape));
	}
	if (k < 1 || (experts.kind == DIM_KNOWN && k > experts.value))
		return op_fail(c, err, "k is %lld", (long long)k);
	if (dim_differs(microsoft_last_of(c->inputs[0].shape), op_dim_at(op_in(c, MOE_DOWN), 3, 1)))
		return op_fail(c, err, "input %s, down weights %s", shape_text(c->arena, c->inputs[0].shape),
			shape_text(c->arena, c->inputs[MOE_DOWN].shape));
	return op_shape_as_input(c, err);
}

/* Per token, k experts: two or three matmuls, the activation (and the product with up), the weighted sum. */
static RULE_COST(moe_packed)
{
	double width = op_dim_number(microsoft_last_of(c->inputs[0].shape)),
	       tokens = op_count(&c->inputs[0]) / width;
	double experts = op_dim_number(op_dim_at(op_in(c, MOE_GATE), 3, 0)),
	       k = (double)node_int(c->node, "k", 1);
	double inner = op_dim_number(op_dim_at(op_in(c, MOE_GATE), 3, 1)), layers = op_in(c, MOE_UP) ? 3 : 2;
	double read = microsoft_experts_read(tokens, k, experts, cost), weights = 0;
	for (int i = MOE_GATE; i <= MOE_DOWN; i++)
		weights += op_bytes(op_in(c, i));
	cost->flops = tokens * k * (2 * layers * width * inner + (layers - 1) * inner + 2 * width);
	cost->bytes = op_bytes_all(c) - weights * (1 - read);
}

/* Proxy: all layers of an expert as one matmul with the same number of multiplications; the tokens are spread
 * evenly over the experts. */
static RULE_PROBLEM(moe_packed)
{
	struct dim width = microsoft_last_of(c->inputs[0].shape), gate = op_dim_at(op_in(c, MOE_GATE), 3, 2);
	if (!op_problem_ready(c, out))
		return;
	double all = op_dim_number(op_dim_at(op_in(c, MOE_GATE), 3, 0));
	double chosen =
		op_dim_number(microsoft_rows_of(c, c->inputs[0].shape)) * (double)node_int(c->node, "k", 1);
	double experts = fmin(all, chosen), rows = floor(chosen / experts);
	struct dim columns =
		dim_mul(c->arena, op_dim_at(op_in(c, MOE_GATE), 3, 1), dim_known(op_in(c, MOE_UP) ? 3 : 2));
	struct op_value w = { .present = true, .dtype = packed_type(gate, width), .constant = true };
	if (w.dtype == DTYPE_UNKNOWN || !(rows >= 1)) {
		op_problem_why(out,
			w.dtype == DTYPE_UNKNOWN ? "the bits of a packed weight are not known"
						 : "the number of tokens or experts is not known");
		return;
	}
	if (!op_problem_matmul(
		    &c->inputs[0], &w, &c->outputs[0], dim_known((int64_t)rows), columns, width, out))
		return;
	struct problem *p = &out->problem;
	p->batch_a.dim[0] = p->batch_b.dim[0] = (int64_t)experts;
	p->transpose_b = true;
	out->proxy = true;
}

/* ---- RouterGateUpProj: one matmul gives router logits, gate and up; then SwiGLU of gate and up */

static int router_sizes(const struct op_call *c, struct dim *router, struct dim *inner, struct error *err)
{
	const struct op_value *w = op_in(c, 1);
	struct dim columns = op_dim_at(w, 2, 1);
	if (size_attribute(c, "router_size", router, err) || op_rank_is(c, 1, 2, err))
		return -1;
	if (c->inputs[0].shape.rank == 0 ||
		dim_differs(microsoft_last_of(c->inputs[0].shape), op_dim_at(w, 2, 0)))
		return op_fail(c, err, "shapes %s and %s do not multiply",
			shape_text(c->arena, c->inputs[0].shape), shape_text(c->arena, w->shape));
	if (columns.kind == DIM_KNOWN &&
		(columns.value <= router->value || (columns.value - router->value) % 2))
		return op_fail(c, err, "%lld columns are not router_size %lld and two halves",
			(long long)columns.value, (long long)router->value);
	*inner = dim_floor_div(c->arena, dim_sub(c->arena, columns, *router), dim_known(2));
	return 0;
}

static RULE_SHAPE(router_gate_up)
{
	struct dim router, inner;
	if (router_sizes(c, &router, &inner, err))
		return -1;
	c->outputs[0].shape = with_columns(c, router);
	if (c->output_count > 1)
		c->outputs[1].shape = with_columns(c, inner);
	return 0;
}

/* The matmul, the swish and the multiplication. */
static RULE_COST(router_gate_up)
{
	struct error err;
	struct dim router, inner;
	if (router_sizes(c, &router, &inner, &err))
		return;
	double rows = op_dim_number(microsoft_rows_of(c, c->inputs[0].shape));
	cost->flops = rows * 2 * (op_count(op_in(c, 1)) + op_dim_number(inner));
	cost->bytes = op_bytes_all(c);
}

static RULE_PROBLEM(router_gate_up)
{
	const struct op_value *x = &c->inputs[0], *w = &c->inputs[1];
	if (op_problem_ready(c, out) &&
		op_problem_matmul(x, w, &c->outputs[0], microsoft_rows_of(c, x->shape), w->shape.dims[1],
			w->shape.dims[0], out))
		out->proxy = true;
}

/* ---- MoEGroupRouter: sigmoid scores of the experts, from logits or from a projection of the tokens */

enum { ROUTER_BIAS = 1, ROUTER_PROJECTION };

static RULE_SHAPE(group_router)
{
	const struct op_value *x = &c->inputs[0], *projection = op_in(c, ROUTER_PROJECTION);
	struct dim experts = projection ? op_dim_at(projection, 2, 0) : microsoft_last_of(x->shape),
		   tokens = microsoft_rows_of(c, x->shape);
	if (op_rank_is(c, ROUTER_BIAS, 1, err) || op_rank_is(c, ROUTER_PROJECTION, 2, err))
		return -1;
	if (!op_dim_merge(experts, op_dim_at(op_in(c, ROUTER_BIAS), 1, 0), &experts))
		return op_fail(c, err, "%lld experts, expert_bias %s", (long long)experts.value,
			shape_text(c->arena, op_in(c, ROUTER_BIAS)->shape));
	if (projection && dim_differs(op_dim_at(projection, 2, 1), microsoft_last_of(x->shape)))
		return op_fail(c, err, "tokens %s, projection %s", shape_text(c->arena, x->shape),
			shape_text(c->arena, projection->shape));
	for (int i = 0; i < c->output_count; i++) {
		c->outputs[i].shape = op_shape_of(c->arena, 2, (struct dim[]){ tokens, experts });
		c->outputs[i].dtype = i ? DTYPE_F32 : x->dtype;
	}
	return 0;
}

/* A sigmoid and a bias per score, plus one comparison where experts are selected. */
static RULE_COST(group_router)
{
	const struct op_value *projection = op_in(c, ROUTER_PROJECTION);
	double tokens = op_dim_number(microsoft_rows_of(c, c->inputs[0].shape)),
	       experts = op_count(op_in(c, ROUTER_BIAS));
	cost->flops = tokens * experts * (op_out(c, 0) ? 3 : 2) +
		      (projection ? 2 * tokens * op_count(projection) : 0);
	cost->bytes = op_bytes_all(c);
}

RULE_PROBLEM(op_group_router)
{
	const struct op_value *x = &c->inputs[0], *w = op_in(c, ROUTER_PROJECTION), *y = op_out(c, 1);
	if (!op_problem_ready(c, out))
		return;
	if (!w || !y) {
		op_problem_mover(c, out);
	} else if (op_problem_matmul(x, w, y, microsoft_rows_of(c, x->shape), w->shape.dims[0],
			   w->shape.dims[1], out)) {
		out->problem.transpose_b = true;
		out->proxy = true;
	}
}

#define MS "com.microsoft", 1, 0
#define PACKED "packed weights are measured as integers of as many bits (proxy)"

static const struct op rows[] = {
	{ "MatMulPacked", MS, 2, 3, CLASS_COMPUTE, matmul_packed_shape, matmul_packed_cost,
		matmul_packed_problem, NULL, PACKED },
	{ "MatMulNBitsQLoRA", MS, 7, 7, CLASS_COMPUTE, qlora_shape, qlora_cost, qlora_problem, NULL,
		"measured as one matmul of the columns of W and lora_A (proxy)" },
	{ "GatherPacked", MS, 2, 2, CLASS_MOVE, gather_packed_shape, gather_packed_cost, op_problem_mover,
		NULL, OP_COPY },
	{ "MoEPacked", MS, 3, 6, CLASS_COMPUTE, moe_packed_shape, moe_packed_cost, moe_packed_problem, NULL,
		"measured as one matmul per expert, tokens spread evenly (proxy)" },
	{ "RouterGateUpProj", MS, 2, 2, CLASS_COMPUTE, router_gate_up_shape, router_gate_up_cost,
		router_gate_up_problem, NULL, "SwiGLU is not measured (proxy)" },
	{ "MoEGroupRouter", MS, 2, 3, CLASS_MEMORY, group_router_shape, group_router_cost,
		op_group_router_problem, NULL, "measured as its projection, or a plain copy of equal bytes" },
};
const struct op_rows op_microsoft_packed_rows = OP_ROWS(rows);
