/* Lines of a page: made by breaking texts at blanks, kept until width or state change. */
#include "config.h"

#include "ui/model/page.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_LEAST 20 /* columns that a text gets on any screen */

bool page_part(const char **text, int columns, struct text *part)
{
	*part = (struct text){ *text, app_break(*text, columns) };
	*text += part->n + strspn(*text + part->n, " ");
	return part->n > 0;
}

int page_parts(const char *text, int columns)
{
	int count = 0;
	for (struct text part; columns > 0 && page_part(&text, columns, &part);)
		count++;
	return count;
}

bool page_is_old(const struct page *p, const struct app *app, int width)
{
	return !p->count || p->generation != app->generation || p->width != width;
}

void page_begin(struct page *p, const struct app *app, int width)
{
	arena_free(&p->arena);
	p->count = 0;
	p->width = width;
	p->generation = app->generation;
}

struct page_line *page_add(struct page *p, int at, enum style style, const char *text)
{
	VEC_GROW(p->lines, p->count, p->capacity);
	p->lines[p->count] = (struct page_line){ .text = text, .style = style, .at = at, .item = -1 };
	return &p->lines[p->count++];
}

int page_room(const struct page *p, int at)
{
	int room = p->width - at - p->margin;
	return room > ROOM_LEAST ? room : ROOM_LEAST;
}

int page_wrap(struct page *p, int at, int then, enum style style, const char *text)
{
	int first = p->count;
	for (struct text part; page_part(&text, page_room(p, at), &part); at = then) {
		struct page_line *l = page_add(p, at, style, arena_strndup(&p->arena, part.p, part.n));
		l->passed = p->count > first + 1;
	}
	return first;
}

void page_free(struct page *p)
{
	arena_free(&p->arena);
	free(p->lines);
	*p = (struct page){ 0 };
}

const char *page_row_text(struct app *app, void *state, int row)
{
	const struct page_line *l = &((struct page *)state)->lines[row];
	return l->label ? arena_printf(&app->scratch, "%s %s", l->label, l->text) : l->text;
}

bool page_passes(struct app *app, void *state, int row)
{
	(void)app;
	return ((struct page *)state)->lines[row].passed;
}

void page_draw_row(struct app *app, void *state, int row, int shown_after, struct area line)
{
	const struct page_line *l = &((struct page *)state)->lines[row];
	(void)app;
	(void)shown_after;
	canvas_fit(line, l->at, 0, line.width - l->at, l->style, l->text);
}

void page_close(struct app *app, void *state)
{
	(void)app;
	page_free(state);
}
