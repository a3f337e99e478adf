/* Two bounds, layer by layer: which layers belong together, and their table. */
#include "config.h"

#include "base/hash.h"
#include "table/print.h"
#include "table/tables/diff.h"
#include "table/tables/total.h"

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

/* ---- the table */

static const struct table_column columns[] = {
	{ "part", "", TABLE_TEXT, IN_CSV },
	{ "b_model", "", TABLE_NAME, IN_CSV },
	{ "b_device", "", TABLE_TEXT, IN_CSV },
	{ "b_batch", "", TABLE_INDEX, IN_CSV },
	{ "b_dtype", "", TABLE_TEXT, IN_CSV },
	{ "b_what_if", "", TABLE_TEXT, IN_CSV },
	{ "name", "", TABLE_NAME, IN_DATA },
	{ "op", "", TABLE_TEXT, IN_DATA },
	{ "a_index", "", TABLE_INDEX, IN_DATA },
	{ "b_index", "", TABLE_INDEX, IN_DATA },
	{ "a_ns", "A", TABLE_NS, IN_ALL },
	{ "b_ns", "B", TABLE_NS, IN_ALL },
	{ "diff_ns", "diff", TABLE_NS, IN_ALL },
	{ "share", "share", TABLE_SHARE, IN_SHOWN },
	{ "estimated", "", TABLE_BOOL, IN_DATA },
	{ "verdict", "verdict", TABLE_TEXT, IN_ALL },
	{ "layer", "layer", TABLE_NAME, IN_SHOWN },
};

static const struct plan_layer *layer_of(const struct diff *d, const struct diff_layer *l)
{
	return l->a >= 0 ? &session_plan(d->a)->layers[l->a] : &session_plan(d->b)->layers[l->b];
}

const char *diff_signed(struct arena *a, double ns)
{
	char text[STR_QUANTITY];
	str_duration(text, fabs(ns));
	return isnan(ns) ? "-" : arena_printf(a, "%s%s", ns > 0 ? "+" : ns < 0 ? "-" : "", text);
}

/* B, which CSV has in every row: one output may compare several with A. */
static void side_fill(struct table *t, const char *part, const struct session *s)
{
	char words[SCENARIO_TEXT_SIZE];
	const struct plan *p = session_plan(s);
	scenario_text(session_scenario(s), words, sizeof(words));
	table_text(t, part);
	table_text(t, text_clean(&t->arena, text_of(session_model(s)->path)));
	table_text(t, text_clean(&t->arena, text_of(session_device(s)->model)));
	table_number(t, p->batch ? (double)p->batch : NAN, "");
	table_text(t, plan_type_name(p));
	table_text(t, arena_strndup(&t->arena, words, strlen(words)));
}

/* The cost of a layer on one side. */
static void cost_fill(struct table *t, const struct session *s, int layer, double ns)
{
	if (layer < 0)
		table_shown(t, NAN, "none");
	else
		table_number(t, ns, is_estimated(s, layer) ? "~" : "");
}

static const char *share_text(struct arena *a, const struct diff *d, const struct diff_layer *l)
{
	const char *mark = l->estimated ? "~" : analysis_share_mark(session_analysis(d->a));
	return isnan(l->diff_ns) || !(d->a_ns > 0) ? "-" :
		arena_printf(a, "%s%+.1f%%", mark, 100 * l->diff_ns / d->a_ns);
}

static void layer_fill(struct table *t, const struct diff *d, const struct diff_layer *l, bool hidden)
{
	const char *guess = l->estimated && !isnan(l->diff_ns) ? "~" : "";
	const char *name = text_clean(&t->arena, layer_of(d, l)->name);
	table_row(t, hidden ? ROW_HIDDEN : 0, 0);
	side_fill(t, "layer", d->b);
	table_text(t, name);
	table_text(t, text_clean(&t->arena, layer_of(d, l)->node->op));
	table_number(t, l->a < 0 ? NAN : l->a, "");
	table_number(t, l->b < 0 ? NAN : l->b, "");
	cost_fill(t, d->a, l->a, l->a_ns);
	cost_fill(t, d->b, l->b, l->b_ns);
	table_shown(t, l->diff_ns,
		arena_printf(&t->arena, "%s%s", guess, diff_signed(&t->arena, l->diff_ns)));
	table_shown(t, d->a_ns > 0 ? l->diff_ns / d->a_ns : NAN, share_text(&t->arena, d, l));
	table_number(t, l->estimated, "");
	table_text(t, diff_verdict_name(l->verdict));
	table_text(t, name);
}

static void total_fill(struct table *t, const struct diff *d)
{
	table_row(t, ROW_CSV, 0);
	side_fill(t, "total", d->b);
	table_skip(t, 4);
	table_number(t, d->a_ns, "");
	table_number(t, d->b_ns, "");
	table_number(t, d->b_ns - d->a_ns, "");
	table_skip(t, 1);
	table_number(t, d->estimated, "");
	table_text(t, diff_verdict_name(d->verdict));
}

void diff_table(struct table *t, const struct diff *d)
{
	int more = 0, same = 0;
	TABLE_COLUMNS(t, columns);
	total_fill(t, d);
	for (int i = 0; i < d->count; i++) {
		bool equal = d->layers[i].verdict == DIFF_SAME, hidden = equal || same || i >= LAYERS_SHOWN;
		layer_fill(t, d, &d->layers[i], hidden);
		same += equal;
		more += hidden && !equal;
	}
	if (more)
		table_note(t, "  ... %d more; --json lists all", more);
	if (same)
		table_note(t, "  %d layer%s not differ", same, same == 1 ? " does" : "s do");
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
	struct table t = { 0 };
	diff_table(&t, d);
	json_t *layers = table_rows_json(&t);
	table_free(&t);
	return json_pack("{s:o, s:o, s:b, s:f, s:o, s:o, s:b, s:b, s:s, s:b, s:o}", "a",
		side_json(d->a, d->a_ns, d->a_lo, d->a_hi), "b",
		side_json(d->b, d->b_ns, d->b_lo, d->b_hi), "per_item", d->per_item, "threshold",
		d->threshold, "diff_ns", json_number_or_null(d->b_ns - d->a_ns), "ratio",
		json_number_or_null(d->b_ns / d->a_ns), "complete", d->complete, "estimated", d->estimated,
		"verdict", diff_verdict_name(d->verdict), "slower", d->slower, "layers", layers);
}
