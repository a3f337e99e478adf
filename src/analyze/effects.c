#include "config.h"

#include "analyze/analyze_private.h"

#include <math.h>
#include <string.h>

/* True if the roofline of some problem can use matrix units: their peak for its type is known (for f32 that
 * of tf32). */
static bool estimates_differ(const struct study *st, bool f32_alone)
{
	for (int i = 0; i < st->distinct_count; i++) {
		const char *text = study_text(st, i);
		if (!st->wanted[i] || !matrix_possible(text, false))
			continue;
		const char *type = strchr(text, ':') + 1;
		enum dtype own = dtype_parse((struct text){ type, strcspn(type, ".@,") });
		bool is_f32 = own == DTYPE_F32;
		if (own != DTYPE_UNKNOWN && (is_f32 || !f32_alone) &&
			!isnan(st->on.peaks->matrix_flops[is_f32 ? DTYPE_TF32 : own]))
			return true;
	}
	return false;
}

/* True if the what-if matrix can have an effect: a result uses matrix units, or a problem that is not
 * measured yet could, on a device that has them. */
bool matrix_available(const struct study *st)
{
	bool device = !st->device || st->device->has_matrix;
	if (st->on.estimate && st->on.peaks)
		return estimates_differ(st, false);
	for (int i = 0; i < st->distinct_count; i++) {
		const struct found *f = &st->found[i];
		for (int k = 0; k < f->count; k++)
			if (f->results[k]->status == STATUS_OK &&
				f->results[k]->algorithm.matrix == MATRIX_YES)
				return true;
		const char *text = study_text(st, i);
		bool open = !found_answered(f, LAUNCH_AMORTIZED, st->cache) &&
			!found_answered(f, LAUNCH_ISOLATED, st->cache);
		if (st->wanted[i] && device && open && matrix_possible(text, true))
			return true;
	}
	return false;
}

/* True if the what-if math can have an effect: a result has relaxed math. Libraries list strict and relaxed
 * algorithms together, so measured results are enough to decide. */
bool math_available(const struct study *st)
{
	if (st->on.estimate && st->on.peaks)
		return estimates_differ(st, true);
	for (int i = 0; i < st->distinct_count; i++)
		for (int k = 0; k < st->found[i].count; k++) {
			const struct result *r = st->found[i].results[k];
			if (r->status == STATUS_OK && !is_strict(r))
				return true;
		}
	return false;
}

/* True if any result exists; estimates have one algorithm. */
bool algorithm_available(const struct study *st)
{
	for (int i = 0; i < st->distinct_count; i++)
		if (st->found[i].count)
			return true;
	return !st->on.estimate;
}

/* ... or launches can be estimated: the device is a described GPU. */
bool launch_available(const struct study *st)
{
	return algorithm_available(st) || (st->on.peaks && st->on.peaks->sm);
}

bool layout_available(const struct study *st)
{
	return st->plan->nxc;
}

bool assume_available(const struct study *st)
{
	for (int i = 0; st->on.assumed && i < st->plan->layer_count; i++)
		if (st->on.assumed[i].kind != ASSUME_NOTHING)
			return true;
	return false;
}

/* True if a usable result passes the test. */
static bool any_result(
	const struct study *st, bool (*test)(const struct result *r, const struct result *first))
{
	const struct result *first = NULL;
	for (int i = 0; i < st->distinct_count; i++)
		for (int k = 0; k < st->found[i].count; k++) {
			const struct result *r = st->found[i].results[k];
			if (r->status != STATUS_OK)
				continue;
			first = first ? first : r;
			if (test(r, first))
				return true;
		}
	return false;
}

static bool needs_workspace(const struct result *r, const struct result *first)
{
	(void)first;
	return !(r->algorithm.workspace_bytes <= 0); /* NaN: unknown */
}

static bool varies(const struct result *r, const struct result *first)
{
	(void)first;
	return is_nondeterministic(r);
}

static bool other_library(const struct result *r, const struct result *first)
{
	return strcmp(r->algorithm.api, first->algorithm.api) != 0;
}

static bool other_cache(const struct result *r, const struct result *first)
{
	return r->cache != first->cache;
}

