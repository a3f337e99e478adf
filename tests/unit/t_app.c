/* The frame: moving, searching, sorting, views, toggles, measuring, dimensions, and any key in any view at
 * any size. */
#include "config.h"

#include "session/session_agent.h"
#include "session/session_private.h"
#include "ui/model/agent.h"
#include "ui/model/beside.h"
#include "ui/model/private.h"

#include "ui_open.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void begin(const struct fixture_options *o)
{
	begin_at(o, 80, 24);
}

static void type(const char *words)
{
	for (const char *p = words; *p;) {
		p += strspn(p, " ");
		struct text word = { p, strcspn(p, " ") };
		uint32_t key = key_parse(word);
		bool pair = !key && typed_word(&app, word);
		if (key)
			app_key(&app, key);
		char copy[64];
		snprintf(copy, sizeof(copy), "%.*s", (int)word.n, word.p);
		const char *next = copy;
		for (uint32_t code; !key && !pair && (code = text_decode(&next));)
			app_key(&app, code);
		p += word.n;
		app_refresh(&app);
		app_draw(&app);
	}
}

static const char *layer_name(void)
{
	return app_clean(&app, app_plan(&app)->layers[app.layer].name);
}

static void test_moving(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type("j j");
	is_str(layer_name(), "relu", "down");
	type("k");
	is_str(layer_name(), "bn1", "up");
	type("G");
	is_str(layer_name(), "fc", "last");
	type("j j j");
	is_str(layer_name(), "fc", "not beyond");
	type("g k");
	is_str(layer_name(), "conv1", "first, not before");
	type("PgDn");
	is_int(app_pane(&app)->cursor, app.stage->page, "a page down");
	type("^U");
	is_int(app_pane(&app)->cursor, app.stage->page - app.stage->page / 2, "half a page up");
	type("PgUp PgUp");
	is_int(app_pane(&app)->cursor, 0, "pages up");
	end();
}

/* A count far above the number of matches costs no more than going round twice. */
static void test_find_count(void)
{
	const struct key_row next = { "n", REQUEST_FIND_NEXT, 0, KEYS_FIND, "", .counts = true };
	begin(&(struct fixture_options){ .chain = 10000 });
	type("/ chain.99 Enter");
	app_draw(&app);
	int first = app.layer, matches = 0;
	do {
		request_run(&app, &next, 0);
		matches++;
	} while (app.layer != first && matches < 1000);
	is_int(matches, 111, "chain.99, chain.990 to 999, chain.9900 to 9999");
	request_run(&app, &next, matches * 10000000);
	is_int(app.layer, first, "ten million rounds");
	request_run(&app, &next, matches * 10000000 + 2);
	is_str(layer_name(), "chain.991", "and two matches more");
	ok(app.scratch.total < 100000, "and keeps no texts of rows: %zu bytes", app.scratch.total);
	end();
}

static void test_finding(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type("/ DOWN");
	is_str(layer_name(), "layer1.0.downsample", "found while typing, whatever the case");
	type("Esc");
	is_str(layer_name(), "conv1", "Esc goes back");
	type("/ layer1.1 Enter n");
	is_str(layer_name(), "layer1.1.relu1", "next");
	type("N N");
	is_str(layer_name(), "layer1.1.relu2", "round the end");
	type("/ nothing Enter");
	ok(sees("no match for \"nothing\""), "no match is reported");
	type("g s");
	ok(sees("sorted by cost"), "sorted");
	type("j k");
	ok(!sees("sorted by cost") && sees("cost\u25bc"), "the column is marked for as long as it is");
	double last = INFINITY;
	bool falling = true;
	for (int i = 0; i < app_pane(&app)->shown_count; i++) {
		double ns = session->analysis->layers[app.listed[app_pane(&app)->shown[i]]].ns;
		falling &= isnan(ns) || ns <= last;
		last = isnan(ns) ? -1 : ns;
	}
	ok(falling, "by cost, unknown last");
	type("I g");
	ok(isnan(session->analysis->layers[app.listed[app_pane(&app)->shown[0]]].ns), "reversed");
	type("s s s s");
	is_int(app_pane(&app)->shown[0], 0, "all orders lead back to the model's");
	type("& relu Enter");
	is_int(app_pane(&app)->shown_count, 5, "filtered");
	type("Esc");
	is_int(app_pane(&app)->shown_count, app.listed_count, "all again");
	type("c");
	ok(sees("conv1.weight.made") && app.listed_count == app_plan(&app)->layer_count,
		"folded layers are listed on demand");
	type("g k c");
	ok(!sees("conv1.weight.made") && app.listed_count == app_plan(&app)->layer_count - 1,
		"and left out again");
	is_str(layer_name(), "conv1", "with a listed layer selected");
	type("& zzz Enter s");
	ok(sees("nothing to sort: no row matches \"zzz\"") && !sees("sorted by"),
		"an empty list is not sorted");
	type("Esc & zzz Enter");
	ok(sees("no match; Esc clears"), "an empty list says so");
	type("j k Enter G g Esc");
	end();
}

/* A marked row under the cursor has both signs. */
static void test_marked(void)
{
	begin(&(struct fixture_options){ .measured = true });
	ok(sees("\n>\u25cf    conv1"), "the cursor");
	type("V");
	ok(sees("\n *\u25cf    conv1") && sees("\n> \u25cf    bn1"),
		"a mark, and the cursor on the next layer");
	type("k");
	ok(sees("\n>*\u25cf    conv1"), "both");
	ok(sees("\n  dag"), "the heading moves with the rows");
	type("U");
	ok(sees("\n>\u25cf    conv1"), "without marks the column is not there");
	end();
}

static void test_views(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type("j Enter");
	ok(app_pane(&app)->view == &view_detail, "Enter opens details");
	ok(sees("BatchNormalization  class"), "of the layer");
	type(">");
	ok(sees("Relu  class"), "the next layer");
	type("/ maxpool Enter Enter");
	is_str(layer_name(), "maxpool", "Enter follows a reader");
	int there = app_pane(&app)->cursor;
	type("/ \u2190 Enter Enter");
	is_str(layer_name(), "relu", "and a producer");
	type("Esc");
	is_str(layer_name(), "maxpool", "Esc goes back to the layer");
	ok(app_pane(&app)->view == &view_detail && app_pane(&app)->cursor != there, "and to the line");
	type("Esc");
	is_str(layer_name(), "relu", "and to the one before");
	type("/ \u2190 Enter Enter Esc / maxpool Enter Enter q");
	ok(app_pane(&app)->view == &view_layers, "q closes the view");
	is_str(layer_name(), "maxpool", "and the layer stays");
	is_int(app.listed[pane_row(app_pane(&app))], app.layer, "under the cursor");
	type("g Enter");
	ok(sees("layer 1 of 22") && !sees("layer 1 of 23"), "layers are counted without constants");
	type("/ f32 Space 64x3x7x7 Enter Enter");
	ok(sees("nothing opens here"), "what makes a constant is no layer to go to");
	is_str(layer_name(), "conv1", "nor is it gone to");
	type("q / maxpool Enter");
	type("Tab Tab");
	ok(app_pane(&app)->view == &view_what_if, "Tab goes on");
	type("BackTab");
	ok(app_pane(&app)->view == &view_detail, "BackTab goes back");
	type("4 Enter");
	ok(app_pane(&app)->view == &view_detail, "a problem leads to its layer");
	type("Esc");
	ok(app_pane(&app)->view == &view_problems, "Esc to where it came from");
	type("Esc ? q");
	ok(app_pane(&app)->view == &view_layers && !app.stage->quit, "help and back");
	type("Esc");
	ok(!app.stage->quit, "Esc does not quit");
	type("q");
	ok(app.stage->quit, "q does, at the top");
	end();
}

static void test_devices(void)
{
	begin(&(struct fixture_options){ .queue = true });
	type("/ layer1.1.conv2 Enter + f D");
	ok(app_pane(&app)->view == &view_devices && sees("[5] Devices"), "D opens the devices");
	ok(sees(">\u25cf cpu"), "at the one in use");
	ok(sees("far?[2J away"), "commands are cleaned");
	ok(sees("3.35 TB/s 66.9 TFLOP/s  989 TFLOP/s"), "a description's figures");
	ok(sees("this build has no kernels") && sees("broken.json:1"), "caveats and what cannot be read");
	type("Enter");
	ok(fixture_calls.chosen[0] == '\0' && sees("cpu is in use"), "no change to the same");
	type("j Enter");
	is_str(fixture_calls.chosen, "far", "Enter asks for a device");
	ok(sees("starting the runner of far; until it answers, this device stays in use: cpu"),
		"a runner is waited for");
	ok(sees(">  far        starting") && sees("EPYC 7B13"), "the old device stays in force");
	app_device_step(&app, 0);
	type("j");
	ok(sees("starting the runner of far"), "as long as it takes");
	fixture_answer = -1;
	app_device_step(&app, 0);
	app_draw(&app);
	ok(sees("far: the runner ssh says no hello") && sees("\u25cf cpu"),
		"one that does not answer says why");
	fixture_answer = 0;
	type("k Enter x");
	ok(sees("starting far was cancelled") && !session_awaited(session), "x leaves it");
	is_int(fixture_calls.cancel, 0, "and stops nothing else");
	type("j j Enter");
	ok(sees("cannot be read any more") && session->seat->queue,
		"one that cannot be opened says why, the old one stays");
	type("j Enter");
	is_str(fixture_calls.chosen, "h100", "a described one");
	ok(sees("H100, planned by") && sees("h100 is a described device"), "the header follows");
	ok(sees(">\u25cf h100"), "and the mark");
	ok(session->scenario.fusion && session->current->batch == 2, "the scenario stays");
	type("Esc");
	is_str(layer_name(), "layer1.1.conv2", "and the layer");
	is_int(app.listed[pane_row(app_pane(&app))], app.layer, "under the cursor");
	ok(sees("plannable") && sees("~"), "estimates and plans");
	type("5 k k k Enter");
	fixture_answer = 1;
	app_device_step(&app, 0);
	app_draw(&app);
	ok(sees("A100, CUDA 13.0") && sees("now using NVIDIA A100"),
		"a runner that has answered comes into force");
	end();
}

