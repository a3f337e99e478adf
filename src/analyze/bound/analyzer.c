/* What the analyses of one plan share: a study for each layout, with and without fusion, the prices in it,
 * and the totals of the scenarios that effects were computed from. New results change only the problems that
 * they are of; other plans, devices or peaks change everything. */
#include "config.h"

#include "analyze/bound/bound_private.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAYOUT_COUNT (LAYOUTS_PRICED + 1)

struct analyzer {
	struct ground on;
	struct peaks peaks;              /* copy of those in on.peaks */
	struct device device;            /* copy of what an analysis reads of on.device */
	struct assumption *assumed;      /* copy of those in on.assumed, which change in place; NULL: none */
	uint64_t version;                /* of the results */
	const struct results *held;      /* those that are pointed to; NULL until the first analysis */
	struct study studies[LAYOUT_COUNT][2]; /* by layout and whether groups may be fused */
	bool open[LAYOUT_COUNT][2];
	struct hash index;               /* text of a problem -> its number in studies with fusion */
	struct sides *sides;
	signed char available[LAYOUT_COUNT][WHAT_IFS_MAX]; /* per row of the table: -1 unknown */
};

struct analyzer *analyzer_new(void)
{
	struct analyzer *z = base_calloc(1, sizeof(*z));
	z->sides = sides_new();
	return z;
}

static void close_studies(struct analyzer *z, int layouts)
{
	for (int i = 0; i < 2; i++) {
		if (z->open[layouts][i])
			study_close(&z->studies[layouts][i]);
		z->open[layouts][i] = false;
	}
}

static void reset(struct analyzer *z)
{
	for (int i = 0; i < LAYOUT_COUNT; i++)
		close_studies(z, i);
	hash_free(&z->index);
	z->index = (struct hash){ 0 };
}

/* Results that were replaced before now are not needed any more. */
static void hold(struct analyzer *z, const struct results *results)
{
	if (z->held)
		results_release(z->held);
	z->held = results;
	if (z->held)
		results_hold(z->held);
}

void analyzer_free(struct analyzer *z)
{
	if (!z)
		return;
	reset(z);
	hold(z, NULL);
	sides_free(z->sides);
	free(z->assumed);
	free(z);
}

static bool same_device(const struct analyzer *z, const struct ground *g)
{
	return !g->device || (z->device.has_matrix == g->device->has_matrix &&
		z->device.distances == g->device->distances &&
		memcmp(&z->device.llc_bytes, &g->device->llc_bytes, sizeof(double)) == 0);
}

static bool same_peaks(const struct analyzer *z, const struct ground *g)
{
	return !g->peaks == !z->on.peaks && (!g->peaks || memcmp(&z->peaks, g->peaks, sizeof(z->peaks)) == 0);
}

/* Takes the assumptions of the ground; false: they are others than before. */
static bool take_assumed(struct analyzer *z, const struct ground *g)
{
	size_t size = (size_t)g->plan->layer_count * sizeof(*g->assumed);
	if (!g->assumed || !size) {
		bool none = !z->assumed;
		free(z->assumed);
		z->assumed = NULL;
		return none;
	}
	if (z->assumed && z->on.plan == g->plan && memcmp(z->assumed, g->assumed, size) == 0)
		return true;
	free(z->assumed);
	z->assumed = base_malloc(size);
	memcpy(z->assumed, g->assumed, size);
	return false;
}

static const struct study *study_of(struct analyzer *z, enum layouts layouts, bool fused)
{
	if (!z->open[layouts][fused])
		study_open(&z->studies[layouts][fused], &z->on, layouts, fused);
	z->open[layouts][fused] = true;
	return &z->studies[layouts][fused];
}

static const struct study *study_in(struct analyzer *z, const struct scenario *s)
{
	return study_of(z, s->layouts, s->fusion != FUSION_OFF);
}

/* Numbers the problems of the plan and its groups by their text. */
static void index_make(struct analyzer *z)
{
	const struct plan *p = z->on.plan;
	const struct fusion *f = z->on.fusion;
	int own = plan_problem_total(p), all = own + (f ? f->text_count : 0);
	for (int i = 0; i < all && !z->index.count; i++)
		for (int k = 0; k < all; k++)
			*hash_at(&z->index, text_of(k < own ? p->problems[k].text : f->texts[k - own])) = k;
}

static void renew_problem(struct analyzer *z, int distinct)
{
	for (int i = 0; i < LAYOUT_COUNT; i++)
		for (int k = 0; k < 2; k++) {
			struct study *st = &z->studies[i][k];
			if (!z->open[i][k] || distinct >= st->common_count)
				continue;
			if (!study_renew(st, distinct))
				close_studies(z, i);
		}
}

/* Takes the results that came since the last analysis. */
static void renew_results(struct analyzer *z)
{
	uint64_t version = results_version(z->on.results);
	if (version == z->version)
		return;
	enum cache cache = ground_cache(&z->on);
	for (int i = 0; i < LAYOUT_COUNT; i++) /* the results of conversions are not in the index */
		for (int k = 0; k < 2; k++)
			if (z->open[i][k] && (z->studies[i][k].layouts || z->studies[i][k].cache != cache))
				close_studies(z, i);
	index_make(z);
	for (uint64_t v = z->version; v < version; v++) {
		const char *problem = results_changed(z->on.results, v);
		int64_t distinct = v + 1 < version && results_changed(z->on.results, v + 1) == problem ? -1
			: hash_find(&z->index, text_of(problem));
		if (distinct >= 0)
			renew_problem(z, (int)distinct);
	}
}

