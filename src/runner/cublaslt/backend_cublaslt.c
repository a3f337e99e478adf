/* The backend of cuBLASLt: matmuls, with all algorithms that its heuristics return for each group of
 * settings (if all are asked for, those that it has beyond them too), and sums as products with ones, with
 * the first of them. */
#include "config.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "problem/kernel.h"
#include "runner/cublaslt/cublaslt_group.h"
#include "runner/cublaslt/cublaslt_names.h"
#include "runner/cublaslt/cublaslt_sweep.h"
#include "runner/gpu/cuda_work.h"

#define GROUPS_MOST 8
#define ASKED 32                       /* maximum results per group */
#define ASKED_ONES 4                   /* ... for a product with ones, one of many ways to sum */
#define WORKSPACE_MOST 1073741824.0    /* maximum workspace: 1 GiB ... */
#define WORKSPACE_SHARE 8              /* ... and one eighth of the device memory */

struct offer {
	const struct cublaslt_group *group;
	int group_rank, number;           /* index in the group's results; index in all results */
	struct algorithm algorithm;
	cublasLtMatmulAlgo_t algo;
	size_t workspace;
	char name[CUBLASLT_NAME_SIZE], notes[128];
};

struct offers {
	struct cublaslt_case kase;
	char layouts[64];
	bool all;                         /* of struct backend_list */
	int count;
	struct offer *offer;
	struct algorithm *algorithm;
};

struct state { /* of a plan */
	struct cublaslt_case kase;
	const struct cublaslt_group *group;
	struct cublaslt_desc desc;
	cublasLtMatmulAlgo_t algo;
	size_t workspace;
	cublasLtHandle_t handle;
	float *scales;            /* of 8-bit floats, in device memory: of A, of D, of each column of B */
	float alpha;              /* the source's scale where each column of B has one */
	void *ones;               /* of a product with ones, in device memory; else NULL */
};

