/* What both readers of Nsight Systems share: names of ranges, runs, and work that becomes rows. */
#include "config.h"

#include "profile/kinds/nsys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/read/calls.h"

int nsys_name(struct nsys *s, struct text name)
{
	int64_t id = hash_find(&s->name_ids, name);
	if (id < 0) {
		struct text kept = { arena_strndup(s->arena, name.p, name.n), name.n };
		VEC_GROW(s->names, s->name_count, s->name_capacity);
		s->names[s->name_count] = text_clean(s->arena, kept);
		id = *hash_at(&s->name_ids, kept) = s->name_count++;
	}
	return (int)id;
}

/* Cuts off what PyTorch's emit_nvtx adds to the name of an operator, numbers that differ in each run and the
 * sizes of its inputs: "aten::relu, seq = 2, op_id = 7, sizes = [[1, 3]], input_op_ids = [(1, 0)]". */
static void cut_emitted(struct text *name, struct text *sizes)
{
	static const char *const marks[] = { ", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = " };
	struct text whole = *name;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t n = strlen(marks[i]);
		const char *at = memmem(whole.p, whole.n, marks[i], n), *end = whole.p + whole.n;
		const char *value = at ? at + n : end;
		while (value < end && (*value == '-' || (*value >= '0' && *value <= '9')))
			value++;
		if (!at || (value < end && *value != ',' && *value != '['))
			continue;
		name->n = (size_t)(at - whole.p) < name->n ? (size_t)(at - whole.p) : name->n;
		if (i != 2)
			continue;
		*sizes = (struct text){ at + n, (size_t)(end - at) - n };
		const char *next = memmem(sizes->p, sizes->n, marks[3], strlen(marks[3]));
		sizes->n = next ? (size_t)(next - sizes->p) : sizes->n;
	}
}

void nsys_name_range(struct nsys *s, struct nsys_event *range, struct text name)
{
	struct text sizes = { "", 0 };
	size_t whole = name.n;
	cut_emitted(&name, &sizes);
	range->is_op = name.n < whole || (whole > 6 && !memcmp(name.p, "aten::", 6));
	range->shapes = sizes.n ? nsys_name(s, sizes) : -1;
	range->name = nsys_name(s, name);
}

static const char *name_of(const struct nsys *s, int id)
{
	return id < 0 ? "" : s->names[id];
}

/* ---- runs and rows ---- */

/* Sets first and last of each range from its device work and from the ranges in it. */
static void project(struct nsys *s)
{
	struct nsys_event *ranges = s->ranges.p;
	for (int i = 0; i < s->work.count; i++) {
		struct nsys_event *w = &s->work.p[i];
		if (w->parent < 0)
			continue;
		ranges[w->parent].first = fmin(ranges[w->parent].first, (double)w->start);
		ranges[w->parent].last = fmax(ranges[w->parent].last, (double)w->end);
	}
	for (int i = s->ranges.count - 1; i >= 0; i--) {
		struct nsys_event *r = &ranges[i];
		if (r->parent < 0)
			continue;
		ranges[r->parent].first = fmin(ranges[r->parent].first, r->first);
		ranges[r->parent].last = fmax(ranges[r->parent].last, r->last);
	}
}

/* Returns the thread whose outermost ranges contain the most work, or 0. */
static int64_t main_thread(const struct nsys *s)
{
	int64_t best = 0, most = 0, now = 0;
	int *works = base_calloc((size_t)s->ranges.count + 1, sizeof(int));
	for (int i = 0; i < s->work.count; i++)
		if (s->work.p[i].parent >= 0)
			works[s->work.p[i].parent]++;
	for (int i = 0; i < s->ranges.count; i++) {
		now = i && s->ranges.p[i].thread == s->ranges.p[i - 1].thread ? now + works[i] : works[i];
		if (now > most || !i)
			most = now, best = s->ranges.p[i].thread;
	}
	free(works);
	return best;
}

