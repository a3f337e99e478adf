/* The view of costs by operator, scope, class and limit, from a table of the analysis. */
#include "config.h"

#include "ui/views/view.h"

#include "analyze/tables/xsp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Costs by operator type, scope, class and limit, and their distribution: a table of the analysis. */
struct groups {
	struct arena arena;
	const struct xsp_table *table; /* NULL: no analysis */
	int grouping, shown;	       /* chosen; that of the table */
	uint64_t generation;
};

/* An analysis, and the filter that shows the layers of a row; NULL: it has none. */
static const struct {
	const char *analysis, *filter;
} groupings[] = { { "by-type", "op=" }, { "by-scope", "scope=" }, { "by-class", "class=" },
	{ "by-limit", "bound=" }, { "distribution", NULL } };
#define GROUPING_COUNT ((int)(sizeof(groupings) / sizeof(groupings[0])))

#define COLUMN 10 /* width of a number, with a blank */
#define NAME_LEAST 20
#define BAR_MOST 30

static const struct xsp_analysis *analysis_named(const char *name)
{
	int count;
	const struct xsp_analysis *all = xsp_analyses(&count);
	for (int i = 0; i < count; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

/* The last row is the note, if there is one. */
static int groups_rows(struct app *app, void *state, int width)
{
	struct groups *s = state;
	struct session *session = app->session;
	(void)width;
	if (s->generation != app->generation || s->shown != s->grouping) {
		arena_free(&s->arena);
		s->generation = app->generation;
		s->shown = s->grouping;
		const struct xsp_input in = { .plan = app_plan(app),
			.bound = session_analysis(session),
			.peaks = session_peaks(session) };
		s->table = !in.plan || !in.bound
			? NULL
			: xsp_analyze(&s->arena, analysis_named(groupings[s->grouping].analysis), &in);
	}
	return s->table ? s->table->row_count + (s->table->note && *s->table->note) : 0;
}

static void groups_close(struct app *app, void *state)
{
	(void)app;
	arena_free(&((struct groups *)state)->arena);
}

static const char *cell_text(struct app *app, const struct xsp_table *t, int row, int column)
{
	const struct xsp_cell *c = xsp_cell(t, row, column);
	enum xsp_unit unit = t->analysis->columns[column].unit;
	char text[STR_QUANTITY];
	if (unit == XSP_TEXT)
		return c->text && *c->text ? app_clean(app, text_of(c->text)) : "-";
	if (isnan(c->number))
		return "-";
	const char *mark = c->estimated ? "~" : "";
	if (unit == XSP_NS)
		return arena_printf(&app->scratch, "%s%s", mark, str_duration(text, c->number));
	if (unit == XSP_SHARE)
		return arena_printf(&app->scratch, "%s%.1f%%", mark, 100 * c->number);
	return arena_printf(&app->scratch, "%s%.0f", mark, c->number);
}

/* Columns of the name: what it needs, if the others leave it; a bar takes the rest of a wide screen. */
static int name_columns(const struct xsp_table *t, int width)
{
	int rest = width - 2 - COLUMN * (t->analysis->column_count - 1), most = NAME_LEAST;
	for (int i = 0; i < t->row_count && t->analysis->columns[0].unit == XSP_TEXT; i++) {
		int n = text_columns(xsp_cell(t, i, 0)->text);
		most = n > most ? n : most;
	}
	return rest < 8 ? 8 : most < rest ? most : rest;
}

/* The column of shares that sum to 1, or -1. */
static int share_column(const struct xsp_table *t)
{
	for (int k = 0; k < t->analysis->column_count; k++)
		if (strcmp(t->analysis->columns[k].name, "share") == 0)
			return k;
	return -1;
}

static void groups_heading(struct app *app, void *state, struct area line)
{
	const struct xsp_table *t = ((struct groups *)state)->table;
	if (!t)
		return;
	(void)app;
	int name = name_columns(t, line.width), x = 1 + name;
	bool text = t->analysis->columns[0].unit == XSP_TEXT;
	(text ? canvas_fit : canvas_fit_right)(line, 1, 0, name, STYLE_DIM, t->analysis->columns[0].label);
	for (int k = 1; k < t->analysis->column_count; k++, x += COLUMN)
		canvas_fit_right(line, x, 0, COLUMN, STYLE_DIM, t->analysis->columns[k].label);
}

static void groups_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct xsp_table *t = ((struct groups *)state)->table;
	(void)above;
	if (row == t->row_count) {
		canvas_fit(line, 1, 0, line.width - 1, STYLE_WARN, app_clean(app, text_of(t->note)));
		return;
	}
	int name = name_columns(t, line.width), x = 1 + name, at = share_column(t);
	bool text = t->analysis->columns[0].unit == XSP_TEXT;
	const char *of = cell_text(app, t, row, 0);
	bool op = text && strcmp(t->analysis->columns[0].name, "type") == 0 && canvas_columns(of) > name;
	(op ? canvas_fit : text ? canvas_fit_tail : canvas_fit_right)(
		line, 1, 0, name, STYLE_NORMAL, op ? app_op_short(app, text_of(of)) : of);
	for (int k = 1; k < t->analysis->column_count; k++, x += COLUMN)
		canvas_fit_right(line, x, 0, COLUMN, STYLE_NORMAL, cell_text(app, t, row, k));
	int room = line.width - x - 2;
	double share = at < 0 ? NAN : xsp_cell(t, row, at)->number;
	if (room < 8 || isnan(share))
		return;
	int length = (int)lround(share * (room > BAR_MOST ? BAR_MOST : room));
	for (int i = 0; i < length; i++)
		canvas_put(line, x + 2 + i, 0, STYLE_ACCENT, 0x2588);
}

static const char *groups_row_text(struct app *app, void *state, int row)
{
	const struct xsp_table *t = ((struct groups *)state)->table;
	if (row == t->row_count)
		return app_clean(app, text_of(t->note));
	return cell_text(app, t, row, 0);
}

static bool groups_passes(struct app *app, void *state, int row)
{
	(void)app;
	return row == ((struct groups *)state)->table->row_count;
}

/* The layers view with the layers of the row. A word of a filter has neither blanks nor quotes. */
static bool show_layers(struct app *app, const struct groups *s, int row)
{
	const char *filter = groupings[s->shown].filter, *word = xsp_cell(s->table, row, 0)->text;
	struct error err = ERROR_NONE;
	struct terms terms;
	if (!filter || !word || !*word || strpbrk(word, " \""))
		return false;
	filter = arena_printf(&app->scratch, "%s%s", filter, word);
	if (terms_parse(&terms, filter, false, &err)) /* limited by nothing */
		return false;
	app_show_only(app, filter);
	return true;
}

static const struct key_row groups_keys[] = {
	{ ".", REQUEST_OWN, 0, KEYS_VIEWS,
		"the next grouping: operator type, scope, class, limit, distribution; "
		"4{groups.next-grouping}: the fourth",
		.counts = true, .name = "next-grouping" },
	{ 0 }
};

static bool groups_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct groups *s = state;
	bool next = key->request == REQUEST_OWN || key->request == REQUEST_UNFOLD;
	if (next || key->request == REQUEST_FOLD) {
		s->grouping = app->count ? (app->count - 1) % GROUPING_COUNT
			: (s->grouping + (next ? 1 : GROUPING_COUNT - 1)) % GROUPING_COUNT;
		app_note(app, false, "%s; %s or %s: the next",
			analysis_named(groupings[s->grouping].analysis)->title,
			key_named("groups.next-grouping"), key_named("right"));
		return true;
	}
	if (key->request != REQUEST_OPEN || row < 0 || !s->table || row >= s->table->row_count)
		return false;
	return show_layers(app, s, row);
}

static const struct list groups_list = {
	.rows = groups_rows,
	.heading = groups_heading,
	.draw_row = groups_draw_row,
	.row_text = groups_row_text,
	.passes = groups_passes,
};

const struct view view_groups = {
	.name = "groups",
	.help = "costs by operator type, scope, class or limit, and their distribution; {open} shows the "
		"layers of a row, the costliest first",
	.keys = "gy",
	.group = KEYS_VIEWS,
	.own = groups_keys,
	.state_size = sizeof(struct groups),
	.close = groups_close,
	.list = &groups_list,
	.request = groups_request,
	.opens = "its layers",
};
