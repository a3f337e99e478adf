/* Internal interfaces of the comparison with reality. */
#ifndef ANALYZE_REALITY_PRIVATE_H
#define ANALYZE_REALITY_PRIVATE_H

#include "analyze/analyze_private.h"
#include "analyze/reality.h"

/* Returns per row whether it is at the topmost level (layers, else kernels) and inside no other such row. */
bool *rows_traced(struct arena *a, const struct execution *e);

/* The group of a layer of the plan; NULL if no row has it. */
struct reality_group *group_of_layer(const struct reality *y, int layer);
void dates_add(struct dates *d, const struct result *r); /* r may be NULL */
/* Fills groups, group_of_row and the real times of the groups. */
void groups_find(struct arena *a, struct reality *y, const bool *traced);

/* The sources of costs. */
struct pricing {
	const struct study *study;
	const struct scenario *scenario;
	const struct analysis *alone; /* the scenario without fusion */
};
/* Fills cost_*, estimated and better. inside: false for every layer of the plan, before and after. */
void group_cost(struct reality_group *g, const struct pricing *on, bool *inside);

#endif
