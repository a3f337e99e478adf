/* The terminal; no other file uses curses. Shows a canvas, reads keys, and restores the terminal on every way
 * out, signals included. Only one can be open. */
#ifndef UI_SCREEN_TERM_H
#define UI_SCREEN_TERM_H

#include "base/error.h"
#include "ui/screen/canvas.h"
#include "ui/screen/key.h"
#include "ui/screen/reply.h"
#include "ui/screen/theme.h"

struct term_options {
	bool color;      /* false: monochrome, as with NO_COLOR or a terminal without colours */
	bool mouse;      /* the terminal sends clicks and the wheel, if it can */
	bool ask_ground; /* ask for the colour of the background: TERM_GROUND, if it answers */
};
/* Opens the terminal (the controlling one if stdin is not a terminal). -1: there is no terminal, or it cannot
 * move the cursor. */
int term_open(const struct term_options *o, struct error *err);
void term_close(void);
/* True if the locale's encoding is UTF-8. */
bool term_is_utf8(void);
void term_size(int *columns, int *rows);
/* Shows the canvas in the colours of a theme; sends only the changes, or everything if `all`. */
void term_show(const struct canvas *c, const struct theme *t, bool all);
void term_mouse(bool on);
/* The number of colours of the terminal that TERM and COLORTERM describe: COLORS_NONE, 8, 16, 256 or
 * COLORS_ALL; also while none is open. */
int term_colors(bool color);
/* Asks the terminal to put the text on the clipboard (clipboard.h). */
void term_copy(struct text t);

enum term_event {
	TERM_TIMEOUT, TERM_KEY, /* value.key */
	TERM_PASTED,            /* value.key: of pasted text, where the terminal tells it from keys */
	TERM_MOUSE,             /* value.mouse */
	TERM_GROUND,            /* value.key: the background, 0xrrggbb */
	TERM_RESIZE, TERM_WAKE, /* `fd` can be read, or the program was continued */
	TERM_SIGNAL             /* value.key is the number of a signal that asks the program to end */
};
struct term_value {
	uint32_t key;
	struct mouse mouse;
};
/* Waits for a key or the mouse, for input on `fd` (-1: none) or for timeout_ms (-1: no timeout). */
enum term_event term_wait(int fd, int timeout_ms, struct term_value *value);
/* True if more was typed already. */
bool term_has_input(void);

#endif
