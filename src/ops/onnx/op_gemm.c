/* Matrix products: Gemm and MatMul, and the problem that all operators with a product share. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "ops/rules/op_contents.h"

#include <math.h>
#include <string.h>

enum dtype op_accumulator(enum dtype t)
{
	if (t == DTYPE_F64 || t == DTYPE_S64 || t == DTYPE_U64)
		return t;
	return dtype_is_float(t) ? DTYPE_F32 : DTYPE_S32;
}

/* ---- Gemm */

static bool gemm_transposed(const struct op_call *c, const char *name)
{
	return node_int(c->node, name, 0) != 0;
}

/* False if beta is 0, so that C is not read. */
static bool gemm_adds(const struct op_call *c)
{
	return node_float(c->node, "beta", 1) != 0;
}

/* Sizes m, n and k of A and B; unknown if a rank is. */
static int gemm_sizes(const struct op_call *c, struct dim *m, struct dim *n, struct dim *k, struct error *err)
{
	struct shape a = c->inputs[0].shape, b = c->inputs[1].shape;
	struct dim ka = dim_unknown(), kb = dim_unknown();
	*m = *n = *k = dim_unknown();
	if ((a.rank >= 0 && a.rank != 2) || (b.rank >= 0 && b.rank != 2))
		return op_fail(c, err, "shapes %s and %s are not two matrices", shape_text(c->arena, a),
			shape_text(c->arena, b));
	bool ta = gemm_transposed(c, "transA"), tb = gemm_transposed(c, "transB");
	if (a.rank == 2) {
		*m = a.dims[ta ? 1 : 0];
		ka = a.dims[ta ? 0 : 1];
	}
	if (b.rank == 2) {
		*n = b.dims[tb ? 0 : 1];
		kb = b.dims[tb ? 1 : 0];
	}
	if (!op_dim_merge(ka, kb, k))
		return op_fail(c, err, "shapes %s and %s do not multiply%s", shape_text(c->arena, a),
			shape_text(c->arena, b), ta || tb ? " as transposed" : "");
	return 0;
}

RULE_SHAPE(op_gemm)
{
	struct dim m, n, k;
	if (gemm_sizes(c, &m, &n, &k, err))
		return -1;
	const struct op_value *bias = op_in(c, 2);
	struct shape y = shape_make(c->arena, 2), wide;
	y.dims[0] = m;
	y.dims[1] = n;
	if (bias && bias->shape.rank >= 0) {
		if (op_broadcast(c, y, bias->shape, &wide, err))
			return -1;
		if (wide.rank > 2)
			return op_fail(c, err, "C has %d dimensions", wide.rank);
	}
	c->outputs[0].shape = y;
	return 0;
}

RULE_COST(op_gemm)
{
	struct dim m, n, k;
	struct error err;
	cost->bytes = op_bytes_all(c) - (gemm_adds(c) ? 0 : op_bytes(op_in(c, 2)));
	if (gemm_sizes(c, &m, &n, &k, &err) || k.kind != DIM_KNOWN)
		return;
	double out = op_count(op_out(c, 0));
	cost->flops = 2 * out * (double)k.value;
	if (op_in(c, 2) && gemm_adds(c))
		cost->flops += out;
}

/* Adds C: one value per column is a bias, a full matrix a residual; other shapes (a scalar, one value per
 * row) are measured as the full matrix that they broadcast to, as a proxy. */
static void gemm_add(const struct op_call *c, const struct op_value *bias, struct op_problem *out)
{
	struct problem *p = &out->problem;
	struct problem_shape s = op_problem_shape_of_rank(bias->shape, 2);
	struct epilogue *e = &p->epilogue[p->epilogue_count++];
	e->operand = op_operand(bias);
	e->kind = s.dim[0] == 1 && s.dim[1] == p->mn ? EPILOGUE_BIAS : EPILOGUE_BINARY;
	if (e->kind == EPILOGUE_BINARY) {
		e->mode = MODE_ADD;
		out->proxy = s.dim[0] != p->m || s.dim[1] != p->mn;
	}
	if (node_float(c->node, "beta", 1) != 1 && !bias->constant)
		out->proxy = true; /* the epilogue cannot scale C */
}

static void problem_types(
	const struct op_value *a, const struct op_value *b, const struct op_value *y, struct problem *p)
{
	p->operand[0] = op_operand(a);
	p->operand[1] = op_operand(b);
	p->operand[2] = op_operand(y);
	p->accumulator = op_accumulator(y->dtype);
	p->batch_a.rank = p->batch_b.rank = 1;
	p->batch_a.dim[0] = p->batch_b.dim[0] = 1;
}

