/* Runs the model on an agent (session/session_agent.h) without blocking. Measuring and running at the same
 * time would distort both: the agent starts once the queue is idle, and the queue is not filled until it has
 * ended. */
#include "config.h"

#include "ui/model/agent.h"

#include "session/session_agent.h"
#include "session/session_reality.h"
#include "ui/model/private.h"
#include "ui/model/say.h"

#include <stdlib.h>
#include <string.h>

struct app_agent {
	struct session_agent *run; /* it runs the model; or NULL */
	int chosen;                /* index of a configured agent */
	bool waits;                /* for the end of measuring */
	bool reads;                /* the model's files are read before it starts */
	bool stopping;             /* it was cancelled and has not ended yet */
	/* plan of the first of two runs in turn with measuring (reality_turn), before the second; or NULL */
	const struct plan *second;
};

struct app_agent *app_agent_new(void)
{
	return base_calloc(1, sizeof(struct app_agent));
}

void app_agent_free(struct app_agent *agent)
{
	if (agent->run)
		session_agent_free(agent->run);
	free(agent);
}

/* Returns the agent that the key runs: by default the first configured one; NULL if no agent is configured.
 */
static const char *chosen(const struct app *app)
{
	const struct config *c = session_config(app->session);
	return c && c->agent_count ? c->agents[app->agent->chosen % c->agent_count].name : NULL;
}

bool app_agent_is_busy(const struct app *app)
{
	return app->agent->run || app->agent->reads;
}

bool app_agent_is_reading(const struct app *app)
{
	return app->agent->reads;
}

bool app_agent_can_run(const struct app *app)
{
	return chosen(app) && !session_described(app->session) && !app_agent_is_busy(app) &&
		!app->agent->waits;
}

int app_agent_fd(const struct app *app)
{
	return app->agent->run ? session_agent_fd(app->agent->run) : -1;
}

static bool is_queue_busy(const struct app *app)
{
	return session_is_measuring(app->session);
}

bool app_agent_cancel(struct app *app)
{
	bool any = app_agent_is_busy(app) || app->agent->waits;
	if (app->agent->run && !app->agent->stopping) {
		session_agent_cancel(app->agent->run);
		app->agent->stopping = true;
	}
	app->agent->waits = app->agent->reads = false;
	app->agent->second = NULL;
	return any;
}

/* The configuration may have been mended since. False: it cannot be read. */
static bool read_again(struct app *app)
{
	struct error err = ERROR_NONE;
	if (!session_agents_again(app->session, &err))
		return true;
	app_note(app, true, "%s", err.text);
	return false;
}

void app_agent_choose(struct app *app)
{
	const struct config *c = session_config(app->session);
	if (!app_agent_is_busy(app) && !app->agent->waits && !read_again(app))
		return;
	if (!chosen(app)) {
		app_note(app, false, "no agent is configured (agents: in the configuration)");
		return;
	}
	if (app_agent_is_busy(app) || app->agent->waits) {
		app_note(app, false, "%s runs the model; choose another when it has ended, or %s cancels it",
			chosen(app), key_named("agent"));
		return;
	}
	app->agent->chosen = (app->agent->chosen + 1) % c->agent_count;
	app_note(app, false, "%s is selected: %s runs the model with it", chosen(app), key_named("agent"));
}

void app_agent_key(struct app *app)
{
	if (app_agent_cancel(app)) {
		app_note(app, false, "the run of the model is cancelled");
		return;
	}
	if (session_described(app->session))
		app_note(app, false,
			"n/a: %s is a described device, no framework runs on it; %s selects another device",
			app_clean(app, text_of(session_described(app->session)->id)), key_named("devices"));
	else if (app->is_still)
		app_note(app, false, "--frame runs no model");
	else if (!read_again(app))
		return;
	else if (!chosen(app))
		app_note(app, true, "no agent is configured: add one under agents: in the configuration");
	else if (app_plan(app) && app_plan(app)->unbound_count)
		app_note(app, false, "set the model's dimensions first: %s", key_named("dimensions"));
	else if (is_queue_busy(app)) {
		app->agent->waits = true;
		app_note(app, false, "%s runs the model once measuring has ended; %s cancels that",
			chosen(app), key_named("agent"));
	} else
		app->agent->reads = true;
}

/* ---- running ---- */

static void start(struct app *app)
{
	struct error err = ERROR_NONE;
	bool bad;
	if (app->agent->second && app->agent->second != session_plan(app->session)) {
		app->agent->second = NULL;
		app_note(app, false, "%s does not run again: another batch or type was selected",
			chosen(app));
		return;
	}
	app->agent->stopping = false;
	app->agent->run = session_agent_start(app->session, chosen(app), true, &bad, &err);
	if (!app->agent->run)
		app_note(app, true, "%s", err.text);
	app->generation++;
}

