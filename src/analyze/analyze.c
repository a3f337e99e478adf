#include "config.h"

#include "analyze/analyze_private.h"

#include <math.h>

#define INTERVAL_SAMPLES 6 /* least for a 95% interval of the median by order statistics */

const char *origin_name(enum origin o)
{
	static const char *const names[ORIGIN_COUNT] = { "missing", "measured", "proxy", "free", "fused",
		"estimated", "assumed", "unsupported" };
	return o >= 0 && o < ORIGIN_COUNT ? names[o] : "?";
}

struct interval {
	bool known, is_range;   /* is_range: of 2 to 5 samples, for which there is no interval of 95% */
	double lo, hi;
};

/* Records may hold one sample's value as its own interval: that says nothing. */
static struct interval interval_of(const struct result *r)
{
	const struct sample_stats *s = &r->stats;
	if (s->n == 1 || !isfinite(s->lo) || !isfinite(s->hi) || s->lo > s->median || s->hi < s->median || s->lo < 0)
		return (struct interval){ .lo = NAN, .hi = NAN };
	return (struct interval){ .known = true, .is_range = s->n < INTERVAL_SAMPLES, .lo = s->lo, .hi = s->hi };
}

/* One layer paid for by the measurement of a distinct problem (its own or its group's). */
static void fill_priced(struct layer_cost *c, const struct study *st, const struct scenario *s, int distinct,
	const struct price *price, bool proxy)
{
	c->result = price->result;
	c->preferred_ns = s->best ? study_price(st, s, distinct, false).ns : price->ns;
	if (st->on.peaks)
		c->roofline_ns = roofline_of_text(study_text(st, distinct), st->on.peaks, s, price->result, st->cache);
	if (price->estimated) {
		c->ns = price->ns;
		c->preferred_ns = NAN;
		c->origin = ORIGIN_ESTIMATED;
		return;
	}
	if (!price->result) {
		c->origin = price->unsupported ? ORIGIN_UNSUPPORTED : ORIGIN_MISSING;
		c->why = price->answered ? study_why(st, s, distinct) : NULL;
		return;
	}
	struct interval v = interval_of(price->result);
	c->ns = price->ns;
	c->lo = v.lo;
	c->hi = v.hi;
	c->origin = proxy ? ORIGIN_PROXY : ORIGIN_MEASURED;
}

static void fill_layer(struct layer_cost *c, const struct study *st, const struct scenario *s,
	const struct solution *x, const struct plan_layer *l, int group)
{
	int own = plan_layer_problem_index(st->plan, l, st->nxc);
	*c = (struct layer_cost){ .ns = NAN, .lo = NAN, .hi = NAN, .preferred_ns = NAN, .slack_ns = NAN,
		.roofline_ns = NAN };
	c->group = group >= 0 ? &st->fusion->groups[group] : NULL;
	if (c->group && c->group->layers[0] == l->index) {
		int distinct = study_group_distinct(st, c->group);
		fill_priced(c, st, s, distinct, &x->prices[distinct], false);
	} else if (c->group || l->class == CLASS_FREE) {
		c->ns = c->lo = c->hi = c->preferred_ns = c->roofline_ns = 0;
		c->origin = c->group ? ORIGIN_FUSED : ORIGIN_FREE;
	} else if (own >= 0) {
		fill_priced(c, st, s, own, &x->prices[own], l->proxy);
	} else {
		c->why = l->why;
	}
}

/* Start, slack and path of the active choice, of the layers that have a cost. A group is one node, its last
 * layer; its others show the same. */
static void fill_schedule(struct analysis *out, const struct study *st, const double *cost, struct arena *scratch)
{
	double *start = ARENA_ARRAY(scratch, double, st->node_count);
	double *slack = ARENA_ARRAY(scratch, double, st->node_count);
	bool *critical = ARENA_ARRAY(scratch, bool, st->node_count);
	double length = critical_path(st->node_count, cost, st->first, st->edges, start, slack, critical);
	bool known = length > 0 && !isnan(out->bound_ns);
	for (int i = 0; i < out->layer_count; i++) {
		struct layer_cost *c = &out->layers[i];
		int node = st->layer_node[c->group ? c->group->layers[c->group->layer_count - 1] : i];
		c->start_ns = known && !isnan(c->ns) ? start[node] : NAN;
		c->slack_ns = known && !isnan(c->ns) ? slack[node] : NAN;
		c->critical = known && !isnan(c->ns) && critical[node];
	}
}

static void count_layer(struct coverage *c, enum origin origin)
{
	int *const counters[ORIGIN_COUNT] = { &c->missing, &c->measured, &c->proxy, &c->free, &c->fused,
		&c->estimated, &c->assumed, &c->unsupported };
	c->layers++;
	++*counters[origin];
}

/* Is the layer in a group that was measured? */
static bool is_fused_measured(const struct analysis *a, const struct layer_cost *c)
{
	return c->origin == ORIGIN_FUSED && a->layers[c->group->layers[0]].origin == ORIGIN_MEASURED;
}

