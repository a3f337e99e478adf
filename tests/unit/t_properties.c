/* What must hold for any graph and any results, tried on random ones: no total is below what the resources
 * need, a choice that allows more never raises the bound, totals equal a brute force, a result that is
 * missing is never silent, memory equals a simulation. Each trial prints its seed when it fails;
 * PROPERTIES_SEED=N runs that one alone. */
#include "config.h"

#include "analyze/bound/limit.h"
#include "analyze/bound/memory.h"
#include "random_trial.h"

#define IMAGE "1x64x56x56"
#define LAYERS 12
#define TRIALS 400
#define EQUAL 1e-9

static int compared, folds, brute, removed, incomplete, bound_by_resource;

/* ---- random graphs and results ---- */

static int unary(struct maker *m, int x)
{
	switch (below(5)) {
	case 0: return make_layer(m, "Tanh", "eltwise:f32,f32:tanh:" IMAGE, IMAGE, x, -1);
	case 1: return make_layer(m, "Abs", "eltwise:f32,f32:abs:" IMAGE, IMAGE, x, -1);
	case 2: return make_layer(m, "Exp", "eltwise:f32,f32:exp:" IMAGE, IMAGE, x, -1);
	default: return make_layer(m, "Relu", "eltwise:f32,f32:relu:" IMAGE, IMAGE, x, -1);
	}
}

static int grow(struct maker *m, const int *values, int count)
{
	int x = values[below(count)], y = values[below(count)],
	    z = values[count - 1 - below(count < 3 ? count : 3)];
	switch (below(8)) {
	case 0:
	case 1:
		return make_conv(m, IMAGE, x);
	case 2:
		return make_batchnorm(m, IMAGE, 64, z);
	case 3:
		return unary(m, z);
	case 4:
		return make_layer(m, "Identity", NULL, IMAGE, z, -1);
	case 5:
		return make_layer(m, "Softmax", "softmax:f32,f32:soft:" IMAGE ":ax3", IMAGE, x, -1);
	case 6: /* Div by 1 folds */
		return below(2) ? make_layer(m, "Div", "eltwise:f32,f32:affine,1,0:" IMAGE, IMAGE, z,
					  make_scalar(m, 1)) :
			make_layer(m, "Mul", "binary:f32,f32,f32:mul:" IMAGE ":" IMAGE, IMAGE, z, y);
	default:
		return make_layer(m, "Add", "binary:f32,f32,f32:add:" IMAGE ":" IMAGE, IMAGE, z, y);
	}
}

/* Results of one problem: up to three algorithms, none below its roofline; sometimes none, or a refusal. */
static void random_results(struct trial *t, const char *text)
{
	static const char *const names[] = { "a", "b", "c" };
	int count = 1 + below(3);
	struct problem p;
	if (below(14) == 0 || problem_parse(text_of(text), &p, NULL))
		return;
	for (int i = 0; i < count; i++) {
		struct result r = make_result(text, 1);
		r.algorithm.name = names[i];
		r.algorithm.rank = i;
		r.algorithm.matrix = below(3) ? MATRIX_NO : MATRIX_YES;
		r.algorithm.math = r.algorithm.matrix == MATRIX_YES ? "tf32" : "strict";
		r.algorithm.layouts = below(3) || strncmp(text, "softmax", 7) == 0 ? "" :
			"src=nChw16c dst=nChw16c";
		r.algorithm.workspace_bytes = below(3) ? 0 : 1e5 * below(100);
		r.status = below(12) ? STATUS_OK : STATUS_UNSUPPORTED;
		r.enqueue_ns = below(2) ? 1000 + below(4000) : 1000 * (1 + below(40));
		bool over = (p.kernel == KERNEL_ELTWISE || p.kernel == KERNEL_BINARY) && below(3) == 0;
		r.algorithm.notes = over ? "in_place" : "";
		double least = fmax(1000, roofline_of_result(&p, &t->peaks, &r));
		r.stats.median = least * (1 + (over ? 0 : below(80)) / 100.0);
		r.stats.lo = 0.99 * r.stats.median;
		r.stats.hi = 1.01 * r.stats.median;
		results_add(t->results, &r);
		r.launch = LAUNCH_ISOLATED;
		r.stats.median += 500 + below(3000);
		r.stats.hi = 1.01 * r.stats.median;
		results_add(t->results, &r);
	}
	results_finish(t->results, text);
}

