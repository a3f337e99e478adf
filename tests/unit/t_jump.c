/* Jumps by kind, along the graph, to marks and back; measuring of marked layers. */
#include "config.h"

#include "session/session_private.h"

#include "ui_help.h"

static void back(void)
{
	typed_key(&app, 'O' & 31, now_ms);
	app_draw(&app);
}

static void test_kinds(void)
{
	begin(&(struct fixture_options){ .queue = true, .busy = true });
	type("]u");
	is_str(name(), "bn1", "]u: the first layer without a cost");
	type("]u");
	is_str(name(), "layer1.0.add", "the next");
	type("[u");
	is_str(name(), "bn1", "[u: back");
	type("2]u");
	is_str(name(), "layer1.1.add", "2]u");
	type("99]u");
	ok(sees("no further unmeasured layer"), "the last says so");
	int last = app.layer;
	type("]u");
	is_int(app.layer, last, "and stays");
	back();
	is_str(name(), "layer1.1.add", "^O comes back");
	typed_key(&app, '2', now_ms);
	back();
	is_str(name(), "layer1.0.add", "2^O, twice");
	type("gg[u");
	pane_move(&app, app_pane(&app), 0);
	app_draw(&app);
	ok(sees("no further unmeasured layer"), "none before the first");
	type("]c");
	ok(sees("no layer is critical: that needs the what-if parallel"), "why nothing is critical");
	type("/layer1.0.conv2\r]s");
	is_str(name(), "layer1.1.conv1", "]s: the same problem");
	type("[s");
	is_str(name(), "layer1.0.conv2", "[s");
	type("&op=Conv\rgg");
	type("]u");
	ok(sees("no further unmeasured layer among the rows that the filter shows"), "in a filtered list");
	end();
	begin(&(struct fixture_options){ .measured = true, .chain = 7 });
	type("p]c");
	is_int(app.layer, 1, "]c on the critical path");
	type("2[c");
	ok(app.layer == 0 && sees("no further critical layer"), "a count too large goes to the end");
	end();
	begin(&(struct fixture_options){ .measured = true, .disturbed = true });
	type("]n");
	ok(app.layer > 0 && sees("noisy"), "]n");
	type("\r");
	int before = app.layer;
	type("]n");
	ok(app.layer > before && app_pane(&app)->view == &view_detail, "in the details too");
	end();
}

static void test_graph(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type("[p");
	ok(sees("no further layer: its inputs are the model's"), "the first layer");
	type("4]p");
	is_str(name(), "layer1.0.conv1", "4]p: four readers on");
	type("2]p]p");
	is_str(name(), "layer1.0.add", "to where branches meet");
	type("[p");
	is_str(name(), "layer1.0.conv2", "[p: the producer of the first input");
	type("G]p");
	ok(sees("no further layer reads its output"), "the last layer");
	end();
}

static void test_marks(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type("3j\"xG'x");
	is_str(name(), "maxpool", "a mark");
	back();
	is_str(name(), "fc", "^O");
	type("'q");
	ok(sees("there is no mark q: \"q sets it"), "no such mark");
	type("\"");
	ok(sees(" a-z mark"), "what may follow");
	typed_key(&app, KEY_CODE_ESC, now_ms);
	ok(typed_word(&app, text_of("\"z")) && typed_word(&app, text_of("'x")), "words of --keys");
	is_str(name(), "maxpool", "at the mark");
	type("\r'z");
	ok(app_pane(&app)->view == &view_detail && strcmp(name(), "fc") == 0, "in the details");
	end();
}

/* A motion that begins a pair is done at once, and undone if the pair follows. */
static void test_at_once(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 80, 24);
	type("G");
	int last = app_pane(&app)->cursor, jumps = app.stage->jumps.count, top = app_pane(&app)->top;
	type("g");
	ok(app_pane(&app)->cursor == 0 && app.stage->jumps.count == jumps + 1, "g moves, and is a jump");
	ok(sees(" g first  r roofline  t timeline") && sees("e reality"), "in two rows if one is too short");
	type("r");
	is_str(view_name(), "roofline", "gr is a pair");
	ok(!sees("t timeline"), "nothing waits");
	press(KEY_CODE_ESC);
	ok(app_pane(&app)->cursor == last && app_pane(&app)->top == top && app.stage->jumps.count == jumps,
		"and begins where g was pressed");
	type("2g");
	is_int(app_pane(&app)->cursor, 1, "2g moves at once too");
	type("g");
	is_int(app_pane(&app)->cursor, 1, "2gg does no more");
	pause_typing();
	is_int(app_pane(&app)->cursor, 1, "nor later");
	type("grg");
	int layer = app.layer;
	type("n");
	is_str(view_name(), "graph", "in a chart");
	type("q");
	ok(layer >= 0, "the first dot");
	static struct config slow = { .key_wait_ms = 2000 };
	const struct config *before = session->seat->config;
	session->seat->config = &slow;
	type("4");
	is_int(typed_due_ms(&app, now_ms), 2000, "a digit waits as long as is configured");
	session->seat->config = before;
	end();
}

