/* The backend of cuDNN's graph API: lists engines, builds plans, enqueues them. */
#include "config.h"

#include "runner/measure/backend.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/cudnn/cudnn_offers.h"
#include "runner/cudnn/cudnn_pack.h"
#include "runner/gpu/cuda_compiler.h"
#include "runner/verify/tolerance.h"

/* Without the compiler cuDNN has fewer engines. */
static void compiler_probe(struct str *stack, json_t *attributes)
{
	struct error why = ERROR_NONE;
	const struct cuda_compiler *compiler = cuda_compiler(&why);
	if (compiler) {
		cuda_library_present(attributes, "NVRTC", compiler->version, compiler->function);
		return;
	}
	cuda_library_missing(attributes, "NVRTC", why.text);
	str_addf(stack, ", no NVRTC");
}

static int probe(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	const struct cudnn_api *api = cudnn_library(err);
	(void)has_matrix; /* the context knows the GPU */
	if (!api)
		return -1;
	int version = cudnn_version();
	str_addf(stack, "%scuDNN %d.%d.%d", stack->n ? ", " : "", version / 10000, version / 100 % 100,
		version % 100);
	json_object_set_new(attributes, "cudnn", json_integer(version));
	char text[32];
	snprintf(text, sizeof(text), "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
	cuda_library_present(attributes, "cuDNN", text, (const void *)api->cudnnGetVersion);
	compiler_probe(stack, attributes);
	/* each call loads a sub-library and compares its version with the others' */
	const struct {
		const char *key;
		cudnnStatus_t (*check)(void);
	} part[] = { { "cudnn_graph", api->cudnnGraphVersionCheck },
		{ "cudnn_ops", api->cudnnOpsVersionCheck }, { "cudnn_cnn", api->cudnnCnnVersionCheck },
		{ "cudnn_adv", api->cudnnAdvVersionCheck } };
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		cudnnStatus_t status = part[i].check();
		json_object_set_new(attributes, part[i].key,
			json_string(
				status == CUDNN_STATUS_SUCCESS ? "loads" : api->cudnnGetErrorString(status)));
		if (status == CUDNN_STATUS_SUCCESS)
			continue;
		struct error why = ERROR_NONE;
		error_set(&why, "lib%s.so.%d of cuDNN %s does not load: %s; install all parts of cuDNN "
			"in the same version",
			part[i].key, CUDNN_MAJOR, text, api->cudnnGetErrorString(status));
		cuda_library_missing(attributes, part[i].key, why.text);
		str_addf(stack, ", no %s", part[i].key);
	}
	return 0;
}

struct state {
	struct cudnn_plan *plan;
	struct cudnn_packs packs;
	struct cudnn_form form;
	size_t room;                 /* where the converted source begins in the workspace */
	struct cuda_kept kept;       /* corrected biases, or the bias of zeros */
};

static const void *const common[CUDA_KEPT_KEYS]; /* zeros are the same for all buffer sets */

static int zeros_ready(struct state *s, struct error *err)
{
	const struct problem *p = &s->form.problem;
	size_t bytes = (size_t)p->k * dtype_bits(p->operand[2].dtype) / 8;
	if (cuda_kept_find(&s->kept, common))
		return 0;
	void *to = cuda_kept_add(&s->kept, common, bytes, err);
	if (!to)
		return -1;
	return cuda_error(cudaMemsetAsync(to, 0, bytes, cuda_context()->stream), "a bias of zeros", err);
}

static struct cuda_pointers zeros_pointers(const struct state *s, const struct cuda_pointers *at)
{
	struct cuda_pointers inner = *at;
	for (int i = 1; i < s->form.with_bias.epilogue_count; i++)
		inner.epilogue[i] = at->epilogue[i - 1];
	inner.epilogue[0] = cuda_kept_find(&s->kept, common);
	return inner;
}

/* Makes the variant pack for these addresses, unless it exists. */
static int ready(void *state, const struct cuda_pointers *at, struct error *err)
{
	struct state *s = state;
	struct cuda_pointers inner = *at;
	if (s->form.as_s8) {
		if (cuda_signed_ready(&s->form.as_signed, &s->kept, at, err))
			return -1;
		inner = cuda_signed_pointers(
			&s->form.as_signed, &s->kept, at, (char *)at->workspace + s->room);
	} else if (s->form.zero_bias) {
		if (zeros_ready(s, err))
			return -1;
		inner = zeros_pointers(s, at);
	}
	return cudnn_pack_of(&s->packs, &s->plan->graph, &inner, err) ? 0 : -1;
}

static int enqueue(void *state, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	struct state *s = state;
	const struct cudnn_graph *g = &s->plan->graph;
	struct cuda_pointers inner = *at;
	if (s->form.as_s8 &&
		cuda_signed_enqueue(&s->form.as_signed, &s->kept, at, (char *)at->workspace + s->room, &inner,
			stream, err))
		return -1;
	if (s->form.zero_bias) {
		if (zeros_ready(s, err))
			return -1;
		inner = zeros_pointers(s, at);
	}
	cudnnHandle_t handle = cudnn_handle_on(stream, err);
	cudnnBackendDescriptor_t pack = handle ? cudnn_pack_of(&s->packs, g, &inner, err) : NULL;
	if (!pack)
		return -1;
	return cudnn_error(
		g->bag.api->cudnnBackendExecute(handle, s->plan->d, pack), "cudnnBackendExecute", err);
}

static void state_free(void *state)
{
	struct state *s = state;
	cudnn_packs_free(&s->packs, s->plan->graph.bag.api);
	cuda_kept_free(&s->kept);
	cudnn_plan_free(s->plan);
	free(s);
}

static int plan(const struct backend_list *list, int index, struct cuda_plan *out, enum status *status,
	struct error *err)
{
	struct cudnn_offers *o = list->state;
	struct cudnn_plan *made = cudnn_plan_take(list, index);
	if (!made->d) {
		*status = made->status;
		error_set(err, "%s", made->why.text);
		cudnn_plan_free(made);
		return -1;
	}
	struct state *s = base_calloc(1, sizeof(*s));
	s->plan = made;
	out->state = s;
	s->form = o->form[o->candidate[index].form];
	out->problem = &s->form.problem;
	out->workspace_bytes = made->workspace_bytes;
	if (s->form.as_s8) {
		size_t blocks = ((size_t)made->workspace_bytes + CUDNN_SPACE_ALIGNMENT - 1) /
			CUDNN_SPACE_ALIGNMENT;
		s->room = blocks * CUDNN_SPACE_ALIGNMENT;
		out->workspace_bytes = (double)s->room + cuda_signed_bytes(&s->form.as_signed);
	}
	out->enqueue = enqueue;
	out->ready = ready;
	out->free = state_free;
	out->epsilon = made->graph.epsilon;
	out->factor = made->graph.factor;
	out->gain = tolerance_gain(&o->problem, &list->algorithm[index]);
	return 0;
}

static const struct problem *problem_of(const struct backend_list *list)
{
	const struct cudnn_offers *o = list->state;
	return &o->problem;
}

static const struct cuda_backend detail = { .plan = plan, .problem = problem_of };

const struct backend backend_cudnn = { .api = "cuDNN", .detail = &detail, .probe = probe,
	.algorithms = cudnn_algorithms, .compile = cudnn_compile, .forget = cudnn_forget, CUDA_WORK_SLOTS };
