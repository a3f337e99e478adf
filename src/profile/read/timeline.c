/* Sorts events into runs and rows, and takes medians over the runs. O(n log n) in the events. */
#include "config.h"

#include "profile/read/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OVERLAP_MOST 64 /* runs that may overlap */

int timeline_row(struct timeline *t, enum execution_level level, struct text key, bool *is_new)
{
	int64_t found = hash_find(&t->keys, key);
	*is_new = found < 0;
	if (found >= 0)
		return (int)found;
	VEC_GROW(t->rows, t->row_count, t->row_capacity);
	t->rows[t->row_count] = execution_row_new();
	t->rows[t->row_count].level = level;
	struct text kept = { arena_strndup(&t->texts, key.p, key.n), key.n };
	*hash_at(&t->keys, kept) = t->row_count;
	return t->row_count++;
}

static bool is_time(double start, double ns)
{
	return fabs(start) < 1e21 && profile_is_time(ns);
}

int timeline_add(struct timeline *t, int row, int owner, int lane, double start, double ns)
{
	if (!is_time(start, ns))
		return -1;
	VEC_GROW(t->events, t->event_count, t->event_capacity);
	t->events[t->event_count] = (struct timeline_event){ start, ns, row, owner, lane, -1 };
	return t->event_count++;
}

void timeline_add_run(struct timeline *t, int lane, double start, double ns)
{
	if (!is_time(start, ns))
		return;
	VEC_GROW(t->runs, t->run_count, t->run_capacity);
	t->runs[t->run_count++] = (struct timeline_run){ start, ns, lane };
}

void timeline_free(struct timeline *t)
{
	free(t->events);
	free(t->runs);
	free(t->rows);
	hash_free(&t->keys);
	arena_free(&t->texts);
	*t = (struct timeline){ 0 };
}

static int compare_runs(const void *a, const void *b)
{
	const struct timeline_run *x = a, *y = b;
	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
				    : (x->ns > y->ns) - (x->ns < y->ns);
}

void timeline_sort(struct timeline *t)
{
	if (t->run_count)
		qsort(t->runs, (size_t)t->run_count, sizeof(*t->runs), compare_runs);
}

/* Searches the last run that starts before the time (bisection), then goes back over overlapping runs. */
int timeline_run_at(const struct timeline *t, int lane, double start)
{
	int lo = 0, hi = t->run_count, any = -1;
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		if (t->runs[mid].start <= start)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (int i = lo - 1; i >= 0 && i >= lo - OVERLAP_MOST; i--) {
		const struct timeline_run *r = &t->runs[i];
		if (start > r->start + r->ns)
			continue;
		if (r->lane == lane)
			return i;
		if (any < 0)
			any = i;
	}
	return any;
}

void timeline_use_device(struct timeline *t, bool (*is_async)(const struct execution_row *r))
{
	double *device = base_calloc((size_t)t->event_count + 1, sizeof(double));
	bool any = false;
	for (int i = 0; i < t->event_count; i++) {
		const struct timeline_event *v = &t->events[i];
		enum execution_level level = t->rows[v->row].level;
		if (v->owner < 0 || (level != LEVEL_KERNEL && level != LEVEL_COPY))
			continue;
		device[v->owner] += v->ns;
		any = true;
	}
	for (int i = 0; any && i < t->event_count; i++) {
		const struct execution_row *r = &t->rows[t->events[i].row];
		if (r->level == LEVEL_LAYER && (!is_async || is_async(r)))
			t->events[i].ns = device[i];
	}
	free(device);
}

/* Sort key of a row: its first event in the counted runs; events follow those that caused them. */
struct position {
	int row, run, event;
	double start, ns;      /* of the outer event */
	int outer;
	enum execution_level level;
	double own;
};

static int compare_doubles(double x, double y)
{
	return (x > y) - (x < y);
}

/* Orders by start; for equal starts the longer first, then the later in the file, because files list an event
 * when it ends. */
static int compare_positions(const void *a, const void *b)
{
	const struct position *x = a, *y = b;
	int by_start = compare_doubles(x->start, y->start), by_own = compare_doubles(x->own, y->own);
	if (x->run != y->run)
		return (x->run > y->run) - (x->run < y->run);
	if (by_start)
		return by_start;
	if (x->ns != y->ns)
		return compare_doubles(y->ns, x->ns);
	if (x->outer != y->outer)
		return (x->outer < y->outer) - (x->outer > y->outer);
	if (x->level != y->level)
		return x->level > y->level ? 1 : -1;
	return by_own ? by_own : (x->event > y->event) - (x->event < y->event);
}

