/* The charts of an HTML report as SVG; their data is that of the explorer's charts. */
#include "config.h"

#include "commands/report_html.h"

#include "analyze/tables/charts.h"
#include "commands/report.h"
#include "session/session_reality.h"
#include "ui/screen/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 760      /* of a chart, in units of its own */
#define LEFT 70        /* of a plot, where its axis has room */
#define RIGHT (WIDTH - 20)
#define NAMES 250      /* in place of LEFT where names and numbers stand there */
#define NAMES_MOST 30  /* characters of a name */
#define TICKS_MOST 9
#define BOXES_MOST 14  /* problems whose samples are shown */
#define LANES_MOST 24
#define LANE_HEIGHT 16

static void figure_begin(FILE *out, const char *title, const char *text, int height)
{
	fprintf(out,
		"<figure><figcaption><b>%s.</b> %s</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-label=\"%s\">\n", title, text, WIDTH, height, title);
}

static void figure_end(FILE *out)
{
	fputs("</svg></figure>\n", out);
}

/* In place of a chart. */
static void none(FILE *out, const char *title, const char *why)
{
	fprintf(out, "<p><b>%s.</b> ", title);
	html_text(out, why);
	fputs("</p>\n", out);
}

static void label(FILE *out, double x, double y, const char *anchor, const char *text)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	html_text(out, text);
	fputs("</text>\n", out);
}

static void line(FILE *out, const char *class, double x0, double y0, double x1, double y1)
{
	fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x0, y0,
		x1, y1);
}

/* A plot's rectangle in the units of the chart. */
struct frame {
	double left, top, height;
	struct axis x, y;
};

static double x_of(const struct frame *f, double value)
{
	return f->left + (RIGHT - f->left) * axis_place(&f->x, value);
}

static double y_of(const struct frame *f, double value)
{
	return f->top + f->height * (1 - axis_place(&f->y, value));
}

static void axis_below(FILE *out, const struct frame *f, const struct quantity *of, const char *name)
{
	double ticks[AXIS_TICKS], bottom = f->top + f->height;
	char number[STR_QUANTITY];
	int count = axis_ticks(&f->x, TICKS_MOST, ticks);
	for (int i = 0; i < count; i++) {
		line(out, "g", x_of(f, ticks[i]), f->top, x_of(f, ticks[i]), bottom);
		label(out, x_of(f, ticks[i]), bottom + 14, "middle",
			axis_label(number, &f->x, of, ticks, count, i));
	}
	line(out, "a", f->left, bottom, RIGHT, bottom);
	label(out, RIGHT, bottom + 28, "end", name);
}

static void axis_left(FILE *out, const struct frame *f, const struct quantity *of)
{
	double ticks[AXIS_TICKS];
	char number[STR_QUANTITY];
	int count = axis_ticks(&f->y, TICKS_MOST, ticks);
	for (int i = 0; i < count; i++) {
		line(out, "g", f->left, y_of(f, ticks[i]), RIGHT, y_of(f, ticks[i]));
		label(out, f->left - 6, y_of(f, ticks[i]) + 4, "end",
			axis_label(number, &f->y, of, ticks, count, i));
	}
	line(out, "a", f->left, f->top, f->left, f->top + f->height);
}

static const struct quantity percent = { 0.01, 1, 1, { "%" } };

static void dot_name(const struct dot *d, FILE *out)
{
	html_untrusted(out, d->first->name);
	if (d->layers > 1)
		fprintf(out, " and %d more", d->layers - 1);
}

/* ---- roofline ---- */

/* top: where a bandwidth ends; at: where its name stands, from its lower to its upper end. */
static void ceiling(FILE *out, const struct frame *f, const struct ceiling *c, double top, double at)
{
	double from = c->is_rate ? fmax(f->x.low, f->y.low / c->peak) : f->x.low;
	double to = c->is_rate ? fmin(f->x.high, top / c->peak) : f->x.high;
	if (from >= to)
		return;
	double x0 = x_of(f, from), y0 = y_of(f, c->is_rate ? from * c->peak : c->peak);
	double x1 = x_of(f, to), y1 = y_of(f, c->is_rate ? to * c->peak : c->peak);
	line(out, "c", x0, y0, x1, y1);
	label(out, x0 + at * (x1 - x0) - 6, y0 + at * (y1 - y0) - 4, "end", c->text);
}

