#include "config.h"

#include "runner/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/check.h"
#include "runner/clock.h"
#include "runner/onednn_case.h"

#define IMPLEMENTATIONS 16 /* most of one case that are taken */
#define ALGORITHMS 48
#define SETS 16384         /* most copies of the constant operands */
#define CHECKED 500        /* outputs compared by a check */
#define LINE 64            /* bytes; every operand begins on one */
#define LLC_GUESS 33554432.0

static dnnl_engine_t engine;
static dnnl_stream_t stream;

/* --- the library --- */

static const struct {
	dnnl_cpu_isa_t isa;
	const char *name;
} isas[] = { /* the richest first */
	{ dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx" },
	{ dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16" },
	{ dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni" },
	{ dnnl_cpu_isa_avx512_core, "avx512_core" },
	{ dnnl_cpu_isa_avx2_vnni, "avx2_vnni" },
	{ dnnl_cpu_isa_avx2, "avx2" },
	{ dnnl_cpu_isa_avx, "avx" },
	{ dnnl_cpu_isa_sse41, "sse41" },
};

/* Does the instruction set in use include that one? Caps such as DNNL_MAX_CPU_ISA are respected. */
static bool has_isa(dnnl_cpu_isa_t isa)
{
	return ((unsigned)dnnl_get_effective_cpu_isa() & (unsigned)isa) == (unsigned)isa;
}

static const char *isa_name(void)
{
	for (size_t i = 0; i < sizeof(isas) / sizeof(isas[0]); i++)
		if (has_isa(isas[i].isa))
			return isas[i].name;
	return "generic";
}

static const char *runtime_name(void)
{
	switch (dnnl_version()->cpu_runtime) {
	case DNNL_RUNTIME_SEQ: return "sequential";
	case DNNL_RUNTIME_OMP: return "OpenMP";
	case DNNL_RUNTIME_TBB: return "TBB";
	default: return "other runtime";
	}
}

static int library_open(struct error *err)
{
	if (stream)
		return 0;
	if ((!engine && dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) ||
		dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success)
		return error_set(err, "oneDNN has no CPU engine");
	return 0;
}

static int probe(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	const dnnl_version_t *v = dnnl_version();
	if (library_open(err))
		return -1;
	str_addf(stack, "oneDNN %d.%d.%d (%s, %s)", v->major, v->minor, v->patch, runtime_name(), isa_name());
	json_object_set_new(attributes, "onednn_hash", json_string(v->hash ? v->hash : ""));
	json_object_set_new(attributes, "isa", json_string(isa_name()));
	*has_matrix = has_isa(dnnl_cpu_isa_avx512_core_amx);
	return 0;
}

/* --- what it offers --- */

struct candidate {
	const struct onednn_case *from;
	dnnl_primitive_desc_t pd;
	bool reference;
};

struct offers {
	struct arena arena;
	struct problem problem;
	struct onednn_case *cases[CHOICE_COUNT];
	int case_count;
	struct candidate candidate[ALGORITHMS];
	struct algorithm algorithm[ALGORITHMS];
	int count;
	float *plain[ONEDNN_ARGS]; /* inputs before any packing, made when first wanted; the same for every case */
};

static const char *implementation_name(const_dnnl_primitive_desc_t pd)
{
	const char *name = NULL;
	dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
	return name ? name : "unnamed";
}

/* AMX says so in the name; the JIT of the old gemm uses it for small types without saying so. */
static enum matrix matrix_of(const struct problem *p, const char *name)
{
	if (!has_isa(dnnl_cpu_isa_avx512_core_amx))
		return MATRIX_NO;
	if (strstr(name, "amx"))
		return MATRIX_YES;
	return strstr(name, "gemm") && p->operand[0].dtype != DTYPE_F32 ? MATRIX_UNKNOWN : MATRIX_NO;
}

static const char *layouts_of(struct arena *a, const struct onednn_case *c, const_dnnl_primitive_desc_t pd)
{
	struct str text = { 0 };
	char name[ONEDNN_LAYOUT_SIZE];
	for (int i = 0; i < c->arg_count; i++) {
		const struct onednn_arg *arg = &c->arg[i];
		if (!arg->any || !*arg->role)
			continue;
		onednn_layout_name(name, onednn_argument(pd, arg->arg), arg->letters);
		str_addf(&text, "%s%s=%s", text.n ? " " : "", arg->role, name);
	}
	const char *kept = arena_strndup(a, text.p ? text.p : "", text.n);
	str_free(&text);
	return kept;
}

static bool is_known(const struct offers *o, const char *name, const char *layouts)
{
	for (int i = 0; i < o->count; i++)
		if (strcmp(o->algorithm[i].name, name) == 0 && strcmp(o->algorithm[i].layouts, layouts) == 0)
			return true;
	return false;
}

/* Plain loops that the library keeps for what it has no fast code for: "ref:any", "lrn_ref:any", "gemm:ref". */
static bool is_reference(const char *name)
{
	return strncmp(name, "ref", 3) == 0 || strstr(name, "_ref:") || strstr(name, ":ref");
}

static void candidate_add(struct offers *o, const struct onednn_case *c, dnnl_primitive_desc_t pd)
{
	const char *name = implementation_name(pd), *layouts = layouts_of(&o->arena, c, pd);
	if (o->count == ALGORITHMS || is_known(o, name, layouts)) {
		dnnl_primitive_desc_destroy(pd);
		return;
	}
	o->candidate[o->count] = (struct candidate){ c, pd, is_reference(name) };
	o->algorithm[o->count++] = (struct algorithm){ .api = "oneDNN",
		.name = arena_strndup(&o->arena, name, strlen(name)), .layouts = layouts, .math = "strict",
		.matrix = matrix_of(&c->problem, name),
		.workspace_bytes = (double)onednn_md_bytes(onednn_argument(pd, DNNL_ARG_SCRATCHPAD)) };
}

/* Every implementation for one choice of layouts. A convolution is asked for twice: Winograd ones that the library would
 * not choose by itself only show when named. */
static int offers_add(struct offers *o, enum onednn_choice choice, dnnl_status_t *status, struct error *err)
{
	dnnl_primitive_desc_t pd[IMPLEMENTATIONS];
	struct onednn_case *c = arena_alloc(&o->arena, sizeof(*c));
	if (onednn_case_build(c, &o->problem, choice, err))
		return -1;
	o->cases[o->case_count++] = c;
	int n = onednn_implementations(engine, &c->op, c->attr, pd, IMPLEMENTATIONS, status);
	for (int i = 0; i < n; i++)
		candidate_add(o, c, pd[i]);
	if (c->op.kind != KERNEL_CONV)
		return 0;
	dnnl_status_t ignored;
	c->op.algorithm = dnnl_convolution_winograd;
	n = onednn_implementations(engine, &c->op, c->attr, pd, IMPLEMENTATIONS, &ignored);
	for (int i = 0; i < n; i++)
		candidate_add(o, c, pd[i]);
	return 0;
}

/* Reference implementations stay only where nothing else is offered. */
static void offers_filter(struct offers *o)
{
	int kept = 0;
	bool other = false;
	for (int i = 0; i < o->count; i++)
		other = other || !o->candidate[i].reference;
	for (int i = 0; i < o->count; i++) {
		if (other && o->candidate[i].reference) {
			dnnl_primitive_desc_destroy(o->candidate[i].pd);
			continue;
		}
		o->candidate[kept] = o->candidate[i];
		o->algorithm[kept] = o->algorithm[i];
		o->algorithm[kept].rank = kept;
		kept++;
	}
	o->count = kept;
}

/* The layout in which this library's own convolutions leave their results, for a type and as many spatial dimensions: what
 * arrives at the layers between them. Asked of a middling convolution. */
static enum onednn_choice home_layout(enum dtype t, int spatial)
{
	struct problem p = { .kernel = KERNEL_CONV, .spatial = spatial, .n = 1, .c = 64, .k = 64, .g = 1,
		.accumulator = DTYPE_F32 };
	for (int i = 0; i < 3; i++) {
		p.operand[i].dtype = t;
		p.in[i] = 14;
		p.kernel_size[i] = 3;
		p.pad_begin[i] = p.pad_end[i] = p.stride[i] = p.dilation[i] = 1;
	}
	struct onednn_case c;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	enum onednn_choice home = CHOICE_NCX;
	if (onednn_case_build(&c, &p, CHOICE_LIBRARY, NULL))
		return home;
	if (onednn_implementations(engine, &c.op, c.attr, &pd, 1, &status)) {
		char name[ONEDNN_LAYOUT_SIZE];
		onednn_layout_name(name, onednn_argument(pd, DNNL_ARG_DST), "ncdhwx");
		home = strstr(name, "16c") ? CHOICE_BLOCK16 : strstr(name, "8c") ? CHOICE_BLOCK8 :
			name[strlen(name) - 1] == 'c' ? CHOICE_NXC : CHOICE_NCX;
		dnnl_primitive_desc_destroy(pd);
	}
	onednn_case_free(&c);
	return home;
}

/* Layouts to try, the library's own first, then the ISA's blocked one, channels last, and plain. */
static int choices_for(const struct problem *p, enum onednn_choice choices[CHOICE_COUNT])
{
	struct problem_shape s = problem_operand_shape(p, 0);
	bool library = p->kernel == KERNEL_CONV || p->kernel == KERNEL_MATMUL;
	int n = 0;
	if (library || !onednn_case_tries_layouts(p) || !onednn_case_is_open(p)) {
		choices[0] = library ? CHOICE_LIBRARY : CHOICE_NCX;
		return 1;
	}
	enum onednn_choice home = s.rank >= 3 && s.rank <= 5 ? home_layout(p->operand[0].dtype, s.rank - 2) : CHOICE_NCX;
	enum onednn_choice blocked = has_isa(dnnl_cpu_isa_avx512_core) ? CHOICE_BLOCK16 : CHOICE_BLOCK8;
	const enum onednn_choice wanted[] = { home, blocked, CHOICE_NXC, CHOICE_NCX };
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		bool seen = false;
		for (int j = 0; j < n; j++)
			seen = seen || choices[j] == wanted[i];
		if (!seen && onednn_choice_fits(wanted[i], s.rank, s.dim))
			choices[n++] = wanted[i];
	}
	return n;
}

static void forget(struct backend_list *list)
{
	struct offers *o = list->state;
	if (!o)
		return;
	for (int i = 0; i < o->count; i++)
		dnnl_primitive_desc_destroy(o->candidate[i].pd);
	for (int i = 0; i < o->case_count; i++)
		onednn_case_free(o->cases[i]);
	for (int i = 0; i < ONEDNN_ARGS; i++)
		free(o->plain[i]);
	arena_free(&o->arena);
	free(o);
	*list = (struct backend_list){ 0 };
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	enum onednn_choice choices[CHOICE_COUNT];
	dnnl_status_t status = dnnl_unimplemented;
	struct offers *o = base_calloc(1, sizeof(*o));
	struct error why = ERROR_NONE;
	*list = (struct backend_list){ .state = o };
	o->problem = *p;
	int n = library_open(&why) ? 0 : choices_for(p, choices);
	for (int i = 0; i < n; i++)
		offers_add(o, choices[i], &status, &why);
	offers_filter(o);
	if (o->count == 0) {
		const dnnl_version_t *v = dnnl_version();
		if (!*why.text)
			error_set(&why, "oneDNN %d.%d.%d on %s has no %s for these types, layouts and sizes (%s)", v->major,
				v->minor, v->patch, isa_name(), kernel_name(p->kernel), dnnl_status2str(status));
		forget(list);
		return error_set(err, "%s", why.text);
	}
	list->count = o->count;
	list->algorithm = o->algorithm;
	return 0;
}

/* --- one of them, ready to run --- */

struct work {
	struct offers *offers;
	const struct candidate *candidate;
	dnnl_primitive_t primitive;
	int arg_count;                    /* the case's, and the scratchpad */
	void *bytes[ONEDNN_ARGS + 1];
	dnnl_memory_t memory[ONEDNN_ARGS + 1];
	char *rotation;                   /* copies of the constant operands beyond the first */
	double rotation_bytes;
	int64_t set_count, next;
	dnnl_memory_t *set_memory;        /* of the copies, (set_count - 1) * arg_count, NULL for what does not rotate */
	dnnl_exec_arg_t *args;            /* set_count * arg_count */
};

static void release(void *work)
{
	struct work *w = work;
	for (int64_t i = 0; w->set_memory && i < (w->set_count - 1) * w->arg_count; i++)
		if (w->set_memory[i])
			dnnl_memory_destroy(w->set_memory[i]);
	for (int i = 0; i < w->arg_count; i++) {
		if (w->memory[i])
			dnnl_memory_destroy(w->memory[i]);
		free(w->bytes[i]);
	}
	if (w->primitive)
		dnnl_primitive_destroy(w->primitive);
	free(w->rotation);
	free(w->set_memory);
	free(w->args);
	free(w);
}

static size_t lines(size_t bytes)
{
	return (bytes + LINE - 1) / LINE * LINE;
}

static int64_t elements(const struct onednn_arg *a)
{
	int64_t n = 1;
	for (int i = 0; i < a->rank; i++)
		n *= a->dims[i];
	return n;
}

static bool is_whole(enum dtype t)
{
	return !dtype_is_float(t);
}

/* Random values from a fixed seed; whole numbers where the operand's type has only those. */
static float *values_make(const struct onednn_arg *a, int seed, bool whole)
{
	int64_t n = elements(a);
	float *v = malloc((size_t)n * sizeof(float));
	uint64_t x = 0x9e3779b97f4a7c15u * (uint64_t)(seed + 1);
	for (int64_t i = 0; v && i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		float unit = (float)(x >> 40) / 16777216.0f; /* [0, 1) */
		v[i] = a->fill == FILL_ONE ? 1 : a->fill == FILL_POSITIVE ? 0.5f + unit : 2 * unit - 1;
		if (whole && a->fill != FILL_ONE)
			v[i] = (float)(int)(unit * 8) + (a->fill == FILL_POSITIVE ? 1.0f : 0.0f);
	}
	return v;
}

static const struct operand *operand_of(const struct onednn_case *c, const struct onednn_arg *a)
{
	const struct problem *p = &c->problem;
	if (a->epilogue)
		return &p->epilogue[a->epilogue - 1].operand;
	return a->arg == DNNL_ARG_WEIGHTS || a->arg == DNNL_ARG_SRC_1 ? &p->operand[1] : &p->operand[0];
}

static onednn_md plain_md(const struct onednn_arg *a)
{
	int64_t strides[ONEDNN_RANK];
	onednn_strides_ncx(a->rank, a->dims, strides);
	return onednn_md_strides(a->rank, a->dims, dnnl_f32, strides);
}

/* Values of an input, in the layout and type that the implementation takes. */
static int input_fill(struct work *w, int i, onednn_md md, struct error *err)
{
	const struct onednn_case *c = w->candidate->from;
	const struct onednn_arg *a = &c->arg[i];
	float **plain = &w->offers->plain[i];
	if (!*plain)
		*plain = values_make(a, i, !a->epilogue && a->fill != FILL_ONE && is_whole(operand_of(c, a)->dtype));
	onednn_md from = plain_md(a);
	dnnl_status_t status = *plain && from ? onednn_reorder(engine, stream, from, *plain, md, w->bytes[i]) :
		dnnl_out_of_memory;
	onednn_md_free(from);
	return status == dnnl_success ? 0 :
		error_set(err, "oneDNN cannot lay out the input %s (%s)", a->role, dnnl_status2str(status));
}

static onednn_md argument_md(const struct work *w, int i)
{
	const struct onednn_case *c = w->candidate->from;
	return onednn_argument(w->candidate->pd, i < c->arg_count ? c->arg[i].arg : DNNL_ARG_SCRATCHPAD);
}

static int argument_prepare(struct work *w, int i, struct error *err)
{
	const struct onednn_case *c = w->candidate->from;
	onednn_md md = argument_md(w, i);
	size_t size = lines(onednn_md_bytes(md));
	w->bytes[i] = aligned_alloc(LINE, size ? size : LINE);
	if (!w->bytes[i])
		return error_set(err, "no memory for %zu bytes", size);
	memset(w->bytes[i], 0xff, size); /* an output that nobody writes stays NaN */
	w->memory[i] = onednn_memory(md, engine, w->bytes[i]);
	if (!w->memory[i])
		return error_set(err, "oneDNN cannot make a memory object");
	bool input = i < c->arg_count && !c->arg[i].output;
	return input ? input_fill(w, i, md, err) : 0;
}

/* Copies of the constant operands, enough to pass twice the last-level cache before the first comes back. */
static void rotation_plan(struct work *w, const struct backend_limits *limits, size_t set_bytes)
{
	double llc = isnan(limits->llc_bytes) ? LLC_GUESS : limits->llc_bytes;
	double sets = set_bytes ? ceil(2 * llc / (double)set_bytes) + 1 : 1;
	double most = set_bytes ? floor(limits->rotation_bytes / (double)set_bytes) + 1 : 1;
	w->set_count = (int64_t)fmin(fmin(sets, most), SETS);
	w->rotation_bytes = (double)(w->set_count - 1) * (double)set_bytes;
}

static int rotation_make(struct work *w, const struct backend_limits *limits, struct error *err)
{
	const struct onednn_case *c = w->candidate->from;
	size_t set_bytes = 0;
	for (int i = 0; i < c->arg_count; i++)
		set_bytes += c->arg[i].constant ? lines(onednn_md_bytes(argument_md(w, i))) : 0;
	rotation_plan(w, limits, set_bytes);
	w->args = base_calloc((size_t)(w->set_count * w->arg_count), sizeof(*w->args));
	w->set_memory = base_calloc((size_t)((w->set_count - 1) * w->arg_count), sizeof(*w->set_memory));
	if (w->set_count > 1)
		w->rotation = aligned_alloc(LINE, (size_t)(w->set_count - 1) * set_bytes);
	if (w->set_count > 1 && !w->rotation)
		return error_set(err, "no memory for copies of the constant operands");
	char *at = w->rotation;
	for (int64_t set = 0; set < w->set_count; set++)
		for (int i = 0; i < w->arg_count; i++) {
			dnnl_exec_arg_t *arg = &w->args[set * w->arg_count + i];
			bool copy = set > 0 && i < c->arg_count && c->arg[i].constant;
			*arg = (dnnl_exec_arg_t){ i < c->arg_count ? c->arg[i].arg : DNNL_ARG_SCRATCHPAD, w->memory[i] };
			if (!copy)
				continue;
			size_t size = onednn_md_bytes(argument_md(w, i));
			memcpy(at, w->bytes[i], size);
			arg->memory = w->set_memory[(set - 1) * w->arg_count + i] =
				onednn_memory(argument_md(w, i), engine, at);
			if (!arg->memory)
				return error_set(err, "oneDNN cannot make a memory object");
			at += lines(size);
		}
	return 0;
}

static double bytes_needed(const struct work *w)
{
	const struct onednn_case *c = w->candidate->from;
	double sum = 0;
	for (int i = 0; i < w->arg_count; i++) {
		sum += (double)onednn_md_bytes(argument_md(w, i));
		if (i < c->arg_count && !c->arg[i].output && !w->offers->plain[i])
			sum += (double)elements(&c->arg[i]) * sizeof(float);
	}
	return sum;
}

static void *prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	struct offers *o = list->state;
	struct work *w = base_calloc(1, sizeof(*w));
	w->offers = o;
	w->candidate = &o->candidate[index];
	w->arg_count = w->candidate->from->arg_count + (o->algorithm[index].workspace_bytes > 0);
	*status = STATUS_NO_MEMORY;
	double need = bytes_needed(w);
	int bad = need > limits->memory_bytes ?
		error_set(err, "needs %.0f MB of memory, %.0f are left", need / 1e6, limits->memory_bytes / 1e6) : 0;
	if (!bad && dnnl_primitive_create(&w->primitive, w->candidate->pd) != dnnl_success) {
		*status = STATUS_FAILED;
		bad = error_set(err, "oneDNN cannot create the primitive");
	}
	for (int i = 0; i < w->arg_count && !bad; i++)
		bad = argument_prepare(w, i, err);
	if (!bad)
		bad = rotation_make(w, limits, err);
	if (!bad)
		return w;
	release(w);
	return NULL;
}

static int run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	struct work *w = work;
	dnnl_status_t status = dnnl_success;
	int64_t set = cache == CACHE_NET ? w->next : 0;
	double begin = clock_ns();
	for (int64_t i = 0; i < times && status == dnnl_success; i++) {
		status = dnnl_primitive_execute(w->primitive, stream, w->arg_count, w->args + set * w->arg_count);
		if (cache == CACHE_NET && ++set == w->set_count)
			set = 0;
	}
	dnnl_stream_wait(stream);
	*elapsed_ns = clock_elapsed(begin);
	if (cache == CACHE_NET)
		w->next = set;
	return status == dnnl_success ? 0 : error_set(err, "oneDNN: execution failed (%s)", dnnl_status2str(status));
}

