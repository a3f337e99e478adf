/* The table of described devices: the vendors' figures, and how far estimates from them were off. */
#ifndef TABLE_TABLES_DEVICES_H
#define TABLE_TABLES_DEVICES_H

#include "session/described.h"
#include "table/table.h"

/* Unknown figures are null. errors: people see the errors of estimates too. */
void described_table(struct table *t, const struct described *list, int count, bool errors);
/* How far estimates of GPUs of a compute capability were from published latencies, each device left out of
 * the fit; null for 0, no described GPU. */
json_t *report_json_error(int sm);

#endif