bool workspace_available(const struct study *st)
{
	return any_result(st, needs_workspace);
}

bool deterministic_available(const struct study *st)
{
	return any_result(st, varies);
}

bool libraries_available(const struct study *st)
{
	return any_result(st, other_library);
}

bool cache_available(const struct study *st)
{
	return any_result(st, other_cache);
}

/* Layers that have an algorithm of the named libraries; 0 shows a misspelt name. */
int libraries_layers(const struct study *st, const struct scenario *s, const struct solution *x)
{
	const int *chosen = s->parallel ? x->chosen_path : x->chosen_sum;
	int count = 0;
	for (int i = 0; i < st->plan->layer_count; i++) {
		const struct price *price = solution_price(st, x, chosen, st->layer_node[i]);
		count += price && price->result;
	}
	return count;
}

int algorithm_layers(const struct study *st, const struct scenario *s, const struct solution *x)
{
	const int *chosen = s->parallel ? x->chosen_path : x->chosen_sum;
	int count = 0;
	if (!s->algorithm[0])
		return -1;
	for (int i = 0; i < st->plan->layer_count; i++) {
		const struct price *price = solution_price(st, x, chosen, st->layer_node[i]);
		count += price && price->result &&
			algorithm_is_named(s->algorithm, &price->result->algorithm);
	}
	return count;
}

bool pad_available(const struct study *st)
{
	for (int i = 0; i < st->plan->problem_count; i++)
		if (st->wanted[i] && plan_padded_index(st->plan, i) >= 0)
			return true;
	return false;
}

int pad_layers(const struct study *st, const struct scenario *s, const struct solution *x)
{
	const int *chosen = s->parallel ? x->chosen_path : x->chosen_sum;
	int count = 0;
	for (int i = 0; i < st->plan->layer_count; i++) {
		const struct price *price = solution_price(st, x, chosen, st->layer_node[i]);
		count += price && price->padded;
	}
	return count;
}

int assume_layers(const struct study *st, const struct scenario *s, const struct solution *x)
{
	int count = 0;
	(void)s;
	(void)x;
	for (int i = 0; st->on.assumed && i < st->plan->layer_count; i++)
		count += st->on.assumed[i].kind != ASSUME_NOTHING;
	return count;
}

bool fusion_available(const struct study *st)
{
	return st->groups > 0;
}

struct view {
	double bound_ns;
	bool complete, estimated;
};

static struct view seen(const struct solution *x, bool parallel)
{
	return parallel ? (struct view){ x->parallel_ns, x->complete_path, x->estimated_path } :
			  (struct view){ x->sequential_ns, x->complete_sum, x->estimated_sum };
}

/* True if the two sides lack the costs of different layers. Their totals then cover different parts of the
 * model, and the difference is not a saving. */
static bool gaps_differ(const struct study *st, const struct solution *x, bool x_path,
	const struct study *other, const struct solution *y, bool y_path)
{
	if (seen(x, x_path).complete && seen(y, y_path).complete && x->border_complete && y->border_complete)
		return false;
	const int *in_x = x_path ? x->chosen_path : x->chosen_sum,
		  *in_y = y_path ? y->chosen_path : y->chosen_sum;
	for (int i = 0; i < st->plan->layer_count; i++) {
		bool lacks_x = in_x[i] < 0 && isnan(x->cost[st->layer_node[i]]);
		bool lacks_y = in_y[i] < 0 && isnan(y->cost[other->layer_node[i]]);
		if (lacks_x != lacks_y)
			return true;
	}
	return x->border_complete != y->border_complete || (st != other && !x->border_complete);
}

/* Distinct problems beyond the common ones are different in two studies. */
static int lacking_count(const struct study *st, const struct solution *x, const struct study *other,
	const struct solution *y)
{
	int count = 0;
	for (int i = 0; i < st->distinct_count; i++)
		count += x->lacking[i] || ((st == other || i < st->common_count) && y->lacking[i]);
	for (int i = st->common_count; st != other && i < other->distinct_count; i++)
		count += y->lacking[i];
	return count;
}

/* Marks the distinct problems that a total contains and whose measurement is noisy; those beyond the common
 * ones from `own` on. */
