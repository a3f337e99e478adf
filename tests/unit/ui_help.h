/* An explorer that tests type into: letter by letter, with the times between them. */
#ifndef UI_HELP_H
#define UI_HELP_H

#include "ui_open.h"

static int64_t now_ms = 1000;

__attribute__((unused)) static void begin(const struct fixture_options *o)
{
	begin_at(o, 100, 30);
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

#endif