/* Returns the time of a run: from the start of its first range to the end of its last range or work. */
static void add_run(struct nsys *s, const struct nsys_event *first, const struct nsys_event *last)
{
	double start = (double)first->start, end = fmax((double)last->end, last->last);
	timeline_add_run(&s->t, 0, start, end - start);
}

/* Returns the repeated name of outermost ranges with the longest total time, or -1. */
static int repeated_name(const struct nsys *s, const int *outer, int n)
{
	double *sum = base_calloc((size_t)s->name_count + 1, sizeof(double)), most = 0;
	int *count = base_calloc((size_t)s->name_count + 1, sizeof(int)), best = -1;
	for (int i = 0; i < n; i++) {
		const struct nsys_event *r = &s->ranges.p[outer[i]];
		if (r->name < 0)
			continue;
		sum[r->name] += (double)r->end - (double)r->start;
		if (++count[r->name] > 1 && sum[r->name] > most)
			most = sum[r->name], best = r->name;
	}
	free(sum);
	free(count);
	return best;
}

/* Adds the runs of the timeline. The outermost ranges of the main thread are either runs, which have one
 * name, or layers, whose sequence repeats with a period above 1. Sets is_run of ranges that are runs. */
static void find_runs(struct nsys *s, bool *is_run)
{
	int64_t thread = main_thread(s);
	int *outer = base_calloc((size_t)s->ranges.count + 1, sizeof(int)), n = 0;
	uint64_t *keys = base_calloc((size_t)s->ranges.count + 1, sizeof(uint64_t));
	for (int i = 0; i < s->ranges.count; i++)
		if (s->ranges.p[i].parent < 0 && s->ranges.p[i].thread == thread) {
			keys[n] = (uint64_t)(s->ranges.p[i].name + 1);
			outer[n++] = i;
		}
	struct runs runs = calls_runs(keys, n, false);
	int name = runs.count > 1 && runs.period > 1 ? -1 : repeated_name(s, outer, n);
	for (int k = 0; runs.count > 1 && runs.period > 1 && k < runs.count; k++) {
		int from = runs.first + k * runs.period;
		add_run(s, &s->ranges.p[outer[from]], &s->ranges.p[outer[from + runs.period - 1]]);
	}
	for (int i = 0; i < n && name >= 0; i++)
		if (s->ranges.p[outer[i]].name == name) {
			is_run[outer[i]] = true;
			add_run(s, &s->ranges.p[outer[i]], &s->ranges.p[outer[i]]);
		}
	free(keys);
	free(outer);
}

/* Returns true if ranges divide the work: it belongs to several. */
static bool is_divided(const struct nsys *s)
{
	int first = -1;
	for (int i = 0; i < s->work.count; i++) {
		int range = s->work.p[i].parent;
		if (range >= 0 && first >= 0 && range != first)
			return true;
		first = range >= 0 ? range : first;
	}
	return false;
}

/* Without ranges, the runs are sequences of kernels that repeat, in the order of their start. They begin and
 * end on the device, so ranges and calls are in no run. */
static void find_kernel_runs(struct nsys *s)
{
	int *kernels = base_calloc((size_t)s->work.count + 1, sizeof(int)), n = 0;
	uint64_t *keys = base_calloc((size_t)s->work.count + 1, sizeof(uint64_t));
	double *idle = base_calloc((size_t)s->work.count + 1, sizeof(double)), busy = 0; /* until then */
	for (int i = 0; i < s->work.count; i++) {
		const struct nsys_event *w = &s->work.p[i];
		if (w->level != LEVEL_KERNEL)
			continue;
		keys[n] = (uint64_t)((w->long_name >= 0 ? w->long_name : w->name) + 1);
		idle[n] = fmax((double)w->start - busy, 0);
		busy = fmax((double)w->end, busy);
		kernels[n++] = i;
	}
	struct runs runs = calls_runs_within(keys, idle, n);
	s->by_kernels = runs.count > 1;
	for (int k = 0; k < runs.count && s->by_kernels; k++) {
		const int *run = &kernels[runs.first + k * runs.period];
		double start = (double)s->work.p[run[0]].start, end = start;
		for (int i = 0; i < runs.period; i++)
			end = fmax(end, (double)s->work.p[run[i]].end);
		timeline_add_run(&s->t, 0, start, end - start);
	}
	for (int i = 0; i < s->work.count && s->by_kernels; i++)
		s->work.p[i].call = s->work.p[i].parent = -1;
	free(kernels);
	free(keys);
	free(idle);
}

