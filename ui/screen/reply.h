/* What terminals send besides keys: the mouse, answers to questions. Such a sequence is collected code by
 * code, so that its text is never taken for keys. */
#ifndef UI_SCREEN_REPLY_H
#define UI_SCREEN_REPLY_H

#include <stdbool.h>
#include <stdint.h>

enum reply_kind { REPLY_NONE, REPLY_ESCAPE, /* ESC and the code of `first`: the next code decides */
	REPLY_CONTROL,       /* CSI: ESC [ ... */
	REPLY_OLD_MOUSE,     /* ESC [ M and three bytes */
	REPLY_STRING         /* OSC, DCS, SOS, PM, APC: ESC ] P X ^ _ ... up to ST or BEL */ };

#define REPLY_MAX 64 /* a longer one is read to its end, and means nothing */
/* How long the next code of a sequence may take: after REPLY_ESCAPE, whose codes may be keys, and else. */
#define REPLY_ESCAPE_MS 100
#define REPLY_MS 1000

struct reply {
	enum reply_kind kind;
	uint32_t first;
	char text[REPLY_MAX];
	int n;
	bool escaped;        /* REPLY_STRING: its end began */
	bool lost;           /* it is too long, or has codes that no answer has */
};

struct mouse {
	enum { MOUSE_PRESS, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN } kind; /* a press of the left button */
	int x, y;            /* cell, from 0 */
};

/* Begins with the code after ESC, or with a code of 8 bits (0x90 for ESC P); false: none begins so. */
bool reply_begin(struct reply *r, uint32_t code);

enum reply_step {
	REPLY_MORE,
	REPLY_ENDED,
	REPLY_CUT,           /* a string, by ESC and this code: they are to be read again */
	REPLY_KEYS           /* ESC, `first` and this code were typed */
};
enum reply_step reply_add(struct reply *r, uint32_t code);
/* Of a complete one; false: it says something else. */
bool reply_mouse(const struct reply *r, struct mouse *out);
bool reply_pastes(const struct reply *r, bool begin); /* pasted text begins, or ends */
/* The background as 0xrrggbb: OSC 11; black or white when the terminal turns dark or light (mode 2031). */
bool reply_ground(const struct reply *r, uint32_t *rgb);

#endif
