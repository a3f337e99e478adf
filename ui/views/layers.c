/* The list of layers: columns by width, orders, and what the cursor can do. */
#include "config.h"

#include "ui/model/real.h"
#include "ui/views/columns.h"
#include "ui/views/layer_text.h"
#include "ui/views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns of the list for a width; a narrow list drops the widest first. Each is followed by one blank. */
struct columns {
	int dag, lanes, name, op, output, cost, bar, share, more, real, status; /* more: columns.h */
};

/* The widest texts of the listed layers: room that they do not need goes to the names. */
struct widths {
	const struct plan_layer *layers;
	int listed_count, op, output;
	struct columns_chosen more;
};

/* Columns left for names. */
static int columns_rest(const struct columns *c, int width)
{
	return width - 2 - c->dag - c->cost - 1 - c->status - (c->share ? c->share + 1 : 0) - c->real -
	       c->more -
	       (c->op ? c->op + 1 : 0) - (c->output ? c->output + 1 : 0) - (c->bar ? c->bar + 1 : 0);
}

static struct columns columns_for(const struct app *app, struct widths *w, int width)
{
	struct columns c = { .cost = 10, .status = app_state_columns(app) };
	int most = width >= 130 ? 12 : width >= 100 ? 8 : width >= 70 ? 5 : 3;
	c.lanes = app->lanes.width < most ? app->lanes.width : most;
	c.lanes = c.lanes < 1 ? 1 : c.lanes;
	c.dag = c.lanes * 2 < 4 ? 4 : c.lanes * 2;
	c.share = width >= 46 ? 6 : 0;
	c.op = width >= 110 ? 14 : width >= 56 ? 9 : 0;
	c.output = width >= 110 ? 18 : width >= 66 ? 13 : 0;
	c.bar = width >= 110 ? 12 : width >= 76 ? 4 : 0;
	c.real = app_has_real_column(app) ? APP_REAL_COLUMNS : 0;
	c.op = c.op > w->op ? w->op : c.op;
	c.output = c.output > w->output ? w->output : c.output;
	int names = app->name_columns > 20 ? app->name_columns : 20;
	c.more = columns_fit(app, &w->more, columns_rest(&c, width) - names, columns_rest(&c, width) +
		(c.bar ? c.bar + 1 : 0) + (c.output ? c.output + 1 : 0) - 15);
	if (columns_rest(&c, width) < 15)
		c.bar = 0;
	if (columns_rest(&c, width) < 15)
		c.output = 0;
	int rest = columns_rest(&c, width);
	c.name = rest < 8 ? 8 : rest;
	return c;
}

/* From ORDER_MORE on: by further columns (columns.h). */
enum layers_order { ORDER_MODEL, ORDER_COST, ORDER_WORK, ORDER_NAME, ORDER_OP, ORDER_REAL, ORDER_MORE };

/* A column's heading, marked if the rows are sorted by it. */
static const char *marked(struct app *app, const char *heading, enum layers_order order)
{
	return arena_printf(&app->scratch, "%s%s", heading, app_order_mark(app, &view_layers, (int)order));
}

/* A sort order without its own column is shown in the heading of the names. */
static const char *name_heading(struct app *app, const struct columns *c, const struct columns_chosen *more)
{
	if (app_order_mark(app, &view_layers, ORDER_WORK)[0])
		return marked(app, "layer by work", ORDER_WORK);
	if (app_order_mark(app, &view_layers, ORDER_OP)[0] && !c->op)
		return marked(app, "layer by op", ORDER_OP);
	if (app_order_mark(app, &view_layers, ORDER_REAL)[0] && !c->real)
		return marked(app, "layer by real time", ORDER_REAL);
	if (app_order_mark(app, &view_layers, ORDER_MODEL)[0])
		return "layer, reversed";
	for (int i = 0; i < column_count(); i++)
		if (!column_is_shown(more, i) && app_order_mark(app, &view_layers, ORDER_MORE + i)[0])
			return marked(app, arena_printf(&app->scratch, "layer by %s", column_name(i)),
				(enum layers_order)(ORDER_MORE + i));
	return marked(app, "layer", ORDER_NAME);
}

/* Where the further columns begin. */
static int more_at(struct area line, const struct columns *c)
{
	return line.width - c->status - c->real - c->more;
}

