/* The table of operators: rules for shapes, costs and problems. */
#ifndef TABLE_TABLES_OPS_H
#define TABLE_TABLES_OPS_H

#include "table/table.h"

/* By domain, name and version. */
void ops_table(struct table *t);

#endif
