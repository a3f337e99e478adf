/* Nsight Systems, exported with `nsys export --type sqlite`. Tables are only there if they have rows, and
 * their columns differ between versions, so each is looked for. Device work is joined with the call that
 * launched it by process and correlation id, and belongs to the innermost NVTX range that was open on the
 * calling thread (push and pop). Ranges are the layers: their time is that of their projection on the device,
 * from the start of their first to the end of their last work. The outermost ranges, if they repeat, are runs
 * of the model; without them, repeated sequences of kernels.
 * https://docs.nvidia.com/nsight-systems/UserGuide/ "SQLite Schema Reference" */
#include "config.h"

#include "profile/read/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/read/calls.h"
#include "profile/read/timeline.h"
#include "store/store_foreign.h"

#define EVENTS_MOST 2000000 /* limit of each table */
#define PUSH_POP 59         /* NVTX_EVENTS.eventType */

/* An event of any table. */
struct nsys_event {
	int64_t start, end;
	int64_t thread;        /* global id of the calling thread; for device work that of the process */
	int64_t correlation;   /* -1: none */
	int64_t bytes;         /* of a copy; -1: unknown */
	int name, long_name;   /* in names; -1: unknown */
	int shapes;            /* of a range, in names; -1: unknown */
	bool is_op;            /* range: its name is that of an operator */
	int kind, stream;      /* direction of a copy */
	enum execution_level level;
	int parent;            /* range: the enclosing range; work: the range of its launch; or -1 */
	int call;              /* work: the call that launched it, or -1 */
	int event;             /* index on the timeline, or -1 */
	double first, last;    /* range: start and end of its work on the device; NaN none */
};

struct nsys_list {
	struct nsys_event *p;
	int count, capacity;
	int64_t dropped;       /* events beyond EVENTS_MOST */
};

struct nsys {
	struct foreign *file;
	struct arena *arena;
	struct execution *e;
	struct nsys_list ranges, calls, work;
	struct hash name_ids;
	const char **names;    /* in the arena */
	int name_count, name_capacity;
	int64_t odd;           /* events without a plausible time */
	bool by_kernels;       /* runs are repeated sequences of kernels */
	struct timeline t;
	struct hash ordinals;  /* occurrences of a name below one row in one run */
	struct arena ordinal_keys;
};

