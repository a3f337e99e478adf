#include "config.h"

#include "cuda_standin.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/verify/check.h"
#include "runner/gpu/cuda_library.h"
#include "runner/verify/fill.h"

/* ---- context and loader ---- */

struct cuda_context standin_context = { .sm = 90,
	.name = "stand-in",
	.memory_bytes = 16e9,
	.l2_bytes = 50e6,
	.multiprocessors = 132,
	.clock_khz = 1e6,
	.stream = STANDIN_STREAM,
	.deviceprop = "{}",
	.caveat = "" };
double standin_workspace_bytes;
int standin_enqueued;

const struct cuda_context *cuda_context(void)
{
	return &standin_context;
}

int cuda_error(cudaError_t c, const char *call, struct error *err)
{
	return c == cudaSuccess ? 0 : error_set(err, "%s: error %d", call, c);
}

int cuda_refusal(cudaError_t c)
{
	return c == cudaErrorNotSupported ? STATUS_UNSUPPORTED : -1;
}

void *cuda_library_open(const char *const *names, const struct cuda_library_symbol *symbols, int count,
	const char *fix, struct error *err)
{
	for (int i = 0; i < count; i++) {
		*symbols[i].to = dlsym(RTLD_DEFAULT, symbols[i].name);
		if (!*symbols[i].to && !symbols[i].optional) {
			error_set(err, "%s has no %s; %s", names[0], symbols[i].name, fix);
			return NULL;
		}
	}
	return &standin_context;
}

/* These tests never call the functions that all CUDA backends share. */
void *cuda_work_prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	(void)list;
	(void)index;
	(void)limits;
	(void)status;
	(void)err;
	abort();
}

int cuda_work_run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	(void)work;
	(void)cache;
	(void)times;
	(void)elapsed_ns;
	(void)err;
	abort();
}

int cuda_work_amortized(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	return cuda_work_run(work, cache, times, elapsed_ns, err);
}

int cuda_work_check(void *work, double *worst, struct error *err)
{
	(void)work;
	(void)worst;
	(void)err;
	abort();
}

double cuda_work_rotated_bytes(const void *work, enum cache cache)
{
	(void)cache;
	(void)work;
	abort();
}

void cuda_work_release(void *work)
{
	(void)work;
	abort();
}

const char *cuda_work_kernels(void *work)
{
	(void)work;
	abort();
}

double cuda_work_enqueue_ns(const void *work)
{
	(void)work;
	abort();
}

double cuda_work_clock_mhz(const void *work)
{
	(void)work;
	abort();
}

int cuda_work_settle(void *work, struct error *err)
{
	(void)work;
	(void)err;
	abort();
}

const char *cuda_work_remark(void *work)
{
	(void)work;
	abort();
}

/* ---- operands ---- */

static int64_t volume(const struct problem_shape *s)
{
	int64_t n = 1;
	for (int i = 0; i < s->rank; i++)
		n *= s->dim[i];
	return n;
}

static int64_t place(const struct cuda_layout *l, int64_t index)
{
	int64_t at = 0;
	for (int i = l->shape.rank - 1; i >= 0; i--) {
		at += index % l->shape.dim[i] * l->stride[i];
		index /= l->shape.dim[i];
	}
	return at;
}

static size_t span(const struct cuda_layout *l)
{
	int64_t most = 1;
	for (int i = 0; i < l->shape.rank; i++)
		most += (l->shape.dim[i] - 1) * l->stride[i];
	return (size_t)most * (size_t)(dtype_bits(l->dtype) / 8);
}

static struct cuda_layout plain(int64_t count)
{
	return (struct cuda_layout){ .dtype = DTYPE_F32, .shape = { 1, { count } }, .stride = { 1 } };
}

struct set {
	const struct problem *problem;
	struct arena arena;
	struct cuda_pointers at;
	struct cuda_layout destination;
};

static bool has_weights(const struct problem *p)
{
	return p->kernel == KERNEL_CONV || p->kernel == KERNEL_DECONV || p->kernel == KERNEL_MATMUL ||
		p->kernel == KERNEL_RNN;
}

static double value(void *state, enum check_role role, int number, int64_t index)
{
	const struct set *s = state;
	const struct problem *p = s->problem;
	enum dtype t = role == CHECK_SOURCE ? p->operand[p->kernel == KERNEL_CONCAT ? 0 : number].dtype
		: role == CHECK_WEIGHTS	    ? p->operand[1].dtype
		: role == CHECK_EPILOGUE    ? p->epilogue[number].operand.dtype
					    : DTYPE_F32;
	bool positive = role == CHECK_VARIANCE || p->mode == MODE_SQRT || p->mode == MODE_DIV ||
		p->mode == MODE_REDUCE_MUL;
	return fill_value((uint64_t)role * 64 + (uint64_t)number + 1, index,
		positive ? FILL_POSITIVE : FILL_SIGNED, 0, t);
}

static void *operand(struct set *s, const struct cuda_layout *l, enum check_role role, int number)
{
	char *bytes = arena_alloc(&s->arena, span(l) + 256),
	     *at = (char *)(((uintptr_t)bytes + 255) & ~(uintptr_t)255);
	int64_t n = volume(&l->shape);
	for (int64_t i = 0; i < n; i++)
		fill_encode(
			value(s, role, number, i), l->dtype, at + place(l, i) * (dtype_bits(l->dtype) / 8));
	return at;
}

