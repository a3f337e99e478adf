/* Shared by the files of the store. */
#ifndef STORE_STORE_PRIVATE_H
#define STORE_STORE_PRIVATE_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "store/store.h"

/* "BNZA" in the file header marks benanza's databases among those of other SQLite programs. */
#define STORE_APPLICATION_ID 0x424e5a41
#define STORE_VERSION 4
#define STORE_VERSION_READ 1 /* oldest version that can be read without migration */

/* One step of the schema's history. */
struct migrate_step {
	int from, to;
	const char *sql;
};

/* Migrates the open file to version `target` in one transaction; the step from version 0 creates the tables.
 * Returns the version found inside the transaction (another process may have migrated the file first).
 * Returns -1 and leaves the file unchanged if the version is newer than target, no step leads on from it, or
 * SQL fails. */
int migrate_run(sqlite3 *db, const struct migrate_step *steps, int count, int target, struct error *err);
/* Migrates to STORE_VERSION. */
int migrate(sqlite3 *db, struct error *err);
/* The schema's SQL of a trigger; free it with sqlite3_free. NULL: no such trigger. */
char *migrate_trigger(const char *name);

/* True if two copies of a row have this value: an export writes 12 digits of a number. */
#define STORE_SAME(column, value)                                                                            \
	"(" column " IS " value " OR (typeof(" column ") = 'real' AND abs(" column " - " value               \
	") <= 1e-11 * " value "))"

/* Prepared statements that are kept. */
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

/* The attributes row that new results of an identity refer to. */
struct store_attributes {
	int64_t identity, attributes;
};

/* store_keep.c: the queue of results that could not be written yet. */
struct keep {
	struct keep_device *devices;
	struct keep_item *first, *last;
	int results;         /* queued results; the queue also has finished problems */
	int lost;
	int delay_ms;        /* between retries */
	int64_t retry_at_ms;
	char why[ERROR_TEXT_SIZE]; /* of the last failure; "" if there was none */
};
void keep_free(struct keep *k);

struct store {
	sqlite3 *db;
	char *path;
	bool read_only, wal;
	const char *network; /* the network file system that the file is on, or NULL */
	int version;       /* of the schema */
	bool batch;        /* a transaction of store_batch_begin is open */
	bool gone;         /* the file was removed or replaced */
	dev_t wal_device;  /* of the -wal file; inode 0: not seen yet */
	ino_t wal_inode;
	sqlite3_stmt *statements[STATEMENT_COUNT];
	int patience_ms;   /* limit of a wait for a lock */
	int64_t busy_since_ms; /* start of the present wait */
	bool (*go_on)(void *context, int64_t waited_ms);
	void *go_on_context;
	char holder[64];
	bool passing;      /* the last error is transient: a retry may succeed */
	enum store_fault fault; /* of the last error */
	int code;          /* primary SQLite result code of the last error */
	int system_errno;  /* errno of the statement that just failed; 0: ask SQLite */
	struct keep keep;
	struct arena row;    /* cleaned copies of texts of the present row */
	struct store_attributes *known;
	int known_count, known_capacity;
};

/* Sets err for the SQLite result code rc: one line with the file and the fix. doing: the action, "read
 * results". Always -1. */
int store_error(struct store *s, int rc, const char *doing, struct error *err);
bool store_has_cause(int rc); /* store_error names the cause and the fix */
#define STORE_BUSY_MS 5000 /* how long a statement waits for a lock */
/* Runs SQL that returns no rows. */
int store_exec(struct store *s, const char *sql, struct error *err);
/* Returns the statement, prepared on first use, reset and without bindings; NULL on errors. */
sqlite3_stmt *store_statement(struct store *s, enum store_statement which, struct error *err);
/* Returns -1 if the open file is no longer the file at its path. */
int store_still_there(struct store *s, struct error *err);

/* A file: URI that tells SQLite that the file does not change. Percent-encoded; malloc'd. */
char *store_immutable_uri(const char *path);
/* Opens s->path without reading it. immutable: tells SQLite that the file does not change, so that it needs
 * no lock. */
int store_open_file(struct store *s, bool immutable, struct error *err);
/* Returns -1 if the file is not a benanza database or its version is not supported. Sets *fresh if it is
 * empty. */
int store_check_header(struct store *s, bool *fresh, struct error *err);
/* Requests a journal mode and sets s->wal to whether WAL mode is on afterwards, waiting up to patience_ms for
 * locks. */
int store_set_journal(struct store *s, const char *mode, int patience_ms, struct error *err);

/* store_place.c */
/* Call before the file is read. On a network file system: fails if locks do not work, and switches a file in
 * WAL mode to a rollback journal, which fails if another program has it open. */
int place_prepare(struct store *s, bool immutable, struct error *err);
/* Fails if the file system refuses a lock or does not reply within limit_ms. */
int place_probe_locks(const struct store *s, int limit_ms, struct error *err);

/* Runs a statement that has no parameters and returns no rows. */
int store_run(struct store *s, enum store_statement which, struct error *err);
/* Opens a write transaction after checking that the file is still at its path. Does nothing within a
 * batch. */
int store_begin(struct store *s, struct error *err);
/* store_check, which also names the row of each finding that has one, and says why; row may be NULL. */
typedef void store_row_found(void *context, const char *table, int64_t id, struct text why);
int store_check_rows(
	struct store *s, struct str *out, store_row_found *row, void *context, struct error *err);
/* Ends it. good: commits, or continues the batch. Otherwise rolls back, a batch completely, and returns
 * -1. */
int store_end(struct store *s, bool good, struct error *err);
/* Runs a bound statement. Returns the id in its first row, or that of the row that an INSERT added; 0: no
 * row; -1: error. */
int64_t store_step_id(struct store *s, sqlite3_stmt *q, struct error *err);
/* Returns the id of the row with these texts, adding it if it is new; -1 on errors. */
int64_t store_id_of(struct store *s, enum store_statement find, enum store_statement add,
	const char *const *texts, int count, struct error *err);
/* Prepares a statement for one use and binds the texts to its first parameters. The caller binds the others
 * and finalizes it. NULL on errors. */
sqlite3_stmt *store_prepare(struct store *s, const char *sql, const char *const *texts, int count,
	struct error *err);
/* Returns the id of the attributes row for new results of an identity: that of store_device, else the latest
 * one. */
int64_t store_attributes_of(struct store *s, int64_t identity, struct error *err);
/* Reads a device from the columns identity, model, stack, name, runner, version, host, json, threads,
 * llc_bytes, has_matrix; clean strings in the arena. */
void store_device_from_row(sqlite3_stmt *q, struct arena *a, struct device *d);

/* The column as a number; NaN if it is NULL or not a number. */
double store_column_number(sqlite3_stmt *q, int column);
/* The column as a text; `otherwise` if it is not a text or contains a NUL byte. */
const char *store_column_text(sqlite3_stmt *q, int column, const char *otherwise);
/* Bind a value: NaN and infinity become NULL, a NULL string becomes "". */
void store_bind_number(sqlite3_stmt *q, int column, double value);
void store_bind_text(sqlite3_stmt *q, int column, const char *text);

#endif
