/* The performance database. The only room that uses SQLite. Results are only added, never overwritten, each
 * in its own transaction. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/json.h"
#include "problem/result.h"
#include "store/results.h"

struct store;

/* Opens or creates a database, with missing parent directories, and migrates older schema versions. It uses
 * WAL mode, or a rollback journal (DELETE) on a network file system or if WAL is refused. read_only: neither
 * creates nor writes, and reads older versions as they are. Returns NULL on errors; err names the file and
 * the fix.
 *
 * A committed result survives the sudden end of the process (kill -9). In WAL mode commits do not wait for
 * the disk: a power loss can lose the results of the last seconds, but does not damage the file. */
struct store *store_open(const char *path, bool read_only, struct error *err);
/* The same, with the kind of error. */
enum store_fault {
	STORE_FAULT_OTHER,
	STORE_FAULT_UNWRITABLE, /* a read-only place, or no permission */
	STORE_FAULT_FULL,       /* no space left */
	STORE_FAULT_EMPTY       /* read_only: a file in which no database was made yet */
};
struct store *store_open_or(const char *path, bool read_only, enum store_fault *fault, struct error *err);
void store_close(struct store *s);
const char *store_path(const struct store *s);
/* Name of the network file system that a file or directory is on ("NFS"); NULL if it is on a local one or
 * missing. */
const char *store_network(const char *path);

/* Returns the id of the device's identity (model, stack), adding it if it is new, and adds an attributes row
 * if the attributes changed; results added later through this handle refer to that row. -1 on errors, also if
 * the store is read-only. Call it before adding results; to look up only: store_device_find. */
int64_t store_device(struct store *s, const struct device *d, struct error *err);
/* When the device was seen with these attributes, in seconds since 1970. */
struct store_seen {
	int64_t first, last;
};
/* store_device for an imported device: extends the row's dates to include `seen`. */
int64_t store_device_seen(struct store *s, const struct device *d, struct store_seen seen, struct error *err);
/* Returns the id of the device's identity, 0 if the file does not have it, -1 on errors. Writes nothing. */
int64_t store_device_find(struct store *s, const struct device *d, struct error *err);
/* Lists the identities with at least one result, each with its latest attributes. (*ids)[i] is the id of
 * (*devices)[i]. Arrays and strings are in the arena. */
int store_devices(struct store *s, struct arena *a, struct device **devices, int64_t **ids, int *count,
	struct error *err);

/* Adds a result in a transaction of its own (unless a batch is open). Fails if the file was removed or
 * replaced. */
int store_add(struct store *s, int64_t device, const struct result *r, struct error *err);
/* The same, unless an equal row exists (same device, problem, algorithm, status, states, date, median and
 * mean). Returns 1 if it was added, 0 if it existed, -1 on errors. */
int store_add_once(struct store *s, int64_t device, const struct result *r, struct error *err);
/* All additions between begin and end are one transaction, which is much faster; they are committed when
 * store_batch_end returns 0. An addition that fails (-1) rolls back the whole batch and ends it.
 * store_batch_end does nothing if no batch is open. */
int store_batch_begin(struct store *s, struct error *err);
int store_batch_end(struct store *s, struct error *err);
bool store_has_batch(const struct store *s);
/* True if an addition failed because the file was removed or replaced since it was opened. Later additions
 * fail too. */
bool store_is_gone(const struct store *s);
/* Sets how long an operation waits if another program has locked the file; the default is 5000 ms. go_on (may
 * be NULL) is called repeatedly during the wait and ends it by returning false. */
void store_set_patience(
	struct store *s, int patience_ms, bool (*go_on)(void *context, int64_t waited_ms), void *context);
/* The process that has locked the file: "sqlite3, process 1234"; "" if unknown. Valid until the next call. */
const char *store_lock_holder(struct store *s);

/* store_device and store_add for callers that must not block: returns within about 50 ms. If the file cannot
 * be written for a transient reason (locked, disk full, I/O error), a copy of the result is queued in memory,
 * and all later ones behind it. Returns 0 if the result is in the file, 1 if it is queued (err has the
 * reason), -1 if it cannot be stored at all (the file is gone, the result is invalid). store_close drops
 * queued results. */
