/* benanza devices: runners, agents, recorded and described devices. Runners and agents are started and
 * asked for their hello. */
#include "config.h"

#include "commands/command.h"
#include "commands/report.h"
#include "table/tables/devices.h"

#include "problem/libraries.h"
#include "session/recorded.h"
#include "session/session_agent.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* A device's peaks from the database, which may be missing. */
static json_t *measured_json(struct store *store, const struct device *d)
{
	struct results *r = results_new();
	struct error err = ERROR_NONE;
	int64_t id = store ? store_device_find(store, d, &err) : 0;
	struct peaks peaks = peaks_unknown();
	if (id > 0 && store_load(store, id, r, &err) == 0)
		peaks = peaks_from_results(r, d);
	results_free(r);
	return peaks_json(&peaks);
}

/* The libraries of a runner's hello; null if it lists none. */
static json_t *libraries_json(const struct device *d)
{
	struct arena a = { 0 };
	struct library *l;
	int count = libraries_of(d, &a, &l);
	json_t *list = count ? json_array() : json_null();
	for (int i = 0; i < count; i++)
		json_array_append_new(list, l[i].present
			? json_pack("{s:s, s:b, s:s, s:s}", "name", l[i].name, "present", 1, "version",
				  l[i].version, "path", l[i].path)
			: json_pack("{s:s, s:b, s:s, s:s, s:s}", "name", l[i].name, "present", 0, "why",
				  l[i].why, "tried", l[i].tried, "fix", l[i].fix));
	arena_free(&a);
	return list;
}

/* Starts one configured runner and returns its hello. */
static json_t *runner_json(const struct config *c, const struct config_runner *r, struct store *store)
{
	struct config one = *c; /* borrowed */
	one.device = r->name;
	struct results *results = results_new();
	struct queue *q = queue_new(&one, NULL, results);
	struct error err = ERROR_NONE;
	json_t *o = json_pack("{s:s, s:s, s:i}", "runner", r->name, "command", r->argv[0], "count", r->count);
	if (queue_connect(q, queue_limits(q)->hello, &err)) { /* does not wait in a cluster's queue */
		json_object_set_new(o, "error", json_text(text_of(err.text)));
	} else {
		const struct device *d = queue_device(q);
		json_object_update_new(o,
			json_pack("{s:s?, s:s?, s:s?, s:s?, s:s?, s:i, s:o, s:b}", "name", d->name, "model",
				d->model, "stack", d->stack, "version", d->version, "host", d->host,
				"threads", d->threads, "llc_bytes", json_number_or_null(d->llc_bytes),
				"matrix_units", d->has_matrix));
		json_object_set_new(o, "libraries", libraries_json(d));
		json_object_set_new(o, "peaks", measured_json(store, d));
	}
	queue_free(q);
	results_free(results);
	return o;
}

#define AGENT_WAIT_MS 10000 /* for the hello, which comes before the framework is imported */

/* Adds what the agent's hello reports. */
static void hello_json(const struct agent *agent, const char *name, json_t *o)
{
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	const struct device *d = agent_device(agent);
	struct agent_description of = agent_describe(&a, d);
	json_t *providers = json_array();
	for (const char *at = of.providers; *at; at += strspn(at, ", ")) {
		size_t n = strcspn(at, ",");
		json_array_append_new(providers, json_text((struct text){ at, n }));
		at += n;
	}
	json_object_update_new(o,
		json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:i}", "framework", of.framework, "version",
			*of.version ? json_string(of.version) : json_null(), "providers", providers, "model",
			d->model, "stack", d->stack, "host", d->host, "threads", d->threads));
	if (!jobs_contain(d->jobs, JOB_MODEL))
		error_set(&err, "%s is not an agent: its hello lists the jobs \"%s\"", name, d->jobs);
	else if (!*of.version)
		agent_not_installed(name, &of, &err);
	if (err.text[0])
		json_object_set_new(o, "error", json_text(text_of(err.text)));
	arena_free(&a);
}

/* Waits for the hello of a started agent; NULL: err has the reason. */
static json_t *agent_json(const struct config_runner *r, struct agent *a, struct error err)
{
	json_t *o = json_pack("{s:s, s:s}", "agent", r->name, "command", r->argv[0]);
	enum agent_state state = a ? AGENT_WORKS : AGENT_FAILED;
	if (a)
		agent_limits(a)->hello = AGENT_WAIT_MS;
	while (state == AGENT_WORKS)
		state = agent_step(a, AGENT_WAIT_MS, &err);
	if (state == AGENT_READY)
		hello_json(a, r->name, o);
	else
		json_object_set_new(o, "error", json_text(text_of(err.text)));
	agent_free(a);
	return o;
}

