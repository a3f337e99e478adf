#include "config.h"

#include "analyze/analyze.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

/* Longest path through node i by brute force: recursion over all paths up and down. */
static double up(const double *cost, const int *first, const int *edges, int i)
{
	double best = 0;
	for (int e = first[i]; e < first[i + 1]; e++) {
		double x = up(cost, first, edges, edges[e]);
		best = x > best ? x : best;
	}
	return best + cost[i];
}

static double down(int n, const double *cost, const int *first, const int *edges, int i)
{
	double best = 0;
	for (int k = i + 1; k < n; k++)
		for (int e = first[k]; e < first[k + 1]; e++)
			if (edges[e] == i) {
				double x = down(n, cost, first, edges, k);
				best = x > best ? x : best;
			}
	return best + cost[i];
}

static uint32_t random_state = 7;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 8;
}

static void diamond(void)
{
	/* 0 -> 1 -> 3, 0 -> 2 -> 3 */
	const double cost[] = { 1, 5, 2, 1 };
	const int first[] = { 0, 0, 1, 2, 4 }, edges[] = { 0, 0, 1, 2 };
	double start[4], slack[4];
	bool critical[4];
	near(critical_path(4, cost, first, edges, start, slack, critical), 7, 0, "diamond: length");
	ok(slack[0] == 0 && slack[1] == 0 && slack[2] == 3 && slack[3] == 0, "diamond: slack");
	ok(critical[0] && critical[1] && !critical[2] && critical[3], "diamond: critical");
	ok(start[0] == 0 && start[1] == 1 && start[2] == 1 && start[3] == 6, "diamond: starts");
	near(critical_path(4, cost, first, edges, NULL, NULL, NULL), 7, 0, "length alone");
}

static void several_components(void)
{
	/* two outputs and a lone node: 0 -> 1, 0 -> 2, 3 */
	const double cost[] = { 1, 2, 4, 3 };
	const int first[] = { 0, 0, 1, 2, 2 }, edges[] = { 0, 0 };
	double slack[4];
	bool critical[4];
	near(critical_path(4, cost, first, edges, NULL, slack, critical), 5, 0, "the longer of the outputs");
	ok(slack[1] == 2 && slack[3] == 2 && !critical[3], "the lone node has the room of the whole path");
	ok(critical[0] && critical[2], "the path is marked");
}

static void ties_and_nothing(void)
{
	const double cost[] = { 1, 2, 2, 1 }, zero[] = { 0, 0 };
	const int first[] = { 0, 0, 1, 2, 4 }, edges[] = { 0, 0, 1, 2 }, none[] = { 0, 0, 0 };
	bool critical[4];
	critical_path(4, cost, first, edges, NULL, NULL, critical);
	ok(critical[1] && critical[2], "equally long paths are both critical");
	double slack[2];
	near(critical_path(2, zero, none, NULL, NULL, slack, critical), 0, 0, "no cost, no length");
	ok(!critical[0] && slack[0] == 0, "a path of length 0 has no critical layer");
	near(critical_path(0, NULL, none, NULL, NULL, NULL, NULL), 0, 0, "an empty graph");
}

static void rounding(void)
{
	/* 0.1 three times against 0.3: different in the last bit, no room that means anything */
	const double cost[] = { 0.1, 0.1, 0.1, 0.3 };
	const int first[] = { 0, 0, 1, 2, 2 }, edges[] = { 0, 1 };
	bool critical[4];
	critical_path(4, cost, first, edges, NULL, NULL, critical);
	ok(critical[0] && critical[1] && critical[2] && critical[3], "rounding is no slack");
}

static bool random_graph(void)
{
	enum { N = 12 };
	double cost[N], start[N], slack[N];
	int first[N + 1], edges[N * N], count = 0;
	bool critical[N], good = true;
	for (int i = 0; i < N; i++) {
		cost[i] = next_random() % 8;
		first[i] = count;
		for (int k = 0; k < i; k++)
			if (next_random() % 4 == 0)
				edges[count++] = k;
	}
	first[N] = count;
	double length = critical_path(N, cost, first, edges, start, slack, critical), longest = 0;
	for (int i = 0; i < N; i++) {
		double through = up(cost, first, edges, i) + down(N, cost, first, edges, i) - cost[i];
		good &= slack[i] == length - through && critical[i] == (through == length && length > 0);
		good &= start[i] == up(cost, first, edges, i) - cost[i];
		longest = through > longest ? through : longest;
	}
	return good && longest == length;
}