/* Returns the last run that begins before a time, or -1. Runs are in order. */
static int run_at(const struct nsys *s, double start)
{
	int lo = 0, hi = s->t.run_count;
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		if (s->t.runs[mid].start <= start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

/* Returns the row of an event: the n-th with its name and level below its owner's row in its run. */
static int row_of(struct nsys *s, const struct nsys_event *v, int owner, double start, bool *is_new)
{
	char key[96];
	int below = owner < 0 ? -1 : s->t.events[owner].row, run = run_at(s, start);
	int n = snprintf(key, sizeof(key), "%d %d %d %d %d", below, v->level, v->name, v->kind, run);
	struct text at = { key, (size_t)n };
	if (hash_find(&s->ordinals, at) < 0)
		at.p = arena_strndup(&s->ordinal_keys, key, at.n);
	int64_t *ordinal = hash_at(&s->ordinals, at);
	++*ordinal;
	n = snprintf(key, sizeof(key), "%d %d %d %d #%lld", below, v->level, v->name, v->kind,
		(long long)*ordinal);
	return timeline_row(&s->t, v->level, (struct text){ key, (size_t)n }, is_new);
}

static const char *copy_name(int kind)
{
	static const char *const names[] = { [1] = "memcpy HtoD", [2] = "memcpy DtoH", [3] = "memcpy HtoA",
		[4] = "memcpy AtoH", [8] = "memcpy DtoD", [9] = "memcpy HtoH", [10] = "memcpy PtoP" };
	return kind >= 0 && kind < (int)(sizeof(names) / sizeof(names[0])) && names[kind] ? names[kind] :
										    "memcpy";
}

static void add_to_timeline(struct nsys *s, struct nsys_event *v, int owner, double ns)
{
	bool is_new;
	double start = (double)v->start;
	const struct nsys_event *call = v->call >= 0 ? &s->calls.p[v->call] : v;
	int row = row_of(s, v, owner, (double)call->start, &is_new);
	struct execution_row *r = &s->t.rows[row];
	if (is_new) {
		r->name = v->level == LEVEL_COPY ? copy_name(v->kind) : name_of(s, v->name);
		r->kernel = v->level == LEVEL_KERNEL ? name_of(s, v->long_name >= 0 ? v->long_name : v->name)
						     : "";
		r->stream = v->stream;
		r->op = v->level == LEVEL_COPY ? "memcpy" :
			v->is_op ? r->name + (strncmp(r->name, "aten::", 6) ? 0 : 6) : "";
		r->shapes = v->level == LEVEL_LAYER ? name_of(s, v->shapes) : "";
		if (v->bytes >= 0 && v->level == LEVEL_COPY)
			r->write_bytes = (double)v->bytes;
	}
	v->event = timeline_add(&s->t, row, owner, 0, start, ns);
}

/* Adds ranges, then calls, then work, so that owners come first. Ranges without work on a device have the
 * time of the host. */
static void fill(struct nsys *s)
{
	bool *is_run = base_calloc((size_t)s->ranges.count + 1, sizeof(bool));
	find_runs(s, is_run);
	if (!s->t.run_count && !is_divided(s))
		find_kernel_runs(s);
	for (int i = 0; i < s->ranges.count && !s->by_kernels; i++) {
		struct nsys_event *r = &s->ranges.p[i];
		int owner = r->parent >= 0 ? s->ranges.p[r->parent].event : -1;
		double ns = s->work.count ? r->last - r->first : (double)(r->end - r->start);
		if (!is_run[i] && !isnan(ns))
			add_to_timeline(s, r, owner, ns);
	}
	for (int i = 0; i < s->calls.count && !s->by_kernels; i++) {
		struct nsys_event *c = &s->calls.p[i];
		add_to_timeline(s, c, c->parent >= 0 ? s->ranges.p[c->parent].event : -1,
			(double)(c->end - c->start));
	}
	for (int i = 0; i < s->work.count; i++) {
		struct nsys_event *w = &s->work.p[i];
		int owner = w->parent >= 0 ? s->ranges.p[w->parent].event : -1;
		if (owner < 0 && w->call >= 0)
			owner = s->calls.p[w->call].event;
		add_to_timeline(s, w, owner, (double)(w->end - w->start));
	}
	free(is_run);
}

static int compare_start(const void *a, const void *b)
{
	const struct nsys_event *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

void nsys_sort_work(struct nsys *s)
{
	if (s->work.count)
		qsort(s->work.p, (size_t)s->work.count, sizeof(*s->work.p), compare_start);
}

void nsys_finish(struct nsys *s)
{
	project(s);
	fill(s);
	struct execution *e = s->e;
	bool whole = !s->t.run_count;
	int outside = timeline_finish(&s->t, s->arena, e), graphs = 0;
	if (s->by_kernels) /* from the first kernel to the last is no latency */
		e->profiled_ns = e->first_ns = e->outside_ns = e->outside_lo_ns = e->outside_hi_ns = NAN;
	int64_t dropped = s->ranges.dropped + s->calls.dropped + s->work.dropped;
	for (int i = 0; i < e->row_count; i++) {
		struct execution_row *r = &e->rows[i];
		double *in_or_out = strstr(r->name, "HtoD") ? &e->copy_in_ns :
			strstr(r->name, "DtoH")             ? &e->copy_out_ns :
							      NULL;
		if (r->level == LEVEL_COPY && in_or_out)
			*in_or_out = isnan(*in_or_out) ? r->ns : *in_or_out + r->ns;
		graphs += r->level == LEVEL_KERNEL && !strcmp(r->name, "CUDA graph");
	}
	if (!s->work.count)
		profile_add_gap(s->arena, e, "no kernels: profile with --trace=cuda,nvtx");
	if (graphs)
		profile_add_gap(s->arena, e,
			"CUDA graphs are traced as a whole: profile with --cuda-graph-trace=node");
	if (s->work.count && !s->calls.count && s->file)
		profile_add_gap(s->arena, e, "no calls of the CUDA runtime: kernels have no layer");
	if (s->by_kernels)
		profile_add_gap(s->arena, e, arena_printf(s->arena,
			"no NVTX ranges: %d runs found by repeated kernels", s->t.run_count));
	else if (s->work.count && whole)
		profile_add_gap(s->arena, e,
			"no runs found: neither an NVTX range nor a sequence of kernels repeats");
	profile_add_gap(s->arena, e, timeline_outside(&s->t, s->arena, outside));
	if (s->odd)
		profile_add_gap(s->arena, e, arena_printf(s->arena, "%lld events without a valid time",
							(long long)s->odd));
	if (dropped)
		profile_add_gap(s->arena, e,
			arena_printf(s->arena, "%lld further events not read", (long long)dropped));
}

void nsys_free(struct nsys *s)
{
	free(s->ranges.p);
	free(s->calls.p);
	free(s->work.p);
	free(s->names);
	hash_free(&s->name_ids);
	hash_free(&s->ordinals);
	arena_free(&s->ordinal_keys);
	timeline_free(&s->t);
}
