/* Finds the clusters of groups that are chains, for the chooser (choose_chain.c). */
#include "config.h"

#include "analyze/study/price.h"

static bool is_chain(const struct fusion *f, const struct fusion_cluster *k)
{
	for (int i = 0; i < k->unit_count; i++) {
		const struct fusion_unit *u = &k->units[i];
		bool follows = u->child_count == (i > 0) && (!i || u->children[0] == i - 1);
		if (u->layer_count != 1 || u->ending_count > UINT8_MAX || !follows)
			return false;
		for (int n = 0; n < u->ending_count; n++) {
			const struct fusion_group *g = &f->groups[u->ending[n]];
			for (int m = 0; m < g->layer_count; m++)
				if (g->layer_count > i + 1 ||
					g->layers[m] != k->units[i + 1 - g->layer_count + m].layers[0])
					return false;
		}
	}
	return true;
}

void study_chains(struct study *st)
{
	const struct fusion *f = st->fusion;
	struct chains *c = &st->chains;
	int units = 0;
	if (!st->groups)
		return;
	for (int i = 0; i < f->cluster_count; i++)
		units += f->clusters[i].unit_count;
	c->begin = ARENA_ARRAY(&st->arena, int, f->cluster_count + 1);
	c->node = ARENA_ARRAY(&st->arena, int, units);
	c->ending = ARENA_ARRAY(&st->arena, int, units);
	c->ending_count = ARENA_ARRAY(&st->arena, uint8_t, units);
	c->paying = ARENA_ARRAY(&st->arena, uint8_t, st->groups);
	units = 0;
	for (int i = 0; i < f->cluster_count; i++) {
		const struct fusion_cluster *k = &f->clusters[i];
		int count = is_chain(f, k) ? k->unit_count : 0;
		c->begin[i] = units;
		for (int n = 0; n < count; n++) {
			const struct fusion_unit *u = &k->units[n];
			c->node[units] = st->layer_node[u->layers[0]];
			c->ending[units] = (int)(u->ending - f->endings);
			c->ending_count[units] = (uint8_t)u->ending_count;
			for (int m = 0; m < u->ending_count; m++) {
				const struct fusion_group *g = &f->groups[u->ending[m]];
				for (int at = 0; at < g->layer_count; at++)
					c->paying[c->ending[units] + m] += !st->layer_free[g->layers[at]];
			}
			units++;
		}
	}
	c->begin[f->cluster_count] = units;
}
