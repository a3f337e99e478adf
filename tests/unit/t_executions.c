/* Executions of whole models in the database. */
#include "config.h"

#include "store/store_private.h"

#include <math.h>
#include <sys/wait.h>

#include "problem/execution_field.h"
#include "store/executions.h"

#include "store_open.h"
#include "store_sql.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PATH(name) scratch_path(name)

/* Every field has a value of its own. */
static void fill(void *of, const struct execution_field *f, int count)
{
	for (int i = 0; i < count; i++) {
		void *at = (char *)of + f[i].offset;
		if (f[i].type == FIELD_NUMBER)
			*(double *)at = 1000 + i + 1.0 / 3;
		else if (f[i].type == FIELD_INT)
			*(int *)at = i;
		else if (f[i].type == FIELD_INT64)
			*(int64_t *)at = 1000 + i;
		else if (f[i].type == FIELD_FLAG)
			*(bool *)at = true;
		else if (f[i].type != FIELD_WORD)
			*(const char **)at = f[i].type == FIELD_NAMES    ? "a\nb"
					     : f[i].type == FIELD_OBJECT ? "{\"level\":\"all\"}"
									 : f[i].key;
	}
}

static struct execution_row rows[3];

static struct execution sample(void)
{
	struct execution e = execution_new();
	int count;
	const struct execution_field *f = execution_fields(&count);
	fill(&e, f, count);
	e.model_hash = HASH;
	e.stats = (struct sample_stats){ .n = 50, .discarded = 2, .executions = 1, .min = 10, .q1 = 11,
		.median = 12 + 1.0 / 3, .q3 = 13, .mean = 12, .stdev = 1, .lo = 12, .hi = 12.5,
		.stop = STOP_CONVERGED };
	f = execution_row_fields(&count);
	for (int i = 0; i < 3; i++) {
		rows[i] = execution_row_new();
		fill(&rows[i], f, count);
		rows[i].level = i ? LEVEL_KERNEL : LEVEL_LAYER;
		rows[i].parent = i ? 0 : -1;
		rows[i].ns = rows[i].lo_ns = rows[i].hi_ns = 5.5 + i;
		rows[i].occupancy = 0.5;
	}
	e.rows = rows;
	e.row_count = 3;
	return e;
}

static bool same_field(const struct execution_field *f, const void *a, const void *b)
{
	double x, y;
	switch (f->type) {
	case FIELD_NUMBER:
		x = *(const double *)a, y = *(const double *)b;
		return x == y || (isnan(x) && isnan(y));
	case FIELD_INT:
	case FIELD_WORD:
		return *(const int *)a == *(const int *)b;
	case FIELD_INT64:
		return *(const int64_t *)a == *(const int64_t *)b;
	case FIELD_FLAG:
		return *(const bool *)a == *(const bool *)b;
	default:
		return !strcmp(*(const char *const *)a, *(const char *const *)b);
	}
}

static void same_fields(const void *a, const void *b, const struct execution_field *fields(int *count))
{
	int count;
	const struct execution_field *f = fields(&count);
	for (int i = 0; i < count; i++)
		ok(same_field(&f[i], (const char *)a + f[i].offset, (const char *)b + f[i].offset), "%s",
			f[i].key);
}

static const struct executions_wanted all;

/* The number of executions, -1 on errors; list[0] is in *first. */
static int load(struct store *s, const struct executions_wanted *w, struct arena *a, struct execution *first)
{
	struct execution *list;
	int count;
	if (store_executions_load(s, w, a, &list, &count, &err))
		return -1;
	if (first && count)
		*first = list[0];
	return count;
}

