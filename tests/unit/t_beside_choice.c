/* parallel=measured chooses groups, joins and branches together: on random models with random results, its
 * total is not above the least that any choice of groups has with the branches found in it, is what its
 * layers and sets say, and does not rise where more is allowed. BESIDE_SEED=N runs one trial. */
#include "config.h"

#include "analyze/branches/beside_private.h"
#include "random_trial.h"

#include <math.h>

#define ROWS "128x64"
#define LAYERS 14
#ifndef TRIALS
#define TRIALS 500
#endif
#define EQUAL 1e-9
#define TILINGS_MAX 4000

static int totals, tilings, together, raised, sets_used;

/* ---- random models: blocks of branches that join, or do not ---- */

static int unary(struct maker *m, int x)
{
	switch (below(8)) {
	case 0:
	case 1:
	case 2:
		return make_layer(m, "MatMul", "matmul:f32,f32.c,f32/f32:ba1bb1m128n64k64:ta0tb0", ROWS, x,
			make_constant(m, "64x64"));
	case 3:
		return make_layer(m, "Add", "binary:f32,f32.c,f32:add:" ROWS ":64", ROWS, x,
			make_constant(m, "64"));
	case 4:
		return make_layer(m, "Softmax", "softmax:f32,f32:soft:" ROWS ":ax1", ROWS, x, -1);
	case 5:
		return make_layer(m, "Identity", NULL, ROWS, x, -1);
	default:
		return make_layer(m, "Relu", "eltwise:f32,f32:relu:" ROWS, ROWS, x, -1);
	}
}

static int block(struct maker *m, int x)
{
	int branches = 2 + below(2), end[3], sum;
	for (int i = 0; i < branches; i++) {
		end[i] = x;
		for (int k = 1 + below(3); k > 0; k--)
			end[i] = unary(m, end[i]);
	}
	sum = end[0];
	for (int i = 1; i < branches; i++)
		if (below(6))
			sum = make_layer(m, "Add", "binary:f32,f32,f32:add:" ROWS ":" ROWS, ROWS, sum,
				end[i]);
		else
			m->plan.values[end[i]].is_output = true;
	return sum;
}

static void random_results(struct trial *t, const char *text)
{
	double ns = (10 + below(90)) * 1e3;
	bool joined = strstr(text, "n128k64") || strstr(text, "n192k64");
	measure_algorithm(t->results, text, "plain", 1, MATRIX_NO, joined ? 1.7 * ns : ns);
	if (below(2))
		measure_algorithm(t->results, text, "matrix", 0, MATRIX_YES, ns * (0.4 + 0.1 * below(9)));
}

/* ---- all choices of groups ---- */

struct tiling {
	const struct trial *t;
	const struct scenario *s;
	int chosen[4 * LAYERS];
	int keep;                /* the number of the tiling to measure the sets of; -1: none */
	int count;
	double least, least_sum; /* with sets; without */
};

static double price(const struct trial *t, const struct scenario *s, const char *text)
{
	int count;
	const struct result *const *all = results_of(t->results, text, &count);
	double least = NAN;
	for (int i = 0; i < count; i++) /* by rank */
		if ((s->matrix || all[i]->algorithm.matrix == MATRIX_NO) &&
			(s->best ? !(all[i]->stats.median >= least) : isnan(least)))
			least = all[i]->stats.median;
	return least;
}

static const char *text_at(const struct tiling *c, int layer)
{
	int g = c->chosen[layer], problem = c->t->plan->layers[layer].problem;
	return g >= 0 ? c->t->fusion->groups[g].text :
		problem >= 0 ? c->t->plan->problems[problem].text : NULL;
}

/* The contracted graph of the choice, and the sets in it. */
static void sets_of(const struct tiling *c, struct arena *a, struct beside_sets *sets)
{
	const struct plan *p = c->t->plan;
	int n = p->layer_count, *first = ARENA_ARRAY(a, int, n + 1), *edges = ARENA_ARRAY(a, int, 8 * n),
	    *node_of = ARENA_ARRAY(a, int, n), count = 0;
	enum beside_kind *kind = ARENA_ARRAY(a, enum beside_kind, n);
	double *weight = ARENA_ARRAY(a, double, n);
	struct beside_graph g;
	for (int i = 0; i < n; i++) {
		const struct fusion_group *own = c->chosen[i] < 0 ? NULL :
			&c->t->fusion->groups[c->chosen[i]];
		first[i] = count;
		for (int k = 0; k < p->layers[i].pred_count; k++)
			edges[count++] = p->layers[i].preds[k];
		node_of[i] = own ? own->layers[own->layer_count - 1] : i;
		kind[i] = node_of[i] != i ? BESIDE_NONE : own && fusion_copy(own) >= 0 ? BESIDE_APART :
			text_at(c, i) ? BESIDE_RUNS : BESIDE_FREE;
		weight[i] = kind[i] == BESIDE_RUNS ? price(c->t, c->s, text_at(c, i)) : 0;
	}
	first[n] = count;
	beside_graph(&g, a, n, first, edges, node_of, kind, weight);
	beside_find(&g, sets);
}

