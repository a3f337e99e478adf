/* The analysis: a pure function of plan, results and scenario. Recomputed at every key press: 10,000 layers
 * take a few milliseconds. Times are in ns; NaN: unknown. */
#ifndef ANALYZE_ANALYZE_H
#define ANALYZE_ANALYZE_H

#include "analyze/scenario/assume.h"
#include "analyze/roof/calibration.h"
#include "analyze/roof/peaks.h"
#include "analyze/scenario/scenario.h"
#include "plan/plan.h"
#include "store/results.h"

enum origin {
	ORIGIN_MISSING,   /* no cost: not measured yet, failed, or the layer has no problem */
	ORIGIN_MEASURED,
	ORIGIN_PROXY,     /* a stand-in was measured */
	ORIGIN_FREE,      /* class free */
	ORIGIN_FUSED,     /* the cost is in the group's first layer (its anchor) */
	ORIGIN_ESTIMATED, /* an estimate (analyze/roof/calibration.h) replaces a measurement */
	ORIGIN_ASSUMED,   /* --assume */
	ORIGIN_ROUGH,     /* a quick measurement: the library's first choice, few samples; hardly ever faster
			     than the best of a full one */
	ORIGIN_UNSUPPORTED, /* no cost: the library does not support it */
	ORIGIN_COUNT
};
const char *origin_name(enum origin o);

/* A fusion candidate: a chain of layers whose inner values have a single consumer. Its first layer is the
 * anchor: a convolution or matmul followed by layers fused into it, the first of several pointwise layers, or
 * the first matmul of attention (matmul, scale, softmax, matmul).
 * There may be a million groups, so what only few have is behind a pointer. */
struct fusion_group {
	int *layers;             /* ascending; layers[0] is the anchor */
	const char *text;
	const char *text_nxc;    /* the same with the what-if layout on; NULL: a conversion inside the group
				    prevents it */
	const char *pattern;     /* "Conv+BatchNorm+Relu" */
	enum fusion_level level : 8; /* the lowest choice of the what-if that allows it */
	bool proxy : 1;          /* the problem is a stand-in */
	int layer_count : 16;
	int residual;            /* layer whose output a fused binary operation reads; -1: none, or a model
				    input */
	int distinct;            /* index of text: a problem of the plan if below plan_problem_total, else
	                            texts[distinct - plan_problem_total] of struct fusion */
	int distinct_nxc;        /* index of text_nxc, or -1 */
	struct fusion_join *join; /* NULL: it is no join */
};

/* A join: matmuls of one value, which run as one with their weights side by side. Each member's result is a
 * part of the columns. Members read only that value and constants, so no path leads from one to another, and
 * running them together delays nothing that one of them needs. */
struct fusion_join {
	int member_count, *members; /* the matmul of each member, ascending; 2 or more */
	int copy;                /* the distinct problem that copies the parts whose readers need them dense;
				    -1: none */
	const char *copy_text;   /* NULL: none */
};
/* The copy of a group; -1 or NULL: it has none. */
static inline int fusion_copy(const struct fusion_group *g)
{
	return g->join ? g->join->copy : -1;
}
static inline const char *fusion_copy_text(const struct fusion_group *g)
{
	return g->join ? g->join->copy_text : NULL;
}

/* A pattern that is no group, at one of its layers. */
struct fusion_miss {
	int layer;
	const char *pattern, *why;
};

/* Layers that are fused together or not at all: one layer, or all layers of an activation written as several
 * operators. */
struct fusion_unit {
	int layer_count, child_count, ending_count;
	int *layers;                 /* ascending */
	int *children;               /* units of its cluster whose value only it reads */
	int *ending;                 /* groups whose last unit it is, shortest first */
};

/* Groups that compete for the same layers. Inner values of a group have one reader, so a cluster is a tree of
 * units; only the root's value is read outside. Clusters are therefore solved one by one. */
struct fusion_cluster {
	int anchor_count;
	int layer_count, *layers;    /* of all its groups, ascending */
	int unit_count;
	struct fusion_unit *units;   /* ascending by their last layers: children before parents */
};

/* Joins that compete: they share a layer, or a cluster of other groups has layers of both. */
struct fusion_contest {
	int join_count, *joins;      /* groups */
	int cluster_count, *clusters;
	int single_count, *singles;  /* layers of the joins that are in no cluster */
};

