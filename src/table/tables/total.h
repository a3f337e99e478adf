/* What tables with a total share: its bound or estimate with the interval, its scenario. */
#ifndef TABLE_TABLES_TOTAL_H
#define TABLE_TABLES_TOTAL_H

#include "analyze/tables/sweep.h"
#include "session/session.h"
#include "table/table.h"

/* The first two columns of every CSV of layers: batch, unknown without one, and dtype. */
void plan_columns(struct table *t);
void plan_cells(struct table *t, const struct plan *p);

/* bound_ns, and of the total interval_ns, or if it contains estimates estimate_ns and
 * estimate_interval_ns; the others are null. CSV has estimate_ns of these. */
void total_columns(struct table *t);
void total_cells(struct table *t, const struct sweep_point *p);
/* The same as keys of an object. */
void report_json_total(json_t *o, const struct sweep_point *p);
/* Adds "assumed", the layers with an assumed cost, to a scenario's object if there are any and they count. */
void report_json_assumed(json_t *scenario, const struct session *s);
/* The layers with an assumed cost; NULL: no layer has one, or they do not count. */
json_t *total_assumed_json(const struct session *s);

/* Dimensions in use, { "sequence": 64 }, and the source of each value, { "sequence": "remembered" }. */
json_t *report_dims_json(const struct plan *p);
json_t *report_dims_from_json(const struct session *s);

#endif
