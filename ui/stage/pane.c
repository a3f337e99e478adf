/* A pane: the rows of a view, their order, filter, cursor and scrolling. */
#include "config.h"

#include "ui/stage/stage.h"

#include <math.h>
#include <stdio.h>
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
	free(p->all);
	free(p->place);
	*p = (struct pane){ .view = p->view, .list = p->list };
}

int pane_row(const struct pane *p)
{
	return p->cursor >= 0 && p->cursor < p->shown_count ? p->shown[p->cursor] : -1;
}

/* True for a row that the cursor skips. */
static bool pane_passes(struct app *app, const struct pane *p, int at)
{
	return p->list->passes && p->list->passes(app, p->state, p->shown[at]);
}

/* Moves off a continuation row: in the direction of the move or, at the end, back. */
static void pane_settle(struct app *app, struct pane *p, int direction)
{
	for (int turn = 0; turn < 2; turn++, direction = -direction)
		for (int at = p->cursor; at >= 0 && at < p->shown_count; at += direction)
			if (!pane_passes(app, p, at)) {
				p->cursor = at;
				return;
			}
}

static void pane_keep_visible(struct app *app, struct pane *p)
{
	int page = app->stage->page > 0 ? app->stage->page : 1;
	int last = p->shown_count > 0 ? p->shown_count - 1 : 0;
	if (p->list->text) {
		int lowest = p->shown_count > page ? p->shown_count - page : 0;
		p->cursor = p->cursor > last ? last : p->cursor < 0 ? 0 : p->cursor;
		if (p->marked && (p->cursor < p->top || p->cursor >= p->top + page))
			p->top = p->cursor - page / 2;
		p->top = p->top > lowest ? lowest : p->top < 0 ? 0 : p->top;
		if (!p->marked)
			p->cursor = p->top;
		return;
	}
	p->cursor = p->cursor > last ? last : p->cursor < 0 ? 0 : p->cursor;
	int end = p->cursor; /* its continuation rows are made visible too */
	while (end < last && end - p->cursor < page - 1 && pane_passes(app, p, end + 1))
		end++;
	int most = end;
	while (most < last && p->top > p->cursor && pane_passes(app, p, most + 1))
		most++;
	if (p->cursor < p->top && most < last) /* else rows after the last that it can be on are read */
		p->top = p->cursor;
	if (end >= p->top + page)
		p->top = end - page + 1;
	if (p->top > 0 && p->top + page > p->shown_count)
		p->top = p->shown_count > page ? p->shown_count - page : 0;
}

void pane_tell(struct app *app, struct pane *p)
{
	int row = pane_row(p);
	if (p->list->select && row >= 0)
		p->list->select(app, p->state, row);
}

struct order {
	struct app *app;
	struct pane *pane;
};

static int order_compare(const void *x, const void *y, void *context)
{
	const struct order *o = context;
	int a = *(const int *)x, b = *(const int *)y;
	bool compares = o->pane->order || o->pane->list->ranked;
	struct arena_mark mark = arena_mark(&o->app->scratch);
	int c = compares ? o->pane->list->compare(o->app, o->pane->state, o->pane->order, a, b) : 0;
	arena_return(&o->app->scratch, mark);
	if (c == 0)
		c = a < b ? -1 : a > b;
	return o->pane->reverse ? -c : c;
}

struct numbered {
	double number;
	int row;
};

static int numbered_compare(const void *x, const void *y)
{
	const struct numbered *a = x, *b = y;
	int c = (a->number < b->number) - (a->number > b->number);
	return c ? c : a->row - b->row;
}

/* Sorts the first rows of p->all by the view's numbers. Returns false if the order has none. */
static bool sort_by_numbers(struct app *app, struct pane *p, int count)
{
	double number;
	if (!p->order || !p->list->number || !p->list->number(app, p->state, p->order, p->all[0], &number))
		return false;
	struct numbered *list = base_malloc((size_t)count * sizeof(*list));
	for (int i = 0; i < count; i++) {
		p->list->number(app, p->state, p->order, p->all[i], &number);
		list[i] = (struct numbered){ isnan(number) ? -INFINITY : number, p->all[i] };
	}
	qsort(list, (size_t)count, sizeof(*list), numbered_compare);
	for (int i = 0; i < count; i++)
		p->all[p->reverse ? count - 1 - i : i] = list[i].row;
	free(list);
	return true;
}

