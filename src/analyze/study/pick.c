/* Picks the result that counts for a problem in a scenario: the fastest that the scenario allows in the
 * wanted cache state, else the reason that no result counts. */
#include "config.h"

#include "analyze/study/price.h"

#include <math.h>
#include <string.h>

/* The first row of the what-ifs by which the scenario excludes a result; NULL: none does. */
static const struct what_if *bar_of(
	const struct result *r, const struct scenario *s, bool device_has_matrix, enum barred *bar)
{
	int count;
	const struct what_if *rows = what_if_table(&count);
	for (int i = 0; i < count; i++) {
		*bar = rows[i].bars ? rows[i].bars(s, r) : BAR_NONE;
		if (*bar == BAR_YES || (*bar == BAR_UNKNOWN && device_has_matrix))
			return &rows[i];
	}
	return NULL;
}

static bool is_barred(const struct result *r, const struct scenario *s, bool device_has_matrix)
{
	enum barred bar;
	return bar_of(r, s, device_has_matrix, &bar) != NULL;
}

static bool in_pairs(const struct result *r, uint32_t pairs)
{
	int pair = pairs == LAYOUT_PAIRS_ALL ? 0 : layout_pair_of(r);
	return pair >= 0 && (pairs >> pair & 1);
}

static enum launch launch_of(const struct scenario *s)
{
	return s->amortized ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED;
}

/* True if the scenario allows the result, of cache state c. */
static bool may_run(const struct found *f, const struct result *r, const struct scenario *s, enum cache c,
	bool device_has_matrix)
{
	return r->launch == launch_of(s) && r->cache == c && usable(r) &&
		!is_barred(r, s, device_has_matrix) &&
		(f->overwrites[s->fold] || !algorithm_is_in_place(&r->algorithm));
}

#define DISTANCES ((((uint32_t)1 << (CACHE_FARTHEST - CACHE_NEAREST + 1)) - 1) << CACHE_NEAREST)

/* The state that is read for c, of those that are there (bits). Without it: of a problem without constants,
 * or of a runner that measures no distances, net or warm, first that of cache_by_size (old); if its copies
 * had no room (beyond), the nearer one. One that was measured at other distances only has to be measured at
 * its own. */
static enum cache state_read(uint32_t there, uint32_t beyond, enum cache c, enum cache old)
{
	bool huge = cache_is_huge(c);
	enum cache net = cache_in_pages(CACHE_NET, huge), warm = cache_in_pages(CACHE_WARM, huge);
	uint32_t others = DISTANCES << (huge ? CACHE_STATES : 0);
	if (!(there >> c & 1) && beyond >> c & 1)
		return cache_nearer(there, c);
	if (there >> c & 1 || !(c == warm || cache_is_distance(c)) || (c != warm && there & others))
		return c;
	enum cache first = c == warm ? net : cache_in_pages(old, huge);
	return c == warm || there >> first & 1 ? first : first == net ? warm : net;
}

static enum cache read_cache(const struct found *f, const struct scenario *s, enum cache c)
{
	return state_read(f->ok[launch_of(s)], f->beyond[launch_of(s)], c, f->old);
}

enum cache study_read_cache(const struct study *st, const struct scenario *s, int distinct)
{
	return read_cache(&st->found[distinct], s, st->cache);
}

bool study_allows(const struct study *st, const struct scenario *s, enum cache c, int distinct,
	const struct result *r)
{
	const struct found *f = &st->found[distinct];
	return f->finished && may_run(f, r, s, c, !st->device || st->device->has_matrix);
}

/* The best result, or (best off) the first in the library's order; results are sorted by rank. If its cost is
 * impossible, the one that counts instead (capped). pairs: only of
 * these layouts, as bits. name: only algorithms of this name; NULL: all. */
static const struct result *pick_named(const struct found *f, const struct scenario *s, enum cache c,
	bool best, bool device_has_matrix, uint32_t pairs, const char *name)
{
	const struct result *found = NULL, *cost = NULL;
	c = read_cache(f, s, c);
	if (!f->finished)
		return NULL;
	for (int i = 0; i < f->count; i++) {
		const struct result *r = f->results[i];
		if (!may_run(f, r, s, c, device_has_matrix) || !in_pairs(r, pairs) ||
			(name && !algorithm_is_named(name, &r->algorithm)))
			continue;
		if (found && is_brief(found) != is_brief(r)) {
			cost = is_brief(found) ? found_cost(f, i) : cost;
			found = is_brief(found) ? r : found;
			continue;
		}
		const struct result *own = found_cost(f, i);
		if (!found || (best && stats_cost(&own->stats) < stats_cost(&cost->stats))) {
			found = r;
			cost = own;
		}
	}
	return cost;
}

