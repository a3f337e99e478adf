/* Cells of code points with styles. A wide character has two cells, and overwriting one erases the other. */
#include "config.h"

#include "ui/screen/canvas.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void canvas_encode(struct str *out, uint32_t code)
{
	char b[4];
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char lead[5] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	for (size_t i = n; i-- > 1; code >>= 6)
		b[i] = (char)(0x80 | (code & 0x3f));
	b[0] = (char)(lead[n] | code);
	str_add(out, b, n);
}

int canvas_columns(const char *utf8)
{
	return text_columns(utf8);
}

/* clang-format off */
/* Symbols of the screens with a similar ASCII character. */
static const struct {
	uint32_t code;
	char ascii;
} likenesses[] = {
	{ 0xb7, '.' }, { 0xbb, '>' }, { 0xd7, 'x' }, { 0x2013, '-' }, { 0x2014, '-' },
	{ 0x2018, '\'' }, { 0x2019, '\'' }, { 0x201c, '"' }, { 0x201d, '"' }, { 0x2022, '*' },
	{ 0x2190, '<' }, { 0x2191, '^' }, { 0x2192, '>' }, { 0x2193, 'v' },
	{ 0x2500, '-' }, { 0x2502, '|' }, { 0x250a, ':' }, { 0x256d, '/' }, { 0x256e, '\\' },
	{ 0x256f, '/' }, { 0x2570, '\\' }, { 0x2574, '-' }, { 0x2575, '|' }, { 0x2576, '-' },
	{ 0x2577, '|' }, { 0x2581, '_' }, { 0x2582, '_' }, { 0x2583, '.' }, { 0x2584, '-' },
	{ 0x2585, '-' }, { 0x2586, '=' }, { 0x2587, '#' }, { 0x2588, '#' }, { 0x2589, '#' },
	{ 0x258a, '#' }, { 0x258b, '#' }, { 0x258c, ':' }, { 0x258d, ':' }, { 0x258e, '.' },
	{ 0x258f, '.' }, { 0x2595, '[' }, { 0x25b8, '+' }, { 0x25be, '-' }, { 0x25c6, '@' }, { 0x25cb, 'o' },
	{ 0x25cf, '*' },
};
/* clang-format on */

/* Symbols that take two characters in ASCII, where one ('~' or '+') has another meaning. */
static const struct {
	uint32_t code;
	char ascii[3];
} pairs[] = { { 0xb1, "+-" }, { 0x2026, ".." }, { 0x2265, ">=" } };

static const char *ascii_pair(uint32_t code)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i].code == code)
			return pairs[i].ascii;
	return NULL;
}

uint32_t canvas_ascii(uint32_t code)
{
	if (code < 0x80)
		return code;
	if (ascii_pair(code))
		return (uint32_t)ascii_pair(code)[0];
	for (size_t i = 0; i < sizeof(likenesses) / sizeof(*likenesses); i++)
		if (likenesses[i].code == code)
			return (uint32_t)likenesses[i].ascii;
	if (code >= 0x2500 && code < 0x2580)
		return '+'; /* all other box drawings are junctions */
	if (code > 0x2800 && code < 0x2900)
		return '.'; /* braille with any dot */
	return code == 0xa0 || code == 0x2800 ? ' ' : '?';
}

static const struct cell blank = { .code = ' ', .columns = 1 };

void canvas_clear(struct canvas *c)
{
	for (int i = 0; i < c->width * c->height; i++)
		c->cells[i] = blank;
	c->has_cursor = false;
	c->cursor_x = c->cursor_y = 0;
}

static int side(int n)
{
	return n < 0 ? 0 : n > CANVAS_SIDE_MAX ? CANVAS_SIDE_MAX : n;
}

void canvas_resize(struct canvas *c, int width, int height)
{
	c->width = side(width);
	c->height = side(height);
	free(c->cells);
	c->cells = base_calloc((size_t)c->width * (size_t)c->height + 1, sizeof(*c->cells));
	canvas_clear(c);
}

void canvas_free(struct canvas *c)
{
	free(c->cells);
	*c = (struct canvas){ 0 };
}

bool canvas_same(const struct canvas *a, const struct canvas *b)
{
	if (a->width != b->width || a->height != b->height || a->has_cursor != b->has_cursor ||
		a->cursor_x != b->cursor_x || a->cursor_y != b->cursor_y)
		return false;
	for (int i = 0; i < a->width * a->height; i++) {
		const struct cell *x = &a->cells[i], *y = &b->cells[i];
		if (x->code != y->code || x->mark != y->mark || x->style != y->style ||
			x->selected != y->selected)
			return false;
	}
	return true;
}

