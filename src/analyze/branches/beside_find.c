/* Finds branches that can run side by side, and chooses among sets of them. */
#include "config.h"

#include "analyze/branches/beside_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN_MAX 64      /* most nodes between a fork and its join */
#define CHAIN_MAX 64        /* most nodes of a chain, free ones included */
#define TRIES_MAX 4096      /* selections compared of sets that compete */

static int in_count(const struct beside_graph *g, int node)
{
	return g->in_first[node + 1] - g->in_first[node];
}

static int out_count(const struct beside_graph *g, int node)
{
	return g->out_first[node + 1] - g->out_first[node];
}

/* ---- candidates of branches at one fork */

struct branch {
	int count, node[BESIDE_BRANCH_PARTS]; /* those that run; more are cut */
	double weight;
};

struct branches {
	int count;
	struct branch item[BETWEEN_MAX];
};

static void branch_take(const struct beside_graph *g, struct branch *b, int node)
{
	if (g->kind[node] != BESIDE_RUNS || b->count == BESIDE_BRANCH_PARTS)
		return;
	b->node[b->count++] = node;
	b->weight += g->weight[node];
}

static int compare(const void *x, const void *y)
{
	const struct branch *a = x, *b = y;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->node[0] - b->node[0];
}

static bool is_equal(const struct beside_set *a, const struct beside_set *b)
{
	return a->branch_count == b->branch_count &&
		memcmp(a->first, b->first, sizeof(a->first)) == 0 &&
		memcmp(a->node, b->node, sizeof(a->node)) == 0;
}

/* Adds the heaviest branches as a set, if there are two or more, unless the last set is the same. */
static void set_add(struct beside_sets *sets, int fork, struct branches *b)
{
	struct beside_set s = { .fork = fork };
	if (b->count < 2)
		return;
	qsort(b->item, (size_t)b->count, sizeof(b->item[0]), compare);
	for (int i = 0; i < b->count && s.branch_count < BESIDE_BRANCHES; i++) {
		int at = s.first[s.branch_count];
		if (at + b->item[i].count > BESIDE_PARTS)
			continue;
		memcpy(s.node + at, b->item[i].node, (size_t)b->item[i].count * sizeof(int));
		s.first[++s.branch_count] = at + b->item[i].count;
	}
	if (s.branch_count < 2 || (sets->count && is_equal(&sets->items[sets->count - 1], &s)))
		return;
	VEC_GROW(sets->items, sets->count, sets->capacity);
	sets->items[sets->count++] = s;
}

/* ---- between a fork and its join */

struct between {
	int count, node[BETWEEN_MAX + 1]; /* in topological order; only the fork reads into them */
	int waiting_count, waiting[BETWEEN_MAX]; /* nodes that they lead to */
	int component[BETWEEN_MAX];
};

static bool wait_add(struct between *b, int node)
{
	for (int i = 0; i < b->waiting_count; i++)
		if (b->waiting[i] == node)
			return true;
	if (b->waiting_count == BETWEEN_MAX)
		return false;
	b->waiting[b->waiting_count++] = node;
	return true;
}

static int wait_take(const struct beside_graph *g, struct between *b)
{
	int best = 0;
	for (int i = 1; i < b->waiting_count; i++)
		if (g->place[b->waiting[i]] < g->place[b->waiting[best]])
			best = i;
	int node = b->waiting[best];
	b->waiting[best] = b->waiting[--b->waiting_count];
	return node;
}

static int between_find(const struct between *b, int node)
{
	for (int i = 0; i < b->count; i++)
		if (b->node[i] == node)
			return i;
	return -1;
}

static bool out_add(const struct beside_graph *g, struct between *b, int node)
{
	for (int e = g->out_first[node]; e < g->out_first[node + 1]; e++)
		if (!wait_add(b, g->out[e]))
			return false;
	return true;
}

static int root_of(const struct between *b, int i)
{
	while (b->component[i] != i)
		i = b->component[i];
	return i;
}

