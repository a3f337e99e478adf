/* Makes an analysis of a solution: the cost of each layer, its place in the schedule, and how much of the
 * model is measured. */
#include "config.h"

#include "analyze/bound/bound_private.h"
#include "analyze/branches/beside_private.h"

#include <math.h>

/* A kernel that does hardly any work: its operands, operations, and the share of its time that the peaks
 * account for. */
#define LITTLE_BYTES 65536
#define LITTLE_FLOPS 1e6
#define LITTLE_SHARE 0.1

const char *origin_name(enum origin o)
{
	static const char *const names[ORIGIN_COUNT] = { "missing", "measured", "proxy", "free", "fused",
		"estimated", "assumed", "rough", "unsupported" };
	return o >= 0 && o < ORIGIN_COUNT ? names[o] : "?";
}

int analysis_folded_into(const struct analysis *a, const struct plan *p, int layer)
{
	while (layer >= 0 && a->layers[layer].folded)
		layer = plan_fold_target(p, &p->layers[layer]);
	return layer;
}

bool cost_is_guess(const struct layer_cost *c)
{
	return c->origin == ORIGIN_PROXY || c->origin == ORIGIN_ESTIMATED || c->origin == ORIGIN_ROUGH ||
		c->at_least;
}

double cost_weight(const struct layer_cost *c)
{
	return isnan(c->ns) ? 0 : c->mistrusted ? fmax(c->ns, c->roofline_ns) : c->ns;
}

void analysis_cache_describe(const struct analysis *a, struct str *out)
{
	static const char *const words[] = { [CACHE_NET] = "activations are in the caches, constants are not",
		[CACHE_WARM] = "as the previous execution left them", [CACHE_COLD] = "nothing is in them" };
	enum cache c = cache_plain(a->cache);
	char bytes[STR_QUANTITY];
	bool between = c > CACHE_NEAREST && cache_is_distance(c) && a->reuse_bytes < cache_distance(c);
	if (cache_is_distance(c))
		str_addf(out, "%s%s%s: %s read between two uses of a constant",
			between ? cache_name((enum cache)(a->cache - 1)) : "", between ? " to " : "",
			cache_name(a->cache), str_bytes(bytes, a->reuse_bytes));
	else
		str_addf(out, "%s: %s", cache_name(a->cache), words[c]);
	str_addf(out, "%s", cache_is_huge(a->cache) ? "; pages of 2 MiB" : "");
	if (a->coverage.nearer)
		str_addf(out, "; %d layer%s measured at a shorter distance, for lack of memory",
			a->coverage.nearer, a->coverage.nearer == 1 ? "" : "s");
}

const char *analysis_mark(const struct analysis *a)
{
	static const char *const marks[2][2][2] = { { { "at least ", "partial ~" },
							    { "partial rough ", "partial rough ~" } },
		{ { "", "~" }, { "rough ", "rough ~" } } };
	return marks[a->complete][a->rough][a->estimated];
}

const char *analysis_share_mark(const struct analysis *a)
{
	return a->complete && !a->estimated ? "" : "~";
}

const char *analysis_other_mark(const struct analysis *a)
{
	static const char *const marks[2][2] = { { "at most ", "at most ~" },
		{ "at most rough ", "at most rough ~" } };
	return a->parallel_at_most && a->complete ? marks[a->rough][a->estimated] : analysis_mark(a);
}

static void fill_layer(struct arena *a, struct layer_cost *c, const struct study *st,
	const struct scenario *s, const struct solution *x, const struct plan_layer *l, const int *chosen)
{
	int group = chosen[l->index];
	cost_none(c);
	c->group = group >= 0 ? &st->fusion->groups[group] : NULL;
	if (c->group && c->group->layers[0] == l->index) {
		int node = st->layer_node[st->group_last[group]];
		int distinct = x->placed && x->placed[node].used ? x->placed[node].problem :
			study_group_distinct(st, c->group);
		cost_priced(a, c, st, s, distinct, solution_price(x, chosen, node), c->group->proxy);
		int copy = fusion_copy(c->group);
		if (copy >= 0)
			cost_copy(a, c, st, s, copy, solution_at(x, copy));
	} else if (c->group) {
		cost_nothing(c, ORIGIN_FUSED);
	} else {
		int node = st->layer_node[l->index], problem = x->placed && x->placed[node].used ?
			x->placed[node].problem : plan_layer_problem_index(st->plan, l, st->nxc);
		cost_alone(a, c, st, s, x, l, problem, solution_price(x, chosen, node));
		if (plan_layer_is_control(l))
			cost_assume(c, st, s, l->index);
	}
}

