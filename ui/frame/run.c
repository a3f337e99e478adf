/* The loop of the explorer: keys, the messages of runners, work in slices between keys, and frames as
 * often as they do not disturb a measurement. */
#include "config.h"

#include "ui/model/agent.h"
#include "ui/frame/frame.h"
#include "ui/frame/tour.h"
#include "ui/model/real.h"
#include "ui/screen/term.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Shortest time between frames during a measurement, unless a key was pressed: drawing disturbs what is
 * measured. */
#define MEASURING_REDRAW_MS 500
#define IDLE_WAIT_MS 1000
#define LOG_LINES 1000 /* kept for the view queue */
#define PASTE_SLICE 4096 /* letters of pasted text between frames */
#define AHEAD_MS 100 /* longest time without a frame while keys come faster than frames are drawn */
#define SLICE_MS 4 /* of effects, with a key press and at a time between */
#define TRIM_MS 10000 /* between looks at the memory that is kept for reuse */
#define CHANGING_WAIT_MS 100 /* two runners may send messages, but only one is polled */

/* Starts the runner without waiting for it: the first frame is drawn before its hello arrives. */
static void runner_start(struct app *app)
{
	struct error err = ERROR_NONE;
	struct queue *q = session_queue(app->session);
	if (q && !queue_device(q))
		queue_connect(q, 1, &err); /* queue_status reports errors */
}

/* Called when the runner does not answer: continues with recorded results. */
static void runner_missed(struct app *app)
{
	struct session *s = app->session;
	struct error err = ERROR_NONE;
	if (session_device(s)->name || queue_device(session_queue(s)) ||
		queue_status(session_queue(s)).starting)
		return;
	char trouble[ERROR_TEXT_SIZE];
	snprintf(trouble, sizeof(trouble), "%s", queue_status(session_queue(s)).trouble);
	if (session_give_up_runner(s, &err))
		snprintf(app->stage->standing, sizeof(app->stage->standing), "%s", err.text);
	else
		snprintf(app->stage->standing, sizeof(app->stage->standing),
			"%.*s; recorded results are shown, nothing can be measured",
			(int)sizeof(app->stage->standing) - 80,
			trouble[0] ? trouble : "the runner does not answer");
	app->generation++;
}

/* A described device: sends requests to the planner and reads its answers. */
static void plan_on(struct app *app)
{
	uint64_t before = planner_version(session_planner(app->session));
	session_plan_step(app->session, 0);
	app->generation += planner_version(session_planner(app->session)) - before;
}

/* The load average over a minute where the device is of this machine, else 0. */
static double load_of(const struct device *d)
{
	char host[256] = "";
	double load;
	bool here = d && d->host && *d->host && gethostname(host, sizeof(host) - 1) == 0 &&
		strcmp(host, d->host) == 0;
	return here && getloadavg(&load, 1) == 1 ? load : 0;
}

/* Drives queue, planner and database. A runner that does not start is reported once and not retried. */
static void drive(struct app *app)
{
	struct error err = ERROR_NONE;
	struct store *store = session_store(app->session);
	if (store) {
		int before = store_waiting(store).results;
		app->generation += store_keep_retry(store, false) != before;
	}
	app_device_step(app, 0);
	app_agent_step(app);
	struct queue *q = session_queue(app->session);
	if (session_planner(app->session))
		plan_on(app);
	if (!q || app->stage->runner_dead)
		return;
	int came = queue_step(q, 0, &err);
	if (came < 0) {
		app->stage->runner_dead = true;
		snprintf(app->stage->standing, sizeof(app->stage->standing), "%s", err.text);
	}
	if (came != 0) {
		app->load = load_of(session_device(app->session));
		app->generation++;
	}
	app->stage->stopping &= !queue_status(q).idle;
	app->generation += question_measure(app);
	runner_missed(app);
}

