/* What to do first, from the current scenario on: a row for each advice, then how each kind is done. Found
 * beside other work; until then the rows are those of before, and the heading says so. Enter shows the layers
 * of a row, Space switches on its what-ifs; T asks for a latency to reach. */
#include "config.h"

#include "session/session_advice.h"
#include "ui/model/page.h"
#include "ui/views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

struct advice_page {
	struct page page; /* its items: indexes of the list */
	struct advice_list list;
	struct arena arena; /* of the list */
	bool known;            /* the list was found, if not for this state: is_old */
	struct advice_target target; /* of the newest search */
	const struct plan *plan; /* of the list */
	uint64_t generation;   /* of the app when the newest search began */
	int64_t begun_ms;      /* when that was; 0: there was none */
};

#define TITLE_AT 38
#define NARROW_BELOW 64 /* narrower screens have only the column `saves` before the title */
#define NARROW_TITLE_AT 14
#define LEAST_APART_MS 1000

static int title_at(int width)
{
	return width < NARROW_BELOW ? NARROW_TITLE_AT : TITLE_AT;
}

/* A text, which the cursor skips. */
static void add(struct advice_page *p, int at, enum style style, const char *text)
{
	for (int i = page_wrap(&p->page, at, at, style, text); i < p->page.count; i++)
		p->page.lines[i].passed = true;
}

static void add_line(struct advice_page *p, int at, enum style style, const char *text)
{
	page_add(&p->page, at, style, text)->passed = true;
}

static void add_how(struct advice_page *p)
{
	for (int i = 0; i < p->list.count; i++) {
		const struct advice_how *how = advice_how_once(&p->list, i);
		if (!how)
			continue;
		add_line(p, 0, STYLE_NORMAL, "");
		add_line(p, 1, STYLE_HEADER, arena_printf(&p->page.arena, "How: %s", how->name));
		for (int k = 0; k < ADVICE_FRAMEWORKS; k++)
			add(p, 3, STYLE_NORMAL,
				arena_printf(&p->page.arena, "%s: %s", advice_framework_name(k),
					how->ways[k]));
	}
}

/* The target that was typed, for the present batch; ns NaN: none. */
static struct advice_target target_of(const struct app *app)
{
	struct advice_target t = { NAN, NAN };
	struct error err = ERROR_NONE;
	const struct plan *p = app_plan(app);
	if (!p || !app->target[0] || advice_target_parse(app->target, p->batch, &t, &err))
		return (struct advice_target){ NAN, NAN };
	return t;
}

/* Whether the advice reaches the target. */
static void add_target(struct advice_page *p)
{
	const struct advice_list *l = &p->list;
	char low[STR_QUANTITY], time[STR_QUANTITY], rate[STR_QUANTITY];
	const char *mark = l->estimated ? "~" : "", *to = str_duration(time, l->target_ns);
	str_duration(low, l->least_ns);
	if (!isnan(p->target.items_per_s))
		to = arena_printf(&p->page.arena, "%s/s (a batch in %s)",
			str_count(rate, p->target.items_per_s), to);
	if (isnan(l->target_ns) || isnan(l->start_ns))
		return;
	add_line(p, 0, STYLE_NORMAL, "");
	if (l->reached)
		add(p, 1, STYLE_GOOD,
			arena_printf(&p->page.arena, "Target %s: reached, with %s%s%s.", to, mark, low,
				l->count ? "" : " already"));
	else
		add(p, 1, STYLE_WARN,
			arena_printf(&p->page.arena,
				"Target %s: not reached, the lowest is %s%s: the device would have to be "
				"%.2f times as fast. `benanza advise --target` also tries other "
				"batches and devices.",
				to, mark, low, l->least_ns / l->target_ns));
}

/* Makes the lines of the page. */
static void lines_make(struct advice_page *p)
{
	int at = title_at(p->page.width);
	for (int i = 0; i < p->list.count; i++)
		p->page.lines[page_wrap(&p->page, at, at, STYLE_NORMAL, p->list.items[i].title)].item = i;
	if (!p->known)
		add_line(p, 1, STYLE_DIM, "computing...");
	else if (!p->list.count)
		add_line(p, 1, STYLE_DIM, arena_printf(&p->page.arena, "no advice: %s%s",
			advice_none(&p->list), !isnan(p->list.start_ns) ? "" :
			arena_printf(&p->page.arena, "; %s measures missing problems",
				key_named("measure"))));
	add_target(p);
	for (int i = 0; i < ADVICE_LACKS && p->known && !isnan(p->list.start_ns); i++) {
		const char *what = advice_left_out(&p->list, i, &p->page.arena);
		const char *way = i != LACKS_RESULTS ? "" :
			arena_printf(&p->page.arena, "; switch it on, then %s measures it",
				key_named("measure"));
		if (what)
			add(p, 1, STYLE_WARN,
				arena_printf(&p->page.arena, "Left out, %s%s.", what, way));
	}
	const char *overhead = p->list.count ? advice_overhead(&p->list, &p->page.arena) : NULL;
	if (overhead) {
		add_line(p, 0, STYLE_NORMAL, "");
		add(p, 1, STYLE_NORMAL, arena_printf(&p->page.arena, "Overhead: %s.", overhead));
	}
	add_how(p);
	add_line(p, 0, STYLE_NORMAL, "");
	add(p, 1, STYLE_DIM,
		"saves: at least, after all advice above it (unclear: it may save nothing; <: at most, a "
		"limit by the peaks); alone: without other advice; *: noisy; ~: estimates, or layers "
		"are missing. `benanza advise` starts from an unoptimized program.");
}

