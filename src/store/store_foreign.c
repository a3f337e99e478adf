/* The file is opened as immutable: SQLite takes no locks, looks for no journal and creates no file. What a
 * hostile schema could run is switched off in SQLite itself (https://www.sqlite.org/security.html): views,
 * triggers, virtual tables, functions of the schema; an authorizer allows reading only. */
#include "config.h"

#include "store/store_foreign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/store_private.h"

#define FILE_BYTES ((int64_t)64 << 30)
#define CELL_BYTES (16 << 20)
#define QUERY_MS 60000
#define CHECK_STEPS                                                                                          \
	10000 /* instructions of SQLite between two looks at the clock: less than a millisecond              \
	       */

struct foreign {
	sqlite3 *db;
	char *path;
	struct foreign_limits limits;
	int64_t until_ms; /* of the present call */
	bool late;	  /* it was interrupted by the time limit */
};

struct foreign_query {
	struct foreign *f;
	sqlite3_stmt *statement;
	int64_t left_ms;
};

static int foreign_error(const struct foreign *f, int rc, struct error *err)
{
	const char *text = f->db ? sqlite3_errmsg(f->db) : sqlite3_errstr(rc);
	switch (rc & 0xff) {
	case SQLITE_NOTADB:
		return error_set(err, "%s: not an SQLite database", f->path);
	case SQLITE_CORRUPT:
		return error_set(err, "%s: damaged (%s): export it again", f->path, text);
	case SQLITE_TOOBIG:
		return error_set(err, "%s: a value has more than %lld bytes", f->path,
			(long long)f->limits.cell_bytes);
	case SQLITE_INTERRUPT:
		if (f->late)
			return error_set(err, "%s: a query takes longer than %.3g s", f->path,
				f->limits.query_ms / 1000.0);
		return error_set(err, "%s: interrupted", f->path);
	default:
		return error_set(err, "%s: cannot be read: %s", f->path, text);
	}
}

/* Interrupts a statement that is late. */
static int foreign_progress(void *user)
{
	struct foreign *f = user;
	f->late = clock_ms() > f->until_ms;
	return f->late || (f->limits.stop && *f->limits.stop);
}

static int foreign_authorize(
	void *user, int action, const char *one, const char *function, const char *database, const char *from)
{
	(void)user;
	(void)database;
	(void)from;
	bool reads = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE;
	bool computes =
		action == SQLITE_FUNCTION && function && sqlite3_stricmp(function, "load_extension") != 0;
	bool describes = action == SQLITE_PRAGMA && one && sqlite3_stricmp(one, "table_xinfo") == 0;
	return reads || computes || describes ? SQLITE_OK : SQLITE_DENY;
}

