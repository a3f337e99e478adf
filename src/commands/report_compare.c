/* Executions beside the bound as text, in columns as wide as their texts. */
#include "config.h"

#include "analyze/tables/charts.h"
#include "commands/compare.h"
#include "commands/report.h"
#include "problem/execution_figure.h"
#include "session/type_lack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BAR_COLUMNS 31
#define TOP_SHOWN 10

/* ---- columns of tables ---- */

#define WHOLE_LEAST 1000 /* no terminal has as many columns: texts are not cut */
#define WHOLE_PADDED 100 /* a longer one then moves the rest of its row, no other row */

/* The texts of a column that are shown. */
struct column {
	const char **texts;
	int count, width;
};

static struct column column_new(struct arena *a, int capacity)
{
	return (struct column){ .texts = ARENA_ARRAY(a, const char *, capacity + 1) };
}

/* As wide as its longest text, from `least` to `room` columns; longer texts are cut. */
static void column_fit(struct arena *a, struct column *c, int least, int room)
{
	bool whole = room > WHOLE_LEAST / 2;
	int longest = least;
	for (int i = 0; i < c->count; i++) {
		int columns = text_columns(c->texts[i]);
		longest = columns > longest && (!whole || columns <= WHOLE_PADDED) ? columns : longest;
	}
	c->width = longest <= room ? longest : room > least ? room : least;
	if (!whole)
		text_cut_names(a, c->texts, c->count, c->width);
}

static const char *cell(struct arena *a, const struct column *c, int i)
{
	bool fits = text_columns(c->texts[i]) <= c->width;
	return fits ? text_pad(a, c->texts[i], c->width, false) : c->texts[i];
}

static const char *duration(struct arena *a, double ns)
{
	char text[STR_QUANTITY];
	return arena_printf(a, "%s", str_duration(text, fabs(ns) < 0.05 ? 0 : ns));
}

static const char *change(struct arena *a, double ns)
{
	return arena_printf(a, "%s%s", ns < 0.05 ? "" : "+", duration(a, ns));
}

/* Adds "  word" if it is known. */
static void add_word(struct str *line, const char *word)
{
	if (*word)
		str_addf(line, "%s%s", line->n ? "  " : "", word);
}

static void who_text(struct arena *a, const struct execution *e, FILE *out)
{
	struct str line = { 0 };
	if (!strcmp(e->source, "option"))
		add_word(&line, "latency given with --latency");
	else
		add_word(&line, *e->framework ? e->framework : *e->source ? e->source : "execution");
	if (*e->version)
		str_addf(&line, " %s", e->version);
	add_word(&line, e->provider);
	add_word(&line, e->device);
	if (e->threads)
		str_addf(&line, "  %d thread%s", e->threads, e->threads == 1 ? "" : "s");
	add_word(&line, e->dtype);
	add_word(&line, strcmp(e->math, "strict") ? e->math : "");
	fprintf(out, "%s\n", text_cut(a, line.p, 80, false));
	str_free(&line);
}

static void model_text(struct arena *a, const struct session *s, FILE *out)
{
	const struct plan *p = session_plan(s);
	const char *batch = p->batch ? arena_printf(a, "  batch %lld", (long long)p->batch) : "";
	char types[PLAN_TYPES_SIZE];
	report_path_line(out, report_most(out), "", session_model(s)->path,
		arena_printf(a, "%s  %s", batch, plan_types_text(p, types)));
}

static const char *interval(struct arena *a, double lo, double hi)
{
	return isnan(lo) || isnan(hi) ? "" :
		arena_printf(a, "  %s to %s", duration(a, lo), duration(a, hi));
}

/* "what-ifs on: algorithm, launch" */
static const char *what_ifs(struct arena *a, const struct scenario *s)
{
	char on[SCENARIO_TEXT_SIZE];
	struct str list = { 0 };
	for (const char *p = scenario_text(s, on, sizeof(on)); *p; p++)
		str_addf(&list, *p == ',' ? ", " : "%c", *p);
	const char *kept = arena_printf(a, "what-ifs on: %s", list.n ? list.p : "none");
	str_free(&list);
	return kept;
}

