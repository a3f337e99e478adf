/* Keys and requests: moving, sorting, folding; all others go to actions, views and prompts. */
#include "config.h"

#include "ui/frame/frame.h"

#include <stdio.h>
#include <string.h>

/* Shows the inner layers of all layers or, if all are shown, hides them. Returns the number of layers
 * opened. */
static int app_unfold_all(struct app *app)
{
	int closed = 0;
	for (int i = 0; i < app->place_count; i++)
		closed += !app->unfolded[i] && app_can_unfold(app, i);
	for (int i = 0; i < app->place_count; i++)
		app->unfolded[i] = closed > 0 && app_can_unfold(app, i);
	app->layer = closed ? app->layer : app_listed_at(app, app->layer);
	app->unfold_changes++;
	app_refresh(app);
	return closed;
}

/* Stays within one graph: from a layer of a body to the next one of that body. */
static void layer_step_one(struct app *app, int direction)
{
	struct pane *pane = app_pane(app);
	if (app->layer < 0 || app->layer >= app->place_count)
		return;
	const struct place *at = &app->places[app->layer];
	int layer = app->layer + direction, end = at->base + at->plan->layer_count;
	while (layer >= at->base && layer < end && !app->show_folded && app_is_folded(app, layer))
		layer += direction;
	if (layer < at->base || layer >= end)
		return;
	app->layer = layer;
	app->generation++;
	int row = pane->list->row_of_layer ? pane->list->row_of_layer(app, pane->state, app->layer) : -1;
	if (row >= 0)
		pane_select_row(app, pane, row);
}

static void layer_step(struct app *app, int direction)
{
	int n = app->count ? app->count : 1;
	for (int before = -1; n > 0 && app->layer != before; n--) {
		before = app->layer;
		layer_step_one(app, direction);
	}
}

static void sort(struct app *app, int step, bool reverse)
{
	struct pane *p = app_pane(app);
	int count = 0;
	while (p->list->orders && p->list->orders[count])
		count++;
	if (count == 0) {
		app_note(app, false, "this view cannot be sorted");
		return;
	}
	if (p->shown_count == 0) {
		app_note(app, false,
			p->filter[0] ? "nothing to sort: no row matches \"%s\"" : "nothing to sort",
			p->filter);
		return;
	}
	do
		p->order = (p->order + step + count) % count;
	while (step && p->list->offers && !p->list->offers(app, p->state, p->order));
	p->reverse = reverse ? !p->reverse : step ? false : p->reverse;
	pane_reorder(app, p);
	if (step)
		pane_move(app, p, 0);
	pane_tell(app, p);
	app_note(app, false, "sorted by %s%s", p->list->orders[p->order], p->reverse ? ", reversed" : "");
}

static void order_clicked(struct app *app, int order)
{
	struct pane *p = app_pane(app);
	if (p->order == order)
		sort(app, 0, true);
	else if (!p->list->offers || p->list->offers(app, p->state, order))
		sort_by(app, order);
}

/* The layers, those first on which the what-if of a key saves most. */
static void gains_show(struct app *app, const struct key_row *key)
{
	int count, row = keys_what_if((uint32_t)key->argument);
	const struct what_if *table = what_if_table(&count);
	if (row < 0) {
		app_note(app, false, "no what-if has the key %c: 3 lists them", key->argument);
		return;
	}
	if (what_if_is_absent(app, &table[row])) {
		app_note(app, false, "%s is not available: %s", table[row].name, table[row].absent);
		return;
	}
	if (strcmp(table[row].name, "parallel") == 0 &&
		session_scenario(app->session)->parallel != PARALLEL_MEASURED) {
		app_note(app, false,
			"parallel makes no layer faster; %s shows layers that run at the same time",
			key_named("timeline"));
		return;
	}
	app_show(app, views_at(0), -1);
	struct pane *p = app_pane(app);
	struct key_row passed = *key;
	passed.argument = row;
	view_request(app, &passed);
	pane_sync(app, p, app_list_width(app));
	sort_by(app, order_named(p->view, table[row].name));
	app_note(app, false, "layers by the saving of %s; I: losses first", table[row].name);
}

static void folded_toggle(struct app *app)
{
	const struct plan *p = app_plan(app);
	app->show_folded = !app->show_folded;
	app_refresh(app);
	pane_enter(app);
	const char *end = app->folded_count == 1 ? "" : "s";
	if (p)
		app_note(app, false,
			app->show_folded ? "showing %d constant layer%s too" : "%d constant layer%s hidden",
			app->folded_count, end);
}

static void unfold_all(struct app *app)
{
	int opened = app_unfold_all(app);
	bool any = false;
	for (int i = 0; i < app->place_count; i++)
		any |= app_can_unfold(app, i);
	if (opened)
		app_note(app, false, "showing the layers inside %d layer%s", opened, opened == 1 ? "" : "s");
	else
		app_note(app, false, any ? "inner layers hidden" : "no layer has others inside");
}

