/* What keys change besides the screen: the scenario, and what is measured. */
#include "config.h"

#include "analyze/scenario/assume.h"
#include "session/scenarios.h"
#include "ui/stage/stage.h"

#include <stdio.h>
#include <string.h>

/* The what-ifs have changed: keeps what they were. The oldest is forgotten where there is no room. */
static void undo_keep(struct app *app, const struct scenario *before)
{
	struct stage *s = app->stage;
	if (scenario_equal(before, session_scenario(app->session)))
		return;
	if (s->undo_at == UNDO_MOST)
		memmove(s->undo, s->undo + 1, (size_t)--s->undo_at * sizeof(*s->undo));
	s->undo[s->undo_at++] = *before;
	s->undo_count = s->undo_at;
}

static void what_ifs_tell(struct app *app, const char *what)
{
	char list[SCENARIO_TEXT_SIZE];
	scenario_text(session_scenario(app->session), list, sizeof(list));
	app_note(app, false, "what-ifs %s: %s", what, list[0] ? list : "none");
}

/* The present what-ifs take the place of those that they are exchanged for. */
static void undo_exchange(struct app *app, int at)
{
	struct scenario now = *session_scenario(app->session);
	session_use(app->session, &app->stage->undo[at]);
	app->stage->undo[at] = now;
}

void what_ifs_step(struct app *app, int direction)
{
	struct stage *s = app->stage;
	int left = app->count > 0 ? app->count : 1;
	if (direction < 0 ? !s->undo_at : s->undo_at == s->undo_count) {
		if (direction < 0)
			app_note(app, false, "no what-if was changed; %s resets all, assumed costs too",
				key_named("reset-what-ifs"));
		else
			app_note(app, false, "no change was undone");
		return;
	}
	for (; left > 0 && direction < 0 && s->undo_at > 0; left--)
		undo_exchange(app, --s->undo_at);
	for (; left > 0 && direction > 0 && s->undo_at < s->undo_count; left--)
		undo_exchange(app, s->undo_at++);
	app_refresh(app);
	what_ifs_tell(app, "again");
}

void what_ifs_reset(struct app *app)
{
	struct scenario before = *session_scenario(app->session);
	session_reset_what_ifs(app->session);
	app_refresh(app);
	undo_keep(app, &before);
	what_ifs_tell(app, "as in options and configuration");
}

void app_use(struct app *app, const struct scenario *s)
{
	struct scenario before = *session_scenario(app->session);
	session_use(app->session, s);
	undo_keep(app, &before);
	app_refresh(app);
}

bool what_if_is_absent(const struct app *app, const struct what_if *row)
{
	const struct what_if_effect *e = session_effect(app->session, row);
	return e && !e->available;
}

/* A key that was meant for something else is noticed, and how it is taken back. */
static void toggle_tell(struct app *app, const struct what_if *row)
{
	const struct session *s = app->session;
	char word[WHAT_IF_WORD_SIZE];
	int left = session_queue(s) && session_analysis(s) ? session_analysis(s)->unmeasured_problems : 0;
	app_note(app, false, "%s: %s; %s takes it back%s", row->name,
		what_if_word(row, session_scenario(s), word, sizeof(word)), key_named("undo-what-if"),
		!left ? "" : arena_printf(&app->scratch, "; %d problem%s not measured yet: %s", left,
			left == 1 ? "" : "s", key_named("measure")));
}

void app_toggle(struct app *app, int row)
{
	int count;
	const struct what_if *table = what_if_table(&count);
	if (row < 0 || row >= count)
		return;
	struct session *s = app->session;
	int next = table[row].get(session_scenario(s)) + 1;
	bool on = next < what_if_choices(&table[row]), absent = what_if_is_absent(app, &table[row]);
	if (absent && (on || next == 1)) {
		app_note(app, false, "%s is not available: %s", table[row].name, table[row].absent);
		return;
	}
	if (next == 1 && !on) { /* it has no word but off: on needs a value */
		app_ask_choice(app, row);
		return;
	}
	struct scenario with = *session_scenario(s);
	table[row].set(&with, on ? next : 0);
	app_use(app, &with);
	if (absent)
		app_note(app, false, "%s is off; it changes nothing: %s", table[row].name, table[row].absent);
	else
		toggle_tell(app, &table[row]);
}

