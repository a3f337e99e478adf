/* Statements, transactions, devices and stored dimensions. */
#include "config.h"

#include "store/store_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

#define RESULT_COLUMNS                                                                                       \
	"r.id, p.text, a.api, a.name, a.layouts, a.math, r.status, r.cache, r.launch, r.rank, r.matrix,"     \
	" r.workspace_bytes, r.n, r.discarded, r.executions, r.min_ns, r.q1_ns, r.median_ns, r.q3_ns,"       \
	" r.mean_ns, r.stdev_ns, r.lo_ns, r.hi_ns, r.stop, r.why, r.runner_version, r.measured_at"
#define RESULT_TABLES                                                                                        \
	" FROM result r JOIN problem p ON p.id = r.problem JOIN algorithm a ON a.id = r.algorithm"
#define RESULT_NOTES " LEFT JOIN note n ON n.id = r.notes LEFT JOIN note k ON k.id = r.kernels"
#define COLUMNS_2 ", n.text, k.text, r.enqueue_ns, r.clock_mhz" /* added by that schema version */
#define COLUMNS_4 ", r.p10_ns, r.p10_lo_ns, r.p10_hi_ns, r.spent_ns, r.sketch"
#define NULLS_2 ", NULL, NULL, NULL, NULL"
#define NULLS_4 ", NULL, NULL, NULL, NULL, NULL"
#define RESULT_LOAD(more, joins)                                                                             \
	"SELECT " RESULT_COLUMNS more RESULT_TABLES joins " WHERE r.identity = ?1 AND r.id > ?2 ORDER BY r.id"
#define RESULT_WALK(more, joins)                                                                             \
	"SELECT " RESULT_COLUMNS more ", r.attributes" RESULT_TABLES joins                                   \
	" WHERE r.identity = ?1 ORDER BY r.attributes, r.problem, r.id"