static bool is_measuring(const struct app *app)
{
	struct queue *q = session_queue(app->session);
	struct queue_status status = q ? queue_status(q) : (struct queue_status){ .idle = true };
	return app_agent_is_busy(app) || (!app->stage->runner_dead && (!status.idle || status.starting));
}

/* Reads the next part of the model's file for its hash, which identifies its executions in the database. Does
 * nothing while the queue measures, because reading would disturb it. Returns true while there is more to
 * read. */
static bool read_model_on(struct app *app)
{
	struct session *s = app->session;
	if (is_measuring(app) || session_model_hash(s))
		return false;
	bool more = session_reality_step(s);
	app->generation += session_model_hash(s) != NULL;
	return more;
}

static void show(struct app *app)
{
	app_draw(app);
	term_mouse(app->stage->mouse);
	term_show(&app->stage->canvas, &app->frame->theme, app->frame->redraw);
	app->frame->redraw = false;
}

static void resize(struct app *app)
{
	int columns, rows;
	term_size(&columns, &rows);
	canvas_resize(&app->stage->canvas, columns, rows);
	app->frame->redraw = true;
}

/* True while a device starts or an earlier one is shutting down. */
static bool is_changing(const struct app *app)
{
	return session_is_changing(app->session);
}

static int fd_of(const struct app *app)
{
	const struct session *s = app->session;
	if (session_awaited(s))
		return session_awaited_fd(s);
	if (app_agent_fd(app) >= 0)
		return app_agent_fd(app);
	if (session_planner(s))
		return planner_fd(session_planner(s));
	return session_queue(s) && !app->stage->runner_dead ? queue_fd(session_queue(s)) : -1;
}

/* Milliseconds until the view changes by itself; -1: it does not. */
static int view_due_ms(struct app *app)
{
	const struct pane *p = app_pane(app);
	return p->view->due_ms && p->is_open ? p->view->due_ms(app, p->state) : -1;
}

/* Goes on with what the view computes beside; true while there is more. */
static bool view_work(struct app *app, int ms)
{
	const struct pane *p = app_pane(app);
	return p->view->work && p->is_open && p->view->work(app, p->state, ms);
}

/* The terminal says what its background is: the theme "auto" follows it. */
static void ground_take(struct app *app, uint32_t rgb)
{
	const struct config *c = session_config(app->session);
	if (theme_is_auto(c ? c->theme : NULL, c ? c->theme_count : 0) && !app->frame->theme_chosen)
		theme_use(app, theme_light_by_color(rgb));
	app->frame->light = theme_light_by_color(rgb);
}

static void key_take(struct app *app, uint32_t key)
{
	if (app->frame->tour.on && !app_is_too_small(app))
		tour_key(app, key);
	else
		typed_key(app, key, clock_ms());
}

/* True if text is asked for. */
static bool is_text_asked(const struct app *app)
{
	return app->stage->prompt.use && !prompt_is_question(app);
}

/* Pasted text is typed where text is asked for, without the ends of its lines; elsewhere it is no keys. */
static void paste_take(struct app *app, uint32_t key)
{
	bool printable = key >= ' ' && key != KEY_CODE_BACKSPACE && key < KEY_CODE_UP;
	if (!is_text_asked(app))
		app_note(app, false,
			"pasted text does not act as keys: paste it after %s or %s (Esc ends the prompt)",
			key_named("command"), key_named("search"));
	else if (printable && app->frame->tour.on)
		key_take(app, key);
	else if (printable && app->stage->prompt.use == &prompt_form)
		form_type(app, key);
	else if (printable && !app_is_too_small(app))
		prompt_paste(app, key);
}

/* Takes pasted text as far as it has come, without a frame between: a megabyte may be pasted. Returns what
 * came after it. */
static enum term_event pastes_take(struct app *app, enum term_event event, struct term_value *value)
{
	for (int i = 0; event == TERM_PASTED && i < PASTE_SLICE; i++) {
		paste_take(app, value->key);
		event = term_wait(-1, 0, value);
	}
	if (event == TERM_PASTED)
		paste_take(app, value->key);
	return event;
}

