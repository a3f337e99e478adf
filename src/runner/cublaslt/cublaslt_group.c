/* The table of groups: types that go together, and how the heuristics are asked for each. */
#include "config.h"

#include "runner/cublaslt/cublaslt_group.h"

#include <string.h>

#define ALL_UNITS UINT64_MAX
#define NO_MATRIX_UNITS (~(uint64_t)CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK)
#define ANY DTYPE_UNKNOWN

#define STRICT "strict"
#define HALF_ACCUMULATE "f16_accumulate"
#define EMULATED "emulated_bf16x9"

/* The heuristics are asked once per row that fits the problem's types: input type, output type, compute type,
 * type of alpha and beta, math mode, allowed units, fast accumulation. Rows with NO_MATRIX_UNITS ask for
 * algorithms without matrix units; PEDANTIC ones for the prescribed precision in every step. */
static const struct cublaslt_group groups[] = {
	{ DTYPE_F32, DTYPE_F32, CUBLAS_COMPUTE_32F, CUDA_R_32F, STRICT, ALL_UNITS, false },
	{ DTYPE_F32, DTYPE_F32, CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, STRICT, ALL_UNITS, false },
	{ DTYPE_F32, DTYPE_F32, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, "tf32", ALL_UNITS, false },
	{ DTYPE_F32, DTYPE_F32, CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, "fast_f16", ALL_UNITS, false },
	{ DTYPE_F32, DTYPE_F32, CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, "fast_bf16", ALL_UNITS, false },
#if CUBLAS_VER_MAJOR >= 13
	{ DTYPE_F32, DTYPE_F32, CUBLAS_COMPUTE_32F_EMULATED_16BFX9, CUDA_R_32F, EMULATED, ALL_UNITS, false },
#endif
	{ DTYPE_F16, ANY, CUBLAS_COMPUTE_32F, CUDA_R_32F, STRICT, ALL_UNITS, false },
	{ DTYPE_F16, ANY, CUBLAS_COMPUTE_32F, CUDA_R_32F, STRICT, NO_MATRIX_UNITS, false },
	{ DTYPE_F16, ANY, CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, STRICT, ALL_UNITS, false },
	{ DTYPE_F16, DTYPE_F16, CUBLAS_COMPUTE_16F, CUDA_R_16F, HALF_ACCUMULATE, ALL_UNITS, false },
	{ DTYPE_F16, DTYPE_F16, CUBLAS_COMPUTE_16F, CUDA_R_16F, HALF_ACCUMULATE, NO_MATRIX_UNITS, false },
	{ DTYPE_BF16, ANY, CUBLAS_COMPUTE_32F, CUDA_R_32F, STRICT, ALL_UNITS, false },
	{ DTYPE_BF16, ANY, CUBLAS_COMPUTE_32F, CUDA_R_32F, STRICT, NO_MATRIX_UNITS, false },
	{ DTYPE_BF16, ANY, CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, STRICT, ALL_UNITS, false },
	{ DTYPE_S8, DTYPE_S32, CUBLAS_COMPUTE_32I, CUDA_R_32I, STRICT, ALL_UNITS, false },
	{ DTYPE_S8, DTYPE_S32, CUBLAS_COMPUTE_32I, CUDA_R_32I, STRICT, NO_MATRIX_UNITS, false },
	{ DTYPE_S8, DTYPE_S8, CUBLAS_COMPUTE_32I, CUDA_R_32F, STRICT, ALL_UNITS, false },
	{ DTYPE_S8, DTYPE_S8, CUBLAS_COMPUTE_32I, CUDA_R_32F, STRICT, NO_MATRIX_UNITS, false },
	{ DTYPE_S8, DTYPE_F32, CUBLAS_COMPUTE_32F, CUDA_R_32F, STRICT, ALL_UNITS, false },
	{ DTYPE_F8E4M3, ANY, CUBLAS_COMPUTE_32F, CUDA_R_32F, STRICT, ALL_UNITS, false },
	{ DTYPE_F8E4M3, ANY, CUBLAS_COMPUTE_32F, CUDA_R_32F, "fast_accumulate", ALL_UNITS, true },
	{ DTYPE_F8E5M2, ANY, CUBLAS_COMPUTE_32F, CUDA_R_32F, STRICT, ALL_UNITS, false },
	{ DTYPE_F8E5M2, ANY, CUBLAS_COMPUTE_32F, CUDA_R_32F, "fast_accumulate", ALL_UNITS, true },
	{ DTYPE_F64, DTYPE_F64, CUBLAS_COMPUTE_64F, CUDA_R_64F, STRICT, ALL_UNITS, false },
	{ DTYPE_F64, DTYPE_F64, CUBLAS_COMPUTE_64F, CUDA_R_64F, STRICT, NO_MATRIX_UNITS, false },
};

