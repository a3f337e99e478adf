#include "config.h"

#include "fake_cublaslt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/verify/fill.h"

struct fake_cublaslt fake_cublaslt;

struct layout {
	cudaDataType type;
	uint64_t rows, cols;
	int64_t ld, stride;
	int32_t batch;
};

struct operation {
	cublasComputeType_t compute;
	cudaDataType scale;
	int32_t trans_a, trans_b, epilogue, bias_type, pointers;
	int8_t fast;
	const void *bias;
	const float *scales[3]; /* of A, B and D */
	int32_t scale_mode[2];
};

struct preference {
	uint64_t workspace, units;
	uint32_t align[4];
};

/* Contents of an algorithm's opaque words in this fake. */
enum { WORD_ID, WORD_FLAGS, WORD_TILE, WORD_SPLIT, WORD_WORKSPACE, WORD_CLUSTER };

size_t cublasLtGetVersion(void)
{
	return 130100;
}

const char *cublasLtGetStatusName(cublasStatus_t status)
{
	return status == CUBLAS_STATUS_NOT_INITIALIZED	? "CUBLAS_STATUS_NOT_INITIALIZED"
		: status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
							: "CUBLAS_STATUS_INVALID_VALUE";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *h)
{
	if (fake_cublaslt.no_handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	fake_cublaslt.handles++;
	*h = (cublasLtHandle_t)&fake_cublaslt;
	return CUBLAS_STATUS_SUCCESS;
}

static void *made(size_t size)
{
	fake_cublaslt.created++;
	return base_calloc(1, size);
}

static cublasStatus_t unmade(void *p)
{
	fake_cublaslt.destroyed++;
	free(p);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(
	cublasLtMatmulDesc_t *d, cublasComputeType_t compute, cudaDataType_t scale)
{
	struct operation *o = made(sizeof(*o));
	*o = (struct operation){
		.compute = compute, .scale = scale, .epilogue = CUBLASLT_EPILOGUE_DEFAULT, .bias_type = -1
	};
	*d = (cublasLtMatmulDesc_t)(void *)o;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
	return unmade(d);
}

static cublasStatus_t set(void *to, size_t want, const void *value, size_t bytes)
{
	if (want != bytes || !value)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(to, value, bytes);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(
	cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes)
{
	struct operation *o = (void *)d;
	switch (attribute) {
	case CUBLASLT_MATMUL_DESC_TRANSA: return set(&o->trans_a, 4, value, bytes);
	case CUBLASLT_MATMUL_DESC_TRANSB: return set(&o->trans_b, 4, value, bytes);
	case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(&o->epilogue, 4, value, bytes);
	case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(&o->bias, 8, value, bytes);
	case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return set(&o->bias_type, 4, value, bytes);
	case CUBLASLT_MATMUL_DESC_POINTER_MODE: return set(&o->pointers, 4, value, bytes);
	case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER: return set(&o->scales[0], 8, value, bytes);
	case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER: return set(&o->scales[1], 8, value, bytes);
	case CUBLASLT_MATMUL_DESC_A_SCALE_MODE: return set(&o->scale_mode[0], 4, value, bytes);
	case CUBLASLT_MATMUL_DESC_B_SCALE_MODE: return set(&o->scale_mode[1], 4, value, bytes);
	case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER: return set(&o->scales[2], 8, value, bytes);
	case CUBLASLT_MATMUL_DESC_FAST_ACCUM: return set(&o->fast, 1, value, bytes);
	default: return CUBLAS_STATUS_INVALID_VALUE;
	}
}

cublasStatus_t cublasLtMatrixLayoutCreate(
	cublasLtMatrixLayout_t *l, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld)
{
	struct layout *m = made(sizeof(*m));
	*m = (struct layout){ .type = type, .rows = rows, .cols = cols, .ld = ld, .batch = 1 };
	*l = (cublasLtMatrixLayout_t)(void *)m;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
	return unmade(l);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(
	cublasLtMatrixLayout_t l, cublasLtMatrixLayoutAttribute_t attribute, const void *value, size_t bytes)
{
	struct layout *m = (void *)l;
	switch (attribute) {
	case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return set(&m->batch, 4, value, bytes);
	case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return set(&m->stride, 8, value, bytes);
	default: return CUBLAS_STATUS_INVALID_VALUE;
	}
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *p)
{
	struct preference *q = made(sizeof(*q));
	q->units = UINT64_MAX;
	*p = (cublasLtMatmulPreference_t)(void *)q;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
	return unmade(p);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
	cublasLtMatmulPreferenceAttributes_t attribute, const void *value, size_t bytes)
{
	struct preference *q = (void *)p;
	switch (attribute) {
	case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return set(&q->workspace, 8, value, bytes);
	case CUBLASLT_MATMUL_PREF_IMPL_MASK: return set(&q->units, 8, value, bytes);
	case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return set(&q->align[0], 4, value, bytes);
	case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return set(&q->align[1], 4, value, bytes);
	case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return set(&q->align[2], 4, value, bytes);
	case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return set(&q->align[3], 4, value, bytes);
	default: return CUBLAS_STATUS_INVALID_VALUE;
	}
}

/* ---- heuristics ---- */

#define F(x) CUBLASLT_NUMERICAL_IMPL_FLAGS_##x

/* Numerical flags of the results per compute type: first its own units, then those of a stricter one. */
static const struct {
	cublasComputeType_t compute;
	cudaDataType in;
	uint64_t flags;
} known[] = {
	{ CUBLAS_COMPUTE_32F, CUDA_R_32F, F(FMA) | F(INPUT_32F) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, F(FMA) | F(INPUT_32F) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, F(HMMA) | F(INPUT_TF32) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, F(FMA) | F(INPUT_32F) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, F(HMMA) | F(INPUT_16F) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, F(HMMA) | F(INPUT_TF32) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, F(HMMA) | F(INPUT_16BF) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32F_EMULATED_16BFX9, CUDA_R_32F, F(HMMA) | F(INPUT_16BF) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16F, F(HMMA) | F(INPUT_16F) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16F, F(FMA) | F(INPUT_16F) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_16F, CUDA_R_16F, F(HMMA) | F(INPUT_16F) | F(ACCUMULATOR_16F) },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16BF, F(HMMA) | F(INPUT_16BF) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32I, CUDA_R_8I, F(IMMA) | F(INPUT_8I) | F(ACCUMULATOR_32I) },
	{ CUBLAS_COMPUTE_32F, CUDA_R_8F_E4M3, F(HMMA) | F(INPUT_8F_E4M3) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_32F, CUDA_R_8F_E5M2, F(HMMA) | F(INPUT_8F_E5M2) | F(ACCUMULATOR_32F) },
	{ CUBLAS_COMPUTE_64F, CUDA_R_64F, F(DMMA) | F(INPUT_64F) | F(ACCUMULATOR_64F) },
};

/* Returns k of the matmul; 0 if the layouts do not fit. */
static uint64_t shared(const struct layout *a, const struct layout *b, const struct layout *c,
	const struct layout *d, const struct operation *o)
{
	uint64_t k = o->trans_a == CUBLAS_OP_T ? a->rows : a->cols;
	bool fits = (o->trans_a == CUBLAS_OP_T ? a->cols : a->rows) == d->rows &&
		(o->trans_b == CUBLAS_OP_T ? b->cols : b->rows) == k &&
		(o->trans_b == CUBLAS_OP_T ? b->rows : b->cols) == d->cols && c->rows == d->rows &&
		c->cols == d->cols;
	const struct layout *all[] = { a, b, c, d };
	for (int i = 0; i < 4; i++)
		fits = fits && all[i]->ld >= (int64_t)all[i]->rows && all[i]->batch == d->batch;
	return fits ? k : 0;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t h, cublasLtMatmulDesc_t op,
	cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
	cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int asked,
	cublasLtMatmulHeuristicResult_t *results, int *count)
{
	const struct operation *o = (void *)op;
	const struct layout *in = (void *)a, *other = (void *)b, *c_in = (void *)c, *out = (void *)d;
	const struct preference *q = (void *)preference;
	*count = 0;
	fake_cublaslt.asked++;
	fake_cublaslt.workspace_most = q->workspace;
	memcpy(fake_cublaslt.align, q->align, sizeof(q->align));
	if ((void *)h != (void *)&fake_cublaslt || !shared(in, other, c_in, out, o))
		return CUBLAS_STATUS_INVALID_VALUE;
	bool is_float8 = in->type == CUDA_R_8F_E4M3 || in->type == CUDA_R_8F_E5M2;
	bool is_signed = in->type == CUDA_R_8I && fake_cublaslt.transposed_only;
	/* as in cuBLASLt: 8-bit floats need a transposed A and a not transposed B, and cannot be the type of
	 * C */
	if (fake_cublaslt.no_algorithm ||
		((is_float8 || is_signed) &&
			(o->trans_a != CUBLAS_OP_T || o->trans_b != CUBLAS_OP_N ||
				c_in->type == CUDA_R_8F_E4M3 || c_in->type == CUDA_R_8F_E5M2)))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].compute != o->compute || known[i].in != in->type ||
			!(known[i].flags & q->units & 0xff))
			continue;
		for (uint64_t split = 1; split <= 4 && *count < asked; split += 3) {
			cublasLtMatmulHeuristicResult_t *r = &results[(*count)++];
			*r = (cublasLtMatmulHeuristicResult_t){ .workspaceSize =
									split == 1 ? 0 : 4096 * split,
				.state = CUBLAS_STATUS_SUCCESS,
				.wavesCount = 1 };
			r->algo.data[WORD_ID] = known[i].flags & F(FMA) ? 13 : 66;
			r->algo.data[WORD_FLAGS] = known[i].flags;
			r->algo.data[WORD_TILE] = 20;
			r->algo.data[WORD_SPLIT] = split;
			r->algo.data[WORD_WORKSPACE] = r->workspaceSize;
			r->algo.data[WORD_CLUSTER] = 3;
		}
		if (*count < asked)
			results[(*count)++].state = CUBLAS_STATUS_NOT_SUPPORTED;
	}
	return *count ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/* ---- all algorithms: id 66 with two tiles, id 13 with none, both with parts of k ---- */

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t h, cublasComputeType_t compute,
	cudaDataType_t scale, cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d,
	int asked, int *ids, int *count)
{
	static const int all[] = { 13, 66, 99 };
	if (!h || (int)scale < 0 || (int)b < 0 || (int)c < 0 || (int)d < 0 || asked < 3)
		return CUBLAS_STATUS_INVALID_VALUE;
	*count = 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].compute == compute && known[i].in == a) {
			memcpy(ids, all, sizeof(all));
			*count = 3;
		}
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t h, cublasComputeType_t compute, cudaDataType_t scale,
	cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int id,
	cublasLtMatmulAlgo_t *algo)
{
	(void)h, (void)scale, (void)b, (void)c, (void)d;
	*algo = (cublasLtMatmulAlgo_t){ 0 };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].compute == compute && known[i].in == a &&
			id == (known[i].flags & F(FMA) ? 13 : 66)) {
			algo->data[WORD_ID] = (uint64_t)id;
			algo->data[WORD_FLAGS] = known[i].flags;
			algo->data[WORD_SPLIT] = 1;
			return CUBLAS_STATUS_SUCCESS;
		}
	return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo,
	cublasLtMatmulAlgoConfigAttributes_t attribute, const void *from, size_t bytes)
{
	uint32_t value = *(const uint32_t *)from;
	if (bytes != sizeof(value))
		return CUBLAS_STATUS_INVALID_VALUE;
	switch (attribute) {
	case CUBLASLT_ALGO_CONFIG_TILE_ID: algo->data[WORD_TILE] = value; return CUBLAS_STATUS_SUCCESS;
	case CUBLASLT_ALGO_CONFIG_SPLITK_NUM: algo->data[WORD_SPLIT] = value; return CUBLAS_STATUS_SUCCESS;
	case CUBLASLT_ALGO_CONFIG_STAGES_ID:
	case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING:
	case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION:
		return value ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
	case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME: return CUBLAS_STATUS_SUCCESS;
	default: return CUBLAS_STATUS_INVALID_VALUE;
	}
}

