/* The view of batches and types, as a table and as curves; a row is computed between keys. */
#include "config.h"

#include "ui/views/view.h"

#include "base/clock.h"
#include "session/scenarios.h"
#include "ui/screen/plot.h"
#include "ui/views/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bound at each batch and data type of the configuration; without any, at the usual batches and at those
 * that were chosen meanwhile. */
struct sweep_line {
	int64_t batch;
	enum dtype dtype;
	struct scenario_total total; /* `why` in its own arena */
	struct arena arena;
	uint64_t generation; /* of `total`; 0: none yet */
	bool first;	     /* of its data type */
	int64_t filled_ms, took_ms; /* when `total` was computed (clock_ms), and how long it took */
};

#define BATCHES_MORE 8

struct sweep {
	struct sweep_line *lines;
	struct canvas curves; /* below the lines */
	int count, width;
	int64_t more[BATCHES_MORE]; /* chosen besides the usual ones */
	int more_count;
	int height, rows; /* of the area; of the curves, as far as the area has room */
	bool filled; /* a line was, since the last drawing */
};

#define BAR_LEAST 6
#define CURVE_ROWS_LEAST 9
#define CURVE_ROWS 15  /* at most; with a blank one above, a legend, a title, and two of the axis */
#define CURVE_LEAST 60 /* columns of the screen */
#define CURVE_LEFT 10
#define BAR_MOST 60

static const int64_t usual_batches[] = { 1, 2, 4, 8, 16, 32 };
#define USUAL_COUNT ((int)(sizeof(usual_batches) / sizeof(usual_batches[0])))

static void sweep_close(struct app *app, void *state)
{
	struct sweep *s = state;
	(void)app;
	for (int i = 0; i < s->count; i++)
		arena_free(&s->lines[i].arena);
	free(s->lines);
	canvas_free(&s->curves);
	s->curves = (struct canvas){ 0 };
	s->lines = NULL;
	s->count = 0;
}

