/* `db info` and `db check`: the file seen from outside. */
#include "config.h"

#include "store/store_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK_LINES_MAX 100 /* of one kind of finding: a damaged file could have millions */

static json_t *store_date(sqlite3_stmt *q, int column)
{
	if (sqlite3_column_type(q, column) != SQLITE_INTEGER)
		return json_null();
	time_t at = (time_t)sqlite3_column_int64(q, column);
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
	str_addf(&why, "on a network file system (%s), where a write-ahead log works on one machine only", s->network);
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
	return info;
}

/* A check: rows that the SQL gives are looked at by `look`, which adds a finding to out and says true, or
 * says false. */
struct check {
	const char *sql;
	bool (*look)(sqlite3_stmt *q, struct str *out);
	int version; /* of the schema from which on it can be asked */
};

static bool check_integrity(sqlite3_stmt *q, struct str *out)
{
	const char *line = store_column_text(q, 0, "?");
	if (strcmp(line, "ok") == 0)
		return false;
	str_addf(out, "file: %s\n", line);
	return true;
}

static bool check_foreign_key(sqlite3_stmt *q, struct str *out)
{
	str_addf(out, "%s %lld: refers to a row of %s that is not there\n", store_column_text(q, 0, "?"),
		(long long)sqlite3_column_int64(q, 1), store_column_text(q, 2, "?"));
	return true;
}

static bool check_orphan(sqlite3_stmt *q, struct str *out)
{
	str_addf(out, "%s %lld: no result refers to it\n", store_column_text(q, 0, "?"),
		(long long)sqlite3_column_int64(q, 1));
	return true;
}

static bool check_mixed(sqlite3_stmt *q, struct str *out)
{
	str_addf(out, "result %lld: its attributes are those of another device\n",
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
		str_addf(out, "problem %lld: its text is none\n", id);
	else if (problem_parse(text_of(text), p, &why) || problem_format(p, again, &why))
		str_addf(out, "problem %lld: %s\n", id, why.text);
	else if (strcmp(text, again))
		str_addf(out, "problem %lld: does not read back to itself\n", id);
	else
		bad = false;
	free(p);
	return bad;
}

/* Eleven days: sums of what is more would soon be none. */
#define TIME_MAX_NS 1e15

/* By more than a mean or a quantile of equal samples is off when it is rounded. Comparisons with an unknown value are false: what is
 * not known is not wrong. */
static bool exceeds(double a, double b)
{
	return a > b * (1 + 1e-9);
}

static const char *check_statistics(const char *status, const double *v, int64_t n)
{
	enum { MIN, Q1, MEDIAN, Q3, MEAN, STDEV, LO, HI };
	if (strcmp(status, "ok"))
		return isnan(v[MEDIAN]) ? NULL : "has a time though its status is not ok";
	if (!(v[MEDIAN] > 0) || !isfinite(v[MEDIAN]))
		return "is ok without a time";
	if (v[MEDIAN] > TIME_MAX_NS)
		return "has a time that nobody has waited for";
	if (n < 1)
		return "is ok without a sample";
	if (v[MIN] < 0 || v[STDEV] < 0 || v[MEAN] < 0)
		return "has a negative statistic";
	if (exceeds(v[MIN], v[Q1]) || exceeds(v[Q1], v[MEDIAN]) || exceeds(v[MEDIAN], v[Q3]) || exceeds(v[MIN], v[MEDIAN]))
		return "has quartiles out of order";
	if (exceeds(v[LO], v[MEDIAN]) || exceeds(v[MEDIAN], v[HI]) || v[LO] < 0)
		return "has a median outside its interval";
	if (exceeds(v[MIN], v[MEAN]))
		return "has a mean below its least sample";
	return NULL;
}

const char *store_result_fault(const struct result *r)
{
	const struct sample_stats *t = &r->stats;
	const double v[8] = { t->min, t->q1, t->median, t->q3, t->mean, t->stdev, t->lo, t->hi };
	return r->status == STATUS_OK ? check_statistics("ok", v, t->n) : NULL;
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
		wrong = "has a status, cache, launch, matrix or stop that this version does not know";
	else if (strcmp(status, "ok") == 0 && store_column_text(q, 15, "")[0] == '\0')
		wrong = "is ok without an algorithm";
	else
		wrong = check_statistics(status, v, sqlite3_column_int64(q, 6));
	if (wrong)
		str_addf(out, "result %lld: %s\n", (long long)sqlite3_column_int64(q, 0), wrong);
	return wrong != NULL;
}

static const struct check checks[] = {
	{ "PRAGMA integrity_check(100)", check_integrity, 1 },
	{ "PRAGMA foreign_key_check", check_foreign_key, 1 },
	{ "SELECT 'problem', id FROM problem WHERE id NOT IN (SELECT problem FROM result) UNION ALL"
	  " SELECT 'algorithm', id FROM algorithm WHERE id NOT IN (SELECT algorithm FROM result)",
		check_orphan, 1 },
	{ "SELECT 'note', id FROM note WHERE id NOT IN (SELECT notes FROM result WHERE notes IS NOT NULL)"
	  " AND id NOT IN (SELECT kernels FROM result WHERE kernels IS NOT NULL)",
		check_orphan, 2 },
	{ "SELECT r.id FROM result r JOIN attributes t ON t.id = r.attributes"
	  " WHERE t.identity <> r.identity",
		check_mixed, 1 },
	{ "SELECT id, text FROM problem", check_problem, 1 },
	{ "SELECT r.id, r.status, r.cache, r.launch, r.matrix, r.stop, r.n, r.min_ns, r.q1_ns, r.median_ns, "
	  "r.q3_ns,"
	  " r.mean_ns, r.stdev_ns, r.lo_ns, r.hi_ns, a.name FROM result r JOIN algorithm a ON a.id = "
	  "r.algorithm",
		check_result, 1 },
};

static int check_run(struct store *s, const struct check *c, struct str *out, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int found = 0, rc = sqlite3_prepare_v2(s->db, c->sql, -1, &q, NULL);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(q);
		if (rc != SQLITE_ROW)
			break;
		size_t before = out->n;
		found += c->look(q, out);
		if (found > CHECK_LINES_MAX && out->n > before) {
			out->n = before;
			out->p[before] = '\0';
		}
	}
	sqlite3_finalize(q);
	if ((rc & 0xff) == SQLITE_CORRUPT) {
		str_addf(out, "file: damaged: %s\n", sqlite3_errmsg(s->db));
		return found + 1;
	}
	if (found > CHECK_LINES_MAX)
		str_addf(out, "... and %d more of this kind\n", found - CHECK_LINES_MAX);
	return rc == SQLITE_DONE ? found : store_error(s, rc, "check it", err);
}

int store_check(struct store *s, struct str *out, struct error *err)
{
	int total = 0;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		int found = s->version < checks[i].version ? 0 : check_run(s, &checks[i], out, err);
		if (found < 0)
			return -1;
		total += found;
	}
	return total;
}
