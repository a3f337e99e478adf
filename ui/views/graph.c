/* The neighbourhood of the selected layer as boxes: levels of producers above, of consumers below, two
 * or as many as have room; its siblings (which read what it reads) beside it. The selected layer moves, and
 * the view with it. */
#include "config.h"

#include "ui/views/chart.h"
#include "ui/views/view.h"

#include <math.h>
#include <string.h>

#define CENTRE 6
#define LEVELS (2 * CENTRE + 1) /* at most */
#define REACH 2                 /* levels on either side, at least */
#define NODES_MAX 64 /* of a level, before those that fit are chosen */

struct graph_node {
	int layer;
	int x, width;        /* columns of its box; width 0: no room */
};

struct graph_level {
	int count, more;     /* in `nodes`; found, but not among them */
	int from, shown;     /* the first with a box, and how many have one */
	int y, height;       /* rows of the boxes; height 0: none */
	struct graph_node nodes[NODES_MAX];
};

struct nearby {
	struct graph_level levels[LEVELS];
	int reach;           /* levels on either side */
	int edges_left_out;  /* between layers that are shown, but not one level apart */
};

/* ---- neighbours ---- */

/* Neighbours of a layer in its own graph: preds or succs, as numbers of the explorer. */
static int neighbour_count(const struct app *app, int layer, bool up)
{
	const struct plan_layer *l = app_layer(app, layer);
	return !l ? 0 : up ? l->pred_count : l->succ_count;
}

static int neighbour(const struct app *app, int layer, bool up, int i)
{
	const struct place *at = &app->places[layer];
	return at->base + (up ? at->layer->preds[i] : at->layer->succs[i]);
}

static bool is_neighbour(const struct app *app, int layer, int other)
{
	for (int i = 0; i < neighbour_count(app, layer, false); i++)
		if (neighbour(app, layer, false, i) == other)
			return true;
	return false;
}

static int level_of(const struct nearby *g, int layer)
{
	for (int l = 0; l < LEVELS; l++)
		for (int i = 0; i < g->levels[l].count; i++)
			if (g->levels[l].nodes[i].layer == layer)
				return l;
	return -1;
}

static void level_add(const struct app *app, struct nearby *g, int level, int layer)
{
	struct graph_level *l = &g->levels[level];
	if (level_of(g, layer) >= 0 || (!app->show_folded && app_is_folded(app, layer)))
		return;
	if (l->count < NODES_MAX)
		l->nodes[l->count++] = (struct graph_node){ .layer = layer };
	else
		l->more++;
}

/* Siblings read an output of a producer of the layer; of a layer without producers, those that feed its
 * consumers. In the order of the model, at most NODES_MAX, the layer among them. */
static void siblings_find(const struct app *app, struct nearby *g, int layer)
{
	struct graph_level *l = &g->levels[CENTRE];
	bool up = neighbour_count(app, layer, true) > 0;
	l->nodes[l->count++].layer = layer;
	for (int i = 0; i < neighbour_count(app, layer, up); i++) {
		int other = neighbour(app, layer, up, i);
		for (int k = 0; k < neighbour_count(app, other, !up); k++) {
			int sibling = neighbour(app, other, !up, k);
			if (!is_neighbour(app, layer, sibling) && !is_neighbour(app, sibling, layer))
				level_add(app, g, CENTRE, sibling);
		}
	}
	for (int i = 1; i < l->count; i++)
		for (int k = i; k > 0 && l->nodes[k - 1].layer > l->nodes[k].layer; k--) {
			struct graph_node node = l->nodes[k];
			l->nodes[k] = l->nodes[k - 1];
			l->nodes[k - 1] = node;
		}
}

static void neighbours_add(const struct app *app, struct nearby *g, int from, bool up)
{
	struct graph_level *l = &g->levels[from];
	for (int i = 0; i < l->count; i++)
		for (int k = 0; k < neighbour_count(app, l->nodes[i].layer, up); k++)
			level_add(app, g, from + (up ? -1 : 1), neighbour(app, l->nodes[i].layer, up, k));
}

