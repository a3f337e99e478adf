/* What the files of the store share. */
#ifndef STORE_STORE_PRIVATE_H
#define STORE_STORE_PRIVATE_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "store/store.h"

/* "BNZA" in the file's header: tells our files from those of other programs that use SQLite. */
#define STORE_APPLICATION_ID 0x424e5a41
#define STORE_VERSION 2
#define STORE_VERSION_READ 1 /* the oldest that a reader, which may not bring it up to date, reads as it is */

/* One step of the schema's history. */
struct migrate_step {
	int from, to;
	const char *sql;
};

/* Brings the open file to version `target` by the steps (of which the one from 0 makes the tables of an empty file), all in one
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
	STATEMENT_NOTE_FIND,
	STATEMENT_NOTE_ADD,
	STATEMENT_RESULT_ADD,
	STATEMENT_RESULT_SAME,
	STATEMENT_RESULT_LOAD,
	STATEMENT_RESULT_WALK,
	STATEMENT_FINISH,
	STATEMENT_FINISH_ONCE,
	STATEMENT_FINISHED_LOAD,
	STATEMENT_BEGIN_READ,
	STATEMENT_COUNT
};

/* The attributes row that results of an identity carry, as store_device of this handle found it. */
struct store_attributes {
	int64_t identity, attributes;
};

/* store_keep.c: what waits to be written. */
struct keep {
	struct keep_device *devices;
	struct keep_item *first, *last;
	int results;         /* of these; ends of problems wait too */
	int lost;
	int delay_ms;
	int64_t retry_at_ms;
	char why[ERROR_TEXT_SIZE]; /* the last try failed, or something was lost */
};
void keep_free(struct keep *k);

struct store {
	sqlite3 *db;
	char *path;
	bool read_only, wal;
	const char *network; /* the network file system that the file is on, NULL: none */
	int version;       /* of the schema, as it is read */
	bool batch;        /* a transaction of many additions is open */
	bool gone;         /* the file at the path is another one than ours */
	dev_t wal_device;  /* of the -wal file, 0 until it was seen */
	ino_t wal_inode;
	sqlite3_stmt *statements[STATEMENT_COUNT];
	int patience_ms;
	int64_t busy_since_ms;
	bool (*go_on)(void *context, int64_t waited_ms);
	void *go_on_context;
	char holder[64];
	bool passing;      /* the last error may pass */
	int code;          /* SQLite's, of the last error */
	int system_errno;  /* why the present statement failed; 0: SQLite knows, or nobody */
	struct keep keep;
	struct arena row;    /* texts of the present row that had to be cleaned */
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

/* Opens s->path, and nothing is read yet. immutable: of a file that nobody writes to. */
int store_open_file(struct store *s, bool immutable, struct error *err);
/* Is it ours, and of a version that can be read? fresh: there is nothing in it. */
int store_check_header(struct store *s, bool *fresh, struct error *err);
/* Asks for a journal mode, and says in s->wal which it is then. */
int store_set_journal(struct store *s, const char *mode, int patience_ms, struct error *err);

/* store_place.c */
/* Before the file is read: on a network file system locks must work, and a file that has a write-ahead log leaves it, for
 * which nobody else may have it open. */
int place_prepare(struct store *s, bool immutable, struct error *err);
int place_probe_locks(const struct store *s, int limit_ms, struct error *err);

/* Runs a statement without rows and parameters. */
int store_run(struct store *s, enum store_statement which, struct error *err);
/* Opens a transaction for writing, having made sure that what will be written can be found again; in a batch nothing. */
int store_begin(struct store *s, struct error *err);
/* Ends it: good commits (a batch goes on), else everything since store_begin, or the batch, is undone: -1. */
int store_end(struct store *s, bool good, struct error *err);
/* Runs a bound statement: the id in its first row, or, for an INSERT, of the row it made; 0: no row; -1: error. */
int64_t store_step_id(struct store *s, sqlite3_stmt *q, struct error *err);
/* The id of a row named by texts; made where it is new. */
int64_t store_id_of(struct store *s, enum store_statement find, enum store_statement add, const char *const *texts, int count,
	struct error *err);
/* A statement used once. Texts first, then it is the caller's to bind more, and to finalize; NULL on error. */
sqlite3_stmt *store_prepare(struct store *s, const char *sql, const char *const *texts, int count, struct error *err);
/* The attributes row for results of an identity: what store_device said, else the newest in the file. */
int64_t store_attributes_of(struct store *s, int64_t identity, struct error *err);
/* Columns: identity, model, stack, name, runner, version, host, json, threads, llc_bytes, has_matrix. */
void store_device_from_row(sqlite3_stmt *q, struct arena *a, struct device *d);

/* Column as a number; NaN where it is NULL or no number. As text; `otherwise` where it is no text or holds a NUL. */
double store_column_number(sqlite3_stmt *q, int column);
const char *store_column_text(sqlite3_stmt *q, int column, const char *otherwise);
/* Binding: NaN and infinities become NULL, a NULL string the empty one. */
void store_bind_number(sqlite3_stmt *q, int column, double value);
void store_bind_text(sqlite3_stmt *q, int column, const char *text);

#endif
