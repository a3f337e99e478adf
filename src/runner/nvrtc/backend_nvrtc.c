/* Pointwise chains as kernels of their own, generated from the problem and compiled by NVRTC. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/kernel.h"
#include "runner/gpu/cuda_compiler.h"
#include "runner/gpu/cuda_work.h"
#include "runner/nvrtc/nvrtc_source.h"

#define THREADS 256

struct offers {
	struct problem problem;
	struct algorithm algorithm;
	char name[48], layouts[96];
	struct nvrtc_source source;
	struct str code; /* empty: not compiled, or failed for the reason in `why` */
	struct error why;
};

/* The driver's launch, which accepts kernels of a library. */
typedef int launch_function(void *kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
	unsigned shared_bytes, void *stream, void **arguments, void **extra);

struct state {
	struct nvrtc_source source; /* without the text */
	cudaLibrary_t library;
	cudaKernel_t kernel;
	launch_function *launch;
};

static launch_function *driver_launch(struct error *err)
{
	enum cudaDriverEntryPointQueryResult found;
	void *function = NULL;
	launch_function *launch;
	if (cuda_error(cudaGetDriverEntryPointByVersion(
			       "cuLaunchKernel", &function, 12000, cudaEnableDefault, &found),
		    "cudaGetDriverEntryPointByVersion", err))
		return NULL;
	if (found != cudaDriverEntryPointSuccess || !function) {
		error_set(err, "the driver has no cuLaunchKernel");
		return NULL;
	}
	memcpy(&launch, &function, sizeof(launch));
	return launch;
}

static int probe(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	(void)has_matrix;
	(void)err;
	struct error missing = ERROR_NONE;
	const struct cuda_compiler *compiler = cuda_compiler(&missing);
	if (!compiler) /* no error: the other libraries work without it */
		json_object_set_new(attributes, "nvrtc_missing", json_string(missing.text));
	else
		str_addf(stack, "%sNVRTC %s", stack->n ? ", " : "", compiler->version);
	return 0;
}

static void forget(struct backend_list *list)
{
	struct offers *o = list->state;
	if (o) {
		str_free(&o->source.text);
		str_free(&o->code);
	}
	free(o);
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	const char *const *names = kernel_row(p->kernel)->names;
	struct offers *o = base_calloc(1, sizeof(*o));
	*list = (struct backend_list){ .state = o };
	if (nvrtc_source_make(&o->source, p, err) || !cuda_compiler(err)) {
		forget(list);
		*list = (struct backend_list){ 0 };
		return -1;
	}
	o->problem = *p;
	for (int i = 0, n = 0; i < problem_operand_count(p); i++)
		n += snprintf(o->layouts + n, sizeof(o->layouts) - (size_t)n, "%s%s=%s", i ? " " : "",
			names[i], cuda_layout_name(p, i));
	snprintf(o->name, sizeof(o->name), "generated:%d_at_once", o->source.words);
	o->algorithm = (struct algorithm){ .api = "NVRTC",
		.name = o->name,
		.layouts = o->layouts,
		.math = "strict",
		.matrix = MATRIX_NO,
		.notes = "" };
	list->count = 1;
	list->algorithm = &o->algorithm;
	return 0;
}

static void compile(const struct backend_list *list, int index)
{
	struct offers *o = list->state;
	struct str text = { 0 };
	(void)index;
	if (o->code.n || *o->why.text)
		return;
	str_puts(&text, nvrtc_prelude);
	str_add(&text, o->source.text.p, o->source.text.n);
	cuda_compile(text.p, cuda_context()->sm, &o->code, &o->why);
	str_free(&text);
}

static int enqueue(void *state, const struct cuda_pointers *at, cudaStream_t stream, struct error *err)
{
	const struct state *s = state;
	const struct nvrtc_source *source = &s->source;
	const void *address[NVRTC_INPUTS + 1] = { NULL };
	void *arguments[NVRTC_INPUTS + 1];
	int64_t blocks = (source->packs + THREADS - 1) / THREADS;
	for (int i = 0; i < source->input_count; i++)
		address[i] = source->input[i].is_epilogue ? at->epilogue[source->input[i].number]
							  : at->source[source->input[i].number];
	address[NVRTC_INPUTS] = at->destination;
	for (int i = 0; i <= NVRTC_INPUTS; i++)
		arguments[i] = &address[i];
	int bad = s->launch((void *)s->kernel, (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX), 1, 1,
		THREADS, 1, 1, 0, stream, arguments, NULL);
	return bad ? error_set(err, "cuLaunchKernel: driver error %d", bad) : 0;
}

static void state_free(void *state)
{
	struct state *s = state;
	if (s->library)
		cudaLibraryUnload(s->library);
	free(s);
}

static int plan(const struct backend_list *list, int index, struct cuda_plan *out, enum status *status,
	struct error *err)
{
	struct offers *o = list->state;
	compile(list, index);
	*status = STATUS_FAILED;
	if (!o->code.n)
		return error_set(err, "%s", o->why.text);
	struct state *s = base_calloc(1, sizeof(*s));
	s->source = o->source;
	if (cuda_error(cudaLibraryLoadData(&s->library, o->code.p, NULL, NULL, 0, NULL, NULL, 0),
		    "cudaLibraryLoadData", err) ||
		cuda_error(cudaLibraryGetKernel(&s->kernel, s->library, NVRTC_NAME), "cudaLibraryGetKernel",
			err) ||
		!(s->launch = driver_launch(err))) {
		state_free(s);
		return -1;
	}
	*out = (struct cuda_plan){ .state = s, .enqueue = enqueue, .free = state_free };
	return 0;
}

static const struct problem *problem_of(const struct backend_list *list)
{
	return &((const struct offers *)list->state)->problem;
}

static const struct cuda_backend detail = { .plan = plan, .problem = problem_of };

const struct backend backend_nvrtc = { .api = "NVRTC",
	.detail = &detail,
	.probe = probe,
	.algorithms = algorithms,
	.compile = compile,
	.forget = forget,
	CUDA_WORK_SLOTS };
