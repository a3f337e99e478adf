/* Facts of layers and problems: costs, states, what is missing and why. */
#include "config.h"

#include "ui/model/private.h"

#include "base/hash.h"
#include "session/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct layer_cost *app_cost(const struct app *app, int layer)
{
	const struct analysis *a = session_analysis(app->session);
	if (!a || layer < 0 || layer >= app->place_count)
		return NULL;
	const struct place *at = &app->places[layer];
	const struct layer_cost *around = app_cost(app, at->owner);
	if (at->owner >= 0)
		return around && around->bodies ? &around->bodies[at->body][layer - at->base] : NULL;
	return layer < a->layer_count ? &a->layers[layer] : NULL;
}

double app_cost_all(const struct app *app, int layer)
{
	const struct layer_cost *c = app_cost(app, layer);
	double times = c ? app->places[layer].times : NAN;
	return !c ? NAN : isnan(times) ? c->ns : times * c->ns;
}

int app_own_problem(const struct app *app, int layer)
{
	const struct plan_layer *l = app_layer(app, layer);
	if (!l || app_is_body(app, layer)) /* the layout what-if does not apply in bodies */
		return l ? l->problem : -1;
	return plan_layer_problem_index(
		app_plan(app), l, session_scenario(app->session)->layouts == LAYOUTS_NXC);
}

static const struct plan_problem *own_problem(const struct app *app, int layer)
{
	int problem = app_own_problem(app, layer);
	return problem >= 0 ? &app_plan(app)->problems[problem] : NULL;
}

int app_first_layer(const struct app *app, int problem)
{
	const struct plan *p = app_plan(app);
	return problem < p->problem_count ? app->first_of[problem] : p->problems[problem].first_layer;
}

const char *app_problem(const struct app *app, int layer)
{
	const struct layer_cost *c = app_cost(app, layer);
	if (c && c->group && c->group->layers[0] == layer)
		return session_scenario(app->session)->layouts == LAYOUTS_NXC && c->group->text_nxc ?
			c->group->text_nxc : c->group->text;
	const struct plan_problem *own = own_problem(app, layer);
	return own ? own->text : NULL;
}

int app_same_as(const struct app *app, int layer)
{
	int own = app_own_problem(app, layer), first = own >= 0 ? app_first_layer(app, own) : -1;
	return first != layer && app_own_problem(app, first) == own ? first : -1;
}

const struct result *app_pick(const struct app *app, const char *problem)
{
	const struct session *s = app->session;
	if (!problem || !session_analysis(s))
		return NULL;
	return analyze_pick(session_analysis(s), session_results(s), problem);
}

double app_estimate_ns(const struct app *app, const char *problem)
{
	const struct session *s = app->session;
	struct problem p;
	return session_described(s) && problem_parse(text_of(problem), &p, NULL) == 0
		? estimate_least(&p, &session_described(s)->peaks, session_scenario(s),
			session_plan(s)->reuse_bytes).ns : NAN;
}

/* What each state looks like in a list. */
static const uint8_t state_styles[STATE_COUNT] = {
	[STATE_NONE] = STYLE_DIM,
	[STATE_FUSED] = STYLE_DIM,
	[STATE_FREE] = STYLE_DIM,
	[STATE_FOLDED] = STYLE_DIM,
	[STATE_PLANNING] = STYLE_DIM,
	[STATE_MISSING] = STYLE_DIM,
	[STATE_OK] = STYLE_GOOD,
	[STATE_PLANNABLE] = STYLE_GOOD,
	[STATE_NOISY] = STYLE_WARN,
	[STATE_STALE] = STYLE_WARN,
	[STATE_UNSUPPORTED] = STYLE_WARN,
	[STATE_PROXY] = STYLE_ESTIMATE,
	[STATE_ESTIMATED] = STYLE_ESTIMATE,
	[STATE_ASSUMED] = STYLE_ESTIMATE,
	[STATE_ROUGH] = STYLE_ROUGH,
	[STATE_PART] = STYLE_ROUGH,
	[STATE_BEGUN] = STYLE_ROUGH,
	[STATE_UNKNOWN] = STYLE_WARN,
	[STATE_NO_PLAN] = STYLE_WARN,
	[STATE_SUSPECT] = STYLE_BAD,
	[STATE_NO_MEMORY] = STYLE_BAD,
	[STATE_FAILED] = STYLE_BAD,
	[STATE_CRASHED] = STYLE_BAD,
	[STATE_TIMEOUT] = STYLE_BAD,
	[STATE_RUNNING] = STYLE_BUSY,
	[STATE_QUEUED] = STYLE_BUSY,
};

