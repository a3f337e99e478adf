/* The data of the charts of time: the schedule as bars, the costs in falling order, and the steps from the
 * bound to a real latency. */
#include "config.h"

#include "analyze/tables/charts.h"

#include <math.h>
#include <stdlib.h>

static int by_start(const void *x, const void *y)
{
	const struct bar *a = x, *b = y;
	return a->start != b->start ? (a->start < b->start ? -1 : 1) : a->layer - b->layer;
}

static void bar_add(struct bars *s, int layer, const struct layer_cost *c, bool critical)
{
	double start = s->is_path ? c->start_ns : s->end_ns;
	s->list[s->count++] = (struct bar){ .layer = layer, .start = start, .end = start + c->ns,
		.slack = s->is_path ? c->slack_ns : NAN, .critical = critical, .guess = cost_is_guess(c) };
	s->end_ns = fmax(s->end_ns, start + c->ns);
	s->longest = fmax(s->longest, c->ns);
	s->longest_with_slack = fmax(s->longest_with_slack, c->ns + (s->is_path ? fmax(c->slack_ns, 0) : 0));
}

struct bars bars_of(struct arena *arena, const struct analysis *a, const struct plan *p)
{
	struct bars s = { .list = ARENA_ARRAY(arena, struct bar, p->layer_count + 1),
		.bar_of = ARENA_ARRAY(arena, int, p->layer_count + 1),
		.is_path = scenario_has_path(&a->scenario) };
	int *lanes = ARENA_ARRAY(arena, int, p->layer_count + 1);
	for (int i = 0; i < p->layer_count; i++) {
		const struct layer_cost *c = &a->layers[i];
		bool missing = isnan(c->ns) || (s.is_path && isnan(c->start_ns));
		s.bar_of[i] = -1;
		s.unknown += missing && !plan_layer_is_folded(p, &p->layers[i]);
		if (!missing && c->ns > 0)
			bar_add(&s, i, c, s.is_path && c->critical && a->complete);
	}
	if (s.count && s.is_path) /* else they are in this order */
		qsort(s.list, (size_t)s.count, sizeof(*s.list), by_start);
	s.lane_count = s.is_path ? schedule_lanes(p, a, lanes) : s.count > 0;
	for (int i = 0; i < s.count; i++) {
		s.bar_of[s.list[i].layer] = i;
		s.list[i].lane = s.is_path ? lanes[s.list[i].layer] : 0;
	}
	return s;
}

static int falling(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

struct cost_shares cost_shares_of(struct arena *arena, const struct analysis *a)
{
	struct cost_shares s = { .ns = ARENA_ARRAY(arena, double, a->layer_count + 1) };
	double sum = 0;
	for (int i = 0; i < a->layer_count; i++)
		if (a->layers[i].ns > 0) {
			s.ns[s.count++] = a->layers[i].ns;
			s.all_ns += a->layers[i].ns;
		}
	if (s.count)
		qsort(s.ns, (size_t)s.count, sizeof(*s.ns), falling);
	for (int i = 0; i < s.count; i++) {
		s.half += sum < 0.5 * s.all_ns;
		s.most += sum < 0.9 * s.all_ns;
		sum += s.ns[i];
	}
	return s;
}

#define SHARE_SEEN 0.0005 /* a smaller gap is 0.0% of the latency */

bool gap_is_seen(const struct reality *y, enum gap_kind kind)
{
	return fabs(y->gaps[kind].ns) >= SHARE_SEEN * y->measured_ns;
}

static int by_size(const void *x, const void *y, void *reality)
{
	const struct gap *gaps = ((const struct reality *)reality)->gaps;
	double a = gaps[((const struct fall *)x)->kind].ns, b = gaps[((const struct fall *)y)->kind].ns;
	return (a < b) - (a > b);
}

struct waterfall waterfall_of(const struct reality *y)
{
	struct waterfall w = { .count = 0 };
	double at = isnan(y->bound_ns) ? 0 : y->bound_ns;
	for (int k = 0; k < GAP_COUNT; k++)
		if (gap_is_seen(y, (enum gap_kind)k))
			w.steps[w.count++].kind = (enum gap_kind)k;
	qsort_r(w.steps, (size_t)w.count, sizeof(*w.steps), by_size, (void *)(uintptr_t)y);
	w.most_ns = fmax(at, y->measured_ns);
	for (int i = 0; i < w.count; i++) {
		w.steps[i].from_ns = at;
		w.steps[i].to_ns = at += y->gaps[w.steps[i].kind].ns;
		w.most_ns = fmax(w.most_ns, at);
	}
	return w;
}
