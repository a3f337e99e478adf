/* Executions: their fields, sums of their rows, and the numbers that are refused. */
#include "config.h"

#include "problem/execution.h"
#include "problem/execution_field.h"
#include "problem/execution_figure.h"
#include "execution_sum.h"
#include "tap.h"

#include <stddef.h>
#include <string.h>

#define TIME_MOST 1e15
#define AMOUNT_MOST 1e18
#define COUNT_MOST INT64_C(1000000000000)
#define DATE_MOST INT64_C(253402300799)

/* Every field has a key of its own; a word's names are read back, and another is not. */
static void check_fields(const struct execution_field *f, int count, const char *what)
{
	int twice = 0, bad = 0, words = 0;
	for (int i = 0; i < count; i++) {
		for (int k = 0; k < i; k++)
			twice += strcmp(f[i].key, f[k].key) == 0;
		if (f[i].type != FIELD_WORD)
			continue;
		words++;
		for (int value = 0; value < 2; value++) /* each has two words at least */
			bad += !f[i].name(value) || f[i].parse(f[i].name(value)) != value;
		bad += f[i].parse("no such word") != -1;
	}
	ok(count > 10 && !twice, "%s: %d fields, %d twice", what, count, twice);
	ok(words > 0 && !bad, "%s: %d fields of words are read back", what, words);
}

static void test_fields(void)
{
	int count;
	const struct execution_field *f = execution_fields(&count);
	check_fields(f, count, "execution");
	f = execution_row_fields(&count);
	check_fields(f, count, "row");
	for (int i = 0; i < LEVEL_COUNT; i++)
		is_int(execution_level_parse(execution_level_name((enum execution_level)i)), i, "level %d",
			i);
	is_int(execution_level_parse("floor"), -1, "no such level");
}

static size_t size_of(enum field_type type)
{
	return type == FIELD_NUMBER ? sizeof(double) : type == FIELD_INT64 ? sizeof(int64_t) :
		type == FIELD_INT || type == FIELD_WORD ? sizeof(int) : type == FIELD_FLAG ? sizeof(bool) :
		sizeof(const char *);
}

/* Every member of the struct is in the table: between two fields there is only padding. is_covered: has a
 * byte for each of the struct's, set for members that are no field. */
static void check_members(const struct execution_field *f, int count, bool *is_covered, size_t size,
	const char *what)
{
	size_t gap = 0, most = 0;
	int twice = 0;
	for (int i = 0; i < count; i++)
		for (size_t k = 0; k < size_of(f[i].type); k++) {
			twice += is_covered[f[i].offset + k];
			is_covered[f[i].offset + k] = true;
		}
	for (size_t k = 0; k < size; k++) {
		gap = is_covered[k] ? 0 : gap + 1;
		most = gap > most ? gap : most;
	}
	ok(most < sizeof(void *), "%s: every member is in the table of fields", what);
	is_int(twice, 0, "%s: no member is in it twice", what);
}

static void test_members(void)
{
	bool execution[sizeof(struct execution)] = { 0 }, row[sizeof(struct execution_row)] = { 0 };
	int count;
	memset(execution + offsetof(struct execution, row_count), true, sizeof(int));
	memset(execution + offsetof(struct execution, rows), true, sizeof(struct execution_row *));
	const struct execution_field *f = execution_fields(&count);
	check_members(f, count, execution, sizeof(execution), "execution");
	f = execution_row_fields(&count);
	check_members(f, count, row, sizeof(row), "row");
}

/* An execution with a time. */
static struct execution sound(void)
{
	struct execution e = execution_new();
	e.stats.n = 10;
	e.stats.median = 100;
	return e;
}

static void is_fault(const struct execution *e, const char *part, const char *what)
{
	const char *fault = execution_fault(e);
	if (!ok(part ? fault && strstr(fault, part) : !fault, "%s", what))
		printf("# %s\n", fault ? fault : "no fault");
}

static void test_numbers(void)
{
	struct execution e = sound();
	is_fault(&e, NULL, "only a median");
	/* the statistics in their order: each may equal the next, but not exceed it */
	double *const order[][2] = {
		{ &e.stats.min, &e.stats.q1 },
		{ &e.stats.q1, &e.stats.median },
		{ &e.stats.median, &e.stats.q3 },
		{ &e.stats.min, &e.stats.median },
		{ &e.stats.median, &e.p99_ns },
		{ &e.p90_ns, &e.p99_ns },
		{ &e.stats.lo, &e.stats.median },
		{ &e.stats.median, &e.stats.hi },
	};
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const char *part = i < 6 ? "quantiles out of order" : "median outside its interval";
		e = sound();
		*order[i][0] = *order[i][1] = 100;
		is_fault(&e, NULL, "equal statistics");
		*order[i][0] = 100.1;
		if (order[i][0] != &e.stats.median)
			is_fault(&e, part, "a smaller statistic above a larger one");
		*order[i][0] = 100;
		*order[i][1] = 99.9;
		if (order[i][1] != &e.stats.median)
			is_fault(&e, part, "a larger statistic below a smaller one");
	}
	e = sound();
	e.status = STATUS_FAILED;
	is_fault(&e, "though its status is not ok", "a failure with a time");
	e.stats.median = NAN;
	is_fault(&e, NULL, "a failure without");
	e = sound();
	e.stats.median = 0;
	is_fault(&e, "latency of zero", "no time at all");
	e.stats = (struct sample_stats){ .n = 9, .median = 1e-300, .lo = NAN, .hi = NAN };
	is_fault(&e, "latency below 1 ns", "a time shorter than any run");
}

