/* The details of the selected layer: its cost, problem, values and attributes. */
#include "config.h"

#include "ui/model/real.h"
#include "ui/model/say.h"
#include "ui/views/detail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the layer and its cost ---- */

/* Adds what limits the layer, and the fraction of that peak that it reaches. */
static void add_limit(struct app *app, struct page *d, const struct layer_cost *c)
{
	struct limit l = session_limit(app->session, c, app_problem(app, app->layer));
	char peak[STR_QUANTITY];
	const char *indent = "          ";
	if (l.by == LIMIT_UNKNOWN) {
		detail_wrapped(d, STYLE_DIM, " ", arena_printf(&d->arena, "bound by unknown: %s", l.why));
		return;
	}
	const char *share = isnan(l.share) ? "" : arena_printf(&d->arena, ", %s%.3g%% of",
		l.is_estimate ? "~" : "", 100 * l.share);
	const char *of = l.by == LIMIT_OVERHEAD ? arena_printf(&d->arena, "%s the cost (%s)", share, l.peak)
		: isnan(l.peak_per_s) ? ""
		: arena_printf(&d->arena, "%s %s%s (%s)", *share ? share : ", limit",
			  str_count(peak, l.peak_per_s), l.is_rate ? "B/s" : "FLOP/s", l.peak);
	const char *text = arena_printf(&d->arena, "%s%s%s", limit_name(l.by), of,
		limit_is_over(&l)
			? "; above the measured peak: the measurement is noisy, or that peak is too low"
			: "");
	struct text part;
	page_part(&text, d->width - canvas_columns(indent) - 1, &part);
	ADD(d, STYLE_NORMAL, -1, " bound by %.*s", (int)part.n, part.p);
	detail_wrapped(d, STYLE_NORMAL, indent, text);
}

static const char *fold_text(struct app *app, struct page *d)
{
	const struct place *at = &app->places[app->layer];
	return plan_fold_text(at->plan, app_layer(app, app->layer), &d->arena);
}

/* The line of a layer whose time is elsewhere, free or unknown; false: it has a cost. */
static bool add_no_cost(
	struct app *app, struct page *d, const struct layer_cost *c, const struct plan_layer *l)
{
	if (c->origin == ORIGIN_FUSED) {
		ADD(d, STYLE_NORMAL, c->group->layers[0], " cost     fused into %s",
			detail_clean(d, app_plan(app)->layers[c->group->layers[0]].name));
		return true;
	}
	if (c->origin == ORIGIN_FREE && l->absorbed_by >= 0) {
		int into = app->places[app->layer].base + l->absorbed_by;
		ADD(d, STYLE_NORMAL, into, " cost     part of the quantized %s",
			detail_clean(d, app_layer(app, into)->name));
		return true;
	}
	if (c->folded) {
		int into = analysis_folded_into(session_analysis(app->session), app_plan(app), app->layer);
		ADD(d, STYLE_NORMAL, into, " cost     removed by the what-if fold%s%s",
			into < 0 ? "" : ", into ",
			into < 0 ? "" : detail_clean(d, app_layer(app, into)->name));
		detail_wrapped(d, STYLE_DIM, "          ", fold_text(app, d));
		return true;
	}
	if (c->origin == ORIGIN_FREE) {
		detail_add(d, STYLE_NORMAL, -1,
			c->at_least ? " cost     ~free" : " cost     free: no kernel runs for it");
		if (l->why)
			detail_wrapped(d, STYLE_WARN, "          ", detail_clean(d, text_of(l->why)));
		if (l->fold != FOLD_NONE)
			detail_wrapped(d, STYLE_DIM, "          ", fold_text(app, d));
		return true;
	}
	if (session_described(app->session) && c->origin == ORIGIN_MISSING) {
		detail_add(d, STYLE_WARN, -1, " cost     unknown");
		detail_wrapped(d, STYLE_WARN, "          ", app_missing_why(app, app->layer));
		return true;
	}
	if (isnan(c->ns) || c->origin == ORIGIN_MISSING || c->origin == ORIGIN_UNSUPPORTED) {
		ADD(d, STYLE_WARN, -1, " cost     unknown: %s",
			plan_layer_is_control(l)	  ? app_missing_why(app, app->layer)
			: l->problem < 0 && l->why	  ? detail_clean(d, text_of(l->why))
			: c->origin == ORIGIN_UNSUPPORTED ? "n/a: the library does not support it"
							  : "not measured");
		return true;
	}
	return false;
}

