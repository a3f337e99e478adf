#include "config.h"

#include "analyze/analyze.h"
#include "make_plan.h"
#include "problem/kernel.h"
#include "random_help.h"
#include "tap.h"

/* Random small graphs with random costs: the choice of groups against all choices tried one by one, in both
 * layouts and at all levels of fusion, also with assumed costs of some layers. Half of the graphs are of
 * convolutions; half are of matmuls, several of which read one value and may be joined. The choice for the
 * longest path has no joins; its total lies between the best without and the best with them. */

#define IMAGE "1x64x56x56"
#define LAYERS 14
#define ANCHORS_MAX 5

struct trial {
	struct maker *m;
	struct plan *plan;
	struct fusion *fusion;
	struct results *results;
	double *price;          /* per distinct problem */
	bool products;          /* a graph of matmuls */
	bool joins;             /* joins are tried */
	bool nxc;               /* the layout tried */
	enum fusion_level level; /* the groups tried */
	int anchor_count, anchors[LAYERS];
	int group[LAYERS];      /* per anchor: the group tried, -1 none */
	double best_sum, best_path; /* of all choices; the path without joins */
	double least_path;      /* with joins */
	struct assumption assumed[LAYERS + 2];
	int assumed_count;
};

/* One more layer on values taken at random, mostly recent ones: sums of anything with anything, activations
 * in one and in two layers, side exits. Returns the value it makes. */
static int grow(struct maker *m, const int *values, int count, int convs)
{
	int x = values[count - 1 - below(count < 3 ? count : 3)], y = values[below(count)];
	switch (below(11)) {
	case 8: return make_layer(m, "Softmax", "softmax:f32,f32:soft:" IMAGE ":ax3", IMAGE, x, -1);
	case 9:
		return make_layer(
			m, "Mul", "binary:f32,f32,f32:mul:" IMAGE ":" IMAGE, IMAGE, values[count - 1], y);
	case 10:
		return make_layer(
			m, "Sub", "binary:f32,f32,f32:sub:" IMAGE ":" IMAGE, IMAGE, values[count - 1], y);
	case 0:
	case 1:
	case 2: return convs < ANCHORS_MAX ? make_conv(m, IMAGE, x) : make_batchnorm(m, IMAGE, 64, x);
	case 3: return make_batchnorm(m, IMAGE, 64, values[count - 1]);
	case 4: return make_layer(m, "Relu", "eltwise:f32,f32:relu:" IMAGE, IMAGE, values[count - 1], -1);
	case 5: return make_layer(m, "Dropout", NULL, IMAGE, values[count - 1], -1);
	case 6: {
		int s = make_layer(m, "Sigmoid", "eltwise:f32,f32:sigmoid:" IMAGE, IMAGE, x, -1);
		return make_layer(
			m, "Mul", "binary:f32,f32,f32:mul:" IMAGE ":" IMAGE, IMAGE, below(4) ? x : y, s);
	}
	default:
		return make_layer(
			m, "Add", "binary:f32,f32,f32:add:" IMAGE ":" IMAGE, IMAGE, values[count - 1], y);
	}
}

#define MATRIX "128x64"

/* The same for graphs of matmuls: those of one value are frequent. Each has another number of columns, to
 * which hand-made plans give the same shape. */
static int grow_products(struct maker *m, const int *values, int count, int products)
{
	int x = values[count - 1 - below(count < 4 ? count : 4)], y = values[below(count)];
	char text[96];
	snprintf(text, sizeof(text), "matmul:f32,f32.c,f32/f32:ba1bb1m128n%dk64:ta0tb0",
		64 + m->plan.layer_count);
	switch (products < ANCHORS_MAX ? below(10) : 5 + below(5)) {
	case 0:
	case 1: return make_layer(m, "MatMul", text, MATRIX, x, make_constant(m, "64x64"));
	case 2:
	case 3:
	case 4: return make_layer(m, "MatMul", text, MATRIX, values[0], make_constant(m, "64x64"));
	case 5: return make_layer(m, "Softmax", "softmax:f32,f32:soft:" MATRIX ":ax1", MATRIX, x, -1);
	case 6: return make_layer(m, "Relu", "eltwise:f32,f32:relu:" MATRIX, MATRIX, x, -1);
	case 7:
		return make_layer(m, "Mul", "binary:f32,f32,f32:mul:" MATRIX ":" MATRIX, MATRIX, x, y);
	case 8:
		return make_layer(m, "Add", "binary:f32,f32,f32:add:" MATRIX ":" MATRIX, MATRIX, x, y);
	default:
		return make_layer(m, "Add", "binary:f32,f32.c,f32:add:" MATRIX ":1", MATRIX, x,
			make_constant(m, "1"));
	}
}

