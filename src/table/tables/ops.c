/* The table of operators: one row for each range of opsets. */
#include "config.h"

#include "table/tables/ops.h"

#include "ops/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text and CSV have the rules as words and as 0 or 1, JSON as true or false. */
static const struct table_column columns[] = {
	{ "operator", "operator", TABLE_NAME, IN_SHOWN | IN_CSV },
	{ "name", "", TABLE_NAME, IN_JSON },
	{ "domain", "", TABLE_TEXT, IN_DATA },
	{ "opsets", "opsets", TABLE_TEXT, IN_SHOWN },
	{ "since", "", TABLE_INDEX, IN_DATA },
	{ "until", "", TABLE_INDEX, IN_DATA },
	{ "inputs", "", TABLE_INDEX, IN_JSON },
	{ "class", "class", TABLE_TEXT, IN_ALL },
	{ "shape", "shape", TABLE_INDEX, IN_SHOWN | IN_CSV },
	{ "cost", "cost", TABLE_INDEX, IN_SHOWN | IN_CSV },
	{ "problem", "problem", TABLE_INDEX, IN_SHOWN | IN_CSV },
	{ "shape", "", TABLE_BOOL, IN_JSON },
	{ "cost", "", TABLE_BOOL, IN_JSON },
	{ "problem", "", TABLE_BOOL, IN_JSON },
	{ "note", "note", TABLE_TEXT, IN_SHOWN | IN_CSV | IN_WRAP },
	{ "note", "", TABLE_TEXT, IN_JSON },
};

/* By domain, name and version. */
static int row_compare(const void *a, const void *b)
{
	const struct op *x = *(const struct op *const *)a, *y = *(const struct op *const *)b;
	int order = strcmp(x->domain, y->domain);
	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (x->since > y->since) - (x->since < y->since);
}

static void row_fill(struct table *t, const struct op *op)
{
	const bool rules[] = { op->shape, op->cost, op->problem };
	table_row(t, 0, 0);
	table_text(t, op->name);
	table_text(t, op->name);
	table_text(t, op->domain);
	table_text(t, op->until ? arena_printf(&t->arena, "%d-%d", op->since, op->until) :
		arena_printf(&t->arena, "%d-", op->since));
	table_number(t, op->since, "");
	table_number(t, op->until ? op->until : NAN, "");
	table_number(t, op->inputs_max < 0 ? NAN : op->inputs_max, "");
	table_text(t, op_class_name(op->class));
	for (int i = 0; i < 3; i++)
		table_shown(t, rules[i], rules[i] ? "yes" : "-");
	for (int i = 0; i < 3; i++)
		table_number(t, rules[i], "");
	table_text(t, op->note ? op->note : "");
	table_text(t, op->note);
}

void ops_table(struct table *t)
{
	size_t count = op_row_count();
	const struct op **rows = ARENA_ARRAY(&t->arena, const struct op *, count);
	for (size_t i = 0; i < count; i++)
		rows[i] = op_row(i);
	qsort(rows, count, sizeof(*rows), row_compare);
	TABLE_COLUMNS(t, columns);
	for (size_t i = 0; i < count; i++)
		row_fill(t, rows[i]);
}
