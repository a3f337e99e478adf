/* XSP's analyses (analyze/tables/xsp.h) and the tree of an execution (analyze/real/tree.h) as tables. */
#ifndef TABLE_TABLES_XSP_H
#define TABLE_TABLES_XSP_H

#include "analyze/real/tree.h"
#include "analyze/tables/xsp.h"
#include "session/session.h"
#include "table/table.h"

/* The requested analyses (--analysis) of the executions, or of the session's bound if count is 0. */
struct report_analyses {
	unsigned wanted; /* bits, xsp_parse */
	const struct xsp_execution *executions;
	int count;
	const struct ground *ground; /* of the bound; NULL: no gains of what-ifs */
};
/* Fills the table of analysis `i`, 0 the first. Returns false if it is not wanted. */
bool xsp_table(struct table *t, const struct session *s, const struct report_analyses *r, int i);
/* Print each wanted table: separated by an empty line in text, with a line of column names in CSV. */
void report_analyses_text(const struct session *s, const struct report_analyses *r, FILE *out);
void report_analyses_csv(const struct session *s, const struct report_analyses *r, FILE *out);
json_t *report_analyses_json(const struct session *s, const struct report_analyses *r); /* an array */

/* A row a node, indented by its level; in JSON nested objects. */
void tree_table(struct table *t, const struct session *s, const struct tree *tree);

#endif
