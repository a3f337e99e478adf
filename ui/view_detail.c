#include "config.h"

#include "ui/app_say.h"
#include "ui/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A page of lines about one layer, made anew when the layer, the results or the width change. */
struct detail_line {
	const char *text;
	enum look look;
	int jump; /* layer that Enter leads to, or -1 */
};

struct detail {
	struct arena arena;
	struct detail_line *lines;
	int count, capacity;
	int layer, width;
	uint64_t generation;
};

static void add(struct detail *d, enum look look, int jump, const char *text)
{
	VEC_GROW(d->lines, d->count, d->capacity);
	d->lines[d->count++] = (struct detail_line){ text, look, jump };
}

#define ADD(d, look, jump, ...) add((d), (look), (jump), arena_printf(&(d)->arena, __VA_ARGS__))

static void add_heading(struct detail *d, const char *text)
{
	if (d->count)
		add(d, LOOK_NORMAL, -1, "");
	ADD(d, LOOK_HEADER, -1, " %s", text);
}

static void add_wrapped(struct detail *d, enum look look, const char *indent, const char *text)
{
	int room = d->width - canvas_columns(indent) - 1;
	room = room < 8 ? 8 : room;
	while (*text) {
		size_t n = app_break(text, room);
		ADD(d, look, -1, "%s%.*s", indent, (int)n, text);
		text += n;
		text += strspn(text, " ");
	}
}

static const char *clean(struct detail *d, struct text t)
{
	return text_clean(&d->arena, t);
}

/* ---- the layer and its cost ---- */

static void add_cost(struct app *app, struct detail *d)
{
	const struct layer_cost *c = app_cost(app, d->layer);
	const struct plan_layer *l = app_layer(app, d->layer);
	char text[SAY_INTERVAL], slack[STR_QUANTITY];
	double total = app->session->analysis ? app->session->analysis->sequential_ns : NAN;
	if (!c)
		return;
	if (c->origin == ORIGIN_FUSED) {
		ADD(d, LOOK_NORMAL, c->group->layers[0], " cost     fused into %s",
			clean(d, app_plan(app)->layers[c->group->layers[0]].name));
		return;
	}
	if (c->origin == ORIGIN_FREE && l->absorbed_by >= 0) {
		int into = app->places[d->layer].base + l->absorbed_by;
		ADD(d, LOOK_NORMAL, into, " cost     part of the quantized %s", clean(d, app_layer(app, into)->name));
		return;
	}
	if (c->origin == ORIGIN_FREE) {
		add(d, LOOK_NORMAL, -1, c->at_least ? " cost     ~free" : " cost     free: no kernel runs for it");
		if (l->why)
			add_wrapped(d, LOOK_WARN, "          ", clean(d, text_of(l->why)));
		return;
	}
	if (isnan(c->ns) || c->origin == ORIGIN_MISSING || c->origin == ORIGIN_UNSUPPORTED) {
		ADD(d, LOOK_WARN, -1, " cost     unknown: %s",
			plan_layer_is_control(l)	  ? app_missing_why(app, d->layer)
			: l->problem < 0 && l->why	  ? clean(d, text_of(l->why))
			: c->origin == ORIGIN_UNSUPPORTED ? "the library does not support it"
							  : "not measured");
		return;
	}
	bool guess = app_is_guess(c);
	int64_t n = c->result ? c->result->stats.n : 0;
	ADD(d, LOOK_BOLD, -1, " cost     %s%s  %s", c->mistrusted ? "!" : guess ? "~" : "", say_interval(text, c->ns, c->lo, c->hi, n),
		origin_name(c->origin));
	if (c->at_least && c->why)
		add_wrapped(d, LOOK_WARN, "          ", clean(d, text_of(c->why)));
	if (c->roofline_ns > 0 && c->origin != ORIGIN_ESTIMATED)
		ADD(d, LOOK_NORMAL, -1, " roofline %s by the measured peaks, %.3g%% of the cost",
			str_duration(slack, c->roofline_ns), 100 * c->roofline_ns / c->ns);
	if (c->mistrusted)
		add_wrapped(d, LOOK_BAD, "          ", "it costs less than that although no cache can be the reason: the measurement is wrong, "
			"or a peak is. B measures the layer again, benanza bench --again all and the peaks");
	if (total > 0)
		ADD(d, LOOK_NORMAL, -1, " share    %.2f%% of the sum of layers",
			100 * app_cost_all(app, d->layer) / total);
	if (c->critical)
		add(d, LOOK_NORMAL, -1, " path     critical: the parallel bound waits for it");
	else if (!isnan(c->slack_ns))
		ADD(d, LOOK_NORMAL, -1, " path     %s of slack", str_duration(slack, c->slack_ns));
}

