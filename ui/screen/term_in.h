/* What the terminal sends, as events: keys, pasted text, the mouse, and answers, which may come in parts.
 * Internal to term.c. */
#ifndef UI_SCREEN_TERM_IN_H
#define UI_SCREEN_TERM_IN_H

#include "ui/screen/term.h"

void in_open(void);      /* after curses */
void in_close(void);
bool in_is_open(void);
/* Without waiting; TERM_TIMEOUT: nothing was typed. mouse: it is on. */
enum term_event in_take(struct term_value *value, bool mouse);
/* Milliseconds until the sequence that is being read is given up, by in_take; -1: none is. */
int in_due_ms(void);
bool in_is_held(void);   /* codes were read too far */

#endif
