/* A page of lines: texts broken at blanks to the width of a view, a row each. The state of a view that shows
 * one begins with it, so that its functions can be the view's. */
#ifndef UI_MODEL_PAGE_H
#define UI_MODEL_PAGE_H

#include "ui/model/app.h"

struct page_line {
	const char *text;   /* lives as long as the page; NULL: the view draws this row */
	const char *label;  /* stands before the text; or NULL */
	enum style style;
	int at;             /* column where the text begins */
	int item;           /* what it is about, by the view's own number; -1: nothing */
	bool passed;        /* the cursor skips it: a line that goes on, or no line to choose */
};

struct page {
	struct arena arena; /* of the texts */
	struct page_line *lines;
	int count, capacity;
	int width;          /* columns of a line */
	int margin;         /* of them at the right that no text uses */
	uint64_t generation; /* of the app when the lines were made */
};

/* The next part of a text that fits the columns (app_break): moves past it. False: the text has ended. */
bool page_part(const char **text, int columns, struct text *part);
/* How many parts a text has. */
int page_parts(const char *text, int columns);
/* True if the lines were made for another width or state. */
bool page_is_old(const struct page *p, const struct app *app, int width);
/* Forgets the lines, whose successors are for this width and state. */
void page_begin(struct page *p, const struct app *app, int width);
/* Adds a line about nothing; the text is not copied. Valid until the next one. */
struct page_line *page_add(struct page *p, int at, enum style style, const char *text);
/* Adds a text in as many lines as it needs, which begin at column `at`, from the second one on at `then`; the
 * second and later ones are passed. Copied. Returns the index of the first; none for an empty text. */
int page_wrap(struct page *p, int at, int then, enum style style, const char *text);
/* Columns of a text from column `at` on. */
int page_room(const struct page *p, int at);
void page_free(struct page *p);

/* Members of a view's list. */
const char *page_row_text(struct app *app, void *state, int row);
bool page_passes(struct app *app, void *state, int row);
void page_draw_row(struct app *app, void *state, int row, int shown_after, struct area line);
void page_close(struct app *app, void *state); /* of a state that owns nothing else */

#endif
