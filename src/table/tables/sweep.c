/* The table of a sweep. */
#include "config.h"

#include "table/lines.h"
#include "table/print.h"
#include "table/tables/sweep.h"
#include "table/tables/total.h"

#include <math.h>
#include <string.h>

static const struct table_column begin[] = {
	{ "device", "", TABLE_TEXT, IN_JSON },
	{ "scenario.batch", "batch", TABLE_INDEX, IN_ALL },
	{ "scenario.dtype", "type", TABLE_TEXT, IN_ALL },
	{ "scenario.dims", "", TABLE_JSON, IN_JSON },
	{ "scenario.what_if", "", TABLE_JSON, IN_JSON },
	{ "scenario.assumed", "", TABLE_JSON, IN_JSON | IN_OPTIONAL },
};
static const struct table_column middle[] = {
	{ "bound_ns", "", TABLE_NS, IN_CSV },
	{ "items_per_s", "items/s", TABLE_QUANTITY, IN_ALL },
	{ "tokens_per_s", "tokens/s", TABLE_QUANTITY, IN_ALL },
	{ "memory_bytes", "memory", TABLE_BYTES, IN_ALL },
	{ "flops_per_s", "", TABLE_QUANTITY, IN_DATA },
	{ "limited_by", "", TABLE_TEXT, IN_CSV },
	{ "bound_by", "", TABLE_TEXT, IN_JSON },
	{ "bound_by_share", "", TABLE_SHARE, IN_JSON },
	{ "crossovers", "other", TABLE_INDEX, IN_SHOWN | IN_JSON },
	{ "limit", "limited by", TABLE_TEXT, IN_SHOWN },
	{ "unmeasured", "", TABLE_INDEX, IN_JSON },
	{ "complete", "", TABLE_BOOL, IN_DATA },
	{ "estimated", "", TABLE_BOOL, IN_JSON },
	{ "best", "", TABLE_BOOL, IN_ALL },
	{ "memory_at_least", "", TABLE_BOOL, IN_DATA },
	{ "noisy_share", "", TABLE_SHARE, IN_JSON },
};
static const struct table_column bar = { "bar", "", TABLE_BAR, IN_SHOWN };

/* What the rows have in common, for the notes. */
struct facts {
	bool batch, best, growing, estimated, guess, crossovers;
	int series_rows; /* of the longest series */
	int noisy, unmeasured;
};

static struct facts facts_of(const struct report_sweep *r)
{
	struct facts f = { 0 };
	int rows = 0;
	for (int i = 0; i < r->count; i++) {
		const struct sweep_row *row = &r->rows[i];
		rows = row->first ? 1 : rows + 1;
		f.series_rows = rows > f.series_rows ? rows : f.series_rows;
		f.batch |= row->point.batch > 0;
		f.best |= row->point.best;
		f.growing |= row->point.growing;
		f.estimated |= row->point.estimated;
		f.guess |= row->point.guess;
		f.crossovers |= row->crossovers >= 0;
		f.noisy += sweep_is_noisy(&row->point);
		f.unmeasured += !row->point.complete && (!row->lack || row->unmeasured);
	}
	return f;
}

static json_t *dims_json(const struct sweep_row *row)
{
	json_t *dims = json_object();
	for (int i = 0; i < row->dim_count; i++)
		json_object_setn_new(
			dims, row->dims[i].name.p, row->dims[i].name.n, json_integer(row->dims[i].value));
	return dims;
}

static const char *limit_text(struct arena *a, const struct sweep_point *p)
{
	const char *name = limit_name(p->by);
	return name ? arena_printf(a, "%s %s%.0f%%", name, p->complete && !p->estimated ? "" : "~",
		100 * p->by_share) : "-";
}