struct area canvas_area(struct canvas *c)
{
	return (struct area){ c, 0, 0, c->width, c->height };
}

struct area canvas_part(struct area a, int x, int y, int width, int height)
{
	int left = x < 0 ? 0 : x > a.width ? a.width : x, top = y < 0 ? 0 : y > a.height ? a.height : y;
	int right = x + width > a.width ? a.width : x + width;
	int bottom = y + height > a.height ? a.height : y + height;
	return (struct area){ a.canvas, a.x + left, a.y + top, right > left ? right - left : 0,
		bottom > top ? bottom - top : 0 };
}

static struct cell *cell_at(struct area a, int x, int y)
{
	if (x < 0 || y < 0 || x >= a.width || y >= a.height)
		return NULL;
	return &a.canvas->cells[(size_t)(a.y + y) * (size_t)a.canvas->width + (size_t)(a.x + x)];
}

/* Erases the other half of a wide character that is partly overwritten. */
static void cell_break(struct area a, int x, int y)
{
	struct area row = { a.canvas, 0, a.y + y, a.canvas->width, 1 };
	struct cell *c = cell_at(row, a.x + x, 0);
	if (!c)
		return;
	struct cell *other = c->columns == 0 ? cell_at(row, a.x + x - 1, 0)
		: c->columns == 2            ? cell_at(row, a.x + x + 1, 0)
					     : NULL;
	if (other) {
		other->code = ' ';
		other->columns = 1;
		other->mark = 0;
	}
}

static int code_columns_on(struct area a, uint32_t code)
{
	return a.canvas->ascii && ascii_pair(code) ? 2 : text_code_columns(code);
}

int canvas_columns_on(struct area a, const char *utf8)
{
	int columns = 0;
	for (uint32_t code; (code = text_decode(&utf8));)
		columns += code_columns_on(a, code);
	return columns;
}

/* Draws one code point; returns its columns, or -1 if it does not fit. */
static int put(struct area a, int x, int y, enum style style, uint32_t code)
{
	int columns = text_code_columns(code);
	const char *pair = a.canvas->ascii ? ascii_pair(code) : NULL;
	if (pair) {
		if (!cell_at(a, x, y) || !cell_at(a, x + 1, y))
			return -1;
		put(a, x, y, style, (uint32_t)pair[0]);
		put(a, x + 1, y, style, (uint32_t)pair[1]);
		return 2;
	}
	if (a.canvas->ascii && code >= 0x80) {
		uint32_t likeness = canvas_ascii(code);
		for (int i = 1; i < columns; i++)
			put(a, x + i, y, style, likeness);
		if (columns == 0)
			return 0;
		put(a, x, y, style, likeness);
		return columns;
	}
	if (columns == 0) {
		struct cell *before = cell_at(a, x - 1, y);
		if (before && before->columns == 0)
			before = cell_at(a, x - 2, y);
		if (before)
			before->mark = code;
		return 0;
	}
	struct cell *c = cell_at(a, x, y), *second = columns == 2 ? cell_at(a, x + 1, y) : NULL;
	if (!c || (columns == 2 && !second))
		return -1;
	cell_break(a, x, y);
	*c = (struct cell){ .code = code, .style = (uint8_t)style, .columns = (uint8_t)columns };
	if (second) {
		cell_break(a, x + 1, y);
		*second = (struct cell){ .style = (uint8_t)style };
	}
	return columns;
}

void canvas_put(struct area a, int x, int y, enum style style, uint32_t code)
{
	put(a, x, y, style, code);
}

void canvas_fill(struct area a, int x, int y, int width, enum style style, uint32_t code)
{
	for (int i = 0; i < width; i++)
		put(a, x + i, y, style, code);
}

void canvas_border(struct area a, enum style style)
{
	int right = a.width - 1, bottom = a.height - 1;
	canvas_fill(a, 0, 0, a.width, style, 0x2500);
	canvas_fill(a, 0, bottom, a.width, style, 0x2500);
	for (int y = 0; y <= bottom; y++) {
		canvas_put(a, 0, y, style, y == 0 ? 0x250c : y == bottom ? 0x2514 : 0x2502);
		canvas_put(a, right, y, style, y == 0 ? 0x2510 : y == bottom ? 0x2518 : 0x2502);
	}
}

