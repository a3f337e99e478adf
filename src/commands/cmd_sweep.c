/* benanza sweep: the bound at several batches, types and dimensions. */
#include "config.h"

#include "commands/each.h"
#include "commands/report.h"
#include "session/type_lack.h"
#include "session/variant.h"
#include "table/tables/sweep.h"

#include <stdlib.h>
#include <string.h>

#define SERIES_MOST 256 /* values of a dimension */
#define NAMES_MOST 8
#define BAR_END 120    /* columns of the table with its bars, at most */

struct sweep_options {
	const char *over; /* --over; NULL: none */
};

static const struct option_row sweep_rows[] = {
	{ "over", 0, "LIST", OWN_TEXT(sweep_options, over),
		"values of a symbolic dimension: sequence=64,128,256; several dimensions, separated by ';', "
		"change together" },
	{ 0 }
};

/* Dimensions that change together, and their values. */
struct over {
	int name_count, value_count; /* 0 names: one value, nothing changes */
	struct text name[NAMES_MOST];
	int64_t value[NAMES_MOST][SERIES_MOST];
};

/* Reads "NAME=V,V" of length n. */
static int name_parse(struct over *v, const char *text, size_t n, struct error *err)
{
	const char *equals = memchr(text, '=', n), *end = text + n;
	int count = 0;
	if (!equals || equals == text || v->name_count == NAMES_MOST)
		return error_set(err, "--over: '%.*s' is not NAME=V1,V2,... (at most %d names)",
			(int)(n < 60 ? n : 60), text, NAMES_MOST);
	int64_t *values = v->value[v->name_count];
	for (const char *p = equals + 1; p <= end; count++) {
		size_t length = 0;
		while (p + length < end && p[length] != ',')
			length++;
		if (count == SERIES_MOST || !text_to_int64((struct text){ p, length }, &values[count]) ||
			values[count] < 0)
			return error_set(err, "--over: '%.*s': give 1 to %d numbers, separated by commas",
				(int)(n < 60 ? n : 60), text, SERIES_MOST);
		p += length + 1;
	}
	struct text name = { text, (size_t)(equals - text) };
	if (text_is(name, "batch"))
		return error_set(err, "--over: give batches with -b");
	for (int i = 0; i < v->name_count; i++)
		if (text_equal(v->name[i], name))
			return error_set(err, "--over: '%.*s' is given twice", (int)(n < 60 ? n : 60), text);
	if (v->name_count && count != v->value_count)
		return error_set(err, "--over: '%.*s' has %d values, the first dimension has %d",
			(int)(n < 60 ? n : 60), text, count, v->value_count);
	v->value_count = count;
	v->name[v->name_count++] = name;
	return 0;
}

static int over_parse(struct over *v, const char *text, struct error *err)
{
	*v = (struct over){ .value_count = 1 };
	if (text && !*text)
		return error_set(err, "--over: give NAME=V1,V2,...");
	while (text && *text) {
		size_t n = strcspn(text, ";");
		if (name_parse(v, text, n, err))
			return -1;
		text += n + (text[n] != 0);
	}
	return 0;
}

static int batch_compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* The sweep while it grows. */
struct sweep {
	struct session *s; /* with the first batch and type */
	struct options *o;
	struct over over;
	struct dim_binding (*dims)[NAMES_MOST]; /* of each value of the dimensions */
	struct arena arena;
	struct report_sweep report;
	bool gaps;
};

/* Appends the point of a variant. */
static void row_add(struct sweep *w, const struct variant_ground *g, int series, bool first)
{
	struct arena a = { 0 };
	const struct analysis *x = variant_analysis(g, &a);
	struct sweep_row *row = &w->report.rows[w->report.count++];
	struct type_lack lack = type_lack_of(g->on.plan, x, &w->arena);
	*row = (struct sweep_row){ .point = sweep_point_of(&g->on, x),
		.type = plan_type_name(g->on.plan),
		.lack = lack.count ? type_lack_text(&lack, &w->arena) : NULL,
		.dim_count = w->over.name_count,
		.dims = w->dims[series],
		.first = first,
		.crossovers = -1,
		.unmeasured = x->unmeasured_problems };
	row->algorithms = sweep_algorithms_of(x, &w->arena);
	if (!first)
		row->crossovers = sweep_crossovers(&row[-1].algorithms, &row->algorithms);
	w->gaps |= !row->point.complete;
	arena_free(&a);
}