/* The columns of a table, after its own first ones, are the fields in their order, with the type of each. */
static void check_columns(const char *table, int own, const struct execution_field *fields(int *count))
{
	sqlite3 *db;
	sqlite3_stmt *q = NULL;
	char sql[96], want[64];
	int count, column = -own;
	const struct execution_field *f = fields(&count);
	snprintf(sql, sizeof(sql), "SELECT name || ' ' || type FROM pragma_table_info('%s')", table);
	bool good = sqlite3_open(PATH("columns.db"), &db) == SQLITE_OK &&
		sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK;
	ok(good, "%s: the columns are read", table);
	for (; good && sqlite3_step(q) == SQLITE_ROW; column++) {
		enum field_type t = column >= 0 && column < count ? f[column].type : FIELD_TEXT;
		snprintf(want, sizeof(want), "%s %s", column >= 0 && column < count ? f[column].key : "no",
			t == FIELD_NUMBER                                                ? "REAL"
				: t == FIELD_INT || t == FIELD_INT64 || t == FIELD_FLAG ? "INTEGER"
											: "TEXT");
		if (column >= 0)
			is_str((const char *)sqlite3_column_text(q, 0), want, "%s: column %d", table, column);
	}
	is_int(column, count, "%s: as many columns as fields", table);
	sqlite3_finalize(q);
	sqlite3_close(db);
}

static void test_columns(void)
{
	store_close(open_new("columns.db"));
	check_columns("execution", 1, execution_fields);
	check_columns("execution_layer", 2, execution_row_fields);
}

static void test_round_trip(void)
{
	struct arena a = { 0 };
	struct store *s = open_new("one.db");
	struct execution e = sample(), got = execution_new();
	is_int(store_execution_add(s, &e, &err), 0, "an execution is added: %s", err.text);
	struct execution unknown = execution_new();
	unknown.model_hash = "other";
	unknown.status = STATUS_UNSUPPORTED;
	unknown.why = "no such provider";
	is_int(store_execution_add(s, &unknown, &err), 0, "one without numbers: %s", err.text);
	store_close(s);
	s = store_open(PATH("one.db"), true, &err);
	is_int(load(s, &(struct executions_wanted){ .model_hash = HASH }, &a, &got), 1, "loaded: %s",
		err.text);
	same_fields(&got, &e, execution_fields);
	is_int(got.row_count, 3, "its rows");
	for (int i = 0; i < 3 && got.row_count == 3; i++)
		same_fields(&got.rows[i], &rows[i], execution_row_fields);
	is_int(load(s, &(struct executions_wanted){ .model_hash = "other" }, &a, &got), 1, "the other");
	same_fields(&got, &unknown, execution_fields);
	is_int(ask(PATH("one.db"),
		       "SELECT median_ns IS NULL AND threads IS NULL AND measured_at IS NULL FROM execution "
		       "WHERE model_hash = 'other'"),
		1, "unknown numbers are NULL");
	is_int(ask(PATH("one.db"), "SELECT parent IS NULL FROM execution_layer WHERE position = 0"), 1,
		"an unknown parent too");
	json_t *info = store_info(s, &err);
	is_int(json_int_at(info, "executions", -1), 2, "db info counts them");
	json_decref(info);
	store_close(s);
	arena_free(&a);
}

static void test_wanted(void)
{
	struct arena a = { 0 };
	struct store *s = open_new("wanted.db");
	struct execution e = sample(), got;
	const char *const devices[] = { "cpu a", "cpu b", "cpu a" };
	for (int i = 0; i < 3; i++) {
		e.device = devices[i];
		e.framework = i == 2 ? "openvino" : "onnxruntime";
		e.measured_at = 1700000000 - i;
		is_int(store_execution_add_once(s, &e, &err), 1, "added");
	}
	is_int(store_execution_add_once(s, &e, &err), 0, "an equal one is not added again");
	const char *settings = e.settings;
	e.settings = "{\"in\":1,\"another\":2,\"order\":3}";
	is_int(store_execution_add_once(s, &e, &err), 0, "nor with its settings in another order");
	e.settings = settings;
	e.stats.median *= 1 + 4e-12;
	is_int(store_execution_add_once(s, &e, &err), 0, "nor with a latency that was cut to 12 digits");
	e.stats.median += 0.001;
	is_int(store_execution_add_once(s, &e, &err), 1, "one with another latency is");
	is_int(load(s, &all, &a, &got), 4, "all");
	is_int(got.measured_at, 1700000000, "the newest first");
	is_int(load(s, &(struct executions_wanted){ .oldest_first = true }, &a, &got), 4, "all");
	is_str(got.device, "cpu a", "the first first");
	is_int(load(s, &(struct executions_wanted){ .device = "cpu a", .framework = "openvino" }, &a, &got),
		2, "by device and framework");
	is_int(load(s, &(struct executions_wanted){ .most = 1, .device = "cpu b", .without_rows = true }, &a,
		       &got),
		1, "the newest one");
	ok(!got.row_count, "without its rows");
	is_int(load(s, &(struct executions_wanted){ .framework = "none" }, &a, &got), 0, "none");
	e.load_ns += 1;
	is_int(store_execution_add_once(s, &e, &err), 1, "one with another load time is added");
	store_close(s);
	arena_free(&a);
}

