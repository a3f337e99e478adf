/* Results of one identity (device model + stack) in memory: what analysis reads. Grows as results arrive. */
#ifndef STORE_RESULTS_H
#define STORE_RESULTS_H

#include "base/arena.h"
#include "problem/result.h"

struct results;

struct results *results_new(void);
void results_free(struct results *r);
/* Adds a copy. The newest of a key (problem, algorithm by name, layouts, api and math, cache, launch) stands: by date, by arrival where
 * dates are equal. A failure of the problem as a whole (algorithm name "") stands until something newer is known of
 * the problem. NULL strings are taken as "". */
void results_add(struct results *r, const struct result *one);
/* All standing results of a problem, in order of algorithm rank then name; count 0 when there is none.
 * The array is owned by r and valid until the next results_add; the results in it stay valid until results_free. */
const struct result *const *results_of(const struct results *r, const char *problem, int *count);
/* Those that were measured (status ok) and that something newer of the same key stands for, in no order; one that was read back may be
 * there twice. Otherwise as results_of. */
const struct result *const *results_replaced(const struct results *r, const char *problem, int *count);
bool results_same_key(const struct result *a, const struct result *b); /* of one problem */
/* A problem whose measuring came to its end; results without it are what an interrupted run left. */
void results_finish(struct results *r, const char *problem);
bool results_is_finished(const struct results *r, const char *problem);
/* Changes with every add, but for a row that was there already: cheap "is there anything new". */
uint64_t results_version(const struct results *r);
/* Problems of which there is a result. */
int results_problem_count(const struct results *r);

#endif
