/* Makes rows of an execution from a log of sequential calls; repeated sequences are runs. */
#ifndef PROFILE_READ_CALLS_H
#define PROFILE_READ_CALLS_H

#include "base/hash.h"
#include "profile/read/reader.h"

#define CALLS_MOST 4000000

/* The repeated part of a sequence: `count` runs of `period` events each, the first at `first`. count 1:
 * nothing repeats, and the run is the whole sequence (first 0, period n). */
struct runs {
	int first, period, count;
};
/* Finds the repetition at the end of n keys (equal keys: equal events). The events before it are preparation,
 * or an incomplete run. It must cover at least half of the sequence; for equal coverage the shortest period
 * wins. Linear time (the Z algorithm on the reversed sequence, Gusfield, Algorithms on Strings, 1997). cut:
 * the sequence may end within a run; runs are then counted from the beginning of the repetition. */
struct runs calls_runs(const uint64_t *keys, int n, bool cut);

/* Fewest keys of a run that calls_runs_within finds, because shorter sequences are parts of a model; most
 * keys after the last run. */
#define RUN_LEAST 8
#define RUN_TAIL_MOST 16
/* Finds the repetition in a trace, which may begin with something else (a warm-up, which tries algorithms; an
 * incomplete run) and end with a few other keys. It covers at least half of the sequence, or what is before
 * it has all its keys: a first run. idle: the time before each key. Where only it can tell if the sequence
 * begins or ends within a run, runs begin after the longest pauses that all of them have. */
struct runs calls_runs_within(const uint64_t *keys, const double *idle, int n);

/* A zeroed struct is empty. */
struct calls {
	struct arena arena;          /* holds the keys; the texts of the rows are in the caller's arena */
	struct hash kinds;           /* key text -> index in rows */
	struct execution_row *rows;  /* one per kind of call, without times */
	int kind_count, kind_capacity;
	struct call {
		int kind;
		double ns, at_ns;    /* duration; begin on the log's clock; NaN unknown */
	} *list;
	int count, capacity;
	int64_t dropped;             /* beyond CALLS_MOST */
};

/* Adds a call of the kind `key`. For a new kind it returns a row that the caller must fill, otherwise NULL.
 */
struct execution_row *calls_add(struct calls *c, struct text key, double ns, double at_ns);
void calls_drop_last(struct calls *c); /* marks the last call as failed */
/* Adds the rows of one run to e: medians over the runs, the first of several left out (it warms up). Sets
 * profiled_ns if the log has a clock (outside_ns stays unknown: between two calls the framework may run nodes
 * of its own), and `settings` ({"runs":4,"runs_left_out":1}; with "runs_unknown":true if no sequence
 * repeats); adds to `gaps` what was left out. unit: the word for a call, "primitive". cut: the log is
 * truncated. */
void calls_finish(struct calls *c, struct arena *a, struct execution *e, const char *unit, bool cut);
void calls_free(struct calls *c);

#endif
