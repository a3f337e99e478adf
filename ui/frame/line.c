/* What the commands of the line do. */
#include "config.h"

#include "analyze/scenario/assume.h"
#include "base/word.h"
#include "ui/frame/frame.h"
#include "ui/model/beside.h"
#include "ui/stage/lines.h"

#include <string.h>
#include <strings.h>

/* A text that was typed, short enough for a message. */
static const char *quoted(struct app *app, const char *text)
{
	return text_cut(&app->scratch, app_clean(app, text_of(text)), 40, false);
}

/* `unknown view "prolbems"; did you mean problems?`, or with `otherwise` after the semicolon. */
static void unknown(struct app *app, const char *what, const struct word_nearest *n, const char *otherwise)
{
	if (n->best)
		app_note(app, true, "%s \"%s\"; did you mean %s?", what, quoted(app, n->word), n->best);
	else
		app_note(app, true, "%s \"%s\"; %s", what, quoted(app, n->word), otherwise);
}

static void run_view(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	(void)force;
	const struct view *view = views_find(row->argument ? argument : row->name);
	struct word_nearest near = { .word = argument };
	if (view) {
		app_show(app, view, -1);
		return;
	}
	for (int i = 0; views_at(i); i++)
		word_try(&near, views_at(i)->name);
	unknown(app, "unknown view", &near, "Tab after :view lists them");
}

static void run_set(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	(void)row;
	(void)force;
	what_ifs_set(app, argument);
}

/* "LAYER=COST", as --assume takes it. */
static void run_assume(struct app *app, const char *argument)
{
	struct assume_item item;
	struct error err = ERROR_NONE;
	bool bad = !app_plan(app) || assume_parse(argument, &item, &err);
	int count = bad ? -1 : session_assume_item(app->session, &item, &err);
	app_refresh(app);
	if (count < 0)
		app_note(app, true, "%s", err.text);
	else
		app_note(app, false, "the cost of %d layer%s is assumed; %s flips that", count,
			count == 1 ? "" : "s", key_named("assume"));
}

static void run_what_if(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	(void)force;
	if (strcmp(row->name, "assume") == 0 && strchr(argument, '='))
		run_assume(app, argument);
	else
		what_ifs_set(app, argument[0] ? arena_printf(&app->scratch, "%s=%s", row->name, argument)
					      : row->name);
}

/* The device with that key, else the only one whose key begins so, else the only one whose model contains it.
 * NULL: none; *several: the keys of those that it could be, if there are. */
static const struct session_device *device_of(
	struct app *app, const struct session_device *list, int count, struct text name, const char **several)
{
	const struct session_device *begins = NULL, *has = NULL;
	int begin_count = 0, has_count = 0;
	for (int i = 0; i < count; i++) {
		struct text key = text_of(list[i].key);
		if (text_equal(key, name))
			return &list[i];
		if (key.n > name.n && strncasecmp(key.p, name.p, name.n) == 0) {
			begins = &list[i];
			begin_count++;
		}
		if (text_contains(text_of(list[i].model), name)) {
			has = &list[i];
			has_count++;
		}
	}
	if (begin_count == 1 || (!begin_count && has_count == 1))
		return begin_count ? begins : has;
	for (int i = 0; i < count; i++) {
		struct text key = text_of(list[i].key);
		if (begin_count ? key.n > name.n && strncasecmp(key.p, name.p, name.n) == 0 :
			text_contains(text_of(list[i].model), name))
			*several = arena_printf(&app->scratch, "%s%s%s", *several, **several ? ", " : "",
				app_clean(app, key));
	}
	return NULL;
}

static void run_device(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	struct error err = ERROR_NONE;
	struct arena a = { 0 };
	struct session_device *list;
	int count = session_devices(app->session, &a, &list, &err);
	const char *several = "";
	const struct session_device *d = device_of(app, list, count, text_of(argument), &several);
	struct word_nearest near = { .word = argument };
	(void)force;
	for (int i = 0; i < count; i++)
		word_try(&near, app_clean(app, text_of(list[i].key)));
	if (d && row->action == LINE_BESIDE)
		app_beside_toggle(app, d);
	else if (d)
		app_device_choose(app, d);
	else if (*several)
		app_note(app, true, "\"%s\" could be several devices: %s", quoted(app, argument), several);
	else
		unknown(app, "unknown device", &near, ":view devices lists them");
	arena_free(&a);
}

static void run_batch(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	int64_t batch;
	(void)row;
	(void)force;
	if (!text_to_int64(text_of(argument), &batch) || batch < 1 || batch > 65536)
		app_note(app, true, "batch \"%s\": give a number from 1 to 65536", quoted(app, argument));
	else if (session_plan(app->session))
		scenario_select(app, batch, session_dtype(app->session));
}

