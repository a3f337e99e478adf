/* The bound as JSON; keys are documented in benanza-json(5). */
#include "config.h"

#include "analyze/bound/memory.h"
#include "commands/report.h"
#include "table/tables/devices.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "problem/libraries.h"
#include "session/scenarios.h"
#include "table/tables/costs.h"

/* Costs of the layers in a layer's bodies, each listed once. */
static json_t *bodies_json(const struct plan_layer *l, const struct layer_cost *c)
{
	if (!c->bodies)
		return NULL;
	json_t *bodies = json_array();
	for (int i = 0; i < l->body_count; i++) {
		json_t *list = json_array();
		for (int k = 0; k < l->bodies[i].layer_count; k++) {
			const struct layer_cost *inner = &c->bodies[i][k];
			json_t *one = json_pack("{s:i, s:o, s:s}", "index", k, "cost_ns",
				json_number_or_null(inner->ns), "origin", origin_name(inner->origin));
			json_t *within = bodies_json(&l->bodies[i].layers[k], inner);
			if (within)
				json_object_set_new(one, "body", within);
			json_array_append_new(list, one);
		}
		json_array_append_new(bodies, list);
	}
	return bodies;
}

/* What limits the layer; all null if unknown, with the reason. */
static void limit_json(json_t *o, const struct limit *l)
{
	const char *by = limit_name(l->by);
	json_object_set_new(o, "bound_by", by ? json_string(by) : json_null());
	json_object_set_new(o, "peak", l->peak[0] ? json_string(l->peak) : json_null());
	json_object_set_new(o, "peak_bytes_s", json_number_or_null(l->is_rate ? l->peak_per_s : NAN));
	json_object_set_new(o, "peak_flops_s", json_number_or_null(l->is_rate ? NAN : l->peak_per_s));
	json_object_set_new(o, "peak_share", json_number_or_null(l->share));
	if (limit_is_over(l))
		json_object_set_new(o, "above_peak", json_true());
	if (l->is_own)
		json_object_set_new(o, "own_operations", json_true());
	json_object_set_new(o, "flops_per_byte", json_number_or_null(l->intensity));
	if (l->why[0])
		json_object_set_new(o, "bound_by_why", json_string(l->why));
}

/* What an estimate consists of, and the row that it is from; null: the pure roofline. */
static json_t *estimate_json(const struct session *s, int i)
{
	const struct analysis *a = session_analysis(s);
	const struct layer_cost *l = &a->layers[i];
	const struct calibration_row *r = l->row;
	const char *text = limit_problem(a, session_plan(s), i);
	struct scenario units = a->scenario;
	struct problem p;
	units.matrix = l->matrix;
	units.relaxed = l->relaxed;
	if (!r || !text || problem_parse(text_of(text), &p, NULL) < 0)
		return json_null();
	struct estimate e = estimate_of(&p, session_peaks(s), &units, a->reuse_bytes);
	return json_pack("{s:s, s:s, s:b, s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "kind",
		calibration_kind_name(r->kind), "library", calibration_library_name(r->library), "matrix",
		r->matrix, "nearest", l->nearest, "overhead_ns", e.overhead_ns, "ops_ns", e.ops_ns,
		"bytes_ns", e.bytes_ns, "peak_ops_ns", e.peak_ops_ns, "tile_ns", e.tile_ns, "memory_ns",
		e.memory_ns, "cache_ns", e.cache_ns, "low", r->low, "high", r->high);
}

/* Costs by what limits the layers. */
static json_t *limit_totals_json(const struct session *s)
{
	struct limit_totals t = limit_totals_of(session_analysis(s), session_plan(s), session_peaks(s));
	json_t *all = json_object();
	for (int by = 0; by < LIMIT_COUNT; by++)
		json_object_set_new(all, by ? limit_name((enum limit_by)by) : "unknown",
			json_pack("{s:i, s:f}", "layers", t.layers[by], "cost_ns", t.ns[by]));
	return all;
}

static json_t *memory_json(const struct session *s)
{
	struct memory_need m = memory_of(session_plan(s), session_analysis(s));
	return json_pack("{s:o, s:o, s:o, s:o, s:i}", "peak_bytes", json_number_or_null(m.peak),
		"weights_bytes", json_number_or_null(m.weights), "activations_bytes",
		json_number_or_null(m.activations), "workspace_bytes", json_number_or_null(m.workspace),
		"without_workspace", m.unknown);
}

