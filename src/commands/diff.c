#include "config.h"

#include "commands/diff.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS_SHOWN 20

/* A layer's cost per item; what the plan lacks costs nothing. */
static struct span span_of(const struct session *s, int layer, double items)
{
	if (layer < 0)
		return (struct span){ 0, 0, 0 };
	const struct layer_cost *c = &session_analysis(s)->layers[layer];
	return (struct span){ c->ns / items, c->lo / items, c->hi / items };
}

static bool is_estimated(const struct session *s, int layer)
{
	const struct layer_cost *c = layer >= 0 ? &session_analysis(s)->layers[layer] : NULL;
	return c && (c->origin == ORIGIN_ESTIMATED || c->origin == ORIGIN_ROUGH);
}

static void layer_add(struct diff *d, int a, int b, double a_items, double b_items)
{
	struct span one = span_of(d->a, a, a_items), two = span_of(d->b, b, b_items);
	d->layers[d->count++] = (struct diff_layer){ .a = a, .b = b, .a_ns = a < 0 ? NAN : one.ns,
		.b_ns = b < 0 ? NAN : two.ns, .diff_ns = two.ns - one.ns,
		.estimated = is_estimated(d->a, a) || is_estimated(d->b, b),
		.verdict = diff_verdict_of(one, two) };
}

static int layer_compare(const void *p, const void *q)
{
	const struct diff_layer *x = p, *y = q;
	double a = fabs(x->diff_ns), b = fabs(y->diff_ns);
	if (isnan(a) != isnan(b))
		return isnan(a) ? 1 : -1;
	if (a != b && !isnan(a))
		return a < b ? 1 : -1;
	int i = x->a < 0 ? x->b : x->a, k = y->a < 0 ? y->b : y->a;
	return i != k ? (i > k) - (i < k) : x->a - y->a;
}

/* "name\nop" */
static struct text layer_key(struct arena *a, const struct plan_layer *l)
{
	struct str key = { 0 };
	str_add(&key, l->name.p, l->name.n);
	str_add(&key, "\n", 1);
	str_add(&key, l->node->op.p, l->node->op.n);
	struct text t = { arena_strndup(a, key.p, key.n), key.n };
	str_free(&key);
	return t;
}

/* next[i]: the next layer of B with the name and operator of i, or -1. */
static void layers_match(struct arena *arena, struct diff *d, double a_items, double b_items)
{
	const struct plan *a = session_plan(d->a), *b = session_plan(d->b);
	struct hash first = { 0 };
	int *next = ARENA_ARRAY(arena, int, b->layer_count + 1);
	bool *taken = ARENA_ARRAY(arena, bool, b->layer_count + 1);
	for (int i = b->layer_count - 1; i >= 0; i--) {
		int64_t *at = hash_at(&first, layer_key(arena, &b->layers[i]));
		next[i] = (int)*at;
		*at = i;
	}
	d->layers = ARENA_ARRAY(arena, struct diff_layer, a->layer_count + b->layer_count);
	for (int i = 0; i < a->layer_count; i++) {
		struct text key = layer_key(arena, &a->layers[i]);
		int found = (int)hash_find(&first, key);
		if (found >= 0) {
			*hash_at(&first, key) = next[found];
			taken[found] = true;
		}
		layer_add(d, i, found, a_items, b_items);
	}
	for (int i = 0; i < b->layer_count; i++)
		if (!taken[i])
			layer_add(d, -1, i, a_items, b_items);
	if (d->count)
		qsort(d->layers, (size_t)d->count, sizeof(*d->layers), layer_compare);
	hash_free(&first);
}