static const char *const store_sql[STATEMENT_COUNT] = {
	[STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
	[STATEMENT_COMMIT] = "COMMIT",
	[STATEMENT_ROLLBACK] = "ROLLBACK",
	[STATEMENT_PROBLEM_FIND] = "SELECT id FROM problem WHERE text = ?1",
	[STATEMENT_PROBLEM_ADD] = "INSERT INTO problem (text) VALUES (?1)",
	[STATEMENT_ALGORITHM_FIND] =
		"SELECT id FROM algorithm WHERE api = ?1 AND name = ?2 AND layouts = ?3 AND math = ?4",
	[STATEMENT_ALGORITHM_ADD] =
		"INSERT INTO algorithm (api, name, layouts, math) VALUES (?1, ?2, ?3, ?4)",
	[STATEMENT_NOTE_FIND] = "SELECT id FROM note WHERE text = ?1",
	[STATEMENT_NOTE_ADD] = "INSERT INTO note (text) VALUES (?1)",
	[STATEMENT_RESULT_ADD] =
		"INSERT INTO result (identity, attributes, problem, algorithm, status, cache, launch, rank, "
		"matrix,"
		" workspace_bytes, n, discarded, executions, min_ns, q1_ns, median_ns, q3_ns, mean_ns, "
		"stdev_ns, lo_ns,"
		" hi_ns, stop, why, runner_version, measured_at, notes, kernels, enqueue_ns, clock_mhz,"
		" p10_ns, p10_lo_ns, p10_hi_ns, spent_ns, sketch) "
		"VALUES (?1, ?2, ?3,"
		" ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, "
		"?23, ?24, ?25,"
		" ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34)",
	[STATEMENT_RESULT_SAME] =
		"SELECT id FROM result WHERE identity = ?1 AND problem = ?3 AND algorithm = ?4 AND status = "
		"?5"
		" AND cache = ?6 AND launch = ?7 AND " STORE_SAME("median_ns", "?16") " AND "
		STORE_SAME("mean_ns", "?18") " AND measured_at = ?25",
	[STATEMENT_RESULT_LOAD] = RESULT_LOAD(COLUMNS_2 COLUMNS_4, RESULT_NOTES),
	[STATEMENT_RESULT_WALK] = RESULT_WALK(COLUMNS_2 COLUMNS_4, RESULT_NOTES),
	[STATEMENT_FINISH] = "INSERT INTO finished (identity, problem, result, finished_at)"
			     " SELECT ?1, ?2, coalesce(max(id), 0), ?3 FROM result WHERE true"
			     " ON CONFLICT (identity, problem) DO UPDATE SET result = excluded.result, "
			     "finished_at = excluded.finished_at",
	[STATEMENT_FINISH_ONCE] = "INSERT INTO finished (identity, problem, result, finished_at)"
				  " SELECT ?1, ?2, coalesce(max(id), 0), ?3 FROM result WHERE true"
				  " ON CONFLICT (identity, problem) DO NOTHING",
	[STATEMENT_FINISHED_LOAD] = ("SELECT p.text FROM finished f JOIN problem p ON p.id = f.problem"
				     " WHERE f.identity = ?1 AND f.result >= ?2"),
	[STATEMENT_BEGIN_READ] = "BEGIN",
};

/* Statements for files of older schema versions, which have fewer columns. */
static const struct {
	int version; /* up to this one */
	const char *load, *walk;
} store_sql_older[] = {
	{ 1, RESULT_LOAD(NULLS_2 NULLS_4, ""), RESULT_WALK(NULLS_2 NULLS_4, "") },
	{ 3, RESULT_LOAD(COLUMNS_2 NULLS_4, RESULT_NOTES), RESULT_WALK(COLUMNS_2 NULLS_4, RESULT_NOTES) },
};

static const char *store_sql_of(const struct store *s, enum store_statement which)
{
	bool load = which == STATEMENT_RESULT_LOAD, walk = which == STATEMENT_RESULT_WALK;
	for (size_t i = 0; (load || walk) && i < sizeof(store_sql_older) / sizeof(store_sql_older[0]); i++)
		if (s->version <= store_sql_older[i].version)
			return load ? store_sql_older[i].load : store_sql_older[i].walk;
	return store_sql[which];
}

sqlite3_stmt *store_statement(struct store *s, enum store_statement which, struct error *err)
{
	sqlite3_stmt **q = &s->statements[which];
	if (!*q) {
		int rc = sqlite3_prepare_v3(
			s->db, store_sql_of(s, which), -1, SQLITE_PREPARE_PERSISTENT, q, NULL);
		if (rc != SQLITE_OK) {
			if (rc == SQLITE_ERROR) /* no such table or column */
				error_set(err, "%s: damaged (%s): give another file with --db", s->path,
					sqlite3_errmsg(s->db));
			else
				store_error(s, rc, "read it", err);
			return NULL;
		}
	}
	sqlite3_reset(*q);
	sqlite3_clear_bindings(*q);
	return *q;
}

int store_run(struct store *s, enum store_statement which, struct error *err)
{
	sqlite3_stmt *q = store_statement(s, which, err);
	if (!q)
		return -1;
	errno = 0;
	int rc = sqlite3_step(q);
	s->system_errno = errno; /* sqlite3_system_errno does not have that of a COMMIT */
	sqlite3_reset(q);
	int status = rc == SQLITE_DONE ? 0 : store_error(s, rc, store_sql[which], err);
	s->system_errno = 0;
	return status;
}

int store_begin(struct store *s, struct error *err)
{
	if (s->batch)
		return 0;
	if (s->read_only)
		return error_set(err, "%s is open for reading only", s->path);
	return store_still_there(s, err) ? -1 : store_run(s, STATEMENT_BEGIN, err);
}

int store_end(struct store *s, bool good, struct error *err)
{
	if (s->batch && good)
		return 0;
	if (good && store_run(s, STATEMENT_COMMIT, err) == 0)
		return store_still_there(s, err);
	if (!sqlite3_get_autocommit(s->db))
		store_run(s, STATEMENT_ROLLBACK, NULL);
	if (s->batch) /* attributes rows may have been rolled back too */
		s->known_count = 0;
	s->batch = false;
	return -1;
}

int store_batch_begin(struct store *s, struct error *err)
{
	if (store_begin(s, err))
		return -1;
	s->batch = true;
	return 0;
}

int store_batch_end(struct store *s, struct error *err)
{
	if (!s->batch)
		return 0;
	s->batch = false;
	return store_end(s, true, err);
}

bool store_has_batch(const struct store *s)
{
	return s->batch;
}

int64_t store_step_id(struct store *s, sqlite3_stmt *q, struct error *err)
{
	int rc = sqlite3_step(q);
	int64_t id = -1;
	if (rc == SQLITE_ROW)
		id = sqlite3_column_int64(q, 0);
	else if (rc == SQLITE_DONE)
		id = sqlite3_stmt_readonly(q) ? 0 : sqlite3_last_insert_rowid(s->db);
	else
		store_error(s, rc, "add a row", err);
	sqlite3_reset(q);
	return id;
}

int64_t store_id_of(struct store *s, enum store_statement find, enum store_statement add,
	const char *const *texts, int count, struct error *err)
{
	int64_t id = 0;
	const enum store_statement which[2] = { find, add };
	for (int i = 0; i < 2 && id == 0; i++) {
		sqlite3_stmt *q = store_statement(s, which[i], err);
		if (!q)
			return -1;
		for (int t = 0; t < count; t++)
			store_bind_text(q, t + 1, texts[t]);
		id = store_step_id(s, q, err);
	}
	return id;
}

sqlite3_stmt *store_prepare(
	struct store *s, const char *sql, const char *const *texts, int count, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
	if (rc != SQLITE_OK) {
		store_error(s, rc, "use it", err);
		return NULL;
	}
	for (int t = 0; t < count; t++)
		store_bind_text(q, t + 1, texts[t]);
	return q;
}

static int64_t store_identity(struct store *s, const char *sql, const struct device *d, struct error *err)
{
	const char *const texts[] = { d->model, d->stack };
	sqlite3_stmt *q = store_prepare(s, sql, texts, 2, err);
	if (!q)
		return -1;
	int64_t id = store_step_id(s, q, err);
	sqlite3_finalize(q);
	return id;
}

int64_t store_device_find(struct store *s, const struct device *d, struct error *err)
{
	return store_identity(s, "SELECT id FROM identity WHERE model = ?1 AND stack = ?2", d, err);
}

/* Returns the id of the attributes row that equals the device, adding it if it is new, and extends its
 * dates. */
static int64_t store_attributes_row(
	struct store *s, int64_t identity, const struct device *d, struct store_seen seen, struct error *err)
{
	const char *const texts[] = { d->name, d->runner, d->version, d->host, d->attributes };
	static const char *const sql[] = {
		"SELECT id FROM attributes WHERE name = ?1 AND runner = ?2 AND version = ?3 AND host = ?4 "
		"AND json = ?5"
		" AND identity = ?6 AND threads = ?7 AND llc_bytes IS ?8 AND has_matrix = ?9",
		"INSERT INTO attributes (name, runner, version, host, json, identity, threads, llc_bytes, "
		"has_matrix,"
		" first_seen, last_seen) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
	};
	int64_t id = 0;
	for (int i = 0; i < 2 && id == 0; i++) {
		sqlite3_stmt *q = store_prepare(s, sql[i], texts, 5, err);
		if (!q)
			return -1;
		sqlite3_bind_int64(q, 6, identity);
		sqlite3_bind_int(q, 7, d->threads);
		store_bind_number(q, 8, d->llc_bytes);
		sqlite3_bind_int(q, 9, d->has_matrix);
		if (i == 1) {
			sqlite3_bind_int64(q, 10, seen.first);
			sqlite3_bind_int64(q, 11, seen.last);
		}
		id = store_step_id(s, q, err);
		sqlite3_finalize(q);
	}
	if (id <= 0)
		return -1;
	sqlite3_stmt *q = store_prepare(s,
		"UPDATE attributes SET first_seen = min(first_seen, ?1), last_seen = max(last_seen, ?2) "
		"WHERE id = ?3"
		" AND (first_seen > ?1 OR last_seen < ?2)",
		NULL, 0, err);
	if (!q)
		return -1;
	sqlite3_bind_int64(q, 1, seen.first);
	sqlite3_bind_int64(q, 2, seen.last);
	sqlite3_bind_int64(q, 3, id);
	int64_t done = store_step_id(s, q, err);
	sqlite3_finalize(q);
	return done < 0 ? -1 : id;
}

static void store_remember(struct store *s, int64_t identity, int64_t attributes)
{
	for (int i = 0; i < s->known_count; i++)
		if (s->known[i].identity == identity) {
			s->known[i].attributes = attributes;
			return;
		}
	VEC_GROW(s->known, s->known_count, s->known_capacity);
	s->known[s->known_count++] = (struct store_attributes){ identity, attributes };
}

int64_t store_device(struct store *s, const struct device *d, struct error *err)
{
	int64_t now = (int64_t)time(NULL);
	return store_device_seen(s, d, (struct store_seen){ now, now }, err);
}

int64_t store_device_seen(struct store *s, const struct device *d, struct store_seen seen, struct error *err)
{
	if (store_begin(s, err))
		return -1;
	int64_t identity = store_device_find(s, d, err);
	if (identity == 0)
		identity = store_identity(s, "INSERT INTO identity (model, stack) VALUES (?1, ?2)", d, err);
	int64_t attributes = identity < 0 ? -1 : store_attributes_row(s, identity, d, seen, err);
	if (store_end(s, attributes > 0, err))
		return -1;
	store_remember(s, identity, attributes);
	return identity;
}

int64_t store_attributes_of(struct store *s, int64_t identity, struct error *err)
{
	for (int i = 0; i < s->known_count; i++)
		if (s->known[i].identity == identity)
			return s->known[i].attributes;
	sqlite3_stmt *q = store_prepare(s,
		"SELECT id FROM attributes WHERE identity = ?1 ORDER BY last_seen DESC, id DESC LIMIT 1",
		NULL, 0, err);
	if (!q)
		return -1;
	sqlite3_bind_int64(q, 1, identity);
	int64_t id = store_step_id(s, q, err);
	sqlite3_finalize(q);
	if (id == 0)
		return error_set(err, "%s: there is no device %lld", s->path, (long long)identity);
	if (id > 0)
		store_remember(s, identity, id);
	return id;
}

void store_device_from_row(sqlite3_stmt *q, struct arena *a, struct device *d)
{
	const char *texts[7];
	for (int i = 0; i < 7; i++) {
		const char *t = store_column_text(q, 1 + i, "");
		texts[i] = i < 6 ? text_clean(a, text_of(t)) : json_clean_object(a, t);
	}
	*d = (struct device){
		.model = texts[0],
		.stack = texts[1],
		.name = texts[2],
		.runner = texts[3],
		.version = texts[4],
		.host = texts[5],
		.attributes = texts[6],
		.threads = sqlite3_column_int(q, 8),
		.llc_bytes = store_column_number(q, 9),
		.has_matrix = sqlite3_column_int(q, 10) != 0,
	};
}

struct store_device_row {
	struct device d;
	int64_t id;
};

int store_devices(struct store *s, struct arena *a, struct device **devices, int64_t **ids, int *count,
	struct error *err)
{
	static const char sql[] =
		"SELECT i.id, i.model, i.stack, t.name, t.runner, t.version, t.host, t.json, t.threads, "
		"t.llc_bytes,"
		" t.has_matrix FROM identity i LEFT JOIN attributes t ON t.id = (SELECT id FROM attributes"
		" WHERE identity = i.id ORDER BY last_seen DESC, id DESC LIMIT 1)"
		" WHERE EXISTS (SELECT 1 FROM result WHERE identity = i.id) ORDER BY i.id";
	sqlite3_stmt *q = store_prepare(s, sql, NULL, 0, err);
	if (!q)
		return -1;
	struct store_device_row *list = NULL;
	int n = 0, capacity = 0, rc;
	while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
		VEC_GROW(list, n, capacity);
		list[n].id = sqlite3_column_int64(q, 0);
		store_device_from_row(q, a, &list[n++].d);
	}
	sqlite3_finalize(q);
	*devices = ARENA_ARRAY(a, struct device, n);
	*ids = ARENA_ARRAY(a, int64_t, n);
	for (int i = 0; i < n; i++) {
		(*devices)[i] = list[i].d;
		(*ids)[i] = list[i].id;
	}
	*count = n;
	free(list);
	return rc == SQLITE_DONE ? 0 : store_error(s, rc, "read devices", err);
}

