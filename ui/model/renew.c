/* What must be computed again after a change of plan, device or scenario, and what can stay. */
#include "config.h"

#include "ui/model/private.h"

#include "base/clock.h"

#include <stdlib.h>

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

enum app_change app_renew(struct app *app)
{
	const struct session *s = app->session;
	int64_t begin = clock_ms();
	bool waits = app->results_wait && session_is_analyzed(s);
	bool renewed = !waits && session_refresh(app->session);
	app->analyses += renewed || !app->analyses;
	bool other_plan = app->lanes_plan != app_plan(app);
	bool relisted = other_plan || app->lanes_folded != app->show_folded ||
		app->seen_unfolded != app->unfold_changes;
	if (!renewed && !relisted)
		return APP_SAME;
	app->generation++;
	/* a new plan may have the address of a freed one: compare the layers too */
	other_plan |= app_plan(app) && app->lanes_layers != app_plan(app)->layers;
	relisted |= other_plan;
	if (other_plan) {
		app->needed.plan = NULL;
		session_plans_trim(app->session);
		places_renew(app);
	}
	if (relisted) {
		listed_renew(app);
		app_names_renew(app);
		scopes_renew(app);
		lanes_renew(app);
	}
	app_counts_renew(app);
	app->most_ns = 0;
	const struct analysis *a = session_analysis(s);
	for (int i = 0; a && i < a->layer_count; i++)
		if (a->layers[i].ns > app->most_ns)
			app->most_ns = a->layers[i].ns;
	if (app->layer >= app->place_count)
		app->layer = app_plan(app) ? app_plan(app)->layer_count - 1 : -1;
	if (renewed) {
		app->renewed_ms = clock_ms();
		app->renew_ms = app->renewed_ms - begin;
	}
	if (!relisted) /* -1 stays: the selected row may have no layer */
		return APP_RENEWED;
	if (app->layer < 0 && app->listed_count)
		app->layer = app->listed[0];
	return APP_RELISTED;
}

void app_begin(struct app *app, struct session *s)
{
	*app = (struct app){ .session = s, .generation = 1, .layer = -1, .agent = app_agent_new() };
}

void app_end(struct app *app)
{
	app_agent_free(app->agent);
	lanes_free(&app->lanes);
	free(app->places);
	free(app->unfolded);
	free(app->picked);
	free(app->first_of);
	free(app->listed);
	free(app->lane_of);
	free(app->row_of);
	free(app->number_of);
	free(app->name_detail);
	scopes_free(&app->scopes);
	arena_free(&app->beside.arena);
	arena_free(&app->scratch);
}
