/* Which executions of the database are of this model and comparable. In large models the comparison is
 * done in steps, between keys. */
#include "config.h"

#include "session/session_reality.h"

#include "base/log.h"
#include "session/session_agent.h"
#include "session/session_private.h"
#include "store/executions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model's hash ---- */

void session_hash_drop(struct session *s)
{
	s->subject->hash = (struct session_hash){ 0 };
	arena_free(&s->subject->taken_arena);
	s->subject->taken = NULL;
}

const char *session_model_hash(const struct session *s)
{
	return s->subject->hash.state == SESSION_HASH_KNOWN ? s->subject->hash.text : NULL;
}

static bool hash_is_open(const struct session *s)
{
	return s->subject->hash.state == SESSION_HASH_UNREAD;
}

static void hash_step(struct session *s)
{
	struct error err = ERROR_NONE;
	int64_t bytes;
	int more = session_digest_step(s, s->subject->model->path, &err);
	if (!more)
		more = session_digest(s, s->subject->model->path, s->subject->hash.text, &bytes, &err);
	if (more < 0)
		log_line("no executions of the model: %s", err.text);
	if (more <= 0)
		s->subject->hash.state = more ? SESSION_HASH_NONE : SESSION_HASH_KNOWN;
}

/* ---- looking up ---- */

static bool any_wants(void *context, const struct execution *e)
{
	return session_is_comparable(context, e);
}

static int any_visit(void *context, const struct execution *e, struct error *err)
{
	(void)context;
	(void)e;
	(void)err;
	return 1;
}

/* True if the database has a comparable execution of a model with any hash. */
static bool any_comparable(struct session *s)
{
	struct error err = ERROR_NONE;
	const struct executions_wanted wanted = { .without_rows = true };
	const struct executions_walker w = { .context = s, .wants = any_wants, .visit = any_visit };
	int any = s->store ? store_executions_walk(s->store, &wanted, &w, &err) : 0;
	if (any < 0)
		log_line("%s", err.text);
	return any > 0;
}

/* ---- the comparable executions, per plan ---- */

/* An execution beside the bound. */
struct beside {
	const struct execution *execution;
	const struct match *match;
	const struct reality *measured;    /* NULL: not needed yet */
	bool before_known;                 /* the one before it was looked up */
	const struct reality *before;      /* NULL: none */
};

struct session_real {
	struct arena *arena;              /* the plan's, in which it is itself */
	uint64_t device_changes, changes; /* the session's number of renewals when it was looked up */
	bool waits;                       /* for the model's hash */
	struct error trouble;             /* why the database cannot be read, or empty */
	int count;
	struct beside *all;               /* the newest of each setup, newest first */
	int chosen;                       /* the one that session_reality returns */
};

/* Puts the execution of session_reality_take into the list, unless it has a newer one of its setup. The list
 * has room for it. */
static void take_in(struct arena *a, const struct execution *taken, struct execution *list, int *count)
{
	const char *setup = execution_setup(a, taken);
	int at = 0;
	while (at < *count && strcmp(execution_setup(a, &list[at]), setup) != 0)
		at++;
	if (at < *count && list[at].measured_at > taken->measured_at)
		return;
	*count += at == *count;
	for (; at > 0 && list[at - 1].measured_at <= taken->measured_at; at--)
		list[at] = list[at - 1];
	list[at] = *taken; /* lives until execution_changes */
}

/* Finds the comparable executions of the model; without its hash, whether there may be some. */
static void real_find(struct session *s, struct session_real *r)
{
	struct execution *list = NULL;
	if (s->subject->hash.state == SESSION_HASH_NONE)
		return;
	if (!session_model_hash(s)) {
		r->waits = any_comparable(s);
		return;
	}
	if (session_pick(s, r->arena, session_model_hash(s), true, &list, &r->count, &r->trouble))
		log_line("%s", r->trouble.text);
	if (s->subject->taken && session_is_comparable(s, s->subject->taken))
		take_in(r->arena, s->subject->taken, list, &r->count);
	r->all = ARENA_ARRAY(r->arena, struct beside, r->count + 1);
	for (int i = 0; i < r->count; i++) {
		r->all[i].execution = &list[i];
		r->all[i].match = match_execution(r->arena, &list[i], s->current->plan);
	}
}

