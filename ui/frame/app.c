#include "config.h"

#include "ui/model/agent.h"
#include "ui/frame/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct view *const views[] = {
	&view_layers, &view_detail, &view_what_if, &view_problems, &view_devices, &view_doctor, &view_advice,
	&view_help,
};

#define VIEW_COUNT ((int)(sizeof(views) / sizeof(*views)))
_Static_assert(VIEW_COUNT <= APP_VIEWS_MAX, "app has room for every view");

const struct view *app_view(int number)
{
	return number >= 0 && number < VIEW_COUNT ? views[number] : NULL;
}

/* The view of that name, or the only one whose name begins like it: "what", "details". */
const struct view *app_find_view(const char *name)
{
	const struct view *found = NULL;
	int count = 0;
	for (int i = 0; i < VIEW_COUNT; i++) {
		size_t own = strlen(views[i]->name), n = strlen(name);
		if (n == own && memcmp(views[i]->name, name, n) == 0)
			return views[i];
		if (n && strncmp(views[i]->name, name, n < own ? n : own) == 0) {
			found = views[i];
			count++;
		}
	}
	return count == 1 ? found : NULL;
}

void app_view_names(struct str *out)
{
	for (int i = 0; i < VIEW_COUNT; i++)
		str_addf(out, "%s%s", i ? ", " : "", views[i]->name);
}

struct pane *app_pane(struct app *app)
{
	return &app->panes[app->stack[app->depth]];
}

void app_note(struct app *app, bool bad, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(app->note, sizeof(app->note), fmt, ap);
	va_end(ap);
	app->note_bad = bad;
}

/* ---- views ---- */

static int view_number(const struct view *v)
{
	for (int i = 0; i < VIEW_COUNT; i++)
		if (views[i] == v)
			return i;
	return 0;
}

/* Reads the pane's rows and moves to the row of the selected layer. */
static void pane_enter(struct app *app)
{
	struct pane *p = app_pane(app);
	int layer = app->layer;
	pane_open(app, p);
	pane_sync(app, p, app_list_width(app));
	int row = p->view->row_of_layer ? p->view->row_of_layer(app, p->state, layer)
		: p->view->row_at_entry ? p->view->row_at_entry(app, p->state) : -1;
	if (row >= 0)
		pane_select_row(app, p, row);
	if (p->view->row_of_layer && pane_row(p) != row)
		pane_tell(app, p); /* not listed: take the layer of the highlighted row */
}

/* Opens a view. Each is on the stack at most once: one opened earlier moves to the top; layers is the bottom.
 * */
void app_show(struct app *app, const struct view *view, int layer)
{
	int number = view_number(view), kept = 1;
	app->trail_count = 0;
	if (layer >= 0)
		app->layer = layer;
	if (number == 0)
		app->depth = 0;
	else {
		for (int i = 1; i <= app->depth; i++)
			if (app->stack[i] != number)
				app->stack[kept++] = app->stack[i];
		app->stack[kept] = number;
		app->depth = kept;
	}
	pane_enter(app);
}

void app_follow(struct app *app, int layer)
{
	int most = (int)(sizeof(app->trail) / sizeof(*app->trail));
	if (app->trail_count == most)
		memmove(app->trail, app->trail + 1, (size_t)--app->trail_count * sizeof(*app->trail));
	int count = app->trail_count;
	app->trail[count].layer = app->layer;
	app->trail[count].cursor = app_pane(app)->cursor;
	app_show(app, &view_detail, layer);
	app->trail_count = count + 1;
}

/* Returns to the layer from which a line of the details was followed. */
static void trail_back(struct app *app)
{
	int at = --app->trail_count;
	if (app->trail[at].layer >= app->place_count)
		return;
	app->layer = app->trail[at].layer;
	pane_enter(app);
	pane_move(app, app_pane(app), app->trail[at].cursor);
}

/* Tab: the next view replaces this one on the stack, so Esc still returns to the layers. */
static void view_cycle(struct app *app, int direction)
{
	int number = (app->stack[app->depth] + direction + VIEW_COUNT) % VIEW_COUNT;
	if (app->depth > 0)
		app->depth--;
	app_show(app, views[number], -1);
}

static void view_back(struct app *app, bool quit_at_top)
{
	struct pane *p = app_pane(app);
	if (!quit_at_top && p->filter[0]) {
		p->filter[0] = '\0';
		pane_reorder(app, p);
	} else if (!quit_at_top && p->view == &view_detail && app->trail_count > 0) {
		trail_back(app);
	} else if (app->depth > 0) {
		app->trail_count = 0;
		app->depth--;
		pane_enter(app);
	} else if (quit_at_top)
		app->quit = true;
	else
		app->search[0] = '\0';
}

/* ---- requests ---- */

