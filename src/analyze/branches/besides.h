/* Branches side by side (parallel=measured), and the solution of a scenario with them. */
#ifndef ANALYZE_BRANCHES_BESIDES_H
#define ANALYZE_BRANCHES_BESIDES_H

#include "analyze/choose/solution.h"

struct beside_set;

struct beside_priced {
	const struct beside_set *set;
	const char *text;       /* the problem; NULL: too long */
	struct price price;     /* of all branches side by side */
	const char *why;        /* no price although answered: the reason, or NULL */
	double alone_ns;        /* its problems one after the other; NaN: one has no price */
	bool chosen;
};

struct besides {
	int count;
	struct beside_priced *sets;
	double saves_ns;        /* what the chosen ones save */
	int lacking_count;      /* distinct problems that are not measured, */
	const char **lacking;   /* and their texts */
};

/* By how much the nodes that run side by side need longer one after the other than their longest branch, or
 * than what all of them took. */
double beside_over_longest(const struct solution *x, const double *cost);
/* beside.c: the total with branches side by side where that is measured to be faster: fills besides and
 * `parallel`, and adds to `unmeasured`. Groups and branches are chosen together; with layouts (x->placed),
 * the groups are those of the choice for the sum. */
void solve_besides(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out);
/* Prices live in the study, all other arrays of *out in arena a. solve_total: only the total of the scenario;
 * with parallel off, path and resources are NaN and the choice for the sum stands for that of the path. */
void solve(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out);
void solve_total(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out);
/* Lowers the floors of a solution with estimates to those of the choices with the lowest
 * floors, which need not be those with the lowest estimates. */
void solve_floors(const struct study *st, const struct scenario *s, struct solution *x);

#endif