static int batch_order(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Batches in ascending order, within each data type. */
static void sweep_open(struct app *app, void *state)
{
	struct sweep *s = state;
	const struct config *c = session_given(app->session);
	const struct plan *p = app_plan(app);
	int64_t batches[CONFIG_LIST_MAX] = { 0 };
	int batch_count = c->batch_count ? c->batch_count
		: p && p->batch > 0	 ? USUAL_COUNT + s->more_count
					 : 1,
	    dtype_count = c->dtype_count ? c->dtype_count : 1;
	sweep_close(app, s);
	if (!p)
		return;
	for (int i = 0; i < batch_count && batch_count > 1; i++)
		batches[i] = c->batch_count ? c->batch[i] : i < USUAL_COUNT ? usual_batches[i]
			: s->more[i - USUAL_COUNT];
	if (batch_count == 1)
		batches[0] = c->batch_count ? c->batch[0] : 0;
	qsort(batches, (size_t)batch_count, sizeof(batches[0]), batch_order);
	s->lines = base_calloc((size_t)(batch_count * dtype_count), sizeof(*s->lines));
	for (int i = 0; i < batch_count * dtype_count; i++)
		s->lines[s->count++] = (struct sweep_line){ .batch = batches[i % batch_count],
			.dtype = c->dtype_count ? c->dtype[i / batch_count] : session_dtype(app->session),
			.first = i % batch_count == 0 };
}

/* The batch in use, as + chose it, is part of a sweep that is not configured. True: it is a new one. */
static bool batch_is_new(const struct app *app, struct sweep *s)
{
	const struct plan *p = app_plan(app);
	bool known = !p || p->batch < 1 || session_given(app->session)->batch_count ||
		s->more_count == BATCHES_MORE;
	for (int i = 0; i < s->count && !known; i++)
		known = s->lines[i].batch == p->batch || !s->lines[i].batch;
	if (!known && s->count)
		s->more[s->more_count++] = p->batch;
	return !known && s->count;
}

/* Marks the best batch of each data type. */
static void best_mark(struct sweep *s)
{
	struct sweep_point points[CONFIG_LIST_MAX];
	for (int i = 0, end; i < s->count; i = end) {
		int n = 0;
		for (end = i; end < s->count && (end == i || !s->lines[end].first); end++) {
			points[n] = s->lines[end].total.point;
			points[n++].complete &= !s->lines[end].total.why && s->lines[end].generation;
		}
		sweep_best(points, n);
		for (int k = 0; k < n; k++) {
			struct sweep_point *to = &s->lines[i + k].total.point;
			to->best = points[k].best;
			to->growing = points[k].growing;
		}
	}
}

static void line_fill(struct app *app, struct sweep_line *l)
{
	struct session *session = app->session;
	int64_t begin = clock_ms();
	arena_free(&l->arena);
	struct config_scenario one = { .what_if = session_what_ifs(session, &l->arena),
		.batch = l->batch,
		.has_dtype = true,
		.dtype = l->dtype };
	l->total = scenarios_total(session, &one, &l->arena);
	l->generation = app->generation;
	l->filled_ms = clock_ms();
	l->took_ms = l->filled_ms - begin;
}

static bool has_curves(const struct sweep *s, int width);

/* Rows of the curves below the heading, the lines and the foot. */
static int curve_rows(const struct sweep *s)
{
	int left = s->height - s->count - 2;
	return left < CURVE_ROWS_LEAST ? CURVE_ROWS_LEAST : left > CURVE_ROWS ? CURVE_ROWS : left;
}

/* A point is computed between keys (sweep_work); a single frame has all at once. */
static int sweep_rows(struct app *app, void *state, int width)
{
	struct sweep *s = state;
	s->width = width;
	s->filled = false;
	bool other = s->count && app_plan(app) && !session_given(app->session)->dtype_count &&
		s->lines[0].dtype != session_dtype(app->session);
	if (!s->lines || other || batch_is_new(app, s))
		sweep_open(app, s);
	for (int i = 0; app->is_still && i < s->count; i++)
		if (s->lines[i].generation != app->generation)
			line_fill(app, &s->lines[i]);
	best_mark(s);
	s->rows = has_curves(s, width) ? curve_rows(s) : 0;
	return s->count + s->rows;
}

#define FILL_SHARE 10 /* a known line is computed again after 10 times its duration */

/* The line to compute next: the one that was computed longest ago; NULL: none is due. */
static struct sweep_line *line_due(const struct app *app, struct sweep *s)
{
	struct sweep_line *oldest = NULL;
	int64_t now = clock_ms();
	for (int i = 0; i < s->count; i++) {
		struct sweep_line *l = &s->lines[i];
		bool due = l->generation != app->generation && now - l->filled_ms >= FILL_SHARE * l->took_ms;
		if (due && (!oldest || l->generation < oldest->generation))
			oldest = l;
	}
	return oldest;
}

static bool sweep_work(struct app *app, void *state, int ms)
{
	struct sweep *s = state;
	struct sweep_line *l = line_due(app, s);
	if (l && ms > 0) {
		line_fill(app, l);
		s->filled = true;
		l = line_due(app, s);
	}
	return l != NULL;
}

static int sweep_due(struct app *app, void *state)
{
	(void)app;
	return ((struct sweep *)state)->filled ? 0 : -1;
}

/* ---- drawing ---- */

static bool has_tokens(const struct sweep *s)
{
	for (int i = 0; i < s->count; i++)
		if (s->lines[i].generation && !isnan(s->lines[i].total.point.tokens_per_s))
			return true;
	return false;
}

/* Items or tokens a second. */
static double throughput(const struct sweep *s, const struct sweep_line *l)
{
	return has_tokens(s) ? l->total.point.tokens_per_s : l->total.point.items_per_s;
}

static bool is_known(const struct sweep_line *l)
{
	return l->generation && !l->total.why && l->total.point.complete;
}

static double most_of(const struct sweep *s, bool latency)
{
	double most = 0;
	for (int i = 0; i < s->count; i++) {
		double x = latency ? s->lines[i].total.point.total_ns : throughput(s, &s->lines[i]);
		if (is_known(&s->lines[i]) && x > most)
			most = x;
	}
	return most;
}

#define TYPE_AT 9
#define BOUND_AT 14
#define RATE_AT 25
#define MEMORY_AT 34
#define LIMIT_AT 45
#define BARS_AT 60

static int sweep_foot(struct app *app, void *state, int height)
{
	struct sweep *s = state;
	bool best = false;
	(void)app;
	s->height = height;
	for (int i = 0; i < s->count; i++)
		best |= s->lines[i].total.point.best;
	return best && height > s->count + 2;
}

static void sweep_draw_foot(struct app *app, void *state, struct area a)
{
	const struct sweep *s = state;
	bool growing = false, noisy = false;
	for (int i = 0; i < s->count; i++) {
		growing |= s->lines[i].total.point.growing;
		noisy |= sweep_is_noisy(&s->lines[i].total.point);
	}
	canvas_fit(a, 1, 0, a.width - 1, STYLE_DIM, arena_printf(&app->scratch,
		"* the best batch: the last doubling that gains more than %.0f%%%s", 100 * SWEEP_LEAST_GAIN,
		noisy ? "; noisy" : growing ? "; larger may gain" : ""));
}

static void sweep_heading(struct app *app, void *state, struct area line)
{
	const struct sweep *s = state;
	int bars = (line.width - BARS_AT - 2) / 2;
	const char *total = session_described(app->session) ? "estimate" : "bound";
	canvas_fit_right(line, 1, 0, 7, STYLE_DIM, "batch");
	canvas_fit(line, TYPE_AT, 0, 5, STYLE_DIM, "type");
	canvas_fit_right(line, BOUND_AT, 0, 10, STYLE_DIM, total);
	canvas_fit_right(line, RATE_AT, 0, 8, STYLE_DIM, has_tokens(s) ? "tokens/s" : "items/s");
	canvas_fit_right(line, MEMORY_AT, 0, 10, STYLE_DIM, "memory");
	canvas_fit(line, LIMIT_AT, 0, 14, STYLE_DIM, "limited by");
	if (bars >= BAR_LEAST) {
		canvas_fit(line, BARS_AT, 0, bars, STYLE_DIM, "latency");
		canvas_fit(line, BARS_AT + bars + 1, 0, bars, STYLE_DIM,
			bars >= 10 ? "throughput" : has_tokens(s) ? "tokens/s" : "items/s");
	}
}

static void bar_draw(struct area line, int x, int columns, double value, double most, enum style style)
{
	int most_columns = columns > BAR_MOST ? BAR_MOST : columns;
	int length = most > 0 ? (int)lround(most_columns * value / most) : 0;
	for (int i = 0; i < (length ? length : 1); i++)
		canvas_put(line, x + i, 0, style, 0x2588);
}

/* What is missing, on a narrow screen in place of figures. */
static void gap_draw(struct area line, bool no_bound, const char *gap)
{
	int x = line.width - LIMIT_AT >= canvas_columns(gap) ? LIMIT_AT : no_bound ? BOUND_AT + 1 : RATE_AT;
	canvas_fill(line, x, 0, line.width - x, STYLE_NORMAL, ' ');
	canvas_fit(line, x, 0, line.width - x, STYLE_WARN, gap);
}

static void numbers_draw(struct app *app, const struct sweep *s, const struct sweep_line *l, struct area line)
{
	const struct sweep_point *p = &l->total.point;
	struct arena *a = &app->scratch;
	char text[STR_QUANTITY];
	enum style style = p->best ? STYLE_GOOD : STYLE_NORMAL;
	canvas_fit_right(line, BOUND_AT, 0, 10, style,
		arena_printf(a, "%s%s", sweep_mark(p), str_duration(text, p->total_ns)));
	canvas_fit_right(
		line, RATE_AT, 0, 8, style, arena_printf(a, "%s%s", isnan(throughput(s, l)) ? "" :
			sweep_rate_mark(p), str_count(text, throughput(s, l))));
	canvas_fit_right(
		line, MEMORY_AT, 0, 10, style, arena_printf(a, "%s%s", sweep_memory_mark(p),
			str_bytes(text, p->memory_bytes)));
	const char *limit = limit_name(p->by);
	int bars = (line.width - BARS_AT - 2) / 2;
	if (!is_known(l)) {
		const char *gap = l->total.unmeasured
			? arena_printf(a, "%d unmeasured%s%s", l->total.unmeasured,
				session_queue(app->session) ? ": " : "",
				session_queue(app->session) ? key_named("measure") : "")
			: arena_printf(a, "%d without a cost", l->total.without);
		gap_draw(line, isnan(p->total_ns), gap);
		return;
	}
	canvas_fit(line, LIMIT_AT, 0, 14, STYLE_DIM,
		limit ? arena_printf(a, "%s %s%.0f%%", limit, p->complete && !p->estimated ? "" : "~",
			100 * p->by_share) : "-");
	if (bars < BAR_LEAST) {
		canvas_fit(line, BARS_AT, 0, line.width - BARS_AT, style, p->best ? "* best" : "");
		return;
	}
	bar_draw(line, BARS_AT, bars, p->total_ns, most_of(s, true), STYLE_DIM);
	bar_draw(line, BARS_AT + bars + 1, bars, throughput(s, l), most_of(s, false),
		p->best ? STYLE_GOOD : STYLE_ACCENT);
}

/* ---- curves: a row of the view shows a row of their canvas ---- */

static double value_of(const struct sweep *s, const struct sweep_line *l, bool latency)
{
	return !is_known(l) || l->batch < 1 ? NAN : latency ? l->total.point.total_ns : throughput(s, l);
}

/* True if a data type has two points to connect. */
static bool has_curves(const struct sweep *s, int width)
{
	for (int i = 1; i < s->count && width >= CURVE_LEAST; i++)
		if (!s->lines[i].first && !isnan(value_of(s, &s->lines[i], true)) &&
			!isnan(value_of(s, &s->lines[i - 1], true)))
			return true;
	return false;
}

static enum style series_style(int series)
{
	static const enum style styles[] = { STYLE_ACCENT, STYLE_GOOD, STYLE_WARN, STYLE_BOLD };
	return styles[series % 4];
}

static uint32_t series_sign(struct area a, int series)
{
	static const uint32_t signs[2][4] = { { 0x25cf, 0x25a0, 0x25b2, 0x25c6 }, { 'o', 'x', '+', '#' } };
	return signs[a.canvas->ascii][series % 4];
}

struct curve_axes {
	struct axis across, up;
	double batches[CONFIG_LIST_MAX]; /* with a known value, ascending */
	int count;
};

static struct curve_axes axes_make(const struct sweep *s, bool latency)
{
	double least_x = INFINITY, most_x = 0, least = INFINITY, most = 0;
	struct curve_axes axes = { .count = 0 };
	for (int i = 0; i < s->count; i++) {
		double y = value_of(s, &s->lines[i], latency), x = (double)s->lines[i].batch;
		if (isnan(y))
			continue;
		least_x = x < least_x ? x : least_x;
		most_x = x > most_x ? x : most_x;
		least = y < least ? y : least;
		most = y > most ? y : most;
		int at = 0;
		while (at < axes.count && axes.batches[at] < x)
			at++;
		if (at < axes.count && axes.batches[at] == x)
			continue;
		memmove(&axes.batches[at + 1], &axes.batches[at],
			(size_t)(axes.count++ - at) * sizeof(*axes.batches));
		axes.batches[at] = x;
	}
	axes.across = axis_of(least_x, most_x, true);
	axes.up = axis_of(least, most, true);
	return axes;
}

/* Latency or throughput over the batch, both on log axes, a line a data type. The signs of points are where
 * the axes have their ticks. */
static void curve_draw(struct app *app, const struct sweep *s, struct area a, bool latency)
{
	struct curve_axes axes = axes_make(s, latency);
	canvas_fit(a, 1, 0, a.width - 1, STYLE_DIM,
		latency ? "latency" : has_tokens(s) ? "tokens/s" : "items/s");
	struct area plot = canvas_part(a, CURVE_LEFT, 1, a.width - CURVE_LEFT - 2, a.height - 3);
	axis_draw_left(canvas_part(a, 0, 1, CURVE_LEFT, plot.height), &axes.up,
		latency ? &quantity_duration : &quantity_count);
	axis_draw_ticks(canvas_part(a, CURVE_LEFT, 1 + plot.height, plot.width, 2), &axes.across,
		&quantity_count, "batch", axes.batches, axes.count);
	struct plot p = plot_begin(plot, &app->scratch);
	double *xs = ARENA_ARRAY(&app->scratch, double, s->count);
	double *ys = ARENA_ARRAY(&app->scratch, double, s->count);
	for (int i = 0, series = -1; i < s->count; i++) {
		const struct sweep_line *l = &s->lines[i];
		series += l->first;
		xs[i] = 0.5 + axis_place(&axes.across, (double)l->batch) * (plot.width - 1);
		ys[i] = 0.5 + (1 - axis_place(&axes.up, value_of(s, l, latency))) * (plot.height - 1);
		if (!l->first)
			plot_line(&p, xs[i - 1], ys[i - 1], xs[i], ys[i], series_style(series), false);
	}
	plot_end(&p);
	for (int i = 0, series = -1; i < s->count; i++) {
		bool best = s->lines[i].total.point.best;
		int x = isnan(ys[i]) ? -1 : (int)xs[i];
		series += s->lines[i].first;
		for (int k = 0; k < i && x >= 0; k++) /* beside one in the same place */
			x += !isnan(ys[k]) && (int)xs[k] == (int)xs[i] && (int)ys[k] == (int)ys[i];
		if (x >= 0)
			canvas_put(plot, x < plot.width ? x : 2 * plot.width - 2 - x, (int)ys[i],
				best ? STYLE_GOOD : series_style(series),
				best ? '*' : series_sign(plot, series));
	}
}

/* The signs of the data types. */
static void legend_draw(struct app *app, const struct sweep *s, struct area line)
{
	struct chart_key *keys = ARENA_ARRAY(&app->scratch, struct chart_key, s->count + 1);
	int count = 0;
	bool best = false;
	for (int i = 0; i < s->count; i++) {
		struct str sign = { 0 };
		best |= s->lines[i].total.point.best;
		if (!s->lines[i].first)
			continue;
		canvas_encode(&sign, series_sign(line, count));
		keys[count] = (struct chart_key){ series_style(count),
			arena_printf(&app->scratch, "%s", sign.p),
			session_type_name(app->session, s->lines[i].dtype) };
		str_free(&sign);
		count++;
	}
	if (best)
		keys[count++] = (struct chart_key){ STYLE_GOOD, "*", "the best batch" };
	chart_keys(line, keys, count);
}

static void curves_draw(struct app *app, struct sweep *s, struct area line)
{
	canvas_resize(&s->curves, line.width, s->rows);
	canvas_clear(&s->curves);
	s->curves.ascii = line.canvas->ascii;
	struct area all = canvas_area(&s->curves);
	int half = line.width / 2;
	legend_draw(app, s, canvas_part(all, 0, 1, line.width, 1));
	curve_draw(app, s, canvas_part(all, 0, 2, half, s->rows - 2), true);
	curve_draw(app, s, canvas_part(all, half, 2, line.width - half, s->rows - 2), false);
}

/* above: the row on the line above, to draw the canvas once. */
static void curves_draw_row(struct app *app, struct sweep *s, int row, int above, struct area line)
{
	if (above < s->count || s->curves.width != line.width || s->curves.height != s->rows)
		curves_draw(app, s, line);
	const struct cell *cells = &s->curves.cells[(row - s->count) * s->curves.width];
	for (int x = 0; x < s->curves.width; x++)
		if (cells[x].code > ' ')
			canvas_put(line, x, 0, cells[x].style, cells[x].code);
}

static bool sweep_passes(struct app *app, void *state, int row)
{
	(void)app;
	return row >= ((struct sweep *)state)->count;
}

static void sweep_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	if (row >= ((struct sweep *)state)->count) {
		curves_draw_row(app, state, row, above, line);
		return;
	}
	const struct sweep *s = state;
	const struct sweep_line *l = &s->lines[row];
	const struct plan *now = app_plan(app);
	struct arena *a = &app->scratch;
	bool present = now && session_dtype(app->session) == l->dtype &&
		(!l->batch || now->batch == l->batch);
	(void)above;
	if (present)
		view_draw_in_use(line);
	canvas_fit_right(line, 2, 0, 6, l->total.point.best ? STYLE_GOOD : STYLE_NORMAL,
		l->batch ? arena_printf(a, "%s%lld", l->total.point.best ? "*" : "", (long long)l->batch)
			 : "-");
	canvas_fit(line, TYPE_AT, 0, 5, STYLE_NORMAL, session_type_name(app->session, l->dtype));
	if (!l->generation)
		canvas_fit(line, BOUND_AT, 0, line.width - BOUND_AT, STYLE_DIM, "...");
	else if (l->total.why)
		canvas_fit(line, BOUND_AT, 0, line.width - BOUND_AT, STYLE_BAD,
			app_clean(app, text_of(l->total.why)));
	else
		numbers_draw(app, s, l, line);
}

