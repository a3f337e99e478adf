/* The table of a model's layers: shapes, FLOPs, bytes, problems. */
#ifndef TABLE_TABLES_LAYERS_H
#define TABLE_TABLES_LAYERS_H

#include "session/session.h"
#include "table/table.h"

/* For people: without bodies that never run; constants: with layers that only compute constants. */
void layers_table(struct table *t, const struct session *s, bool constants);
/* As CSV: every layer of every graph, each followed by those of its bodies. */
void layers_print_csv(const struct session *s, bool header, FILE *out);

#endif