/* Cursor, layer in question and what B measures agree, and what measuring brings changes none of them. */
static void test_selection(void)
{
	begin(&(struct fixture_options){ .queue = true });
	type("/ layer1.1.conv2 Enter 4");
	is_str(layer_name(), "layer1.1.conv2", "the problems view keeps the layer");
	ok(strstr(app_problem(&app, app.layer), "conv") && sees(">ok          x4"), "on its problem's row");
	type("j");
	int row = pane_row(app_pane(&app)), layer = app.layer;
	is_str(layer_name(), "layer1.0.relu1", "moving selects");
	session->stale = true;
	type("B");
	is_int(fixture_calls.layer, layer, "B measures the highlighted row");
	ok(pane_row(app_pane(&app)) == row && app.layer == layer, "new results move nothing");
	type("5 6 7 8 1");
	is_str(layer_name(), "layer1.0.relu1", "nor do other views");
	is_int(app.listed[pane_row(&app.stage->panes[0])], app.layer, "the list is at it");
	type("& maxpool Enter 4 g 1");
	is_str(layer_name(), "maxpool", "a row that a filter hides gives way to the one that is highlighted");
	end();
}

static void test_disturbed(void)
{
	begin(&(struct fixture_options){ .measured = true });
	ok(!sees(" noisy"), "nothing is noisy on a quiet machine");
	end();
	begin(&(struct fixture_options){ .measured = true, .disturbed = true });
	ok(sees(" noisy"), "noisy measurements are marked in the list");
	end();
}

static void test_help_search(void)
{
	begin(&(struct fixture_options){ .measured = true });
	struct pane *p = (type("?"), app_pane(&app));
	type("/ layer Enter");
	int matches[64], count = 0;
	do {
		matches[count++] = p->cursor;
		type("n");
	} while (p->cursor != matches[0] && count < 63);
	bool rising = count > 6;
	for (int i = 1; i < count; i++)
		rising &= matches[i] > matches[i - 1];
	ok(rising, "n goes through all %d matches, those on the last page too", count);
	ok(p->cursor >= p->top && p->cursor < p->top + app.stage->page, "the match is seen");
	struct str styles = { 0 };
	canvas_print_styles(&app.stage->canvas, &styles);
	ok(strstr(styles.p, "bbbbb") && strstr(styles.p, "rrrrr"), "and marked, and so are the others");
	str_free(&styles);
	int top = p->top;
	type("j");
	ok(!p->marked && p->top == top + 1, "scrolling goes on from there");
	end();
}

/* The row of the screen on which a text begins, or -1. */
static int row_of_text(const char *text)
{
	const char *all = screen(), *at = strstr(all, text);
	int row = at ? 0 : -1;
	for (const char *c = all; at && c < at; c++)
		row += *c == '\n';
	return row;
}

static void test_help_begins(void)
{
	begin_at(&(struct fixture_options){ .measured = true }, 80, 40);
	type("A ?");
	int own = row_of_text("In this view, advice"), key = row_of_text("Space"),
	    what = row_of_text("What if\n"), fusion = row_of_text("fuse following");
	ok(own >= 0 && own < key && key < what && what < fusion, "help begins with the view, then what-ifs");
	ok(sees("a best algo    algorithm: each layer"), "by their names in the header");
	type("9j Esc ?");
	ok(!sees("In this view"), "from the same view it goes on where it was left");
	type("Esc gy ?");
	ok(sees("In this view, groups"), "from another one it begins anew");
	end();
}

/* A note gives way to what is measured. */
static void test_note_age(void)
{
	begin(&(struct fixture_options){ .queue = true, .busy = true });
	type("l");
	ok(sees("takes it back"), "a note");
	app_note_age(&app, app.note_ms + 100);
	ok(app.note[0], "stays for a moment");
	app_note_age(&app, app.note_ms + 10000);
	app_draw(&app);
	ok(!app.note[0] && sees("measuring"), "and gives way to the progress");
	app_note(&app, true, "it is broken");
	app_note_age(&app, app.note_ms + 10000);
	ok(app.note[0], "an error stays until a key");
	end();
	begin(&(struct fixture_options){ .queue = true });
	type("l");
	app_note_age(&app, app.note_ms + 10000);
	ok(app.note[0], "where nothing is measured it stays, too");
	end();
}

static void test_undo(void)
{
	begin(&(struct fixture_options){ .measured = true });
	struct scenario first = *session_scenario(app.session);
	type("zu");
	ok(sees("no what-if was changed"), "nothing to take back");
	type("f p");
	struct scenario two = *session_scenario(app.session);
	type("l zu");
	ok(memcmp(session_scenario(app.session), &two, sizeof(two)) == 0 && sees("what-ifs again:"),
		"zu takes the last change back");
	type("99u");
	ok(memcmp(session_scenario(app.session), &first, sizeof(first)) == 0, "99u all of them");
	type("2^R");
	ok(scenario_equal(session_scenario(app.session), &two), "^R makes two again");
	type("^R ^R");
	ok(sees("no change was undone"), "until none is left");
	type("u");
	ok(scenario_equal(session_scenario(app.session), &two), "... and u knows them");
	type("zU");
	ok(scenario_equal(session_scenario(app.session), &first), "zU: as given");
	ok(sees("what-ifs as in options and configuration:"), "... is said");
	type("u");
	ok(scenario_equal(session_scenario(app.session), &two), "u takes that back, too");
	type("u l ^R");
	ok(sees("no change was undone"), "a change forgets those that were taken back");
	type("l");
	ok(sees("launch: amortized; u takes it back"), "a key that switches says so");
	type("99u");
	for (int i = 0; i < UNDO_MOST + 3; i++)
		type("l");
	type("99zu zu");
	ok(sees("no what-if was changed"), "the oldest of many are forgotten");
	end();
}

static void test_scenarios(void)
{
	char folder[] = "/tmp/benanza-test.XXXXXX", path[128];
	setenv("XDG_DATA_HOME", mkdtemp(folder), 1);
	begin(&(struct fixture_options){ .measured = true, .scenarios = true });
	app_show(&app, &view_scenarios, -1);
	app_draw(&app);
	ok(sees("present") && sees("fused") && sees("unknown what-if 'telepathy'"), "all, and why not");
	ok(sees("on h100: Enter switches"), "another device is not priced");
	double before = app.session->analysis->total_ns;
	type("j Enter");
	ok(app.session->scenario.fusion == FUSION_ALL && app.session->scenario.parallel == PARALLEL_RESOURCES,
		"Enter takes the what-ifs");
	ok(app.session->analysis->total_ns < before, "at once");
	ok(sees("scenario fused"), "and says so");
	type("j Enter");
	is_int(fixture_calls.batch, 8, "or the batch");
	ok(app.session->scenario.fusion == FUSION_OFF && app.session->scenario.matrix,
		"what-ifs that it does not name are as at the start");
	type("j Enter");
	is_str(fixture_calls.chosen, "h100", "or the device");
	type("j Enter");
	ok(sees("wrong: unknown what-if 'telepathy'"), "a wrong one is refused");
	type("s");
	ok(sees("save the present scenario as"), "a name is asked for");
	for (const char *p = "fused"; *p; p++)
		app_key(&app, (uint32_t)*p);
	type("Enter");
	ok(sees("fused is a scenario of") && app.stage->prompt.use, "one of the user's file is kept");
	app_key(&app, 'U' & 31);
	for (const char *p = "fusion"; *p; p++)
		app_key(&app, (uint32_t)*p);
	type("Enter");
	ok(sees("is the name of a what-if"), "nor a name of a what-if");
	app_key(&app, 'U' & 31);
	for (const char *p = "mine"; *p; p++)
		app_key(&app, (uint32_t)*p);
	type("Enter");
	ok(sees("saved: -w mine uses it") && !app.stage->prompt.use, "it is saved");
	app_draw(&app);
	const struct config_scenario *mine = config_scenario(app.session->given, TEXT("mine"));
	ok(mine && mine->saved && mine->what_if && strstr(mine->what_if, "matrix=off") && mine->has_dtype,
		"with all choices");
	ok(sees(" mine "), "and listed");
	end();
	snprintf(path, sizeof(path), "%s/benanza/scenarios.yaml", folder);
	is_int(unlink(path), 0, "in the program's own file");
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(folder);
	setenv("XDG_DATA_HOME", "/nonexistent", 1);
}

static void test_groups(void)
{
	begin(&(struct fixture_options){ .measured = true });
	app_show(&app, &view_groups, -1);
	app_draw(&app);
	ok(sees("type") && sees("Conv") && sees("MaxPool"), "costs by type");
	ok(sees("layers without a cost") || sees("layer without a cost"), "what is missing is said");
	type("Right");
	ok(sees("scope") && sees("layer1.1"), "by scope");
	type(".");
	ok(sees("class") && sees("compute"), "by class");
	type("g Enter");
	double most = app_cost(&app, app.layer)->ns;
	for (int i = 0; i < app_plan(&app)->layer_count; i++)
		if (app_plan(&app)->layers[i].class == app_layer(&app, app.layer)->class)
			ok(!(app_cost(&app, i)->ns > most), "Enter selects the costliest layer of the row");
	ok(app_pane(&app)->view == &view_layers && sees("&class=compute"), "among the layers of the row");
	is_int(app_pane(&app)->order, 1, "sorted by cost");
	type("Esc gy");
	ok(sees("class"), "the grouping stays");
	type("Right");
	ok(sees("limited by"), "by what limits the layers");
	type("Right");
	ok(sees("of the cost"), "the distribution");
	type("Enter");
	ok(sees("nothing opens here"), "has no layers");
	type("2.");
	ok(sees("scope") && sees("layer1.1"), "a count: the second grouping");
	type("Left");
	ok(sees("type"), "and back");
	end();
}

static void test_gains(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type("$p");
	ok(sees("parallel makes no layer faster; gt"), "what saves nothing on a layer says so");
	type("3 $f");
	const struct pane *p = app_pane(&app);
	ok(p->view == &view_layers && sees("fusion"), "the layers, with what fusion saves");
	is_str(p->list->orders[p->order], "fusion", "sorted by it");
	int first = app.layer;
	type("f");
	double fused = app.session->analysis->layers[first].ns;
	ok(app.session->scenario.fusion && fused > 0, "the first one is fused");
	type("$l");
	ok(sees("launch"), "another what-if");
	is_str(p->list->orders[p->order], "launch", "sorted by that");
	type("|");
	ok(!sees("launch "), "| shows the other columns again");
	type("$z");
	ok(sees("no what-if has the key z"), "a letter that is no what-if's");
	type("$m");
	ok(sees("matrix is not available"), "a what-if that does not apply");
	type("\"Q");
	ok(sees("marks are the letters a to z"), "marks are small letters");
	end();
}

/* Searches until the advice is that of now: a search may run from before. */
static void advised(void)
{
	for (int i = 0; i < 4; i++) {
		app_draw(&app);
		while (app_pane(&app)->view->work(&app, app_pane(&app)->state, 100))
			;
	}
	app_draw(&app);
}