void app_toggle(struct app *app, int row)
{
	int count;
	const struct what_if *table = what_if_table(&count);
	if (row < 0 || row >= count)
		return;
	struct session *s = app->session;
	int next = table[row].get(&s->scenario) + 1;
	bool on = next < what_if_choices(&table[row]), absent = app_is_inapplicable(app, &table[row]);
	for (int i = 0; i < s->effect_count; i++)
		absent |= s->effects[i].row == &table[row] && !s->effects[i].available;
	if (absent && on) {
		app_note(app, false, "%s is not available: %s", table[row].name, table[row].absent);
		return;
	}
	table[row].set(&s->scenario, on ? next : 0);
	s->stale = true;
	app_refresh(app);
	if (absent)
		app_note(app, false, "%s is off; it changes nothing: %s", table[row].name, table[row].absent);
}

static void scenario_select(struct app *app, int64_t batch, enum dtype dtype)
{
	struct error err = ERROR_NONE;
	if (session_select(app->session, batch, dtype, &err))
		app_note(app, true, "%s", err.text);
	app_refresh(app);
}

static void batch_step(struct app *app, int direction)
{
	const struct session_plan *now = app->session->current;
	const struct config *c = app->session->config;
	if (!now)
		return;
	int64_t present = now->batch > 0 ? now->batch : 1, next = direction > 0 ? present * 2 : present / 2;
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
		scenario_select(app, next, now->dtype);
}

static void dtype_next(struct app *app)
{
	static const enum dtype usual[] = { DTYPE_F32, DTYPE_BF16 };
	const struct session_plan *now = app->session->current;
	const struct config *c = app->session->config;
	if (!now)
		return;
	const enum dtype *list = c && c->dtype_count > 1 ? c->dtype : usual;
	int count = c && c->dtype_count > 1 ? c->dtype_count : 2, at = 0;
	while (at < count && list[at] != now->dtype)
		at++;
	scenario_select(app, now->batch, list[(at + 1) % count]);
}

static void measure_missing(struct app *app)
{
	struct session *s = app->session;
	struct error err = ERROR_NONE;
	int added = app_sweep_points(app) > 1 ? session_measure_sweep(s, &err) : session_measure_missing(s);
	app_refresh(app);
	if (added < 0)
		app_note(app, true, "%s", err.text);
	if (added)
		return;
	int waiting = queue_status(s->queue).pending + queue_status(s->queue).running;
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
	if (app->layer < 0 || measure_inside(app, app->layer) ||
		(!app_is_body(app, app->layer) && session_measure_layer(s, app->layer)))
		return;
	const char *problem = app_problem(app, app->layer);
	enum job_state state = problem ? queue_state(s->queue, problem) : JOB_NONE;
	if (state == JOB_RUNNING)
		app_note(app, false, "this layer is being measured");
	else if (state == JOB_PENDING)
		app_note(app, false, "already queued: %s", app_problem_state(app, problem, &style));
	else
		app_note(app, false, "nothing to measure for this layer: %s",
			app_cost(app, app->layer) && app_cost(app, app->layer)->origin == ORIGIN_FREE
				? "no kernel runs for it"
				: app_missing_why(app, app->layer));
}

static void measure(struct app *app, bool all)
{
	if (app->session->described) {
		app_note(app, true, "%s is only described: nothing can be measured",
			app_clean(app, text_of(app->session->described->id)));
		return;
	}
	if (!app->session->queue) {
		app_note(app, true, "no runner answers: nothing can be measured");
		return;
	}
	if (app_plan(app) && app_plan(app)->unbound_count) {
		prompt_ask_unbound(app);
		app_note(app, false, "set the model's dimensions first");
		return;
	}
	if (!all && app->layer < 0) {
		app_note(app, false, "no layer has this problem: b measures everything missing");
		return;
	}
	if (app_agent_is_busy(app)) {
		app_note(app, false, "the model is running: measure when it has ended, or e cancels it");
		return;
	}
	app->standing[0] = '\0';
	app->stopping = false;
	if (all)
		measure_missing(app);
	else
		measure_layer(app);
	app->generation++;
}

static void measure_stop(struct app *app)
{
	struct queue *q = app->session->queue;
	bool measuring = q && !queue_status(q).idle;
	if (app_device_leave(app))
		return;
	if (app_agent_cancel(app) && !measuring) {
		app_note(app, false, "the run of the model is cancelled");
		return;
	}
	if (q)
		queue_cancel(q);
	app->stopping = measuring;
	app_note(app, false,
		measuring ? "measuring stopped; finished problems are kept" : "nothing is being measured");
}

/* Stays within one graph: from a layer of a body to the next one of that body. */
static void layer_step(struct app *app, int direction)
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
	int row = pane->view->row_of_layer ? pane->view->row_of_layer(app, pane->state, app->layer) : -1;
	if (row >= 0)
		pane_select_row(app, pane, row);
}