static void add_work(struct app *app, struct detail *d)
{
	const struct plan_layer *l = app_layer(app, d->layer);
	const struct layer_cost *c = app_cost(app, d->layer);
	char flops[STR_QUANTITY], bytes[STR_QUANTITY], rate[STR_QUANTITY], speed[STR_QUANTITY];
	const char *mark = (l->upto || l->at_least) && (l->flops > 0 || l->bytes > 0) ? "~" : "";
	ADD(d, LOOK_NORMAL, -1, " work     %s%s FLOPs, %s", mark, str_count(flops, l->flops),
		str_bytes(bytes, l->bytes));
	if (l->flops > 0 && l->bytes > 0)
		ADD(d, LOOK_NORMAL, -1, "          %.3g FLOPs a byte", l->flops / l->bytes);
	if (c && c->ns > 0 && c->result && !c->group)
		ADD(d, LOOK_NORMAL, -1, " speed    %s%sFLOP/s, %sB/s", mark, str_count(rate, l->flops / c->ns * 1e9),
			str_count(speed, l->bytes / c->ns * 1e9)); /* in the units of peaks */
}

/* ---- attributes and values ---- */

#define LIST_SHOWN 8

static const char *attribute_text(struct detail *d, const struct attribute *a)
{
	struct str s = { 0 };
	char number[STR_QUANTITY];
	size_t shown = a->count < LIST_SHOWN ? a->count : LIST_SHOWN;
	switch (a->kind) {
	case ATTRIBUTE_INT: str_addf(&s, "%lld", (long long)a->i); break;
	case ATTRIBUTE_FLOAT: str_addf(&s, "%s", str_float(number, a->f)); break;
	case ATTRIBUTE_STRING: str_addf(&s, "\"%s\"", clean(d, a->s)); break;
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
				str_addf(&s, "%s\"%s\"", blank, clean(d, a->strings[i]));
		}
		if (shown < a->count)
			str_addf(&s, " ... (%zu)", a->count);
		break;
	default: str_addf(&s, "of another kind");
	}
	const char *kept = arena_printf(&d->arena, "%s", s.p ? s.p : "");
	str_free(&s);
	return kept;
}

static void add_attributes(struct app *app, struct detail *d)
{
	const struct node *n = app_layer(app, d->layer)->node;
	if (n->attribute_count == 0)
		return;
	add_heading(d, "Attributes");
	for (int i = 0; i < n->attribute_count; i++)
		ADD(d, LOOK_NORMAL, -1, " %s = %s", clean(d, n->attributes[i].name),
			attribute_text(d, &n->attributes[i]));
}

static const char *value_text(struct app *app, struct detail *d, int index)
{
	const struct plan_value *v = &app->places[d->layer].plan->values[index];
	const char *whose = app_is_body(app, d->layer) ? "body" : "model";
	const char *shape = clean(d, text_of(plan_value_text(&d->arena, v)));
	bool is_tensor = v->kind == VALUE_TENSOR;
	const char *edge = v->is_input ? arena_printf(&d->arena, "  %s input", whose) : "";
	return arena_printf(&d->arena, "%s%s%s%s%s%s%s%s  %s", is_tensor ? dtype_name(v->dtype) : "",
		is_tensor ? " " : "", shape, v->constant ? "  constant" : "",
		edge, v->is_output ? "  " : "", v->is_output ? whose : "", v->is_output ? " output" : "", clean(d, v->name));
}