static void test_target(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type("A T nonsense Enter");
	ok(sees("is not a latency"), "a target that is none");
	type("Esc T 1s Enter");
	advised();
	ok(sees("Target 1.00 s: reached"), "a target that is reached");
	type("T 1us Enter");
	advised();
	ok(sees("Target 1.00 us: not reached"), "one that is not");
	type("T 1000000/s Enter");
	advised();
	ok(sees("Target 1.00 M/s (a batch in "), "a throughput is said as it was typed");
	type("T all Enter");
	advised();
	ok(!sees("Target"), "all: none");
	end();
}

static void test_algorithms(void)
{
	begin(&(struct fixture_options){ .measured = true });
	app_show(&app, &view_algorithms, -1);
	app_draw(&app);
	int own = app_own_problem(&app, app.layer);
	const struct result *used = app_pick(&app, app_plan(&app)->problems[own].text);
	ok(used && sees(used->algorithm.name) && sees("1.00x"), "the algorithm in use");
	ok(sees("fused 2.98 ms, apart 3.58 ms, -17%: 2 layers"), "fused and apart on top");
	const char *best = strstr(screen(), "brgconv:avx"), *other = strstr(screen(), "jit:avx512_core"),
		   *failed = strstr(screen(), "jit:avx2 ");
	ok(best && other && failed && best < other && other < failed, "fastest first, unknown last");
	ok(sees("0.83x") && sees("1.20x"), "beside the best and the preferred one");
	int layer = app.layer;
	type("> > >");
	ok(app.layer != layer && !sees("jit:avx2 "), "those of the next layers");
	end();
	begin(&(struct fixture_options){ .queue = true });
	app_show(&app, &view_algorithms, -1);
	bool none = false, unmeasured = false;
	for (int i = 0; i < 30; i++) {
		type(">");
		none |= sees("no kernel runs for this layer");
		unmeasured |= sees("no algorithm of this layer is measured: B measures it");
	}
	ok(none && unmeasured, "why there is none");
	end();
	begin(&(struct fixture_options){ .described = true });
	app_show(&app, &view_algorithms, -1);
	app_draw(&app);
	canvas_resize(&app.stage->canvas, 120, 24);
	app_draw(&app);
	ok(sees("eng1{k2=4,k24=12}  ") && sees("planned         -         -  1.00 MiB"), "planned ones");
	ok(sees("fused ~") && sees(", ~-"), "an estimate is marked, and what follows from it");
	end();
	begin(&(struct fixture_options){ .described = true, .chain = 7 });
	ok(!sees("partial") && sees("~14.3% plan"), "shares of estimates are marked");
	end();
}

/* A described GPU with a peak of 8-bit integers on matrix units only, and without one. */
static void test_no_estimate(void)
{
	struct peaks *k;
	begin(&(struct fixture_options){ .described = true, .control = true });
	k = (struct peaks *)&session->seat->described->peaks;
	app_show(&app, &view_layers, -1);
	type("/ exact Enter");
	ok(sees("no estimate: no u8 peak of the device is known: assume a cost"), "the reason: no peak");
	k->matrix_flops[DTYPE_U8] = 1e15;
	type("p");
	ok(sees("no estimate: u8 peak only on matrix units: switch on matrix"), "... and what gives one");
	type("Enter");
	ok(sees("only on matrix units: switch on matrix"), "... in the details too");
	k->matrix_flops[DTYPE_U8] = NAN;
	end();
}

/* Results of a large model wait while keys are pressed; what a key asks for does not. */
static void test_pace(void)
{
	begin(&(struct fixture_options){ .measured = true });
	struct result one = { .problem = "eltwise:f32,f32:relu:1", .status = STATUS_OK };
	uint64_t analyses = app.analyses;
	app_pace(&app, 1000, 1000);
	ok(!app.results_wait, "a quick analysis never waits");
	app.renew_ms = 300;
	app.renewed_ms = 1000;
	app_pace(&app, 9800, 10000);
	ok(app.results_wait, "a slow one waits while keys are pressed");
	results_add(session->seat->results, &one);
	type("j");
	ok(app.analyses == analyses && !app_refresh(&app), "a key that moves costs no analysis");
	type("p");
	is_int((int)(app.analyses - analyses), 1, "a what-if is computed at once");
	app.renew_ms = 300;
	app.renewed_ms = 10000;
	app_pace(&app, 0, 11000);
	ok(app.results_wait, "the last one was a moment ago");
	app_pace(&app, 0, 13000);
	ok(!app.results_wait, "ten times what it takes later");
	one.measured_at = 7;
	results_add(session->seat->results, &one);
	ok(app_refresh(&app) && (int)(app.analyses - analyses) == 2, "what waited is taken");
	end();
}

/* Computes the points of the sweep as the loop does between keys, a point at a time. */
static int sweep_fill(void)
{
	int points = 0;
	void *state = app_pane(&app)->state;
	for (; view_sweep.work(&app, state, 0); points++)
		view_sweep.work(&app, state, 1);
	app_draw(&app);
	return points;
}

static void test_sweep_view(void)
{
	begin(&(struct fixture_options){ .measured = true });
	session->current->plan->batch = 1;
	app_show(&app, &view_sweep, -1);
	app_draw(&app);
	ok(sees("16 f32  ...") && !sees("has the batch 1 baked in"), "drawn before any point is computed");
	is_int(sweep_fill(), 6, "a point at a time");
	ok(sees("16 f32  Reshape flatten has the batch 1 baked in") &&
			sees("32 f32  Reshape flatten has the batch 1 baked in"),
		"the usual batches, and why one is not possible");
	ok(sees("2 without a cost"), "what is missing");
	ok(!sees("\u252c"), "no curve of gaps");
	is_int(view_sweep.due_ms(&app, app_pane(&app)->state), -1, "nothing is new");
	ok(!view_sweep.work(&app, app_pane(&app)->state, 0), "nor open");
	app.generation++;
	view_sweep.work(&app, app_pane(&app)->state, 1);
	is_int(view_sweep.due_ms(&app, app_pane(&app)->state), 0, "a new point is drawn at once");
	type("j j Enter");
	is_int(fixture_calls.batch, 4, "Enter takes the batch");
	is_int((int)session->current->batch, 4, "at once");
	end();
	begin(&(struct fixture_options){ 0 });
	app_show(&app, &view_sweep, -1);
	sweep_fill();
	ok(sees(" unmeasured") && !sees("unmeasured: b"), "no key where nothing can be measured");
	end();
	begin(&(struct fixture_options){ .queue = true });
	session->current->plan->batch = 1;
	app_show(&app, &view_sweep, -1);
	session->current->plan->batch = 64;
	app.generation++;
	sweep_fill();
	ok(sees(" 64 f32 "), "a batch that + chose is part of it");
	session->current->plan->batch = 128;
	app.generation++;
	sweep_fill();
	ok(sees(" 64 f32 ") && sees(" 128 f32 "), "as are all of them");
	type("b");
	is_int(fixture_calls.sweep, 1, "b measures all batches");
	is_int(app.session->given->batch_count, 8, "which are configured from then on");
	end();
	begin(&(struct fixture_options){ .queue = true, .sweep = true });
	app_show(&app, &view_sweep, -1);
	sweep_fill();
	ok(sees("8 f32") && sees("8 bf16") && sees("unmeasured: b") && !sees(" 16 "),
		"configured batches and types");
	end();
}

/* A plan without gaps has curves below the table. */
static void test_sweep_curves(void)
{
	begin(&(struct fixture_options){ .measured = true, .chain = 7 });
	session->current->plan->batch = 1;
	app_show(&app, &view_sweep, -1);
	sweep_fill();
	ok(!isnan(session->analysis->total_ns) && session->analysis->complete, "all is known");
	ok(sees("\u25cf f32") && sees(" latency  ") && sees(" items/s  ") && sees(" batch"),
		"curves, with what their signs and axes are");
	type("G j j");
	is_int(pane_row(app_pane(&app)), 5, "the cursor stays in the table");
	end();
}

/* Below the table, which has twelve rows here, the curves are read by scrolling. */
static void test_sweep_scrolls(void)
{
	static const struct {
		const char *keys, *back;
	} ways[] = { { "G", "g" }, { "30j", "30k" }, { "^D ^D ^D", "^U ^U ^U" }, { "PgDn PgDn", "PgUp PgUp" },
		{ "^E ^E ^E ^E ^E ^E ^E ^E ^E", "^Y ^Y ^Y ^Y ^Y ^Y ^Y ^Y ^Y" } };
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		session = fixture_open(&(struct fixture_options){ .measured = true, .chain = 7 });
		session->current->plan->batch = 1;
		app_init(&app, session, 80, 14, false);
		show("sweep");
		sweep_fill();
		ok(!sees("\u252c"), "the axis of the curves is below");
		type(ways[i].keys);
		ok(sees("\u252c"), "%s: it is seen", ways[i].keys);
		is_int(pane_row(app_pane(&app)), 5, "the cursor stays in the table");
		type(ways[i].back);
		ok(sees("1 f32") && app_pane(&app)->top == 0, "%s: back at the top", ways[i].back);
		end();
	}
	begin_at(&(struct fixture_options){ .measured = true, .chain = 7 }, 80, 24);
	session->current->plan->batch = 1;
	show("sweep");
	sweep_fill();
	ok(sees("1 f32") && sees("32 f32") && sees("\u25cf f32") && sees("\u252c"),
		"at 80x24 all of it is seen at once");
	end();
}

static void test_prompt(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type("/ x Backspace Backspace");
	ok(!app.stage->prompt.use, "backspace on nothing closes a search");
	type("/ layer1.0 Space relu");
	type("^W");
	is_str(app.stage->prompt.text, "layer1.0 ", "^W erases a word");
	type("^W");
	is_str(app.stage->prompt.text, "", "and the next");
	type("Esc j \\ relu");
	is_int(app_pane(&app)->shown_count, 5, "a filter follows what is typed");
	ok(sees("&relu 5/22"), "and is shown");
	type("Esc");
	is_int(app_pane(&app)->shown_count, 22, "Esc brings back what was there");
	is_str(layer_name(), "bn1", "and the row");
	type("F4 relu Enter & conv Enter");
	ok(sees("&conv 6/22"), "the first letter replaces the old filter");
	type("& ^U Backspace");
	is_int(app_pane(&app)->shown_count, 22, "backspace on nothing closes a filter");
	type("J");
	ok(sees("J does nothing here: ? shows the keys"), "a key without a meaning says where help is");
	type("g L");
	is_int(app_pane(&app)->cursor, app.stage->page - 1, "L");
	type("H");
	is_int(app_pane(&app)->cursor, 0, "H");
	type("M");
	is_int(app_pane(&app)->cursor, (app.stage->page - 1) / 2, "M");
	end();
}

