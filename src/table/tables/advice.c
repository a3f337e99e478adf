/* The tables of advice. */
#include "config.h"

#include "table/print.h"
#include "table/tables/advice.h"
#include "table/tables/total.h"

#include <math.h>

#define REACH_SHOWN 6 /* rows of devices in text */

static const struct table_column begin[] = {
	{ "rank", "#", TABLE_INDEX, IN_TEXT | IN_CSV },
	{ "kind", "", TABLE_TEXT, IN_DATA },
	{ "title", "", TABLE_TEXT, IN_DATA },
	{ "layers", "", TABLE_JSON, IN_JSON },
	{ "layers", "", TABLE_INDEX, IN_CSV },
	{ "scenario.batch", "", TABLE_INDEX, IN_JSON },
	{ "scenario.dtype", "", TABLE_TEXT, IN_JSON },
	{ "scenario.what_if", "", TABLE_JSON, IN_JSON },
	{ "advice_dtype", "", TABLE_TEXT, IN_CSV },
	{ "what_if", "", TABLE_TEXT, IN_CSV },
	{ "saves", "saves", TABLE_NS, IN_SHOWN | IN_ALWAYS },
	{ "saves_ns", "alone", TABLE_NS, IN_ALL | IN_ALWAYS },
	{ "saves_interval_ns", "", TABLE_INTERVAL, IN_JSON },
	{ "saves_after_above_ns", "", TABLE_NS, IN_DATA },
	{ "saves_after_above_interval_ns", "", TABLE_INTERVAL, IN_JSON },
	{ "lo_ns", "", TABLE_NS, IN_CSV },
	{ "hi_ns", "", TABLE_NS, IN_CSV },
};
static const struct table_column end[] = {
	{ "bound_ns", "", TABLE_NS, IN_DATA },
	{ "estimate_ns", "", TABLE_NS, IN_DATA },
	{ "measured", "", TABLE_BOOL, IN_JSON },
	{ "noisy", "", TABLE_BOOL, IN_ALL },
	{ "unclear", "", TABLE_BOOL, IN_DATA },
	{ "at_most", "", TABLE_BOOL, IN_DATA },
	{ "what", "what", TABLE_TEXT, IN_SHOWN | IN_WRAP },
	{ "how.onnxruntime", "", TABLE_TEXT, IN_JSON },
	{ "how.tensorrt", "", TABLE_TEXT, IN_JSON },
	{ "how.pytorch", "", TABLE_TEXT, IN_JSON },
};

static void saves_fill(struct table *t, const struct advice *one, const char *guess)
{
	if (one->unclear)
		table_shown(t, NAN, "unclear");
	else if (one->at_most)
		table_number(t, one->saves_after_ns, "<");
	else
		table_number(t, one->after_lo_ns, guess);
	table_number(t, one->saves_ns, guess);
	table_interval(t, one->saves_lo_ns, one->saves_hi_ns);
	table_number(t, one->saves_after_ns, "");
	table_interval(t, one->after_lo_ns, one->after_hi_ns);
	table_number(t, one->after_lo_ns, "");
	table_number(t, one->after_hi_ns, "");
}

static void row_fill(struct table *t, const struct plan *p, const struct advice_list *l, int i)
{
	const struct advice *one = &l->items[i];
	const struct advice_how *how = advice_how(one->kind);
	const char *guess = one->estimated || !l->complete ? "~" : "";
	json_t *layers = json_array();
	for (int k = 0; k < one->layer_count; k++)
		json_array_append_new(layers, json_integer(one->layers[k]));
	table_row(t, 0, 0);
	plan_cells(t, p);
	table_number(t, i + 1, "");
	table_text(t, how->name);
	table_text(t, one->title);
	table_json(t, layers);
	table_number(t, one->layer_count, "");
	table_number(t, p->batch ? (double)p->batch : NAN, "");
	table_text(t, one->dtype);
	table_json(t, report_json_names(one->what_ifs));
	table_text(t, one->dtype);
	table_text(t, one->what_ifs);
	saves_fill(t, one, guess);
	table_number(t, one->total_ns, guess);
	table_number(t, one->estimated ? NAN : one->total_ns, "");
	table_number(t, one->estimated ? one->total_ns : NAN, "");
	table_number(t, !one->estimated, "");
	table_number(t, one->noisy, "");
	table_number(t, one->unclear, "");
	table_number(t, one->at_most, "");
	table_text(t, one->title);
	for (int k = 0; k < ADVICE_FRAMEWORKS; k++)
		table_text(t, how->ways[k]);
}

