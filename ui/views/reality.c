/* A real execution of the model beside the bound: the gaps from the bound to the latency, and the tree model
 * > layer > kernel. Gaps open to the layers that make them up. */
#include "config.h"

#include "ui/model/agent.h"
#include "ui/model/page.h"
#include "ui/model/real.h"
#include "ui/model/say.h"
#include "ui/views/view.h"

#include "analyze/tables/charts.h"
#include "analyze/real/tree.h"
#include "problem/execution_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum line_kind { LINE_TEXT, LINE_BOUND, LINE_GAP, LINE_GROUP, LINE_LAYER, LINE_ROW, LINE_REAL, LINE_NODE };

struct reality_line {
	enum line_kind kind;
	int at;              /* gap kind, group, row of the execution or node */
	int parent;          /* line that hides it while closed, or -1 */
	int layer;           /* or -1 */
	const char *text;    /* LINE_TEXT */
	enum style style;
	double from_ns, to_ns; /* of its bar: where the gap begins and ends */
};

struct reality_view {
	struct arena arena;
	uint64_t generation;
	const struct reality *reality; /* of the lines; NULL: none */
	struct tree *tree;
	struct reality_line *lines;
	int count, capacity, width;
	bool gap_open[GAP_COUNT];
	int node_count;      /* of node_open */
	bool *node_open;     /* per node of the tree */
	double most_ns;      /* end of the scale of bars */
	bool closed;         /* the root was closed */
};

#define NAME_AT 3
#define NAME_COLUMNS 26
#define COLUMN 10
#define BAR_MOST 64

static struct reality_line *line_add(struct reality_view *s, enum line_kind kind, int at, int parent)
{
	VEC_GROW(s->lines, s->count, s->capacity);
	s->lines[s->count] = (struct reality_line){ .kind = kind, .at = at, .parent = parent, .layer = -1,
		.text = "", .from_ns = NAN, .to_ns = NAN };
	return &s->lines[s->count++];
}

/* In as many lines as it needs. */
static void text_add(struct reality_view *s, enum style style, int parent, const char *text)
{
	int room = s->width - (parent < 0 ? 2 : NAME_AT + 3);
	room = room > 20 ? room : 20;
	for (struct text part; page_part(&text, room, &part);) {
		struct reality_line *l = line_add(s, LINE_TEXT, 0, parent);
		l->text = arena_strndup(&s->arena, part.p, part.n);
		l->style = style;
	}
}

/* ---- the gaps ---- */

static double group_ns(const struct reality_group *g)
{
	return g->real_ns - (isnan(g->cost_ns) ? 0 : g->cost_ns);
}

/* Larger first; of gaps below 0 the lowest. */
static int by_gap(const void *x, const void *y, void *context)
{
	const struct reality *r = context;
	double a = group_ns(&r->groups[*(const int *)x]), b = group_ns(&r->groups[*(const int *)y]);
	return app_compare_numbers(fabs(a), fabs(b));
}

static double row_ns(const struct reality *r, int row)
{
	return row_corrected(r, row, r->execution->rows[row].ns);
}

static int by_row(const void *x, const void *y, void *context)
{
	const struct reality *r = context;
	return app_compare_numbers(row_ns(r, *(const int *)x), row_ns(r, *(const int *)y));
}

/* Of a gap without layers: what it is, and the rows of the execution in it. */
static void gap_rows_add(struct reality_view *s, enum gap_kind k, int parent)
{
	const struct reality *r = s->reality;
	int all = r->execution->row_count, count = 0, *rows = ARENA_ARRAY(&s->arena, int, all + 1);
	for (int i = 0; i < all; i++)
		if (r->gap_of_row[i] == (int)k)
			rows[count++] = i;
	qsort_r(rows, (size_t)count, sizeof(*rows), by_row, (void *)(uintptr_t)r);
	text_add(s, STYLE_DIM, parent, arena_printf(&s->arena, "%s%s", gap_text(k),
		count ? "" : "; it has no rows of its own"));
	for (int i = 0; i < count; i++)
		line_add(s, LINE_ROW, rows[i], parent);
}