static const char *sweep_row_text(struct app *app, void *state, int row)
{
	if (row >= ((struct sweep *)state)->count)
		return "";
	const struct sweep_line *l = &((struct sweep *)state)->lines[row];
	char text[64];
	return app_clean(app,
		text_of(arena_printf(&app->scratch, "%s %s%s",
			session_sweep_text(app->session, text, sizeof(text), l->batch, l->dtype),
			l->total.point.best ? "best " : "", l->total.why ? l->total.why : "")));
}

static int sweep_row_at_entry(struct app *app, void *state)
{
	const struct sweep *s = state;
	const struct plan *now = app_plan(app);
	for (int i = 0; now && i < s->count; i++)
		if (s->lines[i].dtype == session_dtype(app->session) && s->lines[i].batch == now->batch)
			return i;
	return s->count ? 0 : -1;
}

enum { SWEEP_MEASURE };

static const struct key_row sweep_keys[] = {
	{ "b", REQUEST_OWN, SWEEP_MEASURE, KEYS_MEASURE, "measure the whole sweep", .name = "measure" }, { 0 }
};

/* Batches that are not configured become so: what is measured is then also what + and - go through. */
static void sweep_measure(struct app *app, const struct sweep *s)
{
	struct config *c = session_given(app->session);
	int count = 0;
	while (count < s->count && (!count || !s->lines[count].first))
		count++;
	for (int i = 0; !c->batch_count && count > 1 && i < count; i++)
		c->batch[i] = s->lines[i].batch;
	c->batch_count = c->batch_count || count < 2 ? c->batch_count : count;
	app_measure(app);
}

