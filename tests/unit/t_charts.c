/* Charts: their layout at all sizes, what their keys select, what they say is missing. */
#include "config.h"

#include "session/session_private.h"
#include "ui_help.h"

/* ---- layout ---- */

static const struct fixture_options inputs[] = {
	{ .measured = true, .peaks = true },
	{ .queue = true, .busy = true },
	{ .measured = true, .control = true, .peaks = true },
	{ .described = true },
	{ .measured = true, .chain = 400 },
	{ .queue = true, .unbound = true },
	{ .unsupported = true },
};

#define UNTOUCHED 'Z'

/* Draws a view in the middle of a canvas one cell larger on every side. Returns the number of cells that are
 * wrong: changed on the border, or not ASCII. */
static int wrong_cells(const struct view *view, void *state, int width, int height, bool ascii)
{
	static struct canvas canvas;
	int wrong = 0, right = width + 1, bottom = height + 1;
	canvas.ascii = ascii;
	canvas_resize(&canvas, width + 2, height + 2);
	struct area all = canvas_area(&canvas);
	for (int y = 0; y <= bottom; y++)
		for (int x = 0; x <= right; x += y % bottom ? right : 1)
			canvas_put(all, x, y, STYLE_NORMAL, UNTOUCHED);
	arena_clear(&app.scratch);
	view->draw(&app, state, canvas_part(all, 1, 1, width, height));
	for (int y = 0; y <= bottom; y++)
		for (int x = 0; x <= right; x += ascii || y % bottom == 0 ? 1 : right) {
			bool border = y == 0 || x == 0 || y == bottom || x == right;
			uint32_t code = canvas.cells[y * all.width + x].code;
			wrong += border ? code != UNTOUCHED : code > 126;
		}
	return wrong;
}

/* Of a side: step 1 is every one that is small, and one in five beyond; all of them in make check-long. */
static int side_after(int side, int step)
{
	return side + (step == 1 && side > 30 && !getenv("CHECK_LONG") ? 5 : step);
}

/* Sizes from 1x1 to 300x100. */
static void check_sizes(const struct view *view, int step, const char *what)
{
	int wrong = 0;
	void *state = calloc(1, view->state_size + 1);
	if (view->open)
		view->open(&app, state);
	for (int width = 1; width <= 300; width = side_after(width, step))
		for (int height = 1; height <= 100; height = side_after(height, step)) {
			app.layer = app.listed_count ? app.listed[(width + height) % app.listed_count] : -1;
			wrong += wrong_cells(view, state, width, height, (width + height) % 8 == 0);
		}
	app.layer = -1;
	wrong += wrong_cells(view, state, 80, 20, true);
	is_int(wrong, 0, "%s: %s, every %d cells", view->name, what, step);
	if (view->close)
		view->close(&app, state);
	free(state);
}

static void test_layout(void)
{
	for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
		begin_at(&inputs[i], 80, 24);
		for (int parallel = 0; parallel < 2; parallel++, app_key(&app, 'p'))
			for (int v = 0; v < views_count(); v++)
				if (views_at(v)->draw)
					check_sizes(views_at(v), i == 0 && parallel ? 1 : 7,
						parallel ? "parallel" : "sequential");
		end();
	}
}

/* ---- roofline ---- */

static double intensity(void)
{
	struct limit l = session_limit(session, app_cost(&app, app.layer), app_problem(&app, app.layer));
	return l.intensity;
}

static double total_of(const char *problem)
{
	double sum = 0;
	for (int i = 0; i < app.place_count; i++)
		if (app_problem(&app, i) && strcmp(app_problem(&app, i), problem) == 0 &&
			app_cost_all(&app, i) > 0)
			sum += app_cost_all(&app, i);
	return sum;
}

