#include "config.h"

#include "commands/report_scenarios.h"

#include <math.h>
#include <string.h>

#define NAME_MOST 24

void report_scenarios_compare(struct scenario_rows *r)
{
	int64_t batch = -1;
	r->per_item = false;
	bool all = true;
	for (int i = 0; i < r->count; i++) {
		const struct scenario_row *row = &r->rows[i];
		if (row->why)
			continue;
		all &= row->batch > 0;
		r->per_item |= batch >= 0 && row->batch != batch;
		batch = row->batch;
	}
	r->per_item &= all;
	const struct sweep_point *first = &r->rows[0].point;
	for (int i = 0; i < r->count; i++) {
		struct scenario_row *row = &r->rows[i];
		const struct sweep_point *p = &row->point;
		double a = r->per_item ? (double)r->rows[0].batch : 1,
		       b = r->per_item ? (double)row->batch : 1;
		bool whole = !row->why && !r->rows[0].why && p->complete && first->complete;
		row->diff_ns = whole ? p->total_ns / b - first->total_ns / a : NAN;
		row->ratio = whole ? (p->total_ns / b) / (first->total_ns / a) : NAN;
		row->verdict = !whole ? DIFF_UNKNOWN
				      : diff_verdict_of(sweep_span(first, a), sweep_span(p, b));
	}
}

static const char *name_of(const struct scenario_row *row)
{
	return row->name ? row->name : "(as given)";
}

static int name_width(const struct scenario_rows *r)
{
	int width = 8;
	for (int i = 0; i < r->count; i++) {
		int n = text_columns(name_of(&r->rows[i]));
		width = n > width ? n : width;
	}
	return width > NAME_MOST ? NAME_MOST : width;
}

static int type_width(const struct scenario_rows *r)
{
	int width = 5;
	for (int i = 0; i < r->count; i++) {
		int n = text_columns(r->rows[i].type);
		width = n > width ? n : width;
	}
	return width;
}

static void row_print(const struct scenario_rows *r, const struct scenario_row *row, bool first, int width,
	struct arena *a, FILE *out)
{
	const struct sweep_point *p = &row->point;
	char time[STR_QUANTITY], diff[STR_QUANTITY], interval[STR_QUANTITY];
	fprintf(out, "%s ", text_pad(a, name_of(row), width, false));
	if (row->why) {
		fprintf(out, "%12s  %s\n", "-", row->why);
		return;
	}
	const char *mark = sweep_mark(p), *guess = p->estimated || r->rows[0].point.estimated ? "~" : "";
	fprintf(out, "%12s %10s", arena_printf(a, "%s%s", mark, str_duration(time, p->total_ns)),
		sweep_interval(interval, p));
	if (first || isnan(row->diff_ns))
		fprintf(out, " %11s %7s %-8s", first ? "" : "-", "", first ? "" : "unknown");
	else
		fprintf(out, " %11s %7s %-8s",
			arena_printf(a, "%s%s%s", guess,
				row->diff_ns > 0	   ? "+"
					: row->diff_ns < 0 ? "-"
							   : "",
				str_duration(diff, fabs(row->diff_ns))),
			arena_printf(a, "%s%+.1f%%", guess, 100 * (row->ratio - 1)),
			diff_verdict_name(row->verdict));
	if (row->batch)
		fprintf(out, " %5lld", (long long)row->batch);
	else
		fprintf(out, " %5s", "-");
	fprintf(out, " %s %s", text_pad(a, row->type, type_width(r), false),
		*row->what_ifs ? row->what_ifs : "no what-ifs");
	if (strcmp(row->device, r->rows[0].device) != 0)
		fprintf(out, "  on %s", row->device);
	if (row->unmeasured)
		fprintf(out, "  (%d unmeasured)", row->unmeasured);
	fputc('\n', out);
}

