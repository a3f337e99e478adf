/* Chooses the groups to fuse by dynamic programming over trees (instruction selection by tiling: Aho, Johnson
 * 1976). A cluster is a tree of units; only the root's value is read outside. From the leaves to the root,
 * the best option of a unit is the unit alone, or a group that ends with it, plus the best options of all
 * other units that these read. Sum: costs add up. Longest path: the earliest finish wins, because an earlier
 * input never delays a later layer. Clusters are solved in the order of their last layers. Both choices are
 * exact, in time linear in the groups' layers.
 *
 * A group's cost is at the node of its last layer, 0 at the others: all its layers lead to the last one,
 * which therefore starts when all inputs from outside are ready, a residual included.
 *
 * Joins are chosen first (choose_joins.c), and only for the sum: members of a join do not depend on each
 * other, and side by side none waits for the others. Joined layers cost nothing in their clusters. */
#include "config.h"

#include "analyze/choose/choose_private.h"

#include <math.h>
#include <stdlib.h>

static int unit_last(const struct fusion_unit *u)
{
	return u->layers[u->layer_count - 1];
}

static double ready_at(const struct chooser *c, int node)
{
	double ready = 0;
	for (int e = c->st->first[node]; e < c->st->first[node + 1]; e++)
		if (c->finish[c->st->edges[e]] > ready)
			ready = c->finish[c->st->edges[e]];
	return ready;
}

void chooser_finish(const struct chooser *c, int node, double finish)
{
	const struct study *st = c->st;
	c->finish[node] = finish;
	for (int i = node + 1; i <= st->last_layer_node && st->node_layer[i] < 0; i++)
		c->finish[i] = ready_at(c, i) + (isnan(c->out->cost[i]) ? 0 : c->out->cost[i]);
}

void choice_add(struct option *o, const struct option *part)
{
	o->missing += part->missing;
	o->estimated += part->estimated;
	o->cost += part->cost;
}

static bool is_joined(const struct chooser *c, int layer)
{
	return c->joined && c->joined[layer] >= 0;
}

/* The unit unfused, after the best options of its children. */
static struct option alone(const struct chooser *c, const struct fusion_unit *u)
{
	const struct study *st = c->st;
	struct option o = { .group = -1 };
	for (int i = 0; i < u->child_count; i++)
		choice_add(&o, &c->best[u->children[i]]);
	for (int i = 0; i < u->layer_count; i++) {
		int node = st->layer_node[u->layers[i]];
		double cost = c->out->cost[node];
		if (is_joined(c, u->layers[i]))
			continue;
		o.missing += isnan(cost);
		o.estimated += c->out->estimated[node];
		o.cost += isnan(cost) ? 0 : cost;
		if (c->path) {
			o.finish = ready_at(c, node) + (isnan(cost) ? 0 : cost);
			chooser_finish(c, node, o.finish);
		}
	}
	return o;
}

/* When all values that a group reads from outside are ready. */
static double group_ready(const struct chooser *c, const struct fusion_group *g)
{
	const struct study *st = c->st;
	double ready = 0;
	for (int i = 0; i < g->layer_count; i++) {
		int node = st->layer_node[g->layers[i]];
		for (int e = st->first[node]; e < st->first[node + 1]; e++) {
			int from = st->node_layer[st->edges[e]];
			if (!(from >= 0 && c->on_way[from]) && c->finish[st->edges[e]] > ready)
				ready = c->finish[st->edges[e]];
		}
	}
	return ready;
}

/* NULL: the group may not be fused. */
static const struct price *group_price(const struct chooser *c, const struct fusion_group *g)
{
	const struct limits *limits = c->st->limits;
	int i = (int)(g - c->st->fusion->groups);
	if ((limits && !limits->group[i]) || !(c->st->levels >> c->st->group_level[i] & 1))
		return NULL;
	for (int k = 0; c->joined && k < g->layer_count; k++)
		if (is_joined(c, g->layers[k]))
			return NULL;
	return solution_group_price(c->st, c->out, i);
}

