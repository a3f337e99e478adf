/* What reaches a target, as text and JSON. */
#include "config.h"

#include "commands/reach.h"
#include "commands/report.h"

#include <math.h>

/* Prints a table after a line. */
static void rows_print(const char *title, const struct reach_row *rows, int count, bool rate, FILE *out)
{
	struct table t = { .title = title };
	reach_table(&t, rows, count, rate);
	fputc('\n', out);
	table_print_text(&t, report_most(out), out);
	table_free(&t);
}

void report_reach_text(const struct reach *r, const struct advice_target *t, FILE *out)
{
	bool rate = !isnan(t->items_per_s);
	if (r->batch_count)
		rows_print("larger batches on this device, each with its advice", r->batches, r->batch_count,
			rate, out);
	if (r->device_count)
		rows_print("other devices, each with its advice", r->devices, r->device_count, rate, out);
	else
		fprintf(out, "\nno other device has a complete bound of this model (benanza devices)\n");
}

static json_t *rows_json(const struct reach_row *rows, int count)
{
	struct table t = { 0 };
	reach_table(&t, rows, count, true);
	json_t *list = table_rows_json(&t);
	table_free(&t);
	return list;
}

json_t *report_reach_json(const struct reach *r)
{
	return json_pack("{s:o, s:o}", "batches", rows_json(r->batches, r->batch_count), "devices",
		rows_json(r->devices, r->device_count));
}