static double rotation_bytes(const void *work)
{
	return ((const struct work *)work)->rotation_bytes;
}

/* --- checking --- */

/* An argument's values as they are in memory now, as plain floats; NULL when they cannot be read. */
static float *values_read(const struct work *w, int i)
{
	const struct onednn_arg *a = &w->candidate->from->arg[i];
	size_t n = (size_t)elements(a);
	float *v = base_malloc(n * sizeof(float));
	if (a->permuted) {
		memcpy(v, w->bytes[i], n * sizeof(float));
		return v;
	}
	onednn_md to = plain_md(a);
	dnnl_status_t status = onednn_reorder(engine, stream, argument_md(w, i), w->bytes[i], to, v);
	onednn_md_free(to);
	if (status == dnnl_success)
		return v;
	free(v);
	return NULL;
}

static const float **input_place(struct check_inputs *in, const struct onednn_case *c, const struct onednn_arg *a)
{
	if (a->epilogue)
		return &in->epilogue[a->epilogue - 1];
	switch (a->arg) {
	case DNNL_ARG_SRC: return &in->source[c->swapped];
	case DNNL_ARG_SRC_1: return &in->source[!c->swapped];
	case DNNL_ARG_WEIGHTS: return &in->weights;
	case DNNL_ARG_MEAN: return &in->mean;
	case DNNL_ARG_VARIANCE: return &in->variance;
	case DNNL_ARG_SCALE: return &in->scale;
	case DNNL_ARG_SHIFT: return &in->shift;
	default: return &in->source[a->arg - DNNL_ARG_MULTIPLE_SRC];
	}
}

