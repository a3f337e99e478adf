/* JSON of Google Benchmark. */
#include "config.h"

#include "profile/bench/benchmarks_gather.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "profile/read/scan.h"
#include "store/store.h"
#include "wire/wire.h"

#define NAME_MOST 4096
#define FACT_MOST 128

/* What SCOPE says of the machine as keys "cudnn_version:7.5.1", whose values have no meaning. */
enum fact {
	FACT_GPU,
	FACT_CUDNN,
	FACT_CUBLAS,
	FACT_RUNTIME,
	FACT_DRIVER,
	FACT_CAPABILITY,
	FACT_HOST,
	FACT_COUNT
};
static const char *const fact_keys[FACT_COUNT] = { "gpu_name:", "cudnn_version:", "cublas_version:",
	"cuda_runtime_version:", "cuda_driver_version:", "compute_capability:", "host_name:" };

/* An element of the array `benchmarks`. */
struct entry {
	const char *name, *run_type, *run_name, *error, *unit;
	bool failed;
	double real, iterations, layout;
	struct text own; /* the value of the key "benanza" */
	const char *facts[FACT_COUNT];
	struct scope_benchmark benchmark; /* without what the name says */
};

struct reader {
	struct benchmarks *b;
	struct scan *scan;
	struct gather_runs *runs;
	struct arena arena; /* of an element */
	struct hash names;  /* names of benchmarks that have single runs in this file */
	int64_t date;
	bool own; /* the file's device is devices[0] */
};

/* "2019-09-30 10:25:24", or as in ISO 8601 with the offset; 0: another text. Without an offset as UTC. */
static int64_t date_of(const char *text)
{
	struct tm at = { 0 };
	int year, month, n = 0, hours = 0, minutes = 0;
	char sign = '+';
	if (!text ||
		sscanf(text, "%4d-%2d-%2d%*[ T]%2d:%2d:%2d%n", &year, &month, &at.tm_mday, &at.tm_hour,
			&at.tm_min, &at.tm_sec, &n) != 6)
		return 0;
	if (sscanf(text + n, "%c%2d:%2d", &sign, &hours, &minutes) != 3)
		hours = minutes = 0;
	at.tm_year = year - 1900;
	at.tm_mon = month - 1;
	int64_t seconds = (int64_t)timegm(&at), offset = hours * 3600 + minutes * 60;
	seconds += sign == '-' ? offset : -offset;
	return seconds > 0 ? seconds : 0;
}

static int read_context(struct reader *r, struct text value, struct error *err)
{
	struct text rest = value, key, member;
	size_t at;
	struct device d;
	while (scan_member(r->scan, &rest, &key, &member) == 1) {
		if (text_is(key, "date"))
			r->date = date_of(scan_string(&r->arena, member, 64));
		if (!text_is(key, "benanza") || r->own)
			continue;
		char *hello = arena_strndup(&r->arena, member.p, member.n);
		int found = wire_find_hello((struct text){ hello, member.n }, &r->b->arena, &d, &at, err);
		if (found < 0)
			return -1;
		if (!found)
			continue;
		r->own = true;
		VEC_GROW(r->b->devices, r->b->device_count, r->b->device_capacity);
		r->b->devices[r->b->device_count++] = d;
	}
	return 0;
}

/* ---- elements */

static const struct number {
	const char *key;
	size_t offset; /* in struct scope_benchmark */
} counters[] = {
	{ "advised_convolution_algorithm", offsetof(struct scope_benchmark, advised) },
	{ "workspace_bytes", offsetof(struct scope_benchmark, workspace_bytes) },
	{ "math_type", offsetof(struct scope_benchmark, math_type) },
};
#define AT(field, i) (offsetof(struct scope_benchmark, field) + (i) * sizeof(double))
static const struct number arguments[] = {
	{ "filter_count", AT(filters, 0) },
	{ "filter_height", AT(window, 0) },
	{ "filter_width", AT(window, 1) },
	{ "pad_height", AT(pad, 0) },
	{ "pad_width", AT(pad, 1) },
	{ "stride_height", AT(stride, 0) },
	{ "stride_width", AT(stride, 1) },
	{ "dilation_height", AT(dilation, 0) },
	{ "dilation_width", AT(dilation, 1) },
	{ "group", AT(group, 0) },
	{ "input[0]", AT(input, 0) },
	{ "input[1]", AT(input, 1) },
	{ "input[2]", AT(input, 2) },
	{ "input[3]", AT(input, 3) },
	{ "input[4]", AT(input, 4) },
	{ "input[5]", AT(input, 5) },
	{ "input[6]", AT(input, 6) },
	{ "input[7]", AT(input, 7) },
};

static void number_set(
	struct scope_benchmark *b, const struct number *rows, size_t count, struct text key, double value)
{
	for (size_t i = 0; i < count; i++)
		if (text_is(key, rows[i].key))
			memcpy((char *)b + rows[i].offset, &value, sizeof(value));
}

