/* Reality beside the bound: the difference between the latency of a real execution (problem/execution.h) and
 * the bound of a scenario, split into gaps that add up to it; and the layers that reality runs faster. */
#ifndef ANALYZE_REALITY_H
#define ANALYZE_REALITY_H

#include "analyze/real/comparable.h"

/* Kinds of gaps in the order of reports: name in JSON, label, meaning. */
#define GAP_LIST(_)                                                                                          \
	_(LAUNCH, "launch", "launch, synchronization", "time of a profiled run outside its rows")            \
	_(OVERHEAD, "overhead", "per-layer overhead",                                                        \
		"time that framework and profiler add to each layer, however small")                         \
	_(PLACEMENT, "placement", "other provider", "nodes that another provider ran, and their copies")     \
	_(REORDER, "reorder", "added reorders", "layout conversions that the framework added")               \
	_(CAST, "cast", "added casts",                                                                       \
		"type conversions that the framework added, less those in the bound")                        \
	_(PAD, "pad", "added pads", "Pad nodes that the framework added")                                    \
	_(COPY, "copy", "added copies", "tensor copies that the framework added")                            \
	_(OTHER, "added", "other added nodes", "other nodes that the framework added")                       \
	_(FREE, "free", "layers free in bound",                                                              \
		"time of reshapes and similar, which cost nothing in the bound")                             \
	_(FUSION, "fusion", "missed fusion",                                                                 \
		"saving of layers fused in the bound only; negative: fused in reality only")                 \
	_(MATRIX, "matrix", "missed matrix units",                                                           \
		"saving of matrix units where reality does not use them")                                    \
	_(THREADS, "threads", "fewer threads",                                                               \
		"slower with fewer threads than the bound's device, at most in proportion")                  \
	_(ALGORITHM, "algorithm", "slower algorithms",                                                       \
		"the same layers with a faster algorithm in the bound")                                      \
	_(PARALLEL, "parallel", "missed parallelism", "layers that run at the same time in the bound")       \
	_(CACHE, "cache", "warmer caches", "faster than the bound, which reads weights from memory")         \
	_(FASTER, "faster", "faster than bound", "layers that reality runs faster than the bound")           \
	_(UNMEASURED, "unmeasured", "not in the bound", "layers without a cost in the bound")                \
	_(MERGED, "merged", "equal layers run once", "layers that the framework merged with equal ones")     \
	_(UNMATCHED, "unmatched", "not matched", "rows without layers, less the layers without rows")        \
	_(UNEXPLAINED, "unexplained", "unexplained",                                                         \
		"variation between runs, profiled against unprofiled runs; "                                 \
		"differences that are not resolvable")
enum gap_kind {
#define GAP_ENUM(id, name, label, text) GAP_##id,
	GAP_LIST(GAP_ENUM)
#undef GAP_ENUM
	GAP_COUNT
};
const char *gap_name(enum gap_kind k);  /* "launch" */
const char *gap_label(enum gap_kind k); /* at most 23 columns */
struct reality;
/* Returns the label in this comparison, which depends on the gap's sign and on estimates: "fused more than
 * bound", "casts of the bound", "above the estimate". */
const char *reality_label(const struct reality *y, enum gap_kind k);
/* Returns that the rows add up to more than the latency, and what follows for the gaps; NULL if they do not.
 * In the arena. */
const char *reality_excess_text(struct arena *a, const struct reality *y);
/* True if the gap contains estimates or proxies of the bound. */
bool reality_gap_estimated(const struct reality *y, enum gap_kind k);
const char *gap_text(enum gap_kind k);  /* one line */

struct gap {
	double ns, lo, hi;    /* the interval is the sum of the intervals of its parts; NaN: unknown */
	int layer_count;      /* ascending; in the arena */
	int *layers;
	int rows;             /* rows of the execution in it */
	double estimated_ns;  /* part of it by groups whose cost contains estimates or proxies */
};

/* Returns a row's time in one run, less the profiler's predicted cost, at least 0; NaN for NaN. */
double row_corrected(const struct reality *y, int row, double ns);

/* Reasons why a group that is faster than the bound does not contradict it. DOUBT_TURN: it was faster in one
 * of two executions only, in turn with the measurements (reality_turn); the group may be of any kind. */
enum faster_doubt { DOUBT_NONE, DOUBT_INTERVAL, DOUBT_MATCH, DOUBT_TURN, DOUBT_COUNT };
const char *faster_doubt_text(enum faster_doubt d); /* "without intervals"; "" for DOUBT_NONE */

/* Dates of the first and the last of some measurements, in seconds since 1970; 0 without measurements. */
struct dates {
	int64_t first, last;
};

/* Rows and layers that belong together: rows that share layers, with all their layers. */
struct reality_group {
	int row_count, layer_count;
	int *rows, *layers;   /* ascending */
	double real_ns, real_lo, real_hi; /* sum of its rows, less the profiler's predicted cost in them; lo
				     and hi include the step of the source's clock, NaN without an
				     interval */
	double cost_ns, cost_lo, cost_hi; /* cost of the same work in the bound's scenario, where only these
				     layers may be fused with each other; NaN: a layer has no cost */
	bool estimated;       /* cost_ns contains estimates or proxies */
	bool single;          /* a cost in cost_ns has no interval: a single sample */
	struct dates dates;   /* of the measurements in cost_ns */
	enum faster_doubt doubt; /* why it contradicts nothing; kind FASTER, except DOUBT_TURN */
	bool in_turn;         /* its layers were measured between two executions (reality_turn) */
	enum gap_kind kind;   /* the gap to which it counts */
	int longest;          /* its longest row */
	const char *kernel;   /* of its longest row: implementation, else operator; clean */
	const char *provider;
	const struct result *better; /* measurement of the layer with the highest cost, or NULL */
};