/* The state of the caches that the cost is of, and how far measurements at different times are apart. */
static void add_evidence(struct app *app, struct page *d, const struct result *r)
{
	char least[STR_QUANTITY], most[STR_QUANTITY];
	struct str state = { 0 };
	if (r && cache_is_distance(r->cache)) {
		analysis_cache_describe(session_analysis(app->session), &state);
		detail_wrapped(d, STYLE_NORMAL, " caches   ", arena_printf(&d->arena, "%s", state.p));
		str_free(&state);
	}
	if (r && r->times > 1)
		ADD(d, STYLE_NORMAL, -1, " measured %d times, %s to %s", r->times,
			str_duration(least, r->least_ns), str_duration(most, r->most_ns));
}

static void add_cost(struct app *app, struct page *d)
{
	const struct layer_cost *c = app_cost(app, app->layer);
	char text[SAY_INTERVAL], slack[STR_QUANTITY];
	double total = session_analysis(app->session) ? session_analysis(app->session)->sequential_ns : NAN;
	if (!c || add_no_cost(app, d, c, app_layer(app, app->layer)))
		return;
	bool guess = app_is_guess(c);
	int64_t n = c->result ? c->result->stats.n : 0;
	ADD(d, STYLE_BOLD, -1, " cost     %s%s  %s",
		c->mistrusted	? "!"
			: guess ? "~"
				: "",
		say_interval(text, c->ns, c->lo, c->hi, n), origin_name(c->origin));
	add_evidence(app, d, c->result);
	if (c->origin == ORIGIN_ROUGH)
		detail_wrapped(d, STYLE_WARN, "          ",
			arena_printf(&d->arena, "rough: a quick measurement of the library's first choice, "
				"few samples; %s measures the layer in full", key_named("measure")));
	if (c->at_least && c->why)
		detail_wrapped(d, STYLE_WARN, "          ", detail_clean(d, text_of(c->why)));
	if (c->row)
		ADD(d, STYLE_NORMAL, -1, " estimate %s%s, %s", c->nearest ? "nearest: " : "",
			calibration_kind_name(c->row->kind), calibration_library_name(c->row->library));
	if (c->roofline_ns > 0 && (c->origin != ORIGIN_ESTIMATED || c->row))
		ADD(d, STYLE_NORMAL, -1, " roofline %s%s, %s%.3g%% of the cost",
			str_duration(slack, c->roofline_ns), c->row ? "" : " by the measured peaks",
			guess ? "~" : "", 100 * c->roofline_ns / c->ns);
	add_limit(app, d, c);
	if (plan_layer_folds(app_layer(app, app->layer)))
		detail_wrapped(d, STYLE_DIM, " ", arena_printf(&d->arena, "the what-if fold removes it: %s",
			fold_text(app, d)));
	if (c->mistrusted)
		detail_wrapped(d, STYLE_BAD, "          ", arena_printf(&d->arena,
			"suspect: faster than the roofline, and caching does not explain it. The measurement "
			"or a measured peak is wrong. %s measures the layer again; `benanza bench --again "
			"all` measures everything again, peaks included", key_named("measure-layer")));
	if (c->nearer)
		detail_wrapped(d, STYLE_WARN, "          ", arena_printf(&d->arena,
			"measured at a shorter reuse distance than the model's, because the copies of its "
			"constants did not fit in memory: the high end includes the time to read "
			"them from memory"));
	if (c->capped)
		detail_wrapped(d, STYLE_WARN, "          ", arena_printf(&d->arena,
			"noisy: its measurement is above this one, which is of a slower cache state or "
			"launch mode. %s measures the layer again",
			key_named("measure-layer")));
	if (c->disputed)
		detail_wrapped(d, STYLE_WARN, "          ", arena_printf(&d->arena,
			"noisy: another measurement differs, and neither was repeated more "
			"often. %s measures "
			"the layer again", key_named("measure-layer")));
	if (total > 0)
		ADD(d, STYLE_NORMAL, -1, " share    %s%.2f%% of the sequential bound",
			session_analysis(app->session)->estimated ? "~" : "",
			100 * app_cost_all(app, app->layer) / total);
	if (c->critical)
		detail_add(d, STYLE_NORMAL, -1, " path     critical: on the longest path");
	else if (!isnan(c->slack_ns))
		ADD(d, STYLE_NORMAL, -1, " path     %s of slack", str_duration(slack, c->slack_ns));
}

