/* Results that the database cannot accept yet (store_keep): reported while a command runs, awaited at its
 * end. */
#ifndef COMMANDS_KEEP_H
#define COMMANDS_KEEP_H

#include "store/store.h"

/* Limit of the wait for a database that cannot accept the last results of a command: locked, full. */
#define KEEP_WAIT_MS 120000

/* Retries from time to time to store waiting results; reports on standard error when waiting begins and ends,
 * unless quiet. */
void keep_on(struct store *s, bool quiet);
/* Waits until all results are stored, at most limit_ms or until Ctrl-C. Returns the number of results that
 * are not stored, with the reason in err. s may be NULL. */
int keep_end(struct store *s, int limit_ms, bool quiet, struct error *err);

#endif