/* What makes a gap up: its groups, or the layers of a gap that no row shows. */
static void gap_open_lines(struct reality_view *s, enum gap_kind k, int parent)
{
	const struct reality *r = s->reality;
	int *groups = ARENA_ARRAY(&s->arena, int, r->group_count + 1), count = 0;
	for (int i = 0; i < r->group_count; i++)
		if (r->groups[i].kind == k)
			groups[count++] = i;
	if (count > 1)
		qsort_r(groups, (size_t)count, sizeof(*groups), by_gap, (void *)(uintptr_t)r);
	for (int i = 0; i < count; i++)
		line_add(s, LINE_GROUP, groups[i], parent)->layer = r->groups[groups[i]].layers[0];
	for (int i = 0; i < r->gaps[k].layer_count && !count; i++)
		line_add(s, LINE_LAYER, r->gaps[k].layers[i], parent)->layer = r->gaps[k].layers[i];
	if (!count && !r->gaps[k].layer_count)
		gap_rows_add(s, k, parent);
}

static void bar_line_add(struct reality_view *s, enum line_kind kind, int at, double from, double to)
{
	struct reality_line *l = line_add(s, kind, at, -1);
	l->from_ns = fmin(from, to);
	l->to_ns = fmax(from, to);
}

static void gaps_add(struct reality_view *s)
{
	const struct reality *r = s->reality;
	struct waterfall w = waterfall_of(r);
	s->most_ns = w.most_ns;
	bar_line_add(s, LINE_BOUND, 0, 0, isnan(r->bound_ns) ? 0 : r->bound_ns);
	for (int i = 0; i < w.count; i++) {
		int parent = s->count;
		bar_line_add(s, LINE_GAP, (int)w.steps[i].kind, w.steps[i].from_ns, w.steps[i].to_ns);
		gap_open_lines(s, w.steps[i].kind, parent);
	}
	bar_line_add(s, LINE_REAL, 0, 0, r->measured_ns);
}

/* "2.1x the bound, mostly by slower algorithms (12.3 ms)" */
static const char *why_text(struct reality_view *s)
{
	const struct reality *r = s->reality;
	char size[STR_QUANTITY];
	int most = -1;
	for (int k = 0; k < GAP_COUNT; k++)
		if (r->gaps[k].ns > 0 && (most < 0 || r->gaps[k].ns > r->gaps[most].ns))
			most = k;
	const char *times = isnan(r->ratio) || !(r->ratio > 0) ? ""
		: arena_printf(&s->arena, "%s%s%.2fx the bound", r->bound_complete ? "" : "at most ",
			  r->bound_estimated ? "~" : "", 1 / r->ratio);
	if (most < 0)
		return times;
	const char *doubt = most == GAP_ALGORITHM ? r->slower_doubt : NULL;
	return arena_printf(&s->arena, "%s%smostly %s (%s): %s%s", times, *times ? ", " : "",
		reality_label(r, (enum gap_kind)most), str_duration(size, r->gaps[most].ns),
		doubt ? "may have another cause: " : "", doubt ? doubt : gap_text((enum gap_kind)most));
}

/* ---- the tree ---- */

static void tree_add(struct app *app, struct reality_view *s)
{
	s->tree = tree_of(&s->arena, s->reality, app_plan(app), session_analysis(app->session));
	if (s->node_count != s->tree->count) { /* another execution, or another plan */
		s->node_open = base_realloc(s->node_open, (size_t)s->tree->count + 1);
		memset(s->node_open, 0, (size_t)s->tree->count + 1);
		s->node_open[0] = !s->closed;
		s->node_count = s->tree->count;
	}
	int first = s->count;
	for (int i = 0; i < s->tree->count; i++) {
		const struct tree_node *n = &s->tree->nodes[i];
		line_add(s, LINE_NODE, i, n->parent < 0 ? -1 : first + n->parent)->layer = n->layer;
	}
}

/* ---- nothing to show ---- */

