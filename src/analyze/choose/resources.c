/* What the resources need: memory, each cache, and the units at least do the work of all layers at their
 * peaks, whatever runs at the same time. The fastest algorithm may need more of a resource than another one,
 * and a fused group more than its layers. The least that one resource needs is therefore that of a choice of
 * its own: of algorithms and groups, those that use it least. Each of these times is a lower bound, and a
 * scenario that allows more never has a higher one.
 *
 * A layer that can run on several units (plain, matrix) need not use any given one of them. Units are
 * therefore also taken together: with shares in proportion to their peaks, the weighted sum of their times is
 * no higher than that of the busiest, and counts a layer wherever it runs (weak duality of the linear program
 * that spreads the work over the units). An estimate has one algorithm. */
#include "config.h"

#include "analyze/choose/solution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USES_MAX 12  /* of a problem: units, each padded and not */
#define UNITS_MAX 4  /* that are taken together */

struct uses {
	int count;
	struct use list[];
};
struct uses_room {
	int count;
	struct use list[USES_MAX];
};

struct needs {
	const struct study *st;
	const struct scenario *s;
	struct arena *a;
	const struct solution *x;
	const struct uses **of; /* per distinct problem that was priced */
	int units[UNITS_MAX], unit_count; /* RESOURCE_* that a layer may use; more are not taken together */
};

/* True if any allowed algorithm of the problem may run: the best, or the preferred one of the layouts around
 * it. */
static bool may_be_any(const struct needs *n, int distinct)
{
	return n->s->best || n->x->placed || (n->x->best && n->x->best[distinct]);
}

static void use_put(struct uses_room *u, const struct use *one)
{
	for (int i = 0; i < u->count; i++) {
		struct use *old = &u->list[i];
		bool last = i == USES_MAX - 1, same = old->unit == one->unit && old->level == one->level &&
			old->memory_bytes == one->memory_bytes && old->fast_bytes == one->fast_bytes;
		if (!same && !last)
			continue;
		old->ops_ns = last && !same ? 0 : fmin(old->ops_ns, one->ops_ns);
		old->memory_bytes = fmin(old->memory_bytes, one->memory_bytes);
		old->fast_bytes = fmin(old->fast_bytes, one->fast_bytes);
		return;
	}
	u->list[u->count++] = *one;
}

static void uses_of_result(struct needs *n, struct uses_room *u, int distinct, const struct result *r)
{
	struct price price = { .ns = stats_cost(&r->stats), .result = r };
	struct use one = price_use(n->st, n->s, distinct, &price);
	use_put(u, &one);
}

static void uses_allowed(struct needs *n, struct uses_room *u, int distinct)
{
	enum cache c = study_read_cache(n->st, n->s, distinct);
	const struct found *f = &n->st->found[distinct];
	for (int i = 0; i < f->count; i++)
		if (study_allows(n->st, n->s, c, distinct, f->results[i]))
			uses_of_result(n, u, distinct, f->results[i]);
}

/* Notes what a problem may use; other: another form of it (padded, channels last), -1: none. */
static void uses_note(struct needs *n, struct uses_room *u, int distinct, int other)
{
	const struct price *price = solution_at(n->x, distinct);
	int padded = n->s->pad ? plan_padded_index(n->st->plan, distinct) : -1;
	if (isnan(price->ns))
		return;
	struct use own = price_use(n->st, n->s, price->padded ? padded : distinct, price);
	use_put(u, &own);
	if (!price->result || price->rough || !may_be_any(n, distinct))
		return;
	uses_allowed(n, u, distinct);
	if (padded >= 0)
		uses_allowed(n, u, padded);
	if (other >= 0 && other != distinct)
		uses_allowed(n, u, other);
}

/* What a problem may use, kept with its price unless that depends on where layouts are converted. */
static const struct uses *uses_find(struct needs *n, int distinct, int other)
{
	struct price_list *list = solution_list(n->x, distinct);
	bool keeps = !n->x->placed;
	if (keeps && !list->allowed)
		list->allowed = ARENA_ARRAY(&list->arena, const struct uses *, n->st->distinct_count);
	if (keeps && list->allowed[distinct])
		return list->allowed[distinct];
	struct uses_room room = { .count = 0 };
	uses_note(n, &room, distinct, other);
	size_t size = sizeof(struct uses) + (size_t)room.count * sizeof(room.list[0]);
	struct uses *made = arena_alloc(keeps ? &list->arena : n->a, size);
	made->count = room.count;
	memcpy(made->list, room.list, (size_t)room.count * sizeof(room.list[0]));
	if (keeps)
		list->allowed[distinct] = made;
	return made;
}