static int probe(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	const struct cublaslt_api *api = cublaslt_library(err);
	char version[64];
	(void)has_matrix;
	if (!api)
		return -1;
	size_t v = api->cublasLtGetVersion();
	snprintf(version, sizeof(version), "%zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
	str_addf(stack, "%scuBLASLt %s", stack->n ? ", " : "", version);
	cuda_library_present(attributes, "cuBLASLt", version, (const void *)api->cublasLtGetVersion);
	return 0;
}

/* ---- the list of algorithms ---- */

static size_t workspace_limit(void)
{
	double share = cuda_context()->memory_bytes / WORKSPACE_SHARE;
	return (size_t)(share < WORKSPACE_MOST ? share : WORKSPACE_MOST);
}

static cublasLtMatmulPreference_t preference_open(const struct cublaslt_api *api,
	const struct cublaslt_case *c, const struct cublaslt_group *g, struct error *err)
{
	cublasLtMatmulPreference_t preference = NULL;
	uint64_t most = workspace_limit(), units = g->units;
	uint32_t align[] = { cublaslt_case_alignment(c, &c->a), cublaslt_case_alignment(c, &c->b),
		cublaslt_case_alignment(c, &c->c), cublaslt_case_alignment(c, &c->d) };
	const struct {
		cublasLtMatmulPreferenceAttributes_t attribute;
		const void *value;
		size_t bytes;
	} settings[] = {
		{ CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most) },
		{ CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &align[0], sizeof(align[0]) },
		{ CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &align[1], sizeof(align[1]) },
		{ CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &align[2], sizeof(align[2]) },
		{ CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &align[3], sizeof(align[3]) },
		{ CUBLASLT_MATMUL_PREF_IMPL_MASK, &units, sizeof(units) },
	};
	if (cublaslt_error(
		    api->cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate", err))
		return NULL;
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (cublaslt_error(api->cublasLtMatmulPreferenceSetAttribute(preference,
					   settings[i].attribute, settings[i].value, settings[i].bytes),
			    "cublasLtMatmulPreferenceSetAttribute", err)) {
			error_context(err, "attribute %d", settings[i].attribute);
			api->cublasLtMatmulPreferenceDestroy(preference);
			return NULL;
		}
	return preference;
}

/* True if the algorithm can run the case. A residual is not in the destination's buffer, which some cannot
 * handle. */
static bool is_usable(const struct cublaslt_api *api, const struct cublaslt_case *c,
	const cublasLtMatmulHeuristicResult_t *r)
{
	int32_t out_of_place = 1;
	size_t written;
	if (r->state != CUBLAS_STATUS_SUCCESS)
		return false;
	if (c->residual < 0 || api->cublasLtMatmulAlgoCapGetAttribute(&r->algo,
		CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT, &out_of_place, sizeof(out_of_place),
		&written) != CUBLAS_STATUS_SUCCESS)
		return true;
	return out_of_place != 0;
}

static enum matrix matrix_of(uint64_t flags)
{
	if (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK)
		return MATRIX_YES;
	return flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA ? MATRIX_NO : MATRIX_UNKNOWN;
}

static void note(struct offer *o, const char *word, int64_t value)
{
	size_t n = strlen(o->notes);
	if (value != 1)
		snprintf(o->notes + n, sizeof(o->notes) - n, "%s%s=%lld", n ? " " : "", word,
			(long long)value);
}

/* Adds a result unless another group returned the same algorithm; name and math mode identify it. */
static void offer_add(struct offers *o, const struct cublaslt_api *api, const struct cublaslt_group *g,
	const cublasLtMatmulHeuristicResult_t *r, int group_rank)
{
	struct offer one = { .group = g, .group_rank = group_rank, .number = o->count, .algo = r->algo,
		.workspace = r->workspaceSize };
	uint64_t flags = cublaslt_flags(api, &r->algo);
	const char *math = cublaslt_group_math(g, &o->kase.problem, flags);
	const char *side = !o->kase.ones.rows ? "" : o->kase.ones.left ? "ones_left:" : "ones_right:";
	size_t n = (size_t)snprintf(one.name, sizeof(one.name), "%s", side);
	cublaslt_name(api, &r->algo, one.name + n, sizeof(one.name) - n);
	for (int i = 0; i < o->count; i++)
		if (strcmp(o->offer[i].name, one.name) == 0 &&
			strcmp(o->offer[i].algorithm.math, math) == 0) {
			if (group_rank < o->offer[i].group_rank)
				o->offer[i].group_rank = group_rank;
			return;
		}
	cublaslt_notes(flags, one.notes, sizeof(one.notes));
	note(&one, "rows_folded", o->kase.folded);
	note(&one, "calls", o->kase.calls);
	one.algorithm = (struct algorithm){ .api = "cuBLASLt", .layouts = o->layouts, .math = math,
		.matrix = matrix_of(flags), .workspace_bytes = (double)r->workspaceSize };
	o->offer[o->count++] = one;
}

/* Visits what the sweep found (cublaslt_sweep). These come after all results of the heuristics. */
struct sweeping {
	struct offers *o;
	const struct cublaslt_api *api;
	const struct cublaslt_group *group;
};

static void swept_add(void *user, const cublasLtMatmulHeuristicResult_t *r)
{
	const struct sweeping *s = user;
	if (is_usable(s->api, &s->o->kase, r))
		offer_add(s->o, s->api, s->group, r, ASKED);
}

/* Adds the results of one group. Returns -1 and sets err if it finds none; other groups may still have
 * some. */
static int group_ask(struct offers *o, const struct cublaslt_api *api, cublasLtHandle_t handle,
	const struct cublaslt_group *g, struct error *err)
{
	cublasLtMatmulHeuristicResult_t results[ASKED];
	struct cublaslt_desc desc;
	int asked = o->kase.ones.rows ? ASKED_ONES : ASKED, count = 0, bad = -1, before = o->count;
	if (cublaslt_desc_open(&desc, &o->kase, g, err))
		return -1;
	cublasLtMatmulPreference_t preference = preference_open(api, &o->kase, g, err);
	memset(results, 0, sizeof(results));
	if (preference)
		bad = cublaslt_error(api->cublasLtMatmulAlgoGetHeuristic(handle, desc.operation, desc.a,
					     desc.b, desc.c, desc.d, preference, asked, results, &count),
			"cublasLtMatmulAlgoGetHeuristic", err);
	for (int i = 0; !bad && i < count && i < asked; i++)
		if (is_usable(api, &o->kase, &results[i]))
			offer_add(o, api, g, &results[i], i);
	if (preference)
		api->cublasLtMatmulPreferenceDestroy(preference);
	struct sweeping s = { o, api, g };
	if (o->all && g->units == UINT64_MAX) /* other groups have a part of these */
		cublaslt_sweep(handle, &o->kase, g, &desc, workspace_limit(), swept_add, &s);
	cublaslt_desc_close(&desc);
	if (o->count > before)
		return 0;
	if (!bad)
		return error_set(err, "cublasLtMatmulAlgoGetHeuristic: no algorithm");
	return bad;
}

/* Orders by rank in the group: first choices of all groups, then second ones. So trying only a few covers all
 * groups. */
static int offer_compare(const void *a, const void *b)
{
	const struct offer *x = a, *y = b;
	if (x->group_rank != y->group_rank)
		return (x->group_rank > y->group_rank) - (x->group_rank < y->group_rank);
	return (x->number > y->number) - (x->number < y->number);
}

static void forget(struct backend_list *list)
{
	struct offers *o = list->state;
	if (o) {
		free(o->offer);
		free(o->algorithm);
	}
	free(o);
	*list = (struct backend_list){ 0 };
}

static int offers_fill(struct offers *o, struct error *err)
{
	const struct problem *p = &o->kase.problem;
	const char *const *names = kernel_row(p->kernel)->names;
	const struct cublaslt_group *groups[GROUPS_MOST];
	const struct cublaslt_api *api = cublaslt_library(err);
	cublasLtHandle_t handle = api ? cublaslt_handle(err) : NULL;
	if (!handle)
		return -1;
	int group_count = cublaslt_groups(&o->kase, groups, GROUPS_MOST, err);
	if (group_count < 0)
		return -1;
	size_t most = (size_t)group_count * (ASKED + (o->all ? CUBLASLT_SWEEP_MOST : 0));
	o->offer = base_calloc(most, sizeof(*o->offer));
	o->algorithm = base_calloc(most, sizeof(*o->algorithm));
	for (int i = 0, n = 0; i < problem_operand_count(p); i++)
		n += snprintf(o->layouts + n, sizeof(o->layouts) - (size_t)n, "%s%s=%s", i ? " " : "",
			names[i], cuda_layout_name(p, i));
	struct error first = ERROR_NONE, now = ERROR_NONE;
	for (int i = 0; i < group_count; i++)
		if (group_ask(o, api, handle, groups[i], &now) && !first.text[0])
			first = now;
	qsort(o->offer, (size_t)o->count, sizeof(*o->offer), offer_compare);
	for (int i = 0; i < o->count; i++) {
		o->algorithm[i] = o->offer[i].algorithm;
		o->algorithm[i].rank = i;
		o->algorithm[i].name = o->offer[i].name;
		o->algorithm[i].notes = o->offer[i].notes;
	}
	return o->count ? 0 : error_set(err, "%s", first.text);
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	bool all = list->all;
	*list = (struct backend_list){ 0 };
	struct cublaslt_case kase;
	if (cublaslt_case_make(p, &kase, err))
		return -1;
	if (cuda_context()->planning)
		return error_set(err, "cuBLASLt cannot be asked without a GPU");
	struct offers *o = base_calloc(1, sizeof(*o));
	o->kase = kase;
	o->all = all && !kase.ones.rows;
	list->state = o;
	if (offers_fill(o, err)) {
		forget(list);
		return -1;
	}
	list->count = o->count;
	list->algorithm = o->algorithm;
	return 0;
}

/* ---- one algorithm ---- */

static const struct problem *problem_of(const struct backend_list *list)
{
	const struct offers *o = list->state;
	return &o->kase.problem;
}

static void plan_free(void *state)
{
	struct state *s = state;
	cublaslt_desc_close(&s->desc);
	if (s->scales)
		cudaFree(s->scales);
	if (s->ones)
		cudaFree(s->ones);
	free(s);
}

/* The scales of 8-bit floats, in device memory. *factor: see cuda_float8_scales. */
static int scales_make(struct state *s, double *factor, struct error *err)
{
	const struct cublaslt_case *c = &s->kase;
	float scale[CUDA_SCALES];
	*factor = cuda_float8_scales(&c->problem, scale);
	s->alpha = c->outer ? scale[0] : 1;
	if (!cublaslt_is_float8(c->a.type))
		return 0;
	int64_t columns = c->outer ? c->d.cols : 1;
	size_t bytes = (size_t)(2 + columns) * sizeof(float);
	float *values = base_malloc(bytes);
	values[0] = scale[0];
	values[1] = scale[2];
	for (int64_t i = 0; i < columns; i++)
		values[2 + i] = scale[1];
	int bad = cuda_error(cudaMalloc((void **)&s->scales, bytes), "cudaMalloc", err) ||
		cuda_error(cudaMemcpy(s->scales, values, bytes, cudaMemcpyHostToDevice), "the scales", err);
	free(values);
	const float *const at[CUDA_SCALES] = { c->outer ? NULL : s->scales, s->scales + 2, s->scales + 1 };
	return bad ? -1 : cublaslt_desc_scale(&s->desc, c, at, err);
}

/* A product with ones reads them; no operand of the problem has them. */
static int ones_make(struct state *s, struct error *err)
{
	size_t bytes;
	if (!s->kase.ones.rows)
		return 0;
	void *values = cublaslt_ones_values(&s->kase, &bytes);
	int bad = cuda_error(cudaMalloc(&s->ones, bytes), "cudaMalloc", err) ||
		cuda_error(cudaMemcpy(s->ones, values, bytes, cudaMemcpyHostToDevice), "the ones", err);
	free(values);
	return bad ? -1 : 0;
}

/* Returns the address of a matrix for call number `call`. */
static const void *call_address(
	const struct cublaslt_case *c, const struct cublaslt_matrix *m, const void *at, int64_t call)
{
	return (const char *)at + cublaslt_case_offset(c, m, call);
}

static int enqueue(void *state, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	struct state *s = state;
	const struct cublaslt_case *c = &s->kase;
	const struct cublaslt_api *api = cublaslt_library(err);
	const void *a = c->ones.is_a ? s->ones : c->ones.rows ? at->source[0] : at->weights;
	const void *b = c->ones.rows && !c->ones.is_a ? s->ones : at->source[0];
	union cublaslt_scalar alpha = cublaslt_scalar(s->group, true);
	union cublaslt_scalar beta = cublaslt_scalar(s->group, c->residual >= 0);
	const void *by = c->scale < 0 || c->outer ? (const void *)&alpha : at->epilogue[c->scale];
	if (c->ones.rows)
		alpha.f32 = c->ones.factor;
	if (c->outer) {
		const float *const of_rows[CUDA_SCALES] = { at->epilogue[c->scale], NULL, NULL };
		alpha.f32 = s->alpha;
		if (cublaslt_desc_scale(&s->desc, c, of_rows, err))
			return -1;
	}
	if (c->bias >= 0 && cublaslt_error(api->cublasLtMatmulDescSetAttribute(s->desc.operation,
		CUBLASLT_MATMUL_DESC_BIAS_POINTER, &at->epilogue[c->bias], sizeof(at->epilogue[0])),
		"cublasLtMatmulDescSetAttribute(bias pointer)", err))
		return -1;
	for (int64_t i = 0; i < c->calls; i++) {
		void *d = (char *)at->destination + cublaslt_case_offset(c, &c->d, i);
		/* without a residual C is not read: it may be D if it has D's type */
		const void *residual = c->residual < 0 ? (c->c.type == c->d.type ? d : NULL) :
			call_address(c, &c->c, at->epilogue[c->residual], i);
		int refused = cublaslt_error(api->cublasLtMatmul(s->handle, s->desc.operation, by,
			call_address(c, &c->a, a, i), s->desc.a, call_address(c, &c->b, b, i), s->desc.b,
			&beta, residual, s->desc.c, d, s->desc.d, &s->algo, at->workspace, s->workspace,
			stream), "cublasLtMatmul", err);
		if (refused)
			return refused;
	}
	return 0;
}

static int plan(const struct backend_list *list, int index, struct cuda_plan *to, enum status *status,
	struct error *err)
{
	const struct offers *o = list->state;
	assert(index >= 0 && index < o->count);
	struct state *s = base_calloc(1, sizeof(*s));
	*s = (struct state){ .kase = o->kase, .group = o->offer[index].group, .algo = o->offer[index].algo,
		.workspace = o->offer[index].workspace };
	double factor;
	*status = STATUS_FAILED;
	s->handle = cublaslt_handle(err);
	if (!s->handle || cublaslt_desc_open(&s->desc, &s->kase, s->group, err)) {
		free(s);
		return -1;
	}
	if (scales_make(s, &factor, err) || ones_make(s, err)) {
		plan_free(s);
		return -1;
	}
	*status = STATUS_OK;
	*to = (struct cuda_plan){ .state = s, .workspace_bytes = (double)s->workspace, .enqueue = enqueue,
		.free = plan_free, .factor = factor };
	return 0;
}

static const struct cuda_backend cublaslt = { .plan = plan, .problem = problem_of };

/* Frameworks use cuBLASLt first for matmul. */
static int preference(const struct problem *p)
{
	return p->kernel == KERNEL_MATMUL;
}

const struct backend backend_cublaslt = { .api = "cuBLASLt", .detail = &cublaslt, .probe = probe,
	.algorithms = algorithms, .forget = forget, .preference = preference, CUDA_WORK_SLOTS };