static struct frame roof_frame(const struct dots *dots)
{
	double x0 = NAN, x1 = NAN, y0 = NAN, y1 = dots_highest(dots, false);
	for (int i = 0; i < dots->count; i++) {
		double x = dot_intensity(&dots->list[i]), y = dot_rate(&dots->list[i]);
		if (!dot_has_position(&dots->list[i]))
			continue;
		x0 = fmin(x0, x), x1 = fmax(x1, x), y0 = fmin(y0, y), y1 = fmax(y1, y);
	}
	return (struct frame){ LEFT, 10, 320, axis_of(x0 / 2, x1 * 2, true),
		axis_of(y0 / 2, y1 * 2, true) };
}

/* Names of bandwidths stand apart: the memory's farther down than those of caches. */
static void roofline(struct session *s, const struct dots *dots, FILE *out)
{
	double all = session_analysis(s)->sequential_ns, highest = dots_highest(dots, false);
	char number[STR_QUANTITY], most[STR_QUANTITY];
	if (!dots->placed || !peaks_known(session_peaks(s))) {
		none(out, "Roofline", !dots->placed ? "No layer with FLOPs has a cost." :
			"The device's memory bandwidth is not known.");
		return;
	}
	struct frame f = roof_frame(dots);
	figure_begin(out, "Roofline", "A dot is a distinct problem, larger with its share of the time; lines "
		"are the device's peaks. Left to right: FLOPs per byte; bottom to top: FLOP/s.", 375);
	axis_below(out, &f, &quantity_count, "FLOPs per byte");
	axis_left(out, &f, &quantity_count);
	for (int i = 0; i < dots->ceiling_count; i++)
		ceiling(out, &f, &dots->ceilings[i], highest > 0 ? highest : f.y.high,
			!dots->ceilings[i].is_rate ? 1 : i ? 0.95 - 0.12 * (i - 1) : 0.75);
	for (int i = dots->count - 1; i >= 0; i--) {
		const struct dot *d = &dots->list[i];
		if (!dot_has_position(d))
			continue;
		fprintf(out, "<circle class=\"d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>",
			x_of(&f, dot_intensity(d)), y_of(&f, dot_rate(d)),
			2.5 + 10 * sqrt(all > 0 ? d->total_ns / all : 0));
		dot_name(d, out);
		fprintf(out, ": %s%s, %sFLOP/s</title></circle>\n", d->guess ? "~" : "",
			str_duration(number, d->ns), str_count(most, dot_rate(d)));
	}
	figure_end(out);
}

/* ---- timeline ---- */

static void bar(const struct session *s, const struct frame *f, const struct bar *b, FILE *out)
{
	char from[STR_QUANTITY], cost[STR_QUANTITY];
	double x = x_of(f, b->start), width = x_of(f, b->end) - x;
	if (width < 0.05)
		return;
	fprintf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\"><title>",
		b->critical ? "k" : "b", x, f->top + b->lane * LANE_HEIGHT, width, LANE_HEIGHT - 3);
	html_untrusted(out, session_plan(s)->layers[b->layer].name);
	fprintf(out, ": %s%s from %s on%s</title></rect>\n", b->guess ? "~" : "",
		str_duration(cost, session_analysis(s)->layers[b->layer].ns), str_duration(from, b->start),
		b->critical ? ", critical" : "");
}

