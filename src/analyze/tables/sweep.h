/* A sweep: the same model at several batches, data types and dimensions; what grows with the batch. */
#ifndef ANALYZE_SWEEP_H
#define ANALYZE_SWEEP_H

#include <math.h>

#include "analyze/bound/limit.h"
#include "analyze/bound/memory.h"

/* A doubling of the batch is worth it while it raises the throughput by more than this share. */
#define SWEEP_LEAST_GAIN 0.05

/* One analysis. Numbers that are not known are NaN. */
struct sweep_point {
	int64_t batch;           /* 0: the model has none */
	double total_ns, lo_ns, hi_ns; /* of the total; bound_ns: as in struct analysis */
	double bound_ns;
	bool complete, estimated; /* estimated: it has estimates or quick measurements; guess: estimates */
	bool guess, matrix;      /* matrix: of its scenario */
	double items_per_s;      /* items of the batch; a model without a batch has one item */
	double tokens_per_s;     /* elements of the model's token ids; NaN: it has none */
	double memory_bytes;     /* peak (analyze/bound/memory.h) */
	bool memory_at_least;    /* the workspace of some layer is not known */
	enum limit_by by;        /* what limits the largest share of the cost; LIMIT_UNKNOWN without peaks */
	double by_share;         /* that share of the cost whose limit is known, 0 to 1 */
	double flops_per_s;
	double noisy_share;      /* of the total, 0 to 1: as in struct trust */
	bool best;               /* set by sweep_best */
	bool growing;            /* the same: the best one is the largest one, so that larger may be better */
};

/* A point without any result. */
#define SWEEP_POINT_UNKNOWN                                                                       \
	((struct sweep_point){ .total_ns = NAN, .lo_ns = NAN, .hi_ns = NAN, .bound_ns = NAN,      \
		.items_per_s = NAN,                                                               \
		.tokens_per_s = NAN, .memory_bytes = NAN, .by_share = NAN, .flops_per_s = NAN,    \
		.noisy_share = NAN })

/* Two times beside each other. */
enum diff_verdict {
	DIFF_UNKNOWN, /* one side has no cost */
	DIFF_SAME,    /* equal times */
	DIFF_UNCLEAR, /* the intervals overlap, or one is unknown */
	DIFF_FASTER,  /* B's interval is below A's */
	DIFF_SLOWER,
};
const char *diff_verdict_name(enum diff_verdict v);
/* A time with its interval; NaN unknown. */
struct span {
	double ns, lo, hi;
};
enum diff_verdict diff_verdict_of(struct span a, struct span b);
/* The total and its interval divided by `items`. */
struct span sweep_span(const struct sweep_point *p, double items);
/* How b differs from a, per item if `per_item`; unknown unless both are complete. The one place that judges
 * two totals: as diff_verdict_of. */
struct sweep_change {
	double diff_ns, ratio; /* b - a and b / a; NaN unknown */
	enum diff_verdict verdict;
};
struct sweep_change sweep_change_of(const struct sweep_point *a, const struct sweep_point *b, bool per_item);
/* The interval as shares of the total: "1.2%" on both sides, "-47% +119%" where these differ; "" unknown. buf
 * has STR_QUANTITY bytes. Returns buf. */
char *sweep_interval(char *buf, const struct sweep_point *p);

/* Whether so much of it is noisy that the best batch may be another one. */
bool sweep_is_noisy(const struct sweep_point *p);
/* What stands before its bound: ">=" (results are missing), "~" (an estimate), "". */
const char *sweep_mark(const struct sweep_point *p);
const char *sweep_rate_mark(const struct sweep_point *p); /* before its items per second: "<=", "~", "" */
const char *sweep_memory_mark(const struct sweep_point *p); /* before its memory: ">=", "" */
/* The point of a scenario. Borrows nothing. */
struct sweep_point sweep_point_of(const struct ground *g, const struct analysis *a);
/* Marks the best batch of points that differ only in their batch, which ascends: the last one until which
 * every doubling gained more than SWEEP_LEAST_GAIN in items per second (of a step by another factor f: the
 * gain to the power 1 / log2(f)). Points that are not complete, and those after them, are not compared. None
 * is marked if fewer than two are compared. */
void sweep_best(struct sweep_point *points, int count);
/* The algorithm of each layer, or NULL. */
struct sweep_algorithms {
	int count;
	const struct algorithm **layers; /* api and name only */
};
/* Copies them to the arena, because results may change. */
struct sweep_algorithms sweep_algorithms_of(const struct analysis *a, struct arena *to);
/* Number of layers whose algorithms differ: the library or the kernel, not what follows a colon in its name,
 * such as the number of threads. -1: no layer has an algorithm in both, or these are not the same model. */
int sweep_crossovers(const struct sweep_algorithms *a, const struct sweep_algorithms *b);

#endif
