/* The view of the selected layer's problem: its algorithms, measured or only listed. */
#include "config.h"

#include "ui/views/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The algorithms of the selected layer's problem, and on top what fusing the layer saves. */
struct algorithm_line {
	const struct algorithm *a; /* NULL: a fused group */
	const struct result *r;	   /* its measurement, in the state of the analysis if there is one; NULL */
	double ns;		   /* in the state of the analysis; NaN */
	bool used;
	const struct fusion_group *g; /* a group of the layer: fused, and apart */
	double apart_ns;
	const char *text; /* instead of all that: why there is no algorithm */
	bool estimated;
};

struct algorithms {
	struct arena arena;
	struct algorithm_line *lines;
	int count, groups; /* groups: the first of them */
	const char *problem;
	double best_ns, preferred_ns;
	uint64_t generation;
	int layer;
};

#define NUMBER 10

static bool state_fits(const struct app *app, const struct result *r)
{
	const struct session *s = app->session;
	return r->status == STATUS_OK && (!session_analysis(s) || r->cache == session_analysis(s)->cache) &&
		r->launch == (session_scenario(s)->amortized ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED);
}

/* What a layer of a group costs alone, in ns; 0 for one that needs no kernel. */
static double alone_ns(const struct app *app, int layer, bool *estimated)
{
	int problem = app_own_problem(app, layer);
	const char *text = problem < 0 ? NULL : app_plan(app)->problems[problem].text;
	if (!text)
		return app_layer(app, layer)->class == CLASS_FREE ? 0 : NAN;
	const struct result *r = app_pick(app, text);
	*estimated |= !r;
	return r ? stats_cost(&r->stats) : app_estimate_ns(app, text);
}

static bool group_has(const struct fusion_group *g, int layer)
{
	for (int k = 0; k < g->layer_count; k++)
		if (g->layers[k] == layer)
			return true;
	return false;
}

static void groups_add(struct app *app, struct algorithms *s, const struct fusion *f, int layer)
{
	for (int i = 0; f && i < f->group_count; i++) {
		const struct fusion_group *g = &f->groups[i];
		struct algorithm_line line = { .g = g };
		if (!group_has(g, layer))
			continue;
		for (int k = 0; k < g->layer_count; k++)
			line.apart_ns += alone_ns(app, g->layers[k], &line.estimated);
		const struct result *r = app_pick(app, g->text);
		line.r = r;
		line.ns = r ? stats_cost(&r->stats) : app_estimate_ns(app, g->text);
		line.estimated |= !r;
		s->lines[s->count++] = line;
	}
	s->groups = s->count;
}

static void results_add_lines(struct app *app, struct algorithms *s)
{
	int count;
	const struct result *const *r = results_of(session_results(app->session), s->problem, &count);
	const struct result *used = app_pick(app, s->problem);
	for (int i = 0, end; i < count; i = end) {
		const struct result *best = r[i];
		bool is_used = false;
		for (end = i; end < count && results_same_algorithm(r[i], r[end]); end++) {
			is_used |= used && results_same_key(r[end], used);
			if (!state_fits(app, best) && (state_fits(app, r[end]) || best->status != STATUS_OK))
				best = r[end];
		}
		bool fits = state_fits(app, best);
		s->lines[s->count++] = (struct algorithm_line){ .a = &best->algorithm,
			.r = best,
			.ns = fits ? stats_cost(&best->stats) : NAN,
			.used = is_used };
		if (fits && !(stats_cost(&best->stats) >= s->best_ns))
			s->best_ns = stats_cost(&best->stats);
		if (fits && isnan(s->preferred_ns)) /* the results are sorted by rank */
			s->preferred_ns = stats_cost(&best->stats);
	}
}

static int by_time(const void *x, const void *y)
{
	const struct algorithm_line *a = x, *b = y;
	if (isnan(a->ns) || isnan(b->ns) || a->ns == b->ns)
		return isnan(a->ns) != isnan(b->ns) ? (isnan(a->ns) ? 1 : -1) : a->a->rank - b->a->rank;
	return a->ns < b->ns ? -1 : 1;
}

/* Adds a row of text. Returns the number of rows. */
static int message(struct algorithms *s, const char *text)
{
	if (!s->lines)
		s->lines = ARENA_ARRAY(&s->arena, struct algorithm_line, 1);
	s->lines[s->count] = (struct algorithm_line){ .text = text };
	return ++s->count;
}

