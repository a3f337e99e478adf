/* The backend of our own kernels, CUB and the CUDA runtime's copies. */
#include "config.h"

#include "runner/own/cuda_own.h"

#include <math.h>
#include <stdlib.h>

#include "runner/gpu/cuda_library.h"

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	struct cuda_own *o = base_calloc(1, sizeof(*o));
	*list = (struct backend_list){ 0 };
	o->problem = *p;
	if (cuda_own_offer(o, err)) {
		free(o);
		return -1;
	}
	*list = (struct backend_list){ .count = o->count, .algorithm = o->algorithm, .state = o };
	return 0;
}

struct state {
	struct cuda_own own;
	int kind;
	struct cuda_kept scales; /* of weights of 4 bits */
};

static int ready(void *state, const struct cuda_pointers *at, struct error *err)
{
	struct state *s = state;
	return cuda_own_scales_ready(&s->own, &s->scales, at, err);
}

static void state_free(void *state)
{
	struct state *s = state;
	cuda_kept_free(&s->scales);
	free(s);
}

static int enqueue(void *state, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	struct state *s = state;
	struct cuda_pointers own = *at;
	const char *call;
	if (s->own.few.terms) {
		if (cuda_own_scales_ready(&s->own, &s->scales, at, err))
			return -1;
		cuda_own_scales_add(&s->own, &s->scales, &own);
	}
	cudaError_t bad = cuda_own_enqueue(&s->own, s->kind, &own, stream, &call);
	return cuda_error(bad, call, err) ? cuda_refusal(bad) : 0;
}

static int plan(const struct backend_list *list, int index, struct cuda_plan *out, enum status *status,
	struct error *err)
{
	const struct cuda_own *o = list->state;
	if (isnan(o->algorithm[index].workspace_bytes)) {
		*status = STATUS_FAILED;
		return error_set(err, "CUB reports no workspace size for %s", o->algorithm[index].name);
	}
	struct state *s = base_calloc(1, sizeof(*s));
	s->own = *o;
	s->kind = o->kind[index];
	*out = (struct cuda_plan){ .state = s,
		.workspace_bytes = o->algorithm[index].workspace_bytes,
		.enqueue = enqueue,
		.ready = o->few.terms ? ready : NULL,
		.free = state_free,
		.epsilon = o->norm.line.size ? CUDA_NORM_EPSILON : 0 };
	return 0;
}

static const struct problem *problem_of(const struct backend_list *list)
{
	return &((const struct cuda_own *)list->state)->problem;
}

static int probe(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	(void)stack;
	(void)has_matrix;
	(void)err;
	cuda_library_present(attributes, "benanza", PACKAGE_VERSION, (const void *)probe);
	return 0;
}

static const struct cuda_backend detail = { .plan = plan, .problem = problem_of };

const struct backend backend_cuda = { .api = "benanza", .detail = &detail, .probe = probe,
	.algorithms = algorithms, .forget = backend_forget, CUDA_WORK_SLOTS };