#define QUEUE_SHOWN_MAX 99 /* later positions are "queue": the number would not fit in the column */

int app_state_columns(const struct app *app)
{
	return session_described(app->session) ? 10 : 8;
}

static const char *state_word(struct app *app, enum state state, int position, enum style *style)
{
	char text[STATE_TEXT_SIZE];
	*style = (enum style)state_styles[state];
	position = position > QUEUE_SHOWN_MAX ? 0 : position;
	return arena_printf(&app->scratch, "%s", state_text(text, state, position));
}

const char *app_problem_state(struct app *app, const char *problem, enum style *style)
{
	int position;
	enum state state = session_problem_state(app->session, problem, &position);
	return state_word(app, state, position, style);
}

static enum state layer_state(const struct app *app, int layer, int *position)
{
	return session_layer_state(
		app->session, app_layer(app, layer), app_cost(app, layer), app_problem(app, layer), position);
}

const char *app_state_word(struct app *app, enum state state, enum style *style)
{
	return state_word(app, state, 0, style);
}

enum state app_state_of(const struct app *app, int layer)
{
	int position;
	return layer_state(app, layer, &position);
}

const char *app_layer_state(struct app *app, int layer, enum style *style)
{
	int position;
	enum state state = layer_state(app, layer, &position);
	return state_word(app, state, position, style);
}

/* The word, the stored name and the earlier word, so that a search finds each. */
static const char *state_terms(struct app *app, enum state state)
{
	const struct state_row *row = state_row(state);
	return arena_printf(&app->scratch, "%s %s %s", row->word, row->stored, row->earlier);
}

const char *app_problem_terms(struct app *app, const char *problem)
{
	int position;
	return state_terms(app, session_problem_state(app->session, problem, &position));
}

const char *app_layer_terms(struct app *app, int layer)
{
	int position;
	return state_terms(app, layer_state(app, layer, &position));
}

bool app_is_guess(const struct layer_cost *c)
{
	return cost_is_guess(c);
}

bool app_is_critical(const struct app *app, const struct layer_cost *c)
{
	const struct analysis *a = session_analysis(app->session);
	return c && c->critical && scenario_has_path(&a->scenario) && a->complete;
}

const char *app_share(struct app *app, double ns, double total_ns)
{
	double percent = 100 * ns / total_ns;
	const char *mark = analysis_share_mark(session_analysis(app->session));
	return arena_printf(&app->scratch, percent >= 99.95 ? "%s%.0f%%" : "%s%.1f%%", mark, percent);
}

bool app_can_measure(const struct app *app)
{
	const struct session *s = app->session;
	return session_queue(s) || (session_planner(s) && planner_open_count(session_planner(s)) > 0);
}

/* Status of a layer without a cost, or STATUS_OK without a result. The first result is enough: if any had
 * succeeded, the layer would have a cost. */
static enum status missing_status(const struct app *app, int layer)
{
	int count;
	const char *problem = app_problem(app, layer);
	const struct result *const *r =
		problem ? results_of(session_results(app->session), problem, &count) : NULL;
	return r && count ? r[0]->status : STATUS_OK;
}

int app_sweep_points(const struct app *app)
{
	const struct config *c = session_given(app->session);
	int batches = c && c->batch_count ? c->batch_count : 1,
	    dtypes = c && c->dtype_count ? c->dtype_count : 1;
	return batches * dtypes;
}