static void units_find(struct needs *n)
{
	for (int i = 0; i < n->st->distinct_count; i++)
		for (int k = 0; n->x->asked[i] && k < n->of[i]->count; k++) {
			int unit = n->of[i]->list[k].unit, at = 0;
			while (at < n->unit_count && n->units[at] != unit)
				at++;
			if (unit >= 0 && at == n->unit_count && at < UNITS_MAX)
				n->units[n->unit_count++] = unit;
		}
}

static void all_uses(struct needs *n)
{
	const struct study *st = n->st;
	int *other = ARENA_ARRAY(n->a, int, st->distinct_count);
	memset(other, -1, (size_t)st->distinct_count * sizeof(*other));
	for (int i = 0; n->x->placed && i < st->plan->layer_count; i++) {
		const struct plan_layer *l = &st->plan->layers[i];
		if (l->problem >= 0 && st->plan->nxc)
			other[l->problem] = l->problem_nxc;
	}
	for (int i = 0; n->x->placed && i < st->groups; i++)
		if (st->fusion->groups[i].distinct >= 0)
			other[st->fusion->groups[i].distinct] = st->fusion->groups[i].distinct_nxc;
	n->of = ARENA_ARRAY(n->a, const struct uses *, st->distinct_count);
	for (int i = 0; i < st->distinct_count; i++)
		if (n->x->asked[i])
			n->of[i] = uses_find(n, i, other[i]);
	units_find(n);
}

/* The time of a use with a weight per resource. */
static double weighted(const struct needs *n, const struct use *use, const double *weight)
{
	const struct peaks *k = n->st->on.peaks;
	double ns = use->unit >= 0 ? weight[use->unit] * use->ops_ns : 0;
	if (use->memory_bytes > 0 && weight[RESOURCE_MEMORY] > 0)
		ns += weight[RESOURCE_MEMORY] * use->memory_bytes / k->bandwidth_bytes_s * 1e9;
	if (use->level >= 0)
		ns += weight[RESOURCE_CACHE + use->level] * use->fast_bytes /
			k->level[use->level].bandwidth_bytes_s * 1e9;
	return isnan(ns) ? 0 : ns; /* an unknown peak bounds nothing */
}

static double least_use(const struct needs *n, int distinct, const double *weight)
{
	const struct uses *u = n->of[distinct];
	double least = u->count ? INFINITY : NAN;
	for (int i = 0; i < u->count; i++)
		least = fmin(least, weighted(n, &u->list[i], weight));
	return least;
}

/* The least that all layers use: the choice of groups is that of a solution whose prices are the uses.
 * What an assumed kernel uses is unknown and counts as nothing, like a layer without a price. */
static double least_total(const struct needs *n, const double *weight)
{
	const struct study *st = n->st;
	const struct solution *x = n->x;
	struct solution y = *x;
	struct price_list uses = { .prices = ARENA_ARRAY(n->a, struct price, st->distinct_count),
		.ns = ARENA_ARRAY(n->a, double, st->distinct_count),
		.state = ARENA_ARRAY(n->a, uint8_t, st->distinct_count) };
	double total = 0;
	y.list = &uses;
	y.best = NULL;
	y.placed = NULL;
	y.assumed_layer = NULL;
	y.assumed_group = x->assumed_group ? ARENA_ARRAY(n->a, struct price, st->groups) : NULL;
	y.cost = ARENA_ARRAY(n->a, double, st->node_count);
	y.sum.chosen = ARENA_ARRAY(n->a, int, st->plan->layer_count);
	y.sum.cost = ARENA_ARRAY(n->a, double, st->node_count);
	for (int i = 0; i < st->distinct_count; i++) {
		if (!x->asked[i])
			continue;
		uses.state[i] = solution_list(x, i)->state[i];
		uses.prices[i].estimated = uses.state[i] & PRICE_ESTIMATED;
		uses.prices[i].ns = uses.ns[i] = least_use(n, i, weight);
	}
	for (int i = 0; i < st->node_count; i++) {
		int problem = st->node_problem[i], layer = st->node_layer[i];
		bool assumed = layer >= 0 && x->assumed_layer && x->assumed_layer[layer].assumed;
		y.cost[i] = isnan(x->cost[i]) ? NAN : problem < 0 || assumed ? 0 : uses.ns[problem];
	}
	for (int i = 0; x->assumed_group && i < st->groups; i++) {
		y.assumed_group[i] = x->assumed_group[i];
		y.assumed_group[i].ns = 0;
	}
	solve_choices(st, n->a, &y, false);
	for (int i = 0; i < st->node_count; i++)
		total += y.sum.cost[i];
	return total;
}

