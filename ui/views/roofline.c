/* The roofline model as a chart: a dot for each distinct problem at its intensity and the operations per
 * second that it reaches, below the device's peaks. */
#include "config.h"

#include "ui/screen/plot.h"
#include "ui/views/chart.h"
#include "ui/views/view.h"

#include "analyze/tables/charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct roofline {
	struct dots dots;      /* those with a position */
	int count;
	int *by_intensity;     /* numbers of dots; made when a key asks for them */
	int unlimited;         /* dots of unknown limit */
	uint64_t generation;
};

/* The problem whose time is the layer's cost. */
static const char *problem_of(const struct app *app, int layer)
{
	const struct layer_cost *c = app_cost(app, layer);
	return c && c->result ? c->result->problem : app_problem(app, layer);
}

static int by_intensity(const void *x, const void *y, void *dots)
{
	int a = *(const int *)x, b = *(const int *)y;
	const struct dot *d = dots;
	int c = app_compare_numbers(dot_intensity(&d[b]), dot_intensity(&d[a]));
	return c ? c : a - b;
}

static void roofline_renew(struct app *app, struct roofline *s)
{
	const struct session *session = app->session;
	if (s->generation == app->generation)
		return;
	s->generation = app->generation;
	dots_free(&s->dots);
	if (session_analysis(session))
		s->dots = dots_of(session_analysis(session), app_plan(app), session_peaks(session));
	s->count = s->unlimited = 0;
	for (int i = 0; i < s->dots.count; i++)
		if (dot_has_position(&s->dots.list[i])) {
			s->unlimited += s->dots.list[i].limit.by == LIMIT_UNKNOWN;
			s->dots.list[s->count++] = s->dots.list[i];
		}
	free(s->by_intensity);
	s->by_intensity = NULL;
}

static const int *sorted_by_intensity(struct roofline *s)
{
	if (s->by_intensity)
		return s->by_intensity;
	s->by_intensity = base_malloc(((size_t)s->count + 1) * sizeof(int));
	for (int i = 0; i < s->count; i++)
		s->by_intensity[i] = i;
	qsort_r(s->by_intensity, (size_t)s->count, sizeof(int), by_intensity, s->dots.list);
	return s->by_intensity;
}

static void roofline_close(struct app *app, void *state)
{
	struct roofline *s = state;
	(void)app;
	dots_free(&s->dots);
	free(s->by_intensity);
}

/* The dot of the selected layer, or -1. */
static int chosen(const struct app *app, const struct roofline *s)
{
	const char *problem = problem_of(app, chart_anchor(app, app->layer));
	for (int i = 0; problem && i < s->count; i++)
		if (strcmp(s->dots.list[i].problem, problem) == 0)
			return i;
	return -1;
}

/* ---- the chart ---- */

struct roof_chart {
	struct area area;
	struct axis x, y;
	struct plot plot;
	uint8_t *taken; /* per cell: how much a label there would hide */
};

enum { TAKEN_LINE = 1, TAKEN_DOT = 4, TAKEN_LABEL = 20 };

static int column_of(const struct roof_chart *c, double value)
{
	int x = (int)floor(axis_place(&c->x, value) * c->area.width);
	return x < 0 ? 0 : x >= c->area.width ? c->area.width - 1 : x;
}

static int row_of(const struct roof_chart *c, double value)
{
	int y = (int)floor((1 - axis_place(&c->y, value)) * c->area.height);
	return y < 0 ? 0 : y >= c->area.height ? c->area.height - 1 : y;
}