/* Adds a node if all that it reads is between, or the fork; joins the components that it reads. */
static bool between_add(const struct beside_graph *g, struct between *b, int fork, int node)
{
	int own = b->count;
	b->node[own] = node;
	b->component[own] = own;
	for (int e = g->in_first[node]; e < g->in_first[node + 1]; e++) {
		int from = g->in[e], at = from == fork ? own : between_find(b, from);
		if (at < 0)
			return false;
		b->component[root_of(b, at)] = own;
	}
	b->count++;
	return true;
}

/* Walks from the fork in topological order until a single node is left to go on with: the join. */
static bool between_walk(const struct beside_graph *g, struct between *b, int fork)
{
	b->count = b->waiting_count = 0;
	if (!out_add(g, b, fork))
		return false;
	while (b->waiting_count > 1) {
		int node = wait_take(g, b);
		if (b->count == BETWEEN_MAX || !between_add(g, b, fork, node) || !out_add(g, b, node) ||
			out_count(g, node) == 0) /* an end: not all paths join */
			return false;
	}
	return true;
}

static void find_between(const struct beside_graph *g, struct beside_sets *sets, int fork, struct between *b,
	struct branches *found)
{
	int of[BETWEEN_MAX];
	found->count = 0;
	if (!between_walk(g, b, fork))
		return;
	bool apart[BETWEEN_MAX] = { false };
	for (int i = 0; i < b->count; i++)
		of[i] = -1;
	for (int i = 0; i < b->count; i++)
		apart[root_of(b, i)] |= g->kind[b->node[i]] == BESIDE_APART;
	for (int i = 0; i < b->count; i++) {
		int root = root_of(b, i);
		if (apart[root] || g->kind[b->node[i]] != BESIDE_RUNS)
			continue;
		if (of[root] < 0) {
			of[root] = found->count;
			found->item[found->count++] = (struct branch){ 0 };
		}
		branch_take(g, &found->item[of[root]], b->node[i]);
	}
	set_add(sets, fork, found);
}

/* ---- chains after a fork */

static void chain_add(const struct beside_graph *g, struct branches *found, int node)
{
	struct branch b = { 0 };
	if (found->count == BETWEEN_MAX)
		return;
	for (int n = 0; n < CHAIN_MAX && g->kind[node] != BESIDE_APART; n++) {
		branch_take(g, &b, node);
		int next = out_count(g, node) == 1 ? g->out[g->out_first[node]] : -1;
		if (next < 0 || in_count(g, next) != 1)
			break;
		node = next;
	}
	if (b.count)
		found->item[found->count++] = b;
}

void beside_find(const struct beside_graph *g, struct beside_sets *sets)
{
	static _Thread_local struct branches found;
	static _Thread_local struct between between;
	*sets = (struct beside_sets){ 0 };
	found.count = 0;
	for (int i = 0; i < g->count; i++)
		if (g->kind[g->order[i]] != BESIDE_NONE && !in_count(g, g->order[i]) &&
			g->kind[g->order[i]] != BESIDE_FREE)
			chain_add(g, &found, g->order[i]);
	set_add(sets, -1, &found);
	for (int i = 0; i < g->count; i++) {
		int fork = g->order[i];
		if (out_count(g, fork) < 2)
			continue;
		find_between(g, sets, fork, &between, &found);
		found.count = 0;
		for (int e = g->out_first[fork]; e < g->out_first[fork + 1]; e++)
			if (in_count(g, g->out[e]) == 1)
				chain_add(g, &found, g->out[e]);
		set_add(sets, fork, &found);
	}
}

/* ---- the choice */

struct choice {
	const struct beside_sets *sets;
	const double *saves;
	int *owner;           /* per node: a set that has it and is taken, or -1 */
	int *item, count;     /* the sets that compete, those that save most first */
	bool *taken, *best;   /* per set */
	double least, sum;    /* the best sum found; that of the taken ones */
	int tries;
};

static int node_total(const struct beside_set *s)
{
	return s->first[s->branch_count];
}

static bool is_open(const struct choice *c, int set)
{
	const struct beside_set *s = &c->sets->items[set];
	for (int i = 0; i < node_total(s); i++)
		if (c->owner[s->node[i]] >= 0)
			return false;
	return true;
}

