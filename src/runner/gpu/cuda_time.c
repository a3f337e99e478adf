/* The sequence of a sample in the stream, and the reading of its events. */
#include "config.h"

#include "runner/gpu/cuda_time.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "runner/measure/clock.h"
#include "runner/kernels/cuda_kernels.h"
#include "runner/gpu/cuda_calibrate.h"

/* A sample is this sequence in the stream: hold kernel, L2 flush if needed, begin of the clock's count, begin
 * event, one execution or a graph, end event, end of the count. The host enqueues all of it and only then
 * ends the hold, so that the GPU never waits for a launch between the events. The hold ends by itself after
 * about 1 s: a launch that waits for the stream would otherwise never return. */
#define LEAST_SHARE 0.1            /* of a measured time, which remains after its floor is subtracted */
#define HOLD_TIMED_OUT_NS 0.5e9    /* host time after which a launch must have waited for the hold to end */
#define WAITS_MOST 2               /* timeouts of an algorithm's graphs until they are not held any more */
#define FLUSH_FACTOR 2             /* bytes written to flush the L2 cache, relative to its size */
#define FLUSH_DEFAULT 64e6         /* assumed bytes of the L2 cache if unknown */
#define CHUNK 128                  /* most single enqueues per hold: the launch queue holds about 1024 */
#define CHUNK_LESS 8               /* factor by which they are reduced after a timeout */

/* One instance, since a process measures one algorithm at a time. */
static struct {
	cudaEvent_t begin, end;
	int *flag;                 /* pinned; 1 ends the hold */
	bool is_open;
	char *flush;               /* device memory written to flush the L2 cache; NULL if not allocated */
	size_t flush_bytes;
	bool unholdable;           /* all launches wait for their kernels (profiler, debugger): never hold */
} shared;

/* Launches our kernels once: the driver loads the code of a kernel when it is launched first, and may wait
 * for the stream, which would never end behind a hold. */
static int code_load(struct error *err)
{
	cudaStream_t s = cuda_context()->stream;
	*(volatile int *)shared.flag = 1;
	return cuda_error(cuda_block(shared.flag, s), "a kernel that holds the stream", err) ||
			cuda_clock_begin(err) || cuda_clock_end(err) ||
			cuda_error(cuda_nothing(s), "an empty kernel", err) ||
			cuda_error(cudaStreamSynchronize(s), "the first kernels", err)
		? -1
		: 0;
}

static int shared_open(struct error *err)
{
	void *pinned = NULL;
	if (shared.is_open)
		return 0;
	if (cuda_error(cudaEventCreate(&shared.begin), "cudaEventCreate", err) ||
		cuda_error(cudaEventCreate(&shared.end), "cudaEventCreate", err) ||
		cuda_error(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped | cudaHostAllocPortable),
			"cudaHostAlloc", err) ||
		cuda_clock_open(err)) {
		shared.flag = pinned;
		cuda_time_close();
		return -1;
	}
	memset(pinned, 0, 64);
	shared.flag = pinned;
	shared.is_open = true;
	return code_load(err);
}

void cuda_time_close(void)
{
	if (shared.flush)
		cudaFree(shared.flush);
	if (shared.flag)
		cudaFreeHost(shared.flag);
	if (shared.begin)
		cudaEventDestroy(shared.begin);
	if (shared.end)
		cudaEventDestroy(shared.end);
	memset(&shared, 0, sizeof(shared));
}

static int synchronize(const char *what, struct error *err)
{
	return cuda_error(cudaStreamSynchronize(cuda_context()->stream), what, err);
}

/* Reads the time between the events without floor_ns, the part that is not work. */
static int elapsed_read(double floor_ns, double *ns, struct error *err)
{
	float ms = 0;
	if (cuda_error(cudaEventElapsedTime(&ms, shared.begin, shared.end), "cudaEventElapsedTime", err))
		return -1;
	double all = fmax((double)ms * 1e6, 1); /* never 0, though shorter times cannot be resolved */
	*ns = fmax(all - floor_ns, LEAST_SHARE * all);
	return 0;
}

