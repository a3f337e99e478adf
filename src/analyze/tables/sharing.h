/* What models share. Two layers are the same if their problems are; of a set of models, the Jaccard
 * similarity of two is |A n B| / |A u B| over their distinct layers, as in "DLBricks: Composable Benchmark
 * Generation to Reduce Deep Learning Benchmarking Effort on CPUs" (ICPE 2020). Weighted by time it is
 * sum(min(a, b)) / sum(max(a, b)), with the time that each model spends in a distinct layer (Ruzicka). */
#ifndef ANALYZE_SHARING_H
#define ANALYZE_SHARING_H

#include "analyze/bound/analyzer.h"
#include "base/hash.h"

/* A distinct layer in one model. */
struct shared_use {
	int problem;      /* number of the problem in the set */
	double ns;        /* all its layers, repeated ones as often as they run; NaN unknown */
	bool estimated;   /* not measured: the estimate of the analysis, or the roofline */
};

struct shared_model {
	int layer_count;  /* layers with a problem, those of subgraphs included */
	int use_count;
	struct shared_use *uses; /* ascending by problem */
	double ns;        /* sum of the known times; NaN: none is known */
	int estimated, unknown; /* uses without a measurement; without any time */
};

struct sharing {
	struct arena arena;
	struct hash index; /* problem's text -> number */
	int problem_count;
	int model_count, model_capacity;
	struct shared_model *models;
};

/* Adds the model of the plan. a: its analysis, without fusion, parallel and layout, so that each layer has a
 * cost of its own. Layers of a subgraph count as often as it runs. */
void sharing_add(struct sharing *s, const struct ground *g, const struct analysis *a);
void sharing_free(struct sharing *s);

struct shared_pair {
	int common;        /* distinct layers in both */
	double jaccard;    /* NaN: neither has a layer */
	double time_share; /* weighted by time; NaN: no time is known */
	bool estimated;
	int unknown;       /* distinct layers of either without a time, which time_share leaves out */
};
struct shared_pair sharing_pair(const struct sharing *s, int a, int b);

struct shared_step {
	int model;
	double share; /* covered by it and those before it, 0 to 1 */
};
/* The greedy cover: models in the order in which each adds most of what those before it lack, until `share`
 * (0 to 1) of the distinct layers is covered or, by_time, of the time that all models spend in known layers.
 * It takes at most H(n) times as many models as the fewest that would do (n layers; Chvatal 1979), usually
 * exactly as many. The array of *count steps is in the arena; none if nothing can be covered. */
struct shared_step *sharing_cover(
	const struct sharing *s, struct arena *a, bool by_time, double share, int *count);

#endif
