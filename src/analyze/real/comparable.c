/* Reasons why an execution and a bound differ in more than speed, each a row with a function, in order of
 * severity. */
#include "config.h"

#include "analyze/real/comparable.h"
#include "analyze/real/comparable_private.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MATCHED_LEAST 0.5 /* share of the rows' time that a profile of the model traces at least */

struct sides {
	const struct ground *ground;
	const struct plan *plan;     /* of the ground */
	const struct device *device; /* of the ground; one without any knowledge if it has none */
	const struct scenario *scenario;
	const struct execution *execution;
	const struct match *match; /* NULL: not compared */
};

/* ---- the device ---- */

/* The first word with a digit in a device's model: "A100" of "NVIDIA A100-SXM4-80GB"; "": none. */
static struct text model_word(const char *model)
{
	static const char ends[] = " -_()/,";
	for (const char *p = model; *p; p += strspn(p, ends)) {
		struct text word = { p, strcspn(p, ends) };
		for (size_t i = 0; i < word.n; i++)
			if (word.p[i] >= '0' && word.p[i] <= '9')
				return word;
		p += word.n;
	}
	return (struct text){ "", 0 };
}

bool comparable_device(const char *execution, const char *bound)
{
	struct text word = model_word(bound);
	return word.n ? text_contains(text_of(execution), word) :
		text_contains(text_of(execution), text_of(bound));
}

/* ---- the reasons ---- */

static const char *no_dimensions(struct arena *a, const struct sides *x)
{
	(void)a;
	return x->plan->unbound_count ? "the model's dimensions are not set" : NULL;
}

static const char *failed(struct arena *a, const struct sides *x)
{
	(void)a;
	return x->execution->status != STATUS_OK ? "it failed" : NULL;
}

bool comparable_is_foreign(const struct match *m)
{
	return m->matched_ns + m->added_ns < MATCHED_LEAST * m->total_ns;
}

/* Finds profiles of another model. Executions of agents have the model's hash; profiles with only kernels
 * have no names to match. */
static const char *model(struct arena *a, const struct sides *x)
{
	const struct execution *e = x->execution;
	const struct match *m = x->match;
	bool layers = false;
	(void)a;
	for (int i = 0; i < e->row_count && m; i++)
		layers |= e->rows[i].level == LEVEL_LAYER;
	return layers && !*e->model_hash && comparable_is_foreign(m) ?
		"this profile seems to be of another model" : NULL;
}

/* Finds kernels that can only be a part of the model, such as one of its equal blocks: they are too few. A
 * fused kernel may run two layers of class compute (attention). */
static const char *part(struct arena *a, const struct sides *x)
{
	int kernels = 0, compute = 0;
	for (int i = 0; i < x->execution->row_count; i++) {
		if (x->execution->rows[i].level == LEVEL_LAYER)
			return NULL;
		const struct execution_row *r = &x->execution->rows[i];
		kernels += r->level != LEVEL_KERNEL ? 0 : r->calls > 1 ? r->calls : 1;
	}
	for (int i = 0; i < x->plan->layer_count; i++)
		compute += x->plan->layers[i].class == CLASS_COMPUTE;
	kernels /= x->match ? x->match->runs : 1;
	return kernels && !strncmp(x->execution->source, "nsys", 4) && compute > 2 * kernels ?
		arena_printf(a, "the runs have %d kernel%s, too few for the model (mark its runs with NVTX)",
			kernels, kernels == 1 ? "" : "s") : NULL;
}

#define BATCH_MOST 65536 /* as of -b */

/* Returns true if the model has a plan for the batch, as far as -b decides. */
static bool runs_at(const struct plan *p, int64_t batch)
{
	struct error err = ERROR_NONE;
	const struct plan_options o = { .batch = batch, .binding_count = p->binding_count,
		.bindings = p->bindings, .trial = true, .operators = p->operators };
	struct plan *there = p->model && batch <= BATCH_MOST ? plan_build(p->model, &o, &err) : NULL;
	bool runs = there || !p->model;
	plan_free(there);
	return runs;
}

/* The same; making a plan takes as long as opening the model, so it is made once. */
static bool runs_there(const struct ground *g, int64_t batch)
{
	struct batches_tried *kept = g->tried;
	for (int i = 0; kept && i < kept->count; i++)
		if (kept->list[i].batch == batch)
			return kept->list[i].runs;
	bool runs = runs_at(g->plan, batch);
	if (kept && kept->count < BATCHES_TRIED)
		kept->list[kept->count++] = (struct batch_tried){ batch, runs };
	return runs;
}

