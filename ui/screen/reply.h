/* What terminals send besides keys: the mouse, answers to questions. Such a sequence is collected code by
 * code, so that its text is never taken for keys. */
#ifndef UI_SCREEN_REPLY_H
#define UI_SCREEN_REPLY_H

#include <stdbool.h>
#include <stdint.h>

enum reply_kind { REPLY_NONE, REPLY_CONTROL, /* ESC [ ... */
	REPLY_OLD_MOUSE /* ESC [ M and three bytes */, REPLY_STRING /* ESC ] ... */ };

#define REPLY_MAX 64 /* a longer one is read to its end, and means nothing */

struct reply {
	enum reply_kind kind;
	char text[REPLY_MAX];
	int n;
	bool escaped;        /* REPLY_STRING: its end began */
	bool lost;           /* it is too long, or has codes that no answer has */
};

struct mouse {
	enum { MOUSE_PRESS, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN } kind; /* a press of the left button */
	int x, y;            /* cell, from 0 */
};

/* Begins with the two codes after ESC; false: they begin keys that were typed. */
bool reply_begin(struct reply *r, uint32_t first, uint32_t second);
/* Adds a code. True: the sequence is over. The user can always end one: ESC and any key. */
bool reply_add(struct reply *r, uint32_t code);
/* Of a complete one; false: it says something else. */
bool reply_mouse(const struct reply *r, struct mouse *out);
bool reply_pastes(const struct reply *r, bool begin); /* pasted text begins, or ends */
bool reply_ground(const struct reply *r, uint32_t *rgb); /* OSC 11: the background */

#endif
