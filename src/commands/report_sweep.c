#include "config.h"

#include "commands/report.h"
#include "commands/report_sweep.h"

#include <math.h>
#include <string.h>

#define BAR_MOST 30
#define LIMIT_WIDTH 14 /* "overhead ~100%" */
#define BAR_LEAST 4

/* Which columns there are, and the largest throughput. */
struct sheet {
	bool batch, tokens, crossovers, guess;
	int series_rows; /* of the longest series */
	int unmeasured_rows, bar; /* bar: columns of the longest bar, 0: none fits */
	double most;
};

/* Items, or tokens where there are any. */
static double throughput(const struct sweep_point *p)
{
	return isnan(p->tokens_per_s) ? p->items_per_s : p->tokens_per_s;
}

static int dim_width(const struct sweep_row *row, int i, struct arena *a)
{
	int width = text_columns(text_clean(a, row->dims[i].name));
	return width < 6 ? 6 : width > 16 ? 16 : width;
}

static struct sheet sheet_of(const struct report_sweep *r, struct arena *a, int width)
{
	struct sheet s = { .most = 0 };
	int rows = 0;
	int used = 5 + 12 + 10 + 11 + 2 + LIMIT_WIDTH; /* type, bound, items, memory, limit */
	for (int i = 0; i < r->count; i++) {
		const struct sweep_row *row = &r->rows[i];
		rows = row->first ? 1 : rows + 1;
		s.series_rows = rows > s.series_rows ? rows : s.series_rows;
		s.batch |= row->point.batch > 0;
		s.tokens |= !isnan(row->point.tokens_per_s);
		s.crossovers |= row->crossovers >= 0;
		s.guess |= row->point.guess;
		s.unmeasured_rows += !row->point.complete && (!row->lack || row->unmeasured);
		if (throughput(&row->point) > s.most)
			s.most = throughput(&row->point);
	}
	used += (s.batch ? 6 : 0) + (s.tokens ? 10 : 0) + (s.crossovers ? 6 : 0);
	for (int i = 0; r->count && i < r->rows[0].dim_count; i++)
		used += 1 + dim_width(&r->rows[0], i, a);
	s.bar = width - used - 3; /* a mark and blanks before it */
	s.bar = s.bar > BAR_MOST ? BAR_MOST : s.bar < BAR_LEAST ? 0 : s.bar;
	return s;
}

static void head_print(const struct report_sweep *r, const struct sheet *s, struct arena *a, FILE *out)
{
	if (s->batch)
		fprintf(out, "%5s ", "batch");
	fprintf(out, "%-5s", "type");
	for (int i = 0; i < r->rows[0].dim_count; i++) {
		int width = dim_width(&r->rows[0], i, a);
		const char *name = text_cut(a, text_clean(a, r->rows[0].dims[i].name), width, false);
		fprintf(out, " %*s%s", width - text_columns(name), "", name);
	}
	fprintf(out, "%12s%10s", s->guess ? "estimate" : "bound", "items/s");
	if (s->tokens)
		fprintf(out, "%10s", "tokens/s");
	fprintf(out, "%11s", "memory");
	if (s->crossovers)
		fprintf(out, "%6s", "other");
	fprintf(out, "  limited by\n");
}

static const char *rate_text(struct arena *a, const struct sweep_point *p, double rate)
{
	char text[STR_QUANTITY];
	return arena_printf(a, "%s%s", isnan(rate) ? "" : sweep_rate_mark(p), str_count(text, rate));
}

static const char *limit_text(struct arena *a, const struct sweep_point *p)
{
	const char *name = limit_name(p->by);
	return name ? arena_printf(a, "%s %s%.0f%%", name, p->complete && !p->estimated ? "" : "~",
		100 * p->by_share) : "-";
}

