/* Executions beside the bound as JSON and CSV. */
#include "config.h"

#include "commands/compare.h"
#include "commands/report.h"
#include "problem/execution_figure.h"

#include <math.h>
#include <string.h>

static json_t *ints_json(const int *list, int count)
{
	json_t *array = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(array, json_integer(list[i]));
	return array;
}

/* Adds what an execution has besides its latency, and its settings. */
static void figures_json(json_t *o, const struct execution *e)
{
	int count;
	const struct execution_figure *list = execution_figures(&count);
	for (int i = 0; i < count; i++)
		json_object_set_new(o, list[i].key,
			json_number_or_null(execution_figure_value(e, &list[i])));
	json_t *settings = *e->settings ? json_loads(e->settings, 0, NULL) : NULL;
	json_object_set_new(o, "settings", settings ? settings : json_null());
}

static json_t *agent_json(const struct execution *e)
{
	bool noisy = e->stats.stop == STOP_DISTURBED;
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "name",
		report_json_text(e->framework), "version", report_json_text(e->version), "provider",
		report_json_text(e->provider), "device", report_json_text(e->device), "threads",
		e->threads ? json_integer(e->threads) : json_null(), "dtype", report_json_text(e->dtype),
		"math", report_json_text(e->math), "source", report_json_text(e->source), "noisy", noisy,
		"noisy_reason", report_json_text(noisy ? e->why : NULL));
}

static json_t *gaps_json(const struct reality *y)
{
	json_t *list = json_array();
	for (int k = 0; k < GAP_COUNT; k++) {
		const struct gap *g = &y->gaps[k];
		if (isnan(g->ns))
			continue;
		const char *doubt = k == GAP_ALGORITHM ? y->slower_doubt : NULL;
		json_array_append_new(list,
			json_pack("{s:s, s:o, s:o, s:o, s:i, s:b, s:o}", "kind",
				gap_name((enum gap_kind)k), "ns", json_number_or_null(g->ns),
				"interval_ns", report_json_interval(g->lo, g->hi), "layers",
				ints_json(g->layers, g->layer_count), "rows", g->rows,
				"estimated", reality_gap_estimated(y, (enum gap_kind)k), "doubt",
				report_json_text(doubt)));
	}
	return list;
}

static json_t *group_json(const struct reality *y, const struct reality_group *g)
{
	const struct match_row *m = &y->match->rows[g->rows[0]];
	json_t *o = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:f, s:b}",
		"index", g->layers[0], "layers", ints_json(g->layers, g->layer_count), "cost_ns",
		json_number_or_null(g->cost_ns), "cost_interval_ns",
		report_json_interval(g->cost_lo, g->cost_hi), "real_ns", json_number_or_null(g->real_ns),
		"real_interval_ns", report_json_interval(g->real_lo, g->real_hi), "kernel",
		report_json_text(g->kernel), "provider", report_json_text(g->provider), "algorithm",
		g->better ? json_text(text_of(g->better->algorithm.name)) : json_null(), "row",
		json_text(text_of(y->execution->rows[g->rows[0]].name)), "gap", gap_name(g->kind), "match",
		match_how_name(m->how), "confidence", m->confidence, "estimated", g->estimated);
	json_object_set_new(o, "rows", json_integer(g->row_count));
	json_object_set_new(o, "doubt", report_json_text(faster_doubt_text(g->doubt)));
	json_object_set_new(o, "measured_again", json_boolean(g->in_turn));
	return o;
}

static json_t *groups_json(const struct reality *y, bool contradicted)
{
	json_t *list = json_array();
	for (int i = 0; i < y->group_count; i++) {
		const struct reality_group *g = &y->groups[i];
		if (!contradicted || reality_contradicts(y, g))
			json_array_append_new(list, group_json(y, g));
	}
	return list;
}