static int compare(const struct problem *p, const struct check_inputs *in, const float *out, int64_t n, double *worst,
	struct error *err)
{
	int64_t step = n / CHECKED + 1;
	for (int64_t i = 0; i < n; i += step) {
		double value, scale;
		if (!check_output(p, in, i, &value, &scale))
			return error_set(err, "no reference for %s", kernel_name(p->kernel));
		double off = fabs(value - out[i]) / fmax(scale, 1e-6);
		if (!(off <= *worst)) /* NaN too */
			*worst = isnan(off) ? INFINITY : off;
	}
	return 0;
}

static int check(void *work, double *worst, struct error *err)
{
	struct work *w = work;
	const struct onednn_case *c = w->candidate->from;
	const struct problem *p = &w->offers->problem;
	struct check_inputs in = { .epsilon = c->op.epsilon };
	float *held[ONEDNN_ARGS] = { NULL };
	int out = -1, bad = 0;
	*worst = 0;
	if (p->kernel == KERNEL_TRANSPOSE && p->operand[1].dtype != DTYPE_F32)
		return error_set(err, "no reference for a transpose of this type");
	if (p->kernel == KERNEL_ELTWISE && c->op.kind != KERNEL_ELTWISE && p->epilogue_count)
		return error_set(err, "no reference for a composed operation with epilogues");
	for (int i = 0; i < c->arg_count && !bad; i++) {
		held[i] = values_read(w, i);
		if (!held[i])
			bad = error_set(err, "cannot read back argument %d", i);
		else if (c->arg[i].output)
			out = i;
		else if (p->kernel != KERNEL_ELTWISE || c->arg[i].arg == DNNL_ARG_SRC || c->arg[i].epilogue)
			*input_place(&in, c, &c->arg[i]) = held[i];
	}
	if (!bad)
		bad = out < 0 ? error_set(err, "no output") : compare(p, &in, held[out], elements(&c->arg[out]), worst, err);
	for (int i = 0; i < c->arg_count; i++)
		free(held[i]);
	return bad;
}

const struct backend backend_onednn = { "oneDNN", probe, algorithms, forget, prepare, run, check, rotation_bytes, release };
