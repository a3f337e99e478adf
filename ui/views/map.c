/* The whole model in one screen: a column for each level of the DAG (a layer's level is one more than the
 * highest of its producers), its layers on top of one another, shaded by cost, with their names where there
 * is room; above them the scopes. What is wider than the screen continues in strips below; what has more
 * levels than fit, has several levels in a column. */
#include "config.h"

#include "ui/views/chart.h"
#include "ui/views/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct map {
	int *level;            /* per layer of the model's graph; -1: not shown */
	int *order;            /* shown layers by level, then by number */
	int count, level_count;
	int *first;            /* per level: its first layer in `order`; one more at the end */
	int name_columns;      /* of the longest name; 0: too many layers for names */
	struct area seen;      /* where it was drawn last; only its size counts */
	uint64_t generation;
};

/* How the levels are placed in an area. */
struct map_grid {
	int per_column;        /* levels of a column */
	int columns;           /* with layers */
	int per_strip;         /* columns side by side */
	int cell;              /* characters of a column */
	int high;              /* rows of the highest strip, without the ruler above */
	int ruler;             /* rows of scopes above each strip: 1, or 0 where there is no room */
	int strips;
	int per_cell;          /* layers in a cell, at most */
	double most_ns;        /* highest cost of a cell */
};

#define NAMES_MOST 3000 /* layers; more have no room for names on any screen */
#define NAME_COLUMNS 20

static int names_columns(struct app *app, const struct map *s)
{
	int most = 0;
	for (int i = 0; i < s->count && s->count <= NAMES_MOST; i++) {
		int columns = canvas_columns(chart_leaf(app, s->order[i]));
		most = columns > most ? columns : most;
	}
	return most < NAME_COLUMNS ? most : NAME_COLUMNS;
}

static void map_renew(struct app *app, struct map *s)
{
	const struct plan *p = app_plan(app);
	if (s->generation == app->generation)
		return;
	s->generation = app->generation;
	s->count = s->level_count = 0;
	int n = p ? p->layer_count : 0;
	s->level = base_realloc(s->level, ((size_t)n + 1) * sizeof(int));
	s->order = base_realloc(s->order, ((size_t)n + 1) * sizeof(int));
	for (int i = 0; i < n; i++) {
		s->level[i] = 0;
		for (int k = 0; k < p->layers[i].pred_count; k++) {
			int before = s->level[p->layers[i].preds[k]] + 1;
			s->level[i] = before > s->level[i] ? before : s->level[i];
		}
		if (app_is_folded(app, i))
			s->level[i] = -1;
		s->level_count = s->level[i] >= s->level_count ? s->level[i] + 1 : s->level_count;
	}
	s->first = base_realloc(s->first, ((size_t)s->level_count + 2) * sizeof(int));
	memset(s->first, 0, ((size_t)s->level_count + 2) * sizeof(int));
	for (int i = 0; i < n; i++)
		if (s->level[i] >= 0)
			s->first[s->level[i] + 2]++;
	for (int l = 0; l < s->level_count; l++)
		s->first[l + 2] += s->first[l + 1];
	for (int i = 0; i < n; i++)
		if (s->level[i] >= 0)
			s->order[s->first[s->level[i] + 1]++] = i;
	s->count = s->first[s->level_count];
	s->name_columns = names_columns(app, s);
}

static void map_close(struct app *app, void *state)
{
	struct map *s = state;
	(void)app;
	free(s->level);
	free(s->order);
	free(s->first);
}

/* ---- the grid ---- */

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* First layer of a column in `order`, also of the one after the last. */
static int column_first(const struct map *s, const struct map_grid *g, int column)
{
	return s->first[least(column * g->per_column, s->level_count)];
}

static int column_layers(const struct map *s, const struct map_grid *g, int column)
{
	return column_first(s, g, column + 1) - column_first(s, g, column);
}

/* A column of several cells: the layers of each row from the bottom, `per_cell` a row. */
static int rows_of(const struct map *s, const struct map_grid *g, int column)
{
	return (column_layers(s, g, column) + g->per_cell - 1) / g->per_cell;
}

