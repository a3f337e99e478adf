/* What is sent to the terminal: a canvas, changed cells only, and sequences. All of it is kept until
 * out_send, so that a frame is one write. Internal to term.c. */
#ifndef UI_SCREEN_TERM_OUT_H
#define UI_SCREEN_TERM_OUT_H

#include "ui/screen/theme.h"

/* The capability of that name, or NULL. */
const char *out_find(const char *name);
void out_text(const char *sequence);
void out_plain(void);    /* no colours, no marks */
void out_last_row(void); /* the cursor to the last row, which is cleared */
void out_send(void);
/* Of the terminal: as term_colors; terminfo's ncv, the marks that colours exclude. */
void out_colors(int colors, int no_color_marks);
void out_forget(void);   /* what the terminal shows is not known any more */
void out_free(void);

#endif
