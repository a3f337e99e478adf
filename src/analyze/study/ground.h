/* The inputs of an analysis. */
#ifndef ANALYZE_STUDY_GROUND_H
#define ANALYZE_STUDY_GROUND_H

#include "analyze/fusion/fusion.h"
#include "analyze/roof/peaks.h"
#include "analyze/scenario/assume.h"
#include "store/results.h"

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

/* What cache=auto means with the results that are there now; a study of another state must be opened
 * again. */
enum cache ground_cache(const struct ground *g);

#endif
