/* Nearly all clusters are chains: each unit is one layer, and reads the one before it. They are solved by the
 * same dynamic program as trees (choose.c), with the same result, on arrays that are read in order: the time
 * of a switched what-if on a large model is mostly that of the memory it reads. */
#include "config.h"

#include "analyze/choose/choose_private.h"

#include <math.h>

/* When the values that a node reads are ready, but that of the node `but`. */
static double ready_but(const struct chooser *c, int node, int but)
{
	double ready = 0;
	for (int e = c->st->first[node]; e < c->st->first[node + 1]; e++) {
		int from = c->st->edges[e];
		if (from != but && c->finish[from] > ready)
			ready = c->finish[from];
	}
	return ready;
}

/* The price of a group in the scenario; NaN: it has none, or may not be fused. */
static double group_ns(const struct chooser *c, int group, bool *estimated)
{
	const struct study *st = c->st;
	int distinct = st->group_distinct[group];
	if (!(st->levels >> st->group_level[group] & 1) || (st->limits && !st->limits->group[group]))
		return NAN;
	if (c->out->assumed_group && c->out->assumed_group[group].assumed) {
		*estimated = c->out->assumed_group[group].estimated;
		return c->out->assumed_group[group].ns;
	}
	if (distinct < 0)
		return NAN;
	const struct price_list *list = solution_list(c->out, distinct);
	*estimated = list->state[distinct] & PRICE_ESTIMATED;
	return list->ns[distinct];
}

/* The best option of unit i; base: the cluster's first unit in the arrays. */
static struct option chain_option(const struct chooser *c, int base, int i)
{
	static const struct option none = { .group = -1 };
	const struct chains *k = &c->st->chains;
	int node = k->node[base + i], from = i;
	double cost = c->out->cost[node], outer = c->path ? c->outer[i] : 0;
	struct option best = i ? c->best[i - 1] : none;
	double before = c->path && i ? best.finish : 0;
	best.group = -1;
	best.missing += isnan(cost);
	best.estimated += c->out->estimated[node];
	best.cost += isnan(cost) ? 0 : cost;
	best.finish = c->path ? fmax(outer, before) + (isnan(cost) ? 0 : cost) : 0;
	int end = k->ending[base + i] + k->ending_count[base + i];
	for (int e = k->ending[base + i]; e < end; e++) {
		int group = c->st->fusion->endings[e];
		bool estimated = false;
		double ns = group_ns(c, group, &estimated);
		if (isnan(ns))
			continue;
		int rest = i - c->st->group_size[group]; /* the last unit before the group */
		struct option o = rest >= 0 ? c->best[rest] : none;
		for (; c->path && from > rest + 1; from--) /* groups come shortest first */
			outer = fmax(outer, c->outer[from - 1]);
		o.group = group;
		o.estimated += estimated ? k->paying[e] : 0;
		o.cost += ns;
		o.finish = c->path ? fmax(outer, rest >= 0 ? o.finish : 0) + ns : 0;
		if (choice_better(&o, &best))
			best = o;
	}
	return best;
}

/* Writes the choice, from the last unit to the first. */
static void chain_put(const struct chooser *c, int base, int count)
{
	const struct study *st = c->st;
	const int *nodes = &st->chains.node[base];
	for (int i = count - 1; i >= 0;) {
		int group = c->best[i].group, node = nodes[i];
		double cost = c->out->cost[node];
		bool estimated;
		if (group < 0) {
			c->chosen[st->node_layer[node]] = -1;
			c->cost[node] = isnan(cost) ? 0 : cost;
			i--;
			continue;
		}
		c->cost[node] = group_ns(c, group, &estimated);
		for (int n = st->group_size[group]; n > 0; n--, i--) {
			c->chosen[st->node_layer[nodes[i]]] = group;
			if (nodes[i] != node)
				c->cost[nodes[i]] = 0;
		}
	}
}

void chooser_chain(const struct chooser *c, int cluster)
{
	const struct chains *k = &c->st->chains;
	int base = k->begin[cluster], count = k->begin[cluster + 1] - base;
	for (int i = 0; i < count; i++) {
		int node = k->node[base + i];
		if (c->path)
			c->outer[i] = ready_but(c, node, i ? k->node[base + i - 1] : -1);
		c->best[i] = chain_option(c, base, i);
		if (c->path)
			chooser_finish(c, node, c->best[i].finish);
	}
	chain_put(c, base, count);
}
