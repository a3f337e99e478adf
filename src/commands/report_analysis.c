#include "config.h"

#include "commands/report_analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80
#define TEXT_LEAST 6 /* width limit of a column of text */
#define TREE_NAME 31 /* columns of names, at least */
#define TREE_REST 41 /* of what follows them */

/* ---- cells ---- */

struct printing {
	struct arena arena;
	const int *numbers; /* of layers in lists */
	const struct xsp_table *table;
	int *width;         /* of each column */
};

static const char *quantity(struct arena *a, double value, enum xsp_unit unit)
{
	char text[STR_QUANTITY];
	switch (unit) {
	case XSP_NS:
		return arena_printf(a, "%s", str_duration(text, value == 0 ? 0 : value));
	case XSP_BYTES:
		return arena_printf(a, "%s", str_bytes(text, value));
	case XSP_FLOPS:
	case XSP_RATE:
	case XSP_PER_S:
		return arena_printf(a, "%s", str_count(text, value));
	case XSP_SHARE:
		return isnan(value)                  ? "-"
			: value > 0 && value < 0.0005 ? arena_printf(a, "%.1g%%", 100 * value)
						      : arena_printf(a, "%.1f%%", 100 * value);
	default:
		return isnan(value) ? "-" : arena_printf(a, "%.*g", unit == XSP_INTENSITY ? 3 : 12, value);
	}
}

/* Layers have their number in lists; the table has their index. */
static const char *cell_text(struct printing *p, int row, int column)
{
	const struct xsp_column *c = &p->table->analysis->columns[column];
	const struct xsp_cell *cell = xsp_cell(p->table, row, column);
	if (c->unit == XSP_TEXT)
		return *cell->text ? cell->text : "-";
	if (!strcmp(c->name, "layer") && !isnan(cell->number))
		return p->numbers[(int)cell->number]
			? arena_printf(&p->arena, "%d", p->numbers[(int)cell->number])
			: "-";
	const char *text = quantity(&p->arena, cell->number, c->unit);
	return cell->estimated ? arena_printf(&p->arena, "~%s", text) : text;
}

/* Sets the widths of columns: numbers get the width they need; columns of text share the rest, the shorter
 * ones first. */
static void find_widths(struct printing *p, int most)
{
	const struct xsp_table *t = p->table;
	int n = t->analysis->column_count, left = most - 2 * (n - 1), texts = 0;
	for (int k = 0; k < n; k++) {
		p->width[k] = text_columns(t->analysis->columns[k].label);
		for (int i = 0; i < t->row_count; i++) {
			int columns = text_columns(cell_text(p, i, k));
			p->width[k] = columns > p->width[k] ? columns : p->width[k];
		}
		bool text = t->analysis->columns[k].unit == XSP_TEXT;
		texts += text;
		left -= text ? 0 : p->width[k];
	}
	for (int round = texts; round > 0; round--) {
		int least = -1;
		for (int k = 0; k < n; k++)
			if (t->analysis->columns[k].unit == XSP_TEXT && p->width[k] >= 0 &&
				(least < 0 || p->width[k] < p->width[least]))
				least = k;
		int share = left / round < TEXT_LEAST ? TEXT_LEAST : left / round;
		int width = p->width[least] < share ? p->width[least] : share;
		left -= width;
		p->width[least] = -1 - width; /* settled */
	}
	for (int k = 0; k < n; k++)
		p->width[k] = p->width[k] < 0 ? -1 - p->width[k] : p->width[k];
}

/* Returns true for a row of the profile without time and layer (PyTorch's aten::detach), which text omits. */
static bool is_idle(const struct xsp_table *t, int row)
{
	const struct xsp_analysis *x = t->analysis;
	if (strcmp(x->columns[0].name, "layer") != 0 || !isnan(xsp_cell(t, row, 0)->number))
		return false;
	for (int k = 1; k < x->column_count; k++)
		if (x->columns[k].unit == XSP_NS)
			return xsp_cell(t, row, k)->number == 0;
	return false;
}

static void note_idle(int count, FILE *out)
{
	if (count)
		fprintf(out, "%d row%s without time and layer left out\n", count, count == 1 ? "" : "s");
}

/* Returns true for names of layers: their ends tell them apart, so they are cut at the beginning. */
static bool is_layer_name(const struct xsp_analysis *x, int column)
{
	const char *name = x->columns[column].name;
	return !strcmp(name, "layer_name") || (!strcmp(name, "name") && !strcmp(x->columns[0].name, "layer"));
}

