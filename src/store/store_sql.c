/* SQLite for all of the store: opening the file, statements, columns, and errors with their fix. */
#include "config.h"

#include "store/store_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STORE_LENGTH_MAX                                                                                     \
	(16 << 20) /* bytes of a text or statement: limits what a damaged or hostile file can allocate */

/* Errors by SQLite result code: the cause and the fix. Format arguments: path, SQLite's or the system's error
 * text. */
#define LOCKED_FORMAT "%s: another program keeps it locked (%s): retry when that program has ended"
static const struct store_cause {
	int rc;
	bool passes; /* transient: a retry may succeed */
	const char *format;
} store_causes[] = {
	{ SQLITE_NOTADB, false, "%s: not a database (%s); it was not changed: give another file with --db" },
	{ SQLITE_CORRUPT, false,
		"%s: damaged (%s): keep a copy, recover it with .recover of the sqlite3 shell, "
		"or give another file with --db" },
	{ SQLITE_READONLY, true,
		"%s: cannot be written (%s): give write permission on the file and its directory, "
		"or another file with --db" },
	{ SQLITE_PERM, true, "%s: no permission (%s): set it, or give another file with --db" },
	{ SQLITE_BUSY, true, LOCKED_FORMAT },
	{ SQLITE_LOCKED, true, LOCKED_FORMAT },
	{ SQLITE_PROTOCOL, true, LOCKED_FORMAT },
	{ SQLITE_FULL, true, "%s: no space left (%s): free some disk space; stored results are kept" },
	{ SQLITE_IOERR, true, "%s: cannot be read or written (%s): check its disk" },
	{ SQLITE_CANTOPEN, true,
		"%s: cannot be opened (%s): check the path and its permissions, "
		"or give another file with --db" },
};

static const struct store_cause *store_cause(int primary)
{
	for (size_t i = 0; i < sizeof(store_causes) / sizeof(store_causes[0]); i++)
		if (store_causes[i].rc == primary)
			return &store_causes[i];
	return NULL;
}

bool store_has_cause(int rc)
{
	return store_cause(rc & 0xff);
}

int store_error(struct store *s, int rc, const char *doing, struct error *err)
{
	int primary = rc & 0xff, system = s->system_errno;
	if (!system && s->db)
		system = sqlite3_system_errno(s->db);
	/* SQLite reports a full quota and a file size limit as I/O errors */
	if (primary == SQLITE_IOERR && (system == EDQUOT || system == EFBIG || system == ENOSPC))
		primary = SQLITE_FULL;
	const struct store_cause *cause = store_cause(primary);
	s->passing = cause && cause->passes;
	s->fault = primary == SQLITE_FULL ? STORE_FAULT_FULL :
		primary == SQLITE_READONLY || primary == SQLITE_PERM || primary == SQLITE_CANTOPEN ?
		STORE_FAULT_UNWRITABLE : STORE_FAULT_OTHER;
	s->code = rc & 0xff;
	if (!cause)
		return error_set(err, "%s: cannot %s: %s", s->path, doing,
			s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc));
	const char *words = sqlite3_errstr(rc);
	/* only with these codes; otherwise SQLite's errno is that of an earlier error */
	if (system && ((rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN))
		words = strerror(system);
	if (primary == SQLITE_BUSY && *store_lock_holder(s))
		words = s->holder;
	return error_set(err, cause->format, s->path, words);
}

int store_exec(struct store *s, const char *sql, struct error *err)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : store_error(s, rc, sql, err);
}

double store_column_number(sqlite3_stmt *q, int column)
{
	int type = sqlite3_column_type(q, column);
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(q, column) : NAN;
}

const char *store_column_text(sqlite3_stmt *q, int column, const char *otherwise)
{
	if (sqlite3_column_type(q, column) != SQLITE_TEXT)
		return otherwise;
	const char *text = (const char *)sqlite3_column_text(q, column);
	return text && strlen(text) == (size_t)sqlite3_column_bytes(q, column) ? text : otherwise;
}

void store_bind_number(sqlite3_stmt *q, int column, double value)
{
	if (isfinite(value))
		sqlite3_bind_double(q, column, value);
	else
		sqlite3_bind_null(q, column);
}

void store_bind_text(sqlite3_stmt *q, int column, const char *text)
{
	sqlite3_bind_text(q, column, text ? text : "", -1, SQLITE_TRANSIENT);
}

/* Sets *value to the integer that a statement returns. */
static int store_one_number(struct store *s, const char *sql, int64_t *value, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		*value = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return rc == SQLITE_ROW ? 0 : store_error(s, rc, "read it", err);
}

int store_open_file(struct store *s, bool immutable, struct error *err)
{
	int flags = s->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	/* with "./" in front, SQLite takes names such as ":memory:" as files */
	struct str name = { 0 };
	str_addf(&name, "%s%s", s->path[0] == '/' ? "" : "./", s->path);
	char *uri = immutable ? store_immutable_uri(name.p) : NULL;
	int rc = sqlite3_open_v2(uri ? uri : name.p, &s->db, flags | (uri ? SQLITE_OPEN_URI : 0), NULL);
	str_free(&name);
	free(uri);
	if (rc != SQLITE_OK)
		return store_error(s, rc, "open it", err);
	sqlite3_extended_result_codes(s->db, 1);
	store_set_patience(s, STORE_BUSY_MS, NULL, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, STORE_LENGTH_MAX);
	return store_exec(s, "PRAGMA foreign_keys = ON", err);
}

