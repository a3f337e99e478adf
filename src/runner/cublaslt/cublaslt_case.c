/* Finds the layout of a matmul in cuBLASLt's terms: exchanged operands, merged and folded batches,
 * epilogues in the order that the library has. */
#include "config.h"

#include "runner/cublaslt/cublaslt_case.h"

#include <limits.h>
#include <string.h>

#include "runner/gpu/cuda_work.h"

#define CALLS_MOST 1024
#define ADDRESS_ALIGNMENT 256

int cublaslt_type(enum dtype t, cudaDataType *to)
{
	static const struct {
		enum dtype dtype;
		cudaDataType type;
	} rows[] = {
		{ DTYPE_F32, CUDA_R_32F },
		{ DTYPE_F16, CUDA_R_16F },
		{ DTYPE_BF16, CUDA_R_16BF },
		{ DTYPE_F64, CUDA_R_64F },
		{ DTYPE_S8, CUDA_R_8I },
		{ DTYPE_S32, CUDA_R_32I },
		{ DTYPE_F8E4M3, CUDA_R_8F_E4M3 },
		{ DTYPE_F8E5M2, CUDA_R_8F_E5M2 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].dtype == t) {
			*to = rows[i].type;
			return 0;
		}
	return -1;
}

/* ---- epilogues ---- */

/* cuBLASLt computes activation(alpha A B + beta C + bias), with one alpha or one per row: a scale (always the
 * first epilogue, see problem_check), bias and residual in any order, then the activation, each at most
 * once. */
static int epilogues_read(struct cublaslt_case *c, struct error *err)
{
	bool done = false;
	c->scale = c->bias = c->residual = -1;
	c->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
	for (int i = 0; i < c->problem.epilogue_count; i++) {
		const struct epilogue *e = &c->problem.epilogue[i];
		if (done)
			return error_set(err, "cuBLASLt has no epilogue after an activation");
		if (e->kind == EPILOGUE_SCALE) {
			c->scale = i;
		} else if (e->kind == EPILOGUE_BIAS && c->bias < 0) {
			c->bias = i;
		} else if (e->kind == EPILOGUE_BINARY && e->mode == MODE_ADD && c->residual < 0) {
			c->residual = i;
		} else if (e->kind == EPILOGUE_ELTWISE &&
			(e->mode == MODE_RELU || e->mode == MODE_GELU_TANH)) {
			c->epilogue = e->mode == MODE_RELU ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_GELU;
			done = true;
		} else if (e->kind == EPILOGUE_ELTWISE && e->mode == MODE_GELU_ERF) {
			return error_set(err, "cuBLASLt's GELU is the tanh form, not the erf form");
		} else {
			bool again = e->kind == EPILOGUE_BIAS ||
				(e->kind == EPILOGUE_BINARY && e->mode == MODE_ADD);
			return error_set(err, "cuBLASLt does not fuse %s%s", again ? "a second " : "",
				e->kind == EPILOGUE_BIAS ? "bias" : mode_name(e->mode));
		}
	}
	if (c->bias >= 0)
		c->epilogue = c->epilogue == CUBLASLT_EPILOGUE_DEFAULT ? CUBLASLT_EPILOGUE_BIAS :
			(cublasLtEpilogue_t)(c->epilogue | CUBLASLT_EPILOGUE_BIAS);
	return 0;
}

/* ---- matrices ---- */

/* Describes the last two dimensions of an operand, logically rows x cols, as a column-major matrix of the
 * swapped matmul: its columns are our dense rows. If both orders fit (sizes of 1), `hint` selects the
 * transposed one. */
static int matrix_read(const struct cuda_layout *l, bool hint, struct cublaslt_matrix *m, const char *what,
	struct error *err)
{
	int r = l->shape.rank - 2;
	int64_t rows = l->shape.dim[r], cols = l->shape.dim[r + 1], down = l->stride[r],
		right = l->stride[r + 1];
	bool plain = (right == 1 || cols == 1) && (rows == 1 || down >= cols);
	bool transposed = (down == 1 || rows == 1) && (cols == 1 || right >= rows);
	if (!plain && !transposed)
		return error_set(err, "%s: neither rows nor columns are dense in memory", what);
	m->transposed = transposed && (hint || !plain);
	m->rows = m->transposed ? rows : cols;
	m->cols = m->transposed ? cols : rows;
	m->ld = m->cols == 1 ? m->rows : m->transposed ? right : down;
	if (cublaslt_type(l->dtype, &m->type))
		return error_set(err, "%s: cuBLASLt has no type %s", what, dtype_name(l->dtype));
	return 0;
}

