#include "config.h"

#include "ui/app_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEADER_ROWS 3

/* ---- the header: model and device; the bound; what each toggle does ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strcmp(path, "-") == 0 ? "standard input" : slash && slash[1] ? slash + 1 : path;
}

/* "AMD EPYC 7B13" out of "AMD EPYC 7B13 64-Core Processor", without the marks that vendors put in. */
static const char *device_brief(struct app *app, const char *model)
{
	static const char *const noise[] = { "(R)", "(TM)", "(r)", "(tm)", " CPU", " Processor", "Intel ",
		"AMD ", "NVIDIA " };
	char *s = text_clean(&app->scratch, text_of(model));
	char *at = strstr(s, " @ ");
	if (at)
		*at = '\0';
	for (size_t i = 0; i < sizeof(noise) / sizeof(*noise); i++)
		while ((at = strstr(s, noise[i])))
			memmove(at, at + strlen(noise[i]), strlen(at + strlen(noise[i])) + 1);
	return s;
}

static const char *device_text(struct app *app)
{
	const struct session *s = app->session;
	if (!s->device.name && !s->device.model)
		return s->queue ? "starting the runner" : "no device";
	const char *model = s->device.model ? device_brief(app, s->device.model) : s->device.name;
	return arena_printf(&app->scratch, "%s, %s", model,
		s->device.stack ? app_clean(app, text_of(s->device.stack)) : "");
}

/* The batch that a plan has by itself: the first dimension of the first input. 0: not known. */
static int64_t model_batch(const struct plan *p)
{
	for (int i = 0; i < p->value_count; i++)
		if (p->values[i].is_input && p->values[i].shape.rank > 1)
			return p->values[i].shape.dims[0].kind == DIM_KNOWN ? p->values[i].shape.dims[0].value
									    : 0;
	return 0;
}

static void draw_title(struct app *app, struct area line)
{
	const struct session *s = app->session;
	char view[64];
	snprintf(view, sizeof(view), "%d %s", app->stack[app->depth] + 1, app_pane(app)->view->name);
	int view_columns = canvas_columns(view), right = line.width - view_columns - 1;
	const char *name = app_clean(app, text_of(base_name(s->model->path)));
	int x = 1 + canvas_fit_tail(line, 1, 0, line.width / 3, LOOK_BOLD, name);
	if (s->current) {
		int64_t n = s->current->batch > 0 ? s->current->batch : model_batch(s->current->plan);
		const char *batch = n > 0 ? arena_printf(&app->scratch, "batch %lld  ", (long long)n) : "";
		x += 2 + canvas_text(line, x + 2, 0, LOOK_NORMAL, arena_printf(&app->scratch, "%s%s", batch,
			dtype_name(s->current->dtype)));
	}
	canvas_fit(line, right, 0, view_columns, LOOK_HEADER, view);
	int room = right - x - 4;
	if (room >= 8)
		canvas_fit_right(line, x + 2, 0, room, LOOK_DIM, device_text(app));
}

static void draw_bound(struct app *app, struct area line)
{
	const struct analysis *a = app->session->analysis;
	char bound[STR_QUANTITY], one[STR_QUANTITY], two[STR_QUANTITY];
	if (!a) {
		canvas_fit(line, 1, 0, line.width - 1, LOOK_BAD,
			"no plan: the dimensions given do not fit the model");
		return;
	}
	int unknown = a->coverage.missing + a->coverage.unsupported;
	bool known =
		a->complete ||
		a->coverage.measured + a->coverage.proxy + a->coverage.estimated + a->coverage.assumed > 0;
	int x = 1 +
		canvas_text(line, 1, 0, LOOK_BOLD,
			arena_printf(&app->scratch, "bound %s%s", a->complete || !known ? "" : "at least ",
				known ? str_duration(bound, a->bound_ns) : "not known yet"));
	const char *rest;
	if (a->complete)
		rest = arena_printf(&app->scratch, "all %d layers known%s",
			a->coverage.layers - app->folded_count,
			a->coverage.proxy ? arena_printf(&app->scratch, ", %d by proxy", a->coverage.proxy)
					  : "");
	else
		rest = arena_printf(&app->scratch, "%d of %d layers not measured", unknown,
			a->coverage.layers - app->folded_count);
	int columns = canvas_columns(rest), at = line.width - 1 - columns;
	canvas_fit(line, at > x + 1 ? at : x + 1, 0, line.width - x - 1, a->complete ? LOOK_GOOD : LOOK_WARN,
		rest);
	const char *sequential =
		arena_printf(&app->scratch, "sequential %s", str_duration(one, a->sequential_ns));
	const char *parallel = arena_printf(&app->scratch, "parallel %s", str_duration(two, a->parallel_ns));
	const char *both = arena_printf(&app->scratch, "%s \u00b7 %s", sequential, parallel);
	const char *other = app->session->scenario.parallel ? sequential : parallel;
	const char *more = at - x >= canvas_columns(both) + 4 ? both : other;
	if (known && at - x >= canvas_columns(more) + 4)
		canvas_text(line, x + 3, 0, LOOK_NORMAL, more);
}

