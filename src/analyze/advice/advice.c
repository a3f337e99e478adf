/* The search for the moves that save most. The moves are in advice_moves.c. */
#include "config.h"

#include "analyze/advice/advice_private.h"
#include "analyze/bound/limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER_SHARE 0.01 /* of the bound, that each further change of a move must save more */

const struct study *advice_study(struct adviser *d, int plan, enum layouts layouts)
{
	struct study *st = &d->studies[plan][layouts];
	if (!d->open[plan][layouts]) {
		study_open(st, &d->plans[plan].on, layouts, true);
		study_detach(st);
	}
	d->open[plan][layouts] = true;
	return st;
}

/* The scenario of the moves that are on; *plan: their plan. */
static struct scenario scenario_of(const struct adviser *d, const bool *on, int *plan)
{
	struct scenario s = d->start;
	*plan = 0;
	for (int i = 0; i < d->move_count; i++) {
		const struct move *m = &d->moves[i];
		if (!on[i])
			continue;
		*plan = m->plan > 0 ? m->plan : *plan;
		s.fusion |= m->pattern != NULL;
		s.matrix |= m->matrix;
		s.relaxed |= m->relaxed;
		s.amortized |= m->amortized;
		s.pad |= m->pad;
		s.fold |= m->fold;
		s.layouts = m->nhwc ? LAYOUTS_NXC : s.layouts;
		s.parallel = m->parallel ? PARALLEL_RESOURCES : s.parallel;
	}
	return s;
}

/* Which groups the moves allow, and which problems run their fastest algorithm: those of the layers of moves,
 * and those of groups that begin with one. */
static struct limits limits_of(struct adviser *d, int plan, const struct study *st, const bool *on)
{
	bool *group = ARENA_ARRAY(&d->scratch, bool, st->groups + 1);
	bool *best = ARENA_ARRAY(&d->scratch, bool, st->distinct_count + 1);
	bool *layer = ARENA_ARRAY(&d->scratch, bool, d->layer_count + 1);
	for (int i = 0; i < d->move_count; i++)
		for (int k = 0; on[i] && d->moves[i].best && k < d->layer_count; k++)
			layer[k] |= d->moves[i].best[k];
	for (int i = 0; i < d->layer_count; i++) {
		int problem = plan_layer_problem_index(st->plan, &st->plan->layers[i], st->nxc);
		if (problem >= 0)
			best[problem] |= layer[i];
	}
	for (int i = 0; i < st->groups; i++) {
		const struct fusion_group *g = &st->fusion->groups[i];
		int distinct = study_group_distinct(st, g);
		int move = d->move_of_group[plan] ? d->move_of_group[plan][i] : -1;
		group[i] = d->start.fusion || (move >= 0 && on[move]);
		if (distinct >= 0)
			best[distinct] |= layer[g->layers[0]];
	}
	return (struct limits){ .group = group, .best = best };
}

/* Solves the scenario of the moves that are on; the caller clears d->scratch. Returns the choice of groups.
 */
static const int *solve_on(struct adviser *d, const bool *on, struct scenario *s, struct study *view,
	struct solution *x)
{
	int plan;
	*s = scenario_of(d, on, &plan);
	*view = *advice_study(d, plan, s->layouts);
	struct limits limits = limits_of(d, plan, view, on);
	view->limits = &limits;
	solve(view, s, &d->scratch, x);
	view->limits = NULL;
	return solution_total(x, s)->chosen;
}

/* The bound under the moves that are on. results (may be NULL): per layer the measurement that its cost is
 * from, or NULL. spent (may be NULL): its parts, in arena a. */