/* Fusion candidates of a plan, found once per plan: for every anchor all prefixes of the longest chain, so
 * that a group can end at any layer. Groups of one anchor are adjacent, shortest first. Pointwise layers are
 * anchors if they cannot be fused into a convolution or matmul. */
struct fusion {
	struct arena arena;
	int group_count;
	struct fusion_group *groups; /* malloc'd: there may be very many */
	int *first_group;        /* per layer: index of its first group if it is an anchor, else -1 */
	int miss_count;
	struct fusion_miss *misses; /* ascending by layer */
	int text_count;          /* distinct problem texts that are not in the plan, of both layouts */
	const char **texts;
	bool *text_is_nxc;       /* per text: used only with the what-if layout on */
	int cluster_count;       /* ascending by their last layer */
	struct fusion_cluster *clusters;
	int *cluster_of;         /* per layer: its cluster, or -1; joins are in none */
	int *endings;            /* the groups that end with each unit, unit after unit */
	int contest_count;
	struct fusion_contest *contests;
};
/* The caller frees the result with fusion_free; it borrows texts of the plan. */
struct fusion *fusion_find(const struct plan *p);
void fusion_free(struct fusion *f);

/* Cost of one layer in a scenario. Times in ns; NaN: unknown. */
struct layer_cost {
	double ns, lo, hi;          /* cost (stats_cost) and its 95% interval (range of 2 to 5, NaN of one);
				       estimated: see struct estimate; 0 for free and fused */
	double floor_ns;            /* no kernel takes less (struct estimate); not estimated: ns */
	enum origin origin;
	bool folded : 1;            /* the what-if fold removes it (plan_fold_text says why) */
	bool padded : 1;            /* the padded problem is the cheaper one, and counts */
	bool nearest;               /* estimated: the row is of the nearest kind, or borrowed */
	bool matrix, relaxed;       /* estimated: the units that the estimate is for, of those allowed */
	bool computes;              /* estimated: its operations take longer than its bytes */
	bool at_least;              /* the cost of one iteration of a loop whose count is unknown, or of the
				       cheaper of two branches: print `~`; why has the reason */
	bool noisy;                 /* the result's measurement was disturbed */
	bool capped;                /* noisy, too: its own measurement is above one of another state, in which
				       the algorithm cannot be faster, so that one counts (pick.c) */
	bool disputed;              /* noisy, too: another measurement, as good, differs (results.h) */
	bool nearer;                /* measured at a nearer reuse distance than the model's, as memory had no
				       room for the copies; the interval is wider by its constants */
	bool critical;              /* has a cost, and is on the longest path */
	bool mistrusted;            /* suspect: the cost is below what the measured peaks allow
				       (roofline_mistrusts), so one of them is wrong. Still part of the
				       totals. With bodies: one of their layers is */
	const struct result *result;/* the measurement used, or NULL */
	const struct calibration_row *row; /* estimated: the row that it is from; NULL: the pure roofline */
	double overhead_ns;         /* what the layer takes without any work. Estimated: fixed time and
				       launch; measured: the model's shortest kernel that does hardly any
				       work. NaN: unknown */
	double preferred_ns;        /* cost of the library's first choice, same states */
	const struct fusion_group *group; /* the group it anchors or was fused into, or NULL */
	const char *why;            /* no cost, or at_least: the plan's or the runner's reason (untrusted
				       text); NULL: not measured */
	struct layer_cost **bodies; /* layer with subgraphs: for each subgraph, the costs of its layers (for
				       one iteration); else NULL */
	double enqueue_ns;          /* host time to enqueue it */
	double slack_ns;            /* how much longer it could take without lengthening the path; NaN without
				       a cost, or if the path has no length */
	double start_ns;            /* earliest start in the parallel schedule; NaN as slack_ns */
	double roofline_ns;         /* roofline (analyze/roof/peaks.h) of what ran, or of what would run; 0 for
				       free and fused; NaN without peaks */
};

/* True if the cost is not a measurement of this work: a proxy, an estimate, rough, or of a part. */
bool cost_is_guess(const struct layer_cost *c);
/* What it counts in shares of a total: a suspect one at least its roofline; 0: unknown. */
double cost_weight(const struct layer_cost *c);

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

