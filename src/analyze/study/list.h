/* Lists the distinct problems of a plan. */
#ifndef ANALYZE_STUDY_LIST_H
#define ANALYZE_STUDY_LIST_H

#include "analyze/study/ground.h"

/* All distinct problems of the plan in order of first use, casts at model inputs and outputs last; fused ones
 * included if fusion is true. The array is in the arena, texts are borrowed from plan and fusion. Also those
 * of other variants (PROBLEMS_*): first those of the what-if layout (layers,
 * groups, conversions); a padded problem follows the problem. */
const char **analyze_problems_in(struct arena *a, const struct plan *p, const struct fusion *f, bool fusion,
	unsigned variants, int *count);

/* The variants that a scenario needs. */
static inline unsigned scenario_variants(const struct scenario *s)
{
	return (s->layouts != LAYOUTS_FREE ? PROBLEMS_NXC : 0u) | (s->pad ? PROBLEMS_PADDED : 0u);
}

/* The distinct algorithms that were measured for the plan's problems, fused ones included, and how many of
 * them have the name and the library that the scenario names (algorithm=jit*, libraries=onednn): 0 shows a
 * misspelt name. */
struct algorithms_named {
	int measured, named;
};

struct algorithms_named algorithms_named(const struct plan *p, const struct fusion *f,
	const struct results *results, const struct scenario *s);

#endif
