/* The view of devices: runners, recorded and described ones, with their peaks. */
#include "config.h"

#include "ui/model/beside.h"
#include "ui/model/page.h"
#include "ui/views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One row per device to choose from; continuation rows below it, which the cursor skips, hold longer texts.
 * */
struct devices {
	struct page page;  /* its items: devices of the list; without a text: the device's own row */
	struct arena arena;
	struct session_device *list;
	int device_count;
	uint64_t seen, seen_results;
	struct error trouble;
};

#define HEADING_AT 1
#define KEY_AT 3
#define MODEL_AT 14
#define MODEL_LEAST 22
#define TABLE_MOST 110 /* columns: keeps numbers near their device on a wide screen */

/* Adds a text about a device, or a heading (-1), which the cursor skips. */
static void text_add(struct devices *s, int device, const char *text, enum style style)
{
	struct page *p = &s->page;
	int at = device < 0 ? HEADING_AT : MODEL_AT;
	for (int i = page_wrap(p, at, at, style, text); i < p->count; i++) {
		p->lines[i].item = device;
		p->lines[i].passed = true;
	}
}

static const char *clean(struct devices *s, const char *text)
{
	return text_clean(&s->page.arena, text_of(text));
}

/* Measured peaks of the device in use. */
static void line_of_peaks(struct devices *s, int i, const struct session *session)
{
	struct peaks k = peaks_from_results(session_results(session), session_device(session));
	struct str line = { 0 };
	peaks_describe(&k, &line);
	if (line.n)
		text_add(s, i, arena_printf(&s->page.arena, "measured peaks: %s", line.p),
			STYLE_NORMAL);
	if (peaks_have_gaps(&k))
		text_add(s, i, arena_printf(&s->page.arena, "-: not measured on a quiet machine%s%s",
			peaks_known(&k) ? "" : " (no rooflines without the memory peak)",
			s->list[i].kind != SESSION_RUNNER ? "" : arena_printf(&s->page.arena,
				"; %s measures it again", key_named("measure"))), STYLE_DIM);
	str_free(&line);
}

/* Adds the continuation rows of a device. */
static void lines_of_device(struct devices *s, int i, const struct session *session)
{
	const struct session_device *d = &s->list[i];
	page_add(&s->page, KEY_AT, STYLE_NORMAL, NULL)->item = i;
	text_add(s, i, clean(s, d->stack), STYLE_DIM);
	if (*d->model)
		text_add(s, i, clean(s, d->command), STYLE_DIM);
	if (d->in_use && d->kind != SESSION_DESCRIBED)
		line_of_peaks(s, i, session);
	if (d->kind == SESSION_DESCRIBED)
		text_add(s, i, clean(s, d->described.caveat), STYLE_WARN);
}

static void lines_make(struct devices *s, const struct session *session)
{
	static const char *const groups[] = {
		[SESSION_RUNNER] = "runners: started when selected",
		[SESSION_RECORDED] = "recorded earlier",
		[SESSION_DESCRIBED] = "described by vendors' figures: planned and estimated, not measured",
	};
	for (int kind = SESSION_RUNNER; kind <= SESSION_DESCRIBED; kind++) {
		bool any = false;
		text_add(s, -1, groups[kind], STYLE_HEADER);
		for (int i = 0; i < s->device_count; i++)
			if ((int)s->list[i].kind == kind) {
				lines_of_device(s, i, session);
				any = true;
			}
		if (!any)
			text_add(s, -1, "  none", STYLE_DIM);
	}
	text_add(s, -1, clean(s, s->trouble.text), STYLE_BAD);
}

/* Rebuilds the list if it may have changed: another device is in use, or the first results of one arrived. */
static uint64_t list_version(const struct session *s)
{
	return 1 + 4 * session_device_changes(s) + 2 * (session_device(s)->name != NULL) +
		(results_version(session_results(s)) != 0);
}

static int devices_rows(struct app *app, void *state, int width)
{
	struct devices *s = state;
	uint64_t version = list_version(app->session);
	uint64_t results = results_version(session_results(app->session));
	if (s->seen == version && s->seen_results == results && s->page.width == width)
		return s->page.count;
	if (s->seen != version) {
		arena_free(&s->arena);
		s->trouble = (struct error)ERROR_NONE;
		s->device_count = session_devices(app->session, &s->arena, &s->list, &s->trouble);
	}
	s->seen = version;
	s->seen_results = results;
	page_begin(&s->page, app, width);
	lines_make(s, app->session);
	return s->page.count;
}

static void devices_close(struct app *app, void *state)
{
	struct devices *s = state;
	(void)app;
	arena_free(&s->arena);
	page_free(&s->page);
}

/* ---- numbers of a description, at the right: as many as fit ---- */

enum figure { FIGURE_SM, FIGURE_MEMORY, FIGURE_F32, FIGURE_F16, FIGURE_COUNT };

static const struct {
	const char *heading;
	int columns; /* with the blanks before it */
	int weight;  /* the lowest weights are dropped first if there is no room */
} figures[FIGURE_COUNT] = {
	[FIGURE_SM] = { "arch", 7, 1 },
	[FIGURE_MEMORY] = { "memory", 10, 4 },
	[FIGURE_F32] = { "f32", 13, 2 },
	[FIGURE_F16] = { "f16 matrix", 13, 3 },
};