static void test_what_ifs(void)
{
	begin(&(struct fixture_options){ .measured = true });
	double before = session->analysis->total_ns;
	type("f");
	ok(session->scenario.fusion && session->analysis->total_ns < before, "fusion lowers the bound");
	ok(sees("FUSION") && sees("fused"), "and shows");
	type("ffff");
	near(session->analysis->total_ns, before, 1e-12, "and back, by all its choices");
	type("3 j Enter");
	ok(session->scenario.fusion, "Enter flips in the what-if view");
	ok(sees("saving when on"), "one meaning");
	struct str shown = { 0 };
	str_addf(&shown, "%s", screen());
	ok(strstr(shown.p, "fuse following layers") && strstr(shown.p, "kernel is faster"),
		"texts go on below");
	str_free(&shown);
	type("j j");
	ok(sees("> a   algorithm     [x] best"), "the cursor passes over them");
	type("Enter");
	ok(!session->scenario.best, "two below fusion is the algorithm");
	type("Enter");
	struct plan *plan = session->current->plan;
	double flops = plan->flops;
	plan->flops = 0;
	plan->unknown_flops_layers = 5;
	session->stale = true;
	type("G");
	ok(sees("work       unknown for 5 layers"), "unknown work is not zero");
	plan->flops = flops;
	plan->unknown_flops_layers = 0;
	type("+");
	is_int(fixture_calls.batch, 2, "batch doubled");
	type("+ + +");
	ok(sees("baked in") && session->current->batch == 8, "what cannot be says why");
	type("t");
	is_int(fixture_calls.dtype, DTYPE_BF16, "the other type");
	end();
}

/* All that the shown view computes beside other work. */
static int work(void)
{
	const struct pane *p = app_pane(&app);
	int parts = 0;
	while (p->view->work(&app, p->state, 1))
		parts++;
	app_draw(&app);
	return parts;
}

static void test_advice(void)
{
	begin(&(struct fixture_options){ .measured = true });
	app_show(&app, views_find("advice"), -1);
	app_draw(&app);
	ok(sees("computing...") && !sees("fuse Conv"), "the first frame does not wait for advice");
	ok(app_pane(&app)->view->work(&app, app_pane(&app)->state, 0), "... there is work for later");
	work();
	ok(sees("fuse Conv") && !sees("computing"), "then it is there");
	ok(!app_pane(&app)->view->work(&app, app_pane(&app)->state, 0), "... and nothing is left to do");
	type("a");
	ok(sees("fuse Conv") && sees("what (old; computing...)"), "another scenario: the last one stays");
	type("l");
	ok(sees("what (old; computing...)"), "the search begins again with the next scenario");
	work();
	app_draw(&app);
	ok(!sees("computing"), "it is that of the scenario");
	type("a");
	ok(app.session->advice != NULL, "a search may run when the explorer is left");
	work();
	app_draw(&app);
	ok(sees("Enter its layers") && sees("Space switch on"), "the keys of a row");
	struct scenario before = *session_scenario(session);
	type("Space");
	ok(sees("on: ") && !scenario_equal(session_scenario(session), &before), "Space switches it on");
	type("u");
	ok(scenario_equal(session_scenario(session), &before), "... and u off again");
	work();
	type("Enter");
	ok(app.picked_count > 0 && sees("is:marked") && strcmp(app_pane(&app)->view->name, "layers") == 0,
		"Enter: the layers of an advice, marked");
	ok(sees("U removes the marks, A returns to the advice"), "... and the ways back");
	end();
}

static void test_measuring(void)
{
	begin(&(struct fixture_options){ .queue = true });
	type("b");
	is_int(fixture_calls.missing, 1, "b queues");
	type("j j B");
	is_int(fixture_calls.layer, 3, "B queues the layer");
	type("x");
	is_int(fixture_calls.cancel, 1, "x stops");
	end();
	begin(&(struct fixture_options){ .queue = true, .busy = true });
	type("/ \u5c42 Enter Enter");
	ok(sees("queue 2"), "the details show its place in the queue");
	end();
	begin(&(struct fixture_options){ .queue = false });
	type("b");
	ok(sees("a recorded device measures nothing"), "a recorded device says so");
	end();
	begin(&(struct fixture_options){ .queue = false });
	snprintf(session->seat->trouble, sizeof(session->seat->trouble), "no runner");
	type("b");
	ok(sees("no runner answers"), "without a runner it says so");
	end();
}

/* As the loop of the explorer does. */
static void step_agent(int answer)
{
	fixture_agent = answer;
	app_agent_step(&app);
	app_refresh(&app);
	app_draw(&app);
}

static void test_agent(void)
{
	begin(&(struct fixture_options){ .measured = true });
	ok(!sees("real latency"), "no hint without an agent");
	type("e");
	ok(sees("no agent is configured"), "and e names the fix");
	end();

	begin(&(struct fixture_options){ .queue = true, .measured = true, .agents = true });
	fixture_calls.unreadable = true;
	type("e");
	step_agent(AGENT_WORKS);
	ok(sees("config.yaml:3: unknown key") && !fixture_calls.agent_starts,
		"e reads the configuration again: a mistake in it");
	fixture_calls.unreadable = false;
	type("e");
	step_agent(AGENT_WORKS);
	is_str(fixture_calls.agent, "near", "e starts the first agent");
	ok(sees("near: 12 of 50 samples  0:07  e cancels"), "the footer has its progress");
	type("E");
	ok(sees("near runs the model; choose another when it has ended"), "no other is chosen meanwhile");
	type("b");
	ok(sees("the model is running"), "nothing is measured meanwhile");
	is_int(fixture_calls.missing, 0, "nor queued");
	type("j e");
	ok(sees("the run of the model is cancelled"), "e again cancels");
	is_int(fixture_calls.agent_cancels, 1, "the request");
	type("j");
	ok(sees("near: stopping"), "until it has ended");
	step_agent(AGENT_FAILED);
	ok(sees("near: cancelled") && !sees("boom"), "which is not an error");
	is_int(fixture_calls.agent_frees, 1, "its process is ended");
	type("E");
	ok(sees("far is selected: e runs the model with it"), "E names the next one");
	type("e");
	step_agent(AGENT_WORKS);
	is_str(fixture_calls.agent, "far", "E chooses the next one");
	step_agent(AGENT_ENDED);
	ok(sees("far: 2.00 ms"), "its result is a message");
	ok(sees("real 2.00 ms  far"), "and stands in the header at once");
	ok(sees("; faster than the bound: measuring"), "both sides are measured again");
	ok(fixture_calls.again > 0, "all layers: the whole is faster");
	step_agent(AGENT_WORKS);
	is_int(fixture_calls.agent_starts, 3, "the agent runs again");
	step_agent(AGENT_ENDED);
	ok(sees("; measured again: 0 contradicted, and the model"), "what holds is in the message");
	step_agent(AGENT_WORKS);
	is_int(fixture_calls.agent_starts, 3, "there is no third run");
	type("e");
	step_agent(AGENT_ENDED);
	type("e");
	step_agent(AGENT_WORKS);
	is_int(fixture_calls.agent_starts, 4, "e cancels the second run");
	type("e");
	step_agent(AGENT_FAILED);
	ok(sees("boom"), "an error is one line");
	type("e");
	step_agent(AGENT_READY);
	ok(sees("cannot be started"), "an agent that does not start, too");
	type("e");
	step_agent(AGENT_WORKS);
	type("x");
	is_int(fixture_calls.agent_cancels, 2, "x cancels too");
	end();
	is_int(fixture_calls.agent_frees, 6, "leaving ends the process");

	begin(&(struct fixture_options){ .queue = true, .busy = true, .agents = true });
	type("e");
	step_agent(AGENT_WORKS);
	is_int(fixture_calls.agent_starts, 0, "not while the queue measures");
	ok(sees("near runs the model once measuring has ended"), "but then");
	static const struct queue_status idle = { .current = "", .current_what = "", .trouble = "",
		.eta_s = NAN, .idle = true };
	fixture_status = &idle;
	step_agent(AGENT_WORKS);
	fixture_status = NULL;
	is_int(fixture_calls.agent_starts, 1, "the queue is idle: it starts");
	end();
	begin(&(struct fixture_options){ .agents = true, .unbound = true });
	type("Esc e");
	step_agent(AGENT_WORKS);
	is_int(fixture_calls.agent_starts, 0, "not without the model's dimensions");
	end();
}

/* Another plan is selected while the layers are measured again. */
static void test_agent_plan(void)
{
	begin(&(struct fixture_options){ .queue = true, .measured = true, .agents = true });
	type("e");
	step_agent(AGENT_WORKS);
	step_agent(AGENT_ENDED);
	ok(sees("; faster than the bound: measuring"), "both sides are measured again");
	struct session_plan *plan = session->current, other = *plan;
	struct plan another = *plan->plan;
	other.plan = &another;
	session->current = &other;
	step_agent(AGENT_WORKS);
	is_int(fixture_calls.agent_starts, 1, "no second run in another plan");
	ok(sees("near does not run again: another batch or type was selected"), "it says why");
	session->current = plan;
	end();
}

static void test_reality(void)
{
	begin(&(struct fixture_options){ .measured = true, .real = true });
	type("& contradicted Enter");
	ok(sees("5 contradicted") && sees("&contradicted 5/22"), "the filter finds the counted layers");
	type("Esc s s s s s");
	ok(sees("sorted by real time"), "real times are an order");
	is_str(layer_name(), "conv1", "the longest first");
	type("s");
	ok(sees("sorted by model order"), "then the first order again");
	const struct reality *y = session_reality(app.session);
	size_t bytes = app.session->analysis_arena.total;
	type("j j G g Enter Esc / c Esc ? Esc");
	ok(y && session_reality(app.session) == y && app.session->analysis_arena.total == bytes,
		"frames compute nothing of it again");
	double bound = y ? y->bound_ns : NAN;
	type("f");
	y = session_reality(app.session);
	ok(y && y->bound_ns < bound, "another scenario does");
	end();
	begin(&(struct fixture_options){ .measured = true });
	type("s s s s s");
	ok(sees("sorted by model order"), "without an execution there is no such order");
	type("S");
	ok(sees("sorted by operator"), "backwards neither");
	end();
}