static void read_fact(struct reader *r, struct entry *e, struct text key)
{
	for (int i = 0; i < FACT_COUNT; i++) {
		size_t n = strlen(fact_keys[i]);
		if (key.n > n && key.n - n < FACT_MOST && memcmp(key.p, fact_keys[i], n) == 0)
			e->facts[i] = text_clean(&r->arena, (struct text){ key.p + n, key.n - n });
	}
}

static void read_member(struct reader *r, struct entry *e, struct text key, struct text value)
{
	struct arena *a = &r->arena;
	const char **const texts[] = { &e->name, &e->run_type, &e->run_name, &e->error, &e->error, &e->unit };
	static const char *const keys[] = { "name", "run_type", "run_name", "error_message", "skip_message",
		"time_unit" };
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (text_is(key, keys[i])) {
			const char *text = scan_string(a, value, NAME_MOST);
			*texts[i] = text ? text : *texts[i];
			return;
		}
	if (text_is(key, "benanza"))
		e->own = value;
	else if (text_is(key, "error_occurred") || text_is(key, "skipped"))
		e->failed |= text_is(value, "true");
	else if (text_is(key, "real_time"))
		e->real = scan_number(value);
	else if (text_is(key, "iterations"))
		e->iterations = scan_number(value);
	else if (text_is(key, "x_tensor_layout"))
		e->layout = scan_number(value);
	else if (memchr(key.p, ':', key.n))
		read_fact(r, e, key);
	else
		number_set(&e->benchmark, counters, sizeof(counters) / sizeof(counters[0]), key,
			scan_number(value));
}

/* Of a file without `run_type`, from before repetitions were marked. */
static bool has_aggregate_name(const char *name)
{
	static const char *const suffixes[] = { "_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS" };
	size_t n = strlen(name);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t s = strlen(suffixes[i]);
		if (n > s && strcmp(name + n - s, suffixes[i]) == 0)
			return true;
	}
	return false;
}

/* Returns true for mean, median ... of runs; counts it if the file does not have these. */
static bool is_aggregate(struct reader *r, const struct entry *e)
{
	bool is = *e->run_type ? strcmp(e->run_type, "aggregate") == 0 : has_aggregate_name(e->name);
	const char *name = *e->run_name ? e->run_name : e->name, *suffix = strrchr(name, '_');
	bool cut = is && !*e->run_name && suffix;
	size_t n = cut ? (size_t)(suffix - name) : strlen(name);
	struct text key = { name, n };
	if (!is && hash_find(&r->names, key) < 0)
		*hash_at(&r->names, (struct text){ arena_strndup(&r->b->arena, name, n), n }) = 1;
	if (is && hash_find(&r->names, key) < 0) {
		r->b->entries++;
		benchmarks_leave_out(
			r->b, "mean, median or deviation of runs that the file does not have", key);
	}
	return is;
}

static double nanoseconds(const struct entry *e)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(e->unit, units[i].unit) == 0)
			return e->real * units[i].ns;
	return NAN;
}

/* ---- runs of SCOPE */

/* Sets what the name says. Returns true if the time is that between two events on the GPU. */
static bool read_arguments(struct scope_benchmark *b, struct text t)
{
	bool events = false;
	while (t.n) {
		const char *slash = memchr(t.p, '/', t.n);
		struct text one = { t.p, slash ? (size_t)(slash - t.p) : t.n };
		const char *colon = memchr(one.p, ':', one.n);
		int64_t value;
		events |= text_is(one, "manual_time");
		if (colon &&
			text_to_int64(
				(struct text){ colon + 1, (size_t)(one.p + one.n - colon - 1) }, &value))
			number_set(b, arguments, sizeof(arguments) / sizeof(arguments[0]),
				(struct text){ one.p, (size_t)(colon - one.p) }, (double)value);
		t.p += one.n + (slash != NULL);
		t.n -= one.n + (slash != NULL);
	}
	return events;
}

static const char *stack_of(struct reader *r, const struct entry *e)
{
	static const struct {
		enum fact fact;
		const char *name;
	} parts[] = { { FACT_CUDNN, "cuDNN" }, { FACT_CUBLAS, "cuBLAS" }, { FACT_RUNTIME, "CUDA" },
		{ FACT_DRIVER, "driver" } };
	const char *stack = "";
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (e->facts[parts[i].fact])
			stack = arena_printf(
				&r->arena, "%s%s %s, ", stack, parts[i].name, e->facts[parts[i].fact]);
	return arena_printf(&r->arena, "%sSCOPE", stack);
}

static const char *attributes_of(struct reader *r, const struct entry *e)
{
	json_t *tree = json_pack("{s:s}", "source", "google-benchmark");
	if (e->facts[FACT_CAPABILITY])
		json_object_set_new(
			tree, "compute_capability", json_text(text_of(e->facts[FACT_CAPABILITY])));
	if (e->facts[FACT_HOST])
		json_object_set_new(tree, "host", json_text(text_of(e->facts[FACT_HOST])));
	char *text = json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS);
	const char *kept = arena_strndup(&r->arena, text, strlen(text));
	free(text);
	json_decref(tree);
	return kept;
}