/* Scrolls so that row `top` is the first one, as far as there are rows. */
static void scroll_to(struct app *app, struct pane *p, int top, int page)
{
	int most = p->shown_count > page ? p->shown_count - page : 0;
	top = top > most ? most : top < 0 ? 0 : top;
	p->top = top;
	pane_move(app, p, p->list->text || p->cursor < top ? top : p->cursor >= top + page ? top + page - 1 :
		p->cursor);
	while (p->top > top && p->cursor > top) { /* its continuation rows have no room */
		p->top = top;
		pane_move(app, p, p->cursor - 1);
	}
}

/* To the row that was counted, else to an end, with all its continuation rows. */
static void go_to(struct app *app, struct pane *p, bool last)
{
	jump_remember(app);
	pane_move(app, p, app->count ? app->count - 1 : last ? p->shown_count : 0);
	if (!app->count)
		pane_step(app, p, last ? p->shown_count : -p->shown_count);
}

/* Returns whether the request moved the cursor. */
static bool request_move(struct app *app, enum request r)
{
	struct pane *p = app_pane(app);
	int page = app->stage->page > 1 ? app->stage->page : 1, half = page > 1 ? page / 2 : 1;
	int shown = p->shown_count - p->top < page ? p->shown_count - p->top : page;
	int n = app->count ? app->count : 1;
	bool text = p->list->text;
	switch (r) {
	case REQUEST_DOWN: pane_step(app, p, n); break;
	case REQUEST_UP: pane_step(app, p, -n); break;
	case REQUEST_PAGE_DOWN: pane_scroll(app, p, n * page); break;
	case REQUEST_PAGE_UP: pane_scroll(app, p, -n * page); break;
	case REQUEST_HALF_DOWN: pane_scroll(app, p, n * half); break;
	case REQUEST_HALF_UP: pane_scroll(app, p, -n * half); break;
	case REQUEST_FIRST:
	case REQUEST_LAST: go_to(app, p, r == REQUEST_LAST); break;
	case REQUEST_TOP: pane_move(app, p, p->top); break;
	case REQUEST_MIDDLE: pane_move(app, p, text ? p->top : p->top + (shown - 1) / 2); break;
	case REQUEST_BOTTOM: pane_move(app, p, text ? p->top : p->top + shown - 1); break;
	case REQUEST_SCROLL_DOWN: scroll_to(app, p, p->top + n, page); break;
	case REQUEST_SCROLL_UP: scroll_to(app, p, p->top - n, page); break;
	case REQUEST_SCROLL_TOP: scroll_to(app, p, p->cursor, page); break;
	case REQUEST_SCROLL_MIDDLE: scroll_to(app, p, p->cursor - page / 2, page); break;
	case REQUEST_SCROLL_BOTTOM: scroll_to(app, p, p->cursor - page + 1, page); break;
	case REQUEST_NEXT_LAYER: layer_step(app, 1); break;
	case REQUEST_PREVIOUS_LAYER: layer_step(app, -1); break;
	default: return false;
	}
	return true;
}

static bool request_find(struct app *app, const struct key_row *key)
{
	switch (key->request) {
	case REQUEST_JUMP: jump_kind(app, key->argument); break;
	case REQUEST_JUMP_ALONG: jump_along(app, key->argument); break;
	case REQUEST_JUMP_BACK: jump_back(app); break;
	case REQUEST_MARK_SET: mark_set(app, key->argument); break;
	case REQUEST_MARK_JUMP: mark_jump(app, key->argument); break;
	case REQUEST_PICK: pick_toggle(app); break;
	case REQUEST_PICK_CLEAR: pick_clear(app); break;
	case REQUEST_SEARCH: search_ask(app); break;
	case REQUEST_FILTER: filter_ask(app); break;
	case REQUEST_FIND_NEXT: find_next(app, 1); break;
	case REQUEST_FIND_PREVIOUS: find_next(app, -1); break;
	case REQUEST_SORT: sort(app, 1, false); break;
	case REQUEST_SORT_BACK: sort(app, -1, false); break;
	case REQUEST_ORDER: order_clicked(app, key->argument); break;
	case REQUEST_REVERSE: sort(app, 0, true); break;
	case REQUEST_GAINS: gains_show(app, key); break;
	default: return false;
	}
	return true;
}

/* What only some views do. */
static void request_open(struct app *app, const struct key_row *key)
{
	struct key_row open = *key;
	if (key->request == REQUEST_UNFOLD) {
		if (view_request(app, key))
			return;
		open.request = REQUEST_OPEN;
	}
	if (key->request == REQUEST_UNFOLD && !key->argument) {
		app_note(app, false, "no layers inside this one");
		return;
	}
	if (view_request(app, &open))
		return;
	if (key->request == REQUEST_FOLD && key->argument)
		view_back(app, false);
	else if (key->request == REQUEST_FOLD)
		app_note(app, false, "nothing to hide here");
	else if (key->request == REQUEST_OWN)
		app_note(app, false, "nothing to do here for %s: %s", key->keys, key->text);
	else
		app_note(app, false, "nothing opens here");
}

