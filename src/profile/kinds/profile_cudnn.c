/* Log of cuDNN 7 to 9: a block a call, without times. In it the depth of nesting is the indentation.
 *   I! CuDNN (v7605) function cudnnConvolutionForward() called:
 *   i!     xDesc: type=cudnnTensorDescriptor_t:
 *   i!         dataType: type=cudnnDataType_t; val=CUDNN_DATA_FLOAT (0);
 *   i!         dimA: type=int; val=[1,3,224,224];
 *   i!     algo: type=cudnnConvolutionFwdAlgo_t; val=CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM (0);
 * Of the graph API, cudnnBackendExecute has at most the number of the engine; what the engine computes stands
 * in the JSON that cudnnBackendFinalizeEngineCfgVisualize logs before.
 * https://docs.nvidia.com/deeplearning/cudnn/ "Logging" */
#include "config.h"

#include "profile/read/reader.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "profile/read/calls.h"
#include "profile/read/lines.h"

#define ENGINES_MOST 10000
#define INDENT 4

/* The collected facts of a call. */
struct gathered {
	struct str op, kernel, shapes, dtype;
};

struct cudnn {
	struct calls calls;
	struct arena *arena;
	struct execution *e;
	struct gathered now;                 /* of the current block */
	char function[128], owner[64];       /* of the current block; its descriptor at depth 1 */
	bool is_call, has_handle, is_filter; /* is_filter: the owner is the descriptor of a convolution */
	bool last_is_call;                   /* the last block was added as a call */
	char last[128];
	struct engine {
		int64_t id;
		const char *op, *kernel, *shapes, *dtype; /* in the arena */
	} *engines;
	int engine_count, engine_capacity;
	int64_t failed;
};

static const struct {
	const char *theirs, *ours;
} types[] = { { "CUDNN_DATA_FLOAT", "f32" }, { "CUDNN_DATA_DOUBLE", "f64" }, { "CUDNN_DATA_HALF", "f16" },
	{ "CUDNN_DATA_BFLOAT16", "bf16" }, { "CUDNN_DATA_INT8", "s8" }, { "CUDNN_DATA_INT8x4", "s8" },
	{ "CUDNN_DATA_INT8x32", "s8" }, { "CUDNN_DATA_UINT8", "u8" }, { "CUDNN_DATA_INT32", "s32" },
	{ "CUDNN_DATA_FP8_E4M3", "f8e4m3" }, { "CUDNN_DATA_FP8_E5M2", "f8e5m2" } };

static void add_type(struct str *out, struct text theirs)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (text_is(theirs, types[i].theirs))
			str_puts(out, types[i].ours);
}

static void clear(struct gathered *g)
{
	str_clear(&g->op);
	str_clear(&g->kernel);
	str_clear(&g->shapes);
	str_clear(&g->dtype);
}

static char *clean(struct arena *a, const struct str *s)
{
	return text_clean(a, (struct text){ s->n ? s->p : "", s->n });
}

/* Functions that run work on the device. */
static bool computes(struct text function)
{
	static const char *const not[] = { "cudnnGet", "cudnnSet", "cudnnCreate", "cudnnDestroy", "cudnnFind",
		"cudnnQuery", "cudnnDerive", "cudnnInit" };
	static const char *const parts[] = { "Forward", "Backward", "Execute", "AddTensor", "OpTensor",
		"ReduceTensor", "TransformTensor", "ScaleTensor", "TransformFilter" };
	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++)
		if (text_begins(function, not[i]))
			return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (memmem(function.p, function.n, parts[i], strlen(parts[i])))
			return true;
	return false;
}

/* ---- engines of the graph API ---- */

/* "CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR" -> "convolution_forward". */
static void add_operation(struct str *out, struct text t)
{
	static const char begin[] = "CUDNN_BACKEND_OPERATION_", end[] = "_DESCRIPTOR";
	if (!text_begins(t, begin) || t.n < sizeof(begin) + sizeof(end) - 2 ||
		memcmp(t.p + t.n - (sizeof(end) - 1), end, sizeof(end) - 1) != 0)
		return;
	if (out->n)
		str_puts(out, "+");
	for (size_t i = sizeof(begin) - 1; i < t.n - (sizeof(end) - 1); i++) {
		char c = (char)tolower((unsigned char)t.p[i]);
		str_add(out, &c, 1);
	}
}

static void add_dims(struct str *out, const char *name, const json_t *dims)
{
	size_t i;
	const json_t *d;
	str_addf(out, "%s%s ", out->n ? " " : "", name);
	json_array_foreach ((json_t *)dims, i, d)
		str_addf(out, "%s%lld", i ? "x" : "", (long long)json_integer_value(d));
}

