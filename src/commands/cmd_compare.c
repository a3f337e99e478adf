/* benanza compare: real executions, from files, agents or the database, beside the bound. */
#include "config.h"

#include "analyze/tables/xsp.h"
#include "commands/agents.h"
#include "commands/bench.h"
#include "commands/compare.h"
#include "commands/interrupt.h"
#include "commands/keep.h"
#include "commands/report.h"
#include "commands/try.h"
#include "problem/execution_field.h"
#include "profile/profile.h"
#include "session/session_reality.h"
#include "session/variant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option_row compare_rows[] = {
	{ "run", 0, "LIST", OWN_TEXT(compare_options, run),
		"run the model now with these frameworks (ort,openvino ...), and store the executions" },
	{ "try", 0, "[=LIST]", OWN_TEXT(compare_options, trials),
		"also try changes of the execution's settings (level,threads,batch=8,f16,int8 ...; without "
		"LIST: all)" },
	{ "latency", 0, "TIME", OWN_TEXT(compare_options, latency),
		"latency of a run without profiler, e.g. 41.2ms; alone or with one FILE" },
	{ "against", 0, NULL, OWN_FLAG(compare_options, against),
		"compare the first execution with each other one, layer by layer" },
	{ "analysis", 0, "LIST", OWN_TEXT(compare_options, analysis),
		"tables instead of the report: XSP's A1 to A15, e.g. A3,type-latency, or all" },
	{ "tree", 0, NULL, OWN_FLAG(compare_options, tree),
		"a tree of model, layers and kernels instead: measured, bound, ratio, gap" },
	{ "trace", 0, "FILE", OWN_TEXT(compare_options, trace),
		"write execution and bound as a Chrome trace (for Perfetto)" },
	{ 0 }
};

/* Parses "41.2ms", "862 us", "0.5 s", "900ns" into ns. Returns -1 with an error that names the option. */
static int compare_latency(const char *text, double *ns, struct error *err)
{
	static const struct { const char *unit; double ns; } units[] = { { "ns", 1 }, { "us", 1e3 },
		{ "ms", 1e6 }, { "s", 1e9 } };
	struct execution e = execution_new();
	char *end, shown[64];
	double value = strtod(text, &end);
	snprintf(shown, sizeof(shown), "%s", text);
	end += strspn(end, " ");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (end != text && !strcmp(end, units[i].unit))
			e.stats.median = value * units[i].ns;
	*ns = e.stats.median;
	return isnan(*ns) || execution_fault(&e) ? error_set(err,
		"--latency %s: not a time of at least 1 ns with a unit (ns, us, ms, s), at most 11 days; "
		"e.g. --latency 41.2ms", shown) : 0;
}

/* The data type of an execution, else the one that was asked for; DTYPE_UNKNOWN if neither is known. */
static enum dtype execution_dtype(const struct execution *e)
{
	json_t *settings = *e->settings ? json_loads(e->settings, 0, NULL) : NULL;
	const char *asked = json_string_at(json_object_get(settings, "request"), "dtype", "");
	const char *name = *e->dtype ? e->dtype : asked;
	enum dtype dtype = *name ? dtype_parse(text_of(name)) : DTYPE_UNKNOWN;
	json_decref(settings);
	return dtype;
}

/* Selects the batch of an execution that does not report it, if its rows tell it and the model can have
 * it. */
static void batch_select(struct session *s, const struct execution *e)
{
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	const struct plan *p = session_plan(s);
	if (p->unbound_count)
		return;
	const struct match *m = match_execution(&a, e, p);
	bool foreign = e->row_count && comparable_is_foreign(m);
	struct variant v = session_variant(s);
	struct variant_ground g = { .plan = NULL };
	v.batch = comparable_batch(p, e, m);
	if (!v.batch && foreign)
		v.batch = comparable_batch_guess(p, e);
	if (v.batch && p->batch && v.batch != p->batch && !variant_open(s, &v, &g, &err) &&
		!(foreign && comparable_is_foreign(match_execution(&a, e, g.on.plan))))
		session_select(s, v.batch, v.dtype, &err);
	variant_close(&g);
	arena_free(&a);
}

/* The plan of an execution: -b and -t, of several the ones that the execution reports; else the batch that it
 * ran, and the model's own type. Frameworks run f32 models in other types by their own settings, so the plan
 * of these has the execution's. */
