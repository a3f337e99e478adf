/* A folder of serialized plans, kept between runs. Each file has the whole key of its plan and a checksum: a
 * file that is damaged, truncated or of another key is ignored, and replaced by the next plan of that key.
 * Files are written under another name and renamed, so several processes can use a folder at once. cuDNN
 * parses what is in a file, so only files that nobody else can write are read. */
#ifndef RUNNER_PLAN_CACHE_H
#define RUNNER_PLAN_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PLAN_CACHE_MB 1024 /* default limit */

struct plan_cache {
	char folder[1024];   /* "": nothing is kept */
	int64_t limit_bytes; /* of all plans together */
};

/* Reads the environment: $BENANZA_PLAN_CACHE, a folder or "none", else $XDG_CACHE_HOME/benanza/plans, else
 * ~/.cache/benanza/plans; $BENANZA_PLAN_CACHE_MB. */
void plan_cache_open(struct plan_cache *c);

/* Returns the plan stored under a key, malloc'd, and its size; NULL without a valid entry. Renews the
 * entry's date. */
char *plan_cache_load(const struct plan_cache *c, const char *key, size_t *size);

/* Keeps a plan, and removes those not used for longest until all fit the limit. Returns -1 and sets err if it
 * cannot be written; 0 also if it is too large to be kept. */
int plan_cache_store(
	const struct plan_cache *c, const char *key, const char *plan, size_t size, struct error *err);

#endif
