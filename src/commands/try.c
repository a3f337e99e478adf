/* A row for each kind of change: its values, how it is set, and what the bound predicts of it. */
#include "config.h"

#include "base/word.h"
#include "commands/try.h"

#include "base/log.h"
#include "commands/agents.h"
#include "commands/interrupt.h"
#include "commands/keep.h"
#include "session/session_agent.h"
#include "session/session_try.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two sessions of the same model differ by up to this share: their memory lies elsewhere. */
#define SESSIONS_DIFFER 0.05

#define THREADS_MOST 512
#define VALUES_MAX 16 /* values that a kind proposes */

/* The moves of one execution. */
struct trying {
	struct arena *arena;
	struct session *session;
	const struct options *options;
	const char *agent, *providers;
	const struct execution *base;
	struct session_bound bound; /* of the base */
	bool predicts;              /* the bound is of the device that the base ran on */
	double fusion_ns;           /* session_fusion_saves */
	double measured_ns;
};

struct move_kind {
	const char *name;
	const char *takes; /* its values, for errors; NULL: it has none */
	/* Sets the change. Returns -1 if `value` is invalid. */
	int (*set)(struct wire_try *t, const char *value);
	/* Proposes values for an execution; returns their number. NULL without values. */
	int (*values)(const struct trying *t, const char *values[VALUES_MAX]);
	const char *none;  /* why it proposes no value */
	/* Sets the predicted gain, and why it is unknown or the options of bench that would make it known.
	 * NULL: always unknown, because `unknown`. */
	void (*predict)(const struct trying *t, struct tried *one);
	const char *unknown;
};

/* ---- values ---- */

static int whole(const char *text, long long most)
{
	char *end;
	long long n = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && n >= 1 && n <= most ? (int)n : -1;
}

static int set_level(struct wire_try *t, const char *value)
{
	static const char *const levels[] = { "all", "extended", "basic", "none" };
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (!strcmp(value, levels[i]))
			t->level = levels[i];
	return *t->level ? 0 : -1;
}

static int set_threads(struct wire_try *t, const char *value)
{
	t->threads = whole(value, THREADS_MOST);
	return t->threads < 0 ? -1 : 0;
}

static int set_provider(struct wire_try *t, const char *value)
{
	t->provider = value;
	return *value ? 0 : -1;
}

static int set_batch(struct wire_try *t, const char *value)
{
	t->batch = whole(value, 65536);
	return t->batch < 0 ? -1 : 0;
}

static int set_f16(struct wire_try *t, const char *value)
{
	(void)value;
	t->dtype = "f16";
	return 0;
}

static int set_bf16(struct wire_try *t, const char *value)
{
	(void)value;
	t->dtype = "bf16";
	return 0;
}

static int set_int8(struct wire_try *t, const char *value)
{
	(void)value;
	t->dtype = "s8";
	return 0;
}

static int set_pages(struct wire_try *t, const char *value)
{
	t->pages = "2m";
	return strcmp(value, t->pages) ? -1 : 0;
}

static int level_values(const struct trying *t, const char *values[VALUES_MAX])
{
	(void)t;
	values[0] = "extended";
	values[1] = "basic";
	return 2;
}

static int thread_values(const struct trying *t, const char *values[VALUES_MAX])
{
	int threads = t->base->threads;
	values[0] = arena_printf(t->arena, "%d", threads > 1 ? threads / 2 : 2);
	return threads > 0;
}

static int provider_values(const struct trying *t, const char *values[VALUES_MAX])
{
	int count = 0;
	for (const char *at = t->providers; *at && count < VALUES_MAX;) {
		size_t n = strcspn(at, ",");
		const char *name = arena_strndup(t->arena, at, n);
		if (strcmp(name, t->base->provider) != 0)
			values[count++] = name;
		at += n + strspn(at + n, ", ");
	}
	return count;
}

static int batch_values(const struct trying *t, const char *values[VALUES_MAX])
{
	values[0] = t->base->batch == 8 ? "1" : "8";
	return 1;
}

static int pages_values(const struct trying *t, const char *values[VALUES_MAX])
{
	(void)t;
	values[0] = "2m";
	return 1;
}

/* ---- predictions ---- */

static void predict_ratio(const struct trying *t, struct tried *one, struct session_bound to, double items)
{
	if (!(t->bound.ns > 0))
		one->unknown = "the bound has gaps: benanza bench MODEL";
	one->predicted = t->bound.ns > 0 && to.ns > 0 ? t->bound.ns * items / to.ns : NAN;
	one->estimated = t->bound.estimated || to.estimated;
}

