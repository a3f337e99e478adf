/* Critical path method (Kelley, Walker 1959): a forward pass in topological order computes the earliest
 * starts, a backward pass the latest finishes; slack = latest finish - cost - earliest start, and nodes
 * without slack are critical. O(n + edges). */
#include "config.h"

#include "analyze/choose/critical_path.h"
#include "base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* A slack below this share of the path's length is rounding error. */
#define SLACK_EPSILON 1e-9

/* Forward pass: earliest starts. Returns the length: the latest finish of all nodes. */
static double earliest_starts(int n, const double *cost, const int *first, const int *edges, double *start)
{
	double length = 0;
	for (int i = 0; i < n; i++) {
		assert(cost[i] >= 0);
		double ready = 0;
		for (int e = first[i]; e < first[i + 1]; e++) {
			int pred = edges[e];
			assert(pred >= 0 && pred < i);
			if (start[pred] + cost[pred] > ready)
				ready = start[pred] + cost[pred];
		}
		start[i] = ready;
		if (ready + cost[i] > length)
			length = ready + cost[i];
	}
	return length;
}

/* Backward pass: how late each node can finish without lengthening the path. */
static void latest_finishes(int n, const double *cost, const int *first, const int *edges, double length,
	double *latest)
{
	for (int i = 0; i < n; i++)
		latest[i] = length;
	for (int i = n - 1; i >= 0; i--) {
		double bound = latest[i] - cost[i];
		for (int e = first[i]; e < first[i + 1]; e++)
			if (bound < latest[edges[e]])
				latest[edges[e]] = bound;
	}
}

/* Earliest starts, latest finishes and slack as above; a slack below SLACK_EPSILON of the length counts
 * as 0, because the two passes add in different orders. Only the length and starts are computed if the
 * caller wants no slack. O(n + edges) time, at most 2 n doubles of memory. */
double critical_path(int n, const double *cost, const int *first, const int *edges, double *start,
	double *slack, bool *critical)
{
	double *starts = start ? start : base_malloc((size_t)n * sizeof(*starts));
	double length = earliest_starts(n, cost, first, edges, starts);
	if (slack || critical) {
		double *latest = base_malloc((size_t)n * sizeof(*latest));
		latest_finishes(n, cost, first, edges, length, latest);
		for (int i = 0; i < n; i++) {
			double room = latest[i] - cost[i] - starts[i];
			if (room <= length * SLACK_EPSILON)
				room = 0;
			if (slack)
				slack[i] = room;
			if (critical)
				critical[i] = room == 0 && length > 0;
		}
		free(latest);
	}
	if (!start)
		free(starts);
	return length;
}
