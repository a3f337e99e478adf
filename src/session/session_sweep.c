#include "config.h"

#include "session/session_private.h"

#include <string.h>

/* A sweep: the problems of all batches and data types of the configuration, measured one point after the
 * other. */

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
static int point_queue(struct session *s, struct session_sweep_point *point)
{
	struct arena a = { 0 };
	int added = 0;
	const char **texts = analyze_problems_in(&a, s->current->plan, session_fusion(s), true,
		scenario_variants(&s->scenario), &point->problem_count);
	point->problems = ARENA_ARRAY(&s->sweep.arena, const char *, point->problem_count);
	for (int i = 0; i < point->problem_count; i++) {
		point->problems[i] = arena_strndup(&s->sweep.arena, texts[i], strlen(texts[i]));
		if (s->queue)
			added += queue_add(s->queue, texts[i], false, false);
	}
	arena_free(&a);
	return added;
}

void session_sweep_drop(struct session *s)
{
	arena_free(&s->sweep.arena);
	s->sweep = (struct session_sweep){ 0 };
}

/* A quick pass over all points comes first, the current scenario's at its head. */
static void quick_points(struct session *s)
{
	for (int i = s->sweep.count - 1; i >= 0; i--) { /* the last one added is the first */
		const struct session_sweep_point *point = &s->sweep.points[i];
		if (!session_select(s, point->batch, point->dtype, NULL))
			session_measure_quick(s);
		session_plans_trim(s);
	}
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
		added += queue_add(s->queue, texts[i], false, false);
	}
	return added;
}

/* The results of each point say which branches it has. */
int session_sweep_besides(struct session *s)
{
	int64_t batch = s->current ? s->current->batch : 0;
	enum dtype dtype = session_dtype(s);
	int added = 0;
	for (int i = 0; s->current && i < s->sweep.count; i++) {
		struct session_sweep_point *point = &s->sweep.points[i];
		struct arena a = { 0 };
		int count = 0;
		const char **texts = session_select(s, point->batch, point->dtype, NULL) ? NULL :
			session_besides(s, &a, &count);
		if (count)
			added += point_append(s, point, texts, count);
		arena_free(&a);
	}
	if (s->current)
		session_select(s, batch, dtype, NULL);
	return added;
}

int session_measure_sweep(struct session *s, struct error *err)
{
	struct session_plan *present = s->current;
	int added = 0, bad = 0;
	if (present)
		present->held = true;
	session_sweep_drop(s);
	points_make(&s->sweep, s);
	s->sweep.variants = scenario_variants(&s->scenario);
	for (int i = 0; i < s->sweep.count && !bad; i++) {
		struct session_sweep_point *point = &s->sweep.points[i];
		bad = session_select(s, point->batch, point->dtype, err) || session_check_bound(s, err);
		added += bad ? 0 : point_queue(s, point);
		session_plans_trim(s);
	}
	if (!bad)
		quick_points(s);
	if (present)
		present->held = false;
	if (present && present != s->current)
		session_select(s, present->batch, present->dtype, NULL); /* it is kept, so this cannot fail */
	session_plans_trim(s);
	added += bad ? 0 : session_queue_missing(s); /* conversions and peaks, which no point has */
	if (bad)
		session_sweep_drop(s);
	if (!bad && added)
		session_repeats_begin(s);
	s->besides_due = !bad && s->scenario.parallel == PARALLEL_MEASURED ? BESIDES_SWEEP : BESIDES_NONE;
	return bad ? -1 : added + (s->besides_due && s->queue ? session_measure_besides(s) : 0);
}

struct session_sweep_progress session_sweep_progress(const struct session *s, int index)
{
	const struct session_sweep_point *point = &s->sweep.points[index];
	struct session_sweep_progress p = { .problems = point->problem_count };
	for (int i = 0; i < point->problem_count; i++) {
		enum job_state job = s->queue ? queue_state(s->queue, point->problems[i]) : JOB_NONE;
		p.open += job == JOB_PENDING || job == JOB_RUNNING;
		p.running |= job == JOB_RUNNING;
		p.failed += job == JOB_FAILED || job == JOB_UNSUPPORTED;
		p.missing += job != JOB_PENDING && job != JOB_RUNNING && job != JOB_FAILED &&
			job != JOB_UNSUPPORTED && !results_is_finished(s->results, point->problems[i]);
	}
	return p;
}

int session_sweep_running(const struct session *s)
{
	const char *current = s->queue ? queue_status(s->queue).current : NULL;
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
