/* Reads the counters of OpenVINO's benchmark_app. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/read/lines.h"
#include "profile/read/reader.h"
#include "profile/read/scan.h"

/* Counters of OpenVINO's benchmark_app, with -report_type detailed_counters (of each infer request) or
 * average_counters: a list of nodes a request, as CSV or JSON, times in ms. */
#define MS 1e6
#define NODES_MOST (1 << 20)
#define FIELDS_MOST 16
#define CSV_BEGIN "layerName;execStatus;layerType;execType;"

/* A node of one request. */
struct node {
	struct text name, status, op, kernel;
	double ms;
};

struct openvino {
	struct arena *a;
	struct execution *e;
	struct hash rows;     /* name -> row */
	struct times {
		double *ns;   /* of the requests in which it ran */
		int n, capacity, request;
	} *times;             /* per row */
	int times_capacity, row_capacity;
	int requests;
	bool averaged;        /* their average was read */
	int64_t odd, dropped; /* nodes without a plausible time; beyond NODES_MOST */
};

static bool is_openvino(const struct profile_head *h)
{
	size_t n = strlen(CSV_BEGIN);
	return (h->n > n && !memcmp(h->bytes, CSV_BEGIN, n)) || head_has_key(h, '{', "avg_performance") ||
		head_has_key(h, '{', "detailed_performance");
}

/* Returns the type at the end of an implementation: "brgconv_avx512_bf16"; "" if unknown. */
static const char *type_of(struct text kernel)
{
	static const char *const types[][2] = { { "f32", "f32" }, { "fp32", "f32" }, { "f16", "f16" },
		{ "fp16", "f16" }, { "bf16", "bf16" }, { "i8", "s8" }, { "u8", "u8" }, { "i32", "s32" },
		{ "f64", "f64" }, { "i64", "s64" } };
	size_t at = kernel.n;
	while (at && kernel.p[at - 1] != '_')
		at--;
	struct text end = { kernel.p + at, kernel.n - at };
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (end.n == strlen(types[i][0]) && text_contains(end, text_of(types[i][0])))
			return types[i][1];
	return "";
}

static int row_of(struct openvino *o, const struct node *node)
{
	const char *name = text_clean(o->a, node->name);
	int64_t *at = hash_at(&o->rows, text_of(name));
	if (*at >= 0)
		return (int)*at;
	*at = o->e->row_count;
	struct execution_row *r = execution_add(o->a, o->e, &o->row_capacity);
	r->level = LEVEL_LAYER;
	r->name = name;
	r->op = text_clean(o->a, node->op);
	r->kernel = text_clean(o->a, node->kernel);
	r->dtype = type_of(node->kernel);
	r->provider = "OpenVINO";
	VEC_GROW(o->times, *at, o->times_capacity);
	o->times[*at] = (struct times){ .request = -1 };
	return (int)*at;
}

/* Forgets the rows and their times. */
static void openvino_clear(struct openvino *o)
{
	for (int i = 0; i < o->e->row_count; i++) {
		free(o->times[i].ns);
		o->times[i] = (struct times){ 0 };
	}
	hash_free(&o->rows);
	o->e->row_count = o->requests = 0;
	o->odd = o->dropped = 0;
}

/* Adds a node that ran; the others are parts of fused nodes, or were removed. */
static void add_node(struct openvino *o, const struct node *node)
{
	if (!text_is(node->status, "EXECUTED") && !text_is(node->status, "Status.EXECUTED"))
		return;
	if (!profile_is_time(node->ms * MS)) {
		o->odd++;
		return;
	}
	if (o->e->row_count >= NODES_MOST) {
		o->dropped++;
		return;
	}
	int row = row_of(o, node);
	struct times *t = &o->times[row];
	if (t->request != o->requests) {
		VEC_GROW(t->ns, t->n, t->capacity);
		t->ns[t->n++] = 0;
	}
	t->request = o->requests;
	t->ns[t->n - 1] += node->ms * MS;
}

static int read_csv(struct openvino *o, const char *path, const struct profile_options *options,
	struct error *err)
{
	struct text line, f[FIELDS_MOST];
	struct lines *l = lines_open(path, options, err);
	int got = -1, lines = 0;
	if (!l)
		return -1;
	while ((got = lines_next(l, &line, err)) == 1) {
		struct arena scratch = { 0 };
		int n = lines_fields(&scratch, line, ';', f, FIELDS_MOST);
		lines++;
		if (n > 4 && text_is(f[0], "layerName"))
			o->requests++;
		else if (n > 4 && f[1].n)
			add_node(o, &(struct node){ f[0], f[1], f[2], f[3], text_number(f[4]) });
		else if (n <= 4 && text_trim(line).n)
			o->odd++;
		arena_free(&scratch);
	}
	if (lines_is_cut(l))
		profile_add_gap(o->a, o->e, arena_printf(o->a, "truncated after %d lines", lines));
	lines_close(l);
	return got;
}

/* A file with the counters of each request may have their average, too: that is no further request. */
static void add_request(void *user, struct text key, const json_t *request)
{
	struct openvino *o = user;
	const json_t *nodes = json_object_get(request, "nodes");
	bool average = text_is(key, "avg_performance");
	if (!average && !text_is(key, "detailed_performance"))
		return;
	if (o->averaged != average && o->requests) {
		if (average)
			return;
		openvino_clear(o);
	}
	o->averaged = average;
	o->requests += json_array_size(nodes) > 0;
	for (size_t i = 0; i < json_array_size(nodes); i++) {
		const json_t *v = json_array_get(nodes, i);
		add_node(o, &(struct node){ text_of(json_string_at(v, "name", "")),
			text_of(json_string_at(v, "status", "")), text_of(json_string_at(v, "node_type", "")),
			text_of(json_string_at(v, "exec_type", "")),
			json_number_or_nan(json_object_get(v, "real_time")) });
	}
}

static void finish(struct openvino *o)
{
	struct execution *e = o->e;
	for (int i = 0; i < e->row_count; i++) {
		profile_row_times(&e->rows[i], o->times[i].ns, o->times[i].n, o->requests);
		e->rows[i].calls = 1;
	}
	e->framework = "openvino";
	e->dtype = profile_dtype(e, LEVEL_LAYER);
	e->settings = arena_printf(o->a, "{\"runs\":%d}", o->requests);
	if (o->odd)
		profile_add_gap(o->a, e, arena_printf(o->a, "%" PRId64 " node%s without a time", o->odd,
						o->odd == 1 ? "" : "s"));
	if (o->dropped)
		profile_add_gap(o->a, e,
			arena_printf(o->a, "%" PRId64 " further nodes not read", o->dropped));
}

static int read_openvino(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct openvino o = { .a = a, .e = e };
	int got = read_csv(&o, path, options, err);
	if (got == 0 && !o.requests) {
		e->gaps = "";
		got = scan_each(a, path, options, e, "member", add_request, &o, err);
	}
	if (got == 0 && o.requests)
		finish(&o);
	if (got == 0 && e->row_count == 0)
		got = error_set(err, "%s: no node was executed%s%s; run benchmark_app -report_type "
			"detailed_counters again", path, *e->gaps ? ": " : "", e->gaps);
	for (int i = 0; i < e->row_count; i++)
		free(o.times[i].ns);
	free(o.times);
	hash_free(&o.rows);
	return got;
}

const struct profile_reader profile_openvino = {
	.kind = PROFILE_OPENVINO, .is = is_openvino, .read = read_openvino, .packed = true
};
