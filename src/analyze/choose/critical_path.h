/* The longest path of a graph. */
#ifndef ANALYZE_CHOOSE_CRITICAL_PATH_H
#define ANALYZE_CHOOSE_CRITICAL_PATH_H

#include <stdbool.h>

/* Longest path through a DAG of n nodes. cost[i] >= 0; predecessors in CSR form: those of i are
 * edges[first[i] .. first[i+1]-1], each < i. Returns the length; fills start, slack and critical (n each;
 * each may be NULL). critical: every node without slack (within 1e-9 of the length), so all of several
 * equally long paths; none if the length is 0. */
double critical_path(int n, const double *cost, const int *first, const int *edges, double *start,
	double *slack, bool *critical);

#endif