/* From roomy to cramped: the first way in which all toggles fit is taken. */
struct toggle_style {
	const char *between, *before_unit;
	int label;        /* most characters of a label */
	bool last_word;   /* of a label is enough */
	bool common_unit; /* said once, at the start of the line */
	bool partial;     /* what incomplete sums say is shown beside the number of unmeasured problems */
};

static const struct toggle_style toggle_styles[] = {
	{ "   ", " ", 16, false, false, true },
	{ "  ", " ", 16, false, false, true },
	{ "  ", "", 16, false, false, true },
	{ " ", "", 16, true, false, true },
	{ "  ", "", 16, false, true, false },
	{ " ", "", 16, false, true, false },
	{ " ", "", 16, true, true, false },
	{ " ", "", 6, true, true, false },
	{ " ", "", 4, true, true, false },
	{ " ", "", 3, true, true, false },
	{ " ", "", 1, true, true, false },
};

static const struct {
	const char *name;
	double ns;
} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };

/* The unit that the line's figures share: that of the bound. */
static int unit_of(double ns)
{
	int i = 0;
	while (i < 3 && !(ns >= units[i].ns))
		i++;
	return isnan(ns) ? 1 : i;
}

/* A size without its sign, in its own unit or in the one given (-1: own). */
static const char *size_text(struct app *app, double ns, int unit, const char *before_unit)
{
	char text[STR_QUANTITY];
	if (unit >= 0) {
		double v = ns / units[unit].ns;
		return v < 0.005 ? "0"
				 : arena_printf(&app->scratch,
					   v >= 100 ? "%.0f"
					   : v >= 1 ? "%.1f"
						    : "%.2f",
					   v);
	}
	str_duration(text, ns);
	char *blank = strchr(text, ' ');
	if (!blank)
		return arena_printf(&app->scratch, "%s", text);
	*blank = '\0';
	return arena_printf(&app->scratch, "%s%s%s", text, before_unit, blank + 1);
}

static const char *toggle_gain(struct app *app, const struct what_if_effect *e,
	const struct toggle_style *style, int unit, enum look *look)
{
	*look = LOOK_DIM;
	if (!e->available)
		return "n/a";
	const char *wanted =
		e->unmeasured_problems ? arena_printf(&app->scratch, "?%d", e->unmeasured_problems) : "";
	*look = LOOK_WARN;
	if (isnan(e->saves_ns))
		return wanted[0] ? wanted : "?";
	if (wanted[0] && (!style->partial || e->saves_ns == 0))
		return wanted;
	if (!wanted[0])
		*look = e->saves_ns > 0 ? LOOK_GOOD : LOOK_NORMAL;
	const char *size =
		size_text(app, fabs(e->saves_ns), style->common_unit ? unit : -1, style->before_unit);
	const char *sign = size[0] == '0' && !size[1] ? ""
			   : e->saves_ns > 0	      ? "-"
			   : e->saves_ns < 0	      ? "+"
						      : "";
	return arena_printf(&app->scratch, "%s%s%s%s%s", e->complete ? "" : "~", sign, size,
		wanted[0] ? " " : "", wanted);
}

static const char *toggle_label(
	struct app *app, const struct what_if *row, bool on, const struct toggle_style *style)
{
	const char *blank = style->last_word ? strrchr(row->label, ' ') : NULL;
	char *label = arena_printf(&app->scratch, "%.*s", style->label, blank ? blank + 1 : row->label);
	for (char *c = label; on && *c; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 32);
	return label;
}