static void more_heading(struct app *app, struct widths *w, struct area line, const struct columns *c)
{
	int x = more_at(line, c);
	for (int i = 0; i < w->more.shown_count; i++) {
		int column = w->more.shown[i], width = column_width(column);
		int order = strcmp(column_name(column), "flops") == 0 ? ORDER_WORK : ORDER_MORE + column;
		canvas_fit_right(line, x, 0, width, STYLE_DIM,
			marked(app, column_name(column), (enum layers_order)order));
		app_order_spot(app, line, x, width, order);
		x += width + 1;
	}
}

/* Of a layer, or (layer -1) of a closed scope. */
static void draw_more(struct app *app, struct widths *w, int layer, int scope, struct area line,
	const struct columns *c)
{
	int x = more_at(line, c);
	for (int i = 0; i < w->more.shown_count; i++) {
		int column = w->more.shown[i], width = column_width(column);
		enum style style = STYLE_NORMAL;
		const char *text = layer < 0 ? column_scope_text(app, &w->more, column, scope)
					     : column_text(app, &w->more, column, layer, &style);
		canvas_fit_right(line, x, 0, width, style, text);
		x += width + 1;
	}
}

static void layers_heading(struct app *app, void *state, struct area line)
{
	struct columns c = columns_for(app, state, line.width);
	int x = 1;
	canvas_fit(line, x, 0, c.dag, STYLE_DIM, "dag");
	app_order_spot(app, line, x, c.dag, ORDER_MODEL);
	app_order_spot(app, line, x + c.dag + 1, c.name, ORDER_NAME);
	canvas_fit(line, x += c.dag + 1, 0, c.name, STYLE_DIM,
		name_heading(app, &c, &((struct widths *)state)->more));
	x += c.name + 1;
	if (c.op)
		canvas_fit(line, x, 0, c.op, STYLE_DIM, marked(app, "op", ORDER_OP));
	app_order_spot(app, line, x, c.op, ORDER_OP);
	x += c.op ? c.op + 1 : 0;
	if (c.output)
		canvas_fit(line, x, 0, c.output, STYLE_DIM, "output");
	x += c.output ? c.output + 1 : 0;
	canvas_fit_right(line, x, 0, c.cost - 1, STYLE_DIM, marked(app, "cost", ORDER_COST));
	app_order_spot(app, line, x, c.cost + (c.bar ? c.bar + 1 : 0) + c.share, ORDER_COST);
	x += c.cost + (c.bar ? c.bar + 1 : 0);
	if (c.share)
		canvas_fit_right(line, x, 0, c.share, STYLE_DIM, "share");
	more_heading(app, state, line, &c);
	app_order_spot(app, line, line.width - c.status - c.real, c.real, ORDER_REAL);
	if (c.real)
		canvas_fit_right(line, line.width - c.status - c.real, 0, c.real - 1, STYLE_DIM,
			marked(app, "real", ORDER_REAL));
	canvas_fit(line, line.width - c.status, 0, c.status, STYLE_DIM, "state");
}

/* Text of the cost column, and whether it is a number. */
static const char *cost_text(struct app *app, int layer, const struct layer_cost *cost, enum style *style)
{
	char number[STR_QUANTITY];
	*style = STYLE_DIM;
	if (!cost)
		return "-";
	switch (cost->origin) {
	case ORIGIN_FREE:
		/* absorbed: part of an integer layer; ~free: 0 is a lower bound */
		return app_layer(app, layer)->absorbed_by >= 0 ? "absorbed" : cost->folded ? "folded " :
			cost->at_least ? "~free " : "free ";
	case ORIGIN_FUSED: return "fused ";
	case ORIGIN_UNSUPPORTED: *style = STYLE_WARN; return "n/a ";
	case ORIGIN_MISSING: return "- ";
	default: break;
	}
	bool guess = app_is_guess(cost) || isnan(app->places[layer].times),
		repeat = app_same_as(app, layer) >= 0 && cost->origin != ORIGIN_ASSUMED;
	*style = app_is_critical(app, cost) ? STYLE_CRITICAL :
		guess || cost->origin == ORIGIN_ASSUMED ? STYLE_ESTIMATE : STYLE_NORMAL;
	/* no blank before the `~`: every number with its unit fits in nine columns */
	return arena_printf(&app->scratch, "%s%s%s", !repeat ? "" : guess || cost->mistrusted ? "=" : "= ",
		cost->mistrusted ? "!" : cost->origin == ORIGIN_ASSUMED ? "*" : guess ? "~" : "",
		str_duration(number, app_cost_all(app, layer)));
}

