/* benanza advise: what to change first. */
#include "config.h"

#include "commands/each.h"
#include "commands/reach.h"
#include "commands/report.h"
#include "session/session_reality.h"

#include <math.h>

struct advise_options {
	const char *target; /* --target; NULL: none */
	bool printed;       /* the advice of an earlier batch or type */
};

static const struct option_row advise_rows[] = {
	{ "target", 0, "TIME", OWN_TEXT(advise_options, target),
		"only the advice that reaches this latency (5ms, 300us) or throughput (200/s, items)" },
	{ 0 }
};

/* Advice for the selected plan. */
static int advise(struct session *s, struct options *o, struct error *err)
{
	struct advise_options *own = o->own;
	struct arena a = { 0 };
	struct advice_target target = { NAN, NAN };
	struct reach reach = { 0 };
	if (own->target && advice_target_parse(own->target, session_plan(s)->batch, &target, err)) {
		error_context(err, "--target");
		return EXIT_BAD;
	}
	if (session_reality_wait(s, err))
		return EXIT_BAD;
	struct scenario from = session_config(s)->what_if ? *session_scenario(s) : session_unoptimized(s);
	struct advice_list list = session_advice(s, &a, &from, target.ns);
	bool missed = own->target && !list.reached && !isnan(list.start_ns);
	if (missed)
		reach = reach_find(s, &target, &a);
	if (o->json) {
		json_t *all = report_advice_json(s, &list, &from);
		json_object_set_new(all, "would_reach", missed ? report_reach_json(&reach) : json_null());
		report_json_line(all, stdout);
	} else if (o->csv) {
		struct table t = { 0 };
		advice_table(&t, s, &list);
		table_print_csv(&t, !own->printed, stdout);
		table_free(&t);
	} else {
		report_advice_text(s, &list, &from, &target, stdout);
		if (missed)
			report_reach_text(&reach, &target, stdout);
	}
	own->printed = true;
	bool gaps = !list.complete || isnan(list.start_ns) || (own->target && !list.reached);
	arena_free(&a);
	return gaps ? EXIT_GAPS : EXIT_DONE;
}

static int cmd_advise(struct options *o, struct error *err)
{
	return each_scenario(o, advise, err);
}

const struct command command_advise = {
	.name = "advise",
	.arguments = "MODEL",
	.least = 1,
	.most = 1,
	.text = "optimizations, ranked by their saving",
	.about = "Prints what to do first: fusions, algorithms, matrix units, data types, launches, layouts, "
		 "each with its saving after all advice above it, and how to do it in ONNX Runtime, "
		 "TensorRT and PyTorch. It starts from the unoptimized model, or from the scenario of -w. "
		 "Measures nothing: run bench first, or name a recorded or described device.",
	.examples = { "benanza advise model.onnx", "benanza advise -d h100 -b 8 --target 2ms model.onnx" },
	.own = advise_rows,
	.own_size = sizeof(struct advise_options),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_json,
		&options_csv },
	.run = cmd_advise,
};