/* "  (profiled runs ...)", "  noisy: a process ran on its core" */
static const char *measured_note(struct arena *a, const struct comparison *c)
{
	static const char *const from[] = { "", "", "profiled runs less the profiler's predicted cost",
		"sum of the layers; give --latency" };
	const struct reality *y = c->reality;
	const char *why = *c->execution->why ? c->execution->why : "other work disturbed it";
	const char *how = y->from == MEASURED_PROFILED && isnan(y->profiler_ns) ?
		"profiled runs, the profiler's cost included" : from[y->from];
	return arena_printf(a, "%s%s%s%s%s", *how ? "  (" : "", how, *how ? ")" : "",
		c->noisy ? "\nnoisy         " : "", c->noisy ? why : "");
}

static void ratio_text(const struct session *s, const struct reality *y, FILE *out)
{
	const struct execution *e = y->execution;
	if (isnan(y->ratio))
		return;
	char ratio[STR_QUANTITY];
	fprintf(out, "ratio         %s%s%s  (Benanza ratio: bound / measured)\n",
		y->bound_complete ? "" : "at least ", y->bound_estimated ? "~" : "",
		str_ratio(ratio, y->ratio));
	if (!*e->device && e->row_count)
		fprintf(out, "              device of the profile is unknown: assumes the bound's device\n");
	if (!*e->dtype && e->row_count)
		fprintf(out, "              type of the profile is unknown: assumes %s%s\n",
			plan_type_name(session_plan(s)),
			session_dtype(s) == DTYPE_F32 ? "; for f16: -t f16" : "");
}

/* How to measure again what contradicts the bound, or why that is not possible. */
static const char *again_hint(struct arena *a, const struct session *s, const struct execution *e)
{
	const struct config_runner *agent = config_agent(session_config(s), text_of(e->framework));
	if (!strcmp(e->source, "option"))
		return "is it of this batch, type, device and number of threads? To run it here:\n"
		       "              benanza compare --run AGENT MODEL";
	if (strcmp(e->source, "agent") != 0)
		return "a file cannot be run again: benanza compare --run AGENT MODEL";
	if (!session_queue(s))
		return "no runner of the bound's device is configured here";
	return arena_printf(a, "benanza compare --run %s MODEL", agent ? agent->name : "AGENT");
}

/* The whole model, if it is faster than the bound. */
static void whole_text(struct arena *a, const struct session *s, const struct reality *y, FILE *out)
{
	if (y->measured_ns < y->least_ns && !isnan(y->ratio))
		fprintf(out, "contradicted  no execution with these what-ifs takes less than %s here\n",
			duration(a, y->least_ns));
	if (y->contradicted && y->in_turn)
		fputs("contradicted  the whole model is faster than the bound: it is not a lower bound\n",
			out);
	else if (y->contradicted)
		fprintf(out,
			"contradicted  the whole model is faster than the bound, not measured again yet\n"
			"              %s\n", again_hint(a, s, y->execution));
	else if (y->unclear && !y->in_turn)
		fprintf(out,
			"unclear       the whole model is faster than the bound, within the intervals\n"
			"              %s\n", again_hint(a, s, y->execution));
	else if (y->unclear)
		fputs("unclear       the whole model is faster than the bound, within the intervals, also "
		      "when measured again\n", out);
	else if (y->unconfirmed)
		fputs("faster        the whole model; not confirmed when measured again\n", out);
}

struct trust compare_trust(const struct session *s, const struct comparison *c)
{
	const struct reality *const list[] = { c->reality };
	struct contradicted said = contradicted_of(list, 1, session_plan(s)->layer_count, NULL);
	said.known = said.able > 0; /* else the report gives the reason */
	return trust_of(session_plan(s), session_analysis(s), &said, session_queue(s) != NULL);
}