/* --- one launch between two events --- */

static int64_t set_next(struct cuda_timer *t, enum cache cache)
{
	int64_t set = t->next[cache];
	t->next[cache] = (set + 1) % t->sets[cache];
	return set;
}

/* --- flushing the L2 cache --- */

/* Allocates the memory to write. If that fails there is no flush, and cuda_time_sets_passed returns the few
 * sets used. */
static void flush_open(void)
{
	double l2 = cuda_context()->l2_bytes;
	size_t bytes = (size_t)(FLUSH_FACTOR * (isnan(l2) ? FLUSH_DEFAULT : l2));
	if (shared.flush)
		return;
	if (cudaMalloc((void **)&shared.flush, bytes) == cudaSuccess) {
		shared.flush_bytes = bytes;
		/* once without a hold, as in code_load */
		cudaMemsetAsync(shared.flush, 0, 1, cuda_context()->stream);
		cudaStreamSynchronize(cuda_context()->stream);
	} else {
		cudaGetLastError();
		shared.flush = NULL;
	}
}

/* Enqueues the flush. For CACHE_NET an untimed execution then brings the activations back into the cache. */
static int flush_enqueue(struct cuda_timer *t, enum cache cache, struct error *err)
{
	cudaStream_t s = cuda_context()->stream;
	if (!shared.flush)
		return 0;
	if (cuda_error(cudaMemsetAsync(shared.flush, 0, shared.flush_bytes, s), "cudaMemsetAsync", err))
		return -1;
	/* on the last buffer set: a graph that needs a flush starts at the first one and does not reach the
	 * last */
	return cache == CACHE_NET ? t->enqueue(t->user, cache, t->sets[cache] - 1, s, err) : 0;
}

/* --- executions in a held stream --- */

static int hold_begin(struct error *err)
{
	__atomic_store_n(shared.flag, 0, __ATOMIC_RELEASE);
	return cuda_error(cuda_block(shared.flag, cuda_context()->stream), "holding the stream", err);
}

static void hold_end(void)
{
	__atomic_store_n(shared.flag, 1, __ATOMIC_RELEASE);
}

/* The work between the events: `times` single enqueues or one graph. */
struct burst {
	int (*launch)(struct cuda_timer *t, const struct burst *b, struct error *err);
	enum cache cache;
	bool flushes;            /* flush the L2 cache before the begin event */
	int64_t set;             /* buffer set of an isolated execution */
	int64_t times;           /* single enqueues; 0: a graph */
	cudaGraphExec_t graph;
};

/* True if even one of our own small kernels cannot be enqueued behind a hold, as under some profilers and
 * debuggers. */
static bool launches_wait(void)
{
	double began = clock_ns();
	int bad = hold_begin(NULL) || cuda_nothing(cuda_context()->stream) != cudaSuccess;
	bool waited = clock_ns() - began > HOLD_TIMED_OUT_NS;
	hold_end();
	return synchronize("a launch behind a hold", NULL) == 0 && !bad && waited;
}

bool cuda_time_waits(const struct cuda_timer *t)
{
	return shared.unholdable || t->unholdable;
}

/* Decides what to do after a launch waited for the held stream: all launches of this process do so; or a
 * library synchronizes in this algorithm's enqueue; or the launch queue is full, then fewer are enqueued per
 * hold. */
static void holding_disable(struct cuda_timer *t, const struct burst *b)
{
	if (launches_wait()) {
		shared.unholdable = true;
		log_line("launches wait for their kernels in this process; "
			"measured times include launch latency");
	} else if (b->times > 1) {
		t->chunk = b->times > CHUNK_LESS ? b->times / CHUNK_LESS : 1;
	} else if (!b->graph || ++t->waits >= WAITS_MOST) {
		t->unholdable = true;
		log_line("an algorithm waits for earlier work when it is enqueued; "
			"its times include launch latency");
	}
}

