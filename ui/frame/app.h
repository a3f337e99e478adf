/* The explorer: the frame around the views, and its two entry points. */
#ifndef UI_FRAME_APP_H
#define UI_FRAME_APP_H

#include "session/session.h"

#include <stdio.h>

struct app_options {
	bool ascii, color;   /* color false: monochrome; NO_COLOR and the terminal's limits are checked
				inside */
	bool fresh;          /* the last state of the model does not come back */
	bool what_ifs_given; /* by an option: those of the last state do not come back */
	bool tour;           /* steps over the explorer say what to press; no state is read or kept */
	const char *view;    /* the first view; NULL = layers */
	const char *note;    /* shown at first, e.g. why there is no device; or NULL */
};

/* Runs until the user leaves. The session must have a plan selected; if it has a queue, app_run drives it.
 * Returns 0, the number of the signal that ended it (the caller cleans up and leaves with 128 + it), or
 * -1: no usable terminal. */
int app_run(struct session *s, const struct app_options *o, struct error *err);

enum frame_form {
	FRAME_TEXT, FRAME_SVG,
	FRAME_COLOR /* text with the sequences of the terminal's colours */
};

/* One frame, as text or as an SVG picture in the colours of the theme, after the keys: names of the key table
 * ("Down", "Enter", "^F") or characters, separated by blanks, or "text:WORD"; while a prompt is open any word
 * is typed. Nothing is measured. view NULL = layers. -1: no such view or key, a size out of range. */
int app_frame(struct session *s, int columns, int rows, const char *view, const char *keys, bool ascii,
	enum frame_form form, FILE *out, struct error *err);
/* The same of the tour, whose keys these are. */
int app_frame_tour(struct session *s, int columns, int rows, const char *keys, bool ascii,
	enum frame_form form, FILE *out, struct error *err);

/* "COLUMNSxROWS" of --frame. */
int app_parse_size(const char *text, int *columns, int *rows, struct error *err);

#endif
