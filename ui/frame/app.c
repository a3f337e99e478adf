#include "config.h"

#include "ui/frame/frame.h"

#include <stdlib.h>
#include <string.h>

struct pane *app_pane(struct app *app)
{
	return &app->frame->panes[app->frame->stack[app->frame->depth]];
}

void pane_enter(struct app *app)
{
	struct pane *p = app_pane(app);
	int layer = app->layer;
	pane_open(app, p);
	pane_sync(app, p, app_list_width(app));
	int row = p->view->row_of_layer ? p->view->row_of_layer(app, p->state, layer)
		: p->view->row_at_entry ? p->view->row_at_entry(app, p->state) : -1;
	if (row >= 0)
		pane_select_row(app, p, row);
	if (p->view->row_of_layer && pane_row(p) != pane_shown_for(app, p, row))
		pane_tell(app, p); /* not listed: take the layer of the highlighted row */
}

/* Opens a view. Each is on the stack at most once: one opened earlier moves to the top; layers is the bottom.
 * */
void app_show(struct app *app, const struct view *view, int layer)
{
	int number = views_number(view), kept = 1;
	app->frame->trail_count = 0;
	if (layer >= 0)
		app->layer = layer;
	if (number == 0)
		app->frame->depth = 0;
	else {
		for (int i = 1; i <= app->frame->depth; i++)
			if (app->frame->stack[i] != number)
				app->frame->stack[kept++] = app->frame->stack[i];
		app->frame->stack[kept] = number;
		app->frame->depth = kept;
	}
	pane_enter(app);
}

void app_follow(struct app *app, int layer)
{
	struct frame *f = app->frame;
	int most = (int)(sizeof(f->trail) / sizeof(*f->trail));
	if (f->trail_count == most)
		memmove(f->trail, f->trail + 1, (size_t)--f->trail_count * sizeof(*f->trail));
	int count = f->trail_count;
	f->trail[count].layer = app->layer;
	f->trail[count].cursor = app_pane(app)->cursor;
	app_show(app, views_details(), layer);
	f->trail_count = count + 1;
}

/* Returns to the layer from which a line of the details was followed. */
static void trail_back(struct app *app)
{
	int at = --app->frame->trail_count;
	if (app->frame->trail[at].layer >= app->place_count)
		return;
	app->layer = app->frame->trail[at].layer;
	pane_enter(app);
	pane_move(app, app_pane(app), app->frame->trail[at].cursor);
}

const struct view *app_view_before(const struct app *app)
{
	const struct frame *f = app->frame;
	return views_at(f->depth > 0 ? f->stack[f->depth - 1] : 0);
}

/* Tab: the next view replaces this one on the stack, so Esc still returns to the layers. */
void view_cycle(struct app *app, int direction)
{
	int number = (app->frame->stack[app->frame->depth] + direction + views_count()) % views_count();
	if (app->frame->depth > 0)
		app->frame->depth--;
	app_show(app, views_at(number), -1);
}

void view_back(struct app *app, bool quit_at_top)
{
	struct pane *p = app_pane(app);
	if (!quit_at_top && p->filter[0]) {
		p->filter[0] = '\0';
		pane_reorder(app, p);
	} else if (!quit_at_top && p->view->details && app->frame->trail_count > 0) {
		trail_back(app);
	} else if (app->frame->depth > 0) {
		app->frame->trail_count = 0;
		app->frame->depth--;
		pane_enter(app);
	} else if (quit_at_top)
		question_leave(app);
	else
		app->frame->search[0] = '\0';
}

#define NOTE_MS 3000

void app_note_age(struct app *app, int64_t now_ms)
{
	bool busy = !app_queue_status(app).idle || app_agent_is_busy(app);
	if (busy && !app->note_bad && !app->frame->prompt.kind && now_ms - app->note_ms >= NOTE_MS)
		app->note[0] = '\0';
}

#define RENEW_QUICK_MS 4   /* an analysis that takes no longer never waits */
#define KEYS_PAUSE_MS 500
#define RENEW_SHARE 10     /* an analysis is repeated after 10 times its duration */

void app_pace(struct app *app, int64_t typed_ms, int64_t now_ms)
{
	app->results_wait = app->renew_ms > RENEW_QUICK_MS && (now_ms - typed_ms < KEYS_PAUSE_MS ||
		now_ms - app->renewed_ms < RENEW_SHARE * app->renew_ms);
}

bool app_refresh(struct app *app)
{
	enum app_change change = app_renew(app);
	const struct pane *p = app_pane(app);
	if (change == APP_RELISTED && p->is_open && !p->view->text && !p->view->details)
		pane_enter(app);
	return change != APP_SAME;
}

bool app_go_on(struct app *app, int ms)
{
	bool compared = session_reality_pending(app->session), more = session_effects_step(app->session, ms);
	app->generation += compared && !session_reality_pending(app->session); /* filters ask for it */
	if (!more && app_missing_waits(app))
		app_missing(app);
	return more;
}

int theme_set(struct app *app, const struct config_word *words, int count, struct error *err)
{
	struct theme made;
	if (theme_make(&made, words, count, app->frame->light, err))
		return -1;
	app->frame->theme = made;
	app->frame->redraw = true;
	return 0;
}

void theme_use(struct app *app, bool light)
{
	const struct config *c = session_config(app->session);
	struct error err = ERROR_NONE;
	app->frame->light = light;
	if (!c || theme_set(app, c->theme, c->theme_count, &err)) /* cmd_explore has refused what is wrong */
		theme_set(app, NULL, 0, &err);
}

void app_init(struct app *app, struct session *s, int columns, int rows, bool ascii)
{
	views_register();
	int count = views_count();
	app_begin(app, s);
	app->frame = base_calloc(1, sizeof(*app->frame));
	app->frame->page = rows > 12 ? rows - 11 : 1; /* about, until the first drawing */
	app->frame->clicked = -1;
	theme_use(app, false);
	app->frame->redraw = false;
	app->frame->panes = base_calloc((size_t)count, sizeof(*app->frame->panes));
	app->frame->stack = base_calloc((size_t)count + 1, sizeof(*app->frame->stack));
	app->frame->canvas.ascii = ascii;
	canvas_resize(&app->frame->canvas, columns, rows);
	for (int i = 0; i < count; i++)
		app->frame->panes[i].view = views_at(i);
	app_refresh(app);
	if (app->scopes.closed)
		app_note(app, false, "%d layers in closed scopes; %s opens one, %s all",
			app->listed_count, key_named("fold-open"), key_named("layers.unfold-all"));
	pane_open(app, &app->frame->panes[0]);
	pane_sync(app, &app->frame->panes[0], app_list_width(app));
}

void app_free(struct app *app)
{
	for (int i = 0; i < views_count(); i++)
		pane_close(app, &app->frame->panes[i]);
	prompt_close(app);
	history_free(&app->frame->history);
	str_free(&app->frame->copy);
	canvas_free(&app->frame->canvas);
	free(app->frame->items);
	free(app->frame->panes);
	free(app->frame->stack);
	free(app->frame);
	app_end(app);
}
