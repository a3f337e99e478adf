#include "config.h"

#include "ui/frame/frame.h"

#include <stdio.h>
#include <string.h>

/* Prompts for the cost of the selected layer. */
static void assume_ask(struct app *app)
{
	struct prompt *q = &app->frame->prompt;
	const struct plan *p = app_plan(app);
	const struct assumption *assumed = session_assumed(app->session);
	char cost[ASSUMED_TEXT_SIZE];
	if (app->layer < 0 || !p || app_is_body(app, app->layer)) {
		prompt_close(app);
		app_note(app, false, app->layer < 0 || !p ? "no layer is selected" :
			"only layers of the model's own graph can have an assumed cost");
		return;
	}
	q->target = app_layer(app, app->layer)->index;
	if (assumed)
		snprintf(q->text, sizeof(q->text), "%s", assumed_text(cost, &assumed[q->target]));
	q->untouched = q->text[0] != '\0';
}

void app_ask_choice(struct app *app, int row)
{
	struct prompt *q = &app->frame->prompt;
	int count;
	const struct what_if *table = what_if_table(&count);
	prompt_open(app, PROMPT_CHOICE);
	q->target = row;
	what_if_word(&table[row], session_scenario(app->session), q->text, sizeof(q->text));
	q->untouched = true;
}

void app_ask(struct app *app, const char *label, bool (*accept)(struct app *app, const char *text))
{
	prompt_open(app, PROMPT_TEXT);
	app->frame->prompt.label = label;
	app->frame->prompt.accept = accept;
}

const char *prompt_label(struct app *app)
{
	const struct prompt *q = &app->frame->prompt;
	int count;
	switch (q->kind) {
	case PROMPT_SEARCH: return "/";
	case PROMPT_FILTER: return "&";
	case PROMPT_LINE: return ":";
	case PROMPT_ASSUME:
		return arena_printf(&app->scratch, "cost of %s = ",
			text_cut(&app->scratch, app_clean(app, app_plan(app)->layers[q->target].name), 24,
				true));
	case PROMPT_TEXT: return q->label;
	case PROMPT_PATH: return "open ";
	case PROMPT_CHOICE:
		return arena_printf(&app->scratch, "%s = ", what_if_table(&count)[q->target].name);
	default: return "";
	}
}

const char *prompt_help(struct app *app)
{
	const struct prompt *q = &app->frame->prompt;
	return q->kind == PROMPT_ASSUME ? "12us, 2x, 0; empty removes"
		: q->kind == PROMPT_LINE || q->kind == PROMPT_PATH ? "Tab completes, Esc cancels"
		: "Enter accepts, Esc cancels";
}

void prompt_open(struct app *app, enum prompt_kind kind)
{
	struct prompt *q = &app->frame->prompt;
	struct pane *p = app_pane(app);
	if ((kind == PROMPT_SEARCH || kind == PROMPT_FILTER) && !p->view->row_text) {
		app_note(app, false, "this view cannot be searched");
		return;
	}
	q->kind = kind;
	q->text[0] = '\0';
	q->untouched = false;
	q->start_cursor = p->cursor;
	q->start_top = p->top;
	q->start_row = pane_row(p);
	q->start_layer = app->layer;
	if (kind == PROMPT_FILTER) {
		snprintf(q->text, sizeof(q->text), "%s", p->filter);
		snprintf(q->before, sizeof(q->before), "%s", p->filter);
		q->untouched = q->text[0] != '\0';
	}
	if (kind == PROMPT_ASSUME)
		assume_ask(app);
	if (kind == PROMPT_DIM)
		form_open(app);
}

void prompt_close(struct app *app)
{
	form_free(&app->frame->prompt);
	completion_clear(&app->frame->prompt.completion);
	app->frame->prompt = (struct prompt){ 0 };
}

void prompt_ask_unbound(struct app *app)
{
	const struct plan *p = app_plan(app);
	if (p && p->unbound_count)
		prompt_open(app, PROMPT_DIM);
}

/* A bad term is said at once. Returns whether there is one. good: the text up to it. */
static bool text_is_bad(struct app *app, char good[PROMPT_SIZE])
{
	struct error err = ERROR_NONE;
	struct terms terms;
	const char *text = app->frame->prompt.text;
	bool bad = pane_parse(app_pane(app), text, &terms, &err) != 0;
	if (bad)
		app_note(app, true, "%s", err.text);
	snprintf(good, PROMPT_SIZE, "%.*s", bad ? (int)terms.end : PROMPT_SIZE, text);
	return bad;
}