/* The axes hold all dots, the corners of the roof and some room above it. */
static void axes_make(const struct roofline *s, struct roof_chart *c)
{
	double left = NAN, right = NAN, low = NAN, high = dots_highest(&s->dots, false);
	for (int i = 0; i < s->count; i++) {
		left = fmin(left, dot_intensity(&s->dots.list[i]));
		right = fmax(right, dot_intensity(&s->dots.list[i]));
		low = fmin(low, dot_rate(&s->dots.list[i]));
		high = fmax(high, dot_rate(&s->dots.list[i]));
	}
	for (int i = 0; i < s->dots.ceiling_count; i++)
		if (s->dots.ceilings[i].is_rate && !isnan(dots_highest(&s->dots, false))) {
			left = fmin(left, dots_highest(&s->dots, false) / s->dots.ceilings[i].peak / 2);
			right = fmax(right, dots_highest(&s->dots, false) / s->dots.ceilings[i].peak * 2);
		}
	c->x = axis_of(left / 1.5, right * 1.5, true);
	c->y = axis_of(low / 1.5, high * 1.5, true);
}

static void draw_ceiling(const struct roofline *s, struct roof_chart *c, const struct ceiling *one)
{
	double w = c->area.width, h = c->area.height;
	double unit = dots_highest(&s->dots, false), band = dots_highest(&s->dots, true);
	double x0 = c->x.low, x1 = c->x.high, y0 = one->peak, y1 = one->peak;
	if (one->is_rate) {
		x1 = isnan(unit) ? x1 : unit / one->peak;
		y0 = x0 * one->peak;
		y1 = x1 * one->peak;
	} else if (!isnan(band))
		x0 = fmax(x0, one->peak / band);
	plot_line(&c->plot, axis_place(&c->x, x0) * w, (1 - axis_place(&c->y, y0)) * h,
		axis_place(&c->x, x1) * w, (1 - axis_place(&c->y, y1)) * h,
		one->is_rate ? STYLE_GOOD : STYLE_ACCENT, false);
}

/* What a text would hide at x, y; large if it does not fit. */
static int hidden(const struct roof_chart *c, int x, int y, int columns)
{
	int sum = 0;
	if (x < 0 || y < 0 || y >= c->area.height || x + columns > c->area.width)
		return 1 << 20;
	for (int i = x > 0 ? -1 : 0; i <= columns && x + i < c->area.width; i++)
		sum += c->taken[y * c->area.width + x + i];
	return sum;
}

/* Writes the figure of a ceiling beside its line, where it hides least. */
static void label_ceiling(const struct roofline *s, struct roof_chart *c, const struct ceiling *one)
{
	int columns = canvas_columns_on(c->area, one->text), best = 1 << 20, at_x = 0, at_y = 0;
	double unit = dots_highest(&s->dots, false);
	for (int row = 0; row < c->area.height; row++) {
		double value = c->y.low * pow(c->y.high / c->y.low, 1 - (row + 0.5) / c->area.height);
		int x[2] = { c->area.width - columns - 1, 1 }, y = row_of(c, one->peak) - 1 + row;
		if (one->is_rate) {
			x[0] = column_of(c, value / one->peak) + 2;
			x[1] = x[0] - columns - 3;
			y = row;
		} else if (row > 2)
			break;
		bool beyond = value > unit || value < c->x.low * one->peak || value > c->x.high * one->peak;
		if (one->is_rate && beyond)
			continue;
		for (int k = 0; k < 2; k++) {
			int cost = 4 * hidden(c, x[k], y, columns) + 2 * k + (one->is_rate ? 0 : row == 1);
			if (cost < best) {
				best = cost;
				at_x = x[k];
				at_y = y;
			}
		}
	}
	if (best >= 4 * TAKEN_DOT) /* no room: dots matter more */
		return;
	canvas_text(c->area, at_x, at_y, one->is_rate ? STYLE_GOOD : STYLE_ACCENT, one->text);
	for (int i = 0; i < columns; i++)
		c->taken[at_y * c->area.width + at_x + i] = TAKEN_LABEL;
}

/* Larger for a larger share of all costs: below 1%, below 5%, above. */
static uint32_t dot_sign(struct area a, double share)
{
	static const uint32_t signs[2][3] = { { 0xb7, 0x2022, 0x25cf }, { '.', 'o', '@' } };
	return signs[a.canvas->ascii][share >= 0.05 ? 2 : share >= 0.01];
}

