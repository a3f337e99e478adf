#include "config.h"

#include "commands/command.h"
#include "commands/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *opsets_text(const struct op *op, char buf[32])
{
	if (op->until)
		snprintf(buf, 32, "%d-%d", op->since, op->until);
	else
		snprintf(buf, 32, "%d-", op->since);
	return buf;
}

/* Sorts operators by domain, name and version. */
static int row_compare(const void *a, const void *b)
{
	const struct op *x = *(const struct op *const *)a, *y = *(const struct op *const *)b;
	int order = strcmp(x->domain, y->domain);
	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (x->since > y->since) - (x->since < y->since);
}

static const struct op **rows_sorted(struct arena *a, size_t count)
{
	const struct op **rows = ARENA_ARRAY(a, const struct op *, count);
	for (size_t i = 0; i < count; i++)
		rows[i] = op_row(i);
	qsort(rows, count, sizeof(*rows), row_compare);
	return rows;
}

static int cmd_ops(struct options *o, struct error *err)
{
	(void)err;
	size_t count = op_row_count();
	struct arena arena = { 0 };
	const struct op **rows = rows_sorted(&arena, count);
	json_t *list = json_array();
	char opsets[32];
	if (o->csv)
		puts("operator,domain,since,until,class,shape,cost,problem,note");
	else if (!o->json)
		printf("%-28s %-8s %-8s %-5s %-5s %-8s %s\n", "operator", "opsets", "class", "shape", "cost",
			"problem", "note");
	for (size_t i = 0; i < count; i++) {
		const struct op *op = rows[i];
		if (o->json) {
			json_array_append_new(list,
				json_pack("{s:s, s:s, s:i, s:o, s:o, s:s, s:b, s:b, s:b, s:s?}", "name",
					op->name, "domain", op->domain, "since", op->since, "until",
					op->until ? json_integer(op->until) : json_null(), "inputs",
					op->inputs_max < 0 ? json_null() : json_integer(op->inputs_max),
					"class",
					op_class_name(op->class), "shape", op->shape != NULL, "cost",
					op->cost != NULL, "problem", op->problem != NULL, "note", op->note));
		} else if (o->csv) {
			printf("%s,%s,%d,", op->name, op->domain, op->since);
			if (op->until)
				printf("%d", op->until);
			printf(",%s,%d,%d,%d,", op_class_name(op->class), op->shape != NULL, op->cost != NULL,
				op->problem != NULL);
			csv_field(stdout, op->note ? op->note : "", '\n');
		} else {
			report_line(stdout, INT_MAX, "%-28s %-8s %-8s %-5s %-5s %-8s %s", op->name,
				opsets_text(op, opsets), op_class_name(op->class),
				op->shape ? "yes" : "-", op->cost ? "yes" : "-",
				op->problem ? "yes" : "-", op->note ? op->note : "");
		}
	}
	if (o->json)
		report_json_line(json_pack("{s:o}", "operators", list), stdout);
	else
		json_decref(list);
	arena_free(&arena);
	return EXIT_DONE;
}

const struct command command_ops = {
	.name = "ops",
	.arguments = "",
	.text = "the operator table",
	.about = "Prints the operators that have rules for shapes, costs and problems, by domain and name.",
	.examples = { "benanza ops", "benanza ops --csv > operators.csv" },
	.groups = { &options_json, &options_csv },
	.run = cmd_ops,
};