static const char *figure_text(struct app *app, const struct described *d, enum figure f)
{
	char number[STR_QUANTITY];
	double value = f == FIGURE_MEMORY ? d->peaks.bandwidth_bytes_s
		: f == FIGURE_F32         ? d->peaks.flops[DTYPE_F32]
					  : d->peaks.matrix_flops[DTYPE_F16];
	if (f == FIGURE_SM)
		return arena_printf(&app->scratch, "sm_%d", d->sm);
	if (isnan(value))
		return "-";
	return arena_printf(&app->scratch, "%s%s", str_count(number, value),
		f == FIGURE_MEMORY ? "B/s" : "FLOP/s");
}

/* Lowest weight that is shown at this width. */
static int figures_from(int width)
{
	for (int least = 1; least <= FIGURE_COUNT; least++) {
		int columns = 0;
		for (int f = 0; f < FIGURE_COUNT; f++)
			columns += figures[f].weight >= least ? figures[f].columns : 0;
		if (width - MODEL_AT - columns >= MODEL_LEAST)
			return least;
	}
	return FIGURE_COUNT + 1;
}

/* Draws them, or their headings (d NULL); returns the column where they begin. */
static int figures_draw(struct app *app, const struct described *d, struct area line)
{
	int x = line.width < TABLE_MOST ? line.width - 1 : TABLE_MOST, least = figures_from(line.width);
	for (int f = FIGURE_COUNT - 1; f >= 0; f--) {
		if (figures[f].weight < least)
			continue;
		x -= figures[f].columns;
		canvas_fit_right(line, x + 1, 0, figures[f].columns - 1, d ? STYLE_NORMAL : STYLE_DIM,
			d ? figure_text(app, d, (enum figure)f) : figures[f].heading);
	}
	return x;
}

static void devices_heading(struct app *app, void *state, struct area line)
{
	(void)state;
	int end = figures_draw(app, NULL, line);
	canvas_text(line, KEY_AT, 0, STYLE_DIM, "device");
	canvas_fit(line, MODEL_AT, 0, end - MODEL_AT, STYLE_DIM, "model");
}

static void devices_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct devices *s = state;
	const struct page_line *l = &s->page.lines[row];
	if (l->text) {
		page_draw_row(app, state, row, above, line);
		return;
	}
	const struct session_device *d = &s->list[l->item];
	const char *awaited = session_awaited(app->session);
	bool starting = d->kind == SESSION_RUNNER && awaited && strcmp(awaited, d->key) == 0;
	int end = d->kind == SESSION_DESCRIBED ? figures_draw(app, &d->described, line) : line.width;
	if (d->in_use)
		view_draw_in_use(line);
	if (app_beside_at(app, d) >= 0)
		canvas_put(line, 2, 0, STYLE_BOLD, '*');
	canvas_fit(line, KEY_AT, 0, MODEL_AT - KEY_AT - 1, d->in_use ? STYLE_GOOD : STYLE_BOLD,
		d->kind == SESSION_RECORDED && !d->id ? "-" : app_clean(app, text_of(d->key)));
	const char *what = starting ? "starting" : *d->model ? d->model : d->command;
	canvas_fit(line, MODEL_AT, 0, end - MODEL_AT,
		starting ? STYLE_ACCENT : *d->model ? STYLE_NORMAL : STYLE_DIM,
		app_clean(app, text_of(what)));
}

static const char *devices_row_text(struct app *app, void *state, int row)
{
	const struct devices *s = state;
	const struct page_line *l = &s->page.lines[row];
	if (l->text)
		return l->text;
	const struct session_device *d = &s->list[l->item];
	return app_clean(app, text_of(arena_printf(&app->scratch, "%s %s %s %s", d->key, d->model, d->command,
		d->kind == SESSION_DESCRIBED ? d->described.arch : "")));
}

static int devices_row_at_entry(struct app *app, void *state)
{
	const struct devices *s = state;
	(void)app;
	for (int i = 0; i < s->page.count; i++)
		if (!s->page.lines[i].text && s->list[s->page.lines[i].item].in_use)
			return i;
	return 1; /* below the first heading */
}

enum { OWN_BESIDE };

static const struct key_row devices_keys[] = {
	{ "V", REQUEST_OWN, OWN_BESIDE, KEYS_VIEWS,
		"mark the device (*), or remove its mark; {scenarios} compares the marked ones",
		.hint = "compare", .name = "beside" },
	{ 0 }
};

static bool devices_request(struct app *app, void *state, const struct key_row *key, int row)
{
	const struct devices *s = state;
	int device = row >= 0 ? s->page.lines[row].item : -1;
	if (device < 0 || (key->request != REQUEST_OWN && key->request != REQUEST_OPEN))
		return false;
	if (key->request == REQUEST_OWN)
		app_beside_toggle(app, &s->list[device]);
	else
		app_device_choose(app, &s->list[device]);
	return true;
}

static const struct list devices_list = {
	.rows = devices_rows,
	.heading = devices_heading,
	.draw_row = devices_draw_row,
	.row_text = devices_row_text,
	.row_at_entry = devices_row_at_entry,
	.passes = page_passes,
};

const struct view view_devices = {
	.name = "devices",
	.help = "runners, recorded and described devices; {open} switches: scenario and layer stay",
	.keys = "5 D",
	.group = KEYS_VIEWS,
	.own = devices_keys,
	.state_size = sizeof(struct devices),
	.close = devices_close,
	.list = &devices_list,
	.request = devices_request,
	.opens = "use it",
	.own_footer = true,
};
