/* The view of scenarios beside each other, on one device or several. */
#include "config.h"

#include "ui/model/beside.h"
#include "ui/model/page.h"
#include "ui/views/view.h"

#include "session/scenarios.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The present scenario, on the present device and on those that are marked, then the named ones, each beside
 * one of them. */
struct scenario_line {
	const struct config_scenario *one; /* NULL: the present */
	const struct session_device *device; /* a marked one; NULL: the present */
	struct scenario_total total;
	const char *what_ifs; /* as the status line names them */
	enum dtype dtype;
	bool present;
};

/* Columns as wide as their texts; those that do not fit are below, of the selected row. */
enum scenario_cell { CELL_BOUND, CELL_SPREAD, CELL_DELTA, CELL_GAPS, CELL_BATCH, CELL_TYPE,
	CELL_WHAT_IFS, CELL_DEVICE, CELL_STACK, CELL_COUNT };

static const struct {
	const char *name;
	bool right;
} scenario_cells[CELL_COUNT] = { [CELL_BOUND] = { "total", true }, [CELL_SPREAD] = { "\u00b1", true },
	[CELL_DELTA] = { "to the present", true }, [CELL_GAPS] = { "gaps", false },
	[CELL_BATCH] = { "batch", true }, [CELL_TYPE] = { "type", false },
	[CELL_WHAT_IFS] = { "what-ifs", false }, [CELL_DEVICE] = { "device", false },
	[CELL_STACK] = { "stack", false } };

struct scenarios {
	struct arena arena;
	struct scenario_line *lines;
	int count;
	uint64_t generation;
	int known; /* scenarios of the configuration at the last reading */
	int base;  /* row with which the others are compared; 0: the present */
	int selected;
	int name, columns[CELL_COUNT]; /* of the names, of each cell; 0: the cell is empty in all rows */
	int shown;            /* cells before this one are in the table */
};

#define NAME_AT 3
#define NAME_LEAST 8
#define GAP 2
#define FOOT_LEAST 6 /* rows of a view that has texts below */

static const char *line_name(const struct scenario_line *l)
{
	return l->one ? l->one->name : l->device ? l->device->key : "present";
}

static void line_fill(
	struct app *app, struct scenarios *s, struct scenario_line *l, const struct config_scenario *one,
	const struct session_device *device)
{
	struct session *session = app->session;
	struct scenario with;
	char words[SCENARIO_TEXT_SIZE];
	struct error err;
	*l = (struct scenario_line){ .one = one,
		.device = device, .dtype = session_dtype(session) };
	struct config_scenario present = { .what_if =
						   scenarios_what_ifs(session_scenario(session), &s->arena) };
	l->total = device ? session_beside_total(session, device, &s->arena)
			  : scenarios_total(session, one ? one : &present, &s->arena);
	l->present = device ? false : !one || scenarios_is_present(session, one);
	if (one && one->has_dtype)
		l->dtype = one->dtype;
	bool known = !scenarios_what_ifs_of(session, one ? one : &present, &with, &err);
	l->what_ifs = arena_printf(
		&s->arena, "%s", known ? scenario_text(&with, words, sizeof(words)) : one->what_if);
}

static void scenarios_close(struct app *app, void *state)
{
	(void)app;
	arena_free(&((struct scenarios *)state)->arena);
}

/* "-403 us -47.6%", both with `~` if one of them has estimates, per item if the batches differ; "unclear" if
 * the intervals overlap; "" if one of them is not complete. */
static const char *delta_text(struct app *app, const struct scenario_line *l, const struct scenario_line *now)
{
	const struct sweep_point *a = &now->total.point, *b = &l->total.point;
	char text[STR_QUANTITY];
	if (now->total.why || l->total.why || !a->complete || !b->complete)
		return "";
	bool per_item = a->batch > 0 && b->batch > 0 && a->batch != b->batch;
	struct sweep_change change = sweep_change_of(a, b, per_item);
	if (change.verdict == DIFF_SAME)
		return "same";
	const char *mark = a->estimated || b->estimated ? "~" : "";
	return arena_printf(&app->scratch, "%s%s%s%s %s%+.1f%%%s", mark, change.diff_ns > 0 ? "+" : "-",
		str_duration(text, fabs(change.diff_ns)), per_item ? "/item" : "", mark,
		100 * (change.ratio - 1), change.verdict == DIFF_UNCLEAR ? " unclear" : "");
}

