/* The canvas as a standalone SVG picture: a <text> for each row, in it a <tspan> for each run of cells of one
 * style, placed at its column and set to the width of its cells, so that columns line up in any monospace
 * font. Bars and lanes are text too: all of it can be selected and searched. The picture has its own
 * background, so it reads the same on light and dark pages. Equal canvases give identical bytes. */
#include "config.h"

#include "ui/screen/theme.h"

#define CELL_X10 84 /* width of a cell in tenths of a pixel: 0.6 em of the font below */
#define CELL_Y 18   /* height of a cell, pixels */
#define BASELINE 14 /* of the text in its cell, pixels from the top */
#define MARGIN 10

/* Of the page: the theme's, unless its role "text" has others. */
static uint32_t rgb_of(int32_t color, uint32_t otherwise)
{
	return color == INK_DEFAULT ? otherwise : color >= INK_RGB ? (uint32_t)color & 0xffffff :
		theme_index_rgb((int)color);
}

static uint32_t page_ink(const struct theme *t)
{
	return rgb_of(t->colored ? t->looks[STYLE_NORMAL].ink.color : INK_DEFAULT, t->page_ink);
}

static uint32_t page_ground(const struct theme *t)
{
	return rgb_of(t->colored ? t->looks[STYLE_NORMAL].ground.color : INK_DEFAULT, t->page_ground);
}

/* The colours of a cell: indexes as rgb, reversed ones exchanged. */
struct paint {
	uint32_t ink, ground;
	bool bold, underline;
};

static struct paint paint_of(const struct theme *t, const struct cell *c)
{
	struct shade s = theme_shade(t, (enum style)c->style, c->selected, COLORS_ALL);
	struct paint p = { rgb_of(s.ink, page_ink(t)), rgb_of(s.ground, page_ground(t)),
		(s.marks & LOOK_BOLD) != 0, (s.marks & LOOK_UNDERLINE) != 0 };
	if (s.marks & LOOK_DIM && s.ink == INK_DEFAULT)
		p.ink = (p.ink >> 1 & 0x7f7f7f) + (p.ground >> 1 & 0x7f7f7f);
	if (s.marks & LOOK_REVERSE) {
		uint32_t ink = p.ink;
		p.ink = p.ground;
		p.ground = ink;
	}
	return p;
}

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
	return c->code == ' ' && !c->mark && c->columns == 1;
}

/* End of the cells from x on, of one style, that can share an element. A new element begins after a gap, so
 * that columns line up in any font, and for each wide character, whose width depends on the font. No element
 * begins or ends with a blank, or has two in a row: browsers drop those, and then stretch what is left of the
 * text to the length that was given. */
static int run_end(const struct cell *row, int last, int x)
{
	int end = x + row[x].columns;
	while (row[x].columns == 1 && end < last && row[end].columns == 1 && row[end].style == row[x].style &&
		row[end].selected == row[x].selected && !(is_blank(&row[end]) && is_blank(&row[end - 1])))
		end++;
	return is_blank(&row[end - 1]) ? end - 1 : end;
}

/* The backgrounds that are not the page's. */
static void add_grounds(struct str *out, const struct theme *t, const struct cell *row, int width, int y)
{
	for (int x = 0, end; x < width; x = end) {
		uint32_t ground = paint_of(t, &row[x]).ground;
		end = x + 1;
		if (ground == page_ground(t))
			continue;
		while (end < width && paint_of(t, &row[end]).ground == ground)
			end++;
		add_tenths(out, "<rect x=\"", MARGIN * 10 + x * CELL_X10);
		add_tenths(out, " width=\"", (end - x) * CELL_X10);
		str_addf(out, " y=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", MARGIN + y * CELL_Y, CELL_Y,
			ground);
	}
}

static void add_run(struct str *out, const struct theme *t, const struct cell *row, int from, int to)
{
	struct paint p = paint_of(t, &row[from]);
	add_tenths(out, "<tspan x=\"", MARGIN * 10 + from * CELL_X10);
	add_tenths(out, " textLength=\"", (to - from) * CELL_X10);
	if (p.ink != page_ink(t))
		str_addf(out, " fill=\"#%06x\"", p.ink);
	str_addf(out, "%s%s>", p.bold ? " font-weight=\"bold\"" : "",
		p.underline ? " text-decoration=\"underline\"" : "");
	for (int x = from; x < to; x++) {
		if (row[x].columns)
			add_code(out, row[x].code);
		if (row[x].mark)
			canvas_encode(out, row[x].mark);
	}
	str_addf(out, "</tspan>");
}

static void add_row(struct str *out, const struct theme *t, const struct cell *row, int width, int y)
{
	int last = width;
	while (last > 0 && is_blank(&row[last - 1]))
		last--;
	add_grounds(out, t, row, width, y);
	str_addf(out, "<text y=\"%d\">", MARGIN + y * CELL_Y + BASELINE);
	for (int x = 0, end; x < last; x = end)
		if (is_blank(&row[x]))
			end = x + 1;
		else
			add_run(out, t, row, x, end = run_end(row, last, x));
	str_addf(out, "</text>\n");
}

void canvas_print_svg(const struct canvas *c, const struct theme *t, struct str *out)
{
	int width = 2 * MARGIN + (c->width * CELL_X10 + 9) / 10, height = 2 * MARGIN + c->height * CELL_Y;
	str_addf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" "
		"font-size=\"14\" "
		"fill=\"#%06x\" shape-rendering=\"crispEdges\" style=\"white-space:pre\" "
		"xml:space=\"preserve\">\n"
		"<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#%06x\"/>\n",
		width, height, width, height, page_ink(t), width, height, page_ground(t));
	for (int y = 0; y < c->height; y++)
		add_row(out, t, &c->cells[(size_t)y * (size_t)c->width], c->width, y);
	str_addf(out, "</svg>\n");
}
