/* The stage by itself, linked without views and frame: a table of views of its own, their keys, and the text
 * of a prompt. */
#include "config.h"

#include "ui/stage/lines.h"
#include "ui/stage/stage.h"

#include "tap.h"

static const struct key_row own[] = {
	{ "x zx", REQUEST_OWN, 3, KEYS_CHARTS, "turn it; {down} goes on", .name = "turn" },
	{ 0 }
};

static const struct view first = { .name = "first", .help = "the first", .keys = "1", .group = KEYS_VIEWS };
static const struct view second = { .name = "second", .help = "the second", .keys = "g2", .own = own,
	.group = KEYS_VIEWS, .details = true };

static void test_table(void)
{
	static const struct view *const views[] = { &first, &second, NULL };
	is_int(views_count(), 0, "no views");
	is_str(key_named("down"), "down", "without a table of keys, a key is its name");
	views_use(views);
	keys_begin();
	is_int(views_count(), 2, "two views");
	ok(views_at(1) == &second && !views_at(2) && views_number(&second) == 1, "in their order");
	ok(views_details() == &second && views_find("sec") == &second && !views_find("x"),
		"found by flag and name");
	ok(view_list(&first)->rows == NULL, "a view without rows has an empty list");
	is_str(key_named("down"), "j", "keys have names");
	is_str(key_named("second.turn"), "x", "those of a view too");
	is_str(keys_named("second.turn")->text, "turn it; j goes on (second)", "texts name keys");
	const struct key_row *x = keys_find(&second, keys_parse(text_of("zx")));
	ok(x && x->argument == 3 && keys_find(&first, keys_parse(text_of("x"))) != x, "only there");
	const struct key_row *shows = keys_find(&first, keys_parse(text_of("g2")));
	ok(shows && shows->request == REQUEST_VIEW && shows->argument == 1,
		"a view has the keys that show it");
	const struct line_row *line = lines_find(text_of("mea"));
	ok(line && line->number == REQUEST_MEASURE_MISSING, "commands do what keys do");
}

/* What the text is after keys: letters, ^W ^U and DEL as themselves. */
static void test_edit(void)
{
	static const struct {
		const char *before;
		bool untouched;
		uint32_t key;
		const char *after;
	} cases[] = {
		{ "ab", false, 'c', "abc" },
		{ "ab", true, 'c', "c" },
		{ "ab", true, KEY_CODE_BACKSPACE, "a" },
		{ "a\u00e9", false, KEY_CODE_BACKSPACE, "a" },
		{ "a", false, 0xe9, "a\u00e9" },
		{ "one two ", false, 'W' & 31, "one " },
		{ "one two", false, 'U' & 31, "" },
		{ "", false, KEY_CODE_BACKSPACE, "" },
		{ "ab", false, KEY_CODE_UP, "ab" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct prompt q = { .untouched = cases[i].untouched };
		snprintf(q.text, sizeof(q.text), "%s", cases[i].before);
		prompt_edit(&q, cases[i].key);
		is_str(q.text, cases[i].after, "\"%s\" and a key", cases[i].before);
	}
	static struct prompt full;
	memset(full.text, 'x', sizeof(full.text) - 1);
	ok(!prompt_edit(&full, 'y') && strlen(full.text) == sizeof(full.text) - 1,
		"a full prompt takes no more");
}

int main(void)
{
	test_table();
	test_edit();
	return done_testing();
}