/* The price of a fused problem. Each matmul costs 50 to 80 alone. */
static double fused_price(const char *text)
{
	struct problem q;
	problem_parse(text_of(text), &q, NULL);
	if (q.kernel == KERNEL_COPY)
		return 1 + below(20);
	if (q.kernel != KERNEL_MATMUL || q.mn < 128)
		return 60 + below(60);
	/* a join: some are faster than one member */
	return (below(8) ? 50 * (double)(q.mn / 64) - 10 : 30) + below(50);
}

static void open_trial(struct trial *t, bool products)
{
	int values[LAYERS + 2], count = 0, convs = 0;
	*t = (struct trial){
		.m = make_begin(), .results = results_new(), .products = products,
		.best_sum = INFINITY, .best_path = INFINITY
	};
	values[count++] = make_input(t->m, products ? MATRIX : IMAGE);
	if (!products)
		values[count++] = make_conv(t->m, IMAGE, values[0]);
	while (t->m->plan.layer_count < LAYERS - 1) {
		int before = t->m->plan.problem_count;
		values[count] = (products ? grow_products : grow)(t->m, values, count, convs);
		for (int i = before; i < t->m->plan.problem_count; i++)
			convs += kernel_row(t->m->plan.problems[i].problem->kernel)->takes_epilogues;
		if (below(10) == 0)
			t->m->plan.values[values[count]].is_output = true;
		count++;
	}
	t->plan = make_finish(t->m);
	t->fusion = fusion_find(t->plan);
	int own = plan_problem_total(t->plan), distinct = own + t->fusion->text_count;
	t->price = base_calloc((size_t)distinct, sizeof(double));
	for (int i = 0; i < distinct; i++) {
		bool product = i < own &&
			kernel_row(t->plan->problems[i].problem->kernel)->takes_epilogues;
		t->price[i] = i < own ? (product ? 50 : 0) + below(30) :
			fused_price(t->fusion->texts[i - own]);
		measure(t->results, i < own ? t->plan->problems[i].text : t->fusion->texts[i - own],
			t->price[i]);
	}
	for (int i = 0; i < t->plan->layer_count; i++) {
		bool factor = below(2) && t->plan->layers[i].class != CLASS_FREE;
		if (below(4))
			continue;
		t->assumed[i] = factor ? (struct assumption){ ASSUME_FACTOR, 2 } :
			(struct assumption){ ASSUME_TIME, below(80) };
		t->assumed_count++;
	}
	for (int i = 0; i < t->plan->layer_count; i++)
		if (t->fusion->first_group[i] >= 0)
			t->anchors[t->anchor_count++] = i;
}

static void close_trial(struct trial *t)
{
	free(t->price);
	fusion_free(t->fusion);
	results_free(t->results);
	make_end(t->m);
}

static int group_distinct(const struct trial *t, const struct fusion_group *g)
{
	return t->nxc ? g->distinct_nxc : g->distinct;
}

/* A cost with the assumption for a layer; a group has that of its first one. */
static double assumed(const struct trial *t, int layer, double cost)
{
	const struct assumption *by = &t->assumed[layer];
	return by->kind == ASSUME_TIME ? by->value : by->kind == ASSUME_FACTOR ? cost / by->value : cost;
}

static double alone(const struct trial *t, int layer)
{
	int problem = plan_layer_problem_index(t->plan, &t->plan->layers[layer], t->nxc);
	return assumed(t, layer, problem < 0 ? 0 : t->price[problem]);
}