static json_t *fold_json(const struct plan *p, const struct plan_layer *l)
{
	struct arena a = { 0 };
	json_t *text = json_text(text_of(plan_fold_text(p, l, &a)));
	arena_free(&a);
	return text;
}

static json_t *layer_json(const struct session *s, const int *numbers, int i)
{
	const struct analysis *a = session_analysis(s);
	const struct plan *p = session_plan(s);
	json_t *bodies = bodies_json(&p->layers[i], &a->layers[i]);
	const struct layer_cost *l = &a->layers[i];
	bool known = l->origin != ORIGIN_MISSING && l->origin != ORIGIN_UNSUPPORTED;
	json_t *o = json_pack("{s:i, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "index", i, "cost_ns",
		json_number_or_null(known ? l->ns : NAN), "origin", origin_name(l->origin), "interval_ns",
		report_json_interval(l->lo, l->hi), "algorithm",
		l->result ? json_string(l->result->algorithm.name) : json_null(), "preferred_ns",
		json_number_or_null(l->preferred_ns), "roofline_ns", json_number_or_null(l->roofline_ns),
		"critical", l->critical, "slack_ns", json_number_or_null(l->slack_ns));
	struct limit limit = limit_of_layer(a, p, session_peaks(s), i);
	limit_json(o, &limit);
	bool guess = l->origin == ORIGIN_ESTIMATED;
	json_object_set_new(o, "bound_ns", json_number_or_null(known ? l->floor_ns : NAN));
	json_object_set_new(o, "estimate_ns", json_number_or_null(guess ? l->ns : NAN));
	json_object_set_new(o, "estimate_interval_ns",
		guess ? report_json_interval(l->lo, l->hi) : json_null());
	json_object_set_new(o, "name", json_text(p->layers[i].name));
	json_object_set_new(o, "op", json_text(p->layers[i].node->op));
	json_object_set_new(o, "number", numbers[i] ? json_integer(numbers[i]) : json_null());
	json_object_set_new(o, "start_ns", json_number_or_null(l->start_ns));
	if (l->padded)
		json_object_set_new(o, "padded", json_true());
	if (l->origin == ORIGIN_FREE && p->layers[i].fold != FOLD_NONE)
		json_object_set_new(o, "fold", fold_json(p, &p->layers[i]));
	int into = analysis_folded_into(a, p, i);
	if (l->folded)
		json_object_set_new(o, "folded_into", into < 0 ? json_null() : json_integer(into));
	if (l->group)
		json_object_set_new(o, "fused_into", json_integer(l->group->layers[0]));
	if (l->group && l->group->layers[0] == i) {
		json_object_set_new(o, "pattern", json_string(l->group->pattern));
		if (l->group->residual >= 0)
			json_object_set_new(o, "residual", json_integer(l->group->residual));
		if (fusion_copy_text(l->group))
			json_object_set_new(o, "copy", json_string(fusion_copy_text(l->group)));
	}
	if (l->origin == ORIGIN_ESTIMATED && !l->bodies)
		json_object_set_new(o, "estimate", estimate_json(s, i));
	if (l->at_least)
		json_object_set_new(o, "at_least", json_true());
	if (l->mistrusted)
		json_object_set_new(o, "mistrusted", json_true());
	if (l->nearer)
		json_object_set_new(o, "nearer", json_true());
	if (l->capped)
		json_object_set_new(o, "capped", json_true());
	if (l->disputed)
		json_object_set_new(o, "disputed", json_true());
	if (bodies)
		json_object_set_new(o, "body", bodies);
	if ((!known || l->at_least) && l->why)
		json_object_set_new(o, "why", json_text(text_of(l->why)));
	if (l->result) {
		json_object_set_new(o, "problem", json_string(l->result->problem));
		json_object_set_new(o, "api", json_string(l->result->algorithm.api));
		json_object_set_new(o, "math", json_string(l->result->algorithm.math));
		json_object_set_new(o, "matrix", json_string(matrix_name(l->result->algorithm.matrix)));
		json_object_set_new(o, "layouts", json_string(l->result->algorithm.layouts));
	}
	return o;
}

/* Where a pattern is found that is no group, and why. */
static json_t *misses_json(const struct session *s)
{
	const struct fusion *f = session_fusion(s);
	json_t *list = json_array();
	for (int i = 0; i < f->miss_count; i++) {
		const struct fusion_miss *m = &f->misses[i];
		json_array_append_new(list,
			json_pack("{s:i, s:o, s:s, s:s}", "layer", m->layer, "name",
				json_text(session_plan(s)->layers[m->layer].name), "pattern", m->pattern,
				"why", m->why));
	}
	return list;
}

