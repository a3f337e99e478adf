/* `db info` and `db check`. */
#include "config.h"

#include "store/executions.h"
#include "store/store_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK_LINES_MAX 100 /* lines per check: a damaged file could have millions of findings */

static json_t *store_date(sqlite3_stmt *q, int column)
{
	time_t at = (time_t)sqlite3_column_int64(q, column);
	if (sqlite3_column_type(q, column) != SQLITE_INTEGER || !at) /* 0: unknown */
		return json_null();
	struct tm tm;
	char text[64];
	if (!gmtime_r(&at, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return json_null();
	return json_string(text);
}

static json_t *store_info_devices(struct store *s, struct error *err)
{
	static const char sql[] =
		"SELECT i.id, i.model, i.stack, count(DISTINCT r.problem), count(r.id), min(r.measured_at),"
		" max(r.measured_at) FROM identity i LEFT JOIN result r ON r.identity = i.id GROUP BY i.id "
		"ORDER BY i.id";
	sqlite3_stmt *q = NULL;
	json_t *list = json_array();
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(q);
		if (rc != SQLITE_ROW)
			break;
		json_t *one = json_object();
		json_object_set_new(one, "id", json_integer(sqlite3_column_int64(q, 0)));
		json_object_set_new(one, "model", json_text(text_of(store_column_text(q, 1, ""))));
		json_object_set_new(one, "stack", json_text(text_of(store_column_text(q, 2, ""))));
		json_object_set_new(one, "problems", json_integer(sqlite3_column_int64(q, 3)));
		json_object_set_new(one, "results", json_integer(sqlite3_column_int64(q, 4)));
		json_object_set_new(one, "first", store_date(q, 5));
		json_object_set_new(one, "last", store_date(q, 6));
		json_array_append_new(list, one);
	}
	sqlite3_finalize(q);
	if (rc == SQLITE_DONE)
		return list;
	json_decref(list);
	store_error(s, rc, "read devices", err);
	return NULL;
}

static json_t *store_info_value(struct store *s, const char *sql)
{
	sqlite3_stmt *q = NULL;
	json_t *value = NULL;
	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
		value = sqlite3_column_type(q, 0) == SQLITE_INTEGER
				? json_integer(sqlite3_column_int64(q, 0))
				: json_string(store_column_text(q, 0, "?"));
	sqlite3_finalize(q);
	return value ? value : json_null();
}

static double store_file_bytes(const char *path)
{
	struct str wal = { 0 };
	struct stat st;
	double bytes = stat(path, &st) == 0 ? (double)st.st_size : NAN;
	str_addf(&wal, "%s-wal", path);
	if (stat(wal.p, &st) == 0)
		bytes += (double)st.st_size;
	str_free(&wal);
	return bytes;
}

static json_t *store_info_network(const struct store *s)
{
	struct str why = { 0 };
	str_addf(&why, "on a network file system (%s), where a write-ahead log works on one machine only",
		s->network);
	json_t *text = json_text((struct text){ why.p, why.n });
	str_free(&why);
	return text;
}

json_t *store_info(struct store *s, struct error *err)
{
	json_t *devices = store_info_devices(s, err);
	if (!devices)
		return NULL;
	json_t *info = json_object();
	json_object_set_new(info, "path", json_text(text_of(s->path)));
	json_object_set_new(info, "schema_version", store_info_value(s, "PRAGMA user_version"));
	json_object_set_new(info, "journal_mode", store_info_value(s, "PRAGMA journal_mode"));
	json_object_set_new(info, "journal_reason", s->network ? store_info_network(s) : json_null());
	json_object_set_new(info, "file_bytes", json_number_or_null(store_file_bytes(s->path)));
	json_object_set_new(info, "devices", devices);
	json_object_set_new(info, "problems", store_info_value(s, "SELECT count(*) FROM problem"));
	json_object_set_new(info, "results", store_info_value(s, "SELECT count(*) FROM result"));
	json_object_set_new(info, "executions",
		s->version < 3 ? json_integer(0) : store_info_value(s, "SELECT count(*) FROM execution"));
	return info;
}

/* A check calls `look` for each row of the SQL. `look` returns true if it added a finding to out: one line
 * without newline. */
struct check {
	const char *sql;
	bool (*look)(sqlite3_stmt *q, struct str *out);
	const char *table; /* of the row whose id is column 0; "": both are columns; NULL: none */
	int version; /* first schema version that the SQL works with */
};

static bool check_integrity(sqlite3_stmt *q, struct str *out)
{
	const char *line = store_column_text(q, 0, "?");
	if (strcmp(line, "ok") == 0)
		return false;
	str_puts(out, "file: ");
	str_puts(out, line);
	for (char *end = out->p; (end = strchr(end, '\n'));) /* SQLite may return several findings in one
								row */
		*end = ' ';
	return true;
}

static bool check_foreign_key(sqlite3_stmt *q, struct str *out)
{
	str_addf(out, "%s %lld: refers to a missing row of %s", store_column_text(q, 0, "?"),
		(long long)sqlite3_column_int64(q, 1), store_column_text(q, 2, "?"));
	return true;
}

static bool check_orphan(sqlite3_stmt *q, struct str *out)
{
	str_addf(out, "%s %lld: no result refers to it", store_column_text(q, 0, "?"),
		(long long)sqlite3_column_int64(q, 1));
	return true;
}

static bool check_mixed(sqlite3_stmt *q, struct str *out)
{
	str_addf(out, "result %lld: has the attributes of another device",
		(long long)sqlite3_column_int64(q, 0));
	return true;
}

static bool check_problem(sqlite3_stmt *q, struct str *out)
{
	struct error why = ERROR_NONE;
	struct problem *p = base_calloc(1, sizeof(*p));
	char again[PROBLEM_TEXT_SIZE];
	long long id = sqlite3_column_int64(q, 0);
	const char *text = store_column_text(q, 1, NULL);
	bool bad = true;
	if (!text)
		str_addf(out, "problem %lld: has no text", id);
	else if (problem_parse(text_of(text), p, &why) || problem_format(p, again, &why))
		str_addf(out, "problem %lld: %s", id, why.text);
	else if (strcmp(text, again))
		str_addf(out, "problem %lld: is not in its standard form (it parses to another text)", id);
	else
		bad = false;
	free(p);
	return bad;
}

/* Limits of plausible values: wide enough for any machine, narrow enough that sums stay finite. */
#define TIME_MIN_NS 0.01
#define TIME_MAX_NS 1e15
#define CLOCK_MAX_MHZ 1e6
#define WORKSPACE_MAX_BYTES 1e18
#define COUNT_MAX INT64_C(1000000000000)
#define DATE_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

/* a > b by more than the rounding error of a mean or quantile of equal samples. False if either is NaN: an
 * unknown value is not a fault. */
static bool exceeds(double a, double b)
{
	return a > b * (1 + 1e-9);
}

static bool is_count(int64_t n, int64_t least)
{
	return n >= least && n <= COUNT_MAX;
}

/* Checks the statistics of a result in the order of the enum; NaN: unknown. Returns what is wrong, or
 * NULL. */
static const char *statistics_fault(
	const char *status, const double *v, int64_t n, int64_t discarded, int64_t executions)
{
	enum { MIN, Q1, MEDIAN, Q3, MEAN, STDEV, LO, HI, COUNT };
	if (strcmp(status, "ok"))
		return isnan(v[MEDIAN]) ? NULL : "has a time though its status is not ok";
	if (!(v[MEDIAN] > 0) || !isfinite(v[MEDIAN]))
		return "has the status ok but no time";
	if (v[MEDIAN] < TIME_MIN_NS)
		return "has a time below 0.01 ns";
	for (int i = 0; i < COUNT; i++)
		if (v[i] > TIME_MAX_NS)
			return "has a time above 1e15 ns (11 days)";
	if (n < 1)
		return "has the status ok but no sample";
	if (!is_count(n, 1) || !is_count(discarded, 0) || !is_count(executions, 1))
		return "has a sample or execution count out of range";
	if (v[MIN] < 0 || v[STDEV] < 0 || v[MEAN] < 0)
		return "has a negative statistic";
	if (exceeds(v[MIN], v[Q1]) || exceeds(v[Q1], v[MEDIAN]) || exceeds(v[MEDIAN], v[Q3]) ||
		exceeds(v[MIN], v[MEDIAN]))
		return "has quartiles out of order";
	if (exceeds(v[LO], v[MEDIAN]) || exceeds(v[MEDIAN], v[HI]) || v[LO] < 0)
		return "has a median outside its interval";
	if (exceeds(v[MIN], v[MEAN]))
		return "has a mean below its minimum";
	return NULL;
}

/* Checks the 10th percentile; NaN: unknown. Returns what is wrong, or NULL. */
static const char *cost_fault(double min, double lo, double p10, double hi, double median)
{
	bool good = !exceeds(min, p10) && !exceeds(p10, median) && !exceeds(lo, p10) && !exceeds(p10, hi) &&
		!(lo < 0) && !(hi > TIME_MAX_NS);
	return good ? NULL : "has a 10th percentile outside its interval, the minimum or the median";
}

/* Checks the other numbers; NaN and date 0: unknown. Returns what is wrong, or NULL. */
static const char *numbers_fault(
	double workspace_bytes, double enqueue_ns, double clock_mhz, int64_t measured_at)
{
	if (workspace_bytes < 0 || workspace_bytes > WORKSPACE_MAX_BYTES)
		return "has a workspace size out of range";
	if (enqueue_ns < 0 || enqueue_ns > TIME_MAX_NS)
		return "has an enqueue time out of range";
	if (clock_mhz < 0 || clock_mhz > CLOCK_MAX_MHZ)
		return "has a clock rate out of range";
	if (measured_at < 0 || measured_at > DATE_MAX)
		return "has a date out of range (seconds since 1970 are expected)";
	return NULL;
}

const char *store_result_fault(const struct result *r)
{
	const struct sample_stats *t = &r->stats;
	const double v[8] = { t->min, t->q1, t->median, t->q3, t->mean, t->stdev, t->lo, t->hi };
	if (r->status == STATUS_OK && (!r->algorithm.name || !*r->algorithm.name))
		return "has the status ok but no algorithm";
	const char *fault = NULL;
	if (r->status == STATUS_OK)
		fault = statistics_fault("ok", v, t->n, t->discarded, t->executions);
	if (!fault && r->status == STATUS_OK && t->p10 > 0)
		fault = cost_fault(t->min, t->p10_lo, t->p10, t->p10_hi, t->median);
	return fault
		? fault
		: numbers_fault(r->algorithm.workspace_bytes, r->enqueue_ns, r->clock_mhz, r->measured_at);
}

static bool check_numbers(sqlite3_stmt *q, struct str *out)
{
	const char *wrong = numbers_fault(store_column_number(q, 1), store_column_number(q, 2),
		store_column_number(q, 3), sqlite3_column_int64(q, 4));
	if (wrong)
		str_addf(out, "result %lld: %s", (long long)sqlite3_column_int64(q, 0), wrong);
	return wrong != NULL;
}

static bool check_result(sqlite3_stmt *q, struct str *out)
{
	const char *status = store_column_text(q, 1, ""), *wrong = NULL;
	double v[8];
	for (int i = 0; i < 8; i++)
		v[i] = store_column_number(q, 7 + i);
	if (status_parse(status) < 0 || cache_parse(store_column_text(q, 2, "")) < 0 ||
		launch_parse(store_column_text(q, 3, "")) < 0 ||
		matrix_parse(store_column_text(q, 4, "")) < 0 || stop_parse(store_column_text(q, 5, "")) < 0)
		wrong = "has an unknown status, cache, launch, matrix or stop";
	else if (strcmp(status, "ok") == 0 && store_column_text(q, 15, "")[0] == '\0')
		wrong = "has the status ok but no algorithm";
	else
		wrong = statistics_fault(status, v, sqlite3_column_int64(q, 6), sqlite3_column_int64(q, 16),
			sqlite3_column_int64(q, 17));
	if (wrong)
		str_addf(out, "result %lld: %s", (long long)sqlite3_column_int64(q, 0), wrong);
	return wrong != NULL;
}

static bool check_cost(sqlite3_stmt *q, struct str *out)
{
	double v[5];
	for (int i = 0; i < 5; i++)
		v[i] = store_column_number(q, 1 + i);
	const char *wrong = cost_fault(v[0], v[1], v[2], v[3], v[4]);
	if (wrong)
		str_addf(out, "result %lld: %s", (long long)sqlite3_column_int64(q, 0), wrong);
	return wrong != NULL;
}

static bool check_json(sqlite3_stmt *q, struct str *out)
{
	const char *text = store_column_text(q, 1, "");
	json_t *object = json_loads(text, 0, NULL);
	bool bad = !json_is_object(object);
	json_decref(object);
	if (bad)
		str_addf(out, "%s %lld: its %s are no JSON object", store_column_text(q, 2, "?"),
			(long long)sqlite3_column_int64(q, 0), store_column_text(q, 3, "?"));
	return bad;
}

/* Views, and triggers of other programs. */
static bool check_schema(sqlite3_stmt *q, struct str *out)
{
	const char *type = store_column_text(q, 0, "?"), *name = store_column_text(q, 1, "?");
	char *known = strcmp(type, "trigger") == 0 ? migrate_trigger(name) : NULL;
	bool foreign = !known;
	sqlite3_free(known);
	if (foreign)
		str_addf(out, "%s %.100s: of another program; drop it", type, name);
	return foreign;
}

static const struct check checks[] = {
	{ "PRAGMA integrity_check(100)", check_integrity, NULL, 1 },
	{ "SELECT type, name FROM sqlite_schema WHERE type IN ('view', 'trigger')", check_schema, NULL, 1 },
	{ "SELECT id, json, 'attributes', 'properties' FROM attributes", check_json, "attributes_json", 1 },
	{ "SELECT rowid, json, 'model_dims', 'dimensions' FROM model_dims", check_json, "model_dims", 1 },
	{ "PRAGMA foreign_key_check", check_foreign_key, "", 1 },
	{ "SELECT 'problem', id FROM problem WHERE id NOT IN (SELECT problem FROM result) UNION ALL"
	  " SELECT 'algorithm', id FROM algorithm WHERE id NOT IN (SELECT algorithm FROM result)",
		check_orphan, "", 1 },
	{ "SELECT 'note', id FROM note WHERE id NOT IN (SELECT notes FROM result WHERE notes IS NOT NULL)"
	  " AND id NOT IN (SELECT kernels FROM result WHERE kernels IS NOT NULL)",
		check_orphan, "", 2 },
	{ "SELECT r.id FROM result r JOIN attributes t ON t.id = r.attributes"
	  " WHERE t.identity <> r.identity",
		check_mixed, "result", 1 },
	{ "SELECT id, text FROM problem", check_problem, "problem", 1 },
	{ "SELECT r.id, r.status, r.cache, r.launch, r.matrix, r.stop, r.n, r.min_ns, r.q1_ns, r.median_ns, "
	  "r.q3_ns,"
	  " r.mean_ns, r.stdev_ns, r.lo_ns, r.hi_ns, a.name, r.discarded, r.executions FROM result r JOIN "
	  "algorithm a ON a.id = "
	  "r.algorithm",
		check_result, "result", 1 },
	{ "SELECT id, workspace_bytes, NULL, NULL, measured_at FROM result", check_numbers, "result", 1 },
	{ "SELECT id, NULL, enqueue_ns, clock_mhz, 0 FROM result", check_numbers, "result", 2 },
	{ "SELECT id, min_ns, p10_lo_ns, p10_ns, p10_hi_ns, median_ns FROM result", check_cost, "result", 4 },
};

struct checking {
	struct store *s;
	struct str *out;
	store_row_found *row; /* may be NULL */
	void *context;
	int executions; /* invalid ones */
};

/* Names the row of a finding. */
static void check_name(const struct checking *k, const struct check *c, sqlite3_stmt *q, struct text why)
{
	bool both = c->table && !*c->table;
	if (k->row && c->table)
		k->row(k->context, both ? store_column_text(q, 0, "") : c->table,
			sqlite3_column_int64(q, both), why);
}

static int check_run(const struct checking *k, const struct check *c, struct error *err)
{
	struct store *s = k->s;
	struct str *out = k->out;
	sqlite3_stmt *q = NULL;
	struct str line = { 0 };
	int found = 0, rc = sqlite3_prepare_v2(s->db, c->sql, -1, &q, NULL);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(q);
		if (rc != SQLITE_ROW)
			break;
		str_clear(&line);
		if (c->look(q, &line)) {
			found++;
			check_name(k, c, q, (struct text){ line.p, line.n });
		}
		if (line.n && found <= CHECK_LINES_MAX) {
			str_add_clean(out, (struct text){ line.p, line.n });
			str_puts(out, "\n");
		}
	}
	sqlite3_finalize(q);
	str_free(&line);
	if ((rc & 0xff) == SQLITE_CORRUPT) {
		str_puts(out, "file: damaged: ");
		str_add_clean(out, text_of(sqlite3_errmsg(s->db)));
		str_puts(out, "\n");
		return found + 1;
	}
	if (found > CHECK_LINES_MAX)
		str_addf(out, "... and %d more of this kind\n", found - CHECK_LINES_MAX);
	return rc == SQLITE_DONE ? found : store_error(s, rc, "check it", err);
}

