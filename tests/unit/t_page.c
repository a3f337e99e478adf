/* Pages of lines: where texts are broken, which lines the cursor skips, when they are made again. Linked with
 * the boxes screen and model alone. */
#include "config.h"

#include "ui/model/page.h"

#include "tap.h"

static struct app app;

/* The parts of a text, each in brackets. */
static const char *parts(const char *text, int columns)
{
	static struct str out;
	str_clear(&out);
	str_puts(&out, "");
	for (struct text part; page_part(&text, columns, &part);)
		str_addf(&out, "[%.*s]", (int)part.n, part.p);
	return out.p ? out.p : "";
}

static void test_parts(void)
{
	static const struct {
		const char *text;
		int columns;
		const char *parts;
	} cases[] = {
		{ "", 10, "" },
		{ "one", 10, "[one]" },
		{ "one two", 7, "[one two]" },
		{ "one two", 6, "[one][two]" },
		{ "one   two", 5, "[one  ][two]" },
		{ "  one two", 6, "[  one][two]" },
		{ "abcdefgh", 3, "[abc][def][gh]" },
		{ "a \u00e9\u00e9\u00e9", 4, "[a][\u00e9\u00e9\u00e9]" },
		{ "abc", 0, "[a][b][c]" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_str(parts(cases[i].text, cases[i].columns), cases[i].parts, "\"%s\" in %d columns",
			cases[i].text, cases[i].columns);
	is_int(page_parts("one two three", 5), 3, "three parts");
	is_int(page_parts("one", 0), 0, "no columns, no parts");
}

static void test_page(void)
{
	struct page p = { 0 };
	ok(page_is_old(&p, &app, 40), "an empty page is to be made");
	page_begin(&p, &app, 40);
	page_add(&p, 1, STYLE_HEADER, "Heading");
	int first = page_wrap(&p, 10, 12, STYLE_NORMAL, "a text of a line and a half, of forty columns");
	is_int(first, 1, "the first line of a text");
	is_int(p.count, 3, "which has two");
	is_str(p.lines[1].text, "a text of a line and a half,", "the first one");
	ok(!p.lines[1].passed && p.lines[1].at == 10 && p.lines[1].item == -1, "at its column");
	is_str(p.lines[2].text, "of forty columns", "the second one");
	ok(page_passes(&app, &p, 2) && p.lines[2].at == 12, "is skipped, and is indented");
	is_int(page_wrap(&p, 1, 1, STYLE_NORMAL, ""), p.count, "an empty text has no line");
	page_add(&p, 5, STYLE_NORMAL, "right")->label = "left";
	is_str(page_row_text(&app, &p, 3), "left right", "a label is part of what is searched");
	ok(!page_is_old(&p, &app, 40) && page_is_old(&p, &app, 41), "another width makes it old");
	app.generation++;
	ok(page_is_old(&p, &app, 40), "and so does another state");
	page_begin(&p, &app, 30);
	is_int(p.count, 0, "begun again it has no lines");
	p.margin = 4;
	is_int(page_room(&p, 2), 24, "columns of a text, without the margin");
	is_int(page_room(&p, 25), 20, "and never fewer than 20");
	page_close(&app, &p);
	arena_free(&app.scratch);
}

int main(void)
{
	test_parts();
	test_page();
	return done_testing();
}