static void trust_text(const struct trust *t, FILE *out)
{
	const char *steps[TRUST_NEXT_COUNT]; /* this is `compare` */
	struct str line = { 0 };
	for (int i = 0; i < TRUST_NEXT_COUNT; i++)
		steps[i] = i == TRUST_NEXT_COMPARE ? NULL : trust_commands[i];
	trust_describe(t, 80 - 14, steps, &line);
	fprintf(out, "trust         %s\n", line.p);
	str_free(&line);
}

/* Text after a label, in as many lines as it needs. */
static void labelled_text(const char *label, const char *text, FILE *out)
{
	if (!text)
		return;
	fprintf(out, "%-14s", label);
	report_wrapped(text, 14, report_columns(out), out);
}

static void totals_text(struct arena *a, const struct session *s, const struct comparison *c, FILE *out)
{
	const struct reality *y = c->reality;
	const char *type = report_type_option(s);
	struct type_lack lack = type_lack_of(session_plan(s), session_analysis(s), a);
	fprintf(out, "measured      %s%s%s\n",
		isnan(y->measured_ns) ? "unknown" : duration(a, y->measured_ns), interval(a, y->lo, y->hi),
		measured_note(a, c));
	if (isnan(y->bound_ns) && lack.count) {
		fputs("bound         ", out);
		report_wrapped(arena_printf(a, "unknown: %s (-t f32)", type_lack_text(&lack, a)), 14,
			report_columns(out), out);
	} else if (isnan(y->bound_ns) && !session_analysis(s)->coverage.missing)
		fprintf(out, "bound         unknown: no layer can be measured on %s (benanza bound)\n",
			session_device(s)->model ? session_device(s)->model : "this device");
	else if (isnan(y->bound_ns))
		fprintf(out,
			"bound         unknown: no layer is measured on %s; run: benanza bench%s%s MODEL\n",
			session_device(s)->model ? session_device(s)->model : "this device",
			*type ? " -t " : "", type);
	else {
		struct trust trust = compare_trust(s, c);
		fprintf(out, "%s%s%s%s  (%s)\n", isnan(y->least_ns) ? "bound         " : "estimate      ",
			analysis_mark(session_analysis(s)),
			duration(a, y->bound_ns), interval(a, y->bound_lo, y->bound_hi),
			what_ifs(a, session_scenario(s)));
		trust_text(&trust, out);
	}
	ratio_text(s, y, out);
	whole_text(a, s, y, out);
	if (!y->row_count)
		return;
	fprintf(out, "layers        %s in %d row%s", duration(a, y->layers_ns), y->row_count,
		y->row_count == 1 ? "" : "s");
	if (y->match->runs > 1)
		fprintf(out, " of %d runs, per run", y->match->runs);
	if (!isnan(y->profiler_ns))
		fprintf(out, "; ~%s of it is predicted profiler overhead", duration(a, y->profiler_ns));
	double total = y->match->total_ns > 0 ? y->match->total_ns : 1;
	fprintf(out,
		"\nmatched       %.1f%% of the layers' time; added %.1f%%, not matched "
		"%.1f%%\n",
		100 * y->match->matched_ns / total, 100 * y->match->added_ns / total,
		100 * y->match->unmatched_ns / total);
	const struct match *m = y->match;
	if (m->rest_rows)
		labelled_text("compiled", arena_printf(a,
			"%d row%s for the %d layer%s that no other row runs; %s", m->rest_rows,
			m->rest_rows == 1 ? " stands" : "s stand", m->rest_layers,
			m->rest_layers == 1 ? "" : "s", match_rest_hint(y->execution, m)), out);
	int merged = y->match->merged_layers;
	if (merged)
		fprintf(out, "merged        %d layer%s with %s (the bound counts each)\n",
			merged, merged == 1 ? "" : "s", merged == 1 ? "an equal one" : "equal ones");
	if (*y->execution->gaps)
		fprintf(out, "incomplete    %s\n", y->execution->gaps);
}