/* Brings everything that is kept in line with the ground. */
static void ready(struct analyzer *z, const struct ground *g)
{
	bool other = z->on.plan != g->plan || z->on.fusion != g->fusion || z->on.results != g->results ||
		z->on.estimate != g->estimate || z->on.device != g->device || !same_device(z, g) ||
		results_version(g->results) < z->version ||
		results_version(g->results) > z->version + RESULTS_CHANGES;
	bool peaks = same_peaks(z, g), assumed = take_assumed(z, g),
	     renewed = results_version(g->results) != z->version;
	if (other)
		reset(z);
	z->on = *g;
	if (!other)
		renew_results(z);
	if (other || renewed)
		hold(z, g->results);
	for (int i = 0; i < LAYOUT_COUNT; i++)
		for (int k = 0; k < 2; k++) {
			struct study *st = &z->studies[i][k];
			if (!z->open[i][k])
				continue;
			st->on = *g;
			if (!peaks)
				study_forget_prices(st);
			study_trim(st);
		}
	if (other || renewed || !peaks || !assumed) {
		sides_forget(z->sides);
		memset(z->available, -1, sizeof(z->available));
	}
	sides_trim(z->sides);
	z->version = results_version(g->results);
	if (g->peaks)
		z->peaks = *g->peaks;
	if (g->device)
		z->device = *g->device;
}

const struct study *analyzer_study(struct analyzer *z, const struct ground *g, enum layouts layouts)
{
	ready(z, g);
	return study_of(z, layouts, true);
}

static struct scenario plain_of(struct analyzer *z, const struct scenario *s)
{
	return study_plain(study_in(z, s), s);
}

struct analysis *analyzer_run(
	struct analyzer *z, struct arena *a, const struct ground *g, const struct scenario *s)
{
	struct arena scratch = { 0 };
	struct solution x;
	ready(z, g);
	struct scenario plain = plain_of(z, s), other = plain;
	const struct study *st = study_in(z, &plain);
	solve(st, &plain, &scratch, &x);
	solve_floors(st, &plain, &x);
	struct analysis *out = analysis_make(a, st, s, &x);
	/* a solution has both totals, unless the critical path was wanted, which may choose other groups, or
	 * it is the best of several for this total */
	other.parallel = s->parallel ? PARALLEL_OFF : PARALLEL_RESOURCES;
	if (!side_find(z->sides, &plain))
		side_add(z->sides, st, &plain, &x);
	if (!x.offered && !side_find(z->sides, &other))
		side_add(z->sides, st, &other, &x);
	arena_free(&scratch);
	return out;
}

/* The total of a scenario in which no choice is without effect (plain_of). */
static const struct side *side_of(struct analyzer *z, const struct scenario *plain)
{
	const struct side *kept = side_find(z->sides, plain);
	if (kept)
		return kept;
	struct arena scratch = { 0 };
	struct solution x;
	const struct study *st = study_in(z, plain);
	solve_total(st, plain, &scratch, &x);
	solve_floors(st, plain, &x);
	kept = side_add(z->sides, st, plain, &x);
	arena_free(&scratch);
	return kept;
}

static bool is_available(struct analyzer *z, const struct scenario *s, int row)
{
	signed char *kept = &z->available[s->layouts][row];
	if (*kept < 0)
		*kept = what_if_available(study_of(z, s->layouts, true), row);
	return *kept > 0;
}

void analyzer_effect_begin(struct analyzer *z, const struct ground *g, const struct scenario *s, int row,
	struct what_if_effect *effect)
{
	int count;
	const struct what_if *w = &what_if_table(&count)[row];
	ready(z, g);
	*effect = (struct what_if_effect){ .row = w, .pending = true, .choice = w->get(s), .total_ns = NAN,
		.bound_ns = NAN, .saves_ns = NAN, .layers = -1 };
	effect->on = effect->choice != 0;
	effect->available = is_available(z, s, row);
}

void analyzer_effect(struct analyzer *z, const struct ground *g, const struct scenario *s, int row,
	struct what_if_effect *effect)
{
	struct scenario flipped = *s;
	analyzer_effect_begin(z, g, s, row, effect);
	effect->pending = false;
	struct scenario plain = plain_of(z, s);
	if (effect->on && what_if_is_counted(row))
		effect->layers = effect->row->get(&plain) ? side_layers(side_of(z, &plain), row) : 0;
	if (!effect->available || (!effect->on && what_if_choices(effect->row) < 2)) /* on needs a value */
		return;
	effect->row->set(&flipped, effect->on ? 0 : 1);
	flipped = plain_of(z, &flipped);
	const struct side *here = side_of(z, &plain);
	effect_fill(effect, here, side_of(z, &flipped), g->plan->layer_count);
}

struct analysis *analyze(struct arena *a, const struct ground *g, const struct scenario *s)
{
	if (g->shared)
		return analyzer_run(g->shared, a, g, s);
	struct analyzer *z = analyzer_new();
	struct analysis *out = analyzer_run(z, a, g, s);
	analyzer_free(z);
	return out;
}

struct what_if_effect *analyze_what_ifs(
	struct arena *a, const struct ground *g, const struct scenario *s, int *count)
{
	struct analyzer *z = analyzer_new();
	what_if_table(count);
	struct what_if_effect *effects = ARENA_ARRAY(a, struct what_if_effect, *count);
	for (int i = 0; i < *count; i++)
		analyzer_effect(z, g, s, i, &effects[i]);
	analyzer_free(z);
	return effects;
}
