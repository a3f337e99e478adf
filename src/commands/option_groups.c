/* The options that commands share. */
#include "config.h"

#include "commands/command.h"

static const struct option_row common_rows[] = {
	{ "config", 'c', "FILE", USE_FILE, NULL, 0, "configuration file (benanza.yaml(5))" },
	{ "db", 0, "FILE", CONFIG_KEY("db"), "database of results" },
	{ "ascii", 0, NULL, SHARED_FLAG(ascii), "ASCII characters only" },
	{ "no-color", 0, NULL, CONFIG_KEY("color"), "no colours (NO_COLOR does the same)" },
	{ "quiet", 'q', NULL, SHARED_FLAG(quiet), "no progress, no notes" },
	{ "verbose", 'v', NULL, SHARED_FLAG(verbose), "write a log ($XDG_STATE_HOME/benanza/log)" },
	{ "version", 0, NULL, SHARED_FLAG(version), "print the version and exit" },
	{ "help", 'h', NULL, SHARED_FLAG(help), "print the help of the command and exit" },
	{ 0 }
};
const struct option_group options_common = { "common options", true, common_rows };

static const struct option_row model_rows[] = {
	{ "batch", 'b', "LIST", CONFIG_KEY("batch"), "batch sizes, e.g. 1,8,32" },
	{ "dtype", 't', "LIST", CONFIG_KEY("dtype"),
		"data types of the layers, e.g. f32,bf16,s8; default: the model's own" },
	{ "dim", 0, "NAME=VALUE", USE_DIM, NULL, 0,
		"value of a symbolic dimension (repeatable; remembered)" },
	{ "input", 0, "NAME=1x3x224x224", USE_INPUT, NULL, 0, "shape of a model input (repeatable)" },
	{ "value", 0, "NAME=16000", USE_VALUE, NULL, 0,
		"value of a model input that decides shapes or branches (repeatable)" },
	{ "functions", 0, "WHICH", CONFIG_KEY("functions"),
		"model functions with the name of an operator: operators: run that operator; expand: run "
		"the function's nodes" },
	{ 0 }
};
const struct option_group options_model = { "model", false, model_rows };

static const struct option_row device_rows[] = {
	{ "device", 'd', "NAME", CONFIG_KEY("device"),
		"a runner (cpu, cuda:1), a recorded device (number, or part of its model or stack), or a "
		"described one (h100)" },
	{ 0 }
};
const struct option_group options_device = { "device", true, device_rows };

static const struct option_row threads_rows[] = {
	{ "threads", 0, "N", CONFIG_KEY("threads"), "threads of the CPU runner" },
	{ 0 }
};
const struct option_group options_threads = { "device", true, threads_rows };

static const struct option_row scenario_rows[] = {
	{ "what-if", 'w', "LIST", CONFIG_KEY("what_if"),
		"what-ifs and names of scenarios, e.g. fusion,matrix=off,algorithm=preferred" },
	{ "assume", 0, "LAYER=COST", USE_ASSUME, NULL, 0,
		"cost of a layer with a custom kernel: 12us, 2x (twice as fast), 0 (repeatable); LAYER: "
		"name, number, wildcard, op=Conv or problem" },
	{ 0 }
};
const struct option_group options_scenario = { "scenario", false, scenario_rows };

static const struct option_row budget_rows[] = {
	{ "budget", 0, "MS", CONFIG_KEY("budget_ms"), "measuring time for each algorithm of a problem" },
	{ "budget-ms", 0, "MS", CONFIG_KEY("budget_ms"), "same as --budget; the name used in jobs" },
	{ 0 }
};
const struct option_group options_budget = { "measurement", false, budget_rows };

static const struct option_row agents_rows[] = {
	{ "requests", 0, "N", USE_REQUESTS, NULL, 0,
		"requests that agents run at a time (1 to 1024); above 1 the latency is not compared with "
		"the bound" },
	{ "agent-option", 0, "KEY=VALUE", USE_AGENT_OPTION, NULL, 0,
		"option of the framework itself, e.g. NUM_STREAMS=2 or "
		"session.intra_op.allow_spinning=0 (repeatable)" },
	{ 0 }
};
const struct option_group options_agents = { "agents", false, agents_rows };

static const struct option_row json_rows[] = {
	{ "json", 0, NULL, SHARED_FLAG(json), "JSON on standard output (benanza-json(5))" },
	{ 0 }
};
const struct option_group options_json = { "output", false, json_rows };

static const struct option_row csv_rows[] = {
	{ "csv", 0, NULL, SHARED_FLAG(csv), "comma-separated values" },
	{ 0 }
};
const struct option_group options_csv = { "output", false, csv_rows };

static const struct option_row force_rows[] = {
	{ "force", 0, NULL, SHARED_FLAG(force), "replace an existing file, unless the command reads it" },
	{ 0 }
};
const struct option_group options_force = { "output", false, force_rows };

const struct option_group *const options_shared[] = { &options_common, &options_model, &options_device,
	&options_threads, &options_scenario, &options_budget, &options_agents, &options_json,
	&options_csv, &options_force, NULL };
