/* Tries settings of cuBLASLt's algorithms that its heuristics do not return. */
#include "config.h"

#include "runner/cublaslt/cublaslt_sweep.h"

#include <string.h>

#include "runner/measure/sweep.h"

#define IDS 128
#define VALUES 1024   /* of tiles or stages */
#define CUSTOM_MOST 64

static const uint32_t splits[] = { 2, 3, 4, 6, 8, 12, 16, 24, 32 }; /* parts of k */
static const uint32_t schemes[] = { CUBLASLT_REDUCTION_SCHEME_INPLACE, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
	CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE };
#define SPLITS ((int)(sizeof(splits) / sizeof(splits[0])))
#define SCHEMES ((int)(sizeof(schemes) / sizeof(schemes[0])))

enum { AXIS_TILE, AXIS_STAGES, AXIS_SPLIT, AXIS_SWIZZLE, AXIS_CUSTOM, AXES };

/* The settings of one algorithm. The first choice of each is cuBLASLt's default if it has one. */
struct settings {
	cublasLtMatmulAlgo_t algo;
	uint32_t tile[VALUES], stages[VALUES];
	struct {
		uint32_t parts, scheme;
	} split[1 + SPLITS * SCHEMES];
	int size[AXES];
};

struct sweeping {
	const struct cublaslt_api *api;
	cublasLtHandle_t handle;
	const struct cublaslt_case *c;
	const struct cublaslt_group *g;
	const struct cublaslt_desc *desc;
	size_t workspace;
	void (*visit)(void *user, const cublasLtMatmulHeuristicResult_t *result);
	void *user;
};

/* Returns a capability of 32 bits; 0 if cuBLASLt does not tell. */
static uint32_t capability(
	const struct sweeping *s, const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoCapAttributes_t which)
{
	uint32_t value = 0;
	size_t written;
	cublasStatus_t status =
		s->api->cublasLtMatmulAlgoCapGetAttribute(algo, which, &value, sizeof(value), &written);
	return status == CUBLAS_STATUS_SUCCESS ? value : 0;
}

/* Reads a list of ids. An algorithm without any has the one id 0, "undefined". */
static int ids_read(const struct sweeping *s, const cublasLtMatmulAlgo_t *algo,
	cublasLtMatmulAlgoCapAttributes_t which, uint32_t *to)
{
	size_t bytes = 0;
	to[0] = 0;
	cublasStatus_t status = s->api->cublasLtMatmulAlgoCapGetAttribute(algo, which, NULL, 0, &bytes);
	if (status != CUBLAS_STATUS_SUCCESS || bytes < sizeof(*to))
		return 1;
	bytes = bytes < VALUES * sizeof(*to) ? bytes / sizeof(*to) * sizeof(*to) : VALUES * sizeof(*to);
	status = s->api->cublasLtMatmulAlgoCapGetAttribute(algo, which, to, bytes, &bytes);
	if (status == CUBLAS_STATUS_SUCCESS)
		return (int)(bytes / sizeof(*to));
	to[0] = 0;
	return 1;
}

