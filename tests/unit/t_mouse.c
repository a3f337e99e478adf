/* The mouse: what clicks and the wheel do, found by what is on the screen. */
#include "config.h"

#include "ui_help.h"

#include <stdlib.h>

static void send(int kind, int x, int y)
{
	mouse_event(&app, &(struct mouse){ kind, x, y }, now_ms);
	app_draw(&app);
	now_ms += 1000;
}

/* The place of a text on the screen, the first from row `from` on. */
static bool place(const char *text, int from, int *x, int *y)
{
	const struct canvas *c = &app.stage->canvas;
	int n = (int)strlen(text);
	for (*y = from; *y < c->height; ++*y)
		for (*x = 0; *x + n <= c->width; ++*x) {
			int i = 0;
			while (i < n && c->cells[*y * c->width + *x + i].code == (unsigned char)text[i])
				i++;
			if (i == n)
				return true;
		}
	return false;
}

static void click(const char *text, int from)
{
	int x, y;
	if (ok(place(text, from, &x, &y), "there is \"%s\"", text))
		send(MOUSE_PRESS, x, y);
}

static void test_rows(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 80, 24);
	struct area list = app.stage->list;
	send(MOUSE_PRESS, 20, list.y + 2);
	is_int(app_pane(&app)->cursor, 2, "a click selects the row");
	is_str(view_name(), "layers", "and opens nothing");
	send(MOUSE_PRESS, 20, list.y + 2);
	is_str(view_name(), "layers", "nor does another one later");
	int layer = app.layer;
	now_ms -= 900;
	send(MOUSE_PRESS, 20, list.y + 2);
	is_str(view_name(), "detail", "a second one at once opens");
	is_int(app.layer, layer, "that layer");
	app_show(&app, views_find("layers"), -1);
	app_draw(&app);
	send(MOUSE_PRESS, 20, list.y + 1);
	now_ms -= 900;
	send(MOUSE_PRESS, 20, list.y + 3);
	is_str(view_name(), "layers", "two clicks on two rows are no double click");
	is_int(app_pane(&app)->cursor, 3, "the second one selects");
	send(MOUSE_PRESS, 20, list.y + list.height - 1);
	ok(app_pane(&app)->cursor < app_pane(&app)->shown_count, "below the last row: nothing");
	send(MOUSE_WHEEL_DOWN, 5, 5);
	for (int i = 0; i < 20; i++)
		send(MOUSE_WHEEL_UP, 5, 5);
	is_int(app_pane(&app)->cursor, 0, "the wheel goes back to the top");
	send(MOUSE_WHEEL_DOWN, 5, 5);
	is_int(app_pane(&app)->cursor, 3, "three rows down");
	end();
}

static void test_what_ifs(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 120, 40);
	app_show(&app, views_find("what-if"), -1);
	app_draw(&app);
	int count, row = 0;
	const struct what_if *table = what_if_table(&count);
	while (row < count && strcmp(table[row].name, "fusion") != 0)
		row++;
	int before = table[row].get(session_scenario(app.session));
	click("fusion", app.stage->list.y);
	ok(table[row].get(session_scenario(app.session)) != before, "a click on its row switches a what-if");
	struct scenario off = *session_scenario(app.session);
	table[row].set(&off, before);
	app_use(&app, &off);
	app_show(&app, views_find("layers"), -1);
	app_draw(&app);
	click("f fusion", 0);
	ok(table[row].get(session_scenario(app.session)) != before, "so does one in the header");
	end();
}

static void test_spots(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 80, 24);
	click("[1] Layers", 0);
	is_str(view_name(), "detail", "a click on the view's name shows the next view");
	app_show(&app, views_find("layers"), -1);
	app_draw(&app);
	click("/ search", 22);
	ok(app.stage->prompt.use == &prompt_search, "one on a hint does what its key does");
	send(MOUSE_PRESS, 20, app.stage->list.y + 2);
	ok(app.stage->prompt.use == &prompt_search, "while something is typed, the mouse does nothing");
	send(MOUSE_WHEEL_DOWN, 20, 10);
	is_int(app_pane(&app)->cursor, 0, "nor does the wheel");
	app_key(&app, KEY_CODE_ESC);
	app_draw(&app);
	click("q quit", 22);
	ok(app.stage->quit, "the last hint leaves");
	end();
}