static void graph_find(const struct app *app, struct nearby *g, int layer, int reach)
{
	struct graph_level *centre = &g->levels[CENTRE];
	memset(g, 0, sizeof(*g));
	g->reach = reach;
	/* its own neighbours first, so that none of them counts as a sibling */
	centre->nodes[centre->count++].layer = layer;
	neighbours_add(app, g, CENTRE, true);
	neighbours_add(app, g, CENTRE, false);
	centre->count = 0;
	siblings_find(app, g, layer);
	for (int i = 1; i < reach; i++) {
		neighbours_add(app, g, CENTRE - i, true);
		neighbours_add(app, g, CENTRE + i, false);
	}
	for (int a = 0; a < LEVELS; a++)
		for (int i = 0; i < g->levels[a].count; i++)
			for (int k = 0; k < neighbour_count(app, g->levels[a].nodes[i].layer, false); k++) {
				int b = level_of(g, neighbour(app, g->levels[a].nodes[i].layer, false, k));
				g->edges_left_out += b >= 0 && b != a + 1;
			}
}

/* ---- layout ---- */

/* Rows of the boxes of the levels beside the selected layer's, of that, and of the edges between them; the
 * first that fits is used. */
static const struct {
	int rows[2 * REACH + 1], edges;
} forms[] = {
	{ { 4, 4, 4, 4, 4 }, 3 }, { { 4, 4, 4, 4, 4 }, 2 }, { { 3, 3, 4, 3, 3 }, 2 },
	{ { 3, 3, 3, 3, 3 }, 1 }, { { 1, 3, 3, 3, 1 }, 1 }, { { 1, 1, 3, 1, 1 }, 1 },
	{ { 1, 1, 1, 1, 1 }, 1 }, { { 0, 1, 1, 1, 0 }, 1 }, { { 0, 1, 1, 1, 0 }, 0 },
	{ { 0, 0, 1, 0, 0 }, 0 },
};

/* Levels at the ends that nothing is in take no rows, so that more of the others are in sight. */
static bool level_is_used(const struct nearby *g, int level)
{
	return g->reach == REACH || g->levels[level].count > 0;
}

static void rows_place(struct nearby *g, int height)
{
	for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
		int y = 0;
		for (int l = CENTRE - g->reach; l <= CENTRE + g->reach; l++) {
			int at = l - CENTRE + REACH, form = at < 0 ? 0 : at > 2 * REACH ? 2 * REACH : at;
			int rows = level_is_used(g, l) ? forms[f].rows[form] : 0;
			g->levels[l].y = y;
			g->levels[l].height = rows;
			y += rows ? rows + forms[f].edges : 0;
		}
		if (y - forms[f].edges <= height)
			return;
	}
	for (int l = 0; l < LEVELS; l++)
		g->levels[l].height = 0;
}

#define LEVEL_ROWS 6 /* with the edges below: a larger reach may not make boxes smaller */

/* Finds as many levels as have room. */
static void graph_reach(const struct app *app, struct nearby *g, int layer, int height)
{
	int reach = REACH, used;
	do {
		graph_find(app, g, layer, reach + 1);
		used = 0;
		for (int l = 0; l < LEVELS; l++)
			used += g->levels[l].count > 0;
	} while (used * LEVEL_ROWS - 2 <= height && ++reach < CENTRE);
	graph_find(app, g, layer, reach);
}

#define BOX_LEAST 14
#define BOX_MOST 30  /* on a wide screen a third of it */
#define MARK_COLUMNS 6 /* "< 12 " at either side */

static int node_index(const struct graph_level *l, int layer)
{
	for (int i = 0; i < l->count; i++)
		if (l->nodes[i].layer == layer)
			return i;
	return 0;
}

/* Boxes of equal width in the middle of the area; if there are too many, those around node `keep`. */
static void boxes_place(struct graph_level *l, int width, int keep)
{
	int room = width / (BOX_LEAST + 1);
	l->shown = l->count;
	l->from = 0;
	if (l->count > room) {
		room = (width - 2 * MARK_COLUMNS) / (BOX_LEAST + 1);
		l->shown = room < 1 ? 1 : room;
		l->from = keep - l->shown / 2;
		l->from = l->from + l->shown > l->count ? l->count - l->shown : l->from;
		l->from = l->from < 0 ? 0 : l->from;
	}
	if (!l->shown)
		return;
	int side = l->shown < l->count ? MARK_COLUMNS : 0, each = (width - 2 * side) / l->shown;
	each = each < 4 ? (side = 0, width / l->shown) : each;
	int most = width / 3 > BOX_MOST ? width / 3 : BOX_MOST, box = each - 1 > most ? most : each - 1;
	int gap = each - box > 8 ? 8 : each - box;
	int x = (width - l->shown * (box + gap) + gap) / 2;
	for (int i = 0; i < l->shown; i++, x += box + gap) {
		l->nodes[l->from + i].x = x < 0 ? 0 : x;
		l->nodes[l->from + i].width = box;
	}
}

/* ---- edges ---- */

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

