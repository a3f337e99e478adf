/* The explorer from its beginning to its end; the stack of views; theme; when results are analyzed. */
#include "config.h"

#include "ui/frame/frame.h"

#include <stdlib.h>
#include <string.h>

/* Returns to the layer from which a line of the details was followed. */
static void trail_back(struct app *app)
{
	int at = --app->stage->trail_count;
	if (app->stage->trail[at].layer >= app->place_count)
		return;
	app->layer = app->stage->trail[at].layer;
	pane_enter(app);
	pane_move(app, app_pane(app), app->stage->trail[at].cursor);
}

/* Tab: the next view replaces this one on the stack, so Esc still returns to the layers. */
void view_cycle(struct app *app, int direction)
{
	int number = (app->stage->stack[app->stage->depth] + direction + views_count()) % views_count();
	if (app->stage->depth > 0)
		app->stage->depth--;
	app_show(app, views_at(number), -1);
}

void view_back(struct app *app, bool quit_at_top)
{
	struct pane *p = app_pane(app);
	if (!quit_at_top && p->filter[0]) {
		p->filter[0] = '\0';
		pane_reorder(app, p);
	} else if (!quit_at_top && p->view->details && app->stage->trail_count > 0) {
		trail_back(app);
	} else if (app->stage->depth > 0) {
		app->stage->trail_count = 0;
		app->stage->depth--;
		pane_enter(app);
	} else if (quit_at_top)
		question_leave(app);
	else
		app->stage->search[0] = '\0';
}

#define NOTE_MS 3000

void app_note_age(struct app *app, int64_t now_ms)
{
	bool busy = !app_queue_status(app).idle || app_agent_is_busy(app);
	if (busy && !app->note_bad && !app->stage->prompt.use && now_ms - app->note_ms >= NOTE_MS)
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
	app_begin(app, s);
	stage_begin(app, columns, rows, ascii);
	app->frame = base_calloc(1, sizeof(*app->frame));
	app->frame->clicked = -1;
	theme_use(app, false);
	app->frame->redraw = false;
	app_refresh(app);
	if (app->scopes.closed)
		app_note(app, false, "%d layers in closed scopes; %s opens one, %s all",
			app->listed_count, key_named("fold-open"), key_named("layers.unfold-all"));
	pane_open(app, &app->stage->panes[0]);
	pane_sync(app, &app->stage->panes[0], app_list_width(app));
}

void app_free(struct app *app)
{
	stage_end(app);
	history_free(&app->frame->history);
	free(app->frame);
	app_end(app);
}
