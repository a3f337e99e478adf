/* The moves that the search of advice.c tries. */
#include "config.h"

#include "analyze/advice/advice_private.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATTERNS_MAX 32
#define ALGORITHM_MOVES 8 /* problems with a move of their own; the others have one together */

/* The move that fuses a pattern, or NULL. */
static struct move *move_of_pattern(struct adviser *d, const char *pattern)
{
	for (int i = 0; i < d->move_count; i++)
		if (d->moves[i].pattern && !strcmp(d->moves[i].pattern, pattern))
			return &d->moves[i];
	return NULL;
}

/* The move that fuses each group of a plan, or -1. */
static void find_groups(struct adviser *d, int plan)
{
	const struct study *st = advice_study(d, plan, d->start.layouts);
	d->move_of_group[plan] = ARENA_ARRAY(d->arena, int, st->groups + 1);
	for (int i = 0; i < st->groups; i++) {
		const struct fusion_group *g = &st->fusion->groups[i];
		const struct move *m = move_of_pattern(d, g->pattern);
		bool may = m && m->anchor[plan] && m->anchor[plan][g->layers[0]];
		d->move_of_group[plan][i] = may ? (int)(m - d->moves) : -1;
	}
}

/* ---- moves ---- */

static struct move *move_add(struct adviser *d, enum advice_kind kind)
{
	assert(d->move_count < MOVES_MAX); /* patterns, 9 algorithms, 4 for each plan, and 5 */
	struct move *m = &d->moves[d->move_count++];
	*m = (struct move){ .shown = { .kind = kind }, .plan = -1, .changes = 1 };
	return m;
}

static void layers_add(struct adviser *d, struct move *m, const bool *layers)
{
	int count = 0, *list = ARENA_ARRAY(d->arena, int, d->layer_count);
	for (int i = 0; i < d->layer_count; i++)
		if (layers[i])
			list[count++] = i;
	m->shown.layers = list;
	m->shown.layer_count = count;
}

static const char *plural(int count)
{
	return count == 1 ? "" : "s";
}

/* Adds the places where a choice of groups fuses, to the move of each pattern. */
static void add_places(struct adviser *d, int plan, const struct fusion *f, const int *chosen)
{
	int known = d->move_count;
	for (int i = 0; i < d->layer_count; i++) {
		if (chosen[i] < 0)
			continue;
		const struct fusion_group *g = &f->groups[chosen[i]];
		struct move *m = move_of_pattern(d, g->pattern);
		if (!m && d->move_count == PATTERNS_MAX)
			continue;
		if (!m) {
			m = move_add(d, g->join ? ADVICE_JOIN : ADVICE_FUSION);
			m->pattern = g->pattern;
			m->inside = ARENA_ARRAY(d->arena, bool, d->layer_count + 1);
		}
		if (!m->anchor[plan])
			m->anchor[plan] = ARENA_ARRAY(d->arena, bool, d->layer_count + 1);
		m->anchor[plan][i] |= g->layers[0] == i;
		if (m - d->moves >= known) { /* new: these places are told */
			m->inside[i] = true;
			m->places += g->layers[0] == i;
		}
	}
}

/* A move for each pattern that the lowest bound of a plan fuses, sequential or parallel, in the places where
 * it does. */
static void add_patterns(struct adviser *d, int plan)
{
	const struct study *st = advice_study(d, plan, d->start.layouts);
	struct scenario s = d->start;
	struct solution x;
	s.fusion = s.matrix = s.relaxed = s.best = true;
	solve(st, &s, &d->scratch, &x);
	add_places(d, plan, st->fusion, x.sum.chosen);
	add_places(d, plan, st->fusion, x.parallel.chosen);
	arena_free(&d->scratch);
}

void advice_name(struct adviser *d, struct move *m)
{
	bool joins = m->shown.kind == ADVICE_JOIN;
	layers_add(d, m, m->inside);
	m->shown.title = arena_printf(d->arena, "%s %s%s in %d place%s", joins ? "run" : "fuse", m->pattern,
		joins ? " of one input as one matmul" : "", m->places, plural(m->places));
}

