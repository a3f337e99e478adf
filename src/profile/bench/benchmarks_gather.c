/* Groups runs by benchmark, device, algorithm, order and math mode; each group is one result. */
#include "config.h"

#include "profile/bench/benchmarks_gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "problem/stats.h"
#include "store/store.h"

#define NAME_MOST 200 /* bytes of an example */
#define WHY_MOST 300

/* A benchmark, once for each device, algorithm, order of the tensors and math mode. */
struct group {
	struct samples samples;
	int64_t iterations; /* least of its runs */
	int device;
	struct result result; /* of the first run that did not fail, else of the first */
	const char *failure;  /* NULL: a run did not fail */
};

/* A run that does not say its device or order. */
struct pending {
	struct benchmarks_run run;
	struct pending *next;
};

struct gather_runs {
	struct benchmarks *b;
	struct hash groups, devices;
	struct group *group;
	int64_t count, capacity;
	struct arena run;  /* of the current run */
	struct arena part; /* of the current part: pending runs */
	struct pending *pending, **last;
	int device;	 /* of the part; -1: none yet, -2: several */
	int order[2];	 /* of the part, by scope_is_half; -1: none yet, -2: several */
	bool says_order; /* a run of the part does */
	bool before_tf32;
	int64_t measured_at;
};

static struct text copied(struct arena *a, struct text t)
{
	return (struct text){ arena_strndup(a, t.p ? t.p : "", t.n), t.n };
}

void benchmarks_leave_out(struct benchmarks *b, const char *reason, struct text name)
{
	int i = 0;
	while (i < b->reason_count && strcmp(b->reasons[i].text, reason) != 0)
		i++;
	if (i == b->reason_count) {
		char *example = text_clean(&b->arena,
			(struct text){ name.p ? name.p : "", name.n < NAME_MOST ? name.n : NAME_MOST });
		VEC_GROW(b->reasons, b->reason_count, b->reason_capacity);
		b->reasons[b->reason_count++] =
			(struct benchmarks_reason){ .text = reason, .example = example };
	}
	b->reasons[i].count++;
}

static void part_open(struct gather_runs *g)
{
	arena_clear(&g->part);
	g->pending = NULL;
	g->last = &g->pending;
	g->device = g->order[0] = g->order[1] = -1;
	g->says_order = false;
	g->before_tf32 = true;
	g->measured_at = 0;
}

struct gather_runs *gather_runs_new(struct benchmarks *b)
{
	struct gather_runs *g = base_calloc(1, sizeof(*g));
	g->b = b;
	part_open(g);
	return g;
}

/* The value of the key, which is copied if it is new; then the value is -1. */
static int64_t *place_of(struct hash *h, struct arena *a, const char *key)
{
	struct text t = text_of(key);
	return hash_at(h, hash_find(h, t) < 0 ? copied(a, t) : t);
}

static int device_of(struct gather_runs *g, const struct benchmarks_run *run)
{
	struct benchmarks *b = g->b;
	const char *key = arena_printf(&g->run, "%s\n%s", run->model, run->stack);
	int64_t *at = place_of(&g->devices, &b->arena, key);
	if (*at < 0) {
		*at = b->device_count;
		VEC_GROW(b->devices, b->device_count, b->device_capacity);
		b->devices[b->device_count++] = device_copy(&b->arena,
			&(struct device){ .name = "imported",
				.model = run->model,
				.stack = run->stack,
				.runner = "google-benchmark",
				.version = "",
				.host = "",
				.attributes = run->attributes,
				.llc_bytes = NAN,
				.jobs = JOB_PROBLEM });
	}
	if (run->compute_capability >= 7 ||
		(!run->failure && text_is(run->benchmark.dtype, "TENSORCOREHALF")))
		b->devices[*at].has_matrix = true;
	return (int)*at;
}

static enum status status_of(const char *message)
{
	static const struct {
		const char *words;
		enum status status;
	} rows[] = { { "NOT_SUPPORTED", STATUS_UNSUPPORTED }, { "no Tensorcore support", STATUS_UNSUPPORTED },
		{ "ARCH_MISMATCH", STATUS_UNSUPPORTED }, { "bad_alloc", STATUS_NO_MEMORY },
		{ "memory allocation failed", STATUS_NO_MEMORY }, { "ALLOC_FAILED", STATUS_NO_MEMORY } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strstr(message, rows[i].words))
			return rows[i].status;
	return STATUS_FAILED;
}

static struct group *group_of(struct gather_runs *g, int device, const struct result *r)
{
	struct benchmarks *b = g->b;
	const struct algorithm *a = &r->algorithm;
	const char *key = arena_printf(
		&g->run, "%d %s %s %s %s %s", device, r->problem, a->api, a->name, a->layouts, a->math);
	int64_t *at = place_of(&g->groups, &b->arena, key);
	if (*at < 0) {
		*at = g->count;
		VEC_GROW(g->group, g->count, g->capacity);
		g->group[g->count++] = (struct group){
			.device = device, .result = result_copy(&b->arena, r), .failure = ""
		};
	}
	return &g->group[*at];
}

