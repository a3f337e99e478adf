/* Executions of whole models in the database (problem/execution.h). They are only added, never changed. */
#ifndef STORE_EXECUTIONS_H
#define STORE_EXECUTIONS_H

#include "problem/execution.h"
#include "store/store.h"

/* Adds an execution with its rows, all or nothing, in a transaction of its own unless a batch is open. Fails
 * if the file was removed or replaced, and for an execution that execution_fault or execution_row_fault
 * rejects. */
int store_execution_add(struct store *s, const struct execution *e, struct error *err);
/* The same, unless a copy of it exists: same source, framework, version, provider, device, host, types,
 * model, inputs, status, date, load time, first run and latency. Returns 1 if it was added, 0 if it existed,
 * -1 on errors. */
int store_execution_add_once(struct store *s, const struct execution *e, struct error *err);

/* The same for callers that must not block, as store_keep: queued in memory while the file is busy. */
int store_keep_execution(struct store *s, const struct execution *e, struct error *err);

/* A selection of executions; a text that is NULL accepts all. */
struct executions_wanted {
	const char *model_hash, *device, *framework;
	int most;           /* the number of newest ones; 0: all */
	bool oldest_first;  /* in the order in which they were added; else newest first, by their dates */
	bool without_rows;  /* row_count is 0 */
};

/* Calls `visit` for each execution, whose texts are valid until it returns; a value other than 0 ends the
 * walk. `wants` (may be NULL) gets each execution before its rows are read; if it returns false, the
 * execution is left out. `unusable` (may be NULL) gets each invalid execution of the file with the reason,
 * "has a time above 1e15 ns". A file of an older version has no executions. */
struct executions_walker {
	void *context;
	bool (*wants)(void *context, const struct execution *e);
	int (*visit)(void *context, const struct execution *e, struct error *err);
	void (*unusable)(void *context, int64_t id, const char *why);
};
int store_executions_walk(struct store *s, const struct executions_wanted *wanted,
	const struct executions_walker *w, struct error *err);
/* Loads the executions as an array in the arena; all must fit in memory. */
int store_executions_load(struct store *s, const struct executions_wanted *wanted, struct arena *a,
	struct execution **list, int *count, struct error *err);

#endif