static const char *nothing_text(struct app *app, struct reality_view *s)
{
	const struct session *session = app->session;
	const struct config *c = session_config(session);
	if (app_agent_is_busy(app))
		return "the model runs: its real latency comes here";
	if (session_reality_waits(app->session))
		return "stored executions are read when measuring ends";
	return arena_printf(&s->arena, "no real execution of this model with this batch, type and device. %s",
		!c || !c->agent_count ? "benanza compare --run AGENT MODEL makes one (agents: in "
					"benanza.yaml(5))"
			: session_described(session) ? arena_printf(&s->arena,
				"Choose a device that can run it (%s); or benanza compare reads one from a "
				"profile", key_named("devices"))
			: arena_printf(&s->arena, "%s runs it with %s; or benanza compare --run %s MODEL",
				  key_named("agent"), c->agents[0].name, c->agents[0].name));
}

static void lines_make(struct app *app, struct reality_view *s)
{
	arena_free(&s->arena);
	s->count = 0;
	s->tree = NULL;
	s->reality = session_analysis(app->session) ? app_reality(app) : NULL;
	if (!s->reality) {
		text_add(s, STYLE_WARN, -1, nothing_text(app, s));
		return;
	}
	if (s->reality->pending) {
		text_add(s, STYLE_DIM, -1, "the execution is being compared with the bound");
		return;
	}
	const struct reality *r = s->reality;
	text_add(s, STYLE_BOLD, -1, why_text(s));
	if (r->not_comparable)
		text_add(s, STYLE_WARN, -1, arena_printf(&s->arena, "cannot contradict the bound: %s",
			app_clean(app, text_of(r->not_comparable))));
	const char *excess = reality_excess_text(&s->arena, r);
	if (excess)
		text_add(s, STYLE_WARN, -1, arena_printf(&s->arena, "profile: %s", excess));
	gaps_add(s);
	for (int i = 0; i < FIGURE_LINES; i++) {
		const char *line = execution_figures_line(&s->arena, r->execution, (enum figure_line)i);
		if (*line)
			text_add(s, STYLE_DIM, -1, arena_printf(&s->arena, "%s: %s",
				figure_line_name((enum figure_line)i), line));
	}
	if (!r->row_count)
		text_add(s, STYLE_DIM, -1, "no layer times: this execution has only its latency");
	else
		tree_add(app, s);
}

static int reality_rows(struct app *app, void *state, int width)
{
	struct reality_view *s = state;
	if (s->generation != app->generation || s->width != width) {
		s->width = width;
		lines_make(app, s);
	}
	s->generation = app->generation;
	return s->count;
}

static void reality_close(struct app *app, void *state)
{
	struct reality_view *s = state;
	(void)app;
	arena_free(&s->arena);
	free(s->lines);
	free(s->node_open);
}

/* ---- folding ---- */

/* The flag of a line that can be open; NULL: it has nothing inside. */
static bool *flag_of(struct reality_view *s, int row)
{
	const struct reality_line *l = &s->lines[row];
	bool inside = row + 1 < s->count && s->lines[row + 1].parent == row;
	return !inside ? NULL : l->kind == LINE_GAP ? &s->gap_open[l->at]
		: l->kind == LINE_NODE ? &s->node_open[l->at] : NULL;
}

/* The outermost closed line around a row. */
static int reality_shown_for(struct app *app, void *state, int row)
{
	struct reality_view *s = state;
	int shown = row;
	(void)app;
	for (int up = s->lines[row].parent; up >= 0; up = s->lines[up].parent)
		shown = *flag_of(s, up) ? shown : up;
	return shown;
}

static void open_set(struct app *app, struct reality_view *s, int row, bool open)
{
	*flag_of(s, row) = open;
	s->closed = s->node_count && !s->node_open[0];
	s->generation = ++app->generation; /* the lines stay */
}

static void reality_reveal(struct app *app, void *state, int row)
{
	struct reality_view *s = state;
	for (int up = s->lines[row].parent; up >= 0; up = s->lines[up].parent)
		open_set(app, s, up, true);
}

