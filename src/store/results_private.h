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

#define RESULTS_SEVERAL 8 /* full results of one key and version that are kept */
/* Moves those to the front that are pooled and stand, and returns their number. disputed: as many others were
 * to be pooled. At most one more than RESULTS_SEVERAL. */
int results_group(const struct result **list, int count, bool *disputed);
/* One result of all samples of these. Its sketch may be that of `sketch`, which the caller frees. */
struct result results_pooled(const struct result *const *list, int count, struct str *sketch);

#endif
