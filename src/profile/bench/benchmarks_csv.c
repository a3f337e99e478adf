/* The table (CSV) into which results of dlperf were converted: the columns' names are in its first line. */
#include "config.h"

#include "profile/bench/benchmarks_gather.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "profile/read/lines.h"

#define FIELD_MOST 128

/* Columns b0 and b1 are input[4] and input[5]. */
#define COLUMNS(_)                                                                                           \
	_(set)                                                                                               \
	_(gpu) _(cudnn) _(batch) _(api) _(algo) _(dtype) _(n) _(c) _(h) _(w) _(k) _(r) _(s) _(pad_h)         \
		_(pad_w) _(stride_h) _(stride_w) _(dil_h) _(dil_w) _(group) _(b0) _(b1) _(real_us) _(iters)  \
			_(status) _(advised_algo) _(workspace_bytes)
enum column {
#define COLUMN_ENUM(name) COLUMN_##name,
	COLUMNS(COLUMN_ENUM)
#undef COLUMN_ENUM
		COLUMN_COUNT
};
static const char *const column_names[] = {
#define COLUMN_NAME(name) #name,
	COLUMNS(COLUMN_NAME)
#undef COLUMN_NAME
};

#define FIELDS_MOST 64

struct table {
	int place[COLUMN_COUNT]; /* field of the column */
	int fields;
	struct text field[FIELDS_MOST];
};

static int split(struct text line, struct text *field)
{
	int count = 0;
	for (;;) {
		const char *comma = memchr(line.p, ',', line.n);
		size_t n = comma ? (size_t)(comma - line.p) : line.n;
		if (count == FIELDS_MOST)
			return -1;
		field[count++] = (struct text){ line.p, n };
		if (!comma)
			return count;
		line = (struct text){ comma + 1, line.n - n - 1 };
	}
}

static int read_header(struct table *t, struct text line, const char *path, struct error *err)
{
	struct text names[FIELDS_MOST];
	t->fields = split(line, names);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		t->place[i] = -1;
		for (int k = 0; k < t->fields; k++)
			if (text_is(names[k], column_names[i]))
				t->place[i] = k;
		if (t->place[i] < 0)
			return error_set(err, "%s: not a table of benchmarks: it has no column %s", path,
				column_names[i]);
	}
	return 0;
}

static struct text field(const struct table *t, enum column c)
{
	struct text f = t->field[t->place[c]];
	return f.n < FIELD_MOST ? f : (struct text){ "", 0 };
}