static void open_all(struct app *app, struct reality_view *s, bool open)
{
	for (int i = 0; i < s->count; i++)
		if (flag_of(s, i))
			open_set(app, s, i, open || (s->lines[i].kind == LINE_NODE && !s->lines[i].at));
}

/* ---- drawing ---- */

/* Columns of the bar at the right; 0: no room. */
static int bar_columns(struct area line, int from)
{
	int room = line.width - from - 1;
	return room < 8 ? 0 : room > BAR_MOST ? BAR_MOST : room;
}

static void bar_draw(struct area line, int x, const struct reality_view *s, double from, double to,
	enum style style)
{
	int columns = bar_columns(line, x);
	if (!columns || isnan(from) || isnan(to) || !(s->most_ns > 0))
		return;
	int begin = (int)lround(from / s->most_ns * columns), end = (int)lround(to / s->most_ns * columns);
	begin = begin < columns ? begin : columns - 1;
	end = end > begin ? end : begin + 1;
	for (int i = begin < 0 ? 0 : begin; i < end; i++)
		canvas_put(line, x + i, 0, style, 0x2588);
}

static const char *number(struct app *app, bool guess, bool sign, double ns)
{
	char text[STR_QUANTITY];
	return isnan(ns) ? "-" : arena_printf(&app->scratch, "%s%s%s", guess ? "~" : "",
		!sign ? "" : ns < 0 ? "-" : "+", str_duration(text, sign ? fabs(ns) : ns));
}

static const char *share(struct app *app, const struct reality_view *s, bool guess, double ns)
{
	double part = ns / s->reality->measured_ns;
	return isnan(part) ? "" : arena_printf(&app->scratch, "%s%+.1f%%", guess ? "~" : "", 100 * part);
}

static void sign_draw(struct reality_view *s, int row, struct area line, int x)
{
	const bool *open = flag_of(s, row);
	if (open)
		canvas_put(line, x, 0, STYLE_NORMAL, *open ? 0x25be : 0x25b8);
}

static void draw_gap(struct app *app, struct reality_view *s, int row, struct area line)
{
	const struct reality_line *l = &s->lines[row];
	const struct gap *g = &s->reality->gaps[l->at];
	enum style style = g->ns > 0 ? STYLE_WARN : STYLE_GOOD;
	int x = NAME_AT + NAME_COLUMNS + 1;
	sign_draw(s, row, line, 1);
	canvas_fit(line, NAME_AT, 0, NAME_COLUMNS, STYLE_NORMAL, reality_label(s->reality, l->at));
	bool guess = reality_gap_estimated(s->reality, l->at);
	canvas_fit_right(line, x, 0, COLUMN, style, number(app, guess, true, g->ns));
	canvas_fit_right(line, x + COLUMN + 1, 0, 7, STYLE_NORMAL, share(app, s, guess, g->ns));
	x += COLUMN + 10;
	if (line.width >= 76) {
		const char *what = g->layer_count ? "layer" : "row";
		int n = g->layer_count ? g->layer_count : g->rows;
		if (n)
			canvas_fit_right(line, x, 0, COLUMN, STYLE_DIM,
				arena_printf(&app->scratch, "%d %s%s", n, what, n == 1 ? "" : "s"));
		x += COLUMN + 2;
	}
	bar_draw(line, x, s, l->from_ns, l->to_ns, style);
}

static void draw_end(struct app *app, struct reality_view *s, int row, struct area line)
{
	const struct reality_line *l = &s->lines[row];
	const struct reality *r = s->reality;
	bool bound = l->kind == LINE_BOUND;
	int x = NAME_AT + NAME_COLUMNS + 1;
	canvas_fit(line, NAME_AT, 0, NAME_COLUMNS, STYLE_BOLD, !bound ? "real latency"
			: !isnan(r->least_ns) ? "estimate"
			: r->bound_complete   ? "bound" : "bound, at least");
	canvas_fit_right(line, x, 0, COLUMN, STYLE_BOLD,
		number(app, bound && r->bound_estimated, false, bound ? r->bound_ns : r->measured_ns));
	bar_draw(line, x + COLUMN + 10 + (line.width >= 76 ? COLUMN + 2 : 0), s, l->from_ns, l->to_ns,
		bound ? STYLE_ACCENT : STYLE_BOLD);
}

