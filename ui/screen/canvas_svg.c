/* The canvas as a standalone SVG picture: a <text> for each row, in it a <tspan> for each run of cells of one
 * style, placed at its column and set to the width of its cells, so that columns line up in any monospace
 * font. Bars and lanes are text too: all of it can be selected and searched. The picture has its own
 * background, so it reads the same on light and dark pages. Equal canvases give identical bytes. */
#include "config.h"

#include "ui/screen/canvas.h"

#define CELL_X10 84 /* width of a cell in tenths of a pixel: 0.6 em of the font below */
#define CELL_Y 18   /* height of a cell, pixels */
#define BASELINE 14 /* of the text in its cell, pixels from the top */
#define MARGIN 10

static const char ground[] = "#0d1117", ink[] = "#e6edf3";

/* NULL: the colour of plain text. */
static const struct svg_style {
	const char *ink;
	bool bold, reverse;
} svg_styles[STYLE_COUNT] = {
	[STYLE_DIM] = { "#8b949e", false, false },
	[STYLE_BOLD] = { NULL, true, false },
	[STYLE_REVERSE] = { NULL, false, true },
	[STYLE_GOOD] = { "#3fb950", false, false },
	[STYLE_WARN] = { "#e3b341", false, false },
	[STYLE_BAD] = { "#ff7b72", true, false },
	[STYLE_ACCENT] = { "#56d4dd", false, false },
	[STYLE_CRITICAL] = { "#d2a8ff", true, false },
	[STYLE_HEADER] = { "#79c0ff", true, false },
};

static void add_tenths(struct str *out, const char *before, int tenths)
{
	str_addf(out, "%s%d.%d\"", before, tenths / 10, tenths % 10);
}

static void add_code(struct str *out, uint32_t code)
{
	switch (code) {
	case '&': str_addf(out, "&amp;"); break;
	case '<': str_addf(out, "&lt;"); break;
	case '>': str_addf(out, "&gt;"); break;
	case 0xfffe:
	case 0xffff: str_addf(out, "?"); break; /* not allowed in XML */
	default: canvas_encode(out, code);
	}
}

static bool is_blank(const struct cell *c)
{
	return c->code == ' ' && !c->mark;
}

/* Number of cells of one style that can share an element. A new element begins after a gap, so that columns
 * line up in any font, and for each wide character, whose width depends on the font. */
static int run_end(const struct cell *row, int last, int x)
{
	int end = x + row[x].columns;
	while (row[x].columns == 1 && end < last && row[end].columns == 1 && row[end].style == row[x].style &&
		row[end].selected == row[x].selected &&
		!(end > x + 1 && !is_blank(&row[end]) && is_blank(&row[end - 1]) && is_blank(&row[end - 2])))
		end++;
	return end;
}

static bool is_reverse(const struct cell *c)
{
	return svg_styles[c->style].reverse || c->selected;
}

static const char *ink_of(const struct cell *c)
{
	return svg_styles[c->style].ink ? svg_styles[c->style].ink : ink;
}

/* The backgrounds of reversed cells. */
static void add_grounds(struct str *out, const struct cell *row, int width, int y)
{
	for (int x = 0, end; x < width; x = end) {
		end = x + 1;
		if (!is_reverse(&row[x]))
			continue;
		while (end < width && is_reverse(&row[end]) && ink_of(&row[end]) == ink_of(&row[x]))
			end++;
		add_tenths(out, "<rect x=\"", MARGIN * 10 + x * CELL_X10);
		add_tenths(out, " width=\"", (end - x) * CELL_X10);
		str_addf(out, " y=\"%d\" height=\"%d\" fill=\"%s\"/>\n", MARGIN + y * CELL_Y, CELL_Y,
			ink_of(&row[x]));
	}
}

static void add_run(struct str *out, const struct cell *row, int from, int to)
{
	const struct cell *first = &row[from];
	add_tenths(out, "<tspan x=\"", MARGIN * 10 + from * CELL_X10);
	add_tenths(out, " textLength=\"", (to - from) * CELL_X10);
	if (is_reverse(first) || svg_styles[first->style].ink)
		str_addf(out, " fill=\"%s\"", is_reverse(first) ? ground : ink_of(first));
	str_addf(out, "%s>", svg_styles[first->style].bold ? " font-weight=\"bold\"" : "");
	for (int x = from; x < to; x++) {
		if (row[x].columns)
			add_code(out, row[x].code);
		if (row[x].mark)
			canvas_encode(out, row[x].mark);
	}
	str_addf(out, "</tspan>");
}

static void add_row(struct str *out, const struct cell *row, int width, int y)
{
	int last = width;
	while (last > 0 && is_blank(&row[last - 1]))
		last--;
	add_grounds(out, row, width, y);
	str_addf(out, "<text y=\"%d\">", MARGIN + y * CELL_Y + BASELINE);
	for (int x = 0, end; x < last; x = end) {
		end = run_end(row, last, x);
		add_run(out, row, x, end);
	}
	str_addf(out, "</text>\n");
}

void canvas_print_svg(const struct canvas *c, struct str *out)
{
	int width = 2 * MARGIN + (c->width * CELL_X10 + 9) / 10, height = 2 * MARGIN + c->height * CELL_Y;
	str_addf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" "
		"font-size=\"14\" "
		"fill=\"%s\" shape-rendering=\"crispEdges\" style=\"white-space:pre\" "
		"xml:space=\"preserve\">\n"
		"<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"%s\"/>\n",
		width, height, width, height, ink, width, height, ground);
	for (int y = 0; y < c->height; y++)
		add_row(out, &c->cells[(size_t)y * (size_t)c->width], c->width, y);
	str_addf(out, "</svg>\n");
}
