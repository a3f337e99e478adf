/* Reads ONNX Runtime's profile. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/read/lines.h"
#include "profile/read/reader.h"
#include "profile/read/scan.h"
#include "profile/read/timeline.h"

/* onnxruntime/core/common/profiler.cc: an array of events, one a line, in the order in which they end; times
 * in us. The profiler stops at EVENTS_MOST events. */
#define EVENTS_MOST 1000000
/* Limit of events that are kept: several sessions may share a file. */
#define EVENTS_KEPT (2 * EVENTS_MOST)
#define PROCESSORS_MOST 4096 /* larger numbers are ignored */
#define STATS "thread_scheduling_stats"

/* The maps hold an event's index + 1; 0: none. */
struct ort {
	struct arena *a;
	struct execution *e;
	struct timeline t;
	struct hash nodes;  /* name of a node -> its last event */
	struct hash fences; /* name of a node -> the fence before its next event */
	struct hash lanes;  /* thread -> its last outermost event */
	struct hash unnamed; /* operator -> nodes of it without name and number in this run */
	int *below;         /* per event of a node: the event under it on its thread's stack, or -1 */
	int below_capacity;
	struct str key, base;
	double loading_ns, starting_ns; /* model_loading_*, session_initialization; NaN: absent */
	int threads; /* the most of a node; 0: unknown */
	bool processors[PROCESSORS_MOST]; /* on which they ran */
	int64_t odd; /* events without usable times */
};

struct moment {
	const char *name;
	int lane;
	double ts, dur; /* us */
};

static bool is_onnxruntime(const struct profile_head *h)
{
	return head_has_key(h, '[', "cat") && head_has_key(h, '[', "ts") && head_has_key(h, '[', "name") &&
		(head_contains(h, "\"Session\"") || head_contains(h, "\"Node\""));
}

/* Arguments are strings; other writers have numbers. */
static double arg_number(const json_t *args, const char *key)
{
	const json_t *v = json_object_get(args, key);
	const char *s = json_string_value(v);
	char *end;
	if (!s)
		return json_number_or_nan(v);
	double value = strtod(s, &end);
	return end > s && isfinite(value) ? value : NAN;
}

static int arg_int(const json_t *args, const char *key, int otherwise)
{
	double value = arg_number(args, key);
	return fabs(value) < 1e9 ? (int)value : otherwise;
}

/* ONNX Runtime's names of element types. */
static const char *const types[][2] = {
	{ "float", "f32" }, { "float16", "f16" }, { "bfloat16", "bf16" }, { "double", "f64" },
	{ "int8", "s8" }, { "uint8", "u8" }, { "int16", "s16" }, { "uint16", "u16" }, { "int32", "s32" },
	{ "uint32", "u32" }, { "int64", "s64" }, { "uint64", "u64" }, { "bool", "bool" },
	{ "string", "string" }, { "int4", "s4" }, { "uint4", "u4" }, { "float8e4m3fn", "f8e4m3" },
	{ "float8e5m2", "f8e5m2" },
};

/* Returns the type of a tensor, {"float":[1,3,224,224]}; "" if unknown. */
static const char *tensor_type(json_t *tensor)
{
	const char *name;
	json_t *dims;
	json_object_foreach(tensor, name, dims)
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			if (!strcmp(types[i][0], name))
				return types[i][1];
	return "";
}

/* True for a type in which a node may compute. Conditions, counts, indices and shapes have others. */
static bool is_computed(const char *type)
{
	enum dtype t = dtype_parse(text_of(type));
	return t != DTYPE_BOOL && (dtype_is_float(t) || (dtype_bits(t) > 0 && dtype_bits(t) <= 8));
}

/* Returns the type that a node computed in: that of the first input or output for which is_computed holds,
 * else of the first input; "" if unknown. */
static const char *node_type(const json_t *args)
{
	static const char *const sides[] = { "input_type_shape", "output_type_shape" };
	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		const json_t *list = json_object_get(args, sides[i]);
		for (size_t k = 0; k < json_array_size(list); k++)
			if (is_computed(tensor_type(json_array_get(list, k))))
				return tensor_type(json_array_get(list, k));
	}
	return tensor_type(json_array_get(json_object_get(args, sides[0]), 0));
}