/* After the first run: measures the layers that contradict the bound again, and then the agent runs once
 * more. Returns a text for the message; after the second run it has the number of contradicted layers. */
static const char *measure_in_turn(struct app *app)
{
	while (session_effects_step(app->session, 1000))
		; /* in a large model it is pending */
	const struct reality *y = session_reality(app->session);
	bool second = app->agent->second;
	app->agent->second = NULL;
	if (y && second)
		return arena_printf(&app->scratch, "; measured again: %d contradicted%s",
			session_reality_contradicted(y), y->contradicted ? ", and the model" : "");
	bool open = y && !app->agent->stopping && session_turn_open(y);
	int added = open ? session_turn_measure(app->session, y) : 0;
	if (!added)
		return "";
	app->agent->waits = true;
	app->agent->second = session_plan(app->session);
	return arena_printf(&app->scratch,
		"; faster than the bound: measuring %d problem%s and the model again", added,
		added == 1 ? "" : "s");
}

/* Shows the result, and the reason if it does not appear beside the bound. */
static void tell(struct app *app, const struct execution *e)
{
	const char *name = session_agent_name(app->agent->run);
	const char *why = session_why_not_comparable(app->session, &app->scratch, e);
	char text[SAY_INTERVAL];
	if (e->status != STATUS_OK)
		app_note(app, true, "%s: the model did not run: %s", name,
			*e->why ? e->why : status_name(e->status));
	else
		app_note(app, false, "%s: %s%s%s%s", name,
			say_interval(text, e->stats.median, e->stats.lo, e->stats.hi, e->stats.n),
			e->stats.stop == STOP_DISTURBED ? ", noisy" : "",
			why ? "; not beside the bound: " : "", why ? why : measure_in_turn(app));
}

static void finish(struct app *app)
{
	const struct execution *e = session_agent_execution(app->agent->run);
	if (app->agent->stopping && e->status != STATUS_OK)
		app_note(app, false, "%s: cancelled", session_agent_name(app->agent->run));
	else {
		if (e->status == STATUS_OK)
			session_reality_take(app->session, e);
		tell(app, e);
	}
}

static void end(struct app *app)
{
	session_agent_free(app->agent->run);
	app->agent->run = NULL;
	app->generation++;
}

/* Reads the model's files for their hashes, in short steps. */
static void read_files(struct app *app)
{
	struct error err = ERROR_NONE;
	int more = session_agent_prepare(app->session, &err);
	app->agent->reads = more > 0;
	if (more < 0)
		app_note(app, true, "%s", err.text);
	else if (!more)
		start(app);
	app->generation += more <= 0;
}

void app_agent_step(struct app *app)
{
	struct error err = ERROR_NONE;
	if (app->agent->waits && !is_queue_busy(app)) {
		app->agent->waits = false;
		app->agent->reads = true;
	}
	if (app->agent->reads)
		read_files(app);
	if (!app->agent->run)
		return;
	enum agent_state state = session_agent_step(app->agent->run, 0, &err);
	if (state == AGENT_FAILED && app->agent->stopping)
		app_note(app, false, "%s: cancelled", session_agent_name(app->agent->run));
	else if (state == AGENT_FAILED)
		app_note(app, true, "%s", err.text);
	else if (state == AGENT_ENDED)
		finish(app);
	if (state == AGENT_FAILED || state == AGENT_ENDED)
		end(app);
}

const char *app_agent_text(struct app *app)
{
	if (app->agent->reads)
		return arena_printf(&app->scratch, "%s: reading the model; %s cancels", chosen(app),
			key_named("agent"));
	struct agent_progress p = session_agent_progress(app->agent->run);
	int s = (int)p.elapsed_s;
	bool sends = p.sent_bytes > 0 && p.sent_bytes < p.file_bytes;
	const char *what = app->agent->stopping ? "stopping" : *p.waits ? p.waits : *p.what ? p.what :
		sends ? "sending the model" : "starting";
	const char *share = sends && !*p.what ? arena_printf(&app->scratch, " %.0f%%",
		100 * (double)p.sent_bytes / (double)p.file_bytes) : "";
	return arena_printf(&app->scratch, "%s: %s%s  %d:%02d%s%s%s", session_agent_name(app->agent->run),
		app_clean(app, text_of(what)), share, s / 60, s % 60,
		app->agent->stopping ? "" : "  ", app->agent->stopping ? "" : key_named("agent"),
		app->agent->stopping ? "" : " cancels");
}