/* Parts of k need a workspace; 4 is the largest number of them. */
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t h, cublasLtMatmulDesc_t op, cublasLtMatrixLayout_t a,
	cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
	const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result)
{
	uint64_t split = algo->data[WORD_SPLIT];
	fake_cublaslt.checked++;
	if (!h || !shared((void *)a, (void *)b, (void *)c, (void *)d, (void *)op) || split > 4 || !split)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	result->workspaceSize = split == 1 ? 0 : 4096 * split;
	result->state = CUBLAS_STATUS_SUCCESS;
	return CUBLAS_STATUS_SUCCESS;
}

/* The tiles 20 and 21 of the algorithm with matrix units; parts of k with one way to add them. */
static cublasStatus_t settings_give(const cublasLtMatmulAlgo_t *algo,
	cublasLtMatmulAlgoCapAttributes_t attribute, void *to, size_t bytes, size_t *written)
{
	static const uint32_t tiles[] = { 20, 21 };
	uint32_t value = attribute == CUBLASLT_ALGO_CAP_SPLITK_SUPPORT ? 1 :
		attribute == CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK ?
		CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : 0;
	if (attribute == CUBLASLT_ALGO_CAP_STAGES_IDS) {
		*written = 0;
		return CUBLAS_STATUS_SUCCESS;
	}
	if (attribute != CUBLASLT_ALGO_CAP_TILE_IDS)
		return set(to, 4, &value, bytes);
	*written = algo->data[WORD_ID] == 66 ? sizeof(tiles) : 0;
	if (bytes)
		memcpy(to, tiles, bytes < *written ? bytes : *written);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo,
	cublasLtMatmulAlgoCapAttributes_t attribute, void *to, size_t bytes, size_t *written)
{
	int32_t apart = !(fake_cublaslt.no_out_of_place && algo->data[WORD_SPLIT] == 4);
	*written = bytes;
	if (attribute == CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS)
		return set(to, 8, &algo->data[WORD_FLAGS], bytes);
	if (attribute == CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT)
		return set(to, 4, &apart, bytes);
	return settings_give(algo, attribute, to, bytes, written);
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo,
	cublasLtMatmulAlgoConfigAttributes_t attribute, void *to, size_t bytes, size_t *written)
{
	uint32_t word = attribute == CUBLASLT_ALGO_CONFIG_ID ? (uint32_t)algo->data[WORD_ID] :
		attribute == CUBLASLT_ALGO_CONFIG_TILE_ID ? (uint32_t)algo->data[WORD_TILE] :
		attribute == CUBLASLT_ALGO_CONFIG_SPLITK_NUM ? (uint32_t)algo->data[WORD_SPLIT] :
		attribute == CUBLASLT_ALGO_CONFIG_STAGES_ID ? 15 : 0;
	uint16_t half =
		attribute == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID ? (uint16_t)algo->data[WORD_CLUSTER] : 0;
	bool is_half = attribute == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID ||
		attribute == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID;
	*written = bytes;
	return is_half ? set(to, 2, &half, bytes) : set(to, 4, &word, bytes);
}