static const char *keep(struct ort *o, const char *s)
{
	return *s ? arena_strndup(o->a, s, strlen(s)) : "";
}

static const char *keep_json(struct ort *o, const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_COMPACT) : NULL;
	const char *kept = text ? keep(o, text) : "";
	free(text);
	return kept;
}

/* Writes the key of an event's row: level, owner's row, number of the node, name. */
static int ort_row(struct ort *o, enum execution_level level, int owner, const char *which, const char *name,
	bool *is_new)
{
	str_clear(&o->key);
	str_addf(&o->key, "%d %d %s\n%s", (int)level, owner < 0 ? -1 : o->t.events[owner].row, which, name);
	int row = timeline_row(&o->t, level, (struct text){ o->key.p, o->key.n }, is_new);
	if (*is_new)
		o->t.rows[row].name = keep(o, name);
	return row;
}

/* Returns the number of a node: "12" in newer files; "0:7", graph and position in its plan, in older ones; in
 * the oldest only its operator. */
static void node_number(const json_t *args, char *buf, size_t size)
{
	int node = arg_int(args, "node_index", -1), graph = arg_int(args, "graph_index", -1);
	int plan = arg_int(args, "exec_plan_index", -1);
	if (node >= 0)
		snprintf(buf, size, "%d", node);
	else if (plan >= 0)
		snprintf(buf, size, "%d:%d", graph, plan);
	else
		snprintf(buf, size, "%s", json_string_at(args, "op_name", ""));
}

static void fill_node(struct ort *o, struct execution_row *r, const json_t *args, const char *which)
{
	r->op = keep(o, json_string_at(args, "op_name", ""));
	r->provider = keep(o, json_string_at(args, "provider", ""));
	r->shapes = keep_json(o, json_object_get(args, "input_type_shape"));
	r->dtype = node_type(args);
	r->output_bytes = arg_number(args, "output_size");
	if (!*r->name && *r->op)
		r->name = arena_printf(o->a, "%s_%s", r->op, which);
}

static bool has_body(const char *op)
{
	return !strcmp(op, "Loop") || !strcmp(op, "If") || !strcmp(op, "Scan") || !strcmp(op, "SequenceMap");
}

/* Returns the slot of a key; a new key is copied. */
static int64_t *kept_at(struct ort *o, struct hash *h, const char *key)
{
	struct text t = text_of(key);
	if (hash_find(h, t) < 0) {
		t.p = arena_strndup(&o->t.texts, t.p, t.n);
		*hash_at(h, t) = 0;
	}
	return hash_at(h, t);
}

/* Makes a node with bodies the owner of the events inside it. These end first and therefore precede its own
 * event, so it takes them from the stack of its thread's events (post-order). Times have a resolution of 1
 * us, so only operators with bodies take an event that starts with them. */
static void nest(struct ort *o, int event)
{
	const struct timeline_event *v = &o->t.events[event];
	bool body = has_body(o->t.rows[v->row].op);
	char lane[16];
	snprintf(lane, sizeof(lane), "%d", v->lane);
	int64_t *top = kept_at(o, &o->lanes, lane); /* event + 1; 0: none */
	if (o->t.event_capacity > o->below_capacity) {
		o->below_capacity = o->t.event_capacity;
		o->below = base_realloc(o->below, (size_t)o->below_capacity * sizeof(int));
	}
	int i = (int)*top - 1;
	for (; i >= 0; i = o->below[i]) {
		struct timeline_event *inner = &o->t.events[i];
		if (inner->start < v->start || (inner->start == v->start && !body) ||
			inner->start + inner->ns > v->start + v->ns)
			break;
		inner->owner = event;
	}
	o->below[event] = i;
	*top = event + 1;
}

static int add_event(struct ort *o, int row, int owner, const struct moment *m)
{
	bool none = m->ts == 0 && m->dur == 0; /* the profiler lost its time */
	int event = none ? -1 : timeline_add(&o->t, row, owner, m->lane, m->ts * 1e3, m->dur * 1e3);
	o->odd += event < 0;
	return event;
}

