#include "config.h"

#include "commands/reach.h"
#include "commands/report.h"

#include <math.h>

#define SHOWN 6

static void row_print(
	const struct reach_row *row, const struct advice_target *t, bool by_batch, struct arena *a, FILE *out)
{
	char time[STR_QUANTITY], rate[STR_QUANTITY];
	int width = report_width(out) - 58;
	if (!by_batch)
		fprintf(out, "  -d %s", text_pad(a, text_clean(a, text_of(row->device)), 9, false));
	if (!isnan(t->items_per_s))
		fprintf(out, "  batch %-6lld", (long long)row->batch);
	fprintf(out, " %s%8s", row->estimated ? "~" : " ", str_duration(time, row->ns));
	if (!isnan(t->items_per_s))
		fprintf(out, " %8s/s", str_count(rate, row->items_per_s));
	fprintf(out, "  %-3s", row->reached ? "yes" : "no");
	if (!by_batch && row->model)
		fprintf(out, "  %s", text_cut(a, text_clean(a, text_of(row->model)), width, false));
	fputc('\n', out);
}

/* The slowest devices that reach it, and the fastest one that does not. */
static void devices_print(const struct reach *r, const struct advice_target *t, struct arena *a, FILE *out)
{
	int first = 0, hidden;
	while (first < r->device_count && !r->devices[first].reached)
		first++;
	int begin = first ? first - 1 : 0,
	    end = begin + SHOWN < r->device_count ? begin + SHOWN : r->device_count;
	for (int i = begin; i < end; i++)
		row_print(&r->devices[i], t, false, a, out);
	hidden = r->device_count - (end - begin);
	if (hidden)
		fprintf(out, "  %d more: --json lists all\n", hidden);
}

void report_reach_text(const struct reach *r, const struct advice_target *t, FILE *out)
{
	struct arena a = { 0 };
	if (r->batch_count) {
		fprintf(out,
			"\nlarger batches on this device, each with its advice\n");
		for (int i = 0; i < r->batch_count; i++)
			row_print(&r->batches[i], t, true, &a, out);
	}
	if (r->device_count) {
		fprintf(out, "\nother devices, each with its advice\n");
		devices_print(r, t, &a, out);
	} else
		fprintf(out, "\nno other device has a complete bound of this model (benanza devices)\n");
	arena_free(&a);
}

static json_t *rows_json(const struct reach_row *rows, int count)
{
	json_t *list = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(list,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:b, s:b}", "device",
				report_json_text(rows[i].device), "model", report_json_text(rows[i].model),
				"batch", rows[i].batch ? json_integer(rows[i].batch) : json_null(),
				"bound_ns", json_number_or_null(rows[i].estimated ? NAN : rows[i].ns),
				"estimate_ns", json_number_or_null(rows[i].estimated ? rows[i].ns : NAN),
				"items_per_s", rows[i].items_per_s, "estimated",
				rows[i].estimated, "reached", rows[i].reached));
	return list;
}

json_t *report_reach_json(const struct reach *r)
{
	return json_pack("{s:o, s:o}", "batches", rows_json(r->batches, r->batch_count), "devices",
		rows_json(r->devices, r->device_count));
}