static void predict_batch(const struct trying *t, struct tried *one)
{
	int64_t batch = session_plan(t->session)->batch;
	double items = batch > 0 ? (double)one->change.batch / (double)batch : NAN;
	struct session_bound to = session_bound_at(t->session, one->change.batch, session_dtype(t->session));
	predict_ratio(t, one, to, items);
	/* A lower bound of the larger batch limits the gain. That of one item may be above what the execution
	 * takes, which finds in its caches weights that the bound reads from memory. */
	one->most = isnan(one->predicted) ? NAN : fmin(one->predicted, t->measured_ns * items / to.ns);
	one->bench = arena_printf(t->arena, "-b %lld", (long long)one->change.batch);
}

static void predict_type(const struct trying *t, struct tried *one)
{
	enum dtype dtype = dtype_parse(text_of(one->change.dtype));
	predict_ratio(t, one, session_bound_at(t->session, session_batch(t->session), dtype), 1);
	one->bench = arena_printf(t->arena, "-t %s", one->change.dtype);
}

static void predict_threads(const struct trying *t, struct tried *one)
{
	predict_ratio(t, one, session_bound_threads(t->session, one->change.threads), 1);
	one->bench = arena_printf(t->arena, "--threads %d", one->change.threads);
}

static void predict_pages(const struct trying *t, struct tried *one)
{
	const struct what_if_effect *e = session_effect(t->session, what_if_named(TEXT("pages")));
	double on = e && e->on ? t->bound.ns : t->bound.ns - (e ? e->saves_ns : NAN);
	if (e && e->available && t->bound.ns > 0 && on > 0)
		one->predicted = (on + e->saves_ns) / on;
	else
		one->unknown = "the bound in pages of 2 MiB is not measured: benanza bench -w pages=2m MODEL";
	one->bench = "-w pages=2m";
}

/* The levels basic and none do not fuse layers: the execution loses what its fusions save. But ONNX Runtime
 * computes convolutions in blocks of channels at the level all only, and the bound has each convolution in
 * its fastest layout. */
static void predict_level(const struct trying *t, struct tried *one)
{
	double changed = t->measured_ns + t->fusion_ns;
	if (session_convolves(t->session))
		one->unknown = "the level also changes the layout of convolutions, "
			       "which no what-if describes";
	else if (!strcmp(one->change.level, "all") || !strcmp(one->change.level, "extended"))
		one->unknown = "the bound predicts only basic and none, which lose the fusions";
	else if (!(changed > 0))
		one->unknown = "the saving of its fusions needs the rows of a profile and a bound without "
			"gaps";
	else
		one->predicted = t->measured_ns / changed;
	one->estimated = true;
}

/* In the order in which they are tried. */
static const struct move_kind kinds[] = {
	{ "level", "all, extended, basic or none", set_level, level_values, "", predict_level, "" },
	{ "threads", "a number from 1 to 512", set_threads, thread_values,
		"the number of threads is unknown", predict_threads, "" },
	{ "provider", "the name of a provider or device", set_provider, provider_values,
		"the framework has no other provider here", NULL, "the bound does not depend "
		"on the provider" },
	{ "batch", "a number from 1 to 65536", set_batch, batch_values, "", predict_batch, "" },
	{ "pages", "2m", set_pages, pages_values, "", predict_pages, "" },
	{ "f16", NULL, set_f16, NULL, "", predict_type, "" },
	{ "bf16", NULL, set_bf16, NULL, "", predict_type, "" },
	{ "int8", NULL, set_int8, NULL, "", NULL,
		"the layers that the converter quantizes are unknown" },
};
#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* ---- the list ---- */

static int unknown_move(struct arena *a, const char *name, struct error *err)
{
	struct str names = { 0 };
	struct word_nearest nearest = { .word = name };
	for (int i = 0; i < KINDS; i++) {
		word_try(&nearest, kinds[i].name);
		str_addf(&names, "%s%s", i ? ", " : "", kinds[i].name);
	}
	error_set(err, "--try: unknown move '%s'%s%s%s; use %s",
		text_cut(a, text_clean(a, text_of(name)), 40, false), nearest.best ? "; did you mean " : "",
		nearest.best ? nearest.best : "", nearest.best ? "?" : "", names.p);
	str_free(&names);
	return -1;
}