static void request(struct app *app, const struct key_row *key)
{
	bool moves = key->request >= REQUEST_DOWN && key->request <= REQUEST_PREVIOUS_LAYER;
	if (moves && app_pane(app)->view->draw && view_request(app, key))
		return;
	if (request_move(app, key->request) || request_find(app, key))
		return;
	switch (key->request) {
	case REQUEST_BACK: view_back(app, false); break;
	case REQUEST_CLOSE: view_back(app, true); break;
	case REQUEST_QUIT: app->stage->quit = true; break;
	case REQUEST_NEXT_VIEW: view_cycle(app, 1); break;
	case REQUEST_PREVIOUS_VIEW: view_cycle(app, -1); break;
	case REQUEST_VIEW: app_show(app, views_at(key->argument), -1); break;
	case REQUEST_MEASURE_MISSING: measure(app, true); break;
	case REQUEST_MEASURE_LAYER: measure(app, false); break;
	case REQUEST_CANCEL: measure_stop(app); break;
	case REQUEST_AGENT: app_agent_key(app); break;
	case REQUEST_AGENT_NEXT: app_agent_choose(app); break;
	case REQUEST_WHAT_IF: app_toggle(app, key->argument); break;
	case REQUEST_BATCH_UP: batch_step(app, 1); break;
	case REQUEST_BATCH_DOWN: batch_step(app, -1); break;
	case REQUEST_DTYPE: dtype_next(app); break;
	case REQUEST_UNDO: what_ifs_step(app, -1); break;
	case REQUEST_REDO: what_ifs_step(app, 1); break;
	case REQUEST_RESET: what_ifs_reset(app); break;
	case REQUEST_DIMS: form_open(app); break;
	case REQUEST_TYPE:
		if (!view_request(app, key))
			assume_ask(app);
		break;
	case REQUEST_COMMAND: prompt_open(app, &prompt_line); break;
	case REQUEST_COPY_NAME: copy_layer(app, false); break;
	case REQUEST_COPY_PROBLEM: copy_layer(app, true); break;
	case REQUEST_FOLDED: folded_toggle(app); break;
	case REQUEST_UNFOLD_ALL: unfold_all(app); break;
	case REQUEST_REDRAW: app->frame->redraw = true; break;
	default: request_open(app, key);
	}
}

void request_run(struct app *app, const struct key_row *row, int count)
{
	pane_sync(app, app_pane(app), app_list_width(app));
	app->note[0] = '\0';
	app->count = row->counts ? count : 0;
	request(app, row);
	app->count = 0;
}

/* "zq" of two keys, "^X" of one. */
static const char *pair_name(struct app *app, struct key_pair keys)
{
	char one[16], two[16];
	return arena_printf(&app->scratch, "%s%s", key_text(one, keys.first), key_text(two, keys.second));
}

/* The same letter in the other case, if it does something. */
static const struct key_row *other_case(const struct view *view, uint32_t key)
{
	bool letter = (key >= 'a' && key <= 'z') || (key >= 'A' && key <= 'Z');
	return letter ? keys_find(view, (struct key_pair){ key ^ 32, 0 }) : NULL;
}

void request_unknown(struct app *app, struct key_pair keys)
{
	const struct view *view = app_pane(app)->view;
	const char *name = pair_name(app, keys);
	const struct key_row *other = keys.second ? NULL : other_case(view, keys.first);
	struct str pairs = { 0 };
	app->note[0] = '\0';
	keys_list_pairs(view, keys.first, &pairs);
	if (pairs.n)
		app_note(app, false, "%s%s%s", keys.second ? name : "", keys.second ? " does nothing: " : "",
			pairs.p);
	else
		app_note(app, false, "%s does nothing here: %s shows the keys%s%s%s%s",
			*name ? name : "this key", key_named("help"), other ? "; " : "",
			other ? pair_name(app, (struct key_pair){ keys.first ^ 32, 0 }) : "",
			other ? ": " : "", other ? other->text : "");
	str_free(&pairs);
}

bool request_is_direct(struct app *app, uint32_t key)
{
	const struct key_row *row = keys_find(app_pane(app)->view, (struct key_pair){ key, 0 });
	if (app_is_too_small(app)) { /* the effect of any other key would be invisible */
		app->stage->quit |= row && (row->request == REQUEST_CLOSE || row->request == REQUEST_QUIT);
		return true;
	}
	if (!app->stage->prompt.use)
		return false;
	pane_sync(app, app_pane(app), app_list_width(app));
	app->note[0] = '\0';
	return prompt_key(app, key);
}

void app_key(struct app *app, uint32_t key)
{
	struct key_pair keys = { key, KEY_CODE_NONE };
	if (request_is_direct(app, key))
		return;
	const struct key_row *row = keys_find(app_pane(app)->view, keys);
	if (row)
		request_run(app, row, 0);
	else
		request_unknown(app, keys);
}