/* Says that a name which was given fits no algorithm. */
static void names_check(struct app *app, const struct scenario *before)
{
	const struct scenario *s = session_scenario(app->session);
	bool other = strcmp(s->algorithm, before->algorithm) != 0 ||
		strcmp(s->libraries, before->libraries) != 0;
	const char *miss = other ? scenarios_names_miss(app->session, &app->scratch) : NULL;
	if (miss)
		app_note(app, true, "%s (%s lists those of a layer)", miss, key_named("algorithms"));
}

void what_ifs_take(struct app *app, const struct scenario *s)
{
	struct scenario before = *session_scenario(app->session);
	app_use(app, s);
	names_check(app, &before);
}

void what_ifs_set(struct app *app, const char *list)
{
	struct session *s = app->session;
	struct scenario next = *session_scenario(s);
	struct error err = ERROR_NONE;
	if (scenario_parse(&next, list, &err)) {
		app_note(app, true, "%s", err.text);
		return;
	}
	int count;
	const struct what_if_effect *effects = session_effects(s, &count);
	for (int i = 0; i < count; i++) {
		const struct what_if *row = effects[i].row;
		int choice = row->get(&next);
		if (choice && choice != row->get(session_scenario(s)) && what_if_is_absent(app, row)) {
			app_note(app, true, "%s is not available: %s", row->name, row->absent);
			return;
		}
	}
	char on[SCENARIO_TEXT_SIZE];
	scenario_text(&next, on, sizeof(on));
	app_note(app, false, "what-ifs: %s", on[0] ? on : "all off");
	what_ifs_take(app, &next);
	if (scenarios_say_matrix(list))
		session_choose_matrix(s);
}

/* ---- prompts */

static const char *assume_label(struct app *app)
{
	return arena_printf(&app->scratch, "cost of %s = ", text_cut(&app->scratch,
		app_clean(app, app_plan(app)->layers[app->stage->prompt.target].name), 24, true));
}

static void assume_accept(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	struct assumption cost = { 0 };
	struct error err = ERROR_NONE;
	if (q->text[0] && assumed_parse(text_of(q->text), &cost, &err)) {
		app_note(app, true, "%s", err.text);
		return;
	}
	session_assume(app->session, q->target, &cost);
	prompt_close(app);
	app_refresh(app);
}

const struct prompt_use prompt_assume = { .label_of = assume_label, .accept = assume_accept,
	.help = "12us, 2x, 0; empty removes" };

void assume_ask(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	const struct plan *p = app_plan(app);
	const struct assumption *assumed = session_assumed(app->session);
	char cost[ASSUMED_TEXT_SIZE];
	if (app->layer < 0 || !p || app_is_body(app, app->layer)) {
		app_note(app, false, app->layer < 0 || !p ? "no layer is selected" :
			"only layers of the model's own graph can have an assumed cost");
		return;
	}
	prompt_open(app, &prompt_assume);
	q->target = app_layer(app, app->layer)->index;
	if (assumed)
		snprintf(q->text, sizeof(q->text), "%s", assumed_text(cost, &assumed[q->target]));
	q->untouched = q->text[0] != '\0';
}

static const char *choice_label(struct app *app)
{
	int count;
	return arena_printf(&app->scratch, "%s = ", what_if_table(&count)[app->stage->prompt.target].name);
}