/* Enqueues a burst between the two events, behind a hold if `held`. */
static int burst_enqueue(struct cuda_timer *t, const struct burst *b, bool held, struct error *err)
{
	cudaStream_t s = cuda_context()->stream;
	return (held && hold_begin(err)) || (b->flushes && flush_enqueue(t, b->cache, err)) ||
		cuda_clock_begin(err) ||
		cuda_error(cudaEventRecord(shared.begin, s), "cudaEventRecord", err) ||
		b->launch(t, b, err) ||
		cuda_error(cudaEventRecord(shared.end, s), "cudaEventRecord", err) || cuda_clock_end(err);
}

/* Measures a burst. *waited: its launch waited for the hold to time out; then *ns is not set. */
static int run_once(
	struct cuda_timer *t, const struct burst *b, double *ns, bool *waited, struct error *err)
{
	const struct cuda_calibration *c = cuda_calibration();
	if (cuda_clock_settle(&t->clock, err))
		return -1;
	double began = clock_ns();
	bool held = !shared.unholdable && !t->unholdable;
	int bad = burst_enqueue(t, b, held, err);
	double released = clock_ns();
	*waited = held && released - began > HOLD_TIMED_OUT_NS;
	hold_end(); /* also after an error: the stream would stay blocked for a second */
	if (bad) {
		synchronize("executions back to back", NULL);
		return -1;
	}
	cuda_clock_ask(&t->clock);
	if (synchronize("executions back to back", err))
		return -1;
	t->host_ns = clock_ns() - released;
	if (cuda_clock_judge(&t->clock))
		cuda_context_disturb();
	return *waited ? 0 : elapsed_read(b->graph ? c->graph_ns : c->pair_ns, ns, err);
}

/* Measures a graph or one execution; repeats it if its launch waited, at last without a hold. */
static int run_held(struct cuda_timer *t, const struct burst *b, double *ns, struct error *err)
{
	for (bool waited = true; waited;) {
		if (run_once(t, b, ns, &waited, err))
			return -1;
		if (waited)
			holding_disable(t, b);
	}
	return 0;
}

/* The minimum is kept, because disturbances of the host only increase it. */
static int launch_isolated(struct cuda_timer *t, const struct burst *b, struct error *err)
{
	double began = clock_ns();
	if (t->enqueue(t->user, b->cache, b->set, cuda_context()->stream, err))
		return -1;
	double took = clock_ns() - began;
	t->enqueue_ns = t->enqueue_ns > 0 ? fmin(t->enqueue_ns, took) : took;
	return 0;
}

/* Makes the buffer sets of `times` executions from `first` on ready: libraries allocate for that, which a
 * capture does not allow. */
static int sets_ready(
	struct cuda_timer *t, enum cache cache, int64_t first, int64_t times, struct error *err)
{
	int64_t sets = t->sets[cache], count = times < sets ? times : sets;
	for (int64_t i = 0; i < count; i++)
		if (t->ready(t->user, cache, (first + i) % sets, err))
			return -1;
	return 0;
}

static int run_isolated(struct cuda_timer *t, enum cache cache, double *ns, struct error *err)
{
	struct burst b = {
		.launch = launch_isolated, .cache = cache, .set = set_next(t, cache), .times = 1
	};
	return sets_ready(t, cache, b.set, 1, err) ? -1 : run_held(t, &b, ns, err);
}

static int launch_singly(struct cuda_timer *t, const struct burst *b, struct error *err)
{
	for (int64_t i = 0; i < b->times; i++)
		if (t->enqueue(t->user, b->cache, set_next(t, b->cache), cuda_context()->stream, err))
			return -1;
	return 0;
}

static int run_singly(struct cuda_timer *t, enum cache cache, int64_t times, double *ns, struct error *err)
{
	*ns = 0;
	while (times > 0) {
		int64_t most = t->chunk ? t->chunk : CHUNK;
		struct burst b = {
			.launch = launch_singly, .cache = cache, .times = times < most ? times : most
		};
		double part;
		bool waited;
		if (sets_ready(t, cache, t->next[cache], b.times, err) ||
			run_once(t, &b, &part, &waited, err))
			return -1;
		if (waited) {
			holding_disable(t, &b);
			continue;
		}
		*ns += part;
		times -= b.times;
	}
	return 0;
}