enum measured_from { MEASURED_NONE, MEASURED_LATENCY, MEASURED_PROFILED, MEASURED_SUM };

struct reality {
	const struct execution *execution; /* borrowed */
	const struct match *match;         /* borrowed */
	bool pending;             /* costs, kinds and gaps are not computed yet (reality_step) */
	enum measured_from from;  /* LATENCY: runs without profiler; PROFILED: profiled runs less the
				     profiler's predicted cost; SUM: only the layers' sum is known */
	double measured_ns, lo, hi; /* NaN unknown */
	double bound_ns, bound_lo, bound_hi; /* the total of the scenario, with estimates or not */
	double least_ns;          /* the lower bound where bound_ns contains estimates; else NaN */
	bool bound_complete, bound_estimated;
	double ratio;             /* Benanza ratio: bound / measured */
	double layers_ns;         /* raw sum of the rows of the topmost level, per run; NaN: no rows */
	double profiler_ns;       /* predicted cost of the profiler in the whole: profiler_row_ns times the
				     rows' calls; NaN: unknown, counted as 0 */
	int row_count;            /* rows of the topmost level */
	/* What framework and profiler add to the layers (reality_overhead.c). */
	double added_ns;          /* to a call in the rows' times; 0: rows of kernels */
	double added_most_ns;     /* predicted, with all that profiling a layer costs */
	double excess_ns;         /* rows and launch minus the median latency: profiled runs
				     were slower, or rows overlap; NaN: they do not, or it is unknown */
	bool overlaps;            /* rows ran at the same time: their sum exceeds the profiled run */
	const char *slower_doubt; /* why what counts to ALGORITHM may have another cause; NULL */
	struct gap gaps[GAP_COUNT]; /* ns NaN: not known; the others add up to measured - bound if both are
				     known (without a bound: only those that need none) */
	int group_count;
	struct reality_group *groups; /* by their first rows */
	bool *traced;             /* per row: it is of the topmost level */
	int *group_of_row;        /* per row: index of its group, or -1 */
	int *gap_of_row;          /* per row without a group: the gap to which it counts, or -1 */
	int doubt_count[DOUBT_COUNT]; /* groups by reason; [DOUBT_NONE]: kind FASTER without a reason */
	int faster_count; /* groups that beat the bound with intervals apart, in kind FASTER or CACHE */
	int contradicted_count;   /* those of kind FASTER: type, math and cache state are comparable */
	bool contradicted;        /* the whole is faster than the bound, intervals apart and comparable */
	bool unclear;             /* comparable and faster, but the intervals are not apart, or unknown */
	struct dates dates;       /* of the measurements in the bound */
	bool in_turn;             /* they were made between two executions (reality_turn) */
	bool unconfirmed;         /* the whole was faster in this execution, but not in the one before */
	const char *not_comparable; /* why nothing can contradict this bound (comparable.h); NULL */
	unsigned prevents;        /* uses that it prevents; without USE_RATIO the ratio is NaN */
};

/* All in the arena; e, m, and what they point to must outlive it. bound: analyze() of the same ground and
 * scenario. The match is with the ground's plan. Takes two analyses more. */
struct reality *reality_of(struct arena *a, const struct ground *g, const struct scenario *s,
	const struct analysis *bound, const struct execution *e, const struct match *m);
/* What does not depend on the bound: the measured times, and the groups with their real times. In arena a. */
struct reality *reality_measured(struct arena *a, const struct execution *e, const struct match *m);
/* reality_of in steps. Each step takes no longer than an analysis. The work writes costs to the groups of
 * `measured`, so only one work at a time may use them. reality_of_work returns the reality, which stays valid
 * when the work ends; while it is `pending` it has the measured times, the groups' real times and the ratio.
 * reality_step returns true while there is more to do; results and bound must stay as they were. reality_end
 * frees the work, finished or not; it may be NULL. */
struct reality_work;
struct reality_work *reality_begin(struct arena *a, const struct ground *g, const struct scenario *s,
	const struct analysis *bound, const struct reality *measured);
struct reality *reality_of_work(const struct reality_work *w);
bool reality_step(struct reality_work *w);
void reality_end(struct reality_work *w);

/* True if the group contradicts the bound: measured, comparable, and faster with intervals apart. */
static inline bool reality_contradicts(const struct reality *y, const struct reality_group *g)
{
	return !y->pending && g->kind == GAP_FASTER && !g->doubt && !g->estimated && !y->not_comparable;
}

/* Judges contradictions once more: both sides must be measured in turn, because the speed of a machine
 * changes. first: an earlier execution of the same agent, beside the bound of that time or of now; same plan.
 * Sets in_turn of what was measured between both. What contradicts in one of them only, and has no
 * measurement newer than y's execution, is not confirmed: DOUBT_TURN. */
void reality_turn(struct reality *y, const struct reality *first);

/* The number of groups that contradict the bound and were not measured again in turn. */
int reality_not_again(const struct reality *y);

/* ---- two executions ---- */

/* Layers that belong together in both executions. */
struct against_group {
	int layer_count, *layers;  /* ascending */
	double a_ns, a_lo, a_hi, b_ns, b_lo, b_hi; /* NaN: no row, or no interval */
	bool significant;          /* the intervals are known and apart */
	const char *a_kernel, *b_kernel;
};
struct against {
	double a_ns, a_lo, a_hi, b_ns, b_lo, b_hi; /* of the whole */
	bool significant;
	int group_count;
	struct against_group *groups; /* largest difference first; those in one execution only last */
	double a_other_ns, b_other_ns; /* rows without layers: added and unmatched */
};
struct against *reality_against(struct arena *a, const struct reality *x, const struct reality *y);

#endif