/* The name of a dot: beside, above or below it, where it hides least. */
static void label_dot(const struct roof_chart *c, int x, int y, enum style style, const char *name)
{
	int most = c->area.width / 2 - 4, columns = canvas_columns_on(c->area, name), best = 0;
	columns = columns < most ? columns : most;
	const int at[4][2] = { { x + 3, y }, { x - 2 - columns, y }, { x - columns / 2, y - 1 },
		{ x - columns / 2, y + 1 } };
	for (int i = 1; i < 4; i++)
		if (hidden(c, at[i][0], at[i][1], columns) < hidden(c, at[best][0], at[best][1], columns))
			best = i;
	if (columns > 0)
		canvas_fit(c->area, at[best][0], at[best][1], columns, style, name);
}

static void draw_dot(struct app *app, struct roof_chart *c, const struct dot *d, enum limit_by limit,
	bool selected)
{
	double share = d->total_ns / session_analysis(app->session)->sequential_ns;
	int x = column_of(c, dot_intensity(d)), y = row_of(c, dot_rate(d));
	enum style style = selected ? STYLE_BOLD : limit == LIMIT_COMPUTE ? STYLE_ACCENT :
		limit == LIMIT_MEMORY ? STYLE_GOOD : STYLE_WARN;
	canvas_put(c->area, x, y, style, dot_sign(c->area, share));
	app_item(app, c->area, x, y, 1, d->layer);
	if (!selected)
		return;
	canvas_put(c->area, x - 1, y, style, '(');
	canvas_put(c->area, x + 1, y, style, ')');
	label_dot(c, x, y, style, app_name(app, d->layer));
}

static void draw_chart(struct app *app, struct roofline *s, struct area a, int selected)
{
	struct roof_chart c = { .area = a, .plot = plot_begin(a, &app->scratch),
		.taken = ARENA_ARRAY(&app->scratch, uint8_t, (size_t)a.width * (size_t)a.height) };
	axes_make(s, &c);
	for (int i = 0; i < s->dots.ceiling_count; i++)
		draw_ceiling(s, &c, &s->dots.ceilings[i]);
	for (int i = 0; i < a.width * a.height; i++)
		c.taken[i] = c.plot.cells[i] ? TAKEN_LINE : 0;
	for (int i = 0; i < s->count; i++) {
		const struct dot *d = &s->dots.list[i];
		c.taken[row_of(&c, dot_rate(d)) * a.width + column_of(&c, dot_intensity(d))] = TAKEN_DOT;
	}
	plot_end(&c.plot);
	for (int i = s->dots.ceiling_count - 1; i >= 0; i--)
		label_ceiling(s, &c, &s->dots.ceilings[i]);
	for (int i = s->count - 1; i >= 0; i--) /* larger ones over smaller ones */
		draw_dot(app, &c, &s->dots.list[i], s->dots.list[i].limit.by, false);
	if (selected >= 0)
		draw_dot(app, &c, &s->dots.list[selected], LIMIT_UNKNOWN, true);
}

/* ---- texts ---- */

static const char *limit_text(struct app *app, const struct limit *l)
{
	char peak[STR_QUANTITY];
	if (l->by == LIMIT_UNKNOWN)
		return arena_printf(&app->scratch, "bound by unknown: %s", l->why);
	if (isnan(l->peak_per_s))
		return arena_printf(&app->scratch, l->peak[0] ? "bound by %s (%s)" : "bound by %s",
			limit_name(l->by), l->peak);
	const char *of = arena_printf(&app->scratch, "%s %s%s", l->peak, str_count(peak, l->peak_per_s),
		l->is_rate ? "B/s" : "FLOP/s");
	if (isnan(l->share))
		return arena_printf(&app->scratch, "bound by %s (%s)", limit_name(l->by), of);
	return arena_printf(&app->scratch, "%s%.*f%%%s of %s, bound by %s", l->is_estimate ? "~" : "",
		l->share < 0.1 ? 1 : 0, 100 * l->share, limit_is_over(l) ? "?" : "", of, limit_name(l->by));
}