/* how: a WHERE clause that limits the update of an existing row. Returns 1 if the row was written, 0 if not,
 * -1 on errors. */
static int store_dims_write(struct store *s, const char *how, const char *model_key, const char *json,
	int64_t at, struct error *err)
{
	const char *const texts[] = { model_key, json };
	struct str sql = { 0 };
	if (store_begin(s, err))
		return -1;
	str_addf(&sql,
		"INSERT INTO model_dims (model, json, changed_at) VALUES (?1, ?2, ?3) ON CONFLICT (model)"
		" DO UPDATE SET json = excluded.json, changed_at = excluded.changed_at%s",
		how);
	sqlite3_stmt *q = store_prepare(s, sql.p, texts, 2, err);
	int rc = SQLITE_ERROR;
	if (q) {
		sqlite3_bind_int64(q, 3, at);
		rc = sqlite3_step(q);
		if (rc != SQLITE_DONE)
			store_error(s, rc, "store dimensions", err);
	}
	int written = sqlite3_changes(s->db) > 0;
	sqlite3_finalize(q);
	str_free(&sql);
	return store_end(s, rc == SQLITE_DONE, err) ? -1 : written;
}

int store_dims_put(struct store *s, const char *model_key, const char *json, struct error *err)
{
	return store_dims_write(s, "", model_key, json, (int64_t)time(NULL), err) < 0 ? -1 : 0;
}