static json_t *effects_json(const struct session *s)
{
	struct table t = { 0 };
	effects_table(&t, s, IN_JSON);
	json_t *list = table_rows_json(&t);
	table_free(&t);
	return list;
}

static json_t *coverage_json(const struct analysis *a)
{
	const struct coverage *c = &a->coverage;
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "layers",
		c->layers, "measured", c->measured, "proxy", c->proxy, "free", c->free, "fused", c->fused,
		"estimated", c->estimated, "nearest", c->nearest, "assumed", c->assumed, "missing",
		c->missing, "unsupported", c->unsupported,
		"flops_measured_share", json_number_or_null(c->flops_measured_share), "cost_proxy_share",
		json_number_or_null(c->cost_proxy_share), "cost_estimated_share",
		json_number_or_null(c->cost_estimated_share));
}

static json_t *contradicted_json(const struct contradicted *c)
{
	return !c->executions ? json_null() : json_pack("{s:i, s:i, s:i, s:i}", "executions",
		c->executions, "layers", c->layers, "not_measured_again", c->not_again, "whole", c->whole);
}

json_t *report_trust_json(const struct trust *t)
{
	const struct contradicted *c = &t->against;
	const char *next = trust_commands[trust_next(t)];
	struct str line = { 0 };
	json_t *shares = json_object();
	for (int i = 0; i < TRUST_PART_COUNT; i++)
		json_object_set_new(
			shares, trust_part_name((enum trust_part)i), json_number_or_null(t->share[i]));
	trust_describe(t, INT_MAX, trust_commands, &line);
	json_t *o = json_pack("{s:s, s:s, s:o, s:i, s:i, s:i, s:o}", "verdict",
		trust_verdict_name(t->verdict), "text", line.p, "shares", shares, "missing", t->missing,
		"unsupported", t->unsupported, "at_least", t->open, "uncertainty",
		json_number_or_null(t->uncertainty));
	json_object_set_new(o, "executions", c->known ? json_integer(c->executions) : json_null());
	json_object_set_new(o, "contradicted_layers", c->known ? json_integer(c->layers) : json_null());
	json_object_set_new(o, "contradicted_whole", c->known ? json_boolean(c->whole) : json_null());
	json_object_set_new(o, "contradicted_ns", json_number_or_null(c->known ? c->ns : NAN));
	json_object_set_new(o, "contradicted_by", c->by ? json_text(text_of(c->by)) : json_null());
	json_object_set_new(o, "next", next ? json_string(next) : json_null());
	str_free(&line);
	return o;
}

json_t *report_libraries_json(const struct device *d)
{
	struct arena a = { 0 };
	struct library *l;
	int count = libraries_of(d, &a, &l);
	json_t *list = json_array();
	for (int i = 0; i < count; i++)
		if (!l[i].present)
			json_array_append_new(list, json_text(text_of(library_missing(&a, &l[i]))));
	arena_free(&a);
	return list;
}

static void totals_set(json_t *o, const struct analysis *a)
{
	const struct sweep_point point = { .total_ns = a->total_ns, .lo_ns = a->lo_ns, .hi_ns = a->hi_ns,
		.bound_ns = a->bound_ns, .guess = a->estimated };
	report_json_total(o, &point);
	json_object_set_new(o, "estimate_error", report_json_error(a->estimated ? a->peaks->sm : 0));
	json_object_set_new(o, "sequential_ns", json_number_or_null(a->bound_sequential_ns));
	json_object_set_new(o, "parallel_ns", json_number_or_null(a->bound_parallel_ns));
	json_object_set_new(o, "estimate_sequential_ns",
		json_number_or_null(a->estimated ? a->sequential_ns : NAN));
	json_object_set_new(o, "estimate_parallel_ns",
		json_number_or_null(a->estimated ? a->parallel_ns : NAN));
	json_object_set_new(o, "parallel_at_most", json_boolean(a->parallel_at_most && a->complete));
	json_object_set_new(o, "path_ns", json_number_or_null(a->path_ns));
	json_object_set_new(o, "limit", a->limit ? json_string(a->limit) : json_null());
	json_object_set_new(o, "resource_ns", json_number_or_null(a->resource_ns));
	json_object_set_new(o, "roofline_ns", json_number_or_null(a->roofline_ns));
	json_object_set_new(o, "above_peak_layers", json_integer(a->above_peak));
}

