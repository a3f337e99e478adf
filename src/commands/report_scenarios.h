/* Named scenarios side by side. */
#ifndef COMMANDS_REPORT_SCENARIOS_H
#define COMMANDS_REPORT_SCENARIOS_H

#include "analyze/sweep.h"
#include "commands/diff.h"

struct scenario_row {
	const char *name; /* NULL: the options as given, without a named scenario */
	const char *why;  /* why there is no analysis; NULL: it exists, and the next fields are set */
	const char *what_ifs, *device, *stack; /* clean */
	int64_t batch;			       /* 0: the model has none */
	const char *type;
	const char *dims; /* "batch 1 (default), sequence 64 (--dim)" */
	struct sweep_point point;
	int unmeasured; /* distinct problems without a result */
	/* filled by report_scenarios_compare */
	double diff_ns, ratio; /* to the first row, per item if `per_item`; NaN unknown */
	enum diff_verdict verdict;
};

struct scenario_rows {
	const char *model;
	bool per_item; /* the batches differ: differences are per item */
	int count;
	struct scenario_row *rows;
};

/* Compares every row with the first. */
void report_scenarios_compare(struct scenario_rows *r);
void report_scenarios_text(const struct scenario_rows *r, FILE *out);
void report_scenarios_csv(const struct scenario_rows *r, FILE *out);
json_t *report_scenarios_json(const struct scenario_rows *r);

#endif