bool cublaslt_is_float8(cudaDataType t)
{
	return t == CUDA_R_8F_E4M3 || t == CUDA_R_8F_E5M2;
}

int cublaslt_groups(
	const struct cublaslt_case *c, const struct cublaslt_group **to, int most, struct error *err)
{
	const struct operand *o = c->problem.operand;
	bool ones = c->ones.rows, scaled = c->scale >= 0 || ones;
	enum dtype a = o[0].dtype, b = ones ? a : o[1].dtype, d = o[ones ? 1 : 2].dtype;
	int count = 0;
	if (a != b && !(cuda_is_float8(a) && cuda_is_float8(b)))
		return error_set(err, "cuBLASLt has no matmul of %s and %s", dtype_name(a), dtype_name(b));
	if (a == DTYPE_F8E5M2 && b == DTYPE_F8E5M2)
		return error_set(err, "cuBLASLt has no matmul of f8e5m2 and f8e5m2");
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]) && count < most; i++)
		if (groups[i].in == a && (groups[i].out == ANY || groups[i].out == d) &&
			(!scaled || groups[i].scale == CUDA_R_32F))
			to[count++] = &groups[i];
	return count ? count : error_set(err, "cuBLASLt has no matmul of %s with output %s", dtype_name(a),
		dtype_name(d));
}

const char *cublaslt_group_math(const struct cublaslt_group *g, const struct problem *p, uint64_t flags)
{
	bool has_units = flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK;
	if (!(flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_TYPE_MASK))
		return g->math;
	/* cuBLASLt may not emulate if that is slower */
	if (strcmp(g->math, EMULATED) == 0)
		return has_units ? g->math : STRICT;
	/* f16 sums are strict if the problem's accumulator is f16 */
	if (strcmp(g->math, HALF_ACCUMULATE) == 0)
		return p->accumulator == DTYPE_F16 ? STRICT : g->math;
	if (g->in != DTYPE_F32)
		return g->math;
	if (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32)
		return "tf32";
	if (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F)
		return "fast_f16";
	if (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF)
		return "fast_bf16";
	/* the algorithm does not round its inputs, though it may: strict; if it uses matrix units without
	 * reporting their input type, it is assumed to round */
	return has_units ? g->math : STRICT;
}

union cublaslt_scalar cublaslt_scalar(const struct cublaslt_group *g, bool one)
{
	union cublaslt_scalar s = { .f64 = 0 };
	if (!one)
		return s;
	switch (g->scale) {
	case CUDA_R_64F: s.f64 = 1; break;
	case CUDA_R_32I: s.s32 = 1; break;
	case CUDA_R_16F: s.f16 = 0x3c00; break;
	default: s.f32 = 1; break;
	}
	return s;
}

/* ---- descriptors ---- */

struct setting {
	int attribute;
	const void *value;
	size_t bytes;
};