static void add_work(struct app *app, struct page *d)
{
	const struct plan_layer *l = app_layer(app, app->layer);
	const struct layer_cost *c = app_cost(app, app->layer);
	char flops[STR_QUANTITY], bytes[STR_QUANTITY], rate[STR_QUANTITY], speed[STR_QUANTITY];
	const char *mark = (l->upto || l->at_least) && (l->flops > 0 || l->bytes > 0) ? "~" : "";
	ADD(d, STYLE_NORMAL, -1, " work     %s%s, %s", mark, str_flops(flops, l->flops),
		str_bytes(bytes, l->bytes));
	if (l->flops > 0 && l->bytes > 0)
		ADD(d, STYLE_NORMAL, -1, "          %.3g FLOPs per byte", l->flops / l->bytes);
	if (c && c->ns > 0 && c->result && !c->group)
		ADD(d, STYLE_NORMAL, -1, " speed    %s%s%s%sB/s", mark,
			l->flops > 0 ? str_count(rate, l->flops / c->ns * 1e9) : "",
			l->flops > 0 ? "FLOP/s, " : "",
			str_count(speed, l->bytes / c->ns * 1e9)); /* same units as the peaks */
}

/* ---- attributes and values ---- */

#define LIST_SHOWN 8

static const char *attribute_text(struct page *d, const struct attribute *a)
{
	struct str s = { 0 };
	char number[STR_QUANTITY];
	size_t shown = a->count < LIST_SHOWN ? a->count : LIST_SHOWN;
	switch (a->kind) {
	case ATTRIBUTE_INT: str_addf(&s, "%lld", (long long)a->i); break;
	case ATTRIBUTE_FLOAT: str_addf(&s, "%s", str_float(number, a->f)); break;
	case ATTRIBUTE_STRING: str_addf(&s, "\"%s\"", detail_clean(d, a->s)); break;
	case ATTRIBUTE_TENSOR:
		str_addf(&s, "tensor %s", a->tensor ? dtype_name(a->tensor->dtype) : "?");
		for (int i = 0; a->tensor && i < a->tensor->rank; i++)
			str_addf(&s, "%s%lld", i ? "x" : " ", (long long)a->tensor->dims[i]);
		break;
	case ATTRIBUTE_GRAPH: str_addf(&s, "graph of %d nodes", a->graph ? a->graph->node_count : 0); break;
	case ATTRIBUTE_INTS:
	case ATTRIBUTE_FLOATS:
	case ATTRIBUTE_STRINGS:
		for (size_t i = 0; i < shown; i++) {
			const char *blank = i ? " " : "";
			if (a->kind == ATTRIBUTE_INTS)
				str_addf(&s, "%s%lld", blank, (long long)a->ints[i]);
			else if (a->kind == ATTRIBUTE_FLOATS)
				str_addf(&s, "%s%s", blank, str_float(number, a->floats[i]));
			else
				str_addf(&s, "%s\"%s\"", blank, detail_clean(d, a->strings[i]));
		}
		if (shown < a->count)
			str_addf(&s, " ... (%zu)", a->count);
		break;
	default: str_addf(&s, "unsupported kind");
	}
	const char *kept = arena_printf(&d->arena, "%s", s.p ? s.p : "");
	str_free(&s);
	return kept;
}

static void add_attributes(struct app *app, struct page *d)
{
	const struct node *n = app_layer(app, app->layer)->node;
	if (n->attribute_count == 0)
		return;
	detail_heading(d, "Attributes");
	for (int i = 0; i < n->attribute_count; i++)
		ADD(d, STYLE_NORMAL, -1, " %s = %s", detail_clean(d, n->attributes[i].name),
			attribute_text(d, &n->attributes[i]));
}

static const char *value_text(struct app *app, struct page *d, int index)
{
	const struct plan_value *v = &app->places[app->layer].plan->values[index];
	const char *whose = app_is_body(app, app->layer) ? "body" : "model";
	const char *shape = detail_clean(d, text_of(plan_value_text(&d->arena, v)));
	bool is_tensor = v->kind == VALUE_TENSOR;
	const char *edge = v->is_input ? arena_printf(&d->arena, "  %s input", whose) : "";
	return arena_printf(&d->arena, "%s%s%s%s%s%s%s%s  %s", is_tensor ? dtype_name(v->dtype) : "",
		is_tensor ? " " : "", shape, v->constant ? "  constant" : "", edge, v->is_output ? "  " : "",
		v->is_output ? whose : "", v->is_output ? " output" : "", detail_clean(d, v->name));
}