static struct position position_of(const struct timeline *t, int event)
{
	const struct timeline_event *v = &t->events[event];
	enum execution_level level = t->rows[v->row].level;
	int outer = level != LEVEL_LAYER && v->owner >= 0 ? v->owner : event;
	const struct timeline_event *o = &t->events[outer];
	return (struct position){ v->row, v->run, event, o->start, o->ns, outer, level, v->start };
}

/* Sorts events by row, then by run; the counting sort by row keeps the order of the file. */
struct grouped {
	int *first; /* those of row i: first[i] to first[i + 1] */
	int *events;
};

static int compare_by_run(const void *a, const void *b, void *context)
{
	const struct timeline_event *events = context;
	int x = *(const int *)a, y = *(const int *)b;
	return events[x].run != events[y].run ? (events[x].run > events[y].run ? 1 : -1) : (x > y) - (x < y);
}

static struct grouped group(const struct timeline *t, int first_run)
{
	struct grouped g = { base_calloc((size_t)t->row_count + 2, sizeof(int)),
		base_calloc((size_t)t->event_count + 1, sizeof(int)) };
	for (int i = 0; i < t->event_count; i++)
		g.first[t->events[i].row + 2] += t->events[i].run >= first_run;
	for (int i = 0; i < t->row_count; i++)
		g.first[i + 2] += g.first[i + 1];
	for (int i = 0; i < t->event_count; i++)
		if (t->events[i].run >= first_run)
			g.events[g.first[t->events[i].row + 1]++] = i;
	for (int i = 0; i < t->row_count; i++)
		qsort_r(g.events + g.first[i], (size_t)(g.first[i + 1] - g.first[i]), sizeof(int),
			compare_by_run, t->events);
	return g;
}

/* Sets times, calls and start of a row from its n events, sorted by run. */
static void row_times(struct timeline *t, struct execution_row *r, const int *events, int n, int runs)
{
	double *times = base_calloc((size_t)n, sizeof(double));
	int ran = 0, last = -1;
	for (int i = 0; i < n; i++) {
		const struct timeline_event *v = &t->events[events[i]];
		if (v->run != last)
			times[ran++] = 0;
		last = v->run;
		times[ran - 1] += v->ns;
	}
	profile_row_times(r, times, ran, runs);
	r->calls = (double)n / runs;
	free(times);
}

/* Returns the parent of a row: the row of its first event's owner, if it precedes the row. */
static int parent_of(const struct timeline *t, const struct position *at, const int *index_of, int index)
{
	int owner = t->events[at->event].owner;
	int parent = owner < 0 ? -1 : index_of[t->events[owner].row];
	return parent < index ? parent : -1;
}

/* Sets the time of a run outside its topmost rows, as the median over the runs. Topmost rows are layers, in a
 * file without layers kernels, that are inside no other such row. A negative time is unknown: rows ran in
 * parallel. */
static void outside_find(const struct timeline *t, struct execution *e, const int *index_of, int first_run)
{
	enum execution_level top = LEVEL_KERNEL;
	int runs = t->run_count - first_run;
	double *left = base_calloc((size_t)runs, sizeof(double));
	struct execution_row outside = execution_row_new();
	for (int i = 0; i < e->row_count; i++)
		top = e->rows[i].level == LEVEL_LAYER ? LEVEL_LAYER : top;
	for (int i = 0; i < runs; i++)
		left[i] = t->runs[first_run + i].ns;
	for (int i = 0; i < t->event_count; i++) {
		const struct timeline_event *v = &t->events[i];
		const struct execution_row *r = v->run < first_run ? NULL : &e->rows[index_of[v->row]];
		if (r && r->level == top && (r->parent < 0 || e->rows[r->parent].level != top))
			left[v->run - first_run] -= v->ns;
	}
	profile_row_times(&outside, left, runs, runs);
	free(left);
	if (!(outside.ns >= 0))
		return;
	e->outside_ns = outside.ns;
	e->outside_lo_ns = outside.lo_ns < 0 ? 0 : outside.lo_ns;
	e->outside_hi_ns = outside.hi_ns;
}

