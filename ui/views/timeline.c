/* The parallel schedule as lanes: every layer starts as soon as its inputs are there, in the lane of the
 * producer that it waited for; the critical path is the first lane. A sequential scenario is one lane, in
 * execution order. */
#include "config.h"

#include "ui/screen/plot.h"
#include "ui/views/chart.h"
#include "ui/views/view.h"

#include "analyze/tables/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct timeline {
	struct arena arena;    /* of the bars */
	struct bars bars;
	double zoom, left_ns;  /* 1: all of it fits; the first moment shown */
	int top;               /* first lane shown */
	int lanes_seen;        /* shown last */
	int seen_layer;        /* that was kept in sight last */
	uint64_t generation;
};

static void timeline_renew(struct app *app, struct timeline *s)
{
	const struct analysis *a = session_analysis(app->session);
	if (s->generation == app->generation)
		return;
	s->generation = app->generation;
	s->zoom = s->zoom >= 1 ? s->zoom : 1;
	s->seen_layer = -1;
	arena_free(&s->arena);
	s->bars = a && app_plan(app) ? bars_of(&s->arena, a, app_plan(app)) : (struct bars){ .count = 0 };
}

static void timeline_close(struct app *app, void *state)
{
	(void)app;
	arena_free(&((struct timeline *)state)->arena);
}

/* The bar of the selected layer, of its group or of the layer that contains it; or -1. */
static int chosen(const struct app *app, const struct timeline *s)
{
	const struct plan *p = app_plan(app);
	int layer = chart_anchor(app, chart_outermost(app, app->layer));
	return p && s->bars.count && layer >= 0 && layer < p->layer_count ? s->bars.bar_of[layer] : -1;
}

/* ---- the part in sight ---- */

static double span(const struct timeline *s)
{
	return s->bars.end_ns / s->zoom;
}

static void window_clamp(struct timeline *s)
{
	double last = s->bars.end_ns - span(s);
	s->left_ns = s->left_ns > last ? last : s->left_ns;
	s->left_ns = s->left_ns > 0 ? s->left_ns : 0;
}

/* Moves time and lanes so that a newly selected bar is in sight. */
static void window_follow(struct timeline *s, const struct bar *b, int lanes)
{
	if (b->end > s->left_ns + span(s) || b->start < s->left_ns)
		s->left_ns = (b->start + b->end) / 2 - span(s) / 2;
	if (b->end - b->start > span(s))
		s->left_ns = b->start;
	s->top = b->lane < s->top ? b->lane : b->lane >= s->top + lanes ? b->lane - lanes + 1 : s->top;
	window_clamp(s);
}

static void lanes_clamp(struct timeline *s, int lanes)
{
	int last = s->bars.lane_count > lanes ? s->bars.lane_count - lanes : 0;
	s->top = s->top > last ? last : s->top < 0 ? 0 : s->top;
}

/* ---- drawing ---- */

/* Few lanes leave room: the time in sight continues in strips below, each with its axis. */
struct strips {
	int count, rows;  /* of a strip, with ruler and axis */
	int ruler, axis;  /* rows of them */
	int high;         /* rows of a lane, from 2 on with a blank one below */
	int lanes;        /* in sight */
};

static int strip_rows(const struct timeline *s, const struct strips *g)
{
	return g->ruler + s->bars.lane_count * g->high - (g->high > 2) + g->axis;
}

/* As many strips as have room, then higher lanes. */
static struct strips strips_make(const struct timeline *s, int height)
{
	struct strips g = { .count = 1, .ruler = height >= 5, .axis = height >= 3 ? 2 : height >= 2,
		.high = 1 };
	g.rows = height;
	g.lanes = height - g.axis - g.ruler;
	if (g.lanes < s->bars.lane_count)
		return g;
	g.count = height / strip_rows(s, &g);
	for (; g.high < 3; g.high++) {
		struct strips higher = g;
		higher.high++;
		if (strip_rows(s, &higher) * g.count > height)
			break;
	}
	g.rows = strip_rows(s, &g);
	g.lanes = s->bars.lane_count;
	return g;
}