static void add_values(struct app *app, struct page *d)
{
	const struct place *at = &app->places[app->layer];
	const struct plan *p = at->plan;
	const struct plan_layer *l = at->layer;
	detail_heading(d, arena_printf(&d->arena, "Inputs (%s: the layer that produces it)",
		key_named("open")));
	for (int i = 0; i < l->input_count; i++) {
		int v = l->inputs[i], producer = v >= 0 ? app_producer(app, app->layer, v) : -1;
		/* the producer of a constant is followed only if constant layers are listed */
		int jump =
			producer >= 0 && (app->show_folded || !app_is_folded(app, producer)) ? producer : -1;
		if (v < 0)
			detail_add(d, STYLE_DIM, -1, " (omitted)");
		else
			ADD(d, p->values[v].constant ? STYLE_DIM : STYLE_NORMAL, jump, " %s%s",
				jump >= 0 ? "\u2190 " : "  ", value_text(app, d, v));
	}
	detail_heading(d, "Outputs");
	for (int i = 0; i < l->output_count; i++)
		if (l->outputs[i] >= 0)
			ADD(d, STYLE_NORMAL, -1, "   %s", value_text(app, d, l->outputs[i]));
	if (l->succ_count)
		detail_heading(d, "Read by");
	for (int i = 0; i < l->succ_count; i++)
		ADD(d, STYLE_NORMAL, at->base + l->succs[i], " \u2192 %s  %s",
			detail_clean(d, p->layers[l->succs[i]].name),
			detail_clean(d, p->layers[l->succs[i]].node->op));
}

/* ---- the problem and its measurements ---- */

#define OCCURRENCES_SHOWN 12

static void add_problem(struct app *app, struct page *d)
{
	const struct plan_layer *l = app_layer(app, app->layer);
	int index = app_own_problem(app, app->layer), others = 0;
	if (index < 0)
		return;
	for (int i = 0; i < app->place_count; i++)
		others += i != app->layer && app_own_problem(app, i) == index;
	detail_heading(d, others ? arena_printf(&d->arena, "Problem of %d layers", others + 1) : "Problem");
	detail_wrapped(d, STYLE_NORMAL, " ", app_plan(app)->problems[index].text);
	if (l->proxy)
		detail_add(d, STYLE_WARN, -1,
			app_plan(app)->problems[index].problem->kernel == KERNEL_COPY ?
				" ~ proxy: a plain copy of the same size" :
				" ~ proxy: similar work, not the same");
	int shown = 0;
	for (int i = 0; i < app->place_count && others; i++) {
		if (app_own_problem(app, i) != index || i == app->layer)
			continue;
		if (shown++ == OCCURRENCES_SHOWN) {
			ADD(d, STYLE_DIM, -1, "   and %d more", others - OCCURRENCES_SHOWN);
			break;
		}
		ADD(d, STYLE_NORMAL, i, " = %s", detail_clean(d, app_layer(app, i)->name));
	}
}

/* ---- layers inside */

#define INSIDE_SHOWN 200 /* most lines shown */

/* Adds a layer of a body with its cost for one run. */
static void add_inner(struct app *app, struct page *d, int layer)
{
	const struct plan_layer *l = app_layer(app, layer);
	const struct layer_cost *c = app_cost(app, layer);
	char cost[STR_QUANTITY];
	bool is_free = l->class == CLASS_FREE || (c && c->origin == ORIGIN_FREE);
	const char *text = is_free ? "free" : !c || isnan(c->ns) ? "-" : str_duration(cost, c->ns);
	ADD(d, is_free ? STYLE_DIM : STYLE_NORMAL, layer, " %s%9s  %s  %s", c && app_is_guess(c) ? "~" : " ",
		text, detail_clean(d, l->node->op), detail_clean(d, l->name));
}

/* Adds the layers of a body; free ones only if constants are listed. */
static void add_body(struct app *app, struct page *d, const struct plan *body, int first)
{
	int left = 0, room = INSIDE_SHOWN;
	for (int i = 0; i < body->layer_count; i++) {
		bool control = body->layers[i].body_count > 0;
		if (body->layers[i].class == CLASS_FREE && !control && !app->show_folded)
			left++;
		else if (room-- > 0)
			add_inner(app, d, first + i);
	}
	if (room < 0)
		ADD(d, STYLE_DIM, -1, "             and %d more", -room);
	if (left)
		ADD(d, STYLE_DIM, -1, "       free  %d more (%s lists them)", left, key_named("constants"));
}

