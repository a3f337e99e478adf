/* The analysis: a pure function of plan, results and scenario. Recomputed at every key press: 10,000 layers
 * in a few milliseconds. */
#ifndef ANALYZE_ANALYZE_H
#define ANALYZE_ANALYZE_H

#include "analyze/peaks.h"
#include "analyze/scenario.h"
#include "plan/plan.h"
#include "store/results.h"

enum origin {
	ORIGIN_MISSING,   /* not measured yet, failed, or no problem known: no cost */
	ORIGIN_MEASURED,
	ORIGIN_PROXY,     /* a stand-in was measured */
	ORIGIN_FREE,      /* class free */
	ORIGIN_FUSED,     /* paid for by the group's first layer (its anchor) */
	ORIGIN_ESTIMATED,
	ORIGIN_ASSUMED,   /* --assume */
	ORIGIN_UNSUPPORTED, /* the library said no: no cost either */
	ORIGIN_COUNT
};
const char *origin_name(enum origin o);

/* A fusion candidate: a chain on graph edges with single consumers, whose first layer is the anchor: a convolution or
 * matrix product with what it takes along, pointwise layers in a row, or attention (product, scale, softmax, product). */
struct fusion_group {
	int *layers;             /* ascending; layers[0] is the anchor */
	const char *text;
	const char *text_nxc;    /* the same in the layout what-if; NULL: there a conversion stands inside */
	const char *pattern;     /* "Conv+BatchNorm+Relu" */
	int layer_count;
	int residual;            /* layer whose output a fused binary waits for, or -1 (none, or of a model input) */
	int distinct;            /* index of text: a problem of the plan when below plan_problem_total, else
	                            texts[distinct - plan_problem_total] of struct fusion */
	int distinct_nxc;        /* of text_nxc, or -1 */
};

/* What is fused together or not at all: a layer, or the layers that are one activation written in parts. */
struct fusion_unit {
	int layer_count, *layers;    /* ascending */
	int child_count, *children;  /* units of its cluster whose value it reads; nothing else reads that value */
	int ending_count, *ending;   /* groups that end with it, shortest first */
};

/* Groups that compete for the same layers. Inner values of a group have one reader, so a cluster is a tree of units
 * whose root's value alone leaves it, and clusters can be decided one by one. */
struct fusion_cluster {
	int anchor_count;
	int layer_count, *layers;    /* of all its groups, ascending */
	int unit_count;
	struct fusion_unit *units;   /* ascending by their last layers: children before parents */
};

/* Fusion candidates of a plan, made once per plan: for every anchor all prefixes of the longest chain, so
 * that the choice may stop anywhere. Groups of one anchor are adjacent, shortest first. Pointwise layers are anchors
 * where no convolution or matrix product can take them along. */
struct fusion {
	struct arena arena;
	int group_count;
	struct fusion_group *groups; /* malloc'd: there may be very many */
	int *first_group;        /* per layer: index of its first group if it is an anchor, else -1 */
	int text_count;          /* distinct problem texts that the plan itself does not have, of both layouts */
	const char **texts;
	bool *text_is_nxc;       /* per text: only the layout what-if wants it */
	int cluster_count;       /* ascending by their last layer */
	struct fusion_cluster *clusters;
	int *cluster_of;         /* per layer: its cluster, or -1 */
};
struct fusion *fusion_find(const struct plan *p);
void fusion_free(struct fusion *f);