/* The cost of a full bar. */
static double cost_most(struct app *app)
{
	double most = 0;
	if (app->scopes.closed) {
		scope_at(app, 0); /* brings it up to date */
		most = app->scopes.most_ns;
	}
	return most > app->most_ns ? most : app->most_ns;
}

static void draw_cost(struct app *app, int layer, struct area line, int x, const struct columns *c)
{
	const struct layer_cost *cost = app_cost(app, layer);
	double ns = app_cost_all(app, layer);
	double total = session_analysis(app->session) ? session_analysis(app->session)->sequential_ns : NAN;
	enum style style;
	const char *text = cost_text(app, layer, cost, &style);
	int same = app_same_as(app, layer),
	    rest = c->cost + (c->bar ? c->bar + 1 : 0) + (c->share ? c->share : 0);
	if (cost && cost->origin == ORIGIN_MISSING && same >= 0) {
		const char *name = app_name(app, same);
		int used = canvas_text(line, x + 1, 0, STYLE_DIM, "= ");
		canvas_fit_tail(line, x + 1 + used, 0, rest - used - 2, STYLE_DIM, name);
		return;
	}
	canvas_fit_right(line, x, 0, c->cost - 1, style, text);
	if (!cost || !(ns > 0))
		return;
	x += c->cost;
	if (c->bar && app->most_ns > 0)
		canvas_bar(line, x, 0, c->bar, style == STYLE_CRITICAL ? STYLE_CRITICAL : STYLE_ACCENT,
			ns / cost_most(app));
	x += c->bar ? c->bar + 1 : 0;
	if (c->share && total > 0)
		canvas_fit_right(line, x, 0, c->share, STYLE_NORMAL, app_share(app, ns, total));
}

/* The real time, marked `<` if it contradicts the bound; of layers that the framework fused at the first. */
static void draw_real(struct app *app, int layer, struct area line, const struct columns *c)
{
	const struct reality_group *g = app_real_group(app, layer);
	bool first = g && g->layers[0] == layer, less = app_is_contradicted(app, layer);
	char number[STR_QUANTITY];
	if (!g || !c->real)
		return;
	canvas_fit_right(line, line.width - c->status - c->real, 0, c->real - 1,
		!first ? STYLE_DIM : less ? STYLE_BAD : STYLE_NORMAL,
		!first ? "fused " : arena_printf(&app->scratch, "%s%s", less ? "<" : "",
			str_duration(number, g->real_ns)));
}

static void draw_dag(const struct app *app, int row, struct area line, const struct columns *c)
{
	int layer = app->listed[row];
	const struct layer_cost *cost = app_cost(app, layer);
	bool critical = app_is_critical(app, cost);
	bool costs = !cost || (cost->origin != ORIGIN_FREE && cost->origin != ORIGIN_FUSED);
	uint32_t sign = critical ? 0x25c6 : costs ? 0x25cf : 0x25cb;
	bool in_order = !app_is_sorted(app, &view_layers) && !app_is_filtered(app, &view_layers);
	if (in_order && app_is_body(app, layer))
		lanes_pass(&app->lanes, app->lane_of[row], line, 1, 0, c->lanes);
	else if (in_order)
		lanes_draw(&app->lanes, app->lane_of[row], line, 1, 0, c->lanes, sign,
			critical ? STYLE_CRITICAL : STYLE_ACCENT);
	else
		canvas_put(line, 1, 0, critical ? STYLE_CRITICAL : STYLE_ACCENT, sign);
}

static void widths_renew(struct app *app, struct widths *w)
{
	w->layers = app->lanes_layers;
	w->listed_count = app->listed_count;
	w->op = 2;
	w->output = 6;
	for (int row = 0; row < app->listed_count; row++) {
		const struct plan_layer *l = app_layer(app, app->listed[row]);
		const struct plan *p = app->places[app->listed[row]].plan;
		struct arena_mark mark = arena_mark(&app->scratch);
		int op = canvas_columns(layer_op(app, l)), at = l->output_count ? l->outputs[0] : -1;
		int output = at < 0 ? 0 : canvas_columns(plan_value_text(&app->scratch, &p->values[at]));
		w->op = op > w->op ? op : w->op;
		w->output = output > w->output ? output : w->output;
		arena_return(&app->scratch, mark);
	}
}

static int layers_rows(struct app *app, void *state, int width)
{
	struct widths *w = state;
	if (w->layers != app->lanes_layers || w->listed_count != app->listed_count)
		widths_renew(app, w);
	columns_for(app, w, width); /* which columns are shown, for sorting */
	return app->listed_count;
}

