/* The key table: no key twice, every key has a name and is in the help and the manual page. */
#include "config.h"

#include "config/config.h"
#include "ui/frame/frame.h"
#include "ui/stage/lines.h"

#include "tap.h"
#include "ui_fixture.h"

#include <ctype.h>
#include <stdlib.h>

static char *help_page(int columns)
{
	struct session *s = fixture_open(&(struct fixture_options){ .measured = true });
	struct error err;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	app_frame(s, columns, 300, "help", "", false, false, f, &err);
	fclose(f);
	fixture_close(s);
	return text;
}

static void test_table(void)
{
	int count, unnamed = 0, twice = 0, odd = 0;
	const struct key_row *rows = keys_table(&count);
	for (int i = 0; i < count; i++) {
		char list[64];
		snprintf(list, sizeof(list), "%s", rows[i].keys);
		for (char *name = strtok(list, " "); name; name = strtok(NULL, " ")) {
			char one[16], two[16], back[32];
			struct key_pair keys = keys_parse(text_of(name));
			unnamed += keys.first == KEY_CODE_NONE;
			twice += keys_find(rows[i].view, keys) != &rows[i];
			snprintf(back, sizeof(back), "%s%s", key_text(one, keys.first),
				key_text(two, keys.second));
			struct key_pair read = keys_parse(text_of(back));
			odd += read.first != keys.first || read.second != keys.second;
		}
		if (!rows[i].text || strlen(rows[i].text) < 4)
			ok(false, "key %s has a text", rows[i].keys);
	}
	is_int(unnamed, 0, "every name is a key");
	is_int(twice, 0, "no key stands twice");
	is_int(odd, 0, "names read back");
	ok(count > 30, "there are %d rows", count);
	is_int(key_parse(text_of("conv")), KEY_CODE_NONE, "a word is no key");
	is_int(keys_parse(text_of("conv")).first, KEY_CODE_NONE, "nor two");
	struct key_pair pair = keys_parse(text_of("]c"));
	ok(pair.first == ']' && pair.second == 'c', "two keys");
	pair = keys_parse(text_of("gTab"));
	ok(pair.first == 'g' && pair.second == KEY_CODE_TAB, "the second may have a name");
	pair = keys_parse(text_of("Up"));
	ok(pair.first == KEY_CODE_UP && !pair.second, "a name is one key");
	is_int(key_parse(text_of("F99")), KEY_CODE_NONE, "nor is F99");
	is_int(key_parse(text_of("^F")), 6, "control characters");
	is_int(key_parse(text_of("\u5c42")), 0x5c42, "any letter");
	is_int(key_parse(text_of("")), KEY_CODE_NONE, "nothing");
}

static void test_what_ifs(void)
{
	int count;
	const struct what_if *table = what_if_table(&count);
	for (int i = 0; i < count; i++) {
		struct key_pair keys = { (uint32_t)table[i].key, KEY_CODE_NONE };
		const struct key_row *row = keys_find(&view_layers, keys);
		ok(row && row->request == REQUEST_WHAT_IF && row->argument == i, "%c flips %s", table[i].key,
			table[i].name);
	}
}

static void test_views(void)
{
	struct str pairs = { 0 };
	int details = 0;
	for (int i = 0; views_at(i); i++) {
		const struct view *v = views_at(i);
		struct text first = { v->keys, v->keys ? strcspn(v->keys, " ") : 0 };
		const struct key_row *row = keys_find(v, keys_parse(first));
		ok(row && row->request == REQUEST_VIEW && row->argument == i, "a key shows %s", v->name);
		ok(!v->draw != !v->list && v->help && views_find(v->name) == v, "%s is complete", v->name);
		details += v->details;
	}
	is_int(details, 1, "one view describes the selected layer");
	ok(keys_begins(&view_layers, 'z') && !keys_begins(&view_layers, 'x'), "z begins pairs, x does not");
	keys_list_pairs(&view_layers, 'z', &pairs);
	ok(strstr(pairs.p, "zo show the layers inside") && strstr(pairs.p, ", zc hide"),
		"which are: %s", pairs.p);
	str_free(&pairs);
}

/* Without blanks, so that wrapped lines compare. */
static void squeeze(const char *in, char *out)
{
	for (; *in; in++)
		if (*in != ' ' && *in != '\n')
			*out++ = *in;
	*out = '\0';
}