/* The time for which the choice for the longest path uses each resource: no less than the least. */
static void present_use(const struct needs *n, double *busy)
{
	const struct study *st = n->st;
	for (int i = 0; i < st->node_count; i++) {
		int problem = n->x->parallel.ran[i];
		const struct price *price = problem >= 0 ? n->x->parallel.price[i] : NULL;
		if (price && !isnan(price->ns) && !price->assumed)
			roofline_resources(st, n->s, solution_list(n->x, problem), problem, price, 1, busy);
	}
}

static double peak_of_unit(const struct needs *n, int unit)
{
	const struct peaks *k = n->st->on.peaks;
	return unit >= RESOURCE_MATRIX ? k->matrix_flops[unit - RESOURCE_MATRIX] :
		k->flops[unit - RESOURCE_PLAIN];
}

/* Takes the least total of a weighting if it is higher than the present one; `units` are the resources that
 * it weights, as bits of n->units, or (one) a single RESOURCE_*. */
static void offer(const struct needs *n, const double *weight, const double *busy, unsigned units, int one,
	struct solution *out)
{
	double most = 0;
	for (int i = 0; i < RESOURCE_COUNT; i++)
		most += weight[i] * busy[i];
	if (!(most > out->path_ns) || !(most > out->busy_ns))
		return;
	double ns = least_total(n, weight);
	if (!(ns > out->busy_ns))
		return;
	out->busy_ns = ns;
	out->resource = one;
	out->with_count = 0;
	for (int i = 0; one < 0 && i < n->unit_count; i++) {
		if (!(units >> i & 1))
			continue;
		if (out->resource < 0)
			out->resource = n->units[i];
		else
			out->with[out->with_count++] = n->units[i];
	}
}

static void offer_units(const struct needs *n, const double *busy, struct solution *out)
{
	for (unsigned units = 1; units < 1u << n->unit_count; units++) {
		double weight[RESOURCE_COUNT] = { 0 }, all = 0;
		if (!(units & (units - 1)))
			continue; /* one alone is offered before */
		for (int i = 0; i < n->unit_count; i++)
			all += units >> i & 1 ? peak_of_unit(n, n->units[i]) : 0;
		for (int i = 0; i < n->unit_count; i++)
			weight[n->units[i]] = units >> i & 1 ? peak_of_unit(n, n->units[i]) / all : 0;
		if (all > 0)
			offer(n, weight, busy, units, -1, out);
	}
}

void solve_resources(const struct study *st, const struct scenario *s, struct solution *out)
{
	double busy[RESOURCE_COUNT] = { 0 }, most = 0;
	struct solution x = *out;
	struct arena scratch = { 0 };
	struct needs n = { .st = st, .s = s, .a = &scratch, .x = &x };
	present_use(&n, busy);
	for (int i = 0; i < RESOURCE_COUNT; i++)
		most = fmax(most, busy[i]);
	out->busy_ns = most;
	if (most > out->path_ns) {
		out->busy_ns = 0;
		all_uses(&n);
		for (int i = 0; i < RESOURCE_COUNT; i++) {
			double weight[RESOURCE_COUNT] = { 0 };
			weight[i] = 1;
			offer(&n, weight, busy, 0, i, out);
		}
		offer_units(&n, busy, out);
	}
	arena_free(&scratch);
}