/* What is known besides the latency, a line each of start, runs and settings. */
static void figures_text(struct arena *a, const struct execution *e, FILE *out)
{
	for (int i = 0; i < FIGURE_LINES; i++) {
		const char *line = execution_figures_line(a, e, (enum figure_line)i);
		labelled_text(figure_line_name((enum figure_line)i), *line ? line : NULL, out);
	}
}

/* ---- the waterfall ---- */

static double greatest(const struct reality *y)
{
	double at = y->bound_ns, most = fmax(y->bound_ns, y->measured_ns);
	for (int k = 0; k < GAP_COUNT; k++) {
		at += isnan(y->gaps[k].ns) ? 0 : y->gaps[k].ns;
		most = fmax(most, at);
	}
	return most;
}

/* Prints a bar from one time to another; a dot if it is shorter than a column. */
static void bar_text(double from, double to, double most, bool ascii, FILE *out)
{
	double lo = fmax(0, fmin(from, to)), hi = fmax(0, fmax(from, to));
	int first = (int)lround(BAR_COLUMNS * lo / most), last = (int)lround(BAR_COLUMNS * hi / most);
	if (first == last) {
		fprintf(out, "%*s%s\n", first < BAR_COLUMNS ? first : BAR_COLUMNS - 1, "", ascii ? "." : "·");
		return;
	}
	fprintf(out, "%*s", first, "");
	for (int i = first; i < last; i++)
		fputs(ascii ? (to < from ? "-" : "#") : (to < from ? "░" : "█"), out);
	fputc('\n', out);
}

static void waterfall_text(struct arena *a, const struct reality *y, bool ascii, FILE *out)
{
	const char *least = y->bound_complete ? "" : "at least ";
	double most = greatest(y), at = y->bound_ns;
	if (isnan(y->bound_ns) || isnan(y->measured_ns) || !(most > 0))
		return;
	const char *from = isnan(y->least_ns) ? "bound" : "estimate";
	fprintf(out, "\n%-23s %10s %7s  from the %s to reality\n", "", "time", "share", from);
	fprintf(out, "%-14s %19s %7s  ", from,
		arena_printf(a, "%s%s%s", least, y->bound_estimated ? "~" : "", duration(a, y->bound_ns)),
		arena_printf(a, "%s%.1f%%", y->bound_estimated || !y->bound_complete ? "~" : "",
			100 * y->bound_ns / y->measured_ns));
	bar_text(0, at, most, ascii, out);
	for (int k = 0; k < GAP_COUNT; k++) {
		const struct gap *g = &y->gaps[k];
		if (!gap_is_seen(y, (enum gap_kind)k))
			continue;
		bool estimated = reality_gap_estimated(y, (enum gap_kind)k);
		fprintf(out, "%-23s %10s %7s  ", reality_label(y, (enum gap_kind)k),
			arena_printf(a, "%s%s", estimated ? "~" : "", change(a, g->ns)),
			arena_printf(a, "%s%.1f%%", estimated ? "~" : "", 100 * g->ns / y->measured_ns));
		bar_text(at, at + g->ns, most, ascii, out);
		at += g->ns;
	}
	if (isnan(y->gaps[GAP_LAUNCH].ns) && y->row_count)
		fprintf(out, "%-23s %10s  unknown; part of unexplained\n", gap_label(GAP_LAUNCH), "?");
	fprintf(out, "%-23s %10s %6.1f%%  ", "measured", duration(a, y->measured_ns), 100.0);
	bar_text(0, y->measured_ns, most, ascii, out);
	if (y->slower_doubt)
		report_wrapped(arena_printf(a, "%s may have another cause: %s",
			reality_label(y, GAP_ALGORITHM), y->slower_doubt), 0, report_columns(out), out);
}

