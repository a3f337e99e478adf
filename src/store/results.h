/* The results of one device identity (model and stack) in memory, for the analysis. Grows as results arrive.
 *
 * Results have the same key if they have the same problem, algorithm (API, name, layouts, math), cache
 * state and launch mode. Of one version of the runner full results outweigh those whose cost is a median,
 * and these those of the shortlist, those of less than three samples and noisy ones (stop disturbed); of
 * several noisy ones that with the lowest minimum stands, because other work only adds time. Full results
 * are sorted by cost. The most neighbours whose intervals are all at most a factor of 1.6 apart, of
 * several as many the fastest, are pooled into one of all samples, which stands. If as many others could
 * be, those that were so first stand, marked as disputed. The order in which they are added does not
 * matter, until more than 8 of a key are there: then the slowest of those that do not stand goes. Else
 * the newest stands. The others are replaced. */
#ifndef STORE_RESULTS_H
#define STORE_RESULTS_H

#include "base/arena.h"
#include "problem/result.h"

struct results;

struct results *results_new(void); /* empty */
void results_free(struct results *r); /* and all results in it; may be NULL */
/* Adds a copy, unless an equal result is there already. Newer means a later measured_at; with equal dates,
 * added later. A failure of the whole problem (algorithm name "") is replaced by any newer result of an
 * algorithm. NULL strings count as "". */
void results_add(struct results *r, const struct result *one);
/* For those who keep pointers to results that they only read: until as many calls of results_release, all
 * that are there stay as they are, replaced ones too. */
void results_hold(const struct results *r);
void results_release(const struct results *r);
/* Returns the current results of a problem, sorted by rank, then algorithm name; *count may be 0. r owns the
 * array, which is valid until the next results_add, and so are the results themselves, or as
 * long as they are held (results_hold). */
const struct result *const *results_of(const struct results *r, const char *problem, int *count);
/* Returns the replaced results with status ok, unordered: of those with equal key, stop, matrix units and
 * version of the runner only the fastest. Validity as for results_of. */
const struct result *const *results_replaced(const struct results *r, const char *problem, int *count);
/* Adds the result of a quick measurement (JOB_QUICK), status ok: of one algorithm, from a few samples. It is
 * kept apart from the others, and only until the problem is finished. */
void results_add_rough(struct results *r, const struct result *one);
/* The last one added; NULL: none, or the problem is finished. Validity as for results_of. */
const struct result *results_rough(const struct results *r, const char *problem);
/* A result between those of one algorithm at two adjacent reuse distances, interpolated: `step` of the way
 * from near to far (cache_step). It has the state of `far`; its interval is that of both. The same for the
 * same arguments. Validity as for results_of. */
const struct result *results_between(
	const struct results *r, const struct result *near, const struct result *far, double step);
/* True if two results of the same problem have the same key. */
bool results_same_key(const struct result *a, const struct result *b);
/* True if both are full results of one key and version that are not pooled, as they are too far apart. */
bool results_differ(const struct result *a, const struct result *b);
/* True if two results have the same algorithm: API, name, layouts and math. */
bool results_same_algorithm(const struct result *a, const struct result *b);
/* Marks a problem as measured completely. Problems with results but without this mark were interrupted. */
void results_finish(struct results *r, const char *problem);
bool results_is_finished(const struct results *r, const char *problem);
/* True if the problem lacks a result in one of these states (caches); `lacks` then has those to measure: all
 * if it is not finished. A finished one that cannot be measured lacks nothing, nor does one in a state whose
 * copies had no room; one without constants lacks one state for each size of pages, and state net counts only
 * where distances were measured: other runners have net alone. */
bool results_lack(const struct results *r, const char *problem, const bool caches[CACHE_COUNT],
	bool lacks[CACHE_COUNT]);
/* True if a result with status ok was added that was measured in this cache state. */
bool results_have_cache(const struct results *r, enum cache c);
bool results_have_distances(const struct results *r);
/* Number of changes so far: results added (rough ones too), problems finished. A cheap test for new ones. */
uint64_t results_version(const struct results *r);
/* The problem of change number `change`, counted from 0 to results_version - 1: one of the last
 * RESULTS_CHANGES. */
#define RESULTS_CHANGES 65536
const char *results_changed(const struct results *r, uint64_t change);
/* The problems of branches side by side (problem/beside.h) with at least one result, in the order of their
 * first ones. Validity as for results_of. */
const char *const *results_besides(const struct results *r, int *count);
/* The problems that are known, in the order in which they were first seen; NULL: i is their number. */
const char *results_problem(const struct results *r, int i);
/* Number of problems with at least one result. */
int results_problem_count(const struct results *r);
size_t results_bytes(const struct results *r); /* memory of results, texts and arrays, for tests */

#endif