static int algorithms_rows(struct app *app, void *state, int width)
{
	struct algorithms *s = state;
	(void)width;
	if (s->generation == app->generation && s->layer == app->layer)
		return s->count;
	arena_free(&s->arena);
	int own = app->layer < 0 ? -1 : app_own_problem(app, app->layer);
	*s = (struct algorithms){
		.generation = app->generation, .layer = app->layer, .best_ns = NAN, .preferred_ns = NAN
	};
	s->problem = own >= 0 ? app_plan(app)->problems[own].text : app_problem(app, app->layer);
	if (!app_plan(app) || app->layer < 0)
		return 0;
	if (!s->problem)
		return message(s, "no kernel runs for this layer");
	int results;
	const struct planned *p = session_planned(app->session, s->problem);
	const struct fusion *f = app_is_body(app, app->layer) ? NULL : session_fusion(app->session);
	results_of(session_results(app->session), s->problem, &results);
	s->lines = ARENA_ARRAY(&s->arena, struct algorithm_line,
		(f ? f->group_count : 0) + results + (p ? p->count : 0) + 1);
	groups_add(app, s, f, app->layer);
	results_add_lines(app, s);
	for (int i = 0; p && p->state == PLANNED_YES && i < p->count; i++)
		s->lines[s->count++] = (struct algorithm_line){ .a = &p->algorithms[i], .ns = NAN };
	qsort(s->lines + s->groups, (size_t)(s->count - s->groups), sizeof(*s->lines), by_time);
	if (s->count == s->groups && !p)
		return message(s, arena_printf(&s->arena,
			"no algorithm of this layer is measured: %s measures it",
			key_named("measure-layer")));
	return s->count;
}

static void algorithms_close(struct app *app, void *state)
{
	(void)app;
	arena_free(&((struct algorithms *)state)->arena);
}

/* The columns of numbers: the interval only on wide screens. */
static const char *const titles[] = { "median", "of best", "of pref.", "space", "\u00b1" };

static int number_count(int width)
{
	return width < 100 ? 4 : 5;
}

/* Columns of the name: what it needs, if the others and some notes leave it. */
static int name_columns(const struct algorithms *s, int width)
{
	int rest = width - 3 - number_count(width) * NUMBER - 16, most = 14;
	for (int i = s->groups; i < s->count && s->lines[i].a; i++) {
		int n = 1 + (int)strlen(s->lines[i].a->name ? s->lines[i].a->name : "");
		most = n > most ? n : most;
	}
	return most < rest ? most : rest < 14 ? 14 : rest;
}

static void algorithms_heading(struct app *app, void *state, struct area line)
{
	int name = name_columns(state, line.width), x = 3 + name;
	(void)app;
	canvas_fit(line, 3, 0, name, STYLE_DIM, "algorithm");
	for (int i = 0; i < number_count(line.width); i++, x += NUMBER)
		canvas_fit_right(line, x, 0, NUMBER, STYLE_DIM, titles[i]);
	canvas_fit(line, x + 1, 0, line.width - x - 1, STYLE_DIM,
		line.width - x > 20 ? "mtx  notes, layouts" : "mtx  notes");
}

static const char *times(struct app *app, double ns, double of)
{
	return isnan(ns / of) ? "-" : arena_printf(&app->scratch, "%.2fx", ns / of);
}

/* "fused 12.3 us, apart 15.6 us: -21%" */
static const char *group_text(struct app *app, const struct algorithm_line *l)
{
	double ratio = l->ns / l->apart_ns;
	if (isnan(l->ns) && isnan(l->apart_ns))
		return arena_printf(&app->scratch, "fused or apart: not measured: %d layers, %s",
			l->g->layer_count, l->g->text);
	return arena_printf(&app->scratch, "fused %s, apart %s%s: %d layers, %s",
		app_duration(app, l->ns, l->estimated), app_duration(app, l->apart_ns, l->estimated),
		isnan(ratio) ? " (not all measured)"
			     : arena_printf(&app->scratch, ", %s%+.0f%%", l->estimated ? "~" : "",
				       100 * (ratio - 1)),
		l->g->layer_count, l->g->text);
}

static const char *matrix_word(const struct algorithm *a)
{
	return a->matrix == MATRIX_YES ? "yes" : a->matrix == MATRIX_NO ? "no" : "?";
}

