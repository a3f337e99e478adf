#include "config.h"

#include "analyze/analyze_private.h"
#include "base/hash.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Groups are found on graph edges: a chain leaves an anchor through values that one layer alone reads, or that only the
 * layers of one activation in parts read, which is then taken whole. First the chains of convolutions and matrix
 * products and attention, then those of pointwise layers that none of these can take. */

struct finder {
	const struct plan *plan;
	struct fusion *fusion;
	struct hash texts;
	int group_capacity, text_capacity, first_capacity;
	struct fusion_group *groups; /* malloc'd while growing, then moved into the arena */
	const char **new_texts;
	bool *new_is_nxc;
	int *unit;         /* per layer: first layer of its unit, -1 in no group yet */
	bool *converted;   /* per value: a layout conversion of it stands in the graph */
};

/* The distinct problem of a text: the plan's own, or a new one. */
static int finder_distinct(struct finder *f, const char **text, bool nxc)
{
	struct fusion *out = f->fusion;
	struct text key = text_of(*text);
	int own = plan_problem_total(f->plan);
	int64_t known = hash_find(&f->texts, key);
	if (known < 0) {
		key.p = arena_strndup(&out->arena, key.p, key.n);
		known = own + out->text_count;
		*hash_at(&f->texts, key) = known;
		int count = out->text_count;
		VEC_GROW(f->new_texts, count, f->text_capacity);
		VEC_GROW(f->new_is_nxc, count, f->first_capacity);
		f->new_is_nxc[count] = nxc;
		f->new_texts[out->text_count++] = key.p;
	}
	if (known >= own)
		f->new_is_nxc[known - own] &= nxc;
	*text = known < own ? f->plan->problems[known].text : f->new_texts[known - own];
	return (int)known;
}

/* The group, q, where the layout what-if is on: impossible where a conversion stands inside; else the twin. */
static void add_twin(struct finder *f, struct fusion_group *g, const struct problem *q)
{
	const struct plan *p = f->plan;
	struct problem twin;
	char text[PROBLEM_TEXT_SIZE];
	bool nxc = false;
	g->text_nxc = g->text;
	g->distinct_nxc = g->distinct;
	for (int i = 0; p->nxc && i < g->layer_count; i++) {
		const struct plan_layer *l = &p->layers[g->layers[i]];
		bool inner = i < g->layer_count - 1;
		nxc |= l->problem_nxc != l->problem || p->values[l->outputs[0]].nxc;
		if (inner && f->converted[l->outputs[0]]) {
			g->text_nxc = NULL;
			g->distinct_nxc = -1;
			return;
		}
	}
	if (!nxc || !plan_twin(q, &twin))
		return;
	g->text_nxc = NULL;
	g->distinct_nxc = -1;
	if (problem_format(&twin, text, NULL) < 0)
		return;
	g->text_nxc = text;
	g->distinct_nxc = finder_distinct(f, &g->text_nxc, true);
}

static bool add_group(struct finder *f, const struct chain *c, int *layers)
{
	char text[PROBLEM_TEXT_SIZE];
	if (problem_format(&c->problem, text, NULL) < 0)
		return false; /* out of the grammar's range: cannot be measured, so it is no candidate */
	struct fusion *out = f->fusion;
	memcpy(layers, c->layers, (size_t)c->layer_count * sizeof(int));
	VEC_GROW(f->groups, out->group_count, f->group_capacity);
	struct fusion_group *g = &f->groups[out->group_count++];
	*g = (struct fusion_group){
		.layer_count = c->layer_count,
		.layers = layers,
		.text = text,
		.residual = c->residual,
		.pattern = arena_strndup(&out->arena, c->pattern.p, c->pattern.n),
	};
	g->distinct = finder_distinct(f, &g->text, false);
	add_twin(f, g, &c->problem);
	for (int i = 0; i < c->layer_count; i++)
		f->unit[c->layers[i]] = c->unit[i];
	return true;
}

/* Do all its layers belong to the units that other groups have them in? */
static bool units_agree(const struct finder *f, const struct chain *c)
{
	for (int i = 0; i < c->layer_count; i++)
		if (f->unit[c->layers[i]] >= 0 && f->unit[c->layers[i]] != c->unit[i])
			return false;
	return true;
}

/* The chain's groups, from the one that it is already (if it is one) to the longest; they share one array of layers. */
static void follow(struct finder *f, struct chain *c, bool is_group)
{
	int *layers = NULL;
	for (bool more = is_group || chain_step(c); more && units_agree(f, c); more = chain_step(c)) {
		if (!layers)
			layers = ARENA_ARRAY(&f->fusion->arena, int, FUSION_LAYERS_MAX);
		add_group(f, c, layers);
	}
}