static void test_reason_first(void)
{
	const struct queue_status ended = { .idle = true,
		.trouble = "the runner far ended with status 3; last output: no NVIDIA driver found" };
	fixture_status = &ended;
	begin(&(struct fixture_options){ .queue = true });
	ok(sees(" no NVIDIA driver found (the runner far ended with status 3)"), "the reason comes first");
	end();
	fixture_status = NULL;
}

static void test_sweep(void)
{
	begin(&(struct fixture_options){ .queue = true, .measured = true, .sweep = true });
	ok(sees("b measure sweep (4 points)"), "one scenario measured is not the sweep");
	fixture_sweep_open = 3;
	type("b");
	ok(fixture_calls.sweep == 1 && fixture_calls.missing == 0, "b measures the sweep");
	ok(sees("b measure sweep (2/4)"), "its points that lack something");
	fixture_sweep_open = 0;
	session->stale = true;
	app_refresh(&app);
	type("b");
	ok(sees("b all measured"), "all measured when the sweep is");
	end();
	begin(&(struct fixture_options){ .queue = true, .busy = true, .sweep = true });
	fixture_sweep_open = 3;
	type("b");
	fixture_sweep_open = 0;
	ok(sees("sweep 3/4 batch 1 bf16"), "which point is being measured");
	end();
}

/* What a row shows is found by searching and filtering: states by each of their names. */
static void test_shown_is_found(void)
{
	static const char *const terms[] = { "noisy", "shaky", "disturbed", "1x64x112x112", "2.97", "compute",
		"n1c3h224w224" };
	begin(&(struct fixture_options){ .measured = true, .disturbed = true });
	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		char keys[64];
		snprintf(keys, sizeof(keys), "& %s Enter", terms[i]);
		type(keys);
		ok(app_pane(&app)->shown_count > 0 && sees("conv1"), "the filter finds %s", terms[i]);
		type("Esc");
	}
	type("4 & noisy Enter");
	ok(app_pane(&app)->shown_count > 0 && sees(">noisy"), "the problems view has the same state");
	end();
}

static void test_assume(void)
{
	begin(&(struct fixture_options){ .measured = true });
	double before = app.session->analysis->sequential_ns;
	double own = app.session->analysis->layers[0].ns;
	type("=");
	ok(app.stage->prompt.use == &prompt_assume && sees("cost of ") && sees("12us, 2x, 0; empty removes"),
		"= asks for the cost of the selected layer");
	type("m u c h Enter");
	ok(app.stage->prompt.use == &prompt_assume && sees("'much' is not a cost"),
		"what is no cost is refused");
	type("^U 2 x Enter");
	ok(!app.stage->prompt.use && app.session->scenario.assume, "twice as fast");
	near(app.session->analysis->sequential_ns, before - own / 2, 1, "the bound follows at once");
	ok(sees("*1.49 ms") && sees("an assumed cost") && sees("given") && sees("W GIV"),
		"the layer is marked");
	canvas_resize(&app.stage->canvas, 120, 80);
	type("3");
	ok(sees("[x] 1 layer"), "the what-if view counts the layers");
	type("W");
	near(app.session->analysis->sequential_ns, before, 1, "its key switches them off");
	ok(app.session->current->assumed_count == 1, "... and keeps them");
	type("W : a s s u m e Space n o n e = 2 u s Enter");
	ok(sees("no layer none"), "an unknown layer is an error");
	type(": a s s u m e Space c o n v 1 = 2 x Enter");
	ok(sees("the cost of 1 layer is assumed; W flips that"), ":assume takes what --assume takes");
	type("1 =");
	is_str(app.stage->prompt.text, "2x", "the value is there to be changed");
	type("^U Enter");
	ok(!app.session->scenario.assume && app.session->current->assumed_count == 0, "empty removes it");
	near(app.session->analysis->sequential_ns, before, 1, "... from the bound too");
	type("3 =");
	ok(app.stage->prompt.use == &prompt_choice && sees("parallel = "),
		"= in the what-if view types a choice");
	type("a l l Enter");
	ok(sees("is not measured, path, resources or off"), "... of those that there are");
	type("^U p a t h Enter");
	is_int(app.session->scenario.parallel, PARALLEL_PATH, "... and takes it");
	type("w");
	ok(!app.stage->prompt.use && sees("workspace is not available"),
		"what is not available says so");
	type("v");
	ok(!app.stage->prompt.use && sees("libraries is not available"),
		"... before a value is typed");
	type("G");
	while (!sees("> w "))
		type("k");
	type("= 6 4 M Enter");
	ok(app.session->scenario.limited && sees("[x] 64M") && sees("w WORK"), "a typed value");
	type("w");
	ok(!app.session->scenario.limited && sees("[ ] unlimited"), "the row's key switches it off");
	end();
}

static void test_dims(void)
{
	begin(&(struct fixture_options){ .queue = true, .unbound = true });
	type("b");
	ok(fixture_calls.missing == 0 && app.stage->prompt.use == &prompt_form,
		"measuring asks for dimensions first");
	ok(sees("> sequence") && sees("past?[2Jlength") && sees("no value") && sees("3 of 4"),
		"all are in sight, cleaned; the first without a value is selected");
	ok(sees("batch") && sees("1-65536") && sees("data type"), "batch and data type too");
	type("x");
	ok(sees("sequence is a number, 0-2147483647; j k move, q or Esc leaves the form"),
		"a letter is refused at once");
	type("- .");
	is_str(app.stage->prompt.text, "", "and so is what makes no number");
	type("j");
	ok(sees("> past?[2Jlength"), "j moves on");
	type("k k");
	ok(sees("> data type"), "k back");
	type("Down 1 2 8 Tab");
	ok(fixture_calls.bind == 0 && sees("* changed") && sees("> past?[2Jlength"),
		"Tab moves on; nothing is checked before Enter");
	type("9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9");
	type("Enter");
	ok(fixture_calls.bind == 0 && sees("must be "), "a number out of range is refused as a whole");
	type("^U 2 0 0 0 0 0 Enter");
	ok(fixture_calls.bind == 2 && sees("sequence 128: too long"),
		"the session's objection is shown, with a changed dimension");
	ok(sees("> sequence") && sees("200000"), "at that dimension, with the values given");
	type("BackTab BackTab BackTab");
	ok(sees("> past?[2Jlength"), "the form goes round");
	type("5 Up 6 4 Enter");
	ok(!app.stage->prompt.use && fixture_calls.bind == 4 && fixture_calls.value == 5,
		"all have values, bound together");
	static struct dim_binding bound[3] = { { .name = TEXT("batch"), .value = 1 },
		{ .name = TEXT("sequence"), .value = 77 }, { .name = TEXT("wide"), .value = 3 } };
	struct plan *plan = session->current->plan;
	static enum plan_dim_source sources[3] = { [2] = PLAN_DIM_SHAPE };
	plan->bindings = bound;
	plan->binding_sources = sources;
	plan->binding_count = 3;
	int before = fixture_calls.bind;
	app_draw(&app);
	ok(sees("sequence 77 (remembered)"), "the header shows dimensions and where they come from");
	type("d");
	ok(sees("> sequence               77") && sees("remembered"), "the form too");
	type("Enter");
	ok(fixture_calls.bind == before && !app.stage->prompt.use,
		"Enter leaves a value as it is");
	type("d 6 4 Enter");
	is_int(fixture_calls.value, 64, "the first digit replaces the old value");
	type("d Backspace 8 Enter");
	is_int(fixture_calls.value, 78, "after a backspace it is edited");
	type("d 6 4 Esc");
	ok(fixture_calls.value == 78 && !app.stage->prompt.use, "Esc changes nothing");
	type("d 6 4 q");
	ok(fixture_calls.value == 78 && !app.stage->prompt.use && !app.stage->quit,
		"q leaves the form only");
	type("d Tab 9");
	ok(sees("wide is fixed: --input sets it") && sees("--input       fixed"), "what is fixed says so");
	end();
}

static void test_form_batch(void)
{
	begin(&(struct fixture_options){ .queue = true });
	int before = fixture_calls.select;
	type("d");
	ok(sees("> batch") && sees("1 of 2"), "a model without symbols has two fields");
	type("0 Enter");
	ok(sees("batch must be 1-65536"), "no batch of nothing");
	type("^U 9 9 9 9 9 Enter");
	ok(sees("batch must be 1-65536") && sees("99999"), "nor one too large, of which no digit is dropped");
	type("^U 4 Tab Right");
	ok(sees("> data type              bf16"), "Right takes the next type");
	type("^U i n t Enter");
	ok(sees("int is not a type to run a model in"), "another word is no type");
	type("^U f 1 6 Enter");
	ok(fixture_calls.select == before + 1 && fixture_calls.batch == 4 && fixture_calls.dtype == DTYPE_F16,
		"both are applied at once");
	type("d ^U 9 Enter");
	ok(sees("Reshape flatten has the batch") && sees("> batch") && app.stage->prompt.use == &prompt_form,
		"what the model rejects is said, and the form stays");
	type("Esc");
	end();
}

/* An error stands at the field that it is about, not at the first whose name occurs in it. */
static void test_form_error(void)
{
	static struct dim_binding dims[] = { { TEXT("seq"), 8 }, { TEXT("past_seq"), 16 },
		{ TEXT("total_seq"), 24 }, { TEXT("past_seq + 1"), 17 }, { TEXT("conv"), 5 } };
	static const enum plan_dim_source sources[5] = { PLAN_DIM_BINDING, PLAN_DIM_BINDING, PLAN_DIM_BINDING,
		PLAN_DIM_BINDING, PLAN_DIM_BINDING };
	static const struct {
		const char *says, *field;
	} cases[] = { { "dimension past_seq: 7 is out of range 0..100", "past_seq " },
		{ "dimension past_seq + 1: 3 is out of range 0..100", "past_seq + 1" },
		{ "dimension seq: 9 is out of range 0..100", "seq" },
		{ "with conv=4, past_seq=7, seq=9, total_seq=30: layer conv: 7 and 9 do not broadcast",
			"total_seq" },
		{ "layer seq/past_seq/conv: at batch 3, axis 0", "batch" },
		{ "layer myconv 4: past_seq is 7 here", "past_seq " },
		{ "layer x: this model cannot run at conv 4", "conv" } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(&(struct fixture_options){ .measured = true });
		struct plan *p = session->current->plan;
		p->bindings = dims;
		p->binding_sources = (enum plan_dim_source *)sources;
		p->binding_count = 5;
		fixture_refusal = cases[i].says;
		type("d g");
		type("Up Up ^U 3 Down Down ^U 9 Down ^U 7 Down ^U 3 0 Down ^U 3 Down ^U 4 Enter");
		char shown[40];
		snprintf(shown, sizeof(shown), "> %s", cases[i].field);
		ok(sees(shown) && sees("* changed"), "%s: %s", shown, cases[i].says);
		fixture_refusal = NULL;
		type("Esc");
		end();
	}
}

