/* Measures, lists or checks one problem and prints a table. */
#ifndef RUNNER_TABLE_H
#define RUNNER_TABLE_H

#include <stdio.h>

#include "runner/measure/ahead.h"
#include "runner/protocol/options.h"

/* Prints to `out`, errors to stderr; returns the exit status (enum exits). ahead: compiles; may be NULL. */
int table_problem(const struct options *o, const struct device *d, struct ahead *ahead, FILE *out);

#endif