/* --- graphs --- */

static int launch_graph(struct cuda_timer *t, const struct burst *b, struct error *err)
{
	(void)t;
	return cuda_error(cudaGraphLaunch(b->graph, cuda_context()->stream), "cudaGraphLaunch", err);
}

static int capture(struct cuda_timer *t, enum cache cache, int64_t first, int64_t times, cudaGraph_t *graph,
	struct error *err)
{
	cudaStream_t s = cuda_context()->stream;
	*graph = NULL;
	if (cuda_error(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture",
		    err))
		return -1;
	int bad = 0;
	for (int64_t i = 0; i < times && !bad; i++)
		bad = t->enqueue(t->user, cache, (first + i) % t->sets[cache], s, err);
	/* the capture must be ended also after an error; the first error is the most useful one */
	cudaError_t c = cudaStreamEndCapture(s, graph);
	if (!bad)
		bad = cuda_error(c, "cudaStreamEndCapture", err);
	cudaGetLastError();
	if (bad && *graph) {
		cudaGraphDestroy(*graph);
		*graph = NULL;
	}
	return bad || !*graph ? -1 : 0;
}

/* Captures, instantiates and uploads a graph, and launches it once untimed. */
static int graph_make(struct cuda_timer *t, enum cache cache, int64_t first, int64_t times,
	cudaGraphExec_t *exec, struct error *err)
{
	cudaGraph_t graph;
	cudaStream_t s = cuda_context()->stream;
	*exec = NULL;
	if (sets_ready(t, cache, first, times, err) || capture(t, cache, first, times, &graph, err))
		return -1;
	int bad = cuda_error(cudaGraphInstantiateWithFlags(exec, graph, 0), "cudaGraphInstantiate", err);
	cudaGraphDestroy(graph);
	if (bad)
		*exec = NULL;
	if (!bad)
		bad = cuda_error(cudaGraphUpload(*exec, s), "cudaGraphUpload", err) ||
			cuda_error(cudaGraphLaunch(*exec, s), "cudaGraphLaunch", err) ||
			synchronize("a graph", err);
	if (bad && *exec)
		cudaGraphExecDestroy(*exec);
	if (bad)
		*exec = NULL;
	return bad ? -1 : 0;
}

