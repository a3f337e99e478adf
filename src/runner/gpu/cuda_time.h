/* Measures execution times with CUDA events. Isolated: one enqueue between two events. Amortized: one
 * captured graph of all executions between two events. Both are launched behind a kernel that holds the
 * stream until everything is enqueued, so that the time between the events is that of the GPU alone; the
 * host's time to enqueue an execution is measured apart (enqueue_ns). If capture fails, the executions are
 * enqueued one by one behind that kernel. */
#ifndef RUNNER_CUDA_TIME_H
#define RUNNER_CUDA_TIME_H

#include "problem/result.h"
#include "runner/gpu/cuda_clock.h"
#include "runner/gpu/cuda_context.h"

#define CUDA_TIME_GRAPHS 4   /* maximum graphs per cache state and count; each starts at another buffer set */
#define CUDA_TIME_KINDS 8    /* pairs of cache state and count whose graphs are kept */

struct cuda_time_graphs {
	enum cache cache;
	int64_t times;               /* executions per graph */
	int count, next;             /* graphs that take turns; index of the next to launch */
	cudaGraphExec_t graph[CUDA_TIME_GRAPHS];
};

struct cuda_timer {
	/* Enqueues one execution on a buffer set; must not synchronize or allocate. */
	int (*enqueue)(void *user, enum cache cache, int64_t set, cudaStream_t stream, struct error *err);
	/* Does the host work that a buffer set needs once, so that no timed enqueue includes it. */
	int (*ready)(void *user, enum cache cache, int64_t set, struct error *err);
	void *user;
	int64_t sets[CACHE_COUNT];   /* buffer sets per cache state, at least 1 */
	/* Private to the timer; zeroed by the caller: */
	int64_t next[CACHE_COUNT];   /* buffer set of the next single enqueue */
	struct cuda_time_graphs kinds[CUDA_TIME_KINDS];
	int kind_count;
	bool launched;               /* the first execution, which loads code, has run */
	bool uncapturable;           /* capture failed: executions are enqueued one by one */
	bool unholdable;             /* its enqueue waits for the stream (or fills the launch queue), so the
					stream cannot be held: times include launch latency */
	int64_t chunk;               /* single enqueues per hold; 0: not reduced yet */
	double enqueue_ns;           /* minimum host time to enqueue one execution; 0: not measured yet. If it
					waits for the GPU, that is part of it */
	int waits;                   /* held graphs whose launch waited */
	double host_ns;              /* host time from the end of the last hold to the end of its work */
	struct cuda_clock_track clock;
};

/* Runs `times` executions, at least 1, and sets *elapsed_ns to their total time in ns, without the time that
 * events and the start of a graph take (cuda_calibrate.h). LAUNCH_ISOLATED runs one. After a pause the GPU is
 * heated first (cuda_clock_settle). The first call creates events and buffers. Returns -1 and sets err on
 * failure. */
int cuda_time_run(struct cuda_timer *t, enum launch launch, enum cache cache, int64_t times,
	double *elapsed_ns, struct error *err);
/* True if launches could not be enqueued behind a hold: times include launch latency. */
bool cuda_time_waits(const struct cuda_timer *t);
/* Captures one execution as a graph, which the caller destroys. Returns -1 and sets err if it cannot be
 * captured. */
int cuda_time_capture(struct cuda_timer *t, cudaGraph_t *graph, struct error *err);
/* Frees the graphs. */
void cuda_time_forget(struct cuda_timer *t);
/* Returns the minimum number of buffer sets used before the first is used again, over all graphs so far.
 * Graphs before which the L2 cache is flushed count as using all sets. */
int64_t cuda_time_sets_passed(const struct cuda_timer *t, enum cache cache);
/* Frees the events and the memory kept between problems. */
void cuda_time_close(void);

#endif