/* Adds the layers of the subgraphs: first those that run. */
static void add_bodies(struct app *app, struct page *d)
{
	const struct plan_layer *l = app_layer(app, app->layer);
	bool inside = plan_layer_is_control(l);
	for (int i = 0; i < l->body_count; i++) {
		const struct plan *body = &l->bodies[i];
		char times[STR_QUANTITY];
		if (body->times == 0 || !inside)
			continue;
		const char *often = isnan(body->times) && l->body_count == 2 ? "taken or not" :
				    isnan(body->times) ? "number of runs unknown; per run" :
				    body->times == 1   ? "runs once" :
							 arena_printf(&d->arena, "runs %s times; per run",
								 str_count(times, body->times));
		detail_heading(d, arena_printf(&d->arena, "%s: %s", detail_clean(d, body->role), often));
		add_body(app, d, body, app_body_first(app, app->layer, i));
	}
	for (int i = 0; i < l->body_count; i++)
		if (l->bodies[i].times == 0 || !inside)
			detail_heading(d,
				arena_printf(&d->arena, "%s: %s, %d layer%s",
					detail_clean(d, l->bodies[i].role),
					inside ? "does not run" : "the result is constant",
					l->bodies[i].layer_count, l->bodies[i].layer_count == 1 ? "" : "s"));
}

/* Adds the layer that contains this one; Enter opens it. */
static void add_owner(struct app *app, struct page *d)
{
	const struct place *at = &app->places[app->layer];
	char times[STR_QUANTITY];
	if (at->owner < 0)
		return;
	ADD(d, STYLE_NORMAL, at->owner, " in       %s of %s", detail_clean(d, at->plan->role),
		detail_clean(d, app_layer(app, at->owner)->name));
	if (isnan(at->times))
		detail_add(d, STYLE_WARN, -1, " runs     unknown number; costs below: one run");
	else if (at->times != 1)
		ADD(d, STYLE_NORMAL, -1, " runs     %s times; costs below: one run",
			str_count(times, at->times));
}

static bool group_has(const struct fusion_group *g, int layer)
{
	for (int i = 0; i < g->layer_count; i++)
		if (g->layers[i] == layer)
			return true;
	return false;
}

/* Cost of a problem: of its measurement, or on a described device its estimate; NaN unknown. */
static double problem_ns(const struct app *app, const char *text)
{
	const struct result *r = app_pick(app, text);
	return r ? stats_cost(&r->stats) : app_estimate_ns(app, text);
}

/* Sum of the costs of a group's layers when not fused; NaN if one is missing. */
static double parts_ns(const struct app *app, const struct fusion_group *g)
{
	double ns = 0;
	for (int k = 0; k < g->layer_count; k++) {
		const struct plan_layer *l = &app_plan(app)->layers[g->layers[k]];
		int own = app_own_problem(app, g->layers[k]);
		ns += l->class == CLASS_FREE ? 0
			: own >= 0	     ? problem_ns(app, app_plan(app)->problems[own].text)
					     : NAN;
	}
	return ns;
}

/* Adds the gain of each fusion that the layer can be in: the fused kernel compared with its parts. */
static void add_fusions(struct app *app, struct page *d)
{
	const struct fusion *f = session_fusion(app->session);
	const struct layer_cost *cost = app_cost(app, app->layer);
	const char *label = " fusion  ";
	for (int i = 0; f && i < f->group_count; i++) {
		const struct fusion_group *g = &f->groups[i];
		if (!group_has(g, app->layer))
			continue;
		bool nhwc = session_scenario(app->session)->layouts == LAYOUTS_NXC && g->text_nxc;
		const char *text = nhwc ? g->text_nxc : g->text;
		const char *copy = fusion_copy_text(g);
		double fused = problem_ns(app, text) + (copy ? problem_ns(app, copy) : 0);
		double apart = parts_ns(app, g), gain = apart - fused;
		const char *mark = session_described(app->session) ? "~" : "";
		char by[STR_QUANTITY], with[STR_QUANTITY], without[STR_QUANTITY];
		enum style style = STYLE_DIM;
		const char *word = isnan(fused) ? detail_problem_word(app, d, text, &style) : "";
		const char *effect = isnan(gain) ? "gain unknown" : arena_printf(&d->arena, "%s %s%s",
			gain < 0 ? "costs" : "saves", mark, str_duration(by, fabs(gain)));
		ADD(d, isnan(gain) ? STYLE_DIM : gain > 0 ? STYLE_GOOD : STYLE_NORMAL, -1, "%s%s%s %s", label,
			cost && cost->group == g ? ">" : " ", effect, detail_clean(d, text_of(g->pattern)));
		ADD(d, STYLE_DIM, -1, "          fused %s%s, parts %s%s", isnan(fused) ? "" : mark,
			isnan(fused) ? word : str_duration(with, fused), isnan(apart) ? "" : mark,
			isnan(apart) ? "unknown" : str_duration(without, apart));
		label = "         ";
	}
}

