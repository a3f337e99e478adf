/* Branches of problems side by side (problem/beside.h): the threads are split into lanes, each branch runs on
 * one, its problems one after the other with the lane's threads. The algorithms are ways to split; each
 * problem runs the fastest of its own strict algorithms with that number of threads. An execution begins
 * on all lanes at once and ends with the last. */
#include "config.h"

#include "runner/measure/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/beside/deal.h"
#include "runner/host/team.h"
#include "runner/measure/branches.h"

#define WAYS_MOST 8

struct way {
	int lanes;
	bool by_cost;  /* shares by the time of the lanes; else equal ones */
	bool matrix;   /* algorithms on matrix units are allowed */
};

struct offers_of {
	struct problem problem;
	struct way way[WAYS_MOST];
	struct algorithm algorithm[WAYS_MOST];
	char name[WAYS_MOST][48];
	int count;
};

struct work {
	struct way way;
	struct branches branches;
	struct deal deal;
	struct lanes *lanes;
	enum cache cache;
	struct error error[LANES_MOST];
	int returned[LANES_MOST];
	struct str kernels;
};

/* ---- the ways ---- */

static void way_add(struct offers_of *o, int lanes, bool by_cost, bool matrix)
{
	struct deal d;
	int i = o->count++, n;
	o->way[i] = (struct way){ lanes, by_cost, matrix };
	deal_threads(&d, lanes, team_size());
	n = snprintf(o->name[i], sizeof(o->name[i]), by_cost ? "by_cost:%d_lanes" : "threads:", lanes);
	for (int k = 0; k < lanes && !by_cost; k++)
		n += snprintf(o->name[i] + n, sizeof(o->name[i]) - (size_t)n, "%s%d", k ? "+" : "",
			d.threads[k]);
	if (matrix)
		snprintf(o->name[i] + n, sizeof(o->name[i]) - (size_t)n, ":matrix");
	o->algorithm[i] = (struct algorithm){ .api = "beside", .name = o->name[i], .layouts = "",
		.math = "strict", .rank = i, .matrix = matrix ? MATRIX_YES : MATRIX_NO,
		.workspace_bytes = NAN, .notes = "" };
}

/* As many lanes as branches (or threads), and two; with equal shares, and by what they take. */
static void ways_add(struct offers_of *o, int branches, bool matrix)
{
	int threads = team_size(), most = branches < threads ? branches : threads;
	for (int lanes = most; lanes >= 2; lanes = lanes > 2 ? 2 : 0) {
		way_add(o, lanes, false, matrix);
		if (threads > lanes)
			way_add(o, lanes, true, matrix);
	}
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	struct beside b;
	bool matrix = false, plain = true;
	*list = (struct backend_list){ 0 };
	if (team_size() < 2)
		return error_set(
			err, "branches run side by side on two threads or more; this runner has one");
	if (beside_split(text_of(p->branches), &b, err) || branches_look(p, &matrix, &plain, err))
		return -1;
	struct offers_of *o = base_calloc(1, sizeof(*o));
	memcpy(&o->problem, p, sizeof(*p));
	if (matrix)
		ways_add(o, b.branch_count, true);
	if (plain)
		ways_add(o, b.branch_count, false);
	list->count = o->count;
	list->algorithm = o->algorithm;
	list->state = o;
	return 0;
}

/* ---- the work ---- */

/* The algorithms of all problems, with the threads of their lanes. */
static int steps_choose(struct work *w, double memory_bytes, struct error *err)
{
	const struct beside *b = &w->branches.beside;
	int bad = 0;
	for (int i = 0; i < b->branch_count; i++)
		for (int k = b->first[i]; k < b->first[i + 1] && !bad; k++) {
			int threads = w->deal.threads[w->deal.lane[i]];
			team_share(threads);
			bad = branch_choose(&w->branches.step[k], threads, w->way.matrix, memory_bytes, err);
			team_share(0);
		}
	return bad;
}

