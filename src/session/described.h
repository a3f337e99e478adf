/* Devices that are only described: data/devices/NAME.json, made of public figures. Nothing can be measured on them; what
 * their libraries would run can be asked (drive/planner.h) and what layers cost at least be estimated (analyze/peaks.h). */
#ifndef SESSION_DESCRIBED_H
#define SESSION_DESCRIBED_H

#include "analyze/peaks.h"
#include "base/arena.h"

struct described {
	const char *id;        /* the file's stem: "h100" */
	const char *path;
	const char *name;      /* "NVIDIA H100 80GB HBM3" */
	const char *arch;      /* "Hopper" */
	const char *caveat;    /* what a plan for it must be taken with, "" nothing */
	int sm;                /* 90 */
	int multiprocessors;   /* 0 unknown */
	double clock_mhz, l2_bytes, memory_bytes; /* NaN unknown */
	struct peaks peaks;
	int source_count;
	const char **sources;  /* where the figures come from */
};

/* One file. Strings live in the arena. -1: it cannot be read, or lacks what a description needs; err names file and key. */
int described_read(struct arena *a, const char *path, struct described *d, struct error *err);
/* All of the data folder, by id; 0 where there is no such folder. A file that is no description is an error. */
int described_list(struct arena *a, struct described **list, int *count, struct error *err);
/* The one whose id or name is `asked`, whatever the case, or that is the file `asked` (ending in .json): 1; 0 none. */
int described_find(struct arena *a, const char *asked, struct described *d, struct error *err);

#endif
