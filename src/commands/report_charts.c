#include "config.h"

#include "commands/report_html.h"

#include "base/hash.h"
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
#define GAP_LEAST 0.0005 /* a smaller gap is 0.0% of the latency */

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

/* ---- the distinct problems of the model's own graph ---- */

struct spot {
	const char *problem;
	int layer, layers;        /* the first one; how many have it */
	double flops, bytes, ns;  /* of one execution; FLOPs and bytes NaN: not known */
	double total_ns;
	bool guess;
	const struct result *result;
};

static int by_total(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	return x->total_ns != y->total_ns ? (x->total_ns < y->total_ns ? 1 : -1) : x->layer - y->layer;
}

/* The costliest first; in the arena. */
static struct spot *spots_of(struct session *s, struct arena *arena, int *count)
{
	const struct plan *p = session_plan(s);
	struct spot *spots = ARENA_ARRAY(arena, struct spot, p->layer_count + 1);
	struct hash seen = { 0 };
	*count = 0;
	for (int i = 0; i < p->layer_count; i++) {
		const struct layer_cost *c = &session_analysis(s)->layers[i];
		const char *text = limit_problem(session_analysis(s), p, i);
		struct problem parsed;
		if (!(c->ns > 0) || c->bodies || !text)
			continue;
		int64_t *at = hash_at(&seen, text_of(text));
		if (*at < 0) {
			bool known = !problem_parse(text_of(text), &parsed, NULL);
			*at = *count;
			spots[(*count)++] = (struct spot){ .problem = text, .layer = i, .ns = c->ns,
				.flops = known ? problem_flops(&parsed) : NAN,
				.bytes = known ? problem_bytes(&parsed) : NAN, .guess = cost_is_guess(c),
				.result = c->result };
		}
		spots[*at].layers++;
		spots[*at].total_ns += c->ns;
	}
	hash_free(&seen);
	if (*count)
		qsort(spots, (size_t)*count, sizeof(*spots), by_total);
	return spots;
}

static void spot_name(const struct session *s, const struct spot *d, FILE *out)
{
	html_untrusted(out, session_plan(s)->layers[d->layer].name);
	if (d->layers > 1)
		fprintf(out, " and %d more", d->layers - 1);
}

/* ---- roofline ---- */

/* top: where a bandwidth ends; at: where its name stands, from its lower to its upper end. */
static void ceiling(FILE *out, const struct frame *f, const char *name, double peak, bool is_rate, double top,
	double at)
{
	char number[STR_QUANTITY], text[96];
	double from = is_rate ? fmax(f->x.low, f->y.low / peak) : f->x.low;
	double to = is_rate ? fmin(f->x.high, top / peak) : f->x.high;
	if (!(peak > 0) || from >= to)
		return;
	double y0 = y_of(f, is_rate ? from * peak : peak), y1 = y_of(f, is_rate ? to * peak : peak);
	snprintf(text, sizeof(text), "%s %s%s", name, str_count(number, peak), is_rate ? "B/s" : "FLOP/s");
	double x0 = x_of(f, from), x1 = x_of(f, to);
	line(out, "c", x0, y0, x1, y1);
	label(out, x0 + at * (x1 - x0) - 6, y0 + at * (y1 - y0) - 4, "end", text);
}

/* The unit that the scenario allows for the model's type. */
static double peak_of(const struct session *s, char name[32])
{
	const struct scenario *w = &session_analysis(s)->scenario;
	enum dtype type = session_plan(s)->dtype, unit = type == DTYPE_F32 ? DTYPE_TF32 : type;
	double plain = session_peaks(s)->flops[type], matrix = session_peaks(s)->matrix_flops[unit];
	bool on = w->matrix && (type != DTYPE_F32 || w->relaxed) && matrix > 0;
	snprintf(name, 32, "%s%s", dtype_name(on ? unit : type), on ? " matrix" : "");
	return on ? matrix : plain;
}