bool op_problem_matmul(const struct op_value *a, const struct op_value *b, const struct op_value *y,
	struct dim m, struct dim n, struct dim k, struct op_problem *out)
{
	if (m.kind != DIM_KNOWN || n.kind != DIM_KNOWN || k.kind != DIM_KNOWN) {
		op_problem_why(out, "a dimension is not known");
		return false;
	}
	/* Limits of the problem text; the largest product is that of the output. */
	if (!((double)m.value * (double)n.value < 0x1p48) || !((double)m.value * (double)k.value < 0x1p48)) {
		op_problem_why(out, "too large to measure");
		return false;
	}
	struct problem *p = op_problem_start(out, KERNEL_MATMUL, MODE_NONE);
	problem_types(a, b, y, p);
	p->m = m.value;
	p->mn = n.value;
	p->mk = k.value;
	return true;
}

void op_problem_bias(const struct op_value *bias, struct op_problem *out)
{
	struct problem *p = &out->problem;
	if (out->known && bias && p->epilogue_count < PROBLEM_EPILOGUES)
		p->epilogue[p->epilogue_count++] =
			(struct epilogue){ .kind = EPILOGUE_BIAS, .operand = op_operand(bias) };
}

/* A factor is folded into a constant operand; otherwise it is an epilogue. */
static void problem_scale(struct problem *p, float alpha)
{
	if (alpha != 1 && !p->operand[0].constant && !p->operand[1].constant)
		p->epilogue[p->epilogue_count++] = (struct epilogue){
			.kind = EPILOGUE_ELTWISE, .mode = MODE_LINEAR_MAP, .alpha = alpha
		};
}