static void test_refused(void)
{
	struct store *s = open_new("refused.db");
	struct execution e = sample();
	e.stats.lo = 13;
	is_int(store_execution_add(s, &e, &err), -1, "a median outside its interval");
	has(err.text, "median outside", "has a reason");
	e = sample();
	rows[1].parent = 1;
	is_int(store_execution_add(s, &e, &err), -1, "a row that is its own parent");
	has(err.text, "row 1", "is named");
	e = sample();
	e.row_count = EXECUTION_ROWS_MAX + 1;
	is_int(store_execution_add(s, &e, &err), -1, "too many rows");
	is_int(ask(PATH("refused.db"), "SELECT count(*) FROM execution"), 0, "nothing is left behind");
	e = sample();
	store_execution_add(s, &e, &err);
	const char *const changes[] = { "UPDATE execution SET dtype = 'f16'", "DELETE FROM execution",
		"UPDATE execution_layer SET ns = 1", "DELETE FROM execution_layer" };
	for (int i = 0; i < 4; i++) {
		plant(PATH("refused.db"), changes[i]);
		is_int(ask(PATH("refused.db"), "SELECT count(*) FROM execution_layer JOIN execution ON id = "
					       "execution WHERE ns <> 1 AND execution.dtype <> 'f16'"),
			3, "rows are only added: %s", changes[i]);
	}
	store_close(s);
	s = store_open(PATH("refused.db"), true, &err);
	is_int(store_execution_add(s, &e, &err), -1, "a reader adds none");
	store_close(s);
}

/* What another program may have written. */
static void test_hostile(void)
{
	static const struct {
		const char *sql, *says;
	} hostile[] = {
		{ "UPDATE execution SET median_ns = -5", "latency of zero" },
		{ "UPDATE execution SET load_ns = 9e99", "11 days" },
		{ "UPDATE execution SET status = 'great'", "unknown status" },
		{ "UPDATE execution SET threads = -7", "out of range" },
		{ "UPDATE execution SET threads = 99999999999", "out of range" },
		{ "UPDATE execution SET measured_at = 999999999999999", "date out of range" },
		{ "UPDATE execution_layer SET parent = 2 WHERE position = 1", "not a row before it" },
		{ "UPDATE execution_layer SET position = 9 WHERE position = 1", "missing" },
		{ "UPDATE execution_layer SET level = 'x' WHERE position = 1", "unknown" },
		{ "UPDATE execution_layer SET ns = -1 WHERE position = 2", "interval" },
	};
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct arena a = { 0 };
		struct str out = { 0 };
		struct store *s = open_new("hostile.db");
		struct execution e = sample();
		store_execution_add(s, &e, &err);
		store_close(s);
		plant(PATH("hostile.db"), "DROP TRIGGER execution_no_update");
		plant(PATH("hostile.db"), "DROP TRIGGER execution_layer_no_update");
		plant(PATH("hostile.db"), hostile[i].sql);
		s = open_new("other.db");
		store_close(s);
		s = store_open(PATH("hostile.db"), false, &err);
		e.stats.median += 0.1;
		is_int(store_execution_add(s, &e, &err), 0, "a good one beside it: %s", err.text);
		is_int(load(s, &all, &a, NULL), 1, "only the good one is loaded: %s", hostile[i].sql);
		is_int(store_check(s, &out, &err), 1, "db check finds the other");
		has(out.p, hostile[i].says, "and why");
		store_close(s);
		str_free(&out);
		arena_free(&a);
	}
}