static void mark(const struct chooser *c, const struct fusion_group *g, bool on)
{
	for (int i = 0; i < g->layer_count; i++)
		c->on_way[g->layers[i]] = on;
}

/* Walks a group, which is a tree, from its last unit `at` down. Children outside the group are added to the
 * option `part` and pushed on `stack` (each may be NULL). Returns the number pushed. */
static int off_way(const struct chooser *c, const struct fusion_cluster *cluster, int at,
	struct option *part, int *stack)
{
	int put = 0, inside[FUSION_LAYERS_MAX], depth = 0;
	inside[depth++] = at;
	while (depth > 0) {
		const struct fusion_unit *u = &cluster->units[inside[--depth]];
		for (int i = 0; i < u->child_count; i++) {
			int child = u->children[i];
			if (c->on_way[unit_last(&cluster->units[child])]) {
				inside[depth++] = child;
				continue;
			}
			if (part)
				choice_add(part, &c->best[child]);
			if (stack)
				stack[put++] = child;
		}
	}
	return put;
}

int chooser_paying(const struct chooser *c, const struct fusion_group *g)
{
	int count = 0;
	for (int i = 0; i < g->layer_count; i++)
		count += !c->st->layer_free[g->layers[i]];
	return count;
}

static struct option fused(const struct chooser *c, const struct fusion_cluster *cluster, int at, int group)
{
	const struct fusion_group *g = &c->st->fusion->groups[group];
	const struct price *price = group_price(c, g);
	struct option o = { .group = group, .cost = price->ns };
	mark(c, g, true);
	o.estimated = price->estimated ? chooser_paying(c, g) : 0;
	off_way(c, cluster, at, &o, NULL);
	if (c->path)
		o.finish = group_ready(c, g) + price->ns;
	mark(c, g, false);
	return o;
}

bool choice_better(const struct option *a, const struct option *b)
{
	if (a->missing != b->missing)
		return a->missing < b->missing;
	if (a->estimated != b->estimated)
		return a->estimated < b->estimated;
	if (a->finish != b->finish)
		return a->finish < b->finish;
	return a->cost < b->cost;
}

static void decide_unit(const struct chooser *c, const struct fusion_cluster *cluster, int at)
{
	const struct fusion_unit *u = &cluster->units[at];
	c->best[at] = alone(c, u);
	for (int i = 0; i < u->ending_count; i++) {
		const struct price *price = group_price(c, &c->st->fusion->groups[u->ending[i]]);
		if (!price || isnan(price->ns))
			continue;
		struct option o = fused(c, cluster, at, u->ending[i]);
		if (choice_better(&o, &c->best[at]))
			c->best[at] = o;
	}
	if (c->path)
		chooser_finish(c, c->st->layer_node[unit_last(u)], c->best[at].finish);
}

static void put_joined(const struct chooser *c, int layer)
{
	c->chosen[layer] = c->joined[layer] < c->st->groups ? c->joined[layer] : -1;
	c->cost[c->st->layer_node[layer]] = joined_cost(c->out, c->st, c->joined[layer], layer);
}

static void put_alone(const struct chooser *c, const struct fusion_unit *u)
{
	for (int i = 0; i < u->layer_count; i++) {
		int node = c->st->layer_node[u->layers[i]];
		c->chosen[u->layers[i]] = -1;
		c->cost[node] = isnan(c->out->cost[node]) ? 0 : c->out->cost[node];
		if (is_joined(c, u->layers[i]))
			put_joined(c, u->layers[i]);
	}
}

static void put_group(const struct chooser *c, int group)
{
	const struct fusion_group *g = &c->st->fusion->groups[group];
	for (int i = 0; i < g->layer_count; i++) {
		bool last = i == g->layer_count - 1;
		c->chosen[g->layers[i]] = group;
		c->cost[c->st->layer_node[g->layers[i]]] = last ? group_price(c, g)->ns : 0;
	}
}