static struct reached reach(struct adviser *d, const bool *on, const struct result **results, struct arena *a,
	struct spent *spent)
{
	struct scenario s;
	struct study view;
	struct solution x;
	const int *chosen = solve_on(d, on, &s, &view, &x);
	const struct total *t = solution_total(&x, &s);
	struct reached r = { .ns = t->ns, .estimated = t->estimated };
	for (int i = 0; i < d->layer_count; i++) {
		int node = view.layer_node[i];
		const struct price *price = solution_price(&x, chosen, node);
		if (chosen[i] < 0 && isnan(x.cost[node]))
			r.missing = (r.missing ^ (uint64_t)(i + 1)) * 0x100000001b3u;
		if (x.inside && x.inside[i] && x.inside[i]->at_least)
			r.missing = (r.missing ^ (uint64_t)(-i - 1)) * 0x100000001b3u;
		if (results)
			results[i] = price ? price->result : NULL;
	}
	r.missing += x.border_complete ? 0 : 1;
	if (spent) {
		struct spent all = interval_spent(&view, &s, &x, chosen, &d->scratch);
		*spent = (struct spent){ all.count, ARENA_ARRAY(a, struct spent_part, all.count) };
		memcpy(spent->parts, all.parts, (size_t)all.count * sizeof(*all.parts));
	}
	arena_clear(&d->scratch);
	return r;
}

static bool is_noisy(const struct result *r)
{
	return r && r->stats.stop == STOP_DISTURBED;
}

/* True if a move changes layers whose measurement, before or after it, is noisy. */
static bool noisy_between(struct adviser *d, const bool *before, const bool *after)
{
	const struct result **x = base_calloc((size_t)d->layer_count + 1, sizeof(*x)),
			    **y = base_calloc((size_t)d->layer_count + 1, sizeof(*y));
	bool noisy = false;
	reach(d, before, x, NULL, NULL);
	reach(d, after, y, NULL, NULL);
	for (int i = 0; i < d->layer_count; i++)
		noisy |= x[i] != y[i] && (is_noisy(x[i]) || is_noisy(y[i]));
	free(x);
	free(y);
	return noisy;
}

/* The bound with one more move, and its parts (spent may be NULL), valid until the next call; ns NaN if it
 * lacks other layers than `like`. */
static struct reached reach_with(
	struct adviser *d, int move, const struct reached *like, struct spent *spent)
{
	bool on[MOVES_MAX];
	memcpy(on, d->on, sizeof(on));
	on[move] = true;
	arena_clear(&d->trial);
	struct reached r = reach(d, on, NULL, &d->trial, spent);
	if (r.missing != like->missing)
		r.ns = NAN;
	return r;
}

/* ---- ranking ---- */

/* True if a move changes nothing beside those that are on. */
static bool is_implied(const struct adviser *d, int move)
{
	const struct move *m = &d->moves[move];
	int plan;
	struct scenario s = scenario_of(d, d->on, &plan);
	return d->on[move] ||
		(m->shown.kind == ADVICE_UNITS && (m->plan < 0 || m->plan == plan) &&
			(!m->matrix || s.matrix) && (!m->relaxed || s.relaxed));
}

/* A move of several changes must save more than one of fewer. */
static bool is_better(
	const struct move *m, double saves, const struct move *than, double best, double bound_ns)
{
	double more = than && m->changes > than->changes ? TOGETHER_SHARE * bound_ns
		: than && m->changes < than->changes	 ? -TOGETHER_SHARE * bound_ns
							 : 0;
	return saves > best + more;
}

/* Names the places that a pattern has under the moves that are on: others may have removed some. */
static void places_renew(struct adviser *d, struct move *m)
{
	struct scenario s;
	struct study view;
	struct solution x;
	const int *chosen = solve_on(d, d->on, &s, &view, &x);
	bool *inside = ARENA_ARRAY(d->arena, bool, d->layer_count + 1);
	int places = 0;
	for (int i = 0; i < d->layer_count; i++) {
		const struct fusion_group *g = chosen[i] >= 0 ? &view.fusion->groups[chosen[i]] : NULL;
		inside[i] = g && strcmp(g->pattern, m->pattern) == 0;
		places += inside[i] && g->layers[0] == i;
	}
	arena_clear(&d->scratch);
	if (!places || places == m->places)
		return;
	m->inside = inside;
	m->places = places;
	advice_name(d, m);
}

/* What the moves that are on save at least, without those that are only limits. */
static double surely_saved(struct adviser *d)
{
	bool on[MOVES_MAX];
	struct spent spent;
	for (int i = 0; i < d->move_count; i++)
		on[i] = d->on[i] && !d->moves[i].parallel;
	arena_clear(&d->trial);
	struct reached r = reach(d, on, NULL, &d->trial, &spent);
	return r.missing != d->first.missing ? NAN :
		interval_saved(&d->spent_first, &spent, d->first.ns - r.ns).lo;
}