static void add_values(struct app *app, struct detail *d)
{
	const struct place *at = &app->places[d->layer];
	const struct plan *p = at->plan;
	const struct plan_layer *l = at->layer;
	add_heading(d, "Inputs (Enter goes to the layer that makes it)");
	for (int i = 0; i < l->input_count; i++) {
		int v = l->inputs[i], producer = v >= 0 ? app_producer(app, d->layer, v) : -1;
		/* what makes a constant is no layer to go to, unless such layers are listed too */
		int jump = producer >= 0 && (app->show_folded || !app_is_folded(app, producer)) ? producer : -1;
		if (v < 0)
			add(d, LOOK_DIM, -1, " (left out)");
		else
			ADD(d, p->values[v].constant ? LOOK_DIM : LOOK_NORMAL, jump, " %s%s",
				jump >= 0 ? "\u2190 " : "  ", value_text(app, d, v));
	}
	add_heading(d, "Outputs");
	for (int i = 0; i < l->output_count; i++)
		if (l->outputs[i] >= 0)
			ADD(d, LOOK_NORMAL, -1, "   %s", value_text(app, d, l->outputs[i]));
	if (l->succ_count)
		add_heading(d, "Read by");
	for (int i = 0; i < l->succ_count; i++)
		ADD(d, LOOK_NORMAL, at->base + l->succs[i], " \u2192 %s  %s", clean(d, p->layers[l->succs[i]].name),
			clean(d, p->layers[l->succs[i]].node->op));
}

/* ---- the problem and its measurements ---- */

#define OCCURRENCES_SHOWN 12

static void add_problem(struct app *app, struct detail *d)
{
	const struct plan_layer *l = app_layer(app, d->layer);
	int index = app_own_problem(app, d->layer), others = 0;
	if (index < 0)
		return;
	for (int i = 0; i < app->place_count; i++)
		others += i != d->layer && app_own_problem(app, i) == index;
	add_heading(d, others ? arena_printf(&d->arena, "Problem, %d layers have it", others + 1) : "Problem");
	add_wrapped(d, LOOK_NORMAL, " ", app_plan(app)->problems[index].text);
	if (l->proxy)
		add(d, LOOK_WARN, -1, " ~ it stands in for this layer: a plain copy of as many bytes");
	int shown = 0;
	for (int i = 0; i < app->place_count && others; i++) {
		if (app_own_problem(app, i) != index || i == d->layer)
			continue;
		if (shown++ == OCCURRENCES_SHOWN) {
			ADD(d, LOOK_DIM, -1, "   and %d more", others - OCCURRENCES_SHOWN);
			break;
		}
		ADD(d, LOOK_NORMAL, i, " = %s", clean(d, app_layer(app, i)->name));
	}
}

/* From this width on a measurement's main figures stand in one line. */
#define WIDE 66

static int name_columns(const struct detail *d)
{
	int rest = d->width - (d->width >= WIDE ? 48 : 21);
	return rest < 12 ? 12 : rest > 40 ? 40 : rest;
}

static const char *matrix_word(enum matrix m)
{
	return m == MATRIX_YES ? "yes" : m == MATRIX_NO ? "no" : "?";
}

static void add_result(struct detail *d, const struct result *r, const struct result *used)
{
	char median[STR_QUANTITY], workspace[STR_QUANTITY];
	int columns = name_columns(d);
	const char *name = r->algorithm.name && r->algorithm.name[0] ? clean(d, text_of(r->algorithm.name))
								     : "(the problem)";
	if (r->status != STATUS_OK) {
		ADD(d, LOOK_WARN, -1, "   %-*.*s %s: %s", columns, columns, name, status_name(r->status),
			clean(d, text_of(r->why)));
		return;
	}
	const struct sample_stats *s = &r->stats;
	const char *why = r->why ? clean(d, text_of(r->why)) : ""; /* what disturbed it */
	double side = s->median > 0 ? 100 * fmax(s->hi - s->median, s->median - s->lo) / s->median : NAN;
	const char *spread = isnan(side) ? "     -" : side >= 1000 ? " >999%" : arena_printf(&d->arena, "%5.1f%%", side);
	const char *left_out = s->discarded > 0 ? arena_printf(&d->arena, ", %lld left out", (long long)s->discarded) : "";
	enum look look = r == used ? LOOK_GOOD : LOOK_NORMAL;
	const char *mark = r == used ? ">" : " ", *layouts = r->algorithm.layouts ? r->algorithm.layouts : "";
	str_duration(median, s->median);
	str_bytes(workspace, r->algorithm.workspace_bytes);
	if (d->width >= WIDE) {
		ADD(d, look, -1, " %s %-*.*s %9s %s %5lld %-3s %4s, %s", mark, columns, columns, name, median,
			spread, (long long)s->n, matrix_word(r->algorithm.matrix), cache_name(r->cache),
			launch_name(r->launch));
		ADD(d, LOOK_DIM, -1, "     library's choice %d, workspace %s, stopped: %s%s%s%s",
			r->algorithm.rank + 1, workspace, stop_name(s->stop), left_out, *why ? ": " : "", why);
	} else {
		ADD(d, look, -1, " %s %-*.*s %9s %s", mark, columns, columns, name, median, spread);
		ADD(d, LOOK_DIM, -1, "     n %lld, %s, %s, matrix units %s", (long long)s->n,
			cache_name(r->cache), launch_name(r->launch), matrix_word(r->algorithm.matrix));
		ADD(d, LOOK_DIM, -1, "     choice %d, space %s, %s%s", r->algorithm.rank + 1, workspace,
			stop_name(s->stop), left_out);
	}
	if (layouts[0])
		add_wrapped(d, LOOK_DIM, "     ", clean(d, text_of(layouts)));
}

