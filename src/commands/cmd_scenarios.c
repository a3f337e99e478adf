/* scenarios: named scenarios side by side. A row has the options of the command line and -w NAME after them.
 */
#include "config.h"

#include "commands/each.h"
#include "commands/report.h"
#include "table/tables/scenarios.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

struct scenarios_options {
	const char *delete, *rename;
	bool yes;
};

static const struct option_row scenarios_rows[] = {
	{ "delete", 0, "NAME", OWN_TEXT(scenarios_options, delete),
		"delete a scenario that the explorer saved; asks first" },
	{ "rename", 0, "NAME=NEW", OWN_TEXT(scenarios_options, rename), "rename a scenario that the "
		"explorer saved" },
	{ "yes", 0, NULL, OWN_FLAG(scenarios_options, yes), "with --delete: do not ask" },
	{ 0 }
};

/* The command line with -w NAME after the other options. */
static int options_of(struct options *o, const char *name, struct options *other, struct error *err)
{
	char *words[] = { arena_strndup(&o->arena, "-w", 2), arena_strndup(&o->arena, name, strlen(name)) };
	other->scenario_wins = true;
	return options_parse_with(other, o, words, 2, err);
}

static const char *kept(struct arena *a, const char *text)
{
	return text ? text_clean(a, text_of(text)) : "";
}

static void row_fill(struct session *s, struct scenario_row *row, struct arena *a)
{
	char words[SCENARIO_TEXT_SIZE];
	struct str dims = { 0 };
	struct ground ground = session_ground(s);
	session_dims_describe(s, &dims);
	row->point = sweep_point_of(&ground, session_analysis(s));
	row->unmeasured = session_analysis(s)->unmeasured_problems;
	row->what_ifs = kept(a, scenario_text(session_scenario(s), words, sizeof(words)));
	row->device = kept(a, session_device(s)->model);
	row->stack = kept(a, session_device(s)->stack);
	row->dims = kept(a, dims.p);
	row->batch = session_plan(s)->batch;
	row->type = plan_type_name(session_plan(s));
	str_free(&dims);
}

/* A row that cannot be analysed says why; the others are printed. */
static void row_add(struct options *o, struct scenario_rows *r, const char *name, bool notes)
{
	struct options other = { 0 };
	struct session *s = NULL;
	struct error err = ERROR_NONE;
	struct scenario_row *row = &r->rows[r->count++];
	*row = (struct scenario_row){ .name = name,
		.type = "?", .point = SWEEP_POINT_UNKNOWN };
	if ((name && options_of(o, name, &other, &err)) ||
		each_open(name ? &other : o, 0, &s, &err) != EXIT_DONE)
		row->why = kept(&o->arena, err.text);
	else {
		if (notes)
			each_notes(s, o);
		row_fill(s, row, &o->arena);
	}
	session_close(s);
	if (name)
		options_free(&other);
}