static void take(struct adviser *d, int move, const struct reached *before, const struct reached *after)
{
	struct advice *shown = &d->moves[move].shown;
	char text[SCENARIO_TEXT_SIZE];
	int plan;
	bool earlier[MOVES_MAX];
	memcpy(earlier, d->on, sizeof(earlier));
	d->on[move] = true;
	if (d->moves[move].pattern)
		places_renew(d, &d->moves[move]);
	shown->noisy = noisy_between(d, earlier, d->on);
	struct spent spent;
	reach(d, d->on, NULL, &d->kept, &spent);
	struct interval saved = interval_saved(&d->spent_now, &spent, before->ns - after->ns);
	d->spent_now = spent;
	shown->at_most = d->moves[move].parallel;
	shown->after_lo_ns = shown->at_most ? 0 : saved.lo;
	shown->saves_lo_ns = shown->at_most ? 0 : shown->saves_lo_ns;
	shown->after_hi_ns = saved.hi;
	shown->unclear = !shown->at_most && !(saved.lo > 0);
	d->list.noisy |= shown->noisy;
	d->list.saves_lo_ns = surely_saved(d);
	struct scenario s = scenario_of(d, d->on, &plan);
	s.best |= d->moves[move].best != NULL;
	shown->saves_after_ns = before->ns - after->ns;
	shown->total_ns = after->ns;
	shown->estimated = before->estimated || after->estimated;
	shown->dtype = d->plans[plan].dtype;
	shown->what_ifs = arena_printf(d->arena, "%s", scenario_text(&s, text, sizeof(text)));
}

/* True if a move needs no trial now: it saved much less than `best` when it was last tried. */
static bool is_behind(const struct adviser *d, int move, double best)
{
	return d->last_ns[move] < best / 2; /* a gain can grow after other moves, but rarely doubles */
}

static void round_begin(struct adviser *d, bool all)
{
	d->at = 0;
	d->which = -1;
	d->all = all;
	d->best = -INFINITY;
}

/* True if a round needs no trial of the move. Only rounds with `all` try those that saved little before. */
static bool is_skipped(const struct adviser *d, int move)
{
	double best = fmax(d->best, LEAST_SHARE * d->first.ns);
	return is_implied(d, move) || (!d->all && d->count && is_behind(d, move, best));
}

static void try_one(struct adviser *d, int move)
{
	struct spent spent;
	struct reached r = reach_with(d, move, &d->now, &spent);
	double saves = d->now.ns - r.ns;
	struct move *m = &d->moves[move];
	struct interval saved = interval_saved(&d->spent_now, &spent, saves);
	d->last_ns[move] = isnan(saves) ? 0 : saved.lo;
	if (!d->count) {
		m->shown.saves_ns = saves;
		m->shown.saves_lo_ns = saved.lo;
		m->shown.saves_hi_ns = saved.hi;
	}
	if (saves > LEAST_SHARE * d->first.ns && /* false: NaN */
		is_better(m, saved.lo, d->which < 0 ? NULL : &d->moves[d->which], d->best, d->now.ns)) {
		d->best = saved.lo;
		d->which = move;
		d->found = r;
	}
}

/* Leaves out each move, from the least on, without which the target is still reached. Returns the number
 * left. */
static int leave_out(struct adviser *d, int *order, int count, const struct reached *first, double target_ns)
{
	for (int i = count - 1; i >= 0; i--) {
		d->on[order[i]] = false;
		struct reached r = reach(d, d->on, NULL, NULL, NULL);
		if (r.ns <= target_ns && r.missing == first->missing) {
			memmove(order + i, order + i + 1, (size_t)(count - i - 1) * sizeof(*order));
			count--;
		} else {
			d->on[order[i]] = true;
		}
	}
	return count;
}

/* Fills what each move in `order` saves after those above it, from the start. */
static void take_again(struct adviser *d, const int *order, int count, struct reached now)
{
	memset(d->on, 0, sizeof(d->on));
	d->spent_now = d->spent_first;
	for (int i = 0; i < count; i++) {
		struct reached next = reach_with(d, order[i], &now, NULL);
		take(d, order[i], &now, &next);
		now = next;
	}
}