static void fill_coverage(struct analysis *out, const struct plan *p)
{
	double known = 0, measured = 0, cost = 0, proxy = 0, guess = 0;
	for (int i = 0; i < out->layer_count; i++) {
		const struct layer_cost *c = &out->layers[i];
		double flops = p->layers[i].flops;
		count_layer(&out->coverage, c->origin);
		if (!isnan(flops) && c->origin != ORIGIN_FREE) {
			known += flops;
			measured += c->origin == ORIGIN_MEASURED || is_fused_measured(out, c) ? flops : 0;
		}
		cost += isnan(c->ns) ? 0 : c->ns;
		proxy += c->origin == ORIGIN_PROXY ? c->ns : 0;
		guess += c->origin == ORIGIN_ESTIMATED ? c->ns : 0;
	}
	out->coverage.flops_measured_share = known > 0 ? measured / known : NAN;
	out->coverage.cost_proxy_share = cost > 0 ? proxy / cost : NAN;
	out->coverage.cost_estimated_share = cost > 0 ? guess / cost : NAN;
}

/* The ends between which a bound may lie: what the nodes cost at their lows and at their highs, added up or
 * followed as the scenario has it, under the choice that the layers show. */
static void fill_interval(struct analysis *out, const struct study *st, const struct solution *x, const int *chosen,
	struct arena *scratch)
{
	double *lo = ARENA_ARRAY(scratch, double, st->node_count), *hi = ARENA_ARRAY(scratch, double, st->node_count);
	bool any = false;
	for (int i = 0; i < st->node_count; i++) {
		int problem = solution_problem(st, chosen, i);
		if (problem < 0 || isnan(x->prices[problem].ns))
			continue;
		const struct result *r = x->prices[problem].result;
		struct interval v = r ? interval_of(r) : (struct interval){ 0 };
		lo[i] = v.known ? v.lo : x->prices[problem].ns;
		hi[i] = v.known ? v.hi : x->prices[problem].ns;
		out->without_interval += !v.known;
		any |= v.known;
		out->range_intervals += v.is_range;
		out->lo_ns += lo[i];
		out->hi_ns += hi[i];
	}
	if (out->scenario.parallel) {
		out->lo_ns = critical_path(st->node_count, lo, st->first, st->edges, NULL, NULL, NULL);
		out->hi_ns = critical_path(st->node_count, hi, st->first, st->edges, NULL, NULL, NULL);
	}
	if (out->enqueue_ns > out->lo_ns) /* the host's part has no interval; NaN compares false */
		out->lo_ns = out->enqueue_ns;
	if (out->enqueue_ns > out->hi_ns)
		out->hi_ns = out->enqueue_ns;
	if (isnan(out->bound_ns) || (out->without_interval && !any))
		out->lo_ns = out->hi_ns = NAN;
}

/* The roofline of all that runs: one that is not known leaves the whole unknown. */
static void fill_roofline(struct analysis *out, const struct study *st, const struct scenario *s,
	const struct solution *x, const int *chosen, struct arena *scratch)
{
	double *cost = ARENA_ARRAY(scratch, double, st->node_count), total = 0;
	bool whole = st->on.peaks != NULL;
	for (int i = 0; whole && i < st->node_count; i++) {
		int problem = solution_problem(st, chosen, i), layer = st->node_layer[i];
		bool is_free = layer >= 0 && (chosen[layer] >= 0 || st->plan->layers[layer].class == CLASS_FREE);
		if (problem >= 0)
			cost[i] = roofline_of_text(study_text(st, problem), st->on.peaks, s, x->prices[problem].result,
				st->cache);
		whole = problem >= 0 ? !isnan(cost[i]) : is_free;
		total += cost[i];
	}
	out->roofline_ns = !whole ? NAN : !s->parallel ? total :
		critical_path(st->node_count, cost, st->first, st->edges, NULL, NULL, NULL);
}

struct analysis *analyze_on(struct arena *a, const struct ground *g, const struct scenario *s)
{
	struct arena scratch = { 0 };
	struct study st;
	struct solution x;
	const struct plan *p = g->plan;
	study_open(&st, g, s->nxc, s->fusion);
	solve(&st, s, &scratch, &x);
	struct analysis *out = ARENA_NEW(a, struct analysis);
	*out = (struct analysis){
		.scenario = *s,
		.layer_count = p->layer_count,
		.layers = ARENA_ARRAY(a, struct layer_cost, p->layer_count),
		.bound_ns = s->parallel ? x.parallel_ns : x.sequential_ns,
		.sequential_ns = x.sequential_ns,
		.parallel_ns = x.parallel_ns,
		.border_ns = x.border_ns,
		.border_estimated = x.border_estimated,
		.conversions = st.nxc ? p->conversion_count : 0,
		.complete = s->parallel ? x.complete_path : x.complete_sum,
		.estimated = s->parallel ? x.estimated_path : x.estimated_sum,
		.enqueue_ns = s->parallel ? x.enqueue_path : x.enqueue_sum,
		.cache = st.cache,
		.unmeasured_problems = x.unmeasured,
	};
	out->host_bound = out->enqueue_ns >= out->bound_ns; /* NaN compares false */
	const int *chosen = s->parallel ? x.chosen_path : x.chosen_sum;
	for (int i = 0; i < p->layer_count; i++)
		fill_layer(&out->layers[i], &st, s, &x, &p->layers[i], chosen[i]);
	fill_schedule(out, &st, s->parallel ? x.cost_path : x.cost_sum, &scratch);
	fill_interval(out, &st, &x, chosen, &scratch);
	fill_roofline(out, &st, s, &x, chosen, &scratch);
	fill_coverage(out, p);
	arena_free(&scratch);
	study_close(&st);
	return out;
}

struct analysis *analyze(struct arena *a, const struct plan *p, const struct fusion *f, const struct results *r,
	const struct device *d, const struct scenario *s)
{
	struct ground g = { .plan = p, .fusion = f, .results = r, .device = d };
	return analyze_on(a, &g, s);
}

