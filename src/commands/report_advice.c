/* Advice as text, HTML and JSON. */
#include "config.h"

#include "commands/report.h"
#include "commands/report_html.h"
#include "table/tables/advice.h"

#include <math.h>
#include <string.h>

/* Larger batches are tried if a throughput is asked for. */
static void target_text(
	const struct advice_list *l, const struct advice_target *t, int64_t batch, FILE *out)
{
	char text[STR_QUANTITY], rate[STR_QUANTITY];
	struct str line = { 0 };
	bool by_rate = !isnan(t->items_per_s);
	str_duration(text, l->target_ns);
	if (by_rate)
		str_addf(&line, "%s/s, a batch in %s  ", str_count(rate, t->items_per_s), text);
	else
		str_addf(&line, "%s  ", text);
	if (l->reached && !l->count)
		str_puts(&line, "reached without advice");
	else if (l->reached)
		str_addf(&line, "reached by %s below", l->count == 1 ? "the advice" : "the advice together");
	else
		str_addf(&line, "not reached: it needs a device %.3g times as fast, %s a smaller model",
			l->least_ns / l->target_ns,
			by_rate && batch > 0 ? "larger batches (below), or" : "or");
	fputs("target        ", out);
	report_wrapped(line.p, 14, report_columns(out), out);
	str_free(&line);
}

static void totals_text(const struct advice_list *l, const struct scenario *from, FILE *out)
{
	char text[STR_QUANTITY], words[128];
	const char *mark = l->complete ? l->estimated ? "~" : "" : l->estimated ? "partial ~" : "at least ";
	scenario_text(from, words, sizeof(words));
	bool real = l->real_ns < l->start_ns; /* NaN compares false */
	if (real)
		fprintf(out, "now           %s  (measured with %.40s; the start below is the bound)\n",
			str_duration(text, l->real_ns), *l->real_by ? l->real_by : "an execution");
	if (isnan(l->start_ns))
		fprintf(out, "now           unknown: %s\n", advice_none(l));
	else
		fprintf(out, "%s%s%s  (%s%s%s)\n", real ? "start         " : "now           ", mark,
			str_duration(text, l->start_ns), from->best ? "" : "unoptimized, ",
			*words ? "what-ifs: " : "no what-if is on", words);
	if (l->count && !isnan(l->start_ns))
		fprintf(out, "with advice   %s%s  %s%s\n", mark, str_duration(text, l->least_ns),
			advice_factor(l, words, sizeof(words)), l->noisy ? " *" : "");
	struct arena a = { 0 };
	const char *overhead = advice_overhead(l, &a);
	if (overhead)
		fprintf(out, "overhead      %s\n", overhead);
	for (int i = 0; i < ADVICE_LACKS; i++) {
		const char *what = advice_left_out(l, i, &a), *bench = advice_bench(l, i, &a);
		if (!what)
			continue;
		fputs("left out      ", out);
		report_wrapped(bench ? arena_printf(&a, "%s (%s)", what, bench) : what, 14,
			report_columns(out), out);
	}
	arena_free(&a);
}

void report_advice_text(const struct session *s, const struct advice_list *l, const struct scenario *from,
	const struct advice_target *target, FILE *out)
{
	report_head_text(s, report_most(out), out);
	if (isnan(l->start_ns) && !l->count) {
		bool open = session_analysis(s)->coverage.missing > 0;
		fprintf(out, "no advice: %s\n", open ? "nothing of the model is measured (benanza bench)" :
			"nothing of the model can be measured here (benanza bound)");
		return;
	}
	totals_text(l, from, out);
	if (!isnan(l->target_ns))
		target_text(l, target, session_plan(s)->batch, out);
	if (!l->count) {
		if (isnan(l->target_ns) || !l->reached)
			fprintf(out, "\nno advice: %s\n", advice_none(l));
		return;
	}
	int most = report_most(out);
	struct table t = { 0 }, how = { 0 };
	advice_table(&t, s, l);
	fputc('\n', out);
	table_print_text(&t, most, out);
	advice_how_table(&how, l);
	fputc('\n', out);
	table_print_text(&how, most, out);
	table_free(&t);
	table_free(&how);
}

void report_advice_html(struct session *s, FILE *out)
{
	enum { LAYERS_MAX = 20000 };
	struct arena kept = { 0 };
	struct advice_list l = { 0 };
	fputs("<h2>What to do first</h2>\n", out);
	if (session_plan(s)->layer_count > LAYERS_MAX) {
		fputs("<p>benanza advise MODEL lists it.</p>\n", out);
		return;
	}
	l = session_advice_here(s, &kept);
	if (!l.count)
		fprintf(out, "<p>No advice: %s.</p>\n", advice_none(&l));
	for (int i = 0; i < ADVICE_LACKS; i++) {
		const char *what = advice_left_out(&l, i, &kept);
		if (what)
			fprintf(out, "<p>Left out, %s.</p>\n", what);
	}
	if (l.count) {
		struct table t = { 0 }, how = { 0 };
		advice_table(&t, s, &l);
		table_print_html(&t, out);
		advice_how_table(&how, &l);
		table_print_html(&how, out);
		table_free(&t);
		table_free(&how);
	}
	arena_free(&kept);
}

static json_t *gaps_json(const struct advice_list *l)
{
	json_t *list = json_array();
	for (int i = 0; i < l->gap_count; i++) {
		const struct advice_gap *g = &l->gaps[i];
		json_array_append_new(list, json_pack("{s:s?, s:s?, s:o, s:s}", "what_if",
			g->is_type ? NULL : g->what, "dtype", g->is_type ? g->what : NULL,
			"unmeasured_problems", g->problems ? json_integer(g->problems) : json_null(), "why",
			advice_lack_text(g->lack)));
	}
	return list;
}

json_t *report_advice_json(const struct session *s, const struct advice_list *l, const struct scenario *from)
{
	char words[SCENARIO_TEXT_SIZE];
	const struct plan *p = session_plan(s);
	struct table t = { 0 };
	advice_table(&t, s, l);
	json_t *list = table_rows_json(&t);
	table_free(&t);
	json_t *o = json_pack("{s:o, s:s?, s:{s:o, s:s, s:o}, s:o, s:o, s:o, s:b, s:b, s:o, s:i, s:o, s:o, "
			      "s:o, s:o, s:o, s:o, s:b}",
		"model", json_text(text_of(session_model(s)->path)), "device", session_device(s)->name,
		"scenario", "batch", p->batch ? json_integer(p->batch) : json_null(), "dtype",
		plan_type_name(p), "what_if", report_json_names(scenario_text(from, words, sizeof(words))),
		"bound_ns", json_number_or_null(l->estimated ? NAN : l->start_ns), "estimate_ns",
		json_number_or_null(l->estimated ? l->start_ns : NAN), "least_ns",
		json_number_or_null(l->least_ns),
		"complete", l->complete, "estimated", l->estimated, "overhead_ns",
		json_number_or_null(l->overhead_ns), "overhead_layers", l->overhead_layers, "target_ns",
		json_number_or_null(l->target_ns), "reached",
		isnan(l->target_ns) ? json_null() : json_boolean(l->reached), "left_out", gaps_json(l),
		"advice", list, "now_ns", json_number_or_null(advice_now_ns(l)), "saves_at_least_ns",
		json_number_or_null(l->count ? l->saves_lo_ns : NAN), "noisy", l->noisy);
	report_json_assumed(json_object_get(o, "scenario"), s);
	return o;
}
