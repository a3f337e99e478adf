/* What is measured: the problems of the scenario and its what-ifs, of a layer, of the device's peaks. */
#include "config.h"

#include "session/session_private.h"

#include "base/hash.h"

#include <string.h>

const char **session_peak_problems(struct session *s, struct arena *a, int *count)
{
	bool types[DTYPE_COUNT];
	memcpy(types, s->subject->trimmed_types, sizeof(types));
	for (int i = 0; i < s->subject->plan_count; i++)
		session_types_note(types, s->subject->plans[i]);
	return peaks_problems(a, &s->seat->device, types, count);
}

const char **session_problems(const struct session *s, struct arena *a, int *count)
{
	return analyze_problems_in(a, s->current->plan, session_fusion(s),
		s->scenario.fusion != FUSION_OFF, scenario_variants(&s->scenario), count);
}

static int quick_add(struct session *s, enum cache cache, const char **texts, int count)
{
	int missing = 0, added = 0;
	for (int i = 0; i < count; i++)
		missing += !results_is_finished(s->seat->results, texts[i]);
	for (int i = count - 1; i >= 0 && missing > QUICK_LEAST; i--) /* the last one added is the first */
		added += queue_add_quick(s->seat->queue, texts[i], cache,
			s->scenario.amortized ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED);
	return added;
}

int session_quick_of(struct session *s, const struct variant_ground *g)
{
	struct arena a = { 0 };
	int count;
	if (!s->seat->queue || !s->seat->config->quick)
		return 0;
	const char **texts = analyze_problems_in(&a, g->on.plan, g->on.fusion,
		g->scenario.fusion != FUSION_OFF, scenario_variants(&g->scenario), &count);
	session_plan_distance(s, g->plan);
	int added = quick_add(s, variant_analysis(g, &a)->cache, texts, count);
	arena_free(&a);
	return added;
}

int session_measure_quick(struct session *s)
{
	session_analyze(s);
	if (!s->analysis)
		return 0;
	const struct variant_ground g = session_shown(s);
	return session_quick_of(s, &g);
}

/* The same, and then of its what-ifs', behind these. */
static int session_measure_quick_all(struct session *s)
{
	struct arena a = { 0 };
	int count;
	session_analyze(s);
	if (!s->seat->queue || !s->analysis || !s->seat->config->quick)
		return 0;
	struct hash own = { 0 };
	const char **texts = session_problems(s, &a, &count);
	for (int i = 0; i < count; i++)
		*hash_at(&own, text_of(texts[i])) = i;
	int others = 0;
	texts = analyze_problems_in(&a, s->current->plan, session_fusion(s), true,
		scenario_variants(&s->scenario), &count);
	for (int i = 0; i < count; i++)
		if (hash_find(&own, text_of(texts[i])) < 0)
			texts[others++] = texts[i];
	int added = quick_add(s, s->analysis->cache, texts, others);
	hash_free(&own);
	arena_free(&a);
	return added + session_measure_quick(s); /* these come first */
}

/* Adds to `texts` those that the queue takes and that are not there yet. Returns how many. */
static int missing_add(const struct session *s, struct hash *seen, const char **texts, const char **list,
	int count, bool brief)
{
	struct queue *q = s->seat->queue;
	int added = 0;
	for (int i = 0; i < count; i++) {
		if (!(brief ? queue_takes_brief(q, list[i]) : queue_takes(q, list[i])))
			continue;
		int64_t *at = hash_at(seen, text_of(list[i]));
		if (*at < 0)
			texts[added++] = list[i];
		*at = 0;
	}
	return added;
}

/* True if the algorithm was dropped by the shortlist pass since then; its other states are not measured
 * again. */
static bool is_passed_over(const struct result *const *all, int count, const struct algorithm *a)
{
	for (int i = 0; i < count; i++)
		if (all[i]->stats.stop == STOP_SHORTLIST && strcmp(all[i]->algorithm.name, a->name) == 0 &&
			strcmp(all[i]->algorithm.api, a->api) == 0 &&
			strcmp(all[i]->algorithm.layouts, a->layouts) == 0)
			return true;
	return false;
}

