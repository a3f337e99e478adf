/* Work that Nsight Systems traced and the NVTX ranges that it belongs to, as rows: what the readers of its
 * SQLite files and CSV tables share. Ranges are the layers: their time is that of their projection on the
 * device, from the start of their first to the end of their last work. The outermost ranges, if they repeat,
 * are runs of the model; without them, repeated sequences of kernels. */
#ifndef PROFILE_NSYS_H
#define PROFILE_NSYS_H

#include "profile/read/timeline.h"

#define NSYS_EVENTS_MOST 2000000 /* limit of each list */

/* An event of any table. */
struct nsys_event {
	int64_t start, end;
	int64_t thread;        /* global id of the calling thread; for device work that of the process */
	int64_t correlation;   /* -1: none */
	int64_t bytes;         /* of a copy; -1: unknown */
	int name, long_name;   /* in names; -1: unknown */
	int shapes;            /* of a range, in names; -1: unknown */
	bool is_op;            /* range: its name is that of an operator */
	int kind, stream;      /* direction of a copy */
	enum execution_level level;
	int parent;            /* range: the enclosing range; work: the range of its launch; or -1 */
	int call;              /* work: the call that launched it, or -1 */
	int event;             /* index on the timeline, or -1 */
	double first, last;    /* range: start and end of its work on the device; NaN none */
};

struct nsys_list {
	struct nsys_event *p;
	int count, capacity;
	int64_t dropped;       /* events beyond NSYS_EVENTS_MOST */
};

struct nsys {
	struct foreign *file;  /* of the reader of SQLite */
	struct arena *arena;
	struct execution *e;
	struct nsys_list ranges, calls, work;
	struct hash name_ids;
	const char **names;    /* in the arena */
	int name_count, name_capacity;
	int64_t odd;           /* events without a plausible time */
	bool by_kernels;       /* runs are repeated sequences of kernels */
	struct timeline t;
	struct hash ordinals;  /* occurrences of a name below one row in one run */
	struct arena ordinal_keys;
};

/* Returns the id of a name, which is copied and cleaned. */
int nsys_name(struct nsys *s, struct text name);
/* Sets the name of a range, and the operator and its shapes, if PyTorch's emit_nvtx wrote it. */
void nsys_name_range(struct nsys *s, struct nsys_event *range, struct text name);
/* Sorts the work by its start. */
void nsys_sort_work(struct nsys *s);
/* Makes the rows of the execution from sorted ranges (by thread and start), calls and work, whose parents are
 * set. */
void nsys_finish(struct nsys *s);
void nsys_free(struct nsys *s);

#endif
