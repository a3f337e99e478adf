/* One problem, measured, listed or checked for a person. */
#ifndef RUNNER_TABLE_H
#define RUNNER_TABLE_H

#include <stdio.h>

#include "runner/options.h"

/* Returns the exit status. */
int table_problem(const struct options *o, const struct device *d, FILE *out);

#endif