/* The columns of numbers of groups and nodes, from the right: gap, ratio, bound, real. */
static int numbers_at(struct area line)
{
	return line.width >= 76 ? line.width - 4 * COLUMN - 1 : line.width - 2 * COLUMN - 1;
}

static void draw_numbers(struct app *app, struct area line, double real, double bound, double ratio,
	bool guess, enum style style)
{
	int x = numbers_at(line);
	char text[STR_QUANTITY];
	canvas_fit_right(line, x, 0, COLUMN, style, number(app, false, false, real));
	if (line.width >= 76) {
		canvas_fit_right(line, x += COLUMN, 0, COLUMN, STYLE_NORMAL,
			number(app, guess, false, bound));
		canvas_fit_right(line, x += COLUMN, 0, COLUMN, STYLE_NORMAL,
			isnan(ratio) ? "-" : arena_printf(&app->scratch, "%s%s", guess ? "~" : "",
				str_ratio(text, ratio)));
	}
	canvas_fit_right(line, x + COLUMN, 0, COLUMN, real > bound ? STYLE_WARN : style,
		number(app, guess, true, real - bound));
}

static const char *node_text(struct app *app, const struct tree_node *n)
{
	const char *kind = n->kind == TREE_ADDED ? "added: " : n->kind == TREE_FOREIGN ? "no layer: "
		: n->kind == TREE_ABSENT ? "no row: " : "";
	const char *name = n->kind == TREE_LAYER && n->layer_count > 0 ? app_name(app, n->layer) :
		app_clean(app, text_of(n->name));
	if (n->kind == TREE_LAYER && n->layer_count > 1)
		name = arena_printf(&app->scratch, "%s +%d", name, n->layer_count - 1);
	return arena_printf(&app->scratch, "%s%s%s%s", kind, name, *n->op ? "  " : "",
		app_clean(app, text_of(n->op)));
}

static void draw_node(struct app *app, struct reality_view *s, int row, struct area line)
{
	const struct tree_node *n = &s->tree->nodes[s->lines[row].at];
	int x = 1 + 2 * n->depth;
	const struct reality_group *g = n->group >= 0 ? &s->reality->groups[n->group] : NULL;
	bool contradicts = g && n->kind == TREE_LAYER && reality_contradicts(s->reality, g);
	sign_draw(s, row, line, x);
	canvas_fit(line, x + 2, 0, numbers_at(line) - x - 2,
		contradicts ? STYLE_BAD : n->kind == TREE_MODEL ? STYLE_BOLD : STYLE_NORMAL,
		node_text(app, n));
	draw_numbers(app, line, n->real_ns, n->bound_ns, n->ratio, n->estimated,
		contradicts ? STYLE_BAD : STYLE_NORMAL);
}

static void draw_group(struct app *app, struct reality_view *s, int row, struct area line)
{
	const struct reality_line *l = &s->lines[row];
	const struct reality_group *g = l->kind == LINE_GROUP ? &s->reality->groups[l->at] : NULL;
	const char *name = app_name(app, l->layer);
	bool ratio = g && g->real_ns > 0 && !(s->reality->prevents & USE_RATIO);
	if (g && g->layer_count > 1)
		name = arena_printf(&app->scratch, "%s +%d", name, g->layer_count - 1);
	if (g && *g->kernel)
		name = arena_printf(&app->scratch, "%s  %s", name, app_clean(app, text_of(g->kernel)));
	canvas_fit(line, NAME_AT + 2, 0, numbers_at(line) - NAME_AT - 2, STYLE_NORMAL, name);
	draw_numbers(app, line, g ? g->real_ns : NAN,
		g ? g->cost_ns : session_analysis(app->session)->layers[l->layer].ns,
		ratio ? g->cost_ns / g->real_ns : NAN, g && g->estimated, STYLE_NORMAL);
}

