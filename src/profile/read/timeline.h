/* Makes the rows of an execution from events with times; a row has the median over the runs. For readers of
 * traces. Times in ns from any origin. */
#ifndef PROFILE_READ_TIMELINE_H
#define PROFILE_READ_TIMELINE_H

#include "base/hash.h"
#include "profile/read/reader.h"

/* One execution of a row. */
struct timeline_event {
	double start, ns;
	int row;   /* index in rows */
	int owner; /* event that caused it, or -1; its row is the parent of this one's row */
	int lane;  /* thread */
	int run;   /* set by timeline_finish */
};

/* One run of the model. Events belong to the run of their owner, else to the one in which they start, of the
 * same lane if several overlap. */
struct timeline_run {
	double start, ns;
	int lane;
};

/* A zeroed struct is empty; free with timeline_free. */
struct timeline {
	struct timeline_event *events;
	struct timeline_run *runs;
	struct execution_row *rows; /* texts in the arena of the execution */
	int event_count, event_capacity, run_count, run_capacity, row_count, row_capacity;
	struct hash keys; /* of rows */
	struct arena texts;
};

/* Returns the index of the row with the key, which may be any bytes; *is_new: it was added, with only its
 * level set. */
int timeline_row(struct timeline *t, enum execution_level level, struct text key, bool *is_new);
/* Adds an event and returns its index; -1 if start or ns is not a plausible time (NaN, negative, over a
 * year). */
int timeline_add(struct timeline *t, int row, int owner, int lane, double start, double ns);
void timeline_add_run(struct timeline *t, int lane, double start, double ns);
/* Sorts the runs by time; timeline_finish does it too. */
void timeline_sort(struct timeline *t);
/* After timeline_sort, returns the index of the run that contains the time, of the same lane if several
 * overlap; or -1. */
int timeline_run_at(const struct timeline *t, int lane, double start);
/* Replaces the times of asynchronous layers by those of the kernels and copies that they caused, because
 * their own time is that of the launch on the host. is_async: selects the layers (NULL: all). Without kernels
 * and copies that have an owner it does nothing. */
void timeline_use_device(struct timeline *t, bool (*is_async)(const struct execution_row *r));
/* Makes the rows of the execution: times, calls, start, parent, in the order of their first events. The first
 * of several runs is left out (it warms up); without runs all events are one run. Events outside the runs are
 * left out; returns their number. Sets profiled_ns, outside_ns, first_ns and `settings`
 * ({"runs":4,"runs_left_out":1}). */
int timeline_finish(struct timeline *t, struct arena *a, struct execution *e);
/* Returns, after timeline_finish, the text about the events outside the runs, its result: "3 events outside
 * of the runs left out: 12.5% of the time"; "" if every event is in a run. The time is that of kernels and
 * copies,
 * without any that of layers. */
const char *timeline_outside(const struct timeline *t, struct arena *a, int outside);
void timeline_free(struct timeline *t);

#endif
