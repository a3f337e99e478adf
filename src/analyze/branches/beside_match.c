/* Where the problems that were measured side by side can run. Groups and branches are chosen together: a set
 * that was measured with other groups than those of the least sum, or without, may still save more. So each
 * measured problem is looked for at each fork, part by part, among the layers and groups that follow it. */
#include "config.h"

#include "analyze/branches/beside_private.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define READERS_MAX 64     /* nodes after a fork or branch that are tried */
#define FREE_DEPTH 16      /* free nodes in a row that are passed */
#define GROUPS_MAX 64      /* groups that are tried at a node */
#define TRIES_MAX 4000     /* parts tried at one fork for one problem */

/* A measured problem with a price. */
struct known {
	const char *text;
	struct beside parts;
	int distinct[BESIDE_PARTS];
	bool same[BESIDE_BRANCHES]; /* the branch is equal to the one before */
	struct price price;
	int next;                   /* the next one that begins with the same problem, or -1 */
	int fork;                   /* the last fork at which it was tried */
};

struct readers {
	int count, node[READERS_MAX];
};

struct matcher {
	const struct study *st;
	const struct scenario *s;
	const struct solution *x;
	struct arena *a;
	struct beside_places *places;
	int known_count;
	struct known *known;
	int *head;                  /* per distinct problem: the first that begins with it, or -1 */
	int *out_first, *out;       /* the readers of each node */
	int *at;                    /* per layer, then per node without a layer: the last place that begins
				       there, or -1 */
	int *mark;                  /* per node: FORK, 1 + the branch that has it, else 0 */
	bool *grouped;              /* per node: of the group that is tried */
	struct readers start;       /* after the fork */
	int fork, tries;
	/* the place that is tried */
	struct known *now;
	int begin[BESIDE_PARTS], node[BESIDE_PARTS], group[BESIDE_PARTS];
	double cost[BESIDE_PARTS];
};
enum { FORK = -1 };

/* ---- the measured problems */

/* Fills a problem; false: it has no price, or a part that the study has not. */
static bool known_fill(struct matcher *m, struct known *k, const char *text)
{
	const char *why;
	struct text branches = text_of(text + strlen(BESIDE_PREFIX));
	*k = (struct known){ .text = text };
	if (beside_split(branches, &k->parts, NULL))
		return false;
	for (int i = 0; i < k->parts.part_count; i++)
		if ((k->distinct[i] = study_distinct_of(m->st, k->parts.part[i])) < 0)
			return false;
	for (int b = 1; b < k->parts.branch_count; b++) {
		int at = k->parts.first[b], before = k->parts.first[b - 1], n = at - before;
		k->same[b] = k->parts.first[b + 1] - at == n;
		for (int i = 0; i < n && k->same[b]; i++)
			k->same[b] = k->distinct[at + i] == k->distinct[before + i];
	}
	k->price = study_price_of(m->st, m->s, text, &why);
	return !isnan(k->price.ns);
}

static void known_list(struct matcher *m)
{
	int count;
	const char *const *texts = results_besides(m->st->on.results, &count);
	m->known = ARENA_ARRAY(m->a, struct known, count);
	for (int i = 0; i < count; i++)
		m->known_count += known_fill(m, &m->known[m->known_count], texts[i]);
	if (!m->known_count)
		return;
	m->head = ARENA_ARRAY(m->a, int, m->st->distinct_count);
	memset(m->head, -1, (size_t)m->st->distinct_count * sizeof(int));
	for (int i = m->known_count - 1; i >= 0; i--) {
		m->known[i].next = m->head[m->known[i].distinct[0]];
		m->head[m->known[i].distinct[0]] = i;
	}
}

/* ---- the graph */

static void list_out(struct matcher *m)
{
	const struct solution *x = m->x;
	int n = m->st->node_count, *at = ARENA_ARRAY(m->a, int, n + 1);
	m->out_first = ARENA_ARRAY(m->a, int, n + 1);
	m->out = ARENA_ARRAY(m->a, int, x->first[n]);
	for (int e = 0; e < x->first[n]; e++)
		m->out_first[x->edges[e] + 1]++;
	for (int i = 0; i < n; i++)
		at[i + 1] = m->out_first[i + 1] += m->out_first[i];
	for (int i = 0; i < n; i++)
		for (int e = x->first[i]; e < x->first[i + 1]; e++)
			m->out[at[x->edges[e]]++] = i;
}