/* Shortening one node by its slack changes nothing, lengthening it by more does. */
static bool slack_holds(void)
{
	enum { N = 10 };
	double cost[N], slack[N];
	int first[N + 1], edges[N * N], count = 0;
	bool good = true;
	for (int i = 0; i < N; i++) {
		cost[i] = 1 + next_random() % 9;
		first[i] = count;
		for (int k = 0; k < i; k++)
			if (next_random() % 3 == 0)
				edges[count++] = k;
	}
	first[N] = count;
	double length = critical_path(N, cost, first, edges, NULL, slack, NULL);
	for (int i = 0; i < N; i++) {
		cost[i] += slack[i];
		good &= critical_path(N, cost, first, edges, NULL, NULL, NULL) == length;
		cost[i] += 1;
		good &= critical_path(N, cost, first, edges, NULL, NULL, NULL) == length + 1;
		cost[i] -= slack[i] + 1;
	}
	return good;
}

/* 0 -> 1 -> 3, 0 -> 2 -> 3, equally long; 2 ends later by a rounding error, but 1 is the heir of 0. */
static void tied_lanes(void)
{
	static int preds[][2] = { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 1, 2 } };
	struct plan_layer layers[4] = { { .index = 0 } };
	struct layer_cost costs[4] = { { .ns = 0 } };
	for (int i = 0; i < 4; i++) {
		layers[i].preds = preds[i];
		layers[i].pred_count = i == 0 ? 0 : i == 3 ? 2 : 1;
		costs[i] = (struct layer_cost){ .ns = i == 2 ? 5 + 1e-12 : 5,
			.start_ns = i == 0 ? 0 : i == 3 ? 10 : 5, .critical = true };
	}
	struct plan p = { .layer_count = 4, .layers = layers };
	struct analysis a = { .layer_count = 4, .layers = costs };
	int lane[4];
	is_int(schedule_lanes(&p, &a, lane), 2, "lanes of two paths");
	ok(lane[0] == 0 && lane[2] == 0 && lane[3] == 0 && lane[1] == 1, "one stays in the first lane");
}

/* 0 -> 1, 0 -> 2 (critical) -> 6, 0 -> 3 -> 4 (no time) -> 5 -> 6 */
static void lanes(void)
{
	static const double cost[] = { 1, 1, 5, 2, 0, 1, 1 }, start[] = { 0, 1, 1, 1, 3, 3, 6 };
	static const double slack[] = { 0, 5, 0, 2, 2, 2, 0 };
	static int preds[][2] = { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 3, 0 }, { 4, 0 }, { 2, 5 } };
	struct plan_layer layers[7] = { { .index = 0 } };
	struct layer_cost costs[7] = { { .ns = 0 } };
	for (int i = 0; i < 7; i++) {
		layers[i].preds = preds[i];
		layers[i].pred_count = i == 0 ? 0 : i == 6 ? 2 : 1;
		costs[i] = (struct layer_cost){ .ns = cost[i], .start_ns = start[i], .slack_ns = slack[i],
			.critical = slack[i] == 0 };
	}
	struct plan p = { .layer_count = 7, .layers = layers };
	struct analysis a = { .layer_count = 7, .layers = costs };
	int lane[7];
	is_int(schedule_lanes(&p, &a, lane), 3, "lanes");
	ok(lane[0] == 0 && lane[2] == 0 && lane[6] == 0, "the critical path is the first");
	ok(lane[1] == 1 && lane[3] == 2 && lane[4] == -1, "what starts beside it");
	is_int(lane[5], 2, "a row goes on in its lane, though a lower one is idle");
	costs[2].ns = costs[0].ns = NAN;
	is_int(schedule_lanes(&p, &a, lane), 2, "without some of them");
}

int main(void)
{
	tied_lanes();
	lanes();
	diamond();
	several_components();
	ties_and_nothing();
	rounding();
	int good = 0;
	for (int i = 0; i < 300; i++)
		good += random_graph();
	is_int(good, 300, "random graphs agree with all paths tried");
	good = 0;
	for (int i = 0; i < 200; i++)
		good += slack_holds();
	is_int(good, 200, "slack is exactly the room there is");
	return done_testing();
}