static void test_roofline(void)
{
	begin_at(&(struct fixture_options){ .measured = true, .peaks = true }, 120, 40);
	show("roofline");
	type("gg");
	double before = total_of(app_problem(&app, app.layer));
	int layer = app.layer, moves = 0, wrong = 0;
	for (;; moves++) {
		type("j");
		if (app.layer == layer)
			break;
		double now = total_of(app_problem(&app, app.layer));
		wrong += now > before;
		before = now;
		layer = app.layer;
	}
	ok(moves >= 5 && wrong == 0, "j goes to cheaper problems");
	type("G");
	is_int(app.layer, layer, "to the last one");
	type("k");
	ok(total_of(app_problem(&app, app.layer)) >= before, "k to a costlier one");
	for (int i = 0; i < 40; i++)
		type("h");
	double low = intensity();
	for (wrong = moves = 0;; moves++) {
		layer = app.layer;
		double was = intensity();
		type("l");
		wrong += intensity() < was;
		if (app.layer == layer)
			break;
	}
	ok(moves >= 3 && wrong == 0 && intensity() > low, "l goes to higher intensities");
	ok(!session_scenario(session)->amortized == !scenario_default().amortized,
		"and l flips nothing here");
	type("gg");
	struct limit a = session_limit(session, app_cost(&app, app.layer), app_problem(&app, app.layer));
	layer = app.layer;
	type("n");
	struct limit b = session_limit(session, app_cost(&app, app.layer), app_problem(&app, app.layer));
	ok(app.layer != layer && a.by == b.by && strcmp(a.peak, b.peak) == 0, "n keeps to the same limit");
	type("N");
	is_int(app.layer, layer, "N goes back");
	ok(sees("f32 220 GFLOP/s") && sees("memory 20.0 GB/s") && sees("L2 ~200 GB/s"),
		"the ceilings have their figures");
	ok(sees("bound by compute") && sees("FLOP/byte") && sees("% of f32"), "and the layer its limit");
	app_key(&app, KEY_CODE_ENTER);
	is_str(view_name(), "detail", "Enter opens the details");
	end();
	begin_at(&(struct fixture_options){ .queue = true, .busy = true }, 120, 40);
	show("roofline");
	ok(sees("without a cost") && sees("peaks not known"), "what is missing is said");
	end();
	begin_at(&(struct fixture_options){ .unsupported = true }, 120, 40);
	show("roofline");
	type("jknNhlgG");
	ok(sees("no layer has a position yet"), "nothing is measured");
	end();
}

/* ---- timeline ---- */

static void test_timeline(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 120, 40);
	show("timeline");
	ok(sees("sequential: one after the other"), "a sequential scenario");
	type("gg");
	int layer = app.layer;
	type("j");
	ok(app.layer == layer + 1, "j goes along the lane");
	type("n");
	ok(sees("no critical path in a sequential scenario"), "there is no critical path");
	end();
	begin_at(&(struct fixture_options){ .measured = true, .chain = 9 }, 120, 40);
	type("p");
	show("timeline");
	type("gg");
	ok(sees("no slack: on the critical path"), "a chain is its critical path");
	layer = app.layer;
	type("nn");
	ok(app.layer > layer, "n goes along it");
	type("NN");
	is_int(app.layer, layer, "N goes back");
	type("+++");
	ok(sees("8x"), "+ zooms");
	type("G");
	ok(sees("start "), "the last layer is followed");
	type("=");
	ok(!sees("8x"), "= shows all of it");
	end();
	begin_at(&(struct fixture_options){ .measured = true }, 120, 40);
	type("p");
	show("timeline");
	ok(sees("2 lanes") && sees("longest path"), "parallel lanes");
	ok(sees(" lane 1 ") && sees(" lane 2 ") && sees("slack (it may end later)"), "their names, a legend");
	ok(sees(" layer1.0 \u2500") && sees("\u2590conv2\u2592") && sees("\u2590layer1.0.down"),
		"names of bars: in the lane below the scopes without these");
	int branch = -1;
	for (int i = 0; i < session_analysis(session)->layer_count; i++)
		if (session_analysis(session)->layers[i].slack_ns > 0 &&
			session_analysis(session)->layers[i].ns > 0)
			branch = i;
	app.layer = branch;
	ok(branch >= 0 && sees("slack "), "with slack");
	type("k");
	ok(app.layer != branch, "k goes to the lane above");
	ok(sees("without a cost have no bar") && sees("critical path not known"),
		"what is missing is said");
	end();
}

/* ---- map ---- */

