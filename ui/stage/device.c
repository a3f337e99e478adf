/* Another device in place of this one, and the wait for its runner. */
#include "config.h"

#include "ui/stage/stage.h"

/* The list of devices changed: moves the cursor to the device in use. */
static void cursor_follow(struct app *app)
{
	struct pane *p = app_pane(app);
	if (!p->list->row_at_entry)
		return;
	pane_sync(app, p, app_list_width(app));
	pane_select_row(app, p, p->list->row_at_entry(app, p->state));
}

/* Called when the session switched devices: reads everything from the new one; layer and scenario stay. */
static void device_changed(struct app *app)
{
	const struct session *s = app->session;
	app->stage->runner_dead = false;
	app->stage->standing[0] = '\0';
	app->generation++;
	app_refresh(app);
	cursor_follow(app);
	const char *name = app_clean(
		app, text_of(session_described(s) ? session_described(s)->id : session_device(s)->model));
	if (session_described(s))
		app_note(app, false, "%s is a described device: plans and estimates, no measurements", name);
	else if (!session_queue(s))
		app_note(app, false, "%s: recorded results, nothing can be measured", name);
	else
		app_note(app, false, "now using %s", name);
}

void app_device_choose(struct app *app, const struct session_device *d)
{
	struct error err = ERROR_NONE;
	const char *key = app_clean(app, text_of(d->key));
	if (d->in_use) {
		if (!app_device_leave(app))
			app_note(app, false, "%s is in use", key);
		return;
	}
	int got = session_choose(app->session, d, &err);
	app->generation++;
	if (got < 0)
		app_note(app, true, "%s", err.text);
	else if (got != SESSION_AWAITED)
		device_changed(app);
}

void app_device_step(struct app *app, int timeout_ms)
{
	struct error err = ERROR_NONE;
	int came = session_choose_step(app->session, timeout_ms, &err);
	if (came == 0)
		return;
	app->generation++;
	if (came > 0)
		device_changed(app);
	else
		app_note(app, true, "%s", err.text);
}

bool app_device_leave(struct app *app)
{
	const char *awaited = session_awaited(app->session);
	if (!awaited)
		return false;
	app_note(app, false, "starting %s was cancelled", app_clean(app, text_of(awaited)));
	session_choose_leave(app->session);
	app->generation++;
	return true;
}