/* How it stands with a problem that has no results, as a sentence's end. */
static const char *state_text(struct app *app, struct detail *d, const char *problem, enum look *look)
{
	const char *word = app_problem_state(app, problem, look);
	enum job_state state = app->session->queue ? queue_state(app->session->queue, problem) : JOB_NONE;
	if (state == JOB_RUNNING)
		return "is being measured";
	if (state == JOB_PENDING)
		return arena_printf(&d->arena, "%s", word);
	return word[0] == '\0' || strcmp(word, "ok") == 0 ? "not measured" : word;
}

/* What the libraries of a described device could run: nothing of it is measured. */
static void add_planned(struct app *app, struct detail *d, const char *title, const struct planned *p)
{
	int columns = d->width - 24 < 12 ? 12 : d->width - 24;
	add_heading(d, arena_printf(&d->arena, "%s, planned and not measured", title));
	if (p->state == PLANNED_NO)
		add_wrapped(d, LOOK_WARN, " ", arena_printf(&d->arena, "none: %s", clean(d, text_of(p->why))));
	else if (p->state != PLANNED_YES)
		add(d, LOOK_DIM, -1, " planning...");
	if (p->state != PLANNED_YES)
		return;
	if (*app->session->described->caveat)
		add_wrapped(d, LOOK_WARN, " ", app->session->described->caveat);
	ADD(d, LOOK_DIM, -1, "   %-*s matrix  workspace", columns, "algorithm");
	for (int i = 0; i < p->count; i++) {
		const struct algorithm *a = &p->algorithms[i];
		char workspace[STR_QUANTITY];
		ADD(d, LOOK_NORMAL, -1, "   %-*.*s %-6s %10s", columns, columns, clean(d, text_of(a->name)),
			matrix_word(a->matrix), str_bytes(workspace, a->workspace_bytes));
		add_wrapped(d, LOOK_DIM, "     ", clean(d, text_of(arena_printf(&d->arena, "%s, %s%s%s%s%s", a->api, a->math,
			*a->notes ? ", " : "", a->notes, *a->layouts ? ", " : "", a->layouts))));
	}
}

/* The table of everything measured for one problem. */
static void add_results(struct app *app, struct detail *d, const char *title, const char *problem)
{
	int count;
	const struct planned *planned = session_planned(app->session, problem);
	if (planned) {
		add_planned(app, d, title, planned);
		return;
	}
	const struct result *const *r = results_of(app->session->results, problem, &count);
	const struct result *used = app_pick(app, problem);
	enum look look;
	const char *word = state_text(app, d, problem, &look);
	const char *why = app->session->queue ? queue_why(app->session->queue, problem) : "";
	add_heading(d, title);
	if (count == 0) {
		ADD(d, look, -1, " %s", word);
		if (why && why[0])
			add_wrapped(d, LOOK_BAD, " ", clean(d, text_of(why)));
		return;
	}
	ADD(d, LOOK_DIM, -1, "   %-*s %9s      \u00b1%s", name_columns(d), "algorithm", "median",
		d->width >= WIDE ? "     n mtx cache, launch" : "");
	for (int i = 0; i < count; i++)
		add_result(d, r[i], used);
}

/* ---- what runs inside */