static const char *chosen_text(struct app *app, const struct roofline *s, int selected)
{
	char speed[STR_QUANTITY];
	const struct dot *d = selected >= 0 ? &s->dots.list[selected] : NULL;
	if (app->layer < 0)
		return "";
	if (!d)
		return arena_printf(&app->scratch, "%s  no position: %s", chart_name(app, app->layer),
			app_cost_all(app, app->layer) > 0 ? "no FLOPs, or unknown" :
			chart_cost(app, app->layer));
	double total = session_analysis(app->session)->sequential_ns;
	return arena_printf(&app->scratch, "%s  %.3g FLOP/byte  %s%sFLOP/s  %s  %s of the time",
		app_name(app, app->layer), dot_intensity(d), d->guess ? "~" : "",
		str_count(speed, dot_rate(d)),
		limit_text(app, &d->limit), total > 0 ? app_share(app, d->total_ns, total) : "-");
}

static const char *counts_text(struct app *app, const struct roofline *s, int selected)
{
	const char *at = selected >= 0 ? arena_printf(&app->scratch, "%d of ", selected + 1) : "";
	const char *text = arena_printf(&app->scratch, "%s%d problem%s by cost", at, s->count,
		s->count == 1 ? "" : "s");
	if (s->unlimited)
		text = arena_printf(&app->scratch, "%s, %d of unknown limit", text, s->unlimited);
	if (s->dots.unmeasured || s->dots.idle)
		text = arena_printf(&app->scratch, "%s; layers without a dot:", text);
	if (s->dots.unmeasured)
		text = arena_printf(&app->scratch, "%s %d without a cost%s", text, s->dots.unmeasured,
			s->dots.idle ? "," : "");
	if (s->dots.idle)
		text = arena_printf(&app->scratch, "%s %d without FLOPs", text, s->dots.idle);
	if (peaks_known(session_peaks(app->session)))
		return text;
	text = arena_printf(&app->scratch, "%s; peaks not known", text);
	return !app_missing(app).peaks ? text :
		arena_printf(&app->scratch, "%s: %s measures them", text, key_named("measure"));
}

/* The unit of the axis at the left, colours and sizes. */
static void draw_legend(struct area line)
{
	bool ascii = line.canvas->ascii;
	const char *large = ascii ? "@" : "\u25cf";
	const struct chart_key keys[] = { { STYLE_DIM, "", "FLOP/s" }, { STYLE_DIM, "", "limit" },
		{ STYLE_ACCENT, large, "compute" }, { STYLE_GOOD, large, "memory" },
		{ STYLE_WARN, large, "other" },
		{ STYLE_DIM, ascii ? ".o@" : "\u00b7\u2022\u25cf", "<1%, <5%, more of the time" } };
	chart_keys(line, keys, 6);
}

static void roofline_draw(struct app *app, void *state, struct area area)
{
	struct roofline *s = state;
	roofline_renew(app, s);
	int selected = chosen(app, s);
	struct chart_line lines[] = { { chosen_text(app, s, selected), STYLE_BOLD },
		{ counts_text(app, s, selected), STYLE_DIM } };
	struct area above_lines = chart_above(area, lines, 2);
	chart_foot(chart_below(area, above_lines), lines, 2);
	area = above_lines;
	int left = area.width >= 30 ? 8 : 0, below = area.height >= 5 ? 2 : 0, above = area.height >= 7;
	struct area chart = canvas_part(area, left, above, area.width - left, area.height - below - above);
	if (chart.width < 1 || chart.height < 1 || !session_analysis(app->session))
		return;
	if (!s->count) {
		canvas_fit(chart, 1, 0, chart.width - 1, STYLE_DIM, "no layer has a position yet");
		return;
	}
	struct roof_chart axes = { .area = chart };
	axes_make(s, &axes);
	if (above)
		draw_legend(canvas_part(area, 0, 0, area.width, 1));
	if (left)
		axis_draw_left(canvas_part(area, 0, above, left, chart.height), &axes.y, &quantity_count);
	if (below)
		axis_draw_below(canvas_part(area, left, above + chart.height, chart.width, 2), &axes.x,
			&quantity_count, "FLOP/byte");
	draw_chart(app, s, chart, selected);
}