/* Without a bound, prints the time of each kind that does not need it. */
static void kinds_text(struct arena *a, const struct reality *y, FILE *out)
{
	static const enum gap_kind kinds[] = { GAP_LAUNCH, GAP_PLACEMENT, GAP_REORDER, GAP_CAST, GAP_PAD,
		GAP_COPY, GAP_OTHER };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && isnan(y->bound_ns); i++)
		if (!isnan(y->gaps[kinds[i]].ns))
			fprintf(out, "%-23s %10s\n", reality_label(y, kinds[i]),
				change(a, y->gaps[kinds[i]].ns));
}

/* ---- layers ---- */

static const struct reality *sorting; /* of by_gap */

static double gap_of(const struct reality_group *g)
{
	return isnan(g->cost_ns) ? g->real_ns : fabs(g->real_ns - g->cost_ns);
}

static int by_gap(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	double p = gap_of(&sorting->groups[a]), q = gap_of(&sorting->groups[b]);
	return p != q ? (p < q ? 1 : -1) : a - b;
}

static const char *ops_of(struct arena *a, const struct plan *p, const struct reality_group *g)
{
	struct str ops = { 0 };
	for (int i = 0; i < g->layer_count && ops.n < 40; i++)
		if (p->layers[g->layers[i]].class != CLASS_FREE || g->layer_count == 1)
			str_addf(&ops, "%s%s", ops.n ? "+" : "",
				text_clean(a, p->layers[g->layers[i]].node->op));
	const char *kept = arena_printf(a, "%s", ops.n ? ops.p : "-");
	str_free(&ops);
	return kept;
}

/* Rows of groups of layers; `last` is the title of the last column. */
struct groups_table {
	struct column name, op, last;
	const struct reality_group **groups;
	const char *title;
};

static struct groups_table groups_table_new(struct arena *a, int capacity, const char *last)
{
	return (struct groups_table){ column_new(a, capacity), column_new(a, capacity),
		column_new(a, capacity), ARENA_ARRAY(a, const struct reality_group *, capacity + 1), last };
}

static void groups_add(struct arena *a, const struct session *s, struct groups_table *t,
	const struct reality_group *g, const char *last)
{
	const struct plan *p = session_plan(s);
	t->groups[t->name.count] = g;
	t->name.texts[t->name.count++] = text_clean(a, p->layers[g->layers[0]].name);
	t->op.texts[t->op.count++] = ops_of(a, p, g);
	t->last.texts[t->last.count++] = last;
}

#define GROUPS_OTHERS 31 /* columns of the number, the times and the blanks between columns */

static void groups_print(struct arena *a, struct groups_table *t, const int *numbers, FILE *out)
{
	int room = report_width(out) - GROUPS_OTHERS;
	column_fit(a, &t->last, 0, room / 3);
	column_fit(a, &t->op, 14, room / 3);
	column_fit(a, &t->name, 18, room - t->last.width - t->op.width);
	fprintf(out, "%5s  %s %s %9s %10s  %s\n", "layer", text_pad(a, "name", t->name.width, false),
		text_pad(a, "op", t->op.width, false), "real", "bound", t->title);
	for (int i = 0; i < t->name.count; i++) {
		const struct reality_group *g = t->groups[i];
		fprintf(out, "%5d  %s %s %9s %s%9s  %s\n", numbers[g->layers[0]], cell(a, &t->name, i),
			cell(a, &t->op, i), duration(a, g->real_ns), g->estimated ? "~" : " ",
			duration(a, g->cost_ns), t->last.texts[i]);
	}
}

