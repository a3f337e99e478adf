/* The table of described devices. */
#include "config.h"

#include "table/print.h"
#include "table/tables/devices.h"

#include "analyze/roof/calibration.h"

#include <math.h>

static const struct table_column columns[] = {
	{ "id", "device", TABLE_TEXT, IN_SHOWN | IN_JSON },
	{ "model", "model", TABLE_NAME, IN_SHOWN | IN_JSON },
	{ "arch", "arch", TABLE_TEXT, IN_SHOWN | IN_JSON },
	{ "sm", "sm", TABLE_INDEX, IN_SHOWN | IN_JSON },
	{ "caveat", "", TABLE_TEXT, IN_JSON },
	{ "llc_bytes", "", TABLE_BYTES, IN_JSON },
	{ "memory_bytes", "", TABLE_BYTES, IN_JSON },
	{ "bandwidth_bytes_s", "memory", TABLE_QUANTITY, IN_SHOWN | IN_JSON },
	{ "f32_flops", "f32", TABLE_QUANTITY, IN_SHOWN | IN_JSON },
	{ "f16_matrix_flops", "f16 matrix", TABLE_QUANTITY, IN_SHOWN | IN_JSON },
	{ "clock_share", "", TABLE_JSON, IN_JSON },
	{ "bandwidth_share", "", TABLE_JSON, IN_JSON },
	{ "sources", "", TABLE_JSON, IN_JSON },
	{ "peaks", "", TABLE_JSON, IN_JSON },
	{ "estimate_error", "", TABLE_JSON, IN_JSON },
	{ "error", "estimates differ by", TABLE_TEXT, IN_SHOWN },
};

json_t *report_json_error(int sm)
{
	const struct calibration_generation *g = calibration_generation(sm);
	return !sm ? json_null() : json_pack("{s:f, s:f, s:i, s:s}", "p50", g->error_median, "p90",
		g->error_most, "figures", g->figures, "generation", g->name);
}

/* "10%, 32% (87 latencies)" */
static const char *error_text(struct arena *a, int sm)
{
	const struct calibration_generation *g = calibration_generation(sm);
	return arena_printf(a, "%.0f%%, %.0f%% (%s)", 100 * g->error_median, 100 * g->error_most,
		g->figures ? arena_printf(a, "%d latencies", g->figures) : "other GPUs");
}

static void rate_fill(struct table *t, double rate, const char *unit)
{
	char number[STR_QUANTITY];
	str_count(number, rate);
	table_shown(t, rate, isnan(rate) ? NULL : arena_printf(&t->arena, "%s%s", number, unit));
}

static void row_fill(struct table *t, const struct described *d, bool error)
{
	json_t *sources = json_array();
	for (int i = 0; i < d->source_count; i++)
		json_array_append_new(sources, json_string(d->sources[i]));
	table_row(t, 0, 0);
	table_text(t, d->id);
	table_text(t, d->name);
	table_text(t, d->arch);
	table_number(t, d->sm, "");
	table_text(t, d->caveat);
	table_number(t, d->l2_bytes, "");
	table_number(t, d->memory_bytes, "");
	rate_fill(t, d->peaks.bandwidth_bytes_s, "B/s");
	rate_fill(t, d->peaks.flops[DTYPE_F32], "FLOP/s");
	rate_fill(t, d->peaks.matrix_flops[DTYPE_F16], "FLOP/s");
	table_json(t, json_real(d->peaks.clock_share));
	table_json(t, json_real(d->peaks.bandwidth_share));
	table_json(t, sources);
	table_json(t, peaks_json(&d->peaks));
	table_json(t, report_json_error(d->sm));
	table_text(t, error ? error_text(&t->arena, d->sm) : "");
	if (*d->caveat)
		table_note(t, "%s: %s", d->id, d->caveat);
}

void described_table(struct table *t, const struct described *list, int count, bool errors)
{
	TABLE_COLUMNS(t, columns);
	for (int i = 0; i < count; i++)
		row_fill(t, &list[i], errors);
	if (count && errors)
		table_note(t, "estimates differ by: median and 90th percentile of the differences from "
			"published latencies on GPUs of this architecture; without any, on all other GPUs");
}
