/* The interval of a total. */
#include "config.h"

#include "analyze/bound/bound_private.h"
#include "analyze/branches/beside_private.h"

#include "problem/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The interval of a total, from those of its costs (interval.c, price.c).
 *
 * A total is a sum of costs, each that of a distinct problem times its uses. How far each end is from it:
 *   - All uses of a problem have the error of its one measurement: their widths add linearly.
 *   - Samples of different problems are taken independently, so the widths of different problems add in
 *     quadrature, as variances do (JCGM 100:2008, Guide to the expression of uncertainty in measurement,
 *     5.1.2; correlated inputs linearly, 5.2.2). The assumption: each end of an interval from order
 *     statistics is as far from the cost as a normal error's would be. Low and high ends are added apart,
 *     since they differ.
 *     Estimates from one row of the calibration share its error, as uses of one problem do.
 *   - What slows a machine down for seconds changes all times of a run alike: half the range of the costs
 *     that were measured several times, and of the others the mean share of all, linearly. The least share,
 *     also of what was measured once, is RUN_SHARE.
 *   - Other work only adds time. What noisy, quick, or too few samples may be too long is no random error: it
 *     only lowers the low end, and linearly (one_sided). All samples may be hit, so the low end of such a
 *     cost is the roofline; without peaks its fastest sample.
 *   - On a busy machine also samples that were not interrupted are longer, all of them, which no quantile
 *     shows. If the share of those that were is LOADED_LEAST or more, the low end of what was measured is
 *     LOADED_SHARE lower.
 * In the longest path, the same holds for the layers on it, and the high end is the highest of those of the
 * paths that are the longest by their costs, low ends, and high ends; the low end alike. Where a peak is the
 * limit, its interval counts (struct peaks). */

#define LOADED_LEAST 0.04  /* share of samples that other work interrupted: quiet machines had 0.005 to 0.02,
			      and beside two to four busy loops on two cores 0.09 to 0.11 */
#define LOADED_SHARE 0.08  /* what that work then added to the other samples, through caches and clocks: sums
			      of such measurements were up to so much above quiet ones */
#define RUN_SHARE 0.01     /* how much two runs of the same measurement on a quiet machine differ: the share
			      within which a clock is steady (runner/gpu/cuda_clock.c) */

/* What a total has of a node, or of branches side by side. */
struct part {
	double ns;          /* NaN: no cost */
	int key;            /* parts of one key have the error of one measurement */
	bool measured;
	double run_share;   /* by how much measurements at other times differ; 0: measured once */
	double interrupted; /* share of its samples */
	struct interval interval;
};

struct parts {
	const struct study *st;
	const struct solution *x;
	const int *chosen;
	struct arena *arena;
	int keys;
	struct part *node;  /* per node */
	struct part *beside; /* per set of branches side by side */
};

/* Estimates have the key of their calibration row, and bodies one of their own. */
static int key_of(const struct study *st, const struct price *price, int problem, int node)
{
	int rows;
	const struct calibration_row *first = calibration_rows(&rows);
	if (price && price->estimated)
		return st->distinct_count + (price->guess->row ? (int)(price->guess->row - first) : rows);
	return price && problem >= 0 ? problem : st->distinct_count + rows + 1 + node;
}

static double run_share(const struct result *r)
{
	return r && r->times > 1 && r->least_ns > 0 ? fmax(RUN_SHARE, (r->most_ns / r->least_ns - 1) / 2) : 0;
}

/* The share of a result's samples that other work interrupted. Of a device with a clock samples at another
 * clock are discarded too. */
static double interrupted_share(const struct result *r)
{
	double all = r ? (double)(r->stats.n + r->stats.discarded) : 0;
	return all > 0 && r->stats.p10 > 0 && !(r->clock_mhz > 0) ? (double)r->stats.discarded / all : 0;
}

static struct part part_of_price(const struct price *price, int key)
{
	return (struct part){ .ns = price ? price->ns : NAN, .key = key,
		.measured = price && price->result, .run_share = run_share(price ? price->result : NULL),
		.interrupted = interrupted_share(price ? price->result : NULL),
		.interval = price ? interval_of_price(price) : (struct interval){ 0 } };
}

static struct part part_of_node(const struct parts *p, int node)
{
	const struct price *price = solution_price(p->x, p->chosen, node);
	const struct layer_cost *inside = solution_inside(p->st, p->x, node);
	int key = key_of(p->st, inside ? NULL : price, solution_problem(p->x, p->chosen, node), node);
	if (!inside)
		return part_of_price(price, key);
	return (struct part){ .ns = inside->ns, .key = key, .measured = inside->origin != ORIGIN_ESTIMATED,
		.interval = { .known = !isnan(inside->lo), .lo = inside->lo, .hi = inside->hi } };
}