static void table_text(struct printing *p, FILE *out)
{
	int idle = 0;
	const struct xsp_analysis *x = p->table->analysis;
	p->width = ARENA_ARRAY(&p->arena, int, x->column_count);
	fprintf(out, "%s %s: %s\n", x->id, x->name, x->title);
	if (p->table->missing) {
		report_wrapped(p->table->missing, 0, WIDTH, out);
		return;
	}
	find_widths(p, report_width(out));
	for (int i = -1; i < p->table->row_count; i++) {
		if (i >= 0 && is_idle(p->table, i)) {
			idle++;
			continue;
		}
		for (int k = 0; k < x->column_count; k++) {
			const char *text = i < 0 ? x->columns[k].label : cell_text(p, i, k);
			bool last = k + 1 == x->column_count;
			int pad = p->width[k] - text_columns(text);
			if (x->columns[k].unit != XSP_TEXT)
				fprintf(out, "%*s%s", pad > 0 ? pad : 0, "", text);
			else
				fputs((last ? text_cut : text_pad)(
					      &p->arena, text, p->width[k], is_layer_name(x, k)),
					out);
			fputs(last ? "\n" : "  ", out);
		}
	}
	note_idle(idle, out);
	if (*p->table->note)
		report_wrapped(p->table->note, 0, WIDTH, out);
}

/* ---- analyses ---- */

static struct xsp_input input_of(const struct session *s, const struct report_analyses *r)
{
	return (struct xsp_input){ .plan = session_plan(s),
		.bound = session_analysis(s),
		.peaks = session_peaks(s),
		.ground = r->ground,
		.device = session_device(s)->model,
		.executions = r->executions,
		.execution_count = r->count };
}

/* Returns the table of the i-th analysis, or NULL if it is not requested. */
static const struct xsp_table *table_of(
	struct arena *a, const struct session *s, const struct report_analyses *r, int i)
{
	int count;
	const struct xsp_analysis *all = xsp_analyses(&count);
	const struct xsp_input in = input_of(s, r);
	return i < count && r->wanted & 1u << i ? xsp_analyze(a, &all[i], &in) : NULL;
}

static int analysis_count(void)
{
	int count;
	xsp_analyses(&count);
	return count;
}

void report_analyses_text(const struct session *s, const struct report_analyses *r, FILE *out)
{
	int total, n = analysis_count();
	bool first = true;
	for (int i = 0; i < n; i++) {
		struct printing p = { 0 };
		p.numbers = session_numbers(session_plan(s), &p.arena, &total);
		p.table = table_of(&p.arena, s, r, i);
		if (p.table && !first)
			fputc('\n', out);
		if (p.table) {
			table_text(&p, out);
			first = false;
		}
		arena_free(&p.arena);
	}
}

static json_t *rows_json(const struct xsp_table *t)
{
	json_t *rows = json_array();
	for (int i = 0; i < t->row_count; i++) {
		json_t *row = json_object();
		bool estimated = false;
		for (int k = 0; k < t->analysis->column_count; k++) {
			const struct xsp_column *c = &t->analysis->columns[k];
			const struct xsp_cell *cell = xsp_cell(t, i, k);
			json_object_set_new(row, c->name,
				c->unit != XSP_TEXT ? json_number_or_null(cell->number) :
				*cell->text         ? json_text(text_of(cell->text)) :
						      json_null());
			estimated |= cell->estimated;
		}
		json_object_set_new(row, "estimated", json_boolean(estimated));
		json_array_append_new(rows, row);
	}
	return rows;
}

json_t *report_analyses_json(const struct session *s, const struct report_analyses *r)
{
	json_t *list = json_array();
	for (int i = 0; i < analysis_count(); i++) {
		struct arena a = { 0 };
		const struct xsp_table *t = table_of(&a, s, r, i);
		if (t) {
			json_t *columns = json_array();
			for (int k = 0; k < t->analysis->column_count; k++)
				json_array_append_new(columns,
					json_pack("{s:s, s:s}", "name", t->analysis->columns[k].name, "unit",
						xsp_unit_name(t->analysis->columns[k].unit)));
			json_array_append_new(list,
				json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o}", "id", t->analysis->id,
					"name", t->analysis->name, "title", t->analysis->title, "columns",
					columns, "rows", rows_json(t), "note", t->note, "missing",
					t->missing ? json_string(t->missing) : json_null()));
		}
		arena_free(&a);
	}
	return list;
}

