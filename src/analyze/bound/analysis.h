/* The analysis: bound, total and cost of each layer in a scenario. Times in ns; NaN: unknown. */
#ifndef ANALYZE_BOUND_ANALYSIS_H
#define ANALYZE_BOUND_ANALYSIS_H

#include "analyze/choose/layer_cost.h"
#include "analyze/study/ground.h"

struct coverage {
	/* layers is the sum of the others; each layer is counted once by its origin: the anchor of a fused
	 * group as measured, the rest of the group as fused. missing + unsupported have no cost. */
	int layers, measured, proxy, free, fused, estimated, assumed, rough, missing, unsupported;
	int folded;                  /* of the free ones: those that the what-if fold removes */
	double flops_measured_share; /* 0..1 of the known FLOPs of layers that run; NaN without any */
	double cost_proxy_share;     /* 0..1 of the sum of layer costs; NaN if that is 0 */
	double cost_estimated_share; /* the same for estimates that replace measurements */
	int nearest;                 /* estimated layers whose row is of the nearest kind, or borrowed */
	int mistrusted;              /* suspect layers, also counted above by their origin */
	double cost_mistrusted_share; /* of that sum, suspect ones at their roofline */
	int nearer;                  /* measured at a nearer reuse distance */
	int at_least, noisy;         /* layers whose cost may be more; with a noisy result, not suspect */
};

/* Branches that can run side by side (parallel=measured). */
struct beside_cost {
	const char *text;           /* the problem (problem/beside.h) */
	int branch_count, layer_count;
	const int *layers, *branch; /* the layers, and the branch of each, from 0; a group of fused layers
				       by its last layer */
	double alone_ns;            /* one after the other; NaN: a layer has no cost */
	double ns;                  /* side by side; NaN: not measured, or it failed */
	const struct result *result;/* the measurement, or NULL */
	const char *why;            /* measured without a time: the reason (untrusted text), or NULL */
	bool mistrusted;            /* suspect: less than what the peaks allow (roofline_mistrusts) */
	bool used;                  /* it is in the bound: it is faster, and no others have its layers */
};

struct analysis {
	struct scenario scenario;
	int layer_count;
	struct layer_cost *layers;
	double total_ns;         /* in the active scenario: sequential_ns or parallel_ns. A missing
				    layer adds 0, and complete is false: print "at least". NaN if no layer
				    that needs time has a cost; casts at model inputs and outputs alone
				    are not a bound */
	double bound_ns;         /* estimated: total_ns with each estimate at its floor, which no execution
				    beats; else total_ns */
	double bound_sequential_ns, bound_parallel_ns; /* ... and the two totals alike */
	double lo_ns, hi_ns;     /* interval of total_ns (interval.c): sqrt(sum over problems of (sum over
				    its uses of the width)^2), and how much measurements at several
				    times differ on top, at least 1%
				    (JCGM 100:2008, 5.1.2 and 5.2.2; the widths of order statistics are
				    assumed to be independent and as those of normal errors). What other work
				    may have added (noisy, quick and single samples) only lowers the low end.
				    A layer without an interval counts with its median; NaN if no layer has
				    one; lo_ns NaN also while a quick measurement has no roofline */
	double load_ns;          /* the part of the low end's distance that is due to other work */
	int without_interval;    /* layers, groups and casts in it with a cost but no interval */
	int range_intervals;     /* ... whose interval is the range of 2 to 5 samples */
	double sequential_ns;    /* NaN as total_ns */
	double parallel_ns;      /* the same with parallel: the resources, or (path, or without peaks) the
				    longest path, or (measured) the sum with branches side by side */
	bool parallel_at_most;   /* parallel is off, and parallel_ns may not be the least: layouts and groups
				    are those of the sum */
	double path_ns;          /* the longest path; NaN with parallel=measured */
	const char *limit;       /* "memory", "f16 matrix units": the resource that needs longer than the
				    longest path; NULL: none, or unknown */
	double border_ns;        /* casts at model inputs and outputs and (layout on) all conversions; part of
				    the totals. NaN: there are some, and none has a cost */
	bool border_estimated;   /* border_ns contains estimates instead of measurements */
	int conversions;         /* number of layout conversions in it */
	bool layouts_exact;      /* false: with layout=priced, or layers that are only channels last, the
				    assignment of layouts is the best that was found, not surely the best */
	bool complete;           /* no layer is missing and none is at_least; estimated layers are not
				    missing */
	bool estimated;          /* total_ns contains estimates instead of measurements: print `~` */
	bool rough;              /* total_ns contains quick measurements, whose problems still count as
				    unmeasured: an upper estimate of the bound */
	double enqueue_ns;       /* launch isolated: host time to enqueue all kernels, one after the other; no
				    total is lower. NaN: no result has it */
	bool host_bound;         /* ... and it equals total_ns */
	double resource_ns;      /* the longer of the longest path and what the resources need at least, each
				    doing all the work at its peak: memory, a cache, a unit, units together.
				    Of all algorithms and groups that the scenario allows, those count that
				    use the resource least. NaN without peaks, without a longest path, or if
				    layers have subgraphs */
	double roofline_ns;      /* sum of all rooflines (parallel: the longest path), each at most the cost;
				    NaN if one of them is unknown */
	int above_peak;          /* layers, groups and casts whose measured cost is below the roofline: the
				    peak is too low for them */
	struct coverage coverage;
	enum cache cache;        /* the cache state that was read (docs/wire.md): the model's own, or that of
				    the scenario */
	double reuse_bytes;      /* plan.reuse_bytes; at a reuse distance costs are interpolated to it */
	int unmeasured_problems; /* distinct problems that this scenario needs and that have no result, those
				    side by side included */
	int beside_count;        /* parallel=measured, else 0: */
	struct beside_cost *besides;
	double beside_saves_ns;  /* what the used ones save: the sum of the layers minus total_ns */
	int beside_unmeasured;   /* distinct ones that have no result */
	int beside_mistrusted;   /* used ones that are suspect */
	int apart_count;         /* problems with algorithms in place that it does not use, because a layer
				    with the problem cannot write over its input */
	const char **apart;
	const struct peaks *peaks; /* those of the ground; NULL: unknown */
};