bool session_is_shaky(const struct session *s, const char *problem)
{
	int count;
	const struct result *const *all = results_of(s->seat->results, problem, &count);
	const struct device *d = &s->seat->device;
	bool reads[CACHE_COUNT], near = false; /* the model's states, and net of a problem without them */
	uint32_t there = 0;
	device_states(d, s->current->plan->reuse_bytes, s->scenario.huge_pages, reads);
	for (int i = 0; i < count; i++)
		near |= cache_is_distance(all[i]->cache);
	for (int i = 0; i < count; i++)
		there |= (uint32_t)(all[i]->status == STATUS_OK) << all[i]->cache;
	for (int i = 0; i < count; i++)
		if (result_is_beyond(all[i]) && reads[all[i]->cache])
			reads[cache_nearer(there, all[i]->cache)] = true;
	reads[CACHE_NET] |= !near;
	for (int i = 0; i < count; i++)
		if (all[i]->status == STATUS_OK &&
			(all[i]->stats.stop == STOP_DISTURBED || all[i]->disputed) &&
			(reads[all[i]->cache] || (!d->distances && !near)) &&
			!is_passed_over(all, count, &all[i]->algorithm))
			return true;
	return false;
}

/* The problems that session_measure_shaky queues, in arena a: the scenario's, and from *own on the peaks. */
static const char **shaky_problems(struct session *s, struct arena *a, int *own, int *count)
{
	struct hash seen = { 0 };
	int all, peaks = 0, layers = s->analysis ? s->analysis->layer_count : 0;
	const char **texts = session_problems(s, a, &all);
	const char **of_device = s->seat->device.name ? session_peak_problems(s, a, &peaks) : NULL;
	const char **shaky = ARENA_ARRAY(a, const char *, all + layers + peaks);
	*own = *count = 0;
	for (int i = 0; i < all + layers + peaks; i++) {
		bool of_layer = i >= all && i < all + layers;
		const struct layer_cost *c = of_layer ? &s->analysis->layers[i - all] : NULL;
		bool differs = c && (c->capped || c->disputed) && c->result;
		const char *text = i < all ? texts[i] : !c ? of_device[i - all - layers] :
			differs ? c->result->problem : NULL;
		if (!text || (!c && !session_is_shaky(s, text)))
			continue;
		int64_t *at = hash_at(&seen, text_of(text));
		if (*at < 0)
			shaky[(*count)++] = text;
		*at = 0;
		*own = i < all + layers ? *count : *own;
	}
	hash_free(&seen);
	return shaky;
}

int session_measure_shaky(struct session *s)
{
	struct arena a = { 0 };
	int own, count, added = 0;
	const char **texts = shaky_problems(s, &a, &own, &count);
	for (int i = 0; i < count && s->seat->queue; i++)
		added += i < own ? queue_add(s->seat->queue, texts[i], false, true) :
			session_queue_peak(s, texts[i], true);
	arena_free(&a);
	return added;
}

bool session_is_measuring(const struct session *s)
{
	return s->seat->queue && (!queue_status(s->seat->queue).idle || s->repeats_due || s->besides_due);
}

struct session_missing session_missing(struct session *s, struct arena *a)
{
	struct session_missing m = { 0 };
	int own, conversions, peaks = 0;
	if (!s->seat->queue || !s->current)
		return m;
	const char **of_own = analyze_problems_in(a, s->current->plan, session_fusion(s), true,
		scenario_variants(&s->scenario), &own);
	const char **of_results = session_conversions(s, a, &conversions);
	const char **of_device = s->seat->device.name ? session_peak_problems(s, a, &peaks) : NULL;
	struct hash seen = { 0 };
	m.texts = ARENA_ARRAY(a, const char *, own + conversions + peaks);
	m.own = missing_add(s, &seen, m.texts, of_own, own, false);
	m.conversions = missing_add(s, &seen, m.texts + m.own, of_results, conversions,
		false);
	m.peaks = missing_add(s, &seen, m.texts + m.own + m.conversions, of_device, peaks, true);
	hash_free(&seen);
	shaky_problems(s, a, &own, &m.shaky);
	m.besides = s->analysis ? s->analysis->beside_unmeasured : 0;
	return m;
}

/* Number of uses of each problem by layers and groups of the plan. */
static void uses_count(const struct variant_ground *g, struct hash *uses)
{
	const struct plan *p = g->on.plan;
	const struct fusion *f = g->on.fusion;
	for (int i = 0; i < plan_problem_total(p); i++)
		*hash_at(uses, text_of(p->problems[i].text)) = p->problems[i].use_count;
	for (int i = 0; i < f->group_count; i++) {
		const char *nxc = g->scenario.layouts == LAYOUTS_NXC ? f->groups[i].text_nxc : NULL;
		int64_t *at = hash_at(uses, text_of(nxc ? nxc : f->groups[i].text));
		*at = *at < 0 ? 1 : *at + 1;
	}
}