static void choice_accept(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	struct scenario with = *session_scenario(app->session);
	struct error err = ERROR_NONE;
	int count;
	const struct what_if *row = &what_if_table(&count)[q->target];
	const char *item = arena_printf(&app->scratch, "%s=%s", row->name, q->text[0] ? q->text : "off");
	if (strchr(q->text, ',') || scenario_parse(&with, item, &err)) {
		app_note(app, true, "%s", err.text[0] ? err.text : "a choice has no comma");
		return;
	}
	prompt_close(app);
	what_ifs_take(app, &with);
}

const struct prompt_use prompt_choice = { .label_of = choice_label, .accept = choice_accept };

void app_ask_choice(struct app *app, int row)
{
	struct prompt *q = &app->stage->prompt;
	int count;
	const struct what_if *table = what_if_table(&count);
	prompt_open(app, &prompt_choice);
	q->target = row;
	what_if_word(&table[row], session_scenario(app->session), q->text, sizeof(q->text));
	q->untouched = true;
}

void scenario_select(struct app *app, int64_t batch, enum dtype dtype)
{
	struct error err = ERROR_NONE;
	if (session_select(app->session, batch, dtype, &err))
		app_note(app, true, "%s", err.text);
	app_refresh(app);
}

void batch_step(struct app *app, int direction)
{
	const struct config *c = session_config(app->session);
	if (!app_plan(app))
		return;
	int64_t batch = session_batch(app->session), present = batch > 0 ? batch : 1;
	int64_t next = direction > 0 ? present * 2 : present / 2;
	if (c && c->batch_count > 1) {
		next = 0;
		for (int i = 0; i < c->batch_count; i++)
			if (direction > 0 ? c->batch[i] > present && (!next || c->batch[i] < next)
					  : c->batch[i] < present && c->batch[i] > next)
				next = c->batch[i];
	}
	if (next < 1 || next > 65536)
		app_note(app, false, "no %s batch size", direction > 0 ? "larger" : "smaller");
	else
		scenario_select(app, next, session_dtype(app->session));
}

void dtype_next(struct app *app)
{
	const struct config *c = session_config(app->session);
	const struct plan *p = app_plan(app);
	if (!p)
		return;
	/* the model's own types, and those of the usual ones that differ from them */
	enum dtype usual[3] = { DTYPE_UNKNOWN }, now = session_dtype(app->session);
	int usual_count = 1;
	if (p->mixed || p->own != DTYPE_F32)
		usual[usual_count++] = DTYPE_F32;
	if (p->mixed || p->own != DTYPE_BF16)
		usual[usual_count++] = DTYPE_BF16;
	if (!p->mixed)
		usual[0] = p->own;
	const enum dtype *list = c && c->dtype_count > 1 ? c->dtype : usual;
	int count = c && c->dtype_count > 1 ? c->dtype_count : usual_count, at = 0;
	while (at < count && list[at] != now)
		at++;
	scenario_select(app, session_batch(app->session), list[(at + 1) % count]);
}

static int measure_inside(struct app *app, int layer);

/* Queues what the marked layers lack, or all of them again. */
static void measure_picked(struct app *app, bool again)
{
	int added = 0, left = 0;
	for (int i = 0; i < app->place_count; i++) {
		struct subject of = subject_of_layer(app, i);
		if (!app->picked[i] || (!again && !term_kind_holds(app, KIND_UNMEASURED, &of)))
			continue;
		left++;
		added += measure_inside(app, i);
		added += app_is_body(app, i) ? 0 : session_measure_layer(app->session, i);
	}
	if (added)
		app_note(app, false, "%d problem%s of the marked layers queued%s; %s removes the marks",
			added, added == 1 ? "" : "s", again ? " again" : "", key_named("pick-none"));
	else if (left)
		app_note(app, false, "nothing to measure for %d marked layer%s%s, or it is queued", left,
			left == 1 ? "" : "s", again ? "" : " without a cost");
	else
		app_note(app, false, "the marked layers (%d) have results; %s removes the marks",
			app->picked_count, key_named("pick-none"));
}