/* The scope that a row shows, or -1. */
static int scope_row(const struct app *app, int row)
{
	return app_is_filtered(app, &view_layers) ? -1 : scope_shown_at(app, app->listed[row]);
}

static void draw_scope_cost(struct app *app, const struct scope *s, struct area line, int x,
	const struct columns *c)
{
	char number[STR_QUANTITY];
	double total = session_analysis(app->session) ? session_analysis(app->session)->sequential_ns : NAN;
	/* with gaps at least that much, or, since estimates are no lower bound, a guess */
	const char *mark = s->guess ? "~" : s->missing ? "\u2265" : "";
	enum style style = s->critical ? STYLE_CRITICAL : STYLE_NORMAL;
	bool unknown = isnan(s->ns) || (s->missing && s->ns == 0); /* only free layers are known */
	canvas_fit_right(line, x, 0, c->cost - 1, unknown ? STYLE_DIM : style,
		unknown ? "- " : arena_printf(&app->scratch, "%s%s", mark, str_duration(number, s->ns)));
	x += c->cost;
	if (!(s->ns > 0))
		return;
	if (c->bar)
		canvas_bar(line, x, 0, c->bar, s->critical ? STYLE_CRITICAL : STYLE_ACCENT,
			s->ns / cost_most(app));
	x += c->bar ? c->bar + 1 : 0;
	if (c->share && total > 0)
		canvas_fit_right(line, x, 0, c->share, STYLE_NORMAL, app_share(app, s->ns, total));
}

/* A closed scope: subtotals, and of the DAG only what runs past it. */
static void draw_scope(struct app *app, struct widths *w, int scope, struct area line,
	const struct columns *c)
{
	const struct scope *s = scope_at(app, scope);
	enum style style;
	if (!app_is_sorted(app, &view_layers))
		lanes_pass(&app->lanes, app->lane_of[s->last_row], line, 1, 0, c->lanes);
	const char *count = arena_printf(&app->scratch, "%d layers", s->layers);
	if (canvas_columns(count) > c->op)
		count = arena_printf(&app->scratch, "x%d", s->layers);
	const char *name = arena_printf(&app->scratch, "\u25b8 %s", s->path);
	int x = 2 + c->dag;
	if (!c->op)
		name = arena_printf(&app->scratch, "%s (%d)", name, s->layers);
	canvas_fit_tail(line, x, 0, c->name, STYLE_BOLD, name);
	x += c->name + 1;
	if (c->op)
		canvas_fit(line, x, 0, c->op, STYLE_DIM, count);
	x += c->op ? c->op + 1 : 0;
	if (c->output && s->missing)
		canvas_fit(line, x, 0, c->output, STYLE_WARN,
			arena_printf(&app->scratch, "%d no cost", s->missing));
	x += c->output ? c->output + 1 : 0;
	draw_scope_cost(app, s, line, x, c);
	draw_more(app, w, -1, scope, line, c);
	const char *word = app_state_word(app, scope_worst(app, scope), &style);
	canvas_fit(line, line.width - c->status, 0, c->status, style, word);
}

static void layers_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	int layer = app->listed[row];
	const struct plan_layer *l = app_layer(app, layer);
	struct columns c = columns_for(app, state, line.width);
	int scope = scope_row(app, row);
	if (scope >= 0) {
		draw_scope(app, state, scope, line, &c);
		return;
	}
	const struct layer_cost *cost = app_cost(app, layer);
	enum style style = layer_fused_into(cost, layer) || l->class == CLASS_FREE || (cost && cost->folded) ?
		STYLE_DIM : STYLE_NORMAL;
	draw_dag(app, row, line, &c);
	int x = 2 + c.dag;
	bool in_order = !app_is_sorted(app, &view_layers);
	int used = in_order ? canvas_text(line, x, 0, STYLE_DIM,
				      layer_prefix(app, layer, above >= 0 ? app->listed[above] : -1))
			    : 0;
	canvas_fit_tail(line, x + used, 0, c.name - used, style,
		app_name(app, layer));
	x += c.name + 1;
	if (c.op)
		canvas_fit(line, x, 0, c.op, style, layer_op(app, l));
	x += c.op ? c.op + 1 : 0;
	if (c.output)
		canvas_fit(line, x, 0, c.output, style,
			layer_output(app, app->places[layer].plan, l, line, c.output));
	x += c.output ? c.output + 1 : 0;
	draw_cost(app, layer, line, x, &c);
	draw_more(app, state, layer, -1, line, &c);
	draw_real(app, layer, line, &c);
	const char *word = app_layer_state(app, layer, &style);
	canvas_fit(line, line.width - c.status, 0, c.status, style, word);
}