static void find(struct app *app, int direction)
{
	struct pane *p = app_pane(app);
	int at = pane_find(app, p, p->cursor + direction, direction, app->search);
	if (at >= 0)
		pane_find_show(app, p, at);
	else
		app_note(app, app->search[0] != '\0',
			app->search[0] ? "no match for \"%s\"" : "no search text: / starts a search",
			app->search);
}

static void sort(struct app *app, int step, bool reverse)
{
	struct pane *p = app_pane(app);
	int count = 0;
	while (p->view->orders && p->view->orders[count])
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
	while (step && p->view->offers && !p->view->offers(app, p->order));
	p->reverse = reverse ? !p->reverse : step ? false : p->reverse;
	pane_reorder(app, p);
	if (step)
		pane_move(app, p, 0);
	pane_tell(app, p);
	app_note(app, false, "sorted by %s%s", p->view->orders[p->order], p->reverse ? ", reversed" : "");
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

/* Returns whether the request moved the cursor. */
static bool request_move(struct app *app, enum request r)
{
	struct pane *p = app_pane(app);
	int page = app->page > 1 ? app->page : 1, half = page > 1 ? page / 2 : 1;
	int shown = p->shown_count - p->top < page ? p->shown_count - p->top : page;
	bool text = p->view->text;
	switch (r) {
	case REQUEST_DOWN: pane_move(app, p, (text ? p->top : p->cursor) + 1); break;
	case REQUEST_UP: pane_move(app, p, (text ? p->top : p->cursor) - 1); break;
	case REQUEST_PAGE_DOWN: pane_scroll(app, p, page); break;
	case REQUEST_PAGE_UP: pane_scroll(app, p, -page); break;
	case REQUEST_HALF_DOWN: pane_scroll(app, p, half); break;
	case REQUEST_HALF_UP: pane_scroll(app, p, -half); break;
	case REQUEST_FIRST: pane_move(app, p, 0); break;
	case REQUEST_LAST: pane_move(app, p, text ? p->shown_count : p->shown_count - 1); break;
	case REQUEST_TOP: pane_move(app, p, p->top); break;
	case REQUEST_MIDDLE: pane_move(app, p, text ? p->top : p->top + (shown - 1) / 2); break;
	case REQUEST_BOTTOM: pane_move(app, p, text ? p->top : p->top + shown - 1); break;
	case REQUEST_NEXT_LAYER: layer_step(app, 1); break;
	case REQUEST_PREVIOUS_LAYER: layer_step(app, -1); break;
	default: return false;
	}
	return true;
}

static bool request_find(struct app *app, enum request r)
{
	switch (r) {
	case REQUEST_SEARCH: prompt_open(app, PROMPT_SEARCH); break;
	case REQUEST_FILTER: prompt_open(app, PROMPT_FILTER); break;
	case REQUEST_FIND_NEXT: find(app, 1); break;
	case REQUEST_FIND_PREVIOUS: find(app, -1); break;
	case REQUEST_SORT: sort(app, 1, false); break;
	case REQUEST_SORT_BACK: sort(app, -1, false); break;
	case REQUEST_REVERSE: sort(app, 0, true); break;
	default: return false;
	}
	return true;
}

static bool view_request(struct app *app, const struct key_row *key)
{
	struct pane *p = app_pane(app);
	return p->view->request && p->view->request(app, p->state, key, pane_row(p));
}

static void request(struct app *app, const struct key_row *key)
{
	struct key_row open = *key;
	if (request_move(app, key->request) || request_find(app, key->request))
		return;
	switch (key->request) {
	case REQUEST_BACK: view_back(app, false); break;
	case REQUEST_CLOSE: view_back(app, true); break;
	case REQUEST_QUIT: app->quit = true; break;
	case REQUEST_NEXT_VIEW: view_cycle(app, 1); break;
	case REQUEST_PREVIOUS_VIEW: view_cycle(app, -1); break;
	case REQUEST_VIEW: app_show(app, views[key->argument], -1); break;
	case REQUEST_HELP: app_show(app, &view_help, -1); break;
	case REQUEST_MEASURE_MISSING: measure(app, true); break;
	case REQUEST_MEASURE_LAYER: measure(app, false); break;
	case REQUEST_CANCEL: measure_stop(app); break;
	case REQUEST_AGENT: app_agent_key(app); break;
	case REQUEST_AGENT_NEXT: app_agent_choose(app); break;
	case REQUEST_WHAT_IF: app_toggle(app, key->argument); break;
	case REQUEST_BATCH_UP: batch_step(app, 1); break;
	case REQUEST_BATCH_DOWN: batch_step(app, -1); break;
	case REQUEST_DTYPE: dtype_next(app); break;
	case REQUEST_DIMS: prompt_open(app, PROMPT_DIM); break;
	case REQUEST_FOLDED: folded_toggle(app); break;
	case REQUEST_UNFOLD_ALL: unfold_all(app); break;
	case REQUEST_REDRAW: app->redraw = true; break;
	case REQUEST_FOLD:
		if (!view_request(app, key))
			view_back(app, false);
		break;
	case REQUEST_UNFOLD:
		open.request = REQUEST_OPEN;
		if (view_request(app, key))
			break;
		/* fall through */
	default:
		if (!view_request(app, &open))
			app_note(app, false, "nothing opens here");
	}
}

void app_key(struct app *app, uint32_t key)
{
	const struct key_row *row = keys_find(key);
	if (app_is_too_small(app)) { /* the effect of any other key would be invisible */
		app->quit |= row && (row->request == REQUEST_CLOSE || row->request == REQUEST_QUIT);
		return;
	}
	pane_sync(app, app_pane(app), app_list_width(app));
	app->note[0] = '\0';
	if (app->prompt.kind) {
		prompt_key(app, key);
		return;
	}
	char name[16];
	if (row)
		request(app, row);
	else
		app_note(app, false, "%s does nothing here: ? shows the keys",
			keys_name(name, key)[0] ? name : "this key");
}

/* ---- refresh, init, free ---- */

static void lanes_renew(struct app *app)
{
	const struct plan *p = app_plan(app);
	lanes_free(&app->lanes);
	app->lanes_plan = p;
	app->lanes_layers = p ? p->layers : NULL;
	app->lanes_folded = app->show_folded;
	if (!p)
		return;
	int edge_count = 0, rows = 0;
	int *row = base_calloc((size_t)p->layer_count + 1, sizeof(int)); /* bodies have no lanes */
	for (int i = 0; i < p->layer_count; i++) {
		edge_count += p->layers[i].pred_count;
		row[i] = app->row_of[i] >= 0 ? rows++ : -1;
	}
	int *first = base_calloc((size_t)rows + 1, sizeof(int));
	int *edges = base_calloc((size_t)edge_count + 1, sizeof(int));
	for (int i = 0, e = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		for (int k = 0; row[i] >= 0 && k < l->pred_count; k++)
			if (row[l->preds[k]] >= 0)
				edges[e++] = row[l->preds[k]];
		if (row[i] >= 0)
			first[row[i] + 1] = e;
	}
	lanes_make(&app->lanes, rows, first, edges);
	free(row);
	free(first);
	free(edges);
}

bool app_refresh(struct app *app)
{
	const struct session *s = app->session;
	bool renewed = session_refresh(app->session), other_plan = app->lanes_plan != app_plan(app);
	bool relisted = other_plan || app->lanes_folded != app->show_folded ||
		app->seen_unfolded != app->unfold_changes;
	if (!renewed && !relisted)
		return false;
	app->generation++;
	/* a new plan may have the address of a freed one: compare the layers too */
	other_plan |= app_plan(app) && app->lanes_layers != app_plan(app)->layers;
	relisted |= other_plan;
	if (other_plan)
		places_renew(app);
	if (relisted) {
		listed_renew(app);
		lanes_renew(app);
	}
	app_counts_renew(app);
	app->most_ns = 0;
	for (int i = 0; s->analysis && i < s->analysis->layer_count; i++)
		if (s->analysis->layers[i].ns > app->most_ns)
			app->most_ns = s->analysis->layers[i].ns;
	if (app->layer >= app->place_count)
		app->layer = app_plan(app) ? app_plan(app)->layer_count - 1 : -1;
	if (!relisted) /* -1 stays: the selected row may have no layer */
		return true;
	if (app->layer < 0 && app->listed_count)
		app->layer = app->listed[0];
	if (app_pane(app)->is_open && !app_pane(app)->view->text && app_pane(app)->view != &view_detail)
		pane_enter(app);
	return true;
}

void app_init(struct app *app, struct session *s, int columns, int rows, bool ascii)
{
	*app = (struct app){
		.session = s, .generation = 1, .page = 1, .layer = -1
	};
	app->canvas.ascii = ascii;
	canvas_resize(&app->canvas, columns, rows);
	for (int i = 0; i < VIEW_COUNT; i++)
		app->panes[i].view = views[i];
	app_refresh(app);
	pane_open(app, &app->panes[0]);
	pane_sync(app, &app->panes[0], app_list_width(app));
}

void app_free(struct app *app)
{
	app_agent_close(app);
	for (int i = 0; i < VIEW_COUNT; i++)
		pane_close(app, &app->panes[i]);
	prompt_close(app);
	lanes_free(&app->lanes);
	free(app->places);
	free(app->unfolded);
	free(app->first_of);
	free(app->listed);
	free(app->lane_of);
	free(app->row_of);
	free(app->number_of);
	free(app->name_detail);
	canvas_free(&app->canvas);
	arena_free(&app->scratch);
}
