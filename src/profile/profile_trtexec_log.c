#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/lines.h"
#include "profile/reader.h"

/* What trtexec --dumpProfile prints: a table of layers, in one of two forms, after "[date-time] [I] ":
 *   === Profile (1055 iterations ) ===
 *      Layer   Time (ms)   Avg. Time (ms)   Median Time (ms)   Time %
 *      Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
 * The names are right of the numbers in newer versions, left of them in older ones; those before 8.4 have no
 * median. The summary has the latency: "GPU Compute Time: min = 1 ms, ... median = 2 ms ...". */
#define MS 1e6
#define COLUMNS_MOST 4 /* of numbers */
#define TITLE "=== Profile ("
#define DEVICE "Selected Device:"

struct table {
	int columns;     /* of numbers; 0: outside of the table */
	bool name_first;
	double count;    /* iterations; NaN: unknown */
};

static bool is_log(const struct profile_head *h)
{
	return head_contains(h, "TensorRT.trtexec") || head_contains(h, TITLE);
}

/* Returns the message: the line without "[07/05/2026-10:00:00] [I] ". */
static struct text message_of(struct text line)
{
	for (int i = 0; i < 2 && line.n && *line.p == '['; i++) {
		const char *end = memchr(line.p, ']', line.n);
		if (!end)
			break;
		line = (struct text){ end + 1, line.n - (size_t)(end + 1 - line.p) };
		if (line.n && *line.p == ' ')
			line = (struct text){ line.p + 1, line.n - 1 };
	}
	return line;
}

static bool begins_with(struct text t, const char *with)
{
	return t.n >= strlen(with) && !memcmp(t.p, with, strlen(with));
}

static struct text trim(struct text t)
{
	for (; t.n && *t.p == ' '; t.p++)
		t.n--;
	while (t.n && t.p[t.n - 1] == ' ')
		t.n--;
	return t;
}

static double number_of(struct text word)
{
	char text[32], *end;
	if (!word.n || word.n >= sizeof(text))
		return NAN;
	memcpy(text, word.p, word.n);
	text[word.n] = '\0';
	double value = strtod(text, &end);
	return *end ? NAN : value;
}

/* Takes a word off the end of the text, or off its begin. */
static struct text take_word(struct text *t, bool from_end)
{
	*t = trim(*t);
	size_t n = 0;
	while (n < t->n && (from_end ? t->p[t->n - 1 - n] : t->p[n]) != ' ')
		n++;
	struct text word = { from_end ? t->p + t->n - n : t->p, n };
	t->p += from_end ? 0 : n;
	t->n -= n;
	return word;
}

/* Adds a row of the table. Returns false for another line, which ends it. */
static bool add_layer(
	struct arena *a, struct execution *e, int *room, const struct table *t, struct text line)
{
	double numbers[COLUMNS_MOST];
	int numeric = 0;
	for (int i = 0; i < t->columns; i++) {
		int at = t->name_first ? t->columns - 1 - i : i;
		numbers[at] = number_of(take_word(&line, t->name_first));
		numeric += !isnan(numbers[at]);
	}
	struct text name = trim(line);
	if (!name.n || !numeric || text_is(name, "Total")) /* a number of a row may be damaged, but not all */
		return name.n > 0 && numeric;
	struct execution_row *r = execution_add(a, e, room);
	double ms = t->columns == COLUMNS_MOST ? numbers[2] : numbers[1];
	r->level = LEVEL_LAYER;
	r->name = text_clean(a, name);
	r->provider = "TensorRT";
	r->ns = profile_is_time(ms * MS) ? ms * MS : NAN;
	r->calls = 1;
	return true;
}

/* "min = 1.2 ms, max = 2 ms, mean = 1 ms, median = 1.5 ms, percentile(99%) = 2 ms" */
static double value_after(struct arena *a, struct text line, const char *word)
{
	const char *text = arena_strndup(a, line.p, line.n), *at = strstr(text, word);
	double ms = at ? strtod(at + strlen(word), NULL) : NAN;
	return profile_is_time(ms * MS) ? ms * MS : NAN;
}

static void read_summary(struct arena *a, struct execution *e, struct text line)
{
	static const char *const begins[] = { "GPU Compute Time: ", "H2D Latency: ", "D2H Latency: " };
	double *const medians[] = { &e->stats.median, &e->copy_in_ns, &e->copy_out_ns };
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (begins_with(line, begins[i]))
			*medians[i] = value_after(a, line, "median = ");
}

static void read_line(struct arena *a, struct execution *e, int *room, struct table *t, struct text line)
{
	bool heading = text_contains(line, TEXT("Time")) && text_contains(line, TEXT("Layer")) &&
		text_contains(line, TEXT("Avg."));
	if (begins_with(line, TITLE)) { /* the last one of several tables counts */
		e->row_count = t->columns = 0;
		struct text count = { line.p + strlen(TITLE), line.n - strlen(TITLE) };
		t->count = number_of(take_word(&count, false));
	}
	if (begins_with(line, DEVICE))
		e->device = text_clean(
			a, trim((struct text){ line.p + strlen(DEVICE), line.n - strlen(DEVICE) }));
	if (heading && !isnan(t->count)) {
		t->columns = text_contains(line, TEXT("Median")) ? 4 : 3;
		t->name_first = trim(line).p[0] == 'L';
	} else if (t->columns && !add_layer(a, e, room, t, line))
		t->columns = 0;
	else if (!t->columns)
		read_summary(a, e, line);
}

static int read_log(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct table t = { .count = NAN };
	struct text line;
	struct lines *l = lines_open(path, options, err);
	int got = -1, room = 0;
	if (!l)
		return -1;
	while ((got = lines_next(l, &line, err)) == 1)
		read_line(a, e, &room, &t, message_of(line));
	e->framework = "tensorrt";
	if (t.count > 0 && t.count < 1e15)
		e->settings = arena_printf(a, "{\"runs\":%.0f}", t.count);
	if (lines_is_cut(l))
		profile_add_gap(a, e, "truncated");
	lines_close(l);
	if (got == 0 && e->row_count == 0 && isnan(e->stats.median))
		got = error_set(
			err, "%s: has neither layers nor a latency; run trtexec with --dumpProfile", path);
	return got;
}

const struct profile_reader profile_trtexec_log = {
	.kind = PROFILE_TRTEXEC_LOG, .is = is_log, .read = read_log, .packed = true
};
