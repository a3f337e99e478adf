/* Places and labels of ticks, and lines as dots in cells. */
#include "config.h"

#include "ui/screen/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- axes ---- */

/* Nothing that a chart shows is farther from 1. */
#define EXTREME 1e200

static bool is_on(double value, bool log)
{
	return fabs(value) <= EXTREME && (!log || value >= 1 / EXTREME);
}

struct axis axis_of(double low, double high, bool log)
{
	double one = is_on(low, log) ? low : is_on(high, log) ? high : 1;
	double other = is_on(high, log) ? high : one;
	struct axis x = { .low = fmin(one, other), .high = fmax(one, other), .log = log };
	double least = log ? 0 : fmax(1e-9 * fmax(fabs(x.low), fabs(x.high)), 1 / EXTREME);
	if (log ? x.high / x.low < 1.001 : x.high - x.low <= least) {
		double room = fabs(x.high) > least ? fabs(x.high) / 2 : 1;
		x.low = log ? x.low / 2 : x.low - room;
		x.high = log ? x.high * 2 : x.high + room;
	}
	return x;
}

double axis_place(const struct axis *x, double value)
{
	if (isnan(value) || (x->log && !(value > 0)))
		return NAN;
	return x->log ? log(value / x->low) / log(x->high / x->low) : (value - x->low) / (x->high - x->low);
}

static const double steps[] = { 1, 2, 5 };

/* Ticks at the first `used` of `steps` in every nth power of ten; -1: more than `most`. */
static int log_ticks(const struct axis *x, int used, int nth, int most, double ticks[AXIS_TICKS])
{
	int first = (int)floor(log10(x->low)), last = (int)floor(log10(x->high)), count = 0;
	for (int power = first; power <= last; power++)
		for (int i = 0; i < used && power % nth == 0; i++) {
			double tick = steps[i] * pow(10, power);
			if (tick < x->low * (1 - 1e-9) || tick > x->high * (1 + 1e-9))
				continue;
			if (count >= most)
				return -1;
			ticks[count++] = tick;
		}
	return count;
}

/* At multiples of a step, as many as fit. */
static int step_ticks(const struct axis *x, double step, int most, double ticks[AXIS_TICKS])
{
	int count = 0;
	for (double k = ceil(x->low / step - 1e-9); k * step <= x->high + step * 1e-9 && count < most; k++)
		ticks[count++] = k * step + 0.0; /* never -0 */
	return count;
}

/* Some of the ticks, evenly, with the first and the last one. */
static int some_ticks(const double *all, int n, int most, double ticks[AXIS_TICKS])
{
	int count = n < most ? n : most;
	for (int i = 0; i < count; i++)
		ticks[i] = all[count > 1 ? i * (n - 1) / (count - 1) : 0];
	return count;
}

/* Steps of 1, 2 or 5 times a power of ten: the smallest with at most `most` ticks, or a smaller one where
 * that has only one. */
static int linear_ticks(const struct axis *x, int most, double ticks[AXIS_TICKS])
{
	double least = (x->high - x->low) / (most > 1 ? most - 1 : 1) * (1 - 1e-9);
	double power = pow(10, floor(log10(least))), step = 10 * power, all[AXIS_TICKS];
	for (int i = 2; i >= 0; i--)
		step = steps[i] * power >= least ? steps[i] * power : step;
	int count = step_ticks(x, step, most, ticks);
	for (int i = 8; i >= 0 && count < 2 && most >= 2; i--) {
		double finer = steps[i % 3] * power * (i < 3 ? 0.1 : i < 6 ? 1 : 10);
		if (finer < step * 0.9)
			count = some_ticks(all, step_ticks(x, finer, AXIS_TICKS, all), most, ticks);
	}
	return count;
}

/* A log axis without two powers of ten: some of all ticks, or where these are not two, equal steps. */
static int short_ticks(const struct axis *x, int most, double ticks[AXIS_TICKS])
{
	double all[AXIS_TICKS];
	int n = log_ticks(x, 3, 1, AXIS_TICKS, all);
	return n < 2 ? linear_ticks(x, most, ticks) : some_ticks(all, n, most, ticks);
}

