/* Jumps: to the next or previous layer of a kind, along the graph, to marks, and back. */
#include "config.h"

#include "ui/frame/frame.h"

#include <string.h>

void jump_remember(struct app *app)
{
	struct jumps *j = &app->stage->jumps;
	if (app->layer < 0 || (j->count && j->layers[j->count - 1] == app->layer))
		return;
	if (j->count == JUMPS_MOST)
		memmove(j->layers, j->layers + 1, (size_t)--j->count * sizeof(*j->layers));
	j->layers[j->count++] = app->layer;
}

/* Selects a layer, in the same view. */
static void layer_select(struct app *app, int layer)
{
	struct pane *p = app_pane(app);
	app->layer = layer;
	app->generation++;
	int row = p->list->row_of_layer ? p->list->row_of_layer(app, p->state, layer) : -1;
	if (row >= 0) {
		pane_reveal(app, p, row);
		pane_select_row(app, p, row);
	}
}

static void jump_to(struct app *app, int layer)
{
	if (layer == app->layer)
		return;
	jump_remember(app);
	layer_select(app, layer);
}

void jump_back(struct app *app)
{
	struct jumps *j = &app->stage->jumps;
	int layer = -1;
	for (int n = app->count ? app->count : 1; n > 0 && j->count > 0; n--)
		layer = j->layers[--j->count];
	if (layer < 0 || layer >= app->place_count)
		app_note(app, false, "no earlier position");
	else
		layer_select(app, layer);
}

/* ---- to the next of a kind */

/* Says that the last one is reached, and why there may be none. */
static void no_further(struct app *app, int kind)
{
	const struct analysis *a = session_analysis(app->session);
	const char *filter = app_pane(app)->filter[0] ? " among the rows that the filter shows" : "";
	if (kind == KIND_CRITICAL && a && !(scenario_has_path(&a->scenario) && a->complete))
		app_note(app, false, "no layer is critical: that needs %s",
			scenario_has_path(&a->scenario) ? "a cost for every layer" : "the what-if parallel");
	else
		app_note(app, false, "no further %s%s", term_kind_text(kind), filter);
}

/* In a view of rows about layers or problems: through its rows, in the order shown. */
static bool kind_in_rows(struct app *app, int kind, int direction, int n)
{
	struct pane *p = app_pane(app);
	int found = -1, at = pane_place(p, p->cursor) + direction;
	for (; n > 0 && at >= 0 && at < p->all_count; at += direction) {
		struct subject of = p->list->subject(app, p->state, p->all[at]);
		if (!term_kind_holds(app, kind, &of))
			continue;
		found = at;
		n--;
	}
	if (found >= 0) {
		jump_remember(app);
		pane_find_show(app, p, found, true);
	}
	return n == 0;
}

/* Elsewhere: through the listed layers, in execution order. */
static bool kind_in_layers(struct app *app, int kind, int direction, int n)
{
	int listed = app->layer >= 0 ? app_listed_at(app, app->layer) : -1, found = -1;
	int at = listed >= 0 ? app->row_of[listed] : -1;
	if (at < 0)
		return false;
	for (at += direction; n > 0 && at >= 0 && at < app->listed_count; at += direction) {
		struct subject of = subject_of_layer(app, app->listed[at]);
		if (!term_kind_holds(app, kind, &of))
			continue;
		found = app->listed[at];
		n--;
	}
	if (found >= 0)
		jump_to(app, found);
	return n == 0;
}

void jump_kind(struct app *app, int argument)
{
	int direction = argument < 0 ? -1 : 1, kind = argument * direction - 1;
	int n = app->count ? app->count : 1;
	bool all = app_pane(app)->list->subject ? kind_in_rows(app, kind, direction, n)
						: kind_in_layers(app, kind, direction, n);
	if (!all)
		no_further(app, kind);
}

/* ---- along the graph */