static int column_of(const struct timeline *s, struct area a, double ns)
{
	double x = floor((ns - s->left_ns) / span(s) * a.width);
	return x < -1 ? -1 : x > a.width ? a.width : (int)x;
}

#define NAME_LEAST 6 /* columns of a name that is cut */

/* Critical bars are filled, others shaded: the difference is seen without colour. */
static uint32_t bar_sign(struct area a, bool critical)
{
	return a.canvas->ascii ? (critical ? '#' : '=') : critical ? 0x2588 : 0x2592;
}

static void draw_slack(const struct timeline *s, struct area lane, const struct bar *b)
{
	if (!(b->slack > 0)) /* none, or unknown */
		return;
	int from = column_of(s, lane, b->end), to = column_of(s, lane, b->end + b->slack);
	for (int x = from < 0 ? 0 : from + 1; x <= to && x < lane.width; x++)
		canvas_put(lane, x, 0, STYLE_DIM, lane.canvas->ascii ? '.' : 0x2508);
}

/* A bar begins with half a column, so that it ends where the next one begins; a wide one has its name. */
static void draw_bar(struct area lane, const struct timeline *s, const struct bar *b, const char *name,
	enum style style)
{
	int from = column_of(s, lane, b->start), to = column_of(s, lane, b->end);
	to = to > from ? to - 1 : to;
	int first = from < 0 ? 0 : from, last = to < lane.width ? to : lane.width - 1;
	int room = last - first - 1;
	for (int y = 0; y < lane.height; y++) {
		canvas_fill(lane, first, y, last - first + 1, style, bar_sign(lane, b->critical));
		if (to > from)
			canvas_put(lane, from, y, style, lane.canvas->ascii ? '[' : 0x2590);
	}
	int columns = canvas_columns_on(lane, name);
	if (columns <= room || (room >= NAME_LEAST && room >= columns / 2))
		canvas_fit(canvas_part(lane, 0, lane.height / 2, lane.width, 1), first + 1, 0, room,
			style == STYLE_WARN ? STYLE_BOLD : STYLE_NORMAL, name);
	for (int y = 0; y < lane.height && style == STYLE_WARN; y++)
		canvas_select(canvas_part(lane, first, y, last - first + 1, 1), 0);
}