/* Lines of a cell by their bits. */
static const uint16_t corners[16] = { ' ', 0x2502, 0x2502, 0x2502, 0x2500, 0x256f, 0x256e, 0x2524, 0x2500,
	0x2570, 0x256d, 0x251c, 0x2500, 0x2534, 0x252c, 0x253c };

struct wires {
	struct area area;
	uint8_t *bits, *bold;  /* per cell; bold: an edge of the selected layer */
};

static void wire(struct wires *w, int x, int y, int bits, bool bold)
{
	if (x < 0 || y < 0 || x >= w->area.width || y >= w->area.height)
		return;
	w->bits[y * w->area.width + x] |= (uint8_t)bits;
	w->bold[y * w->area.width + x] |= bold;
}

/* From column x0 above the rows to column x1 below them; it turns in row `bus`. */
static void edge(struct wires *w, int x0, int x1, int bus, bool bold)
{
	for (int y = 0; y < w->area.height; y++) {
		if (y < bus)
			wire(w, x0, y, UP | DOWN, bold);
		else if (y > bus)
			wire(w, x1, y, UP | DOWN, bold);
	}
	if (x0 == x1) {
		wire(w, x0, bus, UP | DOWN, bold);
		return;
	}
	wire(w, x0, bus, UP | (x1 > x0 ? RIGHT : LEFT), bold);
	wire(w, x1, bus, DOWN | (x1 > x0 ? LEFT : RIGHT), bold);
	for (int x = (x0 < x1 ? x0 : x1) + 1; x < (x0 < x1 ? x1 : x0); x++)
		wire(w, x, bus, LEFT | RIGHT, bold);
}

static int middle(const struct graph_node *n)
{
	return n->x + n->width / 2;
}

static void draw_edges(struct app *app, const struct nearby *g, struct area a, int upper)
{
	const struct graph_level *from = &g->levels[upper], *to = &g->levels[upper + 1];
	int top = from->y + from->height, rows = to->y - top;
	if (!from->height || !to->height || rows < 1)
		return;
	struct wires w = { .area = canvas_part(a, 0, top, a.width, rows) };
	size_t cells = (size_t)w.area.width * (size_t)w.area.height;
	w.bits = ARENA_ARRAY(&app->scratch, uint8_t, cells);
	w.bold = ARENA_ARRAY(&app->scratch, uint8_t, cells);
	for (int k = to->from; k < to->from + to->shown; k++)
		for (int i = from->from; i < from->from + from->shown; i++) {
			int a_layer = from->nodes[i].layer, b_layer = to->nodes[k].layer;
			if (is_neighbour(app, a_layer, b_layer))
				edge(&w, middle(&from->nodes[i]), middle(&to->nodes[k]),
					(k - to->from) % w.area.height,
					a_layer == app->layer || b_layer == app->layer);
		}
	for (int y = 0; y < w.area.height; y++)
		for (int x = 0; x < w.area.width; x++) {
			size_t at = (size_t)y * (size_t)w.area.width + (size_t)x;
			if (w.bits[at])
				canvas_put(w.area, x, y, w.bold[at] ? STYLE_BOLD : STYLE_DIM,
					corners[w.bits[at] & 15]);
		}
}

/* ---- boxes ---- */

/* "1.29 ms  3.7%", or a short word where there is no cost. */
static const char *cost_words(struct app *app, int layer)
{
	const struct layer_cost *c = app_cost(app, layer);
	if (c && c->origin == ORIGIN_FUSED)
		return "fused";
	if (c && c->origin == ORIGIN_FREE)
		return c->folded ? "folded" : "free";
	return c && app_cost_all(app, layer) >= 0 ? chart_cost(app, layer) : "no cost";
}

static void draw_border(struct area box, enum style style)
{
	int right = box.width - 1, bottom = box.height - 1;
	canvas_fill(box, 1, 0, box.width - 2, style, 0x2500);
	canvas_fill(box, 1, bottom, box.width - 2, style, 0x2500);
	for (int y = 1; y < bottom; y++) {
		canvas_put(box, 0, y, style, 0x2502);
		canvas_put(box, right, y, style, 0x2502);
	}
	canvas_put(box, 0, 0, style, 0x256d);
	canvas_put(box, right, 0, style, 0x256e);
	canvas_put(box, 0, bottom, style, 0x2570);
	canvas_put(box, right, bottom, style, 0x256f);
}

