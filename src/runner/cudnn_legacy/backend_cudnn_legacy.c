/* The backend of cuDNN's legacy API for what the graph API lacks or has only in part: recurrent layers,
 * pooling, LRN, dropout, reductions, batch normalization, softmax. Convolutions, pointwise operations and
 * transposes have graph engines and our own kernels. */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/kernel.h"
#include "base/arena.h"
#include "runner/cudnn_legacy/cudnn_legacy.h"
#include "runner/verify/tolerance.h"

#define API "cuDNN legacy"

static const struct {
	enum kernel kernel;
	int (*offer)(struct cudnn_legacy_offers *o, struct error *err);
} kernels[] = {
	{ KERNEL_POOL, cudnn_legacy_pool_offer },
	{ KERNEL_BATCHNORM, cudnn_legacy_batchnorm_offer },
	{ KERNEL_SOFTMAX, cudnn_legacy_softmax_offer },
	{ KERNEL_REDUCE, cudnn_legacy_reduce_offer },
	{ KERNEL_LRN, cudnn_legacy_lrn_offer },
	{ KERNEL_DROPOUT, cudnn_legacy_dropout_offer },
	{ KERNEL_RNN, cudnn_legacy_rnn_offer },
};

struct offers {
	struct cudnn_legacy_offers own;
	struct algorithm algorithm[CUDNN_LEGACY_OFFERS];
	char layouts[64];
};

static int row_of(enum kernel k)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (kernels[i].kernel == k)
			return (int)i;
	return -1;
}

static void layouts_set(struct offers *o)
{
	const struct kernel_row *row = kernel_row(o->own.problem.kernel);
	size_t n = 0;
	for (int i = 0; i < row->operands; i++)
		n += (size_t)snprintf(o->layouts + n, sizeof(o->layouts) - n, "%s%s=%s", n ? " " : "",
			row->names[i], cuda_layout_name(&o->own.problem, i));
}

/* Keeps the candidates that can be planned. Returns -1 if none can be; err has the first one's reason. */
static int candidates_try(struct offers *o, struct error *err)
{
	struct cudnn_legacy_offers *own = &o->own;
	struct error why = ERROR_NONE, first = ERROR_NONE;
	int kept = 0;
	for (int i = 0; i < own->count; i++) {
		struct cudnn_legacy l;
		if (cudnn_legacy_open(&l, &own->problem, &own->offer[i], &why)) {
			if (!first.text[0])
				first = why;
			continue;
		}
		own->offer[kept] = own->offer[i];
		own->offer[kept++].workspace_bytes = l.workspace_bytes;
		cudnn_legacy_close(&l);
	}
	own->count = kept;
	return kept ? 0 : error_set(err, "%s", first.text);
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	*list = (struct backend_list){ 0 };
	int row = row_of(p->kernel);
	if (row < 0)
		return error_set(err, "only layers of cuDNN's legacy API, which has no %s",
			kernel_name(p->kernel));
	if (cuda_context()->planning)
		return error_set(err, "cuDNN legacy cannot be asked without a GPU");
	struct offers *o = base_calloc(1, sizeof(*o));
	o->own.problem = *p;
	if (kernels[row].offer(&o->own, err) || candidates_try(o, err)) {
		free(o);
		return -1;
	}
	layouts_set(o);
	for (int i = 0; i < o->own.count; i++) {
		const struct cudnn_legacy_offer *one = &o->own.offer[i];
		o->algorithm[i] = (struct algorithm){ .api = API,
			.name = one->name,
			.layouts = o->layouts,
			.math = one->math,
			.rank = i,
			.matrix = one->matrix,
			.workspace_bytes = one->workspace_bytes,
			.notes = one->notes };
	}
	*list = (struct backend_list){ .count = o->own.count, .algorithm = o->algorithm, .state = o };
	return 0;
}

/* ---- one algorithm ---- */

static const struct problem *problem_of(const struct backend_list *list)
{
	const struct offers *o = list->state;
	return &o->own.problem;
}

static int enqueue(void *state, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	struct cudnn_legacy *l = state;
	l->handle = cudnn_handle_on(stream, err);
	return l->handle ? l->way->enqueue(l, at, stream, err) : -1;
}

static void plan_free(void *state)
{
	cudnn_legacy_close(state);
	free(state);
}

static int plan(const struct backend_list *list, int index, struct cuda_plan *to, enum status *status,
	struct error *err)
{
	const struct offers *o = list->state;
	assert(index >= 0 && index < o->own.count);
	struct cudnn_legacy *l = base_calloc(1, sizeof(*l));
	int bad = cudnn_legacy_open(l, &o->own.problem, &o->own.offer[index], err);
	if (bad) {
		free(l);
		*status = backend_status(bad);
		return -1;
	}
	*status = STATUS_OK;
	*to = (struct cuda_plan){ .state = l,
		.workspace_bytes = l->workspace_bytes,
		.enqueue = enqueue,
		.free = plan_free,
		.epsilon = l->epsilon,
		.gain = tolerance_gain(&o->own.problem, &list->algorithm[index]) };
	return 0;
}

static const struct cuda_backend legacy = { .plan = plan, .problem = problem_of };

/* The graph backend's probe adds the library to the stack. */
static int probe(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	const struct cudnn_api *api = cudnn_library(err);
	char version[64];
	(void)stack;
	(void)has_matrix;
	if (!api)
		return -1;
	size_t n = api->cudnnGetVersion();
	snprintf(version, sizeof(version), "%zu.%zu.%zu", n / 10000, n / 100 % 100, n % 100);
	cuda_library_present(attributes, API, version, (const void *)api->cudnnGetVersion);
	return 0;
}

const struct backend backend_cudnn_legacy = { .api = API, .detail = &legacy, .probe = probe,
	.algorithms = algorithms, .forget = backend_forget, CUDA_WORK_SLOTS };
