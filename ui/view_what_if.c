#include "config.h"

#include "ui/view.h"

#include <math.h>
#include <stdio.h>

/* The toggles at length, and below them the model's own figures. */
enum figure {
	FIGURE_BLANK,
	FIGURE_FILE,
	FIGURE_LAYERS,
	FIGURE_WORK,
	FIGURE_WEIGHTS,
	FIGURE_DIMS,
	FIGURE_COVERAGE,
	FIGURE_DEVICE,
	FIGURE_COUNT
};

static int toggle_count(void)
{
	int count;
	what_if_table(&count);
	return count;
}

static int what_if_rows(struct app *app, void *state, int width)
{
	(void)state;
	(void)width;
	const struct plan *p = app_plan(app);
	return toggle_count() + (p ? FIGURE_COUNT + p->warning_count : 0);
}

static void what_if_heading(struct app *app, void *state, struct area line)
{
	(void)app;
	(void)state;
	canvas_text(line, 1, 0, LOOK_DIM, "key  what if         now           other way       difference");
}

static const struct what_if_effect *effect_of(const struct app *app, const struct what_if *row)
{
	for (int i = 0; i < app->session->effect_count; i++)
		if (app->session->effects[i].row == row)
			return &app->session->effects[i];
	return NULL;
}

static void draw_toggle(struct app *app, const struct what_if *row, struct area line)
{
	const struct what_if_effect *e = effect_of(app, row);
	bool on = row->get(&app->session->scenario);
	char bound[STR_QUANTITY], saves[STR_QUANTITY];
	canvas_put(line, 2, 0, LOOK_BOLD, (uint32_t)(unsigned char)row->key);
	canvas_fit(line, 6, 0, 12, LOOK_BOLD, row->name);
	canvas_fit(line, 19, 0, 13, on ? LOOK_GOOD : LOOK_NORMAL,
		arena_printf(&app->scratch, "[%c] %s", on ? 'x' : ' ', on ? row->on : row->off));
	int x = 33;
	if (e && !e->available)
		x += canvas_text(line, x, 0, LOOK_DIM, "not available here");
	else if (e && e->unmeasured_problems > 0)
		x += canvas_text(line, x, 0, LOOK_WARN,
			arena_printf(&app->scratch, "%d problem%s to be measured first",
				e->unmeasured_problems, e->unmeasured_problems == 1 ? "" : "s"));
	else if (e)
		x += canvas_text(line, x, 0, LOOK_NORMAL,
			arena_printf(&app->scratch, "%s%-15s %s%s%s", e->complete ? "" : "~",
				str_duration(bound, e->bound_ns), e->saves_ns < 0 ? "costs " : "saves ",
				e->complete ? "" : "~", str_duration(saves, fabs(e->saves_ns))));
	x = x + 3 < 66 ? 66 : x + 3;
	canvas_fit(line, x, 0, line.width - x, LOOK_DIM, row->text);
}

static const char *figure_text(struct app *app, enum figure f)
{
	const struct plan *p = app_plan(app);
	const struct model *m = p->model;
	const struct device *d = &app->session->device;
	const struct analysis *a = app->session->analysis;
	struct arena *s = &app->scratch;
	char x[STR_QUANTITY], y[STR_QUANTITY];
	switch (f) {
	case FIGURE_FILE:
		return arena_printf(s, " model      %s, %s, made by %s %s", app_clean(app, text_of(m->path)),
			str_bytes(x, (double)m->file_bytes), app_clean(app, m->producer),
			app_clean(app, m->producer_version));
	case FIGURE_LAYERS:
		return arena_printf(s,
			" layers     %d, of them %d distinct problems; %d outputs of unknown shape",
			p->layer_count, p->problem_count, p->unknown_shapes);
	case FIGURE_WORK:
		return arena_printf(s, " work       %s FLOPs, %s moved%s", str_count(x, p->flops),
			str_bytes(y, p->bytes),
			p->unknown_flops_layers
				? arena_printf(s, "; %d layers of unknown work", p->unknown_flops_layers)
				: "");
	case FIGURE_WEIGHTS:
		return arena_printf(s, " weights    %s; most alive at once %s", str_bytes(x, p->weight_bytes),
			str_bytes(y, p->peak_live_bytes));
	case FIGURE_DIMS: {
		const char *line = p->binding_count ? " dimensions" : " dimensions all fixed";
		for (int i = 0; i < p->binding_count; i++)
			line = arena_printf(s, "%s %s=%lld", line, app_clean(app, p->bindings[i].name),
				(long long)p->bindings[i].value);
		for (int i = 0; i < p->unbound_count; i++)
			line = arena_printf(s, "%s %s=?", line, app_clean(app, p->unbound[i]));
		return line;
	}
	case FIGURE_COVERAGE:
		return !a ? ""
			  : arena_printf(s,
				    " coverage   %d layers: %d measured, %d proxy, %d free, %d fused, %d "
				    "missing, "
				    "%d unsupported",
				    a->coverage.layers, a->coverage.measured, a->coverage.proxy,
				    a->coverage.free, a->coverage.fused, a->coverage.missing,
				    a->coverage.unsupported);
	case FIGURE_DEVICE:
		return arena_printf(s, " device     %s; %s",
			d->model ? app_clean(app, text_of(d->model)) : "none",
			d->stack ? app_clean(app, text_of(d->stack)) : "no results");
	default: return "";
	}
}

static void what_if_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	(void)state;
	(void)above;
	int count;
	const struct what_if *table = what_if_table(&count);
	if (row < count)
		draw_toggle(app, &table[row], line);
	else if (row - count < FIGURE_COUNT)
		canvas_fit(line, 0, 0, line.width, LOOK_NORMAL, figure_text(app, (enum figure)(row - count)));
	else
		canvas_fit(line, 0, 0, line.width, LOOK_WARN, arena_printf(&app->scratch, " warning    %s",
			app_clean(app, text_of(app_plan(app)->warnings[row - count - FIGURE_COUNT]))));
}

static bool what_if_request(struct app *app, void *state, const struct key_row *key, int row)
{
	(void)state;
	if (key->request != REQUEST_OPEN || row < 0 || row >= toggle_count())
		return false;
	app_toggle(app, row);
	return true;
}

const struct view view_what_if = {
	.name = "what-if",
	.help = "the toggles with what each would change, and the model's own figures; Enter flips one",
	.rows = what_if_rows,
	.heading = what_if_heading,
	.draw_row = what_if_draw_row,
	.request = what_if_request,
};
