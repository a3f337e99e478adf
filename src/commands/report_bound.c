/* The bound as text: the total and how far to trust it, then costs, what-ifs and what limits. */
#include "config.h"

#include "commands/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problem/libraries.h"
#include "session/type_lack.h"

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
	fprintf(out, "%s\n", report_device(&a, d->model, d->stack));
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

/* A duration in its column, marked ~ if it is from partial sums; an unknown one has no mark. */
static void duration_cell(double ns, bool complete, FILE *out)
{
	char text[STR_QUANTITY];
	fprintf(out, " %s%9s", complete || isnan(ns) ? " " : "~", str_duration(text, ns));
}

static void effect_text(const struct what_if_effect *e, const struct analysis *a, bool described, FILE *out)
{
	if (e->row->show == SHOW_ON && !e->on && !e->available)
		return;
	char word[WHAT_IF_WORD_SIZE], why[WHAT_IF_WHY_SIZE];
	int name = (int)strlen(e->row->name), over = name > 11 ? name - 11 : 0;
	fprintf(out, "  %-11s %-*s", e->row->name, 10 - over,
		what_if_word(e->row, &a->scenario, word, sizeof(word)));
	if (!e->available) {
		fprintf(out, "not available here: %s\n", e->row->absent);
		return;
	}
	double on = e->on ? a->total_ns : e->total_ns, off = e->on ? e->total_ns : a->total_ns;
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
	else if (described && isnan(e->saves_ns) && e->row->get(&a->scenario) == PARALLEL_MEASURED &&
		strcmp(e->row->name, "parallel") == 0)
		fprintf(out, "  unknown: branches side by side have no estimate");
	bool fusion = strcmp(e->row->name, "fusion") == 0;
	if (e->layers >= 0)
		fprintf(out, "  %d layer%s", e->layers, e->layers == 1 ? "" : "s");
	if (e->unavailable_problems)
		fprintf(out, "  %d %sproblem%s %s", e->unavailable_problems, fusion ? "fused " : "",
			e->unavailable_problems == 1 ? "" : "s",
			fusion ? "unsupported or failed" : "with a result on one side only");
	if (e->noisy_problems && !e->unmeasured_problems)
		fprintf(out, "  %d noisy", e->noisy_problems);
	if (*what_if_why(e->row, e->available, e->on, why, sizeof(why)))
		fprintf(out, "  %s", why);
	if (*what_if_tried(e->row, &a->scenario, word, sizeof(word)))
		fprintf(out, "  %s", word);
	fputc('\n', out);
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

static void effects_text(const struct session *s, FILE *out)
{
	fprintf(out, "what-if       now           saves      total    speedup\n");
	bool noisy = false;
	int count;
	const struct what_if_effect *effects = session_effects(s, &count);
	for (int i = 0; i < count; i++) {
		effect_text(&effects[i], session_analysis(s), session_described(s) != NULL, out);
		noisy |= effects[i].noisy_problems && !effects[i].unmeasured_problems;
	}
	fprintf(out,
		"  (total: with the what-if on; saves, speedup: on against off; ~: missing layers, or "
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

static int greater(int a, int b)
{
	return a > b ? a : b;
}

#define COSTLY_SHOWN 20
#define COSTLY_ALL 40 /* models with at most this number of layers with a cost are listed in full */
#define GAPS_SHOWN 10

#define NAME_PIPED 100 /* not a terminal: a longer name moves the rest of its row, no other row */

/* The larger of both widths; piped, a name that is longer than its column can be does not count. */
static int name_longest(struct arena *a, int longest, struct text name, bool piped)
{
	int columns = text_columns(text_clean(a, name));
	return columns > longest && !(piped && columns > NAME_PIPED) ? columns : longest;
}

/* Width of the name column if the other columns need `others`: that of the longest name, if it fits. */
static int name_width(int longest, int width, int others)
{
	int room = width == WIDTH_PIPE ? NAME_PIPED : width - others > 24 ? width - others : 24;
	return longest < 16 ? 16 : longest < room ? longest : room;
}

/* The name of a layer in a column of that width; `piped`: never cut. */
static const char *name_cell(struct arena *a, struct text name, int column, bool piped)
{
	const char *clean = text_clean(a, name);
	return piped && text_columns(clean) > column ? clean : text_pad(a, clean, column, true);
}

static const char *kernel_text(struct arena *a, const struct layer_cost *c, const struct plan_layer *l)
{
	return c->group ? c->group->pattern : text_clean(a, l->node->op);
}

/* Column widths of the table, for the rows that are shown; 0: the column is left out. */
struct cost_columns {
	int name, kernel, limit, algorithm;
	bool piped;
};
#define COSTS_FIXED 26  /* columns of number, cost, share and the blanks between these and the name */
#define LIMIT_USEFUL 16 /* shows what limits a layer and the share */

/* In a narrow terminal the last columns are left out, then the operator. */
static void columns_fit(struct cost_columns *c, int longest, int width)
{
	int others = COSTS_FIXED + 1 + c->kernel + 2, useful = width - others - LIMIT_USEFUL;
	c->name = name_width(longest, width, others + c->limit + 3 + c->algorithm);
	if (c->piped)
		return;
	if (c->name > useful && others + c->name + c->limit + 2 + c->algorithm > width)
		c->name = useful > 16 ? useful : 16;
	int room = width - others - c->name;
	if (room - c->limit < 2 + (int)strlen("algorithm"))
		c->algorithm = 0;
	if (room < (int)strlen("bound by"))
		c->limit = 0;
	if (COSTS_FIXED + c->name + 1 + c->kernel > width) {
		c->kernel = 0;
		c->name = width - COSTS_FIXED;
	}
}

static struct limit limit_here(const struct session *s, int layer)
{
	return limit_of_layer(session_analysis(s), session_plan(s), session_peaks(s), layer);
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
	struct cost_columns c = { .kernel = 2, .limit = 8, .piped = width == WIDTH_PIPE };
	int longest = 0, kernel_most = width >= 120 ? 40 : width >= 80 ? 18 : 10;
	c.algorithm = 9;
	for (int i = 0; i < shown; i++) {
		const struct layer_cost *cost = &session_analysis(s)->layers[order[i].layer];
		const struct plan_layer *l = &session_plan(s)->layers[order[i].layer];
		longest = name_longest(a, longest, l->name, c.piped);
		c.kernel = greater(c.kernel, text_columns(kernel_text(a, cost, l)));
		c.limit = greater(c.limit, text_columns(limit_text(a, s, order[i].layer)));
		c.algorithm = greater(c.algorithm,
			cost->result ? text_columns(cost->result->algorithm.name) : 0);
	}
	c.kernel = c.kernel < kernel_most ? c.kernel : kernel_most;
	columns_fit(&c, longest, width);
	return c;
}

static const char *kernel_cell(struct arena *a, const char *text, const struct cost_columns *w)
{
	return w->kernel ? arena_printf(a, " %s", text_pad(a, text, w->kernel, false)) : "";
}

static void cost_line(struct arena *a, const struct session *s, int layer, int number,
	const struct cost_columns *w, const struct report_fit *f)
{
	const struct analysis *an = session_analysis(s);
	const struct layer_cost *c = &an->layers[layer];
	const struct plan_layer *l = &session_plan(s)->layers[layer];
	bool guess = cost_is_guess(c);
	char cost[STR_QUANTITY];
	report_line(f->to, f->most, "%5d  %s%s %s%9s %7s  %s  %s", number,
		name_cell(a, l->name, w->name, w->piped), kernel_cell(a, kernel_text(a, c, l), w),
		c->mistrusted	? "!"
			: guess ? "~"
				: " ",
		str_duration(cost, c->ns), arena_printf(a, "%s%.1f%%", analysis_share_mark(an),
			100 * c->ns / an->sequential_ns),
		w->limit ? text_pad(a, limit_text(a, s, layer), w->limit, false) : "",
		c->result && w->algorithm ? text_clean(a, text_of(c->result->algorithm.name)) : "");
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
	int shown = 0, total, *numbers = session_numbers(session_plan(s), &a, &total);
	for (int i = 0; i < an->layer_count; i++)
		order[i] = (struct dear){ i, an->layers[i].ns };
	qsort(order, (size_t)an->layer_count, sizeof(*order), dear_compare);
	while (shown < an->layer_count && order[shown].ns > 0)
		shown++;
	const char *title = "layers of highest cost";
	bool some = shown > COSTLY_ALL;
	shown = some ? COSTLY_SHOWN : shown;
	struct cost_columns w = cost_columns(&a, s, order, shown, f->width);
	title = some && text_columns(title) <= w.name ? title : "layers by cost";
	if (shown)
		report_line(f->to, f->most, "%5s  %s%s %10s %7s  %s%s", "layer",
			text_pad(&a, title, w.name, false), kernel_cell(&a, "op", &w), "cost", "share",
			w.algorithm ? text_pad(&a, "bound by", w.limit, false) : w.limit ? "bound by" : "",
			w.algorithm ? "  algorithm" : "");
	for (int i = 0; i < shown; i++)
		cost_line(&a, s, order[i].layer, numbers[order[i].layer], &w, f);
	if (shown)
		limits_text(&a, s, order, shown, f->to);
	arena_free(&a);
}

/* Layers that are not in the total, or only in part. */
static bool is_gap(const struct layer_cost *c)
{
	return c->origin == ORIGIN_MISSING || c->origin == ORIGIN_UNSUPPORTED || c->at_least;
}

static void gaps_text(const struct session *s, const struct report_fit *f)
{
	const struct analysis *an = session_analysis(s);
	const struct plan *p = session_plan(s);
	struct arena a = { 0 };
	int *gaps = ARENA_ARRAY(&a, int, GAPS_SHOWN), count = 0, all = 0, name = 0, op = 0;
	int total, *numbers = session_numbers(p, &a, &total);
	for (int i = 0; i < an->layer_count; i++) {
		if (!is_gap(&an->layers[i]) || all++ >= GAPS_SHOWN)
			continue;
		gaps[count++] = i;
		name = name_longest(&a, name, p->layers[i].name, f->width == WIDTH_PIPE);
		op = greater(op, text_columns(text_clean(&a, p->layers[i].node->op)));
	}
	int op_most = f->width == WIDTH_PIPE ? 40 : 18;
	op = op < op_most ? op : op_most;
	name = name_width(name, f->width, 40 + op);
	if (all > count)
		fprintf(f->to, "not in the total (first %d of %d):\n", count, all);
	else if (count)
		fprintf(f->to, "not in the total:\n");
	for (int i = 0; i < count; i++) {
		const struct layer_cost *c = &an->layers[gaps[i]];
		const struct plan_layer *l = &p->layers[gaps[i]];
		const char *why = c->why ? text_clean(&a, text_of(c->why)) :
			c->origin == ORIGIN_MISSING ? "not measured" : "";
		report_line(f->to, f->most, "%5d  %s %s %s%s%s", numbers[gaps[i]],
			name_cell(&a, l->name, name, f->width == WIDTH_PIPE),
			text_pad(&a, text_clean(&a, l->node->op), op, false),
			c->at_least ? "in part" : origin_name(c->origin), *why ? ": " : "", why);
	}
	arena_free(&a);
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
	effects_text(s, f.to);
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
