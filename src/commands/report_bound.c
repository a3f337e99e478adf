#include "config.h"

#include "commands/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *strings_json(const char *list)
{
	json_t *array = json_array();
	while (*list) {
		size_t n = strcspn(list, ",");
		if (n)
			json_array_append_new(array, json_stringn(list, n));
		list += n + (list[n] == ',');
	}
	return array;
}

static json_t *layer_json(const struct analysis *a, int i)
{
	const struct layer_cost *l = &a->layers[i];
	bool known = l->origin != ORIGIN_MISSING && l->origin != ORIGIN_UNSUPPORTED;
	json_t *interval = known ? json_pack("[o,o]", json_number_or_null(l->lo), json_number_or_null(l->hi)) : json_null();
	json_t *o = json_pack("{s:i, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "index", i, "cost_ns",
		json_number_or_null(known ? l->ns : NAN), "origin", origin_name(l->origin), "interval_ns", interval,
		"algorithm", l->result ? json_string(l->result->algorithm.name) : json_null(), "preferred_ns",
		json_number_or_null(l->preferred_ns), "roofline_ns", json_null(), "critical", l->critical, "slack_ns",
		json_number_or_null(l->slack_ns));
	if (l->group)
		json_object_set_new(o, "fused_into", json_integer(l->group->layers[0]));
	if (l->result)
		json_object_set_new(o, "layouts", json_string(l->result->algorithm.layouts));
	return o;
}

static json_t *effects_json(const struct session *s)
{
	json_t *list = json_array();
	for (int i = 0; i < s->effect_count; i++) {
		const struct what_if_effect *e = &s->effects[i];
		double now = s->analysis->bound_ns;
		double on_ns = e->on ? now : e->bound_ns, off_ns = e->on ? e->bound_ns : now;
		bool known = e->available && !isnan(e->bound_ns);
		json_array_append_new(list, json_pack("{s:s, s:b, s:o, s:o, s:o, s:b, s:b, s:i}", "name", e->row->name, "on",
			e->on, "bound_ns", json_number_or_null(known ? e->bound_ns : NAN), "saves_ns",
			json_number_or_null(known ? e->saves_ns : NAN), "speedup",
			json_number_or_null(known && on_ns > 0 ? off_ns / on_ns : NAN), "available", e->available,
			"complete", e->complete, "unmeasured_problems", e->unmeasured_problems));
	}
	return list;
}

static json_t *coverage_json(const struct analysis *a)
{
	const struct coverage *c = &a->coverage;
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o}", "layers", c->layers, "measured", c->measured,
		"proxy", c->proxy, "free", c->free, "fused", c->fused, "estimated", c->estimated, "assumed", c->assumed,
		"missing", c->missing, "unsupported", c->unsupported, "flops_measured_share",
		json_number_or_null(c->flops_measured_share));
}

json_t *report_bound_json(const struct session *s)
{
	const struct plan *p = s->current->plan;
	const struct analysis *a = s->analysis;
	const struct device *d = &s->device;
	char on[128];
	json_t *layers = json_array();
	for (int i = 0; i < a->layer_count; i++)
		json_array_append_new(layers, layer_json(a, i));
	int64_t batch = s->current->batch ? s->current->batch : 1;
	for (int i = 0; i < p->binding_count && !s->current->batch; i++)
		if (text_is(p->bindings[i].name, "batch"))
			batch = p->bindings[i].value;
	json_t *o = json_object();
	json_object_set_new(o, "model", json_pack("{s:o, s:o, s:i}", "path", json_text(text_of(s->model->path)), "name",
		json_text(s->model->graph->name), "nodes", s->model->graph->node_count));
	json_object_set_new(o, "device", json_pack("{s:s?, s:s?, s:s?, s:s?}", "name", d->name, "model", d->model, "runner",
		d->runner, "stack", d->stack));
	json_object_set_new(o, "scenario", json_pack("{s:I, s:s, s:o, s:s}", "batch", (json_int_t)batch, "dtype",
		dtype_name(p->dtype), "what_if", strings_json(scenario_text(&s->scenario, on, sizeof(on))), "cache",
		cache_name(a->cache)));
	json_object_set_new(o, "bound_ns", json_number_or_null(a->bound_ns));
	json_object_set_new(o, "sequential_ns", json_number_or_null(a->sequential_ns));
	json_object_set_new(o, "parallel_ns", json_number_or_null(a->parallel_ns));
	json_object_set_new(o, "resource_ns", json_null());
	json_object_set_new(o, "roofline_ns", json_null());
	json_object_set_new(o, "border_ns", json_number_or_null(a->border_ns));
	json_object_set_new(o, "interval_ns", json_pack("[o,o]", json_number_or_null(a->lo_ns),
		json_number_or_null(a->hi_ns)));
	json_object_set_new(o, "complete", json_boolean(a->complete));
	json_object_set_new(o, "distinct", json_integer(p->problem_count));
	json_object_set_new(o, "coverage", coverage_json(a));
	json_object_set_new(o, "what_if", effects_json(s));
	json_object_set_new(o, "notes", json_pack("[s]", "reorders between layers are not priced"));
	json_object_set_new(o, "layers", layers);
	return o;
}

