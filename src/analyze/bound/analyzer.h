/* Analyses, effects of what-ifs, and what they share. */
#ifndef ANALYZE_BOUND_ANALYZER_H
#define ANALYZE_BOUND_ANALYZER_H

#include "analyze/bound/analysis.h"
#include "analyze/study/list.h"

/* Effect of one what-if: the same analysis with that what-if switched. */
struct what_if_effect {
	const struct what_if *row;
	bool pending;            /* not computed yet: only row, choice, on and available are set */
	int choice;              /* the one in use */
	bool on;                 /* it is not the first one, off. Switched: off, or from off to on */
	double total_ns;         /* total with it switched; NaN if it is not available, or nothing is measured
				    for it */
	double bound_ns;         /* ... with each estimate at its floor */
	bool bound_complete;     /* that total is complete */
	double saves_ns;         /* bound with it off minus bound with it on. NaN while a problem of either
				    side is unmeasured (but see rough), or if the two sides lack different
				    layers */
	bool rough;              /* what is unmeasured has quick measurements, and these are enough to tell */
	bool complete;           /* both sides are complete; false: the same layers are missing on both sides,
				    print `~` */
	bool estimated;          /* either side contains estimates: print `~` */
	int layers;              /* on: number of layers to which it applies; -1: not counted */
	bool available;          /* false e.g. for matrix on a device without matrix units */
	int unmeasured_problems; /* distinct problems of both sides that are not measured yet */
	int noisy_problems;      /* distinct problems of both sides whose measurement is noisy */
	int unavailable_problems;/* distinct problems needed by one side only whose answer cannot be used
				    (unsupported, failed, excluded by the scenario); for fusion the fused
				    ones */
};

/* The analysis lives in the arena; results and groups in it are borrowed until the next results_add.
 *
 * fusion: in each cluster the choice with the fewest missing layers, then the fewest estimated ones, then the
 * lowest cost (parallel: the earliest finish); both are exact. sequential_ns and parallel_ns each have their
 * own best choice; layers show that of the active scenario. With launch isolated, groups are chosen by device
 * times; then the totals are raised to the host's enqueue time if that is longer (GPUs only): device times do
 * not contain it, and the host enqueues ahead while the device computes, so the longer of the two remains. */
struct analysis *analyze(struct arena *a, const struct ground *g, const struct scenario *s);
struct analyzer;
/* The same for many scenarios of one plan: keeps what they share. New results, another plan, device or other
 * peaks are noticed. Release it before plan, fusion and results are freed, or make a new one for others at
 * the same addresses. What it returns is valid until the next call with other results; until then it holds
 * the results (results_hold). What analyze returns points to results that nobody holds. analyzer_effect: the
 * effect of one row of the table; analyzer_effect_begin leaves it pending. */
struct analyzer *analyzer_new(void);
void analyzer_free(struct analyzer *z); /* may be NULL */
struct analysis *analyzer_run(
	struct analyzer *z, struct arena *a, const struct ground *g, const struct scenario *s);
void analyzer_effect_begin(struct analyzer *z, const struct ground *g, const struct scenario *s, int row,
	struct what_if_effect *effect);
void analyzer_effect(struct analyzer *z, const struct ground *g, const struct scenario *s, int row,
	struct what_if_effect *effect);
struct what_if_effect *analyze_what_ifs(
	struct arena *a, const struct ground *g, const struct scenario *s, int *count);
/* The conversions between layouts that the results make possible, distinct, in arena a; none with
 * layout=nhwc, where analyze_problems_in lists them. Measure the other problems first. */
const char **analyze_conversions(
	struct arena *a, const struct ground *g, const struct scenario *s, int *count);
/* The problems side by side that parallel=measured needs (whatever the scenario says of parallel), distinct,
 * in arena a. They depend on which groups are the fastest: measure the other problems first. */
const char **analyze_besides(
	struct arena *a, const struct ground *g, const struct scenario *s, int *count);

#endif