static void random_peaks(struct peaks *k)
{
	*k = peaks_unknown();
	k->bandwidth_bytes_s = (1 + below(10)) * 2e10;
	k->flops[DTYPE_F32] = (1 + below(20)) * 1e11;
	k->matrix_flops[DTYPE_TF32] = k->flops[DTYPE_F32] * (1 + below(8));
}

/* Results of most conversions between layouts. */
static void random_conversions(struct trial *t)
{
	struct scenario s = scenario_default();
	int count;
	s.layouts = LAYOUTS_PRICED;
	s.fusion = FUSION_ALL;
	const char **texts = analyze_conversions(&t->arena, &t->ground, &s, &count);
	for (int i = 0; i < count; i++)
		if (below(8))
			random_results(t, texts[i]);
}

/* Results of most problems side by side. */
static void random_besides(struct trial *t)
{
	for (int n = 0; n < 3 * FUSION_LEVELS; n++) {
		struct scenario s = scenario_default();
		int count;
		s.fusion = (enum fusion_level)(n % FUSION_LEVELS);
		s.matrix = n / FUSION_LEVELS > 0;
		s.relaxed = n / FUSION_LEVELS > 1;
		const char **texts = analyze_besides(&t->arena, &t->ground, &s, &count);
		for (int i = 0; i < count; i++) {
			struct result r = make_result(texts[i], (20 + below(400)) * 1e3);
			if (below(4))
				results_put(t->results, &r);
		}
	}
}

/* ---- what may be written over, by hand ---- */

/* The value whose memory a value has: a layer without a kernel, or (folded) one that folds, passes it on. */
static int stored_in(const struct plan *p, bool folded, int value)
{
	int producer = p->values[value].producer;
	const struct plan_layer *l = producer < 0 ? NULL : &p->layers[producer];
	bool gone = l && folded && plan_layer_folds(l);
	if (l && l->class == CLASS_FREE)
		return stored_in(p, folded, l->inputs[0]);
	if (gone && l->fold == FOLD_SAME)
		return stored_in(p, folded, p->layers[l->fold_of].outputs[0]);
	return gone && l->fold_value >= 0 ? stored_in(p, folded, l->fold_value) : value;
}

/* The last layer that reads the memory of a value, or -1 if it may not be written over. */
static int death_of(const struct plan *p, bool folded, int value)
{
	int memory = stored_in(p, folded, value), last = -1;
	bool kept = p->values[memory].producer < 0;
	for (int i = 0; i < p->value_count; i++)
		kept |= p->values[i].is_output && stored_in(p, folded, i) == memory;
	for (int i = 0; i < p->layer_count; i++)
		for (int k = 0; k < p->layers[i].input_count; k++)
			if (stored_in(p, folded, p->layers[i].inputs[k]) == memory)
				last = i;
	return kept ? -1 : last;
}

static bool is_one_of(int layer, const int *layers, int count)
{
	bool is = false;
	for (int i = 0; i < count; i++)
		is |= layers[i] == layer;
	return is;
}

static bool may_overwrite(const struct plan *p, bool folded, const int *layers, int count)
{
	for (int i = 0; i < count; i++)
		for (int k = 0; k < p->layers[layers[i]].input_count; k++) {
			int value = p->layers[layers[i]].inputs[k];
			if (p->values[value].shape.rank == 4 && !p->values[value].constant &&
				is_one_of(death_of(p, folded, value), layers, count) &&
				!is_one_of(p->values[value].producer, layers, count))
				return true;
		}
	return false;
}

/* True if each layer (fused: and group) with the problem may. */
static bool all_overwrite(const struct trial *t, const struct scenario *s, const char *text)
{
	const struct plan *p = t->plan;
	for (int i = 0; i < p->layer_count; i++)
		if (p->layers[i].problem >= 0 && strcmp(p->problems[p->layers[i].problem].text, text) == 0 &&
			!may_overwrite(p, s->fold, &i, 1))
			return false;
	for (int i = 0; s->fusion && i < t->fusion->group_count; i++) {
		const struct fusion_group *g = &t->fusion->groups[i];
		if (strcmp(g->text, text) == 0 && !may_overwrite(p, s->fold, g->layers, g->layer_count))
			return false;
	}
	return true;
}