/* Groups that are not slower than the bound, or were not before: contradicted, or why they are not. */
static void faster_text(struct arena *a, const struct session *s, const struct reality *y, FILE *out)
{
	int open = reality_not_again(y), faster = y->faster_count;
	for (int i = 0; i < y->group_count; i++)
		faster += y->groups[i].doubt == DOUBT_TURN && y->groups[i].kind != GAP_FASTER;
	if (y->contradicted_count)
		fprintf(out, "\ncontradicted  %d group%s of layers faster than the bound%s\n",
			y->contradicted_count, y->contradicted_count == 1 ? "" : "s",
			open == y->contradicted_count ? ", not measured again yet"
						      : ": it is not a lower bound there");
	else if (faster)
		fprintf(out,
			"\nfaster        %d group%s of layers faster than the bound; not contradicted:\n"
			"              %s\n",
			faster, faster == 1 ? "" : "s",
			y->not_comparable ? y->not_comparable
				: y->bound_estimated
				? "the bound is an estimate"
				: y->doubt_count[DOUBT_INTERVAL] + y->doubt_count[DOUBT_MATCH] +
						y->doubt_count[DOUBT_TURN]
				? "the intervals do not show that they are faster"
				: "the bound reads weights from memory, the execution from a cache");
	if (open && open < y->contradicted_count)
		fprintf(out, "              %d of them not measured again yet\n", open);
	if (open && (!y->contradicted || y->in_turn))
		fprintf(out, "              %s\n", again_hint(a, s, y->execution));
}

static void groups_text(struct arena *a, const struct session *s, const struct reality *y, FILE *out)
{
	int total, *numbers = session_numbers(session_plan(s), a, &total);
	int *order = ARENA_ARRAY(a, int, y->group_count + 1);
	for (int i = 0; i < y->group_count; i++)
		order[i] = i;
	sorting = y;
	if (y->group_count)
		qsort(order, (size_t)y->group_count, sizeof(*order), by_gap);
	faster_text(a, s, y, out);
	struct groups_table bad = groups_table_new(a, TOP_SHOWN, "kernel");
	struct groups_table top = groups_table_new(a, TOP_SHOWN, "gap");
	for (int i = 0; i < y->group_count && bad.name.count < TOP_SHOWN && y->contradicted_count; i++)
		if (reality_contradicts(y, &y->groups[order[i]]))
			groups_add(a, s, &bad, &y->groups[order[i]], y->groups[order[i]].kernel);
	if (y->contradicted_count)
		groups_print(a, &bad, numbers, out);
	for (int d = DOUBT_NONE + 1; d < DOUBT_COUNT; d++)
		if (y->doubt_count[d])
			fprintf(out, "              %d faster group%s %s: no contradiction\n",
				y->doubt_count[d], y->doubt_count[d] == 1 ? "" : "s",
				faster_doubt_text((enum faster_doubt)d));
	for (int i = 0; i < y->group_count && i < TOP_SHOWN; i++) {
		const struct reality_group *g = &y->groups[order[i]];
		bool slower = (g->kind == GAP_ALGORITHM || g->kind == GAP_MATRIX) && g->better;
		groups_add(a, s, &top, g, slower ? arena_printf(a, "best: %s",
			text_clean(a, text_of(g->better->algorithm.name))) : gap_name(g->kind));
	}
	if (y->group_count) {
		fputs("\nlargest differences\n", out);
		groups_print(a, &top, numbers, out);
	}
}

/* Prints rows of one kind of match (added, none), the longest first. */
static const struct execution *rows_of; /* of by_time */

static int by_time(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	double p = isnan(rows_of->rows[a].ns) ? -1 : rows_of->rows[a].ns;
	double q = isnan(rows_of->rows[b].ns) ? -1 : rows_of->rows[b].ns;
	return p != q ? (p < q ? 1 : -1) : a - b;
}