static void noisy_mark(const struct study *st, const struct solution *x, bool path, bool *noisy, int own)
{
	const int *chosen = path ? x->chosen_path : x->chosen_sum;
	for (int node = 0; node < st->node_count; node++) {
		int distinct = solution_problem(st, x, chosen, node);
		const struct price *price = solution_price(st, x, chosen, node);
		const struct result *r = distinct >= 0 && price ? price->result : NULL;
		if (r && r->stats.stop == STOP_DISTURBED)
			noisy[distinct + (distinct < st->common_count ? 0 : own - st->common_count)] = true;
	}
}

static int count_true(const bool *flags, int count)
{
	int n = 0;
	for (int i = 0; i < count; i++)
		n += flags[i];
	return n;
}

static void fill_effect(const struct study *st, const struct scenario *s, const struct solution *here,
	struct what_if_effect *effect)
{
	const struct what_if *row = effect->row;
	struct scenario flipped = *s;
	struct arena scratch = { 0 };
	struct solution other = *here; /* for parallel: a solution has both totals */
	bool differ, *noisy = NULL;
	int problems = st->distinct_count;
	effect->choice = row->get(s);
	effect->on = effect->choice != 0;
	effect->available = !row->available || row->available(st);
	effect->bound_ns = effect->saves_ns = NAN;
	effect->layers = effect->on && row->layers ? row->layers(st, s, here) : -1;
	if (!effect->available) {
		arena_free(&scratch);
		return;
	}
	if (!effect->on && what_if_choices(row) < 2) { /* on needs a value */
		arena_free(&scratch);
		return;
	}
	row->set(&flipped, effect->on ? 0 : 1);
	if (row->stage == STAGE_PLAN) {
		struct study side;
		study_open(&side, &st->on, flipped.layouts, true);
		solve(&side, &flipped, &scratch, &other);
		problems += side.distinct_count;
		noisy = ARENA_ARRAY(&scratch, bool, problems);
		effect->unmeasured_problems = lacking_count(st, here, &side, &other);
		differ = !effect->unmeasured_problems &&
			gaps_differ(st, here, s->parallel, &side, &other, flipped.parallel);
		noisy_mark(&side, &other, flipped.parallel, noisy, st->distinct_count);
		study_close(&side);
	} else {
		if (row->stage != STAGE_TOTAL)
			solve(st, &flipped, &scratch, &other);
		noisy = ARENA_ARRAY(&scratch, bool, problems);
		effect->unmeasured_problems = lacking_count(st, here, st, &other);
		differ = !effect->unmeasured_problems &&
			gaps_differ(st, here, s->parallel, st, &other, flipped.parallel);
		noisy_mark(st, &other, flipped.parallel, noisy, st->common_count);
	}
	noisy_mark(st, here, s->parallel, noisy, st->common_count);
	effect->noisy_problems = count_true(noisy, problems);
	struct view now = seen(here, s->parallel), then = seen(&other, flipped.parallel);
	effect->bound_ns = then.bound_ns;
	effect->bound_complete = then.complete;
	effect->complete = now.complete && then.complete;
	effect->estimated = now.estimated || then.estimated;
	for (int i = 0; i < st->common_count; i++)
		effect->unavailable_problems += here->refused[i] != other.refused[i];
	if (!effect->unmeasured_problems && !differ)
		effect->saves_ns = effect->on ? then.bound_ns - now.bound_ns : now.bound_ns - then.bound_ns;
	arena_free(&scratch);
}

struct what_if_effect *analyze_what_ifs(
	struct arena *a, const struct ground *g, const struct scenario *s, int *count)
{
	const struct what_if *table = what_if_table(count);
	struct what_if_effect *effects = ARENA_ARRAY(a, struct what_if_effect, *count);
	struct arena scratch = { 0 };
	struct study st;
	struct solution here;
	study_open(&st, g, s->layouts, true);
	solve(&st, s, &scratch, &here);
	for (int i = 0; i < *count; i++) {
		effects[i].row = &table[i];
		fill_effect(&st, s, &here, &effects[i]);
	}
	arena_free(&scratch);
	study_close(&st);
	return effects;
}