static bool is_free(const struct matcher *m, int node)
{
	int layer = m->st->node_layer[node];
	return m->st->node_problem[node] < 0 && (layer < 0 || m->st->layer_free[layer]);
}

/* True if the value of a node is there: of the fork, of the branch, of a free node that reads only such. */
static bool is_there(struct matcher *m, int node, int branch, int depth)
{
	if (m->mark[node] == FORK || (branch >= 0 && m->mark[node] == branch + 1))
		return true;
	if (m->mark[node] || !is_free(m, node) || depth == FREE_DEPTH)
		return false;
	for (int e = m->x->first[node]; e < m->x->first[node + 1]; e++)
		if (!is_there(m, m->x->edges[e], branch, depth + 1))
			return false;
	return true;
}

static void readers_add(const struct matcher *m, struct readers *r, int node, int depth)
{
	for (int e = m->out_first[node]; e < m->out_first[node + 1]; e++) {
		int to = m->out[e], at = 0;
		while (at < r->count && r->node[at] != to)
			at++;
		if (at < r->count || r->count == READERS_MAX)
			continue;
		r->node[r->count++] = to;
		if (depth < FREE_DEPTH && is_free(m, to))
			readers_add(m, r, to, depth + 1);
	}
}

/* ---- parts */

static void group_mark(const struct matcher *m, const struct fusion_group *g, bool on)
{
	for (int i = 0; i < g->layer_count; i++)
		m->grouped[m->st->layer_node[g->layers[i]]] = on;
}

/* True if all that a node reads outside the group that is tried is there, and nothing else has the node. */
static bool fits(struct matcher *m, int node, int branch)
{
	if (m->mark[node])
		return false;
	for (int e = m->x->first[node]; e < m->x->first[node + 1]; e++)
		if (!m->grouped[m->x->edges[e]] && !is_there(m, m->x->edges[e], branch, 0))
			return false;
	return true;
}

/* What a node costs alone, if it can be a part; NaN: it cannot. */
static double node_cost(const struct matcher *m, int node)
{
	int layer = m->st->node_layer[node], problem = m->st->node_problem[node];
	bool inside = solution_inside(m->st, m->x, node) != NULL;
	bool assumed = layer >= 0 && m->x->assumed_layer && m->x->assumed_layer[layer].assumed;
	return inside || assumed || !study_has_problem(m->st, problem) ? NAN : m->x->cost[node];
}

static double group_cost(const struct matcher *m, int group)
{
	const struct study *st = m->st;
	const struct fusion_group *g = &st->fusion->groups[group];
	if ((st->limits && !st->limits->group[group]) || !(st->levels >> st->group_level[group] & 1) ||
		fusion_copy(g) >= 0 || !study_has_problem(st, st->group_distinct[group]))
		return NAN;
	if (g->join)
		return solution_join(st, m->x, group).ns;
	const struct price *price = solution_group_price(st, m->x, group);
	return price && !price->assumed ? price->ns : NAN;
}

static void part_next(struct matcher *m, int part, int branch);

/* Takes a node, or a group (its first node), as a part and goes on. */
static void part_take(struct matcher *m, int part, int branch, int node, int group)
{
	const struct study *st = m->st;
	const struct fusion_group *g = group >= 0 ? &st->fusion->groups[group] : NULL;
	int count = g ? g->layer_count : 1;
	bool good = true;
	m->cost[part] = g ? group_cost(m, group) : node_cost(m, node);
	if (isnan(m->cost[part]))
		return;
	if (g)
		group_mark(m, g, true);
	for (int i = 0; i < count && good; i++)
		good = fits(m, g ? st->layer_node[g->layers[i]] : node, branch);
	if (g)
		group_mark(m, g, false);
	if (!good)
		return;
	m->group[part] = group;
	m->node[part] = g ? st->layer_node[g->layers[count - 1]] : node;
	for (int i = 0; i < count; i++)
		m->mark[g ? st->layer_node[g->layers[i]] : node] = branch + 1;
	part_next(m, part + 1, branch);
	for (int i = 0; i < count; i++)
		m->mark[g ? st->layer_node[g->layers[i]] : node] = 0;
}

static bool group_has(const struct fusion_group *g, int layer)
{
	for (int i = 0; i < g->layer_count; i++)
		if (g->layers[i] == layer)
			return true;
	return false;
}

/* Lists the groups of the study that contain a node's layer, at most GROUPS_MAX; returns their number. Groups
 * that begin at an earlier layer are found through the layer's cluster. */
