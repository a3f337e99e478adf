/* Partitions the joins into contests by union-find over layers and clusters: the choice of one join changes
 * what another saves only if both are in one contest. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

#include <stdlib.h>

struct maker {
	struct fusion *f;
	int *parent;    /* union-find over layers; a cluster is its first layer */
	int *contest;   /* per root: its contest, or -1 */
};

static int root_of(int *parent, int i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

static int place_of(const struct fusion *f, int layer)
{
	int cluster = f->cluster_of[layer];
	return cluster < 0 ? layer : f->clusters[cluster].layers[0];
}

static void unite(struct maker *m, const struct fusion_group *g)
{
	for (int k = 1; k < g->layer_count; k++) {
		int a = root_of(m->parent, place_of(m->f, g->layers[0]));
		int b = root_of(m->parent, place_of(m->f, g->layers[k]));
		m->parent[a < b ? b : a] = a < b ? a : b;
	}
}

/* Counts joins, clusters and single layers of each contest, or, once their arrays are there, lists them.
 * seen: per layer, true where its place is listed. */
static void list(struct maker *m, bool *seen)
{
	struct fusion *f = m->f;
	for (int i = 0; i < f->group_count; i++) {
		const struct fusion_group *g = &f->groups[i];
		if (!g->join)
			continue;
		int root = root_of(m->parent, place_of(f, g->layers[0]));
		struct fusion_contest *c = &f->contests[m->contest[root]];
		if (c->joins)
			c->joins[c->join_count] = i;
		c->join_count++;
		for (int k = 0; k < g->layer_count; k++) {
			int layer = g->layers[k], at = place_of(f, layer), cluster = f->cluster_of[layer];
			if (seen[at])
				continue;
			seen[at] = true;
			if (c->joins && cluster >= 0)
				c->clusters[c->cluster_count] = cluster;
			else if (c->joins)
				c->singles[c->single_count] = layer;
			c->cluster_count += cluster >= 0;
			c->single_count += cluster < 0;
		}
	}
}

static int compare(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	return (a > b) - (a < b);
}

static void allocate(struct fusion *f)
{
	for (int i = 0; i < f->contest_count; i++) {
		struct fusion_contest *c = &f->contests[i];
		c->joins = ARENA_ARRAY(&f->arena, int, c->join_count);
		c->clusters = ARENA_ARRAY(&f->arena, int, c->cluster_count + 1);
		c->singles = ARENA_ARRAY(&f->arena, int, c->single_count + 1);
		c->join_count = c->cluster_count = c->single_count = 0;
	}
}

void fusion_contests(struct fusion *f, const struct plan *p)
{
	size_t layers = (size_t)p->layer_count + 1;
	struct maker m = { f, base_malloc(layers * sizeof(int)), base_malloc(layers * sizeof(int)) };
	for (int i = 0; i < p->layer_count; i++) {
		m.parent[i] = i;
		m.contest[i] = -1;
	}
	for (int i = 0; i < f->group_count; i++)
		if (f->groups[i].join)
			unite(&m, &f->groups[i]);
	for (int i = 0; i < f->group_count; i++) {
		int root = root_of(m.parent, place_of(f, f->groups[i].layers[0]));
		if (f->groups[i].join && m.contest[root] < 0)
			m.contest[root] = f->contest_count++;
	}
	f->contests = ARENA_ARRAY(&f->arena, struct fusion_contest, f->contest_count + 1);
	for (int pass = 0; pass < 2; pass++) {
		bool *seen = base_calloc(layers, sizeof(bool));
		list(&m, seen);
		free(seen);
		if (!pass)
			allocate(f);
	}
	/* clusters in the order in which they are solved elsewhere */
	for (int i = 0; i < f->contest_count; i++)
		qsort(f->contests[i].clusters, (size_t)f->contests[i].cluster_count, sizeof(int), compare);
	free(m.parent);
	free(m.contest);
}
