#include "config.h"

#include "ui/app_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Dimensions that can be asked for: those without a value, or, where all have one, those that are bound. */
static int dims_count(const struct app *app)
{
	const struct plan *p = app_plan(app);
	return !p ? 0 : p->unbound_count ? p->unbound_count : p->binding_count;
}

static void dim_set(struct app *app, int index)
{
	struct prompt *q = &app->prompt;
	const struct plan *p = app_plan(app);
	struct text name = p->unbound_count ? p->unbound[index] : p->bindings[index].name;
	free(q->dim_name);
	free((char *)q->dim.p);
	char *copy = base_malloc(name.n + 1);
	if (name.n)
		memcpy(copy, name.p, name.n);
	copy[name.n] = '\0';
	q->dim = (struct text){ copy, name.n };
	q->dim_name = base_strdup(app_clean(app, name));
	q->dim_index = index;
	q->text[0] = '\0';
	q->untouched = !p->unbound_count;
	if (!p->unbound_count)
		snprintf(q->text, sizeof(q->text), "%lld", (long long)p->bindings[index].value);
}

void prompt_open(struct app *app, enum prompt_kind kind)
{
	struct prompt *q = &app->prompt;
	struct pane *p = app_pane(app);
	if (kind == PROMPT_DIM && dims_count(app) == 0) {
		app_note(app, false, "this model has no symbolic dimensions");
		return;
	}
	if (kind != PROMPT_DIM && !p->view->row_text) {
		app_note(app, false, "nothing to search in here");
		return;
	}
	q->kind = kind;
	q->text[0] = '\0';
	q->untouched = false;
	q->start_cursor = p->cursor;
	q->start_top = p->top;
	q->start_row = pane_row(p);
	if (kind == PROMPT_FILTER) {
		snprintf(q->text, sizeof(q->text), "%s", p->filter);
		snprintf(q->before, sizeof(q->before), "%s", p->filter);
		q->untouched = q->text[0] != '\0';
	}
	if (kind == PROMPT_DIM)
		dim_set(app, 0);
}

void prompt_close(struct app *app)
{
	free(app->prompt.dim_name);
	free((char *)app->prompt.dim.p);
	app->prompt = (struct prompt){ 0 };
}

void prompt_ask_unbound(struct app *app)
{
	const struct plan *p = app_plan(app);
	if (p && p->unbound_count)
		prompt_open(app, PROMPT_DIM);
}

static void search_restart(struct app *app)
{
	struct pane *p = app_pane(app);
	p->top = app->prompt.start_top;
	pane_move(app, p, p->view->text ? p->top : app->prompt.start_cursor);
}

/* After every change of a search's text: the first match from where the search began. */
static void search_follow(struct app *app)
{
	struct pane *p = app_pane(app);
	int at = pane_find(app, p, app->prompt.start_cursor, 1, app->prompt.text);
	search_restart(app);
	if (at >= 0)
		pane_find_show(app, p, at);
}

/* The row where the filter began stays selected, or is again, while it is shown. */
static void filter_apply(struct app *app, const char *text)
{
	struct pane *p = app_pane(app);
	snprintf(p->filter, sizeof(p->filter), "%s", text);
	pane_reorder(app, p);
	pane_select_row(app, p, app->prompt.start_row);
	pane_tell(app, p);
}

static void filter_accept(struct app *app)
{
	struct pane *p = app_pane(app);
	filter_apply(app, app->prompt.text);
	if (p->filter[0])
		app_note(app, p->shown_count == 0, "%d of %d rows contain \"%s\"; Esc shows all again",
			p->shown_count, p->row_count, p->filter);
}

static void dim_accept(struct app *app)
{
	struct prompt *q = &app->prompt;
	struct error err = ERROR_NONE;
	int64_t value;
	if (!q->text[0] || q->untouched) { /* left as it is: on to the next one */
		int next = q->dim_index + 1;
		if (next < dims_count(app))
			dim_set(app, next);
		else
			prompt_close(app);
		return;
	}
	if (!text_to_int64(text_of(q->text), &value) || value < 0 || value > INT32_MAX) {
		app_note(app, true, "%s: a whole number from 0 to %d, please", q->dim_name, INT32_MAX);
		return;
	}
	bool was_unbound = app_plan(app) && app_plan(app)->unbound_count;
	int bad = session_bind(app->session, q->dim, value, &err);
	app_refresh(app);
	if (bad) {
		app_note(app, true, "%s = %lld: %s", q->dim_name, (long long)value, err.text);
		q->text[0] = '\0';
		return;
	}
	int next = was_unbound ? 0 : q->dim_index + 1;
	bool more = was_unbound ? app_plan(app)->unbound_count > 0 : next < dims_count(app);
	if (more)
		dim_set(app, next);
	else
		prompt_close(app);
}

static void prompt_accept(struct app *app)
{
	struct prompt *q = &app->prompt;
	if (q->kind == PROMPT_DIM) {
		dim_accept(app);
		return;
	}
	if (q->kind == PROMPT_FILTER)
		filter_accept(app);
	else if (q->text[0]) {
		snprintf(app->search, sizeof(app->search), "%s", q->text);
		if (pane_find(app, app_pane(app), 0, 1, q->text) < 0)
			app_note(app, true, "\"%s\" is nowhere here", q->text);
	}
	prompt_close(app);
}

static void prompt_add(struct prompt *q, uint32_t key)
{
	struct str s = { 0 };
	canvas_encode(&s, key);
	if (strlen(q->text) + s.n < sizeof(q->text))
		memcpy(q->text + strlen(q->text), s.p, s.n + 1);
	str_free(&s);
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

/* Leaves everything as it was before the prompt. */
static void prompt_leave(struct app *app)
{
	struct prompt *q = &app->prompt;
	if (q->kind == PROMPT_SEARCH)
		search_restart(app);
	if (q->kind == PROMPT_FILTER)
		filter_apply(app, q->before);
	prompt_close(app);
}

/* Changes the text. Returns whether the key was one for that. */
static bool prompt_edit(struct prompt *q, uint32_t key)
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
		prompt_add(q, key);
	else
		return key == ('U' & 31);
	return true;
}

void prompt_key(struct app *app, uint32_t key)
{
	struct prompt *q = &app->prompt;
	if (key == KEY_CODE_ENTER) {
		prompt_accept(app);
		return;
	}
	bool emptied = (key == KEY_CODE_BACKSPACE || key == ('H' & 31)) && !q->text[0];
	if (emptied && q->kind == PROMPT_FILTER) { /* an empty filter is one too: all rows */
		prompt_close(app);
		return;
	}
	if (key == KEY_CODE_ESC || key == ('C' & 31) || emptied) {
		prompt_leave(app);
		return;
	}
	if (!prompt_edit(q, key))
		return;
	if (q->kind == PROMPT_SEARCH)
		search_follow(app);
	if (q->kind == PROMPT_FILTER)
		filter_apply(app, q->text);
}
