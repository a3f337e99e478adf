/* The analysis of what is shown, made anew when something has changed; effects of what-ifs in slices. */
#include "config.h"

#include "session/session_private.h"
#include "session/session_reality.h"

#include "base/clock.h"
#include "base/log.h"

#include <limits.h>

bool session_analyze(struct session *s)
{
	struct seat *seat = s->seat;
	struct error trouble = ERROR_NONE;
	session_set_distance(s);
	if (seat->queue && !seat->device.name && queue_device(seat->queue)) {
		session_device_adopt(s, queue_device(seat->queue));
		session_follow_device(s);
	}
	if (s->stale && session_recorded_more(seat, s->current, &s->scenario, &trouble)) {
		log_line("%s", trouble.text);
		snprintf(seat->trouble, sizeof(seat->trouble), "%s", trouble.text);
	}
	uint64_t version = results_version(seat->results),
		 planned = seat->planner ? planner_version(seat->planner) : 0;
	if (!s->current ||
		(s->analysis && !s->stale && version == s->seen_version && planned == s->seen_planner))
		return false;
	session_analysis_clear(s);
	if (!s->matrix_given)
		s->scenario.matrix = session_matrix_meant(s);
	int64_t begin = clock_ms();
	seat_renew_peaks(seat);
	struct ground ground = session_ground(s);
	if (!s->analyzer)
		s->analyzer = analyzer_new();
	s->analysis = analyzer_run(s->analyzer, &s->analysis_arena, &ground, &s->scenario);
	what_if_table(&s->effect_count);
	s->effects = ARENA_ARRAY(&s->analysis_arena, struct what_if_effect, s->effect_count);
	for (int i = 0; i < s->effect_count; i++)
		analyzer_effect_begin(s->analyzer, &ground, &s->scenario, i, &s->effects[i]);
	s->seen_version = version;
	s->seen_planner = planned;
	s->stale = false;
	int64_t left = begin + s->effects_ms - clock_ms();
	if (!s->effects_ms || left > 0)
		session_effects_step(s, s->effects_ms ? (int)left : INT_MAX);
	return true;
}

bool session_is_analyzed(const struct session *s)
{
	return s->current && s->analysis && !s->stale &&
		(s->seat->device.name || !s->seat->queue || !queue_device(s->seat->queue));
}

bool session_effects_step(struct session *s, int ms)
{
	int64_t begin = clock_ms();
	if (!s->analysis || s->stale || results_version(s->seat->results) != s->seen_version)
		return false;
	struct ground ground = session_ground(s);
	for (int i = 0; i < s->effect_count; i++) {
		if (!s->effects[i].pending)
			continue;
		if (clock_ms() - begin >= ms)
			return true;
		analyzer_effect(s->analyzer, &ground, &s->scenario, i, &s->effects[i]);
	}
	bool more = session_reality_pending(s);
	while (more && clock_ms() - begin < ms)
		more = session_reality_go_on(s);
	return more;
}

/* ---- planning for a described device ---- */

/* Sends all problems of a plan and layout to the planner once; called at every key press. */
static void plan_ask(struct session *s)
{
	if (s->seat->asked == s->current && s->seat->asked_variants == scenario_variants(&s->scenario))
		return;
	struct arena a = { 0 };
	int count;
	const char **texts = analyze_problems_in(&a, s->current->plan, session_fusion(s), true,
		scenario_variants(&s->scenario), &count);
	for (int i = 0; i < count; i++)
		planner_ask(s->seat->planner, texts[i]);
	arena_free(&a);
	s->seat->asked = s->current;
	s->seat->asked_variants = scenario_variants(&s->scenario);
}

bool session_plan_step(struct session *s, int timeout_ms)
{
	if (!s->seat->planner || !s->current)
		return false;
	plan_ask(s);
	planner_step(s->seat->planner, timeout_ms);
	const struct device *d = planner_device(s->seat->planner);
	if (d && !*s->seat->device.runner) { /* its hello has just arrived */
		s->seat->device.runner = d->runner;
		s->seat->device.version = d->version;
		s->seat->device.stack = arena_printf(&s->seat->arena, "planned by %s", d->stack);
		s->stale = true;
	}
	return !planner_is_idle(s->seat->planner);
}

const struct planned *session_planned(const struct session *s, const char *problem)
{
	return s->seat->planner && problem ? planner_of(s->seat->planner, problem) : NULL;
}