static void rows_text(
	struct arena *a, const struct reality *y, enum match_how how, const char *title, FILE *out)
{
	const struct execution *e = y->execution;
	int *list = ARENA_ARRAY(a, int, e->row_count + 1), count = 0;
	double sum = 0;
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		bool inner = r->parent >= 0 || y->match->rows[i].how != how || y->group_of_row[i] >= 0;
		if (inner || (r->level != LEVEL_LAYER && r->level != LEVEL_KERNEL))
			continue;
		list[count++] = i;
		sum += isnan(r->ns) ? 0 : r->ns / y->match->runs;
	}
	if (!count)
		return;
	rows_of = e;
	qsort(list, (size_t)count, sizeof(*list), by_time);
	fprintf(out, "\n%s  %d row%s, %s\n", title, count, count == 1 ? "" : "s", duration(a, sum));
	struct column name = column_new(a, TOP_SHOWN), op = column_new(a, TOP_SHOWN);
	for (int i = 0; i < count && i < TOP_SHOWN && !(e->rows[list[i]].ns == 0); i++) {
		name.texts[name.count++] = e->rows[list[i]].name;
		op.texts[op.count++] = e->rows[list[i]].op;
	}
	int room = report_width(out) - 22; /* without the indent, the time and the kind */
	column_fit(a, &op, 14, room / 3);
	column_fit(a, &name, 42, room - op.width);
	for (int i = 0; i < name.count; i++) {
		const char *kind = how == MATCH_ADDED ? added_name(y->match->rows[list[i]].added) : "";
		fprintf(out, "  %s %s %9s%s%s\n", cell(a, &name, i), cell(a, &op, i),
			duration(a, e->rows[list[i]].ns / y->match->runs), *kind ? "  " : "", kind);
	}
	if (count > name.count)
		fprintf(out, "  %d more\n", count - name.count);
}

/* Prints the groups that another provider ran, the longest first. */
static void placement_text(struct arena *a, const struct session *s, const struct reality *y, FILE *out)
{
	const struct plan *p = session_plan(s);
	int *list = ARENA_ARRAY(a, int, y->group_count + 1), count = 0;
	double sum = 0;
	for (int i = 0; i < y->group_count; i++)
		if (y->groups[i].kind == GAP_PLACEMENT) {
			list[count++] = i;
			sum += y->groups[i].real_ns;
		}
	if (!count)
		return;
	sorting = y;
	qsort(list, (size_t)count, sizeof(*list), by_gap);
	fprintf(out, "\nother provider  %d group%s of layers, %s\n", count, count == 1 ? "" : "s",
		duration(a, sum));
	struct column name = column_new(a, TOP_SHOWN), op = column_new(a, TOP_SHOWN);
	for (int i = 0; i < count && i < TOP_SHOWN; i++) {
		name.texts[name.count++] = text_clean(a, p->layers[y->groups[list[i]].layers[0]].name);
		op.texts[op.count++] = ops_of(a, p, &y->groups[list[i]]);
	}
	int room = report_width(out) - 42; /* without the indent, the time and the provider */
	column_fit(a, &op, 14, room / 3);
	column_fit(a, &name, 24, room - op.width);
	for (int i = 0; i < name.count; i++) {
		const struct reality_group *g = &y->groups[list[i]];
		fprintf(out, "  %s %s %9s  %s\n", cell(a, &name, i), cell(a, &op, i), duration(a, g->real_ns),
			text_cut(a, g->provider, 26, false));
	}
	if (count > TOP_SHOWN)
		fprintf(out, "  %d more\n", count - TOP_SHOWN);
}

void report_compare_text(struct session *s, const struct comparison *c, bool ascii, FILE *out)
{
	const struct device *d = session_device(s);
	struct arena a = { 0 };
	const struct reality *y = c->reality;
	model_text(&a, s, out);
	who_text(&a, c->execution, out);
	if (d->model) {
		fputs("bound of      ", out);
		report_wrapped(report_device(&a, d->model, d->stack), 14, report_columns(out), out);
	}
	if (y->prevents & USE_RATIO) {
		fputs("not comparable: ", out);
		report_wrapped(y->not_comparable, 16, report_columns(out), out);
	}
	fputc('\n', out);
	totals_text(&a, s, c, out);
	figures_text(&a, c->execution, out);
	labelled_text("profile", reality_excess_text(&a, y), out);
	if (!(y->prevents & USE_GAPS))
		waterfall_text(&a, y, ascii, out);
	kinds_text(&a, y, out);
	groups_text(&a, s, y, out);
	placement_text(&a, s, y, out);
	rows_text(&a, y, MATCH_ADDED, "added nodes", out);
	rows_text(&a, y, MATCH_NONE, "not matched", out);
	arena_free(&a);
}

