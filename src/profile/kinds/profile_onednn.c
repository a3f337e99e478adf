/* oneDNN verbose: lines of fields that commas separate, which the program's own output may surround:
 *   onednn_verbose,v1,primitive,exec,cpu,convolution,brgconv:avx2,forward_inference,src:f32::blocked:acdb::f0
 *   wei:...,attr-post-ops:eltwise_relu,alg:convolution_direct,mb1_ic3oc64_...,0.0371094
 * Before oneDNN 3.1 there is no version and no component, before 1.5 the first word is dnnl_verbose, and with
 * ONEDNN_VERBOSE_TIMESTAMP a time in ms stands before the operation. Only executions of primitives count.
 * https://uxlfoundation.github.io/oneDNN/dev_guide_verbose.html */
#include "config.h"

#include "profile/read/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "profile/read/calls.h"
#include "profile/read/lines.h"

#define NS_PER_MS 1e6
#define FIELDS_MOST 16

enum {
	ENGINE = 1,
	PRIMITIVE,
	IMPLEMENTATION,
	PROP_KIND,
	TENSORS,
	ATTRIBUTES,
	AUXILIARY,
	PROBLEM,
	TIME,
	LEAST
};

struct onednn {
	struct calls calls;
	struct arena *arena;
	struct execution *e;
	const char *isa, *runtime; /* in the arena; NULL: unknown */
	int64_t broken;            /* number of "exec" lines that lack fields */
};

/* Returns the text after the first word of a verbose line, or an empty text. */
static struct text body(struct text line)
{
	static const char *const words[] = { "onednn_verbose,", "dnnl_verbose," };
	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		size_t n = strlen(words[w]);
		const char *at = line.n >= n ? memmem(line.p, line.n, words[w], n) : NULL;
		if (at)
			return (struct text){ at + n, line.n - (size_t)(at + n - line.p) };
	}
	return (struct text){ "", 0 };
}

static int split(struct text t, struct text *field)
{
	int n = 0;
	for (;;) {
		const char *comma = memchr(t.p, ',', t.n);
		field[n] = (struct text){ t.p, comma && n < FIELDS_MOST - 1 ? (size_t)(comma - t.p) : t.n };
		n++;
		if (!comma || n == FIELDS_MOST)
			return n;
		t.n -= (size_t)(comma + 1 - t.p);
		t.p = comma + 1;
	}
}

/* Returns the type of a tensor: "src_f32::blocked:abcd:f0", "src:f32:a:blocked:abcd::f0". */
static struct text type_of(struct text tensors)
{
	size_t name = 0;
	while (name < tensors.n && tensors.p[name] != '_' && tensors.p[name] != ':' && tensors.p[name] != ' ')
		name++;
	struct text t = { tensors.p + name, tensors.n - name };
	if (t.n < 2 || t.p[0] == ' ')
		return (struct text){ "", 0 };
	t.p++, t.n--;
	size_t n = 0;
	while (n < t.n && t.p[n] != ':' && t.p[n] != ' ')
		n++;
	return (struct text){ t.p, n };
}

/* Returns the primitive and its post-operations: "convolution+eltwise_relu+binary_add". */
static char *with_post_ops(struct arena *a, struct text primitive, struct text attributes)
{
	static const char word[] = "post-ops:";
	struct str name = { 0 };
	str_add(&name, primitive.p, primitive.n);
	const char *at = attributes.n ? memmem(attributes.p, attributes.n, word, sizeof(word) - 1) : NULL;
	for (const char *end = attributes.p + attributes.n; at && at < end && *at != ' ' && *at != '\'';) {
		at += name.n == primitive.n ? sizeof(word) - 1 : 1; /* the word, later a '+' */
		size_t n = 0;
		while (at + n < end && !strchr("+ :'", at[n]))
			n++;
		str_addf(&name, "+%.*s", (int)n, at);
		while (at + n < end && !strchr("+ '", at[n])) /* its parameters */
			n++;
		at += n;
	}
	char *clean = text_clean(a, (struct text){ name.p, name.n });
	str_free(&name);
	return clean;
}