/* The first bar that may reach into sight: those before begin too early, whatever their length or slack. */
static int first_seen(const struct timeline *s, bool with_slack)
{
	double from = s->left_ns - (with_slack ? s->bars.longest_with_slack : s->bars.longest);
	int low = 0, high = s->bars.count;
	while (low < high) {
		int middle = low + (high - low) / 2;
		if (s->bars.list[middle].start < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Bars that follow one another in a lane, below the ruler, have names without their scopes. */
static void draw_lanes(struct app *app, const struct timeline *s, struct area a, const struct strips *g,
	int selected)
{
	for (int pass = 0; pass < 3; pass++) /* slack, bars, the selected one */
		for (int i = first_seen(s, pass == 0); i < s->bars.count; i++) {
			const struct bar *b = &s->bars.list[i];
			if (b->start > s->left_ns + span(s))
				break;
			int y = (b->lane - s->top) * g->high;
			bool seen = y >= 0 && y < a.height && b->end + fmax(b->slack, 0) >= s->left_ns;
			if (!seen || (pass == 2 && i != selected))
				continue;
			struct area lane = canvas_part(a, 0, y, a.width, g->high > 1 ? g->high - 1 : 1);
			if (pass == 0) {
				draw_slack(s, lane, b);
				continue;
			}
			int from = column_of(s, lane, b->start), to = column_of(s, lane, b->end);
			if (to < 0 || from >= lane.width || (to == from && from < 0))
				continue;
			draw_bar(lane, s, b, y == 0 && g->ruler ? chart_leaf(app, b->layer) :
				app_name(app, b->layer), pass == 2 ? STYLE_WARN : b->critical ?
				STYLE_CRITICAL : STYLE_ACCENT);
			for (int k = 0; k < lane.height; k++)
				app_item(app, lane, from < 0 ? 0 : from, k, to - (from < 0 ? 0 : from) + 1,
					b->layer);
		}
}

/* The scopes of the first lane in sight. */
static void draw_ruler(struct app *app, const struct timeline *s, struct area line)
{
	struct chart_span *spans = ARENA_ARRAY(&app->scratch, struct chart_span, (size_t)line.width + 1);
	int count = 0, end = 0;
	for (int i = first_seen(s, false); i < s->bars.count; i++) {
		const struct bar *b = &s->bars.list[i];
		if (b->start > s->left_ns + span(s))
			break;
		int from = column_of(s, line, b->start), to = column_of(s, line, b->end);
		from = from < end ? end : from;
		to = to > line.width ? line.width : to;
		if (b->lane == s->top && to > from) {
			spans[count++] = (struct chart_span){ from, to, b->layer };
			end = to;
		}
	}
	chart_scopes(app, line, spans, count);
}

#define LANE_NAMES 10 /* columns */
#define LANE_NAMES_LEAST 60 /* columns of an area with names */

static void draw_lane_names(struct app *app, const struct timeline *s, struct area a, const struct strips *g)
{
	bool path = session_analysis(app->session)->complete;
	for (int i = s->top; i < s->bars.lane_count && (i - s->top) * g->high < a.height; i++)
		canvas_fit(a, 1, (i - s->top) * g->high, a.width - 2,
			i == 0 && path ? STYLE_CRITICAL : STYLE_DIM, i == 0 && path ? "critical" :
			arena_printf(&app->scratch, "lane %d", i + 1));
}

static void draw_legend(const struct timeline *s, struct area line)
{
	bool critical = false, ascii = line.canvas->ascii;
	for (int i = 0; i < s->bars.count && !critical; i++)
		critical = s->bars.list[i].critical;
	struct chart_key keys[4];
	int count = 0;
	if (critical)
		keys[count++] = (struct chart_key){ STYLE_CRITICAL, ascii ? "[##" : "\u2590\u2588\u2588",
			"critical path" };
	keys[count++] = (struct chart_key){ STYLE_ACCENT, ascii ? "[==" : "\u2590\u2592\u2592",
		critical ? "other layer" : "a layer, as wide as its time" };
	if (s->bars.lane_count > 1)
		keys[count++] = (struct chart_key){ STYLE_DIM, ascii ? "..." : "\u2508\u2508\u2508",
			"slack (it may end later)" };
	keys[count++] = (struct chart_key){ STYLE_WARN, ascii ? "[==" : "\u2590\u2592\u2592", "selected" };
	chart_keys(line, keys, count);
}

/* ---- texts ---- */

static const char *duration(struct app *app, double ns)
{
	char *text = ARENA_ARRAY(&app->scratch, char, STR_QUANTITY);
	return str_duration(text, ns);
}

static const char *chosen_text(struct app *app, const struct timeline *s, int selected)
{
	const struct bar *b = selected >= 0 ? &s->bars.list[selected] : NULL;
	if (app->layer < 0)
		return "";
	if (!b)
		return arena_printf(&app->scratch, "%s  no bar: %s", chart_name(app, app->layer),
			chart_cost(app, app->layer));
	const char *in = b->layer == app->layer ? "" : arena_printf(&app->scratch, "%s in ",
		app_name(app, app->layer));
	const char *slack = isnan(b->slack) ? "" : b->critical ? "  no slack: on the critical path" :
		arena_printf(&app->scratch, "  slack %s", duration(app, b->slack));
	return arena_printf(&app->scratch, "%s%s  start %s%s  length %s%s%s", in, app_name(app, b->layer),
		b->guess ? "~" : "", duration(app, b->start), b->guess ? "~" : "",
		duration(app, b->end - b->start), slack);
}

static const char *summary_text(struct app *app, const struct timeline *s, int lanes)
{
	const struct analysis *a = session_analysis(app->session);
	bool parallel = s->bars.is_path;
	const char *end = duration(app, s->bars.end_ns), *text = parallel
		? arena_printf(&app->scratch, "longest path %s%s", analysis_mark(a), end)
		: arena_printf(&app->scratch, "sequential: one after the other, %s%s; %s shows the parallel "
			"schedule", analysis_mark(a), end, key_named("parallel"));
	if (a->scenario.parallel == PARALLEL_MEASURED)
		text = arena_printf(&app->scratch, "one after the other, %s%s; side by side %s",
			analysis_mark(a), end, duration(app, a->total_ns));
	if (parallel && !a->complete)
		text = arena_printf(&app->scratch, "%s; critical path not known", text);
	if (parallel && a->limit)
		text = arena_printf(&app->scratch, "%s; the bound is longer: %s needs %s", text, a->limit,
			duration(app, a->total_ns));
	if (s->bars.lane_count > 1)
		text = lanes > 0 && lanes < s->bars.lane_count
			? arena_printf(&app->scratch, "%s; lanes %d-%d of %d", text, s->top + 1,
				s->top + lanes, s->bars.lane_count)
			: arena_printf(&app->scratch, "%s; %d lanes", text, s->bars.lane_count);
	if (s->zoom > 1)
		text = arena_printf(&app->scratch, "%s; %.0fx", text, s->zoom);
	if (s->bars.unknown)
		text = arena_printf(&app->scratch, "%s; %d layers without a cost have no bar", text,
			s->bars.unknown);
	if (a->border_ns > 0)
		text = arena_printf(&app->scratch, "%s; casts of %s are not shown", text,
			duration(app, a->border_ns));
	return text;
}

#define LEGEND_LEAST 4 /* rows of an area with a legend */

static void timeline_draw(struct app *app, void *state, struct area area)
{
	struct timeline *s = state;
	timeline_renew(app, s);
	if (!session_analysis(app->session) || !s->bars.count) {
		canvas_fit(area, 1, 0, area.width - 1, STYLE_DIM, "no layer has a cost yet");
		return;
	}
	int selected = chosen(app, s);
	struct chart_line lines[] = { { chosen_text(app, s, selected), STYLE_BOLD },
		{ summary_text(app, s, s->bars.lane_count), STYLE_DIM } };
	struct area above = chart_above(area, lines, 2);
	int legend = above.height >= LEGEND_LEAST;
	int left = s->bars.lane_count > 1 && area.width >= LANE_NAMES_LEAST ? LANE_NAMES : 0;
	struct area chart = canvas_part(above, 0, legend, above.width, above.height - legend);
	struct strips g = strips_make(s, chart.height);
	s->lanes_seen = g.lanes;
	lanes_clamp(s, g.lanes);
	window_clamp(s);
	if (selected >= 0 && g.lanes > 0 && s->seen_layer != app->layer)
		window_follow(s, &s->bars.list[selected], g.lanes);
	s->seen_layer = app->layer;
	lines[1].text = summary_text(app, s, g.lanes);
	chart_foot(chart_below(area, above), lines, 2);
	if (legend)
		draw_legend(s, canvas_part(above, 0, 0, above.width, 1));
	for (int i = 0; i < g.count; i++) {
		struct timeline part = *s;
		part.zoom = s->zoom * g.count;
		part.left_ns = s->left_ns + i * span(&part);
		struct area strip = canvas_part(chart, left, i * g.rows, chart.width - left, g.rows);
		struct area lanes = canvas_part(strip, 0, g.ruler, strip.width, g.rows - g.ruler - g.axis);
		if (g.ruler)
			draw_ruler(app, &part, canvas_part(strip, 0, 0, strip.width, 1));
		draw_lanes(app, &part, lanes, &g, selected);
		if (left)
			draw_lane_names(app, &part, canvas_part(chart, 0, i * g.rows + g.ruler, left,
				lanes.height), &g);
		struct axis time = { .low = part.left_ns, .high = part.left_ns + span(&part),
			.far = s->left_ns + span(s) };
		axis_draw_below(canvas_part(strip, 0, g.rows - g.axis, strip.width, g.axis), &time,
			&quantity_duration, "time");
	}
}

/* ---- keys ---- */

enum { TIME_IN, TIME_OUT, TIME_ALL, TIME_NEXT, TIME_PREVIOUS, TIME_LATER, TIME_EARLIER };

#define ZOOM_MAX 1e6

static void zoom(struct timeline *s, const struct bar *b, double by)
{
	double middle = b ? (b->start + b->end) / 2 : s->left_ns + span(s) / 2;
	s->zoom *= by;
	s->zoom = s->zoom < 1 ? 1 : s->zoom > ZOOM_MAX ? ZOOM_MAX : s->zoom;
	s->left_ns = middle - span(s) / 2;
	window_clamp(s);
}

/* The bar of the nearest lane in a direction that is closest in time; or -1. */
static int beside(const struct timeline *s, int from, int direction)
{
	const struct bar *b = &s->bars.list[from];
	int best = -1;
	double least = NAN;
	for (int i = 0; i < s->bars.count; i++) {
		const struct bar *c = &s->bars.list[i];
		if (c->lane != b->lane + direction)
			continue;
		double apart = fmax(fmax(c->start - b->end, b->start - c->end), 0) +
			1e-6 * fabs(c->start - b->start);
		if (!(apart >= least)) {
			least = apart;
			best = i;
		}
	}
	return best;
}

static int along(const struct timeline *s, int from, int direction, bool critical)
{
	int i = from + direction;
	while (i >= 0 && i < s->bars.count &&
		(critical ? !s->bars.list[i].critical : s->bars.list[i].lane != s->bars.list[from].lane))
		i += direction;
	return i >= 0 && i < s->bars.count ? i : -1;
}

/* One lane: up and down are along it. */
static int step(const struct timeline *s, int from, enum request r, int own)
{
	int down = r == REQUEST_DOWN ? 1 : r == REQUEST_UP ? -1 : 0;
	int right = own == TIME_LATER ? 1 : own == TIME_EARLIER ? -1 : 0;
	int next = own == TIME_NEXT ? 1 : own == TIME_PREVIOUS ? -1 : 0;
	if (down && s->bars.lane_count > 1)
		return beside(s, from, down);
	return along(s, from, down + right + next, next != 0);
}

static void walk(struct app *app, const struct timeline *s, enum request r, int own)
{
	int at = chosen(app, s), n = app->count ? app->count : 1, first = at;
	if (at < 0) {
		app->layer = s->bars.list[0].layer;
		return;
	}
	for (int to; n > 0 && (to = step(s, at, r, own)) >= 0; n--)
		at = to;
	app->layer = at == first ? app->layer : s->bars.list[at].layer;
	if (at == first && (own == TIME_NEXT || own == TIME_PREVIOUS))
		app_note(app, false, "%s%s%s", scenario_has_path(session_scenario(app->session)) ?
			"no critical layer in this direction" : "no critical path in a sequential scenario: ",
			scenario_has_path(session_scenario(app->session)) ? "" : key_named("parallel"),
			scenario_has_path(session_scenario(app->session)) ? "" : " switches to parallel");
}

#define SCROLL_SHARE 12 /* of what is in sight: a step of time */

/* Time where a part of it is in sight, else lanes. False: all is in sight. */
static bool scroll(struct timeline *s, int by)
{
	if (s->zoom > 1) {
		s->left_ns += by * span(s) / SCROLL_SHARE;
		window_clamp(s);
		return true;
	}
	if (s->bars.lane_count <= s->lanes_seen)
		return false;
	s->top += by;
	lanes_clamp(s, s->lanes_seen);
	return true;
}

static bool own_request(struct app *app, struct timeline *s, int own)
{
	int selected = chosen(app, s);
	const struct bar *b = selected >= 0 ? &s->bars.list[selected] : NULL;
	double by = pow(2, app->count ? fmin(app->count, 40) : 1);
	if (own == TIME_IN || own == TIME_OUT || own == TIME_ALL)
		zoom(s, b, own == TIME_IN ? by : own == TIME_OUT ? 1 / by : 0);
	else
		walk(app, s, REQUEST_OWN, own);
	return true;
}

static bool timeline_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct timeline *s = state;
	(void)row;
	timeline_renew(app, s);
	if (key->request == REQUEST_OPEN && app->layer >= 0) {
		app_show(app, &view_detail, app->layer);
		return true;
	}
	if (!s->bars.count)
		return key->request == REQUEST_OWN;
	double page = span(s) * (app->count ? app->count : 1);
	switch (key->request) {
	case REQUEST_OWN: return own_request(app, s, key->argument);
	case REQUEST_DOWN:
	case REQUEST_UP: walk(app, s, key->request, -1); return true;
	case REQUEST_SCROLL_DOWN: return scroll(s, app->count ? app->count : 1);
	case REQUEST_SCROLL_UP: return scroll(s, app->count ? -app->count : -1);
	case REQUEST_PAGE_DOWN: s->left_ns += page; break;
	case REQUEST_PAGE_UP: s->left_ns -= page; break;
	case REQUEST_HALF_DOWN: s->left_ns += page / 2; break;
	case REQUEST_HALF_UP: s->left_ns -= page / 2; break;
	case REQUEST_FIRST: app->layer = s->bars.list[0].layer; return true;
	case REQUEST_LAST: app->layer = s->bars.list[s->bars.count - 1].layer; return true;
	default: return false;
	}
	window_clamp(s);
	return true;
}

static const struct key_row timeline_keys[] = {
	{ "+", REQUEST_OWN, TIME_IN, KEYS_CHARTS,
		"zoom in on the selected layer: twice; 3{timeline.zoom-in}: eight times",
		.hint = "zoom in", .counts = true, .name = "zoom-in" },
	{ "-", REQUEST_OWN, TIME_OUT, KEYS_CHARTS, "zoom out", .counts = true, .name = "zoom-out" },
	{ "=", REQUEST_OWN, TIME_ALL, KEYS_CHARTS, "zoom out to all of it", .name = "zoom-all" },
	{ "l Right", REQUEST_OWN, TIME_LATER, KEYS_CHARTS, "to the next layer of the lane", .counts = true,
		.name = "right" },
	{ "h Left", REQUEST_OWN, TIME_EARLIER, KEYS_CHARTS, "to the previous layer of the lane",
		.counts = true, .name = "left" },
	{ "n", REQUEST_OWN, TIME_NEXT, KEYS_CHARTS, "to the next layer of the critical path",
		.counts = true, .name = "next-critical" },
	{ "N", REQUEST_OWN, TIME_PREVIOUS, KEYS_CHARTS, "to the previous layer of the critical path",
		.counts = true, .name = "previous-critical" },
	{ 0 }
};

const struct view view_timeline = {
	.name = "timeline",
	.help = "the parallel schedule as lanes to scale, with critical path and slack; {page-down} and "
		"{page-up} scroll",
	.keys = "gt",
	.group = KEYS_CHARTS,
	.own = timeline_keys,
	.state_size = sizeof(struct timeline),
	.close = timeline_close,
	.draw = timeline_draw,
	.request = timeline_request,
	.own_footer = true,
};
