/* The commands of the line that `:` opens, one row each, and one for each what-if. Dispatch, completion, the
 * help screen and the manual page are made from them. */
#ifndef UI_STAGE_LINES_H
#define UI_STAGE_LINES_H

#include "ui/stage/keys.h"

enum line_action {
	LINE_VIEW,       /* without an argument: the view of the same name */
	LINE_SET,        /* what-ifs by name */
	LINE_WHAT_IF,    /* one what-if: `number` is its row in what_if_table */
	LINE_DEVICE,
	LINE_BESIDE,     /* marks a device to be compared */
	LINE_BATCH,
	LINE_DTYPE,
	LINE_DIM,
	LINE_FILTER,
	LINE_SEARCH,
	LINE_SORT,
	LINE_LAYER,
	LINE_WRITE,
	LINE_OPEN,
	LINE_THEME,
	LINE_MOUSE,
	LINE_REQUEST,    /* what a key does: `number` is its enum request */
	LINE_ACTIONS
};

struct line_row {
	const char *name;
	const char *argument;   /* placeholder of its argument, in brackets if it may be left out; NULL: it
				   takes none */
	enum line_action action;
	int number;
	const char *text;       /* one line of help */
};

/* All rows, those of what-ifs last. Built once, never freed. */
const struct line_row *lines_table(int *count);
/* The row of a name or, if that is no name, the only row whose name begins with it; one of a what-if only if
 * no other does. NULL: none or several. */
const struct line_row *lines_find(struct text name);
/* ":view NAME". Returns buf, of LINE_SHOWN bytes. */
#define LINE_SHOWN 64
char *line_shown(char *buf, const struct line_row *row);

/* Escapes a text for the manual page (keys_man.c). */
void keys_man_add(struct str *out, const char *s, size_t n);

#endif
