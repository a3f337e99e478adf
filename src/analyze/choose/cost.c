/* Cost of one layer by itself: from the measurement of its problem, or from the layers of its bodies. */
#include "config.h"

#include "analyze/choose/solution.h"

#include <math.h>

void cost_none(struct layer_cost *c)
{
	*c = (struct layer_cost){ .ns = NAN, .lo = NAN, .hi = NAN, .floor_ns = NAN, .preferred_ns = NAN,
		.slack_ns = NAN, .start_ns = NAN, .roofline_ns = NAN, .overhead_ns = NAN };
}

void cost_nothing(struct layer_cost *c, enum origin origin)
{
	c->ns = c->lo = c->hi = c->floor_ns = c->preferred_ns = c->roofline_ns = 0;
	c->origin = origin;
}

static void cost_assumed(struct layer_cost *c, const struct study *st, const struct scenario *s, int distinct,
	const struct price *price)
{
	static const struct price none = { .ns = NAN };
	c->ns = price->ns;
	c->lo = price->lo;
	c->hi = price->hi;
	c->floor_ns = price_floor(price);
	c->origin = ORIGIN_ASSUMED;
	c->roofline_ns = distinct >= 0 ? roofline_of_price(st, s, distinct, &none).ns : 0;
}

static void cost_assume_by(struct layer_cost *c, const struct assumption *by)
{
	struct price own = { .ns = c->ns, .lo = c->lo, .hi = c->hi, .assumed = true,
		.enqueue_ns = NAN };
	struct price price = price_assumed_by(by, &own);
	if (by->kind == ASSUME_NOTHING || isnan(price.ns))
		return;
	c->result = NULL;
	c->noisy = c->capped = c->disputed = false;
	c->floor_ns = c->ns = price.ns;
	c->lo = price.lo;
	c->hi = price.hi;
	c->origin = ORIGIN_ASSUMED;
	c->preferred_ns = NAN;
	c->at_least = c->mistrusted = c->nearest = false;
	c->why = NULL;
}

void cost_assume(struct layer_cost *c, const struct study *st, const struct scenario *s, int layer)
{
	if (s->assume && st->on.assumed)
		cost_assume_by(c, &st->on.assumed[layer]);
}

void cost_priced(struct arena *a, struct layer_cost *c, const struct study *st, const struct scenario *s,
	int distinct, const struct price *price, bool proxy)
{
	if (price->assumed) {
		cost_assumed(c, st, s, distinct, price);
		return;
	}
	c->result = price->result;
	c->padded = price->padded;
	c->noisy = price->noisy;
	c->capped = price->capped;
	c->nearer = price->nearer;
	c->disputed = price->result && price->result->disputed;
	bool choice = s->best && !price->estimated; /* an estimate has one algorithm */
	c->preferred_ns = choice ? study_list_ns(st, study_prices(st, s, false), s, distinct) : price->ns;
	struct roof roof = roofline_of_price(st, s, distinct, price);
	c->roofline_ns = roof.ns;
	c->mistrusted = roof.mistrusted;
	c->floor_ns = price_floor(price);
	if (price->estimated) {
		c->ns = price->ns;
		c->lo = price->guess->lo;
		c->hi = price->guess->hi;
		c->row = price->guess->row;
		c->nearest = price->guess->nearest;
		c->matrix = price->guess->matrix;
		c->relaxed = price->guess->relaxed;
		c->overhead_ns = price->guess->overhead_ns;
		c->computes = price->guess->ops_ns >= price->guess->bytes_ns;
		c->preferred_ns = NAN;
		c->origin = ORIGIN_ESTIMATED;
		return;
	}
	if (!price->result) {
		c->origin = price->unsupported ? ORIGIN_UNSUPPORTED : ORIGIN_MISSING;
		c->why = price->answered ? study_why(st, s, distinct) : st->on.estimate ?
			study_no_estimate(a, st, s, distinct) : study_elsewhere(a, st, s, distinct);
		return;
	}
	c->ns = price->ns;
	c->lo = price->lo;
	c->hi = price->hi;
	c->origin = price->rough ? ORIGIN_ROUGH : proxy ? ORIGIN_PROXY : ORIGIN_MEASURED;
}

void cost_copy(struct arena *a, struct layer_cost *c, const struct study *st, const struct scenario *s,
	int distinct, const struct price *price)
{
	struct layer_cost copy;
	cost_none(&copy);
	cost_priced(a, &copy, st, s, distinct, price, true);
	c->ns += copy.ns;
	c->floor_ns += copy.floor_ns;
	c->lo += isnan(copy.lo) ? copy.ns : copy.lo;
	c->hi += isnan(copy.hi) ? copy.ns : copy.hi;
	c->preferred_ns += copy.preferred_ns;
	c->roofline_ns += copy.roofline_ns;
	c->mistrusted |= copy.mistrusted;
	c->origin = copy.origin == ORIGIN_ESTIMATED || copy.origin == ORIGIN_ROUGH ? copy.origin : c->origin;
}

