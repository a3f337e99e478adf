/* Branches of problems side by side (problem/beside.h), each in a stream of its own: the first in the
 * stream that is measured, the others fork from it by an event and join it by one. Captured, they are
 * branches of the graph. Each problem runs the fastest of its own algorithms when it is alone, strict ones
 * only, on operands of its own. */
#include "config.h"

#include "runner/gpu/cuda_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/gpu/cuda_time.h"
#include "runner/measure/branches.h"

struct offers_of {
	struct problem problem;
	struct algorithm algorithm[2];
	bool matrix[2];
	int count;
};

struct work {
	struct branches branches;
	cudaStream_t stream[BESIDE_BRANCHES];
	cudaEvent_t fork, join[BESIDE_BRANCHES];
	struct cuda_timer timer;
	struct str kernels;
	bool locked;
	int refused;               /* what the last enqueue returned, if it was a status */
};

static void offer(struct offers_of *o, bool matrix)
{
	o->matrix[o->count] = matrix;
	o->algorithm[o->count] = (struct algorithm){ .api = "beside",
		.name = matrix ? "streams:matrix" : "streams", .layouts = "", .math = "strict",
		.rank = o->count, .matrix = matrix ? MATRIX_YES : MATRIX_NO,
		.workspace_bytes = NAN, .notes = "" };
	o->count++;
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	bool matrix, plain;
	*list = (struct backend_list){ 0 };
	if (branches_look(p, &matrix, &plain, err))
		return -1;
	struct offers_of *o = base_calloc(1, sizeof(*o));
	memcpy(&o->problem, p, sizeof(*p));
	if (matrix)
		offer(o, true);
	if (plain)
		offer(o, false);
	list->count = o->count;
	list->algorithm = o->algorithm;
	list->state = o;
	return 0;
}

/* ---- one execution */

static int branch_enqueue(struct work *w, int branch, enum cache cache, int64_t set, cudaStream_t stream,
	struct error *err)
{
	const struct beside *b = &w->branches.beside;
	for (int k = b->first[branch]; k < b->first[branch + 1]; k++) {
		int bad = cuda_work_enqueue(w->branches.step[k].work, cache, set, stream, err);
		w->refused = bad > 0 ? bad : 0;
		if (bad)
			return -1;
	}
	return 0;
}

static int enqueue(void *user, enum cache cache, int64_t set, cudaStream_t stream, struct error *err)
{
	struct work *w = user;
	int count = w->branches.beside.branch_count;
	if (cuda_error(cudaEventRecord(w->fork, stream), "cudaEventRecord", err))
		return -1;
	for (int i = 1; i < count; i++)
		if (cuda_error(cudaStreamWaitEvent(w->stream[i], w->fork, 0), "cudaStreamWaitEvent", err) ||
			branch_enqueue(w, i, cache, set, w->stream[i], err) ||
			cuda_error(cudaEventRecord(w->join[i], w->stream[i]), "cudaEventRecord", err))
			return -1;
	if (branch_enqueue(w, 0, cache, set, stream, err))
		return -1;
	for (int i = 1; i < count; i++)
		if (cuda_error(cudaStreamWaitEvent(stream, w->join[i], 0), "cudaStreamWaitEvent", err))
			return -1;
	return 0;
}

static int ready(void *user, enum cache cache, int64_t set, struct error *err)
{
	struct work *w = user;
	for (int i = 0; i < w->branches.beside.part_count; i++)
		if (cuda_work_ready(w->branches.step[i].work, cache, set, err))
			return -1;
	return 0;
}

/* ---- the work */

static void release(void *work)
{
	struct work *w = work;
	if (!cuda_context()->poisoned)
		cuda_error(cudaStreamSynchronize(cuda_context()->stream), "the end of branches", NULL);
	cuda_time_forget(&w->timer);
	for (int i = 0; i < BESIDE_BRANCHES; i++) {
		if (w->stream[i])
			cudaStreamSynchronize(w->stream[i]);
		if (w->join[i])
			cudaEventDestroy(w->join[i]);
		if (w->stream[i])
			cudaStreamDestroy(w->stream[i]);
	}
	if (w->fork)
		cudaEventDestroy(w->fork);
	branches_close(&w->branches);
	if (w->locked)
		cuda_context_unlock();
	str_free(&w->kernels);
	free(w);
}

