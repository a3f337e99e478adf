#include "config.h"

#include "analyze/analyze_private.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Which groups to fuse. A cluster (struct fusion_cluster) has one value that leaves it, so it can be decided
 * alone: for the sum by its own cost; for the longest path by when that value is ready, since everything
 * behind only gets earlier when it does. Clusters are decided in the order of their last layers, which makes
 * both choices exact.
 *
 * In the graph of nodes a group's cost stands at its last layer and 0 at the others: every layer of a group
 * leads to the last, which so starts when all inputs from outside are there - the residual's producer
 * included. */

struct option {
	int group[2];   /* per anchor: index of a group, or -1 */
	int missing;    /* layers left without a cost */
	double finish;  /* path: when the value that leaves is ready; sum: 0 */
	double cost;
};

struct chooser {
	const struct study *st;
	const struct solution *out;
	bool path;
	int *chosen;    /* per layer */
	double *cost;   /* per node, under the choice */
	double *finish; /* path: per node */
};

static int last_layer(const struct fusion_cluster *c)
{
	return c->layers[c->layer_count - 1];
}

static int group_last(const struct fusion_group *g)
{
	return g->layers[g->layer_count - 1];
}

static bool in_group(const struct fusion_group *g, int layer)
{
	for (int i = 0; i < g->layer_count; i++)
		if (g->layers[i] == layer)
			return true;
	return false;
}

/* The option's group that holds the layer, or -1. */
static int option_group(const struct chooser *c, const struct option *o, int layer)
{
	for (int i = 0; i < 2; i++)
		if (o->group[i] >= 0 && in_group(&c->st->fusion->groups[o->group[i]], layer))
			return o->group[i];
	return -1;
}

static double ready_at(const struct chooser *c, int node)
{
	double ready = 0;
	for (int e = c->st->first[node]; e < c->st->first[node + 1]; e++)
		if (c->finish[c->st->edges[e]] > ready)
			ready = c->finish[c->st->edges[e]];
	return ready;
}

/* Puts the option's costs in force and adds them up. */
static void apply(const struct chooser *c, const struct fusion_cluster *cluster, struct option *o)
{
	o->missing = 0;
	o->cost = o->finish = 0;
	for (int i = 0; i < cluster->layer_count; i++) {
		int layer = cluster->layers[i], node = c->st->first_layer + layer;
		int group = option_group(c, o, layer);
		const struct fusion_group *g = group >= 0 ? &c->st->fusion->groups[group] : NULL;
		double cost = c->out->cost[node];
		if (g)
			cost = group_last(g) == layer ? c->out->prices[g->distinct].ns : 0;
		o->missing += isnan(cost);
		c->cost[node] = isnan(cost) ? 0 : cost;
		o->cost += c->cost[node];
		c->chosen[layer] = group;
		if (c->path)
			c->finish[node] = ready_at(c, node) + c->cost[node];
	}
	if (c->path)
		o->finish = c->finish[c->st->first_layer + last_layer(cluster)];
}

/* Fewest gaps, then earliest end, then least work; the shorter groups where nothing differs. */
static bool better(const struct option *a, const struct option *b)
{
	if (a->missing != b->missing)
		return a->missing < b->missing;
	if (a->finish != b->finish)
		return a->finish < b->finish;
	return a->cost < b->cost;
}

/* The next measured group of an anchor after `group` (-1: the first), or -1. */
static int next_group(const struct chooser *c, int anchor, int group)
{
	const struct fusion *f = c->st->fusion;
	int i = group < 0 ? f->first_group[anchor] : group + 1;
	for (; i < f->group_count && f->groups[i].layers[0] == anchor; i++)
		if (!isnan(c->out->prices[f->groups[i].distinct].ns))
			return i;
	return -1;
}

static bool compete(const struct chooser *c, const struct fusion_cluster *cluster, int a, int b)
{
	const struct fusion *f = c->st->fusion;
	return a >= 0 && b >= 0 && group_last(&f->groups[a]) >= cluster->shared &&
		group_last(&f->groups[b]) >= cluster->shared;
}

static void decide(const struct chooser *c, const struct fusion_cluster *cluster)
{
	struct option best = { .missing = INT_MAX };
	int a = -1;
	do {
		int b = -1;
		do {
			struct option o = { .group = { a, b } };
			if (!compete(c, cluster, a, b)) {
				apply(c, cluster, &o);
				if (better(&o, &best))
					best = o;
			}
			b = cluster->anchor_count > 1 ? next_group(c, cluster->anchors[1], b) : -1;
		} while (b >= 0);
		a = next_group(c, cluster->anchors[0], a);
	} while (a >= 0);
	apply(c, cluster, &best);
}