/* Marks the layers of the groups in force; false when two want the same one. */
static bool take(const struct trial *t, int *taken)
{
	for (int i = 0; i < t->plan->layer_count; i++)
		taken[i] = -1;
	for (int k = 0; k < t->anchor_count; k++) {
		const struct fusion_group *g = t->group[k] >= 0 ? &t->fusion->groups[t->group[k]] : NULL;
		for (int i = 0; g && i < g->layer_count; i++) {
			if (taken[g->layers[i]] >= 0)
				return false;
			taken[g->layers[i]] = t->group[k];
		}
	}
	return true;
}

/* When all that a node needs from outside is there. A group is one node: it runs when the layers of all its
 * members that are not its own have ended; it is computed when the order comes to its last member. */
static double ready(
	const struct trial *t, const int *taken, const double *finish, const double *converted, int layer)
{
	const struct fusion_group *g = taken[layer] >= 0 ? &t->fusion->groups[taken[layer]] : NULL;
	double at = 0;
	for (int i = 0; i < (g ? g->layer_count : 1); i++) {
		const struct plan_layer *l = &t->plan->layers[g ? g->layers[i] : layer];
		for (int k = 0; k < l->pred_count; k++)
			if (!g || taken[l->preds[k]] != taken[layer])
				at = fmax(at, finish[l->preds[k]]);
		for (int c = 0; t->nxc && c < t->plan->conversion_count; c++)
			for (int k = 0; k < t->plan->conversions[c].consumer_count; k++)
				if (t->plan->conversions[c].consumers[k] == l->index)
					at = fmax(at, converted[c]);
	}
	return at;
}

/* When the conversions of what a layer makes (-1: of inputs) are there, and what they cost. */
static double convert(const struct trial *t, int producer, double finish, double *converted, double *path)
{
	double sum = 0;
	for (int c = 0; t->nxc && c < t->plan->conversion_count; c++) {
		const struct plan_conversion *k = &t->plan->conversions[c];
		if (t->plan->values[k->value].producer != producer)
			continue;
		converted[c] = finish + t->price[k->problem];
		sum += t->price[k->problem];
		*path = fmax(*path, converted[c]);
	}
	return sum;
}

static void evaluate(struct trial *t)
{
	double finish[LAYERS + 2] = { 0 }, converted[2 * LAYERS + 4] = { 0 }, path = 0, sum = 0;
	int taken[LAYERS + 2];
	if (!take(t, taken))
		return;
	sum += convert(t, -1, 0, converted, &path);
	for (int i = 0; i < t->plan->layer_count; i++) {
		const struct fusion_group *g = taken[i] >= 0 ? &t->fusion->groups[taken[i]] : NULL;
		if (g && g->layers[g->join ? 0 : g->layer_count - 1] != i)
			continue;
		bool join = g && g->join;
		double cost = !g ? alone(t, i) : join ? t->price[group_distinct(t, g)] :
			assumed(t, g->layers[0], t->price[group_distinct(t, g)]);
		cost += g && fusion_copy(g) >= 0 ? t->price[fusion_copy(g)] : 0;
		finish[i] = ready(t, taken, finish, converted, i) + cost;
		for (int k = 0; g && k < g->layer_count; k++)
			finish[g->layers[k]] = finish[i];
		sum += cost;
		path = fmax(path, finish[i]);
		sum += convert(t, i, finish[i], converted, &path);
	}
	if (t->joins) {
		t->best_sum = fmin(t->best_sum, sum);
		t->least_path = fmin(t->least_path, path);
	} else {
		t->best_path = fmin(t->best_path, path);
	}
}

/* Layers that groups chosen so far have, as bits. */
static uint32_t bits(const struct fusion_group *g)
{
	uint32_t all = 0;
	for (int i = 0; i < g->layer_count; i++)
		all |= 1u << g->layers[i];
	return all;
}