void report_analyses_csv(const struct session *s, const struct report_analyses *r, FILE *out)
{
	for (int i = 0; i < analysis_count(); i++) {
		struct arena a = { 0 };
		const struct xsp_table *t = table_of(&a, s, r, i);
		int n = t ? t->analysis->column_count : 0;
		for (int row = -1; t && row < t->row_count; row++) {
			if (row < 0)
				fputs("batch,dtype,analysis,", out);
			else {
				report_csv_plan(out, session_plan(s));
				fprintf(out, "%s,", t->analysis->id);
			}
			for (int k = 0; k < n; k++) {
				const struct xsp_cell *cell = row < 0 ? NULL : xsp_cell(t, row, k);
				const char *text = row < 0		   ? t->analysis->columns[k].name :
					t->analysis->columns[k].unit == XSP_TEXT ? cell->text :
					isnan(cell->number)			   ? "" :
						arena_printf(&a, "%.10g", cell->number);
				report_csv_field(out, text, k + 1 < n ? ',' : '\n');
			}
		}
		arena_free(&a);
	}
}

/* ---- the tree ---- */

static const char *ratio_text(struct arena *a, const struct tree_node *n)
{
	char text[STR_QUANTITY];
	return isnan(n->ratio) ? "-" : arena_printf(a, "%s%s", n->estimated ? "~" : "",
		str_ratio(text, n->ratio));
}

/* As wide as the names, as far as a terminal has room. */
static int tree_name_columns(const struct tree *t, FILE *out)
{
	int room = report_most(out) - TREE_REST, width = TREE_NAME;
	for (int i = 0; i < t->count; i++) {
		int n = 2 * t->nodes[i].depth + text_columns(t->nodes[i].name);
		width = n > width ? n : width;
	}
	return room >= width ? width : room > TREE_NAME ? room : TREE_NAME;
}

void report_tree_text(const struct tree *t, FILE *out)
{
	struct arena a = { 0 };
	int idle = 0, width = tree_name_columns(t, out);
	fprintf(out, "%-*s %-9s %9s %10s %7s %9s\n", width, "name", "kind", "measured", "bound", "ratio",
		"gap");
	for (int i = 0; i < t->count; i++) {
		const struct tree_node *n = &t->nodes[i];
		if (n->layer < 0 && n->real_ns == 0 && n->end == i + 1) {
			idle++;
			continue;
		}
		fprintf(out, "%*s%s %-9s %9s %10s %7s %9s\n", 2 * n->depth, "",
			text_pad(&a, n->name, width - 2 * n->depth, n->kind != TREE_KERNEL),
			tree_kind_name(n->kind),
			quantity(&a, n->real_ns, XSP_NS),
			arena_printf(&a, "%s%s", n->estimated && !isnan(n->bound_ns) ? "~" : "",
				quantity(&a, n->bound_ns, XSP_NS)),
			ratio_text(&a, n), quantity(&a, n->gap_ns, XSP_NS));
		if (i % 1000 == 999)
			arena_clear(&a);
	}
	note_idle(idle, out);
	arena_free(&a);
}

static json_t *node_json(const struct tree *t, int i)
{
	const struct tree_node *n = &t->nodes[i];
	json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "kind",
		tree_kind_name(n->kind), "name", json_text(text_of(n->name)), "op",
		*n->op ? json_text(text_of(n->op)) : json_null(), "real_ns", json_number_or_null(n->real_ns),
		"bound_ns", json_number_or_null(n->bound_ns), "ratio", json_number_or_null(n->ratio),
		"gap_ns", json_number_or_null(n->gap_ns), "estimated", n->estimated, "layer",
		n->layer >= 0 ? json_integer(n->layer) : json_null());
	json_t *children = json_array();
	for (int k = i + 1; k < n->end; k = t->nodes[k].end)
		json_array_append_new(children, node_json(t, k));
	json_object_set_new(o, "children", children);
	return o;
}

json_t *report_tree_json(const struct tree *t)
{
	return node_json(t, 0);
}

void report_tree_csv(const struct session *s, const struct tree *t, FILE *out)
{
	fputs("batch,dtype,depth,kind,name,op,layer,real_ns,bound_ns,ratio,gap_ns\n", out);
	for (int i = 0; i < t->count; i++) {
		const struct tree_node *n = &t->nodes[i];
		report_csv_plan(out, session_plan(s));
		fprintf(out, "%d,%s,", n->depth, tree_kind_name(n->kind));
		report_csv_field(out, n->name, ',');
		report_csv_field(out, n->op, ',');
		report_csv_value(out, n->layer < 0 ? NAN : n->layer, ',');
		report_csv_value(out, n->real_ns, ',');
		report_csv_value(out, n->bound_ns, ',');
		report_csv_value(out, n->ratio, ',');
		report_csv_value(out, n->gap_ns, '\n');
	}
}