/* Appends the state of the caches that was read, in words: "16m to 32m: 22.7 MiB read between two uses of a
 * constant", and how many layers were measured at a nearer distance. */
void analysis_cache_describe(const struct analysis *a, struct str *out);
/* Mark before a total: "" if complete, "~" with estimates, "at least " with gaps, "partial ~" with both (a
 * sum of estimates with gaps is not a lower bound). With quick measurements "rough ", "rough ~", "partial
 * rough " and "partial rough ~". */
const char *analysis_mark(const struct analysis *a);
/* Before a share of the total: "~" if the total has gaps or estimates, else "". */
const char *analysis_share_mark(const struct analysis *a);
/* The prefix of the other total, parallel_ns or sequential_ns: "at most ~" if it may not be the least. */
const char *analysis_other_mark(const struct analysis *a);
/* Of a layer that the what-if fold removes: the layer that stays and whose result is read instead, or -1. */
int analysis_folded_into(const struct analysis *a, const struct plan *p, int layer);
/* The measurement that an analysis uses for a problem, or NULL: the lowest median of the allowed algorithms
 * or (best off) the allowed one of lowest rank; status ok only. A result of the shortlist pass (stop) is used
 * only if no allowed algorithm of the same states was measured in full. matrix off excludes algorithms on
 * matrix units, and those that may use them (unknown, if the problem's type could run there); analyze()
 * allows the unknown ones on a device without matrix units. math off (strict) excludes all algorithms with
 * other than strict math. If a problem has no warm results, net is used for warm (it has no constants to
 * rotate). Algorithms in place only if each layer with the problem may write over an input. */
const struct result *analyze_pick(
	const struct analysis *a, const struct results *r, const char *problem);
/* Distributes the parallel schedule over lanes; a lane runs one layer at a time. A layer continues the lane
 * of the last producer that it waited for. Of several such layers, the one with the least slack does; the
 * others take the first idle lane. Lane 0 is one critical path from begin to end. lane has an entry for each
 * layer of the plan, -1 for a layer that takes no time. Returns the number of lanes. */
int schedule_lanes(const struct plan *p, const struct analysis *a, int *lane);

#endif