static const char *shapes(struct arena *a, const struct sides *x)
{
	const struct execution *e = x->execution;
	int64_t own = comparable_batch(x->plan, e, x->match), batch = x->plan->batch;
	if (own && batch && own != batch && x->match && !runs_there(x->ground, own))
		return arena_printf(a, "batch %lld against batch %lld (the model cannot run at batch %lld)",
			(long long)own, (long long)batch, (long long)own);
	if (own && batch && own != batch)
		return arena_printf(a, "batch %lld against batch %lld (run benanza compare -b %lld ...)",
			(long long)own, (long long)batch, (long long)own);
	return comparable_shapes(x->plan, e) ? NULL : "it ran other shapes (set them with --dim or --input)";
}

static const char *requests(struct arena *a, const struct sides *x)
{
	return x->execution->requests > 1 ?
		arena_printf(a, "it ran %d requests at a time, the bound is of one", x->execution->requests) :
		NULL;
}

/* One side of a trial (compare --try): what it changed is not always a field of the execution. */
static const char *trial(struct arena *a, const struct sides *x)
{
	const char *move = execution_move(a, x->execution);
	return *move ? arena_printf(a, "it is a trial of %s (compare --try)", move) : NULL;
}

/* The kind of device that ran an execution. */
enum kind { KIND_UNKNOWN, KIND_CPU, KIND_GPU };

static enum kind kind_of_name(const char *name)
{
	static const struct {
		const char *name;
		enum kind kind;
	} names[] = {
		{ "CPUExecutionProvider", KIND_CPU }, { "DnnlExecutionProvider", KIND_CPU },
		{ "XnnpackExecutionProvider", KIND_CPU }, { "ACLExecutionProvider", KIND_CPU },
		{ "CUDAExecutionProvider", KIND_GPU }, { "TensorrtExecutionProvider", KIND_GPU },
		{ "NvTensorRTRTXExecutionProvider", KIND_GPU }, { "ROCMExecutionProvider", KIND_GPU },
		{ "MIGraphXExecutionProvider", KIND_GPU }, { "DmlExecutionProvider", KIND_GPU },
		{ "WebGpuExecutionProvider", KIND_GPU }, { "JsExecutionProvider", KIND_GPU },
		{ "tensorrt", KIND_GPU }, { "cpu", KIND_CPU }, { "gpu", KIND_GPU },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcasecmp(name, names[i].name))
			return names[i].kind;
	return KIND_UNKNOWN;
}

/* Returns what ran it: its provider, else its framework, else the kernels of its rows, with the kind. Files
 * of oneDNN list primitives as kernels. */
static const char *runner_of(const struct execution *e, enum kind *kind)
{
	const char *who = *e->provider && kind_of_name(e->provider) ? e->provider : e->framework;
	*kind = kind_of_name(who);
	for (int i = 0; i < e->row_count && !*kind && strcmp(e->source, "onednn") != 0; i++)
		if (e->rows[i].level == LEVEL_KERNEL && strcmp(e->source, "agent") != 0) {
			*kind = KIND_GPU;
			return "kernels of a GPU";
		}
	return !strcmp(who, "tensorrt") ? "TensorRT" : who;
}

/* A described device, or one with CUDA, is a GPU. */
static const char *kind(struct arena *a, const struct sides *x)
{
	const struct device *d = x->device;
	bool gpu = x->ground->estimate || (d->stack && strstr(d->stack, "CUDA"));
	enum kind own;
	const char *who = runner_of(x->execution, &own), *named = x->execution->device;
	bool same = *named && *d->model && comparable_device(named, d->model);
	if (same || !(gpu || *d->model) || !own || (own == KIND_GPU) == gpu)
		return NULL;
	return arena_printf(a, "%s against a %s (choose %s with -d)", *named ? named : who,
		gpu ? "GPU" : "CPU", gpu ? "the CPU" : "a GPU");
}

static const char *device(struct arena *a, const struct sides *x)
{
	const struct execution *e = x->execution;
	const struct device *d = x->device;
	return *e->device && *d->model && !comparable_device(e->device, d->model) ?
		arena_printf(a, "%s against %s (choose it with -d)", e->device, d->model) : NULL;
}

static const char *threads(struct arena *a, const struct sides *x)
{
	int own = x->execution->threads, bound = x->device->threads;
	if (own <= 0 || bound <= 0 || own == bound)
		return NULL;
	json_t *settings = *x->execution->settings ? json_loads(x->execution->settings, 0, NULL) : NULL;
	int64_t processors = json_int_at(settings, "processors", 0);
	json_decref(settings);
	const char *more = processors > 0 && own > processors && own > bound ?
		arena_printf(a, ", more than the %lld processor%s on which they ran", (long long)processors,
			processors == 1 ? "" : "s") : "";
	return arena_printf(a, "%d thread%s against %d%s", own, own == 1 ? "" : "s", bound, more);
}

/* ---- types ---- */

