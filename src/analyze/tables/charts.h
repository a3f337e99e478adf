/* The data of charts, made once: the report draws it as SVG, the explorer in cells. Times in ns. */
#ifndef ANALYZE_CHARTS_H
#define ANALYZE_CHARTS_H

#include "analyze/bound/limit.h"
#include "analyze/real/reality.h"

/* ---- roofline ---- */

/* A distinct problem of the model, in its own graph or in a body. */
struct dot {
	const char *problem;            /* of plan, fusion or result */
	const struct plan_layer *first; /* the first layer that has it */
	int layer, layers;              /* its number (bodies after the model's own graph, as in the
					   explorer), and how many layers have it */
	double flops, bytes;            /* of one execution; NaN: unknown */
	double ns, total_ns;            /* of one execution, of all in the model */
	bool guess;
	enum dtype type;                /* of the first operand */
	const struct result *result;    /* the measurement used, or NULL */
	struct limit limit;
};
/* FLOPs per byte, and FLOP/s. A dot without FLOPs or bytes has no position. */
static inline double dot_intensity(const struct dot *d)
{
	return d->flops / d->bytes;
}
static inline double dot_rate(const struct dot *d)
{
	return d->flops / d->ns * 1e9;
}
static inline bool dot_has_position(const struct dot *d)
{
	return d->flops > 0 && d->bytes > 0;
}

/* A peak: of a bandwidth in bytes/s, or of a unit in FLOP/s. */
struct ceiling {
	char text[64];       /* "L2 ~194 GB/s", "f32 212 GFLOP/s" */
	double peak;
	bool is_rate;
};
#define CEILINGS_MAX 24

struct dots {
	struct dot *list;    /* highest total_ns first */
	int count, capacity;
	int placed;          /* those with a position */
	int unmeasured, idle;/* layers without a cost; with one, but without FLOPs */
	struct ceiling ceilings[CEILINGS_MAX]; /* memory, caches, units */
	int ceiling_count;
};
/* Peaks may have gaps. Release it with dots_free; it borrows from plan and analysis. */
struct dots dots_of(const struct analysis *a, const struct plan *p, const struct peaks *k);
void dots_free(struct dots *d);
/* The highest peak of the memories (is_rate), or of the units; NaN: none. */
double dots_highest(const struct dots *d, bool is_rate);

/* ---- timeline ---- */

struct bar {
	int layer, lane;           /* of the model's own graph */
	double start, end, slack;  /* slack NaN: unknown, or one lane */
	bool critical, guess;
};
/* The longest path as lanes (schedule_lanes); in other scenarios one lane, in execution order. */
struct bars {
	struct bar *list;          /* by start; in the arena, as bar_of */
	int count, lane_count;
	int *bar_of;               /* per layer: its bar, or -1 */
	double end_ns;
	double longest, longest_with_slack; /* bar */
	int unknown;               /* layers without a cost */
	bool is_path;
};
struct bars bars_of(struct arena *arena, const struct analysis *a, const struct plan *p);

/* ---- distribution of the cost ---- */

/* Costs above 0, the highest first; in the arena. */
struct cost_shares {
	double *ns, all_ns;
	int count;
	int half, most;            /* how many have half of the cost, and 90% */
};
struct cost_shares cost_shares_of(struct arena *arena, const struct analysis *a);

/* ---- from the bound to reality ---- */

/* The gaps from the bound to the real latency, the largest first, those below 0 last. Each begins where the
 * one before ends; too small to be seen are those below 0.05% of the latency. */
struct waterfall {
	struct fall {
		enum gap_kind kind;
		double from_ns, to_ns;
	} steps[GAP_COUNT];
	int count;
	double most_ns;            /* the right end */
};
struct waterfall waterfall_of(const struct reality *y);
/* True if the gap is large enough to be listed. */
bool gap_is_seen(const struct reality *y, enum gap_kind kind);

#endif