/* Start, slack and critical path of the active choice, for layers with a cost. All layers of a group have the
 * values of its last layer; those of a join the values of its member with the least slack. Also the overhead,
 * `least`. */
static void fill_schedule(struct analysis *out, const struct study *st, const struct solution *x,
	const int *chosen, const double *cost, double least, struct arena *scratch)
{
	double *start = ARENA_ARRAY(scratch, double, st->node_count);
	double *slack = ARENA_ARRAY(scratch, double, st->node_count);
	bool *critical = ARENA_ARRAY(scratch, bool, st->node_count);
	double length = solution_path(st, x, chosen, cost, start, slack, critical);
	bool known = length > 0 && !isnan(out->total_ns), joins = st->fusion && st->fusion->contest_count;
	for (int i = 0; i < out->layer_count; i++) {
		struct layer_cost *c = &out->layers[i];
		const struct fusion_group *g = joins ? c->group : NULL;
		int node = st->layer_node[chosen[i] >= 0 ? st->group_last[chosen[i]] : i];
		for (int k = 0; g && g->join && k < g->join->member_count; k++) {
			int member = st->layer_node[g->join->members[k]];
			node = !k || slack[member] < slack[node] ? member : node;
		}
		c->start_ns = known && !isnan(c->ns) ? start[node] : NAN;
		c->slack_ns = known && !isnan(c->ns) ? slack[node] : NAN;
		c->critical = known && !isnan(c->ns) && critical[node];
		if (c->result)
			c->overhead_ns = least;
	}
}

static void count_layer(struct coverage *c, enum origin origin)
{
	int *const counters[ORIGIN_COUNT] = { &c->missing, &c->measured, &c->proxy, &c->free, &c->fused,
		&c->estimated, &c->assumed, &c->rough, &c->unsupported };
	c->layers++;
	++*counters[origin];
}

/* True if the layer is in a group that was measured. */
static bool is_fused_measured(const struct analysis *a, const struct layer_cost *c)
{
	return c->origin == ORIGIN_FUSED && a->layers[c->group->layers[0]].origin == ORIGIN_MEASURED;
}

/* Fills the layers and, in the same pass over the plan, the coverage. */
static void fill_layers(struct arena *a, struct analysis *out, const struct study *st,
	const struct scenario *s, const struct solution *x, const int *chosen)
{
	double known = 0, measured = 0, cost = 0, proxy = 0, guess = 0, doubt = 0;
	for (int i = 0; i < out->layer_count; i++) {
		struct layer_cost *c = &out->layers[i];
		fill_layer(a, c, st, s, x, &st->plan->layers[i], chosen);
		double flops = st->plan->layers[i].flops;
		count_layer(&out->coverage, c->origin);
		if (!isnan(flops) && c->origin != ORIGIN_FREE) {
			known += flops;
			measured += c->origin == ORIGIN_MEASURED || is_fused_measured(out, c) ? flops : 0;
		}
		double weight = cost_weight(c);
		cost += weight;
		proxy += c->origin == ORIGIN_PROXY ? weight : 0;
		guess += c->origin == ORIGIN_ESTIMATED ? weight : 0;
		doubt += c->mistrusted ? weight : 0;
		out->coverage.mistrusted += c->mistrusted;
		out->coverage.folded += c->folded;
		out->coverage.nearest += c->nearest;
		out->coverage.nearer += c->nearer;
		out->coverage.at_least += c->at_least;
		out->coverage.noisy += !c->mistrusted && c->noisy;
	}
	out->coverage.flops_measured_share = known > 0 ? measured / known : NAN;
	out->coverage.cost_proxy_share = cost > 0 ? proxy / cost : NAN;
	out->coverage.cost_estimated_share = cost > 0 ? guess / cost : NAN;
	out->coverage.cost_mistrusted_share = cost > 0 ? doubt / cost : NAN;
}