static json_t *rows_json(const struct reality *y, enum match_how how)
{
	json_t *list = json_array();
	const struct execution *e = y->execution;
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		if (r->parent >= 0 || y->match->rows[i].how != how || y->group_of_row[i] >= 0 ||
			(r->level != LEVEL_LAYER && r->level != LEVEL_KERNEL))
			continue;
		json_t *o = json_pack("{s:o, s:o, s:o, s:o}", "name", json_text(text_of(r->name)), "op",
			report_json_text(r->op), "ns", json_number_or_null(r->ns / y->match->runs),
			"provider", report_json_text(r->provider));
		if (how == MATCH_ADDED)
			json_object_set_new(o, "kind", json_string(added_name(y->match->rows[i].added)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *matched_json(const struct match *m)
{
	json_t *added = json_object();
	for (int i = 0; i < ADDED_COUNT; i++)
		json_object_set_new(added, added_name((enum added)i), json_number_or_null(m->added_by_ns[i]));
	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "runs", m->runs, "merged_layers",
		m->merged_layers, "total_ns",
		json_number_or_null(m->total_ns), "matched_ns", json_number_or_null(m->matched_ns),
		"added_ns", json_number_or_null(m->added_ns), "unmatched_ns",
		json_number_or_null(m->unmatched_ns), "added_by_kind_ns", added);
}

static json_t *model_json(const struct session *s)
{
	return json_pack("{s:o, s:o, s:i}", "path", json_text(text_of(session_model(s)->path)), "name",
		json_text(session_model(s)->graph->name), "nodes", session_model(s)->graph->node_count);
}

static json_t *names_json(const char *list)
{
	json_t *array = json_array();
	for (size_t n; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		json_array_append_new(array, json_stringn(list, n));
	}
	return array;
}

static json_t *scenario_json(const struct session *s)
{
	const struct plan *p = session_plan(s);
	char on[SCENARIO_TEXT_SIZE];
	return json_pack("{s:o, s:s, s:o, s:o}", "batch", p->batch ? json_integer(p->batch) : json_null(),
		"dtype", plan_type_name(p), "what_if",
		names_json(scenario_text(session_scenario(s), on, sizeof(on))), "dims", report_dims_json(p));
}

json_t *report_compare_json(struct session *s, const struct comparison *c)
{
	static const char *const from[] = { "none", "latency", "profiled", "sum" };
	const struct reality *y = c->reality;
	json_t *o = json_object();
	json_object_set_new(o, "model", model_json(s));
	json_object_set_new(o, "device",
		json_pack("{s:s?, s:s?, s:s?}", "name", session_device(s)->name, "model",
			session_device(s)->model, "stack", session_device(s)->stack));
	json_object_set_new(o, "scenario", scenario_json(s));
	json_object_set_new(o, "agent", agent_json(c->execution));
	json_object_set_new(o, "measured_ns", json_number_or_null(y->measured_ns));
	json_object_set_new(o, "interval_ns", report_json_interval(y->lo, y->hi));
	json_object_set_new(o, "noisy", json_boolean(c->noisy));
	json_object_set_new(o, "measured_from", json_string(from[y->from]));
	figures_json(o, c->execution);
	json_object_set_new(o, "bound_ns", json_number_or_null(y->bound_ns));
	json_object_set_new(o, "bound_interval_ns", report_json_interval(y->bound_lo, y->bound_hi));
	json_object_set_new(o, "complete", json_boolean(y->bound_complete));
	json_object_set_new(o, "estimated", json_boolean(y->bound_estimated));
	struct trust trust = compare_trust(s, c);
	json_object_set_new(o, "trust", report_trust_json(&trust));
	json_object_set_new(o, "benanza_ratio", json_number_or_null(y->ratio));
	json_object_set_new(o, "layers_ns", json_number_or_null(y->layers_ns));
	json_object_set_new(o, "profiler_ns", json_number_or_null(y->profiler_ns));
	json_object_set_new(o, "excess_ns", json_number_or_null(y->excess_ns));
	json_object_set_new(o, "matched", matched_json(y->match));
	json_object_set_new(o, "gaps", gaps_json(y));
	json_object_set_new(o, "bound_contradicted", json_boolean(y->contradicted));
	json_object_set_new(o, "contradicted", groups_json(y, true));
	json_object_set_new(o, "bound_measured_again", json_boolean(y->in_turn));
	json_object_set_new(o, "bound_unclear", json_boolean(y->unclear));
	json_object_set_new(o, "bound_not_confirmed", json_boolean(y->unconfirmed));
	json_object_set_new(o, "not_measured_again", json_integer(reality_not_again(y)));
	json_object_set_new(o, "not_confirmed", json_integer(y->doubt_count[DOUBT_TURN]));
	json_object_set_new(o, "faster", json_integer(y->faster_count));
	json_object_set_new(o, "not_comparable", report_json_text(y->not_comparable));
	json_object_set_new(o, "layers", groups_json(y, false));
	json_object_set_new(o, "added", rows_json(y, MATCH_ADDED));
	json_object_set_new(o, "unmatched", rows_json(y, MATCH_NONE));
	json_object_set_new(o, "incomplete", report_json_text(c->execution->gaps));
	return o;
}

json_t *report_against_json(struct session *s, const struct comparison *c, const struct comparison *d,
	const struct against *x)
{
	json_t *layers = json_array();
	for (int i = 0; i < x->group_count; i++) {
		const struct against_group *g = &x->groups[i];
		json_array_append_new(layers,
			json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "index", g->layers[0],
				"layers", ints_json(g->layers, g->layer_count), "a_ns",
				json_number_or_null(g->a_ns), "a_interval_ns",
				report_json_interval(g->a_lo, g->a_hi), "b_ns", json_number_or_null(g->b_ns),
				"b_interval_ns", report_json_interval(g->b_lo, g->b_hi), "difference_ns",
				json_number_or_null(g->b_ns - g->a_ns), "significant", g->significant,
				"a_kernel", report_json_text(g->a_kernel), "b_kernel",
				report_json_text(g->b_kernel)));
	}
	json_t *first = agent_json(c->execution), *second = agent_json(d->execution);
	figures_json(first, c->execution);
	figures_json(second, d->execution);
	json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "model", model_json(s), "a",
		first, "b", second, "a_ns", json_number_or_null(x->a_ns),
		"a_interval_ns", report_json_interval(x->a_lo, x->a_hi), "b_ns", json_number_or_null(x->b_ns),
		"b_interval_ns", report_json_interval(x->b_lo, x->b_hi), "difference_ns",
		json_number_or_null(x->b_ns - x->a_ns), "significant", x->significant);
	json_object_set_new(o, "a_other_ns", json_number_or_null(x->a_other_ns));
	json_object_set_new(o, "b_other_ns", json_number_or_null(x->b_other_ns));
	json_object_set_new(o, "layers", layers);
	return o;
}

