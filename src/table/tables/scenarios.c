/* The table of named scenarios: totals, and how each differs from the first. */
#include "config.h"

#include "table/print.h"
#include "table/tables/scenarios.h"
#include "table/tables/total.h"

#include <math.h>
#include <string.h>

static const struct table_column begin[] = {
	{ "batch", "", TABLE_INDEX, IN_CSV },
	{ "dtype", "", TABLE_TEXT, IN_CSV },
	{ "name", "", TABLE_TEXT, IN_DATA },
	{ "scenario", "scenario", TABLE_NAME, IN_SHOWN },
	{ "why", "", TABLE_TEXT, IN_JSON },
	{ "device", "", TABLE_TEXT, IN_JSON },
	{ "stack", "", TABLE_TEXT, IN_JSON },
	{ "scenario.batch", "", TABLE_INDEX, IN_JSON },
	{ "scenario.dtype", "", TABLE_TEXT, IN_JSON },
	{ "scenario.what_if", "", TABLE_JSON, IN_JSON },
	{ "scenario.dims", "", TABLE_TEXT, IN_JSON },
	{ "items_per_s", "", TABLE_QUANTITY, IN_JSON },
	{ "memory_bytes", "", TABLE_BYTES, IN_JSON },
	{ "bound_ns", "", TABLE_NS, IN_CSV },
	{ "lo_ns", "", TABLE_NS, IN_CSV },
	{ "hi_ns", "", TABLE_NS, IN_CSV },
};
static const struct table_column end[] = {
	{ "ratio", "change", TABLE_CHANGE, IN_ALL },
	{ "verdict", "", TABLE_TEXT, IN_CSV },
	{ "verdict", "", TABLE_TEXT, IN_JSON },
	{ "verdict", "verdict", TABLE_TEXT, IN_SHOWN },
	{ "batch", "batch", TABLE_INDEX, IN_SHOWN },
	{ "type", "type", TABLE_TEXT, IN_SHOWN },
	{ "complete", "", TABLE_BOOL, IN_DATA },
	{ "estimated", "", TABLE_BOOL, IN_DATA },
	{ "unmeasured", "", TABLE_INDEX, IN_DATA },
	{ "what_if", "", TABLE_TEXT, IN_CSV },
	{ "device", "", TABLE_TEXT, IN_CSV },
	{ "dims", "", TABLE_TEXT, IN_CSV },
	{ "why", "", TABLE_TEXT, IN_CSV },
	{ "what_ifs", "what-ifs", TABLE_TEXT, IN_SHOWN },
};

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

bool scenarios_per_item(const struct scenario_rows *r)
{
	int64_t batch = -1;
	bool all = true, differ = false;
	for (int i = 0; i < r->count; i++) {
		const struct scenario_row *row = &r->rows[i];
		if (row->why)
			continue;
		all &= row->batch > 0;
		differ |= batch >= 0 && row->batch != batch;
		batch = row->batch;
	}
	return differ && all;
}

/* The what-ifs of a row, its device if it is another one, what it lacks. */
static const char *words_of(struct arena *a, const struct scenario_row *row, const char *device)
{
	bool other = strcmp(row->device, device) != 0;
	return arena_printf(a, "%s%s%s%s", *row->what_ifs ? row->what_ifs : "no what-ifs",
		other ? "  on " : "", other ? row->device : "",
		row->unmeasured ? arena_printf(a, "  (%d unmeasured)", row->unmeasured) : "");
}

static void name_fill(struct table *t, const struct scenario_row *row)
{
	bool whole = !row->why;
	table_number(t, whole && row->batch ? (double)row->batch : NAN, "");
	table_text(t, whole ? row->type : NULL);
	table_text(t, row->name);
	table_text(t, row->name ? row->name : "(as given)");
	table_text(t, row->why);
}

static void scenario_fill(struct table *t, const struct scenario_row *row)
{
	const struct sweep_point *p = &row->point;
	table_text(t, known(row->device));
	table_text(t, known(row->stack));
	table_number(t, row->batch ? (double)row->batch : NAN, "");
	table_text(t, row->type);
	table_json(t, report_json_names(row->what_ifs));
	table_text(t, known(row->dims));
	table_number(t, p->items_per_s, "");
	table_number(t, p->memory_bytes, "");
	table_number(t, p->bound_ns, "");
	table_number(t, p->guess ? NAN : p->lo_ns, "");
	table_number(t, p->guess ? NAN : p->hi_ns, "");
	table_number(t, p->total_ns, sweep_mark(p));
	table_shown(t, NAN, sweep_interval(arena_alloc(&t->arena, STR_QUANTITY), p));
}

