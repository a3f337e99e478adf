/* Cost of a scenario: the prices of its problems, the choice of groups (choose.c), and the totals. */
#include "config.h"

#include "analyze/choose/solution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True if some group is a join. */
static bool may_join(const struct study *st)
{
	return st->fusion && st->fusion->contest_count;
}

/* The study with only the groups that a choice of fusion allows. */
struct study study_at_level(const struct study *st, enum fusion_level chosen)
{
	struct study view = *st;
	view.levels = 0;
	view.level = chosen;
	for (int i = FUSION_OFF; i < FUSION_LEVELS; i++)
		view.levels |= fusion_allows(chosen, (enum fusion_level)i) ? 1u << i : 0;
	if (!chosen)
		view.groups = 0;
	return view;
}

int study_lower_levels(const struct study *st, enum fusion_level *levels)
{
	int count = 0;
	for (int i = FUSION_OFF; i < FUSION_LEVELS; i++)
		if (i != (int)st->level && fusion_allows(st->level, (enum fusion_level)i))
			levels[count++] = (enum fusion_level)i;
	return count;
}

/* Prices a distinct problem, if its list does not have it yet; returns the list. */
static const struct price_list *price_of(const struct study *st, const struct scenario *s,
	struct solution *out, int distinct)
{
	struct price_list *list = solution_list(out, distinct);
	if (!list->state[distinct])
		study_list_price(st, list, s, distinct);
	out->asked[distinct] = true;
	out->lacking[distinct] = !(list->state[distinct] & PRICE_ANSWERED);
	out->untried[distinct] = !(list->state[distinct] & (PRICE_ANSWERED | PRICE_ROUGH));
	out->refused[distinct] = list->state[distinct] & PRICE_REFUSED;
	return list;
}

/* The price at a node that runs `problem`. */
static const struct price *node_price(
	const struct study *st, const struct solution *x, const int *chosen, int node, int problem)
{
	int layer = st->node_layer[node], group = layer >= 0 ? chosen[layer] : -1;
	if (x->placed && x->placed[node].used)
		return &x->placed[node].price;
	if (group >= 0 && problem >= 0 && !(may_join(st) && st->fusion->groups[group].join))
		return solution_group_price(st, x, group);
	if (group >= 0)
		return problem >= 0 ? solution_at(x, problem) : NULL;
	if (layer >= 0 && x->assumed_layer && x->assumed_layer[layer].assumed)
		return &x->assumed_layer[layer];
	return problem >= 0 ? solution_at(x, problem) : NULL;
}

/* Applies the assumptions to the prices of layers and groups. A group takes that of its first layer, but only
 * a group that has a price is fused; joined matmuls keep their price. A layer with an assumed time needs no
 * measurement. */
static void price_assumptions(const struct study *st, const struct scenario *s, struct arena *a,
	struct solution *out)
{
	const struct plan *p = st->plan;
	static const struct price none = { .ns = NAN, .known = true, PRICE_UNMEASURED };
	out->assumed_layer = ARENA_ARRAY(a, struct price, p->layer_count);
	out->assumed_group = ARENA_ARRAY(a, struct price, st->groups);
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		int node = st->layer_node[i], problem = st->node_problem[node];
		if (st->on.assumed[i].kind == ASSUME_NOTHING || plan_layer_is_control(l))
			continue;
		struct price price = problem >= 0 ? *solution_at(out, problem) : none;
		price.ns = l->class == CLASS_FREE ? 0 : price.ns;
		price = out->assumed_layer[i] = price_assumed(st, s, i, &price);
		out->cost[node] = price.ns;
		out->estimated[node] = price.estimated;
	}
	for (int i = 0; i < st->groups; i++) {
		const struct fusion_group *g = &st->fusion->groups[i];
		int distinct = study_group_distinct(st, g);
		if (g->join || st->on.assumed[g->layers[0]].kind == ASSUME_NOTHING)
			continue;
		if (distinct >= 0 && out->asked[distinct] && !isnan(solution_at(out, distinct)->ns))
			out->assumed_group[i] =
				price_assumed(st, s, g->layers[0], solution_at(out, distinct));
	}
}

