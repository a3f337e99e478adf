/* The bound as text: the total and how far to trust it, then costs, what-ifs and what limits. */
#include "config.h"

#include "commands/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problem/libraries.h"
#include "session/type_lack.h"
#include "table/tables/costs.h"

#define WIDTH_LEAST 80  /* of tables; the bound's go down to WIDTH_NARROW */

int report_disturbed(const struct analysis *a)
{
	int count = 0;
	for (int i = 0; i < a->layer_count; i++)
		count += a->layers[i].result && a->layers[i].result->stats.stop == STOP_DISTURBED;
	return count;
}

void report_libraries_text(const struct device *d, const char *before, FILE *out)
{
	struct arena a = { 0 };
	struct library *l;
	int count = libraries_of(d, &a, &l);
	for (int i = 0; i < count; i++)
		if (!l[i].present)
			fprintf(out, "%s: %s\n", before, library_missing(&a, &l[i]));
	arena_free(&a);
}

void report_head_text(const struct session *s, int most, FILE *out)
{
	const struct plan *p = session_plan(s);
	const struct device *d = session_device(s);
	struct arena a = { 0 };
	struct str plan = { 0 };
	if (p->batch)
		str_addf(&plan, "  batch %lld", (long long)p->batch);
	for (int i = 0; i < p->binding_count; i++)
		if (!p->batch || !text_is(p->bindings[i].name, "batch"))
			str_addf(&plan, "  %s %lld", text_clean(&a, p->bindings[i].name),
				(long long)p->bindings[i].value);
	char types[PLAN_TYPES_SIZE];
	str_addf(&plan, "  %s%s", plan_types_text(p, types),
		session_scenario(s)->matrix ? "  on matrix units" : "");
	report_path_line(out, most, "", session_model(s)->path, plan.p);
	report_given_text(s, out);
	report_device_line(out, 0, d->model, d->stack);
	report_libraries_text(d, "warning", out);
	fputc('\n', out);
	str_free(&plan);
	arena_free(&a);
}

/* What sets the parallel bound. */
static void parallel_text(const struct session *s, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	char path[STR_QUANTITY];
	if (a->scenario.parallel == PARALLEL_MEASURED)
		report_besides_text(s, out);
	else if (a->scenario.parallel == PARALLEL_PATH)
		fprintf(out, "limited by    the longest path, with any number of layers at the same time\n");
	else if (a->limit)
		fprintf(out, "limited by    %s at its peak (the longest path: %s%s)\n", a->limit,
			a->estimated ? "~" : "", str_duration(path, a->path_ns));
	else
		fprintf(out, "limited by    the longest path%s\n",
			isnan(a->resource_ns) ? "; the peaks of memory and units are unknown" : "");
}

static void total_text(const struct session *s, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	char bound[STR_QUANTITY], other[STR_QUANTITY];
	bool parallel = a->scenario.parallel;
	if (a->estimated && !isnan(a->total_ns))
		fprintf(out, "lower bound   %s%s  %s; no execution with these what-ifs takes less\n",
			a->complete ? "" : "at least ", str_duration(bound, a->bound_ns),
			report_bound_kind(a));
	if (isnan(a->total_ns))
		fprintf(out, "lower bound   unknown: nothing%s is measured\n",
			a->border_ns > 0 ? " of the model" : "");
	else
		fprintf(out, "%s   %s%s  %s (%s %s%s)\n", a->estimated ? "estimate   " : "lower bound",
			analysis_mark(a), str_duration(bound, a->total_ns), report_bound_kind(a),
			parallel ? "sequential" : "parallel", analysis_other_mark(a),
			str_duration(other, parallel ? a->sequential_ns : a->parallel_ns));
	if (parallel && !isnan(a->total_ns))
		parallel_text(s, out);
}

/* How far the bound can be trusted: always within 80 columns. */
static void trust_text(const struct trust *t, FILE *out)
{
	struct str line = { 0 };
	trust_describe(t, 80 - 14, trust_commands, &line);
	fprintf(out, "trust         %s\n", line.p);
	str_free(&line);
}

