/* Questions in the bottom line. They bar nothing: a key that is no answer does what it always does. */
#include "config.h"

#include "ui/frame/frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Budgets that a problem takes, all its algorithms together: 107 problems of ResNet-50 took 43 s with 200
 * ms, 132 of MobileNet v2 35 s. */
#define BUDGETS_A_PROBLEM 2

const char *question_time(struct app *app)
{
	const struct config *c = session_config(app->session);
	double budget_s = (c && c->budget_ms > 0 ? (double)c->budget_ms : 200) / 1e3;
	double s = ceil(app_missing_count(app) * BUDGETS_A_PROBLEM * budget_s);
	return s < 100 ? arena_printf(&app->scratch, "~%.0f s", s) :
		s < 6000 ? arena_printf(&app->scratch, "~%.0f min", ceil(s / 60)) :
		arena_printf(&app->scratch, "~%.0f h", ceil(s / 3600));
}

bool question_is_open(const struct app *app)
{
	enum prompt_kind kind = app->frame->prompt.kind;
	return kind == PROMPT_MEASURE || kind == PROMPT_LEAVE || kind == PROMPT_CONFIRM;
}

void app_confirm(struct app *app, const char *question, void (*yes)(struct app *app))
{
	struct prompt *q = &app->frame->prompt;
	prompt_open(app, PROMPT_CONFIRM);
	snprintf(q->text, sizeof(q->text), "%s", question);
	q->yes = yes;
}

const char *question_text(struct app *app)
{
	if (app->frame->prompt.kind == PROMPT_CONFIRM)
		return arena_printf(&app->scratch, "%s y/n", app->frame->prompt.text);
	if (app->frame->prompt.kind == PROMPT_LEAVE)
		return "measuring: leave? finished results are kept; y/n";
	int count = app_missing_count(app);
	return arena_printf(&app->scratch, "%d problem%s %s no result: measure now, %s? y/n/a(lways)", count,
		count == 1 ? "" : "s", count == 1 ? "has" : "have", question_time(app));
}

static void answer_measure(struct app *app, uint32_t key)
{
	app->frame->always |= key == 'a';
	if (key == 'n' || key == KEY_CODE_ESC)
		return;
	measure(app, true);
	if (key == 'a')
		app_note(app, false,
			"models opened from now on are measured; to keep it, set measure: always");
}

bool question_key(struct app *app, uint32_t key)
{
	enum prompt_kind kind = app->frame->prompt.kind;
	bool no = key == 'n' || key == KEY_CODE_ESC, yes = key == 'y' || key == KEY_CODE_ENTER;
	bool answer = no || yes || (kind == PROMPT_LEAVE ? key == 'q' : kind == PROMPT_MEASURE && key == 'a');
	void (*confirmed)(struct app *app) = app->frame->prompt.yes;
	prompt_close(app);
	if (!answer)
		return false;
	if (kind == PROMPT_MEASURE)
		answer_measure(app, key);
	else if (kind == PROMPT_CONFIRM && yes)
		confirmed(app);
	else if (kind == PROMPT_LEAVE)
		app->frame->quit = !no;
	return true;
}

/* True if no layer that needs a result has one. */
static bool is_unmeasured(const struct app *app)
{
	const struct analysis *a = session_analysis(app->session);
	for (int i = 0; a && i < a->layer_count; i++)
		if (a->layers[i].result)
			return false;
	return a != NULL;
}

bool question_measure(struct app *app)
{
	struct frame *f = app->frame;
	struct queue *q = session_queue(app->session);
	const struct config *c = session_config(app->session);
	const char *how = c && c->measure ? c->measure : "ask";
	if (f->asked || !q || !queue_device(q) || !session_device(app->session)->name ||
		session_described(app->session) || f->prompt.kind || !session_is_analyzed(app->session) ||
		!app_plan(app) || app_plan(app)->unbound_count)
		return false;
	f->asked = true;
	if (!queue_status(q).idle || strcmp(how, "never") == 0 || !is_unmeasured(app) ||
		!app_missing_count(app))
		return false;
	if (f->always || strcmp(how, "always") == 0)
		measure(app, true);
	else
		prompt_open(app, PROMPT_MEASURE);
	return true;
}

void question_leave(struct app *app)
{
	struct queue *q = session_queue(app->session);
	bool busy = q && !queue_status(q).idle && !queue_status(q).starting && !app->frame->stopping;
	if (busy && !app->is_still)
		prompt_open(app, PROMPT_LEAVE);
	else
		app->frame->quit = true;
}