static struct parts parts_of(const struct study *st, const struct solution *x, const int *chosen,
	struct arena *arena)
{
	struct parts p = { .st = st, .x = x, .chosen = chosen, .arena = arena };
	const struct besides *b = x->besides;
	int first = key_of(st, NULL, -1, st->node_count);
	p.keys = first + (b ? b->count : 0);
	p.node = ARENA_ARRAY(arena, struct part, st->node_count);
	p.beside = ARENA_ARRAY(arena, struct part, b ? b->count : 0);
	for (int i = 0; i < st->node_count; i++)
		p.node[i] = part_of_node(&p, i);
	for (int i = 0; b && i < b->count; i++) {
		int same = 0;
		while (same < i && !(b->sets[same].text && b->sets[i].text &&
				strcmp(b->sets[same].text, b->sets[i].text) == 0))
			same++;
		p.beside[i] = part_of_price(&b->sets[i].price, first + same);
	}
	return p;
}

/* A sum of parts with its widths. */
struct widths {
	double ns, load_ns;         /* load_ns: of one-sided parts */
	double run_ns, often_ns, once_ns; /* of parts measured several times, and once */
	double interrupted_ns;      /* sum of costs x share of interrupted samples */
	double *down, *up;          /* per key */
};

static void total_add(struct widths *t, const struct part *p)
{
	if (isnan(p->ns))
		return;
	t->ns += p->ns;
	t->run_ns += p->run_share * p->ns;
	t->interrupted_ns += p->interrupted * p->ns;
	t->often_ns += p->run_share > 0 ? p->ns : 0;
	t->once_ns += p->measured && !(p->run_share > 0) ? p->ns : 0;
	if (!p->interval.known)
		return;
	if (p->interval.one_sided)
		t->load_ns += p->ns - p->interval.lo;
	else
		t->down[p->key] += p->ns - p->interval.lo;
	t->up[p->key] += p->interval.hi - p->ns;
}

/* The ends of the sum of the nodes that are `on`, and (besides) of the branches side by side. */
static struct interval total_of(const struct parts *p, const bool *on, double *load_ns)
{
	struct widths t = { .down = ARENA_ARRAY(p->arena, double, p->keys),
		.up = ARENA_ARRAY(p->arena, double, p->keys) };
	const struct besides *b = p->x->besides;
	double down = 0, up = 0;
	for (int i = 0; i < p->st->node_count; i++)
		if (on[i])
			total_add(&t, &p->node[i]);
	for (int i = 0; b && i < b->count; i++)
		if (b->sets[i].chosen)
			total_add(&t, &p->beside[i]);
	for (int i = 0; i < p->keys; i++) {
		down += t.down[i] * t.down[i];
		up += t.up[i] * t.up[i];
	}
	if (t.interrupted_ns >= LOADED_LEAST * (t.often_ns + t.once_ns))
		t.load_ns += t.interrupted_ns > 0 ? LOADED_SHARE * (t.often_ns + t.once_ns) : 0;
	*load_ns = t.load_ns;
	/* of parts measured once: the mean share of all, in which they count with the least one */
	double share = (t.run_ns + RUN_SHARE * t.once_ns) / (t.often_ns + t.once_ns);
	double run = t.run_ns + (t.once_ns > 0 ? t.once_ns * share : 0);
	return (struct interval){ .lo = fmax(0, t.ns - sqrt(down) - t.load_ns - run),
		.hi = t.ns + sqrt(up) + run };
}

/* The nodes of a sum: all, less those that run side by side. */
static bool *nodes_of_sum(const struct parts *p)
{
	bool *on = ARENA_ARRAY(p->arena, bool, p->st->node_count);
	const struct besides *b = p->x->besides;
	memset(on, true, (size_t)p->st->node_count * sizeof(*on));
	for (int i = 0; b && i < b->count; i++)
		for (int k = 0; b->sets[i].chosen && k < b->sets[i].set->first[b->sets[i].set->branch_count];
			k++)
			on[b->sets[i].set->node[k]] = false;
	return on;
}