#define INSIDE_SHOWN 200 /* most lines of it */

/* One layer of a body, with what it costs once. */
static void add_inner(struct app *app, struct detail *d, int layer)
{
	const struct plan_layer *l = app_layer(app, layer);
	const struct layer_cost *c = app_cost(app, layer);
	char cost[STR_QUANTITY];
	bool is_free = l->class == CLASS_FREE || (c && c->origin == ORIGIN_FREE);
	const char *text = is_free ? "free" : !c || isnan(c->ns) ? "-" : str_duration(cost, c->ns);
	ADD(d, is_free ? LOOK_DIM : LOOK_NORMAL, layer, " %s%9s  %s  %s", c && app_is_guess(c) ? "~" : " ", text,
		clean(d, l->node->op), clean(d, l->name));
}

/* What is free is left out, unless the user lists constants too. */
static void add_body(struct app *app, struct detail *d, const struct plan *body, int first)
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
		ADD(d, LOOK_DIM, -1, "             and %d more", -room);
	if (left)
		ADD(d, LOOK_DIM, -1, "       free  %d more (c lists them)", left);
}

/* The layers of its subgraphs: first what runs. */
static void add_bodies(struct app *app, struct detail *d)
{
	const struct plan_layer *l = app_layer(app, d->layer);
	bool inside = plan_layer_is_control(l);
	for (int i = 0; i < l->body_count; i++) {
		const struct plan *body = &l->bodies[i];
		char times[STR_QUANTITY];
		if (body->times == 0 || !inside)
			continue;
		const char *often = isnan(body->times) && l->body_count == 2 ? "taken or not" :
				    isnan(body->times) ? "not known how often, each time" :
				    body->times == 1   ? "runs once" :
							 arena_printf(&d->arena, "runs %s times, each",
								 str_count(times, body->times));
		add_heading(d, arena_printf(&d->arena, "%s: %s", clean(d, body->role), often));
		add_body(app, d, body, app_body_first(app, d->layer, i));
	}
	for (int i = 0; i < l->body_count; i++)
		if (l->bodies[i].times == 0 || !inside)
			add_heading(d, arena_printf(&d->arena, "%s: %s, %d layer%s", clean(d, l->bodies[i].role),
				inside ? "does not run" : "the result is known beforehand",
				l->bodies[i].layer_count, l->bodies[i].layer_count == 1 ? "" : "s"));
}

/* Where a body's layer is; Enter leads there. */
static void add_owner(struct app *app, struct detail *d)
{
	const struct place *at = &app->places[d->layer];
	char times[STR_QUANTITY];
	if (at->owner < 0)
		return;
	ADD(d, LOOK_NORMAL, at->owner, " in       %s of %s", clean(d, at->plan->role),
		clean(d, app_layer(app, at->owner)->name));
	if (isnan(at->times))
		add(d, LOOK_WARN, -1, " runs     not known how often; what follows is of once");
	else if (at->times != 1)
		ADD(d, LOOK_NORMAL, -1, " runs     %s times; what follows is of once", str_count(times, at->times));
}

static bool group_has(const struct fusion_group *g, int layer)
{
	for (int i = 0; i < g->layer_count; i++)
		if (g->layers[i] == layer)
			return true;
	return false;
}

/* What fusing would do: each possible group with this layer, its measured cost beside the sum of its parts.
 */
static void add_groups(struct app *app, struct detail *d)
{
	const struct fusion *f = session_fusion(app->session->current);
	const struct layer_cost *cost = app_cost(app, d->layer);
	bool headed = false;
	for (int i = 0; f && i < f->group_count; i++) {
		const struct fusion_group *g = &f->groups[i];
		if (!group_has(g, d->layer))
			continue;
		if (!headed)
			add_heading(d, "Fusions with this layer");
		headed = true;
		const char *text = app->session->scenario.nxc && g->text_nxc ? g->text_nxc : g->text;
		const struct result *r = app_pick(app, text);
		double parts = 0;
		for (int k = 0; k < g->layer_count; k++) {
			const struct plan_layer *l = &app_plan(app)->layers[g->layers[k]];
			int own = app_own_problem(app, g->layers[k]);
			const struct result *part = own >= 0 ? app_pick(app, app_plan(app)->problems[own].text) : NULL;
			parts += l->class == CLASS_FREE ? 0 : part ? part->stats.median : NAN;
		}
		char fused[STR_QUANTITY], apart[STR_QUANTITY];
		enum look look;
		const char *word = state_text(app, d, text, &look);
		ADD(d, LOOK_NORMAL, -1, " %s %s", cost && cost->group == g ? ">" : " ",
			clean(d, text_of(g->pattern)));
		ADD(d, r ? LOOK_NORMAL : LOOK_DIM, -1, "     fused %s, apart %s",
			r ? str_duration(fused, r->stats.median) : word,
			isnan(parts) ? "not known" : str_duration(apart, parts));
	}
}

