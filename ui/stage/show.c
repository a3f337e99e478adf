/* Views opened one from another, the selected layer in them, what of it fits the screen. */
#include "config.h"

#include "ui/model/real.h"
#include "ui/stage/stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool app_has_real_column(const struct app *app)
{
	const struct reality *y = app_reality(app);
	return app->stage->canvas.width >= APP_REAL_WIDTH && y && y->group_count;
}

/* Details are shown at the right only if the list keeps all its columns of an 80-column screen. */
int app_list_width(const struct app *app)
{
	const struct view *v = app->stage->panes[app->stage->stack[app->stage->depth]].view;
	int lanes = app->lanes.width < 2 ? 2 : app->lanes.width > 5 ? 5 : app->lanes.width;
	int least = APP_LIST_COLUMNS + 2 * lanes, width = app->stage->canvas.width, right = width * 2 / 5;
	if (!v->beside || width < least + 1 + APP_PANE_COLUMNS)
		return width;
	right = right > 80 ? 80 : right > width - least - 1 ? width - least - 1 : right;
	int wanted = least - APP_LIST_NAMES +
		app->name_columns; /* names that are cut take columns of the details */
	wanted += app_has_real_column(app) ? APP_REAL_COLUMNS : 0;
	wanted += wanted >= APP_LIST_WIDE ? APP_LIST_WIDE_MORE : 0;
	if (view_list(v)->long_names && width - right - 1 < wanted)
		right = width - 1 - wanted;
	return width - (right < APP_PANE_COLUMNS ? APP_PANE_COLUMNS : right) - 1;
}

bool app_is_too_small(const struct app *app)
{
	return app->stage->canvas.width < APP_COLUMNS_MIN || app->stage->canvas.height < APP_ROWS_MIN;
}

struct queue_status app_queue_status(const struct app *app)
{
	struct queue_status none = { .idle = true, .eta_s = NAN };
	return session_queue(app->session) ? queue_status(session_queue(app->session)) : none;
}

struct pane *app_pane(struct app *app)
{
	return &app->stage->panes[app->stage->stack[app->stage->depth]];
}

bool app_refresh(struct app *app)
{
	enum app_change change = app_renew(app);
	const struct pane *p = app_pane(app);
	if (change == APP_RELISTED && p->is_open && !p->list->text && !p->view->details)
		pane_enter(app);
	return change != APP_SAME;
}

void pane_enter(struct app *app)
{
	struct pane *p = app_pane(app);
	int layer = app->layer;
	pane_open(app, p);
	pane_sync(app, p, app_list_width(app));
	int row = p->list->row_of_layer ? p->list->row_of_layer(app, p->state, layer)
		: p->list->row_at_entry ? p->list->row_at_entry(app, p->state) : -1;
	if (row >= 0)
		pane_select_row(app, p, row);
	if (p->list->row_of_layer && pane_row(p) != pane_shown_for(app, p, row))
		pane_tell(app, p); /* not listed: take the layer of the highlighted row */
}

/* Opens a view. Each is on the stack at most once: one opened earlier moves to the top; layers is the bottom.
 * */
void app_show(struct app *app, const struct view *view, int layer)
{
	int number = views_number(view), kept = 1;
	app->stage->trail_count = 0;
	if (layer >= 0)
		app->layer = layer;
	if (number == 0)
		app->stage->depth = 0;
	else {
		for (int i = 1; i <= app->stage->depth; i++)
			if (app->stage->stack[i] != number)
				app->stage->stack[kept++] = app->stage->stack[i];
		app->stage->stack[kept] = number;
		app->stage->depth = kept;
	}
	pane_enter(app);
}

void app_follow(struct app *app, int layer)
{
	struct stage *s = app->stage;
	int most = (int)(sizeof(s->trail) / sizeof(*s->trail));
	if (s->trail_count == most)
		memmove(s->trail, s->trail + 1, (size_t)--s->trail_count * sizeof(*s->trail));
	int count = s->trail_count;
	s->trail[count].layer = app->layer;
	s->trail[count].cursor = app_pane(app)->cursor;
	app_show(app, views_details(), layer);
	s->trail_count = count + 1;
}

const struct view *app_view_before(const struct app *app)
{
	const struct stage *s = app->stage;
	return views_at(s->depth > 0 ? s->stack[s->depth - 1] : 0);
}

static void unfold_set(struct app *app, int layer, bool open)
{
	app->unfolded[layer] = open;
	app->unfold_changes++;
	app_refresh(app);
}

bool app_unfold(struct app *app, int layer)
{
	if (layer < 0 || layer >= app->place_count || app->unfolded[layer] || !app_can_unfold(app, layer))
		return false;
	unfold_set(app, layer, true);
	return true;
}

bool app_fold(struct app *app, int layer)
{
	if (layer < 0 || layer >= app->place_count)
		return false;
	if (!app->unfolded[layer])
		layer = app->places[layer].owner;
	if (layer < 0 || !app->unfolded[layer])
		return false;
	app->layer = layer;
	unfold_set(app, layer, false);
	return true;
}

void sort_by(struct app *app, int order)
{
	struct pane *p = app_pane(app);
	p->order = order;
	p->reverse = false;
	pane_reorder(app, p);
	pane_move(app, p, 0);
	pane_tell(app, p);
	app_note(app, false, "sorted by %s", p->list->orders[order]);
}

bool view_request(struct app *app, const struct key_row *key)
{
	struct pane *p = app_pane(app);
	return p->view->request && p->view->request(app, p->state, key, pane_row(p));
}

/* The number of the view's order of that name, or -1. */
int order_named(const struct view *view, const char *name)
{
	const char *const *orders = view_list(view)->orders;
	for (int i = 0; orders && orders[i]; i++)
		if (strcmp(orders[i], name) == 0)
			return i;
	return -1;
}

void app_show_only(struct app *app, const char *filter)
{
	app_show(app, views_at(0), -1);
	struct pane *p = app_pane(app);
	snprintf(p->filter, sizeof(p->filter), "%s", filter);
	sort_by(app, order_named(p->view, "cost"));
	app_note(app, false, "%s: %d layer%s, the costliest first; %s shows all", p->filter, p->shown_count,
		p->shown_count == 1 ? "" : "s", key_named("back"));
}