static void detail_make(struct app *app, struct page *d)
{
	const struct plan *p = app_plan(app);
	if (!p || app->layer < 0 || app->layer >= app->place_count) {
		detail_add(d, STYLE_DIM, -1, " no layer is selected");
		return;
	}
	const struct plan_layer *l = app_layer(app, app->layer);
	const struct layer_cost *cost = app_cost(app, app->layer);
	detail_wrapped(d, STYLE_BOLD, " ", detail_clean(d, l->name));
	int number = app->number_of[app->layer];
	ADD(d, STYLE_NORMAL, -1, " %s%s%s  class %s  %s", detail_clean(d, l->node->domain),
		l->node->domain.n ? "." : "", detail_clean(d, l->node->op), op_class_name(l->class),
		app_is_body(app, app->layer) ? ""
			: number	   ? arena_printf(&d->arena, "layer %d of %d", number,
						     p->layer_count - app->folded_count)
					   : "only computes constants");
	if (op_own_place(l->op))
		detail_wrapped(d, STYLE_NORMAL, " operator ", detail_clean(d, text_of(op_own_place(l->op))));
	add_owner(app, d);
	add_cost(app, d);
	detail_real(app, d);
	if (!app_is_body(app, app->layer))
		add_fusions(app, d);
	add_work(app, d);
	int index = app_own_problem(app, app->layer);
	const char *own = index >= 0 ? p->problems[index].text : NULL;
	const char *fused =
		cost && cost->group && cost->group->layers[0] == app->layer ? app_problem(app, app->layer)
									    : NULL;
	add_problem(app, d);
	if (fused) {
		detail_heading(d, "Fused problem in use");
		detail_wrapped(d, STYLE_NORMAL, " ", fused);
		detail_results(app, d, "Algorithms, fused", fused);
	}
	if (own)
		detail_results(app, d, "Algorithms", own);
	add_bodies(app, d);
	add_values(app, d);
	add_attributes(app, d);
	if (fused)
		detail_measurements(app, d, "Measurements, fused", fused);
	if (own)
		detail_measurements(app, d, "Measurements", own);
}

struct detail {
	struct page page;
	int layer; /* of its lines */
};

static void detail_open(struct app *app, void *state)
{
	(void)app;
	((struct detail *)state)->layer = -2;
}

static int detail_rows(struct app *app, void *state, int width)
{
	struct detail *d = state;
	if (d->layer == app->layer && !page_is_old(&d->page, app, width))
		return d->page.count;
	d->layer = app->layer;
	page_begin(&d->page, app, width);
	detail_make(app, &d->page);
	return d->page.count;
}

static bool detail_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct page *d = state;
	if (key->request != REQUEST_OPEN || row < 0 || d->lines[row].item < 0)
		return false;
	app_follow(app, d->lines[row].item);
	return true;
}

static bool detail_can(const struct app *app, const void *state, const struct key_row *key, int row)
{
	(void)app;
	const struct page *d = state;
	return key->request != REQUEST_OPEN || (row >= 0 && d->lines[row].item >= 0);
}

static bool detail_passes(struct app *app, void *state, int row)
{
	(void)app;
	return !((struct page *)state)->lines[row].text[0];
}

/* Scrolls to the top when another layer is shown. */
static int detail_row_of_layer(struct app *app, void *state, int layer)
{
	(void)app;
	(void)state;
	(void)layer;
	return 0;
}

static const struct list detail_list = {
	.rows = detail_rows,
	.draw_row = page_draw_row,
	.row_text = page_row_text,
	.passes = detail_passes,
	.row_of_layer = detail_row_of_layer,
};

const struct view view_detail = {
	.name = "detail",
	.help = "all facts about one layer; {open} follows lines that name another layer",
	.keys = "2",
	.group = KEYS_VIEWS,
	.state_size = sizeof(struct detail),
	.open = detail_open,
	.close = page_close,
	.list = &detail_list,
	.request = detail_request,
	.can = detail_can,
	.opens = "follow",
	.own_footer = true,
	.details = true,
};