static void take(struct choice *c, int set, bool on)
{
	const struct beside_set *s = &c->sets->items[set];
	for (int i = 0; i < node_total(s); i++)
		c->owner[s->node[i]] = on ? set : -1;
	c->taken[set] = on;
	c->sum += on ? c->saves[set] : -c->saves[set];
}

/* The best selection of the sets from number `at` on; `rest`: what they save at most. The first selection
 * takes each set that is open, those that save most first. */
static void select_from(struct choice *c, int at, double rest)
{
	bool enough = c->tries > TRIES_MAX && c->least > 0;
	if (at == c->count || c->sum + rest <= c->least || enough) {
		if (at < c->count || c->sum <= c->least)
			return;
		c->least = c->sum;
		for (int i = 0; i < c->count; i++)
			c->best[c->item[i]] = c->taken[c->item[i]];
		return;
	}
	int set = c->item[at];
	c->tries++;
	if (is_open(c, set)) {
		take(c, set, true);
		select_from(c, at + 1, rest - c->saves[set]);
		take(c, set, false);
	}
	select_from(c, at + 1, rest - c->saves[set]);
}

static int by_saving(const void *x, const void *y, void *saves)
{
	const double *of = saves;
	int a = *(const int *)x, b = *(const int *)y;
	return of[a] != of[b] ? (of[a] > of[b] ? -1 : 1) : a - b;
}

static int root_set(int *parent, int i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

/* Sets that compete, directly or through others, are chosen together: `of` has them, count of them. */
static double choose_group(struct choice *c, const int *of, int count)
{
	double rest = 0;
	c->count = count;
	memcpy(c->item, of, (size_t)count * sizeof(int));
	qsort_r(c->item, (size_t)count, sizeof(int), by_saving, (void *)c->saves);
	for (int i = 0; i < count; i++)
		rest += c->saves[c->item[i]];
	c->least = c->sum = 0;
	c->tries = 0;
	select_from(c, 0, rest);
	return c->least;
}

/* Sorts the sets that save something by the group of sets with which they compete. Returns their number. */
static int group_sets(
	const struct beside_sets *sets, const double *saves, int node_count, int *parent, int *list)
{
	int *user = base_malloc(((size_t)node_count + 1) * sizeof(int)), count = 0;
	for (int i = 0; i < node_count; i++)
		user[i] = -1;
	for (int i = 0; i < sets->count; i++) {
		const struct beside_set *s = &sets->items[i];
		parent[i] = i;
		if (!(saves[i] > 0)) /* NaN: unknown */
			continue;
		list[count++] = i;
		for (int k = 0; k < node_total(s); k++) {
			int *last = &user[s->node[k]];
			if (*last >= 0)
				parent[root_set(parent, *last)] = i;
			*last = i;
		}
	}
	free(user);
	return count;
}

static int by_root(const void *x, const void *y, void *parent)
{
	int a = *(const int *)x, b = *(const int *)y;
	int root_a = root_set(parent, a), root_b = root_set(parent, b);
	return root_a != root_b ? root_a - root_b : a - b;
}

double beside_choose(const struct beside_sets *sets, const double *saves, int node_count, bool *chosen)
{
	size_t n = (size_t)sets->count;
	int *parent = base_malloc((n + 1) * sizeof(int)), *list = base_malloc((n + 1) * sizeof(int));
	int count = group_sets(sets, saves, node_count, parent, list);
	struct choice c = { .sets = sets, .saves = saves, .best = chosen,
		.owner = base_malloc(((size_t)node_count + 1) * sizeof(int)),
		.item = base_malloc((n + 1) * sizeof(int)), .taken = base_calloc(n + 1, sizeof(bool)) };
	double all = 0;
	for (int i = 0; i < node_count; i++)
		c.owner[i] = -1;
	memset(chosen, 0, n * sizeof(*chosen));
	if (count)
		qsort_r(list, (size_t)count, sizeof(int), by_root, parent);
	for (int i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && root_set(parent, list[end]) == root_set(parent, list[i]);)
			end++;
		all += choose_group(&c, list + i, end - i);
	}
	free(c.owner);
	free(c.item);
	free(c.taken);
	free(parent);
	free(list);
	return all;
}
