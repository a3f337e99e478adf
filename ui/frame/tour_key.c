/* The keys of the tour: those of its steps, keys that move, and those that skip a step or leave. */
#include "config.h"

#include "ui/frame/frame.h"
#include "ui/frame/tour.h"

static void next(struct app *app)
{
	app->frame->tour.step++;
	app->frame->tour.typed = 0;
	app->stage->quit |= !tour_step(app->frame->tour.step);
	if (app->stage->quit)
		app->frame->tour.step--;
}

/* Does what the step asks for. */
static void perform(struct app *app)
{
	const struct tour_step *step = tour_step(app->frame->tour.step);
	char buf[TOUR_KEYS];
	struct key_pair keys;
	tour_keys(step, &keys, buf);
	const struct key_row *row = keys_find(app_pane(app)->view, keys);
	if (row && tour_step(app->frame->tour.step + 1)) {
		struct key_row one = *row;
		one.argument = row->letter ? (int)keys.second : row->argument;
		request_run(app, &one, 0);
	}
	next(app);
}

static bool moves(struct app *app, uint32_t key)
{
	const struct key_row *row = keys_find(app_pane(app)->view, (struct key_pair){ key, KEY_CODE_NONE });
	return row && row->request >= REQUEST_DOWN && row->request <= REQUEST_PREVIOUS_LAYER;
}

static bool leaves(struct app *app, uint32_t key)
{
	const struct key_row *row = keys_find(app_pane(app)->view, (struct key_pair){ key, KEY_CODE_NONE });
	return key == KEY_CODE_ESC ||
		(row && (row->request == REQUEST_CLOSE || row->request == REQUEST_QUIT));
}

void tour_key(struct app *app, uint32_t key)
{
	struct tour *t = &app->frame->tour;
	char name[TOUR_KEYS];
	struct key_pair keys;
	tour_keys(tour_step(t->step), &keys, name);
	bool second = t->typed && key == keys.second;
	t->typed = 0;
	app->note[0] = '\0';
	if (second || (key == keys.first && !keys.second))
		perform(app);
	else if (key == keys.first) {
		t->typed = key;
		app_note(app, false, "%s ...", key_parse(text_of(name)) ? name : "and the second key");
	} else if (leaves(app, key))
		app->stage->quit = true;
	else if (key == 'n')
		perform(app);
	else if (moves(app, key))
		app_key(app, key);
	else
		app_note(app, false, "the tour waits for %s; n does it for you, q leaves", name);
}
