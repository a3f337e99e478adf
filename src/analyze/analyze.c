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
	*c = (struct layer_cost){ .ns = NAN, .lo = NAN, .hi = NAN, .preferred_ns = NAN, .slack_ns = NAN };
	c->group = group >= 0 ? &st->fusion->groups[group] : NULL;
	if (c->group && c->group->layers[0] == l->index) {
		fill_priced(c, st, s, c->group->distinct, &x->prices[c->group->distinct], false);
	} else if (c->group || l->class == CLASS_FREE) {
		c->ns = c->lo = c->hi = c->preferred_ns = 0;
		c->origin = c->group ? ORIGIN_FUSED : ORIGIN_FREE;
	} else if (l->problem >= 0) {
		fill_priced(c, st, s, l->problem, &x->prices[l->problem], l->proxy);
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
		int node = st->first_layer + (c->group ? c->group->layers[c->group->layer_count - 1] : i);
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

static void fill_coverage(struct analysis *out, const struct plan *p)
{
	double known = 0, measured = 0, cost = 0, proxy = 0;
	for (int i = 0; i < out->layer_count; i++) {
		const struct layer_cost *c = &out->layers[i];
		double flops = p->layers[i].flops;
		count_layer(&out->coverage, c->origin);
		if (!isnan(flops) && c->origin != ORIGIN_FREE) {
			known += flops;
			measured += c->origin == ORIGIN_MEASURED || c->origin == ORIGIN_FUSED ? flops : 0;
		}
		cost += isnan(c->ns) ? 0 : c->ns;
		proxy += c->origin == ORIGIN_PROXY ? c->ns : 0;
	}
	out->coverage.flops_measured_share = known > 0 ? measured / known : NAN;
	out->coverage.cost_proxy_share = cost > 0 ? proxy / cost : NAN;
}

/* The ends between which a bound may lie: what the nodes cost at their lows and at their highs, added up or
 * followed as the scenario has it, under the choice that the layers show. */
static void fill_interval(struct analysis *out, const struct study *st, const struct solution *x, const int *chosen,
	struct arena *scratch)
{
	double *lo = ARENA_ARRAY(scratch, double, st->node_count), *hi = ARENA_ARRAY(scratch, double, st->node_count);
	bool any = false;
	for (int i = 0; i < st->node_count; i++) {
		int layer = i - st->first_layer, problem = st->node_problem[i];
		bool is_layer = layer >= 0 && layer < out->layer_count;
		int group = is_layer ? chosen[layer] : -1;
		const struct fusion_group *g = group >= 0 ? &st->fusion->groups[group] : NULL;
		if (g)
			problem = g->layers[g->layer_count - 1] == layer ? g->distinct : -1;
		if (problem < 0 || isnan(x->prices[problem].ns))
			continue;
		struct interval v = interval_of(x->prices[problem].result);
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
	if (isnan(out->bound_ns) || (out->without_interval && !any))
		out->lo_ns = out->hi_ns = NAN;
}

struct analysis *analyze(struct arena *a, const struct plan *p, const struct fusion *f, const struct results *r,
	const struct device *d, const struct scenario *s)
{
	struct arena scratch = { 0 };
	struct study st;
	struct solution x;
	study_open(&st, p, f, r, d, s->fusion);
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
		.complete = s->parallel ? x.complete_path : x.complete_sum,
		.cache = st.cache,
		.unmeasured_problems = x.unmeasured,
	};
	const int *chosen = s->parallel ? x.chosen_path : x.chosen_sum;
	for (int i = 0; i < p->layer_count; i++)
		fill_layer(&out->layers[i], &st, s, &x, &p->layers[i], chosen[i]);
	fill_schedule(out, &st, s->parallel ? x.cost_path : x.cost_sum, &scratch);
	fill_interval(out, &st, &x, chosen, &scratch);
	fill_coverage(out, p);
	arena_free(&scratch);
	study_close(&st);
	return out;
}

struct text_list {
	const struct plan *plan;
	const struct fusion *fusion;
	bool *seen;
	const char **texts;
	int count;
};

static void list_add(struct text_list *l, int distinct)
{
	if (distinct < 0 || l->seen[distinct])
		return;
	l->seen[distinct] = true;
	l->texts[l->count++] = distinct < l->plan->problem_count ?
		l->plan->problems[distinct].text : l->fusion->texts[distinct - l->plan->problem_count];
}

const char **analyze_problems(struct arena *a, const struct plan *p, const struct fusion *f, bool fusion,
	int *count)
{
	fusion = fusion && f;
	int distinct = p->problem_count + (fusion ? f->text_count : 0);
	struct text_list list = {
		.plan = p, .fusion = f, .seen = ARENA_ARRAY(a, bool, distinct),
		.texts = ARENA_ARRAY(a, const char *, distinct),
	};
	for (int i = 0; i < p->layer_count; i++) {
		if (p->layers[i].class != CLASS_FREE)
			list_add(&list, p->layers[i].problem);
		int g = fusion ? f->first_group[i] : -1;
		for (; g >= 0 && g < f->group_count && f->groups[g].layers[0] == i; g++)
			list_add(&list, f->groups[g].distinct);
	}
	for (int i = 0; i < p->border_count; i++)
		list_add(&list, p->borders[i].problem);
	*count = list.count;
	return list.texts;
}
