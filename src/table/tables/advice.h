/* The tables of advice: what to do first, how in each framework, and what would reach a target. */
#ifndef TABLE_TABLES_ADVICE_H
#define TABLE_TABLES_ADVICE_H

#include "session/session_advice.h"
#include "table/table.h"

/* The list must outlive the tables. */
void advice_table(struct table *t, const struct session *s, const struct advice_list *l);
/* A row a kind of advice and framework. */
void advice_how_table(struct table *t, const struct advice_list *l);

/* The lowest bound on a device at a batch, after all advice. */
struct reach_row {
	const char *device; /* as for -d; NULL: the session's */
	const char *model;  /* of the device, untrusted text; may be NULL */
	int64_t batch;      /* 0: the model has none */
	double ns;          /* complete; it may contain estimates */
	double items_per_s; /* a model without a batch has one item */
	bool estimated, reached;
};
/* rate: text has the batch and the throughput. Text has some rows around the first that reaches it. */
void reach_table(struct table *t, const struct reach_row *rows, int count, bool rate);

#endif
