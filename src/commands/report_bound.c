#include "config.h"

#include "commands/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_LEAST 80
#define WIDTH_MOST 400
#define WIDTH_PIPE 100000 /* not a terminal: lines are not cut */

/* Layers whose measurement is noisy (docs/wire.md: stop "disturbed"). */
static int disturbed_count(const struct analysis *a)
{
	int count = 0;
	for (int i = 0; i < a->layer_count; i++)
		count += a->layers[i].result && a->layers[i].result->stats.stop == STOP_DISTURBED;
	return count;
}

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

static json_t *interval_json(double lo, double hi)
{
	return isnan(lo) || isnan(hi) ? json_null()
				      : json_pack("[o,o]", json_number_or_null(lo), json_number_or_null(hi));
}

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
	json_object_set_new(o, "flops_per_byte", json_number_or_null(l->intensity));
	if (l->why[0])
		json_object_set_new(o, "bound_by_why", json_string(l->why));
}

static json_t *layer_json(const struct session *s, const int *numbers, int i)
{
	const struct analysis *a = s->analysis;
	const struct plan *p = s->current->plan;
	json_t *bodies = bodies_json(&p->layers[i], &a->layers[i]);
	const struct layer_cost *l = &a->layers[i];
	bool known = l->origin != ORIGIN_MISSING && l->origin != ORIGIN_UNSUPPORTED;
	json_t *o = json_pack("{s:i, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "index", i, "cost_ns",
		json_number_or_null(known ? l->ns : NAN), "origin", origin_name(l->origin), "interval_ns",
		interval_json(l->lo, l->hi), "algorithm",
		l->result ? json_string(l->result->algorithm.name) : json_null(), "preferred_ns",
		json_number_or_null(l->preferred_ns), "roofline_ns", json_number_or_null(l->roofline_ns),
		"critical", l->critical, "slack_ns", json_number_or_null(l->slack_ns));
	struct limit limit = limit_of_layer(a, p, &s->peaks, i);
	limit_json(o, &limit);
	json_object_set_new(o, "name", json_text(p->layers[i].name));
	json_object_set_new(o, "op", json_text(p->layers[i].node->op));
	json_object_set_new(o, "number", numbers[i] ? json_integer(numbers[i]) : json_null());
	json_object_set_new(o, "start_ns", json_number_or_null(l->start_ns));
	if (l->group)
		json_object_set_new(o, "fused_into", json_integer(l->group->layers[0]));
	if (l->group && l->group->layers[0] == i) {
		json_object_set_new(o, "pattern", json_string(l->group->pattern));
		if (l->group->residual >= 0)
			json_object_set_new(o, "residual", json_integer(l->group->residual));
	}
	if (l->at_least)
		json_object_set_new(o, "at_least", json_true());
	if (l->mistrusted)
		json_object_set_new(o, "mistrusted", json_true());
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

static json_t *effects_json(const struct session *s)
{
	json_t *list = json_array();
	for (int i = 0; i < s->effect_count; i++) {
		const struct what_if_effect *e = &s->effects[i];
		double now = s->analysis->bound_ns;
		double on_ns = e->on ? now : e->bound_ns, off_ns = e->on ? e->bound_ns : now;
		bool known = e->available && !isnan(e->bound_ns);
		json_array_append_new(list,
			json_pack("{s:s, s:b, s:o, s:o, s:o, s:b, s:b, s:b, s:b, s:i, s:i, s:i}", "name",
				e->row->name, "on", e->on, "bound_ns",
				json_number_or_null(known ? e->bound_ns : NAN), "saves_ns",
				json_number_or_null(known ? e->saves_ns : NAN), "speedup",
				json_number_or_null(
					known && !isnan(e->saves_ns) && on_ns > 0 ? off_ns / on_ns : NAN),
				"available", e->available, "complete", e->complete, "estimated", e->estimated,
				"bound_complete", e->bound_complete, "unmeasured_problems",
				e->unmeasured_problems, "unavailable_problems", e->unavailable_problems,
				"noisy_problems", e->noisy_problems));
	}
	return list;
}

static json_t *coverage_json(const struct analysis *a)
{
	const struct coverage *c = &a->coverage;
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "layers", c->layers,
		"measured", c->measured, "proxy", c->proxy, "free", c->free, "fused", c->fused, "estimated",
		c->estimated, "assumed", c->assumed, "missing", c->missing, "unsupported", c->unsupported,
		"flops_measured_share", json_number_or_null(c->flops_measured_share), "cost_proxy_share",
		json_number_or_null(c->cost_proxy_share), "cost_estimated_share",
		json_number_or_null(c->cost_estimated_share));
}