static const struct result *pick(const struct found *f, const struct scenario *s, enum cache c, bool best,
	bool device_has_matrix, uint32_t pairs)
{
	const struct result *named = best && s->algorithm[0] ?
		pick_named(f, s, c, best, device_has_matrix, pairs, s->algorithm) : NULL;
	return named ? named : pick_named(f, s, c, best, device_has_matrix, pairs, NULL);
}

void found_states(struct found *f)
{
	memset(f->any, 0, sizeof(f->any));
	memset(f->ok, 0, sizeof(f->ok));
	memset(f->beyond, 0, sizeof(f->beyond));
	for (int i = 0; i < f->count; i++) {
		const struct result *r = f->results[i];
		uint32_t bit = (uint32_t)1 << r->cache;
		f->any[r->launch] |= bit;
		f->ok[r->launch] |= r->status == STATUS_OK ? bit : 0;
		f->beyond[r->launch] |= result_is_beyond(r) ? bit : 0;
	}
}

const struct result *results_pick(const struct results *r, const char *problem, const struct scenario *s,
	enum cache c, double reuse_bytes, const struct peaks *k, bool overwrites)
{
	struct found f = { .overwrites = { overwrites, overwrites }, .peaks = k, .of = r };
	f.own = cache_plain(c);
	f.step = cache_step(c, reuse_bytes);
	f.results = results_of(r, problem, &f.count);
	found_states(&f);
	f.finished = results_is_finished(r, problem);
	return pick(&f, s, c, s->best, true, LAYOUT_PAIRS_ALL);
}

/* Lists the problems with algorithms in place whose layers cannot all use them. */
const char **study_apart(const struct study *st, struct arena *a, bool folds, int *count)
{
	int most = 0;
	for (int i = 0; st->marks.in_place && i < st->distinct_count; i++)
		most += st->found[i].in_place && !st->found[i].overwrites[folds];
	const char **texts = ARENA_ARRAY(a, const char *, most);
	*count = 0;
	for (int i = 0; st->marks.in_place && i < st->distinct_count; i++) {
		if (st->found[i].in_place && !st->found[i].overwrites[folds])
			texts[(*count)++] = study_text(st, i);
	}
	return texts;
}

bool found_answered(const struct found *f, enum launch launch, enum cache c)
{
	for (int i = 0; i < f->count; i++)
		if (f->results[i]->status != STATUS_OK && !*f->results[i]->algorithm.name)
			return true; /* the problem as a whole: the same in all launch modes and cache
					states */
	return f->finished && f->any[launch] >> state_read(f->any[launch], 0, c, f->old) & 1;
}

const char *study_text(const struct study *st, int distinct)
{
	const struct plan *p = st->plan;
	int own = plan_problem_total(p);
	return distinct < own ? p->problems[distinct].text : distinct < st->common_count ?
		st->fusion->texts[distinct - own] : st->extra[distinct - st->common_count];
}

/* True if no result can be used because the library does not support the problem, or the scenario excludes
 * all algorithms. */
static bool refused(const struct found *f, const struct scenario *s)
{
	enum launch launch = s->amortized ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED;
	bool unsupported = false, other = false, filtered = false;
	for (int i = 0; i < f->count; i++) {
		const struct result *r = f->results[i];
		unsupported |= r->status == STATUS_UNSUPPORTED;
		enum barred bar;
		filtered |= usable(r) && r->launch == launch && bar_of(r, s, true, &bar) && bar == BAR_YES;
		other |= r->status != STATUS_UNSUPPORTED && r->status != STATUS_OK;
	}
	return filtered || (unsupported && !other);
}

