/* The view of distinct problems, with their states and uses. */
#include "config.h"

#include "ui/views/view.h"

#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The distinct problems of the plan, fused candidates included. */
struct problem_row {
	const char *text;     /* borrowed from plan and fusion */
	int uses, first;      /* layers (groups if fused); first layer, -1: cast of a model input or output */
	bool fused;
	double ns;            /* the time that the scenario uses; NaN unknown */
	bool estimated;       /* ns is an estimate */
};

struct problems {
	struct problem_row *rows;
	int count, capacity;
	uint64_t generation;
};

static void rows_add(struct problems *s, struct hash *seen, const char *text, int uses, int first, bool fused)
{
	int64_t *at = hash_at(seen, text_of(text));
	if (*at >= 0) {
		s->rows[*at].uses += uses;
		return;
	}
	*at = s->count;
	VEC_GROW(s->rows, s->count, s->capacity);
	s->rows[s->count++] = (struct problem_row){ text, uses, first, fused, NAN, false };
}

static int problems_rows(struct app *app, void *state, int width)
{
	struct problems *s = state;
	const struct plan *p = app_plan(app);
	(void)width;
	if (s->generation == app->generation)
		return s->count;
	s->generation = app->generation;
	s->count = 0;
	struct hash seen = { 0 };
	for (int i = 0; p && i < p->problem_count; i++)
		rows_add(s, &seen, p->problems[i].text, p->problems[i].use_count,
			p->problems[i].border ? -1 : app_first_layer(app, i), false);
	unsigned variants = scenario_variants(session_scenario(app->session));
	bool nxc = variants & PROBLEMS_NXC;
	for (int i = p ? p->problem_count : 0; p && i < plan_problem_total(p); i++)
		if (plan_problem_is_in(p, i, variants))
			rows_add(s, &seen, p->problems[i].text, p->problems[i].use_count,
				p->problems[i].first_layer, false);
	const struct fusion *f = p ? session_fusion(app->session) : NULL;
	for (int i = 0; f && i < f->group_count; i++) {
		const struct fusion_group *g = &f->groups[i];
		rows_add(s, &seen, g->text, 1, g->layers[0], true);
		if (fusion_copy_text(g))
			rows_add(s, &seen, fusion_copy_text(g), 1, g->layers[0], true);
		if (nxc && g->text_nxc && g->text_nxc != g->text)
			rows_add(s, &seen, g->text_nxc, 1, g->layers[0], true);
	}
	hash_free(&seen);
	for (int i = 0; i < s->count; i++) {
		const struct result *r = app_pick(app, s->rows[i].text);
		s->rows[i].ns = r ? stats_cost(&r->stats) : app_estimate_ns(app, s->rows[i].text);
		s->rows[i].estimated = !r;
	}
	return s->count;
}

static void problems_close(struct app *app, void *state)
{
	(void)app;
	free(((struct problems *)state)->rows);
}

static void problems_heading(struct app *app, void *state, struct area line)
{
	(void)state;
	const char *cost = app_order_mark(app, &view_problems, 1),
		*uses = app_order_mark(app, &view_problems, 2),
		   *text = app_order_mark(app, &view_problems, 3);
	struct arena *s = &app->scratch;
	canvas_text(line, 1, 0, STYLE_DIM, "state");
	int x = 1 + app_state_columns(app);
	canvas_fit_right(line, x, 0, 6, STYLE_DIM, arena_printf(s, "uses%s", uses));
	canvas_fit_right(line, x + 7, 0, 9, STYLE_DIM, arena_printf(s, "best%s", cost));
	app_order_spot(app, line, 1, 5, 0);
	app_order_spot(app, line, x, 6, 2);
	app_order_spot(app, line, x + 7, 9, 1);
	app_order_spot(app, line, x + 18, line.width - x - 18, 3);
	canvas_fit(line, x + 18, 0, line.width - x - 18, STYLE_DIM,
		arena_printf(s, "problem%s%s", text,
			app_order_mark(app, &view_problems, 0)[0] ? ", reversed" : ""));
}

/* Reason for a missing number: from the queue for this run, from the results for earlier ones. */
static const char *reason(struct app *app, const char *problem)
{
	const char *why = session_queue(app->session) ? queue_why(session_queue(app->session), problem) : "";
	const struct planned *planned = session_planned(app->session, problem);
	if (planned && planned->state == PLANNED_NO)
		why = planned->why;
	if (why && why[0])
		return why;
	int count;
	const struct result *const *r = results_of(session_results(app->session), problem, &count);
	for (int i = 0; i < count; i++)
		if (r[i]->status != STATUS_OK && r[i]->why && r[i]->why[0])
			return r[i]->why;
	return "";
}

