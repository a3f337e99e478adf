#include "config.h"

#include "session/session_private.h"

#include <stdlib.h>

/* Assumed costs: those of the options first, then those that the explorer set, by layer. A layer has the same
 * index in all plans of a model. */

/* Fills the plan's assumptions; -1: an option names no layer of it. */
int session_assume_plan(struct session *s, struct session_plan *made, struct error *err)
{
	const struct plan *p = made->plan;
	struct arena scratch = { 0 };
	int total, bad = 0, *numbers = session_numbers(p, &scratch, &total);
	if (!made->assumed)
		made->assumed = base_calloc((size_t)p->layer_count + 1, sizeof(*made->assumed));
	for (int i = 0; i < p->layer_count; i++)
		made->assumed[i] = (struct assumption){ 0 };
	for (int i = 0; i < s->options.assume_count && bad >= 0; i++) {
		bad = assume_apply(p, numbers, &s->options.assume[i], made->assumed, err);
		if (bad < 0)
			error_context(err, "--assume");
	}
	for (int i = 0; i < s->assumed_count; i++)
		if (s->assumed[i].layer < p->layer_count)
			made->assumed[s->assumed[i].layer] = s->assumed[i].cost;
	made->assumed_count = 0;
	for (int i = 0; i < p->layer_count; i++)
		made->assumed_count += made->assumed[i].kind != ASSUME_NOTHING;
	arena_free(&scratch);
	return bad < 0 ? -1 : 0;
}

void session_assume(struct session *s, int layer, const struct assumption *cost)
{
	int at = 0;
	while (at < s->assumed_count && s->assumed[at].layer != layer)
		at++;
	if (at == s->assumed_count)
		VEC_GROW(s->assumed, s->assumed_count, s->assumed_capacity);
	s->assumed_count += at == s->assumed_count;
	s->assumed[at] = (struct session_assumed){ layer, *cost };
	for (int i = 0; i < s->plan_count; i++)
		session_assume_plan(s, s->plans[i], NULL); /* the options applied when it was made */
	s->scenario.assume = s->current && s->current->assumed_count > 0;
	s->stale = true;
}

void session_assume_drop(struct session *s)
{
	free(s->assumed);
	s->assumed = NULL;
	s->assumed_count = s->assumed_capacity = 0;
}