void report_interval(const struct analysis *a, struct str *out)
{
	char lo[STR_QUANTITY], hi[STR_QUANTITY], load[STR_QUANTITY];
	if (isnan(a->hi_ns)) {
		str_puts(out, "unknown: no layer has an interval");
		return;
	}
	if (isnan(a->lo_ns))
		str_addf(out, "at most %s", str_duration(hi, a->hi_ns));
	else
		str_addf(out, "%s to %s", str_duration(lo, a->lo_ns), str_duration(hi, a->hi_ns));
	str_addf(out, "  (%s", a->estimated ? "80% of real kernels" : "95%");
	if (a->load_ns > 0)
		str_addf(out, "; other work may have added %s", str_duration(load, a->load_ns));
	if (a->range_intervals)
		str_addf(out, "; %d use%s the range (<6 samples)", a->range_intervals,
			a->range_intervals == 1 ? "s" : "");
	if (a->without_interval)
		str_addf(out, "; %d use%s the median", a->without_interval,
			a->without_interval == 1 ? "s" : "");
	str_puts(out, ")");
}

static void interval_text(const struct analysis *a, FILE *out)
{
	struct str text = { 0 };
	if (isnan(a->total_ns))
		return;
	report_interval(a, &text);
	fprintf(out, "%s      %s\n", a->estimated ? "range   " : "interval", text.p);
	str_free(&text);
}

/* How far estimates of a generation of GPUs were from published latencies. */
static void error_text(int sm, FILE *out)
{
	const struct calibration_generation *g = calibration_generation(sm);
	fprintf(out,
		"error         %.0f%% (median), %.0f%% (90th percentile) beside published latencies on\n"
		"              %s%s, each device left out of the fit\n",
		100 * g->error_median, 100 * g->error_most, g->figures ? "" : "other GPUs than ", g->name);
}

/* Where estimates come from, and how many layers have no row of their own. */
static void calibration_text(const struct analysis *a, FILE *out)
{
	const struct calibration_row *row = NULL;
	int pure = 0;
	for (int i = 0; i < a->layer_count; i++) {
		const struct layer_cost *c = &a->layers[i];
		row = c->row ? c->row : row;
		pure += c->origin == ORIGIN_ESTIMATED && !c->row && !c->bodies;
	}
	if (!a->coverage.estimated)
		return;
	if (row)
		error_text(a->peaks->sm, out);
	fprintf(out, "estimates     ");
	if (row)
		fprintf(out, "peaks times the efficiency of %s",
			calibration_library_name(row->library));
	if (row && a->coverage.nearest)
		fprintf(out, "; %d layer%s of the closest kind of kernel", a->coverage.nearest,
			a->coverage.nearest == 1 ? " has that" : "s have that");
	if (pure)
		fprintf(out, "%s%d by the peaks alone", row ? "; " : "", pure);
	fprintf(out, "%s\n", row && !a->scenario.amortized ? "; launches by cuDNN 7.6" : "");
}

const char *report_type_option(const struct session *s)
{
	return session_plan(s)->own_types ? "" : dtype_name(session_dtype(s));
}

