/* A table of views of its own instead of ui/views/views.c: a view that draws an area, with keys of its own;
 * more views than digits; keys as they are typed, with counts and pairs. */
#include "config.h"

#include "ui_help.h"

enum { OWN_ZOOM = 7, OWN_PAIR };

static struct {
	int width, height, row, request, argument, count, layer, requests;
} seen;

static void chart_draw(struct app *drawn, void *state, struct area area)
{
	(void)state;
	seen.width = area.width;
	seen.height = area.height;
	seen.layer = drawn->layer;
	canvas_fit(area, 0, area.height - 1, area.width, STYLE_NORMAL, "the last line of the chart");
}

static bool chart_request(struct app *asked, void *state, const struct key_row *key, int row)
{
	(void)state;
	seen.requests++;
	seen.row = row;
	seen.request = (int)key->request;
	seen.argument = key->argument;
	seen.count = asked->count;
	return key->request == REQUEST_OWN || key->request == REQUEST_DOWN;
}

static const struct key_row chart_keys[] = {
	{ "+", REQUEST_OWN, OWN_ZOOM, KEYS_CHARTS, "zoom in", .counts = true },
	{ "zz", REQUEST_OWN, OWN_PAIR, KEYS_CHARTS, "to the middle", .counts = true },
	{ 0 }
};

static const struct view chart = {
	.name = "chart",
	.help = "a chart",
	.keys = "gc",
	.group = KEYS_CHARTS,
	.own = chart_keys,
	.draw = chart_draw,
	.request = chart_request,
	.own_footer = true,
};

void views_register(void)
{
	static const struct view *const table[] = { &view_layers, &view_detail, &view_what_if,
		&view_problems, &view_help, &chart };
	enum { MORE = 30, COUNT = sizeof(table) / sizeof(*table) }; /* no number of views is too many */
	static const struct view *all[COUNT + MORE + 1];
	static struct view more[MORE];
	static char names[MORE][8];
	memcpy(all, table, sizeof(table));
	for (int i = 0; i < MORE; i++) {
		snprintf(names[i], sizeof(names[0]), "more%d", i);
		more[i] = view_what_if;
		more[i].keys = NULL;
		more[i].name = names[i];
		all[COUNT + i] = &more[i];
	}
	views_use(all);
	keys_begin();
}

static const struct fixture_options plain = { .measured = true },
				    control = { .measured = true, .control = true };

static void test_chart(void)
{
	begin(&plain);
	type("gc");
	is_str(view_name(), "chart", "a pair shows a view");
	ok(sees("[gc] Chart") && sees("the last line of the chart"), "which draws its area");
	is_int(seen.width, 100, "as wide as the screen");
	is_int(seen.height, 30 - app_header_rows(&app) - 2, "between header and footer");
	is_int(seen.layer, app.layer, "of the selected layer");
	type("j");
	ok(seen.request == REQUEST_DOWN && seen.row == -1, "it gets the keys that move");
	type("+");
	ok(seen.request == REQUEST_OWN && seen.argument == OWN_ZOOM && seen.count == 0, "and its own");
	type("3+");
	ok(seen.argument == OWN_ZOOM && seen.count == 3, "with a count");
	type("12zz");
	ok(seen.argument == OWN_PAIR && seen.count == 12, "a pair with a count");
	int before = seen.requests;
	type("f");
	ok(session_scenario(session)->fusion, "a key that it does not take does what it always does");
	type("G/");
	ok(seen.requests > before && sees("this view cannot be searched"), "there are no rows to search");
	app_key(&app, KEY_CODE_ESC);
	is_str(view_name(), "layers", "Esc leaves it");
	before = seen.requests;
	type("+");
	is_int(seen.requests, before, "its keys are those of others elsewhere");
	app_key(&app, KEY_CODE_BACKTAB);
	is_str(view_name(), "more29", "the last of many views");
	app_draw(&app);
	ok(sees("  More29"), "one without a key");
	for (int i = 0; i < views_count(); i++)
		app_key(&app, KEY_CODE_TAB);
	is_str(view_name(), "more29", "Tab goes round");
	app_key(&app, '?');
	canvas_resize(&app.stage->canvas, 100, 200);
	app_draw(&app);
	ok(sees("Charts") && sees("view chart: a chart") && sees("zoom in (chart)"), "the help has its keys");
	end();
}

