/* Partitions the groups but joins into clusters by union-find over shared layers. Inner values of a group
 * are read by one unit, so the path from any layer of a cluster to its end is unique: a cluster is a tree,
 * and its root is its last unit. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

#include <assert.h>
#include <stdlib.h>

struct maker {
	struct fusion *f;
	const struct plan *plan;
	const int *unit;        /* per layer: first layer of its unit */
	int *parent;            /* union-find over layers */
	int *unit_index;        /* per layer: its unit within its cluster */
};

/* Find of a disjoint-set forest with path halving (Tarjan and van Leeuwen, Journal of the ACM 31, 1984):
 * every node on the way is linked to its grandparent. Amortized O(log n). */
static int root_of(int *parent, int i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

/* Unites all layers of each group; the smaller root becomes the parent, so a root is the first layer of
 * its set. Groups that share a layer end in one set. Cost: one find per layer of a group. */
static void unite(struct maker *m)
{
	struct fusion *f = m->f;
	for (int i = 0; i < m->plan->layer_count; i++)
		m->parent[i] = i;
	for (int i = 0; i < f->group_count; i++) {
		const struct fusion_group *g = &f->groups[i];
		if (g->join)
			continue;
		for (int k = 1; k < g->layer_count; k++) {
			int a = root_of(m->parent, g->layers[0]), b = root_of(m->parent, g->layers[k]);
			m->parent[a < b ? b : a] = a < b ? a : b;
		}
		for (int k = 0; k < g->layer_count; k++)
			f->cluster_of[g->layers[k]] = 0; /* in one, numbered later */
	}
}

/* Numbers the clusters in the order of their last layers. */
static void number(struct maker *m)
{
	struct fusion *f = m->f;
	int layers = m->plan->layer_count;
	int *of_root = base_malloc(((size_t)layers + 1) * sizeof(int));
	for (int i = 0; i < layers; i++)
		of_root[i] = -1;
	/* in reverse order, the first layer found of a cluster is its last */
	for (int i = layers - 1; i >= 0; i--) {
		int root = root_of(m->parent, i);
		if (f->cluster_of[i] >= 0 && of_root[root] < 0)
			of_root[root] = f->cluster_count++;
	}
	f->clusters = ARENA_ARRAY(&f->arena, struct fusion_cluster, f->cluster_count);
	for (int i = 0; i < layers; i++) {
		if (f->cluster_of[i] < 0)
			continue;
		f->cluster_of[i] = f->cluster_count - 1 - of_root[root_of(m->parent, i)];
		struct fusion_cluster *c = &f->clusters[f->cluster_of[i]];
		c->layer_count++;
		c->anchor_count += f->first_group[i] >= 0;
	}
	free(of_root);
}

static void fill_layers(struct maker *m)
{
	struct fusion *f = m->f;
	for (int i = 0; i < f->cluster_count; i++) {
		struct fusion_cluster *c = &f->clusters[i];
		c->layers = ARENA_ARRAY(&f->arena, int, c->layer_count);
		c->units = ARENA_ARRAY(&f->arena, struct fusion_unit, c->layer_count);
		c->layer_count = 0;
	}
	for (int i = 0; i < m->plan->layer_count; i++) {
		if (f->cluster_of[i] < 0)
			continue;
		struct fusion_cluster *c = &f->clusters[f->cluster_of[i]];
		c->layers[c->layer_count++] = i;
	}
}

static int unit_last(const struct fusion_unit *u)
{
	return u->layers[u->layer_count - 1];
}

static int unit_compare(const void *x, const void *y)
{
	int a = unit_last(x), b = unit_last(y);
	return (a > b) - (a < b);
}

/* Groups the cluster's layers into units in four linear passes: number and count units, assign room,
 * fill, and sort units by their last layer, which puts children before parents. Layers of one unit need
 * not be adjacent, so the unit's first layer identifies it. O(n log n). */
static void fill_units(struct maker *m, struct fusion_cluster *c)
{
	struct fusion *f = m->f;
	for (int i = 0; i < c->layer_count; i++) {
		int layer = c->layers[i], first = m->unit[layer] & ~FUSION_REGION;
		if (first == layer) {
			m->unit_index[layer] = c->unit_count++;
			c->units[m->unit_index[layer]].layers = NULL;
		}
		c->units[m->unit_index[first]].layer_count++;
	}
	int *room = ARENA_ARRAY(&f->arena, int, c->layer_count);
	for (int i = 0; i < c->unit_count; i++) {
		c->units[i].layers = room;
		room += c->units[i].layer_count;
		c->units[i].layer_count = 0;
	}
	for (int i = 0; i < c->layer_count; i++) {
		struct fusion_unit *u = &c->units[m->unit_index[m->unit[c->layers[i]] & ~FUSION_REGION]];
		u->layers[u->layer_count++] = c->layers[i];
	}
	qsort(c->units, (size_t)c->unit_count, sizeof(*c->units), unit_compare);
	for (int i = 0; i < c->unit_count; i++)
		for (int k = 0; k < c->units[i].layer_count; k++)
			m->unit_index[c->units[i].layers[k]] = i;
}

/* The children of each unit: the units of the same cluster from which its layers read. reader[] marks the
 * unit that has claimed a child, so each is listed once; a second reader would contradict the tree and
 * fails the assertion. Called twice: to count, then to fill. Linear in the edges. */
static void link_children(struct maker *m, struct fusion_cluster *c, int *reader)
{
	for (int i = 0; i < c->unit_count; i++)
		reader[i] = -1;
	for (int i = 0; i < c->unit_count; i++) {
		struct fusion_unit *u = &c->units[i];
		for (int k = 0; k < u->layer_count; k++) {
			const struct plan_layer *l = &m->plan->layers[u->layers[k]];
			for (int j = 0; j < l->pred_count; j++) {
				int child = l->preds[j];
				if (m->f->cluster_of[child] != m->f->cluster_of[u->layers[k]] ||
					m->unit_index[child] == i)
					continue;
				child = m->unit_index[child];
				assert(reader[child] < 0 || reader[child] == i);
				if (reader[child] < 0 && u->children)
					u->children[u->child_count] = child;
				u->child_count += reader[child] < 0;
				reader[child] = i;
			}
		}
	}
}

static void fill_children(struct maker *m, struct fusion_cluster *c, int *reader)
{
	link_children(m, c, reader);
	int *room = ARENA_ARRAY(&m->f->arena, int, c->unit_count);
	for (int i = 0; i < c->unit_count; i++) {
		assert(reader[i] >= 0 || i == c->unit_count - 1);
		c->units[i].children = room;
		room += c->units[i].child_count;
		c->units[i].child_count = 0;
	}
	link_children(m, c, reader);
}

static struct fusion_unit *end_of(struct maker *m, const struct fusion_group *g)
{
	int last = g->layers[g->layer_count - 1];
	return &m->f->clusters[m->f->cluster_of[last]].units[m->unit_index[last]];
}

static int ending_compare(const void *x, const void *y, void *groups)
{
	const struct fusion_group *g = groups;
	int a = *(const int *)x, b = *(const int *)y;
	return g[a].layer_count != g[b].layer_count ? g[a].layer_count - g[b].layer_count : a - b;
}

/* For each unit the groups that end in it, shortest first: count, allocate, fill, sort. The selection of
 * groups (a dynamic program over the tree) reads them for its choices at the unit. O(g log g) for g
 * groups. */
static void fill_endings(struct maker *m)
{
	struct fusion *f = m->f;
	for (int i = 0; i < f->group_count; i++)
		if (!f->groups[i].join)
			end_of(m, &f->groups[i])->ending_count++;
	int *room = f->endings = ARENA_ARRAY(&f->arena, int, f->group_count);
	for (int i = 0; i < f->cluster_count; i++)
		for (int k = 0; k < f->clusters[i].unit_count; k++) {
			struct fusion_unit *u = &f->clusters[i].units[k];
			u->ending = room;
			room += u->ending_count;
			u->ending_count = 0;
		}
	for (int i = 0; i < f->group_count; i++) {
		if (f->groups[i].join)
			continue;
		struct fusion_unit *u = end_of(m, &f->groups[i]);
		u->ending[u->ending_count++] = i;
	}
	for (int i = 0; i < f->cluster_count; i++)
		for (int k = 0; k < f->clusters[i].unit_count; k++) {
			struct fusion_unit *u = &f->clusters[i].units[k];
			if (u->ending_count > 1)
				qsort_r(u->ending, (size_t)u->ending_count, sizeof(int),
					ending_compare, f->groups);
		}
}

/* Partitions the layers of all groups into trees of units, from union-find to the endings of each unit.
 * O(n log n + edges); groups of different clusters share no layer, so the best choice is found for each
 * cluster separately. */
void fusion_cluster(struct fusion *f, const struct plan *p, const int *unit)
{
	size_t layers = (size_t)p->layer_count + 1;
	struct maker m = { .f = f, .plan = p, .unit = unit };
	m.parent = base_malloc(layers * sizeof(int));
	m.unit_index = base_calloc(layers, sizeof(int));
	f->cluster_of = ARENA_ARRAY(&f->arena, int, p->layer_count);
	for (int i = 0; i < p->layer_count; i++)
		f->cluster_of[i] = -1;
	unite(&m);
	number(&m);
	fill_layers(&m);
	int *reader = base_malloc(layers * sizeof(int));
	for (int i = 0; i < f->cluster_count; i++) {
		fill_units(&m, &f->clusters[i]);
		fill_children(&m, &f->clusters[i], reader);
	}
	free(reader);
	fill_endings(&m);
	free(m.parent);
	free(m.unit_index);
}
