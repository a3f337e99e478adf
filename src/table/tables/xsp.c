/* XSP's analyses as tables. */
#include "config.h"

#include "table/lines.h"
#include "table/print.h"
#include "table/tables/total.h"
#include "table/tables/xsp.h"

#include <math.h>
#include <string.h>

static const enum table_unit units[] = {
	[XSP_TEXT] = TABLE_NAME,
	[XSP_INDEX] = TABLE_INDEX,
	[XSP_COUNT] = TABLE_INDEX,
	[XSP_NS] = TABLE_NS,
	[XSP_BYTES] = TABLE_BYTES,
	[XSP_SHARE] = TABLE_SHARE,
	[XSP_FLOPS] = TABLE_QUANTITY,
	[XSP_RATE] = TABLE_QUANTITY,
	[XSP_INTENSITY] = TABLE_NUMBER,
	[XSP_PER_S] = TABLE_QUANTITY,
};
static const struct table_column name_column = { "analysis", "", TABLE_TEXT, IN_CSV };
static const struct table_column estimated_column = { "estimated", "", TABLE_BOOL, IN_JSON };

/* Returns true for a row of the profile without time and layer (PyTorch's aten::detach), which text omits. */
static bool is_idle(const struct xsp_table *x, int row)
{
	const struct xsp_analysis *a = x->analysis;
	if (strcmp(a->columns[0].name, "layer") != 0 || !isnan(xsp_cell(x, row, 0)->number))
		return false;
	for (int k = 1; k < a->column_count; k++)
		if (a->columns[k].unit == XSP_NS)
			return xsp_cell(x, row, k)->number == 0;
	return false;
}

static void idle_note(struct table *t, int count)
{
	if (count)
		table_note(t, "%d row%s without time and layer left out", count, count == 1 ? "" : "s");
}

/* Layers have their number in lists; the analysis has their index. numbers: of the plan's layers. */
static void cell_fill(
	struct table *t, const struct xsp_column *c, const struct xsp_cell *x, const int *numbers)
{
	if (c->unit == XSP_TEXT)
		table_text(t, *x->text ? x->text : NULL);
	else if (strcmp(c->name, "layer") != 0 || isnan(x->number))
		table_number(t, x->number, x->estimated ? "~" : "");
	else
		table_shown(t, x->number, numbers[(int)x->number] ?
			arena_printf(&t->arena, "%d", numbers[(int)x->number]) : "-");
}

static void rows_fill(struct table *t, const struct session *s, const struct xsp_table *x)
{
	const struct xsp_analysis *a = x->analysis;
	int total, idle = 0, *numbers = session_numbers(session_plan(s), &t->arena, &total);
	for (int i = 0; i < x->row_count; i++) {
		bool hidden = is_idle(x, i), estimated = false;
		idle += hidden;
		table_row(t, hidden ? ROW_HIDDEN : 0, 0);
		plan_cells(t, session_plan(s));
		table_text(t, a->id);
		for (int k = 0; k < a->column_count; k++) {
			cell_fill(t, &a->columns[k], xsp_cell(x, i, k), numbers);
			estimated |= xsp_cell(x, i, k)->estimated;
		}
		table_number(t, estimated, "");
	}
	idle_note(t, idle);
}

static struct xsp_table *analysis_of(struct arena *to, const struct session *s,
	const struct report_analyses *r, const struct xsp_analysis *a)
{
	const struct xsp_input in = { .plan = session_plan(s),
		.bound = session_analysis(s),
		.peaks = session_peaks(s),
		.ground = r->ground,
		.device = session_device(s)->model,
		.executions = r->executions,
		.execution_count = r->count };
	return xsp_analyze(to, a, &in);
}

/* Returns the analysis that the table is filled from, in its arena; NULL if it is not wanted. */
static const struct xsp_table *fill(
	struct table *t, const struct session *s, const struct report_analyses *r, int i)
{
	int count;
	const struct xsp_analysis *all = xsp_analyses(&count);
	if (i >= count || !(r->wanted & 1u << i))
		return NULL;
	const struct xsp_table *x = analysis_of(&t->arena, s, r, &all[i]);
	plan_columns(t);
	table_columns(t, &name_column, 1);
	for (int k = 0; k < all[i].column_count; k++)
		table_columns(t, &(struct table_column){ all[i].columns[k].name, all[i].columns[k].label,
			units[all[i].columns[k].unit], IN_ALL | IN_ALWAYS }, 1);
	table_columns(t, &estimated_column, 1);
	t->title = arena_printf(&t->arena, "%s %s: %s", all[i].id, all[i].name, all[i].title);
	t->empty = x->missing;
	rows_fill(t, s, x);
	if (*x->note && !x->missing)
		table_note(t, "%s", x->note);
	return x;
}

