/* The view of all what-ifs, with what each would change, and the figures of the model. */
#include "config.h"

#include "ui/views/view.h"

#include "ui/model/page.h"
#include "ui/model/real.h"
#include "ui/model/say.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The toggles in full, and below them the figures of the model. Longer texts continue in rows below, which
 * the cursor skips. */
enum figure {
	FIGURE_FILE,
	FIGURE_LAYERS,
	FIGURE_WORK,
	FIGURE_WEIGHTS,
	FIGURE_DIMS,
	FIGURE_COVERAGE,
	FIGURE_TRUST,
	FIGURE_CASTS,
	FIGURE_DEVICE,
	FIGURE_REAL,
	FIGURE_COUNT
};

static void draw_toggle(struct app *app, const struct what_if *row, struct area line)
{
	const struct what_if_effect *e = session_effect(app->session, row);
	const struct analysis *a = session_analysis(app->session);
	bool on = row->get(session_scenario(app->session)) != 0;
	char total[STR_QUANTITY], saves[STR_QUANTITY], word[WHAT_IF_WORD_SIZE], why[WHAT_IF_WHY_SIZE];
	what_if_word(row, session_scenario(app->session), word, sizeof(word));
	if (on && e && e->layers >= 0 && !row->value)
		snprintf(word, sizeof(word), "%d layer%s", e->layers, e->layers == 1 ? "" : "s");
	int count;
	struct text key = keys_of_what_if((int)(row - what_if_table(&count)));
	canvas_fit(line, 2, 0, 3, STYLE_BOLD, arena_strndup(&app->scratch, key.p, key.n));
	canvas_fit(line, 6, 0, 13, STYLE_BOLD, row->name);
	canvas_fit(line, 20, 0, 13, on ? STYLE_GOOD : STYLE_NORMAL,
		arena_printf(&app->scratch, "[%c] %s", on ? 'x' : ' ', word));
	if (!e || !a)
		return;
	struct area rest = canvas_part(line, 34, 0, line.width - 34, 1);
	struct toggle_says t = say_toggle(e, app_can_measure(app));
	double with_ns = e->on ? a->total_ns : e->total_ns;
	bool complete = e->on ? a->complete : e->bound_complete;
	if (*what_if_why(row, e->available, e->on, why, sizeof(why)))
		canvas_fit(rest, 0, 0, rest.width, STYLE_DIM,
			arena_printf(&app->scratch, "%s%s", e->available ? "" : "n/a: ", why));
	else if (t.gain == GAIN_ABSENT)
		canvas_fit(rest, 0, 0, rest.width, STYLE_DIM,
			"n/a: not all is measured, and there is no runner");
	else if (t.gain == GAIN_PENDING)
		canvas_fit(rest, 0, 0, rest.width, STYLE_DIM, "...");
	else if (t.gain == GAIN_UNKNOWN && t.wanted > 0)
		canvas_fit(rest, 0, 0, rest.width, STYLE_WARN,
			arena_printf(&app->scratch, "unknown until %d problem%s measured", t.wanted,
				t.wanted == 1 ? " is" : "s are"));
	else if (t.gain == GAIN_UNKNOWN || t.gain == GAIN_NEVER || isnan(with_ns))
		canvas_fit(rest, 0, 0, rest.width, STYLE_DIM, "unknown");
	else {
		const char *tried = what_if_tried(row, session_scenario(app->session), word, sizeof(word));
		const char *value = strchr(tried, '='); /* the row has its name */
		canvas_fit(rest, 0, 0, rest.width, t.noisy ? STYLE_WARN : STYLE_NORMAL,
			arena_printf(&app->scratch, "%s%-18s %s%s%s%s%s  %s",
				complete && !e->estimated && !e->rough ? " " : "~",
				str_duration(total, with_ns), t.gain == GAIN_KNOWN ? " " : "~",
				str_duration(saves, fabs(t.saves_ns)), t.saves_ns < 0 ? " more" : "",
				t.gain == GAIN_ROUGH ? "  rough" : "",
				t.noisy ? arena_printf(&app->scratch, "  %d noisy", e->noisy_problems) : "",
				value ? value + 1 : tried));
	}
}