/* The layer that produces the first input which a layer computes, or -1. */
static int producer_of(const struct app *app, int layer)
{
	const struct plan_layer *l = app_layer(app, layer);
	int found = -1;
	for (int i = 0; i < l->input_count && found < 0; i++) {
		found = l->inputs[i] >= 0 ? app_producer(app, layer, l->inputs[i]) : -1;
		if (found >= 0 && app_is_folded(app, found) && !app->show_folded)
			found = -1;
	}
	return found;
}

/* The first layer that reads what a layer produces, or -1. */
static int reader_of(const struct app *app, int layer)
{
	const struct plan_layer *l = app_layer(app, layer);
	for (int i = 0; i < l->succ_count; i++) {
		int reader = app->places[layer].base + l->succs[i];
		if (app->show_folded || !app_is_folded(app, reader))
			return reader;
	}
	return -1;
}

void jump_along(struct app *app, int direction)
{
	int layer = app->layer, next = layer;
	if (layer < 0)
		return;
	for (int n = app->count ? app->count : 1; n > 0 && next >= 0; n--) {
		next = direction < 0 ? producer_of(app, layer) : reader_of(app, layer);
		layer = next >= 0 ? next : layer;
	}
	if (next < 0)
		app_note(app, false, direction < 0 ? "no further layer: its inputs are the model's"
						   : "no further layer reads its output");
	jump_to(app, layer);
}

/* ---- marks */

void mark_set(struct app *app, int letter)
{
	if (letter < 'a' || letter > 'z') {
		app_note(app, false, "marks are the letters a to z");
		return;
	}
	if (app->layer < 0 || letter < 'a' || letter > 'z')
		return;
	app->stage->marks[letter - 'a'] = app->layer + 1;
	app_note(app, false, "mark %c: %s%c comes back to %s", letter, key_named("to-mark"), letter,
		app_name(app, app->layer));
}

void mark_jump(struct app *app, int letter)
{
	int layer = letter >= 'a' && letter <= 'z' ? app->stage->marks[letter - 'a'] - 1 : -1;
	if (layer < 0 || layer >= app->place_count)
		app_note(app, false, "there is no mark %c: %s%c sets it", letter, key_named("mark"), letter);
	else
		jump_to(app, layer);
}

/* A closed scope stands for all its layers. */
static void pick_selected(struct app *app)
{
	struct pane *p = app_pane(app);
	bool folds = p->list->shown_for && !p->filter[0], picked = !app->picked[app->layer];
	int scope = folds ? scope_shown_at(app, app->layer) : -1;
	app_pick_layer(app, app->layer, picked);
	for (int row = 0; scope >= 0 && row < app->listed_count; row++)
		if (scope_closed_around(app, app->listed[row]) == scope)
			app_pick_layer(app, app->listed[row], picked);
}

/* To the next row, in a chart as `down` goes. Returns true if another layer is selected then. */
static bool pick_next(struct app *app)
{
	static const struct key_row down = { .request = REQUEST_DOWN };
	struct pane *p = app_pane(app);
	int before = app->layer, count = app->count;
	if (p->view->draw) {
		app->count = 0;
		view_request(app, &down);
		app->count = count;
	} else if (p->list->subject && p->cursor + 1 < p->shown_count) {
		pane_move(app, p, p->cursor + 1);
	}
	return app->layer != before;
}

void pick_toggle(struct app *app)
{
	if (app->layer < 0) {
		app_note(app, false, "no layer is selected");
		return;
	}
	bool more = true;
	for (int n = app->count ? app->count : 1; n > 0 && more; n--) {
		if (app->layer >= 0) /* a problem may have no layer */
			pick_selected(app);
		more = pick_next(app);
	}
	app_note(app, false, "%d layer%s marked: %s measures only %s", app->picked_count,
		app->picked_count == 1 ? " is" : "s are", key_named("measure"),
		app->picked_count == 1 ? "it" : "those");
}

void pick_clear(struct app *app)
{
	int count = app->picked_count;
	for (int i = 0; i < app->place_count; i++)
		app_pick_layer(app, i, false);
	app_note(app, false, "%d mark%s removed", count, count == 1 ? "" : "s");
}