static void test_map(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 120, 40);
	show("map");
	type("gg");
	int layer = app.layer;
	type("ll");
	ok(app.layer > layer, "l goes to later levels");
	type("hh");
	is_int(app.layer, layer, "h goes back");
	ok(sees("22 layers in 20 levels"), "layers and levels"); /* without the constant one */
	type("lll");
	layer = app.layer;
	app_key(&app, KEY_CODE_ENTER);
	is_str(view_name(), "layers", "Enter dives into the list");
	is_int(app.layer, layer, "at the same layer");
	show("map");
	ok(sees("cost  \u2581 to ") && sees("\u00b7 no kernel  ? not known"),
		"what its colours and signs are");
	ok(sees(" layer1.0 \u2500") && sees(" maxpool ") && sees(" conv2 ") && !sees("layer1.0.conv2 "),
		"names of layers below those of their scopes");
	end();
	begin_at(&(struct fixture_options){ .measured = true, .chain = 400, .scopes = true }, 80, 24);
	show("map");
	ok(sees(" stage0 \u2500") && sees(" stage3 \u2500"), "scopes where names have no room");
	end();
	begin_at(&(struct fixture_options){ .measured = true, .chain = 4000 }, 40, 10);
	show("map");
	ok(sees("4000 layers in 4000"), "more levels than columns");
	canvas_resize(&app.stage->canvas, 100, 12);
	ok(sees(" levels a column"), "several share one");
	type("G");
	is_int(app.layer, 3999, "to the last layer");
	end();
}

/* ---- graph ---- */

static bool reads(int from, int to)
{
	const struct plan_layer *l = app_layer(&app, to);
	for (int i = 0; i < l->pred_count; i++)
		if (app.places[to].base + l->preds[i] == from)
			return true;
	return false;
}

static void test_graph(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 120, 40);
	show("graph");
	type("gg");
	int steps = 0, wrong = 0;
	for (int before = -1; before != app.layer; steps++) {
		before = app.layer;
		type("j");
		wrong += before != app.layer && !reads(before, app.layer);
	}
	ok(steps > 10 && wrong == 0, "j goes from consumer to consumer");
	for (int before = -1; before != app.layer;) {
		before = app.layer;
		type("k");
		wrong += before != app.layer && !reads(app.layer, before);
	}
	is_int(wrong, 0, "k from producer to producer");
	for (int i = 0; i < app.place_count; i++)
		if (text_is(app_layer(&app, i)->name, "layer1.0.conv1"))
			app.layer = i;
	ok(sees("maxpool") && sees("layer1.0.downsample") && sees("layer1.0.relu1"),
		"what is around a layer");
	type("l");
	ok(text_is(app_layer(&app, app.layer)->name, "layer1.0.downsample"), "l goes to a sibling");
	type("h");
	ok(text_is(app_layer(&app, app.layer)->name, "layer1.0.conv1"), "h back");
	end();
	begin_at(&(struct fixture_options){ .measured = true, .control = true }, 120, 40);
	show("graph");
	for (int i = 0; i < app.place_count && !app_can_unfold(&app, app.layer); i++)
		app.layer = i;
	int loop = app.layer;
	ok(sees("zo goes inside"), "a loop says how to go inside");
	ok(typed_word(&app, text_of("zo")) && app_is_body(&app, app.layer) && sees("zc leaves"), "zo does");
	ok(typed_word(&app, text_of("zc")) && app.layer == loop, "zc leaves");
	end();
}

/* ---- distribution ---- */

static void test_distribution(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 120, 40);
	show("distribution");
	ok(sees("(used): ") && sees("median 2.97 ms") && sees("the maximum is not stored"),
		"the samples of a layer");
	int layer = app.layer;
	type("j");
	is_int(app.layer, layer, "j chooses an algorithm");
	ok(sees("2 of "), "the second");
	type("+");
	ok(sees("not stored; - shows"), "its own axis");
	ok(sees("algorithm ") && sees("quartiles") && sees("median"), "headings, and what its signs are");
	type("l");
	ok(app.layer != layer && sees("1 of "), "l goes to the next layer");
	type("h");
	is_int(app.layer, layer, "h back");
	end();
	begin_at(&(struct fixture_options){ .described = true }, 120, 40);
	show("distribution");
	ok(sees("is an estimate without samples"), "no samples are invented");
	end();
	begin_at(&(struct fixture_options){ .unsupported = true }, 120, 40);
	show("distribution");
	type("jkgG");
	ok(sees("all without a time"), "none at all");
	end();
}

/* ---- axes ---- */

static uint32_t code_at(int x, int y)
{
	const struct canvas *c = &app.stage->canvas;
	return x < 0 || y < 0 || x >= c->width || y >= c->height ? 0 : c->cells[y * c->width + x].code;
}

static bool is_letter(uint32_t code)
{
	return (code | 32) >= 'a' && (code | 32) <= 'z';
}