void diff_make(struct arena *arena, const struct session *one, const struct session *two, double threshold,
	struct diff *d)
{
	const struct analysis *x = session_analysis(one), *y = session_analysis(two);
	int64_t a_batch = session_plan(one)->batch, b_batch = session_plan(two)->batch;
	*d = (struct diff){ .a = one, .b = two, .threshold = threshold,
		.per_item = a_batch > 0 && b_batch > 0 && a_batch != b_batch };
	double a_items = d->per_item ? (double)a_batch : 1, b_items = d->per_item ? (double)b_batch : 1;
	layers_match(arena, d, a_items, b_items);
	d->a_ns = x->total_ns / a_items;
	d->a_lo = x->lo_ns / a_items;
	d->a_hi = x->hi_ns / a_items;
	d->b_ns = y->total_ns / b_items;
	d->b_lo = y->lo_ns / b_items;
	d->b_hi = y->hi_ns / b_items;
	d->complete = x->complete && y->complete;
	d->estimated = x->estimated || y->estimated;
	d->verdict = !d->complete ? DIFF_UNKNOWN :
		diff_verdict_of((struct span){ d->a_ns, d->a_lo, d->a_hi },
			(struct span){ d->b_ns, d->b_lo, d->b_hi });
	d->slower = d->verdict == DIFF_SLOWER && d->b_ns - d->a_ns > threshold * d->a_ns;
}

/* ---- reports */

static const struct plan_layer *layer_of(const struct diff *d, const struct diff_layer *l)
{
	return l->a >= 0 ? &session_plan(d->a)->layers[l->a] : &session_plan(d->b)->layers[l->b];
}

static const char *signed_text(struct arena *a, double ns)
{
	char text[STR_QUANTITY];
	str_duration(text, fabs(ns));
	return isnan(ns) ? "-" : arena_printf(a, "%s%s", ns > 0 ? "+" : ns < 0 ? "-" : "", text);
}

static void side_text(const char *which, const struct session *s, struct arena *a, FILE *out)
{
	const struct device *d = session_device(s);
	char words[SCENARIO_TEXT_SIZE], plan[64];
	scenario_text(session_scenario(s), words, sizeof(words));
	session_sweep_text(s, plan, sizeof(plan), session_plan(s)->batch, session_dtype(s));
	report_path_line(out, report_most(out), arena_printf(a, "%s  ", which), session_model(s)->path,
		arena_printf(a, "  %s%s%s", plan, *words ? "  what-ifs: " : "", words));
	report_dims_text(s, "   dimensions: ", NULL, 0, out);
	fprintf(out, "   %s\n", report_device(a, d->model, d->stack));
}

/* The cost of a layer on one side. */
static const char *cost_text(const struct session *s, int layer, double ns, struct arena *a)
{
	char text[STR_QUANTITY];
	if (layer < 0)
		return "none";
	return arena_printf(a, "%s%s", is_estimated(s, layer) ? "~" : "", str_duration(text, ns));
}

static void layers_text(const struct diff *d, struct arena *a, FILE *out)
{
	int shown = 0, width = report_width(out) - 50;
	fprintf(out, "        A         B       diff   share  verdict  layer\n");
	for (; shown < d->count && shown < LAYERS_SHOWN; shown++) {
		const struct diff_layer *l = &d->layers[shown];
		const char *guess = l->estimated && !isnan(l->diff_ns) ? "~" : "";
		char share[32] = "-";
		if (l->verdict == DIFF_SAME)
			break;
		if (!isnan(l->diff_ns) && d->a_ns > 0)
			snprintf(share, sizeof(share), "%s%+.1f%%", l->estimated ? "~" :
				analysis_share_mark(session_analysis(d->a)), 100 * l->diff_ns / d->a_ns);
		fprintf(out, "%9s %9s %10s %7s  %-7s  %s\n", cost_text(d->a, l->a, l->a_ns, a),
			cost_text(d->b, l->b, l->b_ns, a),
			arena_printf(a, "%s%s", guess, signed_text(a, l->diff_ns)), share,
			diff_verdict_name(l->verdict),
			text_cut(a, text_clean(a, layer_of(d, l)->name), width, true));
	}
	int more = 0, same = 0;
	for (int i = shown; i < d->count; i++) {
		same += d->layers[i].verdict == DIFF_SAME;
		more += d->layers[i].verdict != DIFF_SAME;
	}
	if (more)
		fprintf(out, "  ... %d more; --json lists all\n", more);
	if (same)
		fprintf(out, "  %d layer%s not differ\n", same, same == 1 ? " does" : "s do");
}

