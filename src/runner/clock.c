#include "config.h"

#include "runner/clock.h"

#include <time.h>

double clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Monotonic seconds since boot times 1e9 stay below 2^53 for a hundred days; a double then still tells nanoseconds. */
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
