/* Numbers every layer of the explorer, in all graphs: first the model's own in plan order, then those of
 * bodies, each body's layers consecutively. */
#include "config.h"

#include "ui/model/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct plan_layer *app_layer(const struct app *app, int layer)
{
	return layer >= 0 && layer < app->place_count ? app->places[layer].layer : NULL;
}

int app_body_first(const struct app *app, int layer, int body)
{
	const struct place *at = &app->places[layer];
	int first = at->inside;
	for (int i = 0; i < body; i++)
		first += at->layer->bodies[i].layer_count;
	return first;
}

int app_producer(const struct app *app, int layer, int value)
{
	const struct place *at = &app->places[layer];
	const struct plan_value *v = &at->plan->values[value];
	if (v->producer >= 0)
		return at->base + v->producer;
	return v->outer >= 0 && at->owner >= 0 ? app_producer(app, at->owner, v->outer) : -1;
}

bool app_is_body(const struct app *app, int layer)
{
	return layer >= 0 && layer < app->place_count && app->places[layer].owner >= 0;
}

bool app_can_unfold(const struct app *app, int layer)
{
	const struct plan_layer *l = app_layer(app, layer);
	for (int i = 0; l && app->places[layer].times != 0 && plan_layer_is_control(l) &&
		i < l->body_count; i++)
		if (l->bodies[i].times != 0 && l->bodies[i].layer_count)
			return true;
	return false;
}

bool app_is_folded(const struct app *app, int layer)
{
	return plan_layer_is_folded(app->places[layer].plan, app->places[layer].layer);
}

void app_pick_layer(struct app *app, int layer, bool picked)
{
	app->picked_count += picked - app->picked[layer];
	app->picked[layer] = picked;
}

/* ---- rebuilt with the plan */

static void places_add(struct app *app, const struct plan *p, int owner, int body, int *capacity)
{
	const struct place *up = owner >= 0 ? &app->places[owner] : NULL;
	double times = up ? (up->times == 0 || p->times == 0 ? 0 : up->times * p->times) : 1;
	int base = app->place_count, depth = up ? up->depth + 1 : 0;
	for (int i = 0; i < p->layer_count; i++) {
		VEC_GROW(app->places, app->place_count, *capacity);
		app->places[app->place_count++] =
			(struct place){ .plan = p, .layer = &p->layers[i], .base = base,
			.owner = owner, .body = body, .depth = depth, .times = times, .inside = -1 };
	}
}

/* First layer of each problem: one of the model's own if there is one, else one of a body. */
static void firsts_renew(struct app *app, const struct plan *p)
{
	int count = p ? p->problem_count : 0;
	app->first_of = base_realloc(app->first_of, ((size_t)count + 1) * sizeof(int));
	for (int i = 0; i < count; i++)
		app->first_of[i] = -1;
	for (int i = 0; i < app->place_count; i++) {
		int problem = app->places[i].layer->problem;
		if (problem >= 0 && app->first_of[problem] < 0)
			app->first_of[problem] = i;
	}
}

void places_renew(struct app *app)
{
	const struct plan *p = app_plan(app);
	int before = app->place_count, capacity = 0;
	free(app->places);
	app->places = NULL;
	app->place_count = 0;
	if (p)
		places_add(app, p, -1, 0, &capacity);
	for (int i = 0; i < app->place_count; i++) {
		const struct plan_layer *l = app->places[i].layer;
		app->places[i].inside = app->place_count;
		for (int j = 0; j < l->body_count; j++)
			places_add(app, &l->bodies[j], i, j, &capacity);
	}
	if (app->place_count != before) { /* else the same model with other sizes: keep what the user
					     opened */
		app->unfolded = base_realloc(app->unfolded, (size_t)app->place_count + 1);
		memset(app->unfolded, 0, (size_t)app->place_count + 1);
		app->picked = base_realloc(app->picked, (size_t)app->place_count + 1);
		memset(app->picked, 0, (size_t)app->place_count + 1);
		app->picked_count = 0;
	}
	firsts_renew(app, p);
}

/* ---- the list */

static void list_one(struct app *app, int layer, int lane)
{
	bool folded = app_is_folded(app, layer);
	if (app->places[layer].owner < 0)
		app->folded_count += folded;
	if (folded && !app->show_folded)
		return;
	app->row_of[layer] = app->listed_count;
	app->lane_of[app->listed_count] = lane;
	app->listed[app->listed_count++] = layer;
	if (!app->unfolded[layer] || !app_can_unfold(app, layer))
		return;
	const struct plan_layer *l = app->places[layer].layer;
	for (int i = 0; i < l->body_count; i++) {
		int first = app_body_first(app, layer, i);
		for (int k = 0; l->bodies[i].times != 0 && k < l->bodies[i].layer_count; k++)
			list_one(app, first + k, lane);
	}
}

void listed_renew(struct app *app)
{
	const struct plan *p = app_plan(app);
	size_t size = ((size_t)app->place_count + 1) * sizeof(int);
	app->listed = base_realloc(app->listed, size);
	app->lane_of = base_realloc(app->lane_of, size);
	app->row_of = base_realloc(app->row_of, size);
	app->number_of = base_realloc(app->number_of, size);
	app->listed_count = app->folded_count = 0;
	for (int i = 0; i < app->place_count; i++) {
		app->row_of[i] = -1;
		app->number_of[i] = 0;
	}
	for (int i = 0, lane = 0; p && i < p->layer_count; i++) {
		int before = app->folded_count;
		list_one(app, i, lane);
		lane += app->row_of[i] >= 0;
		app->number_of[i] = app->folded_count > before ? 0 : i + 1 - app->folded_count;
	}
	app->seen_unfolded = app->unfold_changes;
}

int app_listed_at(const struct app *app, int layer)
{
	while (layer >= 0 && layer < app->place_count && app->row_of[layer] < 0 &&
		app->places[layer].owner >= 0)
		layer = app->places[layer].owner;
	return layer;
}
