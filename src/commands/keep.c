/* Says once that the database is locked or full, and waits at the end until all is stored. */
#include "config.h"

#include "commands/keep.h"
#include "commands/interrupt.h"

#include <poll.h>
#include <stdio.h>

#include "base/clock.h"

#define POLL_MS 100
#define SAID_AFTER_MS 500

static const struct store *told; /* the store whose waiting results were reported */

void keep_on(struct store *s, bool quiet)
{
	bool waits = store_keep_retry(s, false) > 0;
	if (waits == (told == s))
		return;
	told = waits ? s : NULL;
	if (!quiet)
		fprintf(stderr, "benanza: %s%s\n", waits ? store_waiting(s).why :
			"waiting results are stored now",
			waits ? "; results wait in memory" : "");
}

int keep_end(struct store *s, int limit_ms, bool quiet, struct error *err)
{
	int64_t since = clock_ms();
	bool before = interrupted, said = quiet;
	if (!s)
		return 0;
	while (store_keep_retry(s, true)) {
		int64_t waited = clock_ms() - since;
		if (waited >= limit_ms || (interrupted && !before))
			break;
		if (!said && waited > SAID_AFTER_MS) {
			struct store_waiting w = store_waiting(s);
			fprintf(stderr, "benanza: waiting to keep %d result%s (Ctrl-C discards %s): %s\n",
				w.results, w.results == 1 ? "" : "s", w.results == 1 ? "it" : "them", w.why);
			said = true;
		}
		poll(NULL, 0, POLL_MS);
	}
	told = NULL;
	struct store_waiting w = store_waiting(s);
	if (w.results + w.lost)
		error_set(err, "%d results are not kept: %s", w.results + w.lost, w.why);
	return w.results + w.lost;
}