/* Unknown work is reported, never counted as 0. */
static const char *work_text(struct app *app)
{
	const struct plan *p = app_plan(app);
	char x[STR_QUANTITY], y[STR_QUANTITY];
	int unknown = p->unknown_flops_layers;
	if (unknown && !(p->flops > 0))
		return arena_printf(&app->scratch, " work       unknown for %d layer%s", unknown,
			unknown == 1 ? "" : "s");
	return arena_printf(&app->scratch, " work       %s%s%s, %s moved%s",
		unknown && !p->upto ? "at least " : "", p->upto || (p->at_least && !unknown) ? "~" : "",
		str_flops(x, p->flops), str_bytes(y, p->bytes),
		unknown ? arena_printf(
				  &app->scratch, "; unknown for %d layer%s", unknown, unknown == 1 ? "" : "s")
			: "");
}

static const char *dims_text(struct app *app)
{
	const struct plan *p = app_plan(app);
	const char *line = p->binding_count || p->unbound_count ? " dimensions" : " dimensions all fixed";
	for (int i = 0; i < p->binding_count; i++)
		line = arena_printf(&app->scratch, "%s %s=%lld", line, app_clean(app, p->bindings[i].name),
			(long long)p->bindings[i].value);
	for (int i = 0; i < p->unbound_count; i++)
		line = arena_printf(&app->scratch, "%s %s=?", line, app_clean(app, p->unbound[i]));
	return line;
}

static const char *figure_text(struct app *app, enum figure f)
{
	const struct plan *p = app_plan(app);
	const struct model *m = p->model;
	const struct device *d = session_device(app->session);
	const struct analysis *a = session_analysis(app->session);
	struct arena *s = &app->scratch;
	char x[STR_QUANTITY], y[STR_QUANTITY];
	switch (f) {
	case FIGURE_FILE:
		return arena_printf(s, " model      %s, %s, producer %s %s", app_clean(app, text_of(m->path)),
			str_bytes(x, (double)m->file_bytes), app_clean(app, m->producer),
			app_clean(app, m->producer_version));
	case FIGURE_LAYERS:
		return arena_printf(s,
			" layers     %d layers, %d constant%s, %d distinct problems; %d outputs of unknown "
			"shape",
			p->layer_count - app->folded_count, app->folded_count,
			app->folded_count == 1 ? "" : "s", p->problem_count, p->unknown_shapes);
	case FIGURE_WORK: return work_text(app);
	case FIGURE_WEIGHTS:
		return arena_printf(s, " weights    %s; peak live activations %s",
			str_bytes(x, p->weight_bytes),
			isnan(p->peak_live_bytes) ? "unknown" : str_bytes(y, p->peak_live_bytes));
	case FIGURE_DIMS: return dims_text(app);
	case FIGURE_COVERAGE:
		return !a ? ""
			  : arena_printf(s,
				    " coverage   %d layers: %d measured, %d proxy, %d free, %d fused, %d "
				    "missing, "
				    "%d unsupported",
				    a->coverage.layers - app->folded_count, a->coverage.measured,
				    a->coverage.proxy, a->coverage.free - app->folded_count,
				    a->coverage.fused, a->coverage.missing, a->coverage.unsupported);
	case FIGURE_TRUST: {
		enum trust_verdict verdict;
		return !a ? "" : arena_printf(s, " trust      %s", app_trust_text(app, INT_MAX, &verdict));
	}
	case FIGURE_CASTS:
		if (!a || !(p->border_count + a->conversions))
			return "";
		return arena_printf(s, " casts      %d at the model's inputs and outputs%s, %s of the total",
			p->border_count,
			a->conversions ? arena_printf(s, ", %d layout conversion%s", a->conversions,
						 a->conversions == 1 ? "" : "s")
				       : "",
			a->border_ns > 0 ? str_duration(x, a->border_ns) : "an unknown part");
	case FIGURE_DEVICE:
		return arena_printf(s, " device     %s; %s",
			d->model ? app_clean(app, text_of(d->model)) : "none",
			d->stack ? app_clean(app, text_of(d->stack)) : "no results");
	case FIGURE_REAL: return app_real_figure(app);
	default: return "";
	}
}