static int names_check(const struct options *o, struct error *err)
{
	for (int i = 1; i < o->argc; i++) {
		const char *near = config_scenario_nearest(&o->config, text_of(o->argv[i]));
		if (config_scenario(&o->config, text_of(o->argv[i])))
			continue;
		return error_set(err, "'%.40s' is not a scenario of the configuration%s%s%s", o->argv[i],
			near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	}
	if (!o->config.scenario_count)
		return error_set(err,
			"no scenarios are configured: write them under scenarios: in %s, or save "
			"them in the explorer (view scenarios)",
			o->config.path ? o->config.path : "the configuration, see benanza.yaml(5)");
	return 0;
}

/* True if a person answers the question with y. -1 with err: there is nobody to ask. */
static int is_sure(const struct options *o, const char *name, struct error *err)
{
	const struct scenarios_options *own = o->own;
	char answer[16] = "";
	if (own->yes)
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return error_set(err, "--delete %.40s asks before it deletes: add --yes", name);
	fprintf(stderr, "delete the scenario %s? [y/N] ", name);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* --delete and --rename. */
static int scenarios_edit(struct options *o, struct error *err)
{
	const struct scenarios_options *own = o->own;
	const char *split = own->rename ? strchr(own->rename, '=') : NULL;
	if (o->argc || (own->delete && own->rename))
		return error_set(err, "scenarios: --delete and --rename take no model and exclude each "
			"other"), EXIT_BAD;
	if (own->rename && !split)
		return error_set(err, "--rename takes NAME=NEW, not %.60s", own->rename), EXIT_BAD;
	if (own->rename) {
		const char *name = arena_strndup(&o->arena, own->rename, (size_t)(split - own->rename));
		return config_rename_scenario(&o->config, name, split + 1, err) ?
			options_blame("rename", err), EXIT_BAD : EXIT_DONE;
	}
	const struct config_scenario *one = config_scenario(&o->config, text_of(own->delete));
	int sure = one && one->saved ? is_sure(o, own->delete, err) : true; /* else it says why not */
	if (sure < 0)
		return EXIT_BAD;
	if (sure && config_delete_scenario(&o->config, own->delete, err))
		return options_blame("delete", err), EXIT_BAD;
	return sure ? EXIT_DONE : EXIT_GAPS;
}

static void rows_print(struct options *o, const struct scenario_rows *r)
{
	struct table t = { 0 };
	const struct scenario_row *first = &r->rows[0];
	scenarios_table(&t, r);
	if (o->json)
		report_json_line(json_pack("{s:o, s:b, s:o}", "model", json_text(text_of(r->model)),
			"per_item", scenarios_per_item(r), "scenarios", table_rows_json(&t)), stdout);
	else if (o->csv)
		table_print_csv(&t, true, stdout);
	else {
		report_path_line(stdout, report_most(stdout), "", r->model, "");
		report_device_line(stdout, 0, first->device, first->stack);
		putchar('\n');
		table_print_text(&t, report_most(stdout), stdout);
	}
	table_free(&t);
}

static int cmd_scenarios(struct options *o, struct error *err)
{
	const struct scenarios_options *own = o->own;
	if (own->delete || own->rename)
		return scenarios_edit(o, err);
	if (!o->argc)
		return error_set(err, "scenarios: give a model, or --delete NAME"), EXIT_BAD;
	struct scenario_rows r = { .model = o->argv[0] };
	if (names_check(o, err))
		return EXIT_BAD;
	int named = o->argc - 1, count = named ? named : o->config.scenario_count;
	r.rows = ARENA_ARRAY(&o->arena, struct scenario_row, count + 1);
	if (!named)
		row_add(o, &r, NULL, !o->quiet);
	for (int i = 0; i < count; i++)
		row_add(o, &r, named ? o->argv[i + 1] : o->config.scenarios[i].name,
			named && i == 0 && !o->quiet);
	if (r.rows[0].why)
		return error_set(err, "%s%s%s", r.rows[0].name ? r.rows[0].name : "",
			       r.rows[0].name ? ": " : "", r.rows[0].why),
		       EXIT_BAD;
	rows_print(o, &r);
	for (int i = 0; i < r.count; i++)
		if (r.rows[i].why || !r.rows[i].point.complete)
			return EXIT_GAPS;
	return EXIT_DONE;
}

const struct command command_scenarios = {
	.name = "scenarios",
	.arguments = "[MODEL [NAME...]]",
	.least = 0,
	.most = CONFIG_SCENARIOS_MAX + 1,
	.text = "named scenarios side by side, with differences to the first",
	.about = "Prints the bound of each named scenario (scenarios: in benanza.yaml(5), and those that the "
		 "explorer saved) beside the first; without names, of all scenarios beside the options as "
		 "given. Settings of a scenario replace the options. Exit status 1: a row is incomplete. "
		 "Measures nothing. --delete and --rename change scenarios that the explorer saved.",
	.examples = { "benanza scenarios model.onnx", "benanza scenarios model.onnx today planned --csv" },
	.own = scenarios_rows,
	.own_size = sizeof(struct scenarios_options),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_json,
		&options_csv },
	.run = cmd_scenarios,
};