static int plan_select(
	struct session *s, const struct options *o, const struct execution *e, struct error *err)
{
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes);
	enum dtype own = execution_dtype(e);
	bool is_float = own == DTYPE_F32 || own == DTYPE_F16 || own == DTYPE_BF16;
	if (!o->batch_option && !o->config.batch_count && e->batch > 0)
		batches[0] = e->batch;
	for (int i = 1; i < batch_count; i++)
		if (batches[i] == e->batch)
			batches[0] = e->batch;
	for (int i = 1; i < dtype_count; i++)
		if (dtypes[i] == own)
			dtypes[0] = own;
	if (options_select(s, batches[0], dtypes[0], err))
		return -1;
	if (!o->config.dtype_count && is_float && session_dtype(s) == DTYPE_F32 &&
		options_select(s, batches[0], own, err))
		return -1;
	if (!batches[0])
		batch_select(s, e);
	return session_check_bound(s, err);
}

/* Runs the model on agents. Returns an exit_status. */
static int scenarios_run(struct arena *a, struct session *s, const struct options *o,
	struct agents_made *made, struct error *err)
{
	const struct compare_options *own = o->own;
	struct agents_tally tally = { .report = json_array() };
	int status = agents_run_all(s, o, own->run, true, a, made, &tally, err);
	json_decref(tally.report);
	if (interrupted && made->count)
		fprintf(stderr, "benanza: interrupted; earlier executions are stored\n");
	else if (interrupted)
		fprintf(stderr, "benanza: interrupted; nothing was stored\n");
	return status;
}

static void reading_draw(void *user, double share)
{
	(void)user;
	fprintf(stderr, "\r\x1b[Kreading the profile  %.0f%%", 100 * share);
}

/* Reads the files of the command line. Returns the number of executions, or -1. */
static int files_read(
	struct arena *a, const struct options *o, struct execution **list, struct error *err)
{
	bool bar = isatty(STDERR_FILENO) && !o->quiet;
	const struct profile_options how = { .stop = o->stop, .progress = bar ? reading_draw : NULL };
	int count = profile_read(a, o->argv + 1, o->argc - 1, &how, list, err);
	if (bar)
		fputs("\r\x1b[K", stderr);
	return count;
}

/* --run: runs the model on agents, and adds the executions to the database; those of files follow. Returns an
 * exit_status. */
static int executions_run(struct arena *a, struct session *s, const struct options *o,
	struct agents_made *made, struct error *err)
{
	const struct compare_options *own = o->own;
	struct execution *read = NULL;
	int files = 0, status = EXIT_BAD;
	if (own->latency)
		error_set(err, "--run and --latency exclude each other");
	else if (o->argc > 1 && (files = files_read(a, o, &read, err)) < 0)
		status = EXIT_BAD;
	else
		status = scenarios_run(a, s, o, made, err);
	if (status > EXIT_GAPS)
		return status;
	keep_end(session_store(s), KEEP_WAIT_MS, o->quiet, err);
	for (int i = 0; i < files; i++)
		agents_made_add(a, made, read[i], NULL, NULL);
	if (made->count < 2 && own->against)
		return error_set(err, "--against: needs two executions; found %d", made->count), EXIT_BAD;
	return status;
}

/* "2 executions of other shapes left out (batch 1; run benanza compare -b 1 ...)": e is one of them. */
static const char *left_out(struct arena *a, const struct session *s, const struct execution *e, int count)
{
	int64_t batch = session_plan(s)->batch;
	const char *which = e->batch && batch && e->batch != batch
		? arena_printf(a, "batch %lld; run benanza compare -b %lld ...", (long long)e->batch,
			  (long long)e->batch)
		: arena_printf(
			  a, "%.*s; set its dimensions with --dim", (int)strcspn(e->inputs, "\n"), e->inputs);
	return arena_printf(a, "%d execution%s of other shapes left out (%s)", count, count == 1 ? "" : "s",
		which);
}

/* Keeps those executions of the database that ran the shapes of the plan in which they are compared. Returns
 * the number, or -1. */
static int shapes_filter(struct arena *a, struct session *s, const struct options *o, struct execution *list,
	int count, struct error *err)
{
	const struct compare_options *own = o->own;
	struct execution *other = NULL; /* one that names its batch, if there is one */
	int kept = 0;
	for (int i = 0; i < count; i++) {
		if ((kept == 0 || !own->against) && plan_select(s, o, &list[i], err))
			return -1;
		if (comparable_shapes(session_plan(s), &list[i]))
			list[kept++] = list[i];
		else if (!other || (!other->batch && list[i].batch)) {
			other = ARENA_NEW(a, struct execution);
			*other = list[i];
		}
	}
	if (other && !kept)
		return error_set(err, "compare: %s", left_out(a, s, other, count));
	if (other && !o->quiet)
		fprintf(stderr, "benanza: %s\n", left_out(a, s, other, count - kept));
	return kept;
}