int store_dims_merge(struct store *s, const char *model_key, const char *json, int64_t at, struct error *err)
{
	return store_dims_write(s, " WHERE excluded.changed_at > changed_at", model_key, json, at, err);
}

int store_dims_walk(struct store *s,
	int (*visit)(void *context, const char *model_key, const char *json, int64_t at, struct error *err),
	void *context, struct error *err)
{
	sqlite3_stmt *q = store_prepare(s, "SELECT model, json, changed_at FROM model_dims ORDER BY model",
		NULL, 0, err);
	int rc = SQLITE_ERROR, status = q ? 0 : -1;
	while (!status && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		const char *model = store_column_text(q, 0, NULL), *json = store_column_text(q, 1, NULL);
		if (model && json)
			status = visit(context, model, json, sqlite3_column_int64(q, 2), err);
	}
	sqlite3_finalize(q);
	return status || rc == SQLITE_DONE ? status : store_error(s, rc, "read dimensions", err);
}

char *store_dims_get(struct store *s, struct arena *a, const char *model_key)
{
	sqlite3_stmt *q =
		store_prepare(s, "SELECT json FROM model_dims WHERE model = ?1", &model_key, 1, NULL);
	char *json = NULL;
	if (q && sqlite3_step(q) == SQLITE_ROW) {
		const char *text = store_column_text(q, 0, NULL);
		if (text)
			json = arena_strndup(a, text, strlen(text));
	}
	sqlite3_finalize(q);
	return json;
}