static void trial_open(struct trial *t)
{
	int values[LAYERS + 2], count = 0, problems;
	random_state = trial_seed * 2654435761u + 1;
	*t = (struct trial){ .m = make_begin(), .results = results_new() };
	random_peaks(&t->peaks);
	values[count++] = make_input(t->m, IMAGE);
	values[count++] = make_conv(t->m, IMAGE, values[0]);
	while (t->m->plan.layer_count < LAYERS - 1) {
		values[count] = grow(t->m, values, count);
		t->m->plan.values[values[count]].is_output = below(10) == 0;
		count++;
	}
	t->m->plan.values[values[count - 1]].is_output = true;
	t->plan = make_finish(t->m);
	plan_find_folds(t->plan);
	for (int i = 0; i < t->plan->value_count; i++)
		t->plan->values[i].dies_in = death_of(t->plan, false, i);
	t->fusion = fusion_find(t->plan);
	const char **texts = analyze_problems_in(&t->arena, t->plan, t->fusion, true, 0, &problems);
	for (int i = 0; i < problems; i++)
		random_results(t, texts[i]);
	t->ground = (struct ground){ .plan = t->plan,
		.fusion = t->fusion,
		.results = t->results,
		.peaks = trial_seed % 8 ? &t->peaks : NULL };
	random_conversions(t);
	random_besides(t);
}

static struct scenario random_scenario(void)
{
	struct scenario s = scenario_default();
	s.fusion = (enum fusion_level)below(5);
	s.matrix = below(2);
	s.relaxed = below(2);
	s.best = below(3) > 0;
	s.amortized = below(3) > 0;
	s.parallel = (enum parallel)below(4);
	s.fold = below(2);
	s.layouts = below(3) ? LAYOUTS_FREE : LAYOUTS_PRICED;
	return s;
}

/* ---- resources, sums and intervals ---- */

static void totals(struct trial *t, const struct scenario *s, const struct analysis *a)
{
	double sum = isnan(a->border_ns) ? 0 : a->border_ns;
	for (int i = 0; i < a->layer_count; i++)
		sum += isnan(a->layers[i].ns) ? 0 : a->layers[i].ns;
	struct limit_totals by = limit_totals_of(a, t->plan, &t->peaks); /* also of an analysis without */
	double limits = 0;
	for (int i = 0; i < LIMIT_COUNT; i++)
		limits += by.ns[i];
	if (isnan(a->total_ns))
		return;
	if (!s->parallel)
		must(t,
			fabs(fmax(sum, isnan(a->enqueue_ns) ? 0 : a->enqueue_ns) - a->total_ns) <=
				EQUAL * sum,
			"layers sum up to %g, the bound is %g", sum, a->total_ns);
	must(t, fabs(limits - by.all_ns) <= EQUAL * sum, "limits sum up to %g of %g", limits, by.all_ns);
	must(t, s->parallel == PARALLEL_MEASURED || a->path_ns <= a->sequential_ns * (1 + EQUAL),
		"path %g above the sum %g", a->path_ns,
		a->sequential_ns);
	must(t, a->parallel_ns <= a->sequential_ns * (1 + EQUAL),
		"parallel %g above the sum %g (amortized %d, host %g, path %g)", a->parallel_ns,
		a->sequential_ns, s->amortized, a->enqueue_ns, a->path_ns);
	must(t, a->lo_ns <= a->total_ns * (1 + EQUAL) && a->total_ns <= a->hi_ns * (1 + EQUAL),
		"bound %g outside %g to %g", a->total_ns, a->lo_ns, a->hi_ns);
	must(t, !a->complete || !(a->roofline_ns > a->total_ns * (1 + EQUAL)),
		"roofline %g above the bound %g", a->roofline_ns, a->total_ns);
	if (s->parallel != PARALLEL_PATH && !isnan(a->resource_ns)) {
		must(t, a->resource_ns <= a->parallel_ns * (1 + EQUAL),
			"resources %g above what is claimed, %g", a->resource_ns, a->parallel_ns);
		must(t, a->resource_ns <= a->sequential_ns * (1 + EQUAL), "resources %g above the sum %g",
			a->resource_ns, a->sequential_ns);
		bound_by_resource += a->limit != NULL;
	}
}

/* The total beside that of the scenario is that of the other choice of parallel. */
static void other_total(struct trial *t, const struct scenario *from, const struct analysis *a)
{
	struct scenario s = *from;
	s.parallel = from->parallel ? PARALLEL_OFF : PARALLEL_RESOURCES;
	const struct analysis *b = analyze(&t->arena, &t->ground, &s);
	double shown = s.parallel ? a->parallel_ns : a->sequential_ns;
	bool least = !s.parallel || s.layouts == LAYOUTS_FREE || !s.fusion;
	must(t, isnan(shown) == isnan(b->total_ns) && !(fabs(shown - b->total_ns) > EQUAL * shown && least),
		"the other total is %g, shown %g", b->total_ns, shown);
}