static const char *number_field(struct arena *a, double ns)
{
	return isnan(ns) ? "" : arena_printf(a, "%.1f", ns);
}

void report_compare_csv(struct session *s, const struct comparison *c, int number, bool header, FILE *out)
{
	const struct reality *y = c->reality;
	const struct execution *e = c->execution;
	struct arena a = { 0 };
	if (header)
		fputs("batch,dtype,execution,row,name,op,kernel,provider,match,confidence,layer,layers,real_"
		      "ns,lo_ns,"
		      "hi_ns,cost_ns,gap,algorithm,layer_number,layer_name\n",
			out);
	int total, *numbers = session_numbers(session_plan(s), &a, &total);
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		const struct match_row *m = &y->match->rows[i];
		const struct reality_group *g =
			y->group_of_row[i] >= 0 ? &y->groups[y->group_of_row[i]] : NULL;
		if (r->parent >= 0 || (r->level != LEVEL_LAYER && r->level != LEVEL_KERNEL))
			continue;
		report_csv_plan(out, session_plan(s));
		fprintf(out, "%d,%d,", number, i);
		csv_field(out, r->name, ',');
		csv_field(out, r->op, ',');
		csv_field(out, r->kernel, ',');
		csv_field(out, r->provider, ',');
		fprintf(out, "%s,%.2f,", match_how_name(m->how), m->confidence);
		fprintf(out, "%s,%d,%s,%s,%s,", g ? arena_printf(&a, "%d", g->layers[0]) : "",
			g ? g->layer_count : 0, number_field(&a, r->ns), number_field(&a, r->lo_ns),
			number_field(&a, r->hi_ns));
		/* the group's cost is printed in its first row */
		fprintf(out, "%s,%s,", g && g->rows[0] == i ? number_field(&a, g->cost_ns) : "",
			g ? gap_name(g->kind) : m->how == MATCH_ADDED ? added_name(m->added) : "unmatched");
		csv_field(
			out, g && g->better ? text_clean(&a, text_of(g->better->algorithm.name)) : "", ',');
		fprintf(out, "%s,", g ? arena_printf(&a, "%d", numbers[g->layers[0]]) : "");
		const struct text none = { "", 0 };
		csv_field(out, text_clean(&a, g ? session_plan(s)->layers[g->layers[0]].name : none),
			'\n');
	}
	arena_free(&a);
}
