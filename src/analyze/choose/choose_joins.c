/* Chooses the joins for the sum of all layers. What a join saves depends on the groups that its layers leave
 * behind in their clusters, so a selection of joins is priced with the best groups of all clusters of its
 * contest. Contests are independent. Bundles, sets of layers at a price, are chosen as joins are. First each
 * join is taken that lowers the cost beside those before it; then all selections are compared, up to
 * SELECTIONS_MAX of them. */
#include "config.h"

#include "analyze/choose/choose_private.h"

#include <math.h>
#include <string.h>

#define SELECTIONS_MAX 256
#define SELECTIONS_MORE 1024 /* ... with bundles */

struct contest {
	struct chooser *c;
	const struct fusion_contest *on;
	const struct bundles *bundles; /* NULL: none */
	int *chosen, *best;     /* joins of a selection; of the best one */
	int chosen_count, best_count, tried;
	struct option least;    /* of the best selection */
};

struct price solution_join(const struct study *st, const struct solution *x, int group)
{
	const struct fusion_group *g = &st->fusion->groups[group];
	int distinct = study_group_distinct(st, g);
	if ((st->limits && !st->limits->group[group]) || !fusion_allows(st->level, g->level) || distinct < 0)
		return (struct price){ .ns = NAN, PRICE_UNMEASURED };
	struct price price = *solution_at(x, distinct);
	if (fusion_copy(g) >= 0) {
		const struct price *copy = solution_at(x, fusion_copy(g));
		price.ns += copy->ns;
		price.estimated |= copy->estimated;
		price.rough |= copy->rough;
	}
	return price;
}

double joined_cost(const struct solution *x, const struct study *st, int group, int layer)
{
	if (group >= st->groups) /* of a bundle, which is filled in later */
		return 0;
	const struct fusion_group *g = &st->fusion->groups[group];
	if (g->layers[g->layer_count - 1] == layer)
		return solution_at(x, study_group_distinct(st, g))->ns;
	return g->layers[0] == layer && fusion_copy(g) >= 0 ? solution_at(x, fusion_copy(g))->ns : 0;
}

/* The layers of a join, or of a bundle (from number st->groups on). */
static const int *layers_of(const struct contest *k, int item, int *count)
{
	const struct study *st = k->c->st;
	const struct bundle *b = item < st->groups ? NULL : &k->bundles->items[item - st->groups];
	*count = b ? b->layer_count : st->fusion->groups[item].layer_count;
	return b ? b->layers : st->fusion->groups[item].layers;
}

/* What it costs, and how many layers are estimated. */
static struct option option_of(const struct contest *k, int item)
{
	const struct chooser *c = k->c;
	if (item >= c->st->groups)
		return (struct option){ .cost = k->bundles->items[item - c->st->groups].ns };
	struct price price = solution_join(c->st, c->out, item);
	return (struct option){ .cost = price.ns,
		.estimated = price.estimated ? chooser_paying(c, &c->st->fusion->groups[item]) : 0 };
}

static void set_joined(struct contest *k, int item, int value)
{
	int count;
	const int *layers = layers_of(k, item, &count);
	for (int i = 0; i < count; i++)
		k->c->joined[layers[i]] = value;
}

static bool is_open(const struct contest *k, int item)
{
	int count;
	const int *layers = layers_of(k, item, &count);
	for (int i = 0; i < count; i++)
		if (k->c->joined[layers[i]] >= 0)
			return false;
	return !isnan(option_of(k, item).cost);
}

static void push(struct contest *k, int group)
{
	set_joined(k, group, group);
	k->chosen[k->chosen_count++] = group;
}

static void pop(struct contest *k)
{
	set_joined(k, k->chosen[--k->chosen_count], -1);
}

/* The cost of all layers of the contest with the joins that are marked. */
static struct option cost_of(const struct contest *k)
{
	const struct chooser *c = k->c;
	const struct study *st = c->st;
	struct option sum = { .group = -1 };
	for (int i = 0; i < k->on->cluster_count; i++) {
		struct option o = chooser_cluster(c, &st->fusion->clusters[k->on->clusters[i]]);
		choice_add(&sum, &o);
	}
	for (int i = 0; i < k->on->single_count; i++) {
		int layer = k->on->singles[i], node = chooser_node(st, layer);
		double cost = c->out->cost[node];
		if (c->joined[layer] >= 0)
			continue;
		choice_add(&sum, &(struct option){ .missing = isnan(cost),
			.estimated = c->out->estimated[node], .cost = isnan(cost) ? 0 : cost });
	}
	for (int i = 0; i < k->chosen_count; i++) {
		struct option o = option_of(k, k->chosen[i]);
		choice_add(&sum, &o);
	}
	return sum;
}

/* Keeps the marked selection if it is better than the best so far. */
static bool try(struct contest *k)
{
	struct option o = cost_of(k);
	k->tried++;
	if (!choice_better(&o, &k->least))
		return false;
	k->least = o;
	k->best_count = k->chosen_count;
	if (k->chosen_count)
		memcpy(k->best, k->chosen, (size_t)k->chosen_count * sizeof(int));
	return true;
}

static bool any_open(const struct contest *k)
{
	for (int i = 0; i < k->on->join_count; i++)
		if (is_open(k, k->on->joins[i]))
			return true;
	return false;
}

static void try_one_by_one(struct contest *k)
{
	k->least = cost_of(k);
	for (int i = 0; i < k->on->join_count; i++) {
		if (!is_open(k, k->on->joins[i]))
			continue;
		push(k, k->on->joins[i]);
		if (!try(k))
			pop(k);
	}
	while (k->chosen_count)
		pop(k);
}

/* All selections that extend the marked one by joins from number `from` on. */
static void try_all(struct contest *k, int from)
{
	int most = k->bundles ? SELECTIONS_MORE : SELECTIONS_MAX;
	for (int i = from; i < k->on->join_count && k->tried < most; i++) {
		if (!is_open(k, k->on->joins[i]))
			continue;
		push(k, k->on->joins[i]);
		try(k);
		try_all(k, i + 1);
		pop(k);
	}
}

int *solve_joins(
	const struct study *st, struct arena *a, const struct solution *out, const struct bundles *bundles)
{
	const struct fusion *f = st->groups ? st->fusion : NULL;
	const struct fusion_contest *contests = bundles ? bundles->contests : f ? f->contests : NULL;
	int count = bundles ? bundles->contest_count : f ? f->contest_count : 0;
	int room = st->plan->layer_count + (bundles ? st->node_count : 0);
	bool any = false;
	if (!count)
		return NULL;
	struct chooser c = { .st = st, .out = out, .joined = ARENA_ARRAY(a, int, room) };
	chooser_open(&c, a);
	for (int i = 0; i < room; i++)
		c.joined[i] = -1;
	for (int i = 0; i < count; i++) {
		const struct fusion_contest *on = &contests[i];
		struct contest k = { .c = &c, .on = on, .bundles = bundles };
		if (!any_open(&k))
			continue;
		k.chosen = ARENA_ARRAY(a, int, on->join_count);
		k.best = ARENA_ARRAY(a, int, on->join_count);
		try_one_by_one(&k);
		if (on->join_count > 1) /* of one, both selections are tried */
			try_all(&k, 0);
		for (int n = 0; n < k.best_count; n++)
			set_joined(&k, k.best[n], k.best[n]);
		any |= k.best_count > 0;
	}
	return any ? c.joined : NULL;
}