int store_keep(struct store *s, const struct device *d, const struct result *r, struct error *err);
/* The same for store_finish. */
int store_keep_finish(struct store *s, const struct device *d, const char *problem, struct error *err);
/* Writes queued results if a retry is due, or if at_once. Returns the number of results that are still
 * queued. */
int store_keep_retry(struct store *s, bool at_once);
struct store_waiting {
	int results;       /* queued */
	int lost;          /* could not be stored, at once or after a retry */
	const char *why;   /* reason of the last failure; "" if there was none */
};
struct store_waiting store_waiting(const struct store *s);

/* Marks a problem as measured completely, so that it is not measured again. */
int store_finish(struct store *s, int64_t device, const char *problem, struct error *err);
/* The same, but keeps an existing mark and its date. Returns 1 if it is new, 0 if it existed, -1 on
 * errors. */
int store_finish_once(struct store *s, int64_t device, const char *problem, struct error *err);
/* Loads the results and finished problems of an identity into r. Invalid rows are logged and skipped. */
int store_load(struct store *s, int64_t device, struct results *r, struct error *err);
/* The same for the rows that were added since the last call with this cursor, also by other processes.
 * *cursor starts at 0. */
int store_load_since(struct store *s, int64_t device, int64_t *cursor, struct results *r, struct error *err);

/* Visits all results of an identity, also replaced ones, then its finished problems, from one snapshot of the
 * file. Order: attributes row (oldest first; `device` is called before the first result of each), problem,
 * age. Arguments are valid until the callback returns; a value other than 0 ends the walk, which returns it.
 * `unusable` gets invalid rows instead of `result` (problem: "" if it cannot be read; why: "has quartiles out
 * of order"). The last two callbacks may be NULL. */
struct store_walker {
	void *context;
	int (*device)(void *context, const struct device *d, struct store_seen seen, struct error *err);
	int (*result)(void *context, const struct result *r, struct error *err);
	int (*finished)(void *context, const char *problem, struct error *err);
	void (*unusable)(void *context, int64_t row, const char *problem, const char *why);
};
int store_walk(struct store *s, int64_t device, const struct store_walker *w, struct error *err);
/* Checks the numbers of a result. Returns what is wrong ("has quartiles out of order"), or NULL. Rows with
 * such a fault are not loaded from the file. */
const char *store_result_fault(const struct result *r);

/* Stores the dimensions that the user set for a model, as JSON. model_key: the real path of the model
 * file. */
int store_dims_put(struct store *s, const char *model_key, const char *json, struct error *err);
/* The same for dimensions of another database, set at `at` (seconds since 1970): an entry that is not older
 * wins. Returns 1 if they were stored, 0 if not, -1 on errors. */
int store_dims_merge(struct store *s, const char *model_key, const char *json, int64_t at, struct error *err);
/* Returns the stored dimensions of a model, in the arena; NULL if none is stored. */
char *store_dims_get(struct store *s, struct arena *a, const char *model_key);
/* Visits the dimensions of all models. A value other than 0 ends the walk, which returns it. */
int store_dims_walk(struct store *s,
	int (*visit)(void *context, const char *model_key, const char *json, int64_t at, struct error *err),
	void *context, struct error *err);

/* The JSON object of `db info`: { path, schema_version, journal_mode, journal_reason, file_bytes, devices: [
 * { id, model, stack, problems, results, first, last } ], problems, results, executions }. journal_reason:
 * why the mode is not wal, or null; file_bytes: with the write-ahead log; first, last: dates of results,
 * "2026-01-31T12:00:00Z", or null. */
json_t *store_info(struct store *s, struct error *err);
/* `db check`: integrity, foreign keys, unreferenced rows, problem texts that do not parse, statistics out of
 * range. Adds one line per finding to out, at most 100 of each kind. Returns the number of findings, -1 if
 * the file could not be checked. */
int store_check(struct store *s, struct str *out, struct error *err);
/* `db repair`: removes the rows that store_check names, in one transaction, and sets their number. Adds a
 * line for each of them to `done`, at most 100 of a table, and what is left to `left`: damage of the file
 * itself. Returns the number of findings that are left, -1 on errors: then nothing is changed. */
int store_repair(struct store *s, int *removed, struct str *done, struct str *left, struct error *err);

#endif