/* Prices of the problems in a layer's bodies. */
static void price_bodies(const struct study *st, const struct scenario *s, struct solution *out,
	const struct plan_layer *l)
{
	for (int i = 0; i < l->body_count; i++)
		for (int k = 0; k < l->bodies[i].layer_count; k++) {
			const struct plan_layer *inner = &l->bodies[i].layers[k];
			if (plan_layer_is_control(inner))
				price_bodies(st, s, out, inner);
			else if (inner->problem >= 0)
				price_of(st, s, out, inner->problem);
		}
}

/* Costs of layers with bodies. */
static void price_inside(const struct study *st, const struct scenario *s, struct arena *a,
	struct solution *out)
{
	const struct plan *p = st->plan;
	if (st->control_count)
		out->inside = ARENA_ARRAY(a, struct layer_cost *, p->layer_count);
	for (int k = 0; k < st->control_count; k++) {
		int i = st->controls[k];
		const struct plan_layer *l = &p->layers[i];
		struct layer_cost *c = out->inside[i] = ARENA_NEW(a, struct layer_cost);
		price_bodies(st, s, out, l);
		cost_none(c);
		cost_alone(a, c, st, s, out, l, -1, NULL);
		cost_assume(c, st, s, i);
		out->cost[st->layer_node[i]] = c->ns;
		out->estimated[st->layer_node[i]] = c->origin == ORIGIN_ESTIMATED;
	}
}

static void price_all(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out)
{
	bool assume = s->assume && st->on.assumed;
	for (int i = 0; i < st->node_count; i++) {
		int problem = st->node_problem[i], layer = st->node_layer[i];
		bool is_free = layer >= 0 && st->layer_free[layer];
		bool given = assume && layer >= 0 && st->on.assumed[layer].kind == ASSUME_TIME;
		bool lacked = given && problem >= 0 && out->lacking[problem];
		bool untried = lacked && out->untried[problem];
		const struct price_list *list = problem >= 0 ? price_of(st, s, out, problem) : NULL;
		if (given && problem >= 0) { /* it needs no measurement */
			out->lacking[problem] = lacked;
			out->untried[problem] = untried;
		}
		out->cost[i] = list ? list->ns[problem] : is_free ? 0 : NAN;
		out->estimated[i] = list && list->state[problem] & PRICE_ESTIMATED;
	}
	for (int i = 0; i < st->groups; i++) {
		int distinct = st->group_distinct[i];
		int copy = may_join(st) ? fusion_copy(&st->fusion->groups[i]) : -1;
		if (distinct < 0 || !(st->levels >> st->group_level[i] & 1))
			continue;
		price_of(st, s, out, distinct);
		if (copy >= 0)
			price_of(st, s, out, copy);
	}
	if (assume)
		price_assumptions(st, s, a, out);
	price_inside(st, s, a, out);
}

/* Prices of the conversions that may be needed and, with layout=priced, of the twins that may save them. */
static void price_layouts(const struct study *st, const struct scenario *s, struct solution *out)
{
	for (int i = st->common_count; i < st->distinct_count; i++)
		price_of(st, s, out, i);
	for (int i = 0; st->layouts->priced && st->plan->nxc && i < st->plan->layer_count; i++)
		if (st->plan->layers[i].class != CLASS_FREE && st->plan->layers[i].problem_nxc >= 0)
			price_of(st, s, out, st->plan->layers[i].problem_nxc);
	for (int i = 0; st->layouts->priced && i < st->groups; i++)
		if (st->fusion->groups[i].distinct_nxc >= 0)
			price_of(st, s, out, st->fusion->groups[i].distinct_nxc);
}

/* True if every layer outside the chosen groups has a price, and none is at_least. */
static bool complete(const struct study *st, const struct solution *out, const int *chosen)
{
	for (int i = 0; i < st->plan->layer_count; i++)
		if (chosen[i] < 0 && isnan(out->cost[st->layer_node[i]]))
			return false;
	for (int i = 0; out->inside && i < st->plan->layer_count; i++)
		if (out->inside[i] && out->inside[i]->at_least)
			return false;
	return true;
}