static json_t *contradicted_json(const struct contradicted *c)
{
	return !c->executions ? json_null() : json_pack("{s:i, s:i, s:i, s:i}", "executions",
		c->executions, "layers", c->layers, "not_measured_again", c->not_again, "whole", c->whole);
}

json_t *report_bound_json(const struct session *s)
{
	const struct plan *p = s->current->plan;
	const struct analysis *a = s->analysis;
	const struct device *d = &s->device;
	char on[128];
	json_t *layers = json_array();
	struct arena scratch = { 0 };
	int total, *numbers = session_numbers(p, &scratch, &total);
	for (int i = 0; i < a->layer_count; i++)
		json_array_append_new(layers, layer_json(s, numbers, i));
	arena_free(&scratch);
	json_t *o = json_object();
	json_object_set_new(o, "model",
		json_pack("{s:o, s:o, s:i}", "path", json_text(text_of(s->model->path)), "name",
			json_text(s->model->graph->name), "nodes", s->model->graph->node_count));
	json_object_set_new(o, "device",
		json_pack("{s:s?, s:s?, s:s?, s:s?}", "name", d->name, "model", d->model, "runner", d->runner,
			"stack", d->stack));
	json_object_set_new(o, "scenario", json_pack("{s:o, s:s, s:o, s:s}", "batch",
		p->batch ? json_integer(p->batch) : json_null(), "dtype", dtype_name(p->dtype), "what_if",
		strings_json(scenario_text(&s->scenario, on, sizeof(on))), "cache", cache_name(a->cache)));
	json_object_set_new(json_object_get(o, "scenario"), "dims", report_dims_json(p));
	json_object_set_new(json_object_get(o, "scenario"), "dims_from", report_dims_from_json(s));
	json_object_set_new(o, "bound_ns", json_number_or_null(a->bound_ns));
	json_object_set_new(o, "sequential_ns", json_number_or_null(a->sequential_ns));
	json_object_set_new(o, "parallel_ns", json_number_or_null(a->parallel_ns));
	json_object_set_new(o, "resource_ns", json_number_or_null(a->resource_ns));
	json_object_set_new(o, "roofline_ns", json_number_or_null(a->roofline_ns));
	json_object_set_new(o, "border_ns", json_number_or_null(a->border_ns));
	json_object_set_new(o, "conversions", json_integer(a->conversions));
	json_object_set_new(o, "enqueue_ns", json_number_or_null(a->enqueue_ns));
	json_object_set_new(o, "estimated", json_boolean(a->estimated));
	json_object_set_new(o, "interval_ns", interval_json(a->lo_ns, a->hi_ns));
	json_object_set_new(o, "without_interval", json_integer(a->without_interval));
	json_object_set_new(o, "range_intervals", json_integer(a->range_intervals));
	json_object_set_new(o, "disturbed", json_integer(disturbed_count(a)));
	json_object_set_new(o, "complete", json_boolean(a->complete));
	json_object_set_new(o, "distinct", json_integer(p->problem_count));
	json_object_set_new(o, "coverage", coverage_json(a));
	json_object_set_new(o, "mistrusted",
		json_pack("{s:i, s:o}", "layers", a->coverage.mistrusted, "cost_share",
			json_number_or_null(a->coverage.cost_mistrusted_share)));
	json_object_set_new(o, "contradicted", contradicted_json(&s->contradicted));
	json_object_set_new(o, "what_if", effects_json(s));
	json_object_set_new(o, "notes",
		a->scenario.nxc ? json_array() : json_pack("[s]", "reorders between layers are not priced"));
	json_object_set_new(o, "needs", report_needs_json(p));
	json_object_set_new(o, "layers", layers);
	return o;
}