static const char *cell_text(struct app *app, const struct scenarios *s, int row, enum scenario_cell cell)
{
	const struct scenario_line *l = &s->lines[row];
	const struct sweep_point *p = &l->total.point;
	struct arena *a = &app->scratch;
	char time[STR_QUANTITY];
	const char *delta;
	switch (cell) {
	case CELL_BOUND:
		return l->total.why ? "-"
			: arena_printf(a, "%s%s", sweep_mark(p), str_duration(time, p->total_ns));
	case CELL_SPREAD: return l->total.why ? "" : arena_printf(a, "%s", sweep_interval(time, p));
	case CELL_DELTA:
		delta = row == s->base || l->total.why ? "" : delta_text(app, l, &s->lines[s->base]);
		return row != s->base && !l->total.why && !*delta ? "unknown" : delta;
	case CELL_GAPS:
		return l->total.unmeasured ? arena_printf(a, "%d unmeasured", l->total.unmeasured) :
			l->total.without ? arena_printf(a, "%d without a cost", l->total.without) : "";
	case CELL_BATCH: return p->batch ? arena_printf(a, "%lld", (long long)p->batch) : "";
	case CELL_TYPE: return session_type_name(app->session, l->dtype);
	case CELL_WHAT_IFS: return *l->what_ifs ? app_clean(app, text_of(l->what_ifs)) : "none";
	case CELL_DEVICE: return l->device ? app_clean(app, text_of(l->device->model)) : "";
	default: return l->device ? app_clean(app, text_of(l->device->stack)) : "";
	}
}

static const char *cell_heading(struct app *app, const struct scenarios *s, enum scenario_cell cell)
{
	if (cell != CELL_DELTA || !s->base)
		return scenario_cells[cell].name;
	return arena_printf(&app->scratch, "to %s", app_clean(app, text_of(line_name(&s->lines[s->base]))));
}

/* A name is cut where it takes more than a third of the screen, other cells are whole or below. */
static void columns_renew(struct app *app, struct scenarios *s, int width)
{
	s->name = NAME_LEAST;
	for (int i = 0; i < s->count; i++) {
		int n = canvas_columns(app_clean(app, text_of(line_name(&s->lines[i]))));
		s->name = n > s->name ? n : s->name;
	}
	s->name = s->name > width / 3 && width / 3 > NAME_LEAST ? width / 3 : s->name;
	int x = NAME_AT + s->name;
	s->shown = CELL_COUNT;
	for (int c = 0; c < CELL_COUNT; c++) {
		s->columns[c] = 0;
		for (int i = 0; i < s->count; i++) {
			int n = canvas_columns(cell_text(app, s, i, c));
			s->columns[c] = n > s->columns[c] ? n : s->columns[c];
		}
		int heading = canvas_columns(cell_heading(app, s, c));
		if (s->columns[c] && s->columns[c] < heading)
			s->columns[c] = c == CELL_DELTA && heading > width / 3 ? width / 3 : heading;
		x += s->columns[c] ? GAP + s->columns[c] : 0;
		if (x > width && s->shown == CELL_COUNT)
			s->shown = c;
	}
}

static int scenarios_rows(struct app *app, void *state, int width)
{
	struct scenarios *s = state;
	const struct config *c = session_given(app->session);
	int devices = app->beside.count;
	if (s->lines && s->generation == app->generation && s->known == c->scenario_count) {
		columns_renew(app, s, width); /* another base, another width */
		return s->count;
	}
	arena_free(&s->arena);
	s->count = 1 + devices + c->scenario_count;
	s->lines = ARENA_ARRAY(&s->arena, struct scenario_line, s->count);
	for (int i = 0; i < s->count; i++)
		line_fill(app, s, &s->lines[i], i > devices ? &c->scenarios[i - devices - 1] : NULL,
			i && i <= devices ? &app->beside.list[i - 1] : NULL);
	s->base = s->base < s->count ? s->base : 0;
	s->generation = app->generation;
	s->known = c->scenario_count;
	columns_renew(app, s, width);
	return s->count;
}