static void name_patterns(struct adviser *d)
{
	for (int i = 0; i < d->move_count; i++)
		advice_name(d, &d->moves[i]);
}

/* A problem whose fastest algorithm is faster than the library's first choice. */
struct better_algorithm {
	int problem, layers, first;
	double saves_ns, factor; /* factor: at least, by the ends of their intervals; NaN: unknown */
	const char *fast, *slow;
};

static int by_saving(const void *x, const void *y)
{
	const struct better_algorithm *a = x, *b = y;
	return a->saves_ns > b->saves_ns ? -1 : a->saves_ns < b->saves_ns ? 1 : a->problem - b->problem;
}

static int better_algorithms(struct adviser *d, const struct study *st, struct better_algorithm *list)
{
	int count = 0, problems = st->plan->problem_count, most = plan_problem_total(st->plan);
	struct better_algorithm *all = ARENA_ARRAY(&d->scratch, struct better_algorithm, most + 1);
	for (int k = d->layer_count - 1; k >= 0; k--) {
		int problem = plan_layer_problem_index(st->plan, &st->plan->layers[k], st->nxc);
		if (problem < 0)
			continue;
		all[problem].first = k;
		all[problem].layers++;
	}
	for (int i = 0; i < problems; i++) {
		struct better_algorithm b = all[i];
		if (!b.layers)
			continue;
		struct price slow = study_price(st, &d->start, i, false),
			     fast = study_price(st, &d->start, i, true);
		if (!slow.result || !fast.result || !(fast.ns < slow.ns))
			continue;
		b.problem = i;
		b.saves_ns = (slow.ns - fast.ns) * b.layers;
		b.factor = slow.lo / (isnan(fast.hi) ? fast.ns : fast.hi);
		b.fast = fast.result->algorithm.name;
		b.slow = slow.result->algorithm.name;
		list[count++] = b;
	}
	qsort(list, (size_t)count, sizeof(*list), by_saving);
	return count;
}

static void add_algorithms(struct adviser *d, double bound_ns)
{
	const struct study *st = advice_study(d, 0, d->start.layouts);
	struct better_algorithm *list =
		ARENA_ARRAY(&d->scratch, struct better_algorithm, st->plan->problem_count + 1);
	int count = better_algorithms(d, st, list), alone = 0;
	bool *rest = ARENA_ARRAY(d->arena, bool, d->layer_count + 1);
	memset(rest, true, (size_t)d->layer_count * sizeof(*rest));
	for (; alone < count && alone < ALGORITHM_MOVES && list[alone].saves_ns > LEAST_SHARE * bound_ns;
		alone++) {
		const struct better_algorithm *b = &list[alone];
		const struct plan_layer *first = &st->plan->layers[b->first];
		struct move *m = move_add(d, ADVICE_ALGORITHM);
		m->best = ARENA_ARRAY(d->arena, bool, d->layer_count + 1);
		for (int k = 0; k < d->layer_count; k++) {
			m->best[k] = plan_layer_problem_index(st->plan, &st->plan->layers[k], st->nxc) ==
				b->problem;
			rest[k] &= !m->best[k];
		}
		layers_add(d, m, m->best);
		m->shown.title = arena_printf(d->arena,
			"%s %s (%d layer%s): %s, %s faster than the library's choice %s", first->op->name,
			text_clean(d->arena, first->name), b->layers, plural(b->layers),
			text_clean(d->arena, text_of(b->fast)),
			b->factor >= 1.005 ? arena_printf(d->arena, "%.2fx", b->factor) : "perhaps",
			text_clean(d->arena, text_of(b->slow)));
	}
	struct move *m = move_add(d, ADVICE_ALGORITHM);
	m->best = rest;
	m->shown.title = alone ? "the fastest algorithm of all other problems"
			       : "the fastest algorithm of each problem";
	arena_free(&d->scratch);
}

