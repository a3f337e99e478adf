/* The table of named scenarios beside the first one. */
#ifndef TABLE_TABLES_SCENARIOS_H
#define TABLE_TABLES_SCENARIOS_H

#include "analyze/tables/sweep.h"
#include "table/table.h"

struct scenario_row {
	const char *name; /* NULL: the options as given, without a named scenario */
	const char *why;  /* why there is no analysis; NULL: it exists, and the next fields are set */
	const char *what_ifs, *device, *stack; /* clean */
	int64_t batch;			       /* 0: the model has none */
	const char *type;
	const char *dims; /* "batch 1 (default), sequence 64 (--dim)" */
	struct sweep_point point;
	int unmeasured; /* distinct problems without a result */
};

struct scenario_rows {
	const char *model;
	int count;
	struct scenario_row *rows;
};

/* True if the batches differ: differences are per item. */
bool scenarios_per_item(const struct scenario_rows *r);
/* The rows must outlive the table. */
void scenarios_table(struct table *t, const struct scenario_rows *r);

#endif
