#include "config.h"

#include "session/session_private.h"

/* Problems that depend on the results of the others: conversions between layouts, branches side by side. */

const char **session_conversions(struct session *s, struct arena *a, int *count)
{
	struct ground ground = session_ground_shared(s);
	return analyze_conversions(a, &ground, &s->scenario, count);
}

const char **session_besides(struct session *s, struct arena *a, int *count)
{
	struct ground ground = session_ground(s);
	*count = 0;
	if (s->scenario.parallel != PARALLEL_MEASURED || !s->current)
		return NULL;
	return analyze_besides(a, &ground, &s->scenario, count);
}

int session_measure_besides(struct session *s)
{
	struct queue_status q = queue_status(s->queue);
	struct arena a = { 0 };
	int count, added = 0;
	if (q.pending + q.running)
		return 0;
	bool sweep = s->besides_due == BESIDES_SWEEP;
	s->besides_due = BESIDES_NONE;
	if (sweep)
		return session_sweep_besides(s);
	const char **texts = session_besides(s, &a, &count);
	for (int i = 0; i < count; i++)
		added += queue_add(s->queue, texts[i], false, false);
	arena_free(&a);
	return added;
}
