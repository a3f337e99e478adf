/* A sweep: the problems of all batches and data types of the configuration, measured one point after the
 * other. */
#include "config.h"

#include "session/session_private.h"

#include <string.h>

static bool has_point(const struct session_sweep *w, int64_t batch, enum dtype dtype)
{
	for (int i = 0; i < w->count; i++)
		if (w->points[i].batch == batch && w->points[i].dtype == dtype)
			return true;
	return false;
}

static void point_add(struct session_sweep *w, int64_t batch, enum dtype dtype)
{
	if (!has_point(w, batch, dtype))
		w->points[w->count++] = (struct session_sweep_point){ .batch = batch, .dtype = dtype };
}

/* The current scenario first, then the others in the given order; data types vary fastest. */
static void points_make(struct session_sweep *w, const struct session *s)
{
	const struct config *c = s->given;
	int batches = c->batch_count ? c->batch_count : 1, dtypes = c->dtype_count ? c->dtype_count : 1;
	w->points = ARENA_ARRAY(&w->arena, struct session_sweep_point, batches * dtypes + 1);
	if (s->current)
		point_add(w, s->current->batch, s->current->dtype);
	for (int i = 0; i < batches * dtypes; i++)
		point_add(w, c->batch_count ? c->batch[i / dtypes] : 0,
			c->dtype_count ? c->dtype[i % dtypes] : session_dtype(s));
}

/* Copies the problems' texts, because plans may be dropped during the sweep. */
static int point_queue(struct session *s, struct session_sweep_point *point, const struct variant_ground *g)
{
	struct arena a = { 0 };
	int added = 0;
	const char **texts = analyze_problems_in(&a, g->on.plan, g->on.fusion, true,
		scenario_variants(&g->scenario), &point->problem_count);
	session_plan_distance(s, g->plan);
	point->problems = ARENA_ARRAY(&s->sweep.arena, const char *, point->problem_count);
	for (int i = 0; i < point->problem_count; i++) {
		point->problems[i] = arena_strndup(&s->sweep.arena, texts[i], strlen(texts[i]));
		if (s->seat->queue)
			added += queue_add(s->seat->queue, texts[i], false, false);
	}
	arena_free(&a);
	return added;
}

/* A quick pass over all points comes first, the current scenario's at its head. */
static void quick_points(struct session *s)
{
	for (int i = s->sweep.count - 1; i >= 0; i--) { /* the last one added is the first */
		struct variant v = session_sweep_variant(s, i);
		struct variant_ground g;
		if (!variant_open(s, &v, &g, NULL))
			session_quick_of(s, &g);
		variant_close(&g);
		session_plans_trim(s);
	}
}

int session_measure_sweep(struct session *s, struct error *err)
{
	int added = 0;
	session_sweep_drop(s);
	points_make(&s->sweep, s);
	int bad = s->current ? 0 : session_select(s, s->sweep.points[0].batch, s->sweep.points[0].dtype, err);
	s->sweep.variants = scenario_variants(&s->scenario);
	for (int i = 0; i < s->sweep.count && !bad; i++) {
		struct variant v = session_sweep_variant(s, i);
		struct variant_ground g;
		bad = variant_open(s, &v, &g, err);
		added += bad ? 0 : point_queue(s, &s->sweep.points[i], &g);
		variant_close(&g);
		session_plans_trim(s);
	}
	if (!bad)
		quick_points(s);
	session_set_distance(s);
	added += bad ? 0 : session_queue_missing(s); /* conversions and peaks, which no point has */
	if (bad)
		session_sweep_drop(s);
	if (!bad && added)
		session_repeats_begin(s);
	s->besides_due = !bad && s->scenario.parallel == PARALLEL_MEASURED ? BESIDES_SWEEP : BESIDES_NONE;
	return bad ? -1 : added + (s->besides_due && s->seat->queue ? session_measure_besides(s) : 0);
}

struct session_sweep_progress session_sweep_progress(const struct session *s, int index)
{
	const struct session_sweep_point *point = &s->sweep.points[index];
	const struct queue *q = s->seat->queue;
	struct session_sweep_progress p = { .problems = point->problem_count };
	for (int i = 0; i < point->problem_count; i++) {
		enum job_state job = q ? queue_state(q, point->problems[i]) : JOB_NONE;
		p.open += job == JOB_PENDING || job == JOB_RUNNING;
		p.running |= job == JOB_RUNNING;
		p.failed += job == JOB_FAILED || job == JOB_UNSUPPORTED;
		p.missing += job != JOB_PENDING && job != JOB_RUNNING && job != JOB_FAILED &&
			job != JOB_UNSUPPORTED && !results_is_finished(s->seat->results, point->problems[i]);
	}
	return p;
}

int session_sweep_running(const struct session *s)
{
	const char *current = s->seat->queue ? queue_status(s->seat->queue).current : NULL;
	for (int i = 0; current && i < s->sweep.count; i++)
		for (int k = 0; k < s->sweep.points[i].problem_count; k++)
			if (strcmp(s->sweep.points[i].problems[k], current) == 0)
				return i;
	return -1;
}

char *session_sweep_text(
	const struct session *s, char *buf, size_t size, int64_t batch, enum dtype dtype)
{
	if (batch)
		snprintf(buf, size, "batch %lld %s", (long long)batch, session_type_name(s, dtype));
	else
		snprintf(buf, size, "%s", session_type_name(s, dtype));
	return buf;
}