static const char *set_text(const struct tiling *c, struct arena *a, const struct beside_set *set)
{
	const char *branch[BESIDE_BRANCHES];
	char buf[PROBLEM_TEXT_SIZE];
	for (int b = 0; b < set->branch_count; b++) {
		branch[b] = text_at(c, set->node[set->first[b]]);
		for (int i = set->first[b] + 1; i < set->first[b + 1]; i++)
			branch[b] = arena_printf(a, "%s=%s", branch[b], text_at(c, set->node[i]));
	}
	return beside_text(branch, set->branch_count, buf) ? NULL : arena_strndup(a, buf, strlen(buf));
}

static double alone_of(const struct tiling *c, const struct beside_set *set)
{
	double sum = 0;
	for (int i = 0; i < set->first[set->branch_count]; i++)
		sum += price(c->t, c->s, text_at(c, set->node[i]));
	return sum;
}

/* Measures most sets of a choice: some take much less than their parts. */
static void sets_measure(const struct tiling *c)
{
	struct arena a = { 0 };
	struct beside_sets sets;
	sets_of(c, &a, &sets);
	for (int i = 0; i < sets.count; i++) {
		const char *text = set_text(c, &a, &sets.items[i]);
		double ns = alone_of(c, &sets.items[i]) * (0.3 + 0.1 * below(9));
		int known;
		if (!text || below(5) == 0 || results_of(c->t->results, text, &known))
			continue;
		measure_algorithm(c->t->results, text, "threads:1+1", 1, MATRIX_NO, ns);
		if (below(2))
			measure_algorithm(c->t->results, text, "threads:1+1:matrix", 0, MATRIX_YES,
				ns * (0.6 + 0.1 * below(6)));
	}
	free(sets.items);
	arena_free(&a);
}

static void tiling_end(struct tiling *c, double sum)
{
	struct arena a = { 0 };
	struct beside_sets sets;
	if (c->count++ == c->keep)
		sets_measure(c);
	c->least_sum = fmin(c->least_sum, sum);
	if (c->keep >= 0)
		return;
	sets_of(c, &a, &sets);
	double *saves = ARENA_ARRAY(&a, double, sets.count);
	bool *taken = ARENA_ARRAY(&a, bool, sets.count);
	for (int i = 0; i < sets.count; i++) {
		const char *text = set_text(c, &a, &sets.items[i]);
		saves[i] = text ? alone_of(c, &sets.items[i]) - price(c->t, c->s, text) : NAN;
	}
	c->least = fmin(c->least, sum - beside_choose(&sets, saves, c->t->plan->layer_count, taken));
	free(sets.items);
	arena_free(&a);
}

static void tiling_try(struct tiling *c, int i, double sum)
{
	const struct fusion *f = c->t->fusion;
	const struct plan *p = c->t->plan;
	if (c->count == TILINGS_MAX)
		return;
	if (i == p->layer_count) {
		tiling_end(c, sum);
		return;
	}
	if (c->chosen[i] >= 0) {
		tiling_try(c, i + 1, sum);
		return;
	}
	tiling_try(c, i + 1, sum + (text_at(c, i) ? price(c->t, c->s, text_at(c, i)) : 0));
	for (int g = f->first_group[i]; g >= 0 && g < f->group_count && f->groups[g].layers[0] == i; g++) {
		const struct fusion_group *group = &f->groups[g];
		double ns = price(c->t, c->s, group->text);
		bool open = fusion_allows(c->s->fusion, group->level) && !isnan(ns);
		ns += fusion_copy(group) >= 0 ? price(c->t, c->s, fusion_copy_text(group)) : 0;
		for (int k = 0; k < group->layer_count; k++)
			open &= c->chosen[group->layers[k]] < 0;
		for (int k = 0; k < group->layer_count && open; k++)
			c->chosen[group->layers[k]] = g;
		if (open)
			tiling_try(c, i + 1, sum + ns);
		for (int k = 0; k < group->layer_count && open; k++)
			c->chosen[group->layers[k]] = -1;
	}
}

static struct tiling tile(const struct trial *t, const struct scenario *s, int keep)
{
	struct tiling c = { .t = t, .s = s, .keep = keep, .least = INFINITY, .least_sum = INFINITY };
	memset(c.chosen, -1, sizeof(c.chosen));
	tiling_try(&c, 0, 0);
	return c;
}

/* ---- trials ---- */

