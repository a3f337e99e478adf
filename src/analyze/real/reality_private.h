/* Internal interfaces of the comparison with reality. */
#ifndef ANALYZE_REALITY_PRIVATE_H
#define ANALYZE_REALITY_PRIVATE_H

#include "analyze/bound/bound_private.h"
#include "analyze/real/reality.h"

/* Returns per row whether it is at the topmost level (layers, else kernels) and inside no other such row. */
bool *rows_traced(struct arena *a, const struct execution *e);

/* The group of a layer of the plan; NULL if no row has it. */
struct reality_group *group_of_layer(const struct reality *y, int layer);
void dates_add(struct dates *d, const struct result *r); /* r may be NULL */
/* Fills groups, group_of_row and the real times of the groups. */
void groups_find(struct arena *a, struct reality *y, const bool *traced);

double calls_of(const struct execution_row *r);
/* A time that is assumed to be known within 5% if its interval is unknown: the ends of the interval. */
double reality_low(double ns, double lo);
double reality_high(double ns, double hi);

/* reality_overhead.c. Sets added_ns to overlaps, after the measured times and the gap LAUNCH. */
void overhead_find(struct reality *y);
/* Returns the part of a slower group's gap that framework and profiler add, at most `gap`. */
double overhead_ns(const struct reality *y, const struct reality_group *g, double gap);
/* Sets slower_doubt, after the gaps. */
void doubt_find(struct arena *a, struct reality *y, const struct ground *g);
/* Sets the gap LAUNCH. */
void launch_sort(struct reality *y);
void gap_add(struct gap *p, double ns, double lo, double hi);

/* The sources of costs. */
struct pricing {
	const struct study *study;
	const struct scenario *scenario;
	const struct analysis *alone; /* the scenario without fusion */
};
/* Fills cost_*, estimated and better. inside: false for every layer of the plan, before and after. */
void group_cost(struct reality_group *g, const struct pricing *on, bool *inside);

#endif