/* known: the file itself separates the runs. */
static void add_rows(struct timeline *t, struct arena *a, struct execution *e, int first_run, bool known)
{
	int runs = t->run_count - first_run;
	struct grouped g = group(t, first_run);
	struct position *order = base_calloc((size_t)t->row_count + 1, sizeof(*order));
	int *index_of = base_calloc((size_t)t->row_count + 1, sizeof(int));
	int count = 0, before = e->row_count;
	for (int i = 0; i < t->row_count; i++) {
		index_of[i] = -1;
		int n = g.first[i + 1] - g.first[i];
		if (n == 0)
			continue;
		order[count] = position_of(t, g.events[g.first[i]]);
		for (int j = 1; j < n && t->events[g.events[g.first[i] + j]].run == order[count].run; j++) {
			struct position p = position_of(t, g.events[g.first[i] + j]);
			if (compare_positions(&p, &order[count]) < 0)
				order[count] = p;
		}
		row_times(t, &t->rows[i], g.events + g.first[i], n, runs);
		count++;
	}
	qsort(order, (size_t)count, sizeof(*order), compare_positions);
	struct execution_row *rows = ARENA_ARRAY(a, struct execution_row, before + count);
	if (before)
		memcpy(rows, e->rows, sizeof(*rows) * (size_t)before);
	e->rows = rows;
	e->row_count = before + count;
	for (int i = 0; i < count; i++) {
		struct execution_row *r = &rows[before + i];
		*r = t->rows[order[i].row];
		index_of[order[i].row] = before + i;
		r->parent = parent_of(t, &order[i], index_of, before + i);
		r->start_ns = order[i].own - t->runs[order[i].run].start;
	}
	if (known)
		outside_find(t, e, index_of, first_run);
	free(g.first);
	free(g.events);
	free(order);
	free(index_of);
}

/* Without runs, adds one that contains every event. */
static void add_whole_run(struct timeline *t)
{
	double start = INFINITY, end = -INFINITY;
	for (int i = 0; i < t->event_count; i++) {
		start = fmin(start, t->events[i].start);
		end = fmax(end, t->events[i].start + t->events[i].ns);
	}
	VEC_GROW(t->runs, t->run_count, t->run_capacity);
	t->runs[t->run_count++] = (struct timeline_run){ start, end - start, 0 };
}

int timeline_finish(struct timeline *t, struct arena *a, struct execution *e)
{
	int outside = 0;
	bool known = t->run_count > 0;
	if (t->event_count == 0)
		return 0;
	if (!known)
		add_whole_run(t);
	timeline_sort(t);
	for (int i = 0; i < t->event_count; i++) {
		struct timeline_event *v = &t->events[i];
		v->run = v->owner >= 0 && v->owner < i ? t->events[v->owner].run
						     : timeline_run_at(t, v->lane, v->start);
		outside += v->run < 0;
	}
	int first = t->run_count > 1, runs = t->run_count - first;
	add_rows(t, a, e, first, known);
	if (!known)
		return outside;
	if (!first)
		profile_add_gap(a, e,
			"one run: it contains what only the first one does (allocations, tuning); profile at "
			"least two");
	struct execution_row whole = execution_row_new();
	double *times = base_calloc((size_t)runs, sizeof(double));
	for (int i = 0; i < runs; i++)
		times[i] = t->runs[first + i].ns;
	profile_row_times(&whole, times, runs, runs);
	free(times);
	e->profiled_ns = whole.ns;
	if (first)
		e->first_ns = t->runs[0].ns;
	e->settings = arena_printf(a, "{\"runs\":%d,\"runs_left_out\":%d}", runs, first);
	return outside;
}

static bool is_on_device(const struct timeline *t, const struct timeline_event *v)
{
	enum execution_level level = t->rows[v->row].level;
	return level == LEVEL_KERNEL || level == LEVEL_COPY;
}

const char *timeline_outside(const struct timeline *t, struct arena *a, int outside)
{
	double all = 0, left = 0;
	bool device = false;
	for (int i = 0; i < t->event_count; i++)
		device |= is_on_device(t, &t->events[i]);
	for (int i = 0; i < t->event_count; i++) {
		const struct timeline_event *v = &t->events[i];
		bool is_layer = t->rows[v->row].level == LEVEL_LAYER && v->owner < 0;
		if (device ? !is_on_device(t, v) : !is_layer)
			continue;
		all += v->ns;
		left += v->run < 0 ? v->ns : 0;
	}
	if (!outside)
		return "";
	return arena_printf(a, "%d event%s outside of the runs left out%s", outside, outside == 1 ? "" : "s",
		left > 0 ? arena_printf(a, ": %.1f%% of the time", 100 * left / all) : "");
}
