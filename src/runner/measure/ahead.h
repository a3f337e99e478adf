/* Lists and compiles the algorithms of the next problems on threads, before the device is locked and while
 * nothing is measured: compiling takes cores, caches and the driver's locks, and loads modules onto the
 * device, each of which would disturb the host time of an enqueue. So a round of compiling comes before the
 * first problem that needs it, makes use of all threads by compiling for the problems after it too, and ends
 * before sampling begins. In between, the threads sleep. */
#ifndef RUNNER_AHEAD_H
#define RUNNER_AHEAD_H

#include "runner/measure/offers.h"

#define AHEAD_THREADS 8      /* default: a thread per core but one, at most this many */
#define AHEAD_THREADS_MAX 64
#define AHEAD_PROBLEMS 32    /* maximum number of problems that are prepared at once */
#define AHEAD_NS 2e9         /* work for other problems than the first is begun only this long */

struct ahead_options {
	const struct backend *const *backends; /* NULL-terminated */
	int threads;                           /* 1 to AHEAD_THREADS_MAX */
	/* Called on each thread before anything else (platform.h); NULL: nothing to do. */
	int (*enter)(struct error *err);
	bool lists_only;                       /* algorithms are listed and not compiled */
	int most;                              /* of a problem, compile at most these (offers_pick) */
	double ahead_ns;                       /* AHEAD_NS */
};

/* A problem to prepare: its text, and whether all its algorithms are listed (struct backend_list). */
struct ahead_job {
	const char *text;
	bool all;
};

struct ahead;
/* Starts the threads. Returns NULL and sets err if the system refuses them, or `enter` fails on one. */
struct ahead *ahead_open(const struct ahead_options *o, struct error *err);
/* Waits for the threads, frees what was not taken. NULL is allowed. */
void ahead_close(struct ahead *a);

/* Prepares problems, in the order of their jobs: the first completely, the others as far
 * as time permits. What was prepared for problems that are not among them is freed. Returns at once if the
 * first is prepared already. `cancelled` is asked about every 50 ms: once true, no further work is begun. */
void ahead_prepare(struct ahead *a, const struct ahead_job *jobs, int count, bool (*cancelled)(void *user),
	void *user);

/* Returns how many algorithms were compiled and problems were listed so far. Any thread may ask. */
int64_t ahead_pieces(struct ahead *a);

/* Writes the first problem on which a thread works now. Returns false if no thread works. Any thread may
 * ask. */
bool ahead_busy(struct ahead *a, char *text, size_t size);

/* Hands out what was prepared for a problem, once: *status, with the offers if ok, else err. Returns false if
 * it was not listed. */
bool ahead_take(struct ahead *a, struct ahead_job job, struct problem *p, struct offers *o,
	enum status *status, struct error *err);

/* Returns the default number of threads on a machine with `cores`. */
int ahead_threads(int cores);

#endif