static struct session_real *real_of(struct session *s)
{
	struct session_real *r = s->current->real;
	bool waited = r && r->waits && !hash_is_open(s);
	if (r && !waited && r->device_changes == s->device_changes && r->changes == s->execution_changes)
		return r;
	session_reality_drop(s);
	arena_free(&s->current->real_arena);
	r = s->current->real = ARENA_NEW(&s->current->real_arena, struct session_real);
	r->arena = &s->current->real_arena;
	r->device_changes = s->device_changes;
	r->changes = s->execution_changes;
	real_find(s, r);
	return r;
}

/* ---- the executions beside the current bound, in steps */

struct session_besides_bound {
	const struct reality **list; /* per execution; NULL: not known yet */
	int count;
	struct reality_work *work;   /* of execution `at`, or of the one before it if `judged` is set */
	int at;
	struct reality *judged;      /* its contradictions are judged with the one before (reality_turn) */
};

static void works_free(struct session_besides_bound *b)
{
	if (b)
		reality_end(b->work);
	free(b);
}

static void work_begin(struct session *s, const struct reality *measured)
{
	struct ground g = session_ground_shared(s);
	reality_end(s->besides_bound->work);
	s->besides_bound->work = reality_begin(&s->analysis_arena, &g, &s->scenario, s->analysis, measured);
}

/* Begins with an execution, instead of another one. */
static void work_turn_to(struct session *s, int number)
{
	struct session_besides_bound *b = s->besides_bound;
	struct session_real *r = s->current->real;
	struct beside *one = &r->all[number];
	if (b->work && b->at == number)
		return;
	b->at = number;
	b->judged = NULL;
	if (!one->measured)
		one->measured = reality_measured(r->arena, one->execution, one->match);
	work_begin(s, one->measured);
}

/* Begins with the execution before, which is looked up at the first contradiction. Returns false without
 * one. */
static bool work_judge(struct session *s, struct reality *y)
{
	struct session_real *r = s->current->real;
	struct beside *one = &r->all[s->besides_bound->at];
	if (!y->contradicted && !y->contradicted_count)
		return false;
	if (!one->before_known) {
		const struct execution *e = session_execution_before(s, r->arena, one->execution);
		one->before_known = true;
		one->before = e ? reality_measured(r->arena, e,
					  match_execution(r->arena, e, s->current->plan)) : NULL;
	}
	if (!one->before)
		return false;
	s->besides_bound->judged = y;
	y->pending = true;
	work_begin(s, one->before);
	return true;
}

/* Goes on with an execution: once, it takes no longer than an analysis. */
static void work_step(struct session *s, int number)
{
	struct session_besides_bound *b = s->besides_bound;
	work_turn_to(s, number);
	if (reality_step(b->work))
		return;
	struct reality *y = reality_of_work(b->work);
	if (b->judged) {
		b->judged->pending = false;
		reality_turn(b->judged, y);
		y = b->judged;
	} else if (work_judge(s, y))
		return;
	b->list[number] = y;
	reality_end(b->work);
	b->work = NULL;
}

/* The realities of the current bound; NULL: there is no execution, or no analysis. */
static struct session_besides_bound *works_of(struct session *s)
{
	const struct session_real *r = s->current && s->analysis ? real_of(s) : NULL;
	if (!r || !r->count)
		return NULL;
	if (!s->besides_bound) {
		struct session_besides_bound *b = s->besides_bound = base_calloc(1, sizeof(*b));
		b->count = r->count;
		b->list = ARENA_ARRAY(&s->analysis_arena, const struct reality *, r->count);
	}
	return s->besides_bound;
}

/* The next execution to go on with, the chosen one first; -1: all are known. */
static int work_next(const struct session *s)
{
	const struct session_besides_bound *b = s->besides_bound;
	int next = s->current->real->chosen;
	for (int i = 0; b->list[next] && i < b->count; i++)
		next = i;
	return b->list[next] ? -1 : next;
}

/* In a large model they are pending until session_effects_step, if effects are. */
static bool is_later(const struct session *s)
{
	return s->effects_ms && s->current->plan->layer_count > SESSION_LATER_LAYERS;
}

bool session_reality_pending(struct session *s)
{
	return works_of(s) && is_later(s) && work_next(s) >= 0;
}

bool session_reality_go_on(struct session *s)
{
	if (session_reality_pending(s))
		work_step(s, work_next(s));
	return session_reality_pending(s);
}

bool session_reality_waits(struct session *s)
{
	return s->current && hash_is_open(s) && real_of(s)->waits;
}

bool session_reality_step(struct session *s)
{
	if (!session_reality_waits(s))
		return false;
	hash_step(s);
	if (hash_is_open(s))
		return true;
	session_reality_drop(s);
	return false;
}