static void row_print(
	const struct sweep_row *row, const struct sheet *s, bool ascii, struct arena *a, FILE *out)
{
	const struct sweep_point *p = &row->point;
	char time[STR_QUANTITY], bytes[STR_QUANTITY];
	const char *mark = sweep_mark(p);
	if (s->batch)
		fprintf(out, "%5lld ", (long long)p->batch);
	fprintf(out, "%-5s", row->type);
	for (int i = 0; i < row->dim_count; i++)
		fprintf(out, " %*lld", dim_width(row, i, a), (long long)row->dims[i].value);
	str_duration(time, p->total_ns);
	fprintf(out, "%12s%10s", arena_printf(a, "%s%s", mark, time), rate_text(a, p, p->items_per_s));
	if (s->tokens)
		fprintf(out, "%10s", rate_text(a, p, p->tokens_per_s));
	str_bytes(bytes, p->memory_bytes);
	fprintf(out, "%11s", arena_printf(a, "%s%s", sweep_memory_mark(p), bytes));
	if (s->crossovers && row->crossovers >= 0)
		fprintf(out, "%6d", row->crossovers);
	else if (s->crossovers)
		fprintf(out, "%6s", "");
	bool bar = s->bar && p->complete && s->most > 0;
	fprintf(out, "  %-*s%s", bar || p->best ? LIMIT_WIDTH : 0, limit_text(a, p),
		p->best	      ? " *"
			: bar ? "  "
			      : "");
	int length = bar ? (int)lround(s->bar * throughput(p) / s->most) : 0;
	for (int i = 0; i < length; i++)
		fputs(i ? ascii ? "#" : "\u2588" : ascii ? " #" : " \u2588", out);
	fputc('\n', out);
}

/* What the marks and the columns mean. */
static void legend_print(const struct report_sweep *r, const struct sheet *s, FILE *out)
{
	bool best = false, growing = false, estimated = false;
	int noisy = 0;
	for (int i = 0; i < r->count; i++) {
		best |= r->rows[i].point.best;
		growing |= r->rows[i].point.growing;
		noisy += sweep_is_noisy(&r->rows[i].point);
		estimated |= r->rows[i].point.estimated;
	}
	fputc('\n', out);
	if (best)
		fprintf(out,
			"*  the best batch: up to here each doubling gained more than %.0f%% throughput\n",
			100 * SWEEP_LEAST_GAIN);
	if (growing)
		fprintf(out, "   the best batch is the largest one here: larger batches (-b) may be "
			"better\n");
	if (!best && s->series_rows > 1 && s->batch)
		fprintf(out, "no best batch: fewer than two batches are complete\n");
	if (noisy)
		fprintf(out,
			"noisy: %d of %d were measured while other work disturbed the machine: "
			"bench --shaky\n",
			noisy, r->count);
	if (estimated)
		fprintf(out, "~  contains estimates\n");
	if (s->unmeasured_rows)
		fprintf(out,
			">= %d of %d have layers without a result: run bench with the same -b, -t%s first\n",
			s->unmeasured_rows, r->count, r->rows[0].dim_count ? " and each --dim" : "");
	const char *said = NULL;
	for (int i = 0; i < r->count; i++)
		if (r->rows[i].lack && (!said || strcmp(said, r->rows[i].lack) != 0)) {
			said = r->rows[i].lack;
			report_wrapped(said, 0, report_columns(out), out);
		}
	if (s->crossovers)
		fprintf(out, "other: layers with another algorithm than in the previous batch\n");
}

