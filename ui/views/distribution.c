/* The samples of the selected layer's problem, a box plot for each algorithm. Only what is stored is drawn:
 * minimum, quartiles and the interval of the median; single samples and the maximum are not kept. */
#include "config.h"

#include "ui/screen/plot.h"
#include "ui/views/chart.h"
#include "ui/views/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct distribution {
	int layer;             /* of `row` */
	int row, top;          /* the chosen algorithm; the first one shown */
	bool own_axis;         /* the axis is that of the chosen algorithm */
};

/* Results of one layer, in the arena of the drawing. */
struct sample_rows {
	const char *problem;
	const struct result *used; /* the layer's cost; or NULL */
	int count;
	const struct result **rows; /* with samples: those of the used states first, then the fastest */
	int without;           /* results without samples: unsupported, failed ... */
};

/* ---- rows ---- */

/* Also if the cost is interpolated at the model's own reuse distance. */
static bool is_used(const struct sample_rows *s, const struct result *r)
{
	return s->used && results_same_key(r, s->used);
}

static bool is_of_states(const struct result *r, const struct result *used)
{
	return used && r->cache == used->cache && r->launch == used->launch;
}

static int by_median(const void *x, const void *y, void *used)
{
	const struct result *a = *(const struct result *const *)x, *b = *(const struct result *const *)y;
	int apart = is_of_states(b, used) - is_of_states(a, used);
	return apart ? apart : app_compare_numbers(b->stats.median, a->stats.median);
}

static struct sample_rows rows_of(struct app *app, int layer)
{
	layer = chart_anchor(app, layer);
	const struct layer_cost *c = app_cost(app, layer);
	struct sample_rows s = { .used = c ? c->result : NULL };
	s.problem = s.used ? s.used->problem : layer >= 0 ? app_problem(app, layer) : NULL;
	int count = 0;
	const struct result *const *all =
		s.problem ? results_of(session_results(app->session), s.problem, &count) : NULL;
	s.rows = ARENA_ARRAY(&app->scratch, const struct result *, count);
	for (int i = 0; i < count; i++) {
		bool good = all[i]->status == STATUS_OK && all[i]->stats.median > 0;
		s.without += !good;
		if (good)
			s.rows[s.count++] = all[i];
	}
	if (s.count)
		qsort_r(s.rows, (size_t)s.count, sizeof(*s.rows), by_median, (void *)s.used);
	return s;
}

/* Another layer begins at the algorithm that its cost is from. */
static void row_settle(const struct app *app, struct distribution *d, const struct sample_rows *s)
{
	if (d->layer != app->layer) {
		d->layer = app->layer;
		d->top = d->row = 0;
		d->own_axis = false;
		for (int i = 0; i < s->count; i++)
			d->row = is_used(s, s->rows[i]) ? i : d->row;
	}
	d->row = d->row >= s->count ? s->count - 1 : d->row;
	d->row = d->row < 0 ? 0 : d->row;
}

/* ---- texts ---- */

static const char *duration(struct app *app, double ns)
{
	char *text = ARENA_ARRAY(&app->scratch, char, STR_QUANTITY);
	return str_duration(text, ns);
}

/* The algorithm, and its states if they are not those of the layer's cost. */
static const char *row_name(struct app *app, const struct sample_rows *s, const struct result *r)
{
	const char *name = app_clean(app, text_of(r->algorithm.name));
	const char *layouts = app_clean(app, text_of(r->algorithm.layouts));
	if (is_of_states(r, s->used) || !s->used)
		return arena_printf(&app->scratch, "%s%s%s", name, *layouts ? " " : "", layouts);
	const char *cache = r->cache == s->used->cache ? "" : cache_name(r->cache),
		*launch = r->launch == s->used->launch ? "" : launch_name(r->launch);
	return arena_printf(&app->scratch, "%s%s%s%s%s%s%s", cache, *cache ? " " : "", launch,
		*launch ? " " : "", name, *layouts ? " " : "", layouts);
}