static int move_parse(struct arena *a, const char *word, struct move *m, struct error *err)
{
	size_t n = strcspn(word, "=");
	const char *name = arena_strndup(a, word, n), *value = word[n] ? word + n + 1 : NULL;
	struct wire_try t = { .level = "" };
	m->kind = NULL;
	for (int i = 0; i < KINDS && !m->kind; i++)
		m->kind = !strcmp(kinds[i].name, name) ? &kinds[i] : NULL;
	m->value = value;
	if (!m->kind)
		return unknown_move(a, name, err);
	if (value && !m->kind->takes)
		return error_set(err, "--try: the move %s takes no value", name);
	return value && m->kind->set(&t, value)
		? error_set(err, "--try: %s=%s: not %s", name,
			  text_cut(a, text_clean(a, text_of(value)), 40, false), m->kind->takes)
		: 0;
}

/* True if the last move is one of the `count` before it. */
static bool is_repeated(const struct move *moves, int count)
{
	const char *value = moves[count].value ? moves[count].value : "";
	for (int i = 0; i < count; i++)
		if (moves[i].kind == moves[count].kind &&
			!strcmp(moves[i].value ? moves[i].value : "", value))
			return true;
	return false;
}

int moves_parse(struct arena *a, const char *list, struct move moves[MOVES_MAX], struct error *err)
{
	int count = 0;
	for (int i = 0; i < KINDS && !*list; i++)
		moves[count++] = (struct move){ &kinds[i], NULL };
	for (const char *at = list; *at;) {
		size_t n = strcspn(at, ",");
		if (!n || (at[n] && !at[n + 1]))
			return error_set(err, "--try: '%.60s' has an empty item: remove the comma", list);
		if (count == MOVES_MAX)
			return error_set(err, "--try: more than %d moves", MOVES_MAX);
		if (move_parse(a, arena_strndup(a, at, n), &moves[count], err))
			return -1;
		count += !is_repeated(moves, count);
		at += n + (at[n] == ',');
	}
	return count;
}

/* ---- trying ---- */

static void put_why(const struct trying *t, struct tried *one, enum tried_state state, const char *why)
{
	one->state = state;
	one->why = text_clean(t->arena, text_of(why));
}

/* Fills the outcome of a trial from what the agent sent. */
static void take(const struct trying *t, const struct session_agent *a, struct tried *one)
{
	const struct execution *e = session_agent_execution(a);
	const struct wire_trial *trial = session_agent_trial(a);
	one->execution = execution_copy(t->arena, e);
	if (trial) {
		one->state = TRIED_MEASURED;
		one->trial = *trial;
		one->noisy = e->stats.stop == STOP_DISTURBED || trial->base.stop == STOP_DISTURBED;
		one->significant = !one->noisy && (trial->lo > 1 + SESSIONS_DIFFER ||
			trial->hi < 1 - SESSIONS_DIFFER);
	} else if (e->status == STATUS_UNSUPPORTED) {
		put_why(t, one, TRIED_UNAVAILABLE, e->why);
	} else if (e->status == STATUS_MISTRUSTED) {
		put_why(t, one, TRIED_REFUSED, e->why);
	} else if (e->status == STATUS_OK && e->output_compared) {
		put_why(t, one, TRIED_REFUSED, "its outputs are NaN or infinite");
	} else if (e->status == STATUS_OK) {
		put_why(t, one, TRIED_UNAVAILABLE, "the agent does not compare outputs of both sides");
	} else if (e->status == STATUS_FAILED) {
		put_why(t, one, TRIED_FAILED, e->why);
	} else {
		put_why(t, one, TRIED_FAILED, arena_printf(t->arena, "%s: %s", status_name(e->status),
			e->why));
	}
}

/* Runs one trial. A failure is its outcome. */
static void try_one(const struct trying *t, struct tried *one)
{
	struct error why = ERROR_NONE;
	bool bad;
	struct session_agent *a =
		session_agent_try(t->session, t->agent, &one->change, &bad, &why);
	enum agent_state state = a ? agents_drain(a, t->options, &why) : AGENT_FAILED;
	if (state == AGENT_ENDED)
		take(t, a, one);
	else
		put_why(t, one, !a && bad ? TRIED_UNAVAILABLE : TRIED_FAILED,
			interrupted ? "interrupted" : why.text);
	session_agent_free(a);
	if (session_store(t->session))
		keep_on(session_store(t->session), t->options->quiet);
}

