/* Tables of the fields of an execution and of its rows. The wire (docs/wire.md), the database and the export
 * use the same keys in the same order. */
#ifndef PROBLEM_EXECUTION_FIELD_H
#define PROBLEM_EXECUTION_FIELD_H

#include "problem/execution.h"

enum field_type {
	FIELD_TEXT,   /* const char *; unknown: "" */
	FIELD_LONG,   /* as FIELD_TEXT, up to 64 KiB: names of kernels */
	FIELD_NAMES,  /* const char *, separated by '\n'; in JSON an array */
	FIELD_OBJECT, /* const char *: a JSON object, "" for an empty one */
	FIELD_NUMBER, /* double >= 0; unknown: NaN */
	FIELD_INT,    /* int >= 0 */
	FIELD_INT64,  /* int64_t >= 0 */
	FIELD_FLAG,   /* bool */
	FIELD_WORD    /* enum, stored as its name */
};

struct execution_field {
	const char *key; /* in JSON and in the database */
	enum field_type type;
	size_t offset; /* in struct execution, or struct execution_row */
	int unknown;   /* INT, INT64: the value that stands for "unknown" (null) */
	const char *(*name)(int value);   /* WORD */
	int (*parse)(const char *name);   /* WORD; -1: no such name */
	int schema;    /* first schema version of the database that has its column; 0: the first that has
			  executions */
	bool in_stats; /* part of struct sample_stats: in JSON inside of "stats" */
};

/* The fields without the rows. */
const struct execution_field *execution_fields(int *count);
const struct execution_field *execution_row_fields(int *count);
/* The most rows of one execution that the wire and the database accept. */
#define EXECUTION_ROWS_MAX 200000

/* Check the numbers of an execution or of row `index`, whose parent must be an earlier row. Return what is
 * wrong ("has a time above 1e15 ns (11 days)"), or NULL. */
const char *execution_fault(const struct execution *e);
const char *execution_row_fault(const struct execution_row *r, int index);

#endif