static void search_restart(struct app *app)
{
	struct pane *p = app_pane(app);
	p->top = app->frame->prompt.start_top;
	pane_move(app, p, p->view->text ? p->top : app->frame->prompt.start_cursor);
}

/* Called after each change of the search text: finds the first match from where the search began. */
static void search_follow(struct app *app)
{
	struct pane *p = app_pane(app);
	char text[PROMPT_SIZE];
	text_is_bad(app, text);
	int at = pane_find(app, p, pane_place(p, app->frame->prompt.start_cursor), 1, text);
	search_restart(app);
	if (at >= 0)
		pane_find_show(app, p, at, false);
}

/* Selects the row where the filter was started whenever that row is shown. */
static void filter_apply(struct app *app, const char *text)
{
	struct pane *p = app_pane(app);
	snprintf(p->filter, sizeof(p->filter), "%.*s", PROMPT_SIZE - 1, text);
	pane_reorder(app, p);
	pane_select_row(app, p, app->frame->prompt.start_row);
	pane_tell(app, p);
}

static void filter_accept(struct app *app)
{
	struct pane *p = app_pane(app);
	filter_apply(app, app->frame->prompt.text);
	if (p->filter[0])
		app_note(app, p->shown_count == 0, "%d of %d rows match \"%s\"; %s clears the filter",
			p->shown_count, p->row_count, p->filter, key_named("back"));
}

static void assume_accept(struct app *app)
{
	struct prompt *q = &app->frame->prompt;
	struct assumption cost = { 0 };
	struct error err = ERROR_NONE;
	if (q->text[0] && assumed_parse(text_of(q->text), &cost, &err)) {
		app_note(app, true, "%s", err.text);
		return;
	}
	session_assume(app->session, q->target, &cost);
	prompt_close(app);
	app_refresh(app);
}

static void choice_accept(struct app *app)
{
	struct prompt *q = &app->frame->prompt;
	struct scenario with = *session_scenario(app->session);
	struct error err = ERROR_NONE;
	int count;
	const struct what_if *row = &what_if_table(&count)[q->target];
	const char *item = arena_printf(&app->scratch, "%s=%s", row->name, q->text[0] ? q->text : "off");
	if (strchr(q->text, ',') || scenario_parse(&with, item, &err)) {
		app_note(app, true, "%s", err.text[0] ? err.text : "a choice has no comma");
		return;
	}
	prompt_close(app);
	what_ifs_take(app, &with);
}

static void line_accept(struct app *app)
{
	char typed[PROMPT_SIZE];
	memcpy(typed, app->frame->prompt.text, sizeof(typed));
	prompt_close(app);
	if (typed[strspn(typed, " ")])
		history_add(&app->frame->history, typed);
	line_run(app, typed);
}

/* Shows the line before (direction 1) or after the one that is shown. */
static void line_earlier(struct app *app, int direction)
{
	struct prompt *q = &app->frame->prompt;
	const struct history *h = &app->frame->history;
	int to = q->earlier + direction;
	if (to < 0 || to > h->count)
		return;
	if (!q->earlier)
		memcpy(q->draft, q->text, sizeof(q->draft));
	q->earlier = to;
	snprintf(q->text, sizeof(q->text), "%s", to ? h->lines[h->count - to] : q->draft);
}

static void text_accept(struct app *app)
{
	struct prompt *q = &app->frame->prompt;
	if (!q->text[0] || q->accept(app, q->text))
		prompt_close(app);
	app_refresh(app);
}

static void prompt_accept(struct app *app)
{
	struct prompt *q = &app->frame->prompt;
	char text[PROMPT_SIZE];
	if (q->kind == PROMPT_TEXT) {
		text_accept(app);
		return;
	}
	if (q->kind == PROMPT_ASSUME || q->kind == PROMPT_CHOICE) {
		q->kind == PROMPT_ASSUME ? assume_accept(app) : choice_accept(app);
		return;
	}
	if (q->kind == PROMPT_LINE) {
		line_accept(app);
		return;
	}
	if (q->kind == PROMPT_PATH) {
		char path[PROMPT_SIZE];
		snprintf(path, sizeof(path), "%s", q->text);
		if (!path[0])
			prompt_close(app);
		else
			app_open_model(app, path); /* closes the prompt */
		return;
	}
	if (text_is_bad(app, text))
		return;
	if (q->kind == PROMPT_FILTER)
		filter_accept(app);
	else if (q->text[0]) {
		int found = app->layer;
		app->layer = q->start_layer;
		jump_remember(app);
		app->layer = found;
		snprintf(app->frame->search, sizeof(app->frame->search), "%s", text);
		struct pane *p = app_pane(app);
		int at = pane_find(app, p, pane_place(p, q->start_cursor), 1, q->text);
		if (at < 0)
			app_note(app, true, "no match for \"%s\"", q->text);
		else
			pane_find_show(app, p, at, true);
	}
	prompt_close(app);
}

