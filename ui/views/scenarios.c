#include "config.h"

#include "ui/model/beside.h"
#include "ui/views/view.h"

#include "session/scenarios.h"

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

struct scenarios {
	struct arena arena;
	struct scenario_line *lines;
	int count;
	uint64_t generation;
	int known; /* scenarios of the configuration at the last reading */
	int base;  /* row with which the others are compared; 0: the present */
};

#define NAME_AT 3
#define NAME_LEAST 12
#define NAME_MOST CONFIG_SCENARIO_NAME_MAX

static const char *line_name(const struct scenario_line *l)
{
	return l->one ? l->one->name : l->device ? l->device->key : "present";
}

static int name_columns(const struct scenarios *s, int width)
{
	int most = NAME_LEAST;
	for (int i = 1; i < s->count; i++) {
		int n = canvas_columns(line_name(&s->lines[i]));
		most = n > most ? n : most;
	}
	int room = width - 60; /* of the other columns, and some what-ifs */
	return most < room ? most : room < NAME_LEAST ? NAME_LEAST : room;
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

static int scenarios_rows(struct app *app, void *state, int width)
{
	struct scenarios *s = state;
	const struct config *c = session_given(app->session);
	int devices = app->beside.count;
	(void)width;
	if (s->lines && s->generation == app->generation && s->known == c->scenario_count)
		return s->count;
	arena_free(&s->arena);
	s->count = 1 + devices + c->scenario_count;
	s->lines = ARENA_ARRAY(&s->arena, struct scenario_line, s->count);
	for (int i = 0; i < s->count; i++)
		line_fill(app, s, &s->lines[i], i > devices ? &c->scenarios[i - devices - 1] : NULL,
			i && i <= devices ? &app->beside.list[i - 1] : NULL);
	s->base = s->base < s->count ? s->base : 0;
	s->generation = app->generation;
	s->known = c->scenario_count;
	return s->count;
}

static void scenarios_close(struct app *app, void *state)
{
	(void)app;
	arena_free(&((struct scenarios *)state)->arena);
}

static void scenarios_heading(struct app *app, void *state, struct area line)
{
	int x = NAME_AT + name_columns(state, line.width) + 1;
	canvas_text(line, NAME_AT, 0, STYLE_DIM, "scenario");
	canvas_fit_right(line, x, 0, 10, STYLE_DIM, "bound");
	canvas_fit_right(line, x + 11, 0, 6, STYLE_DIM, "\u00b1");
	const struct scenarios *s = state;
	const char *base = s->base && s->base < s->count ? line_name(&s->lines[s->base]) : "the present";
	canvas_fit_right(line, x + 18, 0, 21, STYLE_DIM,
		arena_printf(&app->scratch, "to %s", app_clean(app, text_of(base))));
	canvas_fit(line, x + 41, 0, line.width - x - 41, STYLE_DIM, "batch, type, what-ifs");
}

/* "-403 us -47.6%", with `~` if one of them has estimates, per item if the batches differ; "" if one of them
 * is not complete. */
static const char *delta_text(struct app *app, const struct scenario_line *l, const struct scenario_line *now)
{
	const struct sweep_point *a = &now->total.point, *b = &l->total.point;
	char text[STR_QUANTITY];
	if (now->total.why || l->total.why || !a->complete || !b->complete)
		return "";
	bool per_item = a->batch > 0 && b->batch > 0 && a->batch != b->batch;
	double from = per_item ? a->bound_ns / (double)a->batch : a->bound_ns,
	       to = per_item ? b->bound_ns / (double)b->batch : b->bound_ns;
	if (to == from)
		return "same";
	return arena_printf(&app->scratch, "%s%s%s%s %+.1f%%", a->estimated || b->estimated ? "~" : "",
		to > from ? "+" : "-",
		str_duration(text, fabs(to - from)), per_item ? "/item" : "", 100 * (to / from - 1));
}

static const char *interval_text(struct app *app, const struct sweep_point *p)
{
	double half = (p->hi_ns - p->lo_ns) / 2 / p->bound_ns;
	return isnan(half) ? "" : arena_printf(&app->scratch, "%.*f%%", half < 0.0995 ? 1 : 0, 100 * half);
}

/* "8 bf16 fusion,parallel  3 unmeasured"; of another device its name. */
static const char *what_text(struct app *app, const struct scenario_line *l)
{
	const struct scenario_total *t = &l->total;
	struct arena *a = &app->scratch;
	const char *device = l->device ? app_clean(app, text_of(arena_printf(a, "%s%s%s  ", l->device->model,
		*l->device->stack ? ", " : "", l->device->stack))) : "";
	const char *gap = t->unmeasured ? arena_printf(a, "%d unmeasured  ", t->unmeasured) :
		t->without ? arena_printf(a, "%d without a cost  ", t->without) : "";
	return arena_printf(a, "%s%s%s%s %s", gap, device,
		t->point.batch ? arena_printf(a, "%lld ", (long long)t->point.batch) : "",
		dtype_name(l->dtype), *l->what_ifs ? l->what_ifs : "no what-ifs");
}

static void scenarios_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct scenarios *s = state;
	const struct scenario_line *l = &s->lines[row];
	const struct sweep_point *p = &l->total.point;
	int name = name_columns(s, line.width), x = NAME_AT + name + 1;
	char time[STR_QUANTITY];
	(void)above;
	if (l->present)
		view_draw_in_use(line);
	if (row == s->base)
		canvas_put(line, 2, 0, STYLE_BOLD, '=');
	canvas_fit(line, NAME_AT, 0, name, l->present ? STYLE_GOOD : STYLE_BOLD,
		app_clean(app, text_of(line_name(l))));
	if (l->total.why) {
		canvas_fit_right(line, x, 0, 10, STYLE_NORMAL, "-");
		canvas_fit(line, x + 12, 0, line.width - x - 12, l->total.elsewhere ? STYLE_DIM : STYLE_BAD,
			app_clean(app,
				text_of(arena_printf(&app->scratch, "%s%s", l->total.why,
					l->total.elsewhere ? ": Enter switches" : ""))));
		return;
	}
	const char *mark = sweep_mark(p);
	canvas_fit_right(line, x, 0, 10, STYLE_NORMAL,
		arena_printf(&app->scratch, "%s%s", mark, str_duration(time, p->bound_ns)));
	canvas_fit_right(line, x + 11, 0, 6, STYLE_DIM, interval_text(app, p));
	const char *delta = row != s->base ? delta_text(app, l, &s->lines[s->base]) : "";
	canvas_fit_right(line, x + 18, 0, 21, *(delta + (*delta == '~')) == '-' ? STYLE_GOOD : STYLE_NORMAL,
		row != s->base && !*delta ? "unknown" : delta);
	canvas_fit(line, x + 41, 0, line.width - x - 41, !p->complete ? STYLE_WARN : STYLE_DIM,
		what_text(app, l));
}

