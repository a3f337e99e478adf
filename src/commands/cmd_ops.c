/* benanza ops: the operator table. */
#include "config.h"

#include "commands/command.h"
#include "table/lines.h"
#include "table/print.h"
#include "table/tables/ops.h"

static int cmd_ops(struct options *o, struct error *err)
{
	struct table t = { 0 };
	(void)err;
	ops_table(&t);
	if (o->json)
		report_json_line(json_pack("{s:o}", "operators", table_rows_json(&t)), stdout);
	else if (o->csv)
		table_print_csv(&t, true, stdout);
	else
		table_print_text(&t, report_most(stdout), stdout);
	table_free(&t);
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