static int groups_at(const struct study *st, int node, int list[GROUPS_MAX])
{
	int layer = st->groups ? st->node_layer[node] : -1, count = 0;
	const struct fusion *f = st->fusion;
	const struct fusion_cluster *c = layer >= 0 && f->cluster_of[layer] >= 0 ?
		&f->clusters[f->cluster_of[layer]] : NULL;
	for (int g = layer >= 0 ? f->first_group[layer] : -1; g >= 0 && g < st->groups &&
		f->groups[g].layers[0] == layer && count < GROUPS_MAX; g++)
		list[count++] = g;
	for (int u = 0; c && u < c->unit_count; u++)
		for (int i = 0; i < c->units[u].ending_count && count < GROUPS_MAX; i++) {
			const struct fusion_group *g = &f->groups[c->units[u].ending[i]];
			if (g->layers[0] != layer && group_has(g, layer))
				list[count++] = c->units[u].ending[i];
		}
	return count;
}

/* Tries all parts at a node that have the problem. */
static void part_try(struct matcher *m, int part, int branch, int node)
{
	const struct study *st = m->st;
	int groups[GROUPS_MAX];
	if (m->mark[node] || m->tries-- <= 0)
		return;
	m->begin[part] = node;
	if (st->node_problem[node] == m->now->distinct[part])
		part_take(m, part, branch, node, -1);
	for (int i = 0, count = groups_at(st, node, groups); i < count; i++)
		if (st->group_distinct[groups[i]] == m->now->distinct[part])
			part_take(m, part, branch, node, groups[i]);
}

static void place_add(struct matcher *m);

/* Puts part number `part` in each way; branch: that of the part before. */
static void part_next(struct matcher *m, int part, int branch)
{
	const struct beside *b = &m->now->parts;
	struct readers more;
	if (part == b->part_count) {
		place_add(m);
		return;
	}
	if (part == b->first[branch + 1]) { /* a branch begins; of equal ones, the first begins first */
		int least = m->now->same[branch + 1] ? m->begin[b->first[branch]] : -1;
		for (int i = 0; i < m->start.count; i++)
			if (m->start.node[i] > least)
				part_try(m, part, branch + 1, m->start.node[i]);
		return;
	}
	more = m->start;
	for (int i = b->first[branch]; i < part; i++) {
		const struct fusion_group *g = m->group[i] >= 0 ? &m->st->fusion->groups[m->group[i]] : NULL;
		for (int k = 0; g && g->join && k < g->layer_count; k++)
			readers_add(m, &more, m->st->layer_node[g->layers[k]], 0);
		readers_add(m, &more, m->node[i], 0);
	}
	for (int i = 0; i < more.count; i++)
		part_try(m, part, branch, more.node[i]);
}

/* ---- places */

static int ascending(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	return (a > b) - (a < b);
}

static void layers_fill(struct matcher *m, struct beside_place *p)
{
	const struct study *st = m->st;
	int parts = m->now->parts.part_count, count = 0;
	for (int i = 0; i < parts; i++)
		count += p->group[i] >= 0 ? st->fusion->groups[p->group[i]].layer_count : 1;
	p->layers = ARENA_ARRAY(m->a, int, count);
	for (int i = 0; i < parts; i++) {
		const struct fusion_group *g = p->group[i] >= 0 ? &st->fusion->groups[p->group[i]] : NULL;
		int node = p->set.node[i], layer = st->node_layer[node];
		for (int k = 0; g && k < g->layer_count; k++)
			p->layers[p->layer_count++] = g->layers[k];
		if (!g)
			p->layers[p->layer_count++] = layer >= 0 ? layer : st->plan->layer_count + node;
		p->border_ns += !g && layer < 0 ? p->cost[i] : 0;
	}
	qsort(p->layers, (size_t)count, sizeof(int), ascending);
}

static bool same_place(const struct beside_place *x, const struct beside_place *y)
{
	return x->text == y->text && x->layer_count == y->layer_count &&
		memcmp(x->layers, y->layers, (size_t)x->layer_count * sizeof(int)) == 0;
}

