/* Prints tables: one file an output. */
#ifndef TABLE_PRINT_H
#define TABLE_PRINT_H

#include "table/table.h"

/* Prints columns side by side, then the notes. most: the columns of a line (report_most), INT_MAX where
 * nothing is cut. A column whose cells are all unknown is left out. */
void table_print_text(const struct table *t, int most, FILE *out);

/* header: prints the line of column names. */
void table_print_csv(const struct table *t, bool header, FILE *out);
/* Prints the column names now and each row when the next one begins; no row is kept, and
 * table_row frees what the arena has: a row's texts are made after it. table_stream_row prints
 * the last one. */
void table_stream_csv(struct table *t, bool header, FILE *out);
void table_stream_row(struct table *t);
/* A CSV field and the separator after it: quoted if needed, never a formula for a spreadsheet. */
void csv_field(FILE *out, const char *text, char after);

/* As a table element; a click on a column's name sorts it by that column (html_sort_script). */
void table_print_html(const struct table *t, FILE *out);
/* The script that sorts every table of a page, in its element, and the source of a policy that allows it. */
extern const char html_sort_script[], html_sort_source[];
/* Text of the program with the characters that HTML uses escaped; of a model or a file, also cleaned. */
void html_text(FILE *out, const char *clean);
void html_untrusted(FILE *out, struct text t);

/* An object a row; as an array, or one a line. */
json_t *table_rows_json(const struct table *t);
void table_print_json(const struct table *t, FILE *out);
json_t *table_row_json(const struct table *t, int row);
/* The first row as an object; those below it, by their depth, are its "children". */
json_t *table_tree_json(const struct table *t);
/* One JSON object on one line. Consumes the reference. */
void report_json_line(json_t *object, FILE *out);
/* A text, or null if it is empty or NULL; [lo, hi], or null if one is NaN. */
json_t *report_json_text(const char *text);
json_t *report_json_interval(double lo, double hi);
json_t *report_json_names(const char *list); /* "fusion,matrix" as an array */

/* A number as text: "1.29 ms", "-" if it is not known. */
const char *table_quantity(struct arena *a, enum table_unit unit, double number);
/* A cell as text and HTML show it, with its mark; "-" if it is not known, "" if that says nothing. */
const char *table_cell_text(struct arena *a, const struct table_column *c, const struct table_cell *x);
/* True if a column of texts, which stand at the left. */
bool table_is_text(const struct table_column *c);

#endif
