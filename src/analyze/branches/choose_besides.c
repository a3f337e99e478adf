/* Which joins and bundles compete: they share a layer, or a cluster has layers of both. Union-find over
 * places: a layer stands for itself, its cluster or its contest. */
#include "config.h"

#include "analyze/choose/choose_private.h"

#include <stdlib.h>
#include <string.h>

struct merger {
	const struct study *st;
	const struct fusion *f;  /* NULL: no groups */
	struct bundles *b;
	int *place;              /* per layer or other node: itself, or the first layer of its cluster */
	int *parent;             /* per place */
	int *contest;            /* per root: its contest, or -1 */
	bool *listed;            /* per place */
};

static int root_of(int *parent, int i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

static void fill_places(struct merger *m, int count)
{
	for (int i = 0; i < count; i++)
		m->place[i] = i;
	for (int i = 0; m->f && i < m->f->cluster_count; i++) {
		const struct fusion_cluster *c = &m->f->clusters[i];
		for (int k = 0; k < c->layer_count; k++)
			m->place[c->layers[k]] = c->layers[0];
	}
}

static void unite(struct merger *m, const int *layers, int count)
{
	for (int i = 1; i < count; i++) {
		int a = root_of(m->parent, m->place[layers[0]]);
		int b = root_of(m->parent, m->place[layers[i]]);
		m->parent[a < b ? b : a] = a < b ? a : b;
	}
}

static const int *layers_of(const struct merger *m, int item, int *count)
{
	const struct fusion_group *g = item < m->st->groups ? &m->f->groups[item] : NULL;
	const struct bundle *b = g ? NULL : &m->b->items[item - m->st->groups];
	*count = g ? g->layer_count : b->layer_count;
	return g ? g->layers : b->layers;
}

/* Counts an item and its places in its contest, or, once the arrays are there, lists them. */
static void list(struct merger *m, int item)
{
	int count;
	const int *layers = layers_of(m, item, &count);
	struct fusion_contest *c = &m->b->contests[m->contest[root_of(m->parent, m->place[layers[0]])]];
	if (c->joins)
		c->joins[c->join_count] = item;
	c->join_count++;
	for (int i = 0; i < count; i++) {
		int at = m->place[layers[i]];
		bool layer = layers[i] < m->st->plan->layer_count;
		int cluster = m->f && layer ? m->f->cluster_of[layers[i]] : -1;
		if (m->listed[at])
			continue;
		m->listed[at] = true;
		if (c->joins && cluster >= 0)
			c->clusters[c->cluster_count] = cluster;
		else if (c->joins)
			c->singles[c->single_count] = layers[i];
		c->cluster_count += cluster >= 0;
		c->single_count += cluster < 0;
	}
}

/* Calls `with` for each bundle, then for each join: bundles save more. */
static void each(struct merger *m, void (*with)(struct merger *m, int item))
{
	for (int i = 0; i < m->b->count; i++)
		with(m, m->st->groups + i);
	for (int i = 0; m->f && i < m->f->contest_count; i++)
		for (int k = 0; k < m->f->contests[i].join_count; k++)
			with(m, m->f->contests[i].joins[k]);
}

static void unite_item(struct merger *m, int item)
{
	int count;
	const int *layers = layers_of(m, item, &count);
	unite(m, layers, count);
}

static void number_contest(struct merger *m, int item)
{
	int count, *of = &m->contest[root_of(m->parent, m->place[layers_of(m, item, &count)[0]])];
	if (*of < 0)
		*of = m->b->contest_count++;
}

static int compare(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	return (a > b) - (a < b);
}

static void allocate(struct bundles *b, struct arena *a)
{
	for (int i = 0; i < b->contest_count; i++) {
		struct fusion_contest *c = &b->contests[i];
		c->joins = ARENA_ARRAY(a, int, c->join_count);
		c->clusters = ARENA_ARRAY(a, int, c->cluster_count + 1);
		c->singles = ARENA_ARRAY(a, int, c->single_count + 1);
		c->join_count = c->cluster_count = c->single_count = 0;
	}
}

void bundles_contest(const struct study *st, struct arena *a, struct bundles *b)
{
	size_t places = (size_t)(st->plan->layer_count + st->node_count) + 1;
	struct merger m = { .st = st, .f = st->groups ? st->fusion : NULL, .b = b,
		.place = base_malloc(places * sizeof(int)), .parent = base_malloc(places * sizeof(int)),
		.contest = base_malloc(places * sizeof(int)),
		.listed = base_malloc(places * sizeof(bool)) };
	fill_places(&m, (int)places);
	for (size_t i = 0; i < places; i++) {
		m.parent[i] = (int)i;
		m.contest[i] = -1;
	}
	each(&m, unite_item);
	each(&m, number_contest);
	b->contests = ARENA_ARRAY(a, struct fusion_contest, b->contest_count + 1);
	for (int pass = 0; pass < 2; pass++) {
		memset(m.listed, 0, places * sizeof(bool));
		each(&m, list);
		if (!pass)
			allocate(b, a);
	}
	/* clusters in the order in which they are solved elsewhere */
	for (int i = 0; i < b->contest_count; i++)
		qsort(b->contests[i].clusters, (size_t)b->contests[i].cluster_count, sizeof(int), compare);
	free(m.place);
	free(m.parent);
	free(m.contest);
	free(m.listed);
}