static int sweep_left(const struct app *app)
{
	const struct session *s = app->session;
	int left = session_sweep_count(s) ? 0 : app_sweep_points(app);
	for (int i = 0; i < session_sweep_count(s); i++) {
		struct session_sweep_progress p = session_sweep_progress(s, i);
		left += p.open + p.missing > 0;
	}
	return left;
}

void app_counts_renew(struct app *app)
{
	const struct analysis *x = session_analysis(app->session);
	app->failed_count = app->suspect_count = 0;
	app->sweep_left = app_sweep_points(app) > 1 ? sweep_left(app) : 0;
	if (!x)
		return;
	for (int i = 0; x->coverage.missing && i < x->layer_count; i++) {
		if (x->layers[i].origin != ORIGIN_MISSING)
			continue;
		enum status status = missing_status(app, i);
		app->suspect_count += status == STATUS_MISTRUSTED;
		app->failed_count +=
			status != STATUS_MISTRUSTED && status != STATUS_OK && status != STATUS_UNSUPPORTED;
	}
}

static bool is_missing_known(const struct app *app, uint64_t *jobs)
{
	struct queue *q = session_queue(app->session);
	*jobs = q ? queue_version(q) : 0;
	return app->missing.analyses == app->analyses && app->missing.jobs == *jobs;
}

bool app_missing_waits(const struct app *app)
{
	uint64_t jobs;
	struct queue *q = session_queue(app->session);
	return q && app_plan(app) && app_plan(app)->layer_count > SESSION_LATER_LAYERS &&
		queue_status(q).idle && !is_missing_known(app, &jobs);
}

struct session_missing app_missing(struct app *app)
{
	struct session *s = app->session;
	struct arena a = { 0 };
	uint64_t jobs;
	if (is_missing_known(app, &jobs))
		return app->missing.what;
	app->missing.what = session_missing(s, &a);
	app->missing.what.texts = NULL;
	app->missing.analyses = app->analyses;
	app->missing.jobs = jobs;
	arena_free(&a);
	return app->missing.what;
}

int app_missing_count(struct app *app)
{
	struct session_missing m = app_missing(app);
	return m.own + m.conversions + m.peaks + m.besides;
}

static bool needs_problem(const struct app *app, const char *problem)
{
	const struct plan *p = app_plan(app);
	const struct fusion *f = p ? session_fusion(app->session) : NULL;
	for (int i = 0; p && i < plan_problem_total(p); i++)
		if (strcmp(p->problems[i].text, problem) == 0)
			return true;
	for (int i = 0; f && i < f->text_count; i++)
		if (strcmp(f->texts[i], problem) == 0)
			return true;
	return false;
}

static bool is_in(const char **texts, int count, const char *problem)
{
	for (int i = 0; i < count; i++)
		if (strcmp(texts[i], problem) == 0)
			return true;
	return false;
}

static const char *needed_for(const struct app *app, const char *problem)
{
	struct arena a = { 0 };
	int conversions, peaks;
	if (needs_problem(app, problem) || problem_is_beside(problem))
		return "";
	const char **of_device = session_peak_problems(app->session, &a, &peaks);
	const char **of_results = session_conversions(app->session, &a, &conversions);
	const char *what = is_in(of_device, peaks, problem) ? "peak" :
		is_in(of_results, conversions, problem) ? "conversion" : "other scenario";
	arena_free(&a);
	return what;
}

const char *app_needed_for(struct app *app, const char *problem)
{
	bool known = app->needed.plan && app->needed.plan == app_plan(app);
	if (known && strcmp(app->needed.problem, problem) == 0)
		return app->needed.what;
	snprintf(app->needed.problem, sizeof(app->needed.problem), "%s", problem);
	app->needed.plan = app_plan(app);
	return app->needed.what = app_plan(app) ? needed_for(app, problem) : "other scenario";
}

/* A layer without a problem: the plan's reason, with the explorer's key instead of the option in the advice.
 * */