/* Adds a node's event, NAME_kernel_time. Older versions also write NAME_fence_before and NAME_fence_after:
 * waiting for inputs and outputs, and copying them. */
enum suffix { KERNEL_TIME, FENCE_BEFORE, FENCE_AFTER, SUFFIX_COUNT };
static const char *const suffixes[] = { "_kernel_time", "_fence_before", "_fence_after" };

static enum suffix suffix_of(const char *name, size_t *rest)
{
	size_t n = strlen(name);
	for (int i = 0; i < SUFFIX_COUNT; i++) {
		*rest = n - strlen(suffixes[i]);
		if (n >= strlen(suffixes[i]) && !strcmp(name + *rest, suffixes[i]))
			return (enum suffix)i;
	}
	*rest = n;
	return SUFFIX_COUNT;
}

/* Sets the name of the event's node. A node without name and number is "Conv #2" if it is the second one of
 * its operator in the run. */
static void name_node(struct ort *o, const char *name, size_t n, enum suffix suffix, const json_t *args)
{
	const char *op = json_string_at(args, "op_name", "");
	str_clear(&o->base);
	str_add(&o->base, name, n);
	if (n || arg_int(args, "node_index", -1) >= 0 || arg_int(args, "exec_plan_index", -1) >= 0)
		return;
	int64_t *count = kept_at(o, &o->unnamed, op);
	*count += suffix != FENCE_BEFORE && suffix != FENCE_AFTER;
	str_addf(&o->base, "%s #%" PRId64, *op ? op : "node", *count + (suffix == FENCE_BEFORE));
}

static void add_fence(struct ort *o, enum suffix suffix, const json_t *args, const struct moment *m)
{
	bool is_new;
	if (!(m->dur > 0))
		return;
	int row = ort_row(o, LEVEL_API, -1, o->base.p, m->name, &is_new);
	if (is_new) {
		o->t.rows[row].op = "fence";
		o->t.rows[row].provider = keep(o, json_string_at(args, "provider", ""));
	}
	int event =
		add_event(o, row, suffix == FENCE_AFTER ? (int)*kept_at(o, &o->nodes, o->base.p) - 1 : -1, m);
	if (suffix == FENCE_BEFORE)
		*kept_at(o, &o->fences, o->base.p) = event + 1;
}

static void add_node(struct ort *o, const json_t *args, const struct moment *m)
{
	size_t rest;
	enum suffix suffix = suffix_of(m->name, &rest);
	name_node(o, m->name, rest, suffix, args);
	if (suffix == FENCE_BEFORE || suffix == FENCE_AFTER) {
		add_fence(o, suffix, args, m);
		return;
	}
	char which[64];
	bool is_new;
	node_number(args, which, sizeof(which));
	int row = ort_row(o, LEVEL_LAYER, -1, which, o->base.p, &is_new);
	if (is_new)
		fill_node(o, &o->t.rows[row], args, which);
	int event = add_event(o, row, -1, m);
	if (event < 0)
		return;
	nest(o, event);
	*kept_at(o, &o->nodes, o->base.p) = event + 1;
	int64_t *fence = kept_at(o, &o->fences, o->base.p);
	if (*fence)
		o->t.events[*fence - 1].owner = event;
	*fence = 0;
}

/* Adds a kernel, or a call of the device's runtime, to the preceding event of its node, `parent_name`. */
static void add_device(struct ort *o, enum execution_level level, const json_t *args, const struct moment *m)
{
	size_t rest;
	bool is_new;
	const char *parent = json_string_at(args, "parent_name", "");
	suffix_of(parent, &rest);
	str_clear(&o->base);
	str_add(&o->base, parent, rest);
	int owner = *parent ? (int)*kept_at(o, &o->nodes, o->base.p) - 1 : -1;
	int row = ort_row(o, level, owner, "", m->name, &is_new);
	if (is_new) {
		struct execution_row *r = &o->t.rows[row];
		r->op = keep(o, json_string_at(args, "op_name", ""));
		r->provider = owner < 0 ? "" : o->t.rows[o->t.events[owner].row].provider;
		r->kernel = level == LEVEL_KERNEL ? r->name : "";
		r->stream = arg_int(args, "stream", -1);
	}
	add_event(o, row, owner, m);
}