/* False: there is no room. */
static bool prompt_add(struct prompt *q, uint32_t key)
{
	struct str s = { 0 };
	canvas_encode(&s, key);
	size_t n = strlen(q->text);
	bool fits = n + s.n < sizeof(q->text);
	if (fits)
		memcpy(q->text + n, s.p, s.n + 1);
	str_free(&s);
	return fits;
}

static void prompt_erase_word(struct prompt *q)
{
	size_t n = strlen(q->text);
	while (n > 0 && q->text[n - 1] == ' ')
		n--;
	while (n > 0 && q->text[n - 1] != ' ')
		n--;
	q->text[n] = '\0';
}

static void prompt_erase(struct prompt *q)
{
	size_t n = strlen(q->text);
	while (n > 0 && (q->text[n - 1] & 0xc0) == 0x80)
		n--;
	q->text[n ? n - 1 : 0] = '\0';
}

/* Restores the state before the prompt. */
static void prompt_leave(struct app *app)
{
	struct prompt *q = &app->frame->prompt;
	if (q->kind == PROMPT_SEARCH)
		search_restart(app);
	if (q->kind == PROMPT_FILTER)
		filter_apply(app, q->before);
	prompt_close(app);
}

bool prompt_edit(struct prompt *q, uint32_t key)
{
	bool erases = key == KEY_CODE_BACKSPACE || key == ('H' & 31) || key == KEY_CODE_DELETE;
	bool prints = key >= ' ' && key < KEY_CODE_UP && !(key >= 0x7f && key < 0xa0);
	if (key == ('U' & 31) || (prints && q->untouched))
		q->text[0] = '\0';
	q->untouched = false;
	if (erases)
		prompt_erase(q);
	else if (key == ('W' & 31))
		prompt_erase_word(q);
	else if (prints)
		return prompt_add(q, key);
	else
		return key == ('U' & 31);
	return true;
}

/* What the list shows follows the text. */
static void prompt_follow(struct app *app)
{
	char text[PROMPT_SIZE];
	enum prompt_kind kind = app->frame->prompt.kind;
	if (kind == PROMPT_SEARCH)
		search_follow(app);
	if (kind == PROMPT_FILTER) {
		text_is_bad(app, text);
		filter_apply(app, text);
	}
}

void prompt_paste(struct app *app, uint32_t key)
{
	struct prompt *q = &app->frame->prompt;
	completion_clear(&q->completion);
	app->note[0] = '\0';
	q->behind |= prompt_edit(q, key);
}

void prompt_catch_up(struct app *app)
{
	if (!app->frame->prompt.behind)
		return;
	app->frame->prompt.behind = false;
	pane_sync(app, app_pane(app), app_list_width(app));
	prompt_follow(app);
}

void prompt_key(struct app *app, uint32_t key)
{
	struct prompt *q = &app->frame->prompt;
	if (q->kind == PROMPT_DIM) {
		form_key(app, key);
		return;
	}
	if (key == KEY_CODE_ENTER) {
		prompt_accept(app);
		return;
	}
	if (q->kind == PROMPT_LINE && (key == KEY_CODE_TAB || key == KEY_CODE_BACKTAB)) {
		prompt_complete(app, key == KEY_CODE_TAB ? 1 : -1);
		return;
	}
	completion_clear(&q->completion);
	if (q->kind == PROMPT_LINE && (key == KEY_CODE_UP || key == KEY_CODE_DOWN)) {
		line_earlier(app, key == KEY_CODE_UP ? 1 : -1);
		return;
	}
	if (q->kind == PROMPT_PATH && key == KEY_CODE_TAB) {
		path_complete(app);
		return;
	}
	bool emptied = (key == KEY_CODE_BACKSPACE || key == ('H' & 31)) && !q->text[0];
	if (emptied && q->kind == PROMPT_FILTER) { /* an empty filter shows all rows */
		prompt_close(app);
		return;
	}
	if (key == KEY_CODE_ESC || key == ('C' & 31) || emptied) {
		prompt_leave(app);
		return;
	}
	if (prompt_edit(q, key))
		prompt_follow(app);
}
