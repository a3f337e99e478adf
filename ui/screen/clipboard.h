/* The clipboard, by the escape sequence OSC 52, which most terminals take, also through ssh. There is no
 * answer: whether the terminal allows it is not known. */
#ifndef UI_SCREEN_CLIPBOARD_H
#define UI_SCREEN_CLIPBOARD_H

#include "base/str.h"

/* More is not sent: terminals drop longer sequences. */
#define CLIPBOARD_BYTES 49152

/* Adds the sequence that sets the clipboard to a text of at most CLIPBOARD_BYTES. */
void clipboard_sequence(struct str *out, struct text t);

#endif