static const char *no_problem_why(struct app *app, const struct plan_layer *l)
{
	const char *why = l->why ? app_clean(app, text_of(l->why)) : "no benchmark exists for it";
	const char *option = strstr(why, ": give --dim");
	if (!option)
		return why;
	return arena_printf(&app->scratch, "%.*s: %s gives it a value", (int)(option - why), why,
		key_named("dimensions"));
}

/* Counts the layers inside a layer that should have a cost, and those whose cost is unknown. */
static void count_inside(const struct app *app, int layer, int *all, int *missing)
{
	const struct plan_layer *l = app->places[layer].layer;
	for (int i = 0; i < l->body_count; i++)
		for (int k = 0; l->bodies[i].times != 0 && k < l->bodies[i].layer_count; k++) {
			int inner = app_body_first(app, layer, i) + k;
			const struct layer_cost *c = app_cost(app, inner);
			count_inside(app, inner, all, missing);
			if (!c || c->origin == ORIGIN_FREE || c->bodies)
				continue;
			++*all;
			*missing += isnan(c->ns);
		}
}

/* why: the analysis' reason, which names an option of the command line; NULL: none. */
static const char *no_estimate_why(struct app *app, const char *why)
{
	static const char option[] = ": add -w ";
	const char *at = why ? strstr(why, option) : NULL;
	if (at)
		return arena_printf(&app->scratch, "no estimate: %.*s: switch on %s", (int)(at - why), why,
			at + strlen(option));
	return arena_printf(&app->scratch, "no estimate: %s",
		why ? why : "the description lacks a peak for this type");
}

const char *app_folded_text(struct app *app, int layer)
{
	const struct plan *p = app_plan(app);
	int into = analysis_folded_into(session_analysis(app->session), p, layer);
	return arena_printf(&app->scratch, "removed by fold%s%s: %s", into < 0 ? "" : ", into ",
		into < 0 ? "" : app_name(app, into), plan_fold_text(p, &p->layers[layer], &app->scratch));
}

const char *app_missing_why(struct app *app, int layer)
{
	const struct plan_layer *l = app_layer(app, layer);
	int inside = 0, missing = 0;
	if (plan_layer_is_control(l))
		count_inside(app, layer, &inside, &missing);
	if (missing && missing == inside && !isnan(l->flops))
		return arena_printf(&app->scratch, "no layer inside it is measured: %s measures",
			key_named("measure"));
	if (missing && !isnan(l->flops))
		return arena_printf(&app->scratch, "%d of the %d layers inside it %s no cost", missing,
			inside, missing == 1 ? "has" : "have");
	const char *problem = app_problem(app, layer);
	struct queue *q = session_queue(app->session);
	enum style style;
	if (!problem)
		return no_problem_why(app, l);
	const struct planned *planned = session_planned(app->session, problem);
	const struct layer_cost *c = app_cost(app, layer);
	const char *reason = c && c->why ? app_clean(app, text_of(c->why)) : NULL;
	if (planned)
		return planned->state == PLANNED_NO ? app_clean(app, text_of(planned->why)) :
						      no_estimate_why(app, reason);
	if (q && queue_state(q, problem) == JOB_RUNNING)
		return "not measured yet: it is being measured";
	const char *state = app_problem_state(app, problem, &style);
	if (q && queue_state(q, problem) == JOB_PENDING)
		return arena_printf(&app->scratch, "not measured yet: %s", state);
	const char *why = q ? app_clean(app, text_of(queue_why(q, problem))) : "";
	if (why[0])
		return arena_printf(&app->scratch, "not measured: %s", why);
	if (reason)
		return reason;
	if (!q)
		return app_is_recorded(app) ? "not recorded, and a recorded device measures nothing"
					    : "not measured, and no runner answers";
	return arena_printf(&app->scratch, state[0] ?
		"no result for this scenario: %s measures missing problems" : "not measured: %s measures",
		key_named("measure"));
}

bool app_is_recorded(const struct app *app)
{
	const struct session *s = app->session;
	return !session_queue(s) && !session_described(s) && !session_trouble(s)[0];
}
