/* The tables of a bound: its layers and its gaps. */
#include "config.h"

#include "analyze/bound/limit.h"
#include "table/print.h"
#include "table/tables/costs.h"
#include "table/tables/total.h"

#include <math.h>

#define GAPS_SHOWN 10

static const struct table_column begin[] = {
	{ "index", "", TABLE_INDEX, IN_CSV },
	{ "number", "layer", TABLE_INDEX, IN_SHOWN | IN_ALWAYS },
	{ "name", "", TABLE_NAME, IN_CSV },
};
static const struct table_column end[] = {
	{ "op", "", TABLE_TEXT, IN_CSV },
	{ "kernel", "op", TABLE_TEXT, IN_SHOWN | IN_SPARE },
	{ "origin", "", TABLE_TEXT, IN_CSV },
	{ "cost_ns", "", TABLE_NS, IN_CSV | IN_TENTH },
	{ "lo_ns", "", TABLE_NS, IN_CSV | IN_TENTH },
	{ "hi_ns", "", TABLE_NS, IN_CSV | IN_TENTH },
	{ "preferred_ns", "", TABLE_NS, IN_CSV | IN_TENTH },
	{ "critical", "", TABLE_INDEX, IN_CSV },
	{ "slack_ns", "", TABLE_NS, IN_CSV | IN_TENTH },
	{ "algorithm", "", TABLE_TEXT, IN_CSV },
	{ "number", "", TABLE_INDEX, IN_CSV },
	{ "cost", "cost", TABLE_NS, IN_SHOWN | IN_ALWAYS },
	{ "share", "share", TABLE_SHARE, IN_SHOWN | IN_ALWAYS },
	{ "bar", "", TABLE_BAR, IN_HTML },
	{ "interval", "interval", TABLE_TEXT, IN_HTML },
	{ "by", "bound by", TABLE_TEXT, IN_SHOWN | IN_SPARE },
	{ "algorithm", "algorithm", TABLE_TEXT, IN_TEXT | IN_SPARE },
	{ "method", "source of the cost", TABLE_TEXT, IN_HTML },
};

void costs_columns(struct table *t, const char *title)
{
	plan_columns(t);
	TABLE_COLUMNS(t, begin);
	table_columns(t, &(struct table_column){ "layer", title, TABLE_NAME, IN_SHOWN }, 1);
	TABLE_COLUMNS(t, end);
}

/* How the layer's number was made. */
static const char *method(struct arena *a, const struct layer_cost *c, const int *numbers)
{
	const struct result *r = c->result;
	struct str line = { 0 };
	if (c->origin == ORIGIN_FUSED && c->group)
		return arena_printf(a, "%sruns in layer %d (%s)", c->mistrusted ? "suspect: " : "",
			numbers[c->group->layers[0]], c->group->pattern);
	if (c->folded)
		return "removed by the what-if fold";
	str_addf(&line, "%s%s%s", c->mistrusted ? "suspect: " : "", c->at_least ? "in part: " : "",
		c->origin == ORIGIN_MISSING ? "not measured" : origin_name(c->origin));
	if (r)
		str_addf(&line, ": %s %s, %lld samples, %s%s", text_clean(a, text_of(r->algorithm.api)),
			text_clean(a, text_of(r->algorithm.name)), (long long)r->stats.n,
			launch_name(r->launch), r->stats.stop == STOP_DISTURBED ? ", noisy" : "");
	else if (c->origin == ORIGIN_ESTIMATED && c->row)
		str_addf(&line, " as a %s of %s%s", calibration_kind_name(c->row->kind),
			calibration_library_name(c->row->library), c->nearest ? ", the nearest kind" : "");
	else if (c->origin == ORIGIN_ESTIMATED && !c->bodies)
		str_puts(&line, " by the peaks alone");
	if (c->why)
		str_addf(&line, ": %s", text_clean(a, text_of(c->why)));
	const char *kept = arena_strndup(a, line.p, line.n);
	str_free(&line);
	return kept;
}

static const char *limit_text(struct arena *a, const struct session *s, int layer)
{
	struct limit l = limit_of_layer(session_analysis(s), session_plan(s), session_peaks(s), layer);
	struct str text = { 0 };
	limit_describe(&l, &text);
	const char *kept = arena_strndup(a, text.p, text.n);
	str_free(&text);
	return kept;
}

static const char *interval_text(struct arena *a, const struct layer_cost *c)
{
	char lo[STR_QUANTITY], hi[STR_QUANTITY];
	return c->ns > 0 && !isnan(c->lo) && !isnan(c->hi) ?
		arena_printf(a, "%s to %s", str_duration(lo, c->lo), str_duration(hi, c->hi)) : "";
}

