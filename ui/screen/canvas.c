#include "config.h"

#include "ui/screen/canvas.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct range {
	uint32_t first, last;
};

/* clang-format off: tables stay packed */
/* Marks that sit on the character before them. */
static const struct range no_columns[] = {
	{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd }, { 0x5bf, 0x5bf }, { 0x5c1, 0x5c2 },
	{ 0x5c4, 0x5c5 }, { 0x610, 0x61a }, { 0x64b, 0x65f }, { 0x670, 0x670 }, { 0x6d6, 0x6dc },
	{ 0x6df, 0x6e4 }, { 0x6e7, 0x6e8 }, { 0x6ea, 0x6ed }, { 0x900, 0x902 }, { 0x93a, 0x93a },
	{ 0x93c, 0x93c }, { 0x941, 0x948 }, { 0x94d, 0x94d }, { 0xe31, 0xe31 }, { 0xe34, 0xe3a },
	{ 0xe47, 0xe4e }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x20d0, 0x20ff },
	{ 0x302a, 0x302d }, { 0x3099, 0x309a }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
	{ 0xe0100, 0xe01ef },
};

/* East Asian wide and full-width forms, and emoji that terminals show in two columns. */
static const struct range two_columns[] = {
	{ 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x2329, 0x232a }, { 0x23e9, 0x23ec }, { 0x23f0, 0x23f0 },
	{ 0x23f3, 0x23f3 }, { 0x25fd, 0x25fe }, { 0x2614, 0x2615 }, { 0x2648, 0x2653 }, { 0x267f, 0x267f },
	{ 0x2693, 0x2693 }, { 0x26a1, 0x26a1 }, { 0x26aa, 0x26ab }, { 0x26bd, 0x26be }, { 0x26c4, 0x26c5 },
	{ 0x26ce, 0x26ce }, { 0x26d4, 0x26d4 }, { 0x26ea, 0x26ea }, { 0x26f2, 0x26f3 }, { 0x26f5, 0x26f5 },
	{ 0x26fa, 0x26fa }, { 0x26fd, 0x26fd }, { 0x2705, 0x2705 }, { 0x270a, 0x270b }, { 0x2728, 0x2728 },
	{ 0x274c, 0x274c }, { 0x274e, 0x274e }, { 0x2753, 0x2755 }, { 0x2757, 0x2757 }, { 0x2795, 0x2797 },
	{ 0x27b0, 0x27b0 }, { 0x27bf, 0x27bf }, { 0x2b1b, 0x2b1c }, { 0x2b50, 0x2b50 }, { 0x2b55, 0x2b55 },
	{ 0x2e80, 0x303e }, { 0x3041, 0x4dbf }, { 0x4e00, 0xa4cf }, { 0xa960, 0xa97f }, { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff }, { 0xfe10, 0xfe19 }, { 0xfe30, 0xfe6f }, { 0xff01, 0xff60 }, { 0xffe0, 0xffe6 },
	{ 0x16fe0, 0x18cff }, { 0x1aff0, 0x1b2ff }, { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf },
	{ 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 },
	{ 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 }, { 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 },
	{ 0x1f3e0, 0x1f3f0 }, { 0x1f3f4, 0x1f3f4 }, { 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 },
	{ 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e }, { 0x1f550, 0x1f567 },
	{ 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 }, { 0x1f5a4, 0x1f5a4 }, { 0x1f5fb, 0x1f64f },
	{ 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc }, { 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6d7 },
	{ 0x1f6dc, 0x1f6df }, { 0x1f6eb, 0x1f6ec }, { 0x1f6f4, 0x1f6fc }, { 0x1f7e0, 0x1f7eb },
	{ 0x1f7f0, 0x1f7f0 }, { 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff },
	{ 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};
/* clang-format on */

static bool range_has(const struct range *ranges, size_t count, uint32_t code)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (code > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && code >= ranges[low].first;
}

int canvas_code_columns(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (range_has(no_columns, sizeof(no_columns) / sizeof(*no_columns), code))
		return 0;
	return range_has(two_columns, sizeof(two_columns) / sizeof(*two_columns), code) ? 2 : 1;
}

uint32_t canvas_decode(const char **p)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)*p;
	if (!s[0])
		return 0;
	size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
	uint32_t code = length <= 1 ? s[0] : s[0] & (0xffu >> (length + 1));
	if (s[0] > 0xf4)
		length = 0;
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			length = 0;
			break;
		}
		code = code << 6 | (s[i] & 0x3f);
	}
	*p += length ? length : 1;
	bool surrogate = code >= 0xd800 && code <= 0xdfff;
	bool broken = length == 0 || code < least[length] || code > 0x10ffff || surrogate;
	bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
	return broken || control ? '?' : code;
}

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
	int columns = 0;
	for (uint32_t code; (code = canvas_decode(&utf8));)
		columns += canvas_code_columns(code);
	return columns;
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
	if (a->width != b->width || a->height != b->height)
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
	return a.canvas->ascii && ascii_pair(code) ? 2 : canvas_code_columns(code);
}

int canvas_columns_on(struct area a, const char *utf8)
{
	int columns = 0;
	for (uint32_t code; (code = canvas_decode(&utf8));)
		columns += code_columns_on(a, code);
	return columns;
}

/* Draws one code point; returns its columns, or -1 if it does not fit. */
static int put(struct area a, int x, int y, enum style style, uint32_t code)
{
	int columns = canvas_code_columns(code);
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

int canvas_text(struct area a, int x, int y, enum style style, const char *utf8)
{
	int used = 0;
	for (uint32_t code; (code = canvas_decode(&utf8));) {
		int columns = put(a, x + used, y, style, code);
		if (columns < 0 && x + used >= 0)
			break;
		used += columns < 0 ? code_columns_on(a, code) : columns;
	}
	return used;
}

/* Columns of the mark at the end of a cut text: "…" or "..". */
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
		uint32_t code = canvas_decode(&utf8);
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

void canvas_select(struct area a, int y)
{
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
