/* How long executions take, by events of the GPU's own clock. One execution (isolated): a launch between two events. Several
 * back to back (amortized): a captured graph of them, launched behind a kernel that holds the stream until everything is in
 * it; where capture fails, single launches behind that kernel. */
#ifndef RUNNER_CUDA_TIME_H
#define RUNNER_CUDA_TIME_H

#include "problem/result.h"
#include "runner/cuda_context.h"

#define CUDA_TIME_GRAPHS 4   /* of one cache state and count: each begins at another set, so that more sets pass */
#define CUDA_TIME_KINDS 8    /* different (state, count) kept */

struct cuda_time_graphs {
	enum cache cache;
	int64_t times;
	int count, next;             /* graphs in the round; the next to launch */
	cudaGraphExec_t graph[CUDA_TIME_GRAPHS];
};

struct cuda_timer {
	/* Enqueues one execution on a set of operands; only enqueues. */
	int (*enqueue)(void *user, enum cache cache, int64_t set, cudaStream_t stream, struct error *err);
	/* What the host makes once for a set of operands, so that no launch that is timed has it to do. */
	int (*ready)(void *user, enum cache cache, int64_t set, struct error *err);
	void *user;
	int64_t sets[CACHE_COUNT];   /* how many there are of each state; at least 1 */
	/* The timer's own, zeroed: */
	int64_t next[CACHE_COUNT];
	struct cuda_time_graphs kinds[CUDA_TIME_KINDS];
	int kind_count;
	bool launched;               /* once: the first launch of anything loads code */
	bool uncapturable;
	bool unholdable;             /* launched singly it waits for the stream: nothing can be held before it */
	double enqueue_ns;           /* least host time of one execution's launch seen; 0 none yet */
	double clock_mhz;            /* mean clock beside the last run; 0 none yet */
};

/* Events and the like are made at the first call. -1: err says what failed. */
int cuda_time_run(struct cuda_timer *t, enum cache cache, int64_t times, double *elapsed_ns, struct error *err);
/* One execution as a graph, which the caller destroys. -1: it cannot be captured. */
int cuda_time_capture(struct cuda_timer *t, cudaGraph_t *graph, struct error *err);
/* Frees the graphs. */
void cuda_time_forget(struct cuda_timer *t);
/* Sets that pass before the first comes back, in every kind of run so far; all of them where the cache is swept instead. */
int64_t cuda_time_sets_passed(const struct cuda_timer *t, enum cache cache);
/* Frees the events and what else is kept between problems. */
void cuda_time_close(void);

#endif