static void foreign_protect(struct foreign *f)
{
	static const struct {
		int option, value;
	} options[] = { { SQLITE_DBCONFIG_DEFENSIVE, 1 }, { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 }, { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 } };
	const struct {
		int limit, value;
	} limits[] = { { SQLITE_LIMIT_LENGTH, (int)f->limits.cell_bytes },
		{ SQLITE_LIMIT_SQL_LENGTH, 1 << 20 }, { SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 100 }, { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 } };
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		sqlite3_db_config(f->db, options[i].option, options[i].value, NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(f->db, limits[i].limit, limits[i].value);
	sqlite3_extended_result_codes(f->db, 1);
	sqlite3_progress_handler(f->db, CHECK_STEPS, foreign_progress, f);
	/* no mapping, because another program may truncate the file; damaged pages are errors */
	sqlite3_exec(f->db, "PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON", NULL, NULL, NULL);
	sqlite3_set_authorizer(f->db, foreign_authorize, f);
}

/* An immutable file is read without its log, so one that is being written would be read in part. */
static int foreign_check(const struct foreign *f, struct error *err)
{
	struct stat st;
	struct str log = { 0 };
	if (stat(f->path, &st))
		return error_set(err, "%s: %s", f->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, "%s: %s", f->path,
			S_ISDIR(st.st_mode) ? "a directory, not a file" : "not a file");
	if (st.st_size > f->limits.file_bytes)
		return error_set(err, "%s: larger than %lld bytes", f->path, (long long)f->limits.file_bytes);
	if (st.st_size == 0)
		return error_set(err, "%s: an empty file", f->path);
	int bad = 0;
	for (int i = 0; i < 2 && !bad; i++) {
		str_clear(&log);
		str_addf(&log, "%s%s", f->path, i ? "-journal" : "-wal");
		if (stat(log.p, &st) == 0 && st.st_size > 0)
			bad = error_set(err,
				"%s: another program still writes it (%s exists): wait until that has ended",
				f->path, log.p);
	}
	str_free(&log);
	return bad;
}

static int foreign_connect(struct foreign *f, struct error *err)
{
	const char *path = f->path;
	struct str name = { 0 };
	if (foreign_check(f, err))
		return -1;
	while (path[0] == '/' && path[1] == '/') /* "//name" would be a host in a URI */
		path++;
	str_addf(&name, "%s%s", path[0] == '/' ? "" : "./", path);
	char *uri = store_immutable_uri(name.p);
	int rc = sqlite3_open_v2(
		uri, &f->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE, NULL);
	str_free(&name);
	free(uri);
	if (rc != SQLITE_OK)
		return foreign_error(f, rc, err);
	foreign_protect(f);
	struct foreign_query *q = foreign_query(f, "SELECT count(*) FROM sqlite_schema", NULL, 0, err);
	rc = q ? foreign_next(q, err) : -1;
	foreign_query_free(q);
	return rc < 0 ? -1 : 0;
}

struct foreign *foreign_open(const char *path, const struct foreign_limits *limits, struct error *err)
{
	struct foreign *f = base_calloc(1, sizeof(*f));
	f->path = base_strdup(path);
	if (limits)
		f->limits = *limits;
	if (f->limits.file_bytes <= 0)
		f->limits.file_bytes = FILE_BYTES;
	if (f->limits.cell_bytes <= 0 || f->limits.cell_bytes > INT32_MAX)
		f->limits.cell_bytes = CELL_BYTES;
	if (f->limits.query_ms <= 0)
		f->limits.query_ms = QUERY_MS;
	if (foreign_connect(f, err) == 0)
		return f;
	foreign_close(f);
	return NULL;
}

void foreign_close(struct foreign *f)
{
	if (!f)
		return;
	sqlite3_close(f->db);
	free(f->path);
	free(f);
}

/* True if a column is computed from others when it is read: by an expression of the file, of which one
 * instruction can take minutes. */
static bool foreign_is_computed(struct foreign *f, const char *table, const char *column)
{
	char *sql = sqlite3_mprintf("PRAGMA main.table_xinfo(\"%w\")", table);
	sqlite3_stmt *q = NULL;
	bool computed = sqlite3_prepare_v2(f->db, sql, -1, &q, NULL) != SQLITE_OK;
	while (!computed && sqlite3_step(q) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(q, 1);
		computed = name && sqlite3_stricmp(name, column) == 0 && sqlite3_column_int(q, 6) != 0;
	}
	sqlite3_finalize(q);
	sqlite3_free(sql);
	return computed;
}

bool foreign_has(struct foreign *f, const char *table, const char *column)
{
	f->until_ms = clock_ms() + f->limits.query_ms;
	return sqlite3_table_column_metadata(f->db, "main", table, column, NULL, NULL, NULL, NULL, NULL) ==
		       SQLITE_OK && (!column || !foreign_is_computed(f, table, column));
}

static int foreign_bind(sqlite3_stmt *s, int at, const struct foreign_value *v)
{
	switch (v->type) {
	case FOREIGN_INT:
		return sqlite3_bind_int64(s, at, v->i);
	case FOREIGN_REAL:
		return sqlite3_bind_double(s, at, v->r);
	case FOREIGN_TEXT:
		return sqlite3_bind_text64(
			s, at, v->t.n ? v->t.p : "", v->t.n, SQLITE_TRANSIENT, SQLITE_UTF8);
	case FOREIGN_BLOB:
		return sqlite3_bind_blob64(s, at, v->t.n ? v->t.p : "", v->t.n, SQLITE_TRANSIENT);
	case FOREIGN_NULL:
		break;
	}
	return sqlite3_bind_null(s, at);
}

struct foreign_query *foreign_query(
	struct foreign *f, const char *sql, const struct foreign_value *values, int count, struct error *err)
{
	struct foreign_query *q = base_calloc(1, sizeof(*q));
	const char *rest = "";
	q->f = f;
	q->left_ms = f->limits.query_ms;
	f->until_ms = clock_ms() + q->left_ms;
	f->late = false;
	int rc = sqlite3_prepare_v3(f->db, sql, -1, SQLITE_PREPARE_NO_VTAB, &q->statement, &rest);
	int bad = rc ? foreign_error(f, rc, err) : 0;
	if (!bad && (!q->statement || rest[strspn(rest, " \t\n;")] || !sqlite3_stmt_readonly(q->statement)))
		bad = error_set(err, "%s: not a single reading statement: %s", f->path, sql);
	if (!bad && sqlite3_bind_parameter_count(q->statement) != count)
		bad = error_set(err, "%s: %d values for a statement with %d: %s", f->path, count,
			sqlite3_bind_parameter_count(q->statement), sql);
	for (int i = 0; i < count && !bad; i++)
		if ((rc = foreign_bind(q->statement, i + 1, &values[i])) != SQLITE_OK)
			bad = foreign_error(f, rc, err);
	if (!bad)
		return q;
	foreign_query_free(q);
	return NULL;
}

int foreign_next(struct foreign_query *q, struct error *err)
{
	struct foreign *f = q->f;
	int64_t begin = clock_ms();
	f->until_ms = begin + q->left_ms;
	f->late = false;
	int rc = sqlite3_step(q->statement);
	q->left_ms -= clock_ms() - begin;
	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : foreign_error(f, rc, err);
}

struct foreign_value foreign_column(const struct foreign_query *q, int column)
{
	sqlite3_stmt *s = q->statement;
	struct foreign_value v = { .type = FOREIGN_NULL };
	switch (column >= 0 && column < sqlite3_data_count(s) ? sqlite3_column_type(s, column)
							      : SQLITE_NULL) {
	case SQLITE_INTEGER:
		v.type = FOREIGN_INT;
		v.i = sqlite3_column_int64(s, column);
		break;
	case SQLITE_FLOAT:
		v.type = FOREIGN_REAL;
		v.r = sqlite3_column_double(s, column);
		break;
	case SQLITE_TEXT:
		v.type = FOREIGN_TEXT;
		v.t.p = (const char *)sqlite3_column_text(s, column);
		v.t.n = (size_t)sqlite3_column_bytes(s, column);
		break;
	case SQLITE_BLOB:
		v.type = FOREIGN_BLOB;
		v.t.p = sqlite3_column_blob(s, column);
		v.t.n = (size_t)sqlite3_column_bytes(s, column);
		break;
	default:
		break;
	}
	return v;
}

void foreign_query_free(struct foreign_query *q)
{
	if (!q)
		return;
	sqlite3_finalize(q->statement);
	free(q);
}
