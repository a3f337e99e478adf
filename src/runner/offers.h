/* What all backends of the platform offer for one problem: the union of their lists, and whose each algorithm is. */
#ifndef RUNNER_OFFERS_H
#define RUNNER_OFFERS_H

#include "runner/backend.h"

#define OFFERS_BACKENDS 8 /* most backends of a platform */

struct offer {
	const struct backend_list *list;
	int index;                  /* in that list */
	struct algorithm algorithm; /* of the list, with its rank in the union */
};

struct offers {
	struct backend_list list[OFFERS_BACKENDS];
	int list_count;
	struct offer *offer;        /* in order of rank */
	int count;
};

/* Asks every backend (NULL-terminated). -1: none offers anything; err says why: what the backends say that know such
 * problems, else what the first says. Nothing is to be closed then. */
int offers_open(struct offers *o, const struct backend *const *backends, const struct problem *p, struct error *err);
void offers_close(struct offers *o);

/* At most `most` of the offers (indices in order of rank) such that no list pushes another out: each has an equal share,
 * and what one leaves is for the others. Returns how many. */
int offers_pick(const struct offers *o, int *picked, int most);

#endif