/* Returns the columns it takes; an area without cells only measures. */
static int toggles_lay(struct app *app, struct area line, const struct toggle_style *style)
{
	const struct session *s = app->session;
	int x = 1, unit = s->analysis ? unit_of(s->analysis->bound_ns) : 1;
	if (style->common_unit)
		x += 1 +
		     canvas_text(line, x, 0, LOOK_DIM, arena_printf(&app->scratch, "%s:", units[unit].name));
	for (int i = 0; i < s->effect_count; i++) {
		const struct what_if_effect *e = &s->effects[i];
		enum look look;
		char key[2] = { e->row->key, '\0' };
		const char *label = toggle_label(app, e->row, e->on, style);
		const char *gain = toggle_gain(app, e, style, unit, &look);
		x += i ? canvas_columns(style->between) : 0;
		canvas_text(line, x, 0, LOOK_ACCENT, key);
		canvas_text(line, x + 2, 0, e->on ? LOOK_REVERSE : LOOK_NORMAL, label);
		canvas_text(line, x + 3 + canvas_columns(label), 0, look, gain);
		x += 3 + canvas_columns(label) + canvas_columns(gain);
	}
	return x;
}

static void draw_toggles(struct app *app, struct area line)
{
	size_t count = sizeof(toggle_styles) / sizeof(*toggle_styles), i = 0;
	struct area nowhere = { line.canvas, line.x, line.y, 0, 0 };
	while (i + 1 < count && toggles_lay(app, nowhere, &toggle_styles[i]) > line.width)
		i++;
	toggles_lay(app, line, &toggle_styles[i]);
}

/* ---- the footer: the selected layer, its problem, measuring, keys ---- */

static const char *layer_price(struct app *app, int layer, const struct layer_cost *c)
{
	const struct plan_layer *l = &app_plan(app)->layers[layer];
	char text[2 * STR_QUANTITY];
	if (!c)
		return "";
	if (c->origin == ORIGIN_FUSED && c->group)
		return arena_printf(&app->scratch, "fused into %s",
			app_clean(app, app_plan(app)->layers[c->group->layers[0]].name));
	if (c->origin == ORIGIN_FREE)
		return "free: no kernel runs for it";
	if (c->origin == ORIGIN_UNSUPPORTED)
		return "the library does not support it";
	if (isnan(c->ns) || c->origin == ORIGIN_MISSING)
		return l->problem < 0 && l->why ? app_clean(app, text_of(l->why))
						: "not measured: b measures";
	int algorithms = 0, count = 0;
	const char *problem = app_problem(app, layer), *last = "";
	const struct result *const *all = problem ? results_of(app->session->results, problem, &count) : NULL;
	for (int i = 0; i < count; i++)
		if (strcmp(all[i]->algorithm.name, last) != 0) {
			algorithms++;
			last = all[i]->algorithm.name;
		}
	const char *name = c->result && c->result->algorithm.name
				   ? app_clean(app, text_of(c->result->algorithm.name))
				   : "";
	const char *of = algorithms > 1 ? arena_printf(&app->scratch, " (of %d)", algorithms) : "";
	return arena_printf(&app->scratch, "%s%s%s%s  %s", c->origin == ORIGIN_PROXY ? "~" : "",
		app_interval(text, c->ns, c->lo, c->hi), name[0] ? "  " : "", name, of);
}

static void draw_summary(struct app *app, struct area line)
{
	const struct plan *p = app_plan(app);
	if (!p || app->layer < 0)
		return;
	const struct plan_layer *l = &p->layers[app->layer];
	int same = app_same_as(app, app->layer),
	    uses = l->problem >= 0 ? p->problems[l->problem].use_count : 0;
	const char *again = uses > 1 ? arena_printf(&app->scratch, "  x%d in this model", uses) : "";
	if (same >= 0)
		again = arena_printf(
			&app->scratch, "  = %s, x%d", app_clean(app, p->layers[same].name), uses);
	const char *price = layer_price(app, app->layer, app_cost(app, app->layer));
	int columns = canvas_columns(price), most = line.width - 4;
	columns = columns > most * 2 / 3 ? most * 2 / 3 : columns;
	int x = 1 + canvas_fit_tail(line, 1, 0, most - columns, LOOK_BOLD, app_clean(app, l->name));
	x += canvas_fit(line, x, 0, line.width - columns - 3 - x, LOOK_NORMAL, again);
	canvas_fit(line, x + 2, 0, line.width - x - 3, LOOK_NORMAL, price);
}

static void draw_problem(struct app *app, struct area line)
{
	const char *problem = app->layer >= 0 ? app_problem(app, app->layer) : NULL;
	if (problem)
		canvas_fit(line, 1, 0, line.width - 1, LOOK_DIM, problem);
}

static const char *clock_text(struct app *app, double seconds)
{
	if (isnan(seconds))
		return "";
	int s = seconds < 0 ? 0 : seconds > 359999 ? 359999 : (int)lround(seconds);
	return s < 3600 ? arena_printf(&app->scratch, "%d:%02d left  ", s / 60, s % 60)
			: arena_printf(&app->scratch, "%d:%02d:%02d left  ", s / 3600, s / 60 % 60, s % 60);
}