static void add_session(struct ort *o, const struct moment *m)
{
	bool timed = profile_is_time(m->dur * 1e3);
	if (!strcmp(m->name, "model_run")) {
		timeline_add_run(&o->t, m->lane, m->ts * 1e3, m->dur * 1e3);
		hash_free(&o->unnamed);
	} else if (!strncmp(m->name, "model_loading", 13) && isnan(o->loading_ns) && timed)
		o->loading_ns = m->dur * 1e3;
	else if (!strcmp(m->name, "session_initialization") && isnan(o->starting_ns) && timed)
		o->starting_ns = m->dur * 1e3;
}

static void add(struct ort *o, const json_t *v)
{
	const json_t *args = json_object_get(v, "args");
	const char *category = json_string_at(v, "cat", "");
	struct moment m = { json_string_at(v, "name", ""), (int)json_int_at(v, "tid", -1),
		json_number_or_nan(json_object_get(v, "ts")), json_number_or_nan(json_object_get(v, "dur")) };
	if (!strcmp(category, "Session"))
		add_session(o, &m);
	else if (!strcmp(category, "Node"))
		add_node(o, args, &m);
	else if (!strcmp(category, "Kernel"))
		add_device(o, LEVEL_KERNEL, args, &m);
	else if (!strcmp(category, "Api"))
		add_device(o, LEVEL_API, args, &m);
}

/* Returns a member's value if it is an object, else an empty text. The last one of several counts. */
static struct text object_in(struct scan *s, struct text object, const char *name)
{
	struct text key, value, found = { 0 };
	while (object.n && scan_member(s, &object, &key, &value) == 1)
		if (text_is(key, name) && value.p[0] == '{')
			found = value;
	return found;
}

/* Notes the processor on which a thread ran last; -1: it did not run. */
static void processor_note(struct ort *o, struct text thread, struct scan *s)
{
	struct text key, value;
	bool is_object = thread.p[0] == '{';
	while (is_object && scan_member(s, &thread, &key, &value) == 1) {
		double core = text_is(key, "core") ? scan_number(value) : -1;
		if (core >= 0 && core < PROCESSORS_MOST)
			o->processors[(int)core] = true;
	}
}

/* Reads a node's thread_scheduling_stats, {"main_thread":{"core":0},"sub_threads":{"1402":{"core":1}}}, from
 * the text: threads that did not run have equal keys, and a parser would keep only one of them. It is ""
 * without a thread pool. */
static void threads_note(struct ort *o, struct text event, const json_t *args, struct scan *s)
{
	struct text key, value, stats = { 0 };
	const char *none = json_string_value(json_object_get(args, STATS));
	int threads = none && !*none;
	if (!none)
		stats = object_in(s, object_in(s, event, "args"), STATS);
	while (stats.n && scan_member(s, &stats, &key, &value) == 1) {
		processor_note(o, value, s);
		bool has_others = text_is(key, "sub_threads") && value.p[0] == '{';
		struct text thread, others = has_others ? value : (struct text){ 0 };
		threads += text_is(key, "main_thread");
		for (; others.n && scan_member(s, &others, &key, &thread) == 1; threads++)
			processor_note(o, thread, s);
	}
	o->threads = threads > o->threads ? threads : o->threads;
}

/* Adds the number of processors to the settings. */
static void processors_keep(struct ort *o)
{
	json_t *settings = *o->e->settings ? json_loads(o->e->settings, 0, NULL) : json_object();
	int count = 0;
	for (int i = 0; i < PROCESSORS_MOST; i++)
		count += o->processors[i];
	if (count && settings) {
		json_object_set_new(settings, "processors", json_integer(count));
		o->e->settings = keep_json(o, settings);
	}
	json_decref(settings);
}

/* Returns the provider with the most time. */
static const char *main_provider(const struct execution *e)
{
	struct hash providers = { 0 };
	const char *name = "";
	double *ns = base_calloc((size_t)e->row_count + 1, sizeof(double)), most = 0;
	int count = 0;
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		if (r->level != LEVEL_LAYER || r->parent >= 0 || !*r->provider)
			continue;
		int64_t *at = hash_at(&providers, text_of(r->provider));
		if (*at < 0)
			*at = count++;
		ns[*at] += r->ns;
		if (ns[*at] > most) {
			most = ns[*at];
			name = r->provider;
		}
	}
	free(ns);
	hash_free(&providers);
	return name;
}