static bool is_in_order(const struct pane *p, int count, struct order *o)
{
	for (int i = 1; i < count; i++)
		if (order_compare(&p->all[i - 1], &p->all[i], o) > 0)
			return false;
	return true;
}

static void sort_rows(struct app *app, struct pane *p, int count)
{
	struct order o = { app, p };
	if (count < 2 || sort_by_numbers(app, p, count) || is_in_order(p, count, &o))
		return;
	qsort_r(p->all, (size_t)count, sizeof(*p->all), order_compare, &o);
}

int pane_parse(const struct pane *p, const char *text, struct terms *out, struct error *err)
{
	return terms_parse(out, text, !p->list->subject, err);
}

static bool row_holds(struct app *app, struct pane *p, int row, const struct terms *terms)
{
	const char *text = NULL;
	struct subject of;
	bool asked = false;
	for (int i = 0; i < terms->count; i++) {
		const struct term *t = &terms->term[i];
		if (t->key) {
			of = asked ? of : p->list->subject(app, p->state, row);
			asked = true;
			if (!term_holds(app, t, &of))
				return false;
			continue;
		}
		bool has = p->list->row_has && p->list->row_has(app, p->state, row, t->value);
		if (!has && !text)
			text = p->list->row_text(app, p->state, row);
		has = has || text_contains(text_of(text), t->value);
		if (has == t->negated)
			return false;
	}
	return true;
}

/* True if all terms of a search or filter hold for the row. Requires row_text. */
static bool row_matches(struct app *app, struct pane *p, int row, const struct terms *terms)
{
	struct arena_mark mark = arena_mark(&app->scratch);
	bool holds = row_holds(app, p, row, terms);
	arena_return(&app->scratch, mark);
	return holds;
}

int pane_shown_for(struct app *app, const struct pane *p, int row)
{
	return row < 0 || p->filter[0] || !p->list->shown_for ? row : p->list->shown_for(app, p->state, row);
}

int pane_place(const struct pane *p, int at)
{
	return at < 0 ? -1 : at < p->shown_count ? p->place[at] : p->all_count;
}

void pane_reveal(struct app *app, struct pane *p, int row)
{
	if (pane_shown_for(app, p, row) == row)
		return;
	p->list->reveal(app, p->state, row);
	pane_reorder(app, p);
}

void pane_reorder(struct app *app, struct pane *p)
{
	int row = pane_row(p), count = 0;
	struct terms filter;
	pane_parse(p, p->filter, &filter, NULL);
	if (p->row_count > p->capacity) {
		p->capacity = p->row_count;
		p->shown = base_realloc(p->shown, (size_t)p->capacity * sizeof(*p->shown));
		p->all = base_realloc(p->all, (size_t)p->capacity * sizeof(*p->all));
		p->place = base_realloc(p->place, (size_t)p->capacity * sizeof(*p->place));
	}
	bool sorts = p->order || p->reverse || p->list->ranked, filters = p->filter[0] && p->list->row_text,
	     keeps = sorts && !filters && p->has_all == p->row_count; /* they may be in order still */
	for (int i = 0; i < p->row_count && !keeps; i++)
		if (!filters || row_matches(app, p, i, &filter))
			p->all[count++] = i;
	count = keeps ? p->row_count : count;
	p->all_count = count;
	p->has_all = filters ? 0 : count;
	if (sorts)
		sort_rows(app, p, count);
	p->shown_count = 0;
	for (int i = 0; i < count; i++) {
		if (pane_shown_for(app, p, p->all[i]) != p->all[i])
			continue;
		p->place[p->shown_count] = i;
		p->shown[p->shown_count++] = p->all[i];
	}
	pane_select_row(app, p, row);
}

void pane_select_row(struct app *app, struct pane *p, int row)
{
	row = row < p->row_count ? pane_shown_for(app, p, row) : row;
	for (int i = 0; i < p->shown_count; i++)
		if (p->shown[i] == row) {
			p->cursor = i;
			if (p->list->text)
				p->top = i;
			break;
		}
	pane_keep_visible(app, p);
}

int pane_marks(const struct app *app, const struct pane *p)
{
	return app->picked_count && p->list->subject ? 1 : 0;
}