const char *study_elsewhere(struct arena *a, const struct study *st, const struct scenario *s, int distinct)
{
	const struct found *f = &st->found[distinct];
	enum launch launch = launch_of(s);
	const char *other = s->amortized ? "isolated" : "amortized";
	if (!f->finished || !f->usable)
		return NULL;
	if (cache_is_huge(st->cache))
		return "not measured in pages of 2 MiB (bench -w pages=2m)";
	if (found_answered(f, !launch, st->cache))
		return arena_printf(a, "only measured %s (-w launch=%s)", other, other);
	for (int n = 0; n < 2 * CACHE_NEAREST; n++) { /* first in this launch mode */
		const char *cache = cache_name((enum cache)(n % CACHE_NEAREST));
		if (!found_answered(f, n < CACHE_NEAREST ? launch : !launch, (enum cache)(n % CACHE_NEAREST)))
			continue;
		return n < CACHE_NEAREST ?
			arena_printf(a, "only measured with caches %s (-w cache=%s)", cache, cache) :
			arena_printf(a, "only measured %s with caches %s (-w launch=%s,cache=%s)", other,
				cache, other, cache);
	}
	return NULL;
}

static const char *found_why(const struct found *f, const struct scenario *s)
{
	enum launch launch = s->amortized ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED;
	const struct result *said = NULL;
	const struct what_if *by = NULL;
	enum barred bar;
	for (int i = 0; i < f->count; i++) {
		const struct result *r = f->results[i];
		bool whole = !*r->algorithm.name;
		if (r->status != STATUS_OK && (whole || (r->launch == launch && !said)))
			said = r;
		if (said == r && whole)
			break;
		if (!by && usable(r) && r->launch == launch)
			by = bar_of(r, s, true, &bar);
	}
	/* if the scenario excludes measured algorithms, that is the reason, not the failure of another one */
	if (said && !*said->algorithm.name)
		return *said->why ? said->why : status_name(said->status);
	if (by)
		return by->barred;
	return !said ? NULL : *said->why ? said->why : status_name(said->status);
}

const char *study_why(const struct study *st, const struct scenario *s, int distinct)
{
	return found_why(&st->found[distinct], s);
}

/* The result of a quick measurement, if the scenario allows it; c: the cache state. One in net counts for
 * those of shorter distances too, and any for a distance. */
static const struct result *pick_rough(const struct found *f, const struct scenario *s, enum cache c,
	bool device_has_matrix, uint32_t pairs)
{
	const struct result *r = f->rough;
	bool fits = r && r->launch == (s->amortized ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED) && usable(r) &&
		(r->cache == c || (cache_plain(c) != CACHE_COLD && !cache_is_huge(c) &&
			(r->cache == CACHE_NET || cache_is_distance(c)))) &&
		!is_barred(r, s, device_has_matrix) && in_pairs(r, pairs) &&
		(f->overwrites[s->fold] || !algorithm_is_in_place(&r->algorithm));
	return fits ? r : NULL;
}

/* The price that the results give; none if they do not. */
static struct price price_found(
	const struct study *st, const struct scenario *s, const struct found *f, bool best, uint32_t pairs)
{
	struct price price = { .ns = NAN, .known = true, PRICE_UNMEASURED };
	price.answered = found_answered(f, launch_of(s), st->cache);
	bool has_matrix = !st->device || st->device->has_matrix;
	price.result = pick(f, s, st->cache, best, has_matrix, pairs);
	if (!price.result && !price.answered) {
		price.result = pick_rough(f, s, st->cache, has_matrix, pairs);
		price.rough = price.result != NULL;
	}
	if (price.result) {
		enum cache read = read_cache(f, s, st->cache);
		price.ns = stats_cost(&price.result->stats);
		price.capped = !price.rough && (price.result->launch != launch_of(s) ||
			price.result->cache != read);
		price.nearer = !price.rough && f->beyond[launch_of(s)] >> st->cache & 1 && read != st->cache;
		price.noisy = price.capped || price.result->disputed ||
			price.result->stats.stop == STOP_DISTURBED;
		price.enqueue_ns = price.result->enqueue_ns;
	} else {
		price.unsupported = price.answered && refused(f, s);
	}
	return price;
}

