#include "config.h"

#include "analyze/place_private.h"

#include <math.h>
#include <string.h>

/* How each layer and group can run: its algorithms' layouts and prices. */

#define WAYS_MAX (IMAGE_LAYOUTS * IMAGE_LAYOUTS)

/* Ways while they are collected, one for each pair of layouts. */
struct collected {
	int count;
	struct way list[WAYS_MAX];
};

struct rank rank_of(const struct price *p, int layers)
{
	bool none = isnan(p->ns);
	return (struct rank){ none ? layers : 0, p->estimated ? layers : 0, none ? 0 : p->ns };
}

static void way_add(struct collected *w, int in, int out, int problem, const struct price *price)
{
	for (int i = 0; i < w->count; i++) {
		struct way *old = &w->list[i];
		if (old->in != in || old->out != out)
			continue;
		if (isnan(old->price.ns) || price->ns < old->price.ns)
			*old = (struct way){ in, out, problem, *price };
		return;
	}
	w->list[w->count++] = (struct way){ in, out, problem, *price };
}

static bool use_best(const struct placer *g, int distinct)
{
	return g->s->best || (g->st->limits && g->st->limits->best[distinct]);
}

/* The ways of a problem with an open layout. Without layout=priced, one that is not only channels last counts
 * as ONNX order. */
static void ways_own(struct placer *g, struct collected *w, int distinct)
{
	const struct price *all = solution_at(g->out, distinct);
	bool forced = layout_is_forced(g->st, distinct), priced = g->st->layouts->priced;
	uint32_t pairs = layout_pairs(g->st, distinct);
	if (!priced && !forced)
		way_add(w, IMAGE_NCX, IMAGE_NCX, distinct, all);
	if (forced && !all->result) {
		way_add(w, IMAGE_NXC, IMAGE_NXC, distinct, all);
		return;
	}
	bool named = g->s->algorithm[0] && all->result && use_best(g, distinct) &&
		algorithm_is_named(g->s->algorithm, &all->result->algorithm);
	if (!use_best(g, distinct)) /* the library's first choice has its layout */
		pairs &= all->result && layout_pair_of(all->result) >= 0 ?
			1u << layout_pair_of(all->result) : 0;
	for (int i = 0; all->result && i < IMAGE_LAYOUTS * IMAGE_LAYOUTS; i++) {
		int in = i / IMAGE_LAYOUTS, out = i % IMAGE_LAYOUTS;
		if (!(pairs >> i & 1) || (!priced && (in > IMAGE_NXC || out > IMAGE_NXC)))
			continue;
		struct price price = study_price_in(g->st, g->s, distinct, use_best(g, distinct), 1u << i);
		if (price.result && (!named || algorithm_is_named(g->s->algorithm, &price.result->algorithm)))
			way_add(w, in, out, distinct, &price);
	}
	if (!w->count)
		way_add(w, IMAGE_NCX, IMAGE_NCX, distinct, all);
}

static struct ways ways_kept(struct placer *g, const struct collected *all)
{
	struct ways w = { all->count, ARENA_ARRAY(g->a, struct way, all->count) };
	memcpy(w.list, all->list, (size_t)all->count * sizeof(*w.list));
	return w;
}

static struct ways *ways_of(struct placer *g, int distinct)
{
	struct ways *w = &g->ways[distinct];
	struct collected all = { 0 };
	if (!w->list) {
		ways_own(g, &all, distinct);
		*w = ways_kept(g, &all);
	}
	return w;
}

/* ... and those of its channels-last twin, -1: none. */
static void ways_both(struct placer *g, struct collected *w, int distinct, int twin)
{
	const struct ways *own = ways_of(g, distinct);
	for (int i = 0; i < own->count; i++)
		way_add(w, own->list[i].in, own->list[i].out, distinct, &own->list[i].price);
	if (twin < 0 || twin == distinct)
		return;
	struct price price = study_price(g->st, g->s, twin, use_best(g, twin));
	if (!isnan(price.ns))
		way_add(w, IMAGE_NXC, IMAGE_NXC, twin, &price);
}

static struct ways ways_alone(struct placer *g, const struct plan_layer *l)
{
	static const struct price nothing = { .known = true, PRICE_UNMEASURED };
	int node = g->st->layer_node[l->index];
	bool passes = layout_passes(g->st->plan, l), is_free = g->st->layer_free[l->index];
	struct price none = { .ns = g->out->cost[node], .estimated = g->out->estimated[node],
		PRICE_UNMEASURED };
	struct collected w = { 0 };
	int problem = is_free || plan_layer_is_control(l) ? -1 : l->problem;
	if (problem >= 0)
		ways_both(g, &w, problem, g->st->plan->nxc ? l->problem_nxc : -1);
	for (int i = 0; passes && i < IMAGE_LAYOUTS; i++)
		if (g->seen >> i & 1)
			way_add(&w, i, i, problem, is_free ? &nothing : solution_at(g->out, problem));
	if (!w.count)
		way_add(&w, IMAGE_NCX, IMAGE_NCX, -1, is_free ? &nothing : &none);
	for (int i = 0; i < w.count && !plan_layer_is_control(l); i++)
		w.list[i].price = price_assumed(g->st, g->s, l->index, &w.list[i].price);
	return ways_kept(g, &w);
}

