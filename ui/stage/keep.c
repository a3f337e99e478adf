/* What comes back when a model is opened again: view, selected layer, what-ifs, sort, filter, columns, what
 * is folded, marks of layers and devices (session/recent.h). The state is a JSON object; it is untrusted:
 * what does not fit is left out. */
#include "config.h"

#include "base/log.h"
#include "session/recent.h"
#include "ui/model/beside.h"
#include "ui/stage/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MOST 1000 /* layers or scopes in a list */

/* All what-ifs with their words, but not `assume`: assumed costs are not kept. */
static char *scenario_words(const struct scenario *s)
{
	int count;
	const struct what_if *table = what_if_table(&count);
	struct str out = { 0 };
	for (int i = 0; i < count; i++) {
		char word[WHAT_IF_WORD_SIZE];
		if (strcmp(table[i].name, "assume") != 0)
			str_addf(&out, "%s%s=%s", out.n ? "," : "", table[i].name,
				what_if_word(&table[i], s, word, sizeof(word)));
	}
	return out.p;
}

static json_t *panes_of(const struct app *app)
{
	json_t *out = json_object();
	for (int i = 0; i < views_count(); i++) {
		const struct pane *p = &app->stage->panes[i];
		json_t *own = p->is_open && p->view->keep ? p->view->keep(app, p->state) : NULL;
		if (!p->order && !p->reverse && !p->filter[0] && !own)
			continue;
		json_object_set_new(out, p->view->name, json_pack("{s:s, s:b, s:o, s:o*}", "sort",
			p->order ? p->list->orders[p->order] : "", "reverse", p->reverse, "filter",
			json_text(text_of(p->filter)), "own", own));
	}
	return out;
}

/* The layers that are set in an array of all places. */
static json_t *layers_of(const struct app *app, const bool *set)
{
	json_t *out = json_array();
	for (int i = 0; i < app->place_count && json_array_size(out) < LIST_MOST; i++)
		if (set[i])
			json_array_append_new(out, json_integer(i));
	return out;
}

/* Paths of the closed scopes; true: all. */
static json_t *closed_of(const struct app *app)
{
	const struct scopes *s = &app->scopes;
	if (s->count && s->closed == s->count)
		return json_true();
	json_t *out = json_array();
	for (int i = 0; i < s->count && json_array_size(out) < LIST_MOST; i++)
		if (s->list[i].closed)
			json_array_append_new(out, json_text(text_of(s->list[i].path)));
	return out;
}

/* {"a": 7}: the layer of each mark. */
static json_t *marks_of(const struct stage *s)
{
	json_t *out = json_object();
	for (int i = 0; i < 26; i++)
		if (s->marks[i])
			json_object_set_new(out, (char[]){ (char)('a' + i), 0 },
				json_integer(s->marks[i] - 1));
	return out;
}

static json_t *devices_of(const struct app *app)
{
	json_t *out = json_array();
	for (int i = 0; i < app->beside.count; i++) {
		const struct session_device *d = &app->beside.list[i];
		json_array_append_new(out, json_pack("{s:i, s:o, s:o, s:o}", "kind", (int)d->kind, "key",
			json_text(text_of(d->key)), "model", json_text(text_of(d->model)), "stack",
			json_text(text_of(d->stack))));
	}
	return out;
}

static const char *view_of(const struct stage *s)
{
	int at = s->depth;
	while (at > 0 && s->panes[s->stack[at]].view->passing)
		at--;
	return s->panes[s->stack[at]].view->name;
}