static void test_short_names(void)
{
	static const char *const cases[][3] = {
		{ "/layer1/layer1.0/conv1/Conv", "Conv", "layer1.0/conv1" },
		{ "/inception3a/branch2/branch2.0/conv/Conv", "Conv", "inception3a/branch2.0/conv" },
		{ "/layer1/layer1.0/relu_1/Relu", "Relu", "layer1.0/relu_1" },
		{ "/layer1/layer1.0/Add_12", "Add", "layer1.0" },
		{ "/encoder/Conv2/Conv", "Conv", "encoder/Conv2" },
		{ "Conv_3", "Conv", "Conv_3" },
		{ "/Conv", "Conv", "Conv" },
		{ "conv1", "Conv", "conv1" },
		{ "//a//b/", "Conv", "a/b" },
		{ "/", "Conv", "/" },
		{ "", "", "" },
		{ "/x/y\033[1m/Relu", "Relu", "x/y?[1m" },
	};
	begin(&(struct fixture_options){ .measured = true });
	static const char *const alike[][2] = {
		{ "/layer1/layer1.0/relu/Relu", "layer1.0/relu" },
		{ "/layer1/layer1.0/relu/Relu_1", "layer1.0/relu_1" },
		{ "/layer1/layer1.0/relu/Relu_2", "layer1.0/relu_2" },
		{ "/model.22/Relu", "model.22/Relu" },
		{ "/model.22/Relu_1", "model.22/Relu_1" },
		{ "/model.23/Relu_1", "model.23" },
		{ "relu/Relu", "relu" },
	};
	struct plan *plan = session->current->plan;
	struct plan_layer *relus[8];
	size_t count = 0;
	for (int i = 0; i < plan->layer_count && count < 7; i++)
		if (text_is(plan->layers[i].node->op, "Relu"))
			relus[count++] = &plan->layers[i];
	for (size_t i = 0; i < count; i++)
		relus[i]->name = text_of(alike[i][0]);
	app_names_renew(&app);
	for (size_t i = 0; i < count; i++)
		is_str(app_name_short(&app, relus[i]), alike[i][1], "%s", alike[i][0]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct node n = { .op = text_of(cases[i][1]) };
		struct plan_layer l = { .name = text_of(cases[i][0]), .node = &n };
		is_str(app_name_short(&app, &l), cases[i][2], "%s", cases[i][2]);
	}
	end();
}

/* ---- what runs in layers */

static const char *name_now(void)
{
	return app_clean(&app, app_layer(&app, app.layer)->name);
}

static void test_unfolding(void)
{
	begin(&(struct fixture_options){ .measured = true, .control = true });
	int closed = app.listed_count;
	type("/ steps Enter Right");
	is_int(app.listed_count, closed + 4, "Right lists what runs in a loop");
	is_str(name_now(), "steps", "the loop stays selected");
	ok(sees("12x step.relu1") && sees("72.6%"), "its layers cost what they cost in all rounds");
	ok(!sees("slow.conv"), "a layer that is closed shows nothing");
	type("j j");
	is_str(name_now(), "step.relu0", "its layers are rows");
	ok(sees("step.relu0  = ") || sees("runs 12 times, each"), "how often is said");
	type("Left");
	is_str(name_now(), "steps", "Left goes back to the layer they run in");
	is_int(app.listed_count, closed, "and closes it");
	type("Left");
	is_int(app.listed_count, closed, "again: nothing more");
	type("Right Right");
	ok(sees("[2] Detail"), "Right on an open one opens details");
	type("Left j j Right Left");
	is_str(name_now(), "step.relu0", "details of a layer in it, and back");
	type("*");
	is_int(app.listed_count, closed + 4 + 3 + 1 + 3, "all: what does not run is not listed");
	type("s");
	is_str(name_now(), "steps", "sorted with the others");
	is_int(app_pane(&app)->shown_count, app.listed_count, "none is lost");
	type("j");
	is_str(name_now(), "step.conv", "by what all rounds cost");
	type("S / refine Enter");
	is_str(name_now(), "refine.conv", "found with the others");
	type("*");
	is_str(name_now(), "maybe", "closed, the layer around it is selected");
	is_int(app.listed_count, closed, "none is open");
	type("g Right");
	ok(sees("[2] Detail"), "Right on another layer opens its details");
	end();
}

static void test_inside(void)
{
	begin(&(struct fixture_options){ .measured = true, .control = true, .queue = true });
	type("/ choose Enter Enter");
	ok(strstr(screen(), "then_branch: runs once") < strstr(screen(), "else_branch: does not run"),
		"what runs is first");
	ok(sees("else_branch: does not run, 6 layers"), "what does not is one line");
	ok(!sees("slow."), "without its layers");
	type("/ quick.conv Enter Enter");
	is_str(name_now(), "quick.conv", "a line leads to the layer");
	ok(sees("in       then_branch of choose") && sees("Algorithms"), "which has details like any other");
	type(">");
	is_str(name_now(), "quick.relu0", "the next layer is the body's next");
	type("> > > >");
	is_str(name_now(), "Identity", "and there it ends");
	type("< <");
	is_str(name_now(), "quick.conv", "back again");
	type("B");
	is_int(fixture_calls.problem, 1, "its problem can be measured");
	type("Backspace");
	is_str(name_now(), "choose", "back to where the line was");
	type("Esc");
	ok(sees("[1] Layers"), "and to the list");
	type("B");
	is_int(fixture_calls.problem, 3, "a layer's problems are those in it");
	type("4 / eltwise Enter Enter");
	is_str(name_now(), "last", "a problem leads to the model's own layer");
	type("Esc k Enter");
	is_str(name_now(), "step.conv", "or to the first that runs in one");
	type("1");
	is_str(name_now(), "steps", "which the list shows as the layer around it");
	type("/ maybe Enter");
	ok(sees("~free") && sees("part") && sees("at least"), "free is only the least of an unknown choice");
	ok(sees("branch/loop count unknown"), "and that is why the bound is no more");
	end();
}

static void row_of_screen(int row, char *out, size_t size)
{
	const char *p = screen();
	while (row-- > 0)
		p = strchr(p, '\n') + 1;
	snprintf(out, size, "%.*s", (int)strcspn(p, "\n"), p);
}

/* Ellipses behind a number in a row of the list. */
static int cut_numbers(int y)
{
	const struct cell *row = &app.stage->canvas.cells[y * app.stage->canvas.width];
	int count = 0;
	for (int x = 2; x < app_list_width(&app); x++) {
		uint32_t before = row[x - 1].code == ' ' ? row[x - 2].code : row[x - 1].code;
		count += row[x].code == 0x2026 && ((before >= '0' && before <= '9') || before == '.');
	}
	return count;
}

/* Is every "?N" of the toggle line a number of problems, whole? */
static bool toggles_whole(const char *line)
{
	char wanted[16];
	for (const char *p = line; (p = strchr(p, '?')); p++) {
		bool known = false;
		for (int i = 0; i < session->effect_count; i++) {
			snprintf(wanted, sizeof(wanted), "?%d", session->effects[i].unmeasured_problems);
			known |= strlen(wanted) == strcspn(p, " ") && strncmp(p, wanted, strlen(wanted)) == 0;
		}
		if (!known)
			return false;
	}
	return true;
}

/* Every figure of the devices is whole or not there, at any width. */
static void test_devices_widths(void)
{
	int cut = 0, lost = 0;
	begin(&(struct fixture_options){ .described = true });
	type("D");
	for (int width = 40; width <= 200; width++) {
		canvas_resize(&app.stage->canvas, width, 40);
		app_draw(&app);
		for (int y = 0; y < 40; y++)
			cut += cut_numbers(y);
		lost += (width >= 46 && !sees("3.35 TB/s")) || (width >= 60 && !sees("989 TFLOP/s")) ||
			(width >= 80 && !sees("66.9 TFLOP/s")) || !sees("NVIDIA H100");
	}
	is_int(cut, 0, "no figure is cut");
	is_int(lost, 0, "bandwidth goes last, the model is there at any width");
	end();
}

static void test_widths(void)
{
	static const struct fixture_options models[] = { { .queue = true }, { .measured = true },
		{ .measured = true, .proxies = true }, { .queue = true, .unsupported = true } };
	int cut = 0, unitless = 0, bare = 0, mute = 0, poorer = 0;
	char line[4096];
	for (size_t m = 0; m < sizeof(models) / sizeof(*models); m++) {
		begin(&models[m]);
		for (int i = 0; i < session->effect_count && m == 0; i++)
			session->effects[i].unmeasured_problems = 100 + i; /* three digits each */
		for (int width = 40; width <= 200; width++) {
			canvas_resize(&app.stage->canvas, width, 24);
			app_draw(&app);
			row_of_screen(3, line, sizeof(line));
			cut += !toggles_whole(line) || strlen(line) == 0;
			row_of_screen(2, line, sizeof(line));
			mute += strncmp(line, " trust ", 7) != 0 || !strpbrk(line + 7, ":");
			row_of_screen(1, line, sizeof(line));
			bare += strstr(line, "bound ") == NULL || !strpbrk(line + 7, "0123456789");
			for (int y = 5; y < 20; y++)
				unitless += cut_numbers(y);
			if (width >= 80 && m == 1) {
				row_of_screen(5, line, sizeof(line));
				poorer += !strstr(line, "1x64x112x112") || !strstr(line, "\u2587") ||
					  !strstr(line, "%") || !strstr(line, "2.97 ms");
			}
		}
		end();
	}
	is_int(cut, 0, "no number of the toggle line is cut");
	is_int(unitless, 0, "no cost loses its unit");
	is_int(bare, 0, "the bound's line says how much is known");
	is_int(mute, 0, "the line below has a verdict and a reason at any width");
	is_int(poorer, 0, "a wider screen shows what 80 columns show");
}