static int hidden_count(const struct scenarios *s)
{
	int n = 0;
	for (int c = s->shown; c < CELL_COUNT; c++)
		n += s->columns[c] > 0;
	return n;
}

static void cell_draw(struct area line, int x, int columns, enum scenario_cell cell, enum style style,
	const char *text)
{
	if (scenario_cells[cell].right)
		canvas_fit_right(line, x, 0, columns, style, text);
	else
		canvas_fit(line, x, 0, columns, style, text);
}

static void scenarios_heading(struct app *app, void *state, struct area line)
{
	const struct scenarios *s = state;
	int x = NAME_AT + s->name, hidden = hidden_count(s);
	canvas_text(line, NAME_AT, 0, STYLE_DIM, "scenario");
	for (int c = 0; c < s->shown; c++) {
		if (!s->columns[c])
			continue;
		cell_draw(line, x + GAP, s->columns[c], c, STYLE_DIM, cell_heading(app, s, c));
		x += GAP + s->columns[c];
	}
	const char *more = arena_printf(&app->scratch, "+%d below", hidden);
	if (x + GAP + canvas_columns(more) > line.width)
		more = arena_printf(&app->scratch, "+%d", hidden);
	if (hidden && x + 1 + canvas_columns(more) <= line.width)
		canvas_fit_right(line, x + 1, 0, line.width - x - 1, STYLE_DIM, more);
}

static enum style cell_style(const struct scenario_line *l, enum scenario_cell cell, const char *text)
{
	if (cell == CELL_DELTA)
		return text[*text == '~'] == '-' ? STYLE_GOOD : STYLE_NORMAL;
	if (cell == CELL_BOUND)
		return STYLE_NORMAL;
	return cell == CELL_GAPS && !l->total.point.complete ? STYLE_WARN : STYLE_DIM;
}

static void scenarios_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct scenarios *s = state;
	const struct scenario_line *l = &s->lines[row];
	int x = NAME_AT + s->name;
	(void)above;
	if (l->present)
		view_draw_in_use(line);
	if (row == s->base)
		canvas_put(line, 2, 0, STYLE_BOLD, '=');
	canvas_fit(line, NAME_AT, 0, s->name, l->present ? STYLE_GOOD : STYLE_BOLD,
		app_clean(app, text_of(line_name(l))));
	for (int c = 0; c < s->shown && (!l->total.why || c == CELL_BOUND); c++) {
		const char *text = cell_text(app, s, row, c);
		if (!s->columns[c])
			continue;
		cell_draw(line, x + GAP, s->columns[c], c, cell_style(l, c, text), text);
		x += GAP + s->columns[c];
	}
	const char *switches = arena_printf(&app->scratch, ": %s switches", key_named("open"));
	if (l->total.why)
		canvas_fit(line, x + GAP, 0, line.width - x - GAP,
			l->total.elsewhere ? STYLE_DIM : STYLE_BAD,
			app_clean(app, text_of(arena_printf(&app->scratch, "%s%s", l->total.why,
				l->total.elsewhere ? switches : ""))));
}

/* ---- the cells of the selected row that have no column ---- */

static int scenarios_foot(struct app *app, void *state, int height)
{
	(void)app;
	return hidden_count(state) && height >= FOOT_LEAST ? 2 : 0;
}

