/* The algorithms of all backends for one problem, each with the backend that it belongs to. */
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

/* Collects the algorithms of every backend (NULL-terminated). -1: there are none; err has the reasons of the backends that
 * support such problems in principle, else the first backend's. Close it only after 0. */
int offers_open(struct offers *o, const struct backend *const *backends, const struct problem *p, struct error *err);
void offers_close(struct offers *o);

/* Picks at most `most` of the offers, as indices in order of rank. Each backend gets an equal share; what one does not use
 * goes to the others. Returns their number. */
int offers_pick(const struct offers *o, int *picked, int most);

#endif