static const char *stats_text(struct app *app, const struct sample_rows *s, const struct result *r)
{
	const struct sample_stats *t = &r->stats;
	const char *text = arena_printf(&app->scratch, "%s%s: %lld sample%s, median %s",
		row_name(app, s, r), is_used(s, r) ? " (used)" : "", (long long)t->n,
		t->n == 1 ? "" : "s", duration(app, t->median));
	if (t->lo > 0 && t->hi > 0)
		text = arena_printf(&app->scratch, "%s, %s %s to %s", text, t->n < 6 ? "range" : "95%",
			duration(app, t->lo), duration(app, t->hi));
	if (t->q1 > 0 && t->q3 > 0)
		text = arena_printf(&app->scratch, "%s, quartiles %s and %s", text, duration(app, t->q1),
			duration(app, t->q3));
	if (t->min > 0)
		text = arena_printf(&app->scratch, "%s, minimum %s", text, duration(app, t->min));
	if (t->discarded > 0)
		text = arena_printf(&app->scratch, "%s, %lld left out", text, (long long)t->discarded);
	return arena_printf(&app->scratch, "%s; %s, %s%s", text, cache_name(r->cache), launch_name(r->launch),
		t->stop == STOP_DISTURBED ? ", noisy" : "");
}

static const char *none_text(struct app *app, const struct sample_rows *s)
{
	const struct layer_cost *c = app_cost(app, app->layer);
	if (app->layer < 0)
		return "no layer is selected";
	if (c && c->origin == ORIGIN_ESTIMATED)
		return arena_printf(&app->scratch, "~%s is an estimate without samples",
			duration(app, c->ns));
	if (!s->problem)
		return arena_printf(&app->scratch, "no samples: %s", chart_cost(app, app->layer));
	return s->without ? arena_printf(&app->scratch, "no samples: %d result%s, all without a time",
		s->without, s->without == 1 ? "" : "s") : arena_printf(&app->scratch, "no samples: %s",
		app_missing_why(app, app->layer));
}

static const char *counts_text(struct app *app, const struct distribution *d, const struct sample_rows *s)
{
	const char *text = arena_printf(&app->scratch, "%d of %d results", d->row + 1, s->count);
	if (s->without)
		text = arena_printf(&app->scratch, "%s, %d more without samples", text, s->without);
	return arena_printf(&app->scratch,
		"%s; the maximum is not stored; %s %s", text,
		key_named(d->own_axis ? "distribution.all" : "distribution.spread"),
		d->own_axis ? "shows all" : "spreads the selected one");
}

/* ---- the chart ---- */

/* Statistics that are not known are NaN or 0. */
static double known(double ns)
{
	return ns > 0 ? ns : NAN;
}

static struct axis axis_for(const struct distribution *d, const struct sample_rows *s)
{
	double low = NAN, high = NAN;
	for (int i = 0; i < s->count; i++) {
		const struct sample_stats *t = &s->rows[i]->stats;
		if (d->own_axis && i != d->row)
			continue;
		low = fmin(fmin(low, known(t->min)), fmin(known(t->lo), fmin(known(t->q1), t->median)));
		high = fmax(high, fmax(known(t->hi), fmax(known(t->q3), t->median)));
	}
	double room = (high - low) / 20;
	bool log = high > 20 * low;
	return log ? axis_of(low / 1.1, high * 1.1, true) : axis_of(low - room, high + room, false);
}

/* Column of a time; -1 left of the area, its width right of it. NaN: -1. */
static int column_of(const struct axis *x, struct area a, double ns)
{
	double at = axis_place(x, ns);
	return isnan(at) || at < 0 ? -1 : at > 1 ? a.width : (int)floor(at * (a.width - 1) + 0.5);
}

static void span_fill(struct area a, int from, int to, enum style style, uint32_t code)
{
	for (int x = from < 0 ? 0 : from; x <= to && x < a.width; x++)
		canvas_put(a, x, 0, style, code);
}