static bool is_little(const struct study *st, int problem)
{
	if (!st->little[problem]) {
		struct problem p;
		problem_restore(st->plan->problems[problem].problem, &p);
		bool little = problem_bytes(&p) <= LITTLE_BYTES && problem_flops(&p) <= LITTLE_FLOPS;
		st->little[problem] = little ? 1 : -1;
	}
	return st->little[problem] > 0;
}

/* The shortest kernel of the model that does hardly any work: what each kernel takes at least. NaN: none is
 * measured, or the peaks are unknown. */
static double shortest_kernel(const struct study *st, const struct scenario *s, const struct solution *x)
{
	double least = NAN;
	for (int i = 0; st->on.peaks && i < st->plan->problem_count; i++) {
		const struct price *price = solution_at(x, i);
		if (!x->asked[i] || !is_little(st, i) || !price->result || price->rough || price->ns >= least)
			continue;
		if (roofline_of_price(st, s, i, price).ns <= LITTLE_SHARE * price->ns)
			least = price->ns;
	}
	return least;
}

/* The roofline at a node of a layer or group, as its layers have it. */
static double layer_roofline(const struct analysis *out, const struct study *st, const int *chosen, int layer)
{
	int group = chosen[layer];
	if (group < 0)
		return out->layers[layer].roofline_ns;
	int anchor = st->fusion->groups[group].layers[0];
	return st->group_last[group] == layer ? out->layers[anchor].roofline_ns : 0;
}

/* The sum or longest path of all rooflines; unknown if one of them is. One that is longer than the cost is of
 * a peak that is too low, and counts with the cost. */
static void fill_roofline(struct analysis *out, const struct study *st, const struct scenario *s,
	const struct solution *x, const int *chosen, struct arena *scratch)
{
	double *cost = ARENA_ARRAY(scratch, double, st->node_count), total = 0;
	bool whole = st->on.peaks != NULL, joins = st->fusion && st->fusion->contest_count,
	     plain = !x->placed && !x->assumed_layer && !joins;
	for (int i = 0; whole && i < st->node_count; i++) {
		int problem = solution_problem(x, chosen, i), layer = st->node_layer[i];
		bool is_free = layer >= 0 && (chosen[layer] >= 0 || (x->folds && x->folds[layer]) ||
			st->plan->layers[layer].class == CLASS_FREE);
		const struct layer_cost *inside = solution_inside(st, x, i);
		if (inside)
			cost[i] = inside->roofline_ns;
		else if (plain && problem >= 0 && layer >= 0)
			cost[i] = layer_roofline(out, st, chosen, layer);
		else if (problem >= 0)
			cost[i] = roofline_of_price(st, s, problem, solution_price(x, chosen, i)).ns;
		else if (layer < 0 && x->placed) /* a conversion that is not needed */
			is_free |= !x->placed[i].used;
		whole = problem >= 0 || inside ? !isnan(cost[i]) : is_free;
		const struct price *price = solution_price(x, chosen, i);
		double ns = inside ? inside->ns : price ? price->ns : NAN;
		if (cost[i] > ns) { /* NaN compares false */
			out->above_peak += inside || price->result;
			cost[i] = ns;
		}
		total += cost[i];
	}
	if (x->besides)
		total -= beside_over_longest(x, cost);
	out->roofline_ns = !whole ? NAN : !scenario_has_path(s) ? total :
		solution_path(st, x, chosen, cost, NULL, NULL, NULL);
	if (s->parallel == PARALLEL_RESOURCES && x->busy_ns > out->roofline_ns) /* NaN compares false */
		out->roofline_ns = fmin(x->busy_ns, total);
}

static int conversions_used(const struct study *st, const struct solution *x)
{
	int used = 0;
	for (int i = 0; i < st->conversion_count; i++)
		used += !x->placed || x->placed[st->conversion_node[i]].used;
	return used;
}

/* "memory", "f32 units and tf32 matrix units"; NULL: no resource is the limit. */
static const char *limit_text(struct arena *a, const struct study *st, const struct solution *x)
{
	const char *text = x->resource < 0 ? NULL : resource_name(a, st->on.peaks, x->resource);
	for (int i = 0; text && i < x->with_count; i++)
		text = arena_printf(a, "%s and %s", text, resource_name(a, st->on.peaks, x->with[i]));
	return text;
}

