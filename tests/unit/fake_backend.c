#include "config.h"

#include "fake_backend.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cudart.h"
#include "runner/gpu/cuda_kept.h"
#include "runner/verify/check.h"
#include "runner/verify/fill.h"

struct fake_backend fake_backend;

struct execution {
	const struct problem *problem;
	struct cuda_pointers at;
	double workspace_bytes;
	struct cuda_kept *kept; /* what ready() allocated, by weights */
};

/* --- values in memory --- */

static size_t offset_of(const struct cuda_layout *l, int64_t index)
{
	int64_t at = 0;
	for (int i = l->shape.rank - 1; i >= 0; i--) {
		at += index % l->shape.dim[i] * l->stride[i];
		index /= l->shape.dim[i];
	}
	return (size_t)(at * dtype_bits(l->dtype) / 8);
}

static struct cuda_layout parameter_layout(void)
{
	return (struct cuda_layout){
		.dtype = DTYPE_F32, .shape = { .rank = 1, .dim = { INT32_MAX } }, .stride = { 1 }
	};
}

static struct cuda_layout layout_of(const struct problem *p, enum check_role role, int number)
{
	switch (role) {
	case CHECK_SOURCE: return cuda_operand_layout(p, p->kernel == KERNEL_CONCAT ? 0 : number, number);
	case CHECK_WEIGHTS: return cuda_operand_layout(p, 1, 0);
	case CHECK_EPILOGUE: return cuda_epilogue_layout(p, number);
	default: return parameter_layout();
	}
}

#define KEPT (CUDA_SOURCES > PROBLEM_EPILOGUES ? CUDA_SOURCES : PROBLEM_EPILOGUES)

/* Of the problem that compute() computes: they are asked for at every element. */
static struct {
	bool known;
	struct cuda_layout layout;
} kept[CHECK_VARIANCE + 1][KEPT];

static const struct cuda_layout *layout_kept(const struct problem *p, enum check_role role, int number)
{
	assert(number < KEPT);
	if (!kept[role][number].known) {
		kept[role][number].layout = layout_of(p, role, number);
		kept[role][number].known = true;
	}
	return &kept[role][number].layout;
}

static double value_of(void *state, enum check_role role, int number, int64_t index)
{
	const struct execution *x = state;
	const struct cuda_pointers *at = &x->at;
	const struct cuda_layout *l = layout_kept(x->problem, role, number);
	const char *base = NULL;
	switch (role) {
	case CHECK_SOURCE: base = at->source[number]; break;
	case CHECK_WEIGHTS: base = at->weights; break;
	case CHECK_EPILOGUE: base = at->epilogue[number]; break;
	case CHECK_SCALE: base = at->scale; break;
	case CHECK_SHIFT: base = at->shift; break;
	case CHECK_MEAN: base = at->mean; break;
	case CHECK_VARIANCE: base = at->variance; break;
	}
	if (dtype_bits(l->dtype) == 4) {
		int64_t element = 0;
		for (int i = l->shape.rank - 1; i >= 0; i--) {
			element += index % l->shape.dim[i] * l->stride[i];
			index /= l->shape.dim[i];
		}
		int v = (unsigned char)base[element / 2] >> (element % 2 ? 4 : 0) & 15;
		return l->dtype == DTYPE_S4 && v > 7 ? v - 16 : v;
	}
	return fill_decode(base + offset_of(l, index), l->dtype);
}

static void place_write(const struct execution *x, int64_t index, double value)
{
	const struct problem *p = x->problem;
	struct cuda_layout source = cuda_operand_layout(p, 0, 0);
	int64_t line = index / p->size * source.shape.dim[1];
	for (int64_t i = 0; i < source.shape.dim[1]; i++)
		if (value_of((void *)(uintptr_t)x, CHECK_SOURCE, 0, line + i) == value)
			((int64_t *)x->at.indices)[index] = i;
}

static void misbehave(const struct execution *x, const struct cuda_layout *l, int64_t count)
{
	char *to = x->at.destination;
	size_t size = (size_t)dtype_bits(l->dtype) / 8, last = offset_of(l, count - 1);
	switch (fake_backend.mischief) {
	case MISCHIEF_WRONG: fill_encode(3, l->dtype, to + last); break;
	case MISCHIEF_UNWRITTEN: memset(to + last, 0xff, size); break;
	case MISCHIEF_NAN: fill_encode(NAN, l->dtype, to); break;
	case MISCHIEF_BEHIND: to[last + size] = 1; break;
	case MISCHIEF_BEFORE: to[-1] = 1; break;
	case MISCHIEF_SPACE_BEHIND: ((char *)x->at.workspace)[(size_t)x->workspace_bytes] = 1; break;
	case MISCHIEF_SPACE_BEFORE: ((char *)x->at.workspace)[-1] = 1; break;
	case MISCHIEF_SOURCE:
		fill_encode(77, l->dtype, (char *)(uintptr_t)x->at.source[0]);
		to[last + size] = 1;
		break;
	case MISCHIEF_WEIGHTS: memset((char *)(uintptr_t)x->at.weights, 0, 4); break;
	case MISCHIEF_NONE: break;
	}
}

