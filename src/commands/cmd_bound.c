/* benanza bound: the lower bound in each scenario. */
#include "config.h"

#include "commands/each.h"
#include "commands/report.h"
#include "session/session_reality.h"
#include "table/tables/costs.h"
#include "table/tables/xsp.h"

struct bound_options {
	const char *analysis; /* --analysis LIST; NULL: none */
	unsigned analyses;    /* the same as bits (xsp_parse) */
	bool printed;         /* the report of an earlier batch or type */
};

static const struct option_row bound_rows[] = {
	{ "analysis", 0, "LIST", OWN_TEXT(bound_options, analysis),
		"tables instead of the report: XSP's A2, A3, A5, A6, A14 of the bound; B1 by-type, B2 "
		"by-scope, B3 by-class, B4 distribution, B5 gains, B6 by-limit; or all" },
	{ 0 }
};

static void bound_print(struct session *s, const struct options *o, unsigned analyses, bool first)
{
	const struct ground ground = session_ground(s);
	const struct report_analyses r = { .wanted = analyses, .ground = &ground };
	struct trust trust = session_trust(s);
	if (o->json) {
		json_t *all = report_bound_json(s, &trust);
		if (analyses)
			json_object_set_new(all, "analyses", report_analyses_json(s, &r));
		report_json_line(all, stdout);
	} else if (analyses)
		(o->csv ? report_analyses_csv : report_analyses_text)(s, &r, stdout);
	else if (o->csv)
		costs_csv(s, NULL, session_analysis(s)->layer_count, first, stdout);
	else
		report_bound_text(s, &trust, stdout);
}

static int bound(struct session *s, struct options *o, struct error *err)
{
	struct bound_options *own = o->own;
	if (session_reality_wait(s, err))
		return EXIT_BAD;
	if (o->csv && !o->quiet)
		report_dims_note(s);
	bound_print(s, o, own->analyses, !own->printed);
	own->printed = true;
	return session_analysis(s)->complete ? EXIT_DONE : EXIT_GAPS;
}

static int cmd_bound(struct options *o, struct error *err)
{
	struct bound_options *own = o->own;
	if (own->analysis && xsp_parse(own->analysis, true, &own->analyses, err))
		return EXIT_BAD;
	return each_scenario(o, bound, err);
}

const struct command command_bound = {
	.name = "bound",
	.arguments = "MODEL",
	.least = 1,
	.most = 1,
	.text = "lower bounds, coverage, what-ifs",
	.about = "Prints the lower bound of the model's latency, its measured share, the saving of each "
	"what-if, and the layers with the highest cost. Measures nothing: run bench first, or name a "
		 "recorded or described device.",
	.examples = { "benanza bound model.onnx",
		"benanza bound -d h100 -b 8 -t f16 -w fusion,matrix model.onnx" },
	.own = bound_rows,
	.own_size = sizeof(struct bound_options),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_json,
		&options_csv },
	.run = cmd_bound,
};