static void place_add(struct matcher *m)
{
	struct known *k = m->now;
	struct beside_place p = { .text = k->text, .price = k->price,
		.set = { .fork = -1, .branch_count = k->parts.branch_count } };
	size_t parts = (size_t)k->parts.part_count;
	memcpy(p.set.first, k->parts.first, sizeof(p.set.first));
	memcpy(p.set.node, m->node, parts * sizeof(int));
	memcpy(p.group, m->group, parts * sizeof(int));
	memcpy(p.cost, m->cost, parts * sizeof(double));
	for (int i = 0; i < k->parts.part_count; i++)
		p.alone_ns += p.cost[i];
	if (!(p.alone_ns > p.price.ns))
		return;
	layers_fill(m, &p);
	int *at = &m->at[p.layers[0]];
	for (int i = *at; i >= 0; i = m->places->items[i].other)
		if (same_place(&m->places->items[i], &p))
			return;
	p.other = *at;
	*at = m->places->count;
	VEC_GROW(m->places->items, m->places->count, m->places->capacity);
	m->places->items[m->places->count++] = p;
}

/* ---- forks */

/* Tries the problems that begin with a distinct one, each once at a fork. */
static void fork_begin(struct matcher *m, int distinct)
{
	for (int k = distinct >= 0 ? m->head[distinct] : -1; k >= 0; k = m->known[k].next) {
		m->now = &m->known[k];
		m->tries = TRIES_MAX;
		if (m->now->fork != m->fork)
			part_next(m, 0, -1);
		m->now->fork = m->fork;
	}
}

/* Tries all problems at the fork that is marked. */
static void fork_try(struct matcher *m)
{
	m->fork++;
	for (int i = 0; i < m->start.count && m->start.count > 1; i++) {
		int groups[GROUPS_MAX], count = groups_at(m->st, m->start.node[i], groups);
		fork_begin(m, m->st->node_problem[m->start.node[i]]);
		for (int k = 0; k < count; k++)
			fork_begin(m, m->st->group_distinct[groups[k]]);
	}
}

static void fork_node(struct matcher *m, int node)
{
	bool passes = is_free(m, node) && m->x->first[node + 1] - m->x->first[node] == 1;
	if (passes) /* as the node that it reads */
		return;
	m->start.count = 0;
	readers_add(m, &m->start, node, 0);
	if (m->start.count < 2)
		return;
	m->mark[node] = FORK;
	fork_try(m);
	m->mark[node] = 0;
}

/* The members of a join end together: their readers follow one kernel. */
static void fork_join(struct matcher *m, const struct fusion_group *g)
{
	const int *layers = g->layers;
	m->start.count = 0;
	for (int i = 0; i < g->layer_count; i++)
		m->mark[m->st->layer_node[layers[i]]] = FORK;
	for (int i = 0; i < g->layer_count; i++)
		readers_add(m, &m->start, m->st->layer_node[layers[i]], 0);
	fork_try(m);
	for (int i = 0; i < g->layer_count; i++)
		m->mark[m->st->layer_node[layers[i]]] = 0;
}

/* Those that depend on nothing that takes time. */
static void fork_none(struct matcher *m)
{
	m->start.count = 0;
	for (int i = 0; i < m->st->node_count && m->start.count < READERS_MAX; i++)
		if (!is_free(m, i) && fits(m, i, -1))
			m->start.node[m->start.count++] = i;
	fork_try(m);
}

static int by_saving(const void *x, const void *y)
{
	const struct beside_place *a = x, *b = y;
	double ns = (a->alone_ns - a->price.ns) - (b->alone_ns - b->price.ns);
	return ns != 0 ? (ns > 0 ? -1 : 1) : (a->other > b->other) - (a->other < b->other);
}

void beside_match(const struct study *st, const struct scenario *s, struct arena *a, const struct solution *x,
	struct beside_places *places)
{
	struct matcher m = { .st = st, .s = s, .x = x, .a = a, .places = places };
	*places = (struct beside_places){ 0 };
	if (st->on.results)
		known_list(&m);
	if (!m.known_count)
		return;
	m.mark = ARENA_ARRAY(a, int, st->node_count);
	m.grouped = ARENA_ARRAY(a, bool, st->node_count);
	m.at = ARENA_ARRAY(a, int, st->plan->layer_count + st->node_count);
	memset(m.at, -1, (size_t)(st->plan->layer_count + st->node_count) * sizeof(int));
	list_out(&m);
	fork_none(&m);
	for (int i = 0; i < st->node_count; i++)
		fork_node(&m, i);
	for (int i = 0; st->fusion && st->fusion->contest_count && i < st->groups; i++)
		if (st->fusion->groups[i].join)
			fork_join(&m, &st->fusion->groups[i]);
	for (int i = 0; i < places->count; i++)
		places->items[i].other = i;
	if (places->count)
		qsort(places->items, (size_t)places->count, sizeof(*places->items), by_saving);
}
