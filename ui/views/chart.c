#include "config.h"

#include "ui/views/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- costs ---- */

int chart_level(double ns, double most_ns)
{
	if (isnan(ns))
		return CHART_UNKNOWN;
	if (!(ns > 0) || !(most_ns > 0))
		return 0;
	int level = (int)ceil(CHART_LEVELS * ns / most_ns);
	return level < 1 ? 1 : level > CHART_LEVELS ? CHART_LEVELS : level;
}

uint32_t chart_sign(struct area a, int level)
{
	if (level <= 0)
		return level < 0 ? '?' : 0xb7;
	return a.canvas->ascii ? (uint32_t)('0' + level) : 0x2580 + (uint32_t)level;
}

enum style chart_heat(int level)
{
	return level == CHART_UNKNOWN ? STYLE_BAD :
		level == 0 ? STYLE_DIM :
		level <= 1 ? STYLE_HEAT_LOW :
		level <= 4 ? STYLE_HEAT_MIDDLE : STYLE_HEAT_HIGH;
}

/* ---- layers ---- */

int chart_outermost(const struct app *app, int layer)
{
	while (app_is_body(app, layer))
		layer = app->places[layer].owner;
	return layer < app->place_count ? layer : -1;
}

int chart_anchor(const struct app *app, int layer)
{
	const struct layer_cost *c = app_cost(app, layer);
	return c && c->origin == ORIGIN_FUSED && c->group ? c->group->layers[0] : layer;
}

const char *chart_name(struct app *app, int layer)
{
	const struct plan_layer *l = app_layer(app, layer);
	if (!l)
		return "no layer";
	int own = app_own_problem(app, layer), uses = own >= 0 ? app_plan(app)->problems[own].use_count : 0;
	return arena_printf(&app->scratch, uses > 1 ? "%s  %s  x%d" : "%s  %s", app_name(app, layer),
		app_op_short(app, l->node->op), uses);
}

const char *chart_cost(struct app *app, int layer)
{
	const struct layer_cost *c = app_cost(app, layer);
	double ns = app_cost_all(app, layer), total = c ? session_analysis(app->session)->sequential_ns : NAN;
	char text[STR_QUANTITY];
	if (!c)
		return app_plan(app) && app_plan(app)->unbound_count ? "no cost: a dimension has no value"
								      : "no cost yet";
	if (c->origin == ORIGIN_FUSED && c->group)
		return arena_printf(&app->scratch, "fused into %s", app_name(app, c->group->layers[0]));
	if (c->folded)
		return app_folded_text(app, layer);
	if (c->origin == ORIGIN_FREE)
		return "free: no kernel runs for it";
	if (c->origin == ORIGIN_UNSUPPORTED)
		return "the library does not support it";
	if (isnan(ns))
		return app_missing_why(app, layer);
	return arena_printf(&app->scratch, "%s%s%s%s", c->mistrusted ? "!" : app_is_guess(c) ? "~" : "",
		str_duration(text, ns), total > 0 ? "  " : "", total > 0 ? app_share(app, ns, total) : "");
}

/* ---- text ---- */

static int rows_needed(const char *text, int width)
{
	int rows = 0;
	for (size_t n; *text && width > 0; rows++) {
		n = app_break(text, width);
		text += n + strspn(text + n, " ");
	}
	return rows;
}

static void draw_rows(struct area a, enum style style, const char *text)
{
	for (int y = 0; y < a.height && *text; y++) {
		size_t n = app_break(text, a.width - 1);
		char part[512];
		if (y + 1 == a.height)
			n = strlen(text);
		snprintf(part, sizeof(part), "%.*s", (int)n, text);
		canvas_fit(a, 1, y, a.width - 1, style, part);
		text += n + strspn(text + n, " ");
	}
}

#define LINES_MAX 8

/* Divides `most` rows among the lines. Returns the sum. */
static int rows_share(int most, int width, const struct chart_line *lines, int count, int rows[LINES_MAX])
{
	int left = most;
	for (int i = 0; i < count; i++) {
		rows[i] = left > 0 && lines[i].text && *lines[i].text;
		left -= rows[i];
	}
	for (int i = 0; i < count; i++) {
		int more = rows[i] ? rows_needed(lines[i].text, width - 1) - 1 : 0;
		more = more < 0 ? 0 : more < left ? more : left;
		rows[i] += more;
		left -= more;
	}
	return most - left;
}

struct area chart_above(struct area a, const struct chart_line *lines, int count)
{
	int most = a.height >= 12 ? a.height / 3 : a.height >= 4 ? 2 : 1, rows[LINES_MAX];
	int used = a.height > 0 ? rows_share(most, a.width, lines, count, rows) : 0;
	return canvas_part(a, 0, 0, a.width, a.height - used);
}

void chart_foot(struct area a, const struct chart_line *lines, int count)
{
	int rows[LINES_MAX];
	rows_share(a.height, a.width, lines, count, rows);
	for (int i = 0, y = 0; i < count; y += rows[i++])
		draw_rows(canvas_part(a, 0, y, a.width, rows[i]), lines[i].style, lines[i].text);
}

struct area chart_below(struct area a, struct area above)
{
	return canvas_part(a, 0, above.height, a.width, a.height - above.height);
}