static void gather_graph(const json_t *graph, struct gathered *g)
{
	size_t i;
	const json_t *o;
	json_array_foreach (json_object_get(graph, "nodes"), i, o) {
		add_operation(&g->op, text_of(json_string_at(o, "operation", "")));
		struct text mode = text_of(json_string_at(o, "pointwiseMode", ""));
		for (size_t k = sizeof("CUDNN_POINTWISE_") - 1; k <= mode.n; k++) {
			char c = k == sizeof("CUDNN_POINTWISE_") - 1
				? '_' : (char)tolower((unsigned char)mode.p[k - 1]);
			str_add(&g->op, &c, 1);
		}
	}
	json_array_foreach (json_object_get(graph, "tensors"), i, o) {
		if (json_is_true(json_object_get(o, "isVirtual")))
			continue;
		add_dims(&g->shapes, json_string_at(o, "name", "?"), json_object_get(o, "dim"));
		if (!g->dtype.n)
			add_type(&g->dtype, text_of(json_string_at(o, "dataType", "")));
	}
}

/* {"operationGraph":{...},"engine":{"engineId":7,"knobChoices":{"CUDNN_KNOB_TYPE_KERNEL_CFG":29}}} */
static void add_engine(struct cudnn *c, struct text text)
{
	json_t *o = json_load_clean(text, NULL, NULL);
	const json_t *engine = json_object_get(o, "engine"), *v;
	int64_t id = json_int_at(engine, "engineId", -1);
	struct gathered g = { 0 };
	const char *knob, *between = "{";
	if (id >= 0 && c->engine_count < ENGINES_MOST) {
		gather_graph(json_object_get(o, "operationGraph"), &g);
		str_addf(&g.kernel, "eng%lld", (long long)id);
		json_object_foreach ((json_t *)json_object_get(engine, "knobChoices"), knob, v) {
			bool known = text_begins(text_of(knob), "CUDNN_KNOB_TYPE_");
			str_addf(&g.kernel, "%s%s=%lld", between, known ? knob + 16 : knob,
				(long long)json_integer_value(v));
			between = ",";
		}
		str_puts(&g.kernel, *between == ',' ? "}" : "");
		VEC_GROW(c->engines, c->engine_count, c->engine_capacity);
		c->engines[c->engine_count++] = (struct engine){ id, clean(c->arena, &g.op),
			clean(c->arena, &g.kernel), clean(c->arena, &g.shapes), clean(c->arena, &g.dtype) };
	}
	str_free(&g.op);
	str_free(&g.kernel);
	str_free(&g.shapes);
	str_free(&g.dtype);
	json_decref(o);
}

/* Returns the engine with that number if the log describes one configuration of it, else NULL. */
static const struct engine *engine_of(const struct cudnn *c, int64_t id)
{
	const struct engine *found = NULL;
	for (int i = 0; i < c->engine_count; i++) {
		const struct engine *g = &c->engines[i];
		if (g->id != id)
			continue;
		if (found && (strcmp(found->kernel, g->kernel) || strcmp(found->shapes, g->shapes)))
			return NULL;
		found = g;
	}
	return found;
}

/* ---- blocks ---- */

static void end_block(struct cudnn *c)
{
	if (!c->is_call || !c->has_handle)
		return;
	struct gathered *g = &c->now;
	struct text function = text_of(c->function + 5); /* behind "cudnn" */
	struct str key = { 0 };
	str_addf(&key, "%s|%s|%s|%s|%s", function.p, g->op.n ? g->op.p : "", g->kernel.n ? g->kernel.p : "",
		g->shapes.n ? g->shapes.p : "", g->dtype.n ? g->dtype.p : "");
	struct execution_row *r = calls_add(&c->calls, (struct text){ key.p, key.n }, NAN, NAN);
	if (r) {
		r->level = LEVEL_KERNEL;
		r->name = text_clean(c->arena, function);
		r->op = g->op.n ? clean(c->arena, &g->op) : r->name;
		r->provider = "cuDNN";
		r->kernel = clean(c->arena, &g->kernel);
		r->shapes = clean(c->arena, &g->shapes);
		r->dtype = clean(c->arena, &g->dtype);
	}
	str_free(&key);
	c->is_call = false;
	c->last_is_call = true;
	memcpy(c->last, c->function, sizeof(c->last));
}