static void test_words(void)
{
	begin(&(struct fixture_options){ .queue = true, .unsupported = true });
	ok(!sees("at least") && sees("n/a"), "what is unsupported is not \"not measured\"");
	ok(!sees("~0") && !sees("bound not known yet, "), "nobody's gain is no zero");
	type("j j");
	ok(sees("the library does not support it"), "nor does b help");
	end();
	begin(&(struct fixture_options){ .queue = true });
	ok(sees("b measure ") && sees("b measures them"), "something to measure");
	ok(sees("at least 15.9 ms   parallel at least"), "both totals are lower bounds");
	ok(sees("~18.7%"), "shares of a part are marked");
	session->seat->device.stack = "oneDNN 2.6.3 (OpenMP, avx2), 2 threads bound one a core, strict";
	app_draw(&app);
	ok(sees("EPYC 7B13, 2 threads, oneDNN 2.6.3  [1] Layers"), "a stack is cut between its parts");
	type("m");
	ok(sees("matrix is not available: no problem here can run on matrix units") &&
			!session->scenario.matrix,
		"a what-if that is not available is refused with the reason");
	type("x");
	ok(sees("nothing is being measured"), "nothing to stop");
	end();
	begin(&(struct fixture_options){ .queue = true, .busy = true });
	type("/ fc Enter");
	ok(sees("it is being measured"), "the layer that is running");
	type("/ tanh Enter");
	ok(sees("queue 2"), "one that waits");
	end();
}

static void test_footer(void)
{
	struct queue_status status = { .current = "", .current_what = "", .trouble = "", .eta_s = NAN,
		.idle = true, .done = 216, .unsupported = 107, .batch_done = 109, .batch_unsupported = 107 };
	fixture_status = &status;
	begin(&(struct fixture_options){ .queue = true });
	ok(sees("not measured yet: b measures them"), "what is missing comes first");
	ok(sees("109 measured, 107"), "then the last batch");
	status.trouble = "the runner died";
	app_draw(&app);
	ok(sees("the runner died"), "trouble is shown");
	status.trouble_past = true;
	app_draw(&app);
	ok(!sees("the runner died"), "and not for ever");
	status = (struct queue_status){ .current = "eltwise:f32,f32:relu:9x9",
		.current_what = "",
		.trouble = "",
		.eta_s = NAN,
		.pending = 9,
		.running = 1,
		.done = 300,
		.batch_done = 10,
		.silence_s = 7 };
	app_draw(&app);
	ok(sees("measuring 10/20"), "a second batch starts at its start");
	ok(sees("no answer for 7 s"), "a silent runner");
	status.workers = 3;
	status.workers_up = 2;
	status.current = NULL;
	app_draw(&app);
	ok(sees("10/20 problems  2 of 3 runners  gpu7 #1 "), "several runners, and what each is at");
	status.workers = 1;
	status.starting = true;
	status.waiting = "srun: job 12 queued and waiting for resources";
	status.waiting_s = 133;
	app_draw(&app);
	ok(sees("10/20 problems  waiting 2:13  srun: job 12 "), "a place in a cluster's queue");
	status.idle = true;
	app_draw(&app);
	ok(sees("the runner is waiting 2:13  srun: job 12 queued"), "also when nothing is asked for yet");
	status.idle = status.starting = false;
	status.waiting = "";
	status.current = "eltwise:f32,f32:relu:9x9";
	status.silence_s = 0;
	app_draw(&app);
	ok(sees("(other scenario)") && !sees("no answer"), "another plan's problem");
	status = (struct queue_status){
		.current = "", .current_what = "", .trouble = "", .eta_s = NAN, .idle = true
	};
	snprintf(app.stage->standing, sizeof(app.stage->standing), "%s",
		"the runner /usr/local/libexec/benanza/benanza-runner-cpu is not there: install it, or name "
		"another with -d NAME");
	app_draw(&app);
	ok(sees("-d NAME"), "long trouble takes two rows");
	type("j");
	ok(sees("-d NAME"), "and stays");
	fixture_status = NULL;
	end();
}

static void test_too_small(void)
{
	begin(&(struct fixture_options){ .queue = true });
	type("/ a");
	canvas_resize(&app.stage->canvas, 30, 8);
	app_draw(&app);
	type("j");
	is_str(app.stage->prompt.text, "a", "what cannot be seen is not typed into");
	type("q");
	ok(app.stage->quit, "q quits, as is said");
	end();
}

/* Every key in every view, at sizes good and bad: nothing crashes, nothing dirty is drawn. */
static void any_keys(const struct fixture_options *o)
{
	static const int sizes[][2] = { { 80, 24 }, { 120, 40 }, { 40, 10 }, { 41, 11 }, { 1, 1 },
		{ 300, 12 }, { 66, 17 } };
	int count, dirty = 0;
	const struct key_row *rows = keys_table(&count);
	begin(o);
	uint32_t seed = 7;
	for (int i = 0; i < 4000; i++) {
		seed = seed * 1664525 + 1013904223;
		const struct key_row *row = &rows[(seed >> 8) % (uint32_t)count];
		char name[16];
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(row->keys, " "), row->keys);
		struct key_pair keys = keys_parse(text_of(name));
		typed_key(&app, keys.first, 100 * i);
		if (keys.second)
			typed_key(&app, keys.second, 100 * i + 1);
		typed_expire(&app, 100 * i + (int)(seed % 1000));
		if (i % 50 == 0)
			canvas_resize(&app.stage->canvas, sizes[i / 50 % 7][0], sizes[i / 50 % 7][1]);
		if (i % 7 == 0)
			typed_key(&app, seed >> 24, 100 * i + 2);
		app.stage->quit = false;
		app_refresh(&app);
		app_draw(&app);
		if (i % 100 == 0)
			for (const char *p = screen(); *p; p++)
				dirty += (unsigned char)*p < 0x20 && *p != '\n';
	}
	is_int(dirty, 0, "4000 keys");
	end();
}

static void test_any_key(void)
{
	any_keys(&(struct fixture_options){ .queue = true, .busy = true });
	any_keys(&(struct fixture_options){ .measured = true, .control = true });
}

/* A frame of a long model costs its rows, not its layers: work is counted in bytes of scratch memory. */
static void test_large(void)
{
	begin(&(struct fixture_options){ .chain = 10000 });
	is_int(app_pane(&app)->shown_count, 10000, "10,000 layers");
	app_draw(&app);
	size_t first = app.scratch.total;
	type("G");
	is_str(layer_name(), "chain.9999", "the last");
	app_draw(&app);
	size_t drawn = app.scratch.total;
	app_key(&app, '&');
	app_key(&app, 'c');
	ok(app_pane(&app)->shown_count == 10000 && app.scratch.total < drawn + 100000,
		"a filter by name needs %zu bytes", app.scratch.total);
	type("Esc");
	app_draw(&app);
	ok(first < 100000 && app.scratch.total < 100000, "a frame needs %zu bytes", app.scratch.total);
	end();
}

/* A header of many dimensions costs what it shows. */
static void test_many_dims(void)
{
	enum { MANY = 8000 };
	static struct text names[MANY];
	static struct dim_binding bound[MANY];
	static enum plan_dim_source sources[MANY];
	static char text[MANY][16];
	begin(&(struct fixture_options){ .measured = true });
	for (int i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), "s%d", i);
		names[i] = text_of(text[i]);
		bound[i] = (struct dim_binding){ .name = names[i], .value = i };
	}
	struct plan *plan = session->current->plan;
	plan->unbound = names;
	plan->unbound_count = MANY;
	app_draw(&app);
	ok(sees("s0 ?, s1 ?, s2 ?"), "dimensions without a value");
	ok(app.scratch.total < 100000, "%d need %zu bytes", MANY, app.scratch.total);
	plan->unbound_count = 0;
	plan->bindings = bound;
	plan->binding_sources = sources;
	plan->binding_count = MANY;
	app_draw(&app);
	ok(sees("s0 0, s1 1, s2 2") && !sees("(remembered)"),
		"dimensions with a value; sources would not fit");
	ok(app.scratch.total < 100000, "%d need %zu bytes", MANY, app.scratch.total);
	plan->binding_count = 0;
	end();
}

/* Algorithms of one name have a row each, with what tells them apart. */
static void test_same_names(void)
{
	static const char *const layouts[] = { "src=nhwc dst=nhwc", "src=nChw16c dst=nChw16c",
		"src=nchw dst=nhwc" };
	static const char *const maths[] = { "strict", "tf32" };
	begin(&(struct fixture_options){ .measured = true });
	struct result one = **results_of(session->seat->results, app_problem(&app, app.layer), &(int){ 0 });
	one.algorithm.name = "twins";
	one.algorithm.api = "cuDNN";
	one.algorithm.rank = 7;
	for (int i = 0; i < 2; i++) {
		one.algorithm.math = maths[i];
		results_add(session->seat->results, &one);
	}
	one.algorithm.name = "layout";
	for (int i = 0; i < 3; i++) {
		one.algorithm.layouts = layouts[i];
		results_add(session->seat->results, &one);
	}
	app.generation++;
	type("Enter PgDn");
	ok(sees("twins strict") && sees("twins tf32"), "strict and tf32 are two rows");
	ok(sees("layout nhwc ") && sees("layout nChw16c ") && sees("layout nchw nhwc "),
		"layouts are in the row");
	ok(!sees("brgconv:avx512_core nChw16c "), "a unique name is enough");
	end();
}

/* ---- what comes back ---- */

