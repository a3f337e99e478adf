/* How each layer and group can run: its algorithms' layouts and prices. */
#include "config.h"

#include "analyze/choose/place_private.h"

#include <math.h>
#include <string.h>

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
	bool passes = g->st->layouts->passes[l->index], is_free = g->st->layer_free[l->index];
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

static struct alone alone_make(struct placer *g, const struct plan_layer *l)
{
	struct alone x = { .known = true, .passes = g->st->layouts->passes[l->index],
		.twin = g->st->plan->nxc ? l->problem_nxc : -1 };
	x.ways = is_joined(g, l->index) ? ways_joined(g, l->index) : ways_alone(g, l);
	x.choices = ARENA_ARRAY(g->a, struct choice, x.ways.count);
	for (int i = 0; i < x.ways.count; i++) {
		x.choices[i] = (struct choice){ &x.ways.list[i], -1, 0, rank_of(&x.ways.list[i].price, 1) };
		x.choices[i].rank.estimated *= !g->st->layer_free[l->index];
	}
	return x;
}

static bool is_assumed(const struct placer *g, int layer)
{
	const struct assumption *by = g->s->assume ? g->st->on.assumed : NULL;
	return by && by[layer].kind != ASSUME_NOTHING;
}

static struct alone alone_of(struct placer *g, const struct plan_layer *l)
{
	bool passes = g->st->layouts->passes[l->index], is_free = g->st->layer_free[l->index];
	struct alone *x = is_free ? &g->free[passes] : l->problem >= 0 ? &g->alone[l->problem] : NULL;
	if (!x || plan_layer_is_control(l) || is_joined(g, l->index) || is_assumed(g, l->index))
		return alone_make(g, l);
	if (!x->known || x->passes != passes || (!is_free && g->st->plan->nxc && x->twin != l->problem_nxc))
		*x = alone_make(g, l);
	return *x;
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

/* Groups of equal problem and twin share their ways. */
static struct ways ways_of_group(struct placer *g, int group, struct alone *met)
{
	const struct fusion_group *f = &g->st->fusion->groups[group];
	struct alone *x = f->distinct >= 0 && !is_assumed(g, f->layers[0]) ? &met[f->distinct] : NULL;
	if (!x)
		return ways_group(g, group);
	if (!x->known || x->twin != f->distinct_nxc)
		*x = (struct alone){ .known = true, .twin = f->distinct_nxc, .ways = ways_group(g, group) };
	return x->ways;
}

/* Fills groups_of and groups_at from the groups that have ways, and tracks the values inside them. */
static void list_members(struct placer *g, const struct ways *ways)
{
	const struct plan *p = g->st->plan;
	int *at = g->groups_at = ARENA_ARRAY(g->a, int, p->layer_count + 2) + 1;
	for (int i = 0; i < g->st->groups; i++)
		for (int k = 0; k < g->st->fusion->groups[i].layer_count && ways[i].count; k++)
			at[g->st->fusion->groups[i].layers[k]]++;
	for (int i = 0, sum = 0; i <= p->layer_count; i++) { /* where those of each layer begin */
		int count = at[i];
		at[i] = sum;
		sum += count;
	}
	g->groups_of = ARENA_ARRAY(g->a, int, at[p->layer_count] + 1);
	for (int i = 0; i < g->st->groups; i++) {
		const struct fusion_group *f = &g->st->fusion->groups[i];
		for (int k = 0; k < f->layer_count && ways[i].count; k++) {
			const struct plan_layer *l = &p->layers[f->layers[k]];
			g->groups_of[at[l->index]++] = i;
			g->paying[i] += !g->st->layer_free[l->index];
			for (int o = 0; k < f->layer_count - 1 && o < l->output_count; o++)
				if (l->outputs[o] >= 0)
					g->tracked[l->outputs[o]] = true;
		}
	}
	g->groups_at--; /* each is now where the next one begins */
}

struct ways *list_groups(struct placer *g)
{
	int next = INSIDE;
	struct ways *ways = ARENA_ARRAY(g->a, struct ways, g->st->groups + 1);
	struct alone *met = ARENA_ARRAY(g->a, struct alone, g->st->groups ? g->st->distinct_count : 0);
	g->group_base = ARENA_ARRAY(g->a, int, g->st->groups + 1);
	g->paying = ARENA_ARRAY(g->a, int, g->st->groups + 1);
	for (int i = 0; i < g->st->groups; i++) {
		ways[i] = group_allowed(g, i) ? ways_of_group(g, i, met) : (struct ways){ 0 };
		/* numbers need to differ between groups of the same layers only */
		next = next + ways[i].count > UINT16_MAX ? INSIDE : next;
		g->group_base[i] = next;
		next += ways[i].count;
	}
	list_members(g, ways);
	return ways;
}

int list_choices(struct placer *g, int layer, const struct ways *group_ways, struct choice **list)
{
	struct alone alone = alone_of(g, &g->st->plan->layers[layer]);
	int count = alone.ways.count, room = count;
	*list = alone.choices;
	if (g->groups_at[layer] == g->groups_at[layer + 1])
		return count;
	for (int i = g->groups_at[layer]; i < g->groups_at[layer + 1]; i++)
		room += group_ways[g->groups_of[i]].count;
	struct choice *all = *list = ARENA_ARRAY(g->a, struct choice, room);
	memcpy(all, alone.choices, (size_t)count * sizeof(*all));
	for (int i = g->groups_at[layer]; i < g->groups_at[layer + 1]; i++) {
		int group = g->groups_of[i];
		const struct fusion_group *f = &g->st->fusion->groups[group];
		const struct ways *w = &group_ways[group];
		bool last = f->layers[f->layer_count - 1] == layer;
		for (int k = 0; k < w->count; k++)
			all[count++] = (struct choice){ &w->list[k], group, g->group_base[group] + k,
				last ? rank_of(&w->list[k].price, g->paying[group]) : (struct rank){ 0 } };
	}
	return count;
}