int cuda_time_capture(struct cuda_timer *t, cudaGraph_t *graph, struct error *err)
{
	return capture(t, CACHE_WARM, 0, 1, graph, err);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static void graphs_free(struct cuda_time_graphs *g)
{
	for (int i = 0; i < CUDA_TIME_GRAPHS; i++)
		if (g->graph[i])
			cudaGraphExecDestroy(g->graph[i]);
	*g = (struct cuda_time_graphs){ 0 };
}

/* Returns how many graphs take turns. Each starts at the buffer set after the last one of the preceding
 * graph: after sets / gcd(sets, times) graphs that is set 0 again. If this needs more than CUDA_TIME_GRAPHS,
 * that many still do if they use at least half of all sets (as large as the L2 cache). Else there is one
 * graph and the cache is flushed before each launch. Rotation is preferred, because the lines written by a
 * flush are evicted to memory during the measurement. */
static int round_size(int64_t sets, int64_t times)
{
	int64_t round = sets / common_divisor(sets, times);
	if (round <= CUDA_TIME_GRAPHS)
		return (int)round;
	return 2.0 * CUDA_TIME_GRAPHS * (double)times >= (double)sets ? CUDA_TIME_GRAPHS : 1;
}

/* Returns the graphs of this cache state and count; a new entry replaces the oldest if all are in use. */
static struct cuda_time_graphs *graphs_find(struct cuda_timer *t, enum cache cache, int64_t times)
{
	for (int i = 0; i < t->kind_count; i++)
		if (t->kinds[i].cache == cache && t->kinds[i].times == times)
			return &t->kinds[i];
	if (t->kind_count == CUDA_TIME_KINDS) {
		graphs_free(&t->kinds[0]);
		memmove(&t->kinds[0], &t->kinds[1], (CUDA_TIME_KINDS - 1) * sizeof(t->kinds[0]));
		t->kind_count--;
	}
	struct cuda_time_graphs *g = &t->kinds[t->kind_count++];
	*g = (struct cuda_time_graphs){
		.cache = cache, .times = times, .count = round_size(t->sets[cache], times)
	};
	return g;
}

/* True if the graph's buffer sets could still be in the cache at the next launch. */
static bool needs_flush(const struct cuda_timer *t, const struct cuda_time_graphs *g)
{
	return g->count == 1 && g->times < t->sets[g->cache];
}

static int run_graph(struct cuda_timer *t, enum cache cache, int64_t times, double *ns, struct error *err)
{
	struct cuda_time_graphs *g = graphs_find(t, cache, times);
	cudaGraphExec_t *exec = &g->graph[g->next];
	int64_t first = g->next * (times % t->sets[cache]) % t->sets[cache];
	if (!*exec && graph_make(t, cache, first, times, exec, err)) {
		t->uncapturable = true;
		return -1;
	}
	g->next = (g->next + 1) % g->count;
	bool flushes = needs_flush(t, g);
	if (flushes)
		flush_open();
	if (flushes && sets_ready(t, cache, t->sets[cache] - 1, 1, err)) /* flush_enqueue uses it */
		return -1;
	struct burst b = { .launch = launch_graph, .cache = cache, .graph = *exec, .flushes = flushes };
	return run_held(t, &b, ns, err);
}

/* --- all runs --- */

/* Logged once per process; not an error. */
static void uncapturable_log(const struct error *err)
{
	static bool logged;
	if (!logged)
		log_line("an algorithm cannot be captured in a graph; it is launched one by one: %s",
			err && *err->text ? err->text : "capture fails");
	logged = true;
}

static int launch_first(struct cuda_timer *t, enum cache cache, struct error *err)
{
	if (t->launched)
		return 0;
	if (sets_ready(t, cache, 0, 1, err) ||
		t->enqueue(t->user, cache, 0, cuda_context()->stream, err) ||
		synchronize("the first execution", err))
		return -1;
	t->launched = true;
	return 0;
}

int cuda_time_run(struct cuda_timer *t, enum launch launch, enum cache cache, int64_t times,
	double *elapsed_ns, struct error *err)
{
	if (cuda_context()->poisoned)
		return error_set(err, "an earlier kernel faulted; this process can no longer use the GPU");
	if (shared_open(err) || launch_first(t, cache, err))
		return -1;
	if (launch == LAUNCH_ISOLATED)
		return run_isolated(t, cache, elapsed_ns, err);
	if (!t->uncapturable) {
		if (run_graph(t, cache, times, elapsed_ns, err) == 0)
			return 0;
		if (!t->uncapturable || cuda_context()->poisoned)
			return -1;
		uncapturable_log(err);
	}
	return run_singly(t, cache, times, elapsed_ns, err);
}

int64_t cuda_time_sets_passed(const struct cuda_timer *t, enum cache cache)
{
	int64_t least = t->sets[cache];
	for (int i = 0; i < t->kind_count; i++) {
		const struct cuda_time_graphs *g = &t->kinds[i];
		double reach = (double)g->times * g->count; /* buffer sets that the graphs use in turn */
		bool flushed = needs_flush(t, g) && shared.flush;
		/* without a graph, capture failed: single executions use all sets */
		if (g->cache == cache && g->graph[0] && !flushed && reach < (double)least)
			least = (int64_t)reach;
	}
	return least;
}

void cuda_time_forget(struct cuda_timer *t)
{
	for (int i = 0; i < t->kind_count; i++)
		graphs_free(&t->kinds[i]);
	t->kind_count = 0;
}
