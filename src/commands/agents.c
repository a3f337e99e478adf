/* Starts agents one after the other, waits for their executions, and prints what they say. */
#include "config.h"

#include "commands/agents.h"
#include "commands/interrupt.h"
#include "commands/keep.h"
#include "commands/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "session/session_agent.h"

#define STEP_MS 500

/* One call of agents_run. */
struct running {
	struct session *s;
	const struct options *o;
	struct arena *arena;
	struct agents_made *made; /* NULL: not wanted */
	struct agents_tally *tally;
	bool all;      /* no list: agents without their framework are skipped */
	int usable;    /* agents that gave an execution, of any status */
};

static void progress_draw(const struct session_agent *a)
{
	struct agent_progress p = session_agent_progress(a);
	char sent[STR_QUANTITY], whole[STR_QUANTITY], line[80];
	if (p.sent_bytes > 0 && p.sent_bytes < p.file_bytes)
		snprintf(line, sizeof(line), "sending the model, %s of %s",
			str_bytes(sent, (double)p.sent_bytes), str_bytes(whole, (double)p.file_bytes));
	else
		text_fit(line, sizeof(line), *p.waits ? p.waits : *p.what ? p.what : "starting");
	fprintf(stderr, "\r\x1b[K%s: %s, %.0f s", session_agent_name(a), line, p.elapsed_s);
	fflush(stderr);
}

enum agent_state agents_drain(struct session_agent *a, const struct options *o, struct error *err)
{
	bool bar = isatty(STDERR_FILENO) && !o->quiet;
	enum agent_state state;
	while ((state = session_agent_step(a, STEP_MS, err)) == AGENT_WORKS) {
		if (interrupted)
			session_agent_cancel(a);
		if (bar)
			progress_draw(a);
	}
	if (bar)
		fputs("\r\x1b[K", stderr);
	return state;
}

static void report(
	struct running *r, const char *name, const struct execution *e, bool known, const char *why)
{
	const struct plan *p = session_plan(r->s);
	bool good = e && e->status == STATUS_OK;
	const char *status = e ? status_name(e->status) : status_name(STATUS_FAILED);
	r->tally->measured += good && !known;
	r->tally->known += good && known;
	r->tally->failed += !good;
	json_array_append_new(r->tally->report,
		json_pack("{s:o, s:o, s:o, s:s, s:s, s:b, s:o, s:o}", "agent", json_text(text_of(name)),
			"model", json_text(text_of(session_model(r->s)->path)), "batch",
			p->batch ? json_integer(p->batch) : json_null(), "dtype", plan_type_name(p),
			"status", status, "already", known, "measured_ns",
			json_number_or_null(good ? e->stats.median : NAN), "why", json_text(text_of(why))));
}

/* A line on standard error, cleaned. */
static void say(const struct error *line)
{
	fprintf(stderr, "benanza: %s\n", line->text);
}

void agents_made_add(struct arena *a, struct agents_made *m, struct execution e, const char *agent,
	const char *providers)
{
	if (m->count == m->capacity) {
		struct agents_made more = { .count = m->count, .capacity = 2 * m->capacity + 8 };
		more.list = ARENA_ARRAY(a, struct execution, more.capacity);
		more.agents = ARENA_ARRAY(a, const char *, more.capacity);
		more.providers = ARENA_ARRAY(a, const char *, more.capacity);
		for (int i = 0; i < m->count; i++) {
			more.list[i] = m->list[i];
			more.agents[i] = m->agents[i];
			more.providers[i] = m->providers[i];
		}
		*m = more;
	}
	m->list[m->count] = e;
	m->providers[m->count] = providers;
	m->agents[m->count++] = agent;
}

static void take(struct running *r, struct session_agent *a)
{
	const struct execution *e = session_agent_execution(a);
	struct error line = ERROR_NONE;
	r->usable++;
	report(r, session_agent_name(a), e, session_agent_is_known(a), e->why);
	if (e->status != STATUS_OK) {
		error_set(&line, "%s: the agent %s: %s: %s", session_model_name(r->s), session_agent_name(a),
			e->status == STATUS_MISTRUSTED ? "suspect" : status_name(e->status), e->why);
		say(&line);
		return;
	}
	if (r->made)
		agents_made_add(r->arena, r->made, execution_copy(r->arena, e),
			arena_printf(r->arena, "%s", session_agent_name(a)),
			agent_describe(r->arena, session_agent_device(a)).providers);
}

