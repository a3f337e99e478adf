/* The interval of a measured cost. */
#ifndef ANALYZE_ROOF_INTERVAL_H
#define ANALYZE_ROOF_INTERVAL_H

#include "problem/result.h"

/* ---- interval.c: intervals of costs, and that of a total from them */
struct interval {
	bool known, is_range;   /* is_range: of 2 to 5 samples, too few for a 95% interval */
	bool one_sided;         /* what it may be less is due to other work alone, which only adds time */
	double lo, hi;
};

/* Of the samples of a result; without one, the ends are its cost. */
struct interval interval_of(const struct result *r);
/* An interval of a result's cost with the range of costs that it had at several times, for what is compared
 * with another measurement. In a total the range is common to its parts. */
struct interval interval_at_times(double lo, double hi, const struct result *r);

#endif