static void price_borders(const struct study *st, struct solution *out)
{
	int casts = 0, missing = 0;
	for (int i = 0; i < st->node_count; i++) {
		bool idle = out->placed && st->node_problem[i] < 0 && !out->placed[i].used;
		if (st->node_layer[i] >= 0 || idle)
			continue;
		casts++;
		missing += isnan(out->cost[i]);
		out->border_estimated |= out->estimated[i];
		out->border_ns += isnan(out->cost[i]) ? 0 : out->cost[i];
	}
	if (casts && missing == casts)
		out->border_ns = NAN;
	out->border_complete = missing == 0;
}

/* True if there is a total: some layer that is not free has a price, or no layer lacks one. Casts at model
 * inputs and outputs alone are not a total. */
static bool known(const struct study *st, const struct solution *out, const int *chosen)
{
	bool gaps = false;
	for (int i = 0; i < st->plan->layer_count; i++) {
		bool priced = chosen[i] >= 0 || !isnan(out->cost[st->layer_node[i]]);
		if (priced && (chosen[i] >= 0 || !st->layer_free[i]))
			return true;
		gaps |= !priced;
	}
	return !gaps && !isnan(out->border_ns);
}

void solution_ran(const struct study *st, struct arena *a, const struct solution *x, struct total *t)
{
	int *problems = t->ran = ARENA_ARRAY(a, int, st->node_count);
	const int *chosen = t->chosen;
	t->price = ARENA_ARRAY(a, const struct price *, st->node_count);
	bool joins = may_join(st);
	for (int node = 0; node < st->node_count; node++) {
		int layer = st->node_layer[node];
		problems[node] = st->node_problem[node];
		if (x->placed && x->placed[node].problem >= 0) {
			problems[node] = x->placed[node].problem;
		} else if (layer >= 0 && chosen[layer] >= 0) {
			int g = chosen[layer];
			bool copies = joins && st->fusion->groups[g].layers[0] == layer;
			problems[node] = st->group_last[g] == layer ? st->group_distinct[g] : copies ?
				fusion_copy(&st->fusion->groups[g]) : -1;
		}
		t->price[node] = node_price(st, x, chosen, node, problems[node]);
	}
}

/* Host time to enqueue all executions, one after the other: the sum of the results that have it. */
static double enqueue(const struct study *st, const struct solution *out, const struct total *t)
{
	double total = 0;
	bool any = false;
	for (int i = 0; i < st->node_count; i++) {
		const struct price *price = t->price[i];
		const struct layer_cost *inside = solution_inside(st, out, i);
		double ns = inside ? inside->enqueue_ns : price ? price->enqueue_ns : NAN;
		if (!isfinite(ns) || ns < 0)
			continue;
		total += ns;
		any = true;
	}
	return any ? total : NAN;
}

/* Fills what measurements and estimates a choice has: of each that of any node. */
static void fill_kinds(const struct study *st, const struct solution *x, struct total *t)
{
	t->estimated = t->rough = t->noisy = false;
	for (int i = 0; i < st->node_count; i++) {
		const struct price *price = t->price[i];
		t->estimated |= price && price->estimated;
		t->rough |= price && price->rough;
		t->noisy |= price && price->noisy;
	}
	for (int i = 0; x->inside && i < st->plan->layer_count; i++) {
		t->estimated |= x->inside[i] && x->inside[i]->origin == ORIGIN_ESTIMATED;
		t->rough |= x->inside[i] && x->inside[i]->origin == ORIGIN_ROUGH;
	}
}

/* Moves the cost of a join from its first and last layers to each member. */
static void spread_join(const struct study *st, const struct fusion_group *g, double *cost)
{
	int first = st->layer_node[g->layers[0]], last = st->layer_node[g->layers[g->layer_count - 1]];
	double all = cost[first] + cost[last];
	cost[first] = cost[last] = 0;
	for (int i = 0; i < g->join->member_count; i++)
		cost[st->layer_node[g->join->members[i]]] = all;
}

