#include "config.h"

#include "ui/views/view.h"

#include "session/scenarios.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The present scenario, then the named ones, each beside the present. */
struct scenario_line {
	const struct config_scenario *one; /* NULL: the present */
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
};

#define NAME_AT 3
#define NAME_LEAST 12
#define NAME_MOST CONFIG_SCENARIO_NAME_MAX

static int name_columns(const struct scenarios *s, int width)
{
	int most = NAME_LEAST;
	for (int i = 1; i < s->count; i++) {
		int n = (int)strlen(s->lines[i].one->name);
		most = n > most ? n : most;
	}
	int room = width - 60; /* of the other columns, and some what-ifs */
	return most < room ? most : room < NAME_LEAST ? NAME_LEAST : room;
}

static void line_fill(
	struct app *app, struct scenarios *s, struct scenario_line *l, const struct config_scenario *one)
{
	struct session *session = app->session;
	struct scenario with;
	char words[SCENARIO_TEXT_SIZE];
	struct error err;
	*l = (struct scenario_line){ .one = one,
		.dtype = session->current ? session->current->dtype : DTYPE_F32 };
	struct config_scenario present = { .what_if = scenarios_what_ifs(&session->scenario, &s->arena) };
	l->total = scenarios_total(session, one ? one : &present, &s->arena);
	l->present = !one || scenarios_is_present(session, one);
	if (one && one->has_dtype)
		l->dtype = one->dtype;
	bool known = !scenarios_what_ifs_of(session, one ? one : &present, &with, &err);
	l->what_ifs = arena_printf(
		&s->arena, "%s", known ? scenario_text(&with, words, sizeof(words)) : one->what_if);
}

static int scenarios_rows(struct app *app, void *state, int width)
{
	struct scenarios *s = state;
	const struct config *c = app->session->given;
	(void)width;
	if (s->lines && s->generation == app->generation && s->known == c->scenario_count)
		return s->count;
	arena_free(&s->arena);
	s->count = 1 + c->scenario_count;
	s->lines = ARENA_ARRAY(&s->arena, struct scenario_line, s->count);
	for (int i = 0; i < s->count; i++)
		line_fill(app, s, &s->lines[i], i ? &c->scenarios[i - 1] : NULL);
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
	(void)app;
	canvas_text(line, NAME_AT, 0, STYLE_DIM, "scenario");
	canvas_fit_right(line, x, 0, 10, STYLE_DIM, "bound");
	canvas_fit_right(line, x + 11, 0, 6, STYLE_DIM, "\u00b1");
	canvas_fit_right(line, x + 18, 0, 21, STYLE_DIM, "to the present");
	canvas_fit(line, x + 41, 0, line.width - x - 41, STYLE_DIM, "batch, type, what-ifs");
}

/* "-403 us -47.6%", per item if the batches differ; "" if one of them is not complete. */
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
	return arena_printf(&app->scratch, "%s%s%s %+.1f%%", to > from ? "+" : "-",
		str_duration(text, fabs(to - from)), per_item ? "/item" : "", 100 * (to / from - 1));
}

static const char *interval_text(struct app *app, const struct sweep_point *p)
{
	double half = (p->hi_ns - p->lo_ns) / 2 / p->bound_ns;
	return isnan(half) ? "" : arena_printf(&app->scratch, "%.*f%%", half < 0.0995 ? 1 : 0, 100 * half);
}

/* "8 bf16 fusion,parallel  3 unmeasured" */
static const char *what_text(struct app *app, const struct scenario_line *l)
{
	const struct scenario_total *t = &l->total;
	struct arena *a = &app->scratch;
	const char *gap = t->unmeasured ? arena_printf(a, "%d unmeasured  ", t->unmeasured) :
		t->without ? arena_printf(a, "%d without a cost  ", t->without) : "";
	return arena_printf(a, "%s%s%s %s", gap,
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
		canvas_put(line, 1, 0, STYLE_GOOD, 0x25cf);
	canvas_fit(line, NAME_AT, 0, name, l->present ? STYLE_GOOD : STYLE_BOLD,
		l->one ? l->one->name : "present");
	if (l->total.why) {
		canvas_fit_right(line, x, 0, 10, STYLE_NORMAL, "-");
		canvas_fit(line, x + 12, 0, line.width - x - 12, l->total.elsewhere ? STYLE_DIM : STYLE_BAD,
			app_clean(app,
				text_of(arena_printf(&app->scratch, "%s%s", l->total.why,
					l->total.elsewhere ? ": Enter switches" : ""))));
		return;
	}
	const char *mark = isnan(p->bound_ns) ? "" : p->complete ? p->estimated ? "~" : "" : ">=";
	canvas_fit_right(line, x, 0, 10, STYLE_NORMAL,
		arena_printf(&app->scratch, "%s%s", mark, str_duration(time, p->bound_ns)));
	canvas_fit_right(line, x + 11, 0, 6, STYLE_DIM, interval_text(app, p));
	const char *delta = row ? delta_text(app, l, &s->lines[0]) : "";
	canvas_fit_right(line, x + 18, 0, 21, *delta == '-' ? STYLE_GOOD : STYLE_NORMAL,
		row && !*delta ? "unknown" : delta);
	canvas_fit(line, x + 41, 0, line.width - x - 41, !p->complete ? STYLE_WARN : STYLE_DIM,
		what_text(app, l));
}

static const char *scenarios_row_text(struct app *app, void *state, int row)
{
	const struct scenario_line *l = &((struct scenarios *)state)->lines[row];
	char time[STR_QUANTITY];
	return app_clean(app,
		text_of(arena_printf(&app->scratch, "%s %s %s %s", l->one ? l->one->name : "present",
			str_duration(time, l->total.point.bound_ns), what_text(app, l),
			l->total.why ? l->total.why : "")));
}

static int scenarios_row_at_entry(struct app *app, void *state)
{
	const struct scenarios *s = state;
	(void)app;
	for (int i = 1; i < s->count; i++)
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
	else if ((bad = config_save_scenario(app->session->given, &one, &err)))
		app_note(app, true, "%s", err.text);
	else
		app_note(app, false, "saved: -w %s uses it", name);
	arena_free(&a);
	app->generation++;
	return !bad;
}

enum { SCENARIO_SAVE };

static const struct key_row scenarios_keys[] = { { "s", REQUEST_OWN, SCENARIO_SAVE, KEYS_WHAT_IF,
							 "save the present scenario under a name",
							 .hint = "save" },
	{ 0 } };

static bool scenarios_request(struct app *app, void *state, const struct key_row *key, int row)
{
	const struct scenarios *s = state;
	if (key->request == REQUEST_OWN) {
		app_ask(app, "save the present scenario as ", scenario_save);
		return true;
	}
	if (key->request != REQUEST_OPEN || row < 1)
		return false;
	scenario_use(app, s->lines[row].one);
	return true;
}

const struct view view_scenarios = {
	.name = "scenarios",
	.help = "named scenarios beside the present one: bound, difference; Enter switches, s saves",
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
	.opens = "use it",
};
