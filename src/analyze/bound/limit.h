/* What limits a layer: the roofline model of Williams, Waterman and Patterson (2009). A layer's operations
 * take at least operations / peak FLOP/s, its compulsory bytes at least bytes / bandwidth of the memory or
 * cache that holds them; the longer of the two is its limit, and limit / cost the share of that peak which
 * the layer reaches. */
#ifndef ANALYZE_LIMIT_H
#define ANALYZE_LIMIT_H

#include "analyze/bound/analyzer.h"

enum limit_by {
	LIMIT_UNKNOWN,  /* `why` gives the reason */
	LIMIT_COMPUTE,
	LIMIT_MEMORY,   /* device memory or a cache: `peak` names it */
	LIMIT_OVERHEAD, /* the layer would take about as long without any work: the fixed time of its
			   estimate, the model's shortest kernel, or (launch isolated) the launch, or the
			   host's time to enqueue it is longer than its operations and bytes take at the
			   peaks. `peak` says which. Fewer bits do not help */
	LIMIT_COUNT
};
const char *limit_name(enum limit_by by); /* "compute", "memory", "overhead"; NULL: unknown */

#define LIMIT_PEAK_SIZE 32
#define LIMIT_WHY_SIZE 128

struct limit {
	enum limit_by by;
	double intensity;            /* FLOPs per compulsory byte; NaN unknown */
	char peak[LIMIT_PEAK_SIZE];  /* "memory", "L2", "f32", "f16 matrix" (on matrix units), "shortest
					kernel", "fixed time", "launch", "enqueueing"; "": no peak applies */
	bool is_rate;                /* peak_per_s is in bytes/s; else in FLOP/s */
	double peak_per_s;           /* NaN: no peak applies */
	double share;                /* of that peak, above 1 at times: the peak is measured too. Overhead:
					its share of the cost. NaN where the cost is unknown, or the
					roofline itself */
	bool is_estimate;            /* the share is of an estimate, or `is_own`: print `~` */
	bool is_own;                 /* of the algorithm's own multiplications (Winograd's, of the tile that
					its name has), which are fewer than the layer's */
	char why[LIMIT_WHY_SIZE];    /* reason for LIMIT_UNKNOWN; else "" */
};

/* Costs and layers of an analysis by what limits them. */
struct limit_totals {
	double ns[LIMIT_COUNT];     /* by enum limit_by */
	int layers[LIMIT_COUNT];
	double known_ns, all_ns;    /* of a known limit; of all layers */
};

/* True if the share is above 100% also when rounded: the measurement is noisy, or the measured peak is too
 * low. Reports mark it `?`. */
bool limit_is_over(const struct limit *l);

/* The limit of a layer with cost `c`. problem: what it runs (a group's: the fused problem); NULL: unknown.
 * Peaks may have gaps. cache: the state that the analysis reads. Parses the problem's text: about a
 * microsecond. */
struct limit limit_of(const struct layer_cost *c, const char *problem, const struct peaks *k,
	const struct scenario *s, enum cache cache);
/* The same of a parsed problem; NULL: unknown. */
struct limit limit_of_parsed(const struct layer_cost *c, const struct problem *problem, const struct peaks *k,
	const struct scenario *s, enum cache cache);
/* The problem that layer i of a plan's main graph runs (a group's first layer: the fused one), or NULL. */
const char *limit_problem(const struct analysis *a, const struct plan *p, int i);
/* The same for layer i of a plan's main graph. */
struct limit limit_of_layer(const struct analysis *a, const struct plan *p, const struct peaks *k, int i);
/* Of all layers with a cost above 0 of the plan's main graph. */
struct limit_totals limit_totals_of(const struct analysis *a, const struct plan *p, const struct peaks *k);
/* The share as text: "memory 43%", "memory 43% (L2)", "compute 71% (f16 matrix)", "compute 104%? (f32)"
 * (above the peak), "overhead", "-" (unknown). */
void limit_describe(const struct limit *l, struct str *out);

#endif
