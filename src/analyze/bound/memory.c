/* The most that values and workspaces need at once in the order of execution (plan_peak_bytes), and the
 * weights. */
#include "config.h"

#include "analyze/bound/memory.h"

#include <stdlib.h>

#include "base/arena.h"

struct memory_need memory_of(const struct plan *p, const struct analysis *a)
{
	struct memory_need m = { .weights = p->weight_bytes };
	int *at = base_malloc(((size_t)p->layer_count + 1) * sizeof(*at));
	double *workspace = base_calloc((size_t)p->layer_count + 1, sizeof(*workspace));
	for (int i = 0; i < p->layer_count; i++) {
		const struct layer_cost *c = &a->layers[i];
		const struct fusion_group *g = c->group;
		/* the parts of a join exist when its first member runs, before they are read */
		at[i] = g ? g->layers[g->join ? 0 : g->layer_count - 1] : i;
		if (c->result && c->result->algorithm.workspace_bytes > workspace[at[i]])
			workspace[at[i]] = c->result->algorithm.workspace_bytes;
		m.unknown += !c->result && !(c->ns <= 0); /* NaN: no cost, no measurement */
	}
	m.activations = plan_peak_bytes(p, at, NULL);
	double both = plan_peak_bytes(p, at, workspace);
	m.workspace = both - m.activations;
	m.peak = m.weights + both;
	free(at);
	free(workspace);
	return m;
}