/* Returns true if a node's time is that of its launch: the provider is not the CPU's. */
static bool is_async(const struct execution_row *r)
{
	return *r->provider && strcmp(r->provider, "CPUExecutionProvider");
}

/* Without events of nodes the runs are the latency, as of any other program; the first of several warms up.
 */
static void runs_alone(struct ort *o)
{
	struct execution *e = o->e;
	int n = 0, from = o->t.run_count > 1;
	double *ns = base_calloc((size_t)o->t.run_count, sizeof(double));
	timeline_sort(&o->t);
	if (from)
		e->first_ns = o->t.runs[0].ns;
	e->settings = arena_printf(o->a, "{\"runs\":%d,\"runs_left_out\":%d}", o->t.run_count - from, from);
	for (int i = from; i < o->t.run_count; i++)
		ns[n++] = o->t.runs[i].ns;
	profile_latency(e, ns, n);
	free(ns);
	profile_add_gap(o->a, e, "no event of a node: only whole runs can be compared");
}

static void finish(struct ort *o, struct scan *s)
{
	struct execution *e = o->e;
	bool whole_runs = o->t.run_count > 0;
	timeline_use_device(&o->t, is_async);
	int outside = timeline_finish(&o->t, o->a, e);
	e->framework = "onnxruntime";
	e->provider = main_provider(e);
	e->dtype = profile_dtype(e, LEVEL_LAYER);
	e->threads = o->threads;
	processors_keep(o);
	e->load_ns = isnan(o->loading_ns) ? o->starting_ns
		: isnan(o->starting_ns)   ? NAN
					  : o->loading_ns + o->starting_ns;
	profile_add_gap(o->a, e, scan_gap(s, o->a, "event"));
	if (whole_runs && !e->row_count)
		runs_alone(o);
	if (!whole_runs && e->row_count)
		profile_add_gap(o->a, e, "no complete run: times are sums over all events");
	else if (outside)
		profile_add_gap(o->a, e, arena_printf(o->a,
			"%d event%s of an incomplete run left out", outside, outside == 1 ? "" : "s"));
	if (scan_count(s) >= EVENTS_MOST)
		profile_add_gap(o->a, e, "ONNX Runtime records at most 1000000 events; profile fewer runs");
	if (o->odd)
		profile_add_gap(o->a, e, arena_printf(o->a,
			"%lld event%s without a time", (long long)o->odd, o->odd == 1 ? "" : "s"));
}

static int read_onnxruntime(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct ort o = { .a = a, .e = e, .loading_ns = NAN, .starting_ns = NAN };
	struct scan_item item;
	struct scan *s = scan_open(path, options, err);
	int got = -1;
	if (!s)
		return -1;
	while ((got = scan_next(s, &item, err)) == 1 && o.t.event_count < EVENTS_KEPT) {
		json_t *v = scan_parse(s, item.value);
		add(&o, v);
		if (json_object_get(json_object_get(v, "args"), STATS))
			threads_note(&o, item.value, json_object_get(v, "args"), s);
		json_decref(v);
	}
	if (got >= 0)
		finish(&o, s);
	if (got >= 0 && e->row_count == 0 && isnan(e->stats.median))
		got = error_set(err, "%s: no node ran in this profile%s%s; profile at least one run", path,
			*e->gaps ? ": " : "", e->gaps);
	scan_close(s);
	timeline_free(&o.t);
	hash_free(&o.nodes);
	hash_free(&o.fences);
	hash_free(&o.lanes);
	hash_free(&o.unnamed);
	str_free(&o.key);
	str_free(&o.base);
	free(o.below);
	return got < 0 ? -1 : 0;
}

const struct profile_reader profile_onnxruntime = {
	.kind = PROFILE_ONNXRUNTIME, .is = is_onnxruntime, .read = read_onnxruntime, .packed = true
};

/* ---- memory of the nodes */