static void fill_besides(
	struct arena *a, struct analysis *out, const struct study *st, const struct solution *x)
{
	const struct besides *b = x->besides;
	out->besides = ARENA_ARRAY(a, struct beside_cost, b->count);
	out->beside_saves_ns = b->saves_ns;
	out->beside_unmeasured = b->lacking_count;
	for (int i = 0; i < b->count; i++) {
		const struct beside_priced *r = &b->sets[i];
		int total = r->set->first[r->set->branch_count], *layers = ARENA_ARRAY(a, int, total),
		    *branch = ARENA_ARRAY(a, int, total), count = 0;
		if (!r->text)
			continue;
		for (int k = 0, of = 0; k < total; k++) {
			of += k == r->set->first[of + 1];
			if (st->node_layer[r->set->node[k]] < 0) /* a cast or conversion */
				continue;
			layers[count] = st->node_layer[r->set->node[k]];
			branch[count++] = of;
		}
		out->besides[out->beside_count++] = (struct beside_cost){
			.text = arena_strndup(a, r->text, strlen(r->text)), .layers = layers,
			.branch = branch, .layer_count = count, .branch_count = r->set->branch_count,
			.alone_ns = r->alone_ns, .ns = r->price.ns, .result = r->price.result, .why = r->why,
			.mistrusted = st->on.peaks && r->price.result &&
				study_mistrusts_beside(st, r->text, r->price.result),
			.used = r->chosen };
		out->beside_mistrusted += r->chosen && out->besides[out->beside_count - 1].mistrusted;
		out->rough |= r->chosen && r->price.rough;
	}
}

struct analysis *analysis_make(
	struct arena *a, const struct study *st, const struct scenario *s, const struct solution *x)
{
	struct arena scratch = { 0 };
	struct scenario own = *s;
	own.fold = x->folds != NULL; /* as it was solved */
	const struct study view = study_view(st, &own);
	const struct plan *p = st->plan;
	const struct total *t = solution_total(x, s);
	struct analysis *out = ARENA_NEW(a, struct analysis);
	*out = (struct analysis){
		.scenario = *s,
		.layer_count = p->layer_count,
		.layers = ARENA_ARRAY(a, struct layer_cost, p->layer_count),
		.total_ns = t->ns,
		.bound_ns = t->floor_ns,
		.bound_sequential_ns = x->sum.floor_ns,
		.bound_parallel_ns = x->parallel.floor_ns,
		.sequential_ns = x->sum.ns,
		.parallel_ns = x->parallel.ns,
		.parallel_at_most = !s->parallel && st->layouts && s->fusion,
		.path_ns = x->path_ns,
		.resource_ns = isnan(x->busy_ns) ? NAN : x->busy_ns > x->path_ns ? x->busy_ns : x->path_ns,
		.limit = limit_text(a, st, x),
		.border_ns = x->border_ns,
		.border_estimated = x->border_estimated,
		.conversions = conversions_used(st, x),
		.layouts_exact = x->layouts_exact,
		.complete = t->complete,
		.estimated = t->estimated,
		.rough = t->rough,
		.enqueue_ns = t->enqueue_ns,
		.cache = view.cache,
		.reuse_bytes = st->plan->reuse_bytes,
		.unmeasured_problems = x->unmeasured,
	};
	st = &view;
	s = &own;
	out->host_bound = out->enqueue_ns >= out->total_ns; /* NaN compares false */
	const int *chosen = t->chosen;
	fill_layers(a, out, st, s, x, chosen);
	if (x->besides)
		fill_besides(a, out, st, x);
	fill_schedule(out, st, x, chosen, t->cost, shortest_kernel(st, s, x), &scratch);
	arena_free(&scratch);
	interval_fill(out, st, x, chosen, &scratch);
	arena_free(&scratch);
	fill_roofline(out, st, s, x, chosen, &scratch);
	out->apart = study_apart(st, a, s->fold, &out->apart_count);
	out->peaks = st->on.peaks;
	arena_free(&scratch);
	return out;
}

const struct result *analyze_pick(
	const struct analysis *a, const struct results *r, const char *problem)
{
	bool overwrites = true;
	for (int i = 0; i < a->apart_count && overwrites; i++)
		overwrites = strcmp(a->apart[i], problem) != 0;
	return results_pick(r, problem, &a->scenario, a->cache, a->reuse_bytes, a->peaks, overwrites);
}
