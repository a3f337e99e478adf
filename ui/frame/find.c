/* Search and filter: the prompts, and what the list shows while they are typed. */
#include "config.h"

#include "ui/frame/frame.h"

#include <stdio.h>

/* A bad term is said at once. Returns whether there is one. good: the text up to it. */
static bool text_is_bad(struct app *app, char good[PROMPT_SIZE])
{
	struct error err = ERROR_NONE;
	struct terms terms;
	const char *text = app->stage->prompt.text;
	bool bad = pane_parse(app_pane(app), text, &terms, &err) != 0;
	if (bad)
		app_note(app, true, "%s", err.text);
	snprintf(good, PROMPT_SIZE, "%.*s", bad ? (int)terms.end : PROMPT_SIZE, text);
	return bad;
}

static void search_restart(struct app *app)
{
	struct pane *p = app_pane(app);
	p->top = app->stage->prompt.start_top;
	pane_move(app, p, p->list->text ? p->top : app->stage->prompt.start_cursor);
}

/* Called after each change of the search text: finds the first match from where the search began. */
static void search_follow(struct app *app)
{
	struct pane *p = app_pane(app);
	char text[PROMPT_SIZE];
	text_is_bad(app, text);
	int at = pane_find(app, p, pane_place(p, app->stage->prompt.start_cursor), 1, text);
	search_restart(app);
	if (at >= 0)
		pane_find_show(app, p, at, false);
}

static void search_accept(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	char text[PROMPT_SIZE];
	if (text_is_bad(app, text))
		return;
	if (q->text[0]) {
		int found = app->layer;
		app->layer = q->start_layer;
		jump_remember(app);
		app->layer = found;
		snprintf(app->stage->search, sizeof(app->stage->search), "%s", text);
		struct pane *p = app_pane(app);
		int at = pane_find(app, p, pane_place(p, q->start_cursor), 1, q->text);
		if (at < 0)
			app_note(app, true, "no match for \"%s\"", q->text);
		else
			pane_find_show(app, p, at, true);
	}
	prompt_close(app);
}

/* Selects the row where the filter was started whenever that row is shown. */
static void filter_apply(struct app *app, const char *text)
{
	struct pane *p = app_pane(app);
	snprintf(p->filter, sizeof(p->filter), "%.*s", PROMPT_SIZE - 1, text);
	pane_reorder(app, p);
	pane_select_row(app, p, app->stage->prompt.start_row);
	pane_tell(app, p);
}

static void filter_follow(struct app *app)
{
	char text[PROMPT_SIZE];
	text_is_bad(app, text);
	filter_apply(app, text);
}

static void filter_accept(struct app *app)
{
	struct pane *p = app_pane(app);
	char text[PROMPT_SIZE];
	if (text_is_bad(app, text))
		return;
	filter_apply(app, app->stage->prompt.text);
	if (p->filter[0])
		app_note(app, p->shown_count == 0, "%d of %d rows match \"%s\"; %s clears the filter",
			p->shown_count, p->row_count, p->filter, key_named("back"));
	prompt_close(app);
}

static void filter_leave(struct app *app)
{
	filter_apply(app, app->stage->prompt.before);
}

const struct prompt_use prompt_search = { .label = "/", .accept = search_accept, .follow = search_follow,
	.leave = search_restart };
const struct prompt_use prompt_filter = { .label = "&", .accept = filter_accept, .follow = filter_follow,
	.leave = filter_leave, .leaves_empty = true };

/* Returns whether the view has rows to search. */
static bool begin(struct app *app, const struct prompt_use *use)
{
	struct prompt *q = &app->stage->prompt;
	const struct pane *p = app_pane(app);
	if (!p->list->row_text) {
		app_note(app, false, "this view cannot be searched");
		return false;
	}
	prompt_open(app, use);
	q->start_cursor = p->cursor;
	q->start_top = p->top;
	q->start_row = pane_row(p);
	q->start_layer = app->layer;
	return true;
}

void search_ask(struct app *app)
{
	begin(app, &prompt_search);
}

void filter_ask(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	if (!begin(app, &prompt_filter))
		return;
	snprintf(q->text, sizeof(q->text), "%s", app_pane(app)->filter);
	snprintf(q->before, sizeof(q->before), "%s", q->text);
	q->untouched = q->text[0] != '\0';
}

void find_next(struct app *app, int direction)
{
	struct pane *p = app_pane(app);
	int at = pane_find(app, p, pane_place(p, p->cursor) + direction, direction, app->stage->search);
	int first = at, count = app->count;
	for (int n = 1; n < count && at >= 0; n++) {
		at = pane_find(app, p, at + direction, direction, app->stage->search);
		if (at == first) /* n matches in all */
			count = n + 1 + (count - 1) % n;
	}
	if (at >= 0)
		pane_find_show(app, p, at, true);
	else
		app_note(app, app->stage->search[0] != '\0',
			app->stage->search[0] ? "no match for \"%s\"" : "no search text: / starts a search",
			app->stage->search);
}