/* Deals the branches by what they take with an equal share, and chooses their algorithms. */
static int deal_make(struct work *w, double memory_bytes, struct error *err)
{
	double cost[BESIDE_BRANCHES];
	deal_threads(&w->deal, w->way.lanes, team_size());
	if (steps_choose(w, memory_bytes, err))
		return -1;
	int count = w->branches.beside.branch_count;
	for (int i = 0; i < count; i++)
		cost[i] = branch_cost(&w->branches, i);
	if (w->way.by_cost)
		deal_by_cost(&w->deal, cost, count, team_size());
	else
		deal_branches(&w->deal, cost, count);
	return steps_choose(w, memory_bytes, err);
}

static void release(void *work)
{
	struct work *w = work;
	branches_close(&w->branches);
	if (w->lanes)
		lanes_close(w->lanes);
	str_free(&w->kernels);
	free(w);
}

static int steps_prepare(
	struct work *w, const struct backend_limits *limits, enum status *status, struct error *err)
{
	struct backend_limits each = *limits;
	int bad = 0;
	each.memory_bytes = limits->memory_bytes / w->branches.beside.part_count;
	for (int i = 0; i < w->branches.beside.part_count && !bad; i++) {
		team_share(w->branches.step[i].threads);
		bad = branch_prepare(&w->branches.step[i], &each, status, err);
		team_share(0);
	}
	return bad;
}

static void *prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	struct offers_of *o = list->state;
	struct work *w = base_calloc(1, sizeof(*w));
	*status = STATUS_FAILED;
	w->way = o->way[index];
	int bad = branches_open(&w->branches, &o->problem, w->way.matrix, err) ||
		deal_make(w, limits->memory_bytes, err) || steps_prepare(w, limits, status, err);
	if (!bad && !(w->lanes = lanes_open(w->deal.threads, w->deal.lanes)))
		bad = error_set(err, "no threads for %d lanes", w->deal.lanes);
	if (!bad)
		return w;
	release(w);
	return NULL;
}

static void lane_execute(void *argument, int lane)
{
	struct work *w = argument;
	const struct beside *b = &w->branches.beside;
	double ns;
	for (int i = 0; i < b->branch_count; i++)
		for (int k = b->first[i]; w->deal.lane[i] == lane && k < b->first[i + 1]; k++) {
			struct branch_step *s = &w->branches.step[k];
			if (!w->returned[lane])
				w->returned[lane] =
					s->backend->run(s->work, w->cache, 1, &ns, &w->error[lane]);
		}
}

static int run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	struct work *w = work;
	w->cache = cache;
	memset(w->returned, 0, sizeof(w->returned));
	*elapsed_ns = lanes_run(w->lanes, lane_execute, w, times);
	for (int i = 0; i < w->deal.lanes; i++)
		if (w->returned[i]) {
			*err = w->error[i];
			return w->returned[i];
		}
	return 0;
}

static int check(void *work, double *worst, struct error *err)
{
	return branches_check(&((struct work *)work)->branches, worst, err);
}

static double rotated_bytes(const void *work, enum cache cache)
{
	return branches_rotated_bytes(&((const struct work *)work)->branches, cache);
}

/* A line for each problem: its lane, threads and algorithm. */
static const char *kernels(void *work)
{
	struct work *w = work;
	const struct beside *b = &w->branches.beside;
	for (int i = 0, known = w->kernels.n > 0; i < b->branch_count && !known; i++)
		for (int k = b->first[i]; k < b->first[i + 1]; k++) {
			const struct branch_step *s = &w->branches.step[k];
			str_addf(&w->kernels, "lane %d, %d thread%s: ", w->deal.lane[i] + 1, s->threads,
				s->threads == 1 ? "" : "s");
			beside_ran_write(&w->kernels, s->problem.kernel, &s->algorithm);
		}
	return w->kernels.p ? w->kernels.p : "";
}

const struct backend backend_beside = { .api = "beside",
	.branches = true,
	.algorithms = algorithms,
	.forget = backend_forget,
	.prepare = prepare,
	.run = run,
	.check = check,
	.rotated_bytes = rotated_bytes,
	.kernels = kernels,
	.release = release };