int axis_ticks(const struct axis *x, int most, double ticks[AXIS_TICKS])
{
	most = most > AXIS_TICKS ? AXIS_TICKS : most;
	if (most < 1)
		return 0;
	if (!x->log)
		return linear_ticks(x, most, ticks);
	int count = log_ticks(x, 3, 1, most, ticks);
	for (int nth = 1; count < 0; nth++)
		count = log_ticks(x, 1, nth, most, ticks);
	return count < 2 && most >= 2 ? short_ticks(x, most, ticks) : count;
}

char *axis_trim(char *buf)
{
	char *dot = strchr(buf, '.');
	if (!dot)
		return buf;
	char *rest = dot + strspn(dot, ".0123456789"), *end = rest;
	while (end[-1] == '0')
		end--;
	end -= end[-1] == '.';
	memmove(end, rest, strlen(rest) + 1);
	return buf;
}

char *axis_label(char *buf, const struct axis *x, const struct quantity *of, const double *ticks, int count,
	int i)
{
	if (x->log)
		return axis_trim(str_quantity(buf, of, ticks[i]));
	double far = fmax(fmax(fabs(ticks[0]), fabs(ticks[count - 1])), x->far), in_unit = far;
	int unit = quantity_unit(of, &in_unit);
	double one = far > 0 ? far / in_unit : of->first;
	/* a step is at least a hundredth of the power of ten of the axis' length */
	int digits = 2 - (int)floor(log10((x->high - x->low) / one) + 1e-9);
	snprintf(buf, STR_QUANTITY, "%.*f%s", digits < 0 ? 0 : digits, ticks[i] / one, of->units[unit]);
	return axis_trim(buf);
}

/* Columns that a label and the blanks beside it take, about. */
#define LABEL_COLUMNS 9

/* Draws the labels that have room: the last one first, since it shows how far the axis goes. Returns whether
 * all have; a.height 1: only looks. */
static bool labels_draw(struct area a, const struct axis *x, const struct quantity *of, const double *ticks,
	int count)
{
	char label[STR_QUANTITY];
	bool all = true;
	int end = a.width + 1; /* of what is free; the last label begins a blank behind it */
	for (int n = 0, free_from = 0; n < count; n++) {
		int i = n ? n - 1 : count - 1;
		int at = (int)lround(axis_place(x, ticks[i]) * (a.width - 1));
		int columns = canvas_columns(axis_label(label, x, of, ticks, count, i));
		int from = at - columns / 2;
		from = from < 0 ? 0 : from + columns > a.width ? a.width - columns : from;
		if (from < free_from || from + columns >= end) {
			all = false;
			continue;
		}
		canvas_text(a, from, 1, STYLE_DIM, label);
		end = n ? end : from;
		free_from = n ? from + columns + 1 : free_from;
	}
	return all;
}

void axis_draw_ticks(struct area a, const struct axis *x, const struct quantity *of, const char *name,
	const double *ticks, int count)
{
	canvas_fill(a, 0, 0, a.width, STYLE_DIM, 0x2500);
	for (int i = 0; i < count; i++)
		canvas_put(a, (int)lround(axis_place(x, ticks[i]) * (a.width - 1)), 0, STYLE_DIM, 0x252c);
	int columns = canvas_columns(name);
	if (columns && columns < a.width / 2) {
		canvas_put(a, a.width - columns - 1, 0, STYLE_DIM, ' ');
		canvas_text(a, a.width - columns, 0, STYLE_NORMAL, name);
	}
	labels_draw(a, x, of, ticks, count);
}

/* On a linear axis all ticks have labels, on a log axis those that have room. */
void axis_draw_below(struct area a, const struct axis *x, const struct quantity *of, const char *name)
{
	double ticks[AXIS_TICKS];
	int most = a.width / LABEL_COLUMNS + 2, count = axis_ticks(x, most, ticks);
	while (!x->log && count > 2 && !labels_draw(canvas_part(a, 0, 0, a.width, 1), x, of, ticks, count))
		count = axis_ticks(x, --most, ticks);
	axis_draw_ticks(a, x, of, name, ticks, count);
}

