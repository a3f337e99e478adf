/* Lists the distinct problems of a plan, and the names of the algorithms of results. */
#include "config.h"

#include "analyze/study/price.h"

#include "base/hash.h"

struct text_list {
	const struct plan *plan;
	const struct fusion *fusion;
	bool *seen;
	const char **texts;
	int count;
	unsigned variants;
};

static void list_add(struct text_list *l, int distinct)
{
	int own = plan_problem_total(l->plan);
	if (distinct < 0 || l->seen[distinct])
		return;
	l->seen[distinct] = true;
	l->texts[l->count++] =
		distinct < own ? l->plan->problems[distinct].text : l->fusion->texts[distinct - own];
}

/* A layer's problem, and its padded form. */
static void list_problem(struct text_list *l, int problem)
{
	list_add(l, problem);
	if (l->variants & PROBLEMS_PADDED)
		list_add(l, plan_padded_index(l->plan, problem));
}

static void list_bodies(struct text_list *l, const struct plan_layer *layer)
{
	for (int i = 0; i < layer->body_count; i++)
		for (int k = 0; k < layer->bodies[i].layer_count; k++) {
			list_problem(l, layer->bodies[i].layers[k].problem);
			list_bodies(l, &layer->bodies[i].layers[k]);
		}
}

/* Problems of one layout. A conversion follows the layer that produces its value. */
static void list_side(struct text_list *l, bool nxc)
{
	const struct plan *p = l->plan;
	const struct fusion *f = l->fusion;
	int conversions = nxc ? p->conversion_count : 0, next = 0;
	for (int i = -1; i < p->layer_count; i++) {
		if (i >= 0 && p->layers[i].class != CLASS_FREE)
			list_problem(l, plan_layer_problem_index(p, &p->layers[i], nxc));
		if (i >= 0)
			list_bodies(l, &p->layers[i]);
		int g = f && i >= 0 ? f->first_group[i] : -1;
		for (; g >= 0 && g < f->group_count && f->groups[g].layers[0] == i; g++) {
			list_add(l, nxc ? f->groups[g].distinct_nxc : f->groups[g].distinct);
			list_add(l, fusion_copy(&f->groups[g]));
		}
		for (; next < conversions && p->values[p->conversions[next].value].producer <= i; next++)
			list_add(l, p->conversions[next].problem);
	}
}

const char **analyze_problems_in(
	struct arena *a, const struct plan *p, const struct fusion *f, bool fusion, unsigned variants,
	int *count)
{
	int distinct = plan_problem_total(p) + (fusion && f ? f->text_count : 0);
	struct text_list list = {
		.plan = p, .fusion = fusion ? f : NULL, .seen = ARENA_ARRAY(a, bool, distinct),
		.texts = ARENA_ARRAY(a, const char *, distinct), .variants = variants,
	};
	if ((variants & PROBLEMS_NXC) && p->nxc)
		list_side(&list, true);
	list_side(&list, false);
	for (int i = 0; i < p->border_count; i++)
		list_add(&list, p->borders[i].problem);
	*count = list.count;
	return list.texts;
}

struct algorithms_named algorithms_named(const struct plan *p, const struct fusion *f,
	const struct results *results, const struct scenario *s)
{
	struct algorithms_named n = { 0, 0 };
	struct arena a = { 0 };
	struct hash seen = { 0 };
	int count, of;
	const char **texts = analyze_problems_in(&a, p, f, true, scenario_variants(s), &count);
	for (int i = 0; i < count; i++) {
		const struct result *const *all = results_of(results, texts[i], &of);
		for (int k = 0; k < of; k++) {
			const struct algorithm *one = &all[k]->algorithm;
			int64_t *at = one->name && one->name[0] ? hash_at(&seen, text_of(one->name)) : NULL;
			if (!at || *at >= 0)
				continue;
			*at = n.measured++;
			n.named += (!s->algorithm[0] || algorithm_is_named(s->algorithm, one)) &&
				(!s->libraries[0] || library_is_named(s->libraries, one->api));
		}
	}
	hash_free(&seen);
	arena_free(&a);
	return n;
}
