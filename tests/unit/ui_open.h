/* An explorer on the session of ui_fixture.h, for tests that look at the screen; ui_help.h types keys too. */
#ifndef UI_OPEN_H
#define UI_OPEN_H

#include "ui/frame/frame.h"

#include "tap.h"
#include "ui_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct app app;
static struct session *session;

/* As main does. */
__attribute__((constructor)) static void begin_program(void)
{
	views_register();
}

__attribute__((unused)) static void begin_at(const struct fixture_options *o, int columns, int rows)
{
	session = fixture_open(o);
	app_init(&app, session, columns, rows, false);
	app_draw(&app);
}

__attribute__((unused)) static void end(void)
{
	app_free(&app);
	fixture_close(session);
}

/* As it was drawn last; valid until the next call. */
__attribute__((unused)) static const char *screen(void)
{
	static struct str out;
	str_clear(&out);
	canvas_print(&app.stage->canvas, &out);
	return out.p;
}

/* Draws the screen and searches it. With SHOW in the environment it is printed where the text is missing. */
__attribute__((unused)) static bool sees(const char *text)
{
	app_draw(&app);
	bool seen = strstr(screen(), text) != NULL;
	if (!seen && getenv("SHOW"))
		puts(screen());
	return seen;
}

__attribute__((unused)) static void show(const char *view)
{
	app_show(&app, views_find(view), -1);
	app_draw(&app);
}

/* Of the selected layer. */
__attribute__((unused)) static const char *name(void)
{
	return app_clean(&app, app_layer(&app, app.layer)->name);
}

__attribute__((unused)) static const char *view_name(void)
{
	return app_pane(&app)->view->name;
}

#endif