static struct price price_unpadded(
	const struct study *st, const struct scenario *s, int distinct, bool best, uint32_t pairs)
{
	struct price price = price_found(st, s, &st->found[distinct], best, pairs);
	if (!price.answered && !price.rough && st->on.estimate && st->on.peaks) {
		const struct problem *p = study_problem(st, distinct);
		struct estimate guess = { .ns = NAN };
		if (p)
			guess = estimate_least(p, st->on.peaks, s, st->plan->reuse_bytes);
		price.ns = s->floors ? guess.floor_ns : guess.ns;
		price.estimated = price.answered = !isnan(price.ns);
		price.guess = price.estimated ? study_keep_guess(st, &guess) : NULL;
	}
	struct roof roof = price.result ? roofline_of_found(st, distinct, price.result) : (struct roof){ 0 };
	if (price.nearer)
		price.far_ns = roofline_constants_ns(study_problem(st, distinct), st->on.peaks);
	price_interval(&price, &roof);
	return price;
}

/* True if price x is lower; an estimate does not replace a measurement. */
static bool is_cheaper(const struct price *x, const struct price *y)
{
	if (isnan(x->ns) || isnan(y->ns))
		return !isnan(x->ns);
	return (!x->estimated || y->estimated) && x->ns < y->ns;
}

struct price study_price_in(
	const struct study *st, const struct scenario *s, int distinct, bool best, uint32_t pairs)
{
	struct price own = price_unpadded(st, s, distinct, best, pairs), padded;
	int twin = s->pad && pairs == LAYOUT_PAIRS_ALL ? plan_padded_index(st->plan, distinct) : -1;
	if (twin < 0)
		return own;
	padded = price_unpadded(st, s, twin, best, pairs);
	padded.padded = true;
	padded.answered = own.answered = own.answered && padded.answered;
	return is_cheaper(&padded, &own) ? padded : own;
}

/* Without reuse distances: warm if the model fits in half of the last-level cache, or if the device has
 * results in no other state (of other programs); else, also if a size is unknown, net. */
static enum cache cache_by_size(const struct ground *g)
{
	const struct results *r = g->results;
	double live = g->plan->weight_bytes + g->plan->peak_live_bytes;
	if (r && !results_have_cache(r, CACHE_NET) && results_have_cache(r, CACHE_WARM))
		return CACHE_WARM;
	return g->device && live <= g->device->llc_bytes / 2 ? CACHE_WARM : CACHE_NET; /* NaN: false */
}

/* The cache state of the bound: that of the model's reuse distance (device_cache), if the device has results
 * at distances or will have them. */
enum cache ground_cache(const struct ground *g)
{
	const struct device *d = g->device;
	const struct results *r = g->results;
	bool has = r && results_have_distances(r),
	     will = d && d->distances && !(r && (results_have_cache(r, CACHE_NET) ||
		results_have_cache(r, CACHE_WARM)));
	return d && (has || will) ? device_cache(d, g->plan->reuse_bytes) : cache_by_size(g);
}

enum cache study_cache(const struct study *st, const struct scenario *s)
{
	static const enum cache states[] = { [CACHE_CHOICE_WARM] = CACHE_WARM, [CACHE_CHOICE_NET] = CACHE_NET,
		[CACHE_CHOICE_COLD] = CACHE_COLD };
	if (st->on.estimate) /* estimates have no choice */
		return st->cache;
	return cache_in_pages(s->cache == CACHE_CHOICE_AUTO ? st->usual : states[s->cache], s->huge_pages);
}

/* Whether a choice of the row that has a word excludes a result. */
static enum barred most_barred(const struct what_if *row, const struct result *r)
{
	enum barred most = BAR_NONE;
	for (int k = 0; row->choices[k] && most != BAR_YES; k++) {
		struct scenario s = { .matrix = true, .relaxed = true }; /* excludes nothing */
		row->set(&s, k);
		enum barred bar = row->bars(&s, r);
		most = bar > most ? bar : most;
	}
	return most;
}

/* Notes which rows of the what-ifs can exclude a result, or are available with it; nothing is taken back when
 * results change. */
static void mark(struct study *st, const struct result *r, bool rough)
{
	struct marks *m = &st->marks;
	int count;
	const struct what_if *rows = what_if_table(&count);
	bool ok = r->status == STATUS_OK && !rough;
	if (ok && !m->first) {
		m->first = ARENA_NEW(&st->arena, struct result);
		*m->first = *r;
	}
	for (int i = 0; i < count; i++) {
		uint64_t bit = (uint64_t)1 << i;
		enum barred bar = rows[i].bars && !(m->barred & m->offered & bit) ? most_barred(&rows[i], r)
									       : BAR_NONE;
		m->barred |= bar && usable(r) ? bit : 0;
		if (ok && (rows[i].differs ? rows[i].differs(m->first, r) : bar == BAR_YES))
			m->offered |= bit;
	}
}