static void scope_add(struct reader *r, struct entry *e)
{
	struct scope_benchmark *s = &e->benchmark;
	struct text rest, name = text_of(e->name);
	const char *why = NULL;
	if (!scope_name(name, s, &rest))
		why = "a benchmark of another program";
	else if (!read_arguments(s, rest))
		why = "a benchmark that is not timed between events on the GPU (manual_time)";
	else if (!e->failed && !(nanoseconds(e) > 0 && e->iterations >= 1 && e->iterations < 0x1p48))
		why = "a benchmark without a time";
	if (why) {
		r->b->entries++;
		benchmarks_leave_out(r->b, why, name);
		return;
	}
	struct benchmarks_run run = { .name = name,
		.model = "",
		.stack = "",
		.attributes = "",
		.compute_capability = NAN,
		.ns = nanoseconds(e),
		.iterations = e->failed ? 0 : (int64_t)e->iterations,
		.failure = e->failed ? (*e->error ? e->error : "failed") : NULL,
		.measured_at = r->date };
	if (e->facts[FACT_GPU]) {
		run.model = e->facts[FACT_GPU];
		run.stack = stack_of(r, e);
		run.attributes = attributes_of(r, e);
	}
	if (e->facts[FACT_CAPABILITY])
		run.compute_capability = atof(e->facts[FACT_CAPABILITY]);
	s->before_tf32 =
		run.compute_capability < 8 || (e->facts[FACT_CUDNN] && atof(e->facts[FACT_CUDNN]) < 8);
	s->order = e->layout == 0 ? SCOPE_NCHW : e->layout == 1 ? SCOPE_NHWC : SCOPE_ORDER_UNKNOWN;
	run.benchmark = *s;
	gather_runs_add(r->runs, &run);
}

/* ---- results of benanza */

static bool is_result(const struct wire_message *m)
{
	if (m->type != WIRE_RESULT || !wire_is_problem(m) || store_result_fault(&m->result))
		return false;
	struct problem *p = base_calloc(1, sizeof(*p));
	bool good = problem_parse(text_of(m->result.problem), p, NULL) == 0;
	free(p);
	return good;
}

static void own_add(struct reader *r, const struct entry *e)
{
	struct benchmarks *b = r->b;
	struct wire_message m;
	bool parsed = wire_parse(e->own.p, e->own.n, &m, NULL) == 0, good = parsed && is_result(&m);
	b->entries++;
	if (good && r->own) {
		VEC_GROW(b->results, b->result_count, b->result_capacity);
		b->results[b->result_count++] = (struct benchmarks_result){
			.finished = json_is_true(json_object_get(m.json, "finished")),
			.result = result_copy(&b->arena, &m.result),
		};
	} else {
		benchmarks_leave_out(b, good ? "a result without its device" : "an invalid result of benanza",
			text_of(e->name));
	}
	if (parsed)
		wire_free(&m);
}

static void read_entry(struct reader *r, struct text value)
{
	struct entry e = { .name = "",
		.run_type = "",
		.run_name = "",
		.error = "",
		.unit = "ns",
		.real = NAN,
		.iterations = NAN,
		.layout = NAN };
	struct scope_benchmark *s = &e.benchmark;
	struct text rest = value, key, member;
	int got;
	*s = (struct scope_benchmark){ .filters = NAN,
		.group = NAN,
		.advised = NAN,
		.workspace_bytes = NAN,
		.math_type = NAN,
		.order = SCOPE_ORDER_UNKNOWN };
	for (int i = 0; i < SCOPE_INPUTS; i++)
		s->input[i] = NAN;
	for (int i = 0; i < 2; i++)
		s->window[i] = s->pad[i] = s->stride[i] = s->dilation[i] = NAN;
	while ((got = scan_member(r->scan, &rest, &key, &member)) == 1)
		read_member(r, &e, key, member);
	if (got < 0)
		return; /* counted by scan_member */
	if (e.own.n)
		own_add(r, &e);
	else if (!r->own && !is_aggregate(r, &e))
		scope_add(r, &e);
}

int benchmarks_read_json(
	const char *path, const struct profile_options *options, struct benchmarks *b, struct error *err)
{
	struct reader r = { .b = b };
	struct scan_item item;
	int got = -1, bad = 0;
	bool any = false;
	r.scan = scan_open(path, options, err);
	if (!r.scan)
		return -1;
	r.runs = gather_runs_new(b);
	while (!bad && (got = scan_next(r.scan, &item, err)) == 1) {
		arena_clear(&r.arena);
		any |= text_is(item.key, "benchmarks");
		if (text_is(item.key, "context"))
			bad = read_context(&r, item.value, err);
		else if (text_is(item.key, "benchmarks"))
			read_entry(&r, item.value);
	}
	if (bad)
		error_context(err, "%s", path);
	gather_runs_end(r.runs);
	b->gap = scan_gap(r.scan, &b->arena, "benchmark");
	if (!bad && got == 0 && !any)
		bad = error_set(err,
			"%s: has no \"benchmarks\"; give a file that Google Benchmark wrote with "
			"--benchmark_out_format=json",
			path);
	scan_close(r.scan);
	hash_free(&r.names);
	arena_free(&r.arena);
	return bad || got < 0 ? -1 : 0;
}
