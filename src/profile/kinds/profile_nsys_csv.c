/* Tables of Nsight Systems, `nsys stats --format csv`, also several in one file and after what nsys prints.
 * cuda_gpu_trace has a line a kernel or copy, with the NVTX range before the name of the kernel if nvtx-name
 * is added to the report: "range/void kernel<...>(...)". cuda_gpu_kern_sum, cuda_gpu_kern_gb_sum and
 * cuda_gpu_sum have sums of all kernels of a name. https://docs.nvidia.com/nsight-systems/UserGuide/ */
#include "config.h"

#include "profile/read/reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/kinds/nsys.h"
#include "profile/read/lines.h"

#define FIELDS_MOST 64
#define SUMS_MOST (1 << 20)
#define RUNS_LEAST 5 /* that tell runs from a few kernels of each name, beside kernels that ran once */
#define REMEDY "nsys stats --report cuda_gpu_trace:nvtx-name --format csv"

enum column { START, DURATION, TOTAL, INSTANCES, COUNT, STREAM, DEVICE, BYTES, NAME, OPERATION, COLUMNS };

/* The table that is being read. */
struct csv_table {
	enum { NO_TABLE, OTHER, TRACE, SUM } kind;
	int at[COLUMNS];   /* field of a column, or -1 */
	double ns, bytes;  /* units of times and of BYTES */
	int fields;
};

struct csv {
	struct nsys nsys;
	struct csv_table table;
	struct sum {
		struct text name; /* in the arena */
		double ns;        /* of all */
		int64_t count;
	} *sums;
	int sum_count, sum_capacity;
	bool has_sums;            /* a table of kernels was read */
	bool several;             /* devices */
	int64_t odd;              /* lines without a time */
	struct arena scratch;     /* of a line */
};

/* ---- heads ---- */

/* Returns the value of the unit in parentheses at the end of a heading: "Start (ns)", "Bytes (MB)". */
static double unit_of(struct text heading)
{
	static const struct {
		const char *name;
		double value;
	} units[] = { { "(ns)", 1 }, { "(nsec)", 1 }, { "(us)", 1e3 }, { "(usec)", 1e3 }, { "(ms)", 1e6 },
		{ "(msec)", 1e6 }, { "(s)", 1e9 }, { "(sec)", 1e9 }, { "(B)", 1 }, { "(KB)", 1e3 },
		{ "(MB)", 1e6 }, { "(GB)", 1e9 }, { "(KiB)", 1 << 10 }, { "(MiB)", 1 << 20 },
		{ "(GiB)", 1 << 30 } };
	const char *open = heading.n ? memchr(heading.p, '(', heading.n) : NULL;
	struct text unit = { open ? open : "", open ? heading.n - (size_t)(open - heading.p) : 0 };
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (text_is(unit, units[i].name))
			return units[i].value;
	return NAN;
}

/* Returns true if the heading is the word, or the word and a unit. */
static bool is_heading(struct text t, const char *word)
{
	size_t n = strlen(word);
	return text_begins(t, word) && (t.n == n || t.p[n] == '(' || (t.n > n + 1 && t.p[n + 1] == '('));
}

/* Returns the table that the line is the head of; NO_TABLE: another line. */
static struct csv_table head_of(const struct text *field, int n)
{
	static const char *const words[] = { [START] = "Start", [DURATION] = "Duration",
		[TOTAL] = "Total Time", [INSTANCES] = "Instances", [COUNT] = "Count", [STREAM] = "Strm",
		[DEVICE] = "Device", [BYTES] = "Bytes", [NAME] = "Name", [OPERATION] = "Operation" };
	struct csv_table t = { .ns = NAN, .bytes = NAN, .fields = n };
	bool is_api = false;
	for (int c = 0; c < COLUMNS; c++) {
		t.at[c] = -1;
		for (int i = 0; i < n; i++)
			t.at[c] = t.at[c] < 0 && is_heading(text_trim(field[i]), words[c]) ? i : t.at[c];
	}
	for (int i = 0; i < n; i++)
		is_api |= text_is(text_trim(field[i]), "Thread Name");
	int time = t.at[START] >= 0 ? t.at[DURATION] : t.at[TOTAL];
	if (time < 0 || n < 4)
		return t;
	t.ns = unit_of(text_trim(field[time]));
	t.bytes = t.at[BYTES] >= 0 ? unit_of(text_trim(field[t.at[BYTES]])) : NAN;
	bool trace = t.at[START] >= 0 && t.at[STREAM] >= 0 && t.at[NAME] >= 0 && !is_api;
	bool sum = t.at[START] < 0 && ((t.at[INSTANCES] >= 0 && (t.at[NAME] >= 0 || t.at[OPERATION] >= 0)) ||
		(t.at[COUNT] >= 0 && t.at[OPERATION] >= 0));
	t.kind = isnan(t.ns) ? NO_TABLE : trace ? TRACE : sum ? SUM : OTHER;
	return t;
}