double solution_path(const struct study *st, const struct solution *x, const int *chosen, const double *cost,
	double *start, double *slack, bool *critical)
{
	double *own = NULL;
	for (int i = 0; may_join(st) && i < st->plan->layer_count; i++) {
		const struct fusion_group *g = chosen[i] >= 0 ? &st->fusion->groups[chosen[i]] : NULL;
		if (!g || !g->join || g->layers[0] != i)
			continue;
		if (!own) {
			own = base_malloc((size_t)st->node_count * sizeof(*own));
			memcpy(own, cost, (size_t)st->node_count * sizeof(*own));
		}
		spread_join(st, g, own);
	}
	double length =
		critical_path(st->node_count, own ? own : cost, x->first, x->edges, start, slack, critical);
	free(own);
	return length;
}

static double path_of(
	const struct study *st, const struct solution *x, const int *chosen, const double *cost)
{
	return solution_path(st, x, chosen, cost, NULL, NULL, NULL);
}

static bool has_join(const struct study *st, const struct solution *x)
{
	for (int i = 0; may_join(st) && i < st->plan->layer_count; i++)
		if (x->sum.chosen[i] >= 0 && st->fusion->groups[x->sum.chosen[i]].join)
			return true;
	return false;
}

int solution_missing(const struct study *st, const struct solution *x, const int *chosen)
{
	int count = 0;
	for (int i = 0; i < st->plan->layer_count; i++)
		count += chosen[i] < 0 && isnan(x->cost[st->layer_node[i]]);
	return count;
}

/* Makes the choice of groups for the sum that of the longest path. */
static void put_path(const struct study *st, struct solution *out)
{
	out->parallel.chosen = out->sum.chosen;
	out->parallel.cost = out->sum.cost;
	out->parallel.ran = out->sum.ran;
	out->parallel.price = out->sum.price;
	out->path_ns = path_of(st, out, out->sum.chosen, out->sum.cost);
}

/* Even with any number of layers at the same time no resource does more than its peak: the longer of the
 * longest path and what the resources need at least. Fills path_ns, busy_ns and resource. Only the choice for
 * the sum has joins: where a join is faster than one of its members alone, its longest path can be the
 * shorter one. */
static void total_resources(const struct study *st, const struct scenario *s, struct solution *out)
{
	out->path_ns = path_of(st, out, out->parallel.chosen, out->parallel.cost);
	if (has_join(st, out) && path_of(st, out, out->sum.chosen, out->sum.cost) < out->path_ns)
		put_path(st, out);
	if (st->on.peaks && !out->inside)
		solve_resources(st, s, out);
	/* One after the other is always possible, and no resource is busy for longer than the kernels run
	 * (struct use). More is a rounding error, or a group that has no price in the layouts around it. */
	if (out->busy_ns > out->sum.ns)
		out->busy_ns = out->sum.ns;
	if (!(out->busy_ns > out->path_ns))
		out->resource = -1;
}

static double parallel_of(const struct scenario *s, const struct solution *x)
{
	return s->parallel != PARALLEL_PATH && x->resource >= 0 ? x->busy_ns : x->path_ns;
}

/* Takes the choice of groups for the sum, whose kernels the host enqueues sooner. */
static void parallel_as_sum(const struct study *st, const struct scenario *s, struct solution *out)
{
	put_path(st, out);
	if (!(out->busy_ns > out->path_ns))
		out->resource = -1;
	out->parallel.enqueue_ns = out->sum.enqueue_ns;
	out->parallel.ns = fmin(out->sum.ns, parallel_of(s, out));
	if (out->parallel.enqueue_ns > out->parallel.ns)
		out->parallel.ns = out->parallel.enqueue_ns;
}

/* The total with each estimated cost at its floor. */
static double floor_of(
	const struct study *st, struct arena *a, const struct solution *x, const struct total *t)
{
	double *cost = ARENA_ARRAY(a, double, st->node_count), sum = 0;
	bool path = t == &x->parallel;
	if (!t->estimated || isnan(t->ns))
		return t->ns;
	for (int i = 0; i < st->node_count; i++) {
		const struct layer_cost *inside = solution_inside(st, x, i);
		double ns = inside ? inside->floor_ns : t->price[i] ? price_floor(t->price[i]) : 0;
		cost[i] = isnan(ns) ? 0 : ns;
		sum += cost[i];
	}
	if (path && x->besides)
		sum -= x->sum.ns - x->parallel.ns;
	else if (path)
		sum = path_of(st, x, t->chosen, cost);
	return fmin(t->ns, t->enqueue_ns > sum ? t->enqueue_ns : sum); /* NaN compares false */
}