static const char *number_field(struct arena *a, double ns)
{
	return isnan(ns) ? "" : arena_printf(a, "%.1f", ns);
}

void report_bound_csv(const struct session *s, bool header, FILE *out)
{
	const struct plan *p = s->current->plan;
	struct arena a = { 0 }, kept = { 0 };
	int total, *numbers = session_numbers(p, &kept, &total);
	if (header)
		fputs("batch,dtype,index,name,op,origin,cost_ns,lo_ns,hi_ns,preferred_ns,critical,slack_ns,"
		      "algorithm,"
		      "number\n",
			out);
	for (int i = 0; i < s->analysis->layer_count; i++) {
		const struct layer_cost *c = &s->analysis->layers[i];
		report_csv_plan(out, p);
		fprintf(out, "%d,", i);
		report_csv_field(out, text_clean(&a, p->layers[i].name), ',');
		report_csv_field(out, text_clean(&a, p->layers[i].node->op), ',');
		fprintf(out, "%s,%s,%s,%s,%s,%d,%s,", origin_name(c->origin), number_field(&a, c->ns),
			number_field(&a, c->lo), number_field(&a, c->hi), number_field(&a, c->preferred_ns),
			c->critical, number_field(&a, c->slack_ns));
		report_csv_field(out, c->result ? c->result->algorithm.name : "", ',');
		report_csv_number(out, numbers[i]);
		arena_free(&a);
	}
	arena_free(&kept);
}

static void head_text(const struct session *s, FILE *out)
{
	const struct plan *p = s->current->plan;
	struct arena a = { 0 };
	struct str dims = { 0 };
	fprintf(out, "%s", text_clean(&a, text_of(s->model->path)));
	if (p->batch)
		fprintf(out, "  batch %lld", (long long)p->batch);
	for (int i = 0; i < p->binding_count; i++)
		if (!p->batch || !text_is(p->bindings[i].name, "batch"))
			fprintf(out, "  %s %lld", text_clean(&a, p->bindings[i].name),
				(long long)p->bindings[i].value);
	session_dims_describe(s, &dims);
	fprintf(out, "  %s\n", dtype_name(p->dtype));
	if (dims.n)
		fprintf(out, "dimensions: %s\n", dims.p);
	fprintf(out, "%s, %s\n\n", s->device.model ? s->device.model : "no device",
		s->device.stack ? s->device.stack : "");
	str_free(&dims);
	arena_free(&a);
}

static void total_text(const struct analysis *a, FILE *out)
{
	char bound[STR_QUANTITY], other[STR_QUANTITY];
	bool parallel = a->scenario.parallel;
	const char *least = analysis_mark(a);
	if (isnan(a->bound_ns))
		fprintf(out, "lower bound   unknown: nothing%s is measured\n",
			a->border_ns > 0 ? " of the model" : "");
	else
		fprintf(out, "lower bound   %s%s  %s (%s %s%s)\n", least, str_duration(bound, a->bound_ns),
			parallel ? "parallel" : "sequential", parallel ? "sequential" : "parallel", least,
			str_duration(other, parallel ? a->sequential_ns : a->parallel_ns));
}

/* The interval of the bound, and how many layers have no 95% interval. */
static void interval_text(const struct analysis *a, FILE *out)
{
	char lo[STR_QUANTITY], hi[STR_QUANTITY];
	if (isnan(a->bound_ns))
		return;
	if (isnan(a->lo_ns)) {
		fprintf(out, "interval      unknown: no layer has one\n");
		return;
	}
	fprintf(out, "interval      %s to %s  (%s of the layers' 95%% intervals", str_duration(lo, a->lo_ns),
		str_duration(hi, a->hi_ns), a->scenario.parallel ? "longest paths" : "sums");
	if (a->range_intervals || a->without_interval)
		fprintf(out, ";\n             ");
	if (a->range_intervals)
		fprintf(out, " %d use%s the range (<6 samples)%s", a->range_intervals,
			a->range_intervals == 1 ? "s" : "", a->without_interval ? ";" : "");
	if (a->without_interval)
		fprintf(out, " %d use%s the median", a->without_interval,
			a->without_interval == 1 ? "s" : "");
	fprintf(out, ")\n");
}

