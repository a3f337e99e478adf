/* The total with branches side by side. A set of branches is one problem (problem/beside.h); where it was
 * measured to take less than its problems one after the other, it counts. What to measure is found in the
 * graph of what runs after the choice of groups for the sum, so a group of fused layers is one problem of a
 * branch. What was measured, for this or another choice of groups, is then looked for everywhere
 * (beside_match.c), and groups, joins and branches are chosen together (choose_joins.c): the total does not
 * depend on which groups happen to be the fastest alone. */
#include "config.h"

#include "analyze/branches/beside_private.h"
#include "analyze/choose/choose_private.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct finding {
	const struct study *st;
	const struct scenario *s;
	const struct solution *x;
	const int *chosen;
	int *node_of;
	enum beside_kind *kind;
	double *cost;          /* of nodes that run; NaN unknown */
};

/* The node whose cost is that of the layer's group: that of the group's last layer. */
static int node_of_group(const struct finding *f, int node)
{
	int layer = f->st->node_layer[node], group = layer >= 0 ? f->chosen[layer] : -1;
	if (group < 0)
		return node;
	const struct fusion_group *g = &f->st->fusion->groups[group];
	return f->st->layer_node[g->layers[g->layer_count - 1]];
}

/* Layers with bodies, without a problem, with an assumed cost, and joins with a copy are in no branch. */
static enum beside_kind kind_of(const struct finding *f, int node)
{
	const struct study *st = f->st;
	int layer = st->node_layer[node], group = layer >= 0 ? f->chosen[layer] : -1;
	int problem = solution_problem(f->x, f->chosen, node);
	const struct price *price = problem >= 0 ? solution_price(f->x, f->chosen, node) : NULL;
	if (f->node_of[node] != node)
		return BESIDE_NONE;
	if (group >= 0 && fusion_copy(&st->fusion->groups[group]) >= 0)
		return BESIDE_APART;
	if (problem >= 0 && price && !price->assumed && study_has_problem(st, problem))
		return BESIDE_RUNS;
	if (problem >= 0)
		return BESIDE_APART;
	return layer < 0 || (group < 0 && st->layer_free[layer]) ? BESIDE_FREE : BESIDE_APART;
}

static void nodes_make(struct finding *f, struct arena *a)
{
	int n = f->st->node_count;
	f->node_of = ARENA_ARRAY(a, int, n);
	f->kind = ARENA_ARRAY(a, enum beside_kind, n);
	f->cost = ARENA_ARRAY(a, double, n);
	for (int i = 0; i < n; i++)
		f->node_of[i] = node_of_group(f, i);
	for (int i = 0; i < n; i++) {
		f->kind[i] = kind_of(f, i);
		f->cost[i] = f->kind[i] == BESIDE_RUNS ?
			solution_price(f->x, f->chosen, i)->ns : 0;
	}
}

/* ---- texts */

/* The text of a branch, a=b=c. */
static const char *branch_text(const struct finding *f, struct arena *a, const int *node, int count)
{
	struct str text = { 0 };
	for (int i = 0; i < count; i++) {
		str_puts(&text, i ? "=" : "");
		str_puts(&text, study_text(f->st, solution_problem(f->x, f->chosen, node[i])));
	}
	const char *kept = arena_strndup(a, text.p, text.n);
	str_free(&text);
	return kept;
}

/* Cuts the last problem of the branch with most problems. False: all have one. */
static bool set_shorten(struct beside_set *set)
{
	int most = 0;
	for (int i = 1; i < set->branch_count; i++)
		if (set->first[i + 1] - set->first[i] > set->first[most + 1] - set->first[most])
			most = i;
	if (set->first[most + 1] - set->first[most] < 2)
		return false;
	int at = set->first[most + 1] - 1, total = set->first[set->branch_count];
	memmove(set->node + at, set->node + at + 1, (size_t)(total - at - 1) * sizeof(int));
	for (int i = most + 1; i <= set->branch_count; i++)
		set->first[i]--;
	return true;
}