static struct tried tried_new(const struct trying *t, const struct move_kind *k, const char *value)
{
	struct tried one = {
		.predicted = NAN, .most = NAN, .unknown = k->unknown, .why = "", .bench = "",
		.execution = execution_new()
	};
	one.change = (struct wire_try){ .provider = "", .dtype = "", .level = "" };
	one.change.move = value ? text_clean(t->arena, text_of(arena_printf(t->arena, "%s=%s", k->name,
		value))) : k->name;
	if (value || !k->takes)
		k->set(&one.change, value);
	return one;
}

/* Returns why a change cannot be tried beside this base, or NULL. */
static const char *no_change(const struct trying *t, const struct wire_try *change)
{
	const struct execution *base = t->base;
	json_t *settings = *base->settings ? json_loads(base->settings, 0, NULL) : NULL;
	const char *level = arena_printf(t->arena, "%s", json_string_at(settings, "level", ""));
	const struct {
		const char *what, *from, *to;
	} texts[] = { { "type", plan_type_name(session_plan(t->session)), change->dtype },
		{ "level", level, change->level }, { "provider", base->provider, change->provider } };
	json_decref(settings);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (*texts[i].to && !strcmp(texts[i].from, texts[i].to))
			return arena_printf(t->arena, "the unchanged side has the %s %s already",
				texts[i].what, text_clean(t->arena, text_of(texts[i].to)));
	if (change->threads && change->threads == base->threads)
		return "the unchanged side has as many threads";
	return change->batch && change->batch == base->batch ? "the unchanged side has the same batch" : NULL;
}

/* Tries a move with its value, or with those that it proposes; those after an unavailable one are left out.
 * Returns the number tried. */
static int try_move(const struct trying *t, const struct move *m, struct tried *out)
{
	const char *values[VALUES_MAX] = { m->value };
	bool proposes = m->kind->values && !m->value;
	int count = proposes ? m->kind->values(t, values) : 1, done = 0;
	if (!count) {
		out[0] = tried_new(t, m->kind, NULL);
		out[0].change.move = m->kind->name;
		put_why(t, &out[0], TRIED_UNAVAILABLE, m->kind->none);
		return 1;
	}
	for (int i = 0; i < count && !interrupted; i++) {
		struct tried *one = &out[done++];
		*one = tried_new(t, m->kind, values[i]);
		const char *why = no_change(t, &one->change);
		if (why) {
			put_why(t, one, TRIED_UNAVAILABLE, why);
			continue;
		}
		if (!t->predicts)
			one->unknown = "the bound is of another device than the execution";
		else if (t->base->requests > 1)
			one->unknown = "the bound is of one request at a time";
		else if (m->kind->predict)
			m->kind->predict(t, one);
		try_one(t, one);
		if (one->state == TRIED_UNAVAILABLE && proposes && m->kind->values != provider_values) {
			one->change.move = i ? one->change.move : m->kind->name;
			break;
		}
	}
	return done;
}

int try_all(struct arena *a, struct session *s, const struct options *o, const struct move *moves, int count,
	const char *agent, const char *providers, const struct comparison *base, struct tried **tried)
{
	struct trying t = { .arena = a,
		.session = s,
		.options = o,
		.agent = agent,
		.providers = providers,
		.base = base->execution,
		.measured_ns = base->reality->measured_ns,
		.predicts = session_device(s)->model &&
			comparable_device(base->execution->device, session_device(s)->model) };
	struct error err = ERROR_NONE;
	int done = 0;
	t.fusion_ns = session_fusion_saves(s, base->reality);
	t.bound = session_bound_at(s, session_batch(s), session_dtype(s));
	*tried = ARENA_ARRAY(a, struct tried, count * VALUES_MAX + 1);
	for (int i = 0; i < count && !interrupted; i++)
		done += try_move(&t, &moves[i], *tried + done);
	if (keep_end(session_store(s), KEEP_WAIT_MS, o->quiet, &err))
		fprintf(stderr, "benanza: %s\n", err.text);
	return done;
}

int try_status(const struct tried *tried, int count, bool all)
{
	bool gaps = interrupted;
	for (int i = 0; i < count; i++)
		gaps |= tried[i].state == TRIED_FAILED || (tried[i].state == TRIED_UNAVAILABLE && !all);
	return gaps ? EXIT_GAPS : EXIT_DONE;
}
