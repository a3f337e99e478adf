/* The canvas: widths, clipping, wide characters, cleaning, ASCII. */
#include "config.h"

#include "ui/screen/canvas.h"

#include "tap.h"

#include <stdlib.h>

static struct canvas canvas;

static const char *shown(void)
{
	static struct str out;
	str_clear(&out);
	canvas_print(&canvas, &out);
	return out.p;
}

static struct area fresh(int width, int height, bool ascii)
{
	canvas.ascii = ascii;
	canvas_resize(&canvas, width, height);
	return canvas_area(&canvas);
}

static void test_widths(void)
{
	is_int(text_code_columns('a'), 1, "a letter");
	is_int(text_code_columns(0xe9), 1, "a letter with an accent");
	is_int(text_code_columns(0x301), 0, "a combining accent");
	is_int(text_code_columns(0x5c42), 2, "a Chinese character");
	is_int(text_code_columns(0xac00), 2, "a Korean syllable");
	is_int(text_code_columns(0x1f600), 2, "a face");
	is_int(text_code_columns(0x25cf), 1, "our bullet");
	is_int(text_code_columns(0x2587), 1, "our bar");
	is_int(canvas_columns("\u5c42x\u0301"), 3, "a text of all kinds");
	/* the tables are searched by halves: ranges in order */
	for (uint32_t c = 0x300; c < 0x40000; c++)
		if (text_code_columns(c) < 0 || text_code_columns(c) > 2)
			ok(false, "columns of %x", c);
}

static void test_text(void)
{
	struct area a = fresh(10, 2, false);
	is_int(canvas_text(a, 2, 0, STYLE_NORMAL, "hello"), 5, "columns drawn");
	is_int(canvas_text(a, 7, 1, STYLE_NORMAL, "hello"), 3, "cut at the edge");
	is_str(shown(), "  hello\n       hel\n", "as drawn");
	a = fresh(6, 1, false);
	canvas_text(a, 0, 0, STYLE_NORMAL, "a\033[1m\x80\xffz");
	is_str(shown(), "a?[1m?\n", "control characters and broken bytes become ?");
	a = fresh(5, 3, false);
	canvas_text(a, 0, 0, STYLE_NORMAL, "\u5c42\u5c42\u5c42");
	canvas_text(a, 0, 1, STYLE_NORMAL, "\u5c42\u5c42");
	canvas_text(a, 1, 1, STYLE_NORMAL, "x");
	canvas_text(a, 0, 2, STYLE_NORMAL, "e\u0301\u5c42\u0301");
	is_str(shown(), "\u5c42\u5c42\n x\u5c42\ne\u0301\u5c42\u0301\n",
		"wide ones are never halved; marks sit on theirs");
	a = fresh(8, 3, false);
	is_int(canvas_fit(a, 0, 0, 5, STYLE_NORMAL, "abcdefgh"), 5, "fit");
	canvas_fit_right(a, 0, 1, 8, STYLE_NORMAL, "abc");
	canvas_fit_tail(a, 0, 2, 5, STYLE_NORMAL, "abcdefgh");
	is_str(shown(), "abcd\u2026\n     abc\n\u2026efgh\n", "head, right and tail");
	a = fresh(4, 1, false);
	canvas_fit(a, 0, 0, 4, STYLE_NORMAL, "\u5c42\u5c42\u5c42");
	is_str(shown(), "\u5c42\u2026\n", "an ellipsis beside a wide one");
}

static void test_clipping(void)
{
	struct area a = fresh(6, 3, false), part = canvas_part(a, 2, 1, 3, 1);
	canvas_text(part, -2, 0, STYLE_NORMAL, "abcdefgh");
	canvas_text(part, 0, 1, STYLE_NORMAL, "below");
	canvas_fill(part, 2, 0, 50, STYLE_NORMAL, '!');
	is_str(shown(), "\n  cd!\n\n", "nothing outside the area");
	part = canvas_part(a, 5, 2, 100, 100);
	is_int(part.width, 1, "a part is cut to its whole");
	part = canvas_part(a, 9, 9, 3, 3);
	is_int(part.width * part.height, 0, "a part outside is empty");
	canvas_text(part, 0, 0, STYLE_NORMAL, "x");
	a = fresh(0, 0, false);
	canvas_text(a, 0, 0, STYLE_NORMAL, "x");
	canvas_resize(&canvas, -3, 100000);
	is_int(canvas.height, CANVAS_SIDE_MAX, "absurd sizes are cut down");
	is_int(canvas.width, 0, "and up");
}

static void test_bars(void)
{
	struct area a = fresh(5, 6, false);
	canvas_bar(a, 0, 0, 4, STYLE_NORMAL, 1);
	canvas_bar(a, 0, 1, 4, STYLE_NORMAL, 0.5);
	canvas_bar(a, 0, 2, 4, STYLE_NORMAL, 1e-9);
	canvas_bar(a, 0, 3, 4, STYLE_NORMAL, NAN);
	canvas_bar(a, 0, 4, 4, STYLE_NORMAL, 77);
	canvas_bar(a, 0, 5, 4, STYLE_NORMAL, 0.4);
	is_str(shown(),
		"\u2587\u2587\u2587\u2587\n\u2587\u2587\n\u258f\n\n\u2587\u2587\u2587\u2587\n\u2587\u258b\n",
		"bars");
	a = fresh(8, 1, true);
	canvas_bar(a, 0, 0, 4, STYLE_NORMAL, 0.5);
	canvas_text(a, 3, 0, STYLE_NORMAL, "\u25cf\u2502\u5c42\u2026");
	is_str(shown(), "## *|??\n", "in ASCII, widths kept; a pair that does not fit is not halved");
	a = fresh(10, 3, true);
	canvas_text(a, 0, 0, STYLE_NORMAL, "9 us \u00b10.4%");
	canvas_fit(a, 0, 1, 8, STYLE_NORMAL, "abcdefghijk");
	canvas_fit_tail(a, 0, 2, 8, STYLE_NORMAL, "abcdefghijk");
	is_str(shown(), "9 us +-0.4\nabcdef..\n..fghijk\n", "signs of two characters");
	is_int(canvas_columns_on(a, "\u00b1x\u2026"), 5, "and counted so");
	is_int(canvas_fit(a, 0, 0, 1, STYLE_NORMAL, "abc"), 1, "one column");
}

static void test_ascii(void)
{
	int bad = 0;
	for (uint32_t c = 0x20; c < 0x40000; c++)
		bad += canvas_ascii(c) < 0x20 || canvas_ascii(c) >= 0x7f ? c != 0x7f : 0;
	is_int(bad, 0, "every code point has a printable likeness");
	is_int(canvas_ascii(0x251c), '+', "a joint");
	is_int(canvas_ascii(0x28ff), '.', "braille");
}

static void test_looks(void)
{
	struct area a = fresh(4, 2, false);
	struct str out = { 0 };
	canvas_text(a, 0, 0, STYLE_GOOD, "ab");
	canvas_select(a, 0);
	canvas_print_styles(&canvas, &out);
	is_str(out.p, "GG##\n....\n", "styles and selection");
	struct canvas other = { 0 };
	canvas_resize(&other, 4, 2);
	ok(!canvas_same(&canvas, &other), "different canvases differ");
	canvas_clear(&canvas);
	ok(canvas_same(&canvas, &other), "equal ones do not");
	canvas_free(&other);
	str_free(&out);
}

int main(void)
{
	test_widths();
	test_text();
	test_clipping();
	test_bars();
	test_ascii();
	test_looks();
	canvas_free(&canvas);
	return done_testing();
}