static void disturbed_text(const struct analysis *a, enum dtype dtype, FILE *out)
{
	int count = disturbed_count(a);
	if (count)
		fprintf(out,
			"noisy         %d layer%s measured while other work disturbed the machine; the "
			"interval covers all samples.\n"
			"              On a quiet machine run: benanza bench --shaky%s%s MODEL\n",
			count, count == 1 ? "" : "s", dtype == DTYPE_F32 ? "" : " -t ",
			dtype == DTYPE_F32 ? "" : dtype_name(dtype));
}

static void contradicted_text(const struct contradicted *c, FILE *out)
{
	if (c->layers || c->whole)
		fprintf(out, "contradicted  %d layer%s faster in an execution than in the bound%s:\n"
			"              benanza compare MODEL\n", c->layers, c->layers == 1 ? " is" : "s are",
			c->whole ? ", and the model as a whole" : "");
	if (c->not_again)
		fprintf(out, "              %d not measured again yet: benanza compare --run AGENT MODEL\n",
			c->not_again);
}

static void border_text(const struct session *s, FILE *out)
{
	const struct analysis *a = s->analysis;
	int casts = s->current->plan->border_count;
	char border[STR_QUANTITY];
	struct arena scratch = { 0 };
	const char *what = !a->conversions ? "casts at model inputs and outputs"
					   : arena_printf(&scratch, "%s%d layout conversion%s",
						     casts ? "casts at model inputs and outputs and " : "",
						     a->conversions, a->conversions == 1 ? "" : "s");
	if (isnan(a->border_ns))
		fprintf(out, "conversions   %s, not measured\n", what);
	else if (casts || a->conversions)
		fprintf(out, "conversions   %s%s of %s, %s\n", a->border_estimated ? "~" : "",
			str_duration(border, a->border_ns), what,
			isnan(a->bound_ns) ? "alone not a bound" : "included");
	arena_free(&scratch);
}

/* Launch isolated on a GPU: the host may take longer than the device. */
static void launch_text(const struct analysis *a, FILE *out)
{
	char host[STR_QUANTITY];
	if (!isnan(a->enqueue_ns))
		fprintf(out, "host          %s%s to enqueue all layers, %s\n", a->complete ? "" : "at least ",
			str_duration(host, a->enqueue_ns),
			a->host_bound ? "longer than the device's time: this is the bound"
				      : "less than the device's time");
}

static void bound_text(const struct session *s, FILE *out)
{
	const struct analysis *a = s->analysis;
	const struct coverage *c = &a->coverage;
	total_text(a, out);
	interval_text(a, out);
	disturbed_text(a, s->current->dtype, out);
	contradicted_text(&s->contradicted, out);
	int gaps = c->missing + c->unsupported, shown;
	struct arena scratch = { 0 };
	session_numbers(s->current->plan, &scratch, &shown);
	arena_free(&scratch);
	int folded = c->layers - shown;
	fprintf(out, "coverage      %d layer%s: %d measured, %d by proxy, %d free, %d fused", shown,
		shown == 1 ? "" : "s", c->measured, c->proxy, c->free - folded, c->fused);
	if (c->estimated)
		fprintf(out, ", %d estimated", c->estimated);
	if (c->assumed)
		fprintf(out, ", %d given", c->assumed);
	if (gaps)
		fprintf(out, ", %d not measured (%d unsupported)", gaps, c->unsupported);
	if (!isnan(c->flops_measured_share))
		fprintf(out, "; %.1f%% of the FLOPs", 100 * c->flops_measured_share);
	if (c->cost_proxy_share > 0)
		fprintf(out, "; %.1f%% of the cost by proxy", 100 * c->cost_proxy_share);
	if (folded)
		fprintf(out, "; %d more only compute%s constants", folded, folded == 1 ? "s" : "");
	fputc('\n', out);
	border_text(s, out);
	launch_text(a, out);
	char roofline[STR_QUANTITY];
	if (!isnan(a->resource_ns))
		fprintf(out,
			"resources     %s%s  (the longest path, or the busiest of memory, caches and units "
			"at its peak)\n",
			a->complete ? "" : "at least ", str_duration(roofline, a->resource_ns));
	if (!isnan(a->roofline_ns))
		fprintf(out, "roofline      %s of all layers\n", str_duration(roofline, a->roofline_ns));
	if (c->mistrusted)
		fprintf(out,
			"suspect       %d layer%s, %.1f%% of the cost, marked !: faster than %g of the "
			"roofline; the measurement or a\n"
			"              measured peak is wrong. Measure again: benanza bench --again\n",
			c->mistrusted, c->mistrusted == 1 ? "" : "s", 100 * c->cost_mistrusted_share,
			ROOFLINE_TRUST);
	fprintf(out, a->scenario.nxc ? "\n" : "not included  reorders between layers' layouts\n\n");
}