/* Layers of the start that fewer bits do not help. */
static void find_overhead(struct adviser *d)
{
	const struct ground *on = &d->plans[0].on;
	const struct study *st = advice_study(d, 0, d->start.layouts);
	struct solution x;
	d->list.overhead_ns = NAN;
	if (!on->peaks)
		return;
	solve(st, &d->start, &d->scratch, &x);
	const struct analysis *y = analysis_make(&d->scratch, st, &d->start, &x);
	struct limit_totals t = limit_totals_of(y, on->plan, on->peaks);
	d->list.overhead_ns = t.known_ns > 0 ? t.ns[LIMIT_OVERHEAD] : NAN;
	d->list.overhead_layers = t.layers[LIMIT_OVERHEAD];
	arena_clear(&d->scratch);
}

/* Tries the next move of the round. At its end takes the move that saves most; if none saves enough, all are
 * tried once more, then the search is over. */
static void try_next(struct adviser *d)
{
	while (d->at < d->move_count && is_skipped(d, d->at))
		d->at++;
	if (d->at < d->move_count) {
		try_one(d, d->at++);
	} else if (d->which >= 0) {
		take(d, d->which, &d->now, &d->found);
		d->order[d->count++] = d->which;
		d->now = d->found;
		d->list.reached = d->now.ns <= d->list.target_ns;
		round_begin(d, false);
		if (d->list.reached || d->count == d->move_count)
			d->phase = PHASE_LEAVE;
	} else if (!d->all) {
		round_begin(d, true);
	} else {
		d->phase = PHASE_LEAVE;
	}
}

static void search_begin(struct adviser *d)
{
	for (int i = 0; i < d->plan_count; i++) { /* now, so that all have the same results */
		advice_study(d, i, d->start.layouts);
		if (d->start.layouts == LAYOUTS_FREE && d->plans[0].on.plan->nxc)
			advice_study(d, i, LAYOUTS_NXC);
	}
	d->first = d->now = reach(d, d->on, NULL, &d->kept, &d->spent_first);
	d->spent_now = d->spent_first;
	d->list.start_ns = d->list.least_ns = d->first.ns;
	d->list.complete = !d->first.missing;
	d->list.estimated = d->first.estimated;
	d->list.reached = d->first.ns <= d->list.target_ns;
	d->phase = PHASE_OVERHEAD;
}

static void search_end(struct adviser *d)
{
	if (d->list.reached && d->count) {
		d->count = leave_out(d, d->order, d->count, &d->first, d->list.target_ns);
		take_again(d, d->order, d->count, d->first);
	}
	d->phase = PHASE_GAPS;
}

/* ---- what is left out ---- */

/* The what-ifs that need problems of their own, fusion first: the others are looked at together with it. */
static const char *const gap_what_ifs[] = { "fusion", "layout", "pad" };
#define GAP_WHAT_IFS ((int)(sizeof(gap_what_ifs) / sizeof(gap_what_ifs[0])))
#define GAPS_MAX (GAP_WHAT_IFS + PLANS_MAX) /* plans[0] has none, parallel has one */

static int lacks(struct adviser *d, int plan, const struct scenario *s)
{
	struct solution x;
	solve(advice_study(d, plan, s->layouts), s, &d->scratch, &x);
	arena_clear(&d->scratch);
	return x.unmeasured;
}

static void gap_add(struct adviser *d, const char *what, bool is_type, int problems)
{
	enum advice_lack lack = d->plans[0].on.estimate ? LACKS_ESTIMATES : LACKS_RESULTS;
	if (problems > 0)
		d->list.gaps[d->list.gap_count++] = (struct advice_gap){ lack, what, is_type, problems };
}

static void gap_of_what_if(struct adviser *d, const struct what_if *row)
{
	struct scenario s = d->basis;
	int count, choice = row->get(&d->start), index = (int)(row - what_if_table(&count));
	if (!choice && what_if_available(advice_study(d, 0, d->start.layouts), index)) {
		row->set(&s, 1);
		int more = lacks(d, 0, &s) - d->basis_lacks;
		gap_add(d, row->name, false, more);
		choice = more > 0;
	}
	row->set(&d->measured, choice);
}

/* Adds the gap of the next optimization: what-ifs, then types, of which all that is missing counts. Returns
 * false when there is no next one. */