/* In a second row the 95% interval of the median, or the range. */
static void draw_box(struct area a, const struct axis *x, const struct sample_stats *t, enum style style)
{
	bool ascii = a.canvas->ascii;
	int median = column_of(x, a, t->median);
	if (t->min > 0 && t->q1 > 0) {
		span_fill(a, column_of(x, a, t->min), column_of(x, a, t->q1), style, 0x2500);
		canvas_put(a, column_of(x, a, t->min), 0, style, ascii ? '|' : 0x251c);
	}
	if (t->q1 > 0 && t->q3 > 0)
		span_fill(a, column_of(x, a, t->q1), column_of(x, a, t->q3), style, ascii ? '=' : 0x2592);
	if (median < 0 || median >= a.width)
		canvas_put(a, median < 0 ? 0 : a.width - 1, 0, STYLE_DIM, median < 0 ? '<' : '>');
	else
		canvas_put(a, median, 0, STYLE_BOLD, ascii ? '#' : 0x2588);
	struct area below = canvas_part(a, 0, 1, a.width, 1);
	int lo = column_of(x, a, t->lo), hi = column_of(x, a, t->hi);
	if (!(t->lo > 0) || !(t->hi > 0) || below.height < 1)
		return;
	span_fill(below, lo, hi, STYLE_DIM, 0x2500);
	canvas_put(below, lo, 0, STYLE_DIM, '(');
	canvas_put(below, hi, 0, STYLE_DIM, ')');
}

#define MEDIAN_COLUMNS 10

static int name_columns(int width)
{
	return width / 3 < 36 ? width / 3 : 36;
}

/* Headings, and the signs of a box. */
static void draw_heading(struct area line)
{
	int names = name_columns(line.width), x = names + MEDIAN_COLUMNS;
	bool ascii = line.canvas->ascii;
	const struct chart_key keys[] = { { STYLE_NORMAL, ascii ? "|-" : "\u251c\u2500", "minimum" },
		{ STYLE_NORMAL, ascii ? "=" : "\u2592", "quartiles" },
		{ STYLE_BOLD, ascii ? "#" : "\u2588", "median" },
		{ STYLE_DIM, "(-)", "95%, or range, of the median" },
		{ STYLE_GOOD, ascii ? "=" : "\u2592", "used" } };
	canvas_fit(line, 1, 0, names - 1, STYLE_DIM, "algorithm");
	canvas_fit_right(line, names, 0, MEDIAN_COLUMNS, STYLE_DIM, "median");
	chart_keys(canvas_part(line, x, 0, line.width - x, 1), keys, 5);
}

static void draw_rows(struct app *app, struct distribution *d, const struct sample_rows *s, struct area a)
{
	int names = name_columns(a.width), x = names + MEDIAN_COLUMNS + 1;
	struct area chart = canvas_part(a, x, 0, a.width - x - 1, a.height);
	int axis_rows = a.height >= 4 ? 2 : 0, room = a.height - axis_rows;
	int high = s->count * 3 <= room ? 3 : s->count * 2 <= room ? 2 : 1, shown = room / high;
	shown = shown < s->count ? shown : s->count;
	struct axis axis = axis_for(d, s);
	d->top = d->row < d->top ? d->row : d->row >= d->top + shown ? d->row - shown + 1 : d->top;
	d->top = d->top + shown > s->count ? s->count - shown : d->top;
	for (int i = d->top; i < d->top + shown; i++) {
		const struct result *r = s->rows[i];
		int y = (i - d->top) * high;
		app_item(app, a, 0, y, a.width, i);
		enum style style = is_used(s, r) ? STYLE_GOOD : is_of_states(r, s->used) ? STYLE_NORMAL :
			STYLE_DIM;
		canvas_put(a, 0, y, STYLE_BOLD, i == d->row ? '>' : ' ');
		canvas_fit(a, 1, y, names - 1, style, row_name(app, s, r));
		canvas_fit_right(a, names, y, MEDIAN_COLUMNS, style, duration(app, r->stats.median));
		if (i == d->row)
			canvas_select(canvas_part(a, 0, y, x - 1, 1), 0);
		if (chart.width > 0)
			draw_box(canvas_part(chart, 0, y, chart.width, high > 1 ? 2 : 1), &axis, &r->stats,
				style);
	}
	if (axis_rows && chart.width > 0)
		axis_draw_below(canvas_part(chart, 0, shown * high, chart.width, 2), &axis,
			&quantity_duration, "time");
}

