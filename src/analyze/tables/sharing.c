/* Distinct problems of several models. The order in which models cover the most problems is greedy: each
 * step takes the model that adds most. */
#include "config.h"

#include "analyze/tables/sharing.h"

#include <math.h>
#include <stdlib.h>

/* One model while it is added. */
struct gather {
	struct sharing *sharing;
	const struct ground *ground;
	const struct scenario *scenario;
	const struct plan *problems; /* the whole plan, which owns the problems */
	struct shared_model *model;
	int capacity;
	struct shared_use *uses;     /* one per layer */
};

static int problem_number(struct sharing *s, const char *text)
{
	int64_t known = hash_find(&s->index, text_of(text));
	if (known >= 0)
		return (int)known;
	struct text key = text_of(text);
	key.p = arena_strndup(&s->arena, key.p, key.n);
	return (int)(*hash_at(&s->index, key) = s->problem_count++);
}

static void layer_add(struct gather *g, const struct plan_layer *l, const struct layer_cost *c, double times)
{
	const struct plan_problem *p = &g->problems->problems[l->problem];
	struct shared_use use = { .problem = problem_number(g->sharing, p->text), .ns = c->ns };
	use.estimated = c->origin == ORIGIN_ESTIMATED || c->origin == ORIGIN_ROUGH;
	if (isnan(use.ns) && g->ground->peaks) {
		struct problem problem;
		problem_restore(p->problem, &problem);
		use.ns = roofline_ns(&problem, g->ground->peaks, g->scenario);
		use.estimated = !isnan(use.ns);
	}
	use.ns *= times;
	VEC_GROW(g->uses, g->model->layer_count, g->capacity);
	g->uses[g->model->layer_count++] = use;
}

static void plan_add(struct gather *g, const struct plan *p, const struct layer_cost *costs, double times)
{
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		if (l->problem >= 0)
			layer_add(g, l, &costs[i], times);
		for (int k = 0; k < l->body_count && costs[i].bodies; k++)
			plan_add(g, &l->bodies[k], costs[i].bodies[k], times * l->bodies[k].times);
	}
}

static int use_compare(const void *a, const void *b)
{
	const struct shared_use *x = a, *y = b;
	return (x->problem > y->problem) - (x->problem < y->problem);
}

/* Adds up the layers of equal problems. One of unknown time makes the sum unknown. */
static void uses_merge(struct gather *g)
{
	struct shared_model *m = g->model;
	m->uses = ARENA_ARRAY(&g->sharing->arena, struct shared_use, m->layer_count);
	if (m->layer_count)
		qsort(g->uses, (size_t)m->layer_count, sizeof(*g->uses), use_compare);
	for (int i = 0; i < m->layer_count; i++) {
		struct shared_use *last = m->use_count ? &m->uses[m->use_count - 1] : NULL;
		if (!last || last->problem != g->uses[i].problem) {
			m->uses[m->use_count++] = g->uses[i];
			continue;
		}
		last->ns += g->uses[i].ns;
		last->estimated |= g->uses[i].estimated;
	}
	m->ns = NAN;
	for (int i = 0; i < m->use_count; i++) {
		m->unknown += isnan(m->uses[i].ns);
		m->estimated += m->uses[i].estimated && !isnan(m->uses[i].ns);
		if (!isnan(m->uses[i].ns))
			m->ns = (isnan(m->ns) ? 0 : m->ns) + m->uses[i].ns;
	}
}

void sharing_add(struct sharing *s, const struct ground *ground, const struct analysis *a)
{
	VEC_GROW(s->models, s->model_count, s->model_capacity);
	struct shared_model *m = &s->models[s->model_count++];
	*m = (struct shared_model){ 0 };
	struct gather g = { .sharing = s, .ground = ground, .scenario = &a->scenario,
		.problems = ground->plan, .model = m };
	plan_add(&g, ground->plan, a->layers, 1);
	uses_merge(&g);
	free(g.uses);
}

void sharing_free(struct sharing *s)
{
	free(s->models);
	hash_free(&s->index);
	arena_free(&s->arena);
	*s = (struct sharing){ 0 };
}

struct shared_pair sharing_pair(const struct sharing *s, int first, int second)
{
	const struct shared_model *a = &s->models[first], *b = &s->models[second];
	struct shared_pair pair = { 0 };
	double least = 0, most = 0;
	int i = 0, k = 0, all = 0;
	while (i < a->use_count || k < b->use_count) {
		const struct shared_use *x = i < a->use_count ? &a->uses[i] : NULL,
					*y = k < b->use_count ? &b->uses[k] : NULL;
		if (x && y && x->problem != y->problem)
			*(x->problem < y->problem ? &y : &x) = NULL;
		i += x != NULL;
		k += y != NULL;
		all++;
		pair.common += x && y;
		pair.estimated |= (x && x->estimated) || (y && y->estimated);
		double p = x ? x->ns : 0, q = y ? y->ns : 0;
		if (isnan(p) || isnan(q)) {
			pair.unknown++;
			continue;
		}
		least += fmin(p, q);
		most += fmax(p, q);
	}
	pair.jaccard = all ? (double)pair.common / all : NAN;
	pair.time_share = most > 0 ? least / most : NAN;
	return pair;
}

/* What covering each problem is worth: 1, or the time of all models in it. Returns the sum. */
static double worths(const struct sharing *s, bool by_time, double *worth)
{
	double all = 0;
	for (int m = 0; m < s->model_count; m++)
		for (int i = 0; i < s->models[m].use_count; i++) {
			const struct shared_use *u = &s->models[m].uses[i];
			if (!by_time)
				worth[u->problem] = 1;
			else if (!isnan(u->ns))
				worth[u->problem] += u->ns;
		}
	for (int i = 0; i < s->problem_count; i++)
		all += worth[i];
	return all;
}

static double model_gain(const struct shared_model *m, const double *worth)
{
	double gain = 0;
	for (int i = 0; i < m->use_count; i++)
		gain += worth[m->uses[i].problem];
	return gain;
}

struct shared_step *sharing_cover(
	const struct sharing *s, struct arena *a, bool by_time, double share, int *count)
{
	struct shared_step *steps = ARENA_ARRAY(a, struct shared_step, s->model_count);
	double *worth = ARENA_ARRAY(a, double, s->problem_count); /* 0 once it is covered */
	double all = worths(s, by_time, worth), covered = 0;
	*count = 0;
	while (*count < s->model_count && covered < share * all) {
		int best = 0;
		double most = 0;
		for (int m = 0; m < s->model_count; m++) {
			double gain = model_gain(&s->models[m], worth);
			if (gain > most) {
				most = gain;
				best = m;
			}
		}
		if (!(most > 0))
			break;
		for (int i = 0; i < s->models[best].use_count; i++)
			worth[s->models[best].uses[i].problem] = 0;
		covered += most;
		steps[(*count)++] = (struct shared_step){ best, fmin(covered / all, 1) };
	}
	return steps;
}
