/* The tables of a bound: costs of layers, what is not in the total, and what each what-if saves. */
#ifndef TABLE_TABLES_COSTS_H
#define TABLE_TABLES_COSTS_H

#include "session/session.h"
#include "table/table.h"

/* Costs of some layers, in their order; NULL: the first `count`. in: the one output (IN_...) that the table
 * is for, as the others' cells are not filled. title: heading of the names in text. */
void costs_columns(struct table *t, const char *title);
void costs_rows(struct table *t, const struct session *s, const int *layers, int count, unsigned in);
/* Prints the costs as CSV, row by row. */
void costs_csv(const struct session *s, const int *layers, int count, bool header, FILE *out);
/* Layers that are not in the total, or only in part; the title has their number. Nothing: no rows. */
void gaps_table(struct table *t, const struct session *s);
/* A row a what-if. in: as above; text leaves out what the device does not have. */
void effects_table(struct table *t, const struct session *s, unsigned in);

#endif
