/* Plots: axes of any values, their ticks and places, lines of braille and of characters. */
#include "config.h"

#include "ui/screen/plot.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *list(const struct axis *x, int most)
{
	static char out[1024];
	double ticks[AXIS_TICKS];
	int count = axis_ticks(x, most, ticks);
	out[0] = '\0';
	for (int i = 0; i < count; i++)
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s%.4g", i ? " " : "", ticks[i]);
	return out;
}

static void test_ticks(void)
{
	struct axis x = { 0.7, 240, true, 0 };
	is_str(list(&x, 20), "1 2 5 10 20 50 100 200", "log: 1, 2 and 5");
	is_str(list(&x, 7), "1 10 100", "powers where these are too many");
	is_str(list(&x, 2), "1 100", "every second power");
	is_str(list(&x, 1), "1", "one");
	is_str(list(&x, 0), "", "none");
	x = (struct axis){ 3, 4, true, 0 };
	is_str(list(&x, 9), "3 3.2 3.4 3.6 3.8 4", "a log axis without one of these: equal steps");
	x = (struct axis){ 0.2, 9, true, 0 };
	is_str(list(&x, 3), "0.2 1 5", "a log axis with one power: some of all");
	x = (struct axis){ 0, 10, false, 0 };
	is_str(list(&x, 6), "0 2 4 6 8 10", "linear");
	is_str(list(&x, 4), "0 5 10", "with wider steps");
	x = (struct axis){ -3, 3, false, 0 };
	is_str(list(&x, 7), "-3 -2 -1 0 1 2 3", "below zero");
	x = (struct axis){ 1.23e-7, 1.31e-7, false, 0 };
	is_str(list(&x, 5), "1.24e-07 1.26e-07 1.28e-07 1.3e-07", "a small range");
}

/* Every axis has ascending ticks inside it, no more than asked for. */
static void test_any_axis(void)
{
	static const double values[] = { 0, -0.0, 1, -1, 1e-300, 1e300, 1e-9, 123456789, NAN, INFINITY,
		-INFINITY, 5e-324 };
	int count = sizeof(values) / sizeof(*values), bad = 0;
	for (int i = 0; i < count * count * 2; i++) {
		struct axis x = axis_of(values[i / 2 / count], values[i / 2 % count], i % 2);
		double ticks[AXIS_TICKS], before = -INFINITY;
		bad += !(x.low < x.high) || (x.log && !(x.low > 0));
		for (int most = 0; most <= 70; most++) {
			int n = axis_ticks(&x, most, ticks);
			bad += n > most || n > AXIS_TICKS || (most > 1 && n < 2);
			before = -INFINITY;
			for (int k = 0; k < n; k++) {
				double place = axis_place(&x, ticks[k]);
				bad += !(ticks[k] > before) || !(place > -1e-6 && place < 1 + 1e-6);
				before = ticks[k];
			}
		}
	}
	is_int(bad, 0, "axes of any two values have ticks in order");
	struct axis x = axis_of(NAN, NAN, true);
	ok(axis_place(&x, 0) != axis_place(&x, 0) && axis_place(&x, -1) != axis_place(&x, -1),
		"what is not above 0 has no place on a log axis");
	x = axis_of(100, 1, true);
	near(axis_place(&x, 10), 0.5, 1e-12, "the middle of a log axis");
	near(axis_place(&x, 1000), 1.5, 1e-12, "beyond its end");
	x = axis_of(2, 4, false);
	near(axis_place(&x, 2.5), 0.25, 1e-12, "a linear one");
}

static void test_trim(void)
{
	static const char *const rows[][2] = { { "1.00 ms", "1 ms" }, { "1.50 ms", "1.5 ms" },
		{ "10.0 G", "10 G" }, { "100", "100" }, { "100 us", "100 us" }, { "0.05", "0.05" },
		{ "-", "-" } };
	char buf[STR_QUANTITY];
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(buf, sizeof(buf), "%s", rows[i][0]);
		is_str(axis_trim(buf), rows[i][1], "%s", rows[i][0]);
	}
}

static const char *printed(struct canvas *c)
{
	static struct str out;
	str_clear(&out);
	canvas_print(c, &out);
	return out.p;
}

static struct canvas canvas;
static struct arena arena;

static struct plot begin(int width, int height, bool ascii)
{
	arena_free(&arena);
	canvas.ascii = ascii;
	canvas_resize(&canvas, width, height);
	return plot_begin(canvas_area(&canvas), &arena);
}

