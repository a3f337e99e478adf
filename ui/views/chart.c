/* Names, signs and colours that charts share; a label is the shortest path that tells scopes apart. */
#include "config.h"

#include "ui/model/page.h"
#include "ui/views/chart.h"

#include <limits.h>
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
		level <= CHART_HEAT_MIDDLE ? STYLE_HEAT_MIDDLE : STYLE_HEAT_HIGH;
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

/* ---- legend and ruler ---- */

void chart_keys(struct area line, const struct chart_key *keys, int count)
{
	for (int i = 0, x = 1; i < count; i++) {
		int sign = canvas_columns_on(line, keys[i].sign);
		int text = canvas_columns_on(line, keys[i].text);
		if (x + sign + 1 + text > line.width)
			break;
		canvas_text(line, x, 0, keys[i].style, keys[i].sign);
		canvas_text(line, x + sign + (sign > 0), 0, STYLE_DIM, keys[i].text);
		x += sign + (sign > 0) + text + 2;
	}
}

static int scope_of(const struct app *app, int layer)
{
	return app->scopes.of && layer >= 0 && layer < app->place_count ? app->scopes.of[layer] : -1;
}

/* What follows the path of a scope in a name; NULL: it does not begin with it. */
static const char *after_scope(const char *name, const char *path)
{
	size_t n = strlen(path);
	return strncmp(name, path, n) == 0 && (name[n] == '/' || name[n] == '.') ? name + n + 1 : NULL;
}

const char *chart_leaf(struct app *app, int layer)
{
	const char *name = app_name(app, layer);
	for (int s = scope_of(app, layer); s >= 0; s = app->scopes.list[s].parent) {
		const char *path = app->scopes.list[s].path, *rest = after_scope(name, path);
		if (strcmp(name, path) == 0)
			return app_op_short(app, app_layer(app, layer)->node->op);
		if (!rest || text_is(app_layer(app, layer)->node->op, rest))
			continue; /* "c_attn/MatMul" rather than "MatMul" */
		if (rest[strspn(rest, "0123456789._")]) /* else "0" of "downsample.0" */
			return rest;
	}
	return name;
}

/* What a span and those after it are called: by a scope that has room for its name, or -1. */
struct label {
	int scope, run;
};

static bool is_in(const struct app *app, int inner, int scope)
{
	while (inner >= 0 && inner != scope)
		inner = app->scopes.list[inner].parent;
	return inner == scope;
}

/* Spans from `first` on that are in a scope, up to an inner scope that has room for its own name. Labels are
 * known from the next span on. */
static int run_of(const struct app *app, const struct chart_span *spans, int count,
	const struct label *labels, int first, int scope)
{
	int n = 1, before = scope_of(app, spans[first].layer);
	for (int now; first + n < count; before = now) {
		const struct label *l = &labels[first + n];
		now = scope_of(app, spans[first + n].layer);
		if (scope < 0 ? now >= 0 : !is_in(app, now, scope) ||
			(now != before && l->scope != scope && is_in(app, l->scope, scope)))
			break;
		n += l->scope == scope ? l->run : 1;
		now = scope_of(app, spans[first + n - 1].layer);
	}
	return n;
}

/* The path of a scope, or where that has no room its end, as long as that tells repeated scopes apart
 * ("h.0/mlp" of "transformer/h.0/mlp"). The shortest one if none has room: *fits. */
static const char *path_for(const struct app *app, struct area line, int scope, int room, bool *fits)
{
	const char *path = app->scopes.list[scope].path;
	for (const char *next; !(*fits = canvas_columns_on(line, path) <= room); path = next + 1) {
		next = strchr(path, '/');
		if (!next || !next[strcspn(next, "0123456789")])
			break;
	}
	return path;
}

static void label_find(const struct app *app, struct area line, const struct chart_span *spans, int count,
	struct label *labels, int at)
{
	int inner = scope_of(app, spans[at].layer);
	for (int s = inner; s >= 0; s = app->scopes.list[s].parent) {
		int run = run_of(app, spans, count, labels, at, s);
		bool fits;
		labels[at] = (struct label){ s, run };
		path_for(app, line, s, spans[at + run - 1].end - spans[at].x - 1, &fits);
		if (fits)
			return;
	}
	labels[at] = (struct label){ -1, 1 };
	if (inner < 0)
		labels[at].run = run_of(app, spans, count, labels, at, -1);
}

/* Names of the first and the last layer, or of the first one alone. */
static const char *names_of(struct app *app, struct area line, const struct chart_span *spans, int count)
{
	const char *first = app_name(app, spans->layer), *last = app_name(app, spans[count - 1].layer);
	const char *both = arena_printf(&app->scratch, "%s .. %s", first, last);
	return count > 1 && canvas_columns_on(line, both) < spans[count - 1].end - spans->x ? both : first;
}

#define LABEL_LEAST 6 /* columns of a name that is cut */

void chart_scopes(struct app *app, struct area line, const struct chart_span *spans, int count)
{
	struct label *labels = ARENA_ARRAY(&app->scratch, struct label, (size_t)count + 1);
	for (int i = count - 1; i >= 0; i--)
		label_find(app, line, spans, count, labels, i);
	for (int i = 0, run; i < count; i += run) {
		int scope = labels[i].scope, inner = scope_of(app, spans[i].layer);
		run = labels[i].run;
		while (scope < 0 && inner >= 0 && i + run < count && labels[i + run].scope < 0 &&
			scope_of(app, spans[i + run].layer) == inner)
			run++;
		int end = spans[i + run - 1].end - 1, room = end - spans[i].x;
		bool fits;
		const char *label = inner < 0 ? names_of(app, line, &spans[i], run) :
			path_for(app, line, scope < 0 ? inner : scope, room, &fits);
		bool shown = room >= LABEL_LEAST || room >= canvas_columns_on(line, label);
		int at = spans[i].x;
		if (shown)
			at += 1 + canvas_fit_tail(line, at, 0, room, STYLE_NORMAL, label);
		canvas_fill(line, at, 0, end - at, STYLE_DIM, 0x2500);
	}
}

/* ---- text ---- */

static void draw_rows(struct area a, enum style style, const char *text)
{
	struct text part;
	for (int y = 0; y < a.height; y++) {
		char row[512];
		if (!page_part(&text, y + 1 < a.height ? a.width - 1 : INT_MAX, &part))
			break;
		snprintf(row, sizeof(row), "%.*s", (int)part.n, part.p);
		canvas_fit(a, 1, y, a.width - 1, style, row);
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
		int more = rows[i] ? page_parts(lines[i].text, width - 1) - 1 : 0;
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