/* All batches in one data type, with value number `at` of the dimensions. */
static int series_add(struct sweep *w, int at, enum dtype dtype, struct error *err)
{
	int64_t batches[CONFIG_LIST_MAX];
	struct sweep_point points[CONFIG_LIST_MAX];
	int count = options_batches(w->o, batches), begin = w->report.count, bad = 0;
	qsort(batches, (size_t)count, sizeof(batches[0]), batch_compare);
	for (int i = 0; i < count && !bad; i++) {
		struct variant v = session_variant(w->s);
		struct variant_ground g;
		v.batch = batches[i];
		v.dtype = dtype;
		v.dim_count = w->over.name_count;
		v.dims = w->dims[at];
		bad = variant_open(w->s, &v, &g, err);
		if (!bad)
			row_add(w, &g, at, i == 0);
		else if (bad != VARIANT_UNBOUND)
			v.dim_count && !i ? options_blame("over", err)
					  : error_context(err, "%s", session_model_name(w->s));
		variant_close(&g);
		session_plans_trim(w->s);
	}
	if (bad)
		return -1;
	for (int i = 0; i < count; i++)
		points[i] = w->report.rows[begin + i].point;
	sweep_best(points, count);
	for (int i = 0; i < count; i++)
		w->report.rows[begin + i].point = points[i];
	return 0;
}

static void sweep_print(struct sweep *w)
{
	const struct session *s = w->s;
	struct table t = { .ascii = w->o->ascii, .bar_end = report_columns(stdout) };
	t.bar_end = t.bar_end > BAR_END ? BAR_END : t.bar_end;
	sweep_table(&t, s, &w->report);
	if (w->o->json)
		table_print_json(&t, stdout);
	else if (w->o->csv)
		table_print_csv(&t, true, stdout);
	else {
		char words[SCENARIO_TEXT_SIZE];
		int most = report_most(stdout);
		struct scenario with = *session_scenario(s);
		with.matrix = w->report.rows[w->report.count - 1].point.matrix;
		scenario_text(&with, words, sizeof(words));
		report_path_line(stdout, most, "", session_model(s)->path,
			arena_printf(&w->arena, "  %s", words));
		report_dims_text(s, "dimensions: ", w->report.rows[0].dims, w->report.rows[0].dim_count,
			stdout);
		report_device_line(stdout, 0, session_device(s)->model, session_device(s)->stack);
		putchar('\n');
		table_print_text(&t, most, stdout);
	}
	table_free(&t);
}

/* The dimensions of each series of values, in the arena. */
static void dims_make(struct sweep *w)
{
	const struct over *v = &w->over;
	w->dims = arena_alloc(&w->arena, sizeof(*w->dims) * (size_t)v->value_count);
	for (int i = 0; i < v->value_count; i++)
		for (int k = 0; k < v->name_count; k++)
			w->dims[i][k] = (struct dim_binding){ .name = v->name[k], .value = v->value[k][i] };
}

static int cmd_sweep(struct options *o, struct error *err)
{
	const struct sweep_options *own = o->own;
	struct sweep w = { .o = o };
	enum dtype dtypes[CONFIG_LIST_MAX];
	int64_t batches[CONFIG_LIST_MAX];
	int dtype_count = options_dtypes(o, dtypes), batch_count = options_batches(o, batches), bad;
	if (over_parse(&w.over, own->over, err))
		return EXIT_BAD;
	w.s = options_session(o, 0, SESSION_DB_READ, err);
	if (!w.s)
		return EXIT_BAD;
	dims_make(&w);
	w.report.rows =
		ARENA_ARRAY(&w.arena, struct sweep_row, w.over.value_count * dtype_count * batch_count);
	bad = options_select(w.s, batches[0], dtypes[0], err) ? EXIT_BAD : EXIT_DONE;
	if (!bad)
		bad = options_connected(session_connect(w.s, QUEUE_HELLO_LIMIT, err));
	if (!bad)
		each_notes(w.s, o);
	for (int i = 0; i < w.over.value_count && !bad; i++)
		for (int k = 0; k < dtype_count && !bad; k++)
			bad = series_add(&w, i, dtypes[k], err) ? EXIT_BAD : EXIT_DONE;
	if (!bad)
		sweep_print(&w);
	session_close(w.s);
	arena_free(&w.arena);
	return bad ? bad : w.gaps ? EXIT_GAPS : EXIT_DONE;
}

const struct command command_sweep = {
	.name = "sweep",
	.arguments = "MODEL",
	.least = 1,
	.most = 1,
	.text = "batch x data type x dimensions: latency, throughput, memory, best batch",
	.about = "Prints the bound of every batch (-b), data type (-t) and value of a dimension (--over), "
		 "with throughput, memory, limit, and the best batch: the last one until which each "
		 "doubling gained more than 5%. Measures nothing: run bench with the same lists first, "
		 "or name a recorded or described device.",
	.examples = { "benanza sweep -d h100 -b 1,2,4,8,16,32 -t f32,f16 model.onnx",
		"benanza sweep -d h100 --csv -b 1,8,32 model.onnx" },
	.own = sweep_rows,
	.own_size = sizeof(struct sweep_options),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_json,
		&options_csv },
	.run = cmd_sweep,
};