/* What may be measured again, with its uses, in arena a: the problems of the plan, then what depends on
 * results: conversions, each of which may be all that the bound has, and branches that are in the bound. */
static const char **repeatable(const struct variant_ground *g, const struct analysis *x, struct arena *a,
	struct hash *uses, int *count)
{
	struct ground on = g->plan == g->session->current ? session_ground_shared(g->session) : g->on;
	int own, conversions, besides = 0, placed = x->conversions;
	const char **of_own = analyze_problems_in(a, on.plan, on.fusion, true,
		scenario_variants(&g->scenario), &own);
	const char **of_results = analyze_conversions(a, &on, &g->scenario, &conversions);
	const char **texts = ARENA_ARRAY(a, const char *, own + conversions + x->beside_count);
	uses_count(g, uses);
	for (int i = 0; i < own; i++)
		texts[i] = of_own[i];
	for (int i = 0; i < conversions; i++) {
		texts[own + i] = of_results[i];
		*hash_at(uses, text_of(of_results[i])) = placed > 0 ? placed : 1;
	}
	for (int i = 0; i < x->beside_count; i++) {
		const struct beside_cost *b = &x->besides[i];
		int64_t *at = b->used ? hash_at(uses, text_of(b->text)) : NULL;
		if (at && *at < 0)
			texts[own + conversions + besides++] = b->text;
		if (at)
			*at = *at < 0 ? 1 : *at + 1;
	}
	*count = own + conversions + besides;
	return texts;
}

static bool is_of_this_runner(const struct session *s, const struct result *r)
{
	const char *version = s->seat->device.version;
	return r->stats.p10 > 0 && version && strcmp(r->runner_version, version) == 0;
}

bool session_is_once(const struct session *s, const struct result *r)
{
	return r->times < 2 && is_of_this_runner(s, r);
}

/* Adds repeats of the problems of that ground (session_queue_repeats). */
static int repeats_add(struct session *s, const struct variant_ground *g, bool stored)
{
	struct arena a = { 0 };
	struct hash uses = { 0 };
	int count, added = 0;
	const struct analysis *x = variant_analysis(g, &a);
	const char **texts = x->total_ns > 0 ? repeatable(g, x, &a, &uses, &count) : NULL;
	session_plan_distance(s, g->plan);
	for (int i = 0; texts && i < count; i++) {
		bool own = queue_state(s->seat->queue, texts[i]) == JOB_DONE;
		if (!own && !stored)
			continue;
		const struct result *r = analyze_pick(x, s->seat->results, texts[i]);
		double share = !r ? 0 : stats_cost(&r->stats) / x->total_ns;
		share *= (double)hash_find(&uses, text_of(texts[i]));
		bool few = r && r->times <= REPEAT_ROUNDS && (own || is_of_this_runner(s, r));
		if (few && share >= REPEAT_SHARE)
			added += queue_add_repeat(s->seat->queue, r);
	}
	hash_free(&uses);
	arena_free(&a);
	return added;
}

/* Of the plan of a batch and data type. */
static int repeats_of(struct session *s, int64_t batch, enum dtype dtype, bool stored)
{
	struct variant v = session_variant(s);
	struct variant_ground g;
	int added = 0;
	v.batch = batch;
	v.dtype = dtype;
	if (s->seat->queue && s->seat->device.threads > 0 && !variant_open(s, &v, &g, NULL)) {
		added = repeats_add(s, &g, stored);
		variant_close(&g);
	}
	session_set_distance(s);
	return added;
}

int session_queue_repeats(struct session *s, bool stored)
{
	session_analyze(s);
	return repeats_of(s, session_batch(s), session_dtype(s), stored);
}

static void follow_nothing(struct session *s)
{
	s->besides_due = BESIDES_NONE;
	s->repeats_due = 0;
}

int session_queue_clear(struct session *s)
{
	follow_nothing(s);
	return s->seat->queue ? queue_clear(s->seat->queue) : 0;
}

void session_queue_cancel(struct session *s)
{
	follow_nothing(s);
	if (s->seat->queue)
		queue_cancel(s->seat->queue);
}

void session_repeat_when_idle(struct session *s)
{
	int due = s->repeats_due;
	if (!due || !s->seat->queue || !s->current || !queue_status(s->seat->queue).idle)
		return;
	s->repeats_due = repeats_of(s, s->repeats_batch, s->repeats_dtype, false) ? due - 1 : 0;
}