/* " (run benanza compare -t f16 ...)", if that makes the types equal. */
static const char *type_hint(struct arena *a, const struct sides *x, const struct types_apart *t)
{
	enum dtype own = t->own == DTYPE_TF32 ? DTYPE_F32 : t->own;
	bool converts = own == DTYPE_F32 || own == DTYPE_F16 || own == DTYPE_BF16 || own == DTYPE_F64;
	return converts && t->alone && dtype_is_float(t->bound) &&
			(own != x->plan->dtype || !x->plan->own_types || x->plan->mixed) ?
		arena_printf(a, " (run benanza compare -t %s ...)", dtype_name(own)) : "";
}

static const char *type(struct arena *a, const struct sides *x)
{
	struct types_apart t = types_apart(x->plan, x->execution, x->match);
	if (!t.apart)
		return NULL;
	return arena_printf(a, "%s against %s%s", t.own ? dtype_name(t.own) : x->execution->dtype,
		dtype_name(t.bound), type_hint(a, x, &t));
}

static bool has_matrix(const struct sides *x)
{
	const struct ground *g = x->ground;
	return x->device->has_matrix || (g->device && g->peaks && peaks_have_matrix(g->peaks));
}

static const char *math_mode(struct arena *a, const struct sides *x)
{
	const char *own = x->execution->math, *bound = dtype_name(x->plan->dtype);
	if (!*own || !strcmp(own, "strict") || !strcmp(own, bound) || x->scenario->relaxed)
		return NULL;
	return arena_printf(a, "%s against %s (run benanza compare -w math%s ...)", own, bound,
		has_matrix(x) && !x->scenario->matrix ? ",matrix" : "");
}

/* A latency alone, which the user gives: it is said to be of the bound's type, device and threads. */
static bool is_given(const struct sides *x)
{
	return !strcmp(x->execution->source, "option");
}

static const char *unknown_type(struct arena *a, const struct sides *x)
{
	(void)a;
	return !*x->execution->dtype && !is_given(x) ? "its type of computation is unknown" : NULL;
}

/* The execution may have used matrix units of the device. */
static const char *matrix(struct arena *a, const struct sides *x)
{
	(void)a;
	return has_matrix(x) && !x->scenario->matrix &&
			(x->plan->dtype != DTYPE_F32 || x->scenario->relaxed) ?
		"the bound leaves out the matrix units (-w matrix)" : NULL;
}

static const char *unknown_device(struct arena *a, const struct sides *x)
{
	(void)a;
	return *x->device->model && !*x->execution->device && !is_given(x) ? "its device is unknown" : NULL;
}

static const char *unknown_bound(struct arena *a, const struct sides *x)
{
	(void)a;
	return !*x->device->model ? "the device of the bound is unknown" : NULL;
}

static const char *unknown_threads(struct arena *a, const struct sides *x)
{
	(void)a;
	bool unknown = x->device->threads > 0 && x->execution->threads <= 0 && !is_given(x);
	return unknown ? "its number of threads is unknown" : NULL;
}

#define NO_RATIO (USE_RATIO | USE_CONTRADICTION)
#define NO_GAPS (USE_GAPS | NO_RATIO | USE_STORED)

/* The most severe first. Reasons that depend on the scenario do not prevent USE_STORED. */
static const struct {
	const char *(*find)(struct arena *a, const struct sides *x); /* NULL: both agree */
	unsigned prevents;
} rows[] = {
	{ no_dimensions, NO_GAPS },
	{ failed, NO_GAPS },
	{ model, NO_GAPS | USE_ROWS },
	{ part, NO_GAPS },
	{ shapes, NO_GAPS },
	{ kind, NO_GAPS },
	{ requests, NO_GAPS },
	{ trial, USE_STORED },
	{ device, NO_RATIO | USE_STORED },
	{ threads, NO_RATIO | USE_STORED },
	{ type, NO_RATIO | USE_STORED },
	{ math_mode, NO_RATIO },
	{ unknown_type, USE_CONTRADICTION | USE_STORED },
	{ matrix, USE_CONTRADICTION },
	{ unknown_device, USE_CONTRADICTION | USE_STORED },
	{ unknown_bound, USE_STORED },
	{ unknown_threads, USE_CONTRADICTION },
};

struct comparable comparable_find(struct arena *a, const struct ground *g, const struct scenario *s,
	const struct execution *e, const struct match *m, unsigned uses)
{
	static const struct device unknown = { .model = "" };
	struct device d = g->device ? *g->device : unknown;
	const struct sides x = { .ground = g, .plan = g->plan, .device = &d, .scenario = s, .execution = e,
		.match = m };
	d.model = d.model ? d.model : "";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *why = rows[i].prevents & uses ? rows[i].find(a, &x) : NULL;
		if (why)
			return (struct comparable){ why, rows[i].prevents };
	}
	return (struct comparable){ 0 };
}