/* ---- keys ---- */

enum { ROOF_LEFT, ROOF_RIGHT, ROOF_NEXT, ROOF_PREVIOUS };

/* Moves along `order` (NULL: by cost), over dots of another limit if `same`. */
static void step(struct app *app, const struct roofline *s, const int *order, int by, bool same)
{
	int selected = chosen(app, s), n = app->count ? app->count : 1, at = -1;
	for (int i = 0; i < s->count; i++)
		at = (order ? order[i] : i) == selected ? i : at;
	if (at < 0) {
		app->layer = s->dots.list[0].layer;
		return;
	}
	for (int i = at + by; n > 0 && i >= 0 && i < s->count; i += by) {
		const struct dot *d = &s->dots.list[order ? order[i] : i], *now = &s->dots.list[selected];
		bool other = d->limit.by != now->limit.by || strcmp(d->limit.peak, now->limit.peak) != 0;
		if (same && other)
			continue;
		app->layer = d->layer;
		n--;
	}
	if (same && n == (app->count ? app->count : 1))
		app_note(app, false, "no %s problem has the same limit", by > 0 ? "cheaper" : "costlier");
}

static bool own_request(struct app *app, struct roofline *s, int argument)
{
	bool back = argument == ROOF_LEFT || argument == ROOF_PREVIOUS;
	bool same = argument == ROOF_NEXT || argument == ROOF_PREVIOUS;
	step(app, s, same ? NULL : sorted_by_intensity(s), back ? -1 : 1, same);
	return true;
}

static bool roofline_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct roofline *s = state;
	(void)row;
	roofline_renew(app, s);
	if (key->request == REQUEST_OPEN && app->layer >= 0) {
		app_show(app, &view_detail, app->layer);
		return true;
	}
	if (!s->count)
		return key->request == REQUEST_OWN;
	switch (key->request) {
	case REQUEST_OWN: return own_request(app, s, key->argument);
	case REQUEST_DOWN: step(app, s, NULL, 1, false); return true;
	case REQUEST_UP: step(app, s, NULL, -1, false); return true;
	case REQUEST_FIRST: app->layer = s->dots.list[0].layer; return true;
	case REQUEST_LAST: app->layer = s->dots.list[s->count - 1].layer; return true;
	default: return false;
	}
}

static const struct key_row roofline_keys[] = {
	{ "l Right", REQUEST_OWN, ROOF_RIGHT, KEYS_CHARTS, "to the layer of the next higher intensity",
		.counts = true, .name = "right" },
	{ "h Left", REQUEST_OWN, ROOF_LEFT, KEYS_CHARTS, "to the layer of the next lower intensity",
		.counts = true, .name = "left" },
	{ "n", REQUEST_OWN, ROOF_NEXT, KEYS_CHARTS, "to the next cheaper layer with the same limit",
		.hint = "same limit", .counts = true, .name = "next-same-limit" },
	{ "N", REQUEST_OWN, ROOF_PREVIOUS, KEYS_CHARTS, "to the next costlier layer with the same limit",
		.counts = true, .name = "previous-same-limit" },
	{ 0 }
};

const struct view view_roofline = {
	.name = "roofline",
	.help = "intensity and speed of each distinct problem below the device's peaks; {down} and {up} move "
		"by cost",
	.keys = "gr",
	.group = KEYS_CHARTS,
	.own = roofline_keys,
	.state_size = sizeof(struct roofline),
	.close = roofline_close,
	.draw = roofline_draw,
	.request = roofline_request,
	.own_footer = true,
};