#define TOGGLE_AT 6  /* its text, under its name */
#define FIGURE_AT 12 /* what goes on of a figure, under the text after its label */

static int what_if_rows(struct app *app, void *state, int width)
{
	struct page *s = state;
	const struct plan *p = app_plan(app);
	int count;
	const struct what_if *table = what_if_table(&count);
	if (!page_is_old(s, app, width))
		return s->count;
	page_begin(s, app, width);
	s->margin = 1;
	for (int i = 0; i < count; i++) {
		page_add(s, 0, STYLE_NORMAL, NULL)->item = i;
		int from = page_wrap(s, TOGGLE_AT, TOGGLE_AT, STYLE_DIM, table[i].text);
		for (int k = from; k < s->count; k++) {
			s->lines[k].item = i;
			s->lines[k].passed = true;
		}
	}
	if (!p)
		return s->count;
	page_add(s, 0, STYLE_NORMAL, "")->passed = true;
	for (int f = 0; f < FIGURE_COUNT; f++)
		page_wrap(s, 0, FIGURE_AT, STYLE_NORMAL, figure_text(app, (enum figure)f));
	for (int i = 0; i < p->warning_count; i++)
		page_wrap(s, 0, FIGURE_AT, STYLE_WARN, arena_printf(&app->scratch, " warning    %s",
			app_clean(app, text_of(p->warnings[i]))));
	return s->count;
}

/* As on the command line: total with the toggle on, and on compared with off, in either state. */
static void what_if_heading(struct app *app, void *state, struct area line)
{
	(void)app;
	(void)state;
	canvas_fit(line, 1, 0, line.width - 1, STYLE_DIM,
		"key  what if       now           total with it on    saving when on");
}

static void what_if_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct page_line *l = &((struct page *)state)->lines[row];
	int count;
	if (l->text) {
		canvas_fill(line, 0, 0, l->at, l->style, ' ');
		page_draw_row(app, state, row, above, line);
	} else
		draw_toggle(app, &what_if_table(&count)[l->item], line);
}

static const char *what_if_row_text(struct app *app, void *state, int row)
{
	const struct page_line *l = &((struct page *)state)->lines[row];
	int count;
	return l->text ? page_row_text(app, state, row) : what_if_table(&count)[l->item].name;
}

static bool what_if_request(struct app *app, void *state, const struct key_row *key, int row)
{
	int toggle = row >= 0 ? ((struct page *)state)->lines[row].item : -1;
	if (toggle < 0 || (key->request != REQUEST_OPEN && key->request != REQUEST_TYPE))
		return key->request == REQUEST_TYPE;
	if (key->request == REQUEST_TYPE)
		app_ask_choice(app, toggle);
	else
		app_toggle(app, toggle);
	return true;
}

static const struct list what_if_list = {
	.rows = what_if_rows,
	.heading = what_if_heading,
	.draw_row = what_if_draw_row,
	.row_text = what_if_row_text,
	.click_opens = true,
	.passes = page_passes,
};

const struct view view_what_if = {
	.name = "what-if",
	.help = "the what-ifs with their effect, and the figures of the model; {open} switches one",
	.keys = "3",
	.group = KEYS_VIEWS,
	.state_size = sizeof(struct page),
	.close = page_close,
	.list = &what_if_list,
	.opens = "switch",
	.request = what_if_request,
};