/* Everywhere, in every view and size: nothing breaks, nothing is selected that is not there. */
static void test_everywhere(void)
{
	static const int sizes[][2] = { { 1, 1 }, { 40, 10 }, { 80, 24 }, { 200, 60 } };
	int wrong = 0;
	srand(11);
	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		int columns = sizes[k][0], rows = sizes[k][1];
		begin_at(&(struct fixture_options){ .measured = true, .peaks = true, .queue = true,
			      .scenarios = true }, columns, rows);
		app.stage->mouse = true;
		for (int turn = 0; turn < 1500; turn++) {
			if (turn % 30 == 0) {
				prompt_close(&app);
				app_show(&app, views_at(rand() % views_count()), -1);
				app_draw(&app);
			}
			now_ms -= rand() % 2 ? 990 : 0;
			int kind = rand() % 8;
			send(kind > 2 ? MOUSE_PRESS : kind, rand() % (columns + 3), rand() % (rows + 3));
			struct pane *p = app_pane(&app);
			wrong += p->shown_count > 0 && (p->cursor < 0 || p->cursor >= p->shown_count);
			wrong += app.layer >= app.place_count;
			app_refresh(&app);
		}
		end();
	}
	is_int(wrong, 0, "6000 random clicks");
}

static void test_waiting(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 80, 24);
	int x, y;
	typed_key(&app, 'g', 0);
	app_draw(&app);
	is_str(typed_text(&app), "g", "a key that waits is known at once");
	ok(place("g", 23, &x, &y) && app.stage->canvas.cells[23 * 80 + 78].code == 'g',
		"and stands at the end of the last line");
	typed_expire(&app, 10000);
	app_draw(&app);
	is_str(typed_text(&app), "", "until it is clear what it means");
	typed_key(&app, '1', 20000);
	typed_key(&app, '2', 20000);
	app_draw(&app);
	ok(place("12", 23, &x, &y) && x == 77, "a count too");
	send(MOUSE_PRESS, 20, app.stage->list.y);
	is_str(typed_text(&app), "", "a click ends it");
	end();
}

/* At 80 columns the way out is among the hints, whatever else is. */
static void test_hints(void)
{
	int x, y;
	begin_at(&(struct fixture_options){ .queue = true }, 80, 24);
	ok(place("b measure", 23, &x, &y), "what is missing is offered");
	ok(place("q quit", 23, &x, &y), "and the way out");
	end();
	begin_at(&(struct fixture_options){ .queue = true }, 160, 50);
	ok(place("b measure missing (", 49, &x, &y) && place("q quit", 49, &x, &y),
		"with more words on a wide screen");
	end();
}

static void test_headings(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 120, 40);
	struct pane *p = app_pane(&app);
	click(" cost", 3);
	ok(strcmp(p->list->orders[p->order], "cost") == 0 && !p->reverse, "a click on a heading sorts by it");
	click(" cost", 3);
	ok(p->reverse, "another one reverses");
	click("op  ", 3);
	ok(strcmp(p->list->orders[p->order], "operator") == 0 && !p->reverse, "another heading");
	click("dag", 3);
	is_int(p->order, 0, "back to the model's order");
	app_show(&app, views_find("problems"), -1);
	app_draw(&app);
	click("uses", 3);
	p = app_pane(&app);
	is_str(p->list->orders[p->order], "uses", "in the problems too");
	end();
}

