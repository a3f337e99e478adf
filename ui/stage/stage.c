/* The stage at its beginning and end. */
#include "config.h"

#include "ui/stage/stage.h"

#include <stdlib.h>

void stage_begin(struct app *app, int columns, int rows, bool ascii)
{
	int count = views_count();
	struct stage *s = app->stage = base_calloc(1, sizeof(*s));
	s->page = rows > 12 ? rows - 11 : 1; /* about, until the first drawing */
	s->panes = base_calloc((size_t)count, sizeof(*s->panes));
	s->stack = base_calloc((size_t)count + 1, sizeof(*s->stack));
	s->canvas.ascii = ascii;
	canvas_resize(&s->canvas, columns, rows);
	for (int i = 0; i < count; i++)
		s->panes[i] = (struct pane){ .view = views_at(i), .list = view_list(views_at(i)) };
}

void stage_end(struct app *app)
{
	struct stage *s = app->stage;
	for (int i = 0; i < views_count(); i++)
		pane_close(app, &s->panes[i]);
	prompt_close(app);
	str_free(&s->copy);
	canvas_free(&s->canvas);
	free(s->items);
	free(s->panes);
	free(s->stack);
	free(s);
}
