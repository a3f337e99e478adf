/* What the explorer keeps of each model between its runs: a JSON object a model, in a file that is named by
 * the model file's key (digest_ends), in $XDG_STATE_HOME/benanza/models. The newest RECENT_MOST are kept.
 * The files are untrusted: damaged, large or irregular ones are ignored. */
#ifndef SESSION_RECENT_H
#define SESSION_RECENT_H

#include "base/digest.h"
#include "base/json.h"

#define RECENT_MOST 64
#define RECENT_BYTES_MOST 65536 /* of a file */

/* Returns the state, which the caller releases with json_decref; NULL with an empty error if no state is
 * stored,
 * else with the reason why the file is ignored. */
json_t *recent_load(const char *key, struct error *err);
/* Writes the state, replacing the file at once, and removes the oldest beyond RECENT_MOST. -1 with an
 * error. */
int recent_save(const char *key, const json_t *state, struct error *err);

struct recent {
	const char *path;  /* "path" of the state: the model's file, which exists; not cleaned */
	int64_t date_ns;   /* when it was saved */
};
/* The models, newest first, in the arena. Returns the count. */
int recent_list(struct arena *a, struct recent **list);

#endif