static void problems_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct problem_row *r = &((struct problems *)state)->rows[row];
	char number[STR_QUANTITY];
	enum style style;
	(void)above;
	const char *word = app_problem_state(app, r->text, &style);
	int x = 1 + app_state_columns(app);
	canvas_fit(line, 1, 0, x, style, word[0] ? word : "-");
	canvas_fit_right(line, x + 1, 0, 5, STYLE_NORMAL, arena_printf(&app->scratch, "x%d", r->uses));
	canvas_fit_right(line, x + 7, 0, 9, STYLE_NORMAL, arena_printf(&app->scratch, "%s%s",
		r->estimated && !isnan(r->ns) ? "~" : "", str_duration(number, r->ns)));
	x += 18;
	const char *why = isnan(r->ns) || r->estimated ? reason(app, r->text) : "";
	if (why[0]) {
		int used =
			canvas_fit(line, x, 0, (line.width - x) / 2, STYLE_BAD, app_clean(app, text_of(why)));
		x += used + 2;
	}
	canvas_fit(line, x, 0, line.width - x, r->fused ? STYLE_DIM : STYLE_NORMAL, r->text);
}

static const char *problems_row_text(struct app *app, void *state, int row)
{
	const struct problem_row *r = &((struct problems *)state)->rows[row];
	char number[STR_QUANTITY];
	return arena_printf(&app->scratch, "%s x%d %s %s %s", r->text, r->uses, str_duration(number, r->ns),
		app_problem_terms(app, r->text), app_clean(app, text_of(reason(app, r->text))));
}

static struct subject problems_subject(struct app *app, void *state, int row)
{
	const struct problem_row *r = &((struct problems *)state)->rows[row];
	(void)app;
	return (struct subject){ .layer = r->first, .problem = r->text, .is_problem = true, .ns = r->ns,
		.uses = r->uses };
}

static const char *const problems_orders[] = { "first use", "cost", "uses", "text", NULL };

static bool problems_number(struct app *app, void *state, int order, int row, double *number)
{
	const struct problem_row *r = &((struct problems *)state)->rows[row];
	(void)app;
	*number = order == 1 ? r->ns : r->uses;
	return order < 3;
}

static int problems_compare(struct app *app, void *state, int order, int a, int b)
{
	const struct problem_row *rows = ((struct problems *)state)->rows;
	(void)app;
	(void)order;
	return strcmp(rows[a].text, rows[b].text);
}

static void problems_select(struct app *app, void *state, int row)
{
	app->layer = ((struct problems *)state)->rows[row].first;
}

static int row_of_text(const struct problems *s, const char *text)
{
	for (int i = 0; text && i < s->count; i++)
		if (strcmp(s->rows[i].text, text) == 0)
			return i;
	return -1;
}

/* Row of the problem that the layer's cost comes from, else of its own problem. */
static int problems_row_of_layer(struct app *app, void *state, int layer)
{
	const struct problems *s = state;
	const struct plan_layer *l = app_layer(app, layer);
	int row = row_of_text(s, app_problem(app, layer));
	if (row < 0 && l && l->problem >= 0)
		row = row_of_text(s, app_plan(app)->problems[l->problem].text);
	return row;
}

static bool problems_request(struct app *app, void *state, const struct key_row *key, int row)
{
	if (key->request != REQUEST_OPEN || row < 0 || ((struct problems *)state)->rows[row].first < 0)
		return false;
	app_show(app, &view_detail, ((struct problems *)state)->rows[row].first);
	return true;
}

static const struct list problems_list = {
	.rows = problems_rows,
	.heading = problems_heading,
	.draw_row = problems_draw_row,
	.row_text = problems_row_text,
	.subject = problems_subject,
	.orders = problems_orders,
	.compare = problems_compare,
	.number = problems_number,
	.select = problems_select,
	.row_of_layer = problems_row_of_layer,
};

const struct view view_problems = {
	.name = "problems",
	.help = "every distinct problem with its state, uses and lowest time",
	.keys = "4",
	.group = KEYS_VIEWS,
	.state_size = sizeof(struct problems),
	.close = problems_close,
	.list = &problems_list,
	.request = problems_request,
	.beside = true,
};
