/* The table of a sweep: batches, types and dimensions of one model. */
#ifndef TABLE_TABLES_SWEEP_H
#define TABLE_TABLES_SWEEP_H

#include "analyze/tables/sweep.h"
#include "session/session.h"
#include "table/table.h"

/* A point and the scenario it belongs to. */
struct sweep_row {
	struct sweep_point point;
	const char *type;
	const char *lack; /* "this device has no f16 for ..."; NULL: it has */
	int dim_count;
	const struct dim_binding *dims; /* those of --over; names are untrusted */
	struct sweep_algorithms algorithms;
	bool first;                     /* of its series */
	int crossovers;                 /* layers with another algorithm than in the row before; -1: unknown,
					   or the first row */
	int unmeasured;                 /* distinct problems without results */
};

struct report_sweep {
	int count;
	struct sweep_row *rows;         /* series by series; in each the batch ascends */
};

/* The last column is a bar chart of the throughput. The rows must outlive the table. */
void sweep_table(struct table *t, const struct session *s, const struct report_sweep *r);

#endif
