/* Prints a sweep. */
#ifndef COMMANDS_REPORT_SWEEP_H
#define COMMANDS_REPORT_SWEEP_H

#include "analyze/sweep.h"
#include "session/session.h"

#include <stdio.h>

/* A point and the scenario it belongs to. */
struct sweep_row {
	struct sweep_point point;
	const char *type;
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

/* A table; the last column is a bar chart of the throughput. */
void report_sweep_text(const struct session *s, const struct report_sweep *r, bool ascii, FILE *out);
void report_sweep_csv(const struct report_sweep *r, FILE *out);
/* One object a row. */
json_t *report_sweep_json(const struct session *s, const struct sweep_row *row);

#endif
