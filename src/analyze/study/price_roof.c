/* Rooflines of prices, and what they use of each resource; kept in the study and its lists. */
#include "config.h"

#include "analyze/study/price.h"

#include <math.h>

struct roof roofline_of_found(const struct study *st, int distinct, const struct result *r)
{
	struct roof *kept = &st->roofs[distinct];
	if (!kept->known || kept->of != r)
		*kept = roofline_check(st->on.peaks ? study_problem(st, distinct) : NULL, st->on.peaks, r);
	return *kept;
}

/* True if a price is that of the list: what follows from it may be kept there. */
static bool is_listed(const struct price_list *list, int distinct, const struct price *price)
{
	const struct price *kept = &list->prices[distinct];
	return kept->known && kept->result == price->result && kept->guess == price->guess;
}

struct roof roofline_of_price(const struct study *st, const struct scenario *s, int distinct,
	const struct price *price)
{
	const struct result *r = price->result;
	struct price_list *list = study_prices(st, s, s->best);
	bool listed = is_listed(list, distinct, price);
	struct roof *kept = listed ? &study_roofs(st, list)[distinct] : &st->roofs[distinct];
	if (r)
		return kept->known && kept->of == r ? *kept :
			(*kept = roofline_of_found(st, distinct, r));
	struct scenario units = price_units(s, price);
	if (kept->known && !kept->of && kept->matrix == units.matrix && kept->relaxed == units.relaxed &&
		kept->cache == st->cache)
		return *kept;
	const struct problem *p = st->on.peaks ? study_problem(st, distinct) : NULL;
	return *kept = (struct roof){ .known = true, .matrix = units.matrix, .relaxed = units.relaxed,
		.cache = st->cache, .ns = p ? scenario_roofline(p, st->on.peaks, &units, st->cache) : NAN };
}

/* Adds to busy_ns the time for which `times` runs of a problem use each resource at its peak. */
static void use_add(const struct study *st, const struct use *use, int times, double *busy_ns)
{
	const struct peaks *k = st->on.peaks;
	if (use->unit >= 0)
		busy_ns[use->unit] += times * use->ops_ns;
	if (use->memory_bytes > 0)
		busy_ns[RESOURCE_MEMORY] += times * use->memory_bytes / k->bandwidth_bytes_s * 1e9;
	if (use->level >= 0)
		busy_ns[RESOURCE_CACHE + use->level] +=
			times * use->fast_bytes / k->level[use->level].bandwidth_bytes_s * 1e9;
}

const char *study_no_estimate(
	struct arena *a, const struct study *st, const struct scenario *s, int distinct)
{
	const struct peaks *k = st->on.peaks;
	const struct problem *p = k ? study_problem(st, distinct) : NULL;
	return p ? roofline_why(a, p, k, s) : NULL;
}

struct use price_use(
	const struct study *st, const struct scenario *s, int distinct, const struct price *price)
{
	const struct result *r = price->result;
	const struct calibration_row *row = price->estimated ? price->guess->row : NULL;
	struct scenario units = price_units(s, price);
	const struct problem *p = study_problem(st, distinct);
	return !p ? (struct use){ .known = true, .unit = -1, .level = -1 } :
		roofline_use(p, st->on.peaks, &units, r ? r->cache : st->cache, r, price->ns,
			row && row->kind == CALIBRATION_CONV_WINOGRAD);
}

void roofline_resources(const struct study *st, const struct scenario *s, struct price_list *list,
	int distinct, const struct price *price, int times, double *busy_ns)
{
	struct use one, *use = &one;
	if (is_listed(list, distinct, price))
		use = &study_uses(st, list)[distinct];
	if (use == &one || !use->known)
		*use = price_use(st, s, distinct, price);
	use_add(st, use, times, busy_ns);
}