static void measure_missing(struct app *app)
{
	struct session *s = app->session;
	struct error err = ERROR_NONE;
	int added = app_sweep_points(app) > 1 ? session_measure_sweep(s, &err) : session_measure_missing(s);
	if (!added && queue_status(session_queue(s)).idle)
		added = session_measure_shaky(s);
	app_refresh(app);
	if (added < 0)
		app_note(app, true, "%s", err.text);
	if (added)
		return;
	int waiting = queue_status(session_queue(s)).pending + queue_status(session_queue(s)).running;
	if (waiting)
		app_note(app, false, "already queued: %d problem%s", waiting,
			waiting == 1 ? "" : "s");
	else
		app_note(app, false, "all measured");
}

/* A control layer has no problem of its own: queues those of the layers inside it. */
static int measure_inside(struct app *app, int layer)
{
	const struct plan_layer *l = app->places[layer].layer;
	int added = app_is_body(app, layer) && app_problem(app, layer)
		? session_measure_problem(app->session, app_problem(app, layer)) : 0;
	for (int i = 0; i < l->body_count; i++)
		for (int k = 0; l->bodies[i].times != 0 && k < l->bodies[i].layer_count; k++)
			added += measure_inside(app, app_body_first(app, layer, i) + k);
	return added;
}

static void measure_layer(struct app *app)
{
	struct session *s = app->session;
	enum style style;
	const struct layer_cost *c = app_cost(app, app->layer);
	if (app->layer < 0 || measure_inside(app, app->layer) ||
		(!app_is_body(app, app->layer) && session_measure_layer(s, app->layer)))
		return;
	const char *problem = app_problem(app, app->layer);
	enum job_state state = problem ? queue_state(session_queue(s), problem) : JOB_NONE;
	if (state == JOB_RUNNING)
		app_note(app, false, "this layer is being measured");
	else if (state == JOB_PENDING)
		app_note(app, false, "already queued: %s", app_problem_state(app, problem, &style));
	else
		app_note(app, false, "nothing to measure for this layer: %s",
			c && c->folded ? app_folded_text(app, app->layer)
				: c && c->origin == ORIGIN_FREE ? "no kernel runs for it"
				: app_missing_why(app, app->layer));
}

void measure(struct app *app, bool all)
{
	if (session_described(app->session)) {
		app_note(app, true, "%s is a described device: nothing can be measured",
			app_clean(app, text_of(session_described(app->session)->id)));
		return;
	}
	if (!session_queue(app->session)) {
		app_note(app, true, app_is_recorded(app) ?
			"a recorded device measures nothing; %s selects another device" :
			"no runner answers: nothing can be measured; %s selects another device",
			key_named("devices"));
		return;
	}
	if (app_plan(app) && app_plan(app)->unbound_count) {
		prompt_ask_unbound(app);
		app_note(app, false, "set the model's dimensions first");
		return;
	}
	if (!all && !app->picked_count && app->layer < 0) {
		app_note(app, false, "no layer has this problem: %s measures all missing problems",
			key_named("measure"));
		return;
	}
	if (app_agent_is_busy(app)) {
		app_note(app, false, "the model is running: measure when it has ended, or %s cancels it",
			key_named("agent"));
		return;
	}
	app->stage->standing[0] = '\0';
	app->stage->stopping = false;
	app->stage->runner_dead = false; /* requested by the user: try again */
	if (app->picked_count)
		measure_picked(app, !all);
	else if (all)
		measure_missing(app);
	else
		measure_layer(app);
	app->generation++;
}

void app_measure(struct app *app)
{
	measure(app, true);
}

void measure_stop(struct app *app)
{
	struct queue *q = session_queue(app->session);
	bool measuring = q && !queue_status(q).idle;
	if (app_device_leave(app))
		return;
	if (app_agent_cancel(app) && !measuring) {
		app_note(app, false, "the run of the model is cancelled");
		return;
	}
	session_queue_cancel(app->session);
	app->stage->stopping = measuring;
	app_note(app, false,
		measuring ? "measuring stopped; finished problems are kept" : "nothing is being measured");
}