/* ---- two executions ---- */

/* What one of them has besides the latency. */
static void against_figures_text(struct arena *a, const struct execution *x, const struct execution *y,
	FILE *out)
{
	int count;
	const struct execution_figure *list = execution_figures(&count);
	for (int i = 0; i < count; i++) {
		double first = execution_figure_value(x, &list[i]);
		double second = execution_figure_value(y, &list[i]);
		bool usual = list[i].line == FIGURE_SETUP && !(first > 1) && !(second > 1);
		if ((!isnan(first) || !isnan(second)) && !usual)
			fprintf(out, "%-18s A %10s   B %10s\n", list[i].label,
				execution_figure_text(a, &list[i], first),
				execution_figure_text(a, &list[i], second));
	}
}

void report_against_text(struct session *s, const struct comparison *c, const struct comparison *d,
	const struct against *x, FILE *out)
{
	struct arena a = { 0 };
	const struct plan *p = session_plan(s);
	int total, *numbers = session_numbers(p, &a, &total), significant = 0;
	model_text(&a, s, out);
	fprintf(out, "A  ");
	who_text(&a, c->execution, out);
	fprintf(out, "B  ");
	who_text(&a, d->execution, out);
	for (int i = 0; i < x->group_count; i++)
		significant += x->groups[i].significant;
	fprintf(out, "\nA             %s%s%s\nB             %s%s%s\nB - A         %s  %s\n",
		duration(&a, x->a_ns), interval(&a, x->a_lo, x->a_hi), c->noisy ? "  noisy" : "",
		duration(&a, x->b_ns), interval(&a, x->b_lo, x->b_hi), d->noisy ? "  noisy" : "",
		change(&a, x->b_ns - x->a_ns),
		x->significant ? "significant: the intervals do not overlap"
			: isnan(x->a_lo) || isnan(x->b_lo) ? "significance unknown: no interval"
							   : "not significant");
	against_figures_text(&a, c->execution, d->execution, out);
	fprintf(out, "layers        %d significant of %d groups; * marks them\n", significant,
		x->group_count);
	fprintf(out, "other rows    A %s, B %s  (added or not matched)\n\n", duration(&a, x->a_other_ns),
		duration(&a, x->b_other_ns));
	struct column name = column_new(&a, 2 * TOP_SHOWN), op = column_new(&a, 2 * TOP_SHOWN);
	for (int i = 0; i < x->group_count && i < 2 * TOP_SHOWN; i++) {
		const struct against_group *g = &x->groups[i];
		struct reality_group shown = { .layer_count = g->layer_count, .layers = g->layers };
		name.texts[name.count++] = text_clean(&a, p->layers[g->layers[0]].name);
		op.texts[op.count++] = ops_of(&a, p, &shown);
	}
	int room = report_width(out) - 44; /* without the number, the times and the mark */
	column_fit(&a, &op, 14, room / 3);
	column_fit(&a, &name, 22, room - op.width);
	fprintf(out, "%5s  %s %s %10s %10s %11s\n", "layer", text_pad(&a, "name", name.width, false),
		text_pad(&a, "op", op.width, false), "A", "B", "B - A");
	for (int i = 0; i < name.count; i++) {
		const struct against_group *g = &x->groups[i];
		bool both = !isnan(g->a_ns) && !isnan(g->b_ns);
		fprintf(out, "%5d  %s %s %10s %10s %11s%s\n", numbers[g->layers[0]], cell(&a, &name, i),
			cell(&a, &op, i), duration(&a, g->a_ns),
			duration(&a, g->b_ns), both ? change(&a, g->b_ns - g->a_ns) : "-",
			g->significant ? " *" : "");
	}
	arena_free(&a);
}