/* A duration in its column, marked ~ if it is from partial sums; an unknown one has no mark. */
static void duration_cell(double ns, bool complete, FILE *out)
{
	char text[STR_QUANTITY];
	fprintf(out, " %s%9s", complete || isnan(ns) ? " " : "~", str_duration(text, ns));
}

static void effect_text(const struct what_if_effect *e, const struct analysis *a, bool described, FILE *out)
{
	fprintf(out, "  %-11s %-10s", e->row->name, e->on ? e->row->on : e->row->off);
	if (!e->available) {
		fprintf(out, "not available here: %s\n", e->row->absent);
		return;
	}
	double on = e->on ? a->bound_ns : e->bound_ns, off = e->on ? e->bound_ns : a->bound_ns;
	duration_cell(e->saves_ns, e->complete && !e->estimated, out);
	if (!e->on && e->unmeasured_problems)
		on = NAN; /* a sum of other layers than the bound's */
	duration_cell(on, (e->on ? a->complete : e->bound_complete) && !e->estimated, out);
	if (on > 0 && !isnan(e->saves_ns))
		fprintf(out, "   %s%.2fx", e->complete && !e->estimated ? " " : "~", off / on);
	else
		fprintf(out, "    %5s", "-");
	if (e->unmeasured_problems && described)
		fprintf(out, "  unknown: %d problem%s no estimate", e->unmeasured_problems,
			e->unmeasured_problems == 1 ? " has" : "s have");
	else if (e->unmeasured_problems)
		fprintf(out, "  unknown until %d problem%s measured", e->unmeasured_problems,
			e->unmeasured_problems == 1 ? " is" : "s are");
	struct scenario only = { 0 };
	e->row->set(&only, true);
	if (e->unavailable_problems)
		fprintf(out, "  %d %sproblem%s %s", e->unavailable_problems, only.fusion ? "fused " : "",
			e->unavailable_problems == 1 ? "" : "s",
			only.fusion ? "unsupported or failed" : "with a result on one side only");
	if (e->noisy_problems && !e->unmeasured_problems)
		fprintf(out, "  %d noisy", e->noisy_problems);
	fputc('\n', out);
}

static void effects_text(const struct session *s, FILE *out)
{
	fprintf(out, "what-if       now           saves      total    speedup\n");
	bool noisy = false;
	for (int i = 0; i < s->effect_count; i++) {
		effect_text(&s->effects[i], s->analysis, s->described != NULL, out);
		noisy |= s->effects[i].noisy_problems && !s->effects[i].unmeasured_problems;
	}
	fprintf(out,
		"  (total: with it on; saves, speedup: on against off; ~: layers are missing, or "
		"estimates%s)\n\n",
		noisy ? ";\n   noisy: problems in either total whose measurement is noisy" : "");
}

struct dear {
	int layer;
	double ns;
};

/* Highest cost first, then in order; layers without a cost last. */
static int dear_compare(const void *x, const void *y)
{
	const struct dear *a = x, *b = y;
	double p = isnan(a->ns) ? -1 : a->ns, q = isnan(b->ns) ? -1 : b->ns;
	return p != q ? (p < q ? 1 : -1) : a->layer - b->layer;
}

