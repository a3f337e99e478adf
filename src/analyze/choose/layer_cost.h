/* The cost of a layer. */
#ifndef ANALYZE_CHOOSE_LAYER_COST_H
#define ANALYZE_CHOOSE_LAYER_COST_H

#include "analyze/fusion/fusion.h"
#include "analyze/roof/calibration.h"
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
	double roofline_ns;         /* roofline (roof/peaks.h) of what ran, or of what would run; 0 for
				       free and fused; NaN without peaks */
};

/* True if the cost is not a measurement of this work: a proxy, an estimate, rough, or of a part. */
bool cost_is_guess(const struct layer_cost *c);
/* What it counts in shares of a total: a suspect one at least its roofline; 0: unknown. */
double cost_weight(const struct layer_cost *c);

#endif