/* What one layer costs in a scenario. ns; NaN = unknown. */
struct layer_cost {
	double ns, lo, hi;          /* median and its 95% interval (the range of 2 to 5 samples, NaN of one); 0 for
				       free and fused */
	enum origin origin;
	const struct result *result;/* the measurement used, or NULL */
	double preferred_ns;        /* of the library's own first choice, same states; NaN unknown */
	const struct fusion_group *group; /* the group it anchors or was fused into, or NULL */
	const char *why;            /* without a cost, or with the least of several: the plan's or the runner's reason, hostile text; NULL: it was
				       not measured */
	bool at_least;              /* one round of a loop, it is not known how many there are; or the cheaper of two
				       branches: print `~`, why says which */
	struct layer_cost **bodies; /* of a layer that costs what its bodies cost: of each body, per layer (as often as
				       the body runs: once); else NULL */
	double enqueue_ns;          /* what the host takes to enqueue it; NaN: not known */
	bool critical;              /* has a cost, and is on the longest path */
	double slack_ns;            /* how much longer it could take without lengthening the path; NaN where it has no
				       cost, or no path has a length */
	double start_ns;            /* earliest start in the parallel schedule; NaN as slack_ns */
	double roofline_ns;         /* roofline (analyze/peaks.h) of what was run, or of what would be; 0 for free and
				       fused; NaN without peaks */
	bool mistrusted;            /* it costs less than the measured peaks allow (roofline_mistrusts): either is wrong, and
				       the cost is in the totals all the same; of a layer with bodies: a part does */
};

struct coverage {
	/* layers is the sum of the others, each layer counted once by its origin: a fused anchor as measured, the rest of
	   its group as fused. What has no cost is missing + unsupported. */
	int layers, measured, proxy, free, fused, estimated, assumed, missing, unsupported;
	double flops_measured_share; /* 0..1 of the known FLOPs of layers that run; NaN when there are none */
	double cost_proxy_share;     /* 0..1 of the sum of layer costs; NaN when that is 0 */
	double cost_estimated_share; /* the same of rooflines that stand for measurements */
	int mistrusted;              /* layers that cost less than the measured peaks allow: counted above by their origins, too */
	double cost_mistrusted_share;
};

struct analysis {
	struct scenario scenario;
	int layer_count;
	struct layer_cost *layers;
	double bound_ns;         /* total in the active scenario: sum or longest path; a missing layer adds nothing, and
	                            complete is false: say "at least". NaN where no layer that costs has a cost:
	                            casts at the border alone make no bound */
	double lo_ns, hi_ns;     /* interval of bound_ns: the same sum or longest path, of the layers as they are listed,
	                            with all at lo and all at hi (in quadrature would be wrong, errors are
	                            correlated); what has no interval counts by its median; NaN where none has */
	int without_interval;    /* layers, groups and casts in it that have a cost and no interval */
	int range_intervals;     /* ... whose interval is the range of 2 to 5 samples */
	double sequential_ns, parallel_ns; /* NaN as bound_ns */
	double border_ns;        /* casts at model inputs and outputs, and with layout on all conversions; part of the
	                            totals; NaN: there are some, none has a cost */
	bool border_estimated;   /* rooflines stand for measurements in it */
	int conversions;         /* layout conversions in it */
	bool complete;           /* nothing missing, and no layer's cost the least of several; what is estimated is not
	                            missing */
	bool estimated;          /* rooflines stand for measurements somewhere in it: print `~` */
	double enqueue_ns;       /* launch isolated: what the host takes to enqueue all that runs, one after the other; the
	                            totals are at least that. NaN: not known of any */
	bool host_bound;         /* ... and it is what makes bound_ns */
	double resource_ns;      /* the longest path, or what the busiest resource (memory, a cache, a unit) takes at its peak for
	                            all that runs, whichever is more; NaN without peaks, where the longest path has none, or
	                            layers cost what their bodies do */
	double roofline_ns;      /* of all that runs, added up or along the longest path as bound_ns; NaN where one is not
	                            known */
	struct coverage coverage;
	enum cache cache;        /* which cache state was read: net, or warm where everything fits (docs/wire.md) */
	int unmeasured_problems; /* distinct problems this scenario wants and does not have */
};