static void roofline(struct session *s, const struct spot *spots, int count, FILE *out)
{
	const struct peaks *k = session_peaks(s);
	double x0 = NAN, x1 = NAN, y0 = NAN, y1 = NAN, all = session_analysis(s)->sequential_ns;
	char name[32], number[STR_QUANTITY], most[STR_QUANTITY];
	double peak = peak_of(s, name);
	int shown = 0;
	for (int i = 0; i < count; i++) {
		double x = spots[i].flops / spots[i].bytes, y = spots[i].flops / spots[i].ns * 1e9;
		if (!(x > 0) || !(y > 0) || isinf(x))
			continue;
		shown++;
		x0 = fmin(x0, x), x1 = fmax(x1, x), y0 = fmin(y0, y), y1 = fmax(y1, y);
	}
	if (!shown || !peaks_known(k)) {
		none(out, "Roofline", !shown ? "No layer with FLOPs has a cost." :
			"The device's memory bandwidth is not known.");
		return;
	}
	struct frame f = { LEFT, 10, 320, axis_of(x0 / 2, x1 * 2, true),
		axis_of(y0 / 2, fmax(y1, peak) * 2, true) };
	figure_begin(out, "Roofline", "A dot is a distinct problem, larger with its share of the time; lines "
		"are the device's peaks. Left to right: FLOPs per byte; bottom to top: FLOP/s.", 375);
	axis_below(out, &f, &quantity_count, "FLOPs per byte");
	axis_left(out, &f, &quantity_count);
	ceiling(out, &f, "memory", k->bandwidth_bytes_s, true, peak > 0 ? peak : f.y.high, 0.75);
	for (int i = 0; i < k->level_count; i++) {
		char level[16];
		snprintf(level, sizeof(level), "L%d%s", k->level[i].level, k->level[i].estimated ? " ~" : "");
		ceiling(out, &f, level, k->level[i].bandwidth_bytes_s, true, peak > 0 ? peak : f.y.high,
			0.95 - 0.12 * i);
	}
	ceiling(out, &f, name, peak, false, 0, 1);
	for (int i = count - 1; i >= 0; i--) {
		const struct spot *d = &spots[i];
		double x = d->flops / d->bytes, y = d->flops / d->ns * 1e9;
		if (!(x > 0) || !(y > 0) || isinf(x))
			continue;
		fprintf(out, "<circle class=\"d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>", x_of(&f, x),
			y_of(&f, y), 2.5 + 10 * sqrt(all > 0 ? d->total_ns / all : 0));
		spot_name(s, d, out);
		fprintf(out, ": %s%s, %sFLOP/s</title></circle>\n", d->guess ? "~" : "",
			str_duration(number, d->ns), str_count(most, y));
	}
	figure_end(out);
}

/* ---- timeline ---- */

static int by_start(const void *x, const void *y, void *analysis)
{
	const struct layer_cost *all = ((const struct analysis *)analysis)->layers;
	double a = all[*(const int *)x].start_ns, b = all[*(const int *)y].start_ns;
	return a != b ? (a < b ? -1 : 1) : *(const int *)x - *(const int *)y;
}

/* Layers with a cost, in the order of their starts; without a schedule in the plan's. */
static int bars_of(const struct analysis *a, bool parallel, int *order)
{
	int count = 0;
	for (int i = 0; i < a->layer_count; i++)
		if (a->layers[i].ns > 0 && !(parallel && isnan(a->layers[i].start_ns)))
			order[count++] = i;
	if (parallel && count)
		qsort_r(order, (size_t)count, sizeof(*order), by_start, (void *)a);
	return count;
}

static void bar(const struct session *s, const struct frame *f, int i, double start, int lane, FILE *out)
{
	const struct layer_cost *c = &session_analysis(s)->layers[i];
	char from[STR_QUANTITY], cost[STR_QUANTITY];
	double x = x_of(f, start), width = x_of(f, start + c->ns) - x;
	bool critical =
		session_analysis(s)->scenario.parallel && c->critical && session_analysis(s)->complete;
	if (width < 0.05)
		return;
	fprintf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\"><title>",
		critical ? "k" : "b", x, f->top + lane * LANE_HEIGHT, width, LANE_HEIGHT - 3);
	html_untrusted(out, session_plan(s)->layers[i].name);
	fprintf(out, ": %s%s from %s on%s</title></rect>\n", cost_is_guess(c) ? "~" : "",
		str_duration(cost, c->ns), str_duration(from, start), critical ? ", critical" : "");
}

