/* The solutions that a scenario has where one choice of groups, layouts and folds is not surely the best: the
 * best of them counts. */
#include "config.h"

#include "analyze/branches/besides.h"

#include <math.h>
#include <string.h>

/* The study without the layers that fold. */
static void study_without(struct study *view, const struct folded *f)
{
	view->layer_free = f->layer_free;
	view->node_problem = f->node_problem;
	view->first = f->first;
	view->edges = f->edges;
	view->chains.begin = f->no_chains;
}

static void solve_one(const struct study *st, const struct scenario *s, const struct folded *folded,
	struct arena *a, struct solution *out, bool path)
{
	struct scenario own = *s;
	own.fold = folded != NULL;
	const struct study seen = study_view(st, &own);
	struct study view = study_at_level(&seen, s->fusion);
	if (folded)
		study_without(&view, folded);
	st = &view;
	s = &own;
	solve_begin(st, s, folded, a, out, path);
	if (s->parallel == PARALLEL_MEASURED)
		solve_besides(st, s, a, out);
	solve_end(st, s, a, out, path);
}

/* True if another solution's total (parallel: that with parallel) lacks fewer layers, or as many and is
 * lower. One that is complete is not left for one that is not. */
static bool is_better(
	const struct study *st, const struct solution *other, const struct solution *than, bool parallel)
{
	const struct total *here = parallel ? &than->parallel : &than->sum,
			   *there = parallel ? &other->parallel : &other->sum;
	bool lower = there->ns < here->ns; /* NaN compares false */
	int fewer = solution_missing(st, than, here->chosen) - solution_missing(st, other, there->chosen);
	int whole = there->complete - here->complete;
	return whole > 0 || (whole == 0 && (fewer > 0 || (fewer == 0 && lower)));
}

/* The solutions of a scenario: the best for its total, and the best for the other one, of those that were
 * tried. */
struct candidates {
	bool parallel;
	struct solution best, other;
	bool exact;             /* the layouts of all that were tried are the best ones */
};

static void offer_solution(const struct study *st, struct candidates *c, const struct solution *x)
{
	if (is_better(st, x, &c->best, c->parallel))
		c->best = *x;
	if (is_better(st, x, &c->other, !c->parallel))
		c->other = *x;
	c->best.offered = true;
	c->exact &= x->layouts_exact;
}

/* Takes the other total from the best solution for it. */
static void take_other(struct candidates *c)
{
	struct solution *to = &c->best;
	const struct solution *from = &c->other;
	if (!to->offered)
		return;
	if (c->parallel) {
		to->sum = from->sum;
		return;
	}
	to->parallel = from->parallel;
	to->path_ns = from->path_ns;
	to->busy_ns = from->busy_ns;
	to->resource = from->resource;
	memcpy(to->with, from->with, sizeof(to->with));
	to->with_count = from->with_count;
}

/* True if what runs in parallel may take less than the sum: with parallel=measured only if branches were
 * measured side by side. */
static bool may_be_less(const struct study *st, const struct scenario *s)
{
	int sets = 1;
	if (s->parallel == PARALLEL_MEASURED && st->on.results)
		results_besides(st->on.results, &sets);
	return s->parallel && sets > 0;
}

/* Layouts and groups are chosen together for the sum. What runs in parallel may take less with fewer groups:
 * the lower choices of fusion are offered too. */
static void offer_less_fusion(const struct study *st, const struct scenario *s, const struct folded *folded,
	struct arena *a, struct candidates *c)
{
	const struct study chosen = study_at_level(st, s->fusion);
	enum fusion_level levels[FUSION_LEVELS];
	int count = study_lower_levels(&chosen, levels);
	uint32_t tried = 1u << (chosen.levels & st->group_levels); /* sets of levels that have groups */
	for (int i = 0; i < count; i++) {
		unsigned groups = study_at_level(st, levels[i]).levels & st->group_levels;
		struct scenario less = *s;
		struct solution other;
		if (tried >> groups & 1)
			continue;
		tried |= 1u << groups;
		less.fusion = levels[i];
		solve_one(st, &less, folded, a, &other, true);
		c->exact &= other.layouts_exact;
		if (is_better(st, &other, &c->best, true))
			c->best = other; /* not for the sum, for which groups and layouts were chosen */
	}
}

/* With the what-if fold, the lowest total of: what folds with groups, nothing folds, everything folds and
 * nothing is fused. An optimizer may keep a layer, as one that runs fused while the layer that computes the
 * same does not. */
static void solve_for(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out,
	bool path)
{
	struct candidates c = { .parallel = s->parallel };
	struct solution other;
	struct scenario unfused = *s;
	unfused.fusion = FUSION_OFF;
	solve_one(st, s, s->fold ? st->folded : NULL, a, &c.best, path);
	c.other = c.best;
	c.exact = c.best.layouts_exact;
	bool folds = c.best.folds;
	if (st->layouts && may_be_less(st, s))
		offer_less_fusion(st, s, s->fold ? st->folded : NULL, a, &c);
	c.best.offered = st->layouts && s->fusion;
	if (folds) {
		solve_one(st, s, NULL, a, &other, path);
		offer_solution(st, &c, &other);
	}
	if (s->fold && s->fusion && st->folded_alone != st->folded) {
		solve_one(st, &unfused, st->folded_alone, a, &other, path);
		offer_solution(st, &c, &other);
	}
	take_other(&c);
	*out = c.best;
	out->layouts_exact = c.exact;
}

void solve(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out)
{
	solve_for(st, s, a, out, true);
}

void solve_total(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out)
{
	solve_for(st, s, a, out, s->parallel != PARALLEL_OFF);
}

void solve_floors(const struct study *st, const struct scenario *s, struct solution *x)
{
	struct arena scratch = { 0 };
	struct scenario floors = *s;
	struct solution y;
	if (!x->sum.estimated && !x->parallel.estimated)
		return;
	floors.floors = true;
	solve(st, &floors, &scratch, &y);
	if (y.sum.complete == x->sum.complete) /* else it lacks other layers */
		x->sum.floor_ns = fmin(x->sum.floor_ns, y.sum.ns);
	if (y.parallel.complete == x->parallel.complete)
		x->parallel.floor_ns = fmin(x->parallel.floor_ns, y.parallel.ns);
	arena_free(&scratch);
}
