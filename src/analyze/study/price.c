/* The interval of a price, and a price with an assumption. */
#include "config.h"

#include "analyze/study/price.h"

#include "problem/stats.h"

#include <math.h>

#define RANGE_SAMPLES 3 /* fewest samples whose range says how low a median may be */

/* True if the lower end of a price with a result is that of the roofline: a quick or noisy measurement, or
 * too few samples: 3 of a median, STATS_COST_SAMPLES of a 10th percentile. */
static bool needs_roof(const struct price *p)
{
	const struct sample_stats *s = &p->result->stats;
	int64_t least = s->p10 > 0 ? STATS_COST_SAMPLES : RANGE_SAMPLES;
	return p->rough || s->n < least || s->stop == STOP_DISTURBED;
}

/* The high end of a suspect cost is its roofline. */
static struct interval measured_interval(const struct price *p, const struct roof *roof)
{
	const struct sample_stats *s = &p->result->stats;
	struct interval v = interval_of(p->result);
	bool disturbed = s->stop == STOP_DISTURBED;
	if (v.is_range) /* the slow side of a few samples is other work: it is no wider than the fast one */
		v.hi = fmax(p->ns, fmin(v.hi, 2 * s->median - (s->min > 0 ? s->min : v.lo)));
	if (disturbed)
		v.hi = p->ns;
	if (roof->mistrusted && roof->ns > v.hi) {
		v.hi = roof->ns;
		v.known = true;
	}
	if (needs_roof(p) && !isnan(roof->ns)) {
		v.lo = fmin(v.lo, roof->ns);
		v.known = v.one_sided = true;
	} else if (disturbed && v.known) {
		v.lo = s->min > 0 ? fmin(v.lo, s->min) : v.lo;
		v.one_sided = true;
	}
	return v;
}

void price_interval(struct price *price, const struct roof *roof)
{
	struct interval v = { .lo = NAN, .hi = NAN };
	if (price->result)
		v = measured_interval(price, roof);
	else if (price->estimated && !isnan(price->guess->lo))
		v = (struct interval){ .known = true, .lo = price->guess->lo, .hi = price->guess->hi };
	if (price->nearer) { /* all constants may come from memory, and nothing else be read meanwhile */
		v.hi += price->far_ns;
		v.known = v.known && !isnan(v.hi);
	}
	price->lo = v.known ? v.lo : NAN;
	price->hi = v.known ? v.hi : NAN;
	price->is_range = v.is_range;
	price->one_sided = v.one_sided;
}

struct interval interval_of_price(const struct price *p)
{
	return (struct interval){ .known = !isnan(p->lo), .is_range = p->is_range, .one_sided = p->one_sided,
		.lo = p->lo, .hi = p->hi };
}

struct price price_assumed(
	const struct study *st, const struct scenario *s, int layer, const struct price *price)
{
	return price_assumed_by(s->assume && st->on.assumed ? &st->on.assumed[layer] : NULL, price);
}

struct price price_assumed_by(const struct assumption *by, const struct price *price)
{
	struct price p = *price;
	if (!by || by->kind == ASSUME_NOTHING || (by->kind == ASSUME_FACTOR && isnan(p.ns)))
		return p;
	struct interval old = interval_of_price(price);
	bool time = by->kind == ASSUME_TIME;
	p.ns = time ? by->value : p.ns / by->value;
	p.lo = time ? by->value : old.known ? old.lo / by->value : NAN;
	p.hi = time ? by->value : old.known ? old.hi / by->value : NAN;
	p.result = NULL;
	p.is_range = false;
	p.enqueue_ns = NAN;
	p.noisy = false;
	p.estimated &= !time;
	p.rough &= !time;
	p.guess = p.estimated ? p.guess : NULL;
	p.answered = p.assumed = p.known = true;
	p.unsupported = false;
	return p;
}
