/* Index of the results in an output file, so that jobs with a result are skipped. Any other output (a
 * pipe, a terminal) has no index. */
#ifndef RUNNER_BATCH_H
#define RUNNER_BATCH_H

#include "base/arena.h"
#include "base/hash.h"
#include "wire/wire.h"

struct batch {
	bool is_file;
	bool has_hello;        /* the first line is this device's hello */
	int64_t skipped;       /* jobs skipped so far */
	struct arena arena;
	struct hash lost;      /* problem -> how often the device was lost while it was measured */
	/* problem -> bits of its measured states, 1 << (cache * LAUNCH_COUNT + launch), or BATCH_LISTED;
	 * [1]: those with all algorithms */
	struct hash answered[2];
};
#define BATCH_LISTED ((int64_t)1 << (CACHE_COUNT * LAUNCH_COUNT))
_Static_assert(CACHE_COUNT * LAUNCH_COUNT < 63, "a bit for each state");

/* Locks a regular file for this process, reads its results, and cuts off an incomplete last line. Returns
 * -1 with err if another process has locked it, or if it has results of another device or something else. */
int batch_open(struct batch *b, int out, const struct device *d, struct error *err);
void batch_close(struct batch *b);

/* True if the file has all that this job asks for. `measures`: the job asks for times in its states. */
bool batch_answers(const struct batch *b, const struct wire_message *job, bool measures);
/* The same; counts the job as skipped. */
bool batch_skips(struct batch *b, const struct wire_message *job, bool measures);
/* Adds a `done` message with its problem; ignores other messages and cancelled jobs. One that may be tried
 * again (`retry`) is not an answer, only counted. */
void batch_add(struct batch *b, const struct wire_message *done);
/* Returns how often the device was lost with this problem, which may not have been the cause. */
int64_t batch_losses(const struct batch *b, const char *problem);

#endif