static void test_dirty(void)
{
	struct arena a = { 0 };
	struct store *s = open_new("dirty.db");
	struct execution e = sample(), got = execution_new();
	e.why = "a\x1b[2J\nb";
	e.settings = "{\"a\":\"\x1b[2J\"";
	rows[0].nodes = "c\x1b\nd";
	rows[0].kernel = "k\nl";
	store_execution_add(s, &e, &err);
	is_int(load(s, &all, &a, &got), 1, "texts with control characters: %s", err.text);
	is_str(got.why, "a?[2J?b", "are cleaned");
	is_str(got.settings, "{}", "settings that are not an object");
	is_str(got.row_count ? got.rows[0].nodes : "", "c?\nd", "a list of names keeps its lines");
	is_str(got.row_count ? got.rows[0].kernel : "", "k?l", "the name of a kernel is one line");
	store_close(s);
	arena_free(&a);
}

/* A file of version 2: without the tables. */
static void test_version_2(void)
{
	struct arena a = { 0 };
	struct str out = { 0 };
	struct execution e = sample();
	struct store *s = open_new("two.db");
	store_device(s, &help_device, &err);
	struct result r = help_result(RELU, "jit", 10);
	store_add(s, 1, &r, &err);
	store_close(s);
	plant(PATH("two.db"),
		"DROP TABLE execution_layer; DROP TABLE execution; ALTER TABLE result DROP COLUMN sketch;"
		"ALTER TABLE result DROP COLUMN p10_ns; ALTER TABLE result DROP COLUMN p10_lo_ns;"
		"ALTER TABLE result DROP COLUMN p10_hi_ns; ALTER TABLE result DROP COLUMN spent_ns;"
		"PRAGMA user_version = 2");
	s = store_open(PATH("two.db"), true, &err);
	ok(s != NULL, "a version 2 file is read without migration: %s", err.text);
	is_int(load(s, &all, &a, NULL), 0, "it has no executions");
	is_int(store_check(s, &out, &err), 0, "it is sound");
	json_t *info = store_info(s, &err);
	is_int(json_int_at(info, "executions", -1), 0, "db info counts none");
	json_decref(info);
	store_close(s);
	is_int(ask(PATH("two.db"), "PRAGMA user_version"), 2, "a reader does not change it");
	s = store_open(PATH("two.db"), false, &err);
	is_int(ask(PATH("two.db"), "PRAGMA user_version"), STORE_VERSION, "a writer migrates it");
	is_int(store_execution_add(s, &e, &err), 0, "then it takes executions: %s", err.text);
	is_int(ask(PATH("two.db"), "SELECT count(*) FROM result"), 1, "and has its results");
	store_close(s);
	str_free(&out);
	arena_free(&a);
}

/* A file that another program has locked. */
static void test_keep(void)
{
	struct arena a = { 0 };
	sqlite3 *db;
	struct store *s = open_new("keep.db");
	struct execution e = sample();
	sqlite3_open(PATH("keep.db"), &db);
	sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	is_int(store_keep_execution(s, &e, &err), 1, "an execution waits in memory");
	has(err.text, "locked", "for the lock");
	is_int(store_waiting(s).results, 1, "it is counted");
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	is_int(store_keep_retry(s, true), 0, "then it is written");
	is_int(load(s, &all, &a, NULL), 1, "once");
	e.stats.median = 1e17;
	is_int(store_keep_execution(s, &e, &err), -1, "an invalid one is lost");
	is_int(store_waiting(s).lost, 1, "and counted");
	sqlite3_close(db);
	store_close(s);
	arena_free(&a);
}

int main(void)
{
	scratch_make();
	test_columns();
	test_round_trip();
	test_wanted();
	test_refused();
	test_hostile();
	test_dirty();
	test_version_2();
	test_keep();
	scratch_remove();
	return done_testing();
}