/* ---- memory ---- */

cudaError_t cudaMalloc(void **to, size_t bytes)
{
	*to = base_malloc(bytes);
	fake_cublaslt.created++;
	return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
	free(p);
	fake_cublaslt.destroyed++;
	return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	if (kind != cudaMemcpyHostToDevice)
		return cudaErrorInvalidValue;
	memcpy(to, from, bytes);
	return cudaSuccess;
}

/* ---- matmuls ---- */

static enum dtype dtype_of(int type)
{
	switch (type) {
	case CUDA_R_32F: return DTYPE_F32;
	case CUDA_R_64F: return DTYPE_F64;
	case CUDA_R_16F: return DTYPE_F16;
	case CUDA_R_16BF: return DTYPE_BF16;
	case CUDA_R_8I: return DTYPE_S8;
	case CUDA_R_32I: return DTYPE_S32;
	case CUDA_R_8F_E4M3: return DTYPE_F8E4M3;
	case CUDA_R_8F_E5M2: return DTYPE_F8E5M2;
	default: abort();
	}
}

static double load(const void *base, int type, int64_t at)
{
	enum dtype t = dtype_of(type);
	return fill_decode((const char *)base + at * (dtype_bits(t) / 8), t);
}

static double element(
	const struct layout *m, const void *base, int32_t batch, bool transposed, uint64_t row, uint64_t col)
{
	int64_t r = (int64_t)(transposed ? col : row), c = (int64_t)(transposed ? row : col);
	return load(base, m->type, batch * m->stride + c * m->ld + r);
}