static void data_fill(struct table *t, const struct layer_cost *c, int number)
{
	table_text(t, origin_name(c->origin));
	table_number(t, c->ns, "");
	table_number(t, c->lo, "");
	table_number(t, c->hi, "");
	table_number(t, c->preferred_ns, "");
	table_number(t, c->critical, "");
	table_number(t, c->slack_ns, "");
	table_text(t, c->result ? c->result->algorithm.name : "");
	table_number(t, number ? number : NAN, "");
}

static void shown_fill(struct table *t, const struct session *s, int i, const int *numbers, unsigned in)
{
	const struct analysis *a = session_analysis(s);
	const struct layer_cost *c = &a->layers[i];
	const char *mark = c->mistrusted ? "!" : cost_is_guess(c) ? "~" : "";
	bool known = c->ns > 0;
	if (in != IN_HTML)
		table_number(t, c->ns, mark);
	else
		table_shown(t, c->ns, isnan(c->ns) ? "unknown" : arena_printf(&t->arena, "%s%s",
			cost_is_guess(c) ? "~" : "", table_quantity(&t->arena, TABLE_NS, c->ns)));
	table_number(t, known ? c->ns / a->sequential_ns : NAN, analysis_share_mark(a));
	table_number(t, c->ns, "");
	table_shown(t, c->ns > 0 ? c->lo : NAN, in == IN_HTML ? interval_text(&t->arena, c) : "");
	table_text(t, limit_text(&t->arena, s, i));
	table_text(t, c->result ? text_clean(&t->arena, text_of(c->result->algorithm.name)) : "");
	table_text(t, in == IN_HTML ? method(&t->arena, c, numbers) : "");
}

static void row_fill(struct table *t, const struct session *s, int i, const int *numbers, unsigned in)
{
	const struct layer_cost *c = &session_analysis(s)->layers[i];
	const struct plan_layer *l = &session_plan(s)->layers[i];
	table_row(t, 0, 0); /* frees the texts of the row before it, if they are printed one by one */
	const char *name = text_clean(&t->arena, l->name), *op = text_clean(&t->arena, l->node->op);
	plan_cells(t, session_plan(s));
	table_number(t, i, "");
	table_number(t, numbers[i] ? numbers[i] : NAN, "");
	table_text(t, name);
	table_text(t, name);
	table_text(t, op);
	table_text(t, c->group && in == IN_TEXT ? c->group->pattern : op);
	if (in == IN_CSV)
		data_fill(t, c, numbers[i]);
	else
		table_skip(t, 9);
	if (in != IN_CSV)
		shown_fill(t, s, i, numbers, in);
}

void costs_rows(struct table *t, const struct session *s, const int *layers, int count, unsigned in)
{
	struct arena kept = { 0 };
	int total, *numbers = session_numbers(session_plan(s), &kept, &total);
	for (int k = 0; k < count; k++)
		row_fill(t, s, layers ? layers[k] : k, numbers, in);
	arena_free(&kept);
}

void costs_csv(const struct session *s, const int *layers, int count, bool header, FILE *out)
{
	struct table t = { .wanted = IN_CSV };
	costs_columns(&t, "");
	table_stream_csv(&t, header, out);
	costs_rows(&t, s, layers, count, IN_CSV);
	table_stream_row(&t);
	table_free(&t);
}

/* ---- gaps ---- */

static const struct table_column gap_columns[] = {
	{ "number", "", TABLE_INDEX, IN_SHOWN },
	{ "name", "", TABLE_NAME, IN_SHOWN },
	{ "op", "", TABLE_TEXT, IN_SHOWN },
	{ "why", "", TABLE_TEXT, IN_SHOWN | IN_WRAP },
};

static bool is_gap(const struct layer_cost *c)
{
	return c->origin == ORIGIN_MISSING || c->origin == ORIGIN_UNSUPPORTED || c->at_least;
}

void gaps_table(struct table *t, const struct session *s)
{
	const struct analysis *an = session_analysis(s);
	const struct plan *p = session_plan(s);
	struct arena *a = &t->arena;
	int total, count = 0, *numbers = session_numbers(p, a, &total);
	TABLE_COLUMNS(t, gap_columns);
	for (int i = 0; i < an->layer_count; i++) {
		const struct layer_cost *c = &an->layers[i];
		const struct plan_layer *l = &p->layers[i];
		if (!is_gap(c) || count++ >= GAPS_SHOWN)
			continue;
		const char *why = c->why ? text_clean(a, text_of(c->why)) :
			c->origin == ORIGIN_MISSING ? "not measured" : "";
		table_row(t, 0, 0);
		table_number(t, numbers[i], "");
		table_text(t, text_clean(a, l->name));
		table_text(t, text_clean(a, l->node->op));
		table_text(t, arena_printf(a, "%s%s%s", c->at_least ? "in part" : origin_name(c->origin),
			*why ? ": " : "", why));
	}
	t->title = count > t->row_count ?
		arena_printf(a, "not in the total (first %d of %d):", t->row_count, count) :
		"not in the total:";
}