/* changed: the last frame is old. A click means what is drawn where it is, so it is drawn anew before one. */
static void event_take(struct app *app, enum term_event event, const struct term_value *value, bool changed)
{
	if (event == TERM_MOUSE && changed && value->mouse.kind == MOUSE_PRESS) {
		app_refresh(app);
		show(app);
	}
	if (event == TERM_RESIZE)
		resize(app);
	if (event == TERM_GROUND)
		ground_take(app, value->key);
	if (event == TERM_KEY)
		key_take(app, value->key);
	if (event == TERM_MOUSE && !app->frame->tour.on)
		mouse_event(app, &value->mouse, clock_ms());
}

static void memory_trim(int64_t *next_ms)
{
	if (clock_ms() >= *next_ms) {
		base_memory_trim();
		*next_ms = clock_ms() + TRIM_MS;
	}
}

/* True if app_go_on has something to do. */
static bool is_pending(struct app *app)
{
	return session_effects_step(app->session, 0) || app_missing_waits(app);
}

/* For the same reason the analysis is recomputed only before a frame is drawn. */
static int loop(struct app *app)
{
	bool changed = true, reading = false, ahead = false;
	int64_t shown_ms = 0, typed_ms = 0, trim_ms = clock_ms() + TRIM_MS;
	while (!app->stage->quit) {
		memory_trim(&trim_ms);
		bool measuring = is_measuring(app);
		int64_t since = clock_ms() - shown_ms;
		int due = view_due_ms(app);
		changed |= due == 0;
		app_pace(app, typed_ms, clock_ms());
		if (ahead ? since >= AHEAD_MS :
			!measuring || since >= MEASURING_REDRAW_MS || app->frame->redraw) {
			prompt_catch_up(app);
			app_note_age(app, clock_ms());
			changed |= app_refresh(app) || measuring;
			if (changed)
				show(app);
			shown_ms = clock_ms();
			since = 0;
			changed = false;
		}
		/* A working runner reports twice a second, which wakes this loop. */
		int64_t wait = is_changing(app) ? CHANGING_WAIT_MS : changed &&
			measuring ? MEASURING_REDRAW_MS - since : IDLE_WAIT_MS;
		wait = due > 0 && due < wait ? due : wait;
		int typed = typed_due_ms(app, clock_ms());
		wait = typed >= 0 && typed < wait ? typed : wait;
		struct term_value value;
		bool pending = is_pending(app), working = view_work(app, 0);
		bool busy = reading || pending || working || wait < 0;
		enum term_event event = term_wait(fd_of(app), busy ? 0 : (int)wait, &value);
		bool used = event == TERM_KEY || event == TERM_PASTED || event == TERM_MOUSE;
		if (event == TERM_PASTED)
			event = pastes_take(app, event, &value);
		if (event == TERM_SIGNAL)
			return (int)value.key;
		used |= event == TERM_KEY || event == TERM_MOUSE;
		typed_ms = used ? clock_ms() : typed_ms;
		app_pace(app, typed_ms, clock_ms());
		if (typed_due_ms(app, clock_ms()) == 0 && !used) {
			typed_expire(app, clock_ms());
			changed = true;
			shown_ms = 0;
		}
		event_take(app, event, &value, changed);
		ahead = used && term_has_input();
		shown_ms = used && !ahead ? 0 : shown_ms;
		if (!used && pending) { /* before new results, which would make them old */
			app_go_on(app, SLICE_MS);
			changed = true;
		}
		if (!used && working)
			changed |= !view_work(app, SLICE_MS);
		if (app->stage->copy.n) {
			term_copy((struct text){ app->stage->copy.p, app->stage->copy.n });
			str_clear(&app->stage->copy);
		}
		uint64_t before = app->generation;
		drive(app);
		reading = app_agent_is_reading(app) || read_model_on(app);
		changed |= used || event == TERM_RESIZE || event == TERM_GROUND || app->generation != before;
	}
	return 0;
}

