/* Opening and closing of the database, and the errors of a path that cannot be one. */
#include "config.h"

#include "store/store_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/* What the errno of a path that cannot be created means. */
static enum store_fault fault_of(int e)
{
	return e == ENOSPC || e == EDQUOT ? STORE_FAULT_FULL :
		e == EROFS || e == EACCES || e == EPERM ? STORE_FAULT_UNWRITABLE : STORE_FAULT_OTHER;
}

static int store_make_parents(struct store *s, struct error *err)
{
	const char *path = s->path;
	char *copy = base_strdup(path);
	int rc = 0;
	for (char *p = copy + 1; *p && !rc; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0700) && errno != EEXIST) {
			int e = errno; /* EROFS or EACCES also if the directory exists */
			struct stat st;
			if (stat(copy, &st) || !S_ISDIR(st.st_mode)) {
				s->fault = fault_of(e);
				rc = error_set(err,
					"%s: cannot create the directory %s: %s; give another file with --db",
					path, copy, strerror(e));
			}
		}
		*p = '/';
	}
	free(copy);
	return rc;
}

static int store_check_parent(struct store *s, struct error *err)
{
	const char *path = s->path;
	const char *slash = strrchr(path, '/');
	char *parent = slash ? base_strdup(path) : base_strdup(".");
	if (slash)
		parent[slash == path ? 1 : slash - path] = '\0';
	int rc = 0;
	if (access(parent, W_OK | X_OK)) {
		s->fault = fault_of(errno);
		rc = error_set(err, "%s: cannot create a file in %s: %s; give another file with --db", path,
			parent, strerror(errno));
	}
	free(parent);
	return rc;
}

/* Checks the path before SQLite opens it, for clearer errors than SQLite's. */
static int store_check_path(struct store *s, struct error *err)
{
	struct stat st;
	const char *path = s->path;
	if (!path[0])
		return error_set(err, "the database path is empty; give a file with --db");
	if (path[strlen(path) - 1] == '/')
		return error_set(err, "%s: a directory; give a file in it with --db", path);
	if (!s->read_only && store_make_parents(s, err))
		return -1;
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return error_set(err, "%s: a directory; give a file in it with --db", path);
		if (!S_ISREG(st.st_mode))
			return error_set(err, "%s: not a regular file; give a file with --db", path);
		if (access(path, R_OK))
			return error_set(err, "%s: %s; give read permission, or another file with --db", path,
				strerror(errno));
		if (!s->read_only && access(path, W_OK) && errno == EROFS) {
			s->fault = STORE_FAULT_UNWRITABLE;
			return error_set(err,
				"%s: on a read-only file system; give a writable file with --db "
				"(`benanza db merge` copies the results to it)",
				path);
		}
		return 0;
	}
	if (errno == ENOENT && !s->read_only)
		return store_check_parent(s, err);
	return error_set(err, "%s: %s; give another file with --db", path, strerror(errno));
}

/* In WAL mode with synchronous = NORMAL a commit hands the data to the operating system but does not wait for
 * the disk: the sudden end of the process loses nothing, a power loss can lose the results of the last
 * seconds, and the file stays consistent. Without WAL every commit waits for the disk. Source:
 * sqlite.org/pragma.html#pragma_synchronous. */
static int store_set_durability(struct store *s, struct error *err)
{
	struct error refused = ERROR_NONE;
	s->wal = false;
	if (s->network || store_set_journal(s, "WAL", STORE_BUSY_MS, &refused) || !s->wal) {
		log_line("%s: no write-ahead log%s%s%s", s->path, s->network || refused.text[0] ? ": " : "",
			s->network ? "on a network file system: " : "",
			s->network ? s->network : refused.text);
		if (store_set_journal(s, "DELETE", STORE_BUSY_MS, err))
			return -1;
	}
	return store_exec(s, s->wal ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL", err);
}

static int store_prepare_to_use(struct store *s, bool immutable, struct error *err)
{
	bool fresh = false;
	if (store_open_file(s, immutable, err) || place_prepare(s, immutable, err) ||
		store_check_header(s, &fresh, err))
		return -1;
	if (!s->read_only && (store_set_durability(s, err)))
		return -1;
	if (!s->read_only && migrate(s->db, err) < 0) {
		int rc = sqlite3_errcode(s->db); /* a full disk, another program's lock */
		return store_has_cause(rc) ? store_error(s, rc, "migrate the schema", err) :
			error_context(err, "%s", s->path);
	}
	/* preparing statements finds a missing table or column now, not at the first result */
	if (!store_statement(s, STATEMENT_RESULT_LOAD, err) ||
		!store_statement(s, STATEMENT_FINISHED_LOAD, err) ||
		(!s->read_only && !store_statement(s, STATEMENT_RESULT_ADD, err)))
		return -1;
	return store_still_there(s, err);
}

static void store_close_file(struct store *s)
{
	for (int i = 0; i < STATEMENT_COUNT; i++) {
		sqlite3_finalize(s->statements[i]);
		s->statements[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
}

/* True if the database has no write-ahead log, or an empty one. */
static bool store_is_alone(const char *path)
{
	struct str wal = { 0 };
	struct stat st;
	str_addf(&wal, "%s-wal", path);
	bool alone = stat(wal.p, &st) != 0 || st.st_size == 0;
	str_free(&wal);
	return alone;
}

struct store *store_open(const char *path, bool read_only, struct error *err)
{
	return store_open_or(path, read_only, NULL, err);
}

struct store *store_open_or(const char *path, bool read_only, enum store_fault *fault, struct error *err)
{
	struct store *s = base_calloc(1, sizeof(*s));
	s->path = base_strdup(path ? path : "");
	s->read_only = read_only;
	struct error said = ERROR_NONE; /* reported only if the second attempt fails too */
	int bad = store_check_path(s, &said);
	int rc = bad ? bad : store_prepare_to_use(s, false, &said);
	bool sealed = !bad && rc && (s->code == SQLITE_CANTOPEN || (read_only &&
		(s->code == SQLITE_READONLY || s->fault == STORE_FAULT_FULL)));
	bool alone = store_is_alone(s->path);
	if (sealed && read_only && alone) {
		store_close_file(s);
		rc = store_prepare_to_use(s, true, &said);
	} else if (sealed && !alone && s->fault != STORE_FAULT_FULL) {
		/* immutable would ignore the results in the log */
		error_set(&said,
			"%s: cannot be opened in a directory without write permission, "
			"because %s-wal contains results: copy both files to a writable directory",
			path, path);
	}
	if (rc) {
		error_set(err, "%s", said.text);
		if (fault)
			*fault = s->fault;
		store_close(s);
		return NULL;
	}
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	store_close_file(s);
	keep_free(&s->keep);
	arena_free(&s->row);
	free(s->known);
	free(s->path);
	free(s);
}

const char *store_path(const struct store *s)
{
	return s->path;
}

bool store_is_gone(const struct store *s)
{
	return s->gone;
}