int session_reality_wait(struct session *s, struct error *err)
{
	while (session_reality_step(s))
		;
	const struct session_real *r = s->current ? real_of(s) : NULL;
	return r && r->trouble.text[0] ? error_set(err, "%s", r->trouble.text) : 0;
}

void session_reality_take(struct session *s, const struct execution *e)
{
	session_hash_drop(s);
	s->subject->taken = ARENA_NEW(&s->subject->taken_arena, struct execution);
	*s->subject->taken = execution_copy(&s->subject->taken_arena, e);
	snprintf(s->subject->hash.text, sizeof(s->subject->hash.text), "%s", e->model_hash);
	s->subject->hash.state = SESSION_HASH_KNOWN;
	session_reality_renew(s);
}

void session_reality_renew(struct session *s)
{
	s->execution_changes++;
	session_reality_drop(s);
}

void session_reality_drop(struct session *s)
{
	works_free(s->besides_bound);
	s->besides_bound = NULL;
	s->trust_known = false;
	s->contradicted = (struct contradicted){ 0 };
	s->contradicting = NULL;
}

const struct reality *session_reality(struct session *s)
{
	struct session_besides_bound *b = works_of(s);
	int chosen = b ? s->current->real->chosen : 0;
	while (b && !b->list[chosen] && !is_later(s))
		work_step(s, chosen);
	if (!b || b->list[chosen])
		return b ? b->list[chosen] : NULL;
	work_turn_to(s, chosen);
	return b->judged ? b->judged : reality_of_work(b->work);
}

int session_reality_count(struct session *s)
{
	return s->current && s->analysis ? real_of(s)->count : 0;
}

int session_reality_chosen(struct session *s)
{
	return session_reality_count(s) ? s->current->real->chosen : 0;
}

void session_reality_choose(struct session *s, int number)
{
	if (number >= 0 && number < session_reality_count(s))
		s->current->real->chosen = number;
}

struct contradicted session_contradicted(struct session *s)
{
	const struct session_besides_bound *b = works_of(s);
	const struct session_real *r = s->current && s->analysis ? s->current->real : NULL;
	if (!r || s->contradicting)
		return s->contradicted;
	while (b && !is_later(s) && work_next(s) >= 0)
		work_step(s, work_next(s));
	bool pending = session_reality_pending(s);
	if (b && !pending) {
		int layers = s->current->plan->layer_count;
		s->contradicting = ARENA_ARRAY(&s->analysis_arena, const struct reality *, layers + 1);
		s->contradicted = contradicted_of(b->list, b->count, layers, s->contradicting);
	}
	s->contradicted.known =
		!pending && !r->waits && !r->trouble.text[0] && s->subject->hash.state != SESSION_HASH_NONE;
	return s->contradicted;
}

const struct reality *session_reality_fastest(struct session *s)
{
	session_contradicted(s);
	const struct session_besides_bound *b = s->contradicting ? works_of(s) : NULL;
	const struct reality *fastest = NULL;
	for (int i = 0; b && i < b->count; i++) {
		const struct reality *y = b->list[i];
		if (y->measured_ns > 0 && !y->not_comparable &&
			(!fastest || y->measured_ns < fastest->measured_ns))
			fastest = y;
	}
	return fastest;
}

struct trust session_trust(struct session *s)
{
	struct contradicted c = session_contradicted(s);
	bool measurable = s->seat->queue != NULL;
	if (!s->trust_known || s->trust.against.known != c.known || s->trust.measurable != measurable)
		s->trust = trust_of(s->current->plan, s->analysis, &c, measurable);
	s->trust_known = true;
	return s->trust;
}

const struct reality *session_contradicting(struct session *s, int layer)
{
	session_contradicted(s);
	return s->contradicting && layer >= 0 && layer < s->current->plan->layer_count
		? s->contradicting[layer] : NULL;
}

const struct reality_group *session_reality_group(const struct reality *y, int layer)
{
	int row = y && layer >= 0 && layer < y->match->layer_count ? y->match->row_of_layer[layer] : -1;
	return row >= 0 && y->group_of_row[row] >= 0 ? &y->groups[y->group_of_row[row]] : NULL;
}

int session_reality_contradicted(const struct reality *y)
{
	int layers = 0;
	for (int i = 0; i < y->group_count; i++)
		layers += reality_contradicts(y, &y->groups[i]) ? y->groups[i].layer_count : 0;
	return layers;
}
