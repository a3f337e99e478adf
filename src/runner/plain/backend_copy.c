/* Copies by memcpy: the lowest latency of a data movement. Two algorithms: all threads, one thread. */
#include "config.h"

#include "runner/measure/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/measure/clock.h"
#include "runner/host/copies.h"
#include "runner/host/team.h"

#define LINE 64 /* parts of threads begin on cache lines */
#define SMALL_BYTES 65536 /* below this size one thread is preferred */

struct offers {
	int64_t bytes;
	bool constant;
	struct algorithm algorithm[2];
	int threads[2];
	char name[32];
	struct work *open[2]; /* those that are prepared */
};

struct work {
	int64_t bytes;
	int threads;
	bool constant;
	struct copies from, to;
	struct rotations turn;
	const char *source; /* of the current execution */
	char *target;
	struct work **open; /* its place in the offers */
};

static void offer(struct offers *o, int i, const char *name, int threads)
{
	o->threads[i] = threads;
	o->algorithm[i] = (struct algorithm){
		.api = "libc", .name = name, .layouts = "", .math = "strict", .rank = i, .matrix = MATRIX_NO
	};
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	*list = (struct backend_list){ 0 };
	if (p->kernel != KERNEL_COPY)
		return error_set(err, "only copies are done by memcpy");
	if (p->epilogue_count)
		return error_set(err, "memcpy has no epilogues");
	struct offers *o = base_calloc(1, sizeof(*o));
	int all = team_size(), small = p->size < SMALL_BYTES;
	o->bytes = p->size;
	o->constant = p->operand[0].constant;
	snprintf(o->name, sizeof(o->name), "memcpy:%d_threads", all);
	offer(o, small ? 0 : 1, "memcpy", 1);
	offer(o, small ? 1 : 0, o->name, all);
	if (all == 1)
		offer(o, 0, "memcpy", 1);
	list->count = all == 1 ? 1 : 2;
	list->algorithm = o->algorithm;
	list->state = o;
	return 0;
}

static void release(void *work)
{
	struct work *w = work;
	*w->open = NULL;
	copies_close(&w->from);
	copies_close(&w->to);
	free(w);
}

static void source_fill(struct work *w)
{
	uint64_t x = 88172645463325252u;
	for (int64_t i = 0; i < w->bytes; i += (int64_t)sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(copies_at(&w->from, 0) + i, &x,
			w->bytes - i < (int64_t)sizeof(x) ? (size_t)(w->bytes - i) : sizeof(x));
	}
	copies_spread(&w->from);
}

/* Opens and fills the sources; one that does not rotate is that of the other algorithm, if it is open. -1: no
 * memory. */
static int source_open(struct work *w, struct work *other, int64_t sources)
{
	if (other && sources == 1 && other->from.count == 1) {
		copies_share(&other->from, &w->from);
		return 0;
	}
	if (copies_open(&w->from, (size_t)w->bytes, sources))
		return -1;
	source_fill(w);
	return 0;
}

static void *prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	struct offers *o = list->state;
	struct work *w = base_calloc(1, sizeof(*w)), *other = limits->apart ? NULL : o->open[!index];
	w->open = &o->open[index];
	*status = STATUS_NO_MEMORY;
	w->bytes = o->bytes;
	w->threads = o->threads[index];
	w->constant = o->constant;
	double bytes = (double)o->bytes;
	int64_t net = o->constant ? limits->sets : 1,
		cold = rotation_sets(2 * bytes, 2 * bytes, limits->cold_sets);
	int64_t sources = net > cold ? net : cold;
	w->turn = rotations_of(net, cold, o->constant ? bytes : 0, bytes);
	double need = copies_need((size_t)o->bytes, sources) + copies_need((size_t)o->bytes, cold);
	if (!(need <= limits->memory_bytes) || source_open(w, other, sources) ||
		copies_open(&w->to, (size_t)o->bytes, cold)) {
		release(w);
		error_set(err, "needs %.0f MB of memory, %.0f MB are free", need / 1e6,
			limits->memory_bytes / 1e6);
		return NULL;
	}
	copies_spread(&w->to);
	*w->open = w;
	return w;
}

static void copy_share(void *argument, int i, int count)
{
	struct work *w = argument;
	int64_t share = (w->bytes / count + LINE) / LINE * LINE, begin = i * share;
	int64_t end = i == count - 1 ? w->bytes : begin + share;
	if (begin < w->bytes)
		memcpy(w->target + begin, w->source + begin,
			(size_t)((end < w->bytes ? end : w->bytes) - begin));
}

static int run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	struct work *w = work;
	(void)err;
	bool all = cache_plain(cache) == CACHE_COLD;
	double begin = clock_ns();
	for (int64_t i = 0; i < times; i++) {
		int64_t set = rotations_next(&w->turn, cache);
		w->source = copies_at(&w->from, set);
		w->target = copies_at(&w->to, all ? set : 0);
		if (w->threads == 1)
			memcpy(w->target, w->source, (size_t)w->bytes);
		else
			team_run(copy_share, w);
		__asm__ volatile("" : : "r"(w->target) : "memory"); /* do not optimize away */
	}
	*elapsed_ns = clock_elapsed(begin);
	return 0;
}

static int check(void *work, double *worst, struct error *err)
{
	struct work *w = work;
	*worst = w->source && memcmp(w->target, w->source, (size_t)w->bytes) == 0 ? 0 : INFINITY;
	if (copies_are_whole(&w->from) && copies_are_whole(&w->to))
		return 0;
	*worst = INFINITY;
	error_set(err, "it writes beyond its operands");
	return 0;
}

static double rotated_bytes(const void *work, enum cache cache)
{
	const struct work *w = work;
	return rotations_bytes(&w->turn, cache, w->constant ? copies_lines((size_t)w->bytes) : 0);
}

const struct backend backend_copy = { .api = "libc", .algorithms = algorithms, .forget = backend_forget,
	.prepare = prepare, .run = run, .check = check, .rotated_bytes = rotated_bytes, .release = release };
