/* The canvas: a screen in memory. Views draw on areas of it; term.c shows it and canvas_print writes it as
 * text, on request in ASCII. */
#ifndef UI_SCREEN_CANVAS_H
#define UI_SCREEN_CANVAS_H

#include "base/str.h"

/* Meaning of a cell, which selects its colour (theme.h): id, letter in canvas_print_styles. */
#define STYLE_LIST(_)    \
	_(NORMAL, '.')   \
	_(DIM, 'd')      \
	_(BOLD, 'b')     \
	_(REVERSE, 'r')  \
	_(GOOD, 'g')     \
	_(WARN, 'w')     \
	_(BAD, 'x')      \
	_(ACCENT, 'a')   \
	_(CRITICAL, 'c') \
	_(HEADER, 'h')   \
	_(BUSY, 'u')     \
	_(ESTIMATE, 'e') \
	_(ROUGH, 'o')    \
	_(HEAT_LOW, 'i') \
	_(HEAT_MIDDLE, 'j') \
	_(HEAT_HIGH, 'k')
enum style {
#define STYLE_ENUM(id, letter) STYLE_##id,
	STYLE_LIST(STYLE_ENUM)
#undef STYLE_ENUM
	STYLE_COUNT
};

struct cell {
	uint32_t code;   /* code point; 0 in the second half of a wide one */
	uint32_t mark;   /* a combining mark over it, or 0 */
	uint8_t style;    /* enum style */
	uint8_t columns; /* 1 or 2; 0 in the second half of a wide one */
	bool selected;   /* drawn reversed, whatever its style */
};

struct canvas {
	int width, height;   /* columns and rows, >= 0 */
	bool ascii;          /* code points above 127 are replaced as they are drawn */
	struct cell *cells;  /* height rows of width */
	bool has_cursor;     /* the terminal's cursor stands at cursor_x, cursor_y; else it is hidden */
	int cursor_x, cursor_y;
};

/* A rectangle of a canvas: coordinates below are relative to it, and nothing is drawn outside it. */
struct area {
	struct canvas *canvas;
	int x, y, width, height;
};

/* Largest side of a canvas: larger requests are cut down to it. */
#define CANVAS_SIDE_MAX 1000

/* A zeroed canvas is an empty one; resizing clears it. */
void canvas_resize(struct canvas *c, int width, int height);
void canvas_clear(struct canvas *c);
void canvas_free(struct canvas *c);
bool canvas_same(const struct canvas *a, const struct canvas *b);

struct area canvas_area(struct canvas *c);                                /* all of it */
struct area canvas_part(struct area a, int x, int y, int width, int height); /* clipped to a */

/* The mark where a text is cut: "…" or "..". */
const char *canvas_mark(struct area a);
/* Draws UTF-8 at x, y, cut at the area's edge; invalid bytes and control characters become '?'. Returns the
 * columns used. */
int canvas_text(struct area a, int x, int y, enum style style, const char *utf8);
/* The same in a field of `width` columns: longer text ends in an ellipsis. Returns the columns of text drawn.
 * */
int canvas_fit(struct area a, int x, int y, int width, enum style style, const char *utf8);
int canvas_fit_right(struct area a, int x, int y, int width, enum style style, const char *utf8);
/* The same, but longer text keeps its tail instead of its head (paths, dotted names). */
int canvas_fit_tail(struct area a, int x, int y, int width, enum style style, const char *utf8);
void canvas_put(struct area a, int x, int y, enum style style, uint32_t code);
void canvas_fill(struct area a, int x, int y, int width, enum style style, uint32_t code);
/* Lines around an area, inside it. */
void canvas_border(struct area a, enum style style);
/* A bar of fraction * width columns in eighths; any fraction above 0 shows. NaN draws nothing. */
void canvas_bar(struct area a, int x, int y, int width, enum style style, double fraction);
/* Puts the terminal's cursor there, where readers of the screen look; only inside the area. */
void canvas_cursor(struct area a, int x, int y);
/* Marks a whole row of the area as selected, and puts the cursor at its beginning. */
void canvas_select(struct area a, int y);

/* Columns of a UTF-8 text as canvas_text would draw it; on an ASCII canvas some symbols take two characters.
 * */
int canvas_columns(const char *utf8);
int canvas_columns_on(struct area a, const char *utf8);
/* Appends a code point as UTF-8. */
void canvas_encode(struct str *out, uint32_t code);
/* ASCII substitute of a code point (the first character of a two-character substitute). */
uint32_t canvas_ascii(uint32_t code);

/* The rows as text, trailing blanks removed, a newline after each. */
void canvas_print(const struct canvas *c, struct str *out);
/* The rows as a standalone SVG picture in the colours of a theme; the text in it is that of canvas_print. */
struct theme;
void canvas_print_svg(const struct canvas *c, const struct theme *t, struct str *out);
/* The styles in the same shape, one letter per cell (capital = selected); for tests. */
void canvas_print_styles(const struct canvas *c, struct str *out);

#endif