/* ---- choices that allow more ---- */

static int without_cost(const struct analysis *a)
{
	return a->coverage.missing + a->coverage.unsupported;
}

/* The layers without a cost, as bits; groups have the same outside. */
static uint32_t lacking(const struct analysis *a)
{
	uint32_t bits = 0;
	for (int i = 0; i < a->layer_count; i++)
		bits |= isnan(a->layers[i].ns) ? 1u << i : 0;
	return bits;
}

static void more(struct trial *t, const struct scenario *less, const struct scenario *s, const char *what)
{
	const struct analysis *x = analyze(&t->arena, &t->ground, less),
			      *y = analyze(&t->arena, &t->ground, s);
	uint32_t before = lacking(x), after = lacking(y);
	char words[128];
	if (!y->layouts_exact) /* it is the best that was found */
		return;
	must(t, without_cost(y) <= without_cost(x), "%s: more layers without a cost", what);
	bool borders = x->complete && y->complete; /* a conversion that lacks a price is a gap, too */
	if (before || after || !borders || !s->amortized) /* the host's time is that of what was chosen */
		return;
	compared++;
	must(t, y->total_ns <= x->total_ns * (1 + EQUAL), "%s (%s): %g after %g", what,
		scenario_text(s, words, sizeof(words)), y->total_ns, x->total_ns);
}

static void allows_more(struct trial *t, const struct scenario *s)
{
	static const enum fusion_level levels[] = { FUSION_OFF, FUSION_EPILOGUE, FUSION_FOLD, FUSION_PATTERN,
		FUSION_ALL };
	struct scenario x = *s, y = *s;
	for (int i = 0; i < 4; i++) {
		x.fusion = levels[i];
		y.fusion = levels[i + 1];
		more(t, &x, &y, "fusion");
	}
	x = y = *s;
	x.matrix = false;
	y.matrix = true;
	/* of more algorithms another one is preferred, which may be slower */
	if (s->best)
		more(t, &x, &y, "matrix");
	x = y = *s;
	x.relaxed = false;
	y.relaxed = true;
	if (s->best)
		more(t, &x, &y, "math");
	x = y = *s;
	x.best = false;
	y.best = true;
	more(t, &x, &y, "algorithm");
	for (int p = PARALLEL_OFF; p < PARALLEL_PATH; p++) {
		x = y = *s;
		x.parallel = (enum parallel)p;
		y.parallel = (enum parallel)(p + 1);
		more(t, &x, &y, "parallel");
	}
	x = y = *s;
	x.fold = false;
	y.fold = true;
	more(t, &x, &y, "fold");
	folds += t->plan->fold_count > 0;
	x = y = *s;
	x.parallel = PARALLEL_OFF;
	y.parallel = PARALLEL_MEASURED;
	more(t, &x, &y, "side by side");
}

/* ---- brute force ---- */

/* The price of a problem, by hand: the lowest allowed median, or that of the lowest allowed rank. */
static double price(const struct trial *t, const struct scenario *s, const char *text)
{
	int count, rank = 1000;
	const struct result *const *all = results_of(t->results, text, &count);
	double least = NAN;
	for (int i = 0; i < count; i++) {
		const struct result *r = all[i];
		bool strict = strcmp(r->algorithm.math, "strict") == 0,
		     matrix = r->algorithm.matrix == MATRIX_YES;
		if (r->status != STATUS_OK || (r->launch == LAUNCH_AMORTIZED) != s->amortized ||
			(matrix && !s->matrix) || (!strict && !s->relaxed) ||
			(algorithm_is_in_place(&r->algorithm) && !all_overwrite(t, s, text)))
			continue;
		bool better = s->best ? isnan(least) || r->stats.median < least : r->algorithm.rank < rank;
		if (better) {
			least = r->stats.median;
			rank = r->algorithm.rank;
		}
	}
	return least;
}

struct best {
	int missing;
	double sum;
};