static void timeline(const struct session *s, struct arena *arena, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	struct bars bars = bars_of(arena, a, session_plan(s));
	int lanes = bars.lane_count > LANES_MOST ? LANES_MOST : bars.lane_count, without = 0;
	if (!bars.count) {
		none(out, "Timeline", "No layer has a cost.");
		return;
	}
	struct frame f = { LEFT, 10, lanes * LANE_HEIGHT, axis_of(0, bars.end_ns, false),
		axis_of(0, 1, false) };
	char text[256];
	snprintf(text, sizeof(text), "Bars are layers to scale, %s%s",
		bars.is_path ? "each starts when its inputs are ready; dark: on the critical path"
			     : "one after the other, in execution order",
		a->complete ? "." : "; layers without a cost are missing.");
	figure_begin(out, "Timeline", text, lanes * LANE_HEIGHT + 60);
	axis_below(out, &f, &quantity_duration, "time");
	for (int i = 0; i < bars.count; i++) {
		if (bars.list[i].lane < lanes)
			bar(s, &f, &bars.list[i], out);
		without += bars.list[i].lane >= lanes;
	}
	figure_end(out);
	if (without)
		fprintf(out, "<p>%d layers that run in parallel with %d others are not drawn.</p>\n", without,
			LANES_MOST);
}

/* ---- distributions ---- */

/* The share of the cost that the costliest layers have. */
static void concentration(const struct analysis *a, struct arena *arena, FILE *out)
{
	struct cost_shares c = cost_shares_of(arena, a);
	double sum = 0;
	char text[160];
	if (!c.count) {
		none(out, "Distribution of the cost", "No layer has a cost.");
		return;
	}
	snprintf(text, sizeof(text),
		"Of %d layers with a cost, the %d costliest have half of it%s, %d have 90%%.", c.count,
		c.half, a->estimated ? " (~)" : "", c.most);
	struct frame f = { LEFT, 10, 200, axis_of(0, c.count, false), axis_of(0, 1, false) };
	figure_begin(out, "Distribution of the cost", text, 255);
	axis_below(out, &f, &quantity_count, "layers, the costliest first");
	axis_left(out, &f, &percent);
	fprintf(out, "<polyline class=\"c\" points=\"%d,%.1f", LEFT, y_of(&f, 0));
	for (int i = 0, step = 1 + c.count / 400; i < c.count; i++) {
		sum += c.ns[i];
		if (i % step == 0 || i == c.count - 1)
			fprintf(out, " %.1f,%.1f", x_of(&f, i + 1), y_of(&f, sum / c.all_ns));
	}
	fputs("\"/>\n", out);
	figure_end(out);
}

static bool has_samples(const struct dot *d)
{
	const struct result *r = d->result;
	return r && r->stats.n > 1 && r->stats.median > 0 && r->stats.q1 > 0 && r->stats.q3 > 0;
}

static void box(struct arena *arena, const struct frame *f, const struct dot *d, double y, FILE *out)
{
	const struct sample_stats *t = &d->result->stats;
	char median[STR_QUANTITY];
	double low = x_of(f, t->q1 / t->median), high = x_of(f, t->q3 / t->median);
	line(out, "a", x_of(f, t->min / t->median), y + 7, low, y + 7);
	fprintf(out, "<rect class=\"b\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"10\"><title>", low,
		y + 2, fmax(1, high - low));
	dot_name(d, out);
	fprintf(out, ": median %s of %lld samples</title></rect>\n", str_duration(median, t->median),
		(long long)t->n);
	line(out, "m", x_of(f, 1), y, x_of(f, 1), y + 14);
	if (!isnan(t->lo) && !isnan(t->hi))
		line(out, "i", x_of(f, t->lo / t->median), y + 14, x_of(f, t->hi / t->median), y + 14);
	label(out, NAMES - 70, y + 11, "end",
		text_cut(arena, text_clean(arena, d->first->name), NAMES_MOST, true));
	label(out, NAMES - 10, y + 11, "end", str_duration(median, t->median));
}