enum { A, B, C, D, MATRICES };

struct batch {
	int rank;
	int64_t dim[PROBLEM_RANK];
	int64_t stride[PROBLEM_RANK][MATRICES];
};

static void batch_drop(struct batch *b, int at)
{
	for (int i = at; i + 1 < b->rank; i++) {
		b->dim[i] = b->dim[i + 1];
		memcpy(b->stride[i], b->stride[i + 1], sizeof(b->stride[i]));
	}
	b->rank--;
}

static void batch_read(const struct cuda_layout *const layouts[MATRICES], struct batch *b)
{
	b->rank = layouts[D]->shape.rank - 2;
	for (int i = 0; i < b->rank; i++) {
		b->dim[i] = layouts[D]->shape.dim[i];
		for (int j = 0; j < MATRICES; j++)
			b->stride[i][j] =
				!layouts[j] || layouts[j]->shape.dim[i] == 1 ? 0 : layouts[j]->stride[i];
	}
}

/* Drops sizes of 1 and merges neighbors that are contiguous in all operands. */
static void batch_merge(struct batch *b)
{
	for (int i = b->rank - 1; i >= 0; i--)
		if (b->dim[i] == 1)
			batch_drop(b, i);
	for (int i = b->rank - 2; i >= 0; i--) {
		bool one = true;
		for (int j = 0; j < MATRICES; j++)
			one = one && b->stride[i][j] == b->stride[i + 1][j] * b->dim[i + 1];
		if (!one)
			continue;
		b->dim[i + 1] *= b->dim[i];
		batch_drop(b, i);
	}
}

/* Folds a batch dimension into one taller matrix, as frameworks do, if all its matrices use the same weights
 * and their rows follow one another in memory. */
static void batch_fold(struct cublaslt_case *c, struct batch *b)
{
	for (int i = b->rank - 1; i >= 0; i--) {
		const int64_t *s = b->stride[i];
		bool residual = c->residual < 0 || (s[C] == c->c.ld * c->n && s[C] > 0);
		if (s[A] != 0 || c->b.transposed || s[B] != c->b.ld * c->n || s[D] != c->d.ld * c->n ||
			!residual)
			continue;
		c->folded *= b->dim[i];
		c->n *= b->dim[i];
		c->b.cols = c->c.cols = c->d.cols = c->n;
		batch_drop(b, i);
	}
}

/* Makes the largest remaining dimension cuBLASLt's batch; the others become loops, with one call per
 * index. */
static int batch_share(struct cublaslt_case *c, const struct batch *b, struct error *err)
{
	struct cublaslt_matrix *const to[MATRICES] = { &c->a, &c->b, &c->c, &c->d };
	int most = 0;
	for (int i = 1; i < b->rank; i++)
		if (b->dim[i] > b->dim[most])
			most = i;
	for (int i = 0; i < b->rank; i++) {
		if (i == most)
			c->batch = b->dim[i];
		else
			c->loop[c->loop_count] = b->dim[i];
		for (int j = 0; j < MATRICES; j++) {
			if (i == most)
				to[j]->batch = b->stride[i][j];
			else
				to[j]->loop[c->loop_count] = b->stride[i][j];
		}
		if (i == most)
			continue;
		c->calls *= c->loop[c->loop_count++];
		if (c->calls > CALLS_MOST)
			return error_set(err, "the batch dimensions need more than %d calls of cuBLASLt",
				CALLS_MOST);
	}
	return 0;
}

static int matrices_check(const struct cublaslt_case *c, struct error *err)
{
	const struct cublaslt_matrix *const all[] = { &c->a, &c->b, &c->d };
	for (int i = 0; i < 3; i++)
		if (all[i]->rows > INT32_MAX || all[i]->cols > INT32_MAX || all[i]->ld > INT32_MAX)
			return error_set(err, "a matrix has more than 2^31 rows or columns");
	return c->batch > INT32_MAX ? error_set(err, "more than 2^31 matmuls in a batch") : 0;
}

static int residual_read(
	struct cublaslt_case *c, const struct problem *p, struct cuda_layout *l, struct error *err)
{
	c->c = c->d;
	if (c->residual < 0) {
		/* C is not read, but must have a valid type, which 8-bit floats are not; it depends on the
		 * bias type */
		if (c->d.type == CUDA_R_8F_E4M3 || c->d.type == CUDA_R_8F_E5M2)
			c->c.type = c->bias >= 0 && c->bias_type == CUDA_R_16F ? CUDA_R_16F : CUDA_R_16BF;
		return 0;
	}
	*l = cuda_epilogue_layout(p, c->residual);
	if (matrix_read(l, false, &c->c, "the residual", err))
		return -1;
	return c->c.transposed ? error_set(err, "the residual's rows are not dense in memory") : 0;
}