static void advice_close(struct app *app, void *state)
{
	struct advice_page *p = state;
	session_advice_cancel(app->session);
	arena_free(&p->arena);
	page_free(&p->page);
}

/* True if there is no advice yet, or it is of an earlier state and none is searched for this scenario. While
 * results arrive a search begins at most once a second. */
static bool is_due(const struct app *app, const struct advice_page *p)
{
	const struct session *s = app->session;
	bool measuring = session_queue(s) && queue_status(session_queue(s)).running;
	if (session_advice_runs(s) || (p->begun_ms && p->generation == app->generation))
		return false;
	return !p->begun_ms || session_advice_is_begun(s) || !measuring ||
		clock_ms() - p->begun_ms >= LEAST_APART_MS;
}

/* True if the rows are not those of the present state. */
static bool is_old(const struct app *app, const struct advice_page *p)
{
	return session_advice_is_begun(app->session) || p->generation != app->generation;
}

static int advice_rows(struct app *app, void *state, int width)
{
	struct advice_page *p = state;
	struct arena found = { 0 };
	if (session_advice_take(app->session, &found, &p->list)) {
		arena_free(&p->arena);
		p->arena = found;
		p->known = true;
		p->page.width = 0;
	}
	bool any = true;
	if (is_due(app, p)) {
		p->target = target_of(app);
		any = session_advice_begin(app->session, p->target.ns);
		p->generation = app->generation;
		p->begun_ms = clock_ms();
	}
	if (!any || p->plan != app_plan(app)) { /* those of another model are of no use */
		p->known = !any;
		p->list = (struct advice_list){ .start_ns = NAN };
		p->plan = app_plan(app);
		p->page.width = 0;
	}
	if (p->page.width != width) {
		page_begin(&p->page, app, width);
		lines_make(p);
	}
	return p->page.count;
}

static bool advice_work(struct app *app, void *state, int ms)
{
	(void)state;
	return session_advice_step(app->session, ms);
}

static void advice_heading(struct app *app, void *state, struct area line)
{
	const struct advice_page *p = state;
	int at = title_at(line.width);
	canvas_fit_right(line, 1, 0, 10, STYLE_HEADER, "saves");
	if (at == TITLE_AT) {
		canvas_fit_right(line, 12, 0, 10, STYLE_HEADER, "alone");
		canvas_fit_right(line, 23, 0, 11, STYLE_HEADER,
			p->list.estimated ? "estimate" : "bound");
	}
	bool old = is_old(app, state);
	canvas_fit(line, at, 0, line.width - at, STYLE_HEADER,
		old ? "what (old; computing...)" : "what");
}

static void advice_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct advice_page *p = state;
	const struct page_line *l = &p->page.lines[row];
	if (l->item >= 0) {
		const struct advice *one = &p->list.items[l->item];
		char text[STR_QUANTITY];
		bool guess = one->estimated || !p->list.complete;
		if (one->unclear)
			canvas_fit_right(line, 1, 0, 10, STYLE_DIM, "unclear");
		else if (one->at_most)
			canvas_fit_right(line, 1, 0, 10, STYLE_NORMAL, arena_printf(&app->scratch, "<%s",
				str_duration(text, one->saves_after_ns)));
		else
			canvas_fit_right(line, 1, 0, 10, STYLE_NORMAL,
				app_duration(app, one->after_lo_ns, guess));
		if (l->at == TITLE_AT) {
			canvas_fit_right(line, 12, 0, 10, STYLE_NORMAL,
				app_duration(app, one->saves_ns, guess));
			canvas_fit_right(line, 23, 0, 11, STYLE_NORMAL,
				app_duration(app, one->total_ns, guess));
		}
		if (one->noisy)
			canvas_fit(line, l->at - 2, 0, 1, STYLE_WARN, "*");
	}
	page_draw_row(app, state, row, above, line);
}