static void run_dtype(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	enum dtype type;
	struct error err = ERROR_NONE;
	(void)row;
	(void)force;
	if (dtype_take_asked(text_of(quoted(app, argument)), &type, &err))
		app_note(app, true, "%s", err.text);
	else if (session_plan(app->session))
		scenario_select(app, session_batch(app->session), type);
}

#define DIMS_MOST 64

static void run_dim(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	struct dim_binding bound[DIMS_MOST];
	struct error err = ERROR_NONE;
	struct arena a = { 0 };
	int count = 0, bad = 0;
	(void)row;
	(void)force;
	for (size_t n; !bad && argument[0]; argument += n + strspn(argument + n, " ")) {
		n = strcspn(argument, " ");
		const char *one = arena_strndup(&a, argument, n);
		bad = count == DIMS_MOST ? error_set(&err, "more than %d dimensions", DIMS_MOST)
					 : config_parse_dim(one, &a, &bound[count], &err);
		count += !bad;
	}
	bad = bad || session_bind(app->session, bound, count, &err);
	app_refresh(app);
	if (bad)
		app_note(app, true, "%s", err.text);
	else
		app_note(app, false, "%s is %lld%s", app_clean(app, bound[0].name), (long long)bound[0].value,
			count > 1 ? ", and others" : "");
	arena_free(&a);
}

/* Types the text into a prompt, and Enter. */
static void run_prompt(struct app *app, void (*ask)(struct app *app), const char *argument)
{
	struct prompt *q = &app->stage->prompt;
	ask(app);
	if (!q->use)
		return;
	snprintf(q->text, PROMPT_SIZE, "%s", argument);
	q->untouched = false;
	prompt_key(app, KEY_CODE_ENTER);
	if (q->use) /* not accepted, and the reason is said */
		prompt_close(app);
}

static void run_filter(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	(void)row;
	(void)force;
	run_prompt(app, filter_ask, argument);
	if (!argument[0] && !app->note[0])
		app_note(app, false, "all rows");
}

static void run_search(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	(void)row;
	(void)force;
	run_prompt(app, search_ask, argument);
}

static void run_sort(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	const struct pane *p = app_pane(app);
	const char *const *orders = p->list->orders;
	int found = -1;
	(void)row;
	(void)force;
	for (int i = 0; orders && orders[i] && found < 0; i++)
		if ((!p->list->offers || p->list->offers(app, p->state, i)) &&
			strncasecmp(orders[i], argument, strlen(argument)) == 0)
			found = i;
	if (found >= 0)
		sort_by(app, found);
	else if (orders)
		app_note(app, true, "unknown order \"%s\" in this view; Tab after :sort lists the orders",
			quoted(app, argument));
	else
		app_note(app, true, "this view cannot be sorted");
}

static void run_layer(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	int64_t number;
	int layer = 0, most = 0;
	const struct view *view = app_pane(app)->view;
	(void)row;
	(void)force;
	for (int i = 0; i < app->place_count; i++)
		most = app->number_of[i] > most ? app->number_of[i] : most;
	if (!text_to_int64(text_of(argument), &number) || number < 1 || number > most) {
		app_note(app, true, "no layer \"%s\": they are numbered from 1 to %d", quoted(app, argument),
			most);
		return;
	}
	while (app->number_of[layer] != number)
		layer++;
	jump_remember(app);
	scope_reveal(app, layer);
	app_show(app, view_list(view)->row_of_layer || view->details ? view : views_at(0), layer);
}

static void run_write(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	(void)row;
	screen_write(app, argument, force);
}

static void run_open(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	(void)row;
	(void)force;
	app_open_model(app, argument);
}

static void run_request(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	const struct key_row key = { .keys = row->name, .request = (enum request)row->number,
		.text = row->text, .hint = NULL };
	(void)argument;
	(void)force;
	request_run(app, &key, 0);
}

static void run_theme(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	struct config one = { 0 };
	struct error err = ERROR_NONE;
	(void)row;
	(void)force;
	if (config_set(&one, "theme", argument, &err) || theme_set(app, one.theme, one.theme_count, &err))
		app_note(app, true, "%s", err.text);
	else
		app->frame->theme_chosen = true;
	config_free(&one);
}

static void run_mouse(struct app *app, const struct line_row *row, const char *argument, bool force)
{
	bool on = strcmp(argument, "on") == 0;
	(void)row;
	(void)force;
	if (*argument && !on && strcmp(argument, "off") != 0) {
		app_note(app, true, "mouse on, or mouse off");
		return;
	}
	app->stage->mouse = *argument ? on : !app->stage->mouse;
	app_note(app, false, app->stage->mouse ? "clicks and the wheel work; Shift selects text" :
		"the terminal uses the mouse");
}