static bool sweep_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct sweep *s = state;
	struct error err = ERROR_NONE;
	if (key->request == REQUEST_OWN) {
		sweep_measure(app, s);
		return true;
	}
	if (key->request != REQUEST_OPEN || row < 0 || row >= s->count)
		return false;
	int64_t batch = s->lines[row].batch;
	batch = batch == app_plan(app)->batch ? session_batch(app->session) : batch;
	if (session_select(app->session, batch, s->lines[row].dtype, &err))
		app_note(app, true, "%s", err.text);
	app->generation++;
	return true;
}

static const struct list sweep_list = {
	.rows = sweep_rows,
	.heading = sweep_heading,
	.draw_row = sweep_draw_row,
	.row_text = sweep_row_text,
	.row_at_entry = sweep_row_at_entry,
	.foot = sweep_foot,
	.draw_foot = sweep_draw_foot,
	.passes = sweep_passes,
};

const struct view view_sweep = {
	.name = "sweep",
	.help = "latency and throughput over batch and data type (-b, -t), best batch; {open} switches",
	.keys = "gw",
	.group = KEYS_VIEWS,
	.own = sweep_keys,
	.state_size = sizeof(struct sweep),
	.open = sweep_open,
	.close = sweep_close,
	.list = &sweep_list,
	.request = sweep_request,
	.due_ms = sweep_due,
	.work = sweep_work,
	.opens = "use it",
	.own_footer = true,
};
