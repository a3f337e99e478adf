/* benanza report: the HTML page. */
#include "config.h"

#include "commands/each.h"
#include "commands/report.h"
#include "session/session_reality.h"

struct report_options {
	bool dot;
};

static const struct option_row report_rows[] = {
	{ "dot", 0, NULL, OWN_FLAG(report_options, dot),
		"the model's graph for Graphviz instead, coloured by cost" },
	{ 0 }
};

static int report(struct session *s, struct options *o, struct error *err)
{
	const struct report_options *own = o->own;
	if (session_reality_wait(s, err))
		return EXIT_BAD;
	const struct trust trust = session_trust(s);
	if (own->dot)
		report_bound_dot(s, stdout);
	else
		report_bound_html(s, &trust, stdout);
	return session_analysis(s)->complete ? EXIT_DONE : EXIT_GAPS;
}

static int cmd_report(struct options *o, struct error *err)
{
	int64_t batch;
	enum dtype dtype;
	if (options_one_plan(o, &batch, &dtype, err)) /* two pages do not fit in one file */
		return EXIT_BAD;
	return each_scenario(o, report, err);
}

const struct command command_report = {
	.name = "report",
	.arguments = "MODEL",
	.least = 1,
	.most = 1,
	.text = "the lower bound as a page to keep or print",
	.about = "Prints the lower bound, the what-ifs and all layers as one self-contained HTML page with "
		"the source of each number. Measures nothing: run bench first, or name a "
		 "recorded or described device.",
	.examples = { "benanza report model.onnx > report.html",
		"benanza report -d h100 -w fusion --dot model.onnx > model.dot" },
	.own = report_rows,
	.own_size = sizeof(struct report_options),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads },
	.run = cmd_report,
};