int report_width(FILE *out)
{
	struct winsize size = { 0 };
	int64_t columns = 0;
	bool terminal = isatty(fileno(out));
	if (terminal && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	else if (!getenv("COLUMNS") || !text_to_int64(text_of(getenv("COLUMNS")), &columns))
		columns = terminal ? 0 : WIDTH_PIPE;
	if (columns >= WIDTH_PIPE)
		return WIDTH_PIPE;
	return columns < WIDTH_LEAST ? WIDTH_LEAST : columns > WIDTH_MOST ? WIDTH_MOST : (int)columns;
}

#define COSTLY_SHOWN 20
#define COSTLY_ALL 40 /* models with at most this number of layers with a cost are listed in full */
#define GAPS_SHOWN 10

/* Width of the name column if the other columns need `others`: that of the longest name, if it fits. */
static int name_width(int longest, int width, int others)
{
	int room = width - others > 24 ? width - others : 24;
	return longest < 16 ? 16 : longest < room ? longest : room;
}

static const char *kernel_text(struct arena *a, const struct layer_cost *c, const struct plan_layer *l)
{
	return c->group ? c->group->pattern : text_clean(a, l->node->op);
}

static int greater(int a, int b)
{
	return a > b ? a : b;
}

/* Column widths of the table, for the rows that are shown. */
struct cost_columns {
	int name, kernel, limit;
};

static struct limit limit_here(const struct session *s, int layer)
{
	return limit_of_layer(s->analysis, s->current->plan, &s->peaks, layer);
}

static const char *limit_text(struct arena *a, const struct session *s, int layer)
{
	struct limit l = limit_here(s, layer);
	struct str text = { 0 };
	limit_describe(&l, &text);
	const char *kept = arena_strndup(a, text.p, text.n);
	str_free(&text);
	return kept;
}

static struct cost_columns cost_columns(
	struct arena *a, const struct session *s, const struct dear *order, int shown, int width)
{
	struct cost_columns c = { .kernel = 2, .limit = 8 };
	int algorithm = 9, kernel_most = width >= 120 ? 40 : 18;
	for (int i = 0; i < shown; i++) {
		const struct layer_cost *cost = &s->analysis->layers[order[i].layer];
		const struct plan_layer *l = &s->current->plan->layers[order[i].layer];
		c.name = greater(c.name, text_columns(text_clean(a, l->name)));
		c.kernel = greater(c.kernel, text_columns(kernel_text(a, cost, l)));
		c.limit = greater(c.limit, text_columns(limit_text(a, s, order[i].layer)));
		algorithm = greater(algorithm, cost->result ? text_columns(cost->result->algorithm.name) : 0);
	}
	c.kernel = c.kernel < kernel_most || width == WIDTH_PIPE ? c.kernel : kernel_most;
	c.name = name_width(c.name, width, 32 + c.kernel + c.limit + algorithm);
	return c;
}

static void cost_line(struct arena *a, const struct session *s, int layer, int number,
	const struct cost_columns *w, FILE *out)
{
	const struct analysis *an = s->analysis;
	const struct layer_cost *c = &an->layers[layer];
	const struct plan_layer *l = &s->current->plan->layers[layer];
	bool guess = c->origin == ORIGIN_PROXY || c->origin == ORIGIN_ESTIMATED || c->at_least;
	char cost[STR_QUANTITY];
	fprintf(out, "%5d  %s %s %s%9s %6.1f%%  %s  %s\n", number,
		text_pad(a, text_clean(a, l->name), w->name, true),
		text_pad(a, kernel_text(a, c, l), w->kernel, false),
		c->mistrusted	? "!"
			: guess ? "~"
				: " ",
		str_duration(cost, c->ns), 100 * c->ns / an->sequential_ns,
		text_pad(a, limit_text(a, s, layer), w->limit, false),
		c->result ? text_clean(a, text_of(c->result->algorithm.name)) : "");
}

/* Below the table: what "bound by" is, the marks in it, and each reason why it is unknown, once. */
static void limits_text(
	struct arena *a, const struct session *s, const struct dear *order, int shown, FILE *out)
{
	struct limit *limits = ARENA_ARRAY(a, struct limit, shown);
	bool over = false;
	fprintf(out,
		"       (bound by: the peak that limits the layer, and the share of it that the layer "
		"reaches)\n");
	for (int i = 0; i < shown; i++) {
		limits[i] = limit_here(s, order[i].layer);
		over |= limit_is_over(&limits[i]);
	}
	if (over)
		fprintf(out,
			"       (?: above the measured peak: the measurement is noisy, or that peak is too "
			"low)\n");
	for (int i = 0; i < shown; i++) {
		int count = 0, first = i;
		for (int k = 0; k < shown && limits[i].by == LIMIT_UNKNOWN; k++) {
			bool same =
				limits[k].by == LIMIT_UNKNOWN && strcmp(limits[k].why, limits[i].why) == 0;
			count += same;
			first = same && k < first ? k : first;
		}
		if (count && first == i)
			fprintf(out, "       (-, %d layer%s: %s)\n", count, count == 1 ? "" : "s",
				limits[i].why);
	}
	fputc('\n', out);
}

static void costs_text(const struct session *s, int width, FILE *out)
{
	const struct analysis *an = s->analysis;
	struct arena a = { 0 };
	struct dear *order = ARENA_ARRAY(&a, struct dear, an->layer_count);
	int shown = 0, total, *numbers = session_numbers(s->current->plan, &a, &total);
	for (int i = 0; i < an->layer_count; i++)
		order[i] = (struct dear){ i, an->layers[i].ns };
	qsort(order, (size_t)an->layer_count, sizeof(*order), dear_compare);
	while (shown < an->layer_count && order[shown].ns > 0)
		shown++;
	const char *title = shown > COSTLY_ALL ? "layers of highest cost" : "layers by cost";
	shown = shown > COSTLY_ALL ? COSTLY_SHOWN : shown;
	struct cost_columns w = cost_columns(&a, s, order, shown, width);
	if (shown)
		fprintf(out, "%5s  %s %s %10s %7s  %s  %s\n", "layer", text_pad(&a, title, w.name, false),
			text_pad(&a, "op", w.kernel, false), "cost", "share",
			text_pad(&a, "bound by", w.limit, false), "algorithm");
	for (int i = 0; i < shown; i++)
		cost_line(&a, s, order[i].layer, numbers[order[i].layer], &w, out);
	if (shown)
		limits_text(&a, s, order, shown, out);
	arena_free(&a);
}

/* Layers that are not in the total, or only in part. */
static bool is_gap(const struct layer_cost *c)
{
	return c->origin == ORIGIN_MISSING || c->origin == ORIGIN_UNSUPPORTED || c->at_least;
}

static void gaps_text(const struct session *s, int width, FILE *out)
{
	const struct analysis *an = s->analysis;
	const struct plan *p = s->current->plan;
	struct arena a = { 0 };
	int *gaps = ARENA_ARRAY(&a, int, GAPS_SHOWN), count = 0, all = 0, name = 0, op = 0;
	int total, *numbers = session_numbers(p, &a, &total);
	for (int i = 0; i < an->layer_count; i++) {
		if (!is_gap(&an->layers[i]) || all++ >= GAPS_SHOWN)
			continue;
		gaps[count++] = i;
		name = greater(name, text_columns(text_clean(&a, p->layers[i].name)));
		op = greater(op, text_columns(text_clean(&a, p->layers[i].node->op)));
	}
	op = op < 18 || width == WIDTH_PIPE ? op : 18;
	name = name_width(name, width, 40 + op);
	if (all > count)
		fprintf(out, "not in the total (first %d of %d):\n", count, all);
	else if (count)
		fprintf(out, "not in the total:\n");
	for (int i = 0; i < count; i++) {
		const struct layer_cost *c = &an->layers[gaps[i]];
		const struct plan_layer *l = &p->layers[gaps[i]];
		const char *why = c->why ? text_clean(&a, text_of(c->why)) :
			c->origin == ORIGIN_MISSING ? "not measured" : "";
		fprintf(out, "%5d  %s %s %s%s%s\n", numbers[gaps[i]],
			text_pad(&a, text_clean(&a, l->name), name, true),
			text_pad(&a, text_clean(&a, l->node->op), op, false),
			c->at_least ? "in part" : origin_name(c->origin), *why ? ": " : "", why);
	}
	arena_free(&a);
}

void report_bound_text(const struct session *s, FILE *out)
{
	head_text(s, out);
	bound_text(s, out);
	effects_text(s, out);
	int width = report_width(out);
	costs_text(s, width, out);
	gaps_text(s, width, out);
	report_needs_text(s->current->plan, out);
}
