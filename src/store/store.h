/* The performance database. SQLite's only home. Results are added, never overwritten, one transaction each. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/json.h"
#include "problem/result.h"
#include "store/results.h"

struct store;

/* What is acknowledged survives the sudden end of this process (kill -9). A power loss may take the last seconds of
 * results where the file is in WAL mode (commits do not wait for the disk), never the file's consistency.
 *
 * Opens or creates; makes missing parent directories; WAL mode (DELETE where WAL is refused, or on a network file system); migrates older versions.
 * read_only opens without creating or writing, older versions too. Errors name the file and the cure: newer version, not a database,
 * corrupt, no permission, a directory. */
struct store *store_open(const char *path, bool read_only, struct error *err);
void store_close(struct store *s);
const char *store_path(const struct store *s);
/* What network file system a file or folder is on: "NFS"; NULL: none that is known, or nothing is there. */
const char *store_network(const char *path);

/* The id of an identity (model, stack), made when new; a device row (attributes) is added when they changed. Later
 * results of this handle carry that row. For who is about to add a result: -1 is an error, also in a read-only store. */
int64_t store_device(struct store *s, const struct device *d, struct error *err);
/* When an attributes row was seen, in seconds since 1970. */
struct store_seen {
	int64_t first, last;
};
/* The same for a device that was seen elsewhere: its row begins and ends no later than it did there. */
int64_t store_device_seen(struct store *s, const struct device *d, struct store_seen seen, struct error *err);
/* The id of an identity; 0 when the file has none of that model and stack. Writes nothing. */
int64_t store_device_find(struct store *s, const struct device *d, struct error *err);
/* The identities that there are results of; arrays and strings live in the arena. id[i] belongs to devices[i]. */
int store_devices(struct store *s, struct arena *a, struct device **devices, int64_t **ids, int *count, struct error *err);

/* One result in one transaction: on return 0 it survives kill -9. Notices when the file was removed underneath. */
int store_add(struct store *s, int64_t device, const struct result *r, struct error *err);
/* The same, but a row that is there already - same device, problem, algorithm, state, date and median - is not added
 * again. 1: added, 0: it was there, -1: error. */
int store_add_once(struct store *s, int64_t device, const struct result *r, struct error *err);
/* Between the two many additions are one transaction: quick, and kept when store_batch_end returns 0. One that fails (-1)
 * undoes all since store_batch_begin and ends the batch. Without a batch open store_batch_end does nothing. */
int store_batch_begin(struct store *s, struct error *err);
int store_batch_end(struct store *s, struct error *err);
bool store_has_batch(const struct store *s);
/* The file was removed or replaced since it was opened, and an addition noticed: nothing more can be kept. */
bool store_is_gone(const struct store *s);
/* How long an operation waits for another program that has the file locked: 5 s where nothing else is said. While it waits
 * go_on (may be NULL) is asked again and again, and ends the wait with false. */
void store_set_patience(
	struct store *s, int patience_ms, bool (*go_on)(void *context, int64_t waited_ms), void *context);
/* Who that is: "sqlite3, process 1234"; "" where it cannot be seen. Valid until the next call. */
const char *store_lock_holder(struct store *s);

/* For who measures and cannot wait: store_device and store_add, but when the file cannot take the result for a reason that
 * may pass (locked, no room, an I/O error) a copy waits in memory, and all that comes later behind it. 0: it is in
 * the file; 1: it waits (err: for what); -1: it will not be taken (the file is gone, the result is none). Takes a moment at
 * most. store_close drops what waits. */
int store_keep(struct store *s, const struct device *d, const struct result *r, struct error *err);
/* The same for store_finish. */
int store_keep_finish(struct store *s, const struct device *d, const char *problem, struct error *err);
/* Tries again, where it is time for that or at_once. Returns the results that still wait. */
int store_keep_on(struct store *s, bool at_once);
struct store_waiting {
	int results, lost; /* lost: refused, at once or after a wait */
	const char *why;   /* of the last try that failed, or loss; "" none */
};
struct store_waiting store_waiting(const struct store *s);

/* The measuring of a problem has come to an end that stands: it need not be measured again. */
int store_finish(struct store *s, int64_t device, const char *problem, struct error *err);
/* The same, but what is finished already stays as it is. 1: new, 0: it was, -1: error. */
int store_finish_once(struct store *s, int64_t device, const char *problem, struct error *err);
/* Loads the standing results of an identity into r. */
int store_load(struct store *s, int64_t device, struct results *r, struct error *err);
/* Loads only rows added since the last call with this cursor (another process may write too); *cursor starts at 0. */
int store_load_since(struct store *s, int64_t device, int64_t *cursor, struct results *r, struct error *err);

/* All results of an identity, the replaced ones too: by attributes row (oldest first, `device` is told before its first
 * result), then problem, then age; then the problems that are finished; all of one moment of the file. What is handed over
 * is borrowed until the callback returns; one that does not return 0 ends the walk with that. Rows that are no results are
 * left out (problem "": it has none; why: "has quartiles out of order"). The last two may be NULL. */
struct store_walker {
	void *context;
	int (*device)(void *context, const struct device *d, struct store_seen seen, struct error *err);
	int (*result)(void *context, const struct result *r, struct error *err);
	int (*finished)(void *context, const char *problem, struct error *err);
	void (*unusable)(void *context, int64_t row, const char *problem, const char *why);
};
int store_walk(struct store *s, int64_t device, const struct store_walker *w, struct error *err);
/* What is wrong with a result's numbers ("has quartiles out of order"); NULL: nothing. Rows with such a fault are not
 * loaded from the file. */
const char *store_result_fault(const struct result *r);

/* Remembered dimensions per model (key: the real path of its file). */
int store_dims_put(struct store *s, const char *model_key, const char *json, struct error *err);
/* The same, of another file: kept where nothing later is. 1: kept, 0: there is something as late, -1: error. */
int store_dims_merge(struct store *s, const char *model_key, const char *json, int64_t at, struct error *err);
/* NULL where nothing is remembered. */
char *store_dims_get(struct store *s, struct arena *a, const char *model_key);
/* All that is remembered; a visit that does not return 0 ends the walk with that. */
int store_dims_walk(struct store *s,
	int (*visit)(void *context, const char *model_key, const char *json, int64_t at, struct error *err), void *context,
	struct error *err);

/* `db info`: { path, schema_version, journal_mode, journal_reason, file_bytes, devices: [ { id, model, stack, problems, results,
 * first, last } ], problems, results }. journal_reason: why it is not wal, or null. first and last are dates of results, "2026-01-31T12:00:00Z", or null;
 * file_bytes counts the write-ahead log too. */
json_t *store_info(struct store *s, struct error *err);
/* `db check`: integrity, foreign keys, every problem text parses to itself, no orphan, statistics in order. Adds one line
 * a finding to out (the first 100 of each kind); returns the number of findings, -1 when it could not look. */
int store_check(struct store *s, struct str *out, struct error *err);

#endif