static int layout_open(const struct cublaslt_api *api, cublasLtMatrixLayout_t *to,
	const struct cublaslt_case *c, const struct cublaslt_matrix *m, struct error *err)
{
	if (cublaslt_error(
		    api->cublasLtMatrixLayoutCreate(to, m->type, (uint64_t)m->rows, (uint64_t)m->cols, m->ld),
		    "cublasLtMatrixLayoutCreate", err))
		return -1;
	if (c->batch == 1)
		return 0;
	int32_t count = (int32_t)c->batch;
	return cublaslt_error(api->cublasLtMatrixLayoutSetAttribute(
				      *to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
		       "cublasLtMatrixLayoutSetAttribute(batch count)", err) ||
			cublaslt_error(api->cublasLtMatrixLayoutSetAttribute(*to,
					       CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &m->batch,
					       sizeof(m->batch)),
				"cublasLtMatrixLayoutSetAttribute(batch stride)", err)
		? -1
		: 0;
}

static int operation_open(const struct cublaslt_api *api, cublasLtMatmulDesc_t *to,
	const struct cublaslt_case *c, const struct cublaslt_group *g, struct error *err)
{
	int32_t op_a = c->a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
		op_b = c->b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
	int32_t epilogue = c->epilogue, bias_type = c->bias_type;
	int32_t vector = CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
#if CUBLASLT_HAS_OUTER
	int32_t outer = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
#endif
	int8_t fast = 1;
	/* never dereferenced: a plan or an execution sets the real address; the heuristics only read its
	 * alignment */
	const void *bias = (const void *)(uintptr_t)0x10000;
	const void *scale = (const void *)(uintptr_t)0x10000;
	bool scaled = cublaslt_is_float8(c->a.type), rescaled = cublaslt_is_float8(c->d.type);
	const struct setting settings[] = {
		{ CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof(op_a) },
		{ CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof(op_b) },
		{ CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue) },
		{ CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, c->bias >= 0 ? sizeof(bias) : 0 },
		{ CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &bias_type, c->bias >= 0 ? sizeof(bias_type) : 0 },
		{ CUBLASLT_MATMUL_DESC_POINTER_MODE, &vector,
			c->scale >= 0 && !c->outer ? sizeof(vector) : 0 },
#if CUBLASLT_HAS_OUTER
		{ CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &outer, c->outer ? sizeof(outer) : 0 },
		{ CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &outer, c->outer ? sizeof(outer) : 0 },
#endif
		{ CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &scale, scaled ? sizeof(scale) : 0 },
		{ CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &scale, scaled ? sizeof(scale) : 0 },
		{ CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &scale, rescaled ? sizeof(scale) : 0 },
		{ CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, g->fast ? sizeof(fast) : 0 },
	};
	if (cublaslt_error(
		    api->cublasLtMatmulDescCreate(to, g->compute, g->scale), "cublasLtMatmulDescCreate", err))
		return -1;
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (settings[i].bytes &&
			cublaslt_error(api->cublasLtMatmulDescSetAttribute(*to,
					       (cublasLtMatmulDescAttributes_t)settings[i].attribute,
					       settings[i].value, settings[i].bytes),
				"cublasLtMatmulDescSetAttribute", err))
			return error_context(err, "attribute %d", settings[i].attribute);
	return 0;
}

int cublaslt_desc_open(struct cublaslt_desc *desc, const struct cublaslt_case *c,
	const struct cublaslt_group *g, struct error *err)
{
	*desc = (struct cublaslt_desc){ 0 };
	const struct cublaslt_api *api = cublaslt_library(err);
	if (api && operation_open(api, &desc->operation, c, g, err) == 0 &&
		layout_open(api, &desc->a, c, &c->a, err) == 0 &&
		layout_open(api, &desc->b, c, &c->b, err) == 0 &&
		layout_open(api, &desc->c, c, &c->c, err) == 0 &&
		layout_open(api, &desc->d, c, &c->d, err) == 0)
		return 0;
	cublaslt_desc_close(desc);
	return -1;
}

int cublaslt_desc_scale(struct cublaslt_desc *desc, const struct cublaslt_case *c,
	const float *const scales[CUDA_SCALES], struct error *err)
{
	const struct {
		cublasLtMatmulDescAttributes_t attribute;
		bool is_set;
	} rows[] = {
		{ CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, cublaslt_is_float8(c->a.type) },
		{ CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, cublaslt_is_float8(c->b.type) },
		{ CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, cublaslt_is_float8(c->d.type) },
	};
	const struct cublaslt_api *api = cublaslt_library(err);
	for (size_t i = 0; api && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].is_set && scales[i] &&
			cublaslt_error(api->cublasLtMatmulDescSetAttribute(desc->operation,
					       rows[i].attribute, &scales[i], sizeof(scales[i])),
				"cublasLtMatmulDescSetAttribute(scale pointer)", err))
			return -1;
	}
	return api ? 0 : -1;
}

void cublaslt_desc_close(struct cublaslt_desc *desc)
{
	const struct cublaslt_api *api = cublaslt_library(NULL);
	cublasLtMatrixLayout_t layouts[] = { desc->a, desc->b, desc->c, desc->d };
	if (desc->operation)
		api->cublasLtMatmulDescDestroy(desc->operation);
	for (int i = 0; i < 4; i++)
		if (layouts[i])
			api->cublasLtMatrixLayoutDestroy(layouts[i]);
	*desc = (struct cublaslt_desc){ 0 };
}