static int executions_missing(const struct session *s, struct error *err)
{
	struct arena a = { 0 };
	const char *path = session_config(s)->db ? session_config(s)->db : config_default_db(&a);
	error_set(err,
		"compare: needs an execution: a profile (FILE), or --latency 41.2ms; the database %s%s",
		session_store(s) ? "has no execution of this model" : path,
		session_store(s) ? "" : " does not exist or is empty");
	arena_free(&a);
	return -1;
}

/* The executions of the command line. Returns the number, or -1. */
static int executions_read(struct arena *a, struct session *s, const struct options *o,
	struct execution **list, struct error *err)
{
	const struct compare_options *own = o->own;
	double latency = NAN;
	int count = 0;
	if (own->latency && compare_latency(own->latency, &latency, err))
		return -1;
	if (o->argc > 1) {
		count = files_read(a, o, list, err);
	} else if (own->latency) {
		*list = ARENA_NEW(a, struct execution);
		**list = execution_new();
		(*list)->source = "option";
		count = 1;
	} else if (session_executions(s, a, list, &count, err)) {
		return -1;
	} else if (count == 0)
		return executions_missing(s, err);
	else if ((count = shapes_filter(a, s, o, *list, count, err)) < 0)
		return -1;
	if (count == 0)
		return error_set(err, "%s: holds no execution", o->argv[1]);
	if (count > 1 && own->latency)
		return error_set(err, "--latency: there are %d executions; give the files of one", count);
	if (count == 1 && own->latency)
		(*list)->stats.median = latency;
	if (count >= 0 && count < 2 && own->against)
		return error_set(err, "--against: needs two executions; found %d", count);
	return count;
}

/* Fills c: the execution beside the bound of the current analysis. */
static void compare_one(struct arena *a, struct session *s, struct execution *e, struct comparison *c)
{
	struct ground ground = session_ground(s);
	c->execution = e;
	c->match = match_execution(a, e, session_plan(s));
	c->reality = reality_of(a, &ground, session_scenario(s), session_analysis(s), e, c->match);
	c->noisy = e->stats.stop == STOP_DISTURBED;
}

static bool is_measured(const struct session *s, const char *problem)
{
	int count;
	const struct result *const *all = results_of(session_results(s), problem, &count);
	for (int i = 0; i < count; i++)
		if (all[i]->status == STATUS_OK)
			return true;
	return false;
}

/* Prints how many of the problems that were measured again have a result of before, but failed or were
 * refused this time, with the reason of the first. Returns the number. */
static int refused_print(struct session *s, int added)
{
	struct arena a = { 0 };
	int count, refused = 0;
	const char **texts = analyze_problems_in(
		&a, session_plan(s), session_fusion(s), true,
		scenario_variants(session_scenario(s)), &count);
	const char *first = NULL;
	for (int i = count - 1; i >= 0; i--) {
		enum job_state state = queue_state(session_queue(s), texts[i]);
		if ((state != JOB_FAILED && state != JOB_UNSUPPORTED) || !is_measured(s, texts[i]))
			continue;
		refused++;
		first = texts[i];
	}
	if (refused) {
		const char *why = text_clean(&a, text_of(queue_why(session_queue(s), first)));
		fprintf(stderr, "benanza: %d of %d problems could not be measured again: %s%s%s\n", refused,
			added, first, *why ? ": " : "", why);
	}
	arena_free(&a);
	return refused;
}

/* Checks an agent's execution that contradicts the bound: measures its layers again, then runs the model
 * again, and judges both once more (reality_turn). Sets *e and c to the new execution. Returns an
 * exit_status; after a failure, which it prints, the first judgement stays. */
static int compare_again(struct arena *a, struct session *s, const struct options *o, const char *agent,
	struct execution *e, struct comparison *c, struct error *err)
{
	struct agents_made made = { 0 };
	struct agents_tally tally = { .report = json_array() };
	struct error waiting = ERROR_NONE;
	struct reality *first = c->reality;
	struct execution *old = ARENA_NEW(a, struct execution);
	*old = *e;
	first->execution = old;
	if (queue_status(session_queue(s)).idle)
		queue_forget(session_queue(s)); /* the states of an earlier turn */
	int added = session_turn_measure(s, first);
	if (!o->quiet)
		fprintf(stderr, "benanza: %s is faster than the bound: measuring %d problem%s and the model "
			"again\n", agent, added, added == 1 ? "" : "s");
	int status = bench_drain(s, o, NULL, NULL, err), refused = refused_print(s, added);
	if (status == EXIT_DONE && !interrupted)
		status = agents_run(s, o, agent, true, a, &made, &tally, err);
	json_decref(tally.report);
	if (keep_end(session_store(s), KEEP_WAIT_MS, o->quiet, &waiting))
		fprintf(stderr, "benanza: %s\n", waiting.text);
	session_refresh(s);
	if (made.count) {
		*e = made.list[0];
		compare_one(a, s, e, c);
		reality_turn(c->reality, first);
		return refused ? EXIT_GAPS : EXIT_DONE;
	}
	compare_one(a, s, e, c);
	fprintf(stderr, "benanza: %s; the report uses the first run\n",
		interrupted ? "interrupted" : err->text[0] ? err->text : "the second run gave no result");
	err->text[0] = '\0';
	return status == EXIT_BAD ? EXIT_BAD : EXIT_GAPS;
}