/* All combinations of a type, matrix units and relaxed math that change something. */
static void add_units(struct adviser *d)
{
	for (int i = 0; i < 4 * d->plan_count; i++) {
		bool type = i / 4 > 0, matrix = i & 1, relaxed = i & 2;
		if ((matrix && d->start.matrix) || (relaxed && d->start.relaxed) ||
			!(type || matrix || relaxed))
			continue;
		bool meant = type && d->plans[i / 4].matrix;
		if (meant && !matrix && !d->start.matrix)
			continue;
		struct move *m = move_add(d, ADVICE_UNITS);
		m->plan = type ? i / 4 : -1;
		m->matrix = matrix;
		m->relaxed = relaxed;
		m->changes = type + (matrix && !meant) + relaxed;
		m->shown.title = arena_printf(d->arena, "%s%s%s%s%s", type ? d->plans[i / 4].dtype : "",
			type && matrix ? " and " : "", matrix ? "matrix units" : "",
			(type || matrix) && relaxed ? " and " : "", relaxed ? "relaxed math" : "");
	}
}

/* A CPU has no launches to spread. */
static bool is_cpu(const struct adviser *d)
{
	const struct device *device = d->plans[0].on.device;
	return device && device->threads > 0;
}

/* Without peaks it is unknown how many layers can run at the same time. */
static bool has_peaks(const struct adviser *d)
{
	return d->plans[0].on.peaks != NULL;
}

static bool is_padded(const struct plan *p, const struct plan_layer *l)
{
	return plan_padded_index(p, l->problem) >= 0;
}

static bool is_foldable(const struct plan *p, const struct plan_layer *l)
{
	(void)p;
	return plan_layer_folds(l);
}

/* Adds a move for the layers that pass the test. Returns NULL if no layer does. */
static struct move *add_for(struct adviser *d, enum advice_kind kind,
	bool (*test)(const struct plan *p, const struct plan_layer *l))
{
	const struct plan *p = d->plans[0].on.plan;
	bool *layers = ARENA_ARRAY(d->arena, bool, d->layer_count + 1);
	int count = 0;
	for (int i = 0; i < d->layer_count; i++)
		count += layers[i] = test(p, &p->layers[i]);
	if (!count)
		return NULL;
	struct move *m = move_add(d, kind);
	layers_add(d, m, layers);
	return m;
}

static void add_rewrites(struct adviser *d)
{
	struct move *fold = d->start.fold ? NULL : add_for(d, ADVICE_FOLD, is_foldable);
	if (fold) {
		int count = fold->shown.layer_count;
		fold->fold = true;
		fold->shown.title = arena_printf(d->arena, "remove %d layer%s without effect on the result",
			count, plural(count));
	}
	struct move *pad = d->start.pad ? NULL : add_for(d, ADVICE_PAD, is_padded);
	if (pad) {
		int count = pad->shown.layer_count;
		pad->pad = true;
		pad->shown.title = arena_printf(d->arena, "pad channels to a multiple of 8 in %d layer%s; "
			"the cost excludes copies", count, plural(count));
	}
}

void advice_moves(struct adviser *d, double bound_ns)
{
	if (!d->start.fusion)
		for (int i = 0; i < d->plan_count; i++)
			if (advice_study(d, i, d->start.layouts)->groups)
				add_patterns(d, i);
	name_patterns(d);
	for (int i = 0; i < d->plan_count && d->move_count; i++)
		find_groups(d, i);
	if (!d->start.best)
		add_algorithms(d, bound_ns);
	add_units(d);
	if (!d->start.amortized && !is_cpu(d)) {
		struct move *m = move_add(d, ADVICE_LAUNCH);
		m->amortized = true;
		m->shown.title = "launch all kernels at once (CUDA graph), not one by one";
	}
	if (!d->start.parallel && !has_peaks(d))
		d->list.gaps[d->list.gap_count++] = (struct advice_gap){ LACKS_PEAKS, "parallel", false, 0 };
	if (!d->start.parallel && has_peaks(d)) {
		struct move *m = move_add(d, ADVICE_PARALLEL);
		m->parallel = true;
		m->shown.title = "run layers in parallel (at most)";
	}
	add_rewrites(d);
	if (d->start.layouts == LAYOUTS_FREE && d->plans[0].on.plan->nxc) {
		struct move *m = move_add(d, ADVICE_LAYOUT);
		m->nhwc = true;
		m->shown.title = "channels last in the whole model";
	}
}