/* Runs one agent. Returns EXIT_DONE even after a failure: `last` then has its message, and the message of the
 * failure before it was printed. */
static int run_one(struct running *r, const char *name, bool again, struct error *last, struct error *err)
{
	struct error why = ERROR_NONE;
	bool bad;
	struct session_agent *a = session_agent_start(r->s, name, again, &bad, &why);
	if (!a && bad) {
		error_set(err, "%s", why.text);
		return EXIT_BAD;
	}
	enum agent_state state = a ? agents_drain(a, r->o, &why) : AGENT_FAILED;
	if (state == AGENT_ENDED) {
		take(r, a);
	} else if (!interrupted) {
		if (a && r->all && session_agent_is_missing(a)) {
			log_line("%s", why.text);
			if (r->o->verbose && !r->o->quiet)
				say(&why);
			session_agent_free(a);
			return EXIT_DONE;
		}
		if (last->text[0] && !r->o->quiet)
			say(last);
		error_set(last, "%s", why.text);
		report(r, name, NULL, false, why.text);
	}
	session_agent_free(a);
	if (session_store(r->s))
		keep_on(session_store(r->s), r->o->quiet);
	return EXIT_DONE;
}

static int run_all(struct running *r, const char *list, bool again, struct error *last, struct error *err)
{
	const struct config *c = session_config(r->s);
	int status = EXIT_DONE;
	for (int i = 0; r->all && i < c->agent_count && status == EXIT_DONE && !interrupted; i++)
		status = run_one(r, c->agents[i].name, again, last, err);
	if (r->all && !c->agent_count) {
		error_set(err, "no agent is configured; add one under agents: in the configuration");
		return EXIT_NO_DEVICE;
	}
	for (const char *at = list; *at && status == EXIT_DONE && !interrupted;) {
		size_t n = strcspn(at, ",");
		status = run_one(r, arena_strndup(r->arena, at, n), again, last, err);
		at += n + (at[n] == ',');
	}
	return status;
}

int agents_list_check(const struct config *c, const char *list, struct error *err)
{
	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ",");
		if (!n)
			return error_set(err, "'%.60s': an agent has no name; give e.g. ort,openvino", list);
		if (!session_agent_find(c, (struct text){ at, n }, err))
			return -1;
		at += n;
		if (!*at)
			return 0;
	}
}

int agents_run(struct session *s, const struct options *o, const char *list, bool again, struct arena *a,
	struct agents_made *made, struct agents_tally *t, struct error *err)
{
	struct running r = { .s = s, .o = o, .arena = a, .made = made, .tally = t, .all = !*list };
	struct error last = ERROR_NONE;
	int failed = t->failed, status = run_all(&r, list, again, &last, err);
	if (status != EXIT_DONE)
		return status;
	if (interrupted)
		return EXIT_GAPS;
	if (!r.usable) {
		error_set(err, "%s",
			last.text[0] ? last.text
				     : "no agent has its framework installed; benanza "
				       "devices lists the agents");
		return EXIT_NO_DEVICE;
	}
	if (last.text[0] && !o->quiet)
		say(&last);
	return t->failed > failed ? EXIT_GAPS : EXIT_DONE;
}

int agents_run_all(struct session *s, const struct options *o, const char *list, bool again, struct arena *a,
	struct agents_made *made, struct agents_tally *t, struct error *err)
{
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes);
	int status = EXIT_DONE;
	for (int i = 0; i < batch_count * dtype_count && status <= EXIT_GAPS && !interrupted; i++) {
		int one = options_select(s, batches[i / dtype_count], dtypes[i % dtype_count], err)
			? EXIT_BAD
			: agents_run(s, o, list, again, a, made, t, err);
		status = one > status ? one : status;
	}
	return status;
}