static const char *scenarios_row_text(struct app *app, void *state, int row)
{
	const struct scenario_line *l = &((struct scenarios *)state)->lines[row];
	char time[STR_QUANTITY];
	return app_clean(app,
		text_of(arena_printf(&app->scratch, "%s %s %s %s", line_name(l),
			str_duration(time, l->total.point.bound_ns), what_text(app, l),
			l->total.why ? l->total.why : "")));
}

static int scenarios_row_at_entry(struct app *app, void *state)
{
	const struct scenarios *s = state;
	for (int i = 1 + app->beside.count; i < s->count; i++)
		if (s->lines[i].present)
			return i;
	return 0;
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
	{ "X", REQUEST_OWN, SCENARIO_DELETE, KEYS_WHAT_IF, "delete a saved scenario, after a question; of a "
		"marked device: remove its mark", .name = "delete" },
	{ "F2", REQUEST_OWN, SCENARIO_RENAME, KEYS_WHAT_IF, "give a saved scenario another name",
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

const struct view view_scenarios = {
	.name = "scenarios",
	.help = "named scenarios and marked devices beside the present one; Enter switches, s saves",
	.keys = "gs",
	.group = KEYS_VIEWS,
	.own = scenarios_keys,
	.state_size = sizeof(struct scenarios),
	.close = scenarios_close,
	.rows = scenarios_rows,
	.heading = scenarios_heading,
	.draw_row = scenarios_draw_row,
	.row_text = scenarios_row_text,
	.row_at_entry = scenarios_row_at_entry,
	.request = scenarios_request,
	.due_ms = scenarios_due_ms,
	.opens = "use it",
};