static void timeline(const struct session *s, struct arena *arena, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	bool parallel = a->scenario.parallel != PARALLEL_OFF;
	int *order = ARENA_ARRAY(arena, int, a->layer_count + 1), count = bars_of(a, parallel, order);
	int *lane = ARENA_ARRAY(arena, int, a->layer_count + 1), lanes = 1, without = 0;
	double end = 0, at = 0;
	memset(lane, 0, ((size_t)a->layer_count + 1) * sizeof(*lane));
	if (parallel)
		lanes = schedule_lanes(session_plan(s), a, lane);
	lanes = lanes > LANES_MOST ? LANES_MOST : lanes;
	for (int i = 0; i < count; i++) {
		const struct layer_cost *c = &a->layers[order[i]];
		end = parallel ? fmax(end, c->start_ns + c->ns) : end + c->ns;
		without += lane[order[i]] >= lanes;
	}
	if (!count) {
		none(out, "Timeline", "No layer has a cost.");
		return;
	}
	struct frame f = { LEFT, 10, lanes * LANE_HEIGHT, axis_of(0, end, false), axis_of(0, 1, false) };
	char text[256];
	snprintf(text, sizeof(text), "Bars are layers to scale, %s%s",
		parallel ? "each starts when its inputs are ready; dark: on the critical path"
			 : "one after the other, in execution order",
		a->complete ? "." : "; layers without a cost are missing.");
	figure_begin(out, "Timeline", text, lanes * LANE_HEIGHT + 60);
	axis_below(out, &f, &quantity_duration, "time");
	for (int i = 0; i < count; i++) {
		if (lane[order[i]] < lanes)
			bar(s, &f, order[i], parallel ? a->layers[order[i]].start_ns : at, lane[order[i]],
				out);
		at += a->layers[order[i]].ns;
	}
	figure_end(out);
	if (without)
		fprintf(out, "<p>%d layers that run in parallel with %d others are not drawn.</p>\n", without,
			LANES_MOST);
}

/* ---- distributions ---- */

