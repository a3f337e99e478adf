#ifndef EXECUTION_SUM_H
#define EXECUTION_SUM_H

#include "problem/execution.h"

#include <math.h>

/* The sum of ns over the rows of a level that have no parent of the same level; NaN if no such row has a
 * known time. */
static inline double execution_sum_ns(const struct execution *e, enum execution_level level)
{
	double sum = NAN;
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		if (r->level != level || isnan(r->ns) ||
			(r->parent >= 0 && e->rows[r->parent].level == level))
			continue;
		sum = isnan(sum) ? r->ns : sum + r->ns;
	}
	return sum;
}

#endif