/* The matrix units multiply 8-bit types only as "TN": our b lies by column. A constant b with an open layout
 * is laid out so. Returns true if it was. */
static bool weights_repack(struct problem *p)
{
	struct operand *b = &p->operand[1];
	if (dtype_bits(b->dtype) != 8 || !b->constant || b->layout != LAYOUT_ANY || p->transpose_b)
		return false;
	struct problem_shape s = problem_operand_shape(p, 1);
	int64_t step = p->mk * p->mn;
	b->layout = LAYOUT_STRIDES;
	b->stride_rank = s.rank;
	b->stride[s.rank - 1] = p->mk;
	b->stride[s.rank - 2] = 1;
	for (int i = s.rank - 3; i >= 0; i--) {
		b->stride[i] = step;
		step *= s.dim[i];
	}
	return true;
}

int cublaslt_case_make(const struct problem *asked, struct cublaslt_case *c, struct error *err)
{
	*c = (struct cublaslt_case){ .problem = *asked, .batch = 1, .folded = 1, .calls = 1 };
	if (asked->kernel != KERNEL_MATMUL)
		return cublaslt_ones_make(c, err) || epilogues_read(c, err) || matrices_check(c, err) ? -1
												      : 0;
	if (asked->size)
		return error_set(err, "only own kernels have scales in blocks");
	bool by_column = weights_repack(&c->problem) || asked->transpose_b;
	const struct problem *p = &c->problem;
	if (epilogues_read(c, err))
		return -1;
	struct cuda_layout a = cuda_operand_layout(p, 0, 0), b = cuda_operand_layout(p, 1, 0);
	struct cuda_layout d = cuda_operand_layout(p, 2, 0), residual = d;
	if (matrix_read(&b, by_column, &c->a, "b", err) ||
		matrix_read(&a, p->transpose_a, &c->b, "a", err) ||
		matrix_read(&d, false, &c->d, "the destination", err))
		return -1;
	if (c->d.transposed)
		return error_set(err, "the destination's rows are not dense in memory");
	if (c->bias >= 0 && cublaslt_type(p->epilogue[c->bias].operand.dtype, &c->bias_type))
		return error_set(
			err, "bias: cuBLASLt has no type %s", dtype_name(p->epilogue[c->bias].operand.dtype));
	if (residual_read(c, p, &residual, err))
		return -1;
	c->m = p->mn;
	c->n = p->m;
	c->k = p->mk;
	const struct cuda_layout *const layouts[MATRICES] = { &b, &a, c->residual < 0 ? &d : &residual, &d };
	struct batch batch;
	batch_read(layouts, &batch);
	batch_merge(&batch);
	batch_fold(c, &batch);
	if (batch_share(c, &batch, err) || matrices_check(c, err))
		return -1;
	c->outer = c->scale >= 0 && cuda_is_float8(p->operand[1].dtype);
	if (c->outer && (!CUBLASLT_HAS_OUTER || c->batch > 1))
		return error_set(err, c->batch > 1 ? "cuBLASLt: a batch of 8-bit floats has one scale" :
			"cuBLAS older than 12.9 has one scale for 8-bit floats");
	return 0;
}

/* ---- calls ---- */

static int64_t type_bytes(cudaDataType t)
{
	switch (t) {
	case CUDA_R_64F: return 8;
	case CUDA_R_32F:
	case CUDA_R_32I: return 4;
	case CUDA_R_16F:
	case CUDA_R_16BF: return 2;
	default: return 1;
	}
}

int64_t cublaslt_case_offset(const struct cublaslt_case *c, const struct cublaslt_matrix *m, int64_t i)
{
	int64_t offset = 0;
	for (int j = c->loop_count - 1; j >= 0; j--) {
		offset += i % c->loop[j] * m->loop[j];
		i /= c->loop[j];
	}
	return offset * type_bytes(m->type);
}

uint32_t cublaslt_case_alignment(const struct cublaslt_case *c, const struct cublaslt_matrix *m)
{
	uint32_t alignment = ADDRESS_ALIGNMENT;
	for (int j = 0; j < c->loop_count; j++)
		while (m->loop[j] * type_bytes(m->type) % alignment)
			alignment /= 2;
	return alignment;
}
