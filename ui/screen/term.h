/* The terminal; no other file uses curses. Shows a canvas, reads keys, and restores the terminal on every way
 * out, signals included. Only one can be open. */
#ifndef UI_SCREEN_TERM_H
#define UI_SCREEN_TERM_H

#include "base/error.h"
#include "ui/screen/canvas.h"
#include "ui/screen/key.h"

/* Opens the terminal (the controlling one if stdin is not a terminal). color false: monochrome, as with
 * NO_COLOR or a terminal without colours. -1: there is no terminal, or it cannot move the cursor. */
int term_open(bool color, struct error *err);
void term_close(void);
/* True if the locale's encoding is UTF-8. */
bool term_is_utf8(void);
void term_size(int *columns, int *rows);
/* Shows the canvas; sends only the changes, or everything if `all`. */
void term_show(const struct canvas *c, bool all);
/* Asks the terminal to put the text on the clipboard (clipboard.h). */
void term_copy(struct text t);

enum term_event {
	TERM_TIMEOUT, TERM_KEY, /* *key is set */
	TERM_RESIZE, TERM_WAKE, /* `fd` can be read, or the program was continued */
	TERM_SIGNAL             /* *key is the number of a signal that asks the program to end */
};
/* Waits for a key, for input on `fd` (-1: none) or for timeout_ms (-1: no timeout). */
enum term_event term_wait(int fd, int timeout_ms, uint32_t *key);

#endif