/* The first frame, with a terminal or without. */
static void begin(struct app *app, const struct view *view, const struct app_options *o)
{
	app->stage->keeps = o && !o->tour;
	app->stage->fresh = o && o->fresh;
	app->stage->what_ifs_given = o && o->what_ifs_given;
	if (app->stage->keeps && !o->fresh)
		keep_load(app, !o->what_ifs_given, !view);
	if (view)
		app_show(app, view, -1);
	app_draw(app);
}

int app_run(struct session *s, const struct app_options *o, struct error *err)
{
	struct app app;
	const struct view *view = o->view ? views_find(o->view) : NULL;
	if (o->view && !view) {
		struct str names = { 0 };
		views_names(&names);
		error_set(err, "unknown view \"%s\"; the views are %s", o->view, names.p);
		str_free(&names);
		return -1;
	}
	const struct config *c = session_config(s);
	int light = theme_light_by_env(getenv("COLORFGBG"));
	bool open = theme_is_auto(c ? c->theme : NULL, c ? c->theme_count : 0) && light < 0;
	struct term_options how = { .color = o->color, .mouse = c && c->mouse,
		.ask_ground = o->color && open };
	if (term_open(&how, err))
		return -1;
	int columns, rows;
	session_effects_within(s, SLICE_MS);
	log_keep(LOG_LINES);
	term_size(&columns, &rows);
	app_init(&app, s, columns, rows, o->ascii || !term_is_utf8());
	app.stage->mouse = how.mouse;
	theme_use(&app, light > 0);
	if (o->note)
		app_note(&app, true, "%s", o->note);
	struct arena path = { 0 };
	app.frame->tour.on = o->tour;
	if (!o->tour)
		history_open(&app.frame->history, config_state_path(&path, "history"));
	arena_free(&path);
	if (session_unkept(s)[0])
		snprintf(app.stage->standing, sizeof(app.stage->standing), "results cannot be kept: %.*s",
			(int)sizeof(app.stage->standing) - 30, session_unkept(s));
	begin(&app, view, o);
	term_show(&app.stage->canvas, &app.frame->theme, false);
	runner_start(&app);
	int result = loop(&app);
	struct error why = ERROR_NONE;
	bool lost = app.stage->keeps && keep_save(&app, &why);
	if (session_queue(s))
		queue_cancel(session_queue(s));
	app_free(&app);
	log_keep(0);
	term_close();
	if (lost)
		fprintf(stderr,
			"benanza: the view and the what-ifs are not stored for the next session: %s\n",
			why.text);
	return result;
}

/* ---- without a terminal ---- */

int app_parse_size(const char *text, int *columns, int *rows, struct error *err)
{
	int64_t w, h;
	const char *x = strchr(text, 'x');
	if (!x || !text_to_int64((struct text){ text, (size_t)(x - text) }, &w) ||
		!text_to_int64(text_of(x + 1), &h) || w < 1 || h < 1 || w > CANVAS_SIDE_MAX ||
		h > CANVAS_SIDE_MAX)
		return error_set(err,
			"'%.40s' is not COLUMNSxROWS, each from 1 to %d, e.g. 120x40", text,
			CANVAS_SIDE_MAX);
	*columns = (int)w;
	*rows = (int)h;
	return 0;
}

/* Presses the key of that name, or a count or pair ("5j", "zo"); types the word letter by letter in an open
 * prompt or after "text:". */