static bool is_nsys_csv(const struct profile_head *h)
{
	bool found = false;
	for (const char *p = h->bytes, *end = h->bytes + h->n; p < end && !found;) {
		const char *next = memchr(p, '\n', (size_t)(end - p));
		struct text line = { p, (size_t)((next ? next : end) - p) }, field[FIELDS_MOST];
		struct arena scratch = { 0 };
		bool head = line.n < 4096 && next && (text_contains(line, TEXT("Name")) ||
			text_contains(line, TEXT("Operation")));
		int n = head ? lines_fields(&scratch, text_trim(line), ',', field, FIELDS_MOST) : 0;
		found = head && head_of(field, n).kind != NO_TABLE;
		arena_free(&scratch);
		p = next ? next + 1 : end;
	}
	return found;
}

/* ---- lines ---- */

static struct text at(const struct csv_table *t, const struct text *field, enum column c)
{
	return t->at[c] < 0 ? (struct text){ "", 0 } : text_trim(field[t->at[c]]);
}

/* Returns the direction of a copy as nsys numbers it. Older versions print "[CUDA memcpy HtoD]", newer ones
 * "[CUDA memcpy Host-to-Device]". */
static int copy_kind(struct text name)
{
	static const struct {
		const char *words[2];
		int kind;
	} rows[] = { { { "HtoD", "Host-to-Device" }, 1 }, { { "DtoH", "Device-to-Host" }, 2 },
		{ { "DtoD", "Device-to-Device" }, 8 }, { { "HtoH", "Host-to-Host" }, 9 },
		{ { "PtoP", "Peer-to-Peer" }, 10 } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int w = 0; w < 2; w++)
			if (text_contains(name, text_of(rows[i].words[w])))
				return rows[i].kind;
	return -1;
}

/* Returns the name of a kernel without result, namespaces, arguments: "void a::b<c>(d)" -> "b". */
static struct text short_name(struct text name)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t begin = 0, i = 0;
	while (i < name.n && name.p[i] != '<') {
		struct text rest = { name.p + i, name.n - i };
		size_t n = text_begins(rest, anonymous) ? sizeof(anonymous) - 1 : 0;
		if (!n && name.p[i] == '(')
			break;
		i += n ? n : 1;
		if (i <= name.n && i && !n && (name.p[i - 1] == ':' || name.p[i - 1] == ' '))
			begin = i;
	}
	return i > begin ? (struct text){ name.p + begin, i - begin } : name;
}

static void add_device(struct csv *c, struct text device)
{
	size_t n = device.n;
	if (n && device.p[n - 1] == ')') /* "NVIDIA A100 (0)" */
		while (n && device.p[n - 1] != '(')
			n--;
	device.n = n > 1 && n < device.n ? n - 1 : device.n;
	device = text_trim(device);
	struct execution *e = c->nsys.e;
	if (device.n && !*e->device)
		e->device = text_clean(c->nsys.arena, device);
	else if (device.n)
		c->several |= strcmp(e->device, text_clean(&c->scratch, device)) != 0;
}