/* "Reorder  reorder_a_to_b" */
static const char *row_text(struct app *app, const struct reality_view *s, int row)
{
	const struct execution_row *e = &s->reality->execution->rows[row];
	return arena_printf(&app->scratch, "%s%s%s", app_clean(app, text_of(e->op)), *e->op ? "  " : "",
		app_clean(app, text_of(e->name)));
}

static void reality_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	struct reality_view *s = state;
	const struct reality_line *l = &s->lines[row];
	(void)above;
	switch (l->kind) {
	case LINE_TEXT:
		canvas_fit(line, l->parent < 0 ? 1 : NAME_AT + 2, 0, line.width - 1, l->style, l->text);
		break;
	case LINE_ROW:
		canvas_fit(line, NAME_AT + 2, 0, numbers_at(line) - NAME_AT - 2, STYLE_NORMAL,
			row_text(app, s, l->at));
		draw_numbers(app, line, row_ns(s->reality, l->at), NAN, NAN, false, STYLE_NORMAL);
		break;
	case LINE_BOUND:
	case LINE_REAL: draw_end(app, s, row, line); break;
	case LINE_GAP: draw_gap(app, s, row, line); break;
	case LINE_NODE: draw_node(app, s, row, line); break;
	default: draw_group(app, s, row, line);
	}
}

static void reality_heading(struct app *app, void *state, struct area line)
{
	const struct reality_view *s = state;
	int x = numbers_at(line);
	if (!s->reality)
		return;
	int count = session_reality_count(app->session);
	const char *of = count < 2 ? "" : arena_printf(&app->scratch, "  %d of %d: . shows the next",
		session_reality_chosen(app->session) + 1, count);
	canvas_fit(line, 1, 0, x - 1, STYLE_DIM,
		arena_printf(&app->scratch, "%s%s", app_real_of(app, s->reality->execution), of));
	canvas_fit_right(line, x, 0, COLUMN, STYLE_DIM, "real");
	if (line.width >= 76) {
		canvas_fit_right(line, x += COLUMN, 0, COLUMN, STYLE_DIM, "bound");
		canvas_fit_right(line, x += COLUMN, 0, COLUMN, STYLE_DIM, "ratio");
	}
	canvas_fit_right(line, x + COLUMN, 0, COLUMN, STYLE_DIM, "gap");
}

static const char *reality_row_text(struct app *app, void *state, int row)
{
	struct reality_view *s = state;
	const struct reality_line *l = &s->lines[row];
	switch (l->kind) {
	case LINE_TEXT: return l->text;
	case LINE_BOUND: return "bound";
	case LINE_REAL: return "real latency";
	case LINE_GAP: return reality_label(s->reality, l->at);
	case LINE_NODE: return node_text(app, &s->tree->nodes[l->at]);
	case LINE_ROW: return row_text(app, s, l->at);
	case LINE_GROUP:
		return arena_printf(&app->scratch, "%s %s", app_name(app, l->layer),
			app_clean(app, text_of(s->reality->groups[l->at].kernel)));
	default: return app_name(app, l->layer);
	}
}

static bool reality_passes(struct app *app, void *state, int row)
{
	const struct reality_view *s = state;
	(void)app;
	return s->lines[row].kind == LINE_TEXT && s->count > 1;
}

static struct subject reality_subject(struct app *app, void *state, int row)
{
	const struct reality_line *l = &((struct reality_view *)state)->lines[row];
	return l->layer >= 0 ? subject_of_layer(app, l->layer) : (struct subject){ .layer = -1, .ns = NAN };
}

/* ---- keys ---- */

enum { OWN_FOLD_TOGGLE, OWN_FOLD_ALL, OWN_OPEN_ALL, OWN_EXECUTION };