/* Compares one execution, and measures contradictions again if it comes from an agent of this run. */
static int compare_in_turn(struct arena *a, struct session *s, const struct options *o,
	const struct agents_made *list, int index, struct comparison *c, struct error *err)
{
	const char *agent = list->agents ? list->agents[index] : NULL;
	compare_one(a, s, &list->list[index], c);
	if (agent && session_queue(s) && !interrupted && session_turn_open(c->reality))
		return compare_again(a, s, o, agent, &list->list[index], c, err);
	session_turn(s, a, c->reality);
	return EXIT_DONE;
}

static void against_print(struct arena *a, struct session *s, const struct options *o,
	const struct comparison *x, const struct comparison *y)
{
	struct against *between = reality_against(a, x->reality, y->reality);
	if (o->json)
		report_json_line(report_against_json(s, x, y, between), stdout);
	else
		report_against_text(s, x, y, between, stdout);
}

/* --try: prints the report of one execution, tries the moves beside it, prints what they gave. Returns an
 * exit_status. */
static int compare_try(struct arena *a, struct session *s, const struct options *o,
	const struct agents_made *made, int index, const struct comparison *c)
{
	const struct compare_options *own = o->own;
	struct move moves[MOVES_MAX];
	struct tried *tried;
	json_t *report = o->json ? report_compare_json(s, c) : NULL;
	if (!o->json)
		report_compare_text(s, c, o->ascii, stdout);
	fflush(stdout);
	int given = moves_parse(a, own->trials, moves, NULL);
	int count = try_all(a, s, o, moves, given, made->agents[index], made->providers[index], c, &tried);
	if (o->json) {
		json_object_set_new(report, "tried", report_try_json(tried, count));
		report_json_line(report, stdout);
	} else {
		report_try_text(c->execution, tried, count, stdout);
	}
	return try_status(tried, count, !*own->trials);
}

static void compare_print(struct arena *a, struct session *s, const struct options *o, struct execution *list,
	int count, const struct comparison *c, int number)
{
	const struct compare_options *own = o->own;
	if (own->analyses || own->tree)
		compare_tables(a, s, o, list, count, c);
	else if (o->json)
		report_json_line(report_compare_json(s, c), stdout);
	else if (o->csv)
		report_compare_csv(s, c, number, number == 1, stdout);
	else
		report_compare_text(s, c, o->ascii, stdout);
}

/* All executions, one after the other; with --against all in the first one's plan. Returns an exit_status. */
static int compare_all(struct arena *a, struct session *s, const struct options *o,
	const struct agents_made *made, struct error *err)
{
	struct execution *list = made->list;
	int count = made->count;
	const struct compare_options *own = o->own;
	struct comparison *all = ARENA_ARRAY(a, struct comparison, count + 1);
	struct trace trace = { 0 };
	int status = EXIT_DONE;
	const struct output_rules rules = options_output(o, s, a);
	if (own->trace && output_is_stdout(own->trace)) {
		error_set(err, "--trace %s: the report goes to standard output: give a file, or >(COMMAND) "
			"of a shell", own->trace);
		return EXIT_BAD;
	}
	if (own->trace && trace_open(&trace, own->trace, &rules, err))
		return EXIT_BAD;
	for (int i = 0; i < count && status <= EXIT_GAPS; i++) {
		if ((i == 0 || !own->against) && plan_select(s, o, &list[i], err)) {
			status = EXIT_BAD;
			break;
		}
		session_refresh(s);
		int again = compare_in_turn(a, s, o, made, i, &all[i], err);
		status = again > status ? again : status;
		if (!session_analysis(s)->complete || *list[i].gaps || all[i].reality->prevents & USE_ROWS)
			status = status > EXIT_GAPS ? status : EXIT_GAPS;
		if (own->trace)
			trace_add(&trace, s, &all[i]);
		if (i && !own->against && !o->json && !o->csv)
			putchar('\n');
		if (own->trials && made->agents[i] && !interrupted) {
			int gaps = compare_try(a, s, o, made, i, &all[i]);
			status = gaps > status ? gaps : status;
		} else if (!own->against)
			compare_print(a, s, o, list, count, &all[i], i + 1);
		else if (i)
			against_print(a, s, o, &all[0], &all[i]);
	}
	if (status > EXIT_GAPS)
		output_drop(trace.file);
	else if (own->trace && trace_close(&trace, err))
		status = EXIT_BAD;
	return status;
}