void report_sweep_text(const struct session *s, const struct report_sweep *r, bool ascii, FILE *out)
{
	const struct device *d = session_device(s);
	struct arena a = { 0 };
	char words[SCENARIO_TEXT_SIZE];
	int width = report_columns(out);
	struct sheet sheet = sheet_of(r, &a, width > 120 ? 120 : width);
	scenario_text(session_scenario(s), words, sizeof(words));
	report_path_line(out, report_most(out), "", session_model(s)->path, arena_printf(&a, "  %s", words));
	report_dims_text(s, "dimensions: ", r->rows[0].dims, r->rows[0].dim_count, out);
	fprintf(out, "%s\n\n", report_device(&a, d->model, d->stack));
	head_print(r, &sheet, &a, out);
	for (int i = 0; i < r->count; i++) {
		if (i && r->rows[i].first && sheet.series_rows > 1)
			fputc('\n', out);
		row_print(&r->rows[i], &sheet, ascii, &a, out);
	}
	legend_print(r, &sheet, out);
	arena_free(&a);
}

void report_sweep_csv(const struct report_sweep *r, FILE *out)
{
	struct arena a = { 0 };
	fputs("batch,dtype,", out);
	for (int i = 0; r->count && i < r->rows[0].dim_count; i++)
		report_csv_field(out, text_clean(&a, r->rows[0].dims[i].name), ',');
	fputs("bound_ns,items_per_s,tokens_per_s,memory_bytes,flops_per_s,limited_by,complete,best,"
	      "memory_at_least,estimate_ns\n", out);
	for (int i = 0; i < r->count; i++) {
		const struct sweep_row *row = &r->rows[i];
		const struct sweep_point *p = &row->point;
		if (p->batch)
			fprintf(out, "%lld", (long long)p->batch);
		fprintf(out, ",%s,", row->type);
		for (int k = 0; k < row->dim_count; k++)
			fprintf(out, "%lld,", (long long)row->dims[k].value);
		report_csv_value(out, p->bound_ns, ',');
		report_csv_value(out, p->items_per_s, ',');
		report_csv_value(out, p->tokens_per_s, ',');
		report_csv_value(out, p->memory_bytes, ',');
		report_csv_value(out, p->flops_per_s, ',');
		fprintf(out, "%s,%s,%s,%s,", limit_name(p->by) ? limit_name(p->by) : "",
			p->complete ? "true" : "false", p->best ? "true" : "false",
			p->memory_at_least ? "true" : "false");
		report_csv_value(out, p->guess ? p->total_ns : NAN, '\n');
	}
	arena_free(&a);
}

json_t *report_sweep_json(const struct session *s, const struct sweep_row *row)
{
	const struct sweep_point *p = &row->point;
	struct scenario with = *session_scenario(s);
	char words[SCENARIO_TEXT_SIZE];
	with.matrix = p->matrix;
	json_t *dims = json_object();
	for (int i = 0; i < row->dim_count; i++)
		json_object_setn_new(
			dims, row->dims[i].name.p, row->dims[i].name.n, json_integer(row->dims[i].value));
	json_t *o = json_pack(
		"{s:s?, s:{s:o, s:s, s:o, s:o}, s:o, s:o, s:o, s:o, s:s?, s:o, s:o, s:i, "
		"s:b, s:b, s:b, s:b, s:o}",
		"device", session_device(s)->name, "scenario", "batch",
		p->batch ? json_integer(p->batch) : json_null(), "dtype", row->type, "dims",
		dims, "what_if", report_json_names(scenario_text(&with, words, sizeof(words))),
		"items_per_s", json_number_or_null(p->items_per_s),
		"tokens_per_s", json_number_or_null(p->tokens_per_s), "memory_bytes",
		json_number_or_null(p->memory_bytes), "flops_per_s", json_number_or_null(p->flops_per_s),
		"bound_by", limit_name(p->by), "bound_by_share",
		json_number_or_null(p->by ? p->by_share : NAN), "crossovers",
		row->crossovers < 0 ? json_null() : json_integer(row->crossovers), "unmeasured",
		row->unmeasured, "complete", p->complete, "estimated", p->estimated, "best", p->best,
		"memory_at_least", p->memory_at_least, "noisy_share", json_number_or_null(p->noisy_share));
	report_json_total(o, p);
	report_json_assumed(json_object_get(o, "scenario"), s);
	return o;
}