static void exec_line(struct onednn *o, const struct text *f, int n, double at_ns)
{
	double ms = n >= LEAST ? text_number(f[n - 1]) : NAN;
	if (!profile_is_time(ms * NS_PER_MS)) {
		o->broken++;
		return;
	}
	/* further commas can only be in the auxiliary field, so the last two are counted from the end */
	struct text problem = f[n - 2];
	struct text key = { f[ENGINE].p, (size_t)(problem.p + problem.n - f[ENGINE].p) };
	struct execution_row *r = calls_add(&o->calls, key, ms * NS_PER_MS, at_ns);
	if (!r)
		return;
	r->level = LEVEL_KERNEL;
	r->name = with_post_ops(o->arena, f[PRIMITIVE], f[ATTRIBUTES]);
	r->op = text_clean(o->arena, f[PRIMITIVE]);
	r->provider = text_clean(o->arena, f[ENGINE]);
	r->kernel = text_clean(o->arena, f[IMPLEMENTATION]);
	r->shapes = text_clean(o->arena, problem);
	r->dtype = text_clean(o->arena, type_of(f[TENSORS]));
}

/* Returns the value after a word in a line of information: "nthr:2". */
static struct text info(const struct text *f, int n, const char *word)
{
	size_t length = strlen(word);
	for (int i = 0; i < n; i++)
		if (f[i].n > length && memcmp(f[i].p, word, length) == 0)
			return (struct text){ f[i].p + length, f[i].n - length };
	return (struct text){ "", 0 };
}

static void info_line(struct onednn *o, const struct text *f, int n)
{
	struct text version = info(f, n, "oneDNN v"), threads = info(f, n, "nthr:");
	struct text isa = info(f, n, "isa:"), runtime = info(f, n, "runtime:");
	const char *blank = version.n ? memchr(version.p, ' ', version.n) : NULL;
	int64_t count;
	if (version.n && !o->e->version[0])
		o->e->version = text_clean(o->arena,
			(struct text){ version.p, blank ? (size_t)(blank - version.p) : version.n });
	if (threads.n && !o->e->threads && text_to_int64(threads, &count) && count > 0 && count < 1 << 20)
		o->e->threads = (int)count;
	if (isa.n && !o->isa)
		o->isa = text_clean(o->arena, isa);
	if (runtime.n && threads.n && !o->runtime)
		o->runtime = text_clean(o->arena, runtime);
}

/* Returns the time of a timestamp in ms; NaN if it is implausible. */
static double clock_ns(struct text t)
{
	double ns = text_number(t) * NS_PER_MS;
	return ns >= 0 && ns < 1e21 ? ns : NAN;
}

/* Finds the operation in the first fields: [version] [time] [component] operation. */
static void line(struct onednn *o, struct text t)
{
	struct text f[FIELDS_MOST];
	double at_ns = NAN;
	int n = split(t, f);
	for (int i = 0; i < n && i < 4; i++) {
		if (text_is(f[i], "graph") || text_is(f[i], "ukernel"))
			return;
		if (text_is(f[i], "info")) {
			info_line(o, f + i + 1, n - i - 1);
			return;
		}
		if (text_is(f[i], "exec")) {
			exec_line(o, f + i, n - i, at_ns);
			return;
		}
		if (f[i].n && memchr(f[i].p, '.', f[i].n))
			at_ns = clock_ns(f[i]);
	}
}

static bool is_onednn(const struct profile_head *h)
{
	return head_contains(h, "onednn_verbose,") || head_contains(h, "dnnl_verbose,");
}

/* Adds the facts in the lines of information to the settings. */
static void add_settings(struct onednn *o)
{
	json_t *s = json_loads(o->e->settings, 0, NULL);
	if (o->isa)
		json_object_set_new(s, "isa", json_string(o->isa));
	if (o->runtime)
		json_object_set_new(s, "runtime", json_string(o->runtime));
	char *text = json_dumps(s, JSON_COMPACT);
	o->e->settings = arena_printf(o->arena, "%s", text);
	free(text);
	json_decref(s);
}

static int read_onednn(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct onednn o = { .arena = a, .e = e };
	struct lines *l = lines_open(path, options, err);
	struct text t;
	int got = l ? 1 : -1;
	while (got > 0 && (got = lines_next(l, &t, err)) > 0)
		if ((t = body(t)).n)
			line(&o, t);
	if (got == 0 && !o.calls.count)
		got = error_set(err, "%s: no execution of a primitive%s; set ONEDNN_VERBOSE=1 and run again",
			path, o.broken ? " with a plausible time" : "");
	if (got == 0) {
		e->framework = "onednn";
		calls_finish(&o.calls, a, e, "primitive", lines_is_cut(l));
		add_settings(&o);
		e->dtype = profile_dtype(e, LEVEL_KERNEL);
		if (o.broken)
			profile_add_gap(a, e, arena_printf(a, "%lld incomplete lines", (long long)o.broken));
	}
	calls_free(&o.calls);
	lines_close(l);
	return got;
}

const struct profile_reader profile_onednn = {
	.kind = PROFILE_ONEDNN, .is = is_onednn, .read = read_onednn, .packed = true
};