bool study_can_bar(const struct study *st, const struct what_if *row, int index, const struct scenario *s)
{
	bool can = st->marks.barred >> index & 1;
	if (!can || row->get(s) < what_if_choices(row))
		return can;
	for (int i = 0; i < st->distinct_count; i++) {
		const struct found *f = &st->found[i];
		for (int k = 0; k < f->count; k++)
			if (usable(f->results[k]) && row->bars(s, f->results[k]))
				return true;
		if (f->rough && usable(f->rough) && row->bars(s, f->rough))
			return true;
	}
	return false;
}

static void found_read(struct found *f, const struct ground *on, const char *text)
{
	const struct results *results = on->results;
	f->peaks = on->peaks;
	f->of = results;
	f->own = ground_cache(on);
	f->step = cache_step(f->own, on->plan->reuse_bytes);
	f->old = cache_by_size(on);
	f->results = results_of(results, text, &f->count);
	found_states(f);
	f->finished = results_is_finished(results, text);
	f->rough = results_rough(results, text);
	f->usable = f->in_place = false;
	for (int i = 0; i < f->count; i++) {
		f->usable = f->usable || usable(f->results[i]);
		f->in_place = f->in_place || algorithm_is_in_place(&f->results[i]->algorithm);
	}
}

void study_read(struct study *st, int distinct)
{
	struct found *f = &st->found[distinct];
	found_read(f, &st->on, study_text(st, distinct));
	for (int i = 0; i < f->count; i++)
		mark(st, f->results[i], false);
	if (f->rough)
		mark(st, f->rough, true);
	st->marks.in_place = st->marks.in_place || f->in_place;
}

struct price study_price_of(const struct study *st, const struct scenario *s, const char *text,
	const char **why)
{
	struct found f = { .overwrites = { true, true } };
	found_read(&f, &st->on, text);
	struct price price = price_found(st, s, &f, s->best, LAYOUT_PAIRS_ALL);
	struct problem p;
	bool roofs = price.result && !problem_parse(text_of(text), &p, NULL);
	struct roof roof = roofline_check(roofs ? &p : NULL, st->on.peaks, price.result);
	price.far_ns = roofline_constants_ns(roofs ? &p : NULL, st->on.peaks);
	price_interval(&price, &roof);
	*why = price.answered && isnan(price.ns) ? found_why(&f, s) : NULL;
	return price;
}

static void find_results(struct study *st, int distinct)
{
	st->found[distinct].overwrites[0] = st->found[distinct].overwrites[1] = true;
	study_read(st, distinct);
}

static void study_want(struct study *st, int distinct)
{
	if (!st->wanted[distinct])
		find_results(st, distinct);
	st->wanted[distinct] = true;
}

static void per_distinct(struct study *st, int had)
{
	struct found *found = ARENA_ARRAY(&st->arena, struct found, st->distinct_count);
	bool *wanted = ARENA_ARRAY(&st->arena, bool, st->distinct_count);
	if (had) {
		memcpy(found, st->found, (size_t)had * sizeof(*found));
		memcpy(wanted, st->wanted, (size_t)had * sizeof(*wanted));
	}
	st->found = found;
	st->wanted = wanted;
	st->roofs = ARENA_ARRAY(&st->arena, struct roof, st->distinct_count);
	st->problems = ARENA_ARRAY(&st->arena, const struct problem_kept *, st->distinct_count);
	st->little = ARENA_ARRAY(&st->arena, signed char, st->distinct_count);
}

/* What a scenario reads of each group and layer, close together. */
static void per_group(struct study *st)
{
	st->group_distinct = ARENA_ARRAY(&st->arena, int, st->groups);
	st->group_level = ARENA_ARRAY(&st->arena, uint8_t, st->groups);
	st->group_last = ARENA_ARRAY(&st->arena, int, st->groups);
	st->group_size = ARENA_ARRAY(&st->arena, uint8_t, st->groups);
	for (int i = 0; i < st->groups; i++) {
		const struct fusion_group *g = &st->fusion->groups[i];
		st->group_distinct[i] = st->nxc ? g->distinct_nxc : g->distinct;
		st->group_level[i] = (uint8_t)g->level;
		st->group_last[i] = g->layers[g->layer_count - 1];
		st->group_size[i] = (uint8_t)g->layer_count;
		st->group_levels = (uint8_t)(st->group_levels | 1u << g->level);
	}
	st->layer_free = ARENA_ARRAY(&st->arena, bool, st->plan->layer_count);
	for (int i = 0; i < st->plan->layer_count; i++) {
		st->layer_free[i] = st->plan->layers[i].class == CLASS_FREE;
		st->control_count += plan_layer_is_control(&st->plan->layers[i]);
	}
	int count = 0;
	st->controls = ARENA_ARRAY(&st->arena, int, st->control_count);
	for (int i = 0; count < st->control_count; i++)
		if (plan_layer_is_control(&st->plan->layers[i]))
			st->controls[count++] = i;
}