/* A run of which all is known. */
static void run_add(struct gather_runs *g, const struct benchmarks_run *run, int device)
{
	struct benchmarks *b = g->b;
	struct result r = { .cache = CACHE_WARM,
		.launch = LAUNCH_ISOLATED,
		.kernels = "",
		.why = "",
		.runner_version = "",
		.enqueue_ns = NAN,
		.clock_mhz = NAN,
		.rotated_bytes = NAN,
		.measured_at = run->measured_at };
	const char *why = scope_map(&g->run, &run->benchmark, &r);
	if (why) {
		benchmarks_leave_out(b, why, run->name);
		return;
	}
	struct group *group = group_of(g, device, &r);
	if (run->failure) {
		if (group->failure && !*group->failure)
			group->failure = arena_strndup(&b->arena, run->failure, strlen(run->failure));
		return;
	}
	if (group->failure)
		group->result = result_copy(&b->arena, &r);
	group->failure = NULL;
	samples_add(&group->samples, run->ns);
	if (!group->iterations || run->iterations < group->iterations)
		group->iterations = run->iterations;
}

static void part_note(int *what, int value)
{
	*what = *what == -1 || *what == value ? value : -2;
}

void gather_runs_add(struct gather_runs *g, const struct benchmarks_run *run)
{
	struct benchmarks_run *kept;
	arena_clear(&g->run);
	g->b->entries++;
	if (*run->model) {
		part_note(&g->device, device_of(g, run));
		g->before_tf32 = run->benchmark.before_tf32;
		g->measured_at = run->measured_at;
	}
	if (run->benchmark.order != SCOPE_ORDER_UNKNOWN) {
		part_note(&g->order[scope_is_half(&run->benchmark)], (int)run->benchmark.order);
		g->says_order = true;
	}
	if (*run->model && run->benchmark.order != SCOPE_ORDER_UNKNOWN) {
		run_add(g, run, device_of(g, run));
		return;
	}
	struct pending *p = ARENA_NEW(&g->part, struct pending);
	*g->last = p;
	g->last = &p->next;
	p->run = *run;
	kept = &p->run;
	kept->name = copied(&g->part, run->name);
	kept->benchmark.api = copied(&g->part, run->benchmark.api);
	kept->benchmark.dtype = copied(&g->part, run->benchmark.dtype);
	kept->benchmark.modes = copied(&g->part, run->benchmark.modes);
	kept->model = copied(&g->part, text_of(run->model)).p;
	kept->stack = copied(&g->part, text_of(run->stack)).p;
	kept->attributes = copied(&g->part, text_of(run->attributes)).p;
	kept->failure = run->failure ? copied(&g->part, text_of(run->failure)).p : NULL;
}

/* Without any run that says the order, the file is of a version that knew only one. */
static void pending_add(struct gather_runs *g, struct benchmarks_run *run)
{
	struct scope_benchmark *one = &run->benchmark;
	arena_clear(&g->run);
	int device = *run->model ? device_of(g, run) : g->device;
	if (one->order == SCOPE_ORDER_UNKNOWN) {
		int order = g->says_order ? g->order[scope_is_half(one)] : SCOPE_NCHW;
		one->order = order < 0 ? SCOPE_ORDER_UNKNOWN : (enum scope_order)order;
	}
	if (!*run->model) {
		one->before_tf32 = g->before_tf32;
		run->measured_at = g->measured_at;
	}
	if (device < 0)
		benchmarks_leave_out(g->b,
			device == -1 ? "a failure in a file in which no benchmark names its GPU"
				     : "a failure in a file with several GPUs or versions of cuDNN",
			run->name);
	else
		run_add(g, run, device);
}

void gather_runs_part(struct gather_runs *g)
{
	for (struct pending *p = g->pending; p; p = p->next)
		pending_add(g, &p->run);
	part_open(g);
}

static void group_end(struct benchmarks *b, struct group *group)
{
	struct result *r = &group->result;
	r->stats = (struct sample_stats){ .min = NAN,
		.q1 = NAN,
		.median = NAN,
		.q3 = NAN,
		.mean = NAN,
		.stdev = NAN,
		.lo = NAN,
		.hi = NAN };
	if (group->failure) {
		r->status = status_of(group->failure);
		r->why = text_clean(
			&b->arena, (struct text){ group->failure, strnlen(group->failure, WHY_MOST) });
	} else {
		stats_compute(&group->samples, &r->stats);
		r->stats.executions = group->iterations;
		r->status = STATUS_OK;
	}
	const char *fault = store_result_fault(r);
	if (fault) {
		benchmarks_leave_out(b, arena_printf(&b->arena, "a benchmark that %s", fault),
			text_of(r->problem));
		return;
	}
	VEC_GROW(b->results, b->result_count, b->result_capacity);
	b->results[b->result_count++] =
		(struct benchmarks_result){ .device = group->device, .finished = true, .result = *r };
}

void gather_runs_end(struct gather_runs *g)
{
	gather_runs_part(g);
	for (int64_t i = 0; i < g->count; i++) {
		group_end(g->b, &g->group[i]);
		samples_free(&g->group[i].samples);
	}
	arena_free(&g->run);
	arena_free(&g->part);
	hash_free(&g->groups);
	hash_free(&g->devices);
	free(g->group);
	free(g);
}