static void test_ranges(void)
{
	struct execution e;
	int64_t *const counts[] = { &e.stats.n, &e.stats.discarded };
	for (int i = 0; i < 2; i++) {
		e = sound();
		*counts[i] = 0;
		is_fault(&e, NULL, "no samples");
		*counts[i] = COUNT_MOST;
		is_fault(&e, NULL, "many samples");
		*counts[i] = COUNT_MOST + 1;
		is_fault(&e, "sample count", "too many");
		*counts[i] = -1;
		is_fault(&e, "sample count", "a negative count");
	}
	e = sound();
	e.measured_at = DATE_MOST;
	is_fault(&e, NULL, "the last date");
	e.measured_at = DATE_MOST + 1;
	is_fault(&e, "date", "a date after it");
	e.measured_at = -1;
	is_fault(&e, "date", "a date before 1970");
	static const struct {
		double load_ns, memory;
		const char *fault;
	} rows[] = {
		{ 0, 0, NULL }, { TIME_MOST, AMOUNT_MOST, NULL }, { NAN, NAN, NULL },
		{ TIME_MOST * 1.001, 0, "time above 1e15" }, { 0, AMOUNT_MOST * 1.001, "above 1e18" },
		{ -1, 0, "negative or infinite" }, { INFINITY, 0, "negative or infinite" },
		{ 0, -1, "negative or infinite" }, { 0, INFINITY, "negative or infinite" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		e = sound();
		e.load_ns = rows[i].load_ns;
		e.memory_bytes = rows[i].memory;
		is_fault(&e, rows[i].fault, rows[i].fault ? rows[i].fault : "in range");
	}
}

static void test_rows(void)
{
	static const struct {
		int parent;
		double lo, ns, hi, occupancy;
		const char *fault;
	} rows[] = {
		{ -1, NAN, 5, NAN, NAN, NULL },
		{ 2, 5, 5, 5, 1, NULL },
		{ 0, 4, 5, 6, 0, NULL },
		{ 3, NAN, 5, NAN, NAN, "not a row before it" },
		{ -2, NAN, 5, NAN, NAN, "not a row before it" },
		{ -1, 6, 5, NAN, NAN, "outside its interval" },
		{ -1, NAN, 5, 4, NAN, "outside its interval" },
		{ -1, NAN, 5, NAN, 1.1, "occupancy" },
		{ -1, NAN, -5, NAN, NAN, "negative or infinite" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct execution_row r = execution_row_new();
		r.parent = rows[i].parent;
		r.lo_ns = rows[i].lo;
		r.ns = rows[i].ns;
		r.hi_ns = rows[i].hi;
		r.occupancy = rows[i].occupancy;
		const char *fault = execution_row_fault(&r, 3);
		ok(rows[i].fault ? fault && strstr(fault, rows[i].fault) : !fault, "row %zu: %s", i,
			fault ? fault : "sound");
	}
}

/* The sum of a level: its rows without a parent of the same level. */
static void test_sum(void)
{
	struct arena a = { 0 };
	struct execution e = execution_new();
	int capacity = 0;
	static const struct {
		enum execution_level level;
		int parent;
		double ns;
	} rows[] = { { LEVEL_LAYER, -1, 10 }, { LEVEL_KERNEL, 0, 4 }, { LEVEL_KERNEL, 0, 5 },
		{ LEVEL_LAYER, 0, 3 }, { LEVEL_LAYER, -1, 20 }, { LEVEL_LAYER, -1, NAN },
		{ LEVEL_COPY, -1, NAN } };
	ok(isnan(execution_sum_ns(&e, LEVEL_LAYER)), "no rows: unknown");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct execution_row *r = execution_add(&a, &e, &capacity);
		r->level = rows[i].level;
		r->parent = rows[i].parent;
		r->ns = rows[i].ns;
	}
	is_int(e.row_count, 7, "seven rows");
	near(execution_sum_ns(&e, LEVEL_LAYER), 30, 0, "layers, the one inside of another not again");
	near(execution_sum_ns(&e, LEVEL_KERNEL), 9, 0, "kernels of one layer");
	ok(isnan(execution_sum_ns(&e, LEVEL_COPY)), "without a known time: unknown");
	ok(isnan(execution_sum_ns(&e, LEVEL_API)), "without a row: unknown");
	struct execution copy = execution_copy(&a, &e);
	ok(copy.row_count == 7 && copy.rows != e.rows && copy.rows[4].ns == 20 && copy.rows[1].parent == 0,
		"a copy has rows of its own");
	arena_free(&a);
}

static void test_setup(void)
{
	struct arena a = { 0 };
	struct execution e = execution_new(), f = execution_new();
	e.settings = "{\"level\":\"all\",\"spinning\":true,\"import_ns\":5,\"build_s\":1.5}";
	f.settings = "{\"spinning\":true,\"level\":\"all\",\"import_ns\":6,\"engine_bytes\":9,\"reference\":"
		     "\"r\"}";
	f.requests = 1;
	f.stats.median = f.load_ns = 3;
	f.measured_at = 7;
	is_str(execution_setup(&a, &e), execution_setup(&a, &f), "measured values and the order are ignored");
	const char *const others[] = { "{\"level\":\"none\",\"spinning\":true}", "{\"level\":\"all\"}", "",
		"{\"level\":\"all\",\"spinning\":true,\"options\":{\"limit_bytes\":\"1\"}}" };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		f.settings = others[i];
		ok(strcmp(execution_setup(&a, &e), execution_setup(&a, &f)) != 0, "other settings, %zu", i);
	}
	const char **texts[] = { &f.framework, &f.version, &f.provider, &f.device, &f.dtype, &f.math,
		&f.inputs };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		f = e;
		*texts[i] = "x";
		ok(strcmp(execution_setup(&a, &e), execution_setup(&a, &f)) != 0, "another text, %zu", i);
	}
	f = e;
	f.threads = 2;
	ok(strcmp(execution_setup(&a, &e), execution_setup(&a, &f)) != 0, "threads");
	f = e;
	f.batch = 2;
	ok(strcmp(execution_setup(&a, &e), execution_setup(&a, &f)) != 0, "batch");
	f = e;
	f.requests = 2;
	ok(strcmp(execution_setup(&a, &e), execution_setup(&a, &f)) != 0, "requests");
	arena_free(&a);
}

