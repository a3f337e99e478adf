/* What the hint of `b` counts is what `b` queues, with a real session and a runner: problems, conversions,
 * the device's peaks, in each data type. */
#include "config.h"

#include "ui/frame/frame.h"
#include "ui/screen/key.h"

#include "tap.h"
#include "word_config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct app app;
static struct session *session;
static struct config config;
static char folder[] = "/tmp/missing.XXXXXX";
static const char *top;

static void begin(const char *name, const char *more)
{
	struct error err = ERROR_NONE;
	char model[512];
	word_config(&config, folder, name, top, "", more);
	snprintf(model, sizeof(model), "%s/data/models/resnet50.onnx", top);
	struct session_options o = { .model_path = model, .db = SESSION_DB_WRITE };
	session = session_open(&config, &o, &err);
	ok(session && session_select(session, 0, DTYPE_F32, &err) == 0, "a model %s", err.text);
	ok(session_connect(session, 10000, &err) == 0, "a runner %s", err.text);
	app_init(&app, session, 120, 24, false);
	app_refresh(&app);
}

static void end(void)
{
	app_free(&app);
	session_close(session);
	config_free(&config);
}

/* Presses `b`: the queue takes what was counted. Waits until it is measured. */
static int measure_all(const char *what)
{
	struct error err = ERROR_NONE;
	int counted = app_missing_count(&app);
	struct queue_status before = queue_status(session_queue(session));
	app_key(&app, 'b');
	struct queue_status q = queue_status(session_queue(session));
	is_int(q.pending + q.running - before.pending - before.running, counted,
		"%s: b queues the %d that are counted", what, counted);
	while (!queue_status(session_queue(session)).idle)
		queue_step(session_queue(session), 100, &err);
	app_refresh(&app);
	return counted;
}

static const char *hint(void)
{
	static struct str text;
	str_clear(&text);
	app_draw(&app);
	canvas_print(&app.stage->canvas, &text);
	const char *last = text.p;
	for (const char *p = text.p; *p; p++)
		if (*p == '\n' && p[1])
			last = p + 1;
	return last;
}

/* Measures what is queued, round by round. Returns the number of repeated measurements. */
static int drain(void)
{
	struct error err = ERROR_NONE;
	int repeats = 0;
	do {
		while (!queue_status(session_queue(session)).idle)
			queue_step(session_queue(session), 100, &err);
		repeats += queue_status(session_queue(session)).batch_repeats;
		app_refresh(&app);
	} while (session_is_measuring(session));
	return repeats;
}

/* Repeated measurements are of the plan that was measured, whatever is selected then; after `x` there are
 * none. */
static void repeats(void)
{
	struct error err = ERROR_NONE;
	struct queue_status q = { 0 };
	setenv("WORD_REPEAT", "1", 1);
	begin("repeats", "quick: false\n");
	app_key(&app, 'b');
	app_key(&app, 't');
	enum dtype shown = session_dtype(session);
	int first = drain();
	ok(first > 0 && first % REPEAT_ROUNDS == 0, "%d repeats, of the type measured", first);
	is_int(session_dtype(session), shown, "the other type stays selected");
	ok(session_analysis(session) && !session_is_measuring(session), "and analyzed");
	app_key(&app, 'b');
	for (; !q.idle && q.batch_done < 99; q = queue_status(session_queue(session)))
		queue_step(session_queue(session), 100, &err);
	ok(session_is_measuring(session), "that type is measured");
	app_key(&app, 'x');
	is_int(drain(), 0, "stopped: nothing is repeated");
	end();
	unsetenv("WORD_REPEAT");
}

int main(void)
{
	top = getenv("abs_srcdir") ? getenv("abs_srcdir") : "..";
	if (!mkdtemp(folder))
		abort();
	setenv("XDG_DATA_HOME", folder, 1);
	setenv("XDG_STATE_HOME", folder, 1);
	setenv("XDG_CACHE_HOME", folder, 1);
	setenv("WORD_LAYOUTS", "src=nxc wei=nxc dst=nxc", 1);
	begin("missing", "");
	struct session_missing m = app_missing(&app);
	ok(m.own > 10 && m.peaks > 0, "problems and peaks: %d, %d", m.own, m.peaks);
	measure_all("all");
	for (int i = 0; i < 4 && app_missing_count(&app); i++) {
		m = app_missing(&app);
		ok(!m.own && strstr(hint(), m.conversions ? "conversion" : "peak"),
			"what is left is said: %d conversions", m.conversions);
		measure_all("what the results make possible");
	}
	ok(strstr(hint(), "b all measured") != NULL, "all measured");
	app_key(&app, 'b');
	ok(strstr(app.note, "all measured") && queue_status(session_queue(session)).idle, "and b says so");
	app_key(&app, 't');
	ok(app_missing(&app).own && app_missing(&app).peaks, "another data type has peaks of its own");
	app_key(&app, 'B');
	measure_all("the other data type");
	app_key(&app, 't');
	ok(app_missing_count(&app) == 0, "the first one lacks nothing");
	end();
	begin("sweep", "batch: [1, 2]\n");
	app_key(&app, 'b');
	struct queue_status q = queue_status(session_queue(session));
	struct error err = ERROR_NONE;
	ok(q.pending > app_missing(&app).own, "a sweep");
	while (!queue_status(session_queue(session)).idle)
		queue_step(session_queue(session), 100, &err);
	app_refresh(&app);
	for (int i = 0; i < 4 && app_missing_count(&app); i++)
		measure_all("after the sweep");
	ok(strstr(hint(), "b all measured") != NULL, "all measured");
	app_key(&app, 'b');
	ok(strstr(app.note, "all measured") && queue_status(session_queue(session)).idle,
		"a sweep measures all");
	end();
	repeats();
	setenv("WORD_STOP", "disturbed", 1);
	begin("noisy", "");
	for (int i = 0; i < 4 && app_missing_count(&app); i++)
		measure_all("noisily");
	int noisy = app_missing(&app).shaky;
	ok(noisy > 10 && strstr(hint(), "b measure noisy again") != NULL, "%d are noisy", noisy);
	app_key(&app, 'b');
	q = queue_status(session_queue(session));
	is_int(q.pending + q.running, noisy, "b measures these again");
	queue_clear(session_queue(session));
	end();
	char remove[64];
	snprintf(remove, sizeof(remove), "rm -r %s", folder);
	ok(system(remove) == 0, "all is removed");
	return done_testing();
}