/* Adds a kernel or copy. `parent` holds the name of its range until ranges_make, or -1. */
static void add_work(struct csv *c, const struct text *field)
{
	struct nsys *s = &c->nsys;
	const struct csv_table *t = &c->table;
	double start = text_number(at(t, field, START)) * t->ns;
	double ns = text_number(at(t, field, DURATION)) * t->ns;
	double bytes = text_number(at(t, field, BYTES)) * t->bytes;
	double stream = text_number(at(t, field, STREAM));
	struct text name = at(t, field, NAME);
	if (!profile_is_time(ns) || !(start >= 0 && start < INT64_MAX / 4) || !name.n) {
		c->odd++;
		return;
	}
	if (s->work.count >= NSYS_EVENTS_MOST) {
		s->work.dropped++;
		return;
	}
	VEC_GROW(s->work.p, s->work.count, s->work.capacity);
	struct nsys_event *e = &s->work.p[s->work.count++];
	*e = (struct nsys_event){ .start = (int64_t)start, .end = (int64_t)(start + ns), .correlation = -1,
		.bytes = bytes >= 0 && bytes < 1e18 ? (int64_t)bytes : -1, .name = -1, .long_name = -1,
		.shapes = -1, .kind = -1, .stream = stream >= 0 && stream < INT32_MAX ? (int)stream : -1,
		.level = LEVEL_KERNEL, .parent = -1, .call = -1, .event = -1, .first = NAN, .last = NAN };
	add_device(c, at(t, field, DEVICE));
	const char *slash = memrchr(name.p, '/', name.n);
	if (slash && slash > name.p) {
		e->parent = nsys_name(s, (struct text){ name.p, (size_t)(slash - name.p) });
		name = (struct text){ slash + 1, name.n - (size_t)(slash + 1 - name.p) };
	}
	if (text_begins(name, "[CUDA memcpy")) {
		e->level = LEVEL_COPY;
		e->kind = copy_kind(name);
		e->name = nsys_name(s, TEXT("memcpy"));
	} else if (text_begins(name, "[CUDA memset"))
		e->name = nsys_name(s, TEXT("memset"));
	else {
		e->name = nsys_name(s, short_name(name));
		e->long_name = nsys_name(s, name);
	}
}

static void add_sum(struct csv *c, const struct text *field)
{
	const struct csv_table *t = &c->table;
	double ns = text_number(at(t, field, TOTAL)) * t->ns;
	double count = text_number(at(t, field, t->at[INSTANCES] >= 0 ? INSTANCES : COUNT));
	struct text name = at(t, field, t->at[NAME] >= 0 ? NAME : OPERATION);
	if (!profile_is_time(ns) || !(count >= 1 && count < 1e12) || !name.n) {
		c->odd++;
		return;
	}
	if (c->sum_count >= SUMS_MOST) {
		c->nsys.work.dropped++;
		return;
	}
	VEC_GROW(c->sums, c->sum_count, c->sum_capacity);
	c->sums[c->sum_count++] = (struct sum){ { arena_strndup(c->nsys.arena, name.p, name.n), name.n }, ns,
		(int64_t)count };
}

static void read_line(struct csv *c, struct text line)
{
	struct text field[FIELDS_MOST];
	int n = lines_fields(&c->scratch, line, ',', field, FIELDS_MOST);
	bool number = n && field[0].n && isdigit((unsigned char)field[0].p[0]);
	struct csv_table none = { .kind = NO_TABLE }, *t = &c->table;
	struct csv_table head = number ? none : head_of(field, n);
	if (head.kind != NO_TABLE) { /* of several tables of sums of kernels the first counts */
		bool kernels = head.kind == SUM && head.at[INSTANCES] >= 0;
		*t = head;
		t->kind = kernels && c->has_sums ? OTHER : head.kind;
		c->has_sums |= kernels;
	} else if (n < t->fields || !text_trim(line).n)
		t->kind = NO_TABLE; /* "Processing [...]" before the next one */
	else if (t->kind == TRACE || t->kind == SUM) {
		struct text *last = &field[t->fields - 1];
		size_t begin = (size_t)((uintptr_t)last->p - (uintptr_t)line.p);
		if (n > t->fields && begin < line.n) /* a name with commas, not in quotation marks */
			last->n = line.n - begin;
		t->kind == TRACE ? add_work(c, field) : add_sum(c, field);
	}
}

/* ---- ranges and rows ---- */

/* Makes ranges of successive kernels with the name of one. */
static void ranges_make(struct nsys *s)
{
	int open = -1; /* name of the last range */
	for (int i = 0; i < s->work.count; i++) {
		struct nsys_event *w = &s->work.p[i];
		if (w->parent < 0)
			continue;
		if (w->parent != open) {
			open = w->parent;
			VEC_GROW(s->ranges.p, s->ranges.count, s->ranges.capacity);
			struct nsys_event *r = &s->ranges.p[s->ranges.count++];
			*r = (struct nsys_event){ .start = w->start, .correlation = -1, .bytes = -1,
				.name = -1, .long_name = -1, .shapes = -1, .kind = -1, .stream = -1,
				.level = LEVEL_LAYER, .parent = -1, .call = -1, .event = -1, .first = NAN,
				.last = NAN };
			nsys_name_range(s, r, text_of(s->names[open]));
		}
		w->parent = s->ranges.count - 1;
		struct nsys_event *r = &s->ranges.p[w->parent];
		r->end = w->end > r->end ? w->end : r->end;
	}
}