/* Other batches at which the model of a plan was planned, and whether it can run there. */
#define BATCHES_TRIED 8
struct batches_tried {
	int count;
	struct batch_tried {
		int64_t batch;
		bool runs;
	} list[BATCHES_TRIED];
};

/* Inputs of an analysis; all borrowed. */
struct ground {
	const struct plan *plan;
	const struct fusion *fusion;   /* may be NULL */
	const struct results *results;
	const struct device *device;   /* llc_bytes NaN (unknown): cache state net. NULL: net, may have matrix
					  units */
	const struct peaks *peaks;     /* the device's peaks (analyze/roof/peaks.h); NULL: unknown */
	bool estimate;                 /* a layer without results costs its estimate (ORIGIN_ESTIMATED) */
	const struct assumption *assumed; /* per layer; they count if the scenario says so. NULL: none */
	struct batches_tried *tried;   /* kept as long as the plan, so that each is tried once. NULL: not */
	struct analyzer *shared;       /* of this ground: further analyses share what it keeps. NULL: none */
};

/* The analysis lives in the arena; results and groups in it are borrowed until the next results_add.
 *
 * fusion: in each cluster the choice with the fewest missing layers, then the fewest estimated ones, then the
 * lowest cost (parallel: the earliest finish); both are exact. sequential_ns and parallel_ns each have their
 * own best choice; layers show that of the active scenario. With launch isolated, groups are chosen by device
 * times; then the totals are raised to the host's enqueue time if that is longer (GPUs only): device times do
 * not contain it, and the host enqueues ahead while the device computes, so the longer of the two remains. */
struct analysis *analyze(struct arena *a, const struct ground *g, const struct scenario *s);
/* The same for many scenarios of one plan: keeps what they share. New results, another plan, device or other
 * peaks are noticed. Release it before plan, fusion and results are freed, or make a new one for others at
 * the same addresses. What it returns is valid until the next call with other results; until then it holds
 * the results (results_hold). What analyze returns points to results that nobody holds. analyzer_effect: the
 * effect of one row of the table; analyzer_effect_begin leaves it pending. */
struct analyzer;
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

/* The conversions between layouts that the results make possible, distinct, in arena a; none with
 * layout=nhwc, where analyze_problems_in lists them. Measure the other problems first. */
const char **analyze_conversions(
	struct arena *a, const struct ground *g, const struct scenario *s, int *count);

/* The problems side by side that parallel=measured needs (whatever the scenario says of parallel), distinct,
 * in arena a. They depend on which groups are the fastest: measure the other problems first. */
const char **analyze_besides(
	struct arena *a, const struct ground *g, const struct scenario *s, int *count);

/* The measurement that an analysis uses for a problem, or NULL: the lowest median of the allowed algorithms
 * or (best off) the allowed one of lowest rank; status ok only. A result of the shortlist pass (stop) is used
 * only if no allowed algorithm of the same states was measured in full. matrix off excludes algorithms on
 * matrix units, and those that may use them (unknown, if the problem's type could run there); analyze()
 * allows the unknown ones on a device without matrix units. math off (strict) excludes all algorithms with
 * other than strict math. If a problem has no warm results, net is used for warm (it has no constants to
 * rotate). Algorithms in place only if each layer with the problem may write over an input. */
const struct result *analyze_pick(
	const struct analysis *a, const struct results *r, const char *problem);

/* Longest path through a DAG of n nodes. cost[i] >= 0; predecessors in CSR form: those of i are
 * edges[first[i] .. first[i+1]-1], each < i. Returns the length; fills start, slack and critical (n each;
 * each may be NULL). critical: every node without slack (within 1e-9 of the length), so all of several
 * equally long paths; none if the length is 0. */
double critical_path(int n, const double *cost, const int *first, const int *edges, double *start,
	double *slack, bool *critical);

/* Distributes the parallel schedule over lanes; a lane runs one layer at a time. A layer continues the lane
 * of the last producer that it waited for. Of several such layers, the one with the least slack does; the
 * others take the first idle lane. Lane 0 is one critical path from begin to end. lane has an entry for each
 * layer of the plan, -1 for a layer that takes no time. Returns the number of lanes. */
int schedule_lanes(const struct plan *p, const struct analysis *a, int *lane);

#endif
