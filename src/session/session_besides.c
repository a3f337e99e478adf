/* Problems that depend on the results of the others: conversions between layouts, branches side by side. */
#include "config.h"

#include "session/session_private.h"

#include <string.h>

const char **session_conversions(struct session *s, struct arena *a, int *count)
{
	struct ground ground = session_ground_shared(s);
	return analyze_conversions(a, &ground, &s->scenario, count);
}

const char **session_besides(struct session *s, struct arena *a, int *count)
{
	*count = 0;
	if (s->scenario.parallel != PARALLEL_MEASURED || !s->current)
		return NULL;
	struct ground ground = session_ground(s);
	return analyze_besides(a, &ground, &s->scenario, count);
}

/* Adds texts to a point's problems and queues them. */
static int point_append(struct session *s, struct session_sweep_point *point, const char **texts, int count)
{
	struct arena *a = &s->sweep.arena;
	const char **all = ARENA_ARRAY(a, const char *, point->problem_count + count);
	int added = 0;
	memcpy(all, point->problems, (size_t)point->problem_count * sizeof(*all));
	point->problems = all;
	for (int i = 0; i < count; i++) {
		all[point->problem_count++] = arena_strndup(a, texts[i], strlen(texts[i]));
		added += queue_add(s->seat->queue, texts[i], false, false);
	}
	return added;
}

struct variant session_sweep_variant(const struct session *s, int point)
{
	struct variant v = session_variant(s);
	v.batch = s->sweep.points[point].batch;
	v.dtype = s->sweep.points[point].dtype;
	return v;
}

/* The results of each point say which branches it has. */
static int sweep_besides(struct session *s)
{
	int added = 0;
	for (int i = 0; s->current && i < s->sweep.count; i++) {
		struct variant v = session_sweep_variant(s, i);
		struct variant_ground g;
		struct arena a = { 0 };
		int count = 0;
		const char **texts = variant_open(s, &v, &g, NULL) ? NULL :
			analyze_besides(&a, &g.on, &g.scenario, &count);
		if (count) {
			session_plan_distance(s, g.plan);
			added += point_append(s, &s->sweep.points[i], texts, count);
		}
		variant_close(&g);
		arena_free(&a);
	}
	session_set_distance(s);
	return added;
}

int session_measure_besides(struct session *s)
{
	struct queue_status q = queue_status(s->seat->queue);
	struct arena a = { 0 };
	int count, added = 0;
	if (q.pending + q.running)
		return 0;
	bool sweep = s->besides_due == BESIDES_SWEEP;
	s->besides_due = BESIDES_NONE;
	if (sweep)
		return sweep_besides(s);
	const char **texts = session_besides(s, &a, &count);
	for (int i = 0; i < count; i++)
		added += queue_add(s->seat->queue, texts[i], false, false);
	arena_free(&a);
	return added;
}
