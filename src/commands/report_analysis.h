/* Prints XSP's analyses (analyze/xsp.h) and the tree of an execution (analyze/tree.h). */
#ifndef COMMANDS_REPORT_ANALYSIS_H
#define COMMANDS_REPORT_ANALYSIS_H

#include "analyze/tree.h"
#include "analyze/xsp.h"
#include "commands/report.h"

/* The requested analyses (--analysis) of the executions, or of the session's bound if count is 0. */
struct report_analyses {
	unsigned wanted; /* bits, xsp_parse */
	const struct xsp_execution *executions;
	int count;
	const struct ground *ground; /* of the bound; NULL: no gains of what-ifs */
};

/* Prints tables that fit the terminal (report_width), separated by an empty line. */
void report_analyses_text(const struct session *s, const struct report_analyses *r, FILE *out);
/* Returns an array (benanza-json(5)). */
json_t *report_analyses_json(const struct session *s, const struct report_analyses *r);
/* Prints each table with a line of column names. */
void report_analyses_csv(const struct session *s, const struct report_analyses *r, FILE *out);

/* Prints a row a node, indented by its level, that fits the terminal (report_width). */
void report_tree_text(const struct tree *t, FILE *out);
json_t *report_tree_json(const struct tree *t); /* nested objects */
void report_tree_csv(const struct session *s, const struct tree *t, FILE *out);

#endif