static void test_figures(void)
{
	struct arena a = { 0 };
	struct execution e = execution_new();
	int count;
	const struct execution_figure *list = execution_figures(&count);
	for (int i = 0; i < count; i++) {
		ok(isnan(execution_figure_value(&e, &list[i])), "%s is unknown", list[i].key);
		is_str(execution_figure_text(&a, &list[i], NAN), "-", "%s is shown as such", list[i].key);
	}
	for (int i = 0; i < FIGURE_LINES; i++)
		is_str(execution_figures_line(&a, &e, (enum figure_line)i), "", "no line without figures");
	e.settings = "{\"import_ns\":812e6,\"level\":\"all\",\"spinning\":true,"
		     "\"huge_bytes\":524288}";
	e.load_ns = 310e6;
	e.first_ns = 52e6;
	e.memory_bytes = 1 << 20;
	e.stats.n = 50;
	e.p90_ns = 41.9e6;
	e.copy_out_ns = 0;
	e.items_per_s = 24.6;
	e.output_error = 2.1e-7;
	e.requests = 1;
	is_str(execution_figures_line(&a, &e, FIGURE_START),
		"import 812 ms, load 310 ms, first run 52.0 ms, peak memory 1.00 MiB, huge pages 512 KiB",
		"start");
	is_str(execution_figures_line(&a, &e, FIGURE_RUNS),
		"50 samples, p90 41.9 ms, 24.6 items/s, copy out 0 ns, error of outputs 2.1e-07", "runs");
	is_str(execution_figures_line(&a, &e, FIGURE_SETUP), "", "the usual settings are not shown");
	e.requests = 3;
	e.settings = "{\"level\":\"none\",\"spinning\":false,\"import_ns\":-1,"
		     "\"options\":{\"x\":\"\\u001b[31m\",\"n\":2}}";
	is_str(execution_figures_line(&a, &e, FIGURE_SETUP),
		"3 requests at a time, graph optimizations none, threads do not spin, x=?[31m", "others are");
	is_str(execution_figures_line(&a, &e, FIGURE_START),
		"load 310 ms, first run 52.0 ms, peak memory 1.00 MiB", "a number out of range is unknown");
	e.settings = "{\"options\":{\"a\":\"1\",\"b\":\"\",\"c\":\"1\",\"d\":\"1\",\"e\":\"1\",\"f\":\"1\","
		     "\"g\":\"1\",\"h\":\"1\",\"i\":\"1\",\"j\":\"1\"}}";
	is_str(execution_figures_line(&a, &e, FIGURE_SETUP),
		"3 requests at a time, a=1, b=, c=1, d=1, e=1, f=1, g=1, h=1, 2 options more", "a few");
	const char *const hostile[] = { "[]", "1", "\"\"", "{\"options\":[1]}", "{\"level\":1}", "{" };
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		e.settings = hostile[i];
		is_str(execution_figures_line(&a, &e, FIGURE_SETUP), "3 requests at a time", "%s",
			hostile[i]);
	}
	arena_free(&a);
}

int main(void)
{
	test_setup();
	test_figures();
	test_fields();
	test_members();
	test_numbers();
	test_ranges();
	test_rows();
	test_sum();
	return done_testing();
}