void diff_text(const struct diff *d, FILE *out)
{
	struct arena a = { 0 };
	char one[STR_QUANTITY], two[STR_QUANTITY];
	const char *guess = session_analysis(d->a)->estimated || session_analysis(d->b)->estimated ? "~" : "";
	side_text("A", d->a, &a, out);
	side_text("B", d->b, &a, out);
	fprintf(out, "\n%stotal%s  %s%s -> %s%s  %s", d->complete ? "" : "partial ",
		d->per_item ? " per item" : "", session_analysis(d->a)->estimated ? "~" : "",
		str_duration(one, d->a_ns), session_analysis(d->b)->estimated ? "~" : "",
		str_duration(two, d->b_ns),
		arena_printf(&a, "%s%s", guess, signed_text(&a, d->b_ns - d->a_ns)));
	if (d->a_ns > 0)
		fprintf(out, " (%s%+.1f%%)", *guess || !d->complete ? "~" : "",
			100 * (d->b_ns / d->a_ns - 1));
	fprintf(out, "  %s%s\n\n", diff_verdict_name(d->verdict), d->verdict == DIFF_UNCLEAR ?
		": within the intervals" : d->verdict == DIFF_SLOWER && !d->slower ?
		", not beyond the threshold" : "");
	layers_text(d, &a, out);
	arena_free(&a);
}

static json_t *side_json(const struct session *s, double ns, double lo, double hi)
{
	char words[SCENARIO_TEXT_SIZE];
	const struct plan *p = session_plan(s);
	json_t *o = json_pack("{s:o, s:o, s:o, s:{s:o, s:s, s:o}, s:o, s:o, s:b, s:b}", "model",
		json_text(text_of(session_model(s)->path)), "device",
		report_json_text(session_device(s)->model), "stack",
		report_json_text(session_device(s)->stack), "scenario", "batch",
		p->batch ? json_integer(p->batch) : json_null(), "dtype", plan_type_name(p), "what_if",
		report_json_names(scenario_text(session_scenario(s), words, sizeof(words))), "ns",
		json_number_or_null(ns), "interval_ns", report_json_interval(lo, hi), "complete",
		session_analysis(s)->complete, "estimated", session_analysis(s)->estimated);
	json_object_set_new(json_object_get(o, "scenario"), "dims", report_dims_json(p));
	report_json_assumed(json_object_get(o, "scenario"), s);
	return o;
}

json_t *diff_json(const struct diff *d)
{
	json_t *layers = json_array();
	for (int i = 0; i < d->count; i++) {
		const struct diff_layer *l = &d->layers[i];
		json_array_append_new(layers, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s}",
			"name", json_text(layer_of(d, l)->name), "op",
			 json_text(layer_of(d, l)->node->op),
			"a_index",
			l->a < 0 ? json_null() : json_integer(l->a), "b_index",
			l->b < 0 ? json_null() : json_integer(l->b), "a_ns", json_number_or_null(l->a_ns),
			"b_ns", json_number_or_null(l->b_ns), "diff_ns", json_number_or_null(l->diff_ns),
			"estimated", l->estimated, "verdict", diff_verdict_name(l->verdict)));
	}
	return json_pack("{s:o, s:o, s:b, s:f, s:o, s:o, s:b, s:b, s:s, s:b, s:o}", "a",
		side_json(d->a, d->a_ns, d->a_lo, d->a_hi), "b",
		side_json(d->b, d->b_ns, d->b_lo, d->b_hi), "per_item", d->per_item, "threshold",
		d->threshold, "diff_ns", json_number_or_null(d->b_ns - d->a_ns), "ratio",
		json_number_or_null(d->b_ns / d->a_ns), "complete", d->complete, "estimated", d->estimated,
		"verdict", diff_verdict_name(d->verdict), "slower", d->slower, "layers", layers);
}