static int name_id(struct nsys *s, struct foreign_value v)
{
	if (v.type != FOREIGN_TEXT)
		return -1;
	int64_t id = hash_find(&s->name_ids, v.t);
	if (id < 0) {
		struct text kept = { arena_strndup(s->arena, v.t.p, v.t.n), v.t.n };
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

static const char *name_of(const struct nsys *s, int id)
{
	return id < 0 ? "" : s->names[id];
}

/* ---- tables ---- */

/* Columns of a table in the order of struct nsys_event, as SQL expressions; NULL for columns that it lacks.
 */
struct nsys_table {
	const char *name;
	enum execution_level level;
	const char *thread, *names[3], *long_names[2], *kind, *bytes;
	const char *fixed;  /* the name of all rows; NULL: names */
	const char *where;  /* condition on `where_column` */
	const char *where_column;
	bool is_call;
};

static void add_column(struct str *sql, struct foreign *f, const char *table, const char *column)
{
	bool has = column && foreign_has(f, table, column);
	str_addf(sql, ", %s", has ? column : "NULL");
}

/* Adds a column that contains ids of StringIds, or text. */
static void add_name(struct str *sql, struct foreign *f, const char *table, const char *const *columns, int n)
{
	bool strings = foreign_has(f, "StringIds", "id") && foreign_has(f, "StringIds", "value");
	str_puts(sql, ", COALESCE(NULL");
	for (int i = 0; i < n; i++) {
		if (!columns[i] || !foreign_has(f, table, columns[i]))
			continue;
		if (!strcmp(columns[i], "text"))
			str_puts(sql, ", x.text");
		else if (strings)
			str_addf(sql, ", (SELECT value FROM StringIds WHERE id = x.%s)", columns[i]);
	}
	str_puts(sql, ", NULL)");
}

static void add_event(
	struct nsys *s, const struct nsys_table *table, struct nsys_list *to, struct foreign_query *q)
{
	struct foreign_value v[10];
	for (int i = 0; i < 10; i++)
		v[i] = foreign_column(q, i);
	bool open = v[1].type == FOREIGN_NULL; /* a range that was not closed */
	bool zero = v[0].i == 0 && v[1].i == 0 && !open;
	if (zero || v[0].type != FOREIGN_INT || v[0].i < 0 || v[0].i > INT64_MAX / 4 ||
		(!open && (v[1].type != FOREIGN_INT || v[1].i < v[0].i || v[1].i > INT64_MAX / 4))) {
		s->odd++;
		return;
	}
	if (to->count >= EVENTS_MOST) {
		to->dropped++;
		return;
	}
	VEC_GROW(to->p, to->count, to->capacity);
	struct nsys_event *e = &to->p[to->count++];
	*e = (struct nsys_event){ .start = v[0].i,
		.end = open ? INT64_MAX / 2 : v[1].i,
		.level = table->level,
		.parent = -1,
		.call = -1,
		.event = -1,
		.first = NAN,
		.last = NAN };
	e->thread = v[2].type == FOREIGN_INT ? v[2].i : 0;
	e->correlation = v[3].type == FOREIGN_INT ? v[3].i : -1;
	e->stream = v[4].type == FOREIGN_INT && v[4].i >= 0 && v[4].i < INT32_MAX ? (int)v[4].i : -1;
	e->kind = v[5].type == FOREIGN_INT && v[5].i >= 0 && v[5].i < 32 ? (int)v[5].i : -1;
	e->bytes = v[6].type == FOREIGN_INT && v[6].i >= 0 ? v[6].i : -1;
	struct text sizes = { "", 0 };
	size_t whole = v[7].t.n;
	if (table->level == LEVEL_LAYER && v[7].type == FOREIGN_TEXT) {
		cut_emitted(&v[7].t, &sizes);
		e->is_op = v[7].t.n < whole || (whole > 6 && !memcmp(v[7].t.p, "aten::", 6));
	}
	e->shapes = sizes.n ? name_id(s, (struct foreign_value){ .type = FOREIGN_TEXT, .t = sizes }) : -1;
	e->name = name_id(s, v[7]);
	e->long_name = name_id(s, v[8]);
	if (table->fixed)
		e->name = name_id(
			s, (struct foreign_value){ .type = FOREIGN_TEXT, .t = text_of(table->fixed) });
}

static int read_table(struct nsys *s, const struct nsys_table *t, struct nsys_list *to, struct error *err)
{
	struct foreign *f = s->file;
	if (!foreign_has(f, t->name, "start") || !foreign_has(f, t->name, "end"))
		return 0;
	struct str sql = { 0 };
	str_puts(&sql, "SELECT x.start, x.\"end\"");
	add_column(&sql, f, t->name, t->thread);
	add_column(&sql, f, t->name, "correlationId");
	add_column(&sql, f, t->name, "streamId");
	add_column(&sql, f, t->name, t->kind);
	add_column(&sql, f, t->name, t->bytes);
	add_name(&sql, f, t->name, t->names, 3);
	add_name(&sql, f, t->name, t->long_names, 2);
	str_addf(&sql, " FROM %s AS x", t->name);
	if (t->where && foreign_has(f, t->name, t->where_column))
		str_addf(&sql, " WHERE %s", t->where);
	struct foreign_query *q = foreign_query(f, sql.p, NULL, 0, err);
	int got = q ? 1 : -1;
	while (got > 0 && (got = foreign_next(q, err)) > 0)
		add_event(s, t, to, q);
	foreign_query_free(q);
	str_free(&sql);
	return got;
}

static const struct nsys_table kernel_table = { .name = "CUPTI_ACTIVITY_KIND_KERNEL", .level = LEVEL_KERNEL,
	.thread = "globalPid", .names = { "shortName", "demangledName", "mangledName" },
	.long_names = { "demangledName", "mangledName" } };
static const struct nsys_table copy_table = { .name = "CUPTI_ACTIVITY_KIND_MEMCPY", .level = LEVEL_COPY,
	.thread = "globalPid", .kind = "copyKind", .bytes = "bytes", .fixed = "memcpy" };
static const struct nsys_table set_table = { .name = "CUPTI_ACTIVITY_KIND_MEMSET", .level = LEVEL_KERNEL,
	.thread = "globalPid", .bytes = "bytes", .fixed = "memset" };
static const struct nsys_table graph_table = { .name = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	.level = LEVEL_KERNEL, .thread = "globalPid", .fixed = "CUDA graph" };
static const struct nsys_table call_table = { .name = "CUPTI_ACTIVITY_KIND_RUNTIME", .level = LEVEL_API,
	.thread = "globalTid", .names = { "nameId" } };
static const struct nsys_table range_table = { .name = "NVTX_EVENTS", .level = LEVEL_LAYER,
	.thread = "globalTid", .names = { "text", "textId" }, .where = "x.eventType = 59",
	.where_column = "eventType" };

/* Returns the first text of a query, cleaned, or "". */
static const char *text_at(struct nsys *s, const char *table, const char *column, const char *where)
{
	const char *found = "";
	if (!foreign_has(s->file, table, column))
		return found;
	struct str sql = { 0 };
	str_addf(&sql, "SELECT %s FROM %s %s LIMIT 1", column, table, where);
	struct foreign_query *q = foreign_query(s->file, sql.p, NULL, 0, NULL);
	if (q && foreign_next(q, NULL) == 1 && foreign_column(q, 0).type == FOREIGN_TEXT)
		found = text_clean(s->arena, foreign_column(q, 0).t);
	foreign_query_free(q);
	str_free(&sql);
	return found;
}

static int read_tables(struct nsys *s, struct error *err)
{
	if (read_table(s, &range_table, &s->ranges, err) || read_table(s, &call_table, &s->calls, err) ||
		read_table(s, &kernel_table, &s->work, err) || read_table(s, &graph_table, &s->work, err) ||
		read_table(s, &copy_table, &s->work, err) || read_table(s, &set_table, &s->work, err))
		return -1;
	s->e->device = text_at(s, "TARGET_INFO_GPU", "name", "");
	if (foreign_has(s->file, "TARGET_INFO_SYSTEM_ENV", "name"))
		s->e->host = text_at(s, "TARGET_INFO_SYSTEM_ENV", "value", "WHERE name = 'Hostname'");
	return 0;
}

/* ---- who launched what ---- */

static int compare_int64(int64_t x, int64_t y)
{
	return (x > y) - (x < y);
}

/* Orders by thread, then by start; for equal starts the longer event first. */
static int compare_nested(const void *a, const void *b)
{
	const struct nsys_event *x = a, *y = b;
	int by_thread = compare_int64(x->thread, y->thread), by_start = compare_int64(x->start, y->start);
	return by_thread ? by_thread : by_start ? by_start : compare_int64(y->end, x->end);
}

/* Returns the process in the serialized id of a thread: the bits above the lowest 24. */
static int64_t process_of(int64_t thread)
{
	return (int64_t)((uint64_t)thread >> 24);
}

static int compare_launch(const void *a, const void *b, void *calls)
{
	const struct nsys_event *x = (struct nsys_event *)calls + *(const int *)a;
	const struct nsys_event *y = (struct nsys_event *)calls + *(const int *)b;
	int by_id = compare_int64(x->correlation, y->correlation);
	int by_process = compare_int64(process_of(x->thread), process_of(y->thread));
	return by_id ? by_id : by_process ? by_process : compare_int64(x->start, y->start);
}

/* Sets for each event of the list, sorted like the ranges, the innermost range that was open at its start. */
static void enclose(struct nsys_list *list, const struct nsys_list *ranges, bool same)
{
	int open = -1, next = 0; /* innermost open range; its parents are the enclosing ones */
	for (int i = 0; i < list->count; i++) {
		struct nsys_event *v = &list->p[i];
		while (next < ranges->count && next < (same ? i : ranges->count) &&
			compare_nested(&ranges->p[next], v) <= 0) {
			open = next;
			next++;
		}
		while (open >= 0 && (ranges->p[open].thread != v->thread || ranges->p[open].end < v->start ||
					    (same && ranges->p[open].end < v->end)))
			open = ranges->p[open].parent;
		v->parent = open;
	}
}

/* True if the call is before those of the work: by correlation id and, if the work has one, by process. */
static bool is_before(const struct nsys_event *call, const struct nsys_event *work)
{
	if (call->correlation != work->correlation || !work->thread)
		return call->correlation < work->correlation;
	return process_of(call->thread) < process_of(work->thread);
}

/* Finds the call of each piece of work, by bisection in the calls sorted by correlation id and process. */
static void launch(struct nsys *s)
{
	struct nsys_event *calls = s->calls.p;
	int *order = base_calloc((size_t)s->calls.count + 1, sizeof(int));
	for (int i = 0; i < s->calls.count; i++)
		order[i] = i;
	if (calls)
		qsort_r(order, (size_t)s->calls.count, sizeof(int), compare_launch, calls);
	for (int i = 0; i < s->work.count; i++) {
		struct nsys_event *w = &s->work.p[i];
		int lo = 0, hi = s->calls.count;
		while (lo < hi) {
			int mid = (lo + hi) / 2;
			if (is_before(&calls[order[mid]], w))
				lo = mid + 1;
			else
				hi = mid;
		}
		const struct nsys_event *c = lo < s->calls.count ? &calls[order[lo]] : NULL;
		if (!c || w->correlation < 0 || c->correlation != w->correlation ||
			(w->thread && process_of(c->thread) != process_of(w->thread)))
			continue;
		w->call = order[lo];
		w->parent = c->parent;
	}
	free(order);
}

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

/* ---- runs and rows ---- */

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
	return compare_int64(x->start, y->start);
}

static void sort(struct nsys_list *list, int (*compare)(const void *, const void *))
{
	if (list->count)
		qsort(list->p, (size_t)list->count, sizeof(*list->p), compare);
}

static void finish(struct nsys *s)
{
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
	if (s->work.count && !s->calls.count)
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

static void nsys_free(struct nsys *s)
{
	foreign_close(s->file);
	free(s->ranges.p);
	free(s->calls.p);
	free(s->work.p);
	free(s->names);
	hash_free(&s->name_ids);
	hash_free(&s->ordinals);
	arena_free(&s->ordinal_keys);
	timeline_free(&s->t);
}

static bool is_nsys(const struct profile_head *h)
{
	return h->n >= 16 && memcmp(h->bytes, "SQLite format 3", 16) == 0;
}

static int read_nsys(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	const struct foreign_limits limits = { .stop = options ? options->stop : NULL };
	struct nsys s = { .arena = a, .e = e, .file = foreign_open(path, &limits, err) };
	int got = s.file ? read_tables(&s, err) : -1;
	if (got == 0 && !s.work.count && !s.ranges.count)
		got = error_set(err,
			"%s: no kernels and no NVTX ranges; an export of Nsight Systems is made with: "
			"nsys export --type sqlite",
			path);
	if (got == 0) {
		sort(&s.ranges, compare_nested);
		sort(&s.calls, compare_nested);
		sort(&s.work, compare_start);
		enclose(&s.ranges, &s.ranges, true);
		enclose(&s.calls, &s.ranges, false);
		launch(&s);
		project(&s);
		fill(&s);
		finish(&s);
	}
	nsys_free(&s);
	return got;
}

const struct profile_reader profile_nsys = { .kind = PROFILE_NSYS, .is = is_nsys, .read = read_nsys };