/* The state of its measurement, if it is not that of the analysis; why it failed; its notes and layouts. */
static const char *remarks(struct app *app, const struct algorithm_line *l)
{
	const struct algorithm *a = l->a;
	const struct result *r = l->r;
	const char *state = "";
	char text[STR_QUANTITY];
	if (r && r->status != STATUS_OK)
		state = arena_printf(&app->scratch, "%s: %s  ", status_name(r->status), r->why ? r->why : "");
	else if (r && isnan(l->ns)) {
		state = arena_printf(&app->scratch, "%s %s, %s only  ",
			str_duration(text, stats_cost(&r->stats)),
			cache_name(r->cache), launch_name(r->launch));
	}
	return app_clean(app,
		text_of(arena_printf(&app->scratch, "%s%s%s%s", state, a->notes ? a->notes : "",
			a->notes && *a->notes ? "  " : "", a->layouts ? a->layouts : "")));
}

static void algorithms_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct algorithms *s = state;
	const struct algorithm_line *l = &s->lines[row];
	int name = name_columns(s, line.width), x = 3 + name;
	char text[STR_QUANTITY];
	(void)above;
	if (l->text) {
		canvas_fit(line, 1, 0, line.width - 1, STYLE_DIM, l->text);
		return;
	}
	if (l->g) {
		canvas_fit(line, 1, 0, line.width - 1, l->ns < l->apart_ns ? STYLE_GOOD : STYLE_NORMAL,
			app_clean(app, text_of(group_text(app, l))));
		return;
	}
	enum style style = l->used		    ? STYLE_GOOD
		: l->r && l->r->status != STATUS_OK ? STYLE_WARN
						    : STYLE_NORMAL;
	if (l->used)
		view_draw_in_use(line);
	const char *title = l->a->name && *l->a->name ? l->a->name : "(whole problem)";
	canvas_fit(line, 3, 0, name - 1, style, app_clean(app, text_of(title)));
	if (l->r && isnan(l->ns)) {
		canvas_fit(line, x + 1, 0, line.width - x - 1, style == STYLE_WARN ? style : STYLE_DIM,
			remarks(app, l));
		return;
	}
	const struct sample_stats *t = l->r ? &l->r->stats : NULL;
	double half = t ? fmax(stats_cost_hi(t) - l->ns, l->ns - stats_cost_lo(t)) / l->ns : NAN;
	const char *cells[] = { l->r ? app_duration(app, l->ns, false) : "planned",
		times(app, l->ns, s->best_ns), times(app, l->ns, s->preferred_ns),
		arena_printf(&app->scratch, "%s", str_bytes(text, l->a->workspace_bytes)),
		isnan(half) ? "-" : arena_printf(&app->scratch, "%.1f%%", 100 * half) };
	for (int i = 0; i < number_count(line.width); i++, x += NUMBER)
		canvas_fit_right(line, x, 0, NUMBER, style, cells[i]);
	canvas_fit(line, x + 1, 0, 4, style, matrix_word(l->a));
	canvas_fit(line, x + 6, 0, line.width - x - 6, STYLE_DIM, remarks(app, l));
}

static const char *algorithms_row_text(struct app *app, void *state, int row)
{
	const struct algorithm_line *l = &((struct algorithms *)state)->lines[row];
	if (l->text)
		return l->text;
	if (l->g)
		return app_clean(app, text_of(group_text(app, l)));
	return arena_printf(&app->scratch, "%s %s", app_clean(app, text_of(l->a->name)), remarks(app, l));
}

static int algorithms_row_of_layer(struct app *app, void *state, int layer)
{
	const struct algorithms *s = state;
	(void)app;
	(void)layer;
	for (int i = 0; i < s->count; i++)
		if (s->lines[i].used)
			return i;
	return s->count ? 0 : -1;
}

static bool algorithms_request(struct app *app, void *state, const struct key_row *key, int row)
{
	(void)state;
	if (key->request != REQUEST_OPEN || row < 0 || app->layer < 0)
		return false;
	app_show(app, views_details(), app->layer);
	return true;
}

static const struct list algorithms_list = {
	.rows = algorithms_rows,
	.heading = algorithms_heading,
	.draw_row = algorithms_draw_row,
	.row_text = algorithms_row_text,
	.row_of_layer = algorithms_row_of_layer,
};

const struct view view_algorithms = {
	.name = "algorithms",
	.help = "the algorithms of the selected layer beside the best and the preferred one; fused and apart",
	.keys = "ga",
	.group = KEYS_VIEWS,
	.state_size = sizeof(struct algorithms),
	.close = algorithms_close,
	.list = &algorithms_list,
	.request = algorithms_request,
};