static int cursor(void)
{
	return app_pane(&app)->cursor;
}

static void test_counts(void)
{
	begin(&plain);
	type("3j");
	is_int(cursor(), 3, "3j");
	is_str(view_name(), "layers", "and no view 3");
	type("2k");
	is_int(cursor(), 1, "2k");
	type("10j");
	int last = app_pane(&app)->shown_count - 1;
	is_int(cursor(), last < 11 ? last : 11, "10j, or to the end");
	type("2G");
	is_int(cursor(), 1, "2G: row 2");
	type("3gg");
	is_int(cursor(), 2, "3gg: row 3");
	type("99999999j");
	is_int(cursor(), last, "a count too large is the end");
	type("g");
	is_int(cursor(), 0, "g moves at once");
	is_int(typed_due_ms(&app, now_ms), 1000, "and waits for as long as it takes to read what may follow");
	ok(sees(" g first"), "what may follow is listed");
	pause_typing();
	is_int(cursor(), 0, "then it stays");
	is_int(typed_due_ms(&app, now_ms), -1, "and nothing waits");
	ok(!sees(" g first"), "nor is anything listed");
	type("gj");
	is_int(cursor(), 1, "g before another key is g");
	type("4");
	is_str(view_name(), "layers", "a digit waits");
	ok(sees("alone: problems"), "and what it means alone is said");
	typed_key(&app, KEY_CODE_ESC, now_ms);
	pause_typing();
	is_str(view_name(), "layers", "Esc forgets it");
	type("4");
	pause_typing();
	is_str(view_name(), "problems", "and shows a view");
	type("1f");
	ok(session_scenario(session)->fusion, "f takes no count");
	is_str(view_name(), "layers", "so 1 is view 1");
	type("12");
	ok(sees(" 12"), "a longer count is shown");
	pause_typing();
	type("j");
	is_int(cursor(), last < 13 ? last : 13, "and waits for its key");
	type("12");
	typed_key(&app, KEY_CODE_ESC, now_ms);
	type("k");
	is_int(cursor(), (last < 13 ? last : 13) - 1, "Esc forgets it");
	end();
}

static void test_pairs(void)
{
	begin(&control);
	int closed = app.listed_count;
	type("/steps\rzo");
	ok(app.listed_count > closed, "zo opens a layer");
	type("zc");
	is_int(app.listed_count, closed, "zc closes it");
	type("zc");
	ok(sees("nothing to hide here") && strcmp(view_name(), "layers") == 0, "and goes nowhere");
	type("ggzo");
	ok(sees("no layers inside this one") && strcmp(view_name(), "layers") == 0, "nor does zo");
	type("z");
	pause_typing();
	ok(sees("o fold-open  c fold-close"), "z says what may follow");
	type("q");
	ok(!app.stage->quit && sees("zq does nothing: zt"), "and what could have been meant");
	type("J");
	ok(sees("J does nothing here: ? shows the keys"), "an unknown key");
	type("T");
	ok(sees("; t: next configured data type"), "that differs by case");
	type("&5j");
	is_str(app.stage->prompt.text, "5j", "in a prompt digits are text");
	typed_key(&app, KEY_CODE_ESC, now_ms);
	type("g");
	ok(typed_word(&app, text_of("2j")) && typed_word(&app, text_of("zo")), "words of --keys");
	ok(!typed_word(&app, text_of("2q")) && !typed_word(&app, text_of("conv")) &&
			!typed_word(&app, text_of("5")) && !typed_word(&app, text_of("0j")),
		"and what are none");
	end();
}

int main(void)
{
	test_chart();
	test_counts();
	test_pairs();
	return done_testing();
}