static void compute(void *arguments)
{
	struct execution *x = arguments;
	const struct problem *p = x->problem;
	int last = problem_operand_count(p) - 1;
	struct cuda_layout l = cuda_operand_layout(p, last, 0);
	struct check_inputs in = { .value = value_of, .state = x, .epsilon = fake_backend.epsilon };
	int64_t count = 1;
	memset(kept, 0, sizeof(kept));
	for (int i = 0; i < l.shape.rank; i++)
		count *= l.shape.dim[i];
	for (int64_t i = 0; i < count; i++) {
		double value = 0, scale;
		if (p->kernel == KERNEL_DROPOUT)
			value = i % 2 ? 0 : value_of(x, CHECK_SOURCE, 0, i) / (1 - p->alpha);
		else
			check_output(p, &in, i, &value, &scale);
		value *= fake_backend.by_factor > 0 ? fake_backend.by_factor : 1;
		fill_encode(value, l.dtype, (char *)x->at.destination + offset_of(&l, i));
		if (p->kernel == KERNEL_TOPK)
			place_write(x, i, value);
	}
	check_forget(&in);
	if (x->at.workspace)
		memset(x->at.workspace, 7, (size_t)x->workspace_bytes);
	misbehave(x, &l, count);
	if (fake_backend.traced < FAKE_TRACE)
		fake_backend.trace[fake_backend.traced++] = x->at;
}

static void nothing(void *arguments)
{
	(void)arguments;
}

/* --- the backend --- */

/* Allocates what the weights of these addresses need, if that was not done before. */
static int keep(const struct execution *x, const struct cuda_pointers *at, struct error *err)
{
	const void *key[CUDA_KEPT_KEYS] = { at->weights };
	return cuda_kept_find(x->kept, key) || cuda_kept_add(x->kept, key, 4, err) ? 0 : -1;
}

static int enqueue(void *state, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	struct execution x = *(struct execution *)state;
	x.at = *at;
	if (fake_backend.ready_ns > 0 && keep(&x, at, err))
		return -1;
	if (fake_backend.enqueue_returns && ++fake_backend.enqueues >= fake_backend.enqueue_refused_from) {
		error_set(err, "the library does not support this");
		return fake_backend.enqueue_returns;
	}
	if (fake_backend.enqueue_allocates) {
		void *p = NULL;
		cudaError_t c = cudaMalloc(&p, 1);
		if (c == cudaSuccess)
			cudaFree(p);
		if (cuda_error(c, "cudaMalloc", err))
			return -1;
	}
	if (fake_backend.enqueue_waits &&
		cuda_error(cudaStreamSynchronize(stream), "cudaStreamSynchronize", err))
		return -1;
	if (cuda_error(fake_launch(compute, &x, sizeof(x), fake_backend.kernel_ns, "_Z7computeILi3EEvPKfi",
			       stream),
		    "fake", err))
		return -1;
	if (fake_backend.enqueue_fails)
		return error_set(err, "the library fails");
	for (int i = 1; i < fake_backend.kernels; i++)
		if (cuda_error(fake_launch(nothing, NULL, 0, fake_backend.kernel_ns, "second_kernel", stream),
			    "fake", err))
			return -1;
	return 0;
}

static int ready(void *state, const struct cuda_pointers *at, struct error *err)
{
	fake.host_ns += fake_backend.ready_ns;
	return at->destination ? keep(state, at, err) : error_set(err, "no destination");
}

static void plan_free(void *state)
{
	struct execution *x = state;
	fake_backend.plans_alive--;
	cuda_kept_free(x->kept);
	free(x->kept);
	free(state);
}

static int plan(const struct backend_list *list, int index, struct cuda_plan *out, enum status *status,
	struct error *err)
{
	(void)index;
	*status = STATUS_UNSUPPORTED;
	if (fake_backend.plan_fails)
		return error_set(err, "the library says no");
	struct execution *x = base_calloc(1, sizeof(*x));
	x->problem = list->state;
	x->workspace_bytes = fake_backend.workspace_bytes;
	x->kept = base_calloc(1, sizeof(*x->kept));
	*out = (struct cuda_plan){ .state = x,
		.workspace_bytes = fake_backend.workspace_bytes,
		.enqueue = enqueue,
		.ready = fake_backend.ready_ns > 0 ? ready : NULL,
		.free = plan_free,
		.gain = fake_backend.gain,
		.factor = fake_backend.factor,
		.epsilon = fake_backend.epsilon };
	fake.host_ns += fake_backend.plan_ns;
	fake_backend.plans_alive++;
	return 0;
}

static const struct problem *problem_of(const struct backend_list *list)
{
	return list->state;
}

static const struct cuda_backend detail = { plan, problem_of };

static int probe(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	(void)attributes;
	(void)has_matrix;
	(void)err;
	str_addf(stack, "fake 1.2.3");
	return 0;
}

const struct backend backend_fake = { .api = "fake", .detail = &detail, .probe = probe, CUDA_WORK_SLOTS };

void fake_ask(const char *text, struct backend_list *list)
{
	static struct problem problem;
	static const struct algorithm algorithm = {
		.api = "fake", .name = "naive", .layouts = "", .math = "strict", .notes = ""
	};
	struct error err = ERROR_NONE;
	if (problem_parse(text_of(text), &problem, &err)) {
		fprintf(stderr, "%s: %s\n", text, err.text);
		abort();
	}
	*list = (struct backend_list){
		.backend = &backend_fake, .count = 1, .algorithm = &algorithm, .state = &problem
	};
}