void report_scenarios_text(const struct scenario_rows *r, FILE *out)
{
	struct arena a = { 0 };
	int width = name_width(r), gaps = 0;
	bool estimated = false;
	const struct scenario_row *first = &r->rows[0];
	report_path_line(out, report_most(out), "", r->model, "");
	fprintf(out, "%s\n\n",
		report_device(&a, first->why ? NULL : first->device, first->why ? NULL : first->stack));
	fprintf(out, "%s %12s %10s %11s %7s %-8s %5s %s what-ifs\n", text_pad(&a, "scenario", width, false),
		r->rows[0].point.guess ? "estimate" : "bound", "+-", r->per_item ? "diff/item" : "diff", "",
		"verdict", "batch", text_pad(&a, "type", type_width(r), false));
	for (int i = 0; i < r->count; i++) {
		row_print(r, &r->rows[i], i == 0, width, &a, out);
		gaps += !r->rows[i].why && !r->rows[i].point.complete;
		estimated |= !r->rows[i].why && r->rows[i].point.estimated;
	}
	fputc('\n', out);
	if (estimated)
		fprintf(out, "~  contains estimates\n");
	if (gaps)
		fprintf(out,
			"%d of %d have layers without a result (>=: at least): run bench -w NAME first\n",
			gaps, r->count);
	arena_free(&a);
}

void report_scenarios_csv(const struct scenario_rows *r, FILE *out)
{
	fprintf(out,
		"batch,dtype,name,bound_ns,lo_ns,hi_ns,diff_ns,ratio,verdict,complete,estimated,unmeasured,"
		"what_if,device,dims,why,estimate_ns\n");
	for (int i = 0; i < r->count; i++) {
		const struct scenario_row *row = &r->rows[i];
		const struct sweep_point *p = &row->point;
		if (!row->why && row->batch)
			fprintf(out, "%lld", (long long)row->batch);
		fprintf(out, ",%s,", row->why ? "" : row->type);
		csv_field(out, row->name ? row->name : "", ',');
		report_csv_value(out, p->bound_ns, ',');
		report_csv_value(out, p->guess ? NAN : p->lo_ns, ',');
		report_csv_value(out, p->guess ? NAN : p->hi_ns, ',');
		report_csv_value(out, row->diff_ns, ',');
		report_csv_value(out, row->ratio, ',');
		if (row->why)
			fprintf(out, "%s,,,,", diff_verdict_name(row->verdict));
		else
			fprintf(out, "%s,%s,%s,%d,", diff_verdict_name(row->verdict),
				p->complete ? "true" : "false", p->estimated ? "true" : "false",
				row->unmeasured);
		csv_field(out, row->why ? "" : row->what_ifs, ',');
		csv_field(out, row->why ? "" : row->device, ',');
		csv_field(out, row->why ? "" : row->dims, ',');
		csv_field(out, row->why ? row->why : "", ',');
		report_csv_value(out, p->guess ? p->total_ns : NAN, '\n');
	}
}

static json_t *row_json(const struct scenario_row *row)
{
	const struct sweep_point *p = &row->point;
	if (row->why)
		return json_pack("{s:s?, s:s}", "name", row->name, "why", row->why);
	json_t *o = json_pack(
		"{s:s?, s:n, s:o, s:o, s:{s:o, s:s, s:o, s:o}, s:o, s:o, s:o, s:o, s:s, s:b, s:b, s:i}",
		"name", row->name, "why", "device", report_json_text(row->device), "stack",
		report_json_text(row->stack), "scenario", "batch",
		row->batch ? json_integer(row->batch) : json_null(), "dtype", row->type,
		"what_if", report_json_names(row->what_ifs), "dims", report_json_text(row->dims),
		"items_per_s", json_number_or_null(p->items_per_s), "memory_bytes",
		json_number_or_null(p->memory_bytes), "diff_ns", json_number_or_null(row->diff_ns), "ratio",
		json_number_or_null(row->ratio), "verdict", diff_verdict_name(row->verdict), "complete",
		p->complete, "estimated", p->estimated, "unmeasured", row->unmeasured);
	report_json_total(o, p);
	return o;
}

json_t *report_scenarios_json(const struct scenario_rows *r)
{
	json_t *rows = json_array();
	for (int i = 0; i < r->count; i++)
		json_array_append_new(rows, row_json(&r->rows[i]));
	return json_pack("{s:o, s:b, s:o}", "model", json_text(text_of(r->model)), "per_item", r->per_item,
		"scenarios", rows);
}
