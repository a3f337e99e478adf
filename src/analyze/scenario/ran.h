/* What ran: names, notes, math and workspaces of the algorithms of a result. */
#ifndef ANALYZE_RAN_H
#define ANALYZE_RAN_H

#include <stdbool.h>

#include "problem/result.h"

struct scenario;

/* True if the names of a scenario (onednn+plain) have the library; if its name (with wildcards) is the
 * algorithm's; if the library's notes on an algorithm have the word. */
bool library_is_named(const char *names, const char *api);
bool algorithm_is_named(const char *name, const struct algorithm *a);
bool has_note(const struct algorithm *a, const char *word);
/* True if the problem could run on matrix units: a convolution, a matmul or similar; with strict math, not of
 * f32. */
bool matrix_possible(const char *problem, bool strict);
/* True if the algorithm's math is strict or not given. */
bool is_strict(const struct result *r);
/* True if `is` holds for one of the algorithms that ran: the result's, or those of the branches side by side
 * (one without names and notes for each that is unknown). */
bool ran_any(const struct result *r, bool (*is)(const struct algorithm *a, const struct scenario *s),
	const struct scenario *s);
/* The sum of their workspaces; NaN: unknown. */
double ran_workspace(const struct result *r);

#endif