static const struct key_row reality_keys[] = {
	{ ".", REQUEST_OWN, OWN_EXECUTION, KEYS_VIEWS,
		"the next execution of the model, if there are several; 3{reality.next-execution}: the third "
		"newest, also for the header and the other views", .counts = true, .name = "next-execution" },
	{ "za", REQUEST_OWN, OWN_FOLD_TOGGLE, KEYS_VIEWS, "open or close a gap or a layer",
		.name = "fold-toggle" },
	{ "zM", REQUEST_OWN, OWN_FOLD_ALL, KEYS_VIEWS, "close all but the model", .name = "fold-all" },
	{ "zR", REQUEST_OWN, OWN_OPEN_ALL, KEYS_VIEWS, "open all", .name = "unfold-all" },
	{ 0 }
};

/* Opens or closes the row; closing works from inside too. */
static bool fold(struct app *app, struct reality_view *s, int row, bool open)
{
	const bool *flag = flag_of(s, row);
	int up = flag && *flag ? row : s->lines[row].parent;
	if (open ? !flag || *flag : up < 0)
		return false;
	open_set(app, s, open ? row : up, open);
	return true;
}

/* The one of the typed count, else the next. */
static void execution_choose(struct app *app)
{
	struct session *session = app->session;
	int count = session_reality_count(session);
	int to = app->count ? app->count - 1 : (session_reality_chosen(session) + 1) % (count ? count : 1);
	if (count < 2 || to >= count) {
		app_note(app, false, count == 1 ? "this is the only execution" : count ?
			"there are only %d executions" : "this model has no execution here", count);
		return;
	}
	session_reality_choose(session, to);
	app->generation++;
	const struct reality *y = app_reality(app);
	app_note(app, false, "execution %d of %d%s%s", to + 1, count, y ? ": " : "",
		y ? app_real_of(app, y->execution) : "");
}

static bool reality_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct reality_view *s = state;
	if (key->request == REQUEST_OWN && key->argument == OWN_EXECUTION) {
		execution_choose(app);
		return true;
	}
	if (key->request == REQUEST_OWN && key->argument != OWN_FOLD_TOGGLE) {
		open_all(app, s, key->argument == OWN_OPEN_ALL);
		return true;
	}
	if (row < 0 || row >= s->count)
		return false;
	const bool *flag = flag_of(s, row);
	switch (key->request) {
	case REQUEST_OWN: return fold(app, s, row, flag && !*flag);
	case REQUEST_UNFOLD: return fold(app, s, row, true);
	case REQUEST_FOLD: return fold(app, s, row, false);
	case REQUEST_OPEN:
		if (flag && s->lines[row].layer < 0)
			return fold(app, s, row, !*flag);
		if (s->lines[row].layer < 0)
			return false;
		app_show(app, views_details(), s->lines[row].layer);
		return true;
	default: return false;
	}
}

static void reality_select(struct app *app, void *state, int row)
{
	int layer = ((struct reality_view *)state)->lines[row].layer;
	app->layer = layer >= 0 ? layer : app->layer;
}

/* The largest gap. */
static int reality_row_at_entry(struct app *app, void *state)
{
	const struct reality_view *s = state;
	(void)app;
	for (int i = 0; i < s->count; i++)
		if (s->lines[i].kind == LINE_GAP)
			return i;
	return 0;
}

static const struct list reality_list = {
	.rows = reality_rows,
	.heading = reality_heading,
	.draw_row = reality_draw_row,
	.row_text = reality_row_text,
	.subject = reality_subject,
	.shown_for = reality_shown_for,
	.reveal = reality_reveal,
	.row_at_entry = reality_row_at_entry,
	.passes = reality_passes,
	.select = reality_select,
};

const struct view view_reality = {
	.name = "reality",
	.help = "why a real run is slower than the bound: gaps by kind, and model > layer > kernel; "
		"{fold-open} opens",
	.keys = "ge",
	.group = KEYS_VIEWS,
	.own = reality_keys,
	.state_size = sizeof(struct reality_view),
	.close = reality_close,
	.list = &reality_list,
	.request = reality_request,
	.opens = "open",
};
