#include "config.h"

#include "ui/app_private.h"

#include <stdlib.h>
#include <string.h>

void pane_open(struct app *app, struct pane *p)
{
	if (p->is_open)
		return;
	p->state = base_calloc(1, p->view->state_size + 1);
	p->is_open = true;
	p->seen_width = -1;
	if (p->view->open)
		p->view->open(app, p->state);
}

void pane_close(struct app *app, struct pane *p)
{
	if (!p->is_open)
		return;
	if (p->view->close)
		p->view->close(app, p->state);
	free(p->state);
	free(p->shown);
	*p = (struct pane){ .view = p->view };
}

int pane_row(const struct pane *p)
{
	return p->cursor >= 0 && p->cursor < p->shown_count ? p->shown[p->cursor] : -1;
}

static void pane_keep_visible(const struct app *app, struct pane *p)
{
	int page = app->page > 0 ? app->page : 1;
	int last = p->shown_count > 0 ? p->shown_count - 1 : 0;
	if (p->view->text) {
		int lowest = p->shown_count > page ? p->shown_count - page : 0;
		p->top = p->top > lowest ? lowest : p->top < 0 ? 0 : p->top;
		p->cursor = p->top;
		return;
	}
	p->cursor = p->cursor > last ? last : p->cursor < 0 ? 0 : p->cursor;
	if (p->cursor < p->top)
		p->top = p->cursor;
	if (p->cursor >= p->top + page)
		p->top = p->cursor - page + 1;
	if (p->top > 0 && p->top + page > p->shown_count)
		p->top = p->shown_count > page ? p->shown_count - page : 0;
}

static void pane_tell(struct app *app, struct pane *p)
{
	int row = pane_row(p);
	if (p->view->select && row >= 0)
		p->view->select(app, p->state, row);
}

struct order {
	struct app *app;
	struct pane *pane;
};

static int order_compare(const void *x, const void *y, void *context)
{
	const struct order *o = context;
	int a = *(const int *)x, b = *(const int *)y;
	int c = o->pane->order ? o->pane->view->compare(o->app, o->pane->state, o->pane->order, a, b) : 0;
	if (c == 0)
		c = a < b ? -1 : a > b;
	return o->pane->reverse ? -c : c;
}

void pane_reorder(struct app *app, struct pane *p)
{
	int row = pane_row(p), count = 0;
	if (p->row_count > p->capacity) {
		p->capacity = p->row_count;
		p->shown = base_realloc(p->shown, (size_t)p->capacity * sizeof(*p->shown));
	}
	for (int i = 0; i < p->row_count; i++) {
		if (p->filter[0] && p->view->row_text &&
			!text_contains(text_of(p->view->row_text(app, p->state, i)), text_of(p->filter)))
			continue;
		p->shown[count++] = i;
	}
	p->shown_count = count;
	struct order o = { app, p };
	if (count > 1 && (p->order || p->reverse))
		qsort_r(p->shown, (size_t)count, sizeof(*p->shown), order_compare, &o);
	pane_select_row(app, p, row);
}

void pane_select_row(struct app *app, struct pane *p, int row)
{
	for (int i = 0; i < p->shown_count; i++)
		if (p->shown[i] == row) {
			p->cursor = i;
			if (p->view->text)
				p->top = i;
			break;
		}
	pane_keep_visible(app, p);
	pane_tell(app, p);
}

void pane_sync(struct app *app, struct pane *p, int width)
{
	int rows = p->view->rows(app, p->state, width);
	bool same = rows == p->row_count && p->seen_generation == app->generation && p->seen_width == width;
	p->row_count = rows;
	p->seen_generation = app->generation;
	p->seen_width = width;
	if (same)
		pane_keep_visible(app, p);
	else if (p->view->text) {
		int top = p->top;
		pane_reorder(app, p);
		p->top = top;
		pane_keep_visible(app, p);
	} else
		pane_reorder(app, p);
}

void pane_move(struct app *app, struct pane *p, int to)
{
	p->cursor = to;
	if (p->view->text)
		p->top = to;
	pane_keep_visible(app, p);
	pane_tell(app, p);
}

void pane_scroll(struct app *app, struct pane *p, int by)
{
	int cursor = p->cursor + by;
	p->top += by;
	if (p->top < 0)
		p->top = 0;
	pane_move(app, p, p->view->text ? p->top : cursor);
}

int pane_find(struct app *app, struct pane *p, int from, int direction, const char *text)
{
	if (!p->view->row_text || !text[0])
		return -1;
	for (int i = 0; i < p->shown_count; i++) {
		int at = (from + direction * i) % p->shown_count;
		at = at < 0 ? at + p->shown_count : at;
		if (text_contains(text_of(p->view->row_text(app, p->state, p->shown[at])), text_of(text)))
			return at;
	}
	return -1;
}