static bool target_accept(struct app *app, const char *text)
{
	struct advice_target t;
	struct error err = ERROR_NONE;
	bool all = strcmp(text, "all") == 0;
	if (!all && advice_target_parse(text, 1, &t, &err)) {
		app_note(app, true, "%s", err.text);
		return false;
	}
	snprintf(app->target, sizeof(app->target), "%s", all ? "" : text);
	app->generation++;
	return true;
}

enum { ADVICE_TARGET, ADVICE_TAKE };

static const struct key_row advice_keys[] = {
	{ "Space", REQUEST_OWN, ADVICE_TAKE, KEYS_WHAT_IF,
		"switch on the what-ifs of the advice and of those above it",
		.hint = "switch on", .name = "take" },
	{ "T", REQUEST_OWN, ADVICE_TARGET, KEYS_WHAT_IF,
		"only the advice that reaches a latency (5ms) or a throughput (200/s: items); "
		"all: every advice",
		.name = "target" },
	{ 0 }
};

/* Marks its layers instead of others, and shows them in the layers view. */
static bool show_layers(struct app *app, const struct advice *one)
{
	if (!one->layer_count) {
		app_note(app, false, "this advice is about the whole model; %s switches it on",
			key_named("advice.take"));
		return true;
	}
	const char *before = app->picked_count ? " instead" : "";
	for (int i = 0; i < app->place_count; i++)
		app_pick_layer(app, i, false);
	for (int i = 0; i < one->layer_count; i++)
		if (one->layers[i] < app->place_count)
			app_pick_layer(app, one->layers[i], true);
	app_show_only(app, "is:marked");
	app_note(app, false, "%d layer%s marked%s; %s removes the marks, %s returns to the advice",
		app->picked_count, app->picked_count == 1 ? " is" : "s are", before, key_named("pick-none"),
		keys_find(NULL, keys_parse(keys_shown(view_advice.keys)))->first);
	return true;
}

/* Switches on the what-ifs that the advice adds to the current scenario. */
static bool take(struct app *app, const struct advice *one)
{
	struct scenario with = *session_scenario(app->session);
	struct error err = ERROR_NONE;
	if (scenario_parse(&with, one->what_ifs, &err))
		return false;
	bool typed = strcmp(one->dtype, dtype_name(session_dtype(app->session))) != 0;
	const char *on = arena_printf(&app->scratch, "on: %s%s%s", one->what_ifs,
		typed ? "; also type :dtype " : "", typed ? one->dtype : "");
	app_use(app, &with);
	app_note(app, false, "%s", on);
	return true;
}

static const struct advice *advice_at(const struct advice_page *p, int row)
{
	int advice = row >= 0 && row < p->page.count ? p->page.lines[row].item : -1;
	return advice >= 0 ? &p->list.items[advice] : NULL;
}

static bool advice_request(struct app *app, void *state, const struct key_row *key, int row)
{
	const struct advice *one = advice_at(state, row);
	bool own = key->request == REQUEST_OWN;
	if (own && key->argument == ADVICE_TARGET) {
		app_ask(app, "reach (5ms, 200/s, all): ", target_accept);
		return true;
	}
	return one && (own ? take(app, one) : key->request == REQUEST_OPEN && show_layers(app, one));
}

static bool advice_can(const struct app *app, const void *state, const struct key_row *key, int row)
{
	const struct advice *one = advice_at(state, row);
	(void)app;
	bool target = key->request == REQUEST_OWN && key->argument == ADVICE_TARGET;
	return target || (one && (key->request == REQUEST_OWN || one->layer_count > 0));
}

static void advice_select(struct app *app, void *state, int row)
{
	const struct advice_page *p = state;
	int advice = p->page.lines[row].item;
	if (advice >= 0 && p->list.items[advice].layer_count &&
		p->list.items[advice].layers[0] < app->place_count)
		app->layer = p->list.items[advice].layers[0];
}

static const struct list advice_list = {
	.rows = advice_rows,
	.heading = advice_heading,
	.draw_row = advice_draw_row,
	.row_text = page_row_text,
	.select = advice_select,
	.passes = page_passes,
};

const struct view view_advice = {
	.name = "advice",
	.help = "what to do first from the current scenario on, its saving, and how to do it; {open} marks "
		"and shows the layers of an advice, {advice.take} switches it on",
	.keys = "7 A",
	.group = KEYS_VIEWS,
	.own = advice_keys,
	.state_size = sizeof(struct advice_page),
	.close = advice_close,
	.list = &advice_list,
	.work = advice_work,
	.request = advice_request,
	.can = advice_can,
	.opens = "its layers",
};