/* Name and cost in one row, or the name above operator and cost. */
static void draw_box(struct app *app, struct area box, int layer, double most_ns)
{
	bool selected = layer == app->layer, border = box.height >= 3;
	int level = chart_level(app_cost_all(app, layer), most_ns);
	enum style style = selected ? STYLE_BOLD : STYLE_NORMAL;
	struct area in = border ? canvas_part(box, 1, 1, box.width - 2, box.height - 2) :
		canvas_part(box, 1, 0, box.width - 2, 1);
	const char *name = app_name(app, layer), *cost = cost_words(app, layer);
	for (int y = 0; y < box.height; y++)
		app_item(app, box, 0, y, box.width, layer);
	if (border)
		draw_border(box, selected ? STYLE_WARN : STYLE_DIM);
	else {
		canvas_put(box, 0, 0, style, '[');
		canvas_put(box, box.width - 1, 0, style, ']');
	}
	canvas_put(in, 0, 0, chart_heat(level), chart_sign(in, level));
	int columns = canvas_columns_on(in, cost), room = in.width - 2;
	const char *share = strstr(cost, "  ");
	if (in.height < 2 && share && room - columns <= canvas_columns_on(in, name)) {
		cost = arena_strndup(&app->scratch, cost, (size_t)(share - cost)); /* the time alone */
		columns = canvas_columns_on(in, cost);
	}
	if (in.height >= 2) {
		const char *op = app_op_short(app, app_layer(app, layer)->node->op);
		canvas_fit_tail(in, 2, 0, room, style, name);
		int used = canvas_fit(in, 2, 1, room - columns - 1 > 0 ? room - columns - 1 : 0, STYLE_DIM,
			op);
		canvas_fit_right(in, 2 + used, 1, room - used, STYLE_NORMAL, cost);
	} else if (room - columns >= 8) {
		canvas_fit_tail(in, 2, 0, room - columns - 1, style, name);
		canvas_fit_right(in, in.width - columns, 0, columns, STYLE_NORMAL, cost);
	} else
		canvas_fit_tail(in, 2, 0, room, style, name);
	for (int y = 0; y < in.height && selected; y++)
		canvas_select(in, y);
}

static void draw_level(struct app *app, const struct graph_level *l, struct area a, double most_ns)
{
	int after = l->count - l->from - l->shown + l->more, y = l->y + l->height / 2;
	for (int i = l->from; i < l->from + l->shown && l->height; i++)
		draw_box(app, canvas_part(a, l->nodes[i].x, l->y, l->nodes[i].width, l->height),
			l->nodes[i].layer, most_ns);
	if (l->from && l->height)
		canvas_fit(a, 0, y, MARK_COLUMNS - 1, STYLE_WARN,
			arena_printf(&app->scratch, "<%d", l->from));
	if (after && l->height)
		canvas_fit_right(a, a.width - MARK_COLUMNS + 1, y, MARK_COLUMNS - 1, STYLE_WARN,
			arena_printf(&app->scratch, "%d>", after));
}

/* ---- texts ---- */

static const char *around_text(struct app *app, const struct nearby *g)
{
	int up = 0, down = 0;
	for (int i = 0; i < neighbour_count(app, app->layer, true); i++)
		up += app->show_folded || !app_is_folded(app, neighbour(app, app->layer, true, i));
	for (int i = 0; i < neighbour_count(app, app->layer, false); i++)
		down += app->show_folded || !app_is_folded(app, neighbour(app, app->layer, false, i));
	const struct graph_level *centre = &g->levels[CENTRE];
	int beside = centre->count - 1 + centre->more;
	const char *text = arena_printf(&app->scratch,
		"%d producer%s (%s), %d consumer%s (%s), %d beside (%s, %s)", up, up == 1 ? "" : "s",
		key_named("up"), down, down == 1 ? "" : "s", key_named("down"), beside,
		key_named("graph.left"), key_named("graph.right"));
	if (g->edges_left_out)
		text = arena_printf(&app->scratch, "%s; edges across levels not drawn: %d", text,
			g->edges_left_out);
	if (app_can_unfold(app, app->layer))
		text = arena_printf(&app->scratch, "%s; %s goes inside", text, key_named("fold-open"));
	if (app_is_body(app, app->layer))
		text = arena_printf(&app->scratch, "%s; inside %s, %s leaves", text,
			app_name(app, app->places[app->layer].owner), key_named("fold-close"));
	return text;
}

