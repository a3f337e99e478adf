#include "config.h"

#include "runner/cuda_time.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "runner/clock.h"
#include "runner/cuda_kernels.h"
#include "runner/cuda_nvml.h"

#define CLOCK_COUNT_NS 40e3        /* the device's timer ticks once a microsecond on some GPUs */
#define CLOCK_EVERY_NS 1e6         /* isolated samples are many: the clock is looked at this often */
#define CLOCK_LEAST_SHARE 0.75     /* of the default clock; below that a sample is disturbed */
#define BLOCK_GIVEN_UP_NS 0.5e9    /* a held stream that took this long was not held for us: launches wait here */
#define WAITS_MOST 3               /* once or twice may be the system's doing */
#define SWEEP_FACTOR 2             /* so many times the last-level cache is written to empty it */
#define SWEEP_GUESS 64e6           /* bytes of that cache where it is not known */
#define CHUNK 128                  /* launches behind one held stream: more would fill the launch queue */

/* One a process: a process measures one thing at a time. */
static struct {
	cudaEvent_t begin, end;
	int *flag;                 /* pinned: ends the hold */
	uint64_t *seen;            /* pinned copy of the counts */
	uint64_t *counts;          /* on the device */
	bool is_open;
	char *sweep;               /* on the device: writing it leaves nothing else in the last-level cache */
	size_t sweep_bytes;        /* 0: not made yet, or no memory for it */
	bool unholdable;           /* launches wait for their kernels here (tools, debuggers): nothing is held */
	int waits;                 /* held graphs in a row whose launch took so long */
	double clock_at;           /* when the clock was last looked at */
} shared;

static int shared_open(struct error *err)
{
	void *pinned = NULL;
	if (shared.is_open)
		return 0;
	if (cuda_error(cudaEventCreate(&shared.begin), "cudaEventCreate", err) ||
		cuda_error(cudaEventCreate(&shared.end), "cudaEventCreate", err) ||
		cuda_error(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc",
			err) ||
		cuda_error(cudaMalloc((void **)&shared.counts, 2 * sizeof(*shared.counts)), "cudaMalloc", err)) {
		shared.flag = pinned;
		cuda_time_close();
		return -1;
	}
	memset(pinned, 0, 64);
	shared.flag = pinned;
	shared.seen = (uint64_t *)pinned + 2;
	shared.is_open = true;
	return 0;
}