static void row_fill(struct table *t, const struct session *s, const struct sweep_row *row, bool group)
{
	const struct sweep_point *p = &row->point;
	struct scenario with = *session_scenario(s);
	char words[SCENARIO_TEXT_SIZE];
	with.matrix = p->matrix;
	table_row(t, group ? ROW_GROUP : 0, 0);
	table_text(t, session_device(s)->name);
	table_number(t, p->batch ? (double)p->batch : NAN, "");
	table_text(t, row->type);
	table_json(t, dims_json(row));
	table_json(t, report_json_names(scenario_text(&with, words, sizeof(words))));
	table_json(t, total_assumed_json(s));
	for (int i = 0; i < row->dim_count; i++)
		table_number(t, (double)row->dims[i].value, "");
	table_number(t, p->total_ns, sweep_mark(p));
	table_number(t, p->bound_ns, "");
	table_number(t, p->items_per_s, sweep_rate_mark(p));
	table_number(t, p->tokens_per_s, sweep_rate_mark(p));
	table_number(t, p->memory_bytes, sweep_memory_mark(p));
	table_number(t, p->flops_per_s, "");
	table_text(t, limit_name(p->by));
	table_text(t, limit_name(p->by));
	table_number(t, p->by ? p->by_share : NAN, "");
	table_shown(t, row->crossovers < 0 ? NAN : row->crossovers, row->crossovers < 0 ? "" : NULL);
	table_text(t, limit_text(&t->arena, p));
	table_number(t, row->unmeasured, "");
	table_number(t, p->complete, "");
	table_number(t, p->estimated, "");
	table_number(t, p->best, "");
	table_number(t, p->memory_at_least, "");
	table_number(t, p->noisy_share, "");
	total_cells(t, p);
	table_number(t, !p->complete ? NAN : isnan(p->tokens_per_s) ? p->items_per_s : p->tokens_per_s,
		"");
}

/* What the marks and the columns mean. */
static void notes_add(struct table *t, const struct session *s, const struct report_sweep *r,
	const struct facts *f)
{
	table_note(t, "%s", "");
	if (f->best)
		table_note(t, "*  the best batch: up to here each doubling gained more than %.0f%% "
			"throughput", 100 * SWEEP_LEAST_GAIN);
	if (f->growing)
		table_note(t, "   the best batch is the largest one here: larger batches (-b) may be better");
	if (!f->best && f->series_rows > 1 && f->batch)
		table_note(t, "no best batch: fewer than two batches are complete");
	if (f->noisy)
		table_note(t, "noisy: %d of %d were measured while other work disturbed the machine: "
			"bench --shaky", f->noisy, r->count);
	if (f->estimated)
		table_note(t, "~  contains estimates");
	if (f->unmeasured && session_described(s))
		table_note(t, ">= %d of %d have layers without an estimate on this device (bound): "
			"use another -t, or --assume LAYER=TIME", f->unmeasured, r->count);
	else if (f->unmeasured)
		table_note(t, ">= %d of %d have layers without a result: run bench with the same -b, -t%s "
			"first", f->unmeasured, r->count, r->rows[0].dim_count ? " and each --dim" : "");
	const char *said = NULL;
	for (int i = 0; i < r->count; i++)
		if (r->rows[i].lack && (!said || strcmp(said, r->rows[i].lack) != 0))
			table_note(t, "%s", said = r->rows[i].lack);
	if (f->crossovers)
		table_note(t, "other: layers with another algorithm than in the previous batch");
}

void sweep_table(struct table *t, const struct session *s, const struct report_sweep *r)
{
	struct facts f = facts_of(r);
	TABLE_COLUMNS(t, begin);
	for (int i = 0; r->count && i < r->rows[0].dim_count; i++) {
		const char *name = text_clean(&t->arena, r->rows[0].dims[i].name);
		table_columns(t, &(struct table_column){ name, name, TABLE_INDEX, IN_SHOWN | IN_CSV }, 1);
	}
	table_columns(t, &(struct table_column){ "total", f.guess ? "estimate" : "bound", TABLE_NS,
		IN_SHOWN | IN_ALWAYS }, 1);
	TABLE_COLUMNS(t, middle);
	total_columns(t);
	table_columns(t, &bar, 1);
	for (int i = 0; i < r->count; i++)
		row_fill(t, s, &r->rows[i], r->rows[i].first && f.series_rows > 1);
	notes_add(t, s, r, &f);
}
