/* Many additions to the database, for import and merge: in transactions of some thousand, so that others get their turn, an
 * interrupted run keeps what it did and a repeated one completes it; counted, with a word of progress. */
#ifndef COMMANDS_DB_BATCH_H
#define COMMANDS_DB_BATCH_H

#include "commands/db.h"

struct db_counts {
	int64_t results, added; /* met, and of these new */
	int64_t finished, dims; /* as the command means it */
	int64_t future;         /* results dated in the future */
};

struct db_batch {
	struct store *store;
	const struct options *options;
	struct db_counts now, kept; /* kept: what is committed */
	int64_t left_out;           /* what means nothing */
	int64_t began_s, drawn_ms;
	int waiting;                /* additions in the open transaction */
	bool bar, said;
	bool given_up;              /* Ctrl-C while another program had the file locked */
};

/* Watches for Ctrl-C too (interrupt.h). */
void db_batch_start(struct db_batch *b, struct store *s, const struct options *o);
/* Before each addition. */
int db_batch_ready(struct db_batch *b, struct error *err);
/* One result, unless it is there. */
int db_batch_result(struct db_batch *b, int64_t device, const struct result *r, struct error *err);
/* What was added since the last commit is in the file when this returns 0. */
int db_batch_commit(struct db_batch *b, struct error *err);
/* Counts what is left out, and says why of the first ones. */
void db_batch_leave_out(struct db_batch *b, const char *why);
/* Takes the word of progress away, and says what was not said one by one. bad: something went wrong (err); returns that,
 * unless it was only that a wait was ended. */
int db_batch_end(struct db_batch *b, int bad, struct error *err);

#endif
