/* What the files of the store share. */
#ifndef STORE_STORE_PRIVATE_H
#define STORE_STORE_PRIVATE_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "store/store.h"

/* "BNZA" in the file's header: tells our files from those of other programs that use SQLite. */
#define STORE_APPLICATION_ID 0x424e5a41
#define STORE_VERSION 1

/* One step of the schema's history: from version `from` to from + 1. */
struct migrate_step {
	int from;
	const char *sql;
};

/* Brings the open file to version `target` by the steps (of which step 0 makes the tables of an empty file), all in one
 * transaction that another process may have run first. Returns the version found before, or -1: newer than target,
 * no way from there, SQL that fails (the file is then as it was). */
int migrate_run(sqlite3 *db, const struct migrate_step *steps, int count, int target, struct error *err);
/* The real history, to STORE_VERSION. */
int migrate(sqlite3 *db, struct error *err);

/* Statements that are used often, prepared once. */
enum store_statement {
	STATEMENT_BEGIN,
	STATEMENT_COMMIT,
	STATEMENT_ROLLBACK,
	STATEMENT_PROBLEM_FIND,
	STATEMENT_PROBLEM_ADD,
	STATEMENT_ALGORITHM_FIND,
	STATEMENT_ALGORITHM_ADD,
	STATEMENT_RESULT_ADD,
	STATEMENT_RESULT_LOAD,
	STATEMENT_FINISH,
	STATEMENT_FINISHED_LOAD,
	STATEMENT_BEGIN_READ,
	STATEMENT_COUNT
};

/* The attributes row that results of an identity carry, as store_device of this handle found it. */
struct store_attributes {
	int64_t identity, attributes;
};

struct store {
	sqlite3 *db;
	char *path;
	bool read_only, wal;
	bool gone;         /* the file at the path is another one than ours */
	dev_t wal_device;  /* of the -wal file, 0 until it was seen */
	ino_t wal_inode;
	sqlite3_stmt *statements[STATEMENT_COUNT];
	struct store_attributes *known;
	int known_count, known_capacity;
};

/* Turns the database's present error (code rc) into one line with file and cure. Always -1. */
int store_error(struct store *s, int rc, const char *doing, struct error *err);
/* Runs SQL that gives no rows. */
int store_exec(struct store *s, const char *sql, struct error *err);
/* A statement, prepared on first use and reset; NULL on error. */
sqlite3_stmt *store_statement(struct store *s, enum store_statement which, struct error *err);
/* -1 when the file that is open is no longer the file at its path. */
int store_still_there(struct store *s, struct error *err);

/* Column as a number; NaN where it is NULL or no number. As text; `otherwise` where it is no text or holds a NUL. */
double store_column_number(sqlite3_stmt *q, int column);
const char *store_column_text(sqlite3_stmt *q, int column, const char *otherwise);
/* Binding: NaN and infinities become NULL, a NULL string the empty one. */
void store_bind_number(sqlite3_stmt *q, int column, double value);
void store_bind_text(sqlite3_stmt *q, int column, const char *text);

#endif
