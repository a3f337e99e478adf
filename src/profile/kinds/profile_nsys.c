/* Nsight Systems, exported with `nsys export --type sqlite`. Tables are only there if they have rows, and
 * their columns differ between versions, so each is looked for. Device work is joined with the call that
 * launched it by process and correlation id, and belongs to the innermost NVTX range that was open on the
 * calling thread (push and pop).
 * https://docs.nvidia.com/nsight-systems/UserGuide/ "SQLite Schema Reference" */
#include "config.h"

#include "profile/read/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/kinds/nsys.h"
#include "store/store_foreign.h"

#define PUSH_POP 59         /* NVTX_EVENTS.eventType */

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

static int name_id(struct nsys *s, struct foreign_value v)
{
	return v.type == FOREIGN_TEXT ? nsys_name(s, v.t) : -1;
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
	if (to->count >= NSYS_EVENTS_MOST) {
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
		.shapes = -1,
		.name = -1,
		.event = -1,
		.first = NAN,
		.last = NAN };
	e->thread = v[2].type == FOREIGN_INT ? v[2].i : 0;
	e->correlation = v[3].type == FOREIGN_INT ? v[3].i : -1;
	e->stream = v[4].type == FOREIGN_INT && v[4].i >= 0 && v[4].i < INT32_MAX ? (int)v[4].i : -1;
	e->kind = v[5].type == FOREIGN_INT && v[5].i >= 0 && v[5].i < 32 ? (int)v[5].i : -1;
	e->bytes = v[6].type == FOREIGN_INT && v[6].i >= 0 ? v[6].i : -1;
	if (table->level == LEVEL_LAYER && v[7].type == FOREIGN_TEXT)
		nsys_name_range(s, e, v[7].t);
	else
		e->name = name_id(s, v[7]);
	e->long_name = name_id(s, v[8]);
	if (table->fixed)
		e->name = nsys_name(s, text_of(table->fixed));
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

static void sort(struct nsys_list *list, int (*compare)(const void *, const void *))
{
	if (list->count)
		qsort(list->p, (size_t)list->count, sizeof(*list->p), compare);
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
		nsys_sort_work(&s);
		enclose(&s.ranges, &s.ranges, true);
		enclose(&s.calls, &s.ranges, false);
		launch(&s);
		nsys_finish(&s);
	}
	foreign_close(s.file);
	nsys_free(&s);
	return got;
}

const struct profile_reader profile_nsys = { .kind = PROFILE_NSYS, .is = is_nsys, .read = read_nsys };