struct option chooser_cluster(const struct chooser *c, const struct fusion_cluster *cluster)
{
	for (int i = 0; i < cluster->unit_count; i++)
		decide_unit(c, cluster, i);
	return c->best[cluster->unit_count - 1];
}

/* Solves a cluster bottom-up, then collects the chosen groups from the root down. */
static void decide(const struct chooser *c, const struct fusion_cluster *cluster)
{
	chooser_cluster(c, cluster);
	int depth = 0;
	c->stack[depth++] = cluster->unit_count - 1;
	while (depth > 0) {
		int at = c->stack[--depth], group = c->best[at].group;
		const struct fusion_unit *u = &cluster->units[at];
		if (group < 0) {
			put_alone(c, u);
			for (int i = 0; i < u->child_count; i++)
				c->stack[depth++] = u->children[i];
			continue;
		}
		put_group(c, group);
		mark(c, &c->st->fusion->groups[group], true);
		depth += off_way(c, cluster, at, NULL, c->stack + depth);
		mark(c, &c->st->fusion->groups[group], false);
	}
}

void chooser_open(struct chooser *c, struct arena *a)
{
	const struct fusion *f = c->st->groups ? c->st->fusion : NULL;
	int room = 0;
	for (int i = 0; f && i < f->cluster_count; i++)
		room = f->clusters[i].unit_count > room ? f->clusters[i].unit_count : room;
	c->best = ARENA_ARRAY(a, struct option, room);
	c->stack = ARENA_ARRAY(a, int, room + 1);
	c->outer = ARENA_ARRAY(a, double, room);
	c->on_way = ARENA_ARRAY(a, bool, c->st->plan->layer_count);
}

/* Fills the choice for every layer and the cost of every node. */
static void choose(struct chooser *c)
{
	const struct study *st = c->st;
	const struct fusion *f = st->groups ? st->fusion : NULL;
	for (int node = 0; node < st->node_count; node++) {
		int layer = st->node_layer[node];
		int cluster = f && layer >= 0 ? f->cluster_of[layer] : -1;
		if (cluster >= 0 && !c->joined && st->chains.begin[cluster + 1] > st->chains.begin[cluster]) {
			if (st->chains.node[st->chains.begin[cluster + 1] - 1] == node)
				chooser_chain(c, cluster);
			continue;
		}
		if (cluster >= 0) {
			const struct fusion_cluster *k = &f->clusters[cluster];
			if (k->layers[k->layer_count - 1] == layer)
				decide(c, k);
			continue;
		}
		double cost = c->out->cost[node];
		c->cost[node] = isnan(cost) ? 0 : cost;
		if (layer >= 0)
			c->chosen[layer] = -1;
		if (layer >= 0 && is_joined(c, layer))
			put_joined(c, layer);
		if (c->path)
			c->finish[node] = ready_at(c, node) + c->cost[node];
	}
}

void solve_taken(const struct study *st, struct arena *a, struct solution *out, int *joined)
{
	struct chooser c = { .st = st, .out = out, .chosen = out->sum.chosen, .cost = out->sum.cost,
		.joined = joined };
	chooser_open(&c, a);
	choose(&c);
}

void solve_choices(const struct study *st, struct arena *a, struct solution *out, bool path)
{
	struct chooser c = { .st = st, .out = out, .chosen = out->sum.chosen, .cost = out->sum.cost,
		.joined = solve_joins(st, a, out, NULL) };
	struct arena scratch = { 0 };
	chooser_open(&c, &scratch);
	choose(&c);
	out->parallel.chosen = out->sum.chosen;
	out->parallel.cost = out->sum.cost;
	if (st->groups && path) {
		c.path = true;
		c.joined = NULL;
		c.chosen = out->parallel.chosen = ARENA_ARRAY(a, int, st->plan->layer_count);
		c.cost = out->parallel.cost = ARENA_ARRAY(a, double, st->node_count);
		c.finish = ARENA_ARRAY(&scratch, double, st->node_count);
		choose(&c);
	}
	arena_free(&scratch);
}
