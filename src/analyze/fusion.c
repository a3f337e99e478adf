#include "config.h"

#include "analyze/analyze_private.h"
#include "base/hash.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Groups are found on graph edges: a chain leaves an anchor through values that one layer alone reads. Two
 * chains can meet in one place only, the residual Add that either of two convolutions may take along: a
 * chain takes one such Add, every other step has a single run-time input, so an Add has at most two chains
 * and a chain at most one such Add. */

struct finder {
	const struct plan *plan;
	struct fusion *fusion;
	struct hash texts;
	int group_capacity, text_capacity;
	struct fusion_group *groups; /* malloc'd while growing, then moved into the arena */
	const char **new_texts;
};

/* The distinct problem of a text: the plan's own, or a new one. */
static int finder_distinct(struct finder *f, const char **text)
{
	struct fusion *out = f->fusion;
	struct text key = text_of(*text);
	int64_t known = hash_find(&f->texts, key);
	if (known < 0) {
		key.p = arena_strndup(&out->arena, key.p, key.n);
		known = f->plan->problem_count + out->text_count;
		*hash_at(&f->texts, key) = known;
		VEC_GROW(f->new_texts, out->text_count, f->text_capacity);
		f->new_texts[out->text_count++] = key.p;
	}
	*text = known < f->plan->problem_count ? f->plan->problems[known].text :
						 f->new_texts[known - f->plan->problem_count];
	return (int)known;
}

static void add_group(struct finder *f, const struct chain *c, int *layers)
{
	char text[PROBLEM_TEXT_SIZE];
	if (problem_format(&c->problem, text, NULL) < 0)
		return; /* out of the grammar's range: cannot be measured, so it is no candidate */
	struct fusion *out = f->fusion;
	VEC_GROW(f->groups, out->group_count, f->group_capacity);
	struct fusion_group *g = &f->groups[out->group_count++];
	*g = (struct fusion_group){
		.layer_count = c->layer_count,
		.layers = layers,
		.problem = c->problem,
		.text = text,
		.residual = c->residual,
		.pattern = arena_strndup(&out->arena, c->pattern.p, c->pattern.n),
	};
	g->distinct = finder_distinct(f, &g->text);
}

/* All groups of one anchor; the prefixes share one array of layers. */
static void find_groups(struct finder *f, const struct plan_layer *l)
{
	struct chain c;
	struct fusion *out = f->fusion;
	int before = out->group_count;
	int *layers = NULL;
	if (chain_start(&c, f->plan, l)) {
		while (chain_step(&c)) {
			if (!layers)
				layers = ARENA_ARRAY(&out->arena, int, FUSION_LAYERS_MAX);
			memcpy(layers, c.layers, (size_t)c.layer_count * sizeof(int));
			add_group(f, &c, layers);
		}
	}
	str_free(&c.pattern);
	if (out->group_count > before)
		out->first_group[l->index] = before;
}

static const struct fusion_group *longest_group(const struct fusion *f, int anchor)
{
	int i = f->first_group[anchor];
	while (i + 1 < f->group_count && f->groups[i + 1].layers[0] == anchor)
		i++;
	return &f->groups[i];
}

static void cluster_add_layer(struct fusion *f, int cluster, int layer)
{
	f->cluster_of[layer] = cluster;
	f->clusters[cluster].layer_count++;
}

/* Puts an anchor's layers into the cluster they meet, or into a new one. */
static void cluster_anchor(struct fusion *f, const struct fusion_group *g)
{
	int cluster = -1, met = INT_MAX;
	for (int i = 0; i < g->layer_count && cluster < 0; i++) {
		cluster = f->cluster_of[g->layers[i]];
		if (cluster >= 0)
			met = g->layers[i];
	}
	if (cluster < 0) {
		cluster = f->cluster_count++;
		f->clusters[cluster] = (struct fusion_cluster){ .shared = INT_MAX };
	}
	struct fusion_cluster *c = &f->clusters[cluster];
	assert(c->anchor_count < 2);
	c->anchors[c->anchor_count++] = g->layers[0];
	c->shared = met;
	for (int i = 0; i < g->layer_count; i++)
		if (f->cluster_of[g->layers[i]] < 0)
			cluster_add_layer(f, cluster, g->layers[i]);
}

static int cluster_compare(const void *a, const void *b)
{
	const struct fusion_cluster *x = a, *y = b;
	int last_x = x->layers[x->layer_count - 1], last_y = y->layers[y->layer_count - 1];
	return (last_x > last_y) - (last_x < last_y);
}

static void find_clusters(struct fusion *f, int layer_count, int anchor_count)
{
	f->clusters = ARENA_ARRAY(&f->arena, struct fusion_cluster, anchor_count);
	f->cluster_of = ARENA_ARRAY(&f->arena, int, layer_count);
	for (int i = 0; i < layer_count; i++)
		f->cluster_of[i] = -1;
	for (int i = 0; i < layer_count; i++)
		if (f->first_group[i] >= 0)
			cluster_anchor(f, longest_group(f, i));
	for (int i = 0; i < f->cluster_count; i++) {
		f->clusters[i].layers = ARENA_ARRAY(&f->arena, int, f->clusters[i].layer_count);
		f->clusters[i].layer_count = 0;
	}
	for (int i = 0; i < layer_count; i++) {
		if (f->cluster_of[i] < 0)
			continue;
		struct fusion_cluster *c = &f->clusters[f->cluster_of[i]];
		c->layers[c->layer_count++] = i;
	}
	qsort(f->clusters, (size_t)f->cluster_count, sizeof(*f->clusters), cluster_compare);
	for (int i = 0; i < f->cluster_count; i++)
		for (int k = 0; k < f->clusters[i].layer_count; k++)
			f->cluster_of[f->clusters[i].layers[k]] = i;
}

struct fusion *fusion_find(const struct plan *p)
{
	struct fusion *out = base_calloc(1, sizeof(*out));
	struct finder f = { .plan = p, .fusion = out };
	out->first_group = ARENA_ARRAY(&out->arena, int, p->layer_count);
	for (int i = 0; i < p->problem_count; i++)
		*hash_at(&f.texts, text_of(p->problems[i].text)) = i;
	int anchors = 0;
	for (int i = 0; i < p->layer_count; i++) {
		out->first_group[i] = -1;
		find_groups(&f, &p->layers[i]);
		anchors += out->first_group[i] >= 0;
	}
	out->groups = ARENA_ARRAY(&out->arena, struct fusion_group, out->group_count);
	out->texts = ARENA_ARRAY(&out->arena, const char *, out->text_count);
	if (out->group_count)
		memcpy(out->groups, f.groups, (size_t)out->group_count * sizeof(*f.groups));
	if (out->text_count)
		memcpy(out->texts, f.new_texts, (size_t)out->text_count * sizeof(*f.new_texts));
	free(f.groups);
	free(f.new_texts);
	hash_free(&f.texts);
	find_clusters(out, p->layer_count, anchors);
	return out;
}

void fusion_free(struct fusion *f)
{
	if (!f)
		return;
	struct arena arena = f->arena;
	arena_free(&arena);
	free(f);
}