static const char *counted(struct app *app, int n, const char *word)
{
	return n ? arena_printf(&app->scratch, "%d %s  ", n, word) : "";
}

static void draw_measuring(struct app *app, struct area line, const struct queue_status *q)
{
	int done = q->done + q->failed + q->unsupported, total = done + q->pending + q->running;
	int bar = line.width >= 70 ? 24 : 10;
	canvas_put(line, 1, 0, LOOK_NORMAL, 0x2595);
	canvas_bar(line, 2, 0, bar, LOOK_ACCENT, total ? (double)done / total : 0);
	canvas_put(line, 2 + bar, 0, LOOK_NORMAL, 0x258f);
	const char *what =
		q->current_what && q->current_what[0] ? app_clean(app, text_of(q->current_what)) : "";
	canvas_fit(line, 4 + bar, 0, line.width - bar - 4, LOOK_NORMAL,
		arena_printf(&app->scratch, "%s %d/%d problems  %s%s%s%s",
			q->starting ? "starting the runner:" : "measuring", done, total,
			clock_text(app, q->eta_s), counted(app, q->unsupported, "unsupported"),
			counted(app, q->failed, "failed"), what));
}

static const char *idle_text(struct app *app, const struct queue_status *q)
{
	const struct session *s = app->session;
	const struct plan *p = app_plan(app);
	int done = q->done + q->failed + q->unsupported;
	char flops[STR_QUANTITY], bytes[STR_QUANTITY];
	if (p && p->unbound_count)
		return arena_printf(&app->scratch, "dimension %s has no value yet: d gives it one",
			app_clean(app, p->unbound[0]));
	if (done)
		return arena_printf(&app->scratch, "measured %d problems  %s%s%s", done,
			counted(app, q->unsupported, "unsupported"), counted(app, q->failed, "failed"),
			s->store ? "" : "nothing is kept: no database");
	if (s->queue && s->analysis && s->analysis->unmeasured_problems > 0)
		return arena_printf(&app->scratch,
			"%d problems of this scenario are not measured yet: b measures them",
			s->analysis->unmeasured_problems);
	if (!p)
		return "";
	return arena_printf(&app->scratch, "%d layers, %d distinct problems, %s FLOPs, %s of weights",
		p->layer_count - app->folded_count, p->problem_count, str_count(flops, p->flops),
		str_bytes(bytes, p->weight_bytes));
}

static void draw_progress(struct app *app, struct area line)
{
	struct queue_status none = { .idle = true, .eta_s = NAN };
	struct queue_status q = app->session->queue ? queue_status(app->session->queue) : none;
	if (app->note[0])
		canvas_fit(line, 1, 0, line.width - 1, app->note_bad ? LOOK_BAD : LOOK_ACCENT,
			app_clean(app, text_of(app->note)));
	else if (!q.idle)
		draw_measuring(app, line, &q);
	else if (q.trouble && q.trouble[0])
		canvas_fit(line, 1, 0, line.width - 1, LOOK_BAD, app_clean(app, text_of(q.trouble)));
	else
		canvas_fit(line, 1, 0, line.width - 1, LOOK_NORMAL, idle_text(app, &q));
}

static void draw_prompt(struct app *app, struct area line)
{
	const struct prompt *q = &app->prompt;
	const char *label = q->kind == PROMPT_SEARCH ? "/" : q->kind == PROMPT_FILTER ? "&"
		: arena_printf(&app->scratch, "%s = ", q->dim_name);
	int x = 1 + canvas_fit(line, 1, 0, line.width / 2, LOOK_BOLD, label);
	x += canvas_fit_tail(line, x, 0, line.width - x - 1, LOOK_NORMAL, q->text);
	canvas_put(line, x, 0, LOOK_REVERSE, ' ');
	const char *end = "Enter accepts, Esc leaves";
	if (line.width - x > canvas_columns(end) + 3)
		canvas_fit_right(line, x + 2, 0, line.width - x - 3, LOOK_DIM, end);
}