static void version(struct cudnn *c, struct text t)
{
	int64_t v = 0;
	for (size_t i = 0; i < t.n && isdigit((unsigned char)t.p[i]) && v < 1000000; i++)
		v = 10 * v + (t.p[i] - '0');
	int64_t scale = v >= 10000 ? 100 : 10; /* 7605 is 7.6.5, 91900 is 9.19.0 */
	if (v >= 1000)
		c->e->version = arena_printf(c->arena, "%lld.%lld.%lld", (long long)(v / (100 * scale)),
			(long long)(v / 100 % scale), (long long)(v % 100));
}

/* "I! CuDNN (v91900 56) function cudnnSoftmaxForward() called:" */
static void begin_block(struct cudnn *c, struct text t)
{
	static const char word[] = " function ";
	end_block(c);
	clear(&c->now);
	c->owner[0] = c->function[0] = '\0';
	c->is_call = c->has_handle = c->is_filter = false;
	const char *at = memmem(t.p, t.n, word, sizeof(word) - 1), *v = memmem(t.p, t.n, "(v", 2);
	if (!at)
		return;
	if (v && v < at && !c->e->version[0])
		version(c, (struct text){ v + 2, (size_t)(at - v - 2) });
	struct text name = { at + sizeof(word) - 1, t.n - (size_t)(at + sizeof(word) - 1 - t.p) };
	size_t n = 0;
	while (n < name.n && n < sizeof(c->function) - 1 &&
		(isalnum((unsigned char)name.p[n]) || name.p[n] == '_'))
		n++;
	memcpy(c->function, name.p, n);
	c->function[n] = '\0';
	if (t.p[0] == 'E' && c->last_is_call && strcmp(c->function, c->last) == 0) {
		calls_drop_last(&c->calls);
		c->last_is_call = false;
		c->failed++;
	}
	bool call = text_begins(name, "cudnn") && computes(text_of(c->function));
	c->is_call = t.p[0] == 'I' && call;
}

/* "[1,3,224,224]" -> "1x3x224x224" */
static void add_list(struct str *out, struct text list)
{
	for (size_t i = 0; i < list.n; i++)
		if (list.p[i] != '[' && list.p[i] != ']' && list.p[i] != ' ')
			str_add(out, list.p[i] == ',' ? "x" : list.p + i, 1);
}

/* The lower case name of an algorithm: "..._ALGO_IMPLICIT_GEMM" -> "implicit_gemm". */
static void add_algorithm(struct str *out, struct text value)
{
	static const char word[] = "_ALGO_";
	const char *at = memmem(value.p, value.n, word, sizeof(word) - 1);
	size_t from = at ? (size_t)(at - value.p) + sizeof(word) - 1 : text_begins(value, "CUDNN_") ? 6 : 0;
	for (size_t i = from; i < value.n; i++) {
		char c = (char)tolower((unsigned char)value.p[i]);
		str_add(out, &c, 1);
	}
}

/* Reads a field of a descriptor: type and size of a tensor, parameters of a convolution. */
static void inner_field(struct cudnn *c, struct text name, struct text value)
{
	static const char *const kept[][2] = { { "padA", "pads" }, { "strideA", "strides" },
		{ "dilationA", "dilations" }, { "groupCount", "groups" } };
	struct gathered *g = &c->now;
	if (text_is(name, "dimA") && value.n > 2) {
		str_addf(&g->shapes, "%s%s ", g->shapes.n ? " " : "", c->owner);
		add_list(&g->shapes, value);
	}
	if (text_is(name, "dataType") && !g->dtype.n)
		add_type(&g->dtype, value);
	for (size_t i = 0; c->is_filter && i < sizeof(kept) / sizeof(kept[0]); i++)
		if (text_is(name, kept[i][0])) {
			str_addf(&g->shapes, "%s%s ", g->shapes.n ? " " : "", kept[i][1]);
			add_list(&g->shapes, value);
		}
}

static void engine_field(struct cudnn *c, struct text value)
{
	int64_t id;
	if (!text_to_int64(value, &id) || id < 0)
		return;
	const struct engine *engine = engine_of(c, id);
	struct gathered *g = &c->now;
	str_clear(&g->kernel);
	if (!engine) {
		str_addf(&g->kernel, "eng%lld", (long long)id);
		return;
	}
	str_puts(&g->kernel, engine->kernel);
	if (!g->op.n)
		str_puts(&g->op, engine->op);
	if (!g->shapes.n)
		str_puts(&g->shapes, engine->shapes);
	if (!g->dtype.n)
		str_puts(&g->dtype, engine->dtype);
}