/* True if the operands lie as the algorithm needs them. */
static bool is_aligned(const struct sweeping *s, const cublasLtMatmulAlgo_t *algo)
{
	const struct {
		cublasLtMatmulAlgoCapAttributes_t which;
		const struct cublaslt_matrix *m;
	} rows[] = { { CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, &s->c->a },
		{ CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, &s->c->b },
		{ CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, &s->c->c },
		{ CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, &s->c->d } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (capability(s, algo, rows[i].which) > cublaslt_case_alignment(s->c, rows[i].m))
			return false;
	return true;
}

/* Returns false if cuBLASLt does not have this algorithm for the types. */
static bool settings_open(const struct sweeping *s, int id, struct settings *to)
{
	const struct cublaslt_case *c = s->c;
	if (s->api->cublasLtMatmulAlgoInit(s->handle, s->g->compute, s->g->scale, c->a.type, c->b.type,
		c->c.type, c->d.type, id, &to->algo) != CUBLAS_STATUS_SUCCESS ||
		!is_aligned(s, &to->algo))
		return false;
	uint32_t mask = capability(s, &to->algo, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK);
	uint32_t custom = capability(s, &to->algo, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
	int n = 0;
	to->split[n].parts = 1;
	to->split[n++].scheme = CUBLASLT_REDUCTION_SCHEME_NONE;
	for (int i = 0; i < SPLITS && capability(s, &to->algo, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT); i++)
		for (int j = 0; j < SCHEMES; j++)
			if (mask & schemes[j]) {
				to->split[n].parts = splits[i];
				to->split[n++].scheme = schemes[j];
			}
	to->size[AXIS_TILE] = ids_read(s, &to->algo, CUBLASLT_ALGO_CAP_TILE_IDS, to->tile);
	to->size[AXIS_STAGES] = ids_read(s, &to->algo, CUBLASLT_ALGO_CAP_STAGES_IDS, to->stages);
	to->size[AXIS_SPLIT] = n;
	to->size[AXIS_SWIZZLE] = capability(s, &to->algo, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT) ? 2 : 1;
	to->size[AXIS_CUSTOM] = custom < CUSTOM_MOST ? (int)custom + 1 : CUSTOM_MOST;
	return true;
}

/* Writes the settings of a combination. Returns false if cuBLASLt refuses one. */
static bool settings_apply(
	const struct sweeping *s, const struct settings *from, const int *at, cublasLtMatmulAlgo_t *algo)
{
	const struct {
		cublasLtMatmulAlgoConfigAttributes_t attribute;
		uint32_t value;
	} rows[] = { { CUBLASLT_ALGO_CONFIG_TILE_ID, from->tile[at[AXIS_TILE]] },
		{ CUBLASLT_ALGO_CONFIG_STAGES_ID, from->stages[at[AXIS_STAGES]] },
		{ CUBLASLT_ALGO_CONFIG_SPLITK_NUM, from->split[at[AXIS_SPLIT]].parts },
		{ CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, from->split[at[AXIS_SPLIT]].scheme },
		{ CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, (uint32_t)at[AXIS_SWIZZLE] },
		{ CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, (uint32_t)at[AXIS_CUSTOM] } };
	*algo = from->algo;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (s->api->cublasLtMatmulAlgoConfigSetAttribute(algo, rows[i].attribute, &rows[i].value,
			sizeof(rows[i].value)) != CUBLAS_STATUS_SUCCESS)
			return false;
	return true;
}

/* Returns how many settings of one algorithm were visited. */
static int algorithm_sweep(const struct sweeping *s, int id, int most)
{
	struct settings settings; /* 9 KB */
	struct sweep sweep;
	int visited = 0;
	if (!settings_open(s, id, &settings))
		return 0;
	sweep_open(&sweep, settings.size, AXES, CUBLASLT_SWEEP_TRIES);
	while (visited < most && sweep_next(&sweep)) {
		cublasLtMatmulHeuristicResult_t result = { .state = CUBLAS_STATUS_NOT_SUPPORTED };
		cublasLtMatmulAlgo_t algo;
		if (!settings_apply(s, &settings, sweep.at, &algo) ||
			s->api->cublasLtMatmulAlgoCheck(s->handle, s->desc->operation, s->desc->a, s->desc->b,
				s->desc->c, s->desc->d, &algo, &result) != CUBLAS_STATUS_SUCCESS ||
			result.workspaceSize > s->workspace)
			continue;
		result.algo = algo; /* the check does not write it */
		result.state = CUBLAS_STATUS_SUCCESS;
		s->visit(s->user, &result);
		visited++;
	}
	return visited;
}

void cublaslt_sweep(cublasLtHandle_t handle, const struct cublaslt_case *c, const struct cublaslt_group *g,
	const struct cublaslt_desc *desc, size_t workspace,
	void (*visit)(void *user, const cublasLtMatmulHeuristicResult_t *result), void *user)
{
	const struct sweeping s = { cublaslt_library(NULL), handle, c, g, desc, workspace, visit, user };
	int ids[IDS], count = 0, left = CUBLASLT_SWEEP_MOST;
	if (s.api->cublasLtMatmulAlgoGetIds(handle, g->compute, g->scale, c->a.type, c->b.type, c->c.type,
		c->d.type, IDS, ids, &count) != CUBLAS_STATUS_SUCCESS)
		return;
	count = count < IDS ? count : IDS;
	for (int i = 0; i < count && left > 0; i++) {
		int share = left / (count - i);
		left -= algorithm_sweep(&s, ids[i], share > 0 ? share : 1);
	}
}
