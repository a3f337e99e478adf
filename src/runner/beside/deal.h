/* Which branch runs on which lane, and with how many threads. */
#ifndef RUNNER_DEAL_H
#define RUNNER_DEAL_H

#include <stdbool.h>

#include "problem/beside.h"
#include "runner/host/lanes.h"

struct deal {
	int lanes;
	int threads[LANES_MOST];       /* of each lane, ascending */
	int lane[BESIDE_BRANCHES];     /* of each branch */
};

/* Equal shares of the threads for `lanes` lanes; the branches are not dealt yet. */
void deal_threads(struct deal *d, int lanes, int threads);
/* Deals the branches to the lanes: the longest first, each to the lane that then ends first. cost: of a
 * branch with an equal share of the threads; unequal lanes take cost / threads. */
void deal_branches(struct deal *d, const double *cost, int branches);
/* Shares the threads by the cost of the branches of each lane, at least one each, and deals again. */
void deal_by_cost(struct deal *d, const double *cost, int branches, int threads);

#endif
