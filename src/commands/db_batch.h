/* Bulk additions to the database, for import and merge: in transactions of a few thousand rows, so that other
 * programs get the lock, an interrupted run keeps what it added, and a repeated run completes it. Counts, and
 * shows progress. */
#ifndef COMMANDS_DB_BATCH_H
#define COMMANDS_DB_BATCH_H

#include "commands/db.h"
#include "problem/execution.h"

struct db_counts {
	int64_t results, added; /* read; new among these */
	int64_t finished, dims; /* problems completed; models whose dimensions were copied */
	int64_t executions, executions_added; /* executions of whole models: read; new ones among these */
	int64_t future;         /* results dated in the future */
};

struct db_batch {
	struct store *store;
	const struct options *options;
	struct db_counts now, kept; /* kept: committed */
	int64_t left_out;           /* invalid lines or results */
	int64_t began_s, drawn_ms;
	int waiting;                /* additions in the open transaction */
	bool bar, said;
	bool given_up;              /* Ctrl-C while another program had the file locked */
};

/* Also installs the handler of Ctrl-C (interrupt.h). */
void db_batch_start(struct db_batch *b, struct store *s, const struct options *o);
/* Call before each addition; commits full batches. -1: error. */
int db_batch_ready(struct db_batch *b, struct error *err);
/* Adds a result unless the database has it. -1: error. */
int db_batch_result(struct db_batch *b, int64_t device, const struct result *r, struct error *err);
/* The same for an execution. */
int db_batch_execution(struct db_batch *b, const struct execution *e, struct error *err);
/* Prints "; 3 executions of models, 1 added", or nothing. */
void db_batch_print_executions(const struct db_batch *b);
/* Commits. 0: all additions are in the file; -1: error. */
int db_batch_commit(struct db_batch *b, struct error *err);
/* Counts an invalid line or result; prints the reason for the first ten. */
void db_batch_leave_out(struct db_batch *b, const char *why);
/* Clears the progress line and prints the summary of invalid lines. bad: an error occurred (err). Returns
 * bad, but 0 if only a wait was interrupted. */
int db_batch_end(struct db_batch *b, int bad, struct error *err);

#endif
