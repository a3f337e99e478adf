/* What stays on narrow screens, and what the keys at the bottom offer. */
#include "config.h"

#include "ui_help.h"

#include "ui/views/view.h"

static void layer_line(void)
{
	begin_at(&(struct fixture_options){ .queue = true, .measured = true, .real = true }, 80, 24);
	ok(sees("conv1  2.97 ms ±0.4%  real 4.66 ms fused  brgconv:avx512_core (of 3)"), "a whole line");
	canvas_resize(&app.stage->canvas, 64, 24);
	ok(sees("conv1  2.97 ms ±0.4%  real 4.66 ms fused  brgconv:avx512_core") && !sees("(of"),
		"a shorter one has no number of algorithms");
	canvas_resize(&app.stage->canvas, 50, 24);
	ok(sees("conv1  2.97 ms ±0.4%  real 4.66 ms fused  brg"), "then the algorithm's name is cut");
	end();
	begin_at(&(struct fixture_options){ .queue = true, .measured = true }, 78, 24);
	app_key(&app, '/');
	for (const char *p = "layer1.1.conv1\r"; *p; p++)
		app_key(&app, *p == '\r' ? KEY_CODE_ENTER : (uint32_t)*p);
	ok(sees("layer1.1.conv1  = layer1.0.conv1, x4  2.73 ms ±0.4%  brgconv:avx512_core"), "equal layers");
	canvas_resize(&app.stage->canvas, 64, 24);
	ok(sees("layer1.1.conv1  x4  2.73 ms ±0.4%  brgconv:avx512_core"), "in short");
	end();
}

static void offered_measuring(void)
{
	begin_at(&(struct fixture_options){ .queue = true, .measured = true }, 100, 24);
	ok(sees("b all measured"), "nothing is left to measure");
	end();
	fixture_extra = 2;
	begin_at(&(struct fixture_options){ .queue = true, .measured = true }, 100, 24);
	ok(sees("b measure 2 conversions, 2 peaks (~2 s)"), "what is left besides the problems");
	end();
	fixture_extra = 0;
}

/* Enter is offered where it does something. */
static void offered_enter(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 100, 30);
	show("help");
	ok(!sees("Enter details") && sees("q close"), "not on a page of text");
	show("detail");
	ok(!sees("Enter follow"), "nor on a line that names no layer");
	for (int i = 0; i < 60 && !sees("Enter follow"); i++)
		type("j");
	ok(sees("Enter follow"), "but on one that does");
	type("\r");
	is_str(view_name(), "detail", "which it shows");
	show("algorithms");
	ok(sees("Enter details"), "an algorithm");
	type("\r");
	is_str(view_name(), "detail", "leads to the details of the layer");
	end();
}

/* What is most important is there on the smallest screen too. */
static void smallest(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 40, 10);
	show("timeline");
	ok(sees("0 ms") && sees("\u252c"), "the time axis has its labels");
	end();
	begin_at(&(struct fixture_options){ .queue = true, .sweep = true }, 40, 10);
	show("sweep");
	for (int i = 0; i < 9; i++)
		view_sweep.work(&app, app_pane(&app)->state, 1);
	ok(sees("unmeasured: b"), "what a sweep lacks, and the key");
	end();
}

/* The table of scenarios: whole columns, and what has none of the selected row below. */
static void whole_columns(void)
{
	begin_at(&(struct fixture_options){ .measured = true, .scenarios = true }, 80, 24);
	type(":beside h100\rgs");
	ok(sees("type   +2\n") && sees("present:  what-ifs algorithm,launch"), "80 columns");
	type("j");
	ok(sees("h100:  what-ifs algorithm,launch  device NVIDIA H100"), "of the selected row");
	for (int width = 40, cut = 0; width <= 160; width++) {
		canvas_resize(&app.stage->canvas, width, 24);
		app_draw(&app);
		const char *row = strstr(screen(), "h100  "), *end = row ? strchr(row, '\n') : NULL;
		for (const char *p = row; p && p < end; p++)
			cut += strncmp(p, "\u2026", 3) == 0;
		if (width == 160)
			ok(row && !cut, "no cell is cut in any width");
	}
	ok(!sees("below"), "all columns in 160");
	end();
}

/* Names in what-ifs that fit nothing. */
static void names(void)
{
	begin_at(&(struct fixture_options){ .queue = true, .measured = true }, 100, 24);
	type(":algorithm nosuch*\r");
	ok(sees("nosuch* fits no algorithm; ") && sees(" measured (ga lists"), "no algorithm has that name");
	type(":algorithm brg*\r");
	ok(!sees("fits no algorithm") && sees("what-ifs: algorithm=brg*"), "one that fits");
	type(":workspace 12q\r");
	ok(sees("'12q' is not BYTES (512M), 0 or unlimited"), "an example of a size");
	end();
}

/* Only keys that do something for the selected row are offered. */
static void offered_jobs(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 100, 24);
	type("gq");
	ok(!sees("X cancel this") && !sees("C clear") && !sees("T first") && !sees("Enter details"),
		"a queue without jobs offers nothing");
	end();
	begin_at(&(struct fixture_options){ .queue = true, .busy = true }, 100, 24);
	type("gq");
	ok(sees("X cancel this") && sees("C clear") && !sees("T first"), "the job that runs");
	type("j");
	ok(sees("X cancel this") && !sees("T first"), "the one that is next");
	type("j");
	ok(sees("X cancel this") && sees("T first"), "the one after it");
	type("G");
	ok(!sees("X cancel this") && sees("C clear"), "one that has ended");
	type("gw");
	ok(!app.note[0], "the view sweep is opened without a message");
	end();
}

static void tour_card(void)
{
	begin_at(&(struct fixture_options){ .queue = true, .measured = true, .real = true }, 80, 24);
	app.frame->tour.on = true;
	ok(sees("how far to trust it") && sees(" trust ") && sees("the saving of each what-if"),
		"the first card speaks of lines that are there");
	end();
}

/* With other keys, hints and texts name these. The last of all: they stay. */
static void other_keys(void)
{
	static const struct config_word words[] = { { .name = "measure", .value = "^N", .line = 1 },
		{ .name = "search", .value = "^P", .line = 2 },
		{ .name = "devices", .value = "gD", .line = 3 }, { .name = "down", .value = "J", .line = 4 },
		{ .name = "graph.left", .value = "^H", .line = 5 },
		{ .name = "distribution.spread", .value = "^G", .line = 6 },
		{ .name = "set-cost", .value = "@", .line = 7 } };
	struct error err = ERROR_NONE;
	ok(keys_bind(words, 7, &err) == 0, "other keys %s", err.text);
	begin_at(&(struct fixture_options){ .queue = true }, 100, 24);
	ok(sees("^N measure missing") && sees("^P search"), "the hints at the bottom");
	ok(sees("not measured yet: ^N measures them") && sees("(press ^N)"), "the messages above them");
	end();
	begin_at(&(struct fixture_options){ .measured = true }, 100, 24);
	type("gq");
	ok(sees("gD selects another device"), "the view queue");
	show("graph");
	ok(sees("consumers (J)") || sees("consumer (J)"), "the view graph");
	ok(sees("beside (^H, l)"), "and its own keys");
	show("distribution");
	ok(sees("^G spreads the selected one"), "the view distribution");
	show("layers");
	type("@2x\r");
	ok(sees("an assumed cost: @ changes it"), "an assumed cost");
	end();
}

int main(void)
{
	names();
	offered_jobs();
	tour_card();
	whole_columns();
	layer_line();
	offered_measuring();
	offered_enter();
	smallest();
	other_keys();
	return done_testing();
}