static double finish(const struct operation *o, double v)
{
	if (o->epilogue & CUBLASLT_EPILOGUE_RELU)
		return v > 0 ? v : 0;
	if (o->epilogue & CUBLASLT_EPILOGUE_GELU)
		return v / 2 * (1 + tanh(sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
	return v;
}

/* The scale of a row of A or of a column of B. */
static double scale_at(const struct operation *o, int side, uint64_t at)
{
	if (!o->scales[side])
		return 1;
	return o->scales[side][o->scale_mode[side] == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F ? at : 0];
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t h, cublasLtMatmulDesc_t op, const void *alpha, const void *a,
	cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
	const void *c, cublasLtMatrixLayout_t c_layout, void *d, cublasLtMatrixLayout_t d_layout,
	const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
	const struct operation *o = (void *)op;
	const struct layout *ma = (void *)a_layout, *mb = (void *)b_layout, *mc = (void *)c_layout,
			    *md = (void *)d_layout;
	uint64_t depth = shared(ma, mb, mc, md, o);
	bool vector = o->pointers == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
	double by_alpha = load(alpha, (int)o->scale, 0), by_beta = load(beta, (int)o->scale, 0);
	if (!h || stream != (cudaStream_t)0x5eed || !depth || workspace_bytes < algo->data[WORD_WORKSPACE] ||
		(algo->data[WORD_WORKSPACE] && (!workspace || (uintptr_t)workspace % 256)) ||
		(by_beta == 0 && c != (mc->type == md->type ? d : NULL)))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (fake_cublaslt.matmul_status != CUBLAS_STATUS_SUCCESS)
		return fake_cublaslt.matmul_status;
	fake_cublaslt.calls++;
	fake_cublaslt.fast = o->fast;
	fake_cublaslt.had_bias = o->epilogue & CUBLASLT_EPILOGUE_BIAS;
	fake_cublaslt.had_c = by_beta != 0;
	fake_cublaslt.batch = md->batch;
	fake_cublaslt.rows = md->rows;
	fake_cublaslt.cols = md->cols;
	enum dtype out = dtype_of((int)md->type);
	for (int i = 0; i < 3; i++)
		fake_cublaslt.scale[i] = o->scales[i] ? *o->scales[i] : 0;
	double out_scale = o->scales[2] ? *o->scales[2] : 1;
	for (int32_t i = 0; i < md->batch; i++)
		for (uint64_t col = 0; col < md->cols; col++)
			for (uint64_t row = 0; row < md->rows; row++) {
				double sum = 0;
				for (uint64_t k = 0; k < depth; k++)
					sum += element(ma, a, i, o->trans_a == CUBLAS_OP_T, row, k) *
						element(mb, b, i, o->trans_b == CUBLAS_OP_T, k, col);
				sum *= scale_at(o, 0, row) * scale_at(o, 1, col);
				sum *= vector ? load(alpha, CUDA_R_32F, (int64_t)row) : by_alpha;
				if (by_beta != 0)
					sum += by_beta * element(mc, c, i, false, row, col);
				if (o->epilogue & CUBLASLT_EPILOGUE_BIAS)
					sum += load(o->bias, o->bias_type, (int64_t)row);
				fill_encode(finish(o, sum) * out_scale, out,
					(char *)d +
						(i * md->stride + (int64_t)col * md->ld + (int64_t)row) *
							(dtype_bits(out) / 8));
			}
	return CUBLAS_STATUS_SUCCESS;
}