/* The first and the last node that have the cost of a node; a join's is at its first and last layers. */
static void nodes_of_cost(const struct parts *p, int node, int *first, int *last)
{
	int layer = p->st->node_layer[node], group = layer >= 0 ? p->chosen[layer] : -1;
	const struct fusion_group *g = group >= 0 ? &p->st->fusion->groups[group] : NULL;
	*first = g && g->join ? p->st->layer_node[g->layers[0]] : node;
	*last = g && g->join ? p->st->layer_node[g->layers[g->layer_count - 1]] : node;
}

/* The nodes of one of the longest paths for these costs. */
static bool *nodes_of_path(const struct parts *p, const double *cost)
{
	const struct study *st = p->st;
	bool *on = ARENA_ARRAY(p->arena, bool, st->node_count);
	bool *critical = ARENA_ARRAY(p->arena, bool, st->node_count);
	double *start = ARENA_ARRAY(p->arena, double, st->node_count);
	int at = -1, first, last;
	solution_path(st, p->x, p->chosen, cost, start, NULL, critical);
	for (int i = 0; i < st->node_count; i++)
		if (critical[i] && (at < 0 || start[i] >= start[at]))
			at = i;
	while (at >= 0) {
		int before = -1;
		double end = -1;
		nodes_of_cost(p, at, &first, &last);
		on[first] = on[last] = true;
		for (int k = p->x->first[at]; k < p->x->first[at + 1]; k++) {
			int one = p->x->edges[k];
			nodes_of_cost(p, one, &first, &last);
			double ends = start[one] + cost[first] + (last != first ? cost[last] : 0);
			if (critical[one] && ends >= end) {
				before = one;
				end = ends;
			}
		}
		at = before;
	}
	return on;
}

/* The ends of the longest path: of the paths that are the longest by costs, low ends and high ends. */
static struct interval path_interval(const struct parts *p, double *load_ns)
{
	int n = p->st->node_count;
	struct interval v = { .lo = 0, .hi = 0 };
	double *cost = ARENA_ARRAY(p->arena, double, n);
	for (int end = -1; end <= 1; end++) {
		double load;
		for (int i = 0; i < n; i++) {
			const struct part *one = &p->node[i];
			bool known = one->interval.known && end != 0;
			cost[i] = isnan(one->ns) ? 0 : !known ? one->ns :
				end < 0 ? one->interval.lo : one->interval.hi;
		}
		struct interval path = total_of(p, nodes_of_path(p, cost), &load);
		v.lo = fmax(v.lo, path.lo);
		v.hi = fmax(v.hi, path.hi);
		*load_ns = end ? *load_ns : load;
	}
	return v;
}

/* The ends of a bound that a peak limits: at least those of that peak, at most those of the sum. */
static void limited(struct analysis *out, const struct parts *p)
{
	const struct solution *x = p->x;
	double load, spread = resource_spread(p->st->on.peaks, x->resource);
	struct interval sum = total_of(p, nodes_of_sum(p), &load);
	for (int i = 0; i < x->with_count; i++)
		spread = fmax(spread, resource_spread(p->st->on.peaks, x->with[i]));
	out->lo_ns = fmax(out->lo_ns, out->total_ns * (spread > 0 ? 1 - RUN_SHARE : 1));
	out->hi_ns = fmax(out->hi_ns, out->total_ns * fmax(1, spread) * (spread > 0 ? 1 + RUN_SHARE : 1));
	out->hi_ns = fmax(out->total_ns, fmin(out->hi_ns, sum.hi));
}

void interval_fill(struct analysis *out, const struct study *st, const struct solution *x, const int *chosen,
	struct arena *scratch)
{
	struct parts p = parts_of(st, x, chosen, scratch);
	bool any = false, open = false;
	for (int i = 0; i < st->node_count; i++) {
		const struct price *price = solution_price(x, chosen, i);
		const struct interval *v = &p.node[i].interval;
		if (isnan(p.node[i].ns))
			continue;
		out->without_interval += !v->known;
		out->range_intervals += v->is_range;
		any |= v->known;
		open |= price && price->rough && !v->one_sided;
	}
	struct interval v = scenario_has_path(&out->scenario) ? path_interval(&p, &out->load_ns) :
		total_of(&p, nodes_of_sum(&p), &out->load_ns);
	out->lo_ns = v.lo;
	out->hi_ns = v.hi;
	if (out->scenario.parallel == PARALLEL_RESOURCES && out->limit)
		limited(out, &p);
	out->lo_ns = fmax(out->lo_ns, out->enqueue_ns); /* host time has no interval; it may be NaN */
	out->hi_ns = fmax(out->hi_ns, out->enqueue_ns);
	if (isnan(out->total_ns) || (out->without_interval && !any))
		out->lo_ns = out->hi_ns = NAN;
	if (open)
		out->lo_ns = NAN;
}