static void try_all(struct trial *t, int anchor, uint32_t used)
{
	if (anchor == t->anchor_count) {
		evaluate(t);
		return;
	}
	const struct fusion *f = t->fusion;
	int first = t->anchors[anchor];
	t->group[anchor] = -1;
	try_all(t, anchor + 1, used);
	for (int g = f->first_group[first]; g < f->group_count && f->groups[g].layers[0] == first; g++) {
		if (!fusion_allows(t->level, f->groups[g].level) ||
			group_distinct(t, &f->groups[g]) < 0 || (bits(&f->groups[g]) & used) ||
			(f->groups[g].join && !t->joins))
			continue;
		t->group[anchor] = g;
		try_all(t, anchor + 1, used | bits(&f->groups[g]));
	}
}

struct tally {
	int trials, good, assumed, steps, fused, clusters_of_two, clusters_of_many, waits, conversions, apart;
	int joined, copied, contested, all_joins, convex, between;
};

/* True if no member of a join is reached from another. */
static bool is_convex(const struct plan *p, const struct fusion_group *g)
{
	bool after[LAYERS + 2] = { false };
	for (int i = 0; i < p->layer_count; i++)
		for (int k = 0; k < p->layers[i].pred_count; k++) {
			int from = p->layers[i].preds[k];
			bool own = false; /* a bias inside the join */
			for (int n = 0; n < g->layer_count; n++)
				own |= g->layers[n] == from;
			after[i] |= own || after[from];
		}
	for (int i = 0; i < g->join->member_count; i++)
		if (after[g->join->members[i]])
			return false;
	return true;
}

/* The layers of an analysis in sequence: their costs add up, and joins are among them. */
static bool in_sequence(struct tally *tally, const struct trial *t, const struct scenario *s)
{
	struct arena arena = { 0 };
	struct scenario one = *s;
	one.parallel = PARALLEL_OFF;
	struct ground ground = *GROUND(t->plan, t->fusion, t->results, NULL);
	ground.assumed = t->assumed;
	struct analysis *a = analyze(&arena, &ground, &one);
	double sum = t->nxc ? a->border_ns : 0;
	for (int i = 0; i < a->layer_count; i++) {
		const struct fusion_group *g = a->layers[i].group;
		sum += a->layers[i].ns;
		if (g && g->join && g->layers[0] == i) {
			tally->joined++;
			tally->copied += fusion_copy(g) >= 0;
			tally->contested += t->fusion->cluster_of[i] >= 0;
		}
	}
	bool good = fabs(sum - a->total_ns) < 1e-6 && a->total_ns == t->best_sum;
	one.layouts = LAYOUTS_PRICED; /* matrices have no layouts: another way to the same bound */
	if (t->products && !t->nxc)
		good &= analyze(&arena, &ground, &one)->total_ns == t->best_sum;
	arena_free(&arena);
	return good;
}

