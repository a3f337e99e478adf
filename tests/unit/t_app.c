/* The explorer: tests/screens/app.keys, what no screen shows, and any key in any view at any size. */
#include "config.h"

#include "session/session_agent.h"
#include "session/session_private.h"
#include "ui/model/agent.h"
#include "ui/model/beside.h"
#include "ui/model/private.h"

#include "keys_cases.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void begin(const struct fixture_options *o)
{
	begin_at(o, 80, 24);
}

static const char *layer_name(void)
{
	return app_clean(&app, app_plan(&app)->layers[app.layer].name);
}

/* A count far above the number of matches costs no more than going round twice. */
static void test_find_count(void)
{
	const struct key_row next = { "n", REQUEST_FIND_NEXT, 0, KEYS_FIND, "", .counts = true };
	begin(&(struct fixture_options){ .chain = 10000 });
	type_keys("/ chain.99 Enter");
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

/* Sorted by cost: unknown last; all orders lead back to the model's. */
static void test_sorted(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type_keys("g s");
	double last = INFINITY;
	bool falling = true;
	for (int i = 0; i < app_pane(&app)->shown_count; i++) {
		double ns = session->analysis->layers[app.listed[app_pane(&app)->shown[i]]].ns;
		falling &= isnan(ns) || ns <= last;
		last = isnan(ns) ? -1 : ns;
	}
	ok(falling, "by cost, unknown last");
	type_keys("I g");
	ok(isnan(session->analysis->layers[app.listed[app_pane(&app)->shown[0]]].ns), "reversed");
	type_keys("s s s s");
	is_int(app_pane(&app)->shown[0], 0, "all orders lead back to the model's");
	end();
}

static void test_help_search(void)
{
	begin(&(struct fixture_options){ .measured = true });
	struct pane *p = (type_keys("?"), app_pane(&app));
	type_keys("/ layer Enter");
	int matches[64], count = 0;
	do {
		matches[count++] = p->cursor;
		type_keys("n");
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
	type_keys("j");
	ok(!p->marked && p->top == top + 1, "scrolling goes on from there");
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
	type_keys("j Enter");
	ok(app.session->scenario.fusion == FUSION_ALL && app.session->scenario.parallel == PARALLEL_RESOURCES,
		"Enter takes the what-ifs");
	ok(app.session->analysis->total_ns < before, "at once");
	ok(sees("scenario fused"), "and says so");
	type_keys("j Enter");
	is_int(fixture_calls.batch, 8, "or the batch");
	ok(app.session->scenario.fusion == FUSION_OFF && app.session->scenario.matrix,
		"what-ifs that it does not name are as at the start");
	type_keys("j Enter");
	is_str(fixture_calls.chosen, "h100", "or the device");
	type_keys("j Enter");
	ok(sees("wrong: unknown what-if 'telepathy'"), "a wrong one is refused");
	type_keys("s");
	ok(sees("save the present scenario as"), "a name is asked for");
	for (const char *p = "fused"; *p; p++)
		app_key(&app, (uint32_t)*p);
	type_keys("Enter");
	ok(sees("fused is a scenario of") && app.stage->prompt.use, "one of the user's file is kept");
	app_key(&app, 'U' & 31);
	for (const char *p = "fusion"; *p; p++)
		app_key(&app, (uint32_t)*p);
	type_keys("Enter");
	ok(sees("is the name of a what-if"), "nor a name of a what-if");
	app_key(&app, 'U' & 31);
	for (const char *p = "mine"; *p; p++)
		app_key(&app, (uint32_t)*p);
	type_keys("Enter");
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

/* Enter on a group selects its costliest layer. */
static void test_costliest(void)
{
	begin(&(struct fixture_options){ .measured = true });
	app_show(&app, &view_groups, -1);
	app_draw(&app);
	type_keys("Right . g Enter");
	double most = app_cost(&app, app.layer)->ns;
	for (int i = 0; i < app_plan(&app)->layer_count; i++)
		if (app_plan(&app)->layers[i].class == app_layer(&app, app.layer)->class)
			ok(!(app_cost(&app, i)->ns > most), "the costliest layer of the row");
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
	type_keys("> > >");
	ok(app.layer != layer && !sees("jit:avx2 "), "those of the next layers");
	end();
	begin(&(struct fixture_options){ .queue = true });
	app_show(&app, &view_algorithms, -1);
	bool none = false, unmeasured = false;
	for (int i = 0; i < 30; i++) {
		type_keys(">");
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
	type_keys("/ exact Enter");
	ok(sees("no estimate: no u8 peak of the device is known: assume a cost"), "the reason: no peak");
	k->matrix_flops[DTYPE_U8] = 1e15;
	type_keys("p");
	ok(sees("no estimate: u8 peak only on matrix units: switch on matrix"), "... and what gives one");
	type_keys("Enter");
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
	type_keys("j");
	ok(app.analyses == analyses && !app_refresh(&app), "a key that moves costs no analysis");
	type_keys("p");
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
	type_keys("j j Enter");
	is_int(fixture_calls.batch, 4, "Enter takes the batch");
	is_int((int)session->current->batch, 4, "at once");
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
		type_keys(ways[i].keys);
		ok(sees("\u252c"), "%s: it is seen", ways[i].keys);
		is_int(pane_row(app_pane(&app)), 5, "the cursor stays in the table");
		type_keys(ways[i].back);
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

static void test_unknown_work(void)
{
	begin(&(struct fixture_options){ .measured = true });
	struct plan *plan = session->current->plan;
	double flops = plan->flops;
	plan->flops = 0;
	plan->unknown_flops_layers = 5;
	session->stale = true;
	type_keys("3 G");
	ok(sees("work       unknown for 5 layers"), "unknown work is not zero");
	plan->flops = flops;
	plan->unknown_flops_layers = 0;
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

/* Another plan is selected while the layers are measured again. */
static void test_agent_plan(void)
{
	begin(&(struct fixture_options){ .queue = true, .measured = true, .agents = true });
	type_keys("e");
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

static void test_reality_kept(void)
{
	begin(&(struct fixture_options){ .measured = true, .real = true });
	const struct reality *y = session_reality(app.session);
	size_t bytes = app.session->analysis_arena.total;
	type_keys("j j G g Enter Esc / c Esc ? Esc");
	ok(y && session_reality(app.session) == y && app.session->analysis_arena.total == bytes,
		"frames compute nothing of it again");
	double bound = y ? y->bound_ns : NAN;
	type_keys("f");
	y = session_reality(app.session);
	ok(y && y->bound_ns < bound, "another scenario does");
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

/* What the header and the form show of dimensions that have values. */
static void test_dims_bound(void)
{
	begin(&(struct fixture_options){ .queue = true, .unbound = true });
	type_keys("b j 5 Up 6 4 Enter");
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
	type_keys("d");
	ok(sees("> sequence               77") && sees("remembered"), "the form too");
	type_keys("Enter");
	ok(fixture_calls.bind == before && !app.stage->prompt.use,
		"Enter leaves a value as it is");
	type_keys("d 6 4 Enter");
	is_int(fixture_calls.value, 64, "the first digit replaces the old value");
	type_keys("d Backspace 8 Enter");
	is_int(fixture_calls.value, 78, "after a backspace it is edited");
	type_keys("d 6 4 Esc");
	ok(fixture_calls.value == 78 && !app.stage->prompt.use, "Esc changes nothing");
	type_keys("d 6 4 q");
	ok(fixture_calls.value == 78 && !app.stage->prompt.use && !app.stage->quit,
		"q leaves the form only");
	type_keys("d Tab 9");
	ok(sees("wide is fixed: --input sets it") && sees("--input       fixed"), "what is fixed says so");
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
		type_keys("d g");
		type_keys("Up Up ^U 3 Down Down ^U 9 Down ^U 7 Down ^U 3 0 Down ^U 3 Down ^U 4 Enter");
		char shown[40];
		snprintf(shown, sizeof(shown), "> %s", cases[i].field);
		ok(sees(shown) && sees("* changed"), "%s: %s", shown, cases[i].says);
		fixture_refusal = NULL;
		type_keys("Esc");
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
	type_keys("D");
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
	type_keys("j");
	ok(sees("-d NAME"), "and stays");
	fixture_status = NULL;
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
	type_keys("G");
	is_str(layer_name(), "chain.9999", "the last");
	app_draw(&app);
	size_t drawn = app.scratch.total;
	app_key(&app, '&');
	app_key(&app, 'c');
	ok(app_pane(&app)->shown_count == 10000 && app.scratch.total < drawn + 100000,
		"a filter by name needs %zu bytes", app.scratch.total);
	type_keys("Esc");
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
	type_keys("Enter PgDn");
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
	type_keys("4 s s I 1 / steps Enter Right & s t e p Enter f p j");
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
	type_keys("4");
	ok(order > 0 && app_pane(&app)->order == order && app_pane(&app)->reverse, "another view's order");
	end();
	begin(&(struct fixture_options){ .measured = true, .control = true });
	json_object_set_new(state, "view", json_string("problems"));
	keep_restore(&app, state, false, true);
	ok(!app.session->scenario.parallel, "what-ifs of options stay");
	ok(app_pane(&app)->view == &view_problems, "the view comes back");
	end();
	begin(&(struct fixture_options){ .measured = true });
	type_keys(": b e s i d e Space h 1 0 0 Enter : b e s i d e Space H 2 0 0 Enter");
	type_keys("| | j V");
	typed_word(&app, text_of("\"q"));
	type_keys("/ layer1.0.conv2 Enter");
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
		type_keys("j ? 1");
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
	type_keys("j j O");
	ok(sees("[O] Models"), "a list of models");
	type_keys("o x Backspace b a d . o n n x Enter");
	ok(sees("bad.onnx: not an ONNX model") && app.stage->prompt.use == &prompt_path,
		"what cannot be opened is said, and can be mended");
	is_str(fixture_calls.opened, "bad.onnx", "was tried");
	is_str(layer_name(), "relu", "the present model stays");
	type_keys("^U / n o w h e r e / Tab");
	ok(sees("no directory or .onnx file begins with this text"), "nothing to complete");
	type_keys("^U . . / t e s t s / m o d e l s / t i n y . o Tab");
	if (strstr(app.stage->prompt.text, "../tests/models/tiny.onnx"))
		ok(true, "Tab completes");
	else
		ok(access("../tests/models/tiny.onnx", R_OK) != 0, "Tab completes %s",
			app.stage->prompt.text);
	type_keys("^U ~ / x . o n n x Enter");
	const char *home = getenv("HOME");
	ok(strstr(fixture_calls.opened, "/x.onnx") && home && strncmp(fixture_calls.opened, home, 4) == 0,
		"~ is the home directory");
	ok(!app.stage->prompt.use && sees("[1] Layers"),
		"another model begins with its layers");
	is_int(app.layer, app.listed[0], "at the first");
	type_keys("O o Esc");
	ok(!app.stage->prompt.use && sees("[O] Models"), "Esc leaves the prompt");
	end();
}

/* ---- questions ---- */

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
	keys_run("tests/screens/app.keys");
	test_sorted();
	test_find_count();
	test_help_search();
	test_scenarios();
	test_costliest();
	test_no_estimate();
	test_pace();
	test_sweep_view();
	test_sweep_scrolls();
	test_algorithms();
	test_unknown_work();
	test_agent_plan();
	test_reality_kept();
	test_dims_bound();
	test_form_error();
	test_keep();
	test_models();
	test_reason_first();
	test_short_names();
	test_widths();
	test_devices_widths();
	test_footer();
	test_any_key();
	test_large();
	test_many_dims();
	test_same_names();
	test_frame_unbound();
	test_name_columns();
	test_frame();
	return done_testing();
}
