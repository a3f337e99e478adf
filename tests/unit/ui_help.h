/* An explorer on the session of ui_fixture.h, for tests that type keys and look at the screen. */
#ifndef UI_HELP_H
#define UI_HELP_H

#include "ui/frame/frame.h"

#include "tap.h"
#include "ui_fixture.h"

static struct app app;
static struct session *session;
static int64_t now_ms = 1000;

__attribute__((unused)) static void begin_at(const struct fixture_options *o, int columns, int rows)
{
	session = fixture_open(o);
	app_init(&app, session, columns, rows, false);
	app_draw(&app);
}

__attribute__((unused)) static void begin(const struct fixture_options *o)
{
	begin_at(o, 100, 30);
}

__attribute__((unused)) static void end(void)
{
	app_free(&app);
	fixture_close(session);
}

__attribute__((unused)) static void press(uint32_t key)
{
	typed_key(&app, key, now_ms += 10);
	app_refresh(&app);
	app_draw(&app);
}

/* Types the letters without a pause; a key that waits for another gets none. '\r' is Enter. */
__attribute__((unused)) static void type(const char *letters)
{
	for (; *letters; letters++)
		press(*letters == '\r' ? KEY_CODE_ENTER : (uint32_t)*letters);
}

/* So long that a key which waits for another means what it means alone. */
__attribute__((unused)) static void pause_typing(void)
{
	now_ms += 1000;
	typed_expire(&app, now_ms);
	app_refresh(&app);
	app_draw(&app);
}

__attribute__((unused)) static bool sees(const char *text)
{
	static struct str out;
	app_draw(&app);
	str_clear(&out);
	canvas_print(&app.frame->canvas, &out);
	return strstr(out.p, text) != NULL;
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