/* Text for search: all that the row and the footer show of the layer. */
static const char *layers_row_text(struct app *app, void *state, int row)
{
	(void)state;
	const struct plan_layer *l = app_layer(app, app->listed[row]);
	int layer = app->listed[row], at = l->output_count ? l->outputs[0] : -1;
	const struct plan *p = app->places[layer].plan;
	enum style style;
	const char *problem = app_problem(app, layer);
	const char *output = at >= 0 ? app_clean(app,
		text_of(plan_value_text(&app->scratch, &p->values[at]))) : "";
	return arena_printf(&app->scratch, "%s %s %s %s %s %s %s %s%s", app_clean(app, l->name),
		app_name(app, layer),
		app_clean(app, l->node->op), op_class_name(l->class), output,
		cost_text(app, layer, app_cost(app, layer), &style), app_layer_terms(app, layer),
		problem ? problem : "", app_is_contradicted(app, layer) ? " contradicted" : "");
}

/* The name and the operator, uncleaned: a typed text has no control characters. */
static bool layers_row_has(struct app *app, void *state, int row, struct text text)
{
	(void)state;
	const struct plan_layer *l = app_layer(app, app->listed[row]);
	return text_contains(l->name, text) || text_contains(l->node->op, text);
}

static struct subject layers_subject(struct app *app, void *state, int row)
{
	(void)state;
	return subject_of_layer(app, app->listed[row]);
}

static const char *layers_orders[ORDER_MORE + COLUMNS_MAX + 1] = { "model order", "cost", "work (FLOPs)",
	"name", "operator", "real time" };

/* The orders by further columns have their names. */
static void layers_open(struct app *app, void *state)
{
	(void)app;
	(void)state;
	for (int i = 0; i < column_count(); i++)
		layers_orders[ORDER_MORE + i] = column_name(i);
}

static void layers_close(struct app *app, void *state)
{
	(void)app;
	columns_free(&((struct widths *)state)->more);
}

static json_t *layers_keep(const struct app *app, const void *state)
{
	const char *words = columns_words(&((const struct widths *)state)->more);
	(void)app;
	return words ? json_pack("{s:s}", "columns", words) : NULL;
}

/* The columns are found at once, so that an order by one of them is offered. */
static void layers_restore(struct app *app, void *state, const json_t *kept)
{
	columns_choose(&((struct widths *)state)->more, json_string_at(kept, "columns", ""));
	columns_fit(app, &((struct widths *)state)->more, 0, 1000);
}

static bool layers_offers(const struct app *app, const void *state, int order)
{
	const struct widths *w = state;
	if (order >= ORDER_MORE) /* FLOPs have an order anyway */
		return column_is_shown(&w->more, order - ORDER_MORE) &&
			strcmp(column_name(order - ORDER_MORE), "flops") != 0;
	return order != ORDER_REAL || (app_reality(app) && app_reality(app)->group_count);
}

/* A closed scope is sorted by its subtotals. */
static double row_cost(struct app *app, int row)
{
	int scope = scope_row(app, row);
	return scope >= 0 ? scope_at(app, scope)->ns : app_cost_all(app, app->listed[row]);
}

static double row_flops(struct app *app, int row)
{
	int scope = scope_row(app, row);
	return scope >= 0 ? scope_at(app, scope)->flops : app_layer(app, app->listed[row])->flops;
}

static bool layers_number(struct app *app, void *state, int order, int row, double *number)
{
	int layer = app->listed[row];
	switch (order) {
	case ORDER_COST: *number = row_cost(app, row); return true;
	case ORDER_WORK: *number = row_flops(app, row); return true;
	case ORDER_REAL: *number = app_real_ns(app, layer); return true;
	default:
		return order >= ORDER_MORE &&
			column_number(
				app, &((struct widths *)state)->more, order - ORDER_MORE, layer, number);
	}
}

static int layers_compare(struct app *app, void *state, int order, int a, int b)
{
	(void)state;
	int i = app->listed[a], j = app->listed[b];
	const struct plan_layer *x = app_layer(app, i), *y = app_layer(app, j);
	return order == ORDER_NAME ? text_compare(x->name, y->name) :
		order == ORDER_OP ? text_compare(x->node->op, y->node->op) :
		order >= ORDER_MORE ? column_compare(app, order - ORDER_MORE, i, j) : 0;
}

