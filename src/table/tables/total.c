/* Columns and cells of a total. */
#include "config.h"

#include "table/print.h"
#include "table/tables/total.h"

#include <math.h>

static const struct table_column columns[] = {
	{ "bound_ns", "", TABLE_NS, IN_JSON },
	{ "interval_ns", "", TABLE_INTERVAL, IN_JSON },
	{ "estimate_ns", "", TABLE_NS, IN_DATA },
	{ "estimate_interval_ns", "", TABLE_INTERVAL, IN_JSON },
};

static const struct table_column of_plan[] = {
	{ "batch", "", TABLE_INDEX, IN_CSV },
	{ "dtype", "", TABLE_TEXT, IN_CSV },
};

void plan_columns(struct table *t)
{
	TABLE_COLUMNS(t, of_plan);
}

void plan_cells(struct table *t, const struct plan *p)
{
	table_number(t, p->batch ? (double)p->batch : NAN, "");
	table_text(t, plan_type_name(p));
}

void total_columns(struct table *t)
{
	TABLE_COLUMNS(t, columns);
}

void total_cells(struct table *t, const struct sweep_point *p)
{
	table_number(t, p->bound_ns, "");
	table_interval(t, p->guess ? NAN : p->lo_ns, p->hi_ns);
	table_number(t, p->guess ? p->total_ns : NAN, "");
	table_interval(t, p->guess ? p->lo_ns : NAN, p->hi_ns);
}

void report_json_total(json_t *o, const struct sweep_point *p)
{
	struct table t = { 0 };
	total_columns(&t);
	table_row(&t, 0, 0);
	total_cells(&t, p);
	json_t *row = table_row_json(&t, 0);
	json_object_update(o, row);
	json_decref(row);
	table_free(&t);
}

json_t *total_assumed_json(const struct session *s)
{
	const struct plan *p = session_plan(s);
	const struct assumption *assumed = session_assumed(s);
	json_t *list = NULL;
	for (int i = 0; assumed && session_scenario(s)->assume && i < p->layer_count; i++) {
		char cost[ASSUMED_TEXT_SIZE];
		if (assumed[i].kind == ASSUME_NOTHING)
			continue;
		list = list ? list : json_array();
		json_array_append_new(list, json_pack("{s:i, s:o, s:s}", "layer", i, "name",
			json_text(p->layers[i].name), "cost", assumed_text(cost, &assumed[i])));
	}
	return list;
}

void report_json_assumed(json_t *scenario, const struct session *s)
{
	json_t *list = total_assumed_json(s);
	if (list)
		json_object_set_new(scenario, "assumed", list);
}

json_t *report_dims_json(const struct plan *p)
{
	json_t *o = json_object();
	struct arena a = { 0 };
	for (int i = 0; i < p->binding_count; i++)
		json_object_set_new(
			o, text_clean(&a, p->bindings[i].name), json_integer(p->bindings[i].value));
	arena_free(&a);
	return o;
}

json_t *report_dims_from_json(const struct session *s)
{
	const struct plan *p = session_plan(s);
	json_t *o = json_object();
	struct arena a = { 0 };
	for (int i = 0; i < p->binding_count; i++)
		json_object_set_new(o, text_clean(&a, p->bindings[i].name),
			json_string(session_binding_origin(s, i)));
	arena_free(&a);
	return o;
}
