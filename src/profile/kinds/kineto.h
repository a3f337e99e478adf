/* A PyTorch trace between reading and gathering: its relevant events as small records. Private to the
 * room. */
#ifndef PROFILE_KINDS_KINETO_H
#define PROFILE_KINDS_KINETO_H

#include "profile/read/timeline.h"

/* Limits that bound the memory for a trace of any size: events, labels, bytes of their texts. If one is
 * reached, only the earliest events are kept, at least half as many as the limit. */
#define KINETO_RECORDS_MOST (1 << 18)
#define KINETO_LABELS_MOST (1 << 15)
#define KINETO_TEXTS_MOST (8 << 20)

enum kineto_kind { KINETO_OP, KINETO_KERNEL, KINETO_MEMCPY, KINETO_MEMSET, KINETO_RUNTIME, KINETO_NOTE };

/* The common part of events: name, shapes of the inputs. Texts in the arena of the trace. */
struct kineto_label {
	enum kineto_kind kind;
	const char *name, *shapes, *dtype;
	double occupancy; /* of a kernel, 0 to 1; NaN: unknown */
	int stream;       /* type of its first event; -1: unknown */
	struct text key;  /* in `names` */
};

struct kineto_record {
	double start, ns;     /* from the first event of the file */
	int64_t id, correlation; /* "External id"; correlation of a call with its kernels; 0: none */
	int label, lane, order;  /* order in the file */
	int parent;           /* used by kineto_gather */
};

struct kineto {
	struct arena texts;
	struct kineto_label *labels;
	struct kineto_record *records;
	int label_count, label_capacity, record_count, record_capacity;
	struct hash names;    /* holds the labels */
	double until;         /* later events are not kept; INFINITY: all are kept */
	int64_t steps;        /* number of annotations ProfilerStep#N in the whole file */
	bool old;             /* from before Kineto */
	int64_t left_out;     /* number of events after `until` */
	int64_t odd;          /* number of events without a usable time */
};

/* Finds runs and makes the rows of the execution, with level, parent and times. Adds missing data to e->gaps.
 * If events have no time, runs that lack layers are left out. */
void kineto_gather(struct kineto *k, struct arena *a, struct execution *e);

#endif