void cuda_time_close(void)
{
	if (shared.counts)
		cudaFree(shared.counts);
	if (shared.sweep)
		cudaFree(shared.sweep);
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

static int elapsed_read(double *ns, struct error *err)
{
	float ms = 0;
	if (cuda_error(cudaEventElapsedTime(&ms, shared.begin, shared.end), "cudaEventElapsedTime", err))
		return -1;
	*ns = fmax((double)ms * 1e6, 1); /* below the events' resolution */
	return 0;
}

/* --- the clock beside the work --- */

static int clock_enqueue(struct error *err)
{
	cudaStream_t s = cuda_context()->stream;
	return cuda_error(cuda_clock_count(shared.counts, CLOCK_COUNT_NS, s), "counting the clock", err) ||
		cuda_error(cudaMemcpyAsync(shared.seen, shared.counts, 2 * sizeof(uint64_t), cudaMemcpyDeviceToHost, s),
			"cudaMemcpyAsync", err) ? -1 : 0;
}

/* Once a process: what the driver says of it now. */
static void clock_complain(double mhz)
{
	static bool said;
	struct cuda_nvml now;
	char reasons[128];
	if (said)
		return;
	said = true;
	cuda_nvml_read(&now);
	cuda_nvml_reasons(now.reasons, reasons, sizeof(reasons));
	log_line("the clock has fallen to %.0f of %.0f MHz%s%s: such samples count only where there are no better ones", mhz,
		cuda_context()->clock_khz / 1e3, *reasons ? ", by " : "", reasons);
}

/* After the stream has been waited for. */
static void clock_judge(struct cuda_timer *t, double *sum, int *count)
{
	shared.clock_at = clock_ns();
	if (shared.seen[1] == 0)
		return;
	double mhz = (double)shared.seen[0] / (double)shared.seen[1] * 1e3;
	*sum += mhz;
	(*count)++;
	t->clock_mhz = *sum / *count;
	if (mhz < CLOCK_LEAST_SHARE * cuda_context()->clock_khz / 1e3) {
		clock_complain(mhz);
		cuda_context_disturb();
	}
}

/* --- one launch between two events --- */

static int64_t set_next(struct cuda_timer *t, enum cache cache)
{
	int64_t set = t->next[cache];
	t->next[cache] = (set + 1) % t->sets[cache];
	return set;
}

static int run_isolated(struct cuda_timer *t, enum cache cache, double *ns, struct error *err)
{
	cudaStream_t s = cuda_context()->stream;
	int64_t set = set_next(t, cache);
	bool look = clock_ns() - shared.clock_at >= CLOCK_EVERY_NS;
	if (t->ready(t->user, cache, set, err) || cuda_error(cudaEventRecord(shared.begin, s), "cudaEventRecord", err))
		return -1;
	double began = clock_ns();
	if (t->enqueue(t->user, cache, set, s, err))
		return -1;
	double took = clock_ns() - began;
	if (cuda_error(cudaEventRecord(shared.end, s), "cudaEventRecord", err) || (look && clock_enqueue(err)) ||
		synchronize("one execution", err))
		return -1;
	/* least: whatever disturbs a host only makes it slower */
	t->enqueue_ns = t->enqueue_ns > 0 ? fmin(t->enqueue_ns, took) : took;
	double sum = 0;
	int count = 0;
	if (look)
		clock_judge(t, &sum, &count);
	return elapsed_read(ns, err);
}

/* --- sweeping the cache --- */

/* Without memory for it, it is left out: cuda_time_sets_passed then says how little passes. */
static void sweep_open(void)
{
	double l2 = cuda_context()->l2_bytes;
	size_t bytes = (size_t)(SWEEP_FACTOR * (isnan(l2) ? SWEEP_GUESS : l2));
	if (shared.sweep)
		return;
	if (cudaMalloc((void **)&shared.sweep, bytes) == cudaSuccess) {
		shared.sweep_bytes = bytes;
	} else {
		cudaGetLastError();
		shared.sweep = NULL;
	}
}

/* Writes the sweep; in state net an untimed execution then brings the activations back. */
static int sweep_enqueue(struct cuda_timer *t, enum cache cache, struct error *err)
{
	cudaStream_t s = cuda_context()->stream;
	if (!shared.sweep)
		return 0;
	if (cuda_error(cudaMemsetAsync(shared.sweep, 0, shared.sweep_bytes, s), "cudaMemsetAsync", err))
		return -1;
	/* the last set of all: a graph that needs a sweep begins with the first and does not get there */
	return cache == CACHE_NET ? t->enqueue(t->user, cache, t->sets[cache] - 1, s, err) : 0;
}

/* --- several behind a held stream --- */

static int hold(struct error *err)
{
	__atomic_store_n(shared.flag, 0, __ATOMIC_RELEASE);
	return cuda_error(cuda_block(shared.flag, cuda_context()->stream), "holding the stream", err);
}

static void let_go(void)
{
	__atomic_store_n(shared.flag, 1, __ATOMIC_RELEASE);
}

/* What is launched between the events. */
struct burst {
	int (*launch)(struct cuda_timer *t, const struct burst *b, struct error *err);
	enum cache cache;
	bool sweeps;             /* the cache first */
	int64_t times;           /* single launches */
	cudaGraphExec_t graph;   /* or one graph */
};

/* What took so long behind a held stream had waited for it. A graph does so only where all launches do; a library that waits
 * by itself says nothing of others. */
static void waited_note(struct cuda_timer *t, const struct burst *b)
{
	if (!b->graph) {
		t->unholdable = true;
		log_line("an algorithm waits for what was launched before it; launch times are in what is measured of it");
	} else if (++shared.waits >= WAITS_MOST) {
		shared.unholdable = true;
		log_line("launches wait for their kernels here; launch times are in what is measured");
	}
}

/* Launches between the events, held back until all are in the stream. */
static int run_held(struct cuda_timer *t, const struct burst *b, double *ns, struct error *err)
{
	cudaStream_t s = cuda_context()->stream;
	for (;;) {
		double began = clock_ns(), sum = 0;
		int count = 0;
		bool held = !shared.unholdable && !t->unholdable;
		int bad = (held && hold(err)) || (b->sweeps && sweep_enqueue(t, b->cache, err)) ||
			cuda_error(cudaEventRecord(shared.begin, s), "cudaEventRecord", err) ||
			b->launch(t, b, err) || cuda_error(cudaEventRecord(shared.end, s), "cudaEventRecord", err) ||
			clock_enqueue(err);
		bool waited = clock_ns() - began > BLOCK_GIVEN_UP_NS;
		let_go(); /* always: what is held would wait a second */
		if (bad) {
			synchronize("executions back to back", NULL);
			return -1;
		}
		if (synchronize("executions back to back", err))
			return -1;
		clock_judge(t, &sum, &count);
		shared.waits = waited ? shared.waits : 0;
		if (!waited || !held)
			return elapsed_read(ns, err);
		waited_note(t, b);
	}
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
		struct burst b = { .launch = launch_singly, .cache = cache, .times = times < CHUNK ? times : CHUNK };
		double part;
		if (run_held(t, &b, &part, err))
			return -1;
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
	if (cuda_error(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture", err))
		return -1;
	int bad = 0;
	for (int64_t i = 0; i < times && !bad; i++)
		bad = t->enqueue(t->user, cache, (first + i) % t->sets[cache], s, err);
	/* must end it whatever happened, and the first error tells most */
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

/* Captured, instantiated, uploaded and launched once untimed. */
static int graph_make(struct cuda_timer *t, enum cache cache, int64_t first, int64_t times, cudaGraphExec_t *exec,
	struct error *err)
{
	cudaGraph_t graph;
	cudaStream_t s = cuda_context()->stream;
	*exec = NULL;
	if (capture(t, cache, first, times, &graph, err))
		return -1;
	int bad = cuda_error(cudaGraphInstantiateWithFlags(exec, graph, 0), "cudaGraphInstantiate", err);
	cudaGraphDestroy(graph);
	if (bad)
		*exec = NULL;
	if (!bad)
		bad = cuda_error(cudaGraphUpload(*exec, s), "cudaGraphUpload", err) ||
			cuda_error(cudaGraphLaunch(*exec, s), "cudaGraphLaunch", err) || synchronize("a graph", err);
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

/* How many graphs take turns. Each begins where the one before it ended, until that is set 0 again or there are as many as
 * we keep. Where those come nowhere near all sets (half of them are the cache's size) there is one, and the cache is swept
 * before each launch; not so where they do, because what the sweep has written goes out to memory beside them. */
static int round_size(int64_t sets, int64_t times)
{
	int64_t round = sets / common_divisor(sets, times);
	if (round <= CUDA_TIME_GRAPHS)
		return (int)round;
	return 2.0 * CUDA_TIME_GRAPHS * (double)times >= (double)sets ? CUDA_TIME_GRAPHS : 1;
}

/* The row of this state and count, a new one where there is none. */
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
	*g = (struct cuda_time_graphs){ .cache = cache, .times = times, .count = round_size(t->sets[cache], times) };
	return g;
}

/* Would the sets come back before they have left the cache? */
static bool is_short(const struct cuda_timer *t, const struct cuda_time_graphs *g)
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
	bool sweeps = is_short(t, g);
	if (sweeps)
		sweep_open();
	return run_held(t, &(struct burst){ .launch = launch_graph, .cache = cache, .graph = *exec, .sweeps = sweeps }, ns,
		err);
}

/* --- all together --- */

/* Once a process: it is no trouble, only worth knowing. */
static void uncapturable_say(const struct error *err)
{
	static bool said;
	if (!said)
		log_line("an algorithm cannot be captured in a graph, it is launched one by one: %s",
			err && *err->text ? err->text : "capture fails");
	said = true;
}

static int launch_first(struct cuda_timer *t, enum cache cache, struct error *err)
{
	if (t->launched)
		return 0;
	if (t->enqueue(t->user, cache, 0, cuda_context()->stream, err) || synchronize("the first execution", err))
		return -1;
	t->launched = true;
	return 0;
}

int cuda_time_run(struct cuda_timer *t, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	if (cuda_context()->poisoned)
		return error_set(err, "an earlier kernel has faulted: this process can use the GPU no more");
	if (shared_open(err) || launch_first(t, cache, err))
		return -1;
	if (times <= 1)
		return run_isolated(t, cache, elapsed_ns, err);
	if (!t->uncapturable) {
		if (run_graph(t, cache, times, elapsed_ns, err) == 0)
			return 0;
		if (!t->uncapturable || cuda_context()->poisoned)
			return -1;
		uncapturable_say(err);
	}
	return run_singly(t, cache, times, elapsed_ns, err);
}

int64_t cuda_time_sets_passed(const struct cuda_timer *t, enum cache cache)
{
	int64_t least = t->sets[cache];
	for (int i = 0; i < t->kind_count; i++) {
		const struct cuda_time_graphs *g = &t->kinds[i];
		/* one graph that spans the round passes them all, several only as far as they reach */
		double reach = (double)g->times * g->count;
		bool swept = is_short(t, g) && shared.sweep;
		if (g->cache == cache && !swept && reach < (double)least)
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