void session_repeats_begin(struct session *s)
{
	s->repeats_due = REPEAT_ROUNDS;
	s->repeats_batch = s->current->batch;
	s->repeats_dtype = s->current->dtype;
}

bool session_queue_peak(struct session *s, const char *text, bool again)
{
	struct queue *q = s->seat->queue;
	bool is_cpu = s->seat->device.threads > 0;
	return is_cpu ? queue_add_brief(q, text, again) : queue_add(q, text, false, again);
}

/* The fastest algorithm of a problem that was measured in full; NULL: none. */
static const struct result *best_of(const struct session *s, const char *problem)
{
	int count;
	const struct result *const *all = results_of(s->seat->results, problem, &count), *best = NULL;
	for (int i = 0; i < count; i++)
		if (all[i]->status == STATUS_OK && all[i]->stats.stop != STOP_SHORTLIST &&
			(!best || stats_cost(&all[i]->stats) < stats_cost(&best->stats)))
			best = all[i];
	return best;
}

int session_queue_peaks_again(struct session *s)
{
	struct arena a = { 0 };
	int count, added = 0;
	const char **texts = session_peak_problems(s, &a, &count);
	for (int i = 0; i < count; i++) {
		const struct result *best = s->seat->device.threads > 0 ? best_of(s, texts[i]) : NULL;
		added += best ? queue_add_repeat(s->seat->queue, best)
			      : session_queue_peak(s, texts[i], true);
	}
	arena_free(&a);
	return added;
}

int session_queue_missing(struct session *s)
{
	struct arena a = { 0 };
	struct session_missing m = session_missing(s, &a);
	int added = 0;
	for (int i = 0; i < m.own + m.conversions; i++)
		added += queue_add(s->seat->queue, m.texts[i], false, false);
	for (int i = 0; i < m.peaks; i++)
		added += session_queue_peak(s, m.texts[m.own + m.conversions + i], false);
	arena_free(&a);
	return added;
}

int session_measure_missing(struct session *s)
{
	if (!s->seat->queue || !s->current)
		return 0;
	int added = session_queue_missing(s);
	session_measure_quick_all(s);
	s->besides_due = s->scenario.parallel == PARALLEL_MEASURED ? BESIDES_CURRENT : BESIDES_NONE;
	if (added)
		session_repeats_begin(s);
	return added + (s->besides_due ? session_measure_besides(s) : 0);
}

static bool group_has(const struct fusion_group *g, int layer)
{
	for (int i = 0; i < g->layer_count; i++)
		if (g->layers[i] == layer)
			return true;
	return false;
}

int session_measure_problem(struct session *s, const char *problem)
{
	return s->seat->queue ? queue_add(s->seat->queue, problem, true, true) : 0;
}

static int measure_group(struct session *s, const struct fusion_group *g)
{
	const char *text = s->scenario.layouts == LAYOUTS_NXC ? g->text_nxc : g->text;
	const char *copied = fusion_copy_text(g);
	int copy = copied ? queue_add(s->seat->queue, copied, true, true) : 0;
	return copy + (text ? queue_add(s->seat->queue, text, true, true) : 0);
}

static int measure_alone(struct session *s, int layer)
{
	const struct plan *p = s->current->plan;
	int own = plan_layer_problem_index(p, &p->layers[layer],
		s->scenario.layouts == LAYOUTS_NXC);
	return own >= 0 ? queue_add(s->seat->queue, p->problems[own].text, true, true) : 0;
}

int session_measure_layer(struct session *s, int layer)
{
	if (!s->seat->queue || !s->current)
		return 0;
	const struct fusion *f = session_fusion(s);
	int added = 0;
	for (int i = f->group_count - 1; i >= 0; i--)
		if (group_has(&f->groups[i], layer))
			added += measure_group(s, &f->groups[i]);
	return added + measure_alone(s, layer);
}

int session_measure_layers(struct session *s, const bool *marked)
{
	if (!s->seat->queue || !s->current)
		return 0;
	const struct fusion *f = session_fusion(s);
	int added = 0;
	for (int i = f->group_count - 1; i >= 0; i--) {
		bool within = true;
		for (int k = 0; k < f->groups[i].layer_count; k++)
			within &= marked[f->groups[i].layers[k]];
		added += within ? measure_group(s, &f->groups[i]) : 0;
	}
	for (int i = s->current->plan->layer_count - 1; i >= 0; i--)
		added += marked[i] ? measure_alone(s, i) : 0;
	return added;
}