static int64_t common(int64_t x, int64_t y)
{
	while (y) {
		int64_t rest = x % y;
		x = y;
		y = rest;
	}
	return x;
}

/* Returns the number of runs: the greatest number that divides those of all kernels, apart from kernels that
 * ran only once before them. 1: unknown. */
static int64_t runs_of(const struct csv *c)
{
	int64_t all = 0, repeated = 0;
	for (int i = 0; i < c->sum_count; i++) {
		const struct sum *s = &c->sums[i];
		if (text_begins(s->name, "[CUDA mem"))
			continue;
		all = common(all, s->count);
		repeated = s->count > 1 ? common(repeated, s->count) : repeated;
	}
	return all > 1 ? all : repeated >= RUNS_LEAST ? repeated : 1;
}

/* Makes rows of the sums: the time of a run. */
static void sums_make(struct csv *c)
{
	struct execution *e = c->nsys.e;
	struct arena *a = c->nsys.arena;
	int64_t runs = runs_of(c);
	int room = 0;
	for (int i = 0; i < c->sum_count; i++) {
		const struct sum *s = &c->sums[i];
		bool copy = text_begins(s->name, "[CUDA memcpy");
		const char *slash = memrchr(s->name.p, '/', s->name.n);
		size_t skip = slash ? (size_t)(slash + 1 - s->name.p) : 0;
		struct text name = { s->name.p + skip, s->name.n - skip };
		if (s->count < runs && !copy) /* ran before the runs */
			continue;
		struct execution_row *r = execution_add(a, e, &room);
		r->level = copy ? LEVEL_COPY : LEVEL_KERNEL;
		r->name = text_clean(a, copy ? s->name : short_name(name));
		r->kernel = copy ? "" : text_clean(a, name);
		r->op = copy ? "memcpy" : "";
		r->ns = s->ns / (double)runs;
		r->calls = (int)(s->count / runs < INT32_MAX ? s->count / runs : INT32_MAX);
		r->calls = r->calls < 1 ? 1 : r->calls;
	}
	e->settings = runs > 1 ? arena_printf(a, "{\"runs\":%" PRId64 "}", runs) : "{\"runs_unknown\":true}";
	profile_add_gap(a, e, runs > 1 ?
		arena_printf(a, "sums of kernels: %" PRId64 " runs, by their instances", runs) :
		"sums of kernels of an unknown number of runs");
	profile_add_gap(a, e, "kernels have no order and no layer: use " REMEDY);
}

static int make(struct csv *c, const char *path, bool cut, struct error *err)
{
	struct nsys *s = &c->nsys;
	if (!s->work.count && !c->sum_count)
		return error_set(err,
			"%s: no kernels; profile with nsys profile --trace=cuda,nvtx, then " REMEDY, path);
	if (s->work.count) {
		nsys_sort_work(s);
		ranges_make(s);
		nsys_finish(s);
		if (!s->ranges.count)
			profile_add_gap(s->arena, s->e, "kernels have no layer: use " REMEDY);
	} else
		sums_make(c);
	if (c->several)
		profile_add_gap(s->arena, s->e, "work of several devices");
	if (c->odd)
		profile_add_gap(s->arena, s->e, arena_printf(s->arena, "%" PRId64 " line%s without a time",
							c->odd, c->odd == 1 ? "" : "s"));
	if (cut)
		profile_add_gap(s->arena, s->e, "truncated");
	return 0;
}

static int read_nsys_csv(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct csv c = { .nsys = { .arena = a, .e = e } };
	struct text line;
	struct lines *l = lines_open(path, options, err);
	int got = -1;
	if (!l)
		return -1;
	while ((got = lines_next(l, &line, err)) == 1) {
		read_line(&c, line);
		arena_clear(&c.scratch);
	}
	if (got == 0)
		got = make(&c, path, lines_is_cut(l), err);
	lines_close(l);
	arena_free(&c.scratch);
	free(c.sums);
	nsys_free(&c.nsys);
	return got;
}

const struct profile_reader profile_nsys_csv = {
	.kind = PROFILE_NSYS_CSV, .is = is_nsys_csv, .read = read_nsys_csv, .packed = true
};