void study_extend(struct study *st, const char *const *texts, int count)
{
	int had = st->distinct_count;
	st->extra = ARENA_ARRAY(&st->arena, const char *, count);
	if (count)
		memcpy(st->extra, texts, (size_t)count * sizeof(*texts));
	st->distinct_count += count;
	per_distinct(st, had);
	for (int i = had; i < st->distinct_count; i++)
		study_want(st, i);
}

void study_want_of(struct study *st, int distinct, const struct plan *p, const int *layers, int count)
{
	if (distinct < 0)
		return;
	study_want(st, distinct);
	bool *over = st->found[distinct].overwrites;
	for (int folds = 0; folds < 2; folds++)
		over[folds] = over[folds] && count > 0 && plan_overwrites(p, layers, count, folds);
	st->folds_apart |= over[0] != over[1];
}

static void want_bodies(struct study *st, const struct plan_layer *l)
{
	for (int i = 0; i < l->body_count; i++)
		for (int k = 0; k < l->bodies[i].layer_count; k++) {
			const struct plan_layer *inner = &l->bodies[i].layers[k];
			study_want_of(st, inner->problem, &l->bodies[i], &inner->index, 1);
			want_bodies(st, inner);
		}
}

/* Marks the distinct problems of this layout. */
static void find_wanted(struct study *st)
{
	for (int i = 0; st->plan->padded && i < st->plan->problem_count; i++)
		if (st->plan->padded[i] >= 0) {
			find_results(st, st->plan->padded[i]);
			st->pads = true;
		}
	for (int i = 0; i < st->node_count; i++)
		study_want_of(st, st->node_problem[i], st->plan, &st->node_layer[i], st->node_layer[i] >= 0);
	for (int i = 0; i < st->plan->layer_count; i++)
		want_bodies(st, &st->plan->layers[i]);
	for (int i = 0; i < st->groups; i++) {
		const struct fusion_group *g = &st->fusion->groups[i];
		study_want_of(st, study_group_distinct(st, g), st->plan, g->layers, g->layer_count);
		study_want_of(st, fusion_copy(g), st->plan, NULL, 0);
	}
}

void study_open(struct study *st, const struct ground *g, enum layouts layouts, bool fused)
{
	const struct plan *p = g->plan;
	enum cache cache = ground_cache(g);
	*st = (struct study){ .on = *g, .plan = p, .fusion = g->fusion, .device = g->device,
		.cache = cache, .usual = cache, .nxc = layouts == LAYOUTS_NXC && p->nxc };
	st->groups = fused && g->fusion ? g->fusion->group_count : 0;
	st->distinct_count = plan_problem_total(p) + (st->groups ? g->fusion->text_count : 0);
	st->common_count = st->distinct_count;
	per_distinct(st, 0);
	per_group(st);
	study_lists_open(st);
	if (st->nxc) {
		st->conversions = p->conversions;
		st->conversion_count = p->conversion_count;
	}
	study_graph(st);
	find_wanted(st);
	if (layouts != LAYOUTS_NXC)
		layouts_open(st, layouts == LAYOUTS_PRICED);
	if (st->layouts)
		study_graph(st);
	study_chains(st);
}

void study_detach(struct study *st)
{
	for (int i = 0; i < st->distinct_count; i++) {
		struct found *f = &st->found[i];
		const struct result **copy = ARENA_ARRAY(&st->arena, const struct result *, f->count);
		if (f->count)
			memcpy(copy, f->results, (size_t)f->count * sizeof(*copy));
		f->results = copy;
	}
}

void study_close(struct study *st)
{
	study_lists_close(st);
	arena_free(&st->arena);
}
