/* A plan made by hand with its fusion and results, for tests of scenarios on it. */
#ifndef WORLD_H
#define WORLD_H

#include "analyze/analyze.h"
#include "make_plan.h"
#include "tap.h"

struct world {
	struct maker *m;
	struct plan *plan;
	struct fusion *fusion;
	struct results *results;
	struct device device;
	struct arena arena; /* of its analyses */
};

/* Finishes the plan of `m`, on a device whose texts are not copied. world_close frees both. */
__attribute__((unused)) static void world_open_on(
	struct world *w, struct maker *m, const struct device *device)
{
	*w = (struct world){ .m = m, .plan = make_finish(m), .results = results_new(), .device = *device };
	w->fusion = fusion_find(w->plan);
}

/* The same on a CPU with 32 MB of last-level cache, without matrix units. */
__attribute__((unused)) static void world_open(struct world *w, struct maker *m)
{
	static const struct device cpu = { .name = "cpu", .llc_bytes = 32e6 };
	world_open_on(w, m, &cpu);
}

__attribute__((unused)) static void world_close(struct world *w)
{
	arena_free(&w->arena);
	fusion_free(w->fusion);
	results_free(w->results);
	make_end(w->m);
}

/* The default scenario with a list of what-ifs; a list that is refused fails the test. */
__attribute__((unused)) static struct scenario scenario(const char *list)
{
	struct scenario s = scenario_default();
	struct error err = ERROR_NONE;
	if (scenario_parse(&s, list, &err))
		ok(false, "%s", err.text);
	return s;
}

/* Valid until world_close. */
__attribute__((unused)) static struct analysis *look(struct world *w, const char *list)
{
	struct scenario s = scenario(list);
	return analyze(&w->arena, GROUND(w->plan, w->fusion, w->results, &w->device), &s);
}

/* The effect of a what-if, by its name, in a scenario; all zero if there is no such what-if. */
__attribute__((unused)) static struct what_if_effect effect(
	struct world *w, const char *list, const char *name)
{
	struct scenario s = scenario(list);
	int count;
	struct what_if_effect *e =
		analyze_what_ifs(&w->arena, GROUND(w->plan, w->fusion, w->results, &w->device), &s, &count);
	for (int i = 0; i < count; i++)
		if (strcmp(e[i].row->name, name) == 0)
			return e[i];
	return (struct what_if_effect){ 0 };
}

#endif
