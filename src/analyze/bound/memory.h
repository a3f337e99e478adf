/* Memory of a model in a scenario, in bytes; NaN: unknown. */
#ifndef ANALYZE_MEMORY_H
#define ANALYZE_MEMORY_H

#include "analyze/bound/analyzer.h"

struct memory_need {
	double weights;
	double activations; /* the most that are alive at the same time, layers in order; values inside a
			       fused kernel do not exist */
	double workspace;   /* what the workspaces of the chosen algorithms add to the peak; a layer without
			       a measurement has none */
	double peak;	    /* weights + the most of activations and workspace at the same layer */
	int unknown;	    /* layers whose workspace is not known: they have no measurement */
};
struct memory_need memory_of(const struct plan *p, const struct analysis *a);

#endif
