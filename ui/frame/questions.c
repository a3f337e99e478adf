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

static const char *measure_text(struct app *app)
{
	int count = app_missing_count(app);
	return arena_printf(&app->scratch, "%d problem%s %s no result: measure now, %s? y/n/a(lways)", count,
		count == 1 ? "" : "s", count == 1 ? "has" : "have", question_time(app));
}

static void measure_answer(struct app *app, uint32_t key, bool yes)
{
	app->frame->always |= key == 'a';
	if (!yes)
		return;
	measure(app, true);
	if (key == 'a')
		app_note(app, false,
			"models opened from now on are measured; to keep it, set measure: always");
}

const struct prompt_use prompt_measure = { .question = measure_text, .letters = "a",
	.answer = measure_answer };

static const char *leave_text(struct app *app)
{
	(void)app;
	return "measuring: leave? finished results are kept; y/n";
}

static void leave_answer(struct app *app, uint32_t key, bool yes)
{
	(void)key;
	app->stage->quit = yes;
}

static const struct prompt_use prompt_leave = { .question = leave_text, .letters = "q",
	.answer = leave_answer };

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
	struct stage *s = app->stage;
	struct queue *q = session_queue(app->session);
	const struct config *c = session_config(app->session);
	const char *how = c && c->measure ? c->measure : "ask";
	if (s->asked || !q || !queue_device(q) || !session_device(app->session)->name ||
		session_described(app->session) || s->prompt.use || !session_is_analyzed(app->session) ||
		!app_plan(app) || app_plan(app)->unbound_count)
		return false;
	s->asked = true;
	if (!queue_status(q).idle || strcmp(how, "never") == 0 || !is_unmeasured(app) ||
		!app_missing_count(app))
		return false;
	if (app->frame->always || strcmp(how, "always") == 0)
		measure(app, true);
	else
		prompt_open(app, &prompt_measure);
	return true;
}

void question_leave(struct app *app)
{
	struct queue *q = session_queue(app->session);
	bool busy = q && !queue_status(q).idle && !queue_status(q).starting && !app->stage->stopping;
	if (busy && !app->is_still)
		prompt_open(app, &prompt_leave);
	else
		app->stage->quit = true;
}
