#include "config.h"

#include "ui/model/beside.h"
#include "ui/views/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One row per device to choose from; continuation rows below it, which the cursor skips, hold longer texts.
 * */
struct device_line {
	int device;        /* device of the row; -1 none */
	const char *text;  /* continuation row or heading; NULL: the device's own row */
	enum style style;
};

struct devices {
	struct arena arena, line_arena;
	struct session_device *list;
	struct device_line *lines;
	int device_count, count, capacity, width;
	uint64_t seen, seen_results;
	struct error trouble;
};

#define HEADING_AT 1
#define KEY_AT 3
#define MODEL_AT 14
#define MODEL_LEAST 22
#define TABLE_MOST 110 /* columns: keeps numbers near their device on a wide screen */

static void line_add(struct devices *s, int device, const char *text, enum style style)
{
	VEC_GROW(s->lines, s->count, s->capacity);
	s->lines[s->count++] = (struct device_line){ device, text, style };
}

/* Wraps text that is longer than the line. */
static void line_add_wrapped(struct devices *s, int device, const char *text, enum style style)
{
	int x = device < 0 ? HEADING_AT : MODEL_AT, room = s->width - x > 20 ? s->width - x : 20;
	for (size_t n; *text && text[n = app_break(text, room)];) {
		line_add(s, device, arena_strndup(&s->line_arena, text, n), style);
		text += n;
		text += strspn(text, " ");
	}
	if (*text)
		line_add(s, device, text, style);
}

static const char *clean(struct devices *s, const char *text)
{
	return text_clean(&s->line_arena, text_of(text));
}

/* Measured peaks of the device in use. */
static void line_of_peaks(struct devices *s, int i, const struct session *session)
{
	struct peaks k = peaks_from_results(session_results(session), session_device(session));
	struct str line = { 0 };
	peaks_describe(&k, &line);
	if (line.n)
		line_add_wrapped(s, i, arena_printf(&s->line_arena, "measured peaks: %s", line.p),
			STYLE_NORMAL);
	if (peaks_have_gaps(&k))
		line_add_wrapped(s, i, arena_printf(&s->line_arena, "-: not measured on a quiet machine%s%s",
			peaks_known(&k) ? "" : " (no rooflines without the memory peak)",
			s->list[i].kind != SESSION_RUNNER ? "" : arena_printf(&s->line_arena,
				"; %s measures it again", key_named("measure"))), STYLE_DIM);
	str_free(&line);
}

/* Adds the continuation rows of a device. */
static void lines_of_device(struct devices *s, int i, const struct session *session)
{
	const struct session_device *d = &s->list[i];
	line_add(s, i, NULL, STYLE_NORMAL);
	line_add_wrapped(s, i, clean(s, d->stack), STYLE_DIM);
	if (*d->model)
		line_add_wrapped(s, i, clean(s, d->command), STYLE_DIM);
	if (d->in_use && d->kind != SESSION_DESCRIBED)
		line_of_peaks(s, i, session);
	if (d->kind == SESSION_DESCRIBED)
		line_add_wrapped(s, i, clean(s, d->described.caveat), STYLE_WARN);
}

static void lines_make(struct devices *s, const struct session *session)
{
	static const char *const groups[] = {
		[SESSION_RUNNER] = "runners: started when selected",
		[SESSION_RECORDED] = "recorded earlier",
		[SESSION_DESCRIBED] = "described by vendors' figures: planned and estimated, not measured",
	};
	arena_free(&s->line_arena);
	s->count = 0;
	for (int kind = SESSION_RUNNER; kind <= SESSION_DESCRIBED; kind++) {
		bool any = false;
		line_add_wrapped(s, -1, groups[kind], STYLE_HEADER);
		for (int i = 0; i < s->device_count; i++)
			if ((int)s->list[i].kind == kind) {
				lines_of_device(s, i, session);
				any = true;
			}
		if (!any)
			line_add(s, -1, "  none", STYLE_DIM);
	}
	line_add_wrapped(s, -1, clean(s, s->trouble.text), STYLE_BAD);
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
	if (s->seen == version && s->seen_results == results && s->width == width)
		return s->count;
	if (s->seen != version) {
		arena_free(&s->arena);
		s->trouble = (struct error)ERROR_NONE;
		s->device_count = session_devices(app->session, &s->arena, &s->list, &s->trouble);
	}
	s->seen = version;
	s->seen_results = results;
	s->width = width;
	lines_make(s, app->session);
	return s->count;
}

static void devices_close(struct app *app, void *state)
{
	struct devices *s = state;
	(void)app;
	arena_free(&s->arena);
	arena_free(&s->line_arena);
	free(s->lines);
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
	const struct device_line *l = &s->lines[row];
	(void)above;
	if (l->text) {
		int x = l->device < 0 ? HEADING_AT : MODEL_AT;
		canvas_fit(line, x, 0, line.width - x, l->style, l->text);
		return;
	}
	const struct session_device *d = &s->list[l->device];
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
	const struct device_line *l = &s->lines[row];
	if (l->text)
		return l->text;
	const struct session_device *d = &s->list[l->device];
	return app_clean(app, text_of(arena_printf(&app->scratch, "%s %s %s %s", d->key, d->model, d->command,
		d->kind == SESSION_DESCRIBED ? d->described.arch : "")));
}

static bool devices_passes(struct app *app, void *state, int row)
{
	(void)app;
	return ((struct devices *)state)->lines[row].text != NULL;
}

static int devices_row_at_entry(struct app *app, void *state)
{
	const struct devices *s = state;
	(void)app;
	for (int i = 0; i < s->count; i++)
		if (!s->lines[i].text && s->list[s->lines[i].device].in_use)
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
	if (key->request == REQUEST_OWN && row >= 0 && s->lines[row].device >= 0) {
		app_beside_toggle(app, &s->list[s->lines[row].device]);
		return true;
	}
	if (key->request != REQUEST_OPEN || row < 0 || s->lines[row].device < 0)
		return false;
	app_device_choose(app, &s->list[s->lines[row].device]);
	return true;
}

const struct view view_devices = {
	.name = "devices",
	.help = "runners, recorded and described devices; {open} switches: scenario and layer stay",
	.keys = "5 D",
	.group = KEYS_VIEWS,
	.own = devices_keys,
	.state_size = sizeof(struct devices),
	.close = devices_close,
	.rows = devices_rows,
	.heading = devices_heading,
	.draw_row = devices_draw_row,
	.row_text = devices_row_text,
	.request = devices_request,
	.row_at_entry = devices_row_at_entry,
	.passes = devices_passes,
	.opens = "use it",
	.own_footer = true,
};