/* Fills chosen and the cost of every node. */
static void choose(struct chooser *c)
{
	const struct study *st = c->st;
	const struct fusion *f = st->groups ? st->fusion : NULL;
	for (int node = 0; node < st->node_count; node++) {
		int layer = node - st->first_layer;
		bool is_layer = layer >= 0 && layer < st->plan->layer_count;
		int cluster = f && is_layer ? f->cluster_of[layer] : -1;
		if (cluster >= 0) {
			if (last_layer(&f->clusters[cluster]) == layer)
				decide(c, &f->clusters[cluster]);
			continue;
		}
		double cost = c->out->cost[node];
		c->cost[node] = isnan(cost) ? 0 : cost;
		if (is_layer)
			c->chosen[layer] = -1;
		if (c->path)
			c->finish[node] = ready_at(c, node) + c->cost[node];
	}
}

static void want(struct solution *out, int distinct)
{
	const struct price *price = &out->prices[distinct];
	out->lacking[distinct] = !price->answered;
	out->refused[distinct] = price->answered && isnan(price->ns);
}

static void price_all(const struct study *st, const struct scenario *s, struct solution *out)
{
	for (int i = 0; i < st->distinct_count; i++)
		out->prices[i] = study_price(st, s, i, s->best);
	for (int i = 0; i < st->node_count; i++) {
		int problem = st->node_problem[i], layer = i - st->first_layer;
		bool is_layer = layer >= 0 && layer < st->plan->layer_count;
		if (problem >= 0)
			out->cost[i] = out->prices[problem].ns;
		else
			out->cost[i] = is_layer && st->plan->layers[layer].class == CLASS_FREE ? 0 : NAN;
		if (problem >= 0)
			want(out, problem);
	}
	for (int i = 0; i < st->groups; i++)
		want(out, st->fusion->groups[i].distinct);
	for (int i = 0; i < st->distinct_count; i++)
		out->unmeasured += out->lacking[i];
}

/* Is every layer outside the chosen groups priced? */
static bool complete(const struct study *st, const struct solution *out, const int *chosen)
{
	for (int i = 0; i < st->plan->layer_count; i++)
		if (chosen[i] < 0 && isnan(out->cost[st->first_layer + i]))
			return false;
	return true;
}

static double sum(const double *cost, int from, int to)
{
	double total = 0;
	for (int i = from; i < to; i++)
		total += isnan(cost[i]) ? 0 : cost[i];
	return total;
}

static void price_borders(const struct study *st, struct solution *out)
{
	int outputs = st->first_layer + st->plan->layer_count, casts = 0, missing = 0;
	for (int i = 0; i < st->node_count; i++) {
		bool is_cast = i < st->first_layer || i >= outputs;
		casts += is_cast;
		missing += is_cast && isnan(out->cost[i]);
	}
	out->border_ns = sum(out->cost, 0, st->first_layer) + sum(out->cost, outputs, st->node_count);
	if (casts && missing == casts)
		out->border_ns = NAN;
	out->border_complete = missing == 0;
}

/* Is anything known that a total could be made of? What is free costs nothing, known or not, and casts at the
 * border alone are no figure for a model. */
static bool known(const struct study *st, const struct solution *out, const int *chosen)
{
	bool gaps = false;
	for (int i = 0; i < st->plan->layer_count; i++) {
		bool priced = chosen[i] >= 0 || !isnan(out->cost[st->first_layer + i]);
		if (priced && (chosen[i] >= 0 || st->plan->layers[i].class != CLASS_FREE))
			return true;
		gaps |= !priced;
	}
	return !gaps && !isnan(out->border_ns);
}

void solve(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out)
{
	int layers = st->plan->layer_count;
	struct study view = *st;
	if (!s->fusion) {
		view.groups = 0;
		view.distinct_count = st->plan->problem_count;
	}
	*out = (struct solution){
		.prices = ARENA_ARRAY(a, struct price, st->distinct_count),
		.lacking = ARENA_ARRAY(a, bool, st->distinct_count),
		.refused = ARENA_ARRAY(a, bool, st->distinct_count),
		.cost = ARENA_ARRAY(a, double, st->node_count),
		.chosen_sum = ARENA_ARRAY(a, int, layers),
		.cost_sum = ARENA_ARRAY(a, double, st->node_count),
	};
	price_all(&view, s, out);
	price_borders(&view, out);
	struct chooser c = { .st = &view, .out = out, .chosen = out->chosen_sum, .cost = out->cost_sum };
	choose(&c);
	out->chosen_path = out->chosen_sum;
	out->cost_path = out->cost_sum;
	if (view.groups) {
		c.path = true;
		c.chosen = out->chosen_path = ARENA_ARRAY(a, int, layers);
		c.cost = out->cost_path = ARENA_ARRAY(a, double, st->node_count);
		c.finish = ARENA_ARRAY(a, double, st->node_count);
		choose(&c);
	}
	out->sequential_ns = sum(out->cost_sum, 0, st->node_count);
	out->parallel_ns = critical_path(st->node_count, out->cost_path, st->first, st->edges, NULL, NULL, NULL);
	if (!known(st, out, out->chosen_sum))
		out->sequential_ns = NAN;
	if (!known(st, out, out->chosen_path))
		out->parallel_ns = NAN;
	out->complete_sum = out->border_complete && complete(st, out, out->chosen_sum);
	out->complete_path = out->border_complete && complete(st, out, out->chosen_path);
}