/* All agents start at once: an interpreter takes a tenth of a second. */
static void agents_json(const struct config *c, json_t *list)
{
	struct agent *agents[CONFIG_LIST_MAX * 2] = { NULL };
	struct error errors[CONFIG_LIST_MAX * 2] = { ERROR_NONE };
	int count = c->agent_count < CONFIG_LIST_MAX * 2 ? c->agent_count : CONFIG_LIST_MAX * 2;
	for (int i = 0; i < count; i++)
		agents[i] = agent_start(&c->agents[i], &errors[i]);
	for (int i = 0; i < count; i++)
		json_array_append_new(list, agent_json(&c->agents[i], agents[i], errors[i]));
}

static void agents_text(const json_t *agents)
{
	size_t i, k;
	const json_t *o, *one;
	if (json_array_size(agents))
		puts("agents: frameworks that run whole models (bench --agents, compare --run NAME)");
	json_array_foreach(agents, i, o) {
		const char *error = json_string_at(o, "error", NULL);
		struct str providers = { 0 };
		json_array_foreach(json_object_get(o, "providers"), k, one)
			str_addf(&providers, "%s%s", k ? ", " : "", json_string_value(one));
		printf("  %-8s %s\n", json_string_at(o, "agent", "?"),
			error ? error : json_string_at(o, "stack", "?"));
		if (!error)
			printf("  %-8s on %s; providers %s\n", "", json_string_at(o, "model", "?"),
				providers.n ? providers.p : "unknown");
		str_free(&providers);
	}
}

static int recorded_json(struct store *store, json_t *list, struct error *err)
{
	struct arena a = { 0 };
	struct device *devices;
	int64_t *ids;
	int count = 0, status = store ? store_devices(store, &a, &devices, &ids, &count, err) : 0;
	for (int i = 0; i < count && !status; i++)
		json_array_append_new(list,
			json_pack("{s:I, s:s?, s:s?, s:s?, s:s?, s:o}", "id", (json_int_t)ids[i], "model",
				devices[i].model, "stack", devices[i].stack, "host", devices[i].host, "name",
				devices[i].name, "peaks", measured_json(store, &devices[i])));
	arena_free(&a);
	return status;
}

/* The same for a file of results. */
static json_t *file_peaks_json(const struct recorded *one)
{
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	struct results *r = results_new();
	struct recorded_file *file = recorded_open(one);
	int count;
	const char **texts = peaks_problems_of_all(&a, &count);
	struct peaks peaks = peaks_unknown();
	if (recorded_load(file, texts, count, r, &err) == 0)
		peaks = peaks_from_results(r, &one->device);
	recorded_close(file);
	results_free(r);
	arena_free(&a);
	return peaks_json(&peaks);
}

/* The program's files of results, for devices that have none in the database. */
static void recorded_files_json(json_t *list)
{
	struct arena a = { 0 };
	struct recorded *files;
	int count = recorded_list(&a, &files);
	for (int i = 0; i < count; i++) {
		const struct device *d = &files[i].device;
		bool there = false;
		size_t at;
		const json_t *o;
		json_array_foreach(list, at, o)
			there |= strcmp(json_string_at(o, "model", ""), d->model) == 0 &&
				 strcmp(json_string_at(o, "stack", ""), d->stack) == 0;
		if (!there)
			json_array_append_new(list,
				json_pack("{s:n, s:s, s:s, s:s, s:s, s:o, s:o}", "id", "model", d->model,
					"stack", d->stack, "host", d->host, "name", d->name, "file",
					json_text(text_of(files[i].path)), "peaks",
					file_peaks_json(&files[i])));
	}
	arena_free(&a);
}

/* A text beside a label, wrapped on a terminal. */
static void labelled(const char *label, const char *text)
{
	printf("  %-8s ", label);
	report_wrapped(text, 11, report_most(stdout), stdout);
}

static void peaks_text(const json_t *o, const char *otherwise)
{
	struct peaks k = peaks_from_json(json_object_get(o, "peaks"));
	struct str line = { 0 };
	peaks_describe(&k, &line);
	struct arena a = { 0 };
	if (line.n || otherwise)
		labelled("", line.n ? arena_printf(&a, "measured peaks: %s", line.p) : otherwise);
	arena_free(&a);
	if (peaks_have_gaps(&k))
		printf("  %-8s -: not measured on a quiet machine%s%s\n", "",
			peaks_known(&k) ? "" : " (without memory there are no rooflines)",
			otherwise ? "; to measure it: benanza bench --shaky MODEL" : "");
	str_free(&line);
}

