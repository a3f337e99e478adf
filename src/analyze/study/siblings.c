/* What the results of one algorithm in several states say of each other: costs that are impossible beside
 * those of another state, and costs between two reuse distances. */
#include "config.h"

#include "analyze/study/price.h"

#include <math.h>

#define CAP_TOLERANCE 1.1

/* Warm costs at most what net does, and net what cold does; amortized at most what isolated does. */
static bool costs_at_most(const struct result *r, const struct result *other)
{
	bool nearer = cache_plain(other->cache) == CACHE_COLD ||
		cache_distance(r->cache) <= cache_distance(other->cache);
	return nearer && cache_is_huge(r->cache) == cache_is_huge(other->cache) &&
		(cache_plain(r->cache) != CACHE_COLD || cache_plain(other->cache) == CACHE_COLD) &&
		(r->launch == other->launch || other->launch == LAUNCH_ISOLATED);
}

/* True if the result says how much an algorithm costs at most: it is not noisy, and not below what the peaks
 * allow. */
static bool can_cap(const struct found *f, const struct result *r)
{
	struct problem p;
	return usable(r) && r->stats.stop != STOP_DISTURBED &&
		(!f->peaks || problem_parse(text_of(r->problem), &p, NULL) ||
			!roofline_mistrusts(&p, f->peaks, r));
}

/* The result whose cost counts for that of index i: itself, or the cheapest one of a state that cannot cost
 * less, if its interval ends below (CAP_TOLERANCE: both kinds of samples have errors of their own). Results
 * of an algorithm are adjacent. O(states). */
static const struct result *capped(const struct found *f, int i)
{
	const struct result *r = f->results[i], *least = r;
	int first = i, end = i;
	while (first > 0 && results_same_algorithm(f->results[first - 1], r))
		first--;
	while (end < f->count && results_same_algorithm(f->results[end], r))
		end++;
	for (int k = first; k < end; k++) {
		const struct result *other = f->results[k];
		if (other != r && costs_at_most(r, other) &&
			CAP_TOLERANCE * interval_of(other).hi < interval_of(r).lo &&
			(least == r || stats_cost(&other->stats) < stats_cost(&least->stats)) &&
			can_cap(f, other))
			least = other;
	}
	return least;
}

/* The result that counts at the study's own distance: between r, which is measured at the next larger one,
 * and that of its algorithm at the next smaller one; r itself without that. */
static const struct result *between(const struct found *f, const struct result *r)
{
	if (!cache_is_distance(r->cache) || cache_plain(r->cache) != f->own || !(f->step < 1) || is_brief(r))
		return r;
	for (int i = 0; i < f->count; i++) {
		const struct result *near = f->results[i];
		if (near->cache == r->cache - 1 && near->launch == r->launch && usable(near) &&
			!is_brief(near) && results_same_algorithm(near, r)) /* nearer never costs more */
			return stats_cost(&near->stats) < stats_cost(&r->stats) ?
				results_between(f->of, near, r, f->step) : r;
	}
	return r;
}

const struct result *found_cost(const struct found *f, int i)
{
	const struct result *r = capped(f, i);
	return r == f->results[i] ? between(f, r) : r;
}