static void scenarios_draw_foot(struct app *app, void *state, struct area a)
{
	const struct scenarios *s = state;
	const char *text = "";
	if (s->selected >= s->count)
		return;
	if (s->lines[s->selected].total.why)
		text = arena_printf(&app->scratch, "  %s",
			app_clean(app, text_of(s->lines[s->selected].total.why)));
	for (int c = s->shown; c < CELL_COUNT && !s->lines[s->selected].total.why; c++) {
		const char *cell = cell_text(app, s, s->selected, c);
		if (*cell)
			text = arena_printf(&app->scratch, "%s  %s %s", text, scenario_cells[c].name, cell);
	}
	text = arena_printf(&app->scratch, "%s:%s", app_clean(app,
		text_of(line_name(&s->lines[s->selected]))), *text ? text : "  -");
	struct text part;
	for (int y = 0; y < a.height; y++)
		if (page_part(&text, y + 1 < a.height ? a.width - 2 : INT_MAX, &part))
			canvas_fit(a, 1, y, a.width - 1, STYLE_DIM,
				arena_strndup(&app->scratch, part.p, part.n));
}

static void scenarios_select(struct app *app, void *state, int row)
{
	(void)app;
	((struct scenarios *)state)->selected = row;
}

static const char *scenarios_row_text(struct app *app, void *state, int row)
{
	const struct scenario_line *l = &((struct scenarios *)state)->lines[row];
	char time[STR_QUANTITY];
	const char *text = app_clean(app, text_of(arena_printf(&app->scratch, "%s %s %s", line_name(l),
		str_duration(time, l->total.point.total_ns), l->total.why ? l->total.why : "")));
	for (int c = CELL_GAPS; c < CELL_COUNT; c++)
		text = arena_printf(&app->scratch, "%s %s", text, cell_text(app, state, row, c));
	return text;
}

static int scenarios_row_at_entry(struct app *app, void *state)
{
	struct scenarios *s = state;
	s->selected = 0;
	for (int i = 1 + app->beside.count; i < s->count && !s->selected; i++)
		s->selected = s->lines[i].present ? i : 0;
	return s->selected;
}

/* The device of that key, if there is one. */
static void device_use(struct app *app, const char *key)
{
	struct session_device *list;
	struct error err = ERROR_NONE;
	struct arena a = { 0 };
	int count = session_devices(app->session, &a, &list, &err), at = 0;
	while (at < count && strcmp(list[at].key, key) != 0)
		at++;
	if (at == count)
		app_note(
			app, true, "no device %s: the view devices lists them", app_clean(app, text_of(key)));
	else if (!list[at].in_use)
		app_device_choose(app, &list[at]);
	arena_free(&a);
}

static void scenario_use(struct app *app, const struct config_scenario *one)
{
	struct error err = ERROR_NONE;
	if (scenarios_take(app->session, one, &err)) {
		app->generation++;
		app_note(app, true, "%s: %s", one->name, err.text);
		return;
	}
	app->generation++;
	app_note(app, false, "scenario %s", one->name);
	if (one->device)
		device_use(app, one->device);
}

static bool scenario_save(struct app *app, const char *name)
{
	struct error err = ERROR_NONE;
	struct arena a = { 0 };
	int count;
	const struct what_if *rows = what_if_table(&count);
	struct config_scenario one = scenarios_present(app->session, &a);
	one.name = name;
	bool bad = false;
	for (int i = 0; i < count && !bad; i++)
		bad = strcmp(rows[i].name, name) == 0;
	if (bad)
		app_note(app, true, "%s is the name of a what-if; choose another", name);
	else if ((bad = config_save_scenario(session_given(app->session), &one, &err)))
		app_note(app, true, "%s", err.text);
	else
		app_note(app, false, "saved: -w %s uses it", name);
	arena_free(&a);
	app->generation++;
	return !bad;
}

/* ---- keys ---- */

enum { SCENARIO_SAVE, SCENARIO_DELETE, SCENARIO_RENAME, SCENARIO_BASE };