/* The axis at the left in column x, from row y on: two labels, and a unit in them or above. */
static bool left_is_labelled(int x, int y)
{
	int labels = 0, letters = 0;
	for (int k = x - 8; k <= x + 1; k++)
		letters += is_letter(code_at(k, y - 1));
	for (; code_at(x, y) == 0x2502 || code_at(x, y) == 0x2524; y++)
		if (code_at(x, y) == 0x2524)
			labels += code_at(x - 2, y) > ' ';
	return labels >= 2 && letters > 0;
}

/* The axis below, from column x on: two labels beneath, and its name at its end. */
static bool below_is_labelled(int x, int y)
{
	int labels = 0, end = x;
	while (code_at(end, y) == 0x2500 || code_at(end, y) == 0x252c)
		end++;
	for (int k = x; k < end; k++) {
		uint32_t code = code_at(k, y + 1);
		labels += code >= '0' && code <= '9' && code_at(k - 1, y + 1) <= ' ';
	}
	return labels >= 2 && code_at(end, y) == ' ' && is_letter(code_at(end + 1, y));
}

/* Number of axes on the screen; *bad: of those without two labels or a unit. */
static int axes_seen(int *bad)
{
	int count = 0;
	for (int y = 1; y < app.stage->canvas.height; y++)
		for (int x = 0; x < app.stage->canvas.width; x++) {
			bool tick = code_at(x, y) == 0x252c;
			bool line = code_at(x, y) == 0x2502 || code_at(x, y) == 0x2524;
			int first = x;
			while (tick && code_at(first - 1, y) == 0x2500)
				first--;
			bool seen = tick && code_at(first - 1, y) == 0x252c;
			if (tick && !seen && ++count)
				*bad += !below_is_labelled(first, y);
			bool top = code_at(x, y - 1) != 0x2502 && code_at(x, y - 1) != 0x2524;
			if (line && top && ++count)
				*bad += !left_is_labelled(x, y);
		}
	return count;
}

/* Every chart has labelled axes with units at every size from 80x24 on. */
static void test_axes_of(const struct fixture_options *o, const char *view, int least)
{
	int bad = 0, none = 0, step = getenv("CHECK_LONG") ? 1 : 7;
	begin_at(o, 80, 24);
	if (strcmp(view, "sweep") == 0)
		session->current->plan->batch = 1;
	app.is_still = true;
	type("p");
	show(view);
	for (int width = 80; width <= 240; width += step)
		for (int height = 24; height <= 70; height += step) {
			canvas_resize(&app.stage->canvas, width, height);
			app_draw(&app);
			int before = bad, count = axes_seen(&bad);
			none += count < least;
			if ((bad > before || count < least) && getenv("SHOW"))
				puts(screen());
		}
	ok(!bad && !none, "%s: %d axes without labels or unit, %d sizes without them", view, bad, none);
	end();
}

static void test_axes(void)
{
	const struct fixture_options net = { .measured = true, .peaks = true },
		chain = { .measured = true, .chain = 7 }, far = { .described = true, .chain = 7 };
	test_axes_of(&net, "roofline", 2);
	test_axes_of(&chain, "roofline", 2);
	test_axes_of(&net, "timeline", 1);
	test_axes_of(&chain, "timeline", 1);
	test_axes_of(&net, "distribution", 1);
	test_axes_of(&chain, "sweep", 4);
	test_axes_of(&far, "sweep", 4);
}

/* ---- any keys ---- */

static void test_any_keys(void)
{
	static const char keys[] = "jkhlnNgG+-=pfam<>";
	uint32_t seed = 7;
	int wrong = 0;
	for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
		begin_at(&inputs[i], 80, 24);
		for (int k = 0; k < 3000; k++) {
			seed = seed * 1664525 + 1013904223;
			uint32_t dice = seed >> 16;
			if (dice % 11 == 0)
				app_key(&app, KEY_CODE_TAB);
			else if (dice % 101 == 0)
				canvas_resize(&app.stage->canvas, 40 + (int)(dice % 161),
					10 + (int)(dice % 51));
			else if (dice % 13 == 0)
				app_key(&app, dice & 64 ? KEY_CODE_PAGE_DOWN : KEY_CODE_PAGE_UP);
			else
				app_key(&app, (uint32_t)keys[dice % (sizeof(keys) - 1)]);
			app_draw(&app);
			wrong += app.layer < -1 || app.layer >= app.place_count;
		}
		end();
	}
	is_int(wrong, 0, "the selected layer is always one");
}

int main(void)
{
	test_layout();
	test_roofline();
	test_timeline();
	test_map();
	test_graph();
	test_distribution();
	test_axes();
	test_any_keys();
	return done_testing();
}