enum { OWN_FOLD_TOGGLE, OWN_FOLD_ALL, OWN_OPEN_ALL, OWN_COLUMNS };

static const struct key_row layers_keys[] = {
	{ "za", REQUEST_OWN, OWN_FOLD_TOGGLE, KEYS_VIEWS, "open or close the scope",
		.name = "fold-toggle" },
	{ "zM", REQUEST_OWN, OWN_FOLD_ALL, KEYS_VIEWS, "close all scopes", .name = "fold-all" },
	{ "zR", REQUEST_OWN, OWN_OPEN_ALL, KEYS_VIEWS, "open all scopes", .name = "unfold-all" },
	{ "|", REQUEST_OWN, OWN_COLUMNS, KEYS_VIEWS,
		"next set of further columns: limit, work, savings of what-ifs, none",
		.name = "columns" },
	{ 0 }
};

/* The keys of scopes. */
static bool layers_fold(struct app *app, int key, int layer)
{
	if (app_is_filtered(app, &view_layers)) {
		app_note(app, false, "scopes are open while a filter is set: %s clears it",
			key_named("back"));
		return true;
	}
	if (!app->scopes.count) {
		app_note(app, false, "the layers' names have no scopes");
		return true;
	}
	if (key == OWN_FOLD_TOGGLE)
		return scope_open(app, layer) || scope_close(app, layer);
	scopes_set_all(app, key == OWN_FOLD_ALL);
	app_note(app, false, "%d scopes %s", app->scopes.count, key == OWN_FOLD_ALL ? "closed" : "open");
	return true;
}

static bool layers_request(struct app *app, void *state, const struct key_row *key, int row)
{
	if (key->request == REQUEST_OWN && key->argument == OWN_COLUMNS) {
		app_note(app, false, "further columns: %s",
			columns_next(app, &((struct widths *)state)->more));
		app->generation++;
		return true;
	}
	if (key->request == REQUEST_GAINS) {
		columns_show_gain(&((struct widths *)state)->more, key->argument);
		app->generation++;
		return true;
	}
	if (row < 0)
		return false;
	int layer = app->listed[row], scope = scope_row(app, row);
	switch (key->request) {
	case REQUEST_OWN: return layers_fold(app, key->argument, layer);
	case REQUEST_UNFOLD: return scope >= 0 ? scope_open(app, layer) : app_unfold(app, layer);
	case REQUEST_FOLD:
		return (scope < 0 && app_fold(app, layer)) ||
			(!app_is_filtered(app, &view_layers) && scope_close(app, layer));
	case REQUEST_OPEN:
		if (scope >= 0)
			return scope_open(app, layer);
		app_show(app, &view_detail, layer);
		return true;
	default: return false;
	}
}

/* The row of a closed scope stands for all its layers. */
static int layers_shown_for(struct app *app, void *state, int row)
{
	(void)state;
	int scope = scope_closed_around(app, app->listed[row]);
	return scope >= 0 ? app->row_of[app->scopes.list[scope].first] : row;
}

static void layers_reveal(struct app *app, void *state, int row)
{
	(void)state;
	scope_reveal(app, app->listed[row]);
}

static void layers_select(struct app *app, void *state, int row)
{
	(void)state;
	app->layer = app->listed[row];
}

static int layers_row_of_layer(struct app *app, void *state, int layer)
{
	(void)state;
	if (layer < 0)
		return -1;
	app->layer = app_listed_at(app, layer); /* inside a closed layer: that layer */
	return app->row_of[app->layer];
}

static const struct list layers_list = {
	.rows = layers_rows,
	.heading = layers_heading,
	.draw_row = layers_draw_row,
	.row_text = layers_row_text,
	.row_has = layers_row_has,
	.subject = layers_subject,
	.shown_for = layers_shown_for,
	.reveal = layers_reveal,
	.orders = layers_orders,
	.offers = layers_offers,
	.compare = layers_compare,
	.number = layers_number,
	.select = layers_select,
	.row_of_layer = layers_row_of_layer,
	.long_names = true,
};

const struct view view_layers = {
	.name = "layers",
	.help = "the model's layers in execution order, with the DAG as lanes beside them",
	.keys = "1",
	.group = KEYS_VIEWS,
	.state_size = sizeof(struct widths),
	.open = layers_open,
	.close = layers_close,
	.list = &layers_list,
	.own = layers_keys,
	.keep = layers_keep,
	.restore = layers_restore,
	.request = layers_request,
	.beside = true,
};