static void graph_draw(struct app *app, void *state, struct area area)
{
	struct nearby *g = state;
	if (!app_layer(app, app->layer)) {
		canvas_fit(area, 1, 0, area.width - 1, STYLE_DIM, "no layer is selected");
		return;
	}
	graph_reach(app, g, app->layer, area.height - 2);
	struct chart_line lines[] = { { arena_printf(&app->scratch, "%s  %s", chart_name(app, app->layer),
		chart_cost(app, app->layer)), STYLE_BOLD }, { around_text(app, g), STYLE_DIM } };
	struct area above = chart_above(area, lines, 2);
	chart_foot(chart_below(area, above), lines, 2);
	if (above.width < 3)
		return;
	rows_place(g, above.height);
	for (int l = 0; l < LEVELS; l++)
		boxes_place(&g->levels[l], above.width, l == CENTRE ? node_index(&g->levels[l], app->layer) :
			g->levels[l].count / 2);
	for (int l = 0; l + 1 < LEVELS; l++)
		draw_edges(app, g, above, l);
	for (int l = 0; l < LEVELS; l++)
		draw_level(app, &g->levels[l], above, app->most_ns);
}

/* ---- keys ---- */

enum { GRAPH_LEFT, GRAPH_RIGHT };

/* The costliest neighbour: the one that is followed most often. */
static int costliest(const struct app *app, int layer, bool up)
{
	int best = -1;
	for (int i = 0; i < neighbour_count(app, layer, up); i++) {
		int other = neighbour(app, layer, up, i);
		if (!app->show_folded && app_is_folded(app, other))
			continue;
		if (best < 0 || app_compare_numbers(app_cost_all(app, other), app_cost_all(app, best)) < 0)
			best = other;
	}
	return best;
}

static int step(const struct app *app, struct nearby *g, const struct key_row *key)
{
	const struct graph_level *centre = &g->levels[CENTRE];
	if (key->request != REQUEST_OWN)
		return costliest(app, app->layer, key->request == REQUEST_UP);
	graph_find(app, g, app->layer, REACH);
	int to = node_index(centre, app->layer) + (key->argument == GRAPH_RIGHT ? 1 : -1);
	return to >= 0 && to < centre->count ? centre->nodes[to].layer : -1;
}

/* The first and last layer of the graph that is shown. */
static int end_of(const struct app *app, bool last)
{
	const struct place *at = &app->places[app->layer];
	int first = at->base, end = at->base + at->plan->layer_count - 1;
	for (int i = last ? end : first; i >= first && i <= end; i += last ? -1 : 1)
		if (app->show_folded || !app_is_folded(app, i))
			return i;
	return app->layer;
}

static int inner_layer(const struct app *app, int layer)
{
	const struct plan_layer *l = app_layer(app, layer);
	for (int i = 0; app_can_unfold(app, layer) && i < l->body_count; i++)
		for (int k = 0; l->bodies[i].times != 0 && k < l->bodies[i].layer_count; k++)
			if (!app_is_folded(app, app_body_first(app, layer, i) + k))
				return app_body_first(app, layer, i) + k;
	return -1;
}

static bool graph_request(struct app *app, void *state, const struct key_row *key, int row)
{
	int to = -1;
	(void)row;
	if (!app_layer(app, app->layer))
		return key->request == REQUEST_OWN;
	switch (key->request) {
	case REQUEST_OPEN: app_show(app, &view_detail, app->layer); return true;
	case REQUEST_FIRST:
	case REQUEST_LAST: app->layer = end_of(app, key->request == REQUEST_LAST); return true;
	case REQUEST_UNFOLD: to = inner_layer(app, app->layer); break;
	case REQUEST_FOLD: to = app->places[app->layer].owner; break;
	case REQUEST_DOWN:
	case REQUEST_UP:
	case REQUEST_OWN:
		for (int n = app->count ? app->count : 1; n > 0 && (to = step(app, state, key)) >= 0; n--)
			app->layer = to;
		return true;
	default: return false;
	}
	app->layer = to >= 0 ? to : app->layer;
	return to >= 0;
}

static const struct key_row graph_keys[] = {
	{ "l Right", REQUEST_OWN, GRAPH_RIGHT, KEYS_CHARTS, "to the next layer that reads the same value",
		.counts = true, .name = "right" },
	{ "h Left", REQUEST_OWN, GRAPH_LEFT, KEYS_CHARTS, "to the previous layer that reads the same value",
		.counts = true, .name = "left" },
	{ 0 }
};

const struct view view_graph = {
	.name = "graph",
	.help = "the layers around the selected one as boxes; {down} goes to a consumer, {up} to a "
		"producer",
	.keys = "gn",
	.group = KEYS_CHARTS,
	.own = graph_keys,
	.state_size = sizeof(struct nearby),
	.draw = graph_draw,
	.request = graph_request,
	.own_footer = true,
};