void pane_sync(struct app *app, struct pane *p, int width)
{
	width -= pane_marks(app, p);
	int rows = p->list->rows ? p->list->rows(app, p->state, width) : 0;
	bool same = rows == p->row_count && p->seen_generation == app->generation && p->seen_width == width;
	p->row_count = rows;
	p->seen_generation = app->generation;
	p->seen_width = width;
	if (same)
		pane_keep_visible(app, p);
	else if (p->list->text) {
		int top = p->top;
		pane_reorder(app, p);
		p->top = top;
		pane_keep_visible(app, p);
	} else
		pane_reorder(app, p);
}

void pane_move(struct app *app, struct pane *p, int to)
{
	int last = p->shown_count > 0 ? p->shown_count - 1 : 0, direction = to < p->cursor ? -1 : 1;
	p->cursor = to > last ? last : to < 0 ? 0 : to;
	p->marked = false;
	if (p->list->text)
		p->top = p->cursor;
	else
		pane_settle(app, p, direction);
	pane_keep_visible(app, p);
	pane_tell(app, p);
}

void pane_find_show(struct app *app, struct pane *p, int at, bool open)
{
	if (!p->list->text) {
		int row = p->all[at];
		if (open)
			pane_reveal(app, p, row);
		pane_select_row(app, p, row);
		pane_move(app, p, p->cursor);
		return;
	}
	p->cursor = at;
	p->marked = true;
	pane_keep_visible(app, p);
}

static void scroll_to_row(struct app *app, struct pane *p, int top)
{
	p->top = top < 0 ? 0 : top;
	pane_keep_visible(app, p);
}

/* Returns how far the cursor did not go. On the way up, rows below it that are read come first. */
static int cursor_step(struct app *app, struct pane *p, int by)
{
	int before = p->cursor, below = by < 0 && p->top > before ? p->top - before : 0;
	if (below >= -by && by < 0)
		return by;
	pane_move(app, p, before + by + below);
	int left = by + below - (p->cursor - before);
	return (left > 0) == (by > 0) ? left : 0;
}

void pane_step(struct app *app, struct pane *p, int by)
{
	if (p->list->text)
		pane_move(app, p, p->top + by);
	else
		scroll_to_row(app, p, cursor_step(app, p, by) + p->top);
}

void pane_scroll(struct app *app, struct pane *p, int by)
{
	int top = p->top + by;
	p->top = top < 0 ? 0 : top;
	if (p->list->text)
		pane_move(app, p, p->top);
	else if (cursor_step(app, p, by) == by)
		scroll_to_row(app, p, top);
}

const char *pane_filter_text(struct app *app, const struct pane *p, int room)
{
	if (!p->filter[0])
		return "";
	const char *counts = arena_printf(&app->scratch, "%d/%d", p->shown_count, p->row_count);
	const char *text = app_clean(app, text_of(p->filter)), *end = text;
	room -= canvas_columns(counts) + 3;
	for (const char *next = text; *next;) {
		room -= text_code_columns(text_decode(&next));
		if (room >= 0)
			end = next;
	}
	return end == text ? arena_printf(&app->scratch, "&%s", counts)
			   : arena_printf(&app->scratch, "&%.*s%s %s", (int)(end - text), text,
				     *end ? "\u2026" : "", counts);
}

int pane_find(struct app *app, struct pane *p, int from, int direction, const char *text)
{
	struct terms terms;
	if (!p->list->row_text || pane_parse(p, text, &terms, NULL) || !terms.count)
		return -1;
	for (int i = 0; i < p->all_count; i++) {
		int at = (from + direction * i) % p->all_count;
		at = at < 0 ? at + p->all_count : at;
		if (row_matches(app, p, p->all[at], &terms))
			return at;
	}
	return -1;
}

static const struct pane *pane_of(const struct app *app, const struct view *view)
{
	return &app->stage->panes[views_number(view)];
}

const char *app_order_mark(const struct app *app, const struct view *view, int order)
{
	const struct pane *p = pane_of(app, view);
	if (p->order != order || !app_is_sorted(app, view))
		return "";
	return app->stage->canvas.ascii ? (p->reverse ? " ^" : " v") : (p->reverse ? "\u25b2" : "\u25bc");
}

bool app_is_sorted(const struct app *app, const struct view *view)
{
	const struct pane *p = pane_of(app, view);
	return p->order || p->reverse;
}

bool app_is_filtered(const struct app *app, const struct view *view)
{
	return pane_of(app, view)->filter[0] != '\0';
}