static void test_keep(void)
{
	begin(&(struct fixture_options){ .measured = true, .control = true });
	type("4 s s I 1 / steps Enter Right & s t e p Enter f p j");
	struct scenario with = app.session->scenario;
	int layer = app.layer, order = app.stage->panes[views_number(&view_problems)].order;
	json_t *state = keep_state(&app);
	end();
	begin(&(struct fixture_options){ .measured = true, .control = true });
	keep_restore(&app, state, true, true);
	app_draw(&app);
	char before[SCENARIO_TEXT_SIZE], after[SCENARIO_TEXT_SIZE];
	scenario_text(&with, before, sizeof(before));
	scenario_text(&app.session->scenario, after, sizeof(after));
	is_int(app.layer, layer, "the selected layer comes back");
	ok(app.places[layer].owner >= 0 && app.unfolded[app.places[layer].owner], "and what is open");
	ok(strcmp(before, after) == 0 && strstr(before, "parallel"), "the what-ifs");
	is_str(app_pane(&app)->filter, "step", "the filter");
	ok(app_pane(&app)->shown_count < app_pane(&app)->row_count && sees("&step "),
		"in force and in sight");
	type("4");
	ok(order > 0 && app_pane(&app)->order == order && app_pane(&app)->reverse, "another view's order");
	end();
	begin(&(struct fixture_options){ .measured = true, .control = true });
	json_object_set_new(state, "view", json_string("problems"));
	keep_restore(&app, state, false, true);
	ok(!app.session->scenario.parallel, "what-ifs of options stay");
	ok(app_pane(&app)->view == &view_problems, "the view comes back");
	end();
	begin(&(struct fixture_options){ .measured = true });
	type(": b e s i d e Space h 1 0 0 Enter : b e s i d e Space H 2 0 0 Enter");
	type("| | j V");
	typed_word(&app, text_of("\"q"));
	type("/ layer1.0.conv2 Enter");
	typed_word(&app, text_of("zc"));
	int closed = app.scopes.closed;
	json_t *folded = keep_state(&app);
	end();
	begin(&(struct fixture_options){ .measured = true });
	keep_restore(&app, folded, true, true);
	app_draw(&app);
	ok(closed == 1 && app.scopes.closed == 1 && sees("\u25b8 layer1.0"), "a closed scope comes back");
	ok(app.picked_count == 1 && app.picked[2], "layers marked by V");
	is_int(app.stage->marks['q' - 'a'], 1 + 3, "marks set by \"");
	ok(sees("flops") && sees("bytes"), "further columns");
	ok(app.beside.count == 2 && strcmp(app.beside.list[0].key, "h100") == 0 &&
		app.beside.list[1].kind == SESSION_RECORDED && *app.beside.list[1].path, "marked devices");
	app_beside_clear(&app);
	json_object_del(folded, "devices");
	keep_restore(&app, folded, true, true);
	is_int(app.beside.count, 0, "a state of before has none");
	json_object_set_new(folded, "places", json_integer(3));
	json_object_set_new(folded, "closed", json_true());
	end();
	begin(&(struct fixture_options){ .measured = true });
	keep_restore(&app, folded, true, true);
	app_draw(&app);
	ok(app.picked_count == 0 && !app.stage->marks['q' - 'a'], "marks of another model do not");
	is_int(app.scopes.closed, app.scopes.count, "all scopes closed, in one word");
	json_decref(folded);
	end();
	static const char *const hostile[] = { "{}",
		"{\"picked\":[-1,\"x\",7e9],\"marks\":{\"a\":-7,\"b\":\"c\"},"
		"\"closed\":[1,{}],"
		"\"views\":{\"layers\":{\"own\":{\"columns\":[2]}},\"map\":{\"own\":7}}}",
		"{\"devices\":[7,{},{\"kind\":9},{\"kind\":2,\"key\":[]},"
		"{\"kind\":2,\"key\":\"gone\"}]}",
		"{\"devices\":\"h100\",\"version\":1,\"layer\":99999999,\"name\":7}",
		"{\"layer\":-5,\"name\":\"steps\",\"places\":-1,\"unfolded\":[1,2,3]}",
		"{\"views\":[],\"view\":{},\"what_if\":[1],\"unfolded\":7}",
		"{\"views\":{\"layers\":{\"sort\":7,\"filter\":[1]},"
		"\"help\":{\"sort\":\"cost\",\"filter\":\"x\"}}}",
		"{\"what_if\":\"warp=9,fusion\",\"view\":\"no such view\"}" };
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		begin(&(struct fixture_options){ .measured = true });
		json_t *bad = json_loads(hostile[i], 0, NULL);
		keep_restore(&app, bad, true, true);
		app_draw(&app);
		type("j ? 1");
		ok(app.layer >= 0 && !app.session->scenario.fusion && !app.beside.count,
			"what does not fit is left out: %s", hostile[i]);
		json_decref(bad);
		end();
	}
	begin(&(struct fixture_options){ .measured = true });
	json_t *many = json_loads("{\"unfolded\":[-1,0,1,5,99999999,\"x\",3.5]}", 0, NULL);
	json_object_set_new(many, "places", json_integer(app.place_count));
	keep_restore(&app, many, true, true);
	ok(!app.unfolded[0] && !app.unfolded[5], "only layers that have others inside are opened");
	json_decref(many);
	json_decref(state);
	end();
}

/* ---- another model ---- */

static void test_models(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type("j j O");
	ok(sees("[O] Models"), "a list of models");
	type("o x Backspace b a d . o n n x Enter");
	ok(sees("bad.onnx: not an ONNX model") && app.stage->prompt.use == &prompt_path,
		"what cannot be opened is said, and can be mended");
	is_str(fixture_calls.opened, "bad.onnx", "was tried");
	is_str(layer_name(), "relu", "the present model stays");
	type("^U / n o w h e r e / Tab");
	ok(sees("no directory or .onnx file begins with this text"), "nothing to complete");
	type("^U . . / t e s t s / m o d e l s / t i n y . o Tab");
	if (strstr(app.stage->prompt.text, "../tests/models/tiny.onnx"))
		ok(true, "Tab completes");
	else
		ok(access("../tests/models/tiny.onnx", R_OK) != 0, "Tab completes %s",
			app.stage->prompt.text);
	type("^U ~ / x . o n n x Enter");
	const char *home = getenv("HOME");
	ok(strstr(fixture_calls.opened, "/x.onnx") && home && strncmp(fixture_calls.opened, home, 4) == 0,
		"~ is the home directory");
	ok(!app.stage->prompt.use && sees("[1] Layers"),
		"another model begins with its layers");
	is_int(app.layer, app.listed[0], "at the first");
	type("O o Esc");
	ok(!app.stage->prompt.use && sees("[O] Models"), "Esc leaves the prompt");
	end();
}

/* ---- questions ---- */

static void test_questions(void)
{
	begin(&(struct fixture_options){ .queue = true, .busy = true });
	type("q");
	ok(!app.stage->quit && sees("measuring: leave? finished results are kept; y/n"),
		"q asks while measuring");
	type("n");
	ok(!app.stage->quit && !app.stage->prompt.use, "n stays");
	type("q j");
	ok(!app.stage->quit && !app.stage->prompt.use && app.layer == app.listed[1],
		"another key does its work");
	type("q q");
	ok(app.stage->quit, "q again leaves");
	end();
	begin(&(struct fixture_options){ .queue = true });
	app.stage->prompt.use = &prompt_measure;
	app_draw(&app);
	ok(sees("problems have no result: measure now, ~") && sees("y/n/a(lways)"), "a miss asks");
	type("n");
	ok(!fixture_calls.missing && !app.stage->prompt.use, "n measures nothing");
	app.stage->prompt.use = &prompt_measure;
	type("y");
	ok(fixture_calls.missing == 1 && !app.frame->always, "y measures");
	app.stage->prompt.use = &prompt_measure;
	type("a");
	ok(fixture_calls.missing == 2 && app.frame->always && sees("set measure: always"),
		"a does so from now on");
	ok(!question_measure(&app), "what has results is not asked for");
	type("q");
	ok(app.stage->quit, "q leaves at once while nothing is measured");
	end();
}

static void test_frame_unbound(void)
{
	struct error err = ERROR_NONE;
	char *text = NULL;
	size_t n;
	session = fixture_open(&(struct fixture_options){ .unbound = true, .nothing = true });
	FILE *f = open_memstream(&text, &n);
	is_int(app_frame(session, 80, 24, NULL, "", false, false, f, &err), 0,
		"a frame of a model with free dimensions");
	fclose(f);
	ok(strstr(text, "bound unknown: d sets 2 dimensions") && !strstr(text, "> sequence"),
		"says how they are set, as the live screen does");
	ok(strstr(text, "have no value: d sets them") != NULL, "and which");
	free(text);
	fixture_close(session);
}

/* Columns that the details do not need go to names that are cut. */
static void test_name_columns(void)
{
	begin(&(struct fixture_options){ .measured = true });
	canvas_resize(&app.stage->canvas, 140, 40);
	int narrow = app_list_width(&app);
	app.name_columns = 40;
	ok(app_list_width(&app) > narrow && app_list_width(&app) <= 140 - APP_PANE_COLUMNS - 1,
		"long names widen the list");
	end();
}

static void test_frame(void)
{
	struct error err = ERROR_NONE;
	int columns, rows;
	session = fixture_open(&(struct fixture_options){ .measured = true });
	is_int(app_frame(session, 80, 24, "nonsense", "", false, false, stdout, &err), -1, "no such view");
	ok(strstr(err.text, "what-if, problems, devices, models, doctor, advice, ") != NULL,
		"the error names the views");
	ok(views_find("details") == &view_detail && views_find("what") == &view_what_if &&
			views_find("device") == &view_devices,
		"a view by another form of its name");
	ok(!views_find("d") && !views_find("") && !views_find("lists"),
		"but not by one that fits several or none");
	is_int(app_frame(session, 0, 24, NULL, "", false, false, stdout, &err), -1, "no such size");
	is_int(app_parse_size("120x40", &columns, &rows, &err), 0, "a size");
	is_int(columns * rows, 4800, "read");
	is_int(app_parse_size("120x", &columns, &rows, &err), -1, "no rows");
	is_int(app_parse_size("120x40x2", &columns, &rows, &err), -1, "too many");
	is_int(app_parse_size("0x40", &columns, &rows, &err), -1, "nothing");
	is_int(app_parse_size("99999x40", &columns, &rows, &err), -1, "too much");
	is_int(app_frame(session, 80, 24, NULL, "j Dwon", false, false, stdout, &err), -1, "no such key");
	ok(strstr(err.text, "unknown key \"Dwon\"") != NULL, "the error names the word");
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	is_int(app_frame(session, 80, 24, NULL, "/ text:Down Enter", false, false, f, &err), 0, "a text");
	fclose(f);
	ok(strstr(text, "layer1.0.downsample  434 us") != NULL, "is typed though it names a key");
	free(text);
	fixture_close(session);
}

int main(void)
{
	test_moving();
	test_unfolding();
	test_inside();
	test_finding();
	test_find_count();
	test_views();
	test_marked();
	test_selection();
	test_devices();
	test_disturbed();
	test_help_search();
	test_undo();
	test_help_begins();
	test_note_age();
	test_scenarios();
	test_groups();
	test_gains();
	test_target();
	test_no_estimate();
	test_pace();
	test_sweep_view();
	test_sweep_curves();
	test_sweep_scrolls();
	test_algorithms();
	test_prompt();
	test_assume();
	test_what_ifs();
	test_advice();
	test_measuring();
	test_agent();
	test_agent_plan();
	test_reality();
	test_dims();
	test_form_batch();
	test_form_error();
	test_keep();
	test_models();
	test_questions();
	test_sweep();
	test_reason_first();
	test_shown_is_found();
	test_short_names();
	test_widths();
	test_devices_widths();
	test_words();
	test_footer();
	test_too_small();
	test_any_key();
	test_large();
	test_many_dims();
	test_same_names();
	test_frame_unbound();
	test_name_columns();
	test_frame();
	return done_testing();
}