/* Returns the number of scales (and shifts) of a normalization. */
static int64_t normalized(const struct problem *p)
{
	int64_t n = 1;
	if (p->kernel == KERNEL_BATCHNORM || p->kernel == KERNEL_INSTANCENORM)
		return p->shape[0].dim[1];
	for (int i = p->axis;
		(p->kernel == KERNEL_LAYERNORM || p->kernel == KERNEL_RMSNORM) && i < p->shape[0].rank; i++)
		n *= p->shape[0].dim[i];
	return n;
}

static void set_fill(struct set *s)
{
	const struct problem *p = s->problem;
	int last = problem_operand_count(p) - 1;
	for (int i = 0; p->kernel == KERNEL_CONCAT && i < p->shape_count; i++) {
		struct cuda_layout l = cuda_operand_layout(p, 0, i);
		s->at.source[i] = operand(s, &l, CHECK_SOURCE, i);
	}
	for (int i = 0; p->kernel != KERNEL_CONCAT && i < last; i++) {
		struct cuda_layout l = cuda_operand_layout(p, i, 0);
		if (i == 1 && has_weights(p))
			s->at.weights = operand(s, &l, CHECK_WEIGHTS, 0);
		else
			s->at.source[i] = operand(s, &l, CHECK_SOURCE, i);
	}
	if (problem_mask(p)) {
		struct cuda_layout l = cuda_mask_layout(p);
		s->at.source[last] = operand(s, &l, CHECK_SOURCE, last);
	}
	for (int i = 0; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind != EPILOGUE_ELTWISE) {
			struct cuda_layout l = cuda_epilogue_layout(p, i);
			s->at.epilogue[i] = operand(s, &l, CHECK_EPILOGUE, i);
		}
	struct cuda_layout channels = plain(normalized(p));
	s->at.scale = operand(s, &channels, CHECK_SCALE, 0);
	s->at.shift = operand(s, &channels, CHECK_SHIFT, 0);
	s->at.mean = operand(s, &channels, CHECK_MEAN, 0);
	s->at.variance = operand(s, &channels, CHECK_VARIANCE, 0);
	s->destination = cuda_operand_layout(p, last, 0);
	s->at.destination = arena_alloc(&s->arena, span(&s->destination) + 256);
	s->at.destination = (void *)(((uintptr_t)s->at.destination + 255) & ~(uintptr_t)255);
	memset(s->at.destination, 0xff, span(&s->destination));
}

/* ---- runs ---- */

static int ask(const struct backend *b, const char *text, bool all, struct backend_list *list,
	struct error *err)
{
	struct problem p;
	*list = (struct backend_list){ .all = all };
	if (problem_parse(text_of(text), &p, err) || b->algorithms(&p, list, err))
		return -1;
	list->backend = b;
	return list->count;
}

int standin_ask(const struct backend *b, const char *text, struct backend_list *list, struct error *err)
{
	return ask(b, text, false, list, err);
}

int standin_ask_all(const struct backend *b, const char *text, struct backend_list *list, struct error *err)
{
	return ask(b, text, true, list, err);
}

static double compare(struct set *s, double epsilon, double factor)
{
	const struct problem *p = s->problem;
	struct check_inputs in = { .value = value, .state = s, .epsilon = epsilon };
	int64_t n = volume(&s->destination.shape);
	enum dtype t = s->destination.dtype;
	double worst = 0;
	for (int64_t i = 0; i < n; i++) {
		double want = NAN, scale = 1;
		double got = fill_decode(
			(char *)s->at.destination + place(&s->destination, i) * (dtype_bits(t) / 8), t);
		bool known = false, good = check_accepts(p, &in, i, got, 1e-6, &known);
		if (known) {
			worst = good ? worst : INFINITY;
			continue;
		}
		if (!check_output(p, &in, i, &want, &scale))
			return NAN;
		want *= factor;
		scale *= factor;
		char rounded[8];
		fill_encode(want, t, rounded);
		double off = fabs(got - want), off_rounded = fabs(got - fill_decode(rounded, t));
		off = (off < off_rounded ? off : off_rounded) / (scale > 0 ? scale : 1);
		worst = isnan(off) ? INFINITY : off > worst ? off : worst;
	}
	check_forget(&in);
	return worst;
}

double standin_worst(const struct backend_list *list, int index, struct error *err)
{
	const struct cuda_backend *own = list->backend->detail;
	struct set s = { .problem = own->problem(list) };
	struct cuda_plan plan = { 0 };
	enum status status = STATUS_OK;
	double worst = NAN;
	if (own->plan(list, index, &plan, &status, err))
		return NAN;
	if (plan.problem) /* the layouts that the algorithm chose */
		s.problem = plan.problem;
	set_fill(&s);
	standin_workspace_bytes = plan.workspace_bytes;
	if (plan.workspace_bytes > 0) {
		char *w = arena_alloc(&s.arena, (size_t)plan.workspace_bytes + 256);
		s.at.workspace = (void *)(((uintptr_t)w + 255) & ~(uintptr_t)255);
	}
	standin_enqueued = plan.enqueue(plan.state, &s.at, STANDIN_STREAM, err);
	if (standin_enqueued == 0)
		worst = compare(&s, plan.epsilon, plan.factor > 0 ? plan.factor : 1);
	plan.free(plan.state);
	arena_free(&s.arena);
	return worst;
}