/* Samples of the costliest problems, beside their medians. */
static void samples(struct arena *arena, const struct dots *dots, FILE *out)
{
	int shown = 0;
	double low = 1, high = 1;
	for (int i = 0; i < dots->count && shown < BOXES_MOST; i++) {
		const struct dot *d = &dots->list[i];
		const struct sample_stats *t = has_samples(d) ? &d->result->stats : NULL;
		if (!t)
			continue;
		shown++;
		low = fmin(low, fmin(t->min > 0 ? t->min : t->q1, isnan(t->lo) ? t->q1 : t->lo) / t->median);
		high = fmax(high, fmax(t->q3, isnan(t->hi) ? t->q3 : t->hi) / t->median);
	}
	if (!shown) {
		none(out, "Samples", "No cost in this total has samples.");
		return;
	}
	struct frame f = { NAMES, 10, 20 * shown, axis_of(low, high, false), axis_of(0, 1, false) };
	figure_begin(out, "Samples", "The costliest problems, relative to the median (at the left): a line "
	"from the minimum, a box from the first to the third quartile, and below it the 95% "
	"interval of the median.", 20 * shown + 55);
	axis_below(out, &f, &percent, "of the median");
	for (int i = 0, at = 0; i < dots->count && at < shown; i++)
		if (has_samples(&dots->list[i]))
			box(arena, &f, &dots->list[i], f.top + 20 * at++, out);
	figure_end(out);
}

/* ---- from the bound to reality ---- */

static void step(FILE *out, int row, const char *name, double from, double to, double most, const char *class,
	const char *mark)
{
	double scale = (RIGHT - NAMES) / most, y = 10 + 20 * row;
	double x0 = NAMES + scale * fmax(0, fmin(from, to)), x1 = NAMES + scale * fmax(0, fmax(from, to));
	char number[STR_QUANTITY], text[96];
	snprintf(text, sizeof(text), "%s%s%s", mark, from == 0 ? "" : to < from ? "-" : "+",
		str_duration(number, fabs(to - from)));
	label(out, NAMES - 85, y + 12, "end", name);
	label(out, NAMES - 10, y + 12, "end", text);
	fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\"/>\n", class, x0,
		y, fmax(0.5, x1 - x0));
}

static void waterfall(const struct reality *y, FILE *out)
{
	struct waterfall w = waterfall_of(y);
	const char *mark = y->bound_estimated ? "~" : "";
	fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"From the bound to reality\">\n",
		WIDTH, 20 * (w.count + 2) + 20);
	step(out, 0, y->bound_complete ? "bound" : "bound, at least", 0, y->bound_ns, w.most_ns, "k", mark);
	for (int i = 0; i < w.count; i++) {
		const struct fall *f = &w.steps[i];
		step(out, i + 1, reality_label(y, f->kind), f->from_ns, f->to_ns, w.most_ns,
			f->to_ns < f->from_ns ? "n" : "b", mark);
	}
	step(out, w.count + 1, "measured", 0, y->measured_ns, w.most_ns, "k", "");
	fputs("</svg>\n", out);
}

static void reality(struct session *s, FILE *out)
{
	const struct reality *y = session_reality(s);
	char when[32], measured[STR_QUANTITY];
	if (!y || isnan(y->bound_ns) || isnan(y->measured_ns)) {
		none(out, "From the bound to reality", y ? "A side is unknown." :
			"The database has no comparable execution of this model: benanza compare --run ort "
			"MODEL makes one.");
		return;
	}
	const struct execution *e = y->execution;
	fputs("<figure><figcaption><b>From the bound to reality.</b> ", out);
	html_untrusted(out, text_of(e->framework));
	fputs(" ", out);
	html_untrusted(out, text_of(e->version));
	fputs(", ", out);
	html_untrusted(out, text_of(e->provider));
	fprintf(out, ": %s, median of %lld runs of %s", str_duration(measured, y->measured_ns),
		(long long)e->stats.n, html_date(when, sizeof(when), e->measured_at));
	if (!isnan(y->ratio))
		fprintf(out, "; bound / measured %.2f", y->ratio);
	fputs(". Each bar is a part of the difference; the bars add up to it, with those below "
		"0.05%.</figcaption>\n", out);
	waterfall(y, out);
	fputs("</figure>\n", out);
}

void report_charts_html(struct session *s, FILE *out)
{
	struct arena arena = { 0 };
	struct dots dots = dots_of(session_analysis(s), session_plan(s), session_peaks(s));
	fputs("<h2>Charts</h2>\n", out);
	roofline(s, &dots, out);
	timeline(s, &arena, out);
	concentration(session_analysis(s), &arena, out);
	samples(&arena, &dots, out);
	reality(s, out);
	dots_free(&dots);
	arena_free(&arena);
}