json_t *keep_state(const struct app *app)
{
	const struct plan_layer *l = app_layer(app, app->layer);
	json_t *out = json_pack("{s:i, s:s, s:b, s:i, s:o}", "version", 1, "view",
		view_of(app->stage), "constants", app->show_folded, "places",
		app->place_count, "views", panes_of(app));
	char *words = scenario_words(session_scenario(app->session));
	json_object_set_new(out, "what_if", json_string(words));
	json_object_set_new(out, "matrix_chosen", json_boolean(session_matrix_chosen(app->session)));
	free(words);
	if (l) {
		json_object_set_new(out, "layer", json_integer(app->layer));
		json_object_set_new(out, "name", json_text(l->name));
	}
	json_object_set_new(out, "unfolded", layers_of(app, app->unfolded));
	json_object_set_new(out, "picked", layers_of(app, app->picked));
	json_object_set_new(out, "closed", closed_of(app));
	json_object_set_new(out, "marks", marks_of(app->stage));
	json_object_set_new(out, "devices", devices_of(app));
	return out;
}

/* The layer by number, if it has that name, else by name in the model's own graph; -1: none. */
static int layer_of(struct app *app, const json_t *state)
{
	const char *name = json_string_at(state, "name", "");
	int64_t at = json_int_at(state, "layer", -1);
	if (at >= 0 && at < app->place_count &&
		strcmp(app_clean(app, app_layer(app, (int)at)->name), name) == 0)
		return (int)at;
	const struct plan *p = app_plan(app);
	for (int i = 0; p && *name && i < p->layer_count; i++)
		if (strcmp(app_clean(app, p->layers[i].name), name) == 0)
			return i;
	return -1;
}

static void pane_restore(struct app *app, struct pane *p, const json_t *kept)
{
	const char *sort = json_string_at(kept, "sort", ""), *filter = json_string_at(kept, "filter", "");
	const json_t *own = json_object_get(kept, "own");
	pane_open(app, p);
	if (own && p->view->restore)
		p->view->restore(app, p->state, own);
	for (int i = 0; p->list->orders && p->list->orders[i]; i++)
		if (*sort && strcmp(p->list->orders[i], sort) == 0 &&
			(!p->list->offers || p->list->offers(app, p->state, i)))
			p->order = i;
	p->reverse = p->list->orders && json_is_true(json_object_get(kept, "reverse"));
	if (p->list->row_text && strlen(filter) < sizeof(p->filter))
		snprintf(p->filter, sizeof(p->filter), "%s", filter);
	p->seen_width = -1; /* order and filter are applied with the next rows */
}

/* The next layer of a list: its index, or -1 if `number` is not a layer. */
static int layer_at(const struct app *app, const json_t *number)
{
	int64_t at = json_is_integer(number) ? json_integer_value(number) : -1;
	return at >= 0 && at < app->place_count ? (int)at : -1;
}

/* What is numbered by layers: only if the model has as many. */
static void layers_restore(struct app *app, const json_t *state)
{
	const json_t *open = json_object_get(state, "unfolded"), *picked = json_object_get(state, "picked"),
		     *number;
	size_t i;
	json_array_foreach((json_t *)open, i, number) {
		int layer = layer_at(app, number);
		if (layer >= 0 && app_can_unfold(app, layer))
			app->unfolded[layer] = true;
	}
	json_array_foreach((json_t *)picked, i, number)
		if (layer_at(app, number) >= 0)
			app_pick_layer(app, layer_at(app, number), true);
	for (int k = 0; k < 26; k++)
		app->stage->marks[k] = 1 + layer_at(app,
			json_object_get(json_object_get(state, "marks"), (char[]){ (char)('a' + k), 0 }));
}

static void scopes_restore(struct app *app, const json_t *closed)
{
	json_t *paths = json_object(), *path;
	size_t i;
	json_array_foreach((json_t *)closed, i, path)
		if (json_is_string(path))
			json_object_set_new(paths, json_string_value(path), json_true());
	for (int k = 0; k < app->scopes.count && closed; k++)
		scope_set(app, k,
			json_is_true(closed) || json_object_get(paths, app->scopes.list[k].path));
	json_decref(paths);
}

static bool is_text(struct app *app, const json_t *kept, const char *member, const char *text)
{
	return strcmp(json_string_at(kept, member, ""), app_clean(app, text_of(text))) == 0;
}