/* less[]: the bounds at the level below, in sequence and in parallel; a level never raises them. */
static void one_side(
	struct tally *tally, struct trial *t, bool nxc, enum fusion_level level, double less[2])
{
	struct arena arena = { 0 };
	struct scenario s = scenario_default();
	t->nxc = nxc;
	s.layouts = nxc ? LAYOUTS_NXC : LAYOUTS_FREE;
	s.assume = true;
	struct ground ground = *GROUND(t->plan, t->fusion, t->results, NULL);
	ground.assumed = t->assumed;
	struct scenario plain = s;
	s.fusion = t->level = level;
	s.parallel = PARALLEL_RESOURCES;
	t->best_sum = t->best_path = t->least_path = INFINITY;
	for (int i = 0; i < 2; i++) {
		t->joins = i != 0;
		try_all(t, 0, 0);
	}
	struct analysis *a = analyze(&arena, &ground, &s);
	struct analysis *unfused = analyze(&arena, &ground, &plain);
	bool good = a->sequential_ns == t->best_sum && a->parallel_ns <= t->best_path &&
		a->parallel_ns >= t->least_path && a->parallel_ns <= a->sequential_ns && a->complete &&
		a->sequential_ns <= unfused->sequential_ns && a->parallel_ns <= unfused->parallel_ns;
	good &= in_sequence(tally, t, &s);
	/* with joins the path of the choice for the sum counts too; it may be longer at a higher level, which
	 * with assumed costs happens in some graphs */
	good &= a->sequential_ns <= less[0] &&
		(a->parallel_ns <= less[1] || (t->products && t->assumed_count));
	good &= a->parallel_ns == t->best_path || a->parallel_ns < t->best_path * t->products;
	tally->between += a->parallel_ns > t->least_path;
	tally->steps += a->sequential_ns < less[0] && less[0] < INFINITY;
	less[0] = a->sequential_ns;
	less[1] = a->parallel_ns;
	double sum = a->border_ns;
	for (int i = 0; i < a->layer_count; i++) {
		const struct layer_cost *c = &a->layers[i];
		sum += c->ns;
		good &= (c->origin == ORIGIN_FUSED) == (c->group && c->group->layers[0] != i);
		good &= c->start_ns + c->ns + c->slack_ns <= a->parallel_ns;
		tally->fused += c->origin == ORIGIN_FUSED;
		tally->assumed += c->origin == ORIGIN_ASSUMED;
		tally->waits += c->group && c->group->layers[0] == i && c->group->residual >= 0;
	}
	good &= sum >= a->sequential_ns && sum >= a->parallel_ns;
	tally->conversions += a->conversions;
	if (!good)
		printf("# sum %g of %g, path %g of %g\n", a->sequential_ns, t->best_sum, a->parallel_ns,
			t->best_path);
	tally->trials++;
	tally->good += good;
	arena_free(&arena);
}

static void one_trial(struct tally *tally, bool products)
{
	struct trial t;
	open_trial(&t, products);
	static const enum fusion_level levels[] = { FUSION_EPILOGUE, FUSION_FOLD, FUSION_PATTERN,
		FUSION_ALL };
	for (int nxc = 0; nxc < 2; nxc++) {
		double less[2] = { INFINITY, INFINITY };
		for (int i = 0; i < 4; i++)
			one_side(tally, &t, nxc != 0, levels[i], less);
	}
	for (int i = 0; i < t.fusion->cluster_count; i++) {
		tally->clusters_of_two += t.fusion->clusters[i].anchor_count == 2;
		tally->clusters_of_many += t.fusion->clusters[i].anchor_count > 2;
	}
	for (int i = 0; i < t.fusion->group_count; i++) {
		tally->apart += t.fusion->groups[i].distinct_nxc < 0;
		if (t.fusion->groups[i].join) {
			tally->all_joins++;
			tally->convex += is_convex(t.plan, &t.fusion->groups[i]);
		}
	}
	close_trial(&t);
}

int main(void)
{
	random_state = 3;
	struct tally tally = { 0 };
	for (int i = 0; i < 3000; i++)
		one_trial(&tally, i % 2 != 0);
	is_int(tally.good, tally.trials, "the best of all choices, in sequence and in parallel");
	ok(tally.assumed > 200, "%d costs were assumed", tally.assumed);
	ok(tally.fused > 200, "%d layers were fused", tally.fused);
	ok(tally.steps > 200, "%d times a level allowed a lower bound than the one below", tally.steps);
	ok(tally.waits > 20, "%d groups waited for another's output", tally.waits);
	ok(tally.clusters_of_two > 20, "%d sums had two takers", tally.clusters_of_two);
	ok(tally.clusters_of_many > 200, "%d clusters had three anchors and more", tally.clusters_of_many);
	ok(tally.conversions > 200, "%d conversions of layout", tally.conversions);
	ok(tally.apart > 20, "%d groups that a conversion takes apart", tally.apart);
	ok(tally.joined > 200, "%d joins were chosen", tally.joined);
	ok(tally.copied > 20, "%d of them with a copy of parts", tally.copied);
	ok(tally.contested > 100, "%d of them beside other groups of their layers", tally.contested);
	ok(tally.between > 0 && tally.between < tally.trials / 20,
		"%d longest paths are not the shortest with joins", tally.between);
	is_int(tally.convex, tally.all_joins, "no member of a join is reached from another");
	return done_testing();
}