/* "i!         dimA: type=int; val=[1,3,224,224];" */
static void field(struct cudnn *c, struct text t)
{
	size_t at = 2;
	while (at < t.n && t.p[at] == ' ')
		at++;
	size_t depth = (at - 2) / INDENT;
	struct text rest = { t.p + at, t.n - at };
	const char *colon = memchr(rest.p, ':', rest.n), *val = memmem(rest.p, rest.n, "val=", 4);
	const char *type = memmem(rest.p, rest.n, "type=", 5), *end = rest.p + rest.n;
	if (!colon)
		return;
	struct text name = { rest.p, (size_t)(colon - rest.p) }, value = { "", 0 }, kind = { "", 0 };
	if (val) {
		value = (struct text){ val + 4, (size_t)(end - val - 4) };
		if (text_is(name, "apiLog")) {
			size_t n = value.n && value.p[value.n - 1] == ';' ? value.n - 1 : value.n;
			add_engine(c, (struct text){ value.p, n });
			return;
		}
		size_t n = 0;
		while (n < value.n && value.p[n] != ';' && (value.p[n] != ' ' || value.p[0] == '['))
			n++;
		value.n = n;
	}
	if (type) {
		kind = (struct text){ type + 5, (size_t)(end - type - 5) };
		while (kind.n && (kind.p[kind.n - 1] == ':' || kind.p[kind.n - 1] == ' '))
			kind.n--;
	}
	if (!c->is_call)
		return;
	if (depth == 1 && type) {
		size_t n = name.n > 4 && memcmp(name.p + name.n - 4, "Desc", 4) == 0 ? name.n - 4 : name.n;
		snprintf(c->owner, sizeof(c->owner), "%.*s", (int)n, name.p);
		c->is_filter = text_begins(kind, "cudnnConvolutionDescriptor");
		c->has_handle |= text_is(name, "handle") || text_is(name, "executionPlan");
	}
	if (depth == 1 && (text_is(name, "algo") || text_is(name, "algorithm")))
		add_algorithm(&c->now.kernel, value);
	add_operation(&c->now.op, kind);
	if (text_is(name, "engine_id"))
		engine_field(c, value);
	else if (depth > 1)
		inner_field(c, name, value);
}

/* Returns the line from its severity on ("I! "), without what gathers logs put before it: a time, the name of
 * a container. An empty text without a severity. */
static struct text message_of(struct text t)
{
	for (size_t i = 0; i + 2 < t.n; i++) {
		const char *mark = memchr(t.p + i + 1, '!', t.n - i - 2);
		if (!mark)
			break;
		i = (size_t)(mark - t.p) - 1;
		bool word = !i || !isalnum((unsigned char)t.p[i - 1]);
		if (word && mark[1] == ' ' && memchr("IWEie", t.p[i], 5))
			return (struct text){ t.p + i, t.n - i };
	}
	return (struct text){ "", 0 };
}

static void line(struct cudnn *c, struct text t)
{
	t = message_of(t);
	if (!t.n)
		return;
	if (strchr("IWE", t.p[0]))
		begin_block(c, t);
	else if (t.p[0] == 'i')
		field(c, t);
}

static bool is_cudnn(const struct profile_head *h)
{
	return head_contains(h, "! CuDNN (v") || head_contains(h, "! cuDNN (v");
}

static int read_cudnn(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct cudnn c = { .arena = a, .e = e };
	struct lines *l = lines_open(path, options, err);
	struct text t;
	int got = l ? 1 : -1;
	while (got > 0 && (got = lines_next(l, &t, err)) > 0)
		line(&c, t);
	if (got == 0)
		end_block(&c);
	if (got == 0 && !c.calls.count)
		got = error_set(err, "%s: no call of a computation%s; set CUDNN_LOGLEVEL_DBG=3 (cuDNN 7: "
			"CUDNN_LOGINFO_DBG=1) and run again", path, c.failed ? " and succeeds" : "");
	if (got == 0) {
		e->framework = "cudnn";
		calls_finish(&c.calls, a, e, "call", lines_is_cut(l));
		if (c.failed)
			profile_add_gap(
				a, e, arena_printf(a, "%lld failed calls left out", (long long)c.failed));
	}
	struct str *used[] = { &c.now.op, &c.now.kernel, &c.now.shapes, &c.now.dtype };
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		str_free(used[i]);
	free(c.engines);
	calls_free(&c.calls);
	lines_close(l);
	return got;
}

const struct profile_reader profile_cudnn = {
	.kind = PROFILE_CUDNN, .is = is_cudnn, .read = read_cudnn, .packed = true
};