/* Puts the branches, whose texts were `was`, in the order of `now`: that of the set's text. */
static void set_sort(struct beside_set *set, const char *const *was, const char *const *now)
{
	struct beside_set old = *set;
	for (int i = 0, at = 0; i < old.branch_count; i++) {
		int from = 0;
		while (was[from] != now[i])
			from++;
		int count = old.first[from + 1] - old.first[from];
		memcpy(set->node + at, old.node + old.first[from], (size_t)count * sizeof(int));
		set->first[i + 1] = at += count;
	}
}

/* The text of a set, shortened until it fits, with the set in its order; NULL: it does not fit. */
static const char *set_text(const struct finding *f, struct arena *a, struct beside_set *set)
{
	char buf[PROBLEM_TEXT_SIZE];
	do {
		const char *branch[BESIDE_BRANCHES], *was[BESIDE_BRANCHES];
		for (int i = 0; i < set->branch_count; i++)
			was[i] = branch[i] = branch_text(f, a, set->node + set->first[i],
				set->first[i + 1] - set->first[i]);
		if (beside_text(branch, set->branch_count, buf) == 0) {
			set_sort(set, was, branch);
			return arena_strndup(a, buf, strlen(buf));
		}
	} while (set_shorten(set));
	return NULL;
}

/* ---- prices */

static void set_price(const struct finding *f, struct beside_priced *r)
{
	for (int i = 0; i < r->set->first[r->set->branch_count]; i++)
		r->alone_ns += f->cost[r->set->node[i]];
	r->price = (struct price){ .ns = NAN };
	if (r->text)
		r->price = study_price_of(f->st, f->s, r->text, &r->why);
	if (f->st->on.estimate && isnan(r->price.ns))
		r->why = "a described device: it has no measurements, and no estimate exists";
}

static void lacking_list(const struct study *st, struct besides *b, struct arena *a)
{
	struct hash seen = { 0 };
	b->lacking = ARENA_ARRAY(a, const char *, b->count);
	for (int i = 0; i < b->count && !st->on.estimate; i++) {
		const struct beside_priced *r = &b->sets[i];
		if (!r->text || r->price.answered)
			continue;
		int64_t *at = hash_at(&seen, text_of(r->text));
		if (*at < 0)
			b->lacking[b->lacking_count++] = r->text;
		*at = 0;
	}
	hash_free(&seen);
}

static struct besides *besides_of(const struct study *st, const struct scenario *s, struct arena *a,
	const struct solution *x, const int *chosen)
{
	struct besides *b = ARENA_NEW(a, struct besides);
	struct finding f = { .st = st, .s = s, .x = x, .chosen = chosen };
	struct beside_graph g;
	struct beside_sets sets;
	*b = (struct besides){ 0 };
	nodes_make(&f, a);
	double *weight = ARENA_ARRAY(a, double, st->node_count);
	for (int i = 0; i < st->node_count; i++)
		weight[i] = isnan(f.cost[i]) ? 0 : f.cost[i];
	beside_graph(&g, a, st->node_count, x->first, x->edges, f.node_of, f.kind, weight);
	beside_find(&g, &sets);
	struct beside_set *kept = ARENA_ARRAY(a, struct beside_set, sets.count);
	double *saves = ARENA_ARRAY(a, double, sets.count);
	bool *taken = ARENA_ARRAY(a, bool, sets.count);
	b->count = sets.count;
	b->sets = ARENA_ARRAY(a, struct beside_priced, sets.count);
	for (int i = 0; i < sets.count; i++) {
		b->sets[i].text = set_text(&f, a, &sets.items[i]);
		kept[i] = sets.items[i];
		b->sets[i].set = &kept[i];
		set_price(&f, &b->sets[i]);
		saves[i] = b->sets[i].alone_ns - b->sets[i].price.ns;
	}
	b->saves_ns = beside_choose(&sets, saves, st->node_count, taken);
	for (int i = 0; i < sets.count; i++)
		b->sets[i].chosen = taken[i];
	free(sets.items);
	lacking_list(st, b, a);
	return b;
}