static const struct key_row scenarios_keys[] = {
	{ "s", REQUEST_OWN, SCENARIO_SAVE, KEYS_WHAT_IF, "save the present scenario under a name",
		.hint = "save", .name = "save" },
	{ ".", REQUEST_OWN, SCENARIO_BASE, KEYS_WHAT_IF, "compare the others with this row, or again with "
		"the present", .hint = "compare with this", .name = "base" },
	{ "X", REQUEST_OWN, SCENARIO_DELETE, KEYS_WHAT_IF, "delete a saved scenario (asks first), or "
		"remove a device's mark", .name = "delete" },
	{ "F2", REQUEST_OWN, SCENARIO_RENAME, KEYS_WHAT_IF, "rename a saved scenario",
		.name = "rename" },
	{ 0 }
};

/* The scenario that a question is about. */
static char asked[CONFIG_SCENARIO_NAME_MAX + 1];

static void scenario_delete(struct app *app)
{
	struct error err = ERROR_NONE;
	if (config_delete_scenario(session_given(app->session), asked, &err))
		app_note(app, true, "%s", err.text);
	else
		app_note(app, false, "%s is deleted", asked);
	app->generation++;
}

static bool scenario_rename(struct app *app, const char *to)
{
	struct error err = ERROR_NONE;
	if (config_rename_scenario(session_given(app->session), asked, to, &err)) {
		app_note(app, true, "%s", err.text);
		return false;
	}
	app_note(app, false, "%s is now %s", asked, to);
	app->generation++;
	return true;
}

/* Asks before a saved scenario is deleted, or for its new name. */
static bool scenario_ask(struct app *app, const struct scenario_line *l, bool deletes)
{
	if (!l->one)
		return false;
	if (!l->one->saved) {
		app_note(app, false, "%s is in %s: change it there", l->one->name,
			session_given(app->session)->path ? session_given(app->session)->path
							  : "the configuration");
		return true;
	}
	snprintf(asked, sizeof(asked), "%s", l->one->name);
	if (deletes)
		app_confirm(app, arena_printf(&app->scratch, "delete the scenario %s?", asked),
			scenario_delete);
	else
		app_ask(app, "new name: ", scenario_rename);
	return true;
}

static bool scenarios_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct scenarios *s = state;
	const struct scenario_line *l = row >= 0 && row < s->count ? &s->lines[row] : NULL;
	if (key->request == REQUEST_OWN && key->argument == SCENARIO_SAVE) {
		app_ask(app, "save the present scenario as ", scenario_save);
		return true;
	}
	if (!l || (key->request != REQUEST_OWN && key->request != REQUEST_OPEN))
		return false;
	if (key->request == REQUEST_OPEN) {
		bool opens = l->one || l->device; /* another device makes new lines */
		if (l->one)
			scenario_use(app, l->one);
		else if (l->device)
			device_use(app, l->device->key);
		return opens;
	}
	if (key->argument == SCENARIO_BASE) {
		s->base = s->base == row ? 0 : row;
		return true;
	}
	if (l->device && key->argument == SCENARIO_DELETE) {
		app_beside_toggle(app, l->device);
		return true;
	}
	return scenario_ask(app, l, key->argument == SCENARIO_DELETE);
}

/* While a planner answers. */
static int scenarios_due_ms(struct app *app, void *state)
{
	(void)state;
	app->generation += session_beside_step(app->session);
	return app->beside.count && session_beside_waits(app->session) ? 100 : -1;
}

static const struct list scenarios_list = {
	.rows = scenarios_rows,
	.heading = scenarios_heading,
	.draw_row = scenarios_draw_row,
	.row_text = scenarios_row_text,
	.row_at_entry = scenarios_row_at_entry,
	.select = scenarios_select,
	.foot = scenarios_foot,
	.draw_foot = scenarios_draw_foot,
};

const struct view view_scenarios = {
	.name = "scenarios",
	.help = "named scenarios and marked devices beside the present one; {open} switches, "
		"{scenarios.save} saves",
	.keys = "gs",
	.group = KEYS_VIEWS,
	.own = scenarios_keys,
	.state_size = sizeof(struct scenarios),
	.close = scenarios_close,
	.list = &scenarios_list,
	.request = scenarios_request,
	.due_ms = scenarios_due_ms,
	.opens = "use it",
	.own_footer = true,
};