RULE_PROBLEM(op_gemm)
{
	struct dim m, n, k;
	struct error err;
	if (!op_problem_ready(c, out))
		return;
	if (gemm_sizes(c, &m, &n, &k, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	if (!op_problem_matmul(&c->inputs[0], &c->inputs[1], &c->outputs[0], m, n, k, out))
		return;
	out->problem.transpose_a = gemm_transposed(c, "transA");
	out->problem.transpose_b = gemm_transposed(c, "transB");
	problem_scale(&out->problem, node_float(c->node, "alpha", 1));
	const struct op_value *bias = op_in(c, 2);
	if (bias && gemm_adds(c))
		gemm_add(c, bias, out);
}

/* ---- MatMul, FusedMatMul */

/* FusedMatMul of com.microsoft may transpose the last two dimensions of an operand, and before that move the
 * first dimension before the last (the batch after it): true if its attributes ask for that for operand i. */
static bool matmul_has(const struct op_call *c, int i, const char *const names[2])
{
	return c->op->domain[0] && c->inputs[i].shape.rank > 1 && node_int(c->node, names[i], 0) != 0;
}

static bool matmul_transposed(const struct op_call *c, int i)
{
	return matmul_has(c, i, (const char *const[]){ "transA", "transB" });
}

static bool matmul_batch_moved(const struct op_call *c, int i)
{
	return matmul_has(c, i, (const char *const[]){ "transBatchA", "transBatchB" });
}

/* Shape of operand i as it is multiplied. */
static struct shape matmul_shape(const struct op_call *c, int i)
{
	struct shape from = c->inputs[i].shape;
	if (!matmul_transposed(c, i) && !matmul_batch_moved(c, i))
		return from;
	struct shape s = op_shape_copy(c->arena, from);
	int last = s.rank - 1;
	if (matmul_batch_moved(c, i)) {
		for (int j = 0; j < last - 1; j++)
			s.dims[j] = from.dims[j + 1];
		s.dims[last - 1] = from.dims[0];
	}
	if (matmul_transposed(c, i)) {
		struct dim held = s.dims[last];
		s.dims[last] = s.dims[last - 1];
		s.dims[last - 1] = held;
	}
	return s;
}

/* s without its last two dimensions; a vector has no batch. */
static struct shape matmul_batch(struct shape s)
{
	return (struct shape){ .rank = s.rank > 2 ? s.rank - 2 : 0, .dims = s.dims };
}

/* m of the left operand, n of the right one, and k. For known ranks only. */
static void matmul_sides(
	struct shape a, struct shape b, struct dim *m, struct dim *n, struct dim *ka, struct dim *kb)
{
	*m = a.rank > 1 ? a.dims[a.rank - 2] : dim_known(1);
	*ka = a.dims[a.rank - 1];
	*n = b.rank > 1 ? b.dims[b.rank - 1] : dim_known(1);
	*kb = b.rank > 1 ? b.dims[b.rank - 2] : b.dims[0];
}

RULE_SHAPE(op_matmul)
{
	struct shape a = matmul_shape(c, 0), b = matmul_shape(c, 1), batch;
	struct dim m, n, ka, kb;
	if (a.rank == 0 || b.rank == 0)
		return op_fail(c, err, "a scalar is not a matrix");
	if (a.rank < 0 || b.rank < 0)
		return 0;
	matmul_sides(a, b, &m, &n, &ka, &kb);
	if (dim_differs(ka, kb))
		return op_fail(c, err, "shapes %s and %s do not multiply", shape_text(c->arena, a),
			shape_text(c->arena, b));
	if (op_broadcast(c, matmul_batch(a), matmul_batch(b), &batch, err))
		return -1;
	struct shape y = shape_make(c->arena, batch.rank + (a.rank > 1) + (b.rank > 1));
	int at = 0;
	for (; at < batch.rank; at++)
		y.dims[at] = batch.dims[at];
	if (a.rank > 1)
		y.dims[at++] = m;
	if (b.rank > 1)
		y.dims[at++] = n;
	c->outputs[0].shape = y;
	op_contents_matmul(c, matmul_batch(a), matmul_batch(b));
	return 0;
}

RULE_COST(op_matmul)
{
	struct shape a = matmul_shape(c, 0), b = matmul_shape(c, 1);
	struct dim k;
	cost->bytes = op_bytes_all(c);
	if (a.rank < 1 || b.rank < 1)
		return;
	if (op_dim_merge(a.dims[a.rank - 1], b.dims[b.rank > 1 ? b.rank - 2 : 0], &k) && k.kind == DIM_KNOWN)
		cost->flops = 2 * op_count(op_out(c, 0)) * (double)k.value;
}

/* Which operand broadcasts a batch dimension. Adjacent dimensions of one kind are merged. */
enum batch_kind { BATCH_NONE, BATCH_BOTH, BATCH_ONLY_A, BATCH_ONLY_B };

static enum batch_kind batch_kind(int64_t a, int64_t b)
{
	if (a == 1 && b == 1)
		return BATCH_NONE;
	return a == b ? BATCH_BOTH : b == 1 ? BATCH_ONLY_A : BATCH_ONLY_B;
}

/* Batch dimensions in canonical form: ones dropped, adjacent ones merged as far as both operands allow. If
 * only A has a batch, it becomes part of m: the rows of A are adjacent. */
static void matmul_merge(struct problem *p, struct shape a, struct shape b)
{
	struct problem_shape wide_a, wide_b;
	struct shape batch_a = matmul_batch(a), batch_b = matmul_batch(b);
	int rank = batch_a.rank > batch_b.rank ? batch_a.rank : batch_b.rank, at = 0;
	wide_a = op_problem_shape_of_rank(batch_a, rank);
	wide_b = op_problem_shape_of_rank(batch_b, rank);
	enum batch_kind last = BATCH_NONE;
	for (int i = 0; i < rank; i++) {
		enum batch_kind kind = batch_kind(wide_a.dim[i], wide_b.dim[i]);
		if (kind == BATCH_NONE)
			continue;
		if (kind == last) {
			p->batch_a.dim[at - 1] *= wide_a.dim[i];
			p->batch_b.dim[at - 1] *= wide_b.dim[i];
			continue;
		}
		p->batch_a.dim[at] = wide_a.dim[i];
		p->batch_b.dim[at++] = wide_b.dim[i];
		last = kind;
	}
	if (at == 1 && last == BATCH_ONLY_A && !p->transpose_a) {
		p->m *= p->batch_a.dim[0];
		p->batch_a.dim[0] = 1;
	}
	p->batch_a.rank = p->batch_b.rank = at ? at : 1;
}

RULE_PROBLEM(op_matmul)
{
	if (!op_problem_ready(c, out))
		return;
	struct shape a = matmul_shape(c, 0), b = matmul_shape(c, 1);
	struct dim m, n, ka, kb;
	/* Products of dimensions must fit the problem text; the largest is that of the output. */
	if (!(op_count(&c->outputs[0]) < 0x1p48) || !(op_count(&c->inputs[0]) < 0x1p48)) {
		op_problem_why(out, "too large to measure");
		return;
	}
	matmul_sides(a, b, &m, &n, &ka, &kb);
	if (!op_problem_matmul(&c->inputs[0], &c->inputs[1], &c->outputs[0], m, n, ka, out))
		return;
	out->problem.transpose_a = matmul_transposed(c, 0);
	out->problem.transpose_b = matmul_transposed(c, 1);
	matmul_merge(&out->problem, a, b);
	if (c->op->domain[0])
		problem_scale(&out->problem, node_float(c->node, "alpha", 1));
	out->proxy = matmul_batch_moved(c, 0) || matmul_batch_moved(c, 1);
}

static const struct op rows[] = {
	{ "Gemm", "", 1, 10, 3, 3, CLASS_COMPUTE, op_gemm_shape, op_gemm_cost, op_gemm_problem,
		.quant = QUANT_PRODUCT },
	{ "Gemm", "", 11, 0, 2, 3, CLASS_COMPUTE, op_gemm_shape, op_gemm_cost, op_gemm_problem,
		.quant = QUANT_PRODUCT },
	{ "MatMul", "", 1, 0, 2, 2, CLASS_COMPUTE, op_matmul_shape, op_matmul_cost, op_matmul_problem,
		.quant = QUANT_PRODUCT },
};
const struct op_rows op_gemm_rows = OP_ROWS(rows);