void solve_begin(const struct study *st, const struct scenario *s, const struct folded *folded,
	struct arena *a, struct solution *out, bool path)
{
	*out = (struct solution){
		.list = study_prices(st, s, s->best),
		.best = st->limits && !s->best ? st->limits->best : NULL,
		.asked = ARENA_ARRAY(a, bool, st->distinct_count),
		.lacking = ARENA_ARRAY(a, bool, st->distinct_count),
		.untried = ARENA_ARRAY(a, bool, st->distinct_count),
		.refused = ARENA_ARRAY(a, bool, st->distinct_count),
		.cost = ARENA_ARRAY(a, double, st->node_count),
		.estimated = ARENA_ARRAY(a, bool, st->node_count),
		.sum.chosen = ARENA_ARRAY(a, int, st->plan->layer_count),
		.sum.cost = ARENA_ARRAY(a, double, st->node_count),
		.first = st->first,
		.edges = st->edges,
		.folds = folded ? folded->layer : NULL,
		.layouts_exact = true,
	};
	if (out->best)
		out->best_list = study_prices(st, s, true);
	price_all(st, s, a, out);
	if (st->layouts) {
		price_layouts(st, s, out);
		solve_layouts(st, s, a, out);
	} else {
		solve_choices(st, a, out, path && s->parallel != PARALLEL_MEASURED);
	}
	for (int i = 0; i < st->distinct_count; i++)
		out->unmeasured += out->lacking[i];
	solution_ran(st, a, out, &out->sum);
	out->parallel.ran = out->sum.ran;
	out->parallel.price = out->sum.price;
	if (out->parallel.chosen != out->sum.chosen)
		solution_ran(st, a, out, &out->parallel);
	price_borders(st, out);
	for (int i = 0; i < st->node_count; i++)
		out->sum.ns += out->sum.cost[i];
	out->path_ns = out->busy_ns = NAN;
	out->resource = -1;
	if (path && s->parallel != PARALLEL_MEASURED)
		total_resources(st, s, out);
	out->parallel.ns = parallel_of(s, out);
}

void solve_end(
	const struct study *st, const struct scenario *s, struct arena *a, struct solution *out, bool path)
{
	out->sum.enqueue_ns = s->amortized ? NAN : enqueue(st, out, &out->sum);
	bool same = out->parallel.chosen == out->sum.chosen;
	out->parallel.enqueue_ns = s->amortized ? NAN : same ? out->sum.enqueue_ns :
		enqueue(st, out, &out->parallel);
	if (out->sum.enqueue_ns > out->sum.ns) /* NaN compares false */
		out->sum.ns = out->sum.enqueue_ns;
	if (out->parallel.enqueue_ns > out->parallel.ns)
		out->parallel.ns = out->parallel.enqueue_ns;
	if (out->parallel.ns > out->sum.ns && out->besides) {
		out->parallel.ns = out->sum.ns;
	} else if (out->parallel.ns > out->sum.ns) { /* for the host: that for the sum is possible */
		parallel_as_sum(st, s, out);
		same = true;
	}
	if (!known(st, out, out->sum.chosen))
		out->sum.ns = NAN;
	if (path && !known(st, out, out->parallel.chosen))
		out->parallel.ns = out->path_ns = NAN;
	out->sum.complete = out->border_complete && complete(st, out, out->sum.chosen);
	out->parallel.complete = same ? out->sum.complete :
		out->border_complete && complete(st, out, out->parallel.chosen);
	fill_kinds(st, out, &out->sum);
	out->parallel.estimated = out->sum.estimated;
	out->parallel.rough = out->sum.rough;
	out->parallel.noisy = out->sum.noisy;
	if (!same)
		fill_kinds(st, out, &out->parallel);
	out->sum.floor_ns = floor_of(st, a, out, &out->sum);
	out->parallel.floor_ns = floor_of(st, a, out, &out->parallel);
}