/* A recorded device is known by its model and stack: its number may be another one's by now. */
static bool is_device(struct app *app, const json_t *kept, const struct session_device *d)
{
	if (json_int_at(kept, "kind", -1) != (int64_t)d->kind)
		return false;
	return d->kind == SESSION_RECORDED ?
		is_text(app, kept, "model", d->model) && is_text(app, kept, "stack", d->stack) :
		is_text(app, kept, "key", d->key);
}

static void devices_restore(struct app *app, const json_t *devices)
{
	struct arena a = { 0 };
	struct session_device *list;
	struct error err = ERROR_NONE;
	const json_t *kept;
	size_t k;
	if (!json_is_array(devices))
		return;
	app_beside_clear(app);
	int count = json_array_size(devices) ? session_devices(app->session, &a, &list, &err) : 0;
	json_array_foreach((json_t *)devices, k, kept)
		for (int i = 0; i < count; i++)
			if (is_device(app, kept, &list[i])) {
				app_beside_add(app, &list[i]);
				break;
			}
	arena_free(&a);
}

static void scenario_restore(struct app *app, const json_t *state)
{
	struct error err = ERROR_NONE;
	struct scenario with = *session_scenario(app->session);
	const char *words = json_string_at(state, "what_if", "");
	if (*words && strlen(words) < 4096 && !scenario_parse(&with, words, &err)) {
		if (json_is_false(json_object_get(state, "matrix_chosen")))
			with.matrix = session_scenario(app->session)->matrix;
		else
			session_choose_matrix(app->session);
		with.assume = session_scenario(app->session)->assume;
		app_use(app, &with);
		app->stage->undo_at = app->stage->undo_count = 0;
	}
}

void keep_restore(struct app *app, const json_t *state, bool what_ifs, bool view)
{
	if (what_ifs)
		scenario_restore(app, state);
	app->show_folded = json_is_true(json_object_get(state, "constants"));
	if (json_int_at(state, "places", -1) == app->place_count)
		layers_restore(app, state);
	app->unfold_changes++;
	app_refresh(app);
	scopes_restore(app, json_object_get(state, "closed"));
	devices_restore(app, json_object_get(state, "devices"));
	for (int v = 0; v < views_count(); v++) {
		const json_t *kept = json_object_get(json_object_get(state, "views"), views_at(v)->name);
		if (json_is_object(kept))
			pane_restore(app, &app->stage->panes[v], kept);
	}
	int layer = layer_of(app, state);
	if (layer >= 0)
		app->layer = app_listed_at(app, layer);
	const struct view *shown = NULL;
	for (int v = 0; view && v < views_count(); v++)
		if (strcmp(views_at(v)->name, json_string_at(state, "view", "")) == 0)
			shown = views_at(v);
	app_show(app, shown ? shown : views_at(0), app->layer);
}

/* The key of the model's file; false: it has none (standard input). */
static bool key_of(const struct session *s, char key[DIGEST_SIZE])
{
	struct error err;
	return strcmp(session_model_path(s), "-") != 0 && !digest_ends(session_model_path(s), key, &err);
}

void keep_load(struct app *app, bool what_ifs, bool view)
{
	char key[DIGEST_SIZE];
	struct error err = ERROR_NONE;
	json_t *state = key_of(app->session, key) ? recent_load(key, &err) : NULL;
	if (state)
		keep_restore(app, state, what_ifs, view);
	else if (err.text[0])
		app_note(app, true, "%s", err.text);
	json_decref(state);
}

int keep_save(const struct app *app, struct error *err)
{
	char key[DIGEST_SIZE];
	if (!key_of(app->session, key))
		return 0;
	char *real = realpath(session_model_path(app->session), NULL);
	json_t *state = keep_state(app), *path = real ? json_string(real) : NULL; /* NULL: no UTF-8 */
	if (path)
		json_object_set_new(state, "path", path);
	int bad = recent_save(key, state, err);
	if (bad)
		log_line("the view is not stored: %s", err->text);
	json_decref(state);
	free(real);
	return bad;
}
