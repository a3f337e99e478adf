/* Executions of the model in the database: those that may stand beside the bound, and earlier ones. */
#include "config.h"

#include "base/log.h"
#include "session/session_agent.h"
#include "session/session_private.h"
#include "session/session_reality.h"
#include "store/executions.h"

#include <stdlib.h>
#include <string.h>

const char *session_why_not_comparable(
	const struct session *s, struct arena *a, const struct execution *e)
{
	if (!s->current)
		return "the model's dimensions are not set";
	const struct ground g = { .plan = s->current->plan, .device = &s->seat->device };
	return comparable_find(a, &g, &s->scenario, e, NULL, USE_STORED).why;
}

bool session_is_comparable(const struct session *s, const struct execution *e)
{
	struct arena scratch = { 0 };
	bool is = !session_why_not_comparable(s, &scratch, e);
	arena_free(&scratch);
	return is;
}

static int any_visit(void *context, const struct execution *e, struct error *err)
{
	(void)err;
	*(bool *)context = true;
	(void)e;
	return 1;
}

static bool has_executions(struct session *s)
{
	bool any = false;
	struct error ignored = ERROR_NONE;
	const struct executions_wanted wanted = { .most = 1, .without_rows = true };
	const struct executions_walker w = { .context = &any, .visit = any_visit };
	return s->store && store_executions_walk(s->store, &wanted, &w, &ignored) >= 0 && any;
}

struct picking {
	const struct session *session;
	bool comparable; /* only those that may stand beside the current bound */
	struct arena *arena;
	struct execution *list;
	const char **setups; /* of each in the list, and of the one that is visited */
	int count, capacity, setup_capacity;
};

static bool pick_wants(void *context, const struct execution *e)
{
	struct picking *p = context;
	if (e->status != STATUS_OK || *execution_move(p->arena, e) ||
		(p->comparable && !session_is_comparable(p->session, e)))
		return false;
	const char *setup = execution_setup(p->arena, e);
	for (int i = 0; i < p->count; i++)
		if (strcmp(setup, p->setups[i]) == 0)
			return false;
	VEC_GROW(p->setups, p->count, p->setup_capacity);
	p->setups[p->count] = setup;
	return true;
}

static int pick_visit(void *context, const struct execution *e, struct error *err)
{
	struct picking *p = context;
	(void)err;
	VEC_GROW(p->list, p->count, p->capacity);
	p->list[p->count++] = execution_copy(p->arena, e);
	return 0;
}

int session_pick(struct session *s, struct arena *a, const char *hash, bool comparable,
	struct execution **list, int *count, struct error *err)
{
	struct picking p = { .session = s, .comparable = comparable, .arena = a };
	const struct executions_wanted wanted = { .model_hash = hash };
	const struct executions_walker w = { .context = &p, .wants = pick_wants, .visit = pick_visit };
	int bad = s->store ? store_executions_walk(s->store, &wanted, &w, err) : 0;
	*count = bad ? 0 : p.count;
	*list = ARENA_ARRAY(a, struct execution, p.count + 1);
	for (int i = 0; i < *count; i++)
		(*list)[i] = p.list[i];
	free(p.list);
	free(p.setups);
	return bad;
}

int session_executions(
	struct session *s, struct arena *a, struct execution **list, int *count, struct error *err)
{
	char digest[DIGEST_SIZE];
	int64_t bytes;
	*count = 0;
	if (!strcmp(s->subject->model->path, "-") || !has_executions(s))
		return 0;
	return session_digest(s, s->subject->model->path, digest, &bytes, err)
		? -1
		: session_pick(s, a, digest, false, list, count, err);
}

struct before {
	const struct execution *of;
	const char *setup; /* its own */
	struct arena *arena;
	bool passed; /* `of` itself */
	struct execution *found;
};

static bool before_wants(void *context, const struct execution *e)
{
	struct before *b = context;
	if (e->status != STATUS_OK || e->measured_at > b->of->measured_at ||
		strcmp(execution_setup(b->arena, e), b->setup) != 0)
		return false;
	bool itself =
		!b->passed && e->measured_at == b->of->measured_at && e->stats.median == b->of->stats.median;
	b->passed |= itself;
	return !itself;
}

static int before_visit(void *context, const struct execution *e, struct error *err)
{
	struct before *b = context;
	(void)err;
	b->found = ARENA_NEW(b->arena, struct execution);
	*b->found = execution_copy(b->arena, e);
	return 1;
}

const struct execution *session_execution_before(
	struct session *s, struct arena *a, const struct execution *e)
{
	struct error err = ERROR_NONE;
	struct before b = { .of = e, .setup = execution_setup(a, e), .arena = a };
	const struct executions_wanted wanted = { .model_hash = e->model_hash, .device = e->device,
		.framework = e->framework };
	const struct executions_walker walker = {
		.context = &b, .wants = before_wants, .visit = before_visit
	};
	if (s->store && *e->model_hash && store_executions_walk(s->store, &wanted, &walker, &err) < 0)
		log_line("%s", err.text);
	return b.found;
}

void session_turn(struct session *s, struct arena *a, struct reality *y)
{
	struct ground ground = session_ground(s);
	const struct execution *e =
		y->not_comparable ? NULL : session_execution_before(s, a, y->execution);
	const struct match *m = e ? match_execution(a, e, ground.plan) : NULL;
	if (e)
		reality_turn(y, reality_of(a, &ground, &s->scenario, s->analysis, e, m));
}