/* A joined layer: the join has its price at its last layer, the copy at its first. */
static struct ways ways_joined(struct placer *g, int layer)
{
	const struct fusion_group *f = &g->st->fusion->groups[g->joined[layer]];
	struct price price = { .known = true, PRICE_UNMEASURED };
	struct collected w = { 0 };
	int distinct = layer == f->layers[f->layer_count - 1] ? f->distinct : layer == f->layers[0] ?
		fusion_copy(f) : -1;
	if (distinct >= 0)
		price = *solution_at(g->out, distinct);
	way_add(&w, IMAGE_NCX, IMAGE_NCX, distinct, &price);
	return ways_kept(g, &w);
}

/* ---- the choices of a layer */

static bool is_joined(const struct placer *g, int layer)
{
	return g->joined && g->joined[layer] >= 0;
}

static bool group_allowed(const struct placer *g, int group)
{
	const struct fusion_group *f = &g->st->fusion->groups[group];
	for (int i = 0; i < f->layer_count; i++)
		if (f->join || is_joined(g, f->layers[i]))
			return false;
	return (!g->st->limits || g->st->limits->group[group]) &&
		fusion_allows(g->st->level, g->st->fusion->groups[group].level);
}

static struct ways ways_group(struct placer *g, int group)
{
	const struct fusion_group *f = &g->st->fusion->groups[group];
	struct collected w = { 0 };
	if (f->distinct >= 0)
		ways_both(g, &w, f->distinct, f->distinct_nxc);
	int kept = 0;
	for (int i = 0; i < w.count; i++)
		if (!isnan(w.list[i].price.ns))
			w.list[kept++] = w.list[i];
	w.count = kept;
	for (int i = 0; i < kept; i++)
		w.list[i].price = price_assumed(g->st, g->s, f->layers[0], &w.list[i].price);
	return ways_kept(g, &w);
}

struct ways *list_groups(struct placer *g)
{
	const struct plan *p = g->st->plan;
	int next = INSIDE;
	struct ways *ways = ARENA_ARRAY(g->a, struct ways, g->st->groups + 1);
	g->group_base = ARENA_ARRAY(g->a, int, g->st->groups + 1);
	for (int i = 0; i < g->st->groups; i++) {
		const struct fusion_group *f = &g->st->fusion->groups[i];
		ways[i] = group_allowed(g, i) ? ways_group(g, i) : (struct ways){ 0 };
		/* numbers need to differ between groups of the same layers only */
		next = next + ways[i].count > UINT16_MAX ? INSIDE : next;
		g->group_base[i] = next;
		next += ways[i].count;
		for (int k = 0; k < f->layer_count && ways[i].count; k++)
			g->groups_at[f->layers[k]]++;
	}
	for (int i = 0; i < p->layer_count; i++) {
		g->groups_of[i] = ARENA_ARRAY(g->a, int, g->groups_at[i] + 1);
		g->groups_at[i] = 0;
	}
	for (int i = 0; i < g->st->groups; i++) {
		const struct fusion_group *f = &g->st->fusion->groups[i];
		for (int k = 0; k < f->layer_count && ways[i].count; k++) {
			const struct plan_layer *l = &p->layers[f->layers[k]];
			g->groups_of[l->index][g->groups_at[l->index]++] = i;
			for (int o = 0; k < f->layer_count - 1 && o < l->output_count; o++)
				if (l->outputs[o] >= 0)
					g->tracked[l->outputs[o]] = true;
		}
	}
	return ways;
}

int list_choices(struct placer *g, int layer, const struct ways *group_ways, struct choice **list)
{
	const struct plan_layer *l = &g->st->plan->layers[layer];
	struct ways alone = is_joined(g, layer) ? ways_joined(g, layer) : ways_alone(g, l);
	int count = 0, room = alone.count;
	for (int i = 0; i < g->groups_at[layer]; i++)
		room += group_ways[g->groups_of[layer][i]].count;
	struct choice *all = *list = ARENA_ARRAY(g->a, struct choice, room);
	bool pays = !g->st->layer_free[layer];
	for (int i = 0; i < alone.count; i++) {
		all[count++] = (struct choice){ &alone.list[i], -1, 0, rank_of(&alone.list[i].price, 1) };
		all[count - 1].rank.estimated *= pays;
	}
	for (int i = 0; i < g->groups_at[layer]; i++) {
		int group = g->groups_of[layer][i], paying = 0;
		const struct fusion_group *f = &g->st->fusion->groups[group];
		const struct ways *w = &group_ways[group];
		bool last = f->layers[f->layer_count - 1] == layer;
		for (int k = 0; k < f->layer_count; k++)
			paying += !g->st->layer_free[f->layers[k]];
		for (int k = 0; k < w->count; k++)
			all[count++] = (struct choice){ &w->list[k], group, g->group_base[group] + k,
				last ? rank_of(&w->list[k].price, paying) : (struct rank){ 0 } };
	}
	return count;
}
