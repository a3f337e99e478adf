/* Shared by results.c and results_pool.c. */
#ifndef STORE_RESULTS_PRIVATE_H
#define STORE_RESULTS_PRIVATE_H

#include "store/results.h"

/* Order of the key; 0: the same key. The rank is not part of the key. */
int results_key_compare(const struct result *a, const struct result *b);
double results_best_ns(const struct result *r); /* of a result; its median without a minimum */
/* True if `later` of the same key, by date, says more about the cost than `earlier`, so that it stands. Other
 * work only adds time: a noisy result never replaces a better one, and of two noisy ones that which was
 * disturbed less stands, the one with the lower minimum; it may be a better one of another version of the
 * runner. A result that is not ok says that the algorithm does not work any more. */
bool results_outweighs(const struct result *later, const struct result *earlier);
/* Number of measurements that are pooled in a result. */
int results_times(const struct result *r);
/* True if both are full results of one key and version. */
bool results_are_full(const struct result *a, const struct result *b);

/* Full results of one key and version. */
#define RESULTS_SEVERAL 8 /* of one key are kept */
struct results_groups {
	int count;
	const struct result *list[RESULTS_SEVERAL + 1];
	int groups, end[RESULTS_SEVERAL + 1]; /* where each ends in the list */
	int stands;    /* the group that stands */
	bool disputed; /* another one was measured as often */
};
/* Groups the list. Returns the one that is too many, which it takes out, or NULL. */
const struct result *results_group(struct results_groups *g);
/* One result of all samples of a group. Its sketch may be that of `sketch`, which the caller frees. */
struct result results_pooled(const struct results_groups *g, int group, struct str *sketch);

#endif
