/* Deals branches to lanes by falling time, each to the lane that ends first. */
#include "config.h"

#include "runner/beside/deal.h"

void deal_threads(struct deal *d, int lanes, int threads)
{
	*d = (struct deal){ .lanes = lanes };
	for (int i = 0; i < lanes; i++) /* the remainder goes to the last lanes */
		d->threads[i] = threads / lanes + (i >= lanes - threads % lanes);
}

static int longest(const double *cost, const bool *dealt, int branches)
{
	int most = -1;
	for (int i = 0; i < branches; i++)
		if (!dealt[i] && (most < 0 || cost[i] > cost[most]))
			most = i;
	return most;
}

/* Longest processing time first: at most 4/3 of the best (Graham 1969). */
void deal_branches(struct deal *d, const double *cost, int branches)
{
	double load[LANES_MOST] = { 0 };
	bool dealt[BESIDE_BRANCHES] = { false };
	for (int n = 0; n < branches; n++) {
		int branch = longest(cost, dealt, branches), best = 0;
		for (int i = 1; i < d->lanes; i++)
			if ((load[i] + cost[branch]) / d->threads[i] <
				(load[best] + cost[branch]) / d->threads[best])
				best = i;
		dealt[branch] = true;
		load[best] += cost[branch];
		d->lane[branch] = best;
	}
}

void deal_by_cost(struct deal *d, const double *cost, int branches, int threads)
{
	double load[LANES_MOST] = { 0 };
	deal_threads(d, d->lanes, d->lanes); /* one each */
	deal_branches(d, cost, branches);
	for (int i = 0; i < branches; i++)
		load[d->lane[i]] += cost[i];
	for (int left = threads - d->lanes; left > 0; left--) { /* one more to the lane that ends last */
		int last = 0;
		for (int i = 1; i < d->lanes; i++)
			if (load[i] / d->threads[i] > load[last] / d->threads[last])
				last = i;
		d->threads[last]++;
	}
	for (int i = 1; i < d->lanes; i++) /* ascending */
		for (int k = i; k > 0 && d->threads[k] < d->threads[k - 1]; k--) {
			int t = d->threads[k];
			d->threads[k] = d->threads[k - 1];
			d->threads[k - 1] = t;
		}
	deal_branches(d, cost, branches);
}