static double cell_ns(const struct app *app, const struct map *s, const struct map_grid *g, int column,
	int row, bool *unknown)
{
	int from = column_first(s, g, column) + row * g->per_cell;
	int end = least(from + g->per_cell, column_first(s, g, column + 1));
	double sum = 0;
	*unknown = false;
	for (int i = from; i < end; i++) {
		double ns = app_cost_all(app, s->order[i]);
		*unknown |= isnan(ns);
		sum += isnan(ns) ? 0 : ns;
	}
	return sum;
}

/* Rows of the layers of a strip: of its highest column. */
static int strip_high(const struct map *s, const struct map_grid *g, int strip)
{
	int most = 1, end = least((strip + 1) * g->per_strip, g->columns);
	for (int i = strip * g->per_strip; i < end; i++)
		most = rows_of(s, g, i) > most ? rows_of(s, g, i) : most;
	return most;
}

static bool strips_fit(const struct map *s, struct map_grid *g, struct area a)
{
	int rows = 0;
	g->columns = (s->level_count + g->per_column - 1) / g->per_column;
	g->per_strip = a.width / g->cell;
	if (g->per_strip < 1)
		return false;
	g->strips = (g->columns + g->per_strip - 1) / g->per_strip;
	g->high = 1;
	for (int i = 0; i < g->strips; i++) {
		int high = strip_high(s, g, i);
		g->high = high > g->high ? high : g->high;
		rows += high;
	}
	g->ruler = g->high < a.height;
	return rows + g->strips * g->ruler <= a.height;
}

/* Columns of a cell besides its name: shades, and blanks beside the name. */
#define CELL_SIGNS 4
#define CELL_NAMED 8 /* the least with a name */
#define CELL_PLAIN 6 /* the most without */

static bool is_named(const struct map_grid *g)
{
	return g->cell >= CELL_NAMED && g->per_column == 1 && g->per_cell == 1;
}

/* The widest cells with which every level has a column of its own; else narrow ones with several levels or,
 * where too many layers are side by side, several layers. */
static struct map_grid grid_make(const struct app *app, const struct map *s, struct area a)
{
	struct map_grid g = { .per_column = 1, .per_cell = 1, .cell = 1 };
	if (a.width < 1 || a.height < 1)
		return g;
	int widest = s->name_columns + CELL_SIGNS;
	g.cell = !s->name_columns ? CELL_PLAIN : widest > CELL_NAMED ? widest : CELL_NAMED;
	while (g.cell > 1 && !strips_fit(s, &g, a))
		g.cell = g.cell == CELL_NAMED ? CELL_PLAIN : g.cell - 1;
	if (s->level_count > a.width * a.height)
		g.per_column = s->level_count / (a.width * a.height);
	while (!strips_fit(s, &g, a) && g.columns > g.per_strip)
		g.per_column++;
	if (g.high > a.height) {
		g.per_cell = (g.high + a.height - 1) / a.height;
		g.high = a.height;
		g.ruler = 0;
	}
	for (int c = 0; c < g.columns; c++)
		for (int r = 0; r < rows_of(s, &g, c); r++) {
			bool unknown;
			g.most_ns = fmax(g.most_ns, cell_ns(app, s, &g, c, r, &unknown));
		}
	return g;
}

/* The place of a layer in `order`, or -1. */
static int index_of(const struct app *app, const struct map *s, int layer)
{
	layer = chart_outermost(app, layer);
	const struct plan *p = app_plan(app);
	if (layer < 0 || !s->count || !p || layer >= p->layer_count || s->level[layer] < 0)
		return -1;
	int i = s->first[s->level[layer]];
	while (s->order[i] != layer)
		i++;
	return i;
}

/* In the area of a strip. layer: its first one */
static void draw_cell(struct app *app, const struct map *s, const struct map_grid *g, struct area a,
	int column, int row, bool selected, int layer)
{
	bool unknown;
	double ns = cell_ns(app, s, g, column, row, &unknown);
	int level = unknown && !(ns > 0) ? CHART_UNKNOWN : chart_level(ns, g->most_ns);
	int x = column % g->per_strip * g->cell, y = a.height - 1 - row;
	int wide = g->cell > 1 ? g->cell - 1 : 1, signs = is_named(g) ? 2 : wide;
	canvas_fill(a, x, y, signs, chart_heat(level), chart_sign(a, level));
	app_item(app, a, x, y, wide, layer);
	if (signs < wide)
		canvas_fit(a, x + signs + 1, y, wide - signs - 1, selected ? STYLE_BOLD : STYLE_NORMAL,
			chart_leaf(app, layer));
	if (unknown && level != CHART_UNKNOWN && wide > 1)
		canvas_put(a, x, y, STYLE_BAD, '?');
	if (!selected)
		return;
	canvas_select(canvas_part(a, x, y, wide, 1), 0);
	if (g->cell == 2)
		canvas_put(a, x + 1, y, STYLE_BOLD, '<');
	if (wide > 2) {
		canvas_put(a, x, y, STYLE_BOLD, '[');
		canvas_put(a, x + wide - 1, y, STYLE_BOLD, ']');
		canvas_select(canvas_part(a, x, y, wide, 1), 0);
	}
}