/* The difference to the first row, which shows none. */
static void change_fill(struct table *t, const struct sweep_change *c, const char *guess, bool first)
{
	char text[STR_QUANTITY];
	const char *mark = c->diff_ns > 0 ? "+" : c->diff_ns < 0 ? "-" : "";
	table_shown(t, c->diff_ns, first ? "" : isnan(c->diff_ns) ? "-" :
		arena_printf(&t->arena, "%s%s%s", guess, mark, str_duration(text, fabs(c->diff_ns))));
	if (first || isnan(c->ratio))
		table_shown(t, c->ratio, "");
	else
		table_number(t, c->ratio, guess);
	table_text(t, diff_verdict_name(c->verdict));
	table_text(t, diff_verdict_name(c->verdict));
	table_text(t, first ? "" : diff_verdict_name(c->verdict));
}

static void row_fill(struct table *t, const struct scenario_row *row, const struct scenario_row *first,
	bool per_item)
{
	const struct sweep_point *p = &row->point;
	table_row(t, 0, 0);
	name_fill(t, row);
	scenario_fill(t, row);
	struct sweep_change change = sweep_change_of(&first->point, p, per_item);
	change_fill(t, &change, p->estimated || first->point.estimated ? "~" : "", row == first);
	table_number(t, row->batch ? (double)row->batch : NAN, "");
	table_text(t, row->type);
	table_number(t, p->complete, "");
	table_number(t, p->estimated, "");
	table_number(t, row->unmeasured, "");
	table_text(t, row->what_ifs);
	table_text(t, row->device);
	table_text(t, row->dims);
	table_skip(t, 1);
	table_text(t, words_of(&t->arena, row, first->device));
	total_cells(t, p);
}

/* A row that cannot be analysed: why, in its last text. */
static void why_fill(struct table *t, const struct scenario_row *row)
{
	table_row(t, ROW_BRIEF, 0);
	name_fill(t, row);
	table_skip(t, 12);
	table_shown(t, NAN, "");
	table_shown(t, NAN, "");
	table_shown(t, NAN, "");
	table_text(t, diff_verdict_name(DIFF_UNKNOWN));
	table_skip(t, 1);
	table_text(t, "");
	table_shown(t, NAN, "");
	table_text(t, "");
	table_skip(t, 6);
	table_text(t, row->why);
	table_text(t, row->why);
}

void scenarios_table(struct table *t, const struct scenario_rows *r)
{
	int gaps = 0, guessed = 0; /* guessed: on a described device, where nothing is measured */
	bool estimated = false, per_item = scenarios_per_item(r);
	const struct table_column middle[] = {
		{ "total", r->rows[0].point.guess ? "estimate" : "bound", TABLE_NS, IN_SHOWN | IN_ALWAYS },
		{ "interval", "+-", TABLE_SHARE, IN_SHOWN },
		{ "diff_ns", per_item ? "diff/item" : "diff", TABLE_NS, IN_ALL },
	};
	TABLE_COLUMNS(t, begin);
	TABLE_COLUMNS(t, middle);
	TABLE_COLUMNS(t, end);
	total_columns(t);
	for (int i = 0; i < r->count; i++) {
		const struct scenario_row *row = &r->rows[i];
		if (row->why)
			why_fill(t, row);
		else
			row_fill(t, row, &r->rows[0], per_item);
		gaps += !row->why && !row->point.complete && !row->point.guess;
		guessed += !row->why && !row->point.complete && row->point.guess;
		estimated |= !row->why && row->point.estimated;
	}
	table_note(t, "%s", "");
	if (estimated)
		table_note(t, "~  contains estimates");
	if (gaps)
		table_note(t, "%d of %d have layers without a result (>=: at least): run bench -w NAME "
			"first, or give times with --assume", gaps, r->count);
	if (guessed)
		table_note(t, "%d of %d have layers without an estimate on their device (>=: at least): use "
			"another -t, or give times with --assume", guessed, r->count);
}
