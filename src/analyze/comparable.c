#include "config.h"

#include "analyze/comparable.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MATCHED_LEAST 0.5 /* share of the rows' time that a profile of the model traces at least */

struct sides {
	const struct ground *ground;
	const struct plan *plan;     /* of the ground */
	const struct device *device; /* of the ground; one without any knowledge if it has none */
	const struct scenario *scenario;
	const struct execution *execution;
	const struct match *match; /* NULL: not compared */
};

/* ---- shapes ---- */

/* The input of that name, or -1. */
static int input_of(const struct plan *p, struct text name)
{
	for (int i = 0; i < p->value_count; i++)
		if (p->values[i].is_input && text_equal(p->values[i].name, name))
			return i;
	return -1;
}

/* Returns true if the text is the shape: "1x3x224x224", or "" for a scalar. */
static bool is_shape(struct text t, struct shape s)
{
	for (int i = 0; i < s.rank; i++) {
		const char *x = memchr(t.p, 'x', t.n);
		size_t n = x ? (size_t)(x - t.p) : t.n;
		int64_t value;
		bool last = i + 1 == s.rank;
		if (s.dims[i].kind != DIM_KNOWN || last == (x != NULL) ||
			!text_to_int64((struct text){ t.p, n }, &value) || value != s.dims[i].value)
			return false;
		t = (struct text){ t.p + n + (x != NULL), t.n - n - (x != NULL) };
	}
	return s.rank >= 0 && t.n == 0;
}

static size_t last_colon(struct text t)
{
	size_t n = t.n;
	while (n > 0 && t.p[n - 1] != ':')
		n--;
	return n; /* length up to and including it; 0 without one */
}

/* Returns true if every line "data:f32:1x3x224x224" is an input of the plan with this shape. Names may
 * contain colons. */
static bool same_inputs(const struct plan *p, const char *inputs)
{
	for (const char *line = inputs; *line;) {
		struct text t = { line, strcspn(line, "\n") };
		size_t shape = last_colon(t), type = shape ? last_colon((struct text){ line, shape - 1 }) : 0;
		int at = type ? input_of(p, (struct text){ line, type - 1 }) : -1;
		if (at < 0 || !is_shape((struct text){ line + shape, t.n - shape }, p->values[at].shape))
			return false;
		line += t.n + (line[t.n] == '\n');
	}
	return true;
}

/* Returns the batch of the plan, else the first dimension of the first input; 0 if unknown. */
static int64_t batch_of(const struct plan *p)
{
	for (int i = 0; i < p->value_count && p->batch <= 0; i++) {
		const struct shape *s = &p->values[i].shape;
		if (p->values[i].is_input && s->rank > 1)
			return s->dims[0].kind == DIM_KNOWN ? s->dims[0].value : 0;
	}
	return p->batch;
}

bool comparable_shapes(const struct plan *p, const struct execution *e)
{
	int64_t batch = batch_of(p);
	return *e->inputs ? same_inputs(p, e->inputs) : !e->batch || !batch || e->batch == batch;
}

/* Returns the batch of a profile of ONNX Runtime, which has it only in the inputs of nodes: that of all
 * convolutions, [{"float":[8,3,224,224]}, ...]; 0 if unknown. */
static int64_t batch_of_rows(const struct execution *e)
{
	int64_t batch = 0;
	for (int i = 0; i < e->row_count && !strcmp(e->source, "onnxruntime"); i++) {
		const struct execution_row *r = &e->rows[i];
		const char *p = strcmp(r->op, "Conv") ? NULL : strchr(r->shapes, '[');
		while (p && !isdigit((unsigned char)p[1]))
			p = strchr(p + 1, '[');
		long long n = p ? strtoll(p + 1, NULL, 10) : batch;
		if (batch && n != batch)
			return 0;
		batch = n;
	}
	return batch;
}

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
	return layers && !*e->model_hash && m->matched_ns + m->added_ns < MATCHED_LEAST * m->total_ns ?
		"this profile seems to be of another model" : NULL;
}

static const char *shapes(struct arena *a, const struct sides *x)
{
	const struct execution *e = x->execution;
	int64_t own = e->batch ? e->batch : batch_of_rows(e), batch = x->plan->batch;
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
	return *move ? arena_printf(a, "it tried %s (compare --try)", move) : NULL;
}

/* A described device, or one with CUDA, is a GPU. */
static const char *device(struct arena *a, const struct sides *x)
{
	const struct execution *e = x->execution;
	const struct device *d = x->device;
	bool gpu = x->ground->estimate || (d->stack && strstr(d->stack, "CUDA"));
	if (*e->device && *d->model && !comparable_device(e->device, d->model))
		return arena_printf(a, "%s against %s (choose it with -d)", e->device, d->model);
	return !*e->device && gpu && !strcmp(e->provider, "CPUExecutionProvider") ?
		arena_printf(a, "%s against a GPU (choose the CPU with -d)", e->provider) : NULL;
}

static const char *threads(struct arena *a, const struct sides *x)
{
	int own = x->execution->threads, bound = x->device->threads;
	return own > 0 && bound > 0 && own != bound ?
		arena_printf(a, "%d thread%s against %d", own, own == 1 ? "" : "s", bound) : NULL;
}

static const char *type(struct arena *a, const struct sides *x)
{
	const char *own = x->execution->dtype, *bound = dtype_name(x->plan->dtype);
	return *own && strcmp(own, bound) != 0 ?
		arena_printf(a, "%s against %s (run benanza compare -t %s ...)", own, bound,
			dtype_parse(text_of(own)) == DTYPE_UNKNOWN ? "TYPE" : own) : NULL;
}

static const char *math_mode(struct arena *a, const struct sides *x)
{
	const char *own = x->execution->math;
	return *own && strcmp(own, "strict") != 0 && !x->scenario->relaxed ?
		arena_printf(a, "%s against %s (run benanza compare -w math ...)", own,
			dtype_name(x->plan->dtype)) : NULL;
}

static const char *unknown_type(struct arena *a, const struct sides *x)
{
	(void)a;
	return !*x->execution->dtype ? "the type that it computed in is unknown" : NULL;
}

/* The execution may have used matrix units of the device. */
static const char *matrix(struct arena *a, const struct sides *x)
{
	const struct ground *g = x->ground;
	bool units = x->device->has_matrix || (g->device && g->peaks && peaks_have_matrix(g->peaks));
	(void)a;
	return units && !x->scenario->matrix && (x->plan->dtype != DTYPE_F32 || x->scenario->relaxed) ?
		"the bound leaves out the matrix units (-w matrix)" : NULL;
}

static const char *unknown_device(struct arena *a, const struct sides *x)
{
	(void)a;
	return *x->device->model && !*x->execution->device ? "the device that it ran on is unknown" : NULL;
}

static const char *unknown_bound(struct arena *a, const struct sides *x)
{
	(void)a;
	return !*x->device->model ? "the device of the bound is unknown" : NULL;
}

static const char *unknown_threads(struct arena *a, const struct sides *x)
{
	(void)a;
	return x->device->threads > 0 && x->execution->threads <= 0 ? "its number of threads is unknown" :
		NULL;
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
	{ shapes, NO_GAPS },
	{ requests, NO_RATIO | USE_STORED },
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
