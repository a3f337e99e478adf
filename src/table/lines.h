/* Lines of reports: the width of the output, paths that are shortened, sentences that are wrapped. */
#ifndef TABLE_LINES_H
#define TABLE_LINES_H

#include "base/arena.h"

#include <stdio.h>

/* "MODEL, STACK" of a device, clean, in the arena; "no device" if it is not known. */
const char *report_device(struct arena *a, const char *model, const char *stack);
/* Prints it as a line after `indent` blanks, wrapped on a terminal. */
void report_device_line(FILE *out, int indent, const char *model, const char *stack);
#define WIDTH_PIPE 100000 /* report_columns of what is no terminal: lines are not cut */
/* Returns the columns of the output terminal, at least 40; else $COLUMNS; without both a large number, and
 * nothing is cut. The other: at least 80, for tables that need them. */
int report_columns(FILE *out);
int report_width(FILE *out);
/* The columns that a row or a path may take: those of the terminal; INT_MAX if it is not one. */
int report_most(FILE *out);
/* Prints a line: the path, cleaned, between texts. It is shortened in the middle where the line has more than
 * `most` columns. */
void report_path_line(FILE *out, int most, const char *before, const char *path, const char *after);
/* Prints text in lines of at most `width` columns; the first is already indented, the others get `indent`
 * blanks. Breaks between words; a longer word is not cut. */
void report_wrapped(const char *text, int indent, int width, FILE *out);

/* A report in parts. On a terminal a line that is too wide goes on below. */
struct report_fit {
	FILE *to;          /* print the report to it, in lines of clean text (text_clean) */
	int width, most;   /* columns of tables (report_columns); of rows (report_most) */
	FILE *out;         /* the terminal; NULL: `to` is the output itself */
	char *text;        /* what was printed to `to` */
	size_t size, done; /* its bytes; those that `out` has */
};
void report_fit_open(struct report_fit *f, FILE *out);
/* Ends a part: prints its lines; where one is broken between words, it goes on at column `indent`. */
void report_fit_part(struct report_fit *f, int indent);
void report_fit_close(struct report_fit *f);

#endif