static struct scenario random_scenario(void)
{
	static const enum fusion_level levels[] = { FUSION_OFF, FUSION_EPILOGUE, FUSION_FOLD, FUSION_PATTERN,
		FUSION_ALL, FUSION_ALL };
	struct scenario s = scenario_default();
	s.fusion = levels[below(6)];
	s.matrix = below(2);
	s.best = below(4) > 0;
	s.parallel = PARALLEL_MEASURED;
	return s;
}

static void trial_open(struct trial *t)
{
	int problems, x;
	random_state = trial_seed * 2654435761u + 3;
	*t = (struct trial){ .m = make_begin(), .results = results_new() };
	x = make_input(t->m, ROWS);
	if (below(2))
		x = unary(t->m, x);
	while (t->m->plan.layer_count < LAYERS - 3)
		x = block(t->m, x);
	t->m->plan.values[x].is_output = true;
	t->plan = make_finish(t->m);
	t->fusion = fusion_find(t->plan);
	const char **texts = analyze_problems_in(&t->arena, t->plan, t->fusion, true, 0, &problems);
	for (int i = 0; i < problems; i++)
		random_results(t, texts[i]);
	for (int i = 0; i < 4; i++) { /* as measured in other scenarios */
		struct scenario s = random_scenario();
		struct tiling c = tile(t, &s, TILINGS_MAX);
		tile(t, &s, below(c.count));
	}
}

/* The text of a set: its problems are those of its layers, branch by branch, in the same order. */
static void set_is_of_layers(struct trial *t, const struct analysis *a, const struct beside_cost *b)
{
	const char *branch[BESIDE_BRANCHES] = { NULL }, *text = BESIDE_PREFIX;
	for (int i = 0; i < b->layer_count; i++) {
		const struct fusion_group *g = a->layers[b->layers[i]].group;
		const char *own = g ? g->text : t->plan->problems[t->plan->layers[b->layers[i]].problem].text;
		const char **of = &branch[b->branch[i]];
		*of = *of ? arena_printf(&t->arena, "%s=%s", *of, own) : own;
	}
	for (int i = 0; i < b->branch_count; i++)
		text = arena_printf(&t->arena, "%s%s%s", text, i ? "%" : "", branch[i]);
	must(t, strcmp(text, b->text) == 0, "%s is not %s", b->text, text);
}

/* The layers of one kernel, as bits. */
static uint64_t kernel_bits(const struct analysis *a, int layer)
{
	const struct fusion_group *g = a->layers[layer].group;
	uint64_t bits = g ? 0 : (uint64_t)1 << layer;
	for (int i = 0; g && i < g->layer_count; i++)
		bits |= (uint64_t)1 << g->layers[i];
	return bits;
}

/* Branches do not depend on each other, and all steps - a set in use, a kernel - can be put in an order.
 * Layers that take no time and are in no group are no step: who reads them depends on what they read. */
static void can_run(struct trial *t, const struct analysis *a)
{
	uint64_t before[4 * LAYERS] = { 0 }, step[4 * LAYERS], left = 0;
	const struct plan *p = t->plan;
	for (int i = 0; i < p->layer_count; i++) {
		step[i] = kernel_bits(a, i);
		left |= a->layers[i].group || p->layers[i].class != CLASS_FREE ? (uint64_t)1 << i : 0;
		for (int k = 0; k < p->layers[i].pred_count; k++)
			before[i] |= before[p->layers[i].preds[k]] | (uint64_t)1 << p->layers[i].preds[k];
	}
	for (int n = 0; n < a->beside_count; n++) {
		const struct beside_cost *b = &a->besides[n];
		uint64_t branch[BESIDE_BRANCHES] = { 0 }, all = 0;
		for (int i = 0; i < b->layer_count && b->used; i++)
			branch[b->branch[i]] |= kernel_bits(a, b->layers[i]);
		for (int k = 0; k < b->branch_count; k++)
			all |= branch[k];
		for (int k = 0; k < b->branch_count; k++)
			for (int i = 0; i < p->layer_count; i++)
				must(t, !(branch[k] >> i & 1) || !(before[i] & all & ~branch[k]),
					"layer %d waits for another branch", i);
		for (int i = 0; i < p->layer_count; i++)
			step[i] = all >> i & 1 ? all : step[i];
	}
	for (bool any = true; any && left;) {
		any = false;
		for (int i = 0; i < p->layer_count; i++) {
			uint64_t waits = 0;
			for (int k = 0; k < p->layer_count; k++)
				waits |= step[i] >> k & 1 ? before[k] : 0;
			if ((left >> i & 1) && !(waits & left & ~step[i])) {
				left &= ~step[i];
				any = true;
			}
		}
	}
	must(t, !left, "steps wait for each other");
}