/* Tries, from layer i on, each layer alone and in each group that begins with it. */
static void try_all(const struct trial *t, const struct scenario *s, int i, uint32_t taken, struct best now,
	struct best *best)
{
	if (i == t->plan->layer_count) {
		if (now.missing < best->missing || (now.missing == best->missing && now.sum < best->sum))
			*best = now;
		return;
	}
	const struct plan_layer *l = &t->plan->layers[i];
	if (taken & 1u << i) {
		try_all(t, s, i + 1, taken, now, best);
		return;
	}
	double alone = l->class == CLASS_FREE || (s->fold && plan_layer_folds(l)) ? 0
		: l->problem < 0	      ? NAN
					      : price(t, s, t->plan->problems[l->problem].text);
	struct best next = { now.missing + isnan(alone), now.sum + (isnan(alone) ? 0 : alone) };
	try_all(t, s, i + 1, taken, next, best);
	for (int g = s->fusion ? t->fusion->first_group[i] : -1;
		g >= 0 && g < t->fusion->group_count && t->fusion->groups[g].layers[0] == i; g++) {
		const struct fusion_group *group = &t->fusion->groups[g];
		uint32_t bits = 0;
		for (int k = 0; k < group->layer_count; k++)
			bits |= 1u << group->layers[k];
		double ns = fusion_allows(s->fusion, group->level) ? price(t, s, group->text) : NAN;
		if (!isnan(ns) && !(bits & taken))
			try_all(t, s, i + 1, taken | bits, (struct best){ now.missing, now.sum + ns }, best);
	}
}

static void by_force(struct trial *t, const struct scenario *from)
{
	struct scenario s = *from;
	struct best best = { 1000, INFINITY };
	s.parallel = PARALLEL_OFF;
	s.layouts = LAYOUTS_FREE;
	s.fold &= s.fusion == FUSION_OFF; /* with groups, some layers stay whose readers need their values */
	const struct analysis *a = analyze(&t->arena, &t->ground, &s);
	try_all(t, &s, 0, 0, (struct best){ 0, 0 }, &best);
	if (s.fold) { /* nothing folds: algorithms in place may be allowed that are not with folded layers */
		s.fold = false;
		try_all(t, &s, 0, 0, (struct best){ 0, 0 }, &best);
	}
	if (isnan(a->total_ns))
		return;
	brute++;
	double sum = s.amortized || isnan(a->enqueue_ns) ? best.sum : fmax(best.sum, a->enqueue_ns);
	must(t, a->coverage.missing + a->coverage.unsupported == best.missing,
		"%d layers missing, by force %d", a->coverage.missing + a->coverage.unsupported,
		best.missing);
	must(t, fabs(a->total_ns - sum) <= EQUAL * sum, "bound %g, by force %g", a->total_ns, sum);
}

/* ---- a result less ---- */

/* The analysis without the results of one problem, or of one algorithm. */
static void one_less(struct trial *t, const struct scenario *s, const struct analysis *a)
{
	int count, results, besides;
	const char **own = analyze_problems_in(&t->arena, t->plan, t->fusion, true, 0, &count);
	const char *const *sets = results_besides(t->results, &besides);
	const char **texts = ARENA_ARRAY(&t->arena, const char *, count + besides);
	memcpy(texts, own, (size_t)count * sizeof(*texts));
	for (int i = 0; i < besides; i++)
		texts[count++] = sets[i];
	const char *gone = texts[below(count)];
	int algorithm = below(2) ? -1 : below(3);
	struct results *rest = results_new();
	for (int i = 0; i < count; i++) {
		const struct result *const *all = results_of(t->results, texts[i], &results);
		for (int k = 0; k < results; k++)
			if (texts[i] != gone || (algorithm >= 0 && all[k]->algorithm.rank != algorithm))
				results_add(rest, all[k]);
		results_finish(rest, texts[i]);
	}
	struct ground g = t->ground;
	g.results = rest;
	const struct analysis *b = analyze(&t->arena, &g, s);
	bool said = without_cost(b) > without_cost(a) || b->unmeasured_problems > a->unmeasured_problems ||
		isnan(b->total_ns);
	removed++;
	incomplete += said;
	/* without the preferred algorithm the next one is preferred, which may be faster: it was measured */
	if (s->best && s->amortized && !isnan(a->total_ns))
		must(t, said || b->total_ns >= a->total_ns * (1 - EQUAL),
			"%s less: %g, before %g, nothing is said", gone, b->total_ns, a->total_ns);
	must(t, !b->complete || without_cost(b) == 0, "complete with layers without a cost");
	results_free(rest);
}

/* ---- memory ---- */