static int streams_open(struct work *w, struct error *err)
{
	if (cuda_error(cudaEventCreateWithFlags(&w->fork, cudaEventDisableTiming), "cudaEventCreate", err))
		return -1;
	for (int i = 1; i < w->branches.beside.branch_count; i++)
		if (cuda_error(cudaStreamCreateWithFlags(&w->stream[i], cudaStreamNonBlocking),
			    "cudaStreamCreate", err) ||
			cuda_error(cudaEventCreateWithFlags(&w->join[i], cudaEventDisableTiming),
				"cudaEventCreate", err))
			return -1;
	return 0;
}

static int steps_prepare(
	struct work *w, const struct backend_limits *limits, enum status *status, struct error *err)
{
	struct backend_limits each = *limits;
	each.memory_bytes = limits->memory_bytes / w->branches.beside.part_count;
	for (int i = 0; i < w->branches.beside.part_count; i++)
		if (branch_choose(&w->branches.step[i], 0, w->branches.matrix, each.memory_bytes, err))
			return -1;
	for (int i = 0; i < w->branches.beside.part_count; i++)
		if (branch_prepare(&w->branches.step[i], &each, status, err))
			return -1;
	return 0;
}

static void *prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	struct offers_of *o = list->state;
	struct work *w = base_calloc(1, sizeof(*w));
	*status = STATUS_FAILED;
	w->locked = cuda_context_lock(err) == 0;
	int bad = !w->locked || branches_open(&w->branches, &o->problem, o->matrix[index], err) ||
		steps_prepare(w, limits, status, err) || streams_open(w, err);
	w->timer.enqueue = enqueue;
	w->timer.ready = ready;
	w->timer.user = w;
	for (int c = 0; c < CACHE_COUNT; c++)
		for (int i = 0; i < w->branches.beside.part_count && !bad; i++) {
			int64_t sets = cuda_work_sets(w->branches.step[i].work, (enum cache)c);
			w->timer.sets[c] = sets > w->timer.sets[c] ? sets : w->timer.sets[c];
		}
	if (!bad)
		return w;
	cuda_context_probe("preparing branches");
	release(w);
	return NULL;
}

static int run_as(struct work *w, enum launch launch, enum cache cache, int64_t times, double *elapsed_ns,
	struct error *err)
{
	if (cuda_time_run(&w->timer, launch, cache, times, elapsed_ns, err) == 0)
		return 0;
	cuda_context_probe("executing branches");
	return w->refused && !cuda_context()->poisoned ? w->refused : -1;
}

static int run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	return run_as(work, times <= 1 ? LAUNCH_ISOLATED : LAUNCH_AMORTIZED, cache, times, elapsed_ns, err);
}

static int amortized(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	return run_as(work, LAUNCH_AMORTIZED, cache, times, elapsed_ns, err);
}

static int check(void *work, double *worst, struct error *err)
{
	return branches_check(&((struct work *)work)->branches, worst, err);
}

static double rotated_bytes(const void *work, enum cache cache)
{
	const struct work *w = work;
	double sum = 0;
	for (int i = 0; i < w->branches.beside.part_count; i++)
		sum += problem_constant_bytes(&w->branches.step[i].problem);
	return sum * (double)cuda_time_sets_passed(&w->timer, cache);
}

/* The stream and algorithm of each problem. */
static const char *kernels(void *work)
{
	struct work *w = work;
	const struct beside *b = &w->branches.beside;
	for (int i = 0, known = w->kernels.n > 0; i < b->branch_count && !known; i++)
		for (int k = b->first[i]; k < b->first[i + 1]; k++) {
			struct branch_step *s = &w->branches.step[k];
			str_addf(&w->kernels, "stream %d: ", i + 1);
			beside_ran_write(&w->kernels, s->problem.kernel, &s->algorithm);
		}
	return w->kernels.p ? w->kernels.p : "";
}

static double enqueue_ns(const void *work)
{
	const struct work *w = work;
	return w->timer.enqueue_ns > 0 ? w->timer.enqueue_ns : NAN;
}

static double clock_mhz(const void *work)
{
	const struct work *w = work;
	return w->timer.clock.mhz > 0 ? w->timer.clock.mhz : NAN;
}

static int settle(void *work, struct error *err)
{
	struct work *w = work;
	return cuda_clock_settle(&w->timer.clock, err);
}

const struct backend backend_streams = { .api = "beside",
	.branches = true,
	.algorithms = algorithms,
	.forget = backend_forget,
	.prepare = prepare,
	.run = run,
	.amortized = amortized,
	.check = check,
	.rotated_bytes = rotated_bytes,
	.kernels = kernels,
	.enqueue_ns = enqueue_ns,
	.clock_mhz = clock_mhz,
	.settle = settle,
	.release = release };
