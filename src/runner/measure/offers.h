/* Collects the algorithms of all backends for one problem, in one order. */
#ifndef RUNNER_OFFERS_H
#define RUNNER_OFFERS_H

#include "runner/measure/backend.h"

#define OFFERS_BACKENDS 8 /* maximum number of backends of a platform */

struct offer {
	const struct backend_list *list;
	int index;                  /* in that list */
	struct algorithm algorithm; /* from the list; its rank is that among all offers */
};

struct offers {
	struct backend_list list[OFFERS_BACKENDS];
	int list_count;
	struct offer *offer;        /* in order of rank */
	int count;
	int left_out;               /* sum of the lists' */
	char *others;               /* reasons of backends for such problems that have none; or NULL */
};

/* Collects the algorithms of all backends (NULL-terminated); all: of struct backend_list. Returns -1 if no
 * backend has one; err has the reasons of the backends for such problems, else the first backend's. Call
 * offers_close only after 0. */
int offers_open(struct offers *o, const struct backend *const *backends, const struct problem *p, bool all,
	struct error *err);
void offers_close(struct offers *o);
/* Moves what offers_open filled to another place; *from is empty afterwards. */
void offers_move(struct offers *to, struct offers *from);

/* Removes all offers but that of one algorithm (algorithm_compare). Returns -1 if no offer matches. */
int offers_keep(struct offers *o, const struct algorithm *a, struct error *err);

/* Picks at most `most` offers, as indices in order of rank. Each backend gets an equal share; unused
 * shares go to the others. Returns their number. */
int offers_pick(const struct offers *o, int *picked, int most);

#endif
