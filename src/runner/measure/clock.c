/* CLOCK_MONOTONIC in ns. The least time between two readings is its own cost. */
#include "config.h"

#include "runner/measure/clock.h"

#include <time.h>

double clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Minimum time in ns between two readings of the clock. A double holds ns since boot exactly up to 2^53:
 * 104 days. */
static double reading_ns(void)
{
	double least = 1e9;
	for (int i = 0; i < 1000; i++) {
		double begin = clock_ns(), took = clock_ns() - begin;
		if (took < least)
			least = took;
	}
	return least;
}

double clock_elapsed(double begin)
{
	static double overhead = -1;
	double took = clock_ns() - begin;
	if (overhead < 0)
		overhead = reading_ns();
	return took > overhead ? took - overhead : 0;
}