/* ---- groups and branches chosen together */

static double sum_of(const struct study *st, const double *cost)
{
	double sum = 0;
	for (int i = 0; i < st->node_count; i++)
		sum += cost[i];
	return sum;
}

/* The places as bundles of layers. */
static void bundles_make(const struct study *st, struct arena *a, const struct beside_places *places,
	struct bundles *b)
{
	*b = (struct bundles){ .count = places->count,
		.items = ARENA_ARRAY(a, struct bundle, places->count) };
	for (int i = 0; i < places->count; i++) {
		const struct beside_place *p = &places->items[i];
		b->items[i] = (struct bundle){ p->layer_count, p->layers, p->price.ns };
	}
	bundles_contest(st, a, b);
}

/* Puts the layers of a place, each alone or in its group, into a choice. */
static void place_put(const struct study *st, struct solution *x, const struct beside_place *p)
{
	for (int i = 0; i < p->set.first[p->set.branch_count]; i++) {
		const struct fusion_group *g = p->group[i] >= 0 ? &st->fusion->groups[p->group[i]] : NULL;
		for (int k = 0; g && k < g->layer_count; k++)
			x->sum.chosen[g->layers[k]] = p->group[i];
		x->sum.cost[p->set.node[i]] = p->cost[i];
	}
}

/* True if all nodes of a set are in one of the sets in use, which has no others; of: that of each node. */
static bool is_used(const struct besides *b, const struct beside_set *x, const int *of)
{
	int count = x->first[x->branch_count], in = of[x->node[0]];
	const struct beside_set *y = in >= 0 ? b->sets[in].set : NULL;
	for (int i = 0; i < count; i++)
		if (of[x->node[i]] != in)
			return false;
	return y && y->first[y->branch_count] == count;
}

/* The sets of the places that are taken, then those of `own` that are others. */
static struct besides *besides_taken(const struct study *st, struct arena *a,
	const struct beside_places *places, const bool *taken, const struct besides *own)
{
	struct besides *b = ARENA_NEW(a, struct besides);
	int *of = ARENA_ARRAY(a, int, st->node_count);
	*b = (struct besides){ .sets = ARENA_ARRAY(a, struct beside_priced, places->count + own->count) };
	memset(of, -1, (size_t)st->node_count * sizeof(int));
	for (int i = 0; i < places->count; i++) {
		const struct beside_place *p = &places->items[i];
		if (!taken[i])
			continue;
		struct beside_set *set = ARENA_NEW(a, struct beside_set);
		*set = p->set;
		for (int k = 0; k < set->first[set->branch_count]; k++)
			of[set->node[k]] = b->count;
		b->sets[b->count++] = (struct beside_priced){ .set = set, .text = p->text, .price = p->price,
			.alone_ns = p->alone_ns, .chosen = true };
		b->saves_ns += p->alone_ns - p->price.ns;
	}
	for (int i = 0; i < own->count; i++) {
		if (is_used(b, own->sets[i].set, of))
			continue;
		b->sets[b->count] = own->sets[i];
		b->sets[b->count++].chosen = false;
	}
	return b;
}