int canvas_text(struct area a, int x, int y, enum style style, const char *utf8)
{
	int used = 0;
	for (uint32_t code; (code = text_decode(&utf8));) {
		int columns = put(a, x + used, y, style, code);
		if (columns < 0 && x + used >= 0)
			break;
		used += columns < 0 ? code_columns_on(a, code) : columns;
	}
	return used;
}

const char *canvas_mark(struct area a)
{
	return a.canvas->ascii ? ".." : "\u2026";
}

/* Columns of the mark at the end of a cut text. */
static int cut_columns(struct area a)
{
	return code_columns_on(a, 0x2026);
}

int canvas_fit(struct area a, int x, int y, int width, enum style style, const char *utf8)
{
	if (width <= 0)
		return 0;
	if (canvas_columns_on(a, utf8) <= width)
		return canvas_text(a, x, y, style, utf8);
	int cut = cut_columns(a);
	if (cut > width) {
		canvas_fill(a, x, y, width, style, '.');
		return width;
	}
	int used = canvas_text(canvas_part(a, x, y, width - cut, 1), 0, 0, style, utf8);
	canvas_put(a, x + used, y, style, 0x2026);
	return used + cut;
}

int canvas_fit_right(struct area a, int x, int y, int width, enum style style, const char *utf8)
{
	int columns = canvas_columns_on(a, utf8);
	return canvas_fit(a, columns < width ? x + width - columns : x, y, width, style, utf8);
}

int canvas_fit_tail(struct area a, int x, int y, int width, enum style style, const char *utf8)
{
	int columns = canvas_columns_on(a, utf8), cut = cut_columns(a);
	if (columns <= width || width <= cut)
		return canvas_fit(a, x, y, width, style, utf8);
	while (columns > width - cut) {
		uint32_t code = text_decode(&utf8);
		columns -= code_columns_on(a, code);
	}
	canvas_put(a, x, y, style, 0x2026);
	return cut + canvas_text(canvas_part(a, x + cut, y, width - cut, 1), 0, 0, style, utf8);
}

void canvas_bar(struct area a, int x, int y, int width, enum style style, double fraction)
{
	if (!(fraction > 0) || width <= 0)
		return;
	int eighths = (int)lround((fraction < 1 ? fraction : 1) * width * 8);
	eighths = eighths < 1 ? 1 : eighths;
	canvas_fill(a, x, y, eighths / 8, style, 0x2587);
	if (eighths % 8)
		canvas_put(a, x + eighths / 8, y, style, 0x2590 - (uint32_t)(eighths % 8));
}

void canvas_cursor(struct area a, int x, int y)
{
	if (!cell_at(a, x, y))
		return;
	a.canvas->has_cursor = true;
	a.canvas->cursor_x = a.x + x;
	a.canvas->cursor_y = a.y + y;
}

void canvas_select(struct area a, int y)
{
	if (!a.canvas->has_cursor)
		canvas_cursor(a, 0, y);
	for (int x = 0; x < a.width; x++) {
		struct cell *c = cell_at(a, x, y);
		if (c)
			c->selected = true;
	}
}

static const struct cell *row_of(const struct canvas *c, int y)
{
	return &c->cells[(size_t)y * (size_t)c->width];
}

void canvas_print(const struct canvas *c, struct str *out)
{
	for (int y = 0; y < c->height; y++) {
		const struct cell *row = row_of(c, y);
		int last = c->width;
		while (last > 0 && row[last - 1].code == ' ' && !row[last - 1].mark)
			last--;
		for (int x = 0; x < last; x++) {
			if (row[x].columns == 0)
				continue;
			canvas_encode(out, row[x].code);
			if (row[x].mark)
				canvas_encode(out, row[x].mark);
		}
		str_add(out, "\n", 1);
	}
}

void canvas_print_styles(const struct canvas *c, struct str *out)
{
#define STYLE_LETTER(id, letter) letter,
	static const char letters[] = { STYLE_LIST(STYLE_LETTER) };
#undef STYLE_LETTER
	for (int y = 0; y < c->height; y++) {
		const struct cell *row = row_of(c, y);
		for (int x = 0; x < c->width; x++) {
			char letter = letters[row[x].style];
			char capital = letter == '.' ? '#' : (char)(letter - 32);
			str_add(out, row[x].selected ? &capital : &letter, 1);
		}
		str_add(out, "\n", 1);
	}
}