static int falling(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

/* The share of the cost that the costliest layers have. */
static void concentration(const struct analysis *a, struct arena *arena, FILE *out)
{
	double *ns = ARENA_ARRAY(arena, double, a->layer_count + 1), all = 0, sum = 0;
	int count = 0, half = 0, most = 0;
	for (int i = 0; i < a->layer_count; i++)
		if (a->layers[i].ns > 0) {
			ns[count++] = a->layers[i].ns;
			all += a->layers[i].ns;
		}
	if (!count) {
		none(out, "Distribution of the cost", "No layer has a cost.");
		return;
	}
	qsort(ns, (size_t)count, sizeof(*ns), falling);
	for (int i = 0; i < count; i++) {
		sum += ns[i];
		half += sum - ns[i] < 0.5 * all;
		most += sum - ns[i] < 0.9 * all;
	}
	char text[160];
	snprintf(text, sizeof(text),
		"Of %d layers with a cost, the %d costliest have half of it%s, %d have 90%%.", count,
		half, a->estimated ? " (~)" : "", most);
	struct frame f = { LEFT, 10, 200, axis_of(0, count, false), axis_of(0, 1, false) };
	figure_begin(out, "Distribution of the cost", text, 255);
	axis_below(out, &f, &quantity_count, "layers, the costliest first");
	axis_left(out, &f, &percent);
	fprintf(out, "<polyline class=\"c\" points=\"%d,%.1f", LEFT, y_of(&f, 0));
	sum = 0;
	for (int i = 0, step = 1 + count / 400; i < count; i++) {
		sum += ns[i];
		if (i % step == 0 || i == count - 1)
			fprintf(out, " %.1f,%.1f", x_of(&f, i + 1), y_of(&f, sum / all));
	}
	fputs("\"/>\n", out);
	figure_end(out);
}

static bool has_samples(const struct spot *d)
{
	const struct result *r = d->result;
	return r && r->stats.n > 1 && r->stats.median > 0 && r->stats.q1 > 0 && r->stats.q3 > 0;
}

static void box(const struct session *s, struct arena *arena, const struct frame *f, const struct spot *d,
	double y, FILE *out)
{
	const struct sample_stats *t = &d->result->stats;
	char median[STR_QUANTITY];
	double low = x_of(f, t->q1 / t->median), high = x_of(f, t->q3 / t->median);
	line(out, "a", x_of(f, t->min / t->median), y + 7, low, y + 7);
	fprintf(out, "<rect class=\"b\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"10\"><title>", low,
		y + 2, fmax(1, high - low));
	spot_name(s, d, out);
	fprintf(out, ": median %s of %lld samples</title></rect>\n", str_duration(median, t->median),
		(long long)t->n);
	line(out, "m", x_of(f, 1), y, x_of(f, 1), y + 14);
	if (!isnan(t->lo) && !isnan(t->hi))
		line(out, "i", x_of(f, t->lo / t->median), y + 14, x_of(f, t->hi / t->median), y + 14);
	label(out, NAMES - 70, y + 11, "end", text_cut(arena, text_clean(arena,
		session_plan(s)->layers[d->layer].name), NAMES_MOST, true));
	label(out, NAMES - 10, y + 11, "end", str_duration(median, t->median));
}

/* Samples of the costliest problems, beside their medians. */
static void samples(const struct session *s, struct arena *arena, const struct spot *spots, int count,
	FILE *out)
{
	int shown = 0;
	double low = 1, high = 1;
	for (int i = 0; i < count && shown < BOXES_MOST; i++) {
		const struct sample_stats *t = has_samples(&spots[i]) ? &spots[i].result->stats : NULL;
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
	for (int i = 0, at = 0; i < count && at < shown; i++)
		if (has_samples(&spots[i]))
			box(s, arena, &f, &spots[i], f.top + 20 * at++, out);
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

/* False: it is so small that the chart leaves it out. */
static bool gap_shows(const struct reality *y, int k)
{
	return fabs(y->gaps[k].ns) >= GAP_LEAST * y->measured_ns;
}

static void waterfall(const struct reality *y, FILE *out)
{
	int row = 0;
	double at = y->bound_ns, most = fmax(y->bound_ns, y->measured_ns);
	const char *mark = y->bound_estimated ? "~" : "";
	for (int k = 0; k < GAP_COUNT; k++) {
		row += gap_shows(y, k);
		at += isnan(y->gaps[k].ns) ? 0 : y->gaps[k].ns;
		most = fmax(most, at);
	}
	fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"From the bound to reality\">\n",
		WIDTH, 20 * (row + 2) + 20);
	step(out, 0, y->bound_complete ? "bound" : "bound, at least", 0, y->bound_ns, most, "k", mark);
	at = y->bound_ns;
	row = 1;
	for (int k = 0; k < GAP_COUNT; k++) {
		double ns = isnan(y->gaps[k].ns) ? 0 : y->gaps[k].ns;
		if (gap_shows(y, k))
			step(out, row++, reality_label(y, (enum gap_kind)k), at, at + ns, most,
				ns < 0 ? "n" : "b", mark);
		at += ns;
	}
	step(out, row, "measured", 0, y->measured_ns, most, "k", "");
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
	int count;
	const struct spot *spots = spots_of(s, &arena, &count);
	fputs("<h2>Charts</h2>\n", out);
	roofline(s, spots, count, out);
	timeline(s, &arena, out);
	concentration(session_analysis(s), &arena, out);
	samples(s, &arena, spots, count, out);
	reality(s, out);
	arena_free(&arena);
}