static void test_help(void)
{
	int count, missing = 0;
	const struct what_if *what_ifs = what_if_table(&count);
	const struct key_row *rows = keys_table(&count);
	static char page[65536], text[4096];
	char *wide = help_page(200), *narrow = help_page(80);
	squeeze(wide, page);
	for (int i = 0; i < count; i++) {
		char line[600];
		snprintf(line, sizeof(line), "%s%s", rows[i].keys, rows[i].text);
		if (rows[i].view == views_at(0)) /* the help of that view does not name it again */
			line[strlen(line) - strlen(" (layers)")] = '\0';
		if (rows[i].request == REQUEST_WHAT_IF) {
			const struct what_if *w = &what_ifs[rows[i].argument];
			bool same = strcmp(w->label, w->name) == 0;
			snprintf(line, sizeof(line), "%s%s%s%s%s", rows[i].keys, w->label,
				same ? "" : w->name, same ? "" : ":", w->text);
		}
		squeeze(line, text);
		if (!strstr(page, text)) {
			missing++;
			printf("# not in the help: %s\n", line);
		}
	}
	is_int(missing, 0, "the help has every key");
	ok(strstr(narrow, "Enter stays at the match, Esc goes back") != NULL, "and wraps at 80 columns");
	ok(strstr(strstr(narrow, "In this view"), "\u2026") == NULL, "nothing is cut at 80 columns");
	free(wide);
	free(narrow);
}

static void test_man(void)
{
	struct str out = { 0 };
	keys_print_man(&out);
	int count, lines, bad = 0, items = 0;
	keys_table(&count);
	lines_table(&lines);
	for (const char *p = out.p; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		items += strncmp(p, ".TP\n", 4) == 0;
		bad += (p[0] == '.' && strncmp(p, ".TP\n", 4) && strncmp(p, ".SS ", 4)) || p[0] == '\'';
	}
	is_int(items, count + lines, "an item a row");
	is_int(bad, 0, "no line that roff takes for something else");
	ok(strstr(out.p, "\\fBPgDn\\fR, \\fB\\(haF\\fR") != NULL, "keys are bold and escaped");
	str_free(&out);
}

/* Every row has a name of its own, by which it gets another key. */
static void test_names(void)
{
	int count, bad = 0, deaf = 0;
	struct error err = ERROR_NONE;
	const struct key_row *rows = keys_table(&count);
	for (int i = 0; i < count; i++)
		for (int k = 0; k < i; k++)
			if (strcmp(rows[i].name, rows[k].name) == 0) {
				bad++;
				printf("# twice: %s\n", rows[i].name);
			}
	is_int(bad, 0, "no name stands twice");
	for (int i = 0; i < count; i++) {
		struct config_word one = { rows[i].name, rows[i].letter ? "F11a" : "F11", 3 };
		const struct view *view = rows[i].view;
		bad += keys_bind(&one, 1, &err) != 0;
		rows = keys_table(&count);
		const struct key_row *found = keys_find(view, keys_parse(text_of(one.value)));
		if (found != &rows[i]) {
			deaf++;
			printf("# %s is not heard\n", rows[i].name);
		}
		one.value = "warp"; /* a bad one: all keys are the usual ones again */
		keys_bind(&one, 1, &err);
		rows = keys_table(&count);
	}
	is_int(bad, 0, "each takes another key");
	is_int(deaf, 0, "which then does it");
}

/* A what-if, a jump, a key of one view and marks, with other keys. */
static void test_bind_all(void)
{
	static const struct config_word list[] = { { "fusion", "F7", 3 }, { "next-critical", "gz", 4 },
		{ "timeline.zoom-in", "i", 5 }, { "mark", "^Ka", 6 }, { "gains", "%a", 7 } };
	struct error err = ERROR_NONE;
	struct str page = { 0 };
	is_int(keys_bind(list, 5, &err), 0, "all can have other keys: %s", err.text);
	struct session *s = fixture_open(&(struct fixture_options){ .measured = true });
	struct app app;
	app_init(&app, s, 100, 30, false);
	app_draw(&app);
	canvas_print(&app.stage->canvas, &page);
	ok(strstr(page.p, "F7 fusion") != NULL, "the header shows the key of a what-if");
	bool before = session_scenario(s)->fusion;
	app_key(&app, KEY_CODE_F1 + 6);
	ok(before != (bool)session_scenario(s)->fusion, "which flips it");
	app_key(&app, 'f');
	ok(before != (bool)session_scenario(s)->fusion, "the usual one does not");
	ok(!typed_word(&app, text_of("]c")) && typed_word(&app, text_of("gz")), "a jump");
	ok(typed_word(&app, text_of("^Kq")) && app.stage->marks['q' - 'a'] == 1 + app.layer, "a mark");
	const struct key_row *k = keys_find(&view_timeline, (struct key_pair){ 'i', 0 });
	ok(k && k->view == &view_timeline && keys_find(&view_layers, (struct key_pair){ 'i', 0 }) != k,
		"a key of one view stays that view's");
	k = keys_find(&view_timeline, (struct key_pair){ '+', 0 });
	ok(k && k->request == REQUEST_BATCH_UP, "its former key means what it means elsewhere");
	app_free(&app);
	fixture_close(s);
	str_free(&page);
	static const struct config_word bad[] = { { "timeline.zoom-in", "-", 8 }, { "zom-in", "F11", 9 },
		{ "timeline.zoom-inn", "F11", 9 }, { "measure", "F11 F11", 9 } };
	ok(keys_bind(&bad[0], 1, &err) && strstr(err.text, "already means \"zoom out"),
		"two meanings in one view: %s", err.text);
	ok(keys_bind(&bad[2], 1, &err) && strstr(err.text, "did you mean timeline.zoom-in?"), "%s", err.text);
	ok(keys_bind(&bad[3], 1, &err) && strstr(err.text, "measure: F11 is given twice"), "%s", err.text);
}