static void distribution_draw(struct app *app, void *state, struct area area)
{
	struct distribution *d = state;
	struct sample_rows s = rows_of(app, app->layer);
	row_settle(app, d, &s);
	struct chart_line lines[] = {
		{ s.count ? stats_text(app, &s, s.rows[d->row]) : none_text(app, &s), STYLE_BOLD },
		{ s.count ? counts_text(app, d, &s) : NULL, STYLE_DIM } };
	struct area above = chart_above(area, lines, 2);
	chart_foot(chart_below(area, above), lines, 2);
	int heading = above.height >= 3;
	if (heading)
		canvas_fit(above, 1, 0, above.width - 1, STYLE_HEADER, arena_printf(&app->scratch, "%s  %s",
			chart_name(app, app->layer), app->layer >= 0 ? chart_cost(app, app->layer) : ""));
	above = canvas_part(above, 0, heading, above.width, above.height - heading);
	int columns = s.count && above.height >= 5;
	if (columns)
		draw_heading(canvas_part(above, 0, 0, above.width, 1));
	above = canvas_part(above, 0, columns, above.width, above.height - columns);
	if (s.count && above.height > 0)
		draw_rows(app, d, &s, above);
}

/* ---- keys ---- */

enum { SAMPLES_NEXT, SAMPLES_PREVIOUS, SAMPLES_SPREAD, SAMPLES_ALL };

/* The next listed layer that has samples. */
static void layer_step(struct app *app, int by)
{
	int n = app->count ? app->count : 1, at = app_listed_at(app, app->layer);
	at = at >= 0 && at < app->place_count ? app->row_of[at] : -1;
	for (int row = at + by; row >= 0 && row < app->listed_count && n > 0; row += by)
		if (rows_of(app, app->listed[row]).count) {
			app->layer = app->listed[row];
			n--;
		}
}

static bool distribution_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct distribution *d = state;
	struct sample_rows s = rows_of(app, app->layer);
	int n = app->count ? app->count : 1;
	(void)row;
	row_settle(app, d, &s);
	switch (key->request) {
	case REQUEST_OPEN:
		if (app->layer >= 0)
			app_show(app, &view_detail, app->layer);
		return app->layer >= 0;
	case REQUEST_DOWN: d->row = s.count - 1 - d->row < n ? s.count - 1 : d->row + n; return true;
	case REQUEST_UP: d->row = d->row < n ? 0 : d->row - n; return true;
	case REQUEST_FIRST: d->row = 0; return true;
	case REQUEST_LAST: d->row = s.count - 1; return true;
	case REQUEST_OWN: break;
	default: return false;
	}
	if (key->argument == SAMPLES_NEXT || key->argument == SAMPLES_PREVIOUS)
		layer_step(app, key->argument == SAMPLES_NEXT ? 1 : -1);
	else
		d->own_axis = key->argument == SAMPLES_SPREAD;
	return true;
}

static void distribution_pick(struct app *app, void *state, int item)
{
	struct distribution *d = state;
	(void)app;
	d->row = item;
}

static const struct key_row distribution_keys[] = {
	{ "l Right n", REQUEST_OWN, SAMPLES_NEXT, KEYS_CHARTS, "to the next layer with samples",
		.hint = "next layer", .counts = true, .name = "next" },
	{ "h Left N", REQUEST_OWN, SAMPLES_PREVIOUS, KEYS_CHARTS, "to the previous layer with samples",
		.counts = true, .name = "previous" },
	{ "+", REQUEST_OWN, SAMPLES_SPREAD, KEYS_CHARTS, "spread the samples of the selected algorithm",
		.name = "spread" },
	{ "-", REQUEST_OWN, SAMPLES_ALL, KEYS_CHARTS, "show all algorithms on one axis", .name = "all" },
	{ 0 }
};

static void distribution_open(struct app *app, void *state)
{
	(void)app;
	((struct distribution *)state)->layer = -1;
}

const struct view view_distribution = {
	.name = "distribution",
	.help = "samples of the selected layer: a box plot for each algorithm; {down} and {up} choose "
		"one",
	.keys = "gd",
	.group = KEYS_CHARTS,
	.own = distribution_keys,
	.state_size = sizeof(struct distribution),
	.open = distribution_open,
	.draw = distribution_draw,
	.request = distribution_request,
	.pick = distribution_pick,
	.own_footer = true,
};