static void disturbed_text(const struct session *s, const struct analysis *a, FILE *out)
{
	const char *type = report_type_option(s);
	int count = report_disturbed(a);
	if (count)
		fprintf(out,
			"noisy         %d layer%s measured while other work disturbed the machine; the "
			"interval covers all samples.\n"
			"              On a quiet machine run: benanza bench --shaky%s%s MODEL\n",
			count, count == 1 ? "" : "s", *type ? " -t " : "", type);
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

static void lack_text(const struct session *s, FILE *out)
{
	struct arena a = { 0 };
	struct type_lack lack = type_lack_of(session_plan(s), session_analysis(s), &a);
	if (lack.count) {
		fputs("type          ", out);
		report_wrapped(arena_printf(&a, "%s (-t f32)", type_lack_text(&lack, &a)), 14,
			report_columns(out), out);
	}
	arena_free(&a);
}

static void border_text(const struct session *s, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	int casts = session_plan(s)->border_count;
	char border[STR_QUANTITY];
	struct arena scratch = { 0 };
	const char *what = !a->conversions ? "casts at model inputs and outputs"
					   : arena_printf(&scratch, "%s%d layout conversion%s",
						     casts ? "casts at model inputs and outputs and " : "",
						     a->conversions, a->conversions == 1 ? "" : "s");
	if (isnan(a->border_ns))
		fprintf(out, "conversions   %s, not measured\n", what);
	else if (casts || a->conversions)
		fprintf(out, "conversions   %s%s of %s, %s%s\n", a->border_estimated ? "~" : "",
			str_duration(border, a->border_ns), what,
			isnan(a->total_ns) ? "no bound: no layer is measured" : "included",
			a->layouts_exact ? "" : "; a better assignment of layouts may exist");
	else if (!a->layouts_exact)
		fprintf(out, "conversions   none; with further conversions, not measured, the total may be "
			"lower\n");
	arena_free(&scratch);
}

/* Launch isolated on a GPU: the host may take longer than the device. */
static void launch_text(const struct analysis *a, FILE *out)
{
	char host[STR_QUANTITY];
	if (!isnan(a->enqueue_ns))
		fprintf(out, "host          %s%s to enqueue all layers, %s\n", a->complete ? "" : "at least ",
			str_duration(host, a->enqueue_ns),
			a->host_bound ? "longer than the device's time: it is the bound"
				      : "less than the device's time");
}

static void bound_text(const struct session *s, const struct trust *t, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	const struct coverage *c = &a->coverage;
	total_text(s, out);
	trust_text(t, out);
	interval_text(a, out);
	report_lack_text(s, out);
	disturbed_text(s, a, out);
	contradicted_text(&t->against, out);
	int gaps = c->missing + c->unsupported, shown;
	struct arena scratch = { 0 };
	session_numbers(session_plan(s), &scratch, &shown);
	arena_free(&scratch);
	int folded = c->layers - shown;
	fprintf(out, "coverage      %d layer%s: %d measured, %d by proxy, %d free", shown,
		shown == 1 ? "" : "s", c->measured, c->proxy, c->free - folded);
	if (c->folded)
		fprintf(out, " (%d removed by fold)", c->folded);
	fprintf(out, ", %d fused", c->fused);
	if (c->estimated)
		fprintf(out, ", %d estimated", c->estimated);
	if (c->assumed)
		fprintf(out, ", %d given", c->assumed);
	if (gaps)
		fprintf(out, ", %d not measured (%d unsupported)", gaps, c->unsupported);
	if (!isnan(c->flops_measured_share))
		fprintf(out, "; %.1f%% of the FLOPs", 100 * c->flops_measured_share);
	if (c->cost_proxy_share > 0)
		fprintf(out, "; ~%.1f%% of the cost by proxy", 100 * c->cost_proxy_share);
	if (folded)
		fprintf(out, "; %d more only compute%s constants", folded, folded == 1 ? "s" : "");
	fputc('\n', out);
	lack_text(s, out);
	calibration_text(a, out);
	border_text(s, out);
	launch_text(a, out);
	char roofline[STR_QUANTITY];
	if (!isnan(a->resource_ns) && a->scenario.parallel != PARALLEL_RESOURCES)
		fprintf(out,
			"resources     %s%s  (the longest path, or the busiest of memory, caches and units "
			"at its peak)\n",
			analysis_mark(a), str_duration(roofline, a->resource_ns));
	if (!isnan(a->roofline_ns))
		fprintf(out, "roofline      %s of all layers", str_duration(roofline, a->roofline_ns));
	if (!isnan(a->roofline_ns) && a->above_peak)
		fprintf(out, " (of %d above a peak: the cost)", a->above_peak);
	if (!isnan(a->roofline_ns))
		fputc('\n', out);
	report_bound_uses(s, out);
	if (c->mistrusted)
		fprintf(out,
			"suspect       %d layer%s, %s%.1f%% of the cost, marked !: faster than %g of the "
			"roofline; the measurement or a\n"
			"              measured peak is wrong. Measure again: benanza bench --again\n",
			c->mistrusted, c->mistrusted == 1 ? "" : "s", analysis_share_mark(a),
			100 * c->cost_mistrusted_share,
			ROOFLINE_TRUST);
	fprintf(out, a->scenario.layouts != LAYOUTS_FREE ? "\n" :
		"not included  reorders between layers' layouts\n\n");
}

#define REASONS_SHOWN 8

/* Where a pattern is found that is no group, one line a reason. */
static void misses_text(const struct session *s, FILE *out)
{
	const struct fusion *f = session_fusion(s);
	const struct fusion_miss *first[REASONS_SHOWN];
	int places[REASONS_SHOWN], count = 0;
	struct arena a = { 0 };
	for (int i = 0; i < f->miss_count; i++) {
		int at = 0;
		while (at < count && strcmp(first[at]->why, f->misses[i].why) != 0)
			at++;
		if (at == REASONS_SHOWN)
			continue;
		if (at == count) {
			first[count] = &f->misses[i];
			places[count++] = 0;
		}
		places[at]++;
	}
	for (int i = 0; i < count; i++)
		fprintf(out, "not fused: %s at %s%s: %s\n", first[i]->pattern,
			text_clean(&a, session_plan(s)->layers[first[i]->layer].name),
			places[i] > 1 ? arena_printf(&a, " (%d places)", places[i]) : "", first[i]->why);
	if (count)
		fputc('\n', out);
	arena_free(&a);
}

static void effects_text(const struct session *s, const struct report_fit *f)
{
	struct table t = { 0 };
	effects_table(&t, s, IN_TEXT);
	table_print_text(&t, f->most, f->to);
	fputc('\n', f->to);
	table_free(&t);
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

#define COSTLY_SHOWN 20
#define COSTLY_ALL 40 /* models with at most this number of layers with a cost are listed in full */
static struct limit limit_here(const struct session *s, int layer)
{
	return limit_of_layer(session_analysis(s), session_plan(s), session_peaks(s), layer);
}

/* Below the table: what "bound by" is, the marks in it, and each reason why it is unknown, once. */
static void limits_text(
	struct arena *a, const struct session *s, const struct dear *order, int shown, FILE *out)
{
	struct limit *limits = ARENA_ARRAY(a, struct limit, shown);
	bool over = false;
	fprintf(out,
		"       (bound by: the peak that limits the layer, and the share of it that the layer "
		"reaches;\n       overhead: the share of the cost that the layer takes without any work)\n");
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

static void costs_text(const struct session *s, const struct report_fit *f)
{
	const struct analysis *an = session_analysis(s);
	struct arena a = { 0 };
	struct dear *order = ARENA_ARRAY(&a, struct dear, an->layer_count);
	int shown = 0;
	for (int i = 0; i < an->layer_count; i++)
		order[i] = (struct dear){ i, an->layers[i].ns };
	qsort(order, (size_t)an->layer_count, sizeof(*order), dear_compare);
	while (shown < an->layer_count && order[shown].ns > 0)
		shown++;
	bool some = shown > COSTLY_ALL;
	shown = some ? COSTLY_SHOWN : shown;
	int *layers = ARENA_ARRAY(&a, int, shown + 1);
	for (int i = 0; i < shown; i++)
		layers[i] = order[i].layer;
	struct table t = { 0 };
	costs_columns(&t, some ? "layers of highest cost" : "layers by cost");
	costs_rows(&t, s, layers, shown, IN_TEXT);
	if (shown) {
		table_print_text(&t, f->most, f->to);
		limits_text(&a, s, order, shown, f->to);
	}
	table_free(&t);
	arena_free(&a);
}

static void gaps_text(const struct session *s, const struct report_fit *f)
{
	struct table t = { 0 };
	gaps_table(&t, s);
	if (t.row_count)
		table_print_text(&t, f->most, f->to);
	table_free(&t);
}

#define LABEL 14 /* columns of a label and the blanks after it */

void report_bound_text(const struct session *s, const struct trust *t, FILE *out)
{
	struct report_fit f;
	report_fit_open(&f, out);
	report_head_text(s, f.most, f.to);
	report_fit_part(&f, 2);
	bound_text(s, t, f.to);
	report_fit_part(&f, LABEL);
	effects_text(s, &f);
	report_fit_part(&f, 4);
	misses_text(s, f.to);
	report_fit_part(&f, 2);
	costs_text(s, &f);
	gaps_text(s, &f);
	report_fit_part(&f, 7);
	report_needs_text(session_plan(s), f.to);
	report_fit_part(&f, 2);
	report_fit_close(&f);
}