static const char *number_field(struct arena *a, double ns)
{
	return isnan(ns) ? "" : arena_printf(a, "%.1f", ns);
}

void report_bound_csv(const struct session *s, FILE *out)
{
	const struct plan *p = s->current->plan;
	struct arena a = { 0 };
	fputs("index,name,op,origin,cost_ns,lo_ns,hi_ns,preferred_ns,critical,slack_ns,algorithm\n", out);
	for (int i = 0; i < s->analysis->layer_count; i++) {
		const struct layer_cost *c = &s->analysis->layers[i];
		fprintf(out, "%d,", i);
		report_csv_field(out, text_clean(&a, p->layers[i].name), ',');
		report_csv_field(out, text_clean(&a, p->layers[i].node->op), ',');
		fprintf(out, "%s,%s,%s,%s,%s,%d,%s,", origin_name(c->origin), number_field(&a, c->ns), number_field(&a, c->lo),
			number_field(&a, c->hi), number_field(&a, c->preferred_ns), c->critical, number_field(&a, c->slack_ns));
		report_csv_field(out, c->result ? c->result->algorithm.name : "", '\n');
		arena_free(&a);
	}
}

static void head_text(const struct session *s, FILE *out)
{
	const struct plan *p = s->current->plan;
	struct arena a = { 0 };
	fprintf(out, "%s", text_clean(&a, text_of(s->model->path)));
	for (int i = 0; i < p->binding_count; i++)
		fprintf(out, "  %s %lld", text_clean(&a, p->bindings[i].name), (long long)p->bindings[i].value);
	if (s->current->batch)
		fprintf(out, "  batch %lld", (long long)s->current->batch);
	fprintf(out, "  %s\n%s, %s\n\n", dtype_name(p->dtype), s->device.model ? s->device.model : "no device",
		s->device.stack ? s->device.stack : "");
	arena_free(&a);
}

static void bound_text(const struct session *s, FILE *out)
{
	const struct analysis *a = s->analysis;
	const struct coverage *c = &a->coverage;
	char bound[STR_QUANTITY], other[STR_QUANTITY], lo[STR_QUANTITY], hi[STR_QUANTITY], border[STR_QUANTITY];
	bool parallel = s->scenario.parallel;
	const char *least = a->complete ? "" : "at least ";
	fprintf(out, "lower bound   %s%s  %s (%s %s%s)\n", least, str_duration(bound, a->bound_ns),
		parallel ? "parallel" : "sequential", parallel ? "sequential" : "parallel", least,
		str_duration(other, parallel ? a->sequential_ns : a->parallel_ns));
	fprintf(out, "interval      %s to %s  (95%% intervals of the layers' medians, sequential)\n",
		str_duration(lo, a->lo_ns), str_duration(hi, a->hi_ns));
	int gaps = c->missing + c->unsupported;
	fprintf(out, "coverage      %d layers: %d measured, %d by proxy, %d free, %d fused", c->layers, c->measured, c->proxy,
		c->free, c->fused);
	if (gaps)
		fprintf(out, ", %d not measured (%d unsupported)", gaps, c->unsupported);
	if (!isnan(c->flops_measured_share))
		fprintf(out, "; %.1f%% of the FLOPs", 100 * c->flops_measured_share);
	fputc('\n', out);
	if (a->border_ns > 0)
		fprintf(out, "borders       %s of casts at model inputs and outputs, included\n",
			str_duration(border, a->border_ns));
	fprintf(out, "not priced    reorders between layers' layouts\n\n");
}

