/* Collects distinct problems of all scenarios and orders them by their share of the total, so that an
 * interrupted run has measured what matters. */
#include "config.h"

#include "commands/wanted.h"

#include "analyze/roof/peaks.h"
#include "commands/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rough roofline that orders the problems when the device is unknown: operations/s, bytes/s and shortest
 * kernel time of a large GPU. cost = max(FLOPs / ROUGH_FLOPS, bytes / ROUGH_BYTES, ROUGH_LEAST_S); share =
 * uses x cost / sum over the scenario. Greedy: the largest shares first, so that an interrupted run covers
 * most of the work. */
#define ROUGH_FLOPS 5e13
#define ROUGH_BYTES 3e12
#define ROUGH_LEAST_S 2e-6
#define FUSED_WORTH 0.5

static double rough_cost_s(const char *text)
{
	struct problem *p = base_calloc(1, sizeof(*p));
	double flops = NAN, bytes = NAN;
	if (problem_parse(text_of(text), p, NULL) == 0) {
		flops = problem_flops(p);
		bytes = problem_bytes(p);
	}
	free(p);
	double cost = ROUGH_LEAST_S; /* comparisons with an unknown figure are false */
	cost = flops / ROUGH_FLOPS > cost ? flops / ROUGH_FLOPS : cost;
	return bytes / ROUGH_BYTES > cost ? bytes / ROUGH_BYTES : cost;
}

static struct wanted_problem *wanted_at(struct wanted *w, const char *text)
{
	int64_t known = hash_find(&w->index, text_of(text));
	if (known < 0) {
		const char *kept = arena_strndup(&w->arena, text, strlen(text));
		known = *hash_at(&w->index, text_of(kept)) = w->count;
		VEC_GROW(w->problems, w->count, w->capacity);
		w->problems[w->count++] = (struct wanted_problem){ .text = kept };
	}
	return &w->problems[known];
}

static void wanted_add(struct wanted *w, const char *text, int uses, double share)
{
	int before = w->count;
	struct wanted_problem *p = wanted_at(w, text);
	if (w->count > before) {
		p->model = w->model;
		p->scenario = w->scenario;
		p->distance = w->distance;
	}
	p->uses += uses;
	p->share += share;
}

/* Adds every problem of the selected plan. A problem that only groups use counts the groups as uses. */
static void wanted_plan(struct wanted *w, const struct session *s)
{
	struct arena a = { 0 };
	int count;
	double total = 0;
	const struct plan *plan = session_plan(s);
	const struct fusion *fusion = session_fusion(s);
	unsigned variants = scenario_variants(session_scenario(s));
	const char **texts = analyze_problems_in(&a, plan, fusion, true, variants, &count);
	w->mentioned += count;
	for (int i = 0; i < count; i++)
		wanted_add(w, texts[i], 0, 0);
	int problems = plan_problem_total(plan);
	for (int i = 0; i < problems; i++)
		total += !plan_problem_is_in(plan, i, variants) ? 0 :
			 plan->problems[i].use_count * rough_cost_s(plan->problems[i].text);
	for (int i = 0; i < problems; i++) {
		const struct plan_problem *p = &plan->problems[i];
		if (!plan_problem_is_in(plan, i, variants))
			continue;
		wanted_add(w, p->text, p->use_count,
			total > 0 ? p->use_count * rough_cost_s(p->text) / total : 0);
	}
	for (int i = 0; i < fusion->group_count; i++) {
		const struct fusion_group *g = &fusion->groups[i];
		wanted_add(w, g->text, 1, total > 0 ? FUSED_WORTH * rough_cost_s(g->text) / total : 0);
		if (fusion_copy_text(g))
			wanted_add(w, fusion_copy_text(g), 1,
				total > 0 ? FUSED_WORTH * rough_cost_s(fusion_copy_text(g)) / total : 0);
		if ((variants & PROBLEMS_NXC) && g->distinct_nxc >= 0 && g->distinct_nxc != g->distinct)
			wanted_add(w, g->text_nxc, 1,
				total > 0 ? FUSED_WORTH * rough_cost_s(g->text_nxc) / total : 0);
	}
	arena_free(&a);
}

int wanted_gather(struct wanted *w, struct session *s, const struct options *o, struct error *err)
{
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes);
	w->mentioned = 0;
	for (int i = 0; i < batch_count * dtype_count; i++) {
		if (options_select(s, batches[i / dtype_count], dtypes[i % dtype_count], err) ||
			session_check_bound(s, err))
			return -1;
		if (i % dtype_count == 0)
			report_batch_note(s, o, batches[i / dtype_count]);
		w->scenario = i;
		w->distance = session_plan(s)->reuse_bytes;
		wanted_plan(w, s);
	}
	if (!w->mentioned && !o->quiet)
		fprintf(stderr, "benanza: %s: no layer has a problem to measure; benanza layers lists the "
			"layers\n",
			session_model_name(s));
	return 0;
}

void wanted_append(struct wanted *w, const char *text, int scenario)
{
	for (int i = 0; i < w->count; i++)
		if (strcmp(w->problems[i].text, text) == 0)
			return;
	VEC_GROW(w->problems, w->count, w->capacity);
	w->problems[w->count++] = (struct wanted_problem){
		.text = arena_strndup(&w->arena, text, strlen(text)), .scenario = scenario,
		.distance = NAN };
}

void wanted_add_peaks(struct wanted *w, const struct device *d)
{
	struct arena a = { 0 };
	bool types[DTYPE_COUNT] = { 0 };
	int count;
	w->distance = NAN; /* of no model */
	for (int i = 0; i < w->count; i++)
		peaks_note_type(types, w->problems[i].text);
	const char **texts = peaks_problems(&a, d, types, &count);
	for (int i = 0; i < count; i++)
		wanted_add(w, texts[i], 0, 1e6); /* more than any sum of shares */
	arena_free(&a);
}

/* Equal shares are ordered by text, so that the order is the same on all machines. */
static int wanted_compare(const void *a, const void *b)
{
	const struct wanted_problem *p = a, *q = b;
	if (p->model != q->model)
		return p->model < q->model ? -1 : 1;
	return p->share > q->share ? -1 : p->share < q->share ? 1 : strcmp(p->text, q->text);
}

void wanted_sort(struct wanted *w)
{
	if (w->count)
		qsort(w->problems, (size_t)w->count, sizeof(*w->problems), wanted_compare);
	hash_free(&w->index);
	w->index = (struct hash){ 0 };
}

void wanted_free(struct wanted *w)
{
	free(w->problems);
	hash_free(&w->index);
	arena_free(&w->arena);
}