/* Nothing is written to the file before this returns 0. */
int store_check_header(struct store *s, bool *fresh, struct error *err)
{
	/* a view in place of a table could return endless rows */
	static const char views_sql[] =
		"SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND lower(name) "
		"IN ('identity',"
		" 'attributes', 'problem', 'algorithm', 'note', 'result', 'finished', 'model_dims',"
		" 'execution', 'execution_layer')"
		" AND (type = 'view' OR sql NOT LIKE 'CREATE TABLE%')";
	int64_t application = 0, version = 0, tables = 0, views = 0;
	/* in one transaction, because another process may be creating the tables */
	if (store_exec(s, "BEGIN", err) ||
		store_one_number(s, "PRAGMA application_id", &application, err) ||
		store_one_number(s, "PRAGMA user_version", &version, err) ||
		store_one_number(s, "SELECT count(*) FROM sqlite_schema", &tables, err) ||
		store_one_number(s, views_sql, &views, err) ||
		store_exec(s, "COMMIT", err))
		return -1;
	*fresh = version == 0 && tables == 0;
	if (application != STORE_APPLICATION_ID && !(application == 0 && *fresh))
		return error_set(err,
			"%s: a database of another program; it was not changed: give another file with --db",
			s->path);
	if (version < 0 || version > STORE_VERSION)
		return error_set(err,
			"%s: schema version %lld is newer than this benanza supports (%d); "
			"it was not changed: use a newer benanza, or give another file with --db",
			s->path, (long long)version, STORE_VERSION);
	if (views)
		return error_set(err,
			"%s: damaged (a view replaces a table): give another file with --db", s->path);
	if (s->read_only && *fresh) {
		s->fault = STORE_FAULT_EMPTY;
		return error_set(err, "%s: an empty file; `benanza bench` creates the database", s->path);
	}
	s->version = s->read_only && version ? (int)version : STORE_VERSION;
	if (s->read_only && version < STORE_VERSION_READ)
		return error_set(err,
			"%s: schema version %lld is older than this benanza can read (%d); "
			"migrate it with `benanza bench`",
			s->path, (long long)version, STORE_VERSION_READ);
	if (!s->read_only && sqlite3_db_readonly(s->db, "main") == 1)
		return store_error(s, SQLITE_READONLY, "write it", err);
	return 0;
}

/* Retries while the file is locked: another process that opens the same new file can lock it briefly, and
 * SQLite's busy handler is not called for this change. */
int store_set_journal(struct store *s, const char *mode, int patience_ms, struct error *err)
{
	char sql[64];
	snprintf(sql, sizeof(sql), "PRAGMA journal_mode = %s", mode);
	for (int waited_ms = 0;; waited_ms += 10) {
		sqlite3_stmt *q = NULL;
		int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
		if (rc == SQLITE_OK)
			rc = sqlite3_step(q);
		if (rc == SQLITE_ROW)
			s->wal = strcmp(store_column_text(q, 0, ""), "wal") == 0;
		sqlite3_finalize(q);
		if (rc == SQLITE_ROW)
			return 0;
		if ((rc & 0xff) != SQLITE_BUSY || waited_ms >= patience_ms)
			return store_error(s, rc, "set the journal mode", err);
		sqlite3_sleep(10);
	}
}

/* The write-ahead log contains results too: it must still be the file that was first seen. */
static int store_wal_still_there(struct store *s, struct error *err)
{
	struct str path = { 0 };
	struct stat st;
	str_addf(&path, "%s-wal", s->path);
	int missing = stat(path.p, &st);
	str_free(&path);
	if (missing && !s->wal_inode)
		return 0;
	if (!missing && !s->wal_inode) {
		s->wal_device = st.st_dev;
		s->wal_inode = st.st_ino;
	}
	s->gone = missing || st.st_dev != s->wal_device || st.st_ino != s->wal_inode;
	if (s->gone)
		return error_set(err,
			"%s-wal was removed or replaced while in use: restart benanza; "
			"later results are not stored",
			s->path);
	return 0;
}

int store_still_there(struct store *s, struct error *err)
{
	int moved = 0;
	/* SQLite compares the inode of its open file with the one at the path */
	s->gone = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
	if (s->gone)
		return error_set(err,
			"%s was removed or replaced while in use: restart benanza; "
			"later results are not stored",
			s->path);
	return s->wal ? store_wal_still_there(s, err) : 0;
}

/* For read-only media, where SQLite cannot create its -shm file. */
char *store_immutable_uri(const char *path)
{
	struct str s = { 0 };
	str_addf(&s, "file:");
	for (const char *p = path; *p; p++) {
		if (strchr("%?#", *p))
			str_addf(&s, "%%%02x", (unsigned char)*p);
		else
			str_add(&s, p, 1);
	}
	str_addf(&s, "?immutable=1");
	return s.p;
}