/* Its scopes, of the lowest layer of each column, and its cells. */
static void draw_strip(struct app *app, const struct map *s, const struct map_grid *g, struct area a,
	int first, int end)
{
	struct chart_span *spans = ARENA_ARRAY(&app->scratch, struct chart_span, (size_t)g->per_strip + 1);
	int chosen = index_of(app, s, app->layer);
	for (int c = first; c < end; c++) {
		spans[c - first] = (struct chart_span){ (c - first) * g->cell, (c - first + 1) * g->cell,
			s->order[column_first(s, g, c)] };
		for (int r = 0; r < rows_of(s, g, c); r++) {
			int from = column_first(s, g, c) + r * g->per_cell;
			draw_cell(app, s, g, a, c, r, chosen >= from && chosen < from + g->per_cell,
				s->order[from]);
		}
	}
	if (g->ruler)
		chart_scopes(app, canvas_part(a, 0, 0, a.width, 1), spans, end - first);
}

/* ---- texts ---- */

static const char *scale_text(struct app *app, const struct map *s, const struct map_grid *g)
{
	const char *text = arena_printf(&app->scratch, "%d layers in %d levels", s->count, s->level_count);
	if (g->per_column > 1)
		text = arena_printf(&app->scratch, "%s, %d levels a column", text, g->per_column);
	if (g->per_cell > 1)
		text = arena_printf(&app->scratch, "%s, up to %d layers a cell", text, g->per_cell);
	return arena_printf(&app->scratch, "%s, from left to right%s%s", text,
		g->high > 1 ? "; those above one another may run side by side" : "",
		g->most_ns > 0 ? "" : "; no cost is known");
}

/* What the shades mean: the bounds of the colours. */
static void draw_legend(struct app *app, const struct map_grid *g, struct area line)
{
	struct arena *a = &app->scratch;
	static const int tops[] = { 1, CHART_HEAT_MIDDLE, CHART_LEVELS };
	struct chart_key keys[6] = { { STYLE_DIM, "", "cost" } };
	int count = 1, from = 1;
	for (size_t i = 0; i < 3 && g->most_ns > 0; from = tops[i++] + 1) {
		struct str sign = { 0 };
		char most[STR_QUANTITY];
		canvas_encode(&sign, chart_sign(line, from));
		if (from < tops[i]) {
			str_add(&sign, "-", 1);
			canvas_encode(&sign, chart_sign(line, tops[i]));
		}
		keys[count++] = (struct chart_key){ chart_heat(tops[i]), arena_printf(a, "%s", sign.p),
			arena_printf(a, "to %s", str_duration(most, g->most_ns * tops[i] / CHART_LEVELS)) };
		str_free(&sign);
	}
	keys[count++] = (struct chart_key){ STYLE_DIM, "\u00b7", "no kernel" };
	keys[count++] = (struct chart_key){ STYLE_BAD, "?", "not known" };
	chart_keys(line, keys, count);
}

static const char *chosen_text(struct app *app, const struct map *s)
{
	int at = index_of(app, s, app->layer);
	if (at < 0)
		return "";
	int level = s->level[s->order[at]], beside = s->first[level + 1] - s->first[level];
	const char *text = arena_printf(&app->scratch, "%s  %s  level %d", chart_name(app, app->layer),
		chart_cost(app, app->layer), level + 1);
	return beside > 1 ? arena_printf(&app->scratch, "%s, one of %d side by side", text, beside) : text;
}

#define LEGEND_LEAST 4 /* rows of an area with a legend */

