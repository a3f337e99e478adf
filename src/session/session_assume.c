/* Assumed costs: those of described operators first, then those of the options, then those that the explorer
 * set, by layer. A layer has the same index in all plans of a model. */
#include "config.h"

#include "session/session_private.h"

#include <stdlib.h>

/* The options of a plan, in their order. */
struct assuming {
	struct session_plan *made;
	const struct assume_item *items;
	const int *numbers;
	struct assumption *one; /* by layer: what the current option sets */
	int *alone;             /* by layer: 1 + the option that names this layer alone; 0: none */
};

/* Two options that name one layer alone must agree. */
static int disagree(const struct assume_item *x, const struct assume_item *y, struct error *err)
{
	char a[ASSUMED_TEXT_SIZE], b[ASSUMED_TEXT_SIZE];
	return error_set(err, "%.*s=%s contradicts %.*s=%s, the same layer: leave one out",
		(int)(y->layer.n < 60 ? y->layer.n : 60), y->layer.p, assumed_text(b, &y->cost),
		(int)(x->layer.n < 60 ? x->layer.n : 60), x->layer.p, assumed_text(a, &x->cost));
}

static bool is_equal(const struct assumption *x, const struct assumption *y)
{
	return x->kind == y->kind && x->value == y->value;
}

/* Applies option number `at`. */
static int assume_option(struct assuming *w, int at, struct error *err)
{
	const struct plan *p = w->made->plan;
	const struct assume_item *item = &w->items[at];
	for (int i = 0; i < p->layer_count; i++)
		w->one[i] = (struct assumption){ 0 };
	int count = assume_apply(p, w->numbers, item, w->one, err);
	for (int i = 0; i < p->layer_count && count > 0; i++) {
		if (w->one[i].kind == ASSUME_NOTHING)
			continue;
		const struct assume_item *before = count == 1 && w->alone[i] ?
			&w->items[w->alone[i] - 1] : NULL;
		if (before && !is_equal(&before->cost, &item->cost))
			count = disagree(before, item, err);
		w->alone[i] = count == 1 ? at + 1 : 0;
		w->made->assumed[i] = w->one[i];
	}
	return count < 0 ? error_context(err, "--assume") : 0;
}

/* Fills the plan's assumptions; -1: an option names no layer of it, or contradicts an earlier one. */
int session_assume_plan(struct session_subject *u, struct session_plan *made, struct error *err)
{
	const struct plan *p = made->plan;
	if (!made->assumed && !u->assumed_count && !subject_assumes(u))
		return 0;
	struct arena scratch = { 0 };
	int total, bad = 0, *numbers = session_numbers(p, &scratch, &total);
	if (!made->assumed)
		made->assumed = base_calloc((size_t)p->layer_count + 1, sizeof(*made->assumed));
	for (int i = 0; i < p->layer_count; i++)
		made->assumed[i] = op_own_time(p->layers[i].op) ? *op_own_time(p->layers[i].op) :
			(struct assumption){ 0 };
	struct assuming w = { .made = made, .items = u->given.assume, .numbers = numbers,
		.one = ARENA_ARRAY(&scratch, struct assumption, p->layer_count + 1),
		.alone = ARENA_ARRAY(&scratch, int, p->layer_count + 1) };
	for (int i = 0; i < u->given.assume_count && bad >= 0; i++)
		bad = assume_option(&w, i, err);
	for (int i = 0; i < u->assumed_count; i++)
		if (u->assumed[i].layer < p->layer_count)
			made->assumed[u->assumed[i].layer] = u->assumed[i].cost;
	made->assumed_count = 0;
	for (int i = 0; i < p->layer_count; i++)
		made->assumed_count += made->assumed[i].kind != ASSUME_NOTHING;
	arena_free(&scratch);
	return bad < 0 ? -1 : 0;
}

/* Keeps it in place of one of the first `known`. */
static void keep(struct session_subject *u, int known, int layer, const struct assumption *cost)
{
	int at = 0;
	while (at < known && u->assumed[at].layer != layer)
		at++;
	if (at == known) {
		VEC_GROW(u->assumed, u->assumed_count, u->assumed_capacity);
		at = u->assumed_count++;
	}
	u->assumed[at] = (struct session_assumed){ layer, *cost };
}

static void apply(struct session *s)
{
	struct session_subject *u = s->subject;
	for (int i = 0; i < u->plan_count; i++)
		session_assume_plan(u, u->plans[i], NULL); /* the options applied when it was made */
	s->scenario.assume = s->current && s->current->assumed_count > 0;
	s->stale = true;
}

void session_assume(struct session *s, int layer, const struct assumption *cost)
{
	keep(s->subject, s->subject->assumed_count, layer, cost);
	apply(s);
}

int session_assume_item(struct session *s, const struct assume_item *item, struct error *err)
{
	const struct plan *p = s->current->plan;
	struct arena scratch = { 0 };
	int total, known = s->subject->assumed_count, *numbers = session_numbers(p, &scratch, &total);
	struct assumption *by_layer = ARENA_ARRAY(&scratch, struct assumption, p->layer_count + 1);
	int count = assume_apply(p, numbers, item, by_layer, err);
	for (int i = 0; i < p->layer_count && count > 0; i++)
		if (by_layer[i].kind != ASSUME_NOTHING)
			keep(s->subject, known, i, &by_layer[i]);
	arena_free(&scratch);
	if (count > 0)
		apply(s);
	return count;
}