static void find_products(struct finder *f, const struct plan_layer *l)
{
	struct chain c;
	if (chain_start(&c, f->plan, l)) {
		follow(f, &c, false);
		str_free(&c.pattern);
		if (chain_attention(&c, f->plan, l) && units_agree(f, &c))
			add_group(f, &c, ARENA_ARRAY(&f->fusion->arena, int, c.layer_count));
	}
	str_free(&c.pattern);
}

/* An activation in parts that begins with this layer. */
static bool start_region(struct chain *c, const struct finder *f, const struct plan_layer *l)
{
	const struct plan *p = f->plan;
	struct region r;
	for (int i = 0; i < l->input_count; i++) {
		int v = l->inputs[i];
		if (v < 0 || p->values[v].constant || p->values[v].consumer_count < 2)
			continue;
		if (region_match(p, v, &r) && r.layers[0] == l->index && chain_start_region(c, p, v, &r)) {
			if (units_agree(f, c))
				return true;
			str_free(&c->pattern);
		}
	}
	return false;
}

static void find_pointwise(struct finder *f, const struct plan_layer *l, const bool *taken)
{
	struct chain c;
	int unit = f->unit[l->index];
	bool inside = unit >= 0 && unit != l->index && unit != (l->index | FUSION_REGION);
	if (taken[l->index] || inside || l->class == CLASS_FREE || l->input_count < 1)
		return;
	if (start_region(&c, f, l)) {
		follow(f, &c, true);
		str_free(&c.pattern);
	} else if (l->problem >= 0) {
		enum kernel k = f->plan->problems[l->problem].problem.kernel;
		if (k != KERNEL_ELTWISE && k != KERNEL_BINARY && k != KERNEL_BATCHNORM)
			return;
		if (chain_start_pointwise(&c, f->plan, l) && units_agree(f, &c))
			follow(f, &c, false);
		str_free(&c.pattern);
	}
}

static int group_anchor_compare(const void *x, const void *y)
{
	const struct fusion_group *a = *(const struct fusion_group *const *)x, *b = *(const struct fusion_group *const *)y;
	if (a->layers[0] != b->layers[0])
		return a->layers[0] < b->layers[0] ? -1 : 1;
	return a->layer_count != b->layer_count ? (a->layer_count < b->layer_count ? -1 : 1) : (a > b) - (a < b);
}

/* By anchor, shortest first, into the arena. */
static void settle(struct finder *f)
{
	struct fusion *out = f->fusion;
	const struct fusion_group **order = base_malloc(((size_t)out->group_count + 1) * sizeof(*order));
	for (int i = 0; i < out->group_count; i++)
		order[i] = &f->groups[i];
	qsort(order, (size_t)out->group_count, sizeof(*order), group_anchor_compare);
	out->groups = ARENA_ARRAY(&out->arena, struct fusion_group, out->group_count);
	for (int i = out->group_count - 1; i >= 0; i--) {
		out->groups[i] = *order[i];
		out->first_group[out->groups[i].layers[0]] = i;
	}
	free(order);
	out->texts = ARENA_ARRAY(&out->arena, const char *, out->text_count);
	out->text_is_nxc = ARENA_ARRAY(&out->arena, bool, out->text_count);
	for (int i = 0; i < out->text_count; i++) {
		out->texts[i] = f->new_texts[i];
		out->text_is_nxc[i] = f->new_is_nxc[i];
	}
}

static void find_groups(struct finder *f)
{
	const struct plan *p = f->plan;
	bool *taken = base_calloc((size_t)p->layer_count + 1, sizeof(bool));
	for (int i = 0; i < p->layer_count; i++) {
		f->fusion->first_group[i] = -1;
		find_products(f, &p->layers[i]);
	}
	for (int i = 0; i < p->layer_count; i++)
		taken[i] = f->unit[i] >= 0;
	for (int i = 0; i < p->layer_count; i++)
		find_pointwise(f, &p->layers[i], taken);
	free(taken);
}

struct fusion *fusion_find(const struct plan *p)
{
	struct fusion *out = base_calloc(1, sizeof(*out));
	struct finder f = { .plan = p, .fusion = out };
	f.unit = base_malloc(((size_t)p->layer_count + 1) * sizeof(int));
	f.converted = base_calloc((size_t)p->value_count + 1, sizeof(bool));
	out->first_group = ARENA_ARRAY(&out->arena, int, p->layer_count);
	for (int i = 0; i < p->layer_count; i++)
		f.unit[i] = -1;
	for (int i = 0; i < plan_problem_total(p); i++)
		*hash_at(&f.texts, text_of(p->problems[i].text)) = i;
	for (int i = 0; i < p->conversion_count; i++)
		f.converted[p->conversions[i].value] = true;
	find_groups(&f);
	settle(&f);
	fusion_cluster(out, p, f.unit);
	free(f.groups);
	free(f.new_texts);
	free(f.new_is_nxc);
	free(f.unit);
	free(f.converted);
	hash_free(&f.texts);
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
