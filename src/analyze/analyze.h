/* The analysis: a pure function of plan, results and scenario. Recomputed at every key press: 10,000 layers
 * in a few milliseconds. */
#ifndef ANALYZE_ANALYZE_H
#define ANALYZE_ANALYZE_H

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

/* A fusion candidate: a chain on graph edges with single consumers. */
struct fusion_group {
	int layer_count;
	int *layers;             /* ascending; layers[0] is the anchor (the conv, gemm or matmul) */
	struct problem problem;
	const char *text;
	int residual;            /* layer whose output the fused add waits for, or -1 (no add, or of a model input) */
	const char *pattern;     /* "Conv+BatchNorm+Relu" */
	int distinct;            /* index of text: a plan problem when below plan->problem_count, else
	                            texts[distinct - plan->problem_count] of struct fusion */
};

/* Groups that compete for the same layers: those of one anchor, or of the two convolutions whose sum either
 * may take along. One value leaves a cluster, so clusters can be decided one by one. */
struct fusion_cluster {
	int anchor_count, anchors[2]; /* layers */
	int shared;              /* first layer that both anchors reach; INT_MAX with one anchor */
	int layer_count, *layers;/* of all its groups, ascending */
};

/* Fusion candidates of a plan, made once per plan: for every anchor all prefixes of the longest chain, so
 * that the choice may stop anywhere. Groups of one anchor are adjacent, shortest first. */
struct fusion {
	struct arena arena;
	int group_count;
	struct fusion_group *groups;
	int *first_group;        /* per layer: index of its first group if it is an anchor, else -1 */
	int text_count;          /* distinct problem texts that the plan itself does not have */
	const char **texts;
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
	const char *why;            /* without a cost: the plan's or the runner's reason, hostile text; NULL: it was
				       not measured */
	bool critical;              /* has a cost, and is on the longest path */
	double slack_ns;            /* how much longer it could take without lengthening the path; NaN where it has no
				       cost, or no path has a length */
	double start_ns;            /* earliest start in the parallel schedule; NaN as slack_ns */
};

struct coverage {
	/* layers is the sum of the others, each layer counted once by its origin: a fused anchor as measured, the rest of
	   its group as fused. What has no cost is missing + unsupported. */
	int layers, measured, proxy, free, fused, estimated, assumed, missing, unsupported;
	double flops_measured_share; /* 0..1 of the known FLOPs of layers that run; NaN when there are none */
	double cost_proxy_share;     /* 0..1 of the sum of layer costs; NaN when that is 0 */
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
	double border_ns;        /* casts at model inputs and outputs, part of the totals; NaN: there are some, none has
	                            a cost */
	bool complete;           /* nothing missing */
	struct coverage coverage;
	enum cache cache;        /* which cache state was read: net, or warm where everything fits (measuring.md) */
	int unmeasured_problems; /* distinct problems this scenario wants and does not have */
};

/* What each toggle would do from here: the same analysis with that one flipped. */
struct what_if_effect {
	const struct what_if *row;
	bool on;
	double bound_ns;         /* with it flipped; NaN when not available, or nothing is measured for it */
	bool bound_complete;     /* that total is complete */
	double saves_ns;         /* present bound - flipped bound when off; when on, what it saves now: flipped - present */
	bool complete;           /* both sides complete: else the difference is between partial sums, show `~` */
	bool available;          /* e.g. matrix on a device without matrix units: false */
	int unmeasured_problems; /* distinct problems needed to know */
	int unavailable_problems;/* distinct problems that one side wants, has an answer for and cannot use (unsupported,
	                            failed, barred), and the other not so: of fusion, the fused ones */
};

/* llc_bytes: of the device; NaN = unknown (then net). d may be NULL: then it may have matrix units, and the
 * cache state is net. The analysis lives in the arena; results and groups in it are borrowed (until the next
 * results_add).
 *
 * fusion: in a chain or cluster the choice with the fewest missing layers and then the least cost (parallel:
 * the earliest end) is taken; both are exact. sequential_ns and parallel_ns each have their own best choice;
 * layers show that of the active scenario. */
struct analysis *analyze(struct arena *a, const struct plan *p, const struct fusion *f, const struct results *r,
	const struct device *d, const struct scenario *s);
struct what_if_effect *analyze_what_ifs(struct arena *a, const struct plan *p, const struct fusion *f,
	const struct results *r, const struct device *d, const struct scenario *s, int *count);
/* All distinct problems of the plan in order of first use, casts at the border last; fused ones included when fusion
 * is true. Texts borrowed from plan and fusion. */
const char **analyze_problems(struct arena *a, const struct plan *p, const struct fusion *f, bool fusion, int *count);

/* The measurement a scenario would use for a problem, or NULL: least median over allowed algorithms, or
 * (best off) that of the lowest rank among the allowed ones, status ok only. One from a shortlist (stop) is
 * taken only where no allowed one of the same states was measured in full. matrix off leaves out
 * algorithms on matrix units, and those of which it is not known, where the problem's type could run on
 * them; analyze() lets the unknown ones pass on a device without matrix units. Where a problem has no warm
 * results, net stands for warm (nothing constant to rotate). */
const struct result *analyze_pick(const struct results *r, const char *problem, const struct scenario *s, enum cache c);

/* Longest path with a super-source and a super-sink over n nodes: cost[i] >= 0, preds in CSR form (preds of
 * i are edges[first[i] .. first[i+1]-1], each < i). Returns the length; fills start, slack and critical,
 * each of which may be NULL. critical: every node without slack (within 1e-9 of the length), so all of
 * several equally long paths; none when the length is 0. */
double critical_path(int n, const double *cost, const int *first, const int *edges, double *start, double *slack,
	bool *critical);

#endif
