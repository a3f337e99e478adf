/* Layers as text and JSON. JSON is printed layer by layer: the tree of a large model would need more
 * memory than everything else. */
#include "config.h"

#include "commands/command.h"
#include "commands/report.h"
#include "table/tables/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Prints `before` and the value, whose reference it consumes. */
static void json_put(FILE *out, const char *before, json_t *value)
{
	fputs(before, out);
	json_dumpf(value, out, JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY);
	json_decref(value);
}

void report_csv_plan(FILE *out, const struct plan *p)
{
	if (p->batch)
		fprintf(out, "%lld", (long long)p->batch);
	fprintf(out, ",%s,", plan_type_name(p));
}

json_t *report_needs_json(const struct plan *p)
{
	struct arena a = { 0 };
	char **options;
	int count = plan_needs(p, &a, &options);
	json_t *list = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(list, json_string(options[i]));
	arena_free(&a);
	return list;
}

void report_needs_text(const struct plan *p, FILE *out)
{
	struct arena a = { 0 };
	const char *line = plan_needs_line(p, &a);
	if (line)
		fprintf(out, "for the missing sizes, add: %s\n", line);
	arena_free(&a);
}

static json_t *dim_json(struct dim d)
{
	return d.kind == DIM_KNOWN	 ? json_integer(d.value)
		: d.kind == DIM_SYMBOLIC ? json_text(dim_expression(d))
					 : json_null();
}

static json_t *shape_json(struct shape s)
{
	if (s.rank < 0)
		return json_null();
	json_t *dims = json_array();
	for (int i = 0; i < s.rank; i++)
		json_array_append_new(dims, dim_json(s.dims[i]));
	return dims;
}

/* The shapes of a sequence whose elements are tracked one by one. */
static json_t *items_json(const struct plan_value *v)
{
	json_t *list = json_array();
	for (int i = 0; i < (int)v->held->length.value; i++)
		json_array_append_new(list, shape_json(v->held->items[i].shape));
	return list;
}

