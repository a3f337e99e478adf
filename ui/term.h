/* The terminal: curses' only home. Shows a canvas, reads keys, gives the terminal back whatever happens. One
 * at a time. */
#ifndef UI_TERM_H
#define UI_TERM_H

#include "base/error.h"
#include "ui/canvas.h"
#include "ui/keys.h"

/* Takes the terminal over (the controlling one where stdin is no terminal). color false: monochrome, as with
 * NO_COLOR or a terminal without colours. -1: there is no terminal, or it cannot place the cursor. */
int term_open(bool color, struct error *err);
void term_close(void);
/* Can the locale show more than ASCII? */
bool term_is_utf8(void);
void term_size(int *columns, int *rows);
/* Shows the canvas; only what changed is sent. all: everything is sent anew. */
void term_show(const struct canvas *c, bool all);

enum term_event {
	TERM_TIMEOUT, TERM_KEY, /* *key is set */
	TERM_RESIZE, TERM_WAKE, /* `fd` can be read, or the program was continued */
	TERM_SIGNAL             /* *key is the number of a signal that asks the program to end */
};
/* Waits for a key, for `fd` (-1: none) or for timeout_ms (-1: for ever). */
enum term_event term_wait(int fd, int timeout_ms, uint32_t *key);

#endif
