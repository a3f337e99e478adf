/* Copies of operands for the cache states, the execution of one algorithm on them, and its check. */
#include "config.h"

#include "runner/gpu/cuda_work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "runner/gpu/cuda_buffers.h"
#include "runner/gpu/cuda_check.h"
#include "runner/gpu/cuda_cupti.h"
#include "runner/gpu/cuda_names.h"
#include "runner/gpu/cuda_time.h"

#define PREPARING "preparing an algorithm"
#define EXECUTING "executing an algorithm"

struct work {
	struct cuda_plan plan;
	struct cuda_buffers *buffers;
	struct cuda_space *space;
	struct cuda_timer timer;
	struct str kernels;
	char remark[300];
	bool locked, planned;
	int refused;               /* what the last enqueue returned, if it was a status */
};

/* Sets the addresses of a buffer set: CACHE_NET rotates only the constants, CACHE_COLD all operands. */
static void pointers_of(const struct work *w, enum cache cache, int64_t set, struct cuda_pointers *at)
{
	cuda_buffers_pointers(w->buffers, set, cache == CACHE_COLD ? set : 0, at);
	at->workspace = w->space ? cuda_space_at(w->space, cache == CACHE_COLD ? set : 0) : NULL;
}

int cuda_work_enqueue(void *work, enum cache cache, int64_t set, cudaStream_t stream, struct error *err)
{
	struct work *w = work;
	struct cuda_pointers at;
	pointers_of(w, cache, set, &at);
	int bad = w->plan.enqueue(w->plan.state, &at, stream, err);
	w->refused = bad > 0 ? bad : 0;
	return bad ? -1 : 0;
}

int cuda_work_ready(void *work, enum cache cache, int64_t set, struct error *err)
{
	struct work *w = work;
	struct cuda_pointers at;
	if (!w->plan.ready)
		return 0;
	pointers_of(w, cache, set, &at);
	return w->plan.ready(w->plan.state, &at, err);
}

int64_t cuda_work_sets(const void *work, enum cache cache)
{
	return ((const struct work *)work)->timer.sets[cache];
}

void cuda_work_release(void *work)
{
	struct work *w = work;
	/* a kernel still in the stream may fault: find out now, so that the next algorithm is not blamed */
	if (!cuda_context()->poisoned)
		cuda_error(cudaStreamSynchronize(cuda_context()->stream), "the end of an algorithm", NULL);
	cuda_time_forget(&w->timer);
	if (w->planned && w->plan.free)
		w->plan.free(w->plan.state);
	cuda_space_put(w->space);
	cuda_buffers_put(w->buffers);
	if (w->locked)
		cuda_context_unlock();
	str_free(&w->kernels);
	free(w);
}

/* Returns the copies of a workspace: enough to use twice the L2 cache before the first is used again, at most
 * cold_sets. */
static int64_t space_copies(double bytes, int64_t cold_sets)
{
	double l2 = cuda_context()->l2_bytes;
	double enough = ceil(2 * (isnan(l2) ? 64e6 : l2) / fmax(bytes, 1)) + 1;
	return enough < (double)cold_sets ? (int64_t)enough : cold_sets;
}

static int space_make(
	struct work *w, const struct backend_limits *limits, enum status *status, struct error *err)
{
	double bytes = w->plan.workspace_bytes;
	if (!(bytes > 0))
		return 0;
	int64_t copies = space_copies(bytes, w->buffers->cold_sets);
	double need = bytes * (double)copies + cuda_buffers_bytes(w->buffers);
	*status = STATUS_NO_MEMORY;
	if (cuda_buffers_refuse(need, limits, err))
		return -1;
	w->space = cuda_space_get(w->buffers, bytes, copies, status, err);
	return w->space ? 0 : -1;
}

static int work_make(struct work *w, const struct backend_list *list, int index,
	const struct backend_limits *limits, enum status *status, struct error *err)
{
	const struct cuda_backend *b = list->backend->detail;
	*status = STATUS_FAILED;
	if (cuda_context()->planning)
		return error_set(err, "planned only: there is no device");
	if (cuda_context()->poisoned)
		return error_set(err, "an earlier kernel faulted; this process can no longer use the GPU");
	if (cuda_context_lock(err))
		return -1;
	w->locked = true;
	if (b->plan(list, index, &w->plan, status, err))
		return -1;
	w->planned = true;
	const struct problem *p = w->plan.problem ? w->plan.problem : b->problem(list);
	w->buffers = cuda_buffers_get(p, limits, status, err);
	if (!w->buffers || space_make(w, limits, status, err))
		return -1;
	w->timer.enqueue = cuda_work_enqueue;
	w->timer.ready = cuda_work_ready;
	w->timer.user = w;
	w->timer.sets[CACHE_WARM] = 1;
	w->timer.sets[CACHE_NET] = w->buffers->block[1].base ? w->buffers->sets : 1;
	w->timer.sets[CACHE_COLD] = w->buffers->cold_sets;
	return 0;
}