json_t *report_bound_json(const struct session *s, const struct trust *t)
{
	const struct plan *p = session_plan(s);
	const struct analysis *a = session_analysis(s);
	const struct device *d = session_device(s);
	char on[SCENARIO_TEXT_SIZE];
	json_t *layers = json_array();
	struct arena scratch = { 0 };
	int total, *numbers = session_numbers(p, &scratch, &total);
	for (int i = 0; i < a->layer_count; i++)
		json_array_append_new(layers, layer_json(s, numbers, i));
	arena_free(&scratch);
	json_t *o = json_object();
	json_object_set_new(o, "model",
		json_pack("{s:o, s:o, s:i}", "path", json_text(text_of(session_model(s)->path)), "name",
			json_text(session_model(s)->graph->name), "nodes",
			session_model(s)->graph->node_count));
	json_object_set_new(o, "device",
		json_pack("{s:s?, s:s?, s:s?, s:s?}", "name", d->name, "model", d->model, "runner", d->runner,
			"stack", d->stack));
	json_object_set_new(o, "scenario", json_pack("{s:o, s:s, s:o, s:s}", "batch",
		p->batch ? json_integer(p->batch) : json_null(), "dtype", plan_type_name(p), "what_if",
		report_json_names(scenario_text(session_scenario(s), on, sizeof(on))), "cache",
		cache_name(a->cache)));
	json_object_set_new(json_object_get(o, "scenario"), "rest",
		plan_is_few(p) ? json_string(dtype_name(p->rest)) : json_null());
	json_object_set_new(json_object_get(o, "scenario"), "reuse_bytes",
		json_number_or_null(a->reuse_bytes));
	json_object_set_new(json_object_get(o, "scenario"), "dims", report_dims_json(p));
	json_object_set_new(json_object_get(o, "scenario"), "dims_from", report_dims_from_json(s));
	report_json_assumed(json_object_get(o, "scenario"), s);
	totals_set(o, a);
	json_object_set_new(o, "limits", limit_totals_json(s));
	json_object_set_new(o, "memory", memory_json(s));
	json_object_set_new(o, "border_ns", json_number_or_null(a->border_ns));
	json_object_set_new(o, "conversions", json_integer(a->conversions));
	json_object_set_new(o, "layouts_exact", json_boolean(a->layouts_exact));
	json_object_set_new(o, "enqueue_ns", json_number_or_null(a->enqueue_ns));
	json_object_set_new(o, "estimated", json_boolean(a->estimated));
	struct report_lack lack = report_lack_of(s);
	json_object_set_new(o, "more_samples", !lack.command ? json_null() :
		json_pack("{s:i, s:o, s:s}", "problems", lack.problems, "spent_s",
			json_number_or_null(lack.spent_s), "command", lack.command));
	json_object_set_new(o, "load_ns", json_number_or_null(a->load_ns));
	json_object_set_new(o, "without_interval", json_integer(a->without_interval));
	json_object_set_new(o, "range_intervals", json_integer(a->range_intervals));
	json_object_set_new(o, "disturbed", json_integer(report_disturbed(a)));
	json_object_set_new(o, "complete", json_boolean(a->complete));
	json_object_set_new(o, "distinct", json_integer(p->problem_count));
	json_object_set_new(o, "coverage", coverage_json(a));
	json_object_set_new(o, "mistrusted",
		json_pack("{s:i, s:o}", "layers", a->coverage.mistrusted, "cost_share",
			json_number_or_null(a->coverage.cost_mistrusted_share)));
	json_object_set_new(o, "trust", report_trust_json(t));
	json_object_set_new(o, "contradicted", contradicted_json(&t->against));
	json_object_set_new(o, "what_if", effects_json(s));
	json_object_set_new(o, "side_by_side", report_besides_json(s));
	json_object_set_new(o, "not_fused", misses_json(s));
	json_object_set_new(o, "notes",
		a->scenario.layouts != LAYOUTS_FREE ? json_array() :
			json_pack("[s]", "reorders between layers are not priced"));
	json_t *warnings = report_libraries_json(d);
	struct arena words = { 0 };
	const char *miss = scenarios_names_miss(s, &words);
	if (miss)
		json_array_append_new(warnings, json_text(text_of(miss)));
	arena_free(&words);
	json_object_set_new(o, "warnings", warnings);
	json_object_set_new(o, "needs", report_needs_json(p));
	json_object_set_new(o, "layers", layers);
	return o;
}