void axis_draw_left(struct area a, const struct axis *y, const struct quantity *of)
{
	double ticks[AXIS_TICKS];
	char label[STR_QUANTITY];
	int count = axis_ticks(y, a.height / 2 + 1, ticks);
	for (int row = 0; row < a.height; row++)
		canvas_put(a, a.width - 1, row, STYLE_DIM, 0x2502);
	for (int i = 0; i < count; i++) {
		int row = a.height - 1 - (int)lround(axis_place(y, ticks[i]) * (a.height - 1));
		canvas_put(a, a.width - 1, row, STYLE_DIM, 0x2524);
		canvas_fit_right(a, 0, row, a.width - 2, STYLE_DIM,
			axis_label(label, y, of, ticks, count, i));
	}
}

/* ---- lines ---- */

struct plot plot_begin(struct area a, struct arena *arena)
{
	size_t count = (size_t)a.width * (size_t)a.height;
	bool ascii = a.canvas->ascii;
	return (struct plot){ .area = a, .across = ascii ? 1 : 2, .down = ascii ? 1 : 4,
		.cells = ARENA_ARRAY(arena, uint32_t, count), .styles = ARENA_ARRAY(arena, uint8_t, count) };
}

/* Cuts [*t0, *t1] to where start + t * by is between 0 and end. Returns false if nothing is left. */
static bool clip(double start, double by, double end, double *t0, double *t1)
{
	if (by == 0)
		return start >= 0 && start <= end;
	double from = -start / by, to = (end - start) / by;
	*t0 = fmax(*t0, fmin(from, to));
	*t1 = fmin(*t1, fmax(from, to));
	return *t0 <= *t1;
}

static uint32_t slope_sign(double dx, double dy)
{
	if (fabs(dy) <= 0.3 * fabs(dx))
		return '-';
	if (fabs(dx) <= 0.3 * fabs(dy))
		return '|';
	return (dx > 0) == (dy > 0) ? '\\' : '/';
}

/* Bits of the dots of a braille character, by row and column. */
static const uint8_t braille[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };

static void dot(struct plot *p, double x, double y, enum style style, uint32_t sign)
{
	int column = (int)floor(x * p->across), row = (int)floor(y * p->down);
	int width = p->area.width * p->across, height = p->area.height * p->down;
	column = column < 0 ? 0 : column >= width ? width - 1 : column;
	row = row < 0 ? 0 : row >= height ? height - 1 : row;
	size_t at = (size_t)(row / p->down) * (size_t)p->area.width + (size_t)(column / p->across);
	p->cells[at] = p->down == 1 ? sign : p->cells[at] | braille[row % 4][column % 2];
	p->styles[at] = (uint8_t)style;
}

void plot_line(struct plot *p, double x0, double y0, double x1, double y1, enum style style, bool dotted)
{
	double dx = x1 - x0, dy = y1 - y0, from = 0, to = 1;
	if (!isfinite(dx) || !isfinite(dy) || p->area.width < 1 || p->area.height < 1 ||
		!clip(x0, dx, p->area.width, &from, &to) || !clip(y0, dy, p->area.height, &from, &to))
		return;
	double length = fmax(fabs(dx) * p->across, fabs(dy) * p->down) * (to - from);
	int count = (int)ceil(length) > 1 ? (int)ceil(length) : 1;
	for (int i = 0; i < count; i += dotted ? 2 : 1) {
		double t = from + (to - from) * (i + 0.5) / count;
		dot(p, x0 + t * dx, y0 + t * dy, style, slope_sign(dx, dy));
	}
}

void plot_end(const struct plot *p)
{
	for (int y = 0; y < p->area.height; y++)
		for (int x = 0; x < p->area.width; x++) {
			size_t at = (size_t)y * (size_t)p->area.width + (size_t)x;
			uint32_t code = p->cells[at];
			if (code)
				canvas_put(p->area, x, y, (enum style)p->styles[at],
					p->down == 1 ? code : 0x2800 + code);
		}
}