/* Without a device, unless one was asked for, the bound is unknown and the execution still has its layers. */
static int connect_or_note(struct session *s, const struct options *o, struct error *err)
{
	int connected = session_connect(s, QUEUE_HELLO_LIMIT, err);
	if (connected == SESSION_UNREADABLE || (connected && o->config.device))
		return options_connected(connected);
	if (connected && !o->quiet)
		fprintf(stderr, "benanza: the bound is unknown: %s\n", err->text);
	err->text[0] = 0;
	return EXIT_DONE;
}

/* Returns -1 if options exclude each other or have a wrong value. */
static int check_options(struct options *o, struct error *err)
{
	struct compare_options *own = o->own;
	struct arena a = { 0 };
	struct move moves[MOVES_MAX];
	int bad = 0;
	if (options_check_agents(o, own->run || own->trials, "--run or --try", err))
		return -1;
	if (own->run)
		config_add_agents(&o->config);
	if (own->run && agents_list_check(&o->config, own->run, err))
		return options_blame("run", err);
	if (own->analysis && xsp_parse(own->analysis, false, &own->analyses, err))
		return -1;
	if (own->against && (own->analysis || own->tree))
		return error_set(err,
			"--against: prints no analyses and no tree; leave --analysis and --tree out");
	if (!own->trials)
		return 0;
	if (own->against || own->analysis || own->tree || o->csv)
		return error_set(err,
			"--try: prints a table or JSON; leave --against, --analysis, --tree and --csv out");
	if (!own->run)
		config_add_agents(&o->config);
	own->run = own->run ? own->run : "";
	bad = moves_parse(&a, own->trials, moves, err) < 0;
	arena_free(&a);
	return bad ? -1 : 0;
}

static int cmd_compare(struct options *o, struct error *err)
{
	struct arena a = { 0 };
	struct agents_made made = { 0 };
	struct compare_options *own = o->own;
	if (check_options(o, err))
		return EXIT_BAD;
	if (own->run) {
		interrupt_watch();
		o->stop = &interrupted;
	} else
		interrupt_end();
	int ran = EXIT_DONE, status = EXIT_BAD;
	struct session *s = options_session(o, 0, own->run ? SESSION_DB_WRITE : SESSION_DB_READ, err);
	if (s && own->run)
		ran = executions_run(&a, s, o, &made, err);
	else if (s)
		made.count = executions_read(&a, s, o, &made.list, err);
	if (s && own->run && (ran > EXIT_GAPS || !made.count))
		status = ran;
	else if (s && made.count > 0 && !plan_select(s, o, &made.list[0], err))
		status = connect_or_note(s, o, err);
	if (made.count > 0 && status == EXIT_DONE) {
		status = compare_all(&a, s, o, &made, err);
		status = ran > status ? ran : status;
	}
	if (s)
		session_close(s);
	arena_free(&a);
	return status;
}

const struct command command_compare = {
	.name = "compare",
	.arguments = "MODEL [FILE...]",
	.least = 1,
	.most = COMMAND_ARGUMENTS_MAX,
	.text = "a real execution beside the bound",
	.about = "Reads profiles that frameworks wrote (ONNX Runtime, trtexec and others, recognized by "
		 "content; "
		 "save ONNX Runtime's optimized model beside its profile and name both), matches their rows "
		 "with the model's layers, and splits the difference between measured latency and bound "
		 "into gaps. "
		 "With --run it runs the model now and, if that is faster than the bound, measures both "
		 "again; without --run it measures nothing.",
	.examples = { "benanza compare --run ort,openvino model.onnx",
		"benanza compare --run ort --try=level,threads model.onnx",
		"benanza compare -d a100 -b 32 -w fusion,matrix model.onnx --latency 862us" },
	.own = compare_rows,
	.own_size = sizeof(struct compare_options),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_budget,
		&options_agents, &options_json, &options_csv, &options_force },
	.run = cmd_compare,
};