/* What each toggle would do from here: the same analysis with that one flipped. */
struct what_if_effect {
	const struct what_if *row;
	bool on;
	double bound_ns;         /* with it flipped; NaN when not available, or nothing is measured for it */
	bool bound_complete;     /* that total is complete */
	double saves_ns;         /* present bound - flipped bound when off; when on, what it saves now: flipped - present. NaN
	                            while a problem of either side is unmeasured, or the sides lack different layers */
	bool complete;           /* both sides complete: else the same layers are missing from both, show `~` */
	bool estimated;          /* either side has rooflines in it: show `~` */
	bool available;          /* e.g. matrix on a device without matrix units: false */
	int unmeasured_problems; /* distinct problems needed to know */
	int unavailable_problems;/* distinct problems that one side wants, has an answer for and cannot use (unsupported,
	                            failed, barred), and the other not so: of fusion, the fused ones */
};

/* What an analysis stands on; all borrowed. */
struct ground {
	const struct plan *plan;
	const struct fusion *fusion;   /* may be NULL */
	const struct results *results;
	const struct device *device;   /* llc_bytes NaN = unknown: then cache state net. NULL: net, may have matrix units */
	const struct peaks *peaks;     /* what the device can do at most (analyze/peaks.h); NULL: not known */
	bool estimate;                 /* what has no result costs its roofline, marked ORIGIN_ESTIMATED */
};

/* The analysis lives in the arena; results and groups in it are borrowed (until the next results_add).
 *
 * fusion: in a cluster the choice with the fewest missing layers, then the fewest estimated ones, and then the least cost
 * (parallel: the earliest end) is taken; both are exact. sequential_ns and parallel_ns each have their own best choice;
 * layers show that of the active scenario. With launch isolated the choice is made by the times on the device, and the
 * totals are then raised to what the host takes to enqueue it (GPUs; a CPU runs what it calls). */
struct analysis *analyze_on(struct arena *a, const struct ground *g, const struct scenario *s);
struct what_if_effect *analyze_what_ifs_on(struct arena *a, const struct ground *g, const struct scenario *s, int *count);
/* The same without peaks. */
struct analysis *analyze(struct arena *a, const struct plan *p, const struct fusion *f, const struct results *r,
	const struct device *d, const struct scenario *s);
struct what_if_effect *analyze_what_ifs(struct arena *a, const struct plan *p, const struct fusion *f,
	const struct results *r, const struct device *d, const struct scenario *s, int *count);
/* All distinct problems of the plan in order of first use, casts at the border last; fused ones included when fusion
 * is true. Texts borrowed from plan and fusion. analyze_problems_in: with nxc those of the layout what-if (layers,
 * groups, conversions) come first. */
const char **analyze_problems(struct arena *a, const struct plan *p, const struct fusion *f, bool fusion, int *count);
const char **analyze_problems_in(struct arena *a, const struct plan *p, const struct fusion *f, bool fusion, bool nxc,
	int *count);

/* The measurement a scenario would use for a problem, or NULL: least median over allowed algorithms, or
 * (best off) that of the lowest rank among the allowed ones, status ok only. One from a shortlist (stop) is
 * taken only where no allowed one of the same states was measured in full. matrix off leaves out
 * algorithms on matrix units, and those of which it is not known, where the problem's type could run on
 * them; analyze() lets the unknown ones pass on a device without matrix units. math off (strict) leaves out those whose
 * math is anything but strict. Where a problem has no warm
 * results, net stands for warm (nothing constant to rotate). */
const struct result *analyze_pick(const struct results *r, const char *problem, const struct scenario *s, enum cache c);

/* Longest path with a super-source and a super-sink over n nodes: cost[i] >= 0, preds in CSR form (preds of
 * i are edges[first[i] .. first[i+1]-1], each < i). Returns the length; fills start, slack and critical,
 * each of which may be NULL. critical: every node without slack (within 1e-9 of the length), so all of
 * several equally long paths; none when the length is 0. */
double critical_path(int n, const double *cost, const int *first, const int *edges, double *start, double *slack,
	bool *critical);

#endif