void advice_table(struct table *t, const struct session *s, const struct advice_list *l)
{
	bool noisy = false, unclear = false, at_most = false;
	plan_columns(t);
	TABLE_COLUMNS(t, begin);
	table_columns(t, &(struct table_column){ "total", l->estimated ? "estimate" : "bound", TABLE_NS,
		IN_SHOWN | IN_ALWAYS }, 1);
	TABLE_COLUMNS(t, end);
	for (int i = 0; i < l->count; i++) {
		row_fill(t, session_plan(s), l, i);
		noisy |= l->items[i].noisy;
		unclear |= l->items[i].unclear;
		at_most |= l->items[i].at_most;
	}
	table_note(t, "saves: at least, after all advice above it; alone: without other advice;");
	table_note(t, "%s: with it and all above it%s", l->estimated ? "estimate" : "bound",
		!l->complete ? "; ~: layers are missing" : l->estimated ? "; ~: estimates" : "");
	if (at_most)
		table_note(t, "<: at most, a limit by the peaks, not measured");
	if (unclear)
		table_note(t, "unclear: it may save nothing");
	if (noisy)
		table_note(t, "*: noisy, measure again: bench --shaky");
}

static const struct table_column how_columns[] = {
	{ "kind", "", TABLE_TEXT, IN_SHOWN },
	{ "framework", "", TABLE_TEXT, IN_SHOWN },
	{ "way", "", TABLE_TEXT, IN_SHOWN | IN_WRAP },
};

void advice_how_table(struct table *t, const struct advice_list *l)
{
	t->title = "how";
	TABLE_COLUMNS(t, how_columns);
	for (int i = 0; i < l->count; i++) {
		const struct advice_how *how = advice_how_once(l, i);
		for (int k = 0; how && k < ADVICE_FRAMEWORKS; k++) {
			table_row(t, 0, 0);
			table_text(t, k ? "" : how->name);
			table_text(t, advice_framework_name(k));
			table_text(t, how->ways[k]);
		}
	}
}

/* The slowest devices that reach it, and the fastest one that does not. */
static void reach_hide(struct table *t, const struct reach_row *rows, int count)
{
	int first = 0;
	while (first < count && !rows[first].reached)
		first++;
	int from = first ? first - 1 : 0, to = from + REACH_SHOWN < count ? from + REACH_SHOWN : count;
	for (int i = 0; i < count; i++)
		t->rows[i].flags = i < from || i >= to ? ROW_HIDDEN : 0;
	if (count > to - from)
		table_note(t, "%d more: --json lists all", count - (to - from));
}

void reach_table(struct table *t, const struct reach_row *rows, int count, bool rate)
{
	const struct table_column columns[] = {
		{ "device", "", TABLE_TEXT, IN_JSON },
		{ "option", "device", TABLE_TEXT, IN_SHOWN },
		{ "model", "", TABLE_TEXT, IN_JSON },
		{ "batch", "batch", TABLE_INDEX, rate ? IN_ALL : IN_JSON },
		{ "total", "bound", TABLE_NS, IN_SHOWN },
		{ "bound_ns", "", TABLE_NS, IN_DATA },
		{ "estimate_ns", "", TABLE_NS, IN_DATA },
		{ "items_per_s", "items/s", TABLE_QUANTITY, rate ? IN_ALL : IN_JSON },
		{ "estimated", "", TABLE_BOOL, IN_DATA },
		{ "reached", "", TABLE_BOOL, IN_DATA },
		{ "yes", "reached", TABLE_TEXT, IN_SHOWN },
		{ "name", "", TABLE_TEXT, IN_SHOWN },
	};
	TABLE_COLUMNS(t, columns);
	bool devices = false;
	for (int i = 0; i < count; i++) {
		const struct reach_row *row = &rows[i];
		const char *device = row->device ? text_clean(&t->arena, text_of(row->device)) : NULL;
		const char *model = row->model ? text_clean(&t->arena, text_of(row->model)) : NULL;
		devices |= device != NULL;
		table_row(t, 0, 0);
		table_text(t, device && *device ? device : NULL);
		table_text(t, device ? arena_printf(&t->arena, "-d %s", device) : "");
		table_text(t, model && *model ? model : NULL);
		table_number(t, row->batch ? (double)row->batch : NAN, "");
		table_number(t, row->ns, row->estimated ? "~" : "");
		table_number(t, row->estimated ? NAN : row->ns, "");
		table_number(t, row->estimated ? row->ns : NAN, "");
		table_number(t, row->items_per_s, "");
		table_number(t, row->estimated, "");
		table_number(t, row->reached, "");
		table_text(t, row->reached ? "yes" : "no");
		table_text(t, device && model ? model : "");
	}
	if (devices)
		reach_hide(t, rows, count);
}