static json_t *values_json(const struct plan *p, const int *values, int count)
{
	json_t *list = json_array();
	for (int i = 0; i < count; i++) {
		if (values[i] < 0)
			continue;
		const struct plan_value *v = &p->values[values[i]];
		json_t *one = json_pack("{s:o, s:s, s:o}", "name", json_text(v->name), "dtype",
			dtype_name(v->dtype), "shape", shape_json(v->shape));
		if (v->kind != VALUE_TENSOR) {
			json_object_set_new(one, "kind", json_string(plan_kind_name(v->kind)));
			json_object_set_new(one, "length", dim_json(v->held->length));
		}
		if (v->kind == VALUE_SEQUENCE && v->held->items)
			json_object_set_new(one, "items", items_json(v));
		if (v->constant)
			json_object_set_new(one, "constant", json_true());
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *layers_json(const struct plan *p);

/* number: as in lists; 0: the layer only computes constants. */
static json_t *layer_json(const struct plan *p, const struct plan_layer *l, int number)
{
	const struct plan_problem *problem = plan_layer_problem(p, l);
	json_t *o = json_object();
	json_object_set_new(o, "index", json_integer(l->index));
	json_object_set_new(o, "number", number ? json_integer(number) : json_null());
	json_object_set_new(o, "name", json_text(l->name));
	json_object_set_new(o, "op", json_text(l->node->op));
	json_object_set_new(o, "domain", json_text(l->node->domain));
	if (op_own_place(l->op))
		json_object_set_new(o, "described", json_text(text_of(op_own_place(l->op))));
	json_object_set_new(o, "class", json_string(op_class_name(l->class)));
	json_object_set_new(o, "inputs", values_json(p, l->inputs, l->input_count));
	json_object_set_new(o, "outputs", values_json(p, l->outputs, l->output_count));
	json_object_set_new(o, "flops", json_number_or_null(l->flops));
	json_object_set_new(o, "bytes", json_number_or_null(l->bytes));
	json_object_set_new(
		o, "flops_per_byte", json_number_or_null(l->bytes > 0 ? l->flops / l->bytes : NAN));
	json_object_set_new(o, "problem", problem ? json_string(problem->text) : json_null());
	json_object_set_new(o, "distinct", problem ? json_integer(l->problem) : json_null());
	json_object_set_new(o, "proxy", json_boolean(l->proxy));
	json_object_set_new(
		o, "absorbed_by", l->absorbed_by >= 0 ? json_integer(l->absorbed_by) : json_null());
	if (l->upto || l->at_least)
		json_object_set_new(o, "estimated", json_true());
	if (!problem && l->why)
		json_object_set_new(o, "why", json_text(text_of(l->why)));
	if (l->fold != FOLD_NONE) {
		struct arena a = { 0 };
		json_object_set_new(o, "fold", json_text(text_of(plan_fold_text(p, l, &a))));
		arena_free(&a);
	}
	if (l->body_count) {
		json_t *bodies = json_array(), *times = json_array(), *roles = json_array();
		for (int i = 0; i < l->body_count; i++) {
			const struct plan *body = &l->bodies[i];
			json_array_append_new(bodies, layers_json(body));
			json_array_append_new(times, json_number_or_null(body->times));
			json_array_append_new(roles, json_text(body->role));
		}
		json_object_set_new(o, "body", bodies);
		json_object_set_new(o, "roles", roles);
		json_object_set_new(o, "times", times);
	}
	return o;
}

static json_t *layers_json(const struct plan *p)
{
	json_t *list = json_array();
	struct arena a = { 0 };
	int total, *numbers = session_numbers(p, &a, &total);
	for (int i = 0; i < p->layer_count; i++)
		json_array_append_new(list, layer_json(p, &p->layers[i], numbers[i]));
	arena_free(&a);
	return list;
}

static json_t *opsets_json(const struct model *m)
{
	json_t *o = json_object();
	struct arena a = { 0 };
	for (int i = 0; i < m->opset_count; i++)
		json_object_set_new(
			o, text_clean(&a, m->opsets[i].domain), json_integer(m->opsets[i].version));
	arena_free(&a);
	return o;
}

void report_dims_text(
	const struct session *s, const char *before, const struct dim_binding *but, int but_count, FILE *out)
{
	struct str dims = { 0 };
	session_dims_besides(s, but, but_count, &dims);
	if (dims.n)
		fprintf(out, "%s%s\n", before, dims.p);
	str_free(&dims);
}

void report_given_text(const struct session *s, FILE *out)
{
	struct str line = { 0 };
	session_dims_describe(s, &line);
	if (line.n)
		fprintf(out, "dimensions: %s\n", line.p);
	str_clear(&line);
	session_operators_describe(s, false, &line);
	if (line.n)
		fprintf(out, "operators: %s\n", line.p);
	str_free(&line);
}

void report_dims_note(const struct session *s)
{
	const struct plan *p = session_plan(s);
	struct arena a = { 0 };
	for (int i = 0; i < p->binding_count; i++)
		if (strcmp(session_binding_origin(s, i), "remembered") == 0)
			fprintf(stderr,
				"benanza: %s: dimension %s is %lld, as remembered in the database; --dim "
				"changes it\n",
				session_model_name(s), text_clean(&a, p->bindings[i].name),
				(long long)p->bindings[i].value);
	arena_free(&a);
}

void report_batch_note(const struct session *s, const struct options *o, int64_t batch)
{
	int64_t used = session_plan(s)->shape_batch;
	if (!o->quiet && o->batch_option && used && used != batch)
		fprintf(stderr, "benanza: %s: --input sets the batch %lld; -b %lld is not used\n",
			session_model_name(s), (long long)used, (long long)batch);
}

static json_t *warnings_json(const struct session *s)
{
	const struct plan *p = session_plan(s);
	json_t *list = json_array();
	for (int i = 0; i < session_model(s)->warning_count; i++)
		json_array_append_new(list, json_text(text_of(session_model(s)->warnings[i])));
	for (int i = 0; i < p->warning_count; i++)
		json_array_append_new(list, json_text(text_of(p->warnings[i])));
	return list;
}

/* Prints layer by layer, because the JSON tree of a large model would need more memory than everything
 * else. */
void report_layers_json(const struct session *s, FILE *out)
{
	const struct model *m = session_model(s);
	const struct plan *p = session_plan(s);
	json_t *model = json_pack("{s:o, s:o, s:o, s:I, s:o, s:i, s:I}", "path", json_text(text_of(m->path)),
		"name", json_text(m->graph->name), "producer", json_text(m->producer), "ir_version",
		(json_int_t)m->ir_version, "opsets", opsets_json(m), "nodes", m->graph->node_count,
		"file_bytes", (json_int_t)m->file_bytes);
	json_t *summary = json_pack("{s:i, s:i, s:o, s:o, s:i, s:i, s:i, s:o, s:o}", "layers", p->layer_count,
		"distinct", p->problem_count, "flops", json_number_or_null(p->flops), "bytes",
		json_number_or_null(p->bytes), "unknown_shapes", p->unknown_shapes, "unknown_flops_layers",
		p->unknown_flops_layers, "unknown_bytes_layers", p->unknown_bytes_layers, "weight_bytes",
		json_number_or_null(p->weight_bytes), "peak_live_bytes",
		json_number_or_null(p->peak_live_bytes));
	if (p->upto || p->at_least)
		json_object_set_new(summary, "estimated", json_true());
	json_put(out, "{\"model\":", model);
	json_put(out, ",\"dims\":", report_dims_json(p));
	json_put(out, ",\"dims_from\":", report_dims_from_json(s));
	json_put(out, ",\"dtype\":", json_string(plan_type_name(p)));
	json_put(out, ",\"rest\":", plan_is_few(p) ? json_string(dtype_name(p->rest)) : json_null());
	fputs(",\"layers\":[", out);
	struct arena a = { 0 };
	int total, *numbers = session_numbers(p, &a, &total);
	for (int i = 0; i < p->layer_count; i++)
		json_put(out, i ? "," : "", layer_json(p, &p->layers[i], numbers[i]));
	arena_free(&a);
	json_put(out, "],\"summary\":", summary);
	json_put(out, ",\"needs\":", report_needs_json(p));
	json_put(out, ",\"warnings\":", warnings_json(s));
	fputs("}\n", out);
}

/* A quantity, with ~ before it if it is an upper bound and not 0. */
static char *marked(char *buf, bool upto, char *(*write)(char *, double), double quantity)
{
	bool mark = upto && quantity > 0;
	buf[0] = '~';
	write(buf + mark, quantity);
	return buf;
}

/* Prefix of a total with gaps. A total of upper bounds is an estimate, not a lower bound, so it has no
 * prefix; the gaps are listed after it. */
static const char *total_prefix(const struct plan *p, int unknown_layers)
{
	return unknown_layers && !p->upto ? "at least " : "";
}

static void layers_summary(const struct session *s, FILE *out)
{
	const struct plan *p = session_plan(s);
	char flops[STR_QUANTITY + 1], bytes[STR_QUANTITY + 1], weights[STR_QUANTITY];
	marked(flops, p->upto || (p->at_least && !p->unknown_flops_layers), str_flops, p->flops);
	marked(bytes, p->upto || (p->at_least && !p->unknown_bytes_layers), str_bytes, p->bytes);
	struct arena a = { 0 };
	int listed;
	session_numbers(p, &a, &listed);
	fprintf(out, "%d layer%s", p->layer_count, p->layer_count == 1 ? "" : "s");
	if (listed < p->layer_count)
		fprintf(out, " (%d at run time)", listed);
	fprintf(out, ", %d distinct problem%s, %s%s, %s%s moved, weights %s", p->problem_count,
		p->problem_count == 1 ? "" : "s", total_prefix(p, p->unknown_flops_layers), flops,
		total_prefix(p, p->unknown_bytes_layers), bytes,
		str_bytes(weights, p->weight_bytes));
	const char *head = "; not known: ";
	const struct {
		const char *of;
		int count;
		const char *what;
	} gaps[] = { { "FLOPs of ", p->unknown_flops_layers, "layer" },
		{ "bytes of ", p->unknown_bytes_layers, "layer" }, { "", p->unknown_shapes, "shape" } };
	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		if (gaps[i].count)
			fprintf(out, "%s%s%d %s%s", head, gaps[i].of, gaps[i].count, gaps[i].what,
				gaps[i].count == 1 ? "" : "s");
		head = gaps[i].count ? ", " : head;
	}
	fputc('\n', out);
	report_needs_text(p, out);
	for (int i = 0; i < session_model(s)->warning_count; i++)
		fprintf(out, "warning: %s\n", session_model(s)->warnings[i]);
	for (int i = 0; i < p->warning_count; i++)
		fprintf(out, "warning: %s\n", text_clean(&a, text_of(p->warnings[i])));
	arena_free(&a);
}

void report_layers_text(const struct session *s, bool constants, FILE *out)
{
	const struct plan *p = session_plan(s);
	struct table t = { .wanted = IN_TEXT };
	int total;
	session_numbers(p, &t.arena, &total);
	layers_table(&t, s, constants);
	table_print_text(&t, report_most(out), out);
	layers_summary(s, out);
	if (total < p->layer_count)
		fprintf(out, "%d of the layers only compute%s constants%s\n", p->layer_count - total,
			p->layer_count - total == 1 ? "s" : "",
			constants ? "" : "; --constants lists them too");
	report_given_text(s, out);
	table_free(&t);
}