/* True if the chosen sets, each as one step, can be put in an order. */
static bool steps_hold(const struct study *st, const struct solution *x, const struct besides *b)
{
	struct arena scratch = { 0 };
	struct beside_graph g;
	struct finding f = { .st = st, .x = x, .chosen = x->sum.chosen };
	enum beside_kind *kind = ARENA_ARRAY(&scratch, enum beside_kind, st->node_count);
	int *step = ARENA_ARRAY(&scratch, int, st->node_count);
	int *of = ARENA_ARRAY(&scratch, int, st->node_count);
	for (int i = 0; i < st->node_count; i++) {
		of[i] = step[i] = i;
		kind[i] = BESIDE_RUNS;
	}
	for (int i = 0; i < b->count; i++) {
		const struct beside_set *set = b->sets[i].set;
		for (int k = 0; b->sets[i].chosen && k < set->first[set->branch_count]; k++)
			step[set->node[k]] = set->node[0];
	}
	for (int i = 0; i < st->node_count; i++) {
		int layer = st->node_layer[i], reads = x->first[i + 1] - x->first[i];
		bool passes = reads == 1 && st->node_problem[i] < 0 && layer >= 0 && st->layer_free[layer] &&
			x->sum.chosen[layer] < 0;
		of[i] = passes ? of[x->edges[x->first[i]]] : step[node_of_group(&f, i)];
	}
	beside_graph(&g, &scratch, st->node_count, x->first, x->edges, of, kind, NULL);
	arena_free(&scratch);
	return g.sorted == st->node_count;
}

/* Takes a choice of groups with its branches if its total is lower, and it lacks no more layers. */
static void offer(const struct study *st, struct arena *a, struct solution *out, struct solution *x,
	struct besides *b)
{
	double total = sum_of(st, x->sum.cost) - b->saves_ns;
	if (solution_missing(st, out, x->sum.chosen) > solution_missing(st, out, out->parallel.chosen) ||
		!(total < out->parallel.ns) || !steps_hold(st, x, b))
		return;
	out->besides = b;
	out->parallel.ns = total;
	out->parallel.chosen = x->sum.chosen;
	out->parallel.cost = x->sum.cost;
	solution_ran(st, a, x, &out->parallel);
}

/* Offers the choice of groups and places that takes least together. */
static void offer_places(const struct study *st, const struct scenario *s, struct arena *a,
	struct solution *out, const struct besides *own)
{
	struct beside_places places;
	struct bundles bundles;
	struct solution x = *out;
	beside_match(st, s, a, out, &places);
	if (places.count)
		bundles_make(st, a, &places, &bundles);
	int *joined = places.count ? solve_joins(st, a, out, &bundles) : NULL;
	if (joined) {
		bool *taken = ARENA_ARRAY(a, bool, places.count);
		x.sum.chosen = ARENA_ARRAY(a, int, st->plan->layer_count);
		x.sum.cost = ARENA_ARRAY(a, double, st->node_count);
		solve_taken(st, a, &x, joined);
		for (int i = 0; i < places.count; i++)
			if (joined[places.items[i].layers[0]] == st->groups + i) {
				taken[i] = true;
				place_put(st, &x, &places.items[i]);
			}
		offer(st, a, out, &x, besides_taken(st, a, &places, taken, own));
	}
	free(places.items);
}

void solve_besides(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out)
{
	struct besides *own = out->besides = besides_of(st, s, a, out, out->sum.chosen);
	out->parallel.ns = out->sum.ns - own->saves_ns;
	if (!out->placed) /* with layouts, what a layer costs depends on those around it */
		offer_places(st, s, a, out, own);
	out->besides->lacking = own->lacking; /* what to measure does not depend on which is lower now */
	out->besides->lacking_count = own->lacking_count;
	out->unmeasured += own->lacking_count;
}

double beside_over_longest(const struct solution *x, const double *cost)
{
	double over = 0;
	for (int i = 0; i < x->besides->count; i++) {
		const struct beside_priced *r = &x->besides->sets[i];
		double all = 0, longest = 0;
		for (int k = 0; r->chosen && k < r->set->branch_count; k++) {
			double own = 0;
			for (int n = r->set->first[k]; n < r->set->first[k + 1]; n++)
				own += cost[r->set->node[n]];
			all += own;
			longest = fmax(longest, own);
		}
		over += all - fmin(longest, r->price.ns);
	}
	return over;
}