static int type_word(struct app *app, struct text word, struct error *err)
{
	static const char typed[] = "text:";
	size_t start = sizeof(typed) - 1;
	uint32_t key = key_parse(word);
	struct key_pair keys = keys_parse(word);
	if (app->frame->tour.on && keys.first) {
		tour_key(app, keys.first);
		if (keys.second)
			tour_key(app, keys.second);
		return 0;
	}
	if (key != KEY_CODE_NONE) {
		app_key(app, key);
		return 0;
	}
	if (typed_word(app, word))
		return 0;
	if (word.n > start && memcmp(word.p, typed, start) == 0)
		word = (struct text){ word.p + start, word.n - start };
	else if (!app->stage->prompt.use)
		return error_set(err, "--keys: unknown key \"%.60s\"; text:%.60s types it",
			app_clean(app, word), app_clean(app, word));
	struct str kept = { 0 }; /* not in the scratch memory, which every drawing frees */
	str_add(&kept, word.p, word.n);
	const char *p = kept.p;
	for (uint32_t code; (code = text_decode(&p)) && !app->stage->quit;)
		app_key(app, code);
	str_free(&kept);
	return 0;
}

static void view_await(struct app *app)
{
	for (int due; (due = view_due_ms(app)) > 0;)
		nanosleep(&(struct timespec){ .tv_nsec = due * 1000000L }, NULL);
}

/* Waits until a chosen device and the planner have answered, as a user at a terminal would. */
static void frame_settle(struct app *app)
{
	while (session_awaited(app->session))
		app_device_step(app, 100);
	while (session_plan_step(app->session, 100) || session_reality_step(app->session))
		;
	view_await(app);
}

/* Draws, with what the view computes beside. */
static void frame_draw(struct app *app)
{
	for (app_draw(app); view_work(app, 0); app_draw(app))
		while (view_work(app, SLICE_MS))
			;
}

static int frame_print(struct session *s, int columns, int rows, const char *view, const char *keys,
	bool ascii, enum frame_form form, bool tour, FILE *out, struct error *err)
{
	const struct view *first = views_find(view ? view : "layers");
	if (columns < 1 || rows < 1 || columns > CANVAS_SIDE_MAX || rows > CANVAS_SIDE_MAX)
		return error_set(err, "a frame must be 1x1 to %dx%d", CANVAS_SIDE_MAX, CANVAS_SIDE_MAX);
	struct str text = { 0 };
	if (!first) {
		views_names(&text);
		error_set(err, "--view: unknown view \"%.40s\"; the views are %s", view, text.p);
		str_free(&text);
		return -1;
	}
	struct app app;
	app_init(&app, s, columns, rows, ascii);
	app.is_still = true;
	if (form == FRAME_COLOR)
		theme_use(&app, theme_light_by_env(getenv("COLORFGBG")) > 0);
	app.frame->tour.on = tour;
	begin(&app, first, NULL);
	view_await(&app);
	while (session_reality_step(s))
		;
	app.generation++; /* the view may show the execution that is known now */
	frame_draw(&app);
	int bad = 0;
	for (const char *p = keys ? keys : ""; *p && !app.stage->quit && !bad;) {
		p += strspn(p, " \t\n");
		size_t n = strcspn(p, " \t\n");
		if (n)
			bad = type_word(&app, (struct text){ p, n }, err);
		frame_settle(&app);
		p += n;
		app_refresh(&app);
		frame_draw(&app);
	}
	if (!bad) {
		const struct canvas *c = &app.stage->canvas;
		if (form == FRAME_SVG)
			canvas_print_svg(c, &app.frame->theme, &text);
		else if (form == FRAME_COLOR)
			theme_print(c, &app.frame->theme, term_colors(true), &text);
		else
			canvas_print(c, &text);
		fwrite(text.p, 1, text.n, out);
	}
	str_free(&text);
	app_free(&app);
	return bad;
}

int app_frame(struct session *s, int columns, int rows, const char *view, const char *keys, bool ascii,
	enum frame_form form, FILE *out, struct error *err)
{
	return frame_print(s, columns, rows, view, keys, ascii, form, false, out, err);
}

int app_frame_tour(struct session *s, int columns, int rows, const char *keys, bool ascii,
	enum frame_form form, FILE *out, struct error *err)
{
	return frame_print(s, columns, rows, NULL, keys, ascii, form, true, out, err);
}