static void effects_text(const struct session *s, FILE *out)
{
	fprintf(out, "what-if       now          saves     total      speedup\n");
	for (int i = 0; i < s->effect_count; i++) {
		const struct what_if_effect *e = &s->effects[i];
		char saves[STR_QUANTITY], total[STR_QUANTITY];
		fprintf(out, "  %-11s %-10s", e->row->name, e->on ? e->row->on : e->row->off);
		if (!e->available) {
			fprintf(out, "not available here\n");
			continue;
		}
		double now = s->analysis->bound_ns, on = e->on ? now : e->bound_ns, off = e->on ? e->bound_ns : now;
		const char *mark = e->complete ? " " : "~";
		fprintf(out, " %s%9s %s%9s", mark, str_duration(saves, e->saves_ns), mark, str_duration(total, on));
		if (on > 0)
			fprintf(out, "   %s%.2fx", mark, off / on);
		if (e->unmeasured_problems)
			fprintf(out, "  %d problems not measured", e->unmeasured_problems);
		fputc('\n', out);
	}
	fprintf(out, "  (saves and total: with it on, against off)\n\n");
}

static const struct layer_cost *sort_costs;

static int by_cost(const void *x, const void *y)
{
	double a = sort_costs[*(const int *)x].ns, b = sort_costs[*(const int *)y].ns;
	a = isnan(a) ? -1 : a;
	b = isnan(b) ? -1 : b;
	return a != b ? (a < b ? 1 : -1) : *(const int *)x - *(const int *)y;
}

static void costs_text(const struct session *s, FILE *out)
{
	const struct analysis *an = s->analysis;
	const struct plan *p = s->current->plan;
	struct arena a = { 0 };
	int *order = ARENA_ARRAY(&a, int, an->layer_count), shown = an->layer_count < 20 ? an->layer_count : 20;
	for (int i = 0; i < an->layer_count; i++)
		order[i] = i;
	sort_costs = an->layers;
	qsort(order, (size_t)an->layer_count, sizeof(*order), by_cost);
	fprintf(out, "%5s  %-38s %-18s %10s %7s  %s\n", "index", "costliest layers", "op", "cost", "share", "algorithm");
	for (int i = 0; i < shown; i++) {
		const struct layer_cost *c = &an->layers[order[i]];
		const struct plan_layer *l = &p->layers[order[i]];
		char cost[STR_QUANTITY];
		if (isnan(c->ns) || c->ns <= 0)
			break;
		fprintf(out, "%5d  %-38.38s %-18.18s %s%9s %6.1f%%  %s\n", order[i], text_clean(&a, l->name),
			c->group ? c->group->pattern : text_clean(&a, l->node->op), c->origin == ORIGIN_PROXY ? "~" : " ",
			str_duration(cost, c->ns), 100 * c->ns / an->sequential_ns, c->result ? c->result->algorithm.name : "");
	}
	for (int i = 0, gaps = 0; i < an->layer_count && gaps < 10; i++)
		if (an->layers[i].origin == ORIGIN_MISSING || an->layers[i].origin == ORIGIN_UNSUPPORTED) {
			const struct plan_layer *l = &p->layers[i];
			if (gaps++ == 0)
				fprintf(out, "\nnot in the total (first 10):\n");
			fprintf(out, "%5d  %-38.38s %-18.18s %s%s%s\n", i, text_clean(&a, l->name), text_clean(&a, l->node->op),
				origin_name(an->layers[i].origin), l->why ? ": " : "",
				l->why ? text_clean(&a, text_of(l->why)) : "");
		}
	arena_free(&a);
}

void report_bound_text(const struct session *s, FILE *out)
{
	head_text(s, out);
	bound_text(s, out);
	effects_text(s, out);
	costs_text(s, out);
}