/* A decimal number that fills the field; NaN: another text, or none. */
static double number(const struct table *t, enum column c)
{
	struct text f = field(t, c);
	double value = 0, scale = 1;
	bool negative = f.n && f.p[0] == '-', digits = false, point = false;
	for (size_t i = negative; i < f.n; i++) {
		if (f.p[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (f.p[i] < '0' || f.p[i] > '9')
			return NAN;
		digits = true;
		value = value * 10 + (f.p[i] - '0');
		scale *= point ? 10 : 1;
	}
	return digits ? (negative ? -value : value) / scale : NAN;
}

static const char *copied(struct arena *a, struct text t)
{
	return text_clean(a, t);
}

static void benchmark_set(const struct table *t, struct scope_benchmark *s)
{
	static const enum column inputs[SCOPE_INPUTS] = { COLUMN_n, COLUMN_c, COLUMN_h, COLUMN_w, COLUMN_b0,
		COLUMN_b1 };
	struct text set = field(t, COLUMN_set);
	bool nhwc = set.n >= 4 && memcmp(set.p, "nhwc", 4) == 0;
	*s = (struct scope_benchmark){ .api = field(t, COLUMN_api),
		.dtype = field(t, COLUMN_dtype),
		.modes = field(t, COLUMN_algo),
		.filters = number(t, COLUMN_k),
		.window = { number(t, COLUMN_r), number(t, COLUMN_s) },
		.pad = { number(t, COLUMN_pad_h), number(t, COLUMN_pad_w) },
		.stride = { number(t, COLUMN_stride_h), number(t, COLUMN_stride_w) },
		.dilation = { number(t, COLUMN_dil_h), number(t, COLUMN_dil_w) },
		.group = number(t, COLUMN_group),
		.advised = number(t, COLUMN_advised_algo),
		.workspace_bytes = number(t, COLUMN_workspace_bytes),
		.math_type = NAN,
		.order = nhwc ? SCOPE_NHWC : SCOPE_NCHW,
		.before_tf32 = !field(t, COLUMN_cudnn).n || field(t, COLUMN_cudnn).p[0] < '8' };
	for (int i = 0; i < SCOPE_INPUTS; i++)
		s->input[i] = i < 6 ? number(t, inputs[i]) : NAN;
}

static void read_row(
	struct benchmarks *b, struct gather_runs *runs, struct arena *a, struct table *t, struct text line)
{
	struct benchmarks_run run = { .name = line,
		.model = "",
		.stack = "",
		.attributes = "{\"source\":\"google-benchmark\"}",
		.compute_capability = NAN };
	if (split(line, t->field) != t->fields) {
		b->entries++;
		benchmarks_leave_out(b, "a line with another number of columns than the first", line);
		return;
	}
	benchmark_set(t, &run.benchmark);
	run.ns = number(t, COLUMN_real_us) * 1e3;
	double iterations = number(t, COLUMN_iters);
	bool failed = !text_is(field(t, COLUMN_status), "ok");
	if (!failed && !(run.ns > 0 && iterations >= 1 && iterations < 0x1p48)) {
		b->entries++;
		benchmarks_leave_out(b, "a benchmark without a time", line);
		return;
	}
	run.iterations = failed ? 0 : (int64_t)iterations;
	run.failure = failed ? copied(a, field(t, COLUMN_status)) : NULL;
	if (field(t, COLUMN_gpu).n && field(t, COLUMN_cudnn).n) {
		char *model = text_clean(a, field(t, COLUMN_gpu));
		for (char *at = model; *at; at++)
			*at = *at == '_' ? ' ' : *at; /* the table was made from names of folders */
		run.model = model;
		run.stack = arena_printf(a, "cuDNN %s, SCOPE", copied(a, field(t, COLUMN_cudnn)));
	}
	gather_runs_add(runs, &run);
}

/* A part is what was one file of dlperf: a set, GPU and batch. */
static bool is_next_part(const struct table *t, struct arena *a, const char **part)
{
	const char *now = arena_printf(a, "%.*s,%.*s,%.*s", (int)field(t, COLUMN_set).n,
		field(t, COLUMN_set).p, (int)field(t, COLUMN_gpu).n, field(t, COLUMN_gpu).p,
		(int)field(t, COLUMN_batch).n, field(t, COLUMN_batch).p);
	bool is = strcmp(now, *part) != 0;
	*part = now;
	return is;
}

int benchmarks_read_csv(
	const char *path, const struct profile_options *options, struct benchmarks *b, struct error *err)
{
	struct lines *l = lines_open(path, options, err);
	struct arena row[2] = { 0 }; /* of this line and the one before, in turn */
	struct table t = { 0 };
	struct text line;
	const char *part = "";
	int got = l ? lines_next(l, &line, err) : -1, turn = 0;
	if (got == 1 && read_header(&t, line, path, err))
		got = -1;
	struct gather_runs *runs = gather_runs_new(b);
	while (got == 1 && (got = lines_next(l, &line, err)) == 1) {
		turn = !turn;
		arena_clear(&row[turn]);
		if (split(line, t.field) == t.fields && is_next_part(&t, &row[turn], &part))
			gather_runs_part(runs);
		else
			part = arena_strndup(&row[turn], part, strlen(part));
		read_row(b, runs, &row[turn], &t, line);
	}
	gather_runs_end(runs);
	b->gap = l && lines_is_cut(l) ? arena_printf(&b->arena, "the last line is cut") : "";
	arena_free(&row[0]);
	arena_free(&row[1]);
	lines_close(l);
	return got < 0 ? -1 : 0;
}