static bool in_one_kernel(const struct analysis *a, int x, int y)
{
	return a->layers[x].group && a->layers[x].group == a->layers[y].group;
}

/* Walks over the kernels in order: what is alive at each, and the workspace. */
static void memory(struct trial *t, const struct analysis *a)
{
	const struct plan *p = t->plan;
	double most = 0, bytes = 4.0 * 64 * 56 * 56;
	for (int step = 0; step < p->layer_count; step++) {
		const struct fusion_group *g = a->layers[step].group;
		if (g && g->layers[g->layer_count - 1] != step)
			continue;
		const struct layer_cost *c = &a->layers[g ? g->layers[0] : step];
		double now = c->result ? c->result->algorithm.workspace_bytes : 0;
		for (int v = 0; v < p->value_count; v++) {
			const struct plan_value *x = &p->values[v];
			int made = x->producer < 0 ? 0 : x->producer,
			    last = x->is_output ? p->layer_count : made;
			bool inside = x->producer >= 0 && !x->is_output && x->consumer_count > 0;
			if (x->constant || (x->producer >= 0 && p->layers[x->producer].class == CLASS_FREE))
				continue; /* shares its input's memory: counted there */
			const struct fusion_group *from = a->layers[made].group;
			if (x->producer >= 0 && from)
				made = from->layers[from->layer_count - 1];
			for (int w = 0; w < p->value_count;
				w++) { /* the value and those that share its memory */
				int root = w;
				while (p->values[root].producer >= 0 &&
					p->layers[p->values[root].producer].class == CLASS_FREE)
					root = p->layers[p->values[root].producer].inputs[0];
				if (root != v)
					continue;
				last = p->values[w].is_output ? p->layer_count : last;
				for (int k = 0; k < p->values[w].consumer_count; k++) {
					int reader = p->values[w].consumers[k];
					const struct fusion_group *to = a->layers[reader].group;
					int at = to ? to->layers[to->layer_count - 1] : reader;
					last = at > last ? at : last;
					inside &= x->producer >= 0 && in_one_kernel(a, x->producer, reader);
				}
				inside &= !p->values[w].is_output;
			}
			if (!inside && made <= step && step <= last)
				now += bytes;
		}
		most = fmax(most, now);
	}
	struct memory_need need = memory_of(p, a);
	must(t, fabs(need.peak - p->weight_bytes - most) < 1, "memory %g, simulated %g",
		need.peak - p->weight_bytes, most);
	must(t, need.workspace >= 0 && need.activations + need.workspace <= most + 1, "parts of the memory");
}

/* ---- a described device ---- */

static void estimates(struct trial *t, const struct scenario *from)
{
	struct results *none = results_new();
	struct ground measured = t->ground;
	struct scenario s = *from;
	t->peaks.sm = below(2) ? 70 : 80;
	t->ground.peaks = &t->peaks;
	t->ground.results = none;
	t->ground.estimate = true;
	s.best = true;
	const struct analysis *a = analyze(&t->arena, &t->ground, &s);
	must(t, a->complete && a->estimated, "estimates are complete");
	totals(t, &s, a);
	allows_more(t, &s);
	t->ground = measured;
	t->peaks.sm = 0;
	results_free(none);
}

static void run(void)
{
	struct trial t;
	trial_open(&t);
	for (int i = 0; i < 4; i++) {
		struct scenario s = random_scenario();
		const struct analysis *a = analyze(&t.arena, &t.ground, &s);
		totals(&t, &s, a);
		other_total(&t, &s, a);
		memory(&t, a);
		allows_more(&t, &s);
		by_force(&t, &s);
		one_less(&t, &s, a);
		estimates(&t, &s);
	}
	trial_close(&t);
}

int main(void)
{
	unsigned asked = trial_asked("PROPERTIES_SEED"), first = asked ? asked : 1,
		 last = asked ? asked : TRIALS;
	printf("# seeds %u to %u; PROPERTIES_SEED=N runs one\n", first, last);
	for (trial_seed = first; trial_seed <= last; trial_seed++)
		run();
	is_int(trial_failures, 0, "all properties hold");
	printf("# %d choices compared, %d totals by force, %d removals (%d leave a gap), %d bound by a "
	       "resource\n",
		compared, brute, removed, incomplete, bound_by_resource);
	ok(asked || (compared > 1000 && brute > 300 && incomplete > 50 && bound_by_resource > 50 &&
			folds > 100),
		"there was something to compare");
	return done_testing();
}
