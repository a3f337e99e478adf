/* What is made of a solution: the analysis, its interval, effects. */
#ifndef ANALYZE_BOUND_BOUND_PRIVATE_H
#define ANALYZE_BOUND_BOUND_PRIVATE_H

#include "analyze/bound/analyzer.h"
#include "analyze/branches/besides.h"

/* That of an analyzer, with groups; valid as what analyzer_run returns. */
const struct study *analyzer_study(struct analyzer *z, const struct ground *g, enum layouts layouts);
/* effects.c: whether a row of the table of what-ifs is available; whether the layers to which it applies are
 * counted, and their number when it is on; -1: not counted. */
bool what_if_available(const struct study *st, int row);
bool what_if_is_counted(int row);
int what_if_layers(const struct study *st, int row, const struct scenario *s, const struct solution *x);
/* Fills the interval of the bound, for the active choice. */
void interval_fill(struct analysis *out, const struct study *st, const struct solution *x, const int *chosen,
	struct arena *scratch);

/* What a total consists of, by measurement: of two totals, what both have cancels in their difference. */
struct spent_part {
	const void *key;        /* the result or calibration row */
	double ns, down, up;    /* of all its uses: time, and widths of the interval */
	double load;            /* instead of `down`: what other work may have added */
};

struct spent {
	int count;
	struct spent_part *parts; /* by key */
};

/* Returns the parts of a scenario's total, in arena a: of the sum, or of the longest path. */
struct spent interval_spent(const struct study *st, const struct scenario *s, const struct solution *x,
	const int *chosen, struct arena *a);
/* Returns the interval of what the total `after` takes less than `before`, which is saves_ns. */
struct interval interval_saved(const struct spent *before, const struct spent *after, double saves_ns);
/* The analysis of a solution, in arena a. */
struct analysis *analysis_make(
	struct arena *a, const struct study *st, const struct scenario *s, const struct solution *x);
struct side;
/* The totals of scenarios. A side is valid until sides_forget or sides_trim, which forgets them if they take
 * much memory. side_find: NULL if it has none. */
struct sides *sides_new(void);
void sides_free(struct sides *sides);
void sides_forget(struct sides *sides);
void sides_trim(struct sides *sides);
const struct side *side_add(struct sides *sides, const struct study *st, const struct scenario *s,
	const struct solution *x);
/* The number of layers to which a what-if (row of the table) applies; -1: not counted. */
int side_layers(const struct side *side, int row);
const struct side *side_find(const struct sides *sides, const struct scenario *s);
/* Fills the figures of an effect from its two sides. */
void effect_fill(
	struct what_if_effect *effect, const struct side *here, const struct side *other, int layers);

#endif