static void (*const runs[LINE_ACTIONS])(
	struct app *app, const struct line_row *row, const char *argument, bool force) = {
	[LINE_VIEW] = run_view, [LINE_SET] = run_set, [LINE_WHAT_IF] = run_what_if,
	[LINE_DEVICE] = run_device, [LINE_BESIDE] = run_device, [LINE_BATCH] = run_batch,
	[LINE_DTYPE] = run_dtype,
	[LINE_DIM] = run_dim, [LINE_FILTER] = run_filter,
	[LINE_SEARCH] = run_search, [LINE_SORT] = run_sort, [LINE_LAYER] = run_layer,
	[LINE_OPEN] = run_open,
	[LINE_WRITE] = run_write, [LINE_THEME] = run_theme, [LINE_MOUSE] = run_mouse,
	[LINE_REQUEST] = run_request
};

/* The name is unknown, or the beginning of several. */
static void unknown_name(struct app *app, struct text name)
{
	struct str several = { 0 };
	int count;
	const struct line_row *rows = lines_table(&count);
	struct word_nearest near = { .word = arena_strndup(&app->scratch, name.p, name.n) };
	for (int i = 0; i < count; i++) {
		word_try(&near, rows[i].name);
		if (strncmp(rows[i].name, near.word, name.n) == 0)
			str_addf(&several, "%s%s", several.n ? ", " : "", rows[i].name);
	}
	if (several.n)
		app_note(app, true, "\"%s\" begins several commands: %s", quoted(app, near.word), several.p);
	else
		unknown(app, "unknown command", &near,
			arena_printf(&app->scratch, "%s and Tab lists them", key_named("command")));
	str_free(&several);
}

void line_run(struct app *app, const char *typed)
{
	char text[PROMPT_SIZE], shown[LINE_SHOWN];
	snprintf(text, sizeof(text), "%s", typed + strspn(typed, ": "));
	for (size_t n = strlen(text); n && text[n - 1] == ' ';)
		text[--n] = '\0';
	size_t n = strcspn(text, " !");
	bool force = text[n] == '!';
	char *argument = text + n + force;
	argument += strspn(argument, " ");
	if (!text[0])
		return;
	if (strspn(text, "0123456789") == strlen(text)) {
		run_layer(app, NULL, text, false);
		return;
	}
	const struct line_row *row = lines_find((struct text){ text, n });
	if (!row)
		unknown_name(app, (struct text){ text, n });
	else if (force && row->action != LINE_WRITE &&
		!(row->action == LINE_REQUEST && row->number == REQUEST_QUIT))
		app_note(app, true, "%s takes no !", row->name);
	else if (!row->argument && argument[0])
		app_note(app, true, "%s takes no argument", row->name);
	else if (row->argument && row->argument[0] != '[' && !argument[0])
		app_note(app, true, "%s needs an argument: %s", row->name, line_shown(shown, row));
	else
		runs[row->action](app, row, argument, force);
}

/* ---- the prompt */

static void line_accept(struct app *app)
{
	char typed[PROMPT_SIZE];
	memcpy(typed, app->stage->prompt.text, sizeof(typed));
	prompt_close(app);
	if (typed[strspn(typed, " ")])
		history_add(&app->frame->history, typed);
	line_run(app, typed);
}

/* Shows the line before (direction 1) or after the one that is shown. */
static void line_earlier(struct app *app, int direction)
{
	struct prompt *q = &app->stage->prompt;
	const struct history *h = &app->frame->history;
	int to = q->earlier + direction;
	if (to < 0 || to > h->count)
		return;
	if (!q->earlier)
		memcpy(q->draft, q->text, sizeof(q->draft));
	q->earlier = to;
	snprintf(q->text, sizeof(q->text), "%s", to ? h->lines[h->count - to] : q->draft);
}

static bool line_key(struct app *app, uint32_t key)
{
	bool tab = key == KEY_CODE_TAB || key == KEY_CODE_BACKTAB;
	bool earlier = key == KEY_CODE_UP || key == KEY_CODE_DOWN;
	if (tab)
		prompt_complete(app, key == KEY_CODE_TAB ? 1 : -1);
	if (earlier) {
		completion_clear(&app->stage->prompt.completion);
		line_earlier(app, key == KEY_CODE_UP ? 1 : -1);
	}
	return tab || earlier;
}

const struct prompt_use prompt_line = { .label = ":", .help = "Tab completes, Esc cancels",
	.accept = line_accept, .key = line_key };
