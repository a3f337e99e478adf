/* Answers in a file: what it holds already is not asked for again. Anything else (a pipe, a terminal) holds nothing. */
#ifndef RUNNER_BATCH_H
#define RUNNER_BATCH_H

#include "base/arena.h"
#include "base/hash.h"
#include "wire/wire.h"

struct batch {
	bool is_file;
	bool has_hello;        /* this device's is the first line of the file */
	int64_t skipped;       /* jobs so far */
	struct arena arena;
	struct hash answered;  /* problem -> bits: the states it was measured in, 1 << (cache * LAUNCH_COUNT + launch);
				  BATCH_LISTED: answered without measuring */
};
#define BATCH_LISTED (1 << (CACHE_COUNT * LAUNCH_COUNT))

/* Takes a regular file for this process alone, reads what it holds, and cuts off a last line that has no end. -1: it is
 * somebody else's, or another device's answers, or no answers at all; err says which. */
int batch_open(struct batch *b, int out, const struct device *d, struct error *err);
void batch_close(struct batch *b);

/* Is all that this job asks for there? Then it is counted as skipped. `measures`: it asks for times in its states. */
bool batch_skips(struct batch *b, const struct wire_message *job, bool measures);
/* One more answer: a `done` with its problem, other messages do not count. Nor does one that was cancelled. */
void batch_add(struct batch *b, const struct wire_message *done);

#endif