/* ---- bodies */

/* Adds `times` times a part of a layer's cost. The origin is that of the worst part; NaN propagates. */
static void cost_add(struct layer_cost *sum, const struct layer_cost *part, double times)
{
	static const int rank[ORIGIN_COUNT] = { [ORIGIN_MISSING] = 6,
		[ORIGIN_UNSUPPORTED] = 5,
		[ORIGIN_ESTIMATED] = 4,
		[ORIGIN_ROUGH] = 3,
		[ORIGIN_PROXY] = 2,
		[ORIGIN_ASSUMED] = 1,
		[ORIGIN_MEASURED] = 1 };
	if (part->origin == ORIGIN_FREE)
		return;
	if (rank[part->origin] > rank[sum->origin]) {
		sum->origin = part->origin;
		sum->why = part->why;
	}
	sum->ns += times * part->ns;
	sum->floor_ns += times * part->floor_ns;
	sum->lo += times * part->lo;
	sum->hi += times * part->hi;
	sum->preferred_ns += times * part->preferred_ns;
	sum->roofline_ns += times * part->roofline_ns;
	sum->enqueue_ns += isnan(part->enqueue_ns) ? 0 : times * part->enqueue_ns;
	sum->at_least |= part->at_least;
	sum->nearest |= part->nearest;
	sum->mistrusted |= part->mistrusted;
}

/* Sum over the layers of a body. */
static struct layer_cost body_sum(const struct plan *body, const struct layer_cost *layers)
{
	struct layer_cost sum = { .origin = ORIGIN_FREE };
	for (int i = 0; i < body->layer_count; i++)
		cost_add(&sum, &layers[i], 1);
	return sum;
}

/* The branch of lower cost; one without a cost wins, because it may be cheaper. */
static const struct layer_cost *cheaper(const struct layer_cost *x, const struct layer_cost *y)
{
	return isnan(x->ns) ? x : isnan(y->ns) || y->ns < x->ns ? y : x;
}

static void cost_inside(struct arena *a, struct layer_cost *c, const struct study *st,
	const struct scenario *s, const struct solution *x, const struct plan_layer *l)
{
	struct layer_cost total = { .origin = ORIGIN_FREE }, branches[2];
	bool unknown = true;
	c->bodies = ARENA_ARRAY(a, struct layer_cost *, l->body_count);
	for (int i = 0; i < l->body_count; i++) {
		const struct plan *body = &l->bodies[i];
		c->bodies[i] = ARENA_ARRAY(a, struct layer_cost, body->layer_count);
		for (int k = 0; k < body->layer_count; k++) {
			struct layer_cost *inner = &c->bodies[i][k];
			const struct assumption *time = op_own_time(body->layers[k].op);
			cost_none(inner);
			int problem = body->layers[k].problem;
			cost_alone(a, inner, st, s, x, &body->layers[k], problem,
				problem >= 0 ? solution_at(x, problem) : NULL);
			if (s->assume && time)
				cost_assume_by(inner, time);
		}
		struct layer_cost sum = body_sum(body, c->bodies[i]);
		if (i < 2)
			branches[i] = sum;
		unknown &= isnan(body->times);
		if (body->times != 0)
			cost_add(&total, &sum, isnan(body->times) ? 1 : body->times);
	}
	if (l->body_count == 2 && unknown)
		total = *cheaper(&branches[0], &branches[1]);
	total.at_least |= unknown;
	total.bodies = c->bodies;
	total.start_ns = total.slack_ns = NAN;
	if (!(total.enqueue_ns > 0))
		total.enqueue_ns = NAN;
	if (total.origin == ORIGIN_MISSING || total.origin == ORIGIN_UNSUPPORTED)
		total.ns = total.lo = total.hi = total.preferred_ns = NAN;
	else if (total.at_least)
		total.why = l->why;
	*c = total;
}

void cost_alone(struct arena *a, struct layer_cost *c, const struct study *st, const struct scenario *s,
	const struct solution *x, const struct plan_layer *l, int problem, const struct price *price)
{
	c->enqueue_ns = NAN;
	if (plan_layer_is_control(l) && l->class != CLASS_FREE) {
		cost_inside(a, c, st, s, x, l);
	} else if (price && price->assumed) {
		cost_assumed(c, st, s, problem, price);
	} else if (l->class == CLASS_FREE || (x->folds && plan_layer_folds(l) && x->folds[l->index])) {
		cost_nothing(c, ORIGIN_FREE);
		c->folded = l->class != CLASS_FREE;
	} else if (problem >= 0) {
		cost_priced(a, c, st, s, problem, price, l->proxy);
		if (c->result && isfinite(price->enqueue_ns) && price->enqueue_ns >= 0)
			c->enqueue_ns = price->enqueue_ns;
	} else {
		c->why = l->why;
	}
}
