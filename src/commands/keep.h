/* Results that the database cannot take yet (store_keep): said while a command works, and waited for at its end. */
#ifndef COMMANDS_KEEP_H
#define COMMANDS_KEEP_H

#include "store/store.h"

/* Tries again what waits, now and then, and says on standard error when that begins and ends, unless quiet. */
void keep_on(struct store *s, bool quiet);
/* Waits until all is in the file, up to limit_ms or Ctrl-C. Returns how many results are not kept, with a line that says so
 * and why. s may be NULL. */
int keep_end(struct store *s, int limit_ms, bool quiet, struct error *err);

#endif
