/* Memory of the explorer does not grow: with real sessions, plans, database, runners and planner, cycles of
 * the same keys end with as many bytes of the heap as they began with. */
#include "config.h"

#include "ui/frame/frame.h"
#include "ui/model/agent.h"
#include "ui/screen/key.h"

#include "tap.h"
#include "word_config.h"

#include <malloc.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#define WARM_UP 30      /* cycles: the history of commands fills up */
#define CYCLES 120
#define MOST_BYTES 24576 /* in all cycles: malloc counts some freed blocks, and its blocks vary in size */

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static struct app app;
static struct session *session;
static struct config config;
static char folder[] = "/tmp/steady.XXXXXX";
static const char *top;
static int64_t now = 1000;

/* Without SQLite's pages, whose number it limits itself. */
static int64_t heap_bytes(void)
{
	size_t all = __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() :
		mallinfo2().uordblks + mallinfo2().hblkhd;
	return (int64_t)all - sqlite3_memory_used();
}

/* Two runners, a planner, a sweep and scenarios. */
static void config_make(void)
{
	char runners[512];
	snprintf(runners, sizeof(runners),
		"  more: [sh, \"%s/tests/lib/word_runner.sh\", Word 2, \"words, 1 thread\"]\n"
		"  cuda: [sh, \"%s/tests/lib/plan_runner.sh\", answers]\n", top, top);
	word_config(&config, folder, "steady", top, runners, "batch: [1, 8]\ndtype: [f32, bf16]\n"
		"scenarios:\n  fused: [fusion, parallel]\n  eight: { batch: 8, dtype: bf16 }\n");
}

/* What the loop of the explorer does between keys, until nothing is left to do. */
static void settle(void)
{
	struct error err = ERROR_NONE;
	const struct pane *p = app_pane(&app);
	while (session_awaited(session))
		app_device_step(&app, 100);
	while (session_plan_step(session, 100) || session_reality_step(session))
		;
	while (session_queue(session) && !queue_status(session_queue(session)).idle)
		queue_step(session_queue(session), 100, &err);
	do {
		app_refresh(&app);
		app_draw(&app);
	} while (session_effects_step(session, 1000) ||
		(p->view->work && p->view->work(&app, p->state, 1000)));
}

/* Types what is written: ^M is Enter, ^[ Escape. */
static void type(const char *keys)
{
	for (const char *p = keys; *p; p++) {
		typed_key(&app, *p == '\r' ? KEY_CODE_ENTER : (uint32_t)*p, now += 10);
		app_refresh(&app);
		app_draw(&app);
	}
	typed_expire(&app, now += 1000);
	settle();
}

static void open_model(const char *name)
{
	char line[PROMPT_SIZE];
	snprintf(line, sizeof(line), ":open %s/%s\r", top, name);
	type(line);
}

/* So that the cycles only replace lines of the history. */
static void history_fill(void)
{
	char line[PROMPT_SIZE];
	for (int i = 0; i < HISTORY_LINES; i++) {
		snprintf(line, sizeof(line), ":layer %0200d\r", i % 2);
		type(line);
	}
}

/* So many results that the memory of those that were replaced is used again. */
static void results_fill(void)
{
	int count;
	const char *problem = session_plan(session)->problems[0].text;
	const struct result *const *all = results_of(session_results(session), problem, &count);
	struct result one = count ? *all[0] : (struct result){ .problem = "" };
	for (int i = 0; i < 20000 && count; i++) {
		one.stats.mean = i;
		results_add(session_results(session), &one);
	}
}

static void views_cycle(void)
{
	for (int v = 0; v < views_count(); v++) {
		app_show(&app, views_at(v), -1);
		settle();
		type("jkG");
		type("gg");
		type("\r");
		type("1");
		type("\033");
	}
}

static void toggles_cycle(void)
{
	static const char *const keys[] = { "pp", "ff", "mm", "aa", "oo", "rr", "tt", "+", "-", "cc", "II",
		"sS", "/conv\r", "n", "N", "&relu\r", "&\025\r", "\033", "$f", "$p", "$f", ":sort number\r",
		"VV", "U", "\"a", "5j", "'a", "]c", "[c", "zc", "zo", "zM", "zR", "**", "d\033",
		":set fusion=all,parallel\r", ":set fusion=off,parallel=off\r", ":theme light\r",
		":theme dark\r", "y", "Y", "=2x\r", "=\025\r", ":batch 8\r", ":batch 1\r", ":nonsense\r" };
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		type(keys[i]);
	for (int i = 1; i < 4; i++) {
		canvas_resize(&app.stage->canvas, 40 * i, 10 * i);
		app_draw(&app);
	}
}

static void models_cycle(void)
{
	open_model("tests/models/symbolic.onnx");
	type("\033");
	type(":dim batch=3\r");
	type(":dim batch=5\r");
	type("1");
	open_model("nowhere.onnx");
	open_model("tests/models/tiny.onnx");
	type("ga1");
	open_model("tests/models/rows.onnx");
}

static void devices_cycle(void)
{
	type(":beside l40s\r");
	type(":device h100\r");
	type("gs");
	type("gr");
	type("1");
	type(":beside l40s\r");
	type(":device more\r");
	type(":device words\r");
}

static void measuring_cycle(void)
{
	type("b");
	type("B");
	type("gq");
	type("B");
	type("1");
}

static void check(void (*cycle)(void), const char *name)
{
	for (int i = 0; i < WARM_UP; i++)
		cycle();
	int64_t before = heap_bytes();
	for (int i = 0; i < CYCLES; i++)
		cycle();
	int64_t after = heap_bytes();
	ok(after <= before + MOST_BYTES, "%s: %d times the same, and the heap has as many bytes", name,
		CYCLES);
	printf("# %lld bytes before, %lld after\n", (long long)before, (long long)after);
}

int main(void)
{
	struct error err = ERROR_NONE;
	char model[512];
	top = getenv("abs_srcdir") ? getenv("abs_srcdir") : "..";
	if (!mkdtemp(folder))
		abort();
	setenv("XDG_DATA_HOME", folder, 1);
	setenv("XDG_STATE_HOME", folder, 1);
	setenv("XDG_CACHE_HOME", folder, 1);
	setenv("WORD_QUICK", "1", 1);
	config_make();
	snprintf(model, sizeof(model), "%s/tests/models/rows.onnx", top);
	struct session_options o = { .model_path = model, .db = SESSION_DB_WRITE };
	session = session_open(&config, &o, &err);
	ok(session && session_select(session, 0, DTYPE_F32, &err) == 0, "a model %s", err.text);
	ok(session_connect(session, 10000, &err) == 0, "a runner %s", err.text);
	app_init(&app, session, 120, 40, false);
	app.stage->keeps = true;
	history_fill();
	check(views_cycle, "views");
	check(toggles_cycle, "what-ifs, search, commands");
	check(models_cycle, "other models and dimensions");
	check(devices_cycle, "other devices");
	measuring_cycle();
	results_fill();
	check(measuring_cycle, "measuring");
	is_int(app_missing_count(&app), 0, "all is measured");
	app_free(&app);
	session_close(session);
	config_free(&config);
	char remove[64];
	snprintf(remove, sizeof(remove), "rm -r %s", folder);
	ok(system(remove) == 0, "all is removed");
	return done_testing();
}
