/* Plots on a canvas: axes with 1-2-5 ticks, and lines of braille dots, in ASCII of characters. Positions are
 * in cells from the top left of an area; fractions are dots within a cell. */
#ifndef UI_SCREEN_PLOT_H
#define UI_SCREEN_PLOT_H

#include "base/arena.h"
#include "base/str.h"
#include "ui/screen/canvas.h"

/* Values from low to high; log: both above 0, equal factors are equally far apart. Labels have the unit of
 * `far`, if that is farther from 0: one unit for several axes. */
struct axis {
	double low, high;
	bool log;
	double far;
};

/* An axis that contains both values, whatever they are: equal, in either order, unknown (NaN), immense
 * (beyond 1e200) or, for log, not above 0. */
struct axis axis_of(double low, double high, bool log);
/* Position of a value: 0 at low, 1 at high, beyond them outside; NaN of values that have none. */
double axis_place(const struct axis *x, double value);
/* Ticks within the axis at 1, 2 and 5 times powers of ten, at most `most`: on a log axis all of these, the
 * powers alone or every nth power; else, or where these are fewer than two, at equal steps. Returns the
 * count, at most AXIS_TICKS, and at least 2 if `most` is. */
#define AXIS_TICKS 64
int axis_ticks(const struct axis *x, int most, double ticks[AXIS_TICKS]);

/* The label of ticks[i]: on a log axis in its own unit, on a linear one in the unit of the farthest from 0,
 * with as many digits as tell neighbours apart. buf has STR_QUANTITY bytes. Returns buf. */
char *axis_label(char *buf, const struct axis *x, const struct quantity *of, const double *ticks, int count,
	int i);
/* "1 ms" instead of "1.00 ms". Returns buf. */
char *axis_trim(char *buf);
/* Draws the axis below a plot: a line with ticks and its name ("batch", "FLOP/byte") in row 0 and the values
 * of ticks in row 1, both as far as the area has them. The plot has all columns of the area. */
void axis_draw_below(struct area a, const struct axis *x, const struct quantity *of, const char *name);
/* The same with ticks at given places, ascending. */
void axis_draw_ticks(struct area a, const struct axis *x, const struct quantity *of, const char *name,
	const double *ticks, int count);
/* Draws the axis at the left of a plot: values, and ticks in the last column. low is in the last row. */
void axis_draw_left(struct area a, const struct axis *y, const struct quantity *of);

struct plot {
	struct area area;
	int across, down;  /* dots in a cell: 2 by 4; in ASCII 1 by 1 */
	uint32_t *cells;   /* per cell: the bits of its braille character; in ASCII the character */
	uint8_t *styles;
};

/* The plot of an area; its memory is in the arena. */
struct plot plot_begin(struct area a, struct arena *arena);
/* A line, or its part inside the area. dotted: every second dot. Positions that are NaN draw nothing. */
void plot_line(struct plot *p, double x0, double y0, double x1, double y1, enum style style, bool dotted);
/* Draws it; cells without dots stay as they are. */
void plot_end(const struct plot *p);

#endif