static void test_lines(void)
{
	struct plot p = begin(4, 2, false);
	plot_line(&p, 0, 2, 4, 0, STYLE_NORMAL, false);
	plot_end(&p);
	is_str(printed(&canvas), "  \u2860\u280a\n\u2860\u280a\n", "a slope in braille");
	p = begin(5, 3, true);
	plot_line(&p, 0, 3, 3, 0, STYLE_NORMAL, false);
	plot_line(&p, 3, 0.5, 5, 0.5, STYLE_NORMAL, false);
	plot_end(&p);
	is_str(printed(&canvas), "  /--\n /\n/\n", "in ASCII");
	p = begin(4, 2, true);
	plot_line(&p, -1e9, 0.5, 1e9, 0.5, STYLE_NORMAL, false);
	plot_line(&p, -1e9, -1e9, -5, -5, STYLE_NORMAL, false);
	plot_line(&p, NAN, 0, 1, 1, STYLE_NORMAL, false);
	plot_line(&p, 0, INFINITY, 1, 1, STYLE_NORMAL, false);
	plot_end(&p);
	is_str(printed(&canvas), "----\n\n", "cut at the edges; NaN draws nothing");
	p = begin(4, 1, true);
	plot_line(&p, 0, 0.5, 4, 0.5, STYLE_NORMAL, true);
	plot_end(&p);
	is_str(printed(&canvas), "- -\n", "dotted");
	p = begin(0, 0, false);
	plot_line(&p, 0, 0, 1, 1, STYLE_NORMAL, false);
	plot_end(&p);
	is_str(printed(&canvas), "", "an empty area");
}

/* Labels of linear axes at any place and zoom, on any width. */
static void test_labels(void)
{
	static const struct quantity percent = { 0.01, 1, 1, { "%" } };
	static const struct quantity *const kinds[] = { &quantity_duration, &quantity_count, &percent };
	int axes = 0, same = 0, units = 0, wrong = 0;
	for (double low = 0; low < 3e9; low = low * 7.3 + 1)
		for (double length = low * 1e-8 + 3; length < 1e10; length *= 2.9)
			for (int k = 0; k < 3; k++) {
				struct axis x = { low, low + length, false, 0 };
				double ticks[AXIS_TICKS];
				char before[STR_QUANTITY] = "", label[STR_QUANTITY];
				int count = axis_ticks(&x, 8, ticks);
				axes++;
				for (int i = 0; i < count; i++) {
					axis_label(label, &x, kinds[k], ticks, count, i);
					same += strcmp(label, before) == 0;
					units += i && strcmp(label + strspn(label, "0123456789."),
						before + strspn(before, "0123456789.")) != 0;
					double one = kinds[k]->first;
					for (int u = 0; u < kinds[k]->count; u++, one *= kinds[k]->step)
						if (strcmp(kinds[k]->units[u],
							label + strspn(label, "0123456789.")) == 0)
							break;
					wrong += fabs(strtod(label, NULL) * one - ticks[i]) > length / 1e3;
					memcpy(before, label, sizeof(label));
				}
			}
	ok(axes > 500 && !same && !units && !wrong,
		"%d axes: %d labels twice, %d of other units, %d of other values", axes, same, units, wrong);
	struct axis x = { 1e6, 1e6 + 400, false, 0 };
	begin(60, 2, true);
	axis_draw_below(canvas_area(&canvas), &x, &quantity_duration, "");
	is_str(printed(&canvas), "+--------------+--------------+-------------+--------------+\n"
		"1 ms       1.0001 ms      1.0002 ms     1.0003 ms  1.0004 ms\n", "a zoomed axis");
	x = (struct axis){ 0, 4e5, false, 3e6 };
	begin(30, 2, true);
	axis_draw_below(canvas_area(&canvas), &x, &quantity_duration, "");
	ok(strstr(printed(&canvas), "0.2 ms") && strstr(printed(&canvas), "0.4 ms"), "the first of several");
}

static void test_axes(void)
{
	struct axis x = { 0, 1e6, false, 0 }, y = { 1e9, 1e12, true, 0 };
	begin(40, 2, true);
	axis_draw_below(canvas_area(&canvas), &x, &quantity_duration, "");
	is_str(printed(&canvas), "+-------+-------+------+-------+-------+\n"
		"0 ms 0.2 ms  0.4 ms 0.6 ms  0.8 ms  1 ms\n", "an axis below, in one unit");
	begin(40, 2, true);
	axis_draw_ticks(canvas_area(&canvas), &(struct axis){ 1, 64, true, 0 }, &quantity_count, "batch",
		(const double[]){ 1, 2, 4, 32, 60, 64 }, 6);
	is_str(printed(&canvas), "+------+-----+-------------------+ batch\n"
		"1      2     4                  32    64\n",
		"ticks at given places; the last one has a label before its neighbour");
	begin(8, 7, true);
	axis_draw_left(canvas_area(&canvas), &y, &quantity_count);
	is_str(printed(&canvas), "   1 T +\n       |\n 100 G +\n       |\n  10 G +\n       |\n   1 G +\n",
		"an axis at the left");
	for (int w = 0; w < 30; w++)
		for (int h = 0; h < 8; h++) {
			begin(w, h, w % 2);
			axis_draw_below(canvas_area(&canvas), &x, &quantity_duration, "");
			axis_draw_left(canvas_area(&canvas), &y, &quantity_count);
		}
	ok(true, "axes of any size");
}

int main(void)
{
	test_ticks();
	test_any_axis();
	test_trim();
	test_lines();
	test_axes();
	test_labels();
	canvas_free(&canvas);
	arena_free(&arena);
	return done_testing();
}