bool xsp_table(struct table *t, const struct session *s, const struct report_analyses *r, int i)
{
	return fill(t, s, r, i) != NULL;
}

static int analysis_count(void)
{
	int count;
	xsp_analyses(&count);
	return count;
}

void report_analyses_text(const struct session *s, const struct report_analyses *r, FILE *out)
{
	bool first = true;
	for (int i = 0; i < analysis_count(); i++) {
		struct table t = { 0 };
		if (xsp_table(&t, s, r, i)) {
			fputs(first ? "" : "\n", out);
			table_print_text(&t, report_most(out), out);
			first = false;
		}
		table_free(&t);
	}
}

void report_analyses_csv(const struct session *s, const struct report_analyses *r, FILE *out)
{
	for (int i = 0; i < analysis_count(); i++) {
		struct table t = { 0 };
		if (xsp_table(&t, s, r, i))
			table_print_csv(&t, true, out);
		table_free(&t);
	}
}

static json_t *columns_json(const struct xsp_analysis *a)
{
	json_t *columns = json_array();
	for (int k = 0; k < a->column_count; k++)
		json_array_append_new(columns, json_pack("{s:s, s:s}", "name", a->columns[k].name, "unit",
			xsp_unit_name(a->columns[k].unit)));
	return columns;
}

json_t *report_analyses_json(const struct session *s, const struct report_analyses *r)
{
	json_t *list = json_array();
	for (int i = 0; i < analysis_count(); i++) {
		struct table t = { 0 };
		const struct xsp_table *x = fill(&t, s, r, i);
		if (x)
			json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:s?}", "id",
				x->analysis->id, "name", x->analysis->name, "title", x->analysis->title,
				"columns", columns_json(x->analysis), "rows", table_rows_json(&t), "note",
				x->note, "missing", x->missing));
		table_free(&t);
	}
	return list;
}

/* ---- the tree ---- */

static const struct table_column tree_columns[] = {
	{ "depth", "", TABLE_INDEX, IN_CSV },
	{ "kind", "", TABLE_TEXT, IN_DATA },
	{ "name", "name", TABLE_NAME, IN_ALL },
	{ "kind", "kind", TABLE_TEXT, IN_SHOWN },
	{ "op", "", TABLE_TEXT, IN_DATA },
	{ "layer", "", TABLE_INDEX, IN_CSV },
	{ "real_ns", "measured", TABLE_NS, IN_ALL | IN_ALWAYS },
	{ "bound_ns", "bound", TABLE_NS, IN_ALL | IN_ALWAYS },
	{ "ratio", "ratio", TABLE_RATIO, IN_ALL | IN_ALWAYS },
	{ "gap_ns", "gap", TABLE_NS, IN_ALL | IN_ALWAYS },
	{ "estimated", "", TABLE_BOOL, IN_JSON },
	{ "layer", "", TABLE_INDEX, IN_JSON },
};

void tree_table(struct table *t, const struct session *s, const struct tree *tree)
{
	int idle = 0;
	plan_columns(t);
	TABLE_COLUMNS(t, tree_columns);
	for (int i = 0; i < tree->count; i++) {
		const struct tree_node *n = &tree->nodes[i];
		const char *mark = n->estimated ? "~" : "";
		bool hidden = n->layer < 0 && n->real_ns == 0 && n->end == i + 1;
		idle += hidden;
		table_row(t, hidden ? ROW_HIDDEN : 0, n->depth);
		plan_cells(t, session_plan(s));
		table_number(t, n->depth, "");
		table_text(t, tree_kind_name(n->kind));
		table_text(t, n->name);
		table_text(t, tree_kind_name(n->kind));
		table_text(t, *n->op ? n->op : NULL);
		table_number(t, n->layer < 0 ? NAN : n->layer, "");
		table_number(t, n->real_ns, "");
		table_number(t, n->bound_ns, mark);
		table_number(t, n->ratio, mark);
		table_number(t, n->gap_ns, "");
		table_number(t, n->estimated, "");
		table_number(t, n->layer < 0 ? NAN : n->layer, "");
	}
	idle_note(t, idle);
}