static void draw_hints(struct app *app, struct area line)
{
	int count, x = 1;
	const struct key_row *rows = keys_table(&count);
	static const enum request first[] = { REQUEST_MEASURE_MISSING, REQUEST_OPEN, REQUEST_SEARCH,
		REQUEST_NEXT_VIEW, REQUEST_HELP, REQUEST_CLOSE, REQUEST_SORT };
	for (size_t k = 0; k < sizeof(first) / sizeof(*first); k++)
		for (int i = 0; i < count; i++) {
			if (rows[i].request != first[k] || !rows[i].hint)
				continue;
			const char *key = arena_printf(
				&app->scratch, "%.*s", (int)strcspn(rows[i].keys, " "), rows[i].keys);
			int columns = canvas_columns(key) + 1 + canvas_columns(rows[i].hint);
			if (x + columns > line.width)
				return;
			x += canvas_text(line, x, 0, LOOK_BOLD, key) + 1;
			x += canvas_text(line, x, 0, LOOK_NORMAL, rows[i].hint) + 2;
		}
}

/* ---- the whole ---- */

static int footer_rows(const struct app *app)
{
	return app->canvas.height >= 16 ? 4 : 2;
}

static bool is_split(const struct app *app)
{
	const struct view *v = app->panes[app->stack[app->depth]].view;
	return app->canvas.width >= APP_COLUMNS_SPLIT && (v == &view_layers || v == &view_problems);
}

int app_list_width(const struct app *app)
{
	int width = app->canvas.width, right = width * 2 / 5;
	return is_split(app) ? width - (right > 80 ? 80 : right) - 1 : width;
}

static void draw_pane(struct app *app, struct pane *p, struct area a, bool focus)
{
	pane_sync(app, p, a.width);
	int above = -1, top = focus ? p->top : 0;
	for (int y = 0; y < a.height && top + y < p->shown_count; y++) {
		int row = p->shown[top + y];
		struct area line = canvas_part(a, 0, y, a.width, 1);
		p->view->draw_row(app, p->state, row, above, line);
		above = row;
		if (focus && !p->view->text && top + y == p->cursor) {
			if (p->view->heading)
				canvas_put(line, 0, 0, LOOK_BOLD, '>');
			canvas_select(line, 0);
		}
	}
	if (p->shown_count == 0)
		canvas_fit(a, 1, 0, a.width - 1, LOOK_DIM,
			p->filter[0] ? "no row contains the filter's text" : "nothing here");
}

static void draw_body(struct app *app, struct area body)
{
	struct pane *p = app_pane(app);
	int width = app_list_width(app);
	struct area list = canvas_part(body, 0, 0, width, body.height);
	int heading = p->view->heading ? 1 : 0;
	app->page = list.height - heading;
	pane_sync(app, p, width);
	if (heading)
		p->view->heading(app, p->state, canvas_part(list, 0, 0, width, 1));
	draw_pane(app, p, canvas_part(list, 0, heading, width, list.height - heading), true);
	if (!is_split(app))
		return;
	for (int y = 0; y < body.height; y++)
		canvas_put(body, width, y, LOOK_DIM, 0x2502);
	struct pane *detail = &app->panes[1];
	pane_open(app, detail);
	draw_pane(app, detail, canvas_part(body, width + 1, 0, body.width - width - 1, body.height), false);
}

static void draw_too_small(struct app *app, struct area all)
{
	canvas_fit(all, 0, 0, all.width, LOOK_BOLD, "terminal too small");
	canvas_fit(all, 0, 1, all.width, LOOK_NORMAL,
		arena_printf(&app->scratch, "%dx%d, needs %dx%d", all.width, all.height, APP_COLUMNS_MIN,
			APP_ROWS_MIN));
	canvas_fit(all, 0, 2, all.width, LOOK_NORMAL, "q quit");
}

void app_draw(struct app *app)
{
	arena_free(&app->scratch);
	canvas_clear(&app->canvas);
	struct area all = canvas_area(&app->canvas);
	if (all.width < APP_COLUMNS_MIN || all.height < APP_ROWS_MIN) {
		draw_too_small(app, all);
		return;
	}
	int footer = footer_rows(app), y = all.height - footer;
	draw_body(app, canvas_part(all, 0, HEADER_ROWS, all.width, y - HEADER_ROWS));
	draw_title(app, canvas_part(all, 0, 0, all.width, 1));
	draw_bound(app, canvas_part(all, 0, 1, all.width, 1));
	draw_toggles(app, canvas_part(all, 0, 2, all.width, 1));
	if (footer == 4) {
		draw_summary(app, canvas_part(all, 0, y, all.width, 1));
		draw_problem(app, canvas_part(all, 0, y + 1, all.width, 1));
	}
	draw_progress(app, canvas_part(all, 0, all.height - 2, all.width, 1));
	struct area last = canvas_part(all, 0, all.height - 1, all.width, 1);
	if (app->prompt.kind)
		draw_prompt(app, last);
	else
		draw_hints(app, last);
}