static void map_draw(struct app *app, void *state, struct area area)
{
	struct map *s = state;
	map_renew(app, s);
	if (!s->count) {
		canvas_fit(area, 1, 0, area.width - 1, STYLE_DIM, "no layers");
		return;
	}
	/* the grid decides the second line, whose rows are left first: it takes about as many */
	struct map_grid g = grid_make(app, s, canvas_part(area, 1, 0, area.width - 2, area.height - 2));
	struct chart_line lines[] = { { chosen_text(app, s), STYLE_BOLD },
		{ scale_text(app, s, &g), STYLE_DIM } };
	struct area above = chart_above(area, lines, 2);
	int legend = above.height >= LEGEND_LEAST;
	s->seen = canvas_part(above, 1, legend, area.width - 2, above.height - legend);
	g = grid_make(app, s, s->seen);
	if (legend)
		draw_legend(app, &g, canvas_part(above, 0, 0, area.width, 1));
	lines[1].text = scale_text(app, s, &g);
	chart_foot(chart_below(area, above), lines, 2);
	for (int i = 0, y = 0; i < g.strips && s->seen.width > 0 && s->seen.height > 0; i++) {
		int rows = g.ruler + strip_high(s, &g, i);
		draw_strip(app, s, &g, canvas_part(s->seen, 0, y, s->seen.width, rows), i * g.per_strip,
			least((i + 1) * g.per_strip, g.columns));
		y += rows;
	}
}

/* ---- keys ---- */

enum { MAP_LEFT, MAP_RIGHT };

/* The layer as high as `index` in a column `by` columns away; the same if there is no such column. */
static int column_step(const struct map *s, const struct map_grid *g, int index, int by)
{
	int column = s->level[s->order[index]] / g->per_column, to = column + by;
	int above = index - column_first(s, g, column);
	if (to < 0 || to >= g->columns)
		return index;
	return column_first(s, g, to) + least(above, column_layers(s, g, to) - 1);
}

/* Up and down within a column, beyond it to the strip above or below. */
static int row_step(const struct map *s, const struct map_grid *g, int index, int by)
{
	int column = s->level[s->order[index]] / g->per_column, to = index + by;
	if (to >= column_first(s, g, column) && to < column_first(s, g, column + 1))
		return to;
	int strip = column - by * g->per_strip;
	if (strip < 0 || strip >= g->columns)
		return index;
	return by > 0 ? column_first(s, g, strip) : column_first(s, g, strip + 1) - 1;
}

static bool map_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct map *s = state;
	(void)row;
	map_renew(app, s);
	int at = index_of(app, s, app->layer), n = app->count ? app->count : 1;
	if (key->request == REQUEST_OPEN && at >= 0) {
		app_show(app, &view_layers, app->layer);
		return true;
	}
	if (!s->count || s->seen.width < 1 || s->seen.height < 1)
		return key->request == REQUEST_OWN;
	struct map_grid g = grid_make(app, s, s->seen);
	int before = at;
	bool right = key->request == REQUEST_OWN && key->argument == MAP_RIGHT;
	at = at < 0 ? 0 : at;
	for (int last = -1; n > 0 && at != last; n--) {
		last = at;
		switch (key->request) {
		case REQUEST_OWN: at = column_step(s, &g, at, right ? 1 : -1); break;
		case REQUEST_DOWN: at = row_step(s, &g, at, -1); break;
		case REQUEST_UP: at = row_step(s, &g, at, 1); break;
		case REQUEST_FIRST: at = 0; break;
		case REQUEST_LAST: at = s->count - 1; break;
		default: return false;
		}
	}
	app->layer = at == before ? app->layer : s->order[at];
	return true;
}

static const struct key_row map_keys[] = {
	{ "l Right", REQUEST_OWN, MAP_RIGHT, KEYS_CHARTS, "to the next level", .counts = true,
		.name = "right" },
	{ "h Left", REQUEST_OWN, MAP_LEFT, KEYS_CHARTS, "to the previous level", .counts = true,
		.name = "left" },
	{ 0 }
};

const struct view view_map = {
	.name = "map",
	.help = "the whole model in one screen: a column a level of the graph, shaded by cost",
	.keys = "gm",
	.group = KEYS_CHARTS,
	.own = map_keys,
	.opens = "layers",
	.state_size = sizeof(struct map),
	.close = map_close,
	.draw = map_draw,
	.request = map_request,
	.own_footer = true,
};