static bool next_gap(struct adviser *d)
{
	int at = d->gap_at++, plan = at - GAP_WHAT_IFS + 1;
	char text[SCENARIO_TEXT_SIZE];
	if (at <= 1) {
		d->basis = d->start;
		d->basis.fusion = at && !d->start.fusion ? FUSION_ALL : d->start.fusion;
		d->basis_lacks = lacks(d, 0, &d->basis);
	}
	if (at < GAP_WHAT_IFS)
		gap_of_what_if(d, what_if_named(text_of(gap_what_ifs[at])));
	else if (plan < d->plan_count)
		gap_add(d, d->plans[plan].dtype, true, lacks(d, plan, &d->basis));
	else
		d->list.what_ifs = arena_printf(
			d->arena, "%s", scenario_text(&d->measured, text, sizeof(text)));
	return plan < d->plan_count;
}

bool advice_step(struct adviser *d)
{
	switch (d->phase) {
	case PHASE_START: search_begin(d); break;
	case PHASE_OVERHEAD:
		find_overhead(d);
		d->phase = isnan(d->first.ns) ? PHASE_END : PHASE_MOVES;
		break;
	case PHASE_MOVES:
		advice_moves(d, d->first.ns);
		round_begin(d, false);
		d->phase = d->list.reached || !d->move_count ? PHASE_LEAVE : PHASE_TRY;
		break;
	case PHASE_TRY: try_next(d); break;
	case PHASE_LEAVE: search_end(d); break;
	case PHASE_GAPS:
		if (!next_gap(d))
			d->phase = PHASE_END;
		break;
	case PHASE_END: break;
	}
	return d->phase != PHASE_END;
}

struct adviser *advice_begin(
	const struct advice_plan *plans, int plan_count, const struct scenario *start, double target_ns)
{
	struct adviser *d = base_calloc(1, sizeof(*d));
	d->arena = &d->own;
	d->plan_count = plan_count < PLANS_MAX ? plan_count : PLANS_MAX;
	for (int i = 0; i < d->plan_count; i++) {
		struct ground *on = &d->plans[i].on;
		d->plans[i] = plans[i];
		results_hold(on->results);
		if (on->peaks) {
			d->peaks[i] = *on->peaks;
			on->peaks = &d->peaks[i];
		}
		if (on->device) {
			d->device[i] = *on->device;
			on->device = &d->device[i];
		}
		if (on->assumed) {
			int count = on->plan->layer_count;
			struct assumption *copy = ARENA_ARRAY(&d->own, struct assumption, count);
			memcpy(copy, on->assumed, (size_t)count * sizeof(*copy));
			on->assumed = copy;
		}
	}
	d->layer_count = plans[0].on.plan->layer_count;
	d->start = *start;
	d->list.target_ns = target_ns;
	d->list.real_ns = NAN;
	d->list.gaps = ARENA_ARRAY(&d->own, struct advice_gap, GAPS_MAX);
	return d;
}

void advice_cancel(struct adviser *d)
{
	if (!d)
		return;
	for (int i = 0; i < 3 * PLANS_MAX; i++)
		if (d->open[i / 3][i % 3])
			study_close(&d->studies[i / 3][i % 3]);
	for (int i = 0; i < d->plan_count; i++)
		results_release(d->plans[i].on.results);
	arena_free(&d->scratch);
	arena_free(&d->kept);
	arena_free(&d->trial);
	arena_free(&d->own);
	free(d);
}

struct advice_list advice_end(struct adviser *d, struct arena *a)
{
	struct advice_list list = d->list;
	list.items = ARENA_ARRAY(&d->own, struct advice, d->count + 1);
	for (int i = 0; i < d->count; i++) {
		list.items[i] = d->moves[d->order[i]].shown;
		list.estimated |= list.items[i].estimated;
		list.least_ns = list.items[i].total_ns;
	}
	list.count = d->count;
	arena_adopt(a, &d->own);
	advice_cancel(d);
	return list;
}

struct advice_list advice_find(struct arena *a, const struct advice_plan *plans, int plan_count,
	const struct scenario *start, double target_ns)
{
	struct adviser *d = advice_begin(plans, plan_count, start, target_ns);
	while (advice_step(d))
		;
	return advice_end(d, a);
}
