/* Shared by the files of comparable. */
#ifndef ANALYZE_COMPARABLE_PRIVATE_H
#define ANALYZE_COMPARABLE_PRIVATE_H

#include "profile/match/match.h"

/* The types of an execution and of the bound, if they differ. */
struct types_apart {
	enum dtype own, bound; /* own: unknown for "mixed" */
	bool apart;
	bool alone;            /* nearly all of the execution ran in `own` */
};

/* Compares them by the rows that have a type and layers; without such rows, or with m NULL, by the type that
 * the execution reports as a whole. */
struct types_apart types_apart(const struct plan *p, const struct execution *e, const struct match *m);

#endif