static void check_execution_fault(void *context, int64_t id, const char *why)
{
	struct checking *k = context;
	struct str line = { 0 };
	str_addf(&line, "execution %lld: %s", (long long)id, why);
	if (k->executions++ < CHECK_LINES_MAX)
		str_addf(k->out, "%s\n", line.p);
	if (k->row)
		k->row(k->context, "execution", id, (struct text){ line.p, line.n });
	str_free(&line);
}

static int check_execution(void *context, const struct execution *e, struct error *err)
{
	(void)context, (void)e, (void)err;
	return 0;
}

/* Reads all executions. Returns the number of invalid ones, -1 if they cannot be read. */
static int check_executions(struct checking *k, struct error *err)
{
	const struct executions_walker w = { .context = k, .visit = check_execution,
		.unusable = check_execution_fault };
	if (store_executions_walk(k->s, &(struct executions_wanted){ .oldest_first = true }, &w, err))
		return -1;
	if (k->executions > CHECK_LINES_MAX)
		str_addf(k->out, "... and %d more of this kind\n", k->executions - CHECK_LINES_MAX);
	return k->executions;
}

int store_check_rows(
	struct store *s, struct str *out, store_row_found *row, void *context, struct error *err)
{
	struct checking k = { .s = s, .out = out, .row = row, .context = context };
	int total = 0;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		int found = s->version < checks[i].version ? 0 : check_run(&k, &checks[i], err);
		if (found < 0)
			return -1;
		total += found;
	}
	int found = check_executions(&k, err);
	return found < 0 ? -1 : total + found;
}

int store_check(struct store *s, struct str *out, struct error *err)
{
	return store_check_rows(s, out, NULL, NULL, err);
}