static void libraries_text(const json_t *libraries)
{
	struct arena a = { 0 };
	size_t i;
	const json_t *o;
	json_array_foreach(libraries, i, o) {
		const char *name = json_string_at(o, "name", "");
		if (json_is_true(json_object_get(o, "present")))
			report_path_line(stdout, report_most(stdout),
				arena_printf(&a, "  %-8s %s %s (", "", name,
					json_string_at(o, "version", "")),
				json_string_at(o, "path", ""), ")");
		else
			printf("  %-8s %s missing: %s; %s\n  %-8s searched: %s\n", "", name,
				json_string_at(o, "why", ""), json_string_at(o, "fix", ""), "",
				json_string_at(o, "tried", ""));
	}
	arena_free(&a);
}

static void devices_text(const json_t *runners, const json_t *recorded)
{
	size_t i;
	const json_t *o;
	char llc[STR_QUANTITY];
	puts("runners");
	json_array_foreach(runners, i, o) {
		const char *error = json_string_at(o, "error", NULL);
		labelled(json_string_at(o, "runner", ""), error ? error : json_string_at(o, "model", "?"));
		if (error)
			continue;
		labelled("", json_string_at(o, "stack", ""));
		printf("  %-8s last-level cache %s, matrix units %s, runner %s\n", "",
			str_bytes(llc, json_number_or_nan(json_object_get(o, "llc_bytes"))),
			json_is_true(json_object_get(o, "matrix_units")) ? "yes" : "no",
			json_string_at(o, "version", "?"));
		libraries_text(json_object_get(o, "libraries"));
		peaks_text(o, "peaks not measured yet (bench MODEL), or noisy (bench --shaky MODEL)");
	}
	puts("recorded in the database (select with -d NUMBER) or with the program (-d MODEL or part of "
		"the stack)");
	json_array_foreach(recorded, i, o) {
		char id[32];
		snprintf(id, sizeof(id), "%lld", (long long)json_int_at(o, "id", 0));
		printf("  %-8s %s\n  %-8s %s\n", json_object_get(o, "file") ? "-" : id,
			json_string_at(o, "model", "?"), "", json_string_at(o, "stack", "?"));
		peaks_text(o, NULL);
	}
	if (!json_array_size(recorded))
		puts("  nothing yet");
}

static void described_text(const struct table *t)
{
	if (t->row_count)
		puts("described by the vendor's figures (select with -d NAME: estimates, no measurements)");
	table_print_text(t, report_most(stdout), stdout);
}

static int cmd_devices(struct options *o, struct error *err)
{
	o->config.device = NULL; /* all are shown */
	config_add_agents(&o->config);
	json_t *runners = json_array(), *recorded = json_array(), *agents = json_array();
	struct arena arena = { 0 };
	struct table described = { 0 };
	struct described *list = NULL;
	int described_count = 0;
	const char *path = options_db(o);
	struct store *store = access(path, F_OK) == 0 ? store_open(path, true, err) : NULL;
	int status = err->text[0] || recorded_json(store, recorded, err) ||
			described_list(&arena, &list, &described_count, err) ?
		EXIT_BAD : EXIT_DONE;
	described_table(&described, list, status == EXIT_DONE ? described_count : 0, o->verbose);
	if (status == EXIT_DONE)
		recorded_files_json(recorded);
	for (int i = 0; i < o->config.runner_count && status == EXIT_DONE; i++)
		json_array_append_new(runners, runner_json(&o->config, &o->config.runners[i], store));
	if (status == EXIT_DONE)
		agents_json(&o->config, agents);
	if (store)
		store_close(store);
	bool any = false;
	for (size_t i = 0; i < json_array_size(runners); i++)
		any |= !json_object_get(json_array_get(runners, i), "error");
	json_t *all = json_pack(
		"{s:o, s:o, s:o, s:o}", "runners", runners, "recorded", recorded, "described",
		table_rows_json(&described), "agents", agents);
	if (status == EXIT_DONE && o->json)
		report_json_line(json_incref(all), stdout);
	else if (status == EXIT_DONE)
		devices_text(runners, recorded), described_text(&described), agents_text(agents);
	json_decref(all);
	table_free(&described);
	arena_free(&arena);
	if (status == EXIT_DONE && !any)
		return error_set(err, "no runner answers; put benanza-runner-cpu next to benanza or in PATH"),
			EXIT_NO_DEVICE;
	return status;
}

const struct command command_devices = {
	.name = "devices",
	.arguments = "",
	.text = "runners, recorded devices, described devices, agents",
	.about = "Lists the runners that answer, the devices with results in the database or the program's "
	"own records, and the described devices: -d selects any of them. Then it lists the agents with "
	"their frameworks.",
	.examples = { "benanza devices", "benanza devices --json" },
	.groups = { &options_threads, &options_json },
	.run = cmd_devices,
};