/* ---- of a difference of totals */

static int spent_compare(const void *x, const void *y)
{
	const struct spent_part *a = x, *b = y;
	return (a->key > b->key) - (a->key < b->key);
}

/* Adds a part; without an interval, a single sample may be any amount too long. */
static void spent_add(struct spent *s, const struct price *price, const struct part *p, int node)
{
	const void *key = price && price->result ? (const void *)price->result
		: price && price->estimated && price->guess->row ? (const void *)price->guess->row
		: (const void *)(uintptr_t)(node + 1);
	const struct interval *v = &p->interval;
	double down = v->known ? p->ns - v->lo : 0;
	bool load = v->known && v->one_sided;
	if (isnan(p->ns))
		return;
	s->parts[s->count++] = (struct spent_part){ .key = key, .ns = p->ns, .down = load ? 0 : down,
		.up = v->known ? v->hi - p->ns : 0,
		.load = load ? down : !v->known && p->measured && price ? p->ns : 0 };
}

/* Adds up parts of one key: uses of one measurement. */
static void spent_merge(struct spent *s)
{
	int count = 0;
	if (s->count)
		qsort(s->parts, (size_t)s->count, sizeof(*s->parts), spent_compare);
	for (int i = 0; i < s->count; i++) {
		struct spent_part *to = count ? &s->parts[count - 1] : NULL;
		const struct spent_part *from = &s->parts[i];
		if (!to || to->key != from->key) {
			s->parts[count++] = *from;
			continue;
		}
		to->ns += from->ns;
		to->down += from->down;
		to->up += from->up;
		to->load += from->load;
	}
	s->count = count;
}

struct spent interval_spent(const struct study *st, const struct scenario *s, const struct solution *x,
	const int *chosen, struct arena *a)
{
	struct parts p = parts_of(st, x, chosen, a);
	const struct besides *b = x->besides;
	int sets = b ? b->count : 0;
	struct spent spent = { .parts = ARENA_ARRAY(a, struct spent_part, st->node_count + sets + 1) };
	if (s->parallel == PARALLEL_RESOURCES && x->resource >= 0) {
		double spread = resource_spread(st->on.peaks, x->resource), ns = x->parallel.ns;
		spent.parts[spent.count++] = (struct spent_part){ .key = st->on.peaks, .ns = ns,
			.up = ns * (fmax(1, spread) - 1) };
		return spent;
	}
	bool *on = scenario_has_path(s) ? nodes_of_path(&p, x->parallel.cost) : nodes_of_sum(&p);
	for (int i = 0; i < st->node_count; i++)
		if (on[i])
			spent_add(&spent, solution_inside(st, x, i) ? NULL : solution_price(x, chosen, i),
				&p.node[i], i);
	for (int i = 0; i < sets; i++)
		if (b->sets[i].chosen)
			spent_add(&spent, &b->sets[i].price, &p.beside[i], st->node_count + i);
	spent_merge(&spent);
	return spent;
}

/* Adds what one measurement adds to the widths of a difference: that of uses that are on one side only. */
static void difference_add(
	const struct spent_part *a, const struct spent_part *b, double *down, double *up, double *load)
{
	const struct spent_part *more = a->ns >= b->ns ? a : b, *less = more == a ? b : a;
	double low = fmax(0, more->down - less->down), high = fmax(0, more->up - less->up);
	*down += more == a ? low * low : high * high;
	*up += more == a ? high * high : low * low;
	load[more == b] += fmax(0, more->load - less->load);
}

struct interval interval_saved(const struct spent *before, const struct spent *after, double saves_ns)
{
	static const struct spent_part none = { 0 };
	double down = 0, up = 0, load[2] = { 0 };
	for (int i = 0, k = 0; i < before->count || k < after->count;) {
		const struct spent_part *a = i < before->count ? &before->parts[i] : NULL,
					*b = k < after->count ? &after->parts[k] : NULL;
		bool first = a && (!b || a->key <= b->key), second = b && (!a || b->key <= a->key);
		difference_add(first ? a : &none, second ? b : &none, &down, &up, load);
		i += first;
		k += second;
	}
	return (struct interval){ .known = true, .lo = saves_ns - sqrt(down) - load[0],
		.hi = saves_ns + sqrt(up) + load[1] };
}
