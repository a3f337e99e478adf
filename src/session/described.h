/* Described devices: data/devices/NAME.json, from public figures. Nothing is measured on them;
 * drive/planner.h reports what their libraries could run, and analyze/roof/calibration.h estimates
 * the costs. */
#ifndef SESSION_DESCRIBED_H
#define SESSION_DESCRIBED_H

#include "analyze/roof/peaks.h"
#include "base/arena.h"
#include "config/config.h"

struct described {
	const char *id;        /* the file's stem: "h100" */
	const char *path;
	const char *name;      /* "NVIDIA H100 80GB HBM3" */
	const char *arch;      /* "Hopper" */
	const char *caveat;    /* a limitation of plans for it; "": none */
	int sm;                /* 90 */
	int multiprocessors;   /* 0 unknown */
	double clock_mhz, l2_bytes, memory_bytes; /* NaN unknown */
	struct peaks peaks;
	int source_count;
	const char **sources;  /* of the figures */
};

/* Reads one file. Strings live in the arena. -1: it cannot be read, or a required key is missing; err names
 * file and key. */
int described_read(struct arena *a, const char *path, struct described *d, struct error *err);
/* Reads all files of the data directory, sorted by id; count 0 without such a directory. An invalid file is
 * an error. */
int described_list(struct arena *a, struct described **list, int *count, struct error *err);
/* Finds the description whose id or name is `asked` (case-insensitive), or reads the file `asked` (ending in
 * .json). By id it reads one file; only for a name all. 1: found; 0: none; -1: error. */
int described_find(struct arena *a, const char *asked, struct described *d, struct error *err);
/* True if -d names a description, and no runner has that name. */
bool described_is_named(const struct config *config);

#endif