/* Texts of help name other keys as they are bound. */
static void test_spelt(void)
{
	static const struct config_word list[] = { { "measure", "F8", 3 }, { "timeline.zoom-in", "i", 4 },
		{ "down", "Down", 5 }, { "gains", "%a", 6 }, { "fusion", "F7", 7 } };
	static const char *const says[][3] = { { "pick", "b then measures only", "F8 then measures only" },
		{ "timeline.zoom-in", "3+: eight", "3i: eight" }, { "down", "5j: five", "5Down: five" },
		{ "graph", "j goes to a consumer, k to", "Down goes to a consumer, k to" },
		{ "gains", "$f by the saving of fusion", "%F7 by the saving of fusion" } };
	struct error err = ERROR_NONE;
	for (size_t i = 0; i < 5; i++)
		ok(strstr(keys_named(says[i][0])->text, says[i][1]) != NULL, "%s", says[i][1]);
	is_int(keys_bind(list, 5, &err), 0, "other keys %s", err.text);
	for (size_t i = 0; i < 5; i++)
		ok(strstr(keys_named(says[i][0])->text, says[i][2]) != NULL, "%s", says[i][2]);
	int count, braces = 0, cut = 0, long_ones = 0;
	const struct key_row *rows = keys_table(&count);
	for (int i = 0; i < count; i++)
		braces += strpbrk(rows[i].text, "{}") != NULL;
	is_int(braces, 0, "every name in braces is one of a key");
	struct config_word bad = { "down", "warp", 8 };
	keys_bind(&bad, 1, &err);
	ok(strstr(keys_named("pick")->text, "b then measures only") != NULL, "the usual ones again");
	rows = keys_table(&count);
	for (int i = 0; i < count; i++) {
		char text[600], key[32];
		snprintf(text, sizeof(text), "%s", rows[i].text);
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(rows[i].keys, " "), rows[i].keys);
		bad = (struct config_word){ rows[i].view ? rows[i].view->own->name : "stop", key, 9 };
		char other[64];
		snprintf(other, sizeof(other), "%s%s%s", rows[i].view ? rows[i].view->name : "",
			rows[i].view ? "." : "", bad.name);
		bad.name = other;
		if (strlen(text) <= 40 || strcmp(other, rows[i].name) == 0)
			continue;
		keys_bind(&bad, 1, &err);
		rows = keys_table(&count);
		const char *said = strstr(err.text, "means \""), *end = strstr(err.text, " ...\"");
		long_ones++;
		cut += !said || !end || text[end - said - 7] != ' ';
	}
	ok(long_ones > 20 && !cut, "%d texts, none is cut within a word", long_ones);
}

static void test_bind(void)
{
	struct error err = ERROR_NONE;
	static const struct config_word swap[] = { { "down", "k ^N", 3 }, { "up", "j", 4 },
		{ "problems", "gp", 5 } };
	static const struct config_word bad[][2] = { { { "down", "warp", 7 } }, { { "fly", "F12", 8 } },
		{ { "up", "F12", 9 }, { "down", "q", 10 } }, { { "up", "F12", 9 }, { "down", "F12", 10 } } };
	static const char *const says[] = { "7: keys: down: unknown key \"warp\"", "8: keys: there is no fly",
		"10: keys: down: q already means \"close", "10: keys: down: F12 already means \"one row up" };
	is_int(keys_bind(swap, 3, &err), 0, "keys can be exchanged: %s", err.text);
	const struct key_row *k = keys_find(&view_layers, (struct key_pair){ 'k', 0 });
	ok(k && k->request == REQUEST_DOWN, "k goes down");
	k = keys_find(&view_layers, (struct key_pair){ 'g', 'p' });
	ok(k && k->request == REQUEST_VIEW && !keys_find(&view_layers, (struct key_pair){ '4', 0 }),
		"a view has a pair and no other key");
	char *page = help_page(100);
	ok(strstr(page, "k ^N") != NULL, "the help screen shows them");
	free(page);
	for (size_t i = 0; i < 4; i++) {
		is_int(keys_bind(bad[i], i < 2 ? 1 : 2, &err), -1, "refused");
		ok(strstr(err.text, says[i]) == err.text, "%s", err.text);
	}
	k = keys_find(&view_layers, (struct key_pair){ 'j', 0 });
	ok(k && k->request == REQUEST_DOWN, "then all keys are the usual ones");
}

int main(void)
{
	views_register();
	test_table();
	test_what_ifs();
	test_views();
	test_help();
	test_man();
	test_bind();
	test_spelt();
	test_names();
	test_bind_all();
	return done_testing();
}