void *cuda_work_prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	struct work *w = base_calloc(1, sizeof(*w));
	if (work_make(w, list, index, limits, status, err) == 0)
		return w;
	cuda_context_probe(PREPARING);
	cuda_work_release(w);
	return NULL;
}

static int run(struct work *w, enum launch launch, enum cache cache, int64_t times, double *elapsed_ns,
	struct error *err)
{
	if (cuda_time_run(&w->timer, launch, cache, times, elapsed_ns, err) == 0)
		return 0;
	cuda_context_probe(EXECUTING);
	return w->refused && !cuda_context()->poisoned ? w->refused : -1;
}

int cuda_work_run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	return run(work, times <= 1 ? LAUNCH_ISOLATED : LAUNCH_AMORTIZED, cache, times, elapsed_ns, err);
}

int cuda_work_amortized(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	return run(work, LAUNCH_AMORTIZED, cache, times, elapsed_ns, err);
}

int cuda_work_check(void *work, double *worst, struct error *err)
{
	struct work *w = work;
	struct cuda_check c = { .buffers = w->buffers,
		.space = w->space,
		.workspace_bytes = w->plan.workspace_bytes,
		.epsilon = w->plan.epsilon,
		.gain = w->plan.gain,
		.factor = w->plan.factor };
	*worst = NAN;
	if (cuda_context()->poisoned)
		return error_set(err, "an earlier kernel faulted; this process can no longer use the GPU");
	if (cuda_check_begin(&c, err) || cuda_work_enqueue(w, CACHE_WARM, 0, cuda_context()->stream, err) ||
		cuda_error(cudaStreamSynchronize(cuda_context()->stream), "the checked execution", err)) {
		cuda_context_probe(EXECUTING);
		return -1;
	}
	return cuda_check_end(&c, worst, err);
}

double cuda_work_rotated_bytes(const void *work, enum cache cache)
{
	const struct work *w = work;
	return problem_constant_bytes(&w->buffers->problem) *
		(double)cuda_time_sets_passed(&w->timer, cache);
}

/* Gets the kernel names by tracing one execution. Logs only once that it cannot. */
static void kernels_trace(struct work *w)
{
	static bool logged;
	struct error err = ERROR_NONE;
	if (cuda_cupti_begin(&err)) {
		if (!logged)
			log_line("%s", err.text);
		logged = true;
		return;
	}
	if (cuda_work_enqueue(w, CACHE_WARM, 0, cuda_context()->stream, &err) == 0)
		cuda_error(cudaStreamSynchronize(cuda_context()->stream), "the traced execution", &err);
	cuda_cupti_end(&w->kernels);
}

const char *cuda_work_kernels(void *work)
{
	struct work *w = work;
	struct error err = ERROR_NONE;
	cudaGraph_t graph = NULL;
	if (!w->kernels.n && !cuda_context()->poisoned) {
		bool named = !w->timer.uncapturable && cuda_time_capture(&w->timer, &graph, &err) == 0 &&
			cuda_names_of(graph, &w->kernels, &err) == 0;
		if (graph)
			cudaGraphDestroy(graph);
		if (!named)
			kernels_trace(w);
	}
	return w->kernels.p ? w->kernels.p : "";
}

double cuda_work_enqueue_ns(const void *work)
{
	const struct work *w = work;
	return w->timer.enqueue_ns > 0 ? w->timer.enqueue_ns : NAN;
}

double cuda_work_clock_mhz(const void *work)
{
	const struct work *w = work;
	return w->timer.clock.mhz > 0 ? w->timer.clock.mhz : NAN;
}

int cuda_work_settle(void *work, struct error *err)
{
	struct work *w = work;
	if (cuda_context()->poisoned)
		return error_set(err, "an earlier kernel faulted; this process can no longer use the GPU");
	return cuda_clock_settle(&w->timer.clock, err);
}

const char *cuda_work_remark(void *work)
{
	struct work *w = work;
	char clock[200];
	cuda_clock_words(&w->timer.clock, clock, sizeof(clock));
	bool waits = cuda_time_waits(&w->timer);
	snprintf(w->remark, sizeof(w->remark), "%s%s%s",
		waits ? "the stream could not be held: times include launch latency" : "",
		waits && *clock ? "; " : "", clock);
	return w->remark;
}