/* Scrolling, with the cursor as far as possible where it was. */
static void test_scrolling(void)
{
	begin_at(&(struct fixture_options){ .measured = true, .chain = 100 }, 80, 24);
	struct pane *p = app_pane(&app);
	int page = app.stage->page;
	type("30gg");
	int row = p->cursor;
	type("zt");
	ok(p->top == row && p->cursor == row, "zt: the first row in sight");
	type("zb");
	ok(p->top == row - page + 1 && p->cursor == row, "zb: the last one");
	type("zz");
	ok(p->top == row - page / 2 && p->cursor == row, "zz: in the middle");
	int top = p->top;
	press('E' & 31);
	ok(p->top == top + 1 && p->cursor == row, "^E scrolls by a row");
	type("20");
	press('E' & 31);
	ok(p->top == top + 21 && p->cursor == top + 21, "20^E takes the cursor along");
	type("30");
	press('Y' & 31);
	ok(p->top == top - 9 && p->cursor == top - 9 + page - 1, "so does ^Y");
	type("99");
	press('Y' & 31);
	ok(p->top == 0, "to the first row");
	type("G");
	press('E' & 31);
	ok(p->cursor == p->shown_count - 1 && p->top == p->shown_count - page, "no further than the last");
	app_show(&app, views_find("help"), -1);
	app_draw(&app);
	press('E' & 31);
	is_int(app_pane(&app)->top, 1, "in a page of text");
	type("ZZ");
	ok(app.stage->quit, "ZZ leaves");
	end();
}

/* A problem of the model's input has no layer: marking goes on behind it. */
static void test_picked_problems(void)
{
	begin(&(struct fixture_options){ .queue = true });
	session->current->plan->problems[1].border = true;
	app.generation++;
	app_show(&app, &view_problems, -1);
	app_draw(&app);
	type("gg3V");
	is_int(app.picked_count, 2, "3V over a problem without a layer");
	session->current->plan->problems[1].border = false;
	end();
}

static void test_picked(void)
{
	begin(&(struct fixture_options){ .queue = true });
	type("jV");
	is_str(name(), "relu", "V goes on");
	ok(sees("1 layer is marked: b measures only it") && sees("measure marked (1)"), "and says so");
	ok(sees("*●    bn1"), "the row has a sign");
	type("3V");
	is_int(app.picked_count, 4, "3V");
	type("kV");
	is_int(app.picked_count, 3, "V again removes it");
	type("&is:marked\r");
	is_int(app_pane(&app)->shown_count, 3, "is:marked");
	typed_key(&app, KEY_CODE_ESC, now_ms);
	fixture_calls = (struct fixture_calls){ 0 };
	type("gg]m");
	is_str(name(), "bn1", "]m");
	type("b");
	ok(fixture_calls.missing == 0 && fixture_calls.layer == app.layer,
		 "b measures the one without a cost");
	fixture_calls.layers = 0;
	type("B");
	ok(fixture_calls.layers == 3 && sees("3 problems of the marked layers queued again"),
		"B measures all of them again");
	type("U");
	ok(app.picked_count == 0 && sees("3 marks removed"), "U");
	type("b");
	is_int(fixture_calls.missing, 1, "b measures everything again");
	type("2gggt");
	int from = app.layer;
	type("3V");
	ok(app.picked_count == 3 && app.picked[from] && !app.picked[app.layer],
		"it goes on in a timeline, too");
	end();
}

int main(void)
{
	test_kinds();
	test_graph();
	test_marks();
	test_picked();
	test_picked_problems();
	test_at_once();
	test_scrolling();
	return done_testing();
}