/* In each chart every item can be clicked: it is selected, and a second click opens it. */
static void test_charts(void)
{
	static const char *const names[] = { "roofline", "timeline", "map", "graph", "distribution" };
	begin_at(&(struct fixture_options){ .measured = true, .peaks = true }, 120, 40);
	app.stage->mouse = true;
	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
		app_show(&app, views_find(names[k]), 2);
		app_draw(&app);
		bool rows = app_pane(&app)->view->pick != NULL;
		int count = app.stage->item_count, missed = 0, layers = 0, before = -1;
		ok(count > 0, "%s has %d items", names[k], count);
		for (int i = 0; i < count; i++) {
			app_show(&app, views_find(names[k]), 2);
			app_draw(&app);
			if (i >= app.stage->item_count)
				break;
			struct chart_item c = app.stage->items[i];
			bool hidden = false; /* by what was drawn later */
			for (int j = i + 1; j < app.stage->item_count; j++) {
				const struct chart_item *o = &app.stage->items[j];
				hidden |= o->y == c.y && c.x >= o->x && c.x < o->x + o->width;
			}
			send(MOUSE_PRESS, c.x, c.y);
			missed += !hidden && !rows && app.layer != c.item;
			layers += app.layer != before;
			before = app.layer;
		}
		ok(missed == 0 && (rows || layers > 2), "a click selects each in %s", names[k]);
		send(MOUSE_PRESS, app.stage->chart.x + 60, app.stage->chart.y + 5);
		is_str(view_name(), names[k], "it stays in %s", names[k]);
		app.frame->clicked = -1;
		struct chart_item c = app.stage->items[0];
		send(MOUSE_PRESS, c.x, c.y);
		now_ms -= 900;
		send(MOUSE_PRESS, c.x, c.y);
		ok(strcmp(view_name(), names[k]) != 0, "two clicks open what Enter opens: %s", view_name());
	}
	app_show(&app, views_find("roofline"), 2);
	app_draw(&app);
	int first = app.layer;
	send(MOUSE_WHEEL_DOWN, 20, 10);
	ok(app.layer != first, "the wheel steps in a chart");
	show("timeline");
	for (int i = 0; i < 4; i++)
		app_key(&app, '+');
	app_draw(&app);
	int selected = app.layer;
	struct str before = { 0 };
	str_puts(&before, screen());
	send(MOUSE_WHEEL_DOWN, 20, 10);
	app_draw(&app);
	ok(app.layer == selected && strcmp(before.p, screen()) != 0, "in the timeline it moves the time");
	send(MOUSE_WHEEL_UP, 20, 10);
	app_draw(&app);
	is_str(screen(), before.p, "and back");
	str_free(&before);
	app.stage->mouse = false;
	app_draw(&app);
	is_int(app.stage->item_count, 0, "without the mouse nothing is kept");
	end();
}

/* In the form of dimensions: fields, keys at the bottom, beside it, the wheel. */
static void test_form(void)
{
	int x, y;
	begin_at(&(struct fixture_options){ .queue = true, .unbound = true }, 80, 24);
	app_key(&app, 'd');
	app_draw(&app);
	click("data type     ", 4);
	is_int(app.stage->prompt.field, 1, "a click goes to a field");
	click("data type     ", 4);
	is_str(app.stage->prompt.text, "bf16", "another one takes the next type");
	send(MOUSE_WHEEL_DOWN, 40, 12);
	is_int(app.stage->prompt.field, 2, "the wheel moves");
	send(MOUSE_WHEEL_UP, 40, 12);
	is_int(app.stage->prompt.field, 1, "both ways");
	send(MOUSE_PRESS, 2, 22);
	ok(app.stage->prompt.use == &prompt_form && place("Esc discards them", 20, &x, &y),
		"a click beside it loses nothing");
	click("Esc or q leaves", 23);
	ok(!app.stage->prompt.use, "one on a key presses it");
	app_key(&app, 'd');
	app_draw(&app);
	send(MOUSE_PRESS, 2, 22);
	ok(!app.stage->prompt.use, "if nothing is changed, a click beside it leaves");
	app_key(&app, 'd');
	app_draw(&app);
	send(MOUSE_PRESS, 20, 0);
	ok(!app.stage->prompt.use, "wherever");
	end();
}

int main(void)
{
	test_form();
	test_headings();
	test_charts();
	test_rows();
	test_what_ifs();
	test_spots();
	test_everywhere();
	test_waiting();
	test_hints();
	return done_testing();
}