static void detail_make(struct app *app, struct detail *d)
{
	arena_free(&d->arena);
	d->count = 0;
	const struct plan *p = app_plan(app);
	if (!p || d->layer < 0 || d->layer >= app->place_count) {
		add(d, LOOK_DIM, -1, " no layer is selected");
		return;
	}
	const struct plan_layer *l = app_layer(app, d->layer);
	const struct layer_cost *cost = app_cost(app, d->layer);
	add_wrapped(d, LOOK_BOLD, " ", clean(d, l->name));
	int number = app->number_of[d->layer];
	ADD(d, LOOK_NORMAL, -1, " %s%s%s  class %s  %s", clean(d, l->node->domain), l->node->domain.n ? "." : "",
		clean(d, l->node->op), op_class_name(l->class),
		app_is_body(app, d->layer) ? "" : number ? arena_printf(&d->arena, "layer %d of %d", number, p->layer_count - app->folded_count)
		       : "only makes a constant");
	add_owner(app, d);
	add_cost(app, d);
	add_work(app, d);
	int index = app_own_problem(app, d->layer);
	const char *own = index >= 0 ? p->problems[index].text : NULL;
	const char *fused =
		cost && cost->group && cost->group->layers[0] == d->layer ? app_problem(app, d->layer) : NULL;
	add_problem(app, d);
	if (fused) {
		add_heading(d, "Fused problem in force");
		add_wrapped(d, LOOK_NORMAL, " ", fused);
		add_results(app, d, "Algorithms, fused", fused);
	}
	if (own)
		add_results(app, d, "Algorithms", own);
	add_bodies(app, d);
	add_groups(app, d);
	add_values(app, d);
	add_attributes(app, d);
}

static void detail_open(struct app *app, void *state)
{
	(void)app;
	((struct detail *)state)->layer = -2;
}

static void detail_close(struct app *app, void *state)
{
	(void)app;
	struct detail *d = state;
	arena_free(&d->arena);
	free(d->lines);
}

static int detail_rows(struct app *app, void *state, int width)
{
	struct detail *d = state;
	if (d->layer == app->layer && d->generation == app->generation && d->width == width)
		return d->count;
	d->layer = app->layer;
	d->generation = app->generation;
	d->width = width;
	detail_make(app, d);
	return d->count;
}

static void detail_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	(void)app;
	(void)above;
	const struct detail_line *l = &((struct detail *)state)->lines[row];
	canvas_fit(line, 0, 0, line.width, l->look, l->text);
}

static const char *detail_row_text(struct app *app, void *state, int row)
{
	(void)app;
	return ((struct detail *)state)->lines[row].text;
}

static bool detail_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct detail *d = state;
	if (key->request != REQUEST_OPEN || row < 0 || d->lines[row].jump < 0)
		return false;
	app_follow(app, d->lines[row].jump);
	return true;
}

static bool detail_passes(struct app *app, void *state, int row)
{
	(void)app;
	return !((struct detail *)state)->lines[row].text[0];
}

/* The page begins at its top whenever another layer is shown. */
static int detail_row_of_layer(struct app *app, void *state, int layer)
{
	(void)app;
	(void)state;
	(void)layer;
	return 0;
}

const struct view view_detail = {
	.name = "detail",
	.help = "everything known about one layer; Enter follows the lines that name another layer",
	.state_size = sizeof(struct detail),
	.open = detail_open,
	.close = detail_close,
	.rows = detail_rows,
	.draw_row = detail_draw_row,
	.row_text = detail_row_text,
	.request = detail_request,
	.passes = detail_passes,
	.opens = "follow",
	.row_of_layer = detail_row_of_layer,
	.own_footer = true,
};
