#include "config.h"

#include "commands/command.h"
#include "commands/report.h"

static const char *opsets_text(const struct op *op, char buf[32])
{
	if (op->until)
		snprintf(buf, 32, "%d-%d", op->since, op->until);
	else
		snprintf(buf, 32, "%d-", op->since);
	return buf;
}

int cmd_ops(struct options *o, struct error *err)
{
	if (options_expect(o, 0, 0, "ops [--json|--csv]", err))
		return EXIT_BAD;
	json_t *list = json_array();
	char opsets[32];
	if (o->csv)
		puts("operator,domain,since,until,class,shape,cost,problem,note");
	else if (!o->json)
		printf("%-28s %-8s %-8s %-5s %-5s %-8s %s\n", "operator", "opsets", "class", "shape", "cost", "problem", "note");
	for (size_t i = 0; i < op_row_count(); i++) {
		const struct op *op = op_row(i);
		if (o->json) {
			json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:o, s:s, s:b, s:b, s:b, s:s?}", "name", op->name,
				"domain", op->domain, "since", op->since, "until", op->until ? json_integer(op->until) :
				json_null(), "class", op_class_name(op->class), "shape", op->shape != NULL, "cost",
				op->cost != NULL, "problem", op->problem != NULL, "note", op->note));
		} else if (o->csv) {
			printf("%s,%s,%d,", op->name, op->domain, op->since);
			if (op->until)
				printf("%d", op->until);
			printf(",%s,%d,%d,%d,", op_class_name(op->class), op->shape != NULL, op->cost != NULL, op->problem != NULL);
			report_csv_field(stdout, op->note ? op->note : "", '\n');
		} else {
			printf("%-28s %-8s %-8s %-5s %-5s %-8s %s\n", op->name, opsets_text(op, opsets),
				op_class_name(op->class), op->shape ? "yes" : "-", op->cost ? "yes" : "-",
				op->problem ? "yes" : "-", op->note ? op->note : "");
		}
	}
	if (o->json)
		report_json_line(json_pack("{s:o}", "operators", list), stdout);
	else
		json_decref(list);
	return EXIT_DONE;
}