/* No layer is in two sets in use, and the total is that of the layers and sets. */
static void adds_up(struct trial *t, const struct analysis *a)
{
	double sum = 0, saves = 0;
	uint64_t seen = 0;
	for (int i = 0; i < a->layer_count; i++)
		sum += a->layers[i].ns;
	for (int i = 0; i < a->beside_count; i++) {
		const struct beside_cost *b = &a->besides[i];
		if (!b->used)
			continue;
		sets_used++;
		saves += b->alone_ns - b->ns;
		set_is_of_layers(t, a, b);
		for (int k = 0; k < b->layer_count; k++) {
			must(t, !(seen >> b->layers[k] & 1), "layer %d is in two sets", b->layers[k]);
			seen |= (uint64_t)1 << b->layers[k];
		}
	}
	must(t, fabs(sum - saves - a->total_ns) <= EQUAL * sum, "layers %g without %g, bound %g", sum, saves,
		a->total_ns);
	must(t, fabs(saves - a->beside_saves_ns) <= EQUAL * sum, "sets save %g, said %g", saves,
		a->beside_saves_ns);
}

static const struct analysis *analysis_of(struct trial *t, const struct scenario *s)
{
	return analyze(&t->arena, GROUND(t->plan, t->fusion, t->results, NULL), s);
}

static void by_force(struct trial *t, const struct scenario *s)
{
	struct tiling c = tile(t, s, -1);
	const struct analysis *a = analysis_of(t, s);
	adds_up(t, a);
	can_run(t, a);
	totals++;
	tilings += c.count;
	must(t, c.count == TILINGS_MAX || fabs(a->sequential_ns - c.least_sum) <= EQUAL * c.least_sum,
		"sum %g, by force %g", a->sequential_ns, c.least_sum);
	must(t, a->total_ns <= c.least * (1 + EQUAL), "bound %g, by force %g of %d", a->total_ns, c.least,
		c.count);
	together += a->total_ns > (a->sequential_ns - a->beside_saves_ns) * (1 + EQUAL);
}

static void more(struct trial *t, const struct scenario *x, const struct scenario *y, const char *what)
{
	double less = analysis_of(t, x)->total_ns, than = analysis_of(t, y)->total_ns;
	raised++;
	must(t, than <= less * (1 + EQUAL), "%s: %g after %g", what, than, less);
}

static void allows_more(struct trial *t, const struct scenario *from)
{
	static const enum fusion_level levels[] = { FUSION_OFF, FUSION_EPILOGUE, FUSION_FOLD, FUSION_PATTERN,
		FUSION_ALL };
	struct scenario x = *from, y = *from;
	for (int i = 0; i < 4; i++) {
		x.fusion = levels[i];
		y.fusion = levels[i + 1];
		more(t, &x, &y, "fusion");
	}
	x = y = *from;
	x.matrix = false;
	y.matrix = true;
	if (from->best)
		more(t, &x, &y, "matrix");
	x = y = *from;
	x.best = false;
	y.best = true;
	more(t, &x, &y, "algorithm");
}

/* Without the results of one set, or of one group, the total is not lower. */
static void one_less(struct trial *t, const struct scenario *s)
{
	int sets, results, groups = t->fusion->text_count;
	const char *const *known = results_besides(t->results, &sets);
	int own = plan_problem_total(t->plan), count = own + groups + sets,
	    gone = own + below(groups + sets + 1);
	struct results *rest = results_new();
	for (int i = 0; i < count; i++) {
		const char *text = i < own ? t->plan->problems[i].text : i < own + groups ?
			t->fusion->texts[i - own] : known[i - own - groups];
		const struct result *const *all = results_of(t->results, text, &results);
		for (int k = 0; k < results && i != gone; k++)
			results_put(rest, all[k]);
	}
	const struct analysis *b = analyze(&t->arena, GROUND(t->plan, t->fusion, rest, NULL), s);
	double before = analysis_of(t, s)->total_ns;
	must(t, b->total_ns >= before * (1 - EQUAL), "a result less: %g after %g", b->total_ns, before);
	results_free(rest);
}

int main(void)
{
	unsigned asked = trial_asked("BESIDE_SEED"), first = asked ? asked : 1, last = asked ? asked : TRIALS;
	for (trial_seed = first; trial_seed <= last; trial_seed++) {
		struct trial t;
		trial_open(&t);
		for (int i = 0; i < 3; i++) {
			struct scenario s = random_scenario();
			by_force(&t, &s);
			allows_more(&t, &s);
			one_less(&t, &s);
		}
		trial_close(&t);
	}
	is_int(trial_failures, 0, "groups and branches are chosen together");
	printf("# %d totals, %d choices of groups tried, %d totals with other groups than the sum, %d sets "
	       "in use, %d choices compared\n",
		totals, tilings, together, sets_used, raised);
	ok(asked || (together > 50 && sets_used > 500), "there was something to choose");
	return done_testing();
}