/* What session.collect_node_memory_stats_to_file writes (onnxruntime/core/framework/resource_accountant.cc):
 * the most of all runs, bytes. The name ends in "_" and a hash; its commas are not quoted. */
#define MEMORY_BEGIN "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations"
enum { INPUTS, INITIALIZERS, OUTPUTS, TEMPORARIES, SIZES };

static bool is_memory(const struct profile_head *h)
{
	return h->n > sizeof(MEMORY_BEGIN) && !memcmp(h->bytes, MEMORY_BEGIN, sizeof(MEMORY_BEGIN) - 1);
}

/* Takes the sizes and the hash off the end of a line. Returns false for another line. */
static bool memory_parse(struct text *line, double *size)
{
	for (int i = SIZES - 1; i >= 0; i--) {
		const char *comma = line->n ? memrchr(line->p, ',', line->n) : NULL;
		if (!comma)
			return false;
		size[i] = text_number((struct text){ comma + 1, line->n - (size_t)(comma + 1 - line->p) });
		line->n = (size_t)(comma - line->p);
		if (!(size[i] >= 0 && size[i] < 1e18))
			return false;
	}
	while (line->n && line->p[line->n - 1] >= '0' && line->p[line->n - 1] <= '9')
		line->n--;
	line->n -= line->n && line->p[line->n - 1] == '_';
	return line->n > 0;
}

/* Returns the only row of the name; NULL: none, or several, which the file does not tell apart. */
static struct execution_row *row_of_node(struct arena *a, struct execution *e, struct hash *rows,
	struct text name)
{
	int64_t row = hash_find(rows, text_of(text_clean(a, name)));
	return row >= 0 ? &e->rows[row] : NULL;
}

static void memory_keep(struct arena *a, struct execution *e, double most)
{
	json_t *settings = *e->settings ? json_loads(e->settings, 0, NULL) : json_object();
	if (!json_is_object(settings))
		return;
	json_object_set_new(settings, "temp_bytes", json_real(most));
	char *text = json_dumps(settings, JSON_COMPACT);
	e->settings = arena_strndup(a, text, strlen(text));
	free(text);
	json_decref(settings);
}

/* Sets the sizes of the rows: outputs, if the profile lacks them, and temporaries, which are added. */
static int read_memory(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct text line;
	struct hash rows = { 0 };
	struct arena scratch = { 0 };
	double size[SIZES], most = 0;
	int got = -1, found = 0, other = 0;
	struct lines *l = lines_open(path, options, err);
	if (!l)
		return -1;
	for (int i = 0; i < e->row_count; i++) {
		bool layer = e->rows[i].level == LEVEL_LAYER;
		int64_t *at = layer ? hash_at(&rows, text_of(e->rows[i].name)) : NULL;
		if (at)
			*at = *at == -1 ? i : -2;
	}
	while ((got = lines_next(l, &line, err)) == 1) {
		if (text_begins(line, "#") || !text_trim(line).n)
			continue;
		bool good = memory_parse(&line, size);
		struct execution_row *r = good ? row_of_node(&scratch, e, &rows, line) : NULL;
		arena_clear(&scratch);
		other += !r;
		found += r != NULL;
		if (!r)
			continue;
		r->output_bytes = isnan(r->output_bytes) ? size[OUTPUTS] : r->output_bytes;
		r->output_bytes += size[TEMPORARIES];
		most = fmax(most, size[TEMPORARIES]);
	}
	if (found)
		memory_keep(a, e, most);
	if (other && found)
		profile_add_gap(a, e, arena_printf(a, "the memory of %d node%s belongs to no row", other,
						other == 1 ? "" : "s"));
	if (lines_is_cut(l))
		profile_add_gap(a, e, "the file of the memory is truncated");
	if (got == 0 && !found)
		got = error_set(err, "%s: has no node of the profile; give the files of one session", path);
	lines_close(l);
	hash_free(&rows);
	arena_free(&scratch);
	return got;
}

const struct profile_reader profile_onnxruntime_memory = { .kind = PROFILE_ONNXRUNTIME_MEMORY,
	.is = is_memory,
	.read = read_memory,
	.packed = true,
	.completes = 1u << PROFILE_ONNXRUNTIME };
