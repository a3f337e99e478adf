/* The interval of a measured cost. */
#include "config.h"

#include "analyze/roof/roof.h"

#include "problem/stats.h"

#include <math.h>

#define INTERVAL_SAMPLES 6 /* fewest samples for a 95% interval of the median by order statistics */

/* Records can have a single sample as its own interval; that is not an interval. */
struct interval interval_of(const struct result *r)
{
	const struct sample_stats *s = &r->stats;
	double cost = stats_cost(s), lo = stats_cost_lo(s), hi = stats_cost_hi(s);
	if (s->n == 1 || !isfinite(lo) || !isfinite(hi) || lo > cost || hi < cost || lo < 0)
		return (struct interval){ .lo = cost, .hi = cost };
	return (struct interval){ .known = true, .is_range = s->n < INTERVAL_SAMPLES, .lo = lo, .hi = hi };
}

struct interval interval_at_times(double lo, double hi, const struct result *r)
{
	bool several = r && r->times > 1;
	return (struct interval){ .known = !isnan(lo), .lo = several && lo > r->least_ns ? r->least_ns : lo,
		.hi = several && hi < r->most_ns ? r->most_ns : hi };
}
